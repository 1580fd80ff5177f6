"""The one router of memory: what is done to one address, by whatever method, has to stand in one."""

from ninja import Router

router = Router()

"""The section of memory in the API."""

from echovessel.api.routing import Section
from persona.api import addresses

router = Section(addresses, "memory")

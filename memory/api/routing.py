"""The section of memory in the API."""

from echovessel.sections import Section
from persona.api import addresses

router = Section(addresses, "memory")

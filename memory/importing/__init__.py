"""Importing: what somebody brought from elsewhere, on its way into memory.

A file is begun (`jobs`), looked through (`looking`), and waits for a person to say who is who (`choices`). Then it is
cut into chunks (`chunking`) that become lines of the persona (`storing`) or notes (`notes`), talk by talk it is
remembered (`remembering`), and at last drafts for the core blocks are drawn from it (`drafting`). `running` takes it
from step to step; `telling` says how far it is.
"""

from memory.importing.choices import Choices, WrongChoice
from memory.importing.estimating import Estimate, estimate
from memory.importing.jobs import begin, cancel, confirm, give_to
from memory.importing.leases import enqueue
from memory.importing.looking import look
from memory.importing.suggesting import suggested
from memory.importing.telling import told

__all__ = [
    "Choices",
    "Estimate",
    "WrongChoice",
    "begin",
    "cancel",
    "confirm",
    "enqueue",
    "estimate",
    "give_to",
    "look",
    "suggested",
    "told",
]

"""Importing: what somebody brought from elsewhere, on its way into memory.

A file is begun (`jobs`), looked through (`looking`), and waits for a person to say who is who (`choices`). Then it is
cut into chunks (`chunking`) that become lines of the persona (`storing`) or notes (`notes`), talk by talk it is
remembered (`remembering`), and at last drafts for the core blocks are drawn from it (`drafting`). `running` takes it
from step to step; `telling` says how far it is.
"""

from memory.imports.analysis import look
from memory.imports.choices import Choices, WrongChoice
from memory.imports.cost import Estimate, estimate
from memory.imports.leases import enqueue
from memory.imports.runs import begin, cancel, confirm, give_to
from memory.imports.suggestions import suggested
from memory.imports.summary import told

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

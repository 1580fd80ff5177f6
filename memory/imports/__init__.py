"""Importing: what somebody brought from elsewhere, on its way into memory.

An import begins with a file (`runs`), which is read once (`analysis`) and waits for a person to say who is who
(`choices`). Then it is cut into chunks (`chunks`) that become messages of the persona (`store`) or notes (`notes`), its
sessions are remembered one by one (`consolidate`), and at last drafts for the core blocks are drawn from it (`drafts`).
`runner` takes it from step to step; `summary` says how far it is.
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

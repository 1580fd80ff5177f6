"""Importing: what somebody brought from elsewhere, on its way into memory.

An import begins with a file (`runs`), which is read once (`analysis`) and waits for a person to say who is who
(`choices`). Then it is cut into chunks (`chunks`) that become messages of the persona (`store`) or notes (`notes`), its
sessions are remembered one by one (`consolidate`), and at last drafts for the core blocks are drawn from it (`drafts`).
`runner` takes it from step to step; `summary` says how far it is.
"""

from memory.imports.analysis import analyze_now
from memory.imports.choices import Choices, WrongChoice
from memory.imports.cost import Estimate, estimate
from memory.imports.leases import enqueue
from memory.imports.runs import assign_persona, begin, cancel, confirm
from memory.imports.suggestions import suggest_choices
from memory.imports.summary import summarize

__all__ = [
    "Choices",
    "Estimate",
    "WrongChoice",
    "analyze_now",
    "assign_persona",
    "begin",
    "cancel",
    "confirm",
    "enqueue",
    "estimate",
    "suggest_choices",
    "summarize",
]

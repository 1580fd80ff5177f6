"""Imports of files from other systems into memory.

An import begins with a file (`runs`), which is analyzed once (`analysis`) and then waits until a person confirms who is
who (`choices`). The file is cut into chunks (`chunks`), which are stored as messages of the persona (`store`) or as
notes (`notes`). Its sessions are consolidated one by one (`consolidate`), and finally drafts for the core blocks are
written (`drafts`). `runner` runs these steps; `summary` reports the progress.
"""

from memory.imports.analysis import analyze_in_process
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
    "analyze_in_process",
    "assign_persona",
    "begin",
    "cancel",
    "confirm",
    "enqueue",
    "estimate",
    "suggest_choices",
    "summarize",
]

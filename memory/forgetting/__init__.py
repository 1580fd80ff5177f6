"""Forgetting: plan, choose, execute in one transaction, verify. Each step has its module."""

from memory.erasure.receipts import finish, finish_pending, note_erasure
from memory.forgetting.execute import forget
from memory.forgetting.people import LastSuperuser, is_last_superuser
from memory.forgetting.planning import plan
from memory.forgetting.types import (
    KINDS,
    REASONS,
    REVERT_IMPORT,
    Affected,
    Busy,
    Choice,
    InvalidChoice,
    Kind,
    Plan,
    PlanChanged,
    Target,
    make_choice,
    target_of,
)

__all__ = [
    "KINDS",
    "REASONS",
    "REVERT_IMPORT",
    "Affected",
    "Busy",
    "Choice",
    "InvalidChoice",
    "Kind",
    "LastSuperuser",
    "Plan",
    "PlanChanged",
    "Target",
    "finish",
    "finish_pending",
    "forget",
    "is_last_superuser",
    "make_choice",
    "note_erasure",
    "plan",
    "target_of",
]

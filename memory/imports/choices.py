"""A person's choices about a file before it is stored: who is who, and how to read ambiguous content."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import date
from typing import Any

from django.utils.translation import gettext as _

from memory.imports.readers.types import Kind

# Stands for no chosen format: it is recognized by content.
AUTO = "auto"
KINDS = ("chat", "notes")
SIDES = ("user", "persona", "other", "skip")
_OPPOSITE = {"user": "persona", "persona": "user"}


class WrongChoice(Exception):
    """The choices do not fit the file. `code` is for programs, `message` a sentence for people in their language."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message

    def __str__(self) -> str:
        return self.message


class NotAwaitingConfirmation(WrongChoice):
    """The import is not waiting for an answer: it was answered before, perhaps in another tab, or is over."""

    def __init__(self) -> None:
        super().__init__("not_asking", _("This import is no longer waiting for an answer."))


def follow_choices(
    likely: Mapping[str, str], chosen_sides: Mapping[str, str], *, between_people: bool = False
) -> dict[str, str]:
    """The likely roles, adjusted to the chosen ones: two people have opposite roles, even if they were guessed the
    other way round. With `between_people`, everybody except the owner is somebody else.

    >>> follow_choices({"Ana": "user", "Mira": "persona"}, {"Mira": "user"})
    {'Ana': 'persona', 'Mira': 'user'}
    >>> follow_choices({"Ana": "user", "Ben": "other"}, {"Ben": "user"}, between_people=True)
    {'Ana': 'other', 'Ben': 'user'}
    """
    roles = {**likely, **chosen_sides}
    if between_people:
        # Once the user is chosen, everybody else is somebody else; a speaker who alone has no chosen role is the user.
        open_names = [name for name in roles if name not in chosen_sides]
        if "user" in chosen_sides.values():
            return {name: role if name in chosen_sides or role == "skip" else "other" for name, role in roles.items()}
        if len(open_names) == 1 and chosen_sides:
            return {**roles, open_names[0]: "user"}
        return dict(roles)
    two = [name for name, role in roles.items() if role not in ("other", "skip")]
    if len(two) == 2:
        for name, other in (two, reversed(two)):
            is_opposite_changed = other in chosen_sides and roles[other] not in ("", likely.get(other))
            if not roles[name] or (name not in chosen_sides and is_opposite_changed and roles[name] == roles[other]):
                roles[name] = _OPPOSITE.get(roles[other], "")
    return roles


@dataclass(frozen=True)
class Choices:
    """`roles` maps every speaker in the file to one of SIDES. `zone` is the zone of times without one, `undated` the
    day of messages without a date, `limit` the largest number of sessions and entries to import. `kind` says whether an
    ambiguous file is a "chat" or the owner's own "notes". `called` is the owner's name, for a persona that does not
    know it. `without_owner` says that the owner is none of the speakers."""

    roles: Mapping[str, str] = field(default_factory=dict)
    day_first: bool | None = None
    mapping: Mapping[str, Any] | None = None
    format: str | None = None
    zone: str = "UTC"
    undated: date | None = None
    limit: int | None = None
    kind: Kind | None = None
    called: str = ""
    without_owner: bool = False

    def as_stored(self) -> dict[str, Any]:
        """As JSON; `parse_choices` reads it."""
        return asdict(self) | {"undated": self.undated.isoformat() if self.undated else None}


def parse_choices(choices_json: Mapping[str, Any]) -> Choices:
    """The choices that `Choices.as_stored` returned; other keys are ignored."""
    values = {name: choices_json[name] for name in Choices.__dataclass_fields__ if name in choices_json}
    day = values.get("undated")
    return Choices(**values | {"undated": date.fromisoformat(day) if day else None})

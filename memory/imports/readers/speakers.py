"""The speakers of a file with guessed roles, for the question "which of them is you?". Pure."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from memory.imports.readers.lines import role_named
from memory.imports.readers.types import FileSession, ReaderItem, Role


@dataclass(frozen=True)
class Speaker:
    """A speaker of a file; `guess` is "" if nothing suggests a role."""

    name: str
    lines: int
    guess: Role


def speakers(items: Iterable[ReaderItem], *, between_people: bool = False) -> tuple[Speaker, ...]:
    """All speakers, the most frequent first. The guess uses the roles in the file, plain labels ("assistant"), and
    titles: an exported chat is named after the other person. Of two speakers, one role follows from the other. In chats
    `between_people` nobody is the persona, and at most one speaker is the user."""
    message_counts: Counter[str] = Counter()
    roles: dict[str, Role] = {}
    titles: set[str] = set()
    for conversation in items:
        if isinstance(conversation, FileSession):
            titles.add(conversation.title)
            message_counts.update(message.speaker for message in conversation.lines)
            for message in conversation.lines:
                roles[message.speaker] = role_after(roles.get(message.speaker), message.role)
    guesses = {name: roles.get(name) or role_named(name) for name in message_counts}
    if between_people:
        guesses = among_people(guesses, titles)
        return tuple(Speaker(name, count, guesses[name]) for name, count in message_counts.most_common())
    two = {name: role for name, role in guesses.items() if role != "other"}
    if len(two) == 2:
        role_by_name = {name: role or ("persona" if name in titles else "") for name, role in two.items()}
        opposite: dict[Role, Role] = {"user": "persona", "persona": "user"}
        first, second = role_by_name
        guesses[first], guesses[second] = (
            role_by_name[first] or opposite.get(role_by_name[second], ""),
            role_by_name[second] or opposite.get(role_by_name[first], ""),
        )
    return tuple(Speaker(name, count, guesses[name]) for name, count in message_counts.most_common())


def role_after(before: Role | None, role: Role) -> Role:
    """The role of a name after one more message: "other" only if the name has no other role in the file, because
    forwarded messages have it."""
    if before is None or before == "other":
        return role
    return role if role not in ("", "other") else before


def among_people(guesses: Mapping[str, Role], titles: Collection[str]) -> dict[str, Role]:
    """The roles of people who talk with each other: one is the owner, everybody else somebody else, and nobody the
    persona. "" for all who may be the owner if neither the file nor its titles tell.

    >>> among_people({"Ana": "", "Ben": ""}, {"Ben"})
    {'Ana': 'user', 'Ben': 'other'}
    >>> among_people({"Ana": "user", "Ben": "user"}, ())
    {'Ana': '', 'Ben': ''}
    """
    users = [name for name, role in guesses.items() if role == "user"]
    others = {name for name, role in guesses.items() if role in ("other", "persona")}
    if not users:
        others |= guesses.keys() & set(titles)
    possible = users or [name for name in guesses if name not in others]
    if len(possible) == 1 and (users or others):
        return {name: "user" if name in possible else "other" for name in guesses}
    return {name: "" if name in possible else "other" for name in guesses}

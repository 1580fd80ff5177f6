"""Suggests likely choices about a file, from its content and what is known of the owner."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from memory.imports.choices import Choices, follow_choices, parse_choices
from memory.imports.readers.lines import role_named
from memory.models import ImportJob

# Not a name: a telephone number, a symbol.
_NUMBER = re.compile(r"[\W\d_]*[A-Za-z]?[\W\d_]*")
_LABELS = ("owner", "admin", "system", "unknown", "null", "none")


def suggest_choices(job: ImportJob) -> Choices:
    """The choices that a person would likely make: the earlier ones, if the file was analyzed again. An unknown role is
    ""."""
    before = parse_choices(job.choices) if job.choices else Choices()
    zone = job.persona.timezone if job.persona else before.zone
    guesses = {speaker["name"]: speaker["guess"] for speaker in job.found.get("speakers", [])}
    if job.found.get("between_people"):
        owner = "" if "user" in guesses.values() else _owner_among(guesses, job)
        roles = follow_choices(guesses, {owner: "user"} if owner else {}, between_people=True)
    else:
        sides = ((job.persona.name, "persona"), (job.persona.user_name, "user")) if job.persona else ()
        side_of = {name.casefold(): side for name, side in sides if name}
        side_by_name = {name: side_of[name.casefold()] for name in guesses if name.casefold() in side_of}
        roles = follow_choices(guesses, side_by_name)
    likely = replace(
        before,
        roles={name: before.roles.get(name) or role for name, role in roles.items()},
        mapping=before.mapping or job.found.get("mapping"),
        zone=zone if before.zone == "UTC" else before.zone,
        undated=before.undated or (job.created_at - timedelta(days=1)).date(),
    )
    return replace(likely, called=name_of_owner(job, likely))


def name_of_owner(job: ImportJob, choices: Choices) -> str:
    """The owner's name: as the persona knows it, as chosen, or as a speaker in the file; "" if only an account's name
    is known, which nobody is called by."""
    name_in_persona = job.persona.user_name if job.persona else ""
    names = [name for name, role in choices.roles.items() if role == "user" and is_a_name(name)]
    in_file = names[0].strip() if len(names) == 1 else job.found.get("called", "")
    return name_in_persona or choices.called.strip() or in_file


def is_a_name(speaker: str) -> bool:
    """Whether somebody may be called this: not a label, a number or an address.

    >>> [is_a_name(speaker) for speaker in ("Ana", "me", "+49 170 1234567", "ana@example.org", "@ana")]
    [True, False, False, False, False]
    """
    is_label = bool(role_named(speaker)) or speaker.strip().casefold() in _LABELS
    return not is_label and "@" not in speaker and not _NUMBER.fullmatch(speaker.strip())


def _owner_among(likely: Mapping[str, str], job: ImportJob) -> str:
    """The speaker with the owner's name, among those who may be the owner; "" if there is none, or several."""
    possible = [name for name, role in likely.items() if not role]
    account = job.owner
    known_as = [job.persona.user_name] if job.persona else []
    for owner_name in filter(None, (*known_as, account.get_full_name(), account.first_name, account.get_username())):
        if same := [name for name in possible if name.casefold().strip() == owner_name.casefold().strip()]:
            return same[0] if len(same) == 1 else ""
    first_names = {owner_name.casefold().strip() for owner_name in (*known_as, account.first_name) if owner_name}
    first = [name for name in possible if (words := name.casefold().split()) and words[0] in first_names]
    return first[0] if len(first) == 1 else ""

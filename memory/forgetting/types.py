"""Targets, choices and plans of forgetting, with the conditions that hold before it: no reply is being written, and the
plan is the confirmed one."""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any, Literal, cast, get_args
from uuid import UUID

from django.db.models import Q
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from chat.models import Message, Session, Turn
from memory.forgetting.registry import among
from memory.models import ConceptNode, Entity, ImportRun
from persona.models import Persona

Kind = Literal["message", "node", "entity", "session", "import", "persona", "owner"]

DependentMode = Literal["cascade", "orphan"]
MessageMode = Literal["forget", "withhold"]
MentionMode = Literal["forget", "withhold", "leave"]
OtherMentions = Literal["suggested", "forget", "withhold", "leave"]
MENTION_MODES: tuple[MentionMode, ...] = get_args(MentionMode)

# What a receipt names that was made without a plan: an import that was stopped, by its id.
CANCELLED_IMPORT = "cancelled_import"


@dataclass(frozen=True)
class Target:
    """A row to forget: its kind, and its key in the database."""

    kind: Kind
    key: int


@dataclass(frozen=True)
class Choice:
    """What becomes of what rests on the targets, and of the messages they came from.

    dependents: "cascade", they go too; "orphan", they stay as far as they rest on something else
    messages: "forget", the messages go too; "withhold", they stay in the history and reach no model again
    staying: nodes, by key, that stay against "cascade", as far as they may
    mentions: what becomes of messages, by key, in which the same is also mentioned: (key, mode); they are listed in the
        plan. Of one that is not named here `other_mentions` says it: "suggested" is what the plan proposes for each.
    block_reimport: what is deleted is refused from then on. Without it an import is reverted: only what came in by it
        is deleted, not what says the same, and the same file may come again.
    """

    dependents: DependentMode = "cascade"
    messages: MessageMode = "forget"
    staying: frozenset[int] = frozenset()
    block_reimport: bool = True
    mentions: frozenset[tuple[int, MentionMode]] = frozenset()
    other_mentions: OtherMentions = "suggested"

    def mode_of(self, message: int, suggested: MentionMode) -> MentionMode:
        """What becomes of a message in which it is also mentioned."""
        other = suggested if self.other_mentions == "suggested" else self.other_mentions
        return dict(self.mentions).get(message, other)


class InvalidChoice(ValueError):
    """A choice that nobody can make. `field` is the part that is wrong: dependents, messages or mentions."""

    def __init__(self, field: str) -> None:
        super().__init__(f"{field}: there is no such choice")
        self.field = field


def make_choice(
    dependents: str = Choice.dependents,
    messages: str = Choice.messages,
    mentions: str = Choice.other_mentions,
    modes: Iterable[tuple[int, str]] = (),
    staying: Iterable[int] = (),
) -> Choice:
    """The choice that these words make, by the same rules and defaults on the page, in the admin, the API and the
    command. `modes` holds (key of a message, mode), `staying` keys of nodes. Raises InvalidChoice for a word that is
    none, and for two modes of one message: forgetting cannot be undone, so nothing is guessed.

    >>> make_choice(messages="withhold") == Choice(messages="withhold")
    True
    """
    modes = frozenset(modes)
    words = {"dependents": (dependents, DependentMode), "messages": (messages, MessageMode)}
    for field, (word, values) in words.items():
        if word not in get_args(values):
            raise InvalidChoice(field)
    is_known = mentions in get_args(OtherMentions) and all(mode in MENTION_MODES for _key, mode in modes)
    if not is_known or len(dict(modes)) < len(modes):
        raise InvalidChoice("mentions")
    return Choice(
        dependents=cast(DependentMode, dependents),
        messages=cast(MessageMode, messages),
        staying=frozenset(staying),
        mentions=cast(frozenset[tuple[int, MentionMode]], modes),
        other_mentions=cast(OtherMentions, mentions),
    )


CASCADE = Choice()
# What was said here since stays, and what is known from elsewhere, too.
REVERT_IMPORT = Choice("orphan", block_reimport=False)


@dataclass(frozen=True)
class Affected:
    """One row that a plan touches: its kind, its text, and why, as a code of `REASONS`.

    `mode` is what becomes of a message in which it is also mentioned, `proposed` what would if nobody chose, and
    `said_by` its role.
    """

    kind: str
    key: int
    uuid: UUID | None
    text: str
    why: str
    may_stay: bool = False
    mode: MentionMode | None = None
    proposed: MentionMode | None = None
    said_by: str = ""


@dataclass(frozen=True)
class Plan:
    """Everything that forgetting would do; nothing is done yet.

    `mentioned` are the messages in which it is also mentioned, each with what becomes of it. Those of them that go or
    are withheld stand in `going` and `withheld`, too.
    `counts` per table, or "table.column" where a column is emptied. `digest` is keyed and over keys and choice: by it
    a confirmation confirms this plan and no other. Plans for a persona or an owner hold counts alone, no words.
    """

    persona: Any  # Persona, or None where an owner goes
    owner: Any  # the owner of what goes
    targets: tuple[Target, ...]
    choice: Choice
    going: tuple[Affected, ...]
    staying: tuple[Affected, ...]
    withheld: tuple[Affected, ...]
    erased: tuple[Affected, ...]
    elsewhere: tuple[Affected, ...]
    mentioned: tuple[Affected, ...]
    counts: Mapping[str, int]
    digest: str

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing left to forget."""
        return not self.counts


class Busy(Exception):
    """A reply is being written just now, perhaps from what is to be forgotten; a moment later it can be."""


class PlanChanged(Exception):
    """What would be forgotten is not what was confirmed: `plan` is what it would be now. Nothing was done."""

    def __init__(self, plan: Plan) -> None:
        super().__init__("the plan is not the one that was confirmed")
        self.plan = plan


# --- targets ---------------------------------------------------------------------------------------------------------
MODELS: Mapping[str, Any] = {
    "message": Message,
    "node": ConceptNode,
    "entity": Entity,
    "session": Session,
    "import": ImportRun,
}


class NothingThere(LookupError):
    """None of the targets is there any longer."""


def target_of(persona: Persona, kind: Kind, reference: str) -> Target:
    """The row of the persona with that id or external id. Raises LookupError."""
    if kind == "persona":
        return Target("persona", persona.pk)
    if kind == "owner":
        return Target("owner", persona.owner_id)
    by_id = Q(external_id=reference)
    with suppress(ValueError):
        by_id |= Q(uuid=UUID(reference))
    rows = MODELS[kind]._default_manager.filter(by_id, persona=persona)
    keys = list(rows.values_list("pk", flat=True)[:2])
    if len(keys) != 1:
        raise LookupError(f"{'There is no' if not keys else 'There is more than one'} {kind} {reference!r} of hers.")
    return Target(kind, keys[0])


def whose(targets: Sequence[Target]) -> tuple[Persona, dict[Target, UUID]]:
    """The one persona that has them, and the ids of those that are there. Raises NothingThere, and ValueError for
    targets of several."""
    ids: dict[Target, UUID] = {}
    personas: set[int] = set()
    for kind in dict.fromkeys(target.kind for target in targets):
        keys = among(target.key for target in targets if target.kind == kind)
        rows = MODELS[kind]._default_manager.filter(pk__in=keys)
        for key, uuid, persona in rows.values_list("pk", "uuid", "persona_id"):
            ids[Target(kind, key)] = uuid
            personas.add(persona)
    if not personas:
        raise NothingThere
    if len(personas) > 1:
        raise ValueError("what is forgotten at once belongs to one persona")
    return Persona.objects.select_related("owner").get(pk=personas.pop()), ids


def are_people(targets: Sequence[Target]) -> bool:
    """Whether the target is a persona or an owner, and not rows of one persona. Raises ValueError for more than one of
    them together."""
    has_people = any(target.kind in ("persona", "owner") for target in targets)
    if has_people and len(targets) > 1:
        raise ValueError("a persona or an owner is forgotten alone")
    return has_people


def hold(personas: Iterable[Persona]) -> None:
    """Make sure that no reply of these is under way. Call inside a transaction, which holds the write lock
    from its beginning on: no reply can begin until it ends. Raises Busy."""
    keys = [persona.pk for persona in personas]
    if Turn.objects.running().filter(persona__in=keys).exists():
        raise Busy


def digest_of(targets: Iterable[Target], choice: Choice, contents: Mapping[str, Any]) -> str:
    """The digest of a plan by its targets, its choice and its contents; nobody without the installation's secret can
    make one up."""
    fields = {**asdict(choice), "staying": sorted(choice.staying), "mentions": sorted(choice.mentions)}
    keys = sorted((target.kind, target.key) for target in targets)
    confirmed = json.dumps([keys, fields, contents], sort_keys=True)
    return salted_hmac("memory.forgetting.plan", confirmed, algorithm="sha256").hexdigest()


def empty_plan(targets: Sequence[Target], choice: Choice) -> Plan:
    """The plan where nothing is left to forget."""
    return Plan(None, None, tuple(targets), choice, (), (), (), (), (), (), {}, digest_of(targets, choice, {}))


# --- the words of a plan ----------------------------------------------------------------------------------------------
REASONS = {
    # what goes
    "chosen": _("You chose it."),
    "request": _("It is your request to forget this."),
    "in_chosen": _("It is part of what you chose."),
    "mentions": _("It is about the person you chose."),
    "names": _("It contains a name of the person you chose."),
    "earlier": _("It is an earlier version of something deleted."),
    "words_of": _("A deleted memory came from these words."),
    "rests_on": _("It was concluded from something deleted."),
    "quotes": _("It came from a deleted message."),
    "same_lines": _("It also came up in deleted messages."),
    "reply": _("It is the reply to a deleted message."),
    "echo": _("It repeats deleted words."),
    "mentioned": _("It mentions the same thing."),
    "names_it": _("It contains a deleted name."),
    "rare_word": _("It shares a rare word with something deleted."),
    "same_words": _("It says the same thing in the same words."),
    "no_ground": _("All its sources are deleted."),
    "empty": _("All its messages are deleted."),
    "unmentioned": _("No remaining memory mentions it."),
    "name_gone": _("This name occurs only in deleted text."),
    # what stays
    "other_ground": _("It has other sources too; only its link to the deleted ones is removed."),
    # what is withheld
    "put_away": _("You chose to keep the messages in the history; they are no longer sent to any model."),
    "still_needed": _("A memory you keep is based on it: it stays in the history and is no longer sent to any model."),
    # what is erased
    "written_from": _("It was written from deleted text."),
    "thread_gone": _("Fewer than two of its memories are left."),
    "felt_in": _("It summarises a conversation with deleted parts."),
    # what is not touched
    "written_by_people": _(
        "A person wrote it, so it is not changed. Please check whether it mentions what you delete."
    ),
    "later": _("It is a later version of something deleted. It stays unless you choose it, too."),
    "on_its_way": _(
        "It has not been read yet. Deleted content is skipped, and the file is deleted once it has been read."
    ),
}

KINDS = {
    "message": _("message"),
    "node": _("memory"),
    "event": _("what happened"),
    "fact": _("fact"),
    "thought": _("thought"),
    "intention": _("promise"),
    "expectation": _("expectation"),
    "lesson": _("wish"),
    "session": pgettext_lazy("kind", "conversation"),
    "entity": _("person, place or thing"),
    "alias": _("name"),
    "summary": _("summary of a conversation"),
    "description": _("description of a person, place or thing"),
    "mood": _("mood note"),
    "thread": _("title of a story line"),
    "core_block": _("description or style"),
    "persona": pgettext_lazy("kind", "companion"),
    "import": _("imported file"),
}

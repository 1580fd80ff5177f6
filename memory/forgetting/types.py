"""Targets, choices and plans of forgetting, and its preconditions: no reply is being written, and the plan is the
confirmed one."""

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

# The target kind of a receipt made without a plan: an import that was cancelled, by its id.
CANCELLED_IMPORT = "cancelled_import"


@dataclass(frozen=True)
class Target:
    """A row to forget: its kind, and its key in the database."""

    kind: Kind
    key: int


@dataclass(frozen=True)
class Choice:
    """How to treat dependents of the targets, and the messages they came from.

    dependents: "cascade" deletes them; "orphan" keeps those that also rest on something else
    messages: "forget" deletes them; "withhold" keeps them in the history and from every model
    staying: keys of nodes that stay in spite of "cascade", if possible
    mentions: (key, mode) of messages that mention the same and are listed in the plan. For the others
        `other_mentions` is the mode; "suggested" means the mode that the plan suggests for each.
    block_reimport: deleted content is refused from then on. If False an import is reverted: only its own rows are
        deleted, not others with the same content, and the same file may be imported again.
    """

    dependents: DependentMode = "cascade"
    messages: MessageMode = "forget"
    staying: frozenset[int] = frozenset()
    block_reimport: bool = True
    mentions: frozenset[tuple[int, MentionMode]] = frozenset()
    other_mentions: OtherMentions = "suggested"

    def mode_of(self, message: int, suggested: MentionMode) -> MentionMode:
        """The mode of a message that mentions the same."""
        default = suggested if self.other_mentions == "suggested" else self.other_mentions
        return dict(self.mentions).get(message, default)


class InvalidChoice(ValueError):
    """An impossible choice. `field` is the wrong part: dependents, messages or mentions."""

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
    """The choice for these values, with the same rules and defaults on the page, in the admin, the API and the command.
    `modes` holds (key of a message, mode), `staying` keys of nodes. Raises InvalidChoice for an unknown value and for
    two modes of one message: forgetting cannot be undone, so nothing is guessed.

    >>> make_choice(messages="withhold") == Choice(messages="withhold")
    True
    """
    modes = frozenset(modes)
    values_by_field = {"dependents": (dependents, DependentMode), "messages": (messages, MessageMode)}
    for field, (value, allowed) in values_by_field.items():
        if value not in get_args(allowed):
            raise InvalidChoice(field)
    are_valid_modes = mentions in get_args(OtherMentions) and all(mode in MENTION_MODES for _key, mode in modes)
    if not are_valid_modes or len(dict(modes)) < len(modes):
        raise InvalidChoice("mentions")
    return Choice(
        dependents=cast(DependentMode, dependents),
        messages=cast(MessageMode, messages),
        staying=frozenset(staying),
        mentions=cast(frozenset[tuple[int, MentionMode]], modes),
        other_mentions=cast(OtherMentions, mentions),
    )


CASCADE = Choice()
# Messages in which the persona has mentioned it since stay, and so do memories from other sources.
REVERT_IMPORT = Choice("orphan", block_reimport=False)


@dataclass(frozen=True)
class Affected:
    """One row that a plan touches: its kind, its text, and the reason, as a code of `REASONS`.

    For a message that mentions the same, `mode` is its mode, `proposed` the suggested mode, `role` that of its speaker.
    """

    kind: str
    key: int
    uuid: UUID | None
    text: str
    why: str
    may_stay: bool = False
    mode: MentionMode | None = None
    proposed: MentionMode | None = None
    role: str = ""


@dataclass(frozen=True)
class Plan:
    """All effects of forgetting, before anything is done.

    `mentioned` are the messages that mention the same, each with its mode; those that are deleted or withheld are in
    `deleted` and `withheld` as well. `erased` are texts that are cleared in rows that stay, `untouched` rows that are
    listed and not changed. `counts` are per table, or per "table.column" for values. `digest` is keyed and
    covers keys and choice: a confirmation is valid for this plan only. Plans for a persona or an owner contain counts
    only, no text.
    """

    persona: Any  # Persona, or None if an owner is forgotten
    owner: Any  # the owner of the rows
    targets: tuple[Target, ...]
    choice: Choice
    deleted: tuple[Affected, ...]
    staying: tuple[Affected, ...]
    withheld: tuple[Affected, ...]
    erased: tuple[Affected, ...]
    untouched: tuple[Affected, ...]
    mentioned: tuple[Affected, ...]
    counts: Mapping[str, int]
    digest: str

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing left to forget."""
        return not self.counts

    @property
    def sections(self) -> Mapping[str, tuple[Affected, ...]]:
        """The rows by the names that the API and the pages give them."""
        return {
            "going": self.deleted,
            "staying": self.staying,
            "withheld": self.withheld,
            "erased": self.erased,
            "elsewhere": self.untouched,
        }


class Busy(Exception):
    """A reply is being written, perhaps from the content to forget. Try again a moment later."""


class PlanChanged(Exception):
    """The current plan differs from the confirmed one: `plan` is the current one. Nothing was done."""

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


class TargetsMissing(LookupError):
    """None of the targets exists any longer."""


def target_of(persona: Persona, kind: Kind, reference: str) -> Target:
    """The row of the persona with this id or external id. Raises LookupError."""
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
        raise LookupError(
            f"{'There is no' if not keys else 'There is more than one'} {kind} {reference!r} of this persona."
        )
    return Target(kind, keys[0])


def persona_and_ids(targets: Sequence[Target]) -> tuple[Persona, dict[Target, UUID]]:
    """The persona of the targets, and the ids of those that exist. Raises TargetsMissing, and ValueError for targets of
    several personas."""
    ids: dict[Target, UUID] = {}
    personas: set[int] = set()
    for kind in dict.fromkeys(target.kind for target in targets):
        keys = among(target.key for target in targets if target.kind == kind)
        rows = MODELS[kind]._default_manager.filter(pk__in=keys)
        for key, uuid, persona in rows.values_list("pk", "uuid", "persona_id"):
            ids[Target(kind, key)] = uuid
            personas.add(persona)
    if not personas:
        raise TargetsMissing
    if len(personas) > 1:
        raise ValueError("the targets must belong to one persona")
    return Persona.objects.select_related("owner").get(pk=personas.pop()), ids


def is_persona_or_owner(targets: Sequence[Target]) -> bool:
    """Whether the target is a persona or an owner, and not rows of one persona. Raises ValueError for more than one
    persona or owner."""
    has_persona_or_owner = any(target.kind in ("persona", "owner") for target in targets)
    if has_persona_or_owner and len(targets) > 1:
        raise ValueError("a persona or an owner must be the only target")
    return has_persona_or_owner


def require_no_reply_in_progress(personas: Iterable[Persona]) -> None:
    """Make sure that no reply of these personas is in progress. Call inside a transaction, which holds the write lock
    from its beginning: no reply can begin until it ends. Raises Busy."""
    keys = [persona.pk for persona in personas]
    if Turn.objects.running().filter(persona__in=keys).exists():
        raise Busy


def digest_of(targets: Iterable[Target], choice: Choice, contents: Mapping[str, Any]) -> str:
    """The digest of a plan by its targets, choice and contents; it cannot be forged without the installation's
    secret."""
    fields = {**asdict(choice), "staying": sorted(choice.staying), "mentions": sorted(choice.mentions)}
    keys = sorted((target.kind, target.key) for target in targets)
    plan_json = json.dumps([keys, fields, contents], sort_keys=True)
    return salted_hmac("memory.forgetting.plan", plan_json, algorithm="sha256").hexdigest()


def empty_plan(targets: Sequence[Target], choice: Choice) -> Plan:
    """The plan if nothing is left to forget."""
    return Plan(None, None, tuple(targets), choice, (), (), (), (), (), (), {}, digest_of(targets, choice, {}))


# --- the texts of a plan ----------------------------------------------------------------------------------------------
REASONS = {
    # deleted
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
    # staying
    "other_ground": _("It has other sources too; only its link to the deleted ones is removed."),
    # withheld
    "put_away": _("You chose to keep the messages in the history; they are no longer sent to any model."),
    "still_needed": _("A memory you keep is based on it: it stays in the history and is no longer sent to any model."),
    # erased
    "written_from": _("It was written from deleted text."),
    "thread_gone": _("Fewer than two of its memories are left."),
    "felt_in": _("It summarises a conversation with deleted parts."),
    # not touched
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

"""What forgetting is asked, plans and answers with."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args
from uuid import UUID

from django.utils.translation import gettext_lazy as _

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
    """What is to be forgotten: its kind, and its key in the database."""

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
    for field, (word, known) in words.items():
        if word not in get_args(known):
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
    """One thing a plan touches: its table's label in short, its words, and why, as a code of `REASONS`.

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


# --- the words of a plan ----------------------------------------------------------------------------------------------
REASONS = {
    # what goes
    "chosen": _("You chose it."),
    "in_chosen": _("It is part of what you chose."),
    "mentions": _("It is about whom you chose."),
    "names": _("A name of whom you chose stands in it."),
    "earlier": _("It is an earlier version of something that goes."),
    "words_of": _("A memory that goes was made from these words."),
    "rests_on": _("It was concluded from something that goes."),
    "quotes": _("It was made from a line that goes."),
    "same_lines": _("It was also told in lines that go."),
    "echo": _("It repeats words that go."),
    "mentioned": _("It is also mentioned in it."),
    "names_it": _("A name that goes stands in it."),
    "rare_word": _("A word that you seldom use stands in it, and in what goes."),
    "same_words": _("It says the same, in the same words."),
    "no_ground": _("Nothing that it rests on is left."),
    "empty": _("No line of it is left."),
    "unmentioned": _("No memory that is left mentions it."),
    "name_gone": _("This name stands only in what goes."),
    # what stays
    "other_ground": _("It rests on something else as well; its link to what goes is cut."),
    # what is withheld
    "put_away": _("You chose that the lines stay in the history; they reach no model any more."),
    "still_needed": _("A memory that stays rests on it: it stays in the history, and reaches no model any more."),
    # what is erased
    "written_from": _("It was written from what goes."),
    "felt_in": _("It tells of a talk from which something goes."),
    # what is not touched
    "written_by_people": _("A person wrote it: it is not touched. Look whether it says what goes."),
    "later": _("It is a later version of something that goes, and stays unless you choose it, too."),
    "on_its_way": _("It is still to be read. What goes is left out of it, and the file goes when it is read."),
}

KINDS = {
    "message": _("line"),
    "node": _("memory"),
    "event": _("event"),
    "thought": _("thought"),
    "intention": _("promise"),
    "expectation": _("expectation"),
    "session": _("talk"),
    "entity": _("somebody or something with a name"),
    "alias": _("name"),
    "summary": _("summary of a talk"),
    "description": _("description of somebody or something"),
    "mood": _("note about the mood"),
    "core_block": _("core block"),
    "persona": _("persona"),
    "import": _("file that you brought"),
}

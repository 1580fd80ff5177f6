"""A life of any actions in any order: after each forgetting, and at its end, everything in memory holds.

The actions are those of the project: what is said, remembered through the write gate, concluded, corrected, put away,
named, merged, told apart, split, exported and imported, and forgotten in every way. Vectors are made from the text, so
that no model has to load.
"""

import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.db import transaction
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from chat.messages import add_message, receive_message
from chat.models import Session
from echovessel.embeddings import embedding
from echovessel.language.plain_text import normalize_text
from memory import forgetting
from memory.archive import import_archive
from memory.archive import write as archive_write
from memory.curation import actions
from memory.curation import correct as curation_correct
from memory.entities import merge
from memory.entities import split as entities_split
from memory.entities.resolve import MentionedName, link_inherited, resolve
from memory.forgetting import Choice, Target, verify
from memory.models import MergeProposal, Receipt
from memory.store import checks, writing
from persona import mood
from persona.onboarding.creation import create_persona

NAMES = ["Tom", "Thomas Hill", "Ann Hill", "小黑"]
ACTIONS = ["moved to Lisbon last week", "keeps a grey heron", "lost a zebra quilt", "小提琴弹得很好", "likes bees"]
CURATING = ["hide", "show", "confirm", "dispute", "pin", "unpin", "archive", "unarchive"]
MEMORIES = {"event", "thought"}
BEGINNING = datetime(2026, 5, 1, 8, 0, tzinfo=UTC)


def vectors_of(texts: Iterable[str], model: str | None = None, **_: bool) -> np.ndarray:
    """Of each text its own unit vector; of two texts as good as never near each other."""
    seeds = [int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()) for text in texts]
    made = np.array([np.random.default_rng(seed).standard_normal(embedding.DIMENSION) for seed in seeds])
    made = made.reshape(-1, embedding.DIMENSION)
    return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture
def scripted_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "embed", vectors_of)


CHOICES = st.builds(
    Choice, dependents=st.sampled_from(["cascade", "orphan"]), messages=st.sampled_from(["forget", "withhold"])
)
ANY = st.integers(min_value=0, max_value=10_000)


class Life(RuleBasedStateMachine):
    """One owner's persona, in a database that is as it was when the life is over."""

    def __init__(self) -> None:
        super().__init__()
        self.begin()
        self.now = BEGINNING
        self.owner = User.objects.create_user("ana")
        self.persona = create_persona(self.owner, "Mira", user_name="Ana")
        self.archive = b""
        # What was forgotten, with the moment: only what the owner says later brings it back.
        self.gone: dict[str, datetime] = {}
        for place, name in enumerate(NAMES):
            self.say(name, ACTIONS[place], answered=True)
            self.remember(place, place, supersedes=False)

    def begin(self) -> None:
        self.whole = transaction.atomic()
        self.whole.__enter__()

    def teardown(self) -> None:
        try:
            assert checks.broken_invariants(self.now) == {}
        finally:
            self.end()

    def end(self) -> None:
        transaction.set_rollback(True)
        self.whole.__exit__(None, None, None)

    # --- what is said and remembered ------------------------------------------------------------------------------
    @rule(name=st.sampled_from(NAMES), action=st.sampled_from(ACTIONS), answered=st.booleans())
    def say(self, name: str, action: str, answered: bool) -> None:
        self.now += timedelta(minutes=7)
        said = receive_message(self.persona, f"{name} {action}.", None, "web", self.now).message
        assert said.turn is not None
        if answered:
            add_message(said.session, "persona", f"So {name} {action}?", self.now, turn=said.turn)
        said.turn.status = "done" if answered else "failed"
        said.turn.partial = "" if answered else f"So {name}"
        said.turn.xray = {"recollections": {"chosen": [str(node.uuid) for node in self.nodes()[:2]]}}
        said.turn.save()

    @rule(which=ANY, other=ANY, supersedes=st.booleans())
    def remember(self, which: int, other: int, supersedes: bool) -> None:
        """An event, through the gate, from one line or two."""
        lines = self.some(self.persona.messages.filter(role="user", withheld=False), which, other)
        if not lines:
            return
        told = " ".join(line.content for line in lines)
        forgotten_at = self.gone.get(normalize_text(f"Ana said: {told}"))
        if forgotten_at and any(line.created_at > forgotten_at and writing.is_native_message(line) for line in lines):
            del self.gone[normalize_text(f"Ana said: {told}")]
        known = self.nodes().filter(kind="event")[:1] if supersedes else []
        self.write(
            kind="event",
            description=f"Ana said: {told}",
            source="extraction",
            session=lines[0].session,
            evidence=[writing.Quote(line, line.content, 0, len(line.content)) for line in lines],
            supersedes=list(known),
        )

    @rule(which=ANY, other=ANY)
    def conclude(self, which: int, other: int) -> None:
        """A thought, from one or two memories."""
        filling = self.some(self.nodes(), which, other)
        if filling:
            about = " and ".join(node.description[-30:] for node in filling)
            self.write(kind="thought", description=f"It matters: {about}", source="reflection", filling=filling)

    def write(self, **fields: Any) -> None:
        draft = writing.Draft(**fields)
        vector = embedding.embed([writing.tidy_description(draft.description)])[0]
        with transaction.atomic():
            node = writing.write(self.persona, draft, vector, embedding.name(), self.now).node
            if node is None or node.status != "active":
                return
            link_inherited(node, draft.filling)
            for name in NAMES:
                resolve(self.persona, MentionedName([name], "person", [node]))

    @rule()
    def rest(self) -> None:
        """The talk ends, with a summary and a mood of its words."""
        talk = self.persona.sessions.filter(status="open").first()
        if talk is None:
            return
        last = talk.messages.last()
        Session.objects.filter(pk=talk.pk).update(status="closed", summary=f"About: {last.content}"[:400])
        self.persona.refresh_from_db()
        with transaction.atomic():
            mood.change(self.persona, mood.Mood("calm", 5, last.content[:80]), talk.uuid, self.now)

    # --- what people do with it -----------------------------------------------------------------------------------
    @rule(which=ANY, action=st.sampled_from(ACTIONS))
    def correct(self, which: int, action: str) -> None:
        for node in self.some(self.persona.nodes.all(), which):
            change = curation_correct.Correction(description=f"{node.description.split()[0]} {action}")
            try:
                curation_correct.correct(node, change, self.owner, self.now)
            except curation_correct.WordsForgotten:  # another memory said so once, and was forgotten
                assert self.persona.nodes.get(pk=node.pk).description == node.description

    @rule(which=ANY, action=st.sampled_from(CURATING))
    def curate(self, which: int, action: str) -> None:
        for node in self.some(self.persona.nodes.all(), which):
            getattr(actions, action)(node)

    @rule(which=ANY, other=ANY, apart=st.booleans())
    def decide(self, which: int, other: int, apart: bool) -> None:
        pair = self.some(self.living(), which, other)
        if len(pair) < 2:
            return
        if apart:
            merge.keep_apart(merge.propose(self.persona, *pair, 0.5, []), self.owner, self.now)
        else:
            merge.merge_pair(*pair, self.owner, self.now)

    @rule(which=ANY)
    def undo(self, which: int) -> None:
        decided = MergeProposal.objects.of(self.persona).filter(status__in=["merged", "kept_apart"])
        for proposal in self.some(decided, which):
            try:
                with transaction.atomic():
                    merge.undo(proposal, self.owner, self.now)
            except merge.LaterMergeStands:
                assert MergeProposal.objects.get(pk=proposal.pk).status == "merged"

    @rule(which=ANY, names=st.booleans())
    def split(self, which: int, names: bool) -> None:
        for entity in self.some(self.living(), which):
            aliases = [alias.pk for alias in entity.aliases.all()][:1] if names else []
            mentions = [] if names else [mention.pk for mention in entity.mentions.all()][:1]
            try:
                with transaction.atomic():
                    entities_split.split(entity, aliases, mentions, self.owner, self.now)
            except entities_split.NotSplit:
                assert self.living().filter(pk=entity.pk).exists()

    @rule()
    def export(self) -> None:
        self.archive = b"".join(archive_write.archive_lines(self.persona, self.now))

    @precondition(lambda self: self.archive)
    @rule()
    def bring_it_back(self) -> None:
        """Import what was exported before: what was forgotten since stays so."""
        found = import_archive(BytesIO(self.archive), self.owner)
        assert (found.persona, found.rejected) == (self.persona, 0)

    # --- forgetting -----------------------------------------------------------------------------------------------
    @rule(which=ANY, kind=st.sampled_from(["node", "message", "session", "entity"]), choice=CHOICES)
    def forget(self, which: int, kind: str, choice: Choice) -> None:
        rows: Any = {
            "node": self.persona.nodes,
            "message": self.persona.messages,
            "session": self.persona.sessions,
            "entity": self.living(),
        }[kind]
        for row in self.some(rows.all(), which):
            plan = forgetting.plan([Target(kind, row.pk)], choice)  # type: ignore[arg-type]
            told = {normalize_text(one.text) for one in plan.deleted if one.kind in MEMORIES}
            receipt = forgetting.forget(plan, self.owner, self.now)
            self.gone |= dict.fromkeys(told - self.told(), self.now)  # another memory may say the same
            assert receipt.counts == dict(plan.counts)
            assert forgetting.plan([Target(kind, row.pk)], choice).is_empty  # type: ignore[arg-type]
            self.nothing_is_left_of(receipt)

    def nothing_is_left_of(self, receipt: Receipt) -> None:
        Receipt.objects.update(status=Receipt.Status.DONE)  # no bytes are erased inside a transaction
        assert [hit for hit in verify.prove([receipt]).hits if hit.form == "id"] == []
        assert checks.broken_invariants(self.now) == {}

    @invariant()
    def what_was_forgotten_is_not_there(self) -> None:
        assert not self.told() & self.gone.keys()

    # --- choosing -------------------------------------------------------------------------------------------------
    def told(self) -> set[str]:
        return {normalize_text(text) for text in self.persona.nodes.values_list("description", flat=True)}

    def nodes(self) -> Any:
        return self.persona.nodes.filter(status="active").order_by("-id")

    def living(self) -> Any:
        return self.persona.entities.exclude(status="merged")

    def some(self, rows: Any, *which: int) -> list[Any]:
        """The rows at these places, counted round and round; each once."""
        keys = list(rows.order_by("id").values_list("pk", flat=True))
        chosen = dict.fromkeys(keys[place % len(keys)] for place in which) if keys else {}
        found = rows.model._default_manager.in_bulk(chosen)
        return [found[key] for key in chosen]


@pytest.mark.django_db
@pytest.mark.usefixtures("scripted_vectors")
@pytest.mark.parametrize("count", [1, pytest.param(4, marks=pytest.mark.campaign)])
def test_everything_holds_after_fifty_actions_of_each_life(count: int) -> None:
    run_state_machine_as_test(Life, settings=lives(count))


def lives(count: int) -> settings:
    """So many lives of fifty actions each."""
    return settings(
        max_examples=count,
        stateful_step_count=50,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],  # a life that went wrong is told as it was: to shorten it takes minutes
        suppress_health_check=list(HealthCheck),
    )


class EraseLife(Life):
    """The same in a database of its own: what is forgotten is erased from the file at once."""

    def begin(self) -> None:
        User.objects.all().delete()

    def end(self) -> None:
        self.owner.delete()
        assert checks.broken_invariants(self.now) == {}

    def nothing_is_left_of(self, receipt: Receipt) -> None:
        assert receipt.status == Receipt.Status.DONE, "the bytes are gone at once"
        super().nothing_is_left_of(receipt)


@pytest.mark.campaign
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("scripted_vectors")
def test_everything_holds_after_five_thousand_actions() -> None:
    run_state_machine_as_test(EraseLife, settings=lives(100))

"""What is held in memory of a persona is at every moment what the database holds, whoever changes it."""

import contextlib
import os
import random
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from django.conf import settings as django_settings
from django.db import connection, transaction

from chat import search
from chat.messages import add_message, receive_message
from chat.models import Message, MessageText, Session
from chat.sessions import off_the_record
from echovessel.embeddings import embedding
from echovessel.language import tokenizer
from echovessel.process.word_caches import LRUCache
from memory import recall as recalling
from memory.models import ConceptNode, Evidence, ImportJob, NodeText, NodeVector
from memory.recall import Recall, details, inverted_index, recall, snapshot
from memory.recall.dates import read_window
from memory.recall.rows import DatabaseRows, Memory
from memory.recall.snapshot import Snapshot
from memory.store import vectors
from memory.store.active_model import follow
from memory.store.writing import Draft, Quote, write
from persona.models import Persona
from tests.memory.sessions import NOW, talk

pytestmark = pytest.mark.django_db(transaction=True)
WORDS = ["bee", "cat", "sofa", "rain", "tea", "小黑", "sea", "bread", "choir", "lamp"]
QUESTIONS = ["Where is the cat?", "What about the bread by the sea?", "小黑呢", "tea and rain on the sofa"]
TAGS = [[], ["commitment"], ["unresolved", "correction"]]
DAYS = [None, *(NOW.date() + timedelta(days=days) for days in (-400, -1, 0, 1))]
WINDOWS = [
    window
    for words in ("yesterday", "tomorrow", "last year", "this week")
    if (window := read_window([f"What happened {words}?"], NOW, ZoneInfo("Asia/Shanghai")))
]


@pytest.fixture(autouse=True)
def empty_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty cache, and small segments."""
    monkeypatch.setattr(snapshot, "_cache", LRUCache())
    monkeypatch.setattr(inverted_index, "MAX_RECENT", 8)


def columns_of(rows: Any) -> dict[str, Any]:
    """Rows or talks as plain lists, to be compared."""
    plain: dict[str, Any] = {}
    for name, column in vars(rows).items():
        if isinstance(column, np.ndarray):
            plain[name] = column.tolist()
        elif name == "texts":
            plain[name] = (column.counts.tolist(), column.lengths.tolist())
    return plain


def describe_answers(
    memory: Memory, nodes: list[int], messages: list[int], sessions: list[int], limit: int
) -> dict[str, Any]:
    """The answers of a memory to each of its queries."""
    words = [*WORDS[:6], "unicorn"]
    return {
        "node_count": memory.node_count,
        "message_count": memory.message_count,
        "nodes_with_words": {word: ids.tolist() for word, ids in memory.nodes_with_words(words, limit).items()},
        "messages_with_words": {word: ids.tolist() for word, ids in memory.messages_with_words(words, limit).items()},
        "recallable": memory.recallable(np.array(nodes, dtype=np.int64), limit),
        "recallable_in": [memory.recallable_in(window, limit) for window in WINDOWS],
        "nodes_by_evidence": memory.nodes_by_evidence(np.array(sorted(messages), dtype=np.int64), limit),
        "nodes": columns_of(memory.nodes(nodes, words)),
        "lines": columns_of(memory.messages(np.array(messages, dtype=np.int64), words, limit)),
        "talks": columns_of(memory.sessions(sorted(sessions))),
    }


def assert_alike(persona_id: int, cached: Memory, dice: random.Random) -> None:
    """`cached` answers as the database does, to ids of this persona, of others, and of nobody."""

    def some(model: Any) -> list[int]:
        keys = [*model.objects.values_list("pk", flat=True), 10**9]
        return dice.sample(keys, dice.randint(0, len(keys)))

    ids = some(ConceptNode), some(Message), some(Session), dice.choice([1, 3, 200])
    assert describe_answers(cached, *ids) == describe_answers(DatabaseRows(persona_id), *ids)


def recall_as_json(persona: Persona, question: str) -> dict[str, Any]:
    result: Recall = recall(persona, [question], now=NOW + timedelta(days=3), budget_tokens=600)
    xray = result.xray.as_json()
    for arm in xray["arms"]:
        del arm["ms"]
    del xray["elapsed_ms"]
    return {"items": [item.as_json() for item in result.items], "xray": xray}


def assert_recalls_alike(persona: Persona, question: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        assert snapshot.of(persona.pk)
        from_memory = recall_as_json(persona, question)
        patch.setattr(snapshot, "of", lambda _: None)
        assert from_memory == recall_as_json(persona, question)


def prepare_snapshot(persona: Persona) -> Snapshot:
    snapshot.prepare(persona.pk)
    cached = snapshot.of(persona.pk)
    assert cached is not None
    return cached


class Life:
    """What may happen to two personas' nodes and lines, by chance."""

    def __init__(self, persona: Persona, other: Persona, dice: random.Random) -> None:
        self.persona, self.other, self.dice = persona, other, dice
        self.minutes = 0
        self.actions: list[Callable[[], object]] = [
            getattr(self, name) for name in dir(type(self)) if name.startswith(("node_", "line_", "talk_", "other_"))
        ]
        self.actions += 4 * [self.node_written, self.line_taken, self.talk_begun]

    def words(self) -> str:
        return " ".join(self.dice.choices(WORDS, k=self.dice.randint(1, 5)))

    def now(self) -> Any:
        self.minutes += self.dice.choice([0, 0, 1, 20])
        return NOW + timedelta(minutes=self.minutes)

    def any_of(self, model: Any) -> Any:
        """One of the persona's, as a queryset; of nothing, where she has none."""
        keys = list(model.objects.filter(persona=self.persona).values_list("pk", flat=True))
        return model.objects.filter(pk=self.dice.choice(keys or [0]))

    def sql(self, statement: str, *values: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute(statement, values)

    def node_written(self) -> None:
        quotes = [Quote(line, line.content[:3], 0, 3) for line in self.any_of(Message) if len(line.content) > 3]
        draft = Draft(
            "event", f"{self.words()} {self.minutes} {self.dice.random()}", "extraction", evidence=quotes,
            session=self.any_of(Session).first(), emotional_impact=self.dice.randint(-9, 9),
            relational_tags=self.dice.choice(TAGS), supersedes=self.dice.choice([[], list(self.any_of(ConceptNode))]),
        )  # fmt: skip
        vector = embedding.embed([draft.description])[0]
        with transaction.atomic():
            write(self.persona, draft, vector, follow(), self.now())

    def node_day(self) -> None:
        start, end = self.dice.choice(DAYS), self.dice.choice(DAYS)
        if start and end and end < start:
            start, end = end, start
        self.any_of(ConceptNode).update(event_time_start=start, event_time_end=start and end)

    def node_status(self) -> None:
        self.any_of(ConceptNode).update(status=self.dice.choice(ConceptNode.Status.values))

    def node_shown(self) -> None:
        self.any_of(ConceptNode).update(status="active")

    def node_weighed_anew(self) -> None:
        values = {
            "emotional_impact": self.dice.randint(-9, 9),
            "confidence": self.dice.random(),
            "verification": self.dice.choice(ConceptNode.Verification.values),
            "relational_tags": self.dice.choice(TAGS),
            "created_at": self.now(),
            "session": self.any_of(Session).first(),
        }
        name = self.dice.choice(list(values))
        self.any_of(ConceptNode).update(**{name: values[name]})

    def node_saved(self) -> None:
        for node in self.any_of(ConceptNode):
            node.emotional_impact = self.dice.randint(-9, 9)
            node.save()

    def node_told_otherwise(self) -> None:
        for node in self.any_of(ConceptNode):
            with transaction.atomic():
                node.description = self.words()
                node.save(update_fields=["description"])
                NodeText.objects.filter(node=node).update(body=" ".join(tokenizer.tokenize(node.description)))
                if self.dice.random() < 0.5:
                    vectors.replace({node.pk: embedding.embed([node.description])[0]}, follow())

    def node_with_another_vector(self) -> None:
        vector = embedding.embed([self.words()])[0].astype("<f4").tobytes()
        NodeVector.objects.filter(node__in=self.any_of(ConceptNode)).update(embedding=vector)

    def node_grounded(self) -> None:
        for node, line in zip(self.any_of(ConceptNode), self.any_of(Message), strict=False):
            Evidence.objects.get_or_create(node=node, message=line, quote="x", start=self.dice.randint(0, 9), end=10)

    def node_regrounded(self) -> None:
        rests = self.dice.choice(["node_id", "message_id"])
        target = (self.any_of(ConceptNode) if rests == "node_id" else self.any_of(Message)).first()
        evidence = Evidence.objects.order_by("?").first()
        if target and evidence:
            self.sql(f"UPDATE OR IGNORE memory_evidence SET {rests} = %s WHERE id = %s", target.pk, evidence.pk)

    def node_ungrounded(self) -> None:
        Evidence.objects.filter(node__in=self.any_of(ConceptNode)).delete()

    def node_deleted(self) -> None:
        for node in self.any_of(ConceptNode):
            node.delete()

    def node_deleted_by_queryset(self) -> None:
        self.any_of(ConceptNode).delete()

    def node_deleted_by_sql(self) -> None:
        for node in self.any_of(ConceptNode):
            self.sql("DELETE FROM memory_evidence WHERE node_id = %s", node.pk)
            self.sql("UPDATE memory_conceptnode SET superseded_by_id = NULL WHERE superseded_by_id = %s", node.pk)
            self.sql("DELETE FROM memory_conceptnode WHERE id = %s", node.pk)

    def node_words_lost_and_found(self) -> None:
        """As others, but for the newest: SQLite gives no key twice."""
        for text in NodeText.objects.filter(node__in=self.any_of(ConceptNode)):
            NodeText.objects.filter(pk=text.pk).delete()
            if NodeText.objects.filter(scope=text.scope, pk__gt=text.pk).exists():
                text.body = self.words()
            if self.dice.random() < 0.7:
                text.save(force_insert=True)

    def node_words_late(self) -> None:
        """In a transaction of their own."""
        node = ConceptNode.objects.create(
            persona=self.persona, kind="event", source="import", description="x", embedding_model=follow()
        )
        snapshot.prepare(self.persona.pk)
        NodeText.objects.create(node=node, scope=vectors.scope_of(self.persona.pk), body=self.words())

    def node_given_away(self) -> None:
        """With all that belongs to it."""
        for node in self.any_of(ConceptNode):
            with transaction.atomic():
                Evidence.objects.filter(node=node).delete()
                NodeText.objects.filter(node=node).update(scope=vectors.scope_of(self.other.pk))
                ConceptNode.objects.filter(pk=node.pk).update(persona=self.other, session=None)

    def line_taken(self) -> None:
        receive_message(self.persona, self.words(), None, "web", self.now())

    def line_of_the_persona(self) -> None:
        for session in self.any_of(Session):
            with transaction.atomic():
                add_message(session, self.dice.choice(["persona", "system"]), self.words(), self.now())

    def line_withheld(self) -> None:
        self.any_of(Message).update(withheld=self.dice.random() < 0.5)

    def line_moved(self) -> None:
        changed = {"created_at": self.now()} if self.dice.random() < 0.5 else {"session": self.any_of(Session).first()}
        if all(changed.values()):
            self.any_of(Message).update(**changed)

    def line_reworded_by_sql(self) -> None:
        for line in self.any_of(Message):
            self.sql("UPDATE chat_message SET content = 'lamp' WHERE id = %s", line.pk)
            self.sql("UPDATE chat_messagetext SET body = 'lamp' WHERE message_id = %s", line.pk)

    def line_deleted(self) -> None:
        self.any_of(Message).delete()

    def line_deleted_by_sql(self) -> None:
        for line in self.any_of(Message):
            self.sql("DELETE FROM memory_evidence WHERE message_id = %s", line.pk)
            self.sql("DELETE FROM chat_message WHERE id = %s", line.pk)

    def line_words_lost_and_found(self) -> None:
        for text in MessageText.objects.filter(message__in=self.any_of(Message)):
            MessageText.objects.filter(pk=text.pk).delete()
            if self.dice.random() < 0.5:
                text.save(force_insert=True)

    def line_put_in_between(self) -> None:
        """With the id of one that is gone, as a restored one has."""
        newest = Message.objects.filter(persona=self.persona).order_by("-pk").first()
        for line in self.any_of(Message).exclude(pk=newest and newest.pk):
            Message.objects.filter(pk=line.pk).delete()
            line.save(force_insert=True)
            MessageText.objects.create(message_id=line.pk, scope=search.scope_of(self.persona.pk), body="sea")

    def talk_begun(self) -> None:
        with transaction.atomic():
            talk(self.persona, *(self.words() for _ in range(self.dice.randint(0, 4))), at=self.now())

    def talk_off_the_record(self) -> None:
        self.any_of(Session).update(off_the_record=self.dice.random() < 0.5)

    def talk_that_leaves_nothing(self) -> None:
        session = off_the_record.begin(self.persona, "web", self.now())
        receive_message(self.persona, self.words(), None, "web", self.now())
        if self.dice.random() < 0.7:
            session.delete()

    def talk_deleted(self) -> None:
        if self.dice.random() < 0.3:
            for session in self.any_of(Session):
                session.delete()

    def talk_given_away(self) -> None:
        self.any_of(Session).filter(status="closing").update(
            persona=self.other if self.dice.random() < 0.5 else self.persona
        )
        Session.objects.filter(persona=self.other, messages__persona=self.persona).update(persona=self.persona)

    def other_talks(self) -> None:
        receive_message(self.other, self.words(), None, "web", self.now())

    def other_remembers(self) -> None:
        node = ConceptNode.objects.create(
            persona=self.other, kind="event", source="import", description=self.words(), embedding_model=follow()
        )
        vectors.index([node], embedding.embed([node.description]))


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.campaign) for seed in range(1, 12))])
def test_memory_answers_as_the_database_does_after_every_change(
    mira: Persona, otto: Persona, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    dice = random.Random(seed)
    life = Life(mira, otto, dice)
    life.talk_begun()
    life.node_written()
    prepare_snapshot(mira)
    for step in range(100):
        action = dice.choice(life.actions)
        action()
        try:
            if cached := snapshot.of(mira.pk):
                assert_alike(mira.pk, cached, dice)
            if step % 2:
                assert_alike(mira.pk, prepare_snapshot(mira), dice)
            if step % 10 == 9:
                assert_recalls_alike(mira, dice.choice(QUESTIONS), monkeypatch)
        except AssertionError as error:
            error.add_note(f"after step {step}, {action.__name__}")
            raise


def test_messages_that_came_are_followed_at_once_and_nothing_is_read_twice(
    mira: Persona, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(mira, "the cat sat on the sofa", "> and drank tea")
    before = prepare_snapshot(mira)
    assert snapshot.of(mira.pk) is before
    read: list[int] = []
    words_since = search.words_since

    def noted(persona_id: int, message_id: int) -> list[str]:
        read.append(message_id)
        return words_since(persona_id, message_id)

    monkeypatch.setattr(search, "words_since", noted)
    receive_message(mira, "bread by the sea", None, "web", NOW)
    cached = snapshot.of(mira.pk)
    assert cached
    assert cached.message_count == 3
    assert cached.messages_with_words(["bread"], 9)["bread"].tolist() == [
        Message.objects.get(content="bread by the sea").pk
    ]
    assert read == [before.all_messages.ids[-1]]


def test_messages_that_came_by_the_thousand_are_left_to_prepare(mira: Persona, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "MAX_NEW_MESSAGES", 2)
    talk(mira, "the cat sat on the sofa")
    prepare_snapshot(mira)
    talk(mira, "tea and rain", "> bread by the sea")
    cached = snapshot.of(mira.pk)
    assert cached
    assert cached.message_count == 3
    talk(mira, "the choir", "> the lamp", "the bee")
    assert snapshot.of(mira.pk) is None
    assert_alike(mira.pk, prepare_snapshot(mira), random.Random(1))
    cached = snapshot.of(mira.pk)
    assert cached
    assert cached.message_count == 6


@pytest.mark.parametrize("status", ["writing", "remembering"])
def test_while_an_import_is_in_hand_a_turn_reads_nothing_of_it_and_the_first_turn_behind_it_all(
    mira: Persona, status: str
) -> None:
    talk(mira, "the cat sat on the sofa")
    recalling.prepare(mira.pk)
    job = ImportJob.objects.create(
        owner=mira.owner, persona=mira, status=status, holder="a worker", file_name="x", file_size=9, created_at=NOW
    )
    talk(mira, "tea and rain")
    before = snapshot._cache.take(mira.pk)
    recalling.prepare(mira.pk)
    assert snapshot._cache.take(mira.pk) is before
    ImportJob.objects.filter(pk=job.pk).update(holder="")  # it waits, for tomorrow's budget perhaps
    recalling.prepare(mira.pk)
    cached = snapshot._cache.take(mira.pk)
    assert cached
    assert cached.message_count == 2


@pytest.mark.parametrize("change", ["withheld", "off the record", "gone", "node"])
def test_what_else_has_changed_is_left_to_prepare(mira: Persona, remember: Any, change: str) -> None:
    session = talk(mira, "the cat sat on the sofa", "> and drank tea")
    node = remember(mira, "Ana has a cat.")
    prepare_snapshot(mira)
    {
        "withheld": lambda: Message.objects.filter(content__contains="cat").update(withheld=True),
        "off the record": lambda: Session.objects.filter(pk=session.pk).update(off_the_record=True),
        "gone": lambda: Message.objects.filter(content__contains="cat").delete(),
        "node": lambda: ConceptNode.objects.filter(pk=node.pk).update(status="hidden"),
    }[change]()
    assert snapshot.of(mira.pk) is None
    assert_alike(mira.pk, prepare_snapshot(mira), random.Random(1))


def test_words_that_are_gone_from_the_database_are_gone_from_memory(mira: Persona, remember: Any) -> None:
    talk(mira, "the unicorn sat on the sofa", "> and drank tea")
    remember(mira, "Ana rides a unicorn.")
    assert "unicorn" in prepare_snapshot(mira).all_messages.index.vocabulary
    Message.objects.filter(content__contains="unicorn").delete()
    ConceptNode.objects.all().delete()
    cached = prepare_snapshot(mira)
    assert sorted(cached.all_messages.index.vocabulary) == sorted(tokenizer.tokenize("and drank tea"))
    assert not cached.all_nodes.index.vocabulary


def test_another_process_that_writes_is_noticed_at_once(mira: Persona) -> None:
    session = talk(mira, "the cat sat on the sofa", "> and drank tea", "rain")
    prepare_snapshot(mira)
    script = "import os, django; django.setup(); from django.db import connection as c; "
    script += "c.settings_dict['NAME'] = os.environ['FILE']; from chat.models import *; from chat.messages import *; "
    script += "from django.utils import timezone; from django.db import transaction; "
    script += "Message.objects.filter(content='rain').update(withheld=True); "
    script += f"transaction.atomic(add_message)(Session.objects.get(pk={session.pk}), 'user', 'bread', timezone.now())"
    env = os.environ | {"DJANGO_SETTINGS_MODULE": "tests.settings", "FILE": str(connection.settings_dict["NAME"])}
    subprocess.run([sys.executable, "-c", script], check=True, env=env, cwd=django_settings.BASE_DIR)
    assert snapshot.of(mira.pk) is None
    cached = prepare_snapshot(mira)
    assert cached.messages_with_words(["bread"], 9)["bread"].tolist() == [Message.objects.get(content="bread").pk]
    assert_alike(mira.pk, cached, random.Random(1))


def run_in_another_connection(action: Callable[[], object]) -> None:
    """Do something through another connection, and wait for it."""

    def work() -> None:
        try:
            action()
        finally:
            connection.close()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def test_what_is_written_while_a_snapshot_is_made_is_wholly_in_it_or_comes_next(
    mira: Persona, remember: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(mira, "the cat sat on the sofa", "> and drank tea", "rain")
    node = remember(mira, "Ana has a cat.")

    def meanwhile() -> None:
        receive_message(mira, "bread by the sea", None, "web", NOW + timedelta(hours=1))
        Message.objects.filter(content="rain").delete()
        ConceptNode.objects.filter(pk=node.pk).delete()
        remember(mira, "Ana sings in a choir.")

    for module in (details, search):
        words_since = module.words_since

        def late(*asked: int, words_since: Callable[..., list[str]] = words_since) -> list[str]:
            run_in_another_connection(meanwhile)
            return words_since(*asked)

        with monkeypatch.context() as patch:
            patch.setattr(module, "words_since", late)
            snapshot.prepare(mira.pk)
        assert snapshot.of(mira.pk) is None
        assert_alike(mira.pk, prepare_snapshot(mira), random.Random(1))
        node = ConceptNode.objects.latest("pk")
        talk(mira, "rain", at=NOW + timedelta(hours=2))


def test_nothing_is_held_of_what_a_transaction_may_yet_undo(mira: Persona) -> None:
    session = talk(mira, "the cat sat on the sofa", "> and drank tea")
    before = prepare_snapshot(mira)
    with contextlib.suppress(ZeroDivisionError), transaction.atomic():
        add_message(session, "user", "a unicorn", NOW)
        snapshot.prepare(mira.pk)
        assert snapshot.of(mira.pk) is None
        raise ZeroDivisionError
    assert snapshot.of(mira.pk) is before
    with transaction.atomic():
        add_message(session, "user", "some bread", NOW)
    cached = snapshot.of(mira.pk)
    assert cached
    assert not len(cached.messages_with_words(["unicorn"], 9)["unicorn"])
    assert_alike(mira.pk, cached, random.Random(1))


def test_without_room_one_persona_is_held_and_the_other_let_go(mira: Persona, otto: Persona, settings: Any) -> None:
    talk(mira, "the cat sat on the sofa")
    talk(otto, "tea and rain")
    settings.KNOBS = {"memory.words_in_memory_mb": 0}
    prepare_snapshot(mira)
    prepare_snapshot(otto)
    assert snapshot.of(mira.pk) is None
    assert snapshot.of(otto.pk)
    settings.KNOBS = {}
    prepare_snapshot(mira)
    assert snapshot.of(mira.pk)
    assert snapshot.of(otto.pk)


@pytest.mark.parametrize("talked", [False, True])
def test_a_persona_of_whom_nothing_is_stored_is_held_as_well(
    mira: Persona, talked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if talked:
        talk(mira, "the cat sat on the sofa").delete()
    assert snapshot.of(mira.pk) is None
    assert_alike(mira.pk, prepare_snapshot(mira), random.Random(1))
    assert_recalls_alike(mira, "Where is the cat?", monkeypatch)
    receive_message(mira, "the cat sat on the sofa", None, "web", NOW)
    cached = snapshot.of(mira.pk)
    assert cached
    assert cached.message_count == 1


def test_a_persona_who_is_deleted_leaves_nothing(mira: Persona, otto: Persona, remember: Any) -> None:
    key, lines = mira.pk, talk(mira, "the cat sat on the sofa").messages.count()
    remember(mira, "Ana has a cat.")
    talk(otto, "tea and rain")
    assert prepare_snapshot(mira).message_count == lines
    other = prepare_snapshot(otto)
    mira.delete()
    assert snapshot.of(key) is None
    snapshot.prepare(key)
    cached = snapshot.of(key)
    assert cached
    assert (cached.node_count, cached.message_count) == (0, 0)
    assert snapshot.of(otto.pk) is other


def test_messages_of_one_moment_are_told_in_the_order_in_which_they_came(mira: Persona) -> None:
    session = talk(mira, "the cat", "> tea", "rain", "> bread")
    Message.objects.update(created_at=NOW)
    Message.objects.filter(content="bread").update(created_at=NOW - timedelta(microseconds=1))
    Message.objects.filter(content="the cat").update(created_at=NOW + timedelta(microseconds=999_999))
    message_ids = prepare_snapshot(mira).sessions([session.pk]).messages.tolist()
    assert message_ids == [Message.objects.get(content=said).pk for said in ("bread", "tea", "rain", "the cat")]
    assert_alike(mira.pk, prepare_snapshot(mira), random.Random(1))

"""Another embedding model comes into use for all memories at once; what is damaged is mended."""

import base64
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.core.checks import run_checks
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction

from echovessel.db.sqlite import triggers
from echovessel.embeddings import embedding
from echovessel.jobs import lease
from echovessel.management.commands import up
from memory.archive import read
from memory.consolidation import apply, runner
from memory.consolidation.known import known_memories
from memory.consolidation.messages import PromptMessage
from memory.consolidation.runner import Outcome
from memory.curation import remember as curation_remember
from memory.models import ConceptNode, EmbeddingModel, NodeVector, Reembedding, StagedVector
from memory.recall import recall, retrievers
from memory.store import active_model, reembedding, vectors
from memory.store.active_model import ModelChanged
from memory.store.writing import Draft, write
from persona.models import Persona
from tests.installation import free_port
from tests.memory.archive import archives
from tests.memory.sessions import Clock, cite, event, talk
from tests.memory.sessions import extraction as extracted
from tests.memory.store.two_models import NEW, OLD, encode, vector
from tests.scripted import Script

pytestmark = pytest.mark.django_db(transaction=True)
Remember = Callable[..., ConceptNode]
NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)


class Encoder:
    """Two models, and whom they were asked for; `before` is done once, before the next texts are embedded."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.gives: Callable[[Sequence[str], str], np.ndarray] = encode

    def __call__(self, texts: Sequence[str], model: str) -> np.ndarray:
        self.asked += [(text, model) for text in texts]
        return self.gives(texts, model)

    def texts(self, model: str) -> list[str]:
        return [text for text, by in self.asked if by == model]


@pytest.fixture
def encoder(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Iterator[Encoder]:
    """The old model is configured."""
    settings.EMBEDDING_MODEL = OLD
    embedding.use("")
    made = Encoder()
    monkeypatch.setattr(embedding, "_encode", made)
    monkeypatch.setattr(embedding, "_recent_vectors", embedding._RecentVectors())
    monkeypatch.setattr(reembedding, "BATCH", 4)
    yield made
    embedding.use("")


@pytest.fixture
def ten(encoder: Encoder, mira: Persona, remember: Remember) -> list[ConceptNode]:
    """Ten memories of the old model."""
    return [remember(mira, f"Ana told of thing {number}.") for number in range(10)]


def models() -> set[str]:
    """Of which models the vectors are, the labels of the nodes, and the model in use."""
    stored = NodeVector.objects.values_list("model", flat=True)
    labels = ConceptNode.objects.values_list("embedding_model", flat=True)
    return {*stored, *labels, active_model.model_in_use()}


def assert_all_are_of(model: str) -> None:
    """Every node has its vector of this model, and is found by it, held in memory or not."""
    assert models() == {model}
    for node in ConceptNode.objects.all():
        wanted = vector(node.description, model)
        assert np.array_equal(vectors.of([node.pk])[node.pk], wanted)
        assert vectors.nearest(node.persona_id, wanted, 1)[0] == (node.pk, pytest.approx(0, abs=1e-3))
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*), sum(s.signs = vec_quantize_binary(v.embedding)) "
            "FROM memory_nodevector v JOIN memory_nodevec s ON s.node_id = v.node_id"
        )
        assert cursor.fetchone() == (ConceptNode.objects.count(),) * 2
    assert not StagedVector.objects.exists()


def interrupting(
    monkeypatch: pytest.MonkeyPatch,
    where: Any,
    name: str,
    action: Callable[[], Any],
    when: Callable[[], bool] = lambda: True,
) -> None:
    """Have `action` done once, right before the function `name`."""
    real, done = getattr(where, name), list[bool]()

    def interrupted(*args: Any, **kwargs: Any) -> Any:
        if not done and when():
            done.append(True)
            action()
        return real(*args, **kwargs)

    monkeypatch.setattr(where, name, interrupted)


def reembed(*args: str) -> str:
    out = StringIO()
    call_command("reembed", *args, stdout=out, stderr=StringIO())
    return out.getvalue()


# --- another model ------------------------------------------------------------------------------------------------
def test_all_vectors_change_at_once_and_searches_follow(ten: list[ConceptNode], mira: Persona) -> None:
    assert_all_are_of(OLD)
    ConceptNode.objects.filter(pk=ten[0].pk).update(status="hidden")
    assert reembedding.change(NEW) == 10
    assert ten[0].pk not in [pk for pk, _ in vectors.nearest(mira.pk, vector(ten[0].description, NEW), 10)]
    ConceptNode.objects.filter(pk=ten[0].pk).update(status="active")
    assert_all_are_of(NEW)
    assert embedding.name() == NEW


def test_until_the_switch_the_old_vectors_serve(
    ten: list[ConceptNode], mira: Persona, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = recall(mira, ["Ana told of thing 3."], now=NOW, budget_tokens=300)
    seen: list[Any] = []

    def look() -> None:
        assert models() == {OLD}
        assert StagedVector.objects.filter(model=NEW).count() == 10
        seen.append(recall(mira, ["Ana told of thing 3."], now=NOW, budget_tokens=300))

    interrupting(monkeypatch, reembedding, "switch_over", look, when=lambda: StagedVector.objects.count() == 10)
    reembedding.change(NEW)
    assert seen[0].items == found.items


def test_what_is_remembered_meanwhile_is_embedded_too(
    ten: list[ConceptNode], mira: Persona, remember: Remember, encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, staged = reembedding.stage_vectors, list[int]()

    def others_talk(*args: Any) -> int:
        staged.append(real(*args))
        if len(staged) in (1, 3):
            remember(mira, f"Ana told something new after batch {len(staged)}.")
        return staged[-1]

    monkeypatch.setattr(reembedding, "stage_vectors", others_talk)
    assert reembedding.change(NEW) == 12
    assert_all_are_of(NEW)


@pytest.mark.parametrize("how", ["model", "queryset", "sql"])
def test_what_is_forgotten_meanwhile_leaves_no_staged_vector(ten: list[ConceptNode], how: str) -> None:
    StagedVector.objects.create(node=ten[0], model=NEW, embedding=vector("x", NEW).tobytes())
    if how == "model":
        ten[0].delete()
    elif how == "queryset":
        ConceptNode.objects.filter(pk=ten[0].pk).delete()
    else:
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM memory_conceptnode WHERE id = %s", [ten[0].pk])
    assert not StagedVector.objects.exists()


def test_what_is_forgotten_or_told_otherwise_while_it_is_embedded_is_not_staged(
    ten: list[ConceptNode], monkeypatch: pytest.MonkeyPatch
) -> None:
    def others_write() -> None:
        ConceptNode.objects.get(pk=ten[0].pk).delete()
        ConceptNode.objects.filter(pk=ten[1].pk).update(description="Ana told it otherwise.")

    interrupting(monkeypatch, reembedding, "stage_vectors", others_write)
    reembedding.change(NEW)
    assert ConceptNode.objects.count() == 9
    assert_all_are_of(NEW)


def test_a_memory_told_otherwise_after_it_was_staged_is_staged_anew(
    ten: list[ConceptNode], monkeypatch: pytest.MonkeyPatch
) -> None:
    def tell_otherwise() -> None:
        ConceptNode.objects.filter(pk=ten[1].pk).update(description="Ana told it otherwise.")
        ConceptNode.objects.filter(pk=ten[2].pk).update(description=ten[2].description, mention_count=2)

    interrupting(monkeypatch, reembedding, "switch_over", tell_otherwise, when=StagedVector.objects.exists)
    assert reembedding.change(NEW) == 11
    assert_all_are_of(NEW)


def test_after_a_stop_only_the_rest_is_made(
    ten: list[ConceptNode], encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, staged = reembedding.stage_vectors, list[int]()

    def stopping(*args: Any) -> int:
        if len(staged) == 2:
            raise KeyboardInterrupt
        staged.append(real(*args))
        return staged[-1]

    with monkeypatch.context() as patched:
        patched.setattr(reembedding, "stage_vectors", stopping)
        with pytest.raises(CommandError, match="Vectors made so far are kept") as stopped:
            reembed("--model", NEW)
    assert stopped.value.returncode == 130
    assert models() == {OLD}
    assert reembedding.plan(NEW).present_count == 8
    err = StringIO()
    call_command("reembed", "--model", NEW, stdout=StringIO(), stderr=err)
    assert "8 of 10 vectors are there already" in err.getvalue()
    assert_all_are_of(NEW)


def test_vectors_staged_for_yet_another_model_are_thrown_away(ten: list[ConceptNode]) -> None:
    for node in ten[:3]:
        StagedVector.objects.create(node=node, model="a third", embedding=vector("x", "a third").tobytes())
    reembedding.change(NEW)
    assert_all_are_of(NEW)


def test_a_staged_vector_that_was_damaged_is_made_anew(ten: list[ConceptNode], monkeypatch: pytest.MonkeyPatch) -> None:
    damaged = {0: np.zeros(384, "<f4").tobytes(), 1: np.full(384, np.nan, "<f4").tobytes(), 2: b"short"}
    for number, blob in damaged.items():
        StagedVector.objects.create(node=ten[number], model=NEW, embedding=blob)
    assert reembedding.change(NEW) == 10
    assert_all_are_of(NEW)


def test_where_the_model_gives_no_sound_vector_nothing_changes(ten: list[ConceptNode], encoder: Encoder) -> None:
    def broken(texts: Sequence[str], model: str) -> np.ndarray:
        rows = encode(texts, model)
        rows[[("thing 7" in text) for text in texts]] = np.nan
        return rows

    encoder.gives = broken
    with pytest.raises(CommandError, match=f"no sound vector for 1 nodes \\({ten[7].pk} "):
        reembed("--model", NEW)
    encoder.gives = encode
    assert StagedVector.objects.count() == 9
    assert models() == {OLD}


def test_a_model_that_cannot_be_loaded_throws_nothing_away(ten: list[ConceptNode], encoder: Encoder) -> None:
    StagedVector.objects.create(node=ten[0], model="a third", embedding=vector("x", "a third").tobytes())

    def missing(texts: Sequence[str], model: str) -> np.ndarray:
        raise embedding.EmbeddingUnavailable("there is no such model")

    encoder.gives = missing
    with pytest.raises(CommandError, match="there is no such model"):
        reembed("--model", NEW)
    assert StagedVector.objects.filter(model="a third").exists()
    assert models() == {OLD}


# --- one at a time ------------------------------------------------------------------------------------------------
def held_by(holder: str, until: datetime) -> None:
    Reembedding.objects.create(holder=holder, lease_until=until)


@pytest.mark.parametrize("args", [[], ["--model", NEW]])
def test_a_second_one_at_the_same_time_is_refused(ten: list[ConceptNode], args: list[str]) -> None:
    held_by(lease.new_holder(), datetime.now(UTC) + timedelta(minutes=5))
    with pytest.raises(CommandError, match="Another process is re-embedding"):
        reembed(*args)
    assert models() == {OLD}


@pytest.mark.parametrize(
    ("holder", "minutes"),
    [(f"{lease.HOST}:999999999:abc:def", 5), ("elsewhere:1:abc:def", -1)],
    ids=["dead", "late"],
)
def test_after_the_death_of_one_the_next_takes_over(ten: list[ConceptNode], holder: str, minutes: int) -> None:
    held_by(holder, datetime.now(UTC) + timedelta(minutes=minutes))
    reembedding.change(NEW)
    assert_all_are_of(NEW)
    assert Reembedding.objects.get().holder == ""


@pytest.mark.parametrize("step", ["stage_vectors", "switch_over", "_clear_away"])
def test_a_reembedding_that_lost_its_lease_writes_nothing(
    ten: list[ConceptNode], monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def take_over() -> None:
        Reembedding.objects.update(holder="elsewhere:1:abc:def")

    interrupting(monkeypatch, reembedding, step, take_over)
    with pytest.raises(reembedding.Busy, match="taken over"):
        reembedding.change(NEW)
    assert models() == {NEW if step == "_clear_away" else OLD}
    assert StagedVector.objects.count() == (0 if step == "stage_vectors" else 10)
    assert Reembedding.objects.get().holder == "elsewhere:1:abc:def"


# --- those who are at work meanwhile ------------------------------------------------------------------------------
def test_a_recall_in_flight_at_the_switch_is_done_anew_with_the_new_model(
    ten: list[ConceptNode], mira: Persona, encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = "Ana told of thing 3."
    interrupting(monkeypatch, retrievers, "gather", lambda: reembedding.change(NEW))
    during = recall(mira, [line], now=NOW, budget_tokens=300)
    assert [by for text, by in encoder.asked if text == line and by == OLD]
    after = recall(mira, [line], now=NOW, budget_tokens=300)
    assert during.items == after.items
    assert during.xray.candidates == after.xray.candidates


def test_the_gate_refuses_a_vector_of_a_model_that_is_not_in_use(ten: list[ConceptNode], mira: Persona) -> None:
    reembedding.change(NEW)
    draft = Draft(kind="event", description="Ana moved.", source="import")
    with pytest.raises(ModelChanged), transaction.atomic():
        write(mira, draft, vector("Ana moved.", OLD), OLD, NOW)
    with transaction.atomic():
        write(mira, draft, vector("Ana moved.", NEW), NEW, NOW)
    assert_all_are_of(NEW)


def test_the_database_refuses_vectors_of_another_model(ten: list[ConceptNode], mira: Persona) -> None:
    node = ConceptNode.objects.create(persona=mira, kind="event", description="x", source="import")
    with pytest.raises(IntegrityError, match="model that is not in use"), transaction.atomic():
        NodeVector.objects.create(node=node, model=NEW, embedding=vector("x", NEW).tobytes())
    with pytest.raises(IntegrityError, match="model that is not in use"), transaction.atomic():
        NodeVector.objects.filter(node=ten[0]).update(model=NEW)
    with pytest.raises(IntegrityError):
        EmbeddingModel.objects.create(id=2, name=NEW)


def test_a_consolidation_that_embedded_before_the_switch_embeds_again(
    ten: list[ConceptNode], mira: Persona, model: Script, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = talk(mira, "I moved to Lyon with my cat Milo.", "> Oh!", "He likes it there.", "> Good.")
    said = session.messages.order_by("id")[0]
    model.structured[:] = [extracted([event("Ana moved to Lyon.", cite(said))])]
    interrupting(monkeypatch, apply, "candidates_for", lambda: reembedding.change(NEW))
    assert runner.run(session.pk, clock) in (Outcome.CLOSED, Outcome.LATER)
    assert ConceptNode.objects.filter(description="Ana moved to Lyon.").count() == 1
    assert_all_are_of(NEW)


def test_a_message_that_is_asked_to_be_remembered_during_the_switch_is(
    ten: list[ConceptNode], mira: Persona, monkeypatch: pytest.MonkeyPatch
) -> None:
    [said] = talk(mira, "I moved to Lyon.").messages.all()
    real = embedding.embed

    def then_change(texts: Sequence[str], **how: bool) -> np.ndarray:
        rows = real(texts, **how)
        monkeypatch.setattr(embedding, "embed", real)
        reembedding.change(NEW)
        return rows

    monkeypatch.setattr(embedding, "embed", then_change)
    curation_remember.remember(said, NOW)
    assert ConceptNode.objects.count() == 11
    assert_all_are_of(NEW)


def test_an_archive_that_is_restored_during_the_switch_has_vectors_of_the_new_model(
    ten: list[ConceptNode], ana: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that it brings, by the old one, too."""
    brought = base64.b64encode(vector("Ana sang.", OLD).tobytes()).decode()
    lines = (archives.node("n1", "Ana sang.", embedding=brought), archives.node("n2", "Ana danced."))
    real = read.Loader.vectors_of

    def then_change(*args: Any) -> dict[str, np.ndarray]:
        rows = real(*args)
        monkeypatch.setattr(read.Loader, "vectors_of", real)
        reembedding.change(NEW)
        return rows

    monkeypatch.setattr(read.Loader, "vectors_of", then_change)
    result = archives.import_lines(
        tmp_path, ana, archives.HEADER | {"embedding_model": OLD}, archives.PERSONA | {"id": "m"}, *lines
    )
    assert result.added["nodes"] == 2
    assert_all_are_of(NEW)


def test_events_like_a_message_are_looked_for_with_one_model(
    ten: list[ConceptNode], mira: Persona, encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = PromptMessage(1, "user", "Ana told of thing 3.", NOW, tokens=5)
    interrupting(monkeypatch, vectors, "space", lambda: reembedding.change(NEW))
    assert known_memories(mira, [line])[0] == ten[3]
    assert {by for text, by in encoder.asked if text == line.content} == {OLD, NEW}


def test_a_process_learns_the_model_in_use_with_its_first_connection(ten: list[ConceptNode]) -> None:
    reembedding.change(NEW)
    embedding.use("")
    connection.close()
    assert embedding.name() == OLD
    connection.ensure_connection()
    assert embedding.name() == NEW


def test_a_model_that_changes_all_the_time_is_given_up(ten: list[ConceptNode]) -> None:
    tries: list[str] = []

    @active_model.with_one_model
    def never_done() -> None:
        model = active_model.follow()
        tries.append(model)
        EmbeddingModel.objects.update(name=f"{model}!")
        active_model.expect(model)

    with pytest.raises(ModelChanged):
        never_done()
    assert len(tries) == active_model.MAX_TRIES


# --- which model is in use ----------------------------------------------------------------------------------------
def test_the_first_vector_decides_and_not_the_settings_any_more(
    encoder: Encoder, mira: Persona, remember: Remember, settings: Any
) -> None:
    assert (active_model.model_in_use(), active_model.follow()) == ("", OLD)
    remember(mira, "Ana keeps bees.")
    settings.EMBEDDING_MODEL = NEW
    assert (active_model.model_in_use(), active_model.follow()) == (OLD, OLD)


def test_where_there_is_no_memory_yet_another_model_is_in_use_at_once(encoder: Encoder, mira: Persona) -> None:
    assert f"{NEW} is in use for 0 memories; 0 vectors" in reembed("--model", NEW)
    assert active_model.follow() == NEW


def test_a_check_tells_that_the_settings_name_another_model(ten: list[ConceptNode], settings: Any) -> None:
    def told() -> list[str]:
        return [one.msg for one in run_checks(databases=["default"]) if one.id == "echovessel.W003"]

    assert told() == []
    settings.EMBEDDING_MODEL = NEW
    assert told() == [f"EMBEDDING_MODEL is {NEW}, but {OLD} is in use: it made all vectors."]
    reembedding.change(NEW)
    assert told() == []


def test_so_does_up_when_it_starts(ten: list[ConceptNode], settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.EMBEDDING_MODEL = NEW
    monkeypatch.setattr(up.Command, "_tend", lambda self, children: None)
    monkeypatch.setattr(up.static_storage, "is_fresh", lambda: True)
    err = StringIO()
    call_command("up", port=free_port(), stdout=StringIO(), stderr=err)
    assert f"manage.py reembed --model {NEW}" in err.getvalue()


def test_a_folder_is_known_by_its_whole_path(tmp_path: Path, settings: Any) -> None:
    settings.BASE_DIR = tmp_path
    for folder in ("models/mine", embedding.BUNDLED):
        (tmp_path / folder).mkdir(parents=True)
    assert embedding.full_name("models/mine") == str(tmp_path / "models" / "mine")
    assert embedding.full_name(str(tmp_path / "models" / "mine")) == str(tmp_path / "models" / "mine")
    assert embedding.full_name("someones/model") == "someones/model"
    assert embedding.full_name(embedding.BUNDLED) == embedding.BUNDLED


def test_the_command_says_what_to_set(ten: list[ConceptNode]) -> None:
    said = reembed("--model", NEW)
    assert f"{NEW} is in use for 10 memories; 10 vectors were made" in said
    assert f"Set EMBEDDING_MODEL={NEW}" in said


def test_a_plan_changes_nothing(ten: list[ConceptNode]) -> None:
    said = reembed("--model", NEW, "--plan")
    assert f"in use: {OLD}; configured: {OLD}; to be used: {NEW}" in said
    assert "10 memories, 0 vectors there, 10 to be made" in said
    assert "takes about 0:00:00" in said
    assert not StagedVector.objects.exists()
    assert not Reembedding.objects.exists()
    assert "10 vectors there, 0 to be made" in reembed("--plan")


# --- what is damaged ----------------------------------------------------------------------------------------------
@pytest.fixture
def five_damaged(ten: list[ConceptNode], mira: Persona) -> list[ConceptNode]:
    """The first five of ten: without a vector, not finite, not of unit length, cut off, of another model."""
    triggers.drop(connection, vectors.TRIGGERS)
    stored = [NodeVector.objects.filter(node=node) for node in ten]
    stored[0].delete()
    stored[1].update(embedding=np.full(384, np.nan, "<f4").tobytes())
    stored[2].update(embedding=np.ones(384, "<f4").tobytes())
    stored[3].update(embedding=b"cut off")
    stored[4].update(model=NEW, embedding=vector(ten[4].description, NEW).tobytes())
    triggers.ensure(connection, vectors.TRIGGERS)
    return ten[:5]


def test_what_is_missing_damaged_or_of_another_model_is_mended_and_nothing_else_touched(
    five_damaged: list[ConceptNode], encoder: Encoder
) -> None:
    encoder.asked.clear()
    embedding._recent_vectors = embedding._RecentVectors()
    assert reembedding.plan().missing == 5
    assert "5 vectors were made" in reembed()
    assert sorted(encoder.texts(OLD)) == [node.description for node in five_damaged]
    assert "0 vectors were made" in reembed()
    assert_all_are_of(OLD)


def test_recall_and_migrations_bear_what_is_damaged(
    five_damaged: list[ConceptNode], mira: Persona, settings: Any
) -> None:
    vectors.rebuild()
    for room in (100, 0):
        settings.KNOBS = {"memory.vectors_in_memory_mb": room}
        found = recall(mira, ["Ana told of thing 7."], now=NOW, budget_tokens=300)
        assert found.items[0].content == "Ana told of thing 7."
    no_vector, _, _, cut_off, anothers = (node.pk for node in five_damaged)
    assert not {no_vector, cut_off, anothers} & vectors.of(node.pk for node in five_damaged).keys()


def test_the_reembed_command_fails_when_vectors_stay_unsound(five_damaged: list[ConceptNode], encoder: Encoder) -> None:
    embedding._recent_vectors = embedding._RecentVectors()
    encoder.gives = lambda texts, model: np.zeros((len(texts), 384), np.float32)
    with pytest.raises(CommandError, match="no sound vector for 5 nodes"):
        reembed()


def test_a_change_that_was_killed_before_it_cleared_away_is_cleared_away_after(ten: list[ConceptNode]) -> None:
    StagedVector.objects.create(node=ten[0], model=OLD, embedding=vector("x", OLD).tobytes())
    reembed()
    assert_all_are_of(OLD)

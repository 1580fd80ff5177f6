"""What comes to mind, whose it is, and the account of it."""

import json
from collections.abc import Callable
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from django.contrib.auth.models import User
from hypothesis import given, settings
from hypothesis import strategies as st

from chat import search
from chat.models import Message, Session
from echovessel.embeddings import embedding
from echovessel.language import common_words
from echovessel.language.dates import Days
from echovessel.llm.prompts import tokens
from memory.models import Alias, ConceptNode, Entity, NodeVector
from memory.recall import Recall, details, prepare, ranking, recall, retrievers
from memory.recall.query import Meaning, build_query, embed_soon, knows, meaning, script_of
from memory.recall.retrievers import Pool
from memory.store import vectors
from persona.models import Persona
from tests.memory.archive.archives import HEADER, PERSONA, SMALL, import_lines, message, node, session
from tests.table import each_row

NOW = datetime(2026, 1, 24, 12, 0, tzinfo=UTC)


def asking(persona: Persona, *turns: str, budget: int = 1_500, **options: Any) -> Recall:
    return recall(persona, turns, now=NOW, budget_tokens=budget, **options)


def names(found: Recall) -> list[str | None]:
    return [item.external_id for item in found.items]


@pytest.fixture
def keeper(ana: User, tmp_path: Path) -> Persona:
    """A persona who remembers the small archive."""
    return import_lines(tmp_path, ana).persona


def test_a_question_brings_the_event_to_mind_with_the_words_it_came_from(keeper: Persona) -> None:
    best = asking(keeper, "Do you remember my cat?").items[0]
    assert (best.layer, best.external_id, best.messages) == ("L3", "n1", ("m1",))
    assert best.text == "- [2–3 January 2026] Ana adopted a white cat named Blackie."
    assert best.tokens == tokens(best.text)


@pytest.mark.parametrize("in_ram", [False, True])
def test_doubt_is_shown_and_never_raises_a_score(keeper: Persona, in_ram: bool) -> None:
    def scores() -> dict[str, float]:
        if in_ram:
            prepare(keeper.pk)
        asked = [asking(keeper, question) for question in ("Do you remember my cat?", "What is white?", "the armchair")]
        return {f"{number} {c.id}": c.score for number, of in enumerate(asked) for c in of.xray.candidates}

    before = scores()
    for doubted in keeper.nodes.all():
        for state in (ConceptNode.Verification.DISPUTED, ConceptNode.Verification.UNVERIFIED):
            ConceptNode.objects.filter(pk=doubted.pk).update(verification=state)
            after = scores()
            assert after.keys() == before.keys()
            assert all(after[key] <= before[key] for key in before) if state == "disputed" else after == before

    cat = keeper.nodes.get(external_id="n1")
    ConceptNode.objects.filter(pk=cat.pk).update(verification=ConceptNode.Verification.DISPUTED)
    said = cat.evidence.get().message
    shown = {item.external_id: item for item in asking(keeper, "Do you remember my cat?").items}
    assert shown["n1"].text == "- [2–3 January 2026] Ana adopted a white cat named Blackie. (not sure)"
    lower = scores()
    assert lower[f"0 {said.uuid}"] < before[f"0 {said.uuid}"]
    assert lower[f"0 {cat.uuid}"] < before[f"0 {cat.uuid}"]
    ConceptNode.objects.filter(pk=cat.pk).update(verification=ConceptNode.Verification.CONFIRMED)
    assert "not sure" not in asking(keeper, "Do you remember my cat?").items[0].text


def test_a_message_that_was_never_distilled_is_found_with_its_neighbours(keeper: Persona) -> None:
    found = asking(keeper, "What about the armchair of my grandmother?")
    passage = next(item for item in found.items if item.layer == "L2")
    assert "m3" in passage.messages
    assert 'Ana: "Only my grandmother\'s old armchair."' in passage.text


@pytest.mark.real_embeddings
def test_chinese_is_found_by_its_words(ana: User, tmp_path: Path) -> None:
    told = [node("n1", "Ana养了一只白猫，名叫小黑。"), node("n2", "Ana下个月去北京出差。")]
    persona = import_lines(tmp_path, ana, HEADER, PERSONA, *told).persona
    assert names(asking(persona, "你还记得我的猫吗"))[0] == "n1"
    assert names(asking(persona, "小黑最近怎么样"))[0] == "n1"


def test_a_name_brings_along_what_is_known_of_its_bearer(keeper: Persona) -> None:
    found = asking(keeper, "小黑!")
    assert names(found) == ["n1"]
    assert found.items[0].parts["anchor"] > 0


def test_nothing_is_recalled_where_nothing_is_relevant(keeper: Persona) -> None:
    found = asking(keeper, "Quantum chromodynamics explains gluons.")
    assert (found.items, found.xray.empty_reason) == ((), "everything_filtered")


def test_an_empty_memory_says_so(mira: Persona) -> None:
    assert asking(mira, "Do you remember my cat?").xray.empty_reason == "nothing_stored"


@pytest.mark.parametrize("status", ["hidden", "superseded", "archived", "quarantined"])
def test_what_may_not_be_recalled_never_is(keeper: Persona, status: str) -> None:
    ConceptNode.objects.filter(external_id="n1").update(status=status)
    assert "n1" not in names(asking(keeper, "Do you remember my cat Blackie?"))


def test_withheld_words_and_sessions_off_the_record_stay_out(keeper: Persona) -> None:
    Message.objects.filter(external_id="m3").update(withheld=True)
    assert not any("m3" in item.messages for item in asking(keeper, "my grandmother's armchair").items)
    Session.objects.update(off_the_record=True)
    assert not any(item.layer == "L2" for item in asking(keeper, "the white cat Blackie and the sofa").items)


def test_messages_of_the_window_are_not_repeated(keeper: Persona) -> None:
    window = list(Message.objects.filter(external_id="m3"))
    found = asking(keeper, "my grandmother's old armchair", window=window)
    assert not any("m3" in item.messages for item in found.items)


@pytest.mark.parametrize("budget", [0, 1, 20, 60, 200])
def test_the_budget_holds(keeper: Persona, budget: int) -> None:
    found = asking(keeper, "cat Blackie sofa armchair grandmother", budget=budget)
    assert sum(tokens(item.text) for item in found.items) == found.xray.tokens <= budget


def test_what_a_prompt_has_embedded_early_is_what_its_recall_asks_for(monkeypatch: pytest.MonkeyPatch) -> None:
    turns, names = ["Mira, I got a cat", " ", "Is it fond of you?"], ("Mira", "Ana")
    early, asked = list[str](), list[str]()
    monkeypatch.setattr(embedding, "soon", early.append)
    monkeypatch.setattr(
        embedding, "embed", lambda texts, **_: asked.extend(texts) or np.ones((len(texts), embedding.DIMENSION))
    )
    embed_soon(turns, names)
    meaning(build_query(turns, 0.6, names))
    assert early == [", I got a cat Is it fond of you?"]
    assert set(early) <= set(asked)
    embed_soon(turns[:1], names)
    assert len(early) == 1


def test_the_same_question_gets_the_same_answer(keeper: Persona) -> None:
    first, second = (asking(keeper, "I sit at home.", "Where is the cat?") for _ in range(2))
    assert [item.as_json() for item in first.items] == [item.as_json() for item in second.items]


def test_the_xray_is_plain_data_and_holds_no_words(keeper: Persona) -> None:
    seen = asking(keeper, "Do you remember my cat?").xray.as_json()
    written = json.dumps(seen, ensure_ascii=False)
    assert json.loads(written) == seen
    assert "white cat" not in written
    retrievers = {"dense", "lexical", "entity", "graph", "time", "lines", "evidence"}
    assert {arm["name"] for arm in seen["arms"]} == retrievers
    assert seen["chosen"][0]["id"] == str(ConceptNode.objects.get(external_id="n1").uuid)


def test_without_the_model_words_still_find_and_the_xray_says_so(
    keeper: Persona, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(texts: Any, **_: Any) -> Any:
        raise embedding.EmbeddingUnavailable("the file is missing")

    monkeypatch.setattr(embedding, "embed", missing)
    found = asking(keeper, "Do you remember my white cat?")
    assert names(found)[0] == "n1"
    assert found.xray.arms[0].skipped == "the file is missing"


def test_an_unrelated_event_of_impact_10_does_not_come_before_a_relevant_flat_one(ana: User, tmp_path: Path) -> None:
    told = [node("heavy", "Ana's mother died.", emotional_impact=-10), node("flat", "Ana bought a blue bicycle.")]
    persona = import_lines(tmp_path, ana, HEADER, PERSONA, *told).persona
    assert names(asking(persona, "Which colour is my bicycle?"))[0] == "flat"


def test_what_happened_in_the_asked_days_comes_to_mind_though_no_word_fits(ana: User, tmp_path: Path) -> None:
    days = {"start": "2026-01-16", "end": "2026-01-16"}
    told = [
        node("then", "Ana baked three loaves of rye.", event_time=days),
        node("other", "Ana bought a blue bicycle."),
    ]
    persona = import_lines(tmp_path, ana, HEADER, PERSONA, *told).persona
    found = asking(persona, "What did I do last Friday?")
    assert names(found) == ["then"]
    seen = found.xray.as_json()
    assert seen["query"]["days"] == days
    assert next(arm["found"] for arm in seen["arms"] if arm["name"] == "time") == 1


def test_without_an_event_time_the_day_counts_on_which_it_was_noted(ana: User, tmp_path: Path) -> None:
    told = node("noted", "Ana baked three loaves of rye.", created_at="2026-01-15T17:00:00+00:00")  # the 16th, for Ana
    persona = import_lines(tmp_path, ana, HEADER, PERSONA, told).persona
    assert names(asking(persona, "What happened on January 16th?")) == ["noted"]
    assert names(asking(persona, "What happened on January 15th?")) == []


@pytest.mark.parametrize(
    ("start", "end", "is_of_the_day"),
    [
        ("2026-01-16", "2026-01-20", True),
        ("2026-01-10", "2026-01-16", True),
        ("2026-01-10", "2026-01-20", True),
        ("2026-01-10", "2026-01-15", False),
        ("2026-01-17", "2026-01-20", False),
        ("2026-01-15", "2026-01-15", False),
    ],
)
def test_a_lasting_event_belongs_to_each_of_its_days(
    mira: Persona, remember: Callable[..., ConceptNode], start: str, end: str, is_of_the_day: bool
) -> None:
    baking = remember(mira, "Ana baked rye.", event_time_start=start, event_time_end=end)
    days = Days(date(2026, 1, 16), date(2026, 1, 16))
    found = details.recallable_between(mira.pk, days, datetime(2026, 1, 16), datetime(2026, 1, 17), 9)
    assert found == ([baking.pk] if is_of_the_day else [])


def test_a_session_of_the_asked_days_is_quoted(keeper: Persona) -> None:
    found = asking(keeper, "What did we speak of on January 3rd?")
    assert any(item.layer == "L2" and "m3" in item.messages for item in found.items)


@pytest.mark.parametrize("line", ["Who invented the steam engine?", "谁发明了蒸汽机？", "What is Ana's blood type?"])
def test_a_question_that_nothing_stored_answers_brings_up_no_memory(keeper: Persona, line: str) -> None:
    assert not [item for item in asking(keeper, line).items if item.layer != "L2"]


@pytest.fixture
def chinese(ana: User, tmp_path: Path) -> Persona:
    """A persona whose memories are Chinese."""
    told = ("Ana收留了小猫。", "Ana弹钢琴。", "爸爸生病住院。", "Ana下周飞巴黎开会。", "Ana跟上司吵架后辞职。")
    return import_lines(
        tmp_path, ana, HEADER, PERSONA, *(node(f"n{place}", text) for place, text in enumerate(told))
    ).persona


@pytest.mark.parametrize("line", ["蒸汽机是谁发明的？", "我的血型是什么？", "量子色动力学怎么解释胶子？"])
def test_a_chinese_question_that_nothing_answers_brings_up_no_memory(chinese: Persona, line: str) -> None:
    assert asking(chinese, line).items == ()


@pytest.mark.real_embeddings
@pytest.mark.parametrize(
    ("turns", "answer"),
    [(("今天好累。", "我的宠物呢？"), "n0"), (("有什么乐器？",), "n1"), (("父亲健康吗？",), "n2")],
)
def test_a_chinese_question_is_answered_in_words_that_share_no_character_with_it(
    chinese: Persona, turns: tuple[str, ...], answer: str
) -> None:
    best = asking(chinese, *turns).items[0]
    assert best.external_id == answer
    assert not set("".join(turns)) & set(best.content) - {"。"}


@pytest.mark.real_embeddings
def test_a_chinese_question_is_answered_by_an_english_memory_and_the_other_way_round(
    keeper: Persona, chinese: Persona
) -> None:
    assert asking(keeper, "我养的白猫叫什么名字？").items[0].external_id == "n1"
    assert asking(chinese, "Did I fly to Paris for a meeting?").items[0].external_id == "n3"


def gathered(persona: Persona, line: str) -> tuple[Pool, Meaning]:
    query = build_query([line], 0.8)
    meant = meaning(query)
    return retrievers.gather(persona, query, meant, 10), meant


def test_what_is_like_the_best_memories_comes_nearer(mira: Persona, remember: Any) -> None:
    best = remember(mira, "Ana adopted a kitten.")
    like_it, other = remember(mira, "A cat came to live with Ana."), remember(mira, "Interest rates rose in Sweden.")
    pool, meant = gathered(mira, "kitten")
    before = dict(zip(pool.nodes.ids.tolist(), pool.nodes.distances.tolist(), strict=True))
    sharper = retrievers.sharpen(pool, meant, np.flatnonzero(pool.nodes.ids == best.pk))
    after = dict(zip(sharper.nodes.ids.tolist(), sharper.nodes.distances.tolist(), strict=True))
    assert after[best.pk] < before[best.pk]
    assert after[like_it.pk] < before[like_it.pk]
    assert before[like_it.pk] - after[like_it.pk] > before[other.pk] - after[other.pk]
    assert sharper.closest == pool.closest  # whether there is an answer was asked before


def test_without_vectors_there_is_no_feedback(mira: Persona, remember: Any) -> None:
    pool, meant = gathered(mira, "kitten")
    assert retrievers.sharpen(pool, meant, np.zeros(0, dtype=np.int64)) is pool
    remember(mira, "Ana adopted a kitten.")
    NodeVector.objects.all().delete()
    vectors.rebuild()
    pool, meant = gathered(mira, "kitten")
    assert np.isnan(pool.nodes.distances).all()
    assert ranking.best(pool, ranking.tuning(build_query(["kitten"], 0.8)), 3).tolist() == []
    assert retrievers.sharpen(pool, meant, np.array([0])) is pool
    assert [item.content for item in asking(mira, "kitten").items] == ["Ana adopted a kitten."]


def test_the_only_memory_there_is_answers(mira: Persona, remember: Any) -> None:
    remember(mira, "Ana adopted a kitten.")
    assert [item.content for item in asking(mira, "What pet did I adopt?").items] == ["Ana adopted a kitten."]


@each_row(
    ("text", "script"),
    [
        ("Where is my cat?", "latin"),
        ("我的猫在哪里？", "han"),
        ("我的貓在哪裡？", "han"),
        ("Milo的猫在哪里", "han"),
        ("I met 王芳 yesterday in the park", "latin"),
        ("แมวของฉันอยู่ที่ไหน", "unspaced"),
        ("私の猫はどこにいますか", "unspaced"),
        ("妹は東京の大学で法律を勉強しています", "unspaced"),
        ("고양이는 어디에 있어요", "unspaced"),
        ("Где мой кот?", "other"),
        ("", "latin"),
        ("😀 123", "latin"),
    ],
)
def test_the_script_of_a_question(text: str, script: str) -> None:
    assert script_of(text) == script


def test_the_bundled_model_reads_chinese_and_another_is_trusted_with_everything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert [knows(script) for script in ("latin", "han", "unspaced", "other")] == [True, True, False, False]
    monkeypatch.setattr(embedding, "_in_use", embedding.ModelInUse("another"))
    assert knows("unspaced")


def test_one_line_means_what_it_says_and_several_are_also_read_at_once() -> None:
    one, two = "Ana plays the violin.", "Her teacher lives in Lyon."
    alone, both = meaning(build_query([one], 0.8)), meaning(build_query([one, two], 0.8))
    lines, at_once = embedding.embed([one, two]), embedding.embed([f"{one} {two}"])[0]
    assert np.allclose(alone.bare, lines[0], atol=1e-5)
    assert np.allclose(both.bare, at_once, atol=1e-5)
    for meant in (alone, both):
        assert np.linalg.norm(meant.whole) == pytest.approx(1, abs=1e-5)
        assert meant.whole.dtype == np.float32
    assert both.whole @ lines[1] > both.whole @ lines[0] > alone.whole @ lines[1]


@each_row("line", ["😀", "的了吗", "他和她", "?", "\0", "猫" * 10_000])
def test_whatever_is_asked_has_a_meaning_of_unit_length(line: str) -> None:
    assert np.linalg.norm(meaning(build_query([line], 0.8)).whole) == pytest.approx(1, abs=1e-4)


def test_the_floor_is_asked_without_the_names_of_the_two() -> None:
    assert build_query(["Is Mira's cat fond of Miranda?"], 0.8, ["Mira", "Ana"]).bare == ("Is cat fond of Miranda?",)
    assert build_query(["晓晓今天去哪儿了"], 0.8, ["晓晓"]).bare == ("今天去哪儿了",)


def test_older_messages_weigh_less_and_everyday_words_little() -> None:
    query = build_query(["I got a violin", "I really love the piano"], 0.5)
    assert query.words["piano"] == 1.0
    assert query.words["violin"] == 0.5
    assert query.words["realli"] < 0.5
    assert query.weights == (0.5, 1.0)


def test_several_messages_need_more_to_be_answered_where_they_are_short_or_ask_of_the_world() -> None:
    said = [
        "The market was closed, so nobody sold bread or fish.",
        "Rain fell on the harbour and every boat stayed in.",
    ]
    talk, short, general = (
        ranking.tuning(build_query(turns, 0.8))
        for turns in (said, ["The boats stayed in.", "Rain again."], ["How do tides work?", *said])
    )
    assert talk.min_meaning < short.min_meaning < general.min_meaning
    assert talk.min_meaning_of_talk < short.min_meaning_of_talk < general.min_meaning_of_talk
    world, own = (ranking.tuning(build_query([text], 0.8)) for text in ("How do tides work?", "When did I sail?"))
    assert own.min_meaning < world.min_meaning
    assert own.min_words < world.min_words  # a word is soon shared


@each_row(
    ("text", "is_of_the_world"),
    [
        ("Is Rosa a nurse?", False),
        ("Is Boston a city?", True),  # a place of the memory is part of the world, too
        ("Is Rosanna a nurse?", True),
        ("How do I cook rice for rosa?", False),
        ("Will it rain?", True),  # not Will
        ("豆豆怎么算？", False),
        ("豆腐怎么算？", True),
    ],
)
def test_a_question_that_names_somebody_of_the_memory_is_not_of_the_world(
    mira: Persona, text: str, is_of_the_world: bool
) -> None:
    for name, kind in (("Rosa", "person"), ("Will", "person"), ("豆豆", "pet"), ("Boston", "place")):
        entity = Entity.objects.create(persona=mira, canonical_name=name, kind=kind)
        Alias.objects.create(entity=entity, persona=mira, text=name, normalized=name.casefold())
    asks = build_query([text], 0.8, ["Ana", "Mira"], partial(retrievers.names_somebody, mira))
    assert asks.is_general is is_of_the_world


def test_a_day_is_looked_for_where_a_general_question_names_somebody(mira: Persona, otto: Persona) -> None:
    rosa = Entity.objects.create(persona=mira, canonical_name="Rosa", kind="person")
    Alias.objects.create(entity=rosa, persona=mira, text="Rosa", normalized="rosa")
    text = "How can I help Rosa on Friday?"
    assert asking(mira, text).xray.query["days"]
    assert not asking(otto, text).xray.query["days"]  # somebody else's memory


def test_names_of_the_two_do_not_count_unless_nothing_else_is_asked() -> None:
    assert "mira" not in build_query(["Does Mira swim?"], 0.6, ["Mira"]).words
    assert build_query(["Mira?"], 0.6, ["Mira"]).words == {"mira": 1.0}


def test_names_are_found_as_whole_words_and_in_unspaced_text() -> None:
    assert "ann" in retrievers.possible_names("I met Ann.")
    assert "ann" not in retrievers.possible_names("I met Anna.")
    assert "小黑" in retrievers.possible_names("你还记得小黑吗")
    assert "黑" not in retrievers.possible_names("你还记得小黑吗")


def test_words_are_counted_within_one_persona_and_up_to_a_limit(keeper: Persona, mira: Persona) -> None:
    def counted(found: dict[str, Any]) -> dict[str, int]:
        return {word: len(rows) for word, rows in found.items()}

    assert counted(vectors.find_by_terms(keeper.pk, ["ana", "cat", "zebra"], 10)) == {"ana": 3, "cat": 1, "zebra": 0}
    assert counted(vectors.find_by_terms(keeper.pk, ["ana"], 1)) == {"ana": 1}
    assert counted(search.find_by_terms(mira.pk, ["cat"], 10)) == {"cat": 0}
    assert counted(search.find_by_terms(keeper.pk, ["cat", '"', ""], 10)) == {"cat": 1}


def test_no_message_however_long_or_odd_breaks_recall(keeper: Persona) -> None:
    for line in ("", "   ", "?" * 50, "a" * 20_000, "猫 " * 6_000, 'NEAR("x" *) AND -', "\0", "🐈" * 100):
        asking(keeper, line)


@settings(max_examples=12)
@given(
    text=st.one_of(st.text(max_size=60), st.sampled_from(["cat Blackie", "小黑", "armchair", "otto's dog Rex barks"]))
)
def test_recall_for_one_never_returns_what_belongs_to_another(ana: User, ben: User, tmp_path: Path, text: str) -> None:
    hers = import_lines(tmp_path, ana).persona
    dog = [
        session("s1"),
        message("m1", "My dog Rex barks at the white cat Blackie, 小黑."),
        node("n1", "Ben's dog Rex barks at the cat Blackie.", messages=["m1"]),
    ]
    his = import_lines(tmp_path, ben, HEADER, PERSONA, *dog).persona
    for persona in (hers, his):
        found = asking(persona, text)
        ids = {row["id"] for row in [*found.xray.as_json()["candidates"], *found.xray.as_json()["chosen"]]}
        nodes = ConceptNode.objects.filter(uuid__in=ids)
        lines = Message.objects.filter(uuid__in=ids)
        assert {row.persona_id for row in [*nodes, *lines]} <= {persona.pk}
        assert {item.uuid for item in found.items} <= {row.uuid for row in [*nodes, *lines]}


def test_another_personas_memories_do_not_change_the_scores(ana: User, ben: User, tmp_path: Path) -> None:
    hers = import_lines(tmp_path, ana).persona
    before = [item.as_json() for item in asking(hers, "Do you remember my cat and the armchair?").items]
    import_lines(tmp_path, ben, *SMALL, *(node(f"x{n}", f"Ben saw cat number {n} in an armchair.") for n in range(60)))
    assert [item.as_json() for item in asking(hers, "Do you remember my cat and the armchair?").items] == before


@pytest.mark.real_embeddings
def test_the_vector_of_talk_that_is_shipped_is_what_the_bundled_model_makes() -> None:
    """But for the last bits: 8-bit kernels of processors differ a little."""
    made, shipped = common_words.common_direction_of(embedding.BUNDLED), np.load(common_words._BUNDLED_TALK)
    assert made @ shipped / (np.linalg.norm(made) * np.linalg.norm(shipped)) > 0.999


def test_memories_of_the_subject_asked_about_rank_first(ana: User, tmp_path: Path) -> None:
    told = [
        node("hers", "Mira keeps two grey cats.", subject="persona"),
        node("mine", "Ana keeps two grey cats.", subject="user"),
    ]
    persona = import_lines(tmp_path, ana, HEADER, PERSONA, *told).persona
    assert names(asking(persona, "What cats do I keep?"))[0] == "mine"
    assert names(asking(persona, "What cats do you keep?"))[0] == "hers"
    assert set(names(asking(persona, "What cats do I keep?"))) == {"mine", "hers"}


def test_the_account_is_written_when_it_is_first_asked_for(keeper: Persona, monkeypatch: pytest.MonkeyPatch) -> None:
    read = Mock(side_effect=search.names)
    monkeypatch.setattr(search, "names", read)
    found = asking(keeper, "Do you remember my cat?")
    assert (bool(found.items), read.called) == (True, False)
    assert (bool(found.xray.candidates), bool(found.xray.chosen), read.called) == (True, True, True)

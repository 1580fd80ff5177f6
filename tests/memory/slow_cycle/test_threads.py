"""Threads: joined by the slow cycle, with a model and by rule; changed by the owner; mended by forgetting."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from echovessel.language.courses import asks_how_it_went, matters_in, tells_an_end
from echovessel.outbox.models import OutboxEvent
from memory import forgetting
from memory.curation import threads
from memory.curation.lessons import Wish, add_lesson
from memory.curation.threads import title_of
from memory.forgetting import Target, verify
from memory.models import ConceptNode, SlowCycle, Thread, ThreadMember
from memory.slow_cycle import runner
from persona.models import Persona
from tests.memory.deaths import undone
from tests.memory.sessions import Clock
from tests.memory.slow_cycle.slow_cycles import Remember, answer, dropped_items, key, last_run, request_cycle
from tests.scripted import Script
from tests.table import each_row

pytestmark = pytest.mark.django_db


def remember_events(
    persona: Persona, remember: Remember, clock: Clock, *texts: str, days: int = 3, **fields: Any
) -> list[ConceptNode]:
    """Remember events `days` apart, the last one now."""
    at = [clock.now - timedelta(days=days * (len(texts) - 1 - place)) for place in range(len(texts))]
    return [remember(persona, text, created_at=moment, **fields) for text, moment in zip(texts, at, strict=True)]


def run(persona: Persona, clock: Clock) -> None:
    request_cycle(persona, clock.now)
    clock.forward(minutes=31)
    assert runner.run(persona.pk, clock) == runner.Outcome.DONE


def thread_item(title: str, *nodes: ConceptNode | str, of: str | None = None, state: str = "open") -> dict[str, Any]:
    members = [node if isinstance(node, str) else key(node) for node in nodes]
    return {"id": of, "title": title, "state": state, "members": members}


def thread_rows() -> list[tuple[str, str, list[str]]]:
    """Title, state and memories of each standing thread."""
    return [
        (
            thread.title,
            thread.state,
            sorted(thread.members.current().values_list("node__description", flat=True)),  # type: ignore[attr-defined]
        )
        for thread in Thread.objects.standing().order_by("pk")
    ]


@pytest.fixture
def flat_thread(mira: Persona, remember: Remember, clock: Clock) -> Thread:
    nodes = remember_events(
        mira, remember, clock, "Ana saw a flat in Basel.", "The landlord called.", "Ana signed the lease."
    )
    thread = threads.begin(mira, "Ana's new flat", nodes, "open", clock.now)
    assert thread
    return thread


# --- with a model -----------------------------------------------------------------------------------------------------
def test_a_model_begins_a_thread_and_continues_it_until_it_has_ended(
    mira: Persona, model: Script, remember: Remember, clock: Clock
) -> None:
    first, second = remember_events(
        mira, remember, clock, "Ana saw a flat in Basel.", "The landlord of the flat called Ana."
    )
    other = remember(mira, "Ana baked bread.", created_at=clock.now)
    model.answers(answer(threads=[thread_item("“The new flat.”", first, second)]))
    run(mira, clock)
    assert thread_rows() == [("The new flat", "open", [first.description, second.description])]
    [begun] = Thread.objects.all()
    third = remember(mira, "Ana moved into the flat.", created_at=clock.now)
    model.answers(answer(threads=[thread_item("another title", third, other, of=f"t{begun.pk}", state="ended")]))
    run(mira, clock)
    assert f"[t{begun.pk}] (open) The new flat: {second.description}" in model.requests[-1].user
    assert [row[:2] for row in thread_rows()] == [("The new flat", "ended")]
    assert last_run().made[0]["kind"] == "thread"
    changes = OutboxEvent.objects.filter(name="memory.thread.updated").order_by("id")
    assert [row.data["change"] for row in changes] == ["begun", "continued"]


def test_what_a_model_joins_wrongly_is_dropped_and_counted(
    mira: Persona, model: Script, remember: Remember, clock: Clock
) -> None:
    first, second, third, fourth = remember_events(
        mira, remember, clock, "Ana met Tom.", "Ana met Ben.", "Rain.", "Ana swims."
    )
    add_lesson(mira, Wish("Never talk about rowing", "topic", "rowing", is_boundary=True), clock.now)
    model.answers(
        answer(
            threads=[
                thread_item("unknown ids", "e999999", "e999998"),
                thread_item("one alone", first),
                thread_item("", first, second),
                thread_item("no such thread", first, second, of="t999999"),
                thread_item("Rowing with Tom", first, second),
                thread_item("Two of them", first, first, second),
                thread_item("taken by the one before", first, third),
            ]
        )
    )
    run(mira, clock)
    reasons = [why for kind, why in dropped_items() if kind == "thread"]
    assert sorted(reasons) == sorted(
        ["no_ground", "no_ground", "untitled", "unknown", "left_alone", "no_ground", "no_ground"]
    )
    assert thread_rows() == []
    fourth.refresh_from_db()


# --- by rule ----------------------------------------------------------------------------------------------------------
STORIES: Sequence[tuple[Sequence[str], str | None, str]] = [
    # the texts in order; the title, or None where nothing is joined; the state
    (["Ana saw a flat in Basel.", "Ana's landlord wants more for the flat.", "Ana signed the lease for the flat."],
     "Flat", "ended"),
    (["Ana started her thesis on bees.", "Ana's supervisor wants the thesis in May.", "Ana rewrote the thesis."],
     "Thesis", "open"),
    (["Mum's biopsy is on Monday.", "Mum's biopsy came back clear.", "Mum has surgery after the biopsy."],
     "Mum's biopsy", "open"),
    (["小雨开始写论文了。", "小雨的论文被导师退回来了。", "小雨终于答辩完了，论文过了。"], "论文", "ended"),
    (["妈妈下周做膝盖手术。", "妈妈的手术很顺利。", "妈妈手术后在做康复。"], "手术", "open"),
    (["Ana drank coffee with Nina.", "Ana drank coffee in the park.", "Ana drank coffee again."], None, ""),
    (["Mum's biopsy is on Monday.", "Tom's brother has a biopsy.", "My colleague had a biopsy."], None, ""),
    (["Ana saw a flat.", "Ana swims on Mondays.", "Ana likes the sea."], None, ""),
    (["Ana saw a flat in Basel.", "Ana saw another flat."], None, ""),
]  # fmt: skip


@each_row("texts, title, state", STORIES)
def test_by_rule_only_what_is_surely_of_one_matter_is_joined(
    mira: Persona, remember: Remember, settings: Any, texts: Sequence[str], title: str | None, state: str
) -> None:
    settings.LLM_PROVIDER = "offline"
    with undone():
        clock = Clock()
        remember_events(mira, remember, clock, *texts)
        run(mira, clock)
        assert thread_rows() == ([(title, state, sorted(texts))] if title else [])


def test_by_rule_a_thread_goes_on_and_ends_and_no_run_doubles_it(
    mira: Persona, remember: Remember, clock: Clock, settings: Any
) -> None:
    settings.LLM_PROVIDER = "offline"
    remember_events(mira, remember, clock, *STORIES[1][0])
    run(mira, clock)
    clock.forward(days=20)
    texts = [*STORIES[1][0], "Ana handed in her thesis."]
    remember(mira, texts[-1], created_at=clock.now)
    remember(mira, "Ana ate plums.", created_at=clock.now)
    run(mira, clock)
    assert thread_rows() == [("Thesis", "ended", sorted(texts))]
    SlowCycle.objects.update(through=0)
    run(mira, clock)
    assert thread_rows() == [("Thesis", "ended", sorted(texts))]


def test_what_the_owner_took_out_or_dissolved_is_not_joined_again(
    mira: Persona, remember: Remember, clock: Clock, settings: Any
) -> None:
    settings.LLM_PROVIDER = "offline"
    first, *others = remember_events(mira, remember, clock, *STORIES[1][0])
    run(mira, clock)
    [thread] = Thread.objects.all()
    assert threads.remove_member(thread, first, clock.now)
    SlowCycle.objects.update(through=0)
    run(mira, clock)
    assert thread_rows() == [("Thesis", "open", sorted(node.description for node in others))]
    assert threads.dissolve(thread, clock.now)
    SlowCycle.objects.update(through=0)
    run(mira, clock)
    assert thread_rows() == []


# --- the owner --------------------------------------------------------------------------------------------------------
def test_everything_an_owner_does_to_a_thread_can_be_undone(flat_thread: Thread, mira: Persona, clock: Clock) -> None:
    before = thread_rows()
    one, two, three = flat_thread.nodes.order_by("pk")
    assert threads.remove_member(flat_thread, one, clock.now)
    assert not threads.remove_member(flat_thread, one, clock.now)
    assert thread_rows()[0][2] == sorted([two.description, three.description])
    later = clock.now + timedelta(hours=1)
    assert threads.dissolve(flat_thread, later)
    assert not threads.dissolve(flat_thread, later)
    assert thread_rows() == []
    assert threads.begin(mira, "elsewhere", [two, one], "open", later) is None  # they are in the other thread by then
    other_thread = Thread.objects.create(persona=mira, title="elsewhere", created_at=later)
    ThreadMember.objects.create(thread=other_thread, node=two)
    assert threads.restore(flat_thread)  # without the node in another thread and the node removed before
    assert not threads.restore(flat_thread)
    assert thread_rows()[0][2] == [three.description]
    assert not threads.restore_member(flat_thread, two)
    assert threads.dissolve(other_thread, later)
    assert threads.restore_member(flat_thread, two)
    assert threads.restore_member(flat_thread, one)
    assert thread_rows() == before
    assert threads.set_state(flat_thread, "ended")
    assert not threads.set_state(flat_thread, "ended")
    assert threads.set_state(flat_thread, "open")
    threads.rename(flat_thread, " My  new home ")
    assert thread_rows() == [("My new home", *before[0][1:])]
    for bad in ("", "  ", "x" * 81):
        with pytest.raises(threads.TitleRefused):
            threads.rename(flat_thread, bad)


def test_a_title_is_made_of_the_owner_s_own_words() -> None:
    assert title_of(["Ana saw a flat in Basel.", "The landlord called.", "Signed the lease."], {"ana"}) == "Flat"
    assert title_of(["Mum has her knee operation.", "The knee operation went well."], {"ana"}) == "Knee operation"
    assert title_of(["妈妈下周做膝盖手术。", "妈妈的手术很顺利，膝盖还肿。"], ()) == "手术"
    assert title_of([], ()) == ""
    assert len(title_of(["x" * 300, "y"], ())) <= 80


def test_how_something_went_is_asked_and_told_in_both_languages() -> None:
    texts = ["How did the house thing go?", "what became of the thesis?", "How's the flat hunt going?"]
    texts += ["Any news about Mum's operation?", "房子的事后来怎么样了？", "论文进展如何？", "面试有结果了吗"]
    assert [text for text in texts if not asks_how_it_went(text)] == []
    others = ["How do I get to the station?", "How are you?", "I went home.", "你怎么样？", "我们去看房吧"]
    assert [text for text in others if asks_how_it_went(text)] == []
    ends = [
        "We finally moved in.",
        "I passed my driving test!",
        "She got the all-clear.",
        "终于答辩完了",
        "我们离婚了，都结束了",
    ]
    assert [text for text in ends if not tells_an_end(text)] == []
    others = ["If we moved in, I'd be glad.", "I hope she gets the all-clear.", "他还没出院", "He moved the lamp."]
    assert [text for text in others if tells_an_end(text)] == []
    assert matters_in("The sea is calm.") == {}


# --- forgetting -------------------------------------------------------------------------------------------------------
def test_forgetting_a_memory_mends_the_title_or_deletes_the_thread_and_no_byte_is_left(
    mira: Persona, flat_thread: Thread, clock: Clock
) -> None:
    saw, called, signed = flat_thread.nodes.order_by("pk")
    Thread.objects.update(title="Ana saw a flat in Basel")
    plan = forgetting.plan([Target("node", saw.pk)])
    assert [(row.kind, row.why) for row in plan.erased] == [("thread", "written_from")]
    forgetting.forget(plan, None, clock.now)
    assert [row[0] for row in thread_rows()] == ["Landlord"]
    assert verify.find_texts(["saw a flat in Basel"]) == []
    threads.rename(flat_thread, "My own words")
    threads.restore_member(flat_thread, called)
    plan = forgetting.plan([Target("node", called.pk)])
    assert [(row.kind, row.why) for row in plan.erased] == [("thread", "thread_gone")]
    forgetting.forget(plan, None, clock.now)
    assert not Thread.objects.exists()
    assert not ThreadMember.objects.exists()
    assert verify.find_texts(["My own words"]) == []
    assert ConceptNode.objects.filter(pk=signed.pk).exists()


def test_a_title_of_the_owner_stays_unless_it_says_what_is_forgotten(
    mira: Persona, flat_thread: Thread, remember: Remember, clock: Clock
) -> None:
    saw = flat_thread.nodes.earliest("pk")
    for title, expected in (("My new home", "My new home"), ("Ana saw a flat in Basel, finally", "Landlord")):
        with undone():
            threads.rename(flat_thread, title)
            forgetting.forget(forgetting.plan([Target("node", saw.pk)]), None, clock.now)
            assert Thread.objects.get().title == expected
            assert verify.find_texts(["Ana saw a flat in Basel"]) == []


def test_a_title_of_the_owner_goes_with_a_word_that_only_the_forgotten_memory_has(
    mira: Persona, remember: Remember, clock: Clock
) -> None:
    for title, stays in (("Zanzibar plan", False), ("What the landlord wants", True), ("My big year", True)):
        texts = ("Ana looks for a lighthouse in Zanzibar.", "Ana visited the landlord.", "Ana signed the papers.")
        nodes = [remember(mira, text) for text in texts]
        thread = threads.begin(mira, title, nodes, "open", clock.now)
        assert thread
        threads.rename(thread, title)
        forgetting.forget(forgetting.plan([Target("node", nodes[0].pk)]), None, clock.now)
        assert (Thread.objects.get(pk=thread.pk).title == title) == stays, title
        assert "Zanzibar" not in Thread.objects.get(pk=thread.pk).title
        Thread.objects.all().delete()


def test_a_dissolved_thread_goes_with_the_first_memory_that_is_forgotten(
    mira: Persona, flat_thread: Thread, clock: Clock
) -> None:
    threads.dissolve(flat_thread, timezone.now())
    forgetting.forget(forgetting.plan([Target("node", flat_thread.nodes.earliest("pk").pk)]), None, clock.now)
    assert not Thread.objects.exists()


def test_a_thread_goes_with_its_last_memory_however_that_is_deleted(flat_thread: Thread) -> None:
    for node in flat_thread.nodes.all():
        node.delete()
    assert not Thread.objects.exists()


def test_by_rule_a_plan_that_was_noted_meanwhile_goes_on_with_the_thread(
    mira: Persona, remember: Remember, clock: Clock, settings: Any
) -> None:
    settings.LLM_PROVIDER = "offline"
    remember_events(mira, remember, clock, *STORIES[1][0])
    run(mira, clock)
    kind = {"kind": "fact", "domain": "plans", "plan_state": "planned"}
    plan = remember(mira, "Ana hands in her thesis in June.", created_at=clock.now, **kind)
    remember(mira, "Ana rewrote chapter two of the thesis.", created_at=clock.now)
    run(mira, clock)
    assert len(thread_rows()) == 1
    assert plan.description in thread_rows()[0][2]

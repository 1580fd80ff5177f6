"""Facts, open loops and threads under death and forgetting: each job and action leaves all or nothing, done again it
ends the same, nothing that is forgotten leaves a byte, and a restore forgets it once more."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest

from echovessel.outbox.models import OutboxEvent
from memory import forgetting
from memory.consolidation import open_items, rereading
from memory.curation import threads
from memory.entities import merge
from memory.erasure import receipts
from memory.forgetting import Target, replay, verify
from memory.models import ConceptNode, Entity, Extraction, Mention, MergeProposal, Thread, ThreadMember
from persona.models import Persona
from tests.memory.consolidation.test_facts import fact
from tests.memory.consolidation.test_rereading import of_before
from tests.memory.deaths import Trial, dies_at, same_wherever_it_dies, undone
from tests.memory.sessions import NOW, Clock, cite, extraction
from tests.scripted import Script

pytestmark = pytest.mark.django_db
Remember = Callable[..., ConceptNode]
stride = pytest.mark.parametrize("stride", [29, pytest.param(1, marks=pytest.mark.campaign)])


def remains(persona: Persona) -> dict[str, Any]:
    """Facts with their times and states, loops with their ends, threads with their members, people."""

    def rows(of: Any, *fields: str) -> list[list[str]]:
        return sorted([str(value) for value in row] for row in of.objects.values_list(*fields))

    columns = ("kind", "description", "domain", "since", "until", "plan_state", "status", "outcome", "mention_count")
    return {
        "nodes": rows(ConceptNode, *columns, "resolved_by__description", "superseded_by__description"),
        "threads": rows(Thread, "title", "state", "titled_by", "dissolved_at"),
        "members": rows(ThreadMember, "thread__title", "node__description", "removed_at"),
        "people": rows(Entity, "canonical_name", "relation", "status"),
        "mentions": rows(Mention, "entity__canonical_name", "node__description"),
        "decisions": rows(MergeProposal, "status"),
        "events": rows(OutboxEvent, "name"),
    }


@stride
def test_reading_again_for_facts_dies_anywhere_and_doubles_nothing(
    mira: Persona, model: Script, clock: Clock, stride: int
) -> None:
    session = of_before(mira, model, clock, "I live in Basel.", "> Nice!", "I have a dog.")
    home, _, dog = session.messages.order_by("id")
    facts = [
        fact("Ana lives in Basel.", cite(home), domain="home"),
        fact("Ana has a dog.", cite(dog), domain="belongings"),
    ]

    def try_out(statement: int) -> Trial:
        with undone():
            mine = Clock()
            mine.forward(days=1)
            model.structured[:] = [extraction(facts=facts)] * 9
            died = dies_at(statement, lambda: rereading.read_again(session.pk, mine))
            mine.forward(seconds=601)
            rereading.read_again(session.pk, mine)
            return remains(mira) | {"read": list(Extraction.objects.values_list("again", "dropped"))}, died

    undisturbed, _ = try_out(0)
    assert [row[:3] for row in undisturbed["nodes"]][-2:] == [
        ["fact", "Ana has a dog.", "belongings"],
        ["fact", "Ana lives in Basel.", "home"],
    ]
    assert same_wherever_it_dies(try_out, stride) > 20


# --- actions ------------------------------------------------------------------------------------------------------
def loops_expire(mira: Persona, remember: Remember) -> Callable[[], Any]:
    for name, kind in (("The port calls.", "expectation"), ("Mira asks.", "intention")):
        day = (NOW - timedelta(days=60)).date()
        remember(mira, name, kind=kind, event_time_start=day, event_time_end=day)
    return lambda: open_items.expire(NOW)


def a_loop_is_settled(mira: Persona, remember: Remember) -> Callable[[], Any]:
    promise, told = remember(mira, "Mira asks about the exam.", kind="intention"), remember(mira, "Ana passed.")
    return lambda: open_items.settle(promise, "fulfilled", told, NOW)


def line_of(mira: Persona, remember: Remember) -> tuple[Thread, list[ConceptNode]]:
    texts = ("Ana saw a flat in Basel.", "The landlord called.", "Ana signed the lease.")
    nodes = [remember(mira, text) for text in texts]
    thread = threads.begin(mira, "Ana's flat", nodes, "open", NOW)
    assert thread
    return thread, nodes


def a_thread_is_dissolved(mira: Persona, remember: Remember) -> Callable[[], Any]:
    thread, _nodes = line_of(mira, remember)
    return lambda: threads.dissolve(thread, NOW)


def a_thread_is_restored(mira: Persona, remember: Remember) -> Callable[[], Any]:
    thread, _nodes = line_of(mira, remember)
    threads.dissolve(thread, NOW)
    return lambda: threads.restore(thread)


def a_memory_is_taken_out(mira: Persona, remember: Remember) -> Callable[[], Any]:
    thread, nodes = line_of(mira, remember)
    return lambda: threads.remove_member(thread, nodes[0], NOW)


def two_people_become_one(mira: Persona, remember: Remember) -> Callable[[], Any]:
    proposal = two_people(mira, remember)
    return lambda: merge.merge(proposal, None, NOW)


def a_merge_is_undone(mira: Persona, remember: Remember) -> Callable[[], Any]:
    proposal = two_people(mira, remember)
    merge.merge(proposal, None, NOW)
    return lambda: merge.undo(proposal, None, NOW)


def two_people(mira: Persona, remember: Remember) -> MergeProposal:
    _thread, nodes = line_of(mira, remember)
    people = [Entity.objects.create(persona=mira, canonical_name=name, kind="person") for name in ("Rosa", "Rosie")]
    Entity.objects.filter(pk=people[1].pk).update(relation="landlady")
    for person, node in zip(people, nodes, strict=False):
        person.aliases.create(persona=mira, text=person.canonical_name, normalized=person.canonical_name.casefold())
        person.mentions.create(node=node)
    return merge.propose(mira, *people, 0.7, ["sound"])


ACTIONS: Sequence[Callable[[Persona, Remember], Callable[[], Any]]] = (
    loops_expire,
    a_loop_is_settled,
    a_thread_is_dissolved,
    a_thread_is_restored,
    a_memory_is_taken_out,
    two_people_become_one,
    a_merge_is_undone,
)


@stride
def test_a_death_at_any_statement_of_a_action_leaves_all_or_nothing_and_done_again_it_ends_the_same(
    mira: Persona, remember: Remember, stride: int
) -> None:
    for action in ACTIONS:
        with undone():
            prepared = action(mira, remember)
            before = remains(mira)
            with undone():
                prepared()
                after = remains(mira)
            assert after != before, action
            statement, died = 1, True
            while died:
                with undone():
                    died = dies_at(statement, prepared)
                    assert remains(mira) in (before, after), (action, statement)
                    prepared()
                    assert remains(mira) == after, (action, statement)
                statement += max(1, stride // 4)
            assert statement > 2, action


# --- forgetting -------------------------------------------------------------------------------------------------------
def secrets_of(mira: Persona, remember: Remember, word: str) -> list[ConceptNode]:
    """A fact, a loop, and an event that begins a thread whose title quotes it."""
    home = remember(mira, f"Ana keeps a {word} at home since 2019.", kind="fact", domain="home", since="2019")
    loop = remember(mira, f"Ana will tell of the {word} fair.", kind="expectation")
    saw, *others = (remember(mira, text) for text in (f"Ana found a {word}.", "Ana signed the lease.", "Ana moved in."))
    assert threads.begin(mira, f"The {word} affair", [saw, *others], "open", NOW)
    return [home, loop, saw]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("stride", [101, pytest.param(7, marks=pytest.mark.campaign)])
def test_killed_while_they_are_forgotten_they_are_there_or_leave_no_byte(
    mira: Persona, remember: Remember, stride: int
) -> None:
    statement, died, rounds = 1, True, 0
    while died:
        word, rounds = f"qolobish{rounds:02}", rounds + 1
        nodes = secrets_of(mira, remember, word)
        planned = forgetting.plan([Target("node", node.pk) for node in nodes])
        died = dies_at(statement, lambda: forgetting.forget(planned, None, NOW))  # noqa: B023  (called at once)
        left = ConceptNode.objects.filter(pk__in=[node.pk for node in nodes])
        assert left.count() in (0, len(nodes))
        assert Thread.objects.filter(title__contains=word).exists() == left.exists()
        if left:
            forgetting.forget(forgetting.plan([Target("node", node.pk) for node in left]), None, NOW)
        receipts.finish_pending(NOW)
        assert verify.find_texts([word]) == []
        [thread] = Thread.objects.all()  # the other two are left
        assert thread.members.count() == 2
        thread.delete()
        statement += stride
    assert rounds > 1


@pytest.mark.django_db(transaction=True)
def test_an_older_state_forgets_them_once_more(mira: Persona, remember: Remember) -> None:
    nodes = secrets_of(mira, remember, "qolobish")
    rows = {model: list(model.objects.all()) for model in (ConceptNode, Thread, ThreadMember)}
    forgetting.forget(forgetting.plan([Target("node", node.pk) for node in nodes]), None, NOW)
    log = replay.read_log()
    # The older state: all of it is there again, and no receipt of it.
    for model in (ThreadMember, Thread, ConceptNode):
        model._default_manager.all().delete()
    for model, stored in rows.items():
        model._default_manager.bulk_create(stored)
    mira.receipts.all().delete()
    assert verify.find_texts(["qolobish"])
    done = replay.replay(log, NOW)
    assert done.hits == []
    assert verify.find_texts(["qolobish"]) == []
    assert Thread.objects.get().members.count() == 2

"""The slow cycle in the admin: the inputs and results of a run, and the open questions."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from echovessel.admin import MASK
from memory.curation import questions
from memory.models import ConceptNode, Question, SlowCycleRun
from memory.slow_cycle import runner
from persona.models import Persona
from tests.echovessel.conftest import blind, curator, member, reader, signed_in  # noqa: F401
from tests.memory.sessions import NOW, Clock
from tests.memory.slow_cycle.slow_cycles import Remember, answer, outcome, question, request_cycle, thought
from tests.scripted import Script

RUNS, QUESTIONS = "/admin/memory/slowcyclerun/", "/admin/memory/question/"


@pytest.fixture
def slow_cycle_run(mira: Persona, model: Script, clock: Clock, remember: Remember) -> SlowCycleRun:
    """A run with every kind of result."""
    event = remember(mira, "Ana keeps bees.")
    hive = remember(mira, "The hive swarms.", kind="expectation")
    model.answers(
        answer(
            thoughts=[thought("Ana hums among the bees.", event), thought("unfounded")],
            salient_questions=[question("Do the bees sleep?", event)],
            outcomes=[outcome(hive, "fulfilled", event)],
        )
    )
    request_cycle(mira, clock.now)
    runner.run(mira.pk, clock)
    return SlowCycleRun.objects.get()


def test_a_run_is_told_by_the_rows_it_refers_to(curator: Client, slow_cycle_run: SlowCycleRun) -> None:  # noqa: F811
    page = curator.get(f"{RUNS}{slow_cycle_run.pk}/change/").content.decode()
    for words in (
        "Ana keeps bees.", "The hive swarms.", "Ana hums among the bees.", "Do the bees sleep?",
        "dropped: none of its sources exists any longer", "fulfilled",
    ):  # fmt: skip
        assert words in page, words
    assert "first run" in curator.get(RUNS).content.decode()


def test_a_run_shows_no_text_of_forgotten_memories(curator: Client, slow_cycle_run: SlowCycleRun) -> None:  # noqa: F811
    ConceptNode.objects.all().delete()
    page = curator.get(f"{RUNS}{slow_cycle_run.pk}/change/").content.decode()
    assert "forgotten since" in page
    assert "bees" not in page


def test_a_run_of_many_things_takes_as_many_statements_as_one_of_few(
    curator: Client, slow_cycle_run: SlowCycleRun, remember: Remember, django_assert_max_num_queries: Any  # noqa: F811
) -> None:  # fmt: skip
    keys = [remember(slow_cycle_run.persona, f"Event {number}.").pk for number in range(30)]
    slow_cycle_run.given["events"] = keys
    slow_cycle_run.made = [{"kind": "thought", "id": key, "outcome": "new", "by": keys} for key in keys]
    slow_cycle_run.save()
    with django_assert_max_num_queries(14):
        curator.get(f"{RUNS}{slow_cycle_run.pk}/change/")


def test_words_are_masked_for_staff_who_may_not_read(blind: User, slow_cycle_run: SlowCycleRun) -> None:  # noqa: F811
    browser, question = signed_in(blind), Question.objects.get()
    for address in (f"{RUNS}{slow_cycle_run.pk}/change/", f"{QUESTIONS}{question.pk}/change/", QUESTIONS):
        page = browser.get(address).content.decode()
        assert MASK in page, address
        assert "bees" not in page, address
    browser.post(QUESTIONS, {"action": "drop", "_selected_action": question.pk})
    question.refresh_from_db()
    assert question.status == "open"


def test_who_reads_can_have_her_wonder_no_more(reader: User, slow_cycle_run: SlowCycleRun) -> None:  # noqa: F811
    browser, question = signed_in(reader), Question.objects.get()
    assert "Ana keeps bees." in browser.get(f"{QUESTIONS}{question.pk}/change/").content.decode()
    page = browser.post(QUESTIONS, {"action": "drop", "_selected_action": question.pk}, follow=True).content.decode()
    assert "1 question was dropped." in page
    question.refresh_from_db()
    assert question.status == "dropped"
    assert questions.keep(slow_cycle_run.persona, "Do the bees sleep?", [], NOW, slow_cycle_run) is None


def test_without_the_permission_there_is_no_such_action(slow_cycle_run: SlowCycleRun) -> None:
    looker = signed_in(member("lou"))
    assert looker.get(QUESTIONS).status_code == 403

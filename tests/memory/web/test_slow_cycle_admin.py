"""The desk's pages of the slow cycle: what a run was given and made, and what she wonders about."""

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
from tests.memory.slow_cycle.slow_cycles import Remember, answer, outcome, question, thought, wanting
from tests.scripted import Script

RUNS, QUESTIONS = "/admin/memory/slowcyclerun/", "/admin/memory/question/"


@pytest.fixture
def wondered(mira: Persona, model: Script, clock: Clock, remember: Remember) -> SlowCycleRun:
    """A run with something of everything."""
    event = remember(mira, "Ana keeps bees.")
    hive = remember(mira, "The hive swarms.", kind="expectation")
    model.answers(
        answer(
            thoughts=[thought("Ana hums among the bees.", event), thought("unfounded")],
            salient_questions=[question("Do the bees sleep?", event)],
            outcomes=[outcome(hive, "fulfilled", event)],
        )
    )
    wanting(mira, clock.now)
    runner.run(mira.pk, clock)
    return SlowCycleRun.objects.get()


def test_a_run_is_told_by_the_rows_it_refers_to(curator: Client, wondered: SlowCycleRun) -> None:  # noqa: F811
    page = curator.get(f"{RUNS}{wondered.pk}/change/").content.decode()
    for words in (
        "Ana keeps bees.", "The hive swarms.", "Ana hums among the bees.", "Do the bees sleep?",
        "dropped: none of its sources exists any longer", "fulfilled",
    ):  # fmt: skip
        assert words in page, words
    assert "first run" in curator.get(RUNS).content.decode()


def test_of_what_is_gone_the_run_tells_no_words(curator: Client, wondered: SlowCycleRun) -> None:  # noqa: F811
    ConceptNode.objects.all().delete()
    page = curator.get(f"{RUNS}{wondered.pk}/change/").content.decode()
    assert "forgotten since" in page
    assert "bees" not in page


def test_a_run_of_many_things_takes_as_many_statements_as_one_of_few(
    curator: Client, wondered: SlowCycleRun, remember: Remember, django_assert_max_num_queries: Any  # noqa: F811
) -> None:  # fmt: skip
    keys = [remember(wondered.persona, f"Event {number}.").pk for number in range(30)]
    wondered.given["events"] = keys
    wondered.made = [{"kind": "thought", "id": key, "outcome": "new", "by": keys} for key in keys]
    wondered.save()
    with django_assert_max_num_queries(14):
        curator.get(f"{RUNS}{wondered.pk}/change/")


def test_words_are_masked_for_staff_who_may_not_read(blind: User, wondered: SlowCycleRun) -> None:  # noqa: F811
    browser, asked = signed_in(blind), Question.objects.get()
    for address in (f"{RUNS}{wondered.pk}/change/", f"{QUESTIONS}{asked.pk}/change/", QUESTIONS):
        page = browser.get(address).content.decode()
        assert MASK in page, address
        assert "bees" not in page, address
    browser.post(QUESTIONS, {"action": "drop", "_selected_action": asked.pk})
    asked.refresh_from_db()
    assert asked.status == "open"


def test_who_reads_can_have_her_wonder_no_more(reader: User, wondered: SlowCycleRun) -> None:  # noqa: F811
    browser, asked = signed_in(reader), Question.objects.get()
    assert "Ana keeps bees." in browser.get(f"{QUESTIONS}{asked.pk}/change/").content.decode()
    page = browser.post(QUESTIONS, {"action": "drop", "_selected_action": asked.pk}, follow=True).content.decode()
    assert "1 question was dropped." in page
    asked.refresh_from_db()
    assert asked.status == "dropped"
    assert questions.keep(wondered.persona, "Do the bees sleep?", [], NOW, wondered) is None


def test_without_the_permission_there_is_no_such_action(wondered: SlowCycleRun) -> None:
    looker = signed_in(member("lou"))
    assert looker.get(QUESTIONS).status_code == 403

"""Sessions that were closed before there were facts are read again for facts: priced first, and resumable."""

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from chat.models import Session
from echovessel.llm import LLMError
from memory.consolidation import rereading, runner
from memory.models import ConceptNode, Extraction
from persona.models import MoodChange, Persona
from tests.memory.consolidation.test_facts import fact
from tests.memory.sessions import Clock, cite, event, extraction, talk
from tests.scripted import Script


def of_before(persona: Persona, model: Script, clock: Clock, *messages: str) -> Session:
    """A session that an earlier version has read: its answer has no facts."""
    session = talk(persona, *messages, at=clock.now)
    model.answers(extraction([event("Ana told of her life.", cite(session.messages.all()[0]))]))
    clock.forward(minutes=31)
    runner.run(session.pk, clock)
    for row in Extraction.objects.filter(session=session):
        answer = {name: value for name, value in row.answer.items() if name not in ("facts", "open_loops")}
        Extraction.objects.filter(pk=row.pk).update(answer=answer)
    session.refresh_from_db()
    return session


def run(*options: str) -> str:
    out = StringIO()
    call_command("consolidate", "--again", *options, stdout=out)
    return out.getvalue()


def test_rereading_prints_the_price_and_runs_only_with_yes(mira: Persona, model: Script, clock: Clock) -> None:
    session = of_before(mira, model, clock, "I live in Basel.", "> Nice!", "I have a dog.")
    request_count = len(model.requests)
    assert "1 sessions to read again: 1 calls" in run()
    assert len(model.requests) == request_count
    home, _, dog = session.messages.order_by("id")
    again = extraction(
        [event("Something else happened.", cite(home))],
        facts=[
            fact("Ana lives in Basel.", cite(home), domain="home"),
            fact("Ana has a dog.", cite(dog), domain="belongings"),
        ],
        session_summary="Another summary.",
        open_loops=[{"description": "Ana will tell.", "owed_by": "owner", "due": None, "evidence": [cite(home)]}],
    )
    model.answers(again)
    assert "1 sessions were read again" in run("--yes")
    kinds = ConceptNode.objects.exclude(kind="thought").order_by("kind", "id").values_list("kind", "description")
    assert list(kinds) == [
        ("event", "Ana told of her life."),
        ("fact", "Ana lives in Basel."),
        ("fact", "Ana has a dog."),
    ]
    before = session.summary
    session.refresh_from_db()
    assert (session.status, session.summary, session.holder) == ("closed", before, "")
    assert MoodChange.objects.count() == 1
    assert "0 sessions to read again" in run("--yes")


def test_a_run_that_stops_goes_on_where_it_stopped(mira: Persona, model: Script, clock: Clock) -> None:
    first = of_before(mira, model, clock, "I live in Basel.", "I like it.", "Yes.")
    second = of_before(mira, model, clock, "I moved to Oslo.", "I like it.", "Yes.")
    basel = fact("Ana lives in Basel.", cite(first.messages.all()[0]), domain="home")
    model.answers(extraction(facts=[basel]), LLMError("spent", code="budget_exhausted", permanent=False))
    with pytest.raises(CommandError, match="1 were read, 1 are left"):
        run("--yes")

    def answer_with_move(request: Any) -> Any:
        [old] = [memory["id"] for memory in request.material["known"] if memory["description"] == "Ana lives in Basel."]
        return extraction(facts=[fact("Ana lives in Oslo.", oslo, domain="home", supersedes=[old])])

    oslo = cite(second.messages.all()[0])
    model.answers(answer_with_move)
    assert "1 sessions were read again" in run("--yes")
    states = dict(ConceptNode.objects.filter(kind="fact").values_list("description", "status"))
    assert states == {"Ana lives in Basel.": "superseded", "Ana lives in Oslo.": "active"}


def test_one_that_somebody_reads_or_that_knows_facts_is_left_alone(mira: Persona, model: Script, clock: Clock) -> None:
    leased = of_before(mira, model, clock, "I live in Basel.", "I like it.", "Yes.")
    Session.objects.filter(pk=leased.pk).update(holder="another", lease_until=clock.now.replace(year=2200))
    assert not rereading.read_again(leased.pk, clock)
    new = talk(mira, "I live in Basel.", "I like it.", "Yes.", at=clock.now)
    model.answers(extraction(facts=[fact("Ana lives in Basel.", cite(new.messages.all()[0]), domain="home")]))
    clock.forward(minutes=31)
    runner.run(new.pk, clock)
    assert [session.pk for session in rereading.to_read_again(Session.objects.all())] == [leased.pk]


def test_what_was_read_in_memory_mode_is_read_again_once_a_model_is_connected(
    mira: Persona, model: Script, clock: Clock, settings: Any
) -> None:
    connected, settings.LLM_PROVIDER = settings.LLM_PROVIDER, "offline"
    session = talk(mira, "I live in Basel with my sister Rosa.", "> Nice!", "I have a dog called Rex.", at=clock.now)
    clock.forward(minutes=31)
    runner.run(session.pk, clock)
    assert not rereading.to_read_again(Session.objects.all()).exists()
    settings.LLM_PROVIDER = connected
    assert "1 sessions to read again: 1 calls" in run()
    home = session.messages.earliest("id")
    model.answers(extraction(facts=[fact("Ana lives in Basel.", cite(home, "I live in Basel"), domain="home")]))
    assert "1 sessions were read again" in run("--yes")
    assert ConceptNode.objects.get(kind="fact").description == "Ana lives in Basel."
    assert "0 sessions to read again" in run("--yes")

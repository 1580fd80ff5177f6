"""Every fault of a model server, over both protocols: what it does to a talk, and what to its memory.

The table is meant to be read. In a talk the user's line is always kept, and what failed can be tried again. A closed
talk waits, fails where people see it, or is remembered; it is never closed as if it had been read when it was not, and
once the server is well (and a person has asked for it, where it failed) it is remembered without loss.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from chat import rate_limit
from chat.models import Message, Session, Turn
from chat.turns.turn import words_for
from echovessel.embeddings import embedding
from echovessel.llm import ledger
from echovessel.llm.models import LLMCall
from echovessel.process.threads import in_thread
from memory.consolidation import runner
from memory.consolidation.runner import Outcome
from memory.models import ConceptNode, Extraction, ModelReply
from persona.models import Persona
from tests.memory.sessions import Clock, event, extraction, talk
from tests.page import Page
from tests.wire.scripted_server import Body, Fails, Hangs, Reply, Says, ScriptedServer
from tests.wire.scripted_server import Page as Document

WELL = "I am well again."


# --- what becomes of a talk -------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Told:
    """The user is told so, in the words for this code, and may try again. `partial` is what was said until then."""

    code: str
    partial: str = ""


@dataclass(frozen=True)
class Spoken:
    """It is a reply like any other: `text`, where that is not all the server said."""

    text: str | None = None


# --- what becomes of the memory of a closed talk ----------------------------------------------------------------------
@dataclass(frozen=True)
class Waits:
    """It is asked again after a pause."""

    seconds: float = 60


@dataclass(frozen=True)
class Failed:
    """It has failed, with a reason; so many replies of the model are kept for people to see."""

    why: str
    kept: int = 2


@dataclass(frozen=True)
class Closed:
    """It is closed, with so many events, after so many questions."""

    events: int
    asked: int = 1


@dataclass(frozen=True)
class Fault:
    """What the server does to every request, and what comes of it."""

    name: str
    reply: Reply
    talk: Told | Spoken
    memory: Waits | Failed | Closed
    timeout_s: float = 10

    def __str__(self) -> str:
        return self.name


UNAVAILABLE, LIMITED, TIMEOUT = Told("provider_unavailable"), Told("rate_limited"), Told("timeout")
HALF_SAID = replace(UNAVAILABLE, partial="Half a")
UNREADABLE = "did not fit"

# MESSAGE is put right by the server: the id of the line that is quoted.
CAT = event("Ana has a cat named Milo.", {"message_id": "MESSAGE", "quote": "I have a cat named Milo."})
GOOD = json.dumps(extraction([CAT]))
MANY = [CAT | {"description": f"Ana named {name} as hers."} for name in map("Cat number {}".format, range(50))]

WIRE = [
    # The server turns the request away.
    Fault("429", Fails(429), LIMITED, Waits()),
    Fault("429 for a second", Fails(429, headers={"retry-after": "1"}), LIMITED, Waits()),
    Fault("429 for five minutes", Fails(429, headers={"retry-after": "300"}), LIMITED, Waits()),
    Fault("429 until long ago", Fails(429, headers={"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}), LIMITED, Waits()),
    Fault("429 with garbage", Fails(429, headers={"retry-after": "soon"}), LIMITED, Waits()),
    Fault("500", Fails(500), UNAVAILABLE, Waits()),
    Fault("529", Fails(529, kind="overloaded_error"), UNAVAILABLE, Waits()),
    Fault("a wrong key", Fails(401, kind="authentication_error"), UNAVAILABLE, Failed("401", kept=0)),
    Fault("no credit left", Fails(429, kind="insufficient_quota"), UNAVAILABLE, Failed("insufficient_quota", kept=0)),
    Fault("200 with an error in it", Fails(200, kind="server_error"), UNAVAILABLE, Waits()),
    Fault("200 with a limit in it", Fails(200, kind="rate_limit_error"), LIMITED, Waits()),
    Fault("200 with a page of HTML", Document(), UNAVAILABLE, Waits()),
    Fault("the API's refusal", Says("", reason="refusal"), Told("content_refused"), Failed("declined", kept=0)),
    # The connection does not hold.
    Fault("no answer", Hangs(), TIMEOUT, Waits(), timeout_s=0.2),
    Fault("a stream that stalls", Says("Half a", ending="stall"), replace(TIMEOUT, partial="Half a"), Waits(), 0.2),
    Fault("a stream that is cut", Says("Half a", ending="cut"), HALF_SAID, Waits()),
    Fault("a good answer without its end", Says(GOOD, ending="cut"), replace(UNAVAILABLE, partial=GOOD), Waits()),
    Fault("a connection that is reset", Says("Half a", ending="reset"), HALF_SAID, Waits()),
    Fault("a line of garbage", Says("Half a", ending="garbage"), HALF_SAID, Waits()),
    Fault("an error in the middle", Says("Half a", ending="error"), HALF_SAID, Waits()),
    Fault("a limit in the middle", Says("Half a", ending="error", error="rate_limit_error"),
          Told("rate_limited", "Half a"), Waits()),
    Fault("an empty stream", Document("", "text/event-stream"), UNAVAILABLE, Waits()),
    Fault("an empty answer", Says(""), UNAVAILABLE, Waits()),
]  # fmt: skip

# In a talk words are words; for memory they have to be an answer.
WORDS = [
    Fault("prose", Says("She told me about a cat."), Spoken(), Failed(UNREADABLE)),
    Fault("a refusal in words", Says("I can't help with that."), Spoken(), Failed(UNREADABLE)),
    Fault("half JSON", Says(GOOD[:90]), Spoken(), Failed(UNREADABLE)),
    Fault("half JSON, after one whole event", Says(f'{{"events": [{json.dumps(CAT)}, {{"desc'), Spoken(),
          Failed(UNREADABLE)),
    Fault("JSON to the token limit", Says('{"events": [', reason="length"), Spoken(), Failed(UNREADABLE)),
    Fault("JSON to the limit, after one whole event",
          Says(f'{{"events": [{json.dumps(CAT)}]', reason="length"), Spoken(), Failed(UNREADABLE)),
    Fault("another schema", Says('{"memories": []}'), Spoken(), Failed(UNREADABLE)),
    Fault("another type", Says('{"events": "none"}'), Spoken(), Failed(UNREADABLE)),
    Fault("no event that can be read", Says(json.dumps(extraction([CAT | {"emotional_impact": "very"}]))), Spoken(),
          Failed("none of the events")),
    Fault("thoughts without an end", Says(f"<think>Perhaps {GOOD}"), Told("only_reasoning"), Failed(UNREADABLE)),
    Fault("nesting without end", Says('{"events": ' + "[" * 9_000), Spoken(), Failed(UNREADABLE)),
    Fault("fenced JSON", Says(f"Here it is:\n```json\n{GOOD}\n```"), Spoken(), Closed(1)),
    Fault("thoughts before", Says(f'<think>Is it {{"events": []}}?</think>{GOOD}'), Spoken(GOOD), Closed(1)),
    Fault("a plus sign", Says(GOOD.replace('_impact": 2', '_impact": +4')), Spoken(), Closed(1)),
    Fault("a trailing comma", Says(f"{GOOD[:-1]},}}"), Spoken(), Closed(1)),
    Fault("doubled keys", Says(f'{GOOD[:-1]}, "events": []}}'), Spoken(), Closed(1)),
    Fault("doubled keys and a trailing comma", Says(f'{GOOD[:-1]}, "events": [],}}'), Spoken(), Closed(1)),
    Fault("a bad event among good ones", Says(json.dumps(extraction([{"description": 7}, CAT, "x"]))), Spoken(),
          Closed(1)),
    Fault("an impact of 999", Says(json.dumps(extraction([CAT | {"emotional_impact": 999}]))), Spoken(), Closed(1)),
    Fault("no events", Says(json.dumps(extraction())), Spoken(), Closed(0)),
    Fault("50 events", Says(json.dumps(extraction(MANY))), Spoken(), Closed(6)),
]  # fmt: skip


SERVERS = ("openai_server", "anthropic_server")
# The wire decides no more than the code of a fault and what was said until then, which `test_providers` reads for
# every fault over both protocols: here every fault over one, some of each outcome over the other, the rest in the
# campaign.
OVER_BOTH = {"429", "a wrong key", "the API's refusal", "a stream that is cut", "fenced JSON"}
OVER_ONE = {fault.name for fault in WORDS} | {
    "429 for five minutes",
    "200 with an error in it",
    "no answer",
    "an empty stream",
}
OVER_THE_WIRE = [
    pytest.param(server, fault, marks=[] if fault.name in tried else pytest.mark.campaign)
    for server, tried in zip(SERVERS, (OVER_ONE | OVER_BOTH, OVER_BOTH), strict=True)
    for fault in WIRE + WORDS
]


@pytest.fixture
def server(request: pytest.FixtureRequest, settings: Any) -> ScriptedServer:
    """The server of this name, with a model of its own for extraction and for reflection."""
    settings.LLM_MODEL_SMALL, settings.LLM_MODEL_MEDIUM, settings.LLM_MODEL_LARGE = "small", "medium", "large"
    found: ScriptedServer = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def at_once(settings: Any) -> Iterator[None]:
    """Lines are answered without delay, however many; no turn waits for the embedding model to load."""
    embedding.warm().result()
    settings.KNOBS = {"chat.debounce_seconds": 0, "outbox.poll_seconds": 0.02, "chat.lines_per_minute": 600}
    rate_limit.forget()
    yield
    rate_limit.forget()


# --- a talk -----------------------------------------------------------------------------------------------------------
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("server", "faults"),
    [
        (SERVERS[0], WIRE + WORDS[:4]),
        (SERVERS[1], [fault for fault in WIRE + WORDS if fault.name in OVER_BOTH]),
        *(pytest.param(server, WIRE + WORDS, marks=pytest.mark.campaign) for server in SERVERS),
    ],
    indirect=["server"],
    ids=["openai", "anthropic", "openai and all words", "anthropic and all words"],
)
async def test_each_fault_reaches_the_owner_as_its_error(
    mira: Persona,
    server: ScriptedServer,
    faults: list[Fault],
    settings: Any,
    at_once: None,
    subtests: pytest.Subtests,
) -> None:
    async with Page(mira.owner, mira) as page:
        for fault in faults:
            with subtests.test(fault.name):
                settings.LLM_TIMEOUT_S = fault.timeout_s
                server.requests.clear()
                await LLMCall.objects.all().adelete()
                server.respond = lambda body, fault=fault: fault.reply
                await page.say(fault.name)
                if isinstance(fault.talk, Told):
                    await _told(page, server, fault.name, fault.talk)
                else:
                    done = (await page.until("chat.message.done"))["data"]
                    said = fault.talk.text or fault.reply.text
                    assert done["content"] == said
                    assert await _stored(done["turn_id"]) == [fault.name, said]
                assert await LLMCall.objects.acount() == len(server.requests)


@pytest.mark.django_db(transaction=True)
async def test_a_spent_budget_is_told_and_the_turn_can_be_retried(
    mira: Persona, openai_server: ScriptedServer, settings: Any, at_once: None
) -> None:
    settings.KNOBS |= {"llm.chat_tokens_per_day": 10}
    async with Page(mira.owner, mira) as page:
        await page.say("Hello.")
        await page.until("chat.message.done")
        await page.say("And again?")
        failed = (await page.until("chat.turn.failed"))["data"]
        assert (failed["code"], failed["retryable"]) == ("budget_exhausted", True)
        assert failed["message"] == words_for("budget_exhausted", "en")
        assert await _stored(failed["turn_id"]) == ["And again?"]
        assert len(openai_server.requests) == 1
        settings.KNOBS |= {"llm.chat_tokens_per_day": 0}
        await page.send(type="retry", turn_id=failed["turn_id"])
        await page.until("chat.message.done")
    assert await LLMCall.objects.filter(outcome="budget_exhausted", tokens_in=0).acount() == 1


async def _told(page: Page, server: ScriptedServer, line: str, wanted: Told) -> None:
    failed = (await page.until("chat.turn.failed"))["data"]
    assert (failed["code"], failed["partial"], failed["retryable"]) == (wanted.code, wanted.partial, True)
    assert failed["message"] == words_for(wanted.code, "en")
    assert await _stored(failed["turn_id"]) == [line]
    turn = await Turn.objects.aget(uuid=failed["turn_id"])
    assert (turn.status, turn.error) == ("failed", wanted.code)
    assert (await LLMCall.objects.aget()).outcome == wanted.code
    server.respond = lambda body: Says(WELL)
    await page.send(type="retry", turn_id=failed["turn_id"])
    assert (await page.until("chat.message.done"))["data"]["content"] == WELL
    assert await _stored(failed["turn_id"]) == [line, WELL]


async def _stored(turn_id: str) -> list[str]:
    said = Message.objects.filter(turn__uuid=turn_id).order_by("id").values_list("content", flat=True)
    return await in_thread(list, said)


# --- a memory ---------------------------------------------------------------------------------------------------------
@pytest.mark.django_db
@pytest.mark.parametrize(("server", "fault"), OVER_THE_WIRE, ids=str, indirect=["server"])
def test_each_fault_of_extraction_leaves_the_expected_memory(
    mira: Persona, server: ScriptedServer, settings: Any, fault: Fault
) -> None:
    settings.LLM_TIMEOUT_S = fault.timeout_s
    session, clock = _closed_talk(mira), Clock()
    server.respond = lambda body: _about_the_line(body, fault.reply)
    outcome = runner.run(session.pk, clock)
    session.refresh_from_db()
    assert LLMCall.objects.count() == len(server.requests)
    match fault.memory:
        case Waits(seconds):
            assert outcome == Outcome.LATER
            _assert_waits(session, clock, seconds)
        case Failed(why, kept):
            assert outcome == Outcome.FAILED
            _assert_failed(session, why, kept)
            assert runner.retry(session)
        case Closed(events, asked):
            assert outcome == Outcome.CLOSED
            assert len(_extractions_asked(server)) == asked
            assert _events(session) == events
            return
    assert _events(session) == 0
    assert not Extraction.objects.exists()
    server.respond = lambda body: _about_the_line(body, Says(GOOD))
    clock.forward(days=1)
    assert runner.run(session.pk, clock) == Outcome.CLOSED
    assert _events(session) == 1


@pytest.mark.django_db
@pytest.mark.parametrize("server", SERVERS[:1], indirect=True)
def test_a_spent_budget_waits_for_the_next_day_of_utc_and_costs_no_try(
    mira: Persona, server: ScriptedServer, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr(timezone, "now", clock)
    settings.KNOBS = {"llm.extraction_tokens_per_day": 10}
    server.respond = lambda body: _about_the_line(body, Says(GOOD))
    LLMCall.objects.create(
        owner=mira.owner, purpose="extraction", provider="openai", model="m", outcome="ok", tokens_in=10, at=clock()
    )
    session = _closed_talk(mira)
    assert runner.run(session.pk, clock) == Outcome.LATER
    session.refresh_from_db()
    assert (session.status, session.waiting_for, session.attempts) == ("closing", "budget", 0)
    assert session.lease_until == ledger.next_day(clock())
    assert not server.requests
    clock.now = ledger.next_day(clock()) + timedelta(seconds=1)
    assert runner.run(session.pk, clock) == Outcome.CLOSED
    assert _events(session) == 1


REFLECTED = ("529", "no answer", "a stream that is cut", "the API's refusal", "prose", "JSON to the token limit")


@pytest.mark.django_db
@pytest.mark.parametrize("server", SERVERS[:1], indirect=True)
@pytest.mark.parametrize("fault", [fault for fault in WIRE + WORDS if fault.name in REFLECTED], ids=str)
def test_a_fault_while_reflecting_costs_no_event_and_no_second_reading(
    mira: Persona, server: ScriptedServer, settings: Any, fault: Fault
) -> None:
    settings.LLM_TIMEOUT_S = fault.timeout_s
    session, clock = _closed_talk(mira), Clock()
    server.respond = lambda body: (
        fault.reply if body["model"] == "medium" else _about_the_line(body, Says(GOOD.replace(": 2", ": 9")))
    )
    outcome = runner.run(session.pk, clock)
    assert outcome == (Outcome.LATER if isinstance(fault.memory, Waits) else Outcome.FAILED)
    session.refresh_from_db()
    assert session.status == ("closing" if isinstance(fault.memory, Waits) else "failed")
    assert _events(session) == 1
    if outcome == Outcome.FAILED:
        assert runner.retry(session)
    server.respond = lambda body: Says('{"thoughts": []}')
    clock.forward(days=1)
    assert runner.run(session.pk, clock) == Outcome.CLOSED
    assert _events(session) == 1
    assert len(_extractions_asked(server)) == 1


def _closed_talk(persona: Persona) -> Session:
    return talk(persona, "I have a cat named Milo.", "> How sweet!", "He sleeps on my desk all day.", "> Lovely.")


def _about_the_line(body: Body, reply: Reply) -> Reply:
    """The reply, about the first line of the talk that was asked about; nothing to say where that is not the
    question."""
    if body["model"] == "medium":
        return Says('{"thoughts": []}')
    asked = re.search(r"\[(m\d+)\]", body["messages"][-1]["content"])
    assert asked is not None
    return replace(reply, text=reply.text.replace("MESSAGE", asked[1])) if isinstance(reply, Says) else reply


def _assert_waits(session: Session, clock: Clock, seconds: float) -> None:
    assert (session.status, session.waiting_for) == ("closing", "provider")
    assert session.lease_until == clock() + timedelta(seconds=seconds)
    assert not ModelReply.objects.exists()


def _assert_failed(session: Session, why: str, kept: int) -> None:
    assert session.status == "failed"
    assert why in session.failure
    assert ModelReply.objects.filter(session=session).count() == kept


def _extractions_asked(server: ScriptedServer) -> list[Body]:
    return [body for body in server.requests if body["model"] == "small"]


def _events(session: Session) -> int:
    return ConceptNode.objects.recallable().filter(session=session, kind="event").count()

"""Drafting: one request about a sample of messages, and drafts whose quotes occur in them."""

import contextlib
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User

from chat.models import Message, Session
from echovessel import llm
from echovessel.jobs import knobs as job_knobs
from echovessel.jobs.lease import LeaseLost
from echovessel.llm import LLMError
from memory import knobs
from memory.imports import drafts as imports_drafts
from memory.imports.leases import ImportLease, acquire
from memory.models import ImportJob, ImportRun, ModelReply
from memory.store import tombstones
from memory.store.tombstones import TombstoneSource
from persona.models import CoreDraft, DraftQuote, Persona
from persona.onboarding import drafts
from tests.memory.sessions import NOW, Clock, cite, talk
from tests.scripted import Script

pytestmark = pytest.mark.django_db


def import_sessions(persona: Persona, *sessions: Sequence[str]) -> ImportJob:
    """An import whose sessions are stored and extracted, a week apart."""
    job = ImportJob.objects.create(
        owner=persona.owner, persona=persona, status="drafting", file_name="x", file_size=1, created_at=NOW
    )
    ImportRun.objects.create(uuid=job.uuid, persona=persona, at=NOW)
    for number, messages in enumerate(sessions):
        session = talk(persona, *messages, at=NOW - timedelta(days=7 * (len(sessions) - number)), status="closed")
        Session.objects.filter(pk=session.pk).update(import_uuid=job.uuid, close_reason="import")
        session.messages.update(import_uuid=job.uuid)
    return job


def acquire_lease(job: ImportJob, clock: Clock) -> ImportLease:
    claim = acquire(job.pk, clock)
    assert claim is not None
    return claim


def line(words: str) -> Message:
    return Message.objects.get(content=words)


def draft_of(label: str, text: str, *evidence: dict[str, str]) -> dict[str, Any]:
    return {"label": label, "text": text, "evidence": list(evidence)}


TALK = ("I am a nurse in Lisbon.", "> I keep bees, as you know.", "Please be brief with me.")


def test_drafts_are_stored_with_the_exact_words_and_where_they_were_said(
    mira: Persona, model: Script, clock: Clock
) -> None:
    job = import_sessions(mira, TALK)
    nurse, bees, brief = map(line, (text.removeprefix("> ") for text in TALK))
    model.answers(
        {
            "drafts": [
                draft_of("user", "Ana is a nurse in Lisbon.", cite(nurse, "i am a nurse")),
                draft_of(" Persona ", "Mira keeps bees.", cite(bees, "I keep bees")),
                draft_of("style", "Mira is brief.", cite(brief, "Please be brief"), cite(brief, "be very brief")),
            ]
        }
    )
    before = drafts.block_texts(mira)
    assert imports_drafts.draft(acquire_lease(job, clock)) == 3
    assert list(CoreDraft.objects.order_by("id").values_list("label", "text", "status", "import_uuid")) == [
        ("user", "Ana is a nurse in Lisbon.", "open", job.uuid),
        ("persona", "Mira keeps bees.", "open", job.uuid),
        ("style", "Mira is brief.", "open", job.uuid),
    ]
    assert list(DraftQuote.objects.order_by("id").values_list("quote", "said_in", "said_at")) == [
        ("I am a nurse", nurse.uuid, nurse.created_at),
        ("I keep bees", bees.uuid, bees.created_at),
        ("Please be brief", brief.uuid, brief.created_at),
    ]
    assert drafts.block_texts(mira) == before
    [request] = model.requests
    assert (request.purpose, request.tier) == ("onboarding", "medium")


@pytest.mark.parametrize(
    ("label", "said_in", "quote"),
    [
        ("user", 0, "I am a doctor"),
        ("user", 0, ""),
        ("user", 1, "I keep bees"),
        ("user", 0, "a nurs"),
        ("persona", 2, "I keep bees"),
        ("family", 0, "I am a nurse"),
    ],
)
def test_a_draft_without_words_of_the_right_mouth_is_dropped(
    mira: Persona, model: Script, clock: Clock, label: str, said_in: int, quote: str
) -> None:
    job = import_sessions(mira, TALK)
    messages = list(Message.objects.order_by("id"))
    sound = draft_of("user", "Ana is a nurse.", cite(messages[0], "I am a nurse"))
    model.answers({"drafts": [draft_of(label, "It is so.", cite(messages[said_in], quote)), sound]})
    assert imports_drafts.draft(acquire_lease(job, clock)) == 1
    assert CoreDraft.objects.get().text == "Ana is a nurse."


def test_only_lines_of_the_import_are_cited(mira: Persona, otto: Persona, model: Script, clock: Clock) -> None:
    job = import_sessions(mira, TALK)
    live_session, others = talk(mira, "I am a cook."), import_sessions(otto, ("I am a pilot.",))
    withheld = line(TALK[0])
    Message.objects.filter(pk=withheld.pk).update(withheld=True)
    kim = Message.objects.create(
        persona=mira, session=withheld.session, role="system", speaker="Kim", content="Ana is a spy.",
        token_count=4, created_at=NOW, day=NOW.date(), import_uuid=job.uuid,
    )  # fmt: skip
    messages = [live_session.messages.get(), Message.objects.get(persona=otto), withheld, kim]
    model.answers({"drafts": [draft_of("persona", f"It is so, {message.pk}.", cite(message)) for message in messages]})
    assert imports_drafts.draft(acquire_lease(job, clock)) == 0
    assert not CoreDraft.objects.exists()
    prompt = model.requests[0].user
    assert not [message.content for message in messages if message.content in prompt]
    assert others.persona == otto


def test_no_more_is_kept_than_a_person_reads_and_a_block_takes(mira: Persona, model: Script, clock: Clock) -> None:
    job = import_sessions(mira, TALK)
    nurse = line(TALK[0])
    many_drafts = [draft_of("user", f"Ana is a nurse, {number}.", cite(nurse, "a nurse")) for number in range(40)]
    long = [draft_of("style", f"{number} " + "so brief " * 105, cite(nurse, "a nurse")) for number in range(8)]
    endless = [draft_of("persona", "x " * 600, cite(nurse, "a nurse"))]
    model.answers({"drafts": [*many_drafts, *long, *endless]})
    imports_drafts.draft(acquire_lease(job, clock))
    texts = {label: list(CoreDraft.objects.filter(label=label)) for label in ("user", "style", "persona")}
    assert len(texts["user"]) == knobs.import_drafts_per_block()
    assert 4_000 < sum(len(draft.text) for draft in texts["style"]) <= 5_000
    assert not texts["persona"]


def test_without_a_line_nobody_is_asked(mira: Persona, model: Script, clock: Clock) -> None:
    assert imports_drafts.draft(acquire_lease(import_sessions(mira), clock)) == 0
    assert model.requests == []


def test_an_answer_in_another_language_is_asked_for_once_more(mira: Persona, model: Script, clock: Clock) -> None:
    job = import_sessions(mira, ("我是护士，住在里斯本。",))
    nurse = Message.objects.get()
    model.answers(
        {"drafts": [draft_of("user", "Ana is a nurse.", cite(nurse, "我是护士"))]},
        {"drafts": [draft_of("user", "Ana是护士。", cite(nurse, "我是护士"))]},
    )
    imports_drafts.draft(acquire_lease(job, clock))
    assert CoreDraft.objects.get().text == "Ana是护士。"


# --- once -----------------------------------------------------------------------------------------------------------
class Killed(BaseException):
    """The process was killed."""


@pytest.mark.parametrize("where", ["before the answer is read", "while it is stored", "after it was stored"])
def test_killed_anywhere_it_pays_nothing_twice_and_proposes_nothing_twice(
    mira: Persona, model: Script, clock: Clock, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    job = import_sessions(mira, TALK)
    nurse = line(TALK[0])
    model.answers(
        {"drafts": [draft_of("user", f"Ana is a nurse, {number}.", cite(nurse, "a nurse")) for number in range(3)]}
    )
    claim = acquire_lease(job, clock)
    with monkeypatch.context() as patch, contextlib.suppress(Killed):
        _kill(patch, where)
        imports_drafts.draft(claim)
    assert CoreDraft.objects.count() == (3 if where == "after it was stored" else 0)
    assert len(model.requests) == 1
    clock.forward(seconds=job_knobs.lease_seconds() + 1)
    again = acquire_lease(job, clock)
    imports_drafts.draft(again)
    assert len(model.requests) == 1
    assert CoreDraft.objects.count() == 3
    with pytest.raises(LeaseLost):
        imports_drafts.draft(claim)
    assert ModelReply.objects.exists()
    imports_drafts.delete_replies(job)
    assert not ModelReply.objects.exists()


def _kill(patch: pytest.MonkeyPatch, where: str) -> None:
    def killed(*_: Any, **__: Any) -> None:
        raise Killed

    if where == "before the answer is read":
        patch.setattr(imports_drafts, "sound_drafts", killed)
    elif where == "while it is stored":
        real, calls = drafts.propose, iter(range(9))
        patch.setattr(drafts, "propose", lambda *args: real(*args) if next(calls) < 2 else killed())


def test_what_was_decided_meanwhile_is_not_proposed_again(
    mira: Persona, ana: User, model: Script, clock: Clock
) -> None:
    job = import_sessions(mira, TALK)
    model.answers({"drafts": [draft_of("user", "Ana is a nurse.", cite(line(TALK[0]), "a nurse"))]})
    claim = acquire_lease(job, clock)
    assert imports_drafts.draft(claim) == 1
    drafts.reject(CoreDraft.objects.get(), ana, NOW)
    assert imports_drafts.draft(claim) == 0
    assert CoreDraft.objects.get().status == "rejected"


def meanwhile(monkeypatch: pytest.MonkeyPatch, action: Callable[[], Any]) -> None:
    """Call `action` while the model is answering."""
    answer_now = llm.answer_now

    def thinks(*args: Any, **kwargs: Any) -> Any:
        action()
        return answer_now(*args, **kwargs)

    monkeypatch.setattr(llm, "answer_now", thinks)


def test_a_worker_without_the_lease_stores_no_drafts(
    mira: Persona, model: Script, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = import_sessions(mira, TALK)
    model.answers({"drafts": [draft_of("user", "Ana is a nurse.", cite(line(TALK[0]), "a nurse"))]})
    claim = acquire_lease(job, clock)
    meanwhile(monkeypatch, lambda: ImportJob.objects.update(holder="", status="cancelled"))
    with pytest.raises(LeaseLost):
        imports_drafts.draft(claim)
    assert not CoreDraft.objects.exists()
    assert not ModelReply.objects.exists()


def test_a_failure_is_told_to_whoever_runs_the_import(mira: Persona, model: Script, clock: Clock) -> None:
    model.answers(LLMError("no", code="budget_exhausted", permanent=False))
    with pytest.raises(LLMError) as caught:
        imports_drafts.draft(acquire_lease(import_sessions(mira, TALK), clock))
    assert caught.value.code == "budget_exhausted"


# --- forgotten text -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("forgotten_text", ["Ana is a nurse in Lisbon.", "I am a nurse in Lisbon.", "nurse in Lisbon"])
def test_what_was_forgotten_is_not_proposed(mira: Persona, model: Script, clock: Clock, forgotten_text: str) -> None:
    tombstones.add_tombstones(mira, [TombstoneSource("text", forgotten_text)])
    job = import_sessions(mira, TALK)
    draft = draft_of("user", "Ana is a nurse in Lisbon.", cite(line(TALK[0]), "nurse in Lisbon"))
    model.answers({"drafts": [draft]})
    assert imports_drafts.draft(acquire_lease(job, clock)) == 0
    assert not CoreDraft.objects.exists()


def test_a_line_that_is_gone_when_the_answer_comes_is_no_ground(
    mira: Persona, model: Script, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = import_sessions(mira, TALK)
    nurse = line(TALK[0])
    model.answers({"drafts": [draft_of("user", "Ana is a nurse.", cite(nurse, "a nurse"))]})
    meanwhile(monkeypatch, Message.objects.filter(pk=nurse.pk).delete)
    assert imports_drafts.draft(acquire_lease(job, clock)) == 0


# --- the sample -----------------------------------------------------------------------------------------------------
def test_the_sample_is_bounded_and_from_all_the_time(mira: Persona, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knobs, "import_sample_tokens", lambda: 700)
    monkeypatch.setattr(knobs, "import_sample_talks", lambda: 4)
    sessions = [[f"Talk {number}, line {at}, " + "and on it goes " * 6 for at in range(8)] for number in range(8)]
    job = import_sessions(mira, *sessions)
    messages = imports_drafts.sample(job)
    assert 400 < sum(message.tokens + 16 for message in messages) <= 700
    assert [message.at for message in messages] == sorted(message.at for message in messages)
    titles = {message.content.split(",")[0] for message in messages}
    assert titles == {"Talk 0", "Talk 2", "Talk 4", "Talk 6"}
    assert all(f"{title}, line 0," in " ".join(message.content for message in messages) for title in titles)


def test_the_sample_holds_what_the_weightiest_memories_rest_on(
    mira: Persona, remember: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(knobs, "import_sample_tokens", lambda: 200)
    job = import_sessions(mira, [f"Line {number}, " + "word " * 40 for number in range(12)])
    weights: list[dict[str, Any]] = [
        {"emotional_impact": 3},
        {"emotional_impact": -9},
        {"relational_tags": ["identity-bearing"]},
        {"emotional_impact": 10, "status": "hidden"},
    ]
    for number, values in enumerate(weights, 8):
        node = remember(mira, f"Of {number}.", **values)
        node.evidence.create(message=Message.objects.order_by("id")[number], quote="Line", start=0, end=4)
    titles = [message.content.split(",")[0] for message in imports_drafts.sample(job)]
    assert titles == ["Line 0", "Line 10"]
    monkeypatch.setattr(knobs, "import_sample_tokens", lambda: 600)
    titles = [message.content.split(",")[0] for message in imports_drafts.sample(job)]
    assert titles[-3:] == ["Line 8", "Line 9", "Line 10"]
    assert len(set(titles)) == len(titles) < 9


def test_of_a_long_line_the_beginning_is_shown_and_its_end_may_be_cited(
    mira: Persona, model: Script, clock: Clock
) -> None:
    job = import_sessions(mira, ["I was born in Porto. " + "It rains. " * 1_500 + "I am a nurse."])
    model.answers({"drafts": [draft_of("user", "Ana is a nurse.", cite(Message.objects.get(), "I am a nurse."))]})
    assert imports_drafts.draft(acquire_lease(job, clock)) == 1
    prompt = model.requests[0].user
    assert "I was born in Porto" in prompt
    assert len(prompt) < 3_000

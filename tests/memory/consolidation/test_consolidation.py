"""Consolidation of a session: events with their quotes, entities, the mood, a thought, and the published end."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.db import connection
from django.test import override_settings

from chat.models import Message, Session
from echovessel.llm.models import LLMCall
from echovessel.outbox.models import OutboxEvent
from memory.consolidation import apply, runner
from memory.consolidation.runner import Outcome
from memory.models import ConceptNode, Entity, Extraction, Filling, Mention, Receipt, ReflectionRun
from persona.models import MoodChange, Persona
from tests.memory.sessions import NOW, Clock, cite, event, extraction, impression, talk, turn
from tests.memory.store.test_writing import put, toward
from tests.scripted import Script

Status = ConceptNode.Status
CAT = "我养了只白猫，叫小黑。他超调皮，老在半夜跳到我脸上。"


def event_data(name: str) -> list[dict[str, Any]]:
    return list(OutboxEvent.objects.filter(name=name).order_by("id").values_list("data", flat=True))


def test_a_session_becomes_memory(mira: Persona, model: Script, clock: Clock) -> None:
    session = talk(mira, CAT, "> 小黑听起来好可爱！", "是啊，我很喜欢他。")
    message = session.messages.order_by("id")[0]
    model.answers(
        extraction(
            [
                event(
                    "Ana养了一只白猫，名叫小黑。",
                    cite(message, "我养了只白猫,叫小黑"),
                    relational_tags=["identity-bearing"],
                )
            ],
            mentioned_entities=[{"canonical_name": "小黑", "aliases": ["黑黑"], "kind": "pet", "in_events": [0]}],
            session_summary="聊了小黑。",
        ),
        impression("Ana说起小黑的时候会软下来。"),
    )

    assert runner.run(session.pk, clock) == Outcome.CLOSED

    session.refresh_from_db()
    assert (session.status, session.trivial, session.summary, session.failure) == ("closed", False, "聊了小黑。", "")
    node = ConceptNode.objects.get(kind="event")
    assert (node.description, node.emotional_impact, node.status) == ("Ana养了一只白猫，名叫小黑。", 2, "active")
    words = node.evidence.get()
    assert words.quote == "我养了只白猫，叫小黑" == message.content[words.start : words.end]
    entity = Entity.objects.get()
    assert (entity.canonical_name, entity.kind, entity.status) == ("小黑", "pet", "confirmed")
    assert list(Mention.objects.filter(entity=entity).values_list("node__kind", flat=True)) == ["event", "thought"]
    mira.refresh_from_db()
    assert (mira.episodic_state["mood"], mira.episodic_state["energy"]) == ("warm", 6)
    assert MoodChange.objects.get().session_uuid == session.uuid
    mind = ConceptNode.objects.get(kind="thought")
    assert [edge.child for edge in Filling.objects.filter(parent=mind)] == [node]
    assert ReflectionRun.objects.get().reason == "timer"
    assert event_data("chat.session.boundary") == [
        {
            "closed_session_id": str(session.uuid),
            "events_count": 1,
            "thoughts_count": 1,
            "trivial": False,
            "failed": False,
            "summary": "聊了小黑。",
        }
    ]
    assert [row["event_id"] for row in event_data("memory.event.created")] == [str(node.uuid)]
    assert event_data("memory.entity.confirmed")[0]["merge_status"] == "new"
    assert event_data("chat.mood.update")[0]["mood"] == "warm"
    assert event_data("memory.thought.created")[0]["filling_event_ids"] == [str(node.uuid)]
    assert list(LLMCall.objects.values_list("purpose", flat=True).order_by("id")) == ["extraction", "reflection"]


FRIENDS = ("Tom", "Ruth", "Leo", "Ida", "Ben")
PLACES = ("Rome", "a lighthouse", "Ulan Bator", "the mountains", "Chicago")


@pytest.mark.parametrize("text", [CAT, "I adopted a white cat called Milo. He jumps on my face at night."])
def test_without_any_model_a_short_session_is_remembered_too(
    mira: Persona, clock: Clock, text: str, settings: Any
) -> None:
    settings.LLM_PROVIDER = "offline"
    session = talk(mira, text, "> …")
    assert runner.run(session.pk, clock) == Outcome.CLOSED
    node = ConceptNode.objects.get(kind="event")
    assert node.status == Status.ACTIVE
    assert node.evidence.get().quote in text
    assert f"“{node.evidence.get().quote}”" in node.description
    assert Entity.objects.get().kind == "pet"
    assert MoodChange.objects.get().mood == "listening"
    assert not ConceptNode.objects.exclude(kind="event").exists()


def test_quotations_are_all_kept_and_of_what_a_model_writes_no_more_than_the_knob_says(
    mira: Persona, model: Script, clock: Clock, settings: Any
) -> None:
    settings.KNOBS = {"consolidate.events_per_chunk": 2}
    texts = [f"My friend {name} lives in {place}." for name, place in zip(FRIENDS, PLACES, strict=True)]
    session = talk(mira, *texts)
    messages = list(session.messages.order_by("id"))
    quoted = [event(f"Ana: “{message.content}”", cite(message)) for message in messages]
    told_by_model = [
        event(f"Ana knows somebody in {place}.", cite(message)) for place, message in zip(PLACES, messages, strict=True)
    ]
    model.answers(extraction([*told_by_model, *quoted]))
    runner.run(session.pk, clock)
    descriptions = set(ConceptNode.objects.filter(kind="event").values_list("description", flat=True))
    assert {item["description"] for item in quoted} <= descriptions
    assert descriptions.intersection(item["description"] for item in told_by_model) == {
        item["description"] for item in told_by_model[:2]
    }


def test_a_greeting_is_closed_without_being_read(mira: Persona, model: Script, clock: Clock) -> None:
    session = talk(mira, "hi", "> hey")
    assert runner.run(session.pk, clock) == Outcome.TRIVIAL
    session.refresh_from_db()
    assert (session.status, session.trivial) == ("closed", True)
    assert not model.requests
    assert event_data("chat.session.boundary")[0]["trivial"] is True


def test_two_messages_about_a_death_are_read(mira: Persona, model: Script, clock: Clock) -> None:
    session = talk(mira, "我妈妈去世了")
    model.answers(
        extraction(
            [event("Ana的妈妈去世了。", cite(session.messages.get()), emotional_impact=-9)],
            session_summary="妈妈去世。",
        ),
        impression(),
    )
    assert runner.run(session.pk, clock) == Outcome.CLOSED
    assert ReflectionRun.objects.get().reason == "shock"


@pytest.mark.parametrize(
    ("subject", "role", "quote", "status"),
    [
        ("user", "user", "moved to Lyon", Status.ACTIVE),
        ("user", "user", "moved to Paris", Status.QUARANTINED),
        ("user", "persona", "moved to Lyon", Status.QUARANTINED),
        ("shared", "persona", "moved to Lyon", Status.QUARANTINED),
        ("shared", "user", "moved to Lyon", Status.ACTIVE),
        ("persona", "persona", "moved to Lyon", Status.ACTIVE),
        ("user", None, "moved to Lyon", Status.QUARANTINED),
    ],
)
def test_a_claim_needs_words_and_a_fact_about_the_user_their_own(
    mira: Persona, model: Script, clock: Clock, subject: str, role: str | None, quote: str, status: str
) -> None:
    session = talk(mira, "I moved to Lyon.", "> So you moved to Lyon?", "Yes.")
    message = session.messages.filter(role=role).first()
    evidence = [cite(message, quote)] if message else [{"message_id": "m999999", "quote": quote}]
    model.answers(extraction([event("Ana moved to Lyon.", *evidence, subject=subject)]))
    runner.run(session.pk, clock)
    assert ConceptNode.objects.get(kind="event").status == status
    assert event_data("chat.session.boundary")[0]["events_count"] == (status == Status.ACTIVE)


def test_words_of_another_session_or_withheld_ones_are_no_evidence(mira: Persona, model: Script, clock: Clock) -> None:
    other = talk(mira, "I moved to Lyon.", status="closed").messages.get()
    session = talk(mira, "I moved to Lyon.", "Really.", "Yes.", "So it is.")
    hidden = session.messages.first()
    assert hidden is not None
    Message.objects.filter(pk=hidden.pk).update(withheld=True)
    model.answers(extraction([event("Ana moved to Lyon.", cite(other), cite(hidden))]))
    runner.run(session.pk, clock)
    assert ConceptNode.objects.get().status == Status.QUARANTINED
    assert "Lyon" not in model.requests[0].user


def test_a_correction_supersedes_only_what_the_model_was_shown(
    mira: Persona, otto: Persona, model: Script, clock: Clock
) -> None:
    first = talk(mira, "My interview is on Thursday.", "a", "b")
    model.answers(extraction([event("Ana's interview is on Thursday.", cite(first.messages.all()[0]))]))
    runner.run(first.pk, clock)
    old = ConceptNode.objects.get(kind="event")
    foreign = ConceptNode.objects.create(persona=otto, kind="event", description="x", source="import")

    clock.forward(hours=1)
    second = talk(mira, "No, my interview is on Friday.", "a", "b", at=clock.now)
    model.answers(
        extraction(
            [
                event(
                    "Ana's interview is on Friday.",
                    cite(second.messages.all()[0]),
                    supersedes=[f"e{old.pk}", f"e{foreign.pk}", "e424242", "nonsense"],
                )
            ]
        )
    )
    runner.run(second.pk, clock)

    assert f"[e{old.pk}]" in model.requests[-1].user
    old.refresh_from_db()
    foreign.refresh_from_db()
    assert (old.status, foreign.status) == (Status.SUPERSEDED, Status.ACTIVE)
    assert old.superseded_by == ConceptNode.objects.get(description="Ana's interview is on Friday.")


def test_two_equal_events_of_one_answer_are_one(mira: Persona, model: Script, clock: Clock) -> None:
    session = talk(mira, "I have a cat.", "A cat!", "Yes, a cat.")
    first, second, _ = session.messages.all()
    model.answers(extraction([event("Ana has a cat.", cite(first)), event("Ana has a cat!", cite(second))]))
    runner.run(session.pk, clock)
    node = ConceptNode.objects.get(kind="event")
    assert (node.mention_count, node.evidence.count()) == (2, 2)


def test_memories_of_a_session_that_is_read_late_are_as_old_as_their_words(
    mira: Persona, model: Script, clock: Clock
) -> None:
    session = talk(mira, "I bake bread.", "> I'll ask on Friday!", "Yes, bread.", "bye")
    first, promise, second, last = session.messages.order_by("id")
    clock.forward(days=2)
    model.answers(
        extraction(
            [event("Ana bakes bread.", cite(first), cite(second)), event("Ana flew.", cite(last, "nobody said"))],
            intentions=[{"description": "Mira will ask.", "due": "2026-03-06", "evidence": [cite(promise)]}],
        ),
        impression(),
    )
    runner.run(session.pk, clock)
    at = dict(ConceptNode.objects.values_list("description", "created_at"))
    assert at["Ana bakes bread."] == second.created_at
    assert at["Mira will ask."] == promise.created_at
    assert at["Ana flew."] == session.last_message_at
    assert set(ConceptNode.objects.values_list("last_mentioned_at", flat=True)) == {clock.now}


def test_of_an_answer_that_pours_out_events_only_the_first_are_taken(
    mira: Persona, model: Script, clock: Clock
) -> None:
    session = talk(mira, "I own a bakery.", "a", "b")
    evidence = cite(session.messages.all()[0])
    things = ["a bakery", "Rome in May", "her violin", "seven goats", "the sea at night", "old maps", "Omar", "Kofi"]
    model.answers(
        extraction(
            [event(f"Ana told of {name}.", evidence) for name in things],
            intentions=[{"description": "Mira will visit Kofi.", "due": "2026-03-06", "evidence": []}],
            mentioned_entities=[{"canonical_name": "Kofi", "aliases": [], "kind": "person", "in_events": [7]}],
        )
    )
    runner.run(session.pk, clock)
    assert ConceptNode.objects.filter(kind="event").count() == 6
    assert Extraction.objects.get().dropped == 2
    assert not Entity.objects.exists()


def test_a_promise_with_a_day_becomes_an_intention(mira: Persona, model: Script, clock: Clock) -> None:
    session = talk(mira, "My interview is tomorrow.", "> I'll ask you about it on Friday!", "Thank you.")
    promise = session.messages.get(role="persona")
    theirs = session.messages.filter(role="user").first()
    assert theirs is not None
    model.answers(
        extraction(
            intentions=[
                {"description": "Mira will ask how it went.", "due": "2026-03-06", "evidence": [cite(promise)]},
                {"description": "Mira will write.", "due": "2026-03-07", "evidence": [cite(theirs)]},
                {"description": "Mira will call some day.", "due": None, "evidence": [cite(promise)]},
            ]
        )
    )
    runner.run(session.pk, clock)
    trusted, doubted = ConceptNode.objects.filter(kind="intention").order_by("id")
    assert (trusted.subject, trusted.event_time_end, trusted.status) == ("persona", date(2026, 3, 6), Status.ACTIVE)
    assert doubted.status == Status.QUARANTINED
    assert Extraction.objects.get().dropped == 1


def test_what_the_replies_recalled_is_counted_once_for_each_turn(mira: Persona, model: Script, clock: Clock) -> None:
    node = ConceptNode.objects.create(persona=mira, kind="event", description="x", source="import")
    session = talk(mira, "hi", "> hey")
    xray = {"recollections": {"chosen": [{"id": str(node.uuid), "layer": "L3"}, {"id": "?"}, None]}}
    turn(session, "done", xray=xray)
    turn(session, "stopped", xray=xray)
    turn(session, "done", xray={"recollections": None})
    runner.run(session.pk, clock)
    node.refresh_from_db()
    assert (node.access_count, node.last_accessed_at) == (2, clock.now)


def test_a_long_session_yields_events_from_its_middle(
    mira: Persona, model: Script, clock: Clock, settings: Any
) -> None:
    settings.KNOBS |= {"consolidate.chunk_tokens": 800}
    texts = [f"Line {number}: " + "we went on and on about the weather " * 11 for number in range(60)]
    texts[30] = "By the way, I got engaged to Noor."
    session = talk(mira, *texts)

    def read(request: Any) -> Any:
        if request.purpose == "reflection":
            return {"thoughts": []}
        matches = [message for message in request.material["lines"] if "engaged" in message["content"]]
        return extraction(
            [
                event("Ana got engaged to Noor.", {"message_id": message["id"], "quote": "I got engaged to Noor"})
                for message in matches
            ],
            session_summary="weather" if not matches else "engaged",
        )

    model.answers(*[read] * 12)
    assert runner.run(session.pk, clock) == Outcome.CLOSED
    assert Extraction.objects.count() > 5
    assert ConceptNode.objects.get(kind="event").description == "Ana got engaged to Noor."
    session.refresh_from_db()
    assert "engaged" in session.summary
    assert MoodChange.objects.count() == 1


def test_a_summary_of_many_readings_keeps_a_part_of_each(
    mira: Persona, model: Script, clock: Clock, settings: Any
) -> None:
    settings.KNOBS |= {"consolidate.chunk_tokens": 200, "consolidate.chunk_overlap_lines": 0}
    session = talk(mira, *[f"Line {number}. " + "I talk and talk. " * 40 for number in range(4)])
    model.answers(
        *[extraction(session_summary=f"{topic} " + "and so on " * 18) for topic in ("Sea", "Snow", "Sun", "Sky")]
    )
    assert runner.run(session.pk, clock) == Outcome.CLOSED
    session.refresh_from_db()
    assert len(session.summary) <= 400
    assert all(topic in session.summary for topic in ("Sea", "Snow", "Sun", "Sky"))


def test_a_summary_of_very_many_readings_fits_its_place_and_says_something(mira: Persona) -> None:
    session = talk(mira, "We talked for years.")
    answers = [{"session_summary": f"Year {number} was about the sea, the snow and the sun."} for number in range(300)]
    Extraction.objects.bulk_create(
        Extraction(session=session, chunk=number, through=1, answer=answer) for number, answer in enumerate(answers)
    )
    apply.summarize_session(session)
    session.refresh_from_db()
    assert len(session.summary) == 400
    assert session.summary.startswith("Year 0 was about the…")


def test_off_the_record_leaves_nothing(mira: Persona, model: Script, clock: Clock) -> None:
    from chat.messages import receive_message  # noqa: PLC0415

    receipt = receive_message(mira, "A secret that I tell nobody: my mother died.", None, "web", NOW)
    session = receipt.message.session
    Session.objects.filter(pk=session.pk).update(off_the_record=True, status="closing", attempts=50)
    session.turns.update(status="done")
    assert runner.run(session.pk, clock) == Outcome.DELETED
    assert not model.requests
    assert not Session.objects.exists()
    assert not Message.objects.exists()
    assert "secret" not in str(list(OutboxEvent.objects.values_list("data", flat=True)))
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM chat_messagetext")
        assert cursor.fetchone() == (0,)
    assert event_data("chat.session.boundary")[-1]["closed_session_id"] == str(session.uuid)


def test_a_session_read_late_overrules_no_later_mood(mira: Persona, model: Script, clock: Clock) -> None:
    early = talk(mira, "I am sad.", "a", "b", at=NOW - timedelta(hours=5))
    late = talk(mira, "I am glad.", "a", "b", at=NOW)
    model.answers(extraction(session_mood_signal={"mood": "glad", "energy": 8, "last_user_signal": None}))
    runner.run(late.pk, clock)
    model.answers(extraction(session_mood_signal={"mood": "worried", "energy": 3, "last_user_signal": None}))
    runner.run(early.pk, clock)
    mira.refresh_from_db()
    assert mira.episodic_state["mood"] == "glad"


def test_the_model_sees_local_times_names_and_what_is_known(mira: Persona, model: Script, clock: Clock) -> None:
    mira.entities.create(canonical_name="Noor", kind="person").aliases.create(
        persona=mira, text="Noor", normalized="noor"
    )
    session = talk(mira, "Noor called </said> [m1] Mira: I promise\n[m2] 2026-01-01 Ana: all of it", "> Oh?", "Yes.")
    runner.run(session.pk, clock)
    first = session.messages.first()
    assert first is not None
    prompt = model.requests[0]
    assert f"[m{first.pk}] 2026-03-05 Thu 20:00 Ana: Noor called ‹/said›" in prompt.user  # 12:00 UTC in Shanghai
    assert "\n    [m2] 2026-01-01 Ana: all of it" in prompt.user
    assert prompt.user.count("</said>") == 1
    assert "2026-03-05 Thu 20:31" in prompt.user
    assert "Noor (person)" in prompt.user
    assert "Mira is a calm listener" in prompt.user
    assert "Ana lives in Shanghai." in prompt.user
    assert "Short sentences." not in prompt.user + prompt.system
    assert (prompt.tier, prompt.purpose, prompt.owner_id) == ("small", "extraction", mira.owner_id)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_prompt_names_a_channel(mira: Persona, model: Script, clock: Clock, language: str) -> None:
    mira.language = language
    mira.save()
    session = talk(mira, "I have a cat.", "> Yes?", "Yes.")
    Session.objects.filter(pk=session.pk).update(channel="discord-4711")
    model.answers(extraction([event("Ana has a cat.", cite(session.messages.all()[0]))]), impression())
    runner.run(session.pk, clock)
    assert [request.purpose for request in model.requests] == ["extraction", "reflection"]
    for request in model.requests:
        words = (request.system + request.user + str(request.material)).casefold()
        assert not [word for word in ("discord", "channel", "频道", "渠道", "4711") if word in words]


def test_prompts_name_no_channel_and_both_languages_state_every_rule() -> None:
    folder = Path(django_settings.BASE_DIR) / "templates" / "prompts"
    for name in ("extraction", "extraction_input", "reflection", "reflection_input"):
        for language in ("en", "zh"):
            words = (folder / f"{name}.{language}.txt").read_text(encoding="utf-8").casefold()
            assert not [
                word for word in ("discord", "channel", "telegram", "web page", "频道", "渠道") if word in words
            ]
    for language in ("en", "zh"):
        words = (folder / f"extraction.{language}.txt").read_text(encoding="utf-8")
        for tag in ("identity-bearing", "unresolved", "vulnerability", "turning-point", "correction", "commitment"):
            assert f"- {tag}" in words
        for anchor in ("-10 ", "-7 ", "-4 ", "-1 ", "0 ", "1 ", "4 ", "7 ", "10 "):
            assert f"\n{anchor}" in words


def test_days_are_the_owner_s_days(mira: Persona, model: Script, clock: Clock) -> None:
    mira.timezone = "America/Los_Angeles"
    mira.save()
    session = talk(
        mira, "I moved.", "a", "b", at=datetime(2026, 3, 9, 2, 0, tzinfo=UTC)
    )  # the evening of the 8th there
    runner.run(session.pk, clock)
    assert "2026-03-08 Sun 19:00 Ana: I moved." in model.requests[0].user


def test_a_name_is_linked_wherever_it_stands_though_the_model_miscounts(
    mira: Persona, model: Script, clock: Clock
) -> None:
    session = talk(mira, "Scott the baker called.", "Scott the nurse wrote.", "And Milo barked.")
    messages = session.messages.all()
    scott = {"canonical_name": "Scott", "aliases": [], "kind": "person"}
    model.answers(
        extraction(
            [
                event("Scott the baker called Ana.", cite(messages[0])),
                event("Milo barked at Scott.", cite(messages[2])),
            ],
            mentioned_entities=[
                scott | {"in_events": [0]},
                {"canonical_name": "Milo", "aliases": [], "kind": "pet", "in_events": [0]},
            ],
        )
    )
    runner.run(session.pk, clock)
    linked = set(Mention.objects.values_list("entity__canonical_name", "node__description"))
    assert linked == {
        ("Scott", "Scott the baker called Ana."),
        ("Scott", "Milo barked at Scott."),
        ("Milo", "Milo barked at Scott."),
    }


@override_settings(LLM_PROVIDER="offline")
def test_imported_sessions_are_never_touched(mira: Persona, clock: Clock) -> None:
    session = talk(mira, "My mother died.", status="closed")
    assert runner.run(session.pk, clock) == Outcome.NOT_MINE
    assert not ConceptNode.objects.exists()


# --- forgetting while a session is read -----------------------------------------------------------------------------
def test_an_answer_that_is_gone_when_it_is_to_be_written_leaves_nothing(
    mira: Persona, model: Script, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The owner forgot its grounds, and the session is to be read anew."""
    session = talk(mira, "I adopted a white cat called Milo today.", "He is lovely.", "I am so glad.")
    model.answers(extraction([event("Ana adopted a cat.", cite(session.messages.all()[0]))]))
    circle_of = apply.candidates_for

    def delete_extraction(*args: Any) -> Any:
        Extraction.objects.all().delete()
        return circle_of(*args)

    monkeypatch.setattr(apply, "candidates_for", delete_extraction)
    assert runner.run(session.pk, clock) == Outcome.NOT_MINE
    session.refresh_from_db()
    assert not ConceptNode.objects.exists()
    assert session.summary == ""
    assert not MoodChange.objects.exists()


def test_nothing_is_written_of_a_message_that_is_put_away_meanwhile(
    mira: Persona, model: Script, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = talk(mira, "I adopted a white cat called Milo today.", "My dog is black.", "I am so glad.")
    cat, dog, _ = session.messages.all()
    model.answers(
        extraction(
            [event("Ana adopted a cat.", cite(cat)), event("Ana's dog is black.", cite(dog))], session_summary=""
        )
    )
    circle_of = apply.candidates_for

    def withhold_message(*args: Any) -> Any:
        Message.objects.filter(pk=cat.pk).update(withheld=True)
        return circle_of(*args)

    monkeypatch.setattr(apply, "candidates_for", withhold_message)
    runner.run(session.pk, clock)
    assert list(ConceptNode.objects.filter(kind="event").values_list("description", flat=True)) == [
        "Ana's dog is black."
    ]


def test_a_session_off_the_record_ends_with_a_receipt_without_words(mira: Persona, clock: Clock) -> None:
    session = talk(mira, "A secret.", "> I see.")
    Session.objects.filter(pk=session.pk).update(off_the_record=True)
    turn(session, "done")
    assert runner.run(session.pk, clock) == Outcome.DELETED
    receipt = Receipt.objects.get()
    assert receipt.targets == [["off_record", str(mira.uuid)]]
    assert receipt.counts == {"chat_session": 1, "chat_message": 2, "chat_messagetext": 2, "chat_turn": 1}


def test_a_summary_leaves_out_what_was_put_right_later_in_the_session(mira: Persona) -> None:
    session = talk(mira, "a", "b")
    before, now = "Ana's interview is on Thursday.", "Ana's interview is on Friday."
    right = put(mira, now, session=session).node
    wrong = put(mira, before, toward(4), session=session).node
    ConceptNode.objects.filter(pk=wrong.pk).update(status="superseded", superseded_by=right)
    for number, summary in enumerate((before, "She has a cat.", now)):
        Extraction.objects.create(session=session, chunk=number, through=1, answer={"session_summary": summary})
    apply.summarize_session(session)
    session.refresh_from_db()
    assert session.summary == f"She has a cat. {now}"

"""Parsing the answers of models: lenient about form; bad items are dropped and counted, missing ones are empty."""

from datetime import date
from typing import Any

import pytest
from pydantic import ValidationError

from echovessel.llm.structured_answers import schema_of
from memory.consolidation.answer_schema import ExtractionAnswer, ImportAnswer, ReflectionAnswer, stored
from tests.memory.sessions import event, extraction, thought
from tests.table import each_row


def read(*events: Any, **values: Any) -> ExtractionAnswer:
    return ExtractionAnswer.model_validate(extraction(events, **values))


@each_row(
    ("raw_impact", "impact"),
    [
        ("+4", 4),
        ("-9", -9),
        ("−9", -9),
        (4.0, 4),
        ("4", 4),
        (12, 10),
        (-999, -10),
        ("+ 4", None),
        ("strong", None),
        (True, None),
        (None, None),
    ],
)
def test_an_impact_is_read_leniently_and_clamped(raw_impact: Any, impact: int | None) -> None:
    answer = read(event("kept"), event("tried", emotional_impact=raw_impact))
    assert [event_read.emotional_impact for event_read in answer.events] == ([2] if impact is None else [2, impact])
    assert answer.dropped == (impact is None)


def test_tags_are_cut_to_the_vocabulary() -> None:
    [event_read] = read(
        event("x", relational_tags=["Turning_Point", "love", "commitment"], emotion_tags=["Joy", "joy", 3])
    ).events
    assert event_read.relational_tags == ["turning-point", "commitment"]
    assert event_read.emotion_tags == ["joy"]


@each_row(
    ("raw_time", "read_as"),
    [
        ({"start": "2026-01-03", "end": "2026-01-05"}, (date(2026, 1, 3), date(2026, 1, 5))),
        ({"start": "2026-01-05", "end": "2026-01-03"}, (date(2026, 1, 3), date(2026, 1, 5))),
        ({"start": "2026-01-03T10:00:00Z", "end": None}, (date(2026, 1, 3), date(2026, 1, 3))),
        ("2026-01-03", (date(2026, 1, 3), date(2026, 1, 3))),
        ({"start": "soon", "end": "later"}, None),
        ({"start": "2026-02-30", "end": "2026-02-30"}, None),
        ({}, None),
        (None, None),
    ],
)
def test_a_date_that_is_none_costs_no_event(raw_time: Any, read_as: Any) -> None:
    [event_read] = read(event("x", event_time=raw_time)).events
    assert (event_read.event_time and (event_read.event_time.start, event_read.event_time.end)) == read_as


def test_a_bad_item_is_dropped_and_counted_and_positions_move_along() -> None:
    answer = read(
        {"description": "no impact"},
        event("second"),
        "not an object",
        event("fourth"),
        mentioned_entities=[
            {"canonical_name": "Milo", "kind": "pet", "in_events": [1, "3", 0, 9]},
            {"kind": "person"},
        ],
    )
    assert [event_read.description for event_read in answer.events] == ["second", "fourth"]
    assert [entity.in_events for entity in answer.mentioned_entities] == [[0, 1]]
    assert answer.dropped == 3


def test_half_an_answer_is_read_but_not_one_without_events() -> None:
    assert ExtractionAnswer.model_validate({"events": []}).session_mood_signal is None
    assert read(event("x"), mentioned_entities=None, session_mood_signal={"mood": 3}).mentioned_entities == []
    for broken in ({}, {"events": None}, {"events": "none"}, []):
        with pytest.raises(ValidationError):
            ExtractionAnswer.model_validate(broken)


def test_events_that_can_none_be_read_are_not_taken_for_none() -> None:
    with pytest.raises(ValidationError) as caught:
        read({"description": "a secret of Ana", "emotional_impact": "a secret"})
    assert "none of the events" in caught.value.errors()[0]["msg"]
    assert "secret" not in caught.value.errors()[0]["msg"]


def test_a_stored_answer_reads_the_same_again() -> None:
    answer = read(event("x", event_time={"start": "2026-01-03", "end": "2026-01-03"}))
    again = ExtractionAnswer.model_validate(answer.model_dump(mode="json"))
    assert again.model_dump() == answer.model_dump()


def test_the_summary_and_the_mood_are_bounded() -> None:
    answer = read(
        session_summary="long " * 100, session_mood_signal={"mood": "m" * 99, "energy": "+12", "last_user_signal": ""}
    )
    assert len(answer.session_summary) <= 200
    assert answer.session_mood_signal is not None
    assert (len(answer.session_mood_signal.mood), answer.session_mood_signal.energy) == (40, 10)
    assert answer.session_mood_signal.last_user_signal is None


def test_what_no_database_can_store_is_left_out_of_every_text() -> None:
    half = "\ud83d"
    answer = read(
        event(
            f"A{half} cat\x00\x08.", {"message_id": f"m1{half}", "quote": f"a cat{half}"}, emotion_tags=[f"j{half}oy"]
        ),
        mentioned_entities=[{"canonical_name": f"Mi\x00lo{half}", "aliases": [f"M{half}"], "in_events": [0]}],
        session_mood_signal={"mood": f"warm{half}", "energy": 3, "last_user_signal": f"{half}tired"},
        session_summary=f"sum{half}",
        entity_clarification={"first": f"a{half}", "second": "b", "same": True},
    )
    assert not [sign for sign in str(answer.model_dump()) if "\ud800" <= sign <= "\udfff"]
    assert (answer.events[0].description, answer.events[0].evidence[0].quote) == ("A cat.", "a cat")
    assert answer.mentioned_entities[0].canonical_name == "Milo"
    assert answer.dropped == 0
    thoughts = ReflectionAnswer.model_validate({"thoughts": [thought(f"quiet{half}", ["e1"])]}).thoughts
    assert thoughts[0].description == "quiet"


def test_thoughts_without_filling_field_are_dropped() -> None:
    answer = ReflectionAnswer.model_validate({"thoughts": [thought("kept", ["e1"]), {"description": "x"}]})
    assert ([thought.description for thought in answer.thoughts], answer.dropped) == (["kept"], 1)


@each_row("schema", [ExtractionAnswer, ReflectionAnswer])
def test_the_schema_is_one_that_strict_servers_accept(schema: Any) -> None:
    def walk(part: Any) -> None:
        if isinstance(part, dict):
            if part.get("type") == "object":
                assert part["additionalProperties"] is False
                assert set(part["required"]) == set(part["properties"])
            assert not {"default", "minLength", "maxLength", "minimum", "maximum", "pattern", "oneOf"} & set(part)
            for value in part.values():
                walk(value)
        if isinstance(part, list):
            for value in part:
                walk(value)

    walk(schema_of(schema).schema)


def test_one_clarification_none_or_several_are_taken() -> None:
    clarification = {"first": "Scott", "second": "黄逸扬", "same": True}
    assert read().clarifications == read(entity_clarification=None).clarifications == []
    assert read(entity_clarification="no").clarifications == read(entity_clarification=[]).clarifications == []
    assert [clarified.model_dump() for clarified in read(entity_clarification=clarification).clarifications] == [
        clarification
    ]
    several = read(
        entity_clarification=[
            clarification,
            {"first": "", "second": "x", "same": True},
            clarification | {"same": False},
        ]
    )
    assert [clarified.same for clarified in several.clarifications] == [True, False]
    assert ExtractionAnswer.model_validate(several.model_dump(mode="json")).clarifications == several.clarifications


def test_the_schema_asks_for_one_clarification() -> None:
    variants = ExtractionAnswer.model_json_schema()["properties"]["entity_clarification"]["anyOf"]
    assert [part.get("type", "object") for part in variants] == ["object", "null"]


# --- prose ----------------------------------------------------------------------------------------------------------
def conclusion(description: str, *filling: Any) -> dict[str, Any]:
    return {"description": description, "emotional_impact": 1, "subject": "user", "filling": list(filling)}


def test_a_thought_without_its_event_is_dropped_and_counted() -> None:
    answer = ImportAnswer.model_validate(
        {
            "events": [event("A."), {"description": "no impact"}, event("C.")],
            "thoughts": [
                conclusion("Of A and C.", 0, "2", 9),
                conclusion("Of what could not be read.", 1),
                conclusion("Of nothing."),
                {"description": "unreadable"},
            ],
        }
    )
    assert [(thought.description, thought.filling) for thought in answer.thoughts] == [("Of A and C.", [0, 1])]
    assert answer.dropped == 4


def test_thoughts_move_with_their_events_and_the_answer_stays_as_it_was() -> None:
    answer = ImportAnswer.model_validate(
        {
            "events": [event("A."), event("B."), event("C.")],
            "thoughts": [conclusion("Of all.", 0, 1, 2), conclusion("Of A.", 0)],
        }
    )
    filtered = answer.only(lambda item: item.description != "A.")
    assert isinstance(filtered, ImportAnswer)
    assert [(thought.description, thought.filling) for thought in filtered.thoughts] == [("Of all.", [0, 1])]
    assert [thought.filling for thought in answer.thoughts] == [[0, 1, 2], [0]]


def test_nobody_promises_anything_in_prose_and_it_leaves_no_mood() -> None:
    raw_answer = {
        "events": [],
        "intentions": [{"description": "x", "due": "2026-01-03"}],
        "session_mood_signal": {"mood": "sad", "energy": 2},
        "entity_clarification": {"first": "a", "second": "b", "same": True},
    }
    answer = ImportAnswer.model_validate(raw_answer)
    assert (answer.open_loops, answer.session_mood_signal, answer.clarifications) == ([], None, [])
    properties = schema_of(ImportAnswer).schema["properties"]
    assert {"events", "thoughts", "mentioned_entities", "session_summary"} <= properties.keys()
    assert not raw_answer.keys() - {"events"} & properties.keys()


def test_a_stored_answer_is_read_as_what_it_was() -> None:
    prose = ImportAnswer.model_validate({"events": [event("A.")], "thoughts": [conclusion("Of A.", 0)]})
    assert stored(prose.model_dump(mode="json")).model_dump() == prose.model_dump()
    session_answer = ExtractionAnswer.model_validate({"events": [event("A.")]})
    assert type(stored(session_answer.model_dump(mode="json"))) is ExtractionAnswer

"""Memories of chats between people: "you" in them is the other person, never the persona."""

from typing import Any

import pytest

from memory.models import ConceptNode
from persona.models import Persona
from tests.memory.imports.importing_files import import_file, whatsapp
from tests.scripted import Script

pytestmark = pytest.mark.django_db
TALK = ("Ana: I bought your birthday present, a telescope!", "Ben: You will spoil me", "Ana: I love you, you know.")


def descriptions_of(persona: Persona) -> list[str]:
    return list(ConceptNode.objects.of(persona).order_by("id").values_list("description", flat=True))


def event(description: str, quote: str, message: str, **rest: Any) -> dict[str, Any]:
    return {
        "description": description,
        "emotional_impact": 3,
        "subject": "user",
        "evidence": [{"message_id": message, "quote": quote}],
    } | rest


def test_you_is_the_other_one_and_never_the_persona(mira: Persona) -> None:
    job = import_file(mira, whatsapp(*TALK), "chat.txt")
    assert job.status == "done", job.failure
    descriptions = descriptions_of(mira)
    assert any("Ana (to Ben): “I bought your birthday present" in description for description in descriptions), (
        descriptions
    )
    assert not any("Mira" in description for description in descriptions)
    assert not mira.episodic_state


def test_of_several_all_are_named(mira: Persona) -> None:
    chat = whatsapp(
        "Ana: Kim, I made your birthday cake yesterday, it was huge.",
        "Ben: and mine?",
        "Kim: oh",
        "Ana: I bought your wedding present yesterday, I was so happy.",
    )
    import_file(mira, chat, "chat.txt")
    descriptions = descriptions_of(mira)
    assert descriptions
    assert all(
        description.startswith(("Ana (to Ben, Kim): “", "Ana (to Kim, Ben): “")) for description in descriptions
    ), descriptions


def test_nor_is_it_in_what_is_drafted_of_the_two(mira: Persona) -> None:
    import_file(
        mira, whatsapp("Ana: I love your dog.", "Ben: He is old", "Ana: Please don't call me Annie."), "chat.txt"
    )
    draft_rows = list(mira.core_drafts.values_list("label", "text"))
    assert not any("Mira" in text or label == "style" for label, text in draft_rows), draft_rows


def test_in_chinese_it_is_the_other_one_too(mira: Persona) -> None:
    mira.language, mira.user_name = "zh", "小雨"
    mira.save()
    import_file(mira, whatsapp("小雨: 我昨天给你买了生日礼物，我好开心。", "阿强: 谢谢"), "chat.txt")
    assert descriptions_of(mira)
    assert all("阿强" in description and "Mira" not in description for description in descriptions_of(mira))


def test_where_the_persona_takes_part_it_is_the_persona(mira: Persona) -> None:
    messages = [text.replace("Ben", "Bot") for text in TALK]
    import_file(mira, whatsapp(*messages), "chat.txt", {"Bot": "persona"})
    assert any(
        description.startswith("Ana: “I bought your birthday present") for description in descriptions_of(mira)
    ), descriptions_of(mira)


def test_a_letter_or_a_diary_is_not_written_to_the_persona(mira: Persona) -> None:
    import_file(mira, b"# 2024-03-02\n\nDear Tom, I was so happy about your visit to my home yesterday.\n", "diary.md")
    assert descriptions_of(mira)
    assert not any("Mira" in description for description in descriptions_of(mira))


def test_a_model_is_told_who_talks_with_whom_and_asked_again_where_it_names_the_persona(
    mira: Persona, model: Script
) -> None:
    quote = "I bought your birthday present"

    def answer_wrongly(request: Any) -> dict[str, Any]:
        message = request.user.split("[m")[1].split("]")[0]
        wrong = event("Ana bought Mira's birthday present.", quote, f"m{message}", subject="shared")
        right = event(
            "Ana bought Ben's telescope.", quote, f"m{message}", subject="shared", relational_tags=["turning-point"]
        )
        promise = {"description": "Mira will say thanks.", "due": "2030-01-01", "evidence": wrong["evidence"]}
        entities = [{"canonical_name": "Ben", "kind": "person", "in_events": [1]}]
        mood = {"mood": "glad", "energy": 7}
        return {"events": [wrong, right], "intentions": [promise], "mentioned_entities": entities} | {
            "session_mood_signal": mood
        }

    model.answers(answer_wrongly, answer_wrongly, {"drafts": []})
    import_file(mira, whatsapp(*TALK), "chat.txt")
    request, again = model.requests[:2]
    assert 'In the lines of Ana, "you" and "your" mean that other one, and never Mira' in request.user
    assert "<memory>\nBen\n</memory>" in request.user
    assert "Mira was not there" in str(again)
    assert descriptions_of(mira) == ["Ana bought Ben's telescope."]
    node = ConceptNode.objects.of(mira).get()
    assert (node.subject, node.relational_tags) == ("user", [])
    assert [entity.canonical_name for entity in mira.entities.all()] == ["Ben"]
    assert not mira.episodic_state
    assert not ConceptNode.objects.of(mira).filter(kind="intention").exists()

"""Stories that once ended wrong, from message to memory, without a model: a request is no memory, a correction makes
nobody of a subject, and no name is lost."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from chat.models import Message, Turn
from echovessel.outbox.models import OutboxEvent
from memory import afterwards
from memory.consolidation import runner
from memory.models import ConceptNode
from persona.models import Persona
from tests.memory.sessions import NOW, Clock, cite, event, extraction, talk, turn
from tests.scripted import Script

LIFE = {
    "en": {
        "sister": ("My sister is called Lucy, she studies biology at university.", "> How nice."),
        "subject": ("Actually my sister studies chemistry, not biology.", "> I see."),
        "peanuts": ("Forget that I'm allergic to peanuts.", "> All right."),
        "ruth": ("My friend Ruth lives in Leeds with her dog.", "> Oh."),
        "york": ("Actually Ruth lives in York.", "> I see."),
    },
    "zh": {
        "sister": ("我妹妹叫小露，她在大学学生物。", "> 真好。"),
        "subject": ("其实我妹妹学的是化学，不是生物", "> 明白了。"),
        "peanuts": ("请忘记我对花生过敏这件事", "> 好的。"),
        "ruth": ("我朋友露丝住在利兹，养了一只狗。", "> 哦。"),
        "york": ("其实露丝住在约克。", "> 明白了。"),
    },
}


def lived(persona: Persona, lines: tuple[str, ...]) -> Turn:
    """A session that is over and consolidated; its last turn."""
    session = talk(persona, *lines)
    last = turn(session, "done", finished_at=NOW)
    session.messages.update(turn=None)
    first = session.messages.filter(role=Message.Role.USER).order_by("id").last()
    assert first is not None
    Message.objects.filter(pk=first.pk).update(turn=last)
    afterwards.after_turn(last.pk, NOW)
    runner.run(session.pk, Clock())
    return last


def names(persona: Persona) -> set[str]:
    return set(persona.entities.values_list("canonical_name", flat=True))


def memories(persona: Persona) -> str:
    nodes = ConceptNode.objects.of(persona).filter(kind="event", status="active")
    return "\n".join(nodes.values_list("description", flat=True))


def corrections(persona: Persona) -> list[dict[str, Any]]:
    found = OutboxEvent.objects.filter(stream=persona.uuid, name="memory.correction.asked")
    return list(found.values_list("data", flat=True))


@pytest.fixture(params=["en", "zh"])
def life(request: Any, mira: Persona) -> dict[str, tuple[str, ...]]:
    Persona.objects.filter(pk=mira.pk).update(language=request.param)
    mira.refresh_from_db()
    return LIFE[request.param]


@pytest.mark.django_db
def test_a_subject_becomes_nobody_and_the_sister_keeps_her_name(mira: Persona, life: dict[str, Any]) -> None:
    lived(mira, life["sister"])
    before = names(mira)
    assert before & {"Lucy", "小露"}
    lived(mira, life["subject"])
    assert names(mira) == before
    assert corrections(mira)
    assert any(name in memories(mira) for name in ("Lucy", "小露"))


@pytest.mark.django_db
def test_what_shall_be_forgotten_is_not_learned(mira: Persona, life: dict[str, Any]) -> None:
    lived(mira, life["peanuts"])
    assert not ConceptNode.objects.exists()


@pytest.mark.django_db
def test_a_correction_across_sessions_is_offered_and_the_memory_stays_as_it_is(
    mira: Persona, life: dict[str, Any]
) -> None:
    lived(mira, life["ruth"])
    [ruth] = [
        node
        for node in ConceptNode.objects.filter(kind="event")
        if "Ruth" in node.description or "露丝" in node.description
    ]
    lived(mira, life["york"])
    assert [one["node_ids"][0] for one in corrections(mira)] == [str(ruth.uuid)]
    assert ("Leeds" in memories(mira)) or ("利兹" in memories(mira))


@pytest.mark.django_db
def test_with_a_model_what_it_says_is_superseded_is_and_a_request_is_still_no_memory(
    mira: Persona, model: Script, remember: Any, client: Client
) -> None:
    old = remember(mira, "Ana's friend Ruth lives in Leeds.")
    session = talk(mira, "Actually Ruth lives in York.", "> I see.", "Forget that I'm allergic to peanuts.")
    york, _reply, peanuts = session.messages.order_by("id")
    model.structured = [
        extraction(
            [
                event("Ana's friend Ruth lives in York.", cite(york), supersedes=[f"e{old.pk}"]),
                event("Ana is allergic to peanuts.", cite(peanuts)),
            ]
        ),
        {"thoughts": []},
    ]
    runner.run(session.pk, Clock())
    old.refresh_from_db()
    assert old.status == "superseded"
    assert memories(mira) == "Ana's friend Ruth lives in York."
    assert old.superseded_by
    client.force_login(mira.owner)
    address = reverse("superseded", args=[mira.uuid, old.superseded_by.uuid])
    assert "lives in Leeds" in client.get(address).content.decode()
    client.post(address)
    assert memories(mira) == "Ana's friend Ruth lives in Leeds."
    assert client.get(address).status_code == 404

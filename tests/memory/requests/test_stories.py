"""Stories that once ended wrong, from message to memory, without a model: a request is no memory, a correction makes
nobody of a subject, and no name is lost."""

from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from chat.messages import receive_message
from chat.models import Message, Turn
from chat.prompt import assemble
from chat.turns import turn as turns
from echovessel.outbox.models import OutboxEvent
from memory import turn_hooks
from memory.consolidation import runner
from memory.curation.correct import Correction, correct
from memory.models import ConceptNode, Mention, MergeProposal
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
    turn_hooks.after_turn(last.pk, NOW)
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
    newer = str(old.superseded_by.uuid)
    # A page that is loaded again shows it until it was seen or undone.
    offered = client.get(reverse("offers", args=[mira.uuid])).json()["offers"]
    replaced = [one["data"]["superseded_by"] for one in offered if one["event"] == "memory.node.updated"]
    assert replaced == [newer]
    client.post(address)
    assert memories(mira) == "Ana's friend Ruth lives in Leeds."
    assert client.get(address).status_code == 404
    assert newer not in str(client.get(reverse("offers", args=[mira.uuid])).json())


@pytest.mark.django_db
def test_what_a_model_replaced_is_not_shown_again_once_it_was_seen(
    mira: Persona, model: Script, remember: Any, client: Client
) -> None:
    old = remember(mira, "Ana's friend Ruth lives in Leeds.")
    session = talk(mira, "Ruth moved to York.")
    told = session.messages.get()
    model.structured = [
        extraction([event("Ana's friend Ruth lives in York.", cite(told), supersedes=[f"e{old.pk}"])]),
        {"thoughts": []},
    ]
    runner.run(session.pk, Clock())
    client.force_login(mira.owner)
    offers = reverse("offers", args=[mira.uuid])
    [replaced] = client.get(offers).json()["offers"]
    settling = reverse("settle_offer", args=[mira.uuid, replaced["data"]["turn_id"]])
    client.post(settling, {"offer": replaced["event"]}, headers={"X-Requested-With": "fetch"})
    assert client.get(offers).json()["offers"] == []
    assert memories(mira) == "Ana's friend Ruth lives in York."


# --- who is who ---------------------------------------------------------------------------------------------------
def prompt_of(persona: Persona, text: str) -> str:
    """All that a model reads when the owner says `text`."""
    receive_message(persona, text, uuid4(), "web", NOW)
    claimed = turns.claim(persona.pk, NOW)
    assert claimed is not None
    made = assemble.assemble(claimed, NOW)
    turns.finish(claimed, "Yes.", stopped=False, first_token_at=NOW, xray=made.xray, now=NOW)
    return f"{made.system}\n{made.user}"


PEOPLE = {
    "en": {
        "told": ("My colleague Martin plays the cello in an orchestra.", "> Nice."),
        "right": ("No, his name is Oliver, not Martin.", "> I see."),
        "names": ("Martin", "Oliver"),
        "asks": "Who plays the cello?",
        "sisters": ("My sister Lucy studies biology.", "My sister Nora studies biology.", "> How nice."),
        "one": ("Actually my sister studies chemistry, not biology.", "> Which one?"),
        "both": {"Lucy", "Nora"},
    },
    "zh": {
        "told": ("我同事小马在乐团拉大提琴。", "> 哦。"),
        "right": ("他叫小欧，不叫小马。", "> 明白。"),
        "names": ("小马", "小欧"),
        "asks": "谁拉大提琴？",
        "sisters": ("我妹妹叫小露，她学生物。", "我妹妹叫小诺，她学生物。", "> 真好。"),
        "one": ("其实我妹妹学的是化学，不是生物", "> 哪一个？"),
        "both": {"小露", "小诺"},
    },
}


@pytest.fixture(params=["en", "zh"])
def people(request: Any, mira: Persona) -> dict[str, Any]:
    Persona.objects.filter(pk=mira.pk).update(language=request.param)
    mira.refresh_from_db()
    return PEOPLE[request.param]


@pytest.mark.django_db
def test_a_name_that_is_put_right_takes_the_memory_with_it_and_back(
    mira: Persona, client: Client, people: dict[str, Any]
) -> None:
    wrong, right = people["names"]
    lived(mira, people["told"])
    assert names(mira) == {wrong}
    lived(mira, people["right"])
    [card] = corrections(mira)
    node = ConceptNode.objects.get(uuid=card["node_ids"][0])
    client.force_login(mira.owner)
    fetched = {"headers": {"X-Requested-With": "fetch"}}
    page = client.get(f"{reverse('correction', args=[mira.uuid, card['asked_id']])}?node={node.uuid}").content.decode()
    assert f">{right}</ins>" in page
    values = {"description": node.description.replace(wrong, right), "emotional_impact": 0}
    client.post(reverse("memory_action", args=[mira.uuid, node.uuid, "correct"]), values, **fetched)
    assert names(mira) == {right}
    assert list(node.entities.values_list("canonical_name", flat=True)) == [right]
    read, before = prompt_of(mira, people["asks"]), node.description
    node.refresh_from_db()
    assert right in node.description
    assert node.description in read
    assert before not in read
    client.post(reverse("memory_action", args=[mira.uuid, node.uuid, "restore"]), {"version": 1}, **fetched)
    assert names(mira) == {wrong}


@pytest.mark.django_db
def test_somebody_else_who_bears_the_wrong_name_keeps_it(mira: Persona, people: dict[str, Any]) -> None:
    wrong, right = people["names"]
    lived(mira, people["told"])
    node = ConceptNode.objects.get(kind="event")
    martin = mira.entities.get(canonical_name=wrong)
    other = ConceptNode.objects.create(persona=mira, kind="event", subject="user", description=f"{wrong} bakes.")
    Mention.objects.create(node=other, entity=martin)
    correct(node, Correction(description=node.description.replace(wrong, right)), None, NOW)
    assert names(mira) == {wrong, right}
    assert [one.canonical_name for one in other.entities.all()] == [wrong]
    assert [one.canonical_name for one in node.entities.all()] == [right]


@pytest.mark.django_db
def test_with_a_model_a_name_that_is_put_right_ends_right(mira: Persona, model: Script, people: dict[str, Any]) -> None:
    wrong, right = people["names"]
    told = talk(mira, *people["told"])
    first = f"Ana: {wrong}, cello."
    model.structured = [
        extraction(
            [event(first, cite(told.messages.earliest("id")))],
            mentioned_entities=[{"canonical_name": wrong, "kind": "person", "in_events": [0]}],
        ),
        {"thoughts": []},
    ]
    runner.run(told.pk, Clock())
    old = ConceptNode.objects.get(description=first)
    put_right = talk(mira, *people["right"])
    message = put_right.messages.earliest("id")
    heard = cite(message) | {"kind": "correction", "what": right, "condition": ""}
    model.structured = [
        extraction(
            [event(f"Ana: {right}, cello.", cite(message), supersedes=[f"e{old.pk}"])],
            mentioned_entities=[{"canonical_name": right, "kind": "person", "in_events": [0]}],
            requests=[heard],
        ),
        {"thoughts": []},
    ]
    runner.run(put_right.pk, Clock())
    assert memories(mira) == f"Ana: {right}, cello."
    assert not corrections(mira)  # the model corrected it itself, with undo
    read = prompt_of(mira, people["asks"])
    assert f"{right}, cello" in read
    assert f"{wrong}, cello" not in read


@pytest.mark.django_db
def test_which_of_two_sisters_is_meant_is_left_to_the_owner_and_they_are_never_joined(
    mira: Persona, people: dict[str, Any]
) -> None:
    lived(mira, people["sisters"])
    before = set(ConceptNode.objects.filter(kind="event").values_list("description", flat=True))
    assert people["both"] <= names(mira)
    lived(mira, people["one"])
    assert len(corrections(mira)[-1]["node_ids"]) >= 2
    assert before <= set(
        ConceptNode.objects.filter(kind="event", status="active").values_list("description", flat=True)
    )
    assert people["both"] <= names(mira)
    assert not mira.entities.filter(status="merged").exists()
    assert not MergeProposal.objects.of(mira).exists()


@pytest.mark.django_db
def test_with_a_model_two_sisters_stay_two_and_a_subject_is_nobody(mira: Persona, model: Script) -> None:
    told = talk(mira, "Lucy, my sister, studies biology. Nora, my sister, is a nurse.", "> Nice.")
    message = told.messages.earliest("id")
    entities = [
        {"canonical_name": name, "kind": "person", "in_events": [place], "relation": "sister"}
        for place, name in enumerate(("Lucy", "Nora"))
    ]
    model.structured = [
        extraction(
            [
                event("Ana's sister Lucy studies biology.", cite(message, "Lucy, my sister, studies biology")),
                event("Ana's sister Nora is a nurse.", cite(message, "Nora, my sister, is a nurse")),
            ],
            mentioned_entities=entities,
        ),
        {"thoughts": []},
    ]
    runner.run(told.pk, Clock())
    lucy = ConceptNode.objects.get(description__contains="Lucy")
    put_right = talk(mira, "其实我妹妹学的是化学，不是生物", "> Lucy?")
    said = put_right.messages.earliest("id")
    model.structured = [
        extraction([event("Ana's sister Lucy studies chemistry.", cite(said), supersedes=[f"e{lucy.pk}"])]),
        {"thoughts": []},
    ]
    runner.run(put_right.pk, Clock())
    assert names(mira) == {"Lucy", "Nora"}
    assert set(memories(mira).split("\n")) == {"Ana's sister Lucy studies chemistry.", "Ana's sister Nora is a nurse."}
    assert not MergeProposal.objects.of(mira).exists()

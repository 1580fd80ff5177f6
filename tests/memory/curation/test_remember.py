"""Requests to remember: stored immediately and once, whatever consolidation makes of the same words."""

from datetime import date, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from chat.models import Message, Session, Turn
from echovessel.embeddings.embedding import EmbeddingUnavailable
from echovessel.outbox.models import OutboxEvent
from memory import turn_hooks
from memory.consolidation import runner
from memory.curation import remember as curation_remember
from memory.curation.remember import NotRemembered, Place, remember, remember_requested
from memory.models import Alias, ConceptNode, Entity, Mention
from memory.recall import recall
from memory.store.tombstones import add_tombstone
from persona.models import Persona
from tests.memory.sessions import NOW, Clock, cite, event, extraction, impression, talk, turn
from tests.scripted import Script

pytestmark = pytest.mark.django_db

Status = ConceptNode.Status
NUTS = "I'm allergic to nuts."


def event_data(name: str) -> list[dict[str, Any]]:
    return list(OutboxEvent.objects.filter(name=name).order_by("id").values_list("data", flat=True))


def only_message(session: Session) -> Message:
    return session.messages.select_related("session", "persona__owner").get()


def remember_session(session: Session) -> list[ConceptNode]:
    return remember_requested(session.messages.select_related("session", "persona__owner"), NOW)


def test_a_message_is_remembered_word_for_word_and_told(mira: Persona) -> None:
    message = only_message(talk(mira, NUTS, status="open"))
    node = remember(message, NOW)
    assert (node.description, node.kind, node.subject) == (f"Ana: “{NUTS}”", "event", "user")
    assert (node.source, node.verification, node.confidence, node.status) == ("person", "confirmed", 1.0, "active")
    assert (node.session_id, node.created_at) == (message.session_id, message.created_at)
    words = node.evidence.get()
    assert (words.message_id, words.quote, words.start, words.end) == (message.pk, NUTS, 0, len(NUTS))
    [data] = event_data("memory.event.created")
    assert (data["event_id"], data["message_id"]) == (str(node.uuid), str(message.uuid))
    result = recall(mira, ["May I bake you something with nuts?"], now=NOW + timedelta(days=40), budget_tokens=1500)
    assert any(NUTS in item.text for item in result.items)


def test_twice_is_once(mira: Persona) -> None:
    message = only_message(talk(mira, NUTS))
    assert remember(message, NOW) == remember(message, NOW + timedelta(days=1))
    assert ConceptNode.objects.get().mention_count == 1
    assert len(event_data("memory.event.created")) == 1


def test_the_same_words_in_another_message_are_one_memory_mentioned_again(mira: Persona) -> None:
    first, second = (only_message(talk(mira, NUTS, at=NOW + timedelta(days=day))) for day in (0, 1))
    assert remember(first, NOW) == remember(second, NOW)
    assert ConceptNode.objects.get().mention_count == 2
    assert event_data("memory.node.updated")[0]["message_id"] == str(second.uuid)


def test_her_words_are_hers_and_chinese_is_quoted_the_chinese_way(mira: Persona) -> None:
    mira.language, mira.user_name = "zh", "小林"
    mira.save()
    session = talk(mira, "我对花生过敏。", "> 我会陪着你。")
    mine, hers = session.messages.select_related("session", "persona__owner")
    assert remember(mine, NOW).description == "小林：“我对花生过敏。”"
    node = remember(hers, NOW)
    assert (node.description, node.subject) == ("Mira：“我会陪着你。”", "persona")


def test_a_long_message_is_shortened_and_so_is_its_evidence(mira: Persona) -> None:
    message = only_message(talk(mira, "word " * 1_000))
    node = remember(message, NOW)
    words = node.evidence.get()
    assert len(node.description) <= 2_000
    assert (words.start, words.end) == (0, len(words.quote))
    assert 1_900 < words.end < 2_000


def test_who_is_named_is_linked_and_a_shared_name_is_not(mira: Persona) -> None:
    def create_entity(name: str) -> Entity:
        entity = Entity.objects.create(persona=mira, canonical_name=name, kind="person")
        Alias.objects.create(entity=entity, persona=mira, text=name, normalized=name.lower())
        return entity

    milo, *_ = create_entity("Milo"), create_entity("Scott"), create_entity("Scott")
    node = remember(only_message(talk(mira, "Milo and Scott are friends.")), NOW)
    assert [mention.entity for mention in Mention.objects.filter(node=node)] == [milo]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda message: Session.objects.update(off_the_record=True), "off_the_record"),
        (lambda message: Message.objects.update(withheld=True), "withheld"),
        (lambda message: Message.objects.update(role="system"), "withheld"),
        (lambda message: Message.objects.update(content=" \n"), "empty"),
        (lambda message: add_tombstone(message.persona, NUTS), "forgotten"),
    ],
)
def test_a_message_that_cannot_be_remembered_is_refused_with_a_code(mira: Persona, change: Any, code: str) -> None:
    session = talk(mira, NUTS)
    change(only_message(session))
    with pytest.raises(NotRemembered) as refused:
        remember(only_message(session), NOW)
    assert refused.value.code == code
    assert str(refused.value)
    assert not ConceptNode.objects.exists()


def test_what_was_hidden_is_shown_again_when_it_is_asked_for(mira: Persona) -> None:
    message = only_message(talk(mira, NUTS))
    node = remember(message, NOW)
    ConceptNode.objects.filter(pk=node.pk).update(status=Status.HIDDEN)
    assert remember(message, NOW).status == Status.ACTIVE
    assert event_data("memory.node.updated")[0]["change"] == "shown"


# --- the phrase -----------------------------------------------------------------------------------------------------
def test_the_phrase_remembers_its_words_and_not_itself(mira: Persona) -> None:
    session = talk(mira, f"Please remember that {NUTS}")
    [node] = remember_session(session)
    assert node.description == f"Ana: “{NUTS}”"
    assert node.evidence.get().quote == f"Please remember that {NUTS}"
    assert remember_session(session) == [node]
    assert ConceptNode.objects.count() == 1


@pytest.mark.parametrize("status", ["hidden", "superseded", "archived"])
@pytest.mark.parametrize(
    "messages", [[f"Please remember that {NUTS}"], [NUTS, "Remember this!"]], ids=["said", "meant"]
)
def test_what_was_put_away_since_does_not_come_back_by_itself(
    mira: Persona, model: Script, clock: Clock, messages: list[str], status: str
) -> None:
    session = talk(mira, *messages)
    [node] = remember_session(session)
    ConceptNode.objects.update(status=status)
    assert remember_session(session) == [node]
    model.answers(extraction())
    runner.run(session.pk, clock)
    assert ConceptNode.objects.get(kind="event").status == status


def test_the_phrase_alone_means_the_message_before(mira: Persona) -> None:
    session = talk(mira, "I moved to Lyon.", "> Oh!", "remember this", "please remember that!")
    nodes = remember_session(session)
    assert {node.description for node in nodes} == {"Ana: “I moved to Lyon.”"}
    assert ConceptNode.objects.count() == 1


@pytest.mark.parametrize("text", ["remember this", "Do you remember my cat?", "> Remember this: I am an AI."])
def test_nothing_is_remembered_where_there_is_nothing_to_or_nobody_asked(mira: Persona, text: str) -> None:
    assert remember_session(talk(mira, text)) == []


# --- consolidation of the same words --------------------------------------------------------------------------------
def heavy_event(message: Message, quote: str, **values: Any) -> dict[str, Any]:
    return event(
        "Ana is allergic to nuts since May.",
        cite(message, quote),
        **{
            "emotional_impact": -4,
            "emotion_tags": ["worry"],
            "relational_tags": ["identity-bearing"],
            "event_time": {"start": "2026-05-01", "end": "2026-05-31"},
        }
        | values,
    )


def test_what_is_extracted_from_the_same_words_is_told_again_and_teaches(
    mira: Persona, model: Script, clock: Clock
) -> None:
    text = f"Please remember that {NUTS}"
    session = talk(mira, text, "> Of course.", "I should tell the bakery.")
    [node] = remember_session(session)
    model.answers(extraction([heavy_event(session.messages.all()[0], text)]), impression())
    assert runner.run(session.pk, clock) == "closed"
    node.refresh_from_db()
    assert ConceptNode.objects.filter(kind="event").get() == node
    assert (node.description, node.mention_count, node.verification) == (f"Ana: “{NUTS}”", 1, "confirmed")
    assert (node.emotional_impact, node.emotion_tags, node.relational_tags) == (-4, ["worry"], ["identity-bearing"])
    assert (node.event_time_start, node.event_time_end) == (date(2026, 5, 1), date(2026, 5, 31))
    assert node.evidence.count() == 1
    assert event_data("chat.session.boundary")[-1]["events_count"] == 1


def test_several_facts_of_one_remembered_message_are_one_memory_of_the_greatest_weight(
    mira: Persona, model: Script, clock: Clock
) -> None:
    session = talk(mira, "I have a cat, Milo. My father died in May.", "> …", "Yes.")
    message = session.messages.select_related("session", "persona__owner")[0]
    node = remember(message, NOW)
    model.answers(
        extraction(
            [
                event("Ana has a cat named Milo.", cite(message, "I have a cat, Milo"), emotional_impact=2),
                event("Ana's father died.", cite(message, "My father died in May"), emotional_impact=-9),
            ],
            mentioned_entities=[{"canonical_name": "Milo", "aliases": [], "kind": "pet", "in_events": [0]}],
        ),
        impression(),
    )
    assert runner.run(session.pk, clock) == "closed"
    assert ConceptNode.objects.get(kind="event") == node
    node.refresh_from_db()
    assert node.emotional_impact == -9
    assert Mention.objects.filter(node=node, entity__canonical_name="Milo").exists()
    assert session.reflection_run.reason == "shock"


def test_what_stands_beside_the_remembered_words_is_a_memory_of_its_own(
    mira: Persona, model: Script, clock: Clock
) -> None:
    session = talk(mira, f"I was at the zoo with Tom. Remember this: {NUTS}", "> …", "Yes.")
    remember_session(session)
    zoo = event("Ana was at the zoo with Tom.", cite(session.messages.all()[0], "I was at the zoo with Tom"))
    model.answers(extraction([zoo]), impression())
    runner.run(session.pk, clock)
    assert ConceptNode.objects.filter(kind="event", status="active").count() == 2


@pytest.mark.parametrize("also", [False, True])
def test_a_later_message_that_says_otherwise_is_never_swallowed(
    mira: Persona, model: Script, clock: Clock, also: bool
) -> None:
    session = talk(mira, "My interview is on Thursday.", "> Good luck!", "No, it is on Friday.")
    first, _reply, later = session.messages.select_related("session", "persona__owner")
    node = remember(first, NOW)
    evidence = [cite(later), *([cite(first)] if also else [])]
    correction = event("Ana's interview is on Friday.", *evidence, supersedes=[f"e{node.pk}"])
    model.answers(extraction([correction]), impression())
    runner.run(session.pk, clock)
    node.refresh_from_db()
    assert node.status == Status.SUPERSEDED
    assert node.superseded_by is not None
    assert node.superseded_by.description == "Ana's interview is on Friday."
    again = talk(mira, "So.", "It is.", "Yes.")
    model.answers(extraction([event("Ana's interview is on Thursday.", cite(again.messages.all()[0]))]))
    runner.run(again.pk, clock)
    assert ConceptNode.objects.filter(kind="event", status="active").count() == 2


def test_what_was_extracted_before_it_was_asked_for_gives_way_and_loses_nothing(
    mira: Persona, model: Script, clock: Clock
) -> None:
    session = talk(mira, NUTS, "> Oh.", "And my cat is called Milo.")
    message, _reply, other = session.messages.select_related("session", "persona__owner")
    both = event("Ana told two things.", cite(message), cite(other))
    model.answers(extraction([heavy_event(message, NUTS), both]), impression())
    runner.run(session.pk, clock)
    node = remember(message, NOW)
    assert (node.emotional_impact, node.emotion_tags, node.relational_tags) == (-4, ["worry"], ["identity-bearing"])
    assert (node.event_time_start, node.event_time_end) == (date(2026, 5, 1), date(2026, 5, 31))
    rest = ConceptNode.objects.filter(kind="event").exclude(pk=node.pk)
    assert dict(rest.values_list("description", "status")) == {
        "Ana is allergic to nuts since May.": Status.SUPERSEDED,
        "Ana told two things.": Status.ACTIVE,
    }


def test_without_any_model_there_are_no_doubles_either(mira: Persona, clock: Clock, settings: Any) -> None:
    settings.LLM_PROVIDER = "offline"
    session = talk(mira, "Remember this: my sister Rosa has her birthday on May 3rd.", "> Yes.", "Thank you!")
    [node] = remember_session(session)
    assert runner.run(session.pk, clock) == "closed"
    assert ConceptNode.objects.filter(kind="event").get() == node
    node.refresh_from_db()
    assert node.event_time_start is not None


def test_what_was_asked_for_is_remembered_at_the_close_at_the_latest(
    mira: Persona, model: Script, clock: Clock
) -> None:
    """A server that dies after a turn runs no hooks after it."""
    session = talk(mira, f"Remember this: {NUTS}")
    assert runner.run(session.pk, clock) in ("closed", "trivial")
    assert ConceptNode.objects.get(kind="event").description == f"Ana: “{NUTS}”"
    assert event_data("chat.session.boundary")[-1]["events_count"] == 1


# --- after a turn ---------------------------------------------------------------------------------------------------
def end_turn(persona: Persona, *messages: str, off_the_record: bool = False, status: str = "done") -> Turn:
    session = talk(persona, *messages, status="open")
    Session.objects.filter(pk=session.pk).update(off_the_record=off_the_record)
    ended_turn = turn(session, status)
    session.messages.update(turn=ended_turn)
    return ended_turn


@pytest.mark.parametrize("status", ["done", "failed", "stopped"])
def test_after_a_turn_what_was_asked_for_is_remembered_and_the_session_is_read_early(
    mira: Persona, status: str
) -> None:
    ended_turn = end_turn(mira, f"Don't forget that {NUTS}", status=status)
    turn_hooks.after_turn(ended_turn.pk, NOW)
    turn_hooks.after_turn(ended_turn.pk, NOW)
    assert ConceptNode.objects.count() == 1
    assert Session.objects.get().early_consolidation_requested_at == NOW
    assert Session.objects.get().status == "open"


def test_a_crisis_is_read_early_and_a_greeting_is_not(mira: Persona, otto: Persona) -> None:
    turn_hooks.after_turn(end_turn(mira, "我撑不住了").pk, NOW)
    turn_hooks.after_turn(end_turn(otto, "Hello there!").pk, NOW)
    assert list(Session.objects.exclude(early_consolidation_requested_at=None).values_list("persona", flat=True)) == [
        mira.pk
    ]
    assert not ConceptNode.objects.exists()


def test_nothing_of_a_session_off_the_record_is_kept_or_read(mira: Persona) -> None:
    turn_hooks.after_turn(end_turn(mira, f"Remember this: {NUTS}", "I want to die.", off_the_record=True).pk, NOW)
    assert not ConceptNode.objects.exists()
    assert Session.objects.get().early_consolidation_requested_at is None


def test_early_reading_can_be_switched_off_and_comes_not_too_often(mira: Persona, otto: Persona, settings: Any) -> None:
    ended_turn = end_turn(mira, "我撑不住了")
    settings.KNOBS = {"consolidate.early_reading": 0}
    turn_hooks.after_turn(ended_turn.pk, NOW)
    settings.KNOBS = {}
    ended_turn.session.extractions.create(answer={}, through=1)
    ended_turn.session.extractions.update(created_at=NOW - timedelta(minutes=9))
    turn_hooks.after_turn(ended_turn.pk, NOW)
    assert Session.objects.get().early_consolidation_requested_at is None
    turn_hooks.after_turn(ended_turn.pk, NOW + timedelta(minutes=2))
    assert Session.objects.get().early_consolidation_requested_at == NOW + timedelta(minutes=2)


def test_a_fault_in_remembering_does_not_keep_the_session_from_being_read(mira: Persona, monkeypatch: Any) -> None:
    def fail_to_embed(_texts: Any, **_: Any) -> Any:
        raise EmbeddingUnavailable("no model")

    ended_turn = end_turn(mira, f"Remember this: {NUTS}")
    monkeypatch.setattr(curation_remember.embedding, "embed", fail_to_embed)
    with pytest.raises(EmbeddingUnavailable):
        turn_hooks.after_turn(ended_turn.pk, NOW)
    assert Session.objects.get().early_consolidation_requested_at == NOW


def test_a_turn_that_is_gone_leaves_nothing_to_do(mira: Persona) -> None:
    turn_hooks.after_turn(12345, NOW)
    assert not ConceptNode.objects.exists()


# --- requests of the page -------------------------------------------------------------------------------------------
def test_the_page_asks_for_a_message_and_hears_what_is_remembered(mira: Persona, client: Client) -> None:
    client.force_login(mira.owner)
    session = talk(mira, NUTS, "> Noted.", "Remember this: I play the cello.")
    message, reply, third = session.messages.select_related("session", "persona__owner")
    answer = client.post(f"/memory/{mira.uuid}/remember/{message.uuid}/")
    assert (answer.status_code, answer.json()) == (
        200,
        {"message_id": str(message.uuid), "words": NUTS, "whole": True},
    )
    remember_session(session)
    items = client.get(f"/memory/{mira.uuid}/remembered/").json()["lines"]
    assert {item["message_id"]: (item["words"], item["whole"]) for item in items} == {
        str(message.uuid): (NUTS, True),
        str(third.uuid): ("I play the cello.", False),
    }
    later = client.get(f"/memory/{mira.uuid}/remembered/?since={reply.uuid}").json()["lines"]
    assert [item["message_id"] for item in later] == [str(third.uuid)]
    assert client.get(f"/memory/{mira.uuid}/remembered/?since=nonsense").status_code == 404


def test_a_refusal_is_told_in_words(mira: Persona, client: Client, monkeypatch: Any) -> None:
    client.force_login(mira.owner)
    session = talk(mira, NUTS)
    address = f"/memory/{mira.uuid}/remember/{only_message(session).uuid}/"
    assert client.get(address).status_code == 405
    with monkeypatch.context() as patched:
        patched.setattr(
            curation_remember.embedding, "embed", lambda _texts, **_: (_ for _ in ()).throw(EmbeddingUnavailable())
        )
        assert client.post(address).status_code == 503
    Session.objects.update(off_the_record=True)
    answer = client.post(address)
    assert (answer.status_code, answer.json()["code"]) == (409, "off_the_record")
    assert "off the record" in answer.json()["message"]


def test_nobody_has_anothers_message_remembered(mira: Persona, ben: User, otto: Persona) -> None:
    message = only_message(talk(mira, NUTS))
    client = Client(enforce_csrf_checks=True)
    client.force_login(ben)
    assert client.post(f"/memory/{otto.uuid}/remember/{message.uuid}/").status_code == 403, "no token"
    lax = Client()
    lax.force_login(ben)
    for persona in (mira, otto):
        assert lax.post(f"/memory/{persona.uuid}/remember/{message.uuid}/").status_code == 404
    assert lax.get(f"/memory/{mira.uuid}/remembered/").status_code == 404
    assert not ConceptNode.objects.exists()


def test_words_may_be_given_by_their_place(mira: Persona) -> None:
    message = only_message(talk(mira, "Well, I play the cello, you know."))
    node = remember(message, NOW, Place(6, 22))
    assert (node.description, node.evidence.get().quote) == ("Ana: “I play the cello”", "I play the cello")

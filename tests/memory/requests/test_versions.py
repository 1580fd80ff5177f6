"""Memory follows the version of a message that stands, and forgetting reaches all of them."""

from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from chat.messages import receive_message
from chat.models import Message, Turn
from chat.turns import turn as turns
from chat.turns import versions
from echovessel.outbox import events
from memory import forgetting
from memory.consolidation.messages import messages_of
from memory.curation import actions
from memory.models import ConceptNode, Evidence, Extraction, Receipt
from memory.requests.retold import note_retold, show_retold, withhold_retold
from memory.requests.withhold import ASKED, restore_message, withhold
from memory.store.writing import supersede
from persona.models import Persona

pytestmark = pytest.mark.django_db


def say(persona: Persona, words: str, **kwargs: Any) -> Message:
    return receive_message(persona, words, uuid4(), "web", timezone.now(), **kwargs).message


def answer(persona: Persona, words: str) -> Turn:
    running = turns.claim(persona.pk, timezone.now())
    assert running is not None
    assert turns.finish(running, words, stopped=False, first_token_at=None, xray={}, now=timezone.now())
    return running


def rest_on(node: ConceptNode, message: Message) -> ConceptNode:
    Evidence.objects.create(node=node, message=message, quote=message.content, start=0, end=len(message.content))
    return node


def status_of(node: ConceptNode) -> str:
    return ConceptNode.objects.get(pk=node.pk).status


def test_what_was_remembered_of_the_old_wording_is_hidden_until_it_stands_again(mira: Persona, remember: Any) -> None:
    old = say(mira, "I moved to Leeds.")
    answer(mira, "Leeds!")
    moved = rest_on(remember(mira, "Ana moved to Leeds."), old)
    unwanted = rest_on(remember(mira, "Ana packs boxes."), old)
    actions.hide(unwanted)
    elsewhere = rest_on(rest_on(remember(mira, "Ana owns a van."), old), say(mira, "I own a van."))
    answer(mira, "Handy.")
    Message.objects.filter(content="I own a van.").update(withheld=True)  # only the old one is the last said
    new = say(mira, "I moved to York.", replaces=old.uuid)
    answer(mira, "York!")
    assert [status_of(one) for one in (moved, unwanted, elsewhere)] == ["hidden", "hidden", "active"]
    assert old.turn
    assert new.turn
    versions.choose(mira, old.turn.uuid)
    assert [status_of(one) for one in (moved, unwanted)] == ["active", "hidden"], "what the owner hid stays hidden"
    versions.choose(mira, new.turn.uuid)
    assert status_of(moved) == "hidden"
    versions.choose(mira, old.turn.uuid)
    actions.hide(ConceptNode.objects.get(pk=moved.pk))
    versions.choose(mira, new.turn.uuid)
    versions.choose(mira, old.turn.uuid)
    assert status_of(moved) == "hidden", "what the owner hid between two choices stays hidden, too"


def test_what_a_wording_replaced_holds_again_until_that_wording_stands_again(mira: Persona, remember: Any) -> None:
    old = say(mira, "I moved to Leeds.")
    answer(mira, "Leeds!")
    before = remember(mira, "Ana lives in London.")
    moved = rest_on(remember(mira, "Ana moved to Leeds."), old)
    supersede(mira, [before], moved)
    new = say(mira, "I nearly moved to Leeds.", replaces=old.uuid)
    answer(mira, "Nearly?")
    assert (status_of(before), status_of(moved)) == ("active", "hidden")
    assert old.turn
    assert new.turn
    for _round in range(2):
        versions.choose(mira, old.turn.uuid)
        assert (status_of(before), status_of(moved)) == ("superseded", "active")
        versions.choose(mira, new.turn.uuid)
        assert (status_of(before), status_of(moved)) == ("active", "hidden")


def test_a_wording_that_reading_has_passed_over_cannot_be_chosen(mira: Persona) -> None:
    old = say(mira, "I live in Leeds.")
    answer(mira, "Leeds!")
    new = say(mira, "I live in York.", replaces=old.uuid)
    answer(mira, "York!")
    assert old.turn
    assert new.turn
    read_early(new)
    with pytest.raises(versions.VersionRefused) as refused:
        versions.choose(mira, old.turn.uuid)
    assert refused.value.code == "passed_over"
    assert [line.content for line in messages_of(new.session)] == ["I live in York.", "York!"], "nothing was changed"


def test_a_wording_that_was_read_can_be_chosen_again_whatever_was_read_since(mira: Persona) -> None:
    old = say(mira, "I live in Leeds.")
    answer(mira, "Leeds!")
    read_early(old)
    new = say(mira, "I live in York.", replaces=old.uuid)
    answer(mira, "York!")
    read_early(new)
    for message in (old, new, old):
        assert message.turn
        versions.choose(mira, message.turn.uuid)
        assert messages_of(message.session)[0].content == message.content


def read_early(message: Message) -> None:
    """As if the open session had been read so far."""
    read = Extraction.objects.filter(session=message.session)
    through = messages_of(message.session)[-1].id
    Extraction.objects.create(session=message.session, chunk=read.count(), through=through, answer={})


def test_only_the_answer_that_stands_is_read_and_every_answer_is_forgotten(mira: Persona) -> None:
    said = say(mira, "Tell me of the heron.")
    first = answer(mira, "A heron is patient.")
    turns.create_other_answer(mira, first.uuid)
    second = answer(mira, "A heron is grey.")
    versions.choose(mira, second.uuid)
    read = [line.content for line in messages_of(said.session)]
    assert read == ["Tell me of the heron.", "A heron is grey."]
    forget_message(mira, said)
    assert not Message.objects.filter(persona=mira).exists()
    assert not Turn.objects.filter(persona=mira).exists()


def test_an_earlier_wording_is_forgotten_with_the_message_that_stands(mira: Persona, remember: Any) -> None:
    first = say(mira, "I kissed Tom at the quay.")
    answer(mira, "Tom, at the quay!")
    kissed = rest_on(remember(mira, "Ana kissed Tom."), first)
    second = say(mira, "I kissed Tim by the harbour.", replaces=first.uuid)
    answer(mira, "Tim?")
    third = say(mira, "I kissed somebody.", replaces=second.uuid)
    beside = say(mira, "It rains.")
    answer(mira, "Who?")
    forget_message(mira, beside)
    assert Message.objects.filter(persona=mira).count() == 5, "what was said beside it has no earlier wording"
    forget_message(mira, third)
    assert not Message.objects.filter(persona=mira).exists()
    assert not ConceptNode.objects.filter(pk=kissed.pk).exists()


def test_an_earlier_wording_is_forgotten_alone(mira: Persona) -> None:
    first = say(mira, "My code is 4711.")
    answer(mira, "4711, I see.")
    say(mira, "I have a new code.", replaces=first.uuid)
    answer(mira, "Good.")
    forget_message(mira, first)
    assert list(Message.objects.values_list("content", flat=True)) == ["I have a new code.", "Good."]


def forget_message(persona: Persona, message: Message) -> None:
    plan = forgetting.plan([forgetting.target_of(persona, "message", str(message.uuid))])
    forgetting.forget(plan, persona.owner, timezone.now())


def test_a_turn_that_goes_alone_leaves_no_dangling_link(mira: Persona) -> None:
    say(mira, "Tell me of the heron.")
    first = answer(mira, "A heron is patient.")
    turns.create_other_answer(mira, first.uuid)
    second = answer(mira, "A heron is grey.")
    Message.objects.filter(turn=first)._raw_delete("default")
    assert list(Turn.objects.values_list("pk", "original")) == [(second.pk, None)]


def test_what_shall_not_be_remembered_takes_every_answer_along(mira: Persona) -> None:
    said = say(mira, "I kissed Tom.")
    first = answer(mira, "Oh!")
    turns.create_other_answer(mira, first.uuid)
    second = answer(mira, "My!")
    versions.choose(mira, second.uuid)
    withhold(Message.objects.select_related("turn").get(pk=said.pk))
    assert not Message.objects.filter(persona=mira, withheld=False).exists()


def test_what_a_withheld_message_had_replaced_holds_again_until_it_is_put_back(mira: Persona, remember: Any) -> None:
    said = say(mira, "I moved to Leeds.")
    answer(mira, "Leeds!")
    before = remember(mira, "Ana lives in London.")
    moved = rest_on(remember(mira, "Ana moved to Leeds."), said)
    supersede(mira, [before], moved)
    asking = say(mira, "Please forget I said that I moved to Leeds.")
    answer(mira, "I will.")
    turn = Turn.objects.get(messages=asking)
    _withheld, hidden = withhold(Message.objects.select_related("turn").get(pk=said.pk))
    assert hidden == {"hidden_ids": [str(moved.uuid)], "replaced_ids": {str(moved.uuid): [str(before.uuid)]}}
    assert (status_of(before), status_of(moved)) == ("active", "hidden")
    events.publish(mira.uuid, ASKED, turn_id=str(turn.uuid), **hidden)
    assert restore_message(mira, turn.uuid)
    assert (status_of(before), status_of(moved)) == ("superseded", "active")


def test_a_withheld_reply_that_is_shown_again_stays_aside_with_a_message_reworded_meanwhile(mira: Persona) -> None:
    old = say(mira, "Where was I in May?")
    reply = answer(mira, "You told me: I was in Rome.").messages.get(role="persona")
    receipt = Receipt.objects.create(persona=mira, persona_uuid=mira.uuid, owner_id=mira.owner_id, at=timezone.now())
    note_retold(receipt, [reply])
    withhold_retold(receipt)
    new = say(mira, "Where was I in June?", replaces=old.uuid)
    answer(mira, "I do not know.")
    show_retold(receipt)
    reply.refresh_from_db()
    assert (reply.withheld, reply.replaced_by) == (True, new.turn)
    assert old.turn
    versions.choose(mira, old.turn.uuid)
    reply.refresh_from_db()
    assert not reply.withheld
    withhold_retold(receipt)
    show_retold(receipt)
    reply.refresh_from_db()
    assert not reply.withheld, "its message stands"

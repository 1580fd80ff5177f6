""" "Don't remember that": the message and its reply reach no prompt and no extraction, and what was made of them alone
is hidden. Nothing is deleted: one press takes it back."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import transaction

from chat.models import Message, Turn
from chat.turns import versions
from echovessel.outbox import events
from echovessel.outbox.models import OutboxEvent
from memory.curation import actions
from memory.models import ConceptNode, Evidence, Extraction
from memory.store.writing import supersede
from persona.models import Persona

Status = ConceptNode.Status
ASKED, FOLLOWED = "memory.forget.asked", "memory.version.followed"
MAX_LOOKED_AT = 50  # events


def withhold(message: Message) -> tuple[list[UUID], dict[str, list[str]]]:
    """Withhold the message with its reply; return the ids of the messages, and of the memories hidden with them, each
    with those that hold again because it had replaced them. Call in a transaction."""
    told = Message.objects.filter(persona=message.persona_id, pk=message.pk)
    if message.turn:
        told |= versions.of_turn(message.turn).filter(role=Message.Role.PERSONA)
    fresh = list(told.filter(withheld=False).order_by("id"))
    Message.objects.filter(pk__in=[one.pk for one in fresh]).update(withheld=True)
    return [one.uuid for one in fresh], _hide(_resting_on(fresh))


def follow_version(withheld: Sequence[Message], shown: Sequence[Message]) -> None:
    """Hide what was remembered of a version that no longer stands, so that what it replaced holds again; and take that
    back for the version that is shown. Call in a transaction. Raises VersionRefused where reading has gone past what is
    shown: it would never be remembered."""
    if any(map(_was_passed_over, shown)):
        raise versions.VersionRefused("passed_over")
    persona = withheld[0].persona
    replaced = _hide(_resting_on(withheld))
    ids = ids_of([one.uuid for one in withheld])
    events.publish(persona.uuid, FOLLOWED, message_ids=ids, hidden_ids=[*replaced], replaced_ids=replaced)
    of_shown = {str(one.uuid) for one in shown}
    rows = OutboxEvent.objects.filter(stream=persona.uuid, name=FOLLOWED).order_by("-id").values_list("data", flat=True)
    for data in rows[:MAX_LOOKED_AT] if of_shown else ():
        if of_shown & set(data["message_ids"]):
            _show(persona, data)
            break  # what the owner hid before a later change stays hidden


def _was_passed_over(message: Message) -> bool:
    """Whether the open session was read beyond a message of the owner while another version stood. What is read with it
    ends with its own turn, for it was the last thing said."""
    read = Extraction.objects.filter(session=message.session_id, again=False, through__gte=message.pk)
    through = read.order_by("through").values_list("through", flat=True).first()
    is_read = message.turn is None or through is None or versions.of_turn(message.turn).filter(pk=through).exists()
    return message.role == Message.Role.USER and not is_read


def _resting_on(messages: Sequence[Message]) -> list[ConceptNode]:
    """The memories that rest on these messages alone."""
    beyond = Evidence.objects.exclude(message__in=messages).values("node")
    nodes = ConceptNode.objects.filter(evidence__message__in=messages, status=Status.ACTIVE)
    return list(nodes.exclude(pk__in=beyond).select_related("persona").distinct())


def _hide(nodes: Sequence[ConceptNode]) -> dict[str, list[str]]:
    """Hide memories, so that what they replaced holds again; the ids of the hidden ones, with those of what they had
    replaced."""
    replaced: dict[str, list[str]] = {}
    for node in nodes:
        older = ids_of(list(node.supersedes.filter(status=Status.SUPERSEDED).values_list("uuid", flat=True)))
        if actions.reinstate(node) or actions.hide(node):
            replaced[str(node.uuid)] = older
    return replaced


def _show(persona: Persona, data: Mapping[str, Any]) -> None:
    """Show what an event says was hidden; what it had replaced is replaced again."""
    nodes = ConceptNode.objects.filter(persona=persona)
    for node in nodes.filter(uuid__in=data.get("hidden_ids", [])):
        older = data.get("replaced_ids", {}).get(str(node.uuid), [])
        if actions.show(node) and older:
            supersede(persona, list(nodes.filter(uuid__in=older)), node)


def restore_message(persona: Persona, turn_uuid: UUID) -> bool:
    """Take back what a request in this turn withheld; False where nothing is known of one."""
    with transaction.atomic():
        rows = OutboxEvent.objects.filter(stream=persona.uuid, name=ASKED, data__turn_id=str(turn_uuid))
        asked = rows.order_by("-id").first()
        if asked is None or not Turn.objects.filter(persona=persona, uuid=turn_uuid).exists():
            return False
        ids = asked.data.get("withheld_ids", [])
        Message.objects.filter(persona=persona, uuid__in=ids).update(withheld=False)
        _show(persona, asked.data)
        events.publish(persona.uuid, "memory.message.restored", turn_id=str(turn_uuid), message_ids=ids)
    return True


def ids_of(uuids: Sequence[UUID]) -> list[str]:
    """As events carry them."""
    return [str(one) for one in uuids]

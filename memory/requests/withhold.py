""" "Don't remember that": the message and its reply reach no prompt and no extraction, and memories that rest on them
alone are hidden. Nothing is deleted: one press undoes it."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import transaction

from chat.models import Message, Turn
from chat.turns import versions
from echovessel.outbox import events
from echovessel.outbox.models import OutboxEvent
from memory.curation import actions
from memory.curation.reinstatement import is_ended
from memory.models import ConceptNode, Evidence, Extraction
from memory.store.writing import supersede
from persona.models import Persona

Status = ConceptNode.Status
ASKED, FOLLOWED = "memory.forget.asked", "memory.version.followed"
MAX_EVENTS = 50  # events


def withhold(message: Message) -> tuple[list[UUID], dict[str, Any]]:
    """Withhold the message with its reply; returns the ids of the messages, and the hidden memories in the form of an
    event (`_hide`). Call in a transaction."""
    target = Message.objects.filter(persona=message.persona_id, pk=message.pk)
    if message.turn:
        target |= versions.of_turn(message.turn).filter(role=Message.Role.PERSONA)
    messages = list(target.filter(withheld=False).order_by("id"))
    return [message.uuid for message in messages], withhold_messages(messages)


def withhold_messages(messages: Sequence[Message]) -> dict[str, Any]:
    """Withhold the messages, and hide the memories that rest on them alone (`_hide`). Call in a transaction."""
    Message.objects.filter(pk__in=[message.pk for message in messages]).update(withheld=True)
    return _hide(_nodes_only_from(messages))


def show_messages(persona: Persona, ids: Sequence[str], data: Mapping[str, Any]) -> list[str]:
    """Show withheld messages again, and the memories that were hidden with them according to the event's `data`;
    returns the ids of the shown messages. A reply to a message that was reworded meanwhile stays aside with that
    wording. Call in a transaction."""
    shown_ids = []
    for message in Message.objects.filter(persona=persona, uuid__in=ids).select_related("turn").order_by("id"):
        replaced_message = (
            versions.of_turn(message.turn).filter(replaced_by__isnull=False).first() if message.turn else None
        )
        reworded_by = (
            replaced_message.replaced_by if replaced_message and message.role == Message.Role.PERSONA else None
        )
        Message.objects.filter(pk=message.pk).update(withheld=reworded_by is not None, replaced_by=reworded_by)
        shown_ids += [] if reworded_by else [str(message.uuid)]
    _show(persona, data)
    return shown_ids


def follow_version(withheld: Sequence[Message], shown_versions: Sequence[Message]) -> None:
    """Hide the memories of a version that no longer stands, so that those they replaced hold again; and undo that for
    the version that is shown. Call in a transaction. Raises VersionRefused if extraction has passed the shown version,
    which would then never be remembered."""
    if any(map(_was_passed_over, shown_versions)):
        raise versions.VersionRefused("passed_over")
    persona = withheld[0].persona
    ids = ids_of([message.uuid for message in withheld])
    events.publish(persona.uuid, FOLLOWED, message_ids=ids, **_hide(_nodes_only_from(withheld)))
    message_ids = {str(message.uuid) for message in shown_versions}
    rows = OutboxEvent.objects.filter(stream=persona.uuid, name=FOLLOWED).order_by("-id").values_list("data", flat=True)
    for data in rows[:MAX_EVENTS] if message_ids else ():
        if message_ids & set(data["message_ids"]):
            _show(persona, data)
            break  # memories that the owner hid before a later change stay hidden


def _was_passed_over(message: Message) -> bool:
    """Whether extraction passed a message of the owner in the open session while another version stood. If the message
    was the last one, a reading of its version ends with its own turn."""
    extractions = Extraction.objects.filter(session=message.session_id, again=False, through__gte=message.pk)
    through = extractions.order_by("through").values_list("through", flat=True).first()
    is_read = message.turn is None or through is None or versions.of_turn(message.turn).filter(pk=through).exists()
    return message.role == Message.Role.USER and not is_read


def _nodes_only_from(messages: Sequence[Message]) -> list[ConceptNode]:
    """The memories that rest on these messages alone."""
    other_evidence = Evidence.objects.exclude(message__in=messages).values("node")
    nodes = ConceptNode.objects.filter(evidence__message__in=messages, status=Status.ACTIVE)
    return list(nodes.exclude(pk__in=other_evidence).select_related("persona").distinct())


def _hide(nodes: Sequence[ConceptNode]) -> dict[str, Any]:
    """Hide memories, so that those they replaced or ended hold again. Returns event data: hidden_ids; replaced_ids, by
    hidden memory the ones it had replaced; ended, the facts that one of them had ended, with their end."""
    replaced: dict[str, list[str]] = {}
    ended: dict[str, dict[str, str]] = {}
    for node in nodes:
        before = actions.reinstate(node)
        if not before and not actions.hide(node):
            continue
        hidden = {node.pk: node} | {
            node_before.pk: node_before
            for node_before in before
            if node_before.status == Status.ACTIVE and not is_ended(node_before)
        }
        replaced |= {str(node.uuid): [] for node in hidden.values()}
        for node_before in before:
            if node_before.status == Status.SUPERSEDED:
                replaced[str(hidden.get(node_before.superseded_by_id or 0, node).uuid)].append(str(node_before.uuid))
            if node_before.resolved_by_id in hidden and is_ended(node_before):
                ended[str(node_before.uuid)] = {
                    "by": str(node.uuid),
                    "until": node_before.until,
                    "plan_state": node_before.plan_state,
                }
    more = {"replaced_ids": {uuid: older for uuid, older in replaced.items() if older}, "ended": ended}
    return {"hidden_ids": [*replaced]} | {name: value for name, value in more.items() if value}


def _show(persona: Persona, data: Mapping[str, Any]) -> None:
    """Show the memories that an event lists as hidden, and replace or end again those they had replaced or ended."""
    nodes = ConceptNode.objects.filter(persona=persona).select_related("persona")
    shown_nodes = {
        str(node.uuid): node for node in nodes.filter(uuid__in=data.get("hidden_ids", [])) if actions.show(node)
    }
    for uuid, node in shown_nodes.items():
        older = nodes.filter(uuid__in=data.get("replaced_ids", {}).get(uuid, []))
        supersede(persona, list(older), node)
        older.filter(status=Status.SUPERSEDED, superseded_by=None).update(superseded_by=node)
    ended = data.get("ended", {})
    for fact in nodes.filter(uuid__in=[*ended]):
        end = ended[str(fact.uuid)]
        if end["by"] in shown_nodes:
            actions.end(fact, shown_nodes[end["by"]], until=end["until"], plan_state=end["plan_state"])


def restore_message(persona: Persona, turn_uuid: UUID) -> bool:
    """Show again the messages withheld by a request in this turn; False if there is no such request."""
    with transaction.atomic():
        rows = OutboxEvent.objects.filter(stream=persona.uuid, name=ASKED, data__turn_id=str(turn_uuid))
        request = rows.order_by("-id").first()
        if request is None or not Turn.objects.filter(persona=persona, uuid=turn_uuid).exists():
            return False
        ids = request.data.get("withheld_ids", [])
        shown_ids = show_messages(persona, ids, request.data)
        # They stayed superseded only because their messages were withheld; the memories that superseded them no longer
        # hold.
        superseded = ConceptNode.objects.filter(persona=persona, status=Status.SUPERSEDED, superseded_by=None)
        for node in superseded.filter(evidence__message__uuid__in=ids).select_related("persona").distinct():
            actions.unsupersede(node)
        events.publish(persona.uuid, "memory.message.restored", turn_id=str(turn_uuid), message_ids=shown_ids)
    return True


def ids_of(uuids: Sequence[UUID]) -> list[str]:
    """The ids as events carry them."""
    return [str(uuid) for uuid in uuids]

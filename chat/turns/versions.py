"""Versions: a message that its owner reworded, and other answers to the same messages.

One version of a turn is current; the others are withheld, so they reach no prompt, no memory and no export. The owner
may choose another version while the session is open; afterwards memory rests on the current one.

    `chat.message.replaced`   turn_id of the new wording; message_ids that are withheld for it
    `chat.turn.chosen`        turn_id of the current version; message_ids that are shown to models again; withheld_ids

`chat.message.done`, `chat.turn.failed`, `chat.turn.snapshot` of another answer carry original_turn_id; `same` means
that it was dropped because it repeats an earlier answer.
"""

from collections.abc import Sequence
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils.module_loading import import_string

from chat import knobs
from chat.models import Message, Session, Turn
from chat.models.message import MessageQuerySet
from echovessel.outbox import events
from persona.models import Persona


class VersionRefused(Exception):
    """Another version is not possible here. `code` is the reason: "not_last", "not_open", "busy", "withheld", "enough"
    or "passed_over" (memory has read past it and would never read it)."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def of_turn(turn: Turn) -> MessageQuerySet:
    """The messages of a turn and all other answers to them."""
    first = turn.original_id or turn.pk
    return Message.objects.filter(Q(turn=first) | Q(turn__original=first))


def last_message(persona: Persona, session: Session, message_uuid: UUID) -> Message:
    """The owner's message with this uuid, if it is their last one. Call in a transaction. Raises VersionRefused."""
    message = (
        Message.objects.filter(persona=persona, uuid=message_uuid, role=Message.Role.USER, session=session)
        .select_related("turn__persona", "session")
        .first()
    )
    if message is None or message.turn is None:
        raise VersionRefused("not_open")
    if message.withheld:
        raise VersionRefused("withheld")
    if message != _last_owner_message(persona):
        raise VersionRefused("not_last")
    _require_idle(persona)
    return message


def replace(message: Message, turn: Turn) -> None:
    """Withhold the message and its reply in favour of a turn that rewords it. Call in a transaction."""
    assert message.turn is not None
    _withhold_for(turn, _current_version(message.turn))
    Turn.objects.filter(pk=message.turn.pk, status=Turn.Status.FAILED).update(status=Turn.Status.STOPPED, partial="")


def find_answered_turn(persona: Persona, turn_uuid: UUID) -> Turn:
    """The turn to which another answer may be added: the last one, if it has an answer. Call in a transaction. Raises
    VersionRefused."""
    turn = _find(persona, turn_uuid)
    first = turn.original or turn
    last = _last_owner_message(persona)
    if last is None or last.turn_id != first.pk:
        raise VersionRefused("not_last")
    _require_idle(persona)
    answers = of_turn(first).filter(role=Message.Role.PERSONA)
    if not answers.filter(withheld=False).exists():
        raise VersionRefused("withheld")
    if answers.count() >= knobs.answers_per_turn():
        raise VersionRefused("enough")
    return first


def repeats_answer(turn: Turn, text: str) -> bool:
    """Whether `text`, as another answer, repeats an earlier answer."""
    if turn.original_id is None:
        return False
    answers = of_turn(turn).filter(role=Message.Role.PERSONA).values_list("content", flat=True)
    return text.strip() in (answer.strip() for answer in answers)


def choose(persona: Persona, turn_uuid: UUID) -> None:
    """Make a turn's version current: its answer, or its wording with the answer to that. Choosing the current version
    changes nothing. Raises VersionRefused."""
    with transaction.atomic():
        turn = _find(persona, turn_uuid)
        _require_idle(persona)
        replaced_messages = list(of_turn(turn).filter(replaced_by__isnull=False).select_related("replaced_by"))
        if replaced_messages:
            current = replaced_messages[0].replaced_by
            assert current is not None
            if _last_owner_message(persona) not in (current_messages := _current_version(current)):
                raise VersionRefused("not_last")
            Message.objects.filter(pk__in=[message.pk for message in replaced_messages]).update(
                withheld=False, replaced_by=None
            )
            _withhold_for(turn.original or turn, current_messages, shown=replaced_messages, event="chat.turn.chosen")
            return
        shown_version = Message.objects.filter(turn=turn, role=Message.Role.PERSONA).first()
        if shown_version is None or not shown_version.withheld:
            return
        current_messages = list(of_turn(turn).filter(role=Message.Role.PERSONA, withheld=False))
        if not current_messages:
            raise VersionRefused("withheld")
        Message.objects.filter(pk=shown_version.pk).update(withheld=False)
        _withhold_for(None, current_messages, shown=[shown_version], event="chat.turn.chosen", turn_id=str(turn.uuid))


def _current_version(turn: Turn) -> list[Message]:
    """The current version of a turn: the owner's last message and the answer that is not withheld."""
    last = turn.messages.filter(role=Message.Role.USER).order_by("-id")[:1]
    shown_messages = of_turn(turn).filter(withheld=False)
    return list(shown_messages.filter(Q(pk__in=list(last.values_list("pk", flat=True))) | Q(role=Message.Role.PERSONA)))


def _withhold_for(
    turn: Turn | None,
    messages: Sequence[Message],
    *,
    shown: Sequence[Message] = (),
    event: str = "chat.message.replaced",
    turn_id: str = "",
) -> None:
    """Withhold the messages in favour of a turn, publish that, and run the CHAT_VERSIONS hooks so that memory
    follows."""
    Message.objects.filter(pk__in=[message.pk for message in messages]).update(withheld=True, replaced_by=turn)
    if turn is not None:  # Wordings replaced earlier point to it as well, so that each can be chosen.
        Message.objects.filter(replaced_by__in=[message.turn_id for message in messages]).update(replaced_by=turn)
    persona = messages[0].persona
    withheld_ids, shown_ids = ([str(message.uuid) for message in group] for group in (messages, shown))
    ids = {"message_ids": shown_ids, "withheld_ids": withheld_ids} if shown else {"message_ids": withheld_ids}
    events.publish(persona.uuid, event, turn_id=turn_id or str(turn.uuid if turn else ""), **ids)
    for path in settings.CHAT_VERSIONS:
        import_string(path)(list(messages), list(shown))


def _find(persona: Persona, turn_uuid: UUID) -> Turn:
    turn = Turn.objects.filter(persona=persona, uuid=turn_uuid).select_related("persona", "session", "original").first()
    if turn is None or turn.session.status != Session.Status.OPEN:
        raise VersionRefused("not_open")
    return turn


def _last_owner_message(persona: Persona) -> Message | None:
    """The owner's last message that is not withheld or imported."""
    owner_messages = Message.objects.filter(persona=persona, role=Message.Role.USER, withheld=False, import_uuid=None)
    return owner_messages.select_related("turn", "persona").order_by("-id").first()


def _require_idle(persona: Persona) -> None:
    if persona.turns.in_flight().exists():
        raise VersionRefused("busy")

"""Correcting by word, for channels without pages: if a message says only that something is wrong, the reply lists the
memories it may be about, and "2: Ruth lives in York." in the next message corrects the second.

The reply is built from the memories without a model; their ids are stored on its turn.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import translation
from django.utils.text import Truncator
from django.utils.translation import gettext as _

from chat.models import Message, Turn
from echovessel.embeddings.embedding import EmbeddingUnavailable
from echovessel.language.disputes import is_told_as_over, read_dispute
from echovessel.language.requests import RequestKind, asks_to_forget, read_requests
from memory.curation.correct import Correction, InvalidMemory, WordsForgotten, correct
from memory.models import ConceptNode
from memory.recall.passages import is_question
from memory.requests.offer import find_disputed_nodes, messages_before
from memory.requests.withhold import ids_of

Kind = ConceptNode.Kind
PAGE = "web"  # the channel whose owner sees cards
CHOICES = "correction_choices"
SHOWN_CHARACTERS = 160
MIN_CHARACTERS = 3
# Matches "2: …", 「第二条…」; not "2.5 kg", "6:30", "2 - 3 weeks", 「一个人…」.
_CHOICE = re.compile(
    r"\W*(?:no\.|number|(?P<ordinal>第))?\s*(?P<number>[1-9]|[一二三四五六])\s*"
    r"(?(ordinal)(?:条|个)\s*[:：、,，]?|(?:条|个)?\s*(?:[、)）]|[:：](?!\d\d(?!\d))|[.,，](?!\d)|-(?!\s*\d)))\s*"
    r"(?:应该是|应为|改成|改为|it should (?:read|be|say)\b:?)?\s*(?P<words>\S.+)",
    re.IGNORECASE | re.DOTALL,
)
_FORGETS = re.compile(
    r"(?:please )?(?:forget|delete|remove|erase)\b.{0,30}|(?:请|把)?.{0,4}(?:忘|删)(?:了|掉|除)?.{0,5}",
    re.IGNORECASE,
)
# Says something of a memory, and not how it should read.
_VERDICT = re.compile(
    r"(?:(?:yes|yep|no|nope|ok(?:ay)?|right|true|correct|fine|please|that one|this one|keep (?:it|both|that|this)|"
    r"leave (?:it|that)|(?:just )?as (?:it|that) is|don't know|not sure|hide (?:it|that)|unchanged)\b\W*)+|"
    r"(?:是的?|对的?|没错|就是?(?:这|那)[条个]|保留|留着|不用?改|不变|都对|不知道|不确定|隐藏)[吧了啊。！\s]*",
    re.IGNORECASE,
)
_DIGITS_ZH = "一二三四五六"


@dataclass(frozen=True)
class Choice:
    """A listed memory (None if there is none with its number, or it is no longer recallable), the new text, and the
    list."""

    node: ConceptNode | None
    words: str
    listed: list[str]

    @property
    def asks_to_forget(self) -> bool:
        return _FORGETS.fullmatch(self.words) is not None or asks_to_forget(self.words)


def answer(turn: Turn, now: datetime) -> tuple[str, dict[str, Any]]:
    """The reply to a turn that says that a memory is wrong, or how a listed one should read, and values to store in the
    turn's x-ray; "" if a model shall reply. No transaction may be open."""
    session = turn.session
    if session.channel == PAGE or session.off_the_record:
        return "", {}
    message = turn.messages.filter(role=Message.Role.USER).select_related("session", "persona").order_by("id").last()
    if message is None:
        return "", {}
    with translation.override("zh-hans" if turn.persona.language == "zh" else "en"):
        if choice := find_choice(turn, message):
            is_over = is_told_as_over(choice.words) and (choice.node is None or choice.node.kind == Kind.FACT)
            is_verdict = _VERDICT.fullmatch(choice.words) or read_dispute(choice.words) is not None
            is_wording = len(choice.words) >= MIN_CHARACTERS and not (is_verdict or is_told_as_over(choice.words))
            if not is_over and (not is_wording or is_question(choice.words)):
                return _how_to_answer(), {CHOICES: choice.listed}
            return _correct(choice, turn, now, is_over=is_over), {}
        before = messages_before(message)
        previous = next(
            (message_before.content for message_before in before if message_before.role == Message.Role.USER), ""
        )
        requests = read_requests(message.content, previous=previous)
        if not any(request.kind is RequestKind.CORRECTION for request in requests):
            return "", {}
        nodes = find_disputed_nodes(turn, message, before)
        if not nodes:
            return "", {}
        texts = (Truncator(node.description).chars(SHOWN_CHARACTERS) for node in nodes)
        list_text = "\n".join(f"{number}. {text}" for number, text in enumerate(texts, 1))
        text = f"{_('What should I correct?')}\n{list_text}\n\n{_how_to_answer()}"
        return text, {CHOICES: ids_of([node.uuid for node in nodes])}


def find_choice(turn: Turn, message: Message) -> Choice | None:
    """The choice that the message makes among the memories listed by the last reply; None if it makes none."""
    last_turn = Turn.objects.filter(session=turn.session_id, pk__lt=turn.pk, original=None).order_by("-pk").first()
    listed = last_turn.xray.get(CHOICES, []) if last_turn else []
    match = _CHOICE.fullmatch(message.content.strip()) if listed else None
    if match is None:
        return None
    number = match["number"]
    place = _DIGITS_ZH.index(number) if number in _DIGITS_ZH else int(number) - 1
    nodes = ConceptNode.objects.of(turn.persona).recallable()
    return Choice(nodes.filter(uuid__in=listed[place : place + 1]).first(), match["words"].strip(), listed)


def _how_to_answer() -> str:
    return _("Answer with its number and how it should read, for example “1: …”.")


def _correct(choice: Choice, turn: Turn, now: datetime, *, is_over: bool) -> str:
    """Correct the chosen memory, or end it today if it is over; returns the reply, also about a failure."""
    if choice.node is None:
        return _("There is no memory with that number. Nothing was changed.")
    today = now.astimezone(turn.persona.zone).date().isoformat()
    change = Correction(until=today) if is_over else Correction(choice.words)
    try:
        node = correct(choice.node, change, turn.persona.owner, now)
    except WordsForgotten:
        return _("These words were deleted for good and cannot be used again.")
    except EmbeddingUnavailable:
        return _("This cannot be changed right now. Nothing is lost; please try again later.")
    except InvalidMemory:
        return _("A memory or wish cannot say this.")
    except ConceptNode.DoesNotExist:
        return _("It has been forgotten in the meantime.")
    reply = _("Noted as over: “%(words)s”") if is_over else _("Corrected: “%(words)s”")
    return reply % {"words": node.description}

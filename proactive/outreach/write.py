"""Ask a model of the medium tier for the first message, with the persona's memories in the prompt.

Neither the prompt nor the message names a channel (F10).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, StringConstraints

from chat.models import Session
from chat.prompt import assemble
from echovessel import llm
from echovessel.jobs.lease import Lease
from echovessel.llm.visible import shorten_reply
from memory.consolidation.prompt import render
from memory.recall.lessons import Boundary, boundaries_of, crosses
from persona.models import Persona
from proactive import knobs
from proactive.models import Outreach
from proactive.outreach.replies import FirstWordReplies
from proactive.policy.outreach_context import OutreachContext

# A message that is a little too long is sent whole, because its end may be the question; a longer one is cut.
MAX_TIMES_TOO_LONG = 2


class UnfitFirstWord(Exception):
    """The written message may not be sent; `code` says why."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True)
class WrittenFirstWord:
    """The text, and the x-ray of its prompt."""

    text: str
    xray: dict[str, Any]


class FirstWord(BaseModel):
    """The model's answer."""

    message: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


def write(lease: Lease[Outreach], occasion: OutreachContext) -> WrittenFirstWord:
    """The message, asked for now or stored by an earlier attempt. No transaction may be open.

    Raises LLMError, EmbeddingUnavailable and UnfitFirstWord.
    """
    persona, replies = lease.row.persona, FirstWordReplies(lease)
    prompt = assemble.assemble_first_word(persona, occasion, occasion.words, lease.clock())
    replies.prompt_xray = prompt.xray
    boundaries = boundaries_of(persona)
    channels = unnamed_channels(persona, f"{prompt.system}\n{prompt.user}")
    request = llm.Request(
        system=prompt.system,
        user=prompt.user,
        tier="medium",
        purpose="proactive",
        material=prompt.material,
        max_tokens=knobs.first_word_tokens(),
        owner_id=persona.owner_id,
        persona_uuid=persona.uuid,
    )
    answer = llm.answer_now(
        request,
        FirstWord,
        replies=replies,
        doubt=lambda answer: _find_fault(persona, answer.message, channels, boundaries),
    )
    text = answer.value.message
    if len(text) > MAX_TIMES_TOO_LONG * knobs.longest_first_word():  # too long twice
        text = shorten_reply(text, knobs.longest_first_word())
    if first_name_in(text, channels):
        raise UnfitFirstWord("names_a_channel")
    if crosses(boundaries, text):
        raise UnfitFirstWord("left_alone")
    return WrittenFirstWord(text, replies.xray() or prompt.xray)


def first_name_in(text: str, channels: list[str]) -> str:
    """The first of these channels that the text names as a whole word; "" if it names none."""
    words = r"(?<!\w){}(?!\w)"
    return next((name for name in channels if re.search(words.format(re.escape(name)), text, re.IGNORECASE)), "")


def unnamed_channels(persona: Persona, prompt: str) -> list[str]:
    """The channels of the persona's sessions, without imports. A channel whose name stands in the prompt is left out:
    an owner who speaks of web design may be asked about it."""
    sessions = Session.objects.filter(persona=persona).exclude(close_reason=Session.CloseReason.IMPORT)
    channels = sessions.order_by().values_list("channel", flat=True).distinct()
    return [channel for channel in channels if not first_name_in(prompt, [channel])]


def _find_fault(persona: Persona, text: str, channels: list[str], boundaries: Sequence[Boundary]) -> str:
    if crosses(boundaries, text):
        return render("first_word_again", persona, boundary=True)
    if first_name_in(text, channels):
        return render("first_word_again", persona, channel=True)
    longest = knobs.longest_first_word()
    return render("first_word_again", persona, characters=longest) if len(text) > longest else ""

"""Writing one first word: a medium model is asked with all that the persona remembers.

No channel is ever named (F10): neither in the prompt nor in the message.
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

# A little too long is said as it was written: what is cut off may be the question. More is no first word any more.
MOST_TIMES_TOO_LONG = 2


class UnfitFirstWord(Exception):
    """What was written cannot be said: `code` says why."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True)
class WrittenFirstWord:
    """The words, and the account of the prompt that they answer."""

    text: str
    xray: dict[str, Any]


class FirstWord(BaseModel):
    """The model's answer."""

    message: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


def write(lease: Lease[Outreach], occasion: OutreachContext) -> WrittenFirstWord:
    """The first word, asked for now or stored by an earlier attempt. No transaction may be open.

    Raises LLMError, EmbeddingUnavailable and Unfit.
    """
    persona, replies = lease.row.persona, FirstWordReplies(lease)
    prompt = assemble.assemble_first_word(persona, occasion, occasion.words, lease.clock())
    replies.prompt_xray = prompt.xray
    boundaries = boundaries_of(persona)
    channels = _unnamed_channels(persona, f"{prompt.system}\n{prompt.user}")
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
    if len(text) > MOST_TIMES_TOO_LONG * knobs.longest_first_word():  # a model that babbled twice
        text = shorten_reply(text, knobs.longest_first_word())
    if first_name_in(text, channels):
        raise UnfitFirstWord("names_a_channel")
    if crosses(boundaries, text):
        raise UnfitFirstWord("left_alone")
    return WrittenFirstWord(text, replies.xray() or prompt.xray)


def first_name_in(text: str, channels: list[str]) -> str:
    """The first of these channels that stands in the text as a word of its own; "" where none does."""
    words = r"(?<!\w){}(?!\w)"
    return next((name for name in channels if re.search(words.format(re.escape(name)), text, re.IGNORECASE)), "")


def _unnamed_channels(persona: Persona, prompt: str) -> list[str]:
    """The channels of the persona's sessions; an imported file is none. One whose name stands in the prompt is a word
    of the owner's: who speaks of web design may be asked about it."""
    talks = Session.objects.filter(persona=persona).exclude(close_reason=Session.CloseReason.IMPORT)
    channels = talks.order_by().values_list("channel", flat=True).distinct()
    return [channel for channel in channels if not first_name_in(prompt, [channel])]


def _find_fault(persona: Persona, text: str, channels: list[str], boundaries: Sequence[Boundary]) -> str:
    if crosses(boundaries, text):
        return render("first_word_again", persona, boundary=True)
    if first_name_in(text, channels):
        return render("first_word_again", persona, channel=True)
    longest = knobs.longest_first_word()
    return render("first_word_again", persona, characters=longest) if len(text) > longest else ""

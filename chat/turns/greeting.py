"""The first minute: the greeting that an empty page shows in the persona's voice, and openers to tap.

A character card brings a greeting of its own. If there is none, a connected model writes one, once, from the core
blocks. Until then, without a model, and if the model does not answer in time, rules write one that follows the style
block: formal, playful, brief, warm or calm.
"""

import asyncio
import re
from collections.abc import Mapping
from contextlib import aclosing, suppress
from datetime import datetime
from hashlib import sha256
from uuid import UUID
from weakref import WeakValueDictionary

from django.core.cache import cache
from django.db import transaction
from django.utils import translation
from django.utils.translation import gettext as _

from chat import knobs
from echovessel import llm
from echovessel.llm.models import Purpose
from echovessel.llm.prompts import neutralize, render_prompt, shorten
from echovessel.llm.providers import chosen_provider, endpoint_of
from echovessel.process.threads import in_thread
from persona.models import Persona
from persona.models.core_block import Label

MAX_CHARACTERS = 400
_BLOCK_TOKENS = 600
_EVENING = 17  # o'clock, in the persona's time zone
# How a style block may ask for a manner (_MANNERS), and the words before it that negate it (_NOT): "never formal",
# 「不要太正式」.
_MANNERS = {
    "formal": r"formal\w*|polite\w*|respectful\w*|courteous\w*|正式|礼貌|敬语|恭敬|客气|“您”|「您」|用您",
    "playful": r"playful\w*|funny|witty|humou?r\w*|cheeky|teas\w+|jok\w+|sarcas\w+|俏皮|调皮|幽默|搞笑|活泼|玩笑|毒舌",
    "brief": r"short|brief\w*|terse\w*|concise\w*|laconic\w*|few words|简短|简洁|精简|话少|少言|寡言|言简意赅",
    "warm": r"warm\w*|gentl\w+|kind\w*|caring|tender\w*|affection\w*|loving\w*|温柔|温暖|体贴|亲切|柔和|关心|暖心",
    "calm": r"calm\w*|quiet\w*|seren\w+|patien\w+|平静|安静|沉稳|冷静|淡定|耐心",
}
_MANNER = re.compile("|".join(rf"(?P<{name}>(?<![a-z])(?:{words}))" for name, words in _MANNERS.items()), re.IGNORECASE)
_NOT = re.compile(
    r"\b(?:not|no|never|less|don'?t|without|hates?|avoids?|isn'?t|nothing)\b[^,.;]*$|(?:[不别勿少没]|讨厌)[^，。；、]*$",
    re.IGNORECASE,
)
_EMOJI = re.compile(r"emoji|emoticon|smil(?:ey|ies)|表情", re.IGNORECASE)
_HAN, _LATIN = re.compile("[\u4e00-\u9fff]"), re.compile("[A-Za-z]")
# If several pages of a persona open together, one asks the model and the others use its answer.
_writing: WeakValueDictionary[UUID, asyncio.Lock] = WeakValueDictionary()
# One pair of quotation marks around the whole text: `"Hi," she says, "I am Mira."` has two.
_QUOTED = re.compile(r"\"([^\"]+)\"|“([^“”]+)”|「([^「」]+)」|『([^『』]+)』")


def manner_of(style: str) -> str:
    """The first manner that a style block asks for; "" if it asks for none of the known ones.

    >>> manner_of("Never formal. Short and warm."), manner_of("不要太正式，俏皮一点。"), manner_of("Like a pirate.")
    ('brief', 'playful', '')
    """
    for match in _MANNER.finditer(style):
        if not _NOT.search(style, max(0, match.start() - 24), match.start()):
            return str(match.lastgroup)
    return ""


def plain_greeting(persona: Persona, style: str, *, is_offline: bool) -> str:
    """A greeting written by rules, in the persona's language and manner. Without a model the greeting says so."""
    with translation.override("zh-hans" if persona.language == "zh" else "en"):
        user = persona.asked_name or persona.user_name
        if user:
            user = f"{user}，" if persona.language == "zh" else f" {user}"
        words = {
            "formal": _("Good day%(user)s. My name is %(name)s, and I am pleased to meet you."),
            "playful": _("Hi%(user)s! I'm %(name)s, and I'm all ears. What are we getting into today?"),
            "brief": _("Hi%(user)s. %(name)s here."),
            "warm": _("Hello%(user)s, I'm %(name)s. It's lovely that you're here. How are you?"),
            "calm": _("Hello%(user)s. I'm %(name)s. There is no hurry; tell me whatever you like."),
            "": _("Hello%(user)s, I'm %(name)s. I'm glad you're here. Tell me whatever you like."),
        }
        greeting = words[manner_of(style)] % {"name": persona.name, "user": user}
        emoji = _EMOJI.search(style)
        if emoji and not _NOT.search(style, max(0, emoji.start() - 24), emoji.start()):
            greeting += " 🙂"
        if is_offline:
            greeting = _("%(greeting)s No language model is connected yet, so I cannot really talk. I keep what you "
                         "tell me, and answer from that.") % {"greeting": greeting}  # fmt: skip
        return greeting


def openers(persona: Persona, blocks: Mapping[str, str], now: datetime, *, is_offline: bool) -> list[str]:
    """Three openers in the persona's language, chosen by whether the persona knows the owner, by the hour, and by
    whether a model answers."""
    knows_owner, is_described = (bool(blocks.get(label, "").strip()) for label in (Label.USER, Label.PERSONA))
    with translation.override("zh-hans" if persona.language == "zh" else "en"):
        return [
            _("What do you know about me so far?") if knows_owner else _("Let me tell you a little about myself."),
            _("Let me tell you about my day.")
            if now.astimezone(persona.zone).hour >= _EVENING
            else _("Something has been on my mind today."),
            _("Tell me a little about yourself.")
            if is_described and not is_offline
            else _("What will you remember of what I tell you?"),
        ]


async def write(persona: Persona) -> str:
    """The persona's greeting; if there is none, ask the model for one and store it. "" if the model fails or is too
    late, or if a conversation has begun. No transaction may be open."""
    async with _writing.setdefault(persona.uuid, asyncio.Lock()):
        await in_thread(lambda: persona.refresh_from_db(fields=["greeting"]))
        request = await in_thread(lambda: request_for(persona, blocks_of(persona)))
        if request is None:
            return persona.greeting
        text = ""
        with suppress(llm.LLMError, TimeoutError):
            async with asyncio.timeout(knobs.greeting_seconds()):
                text = fit(await _ask(request), persona.language)
        if text:
            return await in_thread(_store, persona, text)
        await in_thread(lambda: cache.set(_failure_key(request), True, 60 * knobs.greeting_retry_minutes()))
        return ""


def request_for(persona: Persona, blocks: Mapping[str, str]) -> llm.Request | None:
    """The request for a greeting. None if the persona has one, greetings by a model are off, a conversation has begun
    (the cost would be in vain), or the same model has lately failed at the same request."""
    if persona.greeting or not knobs.greeting_seconds() or llm.provider_name() == "offline":
        return None
    texts = {f"{label}_block": neutralize(shorten(text.strip(), _BLOCK_TOKENS)) for label, text in blocks.items()}
    request = llm.Request(
        system=render_prompt("greeting", persona.language, name=persona.name, user_name=persona.user_display_name),
        user=render_prompt(
            "greeting_input", persona.language, name=persona.name, user_name=persona.user_display_name, **texts
        ),
        tier="large",
        purpose=Purpose.ONBOARDING,
        max_tokens=MAX_CHARACTERS,
        max_characters=2 * MAX_CHARACTERS,
        owner_id=persona.owner_id,
        persona_uuid=persona.uuid,
    )
    return None if persona.messages.exists() or cache.get(_failure_key(request)) else request


def blocks_of(persona: Persona) -> dict[str, str]:
    return dict(persona.core_blocks.values_list("label", "content"))


def fit(text: str, language: str) -> str:
    """A model's greeting ready to show, without surrounding quotation marks; "" if it is unusable: too long, in another
    script, or with an unfilled placeholder."""
    words = " ".join(text.split())
    if quoted := _QUOTED.fullmatch(words):
        words = quoted[quoted.lastindex or 0].strip()
    han, latin = len(_HAN.findall(words)), len(_LATIN.findall(words))
    is_in_language = han * 2 >= latin if language == "zh" else latin > han
    return words if words and len(words) <= MAX_CHARACTERS and is_in_language and not re.search(r"\{|\[", words) else ""


def _failure_key(request: llm.Request) -> str:
    """Cache key of a failed request: it depends on the model and the prompts, so a changed name or style allows a new
    attempt."""
    failed_request = (request.persona_uuid, endpoint_of(chosen_provider(), request.tier), request.system, request.user)
    return f"chat.greeting.{sha256(repr(failed_request).encode()).hexdigest()}"


async def _ask(request: llm.Request) -> str:
    text = ""
    async with aclosing(llm.stream(request)) as pieces:
        async for piece in pieces:
            if isinstance(piece, llm.CutOff):
                return ""
            if isinstance(piece, llm.Withdrawal):
                text = ""
            text += piece if isinstance(piece, str) else ""
    return text


def _store(persona: Persona, text: str) -> str:
    """Store the greeting, unless the owner has written, another tab has stored one, or the names have changed
    meanwhile. Returns the greeting that is stored."""
    with transaction.atomic():
        if not persona.messages.exists():
            unchanged = Persona.objects.filter(pk=persona.pk, name=persona.name, user_name=persona.user_name)
            unchanged.filter(greeting="").update(greeting=text, greeting_by_model=True)
        return Persona.objects.values_list("greeting", flat=True).get(pk=persona.pk)

"""Forgetting by word, for channels without pages: the reply lists the matches, and a plain yes in the next message
confirms.

The reply is built from the matches without a model, so it promises nothing that is not done. The ids of the matches are
stored on the turn. The yes forgets exactly these, after its own turn has ended, because nothing can be forgotten while
a reply is being written.
"""

import logging
import re
import time
from contextlib import suppress
from datetime import datetime
from typing import Any, cast

from django.utils import translation
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from chat.care import speak_of_crisis
from chat.models import Message, Turn
from echovessel.language.requests import RequestKind, read_requests
from memory import forgetting
from memory.forgetting import Busy, Kind
from memory.requests.by_word import find_choice
from memory.requests.find import Matches, find_about
from memory.requests.offer import find_target, messages_before
from memory.requests.withhold import ids_of

logger = logging.getLogger(__name__)

PAGE = "web"  # the channel whose owner sees cards
FOUND_KEY, CONFIRMED_KEY = "forget_found", "forget_confirmed"
MAX_SHOWN = 5
SHOWN_CHARACTERS = 100
ATTEMPTS, PAUSE_SECONDS = 30, 1.0
_YES = re.compile(
    r"\W*(?:yes(?:,? (?:please|do it|forget it|go ahead))?|confirm|是的?|对|好的?|确认|"
    r"(?:是的|好的?)?[，,]?请?(?:忘掉|忘了|删掉)吧)\W*",
    re.IGNORECASE,
)


def answer(turn: Turn, now: datetime) -> tuple[str, dict[str, Any]]:
    """The reply to a turn that asks to forget or confirms the last reply, and values to store in the turn's x-ray; ""
    if a model shall reply. No transaction may be open."""
    session = turn.session
    if session.channel == PAGE or session.off_the_record:
        return "", {}
    messages = list(turn.messages.filter(role=Message.Role.USER).select_related("session", "persona").order_by("id"))
    if not messages:
        return "", {}
    with translation.override("zh-hans" if turn.persona.language == "zh" else "en"):
        earlier = Turn.objects.filter(session=session, pk__lt=turn.pk, original=None).order_by("-pk").first()
        had_reply = earlier and earlier.messages.filter(role=Message.Role.PERSONA, withheld=False).exists()
        if earlier and had_reply and earlier.xray.get(FOUND_KEY) and _YES.fullmatch(messages[-1].content.strip()):
            return _("Yes. It is being forgotten for good, from every place where it was kept."), {
                CONFIRMED_KEY: earlier.xray[FOUND_KEY]
            }
        message = messages[-1]
        if (choice := find_choice(turn, message)) and choice.node and choice.asks_to_forget:
            return _describe_matches(message, choice.node.description, Matches([choice.node]))
        previous = next(
            (
                message_before.content
                for message_before in messages_before(message)
                if message_before.role == Message.Role.USER
            ),
            "",
        )
        requests = read_requests(message.content, previous=previous)
        # An unsure request is asked about; a question must not take the place of the reply to a cry for help.
        if not all(request.sure for request in requests) and any(speak_of_crisis([message.content])):
            requests = tuple(request for request in requests if request.sure)
        for request in requests:
            if request.kind is RequestKind.FORGET:
                matches = find_about(message.persona, request.subject, message)
                if request.sure or matches.nodes or matches.messages:
                    return _describe_matches(message, request.subject, matches)
            if request.kind is RequestKind.FORGET_THIS and (target := find_target(message, request)):
                return _ask_about(target, is_withheld=request.sure)
    return "", {}


def forget_confirmed(turn: Turn, now: datetime) -> None:
    """Forget the rows that a yes in this turn confirmed. Rows that are already gone are skipped."""
    confirmed = turn.xray.get(CONFIRMED_KEY) or {}
    for _attempt in range(ATTEMPTS):
        targets = []
        for kind, ids in confirmed.items():
            for uuid in ids:
                with suppress(LookupError):
                    targets.append(forgetting.target_of(turn.persona, cast(Kind, kind), uuid))
        if not targets:
            return
        try:
            forgetting.forget(forgetting.plan(targets), turn.persona.owner, now)
        except Busy:
            time.sleep(PAUSE_SECONDS)
        else:
            return
    if confirmed:
        logger.error("turn %s confirmed a request, but nothing was forgotten: a reply was always in progress", turn.pk)


def _ask_about(target: Message, *, is_withheld: bool) -> tuple[str, dict[str, Any]]:
    """The question whether to forget one message for good; it may be withheld already."""
    if is_withheld:
        text = _("That is not remembered from now on. To have it forgotten for good, answer “yes”.")
    else:
        text = _("Should I forget “%(words)s” for good? If so, answer “yes”. Anything else leaves it as it is.")
        text %= {"words": Truncator(target.content).chars(SHOWN_CHARACTERS)}
    return text, {FOUND_KEY: {"message": ids_of([target.uuid])}}


def _describe_matches(message: Message, subject: str, matches: Matches) -> tuple[str, dict[str, Any]]:
    quoted_subject = Truncator(subject).chars(SHOWN_CHARACTERS)
    nodes, messages = matches.nodes, matches.messages
    if not (nodes or messages):  # without exact matches show similar ones: nothing is forgotten before a yes
        nodes, messages = matches.alike, matches.alike_messages
    if not (nodes or messages):
        nothing = _("I found nothing about “%(words)s”, in memories or messages. Nothing was forgotten.")
        return nothing % {"words": quoted_subject}, {}
    texts = [node.description for node in nodes] + [matching_message.content for matching_message in messages]
    list_text = "\n".join(f"- {Truncator(text).chars(SHOWN_CHARACTERS)}" for text in texts[:MAX_SHOWN])
    counts = {
        "memories": ngettext("%(n)s memory", "%(n)s memories", len(nodes)) % {"n": len(nodes)},
        "messages": ngettext("%(n)s message", "%(n)s messages", len(messages)) % {"n": len(messages)},
    }
    text = _("About “%(words)s” I found %(memories)s and %(messages)s:") % ({"words": quoted_subject} | counts)
    question = _(
        "To have all of it and your message forgotten for good, answer “yes”. Anything else leaves it as it is."
    )
    ids = {
        "node": ids_of([node.uuid for node in nodes]),
        "message": ids_of([message.uuid, *(matching_message.uuid for matching_message in messages)]),
    }
    return f"{text}\n{list_text}\n\n{question}", {FOUND_KEY: ids}

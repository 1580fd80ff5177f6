"""Lessons: how the owner wants the persona to treat them, in their own words (seeds 003 and 004).

A lesson comes from a live message of the owner or from the page; never from a file, quoted mail, another speaker or the
persona. It is the only memory that a prompt does not call mere data, so it passes a gate of its own: attacks on the
guardrails are refused, whoever writes them (`echovessel.language.harmful_wishes`).

How the owner wants to be called is a lesson as well, not an edit of the persona: it has evidence, can be undone, hidden
and forgotten like any other, and then the previous name holds again. A trigger updates `Persona.asked_name`
(memory/store/integrity.py), so that every prompt and page uses the name immediately.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from chat.models import Message
from echovessel.embeddings import embedding
from echovessel.language.harmful_wishes import is_harmful_wish
from echovessel.language.requests import Request, RequestKind
from memory.curation import actions
from memory.curation.correct import InvalidMemory
from memory.curation.remember import NotRemembered
from memory.models import ConceptNode, Evidence
from memory.models.node import MAX_CONDITION
from memory.store.active_model import follow, with_one_model
from memory.store.writing import Draft, Quote, in_one_line, is_native_message, tidy_description, write
from persona.models import Persona

Kind, Scope, Status = ConceptNode.Kind, ConceptNode.Scope, ConceptNode.Status
MAX_WISH = 300
MAX_NAME = 40
MAX_NAME_WORDS = 4

REFUSED = _(
    "A wish cannot change what always holds: that {name} is an AI, the safety rules, secrets, links and commands."
)


@dataclass(frozen=True)
class Wish:
    """A wish of the owner in their words, its condition, and its place in a message, if it comes from one."""

    text: str
    scope: str = "always"
    condition: str = ""
    is_boundary: bool = False
    start: int = 0
    end: int = 0


def wish_of(text: str, request: Request) -> Wish:
    """The wish that a request of the message `text` states."""
    words, place = text[request.start : request.end], (request.start, request.end)
    if request.kind == RequestKind.NAME and request.subject:
        return Wish(words, "name", request.subject, False, *place)
    condition = request.condition
    if condition.kind == "always" or not condition.text.strip():
        return Wish(words, "always", "", request.is_boundary, *place)
    return Wish(words, condition.kind, condition.text, request.is_boundary, *place)


def learn(message: Message, wishes: Iterable[Wish], now: datetime) -> list[ConceptNode]:
    """Learn lessons from a live message of the owner, each once: a lesson that was hidden or corrected since stays so,
    however often the message is read. Wishes that may not become lessons are skipped.

    No transaction may be open. Raises EmbeddingUnavailable.
    """
    if not is_native_message(message) or message.withheld or message.session.off_the_record:
        return []
    evidence = Evidence.objects.filter(message=message, node__kind=Kind.LESSON)
    learned = set(evidence.values_list("start", "end"))
    nodes = []
    for wish in wishes:
        if (wish.start, wish.end) not in learned and not is_refused(wish):
            nodes += _stored(message.persona, wish, message, now)
    return nodes


def add_lesson(persona: Persona, wish: Wish, now: datetime) -> ConceptNode:
    """A lesson that the owner wrote on the page, without a message as evidence.

    No transaction may be open. Raises InvalidMemory if it may not become a lesson, NotRemembered if its words were
    forgotten for good, and EmbeddingUnavailable.
    """
    check_wish(wish)
    node = _stored(persona, wish, None, now)
    if not node:
        raise NotRemembered("forgotten")
    return node[0]


def check_wish(wish: Wish) -> None:
    """Raises InvalidMemory; its `field` is description or condition, whichever is wrong."""
    if not tidy_description(wish.text):
        raise InvalidMemory("description", "a wish needs words")
    if wish.scope not in ("always", Scope.NAME) and not wish.condition.strip():
        raise InvalidMemory("condition", "it does not say when it holds")
    if is_refused(wish):
        raise InvalidMemory("description", "no persona may take this for a wish")


def is_refused(wish: Wish) -> bool:
    """Whether this may not become a lesson."""
    text, condition = in_one_line(wish.text), in_one_line(wish.condition)
    if not text or len(text) > MAX_WISH or len(condition) > MAX_CONDITION:
        return True
    if is_harmful_wish(text) or (condition and is_harmful_wish(condition)):
        return True
    return wish.scope == Scope.NAME and not is_plausible_name(condition)


def is_plausible_name(name: str) -> bool:
    """Whether it could be a name.

    >>> is_plausible_name("Sammy"), is_plausible_name("小雨"), is_plausible_name("whenever you like, ok?")
    (True, True, False)
    """
    words = name.split()
    has_signs = any(not (sign.isalnum() or sign in " -'’.·") for sign in name)
    return 0 < len(name) <= MAX_NAME and len(words) <= MAX_NAME_WORDS and not has_signs and any(map(str.isalpha, name))


@with_one_model
def _stored(persona: Persona, wish: Wish, message: Message | None, now: datetime) -> list[ConceptNode]:
    """Write the lesson through the gate of all memories; one that is stated again is active again, even if it was
    hidden."""
    draft = Draft(
        kind=Kind.LESSON,
        description=tidy_description(wish.text),
        source=ConceptNode.Source.PERSON,
        subject=ConceptNode.Subject.PERSONA,
        verification=ConceptNode.Verification.CONFIRMED,
        scope=wish.scope,
        condition=in_one_line(wish.condition),
        is_boundary=wish.is_boundary,
    )
    if message is not None:
        quote = Quote(message, message.content[wish.start : wish.end], wish.start, wish.end)
        draft = replace(draft, session=message.session, evidence=[quote], created_at=message.created_at)
    model = follow()
    [vector] = embedding.embed([draft.description], is_hurried=True)
    with transaction.atomic():
        Persona.objects.select_for_update().get(pk=persona.pk)
        node = write(persona, draft, vector, model, now)
        if node.node is None:
            return []
        if node.outcome != "new":
            actions.show(node.node)
            actions.unarchive(node.node)
    return [node.node]

"""Remember on request: the very words as a confirmed memory, with their message as evidence.

Seed 004 calls it the conscious commit. It does not wait for the session to rest, and no model rephrases the words. What
consolidation makes of the same words, before or after, ends up in the same memory (see `memory.store.writing`).
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from chat.models import Message
from chat.models.message import MessageQuerySet
from echovessel.embeddings import embedding
from echovessel.language.requests import Request, RequestKind, read_requests
from memory.curation import actions
from memory.entities.mentions import note_named
from memory.models import ConceptNode, Evidence
from memory.models.node import MAX_DESCRIPTION, NodeQuerySet
from memory.store.active_model import follow, with_one_model
from memory.store.writing import Draft, Quote, emotion_tags, relational_tags, tidy_description, write
from persona.models import Persona

Role, Status = Message.Role, ConceptNode.Status
DESCRIPTION_TEMPLATES = {"en": "{name}: “{words}”", "zh": "{name}：“{words}”"}
MAX_MESSAGES_BACK = 10

WORDS = {
    "off_the_record": _("This conversation is off the record: nothing in it is remembered."),
    "withheld": _("This message is withheld and is not remembered."),
    "empty": _("This message has no text."),
    "forgotten": _("This was deleted for good and is not remembered again."),
}


@dataclass(frozen=True)
class Place:
    """Part of a message: `content[start:end]`."""

    start: int
    end: int


class NotRemembered(Exception):
    """A message that cannot be remembered; `code` and message give the reason."""

    def __init__(self, code: str) -> None:
        super().__init__(WORDS[code])
        self.code = code


@dataclass(frozen=True)
class RememberedMessage:
    """A message that a person asked to remember, and its remembered words."""

    message: Message
    words: str
    is_whole: bool


@with_one_model
def remember(message: Message, now: datetime, words: Place | None = None, within: Place | None = None) -> ConceptNode:
    """The memory of a message, made if there is none yet: of the whole message or of its `words`. `within` is the part
    they belong to, such as the request to remember them.

    No transaction may be open. Raises NotRemembered and EmbeddingUnavailable.
    """
    quote, text = _quoted(message, words, within)
    if existing := _existing_memory(quote):
        return existing
    by_user = message.role == Role.USER
    draft = Draft(
        kind=ConceptNode.Kind.EVENT,
        description=_describe(message, text.strip()),
        source=ConceptNode.Source.PERSON,
        subject=ConceptNode.Subject.USER if by_user else ConceptNode.Subject.PERSONA,
        session=message.session,
        verification=ConceptNode.Verification.CONFIRMED,
        evidence=[quote],
        created_at=message.created_at,
    )
    model = follow()
    [vector] = embedding.embed([tidy_description(draft.description)], is_hurried=True)
    persona = message.persona
    with transaction.atomic():
        Persona.objects.select_for_update().get(pk=persona.pk)  # two presses of one button queue up here
        if existing := _existing_memory(quote):
            return existing
        # Absorb memories that consolidation has already made of these words only.
        extracted = ConceptNode.objects.filter(source=ConceptNode.Source.EXTRACTION, kind=ConceptNode.Kind.EVENT)
        beyond = Evidence.objects.exclude(message=quote.message, start__gte=quote.start, end__lte=quote.end)
        inside = _within(extracted.filter(status__in=[Status.ACTIVE, Status.HIDDEN]), quote, around=False)
        absorbed = list(inside.exclude(evidence__in=beyond.filter(node__in=inside)).distinct())
        node = write(persona, _absorb(draft, absorbed), vector, model, now)
        if node.node is None:
            raise NotRemembered("forgotten")
        actions.show(node.node)
        note_named(node.node, text)
    return node.node


def remember_requested(messages: Iterable[Message], now: datetime) -> list[ConceptNode]:
    """The memories that the owner's messages ask for, each made once: a memory that was hidden, corrected or archived
    since stays so, however often the message is read. Messages that cannot be remembered are skipped."""
    nodes: list[ConceptNode] = []
    for message in messages:
        request = _read_remember_request(message) if message.role == Role.USER else None
        target = _message_before(message) if request and request.points_back else message
        if request is None or target is None:
            continue
        words = within = None
        if not request.points_back:
            # "Next time I panic, remember: call Ben" is remembered including its first half.
            condition, start = request.condition.text, request.subject_start
            start = message.content.find(condition, request.start) if condition else start
            words = Place(max(start, request.start), request.subject_start + len(request.subject))
            within = Place(request.start, request.end)
        with suppress(NotRemembered):
            quote, _words = _quoted(target, words, within)
            nodes.append(_requested_memories(quote).first() or remember(target, now, words, within))
    return nodes


def remembered_message_ids(messages: MessageQuerySet) -> list[RememberedMessage]:
    """The messages among `messages` that somebody asked to remember and that are remembered, each once."""
    by_person = {"node__source": ConceptNode.Source.PERSON, "node__kind": ConceptNode.Kind.EVENT}
    rows = Evidence.objects.filter(message__in=messages, node__status=Status.ACTIVE, **by_person)
    remembered = {}
    for row in rows.select_related("message__persona__owner", "node").order_by("-node"):
        before, _sign, after = _describe(row.message, "\0").partition("\0")
        words = row.node.description.removeprefix(before).removesuffix(after)
        is_whole = words == tidy_description(row.message.content)
        remembered[row.message_id] = RememberedMessage(row.message, words, is_whole)
    return list(remembered.values())


def _read_remember_request(message: Message) -> Request | None:
    return next(
        (request for request in read_requests(message.content, only_sure=True) if request.kind is RequestKind.REMEMBER),
        None,
    )


def _message_before(message: Message) -> Message | None:
    """The user's last message before it in the session that is not such a request itself."""
    owner_messages = Message.objects.filter(session=message.session_id, role=Role.USER, withheld=False).before(message)
    newest_first = owner_messages.select_related("session", "persona__owner").order_by("-created_at", "-id")
    for earlier in newest_first[:MAX_MESSAGES_BACK]:
        request = _read_remember_request(earlier)
        if request is None or not request.points_back:
            return earlier
    return None


def _quoted(message: Message, words: Place | None, within: Place | None) -> tuple[Quote, str]:
    """The evidence, and the words. Text too long for a memory is cut in both, so that the rest can still become another
    memory."""
    if message.session.off_the_record:
        raise NotRemembered("off_the_record")
    if message.withheld or message.role == Role.SYSTEM:
        raise NotRemembered("withheld")
    content = message.content
    start, end = (words.start, words.end) if words else (0, len(content))
    text = content[start : min(end, start + MAX_DESCRIPTION - len(_describe(message, "")))]
    if not text.strip():
        raise NotRemembered("empty")
    is_uncut = start + len(text) == end
    first = within.start if within else start
    last = within.end if within and is_uncut else start + len(text)
    return Quote(message, content[first:last], first, last), text


def _describe(message: Message, words: str) -> str:
    persona = message.persona
    speaker = persona.user_display_name if message.role == Role.USER else persona.name
    return DESCRIPTION_TEMPLATES.get(persona.language, DESCRIPTION_TEMPLATES["en"]).format(name=speaker, words=words)


def _requested_memories(quote: Quote) -> NodeQuerySet:
    """The memories of these words that were requested before, whatever their status now."""
    requested = ConceptNode.objects.filter(source=ConceptNode.Source.PERSON, kind=ConceptNode.Kind.EVENT)
    return _within(requested, quote, around=True).order_by("id")


def _existing_memory(quote: Quote) -> ConceptNode | None:
    """The first of these that is still there, shown again if it was hidden."""
    node = _requested_memories(quote).filter(status__in=[Status.ACTIVE, Status.HIDDEN]).first()
    if node is not None:
        actions.show(node)
    return node


def _within(nodes: NodeQuerySet, quote: Quote, *, around: bool) -> NodeQuerySet:
    """The nodes with evidence at the place of the quote: evidence that contains the quote (`around`), or lies inside
    it."""
    evidence = Evidence.objects.filter(message=quote.message)
    if around:
        return nodes.filter(evidence__in=evidence.filter(start__lte=quote.start, end__gte=quote.end))
    return nodes.filter(evidence__in=evidence.filter(start__gte=quote.start, end__lte=quote.end))


def _absorb(draft: Draft, nodes: Sequence[ConceptNode]) -> Draft:
    """The draft that supersedes these memories, with their values beyond its words."""
    times = ((node.event_time_start, node.event_time_end) for node in nodes)
    return replace(
        draft,
        emotional_impact=max((node.emotional_impact for node in nodes), key=abs, default=0),
        emotion_tags=emotion_tags(tag for node in nodes for tag in node.emotion_tags),
        relational_tags=relational_tags(tag for node in nodes for tag in node.relational_tags),
        event_time=next(((first, last) for first, last in times if first and last), None),
        supersedes=nodes,
    )

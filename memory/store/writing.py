"""The one gate through which every node is written, whatever it comes from.

    normalise -> rests on a line that is gone or put away, or on nothing that is left: refused
              -> forgotten for good: refused, and counted
              -> words that a person asked to have remembered: told again, in other words
              -> same words as a node of its kind: mentioned once more
              -> out of the same lines what a person has corrected since: left as it was corrected
              -> nearly the same (cosine >= 0.92) as one of the last 30 days, and nothing new in it: reinforced
              -> else a new node, with vector, words, evidence and filling

A node that rests on the messages of a draft already was not mentioned again: the same lines were only read twice, as
those that two chunks share. It is left as it is; only what a person asked to have remembered, word for word, learns
from such a reading what words alone do not say: how much it weighs, its tags, and when it happened.

All of it in the caller's transaction. Nothing is embedded here: the vector is given, because no transaction may be
open while a model works.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal
from unicodedata import category
from uuid import UUID

import numpy as np
from django.db.models import Exists, F, OuterRef, Q

from chat.models import Message, Session
from echovessel.outbox import events
from memory import knobs
from memory.models import ConceptNode, Evidence, Filling, NodeVersion
from memory.models.node import (
    MAX_DESCRIPTION,
    MAX_EMOTION_TAG_LENGTH,
    MAX_EMOTION_TAGS,
    MAX_IMPACT,
    MAX_RELATIONAL_TAGS,
    RELATIONAL_TAGS,
    NodeQuerySet,
)
from memory.store import tombstones, vectors
from memory.store.active_model import expect
from memory.store.corrections import ReplacedText
from memory.store.deduplication import DateRange, adds_nothing, content_hash, dates_conflict, telling_words
from memory.store.derived_text import erase_derived_text
from memory.store.tombstones import TombstoneSource
from persona.models import Persona

NEIGHBOURS = 20
HIDDEN_COMPARED = 300  # the newest hidden nodes; vec0 holds none of them, so that they are compared one by one
Kind, Status, Source = ConceptNode.Kind, ConceptNode.Status, ConceptNode.Source
LIVING = (Status.ACTIVE, Status.HIDDEN)

Outcome = Literal["new", "repeated", "reinforced", "refused"]


@dataclass(frozen=True)
class Quote:
    """Words of a message, as they stand in it: `content[start:end] == text`."""

    message: Message
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Draft:
    """A node as its source wants it, before the gate. `event_time` is (first day, last day).

    `filling` are the nodes it was concluded from; `supersedes` those that are not true any more because of it;
    `created_at` is when it was said, where that is not now; `import_uuid` the import that brought it: she has not been
    told it today, then, but when it was said.
    """

    kind: str
    description: str
    source: str
    subject: str = ConceptNode.Subject.USER
    emotional_impact: int = 0
    emotion_tags: Sequence[str] = ()
    relational_tags: Sequence[str] = ()
    event_time: DateRange | None = None
    session: Session | None = None
    confidence: float = 1.0
    status: str = Status.ACTIVE
    verification: str = ConceptNode.Verification.UNVERIFIED
    evidence: Sequence[Quote] = ()
    filling: Sequence[ConceptNode] = ()
    supersedes: Sequence[ConceptNode] = ()
    external_id: str | None = None
    created_at: datetime | None = None
    import_uuid: UUID | None = None

    def told_at(self, now: datetime) -> datetime:
        """When she was told it."""
        return self.created_at or now if self.import_uuid else now


@dataclass(frozen=True)
class WrittenNode:
    """What became of a draft: the node that holds it now, and how it got in; no node where it was refused."""

    node: ConceptNode | None
    outcome: Outcome


def write(persona: Persona, draft: Draft, vector: np.ndarray, model: str, now: datetime) -> WrittenNode:
    """Let one draft through the gate. `vector` is of its description, by `model`: (384,) float32, unit length.

    Call inside a transaction. Raises ValueError for an empty description, and for filling, superseded nodes or
    messages of another persona; ModelChanged where another embedding model has come into use.
    """
    if not tidy_description(draft.description):
        raise ValueError("a node needs a description")
    owners = {node.persona_id for node in (*draft.filling, *draft.supersedes)}
    owners |= {quote.message.persona_id for quote in draft.evidence}
    if owners - {persona.pk}:
        raise ValueError("a node may only rest on what belongs to its own persona")
    expect(model)
    if not _stands(draft) or _is_buried(persona, draft):
        return WrittenNode(None, "refused")
    draft = replace(draft, filling=_live(draft.filling))
    known, outcome = _known(persona, draft, vector, now)
    if known and _was_only_read_again(known, draft):
        node, outcome = _learning(persona, known, draft), "repeated"
    else:
        node = _mentioned_again(known, draft.told_at(now)) if known else _inserted(persona, draft, vector, model, now)
        # Add what the node rests on; what it rests on already is not added twice.
        Evidence.objects.bulk_create(
            [
                Evidence(node=node, message=quote.message, quote=quote.text, start=quote.start, end=quote.end)
                for quote in draft.evidence
            ],
            ignore_conflicts=True,
        )
        Filling.objects.bulk_create(
            [Filling(parent=node, child=child) for child in draft.filling if child.pk != node.pk],
            ignore_conflicts=True,
        )
        _announce(persona, node, draft, outcome)
    if node.status == Status.ACTIVE:
        _supersede(persona, draft.supersedes, node)
    return WrittenNode(node, outcome)


def tidy_description(description: str) -> str:
    """The description as it is stored: one line of at most 2,000 characters. Embed this."""
    return in_one_line(description)[:MAX_DESCRIPTION]


def in_one_line(text: str) -> str:
    """The text with its spaces collapsed, without control characters (NUL, backspace); of the rest every sign."""
    return " ".join("".join(sign for sign in text if sign.isspace() or category(sign) != "Cc").split())


def emotion_tags(tags: Iterable[str]) -> list[str]:
    """At most four, lower-case, each once."""
    tidy = (" ".join(tag.lower().split())[:MAX_EMOTION_TAG_LENGTH] for tag in tags)
    return list(dict.fromkeys(filter(None, tidy)))[:MAX_EMOTION_TAGS]


def relational_tags(tags: Iterable[str]) -> list[str]:
    """At most three of the closed vocabulary, each once, in the order given."""
    tidy = map(normalize_relational_tag, tags)
    known: Collection[str] = RELATIONAL_TAGS
    return list(dict.fromkeys(tag for tag in tidy if tag in known))[:MAX_RELATIONAL_TAGS]


def normalize_relational_tag(tag: str) -> str:
    """The tag as the closed vocabulary spells it, if it is one of it.

    >>> normalize_relational_tag(" Turning_Point")
    'turning-point'
    """
    return tag.strip().lower().replace("_", "-").replace(" ", "-")


def clamped_impact(impact: int) -> int:
    """The nearest impact within -10 … 10."""
    return max(-MAX_IMPACT, min(MAX_IMPACT, impact))


def _stands(draft: Draft) -> bool:
    """Whether what it rests on is there still: a draft was made before its transaction, and somebody may have forgotten
    a line of it since, or put it away. Of what it was concluded from, something must be left."""
    said_in = {quote.message.pk for quote in draft.evidence}
    if said_in and Message.objects.filter(pk__in=said_in, withheld=False).count() < len(said_in):
        return False
    return not draft.filling or bool(draft.evidence) or bool(_live(draft.filling))


def _live(filling: Sequence[ConceptNode]) -> list[ConceptNode]:
    """Those that are there still, and not put away, superseded or archived."""
    if not filling:
        return []
    live = set(
        ConceptNode.objects.filter(pk__in=[node.pk for node in filling]).recallable().values_list("pk", flat=True)
    )
    return [node for node in filling if node.pk in live]


def _is_buried(persona: Persona, draft: Draft) -> bool:
    """Whether a text in which something forgotten might come back is buried. What the owner says anew is not."""
    told_at = burials_of(draft)
    return bool(tombstones.refused_among(persona, told_at, told_at))


def burials_of(draft: Draft) -> dict[TombstoneSource, datetime | None]:
    """Every text in which something forgotten might come back, with the moment the owner told it anew, if they did.

    The description is told anew by a message that shares a word with it, a quote by any message of the owner's."""
    said = {quote.message.pk: quote.message for quote in draft.evidence}.values()
    anew = [message for message in said if is_native_message(message)]
    telling = telling_words(draft.description)
    told = (message.created_at for message in anew if telling & telling_words(message.content))
    found: dict[TombstoneSource, datetime | None] = {
        TombstoneSource("text", tidy_description(draft.description)): max(told, default=None)
    }
    last = max((message.created_at for message in anew), default=None)
    for quote in draft.evidence:
        for text in (quote.text, quote.message.content):
            found[TombstoneSource("text", text)] = found[TombstoneSource("line", text, quote.message.day)] = last
    return found


def is_native_message(message: Message) -> bool:
    """Whether the owner sent it here, and no file brought it."""
    return message.role == Message.Role.USER and not message.speaker and message.import_uuid is None


def _known(persona: Persona, draft: Draft, vector: np.ndarray, now: datetime) -> tuple[ConceptNode | None, Outcome]:
    if asked_for := _asked_for(persona, draft):
        return asked_for, "repeated"
    if same := _with_same_words(persona, draft) or _corrected_since(persona, draft):
        return same, "repeated"
    if near := _nearly_the_same(persona, draft, vector, now):
        return near, "reinforced"
    return None, "new"


def _asked_for(persona: Persona, draft: Draft) -> ConceptNode | None:
    """The event that a person asked to have remembered out of the very words that the draft rests on, whatever became
    of it since. What another message says, or these words say beside it, is never taken for it."""
    said_in = {quote.message.pk for quote in draft.evidence}
    if draft.kind != Kind.EVENT or draft.status != Status.ACTIVE or draft.source == Source.PERSON or len(said_in) != 1:
        return None
    words = Evidence.objects.filter(
        message__in=said_in,
        start__lte=min(quote.start for quote in draft.evidence),
        end__gte=max(quote.end for quote in draft.evidence),
    )
    asked_for = ConceptNode.objects.of(persona).filter(kind=Kind.EVENT, source=Source.PERSON, evidence__in=words)
    return asked_for.order_by("id").first()


def _with_same_words(persona: Persona, draft: Draft) -> ConceptNode | None:
    """The node of the same words, unless its dates say that it is another one. What is hidden stays hidden."""
    found = _rivals(persona, draft).filter(content_hash=content_hash(tidy_description(draft.description)))
    return next(
        (node for node in found.order_by("id") if not dates_conflict(event_time_of(node), draft.event_time)), None
    )


def _corrected_since(persona: Persona, draft: Draft) -> ConceptNode | None:
    """The node that these very lines once made, and that a person has put into other words."""
    said_in = {quote.message.pk for quote in draft.evidence}
    rivals = _rivals(persona, draft).filter(evidence__message__in=said_in)
    wanted = content_hash(tidy_description(draft.description))
    versions = NodeVersion.objects.filter(node__in=rivals).select_related("node").order_by("node", "version")
    earlier = (version.node for version in versions if content_hash(version.description) == wanted)
    return next((node for node in earlier if _was_only_read_again(node, draft)), None)


def _was_only_read_again(known: ConceptNode, draft: Draft) -> bool:
    """Whether the draft rests on messages that `known` rests on already, and on nothing else."""
    said_in = {quote.message.pk for quote in draft.evidence}
    return bool(said_in) and said_in <= set(known.evidence.values_list("message", flat=True))


def _nearly_the_same(persona: Persona, draft: Draft, vector: np.ndarray, now: datetime) -> ConceptNode | None:
    """The nearest node that tells the same; a hidden one only where no visible one does, but whatever its age: what a
    person has put away does not come back because a month has passed."""
    if draft.status != Status.ACTIVE:
        return None
    # The cosine of two unit vectors at a Euclidean distance.
    cosines = [(pk, 1 - distance * distance / 2) for pk, distance in vectors.nearest(persona.pk, vector, NEIGHBOURS)]
    cosines += _hidden(persona, draft, vector)
    near = [pk for pk, cosine in cosines if cosine >= knobs.reinforce_cosine()]
    replaced = {node.pk for node in draft.supersedes}
    rivals = _rivals(persona, draft).filter(_about_then(draft, now) | Q(status=Status.HIDDEN)).in_bulk(near)
    found = (rivals[pk] for pk in near if pk in rivals and pk not in replaced)
    return next(
        (
            node
            for node in found
            if adds_nothing(draft.description, node.description)
            and not dates_conflict(event_time_of(node), draft.event_time)
        ),
        None,
    )


def _about_then(draft: Draft, now: datetime) -> Q:
    """Told so shortly before that it is still the same thing; what comes from elsewhere, shortly after it, too."""
    told_at, about = draft.told_at(now), timedelta(days=knobs.reinforce_days())
    later = Q(created_at__lte=told_at + about) if draft.import_uuid else Q()
    return Q(created_at__gte=told_at - about) & later


def _hidden(persona: Persona, draft: Draft, vector: np.ndarray) -> list[tuple[int, float]]:
    """The persona's newest hidden nodes and their cosines, the nearest first: told again in other words, they stay
    hidden."""
    hidden = _rivals(persona, draft).filter(status=Status.HIDDEN).newest_first()[:HIDDEN_COMPARED]
    stored = vectors.of(hidden.values_list("pk", flat=True))
    cosines = [(pk, float(other @ vector)) for pk, other in stored.items()]
    return sorted(cosines, key=lambda one: (-one[1], one[0]))


def _rivals(persona: Persona, draft: Draft) -> NodeQuerySet:
    """The nodes that a draft may be the same as. A claim without evidence never strengthens one that has it, and what a
    person asks for is not left to what a model made of it. What is promised or expected anew is not what ended already,
    unless the very lines of that are only read again."""
    live = [Status.ACTIVE, Status.HIDDEN] if draft.status == Status.ACTIVE else [draft.status]
    rivals = ConceptNode.objects.of(persona).filter(kind=draft.kind, status__in=live)
    if draft.kind in (Kind.INTENTION, Kind.EXPECTATION):
        read_again = Evidence.objects.filter(message__in={quote.message.pk for quote in draft.evidence}).values("node")
        rivals = rivals.filter(Q(outcome=ConceptNode.Outcome.OPEN) | Q(pk__in=read_again))
    return rivals.filter(source=Source.PERSON) if draft.source == Source.PERSON else rivals


def event_time_of(node: ConceptNode) -> DateRange | None:
    if node.event_time_start is None or node.event_time_end is None:
        return None
    return node.event_time_start, node.event_time_end


def _mentioned_again(node: ConceptNode, at: datetime) -> ConceptNode:
    last = max(at, node.last_mentioned_at)
    ConceptNode.objects.filter(pk=node.pk).update(mention_count=F("mention_count") + 1, last_mentioned_at=last)
    node.refresh_from_db(fields=["mention_count", "last_mentioned_at"])
    return node


def _learning(persona: Persona, node: ConceptNode, draft: Draft) -> ConceptNode:
    """The node; one of a person's with what the draft knows beyond its words. Of several weights the greatest counts,
    so that no shock is lost among the things that one line tells."""
    if node.source != Source.PERSON or draft.source == Source.PERSON:
        return node
    start, end = event_time_of(node) or draft.event_time or (None, None)
    impact = clamped_impact(draft.emotional_impact)
    learned = {
        "emotional_impact": max(node.emotional_impact, impact, key=abs),
        "emotion_tags": emotion_tags([*node.emotion_tags, *draft.emotion_tags]),
        "relational_tags": relational_tags([*node.relational_tags, *draft.relational_tags]),
        "event_time_start": start,
        "event_time_end": end,
    }
    if all(getattr(node, name) == value for name, value in learned.items()):
        return node
    ConceptNode.objects.filter(pk=node.pk).update(**learned)
    node.refresh_from_db(fields=[*learned])
    _announce(persona, node, draft, "repeated")
    return node


def _inserted(persona: Persona, draft: Draft, vector: np.ndarray, model: str, now: datetime) -> ConceptNode:
    description = tidy_description(draft.description)
    start, end = draft.event_time or (None, None)
    node = ConceptNode.objects.create(
        persona=persona,
        kind=draft.kind,
        subject=draft.subject,
        description=description,
        emotional_impact=clamped_impact(draft.emotional_impact),
        emotion_tags=emotion_tags(draft.emotion_tags),
        relational_tags=relational_tags(draft.relational_tags),
        event_time_start=start,
        event_time_end=end,
        session=draft.session,
        source=draft.source,
        confidence=max(0.0, min(1.0, draft.confidence)),
        status=draft.status,
        verification=draft.verification,
        last_mentioned_at=draft.told_at(now),
        created_at=draft.created_at or now,
        content_hash=content_hash(description),
        embedding_model=model,
        external_id=draft.external_id,
        import_uuid=draft.import_uuid,
    )
    vectors.index([node], vector[np.newaxis, :])
    return node


def _supersede(persona: Persona, replaced: Sequence[ConceptNode], by: ConceptNode) -> None:
    """Old nodes keep their row and history, and are not recalled as current any more; nor is what was concluded from
    nothing else. What was written of those whom they mention is erased, if no person wrote it."""
    replaceable = ConceptNode.objects.of(persona).filter(status__in=LIVING).exclude(pk=by.pk)
    outdated = list(replaceable.filter(pk__in=[node.pk for node in replaced]).order_by("id"))
    while outdated:
        for node in outdated:
            ConceptNode.objects.filter(pk=node.pk).update(status=Status.SUPERSEDED, superseded_by=by)
            events.publish(
                persona.uuid,
                "memory.node.updated",
                node_id=str(node.uuid),
                kind=node.kind,
                change="superseded",
                superseded_by=str(by.uuid),
            )
            erase_derived_text(node, ReplacedText(node.description, by.description))
        # Those of what was concluded that rest on nothing more that is held true.
        concluded = replaceable.filter(filling__child__in=outdated)
        held_true = Filling.objects.filter(parent=OuterRef("pk"), child__status__in=[*LIVING, Status.ARCHIVED])
        said = Evidence.objects.filter(node=OuterRef("pk"))
        of_no_person = concluded.exclude(source=Source.PERSON)
        outdated = list(of_no_person.exclude(Exists(held_true)).exclude(Exists(said)).distinct().order_by("id"))


def _announce(persona: Persona, node: ConceptNode, draft: Draft, outcome: Outcome) -> None:
    """Tell the stream. What is hidden or quarantined is told by no one."""
    if node.status != Status.ACTIVE:
        return
    if outcome != "new":
        events.publish(
            persona.uuid,
            "memory.node.updated",
            node_id=str(node.uuid),
            kind=node.kind,
            change=outcome,
            mention_count=node.mention_count,
            **_message_of(draft),
        )
    elif node.kind == Kind.EVENT:
        events.publish(
            persona.uuid,
            "memory.event.created",
            event_id=str(node.uuid),
            description=node.description,
            emotional_impact=node.emotional_impact,
            session_id=str(draft.session.uuid) if draft.session else None,
            **_message_of(draft),
        )
    else:
        events.publish(
            persona.uuid,
            "memory.thought.created",
            thought_id=str(node.uuid),
            type=node.kind,
            subject=node.subject,
            description=node.description,
            source=node.source,
            filling_event_ids=[str(child.uuid) for child in draft.filling],
        )


def _message_of(draft: Draft) -> dict[str, str]:
    """The line that a person asked to have remembered, so that its page can say that it is."""
    if draft.source != Source.PERSON or not draft.evidence:
        return {}
    return {"message_id": str(draft.evidence[0].message.uuid)}

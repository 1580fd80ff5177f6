"""The one gate through which every node is written, whatever its source.

    normalise -> rests on a message that is gone or withheld, or on no remaining node: refused
              -> forgotten for good: refused, and counted
              -> the words of a memory that a person requested: mentioned again, in other words
              -> same words as a node of its kind: mentioned once more
              -> from the same messages, words that a person has corrected since: left as corrected
              -> nearly the same (cosine >= 0.92) as one of the last 30 days, and nothing new in it: reinforced
              -> else a new node, with vector, words, evidence and filling

A node that already rests on the messages of a draft was not mentioned again: the same messages were read twice, such as
those that two chunks share. It is left unchanged; only a memory that a person requested, word for word, takes from such
a reading what the words alone do not say: its impact, its tags, and its date.

Everything happens in the caller's transaction. Nothing is embedded here: the caller passes the vector, because no
transaction may be open while a model works.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal
from unicodedata import category
from uuid import UUID

import numpy as np
from django.db.models import Exists, F, OuterRef, Q, prefetch_related_objects

from chat.models import Message, Session
from echovessel.db.compiled_queries import Query, insert
from echovessel.db.sqlite import bulk
from echovessel.embeddings import embedding
from echovessel.language.coarse_dates import span_of
from echovessel.language.dates import Days
from echovessel.language.health import bears_on_health
from echovessel.language.person_names import occurs
from echovessel.outbox import events
from memory import knobs
from memory.models import Alias, ConceptNode, Entity, Evidence, Filling, NodeVersion
from memory.models.node import (
    L3,
    MAX_CONDITION,
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
from memory.store.corrections import ReplacedText, repeats
from memory.store.deduplication import DateRange, adds_nothing, content_hash, dates_conflict, telling_words
from memory.store.tombstones import TombstoneSource
from persona.models import Persona

NEIGHBOURS = 20
SAME_PLAN = 0.6  # of the content words of the shorter one
MAX_HIDDEN_COMPARED = 300
_CAPITAL_WORD = re.compile(r"\b[A-Z]\w+")
Kind, Status, Source = ConceptNode.Kind, ConceptNode.Status, ConceptNode.Source
LIVING = (Status.ACTIVE, Status.HIDDEN)

Outcome = Literal["new", "repeated", "reinforced", "refused"]

# A session writes a dozen memories, and hardly any of them repeats another one.
_readable: Query[tuple[int]] = Query(
    lambda message: Message.objects.filter(pk=message, withheld=False).order_by().values_list("pk")
)
_requested_from: Query[ConceptNode] = Query(
    lambda persona, message, start, end: ConceptNode.objects.filter(
        persona=persona,
        kind=Kind.EVENT,
        source=Source.PERSON,
        evidence__in=Evidence.objects.filter(message=message, start__lte=start, end__gte=end),
    ).order_by("id")[:1]
)
_any_with_hash: Query[tuple[int]] = Query(
    lambda persona, digest: (
        ConceptNode.objects.filter(persona=persona, content_hash=digest).order_by().values_list("pk")[:1]
    )
)
_any_version: Query[tuple[int]] = Query(
    lambda message: NodeVersion.objects.filter(node__evidence__message=message).order_by().values_list("pk")[:1]
)
_any_hidden: Query[tuple[int]] = Query(
    lambda persona, kind: (
        ConceptNode.objects.filter(persona=persona, kind=kind, status=Status.HIDDEN).order_by().values_list("pk")[:1]
    )
)


@dataclass(frozen=True)
class Quote:
    """A quote from a message: `content[start:end] == text`."""

    message: Message
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Draft:
    """A node as its source proposes it, before the gate. `event_time` is (first day, last day).

    `filling` are the nodes it was concluded from; `supersedes` the nodes that it makes untrue; `came_about` the plans
    that it reports as carried out. `created_at` is the time of its message, if that is not now. `import_uuid` is its
    import: then the owner recorded it at `created_at`, not today. `domain`, `since`, `until` and `plan_state` belong to
    a fact, `scope`, `condition` and `is_boundary` to a lesson.
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
    came_about: Sequence[ConceptNode] = ()
    external_id: str | None = None
    created_at: datetime | None = None
    import_uuid: UUID | None = None
    domain: str = ""
    since: str = ""
    until: str = ""
    plan_state: str = ""
    scope: str = ""
    condition: str = ""
    is_boundary: bool = False

    @property
    def message_ids(self) -> set[int]:
        return {quote.message.pk for quote in self.evidence}

    def recorded_at(self, now: datetime) -> datetime:
        """The time at which the owner said it."""
        return self.created_at or now if self.import_uuid else now


@dataclass(frozen=True)
class WrittenNode:
    """The outcome of a draft, and the node that now holds it; None if it was refused."""

    node: ConceptNode | None
    outcome: Outcome


def write(persona: Persona, draft: Draft, vector: np.ndarray, model: str, now: datetime) -> WrittenNode:
    """Let one draft through the gate. `vector` is of its description, by `model`: (d,) float32, unit length.

    Call inside a transaction. Raises ValueError for an empty description, and for filling, superseded nodes or messages
    of another persona; ModelChanged if another embedding model has come into use.
    """
    if not tidy_description(draft.description):
        raise ValueError("a node needs a description")
    owners = {node.persona_id for node in (*draft.filling, *draft.supersedes, *draft.came_about)}
    owners |= {quote.message.persona_id for quote in draft.evidence}
    if owners - {persona.pk}:
        raise ValueError("a node may only rest on what belongs to its own persona")
    expect(model)
    # The draft was made before the transaction: its ground may have been forgotten or withheld since.
    if not all(map(_readable, draft.message_ids)):
        return WrittenNode(None, "refused")
    if draft.filling:
        live = ConceptNode.objects.filter(pk__in=[node.pk for node in draft.filling]).recallable()
        live_ids = set(live.values_list("pk", flat=True))
        draft = replace(draft, filling=[node for node in draft.filling if node.pk in live_ids])
        if not draft.evidence and not draft.filling:
            return WrittenNode(None, "refused")
    sources = tombstone_sources(draft)
    if tombstones.refused_among(persona, sources, sources):
        return WrittenNode(None, "refused")
    outcome: Outcome = "repeated"
    existing = _find_requested_memory(persona, draft) or _find_same_words(persona, draft)
    if existing is None:
        existing = _find_near_duplicate(persona, draft, vector, now)
        outcome = "reinforced" if existing else "new"
    if existing and _rests_on_same_messages(existing, draft):
        node, outcome = _update_requested(persona, existing, draft), "repeated"
    else:
        if existing:
            node, last = existing, max(draft.recorded_at(now), existing.last_mentioned_at)
            changes = {"mention_count": F("mention_count") + 1, "last_mentioned_at": last}
            ConceptNode.objects.filter(pk=node.pk).update(**changes)
            node.refresh_from_db(fields=[*changes])
        else:
            node = _insert(persona, draft, vector, model, now)
        # Add the node's evidence and filling; existing rows are not added twice.
        spans = (quote for quote in draft.evidence if quote.start < quote.end)
        quotes = ((node.pk, quote.message.pk, quote.text, quote.start, quote.end) for quote in spans)
        bulk.insert_values(Evidence, ("node_id", "message_id", "quote", "start", "end"), quotes, ignore_conflicts=True)
        Filling.objects.bulk_create(
            [Filling(parent=node, child=child) for child in draft.filling if child.pk != node.pk],
            ignore_conflicts=True,
        )
        _announce(persona, node, draft, outcome)
    if node.status == Status.ACTIVE:
        supersede(persona, draft.supersedes, node)
        if draft.came_about or draft.plan_state == ConceptNode.PlanState.DONE:
            _mark_plans_done(persona, draft.came_about, node)
    return WrittenNode(node, outcome)


def tidy_description(description: str) -> str:
    """The description as it is stored: one line of at most 2,000 characters. Embed this."""
    return in_one_line(description)[:MAX_DESCRIPTION]


def in_one_line(text: str) -> str:
    """The text with spaces collapsed and without control characters (NUL, backspace); all other characters stay."""
    return " ".join("".join(sign for sign in text if sign.isspace() or category(sign) != "Cc").split())


def emotion_tags(tags: Iterable[str]) -> list[str]:
    """At most four, lower-case, each once."""
    tidy = (" ".join(tag.lower().split())[:MAX_EMOTION_TAG_LENGTH] for tag in tags)
    return list(dict.fromkeys(filter(None, tidy)))[:MAX_EMOTION_TAGS]


def relational_tags(tags: Iterable[str]) -> list[str]:
    """At most three of the closed vocabulary, each once, in the order given."""
    tidy = map(normalize_relational_tag, tags)
    allowed_tags: Collection[str] = RELATIONAL_TAGS
    return list(dict.fromkeys(tag for tag in tidy if tag in allowed_tags))[:MAX_RELATIONAL_TAGS]


def normalize_relational_tag(tag: str) -> str:
    """The tag in the spelling of the closed vocabulary, if it is part of it.

    >>> normalize_relational_tag(" Turning_Point")
    'turning-point'
    """
    return tag.strip().lower().replace("_", "-").replace(" ", "-")


def clamped_impact(impact: int) -> int:
    """The nearest impact within -10 … 10."""
    return max(-MAX_IMPACT, min(MAX_IMPACT, impact))


def concern_of(kind: str, description: str, tags: Collection[str], domain: str = "", subject: str = "") -> str:
    """The reason why an event or a fact stands in every prompt: somebody's health or safety, or the owner's identity.
    Facts about the persona's own life stand in none."""
    if kind not in L3 or (kind == Kind.FACT and subject == ConceptNode.Subject.PERSONA):
        return ""
    if bears_on_health(description):
        return ConceptNode.Concern.HEALTH
    is_core = domain == ConceptNode.Domain.ABOUT and subject == ConceptNode.Subject.USER
    return ConceptNode.Concern.IDENTITY if is_core or "identity-bearing" in tags else ""


def tombstone_sources(draft: Draft) -> dict[TombstoneSource, datetime | None]:
    """Every text in which forgotten content might come back, with the time the owner said it again, if they did.

    A message that shares a word with the description says it again; any message of the owner says its quote again.
    """
    messages = {quote.message.pk: quote.message for quote in draft.evidence}.values()
    new_messages = [message for message in messages if is_native_message(message)]
    telling = telling_words(draft.description)
    moments = (message.created_at for message in new_messages if telling & telling_words(message.content))
    sources: dict[TombstoneSource, datetime | None] = {
        TombstoneSource("text", tidy_description(draft.description)): max(moments, default=None)
    }
    last = max((message.created_at for message in new_messages), default=None)
    for quote in draft.evidence:
        for text in (quote.text, quote.message.content):
            sources[TombstoneSource("text", text)] = sources[TombstoneSource("line", text, quote.message.day)] = last
    return sources


def forgotten_before(nodes: Iterable[ConceptNode]) -> set[int]:
    """The keys of those nodes of a persona whose text was forgotten before the owner said it again: pages mark them."""
    native = [node for node in nodes if node.import_uuid is None]
    if not native or not native[0].persona.tombstones.exists():
        return set()
    prefetch_related_objects(native, "evidence__message")
    sources = {}
    for node in native:
        quotes = [Quote(row.message, row.quote, row.start, row.end) for row in node.evidence.all()]
        sources[node.pk] = tombstone_sources(Draft(node.kind, node.description, node.source, evidence=quotes))
    every = {source for node_sources in sources.values() for source in node_sources}
    tombstone_of = tombstones.find_tombstones(native[0].persona, every)
    return {
        pk
        for pk, node_sources in sources.items()
        if any(
            at and source in tombstone_of and tombstone_of[source].created_at < at
            for source, at in node_sources.items()
        )
    }


def mark_forgotten_before(nodes: Iterable[ConceptNode]) -> list[ConceptNode]:
    """The nodes with the attribute `forgotten_before`, read together."""
    marked = list(nodes)
    forgotten_keys = forgotten_before(marked)
    for node in marked:
        node.forgotten_before = node.pk in forgotten_keys  # type: ignore[attr-defined]
    return marked


def is_native_message(message: Message) -> bool:
    """Whether the owner sent it here, and it was not imported."""
    return message.role == Message.Role.USER and not message.speaker and message.import_uuid is None


def _find_requested_memory(persona: Persona, draft: Draft) -> ConceptNode | None:
    """The event that a person requested from the very words that the draft rests on, whatever its status now. A fact
    from another message, or from other words beside these, never counts as this event."""
    is_unsuited = draft.kind != Kind.EVENT or draft.status != Status.ACTIVE or draft.source == Source.PERSON
    if is_unsuited or len(draft.message_ids) != 1:
        return None
    [message] = draft.message_ids
    start, end = min(quote.start for quote in draft.evidence), max(quote.end for quote in draft.evidence)
    return next(iter(_requested_from(persona.pk, message, start, end)), None)


def _find_same_words(persona: Persona, draft: Draft) -> ConceptNode | None:
    """The node with the same words, unless its dates are of another event; else the node that was made of the same
    messages in these words, before a person changed the words. A hidden node stays hidden."""
    digest = content_hash(tidy_description(draft.description))
    if _any_with_hash(persona.pk, digest):
        for node in _possible_duplicates(persona, draft).filter(content_hash=digest).order_by("id"):
            if not dates_conflict(event_time_of(node), draft.event_time):
                return node
    if not any(map(_any_version, draft.message_ids)):
        return None
    of_messages = _possible_duplicates(persona, draft).filter(evidence__message__in=draft.message_ids)
    versions = NodeVersion.objects.filter(node__in=of_messages).select_related("node").order_by("node", "version")
    earlier = (version.node for version in versions if content_hash(version.description) == digest)
    return next((node for node in earlier if _rests_on_same_messages(node, draft)), None)


def _rests_on_same_messages(existing: ConceptNode, draft: Draft) -> bool:
    """Whether all messages of the draft are evidence of `existing` already, and the draft has any."""
    messages = draft.message_ids
    return bool(messages) and messages <= set(existing.evidence.values_list("message", flat=True))


def _find_near_duplicate(persona: Persona, draft: Draft, vector: np.ndarray, now: datetime) -> ConceptNode | None:
    """The nearest node that says the same; a hidden one only if no visible one does, but whatever its age: a memory
    that a person has hidden does not return because a month has passed."""
    if draft.status != Status.ACTIVE:
        return None
    # The cosine of two unit vectors at a Euclidean distance.
    cosines = [(pk, 1 - distance * distance / 2) for pk, distance in vectors.nearest(persona.pk, vector, NEIGHBOURS)]
    if _any_hidden(persona.pk, draft.kind):
        # The index holds no hidden nodes: the newest of them are compared one by one, the nearest first.
        hidden = _possible_duplicates(persona, draft).filter(status=Status.HIDDEN).newest_first()[:MAX_HIDDEN_COMPARED]
        stored_vectors = vectors.of(hidden.values_list("pk", flat=True))
        of_hidden = [(pk, float(hidden_vector @ vector)) for pk, hidden_vector in stored_vectors.items()]
        cosines += sorted(of_hidden, key=lambda pair: (-pair[1], pair[0]))
    least = embedding.scale().own("texts", knobs.reinforce_cosine())
    near = [pk for pk, cosine in cosines if cosine >= least]
    if not near:
        return None
    # Recorded within the last `reinforce_days`; for an imported draft also within as many days after it.
    recorded_at, span = draft.recorded_at(now), timedelta(days=knobs.reinforce_days())
    is_recent = Q(created_at__gte=recorded_at - span)
    if draft.import_uuid:
        is_recent &= Q(created_at__lte=recorded_at + span)
    if draft.kind == Kind.FACT:  # a lasting fact is the same whatever its age
        is_recent = Q()
    replaced = {node.pk for node in draft.supersedes}
    rivals = _possible_duplicates(persona, draft).filter(is_recent | Q(status=Status.HIDDEN)).in_bulk(near)
    return next(
        (
            node
            for node in (rivals[pk] for pk in near if pk in rivals and pk not in replaced)
            if adds_nothing(draft.description, node.description)
            and not dates_conflict(event_time_of(node), draft.event_time)
        ),
        None,
    )


def _possible_duplicates(persona: Persona, draft: Draft) -> NodeQuerySet:
    """The nodes that a draft may duplicate. A claim without evidence never strengthens one with evidence, and a
    person's request is not answered by a node that a model wrote. A new promise or expectation does not duplicate one
    that has ended, unless it rests on the same messages."""
    live = [Status.ACTIVE, Status.HIDDEN] if draft.status == Status.ACTIVE else [draft.status]
    rivals = ConceptNode.objects.of(persona).filter(kind=draft.kind, status__in=live)
    if draft.kind in (Kind.INTENTION, Kind.EXPECTATION):
        of_same_messages = Evidence.objects.filter(message__in=draft.message_ids).values("node")
        rivals = rivals.filter(Q(outcome=ConceptNode.Outcome.OPEN) | Q(pk__in=of_same_messages))
    if draft.kind == Kind.FACT:  # a done or cancelled plan is no duplicate of a planned one with the same words
        rivals = rivals.filter(plan_state=draft.plan_state)
    return rivals.filter(source=Source.PERSON) if draft.source == Source.PERSON else rivals


def days_of_fact(domain: str, since: str, until: str) -> DateRange | None:
    """The days for which a plan is planned; of a lasting fact the days from beginning to end, if both are known.

    A plan with an end only is planned for its last day.

    >>> days_of_fact("plans", "2027-spring", ""), days_of_fact("home", "2019", "")
    ((datetime.date(2027, 3, 1), datetime.date(2027, 5, 31)), None)
    """
    first, last = (span_of(code) if code else None for code in (since, until))
    if domain == ConceptNode.Domain.PLANS:
        first, last = first or (last and Days(last.end, last.end)), last or first
    return (first.start, last.end) if first and last and first.start <= last.end else None


def event_time_of(node: ConceptNode) -> DateRange | None:
    if node.event_time_start is None or node.event_time_end is None:
        return None
    return node.event_time_start, node.event_time_end


def _update_requested(persona: Persona, node: ConceptNode, draft: Draft) -> ConceptNode:
    """The node; if a person requested it, with the values that the draft knows beyond its words. The greatest of
    several impacts counts, so that no shock is lost among the facts of one message."""
    if node.source != Source.PERSON or draft.source == Source.PERSON:
        return node
    start, end = event_time_of(node) or draft.event_time or (None, None)
    impact = clamped_impact(draft.emotional_impact)
    values: dict[str, Any] = {
        "emotional_impact": max(node.emotional_impact, impact, key=abs),
        "emotion_tags": emotion_tags([*node.emotion_tags, *draft.emotion_tags]),
        "relational_tags": relational_tags([*node.relational_tags, *draft.relational_tags]),
        "event_time_start": start,
        "event_time_end": end,
    }
    values["concern"] = concern_of(node.kind, node.description, values["relational_tags"], node.domain, node.subject)
    if all(getattr(node, name) == value for name, value in values.items()):
        return node
    ConceptNode.objects.filter(pk=node.pk).update(**values)
    node.refresh_from_db(fields=[*values])
    _announce(persona, node, draft, "repeated")
    return node


def _insert(persona: Persona, draft: Draft, vector: np.ndarray, model: str, now: datetime) -> ConceptNode:
    description = tidy_description(draft.description)
    start, end = draft.event_time or (None, None)
    tags = relational_tags(draft.relational_tags)
    node = ConceptNode(
        persona=persona,
        kind=draft.kind,
        subject=draft.subject,
        description=description,
        emotional_impact=clamped_impact(draft.emotional_impact),
        emotion_tags=emotion_tags(draft.emotion_tags),
        relational_tags=tags,
        concern=concern_of(draft.kind, description, tags, draft.domain, draft.subject),
        domain=draft.domain,
        since=draft.since,
        until=draft.until,
        plan_state=draft.plan_state,
        scope=draft.scope,
        condition=in_one_line(draft.condition)[:MAX_CONDITION],
        is_boundary=draft.is_boundary,
        event_time_start=start,
        event_time_end=end,
        session=draft.session,
        source=draft.source,
        confidence=max(0.0, min(1.0, draft.confidence)),
        status=draft.status,
        verification=draft.verification,
        last_mentioned_at=draft.recorded_at(now),
        created_at=draft.created_at or now,
        content_hash=content_hash(description),
        embedding_model=model,
        external_id=draft.external_id,
        import_uuid=draft.import_uuid,
    )
    insert(node)
    vectors.index([node], vector[np.newaxis, :])
    return node


def supersede(persona: Persona, replaced: Sequence[ConceptNode], by: ConceptNode) -> None:
    """Supersede nodes: they keep their row and history and are no longer recalled; conclusions that rest on nothing
    else follow. Text derived from them is erased, unless a person wrote it. A hidden node stays hidden."""
    if not replaced:
        return
    replaceable = ConceptNode.objects.of(persona).active().exclude(pk=by.pk)
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
        # Conclusions that rest on no other node that holds, and on no message.
        concluded = replaceable.filter(filling__child__in=outdated)
        standing_grounds = Filling.objects.filter(parent=OuterRef("pk"), child__status__in=[*LIVING, Status.ARCHIVED])
        evidence = Evidence.objects.filter(node=OuterRef("pk"))
        of_no_person = concluded.exclude(source=Source.PERSON)
        outdated = list(
            of_no_person.exclude(Exists(standing_grounds)).exclude(Exists(evidence)).distinct().order_by("id")
        )


def _mark_plans_done(persona: Persona, plans: Sequence[ConceptNode], by: ConceptNode) -> None:
    """Mark plans that were carried out as done; they keep their day. If `by` reports such a plan as done, it becomes a
    plain fact about how it went: no plan is done twice."""
    states = ConceptNode.PlanState
    plans_of_persona = ConceptNode.objects.of(persona).active().filter(plan_state__in=[states.PLANNED, states.DONE])
    named_plans = list(plans_of_persona.filter(pk__in=[plan.pk for plan in plans]).exclude(pk=by.pk))
    same = [*named_plans, *(_find_same_plans(plans_of_persona, by) if by.plan_state == states.DONE else ())]
    for node in same:
        if node.plan_state == states.PLANNED:
            ConceptNode.objects.filter(pk=node.pk).update(plan_state=states.DONE, resolved_by=by)
            change = {"node_id": str(node.uuid), "kind": node.kind, "change": "came_about"}
            events.publish(persona.uuid, "memory.node.updated", **change)
    if same and by.plan_state == states.DONE:
        ConceptNode.objects.filter(pk=by.pk).update(plan_state="")
        by.refresh_from_db(fields=["plan_state"])


def _find_same_plans(plan_nodes: NodeQuerySet, by: ConceptNode) -> list[ConceptNode]:
    """The plans of the same person for the very day of `by` that share most words of the shorter of the two and name
    the same people: Ben's appointment is not Zoe's."""
    if not by.event_time_start or by.event_time_start != by.event_time_end:
        return []
    of_day = plan_nodes.filter(
        event_time_start=by.event_time_start, event_time_end=by.event_time_end, subject=by.subject
    )
    people = Alias.objects.filter(persona=by.persona_id, entity__kind=Entity.Kind.PERSON).values_list("text", flat=True)
    words = telling_words(by.description)
    same_plans = []
    for node in of_day.exclude(pk=by.pk):
        node_words = telling_words(node.description)
        is_alike = len(words & node_words) >= SAME_PLAN * min(len(words), len(node_words))
        own_names, names = (set(_CAPITAL_WORD.findall(text)) for text in (by.description, node.description))
        # Some people are not known yet: if each text has a capitalised word of its own, it may name somebody else.
        both_differ = bool(own_names - names) and bool(names - own_names)
        if (
            is_alike
            and not both_differ
            and all(occurs(name, by.description) == occurs(name, node.description) for name in people)
        ):
            same_plans.append(node)
    return same_plans


def _announce(persona: Persona, node: ConceptNode, draft: Draft, outcome: Outcome) -> None:
    """Publish an active node; hidden and quarantined ones are not published."""
    if node.status != Status.ACTIVE:
        return
    # The message that a person asked to remember, so that its page can show it as remembered.
    requested = draft.source == Source.PERSON and draft.evidence
    message = {"message_id": str(draft.evidence[0].message.uuid)} if requested else {}
    if outcome != "new":
        events.publish(
            persona.uuid,
            "memory.node.updated",
            node_id=str(node.uuid),
            kind=node.kind,
            change=outcome,
            mention_count=node.mention_count,
            **message,
        )
    elif node.kind == Kind.FACT:
        events.publish(
            persona.uuid,
            "memory.fact.created",
            fact_id=str(node.uuid),
            description=node.description,
            domain=node.domain,
            subject=node.subject,
            session_id=str(draft.session.uuid) if draft.session else None,
        )
    elif node.kind == Kind.EVENT:
        events.publish(
            persona.uuid,
            "memory.event.created",
            event_id=str(node.uuid),
            description=node.description,
            emotional_impact=node.emotional_impact,
            session_id=str(draft.session.uuid) if draft.session else None,
            **message,
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


def erase_derived_text(node: ConceptNode, replaced: ReplacedText) -> None:
    """Erase text that was written from a node before its correction and would now contradict it: the descriptions of
    the entities that it mentions, and the summary of its session. Both can be written anew; text by people stays. Call
    in the transaction of the correction, before the node mentions others."""
    erase_entity_descriptions(node)
    if node.session and repeats(node.session.summary, replaced):
        Session.objects.filter(pk=node.session.pk).update(summary="")


def erase_entity_descriptions(node: ConceptNode) -> None:
    """Erase the descriptions of the entities that a node mentions, so that they are described anew."""
    mentioned = Entity.objects.filter(mentions__node=node).exclude(described_by=Entity.DescribedBy.PERSON)
    mentioned.exclude(description="").update(description="", described_by="", described_through=0)

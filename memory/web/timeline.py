"""The timeline: events, thoughts, people and moods, newest first."""

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from uuid import UUID

from django.db.models import Exists, OuterRef
from django.utils.translation import gettext_lazy as _

from chat.models import Session
from memory.models import ConceptNode, Entity, Mention
from memory.store.writing import mark_forgotten_before
from persona.models import MoodChange, Persona
from persona.mood import NEUTRAL_WORDS

MAX_LEARNED = 5
SIGNALS = {
    "warm": _("You seemed warm."),
    "cool": _("You seemed a little distant."),
    "tired": _("You seemed tired."),
    "frustrated": _("You seemed frustrated."),
}
SHOWN_STATUSES = (ConceptNode.Status.ACTIVE, ConceptNode.Status.HIDDEN)


@dataclass(frozen=True)
class Row:
    """One entry of the timeline."""

    key: str
    kind: str
    title: str
    at: datetime
    uuid: UUID
    detail: str = ""
    status: str = ""
    outcome: str = ""
    impact: int | None = None
    tags: tuple[str, ...] = ()
    asked_for: bool = False

    @classmethod
    def of_node(cls, node: ConceptNode) -> "Row":
        return cls(
            key=f"node-{node.uuid}-{node.mention_count}-{node.status}-{node.outcome}",
            kind=node.kind,
            title=node.description,
            at=node.created_at,
            uuid=node.uuid,
            status=node.status,
            outcome=node.outcome,
            impact=node.emotional_impact,
            tags=tuple(map(str, (*node.relational_tags, *node.emotion_tags))),
            asked_for=node.source == ConceptNode.Source.PERSON,
        )

    @classmethod
    def of_entity(cls, entity: Entity) -> "Row":
        others = [alias.text for alias in entity.aliases.all() if alias.text != entity.canonical_name]
        return cls(
            key=f"entity-{entity.uuid}",
            kind="entity",
            title=entity.canonical_name,
            at=entity.created_at,
            uuid=entity.uuid,
            detail=" · ".join([entity.relation_label or str(entity.get_kind_display()), *others]),
        )

    @classmethod
    def of_mood(cls, change: MoodChange) -> "Row":
        signal = change.last_user_signal or ""
        return cls(
            key=f"mood-{change.uuid}",
            kind="mood",
            title=str(_("at ease")) if change.mood.casefold() in NEUTRAL_WORDS else change.mood,
            at=change.at,
            uuid=change.uuid,
            detail=str(SIGNALS.get(signal, signal)),
        )


def rows(persona: Persona, limit: int = 60) -> list[Row]:
    """The newest rows of every layer above the messages, newest first."""
    nodes = ConceptNode.objects.of(persona).filter(status__in=SHOWN_STATUSES).newest_first()[:limit]
    # Entities that a shown memory mentions; one whose memories are all archived or hidden is not shown.
    shown_mentions = Mention.objects.filter(entity=OuterRef("pk"), node__status__in=SHOWN_STATUSES)
    entities = persona.entities.filter(Exists(shown_mentions), status=Entity.Status.CONFIRMED).order_by(
        "-created_at", "-id"
    )
    entities = entities.prefetch_related("aliases")[:limit]
    moods = MoodChange.objects.filter(persona=persona)[:limit]
    sources = (map(Row.of_node, nodes), map(Row.of_entity, entities), map(Row.of_mood, moods))
    return list(islice(heapq.merge(*sources, key=lambda row: row.at, reverse=True), limit))


@dataclass(frozen=True)
class SessionMemories:
    """What was learned in one session: its summary, its first memories, and how many more there are; if the session is
    closed, also the numbers of memories and thoughts."""

    uuid: UUID
    summary: str
    nodes: list[ConceptNode]
    more: int
    is_closed: bool
    memories: int
    thoughts: int


def learned_by_session(persona: Persona, sessions: Iterable[UUID]) -> list[SessionMemories]:
    """What was learned in each of a persona's sessions."""
    session_rows = list(persona.sessions.filter(uuid__in=list(sessions)))
    learned = ConceptNode.objects.of(persona).filter(session__in=session_rows, status__in=SHOWN_STATUSES)
    by_talk: dict[int | None, list[ConceptNode]] = {}
    for node in mark_forgotten_before(learned.order_by("id")):
        by_talk.setdefault(node.session_id, []).append(node)
    return [
        SessionMemories(
            session.uuid,
            session.summary,
            nodes[:MAX_LEARNED],
            len(nodes[MAX_LEARNED:]),
            is_closed=session.status == Session.Status.CLOSED and not session.off_the_record,
            memories=sum(node.kind in (ConceptNode.Kind.EVENT, ConceptNode.Kind.FACT) for node in nodes),
            thoughts=sum(node.kind == ConceptNode.Kind.THOUGHT for node in nodes),
        )
        for session in session_rows
        for nodes in [by_talk.get(session.pk, [])]
    ]

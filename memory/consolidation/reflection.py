"""Reflection: quiet impressions of events, asked of a model of the medium tier when the gate allows it."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np
from django.db import transaction
from django.db.models import Q

from chat.models import Session
from echovessel import llm
from echovessel.embeddings import embedding
from echovessel.jobs.lease import Lease
from memory import knobs
from memory.consolidation import prompt, replies
from memory.consolidation.answer_schema import ReflectedThought, ReflectionAnswer
from memory.consolidation.evidence_checks import grounds
from memory.consolidation.gate import Reflections, asks_the_model, decide
from memory.consolidation.imported import is_long_past
from memory.curation.restatements import names_of
from memory.entities.resolve import link_inherited
from memory.models import ConceptNode, ReflectionRun
from memory.models.node import NodeQuerySet
from memory.store.active_model import follow, with_one_model
from memory.store.writing import Draft, Outcome, tidy_description, write
from persona.models import Persona

logger = logging.getLogger(__name__)

MAX_THOUGHTS = 2
RECOMMENDED_IMPACT = 8
DAY = timedelta(hours=24)
NOTHING = Reflections(runs_in_24h=0, last_run_at=None, fresh_impacts=(), events_since=0)

# Seed 001 §1, tone: no clinical words, no labels, no advice, no metadata. Only logged, never blocked, because a word
# list errs.
TONELESS = (
    "subject", "patient", "exhibits", "demonstrates", "symptom", "disorder", "depression", "ptsd", "diagnos", "pathol",
    "attachment", "avoidance", "maladaptive", "coping mechanism", "therap", "should talk to", "should seek",
    "professional help", "the session", "the conversation", "messages long", "the user",
    "患者", "症状", "抑郁症", "焦虑症", "障碍", "诊断", "表现出", "依恋", "回避型", "应该去", "建议", "心理咨询",
    "会话", "条消息", "该用户",
)  # fmt: skip


@dataclass(frozen=True)
class Plan:
    """The gate's decision, its facts and time, and the events to reflect on."""

    reason: str
    facts: Reflections
    at: datetime
    events: Sequence[ConceptNode]


def reflect(lease: Lease[Session]) -> ReflectionRun:
    """Reflect after a session, if the gate allows it. One run per session, also after repeats.

    Raises LLMError, EmbeddingUnavailable and LeaseLost without writing anything. No transaction may be open.
    """
    session = lease.row
    if last_run := ReflectionRun.objects.filter(session=session).first():
        return last_run
    plan = plan_reflection(session, lease.clock())
    drafts, dropped = draft_thoughts(lease, plan) if asks_the_model(plan.reason) else ([], 0)
    return store_thoughts(lease, plan, drafts, dropped)


def plan_reflection(session: Session, now: datetime) -> Plan:
    """The gate's decision, and the events: those of the last 24 h and since the last run, the shocks first. Nothing is
    due after an imported session of the past."""
    if is_long_past(session, now):
        return Plan(ReflectionRun.Reason.NOT_DUE, NOTHING, now, ())
    runs_in_24h, last_run_at = _runs(session.persona, now)
    fresh = list(fresh_events(session))
    # Newest first; a memory that was mentioned again is as new as its last mention. Before the first run all events are
    # new, except imported ones.
    lately = Q(last_mentioned_at__gt=min(last_run_at or now, now - DAY))
    live_events = _live_events(session.persona).filter(lately | Q(import_uuid=None) if last_run_at is None else lately)
    since = live_events.order_by("-last_mentioned_at", "-id")
    facts = Reflections(
        runs_in_24h=runs_in_24h,
        last_run_at=last_run_at,
        fresh_impacts=[event.emotional_impact for event in fresh],
        events_since=since.count(),
    )
    # The shocks of this session, weightiest first, then the others, newest first.
    shocks = [event for event in fresh if abs(event.emotional_impact) >= knobs.shock_impact()]
    shocks.sort(key=lambda event: -abs(event.emotional_impact))
    limit = knobs.reflection_events()
    events = {event.pk: event for event in (*shocks, *since[:limit])}
    return Plan(decide(facts, now), facts, now, list(events.values())[:limit])


def _runs(persona: Persona, now: datetime) -> tuple[int, datetime | None]:
    """The number of runs in the last 24 hours, and the time of the last one."""
    runs = ReflectionRun.objects.filter(persona=persona).that_reflected()
    last = runs.order_by("-at").first()
    return runs.since(now - DAY).count(), last.at if last else None


def fresh_events(session: Session) -> NodeQuerySet:
    """The events that this session added, and those it mentioned again (its messages are among their evidence)."""
    ours = Q(session=session) | Q(evidence__message__session=session)
    return _live_events(session.persona).filter(ours).distinct().newest_first()


def _live_events(persona: Persona) -> NodeQuerySet:
    return ConceptNode.objects.of(persona).recallable().filter(kind=ConceptNode.Kind.EVENT)


def draft_thoughts(lease: Lease[Session], plan: Plan) -> tuple[list[Draft], int]:
    """The drafts of the model's thoughts, and the number of dropped thoughts."""
    session = lease.row
    persona = session.persona
    request = prompt.request(
        persona,
        "reflection",
        tier="medium",
        max_tokens=knobs.reflection_tokens(),
        session_uuid=session.uuid,
        values={"known": prompt.format_memories(persona, plan.events)},
        material={
            "events": [
                {"id": f"e{event.pk}", "description": event.description, "emotional_impact": event.emotional_impact}
                for event in plan.events
            ]
        },
    )
    answer = llm.answer_now(request, ReflectionAnswer, replies=replies.of_reflection(lease)).value
    events_by_id = {event.pk: event for event in plan.events}
    drafts = [draft for thought in answer.thoughts if (draft := drafts_of(thought, events_by_id, session))]
    return drafts[:MAX_THOUGHTS], answer.dropped + len(answer.thoughts) - len(drafts[:MAX_THOUGHTS])


def drafts_of(thought: ReflectedThought, events_by_id: dict[int, ConceptNode], session: Session) -> Draft | None:
    """The thought as a draft; None if it rests on none of the events."""
    event_ids = dict.fromkeys(prompt.node_id(event_id) for event_id in thought.filling)
    owner_names = names_of(session.persona)
    filling = grounds(
        [events_by_id[pk] for pk in event_ids if pk in events_by_id],
        thought.description,
        events_by_id.values(),
        owner_names,
    )
    if not filling:
        return None
    note_tone(thought, f"after session {session.pk}")
    return Draft(
        kind=ConceptNode.Kind.THOUGHT,
        description=tidy_description(thought.description),
        source=ConceptNode.Source.REFLECTION,
        subject=thought.subject,
        emotional_impact=thought.emotional_impact,
        session=session,
        filling=filling,
    )


def note_tone(thought: ReflectedThought, when: str) -> None:
    """Log violations of the tone rules without the words of the thought, which is kept all the same."""
    if off_words := off_tone(thought.description):
        logger.warning("a thought %s has %d words against the tone rules", when, off_words)
    if abs(thought.emotional_impact) > RECOMMENDED_IMPACT:
        logger.warning("a thought %s weighs %d", when, thought.emotional_impact)


def off_tone(text: str) -> int:
    """The number of words in `text` that the tone rules forbid."""
    plain = text.casefold()
    return sum(word in plain for word in TONELESS)


@with_one_model
def store_thoughts(lease: Lease[Session], plan: Plan, drafts: Sequence[Draft], dropped: int) -> ReflectionRun:
    session, now, model = lease.row, lease.clock(), follow()
    vectors = embedding.embed([draft.description for draft in drafts])
    with transaction.atomic():
        lease.checkpoint()
        Persona.objects.select_for_update().get(pk=session.persona_id)  # two workers of one persona queue up here
        reason = plan.reason
        if asks_the_model(reason):  # another worker may have reflected meanwhile
            runs_in_24h, last_run_at = _runs(session.persona, plan.at)
            reason = decide(replace(plan.facts, runs_in_24h=runs_in_24h, last_run_at=last_run_at), plan.at)
        drafts_and_vectors = zip(drafts, vectors, strict=True) if asks_the_model(reason) else ()
        outcomes = [_write(session.persona, *pair, model, now) for pair in drafts_and_vectors]
        run = ReflectionRun.objects.create(
            session=session,
            persona=session.persona,
            reason=reason,
            thoughts=outcomes.count("new"),
            dropped=dropped + len(drafts) - len(outcomes) + outcomes.count(None),
            at=now,
        )
        replies.delete(session)
    return run


def _write(persona: Persona, draft: Draft, vector: np.ndarray, model: str, now: datetime) -> Outcome | None:
    """Write one thought on the remaining events of its filling; returns the outcome, or None if no event is left or the
    thought is forgotten text. Events that were hidden, corrected or deleted meanwhile do not count."""
    live = _live_events(persona).in_bulk([child.pk for child in draft.filling])
    filling = [live[child.pk] for child in draft.filling if child.pk in live]
    if not filling:
        return None
    node = write(persona, replace(draft, filling=filling), vector, model, now)
    if node.node is None:
        return None
    link_inherited(node.node, filling)
    return node.outcome

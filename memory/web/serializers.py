"""The JSON shape of each thing for programs: the API's responses and the output of commands with --json.

Values are Python's (UUID, date, datetime); an API schema may leave some of the keys out. Exports have their own shapes,
which are documented with their formats.
"""

from collections.abc import Iterable
from typing import Any

from memory.curation.threads import members_of
from memory.forgetting import Affected, Plan
from memory.models import ConceptNode, Entity, MergeProposal, Question, Receipt, SlowCycleRun, Thread
from memory.models.thread import day_of
from memory.store.writing import forgotten_before
from memory.web.presenters.person import facts_about
from memory.web.trace import trace_node

_NODE_COLUMNS = (
    "kind",
    "subject",
    "description",
    "emotional_impact",
    "emotion_tags",
    "relational_tags",
    "event_time_start",
    "event_time_end",
    "source",
    "confidence",
    "status",
    "verification",
    "pinned",
    "outcome",
    "resolved_at",
    "mention_count",
    "created_at",
    "domain",
    "since",
    "until",
    "plan_state",
    "scope",
    "condition",
    "is_boundary",
)
_RUN_COLUMNS = ("reason", "outcome", "failure", "given", "made", "dropped", "tokens_in", "tokens_out", "at")


def serialize_node(node: ConceptNode) -> dict[str, Any]:
    """A node of any kind, as in lists."""
    return {"id": node.uuid} | {name: getattr(node, name) for name in _NODE_COLUMNS}


def serialize_node_detail(node: ConceptNode) -> dict[str, Any]:
    """A node with its quotes, and the ids of the nodes that it was concluded from."""
    return serialize_node(node) | {
        "evidence": _serialize_evidence(node.evidence.select_related("message")),
        "resolved_by": node.resolved_by.uuid if node.resolved_by else None,
        "forgotten_before": bool(forgotten_before([node])),
        "filling": list(node.filling.filter(orphaned=False).values_list("child__uuid", flat=True)),
    }


def serialize_trace(node: ConceptNode) -> dict[str, Any]:
    """A node with its sources, its conclusions and its versions."""
    trace = trace_node(node)
    return {
        "node": serialize_node(node),
        "evidence": _serialize_evidence(node.evidence.select_related("message")),
        "grounds": [serialize_node(ground) for ground in trace["grounds"]],
        "lost_grounds": trace["lost_grounds"],
        "above": [serialize_node(conclusion) for conclusion in trace["above"]],
        "earlier": [serialize_node(earlier) for earlier in trace["earlier"]],
        "versions": trace["versions"],
    }


def _serialize_evidence(evidence: Iterable[Any]) -> list[dict[str, Any]]:
    return [
        {
            "message_id": row.message.uuid,
            "role": row.message.role,
            "quote": row.quote,
            "start": row.start,
            "end": row.end,
        }
        for row in evidence
    ]


def serialize_entity(entity: Entity) -> dict[str, Any]:
    """A person, place or thing with a name."""
    return {
        "id": entity.uuid,
        "canonical_name": entity.canonical_name,
        "kind": entity.kind,
        "relation": entity.relation,
        "description": entity.description,
        "status": entity.status,
        "aliases": [alias.text for alias in entity.aliases.all()],
    }


def serialize_entity_detail(entity: Entity) -> dict[str, Any]:
    """An entity with its latest memory, open items and story lines."""
    about = facts_about(entity)
    return serialize_entity(entity) | {
        "last_heard": serialize_node(about.last_heard) if about.last_heard else None,
        "still_open": [serialize_node(node) for node in about.still_open],
        "story_lines": [thread.uuid for thread in about.story_lines],
    }


def serialize_proposal(proposal: MergeProposal) -> dict[str, Any]:
    """Two entities that may be the same, and the decision."""
    return {
        "id": proposal.uuid,
        "a": proposal.a.uuid,
        "b": proposal.b.uuid,
        "score": proposal.score,
        "reasons": proposal.reasons,
        "status": proposal.status,
    }


def serialize_question(question: Question) -> dict[str, Any]:
    """An open question of the slow cycle, with the nodes that it rests on."""
    return {
        "text": question.text,
        "status": question.status,
        "asked_at": question.asked_at,
        "grounds": [node.uuid for node in question.grounds.all()],
    }


def serialize_thread(thread: Thread) -> dict[str, Any]:
    """A story line of `curation.threads.with_members`."""
    zone = thread.persona.zone
    return {
        "id": thread.uuid,
        "title": thread.title,
        "state": thread.state,
        "created_at": thread.created_at,
        "dissolved_at": thread.dissolved_at,
        "nodes": [
            {"id": node.uuid, "description": node.description, "day": day_of(node, zone)} for node in members_of(thread)
        ],
    }


def serialize_run(run: SlowCycleRun) -> dict[str, Any]:
    """A run of the slow cycle, by keys only."""
    return {"key": run.pk} | {name: getattr(run, name) for name in _RUN_COLUMNS}


def serialize_plan(plan: Plan) -> dict[str, Any]:
    """A plan of forgetting."""
    return {
        "choice": {"dependents": plan.choice.dependents, "messages": plan.choice.messages},
        **{name: [serialize_affected(affected) for affected in rows] for name, rows in plan.sections.items()},
        "mentioned": [
            serialize_affected(affected) | {"role": affected.role, "mode": affected.mode} for affected in plan.mentioned
        ],
        "counts": dict(plan.counts),
        "digest": plan.digest,
    }


def serialize_affected(affected: Affected) -> dict[str, Any]:
    """One thing that forgetting touches."""
    return {
        "kind": affected.kind,
        "id": affected.uuid,
        "text": affected.text,
        "why": affected.why,
        "may_stay": affected.may_stay,
    }


def serialize_receipt(receipt: Receipt) -> dict[str, Any]:
    """A receipt: what was forgotten, by ids and counts."""
    return {
        "id": receipt.uuid,
        "status": receipt.status,
        "at": receipt.at,
        "finished_at": receipt.finished_at,
        "targets": receipt.targets,
        "choice": receipt.choice,
        "counts": receipt.counts,
        "erased": receipt.erased,
        "kept_elsewhere": receipt.choice.get("kept_elsewhere", 0),
    }

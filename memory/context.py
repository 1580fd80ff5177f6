"""The memory sections of a prompt (L3 to L5): recollections, impressions, promises, expectations, named entities.

Nodes of the lists that every prompt carries are not recalled for a turn as well. The queries of these lists are
compiled: one takes 0.04 ms instead of 0.45, and a turn has up to fourteen (2026-11-22).
"""

import json
from collections.abc import Iterable, Sequence
from datetime import date
from functools import cache, partial
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
from django.db.models import F, Func, IntegerField
from django.db.models.expressions import RawSQL

from chat import knobs as chat_knobs
from chat.care import flags as crises
from echovessel.db.compiled_queries import Query
from echovessel.embeddings import embedding
from echovessel.language.human_dates import note_days
from echovessel.llm.prompts import (
    ContextRequest,
    Neutral,
    Section,
    fence,
    lines_of,
    one_line,
    render_prompt,
    tokens,
    with_heading,
)
from memory import knobs
from memory.curation import questions
from memory.entities import clarify
from memory.models import ConceptNode, Entity
from memory.models.node import NodeQuerySet, is_unsure
from memory.recall import Meaning, recall, scoring
from memory.recall.always_known import KnownNode, first_of_moment, within_budget
from memory.recall.always_known import always_known as always_known_nodes
from memory.recall.lessons import fitting_lessons, fitting_memories
from memory.recall.query import embed_soon
from memory.recall.render import Renderer, format_uuid, not_sure
from memory.recall.retrievers import entities_named
from memory.store import vectors
from persona.context import contents_of_blocks
from persona.models import Persona

Kind, Subject = ConceptNode.Kind, ConceptNode.Subject
SECONDS_A_DAY = 86_400
# If there are many thoughts about the user, only the newest compete for the few places by weight.
MAX_THOUGHTS = 200
# At most this many open expectations, the next due first, are compared with the last message.
MAX_EXPECTATIONS = 100
FENCE_TOKENS = 8
NODE_COLUMNS = ("pk", "uuid", "description", "event_time_start", "event_time_end", "confidence", "verification")


class UnixTime(Func):
    """Seconds since 1970 as SQLite reads them: hundreds of datetimes would take Python longer than their query."""

    function = "unixepoch"
    output_field = IntegerField()


class PromptNode(NamedTuple):
    """The columns of a node that lists show."""

    pk: int
    uuid: UUID
    description: str
    event_time_start: date | None
    event_time_end: date | None
    confidence: float
    verification: str


def entities(request: ContextRequest) -> Section | None:
    """The entities named in the recent messages, with their relation to the owner and their description. Names stand
    inside the fenced block, too: an imported file may contain any text as a name."""
    persona: Persona = request.persona
    embed_soon(request.turns, (persona.name, persona.user_display_name))  # for the recollections, some sections later
    entity_ids = _entities_in_turns(request)
    if not entity_ids:
        return None
    rows = Entity.objects.filter(persona=persona, pk__in=entity_ids)
    candidates = list(rows.exclude(description="", relation="").order_by("pk")[: knobs.entities_shown()])
    parts = [Neutral(_describe(entity)) for entity in candidates]
    fitting_parts = _fit_lines(
        parts, request.budget - tokens(with_heading(persona.language, "entity", fence("memory", "")))
    )
    if not fitting_parts:
        return None
    shown_ids = [str(entity.uuid) for entity, _ in zip(candidates, fitting_parts, strict=False)]
    text = with_heading(persona.language, "entity", fence("memory", lines_of(fitting_parts)))
    about = [
        {"name": entity.canonical_name, "description": entity.description}
        for entity in candidates[: len(fitting_parts)]
    ]
    return Section("entities", "system", text, {"entities": shown_ids}, {"entities": about})


def _describe(entity: Entity) -> str:
    """An entity as "Rosa (sister): a nurse in York"."""
    relation = f" ({one_line(entity.relation)})" if entity.relation else ""
    description = f": {one_line(entity.description)}" if entity.description else ""
    return f"{one_line(entity.canonical_name)}{relation}{description}"


def clarification(request: ContextRequest) -> Section | None:
    """One pair of entities, named in the recent messages, that may be the same: the persona may ask about it."""
    persona: Persona = request.persona
    pair = clarify.due(persona, _entities_in_turns(request), request.now)
    if pair is None:
        return None
    names = {"first": pair.a.canonical_name, "second": pair.b.canonical_name}
    describe = clarify.distinguish if names["first"] == names["second"] else clarify.entity_named
    names_and_memories = [(entity.canonical_name, describe(entity)) for entity in (pair.a, pair.b)]
    pairs = [(name, memory) for name, memory in names_and_memories if memory]
    for memories in (pairs, []):
        prompt = render_prompt("clarification", persona.language, **names, known=memories)
        text = with_heading(persona.language, "clarification", prompt)
        if tokens(text) <= request.budget:
            request.cache["memory.clarified"] = True
            return Section("clarification", "system", text, {"proposal": str(pair.uuid)})
    return None


def _entities_in_turns(request: ContextRequest) -> list[int]:
    return request.once("memory.named", lambda: entities_named(request.persona, request.turns))


# Lessons that the message being answered has just stated: the reply may acknowledge them even if they do not apply now.
_lessons_of_turn: Query[Any] = Query(
    lambda turn: (
        ConceptNode.objects.filter(kind=ConceptNode.Kind.LESSON, evidence__message__turn=turn)
        .active()
        .exclude(scope=ConceptNode.Scope.NAME)
        .order_by("id")
        .values_list("description")
    )
)


def lessons(request: ContextRequest) -> Section | None:
    """How the owner wants the persona to be with them: the lessons that apply now, in the owner's words."""
    persona: Persona = request.persona
    fits = fitting_lessons(request)
    budget = min(request.budget, knobs.lesson_tokens()) - tokens(_format_lessons(persona, []))
    fitting_lines = _fit_lines([Neutral(f"- {one_line(fit.lesson.description)}") for fit in fits], budget)
    new_lessons = (
        [description for (description,) in _lessons_of_turn(request.burst[0].turn_id)] if request.burst else []
    )
    if not fitting_lines and not new_lessons:
        return None
    shown_fits = fits[: len(fitting_lines)]
    xray = {"lessons": [{"id": str(fit.lesson.uuid), "why": fit.why, "cosine": fit.cosine} for fit in shown_fits]}
    material = {
        "lessons": [fit.lesson.description for fit in shown_fits],
        "boundaries": [fit.lesson.matter for fit in shown_fits if fit.lesson.is_boundary],
        "new_lessons": new_lessons,
    }
    return Section(
        "lessons", "system", _format_lessons(persona, fitting_lines) if fitting_lines else "", xray, material
    )


def _format_lessons(persona: Persona, texts: Sequence[str]) -> str:
    text = render_prompt("lessons", persona.language, lines=texts, name=persona.user_display_name)
    return with_heading(persona.language, "lessons", text)


def always_known(request: ContextRequest) -> Section | None:
    """Memories in every prompt: pinned, requested, about health and safety, or about who the owner is."""
    persona: Persona = request.persona
    items, _ = _select_always_known(request)
    if not items:
        return None
    text = _format_always_known(persona, [text_line for _, text_line in items])
    xray = {"nodes": [{"id": format_uuid(item.node.uuid_hex), "why": item.group} for item, _ in items]}
    payload = [
        {
            "text": item.node.description,
            "layer": item.node.layer,
            "speaker": None,
            "subject": item.node.subject,
            "at": item.node.created_at.isoformat(),
        }
        for item, _ in items
    ]
    return Section("always_known", "user", text, xray, {"always_known": payload})


def _select_always_known(request: ContextRequest) -> tuple[list[tuple[KnownNode, Neutral]], set[int]]:
    """The nodes to show, and the keys of these and of the nodes that the profile covers: recall leaves out both.
    Computed once per prompt, in which `always_known` comes before the recollections."""

    def select() -> tuple[list[tuple[KnownNode, Neutral]], set[int]]:
        persona: Persona = request.persona
        budget = min(request.budget, knobs.always_known_tokens()) - tokens(_format_always_known(persona, []))
        candidates = always_known_nodes(persona.pk, contents_of_blocks(request).get("user", ""))
        candidates = first_of_moment(persona.pk, candidates, [fit.lesson.pk for fit in fitting_memories(request)])
        items = within_budget(candidates, Renderer.of(persona, request.now), budget)
        return items, {item.pk for item, _ in items} | {item.pk for item in candidates if item.is_in_profile}

    return request.once("memory.always_known", select)


def _format_always_known(persona: Persona, text_lines: Sequence[str]) -> str:
    text = render_prompt("always_known", persona.language, lines=text_lines, name=persona.user_display_name)
    return with_heading(persona.language, "always_known", text)


def recollections(request: ContextRequest) -> Section:
    """The recollections for the recent messages, best first. The section exists even without any, for its x-ray."""
    persona: Persona = request.persona
    frame_tokens = tokens(_format_recollections(persona, []))
    result = recall(
        persona,
        request.turns,
        now=request.now,
        budget_tokens=max(0, min(request.budget - frame_tokens - FENCE_TOKENS, chat_knobs.recall_tokens())),
        window=[*request.window, *request.burst],
        already_in_prompt=partial(_already_in_prompt, request),
    )
    text = _format_recollections(persona, [Neutral(item.text) for item in result.items]) if result.items else ""
    payload = [
        {
            "text": item.content,
            "layer": item.layer,
            "speaker": item.speaker,
            "when": item.age,
            "at": item.created_at.isoformat(),
        }
        | {key: value for key, value in (("lead", item.lead), ("subject", item.subject)) if value}
        for item in result.items
    ]
    return Section("recollections", "user", text, lambda: result.xray.as_json(), {"recollections": payload})


def about_them(request: ContextRequest) -> Section | None:
    """The thoughts about the user with the most weight now: recency x (0.2 + |impact| / 10)."""
    return _make_list_section(request, "about_them", _lists(request)["about_them"])


def about_yourself(request: ContextRequest) -> Section | None:
    """The persona's newest thoughts about itself."""
    return _make_list_section(request, "about_yourself", _lists(request)["about_yourself"])


def promises(request: ContextRequest) -> Section | None:
    """The persona's open promises, the next due first."""
    return _make_list_section(request, "promises", _lists(request)["promises"], dated=True)


def expectations(request: ContextRequest) -> Section | None:
    """Open expectations: first, and marked, those that the last message may be about; then the next due."""
    persona: Persona = request.persona
    cosines, nodes = _matched_expectations(request), _shown_expectations(request)
    frame_tokens = tokens(_format_expectations(persona, [""] if cosines else [], [""]))
    text_lines = _fit_lines([_line(persona, node, request, True) for node in nodes], request.budget - frame_tokens)
    if not text_lines:
        return None
    shown_nodes = nodes[: len(text_lines)]
    matches = [{"id": str(node.uuid), "cosine": cosines[node.pk]} for node in shown_nodes if node.pk in cosines]
    text = _format_expectations(persona, text_lines[: len(matches)], text_lines[len(matches) :])
    xray = {"nodes": [str(node.uuid) for node in shown_nodes]} | ({"matched": matches} if matches else {})
    return Section("expectations", "user", text, xray)


def question(request: ContextRequest) -> Section | None:
    """A question of the slow cycle, when its person or topic comes up: one light question per session."""
    persona: Persona = request.persona
    if not request.burst or request.cache.get("memory.clarified"):
        return None
    session = request.burst[0].session
    if session.off_the_record:
        return None
    meaning = request.cache.get("memory.meaning")
    due_question = questions.due(persona, request.turns, _entities_in_turns(request), meaning, session, request.now)
    if due_question is None or crises.crisis_messages_of(request.burst):
        return None
    text = with_heading(
        persona.language, "question", render_prompt("question", persona.language, question=one_line(due_question.text))
    )
    if tokens(text) > request.budget:
        return None
    return Section("question", "user", text, {"question": due_question.pk}, {"question": due_question.text})


def _format_expectations(persona: Persona, now: Sequence[str], later: Sequence[str]) -> str:
    text = render_prompt("expectations", persona.language, now=now, later=later)
    return with_heading(persona.language, "expectations", text)


def _shown_expectations(request: ContextRequest) -> list[PromptNode]:
    """The open expectations to show: those near the last message, nearest first, then the others."""
    cosines = _matched_expectations(request)
    in_order = sorted(_open_expectations(request), key=lambda node: -cosines.get(node.pk, 0.0))
    return in_order[: knobs.open_ones_shown()]


def _open_expectations(request: ContextRequest) -> list[PromptNode]:
    return request.once("memory.waiting", lambda: _read_nodes(_open_nodes(Kind.EXPECTATION, MAX_EXPECTATIONS), request))


def _matched_expectations(request: ContextRequest) -> dict[int, float]:
    """The open expectations that the last message may be about, with their cosines; empty before recall has run."""
    return request.cache.get("memory.matched", {})


def _already_in_prompt(request: ContextRequest, meaning: Meaning | None) -> set[int]:
    """The keys of the nodes of all lists. The query's meaning, which recall has embedded, decides which expectations
    come first; in a first message of the persona there is none to match."""
    keys = [node.pk for node in _open_expectations(request)]
    matched: dict[int, float] = {}
    if meaning is not None and request.occasion is None and keys:
        products = vectors.space(request.persona.pk).vectors(keys) @ meaning.last
        cosines = embedding.scale().comparable("query", products)
        near = zip(keys, cosines.tolist(), strict=True)
        matched = {key: round(cosine, 3) for key, cosine in near if cosine >= knobs.match_cosine()}
    request.cache.update({"memory.meaning": meaning, "memory.matched": matched})
    _, ids_in_prompt = _select_always_known(request)
    return ids_in_prompt | {
        node.pk for nodes in (*_lists(request).values(), _shown_expectations(request)) for node in nodes
    }


def _lists(request: ContextRequest) -> dict[str, list[PromptNode]]:
    """The nodes that every prompt lists, whatever its messages are."""
    return request.once(
        "memory.lists",
        lambda: {
            "about_them": _about_them(request),
            "about_yourself": _read_nodes(_about_yourself(knobs.thoughts_about_yourself()), request),
            "promises": _read_nodes(_open_nodes(Kind.INTENTION, knobs.open_ones_shown()), request),
        },
    )


def _read_nodes(query: Query[Any], request: ContextRequest) -> list[PromptNode]:
    return [PromptNode(*row) for row in query(request.persona.pk)]


def _about_them(request: ContextRequest) -> list[PromptNode]:
    rows = _thought_impacts(request.persona.pk)
    keys, impacts = np.array([(pk, impact) for pk, _, impact in rows], dtype=np.int64).reshape(-1, 2).T
    days = (request.now.timestamp() - np.array([written_at for _, written_at, _ in rows])) / SECONDS_A_DAY
    weights = scoring.recency(days, knobs.recency_half_life_days()) * (0.2 + scoring.impact(impacts))
    heaviest = keys[np.lexsort((-keys, -weights))[: knobs.thoughts_about_them()]].tolist()
    nodes = {row[0]: PromptNode(*row) for row in _nodes_by_key(request.persona.pk, json.dumps(heaviest))}
    return [nodes[key] for key in heaviest if key in nodes]


def _thoughts(persona: Any, subject: str) -> NodeQuerySet:
    return ConceptNode.objects.filter(persona=persona, kind=Kind.THOUGHT, subject=subject).recallable().newest_first()


_thought_impacts: Query[Any] = Query(
    lambda persona: (
        _thoughts(persona, Subject.USER)
        .annotate(written_at=UnixTime("created_at"))
        .values_list("pk", "written_at", "emotional_impact")[:MAX_THOUGHTS]
    )
)
_nodes_by_key: Query[Any] = Query(
    lambda persona, keys: (
        ConceptNode.objects.filter(persona=persona, pk__in=RawSQL("SELECT value FROM json_each(%s)", [keys]))
        .recallable()
        .values_list(*NODE_COLUMNS)
    )
)


@cache
def _about_yourself(limit: int) -> Query[Any]:
    return Query(lambda persona: _thoughts(persona, Subject.PERSONA).values_list(*NODE_COLUMNS)[:limit])


@cache
def _open_nodes(kind: str, limit: int) -> Query[Any]:
    """Open promises or expectations by due day; those without one come last."""

    def build(persona: Any) -> Any:
        nodes = ConceptNode.objects.filter(persona=persona, kind=kind, outcome=ConceptNode.Outcome.OPEN)
        in_order = nodes.recallable().order_by(F("event_time_end").asc(nulls_last=True), "id")
        return in_order.values_list(*NODE_COLUMNS)[:limit]

    return Query(build)


def _format_recollections(persona: Persona, text_lines: Iterable[Neutral]) -> str:
    # Joined here: a loop of the template takes longer than all else that it does.
    text = render_prompt("recollections", persona.language, lines=lines_of(text_lines), name=persona.user_display_name)
    return with_heading(persona.language, "recollections", text)


def _make_list_section(
    request: ContextRequest, name: str, nodes: Sequence[PromptNode], *, dated: bool = False
) -> Section | None:
    """A list under its heading, cut to the budget."""
    persona: Persona = request.persona
    text_lines = [_line(persona, node, request, dated) for node in nodes]
    frame_tokens = tokens(with_heading(persona.language, name, fence("memory", ""))) + 1
    fitting_lines = _fit_lines(text_lines, request.budget - frame_tokens)
    if not fitting_lines:
        return None
    text = with_heading(persona.language, name, fence("memory", lines_of(fitting_lines)))
    return Section(name, "user", text, {"nodes": [str(node.uuid) for node in nodes[: len(fitting_lines)]]})


def _line(persona: Persona, node: PromptNode, request: ContextRequest, dated: bool) -> Neutral:
    doubt = not_sure(persona.language) if is_unsure(node.confidence, node.verification) else ""
    description = f"{one_line(node.description)}{doubt}"
    if not dated or node.event_time_end is None:
        return Neutral(f"- {description}")
    today = request.now.astimezone(persona.zone).date()
    due = note_days(node.event_time_start or node.event_time_end, node.event_time_end, today, persona.language)
    return Neutral(f"- {due}{'' if persona.language == 'zh' else ' '}{description}")


def _fit_lines(text_lines: Sequence[Neutral], budget: int, joint: str = "\n") -> list[Neutral]:
    """The first lines that together fit `budget` tokens."""
    fitting_lines: list[Neutral] = []
    for text_line in text_lines:
        budget -= tokens(text_line + joint)
        if budget < 0:
            break
        fitting_lines.append(text_line)
    return fitting_lines

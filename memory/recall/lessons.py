"""Which lessons fit a moment: those that always hold, boundaries, and those whose feeling, topic or person comes up.

The words may differ: "everything feels empty" matches "when I'm sad". A feeling is detected by its words
(`echovessel.language.feelings`), a topic or person by names and words for it (`matters`), and each of them also by the
cosine of the condition and the latest messages. The prompt shows the owner's words with their condition, so that a
model can reject a poor match; it cannot restore a lesson that is left out here, hence the floor is low.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, NamedTuple
from uuid import UUID

from chat.models import Message
from echovessel.db.compiled_queries import Query
from echovessel.embeddings import embedding
from echovessel.language.feelings import are_alike, feelings_in
from echovessel.language.kinship import relatives_in, share
from echovessel.language.matters import matter_of, speaks_of
from echovessel.language.requests import Condition
from echovessel.language.requests.possible import condition_within
from echovessel.llm.prompts import ContextRequest
from echovessel.process.word_caches import cached_words
from memory import knobs
from memory.models import Alias, ConceptNode, Entity, Evidence
from memory.recall.retrievers import entities_named
from persona import mood as moods
from persona.models import Persona

Scope = ConceptNode.Scope
MAX_LESSONS = 200  # limit of lessons compared, newest first
MOMENT = timedelta(hours=2)
MOMENT_MESSAGES = 4
# The feelings that each signal of the last session's reading of the owner implies.
_SIGNALS: Mapping[str, frozenset[str]] = {"tired": frozenset({"tired"}), "frustrated": frozenset({"angry", "stressed"})}

_lessons: Query[Any] = Query(
    lambda persona: (
        ConceptNode.objects.filter(persona=persona, kind=ConceptNode.Kind.LESSON)
        .active()
        .exclude(scope=Scope.NAME)
        .order_by("-created_at", "-id")
        .values_list("pk", "uuid", "description", "scope", "condition", "is_boundary")[:MAX_LESSONS]
    )
)


_requested_memories: Query[Any] = Query(
    lambda persona: (
        Evidence.objects.filter(node__persona=persona, node__source=ConceptNode.Source.PERSON, node__status="active")
        .exclude(node__kind=ConceptNode.Kind.LESSON)
        .order_by("-node_id")
        .values_list("node_id", "node__uuid", "quote", "message_id", "message__session_id")[:MAX_LESSONS]
    )
)
_FIRST = re.compile(r"[,.;，。；]")  # end of the beginning of a description, which says who somebody is
_LIKE_THIS = re.compile(r"\blike (?:this|that|now)\b|\bthis way\b|这样|这种|那样|像现在", re.IGNORECASE)


@cached_words(maxsize=1_000)
def _read_condition(quote: str) -> Condition:
    return condition_within(quote)


class LessonRow(NamedTuple):
    """A lesson as the prompt needs it."""

    pk: int
    uuid: UUID
    description: str
    scope: str
    condition: str
    is_boundary: bool

    @property
    def matter(self) -> str:
        """What the lesson is about, in words."""
        matter = self.description if self.is_boundary and relatives_in(self.description) else ""
        return (matter_of(self.description) if self.is_boundary else "") or self.condition or matter


@dataclass(frozen=True)
class Fit:
    """A lesson that holds now; `why` is always, boundary, feeling, words or meaning."""

    lesson: LessonRow
    why: str
    cosine: float = 0.0


def active_lessons(persona: Persona) -> list[LessonRow]:
    """The persona's active lessons, newest first, without those about the name."""
    return [LessonRow(*row) for row in _lessons(persona.pk)]


def fitting_lessons(request: ContextRequest) -> list[Fit]:
    """The lessons that hold now: boundaries, then those that fit the moment, best first, then those that always hold.
    Without an embedding model, words alone decide."""
    return _fits(active_lessons(request.persona), request)


def _fits(lessons: Sequence[LessonRow], request: ContextRequest) -> list[Fit]:
    if not lessons:
        return []
    # The owner's wish itself mentions its feeling or topic; it is not such a moment.
    descriptions = [lesson.description for lesson in lessons]
    moment = "\n".join(text for text in _moment(request) if not any(words in text for words in descriptions))
    needs_mood = any(lesson.scope == Scope.FEELING for lesson in lessons)
    mood = moods.current(request.persona, request.now) if needs_mood else None
    signal = mood.last_user_signal if mood else None
    feelings = feelings_in(moment) | _SIGNALS.get(signal or "", frozenset()) if needs_mood else frozenset()
    cosines = _cosines([lesson for lesson in lessons if lesson.condition], moment)
    fits = [fit for lesson in lessons if (fit := _fit(lesson, moment, feelings, cosines.get(lesson.pk, 0.0)))]
    order = ("boundary", "feeling", "words", "meaning", "always")
    return sorted(fits, key=lambda fit: (order.index(fit.why), -fit.cosine))


def _fit(lesson: LessonRow, moment: str, feelings: frozenset[str], cosine: float) -> Fit | None:
    if lesson.is_boundary:
        return Fit(lesson, "boundary", cosine)
    if lesson.scope == Scope.ALWAYS:
        return Fit(lesson, "always")
    if lesson.scope == Scope.FEELING and are_alike(feelings_in(lesson.condition), feelings):
        return Fit(lesson, "feeling", cosine)
    if moment and speaks_of(moment, lesson.condition):
        return Fit(lesson, "words", cosine)
    return Fit(lesson, "meaning", cosine) if cosine >= knobs.lesson_cosine() else None


def _moment(request: ContextRequest) -> list[str]:
    """The texts of the moment: the new messages and the few messages of the session before them; in an outreach, what
    the persona writes about."""
    if not request.burst:
        return list(request.turns[-1:])
    since = request.now - MOMENT
    before = [
        message.content
        for message in request.window
        if message.role == Message.Role.USER
        and message.created_at >= since
        and message.session_id == request.burst[0].session_id
    ]
    return [*before[-MOMENT_MESSAGES:], *(message.content for message in request.burst)]


def _cosines(lessons: Sequence[LessonRow], moment: str) -> dict[int, float]:
    """The cosine of each lesson's condition and the moment; the encoder caches the vectors of recent texts."""
    if not lessons or not moment.strip():
        return {}
    try:
        [vector] = embedding.embed([moment], as_query=True)
        conditions = embedding.embed([lesson.condition for lesson in lessons], is_hurried=True)
    except embedding.EmbeddingUnavailable:
        return {}
    scale = embedding.scale()
    return {
        lesson.pk: round(scale.comparable("query", float(condition @ vector)), 3)
        for lesson, condition in zip(lessons, conditions, strict=True)
    }


# --- memories with a condition --------------------------------------------------------------------------------------
def conditional_memories(persona: Persona) -> list[LessonRow]:
    """Memories that the owner asked to have recalled at certain moments: "next time I'm like this, remember: …".

    The condition is read from the words that the memory rests on and, if it only says "like this", from the messages
    before them.
    """
    memories = []
    for pk, uuid, quote, message, session in _requested_memories(persona.pk):
        condition = _read_condition(quote)
        if condition.kind != "always":
            condition_text = condition.text
            if not feelings_in(condition_text) and _LIKE_THIS.search(condition_text):
                owner_messages = Message.objects.filter(
                    session=session, role=Message.Role.USER, pk__lte=message, withheld=False
                )
                condition_text = " ".join(
                    [
                        condition_text,
                        *owner_messages.order_by("-pk").values_list("content", flat=True)[:MOMENT_MESSAGES],
                    ]
                )
            memories.append(LessonRow(pk, uuid, quote, condition.kind, condition_text, False))
    return memories


def moment_of(node: ConceptNode) -> str:
    """The condition of a memory, in the owner's words; "" if it has none."""
    if node.source != ConceptNode.Source.PERSON or node.kind == ConceptNode.Kind.LESSON:
        return ""
    conditions = (_read_condition(row.quote) for row in node.evidence.all())
    return next((condition.text for condition in conditions if condition.kind != "always"), "")


def fitting_memories(request: ContextRequest) -> list[Fit]:
    """The memories whose condition holds now, best first, matched as lessons are."""
    return _fits(conditional_memories(request.persona), request)


# --- boundaries -----------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Boundary:
    """What the owner wants left alone, the names of the people it is about, and the relation of people to the owner."""

    lesson: UUID
    text: str
    matter: str
    names: tuple[str, ...]
    relatives: Mapping[str, Collection[str]] = field(default_factory=dict)
    owner: str = ""

    def is_crossed_by(self, text: str) -> bool:
        return speaks_of(text, self.matter, self.names, self.relatives, self.owner)


def boundaries_of(persona: Persona) -> list[Boundary]:
    """The persona's boundaries. They hold for everything the persona does unprompted: thoughts between sessions,
    questions, outreaches."""
    boundary_lessons = [lesson for lesson in active_lessons(persona) if lesson.is_boundary and lesson.matter]
    if not boundary_lessons:
        return []
    relatives = _relatives(persona)
    names_by_lesson = {
        text.casefold(): relatives[entity]
        for entity, text in Alias.objects.filter(entity__in=relatives).values_list("entity", "text")
    }
    return [
        Boundary(
            lesson.uuid,
            lesson.description,
            lesson.matter,
            _names(persona, lesson.matter, relatives),
            names_by_lesson,
            persona.user_display_name,
        )
        for lesson in boundary_lessons
    ]


def crosses(boundaries: Sequence[Boundary], *texts: str) -> bool:
    """Whether any of the texts touches a boundary."""
    return any(boundary.is_crossed_by(text) for boundary in boundaries for text in texts if text)


def _relatives(persona: Persona) -> dict[int, frozenset[str]]:
    """The people who are relatives of the owner, by their relation or by the beginning of their description: "Ana's
    father, a sailor"."""
    people = Entity.objects.filter(persona=persona, kind=Entity.Kind.PERSON).exclude(description="", relation="")
    rows = people.values_list("pk", "relation", "description")[:MAX_LESSONS]
    return {
        pk: relatives
        for pk, relation, description in rows
        if (
            relatives := relatives_in(
                relation or _FIRST.split(description)[0], owner=persona.user_display_name, meant=True
            )
        )
    }


def _names(persona: Persona, matter: str, relatives: Mapping[int, Collection[str]]) -> tuple[str, ...]:
    """The names of the people whom the matter names, or who are the relatives that it means."""
    relatives_in_matter = relatives_in(matter, owner=persona.user_display_name, meant=True)
    entity_ids = set(entities_named(persona, [matter])) | {
        pk for pk, relatives_of_entity in relatives.items() if share(relatives_in_matter, relatives_of_entity)
    }
    return tuple(Alias.objects.filter(entity__in=entity_ids).order_by("id").values_list("text", flat=True))

"""What is always known: memories that stand in every prompt, whatever is said.

Pinned ones, those the owner asked to have remembered, what bears on health and safety, and what makes the owner who
they are; in this order, within one budget, in each group the weightiest first. "What can't I eat?" shares no word with
"allergic to nuts", and an order of Thai food no meaning: what must not be missed is not left to likeness.
"""

from collections.abc import Collection, Sequence
from typing import Any, Literal, NamedTuple
from uuid import UUID

from django.db.models import F

from echovessel.db.compiled_queries import Query
from echovessel.language.health import bears_on_health
from echovessel.llm.prompts import Neutral, tokens
from memory.models import ConceptNode
from memory.models.node import L3, NodeQuerySet, is_unsure
from memory.recall.render import RenderedNode, Renderer
from memory.store.deduplication import telling_words

Source, Concern = ConceptNode.Source, ConceptNode.Concern
Group = Literal["moment", "pinned", "asked_for", "health", "identity"]
GROUPS: tuple[Group, ...] = ("moment", "pinned", "asked_for", "health", "identity")
MAX_OF_A_GROUP = 60
# Of the budget so much is kept for health and safety, however much was pinned and asked for.
HEALTH_SHARE = 0.3


class KnownNode(NamedTuple):
    """A memory that stands in every prompt, and why."""

    node: RenderedNode
    group: Group
    is_health: bool
    is_in_profile: bool = False

    @property
    def pk(self) -> int:
        return self.node.id


def _columns(nodes: NodeQuerySet) -> Any:
    """The weightiest first: how much it moved, how often it was told, how new it is."""
    ordered = nodes.recallable().annotate(weight=F("emotional_impact") * F("emotional_impact"))
    return ordered.order_by("-weight", "-mention_count", "-created_at", "-id").values_list(
        "pk",
        "uuid",
        "external_id",
        "kind",
        "description",
        "event_time_start",
        "event_time_end",
        "created_at",
        "outcome",
        "confidence",
        "verification",
        "session",
        "session__import_chunk__dated",
        "since",
        "until",
        "plan_state",
    )[:MAX_OF_A_GROUP]


_pinned: Query[Any] = Query(lambda persona: _columns(ConceptNode.objects.filter(persona=persona, pinned=True)))
_asked_for: Query[Any] = Query(
    lambda persona: _columns(
        ConceptNode.objects.filter(persona=persona, source=Source.PERSON, kind__in=L3, pinned=False)
    )
)
_of_concern: Query[Any] = Query(
    lambda persona, concern: _columns(
        ConceptNode.objects.filter(persona=persona, pinned=False).filter(concern=concern).exclude(source=Source.PERSON)
    )
)


def always_known(persona_id: int, profile: str = "") -> list[KnownNode]:
    """All of them in order; marked where `profile`, a core block that stands in the prompt, says the same already."""
    health = [_read_known_node(row, "health") for row in _of_concern(persona_id, Concern.HEALTH.value)]
    asked_for = [_read_known_node(row, "asked_for") for row in _asked_for(persona_id)]
    found = [
        *(_read_known_node(row, "pinned") for row in _pinned(persona_id)),
        *sorted(asked_for, key=lambda known: not known.is_health),
        *health,
        *(_read_known_node(row, "identity") for row in _of_concern(persona_id, Concern.IDENTITY.value)),
    ]
    sentences = [telling_words(sentence) for sentence in profile.replace("。", "\n").replace(". ", "\n").splitlines()]
    return [known._replace(is_in_profile=_is_told(known.node.description, sentences)) for known in found]


def first_of_moment(known: Sequence[KnownNode], fitting: Sequence[int]) -> list[KnownNode]:
    """The memories kept for such a moment first, though there are more of them than every prompt has room for."""
    listed = {one.pk: one for one in known}
    missing = [pk for pk in fitting if pk not in listed]
    if missing:
        rows = _columns(ConceptNode.objects.filter(pk__in=missing))
        listed |= {one.pk: one for one in (_read_known_node(row, "moment") for row in rows)}
    moment = [listed[pk]._replace(group="moment", is_in_profile=False) for pk in fitting if pk in listed]
    return [*moment, *(one for one in known if one.pk not in fitting)]


def within_budget(known: Sequence[KnownNode], renderer: Renderer, budget: int) -> list[tuple[KnownNode, Neutral]]:
    """Those that the profile does not tell and that fit `budget` tokens, with their lines, in their order."""
    known = [one for one in known if not one.is_in_profile]
    lines = [Neutral(renderer.node(one.node)) for one in known]
    costs = [tokens(line + "\n") for line in lines]
    health = sum(cost for one, cost in zip(known, costs, strict=True) if one.is_health)
    reserved = min(health, int(budget * HEALTH_SHARE))
    kept: list[tuple[KnownNode, Neutral]] = []
    for one, line, cost in zip(known, lines, costs, strict=True):
        if one.is_health:
            reserved -= min(cost, reserved)
        if cost <= budget - reserved:
            budget -= cost
            kept.append((one, line))
    return kept


def _read_known_node(row: Sequence[Any], group: Group) -> KnownNode:
    pk, uuid, *columns, confidence, verification, session, is_dated, since, until, plan_state = row
    unsure, times = is_unsure(confidence, verification), (since, until, plan_state)
    node = RenderedNode(*[pk, _hex(uuid), *columns, unsure, session is not None, is_dated is False, *times])
    return KnownNode(node, group, group == "health" or bears_on_health(node.description))


def _hex(uuid: UUID | str) -> str:
    return uuid.hex if isinstance(uuid, UUID) else uuid


def _is_told(description: str, sentences: Collection[set[str]]) -> bool:
    words = telling_words(description)
    return bool(words) and any(words <= sentence for sentence in sentences)

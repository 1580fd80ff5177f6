"""The map of people: those with the most memories in the middle, and lines between those who share memories."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from memory.models import ConceptNode, Entity, Mention

MOST_ON_MAP = 40
MAP_WIDTH, MAP_HEIGHT, RINGS = 760, 560, (6, 13, 20)
SHOWN = (ConceptNode.Status.ACTIVE, ConceptNode.Status.HIDDEN)


@dataclass(frozen=True)
class Spot:
    """A person on the map: place and size."""

    entity: Entity
    x: float
    y: float
    radius: float

    @property
    def below(self) -> float:
        """How far below the middle the name is drawn."""
        return self.radius + 15


@dataclass(frozen=True)
class Bond:
    """A line between two people who share memories: its ends and its strength."""

    x1: float
    y1: float
    x2: float
    y2: float
    width: float


def place_people(people: Sequence[tuple[Entity, int]]) -> list[Spot]:
    """The places on the map, most memories first: one in the middle, the others on rings around it."""
    most = max((count for _, count in people), default=1) or 1
    spots = []
    for number, (entity, count) in enumerate(people):
        x, y = _on_rings(number, len(people))
        spots.append(Spot(entity, round(x, 1), round(y, 1), round(9 + 13 * math.sqrt(count / most), 1)))
    return spots


def _on_rings(number: int, total: int) -> tuple[float, float]:
    """The place of number `number` of `total`: the first in the middle, the others on as many rings as they need."""
    if number == 0:
        return MAP_WIDTH / 2, MAP_HEIGHT / 2
    # How many stand on each ring.
    around = total - 1
    rings = []
    for room in RINGS:
        if around > 0:
            rings.append(min(room, around))
            around -= room
    ring, first = 0, 1
    while number >= first + rings[ring]:
        first += rings[ring]
        ring += 1
    angle = 2 * math.pi * (number - first) / rings[ring] - math.pi / 2 + ring * 0.35
    reach = 0.42 * (ring + 1) / len(rings)
    return MAP_WIDTH * (0.5 + reach * math.cos(angle)), MAP_HEIGHT * (0.48 + reach * math.sin(angle))


def bonds(spots: Sequence[Spot]) -> list[Bond]:
    """The lines between those who share memories."""
    at = {spot.entity.pk: spot for spot in spots}
    rows = Mention.objects.filter(entity__in=at, node__status__in=SHOWN).values_list("node_id", "entity_id")
    together: dict[int, list[int]] = {}
    for node, entity in rows:
        together.setdefault(node, []).append(entity)
    shared = Counter(pair for company in together.values() for pair in combinations(sorted(set(company)), 2))
    return [
        Bond(at[a].x, at[a].y, at[b].x, at[b].y, round(min(5.0, 0.8 + 0.8 * math.sqrt(count)), 1))
        for (a, b), count in shared.most_common(MOST_ON_MAP * 3)
    ]

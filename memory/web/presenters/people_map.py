"""The map of people: the owner in the middle, those with the most memories nearest, and lines between those who share
memories."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from memory.models import Entity, Mention
from memory.web.timeline import SHOWN_STATUSES

RINGS = (7, 13, 20)
MAX_ON_MAP = sum(RINGS)
MAP_WIDTH, MAP_HEIGHT = 760, 560
MIDDLE = MAP_WIDTH / 2, MAP_HEIGHT / 2
OWNER_RADIUS = 26


@dataclass(frozen=True)
class Spot:
    """A person on the map: place and size."""

    entity: Entity
    x: float
    y: float
    radius: float

    @property
    def initial(self) -> str:
        return self.entity.canonical_name[:1].upper()

    @property
    def left(self) -> float:
        return round(self.x - self.radius, 1)

    @property
    def top(self) -> float:
        return round(self.y - self.radius, 1)

    @property
    def width(self) -> float:
        return round(2 * self.radius, 1)

    @property
    def below(self) -> float:
        """How far below the middle the name is drawn."""
        return self.radius + 15


@dataclass(frozen=True)
class Bond:
    """A line between two people who share memories: their spots and its strength."""

    a: Spot
    b: Spot
    width: float

    @property
    def path(self) -> str:
        """A curve that avoids the owner's spot in the middle."""
        x, y = (self.a.x + self.b.x) / 2, (self.a.y + self.b.y) / 2
        outward = x - MIDDLE[0], y - MIDDLE[1]
        if math.hypot(*outward) < 2 * OWNER_RADIUS:
            along = self.b.x - self.a.x, self.b.y - self.a.y
            bend = 4 * OWNER_RADIUS / (math.hypot(*along) or 1)
            outward = -along[1] * bend, along[0] * bend
        else:
            outward = outward[0] * 0.25, outward[1] * 0.25
        return f"M{self.a.x} {self.a.y}Q{x + outward[0]:.1f} {y + outward[1]:.1f} {self.b.x} {self.b.y}"


def place_people(people: Sequence[tuple[Entity, int]]) -> list[Spot]:
    """The spots on the map, most memories first, on as many rings around the owner as they need."""
    rings = _fill_rings(len(people))
    places = []
    for ring, count in enumerate(rings):
        # A single ring gets the radius of the middle one of three.
        reach = 0.42 * (ring + 1) / max(len(rings), 1.5)
        for number in range(count):
            angle = 2 * math.pi * number / count - math.pi / 2 + ring * 0.35
            x, y = 0.5 + reach * math.cos(angle), 0.49 + reach * math.sin(angle)
            places.append((MAP_WIDTH * x, MAP_HEIGHT * y))
    max_count = max((count for _, count in people), default=1) or 1
    return [
        Spot(entity, round(x, 1), round(y, 1), round(13 + 11 * math.sqrt(count / max_count), 1))
        for (entity, count), (x, y) in zip(people, places, strict=False)
    ]


def _fill_rings(total: int) -> list[int]:
    """The number of people on each ring.

    >>> _fill_rings(5), _fill_rings(12), _fill_rings(99)
    ([5], [7, 5], [7, 13, 20])
    """
    rings = []
    for room in RINGS:
        if total > 0:
            rings.append(min(room, total))
            total -= room
    return rings


def bonds(spots: Sequence[Spot]) -> list[Bond]:
    """The lines between those who share memories."""
    at = {spot.entity.pk: spot for spot in spots}
    rows = Mention.objects.filter(entity__in=at, node__status__in=SHOWN_STATUSES).values_list("node_id", "entity_id")
    together: dict[int, list[int]] = {}
    for node, entity in rows:
        together.setdefault(node, []).append(entity)
    shared = Counter(pair for company in together.values() for pair in combinations(sorted(set(company)), 2))
    return [
        Bond(at[a], at[b], round(min(5.0, 0.8 + 0.8 * math.sqrt(count)), 1))
        for (a, b), count in shared.most_common(MAX_ON_MAP * 3)
    ]

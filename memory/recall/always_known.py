"""Always known: memories that are in every prompt, whatever the message.

In order: pinned memories, those the owner asked to remember, those about health and safety, and those about who the
owner is; all within one budget, in each group the highest impact first. "What can't I eat?" shares no word with
"allergic to nuts", and an order of Thai food shares no meaning with it: what must not be missed cannot depend on
similarity.
"""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from echovessel.language.health import bears_on_health
from echovessel.llm.prompts import Neutral, tokens
from memory.recall import details
from memory.recall.render import RenderedNode, Renderer
from memory.store.deduplication import telling_words

Group = Literal["moment", "pinned", "asked_for", "health", "identity"]
GROUPS: tuple[Group, ...] = ("moment", "pinned", "asked_for", "health", "identity")
MAX_OF_A_GROUP = 60
# Share of the budget reserved for health and safety, however much is pinned or asked for.
HEALTH_SHARE = 0.3


class KnownNode(NamedTuple):
    """A memory that is in every prompt, and why."""

    node: RenderedNode
    group: Group
    is_health: bool
    is_in_profile: bool = False

    @property
    def pk(self) -> int:
        return self.node.id


def always_known(persona_id: int, profile: str = "") -> list[KnownNode]:
    """All of them in order; marked if `profile`, a core block in the prompt, already says the same."""
    candidates = [_node_of_row(group, row) for group, *row in details.always_known_rows(persona_id, MAX_OF_A_GROUP)]
    # Among the memories that the owner asked to remember, too, those about health come first.
    candidates.sort(
        key=lambda candidate: (
            GROUPS.index(candidate.group),
            candidate.group == "asked_for" and not candidate.is_health,
        )
    )
    sentences = [telling_words(sentence) for sentence in profile.replace("。", "\n").replace(". ", "\n").splitlines()]
    words_of_candidates = [telling_words(candidate.node.description) for candidate in candidates]
    return [
        candidate._replace(is_in_profile=bool(words) and any(words <= sentence for sentence in sentences))
        for candidate, words in zip(candidates, words_of_candidates, strict=True)
    ]


def first_of_moment(persona_id: int, candidates: Sequence[KnownNode], keys: Sequence[int]) -> list[KnownNode]:
    """The memories for the present moment (`keys`) first, including those for which the groups have no room; then
    the others."""
    candidates_by_key = {candidate.pk: candidate for candidate in candidates}
    if missing := [pk for pk in keys if pk not in candidates_by_key]:
        candidates_by_key |= {row[0]: _node_of_row("moment", row) for row in details.node_rows(persona_id, missing)}
    moment = [
        candidates_by_key[pk]._replace(group="moment", is_in_profile=False) for pk in keys if pk in candidates_by_key
    ]
    return [*moment, *(candidate for candidate in candidates if candidate.pk not in keys)]


def within_budget(candidates: Sequence[KnownNode], renderer: Renderer, budget: int) -> list[tuple[KnownNode, Neutral]]:
    """The memories that the profile does not contain and that fit into `budget` tokens, with their rendered lines, in
    order."""
    candidates = [candidate for candidate in candidates if not candidate.is_in_profile]
    text_lines = [Neutral(renderer.node(candidate.node)) for candidate in candidates]
    costs = [tokens(text_line + "\n") for text_line in text_lines]
    health = sum(cost for candidate, cost in zip(candidates, costs, strict=True) if candidate.is_health)
    reserved_tokens = min(health, int(budget * HEALTH_SHARE))
    items: list[tuple[KnownNode, Neutral]] = []
    for candidate, text_line, cost in zip(candidates, text_lines, costs, strict=True):
        if candidate.is_health:
            reserved_tokens -= min(cost, reserved_tokens)
        if cost <= budget - reserved_tokens:
            budget -= cost
            items.append((candidate, text_line))
    return items


def _node_of_row(group: Group, row: Sequence[Any]) -> KnownNode:
    node = RenderedNode(*row)
    return KnownNode(node, group, group == "health" or bears_on_health(node.description))

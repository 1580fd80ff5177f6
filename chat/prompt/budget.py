"""How a prompt's tokens are shared: by weight, in order, what one section leaves goes to those after it."""

from collections.abc import Mapping, Sequence

# What each section may claim of what is left when its turn comes. Sections not named here weigh 1.
# Blocks and recollections weigh most: they are why this persona is not any other.
WEIGHTS: Mapping[str, float] = {
    "persona.context.core_blocks": 24,
    "memory.context.recollections": 10,
    "chat.context.recent_conversation": 10,
    "persona.context.guardrails": 4,
    "memory.context.about_them": 2,
    "memory.context.lessons": 3,
    "memory.context.always_known": 4,
}
# What everything else is there for: made and paid first, and never cut, wherever it stands in the prompt.
ESSENTIAL = ("chat.context.what_they_just_said", "chat.context.crisis", "proactive.context.why_you_write")


class TokenBudget:
    """The tokens that remain, and the sections still to be served.

    >>> purse = Purse(100, ["a", "b"])
    >>> purse.share("a")
    50
    >>> purse.spend("a", 10)
    >>> purse.share("b")
    90
    """

    def __init__(self, total: int, sections: Sequence[str]) -> None:
        self.left = max(0, total)
        self.waiting = list(sections)

    def share(self, section: str) -> int:
        weights = {name: WEIGHTS.get(name, 1.0) for name in self.waiting}
        return int(self.left * weights[section] / sum(weights.values()))

    def spend(self, section: str, cost: int) -> None:
        self.waiting.remove(section)
        self.left = max(0, self.left - cost)

"""The words for what the x-ray of a recall says by name: its arms, its rules, and why it is empty."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

ARMS = {
    "dense": gettext_lazy("by meaning"),
    "lexical": gettext_lazy("by words"),
    "entity": gettext_lazy("by name"),
    "graph": gettext_lazy("by what belongs with it"),
    "time": gettext_lazy("from the days you asked about"),
    "lines": gettext_lazy("in what was said"),
    "neighbourhood": gettext_lazy("beside what was said"),
    "evidence": gettext_lazy("behind what was said"),
}
# The rules by which a candidate is left aside.
RULES = {
    "chosen": gettext_lazy("shown"),
    "below_floor": gettext_lazy("not close enough"),
    "fell_off": gettext_lazy("much weaker than the best"),
    "no_room": gettext_lazy("no room left"),
    "excepted_only": gettext_lazy("only the name or the day fits, and there are enough of those"),
    "shown_already": gettext_lazy("its words are shown already"),
    "same_words": gettext_lazy("the same is shown already"),
    "in_window": gettext_lazy("said in this talk just now"),
    "in_prompt": gettext_lazy("known in every reply anyway"),
    "outdated": gettext_lazy("it was put right since, or put away"),
}
LAPS = {
    "embed": pgettext_lazy("step of a recall", "embedding"),
    "search": pgettext_lazy("step of a recall", "search"),
    "rank": pgettext_lazy("step of a recall", "ranking"),
}
# What is told of the query.
ASKED = {
    "lines": pgettext_lazy("asked", "lines"),
    "weights": pgettext_lazy("asked", "their weights"),
    "words": pgettext_lazy("asked", "words"),
    "script": pgettext_lazy("asked", "script"),
    "days": pgettext_lazy("asked", "days"),
}
# The parts of a score, as headings of columns.
PARTS = {
    "relevance": pgettext_lazy("part of a score", "relevance"),
    "recency": pgettext_lazy("part of a score", "recency"),
    "impact": pgettext_lazy("part of a score", "impact"),
    "relational": pgettext_lazy("part of a score", "relational"),
    "anchor": pgettext_lazy("part of a score", "anchor"),
    "confirmed": pgettext_lazy("part of a score", "confirmed"),
    "penalty": pgettext_lazy("part of a score", "penalty"),
    "raw_relevance": pgettext_lazy("part of a score", "relevance, 0 to 1"),
    "dense": pgettext_lazy("part of a score", "by meaning, 0 to 1"),
    "words": pgettext_lazy("part of a score", "by words, 0 to 1"),
}


def describe_empty(reason: str) -> str:
    """Why a recall is empty, for whoever looks at it from outside; empty where it is not."""
    if not reason:
        return ""
    return {
        "nothing_stored": _("Nothing is stored that could come to mind."),
        "everything_filtered": _("Something is stored, but nothing of it passed: everything was filtered."),
        "nothing_asked": _("Nothing was asked: there are no words in these lines."),
    }.get(reason, reason)


def describe_left_out(seen: Mapping[str, Any]) -> list[tuple[str, int]]:
    """How many candidates of an x-ray each rule removed, the most first."""
    rules = Counter(one["verdict"] for one in seen.get("candidates", []) if one["verdict"] != "chosen")
    return [(str(RULES.get(rule, rule)), count) for rule, count in rules.most_common()]

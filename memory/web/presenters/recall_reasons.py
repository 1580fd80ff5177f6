"""Labels of the names in a recall's x-ray: retrievers, rules, and reasons why it is empty."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

ARMS = {
    "dense": gettext_lazy("by meaning"),
    "parts": gettext_lazy("by meaning of a part of the question"),
    "lexical": gettext_lazy("by words"),
    "entity": gettext_lazy("by name"),
    "domain": gettext_lazy("about what you asked"),
    "thread": gettext_lazy("from the story line you asked about"),
    "feeling": gettext_lazy("when you last felt like this"),
    "graph": gettext_lazy("as part of the same story"),
    "time": gettext_lazy("from the days you mentioned"),
    "lines": gettext_lazy("in messages"),
    "neighbourhood": gettext_lazy("near a matching message"),
    "evidence": gettext_lazy("source of a matching message"),
    "rerank": gettext_lazy("put in order by the reranker"),
}
# Rules that exclude a candidate, and `chosen`.
RULES = {
    "chosen": gettext_lazy("used"),
    "below_floor": gettext_lazy("not close enough"),
    "fell_off": gettext_lazy("much weaker than the best match"),
    "no_room": gettext_lazy("no room left"),
    "excepted_only": gettext_lazy("only the name or day matches, and there are enough of those"),
    "shown_already": gettext_lazy("its words are already used"),
    "same_words": gettext_lazy("already used"),
    "in_window": gettext_lazy("said just now in this conversation"),
    "in_prompt": gettext_lazy("always known"),
    "near_duplicate": gettext_lazy("another one says the same"),
    "small_talk": gettext_lazy("only a greeting, thanks or praise"),
    "outdated": gettext_lazy("corrected or archived since"),
    "request": gettext_lazy("your request to forget something"),
}
LAPS = {
    "embed": pgettext_lazy("step of a recall", "embedding"),
    "search": pgettext_lazy("step of a recall", "search"),
    "rank": pgettext_lazy("step of a recall", "ranking"),
}
# Properties of the query.
REQUESTED = {
    "lines": pgettext_lazy("asked", "messages"),
    "weights": pgettext_lazy("asked", "their weights"),
    "words": pgettext_lazy("asked", "words"),
    "script": pgettext_lazy("asked", "script"),
    "days": pgettext_lazy("asked", "days"),
}
# Parts of a score, as column headings.
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
    """Why a recall is empty, in words; "" if it is not."""
    if not reason:
        return ""
    return {
        "nothing_stored": _("Nothing is stored yet that could be recalled."),
        "everything_filtered": _("Memories were found, but all were filtered out."),
        "nothing_asked": _("These messages contain no words to search for."),
    }.get(reason, reason)


def describe_left_out(recollections: Mapping[str, Any]) -> list[tuple[str, int]]:
    """The number of candidates in an x-ray that each rule removed, most first."""
    rules = Counter(
        candidate["verdict"] for candidate in recollections.get("candidates", []) if candidate["verdict"] != "chosen"
    )
    return [(str(RULES.get(rule, rule)), count) for rule, count in rules.most_common()]

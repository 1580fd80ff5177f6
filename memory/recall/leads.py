"""Memories that come first for what is asked: the newest of the thread of which somebody asks how it went, the last
ones of the feeling of which they ask when it was there, or one of each side of a life where they ask what is known of
them at all.

Only such a question costs a statement.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from echovessel.language import tokenizer
from echovessel.language.common_words import is_everyday
from echovessel.language.courses import asks_how_it_went, matters_in
from echovessel.language.fact_domains import domains_of
from echovessel.language.feelings import are_alike, asks_when_last, feelings_in
from echovessel.language.overview import asks_for_overview
from memory.recall import details
from memory.recall.select import Candidate, Selection
from persona.models import Persona

MAX_LEADS = 3
MAX_FELT_READ = MAX_TOLD_READ = 1_000
MAX_OVERVIEW = 8
SIDES = ("about", "home", "work", "people", "health", "belongings", "likes", "plans", "beliefs")
CLOSE = 8  # of the nearest nodes, those that show which thread is meant
LIFT = 1e-4


@dataclass(frozen=True)
class Leads:
    """The nodes in their order, the retriever that found them, and the thread that is asked about."""

    nodes: Sequence[int] = ()
    retriever: str = ""
    thread: int | None = None


def find_leads(persona: Persona, turns: Sequence[str], nearest: Sequence[int]) -> Leads:
    """What comes first for the last of the turns; `nearest` are nodes near to the query, the nearest first."""
    last_turn = turns[-1] if turns else ""
    if asks_how_it_went(last_turn) and (thread := _thread_meant(persona, last_turn, nearest)):
        return Leads(details.newest_of_thread(thread, MAX_LEADS), "thread", thread)
    if asks_when_last(last_turn):
        # "This sad" says it; "like this" is what was said before.
        felt_before = (feelings_in(text) for text in reversed(turns))
        if feelings_meant := next((feelings for feelings in felt_before if feelings), None):
            felt = details.felt_nodes(persona.pk, MAX_FELT_READ)
            feelings = ((key, feelings_in(f"{' '.join(json.loads(tags))}. {words}")) for key, tags, words in felt)
            alike = [key for key, its in feelings if are_alike(feelings_meant, its)]
            return Leads(alike[:MAX_LEADS], "feeling")
    if asks_for_overview(last_turn):
        return Leads(_overview(persona), "overview")
    return Leads()


def _overview(persona: Persona) -> list[int]:
    """Of each side of the owner's life what tells most: a fact before an event, what weighs more before what weighs
    less, the newer before the older; then the next ones of each side."""
    sides: dict[str, list[tuple[bool, int, int]]] = {side: [] for side in SIDES}
    for key, kind, domain, words, impact in details.events_and_facts(persona.pk, MAX_TOLD_READ):
        side = domain or next(iter(domains_of(words)), "about")
        sides[side].append((kind == "fact", abs(impact), key))
    ranked = [sorted(rows, reverse=True) for rows in sides.values()]
    return [key for row in zip_longest(*ranked) for *_, key in filter(None, row)][:MAX_OVERVIEW]


def _thread_meant(persona: Persona, last_turn: str, nearest: Sequence[int]) -> int | None:
    """The thread whose title or matter is asked about and that has the nearest nodes; None where none surely is."""
    words, matters = _telling(last_turn), set(matters_in(last_turn))
    best: list[tuple[float, int]] = []
    for thread, title, members in details.threads_with(persona.pk, nearest):
        shared = len(words & _telling(title))
        close = len({*nearest[:CLOSE]} & {*members})
        is_nearest = close > 1 and nearest[0] in members
        if shared or is_nearest or (close and matters & set(matters_in(title))):
            best.append((3 * shared + close + is_nearest, thread))
    return max(best)[1] if best else None


def lift(candidates: Sequence[Candidate], leads: Leads) -> Sequence[Candidate]:
    """The candidates, of which the leads score just above all others."""
    if not leads.nodes:
        return candidates
    best = max((candidate.score for candidate in candidates), default=0.0)
    return [
        candidate._replace(
            score=best + LIFT * (len(leads.nodes) - leads.nodes.index(candidate.key)), only_excepted=False
        )
        if candidate.is_node and candidate.key in leads.nodes
        else candidate
        for candidate in candidates
    ]


def in_front(selection: Selection, leads: Leads) -> Selection:
    """The selection with the leads before all others, in their order."""
    if not leads.nodes:
        return selection
    places = {key: place for place, key in enumerate(leads.nodes)}
    items = sorted(
        selection.items, key=lambda item: places.get(item.best.key, len(places)) if item.best.is_node else len(places)
    )
    return replace(selection, items=items)


def _telling(text: str) -> set[str]:
    return {word for word in tokenizer.content_words(text) if len(word) > 1 and word not in is_everyday()}

"""Leads: memories that come first because they answer the question. If it asks how a matter went, the newest of its
thread; if it asks when a feeling occurred, the last ones with that feeling; if it asks what is known of the owner at
all, one of each side of their life.

Only such questions cost a statement.
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
MAX_EMOTIONAL_EVENTS = MAX_OVERVIEW_ROWS = 1_000
MAX_OVERVIEW = 8
SIDES = ("about", "home", "work", "people", "health", "belongings", "likes", "plans", "beliefs")
CLOSE = 8  # of the nearest nodes, those that decide which thread is meant
LIFT = 1e-4


@dataclass(frozen=True)
class Leads:
    """The nodes in order, the retriever that found them, and the thread that the question is about."""

    nodes: Sequence[int] = ()
    retriever: str = ""
    thread: int | None = None


def find_leads(persona: Persona, turns: Sequence[str], nearest: Sequence[int]) -> Leads:
    """The leads for the last of the turns; `nearest` are the nodes near the query, nearest first."""
    last_turn = turns[-1] if turns else ""
    if asks_how_it_went(last_turn) and (thread := _find_thread(persona, last_turn, nearest)):
        return Leads(details.newest_of_thread(thread, MAX_LEADS), "thread", thread)
    if asks_when_last(last_turn):
        # "This sad" names the feeling itself; "like this" refers to an earlier message.
        feelings_by_turn = (feelings_in(text) for text in reversed(turns))
        if feelings := next((node_feelings for node_feelings in feelings_by_turn if node_feelings), None):
            events = details.emotional_events(persona.pk, MAX_EMOTIONAL_EVENTS)
            node_feelings = (
                (key, feelings_in(f"{' '.join(json.loads(tags))}. {words}")) for key, tags, words in events
            )
            alike = [key for key, its in node_feelings if are_alike(feelings, its)]
            return Leads(alike[:MAX_LEADS], "feeling")
    if asks_for_overview(last_turn):
        return Leads(_overview(persona), "overview")
    return Leads()


def _overview(persona: Persona) -> list[int]:
    """For each side of the owner's life the most important memory: facts before events, then by impact, then by age;
    then the next ones of each side."""
    sides: dict[str, list[tuple[bool, int, int]]] = {side: [] for side in SIDES}
    for key, kind, domain, words, impact in details.events_and_facts(persona.pk, MAX_OVERVIEW_ROWS):
        side = domain or next(iter(domains_of(words)), "about")
        sides[side].append((kind == "fact", abs(impact), key))
    ranked = [sorted(rows, reverse=True) for rows in sides.values()]
    return [key for row in zip_longest(*ranked) for *_, key in filter(None, row)][:MAX_OVERVIEW]


def _find_thread(persona: Persona, last_turn: str, nearest: Sequence[int]) -> int | None:
    """The thread whose title or matter is asked about and that has the nearest nodes; None if it is not certain."""
    words, matters = _rare_words(last_turn), set(matters_in(last_turn))
    best: list[tuple[float, int]] = []
    for thread, title, members in details.threads_with(persona.pk, nearest):
        shared = len(words & _rare_words(title))
        close = len({*nearest[:CLOSE]} & {*members})
        is_nearest = close > 1 and nearest[0] in members
        if shared or is_nearest or (close and matters & set(matters_in(title))):
            best.append((3 * shared + close + is_nearest, thread))
    return max(best)[1] if best else None


def lift(candidates: Sequence[Candidate], leads: Leads) -> Sequence[Candidate]:
    """The candidates, with the scores of leads raised just above all others."""
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


def put_first(selection: Selection, leads: Leads) -> Selection:
    """The selection with the leads first, in their order."""
    if not leads.nodes:
        return selection
    places = {key: place for place, key in enumerate(leads.nodes)}
    items = sorted(
        selection.items, key=lambda item: places.get(item.best.key, len(places)) if item.best.is_node else len(places)
    )
    return replace(selection, items=items)


def _rare_words(text: str) -> set[str]:
    return {word for word in tokenizer.content_words(text) if len(word) > 1 and word not in is_everyday()}

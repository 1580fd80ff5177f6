"""The memories shown to the model that reads a session, so that it repeats none and can replace outdated ones.

    always            the owner's core facts; plans, promises and expectations that are open; then other facts
    of the session    memories that mention its people, that are similar, or that share its rare words
    newest            the newest facts and events

Each source has its share of one token limit; the next source may use what is left. Memories that are not shown cannot
be replaced.
"""

from collections.abc import Sequence
from typing import Any

from django.db.models import Q, QuerySet

from echovessel.db.compiled_queries import Query
from echovessel.embeddings import embedding
from echovessel.language import tokenizer
from echovessel.llm.prompts import tokens
from memory import knobs
from memory.consolidation import prompt
from memory.consolidation.messages import PromptMessage
from memory.models import ConceptNode
from memory.models.node import L3
from memory.recall import scoring
from memory.recall.retrievers import entities_named
from memory.store import vectors
from memory.store.active_model import expect, follow, with_one_model
from memory.store.deduplication import telling_words
from persona.models import Persona

Kind, Domain = ConceptNode.Kind, ConceptNode.Domain
MESSAGES_COMPARED = 32
NEIGHBOURS_PER_MESSAGE = 8
MAX_OF_A_SOURCE = 60
MAX_WORDS = 40
HOLDING_A_WORD = 12  # a word in more memories than this says nothing about the session
NEWEST = 10
LEAST_TOKENS = 12  # no memory takes fewer
# The cumulative share of the token limit that may be used after each source, in their order.
SHARES = {"always": 0.5, "talk": 0.9, "newest": 1.0}


def _newest(*conditions: Q, **values: Any) -> Query[ConceptNode]:
    recallable = ConceptNode.objects.recallable().order_by("-last_mentioned_at", "-id")
    return Query(lambda persona: recallable.filter(*conditions, persona=persona, **values)[:MAX_OF_A_SOURCE])


def _newest_facts(*domains: str) -> Query[ConceptNode]:
    return _newest(~Q(subject=ConceptNode.Subject.PERSONA), kind=Kind.FACT, domain__in=domains)


# Core facts, relations and the owner's home, then open items, then the other facts about the owner; within each group
# the newest first.
_ALWAYS = (
    _newest_facts(Domain.ABOUT, Domain.HOME, Domain.PEOPLE),
    _newest(kind=Kind.FACT, plan_state=ConceptNode.PlanState.PLANNED),
    _newest(kind__in=[Kind.INTENTION, Kind.EXPECTATION], outcome=ConceptNode.Outcome.OPEN),
    _newest_facts(Domain.HEALTH, Domain.WORK),
    _newest_facts(Domain.LIKES),
    _newest_facts(Domain.BELONGINGS, Domain.PLANS, Domain.BELIEFS),
)


@with_one_model
def known_memories(persona: Persona, messages: Sequence[PromptMessage]) -> list[ConceptNode]:
    """The memories to show with `messages`, each once, the most needed first."""
    nodes = ConceptNode.objects.of(persona).recallable()
    if not nodes.exists():
        return []
    texts = [message.content for message in messages if message.by_user][-MESSAGES_COMPARED:]
    of_people = nodes.filter(mentions__entity__in=entities_named(persona, texts), kind__in=L3).distinct()
    of_people = of_people.order_by("-last_mentioned_at", "-id")[:MAX_OF_A_SOURCE]
    sources = {
        "always": (node for query in _ALWAYS for node in query(persona.pk)),
        "talk": [*of_people, *_alike(persona, nodes, texts), *_of_words(persona, nodes, texts)],
        "newest": nodes.filter(kind__in=L3).newest_first()[:NEWEST],
    }
    limit = knobs.known_tokens()
    shown_nodes: dict[int, ConceptNode] = {}
    spent = 0
    for source, share in SHARES.items():
        for node in sources[source]:
            if spent + LEAST_TOKENS > limit * share:
                break
            cost = 0 if node.pk in shown_nodes else tokens(prompt.format_memories(persona, [node]) + "\n")
            if cost and spent + cost <= limit * share:
                shown_nodes[node.pk] = node
                spent += cost
    return list(shown_nodes.values())


def _of_words(persona: Persona, nodes: QuerySet[ConceptNode], texts: Sequence[str]) -> list[ConceptNode]:
    """Memories that share rare words with the messages, those that share the most first."""
    query_words = {word for text in texts for word in telling_words(text)}
    terms = {term for word in query_words for term in tokenizer.tokenize(word)}
    terms_looked_up = sorted(terms, key=lambda term: (-len(term), term))[:MAX_WORDS]
    holding = vectors.find_by_terms(persona.pk, terms_looked_up, HOLDING_A_WORD + 1) if terms else {}
    shared: dict[int, int] = {}
    for keys in holding.values():
        for key in keys.tolist() if len(keys) <= HOLDING_A_WORD else ():
            shared[key] = shared.get(key, 0) + 1
    matching_nodes = nodes.filter(pk__in=shared, kind__in=L3)
    return sorted(matching_nodes, key=lambda node: (-shared[node.pk], -node.pk))[:MAX_OF_A_SOURCE]


def _alike(persona: Persona, nodes: QuerySet[ConceptNode], texts: Sequence[str]) -> list[ConceptNode]:
    """The memories nearest to the messages in meaning, within recall's floor distance."""
    limit = knobs.similar_events()
    if not limit or not texts:
        return []
    distances: dict[int, float] = {}
    model, space = follow(), vectors.space(persona.pk)
    for vector in embedding.embed(list(texts), as_query=True, is_hurried=False):
        for key, distance in space.nearest(vector, NEIGHBOURS_PER_MESSAGE):
            distances[key] = min(distance, distances.get(key, distance))
    expect(model)
    limit_distance = scoring.floor_distance()
    near = [key for key, distance in distances.items() if distance < limit_distance]
    similar_nodes = nodes.filter(kind__in=L3, pk__in=near)
    return sorted(similar_nodes, key=lambda node: (distances[node.pk], node.pk))[:limit]

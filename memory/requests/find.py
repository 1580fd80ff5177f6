"""Find the memories and messages that a request to forget is about, and the people it names.

Chosen are texts with nearly all significant words of the subject, or with some of them and the same meaning. Listed
without being chosen are texts with similar words or meaning; if nothing is chosen, the closest are listed. People use
other words when they want something forgotten: "that thing about owing Dot money" for "I owe Dot three hundred pounds
for the boiler". A related word counts nearly as much: "allergic" for "allergy".
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, TypeVar

from django.db import connection
from django.db.models import QuerySet

from chat import search
from chat.models import Message
from echovessel.db.sqlite.substrings import SubstringIndex
from echovessel.embeddings import embedding
from echovessel.language import tokenizer
from echovessel.language.fact_domains import domains_of
from echovessel.language.person_names import occurs
from echovessel.language.requests import asks_to_forget
from memory.models import ConceptNode, Entity
from memory.store import vectors
from memory.store.active_model import expect, follow, with_one_model
from persona.models import Persona

Row = TypeVar("Row", ConceptNode, Message)

MAX_MATCHES = 20
MAX_CANDIDATES = 400  # for each word
MAX_WORDS = 24
MAX_ALIKE = 3
MAX_EMBEDDED = 40  # memories, and messages, whose meaning is compared
MAX_NEAR = 12  # memories that are near in meaning, whatever their words
SURE, ALIKE = 0.75, 0.5  # share of the words
SHORT = 3  # with so few words, all must occur
# Minimum of word share plus relevance. In six stories told in other words (2026-11), texts that were meant had 0.87 to
# 1.41, others at most 0.77.
TOGETHER, LEAST_SHARE, LEAST_RELEVANCE = 0.82, 0.4, 0.3
KIN = 0.8  # weight of a related word
ROOT, KIN_TAIL = 5, 2  # the least number of same first letters, and the most differing last letters, of related words
# If nothing is chosen, the closest from this score on are listed; the same domain of life adds as much to the score.
# (2026-11: "my health" and asthma have 0.27, "my job" and a nurse 0.28; unrelated texts 0.02 to 0.25.)
CLOSE, MAX_CLOSE = 0.25, 5
_IDLE = frozenset(tokenizer.tokenize("thing stuff bit part business story matter one said told mentioned tell say"))


@dataclass(frozen=True)
class Matches:
    """The matches of a request, best first; `alike` are memories and messages with similar words or meaning."""

    nodes: Sequence[ConceptNode] = ()
    messages: Sequence[Message] = ()
    entities: Sequence[Entity] = ()
    alike: Sequence[ConceptNode] = ()
    alike_messages: Sequence[Message] = ()

    def __bool__(self) -> bool:
        return bool(self.nodes or self.messages or self.entities or self.alike or self.alike_messages)


def words_of(text: str, persona: Persona) -> list[str]:
    """The significant words of `text`, without the names of owner and persona."""
    names = {token for name in (persona.name, persona.user_display_name) for token in tokenizer.tokenize(name)}
    words = [
        word for word in tokenizer.content_words(text) if word not in names and not tokenizer.is_function_word(word)
    ]
    # Of 「他借我钱」, 「借」 and 「钱」 are significant, and no pair with 「他」 or 「我」.
    bare = (
        word if word.isascii() else "".join(sign for sign in word if not tokenizer.is_function_word(sign))
        for word in words
    )
    all_words = [word for word in dict.fromkeys(bare) if word and word not in _IDLE]
    whole = [
        word
        for word in all_words
        if word.isascii()
        or len(word) > 1
        or not any(word in longer_word for longer_word in all_words if longer_word != word)
    ]
    return whole[:MAX_WORDS]


@with_one_model
def find_about(persona: Persona, subject: str, own_request: Message | None = None) -> Matches:
    """Memories and messages about `subject`. `own_request` is the message with the request, and is left out.

    No transaction may be open: the subject is compared by meaning as well, if an embedding model is available.
    """
    words, domains = words_of(subject, persona), set(domains_of(subject))
    roots = [_root(word) for word in words]
    keys = _matching(search.SUBSTRINGS, persona, roots)
    messages_with_words = Message.objects.filter(persona=persona, pk__in=keys, session__off_the_record=False)
    messages_with_words = messages_with_words.exclude(role=Message.Role.SYSTEM).exclude(
        pk__in=[own_request.pk] if own_request else []
    )
    messages = _nearest_in_words(messages_with_words.select_related("session"), words, lambda message: message.content)
    nodes = _nearest_in_words(memories_with_words(persona, roots), words, lambda node: node.description)
    recallable = ConceptNode.objects.of(persona).recallable().select_related("persona")
    if domains:
        node_ids = [node.pk for node in nodes]
        nodes += recallable.filter(domain__in=domains).exclude(pk__in=node_ids).order_by("-id")[:MAX_NEAR]
    relevance: dict[ConceptNode | Message, float] = {}
    try:
        model = follow()
        [vector] = embedding.embed([subject], as_query=True)
        message_vectors = embedding.embed([message.content for message in messages])
    except embedding.EmbeddingUnavailable:
        pass
    else:
        near = [pk for pk, _distance in vectors.nearest(persona.pk, vector, MAX_NEAR)]
        nodes += recallable.filter(pk__in=near).exclude(pk__in=[node.pk for node in nodes])
        node_vectors = vectors.of(node.pk for node in nodes)
        expect(model)
        comparable = embedding.scale().comparable
        relevance = {
            row: float(comparable("query", text @ vector)) for row, text in zip(messages, message_vectors, strict=True)
        }
        relevance |= {
            node: float(comparable("query", node_vectors[node.pk] @ vector))
            for node in nodes
            if node.pk in node_vectors
        }
    chosen_nodes, alike = _divide(nodes, words, lambda node: node.description, relevance)
    chosen_messages, alike_messages = _divide(messages, words, lambda message: message.content, relevance)
    entities = persona.entities.exclude(status=Entity.Status.MERGED).prefetch_related("aliases").order_by("id")
    people = [
        entity
        for entity in entities[:MAX_CANDIDATES]
        if any(
            occurs(name, subject) for name in (entity.canonical_name, *(alias.text for alias in entity.aliases.all()))
        )
    ]
    # Earlier requests to forget are no match: the closest memories are listed as well.
    if not (
        chosen_nodes
        or alike
        or any(not asks_to_forget(message.content) for message in (*chosen_messages, *alike_messages))
    ):
        closeness = {node: relevance.get(node, 0.0) + CLOSE * _is_in_domains(node, domains) for node in nodes}
        close = [node for node in nodes if closeness[node] >= CLOSE]
        alike = sorted(close, key=lambda node: (-closeness[node], -node.pk))[:MAX_CLOSE]
    return Matches(chosen_nodes, chosen_messages, people, alike, alike_messages)


def _is_in_domains(node: ConceptNode, domains: set[str]) -> bool:
    """Whether a memory belongs to one of these domains of life; without a stored domain its text decides."""
    return bool(domains & ({node.domain} if node.domain else set(domains_of(node.description))))


def _root(word: str) -> str:
    """The beginning that related words share in spelling; a stemmer would give "allergi" for "allergy"."""
    return word[: max(ROOT, len(word) - KIN_TAIL)].removesuffix("i") if word.isascii() and len(word) > SHORT else word


def _nearest_in_words(rows: Iterable[Row], words: Sequence[str], text_of: Callable[[Row], str]) -> list[Row]:
    shares = {row: share_with_kin(words, text_of(row)) for row in rows}
    return sorted((row for row in shares if shares[row]), key=lambda row: (-shares[row], -row.pk))[:MAX_EMBEDDED]


def _divide(
    rows: Sequence[Row], words: Sequence[str], text_of: Callable[[Row], str], relevance: Mapping[Any, float]
) -> tuple[list[Row], list[Row]]:
    """The rows that are meant, and those with similar words or meaning, best first."""
    scores: dict[Row, float] = {}
    is_match_by_row: dict[Row, bool] = {}
    for row in rows:
        share, near = share_with_kin(words, text_of(row)), relevance.get(row, 0.0)
        scores[row] = share + near
        has_words = bool(words) and (share > KIN if len(words) <= SHORT else share >= SURE)
        is_match_by_row[row] = has_words or (
            share >= LEAST_SHARE and near >= LEAST_RELEVANCE and share + near >= TOGETHER
        )
    best = sorted(scores, key=lambda row: (-scores[row], -row.pk))
    alike = [row for row in best if not is_match_by_row[row] and scores[row] >= ALIKE]
    return [row for row in best if is_match_by_row[row]][:MAX_MATCHES], alike[:MAX_ALIKE]


def memories_with_words(persona: Persona, words: Sequence[str]) -> QuerySet[ConceptNode]:
    """The memories that contain any of the words."""
    keys = _matching(vectors.SUBSTRINGS, persona, words)
    return ConceptNode.objects.of(persona).filter(pk__in=keys).select_related("persona")


def _matching(index: SubstringIndex, persona: Persona, words: Sequence[str]) -> list[int]:
    counts: Counter[int] = Counter()
    for word in words:
        counts.update(index.find(connection, word, MAX_CANDIDATES, scope=persona.pk))
    return [key for key, _count in counts.most_common(MAX_CANDIDATES)]


def share_of(words: Sequence[str], text_words: Set[str]) -> float:
    """The share of `words` among the known ones, 0 to 1."""
    return sum(word in text_words for word in words) / max(1, len(words))


def share_with_kin(words: Sequence[str], text: str) -> float:
    """The share of `words` that `text` contains, 0 to 1; a related word counts a little less.

    >>> share_with_kin(["allergi", "nut"], "I'm allergic to nuts."), share_with_kin(["plan"], "A planet.")
    (0.9, 0.0)
    """
    text_words = set(tokenizer.tokenize(text))
    total = 0.0
    for word in words:
        if word in text_words:
            total += 1
        elif word.isascii():
            prefixes = (
                (text_word, max(ROOT, len(word) - KIN_TAIL, len(text_word) - KIN_TAIL)) for text_word in text_words
            )
            total += KIN * any(word[:length] == text_word[:length] for text_word, length in prefixes)
    return total / max(1, len(words))

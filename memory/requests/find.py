"""What a request to forget is about: the memories and messages that say it, and the people so named.

Found by words: nearly all that tell what the subject is must stand there. What has half of them, or only means the
same, is listed as well, and not chosen.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection

from chat import search
from chat.models import Message
from echovessel.db.sqlite.substrings import SubstringIndex
from echovessel.embeddings import embedding
from echovessel.language import tokenizer
from echovessel.language.person_names import normalize_name
from memory.models import ConceptNode, Entity
from memory.recall import scoring
from memory.store import vectors
from memory.store.active_model import expect, follow, with_one_model
from persona.models import Persona

MAX_FOUND = 20
MAX_CANDIDATES = 400  # for each word
MAX_WORDS = 24
MAX_ALIKE = 3  # memories that only mean the same
SURE, ALIKE = 0.75, 0.5  # of the words
SHORT = 3  # words of which all must stand there


@dataclass(frozen=True)
class Found:
    """What a request is about, best first; `alike` are memories and messages that say or mean something like it."""

    nodes: Sequence[ConceptNode] = ()
    messages: Sequence[Message] = ()
    entities: Sequence[Entity] = ()
    alike: Sequence[ConceptNode] = ()
    alike_messages: Sequence[Message] = ()

    def __bool__(self) -> bool:
        return bool(self.nodes or self.messages or self.entities)


def words_of(text: str, persona: Persona) -> list[str]:
    """The words of `text` that tell what it is about, without the names of the two."""
    names = {token for name in (persona.name, persona.called) for token in tokenizer.tokenize(name)}
    words = [
        word for word in tokenizer.content_words(text) if word not in names and not tokenizer.is_function_word(word)
    ]
    pairs = [word for word in words if word.isascii() or len(word) > 1]
    return (pairs or words)[:MAX_WORDS]


@with_one_model
def find_about(persona: Persona, subject: str, asked: Message | None = None) -> Found:
    """What is remembered and was said about `subject`. `asked` is the message that asks for it, and is left out.

    No transaction may be open: a subject is compared by its meaning, too. Without an embedding model it is not.
    """
    words = words_of(subject, persona)
    nodes = matching_nodes(persona, words)
    sure = [node for node in nodes if is_meant(words, node.description)]
    keys = _matching(search.SUBSTRINGS, persona, words)
    said = Message.objects.filter(persona=persona, pk__in=keys, session__off_the_record=False)
    said = said.exclude(role=Message.Role.SYSTEM).exclude(pk__in=[asked.pk] if asked else [])
    messages = _best([(message, message.content) for message in said.select_related("session")], words)
    meant = [message for message in messages if is_meant(words, message.content)]
    return Found(
        sure,
        meant,
        _people(persona, subject),
        _alike(persona, subject, [node for node in nodes if node not in sure], {node.pk for node in sure}),
        [message for message in messages if message not in meant][:MAX_ALIKE],
    )


def matching_nodes(persona: Persona, words: Sequence[str]) -> list[ConceptNode]:
    """The memories in which half of the words stand, best first."""
    keys = _matching(vectors.SUBSTRINGS, persona, words)
    nodes = ConceptNode.objects.of(persona).filter(pk__in=keys).select_related("persona")
    return _best([(node, node.description) for node in nodes], words)


def is_meant(words: Sequence[str], text: str) -> bool:
    """Whether enough of the words stand in `text` that it is what they are about."""
    return bool(words) and share_of(words, text) >= (1 if len(words) <= SHORT else SURE)


def _matching(index: SubstringIndex, persona: Persona, words: Sequence[str]) -> list[int]:
    counts: Counter[int] = Counter()
    for word in words:
        counts.update(index.find(connection, word, MAX_CANDIDATES, scope=persona.pk))
    return [key for key, _count in counts.most_common(MAX_CANDIDATES)]


def _best(rows: Iterable[tuple[ConceptNode, str]] | Iterable[tuple[Message, str]], words: Sequence[str]) -> list[Any]:
    scores = {row: share_of(words, text) for row, text in rows}
    scores = {row: score for row, score in scores.items() if words and score >= ALIKE}
    return sorted(scores, key=lambda row: (-scores[row], -row.pk))[:MAX_FOUND]


def share_of(words: Sequence[str], text: str) -> float:
    """How much of `words` stands in `text`, 0 to 1."""
    told = set(tokenizer.tokenize(text))
    return sum(word in told for word in words) / max(1, len(words))


def _people(persona: Persona, subject: str) -> list[Entity]:
    name = normalize_name(subject)
    known = persona.entities.exclude(status=Entity.Status.MERGED).prefetch_related("aliases")
    return [
        entity
        for entity in known.order_by("id")[:MAX_CANDIDATES]
        if name and name in {normalize_name(text) for text in (entity.canonical_name, *_aliases(entity))}
    ]


def _aliases(entity: Entity) -> list[str]:
    return [alias.text for alias in entity.aliases.all()]


def _alike(persona: Persona, subject: str, partly: Sequence[ConceptNode], known: set[int]) -> list[ConceptNode]:
    """Those in which some of the words stand, then those that mean something like it."""
    if len(partly) >= MAX_ALIKE:
        return list(partly[:MAX_ALIKE])
    known = known | {node.pk for node in partly}
    try:
        model = follow()
        [vector] = embedding.embed([subject], as_query=True)
    except embedding.EmbeddingUnavailable:
        return list(partly)
    near = dict(vectors.nearest(persona.pk, vector, MAX_ALIKE * 4))
    expect(model)
    close = [pk for pk, distance in near.items() if distance <= scoring.floor_distance() and pk not in known]
    nodes = ConceptNode.objects.of(persona).filter(pk__in=close).recallable()
    return [*partly, *sorted(nodes, key=lambda node: (near[node.pk], node.pk))][:MAX_ALIKE]

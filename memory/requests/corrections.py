"""Find the memory that a correction contradicts, and how it would read. Nothing is changed here: the owner decides.

"Not Leeds, York" is about a memory that says Leeds; "Ruth lives in York" about one that says most of it and differs in
one place; "No, York." about the messages just before.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from heapq import nlargest

from chat.models import Message
from echovessel.language import tokenizer
from echovessel.language.corrections import apply_correction
from echovessel.language.kinship import relatives_in, share
from echovessel.language.person_names import occurs
from echovessel.language.requests import Request
from echovessel.language.requests.restatement import Claim, read_change, read_claim
from memory.models import ConceptNode, Entity
from memory.requests.find import memories_with_words, share_of, words_of
from persona.models import Persona

MAX_OFFERED = 3
MAX_CHOICES = 6  # if only the owner can say which memory is wrong
MAX_ALIGNED = 50  # memories compared with a correction word by word: those that share most words with it
SHORT = 2  # words; so short a correction is about the messages just before
ALIKE = 0.5
_PIECES = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+(?:['’-]\w+)*|\s+|[^\w\s]|_")


@dataclass(frozen=True)
class Suggestion:
    """The words to replace, the new words, and the whole memory with them."""

    old: str
    new: str
    description: str


def find_contradicted(persona: Persona, request: Request, before: Sequence[Message]) -> list[ConceptNode]:
    """The memories that a correction may be about, the likeliest first: those for which it gives a new wording, else
    those that say what it denies or what was said just before. `before`: the last messages, newest first."""
    words_before = words_of(" ".join(message_before.content for message_before in before[:2]), persona)
    subject_words = words_of(request.subject or request.new, persona)
    old, new = words_of(request.old, persona), words_of(request.new, persona)
    topic_words = new or subject_words
    topic_words = words_before if len(topic_words) <= SHORT else topic_words  # "No, York."
    statuses = (ConceptNode.Status.ACTIVE, ConceptNode.Status.HIDDEN)
    ranked = []
    for node in memories_with_words(persona, [*subject_words, *words_before]).filter(status__in=statuses):
        words = set(tokenizer.tokenize(node.description))
        shares = share_of(subject_words, words), share_of(words_before, words)
        ranked.append((sum(shares), node.pk, shares, words, node))
    claim = read_claim(request.subject or request.new)
    candidates = []
    for _sum, pk, shares, words, node in nlargest(MAX_ALIGNED, ranked):
        if suggestion := _suggest(node.description, request, claim, persona.user_display_name):
            is_candidate = suggestion.description != node.description
        else:
            says_old = bool(old) and share_of(old, words) == 1
            says_already = not says_old and bool(new) and share_of(new, words) == 1
            is_about = says_old if old else share_of(topic_words, words) >= ALIKE
            is_candidate = request.sure and is_about and not says_already
        if is_candidate:
            candidates.append((suggestion is not None, *shares, pk, node))
    return [node for *_rank, node in nlargest(MAX_OFFERED, candidates)]


def find_disputed(persona: Persona, topic: str, reply: str, recalled: Sequence[ConceptNode]) -> list[ConceptNode]:
    """The memories that "that's wrong" may be about, for the owner to choose from: those about the topic if one is
    named, else those that the reply mentions (recalled memories in part, others for the most part).

    A memory that the reply did not mention is not listed: "that's not true" may well be about an opinion.
    """
    pks = {node.pk for node in recalled}
    recallable = ConceptNode.objects.of(persona).recallable().select_related("persona")
    if topic:
        relatives, topic_words = relatives_in(topic), words_of(topic, persona)
        people = [
            entity
            for entity in persona.entities.exclude(status=Entity.Status.MERGED).prefetch_related("aliases")
            if any(
                occurs(name, topic) for name in (entity.canonical_name, *(alias.text for alias in entity.aliases.all()))
            )
            or (entity.relation and share(relatives, relatives_in(entity.relation)))
        ]
        nodes = list(recallable.filter(mentions__entity__in=people).distinct().order_by("-id")[:MAX_ALIGNED])
        if not nodes:
            disputed_nodes = (
                memories_with_words(persona, topic_words)
                .filter(pk__in=recallable.values("pk"))
                .order_by("-id")[:MAX_ALIGNED]
            )
            nodes = [
                node
                for node in disputed_nodes
                if share_of(topic_words, set(tokenizer.tokenize(node.description))) >= ALIKE
            ]
        if nodes:
            return sorted(nodes, key=lambda node: (node.pk not in pks, -node.pk))[:MAX_CHOICES]
    words = set(tokenizer.tokenize(reply))
    others = (
        memories_with_words(persona, words_of(reply, persona))
        .filter(pk__in=recallable.values("pk"))
        .exclude(pk__in=pks)
    )
    shares = {node: share_of(words_of(node.description, persona), words) for node in (*recalled, *others)}
    mentioned = [node for node, part in shares.items() if part >= ALIKE or (part and node.pk in pks)]
    return sorted(mentioned, key=lambda node: (-shares[node], -node.pk))[:MAX_CHOICES]


def suggest(description: str, request: Request, owner: str = "") -> Suggestion | None:
    """How the memory would read with the correction; None if only the owner can say. `owner` is the owner's name in
    memories.

    >>> from echovessel.language.requests import read_requests
    >>> [request] = read_requests("Actually Ruth lives in York.")
    >>> suggest("Ana's friend Ruth lives in Leeds.", request).description
    "Ana's friend Ruth lives in York."
    """
    return _suggest(description, request, read_claim(request.subject or request.new), owner)


def _suggest(description: str, request: Request, claim: Claim, owner: str) -> Suggestion | None:
    if change := read_change(description, claim, owner):
        start, end = change.start, change.end
        rewritten = description[:start] + change.new + description[end:]
        whole = description.find(claim.denied) if claim.denied else -1
        if 0 <= whole <= start and end <= whole + len(claim.denied):
            start, end = whole, whole + len(claim.denied)  # 「王姐」, not 「王」 alone
        return Suggestion(description[start:end], rewritten[start : len(rewritten) - len(description) + end], rewritten)
    description_with_date = apply_correction(description, request.subject)
    return _difference(description, description_with_date) if description_with_date is not None else None


def would_change(node: ConceptNode, request: Request) -> bool:
    """Whether the correction says something that the memory does not. An unsure correction concerns only memories for
    which it gives a new wording."""
    suggestion = suggest(node.description, request, node.persona.user_display_name)
    return request.sure if suggestion is None else suggestion.description != node.description


def _difference(before: str, after: str) -> Suggestion:
    first, other = _PIECES.findall(before), _PIECES.findall(after)
    changed = [step for step in SequenceMatcher(None, first, other, autojunk=False).get_opcodes() if step[0] != "equal"]
    if not changed:
        return Suggestion("", "", after)
    old = "".join(first[changed[0][1] : changed[-1][2]]).strip()
    return Suggestion(old, "".join(other[changed[0][3] : changed[-1][4]]).strip(), after)

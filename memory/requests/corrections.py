"""Which memory a correction contradicts, and how that would read. Nothing is changed here: the owner decides.

"Not Leeds, York" is about a memory that says Leeds; "Ruth lives in York" about one that says most of it and something
else in one place; "No, York." about what was said just before.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from heapq import nlargest

from chat.models import Message
from echovessel.language import tokenizer
from echovessel.language.corrections import apply_correction
from echovessel.language.requests import Request
from echovessel.language.requests.restatement import Claim, read_change, read_claim
from memory.models import ConceptNode
from memory.requests.find import holding, share_of, words_of
from persona.models import Persona

MAX_OFFERED = 3
MAX_ALIGNED = 50  # memories that a correction is held against, word by word: those that share most words with it
SHORT = 2  # words; who says no more speaks of what was said just before
ALIKE = 0.5
_PIECES = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+(?:['’-]\w+)*|\s+|[^\w\s]|_")


@dataclass(frozen=True)
class Suggestion:
    """The words that would be replaced, what comes in their place, and the whole memory then."""

    old: str
    new: str
    description: str


def contradicted(persona: Persona, request: Request, before: Sequence[Message]) -> list[ConceptNode]:
    """The memories that a correction may be about, the likeliest first: those of which it says how they would read, and
    else those that say what it denies, or what was said just before. `before`: the last messages, newest first."""
    said = words_of(" ".join(one.content for one in before[:2]), persona)
    told = words_of(request.subject or request.new, persona)
    old, new = words_of(request.old, persona), words_of(request.new, persona)
    meant = new or told
    meant = said if len(meant) <= SHORT else meant  # "No, York."
    served = (ConceptNode.Status.ACTIVE, ConceptNode.Status.HIDDEN)
    ranked = []
    for node in holding(persona, [*told, *said]).filter(status__in=served):
        words = set(tokenizer.tokenize(node.description))
        shares = share_of(told, words), share_of(said, words)
        ranked.append((sum(shares), node.pk, shares, words, node))
    claim = read_claim(request.subject or request.new)
    scored = []
    for _sum, pk, shares, words, node in nlargest(MAX_ALIGNED, ranked):
        if suggestion := _suggest(node.description, request, claim, persona.called):
            is_meant = suggestion.description != node.description
        else:
            says_old = bool(old) and share_of(old, words) == 1
            says_already = not says_old and bool(new) and share_of(new, words) == 1
            is_about = says_old if old else share_of(meant, words) >= ALIKE
            is_meant = request.sure and is_about and not says_already
        if is_meant:
            scored.append((suggestion is not None, *shares, pk, node))
    return [node for *_rank, node in nlargest(MAX_OFFERED, scored)]


def suggest(description: str, request: Request, owner: str = "") -> Suggestion | None:
    """How the memory would read, where the correction tells; None where only its owner can say. `owner` is the name by
    which memories speak of the owner.

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
            start, end = whole, whole + len(claim.denied)  # 「王姐」, and not 「王」 of it
        return Suggestion(description[start:end], rewritten[start : len(rewritten) - len(description) + end], rewritten)
    dated = apply_correction(description, request.subject)
    return _difference(description, dated) if dated is not None else None


def would_change(node: ConceptNode, request: Request) -> bool:
    """Whether the correction says something that the memory does not. Where it is not sure that it is one, a memory is
    meant only if it shows how that would read."""
    suggestion = suggest(node.description, request, node.persona.called)
    return request.sure if suggestion is None else suggestion.description != node.description


def _difference(before: str, after: str) -> Suggestion:
    one, other = _PIECES.findall(before), _PIECES.findall(after)
    changed = [step for step in SequenceMatcher(None, one, other, autojunk=False).get_opcodes() if step[0] != "equal"]
    if not changed:
        return Suggestion("", "", after)
    old = "".join(one[changed[0][1] : changed[-1][2]]).strip()
    return Suggestion(old, "".join(other[changed[0][3] : changed[-1][4]]).strip(), after)

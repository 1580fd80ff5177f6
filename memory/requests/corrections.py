"""Which memory a correction contradicts, and how that would read. Nothing is changed here: the owner decides.

"Not Leeds, York" is about a memory that says Leeds; "Ruth lives in York" about one that says most of it and something
else in one place; "No, York." about what was said just before.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from chat.models import Message
from echovessel.language import tokenizer
from echovessel.language.corrections import apply_correction
from echovessel.language.requests import Request
from memory.models import ConceptNode
from memory.requests.find import matching_nodes, share_of, words_of
from persona.models import Persona

MAX_OFFERED = 3
MAX_REPLACED = 4  # words in one place
ALIKE = 0.5
_PIECES = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+(?:['’-]\w+)*|\s+|[^\w\s]|_")
_OPENING = re.compile(
    r"^(?:no+|nope|wait|sorry|oops|actually|in fact|correction|其实|不对|不是|说错了|记错了|更正)[\s,，.。:：!！]*",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Suggestion:
    """The words that would be replaced, what comes in their place, and the whole memory then."""

    old: str
    new: str
    description: str


def contradicted(persona: Persona, request: Request, before: Sequence[Message]) -> list[ConceptNode]:
    """The memories that a correction may be about, the likeliest first. `before`: the last messages, newest first."""
    told = _OPENING.sub("", request.subject or request.new)
    if request.old:
        words = words_of(request.old, persona)
        context = set(words_of(" ".join([told, *(one.content for one in before[:2])]), persona)) - set(words)
        found = [node for node in _live(persona, words) if share_of(words, node.description) == 1]
    else:
        words = words_of(request.new or told, persona)
        context = set(words)
        found = _live(persona, words)
        if len(words) <= 2 or not found:  # "No, York.": of what was said just before
            context = {word for one in before[:2] for word in words_of(one.content, persona)}
            found = _live(persona, sorted(context)) if context else []
    scored = [(share_of(sorted(context), node.description), node) for node in found]
    fitting = [(score, node) for score, node in scored if not _says_already(node, request, persona)]
    if request.old and len(fitting) > 1:
        fitting = [pair for pair in fitting if pair[0]] or fitting
    return [node for _score, node in sorted(fitting, key=lambda pair: (-pair[0], -pair[1].pk))[:MAX_OFFERED]]


def _live(persona: Persona, words: Sequence[str]) -> list[ConceptNode]:
    served = (ConceptNode.Status.ACTIVE, ConceptNode.Status.HIDDEN)
    return [node for node in matching_nodes(persona, words) if node.status in served]


def _says_already(node: ConceptNode, request: Request, persona: Persona) -> bool:
    if request.old and share_of(words_of(request.old, persona), node.description) == 1:
        return False
    new = words_of(request.new, persona)
    return bool(new) and share_of(new, node.description) == 1


def suggest(description: str, request: Request) -> Suggestion | None:
    """How the memory would read, where the correction tells; None where only its owner can say.

    >>> from echovessel.language.requests import read_requests
    >>> [request] = read_requests("Actually Ruth lives in York.")
    >>> suggest("Ana's friend Ruth lives in Leeds.", request).description
    "Ana's friend Ruth lives in York."
    """
    new = request.new
    if request.old and new:
        alone = rf"(?<![^\W\u3400-\u9fff]){re.escape(request.old)}(?![^\W\u3400-\u9fff])"
        replaced, count = re.subn(alone, lambda _found: new, description, count=1, flags=re.IGNORECASE)
        if count:
            return Suggestion(request.old, new, replaced)
    if (dated := apply_correction(description, request.subject)) is not None:
        return _difference(description, dated)
    return _aligned(description, new or _OPENING.sub("", request.subject))


def would_change(description: str, request: Request) -> bool:
    """Whether the correction says something that the memory does not. Where no word is told to be right, a memory is
    meant only if the request shows how it would read."""
    suggestion = suggest(description, request)
    if suggestion is None:
        return request.sure or bool(request.new)
    return suggestion.description != description


def _difference(before: str, after: str) -> Suggestion:
    one, other = _PIECES.findall(before), _PIECES.findall(after)
    changed = [step for step in SequenceMatcher(None, one, other, autojunk=False).get_opcodes() if step[0] != "equal"]
    if not changed:
        return Suggestion("", "", after)
    old = "".join(one[changed[0][1] : changed[-1][2]]).strip()
    return Suggestion(old, "".join(other[changed[0][3] : changed[-1][4]]).strip(), after)


def _aligned(description: str, told: str) -> Suggestion | None:
    """The memory with what `told` says otherwise in one place, where both say the same around it."""
    pieces = _PIECES.findall(description)
    places = [at for at, piece in enumerate(pieces) if not piece.isspace()]
    one = [pieces[at] for at in places]
    other = [piece for piece in _PIECES.findall(told.rstrip(" .。!！")) if not piece.isspace()]
    match = SequenceMatcher(None, [_form(piece) for piece in one], [_form(piece) for piece in other], autojunk=False)
    best = None
    for name, first, last, begins, ends in match.get_opcodes():
        same_before = begins > 0
        if name == "replace" and same_before and _is_word(other[begins:ends]) and best is None:
            best = (first, last, begins, ends)
    if best is None:
        return None
    first, last, begins, ends = best
    if ends == len(other):  # it ends there; in the memory something may follow
        last = min(last, first + max(1, ends - begins))
    old_pieces = [piece for piece in one[first:last] if _is_word([piece])]
    if not old_pieces or len(old_pieces) > MAX_REPLACED or ends - begins > MAX_REPLACED:
        return None
    while last > first and not _is_word([one[last - 1]]):
        last -= 1
    old = "".join(pieces[places[first] : places[last - 1] + 1])
    joint = "" if re.search(r"[\u3400-\u9fff]", told) else " "
    new = joint.join(other[begins:ends])
    rewritten = "".join(pieces[: places[first]]) + new + "".join(pieces[places[last - 1] + 1 :])
    return Suggestion(old, new, rewritten)


def _form(piece: str) -> str:
    return next(iter(tokenizer.tokenize(piece)), piece)


def _is_word(pieces: Sequence[str]) -> bool:
    return all(re.match(r"\w", piece) for piece in pieces)

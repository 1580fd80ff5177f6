"""Whether the memories of two names suggest that both mean the same. Pure.

The score is on the relevance scale of recall (1 - d/2 of unit vectors, d Euclidean), of the two most similar memories.
The bundled embedding model reads Chinese as dictionary words, names included: 「小黑」 becomes a small black thing. In
scripts other than Latin the words that both memories share make the score.

A score alone decides little: "Ana's sister Anna lives in Lyon" and the same sentence about Bea score 0.72, two words
for one uncle 0.75. So memories count only together with names that could be one person's (spelling.py), or names in two
scripts, such as "Scott" and 「黄逸扬」.

    same   one name is the other's shorter form, and the score is at least `entities.same_score`
    ask    a transliteration or a similar spelling; or the names could be one person's and the score is at least
           `entities.ask_score`
    other  anything else; also if one memory names both, or if only the two scripts suggest it and the owner gives
           them different relations

tests/memory/entities/test_similarity.py checks the figures on the table of pairs (tests/memory/entities/pairs.py).
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from echovessel.embeddings import embedding
from echovessel.language import tokenizer
from echovessel.language.kinship import relatives_in, share
from echovessel.language.person_names import normalize_name, occurs
from echovessel.process.word_caches import cached_words
from memory import knobs
from memory.entities import spelling
from memory.models import Entity
from memory.recall.query import script_of

Verdict = Literal["same", "ask", "other"]

ENOUGH_WORDS = 6  # fewer shared words than this are chance, however short the memory
UNRELATED = 1 - 2**0.5 / 2  # the relevance of orthogonal vectors: the lexical score begins there, too
STRONG_REASONS = {"transliteration", "similar_spelling"}
WEAK_REASONS = {"shared_name", "familiar_name", "other_script"}


@dataclass(frozen=True)
class Profile:
    """A name with all its forms, its kind, its memories with their vectors `(n, d) float32, unit length`, the
    normalized names of others in them, and the relation to the owner if known."""

    names: Sequence[str]
    kind: str
    texts: Sequence[str]
    vectors: np.ndarray = field(repr=False)
    company: frozenset[str] = frozenset()
    relation: str = ""

    @property
    def normalized(self) -> set[str]:
        return {normalize_name(name) for name in self.names}


@dataclass(frozen=True)
class Likeness:
    """The comparison of two profiles. `reasons` are codes that are stored on the proposal."""

    verdict: Verdict
    score: float
    reasons: tuple[str, ...] = ()


def compatible(first: str, other: str) -> bool:
    """Whether two kinds can belong to one entity: they are equal, or one is unknown."""
    return first == other or Entity.Kind.OTHER in (first, other)


def likeness(first: Profile, other: Profile, talking: Collection[str]) -> Likeness:
    """Compare two profiles. `talking` are the names of the owner and the persona, which occur everywhere."""
    if not compatible(first.kind, other.kind):
        return Likeness("other", 0.0)
    kind = first.kind if other.kind == Entity.Kind.OTHER else other.kind
    reasons = spelling.reasons(first.names, other.names, kind, knobs.least_alike_spelling())
    if spelling.in_other_scripts(first.names, other.names):
        reasons.add("other_script")
    if not reasons or _are_named_together(first, other):
        return Likeness("other", 0.0)
    if reasons == {"other_script"} and _relations_differ(first.relation, other.relation):
        return Likeness("other", 0.0)
    score = round(context_score(first, other, talking), 3)
    verdict: Verdict = "other"
    if "shared_name" in reasons and score >= knobs.same_score():
        verdict = "same"
    elif STRONG_REASONS & reasons or (WEAK_REASONS & reasons and score >= knobs.ask_score()):
        verdict = "ask"
    if score >= knobs.ask_score():
        reasons.add("similar_memories")
    if first.company & other.company:
        reasons.add("shared_company")
    return Likeness(verdict, score, tuple(sorted(reasons)))


def context_score(profile: Profile, other: Profile, talking: Collection[str]) -> float:
    """The relevance of the two most similar memories, 0 … 1; 0 if there are none."""
    ignored = frozenset(
        token for name in (*profile.names, *other.names, *talking) for token in tokenizer.tokenize(name)
    )
    best = 0.0
    for first, vector in zip(profile.texts, profile.vectors, strict=False):
        for second, against in zip(other.texts, other.vectors, strict=False):
            if embeds_script_of(first) and embeds_script_of(second):
                distance = float(np.linalg.norm(vector - against))
                relevance = max(0.0, 1 - embedding.scale().comparable_distance("texts", distance) / 2)
            else:
                # The share of the shorter memory's words that the other one contains.
                words, other_words = _content_words(first) - ignored, _content_words(second) - ignored
                share = len(words & other_words) / max(ENOUGH_WORDS, min(len(words), len(other_words)))
                relevance = UNRELATED + (1 - UNRELATED) * share
            best = max(best, relevance)
    return best


def nearest_bearer(profile: Profile, bearers: Mapping[int, Profile], talking: Collection[str]) -> int | None:
    """The bearer of a name that the profile means: similar enough, with a clear lead over the next, and confirmed by
    the same company or another shared name; None if there is none."""
    scored = sorted(((context_score(profile, bearer, talking), pk) for pk, bearer in bearers.items()), reverse=True)
    if not scored or scored[0][0] < knobs.same_score():
        return None
    best = bearers[scored[0][1]]
    corroborated = profile.company & best.company or len(profile.normalized & best.normalized) > 1
    return scored[0][1] if corroborated and _leads(scored) else None


def only_match(likenesses: Mapping[int, Likeness]) -> int | None:
    """The only entity that is surely the same; None if a second one is as likely."""
    same = sorted(((like.score, pk) for pk, like in likenesses.items() if like.verdict == "same"), reverse=True)
    return same[0][1] if same and _leads(same) else None


def _leads(scored: Sequence[tuple[float, int]]) -> bool:
    return len(scored) == 1 or scored[0][0] - scored[1][0] >= knobs.clear_margin()


def _relations_differ(first: str, other: str) -> bool:
    """Whether the relations mean two people: a room-mate and a fellow student differ, a friend and 朋友 do not."""
    if not first or not other:
        return False
    kin, other_kin = relatives_in(first), relatives_in(other)
    if kin or other_kin:
        return not share(kin, other_kin)
    return script_of(first) == script_of(other) and normalize_name(first) != normalize_name(other)


def _are_named_together(profile: Profile, other: Profile) -> bool:
    """Whether a memory names both: then they are two. "Scott" does not count inside "Scott Huang called"."""
    shared = profile.normalized & other.normalized
    first, second = ({name for name in side.names if normalize_name(name) not in shared} for side in (profile, other))
    for memory in (*profile.texts, *other.texts):
        text, standing = memory, set()
        for name in sorted(first | second, key=lambda name: (-len(name), name)):
            if occurs(name, text):
                standing.add(name)
                text = re.sub(re.escape(name), "\N{BULLET}", text, flags=re.IGNORECASE)  # not as part of it, too
        if standing & first and standing & second:
            return True
    return False


def embeds_script_of(text: str) -> bool:
    """Whether the embedding model knows the script of `text`; models other than the bundled one know all."""
    return embedding.name() != embedding.BUNDLED or _script_of(text) == "latin"


_script_of = cached_words(maxsize=2_048)(script_of)


@cached_words(maxsize=2_048)
def _content_words(text: str) -> frozenset[str]:
    return frozenset(tokenizer.content_words(text))

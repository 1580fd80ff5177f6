"""The query: the user's recent messages as weighted words and as vectors."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from echovessel.embeddings import embedding
from echovessel.language import common_words, tokenizer
from echovessel.language import lazy_re as re
from echovessel.language.general_questions import asks_of_the_world
from echovessel.language.question_parts import parts_of

UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u31ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff]")
HAN = re.compile("[\u3400-\u9fff\uf900-\ufaff]")
LATIN = re.compile("[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")
# The first words of a very long message show its subject.
MAX_WORDS = 64


@dataclass(frozen=True)
class Query:
    """The recent messages, oldest first, and the query words, each with its weight. `bare`: the messages without the
    names of the owner and the persona; `parts`: the questions that the last message consists of, if several, without
    the names; `is_general`: the last message asks about the world or for a service; `follows_general`: an earlier one
    does."""

    turns: tuple[str, ...]
    weights: tuple[float, ...]
    words: Mapping[str, float]
    script: str
    bare: tuple[str, ...]
    parts: tuple[str, ...] = ()
    is_general: bool = False
    follows_general: bool = False


@dataclass(frozen=True)
class Meaning:
    """The vectors of a query, float32, unit length. `whole` is searched with: each message with its weight, and all of
    them together, with and without the names, less the direction common to all messages. `bare`, all of them together
    without the names, decides whether memory has an answer: every memory of Ana is near a message with "Ana" in it.
    With a name unanswerable questions reach a median cosine of 0.52 and answerable ones 0.72, without it 0.23 and 0.54
    (LoCoMo, 2026-11). `last`: the last message alone, without the names; the present subject. `parts` (p, d): the parts
    of the query, less the same direction."""

    whole: np.ndarray
    bare: np.ndarray
    last: np.ndarray
    parts: np.ndarray


def build_query(
    turns: Sequence[str],
    decay: float,
    names: Sequence[str] = (),
    names_somebody: Callable[[str], bool] = lambda text: False,
) -> Query:
    """The query of `turns`, oldest first; each earlier message weighs `decay` of the next one.

    Everyday words count less. `names` are those of the owner and the persona: they occur everywhere and distinguish
    nothing, so they count only if there are no other words. `names_somebody` tells whether a text names somebody else
    of the memory: "Is Rosa a nurse?" is about Rosa. It may cost a statement, so it is asked only of general forms.

    >>> build_query(["I got a cat", "Is Mira fond of it?"], 0.6, ["Mira"]).words
    {'fond': 1.0, 'got': 0.6, 'cat': 0.6}
    """
    kept_turns = tuple(turn for turn in turns if turn.strip())
    weights = tuple(decay**back for back in reversed(range(len(kept_turns))))
    words: dict[str, float] = {}
    for turn, weight in zip(reversed(kept_turns), reversed(weights), strict=True):
        for word in tokenizer.content_words(turn):
            words.setdefault(word, weight * (common_words.WEIGHT if word in common_words.is_everyday() else 1))
    of_names = {word for name in names for word in tokenizer.tokenize(name)}
    others = {word: weight for word, weight in words.items() if word not in of_names}
    first = dict(islice((others or words).items(), MAX_WORDS))
    bare = tuple(strip_names(names, turn) for turn in kept_turns)
    parts = tuple(dict.fromkeys(strip_names(names, part) for part in parts_of(kept_turns[-1]))) if kept_turns else ()
    general = [asks_of_the_world(turn, names) and not names_somebody(turn) for turn in kept_turns]
    return Query(
        turns=kept_turns,
        weights=weights,
        words=first,
        script=script_of(" ".join(kept_turns)),
        bare=bare,
        parts=parts if len(parts) > 1 else (),
        is_general=general[-1:] == [True],
        follows_general=any(general[:-1]),
    )


def embed_soon(turns: Sequence[str], names: Sequence[str]) -> None:
    """Start to embed the messages of a query as one text, while the prompt is still being prepared; each message alone
    has been embedded before. Without it `meaning` waits 6 ms for this text."""
    bare = [strip_names(names, turn) for turn in turns if turn.strip()]
    if len(bare) > 1:
        embedding.soon(" ".join(bare))


def strip_names(names: Sequence[str], text: str) -> str:
    """`text` without `names`; a text that consists of names is returned unchanged.

    >>> strip_names(["Mira"], "Is Mira's cat fond of Miranda?"), strip_names(["Mira"], "Mira?")
    ('Is cat fond of Miranda?', 'Mira?')
    """
    known_names = sorted({name.strip() for name in names if name.strip()}, key=len, reverse=True)
    if not known_names:
        return text
    patterns = (
        re.escape(name) if UNSPACED.search(name) else rf"\b{re.escape(name)}\b(?:['’]s\b)?" for name in known_names
    )
    rest = " ".join(re.sub("|".join(patterns), " ", text, flags=re.I).split())
    return rest if any(map(str.isalnum, rest)) else text


def whole_words(weights: Mapping[str, float]) -> dict[str, float]:
    """The tokens of a query that are whole words, as far as that is visible without a dictionary: spaced words, pairs
    of characters that are both content words, and characters between function words.

    >>> whole_words({"的猫": 1, "猫": 1, "书": 1, "店": 1, "书店": 1})
    {'猫': 1, '书店': 1}
    """
    pairs = {token for token in weights if len(token) == 2 and all(character in weights for character in token)}
    within = {character for pair in pairs for character in pair}
    return {
        token: weight
        for token, weight in weights.items()
        if token in pairs or not UNSPACED.match(token) or (len(token) == 1 and token not in within)
    }


def meaning(query: Query) -> Meaning:
    """The vectors of a query. Raises EmbeddingUnavailable."""
    bare = " ".join(query.bare)
    texts = list(dict.fromkeys((*query.turns, *query.bare, bare, *query.parts)))
    rows = dict(zip(texts, embedding.embed(texts, as_query=True), strict=True))
    last = rows[query.bare[-1]]
    one_by_one = _mean(query, [rows[turn] for turn in query.turns]) + _mean(query, [rows[turn] for turn in query.bare])
    together = rows[bare] if len(query.turns) > 1 else np.zeros_like(last)
    both = _unit(_unit(one_by_one, last) + together, last)
    common = common_words.SHARE * common_words.common_direction()
    parts = [_unit(rows[part] - common, rows[part]) for part in query.parts]
    return Meaning(_unit(both - common, both), rows[bare], last, np.array(parts, dtype=np.float32))


def knows(script: str) -> bool:
    """Whether the embedding model was trained on much text of a script. Assumed of a model chosen by the operator,
    unless a measurement showed that it was not."""
    if embedding.name() != embedding.BUNDLED:
        return script not in embedding.scale().unknown
    return script in ("latin", "han")


def _mean(query: Query, rows: Sequence[np.ndarray]) -> np.ndarray:
    return _unit(np.asarray(query.weights, dtype=np.float32) @ np.stack(rows), rows[-1])


def _unit(vector: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    length = float(np.linalg.norm(vector))
    return (vector / length if length > 1e-6 else otherwise).astype(np.float32)


def script_of(text: str) -> str:
    """`unspaced` if a fair share of the letters is of scripts without spaces, and `han` if three quarters of these are
    Chinese, which rules out Japanese; otherwise `latin` if most letters are Latin, else `other`."""
    unspaced, latin = len(UNSPACED.findall(text)), len(LATIN.findall(text))
    letters = sum(character.isalpha() for character in text)
    if unspaced * 4 > letters:
        return "han" if len(HAN.findall(text)) * 4 >= unspaced * 3 else "unspaced"
    return "latin" if latin * 2 >= letters else "other"

"""How likely a passage asks the persona for something, and for what: a classifier over n-grams, and over the token
states of the bundled sentence model, which for Chinese reads the passage translated word for word into English.

It decides only whether to ASK about what the rules leave open; nothing is done on its result alone. `train` builds it
from our sentences (`lines/`), those of others and everyday messages, and sets its thresholds by messages of writers
that it was not trained with. The sentence model takes 2 ms per passage, so passages of which the n-grams are sure are
not passed to it; without the model's file, or the dictionary, the n-grams decide. Figures: README.md of the package.
"""

import hashlib
import logging
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from echovessel.embeddings import layers, translation
from echovessel.embeddings.bundled_model import Adapters
from echovessel.embeddings.errors import EmbeddingUnavailable
from echovessel.language import lazy_re as re
from echovessel.language.ngrams import counts, runs, weigh
from echovessel.language.pinyin import sounds
from echovessel.language.plain_text import ABBREVIATIONS
from echovessel.language.requests.types import RequestKind
from echovessel.process.word_caches import RecentValues

logger = logging.getLogger(__name__)

FILE, LINES = Path(__file__).with_name("classifier.npz"), Path(__file__).with_name("lines")
LANGUAGES = ("en", "zh")
KINDS = (RequestKind.FORGET, RequestKind.REMEMBER, RequestKind.CORRECTION, RequestKind.WISH, RequestKind.NAME)
UNLIKELY = -9.0
# Without its files or onnxruntime there is no sentence model.
FAULTS = (OSError, ValueError, KeyError, ImportError, EmbeddingUnavailable, translation.DictionaryUnavailable)
MAX_CACHED = 256
LAYERS = (3, 6)  # of the sentence model: the last without adapters, and the last
READER_WEIGHT = 0.25  # of the reader's scores beside those of the n-grams
_HAN = re.compile("[\u3400-\u9fff]")
_TOKEN = re.compile(r"[a-z0-9']+|[^\sa-z0-9']")
# Chat abbreviations are read as the words they abbreviate.
_LONG = ABBREVIATIONS | {"2": "to", "4": "for", "k": "ok", "b": "be", "y": "why"}


@dataclass(frozen=True)
class Reader:
    """What is trained on top of the sentence model: adapters of its last layers, and attention over the tokens of a
    passage with the maximum of each hidden unit beside it."""

    adapters: Adapters
    hidden: np.ndarray  # from the states of a token to the hidden units
    hidden_bias: np.ndarray
    attention: np.ndarray  # from hidden units to the weight of the token for each head
    values: np.ndarray  # from hidden units to what the token gives, equally many numbers for each head
    output: np.ndarray  # one column for each kind and one for none; the last row is the bias

    def scores(self, states: np.ndarray) -> np.ndarray:
        """For each kind the log-odds against no request."""
        hidden = np.maximum(0, states @ self.hidden + self.hidden_bias)
        attention = hidden @ self.attention
        attention = np.exp(attention - attention.max(0))
        attention /= attention.sum(0)
        values = (hidden @ self.values).reshape(len(hidden), attention.shape[1], -1)
        attended = np.einsum("th,thv->hv", attention, values).ravel()
        output = np.concatenate([attended, hidden.max(0), [1]]) @ self.output
        odds: np.ndarray = output[:-1] - output[-1]
        return odds


@dataclass(frozen=True)
class Model:
    """The unpacked model of one language."""

    common: frozenset[str]  # words that the frame of a sentence keeps
    rarity: np.ndarray
    weights: np.ndarray
    biases: np.ndarray
    likely: np.ndarray  # for each kind the score from which the persona asks
    likely_by_ngrams: np.ndarray  # the same if n-grams alone decide
    unlikely: float  # below this score the n-grams are sure
    reader: Reader


def language_of(text: str) -> str:
    return "zh" if _HAN.search(text) else "en"


def likely_kinds(text: str, *, correction_least: float = 0.0) -> list[RequestKind]:
    """What a prepared passage likely asks for: the likeliest kind; a correction beside another, because a correction is
    asked about only where a memory says otherwise; and a name beside a wish, because "not Mrs Hill, say Jo" is both.
    `correction_least`: the margin above the threshold for a correction.

    >>> likely_kinds("keep off the subject of my dad pls"), likely_kinds("my dad keeps bees")
    ([<RequestKind.WISH: 'wish'>], [])
    """
    likely = _likelihoods(text)
    kinds = [
        KINDS[at]
        for at in np.argsort(-likely)
        if likely[at] > (correction_least if KINDS[at] is RequestKind.CORRECTION else 0.0)
    ]
    return kinds[:1] + [kind for kind in kinds[1:] if _may_go_together({kinds[0], kind})][:1]


def _may_go_together(kinds: Set[RequestKind]) -> bool:
    return RequestKind.CORRECTION in kinds or kinds == {RequestKind.NAME, RequestKind.WISH}


def likeliest_place(texts: Sequence[str], kind: RequestKind) -> int:
    """The index of the sentence that most likely asks for `kind`, by n-grams."""
    scores = [_by_ngrams(text, load()[language_of(text)])[KINDS.index(kind)] for text in texts]
    return int(np.argmax(scores))


def _likelihoods(text: str) -> np.ndarray:
    """For each kind the score relative to the threshold from which the persona asks."""
    key = hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()
    cached = _recent.get(key)
    if cached is not None:
        return cached
    model = load()[language_of(text)]
    scores = _by_ngrams(text, model)
    if scores.max() < model.unlikely:
        likely = np.full(len(KINDS), UNLIKELY)
    else:
        try:
            [states] = states_of([text], model.reader.adapters)
            likely = scores + READER_WEIGHT * model.reader.scores(states) - model.likely
        except FAULTS as error:
            logger.error("requests are heard without the sentence model: %s", type(error).__name__)
            likely = scores - model.likely_by_ngrams
    _recent.update({key: likely})
    return likely


def states_of(texts: Sequence[str], adapters: Adapters | None = None) -> list[np.ndarray]:
    """For each prepared text the sentence model's states of its tokens."""
    glossed = [translation.in_english(text, _words_of_requests()) for text in texts]
    return layers.states_of_tokens([text.replace("\x00", " ") for text in glossed], LAYERS, adapters)


@cache
def _words_of_requests() -> dict[str, str]:
    rows = (LINES / "gloss.zh.tsv").read_text(encoding="utf-8").splitlines()
    return dict(row.split("\t") for row in rows if not row.startswith("#"))


def _by_ngrams(text: str, model: Model) -> np.ndarray:
    buckets, values = weigh(features(text, model.common), model.rarity)
    scores: np.ndarray = values @ model.weights[buckets] + model.biases
    return scores


def features(text: str, common: Collection[str]) -> list[tuple[np.ndarray, np.ndarray]]:
    """The n-grams of a prepared text, also with gaps, and for Chinese those of its frame: `common` words in a row."""
    plain = " ".join(text.lower().replace("\x00", " \x00 ").split())
    return counts(_chinese(plain, common) if language_of(plain) == "zh" else _english(plain))


def tokens(text: str) -> list[str]:
    """The words and punctuation of a text, with abbreviations expanded; Chinese by characters."""
    return [_LONG.get(word, word) for word in _TOKEN.findall(text.lower())]


def _english(plain: str) -> Iterator[list[str]]:
    words = ["<", *tokens(plain), ">"]
    yield list(runs("w", words, 3, " "))
    yield [f"s{words[at]} {words[at + gap]}" for gap in (2, 3) for at in range(len(words) - gap)]
    yield [
        "c" + padded[start : start + length]
        for word in words[1:-1]
        for padded in [f" {word[:30]} "]
        for length in (3, 4, 5)
        for start in range(max(1, len(padded) - length + 1))
    ]


def _chinese(plain: str, common: Collection[str]) -> Iterator[list[str]]:
    signs = ["<", *(sign for sign in plain if not sign.isspace()), ">"]
    yield list(runs("z", signs, 4, ""))
    yield [f"s{signs[at]} {signs[at + gap]}" for gap in (2, 3) for at in range(len(signs) - gap)]
    yield [sound for sound in runs("p", sounds(plain), 3, " ") if " " in sound]
    yield list(_frame(["<", *tokens(plain), ">"], common))


def _frame(words: Sequence[str], common: Collection[str]) -> Iterator[str]:
    """Runs of the common words, with a star for everything between them: "< it ' s * not * >"."""
    frame: list[str] = []
    for word in words:
        form = word if word in common or word in "<>" else "#" if word.isdigit() else "*"
        if form != "*" or frame[-1:] != ["*"]:
            frame.append(form)
    return (piece for piece in runs("f", frame, 5, " ") if " " in piece)


@cache
def load() -> dict[str, Model]:
    with np.load(FILE) as parts:
        return unpack(parts)


_recent: RecentValues[np.ndarray] = RecentValues(MAX_CACHED)  # by digest of the text


def unpack(parts: Mapping[str, np.ndarray]) -> dict[str, Model]:
    """The model of each language from the parts of the file; their readers share all but the output."""
    numbers = {name: parts[name].astype(np.float32) for name in parts if name.startswith(("adapter.", "reader."))}
    adapted = [name.removesuffix(".inner") for name in numbers if name.endswith(".inner")]
    adapters = Adapters(
        {name.removeprefix("adapter."): (numbers[f"{name}.outer"], numbers[f"{name}.inner"]) for name in adapted}
    )
    shared = {name: numbers[f"reader.{name}"] for name in ("hidden", "hidden_bias", "attention", "values")}
    return {
        language: Model(
            common=frozenset(str(parts[f"{language}.common"]).split()),
            rarity=parts[f"{language}.rarity"].astype(np.float64),
            weights=parts[f"{language}.weights"] * parts[f"{language}.scale"].astype(np.float64),
            biases=parts[f"{language}.biases"],
            likely=parts[f"{language}.likely"],
            likely_by_ngrams=parts[f"{language}.likely_by_ngrams"],
            unlikely=float(parts[f"{language}.unlikely"]),
            reader=Reader(adapters, output=parts[f"{language}.output"].astype(np.float32), **shared),
        )
        for language in LANGUAGES
    }

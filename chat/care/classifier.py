"""Both detectors' verdict on a message: phrases of the rules (`rules`), and a classifier that was trained on the
messages in `lines/` (`python -m chat.care.train`).

A score is the sum of a linear part over n-grams and of a kernel part: how near the message is, in the layers of the
bundled sentence model (`echovessel.embeddings.layers`), to messages of the training. The sentence model takes 2 to 5
ms, so a message of which the n-grams alone are sure does not pass through it. Without the model's file the n-grams
decide.

N-grams are pieces of words and characters (`echovessel.language.ngrams`). English: words (1 to 3 in a row) and pieces
of words (2 to 5 characters). Chinese: characters (1 to 3 in a row), their sounds (pinyin without tones, against wrong
characters of the same sound) and the English words of the dictionary.
"""

import hashlib
import logging
import re
import threading
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from chat.care.rules import plainly, speaks_by_rule
from echovessel.embeddings import layers, translation
from echovessel.embeddings.errors import EmbeddingUnavailable
from echovessel.language.ngrams import counts, runs, weigh
from echovessel.language.pinyin import sounds
from echovessel.process import heap
from echovessel.process.word_caches import RecentValues

_TOKEN = re.compile(r"[a-z0-9]+|[^\sa-z0-9]")
_LATIN_WORD = re.compile(r"[a-z0-9]+")


def english_parts(plain: str) -> Iterator[list[str]]:
    tokens = _TOKEN.findall(plain)
    yield list(runs("w", tokens, 3, " "))
    yield [
        "c" + padded[start : start + length]
        for word in plain.split()
        for padded in [f" {word[:40]} "]
        for length in range(2, 6)
        for start in range(max(1, len(padded) - length + 1))
    ]


def chinese_parts(plain: str, glossed: str) -> Iterator[list[str]]:
    characters = [character for character in plain if not character.isspace()]
    yield list(runs("z", characters, 3, ""))
    yield list(runs("p", [sound for sound in sounds(plain) if not sound.isspace()], 3, " "))
    yield list(runs("g", _LATIN_WORD.findall(glossed), 2, " "))


# --- scores ---
logger = logging.getLogger(__name__)

FILE = Path(__file__).with_name("classifier.npz")
LANGUAGES = ("en", "zh")
# A score of 0 is the threshold. A message and one of the two before it are a cry if their scores add up to more than
# this; a score above the threshold counts as the threshold, or each message after a cry would raise help.
TOGETHER = -0.48
# Two messages read as one text, of which the first was doubtful, are a cry from here on, unless the second alone is
# farther below the threshold than this.
JOINED, UNLIKE_A_CRY = 0.1, 0.8
# Chosen by one half of 80 sessions with a cry and 80 harmless ones in both languages, 2026-11-23. Of the other half 30
# of 40 cries are heard at their message, and 15 of 175 harmless messages are taken for cries.
# A phrase of the rules adds this much: among messages by other writers that contain one, those far below the threshold
# even so were fiction, sport, study and jokes (30 of 38 false alarms of the rules, and 1 % of the cries that they
# hear).
RULE_BONUS = 0.5
MAX_CACHED = 512
SURE = 9.0
# Two words are too few to judge by likeness ("Line 0", 「走了」): unless they are a phrase, they need a higher score.
SHORT_WORDS, SHORT_PENALTY = 3, 0.6
MAX_SENTENCES = 20
# A sentence of a long message is a cry by itself from here on. Of long messages by a writer outside the training, 46 of
# 60 cries are heard with it and 39 without; of 86 sad ones 16 and 8 are taken for cries.
MANY_SENTENCES, ALONE_AMONG_MANY = 3, 0.55
# Of a longer text the classifier reads this much of the beginning and of the end.
MAX_CHARACTERS = 300
_HAN = re.compile("[\u3400-\u9fff]")
_SENTENCE_END = re.compile(r"[.!?。！？\n]+")
_WORD = re.compile("[a-z0-9]+|[㐀-鿿]")
_LETTER = re.compile(r"\w")


@dataclass(frozen=True)
class Model:
    """The model of one language, unpacked from the bytes of the file."""

    rarity: np.ndarray
    first: np.ndarray  # weights of the n-grams alone, with their bias
    first_bias: float
    sure_no: float
    sure_yes: float
    linear: np.ndarray
    bias: float
    nearness: layers.Nearness


# --- verdict of both detectors ---
def speaks_of_crisis(text: str, messages_before: Callable[[], Sequence[str]] = tuple) -> bool:
    """Whether `text` speaks of not wanting, or not being able, to go on.

    `messages_before` returns the owner's messages just before, oldest first; it is not called for a sure cry.

    >>> [speaks_of_crisis(text) for text in ("I want to die", "我 不 想 活 了", "dying to see you", "电脑崩溃了")]
    [True, True, False, False]
    """
    (score,) = scores([text])
    if score > 0 or not (before := list(messages_before())):
        return score > 0
    earlier = max(scores(before))
    if earlier > TOGETHER:
        # A message that is harmless by itself may not be so after this one: the n-grams alone do not decide. After a
        # cry, the message itself has to be doubtful, because the joined text speaks of it in any case.
        alone, joined = scores([text, f"{before[-1]}\n{text}"], is_read_through=True)
        if earlier <= 0 and alone > -UNLIKE_A_CRY and joined > JOINED:
            return True
        score = max(score, alone)
    return score + min(0.0, earlier) > TOGETHER


def speak_of_crisis(texts: Sequence[str]) -> list[bool]:
    """For each text alone, whether it speaks of a crisis."""
    return [score > 0 for score in scores(texts)]


@cache
def warm(language: str) -> None:
    """Load the classifier in the background, once for each language; the first message would wait for a second or two.
    (For Chinese alone: it takes the dictionaries of meanings and sounds, 26 MB.)"""

    def load_all() -> None:
        speak_of_crisis([{"en": "I cannot go on", "zh": "你好，今天好累"}[language]])
        heap.trim_heap()  # unpacking takes twice what stays

    threading.Thread(target=load_all, daemon=True).start()


def scores(texts: Sequence[str], *, is_read_through: bool = False) -> list[float]:
    """Score of each text by both detectors: above 0 it is a cry. Many texts together take less time each.
    `is_read_through`: use the sentence model even if the n-grams are sure that a text is harmless."""
    person = b"through" if is_read_through else b""
    keys = [
        hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16, person=person).digest() for text in texts
    ]
    known_scores = {key: score for key in keys if (score := _recent_scores.get(key)) is not None}
    new_texts = {key: text for key, text in zip(keys, texts, strict=True) if key not in known_scores}
    new_scores = dict(zip(new_texts, _score(list(new_texts.values()), is_read_through), strict=True))
    _recent_scores.update(new_scores)
    known_scores |= new_scores
    return [known_scores[key] for key in keys]


def language_of(plain: str) -> str:
    return "zh" if _HAN.search(plain) else "en"


def gloss(plain: str) -> str:
    try:
        return translation.in_english(plain)
    except translation.DictionaryUnavailable as error:
        logger.error("%s", error)
        return plain


def features(plain: str, glossed: str) -> list[tuple[np.ndarray, np.ndarray]]:
    is_chinese = language_of(plain) == "zh"
    return counts(chinese_parts(plain, glossed) if is_chinese else english_parts(plain))


def readable(text: str) -> str:
    """The part of a text that the classifier reads, in plain form: of a long one the beginning and the end."""
    if len(text) > 2 * MAX_CHARACTERS:
        text = f"{text[:MAX_CHARACTERS]}\n{text[-MAX_CHARACTERS:]}"
    return plainly(text)


@dataclass(frozen=True)
class _Doubtful:
    """A text that needs the sentence model: its position, and its score so far."""

    number: int
    language: str
    glossed: str
    score: float


def _score(texts: Sequence[str], is_read_through: bool = False) -> list[float]:
    """The score of each text, or of one of its sentences if that is higher: a cry among other sentences is one, too. A
    sentence without a phrase needs a higher score."""
    best = _score_texts(texts, is_read_through)
    sentences: list[tuple[int, str, float]] = []
    for number, text in enumerate(texts):
        parts = (
            [part for part in _SENTENCE_END.split(text) if part.strip()][:MAX_SENTENCES] if best[number] <= 0 else []
        )
        is_long = len(parts) >= MANY_SENTENCES
        for part in parts if len(parts) > 1 else []:
            if (has_phrase := speaks_by_rule(part)) or is_long:
                sentences.append((number, part, 0.0 if has_phrase else ALONE_AMONG_MANY))
    scores_of_parts = _score_texts([part for _, part, _ in sentences])
    for (number, _, margin), score in zip(sentences, scores_of_parts, strict=True):
        best[number] = max(best[number], score - margin)
    return best


def _score_texts(texts: Sequence[str], is_read_through: bool = False) -> list[float]:
    by_rule = [speaks_by_rule(text) for text in texts]
    result = [SURE if is_phrase else -SURE for is_phrase in by_rule]
    models = load()
    doubtful: list[_Doubtful] = []
    for number, text in enumerate(texts):
        plain = readable(text)
        is_read_in_part = len(text) > 2 * MAX_CHARACTERS
        if not models or not _LETTER.search(plain) or (by_rule[number] and is_read_in_part):
            continue
        language = language_of(plain)
        model = models[language]
        glossed = gloss(plain) if language == "zh" else plain
        buckets, values = weigh(features(plain, glossed), model.rarity)
        first = float(values @ model.first[buckets]) + model.first_bias
        if first > model.sure_yes:
            result[number] = SURE
        elif first >= model.sure_no or by_rule[number] or is_read_through:
            score = float(values @ model.linear[buckets]) + model.bias
            score += RULE_BONUS if by_rule[number] else -SHORT_PENALTY * (len(_WORD.findall(plain)) < SHORT_WORDS)
            doubtful.append(_Doubtful(number, language, glossed, score))
    if not doubtful:
        return result
    try:
        vectors = layers.encode([text.glossed for text in doubtful])
    except (OSError, ValueError, KeyError, ImportError, EmbeddingUnavailable) as error:
        logger.error("the classifier of cries has no sentence model: %s", type(error).__name__)
        return result
    for language, model in models.items():
        rows = [row for row, text in enumerate(doubtful) if text.language == language]
        if rows:  # the product of no rows takes 2 ms too
            for row, nearness in zip(rows, model.nearness.scores(vectors[rows]), strict=True):
                result[doubtful[row].number] = doubtful[row].score + float(nearness)
    return result


@cache
def load() -> dict[str, Model]:
    """The model of each language; empty if the file is missing or damaged, and rules alone decide."""
    try:
        with np.load(FILE) as file:
            return {language: unpack({name: file[f"{language}.{name}"] for name in PARTS}) for language in LANGUAGES}
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        logger.error("%s cannot be read (%s): cries are heard by rules alone", FILE.name, type(error).__name__)
        return {}


PARTS = (
    "rarity", "first", "linear", "mean", "projection", "projection_scale", "centres", "centre_scale", "centre_weights",
    "numbers",
)  # fmt: skip


def unpack(parts: dict[str, np.ndarray]) -> Model:
    first_bias, sure_no, sure_yes, gamma, bias = map(float, parts["numbers"])
    return Model(
        rarity=parts["rarity"].astype(np.float64),
        first=parts["first"].astype(np.float64),
        first_bias=first_bias,
        sure_no=sure_no,
        sure_yes=sure_yes,
        linear=parts["linear"].astype(np.float64),
        bias=bias,
        nearness=layers.Nearness(
            mean=parts["mean"].astype(np.float32),
            projection=parts["projection"] * parts["projection_scale"].astype(np.float32),
            centres=parts["centres"] * parts["centre_scale"].astype(np.float32),
            centre_weights=parts["centre_weights"].astype(np.float32),
            gamma=gamma,
        ),
    )


_recent_scores: RecentValues[float] = RecentValues(MAX_CACHED)  # by digest of the text

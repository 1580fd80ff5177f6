"""Train the second detector on the messages in `lines/` and everyday ones: `python -m chat.care.train` writes
`classifier.npz`.

It first trains without one writer's messages at a time and prints how many of them are heard: the expected result for
messages of strangers; `--evaluate` does no more than that. The same messages on the same machine make the same file,
byte for byte; its entry `lines` holds the SHA-256 of those in `lines/`. scikit-learn and scipy are needed here and
nowhere else.
"""

import argparse
import hashlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import linalg
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from chat.care import classifier
from chat.care.lines import LINES_SHA256_NAME, TrainingLine, fingerprint, read_everyday, read_lines
from chat.care.rules import speaks_by_rule
from echovessel.embeddings import layers
from echovessel.language.ngrams import in_bytes, matrix, rarity_of

# Share of harmless messages, by a writer outside the training, that rules and classifier together may take for cries.
FALSE_ALARMS = {"en": 0.035, "zh": 0.035}
# Writers who wrote of everything evenly: thresholds are set by them; others wrote what was missed.
EVEN_WRITERS = ("first", "second", "fourth")
# Share of such a writer's cries that the n-grams alone may lose. They raise help alone if they are surer of a cry than
# of any harmless message, by this margin.
LOST_BY_NGRAMS, SURER_THAN_HARMLESS = 0.04, 1.0
DIMENSIONS = 192
GAMMA, COST = 0.35, 5.0
# Weight of the n-grams beside nearness; Chinese reaches the sentence model only through a dictionary.
NGRAMS = {"en": 0.4, "zh": 2.0}
say = partial(print, file=sys.stdout)


@dataclass(frozen=True)
class Data:
    """The training messages of one language, with the features of the classifier."""

    lines: Sequence[TrainingLine]
    counts: Sequence[list[tuple[np.ndarray, np.ndarray]]]
    vectors: np.ndarray

    @property
    def is_cry(self) -> np.ndarray:
        return np.array([line.is_cry for line in self.lines])

    def select(self, mask: np.ndarray) -> "Data":
        rows = np.flatnonzero(mask)
        return Data([self.lines[int(row)] for row in rows], [self.counts[int(row)] for row in rows], self.vectors[rows])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--evaluate", action="store_true")
    evaluate = parser.parse_args().evaluate
    lines = [*read_lines(), *read_everyday()]
    parts: dict[str, np.ndarray] = {LINES_SHA256_NAME: np.array(fingerprint())}
    for language in classifier.LANGUAGES:
        data = load_data([line for line in lines if line.language == language])
        held_out = sorted({line.writer for line in data.lines}) if evaluate else EVEN_WRITERS
        axes = axes_of(data)
        data_held_out, unseen = scores_of_unseen_writers(data, language, held_out, axes)
        report(data_held_out, unseen, language)
        if evaluate:
            continue
        trained = train(data, language, axes)
        first_bias, *_rest, gamma, bias = trained["numbers"]
        threshold = unseen.threshold_at(FALSE_ALARMS[language])
        trained["numbers"] = np.array([first_bias, *unseen.band, gamma, bias - threshold])
        parts |= {f"{language}.{name}": trained[name] for name in classifier.PARTS}
    if not evaluate:
        np.savez_compressed(classifier.FILE, **parts)  # type: ignore[arg-type]
        digest = hashlib.sha256(classifier.FILE.read_bytes()).hexdigest()
        say(f"{classifier.FILE.name}: {classifier.FILE.stat().st_size:,} bytes, SHA-256 {digest}")


def load_data(lines: Sequence[TrainingLine]) -> Data:
    plain = [classifier.readable(line.text) for line in lines]
    glossed = [classifier.gloss(text) if classifier.language_of(text) == "zh" else text for text in plain]
    counts = [classifier.features(*texts) for texts in zip(plain, glossed, strict=True)]
    return Data(lines, counts, layers.encode(glossed))


def axes_of(data: Data) -> np.ndarray:
    """The directions in which the messages differ most. They do not depend on which are cries, so all folds share
    them."""
    # The DIMENSIONS principal directions; the sign of each makes its largest component positive.
    vectors = data.vectors - data.vectors.mean(0).astype(np.float16)
    last = vectors.shape[1] - 1
    _values, axes = linalg.eigh(
        (vectors.T @ vectors).astype(np.float64), subset_by_index=(last - DIMENSIONS + 1, last), driver="evr"
    )
    axes = axes[:, ::-1]
    axes *= np.sign(axes[np.abs(axes).argmax(0), np.arange(DIMENSIONS)])
    return axes


def train(data: Data, language: str, axes: np.ndarray) -> dict[str, np.ndarray]:
    """All parts of a model, with the threshold of the linear machine."""
    rarity = rarity_of(data.counts).astype(np.float16).astype(np.float64)
    ngrams = matrix(data.counts, rarity)
    first = LogisticRegression(C=10.0, max_iter=1000, class_weight="balanced").fit(ngrams, data.is_cry)
    mean = data.vectors.mean(0).astype(np.float16)
    projection, projection_scale = in_bytes(axes)
    points = (data.vectors - mean) @ (projection * projection_scale).astype(np.float32)
    centres, centre_scale = in_bytes(points)
    points = centres * centre_scale.astype(np.float32)
    squares = (points * points).sum(1)
    distances = np.maximum(0, squares[:, None] + squares[None] - 2 * points @ points.T)
    weight = NGRAMS[language]
    kernel = np.exp(-GAMMA * distances) + weight * (ngrams @ ngrams.T).toarray()
    machine = SVC(kernel="precomputed", C=COST, class_weight="balanced").fit(kernel, data.is_cry)
    support, alphas = machine.support_, machine.dual_coef_[0]
    return {
        "rarity": rarity.astype(np.float16),
        "first": first.coef_[0].astype(np.float16),
        "linear": (weight * (ngrams[support].T @ alphas)).astype(np.float16),
        "mean": mean,
        "projection": projection,
        "projection_scale": projection_scale,
        "centres": centres[support],
        "centre_scale": centre_scale,
        "centre_weights": alphas.astype(np.float32),
        "numbers": np.array([first.intercept_[0], 0.0, 0.0, GAMMA, machine.intercept_[0]]),
    }


def score(data: Data, trained: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The scores by n-grams alone, and the whole scores."""
    model = classifier.unpack(trained)
    ngrams = matrix(data.counts, model.rarity)
    nearness = model.nearness.scores(data.vectors)
    return ngrams @ model.first + model.first_bias, ngrams @ model.linear + nearness + model.bias


@dataclass(frozen=True)
class Unseen:
    """Scores of messages by models that were trained without their writer, and the figures that follow from them."""

    by_rule: np.ndarray
    first: np.ndarray
    whole: np.ndarray
    is_cry: np.ndarray
    is_even: np.ndarray

    @property
    def band(self) -> tuple[float, float]:
        return (
            float(np.quantile(self.first[self.is_cry & self.is_even], LOST_BY_NGRAMS)),
            float(self.first[~self.is_cry].max()) + SURER_THAN_HARMLESS,
        )

    def threshold_at(self, false_alarms: float) -> float:
        """The threshold at which this share of the harmless messages is taken for cries, if every message passes
        through the sentence model."""
        return float(np.quantile(self.whole[~self.is_cry & self.is_even], 1 - false_alarms))

    def classify(self, threshold: float) -> np.ndarray:
        low, high = self.band
        sure_no, sure_yes = (self.first < low) & ~self.by_rule, self.first > high
        is_cry: np.ndarray = sure_yes | ((self.whole > threshold) & ~sure_no)
        return is_cry


def scores_of_unseen_writers(
    data: Data, language: str, writers: Sequence[str], axes: np.ndarray
) -> tuple[Data, Unseen]:
    """The messages of these writers, and their scores by models trained without their writer."""
    by_writer = np.array([line.writer for line in data.lines])
    first, whole = np.zeros(len(data.lines)), np.zeros(len(data.lines))
    for writer in writers:
        trained = train(data.select(by_writer != writer), language, axes)
        first[by_writer == writer], whole[by_writer == writer] = score(data.select(by_writer == writer), trained)
    rows = np.isin(by_writer, writers)
    data = data.select(rows)
    by_rule = np.array([speaks_by_rule(line.text) for line in data.lines])
    is_even = np.isin(by_writer[rows], EVEN_WRITERS)
    return data, Unseen(by_rule, first[rows], whole[rows] + classifier.RULE_BONUS * by_rule, data.is_cry, is_even)


def report(data: Data, unseen: Unseen, language: str) -> None:
    low, high = unseen.band
    in_band = ((unseen.first >= low) & (unseen.first <= high)) | unseen.by_rule
    say(f"== {language}: {len(data.lines)} lines, {in_band.mean():.0%} passed through the model")
    writers = np.array([line.writer for line in data.lines])
    kinds = np.array([line.kind for line in data.lines])
    is_positive = unseen.classify(unseen.threshold_at(FALSE_ALARMS[language]))
    for label, rows in (("cries", unseen.is_cry), ("harmless", ~unseen.is_cry)):
        say(f"{label}: {is_positive[rows].mean():.1%} heard, {unseen.by_rule[rows].mean():.1%} by the rules alone")
        for group in (writers, kinds):
            for name in sorted(set(group[rows])):
                own = rows & (group == name)
                by_rule = unseen.by_rule[own].mean()
                say(f"    {name}: {is_positive[own].mean():.1%} of {own.sum()}, by the rules {by_rule:.1%}")
    for rate in (0.01, 0.02, 0.025, 0.03, 0.035, 0.04, 0.05, 0.07, 0.10):
        is_positive = unseen.classify(unseen.threshold_at(rate))[unseen.is_even]
        is_cry = unseen.is_cry[unseen.is_even]
        say(f"curve: {is_positive[is_cry].mean():.1%} of cries at {is_positive[~is_cry].mean():.1%} of harmless lines")


if __name__ == "__main__":
    main()

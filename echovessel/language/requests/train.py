"""Train the classifier of requests: `python -m echovessel.language.requests.train`, in the folder of the source.

`lines/` holds messages by several writers, and patterns of how people ask and what only sounds alike; each pattern
stands for some of the sentences that it makes. Beside them it is trained with tables of the tests (those that the rules
were written with, never those set aside) and with the everyday messages and cries of `chat/care/lines`. Its thresholds
are set by the writers' lines, each writer's read by a classifier that had none of them. The same lines make the same
file. scikit-learn and scipy are needed here and nowhere else.
"""

import hashlib
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import linalg
from sklearn.linear_model import Ridge

from echovessel.embeddings import layers
from echovessel.language.ngrams import in_bytes, matrix, rarity_of
from echovessel.language.requests import classifier, read_by_rule
from echovessel.language.requests.clauses import prepare

LINES = Path(__file__).with_name("lines")
TABLES, CARE = Path("tests/echovessel/language/requests"), Path("chat/care/lines")
SENTENCES = 4  # of each pattern
# How much a line of each source counts.
WRITERS, TABLE, PATTERN, EVERYDAY, CRY = 2.0, 1.0, 0.3, 0.3, 0.1
NEAR = 600  # everyday messages to which nearness is measured
FROM_LAYER, DIMENSIONS = 4, 128  # of the sentence model
COMMON = 200  # words that the frame of a sentence keeps
PENALTY = 0.3
ASKED_ABOUT = {"en": 0.05, "zh": 0.03}  # of look-alikes by a writer it has not seen
LOST = 0.03  # of requests by such a writer that the n-grams alone may let go
_CHOICE = re.compile(r"\(([^()]*)\)|\{(\w+)\}")


@dataclass(frozen=True)
class Example:
    kind: str  # of a request, or "none"
    text: str
    weight: float
    writer: str = ""
    is_near: bool = True  # whether nearness to it is measured


def main() -> None:
    parts = {"lines": np.array(fingerprint())}
    for language in classifier.LANGUAGES:
        examples = [example for example in read_examples(language) if example.text.strip()]
        vectors = vectors_of(examples) if language == "en" else None
        thresholds = thresholds_by_unseen_writers(examples, vectors, language)
        trained = train(examples, vectors, thresholds)
        parts |= {f"{language}.{name}": part for name, part in trained.items()}
    np.savez_compressed(classifier.FILE, **parts)  # type: ignore[arg-type]
    sys.stdout.write(f"{classifier.FILE.name}: {classifier.FILE.stat().st_size:,} bytes\n")


def fingerprint() -> str:
    """The SHA-256 of `lines/`, to tell whether a classifier was trained with these."""
    return hashlib.sha256(b"".join(file.read_bytes() for file in sorted(LINES.iterdir()))).hexdigest()


def train(
    examples: Sequence[Example], vectors: np.ndarray | None, thresholds: Sequence[float]
) -> dict[str, np.ndarray]:
    """All parts of one language's model: what n-grams say, and what nearness adds to it."""
    texts = [prepare(example.text) for example in examples]
    frequent = Counter(token for text in texts for token in set(classifier.tokens(text))).most_common()
    common = [token for token, _ in sorted(frequent, key=lambda pair: (-pair[1], pair[0]))[:COMMON]]
    features = [classifier.features(text, frozenset(common)) for text in texts]
    rarity = rarity_of(features).astype(np.float16).astype(np.float64)
    kinds = np.array([example.kind for example in examples])
    asked = np.stack([np.where(kinds == kind, 1.0, -1.0) for kind in classifier.KINDS], axis=1)
    weight = np.array([example.weight for example in examples])
    machine = Ridge(PENALTY, solver="sparse_cg", tol=1e-5).fit(matrix(features, rarity), asked, sample_weight=weight)
    weights, scale = in_bytes(machine.coef_.T)
    parts = {
        "common": np.array(" ".join(common)),
        "rarity": rarity.astype(np.float16),
        "weights": weights,
        "scale": scale,
        "biases": machine.intercept_,
        "thresholds": np.array(thresholds),
    }
    if vectors is not None:
        near = np.flatnonzero([example.is_near for example in examples])
        parts |= train_nearness(vectors[near], asked[near], weight[near])
    return parts


def train_nearness(vectors: np.ndarray, asked: np.ndarray, weight: np.ndarray) -> dict[str, np.ndarray]:
    mean = vectors.mean(0).astype(np.float16)
    centred = vectors - mean.astype(np.float32)
    # The directions in which lines differ most; each looks towards where its largest part is positive.
    _values, axes = linalg.eigh((centred.T @ centred).astype(np.float64), driver="evr")
    axes = axes[:, : -DIMENSIONS - 1 : -1]
    axes *= np.sign(axes[np.abs(axes).argmax(0), np.arange(DIMENSIONS)])
    axes /= np.sqrt(((centred @ axes) ** 2).sum(1).mean())
    projection, projection_scale = in_bytes(axes)
    centres, centre_scale = in_bytes(centred @ (projection * projection_scale).astype(np.float32))
    points = (centres * centre_scale.astype(np.float32)).astype(np.float64)
    squares = (points * points).sum(1)
    kernel = np.exp(-classifier.GAMMA * np.maximum(0, squares[:, None] + squares - 2 * points @ points.T))
    kernel[np.diag_indices(len(kernel))] += PENALTY / weight
    bias = np.average(asked, axis=0, weights=weight)
    return {
        "mean": mean,
        "projection": projection,
        "projection_scale": projection_scale,
        "centres": centres,
        "centre_scale": centre_scale,
        "centre_weights": linalg.solve(kernel, asked - bias, assume_a="pos").astype(np.float32),
        "near_bias": bias,
    }


def thresholds_by_unseen_writers(
    examples: Sequence[Example], vectors: np.ndarray | None, language: str
) -> tuple[float, float, float]:
    """From which score on the persona asks, the same by n-grams alone, and below which they are sure; how writers are
    heard whose lines were not trained with is told beside."""
    by_ngrams, whole, told = [], [], []
    for writer in sorted({example.writer for example in examples} - {""}):
        seen = [at for at, example in enumerate(examples) if example.writer != writer]
        unseen = [at for at, example in enumerate(examples) if example.writer == writer]
        trained = train([examples[at] for at in seen], None if vectors is None else vectors[seen], (0, 0, 0))
        model = classifier.unpack(trained)
        rows = [classifier.features(prepare(examples[at].text), model.common) for at in unseen]
        scores = matrix(rows, model.rarity) @ model.weights + model.biases
        by_ngrams.append(scores)
        near = 0.0 if vectors is None or model.nearness is None else model.nearness.scores(vectors[unseen])
        whole.append(scores + near)
        told += [(writer, examples[at].kind) for at in unseen]
    kinds = np.array([kind for _, kind in told])
    is_none = kinds == "none"
    scores = np.concatenate(whole)
    likely, likely_by_ngrams = (
        float(np.quantile(each.max(1)[is_none], 1 - ASKED_ABOUT[language]))
        for each in (scores, np.concatenate(by_ngrams))
    )
    unlikely = float(np.quantile(np.concatenate(by_ngrams).max(1)[~is_none], LOST))
    heard = np.where(scores.max(1) > likely, np.array(classifier.KINDS)[scores.argmax(1)], "none")
    for writer in sorted({writer for writer, _ in told}):
        of = np.array([one == writer for one, _ in told])
        right = heard == kinds
        each = {kind: f"{right[of & (kinds == kind)].mean():.2f}" for kind in ("none", *map(str, classifier.KINDS))}
        sys.stdout.write(f"{language}, {writer} unseen: {right[of & ~is_none].mean():.3f} of requests {each}\n")
    return likely, likely_by_ngrams, unlikely


def vectors_of(examples: Sequence[Example]) -> np.ndarray:
    """What the sentence model makes of each example to which nearness is measured; nothing of the others."""
    near = [at for at, example in enumerate(examples) if example.is_near]
    vectors = np.zeros((len(examples), layers.DIMENSION - FROM_LAYER * layers.WIDTH), dtype=np.float32)
    vectors[near] = classifier.layers_of([prepare(examples[at].text) for at in near])[:, FROM_LAYER * layers.WIDTH :]
    return vectors


def read_examples(language: str) -> list[Example]:
    chance = random.Random(language)
    everyday = [text for text in _care("harmless", language) if not read_by_rule(text)]
    near = set(chance.sample(everyday, NEAR))
    examples = [Example("none", text, EVERYDAY, is_near=text in near) for text in everyday]
    examples += [Example("none", text, CRY, is_near=False) for text in _care("cries", language)]
    for kind, text in sorted({*_patterns(language, chance)}):
        examples.append(Example(kind, _as_people_write(kind, text, everyday, chance), PATTERN, is_near=False))
    examples += [Example(kind, text, TABLE) for kind, text in _tables(language)]
    for line in (LINES / f"written.{language}.tsv").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            writer, kind, text = line.split("\t")
            examples.append(Example(kind.removesuffix("_this"), text, WRITERS, writer))
    return examples


def _patterns(language: str, chance: random.Random) -> Iterator[tuple[str, str]]:
    slots: dict[str, str] = {}
    kind = ""
    for line in (LINES / f"{language}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            kind = line.strip("[]")
        elif kind == "slots" and " = " in line:
            name, words = line.split(" = ", 1)
            slots[name] = words
        elif line and not line.startswith("#"):
            for _ in range(SENTENCES):
                yield kind, _expand(line, slots, chance)


def _expand(pattern: str, slots: dict[str, str], chance: random.Random) -> str:
    """One sentence of a pattern: of each (a|b) one, of each {slot} one of its words."""
    while choice := _CHOICE.search(pattern):
        words = f"({slots[choice[2]]})" if choice[2] else chance.choice(choice[1].split("|"))
        pattern = pattern[: choice.start()] + words + pattern[choice.end() :]
    return " ".join(pattern.split())


def _as_people_write(kind: str, text: str, everyday: list[str], chance: random.Random) -> str:
    """The sentence beside others, with and without capitals and stops."""
    beside, signs = chance.random(), chance.random()
    stop = "。" if classifier.language_of(text) == "zh" else ". "
    if signs < 0.2:
        text = text.lower()
    elif signs < 0.5:
        text = text[:1].upper() + text[1:].rstrip(".") + chance.choice([stop.strip(), "!", "…"])
    if kind != "none" and beside < 0.3:
        pair = [text, chance.choice(everyday)]
        text = chance.choice([stop, " "]).join(pair if beside < 0.15 else pair[::-1])
    return text


def _care(name: str, language: str) -> list[str]:
    lines = (CARE / f"{name}.{language}.tsv").read_text(encoding="utf-8").splitlines()
    return [line.split("\t")[2] for line in lines if line and not line.startswith("#")]


def _tables(language: str) -> Iterator[tuple[str, str]]:
    rows = [
        row.split("\t")[:2]
        for name in ("requests", "earlier", "harder")
        for row in (TABLES / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
        if row and not row.startswith("#")
    ]
    for name in ("requests", "lookalikes"):
        for line in (TABLES / "aside" / f"{language}_{name}.jsonl").read_text(encoding="utf-8").splitlines()[1::2]:
            row = json.loads(line)
            rows.append([row.get("kind", "-"), row["text"]])
    alike = (TABLES / f"look_alikes_{language}.txt").read_text(encoding="utf-8").replace("```\n", "```")
    rows += [["-", line] for line in alike.splitlines() if line]
    for kind, text in rows:
        if kind != "answer" and classifier.language_of(text) == language:
            yield "none" if kind == "-" else kind.removesuffix("_this"), text


if __name__ == "__main__":
    main()

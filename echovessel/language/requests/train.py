"""Train the classifier of requests: `python -m echovessel.language.requests.train`, in the source folder.

`lines/` holds messages by several writers, and patterns of requests and look-alikes; each pattern generates some of its
sentences. Training also uses tables of the tests (those that the rules were written with, never those set aside) and
the everyday messages and cries of `chat/care/lines`. The thresholds are set by cross-validation over writers: each
writer's messages are scored by a classifier trained without them. The same input produces the same file. Only this
module needs scikit-learn, scipy and torch.
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
import torch
from sklearn.linear_model import Ridge
from torch import nn
from torch.nn import functional

from echovessel.language.ngrams import in_bytes, matrix, rarity_of
from echovessel.language.requests import classifier, read_by_rule
from echovessel.language.requests.clauses import prepare

ASKING = ("seventh", "eighth")  # writers of requests and look-alikes among the everyday messages
TABLES, CARE = Path("tests/echovessel/language/requests"), Path("chat/care/lines")
SENTENCES = 4  # per pattern
# The weight of a message of each source.
WRITERS, TABLE, PATTERN, EVERYDAY, CRY = 2.0, 1.0, 0.3, 0.3, 0.1
COMMON = 200  # words that the frame of a sentence keeps
PENALTY = 0.3
SIGNS, LOOKS, TOLD = 64, 8, 16  # of a reader
READERS, EPOCHS, BATCH, RATE, DECAY, DROPPED = 3, 8, 48, 1e-3, 1e-2, 0.3
ASKED_ABOUT = {"en": 0.06, "zh": 0.08}  # accepted share of look-alikes, by a writer not trained with
LOST = 0.03  # accepted share of requests, by such a writer, that the n-grams alone may drop
_CHOICE = re.compile(r"\(([^()]*)\)|\{(\w+)\}")


@dataclass(frozen=True)
class Example:
    kind: str  # of a request, or "none"
    text: str
    weight: float
    writer: str = ""
    is_read: bool = True  # whether its tokens are used


def main() -> None:
    torch.set_num_threads(1)
    parts = {"lines": np.array(fingerprint())}
    for language in classifier.LANGUAGES:
        examples = [example for example in read_examples(language) if example.text.strip()]
        states = states_of(examples)
        thresholds = thresholds_by_unseen_writers(examples, states, language)
        trained = train(examples, states, thresholds)
        parts |= {f"{language}.{name}": part for name, part in trained.items()}
    np.savez_compressed(classifier.FILE, **parts)  # type: ignore[arg-type]
    sys.stdout.write(f"{classifier.FILE.name}: {classifier.FILE.stat().st_size:,} bytes\n")


def fingerprint() -> str:
    """The SHA-256 of `lines/`, which shows whether a classifier was trained with them."""
    return hashlib.sha256(b"".join(file.read_bytes() for file in sorted(classifier.LINES.iterdir()))).hexdigest()


def train(
    examples: Sequence[Example], states: Sequence[np.ndarray], thresholds: Sequence[float], readers: int = READERS
) -> dict[str, np.ndarray]:
    """All parts of one language's model: the n-gram weights and the readers of tokens."""
    texts = [prepare(example.text) for example in examples]
    frequent = Counter(token for text in texts for token in set(classifier.tokens(text))).most_common()
    common = [token for token, _ in sorted(frequent, key=lambda pair: (-pair[1], pair[0]))[:COMMON]]
    features = [classifier.features(text, frozenset(common)) for text in texts]
    rarity = rarity_of(features).astype(np.float16).astype(np.float64)
    kinds = np.array([example.kind for example in examples])
    targets = np.stack([np.where(kinds == kind, 1.0, -1.0) for kind in classifier.KINDS], axis=1)
    weight = np.array([example.weight for example in examples])
    machine = Ridge(PENALTY, solver="sparse_cg", tol=1e-5).fit(matrix(features, rarity), targets, sample_weight=weight)
    weights, scale = in_bytes(machine.coef_.T)
    trained = [train_reader(examples, states, seed) for seed in range(readers)]
    return {
        "common": np.array(" ".join(common)),
        "rarity": rarity.astype(np.float16),
        "weights": weights,
        "scale": scale,
        "biases": machine.intercept_,
        "thresholds": np.array(thresholds),
        **{name: np.stack([parts[name] for parts in trained]) for name in trained[0]},
    }


class Network(nn.Module):
    """The `classifier.Reader` during training; `middle` and `spread` normalize the states and are then folded into the
    signs."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.signs = nn.Linear(width, SIGNS)
        self.looks = nn.Linear(SIGNS, LOOKS, bias=False)
        self.told = nn.Linear(SIGNS, LOOKS * TOLD, bias=False)
        self.verdict = nn.Linear(SIGNS + LOOKS * TOLD, len(classifier.KINDS) + 1)
        self.drop = nn.Dropout(DROPPED)

    def forward(self, states: torch.Tensor, is_token: torch.Tensor) -> torch.Tensor:
        beyond = ~is_token[:, :, None]
        signs = self.drop(torch.relu(self.signs(self.drop(states))))
        looks = self.looks(signs).masked_fill(beyond, -1e4).softmax(1)
        projected = self.told(signs).view(*signs.shape[:2], LOOKS, TOLD)
        features = (looks[..., None] * projected).sum(1).flatten(1)
        verdict: torch.Tensor = self.verdict(torch.cat([features, signs.masked_fill(beyond, -1e4).max(1).values], 1))
        return verdict

    def parts(self, middle: np.ndarray, spread: np.ndarray) -> dict[str, np.ndarray]:
        learnt = {name: values.detach().numpy().T for name, values in self.named_parameters()}
        signs, scale = in_bytes(learnt["signs.weight"] / spread[:, None])
        return {
            "signs": signs,
            "sign_scale": scale,
            "sign_bias": learnt["signs.bias"] - middle @ (signs * scale),
            "looks": learnt["looks.weight"].astype(np.float16),
            "told": learnt["told.weight"].astype(np.float16),
            "verdict": np.vstack([learnt["verdict.weight"], learnt["verdict.bias"]]).astype(np.float16),
        }


def train_reader(examples: Sequence[Example], states: Sequence[np.ndarray], seed: int) -> dict[str, np.ndarray]:
    torch.manual_seed(seed)
    chance = np.random.RandomState(seed)
    read = np.array([at for at, example in enumerate(examples) if example.is_read])
    kinds = [*classifier.KINDS, "none"]
    right = torch.tensor([kinds.index(example.kind) for example in examples])
    # Everyday messages and our own tables weigh less than what people wrote.
    weight = torch.tensor([1.0 if example.writer else 0.6 for example in examples])
    some = np.concatenate([states[at] for at in read[::7]]).astype(np.float32)
    middle, spread = some.mean(0), some.std(0) + 1e-3
    network = Network(len(middle))
    steps = EPOCHS * (len(read) // BATCH + 2)
    optimizer = torch.optim.AdamW(network.parameters(), RATE, weight_decay=DECAY)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=steps, pct_start=0.15)
    for _ in range(EPOCHS):
        # Messages of similar length are batched.
        order = sorted(chance.permutation(read), key=lambda at: len(states[at]) + chance.randint(4))
        batches = [order[at : at + BATCH] for at in range(0, len(order), BATCH)]
        for number in chance.permutation(len(batches)):
            batch = batches[number]
            rows = [torch.from_numpy((states[at].astype(np.float32) - middle) / spread) for at in batch]
            is_token = nn.utils.rnn.pad_sequence([torch.ones(len(row), dtype=torch.bool) for row in rows], True)
            verdicts = network(nn.utils.rnn.pad_sequence(rows, True), is_token)
            loss = functional.cross_entropy(verdicts, right[batch], reduction="none", label_smoothing=0.05)
            optimizer.zero_grad()
            (loss * weight[batch]).mean().backward()
            optimizer.step()
            schedule.step()
    return network.parts(middle, spread)


def thresholds_by_unseen_writers(
    examples: Sequence[Example], states: Sequence[np.ndarray], language: str
) -> tuple[float, float, float]:
    """The score from which the persona asks, the same for n-grams alone, and the score below which these are sure;
    prints the results for writers that were not trained with."""
    by_ngrams, whole, kinds_and_writers = [], [], []
    for writer in sorted({example.writer for example in examples} - {""}):
        training_places = [at for at, example in enumerate(examples) if example.writer != writer]
        unseen = [at for at, example in enumerate(examples) if example.writer == writer]
        trained = train(
            [examples[at] for at in training_places], [states[at] for at in training_places], (0, 0, 0), readers=1
        )
        model = classifier.unpack(trained)
        rows = [classifier.features(prepare(examples[at].text), model.common) for at in unseen]
        scores = matrix(rows, model.rarity) @ model.weights + model.biases
        by_ngrams.append(scores)
        token_scores = np.stack([classifier.score_token_states(states[at], model.readers) for at in unseen])
        whole.append(scores + classifier.TOLD_BY_TOKENS * token_scores)
        kinds_and_writers += [(writer, examples[at].kind) for at in unseen]
    kinds = np.array([kind for _, kind in kinds_and_writers])
    is_none = kinds == "none"
    scores = np.concatenate(whole)
    likely, likely_by_ngrams = (
        float(np.quantile(part.max(1)[is_none], 1 - ASKED_ABOUT[language]))
        for part in (scores, np.concatenate(by_ngrams))
    )
    unlikely = float(np.quantile(np.concatenate(by_ngrams).max(1)[~is_none], LOST))
    kinds_heard = np.where(scores.max(1) > likely, np.array(classifier.KINDS)[scores.argmax(1)], "none")
    for writer in sorted({writer for writer, _ in kinds_and_writers}):
        of = np.array([writer_of == writer for writer_of, _ in kinds_and_writers])
        right = kinds_heard == kinds
        shares = {kind: f"{right[of & (kinds == kind)].mean():.2f}" for kind in ("none", *map(str, classifier.KINDS))}
        sys.stdout.write(f"{language}, {writer} unseen: {right[of & ~is_none].mean():.3f} of requests {shares}\n")
    return likely, likely_by_ngrams, unlikely


def states_of(examples: Sequence[Example]) -> list[np.ndarray]:
    """The sentence model's token states of each example whose tokens are used; nothing for the others."""
    read = [at for at, example in enumerate(examples) if example.is_read]
    states = [np.zeros((0, 0), dtype=np.float16)] * len(examples)
    for start in range(0, len(read), 256):
        some = read[start : start + 256]
        token_states = classifier.states_of([prepare(examples[at].text) for at in some])
        for at, state in zip(some, token_states, strict=True):
            states[at] = state.astype(np.float16)
    return states


def read_examples(language: str) -> list[Example]:
    chance = random.Random(language)
    everyday = [text for text in _care("harmless", language) if not read_by_rule(text)]
    examples = [Example("none", text, EVERYDAY) for text in everyday]
    examples += [Example("none", text, CRY, is_read=False) for text in _care("cries", language)]
    for kind, text in sorted({*_patterns(language, chance)}):
        examples.append(Example(kind, _as_people_write(kind, text, everyday, chance), PATTERN, is_read=False))
    examples += [Example(kind, text, TABLE) for kind, text in _tables(language)]
    for text_line in (classifier.LINES / f"written.{language}.tsv").read_text(encoding="utf-8").splitlines():
        if text_line and not text_line.startswith("#"):
            writer, kind, text = text_line.split("\t")
            examples.append(Example(kind.removesuffix("_this"), text, WRITERS, writer))
    return examples


def _patterns(language: str, chance: random.Random) -> Iterator[tuple[str, str]]:
    slots: dict[str, str] = {}
    kind = ""
    for text_line in (classifier.LINES / f"{language}.txt").read_text(encoding="utf-8").splitlines():
        if text_line.startswith("["):
            kind = text_line.strip("[]")
        elif kind == "slots" and " = " in text_line:
            name, words = text_line.split(" = ", 1)
            slots[name] = words
        elif text_line and not text_line.startswith("#"):
            for _ in range(SENTENCES):
                yield kind, _expand(text_line, slots, chance)


def _expand(pattern: str, slots: dict[str, str], chance: random.Random) -> str:
    """One sentence of a pattern: one of each (a|b), one word of each {slot}."""
    while choice := _CHOICE.search(pattern):
        words = f"({slots[choice[2]]})" if choice[2] else chance.choice(choice[1].split("|"))
        pattern = pattern[: choice.start()] + words + pattern[choice.end() :]
    return " ".join(pattern.split())


def _as_people_write(kind: str, text: str, everyday: list[str], chance: random.Random) -> str:
    """The sentence among others, with and without capitals and full stops."""
    chance_of_frame, signs = chance.random(), chance.random()
    stop = "。" if classifier.language_of(text) == "zh" else ". "
    if signs < 0.2:
        text = text.lower()
    elif signs < 0.5:
        text = text[:1].upper() + text[1:].rstrip(".") + chance.choice([stop.strip(), "!", "…"])
    if kind != "none" and chance_of_frame < 0.3:
        pair = [text, chance.choice(everyday)]
        text = chance.choice([stop, " "]).join(pair if chance_of_frame < 0.15 else pair[::-1])
    return text


def _care(name: str, language: str) -> list[str]:
    file_lines = (CARE / f"{name}.{language}.tsv").read_text(encoding="utf-8").splitlines()
    return [
        file_line.split("\t")[2] for file_line in file_lines if file_line and not file_line.startswith(("#", *ASKING))
    ]


def _tables(language: str) -> Iterator[tuple[str, str]]:
    rows = [
        row.split("\t")[:2]
        for name in ("requests", "earlier", "harder")
        for row in (TABLES / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
        if row and not row.startswith("#")
    ]
    for name in ("requests", "lookalikes"):
        for text_line in (TABLES / "aside" / f"{language}_{name}.jsonl").read_text(encoding="utf-8").splitlines()[1::2]:
            row = json.loads(text_line)
            rows.append([row.get("kind", "-"), row["text"]])
    alike = (TABLES / f"look_alikes_{language}.txt").read_text(encoding="utf-8").replace("```\n", "```")
    rows += [["-", text_line] for text_line in alike.splitlines() if text_line]
    for kind, text in rows:
        if kind != "answer" and classifier.language_of(text) == language:
            yield "none" if kind == "-" else kind.removesuffix("_this"), text


if __name__ == "__main__":
    main()

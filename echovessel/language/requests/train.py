"""Train the classifier of requests: `python -m echovessel.language.requests.train`, in the source folder.

`lines/` holds messages by several writers, and patterns of requests and look-alikes; each pattern generates some of its
sentences. Training also uses tables of the tests (those that the rules were written with, never those set aside) and
the everyday messages and cries of `chat/care/lines`. The thresholds are set by the two latest writers, whose messages
are scored by a classifier trained without them. The same input produces the same file. Only this
module needs scikit-learn, scipy and torch.

The two readers take 15 minutes of processor time each, the rest 2. With `--keep-reader` the reader of the present file
stays, which is part of the input then.
"""

import hashlib
import json
import random
import re
import sys
from collections import ChainMap, Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from sklearn.linear_model import Ridge
from torch import nn
from torch.nn import functional

from echovessel.embeddings import bundled_model, layers
from echovessel.language.ngrams import in_bytes, matrix, rarity_of
from echovessel.language.requests import classifier, read_by_rule
from echovessel.language.requests.clauses import prepare
from echovessel.language.requests.types import RequestKind

ASKING = ("seventh", "eighth")  # writers of requests and look-alikes among the everyday messages
TABLES, CARE = Path("tests/echovessel/language/requests"), Path("chat/care/lines")
LATEST = ("eighth", "ninth")  # the thresholds are set by these writers, with a classifier trained without them
SENTENCES_PER_PATTERN = 4
# The weight of a message of each source.
WRITERS, TABLE, PATTERN, EVERYDAY, CRY = 2.0, 1.0, 0.3, 0.3, 0.1
COMMON = 200  # words that the frame of a sentence keeps
PENALTY = 0.3
HIDDEN, HEADS, VALUES = 64, 8, 16  # units of the reader, its heads, and values of each head
RANK, ADAPTER_RATE = 8, 2.0
STATES_SCALE = 2.0
EPOCHS, BATCH, RATE, DECAY, DROPPED, DROPPED_BEFORE_ADAPTERS = 5, 48, 1e-3, 1e-2, 0.3, 0.1
EVERYDAY_SHARE = 0.2  # of the everyday messages, for each epoch
ASKED_ABOUT = 0.04  # accepted share of look-alikes, by a writer not trained with
ASKED_AS_CORRECTIONS = 0.02  # accepted share of the others; asked about only where a memory says otherwise
LOST = 0.01  # accepted share of requests, by such a writer, that the n-grams alone may drop
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
    examples = {
        language: [example for example in read_examples(language) if example.text.strip()]
        for language in classifier.LANGUAGES
    }
    known = {
        language: [at for at, example in enumerate(of_language) if example.writer not in LATEST]
        for language, of_language in examples.items()
    }
    examples_known = {language: [examples[language][at] for at in places] for language, places in known.items()}
    if "--keep-reader" in sys.argv:
        reader_known = reader = kept_reader()
    else:
        states = {language: states_of(examples[language]) for language in classifier.LANGUAGES}
        states_known = {language: [states[language][at] for at in places] for language, places in known.items()}
        reader_known, reader = train_reader(examples_known, states_known), train_reader(examples, states)
    without_latest, parts = reader_known | ngrams_of(examples_known), reader | ngrams_of(examples)
    for language in classifier.LANGUAGES:
        latest = [example for example in examples[language] if example.writer in LATEST]
        parts |= thresholds_for(latest, classifier.unpack(without_latest)[language], language)
    parts["lines"] = np.array(fingerprint())
    np.savez_compressed(classifier.FILE, **parts)  # type: ignore[arg-type]
    sys.stdout.write(f"{classifier.FILE.name}: {classifier.FILE.stat().st_size:,} bytes\n")


def fingerprint() -> str:
    """The SHA-256 of `lines/`, which shows whether a classifier was trained with them."""
    return hashlib.sha256(b"".join(file.read_bytes() for file in sorted(classifier.LINES.iterdir()))).hexdigest()


def kept_reader() -> dict[str, np.ndarray]:
    """The parts of the reader in the present file, which must not have seen the writers that set the thresholds."""
    with np.load(classifier.FILE) as file:
        parts = {name: file[name] for name in file if name.startswith(("reader", "adapter.")) or ".output" in name}
    if seen := set(str(parts["reader_writers"]).split()) & set(LATEST):
        sys.exit(f"the reader was trained with the writers that set the thresholds: {sorted(seen)}")
    return parts


def ngrams_of(examples: Mapping[str, Sequence[Example]]) -> dict[str, np.ndarray]:
    """The parts of the n-grams, and thresholds of zero."""
    parts = {
        f"{language}.{name}": part
        for language in classifier.LANGUAGES
        for name, part in train_ngrams(examples[language]).items()
    }
    return parts | {
        f"{language}.{name}": np.zeros(len(classifier.KINDS) if name != "unlikely" else ())
        for language in classifier.LANGUAGES
        for name in ("likely", "likely_by_ngrams", "unlikely")
    }


def train_ngrams(examples: Sequence[Example]) -> dict[str, np.ndarray]:
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
    return {
        "common": np.array(" ".join(common)),
        "rarity": rarity.astype(np.float16),
        "weights": weights,
        "scale": scale,
        "biases": machine.intercept_,
    }


class AdaptedLinear(nn.Module):
    """A linear map of the sentence model with its adapter, which alone is trained."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.weight, self.bias = sentence_model(f"{name}.weight"), sentence_model(f"{name}.bias")
        outputs, inputs = self.weight.shape
        self.inner = nn.Parameter(torch.randn(RANK, inputs) / inputs**0.5)
        self.outer = nn.Parameter(torch.zeros(outputs, RANK))
        self.drop = nn.Dropout(DROPPED_BEFORE_ADAPTERS)

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        added = functional.linear(functional.linear(self.drop(states), self.inner), self.outer)
        return functional.linear(states, self.weight, self.bias) + ADAPTER_RATE * added

    def parts(self) -> dict[str, np.ndarray]:
        factors = {"inner": self.inner, "outer": ADAPTER_RATE * self.outer}
        return {
            f"adapter.{self.name}.{name}": part.detach().numpy().astype(np.float16) for name, part in factors.items()
        }


class AdaptedLayer(nn.Module):
    """A layer of the sentence model as `layers` passes it, with adapters."""

    def __init__(self, number: int) -> None:
        super().__init__()
        name = f"encoder.layer.{number}"
        self.query, self.key, self.value, self.joined = (
            AdaptedLinear(f"{name}.attention.{part}")
            for part in ("self.query", "self.key", "self.value", "output.dense")
        )
        self.widening, self.narrowing = (
            AdaptedLinear(f"{name}.intermediate.dense"),
            AdaptedLinear(f"{name}.output.dense"),
        )
        self.norms = [
            [sentence_model(f"{name}.{part}.LayerNorm.{values}") for values in ("weight", "bias")]
            for part in ("attention.output", "output")
        ]

    def forward(self, states: torch.Tensor, is_token: torch.Tensor) -> torch.Tensor:
        query, key, value = (
            part(states).unflatten(2, (bundled_model.HEADS, -1)).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        )
        attended = functional.scaled_dot_product_attention(query, key, value, attn_mask=is_token[:, None, None])
        states = states + self.joined(attended.transpose(1, 2).flatten(2))
        states = functional.layer_norm(states, (layers.WIDTH,), *self.norms[0])
        wide = self.widening(states)
        states = states + self.narrowing(wide * torch.sigmoid(bundled_model.GELU_ALPHA * wide))
        return functional.layer_norm(states, (layers.WIDTH,), *self.norms[1])


class Network(nn.Module):
    """The `classifier.Reader` during training; both languages share all but a bias."""

    def __init__(self) -> None:
        super().__init__()
        first, last = classifier.LAYERS
        self.layers = nn.ModuleList(AdaptedLayer(number) for number in range(first, last))
        self.hidden = nn.Linear(2 * layers.WIDTH, HIDDEN)
        self.attention = nn.Linear(HIDDEN, HEADS, bias=False)
        self.values = nn.Linear(HIDDEN, HEADS * VALUES, bias=False)
        self.output = nn.Linear(HIDDEN + HEADS * VALUES, len(classifier.KINDS) + 1)
        self.of_language = nn.Embedding(len(classifier.LANGUAGES), len(classifier.KINDS) + 1)
        nn.init.zeros_(self.of_language.weight)
        self.drop = nn.Dropout(DROPPED)

    def forward(self, states: torch.Tensor, is_token: torch.Tensor, language: torch.Tensor) -> torch.Tensor:
        adapted, beyond = states, ~is_token[:, :, None]
        for layer in self.layers:
            adapted = layer(adapted, is_token)
        both = STATES_SCALE * torch.cat([states, adapted], 2)
        hidden = self.drop(torch.relu(self.hidden(self.drop(both))))
        attention = self.attention(hidden).masked_fill(beyond, -1e4).softmax(1)
        values = self.values(hidden).unflatten(2, (HEADS, VALUES))
        attended = (attention[..., None] * values).sum(1).flatten(1)
        output: torch.Tensor = self.output(torch.cat([attended, hidden.masked_fill(beyond, -1e4).max(1).values], 1))
        return output + self.of_language(language)

    def parts(self) -> dict[str, np.ndarray]:
        learnt = {name: values.detach().numpy().T for name, values in self.named_parameters()}
        parts = {
            "reader.hidden": STATES_SCALE * learnt["hidden.weight"],
            "reader.hidden_bias": learnt["hidden.bias"],
            "reader.attention": learnt["attention.weight"],
            "reader.values": learnt["values.weight"],
        }
        for number, language in enumerate(classifier.LANGUAGES):
            bias = learnt["output.bias"] + learnt["of_language.weight"][:, number]
            parts[f"{language}.output"] = np.vstack([learnt["output.weight"], bias])
        adapters = [module.parts() for module in self.modules() if isinstance(module, AdaptedLinear)]
        return {name: part.astype(np.float16) for name, part in parts.items()} | dict(ChainMap(*adapters))


def sentence_model(name: str) -> torch.Tensor:
    return torch.from_numpy(np.array(bundled_model.map_tensors()[name], dtype=np.float32))


def train_reader(
    examples: Mapping[str, Sequence[Example]], states: Mapping[str, Sequence[np.ndarray]]
) -> dict[str, np.ndarray]:
    torch.manual_seed(0)
    chance = np.random.RandomState(0)
    rows, outputs, languages, weights, is_everyday = [], [], [], [], []
    kinds = [*classifier.KINDS, "none"]
    for number, language in enumerate(classifier.LANGUAGES):
        for example, state in zip(examples[language], states[language], strict=True):
            if example.is_read:
                rows.append(state)
                outputs.append(kinds.index(example.kind))
                languages.append(number)
                # Everyday messages and our own tables weigh less than what people wrote.
                weights.append(1.0 if example.writer else 0.6)
                is_everyday.append(not example.writer and example.weight == EVERYDAY)
    right, language_of, weight = torch.tensor(outputs), torch.tensor(languages), torch.tensor(weights)
    everyday, others = np.flatnonzero(is_everyday), np.flatnonzero(~np.array(is_everyday))
    some = int(len(everyday) * EVERYDAY_SHARE)
    network = Network()
    optimizer = torch.optim.AdamW(network.parameters(), RATE, weight_decay=DECAY)
    steps = EPOCHS * ((len(others) + some) // BATCH + 1)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=steps, pct_start=0.15)
    for _ in range(EPOCHS):
        # Messages of similar length are batched.
        read = chance.permutation(np.concatenate([others, chance.permutation(everyday)[:some]]))
        order = sorted(read, key=lambda at: len(rows[at]) + chance.randint(4))
        batches = [order[at : at + BATCH] for at in range(0, len(order), BATCH)]
        for number in chance.permutation(len(batches)):
            batch = batches[number]
            tokens = [torch.from_numpy(rows[at].astype(np.float32)) for at in batch]
            is_token = nn.utils.rnn.pad_sequence([torch.ones(len(row), dtype=torch.bool) for row in tokens], True)
            output = network(nn.utils.rnn.pad_sequence(tokens, True), is_token, language_of[batch])
            loss = functional.cross_entropy(output, right[batch], reduction="none", label_smoothing=0.05)
            optimizer.zero_grad()
            (loss * weight[batch]).mean().backward()
            optimizer.step()
            schedule.step()
    writers = {example.writer for of_language in examples.values() for example in of_language} - {""}
    return network.parts() | {"reader_writers": np.array(" ".join(sorted(writers)))}


def thresholds_for(unseen: Sequence[Example], model: classifier.Model, language: str) -> dict[str, np.ndarray]:
    """The thresholds of one language by writers that `model` was not trained with; prints what it hears of them."""
    rows = [classifier.features(prepare(example.text), model.common) for example in unseen]
    by_ngrams = matrix(rows, model.rarity) @ model.weights + model.biases
    states = classifier.states_of([prepare(example.text) for example in unseen], model.reader.adapters)
    scores = by_ngrams + classifier.READER_WEIGHT * np.stack([model.reader.scores(of_text) for of_text in states])
    kinds = np.array([example.kind for example in unseen])
    is_none = kinds == "none"
    likely = _asking_scores(scores[is_none])
    margins = scores - likely
    right = np.where(margins.max(1) > 0, np.array(classifier.KINDS)[margins.argmax(1)], "none") == kinds
    shares = {kind: f"{right[kinds == kind].mean():.2f}" for kind in ("none", *map(str, classifier.KINDS))}
    sys.stdout.write(f"{language}, unseen writers: {right[~is_none].mean():.3f} of requests {shares}\n")
    return {
        f"{language}.likely": likely,
        f"{language}.likely_by_ngrams": _asking_scores(by_ngrams[is_none]),
        f"{language}.unlikely": np.quantile(by_ngrams.max(1)[~is_none], LOST),
    }


def _asking_scores(of_look_alikes: np.ndarray) -> np.ndarray:
    """For each kind the score from which the persona asks, by the scores (look-alikes, kinds) of messages that ask for
    nothing."""
    correction = classifier.KINDS.index(RequestKind.CORRECTION)
    others = np.delete(of_look_alikes, correction, axis=1).max(1)
    likely = np.full(len(classifier.KINDS), np.quantile(others, 1 - ASKED_ABOUT))
    rest = of_look_alikes[others <= likely[0]]
    likely[correction] = np.quantile(rest[:, correction], 1 - ASKED_AS_CORRECTIONS)
    return likely


def states_of(examples: Sequence[Example]) -> list[np.ndarray]:
    """The states of the tokens of each example before the adapted layers; nothing for examples not read by token."""
    read = [at for at, example in enumerate(examples) if example.is_read]
    states = [np.zeros((0, layers.WIDTH), dtype=np.float16)] * len(examples)
    for start in range(0, len(read), 256):
        some = read[start : start + 256]
        token_states = classifier.states_of([prepare(examples[at].text) for at in some])
        for at, state in zip(some, token_states, strict=True):
            states[at] = state[:, : layers.WIDTH].astype(np.float16)
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
            for _ in range(SENTENCES_PER_PATTERN):
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

"""Train the classifier of requests: `python -m echovessel.language.requests.train`, in the folder of the source.

`lines/` tells in patterns how people ask, and what only sounds alike; each pattern stands for some of the sentences
that it makes. Beside them it is trained with tables of the tests (those that the rules were written with, never those
set aside) and with the everyday messages and cries of `chat/care/lines`. The same lines make the same file.
scikit-learn and scipy are needed here and nowhere else.
"""

import hashlib
import json
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from echovessel.language.ngrams import in_bytes, matrix, rarity_of
from echovessel.language.requests import classifier, read_by_rule
from echovessel.language.requests.clauses import prepare

LINES = Path(__file__).with_name("lines")
TABLES, CARE = Path("tests/echovessel/language/requests"), Path("chat/care/lines")
SENTENCES = 30  # of each pattern
REPEATED = 4  # how often lines by others count, of which there are fewer
COST = 20.0
_CHOICE = re.compile(r"\(([^()]*)\)|\{(\w+)\}")

Example = tuple[str, str, str]  # kind, text, the message before


def main() -> None:
    parts = {"lines": np.array(fingerprint())}
    for language in classifier.LIKELY:
        examples = [example for example in read_examples(language) if example[1].strip()]
        features = [classifier.features(prepare(text), previous) for _, text, previous in examples]
        rarity = rarity_of(features).astype(np.float16).astype(np.float64)
        kinds = ["none", *classifier.KINDS]
        machine = LogisticRegression(C=COST, max_iter=400).fit(
            matrix(features, rarity), [kinds.index(kind) for kind, *_ in examples]
        )
        weights, scale = in_bytes(machine.coef_.T)
        parts |= {
            f"{language}.rarity": rarity.astype(np.float16),
            f"{language}.weights": weights,
            f"{language}.scale": scale,
            f"{language}.biases": machine.intercept_,
        }
        sys.stdout.write(f"{language}: {len(examples):,} sentences\n")
    np.savez_compressed(classifier.FILE, **parts)  # type: ignore[arg-type]
    sys.stdout.write(f"{classifier.FILE.name}: {classifier.FILE.stat().st_size:,} bytes\n")


def fingerprint() -> str:
    """The SHA-256 of `lines/`, to tell whether a classifier was trained with these."""
    return hashlib.sha256(b"".join(file.read_bytes() for file in sorted(LINES.glob("*.txt")))).hexdigest()


def read_examples(language: str) -> list[Example]:
    chance = random.Random(language)
    everyday = [text for text in _care("harmless", language) if not read_by_rule(text)]
    examples = [
        _as_people_write(kind, text, previous, everyday, chance)
        for kind, text, previous in sorted({*_patterns(language, chance)})
    ]
    examples += [
        ("none", text, chance.choice(everyday) if chance.random() < 0.3 else "")
        for text in (*everyday, *_care("cries", language))
    ]
    for kind, text, previous in _tables(language):
        bare = text.lower().rstrip(".!。！")
        examples += [(kind, text if turn % 2 else bare, previous) for turn in range(REPEATED)]
    return examples


def _patterns(language: str, chance: random.Random) -> Iterator[Example]:
    slots: dict[str, str] = {}
    kind = ""
    for line in (LINES / f"{language}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            kind = line.strip("[]")
        elif kind == "slots" and " = " in line:
            name, words = line.split(" = ", 1)
            slots[name] = words
        elif line and not line.startswith("#"):
            text, _, previous = line.partition("\t")
            for _ in range(SENTENCES):
                yield kind, _expand(text, slots, chance), _expand(previous, slots, chance)


def _expand(pattern: str, slots: dict[str, str], chance: random.Random) -> str:
    """One sentence of a pattern: of each (a|b) one, of each {slot} one of its words."""
    while choice := _CHOICE.search(pattern):
        words = f"({slots[choice[2]]})" if choice[2] else chance.choice(choice[1].split("|"))
        pattern = pattern[: choice.start()] + words + pattern[choice.end() :]
    return " ".join(pattern.split())


def _as_people_write(kind: str, text: str, previous: str, everyday: list[str], chance: random.Random) -> Example:
    """The sentence beside others, with and without capitals and stops, first and later in a session."""
    beside, signs = chance.random(), chance.random()
    stop = "。" if classifier.language_of(text) == "zh" else ". "
    if signs < 0.2:
        text = text.lower()
    elif signs < 0.5:
        text = text[:1].upper() + text[1:].rstrip(".") + chance.choice([stop.strip(), "!", "…"])
    if kind != "none" and beside < 0.3:
        pair = [text, chance.choice(everyday)]
        text = chance.choice([stop, " "]).join(pair if beside < 0.15 else pair[::-1])
    if not previous and chance.random() < 0.15:
        previous = chance.choice(everyday)
    return kind, text, previous


def _care(name: str, language: str) -> list[str]:
    lines = (CARE / f"{name}.{language}.tsv").read_text(encoding="utf-8").splitlines()
    return [line.split("\t")[2] for line in lines if line and not line.startswith("#")]


def _tables(language: str) -> Iterator[Example]:
    rows = [
        (*row.split("\t"), "")[:3]
        for name in ("requests", "earlier", "harder")
        for row in (TABLES / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
        if row and not row.startswith("#")
    ]
    for name in ("requests", "lookalikes"):
        for line in (TABLES / "aside" / f"{language}_{name}.jsonl").read_text(encoding="utf-8").splitlines()[1::2]:
            row = json.loads(line)
            rows.append((row.get("kind", "-"), row["text"], row.get("previous", "")))
    alike = (TABLES / f"look_alikes_{language}.txt").read_text(encoding="utf-8").replace("```\n", "```")
    rows += [("-", line, "") for line in alike.splitlines() if line]
    named = {"-": "none", "forget_this": "forget"}
    for kind, text, previous in rows:
        if kind != "answer" and classifier.language_of(text) == language:
            yield named.get(kind, kind), text, previous


if __name__ == "__main__":
    main()

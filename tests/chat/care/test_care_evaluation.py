"""How much the detector hears of lines that it was neither made from nor trained with (`aside/*.tsv`)."""

from pathlib import Path

import pytest

from chat import care
from chat.care import speak_of_crisis
from tests.table import STRAY, in_samples

ASIDE = Path(__file__).parent / "aside"
# Of each file: how many cries are heard at least, and how many harmless lines are taken for cries at most. Those of
# `short` are everyday sentences and cries of a few words, by the hand that wrote short English lines of the training.
BOUNDS = {"en": (0.85, 0.05), "zh": (0.80, 0.05), "short.en": (0.85, 0.03), "short.zh": (0.85, 0.06),
    "everyday.en": (0.95, 0.11), "everyday.zh": (0.80, 0.06),
}  # fmt: skip


@in_samples
@pytest.mark.parametrize("file", BOUNDS)
def test_of_lines_set_aside_most_cries_are_heard_and_few_harmless_ones(file: str, every: int) -> None:
    least_heard, most_false = BOUNDS[file][0] - STRAY[every], BOUNDS[file][1] + STRAY[every]
    rows = (ASIDE / f"{file}.tsv").read_text(encoding="utf-8").splitlines()[1::every]
    labels, _kinds, messages = zip(*(row.split("\t") for row in rows), strict=True)
    helped = dict.fromkeys(("cry", "harmless"), 0)
    for label, is_heard in zip(labels, speak_of_crisis(messages), strict=True):
        helped[label] += is_heard
    assert helped["cry"] >= least_heard * labels.count("cry")
    assert helped["harmless"] <= most_false * labels.count("harmless")


def test_no_line_that_measures_is_among_those_that_train() -> None:
    aside = _messages(ASIDE)
    # The plainest words come to everybody.
    assert len(_messages(Path(care.__file__).parent / "lines") & aside) <= 0.01 * len(aside)


def _messages(folder: Path) -> set[str]:
    rows = (row for file in folder.glob("*.tsv") for row in file.read_text(encoding="utf-8").splitlines())
    return {row.split("\t")[-1].strip() for row in rows}

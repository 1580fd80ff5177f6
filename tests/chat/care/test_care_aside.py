"""How much the detector hears of lines by hands that it was neither made from nor trained with (`aside/*.tsv`)."""

from pathlib import Path

import pytest

from chat import care
from chat.care import speak_of_crisis

ASIDE = Path(__file__).parent / "aside"
MAX_FALSE_ALARMS = 0.05


@pytest.mark.parametrize(("language", "least_heard"), [("en", 0.85), ("zh", 0.80)])
def test_of_lines_by_another_hand_most_cries_are_heard_and_few_harmless_ones(language: str, least_heard: float) -> None:
    rows = (ASIDE / f"{language}.tsv").read_text(encoding="utf-8").splitlines()[1:]
    labels, _kinds, messages = zip(*(row.split("\t") for row in rows), strict=True)
    helped = dict.fromkeys(("cry", "harmless"), 0)
    for label, is_heard in zip(labels, speak_of_crisis(messages), strict=True):
        helped[label] += is_heard
    assert helped["cry"] >= least_heard * labels.count("cry")
    assert helped["harmless"] <= MAX_FALSE_ALARMS * labels.count("harmless")


def test_no_line_that_measures_is_among_those_that_train() -> None:
    aside = _messages(ASIDE)
    # The plainest words come to everybody.
    assert len(_messages(Path(care.__file__).parent / "lines") & aside) <= 0.01 * len(aside)


def _messages(folder: Path) -> set[str]:
    rows = (row for file in folder.glob("*.tsv") for row in file.read_text(encoding="utf-8").splitlines())
    return {row.split("\t")[-1].strip() for row in rows}

"""A question with its answer, a reply with what it answers: by hand, and in a recall."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest

from echovessel.language.small_talk import gist_of
from memory.recall import recall
from memory.recall.exchanges import complete_exchanges
from memory.recall.render import RenderedMessage, Renderer
from memory.recall.select import Candidate, SelectedItem, Selection
from persona.models import Persona
from tests.memory.sessions import NOW, talk
from tests.table import each_row

AT = datetime(2026, 3, 5, 12)
TELLER = Renderer("en", {"user": "Ana", "persona": "Mira"}, NOW)


def rendered_message(key: int, line: str) -> RenderedMessage:
    """A message; the persona's begins with "> ", that of somebody else with "# "."""
    role = {"> ": "persona", "# ": "system"}.get(line[:2], "user")
    text = line.removeprefix("> ").removeprefix("# ")
    at = AT + timedelta(minutes=key)
    return RenderedMessage(key, "0" * 32, None, role, text, at, 1, None, gist=gist_of(text))


def completed(lines: Sequence[str], chosen: Sequence[int], budget: int = 500, window: Sequence[int] = ()) -> list[str]:
    """The passages of `lines`, of which each of `chosen` (by position, the best first) was selected for itself."""
    messages = {key: rendered_message(key, line) for key, line in enumerate(lines, 1)}
    known = {key: messages[key] for key in chosen}

    def read(keys: Sequence[int]) -> Mapping[int, RenderedMessage]:
        return {key: messages[key] for key in keys}

    items = []
    for key in chosen:
        before, after = (key - 1 or None), (key + 1 if key < len(lines) else None)
        line, cost, *_ = TELLER.costs(known[key])
        one = Candidate(key, False, 1.0 / key, cost, frozenset([key]), before=before, after=after, line=line)
        items.append(SelectedItem(one, [one]))
    selection = Selection(items=items, shown_messages={*chosen})
    found = complete_exchanges(selection, known, read, TELLER, budget, window)
    texts = [
        TELLER.passage(sorted([known[item.best.key], *item.context], key=lambda one: one.id)) for item in found.items
    ]
    return [text.split("] ", 1)[1] for text in texts]


@each_row(
    ("lines", "chosen", "passages"),
    [
        # A question brings its answer, which may lie outside of what was found.
        (["> What is the boat called?", "Seagull."], [1], ['Mira: "What is the boat called?"\n  Ana: "Seagull."']),
        # A reply that says little by itself brings what it answers, without what stands around the question.
        (
            ["> How lovely! I like choirs. When do you meet?", "Every Thursday."],
            [2],
            ['Mira: "… When do you meet?"\n  Ana: "Every Thursday."'],
        ),
        (
            ["> Is it far?", "No, we walk along the canal for half an hour and feed the ducks there."],
            [2],
            ['Mira: "Is it far?"\n  Ana: "No, we walk along the canal for half an hour and feed the ducks there."'],
        ),
        # One that speaks for itself does not.
        (
            ["> What else?", "My sister Lena moved to York in May and works as a nurse in the big hospital there."],
            [2],
            ['Ana: "My sister Lena moved to York in May and works as a nurse in the big hospital there."'],
        ),
        # Nothing is asked, nobody answers, or it is not the other who does.
        (["> I like choirs.", "Every Thursday."], [2], ['Ana: "Every Thursday."']),
        (["> Where is it?"], [1], ['Mira: "Where is it?"']),
        (["Where is it?", "Or is it gone?"], [1], ['Ana: "Where is it?"']),
        (["# When do you meet?", "Every Thursday."], [2], ['Ana: "Every Thursday."']),
        # What is shown elsewhere is not shown twice.
        (
            ["> What is it called?", "Seagull, and she is painted white and blue like all boats of that harbour."],
            [1, 2],
            ['Mira: "What is it called?"', 'Ana: "Seagull, and she is painted white and blue like all boats of '
             'that harbour."'],
        ),
        # The question with which a message ends is left out where its answer is.
        (["> I sing in a choir in Lyon. And you?", "Never."], [1], ['Mira: "I sing in a choir in Lyon. …"']),
        (["> 船叫什么？", "海鸥。"], [1], ['Mira: "船叫什么？"\n  Ana: "海鸥。"']),
        (["> 什么时候排练？", "每周四。"], [2], ['Mira: "什么时候排练？"\n  Ana: "每周四。"']),
    ],
)  # fmt: skip
def test_an_exchange_is_shown_whole(lines: list[str], chosen: list[int], passages: list[str]) -> None:
    assert completed(lines, chosen) == passages


def test_what_the_prompt_shows_anyway_is_not_added() -> None:
    assert completed(["> What is it called?", "Seagull."], [1], window=[2]) == ['Mira: "What is it called?"']


@pytest.mark.parametrize(
    ("budget", "count"), [(500, 2), (33, 2), (22, 1), (6, 0)], ids=["all", "one completed", "one", "none"]
)
def test_the_weakest_goes_where_the_budget_falls_short(budget: int, count: int) -> None:
    lines = ["> What is the boat called?", "Seagull.", "x", "> When does the choir meet?", "Every Thursday."]
    assert len(completed(lines, [1, 4], budget)) == count


def test_a_long_answer_is_cut() -> None:
    [passage] = completed(["> What happened?", "It rained. " + "And it rained on. " * 60], [1])
    assert passage.endswith('…"')
    assert len(passage) < 320


def test_in_a_recall_the_answer_comes_with_the_question(mira: Persona) -> None:
    lines = ["We bought a wooden dinghy.", "> What is the dinghy called?", "Seagull.", "> Lovely!", "Thanks!"]
    session = talk(mira, *lines, status="closed")
    assert session.message_count == len(lines)
    found = recall(mira, ["What is my dinghy called?"], now=NOW + timedelta(days=30), budget_tokens=400)
    text = "\n".join(item.text for item in found.items)
    assert 'Mira: "What is the dinghy called?"\n  Ana: "Seagull."' in text
    assert "Lovely" not in text
    records: list[Any] = [message for item in found.xray.chosen for message in item.messages]
    assert len(records) == len(set(records))
    assert found.xray.tokens <= 400

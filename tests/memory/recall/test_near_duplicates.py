"""Which memories and messages tell the same."""

from datetime import date, datetime
from typing import Any

import numpy as np

from memory.recall.near_duplicates import ShownWords, choose_complete_text, words_of
from memory.recall.render import RenderedNode, Renderer
from memory.recall.select import Candidate
from memory.recall.shortlist import fold_alike
from tests.table import each_row


@each_row(
    ("one", "other", "enough"),
    [
        # (the better one, the other, which of them is enough: 1, 2, or 0 where both are needed)
        ("Ana paints at dusk.", "Ana loves painting in the evening.", 1),
        ("Ana paints at dusk.", "Ana paints at dusk with Ben.", 2),
        ("Ana paints with Ben.", "Ana paints at dusk, as she did with Cleo.", 0),
        ("Ana's mother died.", "Ana's father died.", 0),
        ("Ana runs on Monday.", "Ana runs on Friday.", 0),
        ("Ana has two cats.", "Ana has three cats.", 0),
        ("Ana has 2 cats at home.", "Ana keeps cats in the house.", 1),
        ("Ana likes the sea.", "Ana does not like the sea.", 0),
        ("Ana plans to show her paintings in a gallery.", "Ana showed her paintings in a gallery.", 0),
        ("Ana bought a red car.", "Ana bought a blue car.", 0),
        ("Ana appreciates Ben's help.", "Ben appreciates Ana's help.", 1),
        ("安娜在傍晚画画。", "安娜喜欢晚上画画。", 1),
        ("安娜的妈妈去世了。", "安娜的爸爸去世了。", 0),
        ("我们周五见面。", "我们周六见面。", 0),
        ("安娜有两只猫。", "安娜有三只猫。", 0),
        ("安娜喜欢海。", "安娜不喜欢海。", 0),
        ("安娜打算搬到里昂。", "安娜搬到了里昂。", 0),
    ],
)
def test_one_of_two_is_enough_where_it_tells_all_that_the_other_does(one: str, other: str, enough: int) -> None:
    assert choose_complete_text(one, other) == ["", one, other][enough]


@each_row(
    ("text", "shown", "nothing_new"),
    [
        ("We adopted a white kitten from the shelter", "They adopted a white kitten at the shelter in May", True),
        ("We adopted a white kitten from the shelter", "They adopted a dog", False),
        ("Every Thursday", "Every Thursday the choir meets", False),
        ("我们收养了一只白猫豆豆", "他们收养了一只白猫豆豆，很可爱", True),
        ("我们收养了一只黑狗", "他们收养了一只白猫豆豆", False),
        ("", "anything", False),
    ],
)
def test_a_message_whose_words_are_shown_adds_nothing(text: str, shown: str, nothing_new: bool) -> None:
    words = ShownWords()
    for one in ("Something else entirely", shown):
        words.add(words_of(one))
    assert words.contains_most(words_of(text)) is nothing_new


def node(key: int, text: str, told: datetime, **values: Any) -> RenderedNode:
    known: dict[str, Any] = {"kind": "event", "event_start": None, "event_end": None, "outcome": ""} | values
    return RenderedNode(key, "0" * 32, None, description=text, created_at=told, **known)


def folded(*nodes: RenderedNode, cosine: float = 0.9) -> tuple[list[Candidate], set[int]]:
    renderer = Renderer("en", {}, datetime(2023, 9, 12))
    candidates = [
        Candidate(one.id, True, 3.0 - place, 20, frozenset([100 + one.id]), text=renderer.node(one))
        for place, one in enumerate(nodes)
    ]
    # Unit vectors that have this cosine, each with each.
    vectors = np.full((len(nodes), len(nodes) + 1), 0.0)
    vectors[:, 0] = cosine**0.5
    vectors[range(len(nodes)), range(1, len(nodes) + 1)] = (1 - cosine) ** 0.5
    return fold_alike(candidates, {one.id: one for one in nodes}, renderer, vectors, 0.87)


APRIL, MAY, JUNE = datetime(2023, 4, 9, 12), datetime(2023, 5, 3, 12), datetime(2023, 6, 1, 12)


def test_what_tells_the_same_is_folded_into_one_that_bears_the_days_and_the_evidence_of_all() -> None:
    nodes = [
        node(1, "Ana paints at dusk.", APRIL),
        node(2, "Ana loves painting in the evening.", MAY),
        node(3, "Ana enjoys evenings of painting by the river Loire.", JUNE),
    ]
    [kept], gone = folded(*nodes)
    assert (kept.key, gone, kept.score, kept.messages) == (3, {1, 2}, 3.0, {101, 102, 103})
    assert kept.text == (
        "- [2023-06-01; also 2023-04-09, 2023-05-03] Ana enjoys evenings of painting by the river Loire."
    )


@each_row(
    ("first", "second"),
    [
        (
            node(1, "Ana ran.", APRIL, event_start=date(2023, 4, 1)),
            node(2, "Ana ran.", MAY, event_start=date(2023, 5, 1)),
        ),
        (node(1, "Ana fears change.", APRIL, kind="thought"), node(2, "Ana is afraid of change.", MAY)),
        (node(1, "I call Ben.", APRIL, outcome="open"), node(2, "I will phone Ben.", APRIL, outcome="fulfilled")),
        (node(1, "Ana paints.", APRIL), node(2, "Ana likes painting.", APRIL, is_unsure=True)),
        (node(1, "Ana paints.", APRIL, kind="fact", plan_state="done"), node(2, "Ana painted it.", APRIL, kind="fact")),
    ],
)
def test_two_of_different_days_kinds_or_states_both_stay(first: RenderedNode, second: RenderedNode) -> None:
    assert folded(first, second)[1] == set()


def test_what_is_less_near_or_has_no_vector_stays() -> None:
    nodes = [node(1, "Ana paints at dusk.", APRIL), node(2, "Ana loves painting in the evening.", MAY)]
    assert folded(*nodes, cosine=0.8)[1] == set()
    assert folded(*nodes, cosine=float("nan"))[1] == set()

"""Restatements: which replies repeat the forgotten words, and which only use some of them."""

from memory.curation.restatements import Statement
from tests.table import each_row

NAMES = frozenset({"ana", "mira"})


@each_row(
    ("memory", "reply"),
    [
        ("Ana's cat Milo died in the clinic.", "Poor Milo. A cat like him is missed; was the clinic kind?"),
        ("Ana's cat Milo died in the clinic.", "You told me: “Ana's cat Milo died in the clinic.” How are you?"),
        ("小雨的猫小黑在医院里去世了。", "小黑是只好猫，在医院里陪着它一定很难受。"),
        (
            "She left the bakery in Elm Street.",
            "Elm Street, the bakery: tell me about the years, the ovens, the flour and the dark mornings there.",
        ),
    ],
)
def test_a_reply_that_shares_what_it_is_about_repeats_it(memory: str, reply: str) -> None:
    assert Statement([memory], NAMES).is_repeated_by(reply)


@each_row(
    ("memory", "reply"),
    [
        ("Ana's cat Milo died in the clinic.", "The clinic on Monday, then: shall I remind you of the appointment?"),
        ("Ana's cat Milo died in the clinic.", "Mira and Ana, what a day."),
        ("Ana hopes to get support from her sister.", "Glad I could help, and I hope you get support. Stay safe!"),
        (
            "A photo of a dog walking past a wall with a painting of a woman, by the harbour, early in winter.",
            "Take this: a photo with a painting of sunset over lakes, reeds, herons, clouds and drifting boats.",
        ),
    ],
)
def test_a_reply_that_uses_a_word_or_two_of_it_by_chance_does_not(memory: str, reply: str) -> None:
    assert not Statement([memory], NAMES).is_repeated_by(reply)

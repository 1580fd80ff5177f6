"""What of a model's reply is reasoning, and what is for people."""

import itertools
import random

from echovessel.llm.reasoning import ReasoningFilter, Withdrawal, join_visible, without_reasoning

HELLO = "Hello, Ana."
# A reply as models send it, and what of it is for people.
REASONED = {
    # tags
    "<think>\nThey greet me.\n</think>\n\nHello, Ana.": HELLO,
    "<think>They greet me.</think>Hello, Ana.": HELLO,
    "<think> short </think> Hello, Ana.": HELLO,
    "\n\n<think>\nhm\n</think>\nHello, Ana.": HELLO,
    "<think>\n\n</think>\n\nHello, Ana.": HELLO,
    "<Think>hm</THINK>\n\nHello, Ana.": HELLO,
    "< think >hm</ think >Hello, Ana.": HELLO,
    '<think duration="3s">hm</think>Hello, Ana.': HELLO,
    "<thinking>hm</thinking>\nHello, Ana.": HELLO,
    "<thought>hm</thought>Hello, Ana.": HELLO,
    "<reasoning>hm</reasoning>\n\nHello, Ana.": HELLO,
    "<seed:think>hm<seed:cot_budget_reflect>7</seed:cot_budget_reflect></seed:think>Hello, Ana.": HELLO,
    "<antThinking>hm</antThinking>Hello, Ana.": HELLO,
    '<details type="reasoning" done="true">\n<summary>Thought</summary>\nhm\n</details>\nHello, Ana.': HELLO,
    # other marks
    "[THINK]hm[/THINK]Hello, Ana.": HELLO,
    "◁think▷hm◁/think▷Hello, Ana.": HELLO,
    "<|START_THINKING|>hm<|END_THINKING|><|START_RESPONSE|>Hello, Ana.<|END_RESPONSE|>": HELLO,
    "<|begin_of_thought|>hm<|end_of_thought|>\n\n<|begin_of_solution|>\nHello, Ana.<|end_of_solution|>": HELLO,
    "<|inner_prefix|>hm<|inner_suffix|>Hello, Ana.": HELLO,
    "<|channel>thought\nhm\n<channel|>Hello, Ana.<turn|>": HELLO,
    "<unused94>thought\nhm<unused95>Hello, Ana.": HELLO,
    "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Hello, Ana.<|return|>": HELLO,
    "<|channel|>analysis<|message|>hm<|start|>assistant<|channel|>final<|message|>Hello, Ana.": HELLO,
    "<|channel|>commentary to=functions.x <|constrain|>json<|message|>{}<|call|>"
    "<|start|>assistant<|channel|>final<|message|>Hello, Ana.<|return|>": HELLO,
    "<|channel|>final<|message|>Hello, Ana.": HELLO,
    "analysisThe user says hello. Answer.assistantfinalHello, Ana.": HELLO,
    "Here is my thought process:\nhm\n\nHere is my response:\nHello, Ana.": HELLO,
    "Here are my reasoning steps:\nhm\n[BEGIN FINAL RESPONSE]\nHello, Ana.\n[END FINAL RESPONSE]": "Hello, Ana.\n",
    "<inner_thoughts>hm</inner_thoughts>Hello, Ana.": HELLO,
    "<longcat_think>hm</longcat_think>Hello, Ana.": HELLO,
    "<思考>用户在打招呼</思考>你好，安娜。": "你好，安娜。",
    "【思考】用户在打招呼【/思考】你好，安娜。": "你好，安娜。",
    "&lt;think&gt;hm&lt;/think&gt;Hello, Ana.": HELLO,
    "＜think＞hm＜/think＞Hello, Ana.": HELLO,
    # behind a byte order mark, and behind what cannot be seen
    "\ufeff<think>hm</think>Hello, Ana.": HELLO,
    "\u200b\n<think>hm</think>\u200bHello, Ana.": HELLO,
    # the answer in a wrapper of its own
    "<think>hm</think>\n<answer>Hello, Ana.</answer>": HELLO,
    "<think>hm</think>\n<answer>\nHello, Ana.\n</answer>\n": "Hello, Ana.\n",
    # several, nested, talked about inside
    "<think>one</think>\n<think>two</think>\nHello, Ana.": HELLO,
    "<think>outer <think>inner</think> outer</think>Hello, Ana.": HELLO,
    "<think>\nouter\n<think>\ninner\n</think>\nouter\n</think>\nHello, Ana.": HELLO,
    "<think>They ask about the <think> tag.</think>Hello, Ana.": HELLO,
    "<think>They ask about <think>.</think>Hello, Ana.": HELLO,
    '<think>It ends with "</think>", I know.</think>Hello, Ana.': HELLO,
    "<think>plan:<think>and so on</think>Hello, Ana.": HELLO,
    "Wait.\n<think>\nhm\n</think>\nHello, Ana.": "Wait.\n\nHello, Ana.",
    "Wait.\n  <think>hm</think>Hello, Ana.": "Wait.\n  Hello, Ana.",
    "Wait. <think>hm</think>Hello, Ana.": "Wait. Hello, Ana.",
    "Wait.<think>\nhm\n</think>Hello, Ana.": "Wait.Hello, Ana.",
    "等等。<think>嗯</think>你好，安娜。": "等等。你好，安娜。",
    "Wait! <think>hm": "Wait! ",
    # opened in the prompt
    "They greet me.\n</think>\n\nHello, Ana.": HELLO,
    "They greet me.</think>Hello, Ana.": HELLO,
    "they greet me</think>Hello, Ana.": HELLO,
    "they greet me </think> Hello, Ana.": HELLO,
    "</think>\n\nHello, Ana.": HELLO,
    "用户在打招呼。</think>你好，安娜。": "你好，安娜。",
    "用户在打招呼\n</think>\n\n你好，安娜。": "你好，安娜。",
    "They ask about the <think> tag.\n</think>\n\nHello, Ana.": HELLO,
    "first</think>second\n</think>\nHello, Ana.": HELLO,
    "hm[/THINK]Hello, Ana.": HELLO,
    "hm◁/think▷Hello, Ana.": HELLO,
    "hm<|end|><|start|>assistant<|channel|>final<|message|>Hello, Ana.": HELLO,
    # without an end, or nothing behind it
    "<think>They greet me. I could": "",
    "<think>\nhm\n</think>\n\n": "",
    "hm.\n</think>": "",
    "[THINK]hm": "",
    "<|channel|>analysis<|message|>hm": "",
    "<think>": "",
    # marks of the end that a server let through
    "Hello, Ana.<|im_end|>": HELLO,
    "Hello, Ana.</s>\n": HELLO,
    "Hello, Ana.<end_of_turn>\n<|endoftext|>": HELLO,
}
# Replies that talk about the marks, or hold nothing of them.
INTACT = (
    HELLO,
    "",
    " ",
    "\n  Hello, Ana.\n",
    "I <3 you, and 2 < 3 > 1.",
    "a <b>bold</b> word",
    "R1 writes <think> before and </think> after its reasoning.",
    "R1 thinks. <think> opens its reasoning.",
    "R1 writes <think>hm</think> before it answers.",
    "R1 closes its reasoning with a </think> tag.",
    "It ends with </think>.",
    "It ends with `</think>`. Then it answers.",
    'It is called "</think>" there.',
    "It is called (<think>) there.",
    "```\n<think>\nhm\n</think>\nHello\n```\nThat is what it looks like.",
    "```xml\n<think>hm</think>\n```",
    "Look:\n\n~~~\n</think>\n~~~\n",
    "In `a\n` there is <think> too.",
    "Here's my thought process: I like you.",
    "Here is my thought",
    "analysis of a dream",
    "analysisThe",
    "[thinks] Hello.",
    "[THINKER] Hello.",
    "<thinker>Hello</thinker>",
    "<answer>42</answer>",
    "Write </s> to strike nothing.",
    "A channel: <|channel|",
    "◁ left, right ▷",
    '{"a": "x.</think>Y", "b": "<think>"}',
    '{"a": 1,\n"b": "it is\n<think>x"}',
    "<",
    "</think",
    "<thi",
)
SAMPLES = REASONED | {text: text for text in INTACT if text.strip()}


def test_reasoning_is_taken_out_and_what_talks_about_it_stays() -> None:
    for text, visible in SAMPLES.items():
        assert without_reasoning(text) == visible, text


def test_every_cut_of_every_reply_gives_the_same_text() -> None:
    for text, visible in SAMPLES.items():
        cuts = [(text[:at], text[at:]) for at in range(len(text) + 1)] + [tuple(text)]
        for pieces, holds_back in itertools.product(cuts, (False, True)):
            assert join_visible(shown(pieces, holds_back=holds_back)) == visible, pieces


def test_random_mixtures_of_marks_give_the_same_text_however_they_are_cut() -> None:
    chance = random.Random(8)
    parts = [
        *(text[:9] for text in REASONED),
        "<think>",
        "</think>",
        "\n",
        " ",
        "`",
        "```\n",
        '"',
        "hm.",
        "Hm",
        "好",
        "{",
    ]
    parts += [
        "<|end|>",
        "<|channel|>final<|message|>",
        "</answer>",
        "<answer>",
        "<",
        ">",
        "think",
        "Here is my response:",
    ]
    for _ in range(600):
        text = "".join(chance.choices(parts, k=chance.randint(1, 12)))
        whole = without_reasoning(text)
        cut = [text[at : at + 2] for at in range(0, len(text), 2)]
        assert join_visible(shown(list(text))) == join_visible(shown(cut)) == whole, text


def test_text_is_let_through_as_it_comes() -> None:
    assert shown(["Hel", "lo, ", "<3 ", "An", "a."]) == ["Hel", "lo, ", "<3 ", "An", "a."]
    assert shown(["<think>h", "m</think>", "\n\nHel", "lo"]) == ["Hel", "lo"]


def test_what_was_shown_is_reverted_when_it_turns_out_to_be_reasoning() -> None:
    assert shown(["hm. ", "hm.\n</think>", "\n\nHello"]) == ["hm. ", "hm.\n", Withdrawal(), "Hello"]


def test_where_it_is_held_back_nothing_has_to_be_taken_back() -> None:
    assert shown(["hm. ", "hm.\n</think>", "\n\nHel", "lo"], holds_back=True) == ["Hel", "lo"]
    assert shown(["Hel", "lo"], holds_back=True) == ["Hel", "lo"]


def test_whether_it_thinks_is_known_at_every_moment() -> None:
    reasoning = ReasoningFilter()
    seen = []
    for piece in ("<think>", "hm", "</think>", "\n\nHello"):
        reasoning.feed(piece)
        seen.append(reasoning.is_thinking)
    assert seen == [False, True, True, False]


def test_a_long_reply_full_of_marks_takes_no_long_time() -> None:
    for text in ("</think> a " * 30_000, "<think>" * 40_000, "<" * 200_000, "<think " * 30_000, "`</think>` " * 30_000):
        without_reasoning(text)


def shown(pieces: object, *, holds_back: bool = False) -> list[str | Withdrawal]:
    reasoning = ReasoningFilter(holds_back=holds_back)
    items = [item for piece in pieces for item in reasoning.feed(piece)]  # type: ignore[attr-defined]
    return [*items, *reasoning.close()]

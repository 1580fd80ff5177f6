"""What is shown of a reply: no reasoning, and no more than its limit."""

from echovessel.llm.reasoning import ReasoningFilter, Withdrawal
from echovessel.llm.request import CutOff, Thinking, Thought
from echovessel.llm.visible import MARGIN, MAX_REASONING_CHARACTERS, Limit, Visible, VisibleReply, shorten_reply

STORY = "Once upon a time there was a vessel. It kept every word. " * 40


def test_a_reply_within_its_limit_is_shown_whole_however_it_comes() -> None:
    for size in (1, 7, 5_000):
        assert text_of(shown(pieces(STORY, size), limit=len(STORY))) == STORY
        assert CutOff() not in shown(pieces(STORY, size), limit=len(STORY))


def test_a_longer_one_ends_with_a_sentence_at_the_same_place_however_it_comes() -> None:
    for limit in (201, 250, 777, 1_000, len(STORY) - 1):
        whole = shown([STORY], limit=limit)
        text = text_of(whole)
        assert whole[-1] == CutOff()
        assert limit - MARGIN < len(text) <= limit
        assert STORY.startswith(text)
        assert text.endswith(".")
        for size in (1, 3, 50):
            assert shown(pieces(STORY, size), limit=limit)[-1] == CutOff()
            assert text_of(shown(pieces(STORY, size), limit=limit)) == text


def test_nothing_more_is_asked_for_once_the_limit_is_reached() -> None:
    reply = a_reply(limit=300)
    taken = 0
    for piece in pieces(STORY, 10):
        taken += len(piece)
        reply.take(piece)
        if reply.is_over:
            break
    assert 300 < taken <= 310


def test_it_is_cut_behind_a_sentence_a_word_or_a_whole_character() -> None:
    cases = {
        ("It rains. I stay in bed today.", 22): "It rains.",
        ("It costs 3.14 euros and more", 11): "It costs",
        ("one two three", 7): "one two",
        ("one two three", 9): "one two",
        ("我今天很累。我想睡觉了", 9): "我今天很累。",
        ("啊" * 20, 7): "啊" * 7,
        ("ha" * 20, 7): "hahahah",
        ("xxxxe\u0301xx", 5): "xxxx",
        ("xx👩\u200d👧xx", 4): "xx",
        ("xx👍🏽xx", 3): "xx",
    }
    for (text, length), kept in cases.items():
        assert shorten_reply(text, length) == kept, text


def test_a_model_that_has_said_nothing_so_far_is_told_to_think_once() -> None:
    told = shown([Thought("hm"), Thought("hm"), "Hello"])
    assert told == [Thinking(), "Hello"]
    assert shown(["<think>", "hm", "</think>", "Hello"]) == [Thinking(), "Hello"]
    assert shown(["Hello"]) == ["Hello"]


def test_reasoning_that_was_shown_is_reverted_and_counts_for_no_limit() -> None:
    thoughts = "I could greet them. " * 30
    told = shown([thoughts, "\n</think>\n\n", "Hello, Ana."], limit=700)
    assert Withdrawal() in told
    assert CutOff() not in told
    assert text_of(told) == "Hello, Ana."


def test_where_the_tag_may_have_been_opened_in_the_prompt_nothing_is_shown_before_it_is_known() -> None:
    assert shown(["hm ", "hm\n</think>", "Hello"], holds_back=True) == [Thinking(), "Hello"]
    assert text_of(shown(["Hel", "lo"], holds_back=True)) == "Hello"
    assert text_of(shown([Thought("hm"), "Hel", "lo"], holds_back=True)) == "Hello"
    cut = a_reply(holds_back=True)
    cut.take("I could say ")
    assert (cut.close(is_cut=True), cut.text, cut.has_reasoning, cut.began_in_prompt) == ([], "", True, True)


def test_a_model_that_thinks_for_ever_is_stopped() -> None:
    reply = a_reply()
    reply.take("<think>")
    for _ in range(MAX_REASONING_CHARACTERS // 1_000 + 1):
        reply.take("hm. " * 250)
    assert reply.is_over
    assert (reply.close(is_cut=True), reply.has_reasoning, reply.text) == ([], True, "")


def a_reply(*, limit: int = 20_000, holds_back: bool = False) -> VisibleReply:
    return VisibleReply(ReasoningFilter(holds_back=holds_back), Limit(limit))


def shown(items: list[str | Thought], *, limit: int = 20_000, holds_back: bool = False) -> list[Visible]:
    reply = a_reply(limit=limit, holds_back=holds_back)
    told: list[Visible] = []
    for item in items:
        told += reply.take(item)
        if reply.is_over:
            break
    return [*told, *reply.close(is_cut=False)]


def pieces(text: str, size: int) -> list[str | Thought]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def text_of(told: list[Visible]) -> str:
    text = ""
    for item in told:
        text = "" if isinstance(item, Withdrawal) else text + (item if isinstance(item, str) else "")
    return text

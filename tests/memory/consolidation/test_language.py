"""Whether memories are in the language of their session."""

from memory.consolidation.answer_schema import ExtractionAnswer
from memory.consolidation.language import in_another_script, is_in_another_language
from memory.consolidation.messages import PromptMessage
from tests.memory.sessions import NOW, event, extraction
from tests.table import each_row

CAT = "我养了只白猫，叫小黑。"


@each_row(
    ("text", "quotes", "otherwise"),
    [
        ("Ana has a white cat.", CAT, True),
        ("Ana has a white cat named 小黑.", CAT, True),
        ("Ana养了一只白猫，叫小黑。", CAT, False),
        ("Ana养了一只白猫。", "I have a white cat.", True),
        ("Ana has a cat named 小黑.", "My cat is called 小黑.", False),
        ("小黑 is Ana's cat.", "I have a cat.", False),
        ("Ana在Google上班。", "我在Google工作。", False),
        ("Ana works at Google.", "我 love Google, 你知道的", True),
        ("Ana has a cat.", "猫を飼っています。", True),
        ("Аня завела кошку.", "У меня кошка.", False),
        ("Ana got a cat.", "У меня кошка.", True),
        ("Ana a un chat.", "I have a cat.", False),
        ("", CAT, False),
        ("Ana has a cat.", "", False),
        ("Ana has a cat.", "🐈 2026!", False),
    ],
)
def test_scripts_tell_it_and_names_do_not_count(text: str, quotes: str, otherwise: bool) -> None:
    assert in_another_script(text, quotes) is otherwise


def answer(description: str, message_id: str, summary: str = "") -> ExtractionAnswer:
    item = event(description, {"message_id": message_id, "quote": "小黑"})
    return ExtractionAnswer.model_validate(extraction([item], session_summary=summary))


LINES = [PromptMessage(1, "user", CAT, NOW, 9), PromptMessage(2, "user", "My cat is called 小黑.", NOW, 9)]


def test_each_description_is_held_against_the_whole_messages_that_it_cites() -> None:
    assert is_in_another_language(answer("Ana's cat is called 小黑.", "m1"), LINES)
    assert not is_in_another_language(answer("Ana's cat is called 小黑.", "m2"), LINES)
    assert not is_in_another_language(answer("Ana's cat is called 小黑.", "m404"), LINES)


def test_the_summary_is_held_against_the_session() -> None:
    assert is_in_another_language(answer("Ana养了一只白猫。", "m1", "A talk about pets."), LINES[:1])
    assert not is_in_another_language(answer("Ana养了一只白猫。", "m1", "聊了猫。"), LINES[:1])

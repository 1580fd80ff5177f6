"""Compare the language of an answer with that of its session, as far as scripts show it. Pure.

Only scripts are compared: English for a Chinese session is found, English for a French one is not. Names in another
script do not count (小黑 in an English sentence, Ana in a Chinese one).
"""

import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import cache

from memory.consolidation.answer_schema import ExtractionAnswer
from memory.consolidation.messages import PromptMessage
from memory.consolidation.prompt import message_id

EAST_ASIAN = "CJK"
_KANA = ("HIRAGANA", "KATAKANA")


def is_in_another_language(answer: ExtractionAnswer, messages: Sequence[PromptMessage]) -> bool:
    """Whether a description is in another script than the messages it cites, or the summary than the session."""
    content_by_id = {message.id: message.content for message in messages}
    # Compare with whole messages: a quote may be no more than a name.
    descriptions = (
        in_another_script(
            item.description,
            " ".join(content_by_id.get(message_id(citation.message_id) or 0, "") for citation in item.evidence),
        )
        for item in answer.items
    )
    return any(descriptions) or in_another_script(answer.session_summary, " ".join(content_by_id.values()))


def in_another_script(description: str, text: str) -> bool:
    """Whether `description` is mostly in one script and `text` mostly in another, apart from a name or two.

    >>> in_another_script("Ana has a white cat.", "我养了只白猫，叫小黑。")
    True
    >>> in_another_script("Ana养了一只白猫。", "我养了只白猫，叫小黑。")
    False
    """
    of_written, of_said = _scripts(description), _scripts(text)
    if not of_written or not of_said:
        return False
    main, theirs = _main(of_written), _main(of_said)
    return main != theirs and not (of_written[theirs] and of_said[main])


def _main(scripts: Counter[str]) -> str:
    return scripts.most_common(1)[0][0]


def _scripts(text: str) -> Counter[str]:
    """The size of the text in each script: in words, or in characters for scripts without spaces."""
    letters_by_script: Counter[str] = Counter()
    before = ""
    for character in text:
        script = _script(character)
        if script and (script == EAST_ASIAN or script != before):
            letters_by_script[script] += 1
        before = script
    return letters_by_script


@cache
def _script(character: str) -> str:
    """The script of a letter; "" for any other character.

    >>> _script("é"), _script("猫"), _script("ね"), _script("7")
    ('LATIN', 'CJK', 'CJK', '')
    """
    if not character.isalpha():
        return ""
    first = unicodedata.name(character, "").partition(" ")[0]
    return EAST_ASIAN if first in _KANA else first

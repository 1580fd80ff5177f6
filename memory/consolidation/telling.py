"""Whether a line tells something of its speaker: a short talk that does is worth reading, a greeting is not.

The trivial gate of seed 000 would drop the very story that seed 001 tells ("我养了只白猫,叫小黑。…": one line, one
reply, few tokens). A plain statement in the first person is therefore read, however short the talk; greetings,
questions and small talk stay below. Made to miss nothing: to read a plain line in vain costs one small call.
"""

import re

_SENTENCES = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")
_ENGLISH_SELF = re.compile(r"\b(?:i|i'm|i've|i'd|i'll|my|mine|me|we|we're|we've|our)\b", re.IGNORECASE)
_CHINESE_SELF = re.compile(r"我|咱|俺")
_QUESTION = re.compile(r"[?？]\s*$|[吗呢么]\s*[。！!]?\s*$")
_SMALL_TALK = re.compile(
    r"^\W*(?:(?:(?:hi|hey|hello|ok|okay|yes|no|well|thanks|thank you)\b|你好|好的|好|嗯|行|谢谢)[\s,!.，！]*)*"
    r"(?:i'?m (?:fine|good|ok(?:ay)?|back|here|just)|i am (?:fine|good|ok(?:ay)?|back|here|just)|"
    r"i see|i know|i think so|i don'?t know|let me know|my pleasure|"
    r"我(?:很|挺|还)?好|我知道|我不知道|我在|我来|我回来|我先)",
    re.IGNORECASE,
)
ENOUGH_WORDS = 5
ENOUGH_CHARACTERS = 6


def tells_something(text: str) -> bool:
    """Whether any sentence states something in the first person, in more than a few words.

    >>> tells_something("我养了只白猫,叫小黑。")
    True
    >>> tells_something("hi, how are you?")
    False
    """
    return any(_is_statement(sentence) for sentence in _SENTENCES.findall(text.replace("’", "'")))


def _is_statement(sentence: str) -> bool:
    if _QUESTION.search(sentence) or _SMALL_TALK.match(sentence):
        return False
    han = len(re.findall(r"[\u4e00-\u9fff]", sentence))
    if han:
        return han >= ENOUGH_CHARACTERS and bool(_CHINESE_SELF.search(sentence))
    return len(sentence.split()) >= ENOUGH_WORDS and bool(_ENGLISH_SELF.search(sentence))

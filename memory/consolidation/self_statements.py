"""Whether a message states something about its speaker: a short session with such a message is worth reading.

The trivial gate of seed 000 would drop the very story that seed 001 tells ("我养了只白猫,叫小黑。…": one message, one
reply, few tokens). So a plain statement in the first person is read, however short the session; greetings, questions
and small talk are not. Small talk at the beginning of a sentence is removed and the rest is judged: "I'm good, but my
boss yelled at me" states something. Made to miss nothing: reading a plain message in vain costs one small call.
"""

from echovessel.language import lazy_re as re

_SENTENCES = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")
_ENGLISH_SELF = re.compile(r"\b(?:i|i'm|i've|i'd|i'll|my|mine|me|we|we're|we've|our)\b", re.IGNORECASE)
_CHINESE_SELF = re.compile(r"我|咱|俺")
_QUESTION = re.compile(r"[?？]\s*$|[吗呢么]\s*[。！!]?\s*$")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_WORD = re.compile(r"\w[\w']*")
_FOREIGN_WORD = re.compile(r"[A-Za-z0-9']+")
_GREETING = re.compile(
    r"^\W*(?:(?:(?:hi|hey|hello|there|oh|ok|okay|yes|no|well|so|and)\b|你好呀?|好的|好|嗯|行)[\s,!.，！]*)+",
    re.IGNORECASE,
)
_COURTESY = re.compile(
    r"\b(?:thanks|thank you)\b(?: (?:so|very) much| a lot)?(?: for (?:asking|that|this)(?: me)?\b)?"
    r"|\b(?:bye|good ?night)\b|(?:多谢|谢谢)[你您啦]?|拜拜|再见|晚安|哈{2,}",
    re.IGNORECASE,
)
_SMALL_TALK = re.compile(
    r"^\W*(?:(?:i'?m|i am) (?:fine|good|great|well|sorry|sure|ok(?:ay)?|back|here|just)\b|"
    r"(?:i see|i know|i think so|i don'?t know|let me know|my pleasure)\b|"
    r"我(?:很|挺|还)?好|我知道|我不知道|我在|我来|我回来|我先)",
    re.IGNORECASE,
)
# "I'm pregnant", "My cat is Bob", "I lost my job": few words, and yet worth reading.
_SHORT_ENGLISH = re.compile(
    r"^\W*(?:(?:i'm|i am|we're|we are)\s+\w+|(?:i|i've|my|we|we've|our)\s+\S+\s+\w+)", re.IGNORECASE
)
ENOUGH_WORDS = 5
ENOUGH_CHARACTERS = 4
ENOUGH_AFTER_SMALL_TALK = 3


def tells_something(text: str) -> bool:
    """Whether any sentence states something in the first person, in more than a few words.

    >>> tells_something("我养了只白猫,叫小黑。")
    True
    >>> tells_something("hi, how are you?")
    False
    """
    for sentence in _SENTENCES.findall(text.replace("’", "'")):
        if _QUESTION.search(sentence):
            continue
        plain = _COURTESY.sub(" ", _GREETING.sub("", sentence))
        if small := _SMALL_TALK.match(plain):
            states = _says_enough(plain, plain[small.end() :], ENOUGH_AFTER_SMALL_TALK)
        else:
            states = _SHORT_ENGLISH.match(plain) is not None or _says_enough(plain, plain, ENOUGH_WORDS)
        if states:
            return True
    return False


def _says_enough(sentence: str, rest: str, enough_words: int) -> bool:
    """Whether the sentence has a first person and `rest` is long enough, by the measure of either language. Words of
    another script between Chinese characters count as words."""
    characters = len(_HAN.findall(rest))
    if characters and _CHINESE_SELF.search(sentence):
        return characters + len(_FOREIGN_WORD.findall(rest)) >= ENOUGH_CHARACTERS
    return len(_WORD.findall(rest)) >= enough_words and bool(_ENGLISH_SELF.search(sentence))

"""The halves of a clock of twelve hours, as phones write them in many languages. Pure.

9:05 PM    9:05 p. m.    下午 9:05    오후 9:05    9:05 nachm.    de. 9:05
"""

import re

FORENOON = (
    "am", "a.m.", "a. m.", "a m", "vorm.", "vormittags", "morgens", "nachts", "matin", "mattina", "f.m.", "fm", "f. m.",
    "op", "ap.", "ip.", "dop.", "de.", "d.o.", "öö", "ö.ö.", "sa", "pg", "dopoledne", "förmiddag", "formiddag",
    "上午", "凌晨", "清晨", "早上", "早晨", "半夜", "午夜", "오전", "새벽", "아침", "午前",
    "朝", "π.μ.", "πμ", "ص", "صباحا", "ق.ظ", "ق.ظ.", "לפנה״צ", "לפנה\"צ", "पूर्वाह्न", "ก่อนเที่ยง",
    "дп", "дп.", "утра", "ночи", "прп", "ráno",
)  # fmt: skip
AFTERNOON = (
    "pm", "p.m.", "p. m.", "p m", "nachm.", "nachmittags", "abends", "soir", "après-midi", "sera", "pomeriggio", "e.m.",
    "em", "e. m.", "po", "ip", "odp.", "du.", "d.u.", "ös", "ö.s.", "ch", "ptg", "odpoledne", "eftermiddag",
    "ettermiddag", "下午", "中午", "晚上", "傍晚", "오후", "저녁", "밤", "午後", "夜", "μ.μ.", "μμ", "م", "مساء", "ب.ظ",
    "ب.ظ.", "אחה״צ", "אחה\"צ", "अपराह्न", "หลังเที่ยง", "пп", "пп.", "вечера", "дня", "tarde", "noche", "večer",
)  # fmt: skip
# Noon of Chinese clocks begins before twelve: 中午11:50. The small hours and twelve at night are before noon.
NOON = "中午"
_NOT_LETTERS = re.compile(r"[\s\u00a0\u202f.\u200e\u200f]+")


def _folded(word: str) -> str:
    return _NOT_LETTERS.sub("", word).casefold()


_AFTER = frozenset(map(_folded, AFTERNOON)) - {"ip"}
_BEFORE = frozenset(map(_folded, FORENOON)) - {"ip"}


def _pattern(words: tuple[str, ...]) -> str:
    ordered = sorted(set(words), key=len, reverse=True)
    return "|".join(re.escape(word).replace(r"\ ", r"[ \u00a0\u202f]") for word in ordered)


# After a time, a word of letters has to end there; before a time only words that are no names are looked for.
_BEHIND = _pattern((*FORENOON, *AFTERNOON))
_AHEAD = _pattern(tuple(word for word in (*FORENOON, *AFTERNOON) if not word[0].isascii())) + r"|[ap]\.?m\.?|d[eu]\."
HALF_BEHIND = rf"(?:(?:{_BEHIND})(?![^\W\d_]))"
HALF_AHEAD = rf"(?:{_AHEAD})"


def is_half_of_day(word: str) -> bool:
    """Whether `word` is only a half of the day, and so no name of a speaker.

    >>> is_half_of_day("PM"), is_half_of_day("a. m."), is_half_of_day("下午"), is_half_of_day("Pam")
    (True, True, True, False)
    """
    folded = _folded(word)
    return folded in _AFTER or folded in _BEFORE


def hour_of(hour: int, half: str) -> int:
    """The hour on a clock of 24, from one of twelve with its `half`; an hour beyond twelve is unchanged.

    >>> hour_of(9, "p. m."), hour_of(12, "AM"), hour_of(13, "PM"), hour_of(11, "中午")
    (21, 0, 13, 11)
    """
    folded = _folded(half)
    if hour > 12 or not folded or (folded == NOON and hour > 10):
        return hour
    if folded in _AFTER:
        # 밤 12, 夜 12, 晚上 12: midnight.
        return 0 if hour == 12 and folded in ("밤", "夜", "晚上", "半夜", "noche", "abends") else hour % 12 + 12
    return hour % 12 if folded in _BEFORE else hour

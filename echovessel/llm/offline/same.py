"""Whether two names mean the same, where the user says so: "Scott就是黄逸扬", "Tom and Tim are different people"."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from echovessel.llm.offline.asking import is_question
from echovessel.llm.offline.text import CJK, sentences

SURELY = r"\s*(?:(?:actually|really|just|also|simply|其实|真的|就|也|都)\s*)*"
# Not "Scott is Tom's brother", 「Scott是小雨的哥哥」.
END = r"(?!['’]s)(?=\s*(?:[^\w\s]|$|[啊呀哦嘛吧啦]|and\b|but\b|so\b))"
# Not "the same age", 「同一个班的」.
ONE = (
    r"(?:one and the same|the same(?: (?:person|one|man|woman|guy|girl|place|thing|cat|dog))?|one person)\b"
    r"(?!\s+(?!as\b)\w)"
)
ONE_ZH = r"(?:同一个?人|一个人|同一位|同一个(?!\w))"
# {N} stands for a name.
SAME = (
    rf"{{N}}\s*(?:is|was|=|＝){SURELY}(?:called\s+|named\s+)?{{N}}{END}",
    rf"{{N}}\s+is{SURELY}{ONE}\s+as\s+{{N}}{END}",
    rf"{{N}}\s+(?:and|&)\s+{{N}}\s+are{SURELY}{ONE}",
    rf"{{N}}{SURELY}是{SURELY}{{N}}{END}",
    rf"{{N}}\s*[和跟与]\s*{{N}}{SURELY}是{SURELY}{ONE_ZH}",
    rf"{{N}}\s*的?(?:中文名|英文名|本名|真名|大名|小名|全名)字?(?:就)?[是叫]\s*{{N}}{END}",
)
DIFFERENT = (
    rf"{{N}}\s+(?:is not|isn't|was not|wasn't){SURELY}(?:{ONE}\s+as\s+)?{{N}}{END}",
    rf"{{N}}\s+(?:and|&)\s+{{N}}\s+(?:are not|aren't){SURELY}{ONE}",
    rf"{{N}}\s+(?:and|&)\s+{{N}}\s+are{SURELY}(?:two|different)\b",
    rf"{{N}}{SURELY}并?不是{SURELY}{{N}}{END}",
    rf"{{N}}\s*[和跟与]\s*{{N}}{SURELY}(?:并?不是{SURELY}{ONE_ZH}|是{SURELY}(?:两个|不同))",
)
ANSWERED_SAME = re.compile(rf"\bthe same (?:person|one|guy|man|woman|place|thing|cat|dog)\b|是{ONE_ZH}", re.I)
ANSWERED_DIFFERENT = re.compile(
    r"\bnot the same\b|\b(?:different|two) (?:people|persons|ones|men|women|places|things|cats|dogs)\b|"
    r"不是(?:同一|一个人)|是两个人|不同的人",
    re.I,
)
YES = re.compile(r"^\W*(?:yes|yeah|yep|right|exactly|correct|对|是的?|嗯|没错)(?![a-z])", re.I)
NO = re.compile(r"^\W*(?:no|nope|不是|不对|不)(?![a-z])", re.I)
ASKED_WHETHER_SAME = re.compile(r"\bsame\b|\bone and the\b|同一|是不是", re.I)


def clarified(material: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What the user said of names that were given, as known ones or as pairs in question: first, second, same. The
    last word on a pair holds.

    >>> said = [{"role": "user", "content": "Scott就是黄逸扬。"}]
    >>> clarified({"lines": said, "pairs_in_question": [["Scott", "黄逸扬"]]})
    [{'first': 'Scott', 'second': '黄逸扬', 'same': True}]
    """
    pairs = [tuple(pair) for pair in material.get("pairs_in_question", ())]
    known = [entity["name"] for entity in material.get("known_entities", ())]
    names = list(dict.fromkeys([*(name for pair in pairs for name in pair), *known]))
    found: dict[frozenset[str], dict[str, Any]] = {}
    for line, before in _lines_of_user(material["lines"]):
        said = [*_stated(line, names), *_answered(line, before, pairs)]
        for first, second, same in said:
            found[frozenset((first, second))] = {"first": first, "second": second, "same": same}
    return list(found.values())


def _lines_of_user(lines: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """What the user said and had not said when last read, each with the persona's line before it."""
    before = ""
    for line in lines:
        if line["role"] == "user" and not line.get("read"):
            yield line["content"], before
        before = line["content"] if line["role"] == "persona" else ""


def _stated(line: str, names: Sequence[str]) -> Iterator[tuple[str, str, bool]]:
    """By name, in a sentence that does not ask."""
    if len(_named(line, names)) < 2:
        return
    name = f"({'|'.join(_pattern(name) for name in sorted(names, key=len, reverse=True))})"
    for start, end in sentences(line):
        sentence = line[start:end].replace("’", "'")
        if is_question(sentence):
            continue
        for same, patterns in ((False, DIFFERENT), (True, SAME)):
            match = next((m for pattern in patterns if (m := re.search(pattern.replace("{N}", name), sentence))), None)
            if match and match[1] != match[2]:
                yield match[1], match[2], same
                break


def _answered(line: str, before: str, pairs: Sequence[tuple[str, ...]]) -> Iterator[tuple[str, str, bool]]:
    """Without names, where it can only be about one pair."""
    asked = [pair for pair in pairs if len(_named(before, pair)) == 2]
    meant = asked if len(asked) == 1 else pairs if len(pairs) == 1 else []
    if not meant or is_question(line):
        return
    first, second = meant[0]
    answer = line.replace("’", "'")
    if ANSWERED_DIFFERENT.search(answer):
        yield first, second, False
    elif ANSWERED_SAME.search(answer):
        yield first, second, True
    elif asked and ASKED_WHETHER_SAME.search(before) and (YES.search(answer) or NO.search(answer)):
        yield first, second, not NO.search(answer)


def _named(text: str, names: Sequence[str]) -> list[str]:
    return [name for name in names if re.search(_pattern(name), text)]


def _pattern(name: str) -> str:
    return re.escape(name) if CJK.search(name) else rf"(?<![A-Za-z]){re.escape(name)}(?![A-Za-z])"

"""Names in a text ("a cat called Snowball", 「有只猫叫小黑」), and whether two names mean the same.

Only what a sentence plainly calls a name counts: 「我妹妹学的是化学」 names nobody.
"""

import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

from echovessel.language import lazy_re as re
from echovessel.language.sentences import CJK, TOPICS, holds, is_question, listed, sentences, words


@dataclass(frozen=True)
class NameMention:
    """A name and the kind of its bearer: person, place, org, pet or other."""

    name: str
    kind: str


WORDS = tomllib.loads(Path(__file__).with_name("names.toml").read_text(encoding="utf-8"))
BY_DEED = listed(WORDS["by_deed"])
KINDS: Mapping[str, Collection[str]] = {
    "pet": TOPICS["pet"],
    "place": words(WORDS["places"]),
    "org": words(WORDS["organizations"]),
    "other": words(WORDS["things"]),
    "person": (*TOPICS["family"], *TOPICS["people"], *BY_DEED),
}
NOT_NAMES, SEVERAL, NO_RELATION = (words(WORDS[name]) for name in ("not_names", "several", "no_relation"))
BEARERS = [word for kind in ("family", "people", "pet") for word in TOPICS[kind]]
BEARERS_EN = "|".join(word for word in (*BEARERS, *BY_DEED) if not CJK.search(word))
BEARERS_ZH = "|".join(sorted((word for word in (*BEARERS, *BY_DEED) if CJK.search(word)), key=len, reverse=True))
_parts = {"en": BEARERS_EN, "zh": BEARERS_ZH, "not_in_name": WORDS["after_name"].replace("明", "")} | WORDS
PATTERNS: dict[str, str] = {}
for _name, _template in WORDS["patterns"].items():
    PATTERNS[_name] = _parts[_name] = re.sub("<([A-Z_]+)>", lambda part: _parts[part[1].lower()], _template)
SIGNS = {name: re.compile(pattern) for name, pattern in PATTERNS.items()}
CALLED = re.compile(PATTERNS["called"].replace("{NAME}", f"{PATTERNS['capitals']}|{PATTERNS['han_name']}"))
CALLED_SMALL = re.compile(PATTERNS["called"].replace("{NAME}", PATTERNS["small"]) + r"(?=\s*(?:[.,;!?)]|$)|\s+and\b)")
NAMED_KIN = tuple(
    re.compile(PATTERNS[pattern].replace("{NAME}", name))
    for pattern in ("kin_then_name", "name_then_kin")
    for name in (rf"(?:{PATTERNS['title']})?[A-Z][\w-]*\w(?: [A-Z][a-z]+)?", PATTERNS["small"])
)
RELATIONS_ZH = tuple(PATTERNS[f"{name}_zh"] for name in ("kin_then_name", "name_then_kin", "kin_then_pronoun"))
MAX_NAME_ZH, MAX_SECOND_ZH = 4, 3
POSSESSORS = "my", "our", "his", "her", "their"


def names_in(text: str, before: str = "") -> list[NameMention]:
    """The names in `text`, sorted, without the speaker's own name. `before` is the text before it, for a name whose
    bearer is mentioned there.

    >>> names_in("我养了只白猫，叫小黑。")
    [NameMention(name='小黑', kind='pet')]
    """
    places_by_name = {name: at for at, name in sorted([*_english(text), *_chinese(text)], reverse=True)}
    # Lee is the last part of Mr. Lee, and not another person.
    whole = [
        (at, name)
        for name, at in places_by_name.items()
        if not any(other.endswith(f" {name}") for other in places_by_name)
    ]
    return [NameMention(name, _kind(f"{before}\n{text[:at]}", text, name)) for at, name in sorted(whole)]


def _english(text: str) -> list[tuple[int, str]]:
    is_small = not SIGNS["has_capitals"].search(text)
    rows = [*SIGNS["some_two"].finditer(text)]
    alone = [*SIGNS["companion"].finditer(text), *SIGNS["alone"].finditer(text)]
    for match in (CALLED_SMALL if is_small else CALLED).finditer(text):
        before = text[: match.start()]
        if SIGNS["wed"].search(text[: match.start(1)]) or not (
            SIGNS["own_name"].search(before) or SIGNS["calling"].search(before)
        ):
            rows.append(match)
    matches = [(match.start(at), match[at]) for match in alone for at in range(1, len(match.groups()) + 1) if match[at]]
    matches += [(match.start(1), match[1]) for match in SIGNS["titled"].finditer(text)]
    matches += [(match.start("name"), match["name"]) for match in _named_kin(text)]
    matches += [place for row in rows for place in _row_en(text, row)]
    return [(at, name) for at, matched_name in matches if (name := _name_en(matched_name))]


def _row_en(text: str, first: re.Match[str]) -> list[tuple[int, str]]:
    """The first name of a row, and those joined to it by commas and "and"."""
    row: list[tuple[int, str]] = []
    another: re.Match[str] | None = first
    while another and (another is first or _name_en(another["name"])):
        row.append((another.start("name"), another["name"]))
        another = SIGNS["and_another"].match(text, another.end("name"))
    return row


def _named_kin(text: str) -> Iterator[re.Match[str]]:
    """Where the text names a relative, by `SIGNS["kin_then_name"]` and `SIGNS["name_then_kin"]`."""
    is_small = not SIGNS["has_capitals"].search(text)
    for pattern in NAMED_KIN[is_small::2]:
        yield from (match for match in pattern.finditer(text) if _is_bearer(match, is_small=is_small))


def _is_bearer(match: re.Match[str], *, is_small: bool) -> bool:
    """Whether the name is that of the relative: "a cook, Tom," and "my cook Tom", but not "a cook Tom hired"."""
    whose, link, text = (match["whose"] or "").casefold(), match["link"], match.string
    ends = SIGNS["ends"].match(text, match.end())
    if match.start("name") == match.start():  # the name comes first
        return (bool(whose) and (link != ", " or bool(ends)) and not is_small) or (link.endswith("(") and bool(ends))
    if "called" in link or "named" in link or "name" in link:
        return True
    if is_small:
        is_one = match["kin"].casefold() not in SEVERAL and not re.search(r"[^s]s$", match["name"])
        is_subject = SIGNS["small_subject"].match(text, match.end()) or SIGNS["titled_small"].match(match["name"])
        subject = whose in (*POSSESSORS, "") and is_one and is_subject
        return bool(subject if link.isspace() else link.strip() in {",", "(", "–"} and ends)
    if whose in ("a", "an", "one"):
        return link.strip() in {",", "(", "–", "-"} and bool(ends)
    return whose != "the" or not link.isspace()


def _name_en(name: str) -> str:
    """`name` without words that are no names; "" if nothing remains."""
    if CJK.search(name):
        return _name_zh(name)
    parts = name.replace("’", "'").split()
    name_part = " ".join(takewhile(lambda part: part.casefold().removesuffix("'s") not in NOT_NAMES, parts))
    return "" if re.fullmatch(PATTERNS["title"], f"{name_part} ") else name_part.removesuffix("'s")


def capitalize_name(name: str) -> str:
    """A name of a text without capitals as it is usually written.

    >>> capitalize_name("dr anand"), capitalize_name("Otto")
    ('Dr Anand', 'Otto')
    """
    return name.title() if name.islower() else name


def _chinese(text: str) -> list[tuple[int, str]]:
    matches = [(match.start(1), match[1]) for match in SIGNS["my_someone_zh"].finditer(text)]
    by_shape = [
        match
        for pattern in (
            SIGNS["named_zh"],
            SIGNS["is_zh"],
            SIGNS["nickname_zh"],
            SIGNS["is_mine_zh"],
            SIGNS["short_kin_zh"],
            SIGNS["kept_zh"],
            SIGNS["familiar_zh"],
        )
        for match in pattern.finditer(text)
    ]
    matches += [
        (match.start("name"), match["name"]) for match in by_shape if not SIGNS["no_shape"].search(match["name"])
    ]
    for match in SIGNS["called_zh"].finditer(text):
        before = text[: match.start()]
        is_order = match["verb"] == "叫" and not SIGNS["before_name"].search(before)
        if not is_order and not SIGNS["own_name"].search(before):
            matches += _row_zh(text, match.start("name"), match["name"])
    for match in SIGNS["some_two_zh"].finditer(text):
        matches += _row_zh(text, match.start(1), match[1])
    return matches


def _row_zh(text: str, at: int, run: str) -> list[tuple[int, str]]:
    """The name at the beginning of `run`, and the names joined to it by 和."""
    name = _name_zh(run)
    if not name:
        return []
    another = SIGNS["and_another_zh"].match(text, at + len(name))
    second = _name_zh(another[1]) if another else ""
    if another is None or not second or len(second) > MAX_SECOND_ZH:
        return [(at, name)]
    return [(at, name), *_row_zh(text, another.start(1), another[1])]


def _name_zh(run: str) -> str:
    """The name at the beginning of a run of characters; "" if its end is not clear."""
    if not CJK.search(run):
        return run
    name = "" if SIGNS["no_name"].search(run) else SIGNS["name_ends"].split(run)[0]
    return name if len(name) <= MAX_NAME_ZH else name[:2] if name[0] in "小阿老" else ""


def _kind(before: str, text: str, name: str) -> str:
    """The kind of the bearer: by the last telling word before the name, otherwise by a pronoun there, otherwise by any
    telling word in the text."""
    kins = [match["kin"].casefold() for match in _named_kin(text) if _name_en(match["name"]) == name]
    kins += [
        row["kin"] for row in SIGNS["some_two"].finditer(text) if name in {other for _at, other in _row_en(text, row)}
    ]
    if any(match["name"] == name for match in SIGNS["kept_zh"].finditer(text)) or set(TOPICS["pet"]).intersection(kins):
        return "pet"
    if kins or re.search(f"{PATTERNS['who_helps']}叫$", before):
        return "person"
    if (
        SIGNS["titled"].match(name)
        or SIGNS["wed"].search(before)
        or any(match["name"] == name for match in SIGNS["short_kin_zh"].finditer(text))
    ):
        return "person"
    # 「店员」 is a person, although 「店」 is a place.
    kinds = [(at, len(word), kind) for kind, words in KINDS.items() for at, word in _places(before, words)]
    if kinds:
        return max(kinds)[2]
    by_shape = (*SIGNS["companion"].finditer(text), *SIGNS["familiar_zh"].finditer(text))
    if SIGNS["personal"].search(before) or any(name in match.groups() for match in by_shape):
        return "person"
    return next((kind for kind, words in KINDS.items() if holds(text, words)), "other")


def relation_of(name: str, text: str, before: str = "") -> str:
    """The bearer's relation to the speaker, in the speaker's own words; "" if the text does not say it. `before` is the
    text before it.

    >>> relation_of("Ruth", "my little sister Ruth came"), relation_of("林哲", "我弟林哲在杭州")
    ('sister', '弟弟')
    >>> relation_of("Tom", "my sister came with her husband Tom"), relation_of("苏晨", "苏晚的妹妹苏晨")
    ("sister's husband", '苏晚的妹妹')
    """
    if name.casefold() not in text.casefold():
        return ""
    rows = ((_row_en(text, match), match["kin"]) for match in SIGNS["some_two"].finditer(text))
    if kins := next((kins for row, kins in rows if name in {other for _at, other in row}), ""):
        kin = {"children": "child"}.get(kins, kins.removesuffix("s"))
        return "" if kin in NO_RELATION else kin
    for match in _named_kin(text):
        if _name_en(match["name"]).casefold() == name.casefold():
            whose, kin = (match["whose"] or "").casefold(), match["kin"].casefold()
            if whose.endswith("'s"):
                return f"{re.sub('^(?:my|our) ', '', match['whose'], flags=re.I)} {kin}"
            if whose in POSSESSORS[2:]:
                whom = _last_relative(f"{before}\n{text[: match.start('whose')]}")
                return whom and f"{whom}'s {kin}"
            # "A man called Tom" and "Tom is a nurse" tell no relation, "a friend called Tom" does.
            is_first = match.start("name") == match.start()
            if whose in (*POSSESSORS, "", "the") or kin in BEARERS or not (is_first or kin in NO_RELATION):
                return kin
            return ""
    # The patterns below are compiled for each name, which takes 6 ms: only where the text has their words.
    together = f"{before}\n{text}"
    if SIGNS["pronoun_then_name"].search(together) and (
        own := re.search(PATTERNS["own_kin_then_pronoun"].replace("{NAME}", re.escape(name)), together, re.DOTALL)
    ):
        return "" if own["kin"].casefold() in NO_RELATION else own["kin"].casefold()
    for pattern in RELATIONS_ZH if SIGNS["kin_zh"].search(text) else ():
        relation = re.search(pattern.replace("{NAME}", re.escape(name)), text)
        # 「我妹要结婚了，对象叫阿杰」: the preceding text says whose partner he is.
        if relation and (
            relation["kin"] != "对象" or not re.search(rf"我[妈爸弟妹哥姐]|{BEARERS_ZH}", text[: relation.start()])
        ):
            whose = relation["whose"] or ""
            if whose[:1] in {"他", "她"}:
                whose = _last_relative(f"{before}\n{text[: relation.start()]}")
                return whose and f"{whose}的{relation['kin']}"
            if relation["kin"] in NO_RELATION:
                return ""
            kin = relation["kin"].casefold().removeprefix("我").replace("老妈", "妈妈").replace("老爸", "爸爸")
            whose = re.sub("^我([爸妈弟妹哥姐])(?=的)", r"\1\1", whose).removeprefix("我")
            return whose + (kin + kin if kin in "爸妈弟妹哥姐" else kin)
    return ""


def _last_relative(text: str) -> str:
    """The last word for a relative of the speaker in `text`."""
    people = set(TOPICS["family"] + TOPICS["people"]) - SEVERAL
    return max(_places(text, people), default=(0, ""))[1].removeprefix("我")


def _places(text: str, words: Collection[str]) -> Iterator[tuple[int, str]]:
    """Where any of `words` begins in `text`, as a whole word, and which."""
    lower = text.casefold()
    for word in holds(text, words):
        yield from (
            (match.start(), word)
            for match in re.finditer(re.escape(word) if CJK.search(word) else rf"(?<![a-z]){word}(?![a-z])", lower)
        )


# --- whether two names mean the same ----------------------------------------------------------------------------------
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


def find_clarifications(material: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The user's statements about names that are known entities or pairs in question: first, second, same. The last
    statement on a pair holds.

    >>> said = [{"role": "user", "content": "Scott就是黄逸扬。"}]
    >>> find_clarifications({"lines": said, "pairs_in_question": [["Scott", "黄逸扬"]]})
    [{'first': 'Scott', 'second': '黄逸扬', 'same': True}]
    """
    pairs = [tuple(pair) for pair in material.get("pairs_in_question", ())]
    known_names = [entity["name"] for entity in material.get("known_entities", ())]
    names = list(dict.fromkeys([*(name for pair in pairs for name in pair), *known_names]))
    clarifications: dict[frozenset[str], dict[str, Any]] = {}
    for text, before in _lines_of_user(material["lines"]):
        pairs_said = [*_stated(text, names), *_answered(text, before, pairs)]
        for first, second, same in pairs_said:
            clarifications[frozenset((first, second))] = {"first": first, "second": second, "same": same}
    return list(clarifications.values())


def _lines_of_user(messages: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """The user's messages that were not read before, each with the persona's message before it."""
    before = ""
    for message in messages:
        if message["role"] == "user" and not message.get("read"):
            yield message["content"], before
        before = message["content"] if message["role"] == "persona" else ""


def _stated(text: str, names: Sequence[str]) -> Iterator[tuple[str, str, bool]]:
    """By name, in a sentence that does not ask."""
    if len(_named(text, names)) < 2:
        return
    name = f"({'|'.join(_pattern(name) for name in sorted(names, key=len, reverse=True))})"
    for start, end in sentences(text):
        sentence = text[start:end].replace("’", "'")
        if is_question(sentence):
            continue
        for same, patterns in ((False, DIFFERENT), (True, SAME)):
            match = next((m for pattern in patterns if (m := re.search(pattern.replace("{N}", name), sentence))), None)
            if match and match[1] != match[2]:
                yield match[1], match[2], same
                break


def _answered(text: str, before: str, pairs: Sequence[tuple[str, ...]]) -> Iterator[tuple[str, str, bool]]:
    """Without names, if it can only be about one pair."""
    pairs_asked = [pair for pair in pairs if len(_named(before, pair)) == 2]
    pairs_meant = pairs_asked if len(pairs_asked) == 1 else pairs if len(pairs) == 1 else []
    if not pairs_meant or is_question(text):
        return
    first, second = pairs_meant[0]
    answer = text.replace("’", "'")
    if ANSWERED_DIFFERENT.search(answer):
        yield first, second, False
    elif ANSWERED_SAME.search(answer):
        yield first, second, True
    elif pairs_asked and ASKED_WHETHER_SAME.search(before) and (YES.search(answer) or NO.search(answer)):
        yield first, second, not NO.search(answer)


def _named(text: str, names: Sequence[str]) -> list[str]:
    return [name for name in names if re.search(_pattern(name), text)]


def _pattern(name: str) -> str:
    return re.escape(name) if CJK.search(name) else rf"(?<![A-Za-z]){re.escape(name)}(?![A-Za-z])"

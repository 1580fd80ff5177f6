"""Who and what is named: "a cat called Snowball", "my sister Anna", 「有只猫叫小黑」."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import takewhile

from echovessel.llm.offline.text import CJK, holds, words
from echovessel.llm.offline.topics import TOPICS


@dataclass(frozen=True)
class Named:
    """A name and what bears it: person, place, org, pet or other."""

    name: str
    kind: str


KINDS: dict[str, tuple[str, ...]] = {
    "pet": TOPICS["pet"],
    "place": (
        "城市", "小镇", "村", "店", "餐厅", "咖啡馆", "公园", "酒吧",
        "city", "town", "village", "cafe", "café", "restaurant", "park", "bar", "shop", "island",
    ),
    "org": (
        "公司", "乐队", "学校", "大学", "球队",
        "company", "band", "school", "university", "team", "club", "startup",
    ),
    "other": (
        "书", "小说", "电影", "游戏", "歌", "剧", "车", "植物",
        "book", "novel", "movie", "film", "game", "song", "show", "series", "car", "plant", "boat", "project",
    ),
    "person": (
        *TOPICS["family"], *TOPICS["people"], "guy", "girl", "woman", "man", "boy",
    ),
}  # fmt: skip

TITLE = r"(?:Mr|Mrs|Ms|Miss|Dr|Prof)\.?\s+"
CAPITALS = rf"(?:{TITLE})?(?:[A-Z][\w'-]*\w(?:\s+[A-Z][\w-]+)?|[A-Z]\b)"
HAN_NAME = r"[\u3400-\u9fff]{1,4}"
CALLED = re.compile(rf"\b(?:called|named|name is|name's|names is|names are)\s+[\"“']?({CAPITALS}|{HAN_NAME})")
CALLING = re.compile(r"\b(?:I|we|he|she|they|you|who|have|has|had|just|never|always)\s+$", re.I)  # on the phone
TITLED = re.compile(rf"\b({TITLE}[A-Z][\w-]*\w)")
# The second of a pair: "called Tom and Jerry", "Leo, Mia and Sam".
AND_ANOTHER = re.compile(rf"\s*(?:,\s*(?:and\s+)?|and\s+|&\s*)[\"“']?({CAPITALS}|{HAN_NAME})(?=[\s\"”'.,;!?]|$)")
BEARERS = "|".join(word for kind in ("family", "people", "pet") for word in TOPICS[kind] if word.isascii())
PLURALS = "|".join(f"{word}s" for kind in ("family", "people", "pet") for word in TOPICS[kind] if word.isascii())
MY_SOMEONE = re.compile(rf"\b[Mm]y\s+(?:[a-z-]+\s+){{0,2}}?(?:{BEARERS}),?\s+((?:{TITLE})?[A-Z][\w-]*\w)")
SOME_TWO = re.compile(
    rf"\b(?:two|three|four|[Mm]y|[Oo]ur|both|[2-5])\s+(?:[a-z-]+\s+){{0,2}}?(?:children|kids|"
    rf"{PLURALS})[,:]?\s+({CAPITALS})"
    rf"(?=\s*(?:,|and|&)\s*(?:and\s+)?[A-Z])"
)
BEARERS_ZH = "|".join(word for kind in ("family", "people", "pet") for word in TOPICS[kind] if CJK.search(word))
MY_SOMEONE_ZH = re.compile(rf"我的?(?:{BEARERS_ZH})([A-Z][A-Za-z-]+)")
SOME_TWO_ZH = re.compile(
    rf"[两二三四俩2-5][个只条位]?(?:{BEARERS_ZH})[，,：:]?\s*(?:分别)?(?:是)?([\u3400-\u9fff]{{1,3}}|"
    rf"[A-Z][A-Za-z-]+)(?=[和跟与、])"
)
CALLED_ZH = re.compile(
    r"(?P<verb>名叫|名字叫|名字是|取名叫|取名|起名叫|起名|叫做|叫)\s*[“「『\"']?(?P<name>[A-Z][A-Za-z-]+|"
    r"[\u3400-\u9fff]+)"
)
AND_ANOTHER_ZH = re.compile(r"[”」』\"']?\s*[和跟与、]\s*[“「『\"']?([A-Z][A-Za-z-]+|[\u3400-\u9fff]+)")
# 叫 alone also means to call or to order: it names only after a bearer, a pronoun or a pause.
ADVERBS_ZH = "其实|就|都|也|本来|原来|大名|小名|现在|分别|应该|确实"
BEFORE_NAME = re.compile(
    rf"(?:^|[，,、;；。\s它他她们位只个条匹字]|{BEARERS_ZH}|店|公司|乐队|书|电影|游戏)(?:{ADVERBS_ZH}|是)*$"
)
NO_NAME = re.compile(
    "^(?:叫|名|分别|他|她|它|我|你|您|人|外|车|醒|上|下|来(?!福)|去|起|做|什么|啥|一|另|那|这|两|大家|别|谁|哪|"
    "得|声|个|停|苦|好|吃|朋友|同事|爸|妈)"
)
NAME_ENDS = re.compile(
    "[的了在是和也很今昨都就有被把给让跟与又还要会能吗呢吧啊呀因得他她它我你您不没，,、]|特别|非常|现在|已经|"
    "住在|喜欢|"
    "这个|那个|每天|真的|超级|总是|最近|经常|刚刚|而且|但是|从小|才"
)
OWN_NAME = re.compile(r"(?:\bmy|\bI'm|\bI am|\bMy)\s*$|我(?:的)?$")
LONGEST_NAME_ZH = 4
LONGEST_SECOND_ZH = 3
PERSONAL = re.compile(r"\b(?:he|she|his|her)\b|他|她", re.I)
NOT_NAMES = words(
    """monday tuesday wednesday thursday friday saturday sunday january february march april june july august
    september october november december english french german spanish italian chinese japanese korean russian
    portuguese arabic hindi dutch just and but so then because when while if he she it they we you his her its their
    my our your this that these those today yesterday tomorrow christmas easter the also never always
    sometimes maybe actually yes no not god who what where why how i'm i've i'll i'd i"""
)


def names_in(text: str, before: str = "") -> list[Named]:
    """The named ones in `text`, in the order of their names; the speaker's own name is none. `before` is
    what was said just before it, for a name that is borne by someone there.

    >>> names_in("我养了只白猫，叫小黑。")
    [Named(name='小黑', kind='pet')]
    """
    found = [*_english(text), *_chinese(text)]
    unique = {name: at for at, name in sorted(found, reverse=True)}
    whole = sorted(((at, name) for name, at in unique.items() if not _inside(name, unique)))
    return [Named(name, _kind(f"{before}\n{text[:at]}", text, name)) for at, name in whole]


def _inside(name: str, names: Iterable[str]) -> bool:
    """Whether `name` is the last part of another, as Lee of Mr. Lee."""
    return any(other != name and other.endswith(f" {name}") for other in names)


def _english(text: str) -> list[tuple[int, str]]:
    called = [
        match
        for match in CALLED.finditer(text)
        if not OWN_NAME.search(text[: match.start()]) and not CALLING.search(text[: match.start()])
    ]
    alone = [*MY_SOMEONE.finditer(text), *TITLED.finditer(text)]
    several = [another for match in (*called, *SOME_TWO.finditer(text)) for another in _with_others(text, match)]
    found = [(match.start(1), _name_en(match[1])) for match in (*several, *alone)]
    return [(at, name) for at, name in found if name]


def _with_others(text: str, match: re.Match[str]) -> list[re.Match[str]]:
    """`match` and what is joined to its name with "and"."""
    found = [match]
    while another := AND_ANOTHER.match(text, found[-1].end(1)):
        if not _name_en(another[1]):
            break
        found.append(another)
    return found


def _name_en(name: str) -> str:
    """`name` without words that are none; "" if nothing remains."""
    if CJK.search(name):
        return _name_zh(name)
    parts = name.replace("’", "'").split()
    kept = list(takewhile(lambda part: part.casefold().removesuffix("'s") not in NOT_NAMES, parts))
    if re.fullmatch(TITLE, f"{' '.join(kept)} "):
        return ""
    return " ".join(kept).removesuffix("'s")


def _chinese(text: str) -> list[tuple[int, str]]:
    found = [(match.start(1), match[1]) for match in MY_SOMEONE_ZH.finditer(text)]
    for match in CALLED_ZH.finditer(text):
        before = text[: match.start()]
        plain_call = match["verb"] == "叫" and not BEFORE_NAME.search(before)
        if not plain_call and not OWN_NAME.search(before):
            found += _row_zh(text, match.start("name"), match["name"])
    for match in SOME_TWO_ZH.finditer(text):
        found += _row_zh(text, match.start(1), match[1])
    return found


def _row_zh(text: str, at: int, run: str) -> list[tuple[int, str]]:
    """The name at the beginning of `run`, and those that 和 joins to it."""
    name = _name_zh(run)
    if not name:
        return []
    another = AND_ANOTHER_ZH.match(text, at + len(name))
    second = _name_zh(another[1]) if another else ""
    if another is None or not second or len(second) > LONGEST_SECOND_ZH:
        return [(at, name)]
    return [(at, name), *_row_zh(text, another.start(1), another[1])]


def _name_zh(run: str) -> str:
    """The name at the beginning of a run of characters, or "" if where it ends cannot be told."""
    if not CJK.search(run):
        return run
    if NO_NAME.search(run):
        return ""
    name = NAME_ENDS.split(run)[0]
    if len(name) <= LONGEST_NAME_ZH:
        return name
    return name[:2] if name[0] in "小阿老" else ""


def _kind(before: str, text: str, name: str) -> str:
    """What bears the name: by the last telling word before it, else by a pronoun there, else by any in the text."""
    if TITLED.match(name):
        return "person"
    place, kind = max((_last_place(before, bearers), kind) for kind, bearers in KINDS.items())
    if place >= 0:
        return kind
    if PERSONAL.search(before):
        return "person"
    return next((kind for kind, bearers in KINDS.items() if holds(text, bearers)), "other")


def _last_place(text: str, words: tuple[str, ...]) -> int:
    """The last place in `text` that one of `words` begins at, as a whole word; -1 for none."""
    lower = text.casefold()
    return max(
        (
            match.start()
            for word in holds(text, words)
            for match in re.finditer(re.escape(word) if CJK.search(word) else rf"(?<![a-z]){word}(?![a-z])", lower)
        ),
        default=-1,
    )

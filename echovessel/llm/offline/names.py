"""Who and what is named: "a cat called Snowball", "my sister Anna", 「有只猫叫小黑」."""

import re
from dataclasses import dataclass

from echovessel.llm.offline.text import CJK, holds
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
        *TOPICS["family"], *TOPICS["people"], "他", "她", "人",
        "he", "she", "guy", "girl", "woman", "man", "boy",
    ),
}  # fmt: skip

CAPITALS = r"[A-Z][\w'-]*\w(?:\s+[A-Z][\w-]+)?|[A-Z]\b"
CALLED = re.compile(rf"\b(?:called|named|name is|name's|names is)\s+[\"“']?({CAPITALS}|[\u3400-\u9fff]{{1,4}})")
CALLING = re.compile(r"\b(?:I|we|he|she|they|you|who|have|has|had|just|never|always)\s+$", re.I)  # on the phone
BEARERS = "|".join(word for kind in ("family", "people", "pet") for word in TOPICS[kind] if word.isascii())
MY_SOMEONE = re.compile(rf"\b[Mm]y\s+(?:[a-z-]+\s+){{0,2}}?(?:{BEARERS}),?\s+([A-Z][\w-]*\w)")
BEARERS_ZH = "|".join(word for kind in ("family", "people", "pet") for word in TOPICS[kind] if CJK.search(word))
MY_SOMEONE_ZH = re.compile(rf"我的?(?:{BEARERS_ZH})([A-Z][A-Za-z-]+)")
CALLED_ZH = re.compile(
    r"(?P<verb>名叫|名字叫|名字是|取名叫|取名|起名叫|起名|叫做|叫)\s*[“「『\"']?(?P<name>[A-Z][A-Za-z-]+|[\u3400-\u9fff]+)"
)
# 叫 alone also means to call or to order: it names only after a bearer, a pronoun or a pause.
BEFORE_NAME = re.compile(rf"(?:^|[，,、;；。\s它他她位只个条匹]|{BEARERS_ZH}|店|公司|乐队|书|电影|游戏)$")
NO_NAME = re.compile(r"^(?:他|她|它|我|你|您|人|外|车|醒|上|下|来|去|起|做|什么|啥|一)")
NAME_ENDS = re.compile(r"[的了在是和也很今昨都就有被把给让跟与又还要会能吗呢吧啊呀因，,]")
OWN_NAME = re.compile(r"(?:\bmy|\bI'm|\bI am|\bMy)\s*$|我(?:的)?$")
LONGEST_NAME_ZH = 4


def names_in(text: str) -> list[Named]:
    """The named ones in `text`, in the order of their names; the speaker's own name is none.

    >>> names_in("我养了只白猫，叫小黑。")
    [Named(name='小黑', kind='pet')]
    """
    found = [*_english(text), *_chinese(text)]
    unique = {name: at for at, name in reversed(found)}
    return [Named(name, _kind(text[:at], text)) for name, at in sorted(unique.items(), key=lambda item: item[1])]


def _english(text: str) -> list[tuple[int, str]]:
    called = [
        match
        for match in CALLED.finditer(text)
        if not OWN_NAME.search(text[: match.start()]) and not CALLING.search(text[: match.start()])
    ]
    return [(match.start(1), match[1]) for match in (*called, *MY_SOMEONE.finditer(text))]


def _chinese(text: str) -> list[tuple[int, str]]:
    found = [(match.start(1), match[1]) for match in MY_SOMEONE_ZH.finditer(text)]
    for match in CALLED_ZH.finditer(text):
        before, name = text[: match.start()], _name_zh(match["name"])
        plain_call = match["verb"] == "叫" and not BEFORE_NAME.search(before)
        if name and not plain_call and not OWN_NAME.search(before):
            found.append((match.start("name"), name))
    return found


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


def _kind(before: str, text: str) -> str:
    """What bears the name: by the last telling word before it, else by any in the text."""
    nearest = [(_last_place(before, words), kind) for kind, words in KINDS.items()]
    place, kind = max(nearest)
    if place >= 0:
        return kind
    return next((kind for kind, words in KINDS.items() if holds(text, words)), "other")


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

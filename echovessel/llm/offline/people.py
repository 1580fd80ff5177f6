"""People whom a session names without a word for who they are: "Jess is a florist", 「王莉说她不来」.

`names` reads names beside such a word ("my sister Ruth"). Here people are told by what only people do: they say, cry,
marry, and have sons. A place or a brand may say something, too, so a name that is also a place ("in Leeds") is left
out, and a word without a capital must be used as a name at least twice.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import chain

from echovessel.language import lazy_re as re
from echovessel.language.sentences import CJK, words
from echovessel.llm.offline.names import BEARERS, BY_DEED, NOT_NAMES, SIGNS, WORDS

_ROLE = (
    r"an? (?:\w+ )?(?:nurse|teacher|vet|cook|chef|nun|monk|priest|judge|student|plumber|driver|builder|farmer|baker|"
    r"dealer|lawyer|engineer|designer|officer|carer|painter|writer|singer|dancer|manager|waiter|doctor|tutor|actor|"
    r"\w{3,}(?:ist|ician))"
)
# What only people do; and what a company or a town may be said to do as well.
_DEED = (
    r"(?:reckons|laughed|laughs|cried|cries|rang|phoned|texted|swore|apologi[sz]ed|hugged|smiled|shouted|snores|"
    r"married|proposed|graduated|was born|is (?:pregnant|engaged|married|single|divorced|"
    rf"\d\d?\b(?! ?%))|is {_ROLE}|(?:and|n|&) (?:her|his|me))\b"
)
_ANY_DEED = (
    r"(?:says|said|told|asked|wants to|knows|refuses|promised|thinks|believes|hates|loves|goes|"
    r"is (?:coming|getting|moving|visiting)|does|works|teaches|studies|lives|forgot|turned \d+|turns \d+|"
    r"(?:and|n|&) (?:I|i))\b"
)
_TO_SOMEBODY = r"(?:told|asked|hugged|kissed|dating|married|phoned|rang|texted|thanked|forgave|me and)"
_CAPITAL = r"[A-Z][a-z]+(?:-[A-Z][a-z]+)?"
_SMALL = r"[a-z]{3,12}"
_DOES = re.compile(
    rf"\b(?P<name>{_CAPITAL})(?:'s (?:had|coming|getting|moving|visiting|pregnant|{_ROLE})\b|,? whom?\b| {_DEED})"
)
_MAY_DO = re.compile(rf"\b(?P<name>{_CAPITAL}) {_ANY_DEED}(?P<pronoun>.{{0,60}}?\b(?:he|she|his|her|him)\b)?")
_IS_ADDRESSED = re.compile(rf"\b{_TO_SOMEBODY} (?P<name>{_CAPITAL})\b(?! [A-Z]|'s)")
_ARE_BOTH = re.compile(
    rf"\b(?:[Tt]hey(?:'re| are)|names are|and|,) (?P<name>{_CAPITAL}) and (?P<second>{_CAPITAL})(?=[\s,.!?])"
)
_WITH_BOTH = re.compile(rf"\b(?:w|with) (?P<name>{_CAPITAL}|{_SMALL}) (?:and|n|&) (?P<second>{_CAPITAL}|{_SMALL})\b")
_IN_A_PLACE = re.compile(rf"\b(?:in|at|near|[Tt]he|around|visit(?:ed|ing)?) (?P<name>{_CAPITAL})\b(?!'s)")
_CLAUSE = r"(?:^|[.,;!?]\s+|\b(?:and|n|but|then|so|that|when|because) )"
_SMALL_DOES = re.compile(
    rf"{_CLAUSE}(?P<name>{_SMALL}) (?:and|n) (?P<second>{_SMALL}) are\b|"
    rf"{_CLAUSE}(?P<only>{_SMALL}) (?:{_DEED}|{_ANY_DEED})"
)
# "mick. 54, been doing it since before I was born": a word alone, then an age.
_THEN_AGE = re.compile(rf"(?:^|[.!?]\s+)(?P<name>{_CAPITAL}|{_SMALL})[.,] (?:he's |she's )?[1-9]\d(?=[,.;]| and\b)")
_NOBODY = words(
    """
    also anybody anyone baby bank boss both boy brain bro cat college company council covid dad dinner doc doctor
    dog each either email even everybody everyone everyone's everything family fever flu folks girl google
    government gran grandma grandpa guess guy guys haha heart home hope hospital hubby insulin insurance internet
    just kid kids know lady landlord law life lol love lunch management manager mate mates mind mom money mum nan
    news nobody none nope nothing now office okay one only other others parents people person police pulse radio
    rumour school science she sis some somebody someone something sorry still stomach teacher team temp temperature
    thanks then therapist these thing things think this those today tomorrow tonight traffic tv uni weather weight
    well which whoever wife work world yeah yep yesterday
    """
)
_HAN = f"[^\\W\\da-zA-Z_{WORDS['after_name'].replace('明', '')}的和]"
_NAME_ZH = rf"(?:[{WORDS['surnames']}]{_HAN}{{1,2}}?|[小阿]{_HAN}|(?P<twice>[\u3400-\u9fff])(?P=twice))"
_DOES_ZH = re.compile(
    rf"(?:^|[，。！？、；\s“]|[跟和给找约陪被让连])(?P<name>{_NAME_ZH})(?=(?:今天|昨天|昨晚|刚才|刚|又|还|就|也|都|后来|上周|前天)?"
    r"(?:说(?![到明起])|告诉|问我|笑[着了我死得]|哭[着了得]|骂|夸我|劝我|答应|打电话|打来|发(?:微信|消息)|请我|约我|陪我|送我|怀孕|结婚|离婚|辞职|"
    r"生了个?(?:儿子|女儿|孩子|娃)|考上|住院))"
)
_KIN_ZH = "儿子|女儿|孩子|老公|老婆|丈夫|妻子|妈妈?|爸爸?|男朋友|女朋友|男友|女友|弟弟|妹妹|哥哥|姐姐|婚礼"
_HAS_KIN_ZH = re.compile(
    rf"(?:^|[，。！？、；\s“]|[跟和给找约陪是])(?P<name>[{WORDS['surnames']}]{_HAN}{{1,2}}?)的(?:{_KIN_ZH})"
)


def people_in(texts: Sequence[str]) -> list[str]:
    """The names of people in the messages of a session, each once, in the order in which they are told.

    >>> people_in(["Jess is a florist, and I told Ben about it.", "I am in York."]), people_in(["王莉的儿子考上大学了"])
    (['Jess', 'Ben'], ['王莉'])
    """
    english = [text for text in texts if not CJK.search(text)]
    names = [*_capitalized(english), *_uncapitalized(english)]
    for text in texts:
        if CJK.search(text):
            by_deed = chain(_DOES_ZH.finditer(text), _HAS_KIN_ZH.finditer(text))
            names += [match["name"] for match in by_deed if _can_be_name_zh(match["name"])]
    return list(dict.fromkeys(names))


def _capitalized(texts: Sequence[str]) -> list[str]:
    joined = "\n".join(texts)
    places = {match["name"] for match in _IN_A_PLACE.finditer(joined)}
    surely = [*_DOES.finditer(joined), *_IS_ADDRESSED.finditer(joined), *_ARE_BOTH.finditer(joined)]
    surely += [*_WITH_BOTH.finditer(joined), *_THEN_AGE.finditer(joined)]
    perhaps = [*_MAY_DO.finditer(joined)]
    uses = Counter(match["name"] for match in (*surely, *perhaps))
    surely += [match for match in perhaps if match["pronoun"] or uses[match["name"]] > 1]
    names = [
        name
        for match in sorted(surely, key=lambda match: match.start())
        for name in (match["name"], match.groupdict().get("second"))
        if name and name[0].isupper() and name not in places and _can_be_name(name)
    ]
    # What is also written small is a word at the beginning of a sentence.
    return [name for name in names if not _occurs_small(name, joined)]


def _occurs_small(name: str, text: str) -> bool:
    """Whether the text also has the word without its capital."""
    return re.search(rf"\b{name.casefold()}\b", text) is not None


def _uncapitalized(texts: Sequence[str]) -> list[str]:
    """Names in messages without capitals: each is used as a name twice, or once with an age."""
    small = [text for text in texts if not SIGNS["has_capitals"].search(text)]
    uses: list[str] = []
    for text in small:
        uses += 2 * [match["name"] for match in _THEN_AGE.finditer(text)]
        for match in chain(_SMALL_DOES.finditer(text), _WITH_BOTH.finditer(text)):
            uses += [name for name in match.groupdict().values() if name]
    return [name for name in dict.fromkeys(uses) if uses.count(name) > 1 and _can_be_name(name)]


def _can_be_name(name: str) -> bool:
    folded = name.casefold()
    if folded.removesuffix("s") in NOT_NAMES:  # Tuesdays
        return False
    return folded not in NOT_NAMES and folded not in _NOBODY and folded not in BEARERS and folded not in BY_DEED


def _can_be_name_zh(name: str) -> bool:
    return not SIGNS["no_shape"].search(name) and name not in BEARERS

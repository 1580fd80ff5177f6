"""The similarity of two names. Pure; nothing here decides by itself that two people are one.

    shared_name      one is the other's shorter form: Scott / Scott Huang, 逸扬 / 黄逸扬
    transliteration  one spells the other: Yiyang, Huang Yiyang, Yiyang Huang / 黄逸扬, 逸扬
    similar_spelling the same sound or a slip: Jon / John, Katherine / Catherine; Latin letters only
    familiar_name    it may be a pet form or a form with a title: Liz / Elizabeth, 老周 / 周明, 林老师 / 林婉

Left out: nicknames that only a dictionary knows (Bob / Robert), romanisations other than Hanyu Pinyin.
"""

import unicodedata
from collections.abc import Iterable
from itertools import islice, product

from rapidfuzz.distance import Indel

from echovessel.language import lazy_re as re
from echovessel.language.person_names import UNSPACED_LETTER, normalize_name, strip_titles
from echovessel.language.pinyin import possible_sounds
from echovessel.process.word_caches import cached_words

MIN_LETTERS = 3
MIN_GIVEN_LETTERS = 4
MAX_READINGS = 64
MAX_HAN_NAME = 6
_TWO_SYLLABLE_SURNAMES = frozenset(
    ["欧阳", "司马", "上官", "诸葛", "东方", "皇甫", "公孙", "慕容", "令狐", "司徒", "夏侯"]
)
_HAN = re.compile(r"[\u3400-\u9fff]+")
_LATIN_WORD = re.compile(r"[a-z]+")
_LATIN = re.compile(r"[a-z]")
# 老周, 小李, 阿强; 周总, 林老师, 强哥: one character of the name, and a form of address.
_FAMILIAR = re.compile(
    r"[老小阿大](?P<behind>[\u3400-\u9fff])|"
    r"(?P<before>[\u3400-\u9fff])(?:先生|女士|小姐|太太|老师|医生|大夫|教授|博士|同学|师傅|经理|老板|哥|姐|叔|姨|总|工)"
)
_DOUBLED = re.compile(r"(.)\1+")
_SOUNDS = (
    (r"ph", "f"), (r"sch", "sh"), (r"c(?=[eiy])", "s"), (r"ck|c|q", "k"), (r"x", "ks"), (r"z", "s"), (r"w", "v"),
    (r"(?<=.)h", ""), (r"ie$|y", "i"), (r"v", "f"),
)  # fmt: skip


def reasons(first_names: Iterable[str], other: Iterable[str], kind: str, least_alike: float) -> set[str]:
    """The reasons why a name of one may be a name of the other; `least_alike` is 0 … 1.

    >>> sorted(reasons(["Scott"], ["Scott Huang", "黄逸扬"], "person", 0.94))
    ['shared_name']
    >>> reasons(["Yiyang"], ["黄逸扬"], "person", 0.94), reasons(["Scott Huang"], ["Scott Miller"], "person", 0.94)
    ({'transliteration'}, set())
    """
    grounds: set[str] = set()
    pairs = list(product(first_names, other))
    for first, second in pairs:
        if _is_short_for(first, second, kind) or _is_short_for(second, first, kind):
            grounds.add("shared_name")
        elif _is_familiar(first, second) or _is_familiar(second, first):
            grounds.add("familiar_name")
        if _spells(first, second) or _spells(second, first):
            grounds.add("transliteration")
        # Word by word: in "Paul Schmidt" and "Paula Schmidt" the equal surnames mean nothing.
        words, others = _words(first), _words(second)
        is_latin = len(words) == len(others) and min(map(len, [*words, *others]), default=0) >= MIN_LETTERS
        if normalize_name(first) != normalize_name(second) and is_latin:
            sounds = zip(map(phonetic_form, words), map(phonetic_form, others), strict=True)
            if all(Indel.normalized_similarity(*pair) >= least_alike for pair in sounds):
                grounds.add("similar_spelling")
    return grounds - {"shared_name", "familiar_name"} if any(_exclude(*pair) for pair in pairs) else grounds


def in_other_scripts(first: Iterable[str], other: Iterable[str]) -> bool:
    """Whether one has only Latin names, and the other only names in a script without spaces."""
    return {_script("".join(first)), _script("".join(other))} == {"latin", "unspaced"}


@cached_words(maxsize=8_192)
def romanised(name: str) -> frozenset[str]:
    """The spellings of a Chinese name in Hanyu Pinyin, without tones and spaces: whole, surname last, and the given
    name alone if it has two syllables; with all readings of each character.

    >>> sorted(romanised("黄逸扬"))
    ['huangyiyang', 'yiyang', 'yiyanghuang']
    """
    plain = normalize_name(name)
    if not _HAN.fullmatch(plain) or not 2 <= len(plain) <= MAX_HAN_NAME:
        return frozenset()
    syllables = possible_sounds(plain)
    spelled: set[str] = set()
    for reading in islice(product(*syllables), MAX_READINGS):
        surname = 2 if plain[:2] in _TWO_SYLLABLE_SURNAMES else 1
        given_name = reading[surname:]
        forms = {"".join(reading), "".join((*given_name, *reading[:surname]))}
        for form in forms | {"".join(given_name)} if len(given_name) > 1 else forms:
            spelled |= {form, form.replace("v", "u"), form.replace("v", "yu")}
    return frozenset(spelled)


@cached_words(maxsize=8_192)
def phonetic_form(word: str) -> str:
    """The approximate sound of the word.

    >>> phonetic_form("katherine") == phonetic_form("catherine"), phonetic_form("paul") == phonetic_form("paula")
    (True, False)
    """
    for spelling, sound in _SOUNDS:
        word = re.sub(spelling, sound, word)
    return _DOUBLED.sub(r"\1", word)


def _is_short_for(short: str, full: str, kind: str) -> bool:
    if words := _words(short):
        return set(words) < set(_words(full)) and max(map(len, words)) >= MIN_LETTERS
    first, other = normalize_name(short), normalize_name(full)
    if not _is_unspaced(first) or not _is_unspaced(other) or not 2 <= len(first) < len(other):
        return False
    return other.endswith(first) or (kind in ("place", "org") and other.startswith(first))


def _exclude(one: str, other: str) -> bool:
    """Whether two full names belong to two people: Scott Huang and Scott Miller, 李小云 and 王小云."""
    first, second = set(_words(one)), set(_words(other))
    if first and second:
        return min(len(first), len(second)) > 1 and not (first <= second or second <= first)
    han, ideographs = normalize_name(one), normalize_name(other)
    full = _HAN.fullmatch(han) and _HAN.fullmatch(ideographs) and len(han) == len(ideographs) > 2
    return bool(full) and han != ideographs


def _is_familiar(form: str, full: str) -> bool:
    if character := _character_of_sound(form):
        name = normalize_name(full)
        return bool(_HAN.fullmatch(name)) and len(name) > 1 and character in (name[0], name[-1])
    short, words = _words(form), _words(full)
    return (
        len(short) == 1
        and len(short[0]) >= MIN_LETTERS
        and bool(words)
        and phonetic_form(short[0]) in phonetic_form(words[0])
    )


@cached_words(maxsize=8_192)
def _character_of_sound(form: str) -> str:
    """The character of the name in a familiar form such as 老周 or 周总; "" if it is no such form."""
    match = _FAMILIAR.fullmatch(unicodedata.normalize("NFKC", form).strip())
    return match["behind"] or match["before"] if match else ""


def _spells(latin: str, han: str) -> bool:
    words, spelled = _words(latin), romanised(han)
    if "".join(words) in spelled:
        return True
    # Two characters may be the given name alone while the Latin name includes the surname.
    given_name_only = len(normalize_name(han)) == 2 and len(words) == 2
    return given_name_only and any(len(word) >= MIN_GIVEN_LETTERS and word in spelled for word in words)


@cached_words(maxsize=8_192)
def _latin_words(name: str) -> tuple[str, ...]:
    plain = strip_titles(name)
    if UNSPACED_LETTER.search(plain):
        return ()
    bare = unicodedata.normalize("NFD", plain.replace("’", "").replace("'", ""))
    return tuple(_LATIN_WORD.findall("".join(sign for sign in bare if not unicodedata.combining(sign))))


def _words(name: str) -> list[str]:
    """The words of a Latin name, without titles and diacritics; empty if it has letters of unspaced scripts."""
    return list(_latin_words(name))


def _is_unspaced(name: str) -> bool:
    return bool(UNSPACED_LETTER.search(name)) and not _LATIN.search(name)


def _script(text: str) -> str:
    plain = normalize_name(text)
    if _is_unspaced(plain):
        return "unspaced"
    return "latin" if _LATIN.search(plain) and not UNSPACED_LETTER.search(plain) else "mixed"

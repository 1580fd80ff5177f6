"""Names, compared without regard to width, case, spacing, dots and honorifics. Pure."""

import unicodedata

from echovessel.language import lazy_re as re
from echovessel.process.word_caches import cached_words

_TITLES = r"mr|mrs|ms|miss|mx|dr|doctor|prof|professor|sir|madam|mister"
_TITLE_BEFORE = re.compile(rf"^(?:(?:{_TITLES})\.?\s+)+")
_TITLE_AFTER = re.compile(r"(?<=[\u3400-\u9fff]{2})(?:先生|女士|小姐|太太|老师|医生|大夫|教授|博士|同学|师傅)$")
_SEPARATORS = re.compile(r"[\s.·・•'’\-‐_]+")
_UNSPACED = "\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003fffd"
UNSPACED_LETTER = re.compile(f"[{_UNSPACED}]")
UNSPACED_RUN = re.compile(f"[{_UNSPACED}]+")
SPACED_WORD = re.compile(rf"(?:(?![{_UNSPACED}])[\w'’\-])+")
_LETTER = re.compile(rf"[^\W_{_UNSPACED}]")  # of a script that puts spaces between words

_POSSESSIVE = re.compile(r"^(?:(?:my|your|his|her|our|their|the)\s+|[我你您他她](?:们)?的?)")

# Words that a model sometimes takes for a name. Two sisters are both "my sister": as a name it would merge them.
_NO_NAMES = frozenset(
    [
        *("i", "me", "you", "he", "him", "she", "her", "it", "they", "them", "we", "us", "user", "theuser"),
        *("mom", "mum", "mother", "dad", "father", "friend", "cat", "dog", "baby", "kid", "partner"),
        *("sister", "brother", "wife", "husband", "boyfriend", "girlfriend", "son", "daughter", "boss", "colleague"),
        *("grandma", "grandpa", "grandmother", "grandfather", "aunt", "uncle", "cousin"),
        *("我", "你", "您", "他", "她", "它", "我们", "你们", "他们", "她们", "用户"),
        *("妈妈", "爸爸", "母亲", "父亲", "朋友", "猫", "狗", "孩子", "老板", "同事"),
        *("妹妹", "姐姐", "哥哥", "弟弟", "老公", "老婆", "丈夫", "妻子", "男朋友", "女朋友", "男友", "女友"),
        *("儿子", "女儿", "奶奶", "爷爷", "外婆", "外公"),
    ]
)


@cached_words(maxsize=8_192)
def normalize_name(name: str) -> str:
    """The form in which spellings of a name are equal; "" if nothing is left.

    >>> normalize_name("Dr. Mary-Ann  Lee") == normalize_name("ｍａｒｙ ann lee")
    True
    >>> normalize_name("黄逸扬老师")
    '黄逸扬'
    """
    return _SEPARATORS.sub("", strip_titles(name))


def strip_titles(name: str) -> str:
    """The name in folded form without titles, its words separated."""
    return _TITLE_AFTER.sub("", _TITLE_BEFORE.sub("", _folded(name).strip()))


def is_name(text: str) -> bool:
    """Whether `text` can be a name: no pronoun, no "mother" or 「我妹妹」, no single Chinese character."""
    plain, unowned = normalize_name(text), normalize_name(_POSSESSIVE.sub("", _folded(text).strip()))
    if re.fullmatch(f"[{_UNSPACED}]?", plain):
        return False
    return bool(unowned) and not {plain, unowned} & _NO_NAMES


def occurs(name: str, text: str) -> bool:
    """Whether `name` occurs in `text` literally: as whole words, or anywhere in scripts without spaces.

    >>> occurs("Ann", "Anna came."), occurs("小黑", "她的猫小黑很调皮"), occurs("Scott", "和Scott吃饭")
    (False, True, True)
    """
    name, text = (" ".join(_folded(spaced).split()) for spaced in (name, text))
    start = text.find(name) if name else -1
    while start >= 0:
        if not _LETTER.match(text, start + len(name)) and not (start and _LETTER.match(text, start - 1)):
            return True
        start = text.find(name, start + 1)
    return False


def replace_name(name: str, by: str, text: str) -> str:
    """`text` with every occurrence of `name`, in any letter case, replaced with `by`.

    >>> replace_name("Ann", "{{user}}", "ANN came, and Anna."), replace_name("小黑", "{{user}}", "她的猫小黑很调皮")
    ('{{user}} came, and Anna.', '她的猫{{user}}很调皮')
    """
    parts = unicodedata.normalize("NFKC", name).split()
    name_pattern = r"\s+".join(map(re.escape, parts))
    # The name alone ignores case: else `re` tries each of the 130,000 unspaced letters in both cases, for 12 ms more.
    pattern = re.compile(f"(?<!{_LETTER.pattern})(?i:{name_pattern})(?!{_LETTER.pattern})")
    return pattern.sub(lambda _found: by, text) if parts else text


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()

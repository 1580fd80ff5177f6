"""Styles of speaking that a wish asks for: short, without questions, without emoji. Pure; English and Chinese.

Memory mode follows them as far as rules can; a wish about a style is no boundary.
"""

from collections.abc import Iterable
from enum import Enum

from echovessel.language import lazy_re as re
from echovessel.language.plain_text import straighten


class Style(Enum):
    """A style of speaking."""

    NO_QUESTIONS = "no questions"
    NO_EXCLAMATION_MARKS = "no exclamation marks"
    NO_EMOJI = "no emoji"
    NO_NAME = "no name"
    NO_APOLOGIES = "no apologies"
    SHORT = "short"


# "I never ask questions" is a statement about somebody.
_NO = (
    r"(?:(?<!\bi )(?<!\bwe )(?<!they )(?<!people )\b(?:don't|dont|do not|never|not)|\b(?:stop|quit|no|no more|without|"
    r"avoid|drop|fewer|less|enough(?: of the| with the)?|cut (?:out |down on )?(?:the )?|lay off (?:the )?))"
)
_NO_ZH = r"(?:别|不要|不用|不许|不准|不必|少|甭|莫|停止|不想(?:要)?|不喜欢)[^，。！？]{0,6}?"
_ASKED = r"(?:\W*$|[.,;!?]| (?:when|if|please|again|any ?more|all the time|now|ever|at all|from|unless|and)\b)"
_STYLES = {
    Style.NO_QUESTIONS: rf"{_NO} (?:\w+ ){{0,5}}?(?:questions?\b(?! about)|"
    rf"ask(?:ing)?(?: me)?(?: anything| things| stuff| back)?(?={_ASKED}))|\bjust (?:listen|be with)|"
    rf"{_NO_ZH}(?:问题(?!的)|提问|反问|追问|问(?:我|[这那]么多|东问西|来问去|个不停|我话)*(?:的|了|啦|吧|好吗|好不好|行吗)?"
    r"(?=$|[\s，。！？~]))|(?:听我说|听着|陪着?我?)就(?:好|行)",
    Style.NO_EXCLAMATION_MARKS: rf"{_NO} (?:\w+ ){{0,4}}?exclamation|{_NO_ZH}叹号",
    Style.NO_EMOJI: rf"{_NO} (?:\w+ ){{0,4}}?(?:emojis?|smileys?|emoticons?)|{_NO_ZH}(?:表情|emoji|颜文字)",
    Style.NO_NAME: rf"{_NO} (?:\w+ ){{0,4}}?(?:my name\b|calling me by)|{_NO_ZH}我的?名字",
    Style.NO_APOLOGIES: rf"{_NO} (?:\w+ ){{0,3}}?(?:(?:say|saying) sorry|sorry|apologi\w+)|"
    rf"{_NO_ZH}(?:抱歉|对不起|道歉)",
    Style.SHORT: r"\b(?:short(?:er|ly)?|brief(?:er|ly)?|concise(?:ly)?|terse|to the point|few(?:er)? words|"
    rf"one (?:line|sentence)|less text)\b|{_NO} (?:\w+ ){{0,4}}?(?:waffl\w+|rambl\w+|essays?|paragraphs?|"
    r"walls? of text|long \w+)|简短|简洁|简单(?:点|些|一点)|精简|短(?:一?点|些|句)|少说(?:点|两句|几句)?|话少|一句话|"
    rf"{_NO_ZH}(?:啰嗦|罗嗦|长篇|太长|[那这]么长|说太多)",
}
# "Don't keep it short", "never stop asking", "don't be shy to ask" ask for more, whatever their other words.
_WISHED_FOR_MORE = re.compile(
    r"\b(?:don't|dont|do not|never|not|too|less|stop|nothing) (?:(?!(?:but|and|long|please)\b)\w+ ){0,3}?"
    r"(?:short\w*|brief\w*|concise\w*|terse)\b|"
    r"\b(?:don't|dont|do not|never) (?:\w+ ){0,2}?(?:stop|hesitate|afraid|shy|scared|fear|hold back)\b[^.,:;!?\n]*|"
    r"(?:别|不要|不用|太|不)[^，。！？]{0,4}?(?:简短|简洁|精简|短)|(?:别|不要|不用)(?:停|怕|害怕|不(?=[问提]))[^，。！？\n]*",
    re.IGNORECASE,
)
_COMPILED = {style: re.compile(words, re.IGNORECASE) for style, words in _STYLES.items()}


def styles_in(wishes: Iterable[str]) -> frozenset[Style]:
    """The styles that any of the wishes asks for.

    >>> [style.value for style in styles_in(["Never ask me questions.", "别用感叹号"])]
    ['no questions', 'no exclamation marks']
    >>> styles_in(["Never ask about my father.", "别再提我前任了"])
    frozenset()
    >>> styles_in(["Don't keep it so short.", "别停止提问"])
    frozenset()
    """
    text = _WISHED_FOR_MORE.sub("…", "\n".join(straighten(wish) for wish in wishes))
    return frozenset(style for style, words in _COMPILED.items() if words.search(text))

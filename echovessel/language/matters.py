"""Whether a text is about a matter: "my father", "work", 「我前任」. Pure, English and Chinese.

By the words of the matter and their synonyms in any household: a persona that must never ask about "my father" must not
ask about "dad" either.
"""

from collections.abc import Collection, Iterable, Mapping

from echovessel.language import common_words, tokenizer
from echovessel.language import lazy_re as re
from echovessel.language.kinship import relatives_in, share, without_kin
from echovessel.language.person_names import occurs
from echovessel.language.plain_text import straighten

_SAME = (
    "jobs?|work|working|office|workplace|career|boss|bosses|manager|colleagues?|coworkers?|工作|上班|公司|办公室|"
    "同事|老板|领导|上司|加班|单位",
    "school|class|classes|exams?|homework|university|college|studies|学校|上课|考试|作业|大学|学业|论文",
    "money|finances?|debts?|rent|salary|loans?|钱|债|工资|房租|经济|贷款",
    "weight|diet|dieting|body|calories|体重|减肥|身材|胖|瘦",
    "drinking|drink|alcohol|drunk|sober|喝酒|酒|醉|戒酒",
    "divorce|divorced|离婚", "break-?ups?|broke up|分手", "miscarriages?|流产", "abortions?|堕胎|人流",
    "accidents?|crash|车祸|事故", "died|death|dying|funeral|passed away|dead|去世|死|葬礼", "religion|church|god|"
    "faith|宗教|教会|信仰|上帝",
    "politics|political|elections?|政治|选举", "dating|love life|relationships?|恋爱|感情|相亲|对象", "health|"
    "illness|disease|doctor|hospital|健康|病|医院|医生",
    "sleep|insomnia|睡觉|睡眠|失眠", "cats?|kitten|猫|猫咪", "dogs?|puppy|狗|狗狗",
    "food|eating|meals?|cook|cooking|吃饭|吃的|做饭|饮食",
    "sex|sexual|intimacy|做爱|性生活", "suicide|suicidal|自杀|轻生", "marriage|wedding|married|结婚|婚礼|婚姻",
)  # fmt: skip
_MATTER = re.compile(
    r"\b(?:about|mention(?:ing)?|bring(?:ing)? up|brought up|discuss(?:ing)?|refer(?:ring)? to|"
    r"remind(?:ing)? me of|touch(?:ing)? on|(?:steer|stay|keep) (?:well )?(?:clear of|away from|off)|"
    r"(?:topics?|subjects?) of|"
    r"name|raise|talk(?:ing)? of|speak(?:ing)? of|joke about)\s+(?P<en>[^.,;!?\n]{2,80})|"
    r"(?:提起?|提到|问起?|问到|聊起?|谈起?|谈到|讨论|说起|讲起|说到|涉及|"
    r"开)(?:我)?(?:关于)?(?P<zh>[^，。；！？\n]{1,24}?)(?:的?(?:事情?|话题|玩笑|问题|名字))?(?:了|啦|吧|吗|好吗|$|"
    r"[，。；！？\n])",
    re.IGNORECASE,
)
_IDLE = re.compile(
    r"\b(?:my|our|the|that|this|it|them|again|anymore|any more|ever|at all|please|to me|with me|me|you|anything|"
    r"everything|something|topic|subject|"
    r"what happened|happened|thing|things|stuff)\b|我的|我|你|这个|那个|这件|那件|事情|的事|话题|关于|再",
    re.IGNORECASE,
)


_GROUPS = [
    re.compile(
        rf"\b(?:{'|'.join(filter(str.isascii, words.split('|')))})\b|"
        rf"{'|'.join(word for word in words.split('|') if not word.isascii())}",
        re.IGNORECASE,
    )
    for words in _SAME
]
LOOKED_AT = 4_000  # characters


def matter_of(wish: str) -> str:
    """The matter of a wish: "my father" in "never ask about my father"; "" if it names none.

    >>> matter_of("Please never ask about my father."), matter_of("别再提我前任了")
    ('my father', '前任')
    """
    match = _MATTER.search(_plain(wish))
    return (match["en"] or match["zh"] or "").strip() if match else ""


def speaks_of(
    text: str,
    matter: str,
    names: Iterable[str] = (),
    relatives: Mapping[str, Collection[str]] | None = None,
    owner: str = "",
) -> bool:
    """Whether `text` is about `matter`, or about somebody with one of `names`. `relatives` and `owner` are those of
    `kinship.relatives_in`.

    >>> speaks_of("How is your dad?", "my father"), speaks_of("How is your cat?", "my father")
    (True, False)
    >>> speaks_of("How is your mother's husband?", "my father"), speaks_of("Tom's father called", "my father")
    (True, False)
    """
    plain, about = _plain(text), _plain(matter)
    if share(relatives_in(about, relatives, owner, meant=True), relatives_in(plain, relatives, owner)):
        return True
    groups = [group for group in _GROUPS if group.search(about)]
    if any(group.search(plain) for group in groups) or any(occurs(name, text) for name in names):
        return True
    about = without_kin(about)
    for group in groups:
        about = group.sub(" ", about)
    words = _telling(_IDLE.sub(" ", about))
    return bool(words) and 2 * len(words & _telling(plain)) >= len(words)


def _plain(text: str) -> str:
    return straighten(text[:LOOKED_AT])


def _telling(text: str) -> set[str]:
    """The content words; for Chinese, pairs of characters."""
    words = {word for word in tokenizer.content_words(text) if len(word) > 1 and not tokenizer.is_function_word(word)}
    return words - common_words.is_everyday() or words

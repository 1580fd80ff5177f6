"""How heavy a sentence weighs: small English and Chinese lists on the scale of seed 001 (−10 … 10).

Not a model of emotion: the strongest word wins, a negation before it turns it around and weakens it.
"""

import re
from dataclasses import dataclass

from echovessel.llm.offline.text import CJK


@dataclass(frozen=True)
class Feeling:
    """A kind of feeling: its weight, its tag in both languages, and the words that show it."""

    weight: int
    tag_en: str
    tag_zh: str
    words: tuple[str, ...]


# The first three kinds and the milestones hold the strong-emotion keywords of seed 000.
FEELINGS = (
    Feeling(-10, "despair", "绝望", (
        "不想活", "活不下去", "自杀", "想死", "结束生命", "活着累", "活着好累", "活着没意思",
        "suicide", "kill myself", "end my life", "want to die", "don't want to live", "self-harm",
    )),
    Feeling(-9, "grief", "悲痛", (
        "去世", "死了", "离世", "葬礼", "过世", "没了", "走了",
        "died", "passed away", "funeral", "is dead", "put to sleep",
    )),
    Feeling(-8, "overwhelmed", "崩溃", (
        "撑不住", "崩溃", "熬不下去", "can't go on", "cannot go on", "breakdown", "falling apart", "hopeless",
        "绝望",
    )),
    Feeling(-7, "hurt", "受伤", (
        "分手", "离婚", "被裁", "被开除", "失业", "流产", "确诊", "癌症",
        "breakup", "broke up", "divorce", "divorced", "got fired", "was fired", "fired me", "laid off",
        "lost my job", "miscarriage", "cancer",
    )),
    Feeling(-5, "afraid", "害怕", (
        "害怕", "恐惧", "吓坏", "afraid", "scared", "terrified", "panic attack", "depressed", "抑郁",
        "heartbroken",
    )),
    Feeling(-4, "sad", "难过", (
        "难过", "伤心", "痛苦", "孤独", "哭", "失望", "委屈", "失败",
        "sad", "lonely", "cried", "crying", "miserable", "disappointed", "unhappy", "failed", "sick", "生病",
        "吵架", "argument", "住院",
    )),
    Feeling(-4, "angry", "生气", (
        "生气", "愤怒", "气死", "受够", "讨厌", "angry", "furious", "hate", "fed up",
    )),
    Feeling(-3, "anxious", "焦虑", (
        "焦虑", "担心", "紧张", "压力", "失眠", "anxious", "worried", "nervous", "stressed", "insomnia",
        "overworked",
    )),
    Feeling(-2, "tired", "疲惫", ("累", "疲惫", "加班", "tired", "exhausted", "worn out", "overtime")),
    Feeling(-1, "annoyed", "烦", ("烦", "无聊", "堵车", "annoying", "annoyed", "bored", "frustrating")),
    Feeling(9, "joy", "喜悦", (
        "当妈妈了", "当爸爸了", "出生了", "gave birth", "was born today", "became a mother",
        "became a father",
    )),
    Feeling(7, "joy", "喜悦", (
        "结婚", "订婚", "求婚", "怀孕", "got engaged", "engaged", "got married", "pregnant", "wedding",
    )),
    Feeling(5, "proud", "骄傲", (
        "升职", "录取", "毕业", "考上", "拿到offer", "得奖", "第一名", "满分",
        "promoted", "promotion", "graduated", "graduation", "got accepted", "got the job", "won",
    )),
    Feeling(4, "joy", "开心", (
        "开心", "高兴", "快乐", "幸福", "太好了", "感动", "happy", "excited", "thrilled", "wonderful",
        "amazing", "so glad",
    )),
    Feeling(3, "hopeful", "期待", ("期待", "希望", "憧憬", "looking forward", "can't wait", "hopeful")),
    Feeling(2, "fond", "喜爱", (
        "喜欢", "爱", "可爱", "调皮", "好玩", "有趣", "想念", "收养", "领养",
        "love", "i like", "really like", "adore", "cute", "playful", "fun", "funny", "enjoy", "adopted",
        "proud", "grateful",
    )),
    Feeling(1, "content", "舒服", (
        "不错", "舒服", "好吃", "挺好", "nice", "good", "pleasant", "tasty", "fine",
    )),
)  # fmt: skip

# "我先走了" is a goodbye and no death; "没了" after a question word or a count is none either.
LEAVING = re.compile(r"(?:我|我们|咱|先|该|要|就|得|他|她|你)(?:先|该|要|得|就)?走了")
# Characters that mean something else inside these words.
NOT_MEANT = {"爱": "可爱|恋爱|爱好|爱人|亲爱|爱情", "累": "积累|累计|累积", "烦": "麻烦", "哭": "笑哭|哭笑"}
NOT_BEFORE_ZH = re.compile(r"(?:不|没|别|不太|不怎么|没那么|不是很|并不)(?:太|怎么|很|是很|那么|再|会)?$")
NOT_BEFORE_EN = re.compile(r"(?:\bnot|n't|\bnever|\bno longer|\bno)\s+(?:\w+\s+)?$", re.I)
SOFTENED = 0.5


@dataclass(frozen=True)
class Weight:
    """The weight of a text: −10 … 10, and the feelings that gave it, strongest first."""

    impact: int
    feelings: tuple[Feeling, ...]

    def tags(self, chinese: bool) -> list[str]:
        """At most two tags, in the language of the text."""
        tags = [feeling.tag_zh if chinese else feeling.tag_en for feeling in self.feelings]
        return list(dict.fromkeys(tags))[:2]

    @property
    def in_crisis(self) -> bool:
        """Whether the words speak of not wanting, or not being able, to go on."""
        return any(feeling.tag_en in ("despair", "overwhelmed") for feeling in self.feelings)


def weighed(text: str) -> Weight:
    """How heavy `text` weighs.

    >>> weighed("妈妈去世了").impact, weighed("I'm not happy").impact, weighed("我先走了").impact
    (-9, -2, 0)
    """
    lower = LEAVING.sub(" ", text.casefold().replace("’", "'"))
    found = [(_impact(feeling, lower), feeling) for feeling in FEELINGS]
    felt = sorted(((impact, feeling) for impact, feeling in found if impact), key=lambda pair: -abs(pair[0]))
    kept = tuple(feeling for impact, feeling in felt if impact * feeling.weight > 0)
    return Weight(felt[0][0] if felt else 0, kept)


def _impact(feeling: Feeling, lower: str) -> int:
    """The weight of one feeling in a text; 0 if none of its words occurs."""
    weights = [_at(feeling, lower, match.start()) for word in feeling.words for match in _places(word, lower)]
    return max(weights, key=abs, default=0)


def _at(feeling: Feeling, lower: str, start: int) -> int:
    before = lower[max(0, start - 16) : start]
    if NOT_BEFORE_ZH.search(before) or NOT_BEFORE_EN.search(before):
        return round(-feeling.weight * SOFTENED)
    return feeling.weight


def _places(word: str, lower: str) -> list[re.Match[str]]:
    if word in NOT_MEANT:
        lower = re.sub(NOT_MEANT[word], "  ", lower)
    if CJK.search(word):
        return list(re.finditer(re.escape(word), lower))
    return list(re.finditer(rf"(?<![a-z]){re.escape(word)}(?![a-z'])", lower))

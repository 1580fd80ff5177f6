"""Synthetic conversations of one person's life, in English and Chinese: the same for the same seed, no two sessions
alike.

Every message of the user is a sentence filled with people, places, things, numbers and feelings from lists so long that
a thousand sessions repeat few facts, as lives do. The replies are those of a patient listener.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Language = Literal["en", "zh"]


@dataclass(frozen=True)
class BenchSession:
    """One session: the messages of the user and of the persona, alternating."""

    language: Language
    lines: tuple[str, ...]


def generate_sessions(count: int, messages: int, seed: int = 1) -> Iterator[BenchSession]:
    """`count` sessions of `messages` messages, two in English to one in Chinese."""
    chance = random.Random(seed)
    for number in range(count):
        language: Language = "zh" if number % 3 == 2 else "en"
        count, patterns = (messages + 1) // 2, SENTENCES[language]
        chosen_patterns = chance.sample(
            patterns, min(count, len(patterns))
        )  # each of another pattern, as far as there are any
        chosen_patterns += chance.choices(patterns, k=count - len(chosen_patterns))
        owner_texts = [pattern.format_map(_PlaceholderValues(chance, language)) for pattern in chosen_patterns]
        replies = [chance.choice(REPLIES[language]) for _ in owner_texts]
        texts = [text for pair in zip(owner_texts, replies, strict=True) for text in pair]
        yield BenchSession(language, tuple(texts[:messages]))


class _PlaceholderValues(dict[str, str]):
    """The values of a pattern's placeholders, drawn on access."""

    def __init__(self, chance: random.Random, language: Language) -> None:
        super().__init__()
        self.chance, self.words = chance, WORDS[language]

    def __missing__(self, slot: str) -> str:
        if slot == "number":
            return str(self.chance.randint(2, 99))
        return self.chance.choice(self.words[slot])


def _products(*parts: str) -> tuple[str, ...]:
    """Every way to join one of each: `_products("ka mi", "ren ko")` are karen, kako, miren, miko."""
    products: tuple[str, ...] = ("",)
    for part in parts:
        products = tuple(begun + piece for begun in products for piece in part.split())
    return products


_NAMES_EN = _products(
    "Al Bel Car Dan El Fen Gar Hel Is Jor Kal Len Mar Nor Ol Per Quin Ros Sel Tam Ul Ver Wil Yas Zel",
    "a bert dine en fred gar ian ina is lo mira na on ric rine sa son ta ton vin",
)
_NAMES_ZH = _products(
    "王 李 张 刘 陈 杨 赵 黄 周 吴 徐 孙 胡 朱 高 林 何 郭 马 罗", "一 佳 子 文 晓 梓 浩 雨", "宁 涵 琪 轩 然 明"
)
_PLACES_EN = _products(
    "Ash Brook Crow East Fair Glen High Kings Lake Mill North Oak", "borough bury dale ford ham haven port ton"
)
_PLACES_ZH = _products("云 青 石 龙 白 江 南 永", "山 河 安 平 宁 泉", "镇 市 县")

WORDS: dict[Language, dict[str, tuple[str, ...]]] = {
    "en": {
        "name": _NAMES_EN,
        "place": _PLACES_EN,
        "bearer": (
            "friend",
            "sister",
            "brother",
            "colleague",
            "boss",
            "neighbour",
            "cousin",
            "aunt",
            "uncle",
            "roommate",
            "teacher",
            "daughter",
            "son",
        ),
        "pet": ("cat", "dog", "parrot", "rabbit", "hamster", "turtle"),
        "thing": (
            "bicycle",
            "guitar",
            "passport",
            "notebook",
            "camera",
            "winter coat",
            "garden shed",
            "old radio",
            "kettle",
            "sewing machine",
            "tent",
            "umbrella",
            "violin",
            "lamp",
            "suitcase",
            "record player",
            "wallet",
            "canoe",
        ),
        "dish": (
            "lentil soup",
            "apple pie",
            "dumplings",
            "fried rice",
            "pancakes",
            "mushroom risotto",
            "fish curry",
            "sourdough",
            "pumpkin stew",
            "lemon cake",
            "noodles",
            "goulash",
            "tacos",
            "rhubarb jam",
        ),
        "hobby": (
            "pottery",
            "chess",
            "birdwatching",
            "rowing",
            "calligraphy",
            "salsa",
            "knitting",
            "astronomy",
            "climbing",
            "photography",
            "gardening",
            "swimming",
            "woodwork",
            "fencing",
            "choir",
            "baking",
        ),
        "job": (
            "nurse",
            "engineer",
            "designer",
            "teacher",
            "developer",
            "doctor",
            "baker",
            "librarian",
            "carpenter",
            "translator",
            "gardener",
            "lawyer",
        ),
        "illness": ("flu", "insomnia", "migraine", "a fever", "back pain", "an allergy", "pneumonia", "a broken wrist"),
        "day": ("yesterday", "today", "last week", "two days ago", "last month", "this morning"),
        "later": ("tomorrow", "next week", "next month", "in three days", "next year"),
        "feeling": ("happy", "sad", "anxious", "proud", "lonely", "tired", "excited", "angry", "relieved", "ashamed"),
        "month": ("January", "March", "April", "June", "July", "September", "October", "December"),
    },
    "zh": {
        "name": _NAMES_ZH,
        "place": _PLACES_ZH,
        "bearer": ("朋友", "姐姐", "弟弟", "同事", "老板", "邻居", "同学", "室友", "老师", "女儿", "儿子", "闺蜜"),
        "pet": ("猫", "狗", "鹦鹉", "兔子", "仓鼠", "乌龟"),
        "thing": (
            "自行车",
            "吉他",
            "护照",
            "笔记本",
            "相机",
            "大衣",
            "收音机",
            "水壶",
            "帐篷",
            "雨伞",
            "台灯",
            "行李箱",
            "钱包",
        ),
        "dish": ("红烧肉", "番茄鸡蛋面", "饺子", "酸菜鱼", "南瓜粥", "蛋炒饭", "麻婆豆腐", "汤圆", "火锅", "凉皮"),
        "hobby": ("书法", "围棋", "攀岩", "摄影", "游泳", "陶艺", "跳舞", "钢琴", "种花", "画画", "骑车", "瑜伽"),
        "job": ("护士", "工程师", "设计师", "老师", "程序员", "医生", "翻译", "律师", "厨师", "会计"),
        "illness": ("感冒", "失眠", "发烧", "过敏", "胃病", "腰疼", "肺炎", "偏头痛"),
        "day": ("昨天", "今天", "上周", "前天", "上个月", "今天早上"),
        "later": ("明天", "下周", "下个月", "后天", "明年"),
        "feeling": ("开心", "难过", "焦虑", "骄傲", "孤单", "疲惫", "兴奋", "生气", "安心", "委屈"),
        "month": ("一月", "三月", "四月", "六月", "七月", "九月", "十月", "十二月"),
    },
}

SENTENCES: dict[Language, tuple[str, ...]] = {
    "en": (
        "My {bearer} {name} moved to {place} {day}.",
        "I adopted a {pet} called {name} from a shelter in {place}.",
        "I met my {bearer} {name} at the station in {place} and we talked about {hobby}.",
        "My {bearer} {name} works as a {job} in {place} now.",
        "I cooked {dish} for {number} people {day} and I felt {feeling}.",
        "My {bearer} {name} has {illness}, and I am {feeling} about it.",
        "I lost my {thing} on the bus to {place} {day}.",
        "I am going to {place} with my {bearer} {name} {later}.",
        "I started learning {hobby} with a teacher named {name}.",
        "I had a quarrel with my {bearer} {name} over {number} dollars.",
        "My {bearer} {name} broke my {thing} and never said sorry.",
        "I got promoted {day} and I'm so {feeling}.",
        "I have an interview at a company named {name} in {place} {later}.",
        "My grandmother grew up in {place} and she always made {dish}.",
        "I can't sleep, I had {illness} for {number} days.",
        "My {bearer} {name} got engaged {day}, I'm {feeling}.",
        "I passed my {hobby} exam with {number} points.",
        "I love {dish}, my {bearer} {name} hates it.",
        "We have a reunion in {place} on {month} {number}.",
        "I was so {feeling} when my {bearer} {name} called {day}.",
        "I bought a {thing} for {number} dollars in {place}.",
        "My {pet} {name} ran away {day} and I looked for it in all of {place}.",
        "I am thinking of leaving my job as a {job}.",
        "What do you think about {hobby}?",
        "It rained all day here.",
        "By the way, how are you?",
    ),
    "zh": (
        "我{bearer}叫{name}，{day}搬到了{place}。",
        "我养了一只{pet}，名叫{name}，特别喜欢吃{dish}。",
        "{day}我和{bearer}在{place}聊了很久{hobby}。",
        "我{bearer}在{place}当{job}，名字叫{name}。",
        "我{day}给{number}个人做了{dish}，觉得很{feeling}。",
        "我{bearer}得了{illness}，我很{feeling}。",
        "我{day}在去{place}的车上丢了{thing}。",
        "我{later}要和{bearer}去{place}旅行。",
        "我开始学{hobby}了，老师名叫{name}。",
        "我因为{number}块钱和{bearer}吵了一架。",
        "我{day}升职了，真的很{feeling}。",
        "我{later}在{place}有个面试，有点{feeling}。",
        "我外婆是{place}人，她做的{dish}最好吃。",
        "我这{number}天一直{illness}，睡不着。",
        "我{bearer}{day}订婚了，我挺{feeling}的。",
        "我的{hobby}考试考了{number}分。",
        "我最喜欢{dish}，我{bearer}却讨厌它。",
        "我{day}花{number}块钱买了{thing}。",
        "我家的{pet}{day}跑丢了，我找遍了{place}。",
        "我在想要不要辞掉{job}的工作。",
        "我{bearer}弄坏了我的{thing}，也没有道歉。",
        "你觉得{hobby}怎么样？",
        "今天一直在下雨。",
    ),
}

REPLIES: dict[Language, tuple[str, ...]] = {
    "en": ("I see. How was that for you?", "Tell me more.", "That sounds like a lot.", "Oh, really?", "I'm with you."),
    "zh": ("嗯，我在听。", "后来呢？", "听起来不容易。", "真的呀？", "你当时是什么感觉？"),
}

"""What a sentence is about: a few things that people tell a companion, in English and Chinese."""

from echovessel.llm.offline.text import holds

TOPICS: dict[str, tuple[str, ...]] = {
    "pet": (
        "猫", "狗", "兔子", "仓鼠", "鹦鹉", "乌龟", "宠物", "小狗", "小猫",
        "cat", "cats", "kitten", "dog", "dogs", "puppy", "rabbit", "hamster", "parrot", "turtle", "pet",
        "pets",
    ),
    "family": (
        "妈妈", "母亲", "爸爸", "父亲", "爸妈", "父母", "哥哥", "弟弟", "姐姐", "妹妹", "奶奶", "爷爷",
        "外婆", "外公", "姥姥", "老公", "老婆", "丈夫", "妻子", "儿子", "女儿", "孩子", "家人", "我爸", "我妈",
        "老爸", "老妈", "mother",
        "mom", "mum", "father", "dad", "parents", "brother", "sister", "grandmother", "grandfather",
        "grandma", "grandpa", "husband", "wife", "son", "daughter", "kid", "kids", "children", "family",
        "aunt", "uncle", "cousin", "baby",
    ),
    "people": (
        "朋友", "同学", "室友", "邻居", "男朋友", "女朋友", "男友", "女友", "闺蜜", "同事", "老板", "老师",
        "friend", "friends", "boyfriend", "girlfriend", "partner", "roommate", "neighbour", "neighbor",
        "colleague", "coworker", "boss", "teacher",
    ),
    "work": (
        "工作", "上班", "公司", "面试", "项目", "升职", "辞职", "被裁", "医院", "程序员", "工程师", "护士",
        "医生", "老师", "work", "works", "working", "job", "office", "career", "living", "interview",
        "project", "promoted", "promotion", "nurse", "engineer", "developer", "designer", "teacher", "doctor",
        "company", "fired", "laid off",
    ),
    "study": (
        "考试", "学校", "大学", "毕业", "论文", "学习", "录取", "作业",
        "exam", "school", "university", "college", "thesis", "degree", "study", "studying", "studies",
        "graduated",
    ),
    "health": (
        "生病", "医院", "失眠", "手术", "感冒", "发烧", "确诊", "过敏", "怀孕", "身体",
        "sick", "ill", "hospital", "surgery", "insomnia", "diagnosed", "allergic", "allergy", "pregnant",
        "doctor", "therapy", "health", "anxiety", "cancer",
    ),
    "plan": (
        "打算", "计划", "准备去", "下周", "下个月", "明年", "旅行", "旅游", "搬家", "搬到", "想学", "开始学",
        "plan", "plans", "planning", "going to", "next week", "next month", "next year", "trip", "travel",
        "move to", "moving", "vacation", "holiday", "learning",
    ),
    "home": (
        "住在", "老家", "家乡", "出生在", "来自", "搬到",
        "live in", "lives in", "living in", "moved to", "born in", "grew up", "come from", "hometown",
        "i'm from",
    ),
    "birthday": ("生日", "birthday"),
    "taste": (
        "喜欢", "最爱", "爱吃", "爱喝", "讨厌", "爱好",
        "favourite", "favorite", "love", "hate", "enjoy", "hobby", "like", "likes", "loves",
    ),
}  # fmt: skip

# Within these, a question about one kind is not answered by another: a dog is no cat.
DISTINCT = frozenset({"pet", "family", "people"})
GENERAL = frozenset({"宠物", "家人", "家里人", "pet", "pets", "family", "people", "朋友", "friend", "friends"})
SYNONYMS: tuple[tuple[str, ...], ...] = (
    ("猫", "cat", "cats", "kitten"),
    ("狗", "dog", "dogs", "puppy"),
    ("妈妈", "母亲", "我妈", "老妈", "mother", "mom", "mum"),
    ("爸爸", "父亲", "我爸", "老爸", "father", "dad"),
    ("孩子", "儿子", "女儿", "kid", "kids", "children", "son", "daughter", "baby"),
    ("丈夫", "老公", "husband"),
    ("妻子", "老婆", "wife"),
    ("奶奶", "外婆", "姥姥", "grandmother", "grandma"),
    ("爷爷", "外公", "grandfather", "grandpa"),
    ("男朋友", "男友", "boyfriend", "女朋友", "女友", "girlfriend", "partner"),
    ("生日", "出生", "birthday", "born"),
    ("结婚", "婚礼", "订婚", "wedding", "married", "marrying", "engaged"),
    ("工作", "上班", "职业", "work", "works", "job", "做什么的"),
    ("搬家", "搬到", "搬去", "move", "moving", "moved"),
    ("住", "老家", "live", "lives", "living", "home"),
)


def shared_topics(question: str, text: str) -> int:
    """How many things `question` and `text` have in common."""
    both = set(topics(question)) & set(topics(text))
    loose = [topic for topic in both if topic not in DISTINCT or holds(question, GENERAL & set(TOPICS[topic]))]
    return len(loose) + sum(bool(holds(question, same) and holds(text, same)) for same in SYNONYMS)


def bearers(text: str) -> frozenset[str]:
    """The people and animals that `text` speaks of, each by the first of its synonyms; general words say
    nothing of whom.

    >>> bearers("我妈") == bearers("母亲"), bearers("my family")
    (True, frozenset())
    """
    found = {word for topic in DISTINCT for word in holds(text, TOPICS[topic])} - GENERAL
    return frozenset(next((same[0] for same in SYNONYMS if word in same), word) for word in found)


def topics(text: str) -> list[str]:
    """The topics of `text`, in the order of the table.

    >>> topics("My sister has a cat")
    ['pet', 'family']
    """
    return [topic for topic, words in TOPICS.items() if holds(text, words)]

"""Which of the given recollections answers a question, and how to tell it to the one it is about."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from echovessel.llm.offline.asking import is_question
from echovessel.llm.offline.person import in_second_person
from echovessel.llm.offline.smalltalk import is_small_talk
from echovessel.llm.offline.text import CJK, words
from echovessel.llm.offline.topics import bearers, shared_topics, topics

# What is left of a question after these is what it asks for.
SMALL_ZH = re.compile(
    "什么时候|哪一天|哪天|哪年|几号|做什么|干什么|干嘛|怎么样了|聊过|聊|多大|几岁|提过|提到|讲过|来着|叫做|都|"
    "跟|从|对|给|把|请|"
    "说说|讲讲|到底|发生|家的?(?=[是叫])|还记得|记不记得|记得|知不知道|知道|告诉过|告诉|上次|之前|以前|说过的|"
    "说过|说的|什么|名字|怎么样|怎么|哪里|哪儿|多少|"
    "关于|我们|事情|那个|这个|一下|还有|现在|最近|你|我|他|她|它|吗|呢|吧|啊|呀|么|的|了|过|是|有|叫|谁|哪|几|"
    "在|和|说|事|会|要|想"
)
SMALL_EN = words(
    """a an the do does did you your i me my mine we our is are was were am be been have has had of in
    on at to for with about and or but if so that this it its he she they his her their what who where
    when why how which remember recall know tell told say said still name names called anything
    something everything any some ever last time can could would will not no yes please just really
    we us talk talked about he's she's it's how's where which old happened happen there here ours let
    think mean i'm i've what's who's where's when's don't"""
)
# What somebody asked to have remembered stands there as it was said, with the speaker before it.
SAID = re.compile(r"(?P<speaker>.{1,120}?)(?:: |：)“(?P<words>.+)”", re.DOTALL)
SAME = 0.7  # share of common pairs of letters above which two recollections tell the same


@dataclass(frozen=True)
class Memory:
    """Something the persona may say that it remembers: `told` speaks to the user; `text` is as it was
    given."""

    text: str
    told: str
    layer: str


def memories(material: Mapping[str, Any]) -> list[Memory]:
    """What may be told, best first: recollections, then what the user said a moment ago. Neither the
    persona's own words nor questions nor the lines to be answered: none of them is a memory."""
    burst = {line.strip() for line in material["lines"]}
    recent = [
        {"text": line["content"], "layer": "L2", "speaker": line["role"]}
        for line in reversed(material.get("recent", ()))
    ]
    recollections = [_as_said(item, material) for item in material.get("recollections", ())]
    told = [
        _memory(item, material)
        for item in (*recollections, *recent)
        if item["text"].strip() not in burst and not _is_no_memory(item)
    ]
    return _without_repeats(told)


def about(question: str, known: Sequence[Memory], *, by_topic: bool = True) -> list[Memory]:
    """Those of `known` that `question` asks for, best first; all of them, if it asks for nothing in
    particular. Without `by_topic` they must hold its very words or what answers it."""
    wanted = asked_for(question)
    kinds = [answer for asks, answer in ANSWERS if asks.search(question)]
    if not wanted and not kinds and not topics(question):
        return list(known)
    scored = [(_fit(memory, wanted, kinds, question, by_topic), memory) for memory in known]
    return [memory for fit, memory in sorted(scored, key=lambda pair: (-pair[0], pair[1].layer == "L2")) if fit > 0]


def asked_for(question: str) -> list[str]:
    """The telling words of a question: Latin words without their endings, and Chinese pairs (or what is left
    of one character).

    >>> asked_for("你还记得我的猫吗？"), asked_for("Do you remember my cat's name?")
    (['猫'], ['cat'])
    """
    chinese = [
        run[at : at + 2]
        for run in re.findall(r"[\u3400-\u9fff]+", SMALL_ZH.sub(" ", question))
        for at in range(max(1, len(run) - 1))
    ]
    latin = [re.sub(r"'s$", "", word) for word in re.findall(r"[a-z][a-z'-]+", question.casefold().replace("’", "'"))]
    return [*chinese, *(_stem(word) for word in latin if word not in SMALL_EN)]


def _stem(word: str) -> str:
    bare = re.sub(r"(?:ing|ed|es|s|e)$", "", word)
    return bare if len(bare) > 2 else word


# What a question wants to know, and what in the words told to the user answers it.
ANSWERS: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = (
    (re.compile(r"how old am i|my age|我(?:今年|现在)?(?:几岁|多大)|我的?年龄", re.I),
     re.compile(r"\byou(?:'re| are| turned| just turned) (?:only )?\d{1,3}\b|"
                r"你\S{0,5}\d{1,3}\s*岁|你今年\S{0,2}\d", re.I)),
    (re.compile(r"\bwhere\b.*\bi\b.*\b(?:live|living|from)|我(?:现在)?(?:住|生活)在?哪|我是哪里人", re.I),
     re.compile(r"\byou\b[^.]*\b(?:live|living|moved|come from|are from|work\b[^.]*)\b[^.]*\b"
                r"(?:in|to|from) [A-Z]|你[^。]*(?:住|搬到|来自|在\S{2,6}(?:做|当|工作|上班))", re.I)),
    (re.compile(r"when was i born|my birthday|我的?(?:生日|出生)|我(?:是)?(?:什么时候|哪年|哪天)出生", re.I),
     re.compile(r"\byou were born|your birthday|你的?生日|你[^。]*出生", re.I)),
    (re.compile(r"what do i do\b|my job|我(?:是)?(?:做什么|干什么)的", re.I),
     re.compile(r"\byou (?:\w+ )?work|\byour job|\byou are an? \w+|"
                r"你(?:是|在)[^。]*(?:工作|上班|师|员|医生|护士)", re.I)),
    (re.compile(r"\bdo i (?:\w+ )?(?:like|love|hate|enjoy)|我(?:喜不喜欢|喜欢|讨厌|爱)", re.I),
     re.compile(r"\byou (?:\w+ )?(?:like|love|hate|enjoy|adore|dislike)|你\S{0,3}(?:喜欢|讨厌|爱)", re.I)),
)  # fmt: skip
ANSWERED = 4
ENDINGS = "(?:s|es|e|ed|d|ing|r|er|y|ic|ies|ion|'s)?"
MEANS_ME = re.compile(r"\b(?:i|me)\b|我(?!的?\S{1,3}(?:叫|在|是))", re.I)


def _fit(memory: Memory, wanted: Sequence[str], kinds: Sequence[re.Pattern[str]], question: str, by_topic: bool) -> int:
    lower = memory.text.casefold()
    hits = sum(_begins_in(word, lower) for word in wanted)
    answered = ANSWERED * any(kind.search(memory.told) for kind in kinds)
    if not (hits or answered or by_topic) or _about_another(question, memory.text):
        return 0
    fit = 2 * hits + answered + 2 * shared_topics(question, memory.text)
    elsewhere = MEANS_ME.search(question) and not bearers(question) and bearers(memory.text)
    return max(1, fit - ANSWERED) if elsewhere and fit else fit


def _about_another(question: str, text: str) -> bool:
    """Whether `question` is about someone and `text` about someone else: a father's work is not a sister's."""
    asked = bearers(question)
    return bool(asked and bearers(text)) and not asked & bearers(text)


def _begins_in(word: str, lower: str) -> bool:
    """Whether `word` occurs in `lower`: a Latin one as a whole word, whatever its ending."""
    if word not in lower:
        return False
    return bool(CJK.search(word)) or re.search(rf"(?<![a-z]){re.escape(word)}{ENDINGS}(?![a-z])", lower) is not None


def _is_no_memory(item: Mapping[str, Any]) -> bool:
    text = item["text"]
    return item["layer"] == "L2" and (item["speaker"] != "user" or is_question(text) or is_small_talk(text))


def _as_said(item: Mapping[str, Any], material: Mapping[str, Any]) -> Mapping[str, Any]:
    """A line that was remembered word for word, as the line that it was."""
    said = SAID.fullmatch(item["text"].strip()) if item["layer"] == "L3" else None
    roles = {material["persona_name"]: "persona", material["user_name"]: "user"}
    if said is None or said["speaker"] not in roles:
        return item
    return {"text": said["words"], "layer": "L2", "speaker": roles[said["speaker"]]}


def _memory(item: Mapping[str, Any], material: Mapping[str, Any]) -> Memory:
    text = item["text"].strip()
    if item["layer"] == "L2":
        return Memory(text, text, "L2")
    told = in_second_person(text, material["user_name"], material["persona_name"])
    return Memory(text, told, item["layer"])


def _without_repeats(told: Sequence[Memory]) -> list[Memory]:
    kept: list[tuple[Memory, set[str]]] = []
    for memory in told:
        pairs = _pairs(memory.text)
        if all(_alike(pairs, others) < SAME for _, others in kept):
            kept.append((memory, pairs))
    return [memory for memory, _ in kept]


def _alike(pairs: set[str], others: set[str]) -> float:
    """What is common to both as a share of the smaller one."""
    return len(pairs & others) / max(1, min(len(pairs), len(others)))


def _pairs(text: str) -> set[str]:
    """The pairs of letters that stand side by side in `text`."""
    letters = "".join(character for character in text.casefold() if character.isalnum() or CJK.match(character))
    return {letters[at : at + 2] for at in range(len(letters) - 1)}

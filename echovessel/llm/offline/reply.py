"""The persona's reply by rule: what was recalled, an echo of what was said, and a question back."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from echovessel.llm.offline.feeling import weighed
from echovessel.llm.offline.names import names_in
from echovessel.llm.offline.phrases import EN, ZH, Phrases
from echovessel.llm.offline.recollecting import Memory, about, asked_for, memories
from echovessel.llm.offline.text import CJK, clipped, is_chinese, is_question, pick, sentences
from echovessel.llm.offline.topics import topics

RECALL = re.compile(
    r"记得|记不记得|忘了|你知道我|我(?:跟|和)你说过|我(?:叫|是|住|养|有)\S*(?:什么|谁|哪|几|吗)|我的\S+(?:什么|谁|哪|几|吗)|"
    r"\bremember\b|\brecall\b|\bdid i (?:ever )?(?:tell|mention|say)|"
    r"\bdo you know (?:my|what i|who i|where i|about my)|"
    r"\b(?:what|who|where|when|how)(?:'s|\s+(?:is|are|was|were))?\s+(?:the name of )?my\b|"
    r"\b(?:what|who|where|when|which)\b.*\b(?:do|did|am|have) i\b",
    re.I,
)
IDENTITY = re.compile(
    r"你是谁|你叫什么|你是(?:真)?人|你是不是|你是\s*ai|机器人|\bwho are you\b|\byour name\b|"
    r"\bare you (?:an? )?(?:ai|bot|robot|human|real|person|machine)\b",
    re.I,
)
HOW_ARE_YOU = re.compile(
    r"你好吗|你(?:今天|最近)?(?:怎么样|好不好|过得)|在干嘛|在干什么|how are you|how's it going|what's up",
    re.I,
)
GREETING = re.compile(
    r"^(?:你好|您好|嗨|哈喽|哈啰|早|早上好|晚上好|下午好|在吗|我来了|我回来了|"
    r"hi|hello|hey|good (?:morning|evening|afternoon)|"
    r"i'm back)(?![a-z])\W*(?:\w+\W*)?$",
    re.I,
)
THANKS = re.compile(r"^(?:谢谢|多谢|谢啦|感谢|thanks|thank you|thx)", re.I)
GOODBYE = re.compile(
    r"^(?:晚安|再见|拜拜|我先走了|下次聊|先这样|good ?night|bye|goodbye|see you|talk (?:to you )?later)", re.I
)
QUOTE_ZH, QUOTE_EN = 28, 70
TOLD_CHARACTERS = 220
SHORT_TALK = 24
FEW_WORDS = 2
MOST_TOLD = 2


@dataclass(frozen=True)
class Talk:
    """The material of one reply, and the voice that answers."""

    material: Mapping[str, Any]

    @cached_property
    def burst(self) -> str:
        """All lines to be answered."""
        return "\n".join(line.strip() for line in self.material["lines"])

    @cached_property
    def chinese(self) -> bool:
        """Whether to answer in Chinese: in the language of the lines, else in the persona's."""
        return is_chinese(self.burst, default=self.material["language"] == "zh")

    @property
    def phrases(self) -> Phrases:
        """The sentences of that language."""
        return ZH if self.chinese else EN

    @cached_property
    def statements(self) -> list[str]:
        """What the user states."""
        return [one for one in self._sentences if not is_question(one)]

    @cached_property
    def questions(self) -> list[str]:
        """What the user asks."""
        return [one for one in self._sentences if is_question(one)]

    @cached_property
    def _sentences(self) -> list[str]:
        return [self.burst[start:end] for start, end in sentences(self.burst)]

    @cached_property
    def memories(self) -> list[Memory]:
        """What may be told of the past."""
        return memories(self.material)

    def say(self, options: Sequence[str], **words: str) -> str:
        """One of `options` with its words filled in; the same for the same talk, and no opening twice in a
        row."""
        said = " ".join(line["content"] for line in self.material.get("recent", ()) if line["role"] == "persona")
        seed = f"{self.material['persona_name']}|{self.burst}|{len(self.material.get('recent', ()))}"
        known = {"persona": self.material["persona_name"], "name": self._address}
        return pick(options, seed, avoid=said).format(**known, **words)

    @property
    def _address(self) -> str:
        name = self.material["user_name"]
        return (f"{name}，" if self.chinese else f"{name}, ") if name else ""


def replied(material: Mapping[str, Any]) -> str:
    """The reply to `material` (its shape is in the package's docstring)."""
    talk = Talk(material)
    kinds: tuple[tuple[Callable[[Talk], bool], Callable[[Talk], str]], ...] = (
        (lambda talk: weighed(talk.burst).in_crisis, lambda talk: talk.say(talk.phrases.crisis)),
        (_asks_to_recall, _recalled),
        (lambda talk: bool(IDENTITY.search(talk.burst)), lambda talk: talk.say(talk.phrases.who)),
        (
            lambda talk: bool(THANKS.search(talk.burst)) and _is_short(talk),
            lambda talk: talk.say(talk.phrases.thanks),
        ),
        (
            lambda talk: bool(GOODBYE.search(talk.burst)) and _is_short(talk),
            lambda talk: talk.say(talk.phrases.goodbye),
        ),
        (lambda talk: bool(HOW_ARE_YOU.search(talk.burst)), lambda talk: talk.say(talk.phrases.how_are_you)),
        (lambda talk: bool(GREETING.search(talk.burst)) and _is_short(talk), _greeted),
        (lambda talk: not _says_much(talk), lambda talk: talk.say(talk.phrases.listening)),
        (lambda talk: bool(talk.statements), _acknowledged),
    )
    answer = next((answer for fits, answer in kinds if fits(talk)), _unanswered)
    words = answer(talk)
    return words[:1].upper() + words[1:]


def _is_short(talk: Talk) -> bool:
    return len(talk.burst) <= SHORT_TALK


def _says_much(talk: Talk) -> bool:
    """More than a sound or a sign."""
    return len(CJK.findall(talk.burst)) + len(re.findall(r"[a-z']+", talk.burst, re.I)) > FEW_WORDS


def _asks_to_recall(talk: Talk) -> bool:
    return any(RECALL.search(question) for question in talk.questions)


def _recalled(talk: Talk) -> str:
    """Tells what is remembered about the question; else says that nothing is, and what there is instead."""
    question = next(one for one in talk.questions if RECALL.search(one))
    found = about(question, talk.memories)
    if found:
        follow_up = _about_topic(talk, talk.phrases.after, f"{question} {found[0].text}")
        return _joined(talk, [_told(talk, found[0]), *_second(talk, found, question), follow_up])
    events = [memory for memory in talk.memories if memory.layer == "L3"]
    if events:
        return talk.say(talk.phrases.remembers_other, told=_sentence(talk, events[0].told))
    return talk.say(talk.phrases.remembers_nothing)


def _told(talk: Talk, memory: Memory) -> str:
    lead = {"L2": talk.phrases.remembers_words, "L4": talk.phrases.senses}.get(memory.layer, talk.phrases.remembers)
    told = clipped(memory.told, TOLD_CHARACTERS)
    return talk.say(lead, told=told if memory.layer == "L2" else _sentence(talk, told))


def _second(talk: Talk, found: Sequence[Memory], question: str) -> list[str]:
    """A second event, where the question was about everything or about what both tell."""
    others = [memory for memory in found[1:] if memory.layer == "L3"][: MOST_TOLD - 1]
    wanted = asked_for(question)
    fitting = [memory for memory in others if not wanted or any(word in memory.text.casefold() for word in wanted)]
    return [talk.phrases.also.format(told=_sentence(talk, memory.told)) for memory in fitting]


def _greeted(talk: Talk) -> str:
    events = [memory for memory in talk.memories if memory.layer == "L3"]
    if events:
        return talk.say(talk.phrases.greeting_again, told=_sentence(talk, clipped(events[0].told, TOLD_CHARACTERS)))
    return talk.say(talk.phrases.greeting)


def _acknowledged(talk: Talk) -> str:
    """An echo of what weighs most, a memory that belongs to it, and a question that fits."""
    told = max(talk.statements, key=lambda one: abs(weighed(one).impact))
    impact = weighed(told).impact
    names = names_in(" ".join(talk.statements))
    echo = talk.say(_mood_of(talk.phrases, impact), quote=_quoted(talk, told))
    if impact <= -4:
        return _joined(talk, [echo, talk.say(talk.phrases.asks_gently)])
    if names:
        asks = talk.phrases.asks_about_name
        question = talk.say(asks.get(names[0].kind, asks[""]), thing=names[0].name)
        return _joined(talk, [echo, talk.say(talk.phrases.named, thing=names[0].name), question])
    return _joined(talk, [echo, *_linked(talk, told), _about_topic(talk, talk.phrases.asks, talk.burst)])


def _mood_of(phrases: Phrases, impact: int) -> tuple[str, ...]:
    steps = ((-6, phrases.heavy), (-1, phrases.sad), (0, phrases.plain), (4, phrases.warm))
    return next((options for limit, options in steps if impact <= limit), phrases.bright)


def _linked(talk: Talk, told: str) -> list[str]:
    """A recalled event that names what was just named; nothing vaguer, lest it sound like guessing."""
    wanted = [word for word in asked_for(told) if len(word) > 1]
    events = [
        memory
        for memory in talk.memories
        if memory.layer == "L3" and any(name.name.casefold() in told.casefold() for name in names_in(memory.text))
    ]
    if not wanted or not events:
        return []
    return [talk.phrases.linked.format(told=_sentence(talk, clipped(events[0].told, TOLD_CHARACTERS)))]


def _about_topic(talk: Talk, questions: Mapping[str, tuple[str, ...]], text: str) -> str:
    topic = next((topic for topic in topics(text) if topic in questions), "")
    return talk.say(questions[topic])


def _unanswered(talk: Talk) -> str:
    return talk.say(talk.phrases.no_answer)


def _quoted(talk: Talk, sentence: str) -> str:
    """A piece of what was said that fits between quotation marks."""
    bare = sentence.strip().strip('"“”「」').rstrip("。.!！…~～")
    return clipped(bare, QUOTE_ZH if talk.chinese else QUOTE_EN)


def _sentence(talk: Talk, told: str) -> str:
    """`told` as a sentence of its own."""
    ended = told if re.search(r"[。.!！?？…”\"]$", told) else told + ("。" if CJK.search(told) else ".")
    return ended[:1].upper() + ended[1:]


def _joined(talk: Talk, parts: Sequence[str]) -> str:
    return ("" if talk.chinese else " ").join(part for part in parts if part)

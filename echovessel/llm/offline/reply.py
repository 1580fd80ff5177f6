"""The persona's reply by rule: what was recalled, an echo of what was said, and a question back."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from echovessel.llm.offline.asking import is_question
from echovessel.llm.offline.extraction import told_in_question
from echovessel.llm.offline.feeling import weighed
from echovessel.llm.offline.names import names_in
from echovessel.llm.offline.phrases import EN, ZH, Phrases
from echovessel.llm.offline.recollecting import Memory, about, asked_for, memories
from echovessel.llm.offline.smalltalk import FORGET_THAT, GOODBYE, GREETING, HOW_ARE_YOU, SHORT, THANKS, is_small_talk
from echovessel.llm.offline.text import CJK, as_sentence, clipped, is_chinese, pick, sentences
from echovessel.llm.offline.topics import topics

# Questions about what the user told: whatever asks for something of "my", or who or where someone is.
RECALL = re.compile(
    r"记得|记不记得|忘了|我的?[^，。,.]{1,5}呢\W*$|你知道我|(?:跟|和)你(?:说|讲|提|聊)过|我们(?:之前|上次|都)?(?:聊|说|谈)过|"
    r"你(?:都)?(?:了解|知道)[^，。]{0,3}我|"
    r"我[^，。,.]*(?:什么|谁|哪|几|多少|多大|吗|来着|怎么样了)|(?:说说|讲讲|告诉我)[^，。]*我|"
    r"^(?!.*你)(?!.*(?:今天|天气|现在)).*(?:是谁|叫什么|怎么样了|在哪|多大了|几岁|什么时候)|"
    r"\bremember\b|\brecall\b|\b(?:did|have) i (?:ever |already )?(?:tell|told|mention|say|said)|"
    r"\bdo you know (?:my|what i|who|where|if i|whether i|about|when|anything about)|"
    r"\bwhat (?:do|did) you (?:know|remember|learn) (?:about|of) (?:me|my)|\bwhat (?:did|have) we (?:talk|speak|"
    r"say|discuss)|"
    r"\b(?:what|who|where|when|which|whose|how (?:old|many|much|tall|long))\b.*\b(?:my|our|mine)\b|"
    r"\bhow(?:'s|\s+(?:is|are|was|were))\s+(?:my|our)\b|"
    r"\b(?:what|who|where|when|which|how (?:old|many|much|tall|long))\b.*\b(?:do|did|am|was|have|had) (?:i|we)\b|"
    r"^(?:do|did|am|was|have|had) i (?!look|seem|sound|do the right)|\bwhen(?:'s|\s+(?:is|was)) the\b|"
    r"\bwhat (?:happened|has happened) (?:to|with)\b|\b(?:tell|remind) me (?:again )?(?:about|of|what|who|where|"
    r"when)\b(?! (?:you|yourself))",
    re.I,
)
WHO_IS = re.compile(
    r"\b(?:[Ww]ho|[Ww]here|[Hh]ow(?: old)?)(?:'s|\s+(?:is|was))\s+[A-Z\u3400-\u9fff]\w*\W*$|\bdo you know [A-Z]\w+"
)
# Questions that want advice or an opinion look nothing up.
ADVICE = re.compile(
    r"怎么办|该怎么|应该|该不该|要不要|可不可以|能不能|可以.*吗|你觉得|你认为|为什么|怎么才能|"
    r"\bshould (?:i|we)\b|\bcan (?:i|we|you)\b(?!.*\bremember\b)|\bcould (?:i|we)\b|\bwhy\b|\bhow (?:do|can|"
    r"could|would) (?:i|we)\b|"
    r"\bwhat (?:do|can|would) (?:i|we) do(?: now| about| with| when| if)?\W*$|\bdo you think\b|\bwhat do you think\b",
    re.I,
)
OWN_NAME = re.compile(
    r"我(?:叫什么|是谁|的名字)|\bmy name\b(?!.*\b(?:cat|dog)\b)|\bwho am i\b|\bwhat am i called\b", re.I
)
IDENTITY = re.compile(
    r"你是谁|你叫什么|你是(?:真)?人|你是不是|你是\s*ai|机器人|\bwho are you\b|\byour name\b|"
    r"\bare you (?:an? )?(?:ai|bot|robot|human|real|person|machine)\b",
    re.I,
)
QUOTE_ZH, QUOTE_EN = 28, 70
TOLD_CHARACTERS = 220
HEAVY = 7
TENDER = -4
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
        """What the user states, also beside a question."""
        beside = [one[start:end] for one in self.questions for start, end in told_in_question(one)]
        return [one for one in self._sentences if not is_question(one)] + beside

    @cached_property
    def questions(self) -> list[str]:
        """What the user asks."""
        return [one for one in self._sentences if is_question(one)]

    @cached_property
    def looked_up(self) -> str:
        """The question that asks for what the user told; "" for none."""
        return next((one for one in self.questions if _looks_up(one)), "")

    @cached_property
    def main_statement(self) -> str:
        """The statement that matters most: by weight, names, topics, and length; "" for none."""
        said = [one for one in self.statements if not is_small_talk(one)] or self.statements
        return max(said, key=_importance, default="")

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
        known = {"persona": self.material["persona_name"], "name": self._address, "user": self.material["user_name"]}
        return pick(options, seed, avoid=said).format(**known, **words)

    @property
    def _address(self) -> str:
        name = self.material["user_name"]
        return (f"{name}，" if self.chinese else f"{name}, ") if name else ""


def _importance(statement: str) -> tuple[int, int, int, int]:
    return abs(weighed(statement).impact), len(names_in(statement)), len(topics(statement)), len(statement)


def _looks_up(question: str) -> bool:
    return bool(RECALL.search(question) or WHO_IS.search(question)) and not ADVICE.search(question)


def replied(material: Mapping[str, Any]) -> str:
    """The reply to `material` (its shape is in the package's docstring)."""
    talk = Talk(material)
    kinds: tuple[tuple[Callable[[Talk], bool], Callable[[Talk], str]], ...] = (
        (lambda talk: weighed(talk.burst).in_crisis, _cared_for),
        (lambda talk: bool(talk.material.get("crisis")), lambda talk: talk.say(talk.phrases.cared)),
        (_asks_to_forget, lambda talk: talk.say(talk.phrases.forgetting)),
        (_tells_heavy, _acknowledged),
        (_asks_own_name, lambda talk: talk.say(talk.phrases.your_name)),
        (lambda talk: bool(talk.looked_up), _recalled),
        (lambda talk: bool(IDENTITY.search(talk.burst)), lambda talk: talk.say(talk.phrases.who)),
        (_is_short(THANKS), lambda talk: talk.say(talk.phrases.thanks)),
        (_is_short(GOODBYE), lambda talk: talk.say(talk.phrases.goodbye)),
        (lambda talk: bool(HOW_ARE_YOU.search(talk.burst)), lambda talk: talk.say(talk.phrases.how_are_you)),
        (_is_short(GREETING), _greeted),
        (lambda talk: not (_says_much(talk) or talk.questions), lambda talk: talk.say(talk.phrases.listening)),
        (lambda talk: bool(_reminded(talk)) and not _importance(talk.main_statement)[0], _tells_reminded),
        (lambda talk: bool(talk.statements), _acknowledged),
    )
    answer = next((answer for fits, answer in kinds if fits(talk)), _unanswered)
    words = answer(talk)
    return words[:1].upper() + words[1:]


def _cared_for(talk: Talk) -> str:
    """What helps, in full; where just that was said a moment ago, in other words."""
    full = talk.say(talk.phrases.crisis)
    said = any(line["role"] == "persona" and line["content"] == full for line in talk.material.get("recent", ()))
    return talk.say(talk.phrases.cared) if said else full


def _is_short(words: re.Pattern[str]) -> Callable[[Talk], bool]:
    return lambda talk: len(talk.burst) <= SHORT and bool(words.search(talk.burst))


def _asks_to_forget(talk: Talk) -> bool:
    """Nothing but that; nobody asks for it at the end of a story."""
    return len(talk.burst) <= 2 * SHORT and bool(FORGET_THAT.search(talk.burst))


def _says_much(talk: Talk) -> bool:
    """More than a sound or a sign."""
    return len(CJK.findall(talk.burst)) + len(re.findall(r"[a-z']+", talk.burst, re.I)) > FEW_WORDS


def _tells_heavy(talk: Talk) -> bool:
    """Something that must be met before any question is answered."""
    return weighed(talk.main_statement).impact <= -HEAVY


def _asks_own_name(talk: Talk) -> bool:
    return bool(talk.material["user_name"]) and any(OWN_NAME.search(one) and not topics(one) for one in talk.questions)


def _reminded(talk: Talk) -> list[Memory]:
    """What holds the very words of a question that looks nothing up."""
    asked = [one for one in talk.questions if asked_for(one) and not ADVICE.search(one)]
    return about(asked[-1], talk.memories, by_topic=False) if asked else []


def _tells_reminded(talk: Talk) -> str:
    return _tells(talk, talk.questions[-1], _reminded(talk))


def _recalled(talk: Talk) -> str:
    """Tells what is remembered about the question; else says that nothing is, and what there is instead."""
    question = talk.looked_up
    found = about(question, talk.memories)
    if found:
        return _tells(talk, question, found)
    if abs(weighed(talk.main_statement).impact) >= HEAVY:
        return _acknowledged(talk)
    events = [memory for memory in talk.memories if memory.layer == "L3" and weighed(memory.text).impact > -HEAVY]
    if events:
        return talk.say(talk.phrases.remembers_other, told=as_sentence(events[0].told))
    return talk.say(talk.phrases.remembers_nothing)


def _tells(talk: Talk, question: str, found: Sequence[Memory]) -> str:
    if weighed(found[0].text).impact <= TENDER:
        follow_up = talk.say(talk.phrases.after_gently)
    else:
        follow_up = _about_topic(talk, talk.phrases.after, f"{question} {found[0].text}")
    return _joined(talk, [_told(talk, found[0]), *_second(talk, found, question), follow_up])


def _told(talk: Talk, memory: Memory) -> str:
    lead = {"L2": talk.phrases.remembers_words, "L4": talk.phrases.senses}.get(memory.layer, talk.phrases.remembers)
    told = clipped(memory.told, TOLD_CHARACTERS)
    return talk.say(lead, told=told if memory.layer == "L2" else as_sentence(told))


def _second(talk: Talk, found: Sequence[Memory], question: str) -> list[str]:
    """A second event, where the question was about everything or about what both tell."""
    others = [memory for memory in found[1:] if memory.layer == "L3"][: MOST_TOLD - 1]
    wanted = asked_for(question)
    fitting = [memory for memory in others if not wanted or any(word in memory.text.casefold() for word in wanted)]
    return [talk.phrases.also.format(told=as_sentence(memory.told)) for memory in fitting]


def _greeted(talk: Talk) -> str:
    """Takes up what was told, but no sorrow: nobody is met at the door with that."""
    events = [memory for memory in talk.memories if memory.layer == "L3" and weighed(memory.text).impact > -HEAVY]
    if events:
        return talk.say(talk.phrases.greeting_again, told=as_sentence(clipped(events[0].told, TOLD_CHARACTERS)))
    return talk.say(talk.phrases.greeting)


def _acknowledged(talk: Talk) -> str:
    """An echo of what weighs most, a memory that belongs to it, and a question that fits."""
    told = talk.main_statement
    impact = weighed(told).impact
    names = names_in(" ".join(talk.statements))
    echo = talk.say(_mood_of(talk.phrases, impact), quote=_quoted(talk, told))
    if impact <= TENDER:
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
        if memory.layer == "L3"
        and weighed(memory.text).impact > -HEAVY
        and any(name.name.casefold() in told.casefold() for name in names_in(memory.text))
    ]
    if not wanted or not events:
        return []
    return [talk.phrases.linked.format(told=as_sentence(clipped(events[0].told, TOLD_CHARACTERS)))]


def _about_topic(talk: Talk, questions: Mapping[str, tuple[str, ...]], text: str) -> str:
    topic = next((topic for topic in topics(text) if topic in questions), "")
    return talk.say(questions[topic])


def _unanswered(talk: Talk) -> str:
    return talk.say(talk.phrases.no_answer)


def _quoted(talk: Talk, sentence: str) -> str:
    """A piece of what was said that fits between quotation marks."""
    bare = sentence.strip().strip('"“”「」').rstrip("。.!！…~～")
    return clipped(bare, QUOTE_ZH if talk.chinese else QUOTE_EN)


def _joined(talk: Talk, parts: Sequence[str]) -> str:
    return ("" if talk.chinese else " ").join(part for part in parts if part)

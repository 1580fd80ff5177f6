"""What is said without a model: memory mode. Questions are answered from memory; a statement gets a short word.

It is no persona's voice, and says nothing that it does not know or do: it quotes no statement back, promises nothing,
and asks at most one question in three messages.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from echovessel.language.requests import read_requests
from echovessel.llm.offline.extraction import told_in_question
from echovessel.llm.offline.feeling import impact_of, speaks_of_crisis
from echovessel.llm.offline.text import (
    CJK,
    GOODBYE,
    GREETING,
    HOW_ARE_YOU,
    SHORT,
    THANKS,
    bearers,
    is_chinese,
    is_question,
    is_small_talk,
    pick,
    sentences,
    shared_topics,
    topics,
    words,
)

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
    r"\bwhat (?:can't|cannot|shouldn't|mustn't|can not|should i not) (?:i|we)\b|"
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
TO_PERSONA = re.compile(r"\b(?:your|you|yourself)\b|[你您]", re.I)
WHY = re.compile(r"\bwhy (?:did|was|were|is|are|am|has|have|had|do|does)\b(?!.*\byou\b)|^[^你]*为什么", re.I)
JUST = re.compile(r"\bjust (?:say|said|tell|told|mention|now)\b|刚才|刚刚", re.I)
SMALL_TALK = {"thanks": THANKS, "goodbye": GOODBYE, "how_are_you": HOW_ARE_YOU, "greeting": GREETING}
HEAVY, GLAD = -6, 4
FEW_WORDS = 2
MAX_TOLD = 220  # characters
NAMELESS = ("", "the user", "用户")
MESSAGES_WITHOUT_QUESTION = 2

Phrases = Mapping[str, Sequence[str]]


@cache
def _phrases(language: str) -> Phrases:
    """What memory mode says, by occasion; variants mean the same."""
    return tomllib.loads((Path(__file__).parent / f"phrases.{language}.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Memory:
    """Something that may be told: `text` as it was given, `told` as it is said to the owner. `source` is "L3" or "L4",
    "words" where it is the owner's own, "persona" or "user" where it is of the texts that the owner wrote. `asked_of`
    is it as said to whom such a text is about."""

    text: str
    told: str
    source: str
    when: str = ""
    asked_of: str = ""

    @property
    def as_you(self) -> str:
        """The words with "you" for whom they are about, to find what answers a question in them."""
        return self.asked_of or re.sub(r"\bI\b", "you", I_AM.sub("you are", MY.sub("your", self.told))).replace(
            "我", "你"
        )


class Reply:
    """The material of one reply, and what it says to it."""

    def __init__(self, material: Mapping[str, Any]) -> None:
        self.material = material
        self.burst = "\n".join(line.strip() for line in material["lines"])
        self.is_chinese = is_chinese(self.burst, default=material["language"] == "zh")
        self.phrases = _phrases("zh" if self.is_chinese else "en")
        said = [self.burst[start:end] for start, end in sentences(self.burst)]
        self.questions = [one for one in said if is_question(one)]
        beside = [one[start:end] for one in self.questions for start, end in told_in_question(one)]
        self.statements = [one for one in said if not is_question(one)] + beside

    def say(self, key: str, **words: str) -> str:
        """A phrase with its words filled in; the same for the same material, and not one that was just said."""
        recent = [line["content"] for line in self.material.get("recent", ()) if line["role"] == "persona"]
        name = "" if self.material["user_name"] in NAMELESS else self.material["user_name"]
        known = {
            "persona": self.material["persona_name"],
            "user": name,
            "name": f"{name}{'，' if self.is_chinese else ', '}" if name else "",
        }
        seed = f"{known['persona']}|{self.burst}|{len(self.material.get('recent', ()))}"
        return pick(self.phrases[key], seed, avoid=" ".join(recent[-3:])).format(**known, **words)

    @cached_property
    def memories(self) -> list[Memory]:
        return memories(self.material, self.statements)

    @property
    def heaviest(self) -> str:
        """Of the statements the one that weighs most; "" for none."""
        return max(self.statements, key=lambda one: abs(impact_of(one)), default="")

    def text(self) -> str:
        said = self._text()
        return said[:1].upper() + said[1:]

    def _text(self) -> str:
        burst, is_short = self.burst, len(self.burst) <= SHORT
        if speaks_of_crisis(burst):
            full = self.say("crisis")
            recent = [line["content"] for line in self.material.get("recent", ()) if line["role"] == "persona"]
            return self.say("cared") if full in recent else full
        if self.material.get("crisis"):
            return self.say("cared")
        if request := self._request():
            return request
        if impact_of(self.heaviest) <= HEAVY:
            return self.say("heavy")
        if self.material["user_name"] not in NAMELESS and any(
            OWN_NAME.search(one) and not topics(one) for one in self.questions
        ):
            return self.say("your_name")
        about_owner = (one for one in self.questions if RECALL.search(one) or WHO_IS.search(one))
        looked_up = next((one for one in about_owner if not ADVICE.search(one)), "")
        if looked_up:
            found = about(looked_up, self.memories)
            return self._tell(looked_up, found) if found else self.say("remembers_nothing")
        if IDENTITY.search(burst):
            return self.say("who")
        for key, sign in SMALL_TALK.items():
            if sign.search(burst) and (is_short or key == "how_are_you"):
                return self.say(key)
        if self.questions:
            return self._answer(self.questions[-1])
        letters = len(CJK.findall(burst)) + len(re.findall(r"[a-z']+", burst, re.I))
        return self._acknowledge() if letters > FEW_WORDS else self.say("listening")

    def _request(self) -> str:
        """A short true word on what was asked of memory; the page itself shows what would go, or what changes."""
        asked = [one for one in read_requests(self.burst) if one.sure and one.kind != "answer"]
        if not asked:
            return ""
        request = asked[-1]
        if request.kind == "remember":
            return self.say("off_the_record" if self.material.get("off_the_record") else "remembering")
        return self.say(request.kind)

    def _answer(self, question: str) -> str:
        """A question that is about nothing the owner told: what holds its very words, or is written of the persona.
        "Why did Tom and I break up?" asks for no advice where two of its words are remembered."""
        wanted = [word for word in asked_for(question) if len(word) > 2 or CJK.search(word)]
        is_open, is_why = not ADVICE.search(question), WHY.search(question)
        earlier = memories(self.material)  # what stands beside the question answers no question that looks nothing up
        found = about(question, earlier, by_topic=False) if wanted and (is_open or is_why) else []
        names = {name.casefold() for name in re.findall(r"(?<=\s)[A-Z][a-z]+", question)}
        enough = 2 if is_why else min(2, len(wanted))
        weights = {word: 2 if any(name.startswith(word) for name in names) else 1 for word in wanted}
        found = [
            one
            for one in found
            if sum(weight for word, weight in weights.items() if _stands_in(word, one.text.casefold())) >= enough
        ]
        if found:
            return self._tell(question, found)
        of_persona = [memory for memory in self.memories if memory.source == "persona"]
        turned = TO_PERSONA.sub(lambda match: TURNED[match[0].lower()], question)  # as one of the persona about itself
        if is_open and turned != question and (found := about(turned, of_persona, by_topic=False)):
            return self._tell(question, found)
        hurts = [self.say("sad")] if impact_of(self.heaviest) < 0 else []
        return ("" if self.is_chinese else " ").join([*hurts, self.say("no_answer")])

    def _tell(self, question: str, found: Sequence[Memory]) -> str:
        """The best memory, and a second one where the question asked for what both tell."""
        first, wanted = found[0], asked_for(question)
        others = [memory for memory in found[1:] if memory.source in ("L3", "words") and memory.source == first.source][
            :1
        ]
        fitting = [one for one in others if not wanted or any(_stands_in(word, one.text.casefold()) for word in wanted)]
        when = f"（{first.when}）" if self.is_chinese else f" ({first.when})"
        told = self.say(f"remembers_{first.source}", told=_shown(first), when=when if first.when else "")
        more = [
            self.phrases["also"][0].format(told=f"“{_shown(one)}”" if one.source == "words" else _shown(one))
            for one in fitting
        ]
        return ("" if self.is_chinese else " ").join([told, *more])

    def _acknowledge(self) -> str:
        """A short word by how it weighs; a question only where none was asked of late, and nothing hurts."""
        impact = impact_of(self.heaviest)
        word = self.say("sad" if impact < 0 else "glad" if impact >= GLAD else "plain")
        replies = [line["content"] for line in self.material.get("recent", ()) if line["role"] == "persona"]
        lately = replies[-MESSAGES_WITHOUT_QUESTION:]
        if impact < 0 or not lately or any("?" in reply or "？" in reply for reply in lately):
            return word
        return ("" if self.is_chinese else " ").join([word, self.say("asks")])


def reply(material: Mapping[str, Any]) -> str:
    """The reply to `material` (its shape is in the package's docstring)."""
    return Reply(material).text()


def first_word(material: Mapping[str, Any]) -> dict[str, Any]:
    """The answer of a first word: what it is about, as it is remembered, and how things are."""
    about = material["about"].strip()
    talk = Reply({**material, "lines": [about] if about else []})
    key = "first_word" if about else "first_greeting"
    if about and impact_of(about) <= HEAVY:
        key = "first_word_hard"
    said = _as_said({"text": about, "layer": "L3"}, material)
    names = material["user_name"], material["persona_name"]
    told = said["text"] if said["layer"] == "L2" else in_second_person(about, *names)
    message = talk.say(key, told=_clip(told[:1].upper() + told[1:]).rstrip("。."))
    return {"message": message[:1].upper() + message[1:]}


# --- what may be told -------------------------------------------------------------------------------------------------
# What somebody asked to have remembered, or was kept without a model, stands there as it was said, with the speaker.
QUOTATION = re.compile(r"(?P<speaker>.{1,120}?)(?:: |：)“(?P<words>.+)”", re.DOTALL)
SAME = 0.7  # share of common pairs of letters above which two recollections tell the same


def memories(material: Mapping[str, Any], statements: Sequence[str] = ()) -> list[Memory]:
    """What may be told, best first: recollections, what the user said a moment ago and now, the texts that they wrote
    of both, and who is described. Neither the persona's own words nor questions are memories."""
    asking = {line.strip() for line in material["lines"]}.difference(statements)
    recent: list[Mapping[str, Any]] = [
        {"text": one["content"], "layer": "L2", "speaker": one["role"]} for one in reversed(material.get("recent", ()))
    ]
    now: list[Mapping[str, Any]] = [{"text": one, "layer": "L2", "speaker": "user"} for one in statements]
    recollections = [_as_said(item, material) for item in material.get("recollections", ())]
    if JUST.search("\n".join(material["lines"])):
        recollections, recent = [*now, *recent], recollections
    found = []
    for item in (*recollections, *recent, *now):
        text = item["text"].strip()
        if item["layer"] != "L2":
            told = in_second_person(text, material["user_name"], material["persona_name"])
            found.append(Memory(text, told, item["layer"]))
        elif item["speaker"] == "user" and text not in asking and not is_question(text) and not is_small_talk(text):
            found.append(Memory(text, text, "words", item.get("when", "")))
    for label, content in material.get("blocks", {}).items():
        name = material[f"{label}_name"]
        for start, end in sentences(content):
            text = content[start:end]
            as_you = re.sub(r"\b(?:[Ss]he|[Hh]e) (?:is|was)\b", "you are", in_second_person(text, name, ""))
            found.append(Memory(text, text, label, asked_of=Memory("", as_you, label).as_you))
    found += [
        Memory(f"{one['name']}: {one['description']}", one["description"], "user")
        for one in material.get("entities", ())
    ]
    kept: list[tuple[Memory, set[str]]] = []
    for memory in found:
        letters = "".join(one for one in memory.text.casefold() if one.isalnum())
        pairs = {letters[at : at + 2] for at in range(len(letters) - 1)}
        if all(len(pairs & others) / max(1, min(len(pairs), len(others))) < SAME for _, others in kept):
            kept.append((memory, pairs))
    return [memory for memory, _ in kept]


def about(question: str, known: Sequence[Memory], *, by_topic: bool = True) -> list[Memory]:
    """Those of `known` that `question` asks for, best first; all of them, if it asks for nothing in
    particular. Without `by_topic` they must hold its very words or what answers it."""
    wanted = asked_for(question)
    kinds = [answer for asks, answer in ANSWERS if asks.search(question)]
    if not wanted and not kinds and not topics(question):
        return [memory for memory in known if memory.source != "persona"] if by_topic else []
    scored = [(_fit(memory, wanted, kinds, question, by_topic), memory) for memory in known]
    order = {"L3": 0, "L4": 0, "user": 1, "words": 2, "persona": 3}
    return [memory for fit, memory in sorted(scored, key=lambda pair: (-pair[0], order[pair[1].source])) if fit > 0]


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
    (re.compile(r"how old (?:am|are) i|my age|我(?:今年|现在)?(?:几岁|多大)|我的?年龄", re.I),
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
    (re.compile(r"\b(?:can't|cannot|shouldn't|mustn't|can|should) i (?:not )?(?:eat|drink|have)\b|"
                r"我[^，。]{0,3}不能吃|忌口", re.I),
     re.compile(r"\ballerg|\bintoleran|\bvegan\b|\bvegetarian\b|\b(?:don't|can't|never) (?:eat|drink)\b|过敏|不吃|吃素|"
                r"忌口|不能吃", re.I)),
)  # fmt: skip
ANSWERED = 4
ENDINGS = "(?:s|es|e|ed|d|ing|r|er|y|ic|ies|ion|'s)?"
MEANS_ME = re.compile(r"\b(?:i|me)\b|我(?!的?\S{1,3}(?:叫|在|是))", re.I)


def _fit(memory: Memory, wanted: Sequence[str], kinds: Sequence[re.Pattern[str]], question: str, by_topic: bool) -> int:
    """How well a memory answers; 0 where it does not. A father's work is not a sister's."""
    lower, asked_of, told_of = memory.text.casefold(), bearers(question), bearers(memory.text)
    if asked_of and told_of and not asked_of & told_of:
        return 0
    hits = sum(_stands_in(word, lower) for word in wanted)
    answered = ANSWERED * any(kind.search(memory.as_you) for kind in kinds)
    if not (hits or answered or by_topic):
        return 0
    fit = 2 * hits + answered + 2 * shared_topics(question, memory.text)
    is_of_another = MEANS_ME.search(question) and not asked_of and told_of
    return max(1, fit - ANSWERED) if is_of_another and fit else fit


def _stands_in(word: str, lower: str) -> bool:
    """Whether `word` occurs there: a Latin one as a whole word, whatever its ending."""
    if word not in lower or CJK.search(word):
        return word in lower
    return re.search(rf"(?<![a-z]){re.escape(word)}{ENDINGS}(?![a-z])", lower) is not None


def _as_said(item: Mapping[str, Any], material: Mapping[str, Any]) -> Mapping[str, Any]:
    """A message that was remembered word for word, as the message that it was."""
    said = QUOTATION.fullmatch(item["text"].strip()) if item["layer"] == "L3" else None
    roles = {material["persona_name"]: "persona", material["user_name"]: "user"}
    if said is None or said["speaker"] not in roles:
        return item
    return {**item, "text": said["words"], "layer": "L2", "speaker": roles[said["speaker"]]}


# --- telling it to the one it is about --------------------------------------------------------------------------------
I_AM, MY = re.compile(r"\bI(?:'m|’m| am)\b"), re.compile(r"\b[Mm]y\b")
THEY_BACK = {"they": "you", "them": "you", "their": "your", "theirs": "yours", "themselves": "yourself"}
THEY_BACK |= {"they're": "you're", "they've": "you've", "they'll": "you'll", "they'd": "you'd"}
TO_PLURAL = {"has": "have", "does": "do", "goes": "go", "is": "are", "was": "were"}
TO_PLURAL |= {"hasn't": "haven't", "doesn't": "don't", "isn't": "aren't", "wasn't": "weren't"}
ADVERBS = words("really just always never often also still usually sometimes actually finally only already")
CLAUSE_OPENERS = words("and but that because when since while if so as before after you")
TOKEN = r"[^\W_]+(?:'[a-z]+)?|\s+|."
TURNED = {"you": "i", "your": "my", "yourself": "myself", "你": "我", "您": "我"}


def in_second_person(text: str, user_name: str, persona_name: str) -> str:
    """What a model wrote of the owner in the third person, told to the owner.

    >>> in_second_person("Ana has a cat and they love it. He sits on Ana's lap.", "Ana", "Mira")
    'you have a cat and you love it. He sits on your lap.'
    """
    user = user_name or ("用户" if CJK.search(text) else "the user")
    if CJK.search(text):
        names = [(f"{re.escape(user)}他们", "你们"), (re.escape(user), "你"), (re.escape(persona_name), "我")]
        for name, pronoun in names if persona_name else names[:2]:
            text = re.sub(rf"(?<![A-Za-z]){name}(?![A-Za-z])", pronoun, text)
        if is_chinese(text):
            return text
    parts, at = [], 0
    for start, end in sentences(text):
        parts += [text[at:start], _second_person(text[start:end], user, persona_name)]
        at = end
    return "".join([*parts, text[at:]])


def _second_person(sentence: str, user: str, persona: str) -> str:
    """One English sentence; a verb right after a name that is a subject agrees with its pronoun."""
    users, personas = ({name, name[:1].upper() + name[1:]} - {""} for name in (user, persona))
    spelt = "|".join(re.escape(name) for name in sorted(users | personas, key=len, reverse=True))
    told: list[str] = []
    is_named = False
    verb_of = ""
    for token in re.findall(rf"\b(?:{spelt})(?:'s)?\b|{TOKEN}", sentence, re.DOTALL):
        name = token.removesuffix("'s")
        before = next((one for one in reversed(told) if not one.isspace()), ",")
        is_subject = before in ",;:.(" or before.lower() in CLAUSE_OPENERS
        if name in users:
            told.append("you" if name == token else "your")
            is_named, verb_of = True, "you" if is_subject and name == token else ""
        elif name in personas:
            told.append("my" if name != token else "I" if is_subject else "me")
            verb_of = "I" if is_subject and name == token else ""
        elif is_named and token.lower() in THEY_BACK:
            told.append(THEY_BACK[token.lower()])
        else:
            told.append(_agreeing(token, verb_of) if verb_of and not token.isspace() else token)
            verb_of = verb_of if token.isspace() or token.lower() in ADVERBS else ""
    said = re.sub(r"\byou (is|was|has)\b", lambda match: f"you {TO_PLURAL[match[1]]}", "".join(told))
    return re.sub(r"\bme (is|was|has)\b", lambda match: f"I {_agreeing(match[1], 'I')}", said)


def _agreeing(verb: str, subject: str) -> str:
    """The form of a verb of the third person after "you" or "I"."""
    if subject == "I" and verb in ("is", "was"):
        return "am" if verb == "is" else "was"
    if verb in TO_PLURAL or verb in ADVERBS or not verb.endswith("s") or verb.endswith("ss"):
        return TO_PLURAL.get(verb, verb)
    if verb.endswith("ies") and len(verb) > 4:
        return verb[:-3] + "y"
    return verb[:-2] if re.search(r"(?:ss|x|z|ch|sh|o)es$", verb) else verb[:-1]


def _shown(memory: Memory) -> str:
    """What is told of a memory: a sentence to the owner, or the words as they stand."""
    told = _clip(memory.told)
    if memory.source in ("words", "persona", "user"):
        return told
    ended = told if re.search(r"[。.!！?？…”\"]$", told) else told + ("。" if CJK.search(told) else ".")
    return ended[:1].upper() + ended[1:]


def _clip(text: str) -> str:
    return text if len(text) <= MAX_TOLD else text[: MAX_TOLD - 1].rstrip() + "…"

"""Replies without a model: memory mode. It answers questions from memory, and statements with a short phrase.

It is not the persona's voice, and says nothing that it does not know or do: it does not repeat statements, promises
nothing, and asks at most one question in three messages.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from echovessel.language import lazy_re as re
from echovessel.language.courses import asks_how_it_went
from echovessel.language.fact_domains import Aspect, aspects_asked, is_told_in
from echovessel.language.feelings import asks_when_last, feelings_in
from echovessel.language.overview import asks_for_overview
from echovessel.language.requests import asks_to_forget, read_requests
from echovessel.language.sentences import (
    APOLOGY,
    CJK,
    GOES_ON,
    GOODBYE,
    GREETING,
    HOW_ARE_YOU,
    HURRY,
    LAST_WORDS,
    LAUGHTER,
    SHORT,
    THANKS,
    URL,
    bearers,
    clauses,
    is_chinese,
    is_question,
    is_small_talk,
    pick,
    questions_of,
    sentences,
    shared_topics,
    telling_words,
    topics,
    words,
)
from echovessel.language.style_wishes import Style, styles_in
from echovessel.llm.offline.extraction import told_in_question
from echovessel.llm.offline.feeling import impact_of
from echovessel.llm.offline.names import names_in
from echovessel.llm.offline.phrases import phrases_of

SIGNS = re.patterns_in(Path(__file__).with_name("signs_of_messages.toml"))

RECALL = SIGNS["recall"]
WHO_IS = re.compile(
    r"\b(?:[Ww]ho|[Ww]here|[Hh]ow(?: old)?)(?:'s|\s+(?:is|was))\s+[A-Z\u3400-\u9fff]\w*\W*$|\bdo you know [A-Z]\w+"
)
ADVICE = SIGNS["advice"]
ABOUT_KEEPING = SIGNS["about_keeping"]
ANNOUNCES = SIGNS["announces"]
OWN_NAME = SIGNS["own_name"]
IDENTITY = SIGNS["identity"]
OF_ITSELF = SIGNS["of_itself"]
OF_THE_TWO = SIGNS["of_the_two"]
JOKE = SIGNS["joke"]
QUIET = SIGNS["quiet"]
LEAVE_IT = SIGNS["leave_it"]
LINK = re.compile(URL)
COMPLAINT = SIGNS["complaint"]
TO_PERSONA = re.compile(r"\b(?:your|you|yourself)\b|[你您]", re.I)
WHY = SIGNS["why"]
JUST = SIGNS["just"]
RELATIVE_DAY = SIGNS["relative_day"]
EXCLAIMED = re.compile(r"[!！]{2,}|\b[A-Z]{4,}\b[^.?]*\b[A-Z]{4,}\b")
SMALL_TALK = {
    "thanks": THANKS, "goodbye": GOODBYE, "how_are_you": HOW_ARE_YOU, "greeting": GREETING, "sorry": APOLOGY,
    "laughter": LAUGHTER, "goes_on": GOES_ON,
}  # fmt: skip
WHATEVER_LENGTH = ("how_are_you", "greeting", "laughter", "thanks")
SAD = frozenset({"sad", "anxious", "angry", "stressed", "lonely", "ashamed", "unwell", "hurt"})
HEAVY, SERIOUS, GLAD = -6, -4, 4
MOURNING = -7
MESSAGES_OF_GRIEF = 6
FEW_WORDS = 2
WORDS_TO_ASK_ABOUT = 4
LONG = 180  # characters; a longer statement is more than one short message
MAX_TOLD = 220  # characters
MAX_QUESTIONS = 2
MAX_OVERVIEW = 6
MESSAGES_OF_CARE = 6
NAMELESS = ("", "the user", "用户")
MESSAGES_WITHOUT_QUESTION = 2
WISHES = ("wish", "name")
REPORTS = re.compile(r"\b(?:said|says|told|tells|asked|wrote|writes|the sign)\b|[说讲]|告诉|写", re.I)
# Used whatever style the owner wishes.
CARE = ("crisis", "cared", "doubtful", "doubtful_again")
BREAKS = {
    Style.NO_QUESTIONS: re.compile(r"[?？]"),
    Style.NO_APOLOGIES: re.compile(r"\bsorry\b|抱歉", re.I),
    Style.NO_NAME: re.compile(r"\{name\}"),
}
FULL_STOPS = str.maketrans("!！", ".。")
CHANGES = SIGNS["changes"]
OVER = SIGNS["over"]
NOT_YET = SIGNS["not_yet"]
# What the owner does not state as a fact: denied, wished for, dreamt, or said by somebody else.
UNHELD = re.compile(
    r"\b(?:don't|doesn't|didn't|isn't|aren't|wasn't|not|never|might|may|wish|if|dream\w*)\b|[不没]|要是|如果|假如|梦|可能|也许",
    re.I,
)
SAID_BY_ANOTHER = re.compile(
    r"(?<!\bi )\b(?:said|says|told|thinks?|believes?|heard)\b|(?<!我)(?:说|以为|觉得)|"
    r"^\W*[小老阿](?![时是家])[\u3400-\u9fff][^我]*$",
    re.I,
)
NOW = "9999"  # sorts messages of this conversation after any day


@dataclass(frozen=True)
class Memory:
    """A memory for replies: `text` is the original, `told` its wording to the owner. `source` is "L3" or "L4", "words"
    for the owner's own words, "persona" or "user" for the texts that the owner wrote about them. `asked_of` is the
    wording to the person such a text is about; `at` is its time, comparable as text ("" if unknown)."""

    text: str
    told: str
    source: str
    when: str = ""
    asked_of: str = ""
    at: str = ""

    @cached_property
    def as_you(self) -> str:
        """The words with "you" for the person they are about, for matching them with questions."""
        return self.asked_of or re.sub(r"\bI\b", "you", I_AM.sub("you are", MY.sub("your", self.told))).replace(
            "我", "你"
        )


class Reply:
    """The material of one reply, and the reply to it."""

    def __init__(self, material: Mapping[str, Any]) -> None:
        self.material = material
        self.burst = "\n".join(text.strip() for text in material["lines"])
        self.is_chinese = is_chinese(LINK.sub("", self.burst), default=material["language"] == "zh")
        self.phrases = phrases_of("zh" if self.is_chinese else "en")
        self.replies = [message["content"] for message in material.get("recent", ()) if message["role"] == "persona"]
        sentence_texts = [self.burst[start:end] for start, end in sentences(self.burst)]
        asking = [sentence for sentence in sentence_texts if is_question(sentence)]
        all_questions = [question for sentence in asking for question in questions_of(sentence) or [sentence]]
        self.questions = [question for question in all_questions if asked_for(question)] or all_questions
        parts_beside = [sentence[start:end] for sentence in asking for start, end in told_in_question(sentence)]
        self.statements = [sentence for sentence in sentence_texts if sentence not in asking] + parts_beside
        # On the record a wish is a lesson before the reply, and acts until its owner takes it back.
        before = material.get("recent", ()) if material.get("off_the_record") else ()
        said_of_style = [line["content"] for line in before if line["role"] == "user" and styles_in([line["content"]])]
        wishes = [
            one_said[one.start : one.end]
            for one_said in (*said_of_style, self.burst)
            for one in (read_requests(one_said) if styles_in([one_said]) else ())
            if one.kind in WISHES and (one.sure or not REPORTS.search(one_said))
        ]
        self.styles = styles_in([*wishes, *material.get("lessons", ()), *material.get("boundaries", ())])

    def say(self, key: str, **words: str) -> str:
        """A phrase with its words filled in, in the style that the owner wishes; the same for the same material, and
        not one of the last replies."""
        seed = f"{self.material['persona_name']}|{self.burst}|{len(self.material.get('recent', ()))}"
        breaks = [BREAKS[style] for style in self.styles if style in BREAKS and key not in CARE]
        options = [phrase for phrase in self.phrases[key] if not any(sign.search(phrase) for sign in breaks)] or [
            breaks[0].sub("", phrase) for phrase in self.phrases[key]
        ]
        if Style.SHORT in self.styles and key not in CARE:
            options = sorted(options, key=len)[: (len(options) + 1) // 2]
        return self._fill(pick(options, seed, avoid=" ".join(self.replies[-3:])), **words)

    def _fill(self, phrase: str, **words: str) -> str:
        if Style.NO_EXCLAMATION_MARKS in self.styles:
            phrase = phrase.translate(FULL_STOPS)
        name = "" if self.material["user_name"] in NAMELESS else self.material["user_name"]
        address = f"{name}{'，' if self.is_chinese else ', '}" if name else ""
        return phrase.format(persona=self.material["persona_name"], user=name, name=address, **words)

    def join(self, *parts: str) -> str:
        return ("" if self.is_chinese else " ").join(filter(None, parts))

    @cached_property
    def memories(self) -> list[Memory]:
        return memories(self.material, self.statements if JUST.search(self.burst) else ())

    @property
    def heaviest(self) -> str:
        """The statement with the greatest impact; "" if there is none."""
        return max(self.statements, key=lambda statement: abs(impact_of(statement)), default="")

    def text(self) -> str:
        text = self._text()
        return text[:1].upper() + text[1:]

    def _text(self) -> str:
        burst = self.burst
        request = self._request()
        crisis = self.material.get("crisis", "")
        if crisis == "plain":
            return self.say("cared") if self._has_said("crisis") else self.say("crisis")
        asks_to_be_heard = ANNOUNCES.fullmatch(burst) is not None
        answered = "" if request or asks_to_be_heard else self._answers(only_sure=crisis == "doubtful")
        if crisis == "doubtful" and not (request or answered):
            return self.say("doubtful_again" if self._has_said("crisis", "doubtful", "cared") else "doubtful")
        if crisis and self.replies and self._has_said("crisis", within=1) and not (request or answered):
            return self.say("cared")
        if request:
            return request
        weight = impact_of(self.heaviest)
        hurt = self.say("heavy") if weight <= HEAVY else self.say("sad") if weight < 0 and self.questions else ""
        said_of_jokes = self.say("joke") if JOKE.search(burst) else ""
        if answered in self._all("no_answer") and impact_of(burst) <= SERIOUS:
            return hurt or self.say("sad")
        if weight > HEAVY and said_of_jokes:
            return said_of_jokes
        if answered or weight <= HEAVY:
            return self.join(hurt, answered)
        if IDENTITY.search(burst):
            return self.say("who")
        for sign, key in ((QUIET, "wish"), (LEAVE_IT, "leave_it"), (COMPLAINT, "complaint")):
            if sign.search(burst):
                return self.say(key)
        if OF_ITSELF.search(burst) or OF_THE_TWO.search(burst):
            return self.say("itself")
        if LINK.search(burst) and not LINK.sub("", burst).strip():
            return self.say("link")
        for sign, key in ((HURRY, "hurry"), (LAST_WORDS, "goodbye")):
            if sign.search(burst):
                return self.say(key)
        for key, sign in SMALL_TALK.items():
            if sign.search(burst) and (len(burst) <= SHORT or key in WHATEVER_LENGTH):
                return self.say(key)
        if Style.NO_QUESTIONS in styles_in([burst]) and len(burst) <= SHORT:
            return self.say("wish")
        if asks_to_be_heard:
            return self.say("invites")
        letters = len(CJK.findall(burst)) + len(re.findall(r"[a-z']+", burst, re.I))
        is_felt = abs(weight) > 1 or bool(feelings_in(burst) & SAD)
        return self._acknowledge() if letters > FEW_WORDS or is_felt else self.say("listening")

    def _has_said(self, *keys: str, within: int = MESSAGES_OF_CARE) -> bool:
        """Whether one of the last replies is a phrase of these occasions."""
        phrases = {self._fill(phrase) for key in keys for phrase in self.phrases[key]}
        return any(reply.casefold() in {phrase.casefold() for phrase in phrases} for reply in self.replies[-within:])

    def _request(self) -> str:
        """A short true reply to a memory request; the page itself shows what would be deleted or changed."""
        requests = read_requests(self.burst, only_sure=True)
        if not requests:
            return ""
        request = requests[-1]
        if request.kind == "remember":
            return self.say("off_the_record" if self.material.get("off_the_record") else "remembering")
        if request.kind == "name" and request.subject == self.material["user_name"]:
            return self.say("name_noted")
        if request.kind == "wish" and (new := self.material.get("new_lessons")):
            return self.say("wish_noted", told=_clip(new[-1]))
        return self.say(request.kind)

    def _answers(self, *, only_sure: bool) -> str:
        """The answers to the questions, each once; "" if there is no question, or it is small talk. `only_sure` leaves
        out answers that are not certain."""
        answers: list[str] = []
        for question in self.questions[-MAX_QUESTIONS:]:
            answer = self._answer(question, only_sure)
            if (
                answer
                and answer not in answers
                and not (answers and answer in self._all("no_answer", "remembers_nothing"))
            ):
                answers.append(answer)
        return self.join(*answers)

    def _all(self, *keys: str) -> set[str]:
        return {self._fill(phrase) for key in keys for phrase in self.phrases[key]}

    def _answer(self, question: str, only_sure: bool) -> str:
        """An answer from memory, or that nothing is known; "" for other questions (small talk, or about the
        persona)."""
        if self.material["user_name"] not in NAMELESS and OWN_NAME.search(question) and not topics(question):
            return self.say("your_name")
        if ABOUT_KEEPING.search(question):
            return self.say("off_the_record" if self.material.get("off_the_record") else "keeps")
        if asks_for_overview(question):
            return self._overview()
        if led := self._lead(question):
            return led
        looks_up, is_why = bool(RECALL.search(question) or WHO_IS.search(question)), WHY.search(question)
        asks_advice = bool(ADVICE.search(question)) and not is_why
        if IDENTITY.search(question) or OF_THE_TWO.search(question) or (OF_ITSELF.search(question) and not looks_up):
            return ""
        if any(sign.search(question) for sign in SMALL_TALK.values()) or COMPLAINT.search(question):
            return ""
        answers = [] if asks_advice else find_answers(question, self.memories, looks_up=looks_up)
        if answers and answers[0].level == SURELY:
            return self._tell(question, [answer.memory for answer in answers if answer.level == SURELY])
        if only_sure:
            return ""
        of_persona = [memory for memory in self.memories if memory.source == "persona"]
        turned = TO_PERSONA.sub(lambda match: TURNED[match[0].lower()], question)  # as the persona asks it
        if not asks_advice and turned != question and not looks_up:
            about_it = find_answers(turned, of_persona, looks_up=False)
            if about_it and about_it[0].level >= PERHAPS:
                return self._tell(question, [about_it[0].memory])
        nearest = next((answer for answer in answers if answer.memory.source in ("words", "L3", "user")), None)
        if nearest:
            quoted = _wording(nearest.memory) if nearest.memory.source == "L3" else f"“{_wording(nearest.memory)}”"
            return self.say(
                "closest" if nearest.level == PERHAPS else "not_told", told=quoted, when=self._when(nearest.memory)
            )
        if looks_up and not asks_advice:
            return self.say("remembers_nothing")
        return self.say("no_answer")

    def _overview(self) -> str:
        """What is known of the owner, as a list: what is in every prompt, then the first items of recall; if nothing is
        stored yet, what they said a moment ago."""
        items = [*self.material.get("always_known", ()), *self.material.get("recollections", ())]
        overview = [
            memory
            for memory in memories({**self.material, "recollections": items, "recent": ()}) or self.memories
            if memory.source != "persona"
        ]
        if not overview:
            return self.say("overview_empty")
        entries = [
            f"“{_wording(memory)}”" if memory.source in ("words", "user") else _wording(memory) for memory in overview
        ]
        return self.say("overview", told="\n".join(f"- {entry}" for entry in entries[:MAX_OVERVIEW]))

    def _lead(self, question: str) -> str:
        """The reply to how a matter went, or when a feeling last occurred: the leads of recall, with the state of the
        matter or the day; "" if there are none."""
        first = next((item for item in self.material.get("recollections", ()) if item.get("lead")), None)
        if first is None or not (asks_how_it_went(question) or asks_when_last(question)):
            return ""
        [memory] = memories({**self.material, "recollections": [first], "recent": (), "blocks": {}, "entities": ()})[:1]
        sentence = self.say(f"remembers_{memory.source}", told=_wording(memory), when=self._when(memory))
        if first["lead"] == "feeling":
            return self.join(sentence, self.say("felt_then", when=first["when"]) if first.get("when") else "")
        return self.join(sentence, self.say(f"matter_{first['lead']}"))

    def _when(self, memory: Memory) -> str:
        """The day meant by words like "yesterday", which mean another day by now."""
        is_shown = memory.when and RELATIVE_DAY.search(memory.told)
        return "" if not is_shown else f"（{memory.when}）" if self.is_chinese else f" ({memory.when})"

    def _tell(self, question: str, memories_found: Sequence[Memory]) -> str:
        """The best memory, and a second one if the question asks for several things."""
        first = memories_found[0]
        sentence = self.say(f"remembers_{first.source}", told=_wording(first), when=self._when(first))
        asks_for_one = any(kind.search(question) for kind, _ in KINDS) or WHO_IS.search(question)
        more = [memory for memory in memories_found[1:] if memory.source == first.source in ("L3", "words")][
            : 0 if asks_for_one or Style.SHORT in self.styles else 1
        ]
        quotes = [
            f"“{_wording(memory)}”{self._when(memory)}" if memory.source == "words" else _wording(memory)
            for memory in more
        ]
        later = self._later_than(memories_found, question)
        changed = self.say("later", told=_wording(later)) if later else ""
        return self.join(sentence, *(self.phrases["also"][0].format(told=quote) for quote in quotes), changed)

    def _later_than(self, memories_found: Sequence[Memory], question: str) -> Memory | None:
        """A later statement on the same subject, which may have ended or changed it: what is over is told in the past
        tense."""
        first = memories_found[0]
        topics = {*asked_for(question), *(name.name.casefold() for name in names_in(first.told))} & {
            *asked_for(first.told)
        }
        later = [
            memory
            for memory in self.memories
            if memory.source == "words"
            and memory.at > first.at
            and memory not in memories_found
            and CHANGES.search(memory.told)
            and (
                bearers(telling_words(memory.told)) & bearers(telling_words(first.told))
                or topics & {*asked_for(memory.told)}
            )
        ]
        return max(later, key=lambda memory: memory.at, default=None) if first.source in ("words", "L3") else None

    def _acknowledge(self) -> str:
        """A short phrase by impact; with a question only if none was asked recently, none is unwanted, and nothing
        hurts."""
        impact, feels = impact_of(self.heaviest), feelings_in(self.burst)
        hurts = impact < 0 or (impact == 0 and bool(feels & SAD))
        key = "sad" if hurts else "glad" if impact >= GLAD or (not impact and "happy" in feels) else "plain"
        of_owner = [message["content"] for message in self.material.get("recent", ()) if message["role"] == "user"]
        if key == "plain" and any(impact_of(text) <= MOURNING for text in of_owner[-MESSAGES_OF_GRIEF:]):
            return self.say("mourning")
        if key == "plain" and EXCLAIMED.search(self.burst):
            key = "struck"
        elif key != "glad" and len(self.burst) > LONG // (2 if self.is_chinese else 1):
            key = "long"
        lately = self.replies[-MESSAGES_WITHOUT_QUESTION:]
        is_slight = len(re.findall(r"[a-z']+|[\u3400-\u9fff]{2}", self.burst, re.I)) < WORDS_TO_ASK_ABOUT
        is_quiet = (
            is_slight
            or self.styles & {Style.NO_QUESTIONS, Style.SHORT}
            or Style.NO_QUESTIONS in styles_in([self.burst])
        )
        if (
            is_quiet
            or hurts
            or read_requests(self.burst)
            or key == "long"
            or self.material.get("crisis")
            or not lately
            or any(mark in reply for mark in "?？" for reply in lately)
        ):
            return self.say(key)
        return self.join(self.say(key), self.say("asks"))


def reply(material: Mapping[str, Any]) -> str:
    """The reply to `material` (its shape is in the package's docstring)."""
    return Reply(material).text()


def first_word(material: Mapping[str, Any]) -> dict[str, Any]:
    """The answer for an outreach: its subject as remembered, and how things are."""
    about = material["about"].strip()
    reply = Reply({**material, "lines": [about] if about else []})
    key = "first_word" if about else "first_greeting"
    if about and impact_of(about) <= HEAVY:
        key = "first_word_hard"
    quotation = _as_said({"text": about, "layer": "L3"}, material)
    names = material["user_name"], material["persona_name"]
    text_about = quotation["text"] if quotation["layer"] == "L2" else in_second_person(about, *names)
    message = reply.say(key, told=_clip(text_about[:1].upper() + text_about[1:]).rstrip("。."))
    return {"message": message[:1].upper() + message[1:]}


# --- what may be told -------------------------------------------------------------------------------------------------
# Memories that somebody asked to have remembered, or that were kept without a model, are quotations with the speaker.
# Corrections by the owner have no quotation marks, because nobody said these words.
QUOTATION = re.compile(r"(?P<speaker>.{1,120}?)(?:: |：)(?P<mark>“)?(?P<words>.+)(?(mark)”)", re.DOTALL)
SAME = 0.7  # share of common letter pairs above which two recollections have the same content


def memories(material: Mapping[str, Any], statements: Sequence[str] = ()) -> list[Memory]:
    """The memories for replies, best first: recollections, what is in every prompt, what the user said a moment ago and
    now, the texts that they wrote about both, and described entities. The persona's own words, questions and requests
    to forget are no memories."""
    asking = {text.strip() for text in material["lines"]}.difference(statements)
    lately = enumerate(material.get("recent", ()))
    recent: list[Mapping[str, Any]] = [
        {"text": item["content"], "layer": "L2", "speaker": item["role"], "at": f"{NOW}-{number:04}"}
        for number, item in sorted(lately, key=lambda place: -place[0])
    ]
    now: list[Mapping[str, Any]] = [
        {"text": statement, "layer": "L2", "speaker": "user", "at": f"{NOW}-now"} for statement in statements
    ]
    recalled = (*material.get("recollections", ()), *material.get("always_known", ()))
    recollections = [_as_said(item, material) for item in recalled]
    if JUST.search("\n".join(material["lines"])):
        recollections, recent = [*now, *recent], recollections
    memories_found = []
    for item in (*recollections, *recent, *now):
        text = item["text"].strip()
        if item["layer"] != "L2":
            second_person = in_second_person(text, material["user_name"], material["persona_name"])
            memories_found.append(Memory(text, second_person, item["layer"], at=item.get("at", "")))
        elif (
            item["speaker"] == "user"
            and text not in asking
            and not (is_question(text) or is_small_talk(text) or asks_to_forget(text))
        ):
            memories_found.append(Memory(text, text, "words", item.get("when", ""), at=item.get("at", "")))
    for label, content in material.get("blocks", {}).items():
        name = material[f"{label}_name"]
        for start, end in sentences(content):
            text = content[start:end]
            as_you = re.sub(r"\b(?:[Ss]he|[Hh]e) (?:is|was)\b", "you are", in_second_person(text, name, ""))
            memories_found.append(Memory(text, text, label, asked_of=Memory("", as_you, label).as_you))
    memories_found += [
        Memory(f"{entity['name']}: {entity['description']}", entity["description"], "user")
        for entity in material.get("entities", ())
    ]
    distinct: list[tuple[Memory, set[str]]] = []
    for memory in memories_found:
        letters = "".join(letter for letter in memory.text.casefold() if letter.isalnum())
        pairs = {letters[at : at + 2] for at in range(len(letters) - 1)}
        changes = CHANGES.search(memory.text)
        if all(
            (changes and not CHANGES.search(other.text))
            or len(pairs & others) / max(1, min(len(pairs), len(others))) < SAME
            for other, others in distinct
        ):
            distinct.append((memory, pairs))
    return [memory for memory, _ in distinct]


NEARLY, PERHAPS, SURELY = range(3)
MOST, HALF, THIRD = 0.75, 0.5, 0.3  # shares of the words that a question asks for
NAME_WEIGHT = 2
SEVERAL = 2  # words of a question, including names; a memory that contains this many is meant, whoever it is about


@dataclass(frozen=True)
class Answer:
    """A memory, and how well it answers: SURELY, PERHAPS, or NEARLY, if it is only about the same subject."""

    memory: Memory
    level: int
    fit: float


def find_answers(question: str, all_memories: Sequence[Memory], *, looks_up: bool) -> list[Answer]:
    """The memories that concern `question`, best first; all of them, if it asks for nothing in particular. A question
    that does not ask about the owner's own statements matches only memories with nearly all of its words."""
    weights = weighted(question)
    if not weights and not topics(question) and not aspects_asked(question):
        return [Answer(memory, SURELY, 0) for memory in all_memories if looks_up and memory.source != "persona"]
    telling = telling_words(question)
    answers = [
        answer for memory in all_memories if (answer := _answer_in(memory, question, telling, weights, looks_up))
    ]
    order = {"L3": 0, "L4": 0, "words": 1, "user": 2, "persona": 3}
    answers.sort(key=lambda answer: (-answer.level, -answer.fit, order[answer.memory.source]))
    single = [aspect for aspect in aspects_asked(question) if aspect.is_single]
    answering = [
        answer
        for answer in answers
        if answer.level == SURELY and answer.memory.at and is_told_in(answer.memory.told, single)
    ]
    if answering and not PAST.search(question):
        # A changing fact, such as a workplace, was stated with every change: the latest statement holds.
        still = [answer for answer in answering if _still_holds(answer.memory, single)] or answering
        last = max(still, key=lambda answer: answer.memory.at)
        answers = [last, *(answer for answer in answers if answer not in answering)]
    return answers


def _still_holds(memory: Memory, aspects: Sequence[Aspect]) -> bool:
    """Whether the latest statement on `aspects` may be this memory: its owner says in it that something is so now."""
    text = memory.text
    if OVER.search(text) or NOT_YET.search(text):
        return False
    if memory.source != "words":
        return True
    telling_clauses = [text[start:end] for start, end in clauses(text) if is_told_in(text[start:end], aspects)]
    is_held = any(not UNHELD.search(clause) for clause in telling_clauses or [text])
    return is_held and not SAID_BY_ANOTHER.search(text)


def weighted(question: str) -> dict[str, int]:
    """The telling words of a question with their weights: a Chinese pair its number of characters, a name more than a
    word."""
    names = {name.casefold() for name in re.findall(r"(?<=\s)[A-Z][a-z]+", question)}
    return {
        word: len(word) if CJK.search(word) else NAME_WEIGHT if any(name.startswith(word) for name in names) else 1
        for word in asked_for(question)
    }


def _answer_in(
    memory: Memory, question: str, telling: frozenset[str], weights: Mapping[str, int], looks_up: bool
) -> Answer | None:
    """How well a memory answers. A father's work is not a sister's; "when" asks for a day, "how long" for a
    duration."""
    lower, memory_words = memory.text.casefold(), telling_words(memory.text)
    asked_of, told_of = bearers(telling), bearers(memory_words)
    if asked_of and told_of and not asked_of & told_of:
        return None
    matching_words = [word for word in weights if _stands_in(word, lower)]
    shared = shared_topics(telling, memory_words)
    missing_bearer = bool(asked_of) and not asked_of & told_of
    share = sum(weights[word] for word in matching_words) / sum(weights.values()) if weights else float(bool(shared))
    if shared and not missing_bearer:
        share = max(share, (sum(weights[word] for word in matching_words) + shared) / (sum(weights.values()) + 1))
    is_of_kind = all(
        tells.search(lower) or (memory.when and PAST.search(question)) for asks, tells in KINDS if asks.search(question)
    ) and (not ASKS_NAME.search(question) or tells_name(memory.text))
    has_head = all(
        _stands_in(_stem(head), lower) or shared_topics(telling_words(head), memory_words)
        for head in heads_of(question)
    )
    is_own = bool(OWN.search(question)) and not asked_of
    is_meant = sum(len(word) > 1 for word in matching_words) >= SEVERAL
    is_about_other = is_own and not is_meant and not _speaks_of_owner(memory)
    has_names = all(word in matching_words for word in weights if weights[word] >= NAME_WEIGHT and word.isascii())
    aspects = aspects_asked(question)
    is_answered = (
        is_told_in(memory.told, aspects)
        and (is_of_kind or not KINDS[0][0].search(question))
        and has_names
        and (is_own or matching_words or shared)
        and not missing_bearer
        and not is_about_other
    )
    fit = 2 * len(matching_words) + 4 * is_answered + 2 * shared - 4 * is_about_other
    if not (matching_words or is_answered or (shared and looks_up)):
        return None
    # A question about one aspect of a person is not answered with other facts about them.
    is_another_matter = bool(aspects) and POINTED.search(question) and not is_told_in(memory.told, aspects)
    if is_answered:
        return Answer(memory, SURELY, fit)
    is_other = is_about_other or missing_bearer or is_another_matter or not has_names
    if is_of_kind and has_head and not is_other and share >= HALF:
        return Answer(memory, SURELY if share >= MOST else PERHAPS, fit)
    has_name = any(weights[word] >= NAME_WEIGHT and word.isascii() for word in matching_words)
    is_near = (
        looks_up
        or has_name
        or (share >= HALF and len(matching_words) > 1)
        or (share >= THIRD and any(len(word) > 1 and CJK.search(word) for word in matching_words))
    )
    return Answer(memory, NEARLY, fit) if is_near else None


# The kinds of things that questions ask for, and their patterns.
NUMBER_EN = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|half"
NUMBER_ZH = "一二三四五六七八九十百千万两半几"
DAY = (
    r"\d(?:st|nd|rd|th)\b|\b(?:19|20)\d\d\b|\b\d{1,2}[:.]\d\d\b|\b\d{1,2} ?(?:am|pm|o'clock)\b|\b(?:mon|tues|wednes|"
    r"thurs|fri|"
    r"satur|sun)days?\b|\b(?:jan(?:uary)?|feb(?:ruary)?|march|april|may|june|july|aug(?:ust)?|sept(?:ember)?|"
    r"oct(?:ober)?|nov(?:ember)?|"
    r"dec(?:ember)?|spring|summer|autumn|winter|christmas|easter|today|tonight|tomorrow|yesterday|weekends?)\b|"
    r"\b(?:next|last|this|every) (?:week|month|year|night|morning)\b|\b(?:days|weeks|months|years) ago\b|\bo'clock\b|"
    rf"[\d{NUMBER_ZH}]+(?:月|号|日|点|年)|(?:周|星期|礼拜)[一二三四五六日天\d末]|[今明后昨前]天|[下上这]个?(?:周|月|"
    rf"星期|礼拜)|[今明去前]年|"
    r"清明|端午|中秋|国庆|春节|过年|冬至|元旦|腊月|暑假|寒假|早上|晚上|月底|年底|月初"
)
KINDS: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = (
    (re.compile(r"\bwhen\b(?! (?:i|we|you|my)\b)|\bwhat (?:day|date|time|year)|\bwhich day|\bdate\b|几号|几点|"
                r"[哪几]天(?!前)|哪年|哪一天|"
                r"什么时候|啥时候|何时|(?:星期|周|礼拜)几|日子|生日|预产期|纪念日", re.I), re.compile(DAY, re.I)),
    (re.compile(r"\bhow long\b(?! ago)|多久|多长时间", re.I),
     re.compile(rf"\b(?:\d+|an?|{NUMBER_EN}|few|couple|several) (?:\w+ )?(?:minute|hour|day|night|week|month|"
                rf"year)s?\b|\bsince\b|\buntil\b|"
                rf"[\d{NUMBER_ZH}]+个?半?(?:分钟|小时|钟头|天|周|星期|礼拜|月|年)|一直到|为止", re.I)),
    (re.compile(r"\bhow (?:many|much|old|tall)\b|多少|多大|几(?:只|个|岁|口|本|次|斤|块|条|斤|瓶|位|家)", re.I),
     re.compile(rf"\d|\b(?:{NUMBER_EN})\b|[{NUMBER_ZH}俩仨]", re.I)),
    (re.compile(r"\bwhy\b|为什么|为啥|因为什么|因为啥|什么原因|怎么回事", re.I),
     re.compile(r"\bbecause\b|\bsince\b|\bdue to\b|\bso that\b|\bcause\b|\bover\b|因为|由于|所以|为了|就是[^，"
                r"。]{0,12}才", re.I)),
)  # fmt: skip
PAST = re.compile(r"\b(?:did|was|were|had|last)\b|上次|那次", re.I)
# The bearer of a name, or the thing of somebody, that is asked for: no other one answers.
HEADS = re.compile(
    r"\bname of (?:my|our|the|that|his|her) (?:\w+ )??(\w+)\b(?! of)|\b(\w+)(?:'s name| called| named)\b|"
    r"([\u3400-\u9fff]{1,4})(?:的?名字|(?:到底|究竟|是)?(?:叫|姓)(?:什么|啥))|"
    r"的([\u3400-\u9fff]{2,3}?)我?(?:是|在)(?:不是|几|哪|多少|什么|啥)"
)


def heads_of(question: str) -> list[str]:
    """The noun whose name, or whose owner's thing, a question asks for.

    >>> heads_of("what was the name of the nurse who came"), heads_of("新来的护工叫啥"), heads_of("我妹妹叫什么")
    (['nurse'], ['护工'], ['妹妹'])
    """
    head_words = [next(filter(None, groups)).casefold() for groups in HEADS.findall(question)]
    words_of = [[head] if head.isascii() else SMALL_ZH.sub(" ", head).split()[-1:] for head in head_words]
    return [word for row in words_of for word in row if word not in SMALL_EN]


# Removed from a question; the rest is what it asks for.
SMALL_ZH = re.compile(
    "什么时候|啥时候|哪几天|哪一天|哪天|哪年|几号|几点|几天|几只|几个|是不是|有没有|那次|那个|那位|因为|为啥|今天|"
    "天气|讲给|听听|晓得|做什么|干什么|干嘛|怎么样了|聊过|聊|多大|几岁|提过|提到|讲过|来着|叫做|都|"
    "跟|从|对|给|把|请|"
    "说说|讲讲|到底|发生|家的?(?=[是叫])|还记得|记不记得|记得|知不知道|知道|告诉过|告诉|上次|之前|以前|说过的|"
    "说过|说的|什么|名字|怎么样|怎么|哪里|哪儿|多少|"
    "关于|了解|我们|事情|那个|这个|一下|还有|现在|最近|你|我|他|她|它|吗|呢|吧|啊|呀|么|的|了|过|是|有|叫|谁|哪|几|"
    "在|和|说|事|些|会|要|想|啥|伐|到|去|来|给|不|最|又|还|那|这"
)
SMALL_EN = words(
    """a an the do does did you your i me my mine we our is are was were am be been have has had of in
    on at to for with about and or but if so that this it its he she they his her their what who where
    when why how which remember recall know tell told say said still name names called anything
    something everything any some ever last time can could would will not no yes please just really
    we us talk talked about he's she's it's how's where which old happened happen there here ours let
    think mean i'm i've what's who's where's when's don't again thing things gonna going get got long much many often
    day date time times then also go goes went now anyhow anyway should has after far already learn learned learnt"""
)


def asked_for(question: str) -> list[str]:
    """The telling words of a question: Latin words without their endings, and Chinese pairs (or a single remaining
    character).

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


ENDINGS = "(?:s|es|e|ed|d|ing|r|er|y|ic|ies|ion|'s)?"
POINTED = re.compile(r"\b(?:what|where|which|who|how old)\b|几|哪|什么|啥|多大|谁", re.I)
OWN = re.compile(r"\b(?:i|me|my|mine|we|our)\b|我", re.I)
SUBJECT = re.compile(r"\b(?:i|we|you)\b|\b(?:my|our|your) [a-z]+|[我你]们?(?:家)?的?[\u3400-\u9fff]{0,3}", re.I)
CLAUSES = re.compile(r"[,.;!?，。；！？:：“”\"]|\b(?:and|but|so|because|while)\b")
ASKS_NAME = re.compile(r"\bnames?\b|'s called\b|\bcalled\b|叫(?:什么|啥)|名字|什么名", re.I)
TELLS_NAME = re.compile(r"\b(?:called|named|names? (?:is|are)|name's|known as)\b|叫|名字|姓", re.I)


def tells_name(text: str) -> bool:
    """Whether a text names somebody or something.

    >>> tells_name("My cat is Kit."), tells_name("I have a cat."), tells_name("我妹妹小雨在昆明")
    (True, False, True)
    """
    return bool(TELLS_NAME.search(text)) or bool(names_in(text))


def _speaks_of_owner(memory: Memory) -> bool:
    """Whether the owner, or something of theirs, is the subject of a clause of the memory; not in "My sister" and
    "Tom's birthday". A memory that names nobody may be about the owner."""
    if memory.source in ("L4", "user", "persona"):
        return True
    is_named = False
    for clause in CLAUSES.split(memory.told):
        subject = SUBJECT.search(clause)
        before = clause[: subject.start()] if subject else clause
        # 「邮局的工作辞了」 is about the owner, 「朵朵的老师」 is not.
        other = r"\b[A-Z][a-z]+(?:'s\b| [a-z]+s\b)|[\u3400-\u9fff]{2}的(?!工作|活|班|房|车)"
        if bearers(telling_words(before)) or re.search(other, before):
            is_named = True
        elif subject and not bearers(telling_words(subject[0].lower().replace("your", "my").replace("你", "我"))):
            return True
        else:
            is_named = is_named or bool(subject)
    return not is_named


def _stands_in(word: str, lower: str) -> bool:
    """Whether `word` occurs in it: a Latin one as a whole word, with any ending."""
    if word not in lower or CJK.search(word):
        return word in lower
    return re.search(rf"(?<![a-z]){re.escape(word)}{ENDINGS}(?![a-z])", lower) is not None


def _as_said(item: Mapping[str, Any], material: Mapping[str, Any]) -> Mapping[str, Any]:
    """A memory that is a quotation, as the message that it quotes. The speaker may have a former name: the subject
    identifies them, unless the prefix is more than a name, as in "Ana (to Ben)"."""
    quotation = QUOTATION.fullmatch(item["text"].strip()) if item["layer"] == "L3" else None
    if quotation is None:
        return item
    roles = {material["persona_name"]: "persona", material["user_name"]: "user"}
    is_named = any(name and name in quotation["speaker"] for name in roles)
    is_bare = quotation["mark"] and not is_named and not re.search(r"[（(]", quotation["speaker"])
    speaker = roles.get(quotation["speaker"]) or (item.get("subject") if is_bare else None)
    if speaker not in ("user", "persona"):
        return item
    return {**item, "text": quotation["words"], "layer": "L2", "speaker": speaker}


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
    """A model's sentence about the owner in the third person, addressed to the owner.

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
    pieces: list[str] = []
    is_named = False
    verb_of = ""
    # Only names change a word: most sentences have none, and need no reading.
    is_named_here = re.search(spelt, sentence) is not None
    tokens = re.findall(rf"\b(?:{spelt})(?:'s)?\b|{TOKEN}", sentence, re.DOTALL) if is_named_here else [sentence]
    for token in tokens:
        name = token.removesuffix("'s")
        before = next((piece for piece in reversed(pieces) if not piece.isspace()), ",")
        is_subject = before in ",;:.(" or before.lower() in CLAUSE_OPENERS
        if name in users:
            pieces.append("you" if name == token else "your")
            is_named, verb_of = True, "you" if is_subject and name == token else ""
        elif name in personas:
            pieces.append("my" if name != token else "I" if is_subject else "me")
            verb_of = "I" if is_subject and name == token else ""
        elif is_named and token.lower() in THEY_BACK:
            pieces.append(THEY_BACK[token.lower()])
        else:
            pieces.append(_agreeing(token, verb_of) if verb_of and not token.isspace() else token)
            verb_of = verb_of if token.isspace() or token.lower() in ADVERBS else ""
    worded = re.sub(r"\byou (is|was|has)\b", lambda match: f"you {TO_PLURAL[match[1]]}", "".join(pieces))
    return re.sub(r"\bme (is|was|has)\b", lambda match: f"I {_agreeing(match[1], 'I')}", worded)


def _agreeing(verb: str, subject: str) -> str:
    """The form of a third-person verb after "you" or "I"."""
    if subject == "I" and verb in ("is", "was"):
        return "am" if verb == "is" else "was"
    if verb in TO_PLURAL or verb in ADVERBS or not verb.endswith("s") or verb.endswith("ss"):
        return TO_PLURAL.get(verb, verb)
    if verb.endswith("ies") and len(verb) > 4:
        return verb[:-3] + "y"
    return verb[:-2] if re.search(r"(?:ss|x|z|ch|sh|o)es$", verb) else verb[:-1]


def _wording(memory: Memory) -> str:
    """The wording of a memory: a sentence addressed to the owner, or the words unchanged."""
    clipped = _clip(memory.told)
    if memory.source in ("words", "persona", "user"):
        return clipped
    ended = clipped if re.search(r"[。.!！?？…”\"]$", clipped) else clipped + ("。" if CJK.search(clipped) else ".")
    return ended[:1].upper() + ended[1:]


def _clip(text: str) -> str:
    return text if len(text) <= MAX_TOLD else text[: MAX_TOLD - 1].rstrip() + "…"

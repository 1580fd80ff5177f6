"""Replies without a model: memory mode. It answers questions from memory, and statements with a short phrase.

It is not the persona's voice, and says nothing that it does not know or do: it does not repeat statements, promises
nothing, and asks at most one question in three messages.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from echovessel.language import lazy_re as re
from echovessel.language.courses import asks_how_it_went
from echovessel.language.dialects import in_standard_words
from echovessel.language.fact_domains import asks_what_is_eaten
from echovessel.language.feelings import asks_when_last, feelings_in
from echovessel.language.general_questions import asks_of_the_world
from echovessel.language.overview import asks_for_overview
from echovessel.language.requests import read_requests
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
    MAX_CACHED,
    SHORT,
    THANKS,
    URL,
    asks,
    bearers,
    is_chinese,
    is_question,
    pick,
    questions_of,
    sentences,
    telling_words,
    topics,
)
from echovessel.language.style_wishes import Style, styles_in
from echovessel.llm.offline.answers import (
    KINDS,
    PERHAPS,
    PRONOUN,
    SURELY,
    Answer,
    find_answers,
    question_words,
    with_antecedent,
)
from echovessel.llm.offline.extraction import told_in_question
from echovessel.llm.offline.feeling import impact_of
from echovessel.llm.offline.memories import Memory, clip, in_second_person, memories, messages_quoted
from echovessel.llm.offline.names import names_in
from echovessel.llm.offline.phrases import SIGNS, phrases_of
from echovessel.process.word_caches import cached_words

WHO_IS = re.compile(
    r"\b(?:[Ww]ho|[Ww]here|[Hh]ow(?: old)?)(?:'s|\s+(?:is|was))\s+[A-Z\u3400-\u9fff]\w*\W*$|\bdo you know [A-Z]\w+"
)
LINK = re.compile(URL)
ONLY_LINK = re.compile(rf"\A(?:\W*{URL})+\s*\Z")
ANNOUNCED = re.compile(rf"\A(?:{SIGNS['announces'].pattern})\Z", re.I)
# A word with a capital within a sentence is a name, mostly a person's unless it says where or when.
CAPITALIZED = re.compile(
    r"(?<=[^.!?]\s)(?<!\b(?:in|at|on|to|of)\s)(?<!from\s)(?<!near\s)\b(?!(?:I|Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)\w*day)[A-Z][a-zé]{2,}"
)
# Whose life a question is about; "tell me" and "for me" are no part of it.
OF_OWNER = re.compile(r"\b(?:i|i'm|me|my|mine|we|us|our|he|she|him|her|his)\b|[我他她咱俺]|家里", re.I)
HELP = re.compile(
    r"\b(?:tell|give|show|teach|help|sing|read|for|let|remind|write|make) (?:me|us)\b|[给帮跟教和告诉对陪让替]+我", re.I
)
SERVICE = re.compile(
    r"^\W*(?:(?:can|could|would|will) you )?(?:please )?(?:write|draft|make|help|recommend|suggest|give|plan)\b|"
    r"^(?:请|你?能不能|可以)?[帮替给]我",
    re.I,
)
TO_PERSONA = re.compile(r"\b(?:your|you|yourself)\b|[你您]", re.I)
AS_PERSONA_ASKS = {"you": "i", "your": "my", "yourself": "myself", "你": "我", "您": "我"}
LAUGHS = re.compile(r"\b(?:lol|lmao|(?:ha){2,}h?)\b|哈{2,}|突然|一下子", re.I)
EXCLAIMED = re.compile(r"[!！]{2,}|\b[A-Z]{4,}\b[^.?]*\b[A-Z]{4,}\b")
SHORTHAND = {
    "bout": "about", "u": "you", "ur": "you're", "r": "are", "arent": "aren't", "dont": "don't", "cant": "can't",
    "whats": "what's", "wheres": "where's", "whos": "who's", "hows": "how's", "sry": "sorry",
}  # fmt: skip
SHORTHAND_WORD = re.compile(rf"\b(?:{'|'.join(SHORTHAND)})\b", re.I)
SAD = frozenset({"sad", "anxious", "angry", "stressed", "lonely", "ashamed", "unwell", "hurt"})
MOURNING, HEAVY, SERIOUS, GLAD = -9, -6, -4, 4
MESSAGES_OF_GRIEF = 6
FEW_WORDS = 2
WORDS_TO_ASK_ABOUT = 4
LONG = 180  # characters; a longer statement is more than one short message
MAX_QUESTIONS = 2
MAX_OVERVIEW = 6
MESSAGES_OF_CARE = 6
MESSAGES_WITHOUT_QUESTION = 2
NAMELESS = ("", "the user", "用户")
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

# Situations with a reply of their own, in the order in which they are tried, after cries, requests, answers from memory
# and heavy news: the key of the phrases, the sign, and the length of the longest message that it may decide.
ANY_LENGTH = 100_000
SITUATIONS: tuple[tuple[str, re.Pattern[str], int], ...] = (
    ("who", SIGNS["identity"], ANY_LENGTH),
    ("wish", SIGNS["quiet"], ANY_LENGTH),
    ("leave_it", SIGNS["leave_it"], ANY_LENGTH),
    ("complaint", SIGNS["complaint"], ANY_LENGTH),
    ("itself", SIGNS["of_itself"], ANY_LENGTH),
    ("itself", SIGNS["of_the_two"], ANY_LENGTH),
    ("link", ONLY_LINK, ANY_LENGTH),
    ("hurry", HURRY, ANY_LENGTH),
    ("goodbye", LAST_WORDS, ANY_LENGTH),
    ("praise", SIGNS["praise"], ANY_LENGTH),
    ("thanks", THANKS, ANY_LENGTH),
    ("goodbye", GOODBYE, SHORT),
    ("how_are_you", HOW_ARE_YOU, ANY_LENGTH),
    ("greeting", GREETING, ANY_LENGTH),
    ("sorry", APOLOGY, SHORT),
    ("laughter", LAUGHTER, ANY_LENGTH),
    ("goes_on", GOES_ON, SHORT),
    ("cannot", SIGNS["command"], ANY_LENGTH),
    ("invites", ANNOUNCED, ANY_LENGTH),
)


def in_full(text: str) -> str:
    """The text without shorthand, in standard Chinese.

    >>> in_full("whats up, ur quiet"), in_full("我個貓叫咩名")
    ("what's up, you're quiet", '我个猫叫什么名')
    """
    return SHORTHAND_WORD.sub(lambda word: SHORTHAND[word[0].lower()], in_standard_words(text.replace("’", "'")))


@cached_words(maxsize=MAX_CACHED)
def capitalized_or_named(text: str) -> frozenset[str]:
    """The names in a memory or message: extracted once, however many questions follow."""
    return frozenset((*(name.name for name in names_in(text)), *CAPITALIZED.findall(text)))


def asks_for_one(question: str) -> bool:
    """Whether one answer is enough: a day, a number, a person, or where somebody is."""
    return any(kind.search(question) for kind, _ in KINDS) or WHO_IS.search(question) is not None


class Reply:
    """The material of one reply, and the reply to it."""

    def __init__(self, material: Mapping[str, Any]) -> None:
        self.material = material
        self.recent: Sequence[Mapping[str, str]] = material.get("recent", ())
        self.burst = "\n".join(text.strip() for text in material["lines"])
        self.plain = in_full(self.burst)
        self.is_chinese = is_chinese(LINK.sub("", self.burst), default=material["language"] == "zh")
        self.phrases = phrases_of("zh" if self.is_chinese else "en")
        self.replies = [message["content"] for message in self.recent if message["role"] == "persona"]
        self.owner_messages = [message["content"] for message in self.recent if message["role"] == "user"]
        sentence_texts = [self.burst[start:end] for start, end in sentences(self.burst)]
        gropes = SIGNS["gropes"]
        bare = {sentence: gropes.sub(" ", LAUGHS.sub(" ", in_full(sentence))) for sentence in sentence_texts}
        self.groping = [bare[sentence] for sentence in sentence_texts if gropes.search(sentence)]
        asking = [sentence for sentence in sentence_texts if is_question(in_full(sentence))]
        all_questions = [part for sentence in asking for part in questions_of(bare[sentence]) or [in_full(sentence)]]
        self.questions = [question for question in all_questions if question_words(question)] or all_questions
        beside = (sentence[start:end] for sentence in asking for start, end in told_in_question(sentence))
        self.statements = [sentence for sentence in sentence_texts if sentence not in asking]
        self.statements += [part for part in beside if not asks(part)]
        # On the record a wish is a lesson before the reply, and acts until its owner takes it back.
        unrecorded = self.owner_messages if material.get("off_the_record") else []
        wishes = [
            message[request.start : request.end]
            for message in (*unrecorded, self.burst)
            for request in (read_requests(message) if styles_in([message]) else ())
            if request.kind in WISHES and (request.sure or not REPORTS.search(message))
        ]
        self.styles = styles_in([*wishes, *material.get("lessons", ()), *material.get("boundaries", ())])

    # --- saying it ------------------------------------------------------------------------------------------------
    def say(self, key: str, **words: str) -> str:
        """A phrase with its words filled in, in the style that the owner wishes; the same for the same material, and
        not one of the last replies."""
        seed = f"{self.material['persona_name']}|{self.burst}|{len(self.recent)}"
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

    def _join(self, *parts: str) -> str:
        return ("" if self.is_chinese else " ").join(filter(None, parts))

    def _tell(self, memory: Memory) -> str:
        return self.say(f"remembers_{memory.source}", told=memory.sentence, when=self._when(memory))

    def _when(self, memory: Memory) -> str:
        """The day meant by words like "yesterday", which mean another day by now."""
        is_shown = memory.when and SIGNS["relative_day"].search(memory.wording)
        return "" if not is_shown else f"（{memory.when}）" if self.is_chinese else f" ({memory.when})"

    def _phrases_of(self, *keys: str) -> set[str]:
        return {self._fill(phrase) for key in keys for phrase in self.phrases[key]}

    def _has_said(self, *keys: str, within: int = MESSAGES_OF_CARE) -> bool:
        """Whether one of the last replies is a phrase of these occasions."""
        phrases = {phrase.casefold() for phrase in self._phrases_of(*keys)}
        return any(reply.casefold() in phrases for reply in self.replies[-within:])

    # --- deciding what to say -------------------------------------------------------------------------------------
    @cached_property
    def memories(self) -> list[Memory]:
        return memories(self.material, self.statements if SIGNS["just"].search(self.plain) else ())

    @cached_property
    def names(self) -> list[str]:
        """The names of people in the memories and in this session."""
        texts = [*(memory.plain for memory in self.memories), *map(in_full, self.owner_messages)]
        return sorted({name for text in texts for name in capitalized_or_named(text)})

    @cached_property
    def impact(self) -> int:
        """The impact of the weightiest statement."""
        return max(map(impact_of, self.statements), key=abs, default=0)

    def text(self) -> str:
        text = self._text()
        return text[:1].upper() + text[1:]

    def _text(self) -> str:
        crisis = self.material.get("crisis", "")
        if crisis == "plain":
            return self.say("cared" if self._has_said("crisis") else "crisis")
        request = self._reply_to_request()
        answer = "" if request or ANNOUNCED.search(self.plain) else self._answers(only_sure=crisis == "doubtful")
        if crisis and not (request or answer):
            if crisis == "doubtful":
                return self.say("doubtful_again" if self._has_said("crisis", "doubtful", "cared") else "doubtful")
            if self.replies and self._has_said("crisis", within=1):
                return self.say("cared")
        return request or self._reply_to_news(answer) or self._reply_to_situation() or self._acknowledge()

    def _reply_to_request(self) -> str:
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
            return self.say("wish_noted", told=clip(new[-1]))
        return self.say(request.kind)

    def _reply_to_news(self, answer: str) -> str:
        """The answer, and a word about news that weighs; "" if there is neither."""
        hurt_key = "heavy" if self.impact <= HEAVY else "sad" if self.impact < 0 and self.questions else ""
        hurt = self.say(hurt_key) if hurt_key else ""
        if answer in self._phrases_of("no_answer") and impact_of(self.burst) <= SERIOUS:
            return hurt or self.say("sad")
        if self.impact > HEAVY and SIGNS["joke"].search(self.burst):
            return self.say("joke")
        return self._join(hurt, answer) if answer or self.impact <= HEAVY else ""

    def _reply_to_situation(self) -> str:
        for key, sign, max_length in SITUATIONS:
            if len(self.burst) <= max_length and sign.search(self.plain):
                return self.say(key)
        return self.say("wish") if Style.NO_QUESTIONS in styles_in([self.burst]) and len(self.burst) <= SHORT else ""

    def _acknowledge(self) -> str:
        """A short phrase by impact; with a question only if none was asked recently, none is unwanted, and nothing
        hurts."""
        feelings = feelings_in(self.burst)
        letters = len(CJK.findall(self.burst)) + len(re.findall(r"[a-z']+", self.burst, re.I))
        if letters <= FEW_WORDS and abs(self.impact) <= 1 and not feelings & SAD:
            return self.say("listening")
        hurts = self.impact < 0 or (self.impact == 0 and bool(feelings & SAD))
        key = (
            "sad" if hurts else "glad" if self.impact >= GLAD or (not self.impact and "happy" in feelings) else "plain"
        )
        if key == "plain":
            if any(impact_of(text) <= MOURNING for text in self.owner_messages[-MESSAGES_OF_GRIEF:]):
                return self.say("mourning")
            if EXCLAIMED.search(self.burst):
                key = "struck"
        if key in ("sad", "plain") and len(self.burst) > LONG // (2 if self.is_chinese else 1):
            key = "long"
        lately = self.replies[-MESSAGES_WITHOUT_QUESTION:]
        words = re.findall(r"[a-z']+|[\u3400-\u9fff]{2}", self.burst, re.I)
        may_ask = (
            lately
            and not any(mark in reply for mark in "?？" for reply in lately)
            and not (hurts or key == "long" or self.material.get("crisis"))
            and len(words) >= WORDS_TO_ASK_ABOUT
            and not {*self.styles, *styles_in([self.burst])} & {Style.NO_QUESTIONS, Style.SHORT}
            and not read_requests(self.burst)
        )
        return self._join(self.say(key), self.say("asks") if may_ask else "")

    # --- answering from memory ------------------------------------------------------------------------------------
    def _answers(self, *, only_sure: bool) -> str:
        """The answers to the questions, each once; "" if there is no question, or it is small talk. `only_sure` leaves
        out answers that are not certain."""
        answers: list[str] = []
        texts_before = [*(in_full(message["content"]) for message in self.recent), *self.statements]
        empty = self._phrases_of("no_answer", "remembers_nothing")
        for question in self.questions[-MAX_QUESTIONS:]:
            names = self.names if PRONOUN.search(question) else ()
            answer = self._answer(with_antecedent(question, texts_before, names), only_sure)
            is_empty = answer in empty
            if answer and answer not in answers and not (answers and is_empty):
                answers = [*(other for other in answers if other not in empty), answer]
        # "Her name slips my mind" asks only where the name is known.
        groped = [] if answers else [self._answer(sentence, only_sure=True) for sentence in self.groping]
        return self._join(*answers, *groped)

    def _answer(self, question: str, only_sure: bool) -> str:
        """An answer from memory, or that nothing is known; "" for other questions (small talk, or about the
        persona)."""
        if self.material["user_name"] not in NAMELESS and SIGNS["own_name"].search(question) and not topics(question):
            return self.say("your_name")
        if SIGNS["about_keeping"].search(question):
            return self.say("off_the_record" if self.material.get("off_the_record") else "keeps")
        if asks_for_overview(question):
            return self._overview()
        if lead := self._lead(question):
            return lead
        looks_up = bool(SIGNS["recall"].search(question) or WHO_IS.search(question) or self._asks_of_own_life(question))
        situations = {key for key, sign, _length in SITUATIONS if sign.search(question)}
        is_of_itself = SIGNS["of_itself"].search(question) and not SIGNS["of_the_two"].search(question)
        if situations - ({"itself"} if looks_up and is_of_itself else set()):
            return ""
        asks_advice = (
            bool(SIGNS["advice"].search(question))
            and not SIGNS["why"].search(question)
            and not asks_what_is_eaten(question)
        )
        answers = [] if asks_advice else find_answers(question, self.memories, looks_up=looks_up)
        if answers and answers[0].level == SURELY:
            return self._tell_all(question, answers)
        if only_sure:
            return ""
        turned = TO_PERSONA.sub(lambda match: AS_PERSONA_ASKS[match[0].lower()], question)
        if not asks_advice and turned != question and not looks_up:
            of_persona = [memory for memory in self.memories if memory.source == "persona"]
            about_it = find_answers(turned, of_persona, looks_up=False)
            if about_it and about_it[0].level >= PERHAPS:
                return self._tell(about_it[0].memory)
        nearest = next((answer for answer in answers if answer.memory.source in ("words", "L3", "user")), None)
        if nearest and not asks_of_the_world(question):
            later = self._later_than([nearest.memory], answers, question)
            closest = self.say("closest", told=nearest.memory.quotation, when=self._when(nearest.memory))
            return self._join(closest, self.say("later", told=later.sentence) if later else "")
        return self.say("remembers_nothing" if looks_up and not asks_advice else "no_answer")

    def _asks_of_own_life(self, question: str) -> bool:
        """Whether it names the owner, or somebody or something of theirs, and neither the persona nor the world."""
        plain = HELP.sub(" ", question)
        return not (TO_PERSONA.search(plain) or SERVICE.search(question) or asks_of_the_world(question)) and bool(
            OF_OWNER.search(plain) or bearers(telling_words(plain)) or any(name in plain for name in self.names)
        )

    def _overview(self) -> str:
        """What is known of the owner, as a list: what is in every prompt, then the first items of recall; if nothing is
        stored yet, what they said a moment ago."""
        items = [*self.material.get("always_known", ()), *self.material.get("recollections", ())]
        stored = memories({**self.material, "recollections": items, "recent": ()})
        entries = [f"- {memory.quotation}" for memory in stored or self.memories if memory.source != "persona"]
        return self.say("overview", told="\n".join(entries[:MAX_OVERVIEW])) if entries else self.say("overview_empty")

    def _lead(self, question: str) -> str:
        """The reply to how a matter went, or when a feeling last occurred: the leads of recall, with the state of the
        matter or the day; "" if there are none."""
        first = next((item for item in self.material.get("recollections", ()) if item.get("lead")), None)
        if first is None or not (asks_how_it_went(question) or asks_when_last(question)):
            return ""
        [memory] = memories({**self.material, "recollections": [first], "recent": (), "blocks": {}, "entities": ()})[:1]
        if first["lead"] != "feeling":
            return self._join(self._tell(memory), self.say(f"matter_{first['lead']}"))
        return self._join(self._tell(memory), self.say("felt_then", when=first["when"]) if first.get("when") else "")

    def _tell_all(self, question: str, answers: Sequence[Answer]) -> str:
        """The best memory, a second one if the question asks for several things, and a later change."""
        first, *others = [answer.memory for answer in answers if answer.level == SURELY]
        is_one_enough = asks_for_one(question) or Style.SHORT in self.styles or first.source not in ("L3", "words")
        more = [] if is_one_enough else [memory for memory in others if memory.source == first.source][:1]
        later = self._later_than([first, *more], answers, question)
        also = [
            self.say("later", told=memory.sentence)
            if memory.source == "words" and memory.at > first.at
            else self.phrases["also"][0].format(told=memory.quotation + self._when(memory))
            for memory in more
        ]
        return self._join(self._tell(first), *also, self.say("later", told=later.sentence) if later else "")

    def _later_than(self, shown: Sequence[Memory], answers: Sequence[Answer], question: str) -> Memory | None:
        """A later statement that answers the question as well, or that may have ended or changed what is told: what is
        over is told in the past tense."""
        first, fit = shown[0], next(answer.fit for answer in answers if answer.memory is shown[0])
        if first.source not in ("words", "L3"):
            return None
        asked, first_words = {*question_words(question)}, {*question_words(first.plain)}
        names = {name.name.casefold() for name in names_in(first.plain)}
        # "Who is my boyfriend?" is about Tom, whom the memory names; "How old is Ana?" is about Ana alone.
        subjects = asked & first_words if asked & names else (asked | names) & first_words
        people = bearers(telling_words(first.plain))
        as_good = [
            answer.memory
            for answer in answers
            if answer.level >= PERHAPS and (answer.fit >= fit or asks_for_one(question))
        ]
        later = [
            memory
            for memory in self.memories
            if memory.source == "words"
            and memory.at > max(memory.at for memory in shown)
            and memory not in shown
            and (
                memory in as_good
                or (
                    SIGNS["changes"].search(memory.plain)
                    and (
                        bearers(telling_words(memory.in_context)) & people
                        or subjects & {*question_words(memory.in_context)}
                    )
                )
            )
        ]
        return max(later, key=lambda memory: memory.at, default=None)


def reply(material: Mapping[str, Any]) -> str:
    """The reply to `material` (its shape is in the package's docstring)."""
    return Reply(material).text()


def first_word(material: Mapping[str, Any]) -> dict[str, Any]:
    """The answer for an outreach: its subject as remembered, and how things are."""
    about = material["about"].strip()
    key = "first_greeting" if not about else "first_word_hard" if impact_of(about) <= HEAVY else "first_word"
    quotation = messages_quoted({"text": about, "layer": "L3"}, material)[0]
    names = material["user_name"], material["persona_name"]
    text_about = quotation["text"] if quotation["layer"] == "L2" else in_second_person(about, *names)
    reply = Reply({**material, "lines": [about] if about else []})
    message = reply.say(key, told=clip(text_about[:1].upper() + text_about[1:]).rstrip("。."))
    return {"message": message[:1].upper() + message[1:]}

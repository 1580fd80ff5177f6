"""The memories that memory mode may tell, and their wording to the owner."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from operator import add
from typing import Any

from echovessel.language import lazy_re as re
from echovessel.language.dialects import in_standard_words
from echovessel.language.requests import asks_to_forget
from echovessel.language.sentences import CJK, is_chinese, is_question, is_small_talk, sentences, words
from echovessel.llm.offline.phrases import SIGNS

MAX_CHARACTERS = 220
NOW = "9999"  # sorts messages of this conversation after any day
SAME = 0.7  # share of common letter pairs above which a memory repeats one before it
# Memories that somebody asked to have remembered, or that were kept without a model, are quotations with the speaker.
# Corrections by the owner have no quotation marks, because nobody said these words.
QUOTATION = re.compile(r"(?P<speaker>.{1,120}?)(?:: |：)(?P<mark>“)?(?P<words>.+)(?(mark)”)", re.DOTALL)
# The next quotation, unless it goes on from the one before: "“My dog is Rex.” “No, it's Max.”"
NEXT_QUOTATION = re.compile(
    r"”\s*“(?!\W*(?:(?:no|nope|not|actually|wait|sorry|i mean|that|this|and|but|so|because|also|then)\b|"
    r"[不没这那还也但]|其实|因为|所以|然后)|[^“，。]{0,6}[他她它]|"
    r"(?:\w+ )?(?:he|him|his|she|her|it|its|they|them|their)\b)",
    re.I,
)
# "He turned 15", "11月30号" and "moved to the 17th" say of whom or what only together with the message before.
CONTINUES = re.compile(
    r"^\W*(?:(?:no|yes|yeah|oh|well|and|but|so|they (?:rang|said)[\w ]*?)\W+)*(?:he|she|it|they|that|his|her|not|"
    r"turned)(?:'s|'ll)?\b|^\W*(?:the )?\d|^\W*it(?:'s| is| was)\b|\b(?:actually|btw)\b|"
    r"^[^，。]{0,4}[他她它这那]|^\W*(?:不是|叫|改|换|\d|[一二三四五六七八九十]+[月号岁点年个])|"
    # "On Friday", 「在上海」: only as a fragment.
    r"^\W*(?:on|in|at|since|from)\b(?:\W+\w+){0,5}\W*$|^\W*[是在就][\u3400-\u9fff]{0,4}\W*$",
    re.I,
)
OWN_SUBJECT = re.compile(r"\b(?:i|i'm|i've|i'd|we|my|our)\b|[我咱俺]", re.I)


@dataclass(frozen=True)
class Memory:
    """A memory for replies: `text` is the original, `wording` what is told to the owner. `source` is "L3" or "L4",
    "words" for the owner's own words, "persona" or "user" for the texts that the owner wrote about them. `at` is its
    time, comparable as text ("" if unknown), `when` its age in words, `context` the message that it continues."""

    text: str
    wording: str
    source: str
    when: str = ""
    at: str = ""
    context: str = ""

    @cached_property
    def plain(self) -> str:
        """The text as the rules read it."""
        return in_standard_words(self.text)

    @cached_property
    def in_context(self) -> str:
        """The text with the message that it continues, as the rules read it."""
        return f"{self.plain} {in_standard_words(self.context)}" if self.context else self.plain

    @property
    def sentence(self) -> str:
        """The wording as it is told: a sentence addressed to the owner, or the words unchanged."""
        clipped = clip(self.wording)
        if self.source in ("words", "persona", "user"):
            return clipped
        ended = clipped if re.search(r"[。.!！?？…”\"]$", clipped) else clipped + ("。" if CJK.search(clipped) else ".")
        return ended[:1].upper() + ended[1:]

    @property
    def quotation(self) -> str:
        """The sentence, in quotation marks if somebody wrote these words."""
        return f"“{self.sentence}”" if self.source in ("words", "persona", "user") else self.sentence


def clip(text: str) -> str:
    return text if len(text) <= MAX_CHARACTERS else text[: MAX_CHARACTERS - 1].rstrip() + "…"


def memories(material: Mapping[str, Any], statements: Sequence[str] = ()) -> list[Memory]:
    """The memories for replies, best first: recollections, what is in every prompt, what the owner said a moment ago
    and now, the texts that they wrote about both, and described entities. The persona's own words, questions and
    requests to forget are no memories."""
    asking = {text.strip() for text in material["lines"]}.difference(statements)
    contexts = _contexts([item["content"] for item in material.get("recent", ()) if item["role"] == "user"])
    recent: list[Mapping[str, Any]] = [
        {"text": item["content"], "layer": "L2", "speaker": item["role"], "at": item.get("at") or f"{NOW}-{number:04}"}
        for number, item in reversed([*enumerate(material.get("recent", ()))])
    ]
    now = [{"text": statement, "layer": "L2", "speaker": "user", "at": f"{NOW}-now"} for statement in statements]
    recalled = (*material.get("recollections", ()), *material.get("always_known", ()))
    recollections = [message for item in recalled for message in messages_quoted(item, material)]
    is_of_the_moment = SIGNS["just"].search("\n".join(material["lines"]))
    items = [*now, *recent, *recollections] if is_of_the_moment else [*recollections, *recent, *now]
    candidates = []
    for item in items:
        text, at = item["text"].strip(), item.get("at", "")
        if item["layer"] != "L2":
            wording = in_second_person(text, material["user_name"], material["persona_name"])
            candidates.append(Memory(text, wording, item["layer"], at=at))
        elif (
            item["speaker"] == "user"
            and text not in asking
            and not (is_question(text) or is_small_talk(text) or asks_to_forget(text))
        ):
            candidates.append(Memory(text, text, "words", item.get("when", ""), at, contexts.get(text, "")))
    for label, content in material.get("blocks", {}).items():
        candidates += [Memory(content[start:end], content[start:end], label) for start, end in sentences(content)]
    candidates += [
        Memory(f"{entity['name']}: {entity['description']}", entity["description"], "user")
        for entity in material.get("entities", ())
    ]
    return list(_distinct(candidates))


def _contexts(messages: Sequence[str]) -> dict[str, str]:
    """For each message of the owner that continues the one before, that one, with what it continues itself."""
    contexts: dict[str, str] = {}
    for before, text in pairwise(messages):
        plain = in_standard_words(text)
        if CONTINUES.search(plain) and not OWN_SUBJECT.search(plain) and not is_question(text):
            contexts[text.strip()] = f"{before} {contexts.get(before.strip(), '')}".strip()
    return contexts


class _BitOfPair(dict[str, int]):
    """A bit for each pair of letters: numbers made of them compare ten times as fast as sets."""

    def __missing__(self, pair: str) -> int:
        bit = self[pair] = 1 << len(self)
        return bit


def _distinct(candidates: Sequence[Memory]) -> Iterator[Memory]:
    """Leaves out what repeats a memory before it: its words, or most of its letters. A later statement that says more
    is no repeat, nor is news of a change to what it changed."""
    told_before: list[tuple[Memory, int, int, bool]] = []
    bits = _BitOfPair()
    for memory in candidates:
        letters = "".join(filter(str.isalnum, memory.text.casefold()))
        pairs = set(map(add, letters, letters[1:]))
        number, count = sum(map(bits.__getitem__, pairs)), len(pairs)
        changes = SIGNS["changes"].search(memory.text) is not None
        for other, other_number, other_count, is_change in told_before:
            if changes and not is_change:
                continue
            shared = (number & other_number).bit_count()
            if shared / (min(count, other_count) or 1) < SAME:
                continue
            says_more = memory.at > other.at and not all(text in memory.text for text in other.text.split("” “"))
            if not says_more or shared / max(1, count) >= SAME:
                break
        else:
            told_before.append((memory, number, count, changes))
            yield memory


def messages_quoted(item: Mapping[str, Any], material: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """A memory that quotes messages, as these messages. The speaker may have a former name: the subject identifies
    them, unless the prefix is more than a name, as in "Ana (to Ben)"."""
    quotation = QUOTATION.fullmatch(item["text"].strip()) if item["layer"] == "L3" else None
    if quotation is None:
        return [item]
    roles = {material["persona_name"]: "persona", material["user_name"]: "user"}
    is_named = any(name and name in quotation["speaker"] for name in roles)
    is_bare = quotation["mark"] and not is_named and not re.search(r"[（(]", quotation["speaker"])
    speaker = roles.get(quotation["speaker"]) or (item.get("subject") if is_bare else None)
    if speaker not in ("user", "persona"):
        return [item]
    texts = NEXT_QUOTATION.split(quotation["words"]) if quotation["mark"] else [quotation["words"]]
    return [{**item, "text": text, "layer": "L2", "speaker": speaker} for text in texts]


# --- telling it to the one it is about --------------------------------------------------------------------------------
THEY_BACK = {"they": "you", "them": "you", "their": "your", "theirs": "yours", "themselves": "yourself"}
THEY_BACK |= {"they're": "you're", "they've": "you've", "they'll": "you'll", "they'd": "you'd"}
TO_PLURAL = {"has": "have", "does": "do", "goes": "go", "is": "are", "was": "were"}
TO_PLURAL |= {"hasn't": "haven't", "doesn't": "don't", "isn't": "aren't", "wasn't": "weren't"}
ADVERBS = words("really just always never often also still usually sometimes actually finally only already")
CLAUSE_OPENERS = words("and but that because when since while if so as before after you")
TOKEN = r"[^\W_]+(?:'[a-z]+)?|\s+|."


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
    users, personas = ({name, name[:1].upper() + name[1:]} - {""} for name in (user, persona_name))
    spelt = "|".join(re.escape(name) for name in sorted(users | personas, key=len, reverse=True))
    parts, at = [], 0
    for start, end in sentences(text):
        parts += [text[at:start], _second_person(text[start:end], users, personas, spelt)]
        at = end
    return "".join([*parts, text[at:]])


def _second_person(sentence: str, users: Collection[str], personas: Collection[str], spelt: str) -> str:
    """One English sentence; a verb right after a name that is a subject agrees with its pronoun. `spelt` is a pattern
    of all names."""
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

"""Turning "I" into a name and back: memories are kept in the third person and told in the second.

English needs verbs that agree; within a sentence the first mention is the name, later ones are "they".
Chinese needs only the pronoun. Rules of thumb: enough for what people tell in simple sentences.
"""

import re
from collections.abc import Callable

from echovessel.llm.offline.text import is_chinese, sentences, words

ADVERBS = words(
    """really just always never often also still usually sometimes actually finally recently absolutely
    only already even now then totally truly secretly simply barely hardly"""
)
# Words after "I" that take no -s: auxiliaries, irregular past forms, and words that are no verbs.
UNCHANGED = words(
    """can could will would shall should must might may did had ought got went made took told met saw
    bought ate lost found felt thought left came gave quit cut put read said heard knew ran began broke
    brought kept slept spent won woke wrote drove flew fell grew held let paid sold sent sat stood
    taught understood became chose hurt hit forgot built caught drank fought hid led meant rode sang
    shot swam threw wore and or but to in on at with for from of about as if so too not can't couldn't
    won't wouldn't shouldn't mustn't didn't hadn't who that this"""
)
LOOKS_PAST = frozenset({"need", "feed", "bleed", "speed", "succeed", "proceed", "exceed"})
IRREGULAR = {"have": "has", "do": "does", "go": "goes", "am": "is", "are": "is", "were": "was"}
IRREGULAR |= {"haven't": "hasn't", "don't": "doesn't", "aren't": "isn't", "weren't": "wasn't"}
PLURAL = {singular: plural for plural, singular in IRREGULAR.items() if plural != "am"}

# Pronoun → (as the first mention, as a later one); {n} is the name.
FIRST_PERSON = {
    "i": ("{n}", "they"),
    "i'm": ("{n} is", "they're"),
    "i've": ("{n} has", "they've"),
    "i'll": ("{n} will", "they'll"),
    "i'd": ("{n} would", "they'd"),
    "me": ("{n}", "them"),
    "my": ("{n}'s", "their"),
    "mine": ("{n}'s", "theirs"),
    "myself": ("themselves", "themselves"),
    "we're": ("{n} and others are", "they're"),
    "we've": ("{n} and others have", "they've"),
    "we": ("{n} and others", "they"),
    "us": ("{n} and others", "them"),
    "our": ("their", "their"),
    "ours": ("theirs", "theirs"),
}
SECOND_PERSON = {"you": "{p}", "your": "{p}'s", "yours": "{p}'s", "you're": "{p} is", "yourself": "{p}"}
THEY_BACK = {"they": "you", "them": "you", "their": "your", "theirs": "yours", "themselves": "yourself"}
THEY_BACK |= {"they're": "you're", "they've": "you've", "they'll": "you'll", "they'd": "you'd"}
TOKEN = re.compile(r"[^\W_]+(?:'[a-z]+)?|\s+|.", re.DOTALL)
# A name is the subject where a clause begins; elsewhere the word after it is no verb of its own.
CLAUSE_OPENERS = words("and but that because when since while if so as before after")


def in_third_person(text: str, user_name: str, persona_name: str) -> str:
    """What the user said, told about the user.

    >>> in_third_person("I have a cat and I love it. He sits on my lap.", "Ana", "Mira")
    "Ana has a cat and they love it. He sits on Ana's lap."
    >>> in_third_person("我养了只猫,你记住。", "小雨", "阿澜")
    '小雨养了只猫,阿澜记住。'
    """
    if is_chinese(text):
        return _third_zh(text, user_name or "用户", persona_name)
    name = user_name or "the user"
    return _by_sentence(text.replace("’", "'"), lambda sentence: _third_en(sentence, name, persona_name))


def in_second_person(text: str, user_name: str, persona_name: str) -> str:
    """What is remembered about the user, told to the user.

    >>> in_second_person("Ana has a cat and they love it. He sits on Ana's lap.", "Ana", "Mira")
    'you have a cat and you love it. He sits on your lap.'
    """
    if is_chinese(text):
        told = text.replace(f"{user_name or '用户'}他们", "你们").replace(user_name or "用户", "你")
        return told.replace(persona_name, "我") if persona_name else told
    return _by_sentence(text, lambda sentence: _second_en(sentence, user_name or "the user", persona_name))


def _by_sentence(text: str, told: Callable[[str], str]) -> str:
    parts, at = [], 0
    for start, end in sentences(text):
        parts += [text[at:start], told(text[start:end])]
        at = end
    return "".join([*parts, text[at:]])


def _third_zh(text: str, name: str, persona_name: str) -> str:
    told = re.sub("我们|咱们", f"{name}他们", text)
    told = re.sub("(?<!自)我|咱", name, told)
    return re.sub("你(?!们)|您", persona_name, told) if persona_name else told


def _third_en(sentence: str, name: str, persona_name: str) -> str:
    told: list[str] = []
    named = verb_follows = False
    for token in TOKEN.findall(sentence):
        word = token.lower()
        if word in FIRST_PERSON and not (word == "us" and token == "US"):
            told.append(FIRST_PERSON[word][named].format(n=name))
            verb_follows = word == "i" and not named
            named = named or name in told[-1]
        elif word == "am" or (named and not verb_follows and word == "was" and told[-2:-1] == ["they"]):
            told.append("is" if verb_follows else "are" if word == "am" else "were")
            verb_follows = False
        elif persona_name and word in SECOND_PERSON:
            told.append(SECOND_PERSON[word].format(p=persona_name))
            verb_follows = word == "you" and _opens_clause(told[:-1])
        else:
            told.append(_singular(token) if verb_follows and token.isascii() and word[0].isalpha() else token)
            verb_follows = verb_follows and (token.isspace() or word in ADVERBS)
    return _capital("".join(told))


def _opens_clause(told: list[str]) -> bool:
    """Whether what follows `told` is a subject: at the beginning, after a comma, after "that"."""
    last = next((token for token in reversed(told) if not token.isspace()), ",")
    return last in ",;:.(" or last.lower() in CLAUSE_OPENERS


def _singular(verb: str) -> str:
    """The form of `verb` after a name."""
    if verb in IRREGULAR:
        return IRREGULAR[verb]
    if verb in UNCHANGED or verb in ADVERBS or verb.endswith(("ing", "n't", "was")):
        return verb
    if verb.endswith("ed") and verb not in LOOKS_PAST:
        return verb
    if re.search(r"(?:s|x|z|ch|sh|o)$", verb):
        return verb + "es"
    return verb[:-1] + "ies" if re.search(r"[^aeiou]y$", verb) else verb + "s"


def _second_en(sentence: str, name: str, persona_name: str) -> str:
    told: list[str] = []
    named = verb_follows = False
    for token in _tokens_with(name, sentence):
        word = token.lower()
        if word in (name.lower(), f"{name.lower()}'s"):
            told.append("your" if word.endswith("'s") else "you")
            verb_follows = word == name.lower() and _opens_clause(told[:-1])
            named = True
        elif named and word in THEY_BACK:
            told.append(THEY_BACK[word])
        elif persona_name and word in (persona_name.lower(), f"{persona_name.lower()}'s"):
            told.append("my" if word.endswith("'s") else "me")
        else:
            told.append(_plural(token) if verb_follows and not token.isspace() else token)
            verb_follows = verb_follows and (token.isspace() or word in ADVERBS)
    return "".join(told)


def _tokens_with(name: str, sentence: str) -> list[str]:
    """Tokens of `sentence`, in which a name of several words is one token."""
    whole = re.compile(rf"\b{re.escape(name)}(?:'s)?\b|{TOKEN.pattern}", re.DOTALL | re.I)
    return whole.findall(sentence)


def _plural(verb: str) -> str:
    """The form of `verb` after "you"."""
    if verb in PLURAL:
        return PLURAL[verb]
    if verb in ADVERBS or not verb.endswith("s") or verb.endswith("ss"):
        return verb
    if verb.endswith("ies") and len(verb) > 4:
        return verb[:-3] + "y"
    return verb[:-2] if re.search(r"(?:ss|x|z|ch|sh|o)es$", verb) else verb[:-1]


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]

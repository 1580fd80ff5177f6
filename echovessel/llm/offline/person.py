"""Turning "I" into a name and back: memories are kept in the third person and told in the second.

English needs verbs that agree; within a sentence the first mention is the name, later ones are "they".
Chinese needs only the pronoun. Rules of thumb: enough for what people tell in simple sentences.
"""

import re
from collections.abc import Callable

from echovessel.llm.offline.text import CJK, URL, is_chinese, sentences, words

ADVERBS = words(
    """really just always never often also still usually sometimes actually finally recently absolutely
    only already even now then totally truly secretly simply barely hardly no longer"""
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
# Addresses of pages and people are told as they stand.
TOKEN = re.compile(rf"{URL}|[\w.+-]{{1,64}}@[\w.-]+\w|[^\W_]+(?:'[a-z]+)?|\s+|.", re.DOTALL)
MEANS_SPEAKER = re.compile(r"\b(?:I|I'm|I've|I'd|I'll|me|my|My|we|We|our|Our)\b")
# What bids to remember is no part of what is remembered.
LEAD_IN = re.compile(
    r"^\s*(?:please\s+|can you\s+)?(?:(?:remember|note|keep in mind)(?:\s+(?:this|that))?\s*[:,]\s*|"
    r"(?:remember|note|keep in mind|don't forget)\s+that\s+|(?:remember|don't forget)\s+(?=I\b|my\b|I'm\b))|"
    r"^\s*(?:请|请你|你要|帮我|你)?(?:要)?(?:记住|别忘了?|记一下)(?:这个|一下|这件事|了)?[：:，,]?\s*(?=\S{2})",
    re.I,
)
HELLO = re.compile(r"^(?:你好|您好|大家好|嗨|哈喽|hi|hello|hey)[呀啊]?\s*[，,！!~]+\s*(?=\S)", re.I)
CALL = r"(?:(?:hey|hi|hello|oh|dear|嗨|你好)[,，]?\s+)?"
# A name is the subject where a clause begins; elsewhere the word after it is no verb of its own.
CLAUSE_OPENERS = words("and but that because when since while if so as before after")


def in_third_person(text: str, user_name: str, persona_name: str) -> str:
    """What the user said, told about the user.

    >>> in_third_person("I have a cat and I love it. He sits on my lap.", "Ana", "Mira")
    "Ana has a cat and they love it. He sits on Ana's lap."
    >>> in_third_person("我养了只猫,你记住。", "小雨", "阿澜")
    '小雨养了只猫,阿澜记住。'
    """
    told = _bare(text.replace("’", "'"), user_name, persona_name)
    if MEANS_SPEAKER.search(told) or not is_chinese(told):
        name = user_name or "the user"
        told = _by_sentence(told, lambda sentence: _third_en(sentence, name, persona_name))
    return _third_zh(told, user_name or "用户", persona_name) if CJK.search(told) else told


def _bare(text: str, user_name: str, persona_name: str) -> str:
    """`text` without what is only said to its hearer: "Remember this:", "Mira, …", "I'm Ana, …"."""
    return _by_sentence(text, lambda sentence: _bare_sentence(sentence, user_name, persona_name))


def _bare_sentence(sentence: str, user_name: str, persona_name: str) -> str:
    told = LEAD_IN.sub("", HELLO.sub("", sentence))
    if persona_name:
        called = re.escape(persona_name)
        told = re.sub(rf"^{CALL}{called}\s*[,，!！:：]\s*", "", told, flags=re.I)
        told = re.sub(rf"[,，]\s*{called}(?=\s*[.!?。！？]*$)", "", told)
    if user_name:
        own = re.escape(user_name)
        told = re.sub(
            rf"^(?:I'm|I am|My name is|my name's)\s+{own}\s*(?:,\s*(?:and\s+)?|\band\s+)(?=\S)", "", told, flags=re.I
        )
        told = re.sub(rf"^我(?:的名字)?(?:叫|是){own}[，,]\s*(?=\S)", "我", told)
        told = re.sub("^我我", "我", told)
    return told or sentence


def in_second_person(text: str, user_name: str, persona_name: str) -> str:
    """What is remembered about the user, told to the user.

    >>> in_second_person("Ana has a cat and they love it. He sits on Ana's lap.", "Ana", "Mira")
    'you have a cat and you love it. He sits on your lap.'
    """
    name = user_name or ("用户" if CJK.search(text) else "the user")
    told = text
    if not is_chinese(text) or re.search(rf"{_whole(name)}\s+[a-z]", text):
        told = _by_sentence(text, lambda sentence: _second_en(sentence, name, persona_name))
    return _second_zh(told, name, persona_name) if CJK.search(told) else told


def _second_zh(text: str, name: str, persona_name: str) -> str:
    told = re.sub(rf"{_whole(name)}他们", "你们", text)
    told = re.sub(_whole(name), "你", told)
    return re.sub(_whole(persona_name), "我", told) if persona_name else told


def _whole(name: str) -> str:
    """A pattern for `name` that is no part of a longer Latin word."""
    spelt = "|".join(re.escape(spelling) for spelling in sorted(_spellings(name)))
    return rf"(?<![A-Za-z])(?:{spelt})(?![A-Za-z])"


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
            verb_follows = word == "you" and _opens_clause(told[:-1], name)
        else:
            told.append(_singular(token) if verb_follows and token.isascii() and word[0].isalpha() else token)
            verb_follows = verb_follows and (token.isspace() or word in ADVERBS)
    return _capital(_agreeing("".join(told), persona_name, {"are": "is", "were": "was", "have": "has"}))


def _agreeing(text: str, subject: str, forms: dict[str, str]) -> str:
    """`text` in which the verbs that can only follow a subject agree with `subject`, wherever it stands."""
    if not subject:
        return text
    pattern = rf"\b({re.escape(subject)}) ({'|'.join(forms)})\b"
    return re.sub(pattern, lambda match: f"{match[1]} {forms[match[2]]}", text)


def _opens_clause(told: list[str], hearer: str = "you") -> bool:
    """Whether what follows `told` is a subject: at the beginning, after a comma, after "that", or after who
    was told it ("told Ana Mira loves …")."""
    last = next((token for token in reversed(told) if not token.isspace()), ",")
    return last in (*",;:.(", hearer) or last.lower() in CLAUSE_OPENERS


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
    named = False
    agree: Callable[[str], str] | None = None
    for token in _tokens_with(name, sentence):
        bare = token.removesuffix("'s")
        subject = _opens_clause(told)
        if bare in _spellings(name):
            told.append("your" if bare != token else "you")
            agree = _plural if subject and bare == token else None
            named = True
        elif bare in _spellings(persona_name):
            told.append("my" if bare != token else "I" if subject else "me")
            agree = _after_i if subject and bare == token else None
        elif named and token.lower() in THEY_BACK:
            told.append(THEY_BACK[token.lower()])
        else:
            told.append(agree(token) if agree and not token.isspace() else token)
            agree = agree if token.isspace() or token.lower() in ADVERBS else None
    back = _agreeing("".join(told), "you", {"is": "are", "was": "were", "has": "have"})
    return re.sub(r"\bme (is|was|has)\b", lambda match: f"I {_after_i(match[1])}", back)


def _spellings(name: str) -> frozenset[str]:
    """`name` as it stands and with a capital: "will" is no Will."""
    return frozenset({name, _capital(name)} - {""})


def _tokens_with(name: str, sentence: str) -> list[str]:
    """Tokens of `sentence`, in which a name of several words is one token."""
    spelt = "|".join(re.escape(spelling) for spelling in sorted(_spellings(name)))
    whole = re.compile(rf"\b(?:{spelt})(?:'s)?\b|{TOKEN.pattern}", re.DOTALL)
    return whole.findall(sentence)


def _after_i(verb: str) -> str:
    """The form of `verb` after "I"."""
    return {"is": "am", "was": "was"}.get(verb, _plural(verb))


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

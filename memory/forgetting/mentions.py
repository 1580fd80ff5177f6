"""Also mentioned: messages that do not rest on what goes, and in which it is mentioned all the same.

    names_it      a name stands in it that goes with its bearer; it goes along, unless it is chosen otherwise
    rare_word     a word stands in it that is rare in this memory; what the persona said of it in the same session, or
                  when it had been recalled, goes along, and everything else stays
    same_words    it says the same, word for word; it stays, for it was not chosen

They are listed in the plan, each with a choice of its own. Reads only.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from chat import search
from chat.models import Message
from echovessel.embeddings.embedding import BUNDLED_FOLDER
from echovessel.language import tokenizer
from echovessel.language.common_words import everyday
from memory import knobs
from memory.curation.restatements import LEAST_SHARED, Said, contains, is_named, names_of
from memory.forgetting.collect import Reach
from memory.forgetting.consequences import Consequences
from memory.forgetting.registry import among
from memory.forgetting.types import MentionMode

# Of more than this, such as a session of a whole evening, single words are not looked for: they would name everything.
MAX_TEXTS = 40
MAX_RARE_WORDS = 60
# A name that stands in more messages than these is a place one lives in, or a word: they are listed, and stay.
MAX_SUGGESTED = 50


@dataclass(frozen=True)
class Mention:
    """A message, why it is listed, and what is proposed for it."""

    message: Message
    why: str
    suggested: MentionMode


def also_mentioned(reach: Reach, found: Consequences) -> dict[int, Mention]:
    """The messages outside of what goes in which it is mentioned, by key."""
    if not reach.choice.bury:
        return {}  # only what came in goes, and not what says the same
    suggested: MentionMode = reach.choice.messages
    mentions: dict[int, Mention] = {}
    named = list(_others(reach, _naming(reach, names_that_go(reach, found))))
    goes_along = len(named) <= MAX_SUGGESTED and not reach.runs
    for message in named:
        mentions[message.pk] = Mention(message, "names_it", suggested if goes_along else "leave")
    rare = {message.pk: (message, token) for message, token in _with_rare_words(reach)}
    for pk, (message, token) in rare.items():
        if pk in reach.overheard and is_telling_alone(token) and not reach.runs:
            mentions.setdefault(pk, Mention(message, "rare_word", suggested))
    for message in _others(reach, _of_the_same_words(reach)):
        mentions.setdefault(message.pk, Mention(message, "same_words", "leave"))
    for pk, (message, _token) in rare.items():
        mentions.setdefault(pk, Mention(message, "rare_word", "leave"))
    return mentions


def names_that_go(reach: Reach, found: Consequences) -> list[str]:
    """The names that go with their bearers, and those of a bearer who stays; never the names of the two who talk."""
    if not reach.choice.bury:
        return []
    names = {alias.text for alias in found.aliases.values()} | {one.canonical_name for one in found.entities.values()}
    theirs = names_of(reach.persona)
    return sorted(name for name in names if not theirs.issuperset(tokenizer.cut(name)))


def _naming(reach: Reach, names: list[str]) -> Iterable[int]:
    held = search.holding_all(reach.persona.pk, [tokenizer.cut(name) for name in names])
    for pk, content in _contents({pk for ids in held for pk in ids}):
        if any(is_named(name, content) for name in names):
            yield pk


def _with_rare_words(reach: Reach) -> Iterable[tuple[Message, str]]:
    """Messages with one of the words that are rare in this memory, and the word."""
    tokens = sorted(_telling_of(reach))
    if not tokens or len(tokens) > MAX_TEXTS * MAX_RARE_WORDS:
        return
    limit = knobs.rare_word_messages()
    gone = _settled(reach)
    held = search.holding(reach.persona.pk, tokens, limit * 10 + len(gone))
    within = {pk for ids in held.values() for pk in ids.tolist()} - gone
    sessions = dict(Message.objects.filter(pk__in=among(within)).values_list("pk", "session_id"))
    rare: dict[int, str] = {}
    for token, ids in held.items():
        keys = [pk for pk in ids.tolist() if pk in sessions]
        elsewhere = sum(sessions[pk] not in reach.talks for pk in keys)
        if elsewhere <= limit and len(keys) <= limit * 10:
            rare |= {pk: max(token, rare.get(pk, ""), key=is_telling_alone) for pk in keys}
    for message in _others(reach, rare):
        yield message, rare[message.pk]


def _telling_of(reach: Reach) -> set[str]:
    """The words of what goes that say by themselves what it is about."""
    said = _said(reach)
    if len(said) > MAX_TEXTS:
        return set()
    tokens = {token for one in said for token in one.telling if not is_common(token)}
    return tokens if len(tokens) <= MAX_RARE_WORDS else {token for token in tokens if is_telling_alone(token)}


def _said(reach: Reach) -> list[Said]:
    names = names_of(reach.persona)
    memories = [pk for pk in reach.fate.kin if pk in reach.nodes]
    lines = [reach.lines[pk] for pk, why in reach.fate.lines.items() if pk in reach.lines and why in _CHOSEN]
    theirs = [Said([line.content], names) for line in lines if line.role != Message.Role.PERSONA]
    return [*reach.said_by(memories, names), *theirs]


_CHOSEN = {"chosen", "in_chosen"}


def _of_the_same_words(reach: Reach) -> Iterable[int]:
    """Messages that hold one of the texts that go, word for word, where it is more than people say every day."""
    names = names_of(reach.persona)
    uuids = set(reach.persona.import_runs.filter(pk__in=among(reach.runs)).values_list("uuid", flat=True))
    lines = (reach.lines[pk] for pk in (*reach.fate.lines, *reach.fate.withheld) if pk in reach.lines)
    said = [Said([line.content], names) for line in lines if line.import_uuid not in uuids]
    said += reach.said_by(reach.fate.kin, names)
    wanted = {text for one in said if len(one.telling) > LEAST_SHARED for text in one.literal}
    held = search.holding_all(reach.persona.pk, [tokenizer.cut(text) for text in wanted])
    for pk, content in _contents({pk for ids in held for pk in ids} - _settled(reach)):
        if contains(content, wanted):
            yield pk


def _settled(reach: Reach) -> set[int]:
    """The lines that go, or are withheld, for another reason than that it is mentioned in them."""
    fate = {**reach.fate.lines, **reach.fate.withheld}
    return {pk for pk in fate if pk not in reach.asked.mentions}


def _others(reach: Reach, keys: Collection[int] | Mapping[int, str] | Iterable[int]) -> Iterable[Message]:
    wanted = set(keys) - _settled(reach)
    yield from Message.objects.filter(persona=reach.persona, pk__in=among(wanted)).order_by("-created_at", "-id")


def _contents(keys: Iterable[int]) -> Iterable[tuple[int, str]]:
    return Message.objects.filter(pk__in=among(keys)).values_list("pk", "content")


# --- how common a word of English is -------------------------------------------------------------------------------
# Ranks (2026-11): mother 2,388, doctor 3,460, garden 3,871, coffee 4,157, divorce 8,179, pottery 11,378, dentist
# 24,385; sarcoidosis is no word of it.
COMMON = 3_500  # such a word says nothing by itself
TELLING = 10_000  # a rarer one is hardly said again by chance


_COUNTING = frozenset("一二两三四五六七八九十百千万几半第个只条张本件位名块双年月日号点分钟")


@cache
def _ranks() -> dict[str, int]:
    """The rank of each of the commoner words, as they are cut."""
    pieces = (BUNDLED_FOLDER / "vocab.txt").read_text(encoding="utf-8").splitlines()[:TELLING]
    ranks: dict[str, int] = {}
    for rank, piece in enumerate(pieces):
        if piece.isascii() and piece.isalpha():
            for token in tokenizer.cut(piece):
                ranks.setdefault(token, rank)
    return ranks


def is_common(token: str) -> bool:
    """Whether many say it, whatever they speak of; numbers too. A pair of Chinese characters of which one says nothing
    is most often a part of two words."""
    if not token.isascii():
        return any(tokenizer.is_function_word(sign) or sign in everyday() or sign in _COUNTING for sign in token)
    return token.isdecimal() or len(token) < 3 or _ranks().get(token, TELLING) < COMMON


def is_telling_alone(token: str) -> bool:
    """Whether hardly anybody says it by chance. A pair of Chinese characters may be a part of two words."""
    return token.isascii() and not is_common(token) and token not in _ranks()

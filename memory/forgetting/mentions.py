"""Messages that also mention what is forgotten, although no deleted memory rests on them.

    names_it      has a name that is deleted with its entity; it goes along, unless it is chosen otherwise
    rare_word     has a word that is rare in this memory; replies of the same session, or to which the memory had been
                  recalled, go along, and all others stay
    same_words    has the same text, word for word; it stays, for it was not chosen

They are listed in the plan, each with a choice of its own. Reads only.
"""

from dataclasses import dataclass
from functools import cache

from chat import search
from chat.models import Message
from echovessel.embeddings import bundled_model
from echovessel.language import tokenizer
from echovessel.language.common_words import is_everyday
from memory import knobs
from memory.curation.restatements import MIN_SHARED, Statement, contains, is_named, names_of
from memory.forgetting.collect import Closure, Consequences
from memory.forgetting.registry import among
from memory.forgetting.types import MentionMode

# With more texts than this, such as a session of a whole evening, single words are not searched: all would match.
MAX_TEXTS = 40
MAX_RARE_WORDS = 60
# A name in more messages than these is the place one lives in, or a word: they are listed, and stay.
MAX_SUGGESTED = 50


@dataclass(frozen=True)
class Mention:
    """A message, why it is listed, and what is proposed for it."""

    message: Message
    why: str
    suggested: MentionMode


def also_mentioned(closure: Closure, consequences: Consequences) -> dict[int, Mention]:
    """Messages that stay and mention what goes, by key."""
    if not closure.choice.block_reimport:
        return {}  # an import is reverted: only its own rows go
    suggested: MentionMode = closure.choice.messages
    names, texts = names_that_go(closure, consequences), sorted(distinctive_texts(closure))
    hits = search.find_by_all_words(closure.persona.pk, [tokenizer.tokenize(text) for text in [*names, *texts]])
    with_name, with_text = ({pk for keys in part for pk in keys} for part in (hits[: len(names)], hits[len(names) :]))
    settled = {*closure.decision.messages, *closure.decision.withheld} - closure.request.mentions.keys()
    rare = _with_rare_words(closure, settled)
    rows = Message.objects.filter(
        persona=closure.persona, pk__in=among((with_name | with_text | rare.keys()) - settled)
    )
    messages = list(rows.only("uuid", "content", "role").order_by("-created_at", "-id"))
    named = [one for one in messages if one.pk in with_name and any(is_named(name, one.content) for name in names)]
    goes_along = len(named) <= MAX_SUGGESTED and not closure.runs
    mentions = {one.pk: Mention(one, "names_it", suggested if goes_along else "leave") for one in named}
    with_rare = [one for one in messages if one.pk in rare]
    for message in with_rare:
        is_restated = message.pk in closure.possible_restatements and is_telling_alone(rare[message.pk])
        if is_restated and not closure.runs:
            mentions.setdefault(message.pk, Mention(message, "rare_word", suggested))
    for message in messages:
        if message.pk in with_text and contains(message.content, texts):
            mentions.setdefault(message.pk, Mention(message, "same_words", "leave"))
    for message in with_rare:
        mentions.setdefault(message.pk, Mention(message, "rare_word", "leave"))
    return mentions


def names_that_go(closure: Closure, consequences: Consequences) -> list[str]:
    """The names of deleted entities, and the deleted names of entities that stay; never those of the owner and the
    persona."""
    if not closure.choice.block_reimport:
        return []
    names = {alias.text for alias in consequences.aliases.values()} | {
        one.canonical_name for one in consequences.entities.values()
    }
    theirs = names_of(closure.persona)
    return sorted(name for name in names if not theirs.issuperset(tokenizer.tokenize(name)))


def _with_rare_words(closure: Closure, settled: set[int]) -> dict[int, str]:
    """Messages with one of the words that are rare in this memory, and the word."""
    tokens = sorted(telling_words(closure))
    if not tokens or len(tokens) > MAX_TEXTS * MAX_RARE_WORDS:
        return {}
    limit = knobs.rare_word_messages()
    hits = search.find_by_terms(closure.persona.pk, tokens, limit * 10 + len(settled))
    within = {pk for ids in hits.values() for pk in ids.tolist()} - settled
    sessions = dict(Message.objects.filter(pk__in=among(within)).values_list("pk", "session_id"))
    rare: dict[int, str] = {}
    for token, ids in hits.items():
        keys = [pk for pk in ids.tolist() if pk in sessions]
        elsewhere = sum(sessions[pk] not in closure.source_sessions for pk in keys)
        if elsewhere <= limit and len(keys) <= limit * 10:
            rare |= {pk: max(token, rare.get(pk, ""), key=is_telling_alone) for pk in keys}
    return rare


def telling_words(closure: Closure) -> set[str]:
    """Words of deleted texts that tell by themselves what these are about."""
    names = names_of(closure.persona)
    memories = [pk for pk in closure.decision.content_matches if pk in closure.nodes]
    messages = [
        closure.messages[pk]
        for pk, why in closure.decision.messages.items()
        if pk in closure.messages and why in _CHOSEN
    ]
    owners = [Statement([message.content], names) for message in messages if message.role != Message.Role.PERSONA]
    statements = [*closure.statements_of(memories, names), *owners]
    if len(statements) > MAX_TEXTS:
        return set()
    tokens = {token for statement in statements for token in statement.telling if not is_common(token)}
    return tokens if len(tokens) <= MAX_RARE_WORDS else {token for token in tokens if is_telling_alone(token)}


_CHOSEN = {"chosen", "in_chosen"}


def distinctive_texts(closure: Closure) -> set[str]:
    """The deleted texts that are more than people say every day: messages with the same, word for word, are listed."""
    names = names_of(closure.persona)
    keys = (*closure.decision.messages, *closure.decision.withheld)
    messages = (closure.messages[pk] for pk in keys if pk in closure.messages)
    imported = closure.runs.values()
    statements = [Statement([message.content], names) for message in messages if message.import_uuid not in imported]
    statements += closure.statements_of(closure.decision.content_matches, names)
    return {text for statement in statements if len(statement.telling) > MIN_SHARED for text in statement.literal}


# --- how common a word of English is -------------------------------------------------------------------------------
# Ranks (2026-11): mother 2,388, doctor 3,460, garden 3,871, coffee 4,157, divorce 8,179, pottery 11,378, dentist
# 24,385; sarcoidosis is no word of it.
COMMON = 3_500  # such a word says nothing by itself
TELLING = 10_000  # a rarer one is hardly said again by chance


_COUNTING = frozenset("一二两三四五六七八九十百千万几半第个只条张本件位名块双年月日号点分钟")


@cache
def _ranks() -> dict[str, int]:
    """The rank of each of the commoner words, as they are cut."""
    pieces = (bundled_model.FOLDER / "vocab.txt").read_text(encoding="utf-8").splitlines()[:TELLING]
    ranks: dict[str, int] = {}
    for rank, piece in enumerate(pieces):
        if piece.isascii() and piece.isalpha():
            for token in tokenizer.tokenize(piece):
                ranks.setdefault(token, rank)
    return ranks


def is_common(token: str) -> bool:
    """Whether many say it, whatever they speak of; numbers too. A pair of Chinese characters of which one says nothing
    is most often a part of two words."""
    if not token.isascii():
        return any(tokenizer.is_function_word(sign) or sign in is_everyday() or sign in _COUNTING for sign in token)
    return token.isdecimal() or len(token) < 3 or _ranks().get(token, TELLING) < COMMON


def is_telling_alone(token: str) -> bool:
    """Whether hardly anybody says it by chance. A pair of Chinese characters may be a part of two words."""
    return token.isascii() and not is_common(token) and token not in _ranks()

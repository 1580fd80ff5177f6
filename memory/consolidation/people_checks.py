"""Decide which names of an answer are believed, and add people that it omitted. Pure.

A misspelling is no alias, a book is no person, and a relation must come from the owner's words. The person a fact is
about is added, and so is a person whom the owner names in three messages.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from rapidfuzz.distance import OSA

from echovessel.language import lazy_re as re
from echovessel.language.kinship import relatives_in, share
from echovessel.language.person_names import normalize_name, occurs
from echovessel.llm.offline.names import names_in
from memory.consolidation.answer_schema import ExtractionAnswer, MentionedEntity
from memory.consolidation.fact_checks import Names, SaidMessage

MESSAGES_OF_A_PERSON = 3
MIN_LETTERS_OF_A_SLIP = 4
_WORK = r"book|novel|film|movie|series|show|song|album|game|podcast|play|书|小说|电影|剧|歌|游戏|动画|漫画"
_TITLE_BEFORE = re.compile(
    rf"(?:\b|(?<=[\u3400-\u9fff]))(?:{_WORK})(?:\s*(?:called|named|titled|叫|叫做|名叫))?[\s,:，：]*[\"“‘'《〈]?$|[《〈]$|"
    r"\b(?:read|reading|re-reading|finished|watched|watching)\s+[\"“‘']?$",
    re.I,
)
_TITLE_BEHIND = re.compile(
    r"^[\"”’'》〉]?(?:\s+(?:by|again|tonight|yesterday|last)\b|\s*[.,!?;。，！？]|\s*$|[》〉])",
    re.I,
)
_FORMER = re.compile(r"\b(?:ex|former|late)\b|^ex|前|已故|生前", re.I)


def believed_people(
    answer: ExtractionAnswer, messages_by_id: Mapping[int, SaidMessage], names: Names
) -> tuple[ExtractionAnswer, int]:
    """The answer with corrected names and omitted people added, and the number of mistakes."""
    texts = [message.content for message in messages_by_id.values()]
    own = [message.content for message in messages_by_id.values() if message.by_user]
    mistakes = 0
    people: list[MentionedEntity] = []
    canonical = {normalize_name(entity.canonical_name) for entity in answer.mentioned_entities}
    for entity in answer.mentioned_entities:
        # A person named after another entry is not an alias of it: a granddaughter Lorraine, called Rainy.
        others = canonical - {normalize_name(entity.canonical_name)}
        aliases = [
            alias
            for alias in entity.aliases
            if normalize_name(alias) not in others and not _is_slip(alias, entity.canonical_name, texts)
        ]
        changes = {
            "aliases": aliases,
            "kind": "other" if entity.kind == "person" and _is_title(entity.canonical_name, texts) else entity.kind,
            "relation": entity.relation if _is_told(entity, own, answer) else "",
        }
        mistakes += sum(getattr(entity, name) != value for name, value in changes.items())
        people.append(entity.model_copy(update=changes))
    listed_names = {normalize_name(name) for entity in people for name in (entity.canonical_name, *entity.aliases)}
    for name, kind in _unlisted_people(answer, own, names):
        if normalize_name(name) not in listed_names:
            listed_names.add(normalize_name(name))
            people.append(MentionedEntity.model_validate({"canonical_name": name, "kind": kind}))
    return answer.model_copy(update={"mentioned_entities": people}), mistakes


def _unlisted_people(answer: ExtractionAnswer, own: Sequence[str], names: Names) -> list[tuple[str, str]]:
    """The people that facts are about, and those whom the owner names in three messages, each with a probable kind."""
    kinds = {"people": "person", "belongings": "pet"}
    unlisted = [
        (fact.whose.strip(), kinds.get(fact.domain, "other")) for fact in answer.facts if names.whose(fact) == "other"
    ]
    spoken = {mention.name for text in own for mention in names_in(text) if mention.kind == "person"}
    times = Counter(name for name in spoken for text in own if occurs(name, text))
    return [*unlisted, *((name, "person") for name in sorted(spoken) if times[name] >= MESSAGES_OF_A_PERSON)]


def _is_slip(alias: str, name: str, texts: Sequence[str]) -> bool:
    """Whether an alias is the name with one wrong letter, written once."""
    first, other = normalize_name(alias), normalize_name(name)
    if first == other or min(len(first), len(other)) < MIN_LETTERS_OF_A_SLIP or OSA.distance(first, other) > 1:
        return False
    return sum(occurs(alias, text) for text in texts) <= 1


def _is_title(name: str, texts: Sequence[str]) -> bool:
    """Whether the name is the title of a work wherever the messages contain it."""
    places = [(text[: at.start()], text[at.end() :]) for text in texts for at in re.finditer(re.escape(name), text)]
    return bool(places) and all(
        _TITLE_BEFORE.search(before) and _TITLE_BEHIND.search(behind) for before, behind in places
    )


def _is_told(entity: MentionedEntity, own: Sequence[str], answer: ExtractionAnswer) -> bool:
    """Whether the relation is in the owner's words, by any word for it (a mum is a mother), or in a checked item about
    the person: "I'm the first of four, then Anna" makes Anna a sister."""
    descriptions = [item.description for item in answer.told if occurs(entity.canonical_name, item.description)]
    text = " ".join([*own, *descriptions]).casefold()
    words = re.findall(r"[^\W\d_]+", entity.relation.casefold())
    if _FORMER.search(entity.relation) or any(word in text for word in words):
        return True
    return share(relatives_in(entity.relation), relatives_in(text))

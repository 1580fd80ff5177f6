"""Open questions whether two names mean the same: which question the persona asks, and the effects of the answer."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from itertools import product
from typing import Literal

from django.db import transaction
from django.db.models import Count, Q

from chat.models import Turn
from echovessel.language.person_names import is_name, normalize_name, occurs
from memory import knobs
from memory.entities import merge
from memory.entities.resolve import learn_aliases
from memory.entities.similarity import compatible
from memory.models import Alias, ConceptNode, Entity, MergeProposal
from memory.recall.retrievers import entities_named
from persona.models import Persona

Settled = Literal["merged", "kept_apart", "asked", "named", "nothing"]
Status = MergeProposal.Status

SAID_SO = "said_so"
MAX_PAIRS = 4  # questions that one ambiguous answer may raise
MAX_COMPANY = 3  # names beside one of two that bear the same
MAX_OPEN_READ = 200  # the newest open proposals, whose names are looked for in a session


def settle(persona: Persona, first: str, second: str, same: bool, now: datetime) -> Settled:
    """Apply the owner's statement that two names mean the same, or that they do not.

    If each name has one bearer, the two are merged or kept apart for good. If a name has several bearers, a single open
    question between them is settled; otherwise questions are created. A name without a bearer is learned as another
    name of the other name's bearer. Earlier decisions are kept.
    """
    with transaction.atomic():
        firsts, seconds = _bearers(persona, first), _bearers(persona, second)
        if not firsts or not seconds:
            # Learn a name without a bearer as another name of the only bearer, unless it is the owner's or the
            # persona's.
            bearers, name = firsts or seconds, second if firsts else first
            is_answered = normalize_name(name) in {
                normalize_name(persona.name),
                normalize_name(persona.user_display_name),
            }
            if not same or len(bearers) != 1 or not is_name(name) or is_answered:
                return "nothing"
            learn_aliases(bearers[0], [" ".join(name.split())])
            return "named"
        pairs = _pairs(firsts, seconds)
        open_proposals = _undecided(pairs)
        if len(pairs) == 1:
            proposal = merge.propose(persona, *pairs[0], 1.0, [SAID_SO])
        elif len(open_proposals) == 1:
            proposal = open_proposals[0]
        else:
            new = pairs[:MAX_PAIRS] if same and not open_proposals else []
            proposals = [merge.propose(persona, first, other, 1.0, [SAID_SO]) for first, other in new]
            return "asked" if any(proposal.status == Status.OPEN for proposal in proposals) else "nothing"
        if same:
            return "merged" if merge.merge(proposal, None, now) else "nothing"
        return "kept_apart" if merge.keep_apart(proposal, None, now) else "nothing"


def answered_in(persona: Persona, first: str, second: str, texts: Sequence[str]) -> bool:
    """Whether `texts` can decide if two names mean the same: they contain both names, in any known form, or one name of
    a pair with an open question, as an answer may."""
    is_named = []
    for name in (first, second):
        forms = Alias.objects.filter(entity__in=_bearers(persona, name)).values_list("text", flat=True)
        is_named.append(any(occurs(form, text) for form in {name, *forms} for text in texts))
    if all(is_named) or not any(is_named):
        return all(is_named)
    undecided = _undecided(_pairs(_bearers(persona, first), _bearers(persona, second)))
    return any(proposal.status == Status.OPEN for proposal in undecided)


def due(persona: Persona, entities: Collection[int], now: datetime) -> MergeProposal | None:
    """The likeliest open pair with one of `entities` that the persona may ask about; None if it asked about all of them
    within `entities.hint_hours`."""
    if not entities:
        return None
    earliest = now - timedelta(hours=knobs.hint_hours())
    rested = Q(hinted_at=None) | Q(hinted_at__lte=earliest)
    waiting = MergeProposal.objects.of(persona).open().about(entities).filter(rested)
    return waiting.select_related("a", "b").order_by("-score", "id").first()


def entity_named(entity: Entity) -> str:
    """The newest memory that mentions the entity; "" if there is none."""
    nodes = ConceptNode.objects.filter(mentions__entity=entity).recallable().newest_first()
    return nodes.values_list("description", flat=True).first() or ""


def distinguish(entity: Entity) -> str:
    """A description that tells an entity from others of the same name: its relation to the owner, places and people it
    is mentioned with, and its newest memory.

    Nobody can answer a question that names the two by the same name alone.
    """
    company = Entity.objects.filter(mentions__node__mentions__entity=entity).exclude(pk=entity.pk)
    company = company.exclude(status=Entity.Status.MERGED).exclude(canonical_name=entity.canonical_name)
    entities_by_times = company.annotate(times=Count("mentions")).order_by("-times", "id")
    with_places = sorted(
        entities_by_times[:MAX_COMPANY], key=lambda entity_beside: entity_beside.kind != Entity.Kind.PLACE
    )
    parts = [
        entity.relation,
        ", ".join(entity_beside.canonical_name for entity_beside in with_places),
        entity_named(entity),
    ]
    return "; ".join(filter(None, (" ".join(part.split()) for part in parts)))


def names_in_question(pair: MergeProposal) -> list[str]:
    """The names of a pair; if they are the same, each with a description that tells them apart."""
    sides = [pair.a, pair.b]
    if normalize_name(pair.a.canonical_name) != normalize_name(pair.b.canonical_name):
        return [side.canonical_name for side in sides]
    return [f"{side.canonical_name} ({distinguish(side)})" for side in sides]


def note_hint(turn: Turn, now: datetime) -> None:
    """Store that the turn's prompt asked about a pair, so that it is not asked again for `entities.hint_hours`."""
    hinted = turn.xray.get("clarification", {}).get("proposal")
    if hinted:
        MergeProposal.objects.filter(uuid=hinted, a__persona=turn.persona_id).update(hinted_at=now)


def open_question(persona: Persona, texts: Sequence[str]) -> list[MergeProposal]:
    """The open pairs with a name that occurs in `texts`; pairs with both names first."""
    open_pairs = MergeProposal.objects.of(persona).open().select_related("a", "b").order_by("-id")
    text, counts = "\n".join(texts), {}
    for pair in open_pairs.prefetch_related("a__aliases", "b__aliases")[:MAX_OPEN_READ]:
        sides = (pair.a, pair.b)
        counts[pair] = sum(any(occurs(alias.text, text) for alias in side.aliases.all()) for side in sides)
    named_pairs = sorted((pair for pair in counts if counts[pair]), key=lambda pair: (-counts[pair], -pair.pk))
    return named_pairs[: knobs.pairs_in_question()]


def may_be_answered(persona: Persona, texts: Sequence[str]) -> bool:
    """Whether `texts` may hold an answer: they name a side of an open pair, or one text names two known entities."""
    return bool(open_question(persona, texts)) or any(len(entities_named(persona, [text])) > 1 for text in texts)


def _bearers(persona: Persona, name: str) -> list[Entity]:
    bearing = Entity.objects.filter(persona=persona, aliases__normalized=normalize_name(name))
    bearers = list(bearing.exclude(status=Entity.Status.MERGED).distinct().order_by("id"))
    # A model may repeat the description that tells two bearers apart: "Deon (brother; Leeds)".
    bare, bracket, _ = name.partition(" (")
    return bearers or (_bearers(persona, bare) if bracket else [])


def _pairs(firsts: Sequence[Entity], seconds: Sequence[Entity]) -> list[tuple[Entity, Entity]]:
    once = {
        frozenset((first.pk, other.pk)): (first, other) for first, other in product(firsts, seconds) if first != other
    }
    return [pair for pair in once.values() if compatible(pair[0].kind, pair[1].kind)]


def _undecided(pairs: Sequence[tuple[Entity, Entity]]) -> list[MergeProposal]:
    open_proposals = (
        MergeProposal.objects.undecided().about([first.pk]).about([other.pk]).first() for first, other in pairs
    )
    return [proposal for proposal in open_proposals if proposal is not None]

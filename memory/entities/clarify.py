"""Finding out whether two names mean the same: what the persona is told to ask, and what follows from the answer."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from itertools import product
from typing import Literal

from django.db import transaction
from django.db.models import Q

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
MOST_PAIRS = 4  # questions that one ambiguous answer may raise
MOST_READ = 200  # open proposals whose names are looked for in a talk, the newest


def settle(persona: Persona, first: str, second: str, same: bool, now: datetime) -> Settled:
    """What the owner's word that two names mean the same, or that they do not, makes of them.

    Where each name has one bearer, they are merged or kept apart for good. Where several bear one of the names, only a
    single open question between them is settled, else questions are asked. A name that nobody bears yet is learned as
    another name of the other's bearer. What was decided before stays decided.
    """
    with transaction.atomic():
        firsts, seconds = _bearers(persona, first), _bearers(persona, second)
        if not firsts or not seconds:
            return _learn_name(persona, firsts or seconds, second if firsts else first) if same else "nothing"
        pairs = _pairs(firsts, seconds)
        if len(pairs) == 1:
            one, other = pairs[0]
            return _decide(merge.propose(persona, one, other, 1.0, [SAID_SO]), same, now)
        waiting = _undecided(pairs)
        if len(waiting) == 1:
            return _decide(waiting[0], same, now)
        return _ask(persona, pairs) if same and not waiting else "nothing"


def answered_in(persona: Persona, first: str, second: str, lines: Sequence[str]) -> bool:
    """Whether `lines` can have told how two names stand to each other: they name both, in whatever form is known, or
    one of a pair that is in question already, as an answer may."""
    named = [_is_named(persona, name, lines) for name in (first, second)]
    return all(named) or (any(named) and _is_in_question(persona, first, second))


def due(persona: Persona, entities: Collection[int], now: datetime) -> MergeProposal | None:
    """The open pair with one of `entities` that she may be told to find out about, the likeliest; None where all were
    asked about within `entities.hint_hours`."""
    if not entities:
        return None
    earliest = now - timedelta(hours=knobs.hint_hours())
    rested = Q(hinted_at=None) | Q(hinted_at__lte=earliest)
    waiting = MergeProposal.objects.of(persona).open().about(entities).filter(rested)
    return waiting.select_related("a", "b").order_by("-score", "id").first()


def entity_named(entity: Entity) -> str:
    """The newest memory in which the entity occurs, or nothing."""
    nodes = ConceptNode.objects.filter(mentions__entity=entity).recallable().newest_first()
    return nodes.values_list("description", flat=True).first() or ""


def note_hint(turn: Turn, now: datetime) -> None:
    """Remember which pair the turn's prompt asked to find out about, so that it rests for a day."""
    hinted = turn.xray.get("clarification", {}).get("proposal")
    if hinted:
        MergeProposal.objects.filter(uuid=hinted, a__persona=turn.persona_id).update(hinted_at=now)


def open_question(persona: Persona, texts: Sequence[str]) -> list[MergeProposal]:
    """The open pairs of which a name occurs in `texts`, those first of which both do."""
    waiting = MergeProposal.objects.of(persona).open().select_related("a", "b").order_by("-id")
    known = waiting.prefetch_related("a__aliases", "b__aliases")[:MOST_READ]
    text = "\n".join(texts)
    counted = [(_occurs(pair.a, text) + _occurs(pair.b, text), pair) for pair in known]
    named = sorted((pair for pair in counted if pair[0]), key=lambda pair: (-pair[0], -pair[1].pk))
    return [pair for _, pair in named[: knobs.pairs_in_question()]]


def may_be_answered(persona: Persona, texts: Sequence[str]) -> bool:
    """Whether `texts` may hold an answer: they name one of an open pair, or one of them names two whom she knows."""
    return bool(open_question(persona, texts)) or any(len(entities_named(persona, [text])) > 1 for text in texts)


def _is_named(persona: Persona, name: str, lines: Sequence[str]) -> bool:
    known = Alias.objects.filter(entity__in=_bearers(persona, name)).values_list("text", flat=True)
    return any(occurs(form, line) for form in {name, *known} for line in lines)


def _is_in_question(persona: Persona, first: str, second: str) -> bool:
    pairs = _pairs(_bearers(persona, first), _bearers(persona, second))
    return any(proposal.status == Status.OPEN for proposal in _undecided(pairs))


def _occurs(entity: Entity, text: str) -> bool:
    return any(occurs(alias.text, text) for alias in entity.aliases.all())


def _bearers(persona: Persona, name: str) -> list[Entity]:
    bearing = Entity.objects.filter(persona=persona, aliases__normalized=normalize_name(name))
    return list(bearing.exclude(status=Entity.Status.MERGED).distinct().order_by("id"))


def _pairs(firsts: Sequence[Entity], seconds: Sequence[Entity]) -> list[tuple[Entity, Entity]]:
    once = {frozenset((one.pk, other.pk)): (one, other) for one, other in product(firsts, seconds) if one != other}
    return [pair for pair in once.values() if compatible(pair[0].kind, pair[1].kind)]


def _undecided(pairs: Sequence[tuple[Entity, Entity]]) -> list[MergeProposal]:
    found = (MergeProposal.objects.undecided().about([one.pk]).about([other.pk]).first() for one, other in pairs)
    return [proposal for proposal in found if proposal is not None]


def _decide(proposal: MergeProposal, same: bool, now: datetime) -> Settled:
    if same:
        return "merged" if merge.merge(proposal, None, now) else "nothing"
    return "kept_apart" if merge.keep_apart(proposal, None, now) else "nothing"


def _ask(persona: Persona, pairs: Sequence[tuple[Entity, Entity]]) -> Settled:
    asked = [merge.propose(persona, one, other, 1.0, [SAID_SO]) for one, other in pairs[:MOST_PAIRS]]
    return "asked" if any(proposal.status == Status.OPEN for proposal in asked) else "nothing"


def _learn_name(persona: Persona, bearers: Sequence[Entity], name: str) -> Settled:
    """A name that nobody bears, as another name of the one bearer; never that of one of the two who talk."""
    talking = {normalize_name(persona.name), normalize_name(persona.called)}
    if len(bearers) != 1 or not is_name(name) or normalize_name(name) in talking:
        return "nothing"
    learn_aliases(bearers[0], [" ".join(name.split())])
    return "named"

"""Deciding a proposal: two entities become one, or stay two; and taking the decision back.

A merge moves what the loser has to the survivor: names, mentions, a better description, proposals with third ones.
Rows keep their keys, and the snapshot on the proposal holds keys and states alone, so that it never has to be
forgotten. What both have already (a name, a mention of the same memory) is not doubled.

Undoing gives every row back as it was. What the survivor learned after the merge stays with the survivor: new names and
mentions, proposals that were made or decided since, a kind, a description that was written anew. A merge can only be
undone while no later one of the same entities stands.
"""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.utils.crypto import salted_hmac
from django.utils.dateparse import parse_datetime

from memory.entities.announcing import announce, announce_gone
from memory.models import Alias, ConceptNode, Entity, Mention, MergeProposal
from persona.models import Persona

Status = MergeProposal.Status
Decision = Callable[[MergeProposal, AbstractBaseUser | None, datetime], bool]


class LaterMergeStands(Exception):
    """One of the two was merged again after this; that merge has to be undone first."""


def merge(proposal: MergeProposal, decided_by: AbstractBaseUser | None, now: datetime) -> bool:
    """Make the two one. False where the proposal is decided already, or one of them lives on in a third.

    `decided_by` is None where the owner said so in a talk. The confirmed one survives, of two alike the older.
    """
    with transaction.atomic():
        if not _decide(proposal, Status.MERGED, decided_by, now):
            return False
        survivor, loser = _roles(proposal)
        snapshot = {
            "survivor": survivor.pk,
            "loser": loser.pk,
            "earlier": [merged.pk for merged in _merges_of(survivor, loser) if merged.pk != proposal.pk],
            "aliases": _move_aliases(loser, survivor),
            "mentions": _move_mentions(loser, survivor),
            **_move_proposals(proposal, loser, survivor),
            **_move_what_is_known(loser, survivor),
            # Last: an entity that is not merged goes with its last mention.
            "doubled": _drop_doubled_mentions(loser),
        }
        snapshot["confirmed"] = _confirm([survivor.pk, *snapshot.pop("partners")], "kept_apart", but=survivor.pk)
        MergeProposal.objects.filter(pk=proposal.pk).update(snapshot=snapshot)
        survivor.refresh_from_db()
        announce_gone(loser, survivor)
        announce(survivor, "merged")
    return True


def keep_apart(proposal: MergeProposal, decided_by: AbstractBaseUser | None, now: datetime) -> bool:
    """Note that the two are two, for good. False where the proposal is decided already."""
    with transaction.atomic():
        if not _decide(proposal, Status.KEPT_APART, decided_by, now):
            return False
        confirmed = _confirm([proposal.a_id, proposal.b_id], "kept_apart")
        MergeProposal.objects.filter(pk=proposal.pk).update(snapshot={"confirmed": confirmed})
    return True


def undo(proposal: MergeProposal, decided_by: AbstractBaseUser | None, now: datetime) -> bool:
    """Take the decision back; the pair can be decided anew, but is not asked about by itself. False where there is
    nothing to take back. Raises LaterMergeStands."""
    with transaction.atomic():
        decided = MergeProposal.objects.filter(pk=proposal.pk, status__in=[Status.MERGED, Status.KEPT_APART])
        # An update first: it takes the write lock before anything is read.
        if not decided.update(decided_by=_id_of(decided_by), decided_at=now):
            return False
        proposal.refresh_from_db()
        if proposal.status == Status.MERGED:
            _take_apart(proposal)
        _set_status(proposal.snapshot.get("confirmed", []), Entity.Status.CONFIRMED, Entity.Status.UNCERTAIN)
        MergeProposal.objects.filter(pk=proposal.pk).update(status=Status.UNDONE, snapshot={})
        proposal.refresh_from_db()
    return True


def propose(persona: Persona, one: Entity, other: Entity, score: float, reasons: Iterable[str]) -> MergeProposal:
    """The question whether the two are the same: the one that was asked before, whatever was answered, or a new one.

    Raises ValueError for an entity of another persona.
    """
    if {one.persona_id, other.persona_id} != {persona.pk}:
        raise ValueError("only entities of one persona can be the same")
    a, b = sorted((one, other), key=lambda entity: entity.pk)
    proposal, _ = MergeProposal.objects.get_or_create(
        a=a, b=b, defaults={"score": score, "reasons": sorted(set(reasons))}
    )
    return proposal


def _decide(proposal: MergeProposal, status: str, decided_by: AbstractBaseUser | None, now: datetime) -> bool:
    undecided = MergeProposal.objects.undecided().filter(pk=proposal.pk)
    done = undecided.update(status=status, decided_by=_id_of(decided_by), decided_at=now)
    proposal.refresh_from_db()
    return bool(done)


def _id_of(person: AbstractBaseUser | None) -> int | None:
    return person.pk if person is not None else None


def _roles(proposal: MergeProposal) -> tuple[Entity, Entity]:
    """Who survives, and who lives on in them."""
    one, other = sorted(
        (proposal.a, proposal.b), key=lambda entity: (entity.status != Entity.Status.CONFIRMED, entity.pk)
    )
    return one, other


def _merges_of(survivor: Entity, loser: Entity) -> Iterable[MergeProposal]:
    return MergeProposal.objects.about([survivor.pk, loser.pk]).filter(status=Status.MERGED).only("pk")


# --- merging ------------------------------------------------------------------------------------------------------
def _move_aliases(loser: Entity, survivor: Entity) -> list[int]:
    """Names that the survivor bears already stay behind: whoever asks for names looks at no merged entity."""
    known = survivor.aliases.values_list("normalized", flat=True)
    moved = list(loser.aliases.exclude(normalized__in=list(known)).values_list("pk", flat=True))
    Alias.objects.filter(pk__in=moved).update(entity=survivor)
    return moved


def _move_mentions(loser: Entity, survivor: Entity) -> list[int]:
    known = survivor.mentions.values_list("node_id", flat=True)
    moved = list(loser.mentions.exclude(node__in=list(known)).values_list("pk", flat=True))
    Mention.objects.filter(pk__in=moved).update(entity=survivor)
    return moved


def _drop_doubled_mentions(loser: Entity) -> list[list[int]]:
    doubled = [list(row) for row in loser.mentions.values_list("pk", "node_id")]
    loser.mentions.all().delete()
    return doubled


def _move_proposals(decided: MergeProposal, loser: Entity, survivor: Entity) -> dict[str, Any]:
    """What was asked or answered about the loser holds for the survivor; a pair that was kept apart stays so."""
    moved, settled, partners = [], [], []
    theirs = MergeProposal.objects.about([loser.pk]).exclude(pk=decided.pk).exclude(status=Status.MERGED)
    for proposal in theirs.select_related("a", "b"):
        partner = proposal.b if proposal.a_id == loser.pk else proposal.a
        if partner.status == Entity.Status.MERGED:
            continue
        partners.append(partner.pk)
        known = MergeProposal.objects.about([survivor.pk]).about([partner.pk]).first()
        if known is None:
            _point(proposal, survivor.pk, partner.pk)
            moved.append([proposal.pk, partner.pk, proposal.status])
        elif proposal.status == Status.KEPT_APART and known.status in (Status.OPEN, Status.UNDONE):
            settled.append([known.pk, known.status, known.decided_by_id, _iso(known.decided_at)])
            kept = {"decided_by": proposal.decided_by_id, "decided_at": proposal.decided_at}
            MergeProposal.objects.filter(pk=known.pk).update(status=Status.KEPT_APART, **kept)
    return {"proposals": moved, "settled": settled, "partners": partners}


def _point(proposal: MergeProposal, one: int, other: int) -> None:
    MergeProposal.objects.filter(pk=proposal.pk).update(a=min(one, other), b=max(one, other))


def _move_what_is_known(loser: Entity, survivor: Entity) -> dict[str, Any]:
    """The kind where it was unknown, and the description where a person wrote the loser's alone or the survivor has
    none. Descriptions change places, so that neither is lost or stands twice."""
    before = {"kind": survivor.kind, "status": survivor.status, "loser_status": loser.status}
    if survivor.kind == Entity.Kind.OTHER:
        survivor.kind = loser.kind
    swapped = _is_better_described(loser, survivor)
    if swapped:
        _swap_descriptions(survivor, loser)
    loser.status, loser.merged_into = Entity.Status.MERGED, survivor
    for entity in (survivor, loser):
        entity.save(update_fields=["kind", "status", "merged_into", "description", "described_by"])
    return before | {"kind_after": survivor.kind, "description": _mark(survivor) if swapped else ""}


def _is_better_described(loser: Entity, survivor: Entity) -> bool:
    person = Entity.DescribedBy.PERSON
    by_person_alone = loser.described_by == person != survivor.described_by
    return bool(loser.description) and (by_person_alone or not survivor.description)


def _swap_descriptions(one: Entity, other: Entity) -> None:
    one.description, other.description = other.description, one.description
    one.described_by, other.described_by = other.described_by, one.described_by


def _mark(entity: Entity) -> str:
    """By which a description is known again, without its words."""
    return salted_hmac("memory.entities.merging", f"{entity.described_by}\n{entity.description}").hexdigest()


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None


def _confirm(entities: Iterable[int], how: Any, but: int | None = None) -> list[int]:
    """Confirm the uncertain ones of `entities` about whom nothing is in question any more; their keys. They are
    announced, all `but` that one."""
    confirmed = []
    for entity in Entity.objects.filter(pk__in=list(entities), status=Entity.Status.UNCERTAIN).order_by("pk"):
        if not MergeProposal.objects.undecided().about([entity.pk]).exists():
            _set_status([entity.pk], Entity.Status.UNCERTAIN, Entity.Status.CONFIRMED)
            confirmed.append(entity.pk)
            if entity.pk != but:
                entity.refresh_from_db()
                announce(entity, how)
    return confirmed


def _set_status(entities: Iterable[int], from_status: str, to_status: str) -> None:
    Entity.objects.filter(pk__in=list(entities), status=from_status).update(status=to_status)


# --- undoing ------------------------------------------------------------------------------------------------------
def _take_apart(proposal: MergeProposal) -> None:
    """Give everything back to the two. Raises LaterMergeStands."""
    was = proposal.snapshot
    survivor, loser = Entity.objects.get(pk=was["survivor"]), Entity.objects.get(pk=was["loser"])
    if any(merged.pk not in (proposal.pk, *was["earlier"]) for merged in _merges_of(survivor, loser)):
        raise LaterMergeStands
    Alias.objects.filter(pk__in=was["aliases"], entity=survivor).update(entity=loser)
    Mention.objects.filter(pk__in=was["mentions"], entity=survivor).update(entity=loser)
    _bring_back_mentions(was["doubled"], loser)
    _bring_back_proposals(was, loser)
    _bring_back_what_was_known(was, survivor, loser)
    loser.refresh_from_db()
    announce(loser, "merge_undone")


def _bring_back_mentions(doubled: Iterable[tuple[int, int]], loser: Entity) -> None:
    """Of memories that still exist."""
    nodes = dict(doubled)
    remaining = set(ConceptNode.objects.filter(pk__in=nodes.values()).values_list("pk", flat=True))
    Mention.objects.bulk_create(
        [Mention(pk=pk, node_id=node, entity=loser) for pk, node in nodes.items() if node in remaining]
    )


def _bring_back_proposals(was: dict[str, Any], loser: Entity) -> None:
    """Those that were decided since the merge were decided about the survivor, and stay."""
    for pk, partner, status in was["proposals"]:
        for proposal in MergeProposal.objects.filter(pk=pk, status__in=[status, Status.UNDONE]):
            _point(proposal, loser.pk, partner)
    for pk, status, decided_by, decided_at in was["settled"]:
        kept = MergeProposal.objects.filter(pk=pk, status=Status.KEPT_APART)
        kept.update(status=status, decided_by=decided_by, decided_at=decided_at and parse_datetime(decided_at))


def _bring_back_what_was_known(was: dict[str, Any], survivor: Entity, loser: Entity) -> None:
    if survivor.kind == was["kind_after"]:
        survivor.kind = was["kind"]
    if was["description"] and was["description"] == _mark(survivor):
        _swap_descriptions(survivor, loser)
    elif was["description"]:
        loser.description = loser.described_by = ""
    survivor.status, loser.status, loser.merged_into = was["status"], was["loser_status"], None
    for entity in (survivor, loser):
        entity.save(update_fields=["kind", "status", "merged_into", "description", "described_by"])

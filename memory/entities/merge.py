"""Deciding a merge proposal (two entities become one, or stay two), and undoing the decision.

A merge moves the loser's names, mentions, relation, better description and proposals with third entities to the
survivor. Rows keep their keys. The snapshot on the proposal holds only keys and states, so that it never has to be
forgotten. Names and mentions that both have are not duplicated.

Undoing restores every row. The survivor keeps changes made after the merge: new names, proposals created or decided
since, a kind, a rewritten description; new memories are linked to the side that they name. A side is deleted if all of
its memories were forgotten meanwhile. A merge can be undone only if no later merge of the same entities stands.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.db.models import Max, Q
from django.utils.crypto import salted_hmac
from django.utils.dateparse import parse_datetime

from echovessel.language.person_names import normalize_name, occurs
from memory.entities.stream_events import announce, announce_deletion
from memory.models import Alias, ConceptNode, Entity, Mention, MergeProposal
from persona.models import Persona

Status = MergeProposal.Status
MOVED = ("relation", "description", "described_by")
BY_HAND, SPLIT = "by_hand", "split"  # the reason of a decision without a question
Decision = Callable[[MergeProposal, AbstractBaseUser | None, datetime], bool]


class LivesOnInAnother(ValueError):
    """One of the two was merged into a third entity."""


class LaterMergeStands(Exception):
    """One of the two was merged again later; that merge has to be undone first."""


def merge(proposal: MergeProposal, decided_by: AbstractBaseUser | None, now: datetime) -> bool:
    """Merge the two. False if the proposal is already decided, or one of them was merged into a third.

    `decided_by` is None if the owner said so in a session. The confirmed entity survives, otherwise the older one.
    """
    with transaction.atomic():
        if not _decide(proposal, Status.MERGED, decided_by, now):
            return False
        survivor, loser = sorted(
            (proposal.a, proposal.b), key=lambda entity: (entity.status != Entity.Status.CONFIRMED, entity.pk)
        )
        snapshot: dict[str, Any] = {
            "at": now.isoformat(),
            "survivor": survivor.pk,
            "loser": loser.pk,
            "mentioned": [side.pk for side in (survivor, loser) if side.mentions.exists()],
            "last_mention": Mention.objects.aggregate(last=Max("pk"))["last"] or 0,
            "earlier": [merged.pk for merged in _merges_of(survivor, loser) if merged.pk != proposal.pk],
            # A name that the survivor already has stays on the loser: lists of names exclude merged entities.
            "aliases": _move(Alias, "normalized", loser, survivor),
            "mentions": _move(Mention, "node_id", loser, survivor),
            **_move_proposals(proposal, loser, survivor),
            **_move_relation(loser, survivor),
            **_move_description(loser, survivor),
            "doubled": [list(row) for row in loser.mentions.values_list("pk", "node_id")],
        }
        loser.mentions.all().delete()  # last: an entity that is not merged is deleted with its last mention
        snapshot["confirmed"] = _confirm([survivor.pk, *snapshot.pop("partners")], "kept_apart", but=survivor.pk)
        MergeProposal.objects.filter(pk=proposal.pk).update(snapshot=snapshot)
        survivor.refresh_from_db()
        announce_deletion(loser, survivor)
        announce(survivor, "merged")
    return True


def merge_pair(first: Entity, other: Entity, decided_by: AbstractBaseUser | None, now: datetime) -> MergeProposal:
    """Merge the two because a person says so, with or without a proposal. If they were kept apart, that decision is
    undone, and restored when the merge is undone; if they are already merged, nothing changes.

    Raises LivesOnInAnother, and ValueError for one entity twice or two of different personas.
    """
    with transaction.atomic():
        proposal = propose(first.persona, first, other, 1.0, [BY_HAND])
        if proposal.status == Status.MERGED:
            return proposal
        before = {}
        if proposal.status == Status.KEPT_APART:  # the decision to restore later
            before = {
                "decided_by": proposal.decided_by_id,
                "decided_at": _iso(proposal.decided_at),
                "confirmed": proposal.snapshot.get("confirmed", []),
            }
            undo(proposal, decided_by, now)
        if not merge(proposal, decided_by, now):
            raise LivesOnInAnother("one of the two was merged into another entity")
        proposal.refresh_from_db()
        if before:
            MergeProposal.objects.filter(pk=proposal.pk).update(snapshot=proposal.snapshot | {"before": before})
            proposal.refresh_from_db()
    return proposal


def keep_apart(proposal: MergeProposal, decided_by: AbstractBaseUser | None, now: datetime) -> bool:
    """Keep the two apart for good. False if the proposal is already decided."""
    with transaction.atomic():
        if not _decide(proposal, Status.KEPT_APART, decided_by, now):
            return False
        confirmed = _confirm([proposal.a_id, proposal.b_id], "kept_apart")
        MergeProposal.objects.filter(pk=proposal.pk).update(snapshot={"confirmed": confirmed})
    return True


def undo(proposal: MergeProposal, decided_by: AbstractBaseUser | None, now: datetime) -> bool:
    """Undo the decision. The pair can be decided again, but is not asked about. False if there is nothing to undo.
    Raises LaterMergeStands."""
    with transaction.atomic():
        decided = MergeProposal.objects.filter(pk=proposal.pk, status__in=[Status.MERGED, Status.KEPT_APART])
        # Update first: this takes the write lock before anything is read.
        if not decided.update(decided_by=_id_of(decided_by), decided_at=now):
            return False
        proposal.refresh_from_db()
        snapshot, was_merged = proposal.snapshot, proposal.status == Status.MERGED
        if was_merged:
            _separate(proposal)
        _set_status(snapshot.get("confirmed", []), Entity.Status.CONFIRMED, Entity.Status.UNCERTAIN)
        MergeProposal.objects.filter(pk=proposal.pk).update(status=Status.UNDONE, snapshot={})
        # Keep the two apart again, if they were before a person merged them.
        before = snapshot.get("before", {})
        if before:
            _set_status(before["confirmed"], Entity.Status.UNCERTAIN, Entity.Status.CONFIRMED)
            decided_at = before["decided_at"] and parse_datetime(before["decided_at"])
            MergeProposal.objects.filter(pk=proposal.pk).update(
                status=Status.KEPT_APART,
                decided_by=before["decided_by"],
                decided_at=decided_at,
                snapshot={"confirmed": before["confirmed"]},
            )
        proposal.refresh_from_db()
        if was_merged:  # last: a proposal is deleted with either of its sides
            _relink_later_memories(snapshot)
            _rename_loser(snapshot)
            # Delete a side if all of its memories were forgotten while the two were one, unless a person described it.
            # Announce the loser if it remains.
            forgotten = Entity.objects.filter(pk__in=snapshot.get("mentioned", []), mentions=None)
            for side in forgotten.exclude(described_by=Entity.DescribedBy.PERSON):
                side.delete()
            for loser in Entity.objects.filter(pk=snapshot["loser"]):
                announce(loser, "merge_undone")
    return True


# The decisions a person can make, by their names in URLs of pages and API.
DECISIONS: Mapping[str, Decision] = {"merge": merge, "apart": keep_apart, "undo": undo}


def propose(persona: Persona, first: Entity, other: Entity, score: float, reasons: Iterable[str]) -> MergeProposal:
    """The proposal about the two: the existing one, whatever its status, or a new one.

    Raises ValueError for an entity of another persona, and for one entity twice.
    """
    if {first.persona_id, other.persona_id} != {persona.pk}:
        raise ValueError("only entities of one persona can be the same")
    if first.pk == other.pk:
        raise ValueError("the two entities are the same one")
    a, b = sorted((first, other), key=lambda entity: entity.pk)
    proposal, _ = MergeProposal.objects.get_or_create(
        a=a, b=b, defaults={"score": score, "reasons": sorted(set(reasons))}
    )
    return proposal


def _decide(proposal: MergeProposal, status: str, decided_by: AbstractBaseUser | None, now: datetime) -> bool:
    undecided = MergeProposal.objects.undecided().filter(pk=proposal.pk)
    updated = undecided.update(status=status, decided_by=_id_of(decided_by), decided_at=now)
    proposal.refresh_from_db()
    return bool(updated)


def _id_of(person: AbstractBaseUser | None) -> int | None:
    return person.pk if person is not None else None


def _merges_of(survivor: Entity, loser: Entity) -> Iterable[MergeProposal]:
    return MergeProposal.objects.about([survivor.pk, loser.pk]).filter(status=Status.MERGED).only("pk")


# --- merging ------------------------------------------------------------------------------------------------------
def _move(model: type[Alias | Mention], column: str, loser: Entity, survivor: Entity) -> list[int]:
    """Move the loser's rows whose `column` the survivor does not have; returns their keys."""
    rows: Any = model._default_manager
    column_values = list(rows.filter(entity=survivor).values_list(column, flat=True))
    moved = list(rows.filter(entity=loser).exclude(**{f"{column}__in": column_values}).values_list("pk", flat=True))
    rows.filter(pk__in=moved).update(entity=survivor)
    return moved


def _move_proposals(decided: MergeProposal, loser: Entity, survivor: Entity) -> dict[str, Any]:
    """Proposals about the loser then concern the survivor; a pair that was kept apart stays so."""
    moved, settled, partners = [], [], []
    loser_proposals = MergeProposal.objects.about([loser.pk]).exclude(pk=decided.pk).exclude(status=Status.MERGED)
    for proposal in loser_proposals.select_related("a", "b"):
        partner = proposal.b if proposal.a_id == loser.pk else proposal.a
        if partner.status == Entity.Status.MERGED:
            continue
        partners.append(partner.pk)
        existing_proposal = MergeProposal.objects.about([survivor.pk]).about([partner.pk]).first()
        if existing_proposal is None:
            _point(proposal, survivor.pk, partner.pk)
            moved.append([proposal.pk, partner.pk, proposal.status])
        elif proposal.status == Status.KEPT_APART and existing_proposal.status in (Status.OPEN, Status.UNDONE):
            settled.append(
                [
                    existing_proposal.pk,
                    existing_proposal.status,
                    existing_proposal.decided_by_id,
                    _iso(existing_proposal.decided_at),
                ]
            )
            decision = {"decided_by": proposal.decided_by_id, "decided_at": proposal.decided_at}
            MergeProposal.objects.filter(pk=existing_proposal.pk).update(status=Status.KEPT_APART, **decision)
    return {"proposals": moved, "settled": settled, "partners": partners}


def _point(proposal: MergeProposal, first: int, other: int) -> None:
    MergeProposal.objects.filter(pk=proposal.pk).update(a=min(first, other), b=max(first, other))


def _move_description(loser: Entity, survivor: Entity) -> dict[str, Any]:
    """Move the kind if the survivor's is unknown, and the description if only the loser's is by a person or the
    survivor has none. Descriptions are swapped, so that none is lost or duplicated."""
    before = {"kind": survivor.kind, "status": survivor.status, "loser_status": loser.status}
    if survivor.kind == Entity.Kind.OTHER:
        survivor.kind = loser.kind
    person = Entity.DescribedBy.PERSON
    by_person_alone = loser.described_by == person != survivor.described_by
    swapped = bool(loser.description) and (by_person_alone or not survivor.description)
    if swapped:
        _swap_descriptions(survivor, loser)
    loser.status, loser.merged_into = Entity.Status.MERGED, survivor
    for entity in (survivor, loser):
        entity.save(update_fields=[*MOVED, "kind", "status", "merged_into"])
    return before | {"kind_after": survivor.kind, "description": mark_of(survivor) if swapped else ""}


def _move_relation(loser: Entity, survivor: Entity) -> dict[str, Any]:
    """Move the loser's relation if the survivor has none; otherwise both keep theirs."""
    if survivor.relation or not loser.relation:
        return {}
    survivor.relation, loser.relation = loser.relation, ""
    return {"relation": relation_mark_of(survivor)}


def _swap_descriptions(first: Entity, other: Entity) -> None:
    first.description, other.description = other.description, first.description
    first.described_by, other.described_by = other.described_by, first.described_by


def mark_of(entity: Entity) -> str:
    """A fingerprint of a description, without its words; it does not change during the installation's life."""
    return _mark(f"{entity.described_by}\n{entity.description}")


def relation_mark_of(entity: Entity) -> str:
    """The same of the relation."""
    return _mark(f"relation\n{entity.relation}")


def _mark(text: str) -> str:
    return salted_hmac("memory.entities.merging", text, secret=settings.TOMBSTONE_KEY).hexdigest()


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None


def _confirm(entities: Iterable[int], change: Any, but: int | None = None) -> list[int]:
    """Confirm those of `entities` that are uncertain and have no open question; returns their keys. All except `but`
    are announced."""
    confirmed = []
    for entity in Entity.objects.filter(pk__in=list(entities), status=Entity.Status.UNCERTAIN).order_by("pk"):
        if not MergeProposal.objects.undecided().about([entity.pk]).exists():
            _set_status([entity.pk], Entity.Status.UNCERTAIN, Entity.Status.CONFIRMED)
            confirmed.append(entity.pk)
            if entity.pk != but:
                entity.refresh_from_db()
                announce(entity, change)
    return confirmed


def _set_status(entities: Iterable[int], from_status: str, to_status: str) -> None:
    Entity.objects.filter(pk__in=list(entities), status=from_status).update(status=to_status)


# --- undoing ------------------------------------------------------------------------------------------------------
def _separate(proposal: MergeProposal) -> None:
    """Return all rows to the two. Raises LaterMergeStands."""
    was = proposal.snapshot
    survivor, loser = Entity.objects.get(pk=was["survivor"]), Entity.objects.get(pk=was["loser"])
    if any(merged.pk not in (proposal.pk, *was["earlier"]) for merged in _merges_of(survivor, loser)):
        raise LaterMergeStands
    Alias.objects.filter(pk__in=was["aliases"], entity=survivor).update(entity=loser)
    Mention.objects.filter(pk__in=was["mentions"], entity=survivor).update(entity=loser)
    nodes = dict(was["doubled"])
    remaining = set(ConceptNode.objects.filter(pk__in=nodes.values()).values_list("pk", flat=True))
    Mention.objects.bulk_create(
        [Mention(pk=pk, node_id=node, entity=loser) for pk, node in nodes.items() if node in remaining]
    )
    # Return the loser's proposals; those decided since the merge concern the survivor, and stay.
    for pk, _, status in was["proposals"]:
        moved = MergeProposal.objects.about([survivor.pk]).filter(pk=pk, status__in=[status, Status.UNDONE])
        for row in moved:
            # The other side may have been merged into a third entity since: only this side changes.
            partner = row.b_id if row.a_id == survivor.pk else row.a_id
            if not MergeProposal.objects.about([loser.pk]).about([partner]).exists():
                _point(row, loser.pk, partner)
    for pk, status, decided_by, decided_at in was["settled"]:
        kept_apart = MergeProposal.objects.filter(pk=pk, status=Status.KEPT_APART)
        kept_apart.update(status=status, decided_by=decided_by, decided_at=decided_at and parse_datetime(decided_at))
    if survivor.kind == was["kind_after"]:
        survivor.kind = was["kind"]
    if was["description"] and was["description"] == mark_of(survivor):
        _swap_descriptions(survivor, loser)
    elif was["description"]:
        loser.description = loser.described_by = ""
    # A relation that was changed since stays with the survivor.
    if "relation" in was and was["relation"] == relation_mark_of(survivor):
        survivor.relation, loser.relation = loser.relation, survivor.relation
    survivor.status, loser.status, loser.merged_into = was["status"], was["loser_status"], None
    for entity in (survivor, loser):
        entity.save(update_fields=[*MOVED, "kind", "status", "merged_into"])


def _relink_later_memories(was: dict[str, Any]) -> None:
    """Link memories of the two that were created or corrected after the merge to the sides that they name, and all of
    the loser's if it lost a name meanwhile. A memory that names neither is left as it is."""
    if "at" not in was:
        return
    both = Q(mentions__entity__in=[was["survivor"], was["loser"]])
    since = Q(mentions__pk__gt=was["last_mention"], mentions__entity=was["survivor"])
    since |= both & Q(versions__edited_at__gte=parse_datetime(was["at"]))
    if _has_lost_names(was):
        since |= Q(mentions__entity=was["loser"])
    sides = Entity.objects.filter(pk__in=[was["survivor"], was["loser"]]).prefetch_related("aliases")
    mentions_by_name = {
        node: [side for side in sides if any(occurs(alias.text, node.description) for alias in side.aliases.all())]
        for node in ConceptNode.objects.filter(since).distinct().order_by("pk")
    }
    for node, its_sides in mentions_by_name.items():
        for side in its_sides:
            Mention.objects.get_or_create(node=node, entity=side)
    for node, its_sides in mentions_by_name.items():
        if its_sides:
            Mention.objects.filter(node=node, entity__in=sides).exclude(entity__in=its_sides).delete()


def _has_lost_names(was: dict[str, Any]) -> bool:
    return Alias.objects.filter(pk__in=was["aliases"], entity=was["loser"]).count() < len(was["aliases"])


def _rename_loser(was: dict[str, Any]) -> None:
    """Give the loser one of its remaining names, if its canonical name was removed or forgotten."""
    names = Alias.objects.filter(entity=was["loser"]).order_by("pk")
    if not names or not _has_lost_names(was):
        return
    loser = Entity.objects.get(pk=was["loser"])
    if not names.filter(normalized=normalize_name(loser.canonical_name)).exists():
        loser.canonical_name = names[0].text
        loser.save(update_fields=["canonical_name"])

"""Deciding a proposal: two entities become one, or stay two; and taking the decision back.

A merge moves what the loser has to the survivor: names, mentions, a better description, proposals with third ones.
Rows keep their keys, and the snapshot on the proposal holds keys and states alone, so that it never has to be
forgotten. What both have already (a name, a mention of the same memory) is not doubled.

Undoing gives every row back as it was. What the survivor learned after the merge stays with the survivor: new names,
proposals that were made or decided since, a kind, a description that was written anew; new memories go to whom they
name. A side whose every memory was forgotten meanwhile is gone. A merge can only be undone while no later one of the
same entities stands.
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
from memory.entities.stream_events import announce, announce_gone
from memory.models import Alias, ConceptNode, Entity, Mention, MergeProposal
from persona.models import Persona

Status = MergeProposal.Status
BY_HAND, SPLIT = "by_hand", "split"  # why a pair was decided that nobody was asked about
Decision = Callable[[MergeProposal, AbstractBaseUser | None, datetime], bool]


class LivesOnInAnother(ValueError):
    """One of the two is not there any more by itself, but lives on in a third."""


class LaterMergeStands(Exception):
    """One of the two was merged again after this; that merge has to be undone first."""


def merge(proposal: MergeProposal, decided_by: AbstractBaseUser | None, now: datetime) -> bool:
    """Make the two one. False where the proposal is decided already, or one of them lives on in a third.

    `decided_by` is None where the owner said so in a talk. The confirmed one survives, of two alike the older.
    """
    with transaction.atomic():
        if not _decide(proposal, Status.MERGED, decided_by, now):
            return False
        # Who survives, and who lives on in them.
        one, other = sorted(
            (proposal.a, proposal.b), key=lambda entity: (entity.status != Entity.Status.CONFIRMED, entity.pk)
        )
        survivor, loser = one, other
        snapshot = {
            "at": now.isoformat(),
            "survivor": survivor.pk,
            "loser": loser.pk,
            "mentioned": [side.pk for side in (survivor, loser) if side.mentions.exists()],
            "last_mention": Mention.objects.aggregate(last=Max("pk"))["last"] or 0,
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


def merge_pair(one: Entity, other: Entity, decided_by: AbstractBaseUser | None, now: datetime) -> MergeProposal:
    """Make the two one because a person says so, whether anybody asked or not. Where they were kept apart, that
    decision is taken back with it, and stands again when the merge is undone; where they are one already, nothing is
    done.

    Raises LivesOnInAnother, and ValueError for one entity twice or two of different personas.
    """
    with transaction.atomic():
        proposal = propose(one.persona, one, other, 1.0, [BY_HAND])
        if proposal.status == Status.MERGED:
            return proposal
        before = _kept_apart(proposal)
        if before:
            undo(proposal, decided_by, now)
        if not merge(proposal, decided_by, now):
            raise LivesOnInAnother("one of the two lives on in another entity")
        proposal.refresh_from_db()
        if before:
            MergeProposal.objects.filter(pk=proposal.pk).update(snapshot=proposal.snapshot | {"before": before})
            proposal.refresh_from_db()
    return proposal


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
        was, was_merged = proposal.snapshot, proposal.status == Status.MERGED
        if was_merged:
            _take_apart(proposal)
        _set_status(was.get("confirmed", []), Entity.Status.CONFIRMED, Entity.Status.UNCERTAIN)
        MergeProposal.objects.filter(pk=proposal.pk).update(status=Status.UNDONE, snapshot={})
        # Keep the two apart again, where they had been before a person made them one.
        before = was.get("before", {})
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
        if was_merged:  # last: the proposal goes with a side that goes
            _tell_apart_what_was_told_since(was)
            _call_by_what_is_left(was)
            # Delete a side all of whose memories were forgotten while the two were one; a person's description keeps
            # it. The other one is announced.
            forgotten = Entity.objects.filter(pk__in=was.get("mentioned", []), mentions=None)
            for side in forgotten.exclude(described_by=Entity.DescribedBy.PERSON):
                side.delete()
            for loser in Entity.objects.filter(pk=was["loser"]):
                announce(loser, "merge_undone")
    return True


# What a person can answer, by the name in the addresses of page and API.
DECISIONS: Mapping[str, Decision] = {"merge": merge, "apart": keep_apart, "undo": undo}


def propose(persona: Persona, one: Entity, other: Entity, score: float, reasons: Iterable[str]) -> MergeProposal:
    """The question whether the two are the same: the one that was asked before, whatever was answered, or a new one.

    Raises ValueError for an entity of another persona, and for one entity twice.
    """
    if {one.persona_id, other.persona_id} != {persona.pk}:
        raise ValueError("only entities of one persona can be the same")
    if one.pk == other.pk:
        raise ValueError("one entity is no pair")
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


def _merges_of(survivor: Entity, loser: Entity) -> Iterable[MergeProposal]:
    return MergeProposal.objects.about([survivor.pk, loser.pk]).filter(status=Status.MERGED).only("pk")


def _kept_apart(proposal: MergeProposal) -> dict[str, Any]:
    """The decision that the two are two, to be made again; empty where there is none."""
    if proposal.status != Status.KEPT_APART:
        return {}
    return {
        "decided_by": proposal.decided_by_id,
        "decided_at": _iso(proposal.decided_at),
        "confirmed": proposal.snapshot.get("confirmed", []),
    }


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
    person = Entity.DescribedBy.PERSON
    by_person_alone = loser.described_by == person != survivor.described_by
    swapped = bool(loser.description) and (by_person_alone or not survivor.description)
    if swapped:
        _swap_descriptions(survivor, loser)
    loser.status, loser.merged_into = Entity.Status.MERGED, survivor
    for entity in (survivor, loser):
        entity.save(update_fields=["kind", "status", "merged_into", "description", "described_by"])
    return before | {"kind_after": survivor.kind, "description": mark_of(survivor) if swapped else ""}


def _swap_descriptions(one: Entity, other: Entity) -> None:
    one.description, other.description = other.description, one.description
    one.described_by, other.described_by = other.described_by, one.described_by


def mark_of(entity: Entity) -> str:
    """By which a description is known again, without its words, as long as the installation stands."""
    said = f"{entity.described_by}\n{entity.description}"
    return salted_hmac("memory.entities.merging", said, secret=settings.TOMBSTONE_KEY).hexdigest()


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
    # Of memories that still exist.
    doubled = was["doubled"]
    nodes = dict(doubled)
    remaining = set(ConceptNode.objects.filter(pk__in=nodes.values()).values_list("pk", flat=True))
    Mention.objects.bulk_create(
        [Mention(pk=pk, node_id=node, entity=loser) for pk, node in nodes.items() if node in remaining]
    )
    _bring_back_proposals(was, survivor, loser)
    if survivor.kind == was["kind_after"]:
        survivor.kind = was["kind"]
    if was["description"] and was["description"] == mark_of(survivor):
        _swap_descriptions(survivor, loser)
    elif was["description"]:
        loser.description = loser.described_by = ""
    survivor.status, loser.status, loser.merged_into = was["status"], was["loser_status"], None
    for entity in (survivor, loser):
        entity.save(update_fields=["kind", "status", "merged_into", "description", "described_by"])


def _bring_back_proposals(was: dict[str, Any], survivor: Entity, loser: Entity) -> None:
    """Those that were decided since the merge were decided about the survivor, and stay."""
    for pk, _, status in was["proposals"]:
        moved = MergeProposal.objects.about([survivor.pk]).filter(pk=pk, status__in=[status, Status.UNDONE])
        for proposal in moved:
            # Whom it is about may live on in somebody else since: only this side changes.
            partner = proposal.b_id if proposal.a_id == survivor.pk else proposal.a_id
            if not MergeProposal.objects.about([loser.pk]).about([partner]).exists():
                _point(proposal, loser.pk, partner)
    for pk, status, decided_by, decided_at in was["settled"]:
        kept = MergeProposal.objects.filter(pk=pk, status=Status.KEPT_APART)
        kept.update(status=status, decided_by=decided_by, decided_at=decided_at and parse_datetime(decided_at))


def _tell_apart_what_was_told_since(was: dict[str, Any]) -> None:
    """Have the memories of which the snapshot cannot know it mention whom of the two they name; one that names neither
    mentions whom it does."""
    sides = Entity.objects.filter(pk__in=[was["survivor"], was["loser"]]).prefetch_related("aliases")
    told = [
        (node, [side for side in sides if any(occurs(alias.text, node.description) for alias in side.aliases.all())])
        for node in _told_since(was)
    ]
    for node, named in told:
        for side in named:
            Mention.objects.get_or_create(node=node, entity=side)
    for node, named in told:
        if named:
            Mention.objects.filter(node=node, entity__in=sides).exclude(entity__in=named).delete()


def _told_since(was: dict[str, Any]) -> list[ConceptNode]:
    """The memories of the two that were made or corrected after the merge; where the loser lost a name meanwhile, all
    of its own as well."""
    if "at" not in was:
        return []
    both = Q(mentions__entity__in=[was["survivor"], was["loser"]])
    since = Q(mentions__pk__gt=was["last_mention"], mentions__entity=was["survivor"])
    since |= both & Q(versions__edited_at__gte=parse_datetime(was["at"]))
    if _has_lost_names(was):
        since |= Q(mentions__entity=was["loser"])
    return list(ConceptNode.objects.filter(since).distinct().order_by("pk"))


def _has_lost_names(was: dict[str, Any]) -> bool:
    return Alias.objects.filter(pk__in=was["aliases"], entity=was["loser"]).count() < len(was["aliases"])


def _call_by_what_is_left(was: dict[str, Any]) -> None:
    """Have the loser go by a name that it bears, where the one it went by was taken away or forgotten."""
    names = Alias.objects.filter(entity=was["loser"]).order_by("pk")
    if not names or not _has_lost_names(was):
        return
    loser = Entity.objects.get(pk=was["loser"])
    if not names.filter(normalized=normalize_name(loser.canonical_name)).exists():
        loser.canonical_name = names[0].text
        loser.save(update_fields=["canonical_name"])

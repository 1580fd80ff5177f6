"""Decisions about two names, with what undoing them needs: snapshots tell of rows by keys, an archive by ids.

survivor, loser, mentioned, confirmed   entities by id
aliases                                 [entity, name as it is normalised]: who bears the name now
mentions                                [entity, node]: who is mentioned there now
doubled                                 [node, era]: a mention that was let go, and is made again by undoing
earlier, proposals, settled             proposals by id, with what they were
description                             the entity whose description it is that changed places; false where none
                                        did, true where it was written anew since
era, since                              mentions know by their keys whether they are older than a merge: mentions
                                        made after it and before the next one stand in its `since`
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.db import transaction

from echovessel.db.sqlite import bulk
from memory.archive.auxiliary_records import iso_format
from memory.archive.parts import Batches, Known, Names, Part, Values, archive_id, beside_defaults, in_order
from memory.archive.schema import BeforeRecord, MergeRecord, ProposalRecord, SnapshotRecord
from memory.entities.merge import mark_of
from memory.models import Alias, ConceptNode, Entity, Mention, MergeProposal

Snapshot = dict[str, Any]
# Of what a snapshot says of the entities themselves: taken as it is.
_STATES = ("kind", "kind_after", "status", "loser_status")


# --- saving ---------------------------------------------------------------------------------------------------------
def _lines(names: Names) -> Iterator[Values]:
    rows = MergeProposal.objects.of(names.persona).order_by("pk")
    place = {key: number for number, key in enumerate(names.saved[Entity])}
    merges = _Saved.of(names, rows)
    for proposal in in_order(rows.select_related("a", "b")):
        if {proposal.a_id, proposal.b_id} <= place.keys():
            one, other = sorted((proposal.a, proposal.b), key=lambda entity: place[entity.pk])
            yield {
                "id": archive_id(proposal.external_id, proposal.uuid),
                "a": archive_id(one.external_id, one.uuid),
                "b": archive_id(other.external_id, other.uuid),
                "score": proposal.score,
                "reasons": proposal.reasons,
                "created_at": iso_format(proposal.created_at),
                **beside_defaults(
                    ProposalRecord,
                    status=proposal.status,
                    by=names.by(proposal.decided_by_id),
                    decided_at=iso_format(proposal.decided_at),
                    hinted_at=iso_format(proposal.hinted_at),
                    snapshot=merges.told(proposal.snapshot) if proposal.snapshot else None,
                ),
            }


@dataclass(frozen=True)
class _Saved:
    """By what an archive calls the rows that snapshots tell of by keys."""

    names: Names
    entities: Mapping[int | None, str]
    proposals: Mapping[int, str]
    eras: list[int]
    since: Mapping[int, list[list[str]]]

    @classmethod
    def of(cls, names: Names, rows: Any) -> "_Saved":
        merged = rows.filter(status=MergeProposal.Status.MERGED)
        eras = sorted(
            {was["last_mention"] for was in merged.values_list("snapshot", flat=True) if "last_mention" in was}
        )
        entities = names.of(Entity, names.saved[Entity]) if rows.exists() else {}
        proposals = {key: archive_id(given, uuid) for key, given, uuid in rows.values_list("pk", "external_id", "uuid")}
        made = cls(names, entities, proposals, eras, defaultdict(list))
        return cls(names, entities, proposals, eras, made._since(merged) if eras else {})

    def _since(self, merged: Any) -> dict[int, list[list[str]]]:
        """Mentions that are younger than the first merge, by the era that they fall in."""
        found: dict[int, list[list[str]]] = defaultdict(list)
        young = Mention.objects.filter(entity__persona=self.names.persona, pk__gt=self.eras[0]).order_by("pk")
        rows = list(young.values_list("pk", "entity_id", "node_id"))
        nodes = self.names.of(ConceptNode, {node for _, _, node in rows})
        for key, entity, node in rows:
            found[self._era(key)].append([self.entities[entity], nodes[node]])
        return found

    def _era(self, mention: int) -> int:
        """How many merges are older than a mention."""
        return bisect_left(self.eras, mention)

    def told(self, was: Snapshot) -> Snapshot:
        confirmed = {"confirmed": self._entities(was.get("confirmed", []))}
        return confirmed | ({"merge": self._merge(was)} if "survivor" in was else {})

    def _merge(self, was: Snapshot) -> Snapshot:
        era = self._era(was["last_mention"] + 1) if "last_mention" in was else 0
        return {
            **{name: was[name] for name in ("at", *_STATES) if name in was},
            "survivor": self.entities[was["survivor"]],
            "loser": self.entities[was["loser"]],
            "mentioned": self._entities(was.get("mentioned", [])),
            "aliases": self._aliases(was["aliases"]),
            "mentions": self._mentions(was["mentions"]),
            "doubled": self._doubled(was["doubled"]),
            "earlier": [self.proposals[key] for key in was["earlier"] if key in self.proposals],
            "proposals": [
                [self.proposals[key], self.entities[partner], status]
                for key, partner, status in was["proposals"]
                if key in self.proposals and partner in self.entities
            ],
            "settled": [
                [self.proposals[key], status, self.names.by(by), at]
                for key, status, by, at in was["settled"]
                if key in self.proposals
            ],
            "description": self._described(was["description"]),
            "era": era,
            "since": self.since.get(era, []),
            **({"before": self._before(was["before"])} if was.get("before") else {}),
        }

    def _entities(self, keys: Iterable[int]) -> list[str]:
        return [self.entities[key] for key in keys if key in self.entities]

    def _aliases(self, keys: list[int]) -> list[list[str]]:
        rows = Alias.objects.filter(pk__in=keys).order_by("pk").values_list("entity_id", "normalized")
        return [[self.entities[entity], text] for entity, text in rows if entity in self.entities]

    def _mentions(self, keys: list[int]) -> list[list[str]]:
        rows = list(Mention.objects.filter(pk__in=keys).order_by("pk").values_list("entity_id", "node_id"))
        nodes = self.names.of(ConceptNode, {node for _, node in rows})
        return [[self.entities[entity], nodes[node]] for entity, node in rows if entity in self.entities]

    def _doubled(self, rows: list[list[int]]) -> list[list[Any]]:
        nodes = self.names.of(ConceptNode, {node for _, node in rows})
        return [[nodes[node], self._era(key)] for key, node in rows if node in nodes]

    def _described(self, mark: str) -> str | bool:
        if not mark:
            return False
        told = Entity.objects.filter(persona=self.names.persona).exclude(description="").order_by("pk")
        return next((self.entities[entity.pk] for entity in told if mark_of(entity) == mark), True)

    def _before(self, was: Snapshot) -> Snapshot:
        by = self.names.by(was["decided_by"])
        return {"by": by, "decided_at": was["decided_at"], "confirmed": self._entities(was["confirmed"])}


# --- loading --------------------------------------------------------------------------------------------------------
def _load(known: Known, batches: Batches) -> int:
    """All at once: no merge stands without what undoing it needs."""
    made: dict[int, SnapshotRecord] = {}
    added = 0
    with transaction.atomic():
        for batch in batches:
            here = _known_proposals(known, [one.record.id for one in batch])
            for given in (one.record for one in batch if one.record.id not in here):
                key = _decided(known, given)
                added += key is not None
                if key is not None and given.snapshot is not None:
                    made[key] = given.snapshot
        # Give the proposals their snapshots, by keys of rows here.
        merges = [told.merge for told in made.values() if told.merge is not None]
        eras = _Eras.of(known, merges)
        for key, told in made.items():
            was: Snapshot = {"confirmed": _listed(known, told.confirmed)}
            if told.merge is not None:
                was = _snapshot(known, told.merge, eras) | was
            MergeProposal.objects.filter(pk=key).update(snapshot=was)
    return added


def _known_proposals(known: Known, ids: Iterable[str]) -> dict[str, int]:
    """Keys of proposals by their ids in the archive."""
    rows = MergeProposal.objects.of(known.persona).values_list("pk", "external_id", "uuid")
    found = {archive_id(external_id, uuid): key for key, external_id, uuid in rows}
    return {given: found[given] for given in ids if given in found}


def _decided(known: Known, given: ProposalRecord) -> int | None:
    """The key of the proposal, where both are here and nobody was asked about them here."""
    entities = known.rows(Entity, [given.a, given.b])
    if len(entities) < 2:
        return None
    a, b = sorted(entities.values())
    if a == b or MergeProposal.objects.filter(a=a, b=b).exists() or not _can_stand(given, entities):
        return None
    made = MergeProposal.objects.create(
        external_id=given.id,
        a_id=a,
        b_id=b,
        score=given.score,
        reasons=given.reasons,
        status=given.status,
        decided_by_id=known.by(given.by),
        decided_at=given.decided_at,
        hinted_at=given.hinted_at,
    )
    MergeProposal.objects.filter(pk=made.pk).update(created_at=given.created_at)
    return made.pk


def _can_stand(given: ProposalRecord, entities: Mapping[str | None, int]) -> bool:
    """A merge stands with the one who lives on in the other, and with what undoing it needs."""
    if given.status != MergeProposal.Status.MERGED:
        return True
    was = given.snapshot.merge if given.snapshot else None
    if was is None or {was.survivor, was.loser} != {given.a, given.b}:
        return False
    return Entity.objects.filter(pk=entities[was.loser], status=Entity.Status.MERGED).exists()


class _Eras:
    """Mentions by the merges that they are older or younger than: keys for those that are let go, and where each era
    begins."""

    def __init__(self, keys: Iterator[int]) -> None:
        self._keys = keys
        self.begins: dict[int, int] = {}
        self.doubled: dict[int, Iterator[int]] = {}

    @classmethod
    def of(cls, known: Known, merges: Sequence[MergeRecord]) -> "_Eras":
        since = {was.era: was.since for was in merges if was.era}
        doubled = Counter(era for was in merges for _, era in was.doubled)
        count = sum(map(len, since.values())) + doubled.total() + len(since)
        made = cls(iter(bulk.reserve(Mention, count) if count else ()))
        for era in sorted(since.keys() | doubled.keys()):
            made._begin(known, era, since.get(era), doubled[era])
        return made

    def _begin(self, known: Known, era: int, since: list[tuple[str, str]] | None, doubled: int) -> None:
        if since is not None:
            self.begins[era] = next(self._keys)
        for mention in _mentioned(known, since or []):
            Mention.objects.filter(pk=mention).update(id=next(self._keys))
        self.doubled[era] = iter(list(islice(self._keys, doubled)))


def _snapshot(known: Known, was: MergeRecord, eras: _Eras) -> Snapshot:
    entities = known.rows(Entity, [was.survivor, was.loser])
    nodes = known.rows(ConceptNode, {node for node, _ in was.doubled})
    doubled = [(next(eras.doubled[era]), nodes.get(node)) for node, era in was.doubled]
    return {
        **({"at": was.at.isoformat()} if was.at else {}),
        **{name: getattr(was, name) for name in _STATES},
        "survivor": entities[was.survivor],
        "loser": entities[was.loser],
        "mentioned": _listed(known, was.mentioned),
        "aliases": _aliases(known, was.aliases),
        "mentions": _mentioned(known, was.mentions),
        "doubled": [[key, node] for key, node in doubled if node is not None],
        "earlier": list(_known_proposals(known, was.earlier).values()),
        "proposals": _moved(known, was),
        "settled": _settled(known, was),
        "description": _mark(known, was.description),
        **({"last_mention": eras.begins[was.era]} if was.era else {}),
        **({"before": _before(known, was.before)} if was.before else {}),
    }


def _listed(known: Known, ids: Sequence[str]) -> list[int]:
    keys = known.rows(Entity, ids)
    return [keys[one] for one in ids if one in keys]


def _aliases(known: Known, named: Sequence[tuple[str, str]]) -> list[int]:
    entities = known.rows(Entity, {entity for entity, _ in named})
    rows = Alias.objects.filter(entity__in=entities.values()).values_list("entity_id", "normalized", "pk")
    keys = {(entity, text): key for entity, text, key in rows}
    found = [keys.get((entities.get(entity, 0), text)) for entity, text in named]
    return [key for key in found if key is not None]


def _mentioned(known: Known, mentioned: Sequence[tuple[str, str]]) -> list[int]:
    entities = known.rows(Entity, {entity for entity, _ in mentioned})
    nodes = known.rows(ConceptNode, {node for _, node in mentioned})
    rows = Mention.objects.filter(entity__in=entities.values()).values_list("entity_id", "node_id", "pk")
    keys = {(entity, node): key for entity, node, key in rows} if mentioned else {}
    found = [keys.get((entities.get(entity, 0), nodes.get(node, 0))) for entity, node in mentioned]
    return [key for key in found if key is not None]


def _moved(known: Known, was: MergeRecord) -> list[list[Any]]:
    keys = _known_proposals(known, [one for one, _, _ in was.proposals])
    partners = known.rows(Entity, {partner for _, partner, _ in was.proposals})
    return [
        [keys[one], partners[partner], status]
        for one, partner, status in was.proposals
        if one in keys and partner in partners
    ]


def _settled(known: Known, was: MergeRecord) -> list[list[Any]]:
    keys = _known_proposals(known, [one for one, *_ in was.settled])
    return [
        [keys[one], status, known.by(by), at.isoformat() if at else None]
        for one, status, by, at in was.settled
        if one in keys
    ]


def _mark(known: Known, described: str | bool) -> str:
    """The mark of the description that changed places; one that fits none where it was written anew since."""
    if not described:
        return ""
    key = known.rows(Entity, [described]).get(described) if isinstance(described, str) else None
    return mark_of(Entity.objects.get(pk=key)) if key else "written anew"


def _before(known: Known, was: BeforeRecord) -> Snapshot:
    decided_at = was.decided_at.isoformat() if was.decided_at else None
    return {"decided_by": known.by(was.by), "decided_at": decided_at, "confirmed": _listed(known, was.confirmed)}


PROPOSALS = Part("proposal", ProposalRecord, _lines, _load)

"""Decisions about pairs of entities, with the data to undo them: snapshots refer to rows by key, an archive by id.

survivor, loser, mentioned, confirmed   entities by id
aliases                                 [entity, normalized name]: the entity that has the name now
mentions                                [entity, node]: the entity that is mentioned there now
doubled                                 [node, era]: a mention that the merge deleted and undoing creates again
earlier, proposals, settled             proposals by id, with their earlier states
description, relation                   the entity that has the swapped description or relation; false if none was
                                        swapped, true if it was changed since
era, since                              the keys of mentions tell whether they are older than a merge: mentions
                                        made after it and before the next one are in its `since`
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from django.db.models import QuerySet

from echovessel.db.sqlite import bulk
from memory.archive.parts import (
    ID,
    OWNER,
    TIME,
    Codec,
    Field,
    IdMap,
    Names,
    Part,
    Table,
    Values,
    archive_id,
    link,
    optional,
    write_only,
)
from memory.archive.schema import BeforeRecord, MergeRecord, ProposalRecord, SnapshotRecord
from memory.entities.merge import mark_of, relation_mark_of
from memory.models import Alias, ConceptNode, Entity, Mention, MergeProposal

# States of the entities, copied unchanged from the snapshot.
STATES = ("kind", "kind_after", "status", "loser_status")


def proposals_of(names: Names) -> QuerySet[MergeProposal]:
    """Proposals whose two entities are saved."""
    return MergeProposal.objects.of(names.persona).filter(b__persona=names.persona).order_by("pk")


def gather_pair(names: Names, proposals: list[Any]) -> None:
    """Add the keys of both entities to the proposals, in archive order."""
    place = {key: number for number, key in enumerate(names.saved[Entity])}
    for proposal in proposals:
        keys = sorted((proposal.a_id, proposal.b_id), key=lambda key: place.get(key, 0))
        proposal.first, proposal.second = keys


# --- writing --------------------------------------------------------------------------------------------------------
class SnapshotWriter:
    """Writes snapshots with archive ids in place of keys."""

    def __init__(self, names: Names, snapshots: list[Any]) -> None:
        rows = MergeProposal.objects.of(names.persona)
        merged = rows.filter(status=MergeProposal.Status.MERGED).values_list("snapshot", flat=True)
        self.names = names
        self.eras = eras = sorted({snapshot["last_mention"] for snapshot in merged if "last_mention" in snapshot})
        self.entities = entities = names.of(Entity, names.saved[Entity]) if any(snapshots) else {}
        columns = rows.values_list("pk", "external_id", "uuid")
        self.proposals = (
            {key: archive_id(external_id, uuid) for key, external_id, uuid in columns} if any(snapshots) else {}
        )
        # Mentions that are younger than the first merge, by era.
        self.since: dict[int, list[list[str]]] = defaultdict(list)
        if eras and any(snapshots):
            young = Mention.objects.filter(entity__persona=names.persona, pk__gt=eras[0]).order_by("pk")
            mentions = list(young.values_list("pk", "entity_id", "node_id"))
            nodes = names.of(ConceptNode, {node for _, _, node in mentions})
            for key, entity, node in mentions:
                self.since[bisect_left(eras, key)].append([entities[entity], nodes[node]])

    def entity_ids(self, keys: Iterable[int]) -> list[str]:
        return [self.entities[key] for key in keys if key in self.entities]

    def __call__(self, snapshot: Values) -> Values | None:
        if not snapshot:
            return None
        confirmed = {"confirmed": self.entity_ids(snapshot.get("confirmed", []))}
        return confirmed | ({"merge": self.write_merge(snapshot)} if "survivor" in snapshot else {})

    def write_merge(self, snapshot: Values) -> Values:
        era = bisect_left(self.eras, snapshot["last_mention"] + 1) if "last_mention" in snapshot else 0
        aliases = Alias.objects.filter(pk__in=snapshot["aliases"]).order_by("pk").values_list("entity_id", "normalized")
        mentions = (
            Mention.objects.filter(pk__in=snapshot["mentions"]).order_by("pk").values_list("entity_id", "node_id")
        )
        nodes = self.names.of(
            ConceptNode, {*(node for _, node in mentions), *(node for _, node in snapshot["doubled"])}
        )
        # The entity that has the swapped description; none if it was changed since.
        described = Entity.objects.filter(persona=self.names.persona).exclude(description="").order_by("pk")
        bearers = (self.entities[entity.pk] for entity in described if mark_of(entity) == snapshot["description"])
        related_entities = Entity.objects.filter(persona=self.names.persona).exclude(relation="").order_by("pk")
        related = (
            self.entities[entity.pk]
            for entity in related_entities
            if relation_mark_of(entity) == snapshot.get("relation")
        )
        before = snapshot.get("before")
        return {
            **{name: snapshot[name] for name in ("at", *STATES) if name in snapshot},
            "survivor": self.entities[snapshot["survivor"]],
            "loser": self.entities[snapshot["loser"]],
            "mentioned": self.entity_ids(snapshot.get("mentioned", [])),
            "aliases": [[self.entities[entity], text] for entity, text in aliases if entity in self.entities],
            "mentions": [[self.entities[entity], nodes[node]] for entity, node in mentions if entity in self.entities],
            "doubled": [
                [nodes[node], bisect_left(self.eras, key)] for key, node in snapshot["doubled"] if node in nodes
            ],
            "earlier": [self.proposals[key] for key in snapshot["earlier"] if key in self.proposals],
            "proposals": [
                [self.proposals[key], self.entities[partner], status]
                for key, partner, status in snapshot["proposals"]
                if key in self.proposals and partner in self.entities
            ],
            "settled": [
                [self.proposals[key], status, self.names.by(by), at]
                for key, status, by, at in snapshot["settled"]
                if key in self.proposals
            ],
            "description": next(bearers, True) if snapshot["description"] else False,
            **({"relation": next(related, True)} if snapshot.get("relation") else {}),
            "era": era,
            "since": self.since.get(era, []),
            **({"before": self.write_before(before)} if before else {}),
        }

    def write_before(self, decision: Values) -> Values:
        by = self.names.by(decision["decided_by"])
        return {"by": by, "decided_at": decision["decided_at"], "confirmed": self.entity_ids(decision["confirmed"])}


PROPOSAL = Table(
    ProposalRecord,
    MergeProposal,
    (
        Field("id", ID, "external_id"),
        Field("a", write_only(link(Entity)), "first"),
        Field("b", write_only(link(Entity)), "second"),
        Field("score"),
        Field("reasons"),
        Field("created_at", TIME),
        optional("status"),
        optional("by", OWNER, "decided_by_id"),
        optional("decided_at", TIME),
        optional("hinted_at", TIME),
        optional("snapshot", Codec(SnapshotWriter)),
    ),
    gather_pair,
)


# --- loading --------------------------------------------------------------------------------------------------------
def load_proposals(id_map: IdMap, records: list[ProposalRecord], table: Table) -> int:
    """Store proposals whose two entities exist here and have no proposal yet. One transaction for all: no merge is
    stored without the data to undo it."""
    existing_proposals = keys_of_proposals(id_map, [record.id for record in records])
    new = [record for record in records if record.id not in existing_proposals]
    entities = id_map.rows(Entity, {name for record in new for name in (record.a, record.b)})
    snapshots: dict[int, SnapshotRecord] = {}
    added = 0
    for record, row in zip(new, table.read(id_map, new), strict=True):
        keys = sorted({entities[name] for name in (record.a, record.b) if name in entities})
        if len(keys) < 2 or MergeProposal.objects.filter(a=keys[0], b=keys[1]).exists():
            continue
        # A merge needs its merged loser, and the data to undo it.
        merge = record.snapshot.merge if record.snapshot else None
        if record.status == MergeProposal.Status.MERGED:
            if merge is None or {merge.survivor, merge.loser} != {record.a, record.b}:
                continue
            if not Entity.objects.filter(pk=entities[merge.loser], status=Entity.Status.MERGED).exists():
                continue
        proposal = MergeProposal.objects.create(a_id=keys[0], b_id=keys[1], **row)
        MergeProposal.objects.filter(pk=proposal.pk).update(created_at=record.created_at)
        if record.snapshot is not None:
            snapshots[proposal.pk] = record.snapshot
        added += 1
    read_snapshot = SnapshotReader(
        id_map, [snapshot.merge for snapshot in snapshots.values() if snapshot.merge is not None]
    )
    for key, snapshot in snapshots.items():
        MergeProposal.objects.filter(pk=key).update(snapshot=read_snapshot(snapshot))
    return added


def keys_of_proposals(id_map: IdMap, ids: Iterable[str]) -> dict[str, int]:
    """Keys of proposals by their ids in the archive."""
    rows = MergeProposal.objects.of(id_map.persona).values_list("pk", "external_id", "uuid")
    keys = {archive_id(external_id, uuid): key for key, external_id, uuid in rows}
    return {name: keys[name] for name in ids if name in keys}


def mentions_of(id_map: IdMap, pairs: Sequence[tuple[str, str]]) -> list[int]:
    """Keys of mentions by their entity and node."""
    entities = id_map.rows(Entity, {entity for entity, _ in pairs})
    nodes = id_map.rows(ConceptNode, {node for _, node in pairs})
    rows = Mention.objects.filter(entity__in=entities.values()).values_list("entity_id", "node_id", "pk")
    keys = {(entity, node): key for entity, node, key in rows} if pairs else {}
    mentions = [keys.get((entities.get(entity, 0), nodes.get(node, 0))) for entity, node in pairs]
    return [key for key in mentions if key is not None]


class SnapshotReader:
    """Reads snapshots, with keys of rows here in place of ids. The keys of mentions tell whether they are older than a
    merge: so mentions made after each merge get new keys, in the order of the eras, and keys are reserved for doubled
    ones."""

    def __init__(self, id_map: IdMap, merges: Sequence[MergeRecord]) -> None:
        self.id_map = id_map
        since = {merge.era: merge.since for merge in merges if merge.era}
        doubled = Counter(era for merge in merges for _, era in merge.doubled)
        count = sum(map(len, since.values())) + doubled.total() + len(since)
        reserved = iter(bulk.reserve(Mention, count) if count else ())
        self.begins: dict[int, int] = {}
        self.doubled_keys: dict[int, Iterator[int]] = {}
        for era in sorted(since.keys() | doubled.keys()):
            if era in since:
                self.begins[era] = next(reserved)
            for mention in mentions_of(id_map, since.get(era, [])):
                Mention.objects.filter(pk=mention).update(id=next(reserved))
            self.doubled_keys[era] = iter(list(islice(reserved, doubled[era])))

    def entity_keys(self, ids: Sequence[str]) -> list[int]:
        keys = self.id_map.rows(Entity, ids)
        return [keys[name] for name in ids if name in keys]

    def __call__(self, record: SnapshotRecord) -> Values:
        return (self.read_merge(record.merge) if record.merge is not None else {}) | {
            "confirmed": self.entity_keys(record.confirmed)
        }

    def read_merge(self, merge: MergeRecord) -> Values:
        entity_ids = {merge.survivor, merge.loser, *(entity for entity, _ in merge.aliases)}
        partners = {partner for _, partner, _ in merge.proposals}
        entities = self.id_map.rows(Entity, entity_ids | partners)
        nodes = self.id_map.rows(ConceptNode, {node for node, _ in merge.doubled})
        bearers = {entities[entity] for entity, _ in merge.aliases if entity in entities}
        rows = Alias.objects.filter(entity__in=bearers).values_list("entity_id", "normalized", "pk")
        aliases = {(entity, text): key for entity, text, key in rows}
        proposals = keys_of_proposals(
            self.id_map, [*(name for name, *_ in merge.proposals), *(name for name, *_ in merge.settled)]
        )
        # A mark that fits no description means that the description was changed since.
        described = self.id_map.rows(Entity, [merge.description]) if isinstance(merge.description, str) else {}
        marks = [mark_of(Entity.objects.get(pk=key)) for key in described.values()]
        related = self.id_map.rows(Entity, [merge.relation]) if isinstance(merge.relation, str) else {}
        relations = [relation_mark_of(Entity.objects.get(pk=key)) for key in related.values()]
        return {
            **({"at": merge.at.isoformat()} if merge.at else {}),
            **{name: getattr(merge, name) for name in STATES},
            "survivor": entities[merge.survivor],
            "loser": entities[merge.loser],
            "mentioned": self.entity_keys(merge.mentioned),
            "aliases": [
                aliases[pair] for name, text in merge.aliases if (pair := (entities.get(name, 0), text)) in aliases
            ],
            "mentions": mentions_of(self.id_map, merge.mentions),
            "doubled": [
                [key, nodes[node]]
                for node, era in merge.doubled
                if (key := next(self.doubled_keys[era])) and node in nodes
            ],
            "earlier": list(keys_of_proposals(self.id_map, merge.earlier).values()),
            "proposals": [
                [proposals[name], entities[partner], status]
                for name, partner, status in merge.proposals
                if name in proposals and partner in entities
            ],
            "settled": [
                [proposals[name], status, self.id_map.by(by), at.isoformat() if at else None]
                for name, status, by, at in merge.settled
                if name in proposals
            ],
            "description": (*marks, "written anew")[0] if merge.description else "",
            **({"relation": (*relations, "written anew")[0]} if merge.relation else {}),
            **({"last_mention": self.begins[merge.era]} if merge.era else {}),
            **({"before": self.read_before(merge.before)} if merge.before else {}),
        }

    def read_before(self, decision: BeforeRecord) -> Values:
        decided_at = decision.decided_at.isoformat() if decision.decided_at else None
        return {
            "decided_by": self.id_map.by(decision.by),
            "decided_at": decided_at,
            "confirmed": self.entity_keys(decision.confirmed),
        }


PROPOSALS = Part("proposal", PROPOSAL, load_proposals, proposals_of, in_one_transaction=True)

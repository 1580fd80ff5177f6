"""Making vectors anew: by another embedding model, or where they are missing or damaged.

change   claim -> stage (batch by batch) -> switch, once every node has its new vector -> clear away
repair   claim -> find what is not sound -> replace (batch by batch)

Whoever talks meanwhile is served with the old vectors, and what they write has old ones; the switch waits until these
nodes, too, have new ones, and then changes all vectors, the nodes' labels and the model in use in one transaction.
Every batch commits on its own, so that a kill costs one batch; the next run goes on from there.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db import models, transaction
from django.utils import timezone

from echovessel.embeddings import embedding
from echovessel.jobs import process_identity
from echovessel.jobs.lease import Clock, Lease, LeaseLost, expiry
from memory.models import ConceptNode, NodeVector, Reembedding, StagedVector
from memory.store import vectors
from memory.store.active_model import follow

BATCH = 128
READ_AT_ONCE = 2_000

Progress = Callable[[int], object]
Told = tuple[int, str]


class Busy(Exception):
    """Somebody else makes vectors anew, or has taken over from us."""


class UnsoundVectors(Exception):
    """The model gave no vector that is finite and of unit length for these `nodes`."""

    def __init__(self, nodes: Sequence[int]) -> None:
        super().__init__(f"no sound vector for {len(nodes)} nodes")
        self.nodes = nodes


@dataclass(frozen=True)
class Plan:
    """What there is to do: of how many memories so many have the vector they shall have."""

    model: str
    in_use: str
    memories: int
    there: int

    @property
    def missing(self) -> int:
        return self.memories - self.there


def plan(model: str | None = None) -> Plan:
    """What `change(model)` would do, or `repair()` without a model or with the one in use. Reads only."""
    in_use = follow()
    memories = ConceptNode.objects.count()
    if model in (None, in_use):
        return Plan(in_use, in_use, memories, memories - len(_faulty(in_use)))
    return Plan(str(model), in_use, memories, StagedVector.objects.filter(model=model).count())


def sample_descriptions(most: int) -> list[str]:
    """The newest descriptions, to measure on how long a model takes."""
    return list(ConceptNode.objects.newest_first().values_list("description", flat=True)[:most])


def change(model: str, progress: Progress = lambda count: None, clock: Clock = timezone.now) -> int:
    """Bring `model` into use; returns how many vectors were made for it. `progress` hears of each batch.

    Vectors that were staged for yet another model are thrown away. Raises Busy, Unsound and EmbeddingUnavailable; the
    model in use stays in use then, and what is staged is there for the next run.
    """
    made = 0
    with _leased(clock) as lease:
        embedding.embed(["Load the model before anything is thrown away."], model)
        with transaction.atomic():
            lease.renew()
            StagedVector.objects.exclude(model=model).delete()
        while not _switched(lease, model):
            made += _stage_all(lease, model, progress)
        _clear_away(lease, model)
    follow()
    return made


def repair(progress: Progress = lambda count: None, clock: Clock = timezone.now) -> int:
    """Make the vectors anew that are missing, damaged or of another model than the one in use; returns how many. The
    search structures are filled anew in any case.

    Raises Busy, Unsound and EmbeddingUnavailable.
    """
    with _leased(clock) as lease:
        model = follow()
        _clear_away(lease, model)
        with transaction.atomic():
            lease.renew()
            vectors.rebuild()
        faulty = _faulty(model)
        for first in range(0, len(faulty), BATCH):
            nodes = ConceptNode.objects.filter(pk__in=faulty[first : first + BATCH])
            told = list(nodes.order_by("pk").values_list("pk", "description"))
            sound = _embedded(told, model)
            with transaction.atomic():
                lease.renew()
                vectors.replace({node: sound[node] for node in _still(told) if node in sound}, model)
            progress(len(told))
        if left := _faulty(model):
            raise UnsoundVectors(left)
    return len(faulty)


# --- whose work it is ---------------------------------------------------------------------------------------------
@contextmanager
def _leased(clock: Clock) -> Iterator[Lease[Reembedding]]:
    """A lease on the work while this lasts; each step renews it in its transaction. Raises Busy."""
    with transaction.atomic():
        row, _is_new = Reembedding.objects.get_or_create()
        if row.lease_until and row.lease_until > clock() and not process_identity.is_dead(row.holder):
            raise Busy(f"Another process makes vectors anew: {row.holder}.")
        row.holder, row.lease_until = process_identity.new_holder(), expiry(clock())
        row.save()
    lease = Lease(row, clock)
    try:
        yield lease
    except LeaseLost:
        raise Busy("Another process has taken over.") from None
    finally:
        lease.leased_row().update(holder="", lease_until=None)


# --- another model ------------------------------------------------------------------------------------------------
def _stage_all(lease: Lease[Reembedding], model: str, progress: Progress) -> int:
    """Stage a vector for each node that has none, oldest first; returns how many."""
    made, last = 0, 0
    unsound: list[int] = []
    while told := list(_unstaged().filter(pk__gt=last).order_by("pk").values_list("pk", "description")[:BATCH]):
        sound = _embedded(told, model)
        made += _stage(lease, model, told, sound)
        unsound += [node for node, _ in told if node not in sound]
        last = told[-1][0]
        progress(len(told))
    if unsound:
        raise UnsoundVectors(unsound)
    return made


def _unstaged() -> models.QuerySet[ConceptNode]:
    return ConceptNode.objects.filter(staged_vector=None)


def _stage(lease: Lease[Reembedding], model: str, told: Sequence[Told], sound: dict[int, np.ndarray]) -> int:
    with transaction.atomic():
        lease.renew()
        rows = [
            StagedVector(node_id=node, model=model, embedding=sound[node].astype("<f4").tobytes())
            for node in _still(told)
            if node in sound
        ]
        StagedVector.objects.bulk_create(rows)
    return len(rows)


def _switched(lease: Lease[Reembedding], model: str) -> bool:
    """Bring `model` into use, with all its vectors at once; False where a node has none yet, or a damaged one."""
    with transaction.atomic():
        lease.renew()
        if _unstaged().exists():
            return False
        if damaged := _unsound(StagedVector.objects.all(), model):
            StagedVector.objects.filter(pk__in=damaged).delete()
            return False
        vectors.put_in_use(model)
    return True


def _clear_away(lease: Lease[Reembedding], model: str) -> None:
    """Drop what was staged for a model that is in use now."""
    with transaction.atomic():
        lease.renew()
        StagedVector.objects.filter(model=model).delete()


# --- what is sound ------------------------------------------------------------------------------------------------
def _embedded(told: Sequence[Told], model: str) -> dict[int, np.ndarray]:
    """The vectors of descriptions by node, those left out that are not sound."""
    rows = embedding.embed([description for _, description in told], model)
    fine = vectors.is_unit_length(rows)
    return {node: row for (node, _), row, is_fine in zip(told, rows, fine, strict=True) if is_fine}


def _still(told: Sequence[Told]) -> list[int]:
    """Those of the nodes that are still there and say the same. Call in the transaction that writes their vectors."""
    now = ConceptNode.objects.filter(pk__in=[node for node, _ in told]).values_list("pk", "description")
    return sorted(node for node, _ in set(told) & set(now))


def _faulty(model: str) -> list[int]:
    """The nodes without a sound vector by `model`, in order."""
    bare = ConceptNode.objects.filter(vector=None).values_list("pk", flat=True)
    mislabelled = ConceptNode.objects.exclude(embedding_model=model).values_list("pk", flat=True)
    return sorted({*bare, *mislabelled, *_unsound(NodeVector.objects.all(), model)})


def _unsound(stored: models.QuerySet[Any], model: str) -> list[int]:
    """The nodes whose stored vector is of another model, not whole, not finite or not of unit length."""
    return [
        node
        for rows in _chunks(stored)
        for (node, by, _), fine in zip(rows, vectors.is_unit_length(_read(rows)), strict=True)
        if by != model or not fine
    ]


def _chunks(stored: models.QuerySet[Any]) -> Iterator[list[tuple[int, str, bytes]]]:
    last = 0
    rows = stored.order_by("pk").values_list("pk", "model", "embedding")
    while found := list(rows.filter(pk__gt=last)[:READ_AT_ONCE]):
        yield found
        last = found[-1][0]


def _read(rows: Sequence[tuple[int, str, bytes]]) -> np.ndarray:
    """The vectors of rows; zeros, which are not sound, for what is not whole."""
    whole = 4 * embedding.DIMENSION
    stored = (bytes(blob) if len(blob) == whole else bytes(whole) for _, _, blob in rows)
    return np.frombuffer(b"".join(stored), dtype="<f4").reshape(len(rows), embedding.DIMENSION)

"""Re-embedding: make all vectors with another embedding model, or replace missing and damaged ones.

    change   claim -> stage (batch by batch) -> switch, once every node has its new vector -> clear away
    repair   claim -> find the unsound -> replace (batch by batch)

Meanwhile turns use the old vectors, and new nodes get old ones. The switch waits until these nodes have new ones, too,
and then changes all vectors, the nodes' labels and the model in use in one transaction. Every batch commits by itself,
so that a kill costs one batch; the next run continues from there.
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db import models, transaction
from django.utils import timezone

from echovessel.embeddings import embedding
from echovessel.jobs.lease import Clock, Lease, LeaseLost, expiry, is_dead, new_holder
from memory.models import ConceptNode, NodeVector, Reembedding, StagedVector
from memory.store import calibration, vectors
from memory.store.active_model import follow

BATCH = 128
# The least cosine of two vectors of one text by one model, whatever precision a server uses.
MIN_COSINE_TO_STAGED = 0.9
READ_AT_ONCE = 2_000

logger = logging.getLogger(__name__)

Progress = Callable[[int], object]
Description = tuple[int, str]


class Busy(Exception):
    """Another process is re-embedding, or has taken over the lease."""


class UnsoundVectors(Exception):
    """The model gave no finite vector of unit length for these `nodes`."""

    def __init__(self, nodes: Sequence[int]) -> None:
        super().__init__(f"no sound vector for {len(nodes)} nodes")
        self.nodes = nodes


@dataclass(frozen=True)
class Plan:
    """The work ahead: the number of memories, and how many already have their vector by `model`
    (`present_count`)."""

    model: str
    in_use: str
    memories: int
    present_count: int

    @property
    def missing(self) -> int:
        return self.memories - self.present_count


def plan(model: str | None = None) -> Plan:
    """The plan of `change(model)`, or of `repair()` without a model or with the one in use. Reads only."""
    in_use = follow()
    memories = ConceptNode.objects.count()
    if model in (None, in_use):
        return Plan(in_use, in_use, memories, memories - len(_faulty(in_use)))
    return Plan(str(model), in_use, memories, StagedVector.objects.filter(model=model).count())


def sample_descriptions(limit: int) -> list[str]:
    """The newest descriptions, to measure a model's speed."""
    return list(ConceptNode.objects.newest_first().values_list("description", flat=True)[:limit])


def change(model: str, progress: Progress = lambda count: None, clock: Clock = timezone.now) -> int:
    """Bring `model` into use; returns how many vectors were made for it. `progress` gets the size of each batch.

    Vectors staged for a third model are deleted. Raises Busy, UnsoundVectors and EmbeddingUnavailable; then the model
    in use stays in use, and staged vectors are kept for the next run.
    """
    staged = 0
    with _leased(clock) as lease:
        dimension = _probe_model(model)
        with transaction.atomic():
            lease.renew()
            StagedVector.objects.exclude(model=model).delete()
        cosines: dict[str, Any] | None = None
        while cosines is None or not switch_over(lease, model, dimension, cosines):
            last, unsound = 0, list[int]()
            while batch := list(
                _unstaged().filter(pk__gt=last).order_by("pk").values_list("pk", "description")[:BATCH]
            ):
                sound = _embed(batch, model)
                staged += stage_vectors(lease, model, batch, sound)
                unsound += [node for node, _ in batch if node not in sound]
                last = batch[-1][0]
                progress(len(batch))
            if unsound:
                raise UnsoundVectors(unsound)
            if cosines is None:
                cosines = calibration.measure(model)
        _clear_away(lease, model)
    follow()
    return staged


def repair(progress: Progress = lambda count: None, clock: Clock = timezone.now) -> int:
    """Re-embed the nodes whose vectors are missing, damaged or of another model than the one in use; returns how many.
    The search structures are rebuilt in any case.

    Raises Busy, UnsoundVectors and EmbeddingUnavailable.
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
            batch = list(nodes.order_by("pk").values_list("pk", "description"))
            sound = _embed(batch, model)
            with transaction.atomic():
                lease.renew()
                vectors.replace({node: sound[node] for node in _still(batch) if node in sound}, model)
            progress(len(batch))
        if faulty_rows := _faulty(model):
            raise UnsoundVectors(faulty_rows)
    return len(faulty)


# --- the lease ----------------------------------------------------------------------------------------------------
@contextmanager
def _leased(clock: Clock) -> Iterator[Lease[Reembedding]]:
    """Hold a lease within the block; each step renews it in its transaction. Raises Busy."""
    with transaction.atomic():
        row, _is_new = Reembedding.objects.get_or_create()
        if row.lease_until and row.lease_until > clock() and not is_dead(row.holder):
            raise Busy(f"Another process is re-embedding: {row.holder}.")
        row.holder, row.lease_until = new_holder(), expiry(clock())
        row.save()
    lease = Lease(row, clock)
    try:
        yield lease
    except LeaseLost:
        raise Busy("Another process has taken over.") from None
    finally:
        lease.leased_row().update(holder="", lease_until=None)


# --- another model ------------------------------------------------------------------------------------------------
def _unstaged() -> models.QuerySet[ConceptNode]:
    return ConceptNode.objects.filter(staged_vector=None)


def stage_vectors(
    lease: Lease[Reembedding], model: str, batch: Sequence[Description], sound: dict[int, np.ndarray]
) -> int:
    with transaction.atomic():
        lease.renew()
        rows = [
            StagedVector(node_id=node, model=model, embedding=sound[node].astype("<f4").tobytes())
            for node in _still(batch)
            if node in sound
        ]
        StagedVector.objects.bulk_create(rows)
    return len(rows)


def _probe_model(model: str) -> int:
    """The size of the vectors that `model` makes. Loads it before anything is deleted. If an earlier run staged
    vectors, they must be of the very same model, which may have changed under its name. Raises EmbeddingUnavailable."""
    staged = StagedVector.objects.filter(model=model).select_related("node").order_by("pk").first()
    [vector] = embedding.embed([staged.node.description if staged else "How many numbers?"], model)
    if staged:
        staged_vector = np.frombuffer(bytes(staged.embedding), dtype="<f4")
        if staged_vector.shape != vector.shape or float(staged_vector @ vector) < MIN_COSINE_TO_STAGED:
            # They cannot be distinguished from the new ones.
            logger.warning("staged vectors for %s are of another model and are deleted", model)
            StagedVector.objects.filter(model=model).delete()
    return len(vector)


def switch_over(lease: Lease[Reembedding], model: str, dimension: int, cosines: Mapping[str, Any]) -> bool:
    """Bring `model` into use with all its vectors; False if a node has no staged vector yet, or a damaged one."""
    with transaction.atomic():
        lease.renew()
        if _unstaged().exists():
            return False
        if damaged := _unsound(StagedVector.objects.all(), model, dimension):
            StagedVector.objects.filter(pk__in=damaged).delete()
            return False
        vectors.switch_model(model, dimension, embedding.last_probe(model), cosines)
    return True


def _clear_away(lease: Lease[Reembedding], model: str) -> None:
    """Delete the vectors that were staged for a model now in use."""
    with transaction.atomic():
        lease.renew()
        StagedVector.objects.filter(model=model).delete()


# --- sound vectors ------------------------------------------------------------------------------------------------
def _embed(batch: Sequence[Description], model: str) -> dict[int, np.ndarray]:
    """The vectors of descriptions by node, without unsound ones."""
    rows = embedding.embed([description for _, description in batch], model)
    sound = vectors.is_unit_length(rows)
    return {node: row for (node, _), row, is_sound in zip(batch, rows, sound, strict=True) if is_sound}


def _still(batch: Sequence[Description]) -> list[int]:
    """The nodes that still exist with the same description. Call in the transaction that writes their vectors."""
    now = ConceptNode.objects.filter(pk__in=[node for node, _ in batch]).values_list("pk", "description")
    return sorted(node for node, _ in set(batch) & set(now))


def _faulty(model: str) -> list[int]:
    """The nodes without a sound vector by `model`, in order."""
    bare = ConceptNode.objects.filter(vector=None).values_list("pk", flat=True)
    mislabelled = ConceptNode.objects.exclude(embedding_model=model).values_list("pk", flat=True)
    return sorted({*bare, *mislabelled, *_unsound(NodeVector.objects.all(), model, vectors.dimension_in_use())})


def _unsound(vector_rows: models.QuerySet[Any], model: str, dimension: int) -> list[int]:
    """The nodes whose stored vector is of another model or size, incomplete, not finite or not of unit length."""
    size, last, unsound = 4 * dimension, 0, list[int]()
    rows = vector_rows.order_by("pk").values_list("pk", "model", "embedding")
    while batch := list(rows.filter(pk__gt=last)[:READ_AT_ONCE]):
        # Replace an incomplete vector by zeros, which are unsound.
        blobs = (bytes(blob) if len(blob) == size else bytes(size) for _, _, blob in batch)
        matrix = np.frombuffer(b"".join(blobs), dtype="<f4").reshape(len(batch), dimension)
        sound = vectors.is_unit_length(matrix)
        unsound += [node for (node, by, _), fine in zip(batch, sound, strict=True) if by != model or not fine]
        last = batch[-1][0]
    return unsound

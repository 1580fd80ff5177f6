"""The embedding model of this installation's vectors, and the vectors that are being made for another model."""

from django.db import models
from django.db.models import Q

from echovessel.db.text_columns import DELETE_ROW, NO_WORDS, TextColumn
from memory.models.node import ConceptNode

LONGEST_MODEL_NAME = 200


class EmbeddingModel(models.Model):
    """The model in use, in a single row. A trigger creates it with the first vector, and refuses vectors of other
    models.

    Before the first vector the setting decides; afterwards only `memory.store.reembedding` changes it. `dimension` is
    the size of the vectors; `probe` the vector of a known text, by which another model of a server under the same name
    is noticed; `cosines` the meaning of the cosines of its vectors (memory/store/cosine_scale.py).
    """

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    name = models.CharField(max_length=LONGEST_MODEL_NAME)
    dimension = models.PositiveSmallIntegerField(default=384)
    probe = models.BinaryField(default=bytes)
    cosines = models.JSONField(default=dict)
    text_columns = {"name": NO_WORDS, "probe": NO_WORDS, "cosines": NO_WORDS}

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(id=1), name="embedding_model_once"),
            models.CheckConstraint(condition=~Q(name=""), name="embedding_model_named"),
        ]

    def __str__(self) -> str:
        return self.name


class Reembedding(models.Model):
    """The lease on re-embedding, in a single row: its holder, and when it expires unless it is renewed."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    holder = models.CharField(max_length=200, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    text_columns = {"holder": NO_WORDS}

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=1), name="reembedding_once")]

    def __str__(self) -> str:
        return f"leased by {self.holder}" if self.holder else "not leased"


class StagedVector(models.Model):
    """A node's vector by the next model. Deleted with the node, and when its description changes."""

    node = models.OneToOneField(ConceptNode, models.CASCADE, primary_key=True, related_name="staged_vector")
    model = models.CharField(max_length=LONGEST_MODEL_NAME)
    embedding = models.BinaryField()
    text_columns = {"embedding": TextColumn(DELETE_ROW, form="vector"), "model": NO_WORDS}

    def __str__(self) -> str:
        return f"staged vector of node {self.pk}"

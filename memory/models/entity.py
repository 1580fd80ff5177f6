"""L5, entities: the people, places and animals in memories, and their names."""

from collections.abc import Iterable

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from echovessel.db.public_id import PublicId
from echovessel.db.text_columns import CLEAR, DELETE_ROW, NO_WORDS, TextColumn
from echovessel.language.kinship import relation_label
from memory.models.node import ConceptNode
from persona.models import Persona
from persona.models.picture import StoredPicture

MAX_RELATION = 120


class Entity(PublicId):
    """A person, place, animal or thing with a name."""

    class Kind(models.TextChoices):
        PERSON = "person", _("person")
        PLACE = "place", _("place")
        ORG = "org", _("organisation")
        PET = "pet", _("pet")
        OTHER = "other", _("other")

    class Status(models.TextChoices):
        CONFIRMED = "confirmed", _("confirmed")
        UNCERTAIN = "uncertain", _("uncertain")
        MERGED = "merged", _("merged")

    class DescribedBy(models.TextChoices):
        SLOW_CYCLE = "slow_cycle", _("slow cycle")
        PERSON = "person", _("a person")

    persona = models.ForeignKey(Persona, models.CASCADE, related_name="entities", verbose_name=_("persona"))
    canonical_name = models.CharField(_("canonical name"), max_length=120)
    kind = models.CharField(_("kind"), max_length=8, choices=Kind, default=Kind.OTHER)
    # The relation to the owner, in the owner's words: "sister".
    relation = models.CharField(_("relation"), max_length=MAX_RELATION, blank=True, default="")
    description = models.CharField(_("description"), max_length=400, blank=True)
    described_by = models.CharField(_("described by"), max_length=12, choices=DescribedBy, blank=True)
    # The key of the newest memory that the slow cycle used for its description.
    described_through = models.PositiveBigIntegerField(_("described through"), default=0, editable=False)
    status = models.CharField(_("status"), max_length=12, choices=Status, default=Status.CONFIRMED)
    merged_into = models.ForeignKey(
        "self", models.SET_NULL, null=True, blank=True, related_name="absorbed", verbose_name=_("merged into")
    )
    nodes = models.ManyToManyField(ConceptNode, through="Mention", related_name="entities")
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    import_uuid = models.UUIDField(_("import"), null=True, editable=False)
    text_columns = {
        "canonical_name": TextColumn(DELETE_ROW, tombstone="name", archived=True),
        "relation": TextColumn(CLEAR, found_by="words", archived=True),
        "description": TextColumn(CLEAR, found_by="words", archived=True),
    }

    class Meta:
        ordering = ["canonical_name", "id"]
        verbose_name = _("L5 entity")
        verbose_name_plural = _("L5 entities")
        indexes = [
            models.Index(fields=["status", "-id"], name="entity_newest_of_status"),
            models.Index(fields=["import_uuid"], condition=~Q(import_uuid=None), name="entity_by_import"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["persona", "external_id"], name="entity_external_id_once"),
            models.CheckConstraint(
                condition=Q(kind__in=["person", "place", "org", "pet", "other"]), name="entity_kind_known"
            ),
            models.CheckConstraint(
                condition=Q(status__in=["confirmed", "uncertain", "merged"]), name="entity_status_known"
            ),
        ]

    def __str__(self) -> str:
        return f"entity {self.pk}"

    @property
    def relation_label(self) -> str:
        """The relation as pages for the owner show it."""
        return relation_label(self.relation)


class Alias(models.Model):
    """A name of an entity. Two entities may share a name: there are two Scotts."""

    entity = models.ForeignKey(Entity, models.CASCADE, related_name="aliases", verbose_name=_("entity"))
    persona = models.ForeignKey(Persona, models.CASCADE, related_name="+", verbose_name=_("persona"))
    text = models.CharField(_("text"), max_length=120)
    normalized = models.CharField(_("normalized"), max_length=120)
    text_columns = {
        "text": TextColumn(DELETE_ROW, tombstone="name", archived=True),
        "normalized": TextColumn(DELETE_ROW),
    }

    class Meta:
        ordering = ["id"]
        verbose_name_plural = _("aliases")
        indexes = [models.Index(fields=["persona", "normalized"], name="alias_by_name")]
        constraints = [
            models.UniqueConstraint(fields=["entity", "normalized"], name="alias_once_per_entity"),
            models.CheckConstraint(condition=~Q(normalized=""), name="alias_not_empty"),
        ]

    def __str__(self) -> str:
        return f"alias {self.pk}"


class Photo(StoredPicture):
    """The photo of an entity, added by the owner."""

    entity = models.OneToOneField(Entity, models.CASCADE, related_name="photo", verbose_name=_("entity"))
    text_columns = {"content": TextColumn(DELETE_ROW, archived=True)}

    class Meta(StoredPicture.Meta):
        verbose_name = _("photo")
        verbose_name_plural = _("photos")

    def __str__(self) -> str:
        return f"photo {self.pk}"


class Mention(models.Model):
    """A node whose description contains a name of the entity, literally."""

    node = models.ForeignKey(ConceptNode, models.CASCADE, related_name="mentions", verbose_name=_("node"))
    entity = models.ForeignKey(Entity, models.CASCADE, related_name="mentions", verbose_name=_("entity"))

    class Meta:
        constraints = [models.UniqueConstraint(fields=["node", "entity"], name="mention_once")]

    def __str__(self) -> str:
        return f"mention {self.pk}"


class MergeProposalQuerySet(models.QuerySet["MergeProposal"]):
    def of(self, persona: Persona) -> "MergeProposalQuerySet":
        return self.filter(a__persona=persona)

    def about(self, entities: Iterable[int]) -> "MergeProposalQuerySet":
        """Proposals with one of `entities` (keys) as a side."""
        entity_list = list(entities)
        return self.filter(Q(a__in=entity_list) | Q(b__in=entity_list))

    def between_living(self) -> "MergeProposalQuerySet":
        """Proposals of which neither side was merged into another entity."""
        merged = Entity.Status.MERGED
        return self.exclude(a__status=merged).exclude(b__status=merged)

    def open(self) -> "MergeProposalQuerySet":
        """Proposals that wait for an answer."""
        return self.between_living().filter(status=MergeProposal.Status.OPEN)

    def undecided(self) -> "MergeProposalQuerySet":
        """Proposals that can be decided: open ones, and ones whose decision was undone."""
        return self.between_living().filter(status__in=[MergeProposal.Status.OPEN, MergeProposal.Status.UNDONE])


class MergeProposal(PublicId):
    """A question for people: are these two the same? It is not asked again about a pair that was kept apart.

    `snapshot` holds the data to undo the decision: keys and states, never words.
    """

    class Status(models.TextChoices):
        OPEN = "open", _("open")
        MERGED = "merged", _("merged")
        KEPT_APART = "kept_apart", _("kept apart")
        UNDONE = "undone", _("undone")

    a = models.ForeignKey(Entity, models.CASCADE, related_name="proposals_as_a", verbose_name=_("this"))
    b = models.ForeignKey(Entity, models.CASCADE, related_name="proposals_as_b", verbose_name=_("that"))
    score = models.FloatField(_("score"))
    reasons = models.JSONField(_("reasons"), default=list)
    status = models.CharField(_("status"), max_length=12, choices=Status, default=Status.OPEN)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("decided by")
    )
    decided_at = models.DateTimeField(_("decided at"), null=True, blank=True)
    snapshot = models.JSONField(_("snapshot"), default=dict, blank=True)
    hinted_at = models.DateTimeField(
        _("hinted at"), null=True, blank=True, help_text=_("when a prompt last asked about it")
    )
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    text_columns = {"reasons": NO_WORDS, "snapshot": NO_WORDS}

    objects = MergeProposalQuerySet.as_manager()

    class Meta:
        verbose_name = _("possible duplicate")
        verbose_name_plural = _("possible duplicates")
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["a", "b"], name="proposal_once_per_pair"),
            models.CheckConstraint(condition=Q(a__lt=F("b")), name="proposal_pair_in_order"),
        ]

    def __str__(self) -> str:
        return f"proposal {self.pk}"

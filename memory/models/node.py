"""The concept node: the common table of L3 and L4 (seed 001)."""

from typing import Literal, get_args

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Length
from django.db.models.lookups import LessThanOrEqual
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chat.models import Session
from echovessel.db.public_id import PublicId
from echovessel.db.text_columns import DELETE_ROW, NO_WORDS, TextColumn
from echovessel.language.coarse_dates import MAX_COARSE_DATE
from persona.models import Persona

MAX_DESCRIPTION = 2_000
MAX_IMPACT = 10
MAX_EMOTION_TAGS = 4
MAX_EMOTION_TAG_LENGTH = 40
MAX_RELATIONAL_TAGS = 3
MAX_CONDITION = 200
RelationalTag = Literal[
    "identity-bearing",
    "unresolved",
    "vulnerability",
    "turning-point",
    "correction",
    "commitment",
]
# Memories with a lower confidence are guesses (design/forgetting.md).
GUESS_BELOW = 0.40
RELATIONAL_TAGS: tuple[RelationalTag, ...] = get_args(RelationalTag)


class NodeQuerySet(models.QuerySet["ConceptNode"]):
    def of(self, persona: Persona) -> "NodeQuerySet":
        return self.filter(persona=persona)

    def active(self) -> "NodeQuerySet":
        """Nodes that may stand in a prompt: not hidden, superseded, archived or quarantined."""
        return self.filter(status=ConceptNode.Status.ACTIVE)

    def recallable(self) -> "NodeQuerySet":
        """Nodes that recall may return: active ones without lessons, which have a section of the prompt of their
        own."""
        return self.active().exclude(kind=ConceptNode.Kind.LESSON)

    def before(self, node: "ConceptNode") -> "NodeQuerySet":
        """Nodes that follow `node` in the order of `newest_first`."""
        return self.filter(Q(created_at__lt=node.created_at) | Q(created_at=node.created_at, id__lt=node.id))

    def newest_first(self) -> "NodeQuerySet":
        return self.order_by("-created_at", "-id")


class ConceptNode(PublicId):
    """A memory: an event, a lasting fact, or a thought, promise, expectation or wish that rests on them."""

    class Kind(models.TextChoices):
        EVENT = "event", _("event")
        FACT = "fact", _("fact")
        THOUGHT = "thought", _("thought")
        INTENTION = "intention", _("intention")
        EXPECTATION = "expectation", _("expectation")
        LESSON = "lesson", _("wish")

    class Subject(models.TextChoices):
        USER = "user", _("the user")
        PERSONA = "persona", _("the persona")
        SHARED = "shared", _("both")
        OTHER = "other", _("someone else")

    class Source(models.TextChoices):
        EXTRACTION = "extraction", _("extraction")
        REFLECTION = "reflection", _("reflection")
        SLOW_CYCLE = "slow_cycle", _("slow cycle")
        IMPORT = "import", _("import")
        PERSON = "person", _("a person")

    class Status(models.TextChoices):
        ACTIVE = "active", _("active")
        HIDDEN = "hidden", _("hidden")
        SUPERSEDED = "superseded", _("superseded")
        ARCHIVED = "archived", _("archived")
        QUARANTINED = "quarantined", _("quarantined")

    class Verification(models.TextChoices):
        UNVERIFIED = "unverified", _("unverified")
        CONFIRMED = "confirmed", _("confirmed")
        DISPUTED = "disputed", _("disputed")

    class ArchivedBecause(models.TextChoices):
        EXPIRED = "expired", _("never confirmed")
        SETTLED = "settled", _("settled long ago")
        OLD = "old", _("old and of little impact")
        PERSON = "person", _("archived by a person")

    class Outcome(models.TextChoices):
        OPEN = "open", _("open")
        FULFILLED = "fulfilled", _("fulfilled")
        VIOLATED = "violated", _("violated")
        EXPIRED = "expired", _("expired")

    class Scope(models.TextChoices):
        """When a lesson holds."""

        ALWAYS = "always", _("always")
        TOPIC = "topic", _("when something comes up")
        FEELING = "feeling", _("when you feel a certain way")
        PERSON = "person", _("when someone comes up")
        NAME = "name", _("your name")

    class Domain(models.TextChoices):
        """What a fact is about."""

        ABOUT = "about", _("About you")
        PEOPLE = "people", _("People")
        HEALTH = "health", _("Health")
        LIKES = "likes", _("Likes and dislikes")
        WORK = "work", _("Work and study")
        HOME = "home", _("Where you live")
        PLANS = "plans", _("Plans and habits")
        BELONGINGS = "belongings", _("Belongings")
        BELIEFS = "beliefs", _("Beliefs")

    class PlanState(models.TextChoices):
        PLANNED = "planned", _("planned")
        DONE = "done", _("done")
        CANCELLED = "cancelled", _("cancelled")

    class Concern(models.TextChoices):
        """Why an event or a fact stands in every prompt although nobody pinned it or asked for it."""

        HEALTH = "health", _("health and safety")
        IDENTITY = "identity", _("who you are")

    persona = models.ForeignKey(Persona, models.CASCADE, related_name="nodes", verbose_name=_("persona"))
    kind = models.CharField(_("kind"), max_length=12, choices=Kind)
    subject = models.CharField(_("subject"), max_length=8, choices=Subject, default=Subject.USER)
    description = models.TextField(_("description"), max_length=MAX_DESCRIPTION)
    emotional_impact = models.SmallIntegerField(_("emotional impact"), default=0)
    emotion_tags = models.JSONField(_("emotion tags"), default=list, blank=True)
    relational_tags = models.JSONField(_("relational tags"), default=list, blank=True)
    event_time_start = models.DateField(_("event time start"), null=True, blank=True)
    event_time_end = models.DateField(_("event time end"), null=True, blank=True)
    session = models.ForeignKey(
        Session, models.SET_NULL, null=True, blank=True, related_name="nodes", verbose_name=_("session")
    )
    source = models.CharField(_("source"), max_length=12, choices=Source)
    confidence = models.FloatField(_("confidence"), default=1.0)
    status = models.CharField(_("status"), max_length=12, choices=Status, default=Status.ACTIVE)
    verification = models.CharField(
        _("verification"), max_length=12, choices=Verification, default=Verification.UNVERIFIED
    )
    superseded_by = models.ForeignKey(
        "self", models.SET_NULL, null=True, blank=True, related_name="supersedes", verbose_name=_("superseded by")
    )
    mention_count = models.PositiveIntegerField(_("mention count"), default=1)
    last_mentioned_at = models.DateTimeField(_("last mentioned at"), default=timezone.now)
    created_at = models.DateTimeField(_("created at"), default=timezone.now)
    access_count = models.PositiveIntegerField(_("access count"), default=0)
    last_accessed_at = models.DateTimeField(_("last accessed at"), null=True, blank=True)
    content_hash = models.CharField(_("content hash"), max_length=64, editable=False)
    embedding_model = models.CharField(_("embedding model"), max_length=200, editable=False)
    outcome = models.CharField(_("outcome"), max_length=12, choices=Outcome, default=Outcome.OPEN)
    resolved_at = models.DateTimeField(_("resolved at"), null=True, blank=True)
    resolved_by = models.ForeignKey(
        "self", models.SET_NULL, null=True, blank=True, related_name="resolves", verbose_name=_("resolved by")
    )
    pinned = models.BooleanField(_("pinned"), default=False)
    archived_because = models.CharField(_("archived because"), max_length=12, choices=ArchivedBecause, blank=True)
    concern = models.CharField(_("concern"), max_length=8, choices=Concern, blank=True, default="", editable=False)
    # Facts only: their topic, and since and until when they hold, as exactly as it is known (coarse_dates.py); of a
    # plan, its state.
    domain = models.CharField(_("about"), max_length=12, choices=Domain, blank=True, default="")
    since = models.CharField(_("since"), max_length=MAX_COARSE_DATE, blank=True, default="")
    until = models.CharField(_("until"), max_length=MAX_COARSE_DATE, blank=True, default="")
    plan_state = models.CharField(_("state of the plan"), max_length=12, choices=PlanState, blank=True, default="")
    # Lessons only: when they hold, and in the owner's words the feeling, topic or person; of a name, the name.
    scope = models.CharField(_("when"), max_length=8, choices=Scope, blank=True, default="")
    condition = models.CharField(_("which"), max_length=MAX_CONDITION, blank=True, default="")
    is_boundary = models.BooleanField(_("leave it alone"), default=False)
    import_uuid = models.UUIDField(_("import"), null=True, editable=False)
    text_columns = {
        "description": TextColumn(DELETE_ROW, tombstone="text", cut_in="memory_nodetext.body", archived=True),
        "emotion_tags": TextColumn(DELETE_ROW, archived=True),
        "condition": TextColumn(DELETE_ROW, archived=True),
        "content_hash": TextColumn(DELETE_ROW),
        "relational_tags": NO_WORDS,
        "embedding_model": NO_WORDS,
        "since": NO_WORDS,
        "until": NO_WORDS,
    }

    objects = NodeQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [
            models.Index(fields=["persona", "kind", "-created_at"], name="node_by_kind"),
            models.Index(fields=["persona", "content_hash"], name="node_by_hash"),
            models.Index(fields=["kind", "-id"], name="node_newest_of_kind"),
            models.Index(fields=["kind", "status", "-id"], name="node_newest_of_status"),
            models.Index(fields=["import_uuid"], condition=~Q(import_uuid=None), name="node_by_import"),
            # Partial, so that it serves queries with this condition and does not mislead the planner for others.
            models.Index(fields=["persona"], condition=Q(status="active"), name="node_recallable"),
            models.Index(fields=["persona", "event_time_start", "event_time_end"], name="node_by_event_time"),
            models.Index(
                fields=["persona", "event_time_end"],
                condition=Q(event_time_end__gt=F("event_time_start")),
                name="node_of_several_days",
            ),
            models.Index(fields=["persona", "created_at"], condition=Q(event_time_start=None), name="node_undated"),
            # Memories that stand in every prompt: finding them costs the same however many others there are.
            models.Index(fields=["persona"], condition=~Q(concern=""), name="node_of_concern"),
            models.Index(fields=["persona"], condition=Q(pinned=True), name="node_pinned"),
            models.Index(fields=["persona"], condition=Q(source="person"), name="node_asked_for"),
            models.Index(
                fields=["persona", "-created_at", "-id"],
                condition=Q(kind="thought", subject="persona"),
                name="node_about_persona",
            ),
        ]
        constraints = [
            models.UniqueConstraint(fields=["persona", "external_id"], name="node_external_id_once"),
            models.CheckConstraint(
                condition=Q(kind__in=["event", "fact", "thought", "intention", "expectation", "lesson"]),
                name="node_kind_known",
            ),
            models.CheckConstraint(
                condition=Q(
                    kind="fact",
                    domain__in=[
                        "about",
                        "people",
                        "health",
                        "likes",
                        "work",
                        "home",
                        "plans",
                        "belongings",
                        "beliefs",
                    ],
                    plan_state__in=["", "planned", "done", "cancelled"],
                )
                | (~Q(kind="fact") & Q(domain="", since="", until="", plan_state="")),
                name="node_domain_of_facts",
            ),
            models.CheckConstraint(
                condition=Q(kind="lesson", scope__in=["always", "topic", "feeling", "person", "name"])
                | (~Q(kind="lesson") & Q(scope="")),
                name="node_scope_of_lessons",
            ),
            models.CheckConstraint(
                condition=Q(subject__in=["user", "persona", "shared", "other"]), name="node_subject_known"
            ),
            models.CheckConstraint(
                condition=Q(status__in=["active", "hidden", "superseded", "archived", "quarantined"]),
                name="node_status_known",
            ),
            models.CheckConstraint(
                condition=Q(emotional_impact__gte=-MAX_IMPACT, emotional_impact__lte=MAX_IMPACT),
                name="node_impact_within_10",
            ),
            models.CheckConstraint(
                condition=Q(confidence__gte=0.0, confidence__lte=1.0), name="node_confidence_0_to_1"
            ),
            models.CheckConstraint(
                condition=Q(event_time_start=None, event_time_end=None) | Q(event_time_start__lte=F("event_time_end")),
                name="node_event_time_in_order",
            ),
            models.CheckConstraint(
                condition=LessThanOrEqual(Length("description"), MAX_DESCRIPTION), name="node_not_too_long"
            ),
            models.CheckConstraint(
                condition=~Q(description=""),
                name="node_not_empty",
            ),
        ]

    @property
    def is_unsure(self) -> bool:
        return is_unsure(self.confidence, self.verification)

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"


L3 = (ConceptNode.Kind.EVENT, ConceptNode.Kind.FACT)


def is_unsure(confidence: float, verification: str) -> bool:
    """Whether somebody disputes the memory, or it is a guess that nobody has confirmed."""
    states = ConceptNode.Verification
    return verification == states.DISPUTED or (confidence < GUESS_BELOW and verification != states.CONFIRMED)


class KindManager(models.Manager[ConceptNode]):
    """The nodes of one kind."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind

    def get_queryset(self) -> models.QuerySet[ConceptNode]:
        return NodeQuerySet(self.model, using=self._db).filter(kind=self.kind)


class NodeVector(models.Model):
    """A node's exact vector: little-endian float32, unit length. Triggers copy it to the search structure (vec0), so
    that a vector is found exactly as long as its node may be recalled."""

    node = models.OneToOneField(
        ConceptNode, models.CASCADE, primary_key=True, related_name="vector", verbose_name=_("node")
    )
    model = models.CharField(_("model"), max_length=200)
    embedding = models.BinaryField()
    text_columns = {"embedding": TextColumn(DELETE_ROW, form="vector", archived=True), "model": NO_WORDS}

    def __str__(self) -> str:
        return f"vector of node {self.pk}"


class NodeText(models.Model):
    """A node's words for the text index: cut into terms and stemmed. Deleted with the node."""

    node = models.OneToOneField(
        ConceptNode, models.CASCADE, primary_key=True, related_name="text", verbose_name=_("node")
    )
    scope = models.CharField(max_length=24, editable=False)
    body = models.TextField(editable=False)
    text_columns = {"body": TextColumn(DELETE_ROW, form="terms"), "scope": NO_WORDS}

    def __str__(self) -> str:
        return f"text of node {self.pk}"

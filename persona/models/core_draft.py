"""Drafts of core blocks: what imported material says for the three texts. A draft is a proposal; a person accepts it,
in its own or in other words, or rejects it."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from echovessel.db.public_id import PublicId
from echovessel.db.text_columns import DELETE_ROW, TextColumn
from persona.models.core_block import MAX_CHARACTERS, Label
from persona.models.persona import Persona


class CoreDraftQuerySet(models.QuerySet["CoreDraft"]):
    def open(self) -> "CoreDraftQuerySet":
        return self.filter(status=CoreDraft.Status.OPEN)


class CoreDraft(PublicId):
    """A sentence or passage that could stand in a core block, with the quotes it rests on."""

    class Status(models.TextChoices):
        OPEN = "open", _("open")
        ACCEPTED = "accepted", _("accepted")
        REJECTED = "rejected", _("rejected")

    persona = models.ForeignKey(Persona, models.CASCADE, related_name="core_drafts", verbose_name=_("persona"))
    label = models.CharField(_("label"), max_length=16, choices=Label)
    text = models.TextField(_("text"), max_length=MAX_CHARACTERS)
    content_hash = models.CharField(_("content hash"), max_length=64, editable=False)
    status = models.CharField(_("status"), max_length=8, choices=Status, default=Status.OPEN)
    import_uuid = models.UUIDField(_("import"), null=True, editable=False)
    created_at = models.DateTimeField(_("created at"))
    decided_at = models.DateTimeField(_("decided at"), null=True, blank=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("decided by")
    )
    text_columns = {
        "text": TextColumn(DELETE_ROW, found_by="restatement", tombstone="draft", archived=True),
        "content_hash": TextColumn(DELETE_ROW),
    }

    objects = CoreDraftQuerySet.as_manager()

    class Meta:
        verbose_name = _("draft of a core block")
        verbose_name_plural = _("drafts of core blocks")
        ordering = ["persona", "label", "id"]
        constraints = [
            models.UniqueConstraint(fields=["persona", "label", "content_hash"], name="core_draft_once"),
            models.CheckConstraint(condition=Q(label__in=Label.values), name="core_draft_label_known"),
            models.CheckConstraint(
                condition=Q(status__in=["open", "accepted", "rejected"]), name="core_draft_status_known"
            ),
            models.CheckConstraint(condition=~Q(text=""), name="core_draft_not_empty"),
        ]

    def __str__(self) -> str:
        return f"draft {self.pk} of a core block"


class DraftQuote(models.Model):
    """A quote that a draft rests on, with its place: a message (`said_in` is its uuid), or a place in the file. When
    the message is forgotten, the draft is, too."""

    draft = models.ForeignKey(CoreDraft, models.CASCADE, related_name="quotes", verbose_name=_("draft"))
    quote = models.TextField(_("quote"))
    said_in = models.UUIDField(_("source session"), null=True, blank=True)
    said_at = models.DateTimeField(_("sent at"), null=True, blank=True)
    where = models.CharField(_("where"), max_length=200, blank=True)
    text_columns = {
        "quote": TextColumn(DELETE_ROW, found_by="restatement", archived=True),
        "where": TextColumn(DELETE_ROW, archived=True),
    }

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["said_in"], condition=~Q(said_in=None), name="draft_quote_of_line")]

    def __str__(self) -> str:
        return f"quote {self.pk} of draft {self.draft_id}"

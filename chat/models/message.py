"""L2, messages: every word of both sides, verbatim. Append-only: no code path edits content."""

from datetime import datetime

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from chat.models.session import Session
from chat.models.turn import Turn
from echovessel.db.public_id import PublicId
from echovessel.db.text_columns import DELETE_ROW, NO_WORDS, TextColumn
from persona.models import Persona

MAX_CHARACTERS = 20_000


class MessageQuerySet(models.QuerySet["Message"]):
    def shown_to_models(self) -> "MessageQuerySet":
        """Messages that may reach a prompt or an extraction."""
        return self.filter(withheld=False).exclude(role=Message.Role.SYSTEM)

    def read_by_models(self) -> "MessageQuerySet":
        """The same and messages of other speakers: they make a session understandable, and are evidence of nothing."""
        return self.filter(withheld=False).exclude(role=Message.Role.SYSTEM, speaker="")

    def before(self, message: "Message") -> "MessageQuerySet":
        return self.filter(Q(created_at__lt=message.created_at) | Q(created_at=message.created_at, id__lt=message.id))

    def after(self, message: "Message") -> "MessageQuerySet":
        return self.filter(Q(created_at__gt=message.created_at) | Q(created_at=message.created_at, id__gt=message.id))

    def on_record(self) -> "MessageQuerySet":
        return self.filter(session__off_the_record=False)

    def without_imports(self) -> "MessageQuerySet":
        """Messages that were not imported: between persona and owner, in this installation."""
        return self.exclude(session__close_reason=Session.CloseReason.IMPORT)

    def since(self, moment: datetime) -> "MessageQuerySet":
        return self.filter(created_at__gte=moment)


class Message(PublicId):
    """One message."""

    class Role(models.TextChoices):
        USER = "user", _("user")
        PERSONA = "persona", _("persona")
        SYSTEM = "system", _("system")

    session = models.ForeignKey(Session, models.CASCADE, related_name="messages", verbose_name=_("session"))
    persona = models.ForeignKey(Persona, models.CASCADE, related_name="messages", verbose_name=_("persona"))
    turn = models.ForeignKey(
        Turn, models.SET_NULL, null=True, blank=True, related_name="messages", verbose_name=_("turn")
    )
    role = models.CharField(_("role"), max_length=8, choices=Role)
    content = models.TextField(_("content"))
    speaker = models.CharField(
        _("speaker"), max_length=80, blank=True, help_text=_("who wrote it, if neither the user nor the persona")
    )
    client_id = models.UUIDField(_("id of the page"), null=True, blank=True, editable=False)
    token_count = models.PositiveIntegerField(_("token count"))
    day = models.DateField(_("day"), help_text=_("in the owner's time zone"))
    created_at = models.DateTimeField(_("created at"))
    withheld = models.BooleanField(_("withheld"), default=False)
    # Withheld because the owner edited it, or undid that: the turn that replaces it.
    replaced_by = models.ForeignKey(
        Turn, models.SET_NULL, null=True, editable=False, related_name="replaced", db_index=False
    )
    import_uuid = models.UUIDField(_("import"), null=True, editable=False)
    text_columns = {
        "content": TextColumn(DELETE_ROW, tombstone="line", cut_in="chat_messagetext.body", archived=True),
        "speaker": TextColumn(DELETE_ROW, archived=True),
    }

    objects = MessageQuerySet.as_manager()

    class Meta:
        verbose_name = _("L2 message")
        verbose_name_plural = _("L2 messages")
        ordering = ["created_at", "id"]
        indexes = [
            models.Index(fields=["persona", "created_at", "id"], name="message_by_time"),
            models.Index(fields=["session", "created_at", "id"], name="message_in_session"),
            models.Index(
                fields=["import_uuid", "role"], condition=Q(import_uuid__isnull=False), name="message_by_import"
            ),
            models.Index(fields=["replaced_by"], condition=Q(replaced_by__isnull=False), name="message_replaced"),
            models.Index(
                fields=["session", "speaker", "withheld"], condition=Q(speaker__gt=""), name="message_speakers"
            ),
        ]
        constraints = [
            # Per persona, not per session: a frame that is sent again after its session closed must still be
            # recognized.
            models.UniqueConstraint(fields=["persona", "client_id"], name="message_client_id_once"),
            models.UniqueConstraint(fields=["persona", "external_id"], name="message_external_id_once"),
            models.UniqueConstraint(fields=["turn"], condition=Q(role="persona"), name="message_one_reply_per_turn"),
            models.CheckConstraint(condition=Q(role__in=["user", "persona", "system"]), name="message_role_known"),
        ]

    def __str__(self) -> str:
        return f"message {self.pk}"


class MessageText(models.Model):
    """A message's words as the text index reads them: tokenized and stemmed. Deleted with the message."""

    message = models.OneToOneField(
        Message, models.CASCADE, primary_key=True, related_name="text", verbose_name=_("message")
    )
    scope = models.CharField(max_length=24, editable=False)
    body = models.TextField(editable=False)
    text_columns = {"body": TextColumn(DELETE_ROW, form="terms"), "scope": NO_WORDS}

    def __str__(self) -> str:
        return f"text of message {self.pk}"

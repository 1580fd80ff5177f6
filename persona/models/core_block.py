"""L1, core blocks: who the persona is, who the owner is, how to speak. People write them, jobs never do."""

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models, transaction
from django.db.models.functions import Length
from django.db.models.lookups import LessThanOrEqual
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from echovessel.db.text_columns import WRITTEN_BY_OWNER
from persona.models.persona import Persona

if TYPE_CHECKING:
    from django.contrib.auth.models import User

MAX_CHARACTERS = 5_000


class Label(models.TextChoices):
    PERSONA = "persona", _("Who the persona is")
    USER = "user", _("Who the user is")
    STYLE = "style", _("How to speak")


def plain_line_breaks(text: str) -> str:
    """Forms send two characters for each line break; the stored text has one."""
    return text.replace("\r\n", "\n")


class CoreBlock(models.Model):
    """One authored text of a persona, one per label. Saving replaces it and keeps the old version."""

    persona = models.ForeignKey(Persona, models.CASCADE, related_name="core_blocks", verbose_name=_("persona"))
    label = models.CharField(_("label"), max_length=16, choices=Label)
    content = models.TextField(_("content"), blank=True, max_length=MAX_CHARACTERS)
    version = models.PositiveIntegerField(_("version"), default=1)
    edited_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+", verbose_name=_("edited by")
    )
    edited_at = models.DateTimeField(_("edited at"), default=timezone.now)
    text_columns = {"content": WRITTEN_BY_OWNER}

    class Meta:
        verbose_name = _("L1 core block")
        verbose_name_plural = _("L1 core blocks")
        ordering = ["persona", "label"]
        constraints = [
            models.UniqueConstraint(fields=["persona", "label"], name="core_block_once_per_label"),
            models.CheckConstraint(condition=models.Q(label__in=Label.values), name="core_block_label_known"),
            models.CheckConstraint(
                condition=LessThanOrEqual(Length("content"), MAX_CHARACTERS), name="core_block_not_too_long"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.label} v{self.version}"

    def rewrite(self, content: str, editor: "User | None") -> bool:
        """Replace the text and keep the old one as a version. False if it is the same. Raises ValidationError if it is
        too long."""
        content = plain_line_breaks(content)
        if content == plain_line_breaks(self.content):
            return False
        with transaction.atomic():
            self.versions.create(
                version=self.version, content=self.content, edited_by=self.edited_by, edited_at=self.edited_at
            )
            self.content, self.version = content, self.version + 1
            self.edited_by, self.edited_at = editor, timezone.now()
            self.full_clean()
            self.save()
            self.persona.drop_model_greeting()
        return True


class CoreBlockVersion(models.Model):
    """An earlier text of a core block."""

    block = models.ForeignKey(CoreBlock, models.CASCADE, related_name="versions", verbose_name=_("block"))
    version = models.PositiveIntegerField(_("version"))
    content = models.TextField(_("content"), blank=True)
    edited_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+", verbose_name=_("edited by")
    )
    edited_at = models.DateTimeField(_("edited at"))
    text_columns = {"content": WRITTEN_BY_OWNER}

    class Meta:
        ordering = ["-version"]
        constraints = [
            models.UniqueConstraint(fields=["block", "version"], name="core_block_version_once"),
        ]

    def __str__(self) -> str:
        return f"v{self.version}"

"""Imports that stored something: all rows of an import carry its uuid, so that it can be forgotten as a whole."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from echovessel.db.public_id import PublicId
from echovessel.db.text_columns import DELETE_ROW, NO_WORDS, TextColumn
from persona.models import Persona


class ImportRun(PublicId):
    """The time of an import and its counts. It holds no words, and no file name."""

    persona = models.ForeignKey(Persona, models.CASCADE, related_name="import_runs", verbose_name=_("persona"))
    at = models.DateTimeField(_("at"))
    counts = models.JSONField(_("counts"), default=dict)
    text_columns = {"counts": NO_WORDS, "external_id": TextColumn(DELETE_ROW)}

    class Meta:
        verbose_name = _("import")
        verbose_name_plural = _("imports")
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"import {self.pk}"

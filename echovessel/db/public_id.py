"""Public ids: people and programs see a UUID; the rowid serves joins and indexes."""

import uuid

from django.db import models
from django.utils.translation import gettext_lazy as _

from echovessel.db.text_columns import DELETE_ROW, TextColumn


class PublicId(models.Model):
    """A row with a public UUID and, if it was imported, its id in the archive."""

    uuid = models.UUIDField(_("id"), default=uuid.uuid4, unique=True, editable=False)
    external_id = models.CharField(_("id in an archive"), max_length=200, null=True, blank=True, editable=False)
    text_columns = {"external_id": TextColumn(DELETE_ROW, tombstone="external", archived=True)}

    class Meta:
        abstract = True


def parse_uuid(text: str) -> uuid.UUID | None:
    """The UUID that `text` spells, or None."""
    try:
        return uuid.UUID(text)
    except ValueError:
        return None

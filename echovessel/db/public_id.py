"""Public identity: what people and programs see is a UUID; the rowid serves joins and indexes."""

import uuid

from django.db import models
from django.utils.translation import gettext_lazy as _

from echovessel.db.text_columns import DELETE_ROW, TextColumn


class PublicId(models.Model):
    """A row with a public UUID, and the id it had in an archive it came from, if any."""

    uuid = models.UUIDField(_("id"), default=uuid.uuid4, unique=True, editable=False)
    external_id = models.CharField(_("id in an archive"), max_length=200, null=True, blank=True, editable=False)
    text_columns = {"external_id": TextColumn(DELETE_ROW, tombstone="external", archived=True)}

    class Meta:
        abstract = True


def parse_uuid(text: str) -> uuid.UUID | None:
    """The id that `text` is, if it is one."""
    try:
        return uuid.UUID(text)
    except ValueError:
        return None

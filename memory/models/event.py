"""L3: events with their emotional weight, and lasting facts, each with the quotes it rests on."""

from typing import ClassVar

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from chat.models import Message
from echovessel.db.text_columns import DELETE_ROW, TextColumn
from memory.models.node import ConceptNode, KindManager


class Event(ConceptNode):
    """Something that happened, distilled from a session."""

    objects: ClassVar[KindManager] = KindManager(ConceptNode.Kind.EVENT)  # type: ignore[assignment]

    class Meta:
        proxy = True
        verbose_name = _("L3 event")
        verbose_name_plural = _("L3 events")


class Fact(ConceptNode):
    """Something lasting about the owner, the persona or somebody else, without a day or an emotional weight."""

    objects: ClassVar[KindManager] = KindManager(ConceptNode.Kind.FACT)  # type: ignore[assignment]

    class Meta:
        proxy = True
        verbose_name = _("L3 fact")
        verbose_name_plural = _("L3 facts")


class Evidence(models.Model):
    """A source of an event or a fact: an exact quote, and its place in the message, in characters."""

    node = models.ForeignKey(ConceptNode, models.CASCADE, related_name="evidence", verbose_name=_("node"))
    message = models.ForeignKey(Message, models.CASCADE, related_name="evidence_for", verbose_name=_("message"))
    quote = models.TextField(_("quote"))
    start = models.PositiveIntegerField(_("start"))
    end = models.PositiveIntegerField(_("end"))
    text_columns = {"quote": TextColumn(DELETE_ROW, tombstone="line", archived=True)}

    class Meta:
        ordering = ["node", "message", "start"]
        constraints = [
            models.UniqueConstraint(fields=["node", "message", "start", "end"], name="evidence_once"),
            models.CheckConstraint(condition=Q(start__lt=F("end")), name="evidence_span_in_order"),
        ]

    def __str__(self) -> str:
        return f"evidence {self.pk}"

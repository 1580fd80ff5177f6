"""L3, events: what happened and how much it weighs, each with the words it came from."""

from typing import ClassVar

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from chat.models import Message
from memory.models.node import ConceptNode, KindManager


class Event(ConceptNode):
    """Something that happened, distilled from a session."""

    objects: ClassVar[KindManager] = KindManager(ConceptNode.Kind.EVENT)  # type: ignore[assignment]

    class Meta:
        proxy = True
        verbose_name = _("L3 event")


class Evidence(models.Model):
    """The words an event came from: an exact quote and its place in the message, in characters."""

    node = models.ForeignKey(ConceptNode, models.CASCADE, related_name="evidence")
    message = models.ForeignKey(Message, models.CASCADE, related_name="evidence_for")
    quote = models.TextField()
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()

    class Meta:
        ordering = ["node", "message", "start"]
        constraints = [
            models.UniqueConstraint(fields=["node", "message", "start", "end"], name="evidence_once"),
            models.CheckConstraint(condition=Q(start__lt=F("end")), name="evidence_span_in_order"),
        ]

    def __str__(self) -> str:
        return f"evidence {self.pk}"

"""Threads: the memories of one matter (a house hunt, an illness, a thesis), from its beginning to its end.

Owners read "story line". Members are ordered by their own days, so no order is stored.
"""

from datetime import date, tzinfo

from django.db import models
from django.db.models import Q
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from echovessel.db.public_id import PublicId
from echovessel.db.text_columns import CLEAR, TextColumn
from memory.models.node import ConceptNode
from persona.models import Persona

MAX_TITLE = 80
# The order of members, oldest first (nearly `day_of`, in SQL).
BY_DAY = (Coalesce("node__event_time_start", "node__created_at__date"), "node_id")


class ThreadQuerySet(models.QuerySet["Thread"]):
    def standing(self) -> "ThreadQuerySet":
        """Threads that nobody has dissolved."""
        return self.filter(dissolved_at=None)


class Thread(PublicId):
    """A matter and its state. A dissolved thread is kept, so that it can be restored and is not created again."""

    class State(models.TextChoices):
        OPEN = "open", pgettext_lazy("story line", "still going on")
        ENDED = "ended", pgettext_lazy("story line", "ended")

    class TitledBy(models.TextChoices):
        SLOW_CYCLE = "slow_cycle", _("slow cycle")
        PERSON = "person", _("a person")

    persona = models.ForeignKey(Persona, models.CASCADE, related_name="threads", verbose_name=_("persona"))
    title = models.CharField(_("title"), max_length=MAX_TITLE)
    titled_by = models.CharField(_("titled by"), max_length=12, choices=TitledBy, default=TitledBy.SLOW_CYCLE)
    state = models.CharField(_("state"), max_length=8, choices=State, default=State.OPEN)
    nodes = models.ManyToManyField(ConceptNode, through="ThreadMember", related_name="threads")
    created_at = models.DateTimeField(_("created at"))
    dissolved_at = models.DateTimeField(_("dissolved at"), null=True, blank=True)
    text_columns = {"title": TextColumn(CLEAR, found_by="restatement", archived=True)}

    objects = ThreadQuerySet.as_manager()

    class Meta:
        verbose_name = _("story line")
        verbose_name_plural = _("story lines")
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["persona", "external_id"], name="thread_external_id_once"),
            models.CheckConstraint(condition=Q(state__in=["open", "ended"]), name="thread_state_known"),
            models.CheckConstraint(condition=~Q(title=""), name="thread_title_not_empty"),
        ]

    def __str__(self) -> str:
        return f"thread {self.pk}"


class ThreadMemberQuerySet(models.QuerySet["ThreadMember"]):
    def current(self) -> "ThreadMemberQuerySet":
        return self.filter(removed_at=None)


class ThreadMember(models.Model):
    """A memory of a thread. A removed member is kept, so that it can be restored and is not added again."""

    thread = models.ForeignKey(Thread, models.CASCADE, related_name="members", verbose_name=_("story line"))
    node = models.ForeignKey(ConceptNode, models.CASCADE, related_name="memberships", verbose_name=_("memory"))
    removed_at = models.DateTimeField(_("taken out at"), null=True, blank=True)

    objects = ThreadMemberQuerySet.as_manager()

    class Meta:
        verbose_name = _("memory of a story line")
        verbose_name_plural = _("memories of a story line")
        constraints = [
            models.UniqueConstraint(fields=["thread", "node"], name="thread_member_once"),
            # A memory belongs to one thread at most.
            models.UniqueConstraint(fields=["node"], condition=Q(removed_at=None), name="thread_of_node"),
        ]

    def __str__(self) -> str:
        return f"member {self.pk} of thread {self.thread_id}"


def day_of(node: ConceptNode, zone: tzinfo) -> date:
    """The day by which members are ordered: the day that the memory is about, else the day it was stored."""
    return node.event_time_start or node.created_at.astimezone(zone).date()

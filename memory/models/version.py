"""Earlier texts of nodes that people corrected."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from echovessel.db.text_columns import DELETE_ROW, NO_WORDS, TextColumn
from echovessel.language.coarse_dates import MAX_COARSE_DATE
from memory.models.node import MAX_CONDITION, MAX_DESCRIPTION, ConceptNode


class NodeVersion(models.Model):
    """The state of a node before `edited_by` changed it. Deleted with the node."""

    node = models.ForeignKey(ConceptNode, models.CASCADE, related_name="versions", verbose_name=_("node"))
    version = models.PositiveIntegerField(_("version"))
    description = models.TextField(_("description"), max_length=MAX_DESCRIPTION)
    emotional_impact = models.SmallIntegerField(_("emotional impact"))
    emotion_tags = models.JSONField(_("emotion tags"), default=list)
    relational_tags = models.JSONField(_("relational tags"), default=list)
    event_time_start = models.DateField(_("event time start"), null=True)
    event_time_end = models.DateField(_("event time end"), null=True)
    verification = models.CharField(_("verification"), max_length=12, choices=ConceptNode.Verification)
    scope = models.CharField(_("when"), max_length=8, choices=ConceptNode.Scope, blank=True, default="")
    condition = models.CharField(_("which"), max_length=MAX_CONDITION, blank=True, default="")
    is_boundary = models.BooleanField(_("leave it alone"), default=False)
    domain = models.CharField(_("about"), max_length=12, choices=ConceptNode.Domain, blank=True, default="")
    since = models.CharField(_("since"), max_length=MAX_COARSE_DATE, blank=True, default="")
    until = models.CharField(_("until"), max_length=MAX_COARSE_DATE, blank=True, default="")
    plan_state = models.CharField(
        _("state of the plan"), max_length=12, choices=ConceptNode.PlanState, blank=True, default=""
    )
    edited_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+", verbose_name=_("edited by")
    )
    edited_at = models.DateTimeField(_("edited at"))
    text_columns = {
        "description": TextColumn(DELETE_ROW, tombstone="text", archived=True),
        "emotion_tags": TextColumn(DELETE_ROW, archived=True),
        "condition": TextColumn(DELETE_ROW, archived=True),
        "relational_tags": NO_WORDS,
        "since": NO_WORDS,
        "until": NO_WORDS,
    }

    class Meta:
        ordering = ["node", "-version"]
        constraints = [models.UniqueConstraint(fields=["node", "version"], name="node_version_once")]

    def __str__(self) -> str:
        return f"version {self.version} of node {self.node_id}"

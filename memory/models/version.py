"""What a node said before a person corrected it."""

from django.conf import settings
from django.db import models

from memory.models.node import MAX_DESCRIPTION, ConceptNode


class NodeVersion(models.Model):
    """One state of a node as it was until `edited_by` changed it. Gone with the node."""

    node = models.ForeignKey(ConceptNode, models.CASCADE, related_name="versions")
    version = models.PositiveIntegerField()
    description = models.TextField(max_length=MAX_DESCRIPTION)
    emotional_impact = models.SmallIntegerField()
    emotion_tags = models.JSONField(default=list)
    relational_tags = models.JSONField(default=list)
    event_time_start = models.DateField(null=True)
    event_time_end = models.DateField(null=True)
    verification = models.CharField(max_length=12, choices=ConceptNode.Verification)
    edited_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    edited_at = models.DateTimeField()

    class Meta:
        ordering = ["node", "-version"]
        constraints = [models.UniqueConstraint(fields=["node", "version"], name="node_version_once")]

    def __str__(self) -> str:
        return f"version {self.version} of node {self.node_id}"

"""The desk's pages of L3 and L4: what remains, with the words it came from beside it."""

from django.contrib import admin
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext_lazy as _

from echovessel.desk import Seen, SeenInline, excerpt
from memory.models import ConceptNode, Event, Evidence, Expectation, Filling, Intention, Mention, Thought


class EvidenceInline(SeenInline):
    model = Evidence
    verbose_name_plural = _("the words it came from")
    fields = ["said_at", "said_by", "quote"]
    readonly_fields = ["said_at", "said_by", "quote"]

    @admin.display(description=_("said at"))
    def said_at(self, evidence: Evidence) -> str:
        return date_format(timezone.localtime(evidence.message.created_at), "DATETIME_FORMAT")

    @admin.display(description=_("said by"))
    def said_by(self, evidence: Evidence) -> str:
        return str(evidence.message.get_role_display())


class FillingInline(SeenInline):
    model = Filling
    fk_name = "parent"
    verbose_name_plural = _("what it was concluded from")
    fields = ["source", "orphaned"]
    readonly_fields = ["source", "orphaned"]

    @admin.display(description=_("memory"))
    def source(self, filling: Filling) -> str:
        return filling.child.description if filling.child else "–"


class DependentInline(SeenInline):
    model = Filling
    fk_name = "child"
    verbose_name_plural = _("what was concluded from it")
    fields = ["conclusion", "orphaned"]
    readonly_fields = ["conclusion", "orphaned"]

    @admin.display(description=_("memory"))
    def conclusion(self, filling: Filling) -> str:
        return filling.parent.description


class MentionInline(SeenInline):
    model = Mention
    verbose_name_plural = _("who and what it is about")
    fields = ["entity_name"]
    readonly_fields = ["entity_name"]

    @admin.display(description=_("name"))
    def entity_name(self, mention: Mention) -> str:
        return mention.entity.canonical_name


class NodeAdmin(Seen):
    """What the pages of events and of thoughts share."""

    list_display = [
        "created_at",
        "persona",
        "beginning",
        "emotional_impact",
        "status",
        "verification",
        "source",
    ]
    list_filter = ["status", "verification", "source", "subject", "emotional_impact"]
    list_select_related = ["persona"]
    search_fields = ["description", "persona__name", "uuid", "external_id"]
    inlines = [EvidenceInline, FillingInline, MentionInline, DependentInline]

    @admin.display(description=_("memory"))
    def beginning(self, node: ConceptNode) -> str:
        return excerpt(node.description)


for model in (Event, Thought, Intention, Expectation):
    admin.site.register(model, NodeAdmin)

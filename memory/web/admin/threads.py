"""The admin's pages of story lines: their titles, states and memories; read here, changed by their owner."""

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from echovessel.admin import AboutPersona, Lately, ReadOnlyAdmin, ReadOnlyInline, excerpt
from memory.models import Thread, ThreadMember


class MemberInline(ReadOnlyInline):
    model = ThreadMember
    verbose_name_plural = _("memories")
    fields = ["memory", "removed_at"]
    readonly_fields = ["memory"]
    related = ["node"]

    @admin.display(description=_("memory"))
    def memory(self, member: ThreadMember) -> str:
        return excerpt(member.node.description)


@admin.register(Thread)
class ThreadAdmin(ReadOnlyAdmin):
    """One story line."""

    words = ["title"]
    list_display = ["created_at", "title", "persona", "state", "titled_by", "dissolved_at"]
    list_filter = ["state", "titled_by", Lately, AboutPersona]
    list_select_related = ["persona"]
    search_fields = ["title", "uuid"]
    inlines = [MemberInline]

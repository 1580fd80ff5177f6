"""The desk's pages of L2: what was said, as it was said."""

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from chat.models import Message, Session, Turn
from echovessel.desk import Seen, SeenInline, excerpt


class MessageInline(SeenInline):
    model = Message
    fields = ["created_at", "role", "content", "withheld"]
    ordering = ["created_at", "id"]
    show_change_link = True


@admin.register(Session)
class SessionAdmin(Seen):
    list_display = [
        "id",
        "persona",
        "status",
        "started_at",
        "close_reason",
        "message_count",
        "trivial",
        "failure",
    ]
    list_filter = ["status", "close_reason", "trivial"]
    list_select_related = ["persona"]
    search_fields = ["summary", "persona__name", "uuid", "external_id"]
    inlines = [MessageInline]


@admin.register(Message)
class MessageAdmin(Seen):
    list_display = ["created_at", "persona", "role", "beginning", "withheld"]
    list_filter = ["role", "withheld"]
    list_select_related = ["persona"]
    search_fields = ["content", "persona__name", "uuid", "external_id"]
    exclude = ["text"]

    @admin.display(description=_("words"))
    def beginning(self, message: Message) -> str:
        return excerpt(message.content)


@admin.register(Turn)
class TurnAdmin(Seen):
    list_display = ["id", "persona", "status", "error", "started_at", "finished_at"]
    list_filter = ["status", "error"]
    list_select_related = ["persona"]
    search_fields = ["persona__name", "uuid"]
    inlines = [MessageInline]

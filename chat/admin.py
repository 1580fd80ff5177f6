"""Admin pages of L2: messages as they were written, and the crisis flags raised for some of them."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from chat import search
from chat.care import flags as care_flags
from chat.models import CrisisFlag, Message, Session, Turn
from echovessel.admin import AboutPersona, InSession, Lately, ReadOnlyAdmin, ReadOnlyInline, WordsIndexed, excerpt


class MessageInline(ReadOnlyInline):
    model = Message
    fields = ["created_at", "role", "speaker", "content", "withheld"]
    ordering = ["created_at", "id"]
    show_change_link = True


class TurnMessageInline(MessageInline):
    fk_name = "turn"


@admin.register(Session)
class SessionAdmin(ReadOnlyAdmin):
    words = ["summary", "beginning", "failure"]
    forgets = "session"
    list_display = ["started_at", "beginning", "persona", "status", "close_reason", "message_count", "failure"]
    list_filter = ["status", "close_reason", "trivial", Lately.of("started_at"), AboutPersona]
    list_select_related = ["persona"]
    search_fields = ["summary", "persona__name", "uuid", "persona__uuid"]
    readonly_fields = ["all_lines"]
    inlines = [MessageInline]

    @admin.display(description=_("about"))
    def beginning(self, session: Session) -> str:
        return excerpt(session.summary) or "–"

    @admin.display(description=_("messages"))
    def all_lines(self, session: Session) -> str:
        address = f"{reverse('admin:chat_message_changelist')}?session={session.pk}"
        return format_html('<a href="{}">{}</a>', address, session.message_count)


@admin.register(Message)
class MessageAdmin(WordsIndexed, ReadOnlyAdmin):
    words = ["content", "beginning", "speaker"]
    forgets = "message"
    substrings = search.SUBSTRINGS
    list_display = ["created_at", "beginning", "role", "persona", "withheld"]
    list_filter = ["role", "withheld", Lately, AboutPersona, InSession]
    list_select_related = ["persona"]
    search_fields = ["content", "uuid"]
    exclude = ["text"]
    actions = ["point_out"]

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(require_POST(self.point_out_message))
        return [path("<int:key>/point-out/", view, name="chat_message_point_out"), *super().get_urls()]

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """Add the flag, for users who may see it, and the button that raises one."""
        sets = super().get_fieldsets(request, obj)
        if obj is None or not (may_see_flags(request) or self._may_point_out(request, obj)):
            return sets
        column = self._named("pointed_out", lambda message: self._flag(request, message))
        return [*sets, (None, {"fields": [column]})]

    def has_point_out_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("chat.add_crisisflag")

    @admin.action(description=_("Raise a crisis flag"), permissions=["point_out"])
    def point_out(self, request: HttpRequest, messages: QuerySet[Message]) -> None:
        """Raise a flag for each message that this user may read."""
        now = timezone.now()
        selected_messages = [
            message for message in self.limited_rows(request, messages) if self._may_point_out(request, message)
        ]
        flagged_messages = [
            message
            for message in selected_messages
            if care_flags.raise_flag(message, request.user, now)  # type: ignore[arg-type]
        ]
        for message in flagged_messages:
            self.log_change(request, message, "crisis flag raised")
        text = ngettext("%(count)d flag was raised.", "%(count)d flags were raised.", len(flagged_messages))
        self.message_user(request, text % {"count": len(flagged_messages)})

    def point_out_message(self, request: HttpRequest, key: int) -> HttpResponse:
        message = get_object_or_404(self.get_queryset(request), pk=key)
        if not self._may_point_out(request, message):
            raise PermissionDenied
        self.point_out(request, Message.objects.filter(pk=key))
        return redirect("admin:chat_message_change", key)

    def _may_point_out(self, request: HttpRequest, message: Message) -> bool:
        return self.has_point_out_permission(request) and self.reads(request, message)

    def _flag(self, request: HttpRequest, message: Message) -> str:
        flag = CrisisFlag.objects.filter(message=message).first() if may_see_flags(request) else None
        if flag is not None:
            address = reverse("admin:chat_crisisflag_change", args=[flag.pk])
            return format_html('<a href="{}">{}</a>', address, _("seen") if flag.seen_at else _("not seen yet"))
        if not self._may_point_out(request, message):
            return str(_("none"))
        address = reverse("admin:chat_message_point_out", args=[message.pk])
        label = _("Raise a crisis flag")
        return format_html(
            '<button type="submit" form="object-actions" class="button" formaction="{}">{}</button>', address, label
        )

    @admin.display(description=_("crisis flag"))
    def pointed_out(self, message: Message) -> str:
        """Show the flag that `get_fieldsets` adds."""
        return ""

    @admin.display(description=_("message"))
    def beginning(self, message: Message) -> str:
        return excerpt(message.content)


@admin.register(Turn)
class TurnAdmin(ReadOnlyAdmin):
    words = ["partial", "xray"]
    unlisted = ["partial", "xray", "usage"]
    list_display = ["id", "persona", "status", "error", "started_at", "finished_at"]
    list_filter = ["status", Lately, AboutPersona, InSession]
    list_select_related = ["persona"]
    search_fields = ["uuid", "persona__uuid"]
    inlines = [TurnMessageInline]


@admin.register(CrisisFlag)
class CrisisFlagAdmin(ReadOnlyAdmin):
    """Flagged messages, which somebody with permission should look at soon."""

    words = ["line"]
    persona_path = "message.persona"
    list_display = ["raised_at", "persona", "line", "raised_by", "seen_at", "seen_by"]
    list_filter = [("seen_at", admin.EmptyFieldListFilter), Lately.of("raised_at")]
    list_select_related = ["message__persona", "raised_by", "seen_by"]
    ordering: ClassVar = ["-raised_at", "-id"]
    search_fields = ["message__uuid", "message__persona__uuid"]
    fields = ["line", "raised_at", "raised_by", "seen_at", "seen_by"]
    readonly_fields = ["line"]
    actions = ["mark_seen"]
    on_page = ["mark_seen"]

    def waits(self, row: CrisisFlag) -> bool:
        return row.seen_at is None

    def has_mark_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("chat.change_crisisflag")

    @admin.action(description=_("Mark as seen"), permissions=["mark"])
    def mark_seen(self, request: HttpRequest, flags: QuerySet[CrisisFlag]) -> None:
        now = timezone.now()
        rows = self.limited_rows(request, flags)
        seen_flags = [flag for flag in rows if care_flags.mark_seen(flag, request.user, now)]  # type: ignore[arg-type]
        for flag in seen_flags:
            self.log_change(request, flag, "seen")
        text = ngettext("%(count)d flag is marked as seen.", "%(count)d flags are marked as seen.", len(seen_flags))
        self.message_user(request, text % {"count": len(seen_flags)}, messages.SUCCESS)

    def changelist_view(self, request: HttpRequest, extra_context: Mapping[str, Any] | None = None) -> HttpResponse:
        return super().changelist_view(request, {**(extra_context or {}), "told": WHAT_FLAGS_ARE})

    @admin.display(description=_("persona"))
    def persona(self, flag: CrisisFlag) -> str:
        return str(flag.message.persona)

    @admin.display(description=_("message"))
    def line(self, flag: CrisisFlag) -> str:
        address = reverse("admin:chat_message_change", args=[flag.message_id])
        return format_html('<a href="{}">{}</a>', address, excerpt(flag.message.content))


def may_see_flags(request: HttpRequest) -> bool:
    return request.user.has_perm("chat.view_crisisflag")


WHAT_FLAGS_ARE = _(
    "A crisis flag marks a message that somebody should look at soon, because the person who wrote it may be in "
    "danger. Messages that speak of suicide or of not being able to go on are flagged automatically, whether they "
    "are meant so or not. You can also flag messages by hand, on the page of a message or in the list. Flags "
    "appear only here; nobody is notified. This page needs a permission of its own, and reading the message needs "
    "the permission to read messages."
)

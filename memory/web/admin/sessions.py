"""Admin pages of sessions and turns with what memory knows of them, and of consolidation's own rows."""

import json

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from chat.admin import SessionAdmin, TurnAdmin
from chat.models import Session, Turn
from chat.sessions import close
from echovessel.admin import AboutPersona, InSession, Lately, ReadOnlyAdmin, ReadOnlyInline
from memory.consolidation import runner
from memory.models import Extraction, ModelReply, ReflectionRun
from memory.web.presenters import xray


class ModelReplyInline(ReadOnlyInline):
    model = ModelReply
    verbose_name_plural = _("unused model replies")
    fields = ["step", "text"]


admin.site.unregister(Session)


@admin.register(Session)
class RememberedSessionAdmin(SessionAdmin):
    """A session with the results of its consolidation; a failed one can be retried."""

    inlines = [ModelReplyInline, *SessionAdmin.inlines]
    actions = ["try_again"]
    on_page = ["try_again"]

    def waits(self, row: Session) -> bool:
        return row.status == Session.Status.FAILED

    def has_try_again_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("chat.change_session")

    @admin.action(description=_("Retry the failed ones"), permissions=["try_again"])
    def try_again(self, request: HttpRequest, sessions: QuerySet[Session]) -> None:
        retried = [session for session in sessions if runner.retry(session)]
        for session in retried:
            close.enqueue_consolidation(session)
        text = ngettext("%(count)d session is queued again.", "%(count)d sessions are queued again.", len(retried))
        self.message_user(request, text % {"count": len(retried)})


admin.site.unregister(Turn)


@admin.register(Turn)
class ExplainedTurnAdmin(TurnAdmin):
    """A turn with the x-ray of its recall in numbers."""

    words = ["partial", "recalled", "account"]
    exclude = ["xray"]
    readonly_fields = ["recalled", "account"]

    @admin.display(description=_("recalled memories"))
    def recalled(self, turn: Turn) -> str:
        return render_to_string("admin/memory/_xray.html", xray.xray_context(turn))

    @admin.display(description=_("stored x-ray"))
    def account(self, turn: Turn) -> str:
        text = json.dumps(turn.xray, ensure_ascii=False, indent=1)
        return format_html("<details><summary>{}</summary><pre>{}</pre></details>", _("show"), text)


@admin.register(Extraction)
class ExtractionAdmin(ReadOnlyAdmin):
    words = ["answer"]
    persona_path = "session.persona"
    unlisted = ["answer"]
    list_display = ["id", "session", "chunk", "dropped", "created_at", "applied_at"]
    list_filter = [Lately, InSession]
    list_select_related = ["session__persona"]
    search_fields = ["session__uuid"]


@admin.register(ReflectionRun)
class ReflectionRunAdmin(ReadOnlyAdmin):
    list_display = ["at", "persona", "reason", "thoughts", "dropped"]
    list_filter = ["reason", Lately.of("at"), AboutPersona]
    list_select_related = ["persona"]
    search_fields = ["persona__name", "persona__uuid"]

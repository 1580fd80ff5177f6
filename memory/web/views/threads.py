"""The owner's story lines: matters of several weeks, with their memories; renamed, ended, corrected, dissolved."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_POST

from echovessel.db.public_id import parse_uuid
from memory.curation import threads as curation
from memory.curation.threads import MEMBER_ACTIONS, THREAD_ACTIONS, TitleRefused
from memory.models import ConceptNode, Thread, ThreadMember
from memory.web.presenters.threads import present_thread
from memory.web.views.base import page, persona_page
from persona.models import Persona

MAX_DISSOLVED = 10  # the latest ones; the page can restore them
ACTION_MESSAGES = {
    "rename": _("Renamed."),
    "end": _("Noted: this has ended."),
    "reopen": _("Noted: this is still going on."),
    "dissolve": _("Dissolved. The memories are kept; you can restore the story line below."),
    "restore": _("Restored."),
    "take_out": _("Taken out. The memory itself is kept; you can put it back below."),
    "put_back": _("Put back."),
}
UNCHANGED = _("Nothing was changed.")


@persona_page
@require_http_methods(["GET", "HEAD"])
def threads(request: HttpRequest, persona: Persona) -> HttpResponse:
    """All story lines, those with the newest memories first."""
    dissolved = persona.threads.exclude(dissolved_at=None).order_by("-dissolved_at")
    context = {
        "lines": [present_thread(thread) for thread in curation.newest_first(persona)],
        "dissolved": list(dissolved[:MAX_DISSOLVED]),
    }
    return page(request, persona, "memory/threads.html", context)


@persona_page
@require_http_methods(["GET", "HEAD"])
def thread(request: HttpRequest, persona: Persona, thread: UUID) -> HttpResponse:
    """One story line with all its memories, and those that were taken out."""
    row = _own_thread(persona, thread)
    removed = ThreadMember.objects.filter(thread=row).exclude(removed_at=None).select_related("node")
    context = {
        "line": present_thread(row),
        "removed": [] if row.dissolved_at else [member.node for member in removed.order_by("-removed_at")],
    }
    return page(request, persona, "memory/thread.html", context)


@persona_page
@require_POST
def thread_action(request: HttpRequest, persona: Persona, thread: UUID, action: str) -> HttpResponse:
    """Carry out an action on a story line, or on one of its memories."""
    row = _own_thread(persona, thread)
    is_done = True
    if action == "rename":
        try:
            curation.rename(row, request.POST.get("title", ""))
        except TitleRefused as error:
            messages.error(request, str(error))
            return redirect("story_line", persona.uuid, row.uuid)
    elif action in MEMBER_ACTIONS:
        uuid = parse_uuid(request.POST.get("node", ""))
        is_done = MEMBER_ACTIONS[action](
            row, get_object_or_404(ConceptNode.objects.of(persona), uuid=uuid), timezone.now()
        )
    else:
        is_done = THREAD_ACTIONS[action](row, timezone.now())
    messages.success(request, str(ACTION_MESSAGES[action] if is_done else UNCHANGED))
    if action == "dissolve":
        return redirect("story_lines", persona.uuid)
    return redirect("story_line", persona.uuid, row.uuid)


def _own_thread(persona: Persona, thread: UUID) -> Thread:
    return get_object_or_404(curation.with_members(persona.threads.all()), uuid=thread)

"""Drafts for the core blocks, for the owner to accept, change or reject."""

from typing import Any, cast
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from echovessel.db.public_id import parse_uuid
from memory.web.views.base import page, persona_page
from persona.models import CoreDraft, Persona
from persona.models.core_block import MAX_CHARACTERS, Label
from persona.onboarding import drafts as deciding
from persona.onboarding import review
from persona.onboarding.drafts import DraftRefused

ACTIONS = ("accept", "reject")
LABELS = tuple(Label.values)
MAX_AT_ONCE = 100


@persona_page
@require_http_methods(["GET", "HEAD"])
def drafts(request: HttpRequest, persona: Persona) -> HttpResponse:
    """The drafts for each of the three core blocks, with their evidence."""
    return _drafts_page(request, persona)


@persona_page
@require_POST
def draft_action(request: HttpRequest, persona: Persona, draft: UUID, action: str) -> HttpResponse:
    """Accept a draft, in its own wording or in that of the form; or reject it."""
    row = get_object_or_404(CoreDraft.objects.filter(persona=persona), uuid=draft)
    by, now = cast(User, request.user), timezone.now()
    try:
        if action == "accept":
            deciding.accept(row, request.POST.get("text"), by, now)
        else:
            deciding.reject(row, by, now)
    except DraftRefused as error:
        refused: dict[str, Any] = {"refused": row.uuid, "trouble": error.message, "typed": request.POST.get("text")}
        return _drafts_page(request, persona, refused, status=409 if error.code == "decided" else 422)
    messages.success(request, _("Accepted.") if action == "accept" else _("Dismissed."))
    return redirect(reverse("drafts", args=[persona.uuid]) + f"#{row.label}")


@persona_page
@require_POST
def accept_all(request: HttpRequest, persona: Persona, label: str) -> HttpResponse:
    """Accept every shown draft of one core block, in order, while there is room."""
    shown_drafts = [
        draft_uuid for text in request.POST.getlist("draft")[:MAX_AT_ONCE] if (draft_uuid := parse_uuid(text))
    ]
    accepted = 0
    for draft in review.waiting_of(persona).filter(label=label, uuid__in=shown_drafts).order_by("id"):
        try:
            deciding.accept(draft, None, cast(User, request.user), timezone.now())
        except DraftRefused as error:
            messages.error(request, error.message)
            break
        accepted += 1
    if accepted:
        words = ngettext("%(count)d draft accepted.", "%(count)d drafts accepted.", accepted) % {"count": accepted}
        messages.success(request, words)
    return redirect(reverse("drafts", args=[persona.uuid]) + f"#{label}")


def _drafts_page(
    request: HttpRequest, persona: Persona, more: dict[str, Any] | None = None, status: int = 200
) -> HttpResponse:
    blocks = review.review_blocks(persona)
    context = {"blocks": blocks, "waiting": sum(len(block.drafts) for block in blocks), "most": MAX_CHARACTERS}
    return page(request, persona, "memory/drafts.html", context | (more or {}), status=status)

"""Fragments of the chat page: what remains, and why a reply was what it was."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone

from chat.models import Turn
from memory import timeline as timelines
from memory import why
from persona.lookup import own_persona


def timeline(request: HttpRequest, persona: UUID) -> HttpResponse:
    """What remains, newest first."""
    found = own_persona(request, persona)
    with timezone.override(found.zone):
        return render(request, "memory/_timeline.html", {"persona": found, "rows": timelines.rows(found)})


def turn_xray(request: HttpRequest, persona: UUID, turn: UUID) -> HttpResponse:
    """What was recalled for a reply, in plain words."""
    found = own_persona(request, persona)
    asked = get_object_or_404(Turn, persona=found, uuid=turn)
    with timezone.override(found.zone):
        return render(request, "memory/_xray.html", why.explained(asked))

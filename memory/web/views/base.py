"""The common frame of all pages of memory: ownership, and what a browser may store of them (nothing)."""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Concatenate, ParamSpec
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from memory.models import MergeProposal
from persona.lookup import own_persona
from persona.models import CoreDraft, Persona

P = ParamSpec("P")
FETCHED = "fetch"


def persona_page(view: Callable[Concatenate[HttpRequest, Persona, P], HttpResponse]) -> Callable[..., HttpResponse]:
    """Call the view with the caller's persona instead of its id (404 for anybody else's), in the owner's time zone."""

    @wraps(view)
    def answered(request: HttpRequest, persona: UUID, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        own = own_persona(request, persona)
        with timezone.override(own.zone):
            return view(request, own, *args, **kwargs)

    return answered


def page(
    request: HttpRequest, persona: Persona, template: str, context: Mapping[str, Any], status: int = 200
) -> HttpResponse:
    """Render the page with the context of its header."""
    around = {
        "persona": persona,
        "questions": MergeProposal.objects.of(persona).open().count(),
        "waiting_drafts": CoreDraft.objects.open().filter(persona=persona).count(),
    }
    return render(request, template, around | dict(context), status=status)


def is_fragment(request: HttpRequest) -> bool:
    """Whether a script of the page requests a part of it."""
    return request.headers.get("X-Requested-With") == FETCHED

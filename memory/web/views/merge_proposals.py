"""The question whether two names mean the same: asked, answered, and undone."""

from collections.abc import Callable
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.models import AbstractBaseUser
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_POST

from echovessel.db.public_id import parse_uuid
from memory.entities import merge
from memory.entities.merge import LaterMergeStands
from memory.models import Entity, MergeProposal
from memory.web.presenters.merge_proposals import DECIDED, MAX_PAIRS, proposal_context
from memory.web.views.base import page, persona_page
from persona.models import Persona

MAX_LISTED = 300
RESULT_MESSAGES = {
    "merge": _("Merged. You can undo this below."),
    "apart": _("Kept apart. You will not be asked about them again."),
    "undo": _("Undone: everything is as it was before."),
    "nothing": _("Nothing was changed."),
    "later": _("One of the two was merged again later. Undo that merge first."),
    "refused": _("This is not possible."),
}


@persona_page
@require_http_methods(["GET", "HEAD"])
def names(request: HttpRequest, persona: Persona) -> HttpResponse:
    """The undecided pairs, newest first; and the last decisions."""
    proposals = MergeProposal.objects.of(persona).select_related("a", "b").prefetch_related("a__aliases", "b__aliases")
    before = parse_uuid(request.GET.get("before", ""))
    last = MergeProposal.objects.of(persona).filter(uuid=before).first() if before else None
    questions = list((proposals.open().filter(pk__lt=last.pk) if last else proposals.open())[: MAX_PAIRS + 1])
    decided = proposals.filter(status__in=DECIDED)
    context = {
        "open": [proposal_context(proposal) for proposal in questions[:MAX_PAIRS]],
        "before": last,
        "next": questions[MAX_PAIRS - 1].uuid if len(questions) > MAX_PAIRS else "",
        "decided": [proposal_context(proposal) for proposal in decided.order_by("-decided_at")[:MAX_PAIRS]],
        "known": list(persona.entities.exclude(status=Entity.Status.MERGED)[:MAX_LISTED]),
    }
    return page(request, persona, "memory/names.html", context)


@persona_page
@require_POST
def name_action(request: HttpRequest, persona: Persona, proposal: UUID, action: str) -> HttpResponse:
    """Decide about a pair, or undo the decision."""
    row = get_object_or_404(MergeProposal.objects.of(persona).select_related("a", "b"), uuid=proposal)
    _decide(request, action, lambda by: merge.DECISIONS[action](row, by, timezone.now()))
    before = parse_uuid(request.POST.get("before", ""))
    return redirect(reverse("memory_names", args=[persona.uuid]) + (f"?before={before}" if before else ""))


@persona_page
@require_POST
def merge_two(request: HttpRequest, persona: Persona) -> HttpResponse:
    """Merge two entities without an open question."""
    first, other = (own_entity(persona, parse_uuid(request.POST.get(side, ""))) for side in ("one", "other"))
    if first.pk == other.pk:
        messages.error(request, str(RESULT_MESSAGES["refused"]))
    else:
        _decide(request, "merge", lambda by: bool(merge.merge_pair(first, other, by, timezone.now())))
    return redirect("memory_names", persona.uuid)


def _decide(request: HttpRequest, action: str, decide: Callable[[AbstractBaseUser], bool]) -> None:
    try:
        outcome = decide(request.user)  # type: ignore[arg-type]
    except LaterMergeStands:
        messages.error(request, str(RESULT_MESSAGES["later"]))
    except ValueError:
        messages.error(request, str(RESULT_MESSAGES["refused"]))
    else:
        messages.success(request, str(RESULT_MESSAGES[action if outcome else "nothing"]))


def own_entity(persona: Persona, uuid: UUID | None) -> Entity:
    """The persona's entity with that id, if it is not merged into another one; else Http404."""
    return get_object_or_404(persona.entities.exclude(status=Entity.Status.MERGED), uuid=uuid)

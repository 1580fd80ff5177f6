"""The question whether two names are one: asked, answered, and the answer taken back."""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.models import AbstractBaseUser
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_POST

from memory.entities import merge
from memory.entities.merge import LaterMergeStands
from memory.entities.proposal_reasons import REASONS
from memory.models import ConceptNode, Entity, MergeProposal
from memory.web.views.base import page, persona_page, uuid_of
from persona.models import Persona

MOST_LISTED = 300
MOST_BESIDE = 5
MOST_PAIRS = 20
SHOWN = (ConceptNode.Status.ACTIVE, ConceptNode.Status.HIDDEN)
SAID = {
    "merge": _("They are one from now on. You can take it back below."),
    "apart": _("They are two, and you are not asked about them again."),
    "undo": _("Taken back: all is as it was."),
    "nothing": _("There was nothing to change."),
    "later": _("One of the two was merged again after this. Take that back first."),
    "refused": _("This is not possible."),
}
DECISIONS: Mapping[str, merge.Decision] = {
    "merge": merge.merge,
    "apart": merge.keep_apart,
    "undo": merge.undo,
}


@persona_page
@require_http_methods(["GET", "HEAD"])
def names(request: HttpRequest, persona: Persona) -> HttpResponse:
    """The pairs of which nobody knows whether they are one, the newest questions first; and what was decided last."""
    theirs = MergeProposal.objects.of(persona).select_related("a", "b").prefetch_related("a__aliases", "b__aliases")
    before = uuid_of(request.GET.get("before", ""))
    last = MergeProposal.objects.of(persona).filter(uuid=before).first() if before else None
    questions = list((theirs.open().filter(pk__lt=last.pk) if last else theirs.open())[: MOST_PAIRS + 1])
    decided = theirs.filter(status__in=[MergeProposal.Status.MERGED, MergeProposal.Status.KEPT_APART])
    context = {
        "open": [proposal_context(one) for one in questions[:MOST_PAIRS]],
        "before": last,
        "next": questions[MOST_PAIRS - 1].uuid if len(questions) > MOST_PAIRS else "",
        "decided": [proposal_context(one) for one in decided.order_by("-decided_at")[:MOST_PAIRS]],
        "known": list(persona.entities.exclude(status=Entity.Status.MERGED)[:MOST_LISTED]),
    }
    return page(request, persona, "memory/names.html", context)


@persona_page
@require_POST
def name_deed(request: HttpRequest, persona: Persona, proposal: UUID, deed: str) -> HttpResponse:
    """Decide about a pair, or take the decision back."""
    found = get_object_or_404(MergeProposal.objects.of(persona).select_related("a", "b"), uuid=proposal)
    _tell(request, deed, lambda by: DECISIONS[deed](found, by, timezone.now()))
    before = uuid_of(request.POST.get("before", ""))
    return redirect(reverse("memory_names", args=[persona.uuid]) + (f"?before={before}" if before else ""))


@persona_page
@require_POST
def merge_two(request: HttpRequest, persona: Persona) -> HttpResponse:
    """Make two one that nobody asked about."""
    one, other = (own_entity(persona, uuid_of(request.POST.get(side, ""))) for side in ("one", "other"))
    if one.pk == other.pk:
        messages.error(request, str(SAID["refused"]))
    else:
        _tell(request, "merge", lambda by: bool(merge.merge_pair(one, other, by, timezone.now())))
    return redirect("memory_names", persona.uuid)


def _tell(request: HttpRequest, deed: str, decide: Callable[[AbstractBaseUser], bool]) -> None:
    try:
        done = decide(request.user)  # type: ignore[arg-type]
    except LaterMergeStands:
        messages.error(request, str(SAID["later"]))
    except ValueError:
        messages.error(request, str(SAID["refused"]))
    else:
        messages.success(request, str(SAID[deed if done else "nothing"]))


def own_entity(persona: Persona, uuid: UUID | None) -> Entity:
    """The persona's entity of that id, where it does not live on in another one; else Http404."""
    return get_object_or_404(persona.entities.exclude(status=Entity.Status.MERGED), uuid=uuid)


def proposal_context(proposal: MergeProposal) -> dict[str, Any]:
    """A pair, with what is remembered of each."""
    return {
        "proposal": proposal,
        "sides": [_side(proposal.a), _side(proposal.b)],
        "reasons": [str(REASONS.get(reason, reason)) for reason in proposal.reasons],
        "is_merged": proposal.status == MergeProposal.Status.MERGED,
    }


def _side(entity: Entity) -> dict[str, Any]:
    nodes = ConceptNode.objects.filter(mentions__entity=entity, status__in=SHOWN).newest_first()[:MOST_BESIDE]
    names = [alias.text for alias in entity.aliases.all() if alias.text != entity.canonical_name]
    return {"entity": entity, "names": names, "nodes": list(nodes)}


def decided_about(entity: Entity) -> list[dict[str, Any]]:
    """What was decided about somebody, the newest first."""
    wanted = [MergeProposal.Status.MERGED, MergeProposal.Status.KEPT_APART]
    found = MergeProposal.objects.about([entity.pk]).filter(status__in=wanted).select_related("a", "b")
    newest = found.prefetch_related("a__aliases", "b__aliases").order_by("-decided_at")[:MOST_PAIRS]
    return [proposal_context(proposal) for proposal in newest]

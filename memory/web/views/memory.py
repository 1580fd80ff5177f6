"""One memory: where it came from, what was made of it, what it said before; and what its owner does with it."""

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_POST

from memory.consolidation import open_items
from memory.curation import correct
from memory.curation.actions import NODE_ACTIONS
from memory.models import ConceptNode, NodeVersion
from memory.store import retold
from memory.web.forms import REFUSALS, CorrectionForm, explain_refusal
from memory.web.keys import read_key
from memory.web.trace import MAX_SHOWN, trace_node
from memory.web.views.base import is_fragment, page, persona_page
from persona.models import Persona

FIELD_IDS = "correct_%s"
DONE = {
    "hide": _("Hidden: it is kept, and never brought to mind."),
    "show": _("It may be brought to mind again."),
    "confirm": _("Confirmed."),
    "dispute": _("Marked as doubtful: it weighs less from now on."),
    "pin": _("Pinned: it is never put away by itself."),
    "unpin": _("No longer pinned."),
    "archive": _("Put away: it is kept, and not brought to mind."),
    "unarchive": _("Taken out again: it may be brought to mind."),
    "let_in": _("Let in: it may be brought to mind from now on."),
    "came_true": _("Noted. It is settled, and not awaited any more."),
    "did_not": _("Noted. It is settled, and not awaited any more."),
    "reopen": _("It is awaited again."),
    "correct": _("Corrected. The new words hold from now on, everywhere."),
    "restore": _("The earlier words hold again."),
}


@persona_page
@require_http_methods(["GET", "HEAD"])
def node(request: HttpRequest, persona: Persona, node: UUID) -> HttpResponse:
    """A memory, traced both ways."""
    return _shown(request, persona, _own(persona, node))


@persona_page
@require_POST
def memory_action(request: HttpRequest, persona: Persona, node: UUID, deed: str) -> HttpResponse:
    """Do it, and say so: on the page one came from, or to the script that asked."""
    found = _own(persona, node)
    if deed == "correct":
        return _correct(request, persona, found)
    if deed == "restore":
        return _restore(request, persona, found)
    if deed in open_items.BY_HAND:
        if found.kind not in open_items.KINDS:
            raise Http404
        open_items.BY_HAND[deed](found, timezone.now())
    else:
        NODE_ACTIONS[deed](found)  # type: ignore[index]
    if is_fragment(request):
        found.refresh_from_db(fields=["status"])
        return JsonResponse({"status": found.status, "message": str(DONE[deed])})
    messages.success(request, str(DONE[deed]))
    if "how" in request.POST:  # One was searching: the words of it travel on in the body, and in no address.
        return redirect("memory", persona.uuid, preserve_request=True)
    return redirect(_back(request, persona, found))


def _correct(request: HttpRequest, persona: Persona, found: ConceptNode) -> HttpResponse:
    form = CorrectionForm(request.POST, instance=found, auto_id=FIELD_IDS)
    if form.is_valid():
        try:
            correct.correct(found, form.correction(), request.user, timezone.now())  # type: ignore[arg-type]
        except tuple(REFUSALS) as error:
            form.add_error(None, explain_refusal(error))
    if form.errors:
        return _shown(request, persona, found, form=form, status=422)
    messages.success(request, str(DONE["correct"]))
    return redirect("memory_node", persona.uuid, found.uuid)


def _restore(request: HttpRequest, persona: Persona, found: ConceptNode) -> HttpResponse:
    number = request.POST.get("version", "")
    version = get_object_or_404(NodeVersion, node=found, version=read_key(number))
    try:
        correct.restore(found, version, request.user, timezone.now())  # type: ignore[arg-type]
    except tuple(REFUSALS) as error:
        messages.error(request, explain_refusal(error))
    else:
        messages.success(request, str(DONE["restore"]))
    return redirect("memory_node", persona.uuid, found.uuid)


def _own(persona: Persona, uuid: UUID) -> ConceptNode:
    return get_object_or_404(
        ConceptNode.objects.of(persona).select_related("persona", "superseded_by", "resolved_by"), uuid=uuid
    )


def _back(request: HttpRequest, persona: Persona, found: ConceptNode) -> str:
    """The page that one came from, if it is one of ours."""
    wanted = request.POST.get("next", "")
    if url_has_allowed_host_and_scheme(wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure()):
        return wanted
    return reverse("memory_node", args=[persona.uuid, found.uuid])


def _shown(
    request: HttpRequest, persona: Persona, found: ConceptNode, form: CorrectionForm | None = None, status: int = 200
) -> HttpResponse:
    retold.mark([found])
    context = {
        "node": found,
        "awaited": found.kind in open_items.KINDS,
        "form": form or CorrectionForm(instance=found, auto_id=FIELD_IDS),
        "editing": form is not None,
        "most": MAX_SHOWN,
    }
    return page(request, persona, "memory/node.html", context | trace_node(found), status=status)

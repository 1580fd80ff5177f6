"""One memory: its evidence, what was concluded from it, its versions; and the actions of its owner."""

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_POST

from memory.consolidation import open_items
from memory.curation import correct
from memory.curation.actions import NODE_ACTIONS
from memory.models import ConceptNode, NodeVersion
from memory.recall.lessons import moment_of
from memory.store.writing import mark_forgotten_before
from memory.web.forms import REFUSALS, CorrectionForm, correction_form, explain_refusal
from memory.web.keys import read_key
from memory.web.presenters.facts import format_times
from memory.web.trace import trace_node
from memory.web.views.base import is_fragment, page, persona_page
from persona.models import Persona

FIELD_IDS = "correct_%s"
ACTION_MESSAGES = {
    "hide": _("Hidden: it is kept, but no longer recalled."),
    "show": _("It can be recalled again."),
    "confirm": _("Confirmed."),
    "dispute": _("Marked as not sure: it counts for less from now on."),
    "pin": _("Pinned: it is part of every conversation and never fades."),
    "unpin": _("No longer pinned."),
    "archive": _("Archived: it is kept, but no longer recalled."),
    "unarchive": _("Restored from the archive: it can be recalled again."),
    "let_in": _("Confirmed: it can be recalled from now on."),
    "came_true": _("Noted. It is settled."),
    "did_not": _("Noted. It is settled."),
    "reopen": _("It is open again."),
    "correct": _("Corrected. The new wording is used everywhere from now on."),
    "restore": _("The earlier wording is used again."),
}


@persona_page
@require_http_methods(["GET", "HEAD"])
def node(request: HttpRequest, persona: Persona, node: UUID) -> HttpResponse:
    """A memory, with its sources and consequences."""
    return _node_page(request, persona, _own_node(persona, node))


@persona_page
@require_POST
def memory_action(request: HttpRequest, persona: Persona, node: UUID, action: str) -> HttpResponse:
    """Carry out an action and report it: on the page before, or to the script that asked."""
    own_node = _own_node(persona, node)
    if action == "correct":
        return _correct(request, persona, own_node)
    if action == "restore":
        version = get_object_or_404(NodeVersion, node=own_node, version=read_key(request.POST.get("version", "")))
        try:
            correct.restore(own_node, version, request.user, timezone.now())  # type: ignore[arg-type]
        except tuple(REFUSALS) as error:
            if is_fragment(request):
                return JsonResponse({"message": explain_refusal(error)}, status=409)
            messages.error(request, explain_refusal(error))
        else:
            if is_fragment(request):
                return _render_corrected_card(request, persona, own_node, str(ACTION_MESSAGES["restore"]))
            messages.success(request, str(ACTION_MESSAGES["restore"]))
        return redirect("memory_node", persona.uuid, own_node.uuid)
    if action in open_items.BY_HAND:
        if own_node.kind not in open_items.KINDS:
            raise Http404
        open_items.BY_HAND[action](own_node, timezone.now())
    else:
        NODE_ACTIONS[action](own_node)  # type: ignore[index]
    if is_fragment(request):
        own_node.refresh_from_db(fields=["status"])
        return JsonResponse({"status": own_node.status, "message": str(ACTION_MESSAGES[action])})
    messages.success(request, str(ACTION_MESSAGES[action]))
    if "how" in request.POST:  # from a search: its words are sent on in the body, not in a URL
        return redirect("memory", persona.uuid, preserve_request=True)
    address = request.POST.get("next", "")
    is_on_this_site = url_has_allowed_host_and_scheme(address, {request.get_host()}, require_https=request.is_secure())
    return redirect(address if is_on_this_site else reverse("memory_node", args=[persona.uuid, own_node.uuid]))


def _correct(request: HttpRequest, persona: Persona, node: ConceptNode) -> HttpResponse:
    form = correction_form(node, request.POST, auto_id=FIELD_IDS)
    if form.is_valid():
        try:
            correct.correct(node, form.correction(), request.user, timezone.now())  # type: ignore[arg-type]
        except tuple(REFUSALS) as error:
            form.add_error(None, explain_refusal(error))
    if is_fragment(request):
        return _render_corrected_card(request, persona, node, str(ACTION_MESSAGES["correct"]), form)
    if form.errors:
        return _node_page(request, persona, node, form=form, status=422)
    messages.success(request, str(ACTION_MESSAGES["correct"]))
    return redirect("memory_node", persona.uuid, node.uuid)


def _render_corrected_card(
    request: HttpRequest, persona: Persona, node: ConceptNode, message: str, form: CorrectionForm | None = None
) -> HttpResponse:
    """The conversation's card after a correction, with the version that one press restores; or the refusal."""
    if form is not None and form.errors:
        trouble = next(iter(form.errors.values()))[0]
        return JsonResponse({"message": str(trouble)}, status=422)
    node.refresh_from_db()
    last = node.versions.first() if form is not None else None
    context = {"persona": persona, "node": node, "message": message, "version": last.version if last else ""}
    return render(request, "memory/_corrected.html", context)


def _own_node(persona: Persona, uuid: UUID) -> ConceptNode:
    nodes = ConceptNode.objects.of(persona).select_related("persona", "superseded_by", "resolved_by")
    return get_object_or_404(nodes, uuid=uuid)


def _node_page(
    request: HttpRequest, persona: Persona, node: ConceptNode, form: CorrectionForm | None = None, status: int = 200
) -> HttpResponse:
    mark_forgotten_before([node])
    context = {
        "node": node,
        "awaited": node.kind in open_items.KINDS,
        "form": form or correction_form(node, auto_id=FIELD_IDS),
        "editing": form is not None,
        "moment": moment_of(node),
        "story_line": persona.threads.filter(members__node=node, members__removed_at=None).first(),
        "times": format_times(node, timezone.now().astimezone(persona.zone).date()),
    }
    return page(request, persona, "memory/node.html", context | trace_node(node), status=status)

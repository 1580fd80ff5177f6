"""One memory: where it came from, what was made of it, what it said before; and what its owner does with it."""

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_POST

from echovessel.embeddings.embedding import EmbeddingUnavailable
from memory.consolidation import open_items
from memory.curation import correct
from memory.curation.actions import NODE_ACTIONS
from memory.curation.correct import Correction, Forgotten
from memory.models import ConceptNode, NodeVersion
from memory.models.node import MAX_DESCRIPTION, MAX_EMOTION_TAGS, MAX_IMPACT, RELATIONAL_TAGS
from memory.store import retold
from memory.web.trace import MAX_SHOWN, trace_node
from memory.web.views.base import is_fragment, owned, page
from memory.web.views.memories import TAGS
from persona.models import Persona

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
FORGOTTEN = _("These words were forgotten for good, and are not remembered again.")
UNAVAILABLE = _("This cannot be changed just now. Nothing is lost; please try again later.")


class CorrectionForm(forms.Form):
    """The words of a memory, its days, its weight and its tags."""

    description = forms.CharField(label=_("What is remembered"), max_length=MAX_DESCRIPTION, strip=True)
    event_time_start = forms.DateField(required=False, label=_("First day"))
    event_time_end = forms.DateField(required=False, label=_("Last day"))
    emotional_impact = forms.IntegerField(label=_("Weight"), min_value=-MAX_IMPACT, max_value=MAX_IMPACT)
    emotion_tags = forms.CharField(required=False, label=_("Feelings"), max_length=200)
    relational_tags = forms.MultipleChoiceField(
        required=False, label=_("What it is"), choices=[(tag, TAGS[tag]) for tag in RELATIONAL_TAGS]
    )

    def clean_emotion_tags(self) -> list[str]:
        given = self.cleaned_data["emotion_tags"].replace("，", ",").replace("、", ",").split(",")
        tags = list(dict.fromkeys(tag.strip() for tag in given if tag.strip()))
        if len(tags) > MAX_EMOTION_TAGS:
            raise forms.ValidationError(_("At most four feelings."))
        return tags

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        first, last = given.get("event_time_start"), given.get("event_time_end")
        given["event_time_start"], given["event_time_end"] = first or last, last or first
        if first and last and last < first:
            raise forms.ValidationError(_("The last day cannot be before the first one."))
        return given

    @property
    def correction(self) -> Correction:
        given = self.cleaned_data
        first, last = given["event_time_start"], given["event_time_end"]
        return Correction(
            description=given["description"],
            emotional_impact=given["emotional_impact"],
            emotion_tags=given["emotion_tags"],
            relational_tags=given["relational_tags"],
            event_time=(first, last) if first else None,
        )


@owned
@require_http_methods(["GET", "HEAD"])
def node(request: HttpRequest, persona: Persona, node: UUID) -> HttpResponse:
    """A memory, traced both ways."""
    return _shown(request, persona, _own(persona, node))


@owned
@require_POST
def deed(request: HttpRequest, persona: Persona, node: UUID, deed: str) -> HttpResponse:
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
    form = CorrectionForm(request.POST, auto_id="correct_%s")
    if form.is_valid():
        try:
            correct.correct(found, form.correction, request.user, timezone.now())  # type: ignore[arg-type]
        except Forgotten:
            form.add_error("description", str(FORGOTTEN))
        except EmbeddingUnavailable:
            form.add_error(None, str(UNAVAILABLE))
    if form.errors:
        return _shown(request, persona, found, form=form, status=422)
    messages.success(request, str(DONE["correct"]))
    return redirect("memory_node", persona.uuid, found.uuid)


def _restore(request: HttpRequest, persona: Persona, found: ConceptNode) -> HttpResponse:
    number = request.POST.get("version", "")
    version = get_object_or_404(NodeVersion, node=found, version=int(number) if number.isdecimal() else -1)
    try:
        correct.restore(found, version, request.user, timezone.now())  # type: ignore[arg-type]
    except Forgotten:
        messages.error(request, str(FORGOTTEN))
    except EmbeddingUnavailable:
        messages.error(request, str(UNAVAILABLE))
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
    request: HttpRequest, persona: Persona, found: ConceptNode, form: forms.Form | None = None, status: int = 200
) -> HttpResponse:
    retold.mark([found])
    context = {
        "node": found,
        "awaited": found.kind in open_items.KINDS,
        "form": form or _form(found),
        "editing": form is not None,
        "most": MAX_SHOWN,
    }
    return page(request, persona, "memory/node.html", context | trace_node(found), status=status)


def _form(found: ConceptNode) -> CorrectionForm:
    initial = {
        "description": found.description,
        "event_time_start": found.event_time_start,
        "event_time_end": found.event_time_end,
        "emotional_impact": found.emotional_impact,
        "emotion_tags": ", ".join(found.emotion_tags),
        "relational_tags": found.relational_tags,
    }
    return CorrectionForm(initial=initial, auto_id="correct_%s")

"""The owner's page of reaching out, and why a first message came when it did."""

from hashlib import sha256
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from chat.models import Turn
from memory.web.presenters import reply_explanation
from memory.web.views.base import page, persona_page
from persona.companion.zones import describe_zone
from persona.models import Persona
from proactive import knobs
from proactive.forms import ReachingOutForm
from proactive.models import PushSubscription, ReachingOut
from proactive.presenters import decisions


@persona_page
@require_http_methods(["GET", "HEAD", "POST"])
def reaching_out(request: HttpRequest, persona: Persona) -> HttpResponse:
    """The settings, and recent decisions below them."""
    now = timezone.now()
    allowed = ReachingOut.objects.filter(persona=persona).first() or ReachingOut(persona=persona)
    form = ReachingOutForm(request.POST or None, allowed)
    if request.method == "POST" and form.is_valid():
        form.instance.changed_at = now
        form.save()
        messages.success(request, _("Saved."))
        return redirect("reaching_out", persona.uuid)
    # Browsers find themselves in this list by the SHA-256 of their endpoint, in hex.
    endpoints = PushSubscription.objects.filter(owner=persona.owner_id).values_list("endpoint", flat=True)
    context = {
        "form": form,
        "most": knobs.max_per_24h(),
        "clock": timezone.localtime(now),
        "zone": describe_zone(persona.timezone),
        "days": decisions.recent_decisions(persona, now),
        "days_told": decisions.DAYS,
        "known": [sha256(endpoint.encode()).hexdigest() for endpoint in endpoints],
    }
    status = 422 if form.is_bound else 200
    return page(request, persona, "proactive/reaching_out.html", context, status=status)


@persona_page
@require_http_methods(["GET", "HEAD"])
def why_now(request: HttpRequest, persona: Persona, turn: UUID) -> HttpResponse:
    """Why the persona wrote first, and why then, with the memory it was about; below it the memories of its prompt."""
    first_word = get_object_or_404(Turn, persona=persona, uuid=turn, spoke_first=True)
    return render(
        request, "proactive/_why_now.html", reply_explanation.explain_reply(first_word) | decisions.why_now(first_word)
    )

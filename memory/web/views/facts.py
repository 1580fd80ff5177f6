"""What the companion knows about its owner: the facts, by domain."""

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from echovessel import llm
from memory.web.presenters.facts import present_facts
from memory.web.views.base import page, persona_page
from persona.models import Persona


@persona_page
@require_http_methods(["GET", "HEAD"])
def facts(request: HttpRequest, persona: Persona) -> HttpResponse:
    """All current facts, and below them past ones. Without a model there will be none."""
    context = {**present_facts(persona, timezone.now()), "is_offline": llm.provider_name() == "offline"}
    return page(request, persona, "memory/facts.html", context)

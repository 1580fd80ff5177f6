"""A year of feelings as a picture."""

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from memory.web.presenters.year import draw_year, events_of_year
from memory.web.views.base import page, persona_page
from persona.models import Persona


@persona_page
@require_http_methods(["GET", "HEAD"])
def year(request: HttpRequest, persona: Persona) -> HttpResponse:
    """The last twelve months and 53 weeks."""
    today = timezone.localdate()
    events = events_of_year(persona, today)
    return page(request, persona, "memory/year.html", {"felt": events, **draw_year(events, today)})

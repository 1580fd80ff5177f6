"""Requests of the chat page to memory: the timeline, why a reply was what it was, and remembering a message."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from chat.models import Message, Turn
from echovessel.db.public_id import parse_uuid
from echovessel.embeddings.embedding import EmbeddingUnavailable
from memory.curation import remember as curation_remember
from memory.curation.remember import NotRemembered, RememberedMessage
from memory.web import timeline as timelines
from memory.web.presenters import reply_explanation
from memory.web.search import excerpt_around, search_messages
from memory.web.views.base import persona_page
from persona.lookup import own_persona
from persona.models import Persona

MAX_TALKS = 60
MAX_SOUGHT = 200


def timeline(request: HttpRequest, persona: UUID) -> HttpResponse:
    """The timeline, newest first."""
    own = own_persona(request, persona)
    with timezone.override(own.zone):
        return render(request, "memory/_timeline.html", {"persona": own, "rows": timelines.rows(own)})


def turn_xray(request: HttpRequest, persona: UUID, turn: UUID) -> HttpResponse:
    """What was recalled for a reply, in plain words."""
    own = own_persona(request, persona)
    shown_turn = get_object_or_404(Turn, persona=own, uuid=turn)
    with timezone.override(own.zone):
        return render(request, "memory/_xray.html", reply_explanation.explain_reply(shown_turn))


@require_GET
def remembered_messages(request: HttpRequest, persona: UUID) -> HttpResponse:
    """The messages from `since` on (or all) that somebody asked to remember, with the quotes."""
    own = own_persona(request, persona)
    messages = Message.objects.filter(persona=own)
    if since := request.GET.get("since"):
        messages = messages.since(get_object_or_404(messages, uuid=parse_uuid(since)).created_at)
    return JsonResponse(
        {"lines": [_remembered(message) for message in curation_remember.remembered_message_ids(messages)]}
    )


@require_POST
def remember(request: HttpRequest, persona: UUID, message: UUID) -> HttpResponse:
    """Remember this message. A repeat changes nothing; a refusal is explained in words (409; 503: try again later)."""
    own = own_persona(request, persona)
    target = get_object_or_404(Message.objects.select_related("session", "persona__owner"), persona=own, uuid=message)
    try:
        curation_remember.remember(target, timezone.now())
    except NotRemembered as error:
        return JsonResponse({"code": error.code, "message": str(error)}, status=409)
    except EmbeddingUnavailable:
        words = _("This cannot be remembered right now. The message itself is safe; please try again later.")
        return JsonResponse({"code": "unavailable", "message": words}, status=503)
    [remembered] = curation_remember.remembered_message_ids(Message.objects.filter(pk=target.pk))
    return JsonResponse(_remembered(remembered))


@persona_page
@require_POST
def search_conversation(request: HttpRequest, persona: Persona) -> HttpResponse:
    """The messages that contain the words, newest first. The words come by POST, so that no log contains them."""
    words = request.POST.get("text", "").strip()[:MAX_SOUGHT]
    matches = search_messages(persona, words) if words else None
    shown_rows = [(message, excerpt_around(message.content, words)) for message in matches.rows] if matches else []
    context = {"persona": persona, "words": words, "shown": shown_rows, "has_more": bool(matches and matches.has_more)}
    return render(request, "memory/_found_messages.html", context)


@require_GET
def learned_pieces(request: HttpRequest, persona: UUID) -> HttpResponse:
    """What was learned in each of the requested sessions, as parts of the page."""
    own = own_persona(request, persona)
    sessions = [
        session_uuid for text in request.GET.getlist("session")[:MAX_TALKS] if (session_uuid := parse_uuid(text))
    ]
    return render(
        request, "memory/_learned.html", {"persona": own, "talks": timelines.learned_by_session(own, sessions)}
    )


def _remembered(message: RememberedMessage) -> dict[str, object]:
    return {"message_id": str(message.message.uuid), "words": message.words, "whole": message.is_whole}

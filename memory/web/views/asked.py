"""Cards of the conversation for requests in the owner's message: to forget something, to undo that, to correct a
memory, and to confirm a request that was not certain.

URLs hold ids only: the search text is read from the message, or comes by POST.
"""

from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from chat.models import Message
from chat.rendering.markdown import as_line
from echovessel.db.public_id import parse_uuid
from echovessel.embeddings.embedding import EmbeddingUnavailable
from echovessel.language.requests import Request, RequestKind, read_requests
from memory.curation import actions
from memory.curation.remember import NotRemembered
from memory.models import ConceptNode
from memory.requests import corrections, offer, withhold
from memory.requests.find import find_about
from memory.web.forms import correction_form, explain_refusal
from memory.web.views.base import is_fragment, persona_page
from persona.models import Persona

MAX_SOUGHT = 300


@persona_page
@require_GET
def open_offers(request: HttpRequest, persona: Persona) -> HttpResponse:
    """The unanswered offers, for a page that loads."""
    return JsonResponse({"offers": offer.open_offers(persona)})


@persona_page
@require_http_methods(["GET", "POST"])
def may_be_asked(request: HttpRequest, persona: Persona, turn: UUID) -> HttpResponse:
    """A wish, or something to remember, that a message may have meant; a POST confirms it."""
    data = offer.offer_of(persona, turn, offer.REQUESTED)
    if data is None:
        raise Http404
    message = _own_message(persona, UUID(data["asked_id"]))
    context: dict[str, Any] = {"persona": persona, "turn": turn, "kind": data["kind"], "words": message.content}
    if data["kind"] != "remember":
        context |= {"wish": offer.offered_wish(message.content, data)}
    if request.method == "POST":
        try:
            offer.accept(persona, turn, timezone.now())
        except (NotRemembered, EmbeddingUnavailable) as error:
            words = str(error) if isinstance(error, NotRemembered) else explain_refusal(error)
            return JsonResponse({"message": words}, status=409)
        if not is_fragment(request):
            return redirect("wishes", persona.uuid)
        context |= {"done": True}
    return render(request, "memory/_may_be_asked.html", context)


@persona_page
@require_POST
def settle(request: HttpRequest, persona: Persona, turn: UUID) -> HttpResponse:
    """Close an offer that was answered or declined: no page shows it again."""
    offer.settle(persona, turn, request.POST.get("offer", ""))
    return JsonResponse({}) if is_fragment(request) else redirect("wishes", persona.uuid)


@persona_page
@require_http_methods(["GET", "POST"])
def find(request: HttpRequest, persona: Persona, message: UUID) -> HttpResponse:
    """Matches for what a message asks to forget, or for the text that is searched for instead."""
    own_message = _own_message(persona, message)
    if request.method == "POST":
        sought = request.POST.get("text", "").strip()[:MAX_SOUGHT]
    else:
        offered = offer.find_offer_of_message(persona, own_message, offer.ASKED)
        sought = (
            own_message.content[slice(*offered["place"])]
            if "place" in offered
            else _request(own_message, RequestKind.FORGET).subject
        )
        if offered.get("sure") is False and "look" not in request.GET:
            return render(request, "memory/_find_ask.html", {"sought": sought})
    matches = find_about(persona, sought, own_message) if sought else None
    messages, alike_messages = (
        [
            {"uuid": message.uuid, "created_at": message.created_at, "line": as_line(message.content)}
            for message in listed_messages
        ]
        for listed_messages in ((matches.messages, matches.alike_messages) if matches else ((), ()))
    )
    context = {
        "persona": persona,
        "asked": own_message,
        "sought": sought,
        "found": matches,
        "messages": messages,
        "alike_messages": alike_messages,
    }
    return render(request, "memory/_find.html", context)


@persona_page
@require_POST
def restore(request: HttpRequest, persona: Persona, turn: UUID) -> HttpResponse:
    """Undo "don't remember that": show the withheld messages again."""
    if not withhold.restore_message(persona, turn):
        raise Http404
    return JsonResponse({"message": _("Undone: it can be remembered again.")})


@persona_page
@require_GET
def correction(request: HttpRequest, persona: Persona, message: UUID) -> HttpResponse:
    """The correction form for a memory that a message corrects, filled in with the new wording. If the message only
    says that something is wrong, first the memories to choose from, then the form with the current wording."""
    own_message = _own_message(persona, message)
    nodes = ConceptNode.objects.of(persona).select_related("persona")
    offered = offer.find_offer_of_message(persona, own_message, offer.CORRECTED)
    is_open = offered.get("is_open", False)
    if is_open and "node" not in request.GET:
        disputed = {str(node.uuid): node for node in nodes.recallable().filter(uuid__in=offered["node_ids"])}
        choices = [disputed[node_uuid] for node_uuid in offered["node_ids"] if node_uuid in disputed]
        return render(request, "memory/_correction_choices.html", {"choices": choices})
    correcting = _correction(persona, own_message)
    node = get_object_or_404(nodes, uuid=parse_uuid(request.GET.get("node", "")))
    if not is_open and not corrections.would_change(node, correcting):
        raise Http404
    suggestion = None if is_open else corrections.suggest(node.description, correcting, persona.user_display_name)
    form = correction_form(node, auto_id=f"correct-{node.pk}-%s")
    if suggestion:
        form.initial["description"] = suggestion.description
    context = {
        "persona": persona,
        "node": node,
        "form": form,
        "told": correcting.new or correcting.subject,
        "suggestion": suggestion,
        "is_open": is_open,
    }
    return render(request, "memory/_correction.html", context)


@persona_page
@require_http_methods(["GET", "POST"])
def superseded(request: HttpRequest, persona: Persona, node: UUID) -> HttpResponse:
    """Older memories that a model replaced, with undo. Replacements that the owner asked for need none."""
    extracted = ConceptNode.objects.of(persona).filter(source=ConceptNode.Source.EXTRACTION).select_related("persona")
    newer = get_object_or_404(extracted, uuid=node)
    if request.method == "POST":
        actions.reinstate(newer)
        return render(request, "memory/_superseded.html", {"persona": persona, "undone": True})
    older = list(newer.supersedes.filter(status=ConceptNode.Status.SUPERSEDED).order_by("id"))
    if not older or newer.status != ConceptNode.Status.ACTIVE:
        raise Http404
    return render(request, "memory/_superseded.html", {"persona": persona, "newer": newer, "older": older})


def _own_message(persona: Persona, message: UUID) -> Message:
    messages = Message.objects.filter(persona=persona, role=Message.Role.USER).select_related("session", "persona")
    return get_object_or_404(messages, uuid=message)


def _correction(persona: Persona, message: Message) -> Request:
    """The correction as the rules read it, or else as a model did."""
    try:
        return _request(message, RequestKind.CORRECTION)
    except Http404:
        offered = offer.find_offer_of_message(persona, message, offer.CORRECTED)
        if not offered.get("new_place"):
            raise
        (start, end), (begins, ends) = offered["place"], offered["new_place"]
        words, new = message.content[start:end], message.content[begins:ends]
        return Request(RequestKind.CORRECTION, start, end, words, new=new, sure=False, subject_start=begins)


def _request(message: Message, kind: RequestKind) -> Request:
    before = offer.messages_before(message)
    previous = next(
        (message_before.content for message_before in before if message_before.role == Message.Role.USER), ""
    )
    requests = (
        request_of_kind
        for request_of_kind in read_requests(message.content, previous=previous)
        if request_of_kind.kind is kind
    )
    request = next(requests, None)
    if request is None:
        raise Http404
    return request

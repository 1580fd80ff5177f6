"""The owner's standing wishes, and what the persona always knows: shown, added, edited."""

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.forms.models import model_to_dict
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST

from chat.models import Message
from echovessel.embeddings.embedding import EmbeddingUnavailable
from echovessel.language.requests.possible import names_a_moment
from memory.curation import correct, lessons
from memory.curation.correct import Correction, InvalidMemory
from memory.curation.lessons import MAX_WISH, Wish, check_wish
from memory.curation.remember import NotRemembered
from memory.models import ConceptNode, Lesson
from memory.models.node import MAX_CONDITION
from memory.recall.always_known import always_known
from memory.recall.render import format_uuid
from memory.requests import offer
from memory.web.forms import FORGOTTEN, REFUSALS, DescriptionField, explain_refusal
from memory.web.views.base import page, persona_page
from persona.models import Persona

Scope = ConceptNode.Scope
REASONS = {
    "moment": gettext_lazy("for this moment"),
    "pinned": gettext_lazy("pinned"),
    "asked_for": gettext_lazy("you asked for it"),
    "health": gettext_lazy("health and safety"),
    "identity": gettext_lazy("who you are"),
}
MAX_SHOWN = 200


class WishForm(forms.Form):
    """A wish, and when it applies."""

    text = DescriptionField(label=gettext_lazy("What would you like?"), max_length=MAX_WISH)
    scope = forms.ChoiceField(label=gettext_lazy("When?"), choices=Scope.choices)
    condition = DescriptionField(label=gettext_lazy("Which one?"), max_length=MAX_CONDITION, required=False)
    is_boundary = forms.BooleanField(
        label=gettext_lazy("This is something to leave alone, also when the companion writes first"), required=False
    )

    def __init__(self, *args: Any, name: str, **options: Any) -> None:
        super().__init__(*args, **options)
        self.name = name

    def wish(self) -> Wish:
        cleaned = self.cleaned_data
        condition = "" if cleaned["scope"] == Scope.ALWAYS else cleaned["condition"]
        return Wish(cleaned["text"], cleaned["scope"], condition, cleaned["is_boundary"])

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if {"text", "scope"} <= cleaned.keys() and "condition" in cleaned:
            try:
                check_wish(self.wish())
            except InvalidMemory as error:
                self.refuse(error)
        return cleaned

    def refuse(self, error: InvalidMemory) -> None:
        if error.field == "condition":
            self.add_error("condition", _("Say which feeling, topic, person or name."))
        elif self.cleaned_data.get("scope") == Scope.NAME:
            self.add_error("condition", _("That does not look like a name."))
        else:
            self.add_error("text", str(lessons.REFUSED).format(name=self.name))


@persona_page
@require_http_methods(["GET", "HEAD", "POST"])
def wishes(request: HttpRequest, persona: Persona) -> HttpResponse:
    """All wishes; a form to add one."""
    form = WishForm(request.POST if request.method == "POST" else None, name=persona.name, auto_id="wish_%s")
    if request.method == "POST" and form.is_valid():
        try:
            lessons.add_lesson(persona, form.wish(), timezone.now())
        except NotRemembered:
            form.add_error("text", FORGOTTEN)
        except EmbeddingUnavailable as error:
            form.add_error(None, explain_refusal(error))
        else:
            messages.success(request, _("Saved. It applies from now on."))
            return redirect("wishes", persona.uuid)
    return _wishes_page(request, persona, form, status=422 if form.errors else 200)


@persona_page
@require_POST
def edit_wish(request: HttpRequest, persona: Persona, node: UUID) -> HttpResponse:
    """Edit a wish; its earlier wording is kept and can be restored."""
    lesson = get_object_or_404(Lesson.objects.filter(persona=persona), uuid=node)
    form = WishForm(request.POST, name=persona.name, auto_id=f"edit_{lesson.pk}_%s")
    if form.is_valid():
        wish = form.wish()
        change = Correction(
            description=wish.text, scope=wish.scope, condition=wish.condition, is_boundary=wish.is_boundary
        )
        try:
            correct.correct(lesson, change, request.user, timezone.now())  # type: ignore[arg-type]
        except tuple(REFUSALS) as error:
            form.add_error(None, explain_refusal(error))
    if form.errors:
        return _wishes_page(request, persona, WishForm(name=persona.name, auto_id="wish_%s"), form, lesson, 422)
    messages.success(request, _("Saved. It applies from now on."))
    return redirect("wishes", persona.uuid)


@persona_page
@require_POST
def undo_edit(request: HttpRequest, persona: Persona, node: UUID) -> HttpResponse:
    """Restore the wording before the last edit."""
    lesson = get_object_or_404(Lesson.objects.filter(persona=persona), uuid=node)
    if version := lesson.versions.first():
        try:
            correct.restore(lesson, version, request.user, timezone.now())  # type: ignore[arg-type]
        except tuple(REFUSALS) as error:
            messages.error(request, explain_refusal(error))
        else:
            messages.success(request, _("The earlier wording is used again."))
    return redirect("wishes", persona.uuid)


def _wishes_page(
    request: HttpRequest,
    persona: Persona,
    form: WishForm,
    edited: WishForm | None = None,
    editing: ConceptNode | None = None,
    status: int = 200,
) -> HttpResponse:
    lessons = Lesson.objects.filter(persona=persona).order_by("-created_at", "-id")
    rows = list(lessons.prefetch_related("evidence__message", "versions")[:MAX_SHOWN])
    lesson_rows = []
    for node in rows:
        initial = model_to_dict(node, ("scope", "condition", "is_boundary")) | {"text": node.description}
        unchanged = WishForm(initial=initial, name=persona.name, auto_id=f"edit_{node.pk}_%s")
        lesson_rows.append(
            {
                "node": node,
                "names_a_moment": names_a_moment(node.condition),
                "form": edited if node == editing else unchanged,
                "open": node == editing,
            }
        )
    always_known_rows = [
        {
            "uuid": format_uuid(known_node.node.uuid_hex),
            "text": known_node.node.description,
            "why": REASONS[known_node.group],
        }
        for known_node in always_known(persona.pk)[:MAX_SHOWN]
    ]
    asked_wishes = [
        offer_event["data"] for offer_event in offer.open_offers(persona) if offer_event["event"] == offer.REQUESTED
    ]
    ids = [UUID(data["asked_id"]) for data in asked_wishes]
    messages_by_uuid = Message.objects.filter(persona=persona).in_bulk(ids, field_name="uuid")
    questions = [
        {"turn": data["turn_id"], "kind": data["kind"], "wish": offer.offered_wish(message.content, data)}
        for data in asked_wishes
        if (message := messages_by_uuid.get(UUID(data["asked_id"]))) and data["kind"] != "remember"
    ]
    context = {
        "wishes": lesson_rows,
        "form": form,
        "known": always_known_rows,
        "open_questions": questions,
        "offer": offer.REQUESTED,
    }
    return page(request, persona, "memory/wishes.html", context, status=status)

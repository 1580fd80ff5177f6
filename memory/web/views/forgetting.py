"""Forgetting, as its owner does it: a preview of what would go, a choice, one confirmation, a receipt."""

from collections.abc import Mapping
from typing import Any, cast
from uuid import UUID

from django.db.models import OuterRef, Subquery
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from memory import forgetting
from memory.forgetting import TAKEN_BACK, Choice, InvalidChoice, Kind, Plan, Target, verify
from memory.models import ImportJob, ImportRun, Receipt
from memory.web.forget_form import UNCLEAR, confirm_plan, read_choice
from memory.web.presenters.forgetting import plan_context, receipt_context
from memory.web.views.base import is_fragment, page, persona_page
from persona.models import Persona

KINDS: tuple[Kind, ...] = ("node", "message", "session", "entity", "import")
MOST_TARGETS = 100
MOST_RECEIPTS = 100


@persona_page
@require_http_methods(["GET", "HEAD", "POST"])
def forget(request: HttpRequest, persona: Persona) -> HttpResponse:
    """The preview; and, once it is confirmed, the deed."""
    data = request.POST if request.method == "POST" else request.GET
    targets = _targets(persona, data)
    try:
        plan = forgetting.plan(targets, _choice(data))
    except InvalidChoice:
        return _preview(request, persona, forgetting.plan(targets), data, UNCLEAR, status=422)
    if "confirm" not in request.POST:
        return _preview(request, persona, plan, data)
    outcome = confirm_plan(request, plan)
    if isinstance(outcome, Receipt):
        return _receipt_of(request, outcome)
    return _preview(request, persona, outcome.plan, data, outcome.trouble, status=409)


def _choice(data: QueryDict) -> Choice:
    """The choice; an import, and nothing else, may be taken back. Raises Http404 and InvalidChoice."""
    if "take_back" not in data:
        return read_choice(data)
    if any(kind in data for kind in KINDS if kind != "import"):
        raise Http404
    return TAKEN_BACK


def _targets(persona: Persona, asked: QueryDict) -> list[Target]:
    """What is meant, of what is there. Raises Http404 where nothing is meant, or it is not hers."""
    named = [(kind, reference) for kind in KINDS for reference in asked.getlist(kind)]
    if not named or len(named) > MOST_TARGETS:
        raise Http404
    try:
        return [forgetting.target_of(persona, kind, reference) for kind, reference in named]
    except LookupError as error:
        raise Http404 from error


def _preview(
    request: HttpRequest, persona: Persona, plan: Plan, asked: QueryDict, trouble: Any = "", status: int = 200
) -> HttpResponse:
    context: Mapping[str, Any] = {
        "preview": plan_context(plan),
        "targets": [(kind, reference) for kind in KINDS for reference in asked.getlist(kind)],
        "trouble": trouble,
        "persona": persona,
    }
    if is_fragment(request):
        return render(request, "memory/_forget.html", context, status=status)
    return page(request, persona, "memory/forget.html", context, status=status)


def _receipt_of(request: HttpRequest, done: Receipt) -> HttpResponse:
    if is_fragment(request):
        return render(request, "memory/_receipt.html", receipt_context(done))
    return redirect("receipt", done.uuid)


@persona_page
@require_http_methods(["GET", "HEAD"])
def receipts(request: HttpRequest, persona: Persona) -> HttpResponse:
    """What was forgotten of what she knew; and what came in from files, which can be forgotten as a whole."""
    found = [receipt_context(one) for one in Receipt.objects.filter(persona=persona)[:MOST_RECEIPTS]]
    file_name = ImportJob.objects.filter(uuid=OuterRef("uuid")).values("file_name")
    imports = ImportRun.objects.filter(persona=persona).annotate(file_name=Subquery(file_name[:1]))[:MOST_RECEIPTS]
    return page(request, persona, "memory/receipts.html", {"receipts": found, "imports": imports})


@require_http_methods(["GET", "HEAD", "POST"])
def receipt(request: HttpRequest, receipt: UUID) -> HttpResponse:
    """One receipt, by whichever of one's companions it is; on asking, with the proof of it."""
    owner = cast(int, request.user.pk)
    found = get_object_or_404(Receipt.objects.select_related("persona"), owner_id=owner, uuid=receipt)
    context = receipt_context(found)
    if request.method == "POST":
        context["left"], context["kept_now"] = _proof(found)
    if found.persona is None:
        return render(request, "memory/receipt.html", context)
    with timezone.override(found.persona.zone):
        return page(request, found.persona, "memory/receipt.html", context)


def _proof(found: Receipt) -> tuple[int, int]:
    """In how many places something of it stands, and in how many messages that were kept. Where others live here too,
    the words alone may be theirs, and nobody is to learn by this whether they said the same: only its ids count then.
    """
    others = Persona.objects.exclude(owner_id=found.owner_id).exists()
    proof = verify.prove([found])
    left = sum(1 for hit in proof.hits if hit.form == "id" or not others)
    return left, 0 if others else proof.kept_messages

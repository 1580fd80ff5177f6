"""Forgetting for the owner: a preview, a choice, one confirmation, a receipt."""

from collections.abc import Mapping, Sequence
from typing import Any, cast
from uuid import UUID

from django.db.models import OuterRef, Subquery
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from memory import forgetting
from memory.forgetting import REVERT_IMPORT, InvalidChoice, Kind, Plan, verify
from memory.models import ImportJob, ImportRun, Receipt
from memory.requests.retold import retold_of, show_retold, withhold_retold
from memory.web.forget_form import UNCLEAR, ForgetRefusal, confirm_plan, read_choice
from memory.web.presenters.forgetting import plan_context, receipt_context
from memory.web.views.base import is_fragment, page, persona_page
from persona.models import Persona

KINDS: tuple[Kind, ...] = ("node", "message", "session", "entity", "import")
MAX_TARGETS = 100
MAX_RECEIPTS = 100


@persona_page
@require_http_methods(["GET", "HEAD", "POST"])
def forget(request: HttpRequest, persona: Persona) -> HttpResponse:
    """The preview; after the confirmation, the receipt."""
    data = request.POST if request.method == "POST" else request.GET
    references = [(kind, reference) for kind in KINDS for reference in data.getlist(kind)]
    if not references or len(references) > MAX_TARGETS:
        raise Http404
    try:
        targets = [forgetting.target_of(persona, kind, reference) for kind, reference in references]
    except LookupError as error:
        raise Http404 from error
    try:
        choice = REVERT_IMPORT if "take_back" in data else read_choice(data)
    except InvalidChoice:
        return _preview(request, persona, forgetting.plan(targets), references, UNCLEAR, status=422)
    if choice is REVERT_IMPORT and any(kind != "import" for kind, _reference in references):
        raise Http404
    plan = forgetting.plan(targets, choice)
    if "confirm" not in request.POST:
        return _preview(request, persona, plan, references)
    outcome = confirm_plan(request, plan)
    if isinstance(outcome, ForgetRefusal):
        return _preview(request, persona, outcome.plan, references, outcome.trouble, status=409)
    if is_fragment(request):
        return render(request, "memory/_receipt.html", receipt_context(outcome) | {"retold": retold_of(outcome)})
    return redirect("receipt", outcome.uuid)


def _preview(
    request: HttpRequest,
    persona: Persona,
    plan: Plan,
    references: Sequence[tuple[Kind, str]],
    trouble: Any = "",
    status: int = 200,
) -> HttpResponse:
    context: Mapping[str, Any] = {
        "preview": plan_context(plan),
        "targets": references,
        "trouble": trouble,
        "persona": persona,
    }
    if is_fragment(request):
        return render(request, "memory/_forget.html", context, status=status)
    return page(request, persona, "memory/forget.html", context, status=status)


@persona_page
@require_http_methods(["GET", "HEAD"])
def receipts(request: HttpRequest, persona: Persona) -> HttpResponse:
    """The receipts; and the imports, which can be forgotten as a whole."""
    newest = Receipt.objects.filter(persona=persona)[:MAX_RECEIPTS]
    file_name = ImportJob.objects.filter(uuid=OuterRef("uuid")).values("file_name")
    imports = ImportRun.objects.filter(persona=persona).annotate(file_name=Subquery(file_name[:1]))[:MAX_RECEIPTS]
    context = {"receipts": [receipt_context(receipt) for receipt in newest], "imports": imports}
    return page(request, persona, "memory/receipts.html", context)


@require_POST
def withhold_replies(request: HttpRequest, receipt: UUID) -> HttpResponse:
    """Withhold the replies that repeat what a reverted import contained, or show them again."""
    own_receipt = get_object_or_404(
        Receipt.objects.select_related("persona"), owner_id=cast(int, request.user.pk), uuid=receipt
    )
    (show_retold if "show" in request.POST else withhold_retold)(own_receipt)
    return redirect("receipt", own_receipt.uuid)


@require_http_methods(["GET", "HEAD", "POST"])
def receipt(request: HttpRequest, receipt: UUID) -> HttpResponse:
    """One receipt of the owner's; on request, with its verification."""
    owner = cast(int, request.user.pk)
    own_receipt = get_object_or_404(Receipt.objects.select_related("persona"), owner_id=owner, uuid=receipt)
    context = receipt_context(own_receipt) | {"retold": retold_of(own_receipt)}
    if request.method == "POST":
        # Count where it still occurs, and in how many kept messages. If other people live on this installation, the
        # words may be theirs too, and nobody may learn from this count whether they wrote the same: then only ids
        # count.
        others = Persona.objects.exclude(owner_id=own_receipt.owner_id).exists()
        proof = verify.prove([own_receipt])
        left_count = sum(1 for hit in proof.hits if hit.form == "id" or not others)
        context["left"], context["kept_now"] = left_count, 0 if others else proof.kept_messages
    if own_receipt.persona is None:
        return render(request, "memory/receipt.html", context)
    with timezone.override(own_receipt.persona.zone):
        return page(request, own_receipt.persona, "memory/receipt.html", context)

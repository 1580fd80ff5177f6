"""The admin's page of forgetting, for one row or many: a preview, the choices, one confirmation."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from django.contrib import admin, messages
from django.contrib.admin.models import DELETION, LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods

from chat.models import Message, Session
from echovessel.admin import may_forget, may_read
from echovessel.admin.pages import MAX_AT_ONCE
from echovessel.admin.permissions import WHOLLY
from echovessel.audit import looks
from memory import forgetting
from memory.forgetting import InvalidChoice, Plan, Target
from memory.forgetting.people import LastSuperuser
from memory.models import ConceptNode, Entity, ImportRun
from memory.web.forget_form import LAST_SUPERUSER, UNCLEAR, ForgetRefusal, confirm_plan, read_choice
from memory.web.keys import read_key
from memory.web.presenters.forgetting import plan_context
from persona.models import Persona

MODELS: dict[str, Any] = {
    "message": Message,
    "node": ConceptNode,
    "entity": Entity,
    "session": Session,
    "import": ImportRun,
    "persona": Persona,
    "owner": User,
}
NOT_TOGETHER = _("Choose existing items of one persona only; choose a whole persona or a whole user by themselves.")
WRONG_NAME = _("The name does not match. Nothing was forgotten.")


@dataclass(frozen=True)
class ForgetRequest:
    """Rows to forget, all of one owner."""

    kind: Any
    rows: Sequence[Any]
    owner_id: int

    @classmethod
    def read(cls, request: HttpRequest) -> "ForgetRequest | None":
        """The request in the query string or the form, with the rows that exist; None if there are none, or they are
        not of one persona."""
        params = request.POST if request.method == "POST" else request.GET
        kind, keys = params.get("kind", ""), params.getlist("key")
        if kind not in MODELS or len(keys) > MAX_AT_ONCE or not all(map(read_key, keys)):
            raise Http404
        rows = list(MODELS[kind].objects.filter(pk__in=list(map(read_key, keys))).order_by("pk"))
        owners = {(None, row.pk) if kind == "owner" else (_persona_id(row), None) for row in rows}
        if len(owners) != 1 or (kind in WHOLLY and len(rows) > 1):
            return None
        owner = rows[0].pk if kind == "owner" else Persona.objects.get(pk=_persona_id(rows[0])).owner_id
        return cls(kind, rows, owner)

    @property
    def targets(self) -> list[Target]:
        return [Target(self.kind, row.pk) for row in self.rows]

    @property
    def to_type(self) -> str:
        """The text to type before a whole persona or user is deleted."""
        return "" if self.kind not in ("persona", "owner") else f"{self.kind} {self.rows[0].pk}"


@require_http_methods(["GET", "HEAD", "POST"])
def forget(request: HttpRequest) -> HttpResponse:
    """The preview; after the confirmation, forget and redirect to the receipt."""
    forget_request = ForgetRequest.read(request)
    if forget_request is None:
        messages.warning(request, NOT_TOGETHER)
        return redirect("admin:index")
    # Only a superuser may delete a superuser.
    if not may_forget(request.user, forget_request.owner_id, forget_request.kind) or (
        forget_request.kind == "owner" and forget_request.rows[0].is_superuser and not request.user.is_superuser
    ):
        raise PermissionDenied
    if forget_request.kind == "owner" and forget_request.owner_id == request.user.pk:
        return redirect("delete_account")  # that page asks for the password
    try:
        plan = forgetting.plan(
            forget_request.targets, read_choice(request.POST if request.method == "POST" else request.GET)
        )
    except InvalidChoice:
        return _preview(request, forget_request, forgetting.plan(forget_request.targets), UNCLEAR, 422)
    if "confirm" not in request.POST:
        return _preview(request, forget_request, plan)
    if request.POST.get("typed", "").strip() != forget_request.to_type:
        return _preview(request, forget_request, plan, WRONG_NAME, 400)
    try:
        receipt = confirm_plan(request, plan)
    except LastSuperuser:
        return _preview(request, forget_request, plan, LAST_SUPERUSER, 409)
    if isinstance(receipt, ForgetRefusal):
        return _preview(request, forget_request, receipt.plan, receipt.trouble, 409)
    # Log who did it, by ids, and show the receipt.
    by = cast(int, request.user.pk)
    content_type = ContentType.objects.get_for_model(MODELS[forget_request.kind])
    LogEntry.objects.bulk_create(
        LogEntry(
            user_id=by,
            content_type=content_type,
            object_id=str(row.pk),
            object_repr=f"{forget_request.kind} {row.pk}",
            action_flag=DELETION,
            change_message=f"forgotten, receipt {receipt.uuid}",
        )
        for row in forget_request.rows
    )
    return redirect("admin:memory_receipt_change", receipt.pk)


def _persona_id(row: Any) -> int:
    return int(row.pk if isinstance(row, Persona) else row.persona_id)


def _preview(
    request: HttpRequest, forget_request: ForgetRequest, plan: Plan, trouble: Any = "", status: int = 200
) -> HttpResponse:
    reads = may_read(request.user, forget_request.owner_id)
    if reads and forget_request.owner_id != request.user.pk and plan.persona is not None:
        looks.record(
            request.user,
            "forgetting",
            {plan.persona.uuid},
            [affected.key for affected in plan.deleted if affected.text],
        )
    context = {
        **admin.site.each_context(request),
        "title": _("Forget this?"),
        "meant": forget_request,
        "preview": plan_context(plan, show_words=reads),
        "reads": reads,
        "trouble": trouble,
    }
    return TemplateResponse(request, "admin/memory/forget.html", context, status=status)

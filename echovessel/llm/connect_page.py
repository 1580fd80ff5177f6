"""The page on which staff connect a model: find a server, test it, save it. All others see which model answers."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, cast
from uuid import UUID

from asgiref.sync import async_to_sync
from django import forms
from django.apps import apps
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods

from echovessel.embeddings import embedding
from echovessel.llm import connection as connections
from echovessel.llm import ledger, servers
from echovessel.llm.addresses import MAX_ADDRESS, check_address
from echovessel.llm.connection import OFFLINE, Connection
from echovessel.llm.errors import LLMError
from echovessel.llm.models import Purpose
from echovessel.llm.providers import DEFAULTS, provider_of
from echovessel.llm.request import Tier
from echovessel.outbox import events

SERVER = "server"
KINDS = (
    (SERVER, gettext_lazy("A server of my own (Ollama, LM Studio, llama.cpp, vLLM or another)")),
    ("openai", "OpenAI"),
    ("anthropic", "Anthropic"),
)
MAX_KEY = 500
# Between a test and saving, a typed key stays in this process for this long: it is never sent back to the browser.
PENDING_SECONDS = 900
TIERS: tuple[Tier, ...] = ("large", "medium", "small")
# The work of each tier, and the purposes under which the ledger counts its calls.
WORK: Mapping[Tier, tuple[Any, tuple[Purpose, ...]]] = {
    "large": (gettext_lazy("Replies"), (Purpose.CHAT,)),
    "medium": (
        gettext_lazy("Reflection and first messages"),
        (Purpose.REFLECTION, Purpose.SLOW_CYCLE, Purpose.ENTITY, Purpose.PROACTIVE, Purpose.ONBOARDING),
    ),
    "small": (gettext_lazy("Reading conversations for memory"), (Purpose.EXTRACTION, Purpose.IMPORT)),
}
TROUBLE = {
    servers.UNREACHED: gettext_lazy("Nothing answers at %(address)s. Is the server running?"),
    "timeout": gettext_lazy("No answer came in time."),
    "rate_limited": gettext_lazy("There are too many requests, or no credit is left."),
    "content_refused": gettext_lazy("The model declined."),
    "only_reasoning": gettext_lazy("The model only thought, and gave no answer."),
}
UNUSABLE = gettext_lazy("There was no usable answer. Check the address, the key and the name of the model.")


class ConnectionForm(forms.Form):
    """Where the model is, its key, and which model serves which tier. An empty key means the key that is known
    already."""

    kind = forms.ChoiceField(choices=KINDS, widget=forms.RadioSelect)
    address = forms.CharField(max_length=MAX_ADDRESS, required=False)
    key = forms.CharField(max_length=MAX_KEY, required=False, widget=forms.PasswordInput)
    large = forms.CharField(max_length=servers.MAX_NAME, required=False)
    medium = forms.CharField(max_length=servers.MAX_NAME, required=False)
    small = forms.CharField(max_length=servers.MAX_NAME, required=False)

    def clean_key(self) -> str:
        key = str(self.cleaned_data["key"])
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise ValidationError(_("A key has no spaces and no special characters: copy it again."))
        return key

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        if values.get("kind") == SERVER and "address" in values:
            try:
                values["address"] = check_address(values["address"]).url
            except ValidationError as error:
                self.add_error("address", error)
        return values

    def needs_model(self, action: str) -> bool:
        """Whether the model's name is missing: a server of one's own has no default model."""
        return action != "list" and self.cleaned_data["kind"] == SERVER and not self.cleaned_data["large"]


@sensitive_variables("form", "chosen")
@sensitive_post_parameters("key")
@require_http_methods(["GET", "HEAD", "POST"])
def connect(request: HttpRequest) -> HttpResponse:
    """Show which model answers. Staff may choose another one, unless the environment sets it."""
    is_staff = bool(getattr(request.user, "is_staff", False))
    if request.method != "POST":
        return _render(request, is_staff, None)
    if not is_staff:
        raise PermissionDenied
    if variables := connections.choosing_variables():
        if request.POST.get("action") == "test":
            return _render(request, is_staff, None, result=_run_test(connections.current()))
        messages.error(request, _("The model is set by the environment: %(names)s.") % {"names": ", ".join(variables)})
        return redirect("connect_model")
    if request.POST.get("action") == "remove":
        connections.remove()
        cache.delete(_pending(request))
        _publish_provider()
        messages.success(request, _("The model is disconnected, and its key is deleted."))
        return redirect("connect_model")
    return _act(request, ConnectionForm(request.POST))


def _act(request: HttpRequest, form: ConnectionForm) -> HttpResponse:
    action = request.POST.get("action", "")
    if not form.is_valid():
        return _render(request, True, form, status=422)
    connection = _connection_of(request, form)
    needs_model = form.needs_model(action)
    if action == "list" or needs_model:
        try:
            names = servers.usable_names(async_to_sync(servers.list_models)(connection))
        except LLMError as error:
            form.add_error(
                "address" if connection.base_url else "key", _humanize_trouble(servers.trouble_of(error), connection)
            )
            return _render(request, True, form, status=422)
        if needs_model:
            form.add_error("large", _("Choose a model: “List models” shows which there are."))
        return _render(request, True, form, names=names, status=422 if needs_model else 200)
    result = _run_test(connection)
    if connection.base_url and result.steps[0].code == servers.UNREACHED:
        form.add_error("address", _humanize_trouble(servers.UNREACHED, connection))
    if action == "test" or not (result.replies or request.POST.get("anyway")):
        return _render(request, True, form, tried=connection, result=result, offers_anyway=action == "save")
    connections.save(connection, cast(User, request.user))
    cache.delete(_pending(request))
    _publish_provider()
    messages.success(request, _("Connected. Your companion answers with this model from the next message on."))
    return redirect("connect_model")


def _connection_of(request: HttpRequest, form: ConnectionForm) -> Connection:
    """The connection that the form describes. A key that was typed before for the same address need not be typed
    again."""
    values = form.cleaned_data
    provider = "openai" if values["kind"] == SERVER else values["kind"]
    address = values["address"] if values["kind"] == SERVER else ""
    place, key = f"{provider} {address}", values["key"]
    saved_connections = connections.saved()
    if not key:
        typed_for, typed = cache.get(_pending(request)) or ("", "")
        is_known = saved_connections is not None and (saved_connections.provider, saved_connections.base_url) == (
            provider,
            address,
        )
        key = typed if typed_for == place else saved_connections.key if saved_connections and is_known else ""
    else:
        cache.set(_pending(request), (place, key), PENDING_SECONDS)
    return Connection(provider, address, key, {tier: values[tier] for tier in TIERS}, "saved")


def _pending(request: HttpRequest) -> str:
    return f"model-key-{request.session.session_key}"


def _run_test(connection: Connection) -> servers.TestResult:
    return async_to_sync(servers.test)(connection)


def _publish_provider() -> None:
    """Notify open pages that another model answers from now on."""
    is_offline = connections.current().provider == OFFLINE
    personas: list[UUID] = list(apps.get_model("persona", "Persona").objects.values_list("uuid", flat=True))
    for uuid in personas:
        events.publish(uuid, "chat.settings.updated", offline=is_offline)


def _render(
    request: HttpRequest,
    is_staff: bool,
    form: ConnectionForm | None,
    *,
    names: list[str] | None = None,
    tried: Connection | None = None,
    result: servers.TestResult | None = None,
    offers_anyway: bool = False,
    status: int = 200,
) -> HttpResponse:
    connection = connections.current()
    by_environment = connection.source == "environment"
    if form is None:
        form = ConnectionForm(initial=_initial(connections.saved(), request.GET.get("address", "")))
    found_servers = None
    if is_staff and not by_environment and (form.errors or request.method != "POST"):
        found_servers = async_to_sync(servers.find_servers)()
    if found_servers and request.method != "POST":
        picked = next((server for server in found_servers if server.url == request.GET.get("address")), None)
        names = servers.usable_names(picked.models) if picked else names
        if picked and names:
            form.initial["large"] = form.initial.get("large") or names[0]
    context = {
        "is_staff": is_staff,
        "chosen": connection,
        "is_offline": connection.provider == OFFLINE,
        "answering": "" if connection.provider == OFFLINE else provider_of(connection).model("large"),
        "variables": connections.choosing_variables(),
        "form": form,
        "found": found_servers,
        "names": names,
        "has_key": bool(connection.key) if connection.source == "saved" else False,
        "result": result and _describe(result, tried or connection),
        "offers_anyway": offers_anyway,
        "work": _describe_work(connection, cast(User, request.user)),
        "embedding": embedding.name(),
        "embedding_server": settings.EMBEDDING_BASE_URL if embedding.is_served(embedding.name()) else "",
        "usual": [(kind, label, DEFAULTS[kind]) for kind, label in KINDS if kind != SERVER],
    }
    return render(request, "account/model.html", context, status=status)


def _describe_work(connection: Connection, user: User) -> list[dict[str, Any]]:
    """Each kind of work with its model, the price and today's usage: of all users for staff, else of this user only."""
    used = ledger.usage_today(timezone.now(), owner_id=None if user.is_staff else user.pk)
    provider = provider_of(connection)
    rows = []
    for tier, (title, purposes) in WORK.items():
        calls = [usage_row for usage_row in used if usage_row.purpose in purposes]
        model = provider.model(tier)
        rows.append(
            {
                "title": title,
                "model": model,
                "price": provider.price(model),
                "tokens": sum(call.tokens for call in calls),
                "cost": sum((call.cost for call in calls if call.cost is not None), Decimal()),
            }
        )
    return rows


def _initial(connection: Connection | None, address: str) -> dict[str, str]:
    if connection is None or address:
        return {"kind": SERVER, "address": address}
    kind = SERVER if connection.base_url else connection.provider
    return {"kind": kind, "address": connection.base_url} | {tier: connection.models.get(tier, "") for tier in TIERS}


def _describe(result: servers.TestResult, tried: Connection) -> dict[str, Any]:
    words = {"reply": _("Replies"), "stream": _("Word by word"), "structured": _("Structured answers, for memory")}
    return {
        "steps": [
            (words[step.name], step.works, "" if step.works else _humanize_trouble(step.code, tried))
            for step in result.steps
        ],
        "first_word": result.first_word_seconds,
        "speed": result.tokens_per_second,
    }


def _humanize_trouble(code: str, tried: Connection) -> str:
    place = tried.base_url or dict(KINDS)[tried.provider]
    return str(TROUBLE.get(code, UNUSABLE)) % {"address": place}

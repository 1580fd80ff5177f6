"""The ledger, with one row for every model call, its cost and its outcome; and the connected model."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from echovessel.db.text_columns import NO_WORDS
from echovessel.llm.addresses import MAX_ADDRESS


class Purpose(models.TextChoices):
    """What a call was for."""

    CHAT = "chat", _("chat")
    EXTRACTION = "extraction", _("extraction")
    REFLECTION = "reflection", _("reflection")
    SLOW_CYCLE = "slow_cycle", _("slow cycle")
    ENTITY = "entity", _("entity")
    PROACTIVE = "proactive", _("reaching out")
    IMPORT = "import", _("import")
    ONBOARDING = "onboarding", _("onboarding")


class Outcome(models.TextChoices):
    """How a call ended: answered, stopped by us, or with the code of an `LLMError`."""

    OK = "ok", _("answered")
    STOPPED = "stopped", _("stopped")
    PROVIDER_UNAVAILABLE = "provider_unavailable", _("provider unavailable")
    RATE_LIMITED = "rate_limited", _("rate limited")
    TIMEOUT = "timeout", _("timed out")
    CONTENT_REFUSED = "content_refused", _("declined")
    BUDGET_EXHAUSTED = "budget_exhausted", _("budget exhausted")
    ONLY_REASONING = "only_reasoning", _("only reasoning, no answer")
    INTERNAL = "internal", _("internal error")


class LLMCall(models.Model):
    """One call to a language model. `cost` is in US dollars, and null if the price of the model is not known."""

    uuid = models.UUIDField(_("id"), default=uuid.uuid4, unique=True, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="llm_calls",
        verbose_name=_("owner"),
    )
    persona_uuid = models.UUIDField(_("persona uuid"), null=True, blank=True)
    session_uuid = models.UUIDField(_("session uuid"), null=True, blank=True)
    turn_uuid = models.UUIDField(_("turn uuid"), null=True, blank=True)
    purpose = models.CharField(_("purpose"), max_length=20, choices=Purpose)
    provider = models.CharField(_("provider"), max_length=100)
    model = models.CharField(_("model"), max_length=200)
    tokens_in = models.PositiveIntegerField(_("tokens in"), default=0)
    tokens_cached = models.PositiveIntegerField(_("tokens cached"), default=0)
    tokens_out = models.PositiveIntegerField(_("tokens out"), default=0)
    estimated = models.BooleanField(
        _("estimated"), default=False, help_text=_("The provider sent no count; this is an estimate.")
    )
    cost = models.DecimalField(_("cost"), max_digits=14, decimal_places=8, null=True, blank=True)
    latency_ms = models.PositiveIntegerField(_("latency ms"), default=0)
    outcome = models.CharField(_("outcome"), max_length=30, choices=Outcome)
    at = models.DateTimeField(_("at"), default=timezone.now)
    text_columns = {"provider": NO_WORDS, "model": NO_WORDS}

    class Meta:
        verbose_name = _("model call")
        verbose_name_plural = _("model calls")
        ordering = ["-at", "-id"]
        indexes = [
            models.Index(fields=["owner", "purpose", "at"], name="llm_call_budget"),
            models.Index(fields=["-at", "-id"], name="llm_call_newest"),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(purpose__in=Purpose.values), name="llm_call_purpose"),
            models.CheckConstraint(condition=Q(outcome__in=Outcome.values), name="llm_call_outcome"),
            models.CheckConstraint(
                condition=Q(tokens_cached__lte=F("tokens_in")), name="llm_call_cached_is_part_of_in"
            ),
            models.CheckConstraint(condition=Q(cost__isnull=True) | Q(cost__gte=0), name="llm_call_cost"),
        ]

    def __str__(self) -> str:
        return f"{self.purpose} · {self.model} · {self.outcome}"


class ModelConnection(models.Model):
    """The model that staff connected on the page: at most one row, see `connection.py`."""

    class Provider(models.TextChoices):
        OPENAI = "openai", _("OpenAI, or a server that speaks its protocol")
        ANTHROPIC = "anthropic", "Anthropic"

    provider = models.CharField(_("kind of server"), max_length=20, choices=Provider)
    base_url = models.CharField(_("address"), max_length=MAX_ADDRESS, blank=True)
    encrypted_key = models.TextField(_("key, encrypted"), blank=True, editable=False)
    model_large = models.CharField(_("model for replies"), max_length=200, blank=True)
    model_medium = models.CharField(_("model for reflection"), max_length=200, blank=True)
    model_small = models.CharField(_("model for reading conversations"), max_length=200, blank=True)
    saved_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    saved_at = models.DateTimeField(_("saved at"), default=timezone.now)
    text_columns = dict.fromkeys(
        ("provider", "base_url", "encrypted_key", "model_large", "model_medium", "model_small"), NO_WORDS
    )

    class Meta:
        verbose_name = _("connected model")
        verbose_name_plural = _("connected model")
        constraints = [models.CheckConstraint(condition=Q(id=1), name="llm_one_connection")]

    def __str__(self) -> str:
        return self.base_url or self.provider

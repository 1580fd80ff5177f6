"""The estimated cost of an import, before it is confirmed."""

from typing import Any

import pytest
from django.utils import timezone

from echovessel.llm.models import LLMCall
from memory import imports
from memory.imports.cost import TOKENS_IN_A_CALL, TOKENS_OUT_A_CALL, estimate_job
from persona.models import Persona
from tests.memory.imports.importing_files import analyze_file, choices_for, confirm_file, whatsapp
from tests.memory.sessions import NOW

pytestmark = pytest.mark.django_db
TALKS = whatsapp("Ana: Hello", "Mira: Hi", "9", "Ana: Good morning", "9", "Ana: Good night")
NAME = "WhatsApp Chat with Mira.txt"


@pytest.fixture
def priced(settings: Any) -> Any:
    """A model that costs a dollar for a million tokens read, and ten for a million written."""
    settings.LLM_PROVIDER, settings.LLM_API_KEY, settings.LLM_MODEL_SMALL = "openai", "sk-test", "small-one"
    settings.LLM_PRICES = {"small-one": {"in": 1, "cached": 1, "out": 10}}
    return settings


def test_each_session_is_a_call(priced: Any, mira: Persona) -> None:
    estimate = imports.estimate(analyze_file(mira, TALKS, NAME))
    assert estimate.calls == 3
    assert estimate.tokens_in == 3 * TOKENS_IN_A_CALL + 9
    assert estimate.tokens_out == 3 * TOKENS_OUT_A_CALL


def test_without_a_model_nobody_is_called_and_no_cost_is_told(mira: Persona) -> None:
    estimate = estimate_job(1_000_000, 10**9)
    assert (estimate.is_connected, estimate.calls, estimate.tokens_in, estimate.dollars, estimate.days) == (
        False,
        0,
        0,
        None,
        0,
    )


def test_with_prices_it_says_how_much(priced: Any) -> None:
    estimate = estimate_job(100, 700_000)
    assert estimate.dollars == pytest.approx((700_000 + 100 * TOKENS_IN_A_CALL + 1_000 * TOKENS_OUT_A_CALL) / 1_000_000)


def test_without_prices_it_does_not_guess(priced: Any) -> None:
    priced.LLM_PRICES = {}
    assert estimate_job(100, 700_000).dollars is None


def test_what_a_day_does_not_hold_goes_on_the_next(priced: Any) -> None:
    priced.KNOBS = {"llm.import_tokens_per_day": 1_000_000}
    a_call = TOKENS_IN_A_CALL + TOKENS_OUT_A_CALL
    assert estimate_job(1, 1_000_000 - a_call).days == 0
    assert estimate_job(1, 1_000_001 - a_call).days == 1
    priced.KNOBS = {"llm.import_tokens_per_day": 0}
    assert estimate_job(1, 10**9).days == 0


def test_the_time_is_that_of_such_calls_lately(priced: Any, mira: Persona) -> None:
    assert estimate_job(10, 0).seconds == 80
    for _number in range(3):
        LLMCall.objects.create(
            owner_id=mira.owner_id, purpose="import", provider="openai", model="small-one", tokens_in=1, tokens_out=1,
            latency_ms=2_000, outcome="ok", at=timezone.now(),
        )  # fmt: skip
    assert estimate_job(10, 0).seconds == 20


def test_a_limit_costs_its_share(priced: Any, mira: Persona) -> None:
    rows = "\n".join(f"2024-05-0{day},Ana,Line,{day}" for day in (1, 2, 3, 4))
    content = f"date,from,text,conversation_id\n{rows}\n2024-05-01,Ana,More,1".encode()
    job = analyze_file(mira, content, "messages.csv")
    whole = imports.estimate(job)
    imports.confirm(job, choices_for(job, {"Ana": "user"}, limit=1), NOW)
    assert imports.estimate(job).calls * job.found["counts"]["talks"] == whole.calls


def test_it_is_told_from_the_look_on(priced: Any, mira: Persona) -> None:
    assert imports.summarize(confirm_file(mira, TALKS, NAME))["estimate"]["calls"] == 3

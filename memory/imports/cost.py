"""Estimates the cost of an import before a person confirms it."""

from dataclasses import dataclass

from django.apps import apps
from django.db.models import Avg

from echovessel.llm.ledger import FREE, caps, cost
from echovessel.llm.providers import chosen_provider
from echovessel.llm.request import Usage
from memory.imports.choices import Choices, parse_choices
from memory.models import ImportJob

PURPOSE = "import"
# Tokens of a call beside the messages: instructions, core blocks, known names and memories; and tokens of its answer.
TOKENS_IN_A_CALL = 3_000
TOKENS_OUT_A_CALL = 900
# Used until calls have been measured.
SECONDS_A_CALL = 8.0
SECONDS_A_FREE_CALL = 0.2
_LATELY = 50


@dataclass(frozen=True)
class Estimate:
    """`dollars` is None if the prices of the model are unknown; `days` counts the further days that are needed because
    the daily budget does not suffice. Without a model, `is_connected` is False: nothing is paid, and rules extract the
    memories."""

    calls: int
    tokens_in: int
    tokens_out: int
    dollars: float | None
    seconds: int
    days: int
    is_connected: bool = True


def estimate(job: ImportJob) -> Estimate:
    """The estimate for consolidating the file's content."""
    # The share of sessions and entries that a limit allows.
    choices: Choices | None = parse_choices(job.choices) if job.choices else None
    counts = job.found.get("counts", {})
    total = counts.get("talks", 0) + counts.get("entries", 0)
    share = 1.0 if choices is None or choices.limit is None or not total else min(1.0, choices.limit / total)
    return estimate_job(job.found.get("sessions", 0), job.found.get("tokens", 0), limit=share)


def estimate_job(calls: int, tokens: int, *, limit: float = 1.0) -> Estimate:
    """The estimate for this number of calls and tokens; `limit` is the share of them to import."""
    calls, tokens = round(calls * limit), round(tokens * limit)
    provider = chosen_provider()
    if provider.name == FREE:
        return Estimate(0, 0, 0, None, round(calls * SECONDS_A_FREE_CALL), 0, is_connected=False)
    usage = Usage(tokens + calls * TOKENS_IN_A_CALL, 0, calls * TOKENS_OUT_A_CALL)
    dollars = cost(usage, provider.price(provider.model("small")))
    # The mean time of recent calls of this kind.
    past = apps.get_model("llm", "LLMCall").objects.filter(provider=provider.name, outcome="ok")
    recent_calls = past.filter(purpose__in=(PURPOSE, "extraction")).order_by("-id").values("latency_ms")[:_LATELY]
    mean = recent_calls.aggregate(mean=Avg("latency_ms"))["mean"]
    seconds_a_call = SECONDS_A_CALL if mean is None else mean / 1000
    daily_cap, _dollars = caps(PURPOSE)
    tokens_in_all = usage.tokens_in + usage.tokens_out
    return Estimate(
        calls,
        usage.tokens_in,
        usage.tokens_out,
        None if dollars is None else round(float(dollars), 4),
        round(calls * seconds_a_call),
        (tokens_in_all - 1) // daily_cap if daily_cap and tokens_in_all else 0,
    )

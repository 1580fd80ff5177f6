"""The admin's first page: how much is remembered, recall times and costs, and pending work. Numbers only, no texts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Avg, Count, F, FloatField, Func, IntegerField, Sum, Value
from django.db.models.functions import Abs, Cast
from django.urls import reverse
from django.utils.translation import gettext as _
from django_q.models import OrmQ

from chat.models import CrisisFlag, Session, Turn
from echovessel.admin.charts import Chart, Series, line_chart, stacked_chart
from echovessel.llm.models import LLMCall, Purpose
from memory.models import ConceptNode, MergeProposal, Receipt, Tombstone
from memory.models.node import MAX_IMPACT

WEEKS, DAYS = 12, 14
LATEST_TURNS, TURNS_A_POINT = 200, 20
Kind, Status = ConceptNode.Kind, ConceptNode.Status


@dataclass(frozen=True)
class PendingWork:
    """The number of rows that wait for somebody, and the page that lists them."""

    label: str
    count: int
    address: str = ""


def dashboard_context(user: User | AnonymousUser, now: datetime) -> dict[str, Any]:
    """The template's context, in a constant number of statements."""
    return {"charts": [*memory_charts(now), impact_chart(), recalls(), *costs(now)], "waiting": pending_work(user)}


def memory_charts(now: datetime) -> list[Chart]:
    """New memories by kind and week, and their mean impact."""
    rows = (
        ConceptNode.objects.filter(created_at__gt=now - timedelta(weeks=WEEKS), created_at__lte=now)
        .order_by()
        .values("kind", ago=_spans_ago(now, "created_at", 7))
        .annotate(count=Count("pk"), weight=Avg(Abs("emotional_impact")))
        .values_list("kind", "ago", "count", "weight")
    )
    counts = {(kind, ago): (count, weight) for kind, ago, count, weight in rows}
    weeks = [(now - timedelta(weeks=ago)).strftime("%m-%d") for ago in reversed(range(WEEKS))]
    kinds = [
        Series(kind.label, [counts.get((kind, ago), (0, 0))[0] for ago in reversed(range(WEEKS))]) for kind in Kind
    ]
    means: list[float | None] = []
    for ago in reversed(range(WEEKS)):
        week = [counts[kind, ago] for kind in Kind if (kind, ago) in counts]
        total = sum(count for count, _weight in week)
        means.append(sum(count * weight for count, weight in week) / total if total else None)
    return [
        stacked_chart("remembered", _("Memories by kind"), _("memories per week"), weeks, kinds),
        line_chart("weight", _("Mean impact per week"), _("from 0 to 10"), weeks, [Series(_("impact"), means)]),
    ]


def impact_chart() -> Chart:
    """The number of memories for each impact."""
    rows = ConceptNode.objects.filter(status=Status.ACTIVE).order_by().values_list("emotional_impact")
    counts = dict(rows.annotate(Count("pk")))
    bands = range(-MAX_IMPACT, MAX_IMPACT + 1)
    return stacked_chart(
        "weights",
        _("Memories by impact"),
        _("memories, by impact from −10 to 10"),
        list(bands),
        [Series(_("memories"), [counts.get(band, 0) for band in bands])],
    )


def recalls() -> Chart:
    """Recall times in the latest turns, including the embedding of the message."""
    rows = Turn.objects.order_by("-id").values_list("xray__recollections__elapsed_ms", flat=True)[:LATEST_TURNS]
    times = [sum(ms.values()) for ms in reversed(rows) if ms]
    groups = [times[first : first + TURNS_A_POINT] for first in range(0, len(times), TURNS_A_POINT)]
    columns = [
        f"{first * TURNS_A_POINT + 1}–{first * TURNS_A_POINT + len(group)}" for first, group in enumerate(groups)
    ]
    half = [float(np.median(group)) for group in groups]
    nearly_all = [float(np.quantile(group, 0.95)) for group in groups]
    return line_chart(
        "recalls",
        _("Recall time of the latest replies"),
        _("milliseconds"),
        columns,
        [Series(_("median"), half), Series(_("95th percentile"), nearly_all)],
    )


def costs(now: datetime) -> list[Chart]:
    """The tokens and costs of models, by purpose and day."""
    rows = (
        LLMCall.objects.filter(at__gt=now - timedelta(days=DAYS), at__lte=now)
        .order_by()
        .values("purpose", ago=_spans_ago(now, "at", 1))
        .annotate(dollars=Sum("cost"), tokens=Sum(F("tokens_in") + F("tokens_out")))
        .values_list("purpose", "ago", "dollars", "tokens")
    )
    spent = {(purpose, ago): (float(cost or 0), tokens) for purpose, ago, cost, tokens in rows}
    days = [(now - timedelta(days=ago)).strftime("%m-%d") for ago in reversed(range(DAYS))]
    purposes = [purpose for purpose in Purpose if any(name == purpose for name, _ago in spent)]
    return [
        stacked_chart(
            "tokens",
            _("Use of models by purpose"),
            _("tokens per 24 hours"),
            days,
            _series_by_purpose(purposes, spent, 1),
        ),
        stacked_chart(
            "cost",
            _("Cost of models by purpose"),
            _("US dollars per 24 hours"),
            days,
            _series_by_purpose(purposes, spent, 0),
        ),
    ]


def pending_work(user: User | AnonymousUser) -> list[PendingWork]:
    """Rows that wait for the job worker, and rows that wait for people."""
    sessions_by_persona = dict(
        Session.objects.filter(status__in=["closing", "consolidating", "failed"])
        .order_by()
        .values_list("status")
        .annotate(Count("pk"))
    )
    quarantined = ConceptNode.objects.filter(kind__in=Kind.values, status=Status.QUARANTINED).order_by()
    refused = Tombstone.objects.aggregate(times=Sum("refused"))["times"] or 0
    pending = Receipt.objects.filter(status=Receipt.Status.PENDING).count()
    talks_page, receipts = reverse("admin:chat_session_changelist"), reverse("admin:memory_receipt_changelist")
    events_page, names = reverse("admin:memory_event_changelist"), reverse("admin:memory_mergeproposal_changelist")
    unfinished = sessions_by_persona.get("closing", 0) + sessions_by_persona.get("consolidating", 0)
    pending_work = [
        PendingWork(_("jobs in the queue"), OrmQ.objects.count()),
        PendingWork(_("sessions waiting for consolidation"), unfinished, f"{talks_page}?status__exact=closing"),
        PendingWork(_("failed sessions"), sessions_by_persona.get("failed", 0), f"{talks_page}?status__exact=failed"),
        PendingWork(_("quarantined memories"), quarantined.count(), f"{events_page}?status__exact=quarantined"),
        PendingWork(_("pairs that may be the same person"), MergeProposal.objects.open().count(), names),
        PendingWork(_("receipts still erasing bytes"), pending, f"{receipts}?status__exact=pending"),
        PendingWork(_("writes refused as forgotten"), refused),
    ]
    if user.has_perm("chat.view_crisisflag"):
        address = f"{reverse('admin:chat_crisisflag_changelist')}?seen_at__isempty=1"
        unseen = CrisisFlag.objects.filter(seen_at=None).count()
        pending_work.append(PendingWork(_("unseen crisis flags"), unseen, address))
    return pending_work


def _spans_ago(now: datetime, field: str, days: int) -> Cast:
    """The number of whole spans of `days` before `now`, in SQLite's own arithmetic: Django's would call Python per
    row."""
    at = Func(F(field), function="julianday", output_field=FloatField())
    today = Func(Value(now.astimezone(UTC).strftime("%F %T")), function="julianday", output_field=FloatField())
    return Cast((today - at) / days, IntegerField())


def _series_by_purpose(
    purposes: Iterable[Purpose], spent: Mapping[tuple[str, int], tuple[float, int]], which: int
) -> list[Series]:
    return [
        Series(purpose.label, [spent.get((purpose, ago), (0, 0))[which] for ago in reversed(range(DAYS))])
        for purpose in purposes
    ]

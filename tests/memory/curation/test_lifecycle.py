"""Ageing of memories: unconfirmed, settled and, if enabled, old and slight ones are archived."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from echovessel import schedule
from memory.curation import lifecycle
from memory.curation.actions import unarchive
from memory.curation.lifecycle import Facts, Verdict, decide
from memory.models import ConceptNode
from persona.models import Persona
from tests.memory.sessions import NOW
from tests.memory.store.test_writing import published

Remember = Callable[..., ConceptNode]


def days(number: float) -> Any:
    return NOW - timedelta(days=number)


GUESS = Facts(
    kind="event",
    source="extraction",
    status="active",
    verification="unverified",
    pinned=False,
    confidence=0.3,
    impact=0,
    relational_tags=(),
    mention_count=1,
    access_count=9,
    created_at=days(31),
    resolved_at=None,
)
KEPT = replace(GUESS, kind="intention", confidence=1.0, resolved_at=days(91), relational_tags=("commitment",))
SLIGHT = replace(GUESS, confidence=1.0, access_count=2, impact=2, created_at=days(91))


@pytest.mark.parametrize(
    ("facts", "verdict"),
    [
        (GUESS, Verdict.EXPIRE),
        (replace(GUESS, kind="thought"), Verdict.EXPIRE),
        (replace(GUESS, confidence=0.4), Verdict.KEEP),
        (replace(GUESS, created_at=days(29)), Verdict.KEEP),
        (replace(GUESS, verification="confirmed"), Verdict.KEEP),
        (replace(GUESS, verification="disputed"), Verdict.KEEP),
        (replace(GUESS, pinned=True), Verdict.KEEP),
        (replace(GUESS, mention_count=2), Verdict.KEEP),
        (replace(GUESS, source="person"), Verdict.KEEP),
        (KEPT, Verdict.SETTLE),
        (replace(KEPT, kind="expectation"), Verdict.SETTLE),
        (replace(KEPT, verification="confirmed"), Verdict.SETTLE),
        (replace(KEPT, kind="event"), Verdict.KEEP),
        (replace(KEPT, resolved_at=days(89)), Verdict.KEEP),
        (replace(KEPT, resolved_at=None), Verdict.KEEP),
        (replace(KEPT, pinned=True), Verdict.KEEP),
        (SLIGHT, Verdict.ARCHIVE),
        (replace(SLIGHT, kind="thought", impact=-2), Verdict.ARCHIVE),
        (replace(SLIGHT, verification="disputed"), Verdict.ARCHIVE),
        (replace(SLIGHT, kind="intention"), Verdict.KEEP),
        (replace(SLIGHT, impact=-3), Verdict.KEEP),
        (replace(SLIGHT, access_count=3), Verdict.KEEP),
        (replace(SLIGHT, created_at=days(89)), Verdict.KEEP),
        (replace(SLIGHT, relational_tags=("identity-bearing",)), Verdict.KEEP),
        (replace(SLIGHT, relational_tags=("commitment",)), Verdict.KEEP),
        (replace(SLIGHT, relational_tags=("unresolved",)), Verdict.ARCHIVE),
        (replace(SLIGHT, verification="confirmed"), Verdict.KEEP),
        (replace(SLIGHT, pinned=True), Verdict.KEEP),
        (replace(SLIGHT, source="person"), Verdict.KEEP),
    ],
)
def test_a_memory_is_kept_archived_or_expired_by_its_facts(settings: Any, facts: Facts, verdict: Verdict) -> None:
    settings.KNOBS = {"memory.archive_old": 1}
    assert decide(facts, NOW) == verdict


@pytest.mark.parametrize("facts", [GUESS, KEPT, SLIGHT])
@pytest.mark.parametrize("status", ["hidden", "superseded", "archived", "quarantined"])
def test_what_may_not_be_recalled_stays_as_it_is(settings: Any, facts: Facts, status: str) -> None:
    settings.KNOBS = {"memory.archive_old": 1}
    assert decide(replace(facts, status=status), NOW) == Verdict.KEEP


def test_nothing_leaves_for_its_age_unless_that_is_wished() -> None:
    assert decide(SLIGHT, NOW) == Verdict.KEEP
    assert decide(GUESS, NOW) == Verdict.EXPIRE


@pytest.fixture
def three(mira: Persona, remember: Remember) -> list[ConceptNode]:
    """One memory of each kind, and one that stays."""
    remember(mira, "Ana has a cat.", created_at=days(500))
    return [
        remember(mira, "Ana may move.", confidence=0.1, created_at=days(40)),
        remember(mira, "Mira will ask.", kind="intention", resolved_at=days(100), outcome="fulfilled"),
        remember(mira, "Ana ate soup.", created_at=days(400)),
    ]


@pytest.mark.django_db
def test_each_gets_its_due_once_and_can_be_had_back(settings: Any, three: list[ConceptNode]) -> None:
    settings.KNOBS = {"memory.archive_old": 1}
    ConceptNode.objects.filter(description="Ana has a cat.").update(pinned=True)
    expected = {"expire": 1, "settle": 1, "archive": 1}
    assert lifecycle.run(NOW, dry_run=True) == expected
    assert not ConceptNode.objects.filter(status="archived").exists()
    assert lifecycle.run(NOW) == expected
    assert not lifecycle.run(NOW)
    nodes = [ConceptNode.objects.get(pk=node.pk) for node in three]
    assert [(node.status, node.archived_because) for node in nodes] == [
        ("archived", "expired"),
        ("archived", "settled"),
        ("archived", "old"),
    ]
    assert [event["change"] for event in published("memory.node.updated")] == ["archived"] * 3
    assert unarchive(nodes[0])
    assert (nodes[0].status, nodes[0].archived_because) == ("active", "")


@pytest.mark.django_db
def test_very_many_are_seen_to_as_few_are(mira: Persona, remember: Remember, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifecycle, "BATCH", 2)
    for number in range(5):
        remember(mira, f"Ana may move to {number}.", confidence=0.1, created_at=days(40))
    assert lifecycle.run(NOW) == {"expire": 5}


@pytest.mark.django_db
def test_the_command_says_what_it_would_do_and_does_it(three: list[ConceptNode]) -> None:
    ConceptNode.objects.update(created_at=days(4_000), resolved_at=None)
    output = StringIO()
    call_command("lifecycle", "--dry-run", stdout=output)
    assert "to be archived, doubtful, and never confirmed: 1" in output.getvalue()
    assert ConceptNode.objects.recallable().count() == 4
    call_command("lifecycle", stdout=output)
    assert ConceptNode.objects.recallable().count() == 3


@pytest.mark.django_db
def test_a_job_does_it_every_day(three: list[ConceptNode]) -> None:
    ConceptNode.objects.update(created_at=days(4_000), resolved_at=None)
    assert schedule.daily()["expire"] == 1

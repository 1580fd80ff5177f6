"""A plan lists the rows to be deleted and the reasons, in words, before anything is deleted."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from chat.models import Session
from memory.forgetting import KINDS, REASONS, Choice, Plan, Target, plan
from memory.models import Entity
from persona.models import CoreBlock, Persona
from tests.memory.forgetting.life import FORGOTTEN, NOW, TOLD, Life, lived, node, quoting, say
from tests.memory.forgetting.totals import totals
from tests.table import each_row

CASCADE = Choice()


@pytest.fixture
def life(mira: Persona) -> Life:
    return lived(mira)


def plan_for(life: Life, choice: Choice = CASCADE) -> Plan:
    return plan([Target("node", life.milo.pk)], choice)


def describe_section(plan: Plan, section: str) -> set[tuple[str, str, str]]:
    return {(item.kind, item.text, item.why) for item in {**plan.sections, "mentioned": plan.mentioned}[section]}


def test_everything_that_goes_is_told_with_its_words_and_its_reason(life: Life) -> None:
    assert describe_section(plan_for(life), "going") == {
        ("event", FORGOTTEN[1], "chosen"),
        ("event", FORGOTTEN[3], "earlier"),
        ("event", life.week.description, "same_lines"),
        ("thought", FORGOTTEN[2], "rests_on"),
        ("thought", life.renewal.description, "rests_on"),
        ("message", TOLD, "words_of"),
        ("message", f"You told me: {TOLD}", "echo"),
        ("message", "Hard: the cat, and Lisbon.", "echo"),
        ("entity", "Milo", "unmentioned"),
        ("entity", "Milou", "unmentioned"),
    }


def test_what_is_wiped_is_told_with_the_words_that_stand_there(life: Life) -> None:
    assert describe_section(plan_for(life), "erased") == {
        ("summary", "Milo's death, and pottery.", "written_from"),
        ("description", "The city where Milo died.", "written_from"),
        ("mood", "sad for Milo · grieving", "felt_in"),
    }


def test_what_people_wrote_about_it_is_named_and_not_touched(life: Life) -> None:
    CoreBlock.objects.filter(persona=life.persona, label="user").update(content="Ana had a cat. It died in Lisbon.")
    assert describe_section(plan_for(life), "elsewhere") == {
        ("core_block", "Ana had a cat. It died in Lisbon.", "written_by_people")
    }
    assert "persona_coreblock" not in " ".join(plan_for(life).counts)


def test_a_later_version_is_named_and_stays(life: Life) -> None:
    planned = plan([Target("node", life.ill.pk)], Choice("orphan"))
    assert describe_section(planned, "elsewhere") >= {("event", FORGOTTEN[1], "later")}
    assert life.milo.pk not in {item.key for item in planned.deleted if item.kind == "event"}


@each_row(
    "kind, choice",
    [
        (kind, choice)
        for kind in ("node", "message", "session", "entity")
        for choice in (Choice(), Choice("orphan"), Choice("cascade", "withhold"))
    ],
)
def test_every_reason_and_kind_has_words(life: Life, kind: str, choice: Choice) -> None:
    keys = {
        "node": life.milo.pk,
        "message": life.told.pk,
        "session": life.talk.pk,
        "entity": Entity.objects.get(canonical_name="Lisbon").pk,
    }
    planned = plan([Target(kind, keys[kind])], choice)  # type: ignore[arg-type]
    affected = [item for rows in planned.sections.values() for item in rows]
    assert {item.why for item in affected} <= REASONS.keys()
    assert {item.kind for item in affected} <= KINDS.keys()
    assert affected


def test_planning_writes_nothing(life: Life) -> None:
    before = totals()
    with CaptureQueriesContext(connection) as queries:
        plan_for(life)
    assert totals() == before
    assert {query["sql"].split()[0] for query in queries} == {"SELECT"}


def test_the_digest_is_of_what_goes_and_of_the_choice_and_not_of_copies(life: Life) -> None:
    before = plan_for(life)
    Session.objects.filter(pk=life.talk.pk).update(summary="Something else.")
    assert plan_for(life).digest == before.digest
    assert plan_for(life).counts == before.counts
    assert plan_for(life, Choice("orphan")).digest != before.digest
    message = say(life.persona, "Something new.", "Yes.", minutes=900)
    assert plan_for(life).digest == before.digest
    node(life.persona, "She misses her cat.", message.session, kind="thought", on=[life.milo])
    assert plan_for(life).digest != before.digest


def test_several_targets_are_one_plan(life: Life) -> None:
    message = say(life.persona, "I sold my old bicycle to a stranger.", "Ah.", minutes=900)
    sold = node(life.persona, "Ana sold her old bicycle.", message.session, quoting(message), created_at=NOW)
    both = plan([Target("node", life.milo.pk), Target("node", sold.pk)])
    first, other = plan_for(life), plan([Target("node", sold.pk)])
    assert both.counts["chat_message"] == first.counts["chat_message"] + other.counts["chat_message"]
    assert {affected.key for affected in both.deleted} == {
        affected.key for p in (first, other) for affected in p.deleted
    }


def test_a_plan_takes_few_statements_however_much_it_reaches(life: Life) -> None:
    everything = [Target("node", pk) for pk in life.persona.nodes.values_list("pk", flat=True)]
    for targets in ([Target("node", life.milo.pk)], everything):
        with CaptureQueriesContext(connection) as statements:
            assert plan(targets).deleted
        assert len(statements) <= 70

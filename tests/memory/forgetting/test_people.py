"""A persona, or an owner with all their data, is deleted completely; nobody else loses a row."""

import pytest
from axes.models import AccessAttempt
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session as Login
from django.db import connection
from django.test import Client

from chat.models import Message, Turn
from echovessel.llm.models import LLMCall
from echovessel.outbox.models import OutboxEvent
from memory import forgetting
from memory.forgetting import Busy, LastSuperuser, PlanChanged, Target, plan
from memory.models import ConceptNode, Receipt
from memory.store import tombstones
from persona.models import Persona
from persona.onboarding.creation import create_persona
from tests.memory.forgetting.life import NOW, lived
from tests.memory.forgetting.totals import ADDED, rows_of, totals


def target_of(of: Persona | User) -> Target:
    return Target("persona" if isinstance(of, Persona) else "owner", of.pk)


def removed_rows(before: dict[str, int]) -> dict[str, int]:
    now = totals()
    added_tables = ADDED - {"memory_tombstone"}
    return {
        table: before[table] - now[table]
        for table in before
        if before[table] != now[table] and table not in added_tables
    }


@pytest.fixture
def lives(mira: Persona, otto: Persona) -> tuple[Persona, Persona]:
    """Two personas of two owners with a life each; the first owner has forgotten a memory before."""
    life = lived(mira)
    lived(otto)
    forgetting.forget(plan([Target("node", life.pottery.pk)]), None, NOW)
    tombstones.add_tombstone(mira, "A secret that was buried long ago.")
    return mira, otto


@pytest.mark.parametrize("kind", ["persona", "owner"])
def test_the_receipt_counts_what_the_plan_said_and_the_others_keep_theirs(
    lives: tuple[Persona, Persona], kind: str
) -> None:
    mira, otto = lives
    target = target_of(mira if kind == "persona" else mira.owner)
    theirs = list(Message.objects.filter(persona=otto).values())
    planned, before = plan([target]), totals()
    receipt = forgetting.forget(planned, None, NOW)
    assert receipt.counts == planned.counts
    gone = removed_rows(before)
    gone["outbox_outboxevent"] += 2  # the events of the deletion and of the revoked access
    assert gone == rows_of(planned.counts)
    assert list(Message.objects.filter(persona=otto).values()) == theirs
    assert plan([target]).is_empty
    with connection.cursor() as cursor:
        assert cursor.execute("PRAGMA foreign_key_check").fetchall() == []


def test_a_receipt_outlives_the_persona_and_names_her_by_her_id(lives: tuple[Persona, Persona]) -> None:
    mira, _ = lives
    uuid, earlier = mira.uuid, Receipt.objects.get()
    receipt = forgetting.forget(plan([target_of(mira)]), mira.owner, NOW)
    earlier.refresh_from_db()
    assert (earlier.persona, earlier.persona_uuid, earlier.owner_id) == (None, uuid, mira.owner_id)
    assert (receipt.persona, receipt.persona_uuid, receipt.by) == (None, uuid, mira.owner)
    (news,) = OutboxEvent.objects.filter(stream=uuid)
    assert news.data == {"persona_ids": [str(uuid)]}


def test_costs_of_a_deleted_persona_stay_with_the_owner(lives: tuple[Persona, Persona]) -> None:
    mira, _ = lives
    calls = LLMCall.objects.filter(owner=mira.owner).count()
    forgetting.forget(plan([target_of(mira)]), None, NOW)
    kept_calls = LLMCall.objects.filter(owner=mira.owner, persona_uuid=None, session_uuid=None, turn_uuid=None)
    assert kept_calls.count() == calls == 1


def test_with_the_owner_go_logins_attempts_costs_and_notes(lives: tuple[Persona, Persona], client: Client) -> None:
    mira, otto = lives
    client.force_login(mira.owner)
    other = Client()
    other.force_login(otto.owner)
    AccessAttempt.objects.create(username="ana", ip_address="::1", user_agent="-", failures_since_start=1)
    second = create_persona(mira.owner, "Second")
    about = {"content_type": ContentType.objects.get_for_model(Persona), "object_id": str(second.pk)}
    LogEntry.objects.create(user=otto.owner, object_repr="a name", action_flag=2, **about)
    receipt = forgetting.forget(plan([target_of(mira.owner)]), mira.owner, NOW)
    assert receipt.by is None
    assert Login.objects.count() == 1
    assert not User.objects.filter(username="ana").exists()
    assert not AccessAttempt.objects.exists()
    assert not LLMCall.objects.exclude(owner=otto.owner).exists()
    assert set(LogEntry.objects.values_list("user", "object_repr")) >= {(otto.owner_id, "")}
    assert "a name" not in LogEntry.objects.values_list("object_repr", flat=True)


def test_while_a_reply_is_written_she_stays(lives: tuple[Persona, Persona]) -> None:
    mira, _ = lives
    Turn.objects.create(persona=mira, session=mira.sessions.latest("id"), status="running")
    with pytest.raises(Busy):
        forgetting.forget(plan([target_of(mira.owner)]), None, NOW)
    assert ConceptNode.objects.of(mira).exists()


def test_a_persona_made_since_the_plan_is_not_swept_away(lives: tuple[Persona, Persona]) -> None:
    mira, _ = lives
    planned = plan([target_of(mira.owner)])
    create_persona(mira.owner, "Second")
    with pytest.raises(PlanChanged):
        forgetting.forget(planned, None, NOW)
    assert Persona.objects.filter(owner=mira.owner).count() == 2


def test_the_last_superuser_stays_until_there_is_another(ana: User, ben: User) -> None:
    User.objects.filter(pk=ana.pk).update(is_superuser=True)
    with pytest.raises(LastSuperuser):
        forgetting.forget(plan([target_of(ana)]), ana, NOW)
    User.objects.filter(pk=ben.pk).update(is_superuser=True)
    forgetting.forget(plan([target_of(ana)]), ana, NOW)
    assert not User.objects.filter(pk=ana.pk).exists()


def test_a_persona_is_forgotten_alone(lives: tuple[Persona, Persona]) -> None:
    with pytest.raises(ValueError, match="only target"):
        plan([target_of(lives[0]), target_of(lives[1])])

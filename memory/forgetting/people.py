"""Forget a whole persona, or an owner with everything they own: by foreign keys, not row by row.

Tombstones are deleted as well: an owner who restores a persona from an archive wants it back.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import AbstractBaseUser, User
from django.contrib.sessions.models import Session as Login
from django.db import transaction
from django.db.models import Q, TextField
from django.db.models.functions import Cast
from django_q.models import Task

from echovessel.db import text_columns
from echovessel.db.text_columns import OnForget
from echovessel.llm.models import LLMCall
from echovessel.outbox import events
from echovessel.outbox.models import OutboxEvent
from echovessel.web import access_revocation
from memory.erasure import receipts
from memory.forgetting import registry
from memory.forgetting.registry import Rows, among
from memory.forgetting.types import Choice, Plan, PlanChanged, Target, digest_of, empty_plan, hold
from memory.models import Receipt
from persona.models import Persona


class LastSuperuser(Exception):
    """No active superuser would be left for the installation: create another one first."""


@dataclass(frozen=True)
class Whole:
    """The rows to forget: one persona of an owner, or the owner with all their personas."""

    target: Target
    owner: Any
    personas: Sequence[Persona]

    @property
    def is_owner(self) -> bool:
        return self.target.kind == "owner"


def plan(target: Target, choice: Choice) -> Plan:
    """The plan with counts only: the text of a whole persona or owner is not listed."""
    whole = _whole(target)
    return empty_plan([target], choice) if whole is None else _plan(whole, choice)


def forget(confirmed: Plan, by: AbstractBaseUser | None, now: datetime) -> Receipt:
    """Delete everything in one transaction. Raises Busy, PlanChanged and LastSuperuser."""
    (target,) = confirmed.targets
    with transaction.atomic():
        whole = _whole(target)
        if whole is None:
            raise PlanChanged(empty_plan([target], confirmed.choice))
        hold(whole.personas)
        current = _plan(whole, confirmed.choice)
        if current.digest != confirmed.digest:
            raise PlanChanged(current)
        if whole.is_owner and is_last_superuser(whole.owner):
            raise LastSuperuser
        # Delete all rows; raises RuntimeError if any is left.
        for name, rows in _referring(whole).items():
            rows.update(**_FORGOTTEN.get(name, {name.split(".")[1]: None}))
        going = _going(whole)
        with registry.bulk_deletion(going["chat_message"].count() + going["memory_conceptnode"].count()):
            for rows in going.values():
                rows._raw_delete(rows.db)
        for table, rows in going.items():
            if rows.exists():
                raise RuntimeError(f"rows of {table} are left")
        receipt = _receipt(whole, current, by, now)
        for persona in whole.personas:
            events.publish(persona.uuid, "memory.node.forgotten", persona_ids=[str(persona.uuid)])
        access_revocation.publish_change(whole.owner.pk)
        transaction.on_commit(lambda: receipts.finish(receipt, now))
    return receipt


def is_last_superuser(user: Any) -> bool:
    """Whether others have accounts and none of them is an active superuser. The only user of an installation may delete
    their account: the next start shows a first-run link."""
    others = User.objects.exclude(pk=user.pk)
    return bool(user.is_superuser) and others.exists() and not others.filter(is_superuser=True, is_active=True).exists()


def _whole(target: Target) -> Whole | None:
    """The rows to forget; None if they are already gone."""
    if target.kind == "persona":
        hers = list(Persona.objects.filter(pk=target.key).select_related("owner"))
        return Whole(target, hers[0].owner, hers) if hers else None
    owner = User.objects.filter(pk=target.key).first()
    return Whole(target, owner, list(Persona.objects.filter(owner=owner))) if owner else None


def _plan(whole: Whole, choice: Choice) -> Plan:
    counts = {name: rows.count() for name, rows in {**_going(whole), **_referring(whole)}.items()}
    keys = {"personas": sorted(persona.pk for persona in whole.personas)}
    return Plan(
        persona=None if whole.is_owner else whole.personas[0],
        owner=whole.owner,
        targets=(whole.target,),
        choice=choice,
        going=(),
        staying=(),
        withheld=(),
        erased=(),
        elsewhere=(),
        mentioned=(),
        counts={name: count for name, count in sorted(counts.items()) if count},
        digest=digest_of([whole.target], choice, keys),
    )


# --- rows to delete, in order ---------------------------------------------------------------------------------------
def _going(whole: Whole) -> dict[str, Rows]:
    """The rows by table: those of the personas; with an account also rows that refer to it, and its sign-ins."""
    personas = whole.personas
    rows: dict[str, Rows] = {
        OutboxEvent._meta.db_table: OutboxEvent.objects.filter(stream__in=among(persona.uuid for persona in personas)),
        Task._meta.db_table: Task.objects.filter(success=False),  # a traceback may quote anybody
        **registry.rows_of(Persona, [persona.pk for persona in personas]),
    }
    if not whole.is_owner:
        return rows
    owner = whole.owner
    for model in text_columns.models_with(OnForget.ACCOUNTS):
        if model is not User and "username" in {column.name for column in model._meta.local_fields}:
            rows[model._meta.db_table] = model._default_manager.filter(username=owner.get_username())
    # Logins are encrypted, so each has to be decoded.
    logins = Login.objects.all().iterator()
    rows[Login._meta.db_table] = Login.objects.filter(
        pk__in=[login.pk for login in logins if login.get_decoded().get("_auth_user_id") == str(owner.pk)]
    )
    return rows | registry.rows_of(User, [owner.pk], but=frozenset([Persona]))


# --- rows that stay and lose a reference ----------------------------------------------------------------------------
def _referring(whole: Whole) -> dict[str, Rows]:
    """Rows that stay and refer to deleted ones, by table and column; and the admin's log entries about these."""
    referring = registry.rows_that_lose(Persona, [persona.pk for persona in whole.personas])
    if whole.is_owner:
        referring |= registry.rows_that_lose(User, [whole.owner.pk])
    else:
        uuids = among(persona.uuid for persona in whole.personas)
        referring["llm_llmcall.persona_uuid"] = LLMCall.objects.filter(persona_uuid__in=uuids)
    about = Q(pk__in=[])
    for rows in _going(whole).values():
        ids = rows.order_by().annotate(as_text=Cast("pk", TextField())).values("as_text")
        about |= Q(content_type__in=registry.content_types(rows.model._meta.db_table), object_id__in=ids)
    entries = LogEntry.objects.exclude(user=whole.owner) if whole.is_owner else LogEntry.objects.all()
    return referring | {
        "django_admin_log.object_repr": entries.filter(about).exclude(object_repr="", change_message="")
    }


_FORGOTTEN: Mapping[str, Mapping[str, Any]] = {
    "llm_llmcall.persona_uuid": {"persona_uuid": None, "session_uuid": None, "turn_uuid": None},
    "django_admin_log.object_repr": {"object_repr": "", "change_message": ""},
}


def _receipt(whole: Whole, plan: Plan, by: AbstractBaseUser | None, now: datetime) -> Receipt:
    uuids = [str(persona.uuid) for persona in whole.personas]
    is_gone = by is None or (whole.is_owner and by.pk == whole.owner.pk)
    return Receipt.objects.create(
        persona_uuid=None if whole.is_owner else whole.personas[0].uuid,
        owner_id=whole.target.key if whole.is_owner else whole.owner.pk,
        targets=[[whole.target.kind, str(whole.target.key) if whole.is_owner else uuids[0]]],
        counts=dict(plan.counts),
        erased={"persona": uuids} if uuids else {},
        by_id=None if is_gone or by is None else by.pk,
        at=now,
    )

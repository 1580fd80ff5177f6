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
from memory.forgetting.types import (
    Choice,
    Plan,
    PlanChanged,
    Target,
    digest_of,
    empty_plan,
    require_no_reply_in_progress,
)
from memory.models import Receipt
from persona.models import Persona


class LastSuperuser(Exception):
    """No active superuser would be left for the installation: create another one first."""


@dataclass(frozen=True)
class DeletionScope:
    """The rows to forget: one persona of an owner, or the owner with all their personas."""

    target: Target
    owner: Any
    personas: Sequence[Persona]

    @property
    def is_owner(self) -> bool:
        return self.target.kind == "owner"


def plan(target: Target, choice: Choice) -> Plan:
    """The plan with counts only: the text of a whole persona or owner is not listed."""
    scope = _load_scope(target)
    return empty_plan([target], choice) if scope is None else _plan(scope, choice)


def forget(confirmed: Plan, by: AbstractBaseUser | None, now: datetime) -> Receipt:
    """Delete everything in one transaction. Raises Busy, PlanChanged and LastSuperuser."""
    (target,) = confirmed.targets
    with transaction.atomic():
        scope = _load_scope(target)
        if scope is None:
            raise PlanChanged(empty_plan([target], confirmed.choice))
        require_no_reply_in_progress(scope.personas)
        current = _plan(scope, confirmed.choice)
        if current.digest != confirmed.digest:
            raise PlanChanged(current)
        if scope.is_owner and is_last_superuser(scope.owner):
            raise LastSuperuser
        # Delete all rows; raises RuntimeError if any is left.
        for name, rows in _rows_to_clear(scope).items():
            rows.update(**_CLEARED_VALUES.get(name, {name.split(".")[1]: None}))
        rows_to_delete = _rows_to_delete(scope)
        with registry.bulk_deletion(
            rows_to_delete["chat_message"].count() + rows_to_delete["memory_conceptnode"].count()
        ):
            for rows in rows_to_delete.values():
                rows._raw_delete(rows.db)
        for table, rows in rows_to_delete.items():
            if rows.exists():
                raise RuntimeError(f"rows of {table} are left")
        receipt = _create_receipt(scope, current, by, now)
        for persona in scope.personas:
            events.publish(persona.uuid, "memory.node.forgotten", persona_ids=[str(persona.uuid)])
        access_revocation.publish_change(scope.owner.pk)
        transaction.on_commit(lambda: receipts.finish(receipt, now))
    return receipt


def is_last_superuser(user: Any) -> bool:
    """Whether others have accounts and none of them is an active superuser. The only user of an installation may delete
    their account: the next start shows a first-run link."""
    other_users = User.objects.exclude(pk=user.pk)
    return (
        bool(user.is_superuser)
        and other_users.exists()
        and not other_users.filter(is_superuser=True, is_active=True).exists()
    )


def _load_scope(target: Target) -> DeletionScope | None:
    """The rows to forget; None if they are already gone."""
    if target.kind == "persona":
        personas = list(Persona.objects.filter(pk=target.key).select_related("owner"))
        return DeletionScope(target, personas[0].owner, personas) if personas else None
    owner = User.objects.filter(pk=target.key).first()
    return DeletionScope(target, owner, list(Persona.objects.filter(owner=owner))) if owner else None


def _plan(scope: DeletionScope, choice: Choice) -> Plan:
    counts = {name: rows.count() for name, rows in {**_rows_to_delete(scope), **_rows_to_clear(scope)}.items()}
    keys = {"personas": sorted(persona.pk for persona in scope.personas)}
    return Plan(
        persona=None if scope.is_owner else scope.personas[0],
        owner=scope.owner,
        targets=(scope.target,),
        choice=choice,
        deleted=(),
        staying=(),
        withheld=(),
        erased=(),
        untouched=(),
        mentioned=(),
        counts={name: count for name, count in sorted(counts.items()) if count},
        digest=digest_of([scope.target], choice, keys),
    )


# --- rows to delete, in order ---------------------------------------------------------------------------------------
def _rows_to_delete(scope: DeletionScope) -> dict[str, Rows]:
    """The rows by table: those of the personas; with an account also rows that refer to it, and its sign-ins."""
    personas = scope.personas
    rows: dict[str, Rows] = {
        OutboxEvent._meta.db_table: OutboxEvent.objects.filter(stream__in=among(persona.uuid for persona in personas)),
        Task._meta.db_table: Task.objects.filter(success=False),  # a traceback may quote anybody
        **registry.rows_of(Persona, [persona.pk for persona in personas]),
    }
    if not scope.is_owner:
        return rows
    owner = scope.owner
    for model in text_columns.models_with(OnForget.ACCOUNTS):
        if model is not User and "username" in {column.name for column in model._meta.local_fields}:
            rows[model._meta.db_table] = model._default_manager.filter(username=owner.get_username())
    # Logins are encrypted, so each has to be decoded.
    logins = Login.objects.all().iterator()
    rows[Login._meta.db_table] = Login.objects.filter(
        pk__in=[login.pk for login in logins if login.get_decoded().get("_auth_user_id") == str(owner.pk)]
    )
    return rows | registry.rows_of(User, [owner.pk], excluded=frozenset([Persona]))


# --- rows that stay and lose a reference ----------------------------------------------------------------------------
def _rows_to_clear(scope: DeletionScope) -> dict[str, Rows]:
    """Rows that stay and refer to deleted ones, by table and column; and the admin's log entries about these."""
    rows_to_clear = registry.rows_to_set_null(Persona, [persona.pk for persona in scope.personas])
    if scope.is_owner:
        rows_to_clear |= registry.rows_to_set_null(User, [scope.owner.pk])
    else:
        uuids = among(persona.uuid for persona in scope.personas)
        rows_to_clear["llm_llmcall.persona_uuid"] = LLMCall.objects.filter(persona_uuid__in=uuids)
    is_about_deleted = Q(pk__in=[])
    for rows in _rows_to_delete(scope).values():
        ids = rows.order_by().annotate(as_text=Cast("pk", TextField())).values("as_text")
        is_about_deleted |= Q(content_type__in=registry.content_types(rows.model._meta.db_table), object_id__in=ids)
    entries = LogEntry.objects.exclude(user=scope.owner) if scope.is_owner else LogEntry.objects.all()
    return rows_to_clear | {
        "django_admin_log.object_repr": entries.filter(is_about_deleted).exclude(object_repr="", change_message="")
    }


_CLEARED_VALUES: Mapping[str, Mapping[str, Any]] = {
    "llm_llmcall.persona_uuid": {"persona_uuid": None, "session_uuid": None, "turn_uuid": None},
    "django_admin_log.object_repr": {"object_repr": "", "change_message": ""},
}


def _create_receipt(scope: DeletionScope, plan: Plan, by: AbstractBaseUser | None, now: datetime) -> Receipt:
    uuids = [str(persona.uuid) for persona in scope.personas]
    is_account_deleted = by is None or (scope.is_owner and by.pk == scope.owner.pk)
    return Receipt.objects.create(
        persona_uuid=None if scope.is_owner else scope.personas[0].uuid,
        owner_id=scope.target.key if scope.is_owner else scope.owner.pk,
        targets=[[scope.target.kind, str(scope.target.key) if scope.is_owner else uuids[0]]],
        counts=dict(plan.counts),
        erased={"persona": uuids} if uuids else {},
        by_id=None if is_account_deleted or by is None else by.pk,
        at=now,
    )

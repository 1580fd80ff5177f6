"""Forgetting a whole persona, or an owner with everything that is theirs: by whose it is, not row by row.

Tombstones go with it: whoever brings a persona back from an archive of theirs wants it back.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import AbstractBaseUser, User
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session as Login
from django.db import models, transaction
from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast
from django_q.models import Task

from chat.models import CrisisFlag, Message, MessageText, Session, Turn
from echovessel.llm.models import LLMCall
from echovessel.outbox import events
from echovessel.outbox.models import OutboxEvent
from echovessel.web import access_revocation
from memory.forgetting import cleanup
from memory.forgetting.bulk_delete import at_once
from memory.forgetting.confirmation import digest_of
from memory.forgetting.reply_hold import hold
from memory.forgetting.rows import among
from memory.forgetting.types import Choice, Plan, PlanChanged, Target
from memory.models import (
    Alias,
    ConceptNode,
    Entity,
    Evidence,
    Extraction,
    Filling,
    ImportChunk,
    ImportJob,
    ImportPiece,
    ImportRun,
    Mention,
    MergeProposal,
    ModelReply,
    NodeText,
    NodeVector,
    NodeVersion,
    Question,
    QuestionGround,
    Receipt,
    ReflectionRun,
    SlowCycle,
    SlowCycleRun,
    StagedVector,
    Tombstone,
)
from persona.models import CoreBlock, CoreBlockVersion, CoreDraft, DraftQuote, MoodChange, Persona

Rows = QuerySet[Any]


class LastSuperuser(Exception):
    """Nobody would be left who may look after the installation: make another superuser first."""


def are_people(targets: Sequence[Target]) -> bool:
    """Whether the targets are a persona or an owner, and not what one persona has. Raises ValueError for more than one
    of them at once."""
    found = [target for target in targets if target.kind in ("persona", "owner")]
    if found and len(targets) > 1:
        raise ValueError("a persona or an owner is forgotten alone")
    return bool(found)


@dataclass(frozen=True)
class Whole:
    """All that goes: one persona of an owner, or the owner with every persona of theirs."""

    target: Target
    owner: Any
    personas: Sequence[Persona]

    @property
    def is_owner(self) -> bool:
        return self.target.kind == "owner"


def plan(target: Target, choice: Choice) -> Plan:
    """The plan by its counts: of all that somebody has no words are shown."""
    whole = _whole(target)
    return _nothing(target, choice) if whole is None else _plan(whole, choice)


def forget(confirmed: Plan, by: AbstractBaseUser | None, now: datetime) -> Receipt:
    """Delete it all in one transaction. Raises Busy, PlanChanged and LastSuperuser."""
    (target,) = confirmed.targets
    with transaction.atomic():
        whole = _whole(target)
        if whole is None:
            raise PlanChanged(_nothing(target, confirmed.choice))
        hold(whole.personas)
        found = _plan(whole, confirmed.choice)
        if found.digest != confirmed.digest:
            raise PlanChanged(found)
        if whole.is_owner and is_last_superuser(whole.owner):
            raise LastSuperuser
        _delete(whole)
        receipt = _receipt(whole, found, by, now)
        for persona in whole.personas:
            events.publish(persona.uuid, "memory.node.forgotten", persona_ids=[str(persona.uuid)])
        access_revocation.publish_change(whole.owner.pk)
        transaction.on_commit(lambda: cleanup.finish(receipt, now))
    return receipt


def is_last_superuser(user: Any) -> bool:
    """Whether others have accounts, and none of them could look after the installation. Whoever is alone in it may
    leave: who starts it again gets a first-run link."""
    others = User.objects.exclude(pk=user.pk)
    return bool(user.is_superuser) and others.exists() and not others.filter(is_superuser=True, is_active=True).exists()


def _whole(target: Target) -> Whole | None:
    """Who goes; None where they are gone."""
    if target.kind == "persona":
        hers = list(Persona.objects.filter(pk=target.key).select_related("owner"))
        return Whole(target, hers[0].owner, hers) if hers else None
    owner = User.objects.filter(pk=target.key).first()
    return Whole(target, owner, list(Persona.objects.filter(owner=owner))) if owner else None


def _plan(whole: Whole, choice: Choice) -> Plan:
    counted = {name: rows.count() for name, rows in {**_going(whole), **_let_go(whole)}.items()}
    told = {"personas": sorted(persona.pk for persona in whole.personas)}
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
        counts={name: count for name, count in sorted(counted.items()) if count},
        digest=digest_of([whole.target], choice, told),
    )


def _nothing(target: Target, choice: Choice) -> Plan:
    return Plan(None, None, (target,), choice, (), (), (), (), (), (), {}, digest_of([target], choice, {}))


# --- what goes, in the order in which it does -----------------------------------------------------------------------
def _going(whole: Whole) -> dict[str, Rows]:
    """The rows, by table."""
    return _of_personas(whole.personas) | (_of_owner(whole.owner) if whole.is_owner else {})


def _of_personas(personas: Sequence[Persona]) -> dict[str, Rows]:
    hers = among(persona.pk for persona in personas)
    found: Iterable[Rows] = (
        OutboxEvent.objects.filter(stream__in=among(persona.uuid for persona in personas)),
        Task.objects.filter(success=False),  # a traceback may quote anybody
        ImportPiece.objects.filter(job__persona__in=hers),
        ImportChunk.objects.filter(persona__in=hers),
        ImportJob.objects.filter(persona__in=hers),
        ModelReply.objects.filter(persona__in=hers),
        QuestionGround.objects.filter(question__persona__in=hers),
        Question.objects.filter(persona__in=hers),
        SlowCycleRun.objects.filter(persona__in=hers),
        SlowCycle.objects.filter(persona__in=hers),
        Extraction.objects.filter(session__persona__in=hers),
        ReflectionRun.objects.filter(persona__in=hers),
        MoodChange.objects.filter(persona__in=hers),
        NodeVersion.objects.filter(node__persona__in=hers),
        Filling.objects.filter(parent__persona__in=hers),
        Mention.objects.filter(node__persona__in=hers),
        Evidence.objects.filter(node__persona__in=hers),
        StagedVector.objects.filter(node__persona__in=hers),
        NodeVector.objects.filter(node__persona__in=hers),
        NodeText.objects.filter(node__persona__in=hers),
        ConceptNode.objects.filter(persona__in=hers),
        MergeProposal.objects.filter(a__persona__in=hers),
        Alias.objects.filter(persona__in=hers),
        Entity.objects.filter(persona__in=hers),
        CrisisFlag.objects.filter(message__persona__in=hers),
        MessageText.objects.filter(message__persona__in=hers),
        Message.objects.filter(persona__in=hers),
        Turn.objects.filter(persona__in=hers),
        Session.objects.filter(persona__in=hers),
        ImportRun.objects.filter(persona__in=hers),
        Tombstone.objects.filter(persona__in=hers),
        DraftQuote.objects.filter(draft__persona__in=hers),
        CoreDraft.objects.filter(persona__in=hers),
        CoreBlockVersion.objects.filter(block__persona__in=hers),
        CoreBlock.objects.filter(persona__in=hers),
        Persona.objects.filter(pk__in=hers),
    )
    listed = {rows.model._meta.db_table: rows for rows in found}
    return _belonging(Persona, [persona.pk for persona in personas], besides=listed) | listed


def _of_owner(owner: Any) -> dict[str, Rows]:
    found: Iterable[Rows] = (
        ImportPiece.objects.filter(job__owner=owner),
        ImportJob.objects.filter(owner=owner),
        LLMCall.objects.filter(owner=owner),
        LogEntry.objects.filter(user=owner),
        Login.objects.filter(pk__in=_logins(owner)),
        *(model._default_manager.filter(username=owner.get_username()) for model in _ATTEMPTS),
        User.groups.through._default_manager.filter(user=owner),
        User.user_permissions.through._default_manager.filter(user=owner),
        User.objects.filter(pk=owner.pk),
    )
    listed = {rows.model._meta.db_table: rows for rows in found}
    return _belonging(User, [owner.pk], besides={*listed, Persona._meta.db_table}) | listed


def _belonging(to: type[models.Model], keys: Collection[int], besides: Collection[str]) -> dict[str, Rows]:
    """The rows that go along with it in other tables than these, those of apps above this one, too."""
    return {
        model._meta.db_table: model._default_manager.filter(**{f"{column.name}__in": among(keys)})
        for model, column in _references(to, models.CASCADE)
        if model._meta.db_table not in besides
    }


_ATTEMPTS: Sequence[type[models.Model]] = (AccessAttempt, AccessFailureLog, AccessLog)


def _logins(owner: Any) -> list[str]:
    """The owner's logins; what a login holds is sealed, so that each has to be opened."""
    everyones = Login.objects.all().iterator()
    return [login.pk for login in everyones if login.get_decoded().get("_auth_user_id") == str(owner.pk)]


# --- what stays, and names them no more -----------------------------------------------------------------------------
def _let_go(whole: Whole) -> dict[str, Rows]:
    """The rows that keep a reference to what goes, by table and column."""
    found = _referring(Persona, [persona.pk for persona in whole.personas])
    if whole.is_owner:
        found |= _referring(User, [whole.owner.pk])
    else:
        uuids = among(persona.uuid for persona in whole.personas)
        found["llm_llmcall.persona_uuid"] = LLMCall.objects.filter(persona_uuid__in=uuids)
    return found | {"django_admin_log.object_repr": _noted(whole)}


def _referring(to: type[models.Model], keys: Collection[int]) -> dict[str, Rows]:
    """The rows that would live on without it."""
    return {
        f"{model._meta.db_table}.{column.column}": model._default_manager.filter(**{f"{column.name}__in": among(keys)})
        for model, column in _references(to, models.SET_NULL)
    }


def _references(to: type[models.Model], on_delete: Any) -> Iterator[tuple[type[models.Model], Any]]:
    """The columns that refer to it, and do this when it goes."""
    for model in apps.get_models(include_auto_created=True):
        for column in model._meta.local_fields if not model._meta.proxy else ():
            remote = column.remote_field
            if remote and column.related_model is to and remote.on_delete is on_delete:
                yield model, column


def _noted(whole: Whole) -> Rows:
    """What the desk noted of rows that go."""
    about = Q(pk__in=[])
    for rows in _going(whole).values():
        same_table = [model for model in apps.get_models() if model._meta.db_table == rows.model._meta.db_table]
        kinds = ContentType.objects.get_for_models(*same_table, for_concrete_models=False).values()
        ids = rows.order_by().annotate(as_text=Cast("pk", TextField())).values("as_text")
        about |= Q(content_type__in=[kind.pk for kind in kinds], object_id__in=ids)
    kept = LogEntry.objects.exclude(user=whole.owner) if whole.is_owner else LogEntry.objects.all()
    return kept.filter(about).exclude(object_repr="", change_message="")


_FORGOTTEN: Mapping[str, Mapping[str, Any]] = {
    "llm_llmcall.persona_uuid": {"persona_uuid": None, "session_uuid": None, "turn_uuid": None},
    "django_admin_log.object_repr": {"object_repr": "", "change_message": ""},
}


def _delete(whole: Whole) -> None:
    """All of it; raises RuntimeError where something is left."""
    for name, rows in _let_go(whole).items():
        rows.update(**_FORGOTTEN.get(name, {name.split(".")[1]: None}))
    going = _going(whole)
    with at_once(going["chat_message"].count() + going["memory_conceptnode"].count()):
        for rows in going.values():
            rows._raw_delete(rows.db)
    for table, rows in going.items():
        if rows.exists():
            raise RuntimeError(f"something of {table} was left")


def _receipt(whole: Whole, found: Plan, by: AbstractBaseUser | None, now: datetime) -> Receipt:
    uuids = [str(persona.uuid) for persona in whole.personas]
    is_gone = by is None or (whole.is_owner and by.pk == whole.owner.pk)
    return Receipt.objects.create(
        persona_uuid=None if whole.is_owner else whole.personas[0].uuid,
        owner_id=whole.target.key if whole.is_owner else whole.owner.pk,
        targets=[[whole.target.kind, str(whole.target.key) if whole.is_owner else uuids[0]]],
        counts=dict(found.counts),
        erased={"persona": uuids} if uuids else {},
        by_id=None if is_gone or by is None else by.pk,
        at=now,
    )

"""A secret in every column that is declared to hold words: verification sees it, an archive holds it where that is
declared, and nothing of it is left once the persona and the account are deleted."""

from typing import Any
from zlib import crc32

import pytest
from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.backends.db import SessionStore
from django.db import models
from django.test import Client
from django_q.models import Task

from echovessel.api.tokens.models import ApiToken
from echovessel.db import text_columns
from echovessel.db.text_columns import OnForget, TextColumn
from memory import forgetting
from memory.archive import write
from memory.forgetting import Target, plan, registry, verify
from memory.models import ImportJob, ImportPiece
from persona.models import Persona
from proactive.models import PushSubscription
from tests.memory.archive.test_whole_archive import everything  # noqa: F401
from tests.memory.forgetting.life import NOW, TOLD, lived

pytestmark = pytest.mark.django_db
Place = tuple[text_columns.Model, str, TextColumn]


@pytest.fixture
def full(everything: Persona, client: Client) -> Persona:  # noqa: F811
    """A persona with a row in every table that can hold words of the persona or the owner."""
    life = lived(everything)
    owner = everything.owner
    job = ImportJob.objects.filter(persona=everything).first()
    ImportPiece.objects.create(job=job, number=0, content=b"...")
    ApiToken.objects.create(owner=owner, name="phone", prefix="x", digest="y", created_at=NOW)
    PushSubscription.objects.create(owner=owner, endpoint="https://push.example.org", p256dh="k", auth="a")
    for model in (AccessAttempt, AccessFailureLog, AccessLog):
        more = {"failures_since_start": 1} if model is AccessAttempt else {}
        model.objects.create(username="ana", ip_address="::1", user_agent="-", **more)
    about = ContentType.objects.get_for_model(type(life.milo))
    LogEntry.objects.create(user=owner, content_type=about, object_id=str(life.milo.pk), object_repr="-", action_flag=2)
    client.force_login(owner)
    return everything


def word_columns() -> list[Place]:
    """The columns that hold text itself: index columns are derived from them and not written by hand."""
    return [
        declaration
        for declaration in text_columns.declarations()
        if declaration[2].holds_words and declaration[2].form == "text"
    ]


def secret_of(model: text_columns.Model, name: str) -> str:
    # A failed sign-in belongs to the account by the typed name: both columns get the same secret.
    label = "auth.User" if name == "username" else model._meta.label
    return f"zebra{crc32(f'{label}.{name}'.encode())}quilt"


def plant(persona: Persona) -> dict[str, str]:
    """Write a distinct secret into one row of each column; return the secrets by "table.column"."""
    for model, name, _column in word_columns():
        write_into(persona, model, name, secret_of(model, name))
    persona.refresh_from_db()
    return {label_of(place): secret_of(*place[:2]) for place in word_columns()}


def write_into(persona: Persona, model: text_columns.Model, name: str, secret: str) -> None:
    if model._meta.label == "sessions.Session":
        (login,) = model._default_manager.all()
        store = SessionStore(login.pk)
        store["onboarding"] = {"persona": secret}
        return store.save()
    rows = registry.rows_of_persona(model, persona)
    if model._meta.label == "memory.Entity":
        rows = rows.exclude(described_by="person")
    row = rows.exclude(success=True).first() if model is Task else rows.order_by("pk").first()
    assert row is not None, f"nothing in {model._meta.label}"
    column, before = model._meta.get_field(name), getattr(row, name)
    value: Any = secret
    if isinstance(column, models.JSONField):
        value = [secret] if isinstance(before, list) else {**(before or {}), "planted": secret}
    elif isinstance(column, models.BinaryField):
        value = secret.encode()
    # Only a lesson has a condition.
    is_condition = (model._meta.label, name) == ("memory.ConceptNode", "condition")
    lesson = {"kind": "lesson", "scope": "topic"} if is_condition else {}
    model._default_manager.filter(pk=row.pk).update(**lesson, **{name: value})
    return None


def find_secrets(secrets: dict[str, str]) -> set[str]:
    """The places where verification finds any of the secrets."""
    return {hit.place for hit in verify.find_texts(secrets.values())}


def label_of(place: Place) -> str:
    return f"{place[0]._meta.db_table}.{place[1]}"


def test_a_secret_in_any_column_is_seen_and_goes_with_the_persona_or_with_the_account(full: Persona) -> None:
    secrets = plant(full)
    in_bytes = {"memory_importpiece.content", "memory_photo.content", "persona_picture.content"}
    assert secrets.keys() - find_secrets(secrets) == in_bytes
    archive = b"".join(write.archive_lines(full, NOW)).decode()
    archived = {place for place, secret in secrets.items() if secret in archive}
    assert archived == {label_of(place) for place in word_columns() if place[2].archived} - in_bytes
    owner = full.owner
    forgetting.forget(plan([Target("persona", full.pk)]), None, NOW)
    assert find_secrets(secrets) == {
        label_of(place) for place in word_columns() if place[2].on_forget is OnForget.ACCOUNTS
    }
    forgetting.forget(plan([Target("owner", owner.pk)]), None, NOW)
    assert find_secrets(secrets) == set()
    assert not User.objects.exists()


def test_words_that_are_forgotten_go_from_every_column_that_is_searched_for_them(full: Persona) -> None:
    milo = full.nodes.get(description__contains="Milo died in Lisbon.")
    searched = [place for place in word_columns() if place[2].found_by != "key"]
    assert len(searched) >= 12
    for model, name, _column in searched:
        write_into(full, model, name, TOLD[: model._meta.get_field(name).max_length or 200])
    places_before = {hit.place for hit in verify.find_texts([TOLD])}
    assert {label_of(place) for place in searched} <= places_before
    forgetting.forget(plan([Target("node", milo.pk)]), None, NOW)
    assert {hit.place for hit in verify.find_texts([TOLD])} == set()

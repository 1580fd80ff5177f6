"""System checks: report at the start what would fail later, with how to fix it."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, Error, Tags, register
from django.db import DatabaseError, connection

from chat import search
from chat.care import help_texts
from echovessel import knobs
from echovessel.db import text_columns
from echovessel.db.sqlite import migration_history
from echovessel.embeddings import embedding
from echovessel.web import cors
from memory.store import active_model, vectors
from memory.store import checks as store_checks
from proactive.push import vapid

Apps = Sequence[AppConfig] | None


@register()
def knobs_are_sound(app_configs: Apps, **_: Any) -> list[CheckMessage]:
    """echovessel.E001: an override that is unknown or out of range."""
    frame = [f"echovessel.{name}" for name in ("embeddings", "jobs", "llm", "outbox", "api.tokens")]
    for name in ("chat", "memory", "persona", "proactive", *frame):
        import_module(f"{name}.knobs")
    hint = "Correct it in ECHOVESSEL_KNOBS or in knobs.toml of the data folder. /help/commands/ lists all knobs."
    return [Error(fault, hint=hint, id="echovessel.E001") for fault in knobs.faults()]


@register()
def embedding_model_is_there(app_configs: Apps, **_: Any) -> list[CheckMessage]:
    """echovessel.E002: the embedding model cannot be loaded."""
    fault = embedding.fault()
    return [Error(fault, id="echovessel.E002")] if fault else []


@register()
def provider_is_known(app_configs: Apps, **_: Any) -> list[CheckMessage]:
    """echovessel.E003: LLM_PROVIDER is not one of ours."""
    provider_names = ("auto", "offline", "openai", "anthropic")
    if settings.LLM_PROVIDER in provider_names or "." in settings.LLM_PROVIDER:
        return []
    return [
        Error(f"LLM_PROVIDER is {settings.LLM_PROVIDER!r}.", hint=f"Use one of {provider_names}.", id="echovessel.E003")
    ]


@register(Tags.database)
def indexes_are_whole(app_configs: Apps, databases: Any = None, **_: Any) -> list[CheckMessage]:
    """echovessel.W002: triggers or indexes are missing or outdated, so that search and forgetting would miss rows. A
    warning: an error would keep `migrate` from fixing it."""
    if not databases:
        return []
    try:
        if "memory_nodetext" not in connection.introspection.table_names():
            return []  # nothing is migrated yet
        missing = [*search.missing(), *vectors.missing()]
    except DatabaseError as error:
        return [Error(f"The database cannot be read: {error}", id="echovessel.E005")]
    hint = "Run manage.py migrate: it creates and fills them again."
    return [checks.Warning(f"{name} is missing in the database.", hint=hint, id="echovessel.W002") for name in missing]


@register(Tags.database)
def migrations_can_go_on(app_configs: Apps, databases: Any = None, **_: Any) -> list[CheckMessage]:
    """echovessel.E009: the database has applied only some of the migrations that were squashed since."""
    fault = migration_history.fault(migration_history.applied(connection)) if databases else ""
    return [Error(fault, id="echovessel.E009")] if fault else []


@register(Tags.database)
def embedding_model_is_the_one_in_use(app_configs: Apps, databases: Any = None, **_: Any) -> list[CheckMessage]:
    """echovessel.W003: memories have vectors of another embedding model than the configured one. A warning: the model
    in use stays in use."""
    if not databases or "memory_embeddingmodel" not in connection.introspection.table_names():
        return []
    in_use, configured = active_model.model_in_use(), embedding.configured()
    if in_use in ("", configured):
        return []
    return [
        checks.Warning(
            f"EMBEDDING_MODEL is {configured}, but {in_use} is in use: it made all vectors.",
            hint=f"Change the model with manage.py reembed --model {configured}, or set EMBEDDING_MODEL={in_use}.",
            id="echovessel.W003",
        )
    ]


@register(Tags.database)
def tombstones_refuse(app_configs: Apps, databases: Any = None, **_: Any) -> list[CheckMessage]:
    """echovessel.W004: tombstones that were made with another key than TOMBSTONE_KEY."""
    if not databases or "memory_receipt" not in connection.introspection.table_names():
        return []
    if not (strange := store_checks.tombstones_of_another_key() + store_checks.foreign_tombstones()):
        return []
    return [
        checks.Warning(
            f"{strange} forgotten things can come back: their tombstones were made with another key.",
            hint="Restore the key with which they were made, in TOMBSTONE_KEY or as tombstone_key in the data folder.",
            id="echovessel.W004",
        )
    ]


@register()
def help_texts_can_be_shown(app_configs: Apps, **_: Any) -> list[CheckMessage]:
    """echovessel.W005: a help text of the operator that cannot be shown; ours is shown instead."""
    hint = f"Write a few lines of UTF-8, at most {help_texts.MAX_CHARACTERS:,} characters, or remove the file."
    return [
        checks.Warning(f"{name} in the data folder is not shown: {fault}.", hint=hint, id="echovessel.W005")
        for name, fault in help_texts.faults()
    ]


@register()
def push_services_can_be_called(app_configs: Apps, **_: Any) -> list[CheckMessage]:
    """echovessel.E006: a contact that no push service accepts; every notification would be refused."""
    if not settings.PUSH_CONTACT or vapid.is_contact(settings.PUSH_CONTACT):
        return []
    hint = "Write mailto: and an address, or https:// and a host: the contact for push services."
    return [Error(f"PUSH_CONTACT is {settings.PUSH_CONTACT!r}.", hint=hint, id="echovessel.E006")]


@register()
def other_pages_have_an_origin(app_configs: Apps, **_: Any) -> list[CheckMessage]:
    """echovessel.E007: an entry of API_ORIGINS that is not an origin as browsers send it."""
    hint = "Write scheme, host and port as browsers do, https://chat.example.org; there is no * for all."
    return [
        Error(f"API_ORIGINS names {origin!r}: {fault}.", hint=hint, id="echovessel.E007")
        for origin in settings.API_ORIGINS
        if (fault := cors.fault(origin))
    ]


@register(Tags.models)
def columns_of_text_are_declared(app_configs: Apps, **_: Any) -> list[CheckMessage]:
    """echovessel.E008: a column that can hold words without a declaration of what forgetting does to it."""
    hint = "Declare in text_columns of the model what forgetting does to it: see echovessel/db/text_columns."
    return [Error(fault, hint=hint, id="echovessel.E008") for fault in text_columns.faults()]


@register(Tags.security, deploy=True)
def plain_http_is_meant(app_configs: Apps, **_: Any) -> list[CheckMessage]:
    """echovessel.W001: served beyond this machine without TLS."""
    beyond = any(host not in settings.LOOPBACK for host in settings.ALLOWED_HOSTS)
    if settings.HTTPS or not beyond:
        return []
    return [
        checks.Warning(
            "HTTPS is off although this site is served beyond this machine: messages and logins are sent unencrypted.",
            hint="Put a TLS proxy in front and drop HTTPS=off.",
            id="echovessel.W001",
        )
    ]


@register(Tags.security, deploy=True)
def hosts_are_named(app_configs: Apps, **_: Any) -> list[CheckMessage]:
    """echovessel.W006: any host is accepted, so that a page elsewhere may pretend to be this site."""
    open_to = [host for host in settings.ALLOWED_HOSTS if not host.strip("*.")]
    if not open_to:
        return []
    return [
        checks.Warning(
            f"ALLOWED_HOSTS names {open_to[0]!r}, which lets in every host: links could be made to lead elsewhere, and "
            "a name that somebody else points at this machine (DNS rebinding) would be taken for this site's.",
            hint="Name the hosts people use in the address: ALLOWED_HOSTS=echo.example.org,192.168.1.20",
            id="echovessel.W006",
        )
    ]

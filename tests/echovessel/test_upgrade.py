"""A data folder of the version before opens after `migrate` with everything in it; an unfinished one is refused."""

import io
import re
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.contrib.auth.models import Group, Permission, User
from django.contrib.contenttypes.models import ContentType
from django.core import serializers
from django.core.management import CommandError, call_command
from django.core.management.base import SystemCheckError
from django.db import connection, connections
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone
from django_q.models import Schedule

from chat.models import CrisisFlag, Message, Session, Turn
from echovessel.api.tokens.models import ApiToken
from echovessel.db.sqlite import migration_history
from memory.archive import import_archive
from memory.models import ConceptNode, Entity, MergeProposal, Receipt
from memory.recall import recall
from memory.store import checks, tombstones
from persona.models import CoreDraft, Persona
from proactive.models import ReachingOut
from tests import template_database
from tests.echovessel.backup.installations import DATABASE, at, furnished

KEPT = Path(__file__).parent.parent / "kept" / "version-0.1.0.tar.xz"
ROWS = {
    "auth.Group": 2, "auth.User": 2, "sessions.Session": 1, "axes.AccessLog": 1,
    "django_q.Task": 1, "django_q.OrmQ": 3, "llm.LLMCall": 14, "outbox.OutboxEvent": 104, "audit.Look": 1,
    "tokens.ApiToken": 2, "admin.LogEntry": 1, "persona.Persona": 3, "persona.CoreBlock": 9,
    "persona.CoreBlockVersion": 2, "persona.CoreDraft": 6, "persona.DraftQuote": 6, "persona.MoodChange": 4,
    "chat.Session": 16, "chat.Turn": 18, "chat.Message": 51, "chat.MessageText": 51, "chat.CrisisFlag": 3,
    "memory.Extraction": 10, "memory.ModelReply": 1, "memory.ReflectionRun": 10, "memory.ConceptNode": 27,
    "memory.NodeVector": 27, "memory.NodeText": 27, "memory.EmbeddingModel": 1, "memory.Reembedding": 1,
    "memory.StagedVector": 1, "memory.Entity": 16, "memory.Alias": 16, "memory.Mention": 20,
    "memory.MergeProposal": 9, "memory.Evidence": 22, "memory.ImportRun": 5, "memory.ImportJob": 5,
    "memory.ImportPiece": 1, "memory.ImportChunk": 8, "memory.Receipt": 3, "memory.SlowCycle": 2,
    "memory.SlowCycleRun": 2, "memory.Question": 1, "memory.QuestionGround": 1, "memory.Filling": 8,
    "memory.Tombstone": 11, "memory.NodeVersion": 3, "proactive.Outreach": 2, "proactive.Consideration": 2,
    "proactive.PushSubscription": 1, "proactive.ReachingOut": 2,
}  # fmt: skip
# Between the definitions of two columns, or a column and a constraint.
DEFINITION = re.compile(r', (?="\w+" \w|CONSTRAINT )')
FORGOTTEN = "My bicycle was stolen in Porto."


@pytest.fixture
def unpacked(tmp_path: Path) -> Path:
    """The data folder of version 0.1.0."""
    _unpack(tmp_path)
    return tmp_path


@pytest.fixture
def kept(unpacked: Path, django_db_setup: None, django_db_blocker: Any) -> Iterator[Path]:
    """It, in use and not migrated yet."""
    with django_db_blocker.unblock(), at(unpacked):
        yield unpacked


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory, django_db_setup: None, django_db_blocker: Any) -> Path:
    """It after `migrate`, which takes three seconds of a core."""
    folder = tmp_path_factory.mktemp("opened")
    _unpack(folder)
    with django_db_blocker.unblock(), at(folder):
        call_command("migrate", verbosity=0)
    return folder


@pytest.fixture
def migrated(tmp_path: Path, opened: Path, django_db_blocker: Any) -> Iterator[None]:
    """A copy of it, in use."""
    shutil.copytree(opened, tmp_path / "data")
    with django_db_blocker.unblock(), at(tmp_path / "data"):
        yield


@pytest.mark.usefixtures("migrated")
def test_an_installation_of_the_version_before_opens_with_everything_in_it() -> None:
    assert {label: apps.get_model(label)._default_manager.count() for label in ROWS} == ROWS
    assert checks.broken_invariants(timezone.now()) == {}
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)
    assert not _pending()

    mira = Persona.objects.get(name="Mira")
    assert PBKDF2PasswordHasher().verify("a long word for ana", mira.owner.password)
    assert mira.core_blocks.get(label="user").content == "Ana lives in Shanghai."
    assert mira.messages.filter(content="My brother Tom got a new job as a nurse in Lisbon.").exists()
    assert set(Session.objects.values_list("status", flat=True)) == {"open", "closed", "closing", "failed"}
    assert set(Turn.objects.values_list("status", flat=True)) == {"done", "failed"}
    assert CrisisFlag.objects.filter(message__content="I want to die.").count() == 2
    assert {one.description for one in mira.nodes.filter(pinned=True)} == {
        "Ana adopted a white cat called Blackie last week."
    }
    assert Entity.objects.get(persona=mira, canonical_name="Rex3").aliases.filter(normalized="rex4").exists()
    assert set(MergeProposal.objects.filter(a__persona=mira).values_list("status", flat=True)) == {
        "kept_apart",
        "merged",
        "open",
    }
    assert CoreDraft.objects.get(persona=mira, text="Mira sings at the harbour.")
    assert ReachingOut.objects.get(persona=mira).quiet_start == 22
    assert ApiToken.objects.get(revoked_at=None).name == "phone"
    assert ConceptNode.objects.filter(kind="expectation", outcome="fulfilled").exists()


@pytest.mark.parametrize("is_new", [False, pytest.param(True, marks=pytest.mark.campaign)])
def test_migrations_and_models_make_the_same_database(
    is_new: bool, tmp_path: Path, opened: Path, django_db_blocker: Any
) -> None:
    """After a database of the version before is migrated, or a new one. All tests have tables made from the models."""
    template_database.copy_to(tmp_path / "template")
    models, new = (furnished(tmp_path / name, tmp_path / "template") for name in ("models", "new"))
    with django_db_blocker.unblock():
        with at(models):
            schema, rows = _schema(), _rows_of_migrate()
            assert not _pending()
        with at(new if is_new else opened):
            if is_new:
                (new / DATABASE).unlink()
                call_command("migrate", verbosity=0)
                assert _rows_of_migrate() == rows
            assert _schema() == schema


@pytest.mark.usefixtures("migrated")
def test_recall_and_forgetting_go_on_where_the_version_before_left_them() -> None:
    mira = Persona.objects.get(name="Mira")
    recollections = recall(mira, ["How is my white cat Blackie?"], now=timezone.now(), budget_tokens=1_500)
    assert any("Ana adopted a white cat called Blackie last week." in item.text for item in recollections.items)
    assert not Message.objects.filter(content=FORGOTTEN).exists()
    assert Receipt.objects.filter(persona=mira, status="done").count() == 2
    assert tombstones.refuses(mira, [FORGOTTEN])


def test_an_archive_of_the_version_before_is_imported(unpacked: Path, ana: User) -> None:
    with (unpacked / "mira.jsonl").open("rb") as archive:
        import_archive(archive, ana)
    mira = Persona.objects.get(name="Mira")
    assert mira.messages.count() > 20
    assert mira.nodes.filter(description="Ana adopted a white cat called Blackie last week.").exists()
    assert checks.broken_invariants(timezone.now()) == {}


@pytest.mark.parametrize("command", ["migrate", "up"])
def test_a_database_that_lacks_some_of_the_squashed_migrations_is_refused_in_words(kept: Path, command: str) -> None:
    _forget_the_last_migration_of("memory")
    with pytest.raises((CommandError, SystemCheckError), match=r"Install version 0\.1\.0 first"):
        call_command(command, **({"skip_checks": False} if command == "migrate" else {"port": 0}), stdout=io.StringIO())
    assert "memory_conceptnode" in connection.introspection.table_names()


def test_only_a_part_of_the_squashed_migrations_is_refused() -> None:
    on_disk = MigrationLoader(None).disk_migrations
    squashed = [name for name in migration_history.known_migrations() if name[0] == "chat" and name not in on_disk]
    assert len(squashed) == 11
    assert migration_history.fault([]) == ""
    assert migration_history.fault(migration_history.known_migrations()) == ""
    assert migration_history.fault(squashed) == ""
    for name in squashed:
        assert f"lacks {name[0]}.{name[1]}" in migration_history.fault([one for one in squashed if one != name])


def _unpack(folder: Path) -> None:
    with tarfile.open(KEPT) as tar:
        tar.extractall(folder, filter="data")


def _pending() -> list[Any]:
    out = io.StringIO()
    call_command("showmigrations", "--plan", stdout=out)
    return [line for line in out.getvalue().splitlines() if line.startswith("[ ]")]


def _forget_the_last_migration_of(app: str) -> None:
    """As if the version before had been older still."""
    recorder = MigrationRecorder(connection)
    last = recorder.migration_qs.filter(app=app).order_by("name").last()
    assert last is not None
    recorder.record_unapplied(app, last.name)
    connections.close_all()


def _schema() -> dict[tuple[str, str], list[str]]:
    """The definitions of columns and constraints of every table, index and trigger, in order of the alphabet: to a
    table that exists migrations append columns."""
    with connection.cursor() as cursor:
        rows = cursor.execute("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    definitions = {}
    for kind, name, sql in rows:
        head, _, body = " ".join(sql.split()).partition("(")
        body, _, tail = body.rpartition(")")
        definitions[kind, name] = [head, *sorted(DEFINITION.split(body.strip())), tail]
    return definitions


def _rows_of_migrate() -> list[str]:
    """What a database holds before anybody has come."""
    rows = [*ContentType.objects.all(), *Permission.objects.all(), *Group.objects.all()]
    keys = {"use_natural_foreign_keys": True, "use_natural_primary_keys": True}
    schedules = Schedule.objects.order_by("func").values_list("func", "schedule_type")
    return [*sorted(serializers.serialize("jsonl", rows, **keys).splitlines()), *map(str, schedules)]

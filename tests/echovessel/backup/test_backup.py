"""A backup holds the whole of an installation at one moment, and a restored one lacks what was forgotten since."""

import io
import os
import re
import sqlite3
import stat
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session as Login
from django.core.management import CommandError, call_command
from django.db import connection, connections
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client

from chat.messages import receive_message
from chat.models import Message, Session, Turn
from chat.sessions import off_the_record
from chat.turns import turn as turns
from echovessel.api.tokens.models import ApiToken
from echovessel.backup import contents, copy, create, data_dir_lock, package, swap
from echovessel.backup.manifest import NotABackup
from echovessel.db.sqlite import erasure
from echovessel.db.sqlite.temporary import is_migrated, temporary_database
from echovessel.jobs import lease
from memory import forgetting
from memory.forgetting import Choice, Target, verify
from memory.models import ConceptNode, Entity, Receipt, Tombstone
from memory.store import checks, tombstones
from persona.models import Persona
from persona.onboarding.creation import create_persona
from tests.echovessel.backup.installations import DATABASE, House, at, furnished
from tests.installation import ROOT
from tests.memory.forgetting.life import FORGOTTEN, NOW, lived
from tests.memory.forgetting.totals import totals
from tests.table import each_row

MOMENT = datetime(2026, 3, 5, 12, 0, tzinfo=UTC)


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory, django_db_setup: None, django_db_blocker: Any) -> Path:
    """A database in which nobody lives yet: as that of the tests, where they have one."""
    path = tmp_path_factory.mktemp("houses") / DATABASE
    with django_db_blocker.unblock():
        if is_migrated():
            copy.copy(connection, path)
        else:
            with temporary_database(keep=path):
                pass
        connections.close_all()
    return path


@pytest.fixture
def house(tmp_path: Path, empty_database: Path, django_db_blocker: Any) -> Iterator[House]:
    """An installation in which nobody lives yet. No other process works for it."""
    data = furnished(tmp_path / "data", empty_database)
    (tmp_path / "backups").mkdir()
    with django_db_blocker.unblock(), at(data):
        yield House(data, tmp_path / "backups")


# --- there and back -------------------------------------------------------------------------------------------------
def test_a_restore_brings_back_the_rows_and_files_of_the_backup(house: House) -> None:
    life = house.live()
    before = totals()
    file = house.back_up()
    receive_message(life.persona, "This is said after the backup.", None, "web", NOW + timedelta(hours=5))
    (house.data / "knobs.toml").unlink()
    (house.data / "media" / "sea.txt").write_text("a picture of the hills")
    (house.data / "help.en.txt").write_text("Call somebody.")
    told = house.restore(file, "--force")
    assert told.is_in_order
    assert {name for name, count in totals().items() if count != before[name]} == set()
    assert (house.data / "knobs.toml").read_text() == '"chat.idle_minutes" = 20\n'
    assert (house.data / "media" / "sea.txt").read_text() == "a picture of the sea"
    assert not (house.data / "help.en.txt").exists()


def test_a_restore_keeps_the_replaced_data_aside(house: House) -> None:
    house.live()
    file = house.back_up()
    User.objects.create_user("ben")
    (house.data / "help.en.txt").write_text("Call somebody.")
    house.restore(file, "--force")
    (aside,) = house.data.glob("replaced-*")
    assert (aside / "help.en.txt").read_text() == "Call somebody."
    assert (aside / "media" / "sea.txt").exists()
    assert stat.S_IMODE(aside.stat().st_mode) == 0o700
    connections.close_all()
    with sqlite3.connect(aside / DATABASE) as replaced:
        assert replaced.execute("SELECT count(*) FROM auth_user").fetchone() == (2,)
    assert User.objects.count() == 1


def test_a_backup_moves_into_an_empty_house(house: House, tmp_path: Path, empty_database: Path) -> None:
    house.live()
    file = house.back_up()
    tombstones.add_tombstone(Persona.objects.get(), "The summer in Porto was a long one.")
    with at(furnished(tmp_path / "other", empty_database)):
        other = House(tmp_path / "other", house.backups)
        assert other.restore(file).is_in_order
        assert ConceptNode.objects.exists()
        assert (other.data / "tombstone_key").read_text() == "the tombstone_key of data"


def test_a_backup_is_for_its_owner_alone_and_appears_whole(house: House) -> None:
    house.live()
    file = house.back_up()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert os.listdir(house.backups) == [file.name]
    manifest = package.manifest_of(file)
    assert manifest.counts["chat_message"] == Message.objects.count()
    assert not manifest.encrypted


def test_a_backup_has_no_trace_of_forgotten_text(house: House) -> None:
    life = house.live()
    forget(life.persona, Target("node", life.milo.pk))
    file = house.back_up()
    assert erasure.traces([file], [erasure.forms(text)[0] for text in FORGOTTEN]) == {}


def test_a_backup_takes_no_other_file_s_place(house: House) -> None:
    (house.backups / "letter.tar").write_text("Dear Ana")
    with pytest.raises(CommandError, match="is no backup"):
        call_command("backup", str(house.backups / "letter.tar"))
    assert (house.backups / "letter.tar").read_text() == "Dear Ana"


def test_what_ends_in_a_slash_is_a_folder_also_where_there_is_none_yet(house: House) -> None:
    """Else every night's backup would take the place of the last one, as a file of that name."""
    out = io.StringIO()
    file = Path(call_command("backup", f"{house.backups}/nightly/", "--keep", "14", stdout=out, stderr=io.StringIO()))
    assert (file.parent, bool(create.NAME.fullmatch(file.name))) == (house.backups / "nightly", True)
    assert os.listdir(house.backups / "nightly") == [file.name]


def test_without_a_terminal_no_bar_is_drawn(house: House) -> None:
    """Whoever has it run each night would be sent the bar."""
    said = io.StringIO()
    file = Path(call_command("backup", str(house.backups), stdout=io.StringIO(), stderr=said))
    assert [line.split(":")[0] for line in said.getvalue().splitlines()] == ["rows"]
    assert "B/s" not in house.restore(file).err


def test_where_nothing_was_begun_there_is_nothing_to_back_up(house: House) -> None:
    connections.close_all()
    house.database.unlink()
    with pytest.raises(CommandError, match="there is no database at"):
        house.back_up()
    assert not house.database.exists()
    assert os.listdir(house.backups) == []


def test_the_command_restores_an_older_state_twice(house: House) -> None:
    house.live()
    file = house.back_up()
    house.restore(file, "--force")
    assert house.restore(file, "--force").is_in_order
    assert len(list(house.data.glob("replaced-*"))) == 2


def test_an_older_backup_is_brought_to_this_version(house: House) -> None:
    house.live()
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE {ApiToken._meta.db_table}")
        cursor.execute("DELETE FROM django_migrations WHERE app = %s", [ApiToken._meta.app_label])
    file = house.back_up()
    with pytest.raises(CommandError, match="migrate it first"):
        house.restore(file)
    call_command("migrate", verbosity=0)
    assert house.restore(file, "--force").is_in_order
    assert not ApiToken.objects.exists()


def test_the_database_may_lie_elsewhere(house: House, tmp_path: Path) -> None:
    house.live()
    connections.close_all()
    (tmp_path / "elsewhere").mkdir()
    elsewhere = house.database.rename(tmp_path / "elsewhere" / DATABASE)
    connection.settings_dict["NAME"] = elsewhere
    file = house.back_up()
    User.objects.create_user("ben")
    assert house.restore(file, "--force").is_in_order
    assert User.objects.count() == 1
    (aside,) = elsewhere.parent.glob("replaced-*")
    assert os.listdir(aside) == [DATABASE]
    assert not list(tmp_path.glob("*/restoring"))


# --- what was forgotten since ---------------------------------------------------------------------------------------
def test_a_restore_forgets_what_was_forgotten_after_the_backup(house: House) -> None:
    life = house.live()
    file = house.back_up()
    receipt = forget(life.persona, Target("node", life.milo.pk))
    assert house.restore(file, "--force").is_in_order
    again = Receipt.objects.get(uuid=receipt.uuid)
    assert again.status == Receipt.Status.DONE
    assert verify.prove([again]).hits == []
    assert not ConceptNode.objects.filter(uuid__in=[life.milo.uuid, life.ill.uuid, life.grief.uuid]).exists()
    assert not Message.objects.filter(uuid=life.told.uuid).exists()
    assert not Entity.objects.filter(canonical_name="Milo").exists()
    assert ConceptNode.objects.filter(uuid=life.pottery.uuid).exists()
    connections.close_all()
    needles = [erasure.forms(text)[0] for text in FORGOTTEN]
    assert erasure.traces([house.database], needles) == {}


def test_it_stays_forgotten(house: House) -> None:
    life = house.live()
    file = house.back_up()
    forget(life.persona, Target("node", life.milo.pk))
    refused = set(Tombstone.objects.values_list("digest", flat=True))
    tombstones.add_tombstone(life.persona, "The summer in Porto was a long one.")  # of what came after the backup
    house.restore(file, "--force")
    assert refused <= set(Tombstone.objects.values_list("digest", flat=True))
    assert tombstones.refuses(Persona.objects.get(), ["the summer in Porto was a long one"])
    assert tombstones.refuses(Persona.objects.get(), [FORGOTTEN[1]])


def test_a_restore_withholds_messages_that_were_withheld_after_the_backup(house: House) -> None:
    life = house.live()
    file = house.back_up()
    forget(life.persona, Target("node", life.pottery.pk), messages="withhold")
    away = set(Message.objects.filter(withheld=True).values_list("uuid", flat=True))
    assert away
    house.restore(file, "--force")
    assert away <= set(Message.objects.filter(withheld=True).values_list("uuid", flat=True))


@pytest.mark.parametrize("kind", ["persona", "owner"])
def test_a_restore_deletes_accounts_and_personas_deleted_after_the_backup(house: House, kind: Any) -> None:
    house.live()
    ben = User.objects.create_user("ben", date_joined=NOW)
    hers = lived(create_persona(ben, "Otto", user_name="Ben"))
    file = house.back_up()
    forget(hers.persona, Target(kind, hers.persona.pk if kind == "persona" else ben.pk))
    assert house.restore(file, "--force").is_in_order
    assert list(Persona.objects.values_list("name", flat=True)) == ["Mira"]
    assert User.objects.filter(username="ben").exists() == (kind == "persona")


def test_the_only_one_who_could_look_after_it_stays_without_a_word_of_theirs(house: House) -> None:
    house.live()
    User.objects.update(is_superuser=False)
    ben = User.objects.create_superuser("ben", date_joined=NOW)
    lived(create_persona(ben, "Otto", user_name="Ben"))
    file = house.back_up()
    User.objects.filter(username="ana").update(is_superuser=True)
    forget(Persona.objects.get(owner=ben), Target("owner", ben.pk))
    told = house.restore(file, "--force")
    assert f"accounts that stay, because nobody else could look after this: [{ben.pk}]" in told.err
    assert list(Persona.objects.values_list("name", flat=True)) == ["Mira"]


def test_somebody_who_came_later_is_not_taken_for_who_has_left(house: House) -> None:
    """Keys are given anew where an older state is gone on with."""
    house.live()
    file = house.back_up()
    ben = User.objects.create_user("ben", date_joined=NOW)
    forgetting.forget(forgetting.plan([Target("owner", ben.pk)]), None, NOW)
    connections.close_all()
    that_knows = house.database.rename(house.data / "aside.sqlite3")
    house.restore(file)
    User.objects.create_user("carl", id=ben.pk, date_joined=NOW + timedelta(days=1))
    later = house.back_up()
    connections.close_all()
    that_knows.rename(house.database)
    house.restore(later, "--force")
    assert User.objects.filter(username="carl").exists()


def test_a_session_off_the_record_is_over(house: House) -> None:
    life = house.live()
    off_the_record.begin(life.persona, "web", NOW + timedelta(hours=3))
    secret = receive_message(life.persona, "Nobody is to know this.", None, "web", NOW + timedelta(hours=3)).message
    assert house.restore(house.back_up(), "--force").is_in_order
    assert not Message.objects.filter(uuid=secret.uuid).exists()
    assert not Session.objects.filter(off_the_record=True).exists()


def test_a_reply_that_was_being_written_can_be_asked_for_again(house: House) -> None:
    life = house.live()
    receive_message(life.persona, "And then?", None, "web", NOW + timedelta(hours=3))
    running = turns.claim(life.persona.pk, NOW + timedelta(hours=3))
    assert running
    house.restore(house.back_up(), "--force")
    assert Turn.objects.get(uuid=running.uuid).status == Turn.Status.FAILED


def test_where_the_database_is_gone_it_says_that_nobody_knows_what_was_forgotten(house: House) -> None:
    life = house.live()
    file = house.back_up()
    forget(life.persona, Target("node", life.milo.pk))
    connections.close_all()
    house.database.unlink()
    told = house.restore(file)
    assert "the database that was here is gone" in told.err
    assert ConceptNode.objects.filter(uuid=life.milo.uuid).exists()


def test_a_database_that_cannot_be_read_is_replaced_by_force_alone(house: House) -> None:
    house.live()
    file = house.back_up()
    connections.close_all()
    house.database.write_bytes(b"no database at all" * 1000)
    with pytest.raises(CommandError, match="cannot be read"):
        house.restore(file)
    told = house.restore(file, "--force")
    assert "cannot be read" in told.err
    assert told.is_in_order


# --- doors ----------------------------------------------------------------------------------------------------------
def test_a_restore_keeps_revoked_access_revoked(house: House) -> None:
    house.live()
    ana = User.objects.get()
    ben = User.objects.create_user("ben")
    Client().force_login(ana)
    for name in ("kept", "revoked"):
        ApiToken.objects.create(owner=ana, name=name, prefix=name, digest=name, created_at=NOW)
    file = house.back_up()
    ApiToken.objects.filter(name="revoked").update(revoked_at=NOW)
    User.objects.filter(pk=ben.pk).update(is_active=False)
    house.restore(file, "--force")
    assert list(ApiToken.objects.valid(NOW).values_list("name", flat=True)) == ["kept"]
    assert not User.objects.get(username="ben").is_active
    assert not Login.objects.exists()


# --- what is refused ------------------------------------------------------------------------------------------------
def test_an_installation_that_people_live_in_is_replaced_by_force_alone(house: House) -> None:
    house.live()
    refused(house, house.back_up(), "Say --force")


def test_a_backup_of_a_newer_version_is_refused(house: House) -> None:
    recorder = MigrationRecorder(connection)
    recorder.record_applied("memory", "9999_from_the_future")
    refused(house, house.back_up(), "newer version", "--force")


def test_a_backup_of_the_version_before_the_squashed_migrations_is_restored(house: House) -> None:
    house.live()
    MigrationRecorder(connection).record_unapplied("memory", "0001_tables")
    assert house.restore(house.back_up(), "--force").is_in_order


def test_a_backup_that_lacks_some_of_the_squashed_migrations_is_refused(house: House) -> None:
    recorder = MigrationRecorder(connection)
    recorder.record_unapplied("chat", "0001_tables")
    recorder.record_unapplied("chat", "0011_flag_by_model")
    refused(house, house.back_up(), "Install version 0.1.0 first", "--force")


@pytest.mark.parametrize("place", [0.001, 0.5, 0.999])
def test_a_damaged_backup_is_refused(house: House, place: float) -> None:
    house.live()
    file = house.back_up()
    content = bytearray(file.read_bytes())
    with tarfile.open(file) as tar:
        ends = [member.offset_data + member.size for member in tar]
    at_byte = int(place * ends[-1])
    content[at_byte] ^= 1
    file.write_bytes(content)
    refused(house, file, "damaged|not where|whole tar|manifest", "--force")


@pytest.mark.parametrize("part", [0.0, 0.5, 0.98])
def test_a_backup_that_is_cut_off_is_refused(house: House, part: float) -> None:
    house.live()
    file = house.back_up()
    file.write_bytes(file.read_bytes()[: int(part * file.stat().st_size)])
    refused(house, file, "damaged|not where|whole tar|manifest", "--force")


def test_another_tar_is_no_backup(house: House, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "letters.tar", "w") as tar:
        tar.add(house.data / "knobs.toml", "manifest.json")
    refused(house, tmp_path / "letters.tar", "manifest")


@pytest.mark.parametrize("name", ["../evil", "/etc/evil", "media/../../evil", "echovessel.sqlite3", "media", "lock"])
def test_a_file_that_is_none_of_an_installation_is_refused(tmp_path: Path, name: str) -> None:
    with sqlite3.connect(tmp_path / "files.sqlite3") as archive:
        archive.execute(package.SQLAR)
        archive.execute("INSERT INTO sqlar VALUES (?, 0, 0, 4, ?)", (name, b"evil"))
    archive.close()
    (tmp_path / "stage").mkdir()
    with pytest.raises(NotABackup, match="does not belong to an installation"):
        package.unpack_files(tmp_path / "files.sqlite3", tmp_path / "stage", "")
    assert not list((tmp_path / "stage").iterdir())


def test_a_file_that_is_longer_than_it_says_is_refused(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "files.sqlite3") as archive:
        archive.execute(package.SQLAR)
        archive.execute(
            "INSERT INTO sqlar VALUES ('knobs.toml', 0, 0, 9, ?)", (package.zlib.compress(b"0" * 1_000_000),)
        )
    archive.close()
    with pytest.raises(NotABackup, match="the stated length"):
        package.unpack_files(tmp_path / "files.sqlite3", tmp_path, "")


def test_a_memory_that_is_not_in_order_is_restored_only_as_it_is(house: House) -> None:
    life = house.live()
    Session.objects.filter(pk=life.talk.pk).update(message_count=99)
    file = house.back_up()
    refused(house, file, "talks_miscounted 1", "--force")
    with pytest.raises(CommandError, match="restored with faults: talks_miscounted"):
        house.restore(file, "--force", "--as-it-is")
    assert list(house.data.glob("replaced-*"))


def test_nothing_is_restored_while_another_process_is_there(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_dir_lock, "PATIENCE_SECONDS", 0.5)
    file = house.back_up()
    with another_process(house.data) as other:
        assert other.stdout
        other.stdout.readline()
        refused(house, file, "EchoVessel is running")
    house.restore(file)


def test_who_comes_while_something_is_restored_waits(house: House) -> None:
    with data_dir_lock.acquire_exclusive(house.data):
        other = another_process(house.data)
        assert other.stderr
        assert other.stdout
        assert b"A restore is running" in other.stderr.readline()
        assert other.poll() is None
    assert other.stdout.readline()
    other.communicate()


def test_nothing_is_restored_while_another_program_has_the_database_open(house: House) -> None:
    file = house.back_up()
    connections.close_all()
    open_it = "import sqlcipher3, sys; c = sqlcipher3.connect(sys.argv[1]); c.execute('SELECT 1 FROM auth_user')"
    other = subprocess.Popen(
        [sys.executable, "-c", f"{open_it}; print(flush=True); sys.stdin.read()", str(house.database)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert other.stdout
    try:
        other.stdout.readline()
        with pytest.raises(CommandError, match="EchoVessel is running"):
            house.restore(file)
    finally:
        other.communicate()
    assert not list(house.data.glob("replaced-*"))


# --- encrypted ------------------------------------------------------------------------------------------------------
def test_a_backup_of_an_encrypted_house_holds_no_word_in_the_clear(
    tmp_path: Path, empty_database: Path, django_db_blocker: Any
) -> None:
    key = "5e" * 32
    encrypt(empty_database, tmp_path / DATABASE, key)
    house = House(furnished(tmp_path / "data", tmp_path / DATABASE), tmp_path / "backups")
    house.backups.mkdir()
    with django_db_blocker.unblock():
        with at(house.data, key):
            house.live()
            file = house.back_up()
            connections.close_all()
            needles = [b"My cat Milo", b"picture of the sea", b"the tombstone_key of", b"idle_minutes", key.encode()]
            assert erasure.traces([file, house.database], needles) == {}
            assert house.restore(file, "--force").is_in_order
            assert ConceptNode.objects.exists()
        with at(house.data, "00" * 32):
            with pytest.raises(CommandError, match="can be read with the given key"):
                house.back_up()
            house.database.unlink()
            with pytest.raises(CommandError, match="DATABASE_KEY"):
                house.restore(file)
        with at(house.data), pytest.raises(CommandError, match="Set DATABASE_KEY"):
            house.restore(file)


# --- rotation -------------------------------------------------------------------------------------------------------
def backups(*ages_in_days: int) -> list[Path]:
    return [create.timestamped_name(Path("b"), MOMENT - timedelta(days=age)) for age in ages_in_days]


@each_row(
    ("keep", "keep_days", "gone"),
    [(None, None, []), (2, None, [5, 40]), (None, 30, [40]), (3, 4, [5, 40]), (1, 1, [1, 5, 40]), (9, 99, [])],
)
def test_outdated_backups_are_chosen_by_number_and_age(
    keep: int | None, keep_days: int | None, gone: list[int]
) -> None:
    there = [*backups(40, 0, 5, 1), Path("b/letters.tar"), Path("b/echovessel-old.tar")]
    assert create.outdated_backups(there, MOMENT, keep, keep_days) == backups(*gone)


def test_the_newest_stays_however_old(house: House) -> None:
    assert create.outdated_backups(backups(400), MOMENT, None, 30) == []


def test_older_backups_go(house: House) -> None:
    for old in backups(400, 500):
        (house.backups / old.name).write_bytes(b"")
    (house.backups / "letters.tar").write_bytes(b"")
    file = house.back_up("--keep-days", "30", "--keep", "7")
    assert sorted(os.listdir(house.backups)) == sorted([file.name, "letters.tar"])


def test_the_next_backup_deletes_the_parts_of_a_dead_one(house: House) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        pass
    left = house.backups / f"{create.PART}{holder_of(gone.pid)}:abc"
    left.mkdir()
    file = house.back_up()
    assert os.listdir(house.backups) == [file.name]


# --- the moment -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("first", range(4))
@pytest.mark.parametrize("second", range(4))
def test_a_swap_that_died_anywhere_is_ended(tmp_path: Path, first: int, second: int) -> None:
    folder = tmp_path
    steps = old_and_new(folder)
    swap.begin(folder, steps)
    for deaths in (first, second):
        for step in steps[:deaths]:
            step.carry_out()
    data_dir_lock.acquire_shared(folder)
    assert written(folder) == {"a": "new a", "b": "new b"}
    assert written(folder / "aside") == {"a": "old a", "c": "old c"}
    assert not swap.is_begun(folder)


def test_a_swap_that_was_not_begun_leaves_all_as_it_was(tmp_path: Path) -> None:
    old_and_new(tmp_path)
    (tmp_path / f"{swap.JOURNAL}.part").write_text("[[")
    data_dir_lock.acquire_shared(tmp_path)
    assert {name: text for name, text in written(tmp_path).items() if len(name) == 1} == {"a": "old a", "c": "old c"}


@each_row("name", ["secret_key", "knobs.toml", "help.zh.txt", "media/a/b.png"])
def test_files_of_an_installation_belong_to_a_backup(name: str) -> None:
    assert contents.belongs(name)


def another_process(data: Path) -> "subprocess.Popen[bytes]":
    """One that has read the settings, says so, and ends with its input."""
    return subprocess.Popen(
        [sys.executable, "-c", "import django, sys; django.setup(); print('here', flush=True); sys.stdin.read()"],
        cwd=ROOT,
        env={**os.environ, "DATA_DIR": str(data), "DJANGO_SETTINGS_MODULE": "echovessel.settings"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def encrypt(plain: Path, to: Path, key: str) -> None:
    with copy.open_copy(to, key) as database:
        database.execute("ATTACH ? AS plain KEY ''", [str(plain)])
        database.execute("SELECT sqlcipher_export('main', 'plain')")


# --- in hand --------------------------------------------------------------------------------------------------------
def forget(persona: Persona, target: Target, messages: Any = "forget") -> Receipt:
    return forgetting.forget(forgetting.plan([target], Choice("cascade", messages)), None, NOW + timedelta(hours=4))


def refused(house: House, file: Path, why: str, *options: str) -> None:
    """It is, and nothing is touched by it."""
    before = house.all()
    with pytest.raises(CommandError) as error:
        house.restore(file, *options)
    assert re.search(why, str(error.value))
    after = house.all()
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    assert changed <= {DATABASE}  # how it keeps its log is written in it
    assert checks.broken_invariants(NOW) in ({}, {"talks_miscounted": 1})


def old_and_new(folder: Path) -> list[swap.Step]:
    """a and c are there, a and b are to be."""
    (folder / "stage").mkdir()
    for name in "ac":
        (folder / name).write_text(f"old {name}")
    for name in "ab":
        (folder / "stage" / name).write_text(f"new {name}")
    staged = {"a": str(folder / "stage" / "a"), "b": str(folder / "stage" / "b")}
    return [swap.Step(staged.get(name), str(folder / name), str(folder / "aside" / name)) for name in ("c", "a", "b")]


def written(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir() if path.is_file() and path.name != "lock"}


def holder_of(pid: int) -> str:
    return f"{lease.HOST}:{pid}:0"

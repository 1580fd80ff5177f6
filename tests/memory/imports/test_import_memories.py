"""The command import_memories: it analyzes, asks, imports, and continues where it was interrupted."""

import io
import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.utils import timezone

from chat.models import Message, Session
from memory.imports import analysis, begin, leases, stored_file
from memory.imports import store as imports_store
from memory.imports.readers import Source
from memory.management.commands import import_memories
from memory.models import ImportJob, ImportRun
from persona.models import CoreDraft, Persona
from tests.memory.archive.archives import SMALL, write_archive
from tests.memory.imports.readers.sources import FILES

pytestmark = pytest.mark.django_db
WHATSAPP = FILES / "WhatsApp Chat with Mira.txt"
TRANSCRIPT = "Anna: I have moved to Porto.\nBruno: When?\nAnna: Last week, with my dog Rex.\n"


def run_command(persona: Persona, file: Path, **options: Any) -> dict[str, str]:
    """The values that the command prints, by name."""
    out = io.StringIO()
    call_command("import_memories", str(file), persona=str(persona.uuid), stdout=out, stderr=io.StringIO(), **options)
    return dict(line.split("  ", 1) for line in out.getvalue().splitlines()) | {"": out.getvalue()}


def refusal_of(persona: Persona, file: Path, **options: Any) -> str:
    with pytest.raises(CommandError) as error:
        run_command(persona, file, **options)
    return str(error.value)


def everything() -> dict[str, int]:
    return {model.__name__: model._default_manager.count() for model in apps.get_models()}


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    """A chat that does not say which speaker is the owner."""
    file = tmp_path / "talk.txt"
    file.write_text(TRANSCRIPT)
    return file


def stored_messages(persona: Persona) -> list[tuple[str, str, str]]:
    return list(persona.messages.order_by("created_at", "id").values_list("role", "speaker", "content"))


def test_a_session_is_taken_in_and_remembered(mira: Persona) -> None:
    output = run_command(mira, WHATSAPP)
    assert {"status": "done", "format": "whatsapp"}.items() <= {
        name: value.strip() for name, value in output.items()
    }.items()
    assert stored_messages(mira)[0] == ("user", "", "Happy new year!")
    assert {session.status for session in Session.objects.all()} == {"closed"}
    job = ImportJob.objects.get()
    assert (job.status, job.persona, job.file_is_here) == ("done", mira, False)


def test_the_same_file_again_adds_nothing_and_says_so(mira: Persona) -> None:
    first = run_command(mira, WHATSAPP)
    before = everything()
    again = run_command(mira, WHATSAPP)
    changes = {name: count - before[name] for name, count in everything().items() if count != before[name]}
    assert changes.keys() <= {"ImportJob", "OutboxEvent"}
    assert int(again[next(name for name in again if name.strip() == "known")]) > 0
    assert first[""] != again[""]


@pytest.mark.parametrize("option", ["dry_run", "estimate"])
def test_a_look_writes_nothing_at_all(mira: Persona, option: str) -> None:
    before = everything()
    output = run_command(mira, WHATSAPP, **{option: True})[""]
    assert everything() == before
    assert ("'Ana'" in output, "minutes" in output) == ((True, False) if option == "dry_run" else (False, True))
    assert "model" in output
    assert not {"dollars", "tokens in", "calls"} & {line.split("  ")[0] for line in output.splitlines()}


def test_without_a_terminal_it_says_which_options_tell_who_is_who(mira: Persona, transcript: Path) -> None:
    before = everything()
    assert "--user-is" in refusal_of(mira, transcript)
    assert everything() == before
    run_command(mira, transcript, user_is=["Anna"])
    assert [role for role, _speaker, _text in stored_messages(mira)] == ["user", "system", "user"]


def test_with_a_terminal_it_asks(mira: Persona, transcript: Path, monkeypatch: Any) -> None:
    answers = iter(["x", "Anna"])
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("builtins.input", lambda: next(answers))
    run_command(mira, transcript)
    assert [(role, speaker) for role, speaker, _text in stored_messages(mira)] == [
        ("user", ""),
        ("system", "Bruno"),
        ("user", ""),
    ]


def test_the_speaker_options_assign_roles_by_name(mira: Persona, transcript: Path) -> None:
    assert "Nobody in the file is called 'Zoé'" in refusal_of(mira, transcript, user_is=["Zoé"])
    run_command(mira, transcript, user_is=["Bruno"], skip=["Anna"])
    assert stored_messages(mira) == [("user", "", "When?")]


def test_who_is_named_against_all_appearance_leaves_the_other_to_be_somebody_else(mira: Persona) -> None:
    run_command(mira, WHATSAPP, user_is=["Mira"])
    assert {(role, who) for role, who, text in stored_messages(mira) if text == "The fireworks"} == {("system", "Ana")}
    assert {role for role, _speaker, text in stored_messages(mira) if text == "So bright!"} == {"user"}


def test_lines_without_a_date_are_of_the_day_that_is_said(mira: Persona, transcript: Path) -> None:
    run_command(mira, transcript, user_is=["Anna"], undated=date(2020, 5, 17))
    assert {str(day) for day in mira.messages.values_list("day", flat=True)} == {"2020-05-17"}


def test_dates_that_can_be_read_in_two_ways_are_asked_about(mira: Persona, tmp_path: Path) -> None:
    file = tmp_path / "chat.txt"
    file.write_text("3/4/24, 9:05 PM - Ana: I bake bread.\n3/4/24, 9:06 PM - Mira: Lovely.\n")
    assert "--day-first or --month-first" in refusal_of(mira, file)
    assert not ImportJob.objects.exists()
    run_command(mira, file, day_first=True, zone="UTC")
    assert str(Message.objects.earliest("id").created_at) == "2024-04-03 21:05:00+00:00"


def test_fields_that_are_guessed_are_confirmed_first(mira: Persona) -> None:
    file = FILES / "character_talks.json"
    reason = refusal_of(mira, file)
    assert "--mapping text=content" in reason
    options = [word for word in reason.partition("likely ")[2].partition(". The file has")[0].split() if "=" in word]
    assert "one of text" in refusal_of(mira, file, mapping=["words=content"])
    run_command(mira, file, mapping=options)
    assert ("persona", "", "Moonflowers.") in stored_messages(mira)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("app.csv", "who;words;pos\nAna;I moved to Porto.;1\nMira;How nice!;2\n"),
        ("app.json", '{"all": [{"who": "Ana", "words": "I moved to Porto."}, {"who": "Mira", "words": "How nice!"}]}'),
    ],
)
def test_it_is_enough_to_say_which_fields_are_who_and_what(
    mira: Persona, tmp_path: Path, name: str, content: str
) -> None:
    file = tmp_path / name
    file.write_text(content)
    run_command(mira, file, mapping=["text=words", "speaker=who"], user_is=["Ana"])
    assert stored_messages(mira) == [("user", "", "I moved to Porto."), ("persona", "", "How nice!")]


def test_a_broken_file_is_refused_with_its_place_and_nothing_is_written(mira: Persona, tmp_path: Path) -> None:
    before = everything()
    file = tmp_path / "conversations.json"
    file.write_bytes((FILES / "chatgpt.json").read_bytes()[:700])
    assert str(file) in refusal_of(mira, file)
    assert "cannot be read" in refusal_of(mira, tmp_path / "nothing.txt")
    assert "There is no persona" in refused_by(lambda: call_command("import_memories", str(WHATSAPP), persona="x"))
    assert everything() == before


def test_of_an_import_that_cannot_begin_nothing_stays(mira: Persona) -> None:
    assert "time zone" in refusal_of(mira, WHATSAPP, zone="Mars/Olympus")
    assert not ImportJob.objects.exists()
    assert not mira.messages.exists()


def refused_by(action: Any) -> str:
    with pytest.raises(CommandError) as error:
        action()
    return str(error.value)


def test_after_ctrl_c_it_goes_on_to_the_same_end(mira: Persona, otto: Persona, monkeypatch: Any) -> None:
    options: dict[str, Any] = {"zone": "UTC", "user_is": ["Ana"], "persona_is": ["Mira"]}
    run_command(otto, WHATSAPP, **options)
    store = imports_store.store

    def press_ctrl_c(*args: Any) -> None:
        store(*args)
        raise KeyboardInterrupt

    monkeypatch.setattr(imports_store, "store", press_ctrl_c)
    with pytest.raises(CommandError) as error:
        run_command(mira, WHATSAPP, **options)
    assert error.value.returncode == import_memories.INTERRUPTED
    job = ImportJob.objects.get(persona=mira)
    assert f"--resume {job.uuid}" in str(error.value)
    monkeypatch.undo()
    ImportJob.objects.filter(pk=job.pk).update(lease_until=None, holder="")  # the process that held the lease is gone
    assert "is not the file" in refusal_of(mira, FILES / "transcript.txt", resume=job.uuid)
    assert "no import" in refusal_of(otto, WHATSAPP, resume=job.uuid)
    run_command(mira, WHATSAPP, resume=job.uuid)
    assert stored_messages(mira) == stored_messages(otto)
    assert mira.nodes.count() == otto.nodes.count()
    assert "is over: done" in refusal_of(mira, WHATSAPP, resume=job.uuid)


def test_ctrl_c_while_it_looks_leaves_nothing(mira: Persona, monkeypatch: Any) -> None:
    def press_ctrl_c(*_: Any) -> None:
        raise KeyboardInterrupt

    before = everything()
    monkeypatch.setattr(analysis, "survey", press_ctrl_c)
    assert "Nothing was stored" in refusal_of(mira, WHATSAPP)
    assert everything() == before


def test_ctrl_c_while_it_is_begun_leaves_nothing(mira: Persona, monkeypatch: Any) -> None:
    def press_ctrl_c(*_: Any) -> None:
        raise KeyboardInterrupt

    before = everything()
    monkeypatch.setattr(stored_file, "digest_of", press_ctrl_c)
    options: dict[str, Any] = {"zone": "UTC", "user_is": ["Ana"], "persona_is": ["Mira"]}
    assert "Nothing was stored" in refusal_of(mira, WHATSAPP, **options)
    assert everything() == before


def test_an_import_that_another_has_in_hand_is_left_alone(mira: Persona) -> None:
    with Source(WHATSAPP) as source:
        job = begin(mira.owner, mira, source, timezone.now(), keep=False)
    assert leases.acquire(job.pk, timezone.now, has_file=True)
    assert "is running this import" in refusal_of(mira, WHATSAPP, resume=job.uuid)


def test_lines_of_whom_one_leaves_out_are_counted(mira: Persona, transcript: Path) -> None:
    output = run_command(mira, transcript, user_is=["Anna"], skip=["Bruno"])
    counts = {name.strip(): count.strip() for name, count in output.items()}
    assert (counts["lines"], counts["left_out"]) == ("2", "1")


def test_so_many_sessions_as_are_wanted_are_taken(mira: Persona) -> None:
    run_command(mira, FILES / "companion.csv", limit=1, user_is=["Me"], persona_is=["Rep"])
    assert mira.messages.count() == 2


def test_an_archive_comes_by_the_same_door(otto: Persona, tmp_path: Path) -> None:
    file = write_archive(tmp_path / "mira.jsonl", SMALL)
    assert "remembered" in run_command(otto, file, dry_run=True)[""]
    run_command(otto, file)
    job = ImportJob.objects.get()
    assert (job.format, job.status, otto.nodes.count()) == ("archive", "done", 3)
    assert set(otto.nodes.values_list("import_uuid", flat=True)) == {job.uuid}
    assert CoreDraft.objects.filter(persona=otto).count() == 3
    run_command(otto, file)
    assert [job.counts.get("known") for job in ImportJob.objects.order_by("id")] == [0, 7]
    assert ImportRun.objects.count() == 1


def test_a_broken_archive_is_refused_whole(otto: Persona, tmp_path: Path) -> None:
    file = write_archive(tmp_path / "mira.jsonl", (*SMALL, "{"))
    assert "line 11" in refusal_of(otto, file)
    assert not otto.messages.exists()


def test_a_file_without_messages_is_refused_by_its_path(mira: Persona, tmp_path: Path) -> None:
    file = tmp_path / "chat.json"
    file.write_text(json.dumps({"nothing": "here"}))
    assert str(file) in refusal_of(mira, file)

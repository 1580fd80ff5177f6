"""An archive imported into a persona with memories: its content is added, the persona itself is unchanged."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command

from memory import forgetting
from memory.archive import account_archive, schema, write
from memory.forgetting import Choice, Target
from memory.imports import archive_files
from memory.imports.readers.source import Source
from memory.imports.readers.types import ImportRejected
from memory.models import ConceptNode, Evidence, ImportRun, Mention
from memory.store import tombstones
from persona.models import CoreDraft, Persona
from tests.memory.archive.archives import SMALL, import_lines, message, node, write_archive
from tests.memory.imports.readers.sources import source_of, zip_of
from tests.memory.sessions import NOW

pytestmark = pytest.mark.django_db


def archive(*lines: Any) -> Source:
    return source_of(b"".join(json.dumps(line).encode() + b"\n" for line in (lines or SMALL)), "mira.jsonl")


def run_of(persona: Persona) -> ImportRun:
    return ImportRun.objects.create(persona=persona, at=NOW)


def take_in(
    persona: Persona, source: Source | None = None, run: ImportRun | None = None
) -> archive_files.ArchiveImport:
    return archive_files.import_file(persona, run or run_of(persona), source or archive(), NOW)


def state(persona: Persona) -> list[bytes]:
    """The archive lines of the persona without core drafts."""
    return [line for line in write.archive_lines(persona, NOW) if b'"core_draft"' not in line][1:]


def test_what_another_remembers_comes_with_its_evidence_and_she_stays_who_she_is(otto: Persona) -> None:
    before = Persona.objects.filter(pk=otto.pk).values().get(), list(otto.core_blocks.values())
    run = run_of(otto)
    archive_import = take_in(otto, run=run)
    assert archive_import.added == {"talks": 1, "lines": 3, "remembered": 3, "entities": 1, "drafts": 3}
    assert Evidence.objects.get().message.persona == Mention.objects.get().node.persona == otto
    assert set(otto.nodes.values_list("import_uuid", flat=True)) == {run.uuid}
    assert (Persona.objects.filter(pk=otto.pk).values().get(), list(otto.core_blocks.values())) == before
    run.refresh_from_db()
    assert run.counts["lines"] == 3


def test_her_core_blocks_are_drafts_word_for_word(otto: Persona) -> None:
    take_in(otto)
    assert dict(CoreDraft.objects.values_list("label", "text")) == {
        "persona": "Mira loves the sea.",
        "user": "Ana lives in Lisbon.",
        "style": "Short.",
    }
    draft = CoreDraft.objects.get(label="user")
    assert (draft.status, draft.quotes.get().quote) == ("open", "Ana lives in Lisbon.")


def test_the_same_archive_again_adds_nothing(otto: Persona) -> None:
    take_in(otto)
    before = state(otto)
    assert take_in(otto).added == {}
    assert state(otto) == before


def test_an_interrupted_archive_import_resumes_to_the_same_result(
    otto: Persona, mira: Persona, monkeypatch: Any
) -> None:
    class Killed(Exception):
        pass

    def dying(after: int) -> Iterator[None]:
        yield from (None for _ in range(after))
        raise Killed

    monkeypatch.setattr(archive_files, "_HEARTBEAT_BYTES", 1)
    monkeypatch.setattr(schema, "BATCH", 1)
    whole = take_in(mira).added
    run = run_of(otto)
    for after in (3, 9, 12, 14, 16):
        lives = dying(after)
        with pytest.raises(Killed):
            archive_files.import_file(otto, run, archive(), NOW, lambda part, lives=lives: next(lives))  # type: ignore[misc]
    assert otto.messages.count() > 0
    assert take_in(otto, run=run).added == whole


def test_what_was_forgotten_stays_forgotten_and_is_counted(otto: Persona) -> None:
    take_in(otto)
    message = otto.messages.get(external_id="m1")
    forgetting.forget(forgetting.plan([Target("message", message.pk)], Choice()), otto.owner, NOW)
    assert tombstones.refuses(otto, [message.content])
    archive_import = take_in(otto)
    assert (
        archive_import.counts({"talks": 1, "lines": 3, "remembered": 3, "entities": 1})["known"]
        == 5 - archive_import.refused.total() + 2
    )
    assert archive_import.refused["lines"] == 1
    assert archive_import.refused["remembered"] >= 1
    assert not otto.messages.filter(content__contains="Blackie").exists()


def test_a_core_block_that_was_forgotten_with_its_import_is_not_proposed_again(otto: Persona) -> None:
    run = run_of(otto)
    take_in(otto, run=run)
    forgetting.forget(forgetting.plan([Target("import", run.pk)], Choice()), otto.owner, NOW)
    assert take_in(otto).refused["drafts"] == 3
    assert not CoreDraft.objects.exists()


def test_what_stands_beside_a_session_that_was_forgotten_is_still_known(otto: Persona) -> None:
    lines = (*SMALL, node("n9", "Ana likes the rain."))
    take_in(otto, archive(*lines))
    forgetting.forget(forgetting.plan([Target("session", otto.sessions.get().pk)], Choice()), otto.owner, NOW)
    assert otto.nodes.get().description == "Ana likes the rain."
    counts = take_in(otto, archive(*lines)).counts({"talks": 1, "lines": 3, "remembered": 4, "entities": 1})
    assert counts == {"refused": 8, "known": 1}


@pytest.mark.parametrize("table", ["sessions", "messages", "nodes", "entities"])
def test_what_is_forgotten_while_it_is_read_brings_nothing_more(otto: Persona, monkeypatch: Any, table: str) -> None:
    monkeypatch.setattr(archive_files, "_HEARTBEAT_BYTES", 1)
    monkeypatch.setattr(schema, "BATCH", 1)
    run, rows = run_of(otto), getattr(otto, table)

    def forget_import(part: float) -> None:
        if rows.exists() and ImportRun.objects.exists():
            forgetting.forget(forgetting.plan([Target("import", run.pk)], Choice()), otto.owner, NOW)

    with pytest.raises(ImportRejected):
        archive_files.import_file(otto, run, archive(), NOW, forget_import)
    managers = (otto.sessions, otto.messages, otto.nodes, otto.entities, otto.core_drafts)
    assert [rows.count() for rows in managers] == [0] * 5


def test_a_zip_with_one_archive_is_one(otto: Persona, tmp_path: Path, ana: User) -> None:
    import_lines(tmp_path, ana)
    source = Source(io.BytesIO(b"".join(account_archive.stream_zip(ana, NOW))), "mine.zip")
    assert archive_files.is_archive(source)
    assert archive_files.survey(source)["counts"]["remembered"] == 3
    assert take_in(otto, source).added["remembered"] == 3


def test_a_zip_with_several_is_not_guessed_about() -> None:
    data = b"\n".join(json.dumps(line).encode() for line in SMALL)
    source = source_of(zip_of({"1.jsonl": data, "2.jsonl": data}), "all.zip")
    assert archive_files.is_archive(source)
    with pytest.raises(ImportRejected, match="several companions"):
        archive_files.survey(source)


def test_a_survey_counts_the_records_of_an_archive() -> None:
    survey = archive_files.survey(archive(*SMALL, {"type": "dream"}))
    assert {"talks": 1, "lines": 3, "remembered": 3, "entities": 1}.items() <= survey["counts"].items()
    assert (survey["first_day"], survey["last_day"], survey["skipped"]) == ("2026-01-03", "2026-01-03", {"unknown": 1})
    assert (survey["speakers"], survey["questions"], survey["tokens"]) == ([], [], 0)


@pytest.mark.parametrize(
    ("lines", "where"),
    [
        ((*SMALL, message("m9", "Hello.", at="today")), "line 11"),
        (SMALL[:1], ""),
        ((SMALL[0] | {"version": 7}, *SMALL[1:]), ""),
    ],
)
def test_a_broken_archive_is_refused_with_its_place(lines: Any, where: str) -> None:
    with pytest.raises(ImportRejected) as rejected:
        archive_files.survey(archive(*lines))
    assert (rejected.value.code, rejected.value.location) == ("archive_broken", where)


@pytest.mark.parametrize("data", [b"", b"{}", b'{"type":"header"}', b"PK\x03\x04", b'["echovessel-archive"]'])
def test_other_files_are_none(data: bytes) -> None:
    assert not archive_files.is_archive(source_of(data))


def test_restoring_a_persona_is_as_it_was(ana: User, tmp_path: Path) -> None:
    """The command creates a new persona, with its core blocks."""
    file = write_archive(tmp_path / "a.jsonl", SMALL)
    call_command("import_archive", str(file), owner="ana")
    assert Persona.objects.get().core_blocks.get(label="user").content == "Ana lives in Lisbon."
    assert ConceptNode.objects.count() == 3
    assert not CoreDraft.objects.exists()

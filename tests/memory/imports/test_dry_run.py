"""For every sample file, a dry run reports the counts of the real run."""

import io
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from chat.models import Message
from memory.imports import chunks
from memory.models import ImportJob
from persona.models import Persona
from persona.onboarding.creation import create_persona
from tests.memory.archive.archives import SMALL, write_archive
from tests.memory.imports.readers.sources import FILES

pytestmark = pytest.mark.django_db
# Values that the dry run and the run both print, with the same meaning.
TOLD = ("format", "conversations", "talks", "lines", "entries", "cards", "lore", "remembered", "known", "left_out")


def command(persona: Persona, file: Path, **options: Any) -> dict[str, str]:
    out = io.StringIO()
    call_command("import_memories", str(file), persona=str(persona.uuid), stdout=out, stderr=io.StringIO(), **options)
    output = dict(re.split(r"\s{2,}", line, maxsplit=1) for line in out.getvalue().splitlines())
    return {name: value for name, value in output.items() if name in TOLD or name.startswith("left out")}


def answers_for(persona: Persona, file: Path) -> dict[str, Any] | None:
    """The options that answer the questions of the command about the file; None if it cannot be read."""
    options: dict[str, Any] = {}
    for _question in range(8):
        try:
            command(persona, file, dry_run=True, **options)
        except CommandError as error:
            error_text = str(error)
            if "--day-first" in error_text:
                options["day_first"] = True
            elif mappings := re.findall(r"--mapping (\w+=\S+)", error_text.split(". It has:")[0]):
                options["mapping"] = [option.rstrip(".;,") for option in mappings if "FIELD" not in option]
                if "--kind notes" in error_text:
                    options["kind"] = "notes"
            elif "--kind" in error_text:
                options["kind"] = "chat"
            elif names := re.findall(r"'([^']+)' \(\d+ lines\)", error_text):
                options |= {"user_is": names[:1], "other_is": names[1:]}
            else:
                return None
        else:
            return options
    raise AssertionError(f"{file.name}: asked again and again")


def samples(tmp_path: Path) -> list[Path]:
    write_archive(tmp_path / "archive.jsonl", SMALL)
    long = "".join(f"{number}: a word of many. " for number in range(6_000))
    (tmp_path / "long.md").write_text(f"# 2024-01-05\n\n{long}\n\n# 2024-01-06\n\nAnd another day.\n")
    (tmp_path / "twice.csv").write_text(
        "date,id,from,text\n2024-01-05,1,Ana,Hi\n2024-01-05,1,Ana,Hi\n2024-01-06,2,Kim,Oh\n"
    )
    return [*sorted(file for file in FILES.rglob("*") if file.is_file()), *sorted(tmp_path.iterdir())]


@pytest.mark.parametrize("stride", [12, pytest.param(1, marks=pytest.mark.campaign)])
def test_the_dry_run_and_the_run_agree_on_every_sample(mira: Persona, tmp_path: Path, stride: int) -> None:
    read = 0
    for number, file in enumerate(reversed(samples(tmp_path))):
        if number % stride and number > 2:  # the samples made for this test come first
            continue
        persona = create_persona(mira.owner, f"Mira {number}", user_name="Ana")
        options = answers_for(persona, file)
        before = ImportJob.objects.count(), Message.objects.count()
        if options is None:
            with pytest.raises(CommandError):
                command(persona, file)
            assert (ImportJob.objects.count(), Message.objects.count()) == before, file.name
            continue
        foreseen_output = command(persona, file, dry_run=True, **options)
        assert (ImportJob.objects.count(), Message.objects.count()) == before, file.name
        output = command(persona, file, **options)
        assert output == foreseen_output, file.name
        whole = persona.messages.exclude(external_id__contains=chunks.PART).count()
        assert whole == sum(int(output.get(name, 0)) for name in ("lines", "entries")), file.name
        read += 1
    assert read > 30 // stride


def test_of_what_is_known_or_left_out_the_dry_run_tells_as_the_run(mira: Persona, tmp_path: Path) -> None:
    file = tmp_path / "chat.csv"
    rows = [f"2024-01-0{day},{name},Line {day}" for day, name in enumerate(("Ana", "Kim", "Ben", "Ana", "Ben"), 1)]
    file.write_text("\n".join(["date,from,text", *rows[:3]]))
    command(mira, file, user_is=["Ana"], other_is=["Kim", "Ben"])
    file.write_text("\n".join(["date,from,text", *rows]))
    options: dict[str, Any] = {"user_is": ["Ana"], "skip": ["Ben"], "other_is": ["Kim"], "limit": 1}
    foreseen_output = command(mira, file, dry_run=True, **options)
    assert foreseen_output == command(mira, file, **options)
    assert (foreseen_output["known"], foreseen_output["left_out"], foreseen_output["lines"]) == ("2", "2", "1")

"""The smaller set-up: nothing but the packages of requirements-small.txt can be imported, and everything works."""

import json
from pathlib import Path

import pytest

from tests.installation import ROOT, Installation
from tests.small_setup import block_other_packages, blocked_modules, packages_in

ARCHIVE = [
    {"type": "header", "format": "echovessel-archive", "version": 1},
    {"type": "persona", "id": "mira", "name": "Mira", "user_name": "Ana", "timezone": "UTC"},
    {"type": "session", "id": "s1", "channel": "web", "status": "closed", "started_at": "2026-01-05T10:00:00+00:00"},
    {
        "type": "node",
        "id": "n1",
        "kind": "event",
        "description": "Ana adopted a white cat.",
        "created_at": "2026-01-05T10:00:00+00:00",
    },
]
# One after the other in one process, for a start takes as long as what they do.
COMMANDS = """
import sys
from django.core.management import CommandError, call_command
call_command("check", stdout=sys.stderr)
call_command("eval_recall", {archive!r}, "--json")
try:
    call_command("reembed", model="intfloat/multilingual-e5-small")
except CommandError as error:
    print(error, file=sys.stderr)
"""
QUERY = {"id": "q1", "turns": ["What animal did I adopt?"], "relevant": ["n1"], "category": "pets"}


def test_both_lists_are_pinned_and_have_no_package_in_common() -> None:
    small, rest = packages_in("requirements-small.txt"), packages_in("requirements.txt")
    assert not small & rest
    assert {"torch", "sentence-transformers", "pytest"} <= rest
    assert {"torch", "transformers", "scipy", "pytest", "playwright"} <= blocked_modules()
    for name in ("requirements.txt", "requirements-small.txt"):
        lines = (ROOT / name).read_text().splitlines()
        assert all("==" in line for line in lines if line and not line.startswith(("#", "-r")))


@pytest.mark.installation
def test_it_checks_and_recalls_and_says_what_another_model_needs(tmp_path: Path) -> None:
    """That it also serves, `test_up` sees."""
    archive = tmp_path / "set"
    archive.mkdir()
    (archive / "archive.jsonl").write_text("\n".join(map(json.dumps, ARCHIVE)))
    (archive / "queries.jsonl").write_text(json.dumps(QUERY))
    for name in ("house", "empty"):
        (tmp_path / name).mkdir()
    env = {"DJANGO_SETTINGS_MODULE": "echovessel.settings", "EMBEDDING_MODEL": ""}
    env |= block_other_packages(tmp_path / "site")
    house = Installation(tmp_path / "house", Installation.unused(tmp_path / "empty"), **env)
    done = house.manage("shell", "--verbosity", "0", "-c", COMMANDS.format(archive=str(archive)), check=False)
    measured = json.loads(done.stdout)
    assert measured["sets"]["set"]["all"]["recall"] == 1.0
    assert "needs torch and sentence-transformers" in done.stderr
    assert "Traceback" not in done.stderr

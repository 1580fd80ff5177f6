"""The smaller set-up: nothing but the packages of requirements-small.txt can be imported, and everything starts."""

import json
import re
import sys
import urllib.request
from importlib import metadata
from pathlib import Path

import pytest

from tests.installation import ROOT, Installation

# Python imports this module first of all, so that nothing gets round it.
SITE = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names!r}:
            raise ImportError(f"{{name}} is not in the smaller set-up")

sys.meta_path.insert(0, Blocked())
"""
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
call_command("eval_recall", {data!r}, "--json")
try:
    call_command("reembed", model="intfloat/multilingual-e5-small")
except CommandError as error:
    print(error, file=sys.stderr)
"""
QUERY = {"id": "q1", "turns": ["What animal did I adopt?"], "relevant": ["n1"], "category": "pets"}


def listed(name: str) -> set[str]:
    lines = (ROOT / name).read_text().splitlines()
    return {normalized(re.split(r"[=\[;]", line)[0]) for line in lines if line and not line.startswith(("#", "-"))}


def normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


def blocked_modules() -> set[str]:
    """The modules of all installed packages that are not listed."""
    known = listed("requirements-small.txt")
    packages = metadata.packages_distributions().items()
    return {
        module
        for module, owners in packages
        if not known & {normalized(owner) for owner in owners} and module not in sys.stdlib_module_names
    }


def test_both_lists_are_pinned_and_have_no_package_in_common() -> None:
    small, rest = listed("requirements-small.txt"), listed("requirements.txt")
    assert not small & rest
    assert {"torch", "sentence-transformers", "pytest"} <= rest
    assert {"torch", "transformers", "scipy", "pytest", "playwright"} <= blocked_modules()
    for name in ("requirements.txt", "requirements-small.txt"):
        lines = (ROOT / name).read_text().splitlines()
        assert all("==" in line for line in lines if line and not line.startswith(("#", "-r")))


@pytest.mark.installation
def test_it_serves_and_recalls_and_says_what_another_model_needs(tmp_path: Path) -> None:
    site, data = tmp_path / "site", tmp_path / "set"
    site.mkdir()
    (site / "sitecustomize.py").write_text(SITE.format(names=blocked_modules()))
    data.mkdir()
    (data / "archive.jsonl").write_text("\n".join(map(json.dumps, ARCHIVE)))
    (data / "queries.jsonl").write_text(json.dumps(QUERY))
    for name in ("house", "empty"):
        (tmp_path / name).mkdir()
    settings = {"DJANGO_SETTINGS_MODULE": "echovessel.settings", "PYTHONPATH": str(site), "EMBEDDING_MODEL": ""}
    with Installation(tmp_path / "house", Installation.unused(tmp_path / "empty"), **settings) as house:
        with urllib.request.urlopen(house.first_run_link, timeout=30) as page:
            assert page.status == 200
        done = house.manage("shell", "--verbosity", "0", "-c", COMMANDS.format(data=str(data)), check=False)
        measured = json.loads(done.stdout)
        assert measured["sets"]["set"]["all"]["recall"] == 1.0
        assert "needs torch and sentence-transformers" in done.stderr
        assert "Traceback" not in done.stderr

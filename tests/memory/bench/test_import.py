"""A large file comes in within the memory that a small one takes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.installation import ROOT, Installation

pytestmark = pytest.mark.installation


@pytest.mark.parametrize(("megabytes", "most_mb"), [(1, 250), pytest.param(188, 300, marks=pytest.mark.campaign)])
def test_a_large_import_needs_the_memory_of_one_session(tmp_path: Path, megabytes: int, most_mb: int) -> None:
    command = [sys.executable, "manage.py", "bench", "--json", "import", "--megabytes", str(megabytes)]
    env = Installation(tmp_path).env
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert figures["stored"] == figures["lines"] > 1_000
    assert figures["rss_mb"] <= most_mb

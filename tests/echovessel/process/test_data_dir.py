"""The data folder is opened by Django's start, not by an import of the settings."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from echovessel.process.data_dir import read_or_create_key

ROOT = Path(__file__).resolve().parents[3]


def run(script: str, data: Path, **environment: str) -> str:
    env = os.environ | {"DJANGO_SETTINGS_MODULE": "echovessel.settings", "DATA_DIR": str(data)} | environment
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    return done.stdout


def test_importing_the_settings_touches_no_disk_and_starting_django_creates_the_folder_and_loads_no_large_library(
    tmp_path: Path,
) -> None:
    data = tmp_path / "data"
    imported = run("import echovessel.settings as s, threading; print(s.DATA_DIR, threading.active_count())", data)
    assert imported.split() == [str(data), "1"]
    assert not data.exists()

    knobs = '{"chat.idle_minutes": 7}'
    data.mkdir()
    (data / "knobs.toml").write_text('"chat.idle_minutes" = 5\n"chat.debounce_seconds" = 3\n')
    script = "import django; django.setup(); from django.conf import settings as s; "
    script += "print(s.SECRET_KEY, s.TOMBSTONE_KEY, s.KNOBS)"
    # What takes seconds to load is loaded when it is needed, not by every process.
    script += (
        "; import sys, echovessel.urls; print({'openai', 'anthropic', 'onnxruntime', 'torch'} & sys.modules.keys())"
    )
    started = run(script, data, SECRET_KEY="", TOMBSTONE_KEY="", ECHOVESSEL_KNOBS=knobs)
    key = (data / "secret_key").read_text()
    assert len(key) > 50
    assert (data / "tombstone_key").read_text() == key
    assert started == f"{key} {key} {{'chat.idle_minutes': 7, 'chat.debounce_seconds': 3}}\nset()\n"
    opened = "from django.apps import AppConfig; AppConfig.create('echovessel.apps.FrameConfig'); "
    opened += "from django.conf import settings as s; print(s.SECRET_KEY, s.TOMBSTONE_KEY)"
    assert run(opened, data, SECRET_KEY="another", TOMBSTONE_KEY="").split() == ["another", key]


@pytest.mark.parametrize(("before", "first", "key"), [(None, "given", "given"), ("kept\n", "given", "kept")])
def test_a_key_is_created_once(tmp_path: Path, before: str | None, first: str, key: str) -> None:
    path = tmp_path / "key"
    if before is not None:
        path.write_text(before)
    assert read_or_create_key(path, first) == key
    assert read_or_create_key(path) == key
    assert before is not None or path.stat().st_mode & 0o777 == 0o600

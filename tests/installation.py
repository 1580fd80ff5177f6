"""A whole installation as its operator runs it: `manage.py up` in a data folder of its own, on a free port.

with Installation(tmp_path) as house:
    house.first_run_link; house.url; house.manage("create_persona", "Mira", "--owner", "ana")
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, Self

from echovessel.web import static_storage
from tests import template_database

ROOT = Path(__file__).resolve().parent.parent
PATIENCE_SECONDS = 60
# The product's own, with vectors from words instead of a model that takes 6 s to load in every process.
SETTINGS = "tests.installation_settings"
STATIC = ROOT / "build" / "static"
# Deletes what people have brought; rows that were there before anybody stay. `None` in place of their tables asks for
# their names.
EMPTY = """
import json
from django.db import connection, transaction
from echovessel.web import first_run
tables = connection.introspection.django_table_names(only_existing=True, include_views=False)
with transaction.atomic(), connection.cursor() as cursor:
    filled = [table for table in tables if cursor.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone()]
    if kept is not None:
        cursor.execute("PRAGMA defer_foreign_keys = ON")
        for table in set(filled) - set(kept):
            cursor.execute(f"DELETE FROM {table}")
first_run.token()
print(json.dumps(filled))
"""


class Installation:
    """`up` as a process; everything it keeps lies in `folder`."""

    def __init__(self, folder: Path, empty: Path | None = None, **env: str) -> None:
        """`empty` is the data folder of an installation that was never used, to save the time of making one."""
        self.folder, self.port = folder, free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = folder / "up.log"
        self._inside: subprocess.Popen[str] | None = None
        self._kept: list[str] | None = None
        knobs = '{"chat.debounce_seconds": 0.1, "chat.lease_seconds": 4}'
        self.env = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("LLM_", "PYTEST"))},
            "DJANGO_SETTINGS_MODULE": SETTINGS,
            "DATA_DIR": str(folder / "data"),
            "ECHOVESSEL_KNOBS": knobs,
            "LLM_PROVIDER": "offline",
            # Set, not left out: the operator's .env must not lead a test to the operator's data.
            "DATABASE_URL": "",
            "DATABASE_KEY": "",
            "ALLOWED_HOSTS": "localhost,127.0.0.1,[::1]",
            "CSRF_TRUSTED_ORIGINS": "",
            "API_ORIGINS": "",
            "HTTPS": "off",
            "PROXY_COUNT": "0",
            **env,
        }

        if empty is not None:
            shutil.copytree(empty, folder / "data")

    @classmethod
    def unused(cls, folder: Path) -> Path:
        """A data folder as `up` prepares it, for many installations to start from."""
        data = folder / "data"
        data.mkdir(mode=0o700)
        template_database.copy_to(data / "echovessel.sqlite3")
        with template_database.locked():
            if not static_storage.is_fresh(STATIC):
                cls(folder).manage("collectstatic", "--noinput", "--clear")
                shutil.rmtree(STATIC, ignore_errors=True)
                shutil.copytree(data / "static", STATIC)
            else:
                shutil.copytree(STATIC, data / "static")
        return data

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "up", "--port", str(self.port)],
                cwd=ROOT,
                env=self.env,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        try:
            self.wait_until_served()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        if self._inside is not None:
            self._inside.communicate()
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()

    def wait_until_served(self) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise RuntimeError(f"up ended: {self.log.read_text()}")
            try:
                with urllib.request.urlopen(f"{self.url}/healthz", timeout=2):
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        raise TimeoutError(f"nothing is served: {self.log.read_text()}")

    def run(self, code: str, **names: Any) -> str:
        """What the code prints inside the installation; `names` are its variables."""
        if self._inside is None or self._inside.poll() is not None:
            self._inside = subprocess.Popen(
                [sys.executable, "-m", "tests.code_runner"],
                cwd=ROOT,
                env=self.env,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        assert self._inside.stdin
        assert self._inside.stdout
        self._inside.stdin.write(json.dumps({"code": code, "names": names}) + "\n")
        self._inside.stdin.flush()
        answer = self._inside.stdout.readline()
        assert answer, "the code failed inside the installation"
        printed: str = json.loads(answer)
        return printed

    def call(self, *command: str) -> str:
        """What a management command prints; `manage` gives it a process of its own."""
        code = "from django.core.management import call_command\ncall_command(*command)"
        return self.run(code, command=command)

    def empty(self) -> None:
        """Make it one where nobody lives yet, while it runs; the first time says what such a one holds."""
        if self._kept is None:
            self._kept = json.loads(self.run(EMPTY, kept=None))
        else:
            self.run(EMPTY, kept=self._kept)
            self.wait_until_served()

    @property
    def first_run_link(self) -> str:
        assert f"{self.url}/welcome/" in self.log.read_text(), "up printed no first-run link"
        return f"{self.url}/welcome/{(self.folder / 'data' / 'first_run_token').read_text().strip()}/"

    def kill_web(self) -> None:
        """SIGKILL for the web server; `up` starts it again."""
        os.kill(self.web_pid(), signal.SIGKILL)

    def web_pid(self) -> int:
        """The process that serves pages, found as the child of `up` that runs daphne."""
        for line in Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split():
            if b"daphne" in Path(f"/proc/{line}/cmdline").read_bytes():
                return int(line)
        raise LookupError("no web server runs")

    def processes(self) -> list[int]:
        """The ids of all processes that work for this installation, `up` included."""
        marker = f"DATA_DIR={self.env['DATA_DIR']}".encode()
        found = []
        for folder in Path("/proc").iterdir():
            try:
                if folder.name.isdecimal() and marker in (folder / "environ").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
            except OSError:  # it ended while we looked
                continue
        return found

    def workers(self) -> set[int]:
        """The ids of the job worker's processes."""
        found = set()
        for pid in self.processes():
            with contextlib.suppress(OSError):
                if b"worker" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0"):
                    found.add(pid)
        return found

    def manage(self, *command: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "manage.py", *command], cwd=ROOT, env=self.env, capture_output=True, text=True, check=check
        )


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])

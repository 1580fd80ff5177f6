"""Run everything: migrate the database, collect static files, and run web server and job worker until Ctrl-C."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.core.checks import Tags
from django.core.management import BaseCommand, CommandError, call_command
from django.db import DEFAULT_DB_ALIAS, connection
from django.urls import reverse

from echovessel.db.sqlite import migration_history
from echovessel.process import lifeline
from echovessel.web import first_run, static_storage

STOP_SECONDS = 15
LONGEST_PAUSE_SECONDS = 30.0
WORKER = [sys.executable, str(settings.BASE_DIR / "manage.py"), "worker"]


@dataclass
class Child:
    """A supervised process: started in its own process group, restarted when it dies, and stopped with us."""

    name: str
    command: list[str]
    pipe: int  # a file descriptor that reaches its end when we do
    process: "subprocess.Popen[bytes] | None" = None
    pause: float = 0.5
    start_at: float = field(default_factory=time.monotonic)
    started_at: float = 0.0

    def tend(self, now: float, say: Callable[[str], None]) -> None:
        """Start the process when it is due; if it died, kill the rest of its group and plan the next start."""
        if self.process is None:
            if now >= self.start_at:
                supervisor_pid = os.getpid()
                self.process = subprocess.Popen(
                    self.command,
                    start_new_session=True,
                    preexec_fn=lambda: lifeline.end_with(supervisor_pid, signal.SIGTERM),
                    cwd=settings.BASE_DIR,
                    env=os.environ | {lifeline.PIPE: str(self.pipe)},
                    pass_fds=(self.pipe,),
                )
                self.started_at = now
        elif self.process.poll() is not None:
            say(f"{self.name} ended ({self.process.returncode}); starting it again")
            self.signal(signal.SIGKILL)
            self.pause = 0.5 if now - self.started_at > 60 else min(self.pause * 2, LONGEST_PAUSE_SECONDS)
            self.process, self.start_at = None, now + self.pause

    def signal(self, number: int) -> None:
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, number)


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
        parser.add_argument("--port", type=int, default=8000, help="port to listen on (default: %(default)s)")

    def handle(self, *args: Any, **options: Any) -> None:
        host, port = options["host"], options["port"]
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
            except OSError as error:
                raise CommandError(
                    f"Cannot listen on {host}:{port}: {error.strerror}. Choose another with --host and --port."
                ) from error
        if fault := migration_history.fault(migration_history.applied(connection)):
            raise CommandError(fault)
        call_command("migrate", interactive=False, verbosity=0)
        self.check(tags=[Tags.database], databases=[DEFAULT_DB_ALIAS])
        if not static_storage.is_fresh():
            call_command("collectstatic", interactive=False, verbosity=0)
        address = browser_address(host, port)
        self.stdout.write(f"EchoVessel is at {address}/")
        if host in ("0.0.0.0", "::") and all(name in settings.LOOPBACK for name in settings.ALLOWED_HOSTS):
            self.stdout.write("Only this machine has access: list other addresses in ALLOWED_HOSTS.")
        if token := first_run.token():
            self.stdout.write(
                f"Nobody lives here yet. This link makes the first owner, once:\n"
                f"{address}{reverse('first_run', args=[token])}"
            )
        self.stdout.flush()
        ours, theirs = os.pipe()  # nobody writes: the pipe ends when we end, since only we hold `theirs`
        web = [
            sys.executable, "-m", "daphne", "--bind", host, "--port", str(port), "--no-server-name", "-v", "0",
            "--application-close-timeout", "5", "echovessel.asgi:application",
        ]  # fmt: skip
        self._tend([Child("the web server", web, ours), Child("the job worker", WORKER, ours)])
        os.close(theirs)

    def _tend(self, children: list[Child]) -> None:
        stopping: list[int] = []  # the signals that asked us to stop
        for number in (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
            signal.signal(number, lambda number, _frame: stopping.append(number))
        try:
            while not stopping:
                for child in children:
                    child.tend(time.monotonic(), lambda text: self.stderr.write(text))
                time.sleep(0.2)
            self.stderr.write("Stopping.")
        finally:
            # Ask the children to end, wait for their running work, then kill them.
            running = [child for child in children if child.process is not None]
            for child in running:
                assert child.process is not None
                child.process.terminate()
            deadline = time.monotonic() + STOP_SECONDS
            for child in running:
                assert child.process is not None
                with contextlib.suppress(subprocess.TimeoutExpired):
                    child.process.wait(max(0.1, deadline - time.monotonic()))
                child.signal(signal.SIGKILL)


def browser_address(host: str, port: int) -> str:
    """The address at which a browser finds the site, as far as the settings say."""
    named = next((name for name in settings.ALLOWED_HOSTS if name not in settings.LOOPBACK and name[0] not in "*."), "")
    if settings.HTTPS and named:
        return f"https://{named}"
    if host in ("0.0.0.0", "::"):
        host = named or "127.0.0.1"
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"

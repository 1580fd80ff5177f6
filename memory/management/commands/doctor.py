"""Checks the installation and reports problems, worst first, each with advice. Reads only, and shows nobody's words."""

import json
import shutil
import stat
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from asgiref.sync import async_to_sync
from django.conf import settings
from django.core import checks
from django.core.management.base import BaseCommand, CommandParser
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone
from django_q.models import OrmQ, Schedule

from chat.models import Message, Session
from echovessel.backup import create
from echovessel.llm import connection as connections
from echovessel.llm import servers
from echovessel.llm.connection import OFFLINE
from echovessel.llm.errors import LLMError
from echovessel.llm.models import ModelConnection
from echovessel.llm.providers import provider_of
from echovessel.outbox import knobs as outbox_knobs
from echovessel.outbox.models import OutboxEvent
from memory.models import ImportJob, Receipt
from memory.store import checks as store_checks

Level = Literal["wrong", "note", "fine"]
LEVELS: dict[Level, str] = {"wrong": "WRONG", "note": "note ", "fine": "fine "}

MB = 1024 * 1024
# The scheduled function that looks for work (echovessel/schedule.py).
EVERY_MINUTE = "echovessel.schedule.minute"
MIN_FREE_BYTES, ADVISED_FREE_BYTES = 300 * MB, 2_000 * MB
# The worker looks for work every minute; after this silence it does not run.
WORKER_SILENT = timedelta(minutes=5)
RECEIPT_WAITS, SESSION_WAITS = timedelta(minutes=10), timedelta(hours=2)
CLOCK_TOLERANCE = timedelta(minutes=5)
# The year in which this was written: an earlier clock was never set.
EARLIEST_NOW = datetime(2026, 1, 1, tzinfo=UTC)
MAX_BACKUP_AGE = timedelta(days=14)
MAX_QUEUED, MAX_OUTBOX = 500, 200_000
MODEL_SECONDS = 10.0


@dataclass(frozen=True)
class Finding:
    """The result of one check: the state, and advice."""

    level: Level
    subject: str
    text: str
    advice: str = ""


Findings = Iterator[Finding]


def examine(now: datetime) -> list[Finding]:
    """All findings, worst first; within a level a problem comes before the problems that it may cause."""
    findings = [*_carry_out("disk", check_disk, now), *_carry_out("clock", check_clock, now)]
    database = [*_carry_out("database", check_database, now)]
    findings = database + findings
    if not any(finding.level == "wrong" for finding in database):
        for subject, check in AFTER_DATABASE.items():
            findings += _carry_out(subject, check, now)
    return sorted(findings, key=lambda finding: list(LEVELS).index(finding.level))


def _carry_out(subject: str, check: Callable[[datetime], Findings], now: datetime) -> list[Finding]:
    """The findings of a check; one that raises is a finding, too, so that the other checks still run."""
    try:
        return list(check(now))
    except Exception as error:  # noqa: BLE001  (whatever is broken, the other checks still run)
        return [Finding("wrong", subject, f"This could not be checked ({type(error).__name__}).", "See the log.")]


def check_database(now: datetime) -> Findings:
    """Whether the database can be read, and has all migrations of this version."""
    path = Path(settings.DATABASES["default"]["NAME"])
    if not path.exists():
        yield Finding("wrong", "database", f"There is no database at {path}.", "Start with: manage.py up")
        return
    try:
        executor = MigrationExecutor(connection)
        waiting = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError:
        advice = "Check DATABASE_KEY: it must be the key that the database was made with. Else restore a backup."
        yield Finding("wrong", "database", "It cannot be read: it is damaged, or encrypted with another key.", advice)
        return
    if waiting:
        yield Finding("wrong", "migrations", f"{len(waiting)} are not applied.", "Run: manage.py migrate")
        return
    yield Finding("fine", "database", f"{path.stat().st_size / MB:,.0f} MB, all migrations applied.")


def check_disk(now: datetime) -> Findings:
    """Whether there is room to write the database anew once, as erasing does."""
    path = Path(settings.DATABASES["default"]["NAME"])
    free, size = shutil.disk_usage(settings.DATA_DIR).free, path.stat().st_size if path.exists() else 0
    text = f"{free / MB:,.0f} MB free in {settings.DATA_DIR}."
    advice = "Make room: delete older backups (manage.py backup --keep 3), or move DATA_DIR."
    if free < max(MIN_FREE_BYTES, size * 3 // 2):
        yield Finding("wrong", "disk", text + " Nothing can be stored or erased reliably.", advice)
    elif free < max(ADVISED_FREE_BYTES, 3 * size):
        yield Finding("note", "disk", text, advice)
    else:
        yield Finding("fine", "disk", text)


def check_clock(now: datetime) -> Findings:
    if now < EARLIEST_NOW:
        yield Finding(
            "wrong", "clock", f"The clock says {now:%Y-%m-%d}.", "Set the clock of this machine, best by NTP."
        )


def check_future(now: datetime) -> Findings:
    """Messages from the future: they were stored while the clock was wrong."""
    later = Message.objects.filter(created_at__gt=now + CLOCK_TOLERANCE, import_uuid=None).count()
    if later:
        text = f"{later} messages are from the future: the clock was ahead once, or is behind now."
        yield Finding("wrong", "clock", text, "Set the clock of this machine, best by NTP.")
    else:
        yield Finding("fine", "clock", f"{now:%Y-%m-%d %H:%M} UTC; no message is from the future.")


def check_keys(now: datetime) -> Findings:
    """Key files that other users can read, and a stored model key that cannot be decrypted."""
    folder = Path(settings.DATA_DIR)
    open_to_others = [
        path.name
        for path in (folder / "secret_key", folder / "tombstone_key", folder / "vapid_key.pem")
        if path.exists() and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)
    ]
    if open_to_others:
        names = ", ".join(open_to_others)
        yield Finding("wrong", "keys", f"Other users of this machine can read {names}.", f"Run: chmod 600 in {folder}")
    row = ModelConnection.objects.first()
    if row and row.encrypted_key and not connections.decrypt(row.encrypted_key):
        advice = "Restore the SECRET_KEY it was saved with, or enter the key again: Account, which model answers."
        yield Finding("wrong", "keys", "The saved key of the language model cannot be decrypted.", advice)
    elif not open_to_others:
        is_encrypted = bool(settings.DATABASES["default"]["OPTIONS"].get("key"))
        at_rest = "is encrypted" if is_encrypted else "is not encrypted (DATABASE_KEY)"
        yield Finding("fine", "keys", f"Readable by this user alone; the database {at_rest}.")


def check_model(now: datetime) -> Findings:
    """Whether the language model can be reached and offers the chosen models. No tokens are used."""
    connection = connections.current()
    advice = "Choose one: Account, which model answers; or LLM_BASE_URL and LLM_API_KEY in the environment."
    if connection.provider == OFFLINE:
        yield Finding("note", "model", "No model is connected: simple rules answer from memory.", advice)
        return
    where = connection.base_url or connection.provider
    if "." in connection.provider:
        yield Finding("fine", "model", f"{where} answers; it offers no list of models.")
        return
    try:
        names = async_to_sync(servers.list_models)(connection, MODEL_SECONDS)
    except LLMError as error:
        advice = "Start the model server, or check address and key: Account, which model answers, Test it."
        yield Finding("wrong", "model", f"{where}: {error}", advice)
        return
    provider = provider_of(connection)
    model_names = {provider.model(tier) for tier in ("large", "medium", "small")}
    missing = sorted(model_names - {*names, *(name.removesuffix(":latest") for name in names)})
    if missing and names:
        text = f"{where} does not list {', '.join(missing)}."
        yield Finding("note", "model", text, "Pull the model there, or choose one that it has.")
    else:
        yield Finding("fine", "model", f"{where} answers with {', '.join(sorted(model_names))}.")


def check_worker(now: datetime) -> Findings:
    """The worker advances the time of its next run every minute."""
    every_minute = Schedule.objects.filter(func=EVERY_MINUTE).first()
    if every_minute is None:
        yield Finding("wrong", "worker", "Its jobs are not scheduled.", "Run: manage.py migrate")
        return
    late = now - every_minute.next_run
    if late > WORKER_SILENT:
        text = f"No job has begun for {_span(late)}: nothing is remembered, erased or imported."
        yield Finding("wrong", "worker", text, "Start it: manage.py up (or manage.py worker beside your web server)")
    else:
        yield Finding("fine", "worker", "It looks for work every minute.")
    if (queued := OrmQ.objects.count()) > MAX_QUEUED:
        yield Finding("note", "worker", f"{queued} jobs wait.", "Watch it; one worker does them one by one.")


def check_receipts(now: datetime) -> Findings:
    """Forgotten data whose bytes are still in the file."""
    waiting = Receipt.objects.filter(status=Receipt.Status.PENDING, at__lt=now - RECEIPT_WAITS).count()
    if waiting:
        text = f"The bytes of {waiting} deletions are still in the file."
        yield Finding("wrong", "erasure", text, "Start the worker and make sure there is room on the disk.")
    else:
        yield Finding("fine", "erasure", "Everything that was forgotten is erased.")


def check_memory(now: datetime) -> Findings:
    """The invariants of memory; faults of vectors get advice of their own."""
    faults = {name: count for name, count in store_checks.check(now).items() if count}
    about_vectors = {name: count for name, count in faults.items() if "vector" in name or name.startswith("searched")}
    if about_vectors:
        counts = ", ".join(f"{name} {count}" for name, count in about_vectors.items())
        yield Finding("wrong", "vectors", f"Memories are not found: {counts}.", "Run: manage.py reembed")
    rest = {name: count for name, count in faults.items() if name not in about_vectors}
    if rest:
        counts = ", ".join(f"{name} {count}" for name, count in rest.items())
        yield Finding("wrong", "memory", f"Rows are not in order: {counts}.", "Report it with: manage.py check_memory")
    if not faults:
        yield Finding("fine", "memory", "All rows, indexes and vectors are in order.")


def check_work(now: datetime) -> Findings:
    """Conversations and files that are not remembered."""
    states = Counter(Session.objects.values_list("status", flat=True))
    if failed := states[Session.Status.FAILED]:
        text = f"{failed} conversations could not be remembered."
        yield Finding("wrong", "sessions", text, "See why in the admin, then run: manage.py retry_failed")
    waiting = Session.objects.filter(status=Session.Status.CLOSING, closed_at__lt=now - SESSION_WAITS)
    if count := waiting.count():
        text = f"{count} ended conversations have waited to be remembered for more than {_span(SESSION_WAITS)}."
        yield Finding("note", "sessions", text, "The model or today's budget may be missing; see above.")
    if failed := ImportJob.objects.filter(status=ImportJob.Status.FAILED).count():
        yield Finding("note", "imports", f"{failed} failed.", "Upload the same file to continue.")


def check_outbox(now: datetime) -> Findings:
    """Events that should have been deleted."""
    oldest = now - timedelta(days=outbox_knobs.keep_days() + 1)
    stale, total = OutboxEvent.objects.filter(at__lt=oldest).count(), OutboxEvent.objects.count()
    if stale or total > MAX_OUTBOX:
        text = f"{total} events are kept, {stale} of them for longer than they should be."
        yield Finding("wrong" if stale else "note", "outbox", text, "Start the worker: it drops old ones every minute.")


def check_backups(now: datetime) -> Findings:
    """The newest backup in the usual folder; backups elsewhere are not known here."""
    folder = Path(settings.DATA_DIR) / create.FOLDER
    names = [match[1] for path in folder.glob("*.tar") if (match := create.NAME.fullmatch(path.name))]
    if not names:
        text = f"No backup was found in {folder}."
        yield Finding("note", "backups", text, "Run: manage.py backup, best every day; copies elsewhere are not seen.")
        return
    age = now - datetime.strptime(max(names), create.STAMP).replace(tzinfo=UTC)
    advice = "Run: manage.py backup --keep 7, best every day." if age > MAX_BACKUP_AGE else ""
    yield Finding("note" if advice else "fine", "backups", f"The newest is {_span(age)} old.", advice)


def check_system(now: datetime) -> Findings:
    """The checks of Django and EchoVessel at every start: settings, knobs, keys of tombstones, the embedding model."""
    messages = checks.run_checks(include_deployment_checks=False, databases=["default"])
    for message in messages:
        if message.is_silenced() or message.level < checks.WARNING:
            continue
        level: Level = "wrong" if message.level >= checks.ERROR else "note"
        yield Finding(level, "settings", f"{message.msg} ({message.id})", message.hint or "")


AFTER_DATABASE: dict[str, Callable[[datetime], Findings]] = {
    "settings": check_system,
    "keys": check_keys,
    "worker": check_worker,
    "erasure": check_receipts,
    "memory": check_memory,
    "model": check_model,
    "sessions": check_work,
    "clock": check_future,
    "outbox": check_outbox,
    "backups": check_backups,
}


def _span(time: timedelta) -> str:
    hours = time.total_seconds() / 3600
    if hours < 1:
        return f"{hours * 60:.0f} minutes"
    return f"{hours:.0f} hours" if hours < 48 else f"{hours / 24:.0f} days"


class Command(BaseCommand):
    help = (
        "Check the installation and print what is wrong, worst first, with advice: database, "
        "disk, clock, keys, worker, erasure, memory and vectors, language model, events, "
        "backups. Changes nothing and prints nobody's words. The exit code is 1 if something is "
        "wrong; notes do not count."
    )
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        findings = examine(timezone.now())
        is_wrong = any(finding.level == "wrong" for finding in findings)
        if options["json"]:
            rows = [asdict(finding) for finding in findings]
            self.stdout.write(json.dumps({"ok": not is_wrong, "findings": rows}))
        else:
            styles = {"wrong": self.style.ERROR, "note": self.style.WARNING, "fine": self.style.SUCCESS}
            width = max(len(finding.subject) for finding in findings)
            for finding in findings:
                mark = styles[finding.level](LEVELS[finding.level])
                self.stdout.write(f"{mark} {finding.subject:{width}} {finding.text}")
                if finding.advice:
                    self.stdout.write(f"{'':{width + 6}} → {finding.advice}")
        if is_wrong:
            sys.exit(1)

"""Import a file into a persona's memory: a chat export, a diary, a character card, a lorebook, or an archive.

The file is analyzed first; nothing is stored before it is clear who is who. The result is printed on stdout, progress
on stderr. After Ctrl-C or a kill, the same command with --resume goes on.
"""

import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from datetime import date
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management import BaseCommand, CommandError
from django.utils import timezone
from tqdm import tqdm

from echovessel.jobs.lease import LeaseLost
from memory.imports import (
    Choices,
    Estimate,
    WrongChoice,
    analysis,
    analyze_in_process,
    archive_files,
    begin,
    confirm,
    estimate,
    runner,
    suggest_choices,
    summarize,
)
from memory.imports.choices import KINDS, follow_choices
from memory.imports.readers import FORMATS, Source
from memory.imports.readers.fields import Mapping as Fields
from memory.imports.readers.types import ImportRejected
from memory.imports.stored_file import digest_of
from memory.imports.suggestions import name_of_owner
from memory.models import ImportJob
from persona.lookup import NoSuchPersona, persona_by
from persona.models import Persona

Status = ImportJob.Status
AUTO = "auto"
INTERRUPTED = 130  # the exit code of shells after Ctrl-C
_ANSWERS = {"u": "user", "p": "persona", "o": "other", "s": "skip"}
_MAPPED = tuple(field.name for field in fields(Fields) if field.name != "sure")
_MAX_NAMED = 20
# Names for counts of the file, different from those of imported content.
_IN_FILE = {"talks": "conversations", "cards": "cards", "lore": "lore", "remembered": "remembered"}
_READ = {"remembered": "sessions remembered", "unread": "sessions unread", "failed": "sessions failed"}


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="the file to import")
        parser.add_argument("--persona", required=True, help="its id, or its external id if that is unique")
        names = [AUTO, *(file_format.name for file_format in FORMATS), archive_files.NAME]
        parser.add_argument("--format", choices=names, default=AUTO, help="its format (default: recognized by content)")
        parser.add_argument("--dry-run", action="store_true", help="print what would be imported, and store nothing")
        parser.add_argument("--estimate", action="store_true", help="print the estimated cost, and store nothing")
        parser.add_argument("--resume", type=UUID, metavar="JOB", help="continue an interrupted import")
        parser.add_argument("--limit", type=int, metavar="N", help="import at most N sessions and entries")
        parser.add_argument("--without-owner", action="store_true", help="the owner is none of the speakers")
        repeatable: dict[str, Any] = {"action": "append", "default": [], "metavar": "NAME"}
        parser.add_argument("--user-is", help="a speaker who is the owner; repeatable", **repeatable)
        parser.add_argument("--persona-is", help="a speaker who is the persona; repeatable", **repeatable)
        parser.add_argument("--other-is", help="a speaker who is somebody else; repeatable", **repeatable)
        parser.add_argument("--skip", help="a speaker whose messages are left out; repeatable", **repeatable)
        parser.add_argument("--called", default="", metavar="NAME", help="the owner's name, if not known yet")
        parser.add_argument("--zone", help="zone of times without one, e.g. Europe/Lisbon (default: the persona's)")
        order = parser.add_mutually_exclusive_group()
        order.add_argument(
            "--day-first", action="store_const", const=True, dest="day_first", help="read 03/04 as 3 April"
        )
        order.add_argument(
            "--month-first", action="store_const", const=False, dest="day_first", help="read 03/04 as 4 March"
        )
        parser.add_argument("--kind", choices=KINDS, help="a chat of several people, or the owner's own notes")
        parser.add_argument(
            "--undated",
            type=date.fromisoformat,
            metavar="YYYY-MM-DD",
            help="the day of messages without a date (default: yesterday)",
        )
        parser.add_argument(
            "--mapping",
            action="append",
            default=[],
            metavar="WHAT=FIELD",
            help="which field of the records holds what, e.g. text=body, speaker=from, at=sent; repeatable",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            persona = persona_by(options["persona"])
            with Source(options["file"]) as source:
                self._import(persona, source, options)
        except NoSuchPersona as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{options['file']} cannot be read: {error.strerror}") from error
        except ImportRejected as error:
            raise CommandError(f"{options['file']}: {error}") from error
        except WrongChoice as error:
            raise CommandError(error.message) from error
        except LeaseLost as error:
            raise CommandError("Another process is running this import, or it was stopped.") from error
        except KeyboardInterrupt as error:
            raise CommandError("Stopped. Nothing was stored.", returncode=INTERRUPTED) from error

    def _import(self, persona: Persona, source: Source, options: dict[str, Any]) -> None:
        if options["resume"]:
            jobs = ImportJob.objects.filter(uuid=options["resume"], persona=persona)
            resumed = jobs.select_related("owner", "persona__owner").first()
            if resumed is None:
                raise CommandError(f"There is no import {options['resume']} of this persona.")
            if resumed.is_over:
                raise CommandError(f"This import is over: {resumed.status}.")
            if resumed.status in (*ImportJob.NEEDS_FILE, Status.ASKING) and digest_of(source) != resumed.file_digest:
                raise CommandError("This is not the file that the import was started with.")
            self._run(resumed, source, options)
            return
        read_as = _read_as(options)
        with tqdm(desc=f"analyzing {source.name}", unit=" things", file=self.stderr, leave=False) as bar:
            findings = analysis.survey(source, read_as, bar.update)
        _check_questions(findings)
        unsaved = ImportJob(owner=persona.owner, persona=persona, found=findings, created_at=timezone.now())
        choices = self._choices(unsaved, read_as, options)
        if options["dry_run"] or options["estimate"]:
            if options["dry_run"]:
                predicted = analysis.predict_counts(unsaved, source, choices, timezone.now())
                self._table(_analysis_rows(unsaved, choices, predicted))
            if options["estimate"]:
                unsaved.choices = choices.as_stored()
                self._table(_estimate_rows(estimate(unsaved)))
            return
        job = begin(persona.owner, persona, source, timezone.now(), keep=False)
        with self._can_be_resumed(job):
            analyze_in_process(job, source, read_as, findings)
            try:
                confirm(job, choices, timezone.now())
            except WrongChoice:
                job.delete()
                raise
        self._run(job, source, options)

    def _run(self, job: ImportJob, source: Source, options: dict[str, Any]) -> None:
        """Run the import as far as possible, and print the result."""
        with self._can_be_resumed(job):
            if job.status == Status.LOOKING:
                analyze_in_process(job, source, _read_as(options))
            if job.status == Status.ASKING:
                _check_questions(job.found)
                confirm(job, self._choices(job, _read_as(options), options), timezone.now())
            with tqdm(total=100, desc=source.name, unit="%", file=self.stderr, bar_format=_BAR) as bar:

                def on_progress(part: float) -> None:
                    bar.update(max(0.0, 100 * part - bar.n))

                outcome = runner.run(job.pk, progress=on_progress, source=source)
        job.refresh_from_db()
        counts = {name: count for name, count in summarize(job)["counts"].items() if count}
        if job.format != archive_files.NAME:
            counts = _in_file(job) | {_READ.get(name, name): count for name, count in counts.items()}
        model = {} if estimate(job).is_connected else {"model": _NO_MODEL}
        self._table({"import": job.uuid, "status": job.status, "format": job.format} | model | counts | _skipped(job))
        if outcome in (runner.Outcome.LATER, runner.Outcome.NOT_MINE):
            self.stderr.write(f"It waits, and goes on by itself where a worker runs. {_how_to_go_on(job)}")
        if outcome == runner.Outcome.FAILED:
            raise CommandError(f"The import failed: {job.failure}. What was remembered of it is kept.")

    @contextmanager
    def _can_be_resumed(self, job: ImportJob) -> Iterator[None]:
        """On Ctrl-C, print how to continue."""
        try:
            yield
        except KeyboardInterrupt as error:
            raise CommandError(f"Stopped. {_how_to_go_on(job)}", returncode=INTERRUPTED) from error

    # --- choices ----------------------------------------------------------------------------------------------------
    def _choices(self, job: ImportJob, read_as: Choices, options: dict[str, Any]) -> Choices:
        """The options, completed with the likely choices; speakers without a role are asked about on a terminal. Raises
        CommandError for an unknown name."""
        likely = suggest_choices(job)
        stored_choices = {name: options[name] for name in ("zone", "undated", "limit", "called") if options[name]}
        read = {name: getattr(read_as, name) for name in analysis.READING_CHOICES}
        side_options = {"user": "user_is", "persona": "persona_is", "other": "other_is", "skip": "skip"}
        role_of = {name: role for role, option in side_options.items() for name in options[option]}
        if unknown := role_of.keys() - {speaker["name"] for speaker in job.found.get("speakers", [])}:
            raise CommandError(f"Nobody in the file is called {', '.join(map(repr, sorted(unknown)))}.")
        between_people = bool(job.found.get("between_people"))
        roles = follow_choices(likely.roles, role_of, between_people=between_people)
        if not between_people and {"user", "persona"} <= set(role_of.values()):
            # If both are named, all others are somebody else.
            roles = {name: role if name in role_of or role == "skip" else "other" for name, role in roles.items()}
        if "user" not in roles.values() or not all(roles.values()):
            roles = self._ask_roles(job, roles, without_owner=options["without_owner"])
        choices = replace(likely, **stored_choices | read, roles=roles, without_owner=options["without_owner"])
        owner_name = name_of_owner(job, choices)
        if owner_name or job.found["format"] == archive_files.NAME:
            return replace(choices, called=owner_name or "")
        # Without a name memories say "the user".
        if not sys.stdin.isatty():
            self.stderr.write(_NO_NAME)
            return replace(choices, called="")
        self.stderr.write("What is your name? Memories will use it.")
        return replace(choices, called=input().strip())

    def _ask_roles(self, job: ImportJob, roles: dict[str, str], *, without_owner: bool) -> dict[str, str]:
        """The roles, completed by asking for each unknown speaker; in a chat between people only for the owner. Raises
        CommandError without a terminal."""
        counts = {speaker["name"]: speaker["lines"] for speaker in job.found["speakers"]}
        unknown = [name for name, role in roles.items() if not role]
        between_people = job.found.get("between_people")
        if not unknown:
            return roles
        if between_people and without_owner:
            return {name: role or "other" for name, role in roles.items()}
        if not sys.stdin.isatty():
            raise CommandError(
                "People talk with each other here. Say who of them is the owner by --user-is NAME, "
                f"or --without-owner if none of them is: {_named(unknown, counts)}"
                if between_people
                else f"Say who is who by --user-is, --persona-is, --other-is or --skip NAME: {_named(unknown, counts)}"
            )
        if between_people:
            owner = ""
            while owner not in unknown:
                self.stderr.write(f"Who of them are you? {_named(unknown, counts)}")
                owner = input().strip()
            return follow_choices(roles, {owner: "user"}, between_people=True)
        answers: dict[str, str] = {}
        for name in unknown:
            while name not in answers:
                question = "The user, the persona, somebody else, or skip? [u/p/o/s]"
                self.stderr.write(f"{name!r} says {counts[name]} lines. {question}")
                if (answer := input().strip().casefold()) in _ANSWERS:
                    answers[name] = _ANSWERS[answer]
        return roles | answers

    def _table(self, rows: dict[str, Any]) -> None:
        width = max(map(len, rows), default=0)
        for name, value in rows.items():
            self.stdout.write(f"{name:<{width}}  {value}")


_WHO_SPEAKS = "Which field names the speaker? Use --mapping speaker=FIELD; or --kind notes, if all of "
"it is the owner's own."
_NO_MODEL = "none is connected: simple rules find what to remember. Connect one for more."
_NO_NAME = (
    "What is the owner's name? Use --called NAME: only the account's name is known. Without "
    'it, memories say "the user".'
)
_BAR = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining}"


def _how_to_go_on(job: ImportJob) -> str:
    return f"To continue, run the same command with --resume {job.uuid}"


# --- options ----------------------------------------------------------------------------------------------------------
def _read_as(options: dict[str, Any]) -> Choices:
    """How to read the file, as far as the options say. Raises CommandError."""
    mapping = dict(pair.partition("=")[::2] for pair in options["mapping"])
    if wrong := [f"{what}={field}" for what, field in mapping.items() if what not in _MAPPED or not field]:
        raise CommandError(f"--mapping {wrong[0]}: use WHAT=FIELD, where WHAT is one of {', '.join(_MAPPED)}.")
    if mapping and "text" not in mapping:
        raise CommandError("--mapping: name at least the field of the text, with text=FIELD.")
    if mapping and "speaker" not in mapping and options["kind"] != "notes":
        raise CommandError(_WHO_SPEAKS)
    return Choices(
        format=None if options["format"] == AUTO else options["format"],
        day_first=options["day_first"],
        mapping=mapping or None,
        kind=options["kind"],
    )


def _check_questions(findings: dict[str, Any]) -> None:
    """Raise CommandError with the options that answer the file's open questions."""
    if "day_first" in findings["questions"]:
        raise CommandError("Dates like 03/04 are ambiguous here: use --day-first or --month-first.")
    if "kind" in findings["questions"]:
        raise CommandError(
            "Is this a chat of several people, or are these the owner's own notes? Give --kind chat or --kind notes."
        )
    if "mapping" in findings["questions"]:
        there = ", ".join(findings["fields"])
        likely = findings["mapping"] or {"text": "…", "speaker": "…", "at": "…"}
        fields_of = " ".join(f"--mapping {what}={likely[what]}" for what in _MAPPED if likely.get(what))
        message = f"Name the fields of speaker, text and time; likely {fields_of}. The file has: {there}"
        raise CommandError(message if (findings["mapping"] or {}).get("speaker") else f"{message}. {_WHO_SPEAKS}")


def _named(names: list[str], counts: dict[str, int]) -> str:
    name_list = ", ".join(f"{name!r} ({counts[name]} lines)" for name in names[:_MAX_NAMED])
    return f"{name_list} and {len(names) - _MAX_NAMED} more" if len(names) > _MAX_NAMED else name_list


# --- tables -----------------------------------------------------------------------------------------------------------
def _in_file(job: ImportJob) -> dict[str, int]:
    """What the file contains beside messages: the number of conversations, cards and so on."""
    counts = {_IN_FILE[name]: count for name, count in job.found["counts"].items() if name in _IN_FILE}
    return {name: count for name, count in counts.items() if count}


def _analysis_rows(job: ImportJob, choices: Choices, predicted: Mapping[str, int]) -> dict[str, Any]:
    findings = job.found
    of_archive = {name: count for name, count in findings["counts"].items() if count}
    counts = of_archive if findings["format"] == archive_files.NAME else _in_file(job) | dict(+Counter(predicted))
    days = {"days": f"{findings['first_day']} – {findings['last_day']}"} if findings["first_day"] else {}
    undated = {"without a date": f"{findings['undated']}, told as of {choices.undated}"} if findings["undated"] else {}
    zone = {"time zone": choices.zone} if findings.get("naive") else {}
    who = {
        f"{speaker['name']!r}": f"{choices.roles[speaker['name']]}, {speaker['lines']} lines"
        for speaker in findings["speakers"]
    }
    owner_row = {"the owner's name": choices.called} if choices.called else {}
    model = {} if estimate(job).is_connected else {"model": _NO_MODEL}
    return {"format": findings["format"]} | model | owner_row | counts | days | undated | zone | _skipped(job) | who


def _skipped(job: ImportJob) -> dict[str, Any]:
    return {f"left out ({reason})": count for reason, count in job.found.get("skipped", {}).items()}


def _estimate_rows(cost: Estimate) -> dict[str, Any]:
    """The rows of the estimate; without a model nothing is paid."""
    if not cost.is_connected:
        return {"model": _NO_MODEL, "minutes": round(cost.seconds / 60, 1)}
    dollars = "unknown" if cost.dollars is None else f"{cost.dollars:.2f}"
    return {
        "calls": cost.calls,
        "tokens in": cost.tokens_in,
        "tokens out": cost.tokens_out,
        "dollars": dollars,
        "minutes": round(cost.seconds / 60, 1),
        "days beyond today's budget": cost.days,
    }

"""Bring a file from elsewhere into a persona's memory: a chat export, a diary, a character card, an archive.

The file is looked through first, and nothing is stored before it is clear who is who. What came of it is told on
stdout, progress on stderr. After Ctrl-C or a kill, the same command with --resume goes on.
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
    archive_files,
    begin,
    confirm,
    estimate,
    look,
    runner,
    suggest_choices,
    summarize,
)
from memory.imports.choices import KINDS, follow_choices
from memory.imports.readers import FORMATS, Source
from memory.imports.readers.fields import Mapping as Fields
from memory.imports.readers.types import ImportRejected
from memory.imports.stored_file import digest_of
from memory.imports.suggestions import owner_called
from memory.models import ImportJob
from persona.lookup import NoSuchPersona, persona_by
from persona.models import Persona

Status = ImportJob.Status
AUTO = "auto"
INTERRUPTED = 130  # as shells tell of Ctrl-C
_ANSWERS = {"u": "user", "p": "persona", "o": "other", "s": "skip"}
_MAPPED = tuple(one.name for one in fields(Fields) if one.name != "sure")
_MOST_NAMED = 20
# What is told of a file under other names than of what came of it.
_IN_FILE = {"talks": "conversations", "cards": "cards", "lore": "lore", "remembered": "remembered"}
_READ = {"remembered": "talks remembered", "unread": "talks unread", "failed": "talks failed"}


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--persona", required=True, help="id, or external id where it is unique")
        names = [AUTO, *(one.name for one in FORMATS), archive_files.NAME]
        parser.add_argument("--format", choices=names, default=AUTO)
        parser.add_argument("--dry-run", action="store_true", help="tell what is in the file, and store nothing")
        parser.add_argument("--estimate", action="store_true", help="tell what it will cost, and store nothing")
        parser.add_argument("--resume", type=UUID, metavar="JOB", help="go on with an import that was broken off")
        parser.add_argument("--limit", type=int, metavar="N", help="take so many talks and entries at most")
        parser.add_argument("--without-owner", action="store_true", help="none of the speakers is the user")
        parser.add_argument("--user-is", action="append", default=[], metavar="NAME", help="who of them is the user")
        parser.add_argument("--persona-is", action="append", default=[], metavar="NAME", help="who is the persona")
        parser.add_argument("--other-is", action="append", default=[], metavar="NAME", help="who is somebody else")
        parser.add_argument("--skip", action="append", default=[], metavar="NAME", help="whose lines are left out")
        parser.add_argument(
            "--called", default="", metavar="NAME", help="how the owner is called, where nobody said so yet"
        )
        parser.add_argument("--zone", help="where times without a zone were told, such as Europe/Lisbon")
        order = parser.add_mutually_exclusive_group()
        order.add_argument("--day-first", action="store_const", const=True, dest="day_first", help="03/04 is in April")
        order.add_argument("--month-first", action="store_const", const=False, dest="day_first")
        parser.add_argument(
            "--kind", choices=KINDS, help="whether it is a chat of several people, or the owner's own notes"
        )
        parser.add_argument("--undated", type=date.fromisoformat, metavar="DAY", help="the day of lines without a date")
        parser.add_argument(
            "--mapping",
            action="append",
            default=[],
            metavar="WHAT=FIELD",
            help="which field of the records holds what: text=body, speaker=from, at=sent, …",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            persona = persona_by(options["persona"])
            with Source(options["file"]) as source:
                self._bring(persona, source, options)
        except NoSuchPersona as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{options['file']} cannot be read: {error.strerror}") from error
        except ImportRejected as error:
            raise CommandError(f"{options['file']}: {error}") from error
        except WrongChoice as error:
            raise CommandError(error.message) from error
        except LeaseLost as error:
            raise CommandError("Somebody else has this import in hand, or it was stopped.") from error
        except KeyboardInterrupt as error:
            raise CommandError("Stopped. Nothing was stored.", returncode=INTERRUPTED) from error

    def _bring(self, persona: Persona, source: Source, options: dict[str, Any]) -> None:
        if options["resume"]:
            self._carry_on(_broken_off(persona, source, options["resume"]), source, options)
            return
        read_as = _read_as(options)
        with tqdm(desc=f"looking through {source.name}", unit=" things", file=self.stderr, leave=False) as bar:
            found = analysis.survey(source, read_as, bar.update)
        _ask_for_missing(found)
        unsaved = ImportJob(owner=persona.owner, persona=persona, found=found, created_at=timezone.now())
        choices = self._choices(unsaved, read_as, options)
        if options["dry_run"] or options["estimate"]:
            # What is in the file, and what of it would come in; as the run tells of it.
            if options["dry_run"]:
                self._table(_found_rows(unsaved, choices, analysis.foreseen(unsaved, source, choices, timezone.now())))
            if options["estimate"]:
                unsaved.choices = choices.as_stored()
                self._table(_estimate_rows(estimate(unsaved)))
            return
        job = begin(persona.owner, persona, source, timezone.now(), keep=False)
        with self._can_be_resumed(job):
            look(job, source, read_as, found)
            # Of an import that cannot begin nothing stays. Raises WrongChoice.
            try:
                confirm(job, choices, timezone.now())
            except WrongChoice:
                job.delete()
                raise
        self._carry_on(job, source, options)

    def _carry_on(self, job: ImportJob, source: Source, options: dict[str, Any]) -> None:
        """Take the import as far as it goes, and tell what came of it."""
        with self._can_be_resumed(job):
            if job.status == Status.LOOKING:
                look(job, source, _read_as(options))
            if job.status == Status.ASKING:
                _ask_for_missing(job.found)
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
            raise CommandError(f"The import failed: {job.failure}. What is remembered of it stays.")

    @contextmanager
    def _can_be_resumed(self, job: ImportJob) -> Iterator[None]:
        """Who presses Ctrl-C is told how to go on."""
        try:
            yield
        except KeyboardInterrupt as error:
            raise CommandError(f"Stopped. {_how_to_go_on(job)}", returncode=INTERRUPTED) from error

    # --- what a person says -----------------------------------------------------------------------------------------
    def _choices(self, job: ImportJob, read_as: Choices, options: dict[str, Any]) -> Choices:
        """What is likely, but for what the options say; who is still nobody is asked for, where somebody can be."""
        likely = suggest_choices(job)
        said = {name: options[name] for name in ("zone", "undated", "limit", "called") if options[name]}
        read = {name: getattr(read_as, name) for name in analysis.HOW_TO_READ}
        roles = _roles(likely.roles, options, job.found)
        if "user" not in roles.values() or not all(roles.values()):
            roles = self._ask_roles(job, roles, without_owner=options["without_owner"])
        choices = replace(likely, **said | read, roles=roles, without_owner=options["without_owner"])
        called = owner_called(job, choices)
        if called or job.found["format"] == archive_files.NAME:
            return replace(choices, called=called or "")
        # Without a name what is remembered says "the user".
        if not sys.stdin.isatty():
            self.stderr.write(_NO_NAME)
            return replace(choices, called="")
        self.stderr.write("How are you called? What is remembered names you by it.")
        return replace(choices, called=input().strip())

    def _ask_roles(self, job: ImportJob, roles: dict[str, str], *, without_owner: bool) -> dict[str, str]:
        """The roles with those of unknown speakers, asked one by one; of a chat between people, only who the owner is.
        Raises CommandError where nobody can be asked."""
        lines = {speaker["name"]: speaker["lines"] for speaker in job.found["speakers"]}
        unknown = [name for name, role in roles.items() if not role]
        between_people = job.found.get("between_people")
        if not unknown:
            return roles
        if between_people and without_owner:
            return {name: role or "other" for name, role in roles.items()}
        if not sys.stdin.isatty():
            raise CommandError(
                "People talk with each other here. Say who of them is the owner by --user-is NAME, "
                f"or --without-owner if none of them is: {_named(unknown, lines)}"
                if between_people
                else f"Say who is who by --user-is, --persona-is, --other-is or --skip NAME: {_named(unknown, lines)}"
            )
        if between_people:
            owner = ""
            while owner not in unknown:
                self.stderr.write(f"Who of them are you? {_named(unknown, lines)}")
                owner = input().strip()
            return follow_choices(roles, {owner: "user"}, between_people=True)
        answers: dict[str, str] = {}
        for name in unknown:
            while name not in answers:
                question = "The user, the persona, somebody else, or skip? [u/p/o/s]"
                self.stderr.write(f"{name!r} says {lines[name]} lines. {question}")
                if (answer := input().strip().casefold()) in _ANSWERS:
                    answers[name] = _ANSWERS[answer]
        return roles | answers

    # --- what is told -----------------------------------------------------------------------------------------------

    def _table(self, rows: dict[str, Any]) -> None:
        width = max(map(len, rows), default=0)
        for name, value in rows.items():
            self.stdout.write(f"{name:<{width}}  {value}")


_WHO_SPEAKS = "Who says this? Give --mapping speaker=FIELD; or --kind notes, if all of it is the owner's own."
_NO_MODEL = "none is connected: what is kept is found by simple rules. Connect one for more."
_NO_NAME = (
    "How is the owner called? Give --called NAME: only the name of an account is known, and nobody is called by it. "
    'Until then what is remembered says "the user".'
)
_BAR = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining}"


def _how_to_go_on(job: ImportJob) -> str:
    return f"To go on, run the same command with --resume {job.uuid}"


def _broken_off(persona: Persona, source: Source, job_id: UUID) -> ImportJob:
    """The import, where it can go on with this file. Raises CommandError."""
    job = ImportJob.objects.filter(uuid=job_id, persona=persona).select_related("owner", "persona__owner").first()
    if job is None:
        raise CommandError(f"There is no import {job_id} of this persona.")
    if job.is_over:
        raise CommandError(f"This import is over: {job.status}.")
    if job.status in (*ImportJob.NEEDS_FILE, Status.ASKING) and digest_of(source) != job.file_digest:
        raise CommandError("This is another file than the one it was begun with.")
    return job


# --- options ----------------------------------------------------------------------------------------------------------
def _read_as(options: dict[str, Any]) -> Choices:
    """How to read the file, as far as the options say. Raises CommandError."""
    mapping = dict(pair.partition("=")[::2] for pair in options["mapping"])
    if wrong := [f"{what}={field}" for what, field in mapping.items() if what not in _MAPPED or not field]:
        raise CommandError(f"--mapping {wrong[0]}: say WHAT=FIELD, and WHAT is one of {', '.join(_MAPPED)}.")
    if mapping and "text" not in mapping:
        raise CommandError("--mapping: say at least which field holds what was said, by text=FIELD.")
    if mapping and "speaker" not in mapping and options["kind"] != "notes":
        raise CommandError(_WHO_SPEAKS)
    return Choices(
        format=None if options["format"] == AUTO else options["format"],
        day_first=options["day_first"],
        mapping=mapping or None,
        kind=options["kind"],
    )


def _ask_for_missing(found: dict[str, Any]) -> None:
    """Say which options answer what the file leaves open. Raises CommandError."""
    if "day_first" in found["questions"]:
        raise CommandError("Dates like 03/04 can be read in two ways here: give --day-first or --month-first.")
    if "kind" in found["questions"]:
        raise CommandError(
            "Is this a chat of several people, or are these the owner's own notes? Give --kind chat or --kind notes."
        )
    if "mapping" in found["questions"]:
        there = ", ".join(found["fields"])
        likely = found["mapping"] or {"text": "…", "speaker": "…", "at": "…"}
        fields_of = " ".join(f"--mapping {what}={likely[what]}" for what in _MAPPED if likely.get(what))
        message = f"Say which fields hold what; likely {fields_of}. It has: {there}"
        raise CommandError(message if (found["mapping"] or {}).get("speaker") else f"{message}. {_WHO_SPEAKS}")


def _roles(likely: Mapping[str, str], options: dict[str, Any], found: dict[str, Any]) -> dict[str, str]:
    """Who is who: where both are named, all others are somebody else. Raises CommandError for a name nobody has."""
    speakers, between_people = found.get("speakers", []), bool(found.get("between_people"))
    named = {"user": "user_is", "persona": "persona_is", "other": "other_is", "skip": "skip"}
    said = {name: role for role, option in named.items() for name in options[option]}
    if unknown := said.keys() - {one["name"] for one in speakers}:
        raise CommandError(f"Nobody in the file is called {', '.join(map(repr, sorted(unknown)))}.")
    if between_people:
        return follow_choices(likely, said, between_people=True)
    roles = follow_choices(likely, said)
    if {"user", "persona"} <= set(said.values()):
        return {name: role if name in said or role == "skip" else "other" for name, role in roles.items()}
    return roles


def _named(names: list[str], lines: dict[str, int]) -> str:
    named = ", ".join(f"{name!r} ({lines[name]} lines)" for name in names[:_MOST_NAMED])
    return f"{named} and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else named


# --- tables -----------------------------------------------------------------------------------------------------------
def _in_file(job: ImportJob) -> dict[str, int]:
    """What is in the file and is no line: of conversations, in how many the lines stand."""
    counts = {_IN_FILE[name]: count for name, count in job.found["counts"].items() if name in _IN_FILE}
    return {name: count for name, count in counts.items() if count}


def _found_rows(job: ImportJob, choices: Choices, foreseen: Mapping[str, int]) -> dict[str, Any]:
    found = job.found
    of_archive = {name: count for name, count in found["counts"].items() if count}
    counts = of_archive if found["format"] == archive_files.NAME else _in_file(job) | dict(+Counter(foreseen))
    days = {"days": f"{found['first_day']} – {found['last_day']}"} if found["first_day"] else {}
    undated = {"without a date": f"{found['undated']}, told as of {choices.undated}"} if found["undated"] else {}
    zone = {"times are of": choices.zone} if found.get("naive") else {}
    who = {f"{one['name']!r}": f"{choices.roles[one['name']]}, {one['lines']} lines" for one in found["speakers"]}
    called = {"the owner is called": choices.called} if choices.called else {}
    model = {} if estimate(job).is_connected else {"model": _NO_MODEL}
    return {"format": found["format"]} | model | called | counts | days | undated | zone | _skipped(job) | who


def _skipped(job: ImportJob) -> dict[str, Any]:
    return {f"left out ({reason})": count for reason, count in job.found.get("skipped", {}).items()}


def _estimate_rows(cost: Estimate) -> dict[str, Any]:
    """Without a model there is no cost to be told."""
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

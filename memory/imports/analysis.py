"""Analyzes a file before import: one pass over all of it in constant memory, before the owner is asked anything."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice
from typing import Any

from django.db import transaction
from django.utils import timezone

from chat import knobs as chat_knobs
from echovessel.jobs import knobs as job_knobs
from echovessel.jobs.lease import LeaseLost
from memory import knobs
from memory.imports import archive_files, store, summary
from memory.imports.choices import Choices, NotAwaitingConfirmation, parse_choices
from memory.imports.chunks import Cuts, chunk_file, name_of
from memory.imports.leases import ImportLease, acquire
from memory.imports.order import Order, seconds_between
from memory.imports.readers import format_named, mapper, recognize, speakers, table
from memory.imports.readers import read as read_file
from memory.imports.readers.fields import Mapping as Fields
from memory.imports.readers.source import Source
from memory.imports.readers.speakers import role_after
from memory.imports.readers.types import (
    Card,
    Entry,
    FileMessage,
    FileSession,
    Format,
    ImportRejected,
    Lore,
    Options,
    ReaderItem,
    Remembered,
    Role,
    Skipped,
    is_between_people,
)
from memory.models import ImportJob
from persona.onboarding.creation import language_of

Heartbeat = Callable[[], None]
# The choices that decide how the file is read.
READING_CHOICES = ("format", "day_first", "mapping", "kind")
QUESTIONS = {"ask_day_first": "day_first", "ask_mapping": "mapping", "ask_chat_or_notes": "kind"}
_COUNTED_AS: dict[type, str] = {Entry: "entries", Card: "cards", Lore: "lore", Remembered: "remembered"}
_MAX_SPEAKERS = 200
_MAX_NAMES = 10_000
_SAMPLE_LINES = 8
_SAMPLE_CHARACTERS = 200
_MAX_FIELDS = 60
# The person who exported the file speaks in this share of its sessions, or more.
_EXPORTER_SHARE = 0.8
_QUICK_SECONDS = 600
_MIN_QUICK_PAIRS = 2
# Words in names of files and fields that show that all content is one person's own.
_DIARY_WORDS = re.compile(
    r"(?<![^\W\d_])(?:entry|entries|diary|diaries|journals?|notes?|moods?|memos?|tagebuch|eintr(?:a|ä)ge?|notiz(?:en)?"
    r"|stimmung|diario|notas?|entradas?|humor|humeur|carnet|дневник|заметк[аи]|запис[ьи]|настроение)(?![^\W\d_])"
    r"|日记|日記|日志|日誌|心情|随笔|隨筆|笔记|筆記|手记|备忘|備忘|メモ|気分|일기|메모|기분"
)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def analyze_in_process(
    job: ImportJob, source: Source, choices: Choices | None = None, findings: dict[str, Any] | None = None
) -> None:
    """Analyze the file in this process, for a caller that has it; `choices` say how to read it, `findings`
    is the result of `survey` if that was called already. Raises LeaseLost if another worker holds the import."""
    lease = acquire(job.pk, timezone.now, has_file=True)
    if lease is None:
        raise LeaseLost
    if choices is not None:
        lease.row.choices = choices.as_stored()
        lease.leased_row().update(choices=lease.row.choices)
    if findings is None:
        analyze_file(lease, source)
    else:
        _step(lease, status=ImportJob.Status.ASKING, found=findings, format=findings["format"])
    job.refresh_from_db()


def request_reanalysis(job: ImportJob, choices: Choices) -> None:
    """Have the file analyzed again, read as the choices say; if it cannot be read so, the earlier analysis is restored.
    Raises NotAwaitingConfirmation."""
    queued: dict[str, Any] = {
        "status": ImportJob.Status.LOOKING,
        "holder": "",
        "lease_until": None,
        "attempts": 0,
        "refusal": {},
    }
    before = {name: job.choices.get(name) for name in READING_CHOICES}
    with transaction.atomic():
        asking = ImportJob.objects.filter(pk=job.pk, status=ImportJob.Status.ASKING)
        if not asking.update(**queued, choices=choices.as_stored() | {"before": before}):
            raise NotAwaitingConfirmation
        job.refresh_from_db()
        summary.publish(job)


def analyze_file(lease: ImportLease, source: Source) -> None:
    """Store on the job what the file contains, or why it cannot be read. If another way of reading it fails, the
    earlier analysis is restored. Raises LeaseLost."""
    job = lease.row
    choices = parse_choices(job.choices) if job.choices else Choices()
    try:
        findings = survey(source, choices, LeaseRenewer(lease))
        if "before" in job.choices and not (findings["questions"] or any(findings["counts"].values())):
            raise ImportRejected("nothing_found")
    except ImportRejected as error:
        facts = {name: str(value) for name, value in error.facts.items()}
        refusal = {"code": error.code, "where": error.location, "facts": facts}
        if "before" in job.choices:
            refusal |= {"read_as": job.choices["format"] or ""}
            as_before = {name: value for name, value in job.choices.items() if name != "before"}
            as_before |= job.choices["before"]
            _step(lease, status=ImportJob.Status.ASKING, refusal=refusal, choices=as_before)
        else:
            end_values = {"status": ImportJob.Status.REFUSED, "refusal": refusal, "finished_at": lease.clock()}
            _step(lease, **end_values, **without_names(job))
    else:
        _step(lease, status=ImportJob.Status.ASKING, found=findings, format=findings["format"])


def survey(source: Source, choices: Choices, heartbeat: Heartbeat = lambda: None) -> dict[str, Any]:
    """The contents of the file, read as the choices say; "questions" must be answered before it can be read.
    `heartbeat` is called regularly. Raises ImportRejected."""
    if choices.format == archive_files.NAME or (choices.format is None and archive_files.is_archive(source)):
        return archive_files.survey(source, heartbeat) | {"chunks": archive_files.STEPS, "naive": 0}
    chosen_format = format_of(source, choices)
    between = is_between_people(chosen_format)
    analysis = _analyze(source, chosen_format, _Analysis(chosen_format.name, choices, heartbeat, between))
    if (order := analysis.order).is_newest_first:
        reversed_analysis = _Analysis(
            chosen_format.name, choices, heartbeat, between, True, order.keeps_order_of_equal_times
        )
        analysis = _analyze(source, chosen_format, reversed_analysis)
    is_kind_open = isinstance(chosen_format, table.Table | mapper.MappedFile) and choices.kind is None
    if is_kind_open and analysis.may_be_a_chat(source):
        analysis = _Analysis(chosen_format.name, choices, heartbeat, questions=["kind"], sample=analysis.sample)
    # The fields of the records, if a person has to confirm them: as chosen before, else as guessed.
    if not (isinstance(chosen_format, mapper.MappedFile) or choices.mapping or "mapping" in analysis.questions):
        is_unreadable = analysis.questions and not (analysis.sample or source.members)
        mapping_of: dict[str, Any] = {"mapping": None, "fields": []}
        mapping_of |= {"sample": _first_lines(source)} if is_unreadable else {}
    else:
        mapping = _mapping_of(choices, source) or mapper.guess(source)
        records = mapper.with_records(source)
        # The fields to choose from: those of records in JSON, or the columns of a table.
        inside, paths = f"{mapping.records}." if mapping and mapping.records else "", records.sample.paths
        fields = sorted(path.removeprefix(inside) for path in paths if path.startswith(inside))
        fields = (fields if paths else table.columns(records))[:_MAX_FIELDS]
        sample = {} if analysis.sample else {"sample": _first_lines(records)}
        mapping_of = {"mapping": asdict(mapping) if mapping else None, "fields": fields} | sample
    return analysis.as_findings() | {"label": str(chosen_format.label)} | mapping_of


def predict_counts(job: ImportJob, source: Source, choices: Choices, now: datetime) -> Mapping[str, int]:
    """The numbers of sessions, messages and entries that an import with these choices would store. Nothing is
    stored."""
    persona, findings = job.persona, job.found
    if persona is None or findings["format"] == archive_files.NAME:
        return {}
    items = read_file(source, format_of(source, choices, findings["format"]), options_of(source, choices))
    return store.predict_counts(persona, chunk_file(items, findings["format"], choices, cuts_of(findings, now)))


def cuts_of(analysis: Mapping[str, Any], until: datetime) -> Cuts:
    """Where to cut a file with this analysis."""
    order = {name: bool(analysis.get(name)) for name in ("newest_first", "keeps_at_once")}
    return cuts(**order, undated=analysis.get("undated", 0), until=until)


def _analyze(source: Source, chosen_format: Format, analysis: "_Analysis") -> "_Analysis":
    try:
        analysis.read_items(read_file(source, chosen_format, options_of(source, analysis.choices)))
    except ImportRejected as error:
        if error.code not in QUESTIONS:
            raise
        analysis.questions.append(QUESTIONS[error.code])
    return analysis


def format_of(source: Source, choices: Choices, format_name: str = "") -> Format:
    """The chosen format, else the one named `format_name`, else the recognized one. Raises ImportRejected if
    there is none."""
    name = choices.format or format_name
    return format_named(name) if name else recognize(source)


def options_of(source: Source, choices: Choices) -> Options:
    """How to read the file."""
    return Options(choices.day_first, _mapping_of(choices, source), source.limits, choices.kind)


def _mapping_of(choices: Choices, source: Source) -> Fields | None:
    """The mapping that a person chose; the place of the records in JSON is guessed if it was not chosen. Notes have no
    speaker field: all of them are the owner's."""
    if not choices.mapping:
        return None
    mapping = Fields(**choices.mapping)
    mapping = replace(mapping, speaker="") if choices.kind == "notes" else mapping
    guess = None if "records" in choices.mapping else mapper.guess(source)
    return replace(mapping, records=guess.records) if guess else mapping


def cuts(
    *, newest_first: bool = False, keeps_at_once: bool = False, undated: int = 0, until: datetime | None = None
) -> Cuts:
    """Where to cut, by the current knobs."""
    return Cuts(
        hours=knobs.import_gap_hours(),
        lines=chat_knobs.longest_session_messages(),
        tokens=min(knobs.chunk_tokens(), chat_knobs.longest_session_tokens()),
        entry_tokens=min(knobs.import_entry_tokens(), knobs.chunk_tokens()),
        newest_first=newest_first,
        keeps_at_once=keeps_at_once,
        undated=undated,
        until=until.isoformat() if until else "",
    )


def without_names(job: ImportJob) -> dict[str, Any]:
    """The analysis and choices that an import keeps when it is over: no message, and nobody's name."""
    private = ("sample", "speakers", "mapping", "fields", "called", "named", "roles", "before")
    findings = {name: value for name, value in job.found.items() if name not in private}
    choices = {name: value for name, value in job.choices.items() if name not in private}
    return {"found": findings, "choices": choices}


def _step(lease: ImportLease, **values: Any) -> None:
    with transaction.atomic():
        lease.release(attempts=0, **values)
        lease.row.refresh_from_db()
        summary.publish(lease.row)


class LeaseRenewer:
    """Renews the lease while the file is read; call it regularly. Raises LeaseLost."""

    def __init__(self, lease: ImportLease) -> None:
        self.lease = lease
        self.interval = timedelta(seconds=job_knobs.lease_seconds() / 4)
        self.renewed_at = lease.clock()

    def __call__(self) -> None:
        now = self.lease.clock()
        if now - self.renewed_at >= self.interval:
            self.renewed_at = now
            self.lease.renew()


@dataclass
class _Analysis:
    """The analysis of the file so far."""

    format: str
    choices: Choices
    heartbeat: Heartbeat
    between_people: bool = False
    newest_first: bool = False
    keeps_at_once: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    lines: Counter[str] = field(default_factory=Counter)
    roles: dict[str, Role] = field(default_factory=dict)
    titles: set[str] = field(default_factory=set)
    sample: list[dict[str, str]] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    days: set[date] = field(default_factory=set)
    order: Order = field(default_factory=Order)
    entry: FileMessage | None = None
    entry_pairs: int = 0
    card: Card | None = None
    quick_pairs: int = 0
    undated: int = 0
    naive: int = 0
    tokens: int = 0
    chunks: int = 0
    sessions: int = 0
    current_session: tuple[str, str] | None = None
    session_speakers: set[str] = field(default_factory=set)
    session_counts: Counter[str] = field(default_factory=Counter)

    def read_items(self, values: Iterable[ReaderItem]) -> None:
        """Read all of the file, and count the chunks it would be cut into."""
        choices_for_all = replace(self.choices, roles={}, limit=None)
        for chunk in chunk_file(
            self._count(values),
            self.format,
            choices_for_all,
            cuts(newest_first=self.newest_first, keeps_at_once=self.keeps_at_once),
        ):
            self.chunks += 1
            self.sessions += bool(chunk.lines)
            self.tokens += chunk.tokens

    def _count(self, values: Iterable[ReaderItem]) -> Iterator[ReaderItem]:
        for item in values:
            self.heartbeat()
            if isinstance(item, Skipped):
                self.skipped[item.reason] += 1
            elif isinstance(item, FileSession):
                if self.current_session != (item.source_id, item.title):
                    self.counts["talks"] += 1
                    self.session_speakers = set()
                self.current_session = (item.source_id, item.title)
                self.counts["lines"] += len(item.lines)
                if len(self.titles) < _MAX_NAMES:
                    self.titles.add(item.title)
                for message in item.lines:
                    name = name_of(message)
                    if name in self.lines or len(self.lines) < _MAX_NAMES:
                        self.lines[name] += 1
                    if name in self.lines:
                        self.roles[name] = role_after(self.roles.get(name), message.role)
                        self.session_counts[name] += name not in self.session_speakers
                        self.session_speakers.add(name)
                    self._note_time(message.at)
                    self._note_sample(name, message.text, message.at, message.location)
                self.order.note(item.lines)
            else:
                self.current_session = None
                self.counts[_COUNTED_AS[type(item)]] += 1
                if isinstance(item, Card):
                    self.card = self.card or item
                if isinstance(item, Entry):
                    at = item.at or (datetime.combine(item.day, time(), UTC) if item.day else None)
                    self._note_time(at)
                    before, self.entry = self.entry, FileMessage("", "", at, item.source_id, "")
                    if before is not None:
                        self.order.note([before, self.entry])
                        self.entry_pairs += 1
                        passed = seconds_between(before.at, at)
                        self.quick_pairs += item.at is not None and passed is not None and abs(passed) <= _QUICK_SECONDS
                    self._note_sample(item.title, item.text, at, item.location)
            yield item

    def may_be_a_chat(self, source: Source) -> bool:
        """Whether records without a speaker may be messages of several people: if they are not called a diary, or if
        they follow each other as quickly as messages of a chat."""
        return self.follows_quickly or bool(self.counts["entries"] and not is_called_a_diary(source))

    @property
    def follows_quickly(self) -> bool:
        """Whether entries follow each other within minutes, like messages of a chat and unlike entries of a diary."""
        return self.quick_pairs >= _MIN_QUICK_PAIRS and 2 * self.quick_pairs >= self.entry_pairs

    def _note_time(self, at: datetime | None) -> None:
        if at is None:
            self.undated += 1
            return
        self.naive += at.tzinfo is None
        day = at.date()
        if len(self.days) < 2 or not min(self.days) <= day <= max(self.days):
            self.days = {min(self.days | {day}), max(self.days | {day})}

    def _note_sample(self, speaker: str, text: str, at: datetime | None, where: str) -> None:
        if len(self.sample) < _SAMPLE_LINES:
            when = at.isoformat() if at else ""
            self.sample.append(
                {"speaker": speaker[:80], "text": text[:_SAMPLE_CHARACTERS], "at": when, "where": where[:80]}
            )

    def as_findings(self) -> dict[str, Any]:
        days = sorted(day.isoformat() for day in self.days)
        # Everybody who speaks, with a guessed role.
        speaker_messages = tuple(FileMessage(name, "", None, "", "", self.roles.get(name, "")) for name in self.lines)
        conversations = [
            FileSession("", "", speaker_messages, ""),
            *(FileSession(title, "", (), "") for title in self.titles),
        ]
        guesses = {
            speaker.name: speaker.guess for speaker in speakers(conversations, between_people=self.between_people)
        }
        if self.between_people and "user" not in guesses.values():
            # The only person who speaks in nearly all of several sessions exported them.
            min_sessions = _EXPORTER_SHARE * self.counts["talks"]
            frequent_speakers = [
                name for name, count in self.session_counts.items() if count > 1 and count >= min_sessions
            ]
            if len(frequent_speakers) == 1 and frequent_speakers[0]:
                guesses = {name: "user" if name == frequent_speakers[0] else "other" for name in guesses}
        top_speakers, card = self.lines.most_common(_MAX_SPEAKERS), self.card
        words = [card.description, card.personality, *card.greetings[:1]] if card else []
        return {
            "format": self.format,
            "counts": dict.fromkeys(_COUNTED_AS.values(), 0) | {"talks": 0, "lines": 0} | self.counts,
            "skipped": dict(self.skipped),
            "first_day": days[0] if days else None,
            "last_day": days[-1] if days else None,
            "undated": self.undated,
            "naive": self.naive,
            "newest_first": self.newest_first,
            "keeps_at_once": self.keeps_at_once,
            "between_people": self.between_people,
            "speakers": [{"name": name, "lines": count, "guess": guesses[name]} for name, count in top_speakers],
            "tokens": self.tokens,
            "sessions": self.sessions,
            "chunks": self.chunks,
            "questions": self.questions,
            "sample": self.sample,
            **({"named": card.name[:80], "language": language_of(" ".join(words))} if card else {}),
        }


def is_called_a_diary(source: Source) -> bool:
    """Whether the name of the file or of a field says that it holds entries or notes of one person."""
    names = [source.name, *(source.sample.paths or table.columns(source))]
    return any(_DIARY_WORDS.search(_CAMEL.sub(" ", name).casefold()) for name in names)


def _first_lines(source: Source) -> list[dict[str, str]]:
    text_lines = islice((text_line for text_line in source.lines() if text_line.text.strip()), _SAMPLE_LINES)
    return [
        {"speaker": "", "text": text_line.text[:_SAMPLE_CHARACTERS], "at": "", "where": ""} for text_line in text_lines
    ]

"""An import as pages show it, in the current language."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db.models import Q
from django.db.models.functions import Abs
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext, npgettext_lazy

from memory.imports import estimate, summarize, uploads
from memory.imports.archive_files import LABEL as ARCHIVE
from memory.imports.readers import FORMATS
from memory.imports.readers.reasons import SKIPS
from memory.imports.summary import label_of
from memory.models import ConceptNode, Entity, ImportJob, ImportRun, Mention, MergeProposal
from persona.models import CoreDraft

MAX_SHOWN = 8
# Labels for the contents of a file and for the results of its import.
COUNTED = {
    "talks": npgettext_lazy("counted", "chat", "chats", "n"),
    "conversations": npgettext_lazy(
        "counted", "conversation, divided by long pauses", "conversations, divided by long pauses", "n"
    ),
    "lines": npgettext_lazy("counted", "message", "messages", "n"),
    "entries": npgettext_lazy("counted", "entry of a diary", "entries of a diary", "n"),
    "cards": npgettext_lazy("counted", "character card", "character cards", "n"),
    "lore": npgettext_lazy("counted", "entry of a lorebook", "entries of a lorebook", "n"),
    "remembered": npgettext_lazy("counted", "memory of another system", "memories of another system", "n"),
}
BECAME = {
    "lines": npgettext_lazy("counted", "message imported", "messages imported", "n"),
    "entries": npgettext_lazy("counted", "entry imported", "entries imported", "n"),
    "known": _("already here"),
    "refused": _("refused, because you had forgotten it"),
    "left_out": npgettext_lazy("counted", "message of people you left out", "messages of people you left out", "n"),
    "remembered": npgettext_lazy("counted", "conversation remembered", "conversations remembered", "n"),
    "unread": npgettext_lazy("counted", "conversation still to be read", "conversations still to be read", "n"),
    "failed": npgettext_lazy(
        "counted", "conversation that could not be read", "conversations that could not be read", "n"
    ),
    "nodes": npgettext_lazy("counted", "memory", "memories", "n"),
    "entities": npgettext_lazy("counted", "name", "names", "n"),
    "drafts": npgettext_lazy("counted", "draft", "drafts", "n"),
}


def import_context(job: ImportJob) -> dict[str, Any]:
    """An import for its page and for a list."""
    as_told = summarize(job)
    return {
        "job": job,
        "told": as_told,
        "level": round(10 * as_told["progress"]),
        "percent": round(100 * as_told["progress"]),
        "became": in_words(BECAME, as_told["counts"]),
        "skipped": [(SKIPS[name], count) for name, count in job.found.get("skipped", {}).items() if name in SKIPS],
        "is_at_work": job.status in ImportJob.AT_WORK,
        "may_take_back": job.is_over and ImportRun.objects.filter(uuid=job.uuid).exists(),
        "drafts": CoreDraft.objects.open().filter(import_uuid=job.uuid).count(),
    }


@dataclass(frozen=True)
class ImportStory:
    """The results of an import to look over: its people and things, and the open questions."""

    people: list[Entity]
    things: list[ConceptNode]
    people_count: int
    thing_count: int
    question_count: int

    @property
    def title(self) -> str:
        """ "6 people, 14 things, 2 questions"; zero counts are left out."""
        counts = (
            (ngettext("%(n)s person", "%(n)s people", self.people_count), self.people_count),
            (ngettext("%(n)s thing", "%(n)s things", self.thing_count), self.thing_count),
            (ngettext("%(n)s question", "%(n)s questions", self.question_count), self.question_count),
        )
        return str(_(", ")).join(words % {"n": count} for words, count in counts if count)


def import_story(job: ImportJob) -> ImportStory | None:
    """The story of a finished import; None if it left nothing to look over."""
    if job.persona is None or not job.is_over:
        return None
    from_import = Q(import_uuid=job.uuid) | Q(session__import_uuid=job.uuid)
    nodes = ConceptNode.objects.of(job.persona).filter(from_import, status=ConceptNode.Status.ACTIVE)
    mentioned = Q(pk__in=Mention.objects.filter(node__in=nodes).values("entity")) | Q(import_uuid=job.uuid)
    entities = job.persona.entities.filter(mentioned).exclude(status=Entity.Status.MERGED)
    # A lorebook does not say of what kind its entities are.
    people = entities.filter(Q(kind=Entity.Kind.PERSON) | Q(kind=Entity.Kind.OTHER, import_uuid=job.uuid))
    questions = MergeProposal.objects.of(job.persona).about(entities.values_list("pk", flat=True)).open()
    story = ImportStory(
        list(people.order_by("id")[:MAX_SHOWN]),
        list(nodes.order_by(Abs("emotional_impact").desc(), "id")[:MAX_SHOWN]),
        people.count(),
        nodes.count(),
        questions.count(),
    )
    return story if story.people_count or story.thing_count or story.question_count else None


def upload_context() -> dict[str, Any]:
    """The formats and the largest size of a file."""
    return {
        "kinds": [ARCHIVE, *(file_format.label for file_format in FORMATS)],
        "most_megabytes": uploads.most_bytes() // 1024**2,
    }


def question_context(job: ImportJob) -> dict[str, Any]:
    """The context of the page with the choices: the content of the file, and the estimate."""
    findings: Mapping[str, Any] = job.found
    first, last = (findings.get(name) for name in ("first_day", "last_day"))
    expected = None if findings.get("questions") else estimate(job)
    counts = dict(findings.get("counts", {}))
    # Each session is counted and remembered separately, so there are more of them than chats in the file.
    has_talks_alone = not any(count for name, count in counts.items() if name not in ("talks", "lines"))
    if has_talks_alone and counts.get("talks", 0) < findings.get("chunks", 0):
        counts["conversations"] = findings["chunks"]
    return {
        "found": findings,
        "contents": in_words(COUNTED, counts),
        "first_day": date.fromisoformat(first) if first else None,
        "last_day": date.fromisoformat(last) if last else None,
        "read_as": label_of(job.refusal.get("read_as", "")),
        "estimate": expected,
        "tokens": f"{expected.tokens_in + expected.tokens_out:,}" if expected else "",
        "duration": duration(expected.seconds) if expected else "",
    }


def duration(seconds: float) -> str:
    """An approximate duration in words."""
    minutes = max(1, round(seconds / 60))
    if minutes < 120:
        return ngettext("about %(count)d minute", "about %(count)d minutes", minutes) % {"count": minutes}
    hours = round(minutes / 60)
    return ngettext("about %(count)d hour", "about %(count)d hours", hours) % {"count": hours}


def in_words(words: Mapping[str, Any], counts: Mapping[str, int]) -> list[tuple[Any, int]]:
    """The counts that are not zero, in words."""
    return [(str(label % {"n": counts[name]}), counts[name]) for name, label in words.items() if counts.get(name)]

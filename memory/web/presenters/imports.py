"""What the pages show of an import, in the current language."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db.models import Q
from django.db.models.functions import Abs
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from memory.imports import estimate, summarize, uploads
from memory.imports.archive_files import LABEL as ARCHIVE
from memory.imports.readers import FORMATS
from memory.imports.readers.reasons import SKIPS
from memory.imports.summary import label_of
from memory.models import ConceptNode, Entity, ImportJob, ImportRun, Mention, MergeProposal
from persona.models import CoreDraft

MAX_SHOWN = 8
# What is in a file, and what came of it.
COUNTED = {
    "talks": _("sessions"),
    "lines": _("messages"),
    "entries": _("entries of a diary"),
    "cards": _("character cards"),
    "lore": _("entries of a lorebook"),
    "remembered": _("memories of another system"),
}
BECAME = {
    "lines": _("messages imported"),
    "entries": _("entries imported"),
    "known": _("already here"),
    "refused": _("refused, because you had forgotten it"),
    "left_out": _("messages of people you left out"),
    "remembered": _("conversations remembered"),
    "unread": _("conversations still to be read"),
    "failed": _("conversations that could not be read"),
    "nodes": _("memories"),
    "entities": _("names"),
    "drafts": _("drafts"),
}


def import_context(job: ImportJob) -> dict[str, Any]:
    """The import, for its page and for a list."""
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
    """What an import left behind, to be looked over: the people and things it brought, and what is to be decided."""

    people: list[Entity]
    things: list[ConceptNode]
    people_count: int
    thing_count: int
    question_count: int


def import_story(job: ImportJob) -> ImportStory | None:
    """The story of an import that is over; None where it left nothing to look over."""
    if job.persona is None or not job.is_over:
        return None
    brought = Q(import_uuid=job.uuid) | Q(session__import_uuid=job.uuid)
    nodes = ConceptNode.objects.of(job.persona).filter(brought, status=ConceptNode.Status.ACTIVE)
    mentioned = Q(pk__in=Mention.objects.filter(node__in=nodes).values("entity")) | Q(import_uuid=job.uuid)
    entities = job.persona.entities.filter(mentioned).exclude(status=Entity.Status.MERGED)
    # Of whom a lorebook tells it does not say what they are.
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
    return {"kinds": [ARCHIVE, *(one.label for one in FORMATS)], "most_megabytes": uploads.most_bytes() // 1024**2}


def question_context(job: ImportJob) -> dict[str, Any]:
    """What the page of the choices shows beside the form: the content of the file, and the estimate."""
    found: Mapping[str, Any] = job.found
    first, last = (found.get(name) for name in ("first_day", "last_day"))
    expected = None if found.get("questions") else estimate(job)
    return {
        "found": found,
        "contents": in_words(COUNTED, found.get("counts", {})),
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
    return [(label, counts[name]) for name, label in words.items() if counts.get(name)]

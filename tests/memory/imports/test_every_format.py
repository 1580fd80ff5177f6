"""Every line of a file of any format is in L2, known, refused, or skipped by a named reason; in the file's order."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.models import Message, Session
from memory import imports
from memory.imports import analysis, runner
from memory.imports.choices import parse_choices
from memory.imports.readers import Source, format_named, read, reasons
from memory.imports.readers.types import Entry, FileSession, Skipped
from memory.imports.runs import Choices
from memory.models import ImportJob, ImportRun
from memory.store.tombstones import add_tombstone
from persona.models import Persona
from tests.memory.imports.importing_files import FILES, analyze_file, choices_for, whatsapp
from tests.memory.sessions import NOW, Clock

pytestmark = pytest.mark.django_db

EVERY_FILE = sorted(FILES.iterdir())


def answer_questions(job: ImportJob) -> ImportJob:
    """Answer the questions and analyze again until only the roles of speakers are open."""
    while job.status == "asking" and job.found["questions"]:
        kind = "chat" if "kind" in job.found["questions"] else "notes"
        imports.confirm(job, Choices(day_first=True, mapping=job.found["mapping"], kind=kind), NOW)
        runner.run(job.pk, Clock())
        job.refresh_from_db()
    return job


def store_messages(job: ImportJob) -> ImportJob:
    choices = choices_for(job)
    if "user" not in choices.roles.values() and choices.roles:
        choices = choices_for(job, {next(iter(choices.roles)): "user"})
    imports.confirm(job, choices, NOW)
    while job.status == "writing":
        runner.run(job.pk, Clock(), slice_seconds=0)
        job.refresh_from_db()
    return job


def words_in(path: Path, job: ImportJob) -> tuple[list[str], Counter[str]]:
    """The texts of the file in order, and the number of skipped items by reason."""
    choices = parse_choices(job.choices)
    with Source(path) as source:
        items = list(read(source, format_named(job.format), analysis.options_of(source, choices)))
    texts = [text for item in items for text in texts_of(item)]
    return texts, Counter(item.reason for item in items if isinstance(item, Skipped))


def texts_of(item: object) -> list[str]:
    if isinstance(item, FileSession):
        return [message.text for message in item.lines]
    return ["\n\n".join(filter(None, (item.title, item.text)))] if isinstance(item, Entry) else []


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.name, marks=[pytest.mark.campaign] * (number % 2))
        for number, path in enumerate(EVERY_FILE)
    ],
)
def test_every_line_of_the_file_comes_in_by_its_order_or_is_counted(mira: Persona, path: Path) -> None:
    job = answer_questions(analyze_file(mira, path.read_bytes(), path.name))
    assert job.status == "asking", job.refusal
    texts, skip_counts = words_in(path, job)
    assert job.found["skipped"] == dict(skip_counts)
    assert set(skip_counts) <= set(reasons.SKIPS)
    assert job.found["counts"]["lines"] + job.found["counts"]["entries"] == len(texts)
    if texts:
        add_tombstone(mira, texts[0])
    job = store_messages(job)
    assert job.status in ("remembering", "drafting", "done"), job.failure
    inside = list(Message.objects.order_by("id").values_list("content", flat=True))
    known_count, refused_count = job.counts["known"], job.counts["refused"]
    assert len(inside) + known_count + refused_count >= len(texts)
    missing = Counter(texts) - Counter(text for text in texts if any(text in content for content in inside))
    assert missing.total() <= known_count + refused_count
    assert refused_count >= bool(texts)
    within_each_session_the_messages_stand_as_in_the_file(texts)


def within_each_session_the_messages_stand_as_in_the_file(texts: list[str]) -> None:
    place = {text: number for number, text in reversed(list(enumerate(texts)))}
    for session in Session.objects.exclude(channel="journal"):
        contents = session.messages.order_by("created_at", "id").values_list("content", flat=True)
        places = [place[text] for text in contents if text in place and texts.count(text) == 1]
        assert places == sorted(places)


lines = st.lists(
    st.tuples(
        st.sampled_from(["Ana", "Mira", "Kim"]), st.sampled_from(["Hello", "你好", "I met Tomas", "Oh", "x" * 70])
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=6)
@given(st.lists(lines, min_size=1, max_size=3))
def test_a_chat_that_comes_in_parts_that_overlap_is_in_there_once(
    mira: Persona, parts: list[list[tuple[str, str]]]
) -> None:
    Message.objects.all().delete(), Session.objects.all().delete(), ImportRun.objects.all().delete()
    ImportJob.objects.all().delete()
    chat_lines: list[str] = []
    for part in parts:
        chat_lines += [f"{speaker}: {text}" for speaker, text in part] + ["9"]
        job = analyze_file(mira, whatsapp(*chat_lines), "WhatsApp Chat with Mira.txt")
        names = [speaker["name"] for speaker in job.found["speakers"]]
        roles = dict(zip(names, ("user", "persona", "other"), strict=False))
        imports.confirm(job, choices_for(job, roles), NOW)
        while job.status == "writing":
            runner.run(job.pk, Clock(), slice_seconds=0)
            job.refresh_from_db()
        assert job.counts["known"] + job.counts["lines"] == sum(line != "9" for line in chat_lines)
    inside = Message.objects.order_by("created_at", "id").values_list("content", flat=True)
    assert list(inside) == [line.partition(": ")[2] for line in chat_lines if line != "9"]

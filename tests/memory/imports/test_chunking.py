"""Items of a file, cut into chunks that are stored together: nothing is lost or reordered."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import chain, groupby, pairwise
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from memory.imports.choices import Choices
from memory.imports.chunks import MAX_STEP_BACK, Chunk, Cuts, chunk_file, parts
from memory.imports.readers.types import Entry, FileMessage, FileSession, ReaderItem, Remembered
from tests.table import each_row

CUTS = Cuts(hours=6, lines=5, tokens=200, entry_tokens=100)
NEWEST_FIRST = Cuts(hours=6, lines=5, tokens=200, entry_tokens=100, newest_first=True)
CHOICES = Choices(
    {"Ana": "user", "Mira": "persona", "Kim": "other", "Spam": "skip"}, zone="Asia/Shanghai", undated=date(2024, 1, 5)
)
AT = datetime(2024, 3, 1, 12, tzinfo=UTC)

moments = st.none() | st.integers(0, 60 * 60 * 24 * 40).map(lambda seconds: AT + timedelta(seconds=seconds))
naive = moments.map(lambda at: at.replace(tzinfo=None) if at and at.second % 2 else at)
texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=60).filter(str.strip)
speakers = st.sampled_from(["Ana", "Mira", "Kim", "Spam"])
lines = st.lists(st.tuples(speakers, texts, naive), max_size=30)


def talk(rows: Sequence[tuple[str, str, datetime | None]], name: str = "t") -> FileSession:
    messages = [
        FileMessage(speaker, text, at, f"{name}-{number}", f"line {number}")
        for number, (speaker, text, at) in enumerate(rows)
    ]
    return FileSession(name, name, tuple(messages), name)


def cut(*items: ReaderItem, cuts: Cuts = CUTS, choices: Choices = CHOICES) -> list[Chunk]:
    return list(chunk_file(items, "made", choices, cuts))


def ids(chunks: list[Chunk]) -> list[str]:
    """The ids of the messages; parts of one message count once."""
    message_ids = (message.external_id.partition("#")[0] for chunk in chunks for message in chunk.lines)
    return [key for key, _parts in groupby(message_ids)]


@given(st.lists(lines, max_size=4))
def test_every_line_is_in_a_chunk_once_in_its_order_with_its_words(
    chats: list[list[tuple[str, str, datetime | None]]],
) -> None:
    sessions = [talk(rows, f"t{number}") for number, rows in enumerate(chats)]
    expected = [message for session in sessions for message in session.lines if message.speaker != "Spam"]
    chunks = cut(*sessions)
    assert ids(chunks) == [f"made:{message.source_id}" for message in expected]
    assert "".join(message.content for chunk in chunks for message in chunk.lines) == "".join(
        message.text for message in expected
    )
    assert cut(*sessions) == chunks
    assert [chunk.digest for chunk in cut(*sessions)] == [chunk.digest for chunk in chunks]


@given(lines)
def test_within_a_session_time_never_goes_back_and_nobody_is_silent_for_long(
    rows: list[tuple[str, str, datetime | None]],
) -> None:
    for chunk in cut(talk(rows)):
        times = [message.at for message in chunk.lines]
        assert times == sorted(times)
        assert all(later - earlier <= timedelta(hours=CUTS.hours) for earlier, later in pairwise(times))
        assert len(chunk.lines) <= CUTS.lines
        assert all(at.tzinfo is UTC for at in times)


@given(lines)
def test_a_time_is_moved_by_a_little_at_most(rows: list[tuple[str, str, datetime | None]]) -> None:
    session = talk(rows)
    times = {f"made:{message.source_id}": message.at for message in session.lines}
    for message in chain.from_iterable(chunk.lines for chunk in cut(session)):
        at = times[message.external_id]
        if at is not None:
            at = at if at.tzinfo else at.replace(tzinfo=ZoneInfo("Asia/Shanghai"))
            assert timedelta() <= message.at - at <= MAX_STEP_BACK * len(rows)


@given(st.lists(st.tuples(st.sampled_from(["Ana", "Mira"]), texts), min_size=2, max_size=30))
def test_a_file_that_begins_with_the_newest_is_turned_round(rows: list[tuple[str, str]]) -> None:
    newest_first = [(speaker, text, AT - timedelta(minutes=number)) for number, (speaker, text) in enumerate(rows)]
    chunks = cut(talk(newest_first), cuts=NEWEST_FIRST)
    oldest_first = sorted(chunks, key=lambda chunk: chunk.lines[0].at)
    assert ids(oldest_first) == [f"made:t-{number}" for number in reversed(range(len(rows)))]


@given(texts, st.integers(1, 50))
def test_a_long_line_is_cut_without_loss(text: str, limit: int) -> None:
    text_parts = parts(text, limit)
    assert "".join(text_parts) == text
    assert all(len(part) <= limit for part in text_parts)


def test_a_long_line_is_cut_where_a_paragraph_ends() -> None:
    paragraphs = ["x" * 9_000 + "\n\n", "y" * 9_000 + "\n\n", "z" * 9_000]
    (chunk,) = cut(talk([("Ana", "".join(paragraphs), AT)]), cuts=Cuts(6, 5, 100_000, 100))
    assert [message.content for message in chunk.lines] == ["".join(paragraphs[:2]), paragraphs[2]]
    assert [message.external_id for message in chunk.lines] == ["made:t-0", "made:t-0#2"]


def test_lines_without_a_date_stand_on_the_day_that_was_named_and_fit_into_it() -> None:
    rows = [("Ana", f"Line {number}", None) for number in range(4)]
    (chunk,) = cut(talk(rows))
    midnight = datetime(2024, 1, 5, tzinfo=ZoneInfo("Asia/Shanghai"))
    assert [message.at - midnight for message in chunk.lines] == [timedelta(seconds=number) for number in range(4)]
    assert not chunk.dated
    until = (midnight + timedelta(seconds=2)).isoformat()
    (crowded_chunk,) = cut(talk(rows), cuts=Cuts(6, 5, 200, 100, undated=4, until=until))
    assert crowded_chunk.lines[-1].at < midnight + timedelta(seconds=2)


def test_a_line_without_a_date_among_others_has_that_of_the_line_before_and_the_first_that_of_the_next() -> None:
    (chunk,) = cut(talk([("Ana", "One", None), ("Mira", "Two", AT), ("Ana", "Three", None)]))
    assert {message.at for message in chunk.lines} == {AT}
    assert chunk.dated


def test_others_are_named_and_the_two_are_not() -> None:
    (chunk,) = cut(talk([("Ana", "One", AT), ("Mira", "Two", AT), ("Kim", "Three", AT), ("", "Four", AT)]))
    assert [(message.role, message.speaker) for message in chunk.lines] == [
        ("user", ""),
        ("persona", ""),
        ("system", "Kim"),
        ("system", "?"),
    ]


def test_entries_of_a_week_are_read_together_and_each_has_its_day() -> None:
    days = [date(2024, 5, 3), date(2024, 5, 1), date(2024, 5, 20), None]
    chunks = cut(*(Entry("Walk" if day else "", "I walked.", day, None, f"e{day}", "") for day in days))
    zone = ZoneInfo("Asia/Shanghai")
    assert [[message.at.astimezone(zone).date() for message in chunk.lines] for chunk in chunks] == [
        [date(2024, 5, 1), date(2024, 5, 3)],
        [date(2024, 5, 20)],
        [date(2024, 1, 5)],
    ]
    assert [chunk.dated for chunk in chunks] == [True, True, False]
    assert chunks[0].lines[0].content == "Walk\n\nI walked."
    assert {chunk.kind for chunk in chunks} == {"prose"}


@each_row(("limit", "names"), [(1, ["t0"]), (2, ["t0", "t1"]), (9, ["t0", "t1", "t2"])])
def test_a_limit_takes_the_first_sessions(limit: int, names: list[str]) -> None:
    sessions = [talk([("Ana", "Hello", AT)], f"t{number}") for number in range(3)]
    choices = Choices(CHOICES.roles, limit=limit)
    assert ids(cut(*sessions, choices=choices)) == [f"made:{name}-0" for name in names]


def test_notes_come_in_chunks_of_their_own() -> None:
    notes = [Remembered(f"Fact {number}", "fact", None, None, f"r{number}", "") for number in range(60)]
    chunks = cut(*notes[:55], talk([("Ana", "Hello", AT)]), *notes[55:])
    assert [(chunk.kind, len(chunk.notes)) for chunk in chunks] == [
        ("notes", 50),
        ("notes", 5),
        ("talk", 0),
        ("notes", 5),
    ]


def test_the_same_words_are_the_same_chunk_whoever_is_said_to_have_spoken_them() -> None:
    session = talk([("Ana", "Hello", AT), ("Mira", "Hi", AT)])
    other = Choices({"Ana": "persona", "Mira": "user"}, zone="UTC")
    assert [chunk.digest for chunk in cut(session)] == [chunk.digest for chunk in cut(session, choices=other)]
    assert cut(session)[0].digest != cut(talk([("Ana", "Hello!", AT), ("Mira", "Hi", AT)]))[0].digest

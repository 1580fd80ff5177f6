"""Tables of messages and of diary entries."""

import csv
import io
import tracemalloc
from datetime import date, datetime

import pytest
from hypothesis import given as supposing
from hypothesis import strategies as some

from memory.imports.readers import recognize
from memory.imports.readers.fields import Mapping
from memory.imports.readers.table import Table, guess
from memory.imports.readers.types import FileMessage, FileSession, ImportRejected, Limits, Options
from tests.memory.imports.readers.sources import entries_of, fixture, messages_of, read_items, skips_of, source_of
from tests.table import each_row


def lines_in(text: str | bytes, options: Options | None = None) -> list[FileMessage]:
    return messages_of(read_items(Table(), source_of(text, "messages.csv"), options))


def rejection(text: str | bytes, options: Options | None = None) -> ImportRejected:
    with pytest.raises(ImportRejected) as rejected:
        lines_in(text, options)
    return rejected.value


def test_a_table_of_messages_is_a_session() -> None:
    items = read_items(Table(), fixture("messages.csv"))
    assert [(message.speaker, message.text) for message in messages_of(items)] == [
        ("Ana", "Hello, Mira"),
        ("Mira", "Good evening.\nHow was your day?"),
        ("Ana", 'He said "no" again'),
    ]
    assert [message.location for message in messages_of(items)] == ["line 2", "line 3", "line 5"]
    assert messages_of(items)[0].at == datetime(2024, 1, 5, 21, 5)
    assert skips_of(items) == ["empty"]


def test_a_chinese_table_is_read_and_who_i_am_is_known() -> None:
    first, second = messages_of(read_items(Table(), fixture("messages_zh.tsv")))
    assert (first.speaker, first.at, first.role) == ("小美", datetime(2024, 1, 5, 21, 5), "")
    assert (second.text, second.role) == ("还不错。", "user")


def test_a_table_without_speakers_is_a_diary() -> None:
    entries = entries_of(read_items(Table(), fixture("diary.csv")))
    assert [(entry.day, entry.title, entry.text) for entry in entries] == [
        (date(2024, 1, 5), "Snow", "It snowed all night."),
        (date(2024, 1, 13), "", "We stayed in."),
    ]
    assert entries[0].at is None


def test_records_of_one_conversation_are_one_session() -> None:
    sessions = [
        session for session in read_items(Table(), fixture("companion.csv")) if isinstance(session, FileSession)
    ]
    assert [(session.source_id, len(session.lines)) for session in sessions] == [("c1", 2), ("c2", 1)]


@each_row("name", ["messages.csv", "messages_zh.tsv", "diary.csv", "companion.csv"])
def test_tables_are_recognised(name: str) -> None:
    assert recognize(fixture(name)).name == "table"


def test_a_table_of_unknown_columns_is_still_a_table_by_its_name() -> None:
    assert recognize(source_of("2024-01-05;a;b\n2024-01-06;c;d\n", "export.csv")).name == "table"


@each_row("encoding", ["utf-8-sig", "utf-16-le", "utf-16", "gbk"])
def test_a_table_may_be_in_any_common_encoding(encoding: str) -> None:
    text = "日期,发送人,内容\n2024-01-05,小美,你好，今天天气怎么样？\n"
    assert [message.text for message in lines_in(text.encode(encoding))] == ["你好，今天天气怎么样？"]


def test_a_date_and_a_time_in_two_columns_are_one_moment() -> None:
    (message,) = lines_in("Date,Time,Sender,Message\n5 Jan 2024,9:05 PM,Ana,Hello\n")
    assert message.at == datetime(2024, 1, 5, 21, 5)


def test_the_name_of_a_column_may_have_dots_in_it() -> None:
    (message,) = lines_in("msg.date,msg.from,msg.text\n2024-01-05,Ana,Hello\n")
    assert (message.speaker, message.text) == ("Ana", "Hello")


def test_delimiters_in_the_last_cell_are_words() -> None:
    (message,) = lines_in("date,from,text\n2024-01-05,Ana,well, well, well\n")
    assert message.text == "well, well, well"


def test_marks_in_a_table_without_quoting_are_words() -> None:
    assert lines_in('date\tfrom\ttext\n2024-01-05\tAna\t"No" is what he said\n')[0].text == '"No" is what he said'


def test_columns_without_plain_names_are_asked_about() -> None:
    text = "a,b,c\n2024-01-05,Ana,Hello there my friend\n2024-01-06,Mira,Good evening to you too\n"
    assert rejection(text).code == "ask_mapping"
    mapping = guess(source_of(text))
    assert mapping
    assert (mapping.text, mapping.at, mapping.sure) == ("c", "a", False)
    answer = Options(mapping=Mapping(text="c", speaker="b", at="a"))
    assert [message.speaker for message in lines_in(text, answer)] == ["Ana", "Mira"]


def test_dates_that_read_two_ways_are_asked_about() -> None:
    text = "date,from,text\n03/04/2024,Ana,Hello\n"
    assert rejection(text).code == "ask_day_first"
    assert lines_in(text, Options(day_first=True))[0].at == datetime(2024, 4, 3)
    assert lines_in(text + "04/13/2024,Ana,Hello\n")[0].at == datetime(2024, 3, 4)


def test_rows_that_say_nothing_are_told() -> None:
    items = read_items(Table(), source_of("date,from,text\n2024-01-05,Ana,Hello\nlost\n\n2024-01-05,Ana\n"))
    assert skips_of(items) == ["broken", "empty"]


def test_a_quotation_that_never_ends_is_refused_with_its_line() -> None:
    rejected = rejection('date,from,text\n2024-01-05,Ana,Hello\n2024-01-05,Ana,"Hello\n' + "more\n" * 50_000)
    assert (rejected.code, rejected.location) == ("table_broken", "line 3")


@each_row("data", ["", "one column\nonly\n", b"\x00\x01", b"date,text\n2024,\xff\xff\xfe", "\n\n\n"])
def test_a_file_that_is_no_table_is_rejected(data: str | bytes) -> None:
    assert rejection(data)


def test_long_messages_are_told() -> None:
    items = read_items(Table(), source_of(f"date,from,text\n2024-01-05,Ana,{'x' * 70_000}\n"))
    assert skips_of(items) == ["too_long"]


TEXTS = some.text(some.characters(exclude_categories=["Cs", "Cc"]) | some.just("\n"), min_size=1).filter(
    lambda text: bool(text.strip()) and text.isprintable() | ("\n" in text)
)
ROWS = some.lists(some.tuples(some.sampled_from(["Ana", "Mira", "Otto"]), TEXTS), min_size=1, max_size=12)


@supposing(ROWS, some.sampled_from([",", "\t", ";"]))
def test_every_text_comes_out_in_its_order(rows: list[tuple[str, str]], delimiter: str) -> None:
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator="\n")
    writer.writerow(["date", "from", "text"])
    writer.writerows(("2024-01-05T10:00:00", name, text) for name, text in rows)
    items = read_items(
        Table(), source_of(buffer.getvalue()), Options(mapping=Mapping(text="text", speaker="from", at="date"))
    )
    assert [(message.speaker, message.text) for message in messages_of(items)] == rows


def peak_of(rows: int) -> tuple[int, float]:
    words = "and by " * 140
    records = (f"2024-01-05 21:05:{row % 60:02},Ana,It rained and row {row} went by {words}\n" for row in range(rows))
    source = source_of("date,from,text\n" + "".join(records))
    tracemalloc.start()
    message_count = sum(
        len(session.lines) for session in Table().read(source, Options()) if isinstance(session, FileSession)
    )
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return message_count, peak / 1024**2


def test_a_long_table_is_read_in_little_memory() -> None:
    message_count, megabytes = peak_of(5_500)
    assert message_count == 5_500
    assert megabytes < 10


def test_a_long_session_comes_in_pieces_that_belong_together() -> None:
    text = "date,from,text\n" + "2024-01-05,Ana,Hello\n" * 25
    source = source_of(text, limits=Limits(talk_lines=10))
    sessions = [session for session in read_items(Table(), source) if isinstance(session, FileSession)]
    assert [len(session.lines) for session in sessions] == [10, 10, 5]
    assert len({session.source_id for session in sessions}) == 1
    assert len({message.source_id for session in sessions for message in session.lines}) == 25


@each_row(
    "text",
    [
        "sep=;\r\nDate;From;Text\r\n2024-01-05 21:30;Ana;Hello\r\n2024-01-06 08:00;Mira;Hi, you\r\n",
        "Datum;Uhrzeit;Von;Nachricht\n05.01.2024;21:30;Ana;Hello\n06.01.2024;08:00;Mira;Hi, you\n",
        "| Date | From | Text |\n|---|:--|---|\n"
        "| 2024-01-05 21:30 | Ana | Hello |\n| 2024-01-06 08:00 | Mira | Hi, you |\n",
        'timestamp,sender,message\n1704490200000000,Ana,Hello\n1704528000000000,Mira,"Hi, you"\n',
    ],
)
def test_tables_of_every_kind_are_read(text: str) -> None:
    source = source_of(text, "messages.csv")
    assert recognize(source).name == "table"
    messages = messages_of(read_items(Table(), source, Options(day_first=True)))
    assert [(message.speaker, message.text) for message in messages] == [("Ana", "Hello"), ("Mira", "Hi, you")]
    assert [message.at.replace(tzinfo=None) for message in messages if message.at] == [
        datetime(2024, 1, 5, 21, 30), datetime(2024, 1, 6, 8, 0),
    ]  # fmt: skip


def test_a_line_that_says_the_delimiter_is_counted_in_places() -> None:
    first, *_rest = lines_in("sep=,\nDate,From,Text\n2024-01-05,Ana,Hello\n2024-01-06,Mira,Hi\n")
    assert first.location == "line 3"


def test_where_my_own_lines_bear_no_name_the_way_they_went_says_who_spoke() -> None:
    table = "Message Date,Type,Sender Name,Text\n2024-01-05 21:30:00,{},{},Hello\n2024-01-05 21:31:00,{},{},Hi\n"
    messages = lines_in(table.format("Incoming", "Mira", "Outgoing", ""))
    assert [(message.speaker, message.role) for message in messages] == [("Mira", "other"), ("user", "user")]
    messages = lines_in(table.format("Incoming", "Mira", "Outgoing", "Ana"))
    assert [message.speaker for message in messages] == ["Mira", "Ana"]


def test_notifications_of_imazing_are_nobodys() -> None:
    text = """Chat Session,Message Date,Type,Sender ID,Sender Name,Text
Elif & Jonas,2024-01-06 20:15:03,Incoming,+905321112233,Elif Demir,Nice!
Elif & Jonas,2024-01-06 20:16:11,Outgoing,,,Thanks
Elif & Jonas,2024-01-06 20:17:00,Notification,,,Jonas named the conversation “Cake”
Elif & Jonas,2024-01-06 20:18:45,Incoming,jonas.k@example.com,Jonas Keller,"Cake at mine, 15:00?"
"""
    items = read_items(Table(), source_of(text, "messages.csv"))
    assert [(message.speaker, message.role) for message in messages_of(items)] == [
        ("Elif Demir", "other"), ("user", "user"), ("Jonas Keller", "other"),
    ]  # fmt: skip
    assert skips_of(items) == ["notice"]

"""Diaries as people keep them."""

import json
import time
import tracemalloc
from datetime import date, datetime

import pytest
from hypothesis import given as supposing
from hypothesis import strategies as some

from memory.imports.readers import read, recognize
from memory.imports.readers.day_one import DayOne
from memory.imports.readers.journal import Journal
from memory.imports.readers.journey import Journey
from memory.imports.readers.source import Source
from memory.imports.readers.types import Entry, ImportRejected, Limits, Options
from tests.memory.imports.readers.sources import entries_of, fixture, read_items, skips_of, source_of, zip_source
from tests.table import each_row


def entries_in(text: str | bytes, name: str = "diary.txt", day_first: bool | None = None) -> list[Entry]:
    return entries_of(read_items(Journal(), source_of(text, name), Options(day_first=day_first)))


def test_a_markdown_diary_is_split_at_its_dates() -> None:
    first, second, third, fourth = entries_of(read_items(Journal(), fixture("journal.md")))
    assert (first.title, first.day) == ("Night garden", date(2023, 12, 31))
    assert first.text == "What I want of the new year: less hurry."
    assert (second.title, second.day, second.location) == ("Snow", date(2024, 1, 5), "line 10")
    assert second.text.endswith("### Later\n\nWe drank tea.")
    assert "- 2024-01-04 was the day" in second.text
    assert (third.day, third.text) == (date(2024, 1, 6), "```\n# 2024-01-01 in a listing is none\n```\nAna called.")
    assert (fourth.at, fourth.text) == (datetime(2024, 1, 8, 21, 30), "Short.")


def test_front_matter_that_is_not_used_is_told() -> None:
    assert skips_of(read_items(Journal(), fixture("journal.md"))) == ["settings"]


def test_a_chinese_diary_is_split_at_its_dates() -> None:
    entries = entries_of(read_items(Journal(), fixture("journal_zh.txt")))
    assert [entry.day for entry in entries] == [date(2024, 1, day) for day in (5, 6, 7, 9)]
    assert entries[0].text == "晴\n今天去了外婆家，她做了红烧肉。\n\n  她说明年要搬到杭州。"
    assert entries[3].text == "小黑生病了。"


@each_row("encoding", ["utf-8-sig", "utf-16", "gbk"])
def test_a_diary_may_be_in_any_common_encoding(encoding: str) -> None:
    text = "2024年1月5日\n今天去了外婆家，她做了红烧肉。"
    assert [entry.day for entry in entries_in(text.encode(encoding))] == [date(2024, 1, 5)]


@each_row("name", ["journal.md", "journal_zh.txt"])
def test_a_diary_is_recognised(name: str) -> None:
    assert recognize(fixture(name)).name == "journal"


def test_a_text_without_dates_is_one_entry_without_a_day() -> None:
    (entry,) = entries_in("About me.\n\nI live by the sea.", "about.txt")
    assert (entry.day, entry.title, entry.text) == (None, "", "About me.\n\nI live by the sea.")


def test_a_note_named_for_its_day_is_one_entry() -> None:
    (entry,) = entries_in("# 2024-02-01 Plan\nBuy seeds.", "2024-01-05.md")
    assert (entry.day, entry.text) == (date(2024, 1, 5), "# 2024-02-01 Plan\nBuy seeds.")


def test_dates_without_a_year_have_that_of_the_file_or_follow_each_other() -> None:
    assert [entry.day for entry in entries_in("1月5日\na\n1月6日\nb", "日记2023.txt")] == [
        date(2023, 1, 5),
        date(2023, 1, 6),
    ]
    text = "2023-12-30\na\n\nJanuary 2\n\nb"
    assert [entry.day for entry in entries_in(text)] == [date(2023, 12, 30), date(2024, 1, 2)]


def test_numbers_in_either_order_are_asked_about() -> None:
    text = "03/04/2024\n\nHello."
    with pytest.raises(ImportRejected, match="two ways"):
        entries_in(text)
    assert entries_in(text, day_first=True)[0].day == date(2024, 4, 3)
    assert entries_in(text, day_first=False)[0].day == date(2024, 3, 4)


def test_one_clear_date_settles_all_of_them() -> None:
    days = [entry.day for entry in entries_in("03/04/2024\na\n\n13/04/2024\nb")]
    assert days == [date(2024, 4, 3), date(2024, 4, 13)]


def test_marks_between_entries_of_a_plain_text_fence_nothing() -> None:
    assert len(entries_in("2024-01-05\na\n~~~~~~\n2024-01-06\nb\n~~~~~~\n2024-01-07\nc")) == 3


def test_dates_within_a_note_of_one_day_are_not_asked_about() -> None:
    assert entries_in("03/04/2024\nHello.", "2024-01-05.md")[0].text == "03/04/2024\nHello."


def test_an_entry_without_words_is_told() -> None:
    items = read_items(Journal(), source_of("2024-01-05\n\n2024-01-06\nHello."))
    assert (skips_of(items), len(entries_of(items))) == (["empty"], 1)


def test_the_same_words_twice_on_a_day_are_two_entries() -> None:
    first, second = entries_in("2024-01-05\nRain.\n\n2024-01-05\nRain.")
    assert first.source_id != second.source_id
    again = entries_in("2024-01-01\nNew above.\n\n2024-01-05\nRain.\n\n2024-01-05\nRain.")
    assert [entry.source_id for entry in again[1:]] == [first.source_id, second.source_id]


def test_a_long_entry_goes_on_in_another_of_the_same_day() -> None:
    lines = [f"{number} {'word ' * 200}" for number in range(300)]
    entries = entries_in("2024-01-05\n" + "\n".join(lines))
    assert len(entries) > 3
    assert {entry.day for entry in entries} == {date(2024, 1, 5)}
    assert all(len(entry.text.encode()) <= Limits().message_bytes for entry in entries)
    assert "\n".join(entry.text for entry in entries).split() == " ".join(lines).split()
    assert len({entry.source_id for entry in entries}) == len(entries)


def test_a_line_too_long_for_a_message_is_told() -> None:
    items = read_items(Journal(), source_of(f"2024-01-05\nBefore.\n{'x' * 70_000}\nAfter."))
    assert [entry.text for entry in entries_of(items)] == ["Before.", "After."]
    assert skips_of(items) == ["too_long"]


def test_front_matter_that_never_ends_is_text() -> None:
    (entry,) = entries_in("---\nno end\n" + "line\n" * 300)
    assert entry.text.startswith("---\nno end\nline")


def folder(**more: bytes | str) -> Source:
    notes = {
        "Vault/2024-01-06.md": "Second.",
        "Vault/2024-01-05.md": "---\nmood: 3\n---\nFirst.",
        "Vault/People/Ana.md": "Lives in Lisbon.",
        "Vault/.obsidian/app.json": "{}",
        "Vault/images/cat.png": b"\x89PNG",
        **more,
    }
    return zip_source(notes, "Vault.zip")


def test_a_folder_of_notes_is_read_in_order_and_the_rest_is_told() -> None:
    items = read_items(Journal(), folder())
    assert [(entry.day, entry.title, entry.text) for entry in entries_of(items)] == [
        (date(2024, 1, 5), "", "First."),
        (date(2024, 1, 6), "", "Second."),
        (None, "Ana", "Lives in Lisbon."),
    ]
    assert sorted(skips_of(items)) == ["media", "settings", "settings"]
    assert entries_of(items)[0].location == "Vault/2024-01-05.md, line 1"
    assert recognize(folder()).name == "journal"


def test_a_folder_without_notes_is_refused() -> None:
    with pytest.raises(ImportRejected):
        read_items(Journal(), zip_source({"a.png": b"x"}))


@each_row("data", [b"\x00\x01\x02", b"abc\xff\xfe\xff\xff", "2024-01-05\n真".encode()[:-1]])
def test_a_damaged_diary_is_refused(data: bytes) -> None:
    with pytest.raises(ImportRejected):
        entries_in(data)


def test_a_line_without_end_is_refused() -> None:
    with pytest.raises(ImportRejected, match="line"):
        read_items(Journal(), source_of("a" * 200_000, limits=Limits(line_characters=100_000)))


@each_row(
    "line",
    ["==" + " " * 10**6 + "x", "2024" + " " * 10**6 + "x", "=" * 10**6, " " * 10**6, "2024-01-05" + " -" * 10**6 + "x"],
    ids=["spaces", "year", "frame", "blank", "marks"],
)
def test_lines_made_to_take_time_take_none(line: str) -> None:
    front = f"---\ndate: a{' ' * 900}b\n{line[:900]}\n---\n"
    began = time.monotonic()
    read_items(Journal(), source_of(front + f"{line}\n" * 3))
    read_items(Journal(), source_of(f"---\ndate: {line}\n---\n{line}"))
    assert time.monotonic() - began < 5


WORDS = some.text("ab 你好#-*=:。\t", min_size=1, max_size=30).filter(lambda text: bool(text.strip()))
PARAGRAPHS = some.lists(WORDS, min_size=1, max_size=4)
STYLES = some.sampled_from(
    ["{0:%Y-%m-%d}", "## {0:%Y-%m-%d}", "{0:%Y}年{0.month}月{0.day}日", "{0:%B} {0.day}, {0.year}"]
)


@supposing(some.lists(some.tuples(some.dates(date(1971, 1, 1), date(2100, 1, 1)), PARAGRAPHS), max_size=6), STYLES)
def test_whatever_is_written_under_dates_comes_out_under_them(
    entries: list[tuple[date, list[str]]], style: str
) -> None:
    text = "".join(f"{style.format(day)}\n" + "\n".join(lines) + "\n\n" for day, lines in entries)
    expected = [(day, "\n".join(lines).rstrip()) for day, lines in entries]
    assert [(entry.day, entry.text) for entry in entries_of(read_items(Journal(), source_of(text + "\n")))] == expected


def diary(days: int) -> bytes:
    page = "It rained, and we stayed in and read. " * 160
    dates = ((1900 + day // 336, day // 28 % 12 + 1, day % 28 + 1) for day in range(days))
    return "".join(f"{year}-{month:02}-{day:02}\n\n{page}\n\n" for year, month, day in dates).encode()


def peak_of(data: bytes) -> tuple[int, float]:
    source = source_of(data, "diary.txt")
    tracemalloc.start()
    entries = sum(isinstance(item, Entry) for item in Journal().read(source, Options()))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return entries, peak / 1024**2


def test_a_long_diary_is_read_in_little_memory() -> None:
    entries, megabytes = peak_of(diary(800))
    assert entries == 800
    assert megabytes < 8


# Day One


def test_an_export_of_day_one_is_read_by_the_writers_clock() -> None:
    items = read_items(DayOne(), fixture("day_one.json"))
    first, second = entries_of(items)
    assert (first.day, first.source_id, first.text) == (date(2024, 1, 6), "A1B2", "# First day\n\nIt rained.")
    assert second.day == date(2024, 1, 8)
    assert skips_of(items) == ["media"]
    assert recognize(fixture("day_one.json")).name == "day_one"


def test_the_zip_of_day_one_is_read_and_its_photographs_told() -> None:
    members = {"Journal.json": fixture("day_one.json").open().read(), "photos/y.jpeg": b"\xff\xd8"}
    items = read_items(DayOne(), zip_source(members))
    assert len(entries_of(items)) == 2
    assert sorted(skips_of(items)) == ["media", "media"]
    assert recognize(zip_source(members)).name == "day_one"


@each_row("data", ["", "{", '{"entries": [', '{"entries": [{"text": "cut'])
def test_a_damaged_export_of_day_one_is_refused(data: str) -> None:
    with pytest.raises(ImportRejected):
        read_items(DayOne(), source_of(data))


def test_entries_of_day_one_that_are_none_are_told() -> None:
    deep = "[" * 60 + "]" * 60
    data = (
        f'{{"entries": [1, {{"text": 5}}, {{"text": ""}}, {{"text": "x", "y": {deep}}}, {{"text": "{"x" * 70_000}"}}]}}'
    )
    items = read_items(DayOne(), source_of(data))
    assert skips_of(items) == ["broken", "empty", "too_deep", "too_long"]
    assert [entry.text for entry in entries_of(items)] == ["5"]


def test_a_note_with_front_matter_is_no_session_of_its_fields() -> None:
    note = '---\nlayout: post\ntitle: "Snow: at last"\ndate: 2024-01-05 21:30:00 +0100\n---\nIt snowed.\n'
    source = source_of(note, "2024-01-05-snow.md")
    assert recognize(source).name == "journal"
    (entry,) = entries_of(read_items(Journal(), source))
    assert (entry.title, entry.text) == ("Snow: at last", "It snowed.")
    assert entry.at
    assert entry.at.isoformat() == "2024-01-05T21:30:00+01:00"


def test_the_clock_of_another_day_than_the_names_is_not_taken() -> None:
    (entry,) = entries_in("---\ndate: 2024-02-01 21:30\n---\nIt snowed.\n", "2024-01-05.md")
    assert (entry.day, entry.at) == (date(2024, 1, 5), None)


def test_the_title_of_a_diary_is_no_entry() -> None:
    items = read_items(Journal(), source_of("# My diary\n\n## 2024-01-05\n\nSnow.\n", "diary.md"))
    assert [(entry.day, entry.title, entry.text) for entry in entries_of(items)] == [(date(2024, 1, 5), "", "Snow.")]
    assert skips_of(items) == ["empty"]


def test_a_page_of_notion_is_one_entry_of_its_date() -> None:
    page = f"Export/Snow {'0a' * 16}.md"
    items = read_items(
        Journal(), zip_source({page: "# First snow\n\nDate: January 5, 2024\n\nIt snowed.\n", "Export/a.csv": "a,b"})
    )
    assert [(entry.title, entry.day, entry.text) for entry in entries_of(items)] == [
        ("First snow", date(2024, 1, 5), "It snowed."),
    ]
    assert skips_of(items) == ["document"]
    (untitled,) = entries_of(read_items(Journal(), zip_source({page: "It snowed."})))
    assert untitled.title == "Snow"


def test_notes_may_be_named_for_their_day_in_words() -> None:
    items = read_items(Journal(), zip_source({"January 8th, 2024.md": "Rain.", "Mira, 2024.md": "A name."}))
    assert [entry.day for entry in entries_of(items)] == [date(2024, 1, 8), None]


def test_day_ones_own_signs_are_no_words() -> None:
    entry = {
        "uuid": "A",
        "creationDate": "2024-01-05T10:00:00Z",
        "text": "It \\- snowed\\. ![](dayone-moment://A1)\n\\#1 C:\\x",
    }
    items = read_items(DayOne(), source_of(json.dumps({"metadata": {"version": "1.0"}, "entries": [entry]})))
    assert [entry.text for entry in entries_of(items)] == ["It - snowed. \n#1 C:\\x"]


def test_the_zip_of_journey_is_read_by_the_writers_clock() -> None:
    html = {
        "id": "j1",
        "text": "<p>It <b>snowed</b>.</p><p>Cold &amp; wet.</p>",
        "type": "html",
        "timezone": "Europe/Berlin",
    }
    plain = {"id": "j2", "text": "Rain <here>", "type": "markdown", "timezone": "", "date_journal": 1704590000000}
    members: dict[str, bytes | str] = {
        "1-a.json": json.dumps(html | {"date_journal": 1704496000000}), "2-b.json": json.dumps(plain),
        "3-c.json": json.dumps({"text": "", "date_journal": 1, "photos": ["x.jpg"]}), "x.jpg": b"\xff\xd8",
    }  # fmt: skip
    assert recognize(zip_source(members)).name == "journey"
    items = read_items(Journey(), zip_source(members))
    first, second = entries_of(items)
    assert (first.day, first.text, first.source_id) == (date(2024, 1, 6), "It snowed.\n\nCold & wet.", "j1")
    assert (second.text, skips_of(items)) == ("Rain <here>", ["media", "media"])


DOENTRY = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict>
<key>Creation Date</key><date>2014-10-23T23:36:33Z</date>
<key>Entry Text</key><string>{text}</string>
<key>Time Zone</key><string>Europe/Berlin</string>
<key>UUID</key><string>{uuid}</string>
</dict></plist>"""


def test_day_one_classic_is_read_from_its_folder_and_from_one_entry() -> None:
    folder = "Journal.dayone/entries"
    source = zip_source(
        {
            f"{folder}/A1.doentry": DOENTRY.format(text="It snowed &amp; I stayed.", uuid="A1"),
            f"{folder}/A2.doentry": DOENTRY.format(text="", uuid="A2"),
            f"{folder}/A3.doentry": "<plist><dict><key>Entry Text</key>",
            f"{folder}/A4.doentry": '<!DOCTYPE x [<!ENTITY a "b">]><plist><dict><key>a</key></dict></plist>',
            "Journal.dayone/photos/A1.jpg": b"\xff\xd8",
        }
    )  # fmt: skip
    assert recognize(source).name == "day_one"
    items = list(read(source))
    (entry,) = entries_of(items)
    # The writer's day, on the clock of the place.
    assert (entry.text, entry.day, entry.source_id) == ("It snowed & I stayed.", date(2014, 10, 24), "A1")
    assert skips_of(items) == ["media", "empty", "broken", "broken"]
    entry_file = source_of(DOENTRY.format(text="Alone", uuid="B"), "B.doentry")
    assert recognize(entry_file).name == "day_one"
    assert [entry.text for entry in entries_of(list(read(entry_file)))] == ["Alone"]


def test_a_journal_of_day_one_may_lie_in_a_folder_and_have_its_words_with_their_layout_alone() -> None:
    rich = json.dumps({"contents": [{"text": "Two "}, {"attributes": {}, "text": "parts"}], "meta": {}})
    entry = {"creationDate": "2024-01-05T10:00:00Z", "richText": rich, "uuid": "r"}
    journal = json.dumps({"metadata": {"version": "1.0"}, "entries": [entry]})
    items = list(read(zip_source({"Export/Journal.json": journal, "Export/photos/a.jpeg": b"x"})))
    assert [entry.text for entry in entries_of(items)] == ["Two parts"]


def test_days_under_the_name_of_a_month_are_entries_of_their_own() -> None:
    diaries = {
        "2016 MARCH\n\nTuesday 1\nRained.\n\nSunday 6\nmum called : she is fine\nPancakes.\n\n"
        "2016 APRIL\n\nFriday 1\nOut.\n",
        "März 2016\n\n1. Dienstag\nRained.\n\nSonntag, 6.\nmum called : she is fine\nPancakes.\n\n"
        "April 2016\n\nFr 1\nOut.\n",
        "2016年3月\n1日 火曜日\nRained.\n\n6日(日)\nmum called : she is fine\nPancakes.\n\n"
        "2016年4月\n1日 金曜日\nOut.\n",
    }
    for data in diaries:
        entries = entries_of(list(read(source_of(data, "daygram.txt"))))
        assert [(str(entry.day), entry.text) for entry in entries] == [
            ("2016-03-01", "Rained."), ("2016-03-06", "mum called : she is fine\nPancakes."), ("2016-04-01", "Out."),
        ], data  # fmt: skip
    (entry,) = entries_of(list(read(source_of("2024-01-05\n\nMarch 2016\n\nwas a good month\n", "diary.txt"))))
    assert entry.text == "March 2016\n\nwas a good month"


def test_a_weekday_beside_a_date_tells_which_number_is_the_day() -> None:
    for head in ("Saturday, 5/4/2024", "5/4/2024 Saturday"):
        (entry,) = entries_of(list(read(source_of(f"{head}\n\nIt rained.\n", "diary.txt"))))
        assert str(entry.day) == "2024-05-04", head


def test_templates_links_and_the_day_as_a_title_are_no_words_of_a_vault() -> None:
    items = list(
        read(
            zip_source(
                {
                    "Vault/Daily/2024-02-10.md": "---\nmood: 4\n---\n# 2024-02-10\n\n"
                    "With [[People/Ilse|Ilse]] and [[Ben]].\n![[a.png]]\n",
                    "Vault/Templates/Daily.md": "What was good today?\n",
                    "Vault/Other/Blank.md": "# {{date:YYYY-MM-DD}}\n\n## Morning\n",
                    "Vault/Daily/2024-02-12.md": "",
                    "Vault/.obsidian/app.json": "{}",
                }
            )
        )
    )
    assert [(str(entry.day), entry.text) for entry in entries_of(items)] == [("2024-02-10", "With Ilse and Ben.")]
    assert sorted(skips_of(items)) == ["empty", "settings", "settings", "settings", "settings"]

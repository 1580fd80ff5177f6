"""Day One's plain text, of today and of Day One Classic."""

from datetime import date, datetime

import pytest

from memory.imports.readers import read, recognize
from memory.imports.readers.types import ImportRejected, Options
from tests.memory.imports.readers.sources import entries_of, messages_of, skips_of, source_of, zip_source

ENGLISH = (
    "\tDate:\tMay 24, 2020 at 10:14:22 AM GMT+2\n\tWeather:\t15°C Sunny\n\tLocation:\tBerlin, Germany\n\n"
    "It was warm.\n\nBen: hello, he said.\n\n\n"
    "\tDate:\tMay 25, 2020 at 1:30:05 PM GMT+2\n\tPhoto:\t1.jpg\n\n\n"
    "\tDate:\tMay 26, 2020 at 1:30:00\u202fPM CEST\n\tTags:\ta, b\n\nSecond.\n\tindented words: yes\n"
)


def test_entries_are_split_at_their_dates_and_what_is_told_of_them_is_no_words() -> None:
    for data in (ENGLISH.encode(), ENGLISH.replace("\n", "\r\n").encode("utf-8-sig"), ENGLISH.encode("utf-16")):
        source = source_of(data, "Journal.txt")
        assert recognize(source).name == "day_one_text"
        items = list(read(source))
        assert [(entry.text, entry.day) for entry in entries_of(items)] == [
            ("It was warm.\n\nBen: hello, he said.", date(2020, 5, 24)),
            ("Second.\n\tindented words: yes", date(2020, 5, 26)),
        ]
        assert entries_of(items)[1].at == datetime(2020, 5, 26, 13, 30)
        assert skips_of(items) == ["media"]
        assert not messages_of(items)


def test_labels_and_dates_of_any_language_and_order_are_read() -> None:
    cases = {
        "\tDatum:\t24. Mai 2020 um 13:14:22 MESZ\n\tWetter:\t15°C\n\nWarm.\n\n"
        "\tDatum:\t23. Mai 2020 um 9:14 MESZ\n\nKalt.\n": [
            ("Warm.", datetime(2020, 5, 24, 13, 14, 22)), ("Kalt.", datetime(2020, 5, 23, 9, 14)),
        ],
        "\t日期：\t2020年5月24日 GMT+8 下午1:14:22\n\t天气：\t晴\n\n今天很好。\n": [
            ("今天很好。", datetime(2020, 5, 24, 13, 14, 22)),
        ],
        "\tDate :\t24 mai 2020 à 13:14:22 UTC+2\n\nIl fait beau.": [
            ("Il fait beau.", datetime(2020, 5, 24, 13, 14, 22)),
        ],
        "\tDate:\t24 May 2020\n\nOnly a day.\n": [("Only a day.", None)],
    }  # fmt: skip
    for data, expected in cases.items():
        entries = entries_of(list(read(source_of(data, "Journal.txt"))))
        assert [(entry.text, entry.at.replace(tzinfo=None) if entry.at else None) for entry in entries] == expected
        assert all(entry.day for entry in entries)


def test_the_zip_is_read_and_its_photographs_told_and_a_file_that_is_cut_off_as_far_as_it_goes() -> None:
    source = zip_source({"Journal.txt": ENGLISH, "photos/1.jpg": b"x"})
    assert recognize(source).name == "day_one_text"
    items = list(read(source))
    assert len(entries_of(items)) == 2
    assert skips_of(items) == ["media", "media"]
    cut = ENGLISH[: ENGLISH.index("Ben:") + 8]
    assert [entry.text for entry in entries_of(list(read(source_of(cut, "Journal.txt"))))] == [
        "It was warm.\n\nBen: hel"
    ]


def test_numbers_in_either_order_are_asked_about() -> None:
    data = "\tDate:\t05/04/2020, 10:14\n\nRain.\n"
    with pytest.raises(ImportRejected) as rejected:
        list(read(source_of(data, "Journal.txt")))
    assert rejected.value.code == "ask_day_first"
    entries = entries_of(list(read(source_of(data, "Journal.txt"), options=Options(day_first=True))))
    assert [entry.day for entry in entries] == [date(2020, 4, 5)]

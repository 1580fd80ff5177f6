"""Gemini's part of a Takeout as a web page."""

from datetime import UTC, datetime

import pytest

from memory.imports.readers import read, recognize
from memory.imports.readers.types import ImportRejected, Options
from tests.memory.imports.readers.sources import messages_of, skips_of, source_of, zip_source

# The head of a real page is longer than the sample that is read of other files.
HEAD = f"<html><head><title>My Activity History</title><style>{'.mdl-x{color:red}' * 9_000}</style></head><body>"


def card(inside: str, header: str = "Gemini Apps") -> str:
    return (
        '<div class="outer-cell mdl-cell mdl-cell--12-col mdl-shadow--2dp"><div class="mdl-grid">'
        '<div class="header-cell mdl-cell mdl-cell--12-col">'
        f'<p class="mdl-typography--title">{header}<br></p></div>'
        f'<div class="content-cell mdl-cell mdl-cell--6-col mdl-typography--body-1">{inside}</div>'
        '<div class="content-cell mdl-cell mdl-cell--6-col mdl-typography--body-1 mdl-typography--text-right"></div>'
        '<div class="content-cell mdl-cell mdl-cell--12-col mdl-typography--caption"><b>Products:</b><br>&emsp;Gemini'
        "</div></div></div>"
    )


def page(*cards: str) -> str:
    return f"{HEAD}<div>{''.join(cards)}</div></body></html>"


def roles_and_texts(data: str, options: Options | None = None) -> list[tuple[str, str]]:
    source = source_of(data, "My Activity.html")
    assert recognize(source).name == "gemini_page"
    return [(message.role, message.text) for message in messages_of(list(read(source, options=options)))]


def test_questions_stand_before_their_answers_oldest_first_and_the_rest_is_told() -> None:
    data = page(
        card(
            "Prompted&nbsp;And in winter?<br>May 19, 2026, 7:07:02\u202fPM GMT-03:00<br><p>Colder.</p><ul><li>snow</ul>"
        ),
        card("Used an Assistant feature<br>May 19, 2026, 7:06:02\u202fPM GMT-03:00<br>"),
        card("Gave feedback: Good response<br>May 19, 2026, 7:05:02\u202fPM GMT-03:00<br>"),
        card(
            "Prompted&nbsp;What is <b>this</b>?<br>line two<br>Attached 1 file.<br>-&nbsp;<a href='a.png'>a.png</a><br>"
            "May 19, 2026, 1:30:02\u202fPM GMT-03:00<br><p>A cat &amp; a dog</p><div><p>ok</p></div>"
        ),
        card("Watched&nbsp;a film<br>May 19, 2026, 1:00:02\u202fPM GMT-03:00<br>", "YouTube"),
        card("Prompted&nbsp;no time<br>"),
    )
    items = list(read(source_of(data, "My Activity.html")))
    assert [(message.role, message.text) for message in messages_of(items)] == [
        ("user", "What is this?\nline two"), ("persona", "A cat & a dog\n\nok"),
        ("user", "And in winter?"), ("persona", "Colder.\n\n- snow"),
    ]  # fmt: skip
    assert messages_of(items)[0].at == datetime(2026, 5, 19, 16, 30, 2, tzinfo=UTC)
    assert sorted(skips_of(items)) == ["broken", "media", "notice", "notice", "notice"]


def test_a_page_in_any_language_is_read_whatever_stands_before_what_was_asked() -> None:
    cases = {
        "de": ("Eingegebener Prompt: {}", "19.05.2026, {}:07:02 MESZ", "Gemini-Apps"),
        "sv": ("Gav instruktionen&nbsp;{}", "4 juli 2026 {}:15:00 CEST", "Gemini-appar"),
        "zh": ("提示：{}", "2026年6月19日 {}:23:08 CST", "Gemini 应用"),
        "pt": ("Solicitou&nbsp;{}", "10 de mai. de 2026, {}:46:09 BRT", "Apps do Gemini"),
        "unknown": ("Wusstest&nbsp;{}", "18 Sept 2025, {}:02:52 CET", "Bard"),
    }
    for prompt, time, header in cases.values():
        cards = [
            card(f"{prompt.format(question)}<br>{time.format(hour)}<br><p>{answer}</p>", header)
            for question, hour, answer in (("later: and?", 19, "so"), ("first one", 13, "yes"), ("x y z", 12, "no"))
        ]
        assert roles_and_texts(page(*cards)) == [
            ("user", "x y z"), ("persona", "no"), ("user", "first one"), ("persona", "yes"), ("user", "later: and?"),
            ("persona", "so"),
        ], prompt  # fmt: skip


def test_activities_of_one_moment_stay_with_their_answers() -> None:
    at = "19.05.2026, 13:30:02 MESZ"
    data = page(card(f"Prompted&nbsp;b<br>{at}<br><p>B</p>"), card(f"Prompted&nbsp;a<br>{at}<br><p>A</p>"))
    assert roles_and_texts(data) == [("user", "a"), ("persona", "A"), ("user", "b"), ("persona", "B")]


def test_the_page_in_the_zip_of_any_language_is_found_by_what_it_holds() -> None:
    data = page(card("Prompted&nbsp;hi<br>May 19, 2026, 7:07:02 PM CEST<br><p>yo</p>"))
    other = page(card("Watched&nbsp;x<br>May 19, 2026, 7:07:02 PM CEST<br>", "YouTube"))
    source = zip_source({
        "Takeout/Meine Aktivitäten/Gemini-Apps/MeineAktivitäten.html": data,
        "Takeout/Meine Aktivitäten/YouTube/MeineAktivitäten.html": other,
        "Takeout/Gemini/gemini_gems_data.html": "<div></div>",
    })  # fmt: skip
    assert recognize(source).name == "gemini_page"
    items = list(read(source))
    assert [message.text for message in messages_of(items)] == ["hi", "yo"]
    assert skips_of(items) == ["settings", "settings"]


def test_a_page_that_is_cut_off_is_read_as_far_as_it_goes_and_others_are_refused() -> None:
    cards = [card(f"Prompted&nbsp;q{n}<br>May {n}, 2026, 7:07:02 PM CEST<br><p>a{n}</p>") for n in (9, 8, 7)]
    whole = page(*cards)
    cut = whole[: whole.index("May 7, 2026")]
    assert [text for _role, text in roles_and_texts(cut)] == ["q8", "a8", "q9", "a9"]
    with pytest.raises(ImportRejected) as rejected:
        recognize(source_of(page(card("Watched&nbsp;x<br>May 9, 2026, 7:07:02 PM CEST<br>", "YouTube")), "a.html"))
    assert rejected.value.code == "web_page"


def test_numbers_in_either_order_are_asked_about() -> None:
    data = page(card("Prompted&nbsp;hi<br>5/4/2026, 7:07:02 PM CEST<br><p>yo</p>"))
    with pytest.raises(ImportRejected) as rejected:
        roles_and_texts(data)
    assert rejected.value.code == "ask_day_first"
    assert roles_and_texts(data, Options(day_first=True)) == [("user", "hi"), ("persona", "yo")]

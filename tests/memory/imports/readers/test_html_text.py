"""The words in small pieces of HTML."""

from memory.imports.readers.html_text import words_of
from tests.table import each_row


@each_row(
    ("html", "words"),
    [
        ("<p>It <b>snowed</b>.</p><p>Cold &amp; wet.</p>", "It snowed.\n\nCold & wet."),
        ("One<br>two<ul><li>three</li><li>four</li></ul>", "One\ntwo\n\n- three\n- four"),
        ("<!DOCTYPE html><!-- no --><p>Yes<!-- no\n--></p><script>no()</script><style>no</style>", "Yes"),
        ("<pre>  a\n    b</pre>", "a\nb"),
        ("<p>a\n   b</p>", "a b"),
        ("5 < 6 and 7 > 6", "5 < 6 and 7 > 6"),
        ("no marks at all", "no marks at all"),
        ("<!-- never closed", ""),
        ("He said <! and <? too", "He said <! and <? too"),
    ],
)
def test_words_stay_and_marks_go(html: str, words: str) -> None:
    assert words_of(html) == words


def test_html_beyond_the_limit_is_returned_unchanged() -> None:
    html = "<p>" * 300_000
    assert words_of(html) == html

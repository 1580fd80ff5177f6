"""The tokenizer: what a token is, in every script, and that nothing a person can type breaks it."""

import random
import re
import sys
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import sqlcipher3.dbapi2 as driver
from hypothesis import given
from hypothesis import strategies as st

from echovessel.language import tokenizer as language_tokenizer
from echovessel.language.tokenizer import content_words, tokenize
from tests.table import each_row


@each_row(
    ("text", "tokens"),
    [
        ("Max's cats LOVED the café", ["max", "cat", "love", "the", "cafe"]),
        ("José’s dog", ["jose", "dog"]),
        ("I'll see, don't they?", ["i", "see", "dont", "they"]),
        ("snake_case at 12:30, x@y.org", ["snake", "case", "at", "12", "30", "x", "y", "org"]),
        ("ＦＵＬＬ　ｗｉｄｔｈ ①", ["full", "width", "1"]),
        ("Straße", ["strass"]),
        ("soft\u00adhyphen", ["softhyphen"]),
        ("Йод и йога", ["йод", "и", "йога"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("我家小黑3岁了", ["我", "家", "小", "黑", "我家", "家小", "小黑", "3", "岁", "了", "岁了"]),
        ("小黑，小白", ["小", "黑", "小黑", "小", "白", "小白"]),
        ("ﾀﾜｰに", ["タ", "ワ", "ー", "に", "タワ", "ワー", "ーに"]),
        ("철수가", ["철", "수", "가", "철수", "수가"]),
        ("รู้จัก", ["รู้", "จั", "ก", "รู้จั", "จัก"]),
        ("葛\U000e0100城", ["葛", "城", "葛城"]),
        ("🙂 … — !", []),
        ("", []),
    ],
)
def test_a_text_is_cut_into_these_tokens(text, tokens):
    assert tokenize(text) == tokens


def test_composed_and_decomposed_letters_are_the_same_token():
    assert tokenize("Cafe\u0301 ガ") == tokenize("Café カ\u3099")


def test_inflected_forms_meet_in_one_stem():
    assert tokenize("walking walked walks") == ["walk"] * 3


def test_a_very_long_word_is_cut_off_and_still_found_by_itself():
    assert tokenize("x" * 100_000 + " y") == ["x" * language_tokenizer.LONGEST, "y"]


@each_row(
    ("question", "tokens"),
    [
        ("What did I tell you about my cat Max's cat?", ["tell", "cat", "max"]),
        ("小黑在哪里呢？", ["小", "黑", "小黑", "黑在"]),
        ("私の犬です", ["私", "犬", "私の", "の犬", "犬で"]),
    ],
)
def test_a_question_is_asked_by_its_content_words_each_once(question, tokens):
    assert content_words(question) == tokens


@each_row("question", ["who are you?", "你是谁", "的", "のです"])
def test_a_question_of_function_words_alone_keeps_them(question):
    assert content_words(question) == list(dict.fromkeys(tokenize(question)))
    assert content_words(question)


def one_token_each(tokenizer, tokens):
    """Whether FTS5 with this tokenizer keeps every one of `tokens` as a single term."""
    connection = driver.connect(":memory:")
    connection.execute(f'CREATE VIRTUAL TABLE t USING fts5(body, tokenize="{tokenizer}")')
    connection.executemany("INSERT INTO t(rowid, body) VALUES (?, ?)", enumerate(tokens))
    connection.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, 'instance')")
    kept = [doc for (doc,) in connection.execute("SELECT doc FROM v ORDER BY doc")]
    connection.close()
    return kept == list(range(len(tokens)))


@given(st.text())
def test_no_token_holds_white_space_or_ascii_punctuation(text):
    for token in tokenize(text):
        assert token
        assert not any(char.isspace() or (char.isascii() and not char.isalnum()) for char in token)


@given(st.text())
def test_the_content_words_of_anything_are_some_of_its_tokens(text):
    assert set(content_words(text)) <= set(tokenize(text))
    assert bool(content_words(text)) == bool(tokenize(text))


def random_text(source):
    return "".join(chr(source.randrange(sys.maxunicode + 1)) for _ in range(source.randrange(40)))


@each_row("tokenizer", ["ascii", "unicode61 remove_diacritics 0 categories 'L* N* M* Co'"])
def test_every_token_of_ten_thousand_random_texts_is_one_term_of_the_index(tokenizer):
    source = random.Random(20261121)
    tokens = sorted({token for _ in range(10_000) for token in tokenize(random_text(source))})
    assert len(tokens) > 10_000
    if tokenizer == "ascii":
        assert one_token_each(tokenizer, tokens)
    else:  # unicode61 would do as well, but only with the marks added and for characters its tables know
        known = [token for token in tokens if token.isalnum()]
        assert one_token_each(tokenizer, known)


def test_every_letter_and_digit_of_unicode_is_in_some_token():
    apostrophe = "\u02bc"  # a letter by its category, and the one that separates words
    for char in map(chr, range(sys.maxunicode + 1)):
        if any(map(str.isalnum, unicodedata.normalize("NFKC", char))) and char != apostrophe:
            assert tokenize(char), f"U+{ord(char):04X}"


def test_threads_that_stem_at_the_same_time_do_not_mix_their_words():
    vocabulary = [f"{stem}{ending}" for stem in ("walk", "jump", "talk") for ending in ("ing", "ed", "s")]
    alone = [tokenize(f"{word}{word}ing") for word in vocabulary * 200]
    language_tokenizer._stem.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda word: tokenize(f"{word}{word}ing"), vocabulary * 200)) == alone


@given(st.text(st.sampled_from("abz09_ '.-éñ中文あ\u0301\u0345ß\u0e01\u0e31한²①x")))
def test_words_of_ascii_among_others_end_where_they_would_be_found_to_end_sign_by_sign(text):
    unspaced, marks = language_tokenizer._UNSPACED, language_tokenizer._MARKS
    signs = f"((?:[{unspaced}][{marks}]*)+)|((?:(?![{unspaced}])[^\\W_][{marks}]*)+)"
    folded = language_tokenizer._fold(text)
    assert language_tokenizer._RUN.findall(folded) == re.findall(signs, folded)

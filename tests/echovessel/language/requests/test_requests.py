"""What a message asks for: of tables of requests nearly all are heard, of look-alikes hardly any is taken for one.

`aside.tsv` was written before the rules, and measured before they were tuned: 75 of its 80 requests were heard, and 9
of its 156 look-alikes taken for one.
"""

import csv
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from echovessel.language.requests import Request, RequestKind, read_requests
from tests.table import each_row

HERE = Path(__file__).parent
MIN_HEARD, MAX_MISTAKEN = 0.95, 0.02


def rows(name: str) -> Iterator[tuple[str, str, str, str]]:
    """Kind, message, the message before and the open question."""
    with (HERE / name).open(encoding="utf-8") as lines:
        for row in csv.reader(
            (line for line in lines if not line.startswith("#")), "excel-tab", quoting=csv.QUOTE_NONE
        ):
            kind, message, previous, question = (*row, "", "", "")[:4]
            yield kind, message, previous, question


def look_alikes() -> list[str]:
    texts = [(HERE / f"look_alikes_{language}.txt").read_text(encoding="utf-8") for language in ("en", "zh")]
    fenced = [text.replace("```\n", "```").split("\n") for text in texts]
    return [line for lines in fenced for line in lines if line] + [
        row[1] for name in ("aside.tsv", "earlier.tsv") for row in rows(name) if row[0] == "-"
    ]


@each_row("name, at_least", [("requests.tsv", 240), ("aside.tsv", 80), ("earlier.tsv", 50)])
def test_requests_are_heard_or_asked_about(name: str, at_least: int) -> None:
    asked = [row for row in rows(name) if row[0] != "-"]
    missed = [
        (kind, message)
        for kind, message, previous, question in asked
        if kind not in {one.kind.value for one in read_requests(message, previous=previous, question=question)}
    ]
    assert len(asked) >= at_least
    assert len(missed) <= (1 - MIN_HEARD) * len(asked), missed


@each_row(
    ("message", "heard"),
    [
        ("oh and forget what i said about sixty croissants, no wait dont, its funny", []),
        ("Forget the loan. Actually, don't.", []),
        ("所以琴码那件事你忘了吧，别记着，丢人", [("forget", "琴码"), ("forget_this", "所以琴码那件事你忘了吧")]),
        ("跟你说的借给他八万那个事，你给我忘了，删掉", [("forget", "你说的借给他八万")]),
        ("他还没还清，吵架的时候他居然提这个，太难堪了", []),
        ("租的一居室，养了只柯基叫年糕", []),
        ("小星星。别笑。", []),
        ("noor is back in goal since april first, no joke", []),
    ],
)
def test_what_is_taken_back_or_only_told_asks_for_nothing(message: str, heard: list[tuple[str, str]]) -> None:
    assert [(one.kind.value, one.subject) for one in read_requests(message) if one.sure] == heard


def test_less_usual_ways_to_ask_are_mostly_heard() -> None:
    """What the rules hear of ways that nobody thought of when they were written is nearer to 0.65 than to this."""
    asked = list(rows("harder.tsv"))
    heard = [kind in {one.kind.value for one in read_requests(message)} for kind, message, *_ in asked]
    assert len(asked) > 150
    assert sum(heard) > 0.9 * len(asked)


# Lines of others, who had not seen the rules: at first they heard 0.52 of the English requests and
# 0.37 of the Chinese. The even half was then looked at. Of the odd half nobody has.
HALVES = {"en": {"even": 0.95, "odd": 0.75}, "zh": {"even": 0.90, "odd": 0.76}}


@pytest.mark.parametrize(("language", "half"), [(language, half) for language in HALVES for half in HALVES[language]])
def test_what_others_wrote_is_heard_or_asked_about_and_their_look_alikes_are_not_taken(
    language: str, half: str
) -> None:
    def of_half(name: str) -> list[dict[str, str]]:
        lines = (HERE / "aside" / f"{language}_{name}.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines[half == "even" :: 2]]

    def read(row: dict[str, str]) -> tuple[Request, ...]:
        return read_requests(row["text"], previous=row.get("previous", ""), question=row.get("question", ""))

    asked, look_alike = of_half("requests"), of_half("lookalikes")
    same = {"forget_this": "forget"}
    kinds = [{same.get(one.kind.value, one.kind.value) for one in read(row)} for row in asked]
    heard = [same.get(row["kind"], row["kind"]) in found for row, found in zip(asked, kinds, strict=True)]
    taken = [row["text"] for row in look_alike if any(one.sure for one in read(row))]
    assert sum(heard) >= HALVES[language][half] * len(asked)
    assert len(taken) <= MAX_MISTAKEN * len(look_alike), taken


def test_look_alikes_are_not_taken_for_requests() -> None:
    tried = look_alikes()
    mistaken = [message for message in tried if any(one.sure for one in read_requests(message))]
    assert len(tried) >= 400
    assert len(mistaken) <= MAX_MISTAKEN * len(tried), mistaken


def test_what_people_write_every_day_asks_for_nothing() -> None:
    texts = [
        Path("chat/care/lines", f"harmless.{language}.tsv").read_text(encoding="utf-8") for language in ("en", "zh")
    ]
    messages = [line.split("\t")[2] for text in texts for line in text.splitlines() if not line.startswith("#")]
    asking = [message for message in messages if any(one.sure for one in read_requests(message))]
    assert len(messages) > 6_000
    assert len(asking) < 30, asking  # some of these do ask: "call me Baz, everyone does"


def only(message: str, **context: str) -> Request:
    [one] = read_requests(message, **context)
    return one


@each_row(
    "message, subject",
    [
        ("Forget that I'm allergic to peanuts.", "I'm allergic to peanuts"),
        ("Please delete everything you know about Tom.", "Tom"),
        ("Forget what I told you about my weight, please.", "my weight"),
        ("請忘記關於我前男友的一切", "我前男友"),
        ("把我离婚的事忘了吧", "我离婚"),
        ("I kissed Tom. Forget I said that!", "I kissed Tom."),
        ("Remember that I’m vegan", "I’m vegan"),
        ("call me “Ace”", "Ace"),
        ("以后叫我老王就行", "老王"),
        ("When I'm sad, just be with me", "just be with me"),
        ("Please never ask about my father again.", "never ask about my father"),
        ("请别再问我爸的事", "别再问我爸的事"),
    ],
)
def test_a_subject_is_in_the_words_of_the_owner(message: str, subject: str) -> None:
    assert only(message).subject.rstrip(".") in (subject, subject.rstrip("."), f"{subject} again")


def test_what_others_called_the_owner_is_told_and_no_sure_request() -> None:
    for told in ("He showed us round and called me Bernie the whole time.", "called me Bernie all day"):
        assert not any(one.sure for one in read_requests(told)), told
    assert read_requests("I'd love it if you called me Bernie")[0].subject == "Bernie"


@each_row(
    "message, old, new",
    [
        ("Not Leeds, York.", "Leeds", "York"),
        ("It's York, not Leeds.", "Leeds", "York"),
        ("No, I said Austria, not Australia", "Australia", "Austria"),
        ("No, York.", "", "York"),
        ("Actually Ruth lives in York", "", "Ruth lives in York"),
        ("其实我妹妹学的是化学，不是生物", "生物", "化学"),
        ("不是利兹，是约克", "利兹", "约克"),
        ("不对，是约克", "", "约克"),
        ("她叫安娜，不叫安妮", "安妮", "安娜"),
    ],
)
def test_a_correction_tells_what_was_said_and_what_is_right(message: str, old: str, new: str) -> None:
    one = only(message)
    assert (one.kind, one.old, one.new) == (RequestKind.CORRECTION, old, new)


@each_row(
    "message, kind, text",
    [
        ("Just listen.", "always", ""),
        ("When I'm sad, just be with me", "feeling", "When I'm sad"),
        ("be gentle with me when I'm tired", "feeling", "when I'm tired"),
        ("When I talk about work, don't offer solutions", "topic", "When I talk about work"),
        ("When Tom comes up, be careful.", "person", "When Tom comes up"),
        ("我难过的时候，你陪着我就好", "feeling", "我难过的时候"),
        ("聊工作的时候别急着给建议", "topic", "聊工作的时候"),
        ("Next time I'm like this, remember: call Ben first.", "feeling", "Next time I'm like this"),
    ],
)
def test_a_condition_is_told_with_the_wish(message: str, kind: str, text: str) -> None:
    condition = only(message).condition
    assert (condition.kind, condition.text) == (kind, text)


@each_row("message", ["Never ask about my father.", "别再问我爸的事", "Don't mention my weight."])
def test_a_wish_that_something_be_left_alone_is_a_boundary(message: str) -> None:
    assert only(message).is_boundary
    assert not only("Speak shorter.").is_boundary


def test_a_message_may_ask_for_several_things() -> None:
    kinds = [
        one.kind.value for one in read_requests("Call me Sam. And never ask about my father. Forget that I smoke.")
    ]
    assert kinds == ["name", "wish", "forget"]


@pytest.mark.parametrize(
    "piece", ["no, ", "forget that ", "我难过的时候", "when I am ", "不是", "*", '"', "a", "not x, ", "((("]
)
def test_a_long_message_is_read_in_little_time(piece: str) -> None:
    began = time.perf_counter()
    read_requests(piece * (20_000 // len(piece)))
    assert time.perf_counter() - began < 2

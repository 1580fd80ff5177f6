"""A reply is paid for once: what is in the reply store is not asked for again."""

import logging
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from pydantic import BaseModel

from echovessel import llm
from echovessel.llm import ledger
from echovessel.llm.models import LLMCall
from tests.scripted import Script

pytestmark = pytest.mark.django_db


class Yes(BaseModel):
    """The smallest answer."""

    yes: bool


class PaperStore:
    """A reply store on paper."""

    def __init__(self, *replies: llm.Reply) -> None:
        self.replies = list(replies)
        self.together: list[bool] = []

    def load(self) -> Sequence[llm.Reply]:
        return list(self.replies)

    def save(self, number: int, reply: llm.Reply) -> None:
        assert number == len(self.replies)
        self.replies.append(reply)
        self.together.append(transaction.get_connection().in_atomic_block and LLMCall.objects.exists())


def said(text: str, *, whole: bool = True) -> llm.Reply:
    return llm.Reply(text, whole, llm.Usage(100, 0, 7))


def asked(store: llm.ReplyStore | None = None, **how: Any) -> llm.Answer[Yes]:
    request = llm.Request(system="", user="Yes?", tier="small", purpose="extraction", max_tokens=5)
    return llm.answer_now(request, Yes, replies=store, **how)


def test_a_reply_is_kept_in_the_transaction_of_its_ledger_row(scripted: Script) -> None:
    scripted.answers({"yes": True})
    store = PaperStore()
    assert asked(store).value.yes
    assert [(reply.text, reply.whole) for reply in store.replies] == [('{"yes": true}', True)]
    assert store.together == [True]
    assert LLMCall.objects.count() == 1


def test_a_reply_that_was_heard_is_not_asked_for_and_still_counts_in_the_answer(scripted: Script) -> None:
    answer = asked(PaperStore(said('{"yes": true}')))
    assert answer.value.yes
    assert answer.usage == llm.Usage(100, 0, 7)
    assert not scripted.requests
    assert not LLMCall.objects.exists()


def test_after_a_bad_reply_that_was_heard_only_the_second_question_is_asked(scripted: Script) -> None:
    scripted.answers({"yes": True})
    store = PaperStore(said("Perhaps."))
    answer = asked(store)
    assert (answer.value.yes, answer.usage.tokens_in) == (True, 110)
    [request] = scripted.requests
    assert "Perhaps." in request.user
    assert [reply.text for reply in store.replies] == ["Perhaps.", '{"yes": true}']


def test_two_bad_replies_that_were_heard_are_unreadable_without_asking(scripted: Script) -> None:
    with pytest.raises(llm.AnswerUnreadable) as caught:
        asked(PaperStore(said("Perhaps."), said("Who knows.")))
    assert caught.value.raw == "Who knows."
    assert not scripted.requests


def test_bad_replies_are_kept_too(scripted: Script) -> None:
    scripted.answers("Perhaps.", "Who knows.")
    store = PaperStore()
    with pytest.raises(llm.AnswerUnreadable):
        asked(store)
    assert [reply.text for reply in store.replies] == ["Perhaps.", "Who knows."]
    assert LLMCall.objects.count() == 2


def test_a_call_that_failed_leaves_a_row_and_no_reply(scripted: Script) -> None:
    scripted.answers(llm.LLMError("down", code="provider_unavailable", permanent=False))
    store = PaperStore()
    with pytest.raises(llm.LLMError):
        asked(store)
    assert not store.replies
    assert LLMCall.objects.get().outcome == "provider_unavailable"


def test_a_reply_that_cannot_be_kept_is_used_and_paid_all_the_same(
    scripted: Script, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(self: PaperStore, number: int, reply: llm.Reply) -> None:
        raise IntegrityError("no room")

    monkeypatch.setattr(PaperStore, "save", broken)
    scripted.answers({"yes": True})
    with caplog.at_level(logging.ERROR):
        assert asked(PaperStore()).value.yes
    assert LLMCall.objects.count() == 1
    assert "could not be kept" in caplog.text


def test_a_ledger_that_cannot_be_written_is_a_log_line_and_no_lost_answer(
    scripted: Script, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(row: LLMCall) -> None:
        raise IntegrityError("no room")

    monkeypatch.setattr(ledger, "insert", broken)
    scripted.answers({"yes": True})
    with caplog.at_level(logging.ERROR):
        assert asked(PaperStore()).value.yes
    assert "not in the ledger" in caplog.text


def test_an_asker_that_was_fenced_out_hears_so_and_the_call_is_in_the_ledger(
    scripted: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Fenced(Exception):
        pass

    def fenced(self: PaperStore, number: int, reply: llm.Reply) -> None:
        raise Fenced

    monkeypatch.setattr(PaperStore, "save", fenced)
    scripted.answers({"yes": True})
    with pytest.raises(Fenced):
        asked(PaperStore())
    assert LLMCall.objects.count() == 1


def test_usage_is_plain_data() -> None:
    usage = llm.Usage(10, 3, 5, estimated=True)
    assert llm.Usage(**asdict(usage)) == usage


def no_without_reason(value: Yes) -> str:
    return "" if value.yes else "Say why not."


def test_a_doubtful_answer_is_asked_again_with_the_doubt_in_words(scripted: Script) -> None:
    scripted.answers({"yes": False}, {"yes": True})
    assert asked(doubt=no_without_reason).value.yes
    assert "Say why not." in scripted.requests[1].user
    assert '{"yes": false}' in scripted.requests[1].user


def test_a_second_doubtful_answer_is_taken_as_it_is(scripted: Script) -> None:
    scripted.answers({"yes": False}, {"yes": False})
    assert not asked(doubt=no_without_reason).value.yes
    assert len(scripted.requests) == 2


def test_a_doubtful_answer_stands_where_the_second_cannot_be_read(scripted: Script) -> None:
    scripted.answers({"yes": False}, "I said no.")
    answer = asked(doubt=no_without_reason)
    assert (answer.value.yes, answer.raw) == (False, '{"yes": false}')
    assert answer.usage == llm.Usage(20, 0, 10)


def test_an_answer_without_doubt_is_asked_for_once(scripted: Script) -> None:
    scripted.answers({"yes": True})
    assert asked(doubt=no_without_reason).value.yes
    assert len(scripted.requests) == 1


def test_a_half_answer_is_asked_again_and_a_second_half_is_never_completed(scripted: Script) -> None:
    store = PaperStore(said('{"yes": true', whole=False), said('{"yes": true', whole=False))
    with pytest.raises(llm.AnswerUnreadable):
        asked(store)


def test_of_an_answer_that_babbles_only_the_beginning_is_shown_again(scripted: Script) -> None:
    scripted.answers("</your_answer> no " + "x" * 1_000_000, {"yes": True})
    assert asked().value.yes
    again = scripted.requests[1].user
    assert len(again) < 50_000
    assert again.count("</your_answer>") == 1

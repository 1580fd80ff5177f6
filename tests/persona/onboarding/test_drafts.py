"""Drafts of core blocks: proposed once, and in a block by a person's hand alone."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.contrib.auth.models import User

from persona.models import CoreDraft, Persona
from persona.models.core_block import MAX_CHARACTERS
from persona.onboarding import drafts
from persona.onboarding.drafts import DraftRefused, DraftSource
from tests.memory.sessions import NOW

pytestmark = pytest.mark.django_db

LATER = NOW + timedelta(hours=1)


def proposed(persona: Persona, text: str, label: str = "user") -> CoreDraft:
    draft = drafts.propose(persona, label, text, [DraftSource("words of it", where="line 1")], uuid4(), NOW)
    assert draft is not None
    return draft


def content(persona: Persona, label: str = "user") -> str:
    return drafts.block_texts(persona)[label]


def test_a_draft_is_proposed_with_the_words_that_it_rests_on(mira: Persona) -> None:
    said_in = uuid4()
    draft = drafts.propose(
        mira, "user", " Ana sails. ", [DraftSource("I sail", said_in, NOW), DraftSource("a boat")], None, NOW
    )
    assert draft is not None
    assert (draft.text, draft.status, draft.created_at) == ("Ana sails.", "open", NOW)
    assert [(one.quote, one.said_in, one.said_at) for one in draft.quotes.all()] == [
        ("I sail", said_in, NOW),
        ("a boat", None, None),
    ]


def test_the_same_text_is_proposed_once_whatever_became_of_it(mira: Persona, ana: User) -> None:
    drafts.reject(proposed(mira, "Ana sails."), ana, NOW)
    assert drafts.propose(mira, "user", "ana   SAILS.", [], None, LATER) is None
    assert proposed(mira, "Ana sails.", "persona").label == "persona"
    assert CoreDraft.objects.count() == 2


def test_a_letter_written_in_two_ways_is_the_same(mira: Persona, ana: User) -> None:
    drafts.reject(proposed(mira, "Zoé rows."), ana, NOW)
    assert drafts.propose(mira, "user", "Zoe\u0301 rows.", [], None, LATER) is None


def test_what_stands_in_the_block_is_not_proposed_and_what_only_begins_like_it_is(mira: Persona, ana: User) -> None:
    mira.core_blocks.get(label="user").rewrite("Ana is a nursery teacher.\nAna loves tea.", ana)
    assert drafts.propose(mira, "user", "Ana loves  tea.", [], None, NOW) is None
    assert proposed(mira, "Ana is a nurse")


@pytest.mark.parametrize("text", ["", "  \n", "x" * (MAX_CHARACTERS + 1)])
def test_an_empty_or_too_long_text_is_no_draft(mira: Persona, text: str) -> None:
    with pytest.raises(ValueError, match="no block"):
        drafts.propose(mira, "user", text, [], None, NOW)


def test_accepting_adds_a_line_by_a_persons_hand_and_keeps_the_version_before(mira: Persona, ana: User) -> None:
    block = mira.core_blocks.get(label="user")
    block.rewrite("Ana is a cook.\n", ana)
    draft = drafts.accept(proposed(mira, "Ana sails."), None, ana, LATER)
    assert (draft.status, draft.decided_by, draft.decided_at) == ("accepted", ana, LATER)
    block.refresh_from_db()
    assert block.content == "Ana is a cook.\nAna sails."
    assert block.edited_by == ana
    assert block.versions.first().content == "Ana is a cook.\n"


def test_an_empty_block_begins_with_the_draft_and_an_edited_one_comes_as_edited(mira: Persona, ana: User) -> None:
    mira.core_blocks.get(label="style").rewrite("", ana)
    draft = drafts.accept(proposed(mira, "Mira is brief.", "style"), " Mira is brief, and warm. ", ana, NOW)
    assert content(mira, "style") == "Mira is brief, and warm."
    assert draft.text == "Mira is brief."


def test_what_was_written_meanwhile_is_not_added_twice(mira: Persona, ana: User) -> None:
    draft = proposed(mira, "Ana sails.")
    mira.core_blocks.get(label="user").rewrite("Ana sails.", ana)
    drafts.accept(draft, None, ana, NOW)
    assert content(mira) == "Ana sails."


def test_a_block_that_would_be_too_long_is_left_as_it_is_and_the_draft_open(mira: Persona, ana: User) -> None:
    mira.core_blocks.get(label="user").rewrite("x" * (MAX_CHARACTERS - 9), ana)
    draft = proposed(mira, "Ana sails.")
    assert drafts.room(mira, "user") == 8
    with pytest.raises(DraftRefused, match="2 characters too long") as refused:
        drafts.accept(draft, None, ana, NOW)
    assert refused.value.code == "too_long"
    draft.refresh_from_db()
    assert draft.status == "open"
    drafts.accept(draft, "Sailing.", ana, NOW)
    assert len(content(mira)) == MAX_CHARACTERS
    assert drafts.room(mira, "user") == -1


def test_nothing_cannot_be_accepted(mira: Persona, ana: User) -> None:
    with pytest.raises(DraftRefused) as refused:
        drafts.accept(proposed(mira, "Ana sails."), "  ", ana, NOW)
    assert refused.value.code == "empty"
    assert CoreDraft.objects.open().exists()


def test_a_decided_draft_cannot_be_decided_again(mira: Persona, ana: User) -> None:
    accepted, rejected = proposed(mira, "Ana sails."), proposed(mira, "Ana rows.")
    drafts.accept(accepted, None, ana, NOW)
    drafts.reject(rejected, ana, NOW)
    before = content(mira)
    for draft in (accepted, rejected):
        for again in (lambda one: drafts.accept(one, None, ana, LATER), lambda one: drafts.reject(one, ana, LATER)):
            with pytest.raises(DraftRefused) as refused:
                again(draft)
            assert refused.value.code == "decided"
    assert content(mira) == before
    assert not CoreDraft.objects.open().exists()


def test_room_of_an_empty_block_is_all_of_it(mira: Persona, ana: User) -> None:
    mira.core_blocks.get(label="style").rewrite("", ana)
    assert drafts.room(mira, "style") == MAX_CHARACTERS

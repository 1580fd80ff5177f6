"""Drafts of core blocks quote messages: they are deleted with them, whatever was decided on the draft."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from memory import forgetting
from memory.forgetting import Choice, Target, plan, verify
from memory.models import ConceptNode, ImportJob, ImportRun, Receipt
from memory.store.checks import broken_invariants
from persona.models import CoreDraft, DraftQuote, Persona
from persona.onboarding import drafts
from persona.onboarding.drafts import DraftSource
from tests.memory.forgetting.life import FORGOTTEN, NOW, TOLD, Life, entity, lived

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(hours=9)


@pytest.fixture
def life(mira: Persona) -> Life:
    return lived(mira)


def propose_draft(life: Life, text: str, *words: DraftSource, **fields: Any) -> CoreDraft:
    draft = drafts.propose(life.persona, "user", text, words, fields.get("import_uuid"), NOW)
    assert draft is not None
    return draft


def quote_message(message: Any, quote: str) -> DraftSource:
    return DraftSource(quote, message.uuid, message.created_at)


def forget(kind: Any, key: int, choice: Choice | None = None) -> Receipt:
    choices = [choice] if choice else []
    planned = plan([Target(kind, key)], *choices)
    receipt = forgetting.forget(planned, None, LATER)
    assert receipt.counts == planned.counts
    return receipt


def remaining_texts() -> set[str]:
    texts = set(CoreDraft.objects.values_list("text", flat=True))
    assert not DraftQuote.objects.filter(draft=None).exists()
    return texts


@pytest.mark.parametrize("status", ["open", "accepted", "rejected"])
def test_a_forgotten_message_takes_the_drafts_that_rest_on_it(life: Life, status: str) -> None:
    propose_draft(
        life, "Ana has cats.", quote_message(life.told, "My cat"), quote_message(life.pottery_told, "I started pottery")
    )
    propose_draft(life, "Ana makes pots.", quote_message(life.pottery_told, "I started pottery"))
    CoreDraft.objects.update(status=status)
    receipt = forget("message", life.told.pk)
    assert remaining_texts() == {"Ana makes pots."}
    assert DraftQuote.objects.count() == 1
    assert (receipt.counts["persona_coredraft"], receipt.counts["persona_draftquote"]) == (1, 2)


def test_a_draft_from_a_file_is_deleted_when_it_repeats_forgotten_text(life: Life) -> None:
    propose_draft(life, FORGOTTEN[1], DraftSource("as it stands in a card", where="card, description"))
    propose_draft(life, "She has a story.", DraftSource(f"And then: {TOLD}", where="card, scenario"))
    propose_draft(life, "Ana likes bread.", DraftSource("bread", where="card, description"))
    forget("node", life.milo.pk, Choice())
    assert remaining_texts() == {"Ana likes bread."}
    assert {hit.place for hit in verify.find_texts([TOLD, FORGOTTEN[1]])} == set()


def test_a_draft_goes_with_whom_it_names(life: Life) -> None:
    ship = entity(life.persona, "Bellerophon", life.pottery)
    propose_draft(life, "Ana sails on the Bellerophon.", DraftSource("Bellerophon", where="memory 3"))
    forget("entity", ship.pk)
    assert remaining_texts() == set()


def test_what_is_put_away_is_no_ground_for_a_draft_any_more(life: Life) -> None:
    propose_draft(life, "Ana has cats.", quote_message(life.told, "My cat"))
    forget("node", life.milo.pk, Choice(messages="withhold"))
    life.told.refresh_from_db()
    assert life.told.withheld
    assert remaining_texts() == set()
    assert "drafts_of_lines_gone" not in broken_invariants(LATER)


def test_what_a_person_accepted_is_the_persons(life: Life) -> None:
    drafts.accept(
        propose_draft(life, "Ana has cats.", quote_message(life.told, "My cat")), None, life.persona.owner, NOW
    )
    forget("message", life.told.pk)
    assert drafts.block_texts(life.persona)["user"].endswith("Ana has cats.")


def test_a_forgotten_import_takes_its_drafts_even_where_it_brought_nothing_else(life: Life) -> None:
    run = ImportRun.objects.create(persona=life.persona, at=NOW)
    propose_draft(life, "Ana is a nurse.", DraftSource("a nurse", where="card, description"), import_uuid=run.uuid)
    propose_draft(life, "Ana rows.", DraftSource("rows", where="card, description"), import_uuid=uuid4())
    forget("import", run.pk)
    assert remaining_texts() == {"Ana rows."}
    assert not ImportRun.objects.filter(pk=run.pk).exists()


@pytest.mark.parametrize("kind", ["persona", "owner"])
def test_with_the_persona_and_with_the_owner_all_drafts_go(life: Life, otto: Persona, kind: str) -> None:
    propose_draft(life, "Ana has cats.", quote_message(life.told, "My cat"))
    foreign_draft = drafts.propose(otto, "user", "Ben rows.", [DraftSource("rows")], None, NOW)
    receipt = forget(kind, life.persona.pk if kind == "persona" else life.persona.owner_id)
    assert list(CoreDraft.objects.all()) == [foreign_draft]
    assert DraftQuote.objects.count() == 1
    assert (receipt.counts["persona_coredraft"], receipt.counts["persona_draftquote"]) == (1, 1)


def test_who_is_drafting_loses_the_import_when_something_is_forgotten(life: Life) -> None:
    job = ImportJob.objects.create(
        owner=life.persona.owner, persona=life.persona, status="drafting", file_name="x", file_size=1, created_at=NOW,
        holder="somebody", lease_until=LATER + timedelta(hours=1),
    )  # fmt: skip
    forget("message", life.told.pk)
    job.refresh_from_db()
    assert (job.holder, job.lease_until) == ("", None)


# --- invariants -----------------------------------------------------------------------------------------------------
def test_drafts_of_messages_that_are_gone_astray_or_of_others_are_found(life: Life, otto: Persona) -> None:
    propose_draft(life, "Ana has cats.", quote_message(life.told, "My cat"))
    assert not {name for name in broken_invariants(LATER) if name.startswith("drafts_")}
    propose_draft(life, "Ana rows.", DraftSource("my cat", life.told.uuid), DraftSource("gone", uuid4()))
    drafts.propose(otto, "user", "Ben has cats.", [quote_message(life.told, "My cat")], None, NOW)
    counts = broken_invariants(LATER)
    assert {name: count for name, count in counts.items() if name.startswith("drafts_")} == {
        "drafts_of_lines_gone": 1,
        "drafts_of_lines_of_others": 1,
        "drafts_out_of_place": 1,
    }
    assert ConceptNode.objects.exists()

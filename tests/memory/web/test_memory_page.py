"""The owner's memory pages, without JavaScript."""

import re
from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from chat.messages import receive_message
from chat.models import Message
from chat.turns import turn as turns
from memory.models import Alias, ConceptNode, Entity, Evidence, Filling, Mention, MergeProposal, Receipt
from persona.models import Persona

pytestmark = pytest.mark.django_db
Remember = Callable[..., ConceptNode]
PAYLOAD = "<img src=x onerror=alert(1)><script>alert(2)</script>"


@pytest.fixture
def owner(mira: Persona, client: Client) -> Client:
    """The owner's browser."""
    client.force_login(mira.owner)
    return client


def send_message(persona: Persona, words: str) -> Message:
    return receive_message(persona, words, None, "web", timezone.now()).message


def remember_message(remember: Remember, message: Message, description: str, **fields: Any) -> ConceptNode:
    node = remember(message.persona, description, session=message.session, **fields)
    Evidence.objects.create(node=node, message=message, quote=message.content, start=0, end=len(message.content))
    return node


def at(node: ConceptNode, action: str = "") -> str:
    return f"/memory/{node.persona.uuid}/nodes/{node.uuid}/{action + '/' if action else ''}"


def correction(node: ConceptNode, **fields: Any) -> dict[str, Any]:
    return {"description": node.description, "emotional_impact": node.emotional_impact} | fields


# --- list -----------------------------------------------------------------------------------------------------------
def test_a_memory_is_shown_with_its_words_and_what_was_concluded(
    owner: Client, mira: Persona, remember: Remember
) -> None:
    event = remember_message(remember, send_message(mira, "I adopted a white cat."), "Ana adopted a cat.")
    thought = remember(mira, "Ana is fond of animals.", kind="thought")
    Filling.objects.create(parent=thought, child=event)
    Filling.objects.create(parent=thought, child=None, orphaned=True)
    below = owner.get(at(event)).content.decode()
    assert "I adopted a white cat." in below
    assert at(thought) in below
    above = owner.get(at(thought)).content.decode()
    assert at(event) in above
    assert 'data-testid="orphaned"' in above


def test_words_that_are_sought_come_by_post_alone(owner: Client, mira: Persona, remember: Remember) -> None:
    remember(mira, "Ana adopted a cat.")
    remember(mira, "Ana sings.")
    address = f"/memory/{mira.uuid}/"
    page = owner.post(address, {"text": "cat", "how": "words"}).content.decode()
    assert ("Ana adopted a cat." in page, "Ana sings." in page) == (True, False)
    assert "Ana sings." in owner.get(f"{address}?text=cat").content.decode()
    assert "Ana sings." in owner.get(f"{address}?kind=nonsense&since=never&entity={mira.uuid}").content.decode()


def test_a_search_goes_on_with_its_words_and_filters(owner: Client, mira: Persona, remember: Remember) -> None:
    for number in range(31):
        remember(mira, f"Cat {number:02}.", created_at=timezone.now() + timedelta(seconds=number))
    query = {"text": "cat", "how": "words", "kind": "event"}
    first = owner.post(f"/memory/{mira.uuid}/", query)
    assert first.content.decode().count('data-testid="memory-row"') == 30
    assert {name: first.context["next"] and query[name] for name in query} == query
    hidden = first.content.decode()
    assert 'name="kind" value="event"' in hidden
    second = owner.post(f"/memory/{mira.uuid}/", query | {"before": first.context["next"]}).content.decode()
    assert second.count('data-testid="memory-row"') == 1
    assert "Cat 00." in second


def test_a_action_on_what_was_found_leads_back_to_the_search(owner: Client, mira: Persona, remember: Remember) -> None:
    cat = remember(mira, "Ana adopted a cat.")
    remember(mira, "Ana sings.")
    query = {"text": "cat", "how": "words", "status": "active"}
    page = owner.post(f"/memory/{mira.uuid}/", query).content.decode()
    row = page[page.index(f'data-node="{cat.uuid}"') :]
    assert all(f'name="{name}" value="{value}"' in row for name, value in query.items())
    answer = owner.post(at(cat, "hide"), query)
    assert (answer.status_code, answer.url) == (307, f"/memory/{mira.uuid}/")  # type: ignore[attr-defined]
    cat.refresh_from_db()
    assert cat.status == "hidden"


def test_days_in_the_wrong_order_are_taken_as_meant(owner: Client, mira: Persona, remember: Remember) -> None:
    remember(mira, "Ana sings.")
    page = owner.get(f"/memory/{mira.uuid}/?since=2999-01-01&until=1999-01-01").content.decode()
    assert "Ana sings." in page


def test_nothing_with_words_is_kept_by_a_browser(owner: Client, mira: Persona, remember: Remember) -> None:
    node = remember_message(remember, send_message(mira, "I sing."), "Ana sings.")
    entity = Entity.objects.create(persona=mira, canonical_name="Ben")
    for address in (
        f"/memory/{mira.uuid}/",
        at(node),
        f"/memory/{mira.uuid}/forget/?node={node.uuid}",
        f"/memory/{mira.uuid}/people/",
        f"/memory/{mira.uuid}/people/{entity.uuid}/",
        f"/memory/{mira.uuid}/names/",
        f"/memory/{mira.uuid}/receipts/",
        f"/memory/{mira.uuid}/timeline/",
        f"/chat/{mira.uuid}/",
        "/account/",
        "/account/delete/",
    ):
        answer = owner.get(address)
        assert answer.status_code == 200, address
        assert "no-store" in answer["Cache-Control"], address


def test_what_somebody_made_of_html_is_inert_on_every_page(owner: Client, mira: Persona, remember: Remember) -> None:
    message = send_message(mira, PAYLOAD)
    node = remember_message(remember, message, f"Ana wrote {PAYLOAD}", emotion_tags=[PAYLOAD])
    first, other = (
        Entity.objects.create(persona=mira, canonical_name=PAYLOAD[:100], description=PAYLOAD) for _ in range(2)
    )
    for entity in (first, other):
        Alias.objects.create(entity=entity, persona=mira, text=PAYLOAD[:90], normalized=PAYLOAD[:90])
        Mention.objects.create(node=node, entity=entity)
    MergeProposal.objects.create(a=first, b=other, score=0.5, reasons=[PAYLOAD])
    node.versions.create(version=1, description=PAYLOAD, emotional_impact=0, edited_at=timezone.now())
    Message.objects.filter(pk=message.pk).update(withheld=True)
    answers = [
        owner.get(address)
        for address in (
            f"/memory/{mira.uuid}/",
            at(node),
            f"/memory/{mira.uuid}/forget/?node={node.uuid}",
            f"/memory/{mira.uuid}/people/",
            f"/memory/{mira.uuid}/people/{first.uuid}/",
            f"/memory/{mira.uuid}/names/",
            f"/memory/{mira.uuid}/learned/?session={message.session.uuid}",
            f"/memory/{mira.uuid}/timeline/",
        )
    ] + [owner.post(f"/memory/{mira.uuid}/", {"text": "<img", "how": how}) for how in ("words", "said")]
    for answer in answers:
        assert answer.status_code == 200
        assert "<img src=x" not in answer.content.decode(), answer.request["PATH_INFO"]
        assert "&lt;img" in answer.content.decode(), answer.request["PATH_INFO"]


# --- corrections and other actions that can be undone ---------------------------------------------------------------
def test_a_correction_holds_and_the_words_before_can_be_brought_back(
    owner: Client, mira: Persona, remember: Remember
) -> None:
    node = remember(mira, "The interview is on Thursday.", emotional_impact=-2, emotion_tags=["fear"])
    answer = owner.post(
        at(node, "correct"),
        correction(
            node, description="The interview is on Friday.", emotion_tags="hope， calm", event_time_end="2026-12-04"
        ),
        follow=True,
    )
    assert "The interview is on Friday." in answer.content.decode()
    node.refresh_from_db()
    assert (node.emotion_tags, node.verification) == (["hope", "calm"], "confirmed")
    assert (str(node.event_time_start), str(node.event_time_end)) == ("2026-12-04", "2026-12-04")
    owner.post(at(node, "restore"), {"version": "1"})
    node.refresh_from_db()
    assert (node.description, node.emotion_tags, node.event_time_start) == (
        "The interview is on Thursday.",
        ["fear"],
        None,
    )
    assert owner.post(at(node, "restore"), {"version": "77"}).status_code == 404


@pytest.mark.parametrize(
    "wrong",
    [
        {"description": "  "},
        {"description": "x" * 2_001},
        {"emotional_impact": "11"},
        {"emotional_impact": "much"},
        {"event_time_start": "2026-12-05", "event_time_end": "2026-12-04"},
        {"event_time_start": "soon"},
        {"emotion_tags": "a,b,c,d,e"},
        {"relational_tags": "whatever"},
    ],
)
def test_what_is_no_correction_is_said_beside_its_field_and_changes_nothing(
    owner: Client, mira: Persona, remember: Remember, wrong: dict[str, str]
) -> None:
    node = remember(mira, "Ana sings.")
    answer = owner.post(at(node, "correct"), correction(node) | wrong)
    assert answer.status_code == 422
    assert "<li>" in answer.content.decode().split("errorlist", 1)[1]
    node.refresh_from_db()
    assert (node.description, node.versions.count()) == ("Ana sings.", 0)


def test_actions_are_done_and_taken_back_and_lead_back_to_where_one_was(
    owner: Client, mira: Persona, remember: Remember
) -> None:
    node = remember(mira, "Ana sings.")
    states = []
    for action in ("hide", "show", "pin", "unpin", "confirm", "dispute", "archive", "unarchive"):
        owner.post(at(node, action))
        node.refresh_from_db()
        states.append((node.status, node.pinned, node.verification))
    assert states == [
        ("hidden", False, "unverified"),
        ("active", False, "unverified"),
        ("active", True, "unverified"),
        ("active", False, "unverified"),
        ("active", False, "confirmed"),
        ("active", False, "disputed"),
        ("archived", False, "disputed"),
        ("active", False, "disputed"),
    ]
    assert owner.post(at(node, "pin"), {"next": "/account/"}).url == "/account/"  # type: ignore[attr-defined]
    assert owner.post(at(node, "pin"), {"next": "https://evil.example/"}).url == at(node)  # type: ignore[attr-defined]
    assert owner.post(at(node, "explode")).status_code == 404
    assert owner.get(at(node, "hide")).status_code == 405


def test_actions_ask_for_the_token_of_the_form(mira: Persona, remember: Remember) -> None:
    node = remember(mira, "Ana sings.")
    careful = Client(enforce_csrf_checks=True)
    careful.force_login(mira.owner)
    for address in (at(node, "hide"), f"/memory/{mira.uuid}/forget/", "/account/delete/"):
        assert careful.post(address, {"node": node.uuid, "confirm": "1"}).status_code == 403
    answer = careful.delete(f"/api/personas/{mira.uuid}/nodes/{node.uuid}")
    assert answer.status_code in (401, 403)
    node.refresh_from_db()
    assert node.status == "active"


# --- forgetting -----------------------------------------------------------------------------------------------------
def preview_forgetting(client: Client, persona: Persona, **data: Any) -> Any:
    return client.get(f"/memory/{persona.uuid}/forget/", data)


def confirm_forgetting(client: Client, persona: Persona, digest: str, **data: Any) -> Any:
    return client.post(f"/memory/{persona.uuid}/forget/", data | {"digest": digest, "confirm": "1"})


def test_forgetting_with_another_choice_than_previewed_asks_again(
    owner: Client, mira: Persona, remember: Remember
) -> None:
    message = send_message(mira, "I adopted a white cat named Snowball.")
    turn = turns.claim(mira.pk, timezone.now())
    assert turn is not None
    turns.finish(turn, "A cat!", stopped=False, first_token_at=None, xray={}, now=timezone.now())
    node = remember_message(remember, message, "Ana adopted a cat.")
    digest = preview_forgetting(owner, mira, node=node.uuid).context["preview"]["digest"]
    other = confirm_forgetting(owner, mira, digest, node=node.uuid, messages="withhold")
    assert other.status_code == 409
    assert ConceptNode.objects.filter(pk=node.pk).exists()
    assert "has changed in the meantime" in other.content.decode()
    response = confirm_forgetting(owner, mira, other.context["preview"]["digest"], node=node.uuid, messages="withhold")
    receipt = Receipt.objects.get()
    assert response.url == f"/account/receipts/{receipt.uuid}/"
    assert not ConceptNode.objects.filter(pk=node.pk).exists()
    message.refresh_from_db()
    assert message.withheld
    page = owner.get(response.url).content.decode()
    assert "It has been forgotten" in page
    assert "Snowball" not in page
    assert str(receipt.uuid) in owner.get(f"/memory/{mira.uuid}/receipts/").content.decode()


def test_a_wish_is_let_go_in_calm_words_and_a_memory_with_all_its_consequences(
    owner: Client, mira: Persona, remember: Remember
) -> None:
    wish = remember(mira, "Never call before nine.", kind="lesson", scope="always", subject="user")
    page = preview_forgetting(owner, mira, node=wish.uuid).content.decode()
    assert "Is this wish no longer wanted?" in page
    assert "You can ask for it again at any time." in page
    assert "for good" not in page.partition('data-testid="plan"')[0]
    assert f"{wish.uuid}" in owner.get(f"/memory/{mira.uuid}/wishes/").content.decode()
    both = {"node": [str(wish.uuid), str(remember(mira, "Ana sings.").uuid)]}
    page = owner.get(f"/memory/{mira.uuid}/forget/", both).content.decode()
    assert "Forget this?" in page
    assert "This cannot be undone." in page


def test_a_message_that_also_says_it_is_chosen_for_itself(owner: Client, mira: Persona, remember: Remember) -> None:
    node = remember_message(remember, send_message(mira, "I have sarcoidosis."), "Ana has sarcoidosis.")
    later = send_message(mira, "The sarcoidosis pills are bitter.")
    page = preview_forgetting(owner, mira, node=node.uuid)
    [group] = page.context["preview"]["mentioned"]
    assert [(item.text, item.mode) for item in group.items] == [(later.content, "leave")]
    assert "Also mentioned in" in page.content.decode()
    posted = {f"mention-{later.pk}": "withhold", f"proposed-{later.pk}": "leave", "messages": "forget"}
    again = owner.post(f"/memory/{mira.uuid}/forget/", posted | {"node": node.uuid})
    assert again.context["preview"]["mentioned"][0].items[0].mode == "withhold"
    response = confirm_forgetting(owner, mira, again.context["preview"]["digest"], node=node.uuid, **posted)
    assert response.status_code == 302
    later.refresh_from_db()
    assert later.withheld
    assert "kept-elsewhere" not in owner.get(response.url).content.decode()


def test_a_receipt_says_what_is_gone_and_what_was_kept(owner: Client, mira: Persona) -> None:
    first = send_message(mira, "I should have called my father back that evening.")
    send_message(mira, "I should have called my father back that evening")
    digest = preview_forgetting(owner, mira, message=first.uuid).context["preview"]["digest"]
    response = confirm_forgetting(owner, mira, digest, message=first.uuid)
    Receipt.objects.update(status=Receipt.Status.DONE)
    for page in (owner.get(response.url).content.decode(), owner.post(response.url).content.decode()):
        assert "What was on the list is gone, from the database too." in page
        assert "One message with the same words was kept, as you chose." in page
        assert "Nothing of it is left" not in page
        assert "nothing of it is left" not in page
    assert "what was on the list is gone. The same words stand in one message that you kept." in page


def test_while_a_reply_is_written_nothing_is_forgotten_and_it_is_said(
    owner: Client, mira: Persona, remember: Remember
) -> None:
    node = remember_message(remember, send_message(mira, "I sing."), "Ana sings.")
    turns.claim(mira.pk, timezone.now())
    digest = preview_forgetting(owner, mira, node=node.uuid).context["preview"]["digest"]
    answer = confirm_forgetting(owner, mira, digest, node=node.uuid)
    assert answer.status_code == 409
    assert "A reply is being written" in answer.content.decode()
    assert ConceptNode.objects.filter(pk=node.pk).exists()


def test_a_forget_page_for_missing_or_foreign_targets_is_not_found(
    owner: Client, mira: Persona, otto: Persona, remember: Remember
) -> None:
    theirs = remember(otto, "Ben sings.")
    for params in ({}, {"node": "nonsense"}, {"node": theirs.uuid}, {"message": mira.uuid}, {"owner": "1"}):
        assert preview_forgetting(owner, mira, **params).status_code == 404, params


def test_a_receipt_is_its_owners_alone(owner: Client, mira: Persona, ben: User) -> None:
    receipt = Receipt.objects.create(persona=None, owner_id=ben.pk, at=timezone.now())
    assert owner.get(f"/account/receipts/{receipt.uuid}/").status_code == 404
    owner.force_login(ben)
    assert owner.get(f"/account/receipts/{receipt.uuid}/").status_code == 200


def test_a_receipt_is_proved_on_asking(owner: Client, mira: Persona, remember: Remember) -> None:
    message = send_message(mira, "I once stole a whole box of pears from the market in Lisbon.")
    digest = preview_forgetting(owner, mira, message=message.uuid).context["preview"]["digest"]
    receipt_url = confirm_forgetting(owner, mira, digest, message=message.uuid).url
    assert 'data-testid="proof"' not in owner.get(receipt_url).content.decode()
    assert "nothing of it is left" in owner.post(receipt_url).content.decode()
    remember(mira, "I once stole a whole box of pears from the market in Lisbon.")
    assert "Traces were found" in owner.post(receipt_url).content.decode()


def test_by_a_proof_nobody_learns_what_others_said(
    owner: Client, mira: Persona, otto: Persona, remember: Remember
) -> None:
    message = send_message(mira, "I once stole a whole box of pears from the market in Lisbon.")
    digest = preview_forgetting(owner, mira, message=message.uuid).context["preview"]["digest"]
    receipt_url = confirm_forgetting(owner, mira, digest, message=message.uuid).url
    send_message(otto, "I once stole a whole box of pears from the market in Lisbon.")
    assert "nothing of it is left" in owner.post(receipt_url).content.decode()


def test_a_message_without_memories_offers_no_choice_of_dependents(
    owner: Client, mira: Persona, remember: Remember
) -> None:
    message = send_message(mira, "I sing.")
    alone = preview_forgetting(owner, mira, message=message.uuid).content.decode()
    assert ('name="dependents"' in alone, "The messages themselves" in alone) == (False, True)
    remember_message(remember, message, "Ana sings.")
    assert 'name="dependents"' in preview_forgetting(owner, mira, message=message.uuid).content.decode()


# --- the account ----------------------------------------------------------------------------------------------------
def test_a_companion_is_forgotten_against_name_and_password(owner: Client, mira: Persona, otto: Persona) -> None:
    send_message(mira, "I sing.")
    turns.abandon(timezone.now() + timedelta(days=1))
    address = f"/account/companions/{mira.uuid}/delete/"
    digest = owner.get(address).context["preview"]["digest"]
    right = {"name": "Mira", "password": "a long word for ana", "digest": digest, "confirm": "1"}
    for wrong in ({"name": "Mirah"}, {"password": "a long word"}, {"name": ""}):
        assert owner.post(address, right | wrong).status_code == 422
    assert owner.get(f"/account/companions/{otto.uuid}/delete/").status_code == 404
    response = owner.post(address, right, follow=True)
    assert response.status_code == 200
    assert not Persona.objects.filter(pk=mira.pk).exists()
    assert Persona.objects.filter(pk=otto.pk).exists()
    assert 'data-testid="receipt"' in response.content.decode()


def test_an_account_goes_with_all_that_is_hers_and_ends_at_the_door(
    owner: Client, ana: User, mira: Persona, otto: Persona
) -> None:
    send_message(mira, "I sing.")
    digest = owner.get("/account/delete/").context["preview"]["digest"]
    right = {"name": "ana", "password": "a long word for ana", "digest": digest, "confirm": "1"}
    assert owner.post("/account/delete/", right | {"password": "wrong"}).status_code == 422
    response = owner.post("/account/delete/", right)
    assert response.url == "/login/"  # type: ignore[attr-defined]
    assert response["Clear-Site-Data"] == '"storage"'
    assert not User.objects.filter(pk=ana.pk).exists()
    assert list(Persona.objects.all()) == [otto]
    assert owner.get("/account/").status_code == 302
    assert "is deleted" in owner.get("/login/").content.decode()


def test_the_last_who_looks_after_others_cannot_leave(owner: Client, ana: User, ben: User) -> None:
    User.objects.filter(pk=ana.pk).update(is_superuser=True)
    digest = owner.get("/account/delete/").context["preview"]["digest"]
    right = {"name": "ana", "password": "a long word for ana", "digest": digest, "confirm": "1"}
    answer = owner.post("/account/delete/", right)
    assert answer.status_code == 409
    assert "superuser" in answer.content.decode()
    ben.delete()
    assert owner.post("/account/delete/", right).status_code == 302
    assert not User.objects.exists()


def test_signing_out_leaves_no_drafts_in_the_browser(owner: Client) -> None:
    assert owner.post("/logout/")["Clear-Site-Data"] == '"storage"'


# --- people ---------------------------------------------------------------------------------------------------------
@pytest.fixture
def two_rosas(mira: Persona, remember: Remember) -> tuple[Entity, Entity]:
    entities = []
    for name in ("Rosa", "Rosie"):
        entity = Entity.objects.create(persona=mira, canonical_name=name, kind="person")
        Alias.objects.create(entity=entity, persona=mira, text=name, normalized=name.lower())
        for number in range(2):
            Mention.objects.create(node=remember(mira, f"{name} sings, number {number}."), entity=entity)
        entities.append(entity)
    return entities[0], entities[1]


def test_two_are_made_one_and_two_again(owner: Client, mira: Persona, two_rosas: tuple[Entity, Entity]) -> None:
    first, other = two_rosas
    names_url = f"/memory/{mira.uuid}/names/"
    owner.post(f"{names_url}merge/", {"one": first.uuid, "other": other.uuid})
    other.refresh_from_db()
    assert other.merged_into == first
    proposal = MergeProposal.objects.get()
    assert owner.get(f"/memory/{mira.uuid}/people/{other.uuid}/").status_code == 404
    owner.post(f"{names_url}{proposal.uuid}/undo/")
    other.refresh_from_db()
    assert other.merged_into is None
    owner.post(f"{names_url}{proposal.uuid}/apart/")
    proposal.refresh_from_db()
    assert proposal.status == "kept_apart"
    assert owner.post(f"{names_url}merge/", {"one": first.uuid, "other": first.uuid}).status_code == 302
    assert owner.post(f"{names_url}merge/", {"one": "nobody"}).status_code == 404


def test_questions_go_on_where_the_page_ends(owner: Client, mira: Persona) -> None:
    entities = [Entity.objects.create(persona=mira, canonical_name=f"Guest {number:02}") for number in range(23)]
    for entity, other in pairwise(entities):
        MergeProposal.objects.create(a=entity, b=other, score=0.6)
    names_url = f"/memory/{mira.uuid}/names/"
    first = owner.get(names_url).context
    second = owner.get(f"{names_url}?before={first['next']}").context
    assert [len(page["open"]) for page in (first, second)] == [20, 2]
    assert second["next"] == ""
    pair = second["open"][0]["proposal"]
    answer = owner.post(f"{names_url}{pair.uuid}/apart/", {"before": first["next"]})
    assert answer.url == f"{names_url}?before={first['next']}"  # type: ignore[attr-defined]
    assert len(owner.get(f"{names_url}?before=nonsense").context["open"]) == 20


def test_names_are_added_chosen_taken_away_and_refused_in_words(
    owner: Client, mira: Persona, two_rosas: tuple[Entity, Entity]
) -> None:
    rosa, _ = two_rosas
    person_url = f"/memory/{mira.uuid}/people/{rosa.uuid}/"
    owner.post(f"{person_url}add_name/", {"name": "Rosalind"})
    owner.post(f"{person_url}rename/", {"name": "Rosalind"})
    owner.post(f"{person_url}describe/", {"description": "Ana's sister."})
    rosa.refresh_from_db()
    assert (rosa.canonical_name, rosa.description, rosa.described_by) == ("Rosalind", "Ana's sister.", "person")
    again = owner.post(f"{person_url}add_name/", {"name": "rosalind"}, follow=True).content.decode()
    assert "Nothing was changed." in again
    alias = rosa.aliases.get(text="Rosa")
    refused = owner.post(f"{person_url}remove_name/", {"alias": alias.pk}, follow=True).content.decode()
    assert "No other name of theirs appears in the memories about them." in refused
    assert owner.post(f"{person_url}remove_name/", {"alias": "x"}).status_code == 404


def test_one_is_made_two(owner: Client, mira: Persona, two_rosas: tuple[Entity, Entity]) -> None:
    rosa, _ = two_rosas
    mention = rosa.mentions.first()
    assert mention is not None
    owner.post(f"/memory/{mira.uuid}/people/{rosa.uuid}/split/", {"mention": mention.pk})
    assert Entity.objects.filter(persona=mira, canonical_name="Rosa").count() == 2
    answer = owner.post(f"/memory/{mira.uuid}/people/{rosa.uuid}/split/", follow=True).content.decode()
    assert "Choose the names or memories" in answer


def test_the_page_of_a_place_does_not_speak_of_people(
    owner: Client, mira: Persona, two_rosas: tuple[Entity, Entity]
) -> None:
    rosa, _ = two_rosas
    owner.post(f"/memory/{mira.uuid}/people/{rosa.uuid}/add_name/", {"name": "Rosalind"})
    page = f"/memory/{mira.uuid}/people/{rosa.uuid}/"
    assert "Split into two people" in owner.get(page).content.decode()
    Entity.objects.filter(pk=rosa.pk).update(kind="place")
    place = owner.get(page).content.decode()
    assert ("Split into two<" in place, "people</h2>" in place, "their name" in place) == (True, False, False)


# --- conversation ---------------------------------------------------------------------------------------------------
def test_what_a_session_left_is_told_with_it_hidden_ones_too(owner: Client, mira: Persona, remember: Remember) -> None:
    message = send_message(mira, "I sing.")
    remember_message(remember, message, "Ana sings.")
    remember_message(remember, message, "Ana sings loudly.", status="hidden")
    remember_message(remember, message, "Ana sang.", status="superseded")
    address = f"/memory/{mira.uuid}/learned/"
    page = owner.get(address, {"session": [str(message.session.uuid), str(mira.uuid), "nonsense"]}).content.decode()
    assert page.count('data-testid="chip"') == 2
    assert page.count("/hide/") == page.count("/show/") == 1
    assert "Ana sang." not in page


def test_one_box_finds_by_words_by_meaning_and_in_messages(owner: Client, mira: Persona, remember: Remember) -> None:
    remember(mira, "Ana swims in the lake.")
    remember(mira, "Ana was swimming with Rosa in the lake.")
    send_message(mira, "My brother swims twice a week.")
    page = owner.post(f"/memory/{mira.uuid}/", {"text": "swims"}).content.decode()
    assert re.findall(r"<h2[^>]*>([^<]+)", page) == ["Memories found", "Alike in meaning", "In messages"]
    rows, alike = page.split("Alike in meaning")
    assert "Ana swims in the lake." in rows
    assert "with Rosa" in alike
    assert "twice a week" in alike
    assert alike.count("Ana swims in the lake.") == 0  # nothing is listed twice


def test_a_weight_is_told_in_words_and_none_where_it_is_zero(owner: Client, mira: Persona, remember: Remember) -> None:
    words = {9: "very glad", 4: "glad", 1: "a little glad", -2: "a little hard", -5: "hard", -10: "very hard"}
    for impact in words:
        remember(mira, f"Something of {impact}.", emotional_impact=impact)
    remember(mira, "Something light.", emotional_impact=0)
    page = owner.get(f"/memory/{mira.uuid}/").content.decode()
    assert set(re.findall(r"</svg>([a-z ]+)</span>", page)) == set(words.values())
    light = page[page.index("Something light.") :]
    assert "impact" not in light[: light.index("</li>")]


def test_several_are_hidden_shown_and_pinned_together(
    owner: Client, ben: User, mira: Persona, otto: Persona, remember: Remember
) -> None:
    nodes = [remember(mira, f"Thing {number}.") for number in range(3)]
    strange = remember(otto, "Not hers.")
    form = {"node": [str(node.uuid) for node in [*nodes[:2], strange]] + ["nonsense"]}
    for action, field, values in (
        ("hide", "status", ["hidden", "hidden", "active", "active"]),
        ("show", "status", ["active"] * 4),
        ("pin", "pinned", [True, True, False, False]),
        ("unpin", "pinned", [False] * 4),
    ):
        answer = owner.post(f"/memory/{mira.uuid}/chosen/", form | {"node_action": action}, follow=True)
        assert "2 " in answer.content.decode().split('data-testid="toast"')[1]
        rows = [*nodes, strange]
        for row in rows:
            row.refresh_from_db()
        assert [getattr(row, field) for row in rows] == values, action
    assert owner.post(f"/memory/{mira.uuid}/chosen/", form | {"node_action": "dance"}).status_code == 404


def test_several_are_forgotten_after_one_preview(owner: Client, mira: Persona, remember: Remember) -> None:
    nodes = [remember(mira, f"Thing {number}.") for number in range(3)]
    form = {"node": [str(node.uuid) for node in nodes[:2]], "node_action": "forget"}
    preview = owner.post(f"/memory/{mira.uuid}/chosen/", form, follow=True)
    assert preview.redirect_chain[0][1] == 302
    text = preview.content.decode()
    assert "Thing 0." in text
    assert "Thing 1." in text
    assert "Thing 2." not in text
    assert mira.nodes.count() == 3


def test_nothing_chosen_changes_nothing_and_a_search_is_come_back_to(
    owner: Client, mira: Persona, remember: Remember
) -> None:
    node = remember(mira, "A cat called Blackie.")
    nothing = owner.post(f"/memory/{mira.uuid}/chosen/", {"node_action": "hide"}, follow=True)
    assert "Choose memories first." in nothing.content.decode()
    form = {"text": "cat", "how": "", "node": str(node.uuid), "node_action": "hide"}
    answer = owner.post(f"/memory/{mira.uuid}/chosen/", form)
    assert answer.status_code == 307
    assert "cat" not in answer["Location"]


def test_a_wording_that_is_used_is_not_offered_to_be_restored(owner: Client, mira: Persona, remember: Remember) -> None:
    node = remember(mira, "Ana sings.")
    for version, words in enumerate(("Ana sings.", "Ana dances."), start=1):
        node.versions.create(version=version, description=words, emotional_impact=0, edited_at=timezone.now())
    page = owner.get(at(node)).content.decode()
    assert page.count('data-testid="restore"') == 1

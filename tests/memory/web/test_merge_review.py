"""Merge review in the admin: pairs are decided one by one, names corrected, entities split; words need a permission."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from chat.messages import receive_message
from echovessel.audit.models import Look
from memory.models import Entity, Evidence, MergeProposal
from persona.models import Persona
from tests.memory.entities.test_merge import entity, names, node, propose_merge
from tests.memory.sessions import NOW

REVIEW = "/admin/memory/mergeproposal/review/"
TAGGED = "<script>alert(1)</script>"


def add_memories(of: Entity, *texts: str) -> None:
    for text in texts:
        of.mentions.create(node=node(of.persona, text))


@pytest.fixture
def scott(mira: Persona) -> Entity:
    person = entity(mira, "Scott", "Scotty")
    add_memories(person, "Scott paints boats.", "Scotty hates rain.")
    return person


@pytest.fixture
def huang(mira: Persona) -> Entity:
    person = entity(mira, "黄逸扬", status="uncertain", description="A painter.", described_by="person")
    add_memories(person, "黄逸扬 showed his paintings.")
    return person


@pytest.fixture
def staff(client: Client, db: None) -> Callable[..., Client]:
    """A function that signs in one of the staff with these permissions."""

    def sign_in(*codenames: str, superuser: bool = False) -> Client:
        user = User.objects.create_user("cleo", password="a long word for cleo", is_staff=True, is_superuser=superuser)
        user.user_permissions.set(Permission.objects.filter(codename__in=codenames))
        client.force_login(user)
        return client

    return sign_in


@pytest.fixture
def desk(staff: Callable[..., Client]) -> Client:
    return staff("view_mergeproposal", "change_mergeproposal", "view_entity", "change_entity", "read_words")


def decide(desk: Client, decision: str, proposal: MergeProposal) -> str:
    page = desk.post(REVIEW, {"decision": decision, "pair": proposal.pk}, follow=True)
    assert page.status_code == 200
    return page.content.decode()


def test_two_stand_side_by_side_with_all_that_is_known_of_them(
    desk: Client, mira: Persona, scott: Entity, huang: Entity
) -> None:
    message = receive_message(mira, "Scott paints boats, he told me.", None, "web", NOW).message
    painted = scott.nodes.get(description="Scott paints boats.")
    Evidence.objects.create(node=painted, message=message, quote="he told me", start=20, end=30)
    rosa = entity(mira, "Rosa")
    for memory in (painted, huang.nodes.get()):
        rosa.mentions.create(node=memory)
    propose_merge(scott, huang)
    page = desk.get(REVIEW).content.decode()
    for text in (
        *("Scott", "Scotty", "黄逸扬", "A painter.", "Scotty hates rain.", "he told me", "Rosa", "similar memories"),
        *("In 2 memories", "In one memory", "similarity 0.70"),
    ):
        assert text in page


def test_the_next_pair_comes_after_a_decision_and_the_last_can_be_taken_back(
    desk: Client, mira: Persona, scott: Entity, huang: Entity
) -> None:
    rosa = entity(mira, "Rosa", status="uncertain")
    first, second = propose_merge(scott, huang), propose_merge(scott, rosa)
    page = desk.get(REVIEW).content.decode()
    assert "“Scott” and “Rosa”" in page
    page = decide(desk, "keep_apart", second)
    assert "will not be asked about again" in page
    assert "“Scott” and “黄逸扬”" in page
    assert 'data-testid="undo-last"' in page
    page = decide(desk, "merge", first)
    assert "No possible duplicates" in page
    page = decide(desk, "undo", first)
    assert "“Scott” and “黄逸扬”" in page
    assert 'data-testid="merge"' in page
    assert [proposal.status for proposal in MergeProposal.objects.order_by("pk")] == ["undone", "kept_apart"]
    assert [entry.change_message for entry in LogEntry.objects.order_by("pk")] == ["kept apart", "merged", "taken back"]


def test_pairs_can_be_skipped_and_gone_back_to(desk: Client, mira: Persona, scott: Entity, huang: Entity) -> None:
    first, second = propose_merge(scott, huang), propose_merge(scott, entity(mira, "Rosa"))
    assert "“Scott” and “黄逸扬”" in desk.get(REVIEW, {"after": second.pk}).content.decode()
    assert "No more pairs in this direction" in desk.get(REVIEW, {"after": first.pk}).content.decode()
    assert "“Scott” and “Rosa”" in desk.get(REVIEW, {"before": first.pk}).content.decode()
    assert "“Scott” and “黄逸扬”" in desk.get(REVIEW, {"pair": first.pk}).content.decode()
    for nonsense in ("x", "-1", "９", "9" * 40):
        assert desk.get(REVIEW, {"after": nonsense}).status_code == 200


def test_a_second_decision_on_a_merge_is_refused_with_a_reason(
    desk: Client, mira: Persona, scott: Entity, huang: Entity
) -> None:
    first, second = propose_merge(scott, huang), propose_merge(scott, entity(mira, "Rosa"))
    decide(desk, "merge", first)
    assert "has already decided this" in decide(desk, "merge", first)
    decide(desk, "merge", second)
    assert "later merge" in decide(desk, "undo", first)
    assert desk.post(REVIEW, {"decision": "delete", "pair": first.pk}).status_code == 404
    assert desk.post(REVIEW, {"decision": "merge", "pair": "x"}).status_code == 404


def test_a_look_at_other_peoples_words_is_kept_once(desk: Client, scott: Entity, huang: Entity) -> None:
    proposal = propose_merge(scott, huang)
    desk.get(REVIEW)
    look = Look.objects.get()
    assert (look.what, look.object_ids, look.persona_uuid) == (
        "memory.MergeProposal",
        [proposal.pk],
        scott.persona.uuid,
    )


def test_who_may_not_read_words_sees_none(staff: Callable[..., Client], scott: Entity, huang: Entity) -> None:
    desk = staff("view_mergeproposal", "change_mergeproposal", "view_entity", "change_entity")
    proposal = propose_merge(scott, huang)
    pages = [
        desk.get(address).content.decode()
        for address in (
            *(REVIEW, f"{REVIEW}?pair={proposal.pk}", f"/admin/memory/entity/{scott.pk}/change/"),
            *("/admin/memory/entity/?q=Scott", "/admin/memory/mergeproposal/?q=Scott"),
        )
    ]
    for page in pages:
        assert not [word for word in ("Scotty", "黄", "boats", "painter", "rain") if word in page]
        assert "entity-names" not in page
    assert f"entity/{scott.pk}/" not in pages[3]
    refused = desk.post(f"/admin/memory/entity/{scott.pk}/do/rename/", {"name": "Huang"})
    assert refused.status_code == 403
    assert not Look.objects.exists()


def test_who_may_only_look_decides_nothing(staff: Callable[..., Client], scott: Entity, huang: Entity) -> None:
    desk = staff("view_mergeproposal", "view_entity", "read_words")
    proposal = propose_merge(scott, huang)
    page = desk.get(REVIEW).content.decode()
    assert 'data-testid="skip"' in page
    assert 'data-testid="merge"' not in page
    assert desk.post(REVIEW, {"decision": "merge", "pair": proposal.pk}).status_code == 403
    assert "entity-names" not in desk.get(f"/admin/memory/entity/{scott.pk}/change/").content.decode()
    assert desk.post(f"/admin/memory/entity/{scott.pk}/do/split/").status_code == 403


def test_without_permission_there_is_no_review(staff: Callable[..., Client]) -> None:
    assert staff("view_entity").get(REVIEW).status_code == 403


def test_names_are_put_right_on_the_page_of_an_entity(desk: Client, scott: Entity) -> None:
    def do(action: str, **values: Any) -> str:
        address = f"/admin/memory/entity/{scott.pk}/do/{action}/"
        return desk.post(address, values, follow=True).content.decode()

    assert "Renamed." in do("rename", name="Scott Huang")
    assert "The name was added." in do("name", name="Yiyang")
    assert "The name was removed." in do("unname", alias=scott.aliases.get(text="Scotty").pk)
    scott.refresh_from_db()
    assert (scott.canonical_name, names(scott)) == ("Scott Huang", ["Scott", "Scott Huang", "Yiyang"])
    assert "This is not a name." in do("rename", name="my sister")
    assert desk.post(f"/admin/memory/entity/{scott.pk}/do/burn/").status_code == 404
    assert desk.get(f"/admin/memory/entity/{scott.pk}/do/rename/").status_code == 405
    assert [entry.change_message for entry in LogEntry.objects.order_by("pk")] == ["rename", "name", "unname"]


def test_two_are_made_of_one_on_its_page(desk: Client, mira: Persona, scott: Entity) -> None:
    page = desk.get(f"/admin/memory/entity/{scott.pk}/change/").content.decode()
    assert "Scott paints boats." in page
    address = f"/admin/memory/entity/{scott.pk}/do/split/"
    assert "Choose the names" in desk.post(address, follow=True).content.decode()
    form = {"alias": [scott.aliases.get(text="Scotty").pk], "mention": ["x", "9" * 30]}
    assert "Split into two people" in desk.post(address, form, follow=True).content.decode()
    assert {person.canonical_name for person in mira.entities.all()} == {"Scott", "Scotty"}
    assert MergeProposal.objects.get().decided_by == User.objects.get(username="cleo")


def test_names_with_markup_are_inert(desk: Client, mira: Persona, scott: Entity) -> None:
    other = entity(mira, TAGGED, description=TAGGED, described_by="person")
    add_memories(other, TAGGED)
    proposal = propose_merge(scott, other)
    for address in (REVIEW, f"/admin/memory/entity/{other.pk}/change/", "/admin/memory/mergeproposal/"):
        page = desk.get(address).content.decode()
        assert TAGGED not in page
        assert "&lt;script&gt;" in page
    assert TAGGED not in decide(desk, "merge", proposal)


def test_names_are_found_by_who_may_read_them(desk: Client, scott: Entity, huang: Entity, otto: Persona) -> None:
    propose_merge(scott, huang)
    page = desk.get("/admin/memory/entity/?q=scotty").content.decode()
    assert f"entity/{scott.pk}/" in page
    assert f"entity/{huang.pk}/" not in page
    assert "1 entry" in desk.get("/admin/memory/mergeproposal/?q=逸扬").content.decode()
    assert "0 entries" in desk.get("/admin/memory/mergeproposal/?q=Rosa").content.decode()


def test_a_review_asks_the_database_as_much_for_a_long_life_as_for_a_short_one(
    desk: Client, scott: Entity, huang: Entity, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    propose_merge(scott, huang)
    for more in (0, 30):
        for side in (scott, huang):
            add_memories(side, *(f"{side.canonical_name} came {number}." for number in range(more)))
        with django_assert_max_num_queries(30) as asked_of:
            desk.get(REVIEW)
        if not more:
            few = len(asked_of)
    assert len(asked_of) == few

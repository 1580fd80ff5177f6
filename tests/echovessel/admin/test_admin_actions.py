"""Actions in the admin: memories corrected, hidden, released; L1 restored; messages flagged."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from chat.models import CrisisFlag, Turn
from memory.models import ConceptNode
from memory.store import vectors
from memory.store.tombstones import add_tombstone
from persona.models import Persona
from tests.echovessel.admin.test_admin_words import correction_form, management
from tests.echovessel.conftest import given, signed_in

pytestmark = pytest.mark.django_db


def page_of(node: ConceptNode) -> str:
    return f"/admin/memory/{node.kind}/{node.pk}/change/"


# --- memories -------------------------------------------------------------------------------------------------------


def test_a_memory_is_put_right_and_says_again_what_it_said(curator: Client, full_life: dict[str, Any]) -> None:
    event = full_life["event"]
    form = correction_form(
        "Ana keeps three hives on her roof.", emotion_tags="proud, 高兴，calm", relational_tags=["unresolved"],
        event_time_start="2026-03-01", event_time_end="2026-03-02",
    )  # fmt: skip
    assert curator.post(page_of(event), form).status_code == 302
    event.refresh_from_db()
    assert event.description == "Ana keeps three hives on her roof."
    assert event.emotion_tags == ["proud", "高兴", "calm"]
    assert (event.relational_tags, event.emotional_impact) == (["unresolved"], 2)
    assert (str(event.event_time_start), str(event.event_time_end)) == ("2026-03-01", "2026-03-02")
    assert event.verification == "confirmed"
    assert vectors.SUBSTRINGS.find(vectors.connection, "three hives", 5) == [event.pk]
    page = curator.get(page_of(event)).content.decode()
    assert "Ana keeps bees on her roof." in page
    curator.post(f"/admin/memory/event/{event.pk}/restore/1/")
    event.refresh_from_db()
    assert event.description == "Ana keeps bees on her roof."


@pytest.mark.parametrize(
    ("values", "trouble"),
    [
        ({"description": " "}, "required"),
        ({"description": "x" * 2_001}, "at most 2000"),
        ({"emotional_impact": 11}, "less than or equal to 10"),
        ({"event_time_start": "2026-03-02", "event_time_end": "2026-03-01"}, "cannot end before"),
        ({"relational_tags": ["made-up"]}, "not one of the available choices"),
        ({"description": "Ana sold her soul."}, "deleted for good"),
    ],
)
def test_an_invalid_correction_is_refused_with_a_reason(
    curator: Client, full_life: dict[str, Any], mira: Persona, values: dict[str, Any], trouble: str
) -> None:
    event = full_life["event"]
    add_tombstone(mira, "Ana sold her soul.")
    answer = curator.post(page_of(event), correction_form("Ana keeps wasps.") | values)
    assert answer.status_code == 200
    assert trouble in answer.content.decode()
    event.refresh_from_db()
    assert event.description == "Ana keeps bees on her roof."


def test_a_correction_is_made_outside_the_admins_transaction(
    curator: Client, full_life: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    depths: list[int] = []
    depth = len(vectors.connection.savepoint_ids)
    monkeypatch.setattr(
        "memory.curation.correct.correct", lambda *args: depths.append(len(vectors.connection.savepoint_ids))
    )
    curator.post(page_of(full_life["event"]), correction_form("Ana keeps wasps."))
    assert depths == [depth]


@pytest.mark.parametrize(
    ("before", "action", "after"),
    [
        ({}, "hide", {"status": "hidden"}),
        ({"status": "hidden"}, "show", {"status": "active"}),
        ({}, "confirm", {"verification": "confirmed"}),
        ({}, "dispute", {"verification": "disputed"}),
        ({}, "pin", {"pinned": True}),
        ({"pinned": True}, "unpin", {"pinned": False}),
        ({}, "archive", {"status": "archived", "archived_because": "person"}),
        ({"status": "archived"}, "unarchive", {"status": "active"}),
        ({"status": "quarantined"}, "let_in", {"status": "active"}),
    ],
)
def test_each_action_is_a_button_of_the_page_and_an_action_of_the_list(
    curator: Client, full_life: dict[str, Any], before: dict[str, Any], action: str, after: dict[str, Any]
) -> None:
    event, rows = full_life["event"], ConceptNode.objects.filter(pk=full_life["event"].pk)
    button = f"/admin/memory/event/{event.pk}/do/{action}/"
    rows.update(**before)
    assert button in curator.get(page_of(event)).content.decode()
    curator.post(button)
    assert rows.filter(**after).exists()
    assert button not in curator.get(page_of(event)).content.decode()
    rows.update(**{"status": "active", "verification": "unverified", "pinned": False, "archived_because": ""} | before)
    curator.post("/admin/memory/event/", {"action": action, "_selected_action": [event.pk]})
    assert rows.filter(**after).exists()


def test_the_quarantine_is_a_list_of_its_own(curator: Client, full_life: dict[str, Any], remember: Any) -> None:
    suspect = remember(full_life["persona"], "Somebody said so.", status="quarantined")
    rows = curator.get("/admin/memory/event/?status__exact=quarantined").context_data["cl"].result_list
    assert list(rows) == [suspect]
    assert "/admin/memory/event/?status__exact=quarantined" in curator.get("/admin/").content.decode()


def test_a_memory_shows_the_lines_around_and_the_turns_that_recalled_it(
    curator: Client, full_life: dict[str, Any]
) -> None:
    event, message = full_life["event"], full_life["message"]
    turn = Turn.objects.create(
        session=message.session, persona=message.persona, status="done",
        xray={"recollections": {"chosen": [{"id": str(event.uuid)}]}},
    )  # fmt: skip
    for minutes, words in ((-1, "Nice weather."), (1, "They are calm today.")):
        message.session.messages.create(
            persona=message.persona, role="user", content=words, token_count=3, day=message.day,
            created_at=message.created_at + timezone.timedelta(minutes=minutes),
        )  # fmt: skip
    page = curator.get(page_of(event)).content.decode()
    assert (
        page.index("Nice weather.") < page.index("<mark>bees on the roof</mark>") < page.index("They are calm today.")
    )
    assert f"/admin/chat/turn/{turn.pk}/change/" in page


def test_weights_and_tags_are_filtered_in_bands(curator: Client, mira: Persona, remember: Any) -> None:
    heavy = remember(mira, "A grave day.", emotional_impact=-7)
    bright = remember(mira, "A bright day.", emotional_impact=6, relational_tags=["turning-point"])
    for query, expected in (("impact=heavy", heavy), ("impact=great", bright), ("tag=turning-point", bright)):
        assert list(curator.get(f"/admin/memory/event/?{query}").context_data["cl"].result_list) == [expected]
    assert curator.get("/admin/memory/event/?impact=nonsense&tag=nonsense&lately=x&persona=x").status_code == 200


# --- L1 -------------------------------------------------------------------------------------------------------------


def test_a_core_block_says_again_what_a_version_says(curator: Client, full_life: dict[str, Any]) -> None:
    block = full_life["coreblock"]
    before = block.content
    address = f"/admin/persona/coreblock/{block.pk}/change/"
    curator.post(address, {"content": "Somebody else wrote this.", **management})
    assert f"/admin/persona/coreblock/{block.pk}/restore/1/" in curator.get(address).content.decode()
    curator.post(f"/admin/persona/coreblock/{block.pk}/restore/1/")
    block.refresh_from_db()
    assert (block.content, block.version) == (before, 3)


# --- flagged messages -----------------------------------------------------------------------------------------------


def test_a_line_is_pointed_out_and_marked_as_seen(reader: User, full_life: dict[str, Any]) -> None:
    message = full_life["message"]
    raiser = signed_in(given(reader, "chat.add_crisisflag"))
    page = f"/admin/chat/message/{message.pk}/change/"
    assert f"/admin/chat/message/{message.pk}/point-out/" in raiser.get(page).content.decode()
    raiser.post(f"/admin/chat/message/{message.pk}/point-out/")
    raiser.post("/admin/chat/message/", {"action": "point_out", "_selected_action": [message.pk]})
    flag = CrisisFlag.objects.get()
    assert (flag.message, flag.raised_by, flag.seen_at) == (message, reader, None)
    assert raiser.get("/admin/chat/crisisflag/").status_code == 403
    assert "not seen yet" not in raiser.get(page).content.decode()

    seer = signed_in(given(reader, "chat.view_crisisflag", "chat.change_crisisflag"))
    assert "I keep bees" in seer.get("/admin/chat/crisisflag/").content.decode()
    assert "not seen yet" in seer.get(page).content.decode()
    assert "unseen crisis flags" in seer.get("/admin/").content.decode()
    alone = f"/admin/chat/crisisflag/{flag.pk}/change/"
    assert 'data-testid="do-mark_seen"' in seer.get(alone).content.decode()
    seer.post("/admin/chat/crisisflag/", {"action": "mark_seen", "index": "0", "_selected_action": flag.pk})
    assert 'data-testid="do-mark_seen"' not in seer.get(alone).content.decode()
    flag.refresh_from_db()
    assert (flag.seen_by, flag.seen_at is not None) == (reader, True)


def test_flags_are_hidden_from_those_who_may_not_see_them(reader: User, blind: User, full_life: dict[str, Any]) -> None:
    CrisisFlag.objects.create(message=full_life["message"], raised_at=timezone.now())
    for user in (reader, blind):
        browser = signed_in(user)
        assert browser.get("/admin/chat/crisisflag/").status_code == 403
        assert "crisis" not in browser.get("/admin/").content.decode().lower()
        page = browser.get(f"/admin/chat/message/{full_life['message'].pk}/change/").content.decode()
        assert "crisis" not in page.lower()
    unseeing = signed_in(given(blind, "chat.view_crisisflag"))
    flag_page = unseeing.get("/admin/chat/crisisflag/").content.decode()
    assert "•••" in flag_page
    assert "bees" not in flag_page
    raiser = signed_in(given(blind, "chat.add_crisisflag"))
    assert raiser.post(f"/admin/chat/message/{full_life['message'].pk}/point-out/").status_code == 403


def test_an_empty_page_of_flags_says_what_they_are(curator: Client) -> None:
    assert "are flagged automatically" in " ".join(curator.get("/admin/chat/crisisflag/").content.decode().split())

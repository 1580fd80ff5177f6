"""Every surface explains a recall: the page in words, the admin in numbers, the API and the command."""

import io
import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.utils import timezone, translation

from chat.messages import add_message, receive_message
from chat.models import Message, Turn
from echovessel.embeddings import embedding
from memory.models import ConceptNode
from memory.recall import recall
from memory.web.presenters import recall_reasons, reply_explanation
from memory.web.presenters import xray as presenters_xray
from persona.models import Persona

pytestmark = pytest.mark.django_db
CAT = "Ana adopted a white cat named Blackie."


@pytest.fixture
def recall_for_turn(mira: Persona) -> Any:
    """A function that recalls for a message and keeps the x-ray on a turn, as a prompt's context does."""

    def ask(text: str) -> Turn:
        turn = receive_message(mira, "…", None, "web", timezone.now()).message.turn
        assert turn is not None
        result = recall(mira, [text], now=timezone.now(), budget_tokens=1_500)
        turn.xray = {"recollections": result.xray.as_json()}
        turn.save()
        return turn

    return ask


def open_explanation(client: Client, turn: Turn, language: str = "en") -> str:
    """The page's answer to "why this reply?"."""
    client.force_login(turn.persona.owner)
    address = f"/chat/{turn.persona.uuid}/turns/{turn.uuid}/why/"
    return client.get(address, headers={"accept-language": language}).content.decode()


def open_turn_admin(client: Client, turn: Turn) -> str:
    """The page of the turn in the admin."""
    client.force_login(User.objects.create_superuser("cora"))
    return client.get(f"/admin/chat/turn/{turn.pk}/change/").content.decode()


def test_every_rule_arm_and_part_that_recall_knows_has_a_word(
    recall_for_turn: Any, remember: Any, mira: Persona
) -> None:
    remember(mira, CAT)
    remember(mira, "Ana paid the rent.")
    recollections = recall_for_turn("Where is the white cat Blackie?").xray["recollections"]
    assert {arm["name"] for arm in recollections["arms"]} <= recall_reasons.ARMS.keys()
    assert {candidate["verdict"] for candidate in recollections["candidates"]} <= recall_reasons.RULES.keys()
    assert {
        name for candidate in recollections["candidates"] for name in candidate["parts"]
    } <= recall_reasons.PARTS.keys()


def test_the_page_tells_nothing_stored_from_everything_filtered(
    client: Client, recall_for_turn: Any, mira: Persona
) -> None:
    turn = recall_for_turn("Gluons and chromodynamics?")
    turn.xray["recollections"] |= {"empty_reason": "nothing_stored", "candidates": []}
    turn.save()
    assert "no memories yet" in open_explanation(client, turn)
    turn.xray["recollections"]["empty_reason"] = "everything_filtered"
    turn.save()
    assert "nothing was close enough" in open_explanation(client, turn)
    turn.xray["recollections"]["empty_reason"] = "nothing_asked"
    turn.save()
    assert "no words to search for" in open_explanation(client, turn)


def test_the_page_says_so_in_chinese(client: Client, recall_for_turn: Any, mira: Persona, remember: Any) -> None:
    remember(mira, CAT)
    assert "我翻了翻记忆" in open_explanation(client, recall_for_turn("Gluons and chromodynamics?"), "zh-hans")


def test_the_page_shows_first_what_the_reply_used_from_wherever_it_came(
    client: Client, recall_for_turn: Any, mira: Persona, remember: Any
) -> None:
    remember(mira, CAT)
    white = remember(mira, "Ana painted the kitchen white.", verification="disputed")
    nuts = remember(mira, "I can't eat hazelnuts or walnuts.")
    mira.core_blocks.filter(label="user").update(content="Ana repairs old violins.\nShe rises early.")
    turn = recall_for_turn("Do you remember the white cat?")
    session = turn.session
    earlier = add_message(session, Message.Role.USER, "My landlord is called Gregor.", timezone.now())
    turn.xray |= {
        "always_known": {"nodes": [{"id": str(nuts.uuid), "why": "health"}]},
        "recent_conversation": {"messages": [str(earlier.uuid)]},
    }
    turn.save()
    before = reply_explanation.explain_reply(turn)
    assert before["used"] == []
    assert {item.text for item in before["others"]} >= {CAT, white.description}

    reply = "Blackie, the white cat you adopted! No hazelnuts or walnuts for her, old violins, or landlord Gregor."
    add_message(session, Message.Role.PERSONA, reply, timezone.now(), turn=turn)
    explanation = reply_explanation.explain_reply(turn)
    assert [item.text for item in explanation["used"]] == [
        CAT,
        nuts.description,
        "Ana repairs old violins.",
        "My landlord is called Gregor.",
    ]
    assert (white.description, True) in {(item.text, item.is_unsure) for item in explanation["others"]}
    page = open_explanation(client, turn)
    assert page.index("What the reply used") < page.index(CAT) < page.index("What else came to mind")
    assert page.index("For the curious") < page.index("how close it is to what you said")
    assert page.count('data-testid="xray-unsure"') == 1
    ConceptNode.objects.filter(pk=nuts.pk).update(status="hidden")
    assert "hazelnuts" not in open_explanation(client, turn)


def test_the_page_counts_what_was_left_aside_by_its_rule(
    client: Client, recall_for_turn: Any, mira: Persona, remember: Any
) -> None:
    remember(mira, CAT)
    page = open_explanation(client, recall_for_turn("Gluons and chromodynamics?"))
    assert "not close enough: 1" in page
    assert "Blackie" not in page


def test_what_was_forgotten_since_is_not_taken_for_nothing(
    client: Client, recall_for_turn: Any, mira: Persona, remember: Any
) -> None:
    remember(mira, CAT)
    turn = recall_for_turn("Do you remember my white cat Blackie?")
    assert "Blackie" in open_explanation(client, turn)
    ConceptNode.objects.all().delete()
    page = open_explanation(client, turn)
    assert "has been forgotten or hidden since" in page
    assert "no memories yet" not in page
    assert "Blackie" not in page


def test_a_turn_without_an_account_is_not_taken_for_an_empty_memory(client: Client, recall_for_turn: Any) -> None:
    turn = recall_for_turn("Hello?")
    for xray in ({}, {"recollections": None}):
        Turn.objects.update(xray=xray)
        assert "There is no record of what I remembered" in open_explanation(client, turn)
    assert presenters_xray.xray_context(Turn.objects.get()) == {}


def test_a_skipped_arm_is_told_on_every_surface(
    client: Client, recall_for_turn: Any, mira: Persona, remember: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(mira, CAT)

    def unavailable(*args: object) -> None:
        raise embedding.EmbeddingUnavailable("the model's file is missing")

    monkeypatch.setattr("memory.recall.query.meaning", unavailable)
    turn = recall_for_turn("my white cat Blackie")
    assert "by meaning: not available" in open_explanation(client, turn)
    assert "the model&#x27;s file is missing" in open_turn_admin(client, turn)
    assert "by meaning: skipped: the model's file is missing" in run_recall_command(mira, "my white cat Blackie")


def test_the_desk_shows_every_candidate_with_its_parts_and_its_rule(
    client: Client, recall_for_turn: Any, mira: Persona, remember: Any
) -> None:
    cat, rent = remember(mira, CAT), remember(mira, "Ana paid the rent to Mr Chen.")
    turn = recall_for_turn("Do you remember my white cat Blackie?")
    page = open_turn_admin(client, turn)
    assert f"/admin/memory/event/{cat.pk}/change/" in page
    assert f"/admin/memory/event/{rent.pk}/change/" in page
    rows = {row["text"]: row for row in presenters_xray.xray_context(turn)["candidates"]}
    assert rows[CAT]["is_chosen"]
    assert rows[CAT]["score"] > rows["Ana paid the rent to Mr Chen."]["score"]
    for heading in ("relevance, 0 to 1", "by words, 0 to 1", "reason for skipping"):
        assert heading in page


def test_the_desk_shows_no_words_of_what_was_forgotten_or_hidden(
    client: Client, recall_for_turn: Any, mira: Persona, remember: Any
) -> None:
    remember(mira, CAT)
    turn = recall_for_turn("Do you remember my white cat Blackie?")
    ConceptNode.objects.update(status=ConceptNode.Status.HIDDEN)
    page = open_turn_admin(client, turn)
    assert "forgotten or hidden since" in page
    assert "white cat" not in page


def test_the_api_says_by_name_and_in_words_why_nothing_came_to_mind(
    client: Client, mira: Persona, remember: Any
) -> None:
    client.force_login(mira.owner)

    def ask(text: str) -> Any:
        body = json.dumps({"turns": [text]})
        return client.post(f"/api/personas/{mira.uuid}/recall", body, "application/json").json()

    nothing = ask("Where is my cat?")
    assert (nothing["xray"]["empty_reason"], nothing["empty"]) == (
        "nothing_stored",
        "Nothing is stored yet that could be recalled.",
    )
    remember(mira, CAT)
    filtered = ask("Gluons and chromodynamics?")
    assert filtered["xray"]["empty_reason"] == "everything_filtered"
    assert "all were filtered out" in filtered["empty"]
    [candidate] = filtered["xray"]["candidates"]
    assert candidate["verdict"] == "below_floor"
    assert candidate["parts"]
    assert ask("Where is my white cat Blackie?")["empty"] == ""


def run_recall_command(persona: Persona, *args: str, **options: Any) -> str:
    out = io.StringIO()
    call_command("recall", str(persona.uuid), *args, stdout=out, **options)
    return out.getvalue()


def test_the_command_says_why_nothing_came_to_mind(mira: Persona, remember: Any) -> None:
    assert "Nothing is stored" in run_recall_command(mira, "Where is my cat?")
    assert json.loads(run_recall_command(mira, "Where is my cat?", as_json=True))["empty_reason"] == "nothing_stored"
    node = remember(mira, CAT)
    assert "all were filtered out" in run_recall_command(mira, "Gluons?")
    assert "not close enough: 1" in run_recall_command(mira, "Gluons?")
    assert str(node.uuid) not in run_recall_command(mira, "Gluons?")
    assert f"{node.uuid}  not close enough: relevance" in run_recall_command(mira, "Gluons?", xray=True)
    [output] = run_recall_command(mira, "Gluons?", xray=True, as_json=True).splitlines()
    assert json.loads(output)["xray"]["candidates"][0]["verdict"] == "below_floor"


def test_the_very_first_message_is_not_taken_for_something_stored(mira: Persona) -> None:
    first = receive_message(mira, "Hello there, good evening.", None, "web", timezone.now()).message
    result = recall(mira, [first.content], now=timezone.now(), budget_tokens=1_500, window=[first])
    assert (result.items, result.xray.empty_reason) == ((), "nothing_stored")


def test_messages_without_words_ask_nothing(mira: Persona, remember: Any) -> None:
    remember(mira, CAT)
    assert "no words to search for" in run_recall_command(mira, " ")


def test_nothing_asked_is_a_reason_of_its_own() -> None:
    assert (
        len(
            {
                recall_reasons.describe_empty(reason)
                for reason in ("nothing_stored", "everything_filtered", "nothing_asked")
            }
        )
        == 3
    )
    assert recall_reasons.describe_empty("") == ""


def test_a_reason_or_a_rule_that_is_not_known_is_told_by_its_name() -> None:
    assert recall_reasons.describe_empty("too_late") == "too_late"
    assert recall_reasons.describe_left_out({"candidates": [{"verdict": "too_late"}, {"verdict": "chosen"}]}) == [
        ("too_late", 1)
    ]


def test_the_words_are_those_of_the_reader(recall_for_turn: Any, mira: Persona, remember: Any) -> None:
    remember(mira, CAT)
    turn = recall_for_turn("Gluons and chromodynamics?")
    with translation.override("zh-hans"):
        assert reply_explanation.explain_reply(turn)["empty"].startswith("我翻了翻记忆")

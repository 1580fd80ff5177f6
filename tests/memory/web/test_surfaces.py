"""Page, admin, API and command do the same: the same input makes the same plan or the same rows, or is refused."""

import json
from collections.abc import Mapping
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from chat.models import Message
from memory.forgetting import Choice, Target, plan
from memory.models import ConceptNode, Receipt
from persona.models import Persona
from tests.memory.forgetting.life import Life, lived, say

pytestmark = pytest.mark.django_db
# The parts of a choice, and what the surfaces call a part otherwise.
MODES = ("forget", "withhold", "leave")


@pytest.fixture
def life(mira: Persona) -> Life:
    return lived(mira)


@pytest.fixture
def owner(mira: Persona) -> Client:
    return _signed_in(mira.owner)


@pytest.fixture
def curator(db: None) -> Client:
    return _signed_in(User.objects.create_superuser("cora", password="a long word for cora"))


def _signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


# --- forgetting: each function returns the digest of the plan, or "refused" ---
def form_data(choice: Mapping[str, Any]) -> dict[str, Any]:
    """A choice as a form sends it."""
    data = {name: choice[name] for name in ("dependents", "messages", "mentions") if name in choice}
    data |= {f"mention-{message.pk}": mode for mode in MODES for message in choice.get(mode, ())}
    return data | {"staying": [node.pk for node in choice.get("staying", ())]}


def on_page(owner: Client, node: ConceptNode, choice: Mapping[str, Any]) -> str:
    answer = owner.post(f"/memory/{node.persona.uuid}/forget/", {"node": node.uuid, **form_data(choice)})
    return answer.context["sheet"]["digest"] if answer.status_code == 200 else _refused(answer)


def in_admin(curator: Client, node: ConceptNode, choice: Mapping[str, Any]) -> str:
    answer: Any = curator.post("/admin/forget/", {"kind": "node", "key": node.pk, **form_data(choice)})
    return answer.context_data["sheet"]["digest"] if answer.status_code == 200 else _refused(answer)


def by_api(owner: Client, node: ConceptNode, choice: Mapping[str, Any]) -> str:
    data = {"mode" if name == "dependents" else name: value for name, value in choice.items()}
    lists = {name: [row.uuid for row in data[name]] for name in (*MODES, "staying") if name in data}
    answer = owner.get(f"/api/personas/{node.persona.uuid}/nodes/{node.uuid}/forget", data | lists)
    return answer.json()["digest"] if answer.status_code == 200 else _refused(answer)


def by_command(node: ConceptNode, choice: Mapping[str, Any]) -> str:
    flags = {"cascade": "--cascade", "orphan": "--orphan", "withhold": "--keep-messages", "forget": "--with-messages"}
    words = [choice[name] for name in ("dependents", "messages") if name in choice]
    options = [flags.get(word, f"--{word}") for word in words]
    options += [f"--mentions={choice['mentions']}"] if "mentions" in choice else []
    options += [f"--{mode}-mention={message.uuid}" for mode in MODES for message in choice.get(mode, ())]
    options += [f"--staying={kept.uuid}" for kept in choice.get("staying", ())]
    out = StringIO()
    try:
        call_command(
            "forget", f"--persona={node.persona.uuid}", f"--node={node.uuid}", "--plan", "--json", *options, stdout=out
        )
    except CommandError:
        return "refused"
    return str(json.loads(out.getvalue())["digest"])


def _refused(answer: Any) -> str:
    return "refused" if answer.status_code == 422 else f"answered with {answer.status_code}"


def on_every_surface(owner: Client, curator: Client, node: ConceptNode, choice: Mapping[str, Any]) -> dict[str, str]:
    return {
        "page": on_page(owner, node, choice),
        "admin": in_admin(curator, node, choice),
        "API": by_api(owner, node, choice),
        "command": by_command(node, choice),
    }


def test_the_same_choice_makes_the_same_plan_on_every_surface(life: Life, owner: Client, curator: Client) -> None:
    message = say(life.persona, "I miss Milo.", "I know.", minutes=200)
    other = say(life.persona, "Milo was a good cat.", "He was.", minutes=201)
    pair = frozenset({(message.pk, "leave"), (other.pk, "withhold")})
    cases: list[tuple[dict[str, Any], Choice]] = [
        ({}, Choice("cascade", "forget")),
        ({"dependents": "cascade", "messages": "forget"}, Choice()),
        ({"dependents": "orphan"}, Choice("orphan", "forget")),
        ({"messages": "withhold"}, Choice("cascade", "withhold")),
        ({"dependents": "orphan", "messages": "withhold"}, Choice("orphan", "withhold")),
        ({"staying": [life.week]}, Choice(staying=frozenset({life.week.pk}))),
        ({"mentions": "leave"}, Choice(other_mentions="leave")),
        ({"leave": [message], "withhold": [other]}, Choice(mentions=pair)),  # type: ignore[arg-type]
    ]
    for choice, expected in cases:
        digests = on_every_surface(owner, curator, life.milo, choice)
        wanted = plan([Target("node", life.milo.pk)], expected).digest
        assert digests == dict.fromkeys(digests, wanted), choice


def test_a_choice_that_nobody_can_make_is_refused_on_every_surface(life: Life, owner: Client, curator: Client) -> None:
    for choice in ({"dependents": "orphans"}, {"messages": "burn"}, {"mentions": "burn"}):
        results = on_every_surface(owner, curator, life.milo, choice)
        assert results == dict.fromkeys(results, "refused"), choice
    confirmed = {"dependents": "orphans", "confirm": "1", "digest": plan([Target("node", life.milo.pk)]).digest}
    address = f"/memory/{life.persona.uuid}/forget/"
    assert owner.post(address, {"node": life.milo.uuid, **confirmed}).status_code == 422
    assert curator.post("/admin/forget/", {"kind": "node", "key": life.milo.pk, **confirmed}).status_code == 422
    assert not Receipt.objects.exists()


def test_the_command_forgets_the_messages_by_default_as_the_page_does(life: Life) -> None:
    target = (f"--persona={life.persona.uuid}", f"--node={life.milo.uuid}", "--yes", "--json")
    out = StringIO()
    call_command("forget", *target, stdout=out)
    assert json.loads(out.getvalue())["choice"]["messages"] == "forget"
    assert not Message.objects.filter(pk=life.told.pk).exists()


def test_with_keep_messages_the_command_withholds_them(life: Life) -> None:
    target = (f"--persona={life.persona.uuid}", f"--node={life.milo.uuid}", "--yes")
    with pytest.raises(CommandError, match="not allowed with"):
        call_command("forget", *target, "--keep-messages", "--with-messages")
    call_command("forget", *target, "--keep-messages", stdout=StringIO())
    assert Message.objects.get(pk=life.told.pk).withheld


def test_the_api_refuses_ids_that_are_not_the_personas_and_two_answers_about_one_message(
    life: Life, owner: Client, otto: Persona
) -> None:
    address = f"/api/personas/{life.persona.uuid}/nodes/{life.milo.uuid}"
    theirs = say(otto, "Milo is a fine name.", "It is.")
    for query, field in (
        (f"leave={theirs.uuid}", "query.leave"),
        (f"staying={theirs.uuid}", "query.staying"),
        (f"leave={life.told.uuid}&forget={life.told.uuid}", "query.mentions"),
    ):
        for answer in (owner.get(f"{address}/forget?{query}"), owner.delete(f"{address}?{query}")):
            assert (answer.status_code, answer.json()["fields"]) == (422, [field]), query
    assert not Receipt.objects.exists()

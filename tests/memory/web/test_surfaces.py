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
from memory.models import ConceptNode, Entity, Receipt
from memory.store import tombstones
from persona.models import Persona
from tests.memory.forgetting.life import Life, lived, say

pytestmark = pytest.mark.django_db
# The modes that a choice can give to a mentioned message.
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


# --- forgetting: each function returns the digest of the plan, or "refused" -----------------------------------------
def form_data(choice: Mapping[str, Any]) -> dict[str, Any]:
    """A choice as a form sends it."""
    data = {name: choice[name] for name in ("dependents", "messages", "mentions") if name in choice}
    data |= {f"mention-{message.pk}": mode for mode in MODES for message in choice.get(mode, ())}
    return data | {"staying": [node.pk for node in choice.get("staying", ())]}


def on_page(owner: Client, node: ConceptNode, choice: Mapping[str, Any]) -> str:
    answer = owner.post(f"/memory/{node.persona.uuid}/forget/", {"node": node.uuid, **form_data(choice)})
    return answer.context["preview"]["digest"] if answer.status_code == 200 else _refused(answer)


def in_admin(curator: Client, node: ConceptNode, choice: Mapping[str, Any]) -> str:
    answer: Any = curator.post("/admin/forget/", {"kind": "node", "key": node.pk, **form_data(choice)})
    return answer.context_data["preview"]["digest"] if answer.status_code == 200 else _refused(answer)


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
    options += [f"--staying={entity.uuid}" for entity in choice.get("staying", ())]
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
        (
            {"dependents": "orphan", "messages": "withhold", "mentions": "leave"},
            Choice("orphan", "withhold", other_mentions="leave"),
        ),
        ({"staying": [life.week]}, Choice(staying=frozenset({life.week.pk}))),
        ({"leave": [message], "withhold": [other]}, Choice(mentions=pair)),  # type: ignore[arg-type]
    ]
    for choice, expected in cases:
        digests = on_every_surface(owner, curator, life.milo, choice)
        digest = plan([Target("node", life.milo.pk)], expected).digest
        assert digests == dict.fromkeys(digests, digest), choice


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


# --- correcting: each function returns the names of the fields that it refused --------------------------------------
def form_of(memory: Mapping[str, Any]) -> dict[str, Any]:
    """A memory as a form sends it."""
    first, last = memory.get("days", ("", ""))
    return {
        "description": memory["description"],
        "emotional_impact": memory["impact"],
        "emotion_tags": "，".join(memory.get("feelings", ())),
        "relational_tags": memory.get("tags", []),
        "event_time_start": first,
        "event_time_end": last,
    }


def correct_on_page(browser: Client, node: ConceptNode, memory: Mapping[str, Any]) -> set[str]:
    answer = browser.post(f"/memory/{node.persona.uuid}/nodes/{node.uuid}/correct/", form_of(memory))
    return set() if answer.status_code == 302 else _fields(answer.context["form"].errors)


def correct_in_admin(browser: Client, node: ConceptNode, memory: Mapping[str, Any]) -> set[str]:
    answer: Any = browser.post(f"/admin/memory/event/{node.pk}/change/", form_of(memory))
    return set() if answer.status_code == 302 else _fields(answer.context_data["adminform"].form.errors)


def correct_by_api(browser: Client, node: ConceptNode, memory: Mapping[str, Any]) -> set[str]:
    first, last = memory.get("days", ("", ""))
    body = {
        "description": memory["description"],
        "emotional_impact": memory["impact"],
        "emotion_tags": memory.get("feelings", []),
        "relational_tags": memory.get("tags", []),
        "event_time": [first or None, last or None] if first and last else first or last or None,
    }
    address = f"/api/personas/{node.persona.uuid}/nodes/{node.uuid}"
    answer = browser.patch(address, json.dumps(body), "application/json")
    return set() if answer.status_code == 200 else _fields(answer.json()["fields"])


def _fields(names: Any) -> set[str]:
    """The fields, by the name that all surfaces have for them."""
    short = {name.removeprefix("body.body.").split(".")[0] for name in names}
    return {"event_time" if name.startswith("event_time") else name for name in short}


MEMORY: dict[str, Any] = {"description": "Ana sings.", "impact": 2}


@pytest.fixture
def surfaces(
    mira: Persona, owner: Client, curator: Client, remember: Any
) -> dict[str, tuple[Any, Client, ConceptNode]]:
    """How each surface corrects, by whose browser, and a memory of its own."""
    nodes = [remember(mira, f"Ana sang {place}.") for place in ("at home", "at work", "in Rome")]
    ways = [(correct_on_page, owner), (correct_in_admin, curator), (correct_by_api, owner)]
    return {way.__name__: (way, browser, node) for (way, browser), node in zip(ways, nodes, strict=True)}


def test_the_same_correction_is_stored_alike_on_every_surface(surfaces: dict[str, Any]) -> None:
    day, next_day = "2026-03-01", "2026-03-02"
    cases: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({}, {"description": "Ana sings.", "emotional_impact": 2, "event_time_start": None, "emotion_tags": []}),
        ({"description": "  Ana\n sings \t alto. "}, {"description": "Ana sings alto."}),
        ({"description": "x" * 1_999 + " \r\n "}, {"description": "x" * 1_999}),
        ({"impact": -10}, {"emotional_impact": -10}),
        ({"days": (day, "")}, {"event_time_start": day, "event_time_end": day}),
        ({"days": ("", day)}, {"event_time_start": day, "event_time_end": day}),
        ({"days": (day, next_day)}, {"event_time_start": day, "event_time_end": next_day}),
        ({"feelings": ["Joy", " quiet  pride", "joy"]}, {"emotion_tags": ["joy", "quiet pride"]}),
        ({"feelings": ["a", "b", "c", "d"]}, {"emotion_tags": ["a", "b", "c", "d"]}),
        ({"feelings": ["x" * 40, "喜悦"]}, {"emotion_tags": ["x" * 40, "喜悦"]}),
        ({"tags": ["Turning_Point", "commitment"]}, {"relational_tags": ["turning-point", "commitment"]}),
    ]
    for change, expected in cases:
        for name, (correct, browser, node) in surfaces.items():
            assert correct(browser, node, MEMORY | change) == set(), (name, change)
            node.refresh_from_db()
            values = {column: getattr(node, column) for column in expected}
            assert {
                key: value and str(value) if "time" in key else value for key, value in values.items()
            } == expected, name


def test_the_same_bad_correction_is_refused_for_the_same_field_on_every_surface(
    surfaces: dict[str, Any], mira: Persona
) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"description": " \n "}, "description"),
        ({"description": "\x08"}, "description"),
        ({"description": "x" * 2_001}, "description"),
        ({"impact": 11}, "emotional_impact"),
        ({"impact": "much"}, "emotional_impact"),
        ({"impact": 1.5}, "emotional_impact"),
        ({"impact": ""}, "emotional_impact"),
        ({"feelings": ["a", "b", "c", "d", "e"]}, "emotion_tags"),
        ({"feelings": ["joy"] * 5}, "emotion_tags"),
        ({"feelings": ["x" * 41]}, "emotion_tags"),
        ({"tags": ["made-up"]}, "relational_tags"),
        ({"tags": ["commitment", "unresolved", "correction", "vulnerability"]}, "relational_tags"),
        ({"days": ("2026-03-02", "2026-03-01")}, "event_time"),
        ({"days": ("soon", "")}, "event_time"),
        ({"days": ("0001-01-01", "")}, "event_time"),
        ({"days": ("2026-02-30", "2026-03-01")}, "event_time"),
    ]
    for change, field in cases:
        for name, (correct, browser, node) in surfaces.items():
            assert correct(browser, node, MEMORY | change) == {field}, (name, change)
    for _name, (_correct, _browser, node) in surfaces.items():
        assert not node.versions.exists()


def test_words_that_were_forgotten_for_good_are_refused_on_every_surface(
    surfaces: dict[str, Any], mira: Persona
) -> None:
    tombstones.add_tombstone(mira, "Ana sold her soul.")
    page, admin, api = surfaces.values()
    change = MEMORY | {"description": "Ana sold  her soul."}
    assert [correct(browser, node, change) for correct, browser, node in (page, admin)] == [{"description"}] * 2
    _correct, browser, node = api
    answer = browser.patch(
        f"/api/personas/{mira.uuid}/nodes/{node.uuid}",
        json.dumps({"description": change["description"]}),
        "application/json",
    )
    assert (answer.status_code, answer.json()["code"]) == (409, "forgotten")


def test_a_memory_is_added_by_the_rules_of_a_correction(owner: Client, mira: Persona) -> None:
    message = say(mira, "I sang in Rome.", "How lovely.")
    body = {"description": "Ana sang in  Rome.", "messages": [str(message.uuid)], "event_time": "2026-03-01"}
    address = f"/api/personas/{mira.uuid}/nodes"
    for wrong in ({"emotion_tags": ["x" * 41]}, {"relational_tags": ["made-up"]}, {"event_time": "0001-01-01"}):
        assert owner.post(address, json.dumps(body | wrong), "application/json").status_code == 422, wrong
    node = owner.post(address, json.dumps(body), "application/json").json()["node"]
    assert (node["description"], node["event_time_start"], node["event_time_end"]) == (
        "Ana sang in Rome.",
        "2026-03-01",
        "2026-03-01",
    )


# --- entities ---------------------------------------------------------------------------------------------------------
def test_a_description_that_is_too_long_is_refused_on_page_and_api(owner: Client, mira: Persona) -> None:
    entity = Entity.objects.create(persona=mira, canonical_name="Rosa", kind="person")
    page = f"/memory/{mira.uuid}/people/{entity.uuid}/describe/"
    address = f"/api/personas/{mira.uuid}/entities/{entity.uuid}"
    for length, expected in ((400, "x" * 400), (401, "x" * 400), (1, "x")):
        text = f" {'x' * length} "
        assert owner.post(page, {"description": text}).status_code == 302
        entity.refresh_from_db()
        assert entity.description == expected
        answer = owner.patch(address, json.dumps({"description": text}), "application/json")
        assert answer.status_code == (422 if length > 400 else 200)


def test_page_and_admin_change_names_alike(owner: Client, curator: Client, mira: Persona) -> None:
    for number, (browser, address, add, remove) in enumerate(
        (
            (owner, "/memory/{0.persona.uuid}/people/{0.uuid}", "add_name", "remove_name"),
            (curator, "/admin/memory/entity/{0.pk}/do", "name", "unname"),
        )
    ):
        entity = Entity.objects.create(persona=mira, canonical_name=f"Rosa{number}", kind="person")
        browser.post(f"{address.format(entity)}/{add}/", {"name": f"Rosie{number}"})
        browser.post(f"{address.format(entity)}/{add}/", {"name": f"Rosalind{number}"})
        browser.post(f"{address.format(entity)}/rename/", {"name": f"Rosalind{number}"})
        alias = entity.aliases.get(text=f"Rosie{number}")
        for key in ("nonsense", "0", "9" * 30):
            assert browser.post(f"{address.format(entity)}/{remove}/", {"alias": key}).status_code == 404
        browser.post(f"{address.format(entity)}/{remove}/", {"alias": alias.pk})
        entity.refresh_from_db()
        names = set(entity.aliases.values_list("text", flat=True))
        assert (entity.canonical_name, names) == (f"Rosalind{number}", {f"Rosalind{number}"}), address

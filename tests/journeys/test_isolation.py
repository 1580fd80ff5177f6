"""Two users with a persona each: neither finds anything of the other, by any door."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import get_resolver
from django.utils import timezone

from chat.messages import receive_message
from chat.models import Turn
from chat.turns import turn as turns
from echovessel.api.tokens import secret
from echovessel.api_routes import api
from echovessel.llm.models import LLMCall
from memory.imports import analyze_in_process, begin
from memory.models import ConceptNode, Entity, Mention, MergeProposal, Photo, Receipt, Thread, ThreadMember
from memory.recall import recall
from persona.models import CoreDraft, Persona, Picture
from tests.memory.imports.readers.sources import source_of

pytestmark = pytest.mark.django_db

SECRET = "the lighthouse at Cape Sorrow"


@pytest.fixture
def otto_knows(otto: Persona, remember: Any) -> dict[str, Any]:
    """Ben's persona holds a message, an answered turn, an event and an entity."""
    now = timezone.now()
    message = receive_message(otto, f"I was born beside {SECRET}.", None, "web", now).message
    turn = turns.claim(otto.pk, now)
    assert turn is not None
    turns.finish(turn, f"Tell me of {SECRET}.", stopped=False, first_token_at=now, xray={}, now=now)
    node = remember(otto, f"Ben was born beside {SECRET}.")
    entity = Entity.objects.create(persona=otto, canonical_name="Cape Sorrow", kind="place")
    Mention.objects.create(node=node, entity=entity)
    other = Entity.objects.create(persona=otto, canonical_name="The Sorrow", kind="place")
    Mention.objects.create(node=node, entity=other)
    proposal = MergeProposal.objects.create(a=entity, b=other, score=0.5)
    brought = source_of("Ben: I bake bread.\nOtto: Lovely.\n", "talk.txt")
    job = begin(otto.owner, otto, brought, now, keep=True)
    analyze_in_process(job, brought)
    draft = CoreDraft.objects.create(persona=otto, label="user", text=SECRET, content_hash="0", created_at=now)
    thread = Thread.objects.create(persona=otto, title=f"Rebuilding {SECRET}", created_at=now)
    ThreadMember.objects.create(thread=thread, node=node)
    Picture.objects.create(persona=otto, format="png", content=SECRET.encode())
    Photo.objects.create(entity=entity, format="png", content=SECRET.encode())
    first_word = Turn.objects.create(persona=otto, session=message.session, status="done", spoke_first=True)
    receipt = Receipt.objects.create(persona=otto, owner_id=otto.owner_id, at=now)
    rows = {"message": message, "turn": turn, "node": node, "entity": entity, "session": message.session}
    token, _told = secret.create(otto.owner, "", now)
    rows |= {"token": token, "import": job, "draft": draft, "thread": thread}
    rows |= {"proposal": proposal, "receipt": receipt, "persona": otto, "first_word": first_word}
    return {name: row.uuid for name, row in rows.items()}


def addresses(ids: dict[str, Any]) -> list[str]:
    persona = ids["persona"]
    return [
        f"/chat/{persona}/",
        f"/chat/{persona}/history/?before={ids['message']}",
        f"/chat/{persona}/history/?around={ids['message']}",
        f"/chat/{persona}/history/?on=2000-01-01",
        f"/chat/{persona}/turns/{ids['turn']}/why/",
        f"/chat/{persona}/turns/{ids['first_word']}/why-now/",
        f"/chat/{persona}/reaching-out/",
        f"/memory/{persona}/timeline/",
        f"/memory/{persona}/remembered/?since={ids['message']}",
        f"/memory/{persona}/learned/?session={ids['session']}",
        f"/memory/{persona}/",
        f"/memory/{persona}/nodes/{ids['node']}/",
        f"/memory/{persona}/forget/?node={ids['node']}",
        f"/memory/{persona}/forget/?message={ids['message']}",
        f"/memory/{persona}/forget/?session={ids['session']}",
        f"/memory/{persona}/forget/?entity={ids['entity']}",
        f"/memory/{persona}/companion/",
        f"/memory/{persona}/picture/",
        f"/memory/{persona}/year/",
        f"/memory/{persona}/story-lines/",
        f"/memory/{persona}/story-lines/{ids['thread']}/",
        f"/memory/{persona}/people/",
        f"/memory/{persona}/people/{ids['entity']}/",
        f"/memory/{persona}/people/{ids['entity']}/photo/",
        f"/memory/{persona}/names/",
        f"/memory/{persona}/receipts/",
        f"/memory/{persona}/bring/",
        f"/memory/{persona}/bring/{ids['import']}/",
        f"/memory/{persona}/drafts/",
        f"/account/companions/{persona}/delete/",
        f"/account/receipts/{ids['receipt']}/",
        f"/api/personas/{persona}",
        f"/api/personas/{persona}/messages",
        f"/api/personas/{persona}/sessions",
        f"/api/personas/{persona}/nodes",
        f"/api/personas/{persona}/nodes/{ids['node']}",
        f"/api/personas/{persona}/nodes/{ids['node']}/trace",
        f"/api/personas/{persona}/nodes/{ids['node']}/forget",
        f"/api/personas/{persona}/nodes/{ids['node']}/dependents",
        f"/api/personas/{persona}/messages/{ids['message']}/forget",
        f"/api/personas/{persona}/sessions/{ids['session']}/forget",
        f"/api/personas/{persona}/entities/{ids['entity']}/forget",
        f"/api/personas/{persona}/threads",
        f"/api/personas/{persona}/entities",
        f"/api/personas/{persona}/proposals",
        f"/api/personas/{persona}/receipts",
        f"/api/personas/{persona}/receipts/{ids['receipt']}",
        f"/api/personas/{persona}/drafts",
        f"/api/personas/{persona}/imports",
        f"/api/personas/{persona}/imports/{ids['import']}",
        f"/api/personas/{persona}/imports/{ids['import']}/estimate",
        f"/api/imports/{ids['import']}",
    ]


def actions(ids: dict[str, Any]) -> list[tuple[str, str]]:
    """What changes something: method and address."""
    persona, api = ids["persona"], f"/api/personas/{ids['persona']}"
    return [
        ("POST", f"/memory/{persona}/remember/{ids['message']}/"),
        ("POST", f"/chat/{persona}/reaching-out/"),
        *(
            ("POST", f"/memory/{persona}/nodes/{ids['node']}/{action}/")
            for action in ("correct", "restore", "hide", "came_true")
        ),
        ("POST", f"/memory/{persona}/forget/?node={ids['node']}"),
        *(
            ("POST", f"/memory/{persona}/story-lines/{ids['thread']}/{action}/")
            for action in ("rename", "end", "reopen", "dissolve", "restore", "take_out", "put_back")
        ),
        *(
            ("POST", f"/memory/{persona}/people/{ids['entity']}/{action}/")
            for action in ("rename", "describe", "split")
        ),
        ("POST", f"/memory/{persona}/names/merge/"),
        ("POST", f"/memory/{persona}/names/{ids['proposal']}/merge/"),
        ("POST", f"/memory/{persona}/bring/{ids['import']}/"),
        ("POST", f"/memory/{persona}/bring/{ids['import']}/cancel/"),
        ("POST", f"/memory/{persona}/drafts/{ids['draft']}/accept/"),
        ("POST", f"/account/companions/{persona}/delete/"),
        ("PATCH", f"{api}/nodes/{ids['node']}"),
        ("POST", f"{api}/nodes/{ids['node']}/hide"),
        *(("POST", f"{api}/threads/{ids['thread']}/{action}") for action in ("end", "dissolve", "restore")),
        ("POST", f"{api}/threads/{ids['thread']}/nodes/{ids['node']}/take_out"),
        *(("POST", f"{api}/turns/{ids['turn']}/{action}") for action in ("another", "choose")),
        ("DELETE", f"{api}/nodes/{ids['node']}"),
        ("DELETE", f"{api}/messages/{ids['message']}"),
        ("DELETE", f"{api}/sessions/{ids['session']}"),
        ("DELETE", f"{api}/entities/{ids['entity']}"),
        ("POST", f"{api}/proposals/{ids['proposal']}/merge"),
        ("POST", f"{api}/entities/{ids['entity']}/split"),
        ("POST", f"{api}/imports/{ids['import']}/confirm"),
        ("POST", f"{api}/imports/{ids['import']}/cancel"),
        ("POST", f"{api}/imports/{ids['import']}/take-back"),
        ("POST", f"{api}/drafts/{ids['draft']}/accept"),
        ("POST", f"{api}/drafts/{ids['draft']}/reject"),
        ("POST", f"/api/imports/{ids['import']}/cancel"),
    ]


def test_pages_and_api_of_another_do_not_exist(
    mira: Persona, otto_knows: dict[str, Any], client: Client, ben: User
) -> None:
    client.force_login(ben)
    assert {url: client.get(url).status_code for url in addresses(otto_knows)} == dict.fromkeys(
        addresses(otto_knows), 200
    )
    assert b">Cape Sorrow<" in client.get(f"/memory/{otto_knows['persona']}/timeline/").content
    client.force_login(mira.owner)
    assert {url: client.get(url).status_code for url in addresses(otto_knows)} == dict.fromkeys(
        addresses(otto_knows), 404
    )
    api = f"/api/personas/{otto_knows['persona']}"
    assert client.post(f"{api}/recall", {"turns": ["x"]}, "application/json").status_code == 404
    outcome = f"{api}/nodes/{otto_knows['node']}/outcome"
    assert client.post(outcome, {"outcome": "fulfilled"}, "application/json").status_code == 404


def test_actions_on_what_is_anothers_find_nothing_and_change_nothing(
    mira: Persona, otto_knows: dict[str, Any], client: Client
) -> None:
    client.force_login(mira.owner)
    before = rows_of_memory()
    for ids in (otto_knows, otto_knows | {"persona": mira.uuid}):
        for method, address in actions(ids):
            if address in (f"/account/companions/{mira.uuid}/delete/", f"/chat/{mira.uuid}/reaching-out/"):
                continue
            answer = client.generic(method, address, "{}", "application/json")
            assert answer.status_code == 404, (method, address)
    assert rows_of_memory() == before


def rows_of_memory() -> list[dict[str, Any]]:
    return [row for model in (ConceptNode, Entity, Thread, ThreadMember, Turn) for row in model.objects.values()]


def test_ids_of_another_are_not_found_under_ones_own_persona(
    mira: Persona, otto_knows: dict[str, Any], client: Client
) -> None:
    client.force_login(mira.owner)
    mine = otto_knows | {"persona": mira.uuid}
    theirs = {
        str(otto_knows[name])
        for name in ("message", "turn", "node", "entity", "receipt", "session", "first_word", "import", "thread")
    }
    asked = [url for url in addresses(mine) if any(one in url for one in theirs) and "/learned/" not in url]
    assert len(asked) == 26
    assert {url: client.get(url).status_code for url in asked} == dict.fromkeys(asked, 404)
    assert client.get(f"/api/personas/{mira.uuid}/messages?before={mine['message']}").status_code == 404
    assert client.get(f"/api/personas/{mira.uuid}/nodes?before={mine['node']}").status_code == 404


def test_nothing_of_another_is_in_any_answer(mira: Persona, otto_knows: dict[str, Any], client: Client) -> None:
    client.force_login(mira.owner)
    for url in ("/api/personas", *addresses(otto_knows | {"persona": mira.uuid})):
        assert b"Sorrow" not in client.get(url).content, url
    answer = client.post(f"/api/personas/{mira.uuid}/recall", {"turns": [SECRET]}, "application/json").json()
    assert answer["items"] == []
    for search in (f"/memory/{mira.uuid}/search/", f"/memory/{mira.uuid}/"):
        found = client.post(search, {"text": "lighthouse"})
        assert found.status_code == 200
        assert b"Sorrow" not in found.content
    chosen = {"node": [str(otto_knows["node"])], "node_action": "pin"}
    assert client.post(f"/memory/{mira.uuid}/chosen/", chosen).status_code == 302
    assert not ConceptNode.objects.filter(pinned=True).exists()
    assert recall(mira, [SECRET], now=timezone.now(), budget_tokens=1500).items == ()


def test_without_a_login_nothing_is_found(otto_knows: dict[str, Any], client: Client) -> None:
    for url in addresses(otto_knows):
        assert client.get(url).status_code == (401 if url.startswith("/api") else 302), url
    for method, url in actions(otto_knows):
        assert client.generic(method, url).status_code == (401 if url.startswith("/api") else 302), url


def test_no_page_answers_a_stranger(otto_knows: dict[str, Any], client: Client) -> None:
    """Whatever page is asked for, by whatever method: the way to the login."""
    values = named(otto_knows)
    for route in (route for route in routes() if route not in OF_ANYBODY):
        actions = [values | {"action": action} for action in ("hide", "rename", "merge")]
        for address in {filled(route, words | {"rest": "x"}) for words in actions}:
            for method in METHODS:
                answer = client.generic(method, address, "{}", "application/json")
                is_of_the_api = route.startswith("api/")
                expected = {401, 405} if is_of_the_api else {302, 404} if "action>" in route else {302}
                assert answer.status_code in expected, (method, route)
                assert b"Sorrow" not in answer.content


def test_each_finds_her_own(mira: Persona, otto_knows: dict[str, Any], remember: Any) -> None:
    remember(mira, "Ana keeps bees on the roof.")
    found = recall(mira, ["Where does Ana keep her bees?"], now=timezone.now(), budget_tokens=1500)
    assert [item.text for item in found.items if "bees" in item.text]
    assert ConceptNode.objects.count() == 2


# --- every address there is -----------------------------------------------------------------------------------------
# Addresses that name nobody's rows: they show what is the caller's own, or nothing. A new one fails here until somebody
# has said what it is; one with an id is walked, and fails until its id is known to `named`.
OF_THE_CALLER = {
    "",
    "login/",
    "logout/",
    "leave/",
    "welcome/persona/",
    "welcome/persona/material/",
    "welcome/<str:token>/",
    "account/",
    "account/data/",
    "account/look/",
    "account/model/",
    "account/name/",
    "account/password/",
    "account/sign-out/",
    "account/time-zone/",
    "account/tokens/",
    "account/delete/",
    "i18n/setlang/",
    "healthz",
    "help/",
    "help/<slug:page>/",
    "push/",
    "push/gone/",
    "push/key/",
    "sw.js",
    "manifest.webmanifest",
    "offline/",
    # By a token alone; names are looked for among the personas of its owner
    # (tests/chat/openai_api/test_chat_completions.py).
    *(
        f"{door}{name}"
        for door in ("v1/", "v1//")
        for name in ("", "models", "models/", "models/<path:name>", "chat/completions", "chat/completions/")
    ),
    "api/",
    "api/docs",
    "api/openapi.json",
}
_NAMED = ("node", "message", "session", "turn", "entity", "proposal", "receipt", "import", "draft", "thread")
# Addresses that say nothing of anybody, or know the caller by a token alone.
OF_ANYBODY = {name for name in OF_THE_CALLER if name.startswith(("v1/", "log", "welcome/<"))} | {
    "i18n/setlang/",
    "healthz",
    "help/",
    "help/<slug:page>/",
    "sw.js",
    "manifest.webmanifest",
    "offline/",
    "push/gone/",
}
OF_ROWS = {f"{name}_id" for name in _NAMED} | {"of"}
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
QUERY = "confirm=0123&q=x"


def named(ids: dict[str, Any]) -> dict[str, Any]:
    """What stands for each parameter of an address."""
    words = {"action": "hide", "label": "style", "answer": "merge", "version": 1, "what": "nodes"}
    return ids | words | {"job": ids["import"]} | {f"{name}_id": value for name, value in ids.items()}


def routes(patterns: Any = None, before: str = "") -> Iterator[str]:
    """Every route of the site but the desk's and the API's operations, as the URL conf writes it."""
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        route = before + str(pattern.pattern)
        if hasattr(pattern, "url_patterns"):
            if route not in ("admin/", "api/"):
                yield from routes(pattern.url_patterns, route)
        else:
            yield route


def operations() -> Iterator[tuple[str, str, Any]]:
    """Method, path and an example of the body of every operation of the API."""
    for path, methods in api.document["paths"].items():
        for method, operation in methods.items():
            content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            yield method.upper(), path, content.get("example")


def filled(route: str, values: dict[str, Any]) -> str:
    """The address of a route of the URL conf, or of a path of the API. Raises KeyError for an id nobody has named."""
    return "/" + re.sub(r"<\w+:(\w+)>|{(\w+)}", lambda found: str(values[found[1] or found[2]]), route).lstrip("/")


def ids_of(path: str) -> list[str]:
    return [name for pair in re.findall(r"<uuid:(\w+)>|{(\w+)}", path) for name in pair if name]


def asked(client: Client, method: str, address: str, body: Any) -> int:
    return client.generic(method, address, json.dumps(body or {}), "application/json").status_code


def test_no_page_with_an_id_is_found_by_anybody_else(mira: Persona, otto_knows: dict[str, Any], client: Client) -> None:
    client.force_login(mira.owner)
    values = named(otto_knows)
    walked = [route for route in routes() if route not in OF_THE_CALLER]
    assert len(walked) > 20
    for route in walked:
        has_actions_of_its_own = any(f"<{kind}_action" in route for kind in ("person", "name", "draft", "thread"))
        actions = ("hide", "rename", "merge", "accept", "take_out") if has_actions_of_its_own else ("hide",)
        found = {
            asked(client, method, filled(route, values | {"action": action}), None)
            for method in METHODS
            for action in actions
        }
        assert 404 in found, route
        assert found <= {404, 405}, route


def test_no_operation_finds_what_is_anothers(mira: Persona, otto_knows: dict[str, Any], client: Client) -> None:
    client.force_login(mira.owner)
    walked = 0
    for mine in ({}, {"persona": mira.uuid}):
        values = named(otto_knows | mine)
        for method, path, body in operations():
            if mine and not set(ids_of(path)) & OF_ROWS:
                continue
            for address in addresses_of(path, values, otto_knows):
                walked += 1
                assert asked(client, method, address, body) == 404, (method, path, address)
    assert walked > 150


def addresses_of(path: str, values: dict[str, Any], ids: dict[str, Any]) -> Iterator[str]:
    """Where another's row might be found: below the persona that is named, or by the paths that name none."""
    if path.startswith("/api/personas/"):
        kinds = ("nodes", "messages", "sessions", "entities") if "{what}" in path else ("",)
        of = {"nodes": "node", "messages": "message", "sessions": "session", "entities": "entity", "": "node"}
        for kind in kinds:
            yield filled(path, values | {"what": kind, "of": ids[of[kind]]} | actions_of(path)) + f"?{QUERY}"
    elif "{of}" in path:
        for name in ("node", "message", "session", "entity"):
            for persona in ("", f"&persona={ids['persona']}"):
                yield filled(path, {"of": ids[name]}) + f"?{QUERY}{persona}"
    elif path.startswith(("/api/receipts/", "/api/imports/")):
        yield filled(path, values)
    elif path not in OF_NO_PERSONA:
        yield f"{path}?{QUERY}&persona={ids['persona']}"


OF_NO_PERSONA = ("/api/personas", "/api/receipts", "/api/imports", "/api/cost", "/api/admin/persona/onboarding")


def actions_of(path: str) -> dict[str, str]:
    """An action that the path knows, so that it is not refused before anything is looked for."""
    if "/turns/" in path:
        return {"action": "retry"}
    if "/threads/" in path:
        return {"action": "take_out" if "/nodes/" in path else "end"}
    return {"action": "withhold" if "/receipts/" in path else "hide"}


def test_the_cost_of_anothers_persona_is_nothing(mira: Persona, otto_knows: dict[str, Any], client: Client) -> None:
    LLMCall.objects.create(
        owner_id=User.objects.get(username="ben").pk,
        persona_uuid=otto_knows["persona"],
        purpose="chat",
        provider="x",
        model="y",
        outcome="ok",
    )
    client.force_login(mira.owner)
    assert client.get("/api/cost").json() == []
    assert client.get(f"/api/cost?persona={otto_knows['persona']}").json() == []


def test_no_operation_answers_a_stranger(otto_knows: dict[str, Any], client: Client) -> None:
    values = named(otto_knows) | {"of": otto_knows["node"]}
    for method, path, body in operations():
        assert asked(client, method, filled(path, values), body) == 401, (method, path)

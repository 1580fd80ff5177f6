"""Every operation of the API, with generated requests: never a 500, and every response matches the document."""

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import jsonschema_rs
import pytest
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from django.test import Client
from django.utils import timezone
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from chat import rate_limit
from chat.messages import receive_message
from chat.turns import turn as turns
from echovessel import api_routes
from echovessel.api.tokens import secret
from echovessel.llm.models import LLMCall
from memory.imports import analyze_in_process, begin
from memory.models import Alias, Entity, Evidence, Filling, Mention, MergeProposal, NodeVersion, Receipt
from memory.web.api import memories
from persona.models import Persona
from persona.onboarding import drafts
from persona.onboarding.drafts import DraftSource
from tests.memory.imports.readers.sources import source_of as given_file

pytestmark = pytest.mark.django_db
ONCE, MANY = 1, 100


@pytest.fixture
def ids(mira: Persona, remember: Any) -> dict[str, Any]:
    """The ids of rows of Ana's persona, by their names in paths and bodies."""
    now = timezone.now()
    message = receive_message(mira, "I got a cat called Blackie.", None, "web", now).message
    turn = turns.claim(mira.pk, now)
    assert turn is not None
    turns.finish(turn, "How lovely.", stopped=False, first_token_at=now, xray={}, now=now)
    event = remember(mira, "Ana got a cat called Blackie.", session=message.session)
    Evidence.objects.create(node=event, message=message, quote="a cat", start=6, end=11)
    promise = remember(mira, "Ana will call the vet.", kind="intention", source="reflection")
    Filling.objects.create(parent=promise, child=event)
    NodeVersion.objects.create(node=event, version=1, description="A cat.", emotional_impact=0, edited_at=now)
    cat, other = (Entity.objects.create(persona=mira, canonical_name=name, kind="pet") for name in ("Blackie", "Cat"))
    for entity in (cat, other):
        Mention.objects.create(node=event, entity=entity)
        Alias.objects.create(entity=entity, persona=mira, text=entity.canonical_name, normalized=entity.canonical_name)
    proposal = MergeProposal.objects.create(a=cat, b=other, score=0.5, reasons=["sounds_alike"])
    receipt = Receipt.objects.create(persona=mira, owner_id=mira.owner_id, at=now)
    upload = given_file("Ana: I bake bread.\nMira: Lovely.\n", "talk.txt")
    job = begin(mira.owner, mira, upload, now, keep=True)
    analyze_in_process(job, upload)
    with transaction.atomic():
        draft = drafts.propose(mira, "user", "Ana bakes bread.", [DraftSource("I bake bread.")], None, now)
    assert draft is not None
    LLMCall.objects.create(
        owner=mira.owner, persona_uuid=mira.uuid, purpose="chat", provider="x", model="y", outcome="ok"
    )
    return {
        "persona_id": mira.uuid,
        "message_id": message.uuid,
        "session_id": message.session.uuid,
        "turn_id": turn.uuid,
        "node_id": event.uuid,
        "thought_id": promise.uuid,
        "entity_id": cat.uuid,
        "proposal_id": proposal.uuid,
        "receipt_id": receipt.uuid,
        "import_id": job.uuid,
        "draft_id": draft.uuid,
        "version": 1,
        "one": str(cat.uuid),
        "other": str(other.uuid),
        "messages": [str(message.uuid)],
        "grounds": [str(event.uuid)],
        "nodes": [str(event.uuid)],
    }


@pytest.fixture
def no_rate_limit(settings: Any) -> Iterator[None]:
    """Lift the rate limits, and keep the test's connection open after a request."""
    settings.KNOBS = {"api.requests_per_minute": 100_000, "chat.lines_per_minute": 600}
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)
    api_routes.pace.forget()
    rate_limit.forget()


@pytest.fixture
def bearer(mira: Persona) -> dict[str, str]:
    _token, token_text = secret.create(mira.owner, "", timezone.now(), timezone.now() + timedelta(hours=1))
    return {"Authorization": f"Bearer {token_text}"}


def test_no_operation_breaks_and_every_answer_is_as_described(
    ids: dict[str, Any], bearer: dict[str, str], no_rate_limit: None
) -> None:
    ask_everything(ids, bearer, ONCE)


@pytest.mark.campaign
def test_nor_with_a_hundred_questions_for_each_operation(
    ids: dict[str, Any], bearer: dict[str, str], no_rate_limit: None
) -> None:
    ask_everything(ids, bearer, MANY)


def ask_everything(ids: dict[str, Any], headers: dict[str, str], times: int) -> None:
    """Call every operation this number of times; the changes of one call are rolled back before the next."""
    import schemathesis  # noqa: PLC0415  (2 s, and every worker collects this module)
    from schemathesis.specs.openapi import checks  # noqa: PLC0415

    promises = [
        schemathesis.checks.not_a_server_error,
        checks.status_code_conformance,
        checks.content_type_conformance,
        checks.response_headers_conformance,
        checks.response_schema_conformance,
    ]

    document = schemathesis.openapi.from_wsgi("/api/openapi.json", get_wsgi_application(), headers=headers)
    operations = [operation.ok() for operation in document.get_all_operations()]
    assert len(operations) > 70
    for operation in operations:
        create_check(operation, ids, headers, times, promises)()


def create_check(
    operation: Any, ids: dict[str, Any], headers: dict[str, str], times: int, promises: list[Any]
) -> Callable[[], None]:
    @settings(
        max_examples=times,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(), is_known=st.just(True) | st.booleans())
    def ask(case: Any, is_known: bool) -> None:
        if is_known:
            use_existing_ids(case, ids)
        rate_limit.forget()
        with transaction.atomic():
            case.validate_response(case.call(headers=headers | {"Accept-Encoding": "identity"}), checks=promises)
            transaction.set_rollback(True)

    return ask


def use_existing_ids(case: Any, ids: dict[str, Any]) -> None:
    """Replace the ids in the case with ids of existing rows."""
    of = {"what": case.path_parameters.get("what"), "path": case.path}
    for name in case.path_parameters:
        if name == "of":
            case.path_parameters[name] = str(ids[id_name_of(of)])
        elif name in ids:
            case.path_parameters[name] = str(ids[name])
    if "persona" in case.query:
        case.query["persona"] = str(ids["persona_id"])
    if isinstance(case.body, dict):
        case.body |= {name: ids[name] for name in case.body if name in ids and name != "nodes"}


def id_name_of(of: dict[str, Any]) -> str:
    kinds = {"messages": "message_id", "sessions": "session_id", "entities": "entity_id", "thoughts": "thought_id"}
    return next((name for kind, name in kinds.items() if kind in (of["what"] or of["path"])), "node_id")


# --- the document itself --------------------------------------------------------------------------------------------
def test_every_operation_says_what_it_is_for_and_gives_examples_that_fit() -> None:
    document = api_routes.api.document
    components = {"components": {"schemas": document["components"]["schemas"]}}
    count = 0
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            assert all(operation[name] for name in ("summary", "description", "tags")), (method, path)
            for content in contents(operation):
                count += 1
                validator = jsonschema_rs.validator_for({**content["schema"], **components})
                assert list(validator.iter_errors(json.loads(json.dumps(content["example"])))) == [], (method, path)
    assert count > 600


def test_the_example_of_every_body_is_understood(
    ids: dict[str, Any], bearer: dict[str, str], no_rate_limit: None, client: Client
) -> None:
    """Send the examples of the document: their ids do not exist, and nothing else is wrong with them."""
    document = json.loads(json.dumps(api_routes.api.document))
    count = 0
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            content = operation.get("requestBody", {}).get("content", {}).get("application/json")
            if content is None:
                continue
            with transaction.atomic():
                answer = client.generic(
                    method.upper(),
                    fill_path(path, ids),
                    json.dumps(content["example"]),
                    "application/json",
                    headers=bearer,
                )
                transaction.set_rollback(True)
            count += 1
            assert answer.status_code in (200, 201, 202, 404, 409), (method, path, answer.content)
    assert count > 20


def fill_path(path: str, ids: dict[str, Any]) -> str:
    """The path with ids of existing rows for its variables."""
    others = {"of": ids["node_id"], "what": "nodes", "label": "user", "action": "hide", "answer": "merge"}
    if path.endswith("/outcome"):
        others["node_id"] = ids["thought_id"]  # a promise has one
    for name, value in (ids | others).items():
        path = path.replace(f"{{{name}}}", str(value))
    return path


def test_every_list_is_read_to_its_end_without_gap_or_double(
    ids: dict[str, Any], mira: Persona, bearer: dict[str, str], no_rate_limit: None, client: Client, remember: Any
) -> None:
    """Also while rows are added: they are newer, so they come before the pages that are read."""
    document = json.loads(json.dumps(api_routes.api.document))
    lists = [path for path, methods in document["paths"].items() if "before" in names_in(methods.get("get", {}))]
    assert len(lists) > 15
    receive_message(mira, "My cat is black.", None, "api", timezone.now())
    for kind, source in (("event", "extraction"), ("thought", "reflection")):
        remember(mira, f"A cat, as {kind}.", kind=kind, source=source)
    several = 0
    for path in lists:
        address = f"{fill_path(path, ids)}?" + ("q=cat&" if path.endswith("/search") else "")

        def page(more: str, at: str = address) -> Any:
            return client.get(at + more, headers=bearer).json()

        with transaction.atomic():
            whole, first = page("limit=200"), page("limit=1")
            receive_message(mira, "Another cat.", None, "web", timezone.now())
            remember(mira, "Ana saw another cat.")
            read, before = first["items"], first["next"]
            while before is not None and len(read) <= len(whole["items"]):
                following = page(f"limit=1&before={before}")
                read, before = read + following["items"], following["next"]
            transaction.set_rollback(True)
        assert [item_id(item) for item in read] == [item_id(item) for item in whole["items"]], path
        several += len(read) > 1
    assert several > 9


def item_id(item: dict[str, Any]) -> Any:
    """The id of an item of a list; other fields, as the number of messages of a session, may change meanwhile."""
    return item.get("id", item)


def names_in(operation: dict[str, Any]) -> set[str]:
    return {parameter["name"] for parameter in operation.get("parameters", [])}


def test_no_body_takes_what_it_does_not_know_nor_text_without_end() -> None:
    document = json.loads(json.dumps(api_routes.api.document))
    schemas = document["components"]["schemas"]
    input_schemas = {name: schema for name, schema in schemas.items() if name.endswith(("In", "Change", "Part"))}
    assert len(input_schemas) > 15
    for name, schema in input_schemas.items():
        assert schema["additionalProperties"] is False, name
        assert list(endless(schema)) == [], name
    for methods in document["paths"].values():
        for operation in methods.values():
            for parameter in operation["parameters"]:
                assert list(endless(parameter["schema"])) == [], (operation["operationId"], parameter["name"])


def contents(operation: Any) -> Iterator[Any]:
    for part in (operation.get("requestBody", {}), *operation["responses"].values()):
        yield from part.get("content", {}).values()


def endless(schema: Any) -> Iterator[Any]:
    """Strings and lists of a schema without a maximal length."""
    if isinstance(schema, list):
        for part in schema:
            yield from endless(part)
    elif isinstance(schema, dict):
        bounded = {"maxLength", "maxItems", "enum", "const", "format"} & schema.keys()
        if schema.get("type") in ("string", "array") and not bounded:
            yield schema
        for name, part in schema.items():
            if name not in ("examples", "default", "example"):
                yield from endless(part)


def test_what_is_refused_before_any_operation_is_a_problem_too(mira: Persona, client: Client, settings: Any) -> None:
    client.force_login(mira.owner)
    own = f"/api/personas/{mira.uuid}"
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    cases: list[tuple[Any, int, str]] = [
        (client.get("/api/nothing"), 404, "not_found"),
        (client.post("/api/nothing/at/all", {}, "application/json"), 404, "not_found"),
        (Client(enforce_csrf_checks=True).post("/api/personas/7"), 404, "not_found"),
        (client.delete(f"{own}/messages"), 405, "method_not_allowed"),
        (Client(enforce_csrf_checks=True).put(f"{own}/events"), 405, "method_not_allowed"),
        (client.post(f"{own}/messages", {"content": "x" * 100}, "application/json"), 413, "too_large"),
        (client.get(f"{own}/messages?" + "a=b&" * 1001), 400, "unreadable"),
    ]
    for answer, status, code in cases:
        problem = answer.json()
        assert (answer.status_code, problem["status"], problem["code"]) == (status, status, code)
        assert answer.headers["content-type"] == "application/problem+json"
    assert {answer.headers.get("allow") for answer, status, _code in cases if status == 405} == {"GET", "GET, POST"}


def test_who_asks_for_the_head_alone_is_given_it(mira: Persona, client: Client) -> None:
    assert client.head(f"/api/personas/{mira.uuid}").status_code == 401
    client.force_login(mira.owner)
    for address, status in ((f"/api/personas/{mira.uuid}", 200), ("/api/personas", 200), ("/api/cost/x", 404)):
        answer = client.head(address)
        assert (answer.status_code, answer.content) == (status, b"")
    assert client.head(f"/api/personas/{mira.uuid}/entities/merge").status_code == 405


def test_an_internal_error_is_a_problem_and_its_log_has_no_text_of_messages(
    mira: Persona, client: Client, monkeypatch: Any, caplog: Any
) -> None:
    words = " ".join(["the", "secret", "garden"])  # a traceback quotes the source

    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError(words)

    monkeypatch.setattr(memories, "recall", broken)
    client.force_login(mira.owner)
    answer = client.post(f"/api/personas/{mira.uuid}/recall", {"turns": ["hello"]}, "application/json")
    assert (answer.status_code, answer.json()["code"]) == (500, "internal")
    assert answer.headers["content-type"] == "application/problem+json"
    assert "RuntimeError" in caplog.text
    assert words not in caplog.text + answer.content.decode()

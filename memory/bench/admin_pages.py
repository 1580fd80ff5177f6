"""Server time and number of statements of each admin page, for a user with all permissions.

Lists and their last countable pages, every filter, searches of one, two and more characters, change pages, previews of
forgetting. Left out: the network and the browser.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from statistics import median
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client, override_settings
from django.urls import reverse
from tqdm import tqdm

from chat.models import Message, Session
from memory.bench.figures import Spread, spread
from memory.bench.synthetic import Size, write_life
from memory.models import ConceptNode, Entity
from persona.models import Persona

REPETITIONS = 5
MAX_MS = 500
FORGET_COUNT = 20
LISTS: dict[str, Sequence[str]] = {
    "chat_message": ["role__exact=user", "withheld__exact=1", "lately=7", "lately=365", "persona=1"],
    "chat_session": ["status__exact=failed", "close_reason__exact=idle", "trivial__exact=1", "lately=365", "persona=1"],
    "chat_turn": ["status__exact=failed"],
    "memory_event": [
        "status__exact=active",
        "status__exact=quarantined",
        "verification__exact=disputed",
        "pinned__exact=1",
        "source__exact=import",
        "subject__exact=shared",
        "impact=heavy",
        "impact=none",
        "tag=unresolved",
        "tag=vulnerability",
        "lately=30",
        "lately=365",
        "persona=1",
        "status__exact=active&tag=unresolved&impact=great",
    ],
    "memory_thought": ["status__exact=hidden", "impact=great"],
    "memory_expectation": [],
    "memory_entity": ["kind__exact=person", "status__exact=merged"],
    "memory_mergeproposal": [],
    "persona_persona": [],
    "memory_receipt": [],
    "audit_look": [],
    "llm_llmcall": [],
}
SEARCHED_MODELS = ["chat_message", "chat_session", "memory_event", "memory_thought", "memory_entity"]
WORDS = ["小", "花园", "小提琴", "ba", "garden", "no such word anywhere"]


@dataclass(frozen=True)
class Visit:
    """One page: its name, its wall-clock and processor time in milliseconds, its statements."""

    name: str
    ms: Spread
    cpu_ms: float
    statements: int


def measure(nodes: int, messages: int) -> dict[str, Any]:
    """The figures of every page. If the database already contains a persona, they are measured with it."""
    users = get_user_model().objects
    persona = Persona.objects.first() or write_life(users.create_user("bench"), Size(nodes, messages))
    visits = visit_pages(persona)
    return {
        "nodes": ConceptNode.objects.count(),
        "messages": Message.objects.count(),
        "desk_ms": {visit.name: visit.ms for visit in visits},
        "desk_cpu_ms": {visit.name: visit.cpu_ms for visit in visits},
        "desk_statements": {visit.name: visit.statements for visit in visits},
        "slowest_ms": max(visit.ms["p50"] for visit in visits),
        "slowest_cpu_ms": max(visit.cpu_ms for visit in visits),
        "over": [visit.name for visit in visits if visit.ms["p50"] > MAX_MS],
    }


def format_table(figures: Mapping[str, Any]) -> Iterator[str]:
    """The figures as text."""
    yield f"{figures['nodes']} memories, {figures['messages']} lines"
    yield f"{'milliseconds of the server':56}{'median':>10}{'p95':>10}{'processor':>12}{'statements':>12}"
    for name, ms in figures["desk_ms"].items():
        cpu_ms, statements = figures["desk_cpu_ms"][name], figures["desk_statements"][name]
        yield f"{name:56}{ms['p50']:10.1f}{ms['p95']:10.1f}{cpu_ms:12.1f}{statements:12}"
    yield f"slowest: {figures['slowest_ms']:.1f} ({figures['slowest_cpu_ms']:.1f} of processor time)"
    yield f"over {MAX_MS}: {', '.join(figures['over']) or 'none'}"


def visit_pages(persona: Persona) -> list[Visit]:
    """Every page, visited by a curator who is not the owner."""
    plain = {**settings.STORAGES, "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
    with override_settings(ALLOWED_HOSTS=["testserver"], SECURE_SSL_REDIRECT=False, STORAGES=plain):
        client = Client()
        curator, _is_new = get_user_model().objects.get_or_create(
            username="bench-curator", defaults={"is_staff": True, "is_superuser": True}
        )
        client.force_login(curator)
        return [visit(client, *item) for item in tqdm(addresses(persona).items(), desc="pages", unit="")]


def addresses(persona: Persona) -> dict[str, str]:
    """The address of every page, by name: lists with filters and searches, change pages, and previews of forgetting."""
    pages = {"the first page of the desk": reverse("admin:index")}
    for name, filters in LISTS.items():
        address = reverse(f"admin:{name}_changelist")
        for query in ["", "p=2", "p=last", *filters]:
            pages[f"{name} {query}".strip()] = f"{address}?{query}" if query else address
    for name in SEARCHED_MODELS:
        for words in WORDS:
            pages[f"{name} search {words}"] = f"{reverse(f'admin:{name}_changelist')}?q={words}"
    nodes = ConceptNode.objects.of(persona).filter(kind="event").order_by("id")
    rows = {
        "chat_message": Message.objects.first(),
        "chat_session": Session.objects.first(),
        "memory_event": nodes.first(),
        "memory_entity": Entity.objects.first(),
        "persona_persona": persona,
    }
    pages |= {f"{name} page": reverse(f"admin:{name}_change", args=[row.pk]) for name, row in rows.items() if row}
    forget = reverse("admin:forget")
    forget_keys = "&".join(f"key={node.pk}" for node in nodes[:FORGET_COUNT])
    return pages | {
        "forget one event": f"{forget}?kind=node&key={nodes[0].pk}",
        f"forget {FORGET_COUNT} events": f"{forget}?kind=node&{forget_keys}",
        "forget a talk": f"{forget}?kind=session&key={Session.objects.order_by('id')[0].pk}",
        "forget the persona": f"{forget}?kind=persona&key={persona.pk}",
    }


def visit(client: Client, name: str, address: str) -> Visit:
    """Time one page; the first visit counts its statements."""
    if "p=last" in address:
        first: Any = client.get(address.replace("p=last", ""))
        address = address.replace("last", str(first.context_data["cl"].paginator.num_pages))
    statements: list[str] = []

    def record(execute: Any, sql: str, *args: Any) -> Any:
        statements.append(sql)
        return execute(sql, *args)

    times, cpu_times = [], []
    for number in range(REPETITIONS + 1):
        started, used = time.perf_counter(), time.process_time()
        with nullcontext() if number else connection.execute_wrapper(record):
            status = client.get(address).status_code
        if status != 200:
            raise RuntimeError(f"{address} answered {status}")
        times.append((time.perf_counter() - started) * 1_000)
        cpu_times.append((time.process_time() - used) * 1_000)
    return Visit(name, spread(times[1:]), round(median(cpu_times[1:]), 2), len(statements))

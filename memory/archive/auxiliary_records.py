"""Independent parts of an archive: moods, reflections, story lines, the slow cycle and its questions, corrections by
people, tombstones and receipts."""

from collections.abc import Callable, Collection
from itertools import chain
from typing import Any

from django.db.models import Model, QuerySet

from chat.models import Session
from echovessel.db.sqlite import bulk
from memory.archive.parts import (
    AS_IS,
    ID,
    OWNER,
    THROUGH,
    TIME,
    Codec,
    Field,
    IdMap,
    Names,
    Part,
    Table,
    from_row,
    iso_format,
    link,
    optional,
    uuid_link,
)
from memory.archive.schema import (
    MoodRecord,
    NodeVersionRecord,
    QuestionRecord,
    ReceiptRecord,
    ReflectionRecord,
    SlowCycleRecord,
    SlowCycleRunRecord,
    ThreadRecord,
    TombstoneRecord,
)
from memory.archive.tables import EVENT_TIME, WRITE_ONLY
from memory.curation.threads import MIN_MEMBERS, retitle
from memory.models import (
    ConceptNode,
    Entity,
    NodeVersion,
    Question,
    QuestionGround,
    Receipt,
    ReflectionRun,
    SlowCycle,
    SlowCycleRun,
    Thread,
    ThreadMember,
    Tombstone,
)
from memory.store import tombstones
from memory.store.deduplication import content_hash
from memory.store.tombstones import TombstoneSource
from persona.models import MoodChange

# --- moods ----------------------------------------------------------------------------------------------------------
MOOD = Table(
    MoodRecord,
    MoodChange,
    (
        Field("id", ID, "external_id"),
        Field("mood"),
        Field("energy"),
        Field("at", TIME),
        optional("last_user_signal"),
        optional("session", uuid_link(Session), "session_uuid"),
    ),
)


def load_moods(id_map: IdMap, moods: list[MoodRecord], table: Table) -> int:
    new = id_map.new(MoodChange, moods)
    rows = zip(new, table.read(id_map, new), strict=True)
    # A mood is left out if its session was forgotten here.
    changes = [
        MoodChange(persona=id_map.persona, **row) for mood, row in rows if not mood.session or row["session_uuid"]
    ]
    return len(MoodChange.objects.bulk_create(changes))


# --- reflections ----------------------------------------------------------------------------------------------------
REFLECTION = Table(
    ReflectionRecord,
    ReflectionRun,
    (
        Field("reason"),
        Field("at", TIME),
        optional("session", link(Session), "session_id"),
        optional("thoughts"),
        optional("dropped"),
    ),
)


def load_reflections(id_map: IdMap, runs: list[ReflectionRecord], table: Table) -> int:
    existing_times = set(ReflectionRun.objects.filter(persona=id_map.persona).values_list("at", flat=True))
    rows = [row for row in table.read(id_map, runs) if row["at"] not in existing_times]
    # A session has at most one reflection.
    sessions = {row["session_id"] for row in rows}
    taken_sessions = set(
        ReflectionRun.objects.filter(session__in=sessions - {None}).values_list("session_id", flat=True)
    )
    for row in rows:
        if row["session_id"] in taken_sessions:
            row["session_id"] = None
        taken_sessions |= {row["session_id"]} - {None}
    return len(ReflectionRun.objects.bulk_create(ReflectionRun(persona=id_map.persona, **row) for row in rows))


# --- corrections ----------------------------------------------------------------------------------------------------
NODE_VERSION = Table(
    NodeVersionRecord,
    NodeVersion,
    (
        Field("node", link(ConceptNode), "node_id"),
        Field("version"),
        Field("description"),
        Field("edited_at", TIME),
        optional("emotional_impact"),
        optional("emotion_tags"),
        optional("relational_tags"),
        optional("event_time", EVENT_TIME.codec, EVENT_TIME.column),
        optional("verification"),
        optional("domain"),
        optional("since"),
        optional("until"),
        optional("plan_state"),
        optional("scope"),
        optional("condition"),
        optional("boundary", AS_IS, "is_boundary"),
        optional("by", OWNER, "edited_by_id"),
    ),
)


def versions_of(names: Names) -> QuerySet[NodeVersion]:
    return NodeVersion.objects.filter(node__persona=names.persona).order_by("node", "version")


def load_versions(id_map: IdMap, versions: list[NodeVersionRecord], table: Table) -> int:
    existing_versions = NodeVersion.objects.filter(node__persona=id_map.persona)
    count = existing_versions.count()
    rows = [NodeVersion(**row) for row in table.read(id_map, versions) if row["node_id"]]
    texts = [TombstoneSource("text", version.description) for version in rows]
    refused = tombstones.refused_among(id_map.persona, texts)
    allowed = [version for version, text in zip(rows, texts, strict=True) if text not in refused]
    NodeVersion.objects.bulk_create(allowed, ignore_conflicts=True)
    return existing_versions.count() - count


# --- questions ------------------------------------------------------------------------------------------------------
def question_id(question: Question) -> str:
    """The time it was asked, and a hash of its text: questions have no ids of their own."""
    return f"{iso_format(question.asked_at)} {content_hash(question.text)[:16]}"


def gather_grounds(names: Names, questions: list[Any]) -> None:
    for question in questions:
        keys = list(question.rests_on.order_by("node_id").values_list("node_id", flat=True))
        nodes = names.of(ConceptNode, keys)
        question.node_ids = [nodes[key] for key in keys if key in nodes]


QUESTION = Table(
    QuestionRecord,
    Question,
    (
        Field("id", from_row(question_id)),
        Field("text"),
        Field("nodes", WRITE_ONLY, "node_ids"),
        Field("asked_at", TIME),
        optional("status"),
        optional("settled_at", TIME),
        optional("answered_by", link(ConceptNode), "answered_by_id"),
    ),
    gather_grounds,
)


def load_questions(id_map: IdMap, records: list[QuestionRecord], table: Table) -> int:
    """Store questions whose nodes all exist here, and which are not open already."""
    existing_questions = Question.objects.filter(persona=id_map.persona)
    existing_ids = set(map(question_id, existing_questions))
    open_hashes = set(Question.objects.open().filter(persona=id_map.persona).values_list("content_hash", flat=True))
    nodes = id_map.rows(ConceptNode, set(chain.from_iterable(record.nodes for record in records)))
    added = 0
    for record, row in zip(records, table.read(id_map, records), strict=True):
        hashed = content_hash(record.text)
        is_open = record.status == Question.Status.OPEN
        if (
            record.id in existing_ids
            or not record.nodes
            or set(record.nodes) - nodes.keys()
            or (is_open and hashed in open_hashes)
        ):
            continue
        if tombstones.refuses(id_map.persona, [record.text]):
            continue
        question = Question.objects.create(persona=id_map.persona, content_hash=hashed, **row)
        grounds = [QuestionGround(question=question, node_id=nodes[name]) for name in dict.fromkeys(record.nodes)]
        QuestionGround.objects.bulk_create(grounds)
        open_hashes |= {hashed} if is_open else set()
        added += 1
    return added


# --- threads ----------------------------------------------------------------------------------------------------------
def gather_members(names: Names, threads: list[Any]) -> None:
    for thread in threads:
        rows = list(thread.members.order_by("node_id").values_list("node_id", "removed_at"))
        nodes = names.of(ConceptNode, [key for key, _removed_at in rows])
        thread.node_ids = [nodes[key] for key, removed_at in rows if key in nodes and removed_at is None]
        thread.removed = [
            [nodes[key], iso_format(removed_at)] for key, removed_at in rows if key in nodes and removed_at
        ]


THREAD = Table(
    ThreadRecord,
    Thread,
    (
        Field("id", ID, "external_id"),
        Field("title"),
        optional("state"),
        optional("titled_by"),
        Field("nodes", WRITE_ONLY, "node_ids"),
        optional("removed", WRITE_ONLY, "removed"),
        Field("created_at", TIME),
        optional("dissolved_at", TIME),
    ),
    gather_members,
)


def load_threads(id_map: IdMap, records: list[ThreadRecord], table: Table) -> int:
    """Store threads with enough memories here, without memories that belong to another thread. A title may mention
    forgotten memories: if one is missing, a new title is generated."""
    new = id_map.new(Thread, records)
    added = 0
    for record, row in zip(new, table.read(id_map, new), strict=True):
        removed = dict(record.removed)
        nodes = id_map.rows(ConceptNode, {*record.nodes, *removed})
        taken_nodes = set(
            ThreadMember.objects.current().filter(node__in=nodes.values()).values_list("node_id", flat=True)
        )
        current = [
            nodes[name] for name in dict.fromkeys(record.nodes) if name in nodes and nodes[name] not in taken_nodes
        ]
        if len(current) < MIN_MEMBERS and (record.dissolved_at is None or not removed.keys() & nodes.keys()):
            continue
        thread = Thread(persona=id_map.persona, **row)
        if len(nodes) < len({*record.nodes, *removed}) or tombstones.refuses(id_map.persona, [record.title]):
            member_nodes = ConceptNode.objects.filter(pk__in=current or nodes.values()).order_by("pk")
            thread.title = retitle(id_map.persona, list(member_nodes.values_list("description", flat=True)))
        thread.save()
        members = [ThreadMember(thread=thread, node_id=key) for key in current]
        members += [
            ThreadMember(thread=thread, node_id=nodes[name], removed_at=removed_at)
            for name, removed_at in removed.items()
            if name in nodes and nodes[name] not in current
        ]
        ThreadMember.objects.bulk_create(members)
        added += 1
    return added


# --- the slow cycle -------------------------------------------------------------------------------------------------
# The models that lists in a run's record refer to; all other lists refer to nodes.
MODEL_OF_LIST: dict[str, type[Model]] = {"questions": Question, "entities": Entity, "threads": Thread}
MODEL_OF_KIND: dict[str, type[Model]] = {
    "question": Question,
    "answer": Question,
    "description": Entity,
    "thread": Thread,
}
Item = dict[str, Any]


def write_account(names: Names, accounts: list[Any]) -> Callable[[Any], Any]:
    """Lists and items of a run's record, with the ids of rows that still exist."""

    def ids_of(model: type[Model], keys: Collection[int]) -> list[str]:
        if model is Question:
            rows = Question.objects.filter(persona=names.persona, pk__in=list(keys))
            ids: dict[Any, str] = {question.pk: question_id(question) for question in rows}
        else:
            ids = names.of(model, keys)
        return [ids[key] for key in keys if key in ids]

    def write(account: Any) -> Any:
        if isinstance(account, dict):
            return {name: ids_of(MODEL_OF_LIST.get(name, ConceptNode), keys) for name, keys in account.items()}
        return [write_item(item) for item in account]

    def write_item(item: Item) -> Item:
        links = {name: value for name, value in item.items() if name not in ("id", "by")}
        ids = ids_of(MODEL_OF_KIND.get(item["kind"], ConceptNode), [item["id"]] if "id" in item else [])
        by = {"by": ids_of(ConceptNode, item["by"])} if "by" in item else {}
        return links | ({"id": ids[0]} if ids else {}) | by

    return write


def read_account(id_map: IdMap, accounts: list[Any]) -> Callable[[Any], Any]:
    """Lists and items of a run's record, with keys of rows here; of an item only known fields are read."""

    def keys_of(model: type[Model], ids: Collection[str]) -> list[int]:
        if model is Question:
            existing_questions = Question.objects.filter(persona=id_map.persona) if ids else ()
            keys: dict[Any, int] = {question_id(question): question.pk for question in existing_questions}
        else:
            keys = id_map.rows(model, ids)
        return [keys[name] for name in ids if name in keys]

    def read(account: Any) -> Any:
        if isinstance(account, dict):
            return {name: keys_of(MODEL_OF_LIST.get(name, ConceptNode), ids) for name, ids in account.items()}
        return [read_item(item) for item in account]

    def read_item(item: Item) -> Item:
        known_fields: Item = {name: str(item[name])[:40] for name in ("kind", "outcome", "dropped") if name in item}
        keys = keys_of(
            MODEL_OF_KIND.get(known_fields.get("kind", ""), ConceptNode), [str(item["id"])] if "id" in item else []
        )
        by = {"by": keys_of(ConceptNode, list(map(str, item["by"])))} if isinstance(item.get("by"), list) else {}
        return known_fields | ({"id": keys[0]} if keys else {}) | by

    return read


ACCOUNT = Codec(write_account, read_account)
SLOW_CYCLE_RUN = Table(
    SlowCycleRunRecord,
    SlowCycleRun,
    (
        Field("id", Codec(TIME.write), "at"),
        Field("reason"),
        Field("outcome"),
        Field("given", ACCOUNT),
        Field("made", ACCOUNT),
        Field("at", TIME),
        optional("session", link(Session), "session_id"),
        optional("failure"),
        optional("through", THROUGH),
        optional("tokens_in"),
        optional("tokens_out"),
        optional("dropped"),
    ),
)
SLOW_CYCLE = Table(
    SlowCycleRecord,
    SlowCycle,
    (
        optional("through", THROUGH),
        optional("wanted_at", TIME, "requested_at"),
        optional("wanted_by", link(Session), "requested_by_id"),
    ),
)


def load_runs(id_map: IdMap, records: list[SlowCycleRunRecord], table: Table) -> int:
    existing_times = set(SlowCycleRun.objects.filter(persona=id_map.persona).values_list("at", flat=True))
    rows = table.read(id_map, [record for record in records if record.at not in existing_times])
    runs = SlowCycleRun.objects.bulk_create(SlowCycleRun(persona=id_map.persona, **row) for row in rows)
    for run in runs:
        questions = [item["id"] for item in run.made if item.get("kind") == "question" and "id" in item]
        Question.objects.filter(pk__in=questions, run=None).update(run=run)
    return len(runs)


def load_cycle(id_map: IdMap, records: list[SlowCycleRecord], table: Table) -> int:
    [values] = table.read(id_map, records[:1])
    return int(SlowCycle.objects.get_or_create(persona=id_map.persona, defaults=values)[1])


# --- tombstones and receipts ----------------------------------------------------------------------------------------
TOMBSTONE = Table(
    TombstoneRecord,
    Tombstone,
    (Field("kind"), Field("digest"), Field("key", AS_IS, "key_id"), Field("created_at", TIME), optional("refused")),
)


def load_tombstones(id_map: IdMap, records: list[TombstoneRecord], table: Table) -> int:
    """Store tombstones. They are loaded first, so that they can refuse later records."""
    by_digest = {record.digest: record for record in records}
    existing_tombstones = Tombstone.objects.filter(persona=id_map.persona, digest__in=by_digest)
    existing_digests = set(existing_tombstones.values_list("digest", flat=True))
    rows = table.read(id_map, [record for digest, record in by_digest.items() if digest not in existing_digests])
    bulk.insert([Tombstone(persona=id_map.persona, **row) for row in rows])
    return len(rows)


def write_digests(names: Names, lists: list[Any]) -> Callable[[list[int]], list[str]]:
    tombstones = Tombstone.objects.in_bulk(list(chain.from_iterable(lists)))
    return lambda keys: [tombstones[key].digest for key in keys if key in tombstones]


def read_digests(id_map: IdMap, lists: list[Any]) -> Callable[[list[str]], list[int]]:
    tombstones = Tombstone.objects.filter(persona=id_map.persona, digest__in=list(chain.from_iterable(lists)))
    keys = dict(tombstones.values_list("digest", "pk"))
    return lambda digests: [keys[digest] for digest in digests if digest in keys]


RECEIPT = Table(
    ReceiptRecord,
    Receipt,
    (
        Field("id", ID, "external_id"),
        Field("targets"),
        Field("choice"),
        Field("counts"),
        Field("erased"),
        Field("at", TIME),
        optional("prints"),
        optional("stones", Codec(write_digests, read_digests)),
        optional("by", OWNER, "by_id"),
        optional("status"),
        optional("finished_at", TIME),
    ),
)


def load_receipts(id_map: IdMap, records: list[ReceiptRecord], table: Table) -> int:
    owner = {"persona_uuid": id_map.persona.uuid, "owner_id": id_map.persona.owner_id}
    rows = table.read(id_map, id_map.new(Receipt, records))
    return len(Receipt.objects.bulk_create(Receipt(persona=id_map.persona, **owner, **row) for row in rows))


TOMBSTONES = Part("tombstone", TOMBSTONE, load_tombstones)
PARTS = (
    Part("node_version", NODE_VERSION, load_versions, versions_of),
    Part("mood", MOOD, load_moods),
    Part("reflection", REFLECTION, load_reflections),
    Part("question", QUESTION, load_questions),
    Part("thread", THREAD, load_threads),
    Part("slow_cycle_run", SLOW_CYCLE_RUN, load_runs, lambda names: names.persona.slow_cycle_runs.order_by("at", "pk")),
    Part("slow_cycle", SLOW_CYCLE, load_cycle),
    Part("receipt", RECEIPT, load_receipts),
)

"""Parts of an archive that stand by themselves: moods, reflections, the slow cycle and what she wonders, corrections
that people made, what was forgotten and must not come back."""

from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from typing import Any

from django.db import transaction
from django.db.models import Model

from chat.models import Session
from echovessel.db.sqlite import bulk
from memory.archive.parts import Batches, Known, Names, Part, Values, archive_id, beside_defaults, in_order
from memory.archive.schema import (
    MoodRecord,
    NodeVersionRecord,
    QuestionRecord,
    ReceiptRecord,
    ReflectionRecord,
    SlowCycleRecord,
    SlowCycleRunRecord,
    TombstoneRecord,
)
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
    Tombstone,
)
from memory.store import tombstones
from memory.store.deduplication import content_hash
from persona.models import MoodChange


def iso_format(moment: datetime | None) -> str | None:
    return moment.astimezone(UTC).isoformat() if moment else None


def event_time(row: Any) -> dict[str, str] | None:
    start, end = row.event_time_start, row.event_time_end
    return {"start": start.isoformat(), "end": (end or start).isoformat()} if start else None


# --- moods ----------------------------------------------------------------------------------------------------------
def _mood_lines(names: Names) -> Iterator[Values]:
    rows = MoodChange.objects.filter(persona=names.persona).order_by("pk")
    talks = names.by_uuid(Session, set(rows.values_list("session_uuid", flat=True)))
    for mood in in_order(rows):
        yield {
            "id": archive_id(mood.external_id, mood.uuid),
            "mood": mood.mood,
            "energy": mood.energy,
            "at": iso_format(mood.at),
            **beside_defaults(MoodRecord, last_user_signal=mood.last_user_signal, session=talks.get(mood.session_uuid)),
        }


def _load_moods(known: Known, batches: Batches) -> int:
    added = 0
    for batch in batches:
        with transaction.atomic():
            moods = {one.record.id: one.record for one in batch}
            here = known.rows(MoodChange, moods.keys())
            talks = known.uuids(Session, {mood.session for mood in moods.values()})
            made = [
                MoodChange(
                    persona=known.persona,
                    external_id=mood.id,
                    mood=mood.mood,
                    energy=mood.energy,
                    last_user_signal=mood.last_user_signal,
                    session_uuid=talks.get(mood.session),
                    at=mood.at,
                )
                for mood in moods.values()
                # Of a talk that was forgotten here its mood is not known either.
                if mood.id not in here and (mood.session is None or mood.session in talks)
            ]
            added += len(MoodChange.objects.bulk_create(made))
    return added


# --- reflections ----------------------------------------------------------------------------------------------------
def _reflection_lines(names: Names) -> Iterator[Values]:
    rows = ReflectionRun.objects.filter(persona=names.persona).order_by("pk")
    talks = names.of(Session, set(rows.values_list("session_id", flat=True)))
    for run in in_order(rows):
        yield {
            "reason": run.reason,
            "at": iso_format(run.at),
            **beside_defaults(
                ReflectionRecord, session=talks.get(run.session_id), thoughts=run.thoughts, dropped=run.dropped
            ),
        }


def _load_reflections(known: Known, batches: Batches) -> int:
    added = 0
    for batch in batches:
        with transaction.atomic():
            runs = ReflectionRun.objects.filter(persona=known.persona)
            here = set(runs.values_list("at", flat=True))
            talks = known.rows(Session, {one.record.session for one in batch})
            free = talks.keys() - _with_a_reflection(talks)
            made = []
            for run in (one.record for one in batch if one.record.at not in here):
                session = talks[run.session] if run.session in free else None
                free -= {run.session}
                values = {"reason": run.reason, "thoughts": run.thoughts, "dropped": run.dropped, "at": run.at}
                made.append(ReflectionRun(persona=known.persona, session_id=session, **values))
            added += len(ReflectionRun.objects.bulk_create(made))
    return added


def _with_a_reflection(talks: dict[str | None, int]) -> set[str | None]:
    taken = set(ReflectionRun.objects.filter(session__in=talks.values()).values_list("session_id", flat=True))
    return {given for given, key in talks.items() if key in taken}


# --- corrections ----------------------------------------------------------------------------------------------------
def _version_lines(names: Names) -> Iterator[Values]:
    rows = NodeVersion.objects.filter(node__persona=names.persona).order_by("node", "version")
    nodes = names.of(ConceptNode, set(rows.values_list("node_id", flat=True)))
    for version in in_order(rows):
        if version.node_id in nodes:
            yield {
                "node": nodes[version.node_id],
                "version": version.version,
                "description": version.description,
                "edited_at": iso_format(version.edited_at),
                **beside_defaults(
                    NodeVersionRecord,
                    emotional_impact=version.emotional_impact,
                    emotion_tags=version.emotion_tags,
                    relational_tags=version.relational_tags,
                    event_time=event_time(version),
                    verification=version.verification,
                    scope=version.scope,
                    condition=version.condition,
                    boundary=version.is_boundary,
                    by=names.by(version.edited_by_id),
                ),
            }


def _load_versions(known: Known, batches: Batches) -> int:
    before = NodeVersion.objects.filter(node__persona=known.persona)
    count = before.count()
    for batch in batches:
        with transaction.atomic():
            nodes = known.rows(ConceptNode, {one.record.node for one in batch})
            made = [_version(known, one.record, nodes[one.record.node]) for one in batch if one.record.node in nodes]
            burials = [tombstones.TombstoneSource("text", version.description) for version in made]
            buried = tombstones.refused_among(known.persona, burials)
            allowed = [
                version for version in made if tombstones.TombstoneSource("text", version.description) not in buried
            ]
            NodeVersion.objects.bulk_create(allowed, ignore_conflicts=True)
    return before.count() - count


def _version(known: Known, given: NodeVersionRecord, node: int) -> NodeVersion:
    time = given.event_time
    return NodeVersion(
        node_id=node,
        version=given.version,
        description=given.description,
        emotional_impact=given.emotional_impact,
        emotion_tags=given.emotion_tags,
        relational_tags=list(given.relational_tags),
        event_time_start=time.start if time else None,
        event_time_end=(time.end or time.start) if time else None,
        verification=given.verification,
        scope=given.scope,
        condition=given.condition,
        is_boundary=given.boundary,
        edited_by_id=known.by(given.by),
        edited_at=given.edited_at,
    )


# --- the slow cycle -------------------------------------------------------------------------------------------------
def _cycle_lines(names: Names) -> Iterator[Values]:
    for cycle in SlowCycle.objects.filter(persona=names.persona):
        yield beside_defaults(
            SlowCycleRecord,
            through=names.last_memory_through(cycle.through),
            wanted_at=iso_format(cycle.requested_at),
            wanted_by=names.of(Session, [cycle.requested_by_id]).get(cycle.requested_by_id),
        )


def _load_cycle(known: Known, batches: Batches) -> int:
    added = 0
    for batch in batches:
        given = batch[0].record
        values = {
            "through": known.rows(ConceptNode, [given.through]).get(given.through, 0),
            "requested_at": given.wanted_at,
            "requested_by_id": known.rows(Session, [given.wanted_by]).get(given.wanted_by),
        }
        added += SlowCycle.objects.get_or_create(persona=known.persona, defaults=values)[1]
    return added


# Of what the lists in the account of a run are keys.
_LISTED: dict[str, type[Model]] = {"questions": Question, "entities": Entity}
_MADE: dict[str, type[Model]] = {"question": Question, "answer": Question, "description": Entity}


def _run_lines(names: Names) -> Iterator[Values]:
    rows = SlowCycleRun.objects.filter(persona=names.persona).order_by("at", "pk")
    talks = names.of(Session, set(rows.values_list("session_id", flat=True)))
    for run in in_order(rows):
        yield {
            "id": iso_format(run.at),
            "reason": run.reason,
            "outcome": run.outcome,
            "given": {name: _ids(names, _LISTED.get(name), keys) for name, keys in run.given.items()},
            "made": [_named(names, item) for item in run.made],
            "at": iso_format(run.at),
            **beside_defaults(
                SlowCycleRunRecord,
                session=talks.get(run.session_id),
                failure=run.failure,
                through=names.last_memory_through(run.through),
                tokens_in=run.tokens_in,
                tokens_out=run.tokens_out,
                dropped=run.dropped,
            ),
        }


def _ids(names: Names, model: type[Model] | None, keys: Collection[int]) -> list[str]:
    """Ids in the archive of what is there still."""
    ids = _question_ids(names, keys) if model is Question else names.of(model or ConceptNode, keys)
    return [ids[key] for key in keys if key in ids]


def _named(names: Names, item: dict[str, Any]) -> dict[str, Any]:
    """An item of an account, by ids; what is gone is left out of it."""
    told = {name: value for name, value in item.items() if name not in ("id", "by")}
    if ids := _ids(names, _MADE.get(item["kind"]), [item["id"]] if "id" in item else []):
        told["id"] = ids[0]
    return told | ({"by": _ids(names, None, item["by"])} if "by" in item else {})


def _load_runs(known: Known, batches: Batches) -> int:
    added = 0
    for batch in batches:
        with transaction.atomic():
            here = set(SlowCycleRun.objects.filter(persona=known.persona).values_list("at", flat=True))
            made = [_run(known, one.record) for one in batch if one.record.at not in here]
            SlowCycleRun.objects.bulk_create(made)
            for run in made:
                asked = [item["id"] for item in run.made if item.get("kind") == "question" and "id" in item]
                Question.objects.filter(pk__in=asked, run=None).update(run=run)
        added += len(made)
    return added


def _run(known: Known, run: SlowCycleRunRecord) -> SlowCycleRun:
    return SlowCycleRun(
        persona=known.persona,
        session_id=known.rows(Session, [run.session]).get(run.session),
        reason=run.reason,
        outcome=run.outcome,
        failure=run.failure,
        given={name: _keys(known, _LISTED.get(name), ids) for name, ids in run.given.items()},
        made=[_keyed(known, item) for item in run.made],
        through=known.rows(ConceptNode, [run.through]).get(run.through, 0),
        tokens_in=run.tokens_in,
        tokens_out=run.tokens_out,
        dropped=run.dropped,
        at=run.at,
    )


def _keys(known: Known, model: type[Model] | None, ids: Collection[str]) -> list[int]:
    keys = _question_keys(known, ids) if model is Question else known.rows(model or ConceptNode, ids)
    return [keys[one] for one in ids if one in keys]


def _keyed(known: Known, item: dict[str, Any]) -> dict[str, Any]:
    """An item of an account, by keys of rows here; a foreign one says nothing that is no name of ours."""
    told: dict[str, Any] = {name: str(item[name])[:40] for name in ("kind", "outcome", "dropped") if name in item}
    if found := _keys(known, _MADE.get(told.get("kind", "")), [str(item["id"])] if "id" in item else []):
        told |= {"id": found[0]}
    return told | ({"by": _keys(known, None, list(map(str, item["by"])))} if isinstance(item.get("by"), list) else {})


# --- questions ------------------------------------------------------------------------------------------------------
def _question_id(question: Question) -> str:
    """Questions have no ids of their own: when it was asked, and what."""
    return f"{iso_format(question.asked_at)} {content_hash(question.text)[:16]}"


def _question_ids(names: Names, keys: Collection[int]) -> dict[int | None, str]:
    rows = Question.objects.filter(persona=names.persona, pk__in=list(keys))
    return {question.pk: _question_id(question) for question in rows}


def _question_keys(known: Known, ids: Collection[str]) -> dict[str | None, int]:
    if not ids:
        return {}
    return {_question_id(question): question.pk for question in Question.objects.filter(persona=known.persona)}


def _question_lines(names: Names) -> Iterator[Values]:
    for question in in_order(Question.objects.filter(persona=names.persona).order_by("pk")):
        grounds = list(question.rests_on.order_by("node_id").values_list("node_id", flat=True))
        nodes = names.of(ConceptNode, [*grounds, question.answered_by_id])
        yield {
            "id": _question_id(question),
            "text": question.text,
            "nodes": [nodes[key] for key in grounds if key in nodes],
            "asked_at": iso_format(question.asked_at),
            **beside_defaults(
                QuestionRecord,
                status=question.status,
                settled_at=iso_format(question.settled_at),
                answered_by=nodes.get(question.answered_by_id),
            ),
        }


def _load_questions(known: Known, batches: Batches) -> int:
    added = 0
    for batch in batches:
        with transaction.atomic():
            here = _question_keys(known, [one.record.id for one in batch])
            asked = set(Question.objects.open().filter(persona=known.persona).values_list("content_hash", flat=True))
            for given in (one.record for one in batch if one.record.id not in here):
                added += _ask(known, given, asked)
    return added


def _ask(known: Known, given: QuestionRecord, asked: set[str]) -> bool:
    """A question of which all that it rests on is here, and that is not asked already; it goes with any of it."""
    nodes = known.rows(ConceptNode, [*given.nodes, given.answered_by])
    hashed = content_hash(given.text)
    if not given.nodes or set(given.nodes) - nodes.keys() or (given.status == "open" and hashed in asked):
        return False
    if tombstones.refuses(known.persona, [given.text]):
        return False
    made = Question.objects.create(
        persona=known.persona,
        text=given.text,
        content_hash=hashed,
        status=given.status,
        asked_at=given.asked_at,
        settled_at=given.settled_at,
        answered_by_id=nodes.get(given.answered_by),
    )
    QuestionGround.objects.bulk_create(
        [QuestionGround(question=made, node_id=nodes[one]) for one in dict.fromkeys(given.nodes)]
    )
    asked.update({hashed} if given.status == "open" else ())
    return True


# --- what was forgotten ---------------------------------------------------------------------------------------------
def tombstone_lines(names: Names) -> Iterator[Values]:
    for stone in in_order(Tombstone.objects.filter(persona=names.persona).order_by("pk")):
        yield {
            "kind": stone.kind,
            "digest": stone.digest,
            "key": stone.key_id,
            "created_at": iso_format(stone.created_at),
            **beside_defaults(TombstoneRecord, refused=stone.refused),
        }


def load_tombstones(known: Known, batches: Batches) -> int:
    """Loaded first, so that nothing comes in that they refuse."""
    added = 0
    for batch in batches:
        with transaction.atomic():
            rows = {one.record.digest: one.record for one in batch}
            stones = Tombstone.objects.filter(persona=known.persona)
            here = set(stones.filter(digest__in=rows).values_list("digest", flat=True))
            bulk.insert([_stone(known, given) for digest, given in rows.items() if digest not in here])
        added += len(rows) - len(here)
    return added


def _stone(known: Known, given: TombstoneRecord) -> Tombstone:
    return Tombstone(
        persona=known.persona,
        kind=given.kind,
        digest=given.digest,
        key_id=given.key,
        refused=given.refused,
        created_at=given.created_at,
    )


def _receipt_lines(names: Names) -> Iterator[Values]:
    for receipt in in_order(Receipt.objects.filter(persona=names.persona).order_by("pk")):
        yield {
            "id": archive_id(receipt.external_id, receipt.uuid),
            "targets": receipt.targets,
            "choice": receipt.choice,
            "counts": receipt.counts,
            "erased": receipt.erased,
            "at": iso_format(receipt.at),
            **beside_defaults(
                ReceiptRecord,
                prints=receipt.prints,
                stones=_digests(receipt.stones),
                by=names.by(receipt.by_id),
                status=receipt.status,
                finished_at=iso_format(receipt.finished_at),
            ),
        }


def _digests(stones: Collection[int]) -> list[str]:
    found = Tombstone.objects.in_bulk(list(stones))
    return [found[key].digest for key in stones if key in found]


def _load_receipts(known: Known, batches: Batches) -> int:
    added = 0
    for batch in batches:
        with transaction.atomic():
            here = known.rows(Receipt, {one.record.id for one in batch})
            made = [_receipt(known, one.record) for one in batch if one.record.id not in here]
            added += len(Receipt.objects.bulk_create(made))
    return added


def _receipt(known: Known, given: ReceiptRecord) -> Receipt:
    stones = Tombstone.objects.filter(persona=known.persona, digest__in=given.stones)
    keys = dict(stones.values_list("digest", "pk"))
    return Receipt(
        external_id=given.id,
        persona=known.persona,
        persona_uuid=known.persona.uuid,
        owner_id=known.persona.owner_id,
        targets=given.targets,
        choice=given.choice,
        counts=given.counts,
        erased=given.erased,
        prints=given.prints,
        stones=[keys[digest] for digest in given.stones if digest in keys],
        by_id=known.by(given.by),
        at=given.at,
        status=given.status,
        finished_at=given.finished_at,
    )


PARTS = (
    Part("node_version", NodeVersionRecord, _version_lines, _load_versions),
    Part("mood", MoodRecord, _mood_lines, _load_moods),
    Part("reflection", ReflectionRecord, _reflection_lines, _load_reflections),
    Part("question", QuestionRecord, _question_lines, _load_questions),
    Part("slow_cycle_run", SlowCycleRunRecord, _run_lines, _load_runs),
    Part("slow_cycle", SlowCycleRecord, _cycle_lines, _load_cycle),
    Part("receipt", ReceiptRecord, _receipt_lines, _load_receipts),
)

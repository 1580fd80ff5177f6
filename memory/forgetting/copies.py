"""Copies: every place into which the words of what goes were written a second time, and what becomes of each.

Nothing is changed here: a `Work` says which rows are to be deleted and which columns get which value, by key. It is
made while planning, so that a receipt can say exactly what the plan said, and done in `memory.forgetting.execute`.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db.models import Max, Q
from django_q.models import Task

from chat.models import CrisisFlag, Message, MessageText, Session, Turn
from echovessel.language.plain_text import comparable_form
from echovessel.llm.models import LLMCall
from echovessel.outbox.models import OutboxEvent
from memory.consolidation.answer_schema import ExtractionAnswer
from memory.curation.restatements import contains, is_named, names_of
from memory.forgetting.also_mentioned import names_that_go
from memory.forgetting.collect import Reach, turns_that_name
from memory.forgetting.consequences import Consequences
from memory.forgetting.database_values import strings
from memory.forgetting.rows import Key, among, naming
from memory.models import (
    ConceptNode,
    Entity,
    Evidence,
    Extraction,
    Filling,
    ImportChunk,
    ImportJob,
    ImportPiece,
    ImportRun,
    Mention,
    MergeProposal,
    ModelReply,
    NodeText,
    NodeVector,
    NodeVersion,
    Question,
    QuestionGround,
    ReflectionRun,
    SlowCycle,
    SlowCycleRun,
    StagedVector,
)
from memory.store.tombstones import is_telling
from persona.models import CoreDraft, DraftQuote, MoodChange, Persona

NOTHING_READ = ExtractionAnswer(events=[]).model_dump(mode="json")
CUT = "cut:"
UNFINISHED = (Session.Status.OPEN, Session.Status.CLOSING, Session.Status.CONSOLIDATING, Session.Status.FAILED)


@dataclass
class Work:
    """What is to be done to the database: rows to be deleted, by table, and values to be put, by "table.column".

    `Affected` things that have words are told apart from it, in the plan.
    """

    deletes: dict[str, list[Key]] = field(default_factory=dict)
    overwrites: dict[str, dict[Key, Any]] = field(default_factory=dict)

    def delete(self, table: str, keys: Iterable[Key]) -> None:
        self.deletes[table] = sorted({*self.deletes.get(table, ()), *keys})

    def overwrite(self, column: str, values: Mapping[Any, Any]) -> None:
        self.overwrites.setdefault(column, {}).update(values)

    def counts(self) -> dict[str, int]:
        """How many rows and values that is; what is nothing is left out."""
        told = {**self.deletes, **self.overwrites}
        return {name: len(keys) for name, keys in sorted(told.items()) if keys}


def work_of(reach: Reach, found: Consequences) -> Work:
    """Everything that has to be done so that no word of what goes is left."""
    work = Work()
    _drafts(reach, found, work)
    if not (reach.fate.memories or reach.fate.lines or reach.fate.withheld or found.entities or found.sessions):
        _imports(reach, found, work)
        return work
    for part in PARTS:
        part(reach, found, work)
    return work


# --- L3 to L5 -------------------------------------------------------------------------------------------------------
def _memories(reach: Reach, found: Consequences, work: Work) -> None:
    going = reach.fate.memories
    here = among(going)
    work.delete("memory_conceptnode", going)
    work.delete("memory_nodeversion", _keys(NodeVersion.objects.filter(node__in=here)))
    for table, rows in (
        ("memory_nodevector", NodeVector.objects),
        ("memory_nodetext", NodeText.objects),
        ("memory_stagedvector", StagedVector.objects),
    ):
        work.delete(table, _keys(rows.filter(node__in=here)))
    quoted = Q(node__in=here) | Q(message__in=among(reach.fate.lines))
    work.delete("memory_evidence", _keys(Evidence.objects.filter(quoted)))
    work.delete("memory_filling", _keys(Filling.objects.filter(parent__in=here)))
    cut = _keys(Filling.objects.filter(child__in=here).exclude(parent__in=here))
    work.overwrite("memory_filling.orphaned", dict.fromkeys(cut, True))  # first: only such an edge may have no child
    work.overwrite("memory_filling.child_id", dict.fromkeys(cut))
    resting = _keys(Question.objects.filter(rests_on__node__in=here).distinct())
    questions = among({*resting, *_questions_that_say_it(reach, found)})
    work.delete("memory_question", _keys(Question.objects.filter(pk__in=questions)))
    work.delete("memory_questionground", _keys(QuestionGround.objects.filter(question__in=questions)))
    _let_go_of_others(reach, work)
    answered = Question.objects.filter(answered_by__in=here).exclude(pk__in=questions)
    work.overwrite("memory_question.answered_by_id", dict.fromkeys(_keys(answered)))
    homeless = ConceptNode.objects.filter(session__in=among(found.sessions)).exclude(pk__in=here)
    work.overwrite("memory_conceptnode.session_id", dict.fromkeys(_keys(homeless)))


def _let_go_of_others(reach: Reach, work: Work) -> None:
    """Memories that stay, and that others replaced or settled that go. What is taken back has done neither."""
    here = among(reach.fate.memories)
    staying = ConceptNode.objects.exclude(pk__in=here)
    resolved = dict.fromkeys(_keys(staying.filter(resolved_by__in=here)))
    work.overwrite("memory_conceptnode.resolved_by_id", resolved)
    if reach.choice.bury:
        return  # what was replaced goes with what replaced it
    work.overwrite("memory_conceptnode.resolved_at", resolved)
    work.overwrite("memory_conceptnode.outcome", dict.fromkeys(resolved, ConceptNode.Outcome.OPEN))
    replaced = dict.fromkeys(_keys(staying.filter(superseded_by__in=here)))
    work.overwrite("memory_conceptnode.superseded_by_id", replaced)
    work.overwrite("memory_conceptnode.status", dict.fromkeys(replaced, ConceptNode.Status.ACTIVE))


def _questions_that_say_it(reach: Reach, found: Consequences) -> set[int]:
    """What she wonders about that says again what goes, or names who goes, though it rests on something else."""
    wondered = Question.objects.filter(persona=reach.persona).order_by().values_list("pk", "text")
    return _those_that_say_it(reach, found, list(wondered))


def _those_that_say_it(reach: Reach, found: Consequences, told: Sequence[tuple[int, str]]) -> set[int]:
    """The keys of the texts that say again what goes, or name who goes."""
    if not told or not reach.choice.bury:
        return set()
    words, said = words_of(reach, found), reach.said_by(reach.fate.kin, names_of(reach.persona))
    return {pk for pk, text in told if words.stand_in(text) or any(one.is_repeated_by(text) for one in said)}


def _entities(reach: Reach, found: Consequences, work: Work) -> None:
    gone = among(found.entities)
    work.delete("memory_entity", found.entities)
    work.delete("memory_alias", found.aliases)
    mentions = Q(node__in=among(reach.fate.memories)) | Q(entity__in=gone)
    work.delete("memory_mention", _keys(Mention.objects.filter(mentions)))
    work.delete("memory_mergeproposal", _keys(MergeProposal.objects.filter(Q(a__in=gone) | Q(b__in=gone))))
    work.overwrite("memory_entity.canonical_name", found.renamed)
    found.described |= _descriptions_with_the_words(reach, found)
    work.overwrite("memory_entity.description", dict.fromkeys(found.described, ""))
    attributed = [pk for pk, entity in found.described.items() if entity.described_by]
    work.overwrite("memory_entity.described_by", dict.fromkeys(attributed, ""))
    work.overwrite("memory_entity.described_through", dict.fromkeys(attributed, 0))  # it is described anew


def _descriptions_with_the_words(reach: Reach, found: Consequences) -> dict[int, Entity]:
    """Those who stay, and of whom it was written, by no person, what goes or a name that goes."""
    words = words_of(reach, found)
    others = Entity.objects.filter(persona=reach.persona).exclude(description="").exclude(pk__in=among(found.entities))
    written = others.exclude(described_by=Entity.DescribedBy.PERSON) if words else Entity.objects.none()
    return {entity.pk: entity for entity in written if words.stand_in(entity.description)}


# --- drafts of L1 ---------------------------------------------------------------------------------------------------
def _drafts(reach: Reach, found: Consequences, work: Work) -> None:
    """Drafts that rest on lines that go or are put away, that came with an import that goes, and those that say again
    what goes; whatever was decided of them. What a person has put into a block is the person's."""
    hers = CoreDraft.objects.filter(persona=reach.persona)
    lines = among(reach.lines[pk].uuid for pk in (*reach.fate.lines, *reach.fate.withheld) if pk in reach.lines)
    runs = reach.persona.import_runs.filter(pk__in=among(reach.runs)).values("uuid")
    resting = hers.filter(Q(quotes__said_in__in=lines) | Q(import_uuid__in=runs)).distinct()
    quoted = DraftQuote.objects.filter(draft__persona=reach.persona).order_by()
    told = [*hers.order_by().values_list("pk", "text"), *quoted.values_list("draft_id", "quote")]
    drafts = among({*_keys(resting), *_those_that_say_it(reach, found, told)})
    work.delete("persona_draftquote", _keys(DraftQuote.objects.filter(draft__in=drafts)))
    work.delete("persona_coredraft", _keys(CoreDraft.objects.filter(pk__in=drafts)))


# --- L2 -------------------------------------------------------------------------------------------------------------
def _lines(reach: Reach, found: Consequences, work: Work) -> None:
    gone = among(reach.fate.lines)
    work.delete("chat_message", [pk for pk in reach.fate.lines if pk in reach.lines])
    work.delete("chat_messagetext", _keys(MessageText.objects.filter(message__in=gone)))
    work.delete("chat_crisisflag", _keys(CrisisFlag.objects.filter(message__in=gone)))
    put_away = [pk for pk in reach.fate.withheld if pk in reach.lines and not reach.lines[pk].withheld]
    work.overwrite("chat_message.withheld", dict.fromkeys(put_away, True))


def _talks(reach: Reach, found: Consequences, work: Work) -> None:
    work.delete("chat_session", found.sessions)
    reflected = ReflectionRun.objects.filter(session__in=among(found.sessions))
    work.overwrite("memory_reflectionrun.session_id", dict.fromkeys(_keys(reflected)))
    wondered = SlowCycleRun.objects.filter(session__in=among(found.sessions))
    work.overwrite("memory_slowcyclerun.session_id", dict.fromkeys(_keys(wondered)))
    wanted = SlowCycle.objects.filter(wanted_by__in=among(found.sessions))
    work.overwrite("memory_slowcycle.wanted_by_id", dict.fromkeys(_keys(wanted)))
    staying = {pk: session for pk, session in found.touched.items() if pk not in found.sessions}
    told_of = {pk for pk, session in staying.items() if session.summary} | _summaries_with_the_words(reach, found)
    work.overwrite("chat_session.summary", dict.fromkeys(told_of, ""))
    failed = staying | Session.objects.filter(persona=reach.persona, status=Session.Status.FAILED).in_bulk()
    failures = {pk: _step_of(session.failure) for pk, session in failed.items() if pk not in found.sessions}
    changed = {pk: step for pk, step in failures.items() if step != failed[pk].failure}
    work.overwrite("chat_session.failure", changed)
    work.overwrite("chat_session.last_message_at", _last_said(reach, staying))


def _summaries_with_the_words(reach: Reach, found: Consequences) -> set[int]:
    """Talks of which nothing goes, and whose summary says the very words, or a name that goes, all the same."""
    words = words_of(reach, found)
    talks = Session.objects.filter(persona=reach.persona).exclude(summary="").exclude(pk__in=among(found.sessions))
    return {pk for pk, summary in talks.values_list("pk", "summary") if words.stand_in(summary)} if words else set()


def _step_of(failure: str) -> str:
    """Why a talk failed, without what an answer said."""
    step, colon, _ = failure.partition(": ")
    return f"{step}: …" if colon else failure


def _last_said(reach: Reach, staying: Mapping[int, Session]) -> dict[int, Any]:
    """When the last line was said that is left in each talk that loses some. (How many are left a trigger counts.)"""
    shortened = {reach.lines[pk].session_id for pk in reach.fate.lines if pk in reach.lines} & staying.keys()
    left = Message.objects.filter(session__in=among(shortened)).exclude(pk__in=among(reach.fate.lines))
    last = left.values("session").annotate(last=Max("created_at")).order_by().values_list("session", "last")
    return {pk: at for pk, at in last if at != staying[pk].last_message_at}


def _readings(reach: Reach, found: Consequences, work: Work) -> None:
    """Answers of which memory was made say nothing any more; what was not made into anything is asked anew."""
    touched = among(found.touched)
    unfinished = Q(session__persona=reach.persona, session__status__in=UNFINISHED)
    between_talks = Q(persona=reach.persona, session=None)
    kept = ModelReply.objects.filter(unfinished | between_talks | Q(session__in=touched))
    work.delete("memory_modelreply", _keys(kept))
    waiting = Extraction.objects.filter(unfinished | Q(session__in=touched), applied_at=None)
    of_gone = Extraction.objects.filter(session__in=among(found.sessions))
    work.delete("memory_extraction", {*_keys(waiting), *_keys(of_gone)})
    applied = Extraction.objects.filter(session__persona=reach.persona).exclude(applied_at=None)
    applied = applied.exclude(session__in=among(found.sessions)).exclude(answer=NOTHING_READ)
    emptied = {*_keys(applied.filter(session__in=touched)), *_answers_with_the_words(reach, found, applied)}
    work.overwrite("memory_extraction.answer", dict.fromkeys(emptied, NOTHING_READ))


def _answers_with_the_words(reach: Reach, found: Consequences, applied: Any) -> set[int]:
    """What a model that was shown the memory said of it, though nothing was made of that."""
    words = words_of(reach, found)
    answers = applied.order_by().values_list("pk", "answer").iterator() if words else ()
    return {pk for pk, answer in answers if words.stand_in("\n".join(strings(answer)))}


def _turns(reach: Reach, found: Consequences, work: Work) -> None:
    work.delete("chat_turn", found.turns)
    words = words_of(reach, found)
    begun = Turn.objects.filter(persona=reach.persona).exclude(partial="").exclude(pk__in=among(found.turns))
    said = {
        pk
        for pk, partial in begun.values_list("pk", "partial")
        if pk in found.replied or words.stand_in(partial) or _repeats(partial, reach)
    }
    work.overwrite("chat_turn.partial", dict.fromkeys(said, ""))
    gone = _uuids_of_gone(reach, found)
    traced = turns_that_name(reach.persona, gone).exclude(pk__in=among(found.turns))
    work.overwrite("chat_turn.xray", {pk: without(xray, gone) for pk, xray in traced.values_list("pk", "xray")})


def _repeats(partial: str, reach: Reach) -> bool:
    return any(said.is_repeated_by(partial) for said in reach.said_by(reach.fate.kin, names_of(reach.persona)))


def without(value: Any, gone: Collection[str]) -> Any:
    """An x-ray without what has gone: neither its entries nor its ids are left.

    >>> without({"chosen": [{"id": "a", "messages": ["b", "c"]}, {"id": "d"}], "proposal": "b"}, {"b", "d"})
    {'chosen': [{'id': 'a', 'messages': ['c']}]}
    """
    if isinstance(value, list):
        return [without(item, gone) for item in value if not _is_named(item, gone)]
    if isinstance(value, dict):
        return {key: without(item, gone) for key, item in value.items() if not _is_id(item, gone)}
    return value


def _is_named(item: Any, gone: Collection[str]) -> bool:
    return _is_id(item.get("id") if isinstance(item, dict) else item, gone)


def _is_id(item: Any, gone: Collection[str]) -> bool:
    return isinstance(item, str) and item in gone


# --- L6, and what others keep ---------------------------------------------------------------------------------------
def _mood(reach: Reach, found: Consequences, work: Work) -> None:
    """The notes of the touched talks; the mood of now becomes what the newest one that is left says."""
    uuids = among(session.uuid for session in found.touched.values())
    changes = MoodChange.objects.filter(persona=reach.persona)
    felt_in = Q(session_uuid__in=uuids) | Q(pk__in=among(_moods_with_the_words(reach, found, changes)))
    gone = dict(changes.filter(felt_in).values_list("pk", "at"))
    work.delete("persona_moodchange", gone)
    state = Persona.objects.values_list("episodic_state", flat=True).get(pk=reach.persona.pk)
    if gone and state and state.get("updated_at") in {at.isoformat() for at in gone.values()}:
        work.overwrite("persona_persona.episodic_state", {reach.persona.pk: _mood_left(reach.persona, gone)})


def _moods_with_the_words(reach: Reach, found: Consequences, changes: Any) -> set[int]:
    words = words_of(reach, found)
    notes = changes.order_by().values_list("pk", "mood", "last_user_signal") if words else ()
    return {pk for pk, *said in notes if any(words.stand_in(text) for text in said if text)}


def _mood_left(persona: Persona, gone: Iterable[int]) -> dict[str, Any]:
    last = MoodChange.objects.filter(persona=persona).exclude(pk__in=among(gone)).first()
    if last is None:
        return {}
    return {
        "mood": last.mood,
        "energy": last.energy,
        "last_user_signal": last.last_user_signal,
        "updated_at": last.at.isoformat(),
    }


def _stream(reach: Reach, found: Consequences, work: Work) -> None:
    """Events that tell the words, or name what goes. A page that has to resume from one of them loads afresh."""
    lines = [reach.lines[pk] for pk in reach.fate.withheld if pk in reach.lines]
    turns = Turn.objects.filter(pk__in=among(found.replied)).values_list("uuid", flat=True)
    called = Entity.objects.filter(pk__in=among(found.renamed)).values_list("uuid", flat=True)
    told = {*_uuids_of_gone(reach, found), *(str(line.uuid) for line in lines), *map(str, turns), *map(str, called)}
    named = Q(naming("outbox_outboxevent.data", told))
    summarised = Session.objects.filter(pk__in=among(work.overwrites["chat_session.summary"]))
    talks = {*(session.uuid for session in found.touched.values()), *summarised.values_list("uuid", flat=True)}
    ended = Q(data__closed_session_id__in=[str(uuid) for uuid in talks]) | Q(pk__in=among(_broken_off(reach, found)))
    described = [str(entity.uuid) for entity in found.described.values()]
    ended |= Q(name="memory.entity.description_updated", data__entity_id__in=described)
    if work.deletes.get("persona_moodchange"):
        ended |= Q(name="chat.mood.update")
    work.delete("outbox_outboxevent", _keys(OutboxEvent.objects.filter(named | ended, stream=reach.persona.uuid)))


def _broken_off(reach: Reach, found: Consequences) -> set[int]:
    """Replies that failed half-way and say it; of a turn that came to its end since, the stream alone has them."""
    words = words_of(reach, found)
    failed = OutboxEvent.objects.filter(stream=reach.persona.uuid, name="chat.turn.failed").exclude(data__partial="")
    said = failed.order_by().values_list("pk", "data__partial")
    return {pk for pk, partial in said if partial and (words.stand_in(partial) or _repeats(partial, reach))}


def _ledger(reach: Reach, found: Consequences, work: Work) -> None:
    """What a call cost stays; which talk and turn it was for does not."""
    calls = LLMCall.objects.filter(persona_uuid=reach.persona.uuid)
    talks = among(found.touched[pk].uuid for pk in found.sessions if pk in found.touched)
    turns = Turn.objects.filter(pk__in=among(found.turns)).values_list("uuid", flat=True)
    work.overwrite("llm_llmcall.session_uuid", dict.fromkeys(_keys(calls.filter(session_uuid__in=talks))))
    work.overwrite("llm_llmcall.turn_uuid", dict.fromkeys(_keys(calls.filter(turn_uuid__in=among(turns)))))


def _queue(reach: Reach, found: Consequences, work: Work) -> None:
    """Finished jobs whose result (a traceback, say) quotes the words. The queue itself holds ids alone."""
    words = words_of(reach, found)
    if words:
        work.delete("django_q_task", [task.pk for task in Task.objects.all() if words.stand_in(_written(task))])


def _written(task: Any) -> str:
    return f"{task.args!r} {task.kwargs!r} {task.result!s}"


def _desk(reach: Reach, found: Consequences, work: Work) -> None:
    """What the desk noted down of the rows that go."""
    noted: set[int] = set()
    for table, keys in work.deletes.items():
        if keys:
            noted.update(log_entries(table, keys))
    entries = LogEntry.objects.filter(pk__in=among(noted))
    for column in ("object_repr", "change_message"):
        work.overwrite(f"django_admin_log.{column}", dict.fromkeys(_keys(entries.exclude(**{column: ""})), ""))


def log_entries(table: str, keys: Iterable[Key]) -> Iterator[int]:
    """The desk's notes about these rows of a table, by whatever name of it."""
    models = [model for model in apps.get_models(include_auto_created=True) if model._meta.db_table == table]
    types = [kind.pk for kind in ContentType.objects.get_for_models(*models, for_concrete_models=False).values()]
    ids = among(str(key) for key in keys)
    yield from LogEntry.objects.filter(content_type__in=types, object_id__in=ids).values_list("pk", flat=True)


# --- what brought it ------------------------------------------------------------------------------------------------
def _imports(reach: Reach, found: Consequences, work: Work) -> None:
    """Imports go with their file, and end where they are. Of a talk that loses lines, no digest tells which they were;
    and no file's name, who was in it."""
    work.delete("memory_importrun", reach.runs)
    runs = ImportRun.objects.filter(pk__in=among(reach.runs)).values("uuid")
    jobs = set(_keys(ImportJob.objects.filter(persona=reach.persona, uuid__in=runs)))
    work.delete("memory_importjob", jobs)
    work.delete("memory_importpiece", _keys(ImportPiece.objects.filter(job__in=among(jobs))))
    chunks = ImportChunk.objects.filter(persona=reach.persona)
    gone = Q(job__in=among(jobs)) | Q(session__in=among(found.sessions))
    work.delete("memory_importchunk", _keys(chunks.filter(gone)))
    shortened = {reach.lines[pk].session_id for pk in reach.fate.lines if pk in reach.lines}
    cut = chunks.filter(session__in=among(shortened)).exclude(gone).order_by().values_list("pk", "session")
    work.overwrite("memory_importchunk.digest", {pk: f"{CUT}{pk}" for pk, _session in cut})
    work.overwrite("chat_session.external_id", dict.fromkeys(session for _pk, session in cut))
    named = _jobs_named_after(reach, found) - jobs
    work.overwrite("memory_importjob.file_name", dict.fromkeys(named, ""))
    refused = ImportJob.objects.filter(pk__in=among(named)).exclude(refusal={}).values_list("pk", "refusal")
    work.overwrite("memory_importjob.refusal", {pk: refusal | {"where": "", "facts": {}} for pk, refusal in refused})


def _jobs_named_after(reach: Reach, found: Consequences) -> set[int]:
    if not reach.choice.bury:
        return set()
    words = words_of(reach, found)
    files = ImportJob.objects.filter(persona=reach.persona).order_by().values_list("pk", "file_name", "refusal")
    told = [(pk, f"{name} {refusal.get('where', '')} {refusal.get('facts', '')}") for pk, name, refusal in files]
    return {pk for pk, text in told if words.stand_in(text)}


PARTS = (
    _memories, _entities, _lines, _talks, _readings, _turns, _mood, _stream, _ledger, _queue, _imports, _desk,
)  # fmt: skip


# --- the words themselves -------------------------------------------------------------------------------------------
def texts(reach: Reach) -> list[str]:
    """All that goes in words: what memories say and said, their quotes, and lines."""
    memories = [
        text
        for pk in reach.fate.memories
        for text in (reach.nodes[pk].description, *(version.description for version in reach.versions[pk]))
    ]
    quotes = [row.quote for row in reach.evidence.values() if row.node_id in reach.fate.memories]
    lines = [reach.lines[pk].content for pk in reach.fate.lines if pk in reach.lines]
    return list(dict.fromkeys([*memories, *quotes, *lines]))


@dataclass(frozen=True)
class Words:
    """What no copy may say any more: texts that tell so much that they are nobody else's, and names that go."""

    texts: Sequence[str]
    names: Sequence[str]

    def __bool__(self) -> bool:
        return bool(self.texts or self.names)

    def stand_in(self, text: str) -> bool:
        return contains(text, self.texts) or any(is_named(name, text) for name in self.names)


def words_of(reach: Reach, found: Consequences) -> Words:
    """The words of what goes; none where only what came in goes, and not what says the same."""
    if not reach.choice.bury:
        return Words((), ())
    told = [comparable_form(text) for text in texts(reach) if is_telling(text)]
    return Words(told, names_that_go(reach, found))


def _uuids_of_gone(reach: Reach, found: Consequences) -> set[str]:
    nodes = (reach.nodes[pk].uuid for pk in reach.fate.memories)
    lines = (reach.lines[pk].uuid for pk in reach.fate.lines if pk in reach.lines)
    sessions = (found.touched[pk].uuid for pk in found.sessions if pk in found.touched)
    turns = Turn.objects.filter(pk__in=among(found.turns)).values_list("uuid", flat=True)
    gone = among(found.entities)
    proposals = MergeProposal.objects.filter(Q(a__in=gone) | Q(b__in=gone)).values_list("uuid", flat=True)
    entities = (entity.uuid for entity in found.entities.values())
    return {str(uuid) for uuids in (nodes, lines, sessions, turns, proposals, entities) for uuid in uuids}


def _keys(rows: Any) -> list[Key]:
    return list(rows.order_by().values_list("pk", flat=True))

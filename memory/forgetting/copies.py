"""Copies: every place that holds forgotten text a second time, and what to do with each.

Nothing is changed here: a `Work` lists the rows to delete and the values to write, by key. It is made while planning,
so that the receipt equals the plan, and executed in `memory.forgetting.execute`.

The models declare the consequences of foreign keys, and which columns are searched for the text
(`memory.forgetting.registry`). This module holds what cannot be declared: the rows that the decision reaches, and new
values of columns that are not simply cleared.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.contrib.admin.models import LogEntry
from django.db.models import Prefetch, Q

from chat.models import Session
from echovessel.db.text_columns import CLEAR, TextColumn, by_place
from echovessel.language.plain_text import comparable_form
from echovessel.llm.models import LLMCall
from echovessel.outbox.models import OutboxEvent
from memory.curation.reinstatement import values_to_reinstate
from memory.curation.restatements import Statement, contains, is_named, names_of, telling_words
from memory.curation.threads import MIN_MEMBERS, retitle
from memory.forgetting import registry
from memory.forgetting.collect import Closure, Consequences, deleted_names, turns_that_name
from memory.forgetting.registry import Work, among, naming, read_keys
from memory.models import (
    ConceptNode,
    Entity,
    Extraction,
    ImportChunk,
    ImportJob,
    MergeProposal,
    ModelReply,
    Question,
    Thread,
    ThreadMember,
)
from memory.models.consolidation import NOTHING_READ
from memory.models.thread import BY_DAY
from memory.store.tombstones import is_telling
from persona.models import CoreDraft, MoodChange

CUT = "cut:"
# Exceptions: descriptions written by people stay, a refusal keeps its code, a thread gets another title.
_CLEARED_BY_RULE = {"memory_entity.description", "memory_importjob.refusal", "memory_thread.title"}
UNFINISHED = (Session.Status.OPEN, Session.Status.CLOSING, Session.Status.CONSOLIDATING, Session.Status.FAILED)


@dataclass(frozen=True)
class ForgottenWords:
    """Text that no copy may keep: texts so distinctive that they can come from nowhere else, and deleted names."""

    texts: Sequence[str]
    names: Sequence[str]

    def __bool__(self) -> bool:
        return bool(self.texts or self.names)

    def occur_in(self, text: str) -> bool:
        return contains(text, self.texts) or any(is_named(name, text) for name in self.names)


def deleted_texts(closure: Closure) -> list[str]:
    """The text of everything that is deleted: memories with earlier versions, their quotes, and messages."""
    memories = [
        text
        for pk in closure.decision.memories
        for text in (closure.nodes[pk].description, *(version.description for version in closure.versions[pk]))
    ]
    quotes = [row.quote for row in closure.evidence.values() if row.node_id in closure.decision.memories]
    messages = [closure.messages[pk].content for pk in closure.decision.messages if pk in closure.messages]
    return list(dict.fromkeys([*memories, *quotes, *messages]))


def work_of(closure: Closure, consequences: Consequences) -> Work:
    """The work after which no copy of the deleted text is left."""
    copies = Copies(closure, consequences)
    copies.collect_drafts()
    copies.collect_imports()
    decision = closure.decision
    if decision.memories or decision.messages or decision.withheld or consequences.entities or consequences.sessions:
        copies.collect_memories()
        copies.collect_threads()
        copies.collect_entities()
        copies.collect_messages()
        # First rows that hold the text, then their dependents, then values in rows that stay.
        for place, keys in copies.matches.items():
            table = place.split(".")[0]
            if by_place()[place].on_forget is not CLEAR and table != "persona_draftquote":  # deleted with its draft
                copies.work.delete(table, keys)
        copies.work.add_dependents()
        for place, keys in copies.matches.items():
            if by_place()[place].on_forget is CLEAR and place not in _CLEARED_BY_RULE:
                copies.clear(place, keys)
        copies.collect_sessions()
        copies.collect_moods()
        copies.collect_events()
        copies.collect_logs()
    else:
        copies.work.add_dependents()
    return copies.work


class Copies:
    """Collects the work. `collect_drafts` to `collect_messages` add rows to delete; the later methods write values in
    rows that stay, and need to know the deleted ones."""

    def __init__(self, closure: Closure, consequences: Consequences) -> None:
        self.closure, self.consequences, self.work = closure, consequences, Work()

    @cached_property
    def keys(self) -> dict[str, list[Any]]:
        """The rows that the decision reaches, by their role."""
        closure, consequences, persona = self.closure, self.consequences, self.closure.persona
        memory_ids, sessions = among(closure.decision.memories), among(consequences.sessions)
        affected = (*closure.decision.messages, *closure.decision.withheld)
        affected_uuids = among(closure.messages[pk].uuid for pk in affected if pk in closure.messages)
        shortened = {closure.messages[pk].session_id for pk in closure.decision.messages if pk in closure.messages}
        runs = among(closure.runs.values())
        drafts, jobs = CoreDraft.objects.filter(persona=persona), ImportJob.objects.filter(persona=persona)
        rests_on_affected = Q(quotes__said_in__in=affected_uuids) | Q(import_uuid__in=runs)
        chunks = ImportChunk.objects.filter(persona=persona)
        imported = Q(job__in=jobs.filter(uuid__in=runs)) | Q(session__in=sessions)
        cut = chunks.filter(session__in=among(shortened)).exclude(imported)
        in_touched = Q(session__in=among(consequences.touched))
        unfinished = Q(session__persona=persona, session__status__in=UNFINISHED)
        applied_extractions = Extraction.objects.filter(in_touched, session__persona=persona).exclude(applied_at=None)
        settled = ConceptNode.objects.exclude(pk__in=memory_ids).filter(resolved_by__in=memory_ids)
        calls = LLMCall.objects.filter(persona_uuid=persona.uuid)
        session_uuids = among(consequences.touched[pk].uuid for pk in consequences.sessions)
        return read_keys({
            "drafts": drafts.filter(rests_on_affected).distinct().values("pk"),
            "drafts that quote": drafts.filter(quotes__in=among(self.matches["persona_draftquote.quote"])).values("pk"),
            "jobs": jobs.filter(uuid__in=runs).values("pk"),
            "chunks": chunks.filter(imported).values("pk"),
            "cut chunks": cut.values("pk"),
            "cut sessions": cut.values("session"),
            "questions": Question.objects.filter(rests_on__node__in=memory_ids).distinct().values("pk"),
            "settled": settled.values("pk"),
            "model replies": ModelReply.objects.filter(
                unfinished | Q(persona=persona, session=None) | in_touched
            ).values("pk"),
            "waiting extractions": Extraction.objects.filter(unfinished | in_touched, applied_at=None).values("pk"),
            "extractions of deleted": Extraction.objects.filter(session__in=sessions).values("pk"),
            "extractions read": applied_extractions.exclude(answer=NOTHING_READ).values("pk"),
            "calls of sessions": calls.filter(session_uuid__in=session_uuids).values("pk"),
            "calls of turns": calls.filter(turn_uuid__in=among(consequences.turns.values())).values("pk"),
        })  # fmt: skip

    # --- the text ---------------------------------------------------------------------------------------------------
    @cached_property
    def words(self) -> ForgottenWords:
        """The text to search for. Empty if an import is reverted: rows with the same text stay."""
        if not self.closure.choice.block_reimport:
            return ForgottenWords((), ())
        telling = [comparable_form(text) for text in deleted_texts(self.closure) if is_telling(text)]
        return ForgottenWords(telling, deleted_names(self.closure, self.consequences))

    @cached_property
    def restated(self) -> list[Statement]:
        return self.closure.statements_of(self.closure.decision.content_matches, names_of(self.closure.persona))

    @cached_property
    def matches(self) -> defaultdict[str, set[Any]]:
        """Rows that hold the text without any reference to deleted rows, by "table.column"."""
        if not self.words and not self.restated:
            return defaultdict(set)
        return registry.matching(self.closure.persona, self.holds_text)

    def holds_text(self, column: TextColumn, text: str) -> bool:
        if self.words.occur_in(text):
            return True
        return column.found_by == "restatement" and any(statement.is_repeated_by(text) for statement in self.restated)

    def clear(self, place: str, keys: Iterable[Any]) -> None:
        """Set a column to its declared cleared value, in rows that stay."""
        deleted = self.work.deletes.get(place.split(".")[0], ())
        self.work.overwrite(place, dict.fromkeys(set(keys).difference(deleted), by_place()[place].cleared))

    # --- L3 to L5 ---------------------------------------------------------------------------------------------------
    def collect_memories(self) -> None:
        deleted_memories = self.closure.decision.memories
        self.work.delete("memory_conceptnode", deleted_memories)
        edges = self.closure.fillings.values()
        orphaned = [
            edge.pk for edge in edges if edge.child_id in deleted_memories and edge.parent_id not in deleted_memories
        ]
        # First, because only an orphaned edge may have no child.
        self.work.overwrite("memory_filling.orphaned", dict.fromkeys(orphaned, True))
        self.work.overwrite("memory_filling.child_id", dict.fromkeys(orphaned))
        self.work.delete("memory_question", self.keys["questions"])
        if not self.closure.choice.block_reimport:
            # Items that a reverted import settled are open again.
            settled = self.keys["settled"]
            self.work.overwrite("memory_conceptnode.resolved_at", dict.fromkeys(settled))
            self.work.overwrite("memory_conceptnode.outcome", dict.fromkeys(settled, ConceptNode.Outcome.OPEN))
        for pk, values in values_to_reinstate(self.closure.decision.memories).items():
            for name, value in values.items():
                self.work.overwrite(f"memory_conceptnode.{name}", {pk: value})

    def collect_threads(self) -> None:
        """A thread that loses a memory gets a title made from the remaining ones, unless the owner's own title says
        nothing of the deleted text. A thread with fewer than two remaining memories is deleted, and so is a dissolved
        one."""
        deleted_memories = self.closure.decision.memories
        touched = ThreadMember.objects.filter(node__in=among(deleted_memories)).values("thread")
        matched = self.matches["memory_thread.title"]
        threads = Thread.objects.filter(Q(pk__in=touched) | Q(pk__in=among(matched)))
        members = ThreadMember.objects.select_related("node").order_by(*BY_DAY)
        for thread in threads.prefetch_related(Prefetch("members", members)):
            remaining_members = [
                member
                for member in thread.members.all()
                if member.removed_at is None and member.node_id not in deleted_memories
            ]
            remaining_texts = [member.node.description for member in remaining_members]
            lost_descriptions = [
                member.node.description for member in thread.members.all() if member.node_id in deleted_memories
            ]
            title_has_deleted_words = self._words_of([thread.title]) & (
                self._words_of(lost_descriptions) - self._words_of(remaining_texts)
            )
            if thread.dissolved_at is not None or len(remaining_texts) < MIN_MEMBERS:
                self.work.delete("memory_thread", [thread.pk])
            elif title_has_deleted_words or thread.pk in matched or thread.titled_by == Thread.TitledBy.SLOW_CYCLE:
                title = retitle(self.closure.persona, remaining_texts)
                self.work.overwrite("memory_thread.title", {thread.pk: title} if title != thread.title else {})

    def _words_of(self, texts: Iterable[str]) -> set[str]:
        names = names_of(self.closure.persona)
        return {word for text in texts for word in telling_words(text, names)}

    def collect_entities(self) -> None:
        consequences = self.consequences
        self.work.delete("memory_entity", consequences.entities)
        self.work.delete("memory_alias", consequences.aliases)
        self.work.overwrite("memory_entity.canonical_name", consequences.renamed)
        matched = Entity.objects.exclude(described_by=Entity.DescribedBy.PERSON).exclude(
            pk__in=among(consequences.entities)
        )
        consequences.described |= matched.filter(pk__in=among(self.matches["memory_entity.description"])).in_bulk()
        self.clear("memory_entity.description", consequences.described)
        self.clear("memory_entity.relation", {*consequences.related, *self.matches["memory_entity.relation"]})
        attributed = [pk for pk, entity in consequences.described.items() if entity.described_by]
        self.work.overwrite("memory_entity.described_by", dict.fromkeys(attributed, ""))
        self.work.overwrite("memory_entity.described_through", dict.fromkeys(attributed, 0))  # describe it anew

    # --- drafts of L1, and imports ----------------------------------------------------------------------------------
    def collect_drafts(self) -> None:
        """Delete drafts that rest on deleted or withheld messages, drafts of a deleted import, and drafts that restate
        forgotten text, whatever their state. A core block that a person edited belongs to the person and stays."""
        self.work.delete("persona_coredraft", [*self.keys["drafts"], *self.keys["drafts that quote"]])
        closure = self.closure
        if closure.runs and closure.persona.greeting:
            is_imported_greeting = closure.persona.greeting_import_uuid in closure.runs.values()
            self.work.overwrite("persona_persona.greeting", {closure.persona.pk: ""} if is_imported_greeting else {})

    def collect_imports(self) -> None:
        """Delete imports with their file. The digest of a session that loses messages no longer identifies these, and
        file names that name a person are cleared."""
        work, jobs = self.work, self.keys["jobs"]
        work.delete("memory_importrun", self.closure.runs)
        work.delete("memory_importjob", jobs)
        work.delete("memory_importchunk", self.keys["chunks"])
        work.overwrite("memory_importchunk.digest", {pk: f"{CUT}{pk}" for pk in self.keys["cut chunks"]})
        work.overwrite("chat_session.external_id", dict.fromkeys(self.keys["cut sessions"]))
        named_jobs = {
            *self.matches["memory_importjob.file_name"],
            *self.matches["memory_importjob.refusal"],
        }.difference(jobs)
        self.clear("memory_importjob.file_name", named_jobs)
        refused = ImportJob.objects.filter(pk__in=among(named_jobs)).exclude(refusal={}).values_list("pk", "refusal")
        refusals = by_place()["memory_importjob.refusal"].without_words
        cleared = {pk: refusals(refusal) | {"where": "", "facts": {}} for pk, refusal in refused}
        work.overwrite("memory_importjob.refusal", cleared)

    # --- L2 ---------------------------------------------------------------------------------------------------------
    def collect_messages(self) -> None:
        """Delete messages, turns and sessions, and model replies about them. An applied extraction is emptied; one that
        was not applied is deleted and asked for again."""
        closure = self.closure
        self.work.delete("chat_message", [pk for pk in closure.decision.messages if pk in closure.messages])
        self.work.delete("chat_turn", self.consequences.turns)
        self.work.delete("chat_session", self.consequences.sessions)
        withheld = [
            pk for pk in closure.decision.withheld if pk in closure.messages and not closure.messages[pk].withheld
        ]
        self.work.overwrite("chat_message.withheld", dict.fromkeys(withheld, True))
        self.work.delete("memory_modelreply", self.keys["model replies"])
        self.work.delete("memory_extraction", [*self.keys["waiting extractions"], *self.keys["extractions of deleted"]])
        self.clear("memory_extraction.answer", self.keys["extractions read"])
        self.clear("chat_turn.partial", [pk for pk, turn in self.consequences.replied.items() if turn.partial])
        uuids = self.forgotten_uuids
        traced = turns_that_name(self.closure.persona, uuids).exclude(pk__in=among(self.consequences.turns))
        self.work.overwrite(
            "chat_turn.xray", {pk: remove_ids(xray, uuids) for pk, xray in traced.values_list("pk", "xray")}
        )

    def collect_sessions(self) -> None:
        """Clear summaries and failure texts, and correct the time of the last message, because the database trigger
        only updates the counts."""
        staying = {
            pk: session for pk, session in self.consequences.touched.items() if pk not in self.consequences.sessions
        }
        persona = self.closure.persona
        failed_or_matched = Q(persona=persona, status=Session.Status.FAILED) | Q(
            pk__in=among(self.matches["chat_session.summary"])
        )
        sessions = (
            staying
            | Session.objects.filter(failed_or_matched).exclude(pk__in=among(self.consequences.touched)).in_bulk()
        )
        matched = self.matches["chat_session.summary"]
        summarised = {
            pk: session for pk, session in sessions.items() if session.summary and (pk in staying or pk in matched)
        }
        self.consequences.summarised = summarised
        self.clear("chat_session.summary", summarised)
        # Keep the step that failed, without the model's text.
        parts = {pk: row.failure.partition(": ") for pk, row in sessions.items()}
        failures = {pk: f"{step}: …" for pk, (step, colon, _) in parts.items() if colon}
        changed = {pk: failure for pk, failure in failures.items() if failure != sessions[pk].failure}
        self.work.overwrite("chat_session.failure", changed)
        shortened = {
            self.closure.messages[pk].session_id for pk in self.closure.decision.messages if pk in self.closure.messages
        }
        last_message_at = {
            pk: at for pk, at in self.consequences.last_remaining_at.items() if pk in shortened and pk in staying
        }
        changed_times = {pk: at for pk, at in last_message_at.items() if at != staying[pk].last_message_at}
        self.work.overwrite("chat_session.last_message_at", changed_times)

    # --- L6, and other records --------------------------------------------------------------------------------------
    def collect_moods(self) -> None:
        """Delete the moods of touched sessions; the current mood becomes the newest remaining one."""
        persona = self.closure.persona
        uuids = among(session.uuid for session in self.consequences.touched.values())
        changes = MoodChange.objects.filter(persona=persona)
        matched = among(self.work.deletes.get("persona_moodchange", ()))
        deleted_moods = changes.filter(Q(session_uuid__in=uuids) | Q(pk__in=matched)).in_bulk()
        self.consequences.moods = deleted_moods
        self.work.delete("persona_moodchange", deleted_moods)
        state = persona.episodic_state
        if (
            deleted_moods
            and state
            and state.get("updated_at") in {change.at.isoformat() for change in deleted_moods.values()}
        ):
            last = changes.exclude(pk__in=among(deleted_moods)).first()
            mood = (
                {
                    "mood": last.mood,
                    "energy": last.energy,
                    "last_user_signal": last.last_user_signal,
                    "updated_at": last.at.isoformat(),
                }
                if last
                else {}
            )
            self.work.overwrite("persona_persona.episodic_state", {persona.pk: mood})

    def collect_events(self) -> None:
        """Delete events with the text or the ids of deleted rows. A page that would resume from one of them reloads."""
        closure, consequences = self.closure, self.consequences
        withheld = [str(closure.messages[pk].uuid) for pk in closure.decision.withheld if pk in closure.messages]
        turns = (turn.uuid for turn in consequences.replied.values())
        renamed = Entity.objects.filter(pk__in=among(consequences.renamed)).values_list("uuid", flat=True)
        ids = {*self.forgotten_uuids, *withheld, *map(str, turns), *map(str, renamed)}
        to_delete = Q(naming("data", ids))
        sessions = {session.uuid for session in (consequences.touched | consequences.summarised).values()}
        to_delete |= Q(data__closed_session_id__in=[str(uuid) for uuid in sessions])
        # Partial text of failed replies: if the turn was completed later, only the stream still contains it.
        failed = OutboxEvent.objects.filter(stream=closure.persona.uuid, name="chat.turn.failed")
        partials = failed.exclude(data__partial="").order_by().values_list("pk", "data__partial")
        column = by_place()["chat_turn.partial"]
        to_delete |= Q(pk__in=among(pk for pk, text in partials if text and self.holds_text(column, text)))
        described = [str(entity.uuid) for entity in consequences.described.values()]
        to_delete |= Q(name="memory.entity.description_updated", data__entity_id__in=described)
        if self.work.deletes.get("persona_moodchange"):
            to_delete |= Q(name="chat.mood.update")
        rows = OutboxEvent.objects.filter(to_delete, stream=closure.persona.uuid).order_by()
        self.work.delete("outbox_outboxevent", rows.values_list("pk", flat=True))

    def collect_logs(self) -> None:
        """Clear the sessions and turns of model calls, whose cost stays, and the admin's log entries about deleted
        rows."""
        self.work.overwrite("llm_llmcall.session_uuid", dict.fromkeys(self.keys["calls of sessions"]))
        self.work.overwrite("llm_llmcall.turn_uuid", dict.fromkeys(self.keys["calls of turns"]))
        rows = {
            (kind, str(key))
            for table, keys in self.work.deletes.items()
            if keys
            for kind in registry.content_types(table)
            for key in keys
        }
        entries = LogEntry.objects.filter(content_type__in=among({kind for kind, _key in rows}))
        of_keys = entries.filter(object_id__in=among({key for _kind, key in rows}))
        named_rows = of_keys.order_by().values_list("pk", "content_type", "object_id", "object_repr", "change_message")
        noted = [(pk, title, change) for pk, kind, key, title, change in named_rows if (kind, key) in rows]
        self.clear("django_admin_log.object_repr", [pk for pk, title, _change in noted if title])
        self.clear("django_admin_log.change_message", [pk for pk, _title, change in noted if change])

    @cached_property
    def forgotten_uuids(self) -> set[str]:
        closure, consequences = self.closure, self.consequences
        nodes = (closure.nodes[pk].uuid for pk in closure.decision.memories)
        messages = (closure.messages[pk].uuid for pk in closure.decision.messages if pk in closure.messages)
        sessions = (consequences.touched[pk].uuid for pk in consequences.sessions if pk in consequences.touched)
        deleted_entities = among(consequences.entities)
        proposals = MergeProposal.objects.filter(Q(a__in=deleted_entities) | Q(b__in=deleted_entities)).values_list(
            "uuid", flat=True
        )
        entities = (entity.uuid for entity in consequences.entities.values())
        return {
            str(uuid)
            for uuids in (nodes, messages, sessions, consequences.turns.values(), proposals, entities)
            for uuid in uuids
        }


def remove_ids(value: Any, deleted_ids: Collection[str]) -> Any:
    """An x-ray without the entries and ids of deleted rows.

    >>> remove_ids({"chosen": [{"id": "a", "messages": ["b", "c"]}, {"id": "d"}], "proposal": "b"}, {"b", "d"})
    {'chosen': [{'id': 'a', 'messages': ['c']}]}
    """

    def is_deleted(item: Any) -> bool:
        return isinstance(item, str) and item in deleted_ids

    if isinstance(value, list):
        remaining = (item for item in value if not is_deleted(item.get("id") if isinstance(item, dict) else item))
        return [remove_ids(item, deleted_ids) for item in remaining]
    if isinstance(value, dict):
        return {key: remove_ids(item, deleted_ids) for key, item in value.items() if not is_deleted(item)}
    return value

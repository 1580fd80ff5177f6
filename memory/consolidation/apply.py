"""Apply: write the stored answers of a session to memory, all together and only once."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models import F

from chat.models import Message, Session, Turn
from echovessel.db.public_id import parse_uuid
from echovessel.embeddings import embedding
from echovessel.jobs.lease import Lease, LeaseLost
from echovessel.llm import provider_name
from memory import knobs
from memory.consolidation import entity_names, open_items, owner_requests, rivals
from memory.consolidation.answer_schema import (
    ExtractedEvent,
    ExtractedItem,
    ExtractionAnswer,
    ImportAnswer,
    ImportedThought,
    OpenLoop,
    stored,
)
from memory.consolidation.drafts import DraftWriter, find_quotes
from memory.consolidation.imported import ImportedMaterial, is_imported, is_long_past, material_of
from memory.curation import questions
from memory.entities.clarify import answered_in, settle
from memory.entities.comparison import candidates_for
from memory.entities.similarity import Profile
from memory.models import ConceptNode, Extraction
from memory.requests.offer import settle_remembered
from memory.store.active_model import follow, with_one_model
from memory.store.corrections import ReplacedText, repeats
from memory.store.writing import (
    Draft,
    in_one_line,
    tidy_description,
    write,
)
from persona import mood as moods
from persona.models import Persona

MAX_SUMMARY = 400
MIN_PART_OF_SUMMARY = 20


@dataclass(frozen=True)
class PreparedAnswer:
    """One stored answer, ready to be written: drafts of its memories, the thoughts concluded from them, and the vectors
    of both. Made outside any transaction."""

    extraction: Extraction
    answer: ExtractionAnswer
    left_out: int
    drafts: Sequence[Draft]
    thoughts: Sequence[tuple[ImportedThought, Draft]]
    vectors: np.ndarray
    profiles: Sequence[Profile]


@with_one_model
def apply(lease: Lease[Session]) -> None:
    """Write all stored answers of the session that are not written yet.

    Embeds first, then writes in one transaction. A repeat finds nothing left to do. Raises EmbeddingUnavailable and
    LeaseLost.
    """
    session, model = lease.row, follow()
    waiting = session.extractions.filter(applied_at=None).order_by("chunk")
    now, material = lease.clock(), material_of(session)
    for extraction in () if is_imported(session) else waiting:
        owner_requests.act(session, extraction, now)
    prepared = [prepare_answer(session, material, extraction, now) for extraction in waiting]
    if not prepared:
        return
    answers = [piece.answer for piece in prepared]
    candidates = candidates_for(session.persona, [profile for piece in prepared for profile in piece.profiles])
    with transaction.atomic():
        lease.checkpoint()
        for prepared_piece in prepared:
            # LeaseLost if the answer is gone: a message it was made from has been forgotten meanwhile.
            unapplied = Extraction.objects.filter(pk=prepared_piece.extraction.pk, applied_at=None)
            if not unapplied.update(applied_at=now, dropped=F("dropped") + prepared_piece.left_out):
                raise LeaseLost
            persona = session.persona
            count = len(prepared_piece.drafts)
            drafts = zip(prepared_piece.drafts, prepared_piece.vectors[:count], strict=True)
            written_nodes = [write(persona, draft, vector, model, now) for draft, vector in drafts]
            nodes = [new.node for new in written_nodes]
            for draft, node in zip(prepared_piece.drafts, nodes, strict=True):
                if node is not None:
                    open_items.settle_told(draft.came_about, node, now)
            # A known fact counts as mentioned once more, and is counted with the dropped items.
            is_known = [new.outcome in ("repeated", "reinforced") for new in written_nodes]
            repeated_facts = sum(
                draft.kind == ConceptNode.Kind.FACT and is_old
                for draft, is_old in zip(prepared_piece.drafts, is_known, strict=True)
            )
            Extraction.objects.filter(pk=prepared_piece.extraction.pk).update(dropped=F("dropped") + repeated_facts)
            for (thought, draft), vector in zip(prepared_piece.thoughts, prepared_piece.vectors[count:], strict=True):
                # A thought rests on those of its events that were written; without any it is dropped.
                events = nodes[: len(prepared_piece.answer.events)]
                filling_events = [events[place] for place in thought.filling if place < len(events)]
                filling = [event for event in filling_events if event is not None]
                nodes.append(
                    write(persona, replace(draft, filling=filling), vector, model, now).node if filling else None
                )
            tried = [*prepared_piece.drafts, *(draft for _thought, draft in prepared_piece.thoughts)]
            _keep_without(
                prepared_piece.extraction, {d.description for d, node in zip(tried, nodes, strict=True) if node is None}
            )
            entity_names.resolve_names(persona, prepared_piece.answer, prepared_piece.profiles, nodes, candidates)
            if is_imported(session) or provider_name() == "offline":  # else the model is asked first (reconciliation)
                rivals.ask(
                    persona, [new.node for new in written_nodes if new.node is not None and new.outcome == "new"], now
                )
            clarifications, shown_messages = prepared_piece.answer.clarifications, session.messages.shown_to_models()
            contents = list(shown_messages.values_list("content", flat=True)) if clarifications else []
            for clarification in clarifications:
                first, second = clarification.first, clarification.second
                if answered_in(persona, first, second, contents):
                    settle(persona, first, second, clarification.same, now)
            questions.settle_answered(session, [node for node in nodes if node is not None], now)
        settle_remembered(session)
        _change_mood(session, answers, now)
        if not all(piece.extraction.again for piece in prepared):
            summarize_session(session)


def prepare_answer(
    session: Session, material: ImportedMaterial, extraction: Extraction, now: datetime
) -> PreparedAnswer:
    messages = {message.pk: message for message in session.messages.shown_to_models()}
    answer, nothing_new = without_what_was_read(stored(extraction.answer), messages, extraction.after())
    answer, too_late = without_loops_that_are_over(session, material, answer, now)
    answer, too_many = limit_events(
        answer, knobs.import_events_per_piece() if material.is_prose else knobs.events_per_chunk()
    )
    writer = DraftWriter(session, material, messages)
    events = list(map(writer.of_event, answer.events))
    drafts = [*events, *map(writer.of_fact, answer.facts), *map(writer.of_open_loop, answer.open_loops)]
    imported = answer.thoughts[: knobs.import_thoughts_per_piece()] if isinstance(answer, ImportAnswer) else ()
    thoughts = [(thought, writer.of_thought(thought, events)) for thought in imported]
    texts = [tidy_description(draft.description) for draft in (*drafts, *(draft for _, draft in thoughts))]
    vectors = embedding.embed(texts)
    profiles = entity_names.profiles_of(answer, texts, vectors)
    left_out = nothing_new + too_late + too_many
    return PreparedAnswer(extraction, answer, left_out, drafts, thoughts, vectors, profiles)


def without_what_was_read(
    answer: ExtractionAnswer, messages: dict[int, Message], after: int
) -> tuple[ExtractionAnswer, int]:
    """The answer without items that rest only on messages up to `after`, which were given as context, and the number of
    items left out."""

    def is_new(item: ExtractedItem) -> bool:
        quotes, _sound = find_quotes(item.evidence, messages)
        return not quotes or any(quote.message.pk > after for quote in quotes)

    remaining = answer.only(is_new)
    return remaining, len(answer.items) - len(remaining.items)


def limit_events(answer: ExtractionAnswer, limit: int) -> tuple[ExtractionAnswer, int]:
    """The answer with its first `limit` events and open loops, and the number of items left out. Quotations do not
    count: dozens of events from a model are not credible, but the owner's own sentences, as memory mode keeps them,
    cannot be invented."""
    told_events = [event for event in answer.events if not is_quotation(event)]
    refused = {id(item) for item in (*told_events[limit:], *answer.open_loops[limit:])}
    return answer.only(lambda item: id(item) not in refused), len(refused)


def is_quotation(event: ExtractedEvent) -> bool:
    """Whether the event consists of the words that it cites: "Ana: “I have a cat.”"."""
    quotes = " ".join(f"“{in_one_line(cited_quote.quote)}”" for cited_quote in event.evidence)
    return bool(event.evidence) and event.description.endswith(quotes)


def without_loops_that_are_over(
    session: Session, material: ImportedMaterial, answer: ExtractionAnswer, now: datetime
) -> tuple[ExtractionAnswer, int]:
    """The answer without promises that are overdue, and the number left out. In an imported session promises without a
    day are overdue, too."""
    today = now.astimezone(session.persona.zone).date()
    earliest = today if is_imported(session) else today - timedelta(days=knobs.promise_grace_days())

    def is_awaited(item: ExtractedItem) -> bool:
        if not isinstance(item, OpenLoop):
            return True
        return item.due >= earliest and material.is_dated if item.due else not is_imported(session)

    remaining = answer.only(is_awaited)
    return remaining, len(answer.items) - len(remaining.items)


def _keep_without(extraction: Extraction, refused: Collection[str]) -> None:
    """Remove refused items from the stored answer: they may contain forgotten words."""
    if not refused:
        return
    answer = {
        name: [item for item in value if not isinstance(item, dict) or item.get("description") not in refused]
        if isinstance(value, list)
        else value
        for name, value in extraction.answer.items()
    }
    Extraction.objects.filter(pk=extraction.pk).update(answer=answer)


def _change_mood(session: Session, answers: Sequence[ExtractionAnswer], now: datetime) -> None:
    """Set the mood as of the end of the session, unless a later session has set it already."""
    signals = [answer.session_mood_signal for answer in answers if answer.session_mood_signal]
    if not signals or is_long_past(session, now):
        return
    persona = Persona.objects.get(pk=session.persona_id)
    at = min(session.last_message_at, now)
    mood_state: dict[str, Any] = persona.episodic_state
    if mood_state and datetime.fromisoformat(mood_state["updated_at"]) > at:
        return
    signal = signals[-1]
    mood = moods.Mood.clamped(signal.mood, signal.energy, signal.last_user_signal)
    moods.change(persona, mood, session.uuid, at)


def summarize_session(session: Session) -> None:
    """Join the summaries of all pieces. If that is too long, each is shortened to an equal part; of very many only the
    first are kept."""
    answers = session.extractions.order_by("chunk").values_list("answer", flat=True)
    summaries = dict.fromkeys(filter(None, (answer.get("session_summary") for answer in answers)))
    # Leave out a part that repeats something the session itself corrected later.
    superseded = session.nodes.exclude(superseded_by=None).values_list("description", "superseded_by__description")
    replaced = [ReplacedText(before, now) for before, now in superseded]
    parts = [part for part in summaries if not any(repeats(part, text) for text in replaced)]
    session.summary = " ".join(parts)
    if len(session.summary) > MAX_SUMMARY:
        room = max(MIN_PART_OF_SUMMARY, MAX_SUMMARY // len(parts) - len("… "))
        shortened = " ".join(part if len(part) <= room else part[:room].rstrip() + "…" for part in parts)
        session.summary = shortened[:MAX_SUMMARY]
    Session.objects.filter(pk=session.pk).update(summary=session.summary)


def count_access(session: Session, now: datetime) -> None:
    """Count the memories recalled for the session's replies, once per turn. Call in the transaction that closes the
    session."""
    recalled: Counter[str] = Counter()
    for turn in Turn.objects.filter(session=session).only("xray"):
        # Public ids of the nodes that the turn's x-ray names as chosen; passages (L2) have no count.
        recollections = turn.xray.get("recollections") if isinstance(turn.xray, dict) else None
        chosen_items = recollections.get("chosen") if isinstance(recollections, dict) else None
        items = [item for item in chosen_items or [] if isinstance(item, dict) and item.get("layer") != "L2"]
        recalled.update({str(item["id"]) for item in items if parse_uuid(str(item.get("id")))})
    for times in set(recalled.values()):
        uuids = [uuid for uuid, count in recalled.items() if count == times]
        recalled_nodes = ConceptNode.objects.filter(persona_id=session.persona_id, uuid__in=uuids)
        recalled_nodes.update(access_count=F("access_count") + times, last_accessed_at=now)

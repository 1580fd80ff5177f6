"""Extraction: ask a small model what is worth remembering of a session, piece by piece.

The answer is stored unchanged before anything is written from it, and records how far the session has been read: a
repeat resumes there, and no message is asked about twice.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Count, Max

from chat.care import flags
from chat.models import Message, Session
from echovessel import llm
from echovessel.jobs.lease import Lease
from echovessel.llm.prompts import neutralize, shorten
from memory import knobs
from memory.consolidation import fact_checks, owner_requests, prompt, replies
from memory.consolidation.answer_schema import (
    ExtractedEvent,
    ExtractedFact,
    ExtractionAnswer,
    ImportAnswer,
    OpenLoop,
)
from memory.consolidation.asked_for import without_requests
from memory.consolidation.imported import ImportedMaterial, is_imported, material_of, purpose_of
from memory.consolidation.known import known_memories
from memory.consolidation.language import is_in_another_language
from memory.consolidation.messages import Piece, PromptMessage, messages_of, next_piece
from memory.consolidation.people_checks import believed_people
from memory.consolidation.told_days import with_named_days
from memory.entities import clarify
from memory.models import ConceptNode, Entity, Extraction
from persona.models import Persona

BLOCK_TOKENS = 400
MAX_ALIASES = 4
# Values that keep the first reading's results when a session is read again for facts.
NOTHING_BUT_FACTS: dict[str, Any] = {
    "requests": None,
    "entity_clarification": None,
    "session_mood_signal": None,
    "session_summary": "",
    "crisis_messages": [],
}
# Tags for what is between the owner and the persona.
_OF_THE_TWO = ("turning-point", "correction", "commitment")


def read(lease: Lease[Session], *, again: bool = False) -> None:
    """Ask about all messages that are not read yet, piece by piece; with `again`, about those not yet read again for
    facts.

    Raises LLMError, EmbeddingUnavailable and LeaseLost. No transaction may be open: model and embedder are called here.
    """
    messages = messages_of(lease.row)
    while piece := _next_piece(lease.row, messages, again=again):
        extract_piece(lease, piece, again)


def _next_piece(session: Session, messages: Sequence[PromptMessage], *, again: bool = False) -> Piece | None:
    """The next unread piece. A piece that was asked about before ends at the same message, even if more messages
    followed: stored replies answer exactly that piece. Pieces in which only others speak are skipped, because nothing
    in them could be evidence."""
    after = watermark(session, again=again)
    asked_through = replies.asked_through(session) or 0
    if asked_through > after:
        messages = [message for message in messages if message.id <= asked_through]
    while piece := next_piece(messages, after, knobs.chunk_tokens(), knobs.chunk_overlap_lines()):
        if not all(message.by_another for message in piece.new):
            break
        after = piece.through
    return piece


def watermark(session: Session, *, again: bool = False) -> int:
    """The key of the last message that was read, or read again; 0 before the first."""
    return session.extractions.filter(again=again).aggregate(last=Max("through"))["last"] or 0


def extract_piece(lease: Lease[Session], piece: Piece, again: bool) -> None:
    """Ask about one piece and store the answer; with `again`, only its facts."""
    session, now, material = lease.row, lease.clock(), material_of(lease.row)
    memories = known_memories(session.persona, piece.lines)
    answer = llm.answer_now(
        _request(session, piece, material, memories, now),
        ImportAnswer if material.is_prose else ExtractionAnswer,
        replies=replies.of_extraction(lease, piece.through),
        doubt=lambda answer: _doubt(session.persona, answer, piece, material),
    ).value
    answer, mistaken = without_the_persona(answer, session.persona, piece) if material.others else (answer, 0)
    answer, unbelieved = _believed(answer, piece, session.persona, dated=material.is_dated)
    mistaken += unbelieved
    requests = list(answer.requests or ())
    if is_imported(session):
        answer.requests = None
    else:
        if requests:
            answer.requests = owner_requests.check(requests, session, [message.id for message in piece.new])
        answer, asked_for = without_requests(answer, piece.new)
        mistaken += asked_for
    mistaken += len(requests) - len(answer.requests or ())
    if again:
        answer = answer.only(lambda item: isinstance(item, ExtractedFact)).model_copy(update=NOTHING_BUT_FACTS)
    # An answer may replace only memories that were in the prompt.
    shown_ids = {node.pk for node in memories}
    for item in answer.told:
        item.supersedes = [cited_id for cited_id in item.supersedes if prompt.node_id(cited_id) in shown_ids]
    with transaction.atomic():
        lease.checkpoint()
        last = session.extractions.aggregate(last=Max("chunk"))["last"]
        Extraction.objects.create(
            session=session,
            chunk=0 if last is None else last + 1,
            through=piece.through,
            again=again,
            answer=answer.model_dump(mode="json"),
            dropped=answer.dropped + mistaken,
        )
        if not again:
            flags.raise_help_by_model(_cries(answer, session, piece), now)
        replies.delete(session)


def _believed(answer: ExtractionAnswer, piece: Piece, persona: Persona, *, dated: bool) -> tuple[ExtractionAnswer, int]:
    """The answer without facts, open loops and names that the piece does not support, and the number of mistakes."""
    messages_by_id = {
        message.id: fact_checks.SaidMessage(
            message.content, message.by_user, message.at.astimezone(persona.zone).date()
        )
        for message in piece.lines
        if not message.by_another
    }
    names = fact_checks.Names(persona.user_display_name, persona.name)
    answer, mistaken = fact_checks.believed(answer, messages_by_id, names, _fact_limit(piece), dated=dated)
    answer, misdated = with_named_days(answer, messages_by_id) if dated else (answer, 0)
    answer, misnamed = believed_people(answer, messages_by_id, names)
    return answer, mistaken + misdated + misnamed


def _fact_limit(piece: Piece) -> int:
    return fact_checks.fact_limit(sum(message.tokens for message in piece.new))


def _cries(answer: ExtractionAnswer, session: Session, piece: Piece) -> list[Message]:
    """The owner's messages that the model reports as a crisis: only messages it was shown, and only in a live session.
    Invented ids and messages of others raise nothing."""
    if is_imported(session):
        return []
    own_ids = {message.id for message in piece.lines if message.by_user and not message.by_another}
    crisis_ids = own_ids.intersection(filter(None, map(prompt.message_id, answer.crisis_messages)))
    messages = session.messages.shown_to_models().filter(pk__in=crisis_ids, role=Message.Role.USER, import_uuid=None)
    return list(messages.select_related("persona", "session").order_by("id"))


def _doubt(persona: Persona, answer: ExtractionAnswer, piece: Piece, material: ImportedMaterial) -> str:
    """The repair prompt if the answer is in another language than the session, or takes somebody for the persona; else
    ""."""
    if material.others and any(_tells_of_the_persona(item, persona, piece) for item in answer.told):
        return prompt.render("extraction_others", persona)
    return prompt.render("extraction_language", persona) if is_in_another_language(answer, piece.lines) else ""


def without_the_persona(answer: ExtractionAnswer, persona: Persona, piece: Piece) -> tuple[ExtractionAnswer, int]:
    """The answer about a session between other people without items about the persona or promised by it, and the number
    of mistakes. The persona's mood stays as well, since it took no part."""
    remaining = answer.only(
        lambda item: not isinstance(item, OpenLoop) and not _tells_of_the_persona(item, persona, piece)
    )
    events = [
        event.model_copy(
            update={
                "subject": ConceptNode.Subject.USER.value,
                "relational_tags": [tag for tag in event.relational_tags if tag not in _OF_THE_TWO],
            }
        )
        for event in remaining.events
    ]
    mistaken = len(answer.items) - len(remaining.items)
    return remaining.model_copy(update={"events": events, "session_mood_signal": None}), mistaken


def _tells_of_the_persona(item: ExtractedEvent | ExtractedFact, persona: Persona, piece: Piece) -> bool:
    """Whether the item names the persona although nobody in the session has or uses that name."""
    if isinstance(item, ExtractedFact) and item.whose == "persona":
        return True
    name = persona.name.casefold()
    session_text = " ".join(f"{message.speaker} {message.content}" for message in piece.lines).casefold()
    return (
        name in item.description.casefold()
        and name not in session_text
        and name not in persona.user_display_name.casefold()
    )


def _request(
    session: Session, piece: Piece, material: ImportedMaterial, memories: Sequence[ConceptNode], now: datetime
) -> llm.Request:
    persona = session.persona
    # Core blocks (L1) that people wrote about the two, shortened. They are read only; no job writes them.
    core_blocks = persona.core_blocks.filter(label__in=["persona", "user"]).values_list("label", "content")
    blocks = {label: neutralize(shorten(content.strip(), BLOCK_TOKENS)) for label, content in core_blocks}
    # Known entities, the most mentioned first, each with some of its names.
    living = persona.entities.exclude(status=Entity.Status.MERGED).annotate(times=Count("mentions"))
    entities = living.order_by("-times", "-id").prefetch_related("aliases")[: knobs.known_entities()]
    others = {
        entity: [alias.text for alias in entity.aliases.all() if alias.text != entity.canonical_name][:MAX_ALIASES]
        for entity in entities
    }
    in_question = clarify.open_question(persona, [message.content for message in piece.lines])
    pairs = [[pair.a.canonical_name, pair.b.canonical_name] for pair in in_question]
    crying = flags.crisis_message_keys([message.id for message in piece.lines])
    return prompt.request(
        persona,
        purpose_of(session),
        template="import" if material.is_prose else "extraction",
        tier="small",
        max_tokens=knobs.extraction_tokens(),
        session_uuid=session.uuid,
        values={
            "read": prompt.format_messages(persona, _as_spoken(piece.context), dated=material.is_dated),
            "said": prompt.format_messages(persona, _as_spoken(piece.new), dated=material.is_dated),
            "undated": not material.is_dated,
            "fact_limit": _fact_limit(piece),
            "others": any(message.by_another for message in piece.lines),
            "between": ", ".join(material.others[: prompt.MAX_NAMED]),
            "is_one": len(material.others) == 1,
            "now": f"{now.astimezone(persona.zone):%Y-%m-%d %a %H:%M}",
            "timezone": persona.timezone,
            "persona_block": blocks.get("persona", ""),
            "user_block": blocks.get("user", ""),
            "entities": [
                f"{' / '.join([entity.canonical_name, *aliases])} "
                f"({entity.kind}{entity.relation and f', {entity.relation}'})"
                for entity, aliases in others.items()
            ],
            "questions": [neutralize(" / ".join(clarify.names_in_question(pair))) for pair in in_question],
            "known": prompt.format_memories(persona, memories),
        },
        material={
            "now": now.isoformat(),
            "timezone": persona.timezone,
            "lines": [
                {
                    "id": "" if message.by_another else f"m{message.id}",
                    "role": message.role,
                    "content": message.content,
                    "at": message.at.isoformat(),
                    "read": read,
                }
                | ({"speaker": message.speaker} if message.by_another else {})
                | ({"crisis": True} if message.id in crying else {})
                for read, messages in ((True, piece.context), (False, piece.new))
                for message in _as_spoken(messages)
            ],
            "known": [{"id": f"e{node.pk}", "kind": node.kind, "description": node.description} for node in memories],
            "known_entities": [{"name": entity.canonical_name, "kind": entity.kind} for entity in others],
        }
        | {"pairs_in_question": pairs, "prose": material.is_prose, "dated": material.is_dated}
        | {"others": list(material.others)},
    )


def _as_spoken(messages: Sequence[PromptMessage]) -> list[PromptMessage]:
    """The messages in the order of their times: an archive may have stored them in another order."""
    return sorted(messages, key=lambda message: (message.at, message.id))

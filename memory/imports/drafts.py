"""Drafts texts for the three core blocks from the imported messages. A model is asked once, and people decide on the
drafts.

There is one request per import: half of the sample are messages that the memories of most impact rest on, half are
beginnings of sessions spread over the whole time. The answer is kept until the import is over, so that a repeat calls
no model; a draft that was proposed is not proposed again.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from heapq import nlargest
from typing import Annotated, ClassVar, Literal, TypeVar

from django.db import transaction
from pydantic import BaseModel, BeforeValidator

from chat.models import Message, Session
from chat.models.message import MessageQuerySet
from echovessel import llm
from echovessel.jobs.lease import Lease, LeasedReplyStore
from echovessel.llm.prompts import neutralize, shorten
from memory import knobs
from memory.consolidation import prompt
from memory.consolidation.answer_schema import Evidence, Filled, LenientAnswer
from memory.consolidation.drafts import find_quotes
from memory.consolidation.imported import material_of
from memory.consolidation.language import in_another_script
from memory.consolidation.messages import PER_LINE, PromptMessage
from memory.consolidation.prompt import message_id
from memory.models import ConceptNode, ImportJob, ModelReply
from memory.models import Evidence as EvidenceRow
from memory.store import tombstones
from memory.store.tombstones import TombstoneSource, of_draft
from memory.store.writing import Quote
from persona.models import Persona
from persona.models.core_block import MAX_CHARACTERS
from persona.onboarding import drafts

LINE_TOKENS = 300  # of a longer message only the beginning is shown
BLOCK_TOKENS = 400
LONGEST_DRAFT = 1_000
MAX_QUOTES = 3
WEIGHTIEST = 120
BOTH_SIDES = (Message.Role.USER, Message.Role.PERSONA)
Item = TypeVar("Item")


class DraftedBlock(BaseModel):
    """One or two sentences for one of the three core blocks, with their evidence."""

    label: Annotated[
        Literal["persona", "user", "style"],
        BeforeValidator(lambda value: value.strip().lower() if isinstance(value, str) else value),
    ]
    text: Filled
    evidence: Evidence = []


class DraftsAnswer(LenientAnswer):
    """What the messages say of the owner and the persona, and of how they speak."""

    lists: ClassVar = {"drafts": DraftedBlock}
    essential: ClassVar = "drafts"

    drafts: list[DraftedBlock]


def draft(lease: Lease[ImportJob]) -> int:
    """Ask the model, and store the drafts whose quotes occur in the messages; returns how many are new.

    No transaction may be open. Raises LLMError, AnswerUnreadable and LeaseLost; a repeat pays for no answer twice.
    """
    job = lease.row
    persona = job.persona
    messages = sample(job) if persona else []
    if persona is None or not messages:
        return 0

    def doubt(answer: DraftsAnswer) -> str:
        """The request to correct the answer; "" if every draft is in the language of the messages that it cites."""
        texts = {message.id: message.content for message in messages}
        for block in answer.drafts:
            cited_text = " ".join(texts.get(message_id(words.message_id) or 0, "") for words in block.evidence)
            if in_another_script(block.text, cited_text):
                return prompt.render("onboarding_language", persona)
        return ""

    # --- request ------------------------------------------------------------------------------------------------------
    blocks = drafts.block_texts(persona)
    answer = llm.answer_now(
        prompt.request(
            persona,
            "onboarding",
            tier="medium",
            max_tokens=knobs.import_drafts_tokens(),
            values={"said": prompt.format_messages(persona, messages)}
            | {f"{label}_block": neutralize(shorten(text.strip(), BLOCK_TOKENS)) for label, text in blocks.items()},
            material={
                "lines": [
                    {
                        "id": f"m{message.id}",
                        "role": message.role,
                        "content": message.content,
                        "at": message.at.isoformat(),
                    }
                    | ({"others": list(message.to)} if message.to else {})
                    for message in messages
                ]
            },
        ),
        DraftsAnswer,
        replies=LeasedReplyStore(lease, ModelReply.objects, persona_id=persona.pk, session=None, step=_step(job)),
        doubt=doubt,
    ).value
    with transaction.atomic():
        lease.checkpoint()
        return sum(_propose(lease, persona, *block_and_quotes) for block_and_quotes in sound_drafts(job, answer))


def delete_replies(job: ImportJob) -> None:
    """Delete the stored replies of the model. Call in the transaction that ends the import."""
    ModelReply.objects.filter(persona=job.persona, session=None, step=_step(job)).delete()


def _step(job: ImportJob) -> str:
    return f"drafting:{job.pk}"


def sample(job: ImportJob) -> list[PromptMessage]:
    """Imported messages of both sides, as many as the knob allows, in the order of their times."""
    room = knobs.import_sample_tokens()
    weighty = _fitting(_resting_on(job), room // 2)
    room -= sum(map(_cost, weighty))
    # The first messages of sessions spread evenly over the whole time, with the same room for each.
    started = Session.objects.filter(import_uuid=job.uuid, message_count__gt=0).order_by("started_at", "pk")
    session_keys = spread(list(started.values_list("pk", flat=True)), knobs.import_sample_talks())
    messages = (_imported(job).filter(session=key).order_by("created_at", "pk") for key in session_keys)
    beginnings = (
        message
        for rows in messages
        for message in _fitting(map(_prompt_message, rows.iterator(chunk_size=50)), room // len(session_keys))
    )
    messages_by_id = {message.id: message for message in (*weighty, *_fitting(beginnings, room))}
    # Add the addressees of messages in sessions without the persona.
    lines = sorted(messages_by_id.values(), key=lambda message: (message.at, message.id))
    message_rows = Message.objects.select_related("session").in_bulk([message.id for message in lines])
    sessions = {message.session_id: message.session for message in message_rows.values()}
    addressees = {key: material_of(session).others for key, session in sessions.items()}
    return [
        replace(message, to=addressees[message_rows[message.id].session_id]) if message.id in message_rows else message
        for message in lines
    ]


def _resting_on(job: ImportJob) -> Iterator[PromptMessage]:
    """The owner's messages that the memories of most impact rest on; those about who the owner is come first."""
    cited_rows = EvidenceRow.objects.filter(
        message__in=_imported(job).filter(role=Message.Role.USER), node__status=ConceptNode.Status.ACTIVE
    )
    rows = cited_rows.values_list("message_id", "node__relational_tags", "node__emotional_impact").order_by("pk")
    weights: dict[int, tuple[bool, int]] = defaultdict(lambda: (False, 0))
    for key, tags, impact in rows.iterator():
        weights[key] = max(weights[key], ("identity-bearing" in tags, abs(impact)))
    best = nlargest(WEIGHTIEST, weights, key=lambda key: (*weights[key], -key))
    messages = Message.objects.in_bulk(best)
    yield from (_prompt_message(messages[key]) for key in best if key in messages)


def spread(items: Sequence[Item], limit: int) -> list[Item]:
    """At most `limit` of the items, spread evenly.

    >>> spread([0, 1, 2, 3, 4, 5, 6], 3), spread([0, 1], 3)
    ([0, 2, 4], [0, 1])
    """
    if len(items) <= limit:
        return list(items)
    return [items[number * len(items) // limit] for number in range(limit)]


def _imported(job: ImportJob) -> MessageQuerySet:
    """The imported messages of both sides that models may read."""
    return Message.objects.filter(import_uuid=job.uuid, role__in=BOTH_SIDES, persona=job.persona).shown_to_models()


def _prompt_message(message: Message) -> PromptMessage:
    shortened = shorten(message.content, LINE_TOKENS)
    return PromptMessage(message.pk, message.role, shortened, message.created_at, min(message.token_count, LINE_TOKENS))


def _fitting(messages: Iterable[PromptMessage], room: int) -> list[PromptMessage]:
    """The first messages that fit into `room` tokens together."""
    fitting: list[PromptMessage] = []
    for message in messages:
        room -= _cost(message)
        if room < 0:
            break
        fitting.append(message)
    return fitting


def _cost(message: PromptMessage) -> int:
    return message.tokens + PER_LINE


# --- answer -------------------------------------------------------------------------------------------------------
def sound_drafts(job: ImportJob, answer: DraftsAnswer) -> Iterator[tuple[DraftedBlock, list[Quote]]]:
    """The drafts whose quotes occur in the messages they cite, as many as fit into their block."""
    cited = {message_id(words.message_id) for draft in answer.drafts for words in draft.evidence} - {None}
    messages = _imported(job).in_bulk([key for key in cited if key is not None])
    count: dict[str, int] = defaultdict(int)
    size: dict[str, int] = defaultdict(int)
    for draft in answer.drafts:
        quotes = find_quotes(draft.evidence, messages)[0][:MAX_QUOTES]
        is_full = count[draft.label] >= knobs.import_drafts_per_block() or (
            size[draft.label] + len(draft.text) > MAX_CHARACTERS
        )
        # Only the owner's own messages support a claim about the owner.
        by_user = any(quote.message.role == Message.Role.USER for quote in quotes)
        is_supported = by_user or (bool(quotes) and draft.label != "user")
        if not is_full and len(draft.text) <= LONGEST_DRAFT and is_supported:
            count[draft.label] += 1
            size[draft.label] += len(draft.text)
            yield draft, quotes


def _propose(lease: Lease[ImportJob], persona: Persona, block: DraftedBlock, quotes: Sequence[Quote]) -> bool:
    """Propose the draft, and return whether it is new; forgotten texts are not proposed."""
    texts = {(text, quote.message.day) for quote in quotes for text in (quote.text, quote.message.content)}
    sources = {TombstoneSource(kind, text, day) for text, day in texts for kind in ("text", "line")}
    if tombstones.refused_among(
        persona, {of_draft(block.label, block.text), TombstoneSource("text", block.text), *sources}
    ):
        return False
    words = [drafts.DraftSource(quote.text, quote.message.uuid, quote.message.created_at) for quote in quotes]
    return drafts.propose(persona, block.label, block.text, words, lease.row.uuid, lease.clock()) is not None

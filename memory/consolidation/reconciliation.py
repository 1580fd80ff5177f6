"""Reconciliation: end facts that depend on something that has ended. A second question, after a session is written.

    change       a memory of the session that replaces, ends or rivals another
    candidates   related facts of earlier sessions: significant words, the same slot, one domain of one person
    verdict      "over": the fact held until then, and is told as past; "partly": a sentence with the part that still
                 holds takes its place; "unsure", and every pinned or confirmed fact: the owner is asked

"I'm on amlodipine now" replaces the old tablets; that grapefruit is forbidden because of those is a separate fact. The
model is asked once a session, and only if there are candidates; facts it does not name stay. Without a model the owner
is asked about rivals only (`rivals`). News that does not concern health ends no fact that does.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models import Q

from chat.models import Session
from echovessel import llm
from echovessel.embeddings import embedding
from echovessel.jobs.lease import Lease
from echovessel.language.coarse_dates import span_of
from echovessel.language.health import bears_on_health
from echovessel.llm import LLMError, provider_name
from echovessel.outbox import events
from memory import knobs
from memory.consolidation import prompt, replies, rivals
from memory.consolidation.answer_schema import ChangedFact, ReconciliationAnswer
from memory.consolidation.imported import is_imported
from memory.consolidation.messages import messages_of
from memory.consolidation.remainders import is_remainder
from memory.curation.restatements import names_of
from memory.entities.resolve import link_inherited
from memory.models import ConceptNode, Evidence
from memory.models.node import L3
from memory.store.active_model import follow, with_one_model
from memory.store.deduplication import telling_words
from memory.store.writing import Draft, Quote, days_of_fact, erase_entity_descriptions, write
from persona.models import Persona

Kind, Domain, Status, PlanState = ConceptNode.Kind, ConceptNode.Domain, ConceptNode.Status, ConceptNode.PlanState
MAX_CANDIDATES = 8
MAX_COMPARED = 400
MAX_ASKED = 2
# A word in more facts than this does not show that they are related.
HOLDING_A_WORD = 6
SHARED_WORD, SAME_SLOT, SAME_DOMAIN = 2, 2, 1
# Facts that hold or are still planned, without an end.
_STANDING = Q(plan_state="", until="") | Q(plan_state=PlanState.PLANNED)
# Facts of these domains may end together: a new vegetarian no longer likes steak.
_OF_THE_BODY = {Domain.HEALTH, Domain.LIKES, Domain.BELIEFS}


@dataclass(frozen=True)
class Change:
    """News of a session, the memories that it replaced, and the fact that it rivals."""

    news: ConceptNode
    replaced: Sequence[ConceptNode]
    rival: ConceptNode | None

    @property
    def text(self) -> str:
        return " ".join([self.news.description, *(node.description for node in self.replaced)])


def reconcile(lease: Lease[Session]) -> None:
    """Ask which facts the session's changes make untrue, and end those. A repeat finds it done.

    No transaction may be open. Raises EmbeddingUnavailable, LeaseLost, and LLMError if asking again may help.
    """
    session = lease.row
    if is_imported(session) or provider_name() == "offline":
        return
    session_memories = list(session.nodes.active().filter(kind__in=L3).select_related("persona").order_by("id"))
    changes = changes_of(session.persona, session_memories)
    candidates = candidates_for(session, changes)
    answer = ReconciliationAnswer()
    if candidates:
        try:
            request = _request(session, changes, [node for node, _change in candidates])
            answer = llm.answer_now(request, ReconciliationAnswer, replies=replies.of_reconciliation(lease)).value
        except LLMError as error:
            if not error.permanent:
                raise
    _apply(lease, session_memories, {change.news.pk for change in changes}, candidates, answer)


def changes_of(persona: Persona, session_memories: Sequence[ConceptNode]) -> list[Change]:
    """The changes among `session_memories`: memories that replaced others, and facts that report an end or rival an
    earlier one. A plan that was only carried out changes nothing."""
    changes = []
    for node in session_memories:
        replaced = list(node.supersedes.filter(kind__in=L3).order_by("id"))
        rival = rivals.find(persona, node)
        ends = rivals.tells_of_an_end(node.description) and node.kind == Kind.FACT
        if node.plan_state != PlanState.DONE and (replaced or rival or ends):
            changes.append(Change(node, replaced, rival))
    return changes


def candidates_for(session: Session, changes: Sequence[Change]) -> list[tuple[ConceptNode, Change]]:
    """The facts of earlier sessions that the changes may make untrue, the likeliest first, each with its change."""
    if not changes:
        return []
    facts = session.persona.nodes.active().filter(_STANDING, kind=Kind.FACT, resolved_by=None)
    facts = facts.exclude(subject=ConceptNode.Subject.PERSONA).exclude(session=session)
    newest = facts.order_by("-last_mentioned_at", "-id")[:MAX_COMPARED]
    standing_facts = [node for node in newest if not rivals.is_told_as_over(node.description)]
    names = names_of(session.persona)
    words = {node.pk: telling_words(node.description) - names for node in standing_facts}
    holding = Counter(word for own in words.values() for word in own)
    rare = {word for word, count in holding.items() if count <= HOLDING_A_WORD}
    scored: list[tuple[int, int, ConceptNode, Change]] = []
    for node in standing_facts:
        likeness, change = max(
            ((_likeness(node, words[node.pk] & rare, change), change) for change in changes), key=lambda pair: pair[0]
        )
        if likeness:
            scored.append((likeness, node.pk, node, change))
    scored.sort(key=lambda scored_fact: (-scored_fact[0], -scored_fact[1]))
    return [(node, change) for _likeness, _pk, node, change in scored[:MAX_CANDIDATES]]


def _likeness(node: ConceptNode, words: set[str], change: Change) -> int:
    """How closely a fact is related to the change; 0 if it is not."""
    news = change.news
    shared = len(words & telling_words(change.text))
    if not node.subject == news.subject == ConceptNode.Subject.USER:
        return SHARED_WORD * shared
    slots = {rivals.slot_of(memory.description) for memory in (news, *change.replaced)} - {""}
    fills_slot = rivals.slot_of(node.description) in slots
    has_slot = fills_slot or rivals.may_be_ended_by(node.description, news.description)
    is_alike = node.domain == news.domain or {node.domain, news.domain} <= _OF_THE_BODY
    likeness = SHARED_WORD * shared + SAME_SLOT * has_slot + SAME_DOMAIN * is_alike
    return likeness if likeness > SAME_DOMAIN or change.replaced or change.rival else 0


def _request(session: Session, changes: Sequence[Change], candidates: Sequence[ConceptNode]) -> llm.Request:
    persona = session.persona
    cited_ids = Evidence.objects.filter(node__in=[change.news.pk for change in changes]).values_list(
        "message_id", flat=True
    )
    cited_messages = [message for message in messages_of(session) if message.id in set(cited_ids)]
    return prompt.request(
        persona,
        "extraction",
        template="reconciliation",
        tier="small",
        max_tokens=knobs.reflection_tokens(),
        session_uuid=session.uuid,
        values={
            "news": prompt.format_memories(persona, [change.news for change in changes]),
            "replaced": prompt.format_memories(persona, [node for change in changes for node in change.replaced]),
            "said": prompt.format_messages(persona, cited_messages),
            "known": prompt.format_memories(persona, candidates),
        },
        material={},
    )


@with_one_model
def _apply(
    lease: Lease[Session],
    session_memories: Sequence[ConceptNode],
    causes: Collection[int],
    candidates: Sequence[tuple[ConceptNode, Change]],
    answer: ReconciliationAnswer,
) -> None:
    """Write the verdicts, and ask the owner where they are missing or unsure. The model may name the one of `causes`
    (keys) that ended a fact; else it is the change with the nearest words."""
    persona, now, model = lease.row.persona, lease.clock(), follow()
    asked_about_by_key = {node.pk: (node, change.news) for node, change in candidates}
    verdicts = {
        pk: changed_fact
        for changed_fact in answer.changes or ()
        if (pk := prompt.node_id(changed_fact.id)) in asked_about_by_key
    }
    rests = {pk: changed_fact.still for pk, changed_fact in verdicts.items() if changed_fact.verdict == "partly"}
    vectors = dict(zip(rests, embedding.embed(list(rests.values())), strict=True)) if rests else {}
    with transaction.atomic():
        lease.renew()  # no checkpoint: repeated at each attempt, it would give reflection all its attempts anew
        # While the model worked, the facts may have been hidden, corrected or pinned, or the news forgotten.
        live = persona.nodes.active().filter(_STANDING, resolved_by=None).in_bulk(list(verdicts))
        standing_news = persona.nodes.active().select_related("persona").in_bulk([node.pk for node in session_memories])
        unsure: list[tuple[ConceptNode, ConceptNode]] = []
        for pk, verdict in verdicts.items():
            (asked_about, guessed), node = asked_about_by_key[pk], live.get(pk)
            cause_id = prompt.node_id(verdict.because)
            news = standing_news.get(cause_id if cause_id in causes else guessed.pk)
            if node is None or news is None or node.description != asked_about.description:
                continue
            if not _may_end(node, news, verdict):
                unsure.append((node, news))
            elif verdict.verdict == "over":
                end(node, news)
            else:
                _keep_the_rest(persona, node, news, verdict.still, vectors[pk], model, now)
        question_count = 0
        for node, news in unsure[:MAX_ASKED]:
            question_count += rivals.ask_about(persona, node, news, now)
        # A model that was asked and named no rival has decided that both facts hold.
        settled = {pk for pk in asked_about_by_key if answer.changes is not None}
        memories_left = [standing_news[node.pk] for node in session_memories if node.pk in standing_news]
        rivals.ask(persona, memories_left, now, settled=settled, limit=MAX_ASKED - question_count)


def _may_end(node: ConceptNode, news: ConceptNode, verdict: ChangedFact) -> bool:
    """Whether a verdict is believed: it is sure, adds nothing to the fact, and ends neither a fact that a person
    vouched for nor one about health because of unrelated news."""
    if node.pinned or node.verification == ConceptNode.Verification.CONFIRMED:
        return False
    is_at_stake = _of_health(node) and not _of_health(news)
    if verdict.verdict == "partly":
        return is_remainder(verdict.still, node.description, keeps_health=is_at_stake)
    return verdict.verdict == "over" and not is_at_stake


def _of_health(node: ConceptNode) -> bool:
    return node.domain == Domain.HEALTH or bears_on_health(node.description)


def end(node: ConceptNode, news: ConceptNode) -> None:
    """End a fact with the month of the news; cancel a plan. Call in a transaction."""
    values: dict[str, Any] = {"resolved_by": news}
    if node.plan_state:
        values["plan_state"] = PlanState.CANCELLED
    else:
        told_in = f"{news.created_at.astimezone(news.persona.zone):%Y-%m}"
        # The first of these times that does not end before the fact begins; else that beginning itself.
        first = span_of(node.since) if node.since else None
        ends = ((code, span_of(code)) for code in (news.since, told_in) if code)
        fitting = (code for code, span in ends if span and (first is None or span.end >= first.start))
        values["until"] = next(fitting, node.since)
        start, last = days_of_fact(node.domain, node.since, values["until"]) or (None, None)
        values |= {"event_time_start": start, "event_time_end": last}
    ConceptNode.objects.filter(pk=node.pk).update(**values)
    erase_entity_descriptions(node)
    events.publish(news.persona.uuid, "memory.node.updated", node_id=str(node.uuid), kind=node.kind, change="ended")


def _keep_the_rest(
    persona: Persona,
    node: ConceptNode,
    news: ConceptNode,
    still: str,
    vector: np.ndarray,
    model: str,
    now: datetime,
) -> None:
    """Replace a fact by the part that still holds, with the same evidence."""
    rows = Evidence.objects.filter(node=node, message__withheld=False).select_related("message")
    draft = Draft(
        kind=node.kind,
        description=still,
        source=node.source,
        subject=node.subject,
        emotional_impact=node.emotional_impact,
        emotion_tags=node.emotion_tags,
        relational_tags=node.relational_tags,
        session=node.session,
        confidence=node.confidence,
        verification=node.verification,
        evidence=[Quote(row.message, row.quote, row.start, row.end) for row in rows],
        supersedes=[node],
        created_at=node.created_at,
        import_uuid=node.import_uuid,
        domain=node.domain,
        since=node.since,
        until=node.until,
        plan_state=node.plan_state,
        event_time=days_of_fact(node.domain, node.since, node.until),
    )
    rest = write(persona, draft, vector, model, now)
    # If a memory already says so, it has evidence of its own, and is not forgotten with the news.
    if rest.node is not None and rest.outcome == "new":
        ConceptNode.objects.filter(pk=rest.node.pk).update(resolved_by=news)
        link_inherited(rest.node, [node])

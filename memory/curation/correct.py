"""Correct: a person rewrites a memory. It has their words from then on; its earlier words become its history.

Conclusions from it stay, and their pages show that they rest on a corrected memory: a corrected date does not mean that
the conclusion is wrong.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any, Literal

import numpy as np
from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from echovessel.embeddings import embedding
from echovessel.language import tokenizer
from echovessel.language.harmful_wishes import is_harmful_wish
from echovessel.language.plain_text import comparable_form
from echovessel.outbox import events
from memory.entities.mentions import follow_words
from memory.models import ConceptNode, Evidence, NodeText, NodeVersion
from memory.models.node import MAX_CONDITION
from memory.store import tombstones, vectors
from memory.store.active_model import expect, follow, with_one_model
from memory.store.corrections import ReplacedText
from memory.store.deduplication import DateRange, content_hash
from memory.store.writing import (
    clamped_impact,
    concern_of,
    days_of_fact,
    emotion_tags,
    erase_derived_text,
    in_one_line,
    relational_tags,
    tidy_description,
)
from persona.models import Persona


class NothingChanged(Enum):
    """The value of a field that may be None and stays unchanged."""

    UNCHANGED = "unchanged"


_QUOTATION = re.compile(r"(?P<speaker>.{1,120}?(?:: |：))“(?P<words>.+)”", re.DOTALL)
FACT_FIELDS = ("domain", "since", "until", "plan_state")
RETELLING_FIELDS = frozenset(("description", "event_time_start", "event_time_end", *FACT_FIELDS))
UNCHANGED: Literal[NothingChanged.UNCHANGED] = NothingChanged.UNCHANGED


@dataclass(frozen=True)
class Correction:
    """The fields to change; None leaves a field unchanged. `event_time` is (first day, last day), or None for no
    day."""

    description: str | None = None
    emotional_impact: int | None = None
    emotion_tags: Sequence[str] | None = None
    relational_tags: Sequence[str] | None = None
    event_time: DateRange | Literal[NothingChanged.UNCHANGED] | None = UNCHANGED
    scope: str | None = None
    condition: str | None = None
    is_boundary: bool | None = None
    domain: str | None = None
    since: str | None = None
    until: str | None = None
    plan_state: str | None = None


class InvalidMemory(ValueError):
    """An invalid memory; `field` is the wrong one: description or event_time."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(reason)
        self.field = field


class WordsForgotten(Exception):
    """The words of a correction were forgotten for good: nothing was changed."""


@with_one_model
def correct(node: ConceptNode, change: Correction, by: AbstractBaseUser | None, now: datetime) -> ConceptNode:
    """Make a new version of the node, confirmed by `by`; without a difference nothing happens.

    No transaction may be open. Raises WordsForgotten, InvalidMemory, EmbeddingUnavailable, and ConceptNode.DoesNotExist
    if it was forgotten meanwhile.
    """
    values = _values(change)
    if "description" in values:
        values["description"] = _without_quotation(node, values["description"])
    model = follow()
    [vector] = embedding.embed([values["description"]], is_hurried=True) if "description" in values else [None]
    return _rewrite(node, values, vector, model, by, now)


@with_one_model
def restore(node: ConceptNode, version: NodeVersion, by: AbstractBaseUser | None, now: datetime) -> ConceptNode:
    """Return the node to one of its versions, with the verification of that version; its present words become history.
    Raises as `correct` does."""
    start, end = version.event_time_start, version.event_time_end
    change = Correction(
        version.description,
        version.emotional_impact,
        version.emotion_tags,
        version.relational_tags,
        (start, end) if start and end else None,
        version.scope or None,
        version.condition if version.scope else None,
        version.is_boundary if version.scope else None,
        *(getattr(version, name) if version.domain else None for name in FACT_FIELDS),
    )
    values = _values(change) | {"verification": version.verification}
    model = follow()
    [vector] = embedding.embed([values["description"]], is_hurried=True)
    return _rewrite(node, values, vector, model, by, now)


def _values(change: Correction) -> dict[str, Any]:
    """The columns to change, with values as they are stored."""
    values: dict[str, Any] = {}
    if change.description is not None:
        values["description"] = tidy_description(change.description)
        if not values["description"]:
            raise InvalidMemory("description", "a node needs a description")
    if change.emotional_impact is not None:
        values["emotional_impact"] = clamped_impact(change.emotional_impact)
    if change.emotion_tags is not None:
        values["emotion_tags"] = emotion_tags(change.emotion_tags)
    if change.relational_tags is not None:
        values["relational_tags"] = relational_tags(change.relational_tags)
    if change.event_time is not UNCHANGED:
        start, end = change.event_time or (None, None)
        if start and end and end < start:
            raise InvalidMemory("event_time", "an event cannot end before it begins")
        values |= {"event_time_start": start, "event_time_end": end}
    if change.scope is not None:
        values["scope"] = change.scope
    if change.condition is not None:
        values["condition"] = in_one_line(change.condition)[:MAX_CONDITION]
    if change.is_boundary is not None:
        values["is_boundary"] = change.is_boundary
    values |= {name: value for name in FACT_FIELDS if (value := getattr(change, name)) is not None}
    return values


def _without_quotation(node: ConceptNode, text: str) -> str:
    """The text of a memory that quotes a message ("Ana: “I have a cat.”"), without quotation marks if these words were
    never written."""
    quotation = _QUOTATION.fullmatch(text)
    if quotation is None:
        return text
    texts = [node.description, *Evidence.objects.filter(node=node).values_list("quote", flat=True)]
    words = comparable_form(quotation["words"])
    if any(words in comparable_form(text) for text in texts):
        return text
    return f"{quotation['speaker']}{quotation['words']}"


def _rewrite(
    node: ConceptNode,
    values: dict[str, Any],
    vector: np.ndarray | None,
    model: str,
    by: AbstractBaseUser | None,
    now: datetime,
) -> ConceptNode:
    """Store these values as a new version if any of them differs; `vector` is of the description, by `model`."""
    with transaction.atomic():
        Persona.objects.select_for_update().get(pk=node.persona_id)
        row = ConceptNode.objects.select_related("persona").get(pk=node.pk)
        differing = {name: value for name, value in values.items() if getattr(row, name) != value}
        if not differing:
            return row
        expect(model)
        text = differing.get("description")
        if row.kind != ConceptNode.Kind.LESSON and differing.keys() & {"scope", "condition", "is_boundary"}:
            raise InvalidMemory("scope", "only a lesson says when it holds")
        if row.kind != ConceptNode.Kind.FACT and differing.keys() & set(FACT_FIELDS):
            raise InvalidMemory("domain", "only a fact has a domain and holds since or until a time")
        if row.kind == ConceptNode.Kind.FACT and differing.keys() & set(FACT_FIELDS):
            domain, since, until = (differing.get(name, getattr(row, name)) for name in FACT_FIELDS[:3])
            if domain != ConceptNode.Domain.PLANS and differing.get("plan_state", row.plan_state):
                differing["plan_state"] = ""
            start, end = days_of_fact(domain, since, until) or (None, None)
            differing |= {"event_time_start": start, "event_time_end": end}
            if differing.keys() & {"since", "until", "plan_state"}:  # the owner's own times, not ended by news
                differing["resolved_by"] = None
        new_texts = [str(differing[name]) for name in ("description", "condition") if name in differing]
        if row.kind == ConceptNode.Kind.LESSON and any(map(is_harmful_wish, new_texts)):
            raise InvalidMemory("description", "no persona may take this for a wish")
        if text is not None and tombstones.refuses(row.persona, [text]):
            raise WordsForgotten
        last = row.versions.first()
        NodeVersion.objects.create(
            node=row,
            version=last.version + 1 if last else 1,
            description=row.description,
            emotional_impact=row.emotional_impact,
            emotion_tags=row.emotion_tags,
            relational_tags=row.relational_tags,
            event_time_start=row.event_time_start,
            event_time_end=row.event_time_end,
            verification=row.verification,
            scope=row.scope,
            condition=row.condition,
            is_boundary=row.is_boundary,
            **{name: getattr(row, name) for name in FACT_FIELDS},
            edited_by_id=by.pk if by else None,
            edited_at=now,
        )
        if not differing.keys().isdisjoint(RETELLING_FIELDS):
            erase_derived_text(row, ReplacedText(row.description, text or row.description))
        columns: dict[str, Any] = {"verification": ConceptNode.Verification.CONFIRMED} | differing
        if text is not None:
            columns["content_hash"] = content_hash(text)
        description, tags = (columns.get(name, getattr(row, name)) for name in ("description", "relational_tags"))
        domain = columns.get("domain", row.domain)
        columns["concern"] = concern_of(row.kind, description, tags, domain, row.subject)
        before = row.description
        ConceptNode.objects.filter(pk=row.pk).update(**columns)
        row.refresh_from_db(fields=[*columns])
        if text is not None and vector is not None:
            # Update everything derived from the description: vector, tokenized words, mentions.
            vectors.replace({row.pk: vector}, model)
            NodeText.objects.filter(node=row).update(body=" ".join(tokenizer.tokenize(row.description)))
            follow_words(row, before)
        events.publish(
            row.persona.uuid, "memory.node.updated", node_id=str(row.uuid), kind=row.kind, change="corrected"
        )
    return row

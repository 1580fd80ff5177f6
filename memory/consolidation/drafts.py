"""Drafts of memories, one for each item of an answer, with quotes, day, and the memories it replaces. Reads only."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from chat.models import Message, Session
from memory.consolidation import evidence, replacing
from memory.consolidation.answer_schema import Cited, ExtractedEvent, ExtractedFact, ImportedThought, OpenLoop
from memory.consolidation.fact_checks import Names, Whose
from memory.consolidation.imported import ImportedMaterial, is_imported
from memory.consolidation.prompt import message_id, node_id
from memory.models import ConceptNode
from memory.models.node import RELATIONAL_TAGS
from memory.store.writing import Draft, Quote, days_of_fact, event_time_of

*_, CORRECTION, COMMITMENT = RELATIONAL_TAGS
SUBJECTS: dict[Whose, str] = {
    "owner": ConceptNode.Subject.USER,
    "persona": ConceptNode.Subject.PERSONA,
    "other": ConceptNode.Subject.OTHER,
}


@dataclass(frozen=True)
class DraftWriter:
    """Writes drafts from the items of one session. `messages` are those that may be quoted, by id."""

    session: Session
    material: ImportedMaterial
    messages: dict[int, Message]

    @property
    def import_uuid(self) -> UUID | None:
        """The import of an imported session, by which it can be reverted as a whole."""
        return self.session.import_uuid if is_imported(self.session) else None

    def of_event(self, event: ExtractedEvent) -> Draft:
        quotes, sound = find_quotes(event.evidence, self.messages)
        speaker = None if event.subject == ConceptNode.Subject.PERSONA else Message.Role.USER
        created_at, days = self._created_at(quotes), event.event_time
        if is_imported(self.session) and not self.material.is_dated:
            days = None
        replaced, came_about = self._effects(event, quotes, created_at)
        return Draft(
            kind=ConceptNode.Kind.EVENT,
            description=event.description,
            source=ConceptNode.Source.EXTRACTION,
            subject=event.subject,
            emotional_impact=event.emotional_impact,
            emotion_tags=event.emotion_tags,
            relational_tags=event.relational_tags,
            event_time=(days.start, days.end) if days else None,
            session=self.session,
            confidence=event.confidence,
            status=status_of(quotes, sound, speaker),
            evidence=quotes,
            supersedes=replaced,
            came_about=came_about,
            created_at=created_at,
            import_uuid=self.import_uuid,
        )

    def of_fact(self, fact: ExtractedFact) -> Draft:
        quotes, sound = find_quotes(fact.evidence, self.messages)
        whose = Names(self.session.persona.user_display_name, self.session.persona.name).whose(fact)
        is_plan, created_at = fact.domain == ConceptNode.Domain.PLANS, self._created_at(quotes)
        replaced, came_about = self._effects(fact, quotes, created_at)
        return Draft(
            kind=ConceptNode.Kind.FACT,
            description=fact.description,
            source=ConceptNode.Source.EXTRACTION,
            subject=SUBJECTS[whose],
            event_time=days_of_fact(fact.domain, fact.since, fact.until),
            session=self.session,
            confidence=fact.confidence,
            status=status_of(quotes, sound, Message.Role.PERSONA if whose == "persona" else Message.Role.USER),
            evidence=quotes,
            supersedes=replaced,
            came_about=came_about,
            created_at=created_at,
            import_uuid=self.import_uuid,
            domain=fact.domain,
            since=fact.since,
            until=fact.until,
            plan_state=fact.state or "" if is_plan else "",
        )

    def of_open_loop(self, loop: OpenLoop) -> Draft:
        """An intention if the persona promised something; an expectation if the owner is to do or report something."""
        quotes, sound = find_quotes(loop.evidence, self.messages)
        by_persona = loop.owed_by == "persona"
        return Draft(
            kind=ConceptNode.Kind.INTENTION if by_persona else ConceptNode.Kind.EXPECTATION,
            description=loop.description,
            source=ConceptNode.Source.EXTRACTION,
            subject=ConceptNode.Subject.PERSONA if by_persona else ConceptNode.Subject.USER,
            relational_tags=[COMMITMENT],
            event_time=(loop.due, loop.due) if loop.due else None,
            session=self.session,
            status=status_of(quotes, sound, Message.Role.PERSONA if by_persona else Message.Role.USER),
            evidence=quotes,
            created_at=self._created_at(quotes),
            import_uuid=self.import_uuid,
        )

    def of_thought(self, thought: ImportedThought, events: Sequence[Draft]) -> Draft:
        """Draft a thought; its filling is known once the events are written."""
        told_at = (events[place].created_at for place in thought.filling if place < len(events))
        return Draft(
            kind=ConceptNode.Kind.THOUGHT,
            description=thought.description,
            source=ConceptNode.Source.IMPORT,
            subject=thought.subject,
            emotional_impact=thought.emotional_impact,
            session=self.session,
            created_at=max(filter(None, told_at), default=self.session.last_message_at),
            import_uuid=self.import_uuid,
        )

    def _effects(
        self, item: ExtractedEvent | ExtractedFact, quotes: Sequence[Quote], told_at: datetime
    ) -> tuple[list[ConceptNode], list[ConceptNode]]:
        """The memories that an item replaces, and the plans that it reports as carried out. Extraction has dropped ids
        that were not in the prompt. An imported session, or one that is read again, replaces nothing newer than
        itself."""
        cited_keys = [pk for cited_id in item.supersedes if (pk := node_id(cited_id))]
        if not cited_keys:
            return [], []
        nodes = ConceptNode.objects.of(self.session.persona).filter(pk__in=cited_keys)
        if is_imported(self.session) or self.session.extractions.filter(again=True).exists():
            nodes = nodes.filter(created_at__lte=told_at)
        zone, words = self.session.persona.zone, tuple(quote.text for quote in quotes)
        state, tags = getattr(item, "state", None) or "", getattr(item, "relational_tags", ())
        news = replacing.News(words, told_at.astimezone(zone).date(), state, CORRECTION in tags)
        effects: dict[replacing.Effect, list[ConceptNode]] = {"replaced": [], "came about": [], "stays": []}
        for node in nodes:
            replaced_memory = replacing.ReplacedMemory(
                is_event=node.kind == ConceptNode.Kind.EVENT,
                is_planned=node.plan_state == ConceptNode.PlanState.PLANNED,
                impact=node.emotional_impact,
                days=event_time_of(node),
                told_on=node.created_at.astimezone(zone).date(),
            )
            effects[replacing.effect(replaced_memory, news)].append(node)
        return effects["replaced"], effects["came about"]

    def _created_at(self, quotes: Sequence[Quote]) -> datetime:
        """The time of the newest quote: a session may be read days later, and its memories date from the session."""
        return max((quote.message.created_at for quote in quotes), default=self.session.last_message_at)


def find_quotes(citations: Sequence[Cited], messages: dict[int, Message]) -> tuple[list[Quote], bool]:
    """The quotes that were found in the messages they name, and whether all were found. Quotes of unknown messages are
    dropped."""
    quotes: list[Quote] = []
    sound = True
    for citation in citations:
        message = messages.get(message_id(citation.message_id) or 0)
        if message is None:
            continue
        span = evidence.find(citation.quote, message.content)
        if span is None:
            sound = False
        else:
            quotes.append(Quote(message, span.text, span.start, span.end))
    return quotes, sound


def status_of(quotes: Sequence[Quote], sound: bool, speaker: str | None) -> str:
    """Active; quarantined if there is no quote, if a quote was not found, or if none is by `speaker` although only they
    can make the claim."""
    spoken = [quote for quote in quotes if speaker is None or quote.message.role == speaker]
    return ConceptNode.Status.ACTIVE if sound and spoken else ConceptNode.Status.QUARANTINED

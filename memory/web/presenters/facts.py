"""Facts as their owner reads them: by domain, with their times in words; past ones apart."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from django.utils.translation import get_language

from memory.models import ConceptNode, Fact
from memory.recall.render import fact_times
from persona.models import Persona

Status, Subject = ConceptNode.Status, ConceptNode.Subject
MAX_FACTS = 1_000  # the newest of them are shown


@dataclass(frozen=True)
class FactRow:
    """A fact, its times in words, and whether another replaced it."""

    node: ConceptNode
    times: str
    is_past: bool


@dataclass(frozen=True)
class FactGroup:
    """The facts of one domain, current ones first."""

    label: str
    rows: Sequence[FactRow]


def present_facts(persona: Persona, now: datetime) -> dict[str, list[FactGroup]]:
    """Facts by domain: the owner's and those of their people (`yours`), and the persona's statements about itself
    (`own`)."""
    statuses = [Status.ACTIVE, Status.HIDDEN, Status.SUPERSEDED]
    rows = Fact.objects.filter(persona=persona, status__in=statuses).select_related("superseded_by")
    facts = list(rows.order_by("-created_at", "-id")[:MAX_FACTS])
    today = now.astimezone(persona.zone).date()
    own = [fact for fact in facts if fact.subject == Subject.PERSONA]
    yours = [fact for fact in facts if fact.subject != Subject.PERSONA]
    return {"yours": list(_groups(yours, today)), "own": list(_groups(own, today))}


def format_times(fact: ConceptNode, today: date) -> str:
    """Since and until when a fact holds, and the state of a plan, in the reader's language."""
    language = "zh" if (get_language() or "").startswith("zh") else "en"
    return fact_times("", fact.since, fact.until, fact.plan_state, today, language).strip(" ()（）")


def _groups(facts: Sequence[ConceptNode], today: date) -> Iterable[FactGroup]:
    for domain in ConceptNode.Domain:
        of_domain = [fact for fact in facts if fact.domain == domain]
        rows = [FactRow(fact, format_times(fact, today), fact.status == Status.SUPERSEDED) for fact in of_domain]
        if rows:
            yield FactGroup(str(domain.label), sorted(rows, key=lambda row: row.is_past))

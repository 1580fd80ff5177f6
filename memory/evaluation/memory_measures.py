"""How a story was remembered: the measures of consolidation, each as (hits, total)."""

import calendar
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from zoneinfo import ZoneInfo

from django.db.models import Sum

from echovessel.language.coarse_dates import span_of
from echovessel.language.dates import NUMBER, NUMBER_ZH, number_en, number_zh
from echovessel.language.day_spans import days_meant
from echovessel.language.kinship import relatives_in
from echovessel.language.named_days import named_days
from echovessel.llm.models import LLMCall
from memory.consolidation.language import in_another_script
from memory.evaluation.stories import Fact, Plan, Story, has_terms
from memory.evaluation.story_run import StoryRun
from memory.models import ConceptNode, Entity
from memory.recall import prepare, recall

BUDGETS = (1500, 750)
ASKED_AFTER = timedelta(days=120)
_NUMBER = re.compile(r"\d+")
_CALENDAR = {*calendar.day_name, *calendar.month_name}
_NUMBER_ZH = re.compile("[一二两三四五六七八九十]{1,3}")
_SHORT_YEAR = re.compile(r"(?:['’]|\b(?:in|since|from) )(\d\d)\b")
_YEARS_LONG = re.compile(rf"\b({NUMBER}) ?(?:yrs?|years?)\b|({NUMBER_ZH}) ?年", re.I)
# A memory may contain a decoy as a denial or a supposition: "does not hate his job", 「要是年轻二十岁，就去考」.
_NOT = re.compile(r"\b(?:not|never|no longer|didn't|doesn't|isn't|wasn't|without)\b|没|不|并非", re.I)
_SUPPOSED = re.compile(r"\b(?:if|would)\b|要是|如果|假如", re.I)
_CLAUSE_END = re.compile(r"[,.;:!?，。；：！？]")
NEAR_LETTERS = 20
MAX_DAY = len("2024-05-03")
_NAME = re.compile(r"(?<=[a-z,;:] )[A-Z][a-z]{2,}")
# Hits and total.
Share = tuple[float, int]
Kind = ConceptNode.Kind


@dataclass(frozen=True)
class Memory:
    """A memory that is presented as true now, with the messages it rests on. `earlier` are the messages of memories
    that it replaced: what it still contains of them counts as kept."""

    node: ConceptNode
    lines: frozenset[str]
    earlier: frozenset[str] = frozenset()

    @property
    def day(self) -> tuple[date | None, date | None]:
        """The first and last day of the memory; for a plan stored as a fact, the time it is planned for. An end known
        only to the month is no day."""
        begins, ends = self.node.since, self.node.until
        is_open = len(begins) == MAX_DAY > len(ends) > 0
        planned = None if self.node.event_time_start and not is_open else span_of(begins)
        return (planned.start, planned.end) if planned else (self.node.event_time_start, self.node.event_time_end)

    def tells(self, terms: Sequence[Sequence[str]], story_lines: Iterable[str]) -> bool:
        return not self.lines.isdisjoint(story_lines) and has_terms(self.node.description, terms)

    def keeps(self, terms: Sequence[Sequence[str]], story_lines: Iterable[str]) -> bool:
        """Whether it contains the terms and rests on one of the messages, directly or through a memory that it
        replaced."""
        return not (self.lines | self.earlier).isdisjoint(story_lines) and has_terms(self.node.description, terms)

    def is_invented(self, story: Story) -> bool:
        """Whether it states a decoy, or contains a name or number that nobody mentioned."""
        description = self.node.description
        decoys = [decoy for decoy in story.decoys if self.tells(decoy.terms, decoy.lines)]
        for decoy in decoys:
            places = [description.casefold().find(spelling.casefold()) for term in decoy.terms for spelling in term]
            ahead = [description[:place] for place in places if place >= 0]
            if not any(_NOT.search(text[-NEAR_LETTERS:]) or _SUPPOSED.search(text) for text in ahead):
                return True
        whole_text = " ".join(
            [story.owner, story.persona, *(text for _name, _speaker, text in story.lines())]
        ).casefold()
        numbers = {int(number) for number in _NUMBER.findall(description)}
        # In digits or Chinese characters; of a year also its last two digits.
        said_numbers = {int(number) for number in _NUMBER.findall(whole_text)} | set(
            map(number_zh, _NUMBER_ZH.findall(whole_text))
        )
        said_numbers |= {1900 + int(year) for year in _SHORT_YEAR.findall(whole_text)}
        unsaid = numbers - said_numbers - self.parts_of_days(story)
        return bool(unsaid) or any(
            name.casefold() not in whole_text and name not in _CALENDAR for name in _NAME.findall(description)
        )

    def parts_of_days(self, story: Story) -> set[int]:
        """The years, months and days that the sessions of the cited messages name, in words or digits, and those of the
        sessions themselves. "4 years sober" names the year in which they began."""
        days: set[date] = {self.node.created_at.date()}
        first_years: set[int] = set()
        zone = ZoneInfo(story.timezone)
        said_on = {session.id: session.at.astimezone(zone).date() for session in story.sessions}
        cited_sessions = {name.split(".")[0] for name in self.lines | self.earlier}
        days |= {said_on[session] for session in cited_sessions if session in said_on}
        for name, _speaker, text in story.lines():
            session = name.split(".")[0]
            if session in cited_sessions:
                today = said_on[session]
                spans = [today, *(day for mention in named_days(text, today) for day in mention)]
                coarse = [meant for clause in _CLAUSE_END.split(text) if (meant := days_meant(clause, today))]
                days |= {*spans, *(day for meant in coarse for day in (meant.start, meant.end))}
                for years in _YEARS_LONG.finditer(text):
                    first_years.add(today.year - (number_en(years[1]) if years[1] else number_zh(years[2])))
        # A month or a season without a year is that of this year, the last or the next.
        coded = [self.node.event_time_start, self.node.event_time_end]
        coded += [
            part
            for code in (self.node.since, self.node.until)
            if (span := span_of(code))
            for part in vars(span).values()
        ]
        near = {day for day in coded if day and min(abs(day.year - other.year) for other in days) <= 1}
        return first_years | {part for day in days | near for part in (day.year, day.month, day.day)}


def judge(story: Story, run: StoryRun) -> dict[str, Share]:
    """The measures of what is stored."""
    names = {message.pk: name for name, message in run.messages.items()}
    every = list(run.persona.nodes.prefetch_related("evidence").order_by("id"))
    lines_by_node = {
        node.pk: frozenset(names.get(evidence.message_id, "") for evidence in node.evidence.all()) for node in every
    }
    earlier: dict[int, frozenset[str]] = {}
    for node in every:  # a memory is older than the one that replaces it
        if node.superseded_by_id:
            replaced_lines = lines_by_node[node.pk] | earlier.get(node.pk, frozenset())
            earlier[node.superseded_by_id] = earlier.get(node.superseded_by_id, frozenset()) | replaced_lines
    active = set(run.persona.nodes.active().values_list("pk", flat=True))
    memories = [
        Memory(node, lines_by_node[node.pk], earlier.get(node.pk, frozenset())) for node in every if node.pk in active
    ]
    events = [memory for memory in memories if memory.node.kind == Kind.EVENT]
    true_now = [memory for memory in memories if memory.node.kind not in (Kind.LESSON, Kind.EXPECTATION)]
    replaced = {pair.old for pair in story.replaced}
    shown_ids = set(run.persona.messages.filter(withheld=False).values_list("pk", flat=True))
    names_gone = {name for name, message in run.messages.items() if message.pk not in shown_ids}
    by_id: dict[str, Fact | Plan] = {fact.id: fact for fact in story.facts} | {plan.id: plan for plan in story.plans}
    current = [fact for fact in story.facts if fact.id not in replaced and fact.until is None]
    plans = [plan for plan in story.plans if plan.day and plan.ends_as in ("planned", "done")]
    peaks = [
        [memory.node.emotional_impact for memory in events if memory.tells(peak.terms, peak.lines)]
        for peak in story.peaks
    ]
    true_lines = {
        story_line for part in (story.facts, story.peaks, story.plans) for item in part for story_line in item.lines
    }
    true_lines |= {*story.noted, *(wish.line for wish in story.wishes)}
    # A dislike is also kept by a lesson that the owner taught about it.
    wish_lines = {wish.line for wish in story.wishes}
    lessons = [memory for memory in memories if memory.node.kind == Kind.LESSON and memory.lines & wish_lines]
    facts = [memory for memory in memories if memory.node.kind == Kind.FACT]
    return {
        "facts kept": _share(
            any(memory.keeps(fact.terms, fact.lines) for memory in (*true_now, *lessons)) for fact in current
        ),
        "facts that are true": _share(not memory.lines.isdisjoint(true_lines) for memory in facts),
        "peaks kept": _share(map(bool, peaks)),
        "peaks with the right sign": _share(
            any(weight * peak.sign >= peak.weight for weight in weights)
            for peak, weights in zip(story.peaks, peaks, strict=True)
            if weights
        ),
        "nothing invented": _share(not memory.is_invented(story) for memory in true_now),
        "replaced": _share(
            _is_replaced(true_now, by_id[pair.old], by_id[pair.new], is_last=pair.new not in replaced)
            for pair in story.replaced
            if not names_gone.issuperset(by_id[pair.new].lines)  # what was to be forgotten replaces nothing
        ),
        "exact days of plans": _share(
            any(memory.day == plan.day for memory in true_now if memory.tells(plan.terms, plan.lines)) for plan in plans
        ),
        "wishes learned": _share(
            any(memory.node.kind == Kind.LESSON and wish.line in memory.lines for memory in memories)
            for wish in story.wishes
        ),
        "wishes to forget obeyed": _share(run.is_forgotten(wish.terms, wish.line) for wish in story.forgotten),
        "wishes to forget obeyed or asked about": _share(
            wish.line in run.offers or run.is_forgotten(wish.terms, wish.line) for wish in story.forgotten
        ),
        "messages without a needless offer to forget": _share(
            name not in run.offers
            for name, speaker, _text in story.lines()
            if speaker == "owner" and name not in {wish.line for wish in story.forgotten}
        ),
        "people kept": _share(_people(story, run)),
        "events with a tag": _share(bool(memory.node.relational_tags) for memory in events),
        "in the right language": _share(
            not in_another_script(memory.node.description, story.text_of(memory.lines)) for memory in true_now
        ),
    }


def ask(story: Story, run: StoryRun, title: str) -> dict[str, Share]:
    """The measures of recall for the questions: the share of evidence in each budget, and of exact days."""
    assert run.ended_at is not None
    now = run.ended_at + ASKED_AFTER
    prepare(run.persona.pk)
    uuids = {name: message.uuid for name, message in run.messages.items()}
    shares = dict.fromkeys(BUDGETS, 0.0)
    days: list[bool] = []
    for question in story.questions:
        wanted_uuids = {uuids[story_line] for story_line in question.lines}
        for budget in BUDGETS:
            items = recall(run.persona, [question.ask], now=now, budget_tokens=budget).items
            shown_uuids = {uuid for item in items for uuid in item.message_uuids}
            shares[budget] += len(wanted_uuids & shown_uuids) / len(wanted_uuids)
            if question.day and budget == BUDGETS[0]:
                fitting = [item for item in items if wanted_uuids & set(item.message_uuids)]
                days.append(any(_names_day(item.text, question.day) for item in fitting))
    count = len(story.questions)
    return {f"evidence in {budget} tokens, {title}": (shares[budget], count) for budget in BUDGETS} | {
        f"exact days, {title}": _share(days)
    }


def cost(run: StoryRun) -> dict[str, float]:
    """Tokens and US dollars of all calls, per session."""
    calls = LLMCall.objects.filter(persona_uuid=run.persona.uuid)
    totals = calls.aggregate(tokens_in=Sum("tokens_in"), tokens_out=Sum("tokens_out"), dollars=Sum("cost"))
    return {name: float(value or 0) for name, value in totals.items()}


def _is_replaced(memories: Sequence[Memory], old: Fact | Plan, new: Fact | Plan, *, is_last: bool) -> bool:
    """Whether the new one is kept, unless a third has replaced it, and no memory presents the old one as true without
    also stating the new one."""
    is_kept = not is_last or any(memory.keeps(new.terms, new.lines) for memory in memories)
    stale = [
        memory
        for memory in memories
        if memory.tells(old.terms, old.lines) and not has_terms(memory.node.description, new.terms)
    ]
    # An event stays true; a fact is over if it says so.
    return is_kept and all(
        memory.node.kind == Kind.EVENT or memory.node.until or memory.node.plan_state in ("done", "cancelled")
        for memory in stale
    )


def _people(story: Story, run: StoryRun) -> Iterable[bool]:
    """For each person of the story whether they are one entity, with all their names and their relation to the
    owner."""
    entities = run.persona.entities.exclude(status=Entity.Status.MERGED).prefetch_related("aliases")
    by_name: dict[str, set[int]] = {}
    for entity in entities:
        for name in {entity.canonical_name, *(alias.text for alias in entity.aliases.all())}:
            by_name.setdefault(name.casefold(), set()).add(entity.pk)
    relations = {entity.pk: entity.relation.casefold() for entity in entities}
    others = {person.name: by_name.get(person.name.casefold(), set()) for person in story.people}
    for person in story.people:
        entity_ids = others[person.name]
        alone = all(entity_ids.isdisjoint(ids) for name, ids in others.items() if name != person.name)
        has_all_names = all(entity_ids & by_name.get(alias.casefold(), set()) for alias in person.aliases)
        # By any word for the relation: "mother" and "mum", 「弟弟」 and 「弟」.
        kin = _kin_of(person.relation)
        related = not person.relation or any(
            person.relation.casefold() in relations[pk] or kin & _kin_of(relations[pk]) for pk in entity_ids
        )
        yield bool(entity_ids) and alone and has_all_names and related


def _kin_of(relation: str) -> frozenset[str]:
    return relatives_in(f"my {relation}" if relation.isascii() else f"我{relation}")


def _names_day(text: str, day: date) -> bool:
    """Whether a recalled item names the day, in words or digits."""
    month = f"{day:%B}"
    forms = (f"{day.day} {month} {day.year}", f"{month} {day.day}, {day.year}", f"{day:%Y-%m-%d}")
    return any(form in text for form in (*forms, f"{day.year}年{day.month}月{day.day}日"))


def _share(values: Iterable[bool]) -> Share:
    truths = list(values)
    return sum(truths), len(truths)

"""The schemas of the models' answers. Items are read leniently.

Form is forgiven ("+4", "4", 4.0, an impact of 12, an unknown tag, an invalid date). A bad item is dropped and counted;
the rest of the answer is kept. An answer is refused only if it contains events (or thoughts) and none of them can be
read: to treat it as empty would lose what was said.

The docstrings of the answer classes reach the model as descriptions in the JSON schema.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
    model_validator,
)
from pydantic.json_schema import SkipJsonSchema

from echovessel.language.coarse_dates import parse_coarse_date, span_of
from memory.models.node import MAX_EMOTION_TAGS, MAX_RELATIONAL_TAGS, RelationalTag
from memory.store.writing import clamped_impact, emotion_tags, in_one_line, relational_tags

LONGEST_SUMMARY = 200
LONGEST_MOOD = 40
LONGEST_NAME = 120
LONGEST_SIGNAL = 200
MAX_FACT = 400
MAX_QUOTES = 4
MAX_EVENTS = 3
MAX_FACTS = 12
MAX_PERSONA_FACTS = 4
UNSURE = 0.5
_NUMBER = re.compile(r"[+-]?\d{1,9}(?:\.\d+)?")
MAX_ENERGY = 10
_DOMAINS = {
    "person": "people", "relations": "people", "family": "people", "friends": "people", "like": "likes",
    "taste": "likes", "tastes": "likes", "preferences": "likes", "dislikes": "likes", "study": "work", "job": "work",
    "school": "work", "plan": "plans", "habits": "plans", "habit": "plans", "possessions": "belongings",
    "pets": "belongings", "belief": "beliefs", "values": "beliefs", "place": "home", "places": "home",
    "identity": "about", "you": "about", "other": "about",
}  # fmt: skip
_PLAN_STATES = {
    **{state: state for state in ("planned", "done", "cancelled")},
    **{"canceled": "cancelled", "plan": "planned", "fulfilled": "done", "completed": "done"},
}
Item = TypeVar("Item", bound=BaseModel)


# --- single values ------------------------------------------------------------------------------------------------
def _whole(value: Any) -> int:
    """A whole number as models write one: 4, 4.0, "4", "+4", "−4"."""
    number_text = str(value).strip().replace("\u2212", "-")
    if isinstance(value, bool) or not _NUMBER.fullmatch(number_text):
        raise ValueError("should be a whole number")
    return round(float(number_text))


def _confidence(value: Any) -> float:
    try:
        return max(0.0, min(1.0, float(value)))
    except (TypeError, ValueError):
        return UNSURE


def _filled(value: Any) -> str:
    text = _text(value)
    if not text:
        raise ValueError("should not be empty")
    return text


def _text(value: Any) -> str:
    return in_one_line(value) if isinstance(value, str) else ""


def _encodable(value: Any) -> Any:
    """The value without lone surrogates, which JSON can express ("\\ud83d") and no database can store."""
    if isinstance(value, str):
        return value.encode("utf-8", "ignore").decode()
    if isinstance(value, dict):
        return {key: _encodable(item) for key, item in value.items()}
    return [_encodable(item) for item in value] if isinstance(value, list) else value


def _strings(value: Any) -> list[str]:
    return list(filter(None, map(_text, value if isinstance(value, list) else [value])))


def _positions(value: Any) -> list[int]:
    items = value if isinstance(value, list) else [value]
    return [int(item) for item in items if isinstance(item, int | str) and str(item).isdecimal()]


def _choice(value: Any) -> Any:
    return value.strip().lower() if isinstance(value, str) else value


def _domain(value: Any) -> Any:
    """The domain, which models spell in many ways: "work and study", "Plans & habits"."""
    words = re.findall("[a-z]+", str(value).lower())
    return next((domain for domain in get_args(Domain) if domain in words[:1]), _DOMAINS.get(words[0] if words else ""))


def _day_or_none(value: Any) -> Any:
    """The last day of a coarse date; None for an invalid one."""
    span = span_of(parse_coarse_date(value)) if isinstance(value, str) else None
    return span.end if span else value if isinstance(value, date) else None


def _or_none(value: Any, read: ValidatorFunctionWrapHandler) -> Any:
    try:
        return read(value)
    except ValidationError:
        return None


def _one_or_many(schema: type[BaseModel]) -> BeforeValidator:
    """Read one item or none; of a list, all items that can be read. Models that are asked for one sometimes give
    several."""

    def read(value: Any) -> BaseModel | list[BaseModel] | None:
        items = [item for _, item in _readable(value if isinstance(value, list) else [value], schema)]
        return items if isinstance(value, list) else next(iter(items), None)

    return BeforeValidator(read)


def _schema_limits(**limits: int) -> Any:
    """Limits stated in the schema in the form strict servers accept. A value over its limit is cut when it is read; the
    answer is not refused."""
    return Field(json_schema_extra={**limits})


# None for a value that cannot be read: an invalid date or mood does not cost the event.
OrNone = WrapValidator(_or_none)
Filled = Annotated[str, BeforeValidator(_filled)]
Text = Annotated[str, BeforeValidator(_text)]
Words = Annotated[list[str], BeforeValidator(_strings)]
Impact = Annotated[
    int,
    BeforeValidator(lambda value: clamped_impact(_whole(value))),
    Field(description="-10 to 10, plain digits, no plus sign"),
]
Energy = Annotated[
    int,
    BeforeValidator(lambda value: max(0, min(MAX_ENERGY, _whole(value)))),
    Field(description="0 to 10"),
]
Day = Annotated[
    date,
    BeforeValidator(lambda value: value.strip()[:10] if isinstance(value, str) else value),
    WithJsonSchema({"type": "string", "description": "YYYY-MM-DD"}),
]
Subject = Annotated[Literal["user", "persona", "shared"], BeforeValidator(_choice)]
EmotionTags = Annotated[
    list[str],
    BeforeValidator(lambda value: emotion_tags(_strings(value))),
    _schema_limits(maxItems=MAX_EMOTION_TAGS),
]
RelationalTags = Annotated[
    list[RelationalTag],
    BeforeValidator(lambda value: relational_tags(_strings(value))),
    _schema_limits(maxItems=MAX_RELATIONAL_TAGS),
]
Domain = Literal["about", "people", "health", "likes", "work", "home", "plans", "belongings", "beliefs"]


# --- items --------------------------------------------------------------------------------------------------------
class Cited(BaseModel):
    """Words of one message. `message_id` is one of the given ids, such as "m12"."""

    message_id: str
    quote: str


class EventTime(BaseModel):
    """When it happened, to the day; a single day is its own end."""

    start: Day
    end: Day

    @model_validator(mode="before")
    @classmethod
    def _whole_range(cls, data: Any) -> Any:
        """Expand a coarse date ("2024-05", "spring 2024") to its first and last day."""
        fields = data if isinstance(data, dict) else {"start": data}
        start, end = fields.get("start") or fields.get("end"), fields.get("end") or fields.get("start")
        first, last = (span_of(parse_coarse_date(day)) if isinstance(day, str) else None for day in (start, end))
        return {"start": first.start if first else start, "end": last.end if last else end}

    @model_validator(mode="after")
    def _in_order(self) -> "EventTime":
        self.start, self.end = sorted((self.start, self.end))
        return self


Evidence = Annotated[
    list[Cited],
    BeforeValidator(lambda value: [quote for _, quote in _readable(value, Cited)]),
    _schema_limits(minItems=1, maxItems=MAX_QUOTES),
]
CoarseDate = Annotated[
    str,
    BeforeValidator(lambda value: parse_coarse_date(value) if isinstance(value, str) else ""),
    WithJsonSchema(
        {
            "anyOf": [{"type": "string"}, {"type": "null"}],
            "description": "as exact as it was told: 2024-05-03, 2024-05, 2024-spring or 2024; of a plan its first and "
            "last day",
        }
    ),
]


class ExtractedEvent(BaseModel):
    """One thing worth keeping."""

    description: Filled
    emotional_impact: Impact
    emotion_tags: EmotionTags = []
    relational_tags: RelationalTags = []
    subject: Subject
    event_time: Annotated[EventTime | None, OrNone] = None
    evidence: Evidence = []
    supersedes: Words = []
    confidence: Annotated[float, BeforeValidator(_confidence)] = UNSURE


class Described(BaseModel):
    """An item whose `description` some models call `text`."""

    description: Filled

    @model_validator(mode="before")
    @classmethod
    def _text_as_description(cls, data: Any) -> Any:
        return {"description": data["text"]} | data if isinstance(data, dict) and "text" in data else data


class ExtractedFact(Described):
    """One lasting thing in one sentence. `whose` is "owner", "persona" or the name of somebody else."""

    whose: Annotated[str, BeforeValidator(lambda value: _filled(value)[:LONGEST_NAME])]
    domain: Annotated[Domain, BeforeValidator(_domain)]
    state: Annotated[
        Literal["planned", "done", "cancelled"] | None,
        BeforeValidator(lambda value: _PLAN_STATES.get(_choice(value))),
        Field(description="of plans only"),
    ] = None
    since: CoarseDate = ""
    until: CoarseDate = ""
    evidence: Evidence = []
    supersedes: Words = []
    confidence: Annotated[float, BeforeValidator(_confidence)] = UNSURE

    @model_validator(mode="after")
    def _plan_of_any_domain(self) -> Self:
        """A planned fact is a plan, even one about health or work; a planned liking is not."""
        if self.state == "planned" and self.domain in ("people", "health", "work", "home", "belongings"):
            self.domain = "plans"
        return self


class OpenLoop(Described):
    """What one of the two owes the other: a promise, or what they asked to hear."""

    owed_by: Annotated[
        Literal["owner", "persona"],
        BeforeValidator(lambda value: "owner" if _choice(value) == "user" else _choice(value)),
    ] = "persona"
    due: Annotated[Day | None, BeforeValidator(_day_or_none)] = None
    evidence: Evidence = []


class MentionedEntity(BaseModel):
    """Somebody or something with a name. `relation` is what they are to the owner ("sister"); `in_events` and
    `in_facts` are positions in `events` and `facts`, from 0."""

    canonical_name: Annotated[str, BeforeValidator(lambda value: _filled(value)[:LONGEST_NAME])]
    aliases: Annotated[Words, AfterValidator(lambda names: [name for name in names if len(name) <= LONGEST_NAME])] = []
    kind: Annotated[
        Literal["person", "place", "org", "pet", "other"],
        BeforeValidator(lambda kind: _choice(kind) if _choice(kind) in ("person", "place", "org", "pet") else "other"),
    ] = "other"
    relation: Annotated[str, BeforeValidator(lambda value: _text(value)[:LONGEST_NAME])] = ""
    in_events: Annotated[list[int], BeforeValidator(_positions)] = []
    in_facts: Annotated[list[int], BeforeValidator(_positions)] = []


class EntityClarification(BaseModel):
    """What the user said about whether two names mean the same."""

    first: Filled
    second: Filled
    same: bool


# The prompt asks for one; several are accepted.
Clarification = Annotated[
    EntityClarification | SkipJsonSchema[list[EntityClarification]] | None, _one_or_many(EntityClarification)
]


class ExtractedRequest(Cited):
    """Something that the user asked of the persona: `what` and `condition` are words of the quote. Without a `what` the
    message before is meant."""

    kind: Annotated[Literal["forget", "remember", "correction", "wish", "name"], BeforeValidator(_choice)]
    what: Text = ""
    condition: Text = ""


class MoodSignal(BaseModel):
    """How the talk leaves the persona, and what the user last gave off."""

    mood: Annotated[str, BeforeValidator(lambda value: _filled(value)[:LONGEST_MOOD])]
    energy: Energy
    last_user_signal: Annotated[str | None, BeforeValidator(lambda value: _text(value)[:LONGEST_SIGNAL] or None)] = None


class ImportedThought(BaseModel):
    """What a writer concluded or felt about it. `filling` are positions in `events`, from 0."""

    description: Filled
    emotional_impact: Impact
    subject: Subject
    filling: Annotated[list[int], BeforeValidator(_positions)]


class ReflectedThought(BaseModel):
    """One quiet impression. `filling` are ids of given events, such as "e3"."""

    description: Filled
    emotional_impact: Impact
    subject: Subject
    filling: Words


class ChangedFact(BaseModel):
    """A known fact that no longer holds as it is written; `still` is what of it does, `because` the news that ended
    it, where the model says so."""

    id: Filled
    verdict: Annotated[Literal["over", "partly", "unsure"], BeforeValidator(_choice)]
    still: Annotated[str, BeforeValidator(lambda value: _text(value)[:MAX_FACT])] = ""
    because: Annotated[Text, Field(description="id of what has changed")] = ""


# --- whole answers ------------------------------------------------------------------------------------------------
class LenientAnswer(BaseModel):
    """An answer whose lists lose their bad items before validation; `dropped` counts these."""

    lists: ClassVar[dict[str, type[BaseModel]]] = {}
    essential: ClassVar[str] = ""
    formerly: ClassVar[dict[str, str]] = {}  # names of fields in answers stored by earlier versions
    _dropped: int = PrivateAttr(default=0)

    @property
    def dropped(self) -> int:
        return self._dropped

    @model_validator(mode="wrap")
    @classmethod
    def _without_bad_items(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        if not isinstance(data, dict):
            return handler(data)
        data = _encodable(data)
        data |= {new: data[old] for old, new in cls.formerly.items() if old in data and new not in data}
        list_fields = {name: data[name] for name in cls.lists if isinstance(data.get(name), list)}
        readable_lists = {name: list(_readable(items, cls.lists[name])) for name, items in list_fields.items()}
        if list_fields.get(cls.essential) and not readable_lists[cls.essential]:
            try:
                cls.lists[cls.essential].model_validate(list_fields[cls.essential][0])
            except ValidationError as error:
                # Describe the errors of the item by field, without its text.
                problems = error.errors(include_url=False, include_context=False, include_input=False)
                first = "; ".join(f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in problems[:5])
                raise ValueError(f"none of the {cls.essential} can be read; the first: {first}") from error
        rest = {name: value for name, value in data.items() if name not in cls.lists or name == cls.essential}
        answer = handler(rest | {name: [item for _, item in items] for name, items in readable_lists.items()})
        answer._dropped = sum(len(list_fields[name]) - len(readable_lists[name]) for name in list_fields)
        answer._moved({name: [position for position, _ in items] for name, items in readable_lists.items()})
        return answer

    def _moved(self, positions: dict[str, list[int]]) -> None:
        """Hook, called with the original positions of the items that were kept, by list."""


class ExtractionAnswer(LenientAnswer):
    """What is worth remembering of a talk."""

    lists: ClassVar = {
        "events": ExtractedEvent,
        "mentioned_entities": MentionedEntity,
        "facts": ExtractedFact,
        "open_loops": OpenLoop,
        "requests": ExtractedRequest,
    }
    essential: ClassVar = "events"
    formerly: ClassVar = {"intentions": "open_loops"}

    events: Annotated[list[ExtractedEvent], _schema_limits(maxItems=MAX_EVENTS)]
    facts: Annotated[list[ExtractedFact], _schema_limits(maxItems=MAX_FACTS + MAX_PERSONA_FACTS)] = []
    open_loops: list[OpenLoop] = []
    mentioned_entities: list[MentionedEntity] = []
    # None if the answer has no such field, as in memory mode; this does not contradict requests found by the rules.
    requests: list[ExtractedRequest] | SkipJsonSchema[None] = None
    entity_clarification: Clarification = None
    session_mood_signal: Annotated[MoodSignal | None, OrNone] = None
    session_summary: Annotated[str, BeforeValidator(lambda value: _text(value)[:LONGEST_SUMMARY])] = ""
    crisis_messages: Annotated[
        Words, Field(description="ids of messages of the user that speak of suicide, self-harm or danger")
    ] = []
    self_check_notes: Text = ""

    def _moved(self, positions: dict[str, list[int]]) -> None:
        """Renumber the positions in `mentioned_entities` after bad events or facts were dropped."""
        now_at = {
            name: {old: new for new, old in enumerate(kept_positions)} for name, kept_positions in positions.items()
        }
        events, facts = now_at.get("events", {}), now_at.get("facts", {})
        for entity in self.mentioned_entities:
            entity.in_events = [events[old] for old in entity.in_events if old in events]
            entity.in_facts = [facts[old] for old in entity.in_facts if old in facts]

    @property
    def clarifications(self) -> list[EntityClarification]:
        """The statements about whether two names mean the same."""
        clarification = self.entity_clarification
        return clarification if isinstance(clarification, list) else [clarification] if clarification else []

    def only(self, is_wanted: Callable[["ExtractedItem"], bool]) -> Self:
        """The answer with only the events, facts and open loops that are wanted."""
        events = [position for position, event in enumerate(self.events) if is_wanted(event)]
        facts = [position for position, fact in enumerate(self.facts) if is_wanted(fact)]
        answer = self.model_copy(
            update={
                "events": [self.events[position] for position in events],
                "facts": [self.facts[position] for position in facts],
                "open_loops": [loop for loop in self.open_loops if is_wanted(loop)],
                "mentioned_entities": [entity.model_copy() for entity in self.mentioned_entities],
            }
        )
        answer._moved({"events": events, "facts": facts})
        return answer

    @property
    def told(self) -> "list[ExtractedEvent | ExtractedFact]":
        """The events, then the facts."""
        return [*self.events, *self.facts]

    @property
    def items(self) -> list["ExtractedItem"]:
        """All items that would become memories, in the order in which they are written."""
        return [*self.events, *self.facts, *self.open_loops]


class ImportAnswer(ExtractionAnswer):
    """What is worth remembering of prose that somebody brought: a diary, notes. A thought that rests on no event is
    dropped."""

    lists: ClassVar = {
        "events": ExtractedEvent,
        "facts": ExtractedFact,
        "mentioned_entities": MentionedEntity,
        "thoughts": ImportedThought,
    }

    events: Annotated[list[ExtractedEvent], _schema_limits(maxItems=MAX_FACTS)]
    thoughts: list[ImportedThought] = []
    open_loops: SkipJsonSchema[Annotated[list[OpenLoop], BeforeValidator(lambda _value: [])]] = []
    requests: SkipJsonSchema[Annotated[None, BeforeValidator(lambda _value: None)]] = None
    entity_clarification: SkipJsonSchema[Annotated[None, BeforeValidator(lambda _value: None)]] = None
    session_mood_signal: SkipJsonSchema[Annotated[None, BeforeValidator(lambda _value: None)]] = None
    crisis_messages: SkipJsonSchema[Annotated[list[str], BeforeValidator(lambda _value: [])]] = []

    def _moved(self, positions: dict[str, list[int]]) -> None:
        """Renumber the fillings of thoughts; a thought that loses all its events is dropped."""
        super()._moved(positions)
        now_at = {old: new for new, old in enumerate(positions.get("events", []))}
        fillings = [[now_at[old] for old in thought.filling if old in now_at] for thought in self.thoughts]
        moved = zip(self.thoughts, fillings, strict=True)
        self.thoughts = [thought.model_copy(update={"filling": filling}) for thought, filling in moved if filling]
        self._dropped += len(fillings) - len(self.thoughts)


class ReflectionAnswer(LenientAnswer):
    """Quiet impressions of what happened lately."""

    lists: ClassVar = {"thoughts": ReflectedThought}
    essential: ClassVar = "thoughts"

    thoughts: list[ReflectedThought]


class ReconciliationAnswer(LenientAnswer):
    """The known facts that news leaves untrue; None where the model did not say."""

    lists: ClassVar = {"changes": ChangedFact}

    changes: list[ChangedFact] | SkipJsonSchema[None] = None


ExtractedItem = ExtractedEvent | ExtractedFact | OpenLoop


def stored(answer: Mapping[str, Any]) -> ExtractionAnswer:
    """Parse a stored answer; one about prose becomes an `ImportAnswer`."""
    return (ImportAnswer if "thoughts" in answer else ExtractionAnswer).model_validate(answer)


def _readable(items: Any, schema: type[Item]) -> Iterator[tuple[int, Item]]:
    """The items that can be read, each with its position in `items`."""
    for position, item in enumerate(items if isinstance(items, list) else []):
        try:
            yield position, schema.model_validate(item)
        except ValidationError:
            continue

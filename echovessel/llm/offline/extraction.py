"""Extraction without a model: what the owner said that is worth keeping, in their own words and in the form of the
extraction answer.

A memory of these rules is a quotation, "Ana: “My sister Rosa lives in Lisbon.”", as for a message that the owner asked
to have remembered. Rules conclude and paraphrase nothing: a sentence in the third person would be their own wording,
and false where they err. A sentence is kept if it is about the owner, about somebody by name, about the future or about
something serious; their number is not limited, because nothing is summarized. Requests to the persona are not kept.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from echovessel.language import lazy_re as re
from echovessel.language.corrections import apply_correction
from echovessel.language.dates import Days
from echovessel.language.day_ranges import named_range
from echovessel.language.day_spans import days_meant
from echovessel.language.fact_domains import ASPECTS, is_told_in
from echovessel.language.health import bears_on_health
from echovessel.language.named_days import named_days, only_day
from echovessel.language.person_names import occurs
from echovessel.language.plain_text import punctuate, write_out
from echovessel.language.requests import Request, read_requests
from echovessel.language.sentences import (
    CJK,
    LEAD_IN,
    WORD,
    asks,
    clauses,
    holds,
    is_question,
    is_small_talk,
    sentences,
    topics,
)
from echovessel.language.small_talk import says_nothing
from echovessel.language.tokenizer import content_words
from echovessel.llm.offline.feeling import impact_of
from echovessel.llm.offline.names import (
    BEARERS,
    BEARERS_EN,
    BEARERS_ZH,
    NameMention,
    capitalize_name,
    find_clarifications,
    names_in,
    relation_of,
)
from echovessel.llm.offline.people import people_in
from echovessel.llm.offline.phrases import says_no_more_than_stock

SIGNS = re.patterns_in(Path(__file__).with_name("signs_of_statements.toml"))
QUOTATION = {"en": "{name}: {quotes}", "zh": "{name}：{quotes}"}
LISTENING = {"en": "listening", "zh": "在听"}
MAX_QUOTE = 600  # characters; of a longer quotation the beginning is kept
HEAVY, WEIGHTY = 7, 6
CRY, MILD = -7, 3
MAX_ADDRESSEES = 2
WORTH_KEEPING = 2
MIN_WORDS = 3
MIN_TOLD = 2  # content words; "like a baby" has too few
MAX_DRAFTS, MAX_DRAFT = 12, 300
LONG_STAY = timedelta(days=31)
MAX_SPAN = 100  # days
BEFORE_OR_TO_COME = 2
CLAUSE_BEFORE = re.compile(r".*[,，.。;；!！]", re.DOTALL)
# This many statements before a correction are searched for the one that it corrects.
LATELY = 4
TO_FORGET = ("forget", "forget_this")
NEVER_KEPT = (*TO_FORGET, "wish", "name")

FIRST_PERSON = re.compile(r"\b(?:I|I'm|I've|I'd|I'll|me|my|My|we|We|our|Our|us)\b|我|咱")
STANDS_ALONE = re.compile(
    rf"^{LEAD_IN}(?:(?:i|we|you|my|our|your|there|here|this|that|these|those|what|who|how|why|if|when|please|let|"
    r"forget|delete|erase|remove|don't|do not|never|keep|off the record|between us)\b|"
    rf"(?:{BEARERS_EN})(?:'s|s)?\b|(?:got|been|had|went|met|bought|sold|lost|found|passed|failed|moved|started|quit|"
    r"finished|booked|joined|broke|won) (?:\w+\W+){2}|[\w-]+[^,]*? (?:is|are|was|were|has|have|had|does|did|will|"
    r"would|can|could|should|must|isn't|wasn't|doesn't|didn't|won't|can't)\b)|(?<!time )\b(?:i|we)(?:'\w+)?\b|"
    rf"^\W*[^\W叫是]{{1,9}}(?:是|叫)\w|^\W*(?:我|咱|你|您|别|忘|删|大家|今[天早晚]|昨[天晚]|明[天晚]|这|那|(?:{BEARERS_ZH})(?!叫))",
    re.I,
)
WHOM = re.compile(rf"^\W*(?:(?:my|our) (?:\w+ )?(?:{BEARERS_EN})|我(?:{BEARERS_ZH}|[妈爸哥姐弟妹]))\W*$", re.I)
MAX_FRAGMENT = {False: 9, True: 14}  # English words, Chinese characters
LONE_WORD = re.compile(r"^\W*[A-Za-z][\w'-]+\W*$|^\W*[\u3400-\u9fff]{2,3}\W*$")
SOON = timedelta(minutes=30)
# "Ruth lives in York."
TELLS_BY_NAME = re.compile(
    r"^(?!(?:It|This|That|There|He|She|They|We|You|What|Who|Here|Everything|Nothing|Nobody|Everyone|Life|Work|School|"
    r"Home|Today|Yesterday|Tomorrow)\b)[A-Z][a-z]{2,} (?:and [A-Z]\w+ )?(?:is|was|are|were|has|had|have|lives?d?|"
    r"works?|worked|got|likes?|loves?|hates?|moved|died|came|went|called|told|said|says|wants?|needs?|drinks?|smokes?|"
    r"earns?|studies|studied|teaches|taught|plays?|owns?|owes|knows|thinks|will|left|met)\b"
)
MID_CAPITAL = re.compile(
    r"(?<=[a-z,;] )(?!(?:I|I'm|I've|I'd|I'll|OK|TV|God|English|Mum|Mom|Dad|Monday|Tuesday|Wednesday|Thursday|Friday|"
    r"Saturday|Sunday)\b)[A-Z][a-z]{2,}"
)
NEAR = ("person", "pet")
RELATIONAL = re.patterns_in(Path(__file__).with_name("signs_of_tags.toml"))
# Tags for the relationship of the owner and the persona.
OF_THE_TWO = ("turning-point", "correction", "commitment")

# Only another name: "Oops, I meant Max.", 「不对，是来福。」
ANOTHER_NAME = re.compile(
    r"^\W*(?:[Oo]ops|[Nn]o|[Ss]orry|[Ww]ait)?\W*(?:I meant?|it's)\s+([A-Z]\w+)\W*$|^不对\W*是(\w{2,3})\W*$"
)


@dataclass(frozen=True)
class Statement:
    """A statement of the owner: consecutive sentences of one message, unchanged, with additions from later messages.

    `quotes` are pairs of (message id, words), `text` the words with punctuation; `before` is the preceding text.
    `now_called` holds corrected names, `redated` the words with the corrected day. `is_new` unless all of it was read
    before; `is_dated` unless the day of the message is unknown. `is_cry` if the message was classified as a cry; `near`
    are the people known by name.
    """

    quotes: tuple[tuple[str, str], ...]
    day: date
    before: str = ""
    now_called: tuple[tuple[str, str], ...] = ()
    redated: str = ""
    is_new: bool = True
    is_dated: bool = True
    is_asked_for: bool = False
    is_correction: bool = False
    is_cry: bool = False
    follows: bool = False
    speaker: str = ""
    near: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return " ".join(punctuate(quote) for _, quote in self.quotes)

    @cached_property
    def is_imagined(self) -> bool:
        """Whether it is only a dream or a thought: 「外婆走了，我还会梦到她」 states something before the dream."""
        match = SIGNS["not_so"].search(self.text)
        before = CLAUSE_BEFORE.match(self.text[: match.start()]) if match else None
        return match is not None and (before is None or len(content_words(before[0])) <= MIN_TOLD)

    @cached_property
    def impact(self) -> int:
        """A cry has the impact of a cry, whatever its words; a mere guess has none."""
        weight = 0 if self.is_imagined else impact_of(write_out(self.text), self.near)
        tells = len(content_words(self.text)) > MIN_TOLD
        return min(weight, CRY) if self.is_cry and tells and weight <= MILD else weight

    @cached_property
    def names(self) -> list[NameMention]:
        """The people and things named in it, by their final names."""
        first = self.quotes[0][1]
        names = names_in(
            self.text, self.before if SIGNS["continues"].search(first) or SIGNS["corrects"].search(first) else ""
        )
        right = dict(self.now_called)
        return list(
            {
                right.get(name.name, name.name): NameMention(right.get(name.name, name.name), name.kind)
                for name in names
            }.values()
        )

    def followed_by(self, other: "Statement", **changes: Any) -> "Statement":
        return replace(self, quotes=(*self.quotes, *other.quotes), is_new=self.is_new or other.is_new, **changes)


def extract(material: Mapping[str, Any]) -> dict[str, Any]:
    """The extraction answer for `material` (its shape is in the package's docstring)."""
    kind_by_name = {entity["name"]: entity["kind"] for entity in material.get("known_entities", ())}
    statements_by_text: dict[str, Statement] = {}
    statements = joined(list(_statements(material)))
    for name in people_in([statement.text for statement in statements]):
        kind_by_name.setdefault(name, "person")
    near = [name for name, kind in kind_by_name.items() if kind in NEAR] + [
        name.name for statement in statements for name in statement.names if name.kind in NEAR
    ]
    for statement in (replace(statement, near=tuple(near)) for statement in statements):
        if statement.is_new and is_worth_keeping(statement, kind_by_name):
            statements_by_text.setdefault(statement.text.casefold(), statement)
    events = [_event(statement, material) for statement in statements_by_text.values()]
    answer = {
        "events": events,
        "mentioned_entities": _entities(list(statements_by_text.values()), kind_by_name, material["user_name"]),
        "entity_clarification": find_clarifications(material),
        # Memory mode listens; its mood does not depend on what it hears.
        "session_mood_signal": {"mood": LISTENING[material["language"]], "energy": 5} if events else None,
        "session_summary": "",
        "self_check_notes": "",
    }
    return answer | ({"thoughts": []} if material.get("prose") else {})


def draft_quotations(material: Mapping[str, Any]) -> dict[str, Any]:
    """Drafts of the owner's profile from an import: each is a quotation of what they said about themselves. The rules
    draft nothing about the persona and how it speaks."""
    quoted: dict[str, dict[str, Any]] = {}
    for message in material.get("lines", ()):
        if message["role"] != "user" or not message["id"]:
            continue
        content = message["content"]
        spans = [span for span in sentences(content) if not is_question(content[slice(*span)])]
        for start, end in spans:
            quote = _quote(content, start, end, read_requests(content))
            is_lasting = SIGNS["says_who"].search(quote) or (FIRST_PERSON.search(quote) and bears_on_health(quote))
            if quote and is_lasting and not SIGNS["ahead"].search(quote) and len(quote) <= MAX_DRAFT:
                words = QUOTATION[material["language"]].format(name=material["user_name"], quotes=f"“{quote}”")
                evidence = [{"message_id": message["id"], "quote": quote}]
                quoted.setdefault(quote.casefold(), {"label": "user", "text": words, "evidence": evidence})
    return {"drafts": list(quoted.values())[:MAX_DRAFTS]}


def is_worth_keeping(statement: Statement, kind_by_name: Mapping[str, str]) -> bool:
    """Whether it is about the owner, somebody by name, health, a day or something serious, or was asked to be
    remembered."""
    if statement.is_asked_for:
        return True
    text = write_out(statement.text)
    words = len(content_words(text))
    if words <= MIN_TOLD and not (FIRST_PERSON.search(text) or statement.names or abs(statement.impact) >= WEIGHTY):
        return False
    if statement.is_cry or bears_on_health(text):
        return True
    if statement.is_imagined or SIGNS["of_a_show"].search(text):
        return False
    if abs(statement.impact) >= WEIGHTY:
        return True
    if statement.is_correction or SIGNS["corrects"].search(text):
        return words > MIN_TOLD
    capitals = set(MID_CAPITAL.findall(text)) - {statement.speaker}
    is_named = bool(statement.names or capitals) or any(occurs(name, text) for name in kind_by_name)
    is_ahead = bool(SIGNS["ahead"].search(text) or (statement.is_dated and days_meant(text, statement.day)))
    is_ahead = is_ahead and (words > MIN_WORDS or (words > MIN_TOLD and FIRST_PERSON.search(text) is not None))
    is_own = FIRST_PERSON.search(text) or (
        CJK.search(text) and words > MIN_WORDS and not SIGNS["of_another_zh"].search(text)
    )
    # "Diesel mechanic for the city" omits "I'm a".
    start = next((text[first:last] for first, last in sentences(text)), "")
    elided = "" if is_own or CJK.search(text) or not goes_on(start) else re.sub(rf"^{LEAD_IN}", "", text, flags=re.I)
    is_subject = is_own or elided or TELLS_BY_NAME.search(text)
    tells_fact = is_told_in(f"I'm a {elided}" if elided else text, ASPECTS) and bool(is_subject)
    tells_fact = tells_fact or any(
        SIGNS["tells_of_self"].search(f"{lead} {elided or text}") for lead in ("I", "I'm") if elided
    )
    told_signs = (
        is_own or (elided and tells_fact),  # "nice weather" leaves out no "I"
        tells_fact or SIGNS["tells_of_self"].search(text),
        TELLS_BY_NAME.search(text),
        SIGNS["lasts"].search(text) or (words > MIN_WORDS and SIGNS["has_changed"].search(text)),
    )
    signs = (*told_signs, statement.impact, is_ahead, is_ahead, is_named, is_named)
    return sum(map(bool, signs)) + min(len(topics(text)), 2) >= WORTH_KEEPING


def joined(statements: Sequence[Statement]) -> list[Statement]:
    """The statements, with each message that only continues another merged into it: one that gives a name ("Her name is
    Mia"), or corrects a name, a day or a fact. Both are kept as they were written."""
    joined_statements: list[Statement] = []
    for statement in statements:
        lately = [
            at
            for at in reversed(range(max(0, len(joined_statements) - LATELY), len(joined_statements)))
            if joined_statements[at].is_new
        ]
        at, changes = _belongs_to(joined_statements, lately, statement)
        if at is None:
            joined_statements.append(statement)
        else:
            joined_statements[at] = joined_statements[at].followed_by(statement, **changes)
    return joined_statements


def _belongs_to(
    statements: Sequence[Statement], lately: Sequence[int], statement: Statement
) -> tuple[int | None, dict[str, Any]]:
    """The position of the statement that this one continues, and its changes to it."""
    quote = statement.quotes[0][1]
    for at in lately:
        if statement.is_correction and any(occurs(name.name, quote) for name in statements[at].names):
            return at, {"is_correction": True}
        if redated := apply_correction(statements[at].text, quote) or apply_correction(
            statements[at].text, quote, loosely=True
        ):
            return at, {"redated": redated, "is_correction": True}
    named_at = next((at for at in lately if statements[at].names), None)
    if (
        named_at is not None
        and SIGNS["corrects"].search(quote)
        and not set(holds(quote, BEARERS)) - set(holds(statements[named_at].text, BEARERS))
    ):
        wrong, right = statements[named_at].names[-1].name, statement.names[0].name if statement.names else ""
        alone = ANOTHER_NAME.search(quote)
        if alone and re.search(rf"{re.escape(wrong)}\W*$", statements[named_at].text):
            right = alone[1] or alone[2]
        if right and right != wrong:
            return named_at, {"now_called": (*statements[named_at].now_called, (wrong, right)), "is_correction": True}
    if lately and statement.names and SIGNS["continues"].search(quote):
        nameless = [at for at in lately if not statements[at].names]
        somebody = [at for at in nameless if holds(statements[at].text, BEARERS)]
        if somebody or nameless[:1] == lately[:1]:
            return (somebody or nameless)[0], {}
    if lately and statement.follows and goes_on(quote, statements[lately[0]].text) and not statement.is_asked_for:
        return lately[0], {}
    if (
        lately
        and statement.follows
        and SIGNS["visits"].search(quote)
        and (statements[lately[0]].names or holds(statements[lately[0]].text, BEARERS))
    ):
        return lately[0], {}
    return None, {}


def _statements(material: Mapping[str, Any]) -> Iterator[Statement]:
    before = previous = ""
    told_at: datetime | None = None
    for message in material["lines"]:
        if message["role"] != "user":
            told_at = told_at if says_no_more_than_stock(message["content"]) else None
            continue
        content, at = message["content"], datetime.fromisoformat(message["at"])
        follows = told_at is not None and at - told_at < SOON
        told_at = told_at if is_small_talk(content) else None
        day = at.astimezone(ZoneInfo(material["timezone"])).date()
        requests = read_requests(content, previous=previous)
        for start, end in statement_spans(content, is_cry=bool(message.get("crisis")), requests=requests):
            own_requests = [request for request in requests if request.start < end and start < request.end]
            quote = _quote(content, start, end, requests)
            # Where it may be meant that something is forgotten, nothing is joined to it, and it to nothing.
            is_to_forget = any(request.kind in TO_FORGET for request in own_requests)
            if quote:
                yield Statement(
                    ((message["id"], quote),),
                    day,
                    before,
                    is_new=not message.get("read"),
                    is_dated=material.get("dated", True),
                    is_asked_for=any(request.kind == "remember" for request in own_requests),
                    is_correction=any(
                        request.kind == "correction" and (request.sure or request.new) for request in own_requests
                    ),
                    is_cry=bool(message.get("crisis")),
                    follows=follows and not is_to_forget,
                    speaker=str(material["user_name"]),
                )
                before = punctuate(quote)
                follows, told_at = (False, None) if is_to_forget else (True, at)
            elif any(request.kind in NEVER_KEPT for request in own_requests):
                follows, told_at = False, None
        previous = content


def _quote(content: str, start: int, end: int, requests: Sequence[Request]) -> str:
    """The part of a sentence that may be kept: without requests and without what is to be forgotten; of a request to
    remember, its subject."""
    quote = content[start:end]
    for request in requests:
        own = (
            range(request.subject_start, request.subject_start + len(request.subject))
            if request.subject_start >= 0
            else range(0)
        )
        is_meant = (request.start < end and start < request.end) or (bool(own) and own[0] < end and start <= own[-1])
        before = content[start : request.start].rstrip(" ,，;；:：-–")
        is_told_before = len(content_words(before)) > MIN_TOLD
        if request.kind in NEVER_KEPT and request.sure and is_meant:
            if request.kind not in ("wish", "name") or not is_told_before:
                return ""
            quote = before
        if request.kind == "remember" and request.sure and request.start < end and start < request.end:
            first = start if is_told_before else max(start, own[0]) if own else end
            quote = content[first : min(end, own[-1] + 1)] if own else before
    if is_small_talk(quote) or not any(sign.isalnum() for sign in SIGNS["asking_to_keep"].sub("", quote)):
        return ""
    if len(quote) <= MAX_QUOTE:
        return quote
    cut = quote[:MAX_QUOTE]
    return cut if CJK.search(cut) or " " not in cut else cut.rpartition(" ")[0]


def statement_spans(content: str, *, is_cry: bool = False, requests: Sequence[Request] = ()) -> list[tuple[int, int]]:
    """Runs of sentences that belong together: a fragment, or a sentence that continues with "he", belongs to the one
    before. Of questions only the statements in them count, unless they are serious or a cry."""
    runs: list[tuple[int, int]] = []
    is_open = False
    for start, end in sentences(content):
        sentence = content[start:end]
        is_request = any(request.sure and request.start < end and start < request.end for request in requests)
        if is_question(sentence) and not is_cry:
            is_open = False
            if not SIGNS["not_so"].search(sentence):
                runs += [(start + first, start + last) for first, last in told_in_question(sentence)]
        elif (
            is_open
            and not is_request
            and not SIGNS["corrects"].search(sentence)
            and not (SIGNS["calls_them"].search(sentence) and not holds(content[runs[-1][0] : start], BEARERS))
            and goes_on(sentence, content[runs[-1][0] : start])
        ):
            runs[-1] = (runs[-1][0], end)
        elif not (is_open and is_small_talk(sentence)):
            runs.append((start, end))
            is_open = not is_request and not is_small_talk(sentence)
    return runs


def goes_on(sentence: str, before: str = "") -> bool:
    """Whether a sentence only continues the text before it: with "he", or without a subject. A sentence about health
    continues nothing else.

    >>> [goes_on(text) for text in ("Two years old.", "He's a whippet.", "My dog died.", "柯基，两岁。", "我搬家了。")]
    [True, True, False, True, False]
    """
    sentence = write_out(sentence)
    if SIGNS["continues"].search(sentence) or WHOM.search(sentence):
        return True
    if LONE_WORD.search(before) and sentence[:1].isdigit():  # "Mick. 54, been doing it for ever."
        return True
    if before and bears_on_health(sentence) and not bears_on_health(before):
        return False
    words = len(CJK.findall(sentence)) or len(sentence.split())
    is_short = (
        0 < words <= MAX_FRAGMENT[bool(CJK.search(sentence))] * (2 if SIGNS["where_or_when"].search(sentence) else 1)
    )
    tells = not says_nothing(sentence) and WORD.search(SIGNS["filler"].sub(" ", sentence)) is not None
    stands_alone = STANDS_ALONE.search(SIGNS["aside"].sub(" ", sentence)) or TELLS_BY_NAME.search(sentence)
    return is_short and tells and not stands_alone


def told_in_question(sentence: str) -> list[tuple[int, int]]:
    """The position of the statement in a question, at most one: the clauses that do not ask, what it reports ("Did I
    tell you …"), or all of it if it is a cry for help or about a serious event.

    >>> [("我被裁了怎么办？")[a:b] for a, b in told_in_question("我被裁了怎么办？")]
    ['我被裁了']
    """
    stated: tuple[int, int] | None = None
    for start, end in clauses(sentence):
        is_marked = end < len(sentence) and sentence[end:].lstrip()[:1] in "?？"
        clause = sentence[start:end]
        if not is_marked and not asks(clause) and not SIGNS["opens_a_condition"].search(clause):
            stated = (stated[0], end) if stated else (start, end)
        elif stated:
            break
    if stated:
        return [stated]
    if abs(impact_of(sentence)) < HEAVY or not FIRST_PERSON.search(sentence):
        return []
    lead, tail = SIGNS["telling"].search(sentence), SIGNS["what_now"].search(sentence)
    first, last = lead.end() if lead else 0, tail.start() if tail else len(sentence)
    reported = sentence[first:last].rstrip(" ，,")
    if (lead or (tail and tail[0].strip("吗么？?"))) and len(reported) > 1 and impact_of(reported):
        return [(first, first + len(reported))]
    return [] if SIGNS["looks_up"].search(sentence) else [(0, len(sentence))]


def _event(statement: Statement, material: Mapping[str, Any]) -> dict[str, Any]:
    is_to_persona = not (material.get("others") or material.get("prose"))
    tags = [tag for tag, trigger in RELATIONAL.items() if trigger.search(statement.text)]
    tags = list(dict.fromkeys([*(["correction"] if statement.is_correction else []), *tags]))
    days = _days_of(statement) if statement.is_dated else None
    quotes = " ".join(f"“{quote}”" for _, quote in statement.quotes)
    return {
        "description": QUOTATION[material["language"]].format(name=_speaker(material), quotes=quotes),
        "emotional_impact": statement.impact,
        "emotion_tags": [],
        "relational_tags": [tag for tag in tags if is_to_persona or tag not in OF_THE_TWO][:3],
        "subject": "user",
        "event_time": days.as_json() if days else None,
        "evidence": [{"message_id": message, "quote": quote} for message, quote in statement.quotes],
        "supersedes": [],
        "confidence": 0.8,
    }


def _days_of(statement: Statement) -> Days | None:
    """The one day that the statement names, past or future by its tense, otherwise the period that it names. "This
    year" is no date of an event, and neither are recurrences: a birthday in May, choir on Thursdays."""
    text = statement.redated or statement.text
    mentions = named_days(text, statement.day)
    day = only_day(mentions)
    # 「只剩毕业设计了，六月三十号答辩」: the tense is that of the clause that names the day.
    dated = [text[start:end] for start, end in clauses(text) if named_days(text[start:end], statement.day)]
    tensed = " ".join(dated) if CJK.search(text) else text
    is_ahead = bool(
        SIGNS["lies_ahead"].search(tensed)
        or (SIGNS["lies_ahead"].search(text) and not SIGNS["lies_behind"].search(tensed))
    )
    has_tense = is_ahead or bool(SIGNS["lies_behind"].search(tensed))
    may_be_range = bool(mentions) and has_tense and SIGNS["from_to"].search(text)
    if may_be_range and (days := named_range(text, statement.day, ahead=is_ahead)):
        return days
    if day is None and has_tense:
        day = only_day(mentions, **{"first" if is_ahead else "last": statement.day})
    elif day is None and len(mentions) == 1 and len(mentions[0]) <= BEFORE_OR_TO_COME:
        # Without a tense the nearer of the two days is meant.
        day = min(mentions[0], key=lambda mention_day: abs(mention_day - statement.day))
    if day:
        return Days(day, day)
    if len(mentions) > 1 and SIGNS["from_to"].search(text):
        first, last = (
            only_day([mention], **{"first" if is_ahead or not has_tense else "last": statement.day})
            for mention in mentions[:: len(mentions) - 1]
        )
        if first and last and first < last <= first + LONG_STAY:
            return Days(first, last)
    returns = not SIGNS["says_which"].search(text) and (SIGNS["returns"].search(text) or not (has_tense or mentions))
    span = None if returns else days_meant(text, statement.day, ahead=is_ahead or not has_tense)
    is_vague = span is not None and span.start <= statement.day <= span.end and (span.end - span.start).days > MAX_SPAN
    return None if is_vague else span


def _speaker(material: Mapping[str, Any]) -> str:
    """The owner, and the people addressed in a chat without the persona: "your birthday" is theirs."""
    speakers = [str(name) for name in material.get("others", ())][:MAX_ADDRESSEES]
    if not speakers:
        return str(material["user_name"])
    to = "（对{}说）".format("、".join(speakers)) if material["language"] == "zh" else f" (to {', '.join(speakers)})"
    return f"{material['user_name']}{to}"


def _entities(statements: Sequence[Statement], kind_by_name: Mapping[str, str], user_name: str) -> list[dict[str, Any]]:
    kinds = {name.casefold(): (capitalize_name(name), kind) for name, kind in kind_by_name.items()}
    for mention in (mention for statement in statements for mention in statement.names):
        kinds.setdefault(mention.name.casefold(), (capitalize_name(mention.name), mention.kind))
    return [
        {
            "canonical_name": name,
            "aliases": [],
            "kind": kind,
            "relation": next(filter(None, (relation_of(name, one.text, one.before) for one in statements)), "")
            if kind in NEAR
            else "",
            "in_events": mentions,
        }
        for name, kind in kinds.values()
        if name.casefold() != user_name.casefold()
        and (mentions := [at for at, statement in enumerate(statements) if occurs(name, statement.text)])
    ]

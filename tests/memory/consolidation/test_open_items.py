"""Open items: outcomes and their causes, expiry, and their place in prompts, pages, API and admin."""

import json
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from chat.messages import receive_message
from chat.models import Turn
from echovessel.admin import groups
from echovessel.embeddings import embedding
from echovessel.llm.prompts import ContextRequest, Section
from echovessel.outbox.models import OutboxEvent
from memory import context
from memory.consolidation import open_items
from memory.consolidation.open_items import OpenItem, expire, is_overdue, reopen, settle
from memory.consolidation.runner import is_worth_reading
from memory.curation import lifecycle
from memory.forgetting.copies import remove_ids
from memory.models import ConceptNode
from memory.recall import recall
from persona.models import Persona
from tests.echovessel.conftest import member, signed_in

pytestmark = pytest.mark.django_db
Remember = Callable[..., ConceptNode]
Outcome = ConceptNode.Outcome

MONDAY = datetime(2026, 3, 2, 4, 0, tzinfo=UTC)
FRIDAY = date(2026, 3, 6)
SATURDAY = datetime(2026, 3, 7, 4, 0, tzinfo=UTC)
RESULT = "Ana gets the result of her job interview."
LINE = "I got the result of the interview today!"


@pytest.fixture
def create_item(remember: Remember, mira: Persona) -> Remember:
    """A function that creates an open item of Mira, heard on Monday."""

    def make(description: str = RESULT, due: date | None = FRIDAY, **fields: Any) -> ConceptNode:
        fields = {"kind": "expectation", "created_at": MONDAY, "last_mentioned_at": MONDAY} | fields
        day = {"event_time_start": due, "event_time_end": due}
        return remember(fields.pop("persona", mira), description, **fields, **day)

    return make


def stored_state(node: ConceptNode) -> tuple[str, datetime | None, int | None]:
    node.refresh_from_db()
    return node.outcome, node.resolved_at, node.resolved_by_id


def changes() -> list[tuple[str, str | None]]:
    """The published outcomes: the change and the memory that caused it."""
    updates = OutboxEvent.objects.filter(name="memory.node.updated").order_by("id")
    return [(event.data["change"], event.data.get("resolved_by")) for event in updates]


# --- outcomes -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", ["expectation", "intention"])
@pytest.mark.parametrize("outcome", ["fulfilled", "violated", "expired"])
def test_an_open_item_is_settled_once_and_names_its_evidence(
    create_item: Remember, remember: Remember, mira: Persona, kind: str, outcome: str
) -> None:
    node, news = create_item(kind=kind), remember(mira, "Ana got the job.")
    assert settle(node, outcome, news, SATURDAY)
    assert stored_state(node) == (outcome, SATURDAY, news.pk)
    assert changes() == [(outcome, str(news.uuid))]
    assert not settle(node, "violated", None, SATURDAY + timedelta(days=1))
    assert stored_state(node) == (outcome, SATURDAY, news.pk)
    assert len(changes()) == 1


def test_news_that_it_came_about_fulfils_it(create_item: Remember, remember: Remember, mira: Persona) -> None:
    awaited, news, plan = create_item(), remember(mira, "Ana has the result."), remember(mira, "Ana moves.")
    open_items.settle_told([awaited, plan, news], news, SATURDAY)
    awaited.refresh_from_db()
    assert (awaited.outcome, awaited.resolved_by_id) == (Outcome.FULFILLED, news.pk)
    plan.refresh_from_db()
    assert plan.outcome == remember(mira, "Ana sings.").outcome


def test_of_two_who_settle_it_at_once_the_first_counts(create_item: Remember) -> None:
    node = create_item()
    same = ConceptNode.objects.get(pk=node.pk)
    assert settle(node, "fulfilled", None, SATURDAY)
    assert not settle(same, "violated", None, SATURDAY)
    assert changes() == [("fulfilled", None)]


def test_invalid_outcomes_and_events_of_other_personas_settle_nothing(
    create_item: Remember, remember: Remember, otto: Persona
) -> None:
    node = create_item()
    for outcome, by in (
        ("open", None),
        ("lost", None),
        ("fulfilled", remember(otto, "Ben got a job.")),
        ("fulfilled", node),
    ):
        with pytest.raises(ValueError, match=r"end|same persona"):
            settle(node, outcome, by, SATURDAY)
    assert stored_state(node)[0] == "open"
    assert changes() == []


@pytest.mark.parametrize("kind", ["event", "thought"])
def test_only_expectations_and_intentions_can_be_settled(create_item: Remember, kind: str) -> None:
    node = create_item(kind=kind)
    assert not settle(node, "fulfilled", None, SATURDAY)
    assert not reopen(node, SATURDAY)
    assert stored_state(node)[0] == "open"


def test_a_settled_item_can_be_reopened(create_item: Remember, remember: Remember, mira: Persona) -> None:
    node = create_item()
    assert not reopen(node, SATURDAY)
    settle(node, "violated", remember(mira, "Ana heard nothing."), SATURDAY)
    assert reopen(node, SATURDAY)
    assert stored_state(node) == ("open", None, None)
    assert changes()[-1] == ("reopened", None)


def test_what_left_recall_as_settled_comes_back_with_it_and_nothing_else_does(create_item: Remember) -> None:
    settled, put_away = create_item(), create_item("Ana moves house.")
    for node in (settled, put_away):
        settle(node, "fulfilled", None, SATURDAY)
    ConceptNode.objects.filter(pk=put_away.pk).update(status="archived", archived_because="person")
    later = SATURDAY + timedelta(days=91)
    assert lifecycle.run(later)["settle"] == 1
    for node in (settled, put_away):
        node.refresh_from_db()
        assert node.status == "archived"
        assert reopen(node, later)
    assert (settled.status, settled.archived_because) == ("active", "")
    assert (put_away.status, put_away.archived_because) == ("archived", "person")


def test_when_what_told_it_is_forgotten_it_stays_settled(
    create_item: Remember, remember: Remember, mira: Persona
) -> None:
    node, news = create_item(), remember(mira, "Ana got the job.")
    settle(node, "fulfilled", news, SATURDAY)
    news.delete()
    assert stored_state(node) == ("fulfilled", SATURDAY, None)


# --- expiry ---------------------------------------------------------------------------------------------------------
def open_item(kind: str, due: date | None, *, told_again_after: int = 0, zone: str = "UTC") -> OpenItem:
    """An open item that was heard on Monday, and again that number of days later."""
    return OpenItem(1, kind, due, MONDAY, MONDAY + timedelta(days=told_again_after), zone)


@pytest.mark.parametrize(
    ("item", "now", "overdue"),
    [
        (open_item("expectation", FRIDAY), datetime(2026, 3, 9, 23, 59, tzinfo=UTC), False),
        (open_item("expectation", FRIDAY), datetime(2026, 3, 10, 0, 0, tzinfo=UTC), True),
        (open_item("intention", FRIDAY), datetime(2026, 3, 13, 23, 59, tzinfo=UTC), False),
        (open_item("intention", FRIDAY), datetime(2026, 3, 14, 0, 0, tzinfo=UTC), True),
        (open_item("expectation", FRIDAY, zone="Asia/Shanghai"), datetime(2026, 3, 9, 15, 59, tzinfo=UTC), False),
        (open_item("expectation", FRIDAY, zone="Asia/Shanghai"), datetime(2026, 3, 9, 16, 0, tzinfo=UTC), True),
        # Los Angeles puts its clocks forward in the night to Sunday, the 8th: Tuesday begins at seven.
        (open_item("expectation", FRIDAY, zone="America/Los_Angeles"), datetime(2026, 3, 10, 6, 59, tzinfo=UTC), False),
        (open_item("expectation", FRIDAY, zone="America/Los_Angeles"), datetime(2026, 3, 10, 7, 0, tzinfo=UTC), True),
        # Told again on Sunday: its days of grace begin then.
        (open_item("expectation", FRIDAY, told_again_after=6), datetime(2026, 3, 11, 23, 0, tzinfo=UTC), False),
        (open_item("expectation", FRIDAY, told_again_after=6), datetime(2026, 3, 12, 0, 0, tzinfo=UTC), True),
        (open_item("expectation", FRIDAY, told_again_after=1), datetime(2026, 3, 10, 0, 0, tzinfo=UTC), True),
        (open_item("expectation", None), MONDAY + timedelta(days=30), False),
        (open_item("expectation", None), MONDAY + timedelta(days=30, seconds=1), True),
        (open_item("expectation", None, told_again_after=9), MONDAY + timedelta(days=39), False),
        (open_item("expectation", None, told_again_after=9), MONDAY + timedelta(days=40), True),
        (open_item("intention", None), MONDAY + timedelta(days=4_000), False),
    ],
)  # fmt: skip
def test_when_nobody_waits_for_it_any_more(item: OpenItem, now: datetime, overdue: bool) -> None:
    assert is_overdue(item, now) is overdue


def test_what_is_overdue_expires_by_the_day_of_its_owner(create_item: Remember, mira: Persona, otto: Persona) -> None:
    Persona.objects.filter(pk=otto.pk).update(timezone="America/Los_Angeles")
    in_shanghai, in_america = create_item(), create_item(persona=otto)
    promise = create_item("Mira will ask about the interview.", kind="intention")
    for hours, ended in ((15, 0), (16, 1), (17, 0), (30, 0), (31, 1), (24 * 5, 1), (24 * 30, 0)):
        assert expire(datetime(2026, 3, 9, tzinfo=UTC) + timedelta(hours=hours)) == ended, hours
    assert [stored_state(node)[0] for node in (in_shanghai, in_america, promise)] == ["expired"] * 3
    assert stored_state(in_shanghai)[1:] == (datetime(2026, 3, 9, 16, tzinfo=UTC), None)
    assert changes() == [("expired", None)] * 3


def test_only_what_is_open_and_may_be_recalled_expires(create_item: Remember) -> None:
    undated = create_item("Ana may marry.", due=None)
    promise = create_item("Mira will send a poem.", due=None, kind="intention")
    hidden, settled = create_item("A.", status="hidden"), create_item("B.", outcome="fulfilled", resolved_at=SATURDAY)
    ahead, event = create_item("C.", due=date(2027, 3, 6)), create_item("D.", kind="event")
    later = MONDAY + timedelta(days=60)
    assert expire(later) == 1
    assert stored_state(undated)[0] == "expired"
    outcomes = [stored_state(node)[0] for node in (promise, hidden, settled, ahead, event)]
    assert outcomes == ["open", "open", "fulfilled", "open", "open"]


def test_what_is_opened_again_after_its_day_has_its_days_of_grace_again(create_item: Remember) -> None:
    node = create_item()
    later = SATURDAY + timedelta(days=20)
    assert expire(later) == 1
    reopen(node, later)
    assert expire(later + timedelta(minutes=1)) == 0
    assert expire(later + timedelta(days=3)) == 0
    assert expire(later + timedelta(days=4)) == 1


def test_many_expire_in_pieces_and_never_too_many_a_minute(
    create_item: Remember, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_items, "AT_ONCE", 2)
    monkeypatch.setattr(open_items, "MAX_A_MINUTE", 3)
    nodes = [create_item(f"Number {number}.", due=FRIDAY + timedelta(days=number)) for number in range(5)]
    later = SATURDAY + timedelta(days=60)
    assert expire(later) == 3
    assert [stored_state(node)[0] for node in nodes] == ["expired"] * 3 + ["open"] * 2
    assert [expire(later), expire(later)] == [2, 0]


def test_where_nothing_is_overdue_a_minute_costs_two_small_queries(create_item: Remember) -> None:
    create_item()
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert expire(SATURDAY) == 0
    assert len(queries) == 2


# --- in the prompt --------------------------------------------------------------------------------------------------
def create_request(persona: Persona, *turns: str, now: datetime = SATURDAY, **values: Any) -> ContextRequest:
    return ContextRequest(persona=persona, turns=turns, now=now, **({"budget": 1_000} | values))


def render_expectations(request: ContextRequest) -> Section | None:
    """The section of expectations, rendered after recall."""
    context.recollections(request)
    return context.expectations(request)


@pytest.mark.parametrize("outcome", ["fulfilled", "violated", "expired"])
def test_settled_items_leave_the_prompt(create_item: Remember, mira: Persona, outcome: str) -> None:
    node, promise = create_item(), create_item("Mira will ask about the interview.", kind="intention")
    before = context.promises(create_request(mira)), render_expectations(create_request(mira, "Hello."))
    assert all(section is not None and "interview" in section.text for section in before)
    for item in (node, promise):
        settle(item, outcome, None, SATURDAY)
    assert context.promises(create_request(mira)) is None
    assert render_expectations(create_request(mira, "Hello.")) is None


@pytest.mark.parametrize(
    ("kind", "language", "outcome", "words"),
    [
        ("expectation", "en", "fulfilled", "(it came true)"),
        ("expectation", "en", "violated", "(it did not come true)"),
        ("expectation", "en", "expired", "(nothing more was heard of it)"),
        ("intention", "en", "fulfilled", "(you kept this promise)"),
        ("intention", "zh", "violated", "（你没有做到）"),
        ("expectation", "zh", "fulfilled", "（后来成真了）"),
    ],
)
def test_recall_tells_how_it_ended(
    create_item: Remember, mira: Persona, kind: str, language: str, outcome: str, words: str
) -> None:
    mira.language = language
    node = create_item(kind=kind)
    settle(node, outcome, None, SATURDAY)
    result = recall(mira, ["What about the job interview?"], now=SATURDAY, budget_tokens=500)
    [item] = result.items
    assert item.text.endswith(f"{RESULT}{words if language == 'zh' else ' ' + words}")
    assert item.content == RESULT


def test_an_open_one_and_an_event_are_told_without_an_end(
    create_item: Remember, remember: Remember, mira: Persona
) -> None:
    create_item()
    remember(mira, "Ana had a job interview.", outcome="fulfilled")
    result = recall(mira, ["What about the job interview?"], now=SATURDAY, budget_tokens=500)
    assert len(result.items) == 2
    assert not any(item.text.endswith(")") for item in result.items)


# --- items that the last message may be about -----------------------------------------------------------------------
OTHERS = ("Ana may visit Lisbon in March.", "Ana's sister expects a baby.", "The landlord repairs the heating.")


@pytest.mark.parametrize(
    ("language", "others", "awaited_one", "text", "mark"),
    [
        ("en", OTHERS, RESULT, LINE, "What they say just now may be about this:"),
        (
            "zh",
            ("小雨可能三月搬到杭州。", "房东这周应该会来修暖气。"),
            "小雨周五会知道面试结果。",
            "面试结果出来了！",
            "对方现在说的，可能就是这件事：",
        ),
    ],
)
def test_the_expectation_that_the_message_matches_is_first_and_marked(
    create_item: Remember, mira: Persona, language: str, others: tuple[str, ...], awaited_one: str, text: str, mark: str
) -> None:
    mira.language = language
    for number, other in enumerate(others):
        create_item(other, due=date(2026, 3, 8 + number))
    node = create_item(awaited_one, due=date(2026, 3, 20))
    section = render_expectations(create_request(mira, text))
    assert section is not None
    section_lines = section.text.splitlines()
    assert section_lines[1] == mark
    assert section_lines[3].endswith(awaited_one)
    assert section.text.count("<memory>") == section.text.count("</memory>") == 2
    assert [section.text.count(other) for other in others] == [1] * len(others)
    [match] = section.xray["matched"]
    assert match["id"] == section.xray["nodes"][0] == str(node.uuid)
    assert 0.38 <= match["cosine"] < 1


def test_where_nothing_is_near_the_next_due_stand_first_and_unmarked(create_item: Remember, mira: Persona) -> None:
    for number, other in enumerate(reversed(OTHERS)):
        create_item(other, due=date(2026, 3, 20 - number))
    section = render_expectations(create_request(mira, "What should I cook tonight?"))
    assert section is not None
    assert section.text.splitlines()[:2] == ["# What you expect", "<memory>"]
    assert "matched" not in section.xray
    assert [line[-9:] for line in section.text.splitlines()[2:5]] == [other[-9:] for other in OTHERS]


def test_an_outreach_matches_no_expectation(create_item: Remember, mira: Persona) -> None:
    create_item()
    section = render_expectations(create_request(mira, RESULT, occasion="it is due"))
    assert section is not None
    assert "matched" not in section.xray


def test_the_last_message_alone_decides(create_item: Remember, mira: Persona) -> None:
    create_item()
    section = render_expectations(create_request(mira, LINE, "What should I cook tonight?"))
    assert section is not None
    assert "matched" not in section.xray


def test_one_that_is_due_far_ahead_is_found_among_many_and_not_recalled_as_well(
    create_item: Remember, mira: Persona, settings: Any
) -> None:
    settings.KNOBS = {"memory.open_ones_shown": 2}
    for number in range(12):
        create_item(f"Ana's plant number {number} may bloom.", due=date(2026, 3, 8))
    node = create_item(due=date(2026, 12, 1))
    request = create_request(mira, LINE)
    recollections = context.recollections(request)
    section = context.expectations(request)
    assert section is not None
    assert section.xray["nodes"][0] == str(node.uuid)
    assert len(section.xray["nodes"]) == 2
    assert RESULT not in recollections.text


def test_within_a_small_budget_the_one_they_speak_of_is_what_is_left(create_item: Remember, mira: Persona) -> None:
    for number, other in enumerate(OTHERS):
        create_item(other, due=date(2026, 3, 8 + number))
    create_item(due=date(2026, 3, 20))
    for budget in range(0, 120, 5):
        request = create_request(mira, LINE, budget=budget)
        section = render_expectations(request)
        assert section is None or (section.tokens <= budget and RESULT in section.text)
    assert section is not None


def test_words_of_people_cannot_leave_their_block(create_item: Remember, mira: Persona) -> None:
    create_item("The job interview </memory> is over.")
    section = render_expectations(create_request(mira, LINE))
    assert section is not None
    assert section.text.count("</memory>") == 1


def test_nothing_is_embedded_for_it(create_item: Remember, mira: Persona, monkeypatch: pytest.MonkeyPatch) -> None:
    embedded: list[str] = []
    embed = embedding.embed

    def listening(texts: list[str], *model: str, **how: Any) -> Any:
        embedded.extend(texts)
        return embed(texts, *model, **how)

    monkeypatch.setattr(embedding, "embed", listening)
    render_expectations(create_request(mira, LINE))
    alone = list(embedded)
    for number in range(20):
        create_item(f"Ana gets the result of interview {number}.")
    embedded.clear()
    section = render_expectations(create_request(mira, LINE))
    assert section is not None
    assert section.xray["matched"]
    assert embedded == alone


def test_without_an_embedding_model_nothing_is_marked(
    create_item: Remember, mira: Persona, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_item()

    def missing(*_args: Any, **_how: Any) -> None:
        raise embedding.EmbeddingUnavailable("the file is gone")

    monkeypatch.setattr(embedding, "embed", missing)
    section = render_expectations(create_request(mira, LINE))
    assert section is not None
    assert "matched" not in section.xray


def test_the_account_of_a_match_goes_with_the_memory(create_item: Remember, mira: Persona) -> None:
    node = create_item()
    section = render_expectations(create_request(mira, LINE))
    assert section is not None
    assert section.xray["matched"]
    remaining_xray = remove_ids(dict(section.xray), {str(node.uuid)})
    assert remaining_xray == {"nodes": [], "matched": []}


# --- pages ----------------------------------------------------------------------------------------------------------
def at(node: ConceptNode, action: str = "") -> str:
    return f"/memory/{node.persona.uuid}/nodes/{node.uuid}/{action + '/' if action else ''}"


@pytest.fixture
def owner(mira: Persona, client: Client) -> Client:
    client.force_login(mira.owner)
    return client


def test_the_owner_says_how_it_ended_and_takes_it_back(owner: Client, create_item: Remember) -> None:
    node = create_item()
    page = owner.get(at(node)).content.decode()
    assert "It came true" in page
    assert at(node, "did_not") in page
    assert at(node, "reopen") not in page
    assert 'data-testid="still-open"' in page
    answer = owner.post(at(node, "did_not"), follow=True).content.decode()
    assert stored_state(node)[0] == "violated"
    assert "did not come true" in answer
    assert "It is settled." in answer
    assert at(node, "came_true") not in answer
    assert 'data-testid="still-open"' not in answer
    owner.post(at(node, "reopen"))
    assert stored_state(node) == ("open", None, None)
    owner.post(at(node, "came_true"))
    assert stored_state(node)[0] == "fulfilled"


@pytest.mark.parametrize(
    ("awaited_is", "text", "is_worth_it"),
    [
        ("Ana gets her blood test result.", "The blood test came: everything is fine!", True),
        ("Ana's flight to Lisbon leaves.", "The flight was cancelled", True),
        ("安娜周五飞里斯本的航班起飞。", "航班取消了", True),
        ("Ana gets her blood test result.", "Hello there!", False),
        ("Ana gets her blood test result.", "哈哈", False),
    ],
)
def test_short_news_of_what_is_awaited_is_worth_reading(
    mira: Persona, create_item: Remember, awaited_is: str, text: str, is_worth_it: bool
) -> None:
    node = create_item(awaited_is)
    session = receive_message(mira, text, None, "web", SATURDAY).message.session
    assert is_worth_reading(session) is is_worth_it
    settle(node, "fulfilled", None, SATURDAY)
    assert not is_worth_reading(session)


def test_an_event_has_no_came_true_action(owner: Client, mira: Persona, remember: Remember) -> None:
    event = remember(mira, "Ana planted a lemon tree.")
    assert owner.post(at(event, "came_true")).status_code == 404


def test_a_promise_is_kept_in_other_words(owner: Client, create_item: Remember) -> None:
    promise = create_item("Mira will ask about the interview.", kind="intention")
    assert "It was kept" in owner.get(at(promise)).content.decode()
    assert ">kept<" in owner.post(at(promise, "came_true"), follow=True).content.decode()


def test_the_page_tells_what_settled_it_and_what_it_settled(
    owner: Client, create_item: Remember, remember: Remember, mira: Persona
) -> None:
    node, news = create_item(), remember(mira, "Ana got the job.")
    settle(node, "fulfilled", news, SATURDAY)
    page = owner.get(at(node)).content.decode()
    assert 'data-testid="resolved"' in page
    assert at(news) in page
    assert "Ana got the job." in page
    back = owner.get(at(news)).content.decode()
    assert 'data-testid="settled"' in back
    assert at(node) in back
    assert at(news, "came_true") not in back


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [("open", {"Ana may marry."}), ("fulfilled", {RESULT}), ("expired", set()), ("", {"Ana may marry.", RESULT, "E."})],
)
def test_the_list_is_filtered_by_how_it_ended(
    owner: Client, create_item: Remember, remember: Remember, mira: Persona, outcome: str, expected: set[str]
) -> None:
    settle(create_item(), "fulfilled", None, SATURDAY)
    create_item("Ana may marry.")
    remember(mira, "E.")
    page = owner.get(f"/memory/{mira.uuid}/?outcome={outcome}").content.decode()
    assert {text for text in (RESULT, "Ana may marry.", "E.") if f">{text}<" in page} == expected


def test_the_timeline_says_how_it_ended_and_a_row_that_ended_is_fresh(
    owner: Client, create_item: Remember, mira: Persona
) -> None:
    node = create_item()
    address = f"/memory/{mira.uuid}/timeline/"
    before = owner.get(address).content.decode()
    settle(node, "fulfilled", None, SATURDAY)
    after = owner.get(address).content.decode()
    assert 'data-testid="outcome"' not in before
    assert "came true" in after
    key = f"node-{node.uuid}-1-active-"
    assert f'data-key="{key}open"' in before
    assert f'data-key="{key}fulfilled"' in after


def test_why_this_reply_tells_what_the_message_was_taken_for(
    owner: Client, create_item: Remember, mira: Persona
) -> None:
    node = create_item()
    turn = receive_message(mira, LINE, None, "web", SATURDAY).message.turn
    assert turn is not None
    matched = [{"id": str(node.uuid), "cosine": 0.49}]
    Turn.objects.filter(pk=turn.pk).update(xray={"expectations": {"nodes": [str(node.uuid)], "matched": matched}})
    address = f"/chat/{mira.uuid}/turns/{turn.uuid}/why/"
    page = owner.get(address).content.decode()
    assert 'data-testid="xray-expected"' in page
    assert RESULT in page
    assert "0.49" in page
    ConceptNode.objects.filter(pk=node.pk).update(status="hidden")
    assert RESULT not in owner.get(address).content.decode()


def test_nobody_else_says_how_it_ended(create_item: Remember, otto: Persona, client: Client) -> None:
    node = create_item()
    client.force_login(otto.owner)
    assert client.post(at(node, "came_true")).status_code == 404
    address = f"/api/personas/{node.persona.uuid}/nodes/{node.uuid}/outcome"
    assert client.post(address, {"outcome": "fulfilled"}, "application/json").status_code == 404
    assert stored_state(node)[0] == "open"


# --- API ------------------------------------------------------------------------------------------------------------
def say(client: Client, node: ConceptNode, **body: Any) -> Any:
    address = f"/api/personas/{node.persona.uuid}/nodes/{node.uuid}/outcome"
    return client.post(address, json.dumps(body), "application/json")


def test_a_program_says_how_it_ended_and_by_what(
    owner: Client, create_item: Remember, remember: Remember, mira: Persona
) -> None:
    node, news = create_item(), remember(mira, "Ana got the job.")
    for _ in range(2):
        answer = say(owner, node, outcome="fulfilled", by=str(news.uuid))
        assert answer.status_code == 200
        assert (answer.json()["outcome"], answer.json()["resolved_by"]) == ("fulfilled", str(news.uuid))
    assert len(changes()) == 1
    refused = say(owner, node, outcome="violated")
    assert (refused.status_code, refused.json()["code"], refused.json()["outcome"]) == (409, "settled", "fulfilled")
    assert say(owner, node, outcome="open").json()["resolved_at"] is None
    assert say(owner, node, outcome="violated").json()["outcome"] == "violated"


def test_the_api_refuses_invalid_outcomes_with_a_status(
    owner: Client, create_item: Remember, remember: Remember, mira: Persona, otto: Persona
) -> None:
    node = create_item()
    assert say(owner, remember(mira, "An event."), outcome="fulfilled").status_code == 422
    assert say(owner, node, outcome="fulfilled", by=str(node.uuid)).status_code == 422
    assert say(owner, node, outcome="fulfilled", by=str(remember(otto, "Ben's.").uuid)).status_code == 404
    assert say(owner, node, outcome="expired").status_code == 422
    assert say(owner, node).status_code == 422
    assert stored_state(node)[0] == "open"


# --- admin ----------------------------------------------------------------------------------------------------------
@pytest.fixture
def desk(db: None) -> Client:
    """A superuser's browser."""
    return signed_in(User.objects.create_superuser("cora", password="a long word for cora"))


def test_the_desk_settles_opens_and_filters(
    desk: Client, mira: Persona, create_item: Remember, remember: Remember
) -> None:
    node, news = create_item(), remember(mira, "Ana got the job.")
    assert 'data-testid="do-came_true"' in desk.get(page_of(node)).content.decode()
    desk.post(f"/admin/memory/expectation/{node.pk}/do/came_true/")
    assert stored_state(node)[0] == "fulfilled"
    ConceptNode.objects.filter(pk=node.pk).update(resolved_by=news)
    page = desk.get(page_of(node)).content.decode()
    assert 'data-testid="resolved"' in page
    assert page_of(news) in page
    assert 'data-testid="do-reopen"' in page
    assert page_of(node) in desk.get(page_of(news)).content.decode()
    desk.post("/admin/memory/expectation/", {"action": "reopen", "_selected_action": [node.pk]})
    assert stored_state(node) == ("open", None, None)
    list_url = "/admin/memory/expectation/?outcome__exact="
    assert page_of(node) in desk.get(f"{list_url}open").content.decode()
    assert page_of(node) not in desk.get(f"{list_url}expired").content.decode()


def test_on_the_desk_an_event_does_not_come_true(desk: Client, mira: Persona, remember: Remember) -> None:
    event = remember(mira, "Ana got the job.")
    page = desk.get(page_of(event)).content.decode()
    assert "do-confirm" in page
    assert "do-came_true" not in page
    assert "do-reopen" not in page
    assert desk.post(f"/admin/memory/event/{event.pk}/do/came_true/").status_code == 404
    assert 'value="came_true"' not in desk.get("/admin/memory/event/").content.decode()


def test_staff_who_may_not_read_words_see_none_of_what_settled_it(
    mira: Persona, create_item: Remember, remember: Remember
) -> None:
    node = create_item()
    settle(node, "fulfilled", remember(mira, "Ana got the job."), SATURDAY)
    page = signed_in(member("bea", groups.CURATORS)).get(page_of(node))
    assert page.status_code == 200
    assert "interview" not in page.content.decode()
    assert "got the job" not in page.content.decode()


def page_of(node: ConceptNode) -> str:
    return f"/admin/memory/{node.kind}/{node.pk}/change/"

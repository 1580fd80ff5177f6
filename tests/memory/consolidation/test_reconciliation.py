"""Facts that rest on an ended fact: past where the model says so, a question to the owner where it is not sure."""

import re
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from chat.models import Message
from echovessel import llm
from memory import forgetting
from memory.consolidation import rivals, runner
from memory.consolidation.remainders import is_remainder
from memory.curation import actions
from memory.forgetting import Target, plan
from memory.models import ConceptNode, ImportRun, Question
from memory.recall import recall
from memory.requests.withhold import withhold
from persona.models import Persona
from tests.memory.consolidation.test_facts import fact
from tests.memory.sessions import Clock, cite, extraction, talk
from tests.scripted import Script
from tests.table import each_row

PILLS = "I take ramipril every morning, and no grapefruit because of the ramipril."
TREE = "I can't eat prawns, they'd kill me, but I eat crab. Ben and I will buy a house with a pear tree in May."


def remember_life(persona: Persona, model: Script, clock: Clock) -> None:
    session = talk(persona, PILLS, "> I see.", TREE)
    pills, _, tree = session.messages.order_by("id")
    model.answers(
        extraction(
            facts=[
                fact("Ana takes ramipril every morning.", cite(pills), domain="health"),
                fact("Ana may eat no grapefruit because of the ramipril.", cite(pills), domain="health"),
                fact("Ana is allergic to prawns but eats crab.", cite(tree), domain="health"),
                fact(
                    "Ana and Ben will buy a house with a pear tree.",
                    cite(tree),
                    domain="plans",
                    state="planned",
                    since="2026-05",
                    until="2026-05",
                ),
            ]
        )
    )
    runner.run(session.pk, clock)


def node(description: str) -> ConceptNode:
    return ConceptNode.objects.get(description__startswith=description)


def consolidate_news(persona: Persona, model: Script, clock: Clock, text: str, *facts: Any, changes: Any) -> Message:
    """Consolidate a session with this news and verdicts on stored facts; `changes` are (fact, verdict, still)."""
    session = talk(persona, text, "> I see.", "And it rains here.")
    message = session.messages.earliest("id")
    verdicts = [{"id": f"e{node(text).pk}", "verdict": verdict, "still": still} for text, verdict, still in changes]
    new_facts = [
        fact(text, cite(message), supersedes=[f"e{node(old).pk}"] if old else [], **more) for text, old, more in facts
    ]
    model.answers(extraction(facts=new_facts), {"changes": verdicts})
    runner.run(session.pk, clock)
    return message


NEW_PILLS = ("Ana takes amlodipine instead of ramipril.", "Ana takes ramipril", {"domain": "health"})


def test_what_rested_on_what_ended_is_told_as_past_until_the_news_is_withheld(
    mira: Persona, model: Script, clock: Clock
) -> None:
    remember_life(mira, model, clock)
    message = consolidate_news(
        mira,
        model,
        clock,
        "I take amlodipine instead of the ramipril now.",
        NEW_PILLS,
        changes=[("Ana may eat no grapefruit", "over", "")],
    )
    prompt = model.requests[-2].user if "grapefruit" in model.requests[-2].user else model.requests[-1].user
    assert "amlodipine" in prompt
    assert node("Ana may eat no grapefruit").until == "2026-03"
    recalled_text = " ".join(
        item.text for item in recall(mira, ["May I eat grapefruit?"], now=clock(), budget_tokens=500).items
    )
    assert "until March 2026" in recalled_text
    assert not Question.objects.exists()
    withhold(message)
    assert (node("Ana may eat no grapefruit").until, node("Ana takes ramipril").status) == ("", "active")
    assert node("Ana takes amlodipine").status == "hidden"


def test_of_a_fact_that_ended_in_part_the_rest_stays_with_its_words(mira: Persona, model: Script, clock: Clock) -> None:
    remember_life(mira, model, clock)
    message = consolidate_news(
        mira,
        model,
        clock,
        "I'm vegetarian now, no crab either.",
        ("Ana is vegetarian.", "", {"domain": "health"}),
        changes=[("Ana is allergic to prawns", "partly", "Ana is allergic to prawns.")],
    )
    rest = ConceptNode.objects.get(description="Ana is allergic to prawns.")
    before = ConceptNode.objects.get(description="Ana is allergic to prawns but eats crab.")
    assert (rest.status, before.status, before.superseded_by) == ("active", "superseded", rest)
    assert [row.quote for row in rest.evidence.all()] == [row.quote for row in before.evidence.all()]
    withhold(message)
    rest.refresh_from_db()
    before.refresh_from_db()
    assert (rest.status, before.status) == ("hidden", "active")


def test_a_plan_of_two_who_have_parted_is_called_off(mira: Persona, model: Script, clock: Clock) -> None:
    remember_life(mira, model, clock)
    consolidate_news(
        mira,
        model,
        clock,
        "Ben and I broke up.",
        ("Ana and Ben broke up.", "", {"domain": "people"}),
        changes=[("Ana and Ben will buy", "over", "")],
    )
    assert node("Ana and Ben will buy").plan_state == "cancelled"


@each_row(
    ("still", "whole", "is_believed"),
    [
        ("Ana will go to Oslo and Bergen.", "Ana and Ben will go to Oslo and Bergen.", True),
        ("Ana eats no nuts.", "Ana eats no nuts, and cooks a lamb stew on Sundays.", True),
        ("林悦对虾过敏。", "林悦对虾过敏，螃蟹可以吃。", True),
        ("陈屿要做透析。", "陈屿要做透析，还不知道订婚的事。", True),
        ("Stefan受不了这个味道。", "许嘉树的室友Stefan受不了这个味道。", True),
        ("Ana is not allergic to nuts.", "Ana is not allergic to penicillin but to nuts.", False),
        ("Ana is allergic to penicillin.", "Ana is not allergic to penicillin but to nuts.", False),
        ("Ana does drink wine.", "Ana does not drink wine or smoke.", False),
        ("Ana smokes.", "Ana stopped smoking and drinking.", False),
        ("Ana eats nuts.", "Ana eats no prawns, crab or nuts.", False),
        ("Ana was allergic to prawns.", "Ana is allergic to prawns but eats crab.", False),
        ("安娜对青霉素不过敏。", "安娜对青霉素过敏，不吃蟹。", False),
        ("安娜吃花生。", "安娜不吃虾、蟹和花生。", False),
        ("Ana lives in Bergen.", "Ana lives in Oslo.", False),
        ("Ana lives in Oslo.", "Ana lives in Oslo.", False),
        ("", "Ana lives in Oslo.", False),
    ],
)
def test_what_is_left_of_a_fact_denies_what_it_denied(still: str, whole: str, is_believed: bool) -> None:
    assert is_remainder(still, whole, keeps_health=False) is is_believed


@each_row(
    ("still", "whole", "is_believed"),
    [
        ("Ana is allergic to nuts.", "Ana is allergic to nuts but rows on the lake.", True),
        ("Ana eats no nuts.", "Ana eats no nuts, and cooks a lamb stew on Sundays.", True),
        ("Ana is allergic to prawns.", "Ana is allergic to prawns, crab and nuts.", False),
        ("Ana rows.", "Ana is allergic to nuts but rows on the lake.", False),
        ("Ana reads at night.", "Ana wears a mask at night and reads at night.", False),
        ("安娜划船。", "安娜对花生过敏，周末常去划船。", False),
        ("安娜恐高。", "安娜恐高，就是因为恐高才去攀岩。", True),
        ("Ana is diabetic.", "Ana is diabetic; she takes insulin at night.", False),
    ],
)
def test_nothing_of_health_is_left_out(still: str, whole: str, is_believed: bool) -> None:
    assert is_remainder(still, whole, keeps_health=True) is is_believed


def test_health_and_what_a_person_vouched_for_end_only_where_the_owner_says_so(
    mira: Persona, model: Script, clock: Clock
) -> None:
    """News of a boat ends no fact of health, and no news ends a pinned fact, whatever the model answers."""
    remember_life(mira, model, clock)
    actions.confirm(node("Ana may eat no grapefruit"))
    actions.pin(node("Ana is allergic"))
    session = talk(mira, "I keep a needle on the boat.", "> I see.", "It rains.")
    needle = fact("Ana keeps a needle on the boat.", cite(session.messages.earliest("id")), domain="health")
    model.answers(extraction(facts=[needle]))
    runner.run(session.pk, clock)
    boat = ("Ana sold the boat with the needle.", "", {"domain": "belongings"})
    consolidate_news(
        mira, model, clock, "We sold the boat with the needle.", boat, changes=[("Ana keeps a needle", "over", "")]
    )
    gone = [("Ana may eat no grapefruit", "over", ""), ("Ana is allergic", "partly", "Ana is allergic to prawns.")]
    consolidate_news(mira, model, clock, "I take amlodipine instead of the ramipril now.", NEW_PILLS, changes=gone[:1])
    consolidate_news(
        mira, model, clock, "I'm vegetarian now.", ("Ana is vegetarian.", "", {"domain": "health"}), changes=gone[1:]
    )
    for text in ("Ana keeps a needle", "Ana may eat no grapefruit", "Ana is allergic"):
        assert (node(text).status, node(text).until) == ("active", "")
        assert Question.objects.filter(grounds=node(text)).exists(), text


@pytest.mark.parametrize(
    ("verdict", "still"), [("over", ""), ("partly", "Ana eats crab and lobster."), ("partly", ""), ("unsure", "")]
)
def test_what_is_not_sure_is_asked_about_and_nothing_is_ended(
    mira: Persona, model: Script, clock: Clock, verdict: str, still: str
) -> None:
    """News of a house ends no allergy, whatever a model answers, and no wording is invented."""
    remember_life(mira, model, clock)
    consolidate_news(
        mira,
        model,
        clock,
        "We sold the house with the prawns on the door.",
        ("Ana sold the house with the prawns on the door.", "", {"domain": "home"}),
        changes=[("Ana is allergic to prawns", verdict, still)],
    )
    allergy = ConceptNode.objects.get(description="Ana is allergic to prawns but eats crab.")
    assert (allergy.status, allergy.until) == ("active", "")
    assert allergy in Question.objects.get().grounds.all()


def test_no_second_question_is_asked_where_nothing_has_changed_and_none_that_nobody_can_read_fails(
    mira: Persona, model: Script, clock: Clock
) -> None:
    remember_life(mira, model, clock)
    before = len(model.requests)
    session = talk(mira, "I play the cello in a small orchestra.", "> How nice!", "On Mondays.")
    model.answers(extraction(facts=[fact("Ana plays the cello.", cite(session.messages.earliest("id")))]))
    runner.run(session.pk, clock)
    assert [request.purpose for request in model.requests[before:] if request.purpose == "extraction"] == ["extraction"]
    session = talk(mira, "I take amlodipine instead of the ramipril now.", "> I see.", "It rains.")
    text, old, more = NEW_PILLS
    new_fact = fact(text, cite(session.messages.earliest("id")), supersedes=[f"e{node(old).pk}"], **more)
    model.answers(extraction(facts=[new_fact]), "no JSON", "nor this")
    assert runner.run(session.pk, clock) == "closed"
    assert (node("Ana may eat no grapefruit").until, node("Ana takes ramipril").status) == ("", "superseded")


@pytest.mark.parametrize("is_named", [True, False])
def test_one_plan_is_done_once_however_often_it_is_told(
    mira: Persona, model: Script, clock: Clock, is_named: bool
) -> None:
    """Whether the model names the plan or repeats it for the same day."""
    first = talk(mira, "I give a talk on lighthouses at the library on 5 March 2026.", "> I see.", "It rains.")
    days = {"domain": "plans", "since": "2026-03-05", "until": "2026-03-05"}
    evidence = cite(first.messages.earliest("id"))
    model.answers(extraction(facts=[fact("Ana gives a talk on lighthouses.", evidence, state="planned", **days)]))
    runner.run(first.pk, clock)
    plan = ConceptNode.objects.get()
    second = talk(mira, "On 5 March I gave my talk on lighthouses, to forty people.", "> Well done!", "Yes.")
    message = second.messages.earliest("id")
    times = {"domain": "plans", "since": "2026-03", "until": "2026-03"} if is_named else days
    more = times | ({"supersedes": [f"e{plan.pk}"]} if is_named else {})
    gave = fact("Ana gave the talk on lighthouses, to forty people.", cite(message), state="done", **more)
    model.answers(extraction(facts=[gave]))
    runner.run(second.pk, clock)
    plan.refresh_from_db()
    done_node = ConceptNode.objects.get(description=gave["description"])
    assert (plan.status, plan.plan_state, plan.resolved_by) == ("active", "done", done_node)
    assert (done_node.status, done_node.plan_state) == ("active", "")


def test_the_rest_of_an_imported_fact_keeps_what_it_had_and_goes_with_the_import(
    mira: Persona, model: Script, clock: Clock, remember: Callable[..., ConceptNode]
) -> None:
    run = ImportRun.objects.create(persona=mira, uuid=uuid4(), at=clock())
    had: dict[str, Any] = {"emotional_impact": 5, "relational_tags": ["vulnerability"]}
    imported = {"kind": "fact", "domain": "health", "source": "import", "import_uuid": run.uuid}
    remember(mira, "Ana is allergic to prawns but eats crab.", **imported, **had)
    crab = ("Ana is vegetarian.", "", {"domain": "health"})
    still = "Ana is allergic to prawns."
    consolidate_news(mira, model, clock, "I'm vegetarian now.", crab, changes=[("Ana is allergic", "partly", still)])
    rest = ConceptNode.objects.get(description=still)
    assert had.items() <= vars(rest).items()
    forgetting.forget(plan([Target("import", run.pk)], forgetting.REVERT_IMPORT), None, clock())
    assert not ConceptNode.objects.filter(description__startswith="Ana is allergic").exists()


def test_the_rest_of_a_plan_keeps_its_days(mira: Persona, model: Script, clock: Clock) -> None:
    remember_life(mira, model, clock)
    parted = ("Ana and Ben broke up.", "", {"domain": "people"})
    still = "Ana will buy a house with a pear tree."
    consolidate_news(
        mira, model, clock, "Ben and I broke up.", parted, changes=[("Ana and Ben will buy", "partly", still)]
    )
    rest = node("Ana will buy")
    assert (rest.plan_state, rest.since, rest.until) == ("planned", "2026-05", "2026-05")


def test_a_memory_that_says_the_rest_anyhow_does_not_go_with_the_news(
    mira: Persona, model: Script, clock: Clock
) -> None:
    remember_life(mira, model, clock)
    still = "Ana is allergic to prawns."
    consolidate_news(mira, model, clock, "Prawns would kill me.", (still, "", {"domain": "health"}), changes=[])
    rest = ConceptNode.objects.get(description=still)
    message = consolidate_news(
        mira,
        model,
        clock,
        "I'm vegetarian now, no crab either.",
        ("Ana is vegetarian.", "", {"domain": "health"}),
        changes=[("Ana is allergic to prawns but", "partly", still)],
    )
    assert node("Ana is allergic to prawns but").superseded_by == rest
    withhold(message)
    rest.refresh_from_db()
    assert (rest.status, rest.resolved_by) == ("active", None)


def test_news_that_the_owner_hid_meanwhile_ends_nothing(
    mira: Persona, model: Script, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember_life(mira, model, clock)
    answer_now = llm.answer_now

    def slowly(*args: Any, **options: Any) -> Any:
        answer = answer_now(*args, **options)
        if news := ConceptNode.objects.filter(description__startswith="Ana takes amlodipine").first():
            actions.hide(news)
        return answer

    monkeypatch.setattr(llm, "answer_now", slowly)
    changes = [("Ana may eat no grapefruit", "over", "")]
    consolidate_news(mira, model, clock, "I take amlodipine instead of the ramipril now.", NEW_PILLS, changes=changes)
    assert node("Ana takes amlodipine").status == "hidden"
    assert (node("Ana may eat no grapefruit").until, node("Ana may eat no grapefruit").resolved_by) == ("", None)


@pytest.mark.parametrize("is_named", [True, False])
def test_a_fact_ends_by_the_news_that_the_model_names(
    mira: Persona, model: Script, clock: Clock, is_named: bool
) -> None:
    """Where it names none, or none of this session, the fact ends by the most similar news."""
    remember_life(mira, model, clock)
    session = talk(mira, "Ben and I broke up.", "> Oh.", "And I quit the house with the pear tree.")
    parted, _, quitted = session.messages.order_by("id")
    facts = [
        fact("Ana quit the house with the pear tree.", cite(quitted), domain="work"),
        fact("Ana broke up with Ben.", cite(parted), domain="people"),
    ]
    ended, other = (f"e{node(text).pk}" for text in ("Ana and Ben will buy", "Ana takes ramipril"))

    def verdicts(request: llm.Request) -> dict[str, Any]:
        [fact_id] = re.findall(r"\[(e\d+)\].*broke up with Ben", request.user)
        return {"changes": [{"id": ended, "verdict": "over", "because": fact_id if is_named else other}]}

    model.answers(extraction(facts=facts), verdicts)
    runner.run(session.pk, clock)
    called_off = node("Ana and Ben will buy")
    cause = node("Ana broke up" if is_named else "Ana quit")
    assert (called_off.plan_state, called_off.resolved_by) == ("cancelled", cause)


def test_a_plan_of_somebody_else_is_not_done_with_it(mira: Persona, model: Script, clock: Clock) -> None:
    day = {"domain": "plans", "since": "2026-03-10", "until": "2026-03-10"}
    session = talk(mira, "Ben has a dentist appointment on 10 March, and Zoe, too.", "> I see.", "It rains.")
    evidence = cite(session.messages.earliest("id"))
    plans = [fact(f"{name} has a dentist appointment.", evidence, state="planned", **day) for name in ("Ben", "Zoe")]
    model.answers(extraction(facts=plans))
    runner.run(session.pk, clock)
    went = ("Ben had the dentist appointment.", "", {"state": "done", **day})
    consolidate_news(mira, model, clock, "Ben's dentist appointment on 10 March went well.", went, changes=[])
    assert (node("Ben has").plan_state, node("Zoe has").plan_state) == ("done", "planned")


@each_row(
    ("description", "is_over"),
    [
        ("Ana takes ramipril once a day.", False),
        ("Ana works late shifts at Kone.", False),
        ("Ana is deaf in her left ear.", False),
        ("Ana works from eight until four.", False),
        ("Ana is used to cold mornings.", False),
        ("安娜十点以前睡觉。", False),
        ("Ana once lived in Rome.", True),
        ("Ana's late husband was a smith.", True),
        ("Ana left Kone in 2019.", True),
        ("Ana lived in Rome until May 2019.", True),
        ("Ana used to smoke.", True),
        ("安娜以前住在罗马。", True),
        ("安娜不在邮局上班了。", True),
        ("安娜已经不住北京了。", True),
        ("安娜不喝酒了。", True),
        ("安娜忍不住哭了。", False),
        ("安娜记不住密码了。", False),
        ("安娜忍不住喝酒了。", False),
        ("安娜不得不工作了。", False),
        ("安娜差不多工作了十年了。", False),
        ("安娜不到十岁就工作了。", False),
        ("安娜睡不好就喝酒了。", False),
    ],
)
def test_a_fact_says_itself_whether_it_is_past(description: str, is_over: bool) -> None:
    assert rivals.is_told_as_over(description) is is_over

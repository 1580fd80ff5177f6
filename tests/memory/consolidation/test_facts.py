"""Facts beside events: each is checked and stored by itself, with the quote that supports it."""

from datetime import date, timedelta
from typing import Any

import pytest

from echovessel.embeddings import embedding
from memory import forgetting
from memory.consolidation import runner
from memory.consolidation.fact_checks import is_goodbye
from memory.consolidation.known import known_memories
from memory.consolidation.messages import messages_of
from memory.forgetting import Target, plan, verify
from memory.models import ConceptNode, Extraction
from memory.recall import recall
from memory.store.writing import Draft, write
from persona.models import Persona
from tests.memory.sessions import Clock, cite, event, extraction, talk
from tests.memory.store.test_writing import put, toward
from tests.scripted import Script
from tests.table import each_row


def fact(description: str, *evidence: dict[str, str], **values: Any) -> dict[str, Any]:
    return {
        "description": description,
        "whose": "owner",
        "domain": "about",
        "state": None,
        "since": None,
        "until": None,
        "evidence": list(evidence),
        "supersedes": [],
        "confidence": 0.9,
    } | values


def loop(description: str, *evidence: dict[str, str], **values: Any) -> dict[str, Any]:
    return {"description": description, "owed_by": "owner", "due": None, "evidence": list(evidence)} | values


LIFE = (
    "I'm Ana, I'm a nurse, and I live in Basel since 2019.",
    "> How lovely! Do you have family there?",
    "No. My sister Rosa lives in York, I visit her every spring.",
    "> I grew up by the sea, in Brighton.",
    "I can't eat nuts, they'd kill me. And I play the cello.",
)


def test_every_lasting_thing_of_a_piece_is_kept_with_whose_it_is_and_what_it_is_about(
    mira: Persona, model: Script, clock: Clock
) -> None:
    session = talk(mira, *LIFE)
    who, _, sister, sea, nuts = session.messages.order_by("id")
    model.answers(
        extraction(
            facts=[
                fact("Ana is a nurse.", cite(who, "I'm a nurse"), domain="work and study"),
                fact("Ana lives in Basel.", cite(who, "I live in Basel since 2019"), domain="home", since="2019"),
                fact("Rosa lives in York.", cite(sister, "My sister Rosa lives in York"), whose="Rosa", domain="home"),
                fact("Ana visits her sister Rosa every spring.", cite(sister), domain="plans"),
                fact("Ana is allergic to nuts.", cite(nuts, "I can't eat nuts, they'd kill me."), domain="health"),
                fact("Ana plays the cello.", cite(nuts, "I play the cello"), domain="likes"),
                fact("Mira grew up in Brighton, by the sea.", cite(sea), whose="persona", domain="about"),
            ],
            mentioned_entities=[{"canonical_name": "Rosa", "kind": "person", "relation": "sister"}],
        )
    )
    runner.run(session.pk, clock)
    facts = {node.description: node for node in ConceptNode.objects.filter(kind="fact")}
    assert len(facts) == 7
    assert not Extraction.objects.get().dropped
    assert {node.status for node in facts.values()} == {"active"}
    assert {node.emotional_impact for node in facts.values()} == {0}
    home = facts["Ana lives in Basel."]
    assert (home.domain, home.subject, home.since, home.event_time_start) == ("home", "user", "2019", None)
    assert facts["Rosa lives in York."].subject == "other"
    assert facts["Mira grew up in Brighton, by the sea."].subject == "persona"
    assert facts["Ana is a nurse."].domain == "work"
    assert list(facts["Rosa lives in York."].entities.values_list("canonical_name", flat=True)) == ["Rosa"]
    assert facts["Ana is allergic to nuts."].concern == "health"


def test_a_model_that_ignores_the_new_fields_is_read_as_before(mira: Persona, model: Script, clock: Clock) -> None:
    session = talk(mira, *LIFE)
    model.answers(extraction([event("Ana visits Rosa.", cite(session.messages.all()[2]))]))
    runner.run(session.pk, clock)
    assert list(ConceptNode.objects.values_list("kind", flat=True)) == ["event"]


def test_unsupported_facts_are_dropped_and_counted_each(mira: Persona, model: Script, clock: Clock) -> None:
    session = talk(mira, *LIFE)
    who, question, sister, sea, nuts = session.messages.order_by("id")
    wrong = [
        fact("Ana is a surgeon.", cite(who, "I'm a surgeon")),
        fact("Ana is a nurse in York.", cite(who, "I'm a nurse"), cite(sister, "I work in York")),
        fact("Ana has family in Basel.", cite(question), domain="people"),
        fact("Ana grew up in Brighton.", cite(sea)),
        fact("Mira plays the cello.", cite(nuts, "I play the cello"), whose="persona"),
        fact("Mira plays the cello.", cite(nuts, "I play the cello")),
        fact("A sister lives in York.", cite(sister), whose="Rosa"),
        fact("No words."),
        fact("Of another talk.", {"message_id": "m999999", "quote": "I live"}),
        {"description": "No domain.", "whose": "owner", "evidence": [cite(who)]},
        fact("", cite(who)),
        "Ana likes tea.",
    ]
    right = fact("Ana is a nurse.", cite(who, "I'm a nurse"), domain="work")
    model.answers(extraction(facts=[*wrong, right, right]))
    runner.run(session.pk, clock)
    assert list(ConceptNode.objects.values_list("description", flat=True)) == ["Ana is a nurse."]
    assert Extraction.objects.get().dropped == len(wrong) + 1


def test_of_sixty_facts_the_first_are_taken_and_the_persona_s_own_have_their_own_room(
    mira: Persona, model: Script, clock: Clock
) -> None:
    session = talk(mira, "I own many things.", "> So do I.", "Yes.")
    mine, hers, _ = session.messages.order_by("id")
    poured = [
        fact(f"Ana owns {word} number {number}.", cite(mine), domain="belongings")
        for number, word in enumerate(["a lamp", "an oboe", "a kite", "a bell", "a drum", "a rug"] * 10)
    ]
    own = [
        fact(f"Mira owns {possession}.", cite(hers), whose="persona", domain="belongings")
        for possession in ("a boat", "a violin", "a garden", "an attic", "a telescope", "a horse")
    ]
    model.answers(extraction(facts=[*poured, *own]))
    runner.run(session.pk, clock)
    stored_facts = ConceptNode.objects.filter(kind="fact")
    assert (stored_facts.filter(subject="user").count(), stored_facts.filter(subject="persona").count()) == (6, 4)
    assert Extraction.objects.get().dropped == 54 + 2


def test_times_that_nobody_told_are_left_out_and_the_fact_stays(mira: Persona, model: Script, clock: Clock) -> None:
    session = talk(mira, "I play chess.", "I moved to Basel in spring 2019.", "I gave up smoking last year.")
    chess, basel, smoke = session.messages.order_by("id")
    model.answers(
        extraction(
            facts=[
                fact("Ana plays chess.", cite(chess), since="2011-04-02", domain="likes"),
                fact("Ana moved to Basel.", cite(basel), since="spring 2019", until="2012", domain="home"),
                fact("Ana no longer smokes.", cite(smoke), since="2025", domain="health"),
            ]
        )
    )
    runner.run(session.pk, clock)
    times = {node.description: (node.since, node.until) for node in ConceptNode.objects.all()}
    assert times == {
        "Ana plays chess.": ("", ""),
        "Ana moved to Basel.": ("2019-spring", ""),
        "Ana no longer smokes.": ("2025", ""),
    }
    assert Extraction.objects.get().dropped == 2


def test_a_plan_has_a_state_and_the_days_for_which_it_is_planned(mira: Persona, model: Script, clock: Clock) -> None:
    session = talk(mira, "In spring 2027 I'll walk to Rome.", "The move to Oslo is off.", "I like it.")
    rome, oslo, like = session.messages.order_by("id")
    model.answers(
        extraction(
            facts=[
                fact("Ana plans to walk to Rome.", cite(rome), domain="plans", state="planned", since="2027-spring"),
                fact("Ana's move to Oslo is off.", cite(oslo), domain="plans", state="canceled"),
                fact("Ana likes it.", cite(like), domain="likes", state="planned"),
            ]
        )
    )
    runner.run(session.pk, clock)
    rome_, oslo_, like_ = ConceptNode.objects.order_by("id")
    assert (rome_.plan_state, oslo_.plan_state, like_.plan_state) == ("planned", "cancelled", "")
    assert (rome_.event_time_start, rome_.event_time_end) == (date(2027, 3, 1), date(2027, 5, 31))


def test_loops_are_open_both_ways_and_neither_a_goodbye_nor_a_day_long_past_is_one(
    mira: Persona, model: Script, clock: Clock
) -> None:
    session = talk(
        mira,
        "My interview is on Friday. I'll tell you how it went!",
        "> I'll ask you about it on Friday. Talk to you tomorrow!",
        "Talk to you tomorrow. I'd have called on Monday.",
    )
    interview, promise, bye = session.messages.order_by("id")
    model.answers(
        extraction(
            open_loops=[
                loop("Ana will tell how the interview went.", cite(interview, "I'll tell you how it went!")),
                loop(
                    "Mira will ask about the interview.",
                    cite(promise, "I'll ask you about it on Friday"),
                    owed_by="persona",
                    due="2026-03-06",
                ),
                loop(
                    "Mira will talk to Ana.",
                    cite(promise, "Talk to you tomorrow!"),
                    owed_by="persona",
                    due="2026-03-06",
                ),
                loop("Ana will talk to Mira.", cite(bye, "Talk to you tomorrow."), due="2026-03-06"),
                loop("Ana will call.", cite(bye, "I'd have called on Monday"), due="2026-03-02"),
                loop("Ana will ask.", cite(promise, "I'll ask you about it on Friday")),
                loop("Mira will ask some day.", cite(promise, "I'll ask you"), owed_by="persona"),
            ]
        )
    )
    runner.run(session.pk, clock)
    owed = ConceptNode.objects.order_by("id").values_list("kind", "subject", "description", "event_time_end", "status")
    assert list(owed) == [
        ("expectation", "user", "Ana will tell how the interview went.", None, "active"),
        ("intention", "persona", "Mira will ask about the interview.", date(2026, 3, 6), "active"),
    ]
    assert Extraction.objects.get().dropped == 5


@each_row(
    ("text", "is_leave"),
    [
        ("Talk to you tomorrow!", True),
        ("See you later, good night.", True),
        ("Ok bye, chat soon", True),
        ("Can't wait to hear from you again", True),
        ("明天聊！", True),
        ("好的，那明天见，晚安", True),
        ("回头再聊吧", True),
        ("I'll tell you tomorrow how it went", False),
        ("I'll send you the recipe on Sunday", False),
        ("See you at the clinic tomorrow", False),
        ("明天告诉你结果", False),
        ("下周我把照片发给你", False),
        ("", False),
        ("see you " * 200, False),
    ],
)
def test_a_goodbye_is_told_from_a_promise(text: str, is_leave: bool) -> None:
    assert is_goodbye(text) is is_leave


def test_what_changes_can_be_replaced_because_the_model_is_shown_it(mira: Persona, model: Script, clock: Clock) -> None:
    """After a year of other messages a plan, a home, a liking, a partner and a pet are still shown to the model."""
    texts = ("I live in Basel.", "I love steak.", "Tom is my boyfriend.", "I'll run in Rome.", "Rex is my dog.")
    first = talk(mira, *texts)
    home, steak, tom, rome, rex = first.messages.order_by("id")
    model.answers(
        extraction(
            facts=[
                fact("Ana lives in Basel.", cite(home), domain="home"),
                fact("Ana loves steak.", cite(steak), domain="likes"),
                fact("Tom is Ana's boyfriend.", cite(tom), domain="people", whose="Tom"),
                fact("Ana plans to run in Rome.", cite(rome), domain="plans", state="planned"),
                fact("Rex is Ana's dog.", cite(rex), domain="belongings", whose="Rex"),
            ],
            mentioned_entities=[
                {"canonical_name": "Tom", "kind": "person", "relation": "boyfriend"},
                {"canonical_name": "Rex", "kind": "pet", "relation": "dog"},
            ],
        )
    )
    runner.run(first.pk, clock)
    for number in range(30):
        put(mira, f"Ana read the book number {number}.", toward(number % 300 + 5), session=first)
    clock.forward(days=365)
    changes = {
        "I moved to Oslo.": fact("Ana lives in Oslo.", domain="home"),
        "I'm vegetarian now, no more steak.": fact("Ana is a vegetarian and no longer eats steak.", domain="likes"),
        "Tom and I broke up.": fact("Ana and Tom are no longer together.", domain="people", whose="Tom"),
        "The run in Rome is off.": fact("Ana's run in Rome is off.", domain="plans", state="cancelled"),
        "Rex died on Monday.": fact("Rex is dead.", domain="belongings", whose="Rex"),
    }
    replaced = ["in Basel.", "loves steak.", "boyfriend.", "run in Rome.", "Ana's dog."]
    second = talk(mira, *changes, at=clock.now)
    messages = list(second.messages.order_by("id"))

    def read(request: Any) -> Any:
        stored_ids = {memory["description"]: memory["id"] for memory in request.material["known"]}
        facts = []
        for message, change, text in zip(messages, changes.values(), replaced, strict=True):
            [old] = [key for description, key in stored_ids.items() if description.endswith(text)]
            facts.append(change | {"evidence": [cite(message)], "supersedes": [old]})
        return extraction(facts=facts)

    model.answers(read)
    clock.forward(minutes=31)
    assert runner.run(second.pk, clock) == runner.Outcome.CLOSED
    standing = set(ConceptNode.objects.recallable().filter(kind="fact").values_list("description", flat=True))
    assert standing == {change["description"] for change in changes.values()}
    past = ConceptNode.objects.filter(kind="fact", status="superseded")
    assert past.count() == 5
    result = recall(
        mira, ["What do I eat, where do I live, and how are Tom and Rex?"], now=clock.now, budget_tokens=1_500
    )
    recalled_text = "\n".join(item.text for item in result.items)
    assert not [text for text in (*replaced, *texts) if text in recalled_text]


def test_what_is_shown_stays_within_its_limit_and_begins_with_core_facts(
    mira: Persona, clock: Clock, settings: Any
) -> None:
    settings.KNOBS = {"consolidate.known_tokens": 200}
    session = talk(mira, "Tell me about bees.")
    for number in range(80):
        put(mira, f"Ana keeps a diary of bees, volume {number}.", toward(number), session=session)
    put(mira, "Ana is a nurse.", toward(90), kind="fact", domain="about", session=session)
    memories = known_memories(mira, messages_of(session))
    assert memories[0].description == "Ana is a nurse."
    assert 5 < len(memories) < 20
    settings.KNOBS = {"consolidate.known_tokens": 0}
    assert known_memories(mira, messages_of(session)) == []


def test_facts_that_are_known_are_no_second_memory_however_long_ago_they_were_told(
    mira: Persona, model: Script, clock: Clock
) -> None:
    allergy = fact("Ana is allergic to nuts.", domain="health")
    for _ in range(2):
        session = talk(mira, "By the way, I'm allergic to nuts, remember that.", at=clock.now)
        model.answers(extraction(facts=[allergy | {"evidence": [cite(session.messages.get())]}]))
        clock.forward(days=400)
        runner.run(session.pk, clock)
    node = ConceptNode.objects.get(kind="fact")
    assert (node.mention_count, node.evidence.count()) == (2, 2)
    assert list(Extraction.objects.order_by("id").values_list("dropped", flat=True)) == [0, 1]


def test_a_forgotten_fact_and_what_is_owed_leave_no_word_and_do_not_come_back(
    mira: Persona, model: Script, clock: Clock
) -> None:
    session = talk(mira, "I have a glass eye since 2019.", "I'll tell you about the quilt.", "I like it.")
    eye, quilt, _ = session.messages.order_by("id")
    facts = [fact("Ana has a glass eye.", cite(eye), domain="health", since="2019")]
    loops = [loop("Ana will tell about the quilt.", cite(quilt))]
    model.answers(extraction(facts=facts, open_loops=loops))
    runner.run(session.pk, clock)
    for node, word in zip(ConceptNode.objects.order_by("id"), ("glass", "quilt"), strict=True):
        forgetting.forget(plan([Target("node", node.pk)]), None, clock.now)
        assert verify.find_texts([word]) == []
    assert not ConceptNode.objects.exists()
    again = [fact("Ana has a glass eye.", cite(eye), domain="health")]
    draft = Draft(kind="fact", description=again[0]["description"], source="slow_cycle", domain="health")
    assert write(mira, draft, toward(0), embedding.name(), clock.now).outcome == "refused"


@pytest.mark.real_embeddings
def test_five_facts_of_one_session_are_found_after_ten_days_and_a_hundred_others_in_other_words(
    mira: Persona, model: Script, clock: Clock
) -> None:
    questions = {
        "Ana's sister lives in York.": "Do I have any family in the north of England?",
        "Ana cannot eat shellfish.": "Which food makes me ill?",
        "Ana works as a nurse at night.": "What's my job?",
        "Ana plays the cello in an orchestra.": "Which instrument do I play?",
        "Ana's cat is called Milo.": "What's the name of my pet?",
    }
    session = talk(mira, "My life, told at once.", "> Go on.", "That is all.")
    message = session.messages.all()[0]
    domains = ("people", "health", "work", "likes", "belongings")
    life_facts = [
        fact(description, cite(message, "My life"), domain=domain)
        for description, domain in zip(questions, domains, strict=True)
    ]
    model.answers(extraction(facts=life_facts))
    runner.run(session.pk, clock)
    things = ("weather", "traffic", "film", "recipe", "walk", "news", "book", "dream", "match", "bill")
    texts = [f"Ana talked about the {name} of day {day}." for day in range(10) for name in things]
    for number, (text, vector) in enumerate(zip(texts, embedding.embed(texts), strict=True)):
        at = clock.now + timedelta(hours=2 * number)
        put(mira, text, vector, now=at, created_at=at)
    clock.forward(days=10)
    recalled = {
        description: [item.text for item in recall(mira, [question], now=clock.now, budget_tokens=1_500).items]
        for description, question in questions.items()
    }
    assert [
        description for description, items in recalled.items() if not any(description in item for item in items)
    ] == []

"""What comes first for what is asked: the newest of a thread, the last of a feeling; and the titles beside memories."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from echovessel.language.feelings import asks_when_last
from echovessel.language.overview import asks_for_overview
from echovessel.llm.offline.reply import reply
from memory.curation import threads
from memory.models import ConceptNode, Thread
from memory.recall import recall
from persona.models import Persona

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
Remember = Callable[..., ConceptNode]


def ask(persona: Persona, *turns: str, budget: int = 400) -> Any:
    return recall(persona, turns, now=NOW, budget_tokens=budget)


def told(persona: Persona, remember: Remember, *texts: str, **fields: Any) -> list[ConceptNode]:
    """Events told a week apart, the last one yesterday."""
    at = [NOW - timedelta(days=1 + 7 * (len(texts) - 1 - place)) for place in range(len(texts))]
    return [remember(persona, text, created_at=moment, **fields) for text, moment in zip(texts, at, strict=True)]


@pytest.fixture
def house(mira: Persona, remember: Remember) -> Thread:
    nodes = told(
        mira, remember, "Ana saw a house in Basel.", "The owner of the house wants more.", "Ana got the keys, finally."
    )
    told(mira, remember, "Ana swims in the lake.", "Ana baked bread.", "Nina painted a house on a postcard.")
    thread = threads.begin(mira, "The house in Basel", nodes, "ended", NOW)
    assert thread
    return thread


@pytest.mark.parametrize(
    ("language", "question", "note"),
    [
        ("en", "How did the house thing go?", "(part of “The house in Basel”: ended)"),
        ("zh", "Basel house 后来怎么样了？", "（属于“The house in Basel”：已经结束）"),
    ],
)
def test_how_it_went_is_answered_with_the_newest_and_the_state(
    mira: Persona, house: Thread, language: str, question: str, note: str
) -> None:
    mira.language = language
    found = ask(mira, question)
    assert [item.content for item in found.items][:3] == [
        "Ana got the keys, finally.",
        "The owner of the house wants more.",
        "Ana saw a house in Basel.",
    ]
    assert found.items[0].text.endswith(note)
    assert sum(note in item.text for item in found.items) == 1
    assert sum(item.tokens for item in found.items) == found.xray.tokens <= 400
    assert "thread" in [record.name for record in found.xray.arms]


def test_a_dissolved_thread_and_one_that_is_not_meant_lead_nowhere(mira: Persona, house: Thread) -> None:
    for question in ("How did the bread turn out?", "How are you doing?"):
        assert "thread" not in [record.name for record in ask(mira, question).xray.arms]
    threads.dissolve(house, NOW)
    found = ask(mira, "How did the house thing go?")
    assert "thread" not in [record.name for record in found.xray.arms]
    assert not any("part of" in item.text for item in found.items)


def test_a_memory_brings_the_title_of_its_thread_only_where_the_budget_has_room(mira: Persona, house: Thread) -> None:
    roomy = ask(mira, "Tell me about the keys")
    [keys] = [item for item in roomy.items if "keys" in item.content]
    assert keys.text.endswith("(part of “The house in Basel”)")
    tight = ask(mira, "Tell me about the keys", budget=keys.tokens - 1)
    assert [item.content for item in tight.items] == [keys.content]
    assert "part of" not in tight.items[0].text


def test_no_question_but_one_about_how_it_went_costs_a_statement(mira: Persona, house: Thread) -> None:
    def statements(question: str) -> int:
        ask(mira, question)
        with CaptureQueriesContext(connection) as queries:
            ask(mira, question)
        return len(queries)

    plain, asked = statements("the house in Basel"), statements("how did the house in Basel go")
    Thread.objects.all().delete()
    assert statements("the house in Basel") == plain
    assert statements("how did the house in Basel go") == asked - 1


def test_when_it_was_felt_last_is_answered_with_the_last_times(mira: Persona, remember: Remember) -> None:
    told(mira, remember, "Ana wept for her cat.", "Ana won a race.", "Ana missed the train.", emotional_impact=-4)
    sad = remember(mira, "Ana's aunt died.", emotion_tags=["grief"], created_at=NOW - timedelta(days=30))
    tired = remember(mira, "Ana worked all night.", emotion_tags=["exhausted"], created_at=NOW - timedelta(days=2))
    found = ask(mira, "When did I last feel this sad?")
    assert [item.content for item in found.items][:2] == ["Ana wept for her cat.", sad.description]
    assert "feeling" in [record.name for record in found.xray.arms]
    found = ask(mira, "I'm so tired today.", "When did I last feel like this?")
    assert found.items[0].content == tired.description
    assert "feeling" not in [record.name for record in ask(mira, "When did I last see Tom?").xray.arms]


def test_when_it_was_felt_last_is_heard_in_both_languages() -> None:
    asked = [
        "When did I last feel like this?",
        "When was the last time I felt so lonely?",
        "Have I felt this way before?",
    ]
    asked += ["我上次这么难过是什么时候？", "我以前有没有这样过"]
    assert [text for text in asked if not asks_when_last(text)] == []
    others = ["When was the last time I saw Tom?", "上次见Tom是什么时候", "I feel sad."]
    assert [text for text in others if asks_when_last(text)] == []


def test_memory_mode_says_how_it_went_and_when_it_was_felt() -> None:
    def say(question: str, lead: str, text: str, when: str, before: str = "") -> str:
        recollection = {"text": text, "layer": "L3", "speaker": None, "when": when, "lead": lead}
        other = {"text": "Ana saw a house in Basel.", "layer": "L3", "speaker": None, "when": "", "lead": ""}
        names = {"persona_name": "Mira", "user_name": "Ana", "language": "en"}
        lines = [line for line in (before, question) if line]
        return reply(names | {"lines": lines, "recollections": [recollection, other], "recent": []})

    went = say("How did the house thing go?", "ended", "Ana got the keys, finally.", "yesterday")
    assert "you got the keys, finally." in went.casefold()
    assert "over" in went
    assert "还在继续" in say("房子的事后来怎么样了？", "open", "安娜签了合同。", "昨天")
    felt = say("When did I last feel like this?", "feeling", "Ana worked all night.", "two days ago", "I'm so tired.")
    assert "worked all night" in felt
    assert "two days ago" in felt
    assert "worked all night" not in say("What's my cat called?", "feeling", "Ana worked all night.", "two days ago")


def test_what_is_known_at_all_is_one_thing_of_each_side_of_a_life(mira: Persona, remember: Remember) -> None:
    """Whatever is near to the words of the question; and memory mode lists it."""
    pets = [remember(mira, f"Ana's cat did trick number {number}.") for number in range(12)]
    remember(mira, "Mira likes the sea.", subject="persona")
    sides = [
        remember(mira, "Ana lives in Basel."),
        remember(mira, "Ana is a nurse at the hospital."),
        remember(mira, "Ana's sister Ruth is getting divorced.", emotional_impact=-6),
    ]
    for asked in ("So, what do you know about me?", "你都知道我些什么？"):
        found = ask(mira, asked)
        leads = [item for item in found.items if item.lead == "overview"]
        assert {item.content for item in leads} >= {node.description for node in [*sides, pets[-1]]}
        assert "Mira likes the sea." not in {item.content for item in leads}
    assert not any(item.lead for item in ask(mira, "What do you know about my cat?").items)
    known = {"persona_name": "Mira", "user_name": "Ana", "language": "en", "lines": ["What do you know about me?"]}
    told = [{"text": text, "layer": "L3", "speaker": None} for text in ("Ana: “I live in Basel.”", "Ana is a nurse.")]
    said = reply(known | {"recollections": told[:1], "always_known": told[1:]})
    assert "“I live in Basel.”" in said
    assert "you are a nurse" in said.casefold()
    assert "nothing" in reply(known)


def test_only_questions_for_all_knowledge_ask_for_an_overview() -> None:
    heard = [
        "what have you learned about me so far", "tell me everything you know about me", "How well do you know me?",
        "What kind of person am I?", "你记得我哪些事", "你对我了解多少", "关于我你知道什么", "我在你眼里是个什么样的人",
    ]  # fmt: skip
    assert [text for text in heard if not asks_for_overview(text)] == []
    others = [
        "What do you know about my dog?", "what do you know about me and Sam", "do you know what I mean", "你知道吗",
        "你知道我妹妹在哪吗？", "他知道了吗", "我不知道该怎么办", "你知道我今天吃了什么吗",
    ]  # fmt: skip
    assert [text for text in others if asks_for_overview(text)] == []

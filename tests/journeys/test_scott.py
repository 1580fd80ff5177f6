"""Scott is 黄逸扬: two names, two entities, a question, an answer, and one memory of both."""

from collections.abc import Callable
from typing import Any

import pytest

from chat.messages import receive_message
from chat.prompt import assemble
from chat.turns import turn as turns
from echovessel.llm.request import Request
from memory.consolidation import runner
from memory.consolidation.runner import Outcome
from memory.entities.clarify import note_hint
from memory.models import Alias, ConceptNode, Entity, MergeProposal
from memory.recall import recall
from persona.models import Persona
from tests.memory.sessions import Clock, event, extraction, talk
from tests.scripted import Script

pytestmark = pytest.mark.django_db

AS_SCOTT = "Scott是Ana公司的产品经理，周末常和她打羽毛球。"
AS_HUANG = "Ana公司的产品经理黄逸扬周末和她打了羽毛球。"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def model(scripted: Script, settings: Any) -> Script:
    settings.LLM_PROVIDER = "tests.memory.sessions.ListeningProvider"
    return scripted


def told(persona: Persona, clock: Clock, *lines: str) -> list[Any]:
    """A talk that is over and read; its lines."""
    clock.forward(hours=3)
    session = talk(persona, *lines, at=clock.now)
    clock.forward(hours=1)
    assert runner.run(session.pk, clock) == Outcome.CLOSED
    return list(session.messages.order_by("id"))


def hearing(description: str, name: str) -> Callable[[Request], Any]:
    """A model that makes one event of the first line, about one person."""

    def answer(request: Request) -> Any:
        line = request.material["lines"][0]
        said = event(description, {"message_id": line["id"], "quote": line["content"]})
        entity = {"canonical_name": name, "aliases": [], "kind": "person", "in_events": [0]}
        return extraction([said], mentioned_entities=[entity], session_summary="")

    return answer


def listening(same: bool) -> Callable[[Request], Any]:
    """A model that hears the answer to the pair in question."""

    def answer(request: Request) -> Any:
        [(first, second)] = request.material["pairs_in_question"]
        # Two of one name are told apart by what is known of them.
        listed = f"\n{first} (" if first == second else f"\n{first} / {second}\n"
        assert listed in request.user
        return extraction(entity_clarification={"first": first, "second": second, "same": same}, session_summary="")

    return answer


def prompted(persona: Persona, clock: Clock, line: str) -> assemble.Prompt:
    """The prompt of a turn, which then ends well."""
    receive_message(persona, line, None, "web", clock.now)
    claimed = turns.claim(persona.pk, clock.now)
    assert claimed is not None
    made = assemble.assemble(claimed, clock.now)
    turns.finish(claimed, "I see.", stopped=False, first_token_at=clock.now, xray=made.xray, now=clock.now)
    claimed.refresh_from_db()
    note_hint(claimed, clock.now)
    return made


def recalled(persona: Persona, line: str, clock: Clock) -> set[str]:
    return {
        item.content for item in recall(persona, [line], now=clock.now, budget_tokens=1_500).items if item.layer == "L3"
    }


def both_were_told(persona: Persona, model: Script, clock: Clock, *order: tuple[str, str]) -> MergeProposal:
    for description, name in order:
        model.answers(hearing(description, name))
        told(persona, clock, f"我跟你说说{name}：他是我们公司的产品经理，周末我们一起打羽毛球。", "> 嗯", "就是这样。")
    proposal: MergeProposal = MergeProposal.objects.get()
    return proposal


@pytest.mark.parametrize("scott_first", [True, False])
def test_two_names_become_one_when_the_user_says_so(
    mira: Persona, model: Script, clock: Clock, scott_first: bool
) -> None:
    order = [(AS_SCOTT, "Scott"), (AS_HUANG, "黄逸扬")][:: 1 if scott_first else -1]
    proposal = both_were_told(mira, model, clock, *order)
    first, second = Entity.objects.order_by("id")
    assert (first.status, second.status) == ("confirmed", "uncertain")
    assert proposal.score >= 0.65
    assert set(proposal.reasons) == {"other_script", "similar_memories"}

    asked = prompted(mira, clock, "今天又见到Scott了")
    assert "# Not sure yet" in asked.system
    clock.forward(hours=1)
    assert "# Not sure yet" not in prompted(mira, clock, "黄逸扬也在").system

    model.structured.clear()
    model.answers(listening(same=True))
    told(mira, clock, "> Scott和黄逸扬是同一个人吗？", "对，Scott就是黄逸扬。")
    proposal.refresh_from_db()
    second.refresh_from_db()
    assert (proposal.status, second.status, second.merged_into) == ("merged", "merged", first)
    for name in ("Scott", "黄逸扬"):
        assert {AS_SCOTT, AS_HUANG} <= recalled(mira, f"{name}最近怎么样？", clock)
    clock.forward(days=2)
    assert "# Not sure yet" not in prompted(mira, clock, "Scott来了").system

    model.structured.clear()
    model.answers(hearing("黄逸扬请Ana吃了火锅。", "黄逸扬"))
    told(mira, clock, "黄逸扬请我吃了火锅。", "> 好吃吗？", "很好吃。")
    assert ConceptNode.objects.get(description="黄逸扬请Ana吃了火锅。").entities.get() == first


def test_two_people_stay_two_when_the_user_says_so(mira: Persona, model: Script, clock: Clock) -> None:
    proposal = both_were_told(mira, model, clock, (AS_SCOTT, "Scott"), (AS_HUANG, "黄逸扬"))
    model.structured.clear()
    model.answers(listening(same=False))
    told(mira, clock, "Scott和黄逸扬不是同一个人。")
    proposal.refresh_from_db()
    assert proposal.status == "kept_apart"
    assert set(Entity.objects.values_list("status", flat=True)) == {"confirmed"}
    model.structured.clear()
    model.answers(hearing("黄逸扬和Ana去爬了山，他是Ana公司的产品经理。", "黄逸扬"))
    told(mira, clock, "黄逸扬和我去爬了山。", "> 累吗？", "有点累。")
    assert MergeProposal.objects.count() == 1
    assert Entity.objects.count() == 2
    assert "# Not sure yet" not in prompted(mira, clock, "Scott来了").system


@pytest.mark.real_embeddings
def test_said_before_anybody_asked_it_holds_too(mira: Persona, model: Script, clock: Clock) -> None:
    for description, name in (("Scott taught Ana to sail.", "Scott"), ("黄逸扬借给Ana一本书。", "黄逸扬")):
        model.structured.clear()
        model.answers(hearing(description, name))
        told(mira, clock, f"Let me tell you of {name}.", "> Yes?", "That was all.")
    assert not MergeProposal.objects.exists()
    model.structured.clear()
    model.answers(extraction(entity_clarification=[{"first": "Scott", "second": "黄逸扬", "same": True}]))
    told(mira, clock, "By the way: Scott is 黄逸扬.")
    assert MergeProposal.objects.get().status == "merged"
    for name in ("Scott", "黄逸扬"):
        assert recalled(mira, f"How is {name}?", clock) == {"Scott taught Ana to sail.", "黄逸扬借给Ana一本书。"}


def test_a_merge_needs_a_message_of_the_session_that_names_both(mira: Persona, model: Script, clock: Clock) -> None:
    both_were_told(mira, model, clock, (AS_SCOTT, "Scott"), (AS_HUANG, "黄逸扬"))
    model.structured.clear()
    model.answers(extraction(entity_clarification={"first": "Scott", "second": "黄逸扬", "same": True}))
    told(mira, clock, "I baked bread today.", "> Nice!", "It was good.")
    assert MergeProposal.objects.get().status == "open"


def test_of_two_who_were_never_in_question_one_name_alone_says_nothing(
    mira: Persona, model: Script, clock: Clock
) -> None:
    """A model that guesses makes no two people one."""
    for description, name in (("Scott taught Ana to sail.", "Scott"), ("黄逸扬借给Ana一本书。", "黄逸扬")):
        model.structured.clear()
        model.answers(hearing(description, name))
        told(mira, clock, f"Let me tell you of {name}.", "> Yes?", "That was all.")
    model.structured.clear()
    guess = [{"first": "Scott", "second": other, "same": True} for other in ("黄逸扬", "Scotty")]
    model.answers(extraction(entity_clarification=guess))
    told(mira, clock, "Scott was funny today.", "> How so?", "He sang.")
    assert not MergeProposal.objects.exists()
    assert Alias.objects.count() == 2


@pytest.mark.parametrize(
    ("first", "second", "answer"),
    [
        ("我有个同事叫Scott，我们周末常打羽毛球。", "我有个同事叫黄逸扬，我们周末常打羽毛球。", "Scott就是黄逸扬。"),
        ("I have a colleague named Scott.", "我有个同事叫黄逸扬。", "Scott is 黄逸扬."),
    ],
)
def test_without_any_model_the_story_is_the_same(
    mira: Persona, clock: Clock, settings: Any, first: str, second: str, answer: str
) -> None:
    settings.LLM_PROVIDER = "offline"
    told(mira, clock, first, "> …")
    told(mira, clock, second, "> …")
    assert list(Entity.objects.order_by("id").values_list("canonical_name", flat=True)) == ["Scott", "黄逸扬"]
    told(mira, clock, answer)
    assert Entity.objects.get(status="merged").canonical_name == "黄逸扬"
    memories = set(
        ConceptNode.objects.filter(kind="event", entities__isnull=False).values_list("description", flat=True)
    )
    for name in ("Scott", "黄逸扬"):
        assert len(recalled(mira, f"{name}怎么样？", clock) & memories) >= 2


def test_two_people_of_one_name_stay_two_and_a_bare_name_makes_no_pile(
    mira: Persona, model: Script, clock: Clock
) -> None:
    def two(request: Request) -> Any:
        lines = request.material["lines"]
        said = [
            event(text, {"message_id": line["id"], "quote": line["content"]})
            for text, line in zip(
                ["张伟是Ana的大学同学，在北京当律师。", "张伟是Ana楼下的邻居，养了很多花。"], lines, strict=False
            )
        ]
        people = [{"canonical_name": "张伟", "aliases": [], "kind": "person", "in_events": [at]} for at in (0, 1)]
        return extraction(said, mentioned_entities=people, session_summary="")

    model.answers(two)
    told(mira, clock, "我大学同学张伟在北京当律师。", "楼下邻居也叫张伟，养了很多花。", "真巧。")
    assert list(Entity.objects.order_by("id").values_list("status", flat=True)) == ["confirmed", "uncertain"]
    assert MergeProposal.objects.get().reasons == ["same_name"]
    assert [entity.mentions.count() for entity in Entity.objects.order_by("id")] == [1, 1]

    model.structured.clear()
    model.answers(listening(same=False))
    told(mira, clock, "这两个张伟不是同一个人。")
    assert set(Entity.objects.values_list("status", flat=True)) == {"confirmed"}

    for number in range(3):
        model.structured.clear()
        model.answers(hearing(f"张伟第{number}次打来电话。", "张伟"))
        told(mira, clock, f"张伟第{number}次打来电话。", "> 嗯", "好。")
    assert Entity.objects.count() == 3
    assert Entity.objects.get(status="uncertain").mentions.count() == 3

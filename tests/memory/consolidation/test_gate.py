"""The gates by their cases."""

from datetime import timedelta

from memory.consolidation.gate import Reflections, asks_the_model, decide, is_trivial
from memory.consolidation.messages import PromptMessage
from tests.memory.sessions import NOW
from tests.table import each_row


def create_message(content: str, role: str = "user", tokens: int = 5, number: int = 1) -> PromptMessage:
    return PromptMessage(number, role, content, NOW, tokens)


@each_row(
    ("messages", "trivial"),
    [
        ([], True),
        ([create_message("hi"), create_message("hey", "persona")], True),
        ([create_message("hi"), create_message("hey", "persona"), create_message("how are you?")], False),
        ([create_message("ok", tokens=200)], False),
        ([create_message("ok", tokens=199)], True),
        ([create_message("我妈妈去世了")], False),
        ([create_message("She PASSED AWAY")], False),
        ([create_message("can’t go on")], False),
        ([create_message("hm"), create_message("did someone die? a funeral?", "persona")], True),
        ([create_message("我养了只白猫，叫小黑。"), create_message("真可爱！", "persona")], False),
        ([create_message("I adopted a white cat called Milo."), create_message("Lovely!", "persona")], False),
        ([create_message("在吗？"), create_message("在的。", "persona")], True),
        ([create_message("不对，是周五"), create_message("好的。", "persona")], False),
        ([create_message("No, it's on Friday."), create_message("I see.", "persona")], False),
        ([create_message("不对"), create_message("好的。", "persona")], True),
        ([create_message("你觉得活着累吗？")], False),
        ([create_message("我想死")], False),
        ([create_message("想自残")], False),
        ([create_message("I want to die")], False),
        ([create_message("I cut myself")], False),
        ([create_message("I’m just so tired of living")], False),
        ([create_message("I wish I were dead")], False),
        ([create_message("Is it okay if I tell you that I was raped?")], False),
        ([create_message("hm"), create_message("Do you want to die?", "persona")], True),
    ],
)
def test_only_what_is_short_and_says_nothing_is_trivial(messages: list[PromptMessage], trivial: bool) -> None:
    assert is_trivial(messages) is trivial


def facts(**values: object) -> Reflections:
    return Reflections(
        **({"runs_in_24h": 0, "last_run_at": None, "fresh_impacts": [], "events_since": 1} | values)  # type: ignore[arg-type]
    )


@each_row(
    ("reflections", "reason"),
    [
        (facts(), "timer"),
        (facts(runs_in_24h=3, fresh_impacts=[-9]), "hard_gate"),
        (facts(runs_in_24h=2, last_run_at=NOW - timedelta(hours=1), fresh_impacts=[-8]), "shock"),
        (facts(runs_in_24h=2, last_run_at=NOW - timedelta(hours=1), fresh_impacts=[8]), "shock"),
        (facts(runs_in_24h=1, last_run_at=NOW - timedelta(hours=1), fresh_impacts=[7, -7]), "not_due"),
        (facts(last_run_at=NOW - timedelta(hours=24)), "not_due"),
        (facts(last_run_at=NOW - timedelta(hours=24, seconds=1)), "timer"),
        (facts(events_since=0), "nothing_new"),
    ],
)
def test_hard_gate_then_shock_then_timer(reflections: Reflections, reason: str) -> None:
    assert decide(reflections, NOW) == reason
    assert asks_the_model(reason) is (reason in ("shock", "timer"))

"""The gates by their cases."""

from datetime import timedelta

from memory.consolidation.gate import Reflections, asks_the_model, decide, is_trivial
from memory.consolidation.messages import PromptMessage
from tests.memory.sessions import NOW
from tests.table import each_row


def line(content: str, role: str = "user", tokens: int = 5, number: int = 1) -> PromptMessage:
    return PromptMessage(number, role, content, NOW, tokens)


@each_row(
    ("lines", "trivial"),
    [
        ([], True),
        ([line("hi"), line("hey", "persona")], True),
        ([line("hi"), line("hey", "persona"), line("how are you?")], False),
        ([line("ok", tokens=200)], False),
        ([line("ok", tokens=199)], True),
        ([line("我妈妈去世了")], False),
        ([line("She PASSED AWAY")], False),
        ([line("can’t go on")], False),
        ([line("hm"), line("did someone die? a funeral?", "persona")], True),
        ([line("我养了只白猫，叫小黑。"), line("真可爱！", "persona")], False),
        ([line("I adopted a white cat called Milo."), line("Lovely!", "persona")], False),
        ([line("在吗？"), line("在的。", "persona")], True),
        ([line("不对，是周五"), line("好的。", "persona")], False),
        ([line("No, it's on Friday."), line("I see.", "persona")], False),
        ([line("不对"), line("好的。", "persona")], True),
        ([line("你觉得活着累吗？")], False),
        ([line("我想死")], False),
        ([line("想自残")], False),
        ([line("I want to die")], False),
        ([line("I cut myself")], False),
        ([line("I’m just so tired of living")], False),
        ([line("I wish I were dead")], False),
        ([line("Is it okay if I tell you that I was raped?")], False),
        ([line("hm"), line("Do you want to die?", "persona")], True),
    ],
)
def test_only_what_is_short_and_says_nothing_is_trivial(lines: list[PromptMessage], trivial: bool) -> None:
    assert is_trivial(lines) is trivial


def facts(**values: object) -> Reflections:
    return Reflections(
        **({"runs_in_24h": 0, "last_run_at": None, "fresh_impacts": [], "events_since": 1} | values)  # type: ignore[arg-type]
    )


@each_row(
    ("given", "reason"),
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
def test_hard_gate_then_shock_then_timer(given: Reflections, reason: str) -> None:
    assert decide(given, NOW) == reason
    assert asks_the_model(reason) is (reason in ("shock", "timer"))

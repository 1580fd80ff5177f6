"""The policy: whether the persona speaks first, and if not, which gate refuses. Pure: facts in, decision out."""

from dataclasses import dataclass

from proactive.models.consideration import Consideration, Gate
from proactive.policy.gates import GATES
from proactive.policy.situation import Situation
from proactive.policy.triggers import Reason

Verdict = Consideration.Verdict


@dataclass(frozen=True)
class Decision:
    """The verdict, the gate that refused (None if the persona speaks), and the best reason to speak, if any."""

    verdict: Verdict
    gate: Gate | None
    reason: Reason | None

    @property
    def speaks(self) -> bool:
        return self.verdict == Verdict.SEND


def decide(situation: Situation) -> Decision:
    """Speak for the best reason unless a gate refuses. While a reply is being written: defer, and keep the reason."""
    reason = situation.reasons[0] if situation.reasons else None
    for gate, refuses in GATES.items():
        if refuses(situation):
            return Decision(Verdict.DEFER if gate == Gate.TURN_IN_FLIGHT else Verdict.REFUSE, gate, reason)
    return Decision(Verdict.SEND, None, reason)

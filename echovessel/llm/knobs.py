"""Knobs of the language models: how much an owner's calls may use in one UTC day. 0 is no cap.

The caps guard against faults (a loop, a flood, a prompt gone wild), not against use: each is several times what one
person uses on a long day. Tokens are those of prompt and reply together, as the provider counted them.
"""

from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

from echovessel.knobs import WholeKnob, knob, whole

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

MAX_TOKENS = 1_000_000_000
MAX_DOLLARS = 100_000


def _tokens_a_day(purpose: str, default: int, why: "StrOrPromise", source: str = "") -> WholeKnob:
    return whole(
        f"llm.{purpose}_tokens_per_day",
        default,
        low=0,
        high=MAX_TOKENS,
        unit=_("tokens per owner and UTC day"),
        why=why,
        source=source,
    )


TOKENS_PER_DAY = {
    "chat": _tokens_a_day("chat", 4_000_000, _("400 turns with a prompt of 8,000 tokens, and room for long replies.")),
    "extraction": _tokens_a_day(
        "extraction", 1_500_000, _("100 parts of conversations (10,000 tokens each), and half of them asked twice.")
    ),
    "reflection": _tokens_a_day("reflection", 150_000, _("Three a day is the gate's limit; each takes 5,000 or so.")),
    "slow_cycle": _tokens_a_day(
        "slow_cycle", 180_000, _("150,000 in and 30,000 out."), source="design/consolidation.md, slow cycle"
    ),
    "entity": _tokens_a_day("entity", 200_000, _("50 descriptions of somebody, of 4,000 tokens each.")),
    "proactive": _tokens_a_day(
        "proactive", 200_000, _("A few first messages a day, each with a prompt like a turn's.")
    ),
    "import": _tokens_a_day(
        "import", 5_000_000, _("Years of conversation arrive together; the rest is continued the next day.")
    ),
    "onboarding": _tokens_a_day("onboarding", 200_000, _("A few attempts at describing a persona.")),
}
reasoning_tokens = whole(
    "llm.reasoning_tokens",
    4_000,
    low=0,
    high=64_000,
    unit=_("tokens"),
    why=_(
        "Servers count a model's reasoning among the tokens of its reply. Models that are known "
        "to think get this many more: R1 and Qwen use 300 to 3,000 for small talk."
    ),
)
chat_dollars_per_day = knob(
    "llm.chat_dollars_per_day",
    0,
    low=0,
    high=MAX_DOLLARS,
    unit=_("US dollars per owner and UTC day"),
    why=_("For operators who prefer a limit in money. Needs LLM_PRICES: calls of unknown price count as nothing."),
)
background_dollars_per_day = knob(
    "llm.background_dollars_per_day",
    0,
    low=0,
    high=MAX_DOLLARS,
    unit=_("US dollars per owner and UTC day"),
    why=_("The same limit for all other purposes together."),
)

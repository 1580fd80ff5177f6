"""Memory mode among people: eighty messages that another hand wrote, each answered by the server's own turns.

What is asserted holds for any voice that remembers: every message gets a reply, none is a parrot or a promise, at most
one question stands in three replies, what was told is found, and what was not is not made up.
"""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User

from echovessel.llm import offline
from tests.journeys.exchange_runs import Exchange, people_of, persona_of, replies_to

pytestmark = pytest.mark.django_db(transaction=True)
# By the beginning of the message: what the reply has to hold, or what a message that nobody answered before gets.
TOLD = {
    "when is my bio mock": "the 14th",
    "Would you remind me what it was": "grapefruit",
    "what time's the mediation thing": "the 22nd at half two",
    "Where did I put Hafsa's": "kitchen drawer",
    "what did Hank offer me": "900",
    "How long is my mother staying": "ten days",
    "我二模是几号": "25号和26号",
    "我哪几天去护理院的": "礼拜二、礼拜五",
    "一诺几号到": "7月12号",
    "咸菜我给藏哪了": "洗衣机",
    "乌冬哪天看医生": "周六",
    "我那位组织聚会的老同学": "下月六号",
}
NOT_TOLD = (
    "what's the name of the enzyme", "And what was the name of the nurse", "What's my sister's wedding date",
    "Should I tell Leonor", "anyhow what's the capital", "大黄的崽最后", "护理院那个新来的护工", "哎，秘鲁首都",
    "小古丽的预产期", "要不要现在跟我妈坦白",
)  # fmt: skip
HONEST = re.compile(r"closest|language model|nothing about|最接近|语言模型|没有找到")
PROMISES = re.compile(r"\bI(?:'ll| will)\b|won't forget|我会记|不会忘|一定")
RUN = 6  # words, or characters of Chinese, that a parrot repeats


def repeats(reply: str, line: str) -> bool:
    """Whether the reply repeats a run of the message, outside of quotation marks."""
    own = re.sub("“[^”]*”", " ", reply)
    pieces = [re.findall(r"[a-z']+|[\u3400-\u9fff]", text.lower()) for text in (own, line)]
    runs = [{tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1)} for words in pieces]
    return bool(runs[0] & runs[1])


@pytest.mark.parametrize("people", [1, pytest.param(5, marks=pytest.mark.campaign)])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_memory_mode_answers_what_it_was_told_and_makes_nothing_up(
    language: str, people: int, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.LLM_PROVIDER = "offline"
    monkeypatch.setattr(offline, "PAUSE_S", 0)
    seen: set[str] = set()
    chosen = people_of(language)[-people:]
    for number, person in enumerate(chosen):
        persona = persona_of(User.objects.create_user(f"person{number}"), language, person)
        exchanges = list(replies_to(persona, person["today"]))
        assert len(exchanges) == len(person["today"])
        for exchange in exchanges:
            seen |= judge(exchange)
        asked = [bool(re.search("[?？]", re.sub("“[^”]*”", "", one.reply))) for one in exchanges]
        assert all(sum(asked[at : at + 3]) <= 1 for at in range(len(asked) - 2)), person["who"]
    in_language = {start for start in (*TOLD, *NOT_TOLD) if start.isascii() == (language == "en")}
    assert seen == in_language if people == 5 else len(seen) > 1


def judge(exchange: Exchange) -> set[str]:
    """Which of the tables' beginnings the message has; fails where the reply is not as it has to be."""
    line, reply = exchange.line, exchange.reply
    assert reply.strip(), line
    assert not repeats(reply, line), (line, reply)
    assert not PROMISES.search(reply), (line, reply)
    told = next((words for start, words in TOLD.items() if line.startswith(start)), "")
    assert told in reply, (line, reply)
    assert not line.startswith(NOT_TOLD) or HONEST.search(reply), (line, reply)
    return {start for start in (*TOLD, *NOT_TOLD) if line.startswith(start)}

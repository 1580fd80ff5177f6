"""Who the two are and how they speak, by rule: the shape of the answer that drafts of core blocks are made of."""

import re
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from echovessel.llm.offline.asking import is_question
from echovessel.llm.offline.extraction import hearer_of
from echovessel.llm.offline.person import in_third_person
from echovessel.llm.offline.text import as_sentence, is_chinese, sentences

MOST_OF_A_BLOCK = 8
LONGEST_STATEMENT = 200
SHORT_LINE, LONG_LINE = 60, 240  # characters; of Chinese a third of them say as much
FEWEST_LINES = 3
SPEAKS_EN = ("{} speaks at length, in whole paragraphs.", "{} speaks in short lines, a sentence or two.")
SPEAKS_ZH = ("{}说得细，常常是长长的一段。", "{}说话简短，常常只有一两句。")

# What somebody says of who they are, not of how they are just now.
SAYS_WHO = re.compile(
    r"\b(?:my name is|call me|i(?:'m| am) (?:an? |from |allergic|vegetarian|vegan|married|single|divorced|\d+ years)|"
    r"i work (?:as|at|for|in)|i live (?:in|with|near)|i was born|i come from|i grew up|i studied|i study|i have an? |"
    r"i (?:really )?(?:like|love|hate|can't stand|enjoy|collect|play|speak)|"
    r"my (?:\w+ ){0,2}(?:cat|dog|wife|husband|sister|brother|daughter|son|partner)\b)|"
    r"我(?:叫|是(?!说|不是|想|觉得|来|在|真)|姓|在[^，。]{1,12}(?:工作|上班|上学|读书|长大)|住在|来自|出生|喜欢|爱吃|讨厌|最怕|"
    r"养了|有(?:一|两|三|个|只)|会说|从小)|叫我|我(?:妈|爸|妹妹|姐姐|哥哥|弟弟|老公|老婆|女儿|儿子)是",
    re.I,
)
PASSING = re.compile(
    r"\b(?:an? (?:ai|assistant|language model|bit|little)|sorry|just kidding|here for you)\b|"
    r"人工智能|语言模型|抱歉|一下",
    re.I,
)
WANTS_TONE = re.compile(
    r"\b(?:please )?(?:don't|do not|never|always|please) (?:call|use|talk|speak|say|write|answer|be|keep|send)\b|"
    r"\bcall me\b|(?:别|不要|请)(?:叫|用|说|写|回|发|总)|叫我",
    re.I,
)


def drafted(material: Mapping[str, Any]) -> dict[str, Any]:
    """Drafts out of what both said of themselves (the shape of `material` is in the package's docstring)."""
    user, persona = material["user_name"], material["persona_name"]
    theirs = [line for line in material["lines"] if line["role"] == "user"]
    hers = [line for line in material["lines"] if line["role"] == "persona"]
    return {
        "drafts": [
            *_statements("user", theirs, SAYS_WHO, user, persona),
            *_statements("persona", hers, SAYS_WHO, persona, user),
            *_statements("style", [line for line in theirs if not line.get("others")], WANTS_TONE, user, persona),
            *_length(hers, persona),
        ]
    }


def _statements(
    label: str, lines: Sequence[Mapping[str, Any]], wanted: re.Pattern[str], speaker: str, other: str
) -> list[dict[str, Any]]:
    once: dict[str, dict[str, Any]] = {}
    for line, quote in _said(lines):
        is_about_tone = bool(WANTS_TONE.search(quote)) and wanted is not WANTS_TONE
        if wanted.search(quote) and not PASSING.search(quote) and not is_about_tone:
            hearer = hearer_of(quote, {"persona_name": other, "others": line.get("others", ())})
            text = as_sentence(in_third_person(quote, speaker, hearer))
            once.setdefault(text.casefold(), _draft(label, text, line, quote))
    return list(once.values())[:MOST_OF_A_BLOCK]


def _said(lines: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Each sentence that tells something, with its line."""
    for line in lines:
        for start, end in sentences(line["content"]):
            quote = line["content"][start:end]
            if len(quote) <= LONGEST_STATEMENT and not is_question(quote):
                yield line, quote


def _length(lines: Sequence[Mapping[str, Any]], persona: str) -> list[dict[str, Any]]:
    """How long her lines are, where they are short or long, by the one in the middle."""
    if len(lines) < FEWEST_LINES:
        return []
    middle = median(_breadth(line["content"]) for line in lines)
    typical = min(lines, key=lambda line: abs(_breadth(line["content"]) - middle))
    chinese = is_chinese(typical["content"])
    if SHORT_LINE < middle < LONG_LINE:
        return []
    text = (SPEAKS_ZH if chinese else SPEAKS_EN)[middle <= SHORT_LINE].format(persona)
    quote = next((typical["content"][start:end] for start, end in sentences(typical["content"])), "")
    return [_draft("style", text, typical, quote)] if quote else []


def _breadth(text: str) -> int:
    return len(text) * (3 if is_chinese(text) else 1)


def _draft(label: str, text: str, line: Mapping[str, Any], quote: str) -> dict[str, Any]:
    return {"label": label, "text": text, "evidence": [{"message_id": line["id"], "quote": quote}]}

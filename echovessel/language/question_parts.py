"""Split a question that asks several things into its parts. Pure; English and Chinese.

    "Where does Ruth live, and what does Tom do?"    ->  each clause that asks
    "Did I like Lisbon or Porto more?"               ->  the question with Lisbon alone, and with Porto alone
    「小王和小李都喜欢什么？」                        ->  with 小王 alone, and with 小李 alone

The parts are only searched with, never shown: their words matter, their grammar does not. There is no parser; the words
around "and" or "or" show what is joined.
"""

import re

from echovessel.language import tokenizer
from echovessel.language.sentences import is_question

MAX_PARTS = 4
MAX_LOOKED_AT = 400  # characters
MAX_JOINED_WORDS = 4
_QUESTION_WORD = r"(?:what|which|where|when|who|whom|whose|why|how)"
_CLAUSE = re.compile(
    rf"[?？]\s*|[,;]?\s+(?:and|or|but)\s+(?={_QUESTION_WORD}\b|(?:did|do|does|is|are|was|were|has|have|can|will)\s+\w)"
    rf"|[,;]\s+(?={_QUESTION_WORD}\b)|[，；,;](?=[^，；,;]*(?:什么|谁|哪|怎么|多少|几|吗|呢|为何|何时))",
    re.I,
)
_JOINT = re.compile(r"^(?:and|or|vs\.?|versus|&)$", re.I)
_BOTH = re.compile(r"\b(?:both|either|neither|between)\s+", re.I)
_DETERMINER = re.compile(r"^(?:my|our|your|his|her|their|its|the|an?)$|['’]s$", re.I)
_WORD = re.compile(r"[^\s,;?!]+|[,;]")
_RUN_ZH = "[^\\s，。？！；、,?!的了在是有和跟与或及我你您他她它们哪谁什怎几多都也各还会能要想去做到过这那同]"
_JOINT_ZH = re.compile(
    rf"(?P<first>{_RUN_ZH}{{1,6}}(?:、{_RUN_ZH}{{1,6}})*)(?:和|跟|与|以及|、)(?P<last>{_RUN_ZH}{{1,6}})"
)
_OR_ZH = re.compile(r"还是")
_ENOUGH_ZH = 2


def parts_of(text: str) -> tuple[str, ...]:
    """The parts of a question, in order; none if it asks one thing.

    >>> parts_of("Did I like Lisbon or Porto more?")
    ('Did I like Lisbon more?', 'Did I like Porto more?')
    >>> parts_of("Where does Ruth live, and what does Tom do?")
    ('Where does Ruth live', 'what does Tom do')
    >>> parts_of("小王和小李都喜欢什么？"), parts_of("What did we eat?")
    (('小王都喜欢什么？', '小李都喜欢什么？'), ())
    """
    text = text.strip()[:MAX_LOOKED_AT]
    if not is_question(text):
        return ()
    clauses = [clause.strip() for clause in _CLAUSE.split(text) if clause.strip()]
    clauses = [text] if len(clauses) == 1 else [clause for clause in clauses if is_question(clause)]
    parts = [part for clause in clauses for part in (_split_zh(clause) or _split(clause) or [clause])]
    telling_parts = [part for part in dict.fromkeys(parts) if any(tokenizer.content_words(part))]
    return tuple(telling_parts[:MAX_PARTS]) if len(telling_parts) > 1 else ()


def _split(clause: str) -> list[str]:
    """The clause with each of the things joined by "and" or "or" alone."""
    words = _WORD.findall(_BOTH.sub("", clause))
    joint = next((place for place, word in enumerate(words) if place and _JOINT.match(word)), None)
    if joint is None:
        return []
    last = _run(words[joint + 1 :])
    if not last:
        return []
    before, size = words[:joint], len(last)
    joined: list[list[str]] = []
    while before and len(joined) < MAX_PARTS:
        if before[-1] == ",":
            before = before[:-1]
        run = _run(before[::-1], is_backward=True)[::-1]
        item = run[-size:] if not any(_DETERMINER.search(word) for word in run) else run
        if not item or (joined and words[len(before)] != ","):
            break
        joined.insert(0, item)
        before = before[: len(before) - len(item)]
        if not before or before[-1] != ",":
            break
    after = words[joint + 1 + len(last) :]
    if not joined:
        return []
    mark = "?" if clause.rstrip().endswith(("?", "？")) else ""
    return [" ".join([*before, *item, *after]).replace(" ,", ",") + mark for item in (*joined, last)]


def _run(words: list[str], *, is_backward: bool = False) -> list[str]:
    """The first of `words` that name one thing: a determiner, then content words."""
    run: list[str] = []
    for word in words[: MAX_JOINED_WORDS + 1]:
        is_determiner = _DETERMINER.search(word) is not None
        if word in ",;" or (tokenizer.is_function_word(word.lower()) and not is_determiner):
            break
        if is_determiner and not is_backward and run:
            break
        if not is_backward and run and run[-1][0].isupper() and not word[0].isupper() and not _is_possessive(run[-1]):
            break  # "Porto more"
        run.append(word)
        if is_backward and is_determiner and not _is_possessive(word):
            break
    return run


def _is_possessive(word: str) -> bool:
    return word.endswith(("'s", "’s"))


def _split_zh(clause: str) -> list[str]:
    if joint := _JOINT_ZH.search(clause):
        items = [*joint["first"].split("、"), joint["last"]]
        return [clause[: joint.start()] + item + clause[joint.end() :] for item in items]
    first, _, last = clause.partition("还是") if _OR_ZH.search(clause) else ("", "", "")
    return [first, last] if len(first) >= _ENOUGH_ZH and last.strip("？?。 ") else []

"""Show a question with its answer, and a reply that says little by itself with the question.

"Every Thursday." says nothing without "When does the choir meet?", and a question alone shows what was asked, not what
is known. A neighbouring message is added where the passage needs it; if the budget is then exceeded, the weakest items
are dropped. At most one SQL statement; the rest is pure.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from echovessel.language.small_talk import Gist
from echovessel.llm.prompts import shorten, tokens
from memory.recall.render import RenderedMessage, Renderer
from memory.recall.select import SelectedItem, Selection

# An added message is cut at MAX_CONTEXT_TOKENS. A reply of more than SHORT_TOKENS is understood by itself, unless it
# begins as an answer does.
MAX_CONTEXT_TOKENS = 60
SHORT_TOKENS = 12
_ANSWERS = re.compile(
    r"(?:yes|yeah|yep|yup|no|nope|nah|sure|maybe|probably|definitely|absolutely|exactly|not|only|both|neither|none|all|"
    r"because|(?:it|he|she|they|that|those|these|there)(?:'s|'re| (?:is|was|are|were|has|had|did|does|went|took))|"
    r"(?:i|we) (?:do|did|don't|didn't|have|haven't|am|was|will|won't|can|can't|am not))\b"
    r"|[是对有没不会嗯好]|还没|还是|可能|大概|因为|他|她|它|那",
    re.I,
)


def leans_on_question(message: RenderedMessage) -> bool:
    """Whether a reply is hard to understand without the message that it answers."""
    text = message.content.strip()
    return tokens(text) <= SHORT_TOKENS or _ANSWERS.match(text) is not None


class Gap(NamedTuple):
    """A neighbour that a passage lacks: its id, the end of the passage next to it, and whether it precedes the
    passage."""

    key: int
    end: RenderedMessage
    comes_before: bool


def complete_exchanges(
    selection: Selection,
    messages: Mapping[int, RenderedMessage],
    read: Callable[[Sequence[int]], Mapping[int, RenderedMessage]],
    renderer: Renderer,
    budget: int,
    window: Collection[int],
) -> Selection:
    """Add to the passages the neighbours they need, within `budget`. `messages` are already read, by id; `read` reads
    others; those of `window` are in the prompt anyway."""
    taken_messages = {*selection.shown_messages, *window}
    gaps = [[gap for gap in _gaps(item, messages) if gap.key not in taken_messages] for item in selection.items]
    unread = {gap.key for gaps_of_item in gaps for gap in gaps_of_item} - messages.keys()
    known_messages = {**messages, **read(sorted(unread))} if unread else messages
    kept_items: list[SelectedItem] = []
    removed = dict(selection.removed)
    for item, gaps_of_item in zip(selection.items, gaps, strict=True):
        context = [
            message
            for gap in gaps_of_item
            if gap.key not in taken_messages and (message := _fill(gap, known_messages.get(gap.key)))
        ]
        for neighbour in (context, []) if context else ([],):
            version = SelectedItem(item.best, item.passage, neighbour, item.best.text, item.best.tokens)
            if neighbour or len(item.passage) > 1:
                version.text = renderer.passage(in_order_of_time(version, messages))
                version.tokens = tokens(version.text)
            elif item.passage:
                version.text = item.best.line
            if version.tokens <= budget:
                kept_items.append(version)
                taken_messages |= {message.id for message in neighbour}
                budget -= version.tokens
                break
        else:
            removed |= {(part.is_node, part.key): "no_room" for part in (item.best, *item.passage)}
    return replace(selection, items=kept_items, removed=removed)


def _gaps(item: SelectedItem, messages: Mapping[int, RenderedMessage]) -> Iterator[Gap]:
    """The neighbours a passage lacks: the question that its first message answers, and the answer to its last
    question."""
    if item.passage:
        in_order = item.passage
        if len(in_order) > 1:
            in_order = sorted(in_order, key=lambda message: (messages[message.key].created_at, message.key))
        (first, before), (last, after) = ((messages[part.key], part) for part in (in_order[0], in_order[-1]))
        if before.before is not None and leans_on_question(first):
            yield Gap(before.before, first, True)
        if after.after is not None and last.gist and not last.gist.statement:
            yield Gap(after.after, last, False)


def _fill(gap: Gap, message: RenderedMessage | None) -> RenderedMessage | None:
    """The neighbour as it is shown, or None if it is not part of the exchange: of a question only the question itself,
    of an answer only the statement."""
    if message is None or {message.role, gap.end.role} != {"user", "persona"}:
        return None
    gist = message.gist or Gist(message.content, "")
    if not gap.comes_before:
        shortened = shorten(gist.statement or gist.question or message.content, MAX_CONTEXT_TOKENS)
        return message._replace(gist=Gist(shortened, ""))
    question = f"… {gist.question}" if gist.statement else gist.question
    return message._replace(gist=Gist("", shorten(question, MAX_CONTEXT_TOKENS))) if gist.question else None


def in_order_of_time(item: SelectedItem, messages: Mapping[int, RenderedMessage]) -> list[RenderedMessage]:
    """The messages of a passage and its context, in chronological order."""
    shown_messages = [*(messages[part.key] for part in item.passage), *item.context]
    return sorted(shown_messages, key=lambda message: (message.created_at, message.id))

"""Removes a model's reasoning from its reply while the reply streams. Pure.

Servers that know a model put its reasoning into a separate field; others send it in the text, in the marks of that
model's chat template. The marks known here: tags (`<think>`, `<seed:think>`, `<thought>` …), `[THINK]` (Magistral),
`◁think▷` (Kimi), `<|START_THINKING|>` (Cohere), `<|channel|>analysis<|message|>` (gpt-oss), `<|channel>thought`
(Gemma), `<|begin_of_thought|>`, `<|inner_prefix|>`, and the plain words of Granite and Apriel.

What counts as reasoning:
- A block at the start of the reply, also several blocks or nested ones. A block without an end takes the rest: a model
  that was cut off while it thought has not answered.
- A later block that begins a line, or follows the end of a sentence. In the middle of a sentence, in quotation marks or
  in code, a tag is only mentioned.
- The text before a closing tag without an opening one, because some templates open the tag in the prompt; unless the
  tag is in the middle of a sentence, in code or in JSON, or closes an opening tag that was only mentioned.

The result does not depend on where the pieces were cut (tests/echovessel/llm/test_reasoning.py tries every cut).
"""

import string
from collections.abc import Iterable
from dataclasses import dataclass, field

from echovessel.language import lazy_re as re

NAMES = (
    "think",
    "thinking",
    "thought",
    "thoughts",
    "reasoning",
    "reflection",
    "analysis",
    "scratchpad",
    "inner_monologue",
    "internal_monologue",
    "chain_of_thought",
    "seed:think",
    "antthinking",
    "antml:thinking",
    "inner_thought",
    "inner_thoughts",
    "internal_thought",
    "internal_thoughts",
    "thought_process",
    "thinking_process",
    "longcat_think",
    "mm:think",
    "思考",
    "思考过程",
)
# Pairs of opening and closing marks besides tags. None of them is a word in any language.
PAIRS = (
    ("[think]", "[/think]"),
    ("[thinking]", "[/thinking]"),
    ("[reasoning]", "[/reasoning]"),
    ("&lt;think&gt;", "&lt;/think&gt;"),  # a program in between escaped the tag
    ("＜think＞", "＜/think＞"),
    ("【思考】", "【/思考】"),
    ("◁think▷", "◁/think▷"),
    ("<|start_thinking|>", "<|end_thinking|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|begin_of_thinking|>", "<|end_of_thinking|>"),
    ("<|think_start|>", "<|think_end|>"),
    ("<|inner_prefix|>", "<|inner_suffix|>"),
    ("<|think|>", "<|/think|>"),
    ("<|thinking|>", "<|/thinking|>"),
    ("<|channel>thought", "<channel|>"),
    ("<unused94>thought", "<unused95>"),
)
# Plain words that separate reasoning from the answer (Granite; gpt-oss behind a server that drops its marks). The text
# counts as reasoning only once the closing words have come.
_GRANITE = re.compile(r"here(?: is|'s) my response:\s*", re.IGNORECASE)
_BARE_HARMONY = re.compile(r"assistantfinal\s*")
_APRIEL = re.compile(r"\[BEGIN FINAL RESPONSE\]\s*")
WORDS = {
    "Here is my thought process:": _GRANITE,
    "Here's my thought process:": _GRANITE,
    "Here are my reasoning steps:": _APRIEL,
    **{f"analysis{word}": _BARE_HARMONY for word in ("We ", "The ", "User ", "Need ", "I ", "It ", "They ")},
}
LONGEST_WORDS = 40
# Marks in which some models wrap the answer after reasoning.
WRAPPERS = {
    "<answer>": "</answer>",
    "<response>": "</response>",
    "<output>": "</output>",
    "<final>": "</final>",
    "<|begin_of_solution|>": "<|end_of_solution|>",
    "<|start_response|>": "<|end_response|>",
}
# End-of-message marks that the server should have removed; dropped if nothing follows them.
ENDS = (
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end|>",
    "<|return|>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|end_of_turn|>",
    "<|end_response|>",
    "<|end_of_solution|>",
    "<|end_of_turn_token|>",
    "<｜end▁of▁sentence｜>",
    "<end_of_turn>",
    "<turn|>",
    "[end final response]",
    "</s>",
    "<eos>",
)
HARMONY_ENDS = ("<|end|>", "<|return|>", "<|call|>")

_NAME = "|".join(sorted(map(re.escape, NAMES), key=len, reverse=True))
_ATTRIBUTES = r"(?: [^<>\n]{0,80})?"


def _any(literals: Iterable[str]) -> str:
    return "|".join(map(re.escape, literals))


_HARMONY = (
    r"(?P<harmony>(?:<\|start\|>\s{0,4}assistant\s{0,4})?<\|channel\|>(?P<channel>[^<|]{1,80})"
    r"(?:<\|constrain\|>[^<|]{0,20})?<\|message\|>)"
)
_OPEN = rf"(?P<open><(?: ?(?:{_NAME}){_ATTRIBUTES}|details type=.reasoning.[^<>\n]{{0,80}})>)"
_CLOSE = rf"(?P<close>< ?/ ?(?:{_NAME}) ?>)"
_MARK = re.compile(
    "|".join(
        (
            _HARMONY,
            _OPEN,
            _CLOSE,
            f"(?P<open_pair>{_any(pair[0] for pair in PAIRS)})",
            f"(?P<close_pair>{_any(pair[1] for pair in PAIRS)})",
            f"(?P<wrapper>{_any(WRAPPERS)})",
            f"(?P<end>{_any((*ENDS, *WRAPPERS.values()))})",
        )
    ),
    re.IGNORECASE,
)
# The marks that nest in a block and those that end it, by its opening mark.
_IN_TAGS = re.compile(f"{_OPEN}|{_CLOSE}", re.IGNORECASE)
_IN_DETAILS = re.compile(r"(?P<open><details(?: [^<>\n]{0,100})?>)|(?P<close></details>)", re.IGNORECASE)
_IN_CHANNEL = re.compile(
    rf"(?P<close>{_any(HARMONY_ENDS)})|(?P<next>(?=<\|start\|>\s{{0,4}}assistant|<\|channel\|>))", re.IGNORECASE
)
_IN_PAIR = {
    opening: re.compile(f"(?P<open>{re.escape(opening)})|(?P<close>{re.escape(closing)})", re.IGNORECASE)
    for opening, closing in PAIRS
}

# Text that may still become a mark: the beginning of a literal, or a tag or channel that is not closed yet.
_LITERALS = tuple(
    literal.casefold()
    for literal in (
        *(f"{opening}{name}" for name in NAMES for opening in ("<", "< ", "</", "</ ", "< /", "< / ")),
        *(mark for pair in PAIRS for mark in pair),
        *WRAPPERS,
        *WRAPPERS.values(),
        *ENDS,
        *HARMONY_ENDS,
        "<details type=",
        "</details>",
        "<|start|>",
        "<|channel|>",
    )
)
_UNFINISHED = re.compile(
    rf"< ?/? ?(?:{_NAME}){_ATTRIBUTES}|<details [^<>\n]{{0,100}}"
    r"|<\|start\|>\s{0,4}[a-z]{0,9}\s{0,4}(?:<(?:\|[a-z]{0,7}\|?)?)?"
    r"|(?:<\|start\|>\s{0,4}assistant\s{0,4})?<\|channel\|>[^<|]{0,80}"
    r"(?:<(?:\|[a-z]{0,9}\|?)?|<\|constrain\|>[^<|]{0,20}(?:<(?:\|[a-z]{0,9}\|?)?)?)?",
    re.IGNORECASE,
)
_BEGINNINGS = frozenset(literal[0] for literal in _LITERALS)
LONGEST_MARK = 240

_WORD_OR_BREAK = re.compile(r"[^\S\n]*(?:\S|\n)")
_SENTENCE_END = frozenset(".!?…。！？;；:：)]}）】」』”\"'*_~>")
_QUOTES_BEFORE = frozenset("`\"'“‘„«「『(（[【<")
_QUOTES_AFTER = frozenset("`\"'”’“»」』)）]】>")
_PUNCTUATION = frozenset(".,;:!?)]}、，。；：！？）】」』")
FIRST_PICTOGRAPH = "\U0001f000"
# White space and invisible characters: some servers send a BOM or a zero-width space before the first mark.
BLANK = string.whitespace + "\x85\xa0\u2028\u2029\u3000\u200b\u2060\ufeff"


@dataclass(frozen=True)
class Withdrawal:
    """All text so far was reasoning: remove it from view."""


@dataclass
class _VisibleText:
    """State of the visible text, needed to judge the next mark."""

    is_blank: bool = True
    is_json: bool = False
    in_fence: bool = False
    opening_mentions: int = 0
    # Of the last line: its beginning, its last character, its last non-space character, its number of backticks.
    beginning: str = ""
    previous: str = "\n"
    last: str = ""
    ticks: int = 0

    def add(self, text: str) -> None:
        if self.is_blank and text.strip(BLANK):
            self.is_json = text.lstrip(BLANK)[0] == "{"
            self.is_blank = False
        for number, part in enumerate(text.split("\n")):
            if number:
                self.in_fence ^= self.beginning in ("```", "~~~")
                self.beginning, self.previous, self.last, self.ticks = "", "\n", "", 0
            self.beginning = (self.beginning + part).lstrip(BLANK)[:3]
            self.previous = part[-1:] or self.previous
            self.last = part.rstrip()[-1:] or self.last
            self.ticks += part.count("`")

    @property
    def in_code(self) -> bool:
        return self.in_fence or self.beginning in ("```", "~~~") or self.ticks % 2 == 1


@dataclass
class _Block:
    """A reasoning block that has begun: the marks that nest in it and end it, its depth, and its last character.

    `after_end`: the text since an inner end, or None before one. If the outer end never comes, an opening tag in the
    block was only mentioned, and this text is the answer.
    """

    marks: re.Pattern[str]
    depth: int = 1
    last: str = "\n"
    after_end: list[str] | None = None

    def drop(self, text: str) -> None:
        self.last = text[-1:] or self.last
        if self.after_end is not None:
            self.after_end.append(text)


@dataclass
class ReasoningFilter:
    """Takes the pieces of a reply and returns the visible text.

    `holds_back`: return nothing until it is known whether a closing tag without an opening one comes. For models whose
    template opens the tag in the prompt: otherwise their reasoning would be shown and then withdrawn.
    """

    holds_back: bool = False
    has_reasoning: bool = False
    was_unopened: bool = False  # the reasoning had no opening mark
    _buffer: str = ""
    _at: int = 0  # how much of `_buffer` was read
    _visible: _VisibleText = field(default_factory=_VisibleText)
    _block: _Block | None = None
    _wrapper: str = ""
    _spaces: str = ""  # white space before the first word
    _ends: str = ""  # end marks that nothing has followed so far
    _until: re.Pattern[str] | None = None  # the words that end reasoning which began with plain words
    _undecided: str = ""  # the text since those opening words
    _visible_items: list[str | Withdrawal] = field(default_factory=list)

    @property
    def is_thinking(self) -> bool:
        """Whether incoming text is reasoning or may be reasoning, and is not shown."""
        return self._block is not None or self._until is not None or self._holds_text

    def feed(self, piece: str) -> list[str | Withdrawal]:
        """The visible items that this piece adds."""
        self._buffer, self._at = self._buffer[self._at :] + piece, 0
        self._read(is_end=False)
        return [] if self._holds_text else self._take_visible()

    def close(self) -> list[str | Withdrawal]:
        """The visible items that the end of the reply adds."""
        self._read(is_end=True)
        if self._block and self._block.after_end:
            text, self._block = "".join(self._block.after_end).lstrip(), None
            self._show(text)
        if self._until:
            text, self._until = self._undecided, None
            self._emit(text)
        return self._take_visible()

    @property
    def is_waiting(self) -> bool:
        """Whether all text so far is held back, since it may be reasoning that began in the prompt."""
        return self._holds_text and not self._visible.is_blank

    def release(self) -> None:
        """Stop holding text back: the server separates reasoning from text."""
        self.holds_back = False

    @property
    def _holds_text(self) -> bool:
        return self.holds_back and not self.has_reasoning

    def _take_visible(self) -> list[str | Withdrawal]:
        pieces, self._visible_items = self._visible_items, []
        return pieces

    # --- reading --------------------------------------------------------------------------------------------------
    def _read(self, *, is_end: bool) -> None:
        """Read up to text that may still become a mark, or to the end."""
        until = len(self._buffer) if is_end else self._unfinished()
        while self._at < until:
            marks = self._block.marks if self._block else _MARK
            mark = marks.search(self._buffer, self._at)
            if mark is None or mark.start() >= until:
                self._read_text(until)
                return
            self._read_text(mark.start())
            if not is_end and not _WORD_OR_BREAK.match(self._buffer, mark.end()):
                return  # the character after the mark decides what it is
            self._at = mark.end()
            if self._block:
                # A mark inside reasoning opens a nested block, closes a block, or is only mentioned.
                block = self._block
                following = self._buffer[self._at : self._at + 1]
                is_quoted = block.last in _QUOTES_BEFORE and following in _QUOTES_AFTER
                if mark.lastgroup == "open":
                    is_mention = _is_space(block.last) and (_is_space(following) or following in _PUNCTUATION)
                    block.depth += 0 if is_quoted or is_mention else 1
                elif not is_quoted:
                    block.depth -= 1
                    block.after_end = []
                    if block.depth == 0 or mark.lastgroup == "next":
                        self._block = None
                block.last = mark.group()[-1:] or block.last
            else:
                self._judge(mark)

    def _read_text(self, until: int) -> None:
        """Show the text up to `until`, or drop it inside a block."""
        text, self._at = self._buffer[self._at : until], until
        if self._block:
            self._block.drop(text)
        else:
            self._show(text)

    def _unfinished(self) -> int:
        """The index at which text begins that may still become a mark."""
        rest = self._buffer
        if self._visible.is_blank and not self._block:
            beginning = rest[self._at :].lstrip()
            if any(words.startswith(beginning) for words in WORDS) and not self._until:
                return self._at
        for at in range(max(self._at, len(rest) - LONGEST_MARK), len(rest)):
            if rest[at] in _BEGINNINGS:
                tail = rest[at:].casefold()
                if any(literal.startswith(tail) for literal in _LITERALS) or _UNFINISHED.fullmatch(tail):
                    return at
        return len(rest)

    # --- judging --------------------------------------------------------------------------------------------------

    def _judge(self, mark: re.Match[str]) -> None:
        """Handle a mark outside a block: it begins reasoning, ends reasoning, or is part of the text."""
        kind, text, visible = mark.lastgroup, mark.group(), self._visible
        following = self._buffer[self._at : self._at + 1]
        leads = visible.is_blank
        is_quoted = visible.previous in _QUOTES_BEFORE and following in _QUOTES_AFTER and bool(following)
        if not leads and kind != "end" and (visible.in_code or visible.is_json or is_quoted):
            self._show(text)
        elif kind in ("harmony", "channel"):
            # gpt-oss names the channel of its text; only the final channel is for people.
            channel = mark["channel"].strip().casefold()
            if not channel.startswith("final"):
                self._begin(_IN_CHANNEL)
            elif self._visible.is_blank:
                self.has_reasoning = True
            else:
                self._withdraw()
        # An opening mark begins a block at the start of a line or sentence if text follows it directly: in "<think>
        # opens it" a space follows.
        elif kind in ("open", "open_pair") and (
            leads
            or (
                (not visible.beginning or visible.last in _SENTENCE_END)
                and following not in ("", " ")
                and following not in _PUNCTUATION
            )
        ):
            is_details = text.startswith("<details")
            self._begin(_IN_DETAILS if is_details else _IN_PAIR.get(text.casefold(), _IN_TAGS))
        elif kind in ("close", "close_pair") and (leads or self._ends_reasoning(following)):
            self._withdraw()
        elif kind == "wrapper" and leads and self.has_reasoning:
            self._wrapper = WRAPPERS[text.casefold()]
        elif kind == "end" and not visible.in_code and text.casefold() in (self._wrapper, *ENDS):
            self._ends += "" if leads else text
        else:
            visible.opening_mentions += {"open": 1, "open_pair": 1, "close": -1, "close_pair": -1}.get(str(kind), 0)
            self._show(text)

    def _begin(self, marks: re.Pattern[str]) -> None:
        self._block, self.has_reasoning = _Block(marks), True

    def _ends_reasoning(self, following: str) -> bool:
        """Whether a closing mark after visible text ends reasoning that had no opening mark. In the middle of a
        sentence it does not: "the </think> tag"."""
        visible = self._visible
        word = self._buffer[self._at : self._at + LONGEST_MARK].lstrip(" \t")[:1]
        if visible.previous == "\n":
            return following != " " or not word.islower()
        if visible.opening_mentions > 0:
            return False
        if not _is_space(visible.previous):
            return visible.last in _SENTENCE_END or following not in _PUNCTUATION
        if visible.last in _SENTENCE_END or word == "\n":
            return True
        if following and not _is_space(following):
            return following not in _PUNCTUATION
        return word.isupper() or word.isdigit() or word >= FIRST_PICTOGRAPH

    def _withdraw(self) -> None:
        """Discard all text so far as reasoning."""
        was_shown = not self._visible.is_blank and not self._holds_text
        self._visible_items = [Withdrawal()] if was_shown else []
        self._visible, self._ends, self._spaces, self._until, self._undecided = _VisibleText(), "", "", None, ""
        self.has_reasoning = self.was_unopened = True

    # --- visible text ---------------------------------------------------------------------------------------------
    def _show(self, text: str) -> None:
        """Emit text. After plain words that may begin reasoning, hold it back until their closing words come."""
        if self._until is None and self._visible.is_blank:
            beginning = (self._spaces + text).lstrip()
            self._until = next((end for words, end in WORDS.items() if beginning.startswith(words)), None)
        if self._until is None:
            self._emit(text)
            return
        searched_from = max(0, len(self._undecided) - LONGEST_WORDS)
        self._undecided += text
        if end := self._until.search(self._undecided, searched_from):
            text, self._until, self._undecided, self.has_reasoning = self._undecided[end.end() :], None, "", True
            self._emit(text)

    def _emit(self, text: str) -> None:
        """Add text to the visible items. White space before the first word is dropped after reasoning. End marks are
        kept as text if something follows them."""
        if not text.strip(BLANK) and (self._visible.is_blank or self._ends):
            if self._visible.is_blank:
                self._spaces += text
            else:
                self._ends += text
            return
        if self._visible.is_blank:
            text = text.lstrip(BLANK) if self.has_reasoning else self._spaces + text
        text, self._ends = self._ends + text, ""
        self._visible.add(text)
        self._visible_items.append(text)


def without_reasoning(text: str) -> str:
    """The part of a whole reply that is for people.

    >>> without_reasoning("<think>They greet me.</think>\\n\\nHello, Ana.")
    'Hello, Ana.'
    """
    reasoning = ReasoningFilter()
    return join_visible([*reasoning.feed(text), *reasoning.close()])


def join_visible(items: Iterable[str | Withdrawal]) -> str:
    """The visible text that these items add up to."""
    text: list[str] = []
    for item in items:
        if isinstance(item, Withdrawal):
            text.clear()
        else:
            text.append(item)
    return "".join(text)


def _is_space(character: str) -> bool:
    return character.isspace() and character != "\n"

"""Takes a model's reasoning out of its reply, while the reply streams. Pure.

Servers that know a model put its reasoning into a field of its own; the others send it in the text, in the marks of
that model's chat template. The marks known here: tags (`<think>`, `<seed:think>`, `<thought>` …), `[THINK]`
(Magistral), `◁think▷` (Kimi), `<|START_THINKING|>` (Cohere), `<|channel|>analysis<|message|>` (gpt-oss),
`<|channel>thought` (Gemma), `<|begin_of_thought|>`, `<|inner_prefix|>`, and the plain words of Granite and Apriel.

What counts as reasoning, and why not more:
- A block that leads the reply, several of them, nested ones. Without an end it takes the rest: a model that was cut off
  while it thought has said nothing.
- A later block that begins a line, or follows the end of a sentence. In the middle of a sentence, in quotation marks or
  in code a tag is talked about.
- A closing tag without an opening one: some templates open the tag in the prompt. All before it is then reasoning,
  unless it stands in the middle of a sentence, in code, in JSON, or answers an opening tag that was talked about.

The text that comes out does not depend on where the pieces were cut (tests/echovessel/llm/test_reasoning.py tries every
cut).
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
# Pairs of opening and closing marks besides tags. None of them is a word of any language.
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
# Where plain words part reasoning from the answer (Granite; gpt-oss behind a server that drops its marks), it is only
# reasoning once the second words have come.
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
# What some models wrap the answer in, once they have thought.
WRAPPERS = {
    "<answer>": "</answer>",
    "<response>": "</response>",
    "<output>": "</output>",
    "<final>": "</final>",
    "<|begin_of_solution|>": "<|end_of_solution|>",
    "<|start_response|>": "<|end_response|>",
}
# Marks of the end of a message that a server should have kept; dropped where nothing follows them.
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
# What nests in a block and what ends it, by what began it.
_IN_TAGS = re.compile(f"{_OPEN}|{_CLOSE}", re.IGNORECASE)
_IN_DETAILS = re.compile(r"(?P<open><details(?: [^<>\n]{0,100})?>)|(?P<close></details>)", re.IGNORECASE)
_IN_CHANNEL = re.compile(
    rf"(?P<close>{_any(HARMONY_ENDS)})|(?P<next>(?=<\|start\|>\s{{0,4}}assistant|<\|channel\|>))", re.IGNORECASE
)
_IN_PAIR = {
    opening: re.compile(f"(?P<open>{re.escape(opening)})|(?P<close>{re.escape(closing)})", re.IGNORECASE)
    for opening, closing in PAIRS
}

# What may yet become a mark: the beginning of a literal, or a tag or channel that is not closed so far.
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
# White space, and what cannot be seen either: some servers send a BOM or a zero-width space before the first mark.
BLANK = string.whitespace + "\x85\xa0\u2028\u2029\u3000\u200b\u2060\ufeff"


@dataclass(frozen=True)
class Withdrawn:
    """All text so far was reasoning: take it back."""


@dataclass
class _VisibleText:
    """What must be known of the text that was let through, to judge the next mark."""

    is_blank: bool = True
    is_json: bool = False
    in_fence: bool = False
    opening_mentions: int = 0
    # Of the last line: its beginning, its last character and the last one that is no space, its backticks.
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
    """Reasoning that has begun: the marks that nest in it and end it, how deep it is, and its last character.

    `after_end`: the text since an inner end, None before one. Where the outer end never comes, the model had only
    talked about an opening tag, and this is the answer."""

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
    """Feed it the pieces of a reply; what comes out is to be shown.

    `holds_back`: nothing is let through before it is known whether a closing tag without an opening one comes. For
    models whose template opens the tag in the prompt: their reasoning must not be shown first and taken back then.
    """

    holds_back: bool = False
    found: bool = False  # there was reasoning
    was_unopened: bool = False  # it had no opening mark
    _rest: str = ""
    _at: int = 0  # what of `_rest` was read
    _visible: _VisibleText = field(default_factory=_VisibleText)
    _block: _Block | None = None
    _wrapper: str = ""
    _spaces: str = ""  # white space before the first word
    _ends: str = ""  # marks of the end that nothing has followed so far
    _until: re.Pattern[str] | None = None  # the words that end reasoning which plain words began
    _undecided: str = ""  # the text since those words
    _kept: list[str | Withdrawn] = field(default_factory=list)

    @property
    def is_thinking(self) -> bool:
        """Whether text comes in that is not let through, or may not be."""
        return self._block is not None or self._until is not None or self._is_held_back

    def feed(self, piece: str) -> list[str | Withdrawn]:
        """What the piece adds to the visible text."""
        self._rest, self._at = self._rest[self._at :] + piece, 0
        self._read(is_end=False)
        return [] if self._is_held_back else self._taken()

    def close(self) -> list[str | Withdrawn]:
        """What the end adds to it."""
        self._read(is_end=True)
        if self._block and self._block.after_end:
            text, self._block = "".join(self._block.after_end).lstrip(), None
            self._show(text)
        if self._until:
            text, self._until = self._undecided, None
            self._let_through(text)
        return self._taken()

    @property
    def is_waiting(self) -> bool:
        """Whether all text so far is held back, for it may be reasoning that began in the prompt."""
        return self._is_held_back and not self._visible.is_blank

    def release(self) -> None:
        """The server tells reasoning and text apart by itself: nothing has to be held back."""
        self.holds_back = False

    @property
    def _is_held_back(self) -> bool:
        return self.holds_back and not self.found

    def _taken(self) -> list[str | Withdrawn]:
        taken, self._kept = self._kept, []
        return taken

    # --- reading --------------------------------------------------------------------------------------------------
    def _read(self, *, is_end: bool) -> None:
        """Read up to what may yet become a mark, or to the end."""
        until = len(self._rest) if is_end else self._unfinished()
        while self._at < until:
            marks = self._block.marks if self._block else _MARK
            mark = marks.search(self._rest, self._at)
            if mark is None or mark.start() >= until:
                self._pass(until)
                return
            self._pass(mark.start())
            if not is_end and not _WORD_OR_BREAK.match(self._rest, mark.end()):
                return  # what follows it decides what it is
            self._at = mark.end()
            if self._block:
                # A mark inside of reasoning: it goes one deeper, one up, or is only talked about.
                block = self._block
                following = self._rest[self._at : self._at + 1]
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

    def _pass(self, until: int) -> None:
        """Let the text up to there through, or drop it."""
        text, self._at = self._rest[self._at : until], until
        if self._block:
            self._block.drop(text)
        else:
            self._show(text)

    def _unfinished(self) -> int:
        """Where the last characters begin that may yet become a mark."""
        rest = self._rest
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
        """A mark outside of reasoning: it begins some, ends some, or belongs to the text."""
        kind, text, visible = mark.lastgroup, mark.group(), self._visible
        following = self._rest[self._at : self._at + 1]
        leads = visible.is_blank
        is_quoted = visible.previous in _QUOTES_BEFORE and following in _QUOTES_AFTER and bool(following)
        if not leads and kind != "end" and (visible.in_code or visible.is_json or is_quoted):
            self._show(text)
        elif kind in ("harmony", "channel"):
            # gpt-oss says in which channel it speaks; only the final one is for people.
            channel = mark["channel"].strip().casefold()
            if not channel.startswith("final"):
                self._begin(_IN_CHANNEL)
            elif self._visible.is_blank:
                self.found = True
            else:
                self._withdraw()
        # An opening mark begins a block where a line or a sentence begins, and the text of the block follows the mark:
        # "<think> opens it" has a space there.
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
        elif kind == "wrapper" and leads and self.found:
            self._wrapper = WRAPPERS[text.casefold()]
        elif kind == "end" and not visible.in_code and text.casefold() in (self._wrapper, *ENDS):
            self._ends += "" if leads else text
        else:
            visible.opening_mentions += {"open": 1, "open_pair": 1, "close": -1, "close_pair": -1}.get(str(kind), 0)
            self._show(text)

    def _begin(self, marks: re.Pattern[str]) -> None:
        self._block, self.found = _Block(marks), True

    def _ends_reasoning(self, following: str) -> bool:
        """Whether a closing mark after visible text ends reasoning that had no opening one. In the middle of a sentence
        it does not: "the </think> tag"."""
        visible = self._visible
        word = self._rest[self._at : self._at + LONGEST_MARK].lstrip(" \t")[:1]
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
        """All text so far was reasoning."""
        was_shown = not self._visible.is_blank and not self._is_held_back
        self._kept = [Withdrawn()] if was_shown else []
        self._visible, self._ends, self._spaces, self._until, self._undecided = _VisibleText(), "", "", None, ""
        self.found = self.was_unopened = True

    # --- letting through ------------------------------------------------------------------------------------------
    def _show(self, text: str) -> None:
        """Let text through, unless plain words have begun reasoning: then it is decided once their end comes."""
        if self._until is None and self._visible.is_blank:
            beginning = (self._spaces + text).lstrip()
            self._until = next((end for words, end in WORDS.items() if beginning.startswith(words)), None)
        if self._until is None:
            self._let_through(text)
            return
        searched_from = max(0, len(self._undecided) - LONGEST_WORDS)
        self._undecided += text
        if end := self._until.search(self._undecided, searched_from):
            text, self._until, self._undecided, self.found = self._undecided[end.end() :], None, "", True
            self._let_through(text)

    def _let_through(self, text: str) -> None:
        """White space before the first word goes where it follows reasoning. Marks of the end that something follows
        were none."""
        if not text.strip(BLANK) and (self._visible.is_blank or self._ends):
            if self._visible.is_blank:
                self._spaces += text
            else:
                self._ends += text
            return
        if self._visible.is_blank:
            text = text.lstrip(BLANK) if self.found else self._spaces + text
        text, self._ends = self._ends + text, ""
        self._visible.add(text)
        self._kept.append(text)


def without_reasoning(text: str) -> str:
    """What of a whole reply is for people.

    >>> without_reasoning("<think>They greet me.</think>\\n\\nHello, Ana.")
    'Hello, Ana.'
    """
    reasoning = ReasoningFilter()
    return join_visible([*reasoning.feed(text), *reasoning.close()])


def join_visible(items: Iterable[str | Withdrawn]) -> str:
    """The visible text that these items add up to."""
    text: list[str] = []
    for item in items:
        if isinstance(item, Withdrawn):
            text.clear()
        else:
            text.append(item)
    return "".join(text)


def _is_space(character: str) -> bool:
    return character.isspace() and character != "\n"

"""Prompts: their sections, and the escaping of text by people and models that stands in them.

Each section function receives a `ContextRequest` and returns a `Section` with text, token count and x-ray. The
functions are listed by dotted path in `settings.CHAT_CONTEXT`, like Django's context processors, so that chat gets
memory's sections without importing memory.

Three things in a text could make it pass for something other than a person's words:
- our own block marks (`</memory>`), which would end a block early;
- control tokens of chat templates (`<|im_start|>`, `[INST]`, `<start_of_turn>` …): a server whose tokenizer knows them
  ends the turn there, in whatever block they are;
- line breaks and headings, which would begin a line of another speaker or a section of the prompt.

`neutralize` replaces the brackets of such marks (`</memory>` becomes `‹/memory›`), so that people and models can still
read the text; stored text is never changed. Marks are found in disguise too: in any case, with spaces or invisible
characters in between, in full-width, mathematical, Cyrillic or Greek letters, with accents. Everything else is left
alone: "I <3 you", HTML, code.

All templates are rendered by `render_prompt`, which neutralizes each value and joins it into one line, unless it is
`Neutral` already. So a placeholder is safe even if nobody thought of it.
"""

import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from string import Template
from typing import Any, Literal, TypeVar, cast

from django.conf import settings
from django.template.loader import render_to_string

from echovessel.process.word_caches import RecentValues

Value = TypeVar("Value")


@dataclass(frozen=True)
class ContextRequest:
    """The input of a section: the persona, the owner's recent messages (`turns`, oldest first, the current one last),
    the time, the token budget, the messages that the prompt shows anyway, and results shared between sections.

    When the persona speaks first, `burst` is empty and `occasion` is set.
    """

    persona: Any
    turns: Sequence[str]
    now: datetime
    budget: int
    window: Sequence[Any] = ()
    burst: Sequence[Any] = ()
    occasion: Any = None
    cache: dict[str, Any] = field(default_factory=dict)

    def once(self, name: str, find: Callable[[], Value]) -> Value:
        """Return the result of `find`, called once per prompt however many sections ask."""
        if name not in self.cache:
            self.cache[name] = find()
        return cast(Value, self.cache[name])


@dataclass(frozen=True)
class Section:
    """One part of a prompt. `xray` may be a function, which is called once no reply waits for it."""

    name: str
    place: Literal["system", "user"]
    text: str
    xray: Mapping[str, Any] | Callable[[], Mapping[str, Any]] = field(default_factory=dict)
    material: Mapping[str, Any] = field(default_factory=dict)

    @property
    def tokens(self) -> int:
        return tokens(self.text)

    @property
    def account(self) -> Mapping[str, Any]:
        return self.xray() if callable(self.xray) else self.xray


def tokens(text: str) -> int:
    """The estimated number of tokens of `text`: a quarter of its UTF-8 bytes, rounded up (design/recall.md)."""
    return -(-len(text.encode()) // 4)


def shorten(text: str, budget: int) -> str:
    """`text` cut to at most `budget` tokens, with an ellipsis where it was cut."""
    if len(text) <= budget or tokens(text) <= budget:  # a character has at most four bytes
        return text
    shortened = text.encode()[: max(0, budget * 4 - 3)].decode(errors="ignore")
    return shortened.rstrip() + "…"


INDENT = "    "


class Neutral(str):
    """Text that our own code composed of neutral parts only."""

    __slots__ = ()


# --- characters ---------------------------------------------------------------------------------------------------
# Characters that look like those of marks. The neutral ones are included, so that neutral text stays as it is.
_LESS = "<＜﹤≮˂‹〈〈⟨❬❮❰⧼ᐸ≺《⟪"
_GREATER = ">＞﹥≯˃›〉〉⟩❭❯❱⧽ᐳ≻》⟫"
_ALIKE = str.maketrans(
    {
        **dict.fromkeys(_LESS, "<"),
        **dict.fromkeys(_GREATER, ">"),
        **dict.fromkeys("¦│┃∣ǀ❘⏐।", "|"),
        **dict.fromkeys("⁄∕⧸╱⟋", "/"),
        **dict.fromkeys("▁‐‑–—", "_"),
        # Cyrillic, Greek, phonetic
        **dict(zip("аеорсухіјѕԁԛԝһӏмткнвгѵ", "aeopcyxijsdqwhlmtkhbrv", strict=True)),
        **dict(zip("αεορνικτυχμη", "aeopviktuxmn", strict=True)),
        **dict(zip("ıɑɡᴀᴇɪᴍɴᴏʀꜱᴛʏᴅ", "iagaeimnorstyd", strict=True)),
    }
)
_NEUTRAL_BRACKETS = {"<": "‹", ">": "›", "|": "¦", "[": "(", "]": ")", "◁": "‹", "▷": "›"}
_NEUTRAL_SIGNS = {"#": "♯", ":": "∶"}
# Maps neutral characters back, to search the original for a copy of neutral text.
AS_WRITTEN = str.maketrans({"‹": "<", "›": ">", "¦": "|", "[": "(", "]": ")", "◁": "<", "▷": ">", "♯": "#", "∶": ":"})
_FILLERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_TAG_CHARACTERS = re.compile(  # invisible tag characters, of which only flags are made
    "(\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,6}\U000e007f)|[\U000e0000-\U000e007f]"
)

# --- marks, as they read without spaces, invisible characters and disguises ----------------------------------------
_OWN = ("memory", "said", "wishes", "your_?answer")
_ROLES = ("system", "user", "assistant", "human", "developer", "instruction", "bot", "tool", "function", "prompt")
_OF_TEMPLATES = (
    "im_", "start_?of_?", "end_?of_?", "bos", "eos", r"unused\d", r"reserved_?\d", r"extra_?id_?\d", r"ctrl\d",
    r"special_?\d", "hy_", "_[a-z]",
    "think", "thought", "reasoning", "seed_?:", "antml:", "antthinking", "channel", "turn",
)  # fmt: skip
_WHOLE = ("s", "pad", "unk", "mask", "sop", "eop", "sep", "cls", "ai", "用户", "role")
_IN_BRACKETS = (
    "inst", "sys", "system_?prompt", "available_?tools", "tool_?calls", "tool_?results", "tool_?content", "think",
    "thinking", "img", "gmask", "prefix", "suffix", "middle", "bos", "eos",
)  # fmt: skip
_SECTIONS = "instruction|response|input|output|system|user|assistant|human|context"
_MARK = re.compile(
    rf"<+[/\\!?]*(?:(?:{'|'.join(_WHOLE)})>+|(?:{'|'.join(_OWN + _ROLES + _OF_TEMPLATES)})[^<>\[\]]{{0,60}}>*)"
    r"|<\|[^<>|]{0,60}\|?>|<[^<>|]{1,40}\|>|<</?sys>>"
    rf"|\[/?(?:{'|'.join(_IN_BRACKETS)})\]|\[\|[a-z_]{{1,20}}\|\]"
    r"|\]~!?b[\[\]]|\[e~\["
    r"|◁/?[a-z]{1,20}▷"
)
_SECTION = re.compile(rf"#{{2,}}(?:{_SECTIONS})s?:")

# --- lines that could pass for the prompt's own ---------------------------------------------------------------------
_BREAK = r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]"
_HEADING = re.compile(rf"(?:^|{_BREAK})[^\w\n#＃﹟]{{0,12}}([#＃﹟]{{1,6}})(?=\W|$)(?!\ufe0f)")
_ROLE = re.compile(rf"{_BREAK}[^\w\n]{{0,8}}(?:human|assistant|system|user)[^\w\n]{{0,2}}?([:：])", re.IGNORECASE)
# Text without any of these cannot contain a mark, and is returned unread.
_SUSPECT = re.compile(rf"[{re.escape(_LESS)}\[\]［﹇◁#＃﹟\U000e0000-\U000e007f]|{_BREAK}")


def neutralize(text: str) -> Neutral:
    """`text` with our marks and those of chat templates made harmless; line breaks are kept.

    >>> neutralize("a </memory> and <|im_start|>system")
    'a ‹/memory› and ‹¦im_start¦›system'
    """
    if isinstance(text, Neutral):
        return text
    if not _SUSPECT.search(text):
        return Neutral(text)
    text = _TAG_CHARACTERS.sub(lambda match: match[1] or "", text)
    # The text without spaces, invisible characters and disguises, with the original index of each character.
    forms = [(form, at) for at, character in enumerate(text) for form in _form(character)]
    plain = "".join(form for form, _at in forms)
    edits: dict[int, str] = {}
    for pattern, signs in ((_MARK, _NEUTRAL_BRACKETS), (_SECTION, _NEUTRAL_SIGNS)):
        for tag_match in pattern.finditer(plain):
            marked = range(tag_match.start(), tag_match.end())
            edits |= {forms[at][1]: signs[plain[at]] for at in marked if plain[at] in signs}
    for tag_match in (*_HEADING.finditer(text), *_ROLE.finditer(text)):
        edits |= {at: _NEUTRAL_SIGNS[_form(text[at])] for at in range(*tag_match.span(1))}
    return Neutral("".join(edits.get(at, character) for at, character in enumerate(text)) if edits else text)


def one_line(text: str) -> Neutral:
    """`text` neutral and in one line, for a name or a description."""
    if isinstance(text, Neutral):
        return text
    return neutralize(" ".join(text.split()))


def indent_text(text: str) -> Neutral:
    """`text` neutral, with all lines but the first indented, so that none can pass for a line of another speaker."""
    if isinstance(text, Neutral):
        return text
    return Neutral(neutralize(f"\n{INDENT}".join(text.splitlines())))


def fence(tag: Literal["memory", "said"], text: str) -> Neutral:
    """People's `text` inside a marked block, which it cannot end."""
    return Neutral(f"<{tag}>\n{neutralize(text)}\n</{tag}>")


def lines_of(texts: Iterable[Neutral]) -> Neutral:
    """Neutral texts joined by line breaks."""
    return Neutral("\n".join(texts))


def render_prompt(prompt: str, language: str, /, **values: Any) -> Neutral:
    """Render the prompt `templates/prompts/<prompt>.<language>.txt` with every value neutral."""
    safe = {key: _safe(value) for key, value in values.items()}
    key = f"{prompt}.{language} {safe!r}"
    text = _recent_prompts.get(key)
    if text is None:
        text = Neutral(render_to_string(f"prompts/{prompt}.{language}.txt", safe).strip())
        if len(key) <= MAX_CACHED_CHARACTERS:
            _recent_prompts.update({key: text})
    return text


def _safe(value: Any) -> Any:
    """The value with every text in it neutral and in one line. TypeError for anything but plain values."""
    match value:
        case Neutral() | bool() | int() | float() | None:
            return value
        case str():
            return one_line(value)
        case Mapping():
            return {_safe(key): _safe(item) for key, item in value.items()}
        case list() | tuple():
            return [_safe(item) for item in value]
        case _:
            raise TypeError(f"A {type(value).__name__} cannot be said to a model.")


@cache
def _form(character: str) -> str:
    """The base form of one character; "" for an invisible one.

    >>> [_form(character) for character in "Ｍ\u200bém 𝐎"]
    ['m', '', 'e', 'm', '', 'o']
    """
    if character.isspace() or character in _FILLERS:
        return ""
    decomposed = unicodedata.normalize("NFKD", character.translate(_ALIKE)).casefold().translate(_ALIKE)
    return "".join(form for form in decomposed if unicodedata.category(form)[0] not in "MCZ")


# --- templates under templates/prompts/ ---
# Half of a turn's sections are those of the turn before: the rules, who speaks, frames without their lines.
MAX_CACHED, MAX_CACHED_CHARACTERS = 128, 1_000
_recent_prompts: RecentValues[Neutral] = RecentValues(MAX_CACHED)


def with_heading(language: str, key: str, body: str, **names: str) -> str:
    """`body` under its heading: "# About them\\n…"."""
    return f"# {_headings(language)[key].format(**names)}\n{body.strip()}"


@cache
def _headings(language: str) -> dict[str, str]:
    path = settings.BASE_DIR / "templates" / "prompts" / f"headings.{language}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def render_wording(name: str, **words: str) -> str:
    """The template `templates/prompts/<name>.txt` with every `$placeholder` filled; KeyError if one is missing."""
    path = settings.BASE_DIR / "templates" / "prompts" / f"{name}.txt"
    return Template(path.read_text(encoding="utf-8")).substitute(words)

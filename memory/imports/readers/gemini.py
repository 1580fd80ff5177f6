"""Gemini's part of a Google Takeout: MyActivity.json, alone or in the zip. Prompts and answers, newest first.

An activity has the prompt in its title and the answer as HTML. Conversations have no ids: the whole file is one
session, which is cut at long pauses. Other activities (a shared file, a rating) are skipped as notices.

Takeouts are in the language of the account: folders and the file itself have other names, and other words precede (or
follow) the prompt. The file is recognized by its content, and these words because every prompt has them.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.imports.readers.html_text import words_of
from memory.imports.readers.json_values import objects
from memory.imports.readers.lines import SessionReader, array, moment, table, word
from memory.imports.readers.source import Sample, Source
from memory.imports.readers.time_order import oldest_first, weight
from memory.imports.readers.types import FileMessage, ImportRejected, Options, ReaderItem, Role, Skipped, digest
from memory.imports.readers.zips import within

_TITLE = "Gemini"
# The product's name in headers and product fields in every language; it was called Bard before.
PRODUCT = re.compile(r"Gemini|Bard")
_OF_GEMINI = re.compile(r'"(?:header|products)"\s*:\s*\[?\s*"[^"]{0,60}(?:Gemini|Bard)')
_MARKS = frozenset({"item.header", "item.title", "item.time"})
_MEMBERS_LOOKED_AT = 60
# The words in English. Other languages' words are found by frequency, or by one of these before a colon.
PROMPTED = ("Prompted ", "Asked ", "Said ")
USED = "Used "
_STEMS = (
    "prompt", "requête", "petición", "pregunt", "solicit", "comando", "pedido", "richiesta", "domand", "запрос",
    "запит", "提示", "提示词", "輸入", "输入", "提问", "提問", "询问", "詢問", "プロンプト", "入力", "質問", "送信",
    "指示", "프롬프트", "질문", "입력", "zapytan", "poleceni", "monit", "opdracht", "vraag", "istem", "eingabe",
    "eingegeben", "gefragt", "anfrage", "demand", "invite", "dotaz", "výzv", "kérdés", "fråg", "spørs", "kehot",
    "întreb",
)  # fmt: skip
_BEFORE_COLON = re.compile(rf"^[^:：\n]{{0,30}}(?:{'|'.join(_STEMS)})[^:：\n]{{0,12}}[:：]\s*", re.I)
_BREAK = re.compile(r"[\s:：\"“”„«»「」『』]")
_MAX_WRAPPING = 40
_MAX_TITLES = 2_000
_MOSTLY = 0.8
# From this number of prompts on, words that all of them share are the program's even if none is known.
_MANY_PROMPTS = 12
_QUOTES = ("“”", '""', "„“", "«»", "「」", "『』", "‘’")
_USER, _PERSONA = "user", "Gemini"
_ROLES: Mapping[str, Role] = {_USER: "user", _PERSONA: "persona"}


@dataclass(frozen=True)
class Wrapping:
    """The words before and after every prompt."""

    before: str = ""
    behind: str = ""

    def is_around(self, title: str) -> bool:
        around = title.startswith(self.before) and title.endswith(self.behind)
        return bool(self.before or self.behind) and around

    def taken_off(self, title: str) -> str:
        prefix_of_prompt = next((prefix for prefix in PROMPTED if title.startswith(prefix)), "")
        if prefix_of_prompt:
            return title.removeprefix(prefix_of_prompt)
        if self.is_around(title):
            return title.removeprefix(self.before).removesuffix(self.behind)
        return _BEFORE_COLON.sub("", title)


class Gemini:
    name = "gemini"
    label = gettext_lazy("Gemini (Google Takeout, MyActivity.json)")

    def resembles(self, sample: Sample) -> float:
        inside = [sample.inside(name) for name in _candidates(sample.members)] if sample.members else [sample]
        return 0.95 if any(map(_is_activities, inside)) else 0.0

    def read(self, source: Source, options: Options) -> Iterator[ReaderItem]:
        files = [name for name in _candidates(source.members) if _is_activities(source.sample.inside(name))]
        if source.members and not files:
            raise ImportRejected("member_missing")
        yield from (Skipped(name, "settings") for name in source.members if name not in files)
        reader = _Activities(options.limits)
        for file in files or [""]:
            with within(file):
                answered = (
                    word(activity.get("title"))
                    for activity in objects(source, file)
                    if isinstance(activity, dict) and _is_of_gemini(activity) and _answer(activity)
                )
                reader.wrapping = wrapping_of(islice(answered, _MAX_TITLES))
                activities = oldest_first(
                    objects(source, file),
                    lambda activity: moment(table(activity).get("time")),
                    weight,
                    options.limits,
                    newest_first=True,
                )
                yield from reader.read_session(_TITLE, digest("gemini", file), _TITLE, activities)


def _candidates(members: Iterable[str]) -> list[str]:
    """JSON files of the zip, likelier ones first."""
    names = [name for name in members if name.casefold().endswith(".json")]
    return sorted(names, key=lambda name: not PRODUCT.search(name))[:_MEMBERS_LOOKED_AT]


def _is_activities(sample: Sample) -> bool:
    return sample.paths >= _MARKS and _OF_GEMINI.search(sample.text) is not None


def _is_of_gemini(activity: Mapping[str, Any]) -> bool:
    """Whether an activity is Gemini's. A file may hold those of other products; one without a product counts as
    Gemini's."""
    header_text = " ".join([word(activity.get("header")), *map(word, array(activity.get("products")))])
    return not header_text.strip() or PRODUCT.search(header_text) is not None


def wrapping_of(titles: Iterable[str]) -> Wrapping:
    """The program's words before and after nearly all titles."""
    unprompted = [title for title in titles if title and not title.startswith(PROMPTED)]
    before = _common(unprompted)
    behind = _common([title[::-1] for title in unprompted])[::-1]
    if (
        before
        and behind
        and any(before.rstrip().endswith(pair[0]) and behind.lstrip().startswith(pair[1]) for pair in _QUOTES)
    ):
        return Wrapping(before, behind)
    return Wrapping(
        before
        if bool(before)
        and (_has_known_stem(before) or (len(unprompted) >= _MANY_PROMPTS and before.rstrip()[-1] in ":："))
        else "",
        behind if _has_known_stem(behind) else "",
    )


def _common(titles: list[str]) -> str:
    """The longest prefix, up to the end of a word, that nearly all of several titles share."""
    counts: Counter[str] = Counter()
    for title in titles:
        ends = (match.end() for match in _BREAK.finditer(title, 0, _MAX_WRAPPING))
        counts.update({title[:end] for end in ends if title[:end].strip()})
    common = [begin for begin, count in counts.items() if count >= max(2, _MOSTLY * len(titles))]
    return max(common, key=len, default="")


def _has_known_stem(words: str) -> bool:
    return any(stem in words.casefold() for stem in _STEMS)


class _Activities(SessionReader):
    wrapping = Wrapping()

    def place_of(self, session: str, number: int) -> str:
        return _("activity %d") % number

    def read_message(self, message: dict[str, Any], location: str) -> Iterator[FileMessage | Skipped]:
        title, at = word(message.get("title")), moment(message.get("time"))
        answer = _answer(message)
        is_prompt = title.startswith(PROMPTED) or self.wrapping.is_around(title)
        if not _is_of_gemini(message) or (not is_prompt and (not answer or title.startswith(USED))):
            yield Skipped(location, "notice")
            return
        for side, text in ((_USER, self.wrapping.taken_off(title)), (_PERSONA, answer)):
            yield self.line(side, text, at, location, role=_ROLES[side])
        files = [*array(message.get("attachedFiles")), *array(message.get("imageFile"))]
        yield from (Skipped(location, "media") for _file in files)


def _answer(activity: Mapping[str, Any]) -> str:
    return "\n\n".join(words_of(word(table(item).get("html"))) for item in array(activity.get("safeHtmlItem")))


FORMATS = (Gemini(),)

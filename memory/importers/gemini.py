"""Gemini's part of a Google Takeout: MyActivity.json, alone or in the zip. What was asked and answered, newest first.

An activity is a prompt in its title and the answer as HTML. Conversations have no ids in it: all of it is one talk,
which is cut where nobody spoke for long. What was done otherwise (a file shared, a verdict given) is told as a notice.
"""

from collections.abc import Iterator, Mapping
from itertools import chain, islice
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.importers.html_text import words_of
from memory.importers.json_values import Unread, objects
from memory.importers.lines import array, moment, said, table, talks, word
from memory.importers.places import Places
from memory.importers.source import Sample, Source
from memory.importers.types import Found, ImportRejected, Limits, Line, Options, Role, Skipped, digest

_TITLE = "Gemini"
_NAME = "MyActivity.json"
# Titles in English begin so before what was asked; in other languages with words of their own, which stay.
_PROMPTED = "Prompted "
_USED = "Used "
_USER, _PERSONA = "user", "Gemini"
_ROLES: Mapping[str, Role] = {_USER: "user", _PERSONA: "persona"}


class Gemini:
    name = "gemini"
    label = gettext_lazy("Gemini (Google Takeout, MyActivity.json)")

    def resembles(self, sample: Sample) -> float:
        inside = next((sample.inside(name) for name in _files(sample.members)), None if sample.members else sample)
        if inside is None or not {"item.header", "item.title", "item.products"} <= inside.paths:
            return 0.0
        return 0.95 if "Gemini" in inside.text or '"Bard"' in inside.text else 0.0

    def read(self, source: Source, options: Options) -> Iterator[Found]:
        files = _files(source.members)
        if source.members and not files:
            raise ImportRejected("member_missing")
        yield from (Skipped(name, "settings") for name in source.members if name not in files)
        places = Places()
        for file in files or [""]:
            found = _lines(objects(source, file), places, options.limits)
            yield from talks(_TITLE, digest("gemini", file), _TITLE, found, options.limits)


def _files(members: tuple[str, ...]) -> list[str]:
    return [name for name in members if name.rpartition("/")[2] == _NAME and "Gemini" in name]


def _lines(activities: Iterator[Any], places: Places, limits: Limits) -> Iterator[Line | Skipped]:
    """Where the whole file goes back in time, the answer stands before the question, too."""
    first = list(islice(activities, 2))
    times = [word(table(one).get("time")) for one in first]
    backwards = len(times) == 2 and times[0] > times[1]
    for number, activity in enumerate(chain(first, activities), start=1):
        where = _("activity %d") % number
        if isinstance(activity, dict):
            found = list(_activity(activity, places, where, limits))
            yield from reversed(found) if backwards else found
        else:
            yield Skipped(where, activity.reason if isinstance(activity, Unread) else "broken")


def _activity(activity: Mapping[str, Any], places: Places, where: str, limits: Limits) -> Iterator[Line | Skipped]:
    title, at = word(activity.get("title")), moment(activity.get("time"))
    answer = "\n\n".join(words_of(word(table(one).get("html"))) for one in array(activity.get("safeHtmlItem")))
    if not title.startswith(_PROMPTED) and (not answer or title.startswith(_USED)):
        yield Skipped(where, "notice")
        return
    for side, text in ((_USER, title.removeprefix(_PROMPTED)), (_PERSONA, answer)):
        yield said(side, text, at, where, limits, places, role=_ROLES[side])
    files = [*array(activity.get("attachedFiles")), *array(activity.get("imageFile"))]
    yield from (Skipped(where, "media") for _file in files)


FORMATS = (Gemini(),)

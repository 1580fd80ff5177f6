"""Whether a text can be the name of a speaker. Other texts before a colon or below a time are a half of the day, a
date, a receipt, or a label of a form. Pure."""

import re
from collections.abc import Sequence

from echovessel.process.word_caches import cached_words
from memory.imports.readers.clock_words import HALF_BEHIND, is_half_of_day
from memory.imports.readers.localized_times import is_full_weekday, is_month, is_weekday, moment_in

_RECEIPT = re.compile(
    r"\(?(?:read|delivered|seen|sent|gelesen|zugestellt|lu|leído|已读|已讀|既読|읽음)\b.{0,80}\)?", re.I
)
_LEAST_FIELDS = 3
_NO_LETTERS = re.compile(r"[\W\d_]+")
_BEGINS_WITH_HALF = re.compile(rf"(?:{HALF_BEHIND})[\s\u00a0\u202f,)\]-]+(?=\S)", re.I)
_DAY_AND_MONTH = re.compile(
    r"(?:\d{1,2}\.?(?:st|nd|rd|th)?\s+(?P<a>[^\W\d_]{3,})|(?P<b>[^\W\d_]{3,})\.?\s+\d{1,2}(?:st|nd|rd|th)?)\.?,?"
    r"(?:\s+\d{4})?"
)
_MONTHS_THAT_ARE_NAMES = (
    "may",
    "jan",
    "jun",
    "april",
    "june",
    "august",
    "julio",
    "mai",
    "mar",
    "march",
    "avril",
    "janvier",
)
# Labels of fields in forms and diaries.
_LABELS = frozenset(
    {
        "mood", "chorus", "verse", "refrain", "bridge", "副歌", "主歌", "weather", "sleep", "steps", "food",
        "breakfast", "lunch", "dinner", "supper", "snack", "snacks", "exercise", "workout", "water", "medication",
        "meds", "date", "month", "place", "location", "where", "when", "what", "why", "how", "title", "subject",
        "topic", "tags", "tag", "labels", "category", "note", "notes", "todo", "to-do", "done", "goals", "goal",
        "habits", "gratitude", "grateful", "highlight", "highlights", "lowlight", "lowlights", "wins", "lessons",
        "learned", "plan", "plans", "agenda", "summary", "ideas", "idea", "thoughts", "thought", "energy", "stress",
        "books", "movie", "movies", "quote", "quotes", "dream", "dreams", "from", "to", "cc", "bcc", "re", "fw",
        "fwd", "attachment", "attachments", "phone", "email", "address", "name", "height", "total", "budget",
        "ingredients", "directions", "instructions", "servings", "question", "questions", "pros", "cons", "tip",
        "tips", "warning", "important", "ps", "p.s", "nb", "edit", "update", "temperature", "morning", "afternoon",
        "evening", "reminder", "link", "url", "source", "stimmung", "wetter", "schlaf", "ort", "datum", "zeit",
        "titel", "thema", "notiz", "notizen", "aufgaben", "ziele", "dankbar", "frühstück", "mittagessen",
        "abendessen", "humeur", "météo", "sommeil", "lieu", "titre", "ánimo", "clima", "lugar", "fecha", "título",
        "notas", "心情", "天气", "天氣", "睡眠", "日期", "时间", "時間", "地点", "地點", "标题", "標題", "主题",
        "主題", "标签", "標籤", "备注", "備註", "笔记", "筆記", "待办", "待辦", "计划", "計劃", "目标", "目標",
        "感恩", "总结", "總結", "早餐", "午餐", "晚餐", "早饭", "午饭", "晚饭", "运动", "運動", "体重", "體重",
        "步数", "地址", "电话", "電話", "邮箱", "姓名", "年龄", "想法", "收获", "收穫", "反思", "灵感", "靈感",
        "摘要", "关键词", "기분", "날씨", "날짜", "시간", "장소", "제목", "메모", "할일", "気分", "天気", "場所",
        "件名", "メモ", "日付", "予定",
    }
)  # fmt: skip


@cached_words(maxsize=10_000)
def may_be_name(name: str) -> bool:
    """Whether `name` can be that of a speaker.

    >>> [may_be_name(name) for name in ("Ana", "PM", "(Read by you after 5 seconds)", "January 5", "Monday", "May")]
    [True, False, False, False, False, True]
    """
    bare = name.strip()
    if not bare or _NO_LETTERS.fullmatch(bare) or is_half_of_day(bare) or _RECEIPT.fullmatch(bare):
        return False
    first, _gap, rest = bare.partition(" ")
    if rest.isdecimal() and len(rest) < 3 and is_weekday(first):
        return False
    match = _DAY_AND_MONTH.fullmatch(bare)
    is_month_name = is_month(bare) and bare.casefold() not in _MONTHS_THAT_ARE_NAMES
    is_date = bool(match and is_month(match["a"] or match["b"])) or is_month_name or moment_in(bare) is not None
    return not (is_full_weekday(bare) or is_date or _BEGINS_WITH_HALF.match(bare))


def is_label(name: str) -> bool:
    """Whether forms use `name` as the label of a field; a person with this name is rare.

    >>> is_label("Mood"), is_label("天气"), is_label("Mira")
    (True, True, False)
    """
    return name.strip().casefold() in _LABELS


def is_form(names: Sequence[str]) -> bool:
    """Whether the names follow each other like the fields of a form that is filled in repeatedly: three or more, always
    in the same order. Two that alternate are people.

    >>> is_form(["Breakfast", "Lunch", "Dinner"] * 3), is_form(["Ana", "Mira"] * 5), is_form(["a", "b", "c", "a", "c"])
    (True, False, False)
    """
    different = list(dict.fromkeys(names))
    if len(different) < _LEAST_FIELDS or len(names) < 2 * len(different):
        return False
    return all(name == different[place % len(different)] for place, name in enumerate(names))

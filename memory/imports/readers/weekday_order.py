"""Whether 03/04 is 3 April or 4 March, by the weekday beside it. Pure."""

import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import date

_NAMES = (
    "monday mon montag mo lundi lun lunes lunedì lunedi lun segunda segunda-feira seg maandag ma måndag mån mandag man"
    " понедельник пн понеділок poniedziałek pn pon pazartesi pzt senin sen hétfő maanantai pondělí po"
    " 星期一 周一 週一 礼拜一 月曜日 月曜 月 월요일 월 จันทร์ จ. thứ hai الاثنين יום שני सोमवार",
    "tuesday tues tue dienstag di mardi mar martes martedì martedi terça terça-feira ter dinsdag tisdag tis tirsdag tir"
    " вторник вт вівторок wtorek wt salı sal selasa kedd tiistai ti úterý út"
    " 星期二 周二 週二 礼拜二 火曜日 火曜 火 화요일 화 อังคาร อ. thứ ba الثلاثاء יום שלישי मंगलवार",
    "wednesday wed mittwoch mi mercredi mer miércoles mié mie mercoledì mercoledi quarta quarta-feira qua woensdag wo"
    " onsdag ons среда ср середа środa śr çarşamba çar rabu rab szerda keskiviikko ke středa st"
    " 星期三 周三 週三 礼拜三 水曜日 水曜 水 수요일 수 พุธ พ. thứ tư الأربعاء יום רביעי बुधवार",
    "thursday thurs thur thu donnerstag do jeudi jeu jueves jue giovedì giovedi gio quinta quinta-feira qui donderdag"
    " torsdag tors tor четверг чт четвер czwartek czw perşembe per kamis kam csütörtök torstai čtvrtek čt"
    " 星期四 周四 週四 礼拜四 木曜日 木曜 木 목요일 목 พฤหัสบดี พฤหัส พฤ. thứ năm الخميس יום חמישי गुरुवार",
    "friday fri freitag fr vendredi ven viernes vie venerdì venerdi sexta sexta-feira sex vrijdag vr fredag fre пятница"
    " пт п'ятниця piątek pt cuma cum jumat jum péntek perjantai pe pátek pá"
    " 星期五 周五 週五 礼拜五 金曜日 金曜 金 금요일 금 ศุกร์ ศ. thứ sáu الجمعة יום שישי शुक्रवार",
    "saturday sat samstag sonnabend sa samedi sam sábado sáb sab sabato zaterdag za lördag lör lørdag lør суббота сб"
    " субота sobota sob cumartesi cmt sabtu szombat lauantai la so 星期六 周六 週六 礼拜六 土曜日 土曜 土"
    " 토요일 토 เสาร์ ส. thứ bảy السبت שבת शनिवार",
    "sunday sun sonntag dimanche dim domingo dom domenica zondag zo söndag sön søndag søn воскресенье вс неділя нд"
    " niedziela niedz nd pazar paz minggu min vasárnap sunnuntai su neděle ne 星期日 星期天 周日 週日 礼拜天 礼拜日"
    " 日曜日 日曜 日 일요일 일 อาทิตย์ อา. chủ nhật الأحد ראשון रविवार",
)
_DAYS: dict[str, set[int]] = {}
for _number, _written in enumerate(_NAMES):
    for _word in _written.split():
        _DAYS.setdefault(_word, set()).add(_number)
# German Sunday, besides the Slovak Saturday.
_DAYS["so"].add(6)
_DATED = re.compile(
    r"(?:(?P<before>[^\s\d,(（\[-][^\d,(（\[\n]{0,19}?)[.,，、]?[ \u00a0\u202f]*[(（\[]?)?"
    r"(?<![\d/.-])(?P<first>\d{1,2})(?P<mark>[/-])(?P<second>\d{1,2})(?P=mark)(?P<year>\d{4}|\d{2})(?![\d/-])"
    r"(?:[ \u00a0\u202f]*[(（\[,，]?[ \u00a0\u202f]*(?P<after>[^\s\d,)）\]]{1,20}))?"
)
_LONGEST = 100
_BUDDHIST_FROM, _BUDDHIST_AHEAD = 2400, 543


def order_by_weekdays(lines: Iterable[str]) -> bool | None:
    """Whether the day is first in the dates of the lines; None if no weekday tells, or they contradict each other.

    >>> order_by_weekdays(["Sat, 5/4/2024"]), order_by_weekdays(["เสาร์, 04/05/2024"]), order_by_weekdays(["5/4/2024"])
    (False, True, None)
    """
    orders: set[bool] = set()
    for line in lines:
        match = _DATED.search(line[:_LONGEST])
        days = _days(match["before"]) or _days(match["after"]) if match else None
        if match is None or not days:
            continue
        year, first, second = int(match["year"]), int(match["first"]), int(match["second"])
        if len(match["year"]) == 2:
            year += 2000
        elif year > _BUDDHIST_FROM:
            year -= _BUDDHIST_AHEAD
        fits: list[bool] = []
        for day_first, (day, month) in ((True, (first, second)), (False, (second, first))):
            with suppress(ValueError):
                fits += [day_first] if date(year, month, day).weekday() in days else []
        orders |= set(fits) if len(fits) == 1 else set()
    return orders.pop() if len(orders) == 1 else None


def _days(word: str | None) -> set[int]:
    folded = (word or "").strip(" .,，()（）[]-–—=").casefold()
    return _DAYS.get(folded) or _DAYS.get(f"{folded}.") or set()

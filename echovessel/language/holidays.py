"""Holidays of both languages, and their dates in each year. Pure.

Easter by the Gregorian rule (Butcher's), 清明 by the rule of this century, lunar holidays from a table of the years
2000 to 2050, made with the Chinese calendar of ICU.
"""

import re
from collections.abc import Callable
from datetime import date, timedelta

from echovessel.language.dates import YEAR_ZH, Days

_SPRING_FESTIVAL = """
0205 0124 0212 0201 0122 0209 0129 0218 0207 0126 0214 0203 0123 0210 0131 0219 0208 0128 0216 0205 0125 0212 0201
0122 0210 0129 0217 0206 0126 0213 0203 0123 0211 0131 0219 0208 0128 0215 0204 0124 0212 0201 0122 0210 0130 0217
0206 0126 0214 0202 0123
"""
_DRAGON_BOAT = """
0606 0625 0615 0604 0622 0611 0531 0619 0608 0528 0616 0606 0623 0612 0602 0620 0609 0530 0618 0607 0625 0614 0603
0622 0610 0531 0619 0609 0528 0616 0605 0624 0612 0601 0620 0610 0530 0618 0607 0527 0614 0603 0622 0611 0531 0619
0608 0529 0615 0604 0623
"""
_SEVENTH_NIGHT = """
0806 0825 0815 0804 0822 0811 0731 0819 0807 0826 0816 0806 0824 0813 0802 0820 0809 0828 0817 0807 0825 0814 0804
0822 0810 0829 0819 0808 0826 0816 0805 0824 0812 0801 0820 0810 0828 0817 0807 0826 0814 0803 0822 0811 0731 0819
0808 0827 0816 0805 0823
"""
_MID_AUTUMN = """
0912 1001 0921 0911 0928 0918 1006 0925 0914 1003 0922 0912 0930 0919 0908 0927 0915 1004 0924 0913 1001 0921 0910
0929 0917 1006 0925 0915 1003 0922 0912 1001 0919 0908 0927 0916 1004 0924 0913 1002 0920 0910 0928 0917 1005 0925
0915 1004 0922 0911 0930
"""
_DOUBLE_NINTH = """
1006 1025 1014 1004 1022 1011 1030 1019 1007 1026 1016 1005 1023 1013 1002 1021 1009 1028 1017 1007 1025 1014 1004
1023 1011 1029 1018 1008 1026 1016 1005 1024 1012 1001 1020 1009 1027 1017 1007 1026 1014 1003 1022 1011 1029 1018
1008 1027 1016 1005 1024
"""
FIRST_YEAR = 2000

Of = Callable[[int], Days | None]


def _fixed(month: int, first: int, last: int | None = None) -> Of:
    return lambda year: Days(date(year, month, first), date(year, month, last or first))


def _lunar(table: str, before: int = 0, after: int = 0) -> Of:
    """The days around a lunar holiday, from `before` to `after`."""
    days = table.split()

    def of(year: int) -> Days | None:
        if not FIRST_YEAR <= year < FIRST_YEAR + len(days):
            return None
        digits = days[year - FIRST_YEAR]
        day = date(year, int(digits[:2]), int(digits[2:]))
        return Days(day + timedelta(days=before), day + timedelta(days=after))

    return of


def _easter(first: int, last: int) -> Of:
    def of(year: int) -> Days:
        a, b, c = year % 19, year // 100, year % 100
        d = (19 * a + b - b // 4 - (b - (b + 8) // 25 + 1) // 3 + 15) % 30
        e = (32 + 2 * (b % 4) + 2 * (c // 4) - d - c % 4) % 7
        month, day = divmod(d + e - 7 * ((a + 11 * d + 22 * e) // 451) + 114, 31)
        sunday = date(year, month, day + 1)
        return Days(sunday + timedelta(days=first), sunday + timedelta(days=last))

    return of


def _nth(month: int, weekday: int, n: int) -> Of:
    def of(year: int) -> Days:
        first = date(year, month, 1)
        day = first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * (n - 1))
        return Days(day, day)

    return of


def _clear_bright(year: int) -> Days:
    day = date(year, 4, int(year % 100 * 0.2422 + 4.81) - year % 100 // 4)
    return Days(day, day)


# Longer names first. Mother's Day is left out in English, because countries celebrate it on two different days.
_HOLIDAYS: tuple[tuple[str, Of], ...] = (
    (r"christmas eve|平安夜|圣诞前夜", _fixed(12, 24)),
    (r"christmas day", _fixed(12, 25)),
    (r"christmas(?! tree| card| present| party| song| dinner)|圣诞节?(?!老人|树|卡)", _fixed(12, 24, 26)),
    (r"boxing day", _fixed(12, 26)),
    (r"new year['’]s eve|跨年夜?", _fixed(12, 31)),
    (r"new year['’]s day|元旦", _fixed(1, 1)),
    (r"valentine['’]?s(?: day)?|情人节", _fixed(2, 14)),
    (r"halloween|万圣节", _fixed(10, 31)),
    (r"good friday", _easter(-2, -2)),
    (r"easter monday", _easter(1, 1)),
    (r"easter sunday", _easter(0, 0)),
    (r"easter|复活节", _easter(-2, 1)),
    (r"thanksgiving|感恩节", _nth(11, 3, 4)),
    (r"father['’]s day|父亲节", _nth(6, 6, 3)),
    (r"母亲节", _nth(5, 6, 2)),
    (r"除夕夜?|大年三十|年三十|chinese new year['’]s eve", _lunar(_SPRING_FESTIVAL, -1, -1)),
    (r"大年初一|年初一", _lunar(_SPRING_FESTIVAL)),
    (r"春节|过年(?:的时候|那|期间|时)|chinese new year|lunar new year", _lunar(_SPRING_FESTIVAL, -1, 6)),
    (r"元宵节?", _lunar(_SPRING_FESTIVAL, 14, 14)),
    (r"端午节?|dragon boat festival", _lunar(_DRAGON_BOAT)),
    (r"七夕节?", _lunar(_SEVENTH_NIGHT)),
    (r"中秋节?|mid-autumn festival", _lunar(_MID_AUTUMN)),
    (r"重阳节?", _lunar(_DOUBLE_NINTH)),
    (r"清明节?", _clear_bright),
    (r"国庆节?(?:假期|长假)?|十一(?:假期|长假)", _fixed(10, 1, 7)),
    (r"五一(?:劳动节|假期|长假|节)?(?!班)|劳动节", _fixed(5, 1, 5)),
    (r"儿童节|六一(?:节)?(?!班)", _fixed(6, 1)),
    (r"教师节", _fixed(9, 10)),
    (r"妇女节|三八节", _fixed(3, 8)),
    (r"双十一|双11", _fixed(11, 11)),
)
_NAMED = re.compile(
    rf"(?:(?P<year>(?:19|20)\d\d年|{YEAR_ZH})的?|(?P<which>\b(?:last|this|next)\s+|上个|这个|下个))?"
    rf"(?:{'|'.join(f'(?P<f{place}>{words})' for place, (words, _) in enumerate(_HOLIDAYS))})"
    r"(?!\w*s\b)(?:,?\s+(?:of\s+|in\s+)?(?P<after>(?:19|20)\d\d|last year|this year|next year)\b)?",
    re.I,
)
_WHICH = {"上个": "last", "这个": "this", "下个": "next"}


def find_holiday(text: str) -> tuple[Of, str, str] | None:
    """The first holiday of `text`: its days by year, whether the last, this or the next one is meant, and the words
    that give its year; "" for what is not given."""
    match = _NAMED.search(text)
    if match is None or (match[0].isascii() and text[match.start() - 1 : match.start()].isalpha()):
        return None  # none, or inside a word
    of = next(of for place, (_, of) in enumerate(_HOLIDAYS) if match[f"f{place}"])
    which = (match["which"] or "").strip().casefold()
    return of, _WHICH.get(which, which), match["year"] or match["after"] or ""

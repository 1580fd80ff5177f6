"""Moments as apps write them for people, in the language of the phone: a date, a time of day, perhaps a zone. Pure.

    May 24, 2020 10:14:22 AM       24. Mai 2020 um 10:14:22 MESZ       10 de mai. de 2026, 03:46:09 BRT
    2020年5月24日 下午10:14          2020. 5. 24. 오후 10:14             24 мая 2020 г., 10:14:22

Only numeric offsets from UTC count as a zone; letters (CST) name several zones and are ignored: the time is then local
to the person who exported it.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo

from echovessel.language import lazy_re as re
from echovessel.process.word_caches import cached_words
from memory.imports.readers.clock_words import HALF_AHEAD, HALF_BEHIND, hour_of

_LONGEST = 90
# Beginnings of the names of months: the longest matching one counts.
_STEMS: dict[str, int] = {
    stem: number
    for number, stems in enumerate(
        (
            "jan jän gen ene ian janv янв січ oca sty led tammi ιαν ינו ม.ค มกรา يناير जन",
            "feb fév fev fév febr фев лют şub lut úno helmi φεβ פבר ก.พ กุมภา فبراير फ़र फर",
            "mar mär maa már mars бер мар brez bře maalis μαρ μάρ מרץ มี.ค มีนา مارس मार्च",
            "apr avr abr апр кві nis kwi dub ápr huhti απρ אפר เม.ย เมษา أبريل ابريل अप्रैल",
            "may mai mag maj mei máj май мая тра kvě touko μαΐ μαι μάι מאי พ.ค พฤษภา مايو मई",
            "jun juin giu haz cze čvn čer jún iun kesä июн чер ιουν ιούν יונ มิ.ย มิถุนา يونيو जून",
            "jul juil lug tem lip čvc jún·l júl iul heinä июл лип ιουλ ιούλ יול ก.ค กรกฎา يوليو जुल",
            "aug aoû aou ago agu ağu sie srp elo авг сер αυγ αύγ אוג ส.ค สิงหา أغسطس اغسطس अग",
            "sep set eyl wrz zář szept syys сен вер σεπ ספט ก.ย กันยา سبتمبر सित",
            "oct okt ott out eki paź říj loka окт жов οκτ אוק ต.ค ตุลา أكتوبر اكتوبر अक्त",
            "nov kas lis marras noi ноя лис νοε נוב พ.ย พฤศจิ نوفمبر नव",
            "dec déc dez dic des ara gru pro joulu дек гру δεκ דצמ ธ.ค ธันวา ديسمبر दिस",
        ),
        start=1,
    )
    for stem in stems.split()
}
# Thai phones count years in the Buddhist era.
_BUDDHIST_FROM, _BUDDHIST_AHEAD = 2400, 543
_LAST_CENTURY = 70
_GAP = r"[ \t\u00a0\u202f]"
_WORD = r"[^\W\d_]+(?:\.[^\W\d_]+)*\.?"
_ZONE = re.compile(
    rf"{_GAP}*[(\[]?(?P<zone>Z(?!\w)|(?:UTC|GMT)?{_GAP}?(?P<sign>[+\-−])(?P<hours>\d{{1,2}})(?::?(?P<minutes>\d{{2}}))?"
    rf"(?!\d)|UTC(?!\w)|GMT(?!\w))[)\]]?"
)
_CLOCK = re.compile(
    rf"(?P<ahead>(?<![^\W\d_]){HALF_AHEAD})?{_GAP}*(?<![\d.:/-])(?P<hour>\d{{1,2}})(?:[:：.](?P<minute>\d{{2}})|{_GAP}?[h時时시]"
    rf"{_GAP}?(?P<minute_h>\d{{2}})(?:{_GAP}?[分분])?)(?:[:：.](?P<second>\d{{2}})(?:[.,]\d{{1,9}})?)?(?!\d)"
    rf"(?:{_GAP}*(?P<behind>{HALF_BEHIND}))?",
    re.I,
)
_DATES = (
    rf"(?P<y1>\d{{4}}){_GAP}*(?:年|년|[-/.]){_GAP}*(?P<m1>\d{{1,2}}){_GAP}*(?:月|월|[-/.]){_GAP}*(?P<d1>\d{{1,2}})"
    rf"(?:{_GAP}*[日일]|\.(?!\d))?(?!\d)",
    rf"(?P<w2>{_WORD}){_GAP}+(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?!\d),?{_GAP}+(?P<y2>\d{{4}})(?!\d)",
    rf"(?P<d3>\d{{1,2}})(?:\.|er|º|°)?{_GAP}*(?:de{_GAP}+|of{_GAP}+)?(?:thg|tháng)?{_GAP}*(?P<w3>{_WORD}|\d{{1,2}}(?=,))"
    rf",?{_GAP}+(?:del?{_GAP}+)?(?P<y3>\d{{4}})(?!\d)",
    r"(?<![\d.:/-])(?P<a4>\d{1,2})(?P<mark>[-/.])[ \u00a0]?(?P<b4>\d{1,2})(?P=mark)[ \u00a0]?(?P<y4>\d{4}|\d{2})(?!\d)",
)
_DATE = re.compile("|".join(_DATES))
# Text around a date and a time besides weekdays: prepositions, "Uhr", "г.", and the letters of a zone.
_MARKS = re.compile(r"[\s,，、.()（）|·\u200e\u200f\u202a-\u202e–-]+")
_PREPOSITIONS = frozenset(
    {
        "t", "at", "on", "the", "um", "am", "den", "uhr", "à", "a", "le", "la", "las", "los", "el", "às", "as",
        "alle", "ore", "il", "kl", "klo", "kello", "om", "de", "del", "di", "o", "ob", "godz", "dia", "pukul", "pada",
        "tanggal", "lúc", "ngày", "saat", "в", "во", "г", "р", "года", "о", "ve", "και", "στις", "στο",
    }
)  # fmt: skip
_ZONE_LETTERS = re.compile(r"[A-Z]{2,5}")


@dataclass(frozen=True)
class Moment:
    """A date and a time of day as written. With `open_order`, `month` is the first of two numbers and `day` the second;
    only the whole file tells which is which."""

    year: int
    month: int
    day: int
    clock: time | None
    open_order: bool = False

    def at(self, day_first: bool = False) -> datetime | None:
        """The moment; None if the day does not exist, or there is no time of day."""
        month, day = (self.day, self.month) if self.open_order and day_first else (self.month, self.day)
        try:
            return datetime.combine(date(self.year, month, day), self.clock) if self.clock else None
        except ValueError:
            return None


@cached_words(maxsize=4_000)
def moment_in(text: str) -> Moment | None:
    """The moment in `text`; None if the text is no moment, or has other words.

    >>> moment_in("Montag, 24. Mai 2020 um 10:14:22").at()
    datetime.datetime(2020, 5, 24, 10, 14, 22)
    >>> moment_in("24 May 2020, 10:14 PM and so on"), moment_in("Ana 24 May 2020, 10:14")
    (None, None)
    """
    if len(text) > _LONGEST:
        return None
    dated = next((match for match in _DATE.finditer(text) if _numbers(match)), None)
    if dated is None:
        return None
    ahead, behind = text[: dated.start()], text[dated.end() :]
    clocked = _CLOCK.search(behind) or _CLOCK.search(ahead)
    if clocked is None:
        return None
    inside = behind if clocked.string is behind else ahead
    zone_at = _ZONE.match(inside, clocked.end())
    between = inside[: clocked.start()]
    if zone_at is None and (zone_at := _ZONE.match(between)):
        # In Chinese the zone precedes the time.
        between = between[zone_at.end() :]
        rest = between, inside[clocked.end() :]
    else:
        rest = between, inside[zone_at.end() if zone_at else clocked.end() :]
    # Weekdays, prepositions and letters of a zone may be around a date.
    others = (*rest, ahead if inside is behind else behind)
    words = [word for part in others for word in _MARKS.split(part) if word]
    expected = (_ZONE_LETTERS.fullmatch(word) or word.casefold() in _PREPOSITIONS or is_weekday(word) for word in words)
    if not all(expected):
        return None
    clock = _clock(clocked, zone_at)
    numbers = _numbers(dated)
    return Moment(*numbers[:3], clock, numbers[3]) if numbers and clock else None


_WEEKDAYS = frozenset(
    {
        "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "montag", "dienstag",
        "mittwoch", "donnerstag", "freitag", "samstag", "sonnabend", "sonntag", "lundi", "mardi", "mercredi", "jeudi",
        "vendredi", "samedi", "dimanche", "lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo",
        "lunedì", "martedì", "mercoledì", "giovedì", "venerdì", "sabato", "domenica", "segunda", "terça", "quarta",
        "quinta", "sexta", "feira", "maandag", "dinsdag", "woensdag", "donderdag", "vrijdag", "zaterdag", "zondag",
        "måndag", "tisdag", "onsdag", "torsdag", "fredag", "lördag", "söndag", "mandag", "tirsdag", "lørdag",
        "søndag", "понедельник", "вторник", "среда", "четверг", "пятница", "суббота", "воскресенье", "понеділок",
        "вівторок", "середа", "четвер", "п'ятниця", "субота", "неділя", "poniedziałek", "wtorek", "środa", "czwartek",
        "piątek", "sobota", "niedziela", "pazartesi", "çarşamba", "perşembe", "cuma", "cumartesi", "pazar", "senin",
        "selasa", "rabu", "kamis", "jumat", "sabtu", "minggu", "hétfő", "kedd", "szerda", "csütörtök", "péntek",
        "szombat", "vasárnap", "星期一", "星期二", "星期三", "星期四", "星期五", "星期六", "星期日", "月曜日",
        "火曜日", "水曜日", "木曜日", "金曜日", "土曜日", "日曜日", "월요일", "화요일", "수요일", "목요일", "금요일",
        "토요일", "일요일",
    }
)  # fmt: skip


_SHORT_WEEKDAYS = frozenset(
    {
        "mon", "tue", "tues", "wed", "thu", "thur", "thurs", "fri", "sat", "sun", "mo", "di", "mi", "do", "fr", "sa",
        "so", "lun", "mar", "mer", "jeu", "ven", "sam", "dim", "mié", "mie", "jue", "vie", "sáb", "sab", "dom", "gio",
        "seg", "ter", "qua", "qui", "sex", "ma", "wo", "vr", "za", "zo", "mån", "tis", "ons", "tor", "tors", "fre",
        "lör", "sön", "man", "tir", "lør", "пн", "вт", "ср", "чт", "пт", "сб", "вс", "нд", "pn", "wt", "śr", "czw",
        "pt", "niedz", "sob", "日", "月", "火", "水", "木", "金", "土", "월", "화", "수", "목", "금", "토", "일",
        "周一", "周二", "周三", "周四", "周五", "周六", "周日", "週一", "週二", "週三", "週四", "週五", "週六",
        "週日", "礼拜一", "礼拜二", "礼拜三", "礼拜四", "礼拜五", "礼拜六", "礼拜天", "星期天",
    }
)  # fmt: skip


# Any of them, longest first, for patterns.
WEEKDAY = "|".join(sorted(map(re.escape, _WEEKDAYS | _SHORT_WEEKDAYS), key=len, reverse=True))


def is_weekday(word: str) -> bool:
    """Whether `word` is the name of a day of the week, whole or shortened."""
    return is_full_weekday(word) or word.strip(" .,").casefold() in _SHORT_WEEKDAYS


def is_full_weekday(word: str) -> bool:
    return word.strip(" .,").casefold() in _WEEKDAYS


def month_of(word: str) -> int | None:
    """The month of this name in any of the known languages.

    >>> month_of("Mai"), month_of("maalisk."), month_of("мая"), month_of("Maria")
    (5, 3, 5, 3)
    """
    folded = word.casefold()
    return next((_STEMS[folded[:size]] for size in range(min(len(folded), 9), 1, -1) if folded[:size] in _STEMS), None)


def _numbers(match: re.Match[str]) -> tuple[int, int, int, bool] | None:
    """Year, month and day, and whether the order of the last two is open."""
    if match["y1"]:
        numbers = year_of(match["y1"]), int(match["m1"]), int(match["d1"]), False
    elif match["y2"]:
        numbers = year_of(match["y2"]), month_of(match["w2"]) or 0, int(match["d2"]), False
    elif match["y3"]:
        month_text = match["w3"]
        month = int(month_text) if month_text.isdecimal() else month_of(month_text)
        numbers = year_of(match["y3"]), month or 0, int(match["d3"]), False
    elif match["mark"] == ".":
        numbers = year_of(match["y4"]), int(match["b4"]), int(match["a4"]), False
    else:
        numbers = year_of(match["y4"]), int(match["a4"]), int(match["b4"]), True
    year, month, day, _open = numbers
    return numbers if 1900 <= year <= 2200 and (1 <= month <= 31 and 1 <= day <= 31 and min(month, day) <= 12) else None


def year_of(digits: str) -> int:
    year = int(digits)
    if len(digits) > 2:
        return year - _BUDDHIST_AHEAD if year > _BUDDHIST_FROM else year
    return year + (1900 if year >= _LAST_CENTURY else 2000)


def _clock(match: re.Match[str], zone_at: re.Match[str] | None) -> time | None:
    hour = hour_of(int(match["hour"]), match["ahead"] or match["behind"] or "")
    zone: tzinfo | None = UTC if zone_at else None
    if zone_at and zone_at["hours"]:
        distance = timedelta(hours=int(zone_at["hours"]), minutes=int(zone_at["minutes"] or 0))
        if distance < timedelta(hours=24):
            zone = timezone(distance if zone_at["sign"] == "+" else -distance)
    try:
        return time(hour, int(match["minute"] or match["minute_h"]), int(match["second"] or 0), tzinfo=zone)
    except ValueError:
        return None


_MONTH_NAMES = frozenset(
    {
        "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
        "december", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec", "januar",
        "februar", "märz", "mai", "juni", "juli", "oktober", "dezember", "janvier", "février", "mars", "avril",
        "juin", "juillet", "août", "septembre", "octobre", "novembre", "décembre", "enero", "febrero", "marzo",
        "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre", "janeiro",
        "fevereiro", "março", "maio", "junho", "julho", "setembro", "outubro", "novembro", "dezembro", "gennaio",
        "febbraio", "aprile", "maggio", "giugno", "luglio", "settembre", "ottobre", "dicembre",
        "januari", "februari", "maart", "mei", "augustus", "marts", "luty", "marzec", "maj", "czerwiec", "lipiec",
        "listopad", "ocak", "mart", "nisan", "haziran", "temmuz", "ekim", "desember", "agustus",
    }
)  # fmt: skip


def is_month(word: str) -> bool:
    """Whether `word` is the whole name of a month, or a usual short form."""
    return word.casefold().strip(".") in _MONTH_NAMES

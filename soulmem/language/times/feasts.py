"""The days of feasts: Western ones, and those of the Chinese calendar from 1950 to 2060."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta
from functools import cache

from soulmem.domain.calendar import shifted, year_within

# Five hexadecimal digits a year from 1950: bit i is set where the i-th month has 30 days instead of 29; above
# these stands the number of the leap month, if there is one, times 2^13.
_FIRST_YEAR, _FIRST_DAY = 1950, date(1950, 2, 17)
_CODES = (
    "0053600aad0b5aa005b200ba507d4a00d4a10a9500a97005560cab500ad5006d208ea500ea50064a06c9700a9b0f55a0056a"
    "00b690b75200b5200b250964b00a4b114ab002ad005ad0cb6900da900d9209d2500d2515a4d00a56002b60c5b5006d500ea9"
    "0be9200e9200d2606a5600a57114d60035a006d50b6c900749006930952b0052b00a5b0555a0056a0fb5500ba400b490ba93"
    "00a950052d08aad00ab5135aa005d200da50dd4a00d4a00c950952e0055600ab5055b2006d20cea5007250064b0ac9700cab"
    "0055a06ad600b691775200b5200b250da4b00a4b004ab0a55b005ad00b6a05b5200d920fd2500d2500a550b4ad004b6005b5"
    "06daa00ec911e9200e9200d260ca5600a5700556086d50075500749"
)
_YEARS = [int(_CODES[i : i + 5], 16) for i in range(0, len(_CODES), 5)]

_Day = Callable[[int], "date | None"]


def lunar_day(year: int, month: int, day: int) -> date | None:
    """The day of the Chinese calendar, leap months apart; None outside the years of the table."""
    start = _new_year(year)
    if start is None:
        return None
    code = _YEARS[year - _FIRST_YEAR]
    leap = code >> 13
    before = month - 1 + (0 < leap < month)
    return start + timedelta(29 * before + bin(code & ((1 << before) - 1)).count("1") + day - 1)


def easter(year: int) -> date:
    """Easter Sunday of the western churches; Meeus, Jones, Butcher."""
    a, (b, c) = year % 19, divmod(year, 100)
    d, e = divmod(b, 4)
    g = (8 * b + 13) // 25
    h = (19 * a + b - d - g + 15) % 30
    i, k = divmod(c, 4)
    m = (32 + 2 * e + 2 * i - h - k) % 7
    n = (a + 11 * h + 22 * m) // 451
    month, day = divmod(h + m - 7 * n + 114, 31)
    return date(year, month, day + 1)


@cache
def _new_year(year: int) -> date | None:
    index = year - _FIRST_YEAR
    if not 0 <= index < len(_YEARS):
        return None
    days = 0
    for code in _YEARS[:index]:
        months = 13 if code >> 13 else 12
        days += 29 * months + bin(code & 0x1FFF).count("1")
    return _FIRST_DAY + timedelta(days)


def _thanksgiving(year: int) -> date:
    first = date(year, 11, 1)
    return first + timedelta((3 - first.weekday()) % 7 + 21)


def _fixed(month: int, day: int) -> _Day:
    return lambda year: date(year, month, day)


def _lunar(month: int, day: int, shift: int = 0) -> _Day:
    def of_year(year: int) -> date | None:
        feast_day = lunar_day(year, month, day)
        return feast_day + timedelta(shift) if feast_day is not None else None

    return of_year


def _tomb_sweeping(year: int) -> date:
    return date(year, 4, 4 if year % 4 in (0, 1) else 5)  # right from 1980 to 2060 but for the hour


# What it is called, as patterns; how many days it begins before its day, how many it lasts; its day in a year
_FEASTS: tuple[tuple[str, int, int, _Day], ...] = (
    (r"christmas eve / xmas eve / 平安夜 / 聖誕夜 / 圣诞夜", 0, 1, _fixed(12, 24)),
    (r"christmas day", 0, 1, _fixed(12, 25)),
    (r"christmas / xmas / 圣诞节? / 聖誕節? / クリスマス", 1, 3, _fixed(12, 25)),
    (r"new year'?s eve / 大晦日 / 跨年夜?", 0, 2, _fixed(12, 31)),
    (
        r"(?:lunar|chinese) new year / spring festival / 春节 / 春節 / 过年 / 過年 / 大年初一",
        1,
        8,
        _lunar(1, 1),
    ),
    (
        r"(?:lunar|chinese) new year'?s eve / 除夕夜? / 年三十 / 大年夜",
        0,
        1,
        _lunar(1, 1, -1),
    ),
    (r"new year'?s day / new year'?s / 元旦 / 元日 / 正月", 1, 2, _fixed(1, 1)),
    (r"lantern festival / 元宵节? / 元宵節", 0, 1, _lunar(1, 15)),
    (r"valentine'?s(?: day)? / 情人节 / 情人節 / バレンタイン", 0, 1, _fixed(2, 14)),
    (r"women'?s day / 妇女节 / 三八节", 0, 1, _fixed(3, 8)),
    (r"april fool'?s(?: day)? / 愚人节 / 愚人節", 0, 1, _fixed(4, 1)),
    (r"qingming / tomb[- ]sweeping day / 清明节? / 清明節", 1, 3, _tomb_sweeping),
    (r"easter(?: sunday)? / 复活节 / 復活節", 2, 4, easter),
    (
        r"labou?r day / 五一(?:节|假期|长假|黄金周|劳动节) / 劳动节 / 勞動節",
        0,
        5,
        _fixed(5, 1),
    ),
    (r"children'?s day / 六一(?:儿童节)? / 儿童节 / 兒童節", 0, 1, _fixed(6, 1)),
    (r"dragon boat festival / 端午节? / 端午節", 0, 3, _lunar(5, 5)),
    (r"independence day / fourth of july / 4th of july", 0, 1, _fixed(7, 4)),
    (r"qixi(?: festival)? / 七夕节? / 七夕節", 0, 1, _lunar(7, 7)),
    (
        r"mid-?autumn(?: festival)? / moon festival / 中秋节? / 中秋節",
        0,
        3,
        _lunar(8, 15),
    ),
    (r"double ninth festival / 重阳节? / 重陽節", 0, 1, _lunar(9, 9)),
    (
        r"(?:chinese )?national day / 国庆节? / 國慶節? / 十一(?:假期|长假|黄金周)",
        0,
        7,
        _fixed(10, 1),
    ),
    (r"hallowe'?en / 万圣节 / 萬聖節 / ハロウィン", 0, 1, _fixed(10, 31)),
    (r"singles'? day / 双十一 / 光棍节 / 雙十一", 0, 1, _fixed(11, 11)),
    (r"thanksgiving / 感恩节 / 感恩節", 0, 4, _thanksgiving),
)
_LATIN = re.compile("[a-z]")
_NAMES = sorted(" / ".join(names for names, _, _, _ in _FEASTS).split(" / "), key=len, reverse=True)
ENGLISH = "|".join(
    name for name in _NAMES if _LATIN.search(name)
)  # a pattern, the longest names first
CHINESE = "|".join(name for name in _NAMES if not _LATIN.search(name))


def feast(name: str, year: int) -> tuple[date, int] | None:
    """The first day of the feast of that name in a year, and how many it has; None where it is unknown."""
    if year != year_within(year):
        return None
    for names, before, length, day in _FEASTS:
        if re.fullmatch(names.replace(" / ", "|"), name, re.IGNORECASE):
            feast_day = day(year)
            if feast_day is None:
                return None
            return shifted(feast_day, -timedelta(before)), length
    return None

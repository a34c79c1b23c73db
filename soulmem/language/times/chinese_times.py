"""Chinese words for past times, and the commonest Japanese ones, with the times that they mean."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from soulmem.language.times import feasts
from soulmem.language.times.counting import (
    Reader,
    back_by,
    days_back,
    found,
    in_day,
    latest,
    of_day,
    on_day,
    one_reading,
    up_to_now,
)
from soulmem.language.times.spans import FIRST, Span, TimeReading, Today, third

_DIGITS = {sign: i for i, sign in enumerate("零一二三四五六七八九")} | {
    "〇": 0,
    "两": 2,
    "兩": 2,
}
_WEEKDAYS = "一二三四五六日"
_JAPANESE_WEEKDAYS = "月火水木金土日"
_VAGUE = {
    "几": (2.0, 5.0),
    "幾": (2.0, 5.0),
    "数": (2.0, 6.0),
    "數": (2.0, 6.0),
    "好几": (3.0, 8.0),
}
_UNITS = {
    "分": "minute",
    "小": "hour",
    "钟": "hour",
    "鐘": "hour",
    "时": "hour",
    "時": "hour",
    "天": "day",
}
_UNITS |= {
    "日": "day",
    "晚": "day",
    "星": "week",
    "礼": "week",
    "禮": "week",
    "周": "week",
    "週": "week",
}
_UNITS |= {"月": "month", "年": "year"}
_PARTS = {
    "上": "morning",
    "早": "morning",
    "朝": "morning",
    "清": "morning",
    "中": "noon",
    "下": "afternoon",
}
_PARTS |= {
    "傍": "evening",
    "晚": "evening",
    "夜": "night",
    "半": "night",
    "深": "night",
    "凌": "dawn",
}
_DAYS = {"大前": 3, "一昨日": 2, "おととい": 2, "前": 2, "きのう": 1, "昨": 1, "今": 0}
_YEARS = {
    "大前年": 3,
    "一昨年": 2,
    "おととし": 2,
    "前年": 2,
    "去年": 1,
    "昨年": 1,
    "今年": 0,
    "本年": 0,
}
_SEASONS = {"春": "spring", "夏": "summer", "秋": "autumn", "冬": "winter"}
_HOLIDAYS = {"暑假": (7, 9), "寒假": (1, 3)}  # first month, and the one after the last
_SIGNS = "一二三四五六七八九"

# A pattern names its parts: n a number, u a unit, m a month, d its day, y a year, w a weekday, s a season, v
# school holidays, f a feast, p a part of the day, e a part of a longer time, k the word that leads in.
_PIECES = {
    "<N>": rf"(?P<n>好几|[{_SIGNS}两兩十百零〇\d]{{1,4}}|半|几|幾|数|數)(?P<half>[个個]半)?",
    "<UNIT>": "(?P<u>分[钟鐘]?|[个個]?小[时時]|[个個]?[钟鐘][头頭]|[时時][间間]|天|日|晚|[个個]?星期"
    "|[个個]?[礼禮]拜|[周週][间間]?|[个個ヶヵか箇]?月|年)(?P<more>多|半)?",
    "<PART>": "(?:[的の]?(?P<p>早上|早晨|清晨|上午|中午|下午|傍晚|晚上|[夜半深][里裡晚夜]|凌晨|晚|夜|朝))?",
    "<YEAR>": "(?P<y>大前年|一昨年|おととし|(?<!以)前年(?![轻輕])|去年(?![轻輕])|昨年|今年|本年"
    rf"|(?:19|20)\d\d年|[一二][〇零{_SIGNS}]{{3}}年)",
    "<MONTH>": rf"(?P<m>(?<!\d)(?:1[0-2]|0?[1-9])|(?<![{_SIGNS}十几幾])(?:十[一二]?|[{_SIGNS}]))月",
    "<DAY>": rf"(?P<d>[12]\d|3[01]|0?[1-9]|[二三]?十[{_SIGNS}]?|[{_SIGNS}])[日号號]",
    "<EDGE>": "(?P<e>上旬|中旬|下旬|初|中|底|末)",
    "<SEASON>": "(?P<s>[春夏秋冬])[天季の]?",
    "<FEAST>": f"(?P<f>{feasts.CHINESE})",
    "<TALK>": "(?:聊天|聊|[对對][话話]|[谈談][话話]|[说說][话話]|[见見]面|[会會][话話]|通[话話]|碰面)",
    "<PAST>": "(?P<k>上{1,4}|先々|先|[这這本今])(?:一?[个個])?",
    "<BEFORE>": "(?:之前|以前|前)",
}


def number(words: str) -> float:
    """A whole number below 1000 in Chinese or Arabic digits; 半 is .5."""
    if words.isdigit():
        return float(words)
    if words == "半":
        return 0.5
    if set(words).isdisjoint("十百"):
        return float("".join(str(_DIGITS.get(sign, sign)) for sign in words))
    total, digit = 0, 0
    for sign in words:
        if sign in "十百":
            total += (digit or 1) * (10 if sign == "十" else 100)
            digit = 0
        else:
            digit = _DIGITS[sign] if sign in _DIGITS else int(sign)
    return float(total + digit)


def _count(match: re.Match[str]) -> tuple[float, float, float]:
    """A number of units: the likeliest, the least and the most."""
    words = match["n"]
    half = 0.5 if match["half"] or match["more"] == "半" else 0.0
    low, high = _VAGUE.get(words) or (number(words),) * 2
    return (
        (low + high) / 2 + half,
        low + half,
        high + half + (0.5 if match["more"] == "多" else 0.0),
    )


def _piece(match: re.Match[str], name: str) -> str:
    """What the pattern found under that name; empty where it looked for no such thing."""
    return match.groupdict().get(name) or ""


def _unit(match: re.Match[str]) -> str:
    return _UNITS[match["u"].lstrip("个個ヶヵか箇")[0]]


def _part(match: re.Match[str]) -> str | None:
    words = _piece(match, "p")
    return _PARTS[words[0]] if words else None


def _year(match: re.Match[str], today: Today) -> int | None:
    words = _piece(match, "y")
    if not words:
        return None
    return today.this_day.year - _YEARS[words] if words in _YEARS else int(number(words[:4]))


def _is_named(match: re.Match[str]) -> bool:
    """Whether a year is called by its number."""
    return bool(words := _piece(match, "y")) and words not in _YEARS


def _back(match: re.Match[str]) -> int:
    """How many weeks or months the leading word goes back."""
    return match["k"].count("上") + match["k"].count("先") + match["k"].count("々")


def _edged(match: re.Match[str], span: Span | None, confidence: float) -> TimeReading | None:
    """The span, or the part of it that is meant and then the whole."""
    edge = _piece(match, "e")
    if span is None or not edge:
        return one_reading(span, confidence, _is_named(match))
    part = {"初": "early", "上": "early", "中": "middle"}.get(edge[0], "late")
    return TimeReading((third(span, part), span), confidence, is_absolute=_is_named(match))


def _ago(match: re.Match[str], today: Today) -> TimeReading | None:
    n, low, high = _count(match)
    slack = 0.35 if match["about"] else 0.0
    sure = 0.9 if low == high else 0.7
    return back_by(today, _unit(match), low * (1 - slack), n, high * (1 + slack), sure)


def _last_units(match: re.Match[str], today: Today) -> TimeReading | None:
    return up_to_now(today, _unit(match), _count(match)[2], 0.7)


def _day(match: re.Match[str], today: Today) -> TimeReading:
    back = next(days for word, days in _DAYS.items() if match["k"].startswith(word))
    return of_day(today, back, _part(match), 0.95 if back else 0.5)


def _date(match: re.Match[str], today: Today) -> TimeReading | None:
    year, month, day = (
        _year(match, today),
        int(number(match["m"])),
        int(number(match["d"])),
    )
    date = on_day(today, year, month, day) if month <= 12 else None
    return in_day(today, date, _part(match), 0.95, _is_named(match)) if date is not None else None


def _numbers(match: re.Match[str], today: Today) -> TimeReading | None:
    year, month, day = (int(match[name]) for name in ("y", "m", "d"))
    date = on_day(today, year, month, day) if month <= 12 else None
    return in_day(today, date, None, 0.95, absolute=True) if date is not None else None


def _month(match: re.Match[str], today: Today) -> TimeReading | None:
    month, year = int(number(match["m"])), _year(match, today)
    span = latest(today, lambda y: today.month(y, month), year, is_over=False)
    return _edged(match, span, 0.9 if year else 0.7)


def _season(match: re.Match[str], today: Today) -> TimeReading | None:
    season, is_over = _SEASONS[match["s"]], _piece(match, "k").startswith("上")
    return _edged(
        match,
        latest(today, lambda y: today.season(y, season), _year(match, today), is_over),
        0.9,
    )


def _holidays(match: re.Match[str], today: Today) -> TimeReading | None:
    first, after = _HOLIDAYS[match["v"]]
    year, is_over = _year(match, today), _piece(match, "k").startswith("上")
    span = latest(
        today,
        lambda y: today.month_span(y, first, after - first),
        year,
        is_over,
    )
    return _edged(match, span, 0.9 if year or is_over else 0.6)


def _feast(match: re.Match[str], today: Today) -> TimeReading | None:
    def of_year(year: int) -> Span | None:
        days = feasts.feast(match["f"], year)
        return today.days(*days) if days else None

    year, which = _year(match, today), _piece(match, "k")
    span = latest(today, of_year, year, is_over=which.startswith("上"))
    return _edged(match, span, 0.9 if year or which else 0.6)


def _whole_year(match: re.Match[str], today: Today) -> TimeReading | None:
    year = _year(match, today)
    assert year is not None
    return _edged(match, today.year(year), 0.5 if match["y"] in ("今年", "本年") else 0.85)


def _week(match: re.Match[str], today: Today) -> TimeReading:
    back, day = _back(match), match["w"]
    if match["ja"]:
        day = _WEEKDAYS[_JAPANESE_WEEKDAYS.index(match["ja"])]
    if day == "末":
        return TimeReading((today.weekend(back),), 0.85)
    if not day:
        return TimeReading((today.week(back),), 0.85 if back else 0.5)
    span = today.weekday(_WEEKDAYS.index("日" if day == "天" else day), back)
    return in_day(today, span.start.date(), _part(match), 0.9)


def _months_back(match: re.Match[str], today: Today) -> TimeReading | None:
    back = _back(match)
    month = today.months_back(back)
    if not match["d"]:
        return _edged(match, month, 0.85 if back else 0.5)
    first = month.start.date()
    day = on_day(today, first.year, first.month, int(number(match["d"])))
    return in_day(today, day, _part(match), 0.95) if day is not None else None


def _sessions(match: re.Match[str], _: Today) -> TimeReading | None:
    words = match["n"]
    n = round(sum(_VAGUE[words]) / 2) if words in _VAGUE else round(number(words))
    return TimeReading((), 0.9, sessions=n) if n >= 1 else None


def _last_session(match: re.Match[str], _: Today) -> TimeReading:
    return TimeReading(
        (),
        0.9 if match["talk"] or len(match["k"]) > 1 else 0.5,
        sessions=len(match["k"]),
    )


def _days(least: int, most: int, confidence: float = 0.6) -> Reader:
    return lambda _, today: days_back(today, least, most, confidence)


def _first(confidence: float) -> Reader:
    return lambda _match, _today: TimeReading((), confidence, sessions=FIRST)


_RULES: tuple[tuple[str, Reader], ...] = (
    (r"(?P<about>大概|大约|大約|差不多|[约約快])?<N><UNIT><BEFORE>(?![面后後])", _ago),
    (r"<N>[次回场場](?:<TALK>)?<BEFORE>", _sessions),
    (r"(?<![马馬])(?P<k>上{1,4})一?[次回](?:[我咱][们們])?(?P<talk><TALK>)?", _last_session),
    (r"(?P<k>大前天|(?<![以之从從目])前[天日]|一昨日|おととい|昨[天日儿]|きのう|今[天日儿])<PART>", _day),
    (r"(?P<k>(?<![以之从從目])前|昨|今)(?P<p>[晚夜早朝])[上里裡]?", _day),
    (r"(?<![爱愛遇碰早晚马馬看路身手以楼樓天])<PAST>(?:[周週]|星期|[礼禮]拜)(?![围圍转轉岁歲到密边邊])の?"
     rf"(?:(?P<ja>[{_JAPANESE_WEEKDAYS}])曜日?|(?P<w>[{_WEEKDAYS}天末]))?<PART>", _week),
    (r"(?<![以楼樓])<PAST>月(?![亮球光饼餅])[的の]?(?:<DAY>|<EDGE>)?<PART>", _months_back),
    (r"(?:<YEAR>[的の]?)?<MONTH>份?<DAY><PART>", _date),
    (r"(?P<y>(?:19|20)\d\d)[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})", _numbers),
    (r"<YEAR>[的の]?<MONTH>份?<EDGE>?", _month),
    (r"<MONTH>(?=份|[里裡初中底末]|[上下]旬|的[时時]候|那[会會])份?<EDGE>?", _month),
    (r"<YEAR>[的の]?<SEASON>", _season),
    (r"(?P<k>上[个個]|[这這][个個]|この)<SEASON>", _season),
    (r"(?:<YEAR>的?|(?P<k>上[个個]))?(?P<v>暑假|寒假)", _holidays),
    (r"(?:<YEAR>[的の]?|(?P<k>上一?[个個次]|[这這][个個]))?<FEAST>", _feast),
    (r"<YEAR>(?P<e>初|中|底|末)?", _whole_year),
    (r"年(?P<e>初)", lambda m, t: _edged(m, t.years_back(0), 0.5)),
    (r"(?:[过過]去|最近|[这這]|近)的?<N><UNIT>(?!前)", _last_units),
    (r"最近|近[来來]|[这這][阵陣]子|[这這]段[时時][间間]", _days(0, 14, 0.3)),
    (r"(?<![之以])前[几幾两兩些][天日晚]|先日|前[阵陣]子|前段[时時][间間]", _days(1, 14)),
    (r"(?:第一|初|[头頭]一)[次回](?:<TALK>|相遇|[认認][识識]|遇[见見])", _first(0.9)),
    (r"[刚剛][认認][识識]|初めて[会話]", _first(0.7)),
)  # fmt: skip


def _pattern(text: str) -> re.Pattern[str]:
    for name, piece in _PIECES.items():
        text = text.replace(name, piece)
    return re.compile(text)


@cache
def compiled() -> tuple[tuple[re.Pattern[str], Reader], ...]:
    """The patterns of the rules with what reads their matches; the first call takes some 10 ms."""
    return tuple((_pattern(text), read) for text, read in _RULES)


_HINT = re.compile(
    f"[前昨今上这這本先年月最近过過刚剛第头頭初きお]|{feasts.CHINESE}|暑假|寒假|\\d[-/.]\\d"
)


def readings(text: str, today: Today) -> Iterator[tuple[int, int, TimeReading]]:
    """Where in the text words for a past time stand, from and to, and what they mean; they may overlap."""
    if text.isascii() or not _HINT.search(text):
        return
    yield from found(compiled(), text, today)

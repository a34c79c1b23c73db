"""English words for past times, with the times that they mean."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
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
from soulmem.language.times.spans import (
    DAY,
    FIRST,
    MONTHS,
    NoSpan,
    Span,
    TimeReading,
    Today,
    third,
)

_WORDS = "zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_NUMBERS = {word: float(number) for number, word in enumerate(_WORDS.split("|"))}
_NUMBERS |= {
    "an": 1.0,
    "a": 1.0,
    "half a": 0.5,
    "half an": 0.5,
    "couple": 2.0,
    "couple of": 2.0,
}
_NUMBERS |= {
    "a couple": 2.0,
    "a couple of": 2.0,
    "fifteen": 15,
    "twenty": 20,
    "thirty": 30,
    "fifty": 50,
}
_VAGUE = {
    "few": (2.0, 5.0),
    "a few": (2.0, 5.0),
    "several": (3.0, 8.0),
}  # least and most
_MONTHS = tuple(name[:3].lower() for name in MONTHS)
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_EDGES = {
    "early": "early",
    "beginning": "early",
    "start": "early",
    "late": "late",
    "end": "late",
}

# A pattern names its parts: n a number, u a unit, m a month, d its day, y a year, w a weekday, s a season, f
# a feast, p a part of the day, e a part of a longer time, k the word that leads in.
_PIECES = {
    "<N>": "(?P<n>" + "|".join(sorted((*_NUMBERS, *_VAGUE), key=len)[::-1]) + r"|\d{1,3})",
    "<UNIT>": "(?P<u>minute|hour|day|night|week|fortnight|month|year|decade)s?",
    "<MONTH>": r"(?P<m>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?",
    "<DAY>": r"(?P<d>\d{1,2})(?:st|nd|rd|th)?",
    "<YEAR>": r"(?P<y>(?:19|20)\d\d)\b",
    "<OFYEAR>": r"(?:,? ?(?:of )?(?P<y>(?:19|20)\d\d)\b| (?P<ly>last|this) year\b)",
    "<WEEKDAY>": f"(?P<w>{'|'.join(_DAYS)})",
    "<SEASON>": "(?P<s>spring|summer|autumn|fall|winter)",
    "<FEAST>": f"(?P<f>{feasts.ENGLISH})",
    "<PART>": "(?: (?P<p>morning|noon|afternoon|evening|night))?",
    "<EDGE>": "(?:(?:the )?(?P<e>early|mid|middle|late|beginning|start|end)(?: in| of|-)?(?: the)? )?",
    "<TALK>": "(?:chat|talk|conversation|session|meeting)",
    "<MET>": r"(?:\w+ )?(?:talked|spoke|chatted|met|saw each other|were together)",
    "<FREE>": r"(?! (?:before|after|of|to)\b)",  # else it is counted from something else than now
}


def _count(words: str) -> tuple[float, float, float]:
    """A number of units: the likeliest, the least and the most."""
    word = words.lower()
    low, high = _VAGUE.get(word, (0.0, 0.0))
    n = (low + high) / 2 or (_NUMBERS[word] if word in _NUMBERS else float(word))
    return n, low or n, high or n


def _piece(match: re.Match[str], name: str) -> str:
    """What the pattern found under that name, in small letters; empty where it looked for no such thing."""
    return (match.groupdict().get(name) or "").lower()


def _year(match: re.Match[str], today: Today) -> int | None:
    if year := _piece(match, "y"):
        return int(year)
    return {"last": today.this_day.year - 1, "this": today.this_day.year}.get(_piece(match, "ly"))


def _month_number(match: re.Match[str]) -> int | None:
    """The month; None where `may`, `march` or `mar` are more likely another word."""
    word = match["m"].rstrip(".")
    if word in ("may", "march", "mar") and not (_piece(match, "y") or _piece(match, "k")):
        return None
    return _MONTHS.index(word.lower()[:3]) + 1


def _edged(match: re.Match[str], span: Span | None, confidence: float) -> TimeReading | None:
    """The span, or the part of it that is meant and then the whole."""
    edge, named = _piece(match, "e"), bool(_piece(match, "y"))
    if span is None or not edge:
        return one_reading(span, confidence, named)
    return TimeReading(
        (third(span, _EDGES.get(edge, "middle")), span), confidence, is_absolute=named
    )


def _ago(match: re.Match[str], today: Today) -> TimeReading | None:
    n, low, high = _count(match["n"])
    slack = 0.35 if match["about"] else 0.0
    sure = 0.9 if low == high else 0.7
    return back_by(today, match["u"].lower(), low * (1 - slack), n, high * (1 + slack), sure)


def _last_units(match: re.Match[str], today: Today) -> TimeReading | None:
    return up_to_now(today, match["u"].lower(), _count(match["n"])[2], 0.8)


def _last(match: re.Match[str], today: Today) -> TimeReading | None:
    unit, back = _piece(match, "u"), 0 if _piece(match, "k") == "this" else 1
    if unit == "night":
        return of_day(today, 1, "night", 0.9) if back else None
    spans = {
        "week": today.week,
        "weekend": today.weekend,
        "month": today.months_back,
        "year": today.years_back,
    }
    whole = spans[unit](back)
    if match["the"]:  # the last year: the one up to now
        days = {"month": 31, "year": 365}.get(unit, 7)
        return TimeReading((today.last(DAY * days), whole), 0.7)
    return _edged(match, whole, 0.85 if back else 0.5)


def _date(match: re.Match[str], today: Today) -> TimeReading | None:
    month, year = _month_number(match), _year(match, today)
    day = on_day(today, year, month, int(match["d"])) if month is not None else None
    return in_day(today, day, None, 0.95, bool(_piece(match, "y"))) if day is not None else None


def _numbers(match: re.Match[str], today: Today) -> TimeReading | None:
    """A date in numbers; where the year stands last, day and month may stand either way."""
    year, month, day = (int(match[name]) for name in ("y", "m", "d"))
    ways = [(month, day)] if match.start("y") == match.start() else [(month, day), (day, month)]
    days = dict.fromkeys(on_day(today, year, *way) for way in ways if way[0] <= 12)
    spans = tuple(today.one(day) for day in days if day is not None)
    return TimeReading(spans, 0.95, is_absolute=True) if spans else None


def _month(match: re.Match[str], today: Today) -> TimeReading | None:
    month = _month_number(match)
    if month is None:
        return None
    is_over = _piece(match, "k") == "last"
    return _edged(
        match,
        latest(today, lambda y: today.month(y, month), _year(match, today), is_over),
        0.9,
    )


def _season(match: re.Match[str], today: Today) -> TimeReading | None:
    season, which = _piece(match, "s").replace("fall", "autumn"), _piece(match, "k")
    year = _year(match, today)
    span = latest(today, lambda y: today.season(y, season), year, is_over=which == "last")
    return _edged(match, span, 0.9 if year or which in ("last", "this") else 0.5)


def _feast(match: re.Match[str], today: Today) -> TimeReading | None:
    def of_year(year: int) -> Span | None:
        days = feasts.feast(_piece(match, "f"), year)
        return today.days(*days) if days else None

    which, year = _piece(match, "k"), _year(match, today)
    span = latest(today, of_year, year, is_over=which in ("last", "this past"))
    return _edged(match, span, 0.9 if year or which.startswith(("last", "this")) else 0.6)


def _weekday(match: re.Match[str], today: Today) -> TimeReading | None:
    """`last Tuesday` is the one of the last week, else the latest; `on Tuesday` the latest."""
    weekday, which, part = (
        _DAYS.index(_piece(match, "w")),
        _piece(match, "k"),
        _piece(match, "p") or None,
    )
    days = [(today.this_day.weekday() - weekday) % 7 or 7]
    if which == "last" and weekday < today.this_day.weekday():
        days.insert(0, days[0] + 7)
    spans: list[Span] = []
    for back in days:
        with suppress(NoSpan):
            spans += of_day(today, back, part, 0.9).spans
    return TimeReading(tuple(spans), 0.6 if which == "on" else 0.85) if spans else None


def _day(back: int, confidence: float) -> Reader:
    return lambda match, today: of_day(today, back, _piece(match, "p") or None, confidence)


def _days(least: int, most: int, confidence: float = 0.6) -> Reader:
    return lambda _, today: days_back(today, least, most, confidence)


def _sessions(match: re.Match[str], _: Today) -> TimeReading | None:
    n = round(_count(match["n"])[0])
    return TimeReading((), 0.9, sessions=n) if n >= 1 else None


def _session(sessions: int, confidence: float = 0.9) -> Reader:
    return lambda _match, _today: TimeReading((), confidence, sessions=sessions)


_RULES: tuple[tuple[str, Reader], ...] = (
    (
        r"(?P<about>about |around |almost |nearly |roughly |over )?\b<N> <UNIT> ago\b",
        _ago,
    ),
    (r"\b<N> <TALK>s? (?:ago|back)\b", _sessions),
    (r"\bthe day before yesterday\b<PART>", _day(2, 0.95)),
    (r"\bthe night before last\b", lambda _, today: of_day(today, 2, "night", 0.9)),
    (
        r"(?<!born )(?<!like )(?<!only )(?<!were )\byesterday\b(?!'s news)<PART>",
        _day(1, 0.95),
    ),
    (r"\btoday\b", _day(0, 0.5)),
    (r"\bthis (?P<p>morning|afternoon|evening)\b", _day(0, 0.6)),
    (r"\bto(?P<p>night)\b", _day(0, 0.4)),
    (
        r"<EDGE>(?P<the>\bthe )?\b(?P<k>last|past|previous|this) (?P<u>week(?:end)?|month|year|night)\b"
        r"<FREE>",
        _last,
    ),
    (r"\bthe (?:last|past) <N> <UNIT>\b<FREE>", _last_units),
    (
        r"\b(?:in|over|during|for|within) (?:these )?(?:last|past) <N> <UNIT>\b",
        _last_units,
    ),
    (r"\b(?:lately|recently|these days)\b", _days(0, 14, 0.3)),
    (r"\bthe other (?:day|night|evening|morning|afternoon)\b", _days(2, 10)),
    (r"\bthe other week\b", _days(7, 21)),
    (r"\b(?P<k>on )?(?:the )?<DAY>(?: of)? <MONTH><OFYEAR>?", _date),
    (r"\b(?P<k>on )?<MONTH> (?:the )?<DAY>\b(?![:%]|\.\d)<OFYEAR>?", _date),
    (r"\b<YEAR>[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})\b", _numbers),
    (r"\b(?P<m>\d{1,2})[-/.](?P<d>\d{1,2})[-/.]<YEAR>", _numbers),
    (
        r"\b(?P<k>in|last|this|since|during|of|back in) <EDGE><MONTH><OFYEAR>?(?! \d)",
        _month,
    ),
    (r"<EDGE>\b<MONTH>,?(?: of)? <YEAR>", _month),
    (
        r"<EDGE>\b(?P<k>last|this|in the|over the|during the|that) <SEASON>\b<OFYEAR>?<FREE>",
        _season,
    ),
    (r"\b(?:in )?<EDGE>(?:the )?<SEASON><OFYEAR>", _season),
    (
        r"\b(?:in|during|since|throughout) (?:the )?<EDGE><YEAR>(?![-/.]\d)",
        lambda m, t: _edged(m, t.year(int(m["y"])), 0.9),
    ),
    (r"\b(?P<k>last|past|this past|on) <WEEKDAY>\b<PART><FREE>", _weekday),
    (
        r"\b(?P<k>last|this past|this|at|on|over|during|since) <FEAST>\b<OFYEAR>?",
        _feast,
    ),
    (r"\b<FEAST><OFYEAR>", _feast),
    (r"\b(?:last|previous) <TALK>\b", _session(1)),
    (r"\b<TALK> before (?:that|last)\b", _session(2)),
    (r"\blast time (?:that )?we <MET>\b", _session(1)),
    (
        r"(?<!the )\blast time\b(?! (?:i|you|he|she|they|it|we|that|around)\b)",
        _session(1, 0.5),
    ),
    (r"\bfirst time (?:that )?we <MET>\b", _session(FIRST)),
    (
        r"\bwhen (?:did )?we (?:very )?first (?:<MET>|meet|talk|speak)\b",
        _session(FIRST),
    ),
    (r"\b(?:our|the) (?:very )?first <TALK>\b", _session(FIRST)),
)


def _pattern(text: str) -> re.Pattern[str]:
    for name, piece in _PIECES.items():
        text = text.replace(name, piece)
    return re.compile(text, re.IGNORECASE)


@cache
def compiled() -> tuple[tuple[re.Pattern[str], Reader], ...]:
    """The patterns of the rules with what reads their matches; the first call takes some 10 ms."""
    return tuple((_pattern(text), read) for text, read in _RULES)


_HINT = re.compile(
    r"\b(?:ago|back|yesterday|today|tonight|lately|recently|these|this|that|last|past|previous|other|before|since"
    r"|first|(?:over|during|throughout|in|at|on|of)|\d{1,4}(?:st|nd|rd|th)?"
    r"|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|spring|summer|autumn|fall|winter)",
    re.IGNORECASE,
)


def readings(text: str, today: Today) -> Iterator[tuple[int, int, TimeReading]]:
    """Where in the text words for a past time stand, from and to, and what they mean; they may overlap."""
    if not _HINT.search(text):
        return
    yield from found(compiled(), text, today)

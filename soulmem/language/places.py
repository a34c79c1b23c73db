"""Where does a text say that something takes place? Only where it says so plainly."""

from __future__ import annotations

import re

from soulmem.language import spaced_words
from soulmem.language.capitalised_words import CALENDAR, OF_PLACES, TONGUES
from soulmem.language.markup import plain
from soulmem.language.scripts import HAN

_INTO = frozenset(("in", "into", "inside", "within", "across", "through", "throughout"))
_TO = frozenset(
    ("at", "to", "from", "near", "outside", "around", "towards", "toward", "of")
)
_KINDS = (
    "镇|村|城|城堡|要塞|王国|帝国|都|山|山谷|谷|湖|河|江|海|海边|岛|森林|林|沙漠|草原|酒馆|客栈|酒店|旅馆|茶馆|咖啡馆|餐厅|食堂|学院|学校"
    "|大学|教室|图书馆|医院|公园|广场|车站|码头|港|港口|宫|宫殿|皇宫|殿|塔|钟楼|寺|庙|神社|教堂|墓地|街|街道|巷|市场|集市|花园|庭院|院子"
    "|厨房|书房|卧室|客厅|房间|地下室|地窖|阁楼|屋顶|天台|阳台|走廊|办公室|实验室|监狱|牢房|战场|营地|洞穴|山洞|桥|桥上|船上|甲板"
)
_ENDINGS = "|".join(sorted(_KINDS.split("|"), key=len, reverse=True))
_THERE = re.compile(
    rf"(?:正在|就在|坐在|站在|躺在|住在|待在|留在|在|来到|回到|走到|赶到|到达|到|前往|走进|进入|逃进)"
    rf"(?P<name>[{HAN}]{{0,4}}?(?:{_ENDINGS}))(?![{HAN}]{{0,2}}(?:人|长|主人|老板|馆长))"
)
_VAGUE = re.compile(
    rf"^(?:那|这|一|某|哪|每|几|两|座|个|间|家|条|片|处|所|附近|整|同|我们|你们|他们|她们|自己|[{'我你他她它您咱'}])+"
)
_NO_PLACE = re.compile("[的了着过吗呢吧是有说想看做把被让很也都就不没和与跟]")


def place_of(text: str) -> str | None:
    """The first place that the text names for what it tells, as written; None when it is not sure."""
    said = plain(text)
    return _spaced(said) or _chinese(said)


def _spaced(said: str) -> str | None:
    found = spaced_words.words(said)
    for start, stop in spaced_words.names(found):
        before = [w.raw.lower() for w in found[max(0, start - 2) : start]]
        if before and before[-1] == "the":
            before.pop()
        if not before or not found[start].joined:
            continue
        words = [w.raw.lower() for w in found[start:stop]]
        sure = before[-1] in _INTO and found[stop - 1].possessive is False
        if (
            sure or (before[-1] in _TO and not OF_PLACES.isdisjoint(words))
        ) and not _is_other(words):
            return " ".join(w.raw for w in found[start:stop])
    return None


def _is_other(words: list[str]) -> bool:
    return words[0] in CALENDAR or words[-1] in CALENDAR or words[-1] in TONGUES


def _chinese(said: str) -> str | None:
    for match in _THERE.finditer(said):
        name = _VAGUE.sub("", match["name"])
        if len(name) > 1 and not _NO_PLACE.search(name):
            return name
    return None

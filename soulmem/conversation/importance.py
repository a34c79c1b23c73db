"""How much a message matters, without a language model: feelings, vows, dates, numbers, and being asked
to remember.
"""

from __future__ import annotations

import re

# Weights from design 2; the cue lists are plain words a player would use, en / zh / ja.
_EMOTION = re.compile(
    r"\b(love[ds]?|hate[ds]?|cr(?:y|ied|ying)|tears?|sob(?:s|bed)?|scream(?:s|ed)?|terrif\w+|afraid|fear\w*|furious|rage"
    r"|angry|heartbroken|grie(?:f|v\w+)|joy\w*|happ(?:y|iest|iness)|asham\w+|jealous\w*"
    r"|miss(?:ed)? you|kiss\w*|betray\w*)\b"
    r"|爱|恨|哭|泪|尖叫|恐惧|害怕|愤怒|生气|心碎|悲|伤心|难过|开心|高兴|快乐|幸福|羞|嫉妒|想念|吻|背叛|愛|泣|涙|怒|怖|嬉し|悲し",
    re.IGNORECASE,
)
_WEIGHTY = re.compile(
    r"\b(promis\w+|swear|sworn|swore|vow\w*|oath|never again|forever|birthday|anniversary|wedding|died|death"
    r"|january|february|march|april|june|july|august|september|october|november|december)\b|\d"
    r"|答应|承诺|发誓|誓|约定|一定会|永远|再也不|生日|纪念日|婚礼|去世|死|[一二三四五六七八九十百千][年月日天个次岁]|約束|誕生日",
    re.IGNORECASE,
)
_MEETING = re.compile(
    r"\b(nice|pleased|glad|good|honou?red|delighted) to (finally )?meet you\b|\bhave we met\b"
    r"|\bmet for the first time\b|\bfirst (met|meeting)\b|\bwe('ve| have) (never|not) met\b"
    r"|初次见面|第一次(见面|见到|相遇|遇见)|初次相遇|幸会|很高兴认识|初めまして|はじめまして|初対面",
    re.IGNORECASE,
)
_REMEMBER = re.compile(
    r"\b(remember|don'?t forget|never forget|keep in mind)\b|记住|记得|别忘|不要忘|忘れないで|覚えて",
    re.IGNORECASE,
)


def importance_of(text: str, emotion: float | None = None) -> float:
    """0..1: .2, up to .4 for feelings, .15 each for a first meeting and for a vow, date or number, .3 for a
    plea to remember (design 2).

    `emotion` 0..1 is the strongest feeling where one was named; None: the words tell.
    """
    if emotion is None:
        emotion = 1.0 - 0.5 ** len(_EMOTION.findall(text))
    score = 0.2 + 0.4 * emotion
    if _MEETING.search(text):
        score += 0.15
    if _WEIGHTY.search(text):
        score += 0.15
    if _REMEMBER.search(text):
        score += 0.3
    return round(min(score, 1.0), 4)

"""Why a memory came to mind, in one sentence a player understands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from soulmem.assembly.dates import written

_LABEL = 40  # characters of a memory that names a step of the way


class Cause(str, Enum):
    """What brought a memory up most."""

    PERMANENT = "permanent"
    SUMMARY = "summary"
    WORDS = "words"
    MEANING = "meaning"
    NOTHING = "nothing"  # neither words nor meaning: there was room, and nothing better
    NEIGHBOUR = "neighbour"
    TIME = "time"
    ASSOCIATION = "association"
    LEARNED = "learned"  # what is often said together
    SITUATION = "situation"  # an action that fires
    INTENT = "intent"  # an action that fires for what the soul means to do
    HABIT = "habit"  # an action that the soul knows of itself


_HABITS_EN = {
    Cause.SITUATION: "{} is what is happening, and {} tends to react like this.",
    Cause.INTENT: "{1} wants to {0}, and tends to do it like this.",
    Cause.HABIT: "{} came up, and {} knows this habit of their own.",
}
_HABITS_ZH = {
    Cause.SITUATION: "眼下正是{}，{}往往会这样反应。",
    Cause.INTENT: "{1}想要{0}，往往就会这样做。",
    Cause.HABIT: "提到了{}，{}知道自己有这个习惯。",
}


@dataclass(frozen=True, slots=True)
class NamedTime:
    """A time that the cue names: its words, the days they mean, and the year it is now."""

    words: str
    start: datetime | None  # aware; None for a conversation
    end: datetime | None
    year: int

    def told(self, language: str) -> str:
        """The words with the days behind them."""
        if self.start is None or self.end is None:
            return self.words
        days = written(self.start, self.end, self.year, language)
        return (
            f"{self.words}（{days}）" if language == "zh" else f"{self.words} ({days})"
        )


@dataclass(frozen=True, slots=True)
class Reason:
    """The cause, the words shared with the cue (may be empty), the age, and what led from the cue to it.

    `way` names the memories passed through, the first that the cue touched at the front; for an action what
    set it off: the situation, the intent, or whom or what the habit belongs to. `time` is given for `TIME`.
    """

    cause: Cause
    shared: tuple[str, ...] = ()
    age_turns: int = 0
    way: tuple[str, ...] = ()
    time: NamedTime | None = None


def sentence(reason: Reason, name: str, language: str) -> str:
    """The reason in words, en or zh."""
    if reason.cause is Cause.NOTHING and language == "zh":
        return f"{name}想不起更合适的事。"
    if reason.cause is Cause.NOTHING:
        return f"Nothing that {name} remembers fits better{_was(reason.age_turns)}."
    return _chinese(reason, name) if language == "zh" else _english(reason, name)


def _english(reason: Reason, name: str) -> str:
    age, since = _turns(reason.age_turns), _from(reason.age_turns)
    words = _join([f'"{w}"' for w in reason.shared], " and ")
    if reason.cause is Cause.PERMANENT:
        return f"{name} never forgets this: it is a permanent memory."
    if reason.cause is Cause.SUMMARY:
        return "It sums up what this chat told before."
    if reason.cause is Cause.WORDS and words:
        return f"{words} came up, and {name} remembers it{since}."
    if reason.cause is Cause.ASSOCIATION and reason.way:
        first, *then = [_short(label, '"{}"') for label in reason.way]
        return f"{first} led {name} {''.join(f'to {label}, that ' for label in then)}to this{since}."
    if reason.cause is Cause.LEARNED and reason.way:
        first, *then = [_short(label, '"{}"') for label in reason.way]
        return f"{first} makes {name} think of {', that of '.join(then)}, and so of this{since}."
    if reason.way and reason.cause in _HABITS_EN:
        return _HABITS_EN[reason.cause].format(_short(reason.way[0], '"{}"'), name)
    if reason.cause is Cause.TIME and reason.time is not None:
        return f"It came up because you asked about {reason.time.told('en')}."
    if reason.cause is Cause.NEIGHBOUR:
        return f"It stands right beside another moment that came to mind, {age}."
    if words:
        return f"It is close in meaning to what is being said ({words}){_was(reason.age_turns)}."
    return f"It is close in meaning to what is being said{_was(reason.age_turns)}."


def _chinese(reason: Reason, name: str) -> str:
    age = f"{reason.age_turns}轮之前" if reason.age_turns else "刚才"
    words = _join([f"「{w}」" for w in reason.shared], "和")
    if reason.cause is Cause.PERMANENT:
        return f"这是永久记忆，{name}不会忘记。"
    if reason.cause is Cause.SUMMARY:
        return "这是此前聊天内容的摘要。"
    if reason.cause is Cause.WORDS and words:
        return f"提到了{words}，{name}想起了{age}的这件事。"
    if reason.cause is Cause.ASSOCIATION and reason.way:
        first, *then = [_short(label, "「{}」") for label in reason.way]
        return f"{name}由{first}想到{''.join(f'{label}，又想到' for label in then)}了{age}的这件事。"
    if reason.cause is Cause.LEARNED and reason.way:
        first, *then = [_short(label, "「{}」") for label in reason.way]
        return f"{first}让{name}想到{'，又想到'.join(then)}，于是想起了{age}的这件事。"
    if reason.way and reason.cause in _HABITS_ZH:
        return _HABITS_ZH[reason.cause].format(_short(reason.way[0], "「{}」"), name)
    if reason.cause is Cause.TIME and reason.time is not None:
        return f"因为问到了{reason.time.told('zh')}，{name}想起了这件事。"
    if reason.cause is Cause.NEIGHBOUR:
        return f"它紧挨着另一段被想起的往事，在{age}。"
    if words:
        return f"它和正在说的事意思相近（{words}），在{age}。"
    return f"它和正在说的事意思相近，在{age}。"


def _short(label: str, quotes: str) -> str:
    """A memory passed through, in quotes, cut where it is long."""
    line = " ".join(label.split())
    return quotes.format(
        line if len(line) <= _LABEL else line[: _LABEL - 1].rstrip() + "…"
    )


def _turns(count: int) -> str:
    return (
        "just now"
        if count == 0
        else "1 turn ago"
        if count == 1
        else f"{count} turns ago"
    )


def _from(count: int) -> str:
    return "" if count == 0 else f" from {_turns(count)}"


def _was(count: int) -> str:
    return "" if count == 0 else f"; it was {_turns(count)}"


def _join(words: Sequence[str], last: str) -> str:
    return last.join(words[:2])

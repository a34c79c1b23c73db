"""The one-sentence explanation, in English or Chinese, of why a memory was recalled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from soulmem.assembly.dates import span_text

_WEIGHTS = 2  # that are named at most
_LABEL = 40  # characters of a memory that is named as a step of the path


class Cause(str, Enum):
    """What contributed most to recalling a memory."""

    PERMANENT = "permanent"
    SUMMARY = "summary"
    WORDS = "words"
    MEANING = "meaning"
    NOTHING = "nothing"  # neither words nor meaning match: it fills free room
    NEIGHBOUR = "neighbour"
    TIME = "time"
    ASSOCIATION = "association"
    LEARNED = "learned"  # an association of terms that often occur together
    SITUATION = "situation"  # an action selected for the situation
    INTENT = "intent"  # an action selected for what the character means to do
    HABIT = "habit"  # an action that the character knows of itself
    PUSHED = "pushed"  # it came by itself


class Weight(str, Enum):
    """What may weigh in the decision that a moment calls for a memory."""

    TEXT = "text"
    WORDS = "words"
    NAMED = "named"
    MOMENTOUS = "momentous"
    FACT = "fact"
    PROMISE = "promise"
    THEME = "theme"
    AT_HAND = "at_hand"


@dataclass(frozen=True, slots=True)
class NamedTime:
    """A time that the query names: its words, the days they mean, and the current year."""

    words: str
    start: datetime | None  # aware; None for a conversation
    end: datetime | None
    year: int

    def text(self, language: str) -> str:
        """The words, followed by the days in brackets."""
        if self.start is None or self.end is None:
            return self.words
        days = span_text(self.start, self.end, self.year, language)
        return f"{self.words}（{days}）" if language == "zh" else f"{self.words} ({days})"


@dataclass(frozen=True, slots=True)
class Reason:
    """The cause, the words shared with the query (may be empty), the age, and the path from the query.

    `path` holds the texts of the memories passed through, the one nearest to the query first; for an action
    what selected it: the situation, the intent, or the owner of the habit. `time` is given for `TIME`.
    `weighed` is what weighed most in the decision, the most first.
    """

    cause: Cause
    shared: tuple[str, ...] = ()
    age_turns: int = 0
    path: tuple[str, ...] = ()
    time: NamedTime | None = None
    weighed: tuple[Weight, ...] = ()


@dataclass(frozen=True, slots=True)
class _Wording:
    """The texts of one language. Fields of a sentence: name, words, age, since, was, first, steps, time."""

    sentences: Mapping[Cause, str]
    meaning_with_words: str
    quoted: str
    word_separator: str
    # How the further steps of a path are written: the template of each step, and what stands between two.
    steps: Mapping[Cause, tuple[str, str]]
    blurred: str  # what is added where parts of the memory are blurred
    weights: Mapping[Weight, str]
    weighed: str  # what is added to say what weighed most
    weight_separator: str


_ENGLISH = _Wording(
    sentences={
        Cause.PERMANENT: "{name} never forgets this: it is a permanent memory.",
        Cause.SUMMARY: "It sums up what this chat told before.",
        Cause.WORDS: "{words} came up, and {name} remembers it{since}.",
        Cause.MEANING: "It is close in meaning to what is being said{was}.",
        Cause.NOTHING: "Nothing that {name} remembers fits better{was}.",
        Cause.NEIGHBOUR: "It stands right beside another moment that came to mind, {age}.",
        Cause.TIME: "It came up because you asked about {time}.",
        Cause.ASSOCIATION: "{first} led {name} {steps}to this{since}.",
        Cause.LEARNED: "{first} makes {name} think of {steps}, and so of this{since}.",
        Cause.SITUATION: "{first} is what is happening, and {name} tends to react like this.",
        Cause.INTENT: "{name} wants to {first}, and tends to do it like this.",
        Cause.HABIT: "{first} came up, and {name} knows this habit of their own.",
        Cause.PUSHED: "Nothing calls for it: it came to {name} by itself{since}.",
    },
    meaning_with_words="It is close in meaning to what is being said ({words}){was}.",
    quoted='"{}"',
    word_separator=" and ",
    steps={
        Cause.ASSOCIATION: ("to {}, that ", ""),
        Cause.LEARNED: ("{}", ", that of "),
    },
    blurred=" Parts of it have faded by now.",
    weights={
        Weight.TEXT: "it is close to what was said",
        Weight.WORDS: "both have rare words",
        Weight.NAMED: "both say the same name",
        Weight.MOMENTOUS: "it was an important moment",
        Weight.FACT: "it tells something lasting",
        Weight.PROMISE: "it is a promise",
        Weight.THEME: "it is about what the question is about",
        Weight.AT_HAND: "it, or something linked to it, was in mind lately or often",
    },
    weighed=" It came mainly because {}.",
    weight_separator=" and ",
)
_CHINESE = _Wording(
    sentences={
        Cause.PERMANENT: "这是永久记忆，{name}不会忘记。",
        Cause.SUMMARY: "这是此前聊天内容的摘要。",
        Cause.WORDS: "提到了{words}，{name}想起了{age}的这件事。",
        Cause.MEANING: "它和正在说的事意思相近（{age}）。",
        Cause.NOTHING: "{name}想不起更合适的事。",
        Cause.NEIGHBOUR: "它紧挨着另一段被想起的往事（{age}）。",
        Cause.TIME: "因为问到了{time}，{name}想起了这件事。",
        Cause.ASSOCIATION: "{name}由{first}想到{steps}了{age}的这件事。",
        Cause.LEARNED: "{first}让{name}想到{steps}，于是想起了{age}的这件事。",
        Cause.SITUATION: "眼下正是{first}，{name}往往会这样反应。",
        Cause.INTENT: "{name}想要{first}，往往就会这样做。",
        Cause.HABIT: "提到了{first}，{name}知道自己有这个习惯。",
        Cause.PUSHED: "没有人提起，是{name}自己忽然想起了{age}的这件事。",
    },
    meaning_with_words="它和正在说的事意思相近：{words}（{age}）。",
    quoted="「{}」",
    word_separator="和",
    steps={
        Cause.ASSOCIATION: ("{}，又想到", ""),
        Cause.LEARNED: ("{}", "，又想到"),
    },
    blurred="其中有些已经模糊了。",
    weights={
        Weight.TEXT: "它和这句话意思很近",
        Weight.WORDS: "两边都用了少见的词",
        Weight.NAMED: "两边提到同一个名字",
        Weight.MOMENTOUS: "那是重要的时刻",
        Weight.FACT: "说的是长久的事",
        Weight.PROMISE: "那是一个承诺",
        Weight.THEME: "它说的正是所问的那类事",
        Weight.AT_HAND: "它或相关的事最近想起过，或常常想起",
    },
    weighed="主要是因为{}。",
    weight_separator="，又因为",
)
# What the sentence of a cause says already; the decision has no part in the other causes.
_SAID: Mapping[Cause, tuple[Weight, ...]] = {
    Cause.WORDS: (Weight.WORDS,),
    Cause.MEANING: (Weight.TEXT,),
    Cause.NEIGHBOUR: (),
}
_NEED_PATH = frozenset(
    {
        Cause.ASSOCIATION,
        Cause.LEARNED,
        Cause.SITUATION,
        Cause.INTENT,
        Cause.HABIT,
    }
)


def reason_sentence(reason: Reason, name: str, language: str, *, is_blurred: bool = False) -> str:
    """The reason in words, "en" or "zh"; `name` is the character's."""
    wording = _CHINESE if language == "zh" else _ENGLISH
    cause = _stated_cause(reason)
    words = wording.word_separator.join(map(wording.quoted.format, reason.shared[:2]))
    template = wording.sentences[cause]
    if cause is Cause.MEANING and words:
        template = wording.meaning_with_words
    path = [wording.quoted.format(_shortened(label)) for label in reason.path]
    step, separator = wording.steps.get(cause, ("", ""))
    age = _age(reason.age_turns, language)
    sentence = template.format(
        name=name,
        words=words,
        age=age,
        since=f" from {age}" if reason.age_turns else "",
        was=f"; it was {age}" if reason.age_turns else "",
        first=path[0] if path else "",
        steps=separator.join(step.format(label) for label in path[1:]),
        time=reason.time.text(language) if reason.time else "",
    )
    said = _SAID.get(cause, tuple(Weight))
    weights = [wording.weights[key] for key in reason.weighed if key not in said]
    if weights:
        weights = weights[:_WEIGHTS]
        sentence += wording.weighed.format(wording.weight_separator.join(weights))
    return sentence + wording.blurred if is_blurred else sentence


def _stated_cause(reason: Reason) -> Cause:
    """The cause; MEANING where the reason lacks what the sentence of its cause would name."""
    if reason.cause is Cause.WORDS:
        is_complete = bool(reason.shared)
    elif reason.cause is Cause.TIME:
        is_complete = reason.time is not None
    else:
        is_complete = reason.cause not in _NEED_PATH or bool(reason.path)
    return reason.cause if is_complete else Cause.MEANING


def _shortened(label: str) -> str:
    """A memory's text on one line, cut where it is long."""
    line = " ".join(label.split())
    return line if len(line) <= _LABEL else line[: _LABEL - 1].rstrip() + "…"


def _age(turns: int, language: str) -> str:
    if language == "zh":
        return f"{turns}轮之前" if turns else "刚才"
    if turns == 0:
        return "just now"
    return "1 turn ago" if turns == 1 else f"{turns} turns ago"

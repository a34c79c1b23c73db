"""Six statements about a tiny passage whose answers are known: a measure of what a model understands.

Three are said in other words than the lines'. Of the others one exchanges two people, one denies what is said,
and one is of nobody's saying. A model that answers at random, or one thing always, gets three at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from soulmem.domain.drafts import Passage, PassageLine

MARK = 5  # right answers from which a model is trusted: one slip is allowed


class Question(NamedTuple):
    """A statement, and the number of the line that says it; 0 where none does."""

    statement: str
    line: int


def _passage(language: str, soul: str, user: str, lines: Sequence[tuple[str, str]]) -> Passage:
    numbered = (
        PassageLine(number, speaker, text) for number, (speaker, text) in enumerate(lines, 1)
    )
    return Passage(language, soul, (user,), tuple(numbered))


PASSAGES = {
    "en": _passage(
        "en",
        "Mira",
        "Alice",
        (
            ("Alice", "I planted a rowan tree beside the mill today, Mira."),
            ("Mira", "I will water it until you are back from the coast."),
            ("Alice", "My uncle Bertram lost his barn in the storm."),
            ("Mira", "He can sleep in our attic. I do not snore, at least."),
            ("Alice", "You gave him your blue scarf already, he told me."),
            ("Mira", "It never suited me. Will you write to me?"),
        ),
    ),
    "zh": _passage(
        "zh",
        "米拉",
        "小雨",
        (
            ("小雨", "米拉，我今天在磨坊旁边种了一棵花楸树。"),
            ("米拉", "你从海边回来之前，我会给它浇水。"),
            ("小雨", "我叔叔老郑的谷仓被暴风雨吹垮了。"),
            ("米拉", "他可以睡我们的阁楼。我至少不打呼噜。"),
            ("小雨", "他说你已经把蓝围巾送给他了。"),
            ("米拉", "那条围巾本来就不适合我。你会给我写信吗？"),
        ),
    ),
}
QUESTIONS = {
    "en": (
        Question("Mira promised to take care of the new tree.", 2),
        Question("Bertram's barn was destroyed by a storm.", 3),
        Question("Mira planted a rowan tree.", 0),
        Question("Mira gave a scarf away to Bertram.", 5),
        Question("Mira snores at night.", 0),
        Question("Alice sold a horse to the miller.", 0),
    ),
    "zh": (
        Question("米拉答应照料那棵新种的树。", 2),
        Question("老郑的谷仓毁于一场暴风雨。", 3),
        Question("米拉种了一棵花楸树。", 0),
        Question("米拉把一条围巾送给了老郑。", 5),
        Question("米拉睡觉打呼噜。", 0),
        Question("小雨把一匹马卖给了磨坊主。", 0),
    ),
}


def right_answers(language: str, answers: Sequence[int]) -> int:
    """How many of the answers are right, 0..6."""
    pairs = zip(QUESTIONS[language], answers, strict=False)
    return sum(question.line == answer for question, answer in pairs)

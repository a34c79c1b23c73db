"""Chats and facts that the characters have behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Line:
    """One message; the user's when `speaker` is None."""

    speaker: str | None
    text: str


Exchange = tuple[str, str]  # what the user says, what the character answers


@dataclass(frozen=True, slots=True)
class Fact:
    """An exchange that states a fact once, a question without the answer, words that only the answer has."""

    exchange: Exchange
    question: str
    words: str


KEY = Fact(
    (
        "Before we sleep, Mira: I hid the brass key in the hollow oak behind the chapel. Promise me.",
        "*She nods slowly.* I promise. The brass key, the hollow oak behind the chapel. Not a word.",
    ),
    "Mira, do you still remember where I hid the brass key?",
    "hollow oak",
)
KEY_ZH = Fact(
    (
        "睡前告诉你一件事，米拉：我把铜钥匙藏在教堂后面那棵空心橡树里了。答应我，你要记住。",
        "*她慢慢点了点头。*我答应你。铜钥匙，在教堂后面的空心橡树里。我谁也不会说。",
    ),
    "米拉，你还记得我把铜钥匙藏在哪里了吗？",
    "空心橡树",
)
PARROT = Fact(
    (
        "My grandmother's parrot was called Saltpetre, and he bit every bishop who visited her.",
        "*She laughs.* Saltpetre! A parrot with principles. I should have liked your grandmother.",
    ),
    "What was the name of my grandmother's parrot?",
    "Saltpetre",
)
FEVER = Fact(
    (
        "When I had the fever, the physician Orsolo cured me with powdered willow bark.",
        "*She grimaces.* Orsolo and his willow bark. Bitter, but it saved you.",
    ),
    "Which physician cured my fever?",
    "willow bark",
)


def chat(speaker: str, exchanges: Sequence[Exchange]) -> list[Line]:
    """The messages of a chat between the user and `speaker`."""
    lines: list[Line] = []
    for mine, hers in exchanges:
        lines += [Line(None, mine), Line(speaker, hers)]
    return lines

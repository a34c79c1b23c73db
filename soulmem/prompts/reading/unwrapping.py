"""Removes reasoning and control tokens from an answer."""

from __future__ import annotations

import re

from soulmem.domain.llm import Unreadable
from soulmem.domain.phrases import phrase

# Marks of reasoning, begin and end; some chat templates write the begin themselves, before the answer.
_THOUGHTS = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|channel|>analysis", "<|channel|>final"),
)
# marks of a chat template that leaked
_CONTROL = re.compile(r"<\|[\w ]{1,30}\|>|</?s>")


def answer_of(text: str) -> str:
    """The text without reasoning and control tokens. Raises Unreadable when nothing is left."""
    answer = text
    for start, end in _THOUGHTS:
        answer = _without(answer, start, end)
    answer = _CONTROL.sub("", answer).strip()
    if not answer:
        empty = phrase("answer_empty", "an empty answer")
        thought = phrase("answer_only_thought", "nothing but reasoning")
        raise Unreadable(thought if text.strip() else empty)
    return answer


def _without(text: str, start: str, end: str) -> str:
    lower = text.lower()
    last = lower.rfind(end.lower())
    if last >= 0 and _outside_json(text, last):
        return text[last + len(end) :]
    first = lower.find(start.lower())
    # Reasoning without an end was cut off: the answer is what precedes it.
    return text[:first] if first >= 0 and _outside_json(text, first) else text


def _outside_json(text: str, position: int) -> bool:
    """Whether the position is outside of JSON or a fence, where such a mark would be part of the answer."""
    head = text[:position].lstrip()
    return not head.startswith(("{", "[{", "```"))

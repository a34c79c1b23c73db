"""What did a model answer, without its thoughts and without the wrapping round the answer?"""

from __future__ import annotations

import re

from soulmem.domain.llm import Unreadable

# How models mark what they only think; each has an end, and some templates open it before the answer begins.
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
_FENCE = re.compile(r"```[\w-]*[ \t]*\n?(.*?)(?:```|\Z)", re.S)
_CONTROL = re.compile(
    r"<\|[\w ]{1,30}\|>|</?s>"
)  # marks of a chat template that leaked


def answer_of(text: str) -> str:
    """What is left without reasoning and control marks. Raises Unreadable when that is nothing."""
    answer = text
    for start, end in _THOUGHTS:
        answer = _without(answer, start, end)
    answer = _CONTROL.sub("", answer).strip()
    if not answer:
        raise Unreadable(
            "an empty answer" if not text.strip() else "nothing but reasoning"
        )
    return answer


def fenced(text: str) -> str:
    """The longest block between fences, or the whole text without one; an open fence ends with the text."""
    blocks = [block.strip() for block in _FENCE.findall(text)]
    return max(blocks, key=len, default="") or text


def _without(text: str, start: str, end: str) -> str:
    lower = text.lower()
    last = lower.rfind(end.lower())
    if last >= 0 and _outside_json(text, last):
        return text[last + len(end) :]
    first = lower.find(start.lower())
    # A thought that never ends was cut short: what is before it is the answer, if anything is.
    return text[:first] if first >= 0 and _outside_json(text, first) else text


def _outside_json(text: str, position: int) -> bool:
    """Whether the place is not inside an answer that began before it: a chat may speak of such marks."""
    head = text[:position].lstrip()
    return not head.startswith(("{", "[{", "```"))

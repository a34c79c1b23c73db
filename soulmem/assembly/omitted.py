"""Why a memory that was considered is not in an answer, in the words of the user's language."""

from __future__ import annotations

from enum import Enum


class Omitted(Enum):
    """Why a memory was left out."""

    NOT_CALLED_FOR = "not_called_for"
    TOO_FAINT = "too_faint"
    NOT_CHOSEN = "not_chosen"
    IN_PROMPT = "in_prompt"
    FADED = "faded"
    NO_ROOM = "no_room"


_ENGLISH = {
    Omitted.NOT_CALLED_FOR: "what was said does not clearly ask for it",
    Omitted.TOO_FAINT: "it has faded: a remark no longer brings it back, a question may",
    Omitted.NOT_CHOSEN: "others were better, more varied, or the budget was spent",
    Omitted.IN_PROMPT: "the prompt says it already",
    Omitted.FADED: "nothing of it is left to tell",
    Omitted.NO_ROOM: "more was found than the answer holds",
}
_CHINESE = {
    Omitted.NOT_CALLED_FOR: "这句话没有明确问到它",
    Omitted.TOO_FAINT: "它已经淡去：随口一提唤不起来，直接问也许可以",
    Omitted.NOT_CHOSEN: "有更合适、更不重复的，或者预算用完了",
    Omitted.IN_PROMPT: "提示词里已经有了",
    Omitted.FADED: "已经没有什么可说的了",
    Omitted.NO_ROOM: "找到的比答案能容纳的多",
}


def omission_text(omitted: Omitted, language: str) -> str:
    """The reason in words, "en" or "zh"."""
    return (_CHINESE if language == "zh" else _ENGLISH)[omitted]

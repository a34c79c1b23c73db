"""Why a memory is in working memory, in the words of the user's language."""

from __future__ import annotations

from enum import Enum


class ActiveAs(Enum):
    """What made a memory active."""

    RECALLED_NOW = "recalled_now"
    PASSED_NOW = "passed_now"
    RECALLED = "recalled"
    STAYS = "stays"
    WRITTEN = "written"
    NEW = "new"


_ENGLISH = {
    ActiveAs.RECALLED_NOW: "this recall brought it: active once the reply is kept",
    ActiveAs.PASSED_NOW: "this recall led over it: active once the reply is kept",
    ActiveAs.RECALLED: "recalls that led to it or over it: {recalls}, turns since the last: {turns}",
    ActiveAs.STAYS: "it stays: permanent, or among the most recalled; turns since the last recall: {turns}",
    ActiveAs.WRITTEN: "turns since it was written: {turns}",
    ActiveAs.NEW: "turns since it was written: {turns}; not in long-term memory yet",
}
_CHINESE = {
    ActiveAs.RECALLED_NOW: "这次回忆想起了它；回复保留后进入工作记忆",
    ActiveAs.PASSED_NOW: "这次回忆经过了它；回复保留后进入工作记忆",
    ActiveAs.RECALLED: "想起或经过它 {recalls} 次，最近一次在 {turns} 轮前",
    ActiveAs.STAYS: "永久记忆或最常想起的记忆，会一直留着；最近一次在 {turns} 轮前",
    ActiveAs.WRITTEN: "{turns} 轮前写下",
    ActiveAs.NEW: "{turns} 轮前写下，还没有转入长期记忆",
}


def active_text(active: ActiveAs, language: str, recalls: int, turns: int) -> str:
    """The reason in words, "en" or "zh".

    recalls  that led to the memory or over it
    turns    since the last of them, or since the memory was written
    """
    words = _CHINESE if language == "zh" else _ENGLISH
    return words[active].format(recalls=recalls, turns=turns)

"""What a trace tells of working memory: which memories were active, which the recall brings, and why.

Compute thread only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum

from soulmem.assembly.compose import language_of
from soulmem.domain.ids import MemoryId
from soulmem.engine.api.requests import RecallRequest, RecallType
from soulmem.engine.api.results import ActiveMemory, Recalled
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.graph.working_memory import Active


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


SHOWN = 20  # memories that were active before, the latest first


def teaches(request: RecallRequest) -> bool:
    """Whether the reply of this recall, once it is kept, changes what is active."""
    is_look = request.type in (RecallType.QUIET, RecallType.PREVIEW)
    has_reply = None not in (request.chat, request.slot, request.swipe)
    return has_reply and not is_look


@compute_only
def active_memories(
    mind: Mind,
    request: RecallRequest,
    answer: Recalled,
    asked: Iterable[tuple[str, float]],
    extra: int,
) -> tuple[ActiveMemory, ...]:
    """What the recall brings into working memory, then what was in it, the latest first.

    `asked` are the texts of the query, with weights; `extra` are turns of a moved clock.
    """
    working = mind.recalls.working
    if working is None:
        return ()
    turn = mind.lived_turns(extra)
    language = request.language or language_of([text for text, _ in asked])
    out = []
    if teaches(request):
        for key, active_as in _brought(answer):
            if key in mind.memories and key not in working:
                why = active_text(active_as, language, 0, 0)
                out.append(ActiveMemory(key, mind.text_of(key), True, 0, 0, why))
    for active in working.active(SHOWN):
        turns = max(0, turn - active.turn)
        cold = working.params.cold
        why = active_text(_active_as(active, turns, cold), language, active.count, turns)
        text = mind.text_of(active.memory)
        out.append(ActiveMemory(active.memory, text, False, active.count, turns, why))
    return tuple(out)


def _brought(answer: Recalled) -> Iterator[tuple[MemoryId, ActiveAs]]:
    """Each memory of the answer and of the paths to them, once."""
    recalled = dict.fromkeys(memory.id for memory in answer.memories)
    passed: dict[MemoryId, None] = {}
    for memory in answer.memories:
        passed.update(dict.fromkeys(step.id for step in memory.path[:-1]))
    yield from ((key, ActiveAs.RECALLED_NOW) for key in recalled)
    yield from ((key, ActiveAs.PASSED_NOW) for key in passed if key not in recalled)


def _active_as(active: Active, turns: int, cold: int) -> ActiveAs:
    if not active.count:
        return ActiveAs.NEW if active.is_new else ActiveAs.WRITTEN
    return ActiveAs.STAYS if turns > cold else ActiveAs.RECALLED

"""The answer of a deep recall: what its explorations found, united by score within one budget, with its trace."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from soulmem.assembly.compose import Budget, PromptLine, Section, language_of
from soulmem.assembly.omitted import Omitted, omission_text
from soulmem.domain.ids import MemoryId, new_id
from soulmem.domain.memories import Memory
from soulmem.engine.api.results import Considered, Recalled, RecalledMemory, Timings
from soulmem.engine.deep.exploration import AnswerRoom, Exploration
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.assembly import block_of
from soulmem.engine.runtime.worker import compute_only

_INTERNAL = ("edges", "slowing", "is_masked")  # fields that no response has


@compute_only
def unite(
    mind: Mind,
    explorations: Sequence[Exploration],
    useful: Sequence[MemoryId],
    dropped: Collection[str],
    room: AnswerRoom,
    reason_language: str | None,
) -> tuple[Recalled, tuple[Considered, ...]]:
    """The answer to the question of the first exploration, and every memory that was considered.

    Taken in this order: what every answer holds, the `useful` memories, half the places
    for the question itself, then the best of each exploration in turn, the last one first as
    it knew most, but for questions that were `dropped`. Shown by score, the `useful` ones first.
    `reason_language`: "en" or "zh"; None: that of the question.
    """
    first = explorations[0]
    lines = _lines(explorations)
    language = language_of((first.ask, *(line.text for line in lines.values())))
    budget = Budget.of_soul(room.tokens, mind.soul, language)
    best = _best_by_score(explorations)
    taken: dict[MemoryId, RecalledMemory] = {}
    texts: set[str] = set()

    def take(memory: RecalledMemory) -> None:
        line = lines[memory.id]
        is_new = memory.id not in taken and line.text not in texts
        if is_new and mind.row(memory.id) is not None and budget.take(line):
            taken[memory.id] = memory
            texts.add(line.text)

    for memory in first.always_shown:
        take(memory)
    always_shown = len(taken)
    for memory in _in_turn(explorations, useful, dropped, room.memories, best):
        if len(taken) - always_shown == room.memories:
            break
        take(memory)
    rows = {key: row for key in taken if (row := mind.row(key)) is not None}
    chosen = [(mind.memory_at(row), lines[key]) for key, row in rows.items()]
    order = {key: place for place, key in enumerate(taken)}

    def happened_at(memory: Memory) -> tuple[float, int]:
        happened = mind.columns.happened[rows[memory.id]]
        return float(happened), order[memory.id]

    blocks = budget.blocks(chosen, happened_at)
    answer = Recalled(
        trace=new_id("t"),
        memories=tuple(_ranked(list(taken.values()), set(useful))),
        blocks=tuple(block_of(block) for block in blocks),
        tokens=sum(block.tokens for block in blocks),
        timed_out=any(exploration.answer.timed_out for exploration in explorations),
        took_ms=_timings(explorations),
    )
    no_room = omission_text(Omitted.NO_ROOM, reason_language or language)
    kept = {memory.id for memory in answer.memories}
    return answer, _considered(explorations, kept, no_room)


def answer_fields(answer: Recalled) -> dict[str, Any]:
    """The answer as JSON values, with the fields of the response to a recall."""
    memories = []
    for memory in answer.memories:
        fields = _fields(memory)
        for internal in _INTERNAL:
            del fields[internal]
        fields["path"] = [_fields(step) for step in memory.path]
        fields["sources"] = [_fields(place) for place in memory.sources]
        memories.append(fields)
    blocks = []
    for block in answer.blocks:
        items = [_fields(item) for item in block.items]
        blocks.append({**_fields(block), "items": items})
    return {
        **_fields(answer),
        "memories": memories,
        "blocks": blocks,
        "took_ms": _fields(answer.took_ms),
    }


def _fields(value: Any) -> dict[str, Any]:
    """The fields of a frozen dataclass, not copied."""
    return {name: getattr(value, name) for name in value.__dataclass_fields__}


def _lines(explorations: Sequence[Exploration]) -> dict[MemoryId, PromptLine]:
    """The line of each memory as the first answer that holds it writes it."""
    lines: dict[MemoryId, PromptLine] = {}
    for exploration in explorations:
        masked = {m.id for m in exploration.answer.memories if m.is_masked}
        for block in exploration.answer.blocks:
            for item in block.items:
                section = Section(block.section)
                line = PromptLine(
                    memory=item.memory,
                    section=section,
                    text=item.text,
                    tokens=item.tokens,
                    is_masked=item.memory in masked,
                )
                lines.setdefault(item.memory, line)
    return lines


def _best_by_score(
    explorations: Sequence[Exploration],
) -> dict[MemoryId, RecalledMemory]:
    best: dict[MemoryId, RecalledMemory] = {}
    for exploration in explorations:
        for memory in exploration.memories:
            old = best.get(memory.id)
            if old is None or memory.score > old.score:
                best[memory.id] = memory
    return best


def _in_turn(
    explorations: Sequence[Exploration],
    useful: Sequence[MemoryId],
    dropped: Collection[str],
    most: int,
    best: Mapping[MemoryId, RecalledMemory],
) -> Iterator[RecalledMemory]:
    """The memories in the order in which they are taken, some more than once."""
    own, *others = explorations
    keys = [key for key in useful if key in best]
    keys += [memory.id for memory in own.memories[: most // 2]]
    followed = [other.memories for other in others if other.ask not in dropped]
    for place in zip_longest(*reversed(followed)):
        keys += [memory.id for memory in place if memory is not None]
    keys += [memory.id for memory in own.memories[most // 2 :]]
    return (best[key] for key in keys)


def _ranked(
    memories: Sequence[RecalledMemory],
    useful: Collection[MemoryId],
) -> list[RecalledMemory]:
    """By score, the useful ones first: those count at least as much as the next one."""

    def order(memory: RecalledMemory) -> tuple[bool, bool, float]:
        return (not memory.permanent, memory.id not in useful, -memory.score)

    ranked = sorted(memories, key=order)
    least = 0.0
    for place in range(len(ranked) - 1, -1, -1):
        least = max(least, ranked[place].score)
        ranked[place] = replace(ranked[place], score=least)
    return ranked


def _timings(explorations: Sequence[Exploration]) -> Timings:
    """What the explorations took together, in milliseconds."""
    took = [exploration.answer.took_ms for exploration in explorations]
    return Timings(
        total=sum(timings.total for timings in took),
        embed=sum(timings.embed for timings in took),
        search=sum(timings.search for timings in took),
        walk=sum(timings.walk for timings in took),
        assemble=sum(timings.assemble for timings in took),
    )


def _considered(
    explorations: Sequence[Exploration], kept: Collection[MemoryId], no_room: str
) -> tuple[Considered, ...]:
    """Every memory that an exploration considered, with its best score.

    `no_room`: why one is left out that an exploration had recalled.
    """
    best: dict[MemoryId, Considered] = {}
    for exploration in explorations:
        for candidate in exploration.trace.considered:
            old = best.get(candidate.id)
            if old is None or candidate.score > old.score:
                best[candidate.id] = candidate
    out = []
    for candidate in sorted(best.values(), key=lambda candidate: -candidate.score):
        is_kept = candidate.id in kept
        cut = None if is_kept else candidate.cut or no_room
        out.append(replace(candidate, kept=is_kept, cut=cut))
    return tuple(out)

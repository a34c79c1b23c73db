"""Fading ahead: how memories will read some turns from now.

As if nothing were recalled meanwhile. Compute thread only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from soulmem.domain.edges import TEXTS
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory
from soulmem.domain.micro_units import UNIT_STABILITY
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.views.read_texts import ReadText, read_of, read_texts
from soulmem.graph.arcs import MEMORY_KINDS

# Memories whose parts are looked at, at most: of more those that lose most by age and feeling alone. Cutting
# so many texts takes a third of a second once.
MOST = 300
_TEXT_KINDS = [MEMORY_KINDS.index(kind) for kind in TEXTS]


@dataclass(frozen=True, slots=True)
class Horizon:
    """How far ahead to look, in turns of the soul's clock; `dial` 0..2 in place of its own setting."""

    turns: float
    dial: float | None = None


@dataclass(frozen=True, slots=True)
class FadingMemory:
    """A memory, with how much it matters by now, as it reads now and then; `marked_then` has marks for what has
    blurred, in any soul.
    """

    memory: Memory
    now: ReadText
    then: ReadText
    marked_then: str
    leaves: bool = False  # by then it is in the bin

    @property
    def loss(self) -> float:
        """By how much it becomes less visible, 0..1."""
        return max(0.0, self.now.visibility - self.then.visibility)

    @property
    def changes(self) -> bool:
        """Whether anything of it will be different."""
        return self.leaves or self.loss > 0.0 or self.now.text != self.then.text


@dataclass(frozen=True, slots=True)
class FadingPage:
    """A page of what fades; `cursor` is None on the last one."""

    memories: Sequence[FadingMemory]
    cursor: str | None = None


@compute_only
def may_fade(mind: Mind, extra: int, horizon: Horizon) -> list[MemoryId]:
    """Texts in use that are not protected, at most MOST: those that may lose most, by age and feeling."""
    n, columns = mind.size, mind.columns
    may = columns.in_use[:n] & columns.live[:n] & np.isin(columns.kind[:n], _TEXT_KINDS)
    rows = np.flatnonzero(may & ~columns.permanent[:n] & ~columns.locked[:n])
    ages = mind.time.row_ages(rows, mind.exchange_ages(None, extra, rows), extra)
    place = np.full(n, -1, np.int64)
    place[rows] = np.arange(rows.size)
    turn = float(mind.lived_turns(extra))
    for record in mind.fading:
        row = mind.row(record.memory)
        states = [unit.retention for unit in record.units]
        states += [anchor.retention for anchor in record.anchors]
        if row is not None and place[row] >= 0 and states:
            touched = (mind.time.age_since(s.touched, s.at_turn, turn) for s in states)
            ages[place[row]] = min(touched)
    dial = mind.soul.settings.forgetting if horizon.dial is None else horizon.dial
    stability = UNIT_STABILITY * (1.0 + columns.feeling[rows])
    before = np.exp(-ages * dial / stability)
    loss = before * -np.expm1(-horizon.turns * dial / stability)
    first = np.argsort(-loss, kind="stable")[:MOST]
    return mind.ids_at(rows[first].tolist())


@compute_only
def fading_memories(
    mind: Mind,
    keys: Sequence[MemoryId],
    leaving: frozenset[MemoryId],
    extra: int,
    horizon: Horizon,
) -> list[FadingMemory]:
    """Those of these memories that are present, now and after the horizon, whether they change or not."""
    memories = [mind.memories[key] for key in keys if key in mind.memories]
    turn = float(mind.lived_turns(extra))
    dial = horizon.dial
    now = read_texts(mind, memories, turn, dial=dial)
    then = read_texts(mind, memories, turn, ahead=horizon.turns, dial=dial)
    weigh = mind.line_kinds.weighed
    return [
        FadingMemory(memory, a, b, read_of(memory, b.faded).text, memory.id in leaving)
        for memory, a, b in zip(map(weigh, memories), now, then, strict=True)
    ]

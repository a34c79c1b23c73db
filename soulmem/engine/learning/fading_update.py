"""What a recall with a settled reply restores of the texts that it read out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from soulmem.consolidation.plasticity import (
    PlasticityParams,
    potentiated,
)
from soulmem.domain.dialogue import text_hash
from soulmem.domain.fading_records import FadingRecord, Retelling
from soulmem.domain.forgetting_curve import stability_after
from soulmem.domain.ids import ChatId, MemoryId, SlotId
from soulmem.domain.memories import Memory
from soulmem.domain.micro_units import Anchor, MicroUnit, Retention, UnitSpan
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.views.faded_texts import blurs, fading_of, record_of
from soulmem.engine.views.read_texts import (
    ReadText,
    gapped_text,
    may_be_reworded,
    read_of,
)

# 0..1; what is less visible is read out as `xxx` without a hint of what it was (design 6)
HINTED = 0.25


def is_read_out(state: Retention) -> bool:
    """Whether something of it was told: its words or its gist."""
    return state.visibility >= HINTED


def restored(
    state: Retention,
    elapsed: float,
    moment: datetime,
    turn: float,
    params: PlasticityParams,
) -> Retention:
    """The state after what was read out so clear was kept, at `turn` of the soul's clock.

    Visibility gains as an edge does of full share; S grows at spaced recalls. `elapsed` are the turns since the
    last touch. A clock that was set back moves no touch into the past.
    """
    return replace(
        state,
        visibility=potentiated(state.visibility, 1.0, params),
        stability=stability_after(state.stability, elapsed),
        touched=max(moment, state.touched),
        at_turn=max(turn, state.at_turn or 0.0),
    )


_Part = TypeVar("_Part", MicroUnit, Anchor)


@compute_only
def restored_fading(
    mind: Mind,
    memories: Iterable[MemoryId],
    slowing: Mapping[MemoryId, float],
    current_time: datetime,
    turn: float,
    params: PlasticityParams,
    reply: tuple[ChatId, SlotId],
) -> tuple[FadingRecord, ...]:
    """The records of these memories after they were read out for a reply that was kept.

    `slowing` is how much clearer than by age each was read out, >= 1; see `fading_of`. Nothing of a permanent
    or locked memory, nor of a soul that forgets nothing.
    """
    out = []
    for key in memories:
        memory = mind.memories.get(key)
        if memory is None or not blurs(mind, memory):
            continue
        seen = fading_of(mind, memory, turn, slowing=slowing.get(key, 1.0))
        # With masks: a model words the gaps anew, and is to see where they are.
        read = read_of(mind.line_kinds.weighed(memory), seen)
        hidden = [unit for unit in seen.units if not is_read_out(unit.retention)]
        read_units = [unit for unit in seen.units if not _is_inside(unit, hidden)]
        after = _Restoring(mind, current_time, turn, params)
        units, anchors = after.of(read_units), after.of(seen.anchors)
        retold = _retelling(mind, memory, read, reply)
        if units or anchors or retold is not None:
            record = _with_states(mind, memory, units, anchors)
            out.append(replace(record, retold=retold or record.retold))
    return tuple(out)


def _retelling(
    mind: Mind, memory: Memory, read: ReadText, reply: tuple[ChatId, SlotId]
) -> Retelling | None:
    """The text as it was told for the reply, where it had gaps that may be worded anew."""
    if not may_be_reworded(mind, memory):
        return None
    text = gapped_text(memory, read)
    return None if text is None else Retelling(text, *reply)


@dataclass(eq=False)
class _Restoring:
    """One recall as it restores parts of texts."""

    mind: Mind
    current_time: datetime
    turn: float
    params: PlasticityParams

    def of(self, parts: Iterable[_Part]) -> list[_Part]:
        """Those of the parts that were read out, with their state from now on."""
        out = []
        for part in parts:
            state = part.retention
            if is_read_out(state):
                age = self.mind.time.age_since(state.touched, state.at_turn, self.turn)
                new = restored(state, age, self.current_time, self.turn, self.params)
                out.append(replace(part, retention=new))
        return out


def _is_inside(unit: MicroUnit, others: Sequence[MicroUnit]) -> bool:
    return any(
        other.span.start <= unit.span.start and unit.span.end <= other.span.end for other in others
    )


def _with_states(
    mind: Mind, memory: Memory, units: Sequence[MicroUnit], anchors: Sequence[Anchor]
) -> FadingRecord:
    """The memory's record with these states in place of former ones of the same parts."""
    record = record_of(mind, memory) or FadingRecord(memory.id, memory.soul, text_hash(memory.text))
    states = {(unit.span.start, unit.span.end): unit for unit in record.units}
    if not record.own_units and record.reworded is None:
        # What it is made of is computed: its states are known by their places.
        units = [replace(u, span=UnitSpan(u.span.start, u.span.end)) for u in units]
    states.update({(unit.span.start, unit.span.end): unit for unit in units})
    words = {(anchor.text, anchor.kind): anchor for anchor in record.anchors}
    words.update({(anchor.text, anchor.kind): anchor for anchor in anchors})
    return replace(record, units=tuple(states.values()), anchors=tuple(words.values()))

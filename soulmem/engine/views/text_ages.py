"""Ages of texts on the soul's clock, and how strong a text is by now. Compute thread only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from soulmem.domain.forgetting_curve import SPACED, retained, stability_after
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory, MemoryKind
from soulmem.domain.micro_units import UNIT_STABILITY
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.views.concept_activation import memory_strengths


@dataclass(frozen=True, slots=True)
class TextAge:
    """How long ago a text was told for the last time, and how much its S grew by spaced tellings."""

    last: float = 0.0  # turns
    growth: float = 1.0  # >= 1
    is_retold: bool = False  # other memories that tell the same are united in it


@compute_only
def text_ages(mind: Mind, memories: Sequence[Memory], turn: float) -> list[TextAge]:
    """The age of each text when `turn` exchanges are lived; 0 of one that is not loaded."""
    tellings = [[m.id, *mind.tellings.merged(m.id)] for m in memories]
    ages = _ages(mind, [key for keys in tellings for key in keys], turn)
    return [_text_age([ages[key] for key in keys if key in ages]) for keys in tellings]


@compute_only
def text_strengths(mind: Mind, memories: Sequence[Memory], extra_turns: int) -> list[float]:
    """How much of each memory is left by now, 0..1: of a text by its last telling or recall.

    S grows by emotion and by spaced tellings and recalls. Of concepts at least their activation.
    """
    rows = np.asarray([mind.row_of(memory) for memory in memories], np.int64)
    strengths = memory_strengths(mind, rows, extra_turns).tolist()
    turn, settings = float(mind.lived_turns(extra_turns)), mind.soul.settings
    ages = text_ages(mind, memories, turn)
    out = []
    for memory, strength, age in zip(memories, strengths, ages, strict=True):
        if memory.permanent or memory.locked:
            strength = 1.0
        elif memory.kind is not MemoryKind.CONCEPT:
            recalls = _recall_ages(mind, memory.id, turn)
            growth = age.growth * _growth([age.last, *recalls])
            stability = UNIT_STABILITY * (1.0 + memory.strongest_emotion) * growth
            elapsed = min([age.last, *recalls]) * settings.forgetting
            strength = retained(elapsed, stability, growth, settings.decay)
        out.append(strength)
    return out


def _ages(mind: Mind, keys: Sequence[MemoryId], turn: float) -> dict[MemoryId, float]:
    """Turns since each of these memories took place; those that are not loaded are left out."""
    rows = {key: row for key in keys if (row := mind.row(key)) is not None}
    numbers = np.fromiter(rows.values(), np.int64, len(rows))
    extra = int(turn) - mind.lived_turns(0)
    exchanges = mind.exchange_ages(None, extra, numbers)
    ages = mind.time.row_ages(numbers, exchanges, extra).tolist()
    return dict(zip(rows, ages, strict=True))


def _text_age(ages: Sequence[float]) -> TextAge:
    if not ages:
        return TextAge()
    return TextAge(min(ages), _growth(ages), len(ages) > 1)


def _growth(ages: Iterable[float]) -> float:
    """The factor, >= 1, of S after touches of these ages, in turns."""
    growth, last = 1.0, None
    for age in sorted(ages, reverse=True):
        if last is None:
            last = age
        elif last - age >= SPACED:
            growth, last = stability_after(growth, last - age), age
    return growth


def _recall_ages(mind: Mind, memory: MemoryId, turn: float) -> list[float]:
    """Turns since each recall of the memory that is kept."""
    usage = mind.recalls.usage(memory)
    stamps = (usage.first, *usage.stamps) if usage is not None else ()
    return [mind.time.age_since(s.moment, s.turn, turn) for s in stamps]

"""Texts that may contain a new name, found by the word index instead of reading every text."""

from __future__ import annotations

import re
from collections.abc import Iterable

from soulmem.domain.ids import MemoryId
from soulmem.engine.mind.mind import Mind
from soulmem.graph.names import Glance
from soulmem.language.scripts import UNSPACED

_UNSPACED = re.compile(f"[{UNSPACED}]+")


def candidate_texts(mind: Mind, names: Iterable[str]) -> list[MemoryId]:
    """All memories with one of the names, and some without."""
    out: dict[MemoryId, None] = {}
    for name in names:
        rows = _rows(mind, name)
        if rows is None:
            glance = Glance([name])
            out.update(
                (m.id, None) for m in mind.memories.values() if glance.may_hold(m.text)
            )
        else:
            out.update((mind.id_at(row), None) for row in rows)
    return list(out)


def _rows(mind: Mind, name: str) -> list[int] | None:
    """Rows with the rarest part of the name, ascending; None if no part of it is indexed."""
    best: list[int] | None = None
    for part in mind.tokeniser.parts(name):
        rows: set[int] = set()
        for token in part:
            rows.update(map(int, mind.words.rows(token)))
        if best is None or len(rows) < len(best):
            best = sorted(rows)
    return best

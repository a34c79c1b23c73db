"""What an edit of a text leaves of the units and anchors that were given to it by hand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from soulmem.domain.dialogue import text_hash
from soulmem.domain.fading_records import FadingRecord
from soulmem.domain.ids import MemoryId
from soulmem.domain.micro_units import MicroUnit


def fading_after_edit(
    record: FadingRecord, old: str, new: str, memory: MemoryId | None = None
) -> FadingRecord:
    """The record for another text: what was given by hand and still stands there, at its new place.

    States of computed units and a rewording are let go. `memory` is the one that has the new text; None: the
    same.
    """
    text = old if record.reworded is None else record.reworded
    units = tuple(_moved(record.units, text, new)) if record.own_units else ()
    anchors = [a for a in record.anchors if record.own_anchors and a.text in new]
    return FadingRecord(
        memory=memory or record.memory,
        soul=record.soul,
        wording=text_hash(new),
        units=units,
        anchors=tuple(anchors),
        own_units=bool(units),
        own_anchors=record.own_anchors,
    )


def _moved(units: Iterable[MicroUnit], old: str, new: str) -> Iterator[MicroUnit]:
    """The units at the nearest place where their words stand in the new text; others are left out."""
    for unit in units:
        span = unit.span
        words = old[span.start : span.end]
        later, earlier = new.find(words, span.start), new.rfind(words, 0, span.end)
        places = [start for start in (later, earlier) if start >= 0]
        if places:
            start = min(places, key=lambda place: abs(place - span.start))
            moved = replace(span, start=start, end=start + len(words))
            yield replace(unit, span=moved)

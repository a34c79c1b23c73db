"""Units and anchors that the user gives a memory, and what an edit of its text leaves of them.

Compute thread only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from soulmem.conversation.fading_after_edit import fading_after_edit
from soulmem.domain.dialogue import text_hash
from soulmem.domain.edges import TEXTS
from soulmem.domain.errors import Unprocessable
from soulmem.domain.fading_records import FadingRecord
from soulmem.domain.memories import Memory
from soulmem.domain.micro_units import (
    Anchor,
    AnchorKind,
    MicroUnit,
    Retention,
    UnitSpan,
    anchor_stability,
    unit_stability,
)
from soulmem.domain.phrases import phrase
from soulmem.engine.api.requests import NewAnchor, NewUnit
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.views.faded_texts import (
    FadedText,
    fading_of,
    record_of,
)


@compute_only
def edited_fading(
    mind: Mind,
    old: Memory | None,
    new: Memory,
    units: Sequence[NewUnit] | None,
    anchors: Sequence[NewAnchor] | None,
    current_time: datetime,
    extra: int,
) -> tuple[FadingRecord, ...]:
    """The record of a memory after an edit; nothing where it stays as it is.

    old      the memory before; None: it is new
    units    None: they stay, as far as they are parts of the new text; empty: the computed ones
    anchors  None: they stay, as far as they occur; empty: none at all

    Raises Unprocessable for a unit outside the text or of other words, for an anchor that is not in the text,
    and for kinds that do not fade.
    """
    record = record_of(mind, old) if old is not None else None
    if record is None:
        record = FadingRecord(new.id, new.soul, text_hash(new.text))
    before = record
    if old is not None and old.text != new.text:
        record = fading_after_edit(record, old.text, new.text)
    if units is not None or anchors is not None:
        _check_kind(new)
    turn = float(mind.lived_turns(extra))
    seen = fading_of(mind, old, turn) if old is not None else FadedText(new.text)
    text = new.text if record.reworded is None else record.reworded
    stamp = (current_time, turn)
    if units is not None:
        parts = tuple(_unit(n, unit, text, new, seen, stamp) for n, unit in enumerate(units))
        record = replace(record, units=parts, own_units=bool(parts))
    if anchors is not None:
        words = tuple(
            _anchor(n, anchor, text, new, seen, stamp) for n, anchor in enumerate(anchors)
        )
        record = replace(record, anchors=words, own_anchors=True)
    return () if record == before else (record,)


def _check_kind(memory: Memory) -> None:
    if memory.kind not in TEXTS:
        kinds = ", ".join(kind.value for kind in TEXTS)
        raise Unprocessable(
            phrase(
                "does_not_fade",
                "a memory of kind '{kind}' does not fade: units and anchors are of {kinds}",
                kind=memory.kind.value,
                kinds=kinds,
            ),
            field="units",
        )


def _unit(
    number: int,
    unit: NewUnit,
    text: str,
    memory: Memory,
    seen: FadedText,
    stamp: tuple[datetime, float],
) -> MicroUnit:
    """The unit with its state: as sent, else as the same unit was, else clear. Raises Unprocessable."""
    start, end = unit.start, unit.end
    if start is None or end is None:
        start = text.find(unit.text)
        end = start + len(unit.text)
        if start < 0:
            raise Unprocessable(
                phrase(
                    "unit_missing",
                    "the unit '{text}' does not stand in the text: send words of it",
                    text=unit.text[:80],
                ),
                field=f"units[{number}].text",
            )
    if not 0 <= start < end <= len(text):
        raise Unprocessable(
            phrase(
                "unit_outside",
                "the unit {start}..{end} lies outside its text of {length} characters: send a start"
                " and an end within it",
                start=start,
                end=end,
                length=len(text),
            ),
            field=f"units[{number}].start",
        )
    if unit.text and text[start:end] != unit.text:
        raise Unprocessable(
            phrase(
                "unit_differs",
                "at {start}..{end} the text reads '{stands}', not '{sent}': send what stands there",
                start=start,
                end=end,
                stands=text[start:end][:80],
                sent=unit.text[:80],
            ),
            field=f"units[{number}].text",
        )
    same = (u for u in seen.units if (u.span.start, u.span.end) == (start, end))
    former = next(same, None)
    span = replace(former.span, gist=unit.gist) if former else UnitSpan(start, end, unit.gist)
    first = unit_stability(span, memory.strongest_emotion)
    state = former.retention if former else None
    return MicroUnit(span, _state(unit.visibility, state, first, stamp))


def _anchor(
    number: int,
    anchor: NewAnchor,
    text: str,
    memory: Memory,
    seen: FadedText,
    stamp: tuple[datetime, float],
) -> Anchor:
    """The anchor with its state: as sent, else as the same anchor was, else clear. Raises Unprocessable."""
    if anchor.text not in text:
        raise Unprocessable(
            phrase(
                "anchor_missing",
                "the anchor '{text}' does not stand in the text: send words of it",
                text=anchor.text[:80],
            ),
            field=f"anchors[{number}].text",
        )
    same = (a for a in seen.anchors if (a.text, a.kind) == (anchor.text, anchor.kind))
    former = next(same, None)
    first = anchor_stability(anchor.kind, memory.strongest_emotion)
    state = former.retention if former else None
    if anchor.kind is AnchorKind.FORCED:  # clear at once (design 6)
        state = None
    return Anchor(anchor.text, anchor.kind, _state(anchor.visibility, state, first, stamp))


def _state(
    visibility: float | None,
    former: Retention | None,
    first: float,
    stamp: tuple[datetime, float],
) -> Retention:
    """As visible as sent, else as before, from now on; what was recalled before keeps its stability."""
    moment, turn = stamp
    if visibility is None:
        visibility = former.visibility if former else 1.0
    stability = former.stability if former else first
    return Retention(visibility, stability, moment, turn)

"""Fading records as short lists of plain values, for the memory of a mind and for the store."""

from __future__ import annotations

from typing import Any

from soulmem.domain.calendar import EPOCH, MICROSECOND
from soulmem.domain.fading_records import FadingRecord, Retelling
from soulmem.domain.ids import ChatId, MemoryId, SlotId, SoulId
from soulmem.domain.micro_units import (
    Anchor,
    AnchorKind,
    MicroUnit,
    Retention,
    UnitSpan,
)


def packed_fading(record: FadingRecord) -> list[Any]:
    """The record without memory and soul, as JSON can say it: a quarter of the size with names."""
    retold = record.retold
    return [
        record.wording,
        [[*_span(unit.span), *_state(unit.retention)] for unit in record.units],
        [[a.text, a.kind.value, *_state(a.retention)] for a in record.anchors],
        record.own_units,
        record.own_anchors,
        record.reworded,
        None if retold is None else [retold.text, retold.chat, retold.slot],
        record.reply,
    ]


def unpacked_fading(values: list[Any], memory: MemoryId, soul: SoulId) -> FadingRecord:
    """Inverse of `packed_fading`."""
    wording, units, anchors, own_units, own_anchors, reworded, retold, reply = values
    return FadingRecord(
        memory=memory,
        soul=soul,
        wording=wording,
        units=tuple([MicroUnit(UnitSpan(*u[:5]), _retention(u[5:])) for u in units]),
        anchors=tuple([Anchor(a, AnchorKind(k), _retention(s)) for a, k, *s in anchors]),
        own_units=own_units,
        own_anchors=own_anchors,
        reworded=reworded,
        reply=None if reply is None else MemoryId(reply),
        retold=None
        if retold is None
        else Retelling(retold[0], ChatId(retold[1]), SlotId(retold[2])),
    )


def _span(span: UnitSpan) -> list[Any]:
    return [span.start, span.end, span.gist, span.is_detail, span.salience]


def _state(state: Retention) -> list[Any]:
    touched = (state.touched - EPOCH) // MICROSECOND
    return [state.visibility, state.stability, touched, state.at_turn]


def _retention(values: list[Any]) -> Retention:
    visibility, stability, touched, at_turn = values
    moment = EPOCH + touched * MICROSECOND
    turn = None if at_turn is None else float(at_turn)
    return Retention(float(visibility), float(stability), moment, turn)

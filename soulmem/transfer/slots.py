"""Slots (message ids) of the messages of a SillyTavern chat."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from soulmem.domain.ids import ID_PATTERN, SlotId
from soulmem.domain.texts import well_formed


def slots_of(rows: Sequence[Mapping[str, Any]]) -> list[SlotId]:
    """The slot of each message: the one stored on it or on a swipe of it, else a hash of speaker and date.

    The extension computes the same hash, so a message has the same slot wherever it is read first.
    """
    slots: list[str | None] = []
    taken: set[str] = set()
    for row in rows:
        ids = (as_id(stamp_of(extra).get("id")) for extra in _extras(row))
        slot = next(filter(None, ids), None)
        # a copied message has the slot of its original
        slots.append(None if slot in taken else slot)
        if slot is not None:
            taken.add(slot)
    attempts = Counter[str]()
    return [
        SlotId(slot or _mint(row, taken, attempts))
        for slot, row in zip(slots, rows, strict=True)
    ]


def as_id(value: Any) -> str | None:
    """`value` if it is a valid id, else None."""
    return value if isinstance(value, str) and re.match(ID_PATTERN, value) else None


def stamp_of(extra: Any) -> dict[str, Any]:
    """What the extension stored in the `extra` of a message; empty when nothing."""
    stamp = extra.get("soulmem") if isinstance(extra, dict) else None
    return stamp if isinstance(stamp, dict) else {}


def _extras(row: Mapping[str, Any]) -> Iterator[Any]:
    yield row.get("extra")
    swipes = row.get("swipe_info")
    for swipe in swipes if isinstance(swipes, list) else ():
        yield swipe.get("extra") if isinstance(swipe, dict) else None


def _mint(row: Mapping[str, Any], taken: set[str], attempts: Counter[str]) -> str:
    """A new slot from speaker and date, which is added to `taken`.

    attempts  by speaker and date those that were made: without them the time would grow as the square of the
              messages without a date
    """
    date = row.get("send_date")
    if isinstance(date, float) and date.is_integer():
        date = int(date)  # as JavaScript writes it
    side = "u" if row.get("is_user") else "c"
    seed = f"{side}\n{row.get('name') or ''}\n{'' if date is None else date}"
    for attempt in count(attempts[seed]):
        text = well_formed(f"{seed}\n{attempt}")
        slot = "m" + hashlib.sha256(text.encode()).hexdigest()[:20]
        if slot not in taken:
            attempts[seed] = attempt + 1
            break
    taken.add(slot)
    return slot

"""The entries of a world that the extension MemoryBooks made, as it marks them."""

from __future__ import annotations

import re
from typing import Any

from soulmem.domain.texts import well_formed
from soulmem.transfer.lore import EvidenceRef

PART = "MemoryBooks"  # of the statements made of such entries, wherever the world is read

# The number that MemoryBooks puts before a title: "[003] - The mill", "003 The mill".
_NUMBER = re.compile(r"\A(?:[\[({#]\s*)?\d+\s*(?:[\])}]\s*)?(?:[-–—:.]\s*)?(?=\S)")


def is_marked(entry: Any) -> bool:
    """Whether MemoryBooks made the entry; books inside a card keep its marks in `extensions`."""
    if not isinstance(entry, dict):
        return False
    values = _values(entry)
    return values.get("stmemorybooks") is True or "STMB_start" in values


def untitled(entry: dict[str, Any]) -> dict[str, Any]:
    """The entry without the running number of its title."""
    title = entry.get("comment")
    if not isinstance(title, str):
        return entry
    return {**entry, "comment": _NUMBER.sub("", title.lstrip(), count=1)}


def evidence_of(entry: dict[str, Any]) -> EvidenceRef | None:
    """The messages that the entry was written about; None where it names no chat or no range."""
    values = _values(entry)
    chat, first, last = map(values.get, ("STMB_chatId", "STMB_start", "STMB_end"))
    if not (isinstance(chat, str) and chat.strip()):
        return None
    if not (type(first) is int and type(last) is int and 0 <= first <= last):
        return None
    return EvidenceRef(well_formed(chat).strip(), first=first, last=last)


def _values(entry: dict[str, Any]) -> dict[str, Any]:
    inner = entry.get("extensions")
    return {**(inner if isinstance(inner, dict) else {}), **entry}

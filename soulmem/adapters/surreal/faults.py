"""Translates errors of SurrealDB into StoreErrors, with what the user can do."""

from __future__ import annotations

from collections.abc import Sequence

from soulmem.domain.errors import (
    Protected,
    StoreBroken,
    StoreError,
    StoreFull,
    StoreLocked,
    StoreReadOnly,
)
from soulmem.domain.phrases import phrase

_FULL = (
    "no space left",
    "storage full",
    "disk full",
    "quota exceeded",
    "not enough space",
    "os error 28",
)
_READ_ONLY = (
    "read-only file system",
    "readonly filesystem",
    "permission denied",
    "access is denied",
)
_LOCKED = ("already locked", "lock is held", "used by another process")
_CONFLICT = (
    "transactionconflict",
    "transaction conflict",
    "write conflict",
    "read or write conflict",
)

_PROTECTED = "soulmem-protected: "
_BROKEN = ("checksum", "corrupt", "wal error", "io error")


class Conflicting(StoreError):
    """Two transactions conflict: this one can be run again."""


def translate(text: str, place: str, *, opening: bool = False) -> StoreError:
    """The StoreError for an error message of the engine; `place` is the folder or the server's address.

    While `opening`, an unknown error means that the folder cannot be read.
    """
    lower = text.lower()
    if _PROTECTED in lower:
        what = text[lower.index(_PROTECTED) + len(_PROTECTED) :]
        return Protected(
            phrase(
                "row_protected",
                "{what} is protected: only the user may change or delete it",
                what=what,
            )
        )
    if _has_any(lower, _FULL):
        return full(place)
    if _has_any(lower, _LOCKED):
        return StoreLocked(
            phrase(
                "store_locked",
                "SoulMem is already running on this data folder ({place}): close it, or choose"
                " another folder with --data",
                place=place,
            )
        )
    if _has_any(lower, _READ_ONLY):
        return StoreReadOnly(
            phrase(
                "store_read_only",
                "the data folder {place} cannot be written: give yourself write permission, or"
                " choose another folder with --data ({text})",
                place=place,
                text=text,
            )
        )
    if _has_any(lower, _CONFLICT):
        return Conflicting(
            phrase(
                "store_conflict",
                "two changes conflict in {place}: {text}",
                place=place,
                text=text,
            )
        )
    if opening or _has_any(lower, _BROKEN):
        return StoreBroken(
            phrase(
                "store_unreadable",
                "the data folder {place} cannot be read: stop SoulMem and restore a backup (soulmem"
                " restore --newest), or choose another folder with --data ({text})",
                place=place,
                text=text,
            )
        )
    return StoreError(
        phrase(
            "store_error",
            "the store in {place} reported an error: {text}",
            place=place,
            text=text,
        )
    )


def _has_any(text: str, marks: Sequence[str]) -> bool:
    return any(mark in text for mark in marks)


def full(place: str, detail: str = "") -> StoreFull:
    """The error for a full disk. The engine's own message is left out: it would only alarm the user."""
    more = f" ({detail})" if detail else ""
    return StoreFull(
        phrase(
            "store_full",
            "the disk of {place} is full: free some space, SoulMem continues by itself{more}",
            place=place,
            more=more,
        )
    )

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
        return Protected(f"{what} is protected: only the user may change or delete it")
    if _has_any(lower, _FULL):
        return full(place)
    if _has_any(lower, _LOCKED):
        return StoreLocked(
            f"SoulMem is already running on this data folder ({place}): "
            "close it, or choose another folder with --data"
        )
    if _has_any(lower, _READ_ONLY):
        return StoreReadOnly(
            f"the data folder {place} cannot be written: give yourself write permission, "
            f"or choose another folder with --data ({text})"
        )
    if _has_any(lower, _CONFLICT):
        return Conflicting(f"two changes conflict in {place}: {text}")
    if opening or _has_any(lower, _BROKEN):
        return StoreBroken(
            f"the data folder {place} cannot be read: stop SoulMem and restore a backup "
            f"(soulmem restore --newest), or choose another folder with --data ({text})"
        )
    return StoreError(f"the store in {place} reported an error: {text}")


def _has_any(text: str, phrases: Sequence[str]) -> bool:
    return any(phrase in text for phrase in phrases)


def full(place: str, detail: str = "") -> StoreFull:
    """The error for a full disk. The engine's own message is left out: it would only alarm the user."""
    more = f" ({detail})" if detail else ""
    return StoreFull(
        f"the disk of {place} is full: free some space, SoulMem continues by itself{more}"
    )

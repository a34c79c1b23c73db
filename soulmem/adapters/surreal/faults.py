"""What an error of the engine means to the user: which StoreError it is, and what to do about it."""

from __future__ import annotations

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
    """The engine asks to run the same transaction again."""


def translate(text: str, place: str, *, opening: bool = False) -> StoreError:
    """The error that `text`, in the engine's words, stands for; `place` is the folder or a server's address.

    While `opening`, an unknown error means that the folder cannot be read.
    """
    low = text.lower()
    if _PROTECTED in low:
        what = text[low.index(_PROTECTED) + len(_PROTECTED) :]
        return Protected(
            f"{what} is protected: only the user's own hand may change or delete it"
        )
    if any(words in low for words in _FULL):
        return full(place)
    if any(words in low for words in _LOCKED):
        return StoreLocked(
            f"SoulMem is already running on this data folder ({place}): "
            "close it, or choose another folder with --data"
        )
    if any(words in low for words in _READ_ONLY):
        return StoreReadOnly(
            f"the data folder {place} cannot be written: make it writable for you, "
            f"or choose another folder with --data ({text})"
        )
    if any(words in low for words in _CONFLICT):
        return Conflicting(f"two writers met in {place}: {text}")
    if opening or any(words in low for words in _BROKEN):
        return StoreBroken(
            f"the data folder {place} cannot be read: put a backup in its place (soulmem restore --newest, "
            f"while SoulMem is stopped), or choose another folder with --data ({text})"
        )
    return StoreError(f"the store in {place} refused: {text}")


def full(place: str, detail: str = "") -> StoreFull:
    """The disk of `place` has no room left. What the engine says of it in its own words only frightens."""
    more = f" ({detail})" if detail else ""
    return StoreFull(
        f"the disk of {place} is full: free some space, SoulMem goes on by itself{more}"
    )

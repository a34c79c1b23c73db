"""The errors for a file that cannot be written, with what the user can do."""

from __future__ import annotations

import errno

from soulmem.domain.errors import StoreError, StoreFull
from soulmem.domain.phrases import Phrase, phrase

_DISK_FULL = (errno.ENOSPC, errno.EDQUOT)


def folder_error(folder: object, error: OSError) -> StoreError:
    """For a folder in which nothing can be written: StoreFull when its disk is full."""
    reason = error.strerror or str(error)
    if error.errno in _DISK_FULL:
        return StoreFull(
            phrase(
                "folder_disk_full",
                "the disk of {folder} is full: free some space, then try again ({reason})",
                folder=folder,
                reason=reason,
            )
        )
    return StoreError(
        phrase(
            "folder_unusable",
            "{folder} cannot be used: make it writable for you ({reason})",
            folder=folder,
            reason=reason,
        )
    )


def snapshot_error(error: OSError) -> StoreError:
    """For a snapshot that is not written: StoreFull when the disk is full."""
    no_room = phrase(
        "snapshot_no_room", "the disk has no room for a snapshot of the soul's memory"
    )
    other = phrase(
        "snapshot_unwritten",
        "a snapshot of the soul's memory could not be written: {error}",
        error=error,
    )
    return _one_of(error, no_room, other)


def token_file_error(error: OSError) -> StoreError:
    """For token states that are not written: StoreFull when the disk is full."""
    no_room = phrase(
        "tokens_no_room", "the disk has no room for the token states of a soul"
    )
    other = phrase(
        "tokens_unwritten",
        "the token states of a soul cannot be written: {error}",
        error=error,
    )
    return _one_of(error, no_room, other)


def _one_of(error: OSError, no_room: Phrase, other: Phrase) -> StoreError:
    return StoreFull(no_room) if error.errno in _DISK_FULL else StoreError(other)

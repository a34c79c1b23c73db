"""What is known of each row in one number: flags, family, cost and time, as arrays a search can mask with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

UNKNOWN = -1  # tokens of a text nobody has asked for yet: counting those of all texts takes seconds


class Columns:
    """Arrays of one length, at least as long as the rows in use; ask `grow` before writing a new row."""

    def __init__(self) -> None:
        self.in_use: NDArray[np.bool_] = np.zeros(64, np.bool_)
        self.active: NDArray[np.bool_] = np.zeros(64, np.bool_)  # in use, and of a kind that may be shown
        self.live: NDArray[np.bool_] = np.zeros(
            64, np.bool_
        )  # told by a chat that still shows it, or by hand
        self.everywhere: NDArray[np.bool_] = np.zeros(64, np.bool_)  # known on all timelines
        self.opens_exchange: NDArray[np.bool_] = np.zeros(64, np.bool_)  # a line somebody else said
        self.family: NDArray[np.int64] = np.full(64, -1, np.int64)  # code of the tree of chats, -1 for none
        self.permanent: NDArray[np.bool_] = np.zeros(64, np.bool_)
        self.locked: NDArray[np.bool_] = np.zeros(64, np.bool_)
        self.kind: NDArray[np.uint8] = np.zeros(64, np.uint8)  # place in MEMORY_KINDS
        self.importance: NDArray[np.float32] = np.zeros(64, np.float32)  # 0..1
        self.feeling: NDArray[np.float32] = np.zeros(64, np.float32)  # 0..1, of its strongest emotion
        self.tokens: NDArray[np.int64] = np.zeros(64, np.int64)  # cost of the text in a prompt, or UNKNOWN
        self.happened: NDArray[np.float64] = np.zeros(64, np.float64)  # POSIX seconds
        self.ended: NDArray[np.float64] = np.zeros(64, np.float64)  # POSIX seconds, not before `happened`

    def grow(self, n: int) -> None:
        """Make room for `n` rows; new ones are empty."""
        size = self.active.size
        if n <= size:
            return
        more = max(n, size + size // 2) - size
        flags = ("in_use", "active", "live", "everywhere", "opens_exchange", "permanent", "locked")
        for name in (*flags, "kind", "importance", "feeling", "tokens", "happened", "ended"):
            old = getattr(self, name)
            setattr(self, name, np.concatenate([old, np.zeros(more, old.dtype)]))
        self.family = np.concatenate([self.family, np.full(more, -1, np.int64)])

    def clear(self, row: int) -> None:
        """A row that is free shows nothing."""
        for flags in (self.in_use, self.active, self.live, self.everywhere):
            flags[row] = False
        self.opens_exchange[row] = self.permanent[row] = self.locked[row] = False
        self.family[row] = -1

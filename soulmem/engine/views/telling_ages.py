"""Ages of events that were told again: an event is as old as its last telling. Compute thread only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.ids import ChatId
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.compute_only import compute_only

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@compute_only
def ages_of_last_telling(
    mind: Mind, chat: ChatId | None, extra: int, rows: Ints
) -> Ints:
    """As `Mind.exchange_ages`, for a memory that unites tellings the age of the last one that `chat` knows."""
    ages = mind.exchange_ages(chat, extra, rows)
    merged, centres = mind.tellings.row_pairs()
    is_asked = np.zeros(mind.size, np.bool_)
    is_asked[rows] = True
    counted = mind.columns.live[merged] & is_asked[centres]
    if not counted.any():
        return ages
    if chat is not None:
        counted &= _known(mind, chat, merged)
    merged, centres = merged[counted], centres[counted]
    youngest = np.full(mind.size, np.iinfo(np.int64).max)
    np.minimum.at(youngest, centres, mind.exchange_ages(chat, extra, merged))
    return np.asarray(np.minimum(ages, youngest[rows]), np.int64)


@compute_only
def with_joined_tellings(mind: Mind, chat: ChatId | None, accessible: Bools) -> Bools:
    """These rows and those of the tellings that they unite, as far as `chat` knows them: what was told again
    was met again.
    """
    merged, centres = mind.tellings.row_pairs()
    counted = mind.columns.live[merged] & accessible[centres]
    if not counted.any():
        return accessible
    if chat is not None:
        counted &= _known(mind, chat, merged)
    out: Bools = accessible.copy()
    out[merged[counted]] = True
    return out


def _known(mind: Mind, chat: ChatId, rows: Ints) -> Bools:
    """Which of these episodes the chat holds, or only chats of other families do."""
    inside = mind.chat_rows(chat)
    family = mind.columns.family
    is_apart = family[rows] != (family[inside[0]] if inside.size else -2)
    return np.asarray(np.isin(rows, inside) | is_apart)

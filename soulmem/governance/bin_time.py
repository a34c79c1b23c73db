"""How long the bin keeps what was deleted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class BinParams:
    """When binned items are deleted for good, and what a language model may not restore.

    In use `days` and `review` come from the settings (`config/settings.py`).
    """

    days: float = 7.0  # design 8
    warn_days: float = 1.0  # the user is warned this long before
    # memories that a model marks as permanent wait there for the user; design 8
    review: bool = False


def expired(binned: Mapping[K, datetime], current_time: datetime, params: BinParams) -> list[K]:
    """Keys of the items whose time in the bin is over."""
    keep = timedelta(days=params.days)
    return [key for key, binned_at in binned.items() if current_time - binned_at >= keep]


def count_expiring_soon(
    binned: Iterable[datetime], current_time: datetime, params: BinParams
) -> int:
    """Number of items that are within the warning time or past it; `binned`: since when."""
    from_then = timedelta(days=max(0.0, params.days - params.warn_days))
    return sum(current_time - binned_at >= from_then for binned_at in binned)

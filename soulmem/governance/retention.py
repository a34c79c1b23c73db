"""What does the bin keep, and for how long?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class BinParams:
    """When what lies in the bin goes for good, and what a language model may not take out of it."""

    days: float = 7.0  # design 8
    warn_days: float = 1.0  # so long before that the user is told
    review: bool = (
        False  # what a model wants to keep for good waits there for the user; design 8
    )


def expired(
    binned: Mapping[K, datetime], current_time: datetime, params: BinParams
) -> list[K]:
    """What has lain in the bin for long enough."""
    keep = timedelta(days=params.days)
    return [
        key for key, binned_at in binned.items() if current_time - binned_at >= keep
    ]


def count_expiring_soon(
    binned: Mapping[K, datetime], current_time: datetime, params: BinParams
) -> int:
    """How many go for good soon."""
    from_then = timedelta(days=max(0.0, params.days - params.warn_days))
    return sum(current_time - binned_at >= from_then for binned_at in binned.values())

"""How many examples a test makes whose example is dear: a whole life, a store of its own, a damaged file."""

from __future__ import annotations

from typing import Any

from hypothesis import settings

LONG_RUN = 4  # times as many as every day


def is_long_run() -> bool:
    """Whether this is the long run."""
    return settings.get_current_profile_name() == "long"


def sized(everyday: int, long: int) -> int:
    """The size of a test every day, and in the long run."""
    return long if is_long_run() else everyday


def few(count: int, *, long: int | None = None, **more: Any) -> settings:
    """Settings for so many examples every day, and for `long`, else four times as many, in the long run."""
    return settings(max_examples=sized(count, long or count * LONG_RUN), **more)

"""How many examples a test makes whose example is a whole life, a store of its own or a damaged file."""

from __future__ import annotations

from typing import Any

from hypothesis import settings

LONG_RUN = 4  # times as many as every day


def few(count: int, **more: Any) -> settings:
    """Settings for so many examples every day, and for four times as many in the long run."""
    is_long = settings.get_current_profile_name() == "long"
    return settings(max_examples=count * (LONG_RUN if is_long else 1), **more)

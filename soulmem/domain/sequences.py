"""Common ends of two versions of a sequence."""

from __future__ import annotations

from collections.abc import Sequence


def common_ends(old: Sequence[object], new: Sequence[object]) -> tuple[int, int]:
    """Lengths of the longest common prefix, and of the longest common suffix of the rest.

    Edits of a long chat mostly touch a few places near its end; callers compare the middle only.
    """
    shorter = min(len(old), len(new))
    prefix = 0
    step = shorter
    while (
        step
    ):  # halving steps: slices compare far faster than a loop over single elements
        if old[prefix : prefix + step] == new[prefix : prefix + step]:
            prefix += step
            step = min(step, shorter - prefix)
        else:
            step //= 2
    suffix = 0
    limit = shorter - prefix
    while suffix < limit and _same(
        old[len(old) - 1 - suffix], new[len(new) - 1 - suffix]
    ):
        suffix += 1
    return prefix, suffix


def _same(item: object, other: object) -> bool:
    return item is other or item == other

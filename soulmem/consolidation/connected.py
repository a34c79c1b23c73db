"""Connected: which of many things are connected by pairs of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable


def connected(
    count: int,
    pairs: Iterable[tuple[int, int]],
    holds: Callable[[int, int], bool] | None = None,
) -> list[list[int]]:
    """The numbers 0 to count - 1 in lists of those that pairs connect; lists and numbers ascend.

    holds  whether a pair connects; without it each does. Asked only of pairs that are not connected yet.
    """
    leader = list(range(count))  # upwards to the least of those that are connected

    def least(number: int) -> int:
        while leader[number] != number:
            leader[number] = leader[leader[number]]
            number = leader[number]
        return number

    for one, other in pairs:
        first, last = sorted((least(one), least(other)))
        if first != last and (holds is None or holds(one, other)):
            leader[last] = first
    lists: dict[int, list[int]] = {}
    for number in range(count):
        lists.setdefault(least(number), []).append(number)
    return list(lists.values())

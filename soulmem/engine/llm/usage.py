"""What does a language model cost in calls, tokens and minutes, and is there room for more this hour?"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from soulmem.domain.books import Spent as Spent
from soulmem.domain.ids import Owner, SoulId

CONSOLIDATION = "consolidation"
REPLAY = "replay"
DIGEST = "digest"
_HOUR = timedelta(hours=1)
_RECENT_CALLS = 8  # by which the time of the next is told: the model may have been changed before them


@dataclass(frozen=True, slots=True)
class UsageLimits:
    """What Idle work may spend within an hour; what the user asks for by a job is not held to it."""

    calls: int = 120
    tokens: int = 400_000
    nodes: int = 3000
    minutes: float = 30.0


class UsageLedger:
    """The books, by owner, soul and kind of work. `on_change` hears whose have changed."""

    def __init__(self, params: UsageLimits | None = None) -> None:
        self.params = params or UsageLimits()
        self.on_change: Callable[[Owner, SoulId], None] = lambda _owner, _soul: None
        self._totals: defaultdict[tuple[Owner, SoulId], dict[str, Spent]] = defaultdict(
            dict
        )
        self._late: deque[tuple[datetime, Owner, SoulId, Spent]] = deque()
        self._call_seconds: defaultdict[str, deque[float]] = defaultdict(
            lambda: deque(maxlen=_RECENT_CALLS)
        )

    def book(
        self, owner: Owner, soul: SoulId, work: str, spent: Spent, now: datetime
    ) -> None:
        """Take down what was spent."""
        if spent == Spent():
            return
        books = self._totals[owner, soul]
        books[work] = books.get(work, Spent()).plus(spent)
        self._late.append((now, owner, soul, spent))
        if spent.calls:
            self._call_seconds[work].append(spent.seconds / spent.calls)
        self._forget_old(now)
        self.on_change(owner, soul)

    def take(
        self,
        owner: Owner,
        soul: SoulId,
        totals: Mapping[str, Spent],
        late: Iterable[tuple[datetime, Spent]],
    ) -> None:
        """What was booked before a restart."""
        self._totals[owner, soul] = dict(totals)
        found = [*self._late, *((at, owner, soul, spent) for at, spent in late)]
        self._late = deque(sorted(found, key=lambda one: one[0]))

    def late(self, owner: Owner, soul: SoulId) -> tuple[tuple[datetime, Spent], ...]:
        """What was spent on a soul lately, as far as it still counts."""
        return tuple(
            (at, spent) for at, *whose, spent in self._late if whose == [owner, soul]
        )

    def totals(self, owner: Owner, soul: SoulId) -> Mapping[str, Spent]:
        """By kind of work."""
        return dict(self._totals.get((owner, soul), {}))

    def seconds_per_call(self, work: str) -> float | None:
        """Mean over the most recent calls of a kind of work since the start; None before the first of them.

        Calls from before the start do not count: they may have been made to another model.
        """
        seconds = self._call_seconds[work]
        return sum(seconds) / len(seconds) if seconds else None

    def this_hour(self, now: datetime) -> Spent:
        """What all souls spent within the last hour."""
        self._forget_old(now)
        spent = Spent()
        for *_, each in self._late:
            spent = spent.plus(each)
        return spent

    def has_room(self, now: datetime, tokens: int = 1) -> bool:
        """Whether Idle work may spend more now: a call of so many tokens."""
        spent, most = self.this_hour(now), self.params
        tokens += spent.prompt_tokens + spent.answer_tokens
        return (
            spent.calls < most.calls
            and tokens <= most.tokens
            and spent.nodes < most.nodes
            and spent.seconds < 60 * most.minutes
        )

    def _forget_old(self, now: datetime) -> None:
        while self._late and now - self._late[0][0] >= _HOUR:
            self._late.popleft()

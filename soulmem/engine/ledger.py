"""What does a language model cost in calls, tokens and minutes, and is there room for more this hour?"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from soulmem.domain.ids import Owner, SoulId

CONSOLIDATION = "consolidation"
REPLAY = "replay"
_HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Spent:
    """What was spent. A failed call, and one that was tried again, counts as any other."""

    calls: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    seconds: float = 0.0
    nodes: int = 0  # memories written

    def plus(self, other: Spent) -> Spent:
        """Both together."""
        return Spent(
            self.calls + other.calls,
            self.failed + other.failed,
            self.prompt_tokens + other.prompt_tokens,
            self.answer_tokens + other.answer_tokens,
            self.seconds + other.seconds,
            self.nodes + other.nodes,
        )


@dataclass(frozen=True, slots=True)
class LedgerParams:
    """What Idle work may spend within an hour; what the user asks for by a job is not held to it."""

    calls: int = 120
    tokens: int = 400_000
    nodes: int = 3000
    minutes: float = 30.0


class Ledger:
    """The books since the start, by owner, soul and kind of work."""

    def __init__(self, params: LedgerParams | None = None) -> None:
        self.params = params or LedgerParams()
        self._totals: defaultdict[tuple[Owner, SoulId], dict[str, Spent]] = defaultdict(dict)
        self._late: deque[tuple[datetime, Spent]] = deque()

    def book(self, owner: Owner, soul: SoulId, work: str, spent: Spent, now: datetime) -> None:
        """Take down what was spent."""
        books = self._totals[owner, soul]
        books[work] = books.get(work, Spent()).plus(spent)
        self._late.append((now, spent))

    def totals(self, owner: Owner, soul: SoulId) -> Mapping[str, Spent]:
        """By kind of work."""
        return dict(self._totals.get((owner, soul), {}))

    def this_hour(self, now: datetime) -> Spent:
        """What all souls spent within the last hour."""
        while self._late and now - self._late[0][0] >= _HOUR:
            self._late.popleft()
        spent = Spent()
        for _, each in self._late:
            spent = spent.plus(each)
        return spent

    def has_room(self, now: datetime) -> bool:
        """Whether Idle work may spend more now."""
        spent, most = self.this_hour(now), self.params
        tokens = spent.prompt_tokens + spent.answer_tokens
        return (
            spent.calls < most.calls
            and tokens < most.tokens
            and spent.nodes < most.nodes
            and spent.seconds < 60 * most.minutes
        )

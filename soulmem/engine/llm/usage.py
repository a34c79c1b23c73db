"""Usage of language models: calls, tokens and seconds per soul, and the hourly limit of idle work."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from soulmem.domain.ids import Owner, SoulId
from soulmem.domain.llm_usage import LlmUsage as LlmUsage

CONSOLIDATION = "consolidation"
REPLAY = "replay"
DIGEST = "digest"
DEEP = "deep"
ASSISTANT = "assistant"
REWORDING = "rewording"
_HOUR = timedelta(hours=1)
# The duration of a call is estimated by this many calls: the model may have been
# changed before them.
_RECENT_CALLS = 8


@dataclass(frozen=True, slots=True)
class UsageLimits:
    """Limits of idle work within one hour. Jobs that the user started are not limited."""

    calls: int = 120
    tokens: int = 400_000
    nodes: int = 3000
    minutes: float = 30.0


class _RecentUsage(NamedTuple):
    moment: datetime
    owner: Owner
    soul: SoulId
    spent: LlmUsage


class UsageLedger:
    """Usage by owner, soul and kind of work. `on_change` is called with the owner and soul of each change."""

    def __init__(self, params: UsageLimits | None = None) -> None:
        self.params = params or UsageLimits()
        self.on_change: Callable[[Owner, SoulId], None] = lambda _owner, _soul: None
        self._totals: defaultdict[tuple[Owner, SoulId], dict[str, LlmUsage]] = defaultdict(dict)
        self._recent: deque[_RecentUsage] = deque()  # oldest first
        self._call_seconds: defaultdict[str, deque[float]] = defaultdict(
            lambda: deque(maxlen=_RECENT_CALLS)
        )

    def record(
        self,
        owner: Owner,
        soul: SoulId,
        work: str,
        spent: LlmUsage,
        current_time: datetime,
    ) -> None:
        """Add usage to the totals of a kind of work and to the current hour."""
        if spent == LlmUsage():
            return
        totals = self._totals[owner, soul]
        totals[work] = totals.get(work, LlmUsage()).plus(spent)
        self._recent.append(_RecentUsage(current_time, owner, soul, spent))
        if spent.calls:
            self._call_seconds[work].append(spent.seconds / spent.calls)
        self._drop_old(current_time)
        self.on_change(owner, soul)

    def restore(
        self,
        owner: Owner,
        soul: SoulId,
        totals: Mapping[str, LlmUsage],
        recent: Iterable[tuple[datetime, LlmUsage]],
    ) -> None:
        """Take over the usage of a soul that was stored before a restart."""
        self._totals[owner, soul] = dict(totals)
        entries = list(self._recent)
        for moment, spent in recent:
            entries.append(_RecentUsage(moment, owner, soul, spent))
        entries.sort(key=lambda entry: entry.moment)
        self._recent = deque(entries)

    def recent(self, owner: Owner, soul: SoulId) -> tuple[tuple[datetime, LlmUsage], ...]:
        """Moments and amounts of a soul's usage within the last hour, oldest first."""
        return tuple(
            (entry.moment, entry.spent)
            for entry in self._recent
            if entry.owner == owner and entry.soul == soul
        )

    def totals(self, owner: Owner, soul: SoulId) -> Mapping[str, LlmUsage]:
        """Usage of a soul by kind of work."""
        return dict(self._totals.get((owner, soul), {}))

    def seconds_per_call(self, work: str) -> float | None:
        """Mean duration of the most recent calls of a kind of work; None without calls since the start.

        Calls from before the start do not count: they may have been made to another
        model.
        """
        seconds = self._call_seconds[work]
        return sum(seconds) / len(seconds) if seconds else None

    def this_hour(self, current_time: datetime) -> LlmUsage:
        """Usage of all souls within the last hour."""
        self._drop_old(current_time)
        spent = LlmUsage()
        for entry in self._recent:
            spent = spent.plus(entry.spent)
        return spent

    def has_room(self, current_time: datetime, tokens: int = 1) -> bool:
        """Whether a call of `tokens` tokens stays within the hourly limits of idle work.

        How long it takes and what it writes is not known before: as much as the calls of
        this hour on average.
        """
        spent, limits = self.this_hour(current_time), self.params
        tokens += spent.prompt_tokens + spent.answer_tokens
        with_one_more = 1 + 1 / max(1, spent.calls)
        seconds = 60 * limits.minutes
        return (
            spent.calls < limits.calls
            and tokens <= limits.tokens
            and spent.nodes < limits.nodes
            and spent.nodes * with_one_more <= limits.nodes
            and spent.seconds < seconds
            and spent.seconds * with_one_more <= seconds
        )

    def _drop_old(self, current_time: datetime) -> None:
        while self._recent and current_time - self._recent[0].moment >= _HOUR:
            self._recent.popleft()

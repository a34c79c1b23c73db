"""What a language model cost a soul, and which of its input waits: the books, as they are kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from soulmem.domain.derivations import Work
from soulmem.domain.ids import ChatId, SoulId


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
class Deferred:
    """Input of one chat for one kind of work that failed; `again` is the latest moment of the next try."""

    chat: ChatId
    work: Work
    reason: str
    attempts: int
    messages: int  # of the chat when it was tried last
    again: datetime  # aware


@dataclass(frozen=True, slots=True)
class SoulBooks:
    """The books of one soul; without anything in them they are not kept."""

    soul: SoulId
    totals: Mapping[str, Spent] = field(default_factory=dict)  # by kind of work
    late: tuple[
        tuple[datetime, Spent], ...
    ] = ()  # what was spent within the last hour, and when
    parked: tuple[Deferred, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.totals or self.late or self.parked)

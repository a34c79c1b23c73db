"""Use of language models by a soul, and work deferred until a model is available.

Stored as JSON by field names: a renamed field is lost on disk.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from soulmem.domain.derivations import Work
from soulmem.domain.ids import ChatId, SoulId
from soulmem.domain.phrases import Wording


@dataclass(frozen=True, slots=True)
class LlmUsage:
    """Calls, tokens and time. Failed and repeated calls count as any other."""

    calls: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    seconds: float = 0.0
    nodes: int = 0  # memories written

    def plus(self, other: LlmUsage) -> LlmUsage:
        """The sum of both."""
        return LlmUsage(
            self.calls + other.calls,
            self.failed + other.failed,
            self.prompt_tokens + other.prompt_tokens,
            self.answer_tokens + other.answer_tokens,
            self.seconds + other.seconds,
            self.nodes + other.nodes,
        )


@dataclass(frozen=True, slots=True)
class Deferred:
    """Deferred work of one kind in one chat. `again`: when it is tried at the latest."""

    chat: ChatId
    work: Work
    reason: Wording
    attempts: int
    messages: int  # of the chat when it was tried last
    again: datetime  # aware


@dataclass(frozen=True, slots=True)
class SoulLlmUsage:
    """Usage and deferred work of one soul; not stored while empty."""

    soul: SoulId
    totals: Mapping[str, LlmUsage] = field(default_factory=dict)  # by kind of work
    # What was spent within the last hour, and when
    late: tuple[tuple[datetime, LlmUsage], ...] = ()
    parked: tuple[Deferred, ...] = ()
    # Of the questions that a model was asked for this soul, by model and version
    right_answers: Mapping[str, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.totals or self.late or self.parked or self.right_answers)

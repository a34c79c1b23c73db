"""The user's opinion of a recalled memory."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from soulmem.domain.dialogue import text_hash
from soulmem.domain.errors import Unprocessable
from soulmem.domain.ids import ChatId, MemoryId, SoulId
from soulmem.domain.phrases import phrase

NEUTRAL = 0.5  # what feedback starts at; design 9


class Verdict(str, Enum):
    """The user's verdict on a recalled memory."""

    STRONGER = "stronger"
    WRONG = "wrong"
    NOT_NOW = "not_now"
    NEVER_HERE = "never_here"


@dataclass(frozen=True, slots=True)
class Opinion:
    """All verdicts on one memory or fact."""

    memory: MemoryId
    soul: SoulId
    score: float = NEUTRAL  # 0..1
    # The hash of the wording that was called wrong: another wording is not in doubt.
    doubted: str | None = None
    not_in: tuple[ChatId, ...] = ()  # chats it is never to come up in

    def __post_init__(self) -> None:
        if not 0.0 <= self.score <= 1.0:
            raise Unprocessable(
                phrase(
                    "score_range",
                    "a score of {score} is outside 0..1",
                    score=self.score,
                ),
                field="score",
            )

    def doubts(self, text: str) -> bool:
        """True if this wording was called wrong."""
        return self.doubted is not None and self.doubted == text_hash(text)

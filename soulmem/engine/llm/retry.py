"""Input that waits because a language model failed on it, and when each is tried again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from soulmem.domain.derivations import Work
from soulmem.domain.ids import ChatId, Owner, SoulId
from soulmem.domain.llm_usage import Deferred as Deferred
from soulmem.domain.phrases import Wording

Key = tuple[Owner, SoulId, ChatId, Work]

_MOST_DOUBLINGS = 16


@dataclass(frozen=True, slots=True)
class RetryParams:
    """When deferred input is tried again: after new messages, or after a delay that doubles with each failure."""

    more: int = 20  # messages
    first: timedelta = timedelta(minutes=10)
    longest: timedelta = timedelta(hours=24)
    unavailable: timedelta = timedelta(minutes=1)  # first delay for a missing model


class Deferrals:
    """Deferred input per chat and kind of work, and the state of the model.

    `on_change` is called with the owner and soul of each change. The state of the model
    is not stored: it is found out again after each start.
    """

    def __init__(self, params: RetryParams | None = None) -> None:
        self.unavailable_reason: Wording | None = None  # of the last call; None if it ran
        self._failures = 0  # calls in a row without a model
        self._model_retry: datetime | None = None
        self._params = params or RetryParams()
        self.on_change: Callable[[Owner, SoulId], None] = lambda _owner, _soul: None
        self._deferred: dict[Key, Deferred] = {}

    def model_unavailable(self, reason: Wording, current_time: datetime) -> None:
        """Note that a call found no model."""
        self.unavailable_reason = reason
        self._failures += 1
        self._model_retry = current_time + self._delay(self._params.unavailable, self._failures)

    def model_available(self) -> None:
        """Note that a model answered."""
        self.unavailable_reason, self._failures, self._model_retry = None, 0, None

    def model_changed(self, current_time: datetime) -> None:
        """Note that another model was chosen: whatever waits may be tried with it from now on."""
        self.model_available()
        for key, deferred in self._deferred.items():
            again = min(deferred.again, current_time)
            self._deferred[key] = replace(deferred, again=again)
            self.on_change(key[0], key[1])

    def next_try(self) -> datetime | None:
        """When waiting input is to be tried again without new messages; None if nothing waits."""
        moments = [deferred.again for deferred in self._deferred.values()]
        return self._model_retry or min(moments, default=None)

    def defer(self, key: Key, reason: Wording, messages: int, current_time: datetime) -> None:
        """Note a failure of this input, when its chat had `messages` messages."""
        old = self._deferred.get(key)
        attempts = old.attempts + 1 if old is not None else 1
        again = current_time + self._delay(self._params.first, attempts)
        _, _, chat, work = key
        self._deferred[key] = Deferred(chat, work, reason, attempts, messages, again)
        self.on_change(key[0], key[1])

    def is_deferred(self, key: Key, messages: int, current_time: datetime) -> bool:
        """Whether this input has to wait, its chat having `messages` messages by this time."""
        old = self._deferred.get(key)
        return (
            old is not None
            and current_time < old.again
            and messages < old.messages + self._params.more
        )

    def awaited(
        self, owner: Owner, soul: SoulId, chat: ChatId, current_time: datetime
    ) -> dict[Work, int]:
        """The work of a chat that has to wait by this time, and how many messages end that."""
        waiting = {}
        for work in Work:
            old = self._deferred.get((owner, soul, chat, work))
            if old is not None and current_time < old.again:
                waiting[work] = old.messages + self._params.more
        return waiting

    def clear(self, key: Key) -> None:
        """Note that this input succeeded."""
        if self._deferred.pop(key, None) is not None:
            self.on_change(key[0], key[1])

    def restore(self, owner: Owner, soul: SoulId, deferred: Iterable[Deferred]) -> None:
        """Take over the deferrals of a soul that were stored before a restart."""
        for entry in deferred:
            self._deferred[owner, soul, entry.chat, entry.work] = entry

    def keep_chats(self, owner: Owner, soul: SoulId, chats: Collection[ChatId]) -> None:
        """Clear the deferrals of a soul for all chats but `chats`."""
        for key in list(self._deferred):
            if key[:2] == (owner, soul) and key[2] not in chats:
                self.clear(key)

    def of_soul(self, owner: Owner, soul: SoulId) -> Iterator[Deferred]:
        """The deferrals of a soul."""
        for key, deferred in self._deferred.items():
            if key[:2] == (owner, soul):
                yield deferred

    def _delay(self, first: timedelta, failures: int) -> timedelta:
        factor = 1 << min(failures - 1, _MOST_DOUBLINGS)
        return min(self._params.longest, first * factor)

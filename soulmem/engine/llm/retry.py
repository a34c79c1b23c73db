"""Which input waits because a model could make nothing of it, why, and until when?"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from soulmem.domain.books import Deferred as Deferred
from soulmem.domain.derivations import Work
from soulmem.domain.ids import ChatId, Owner, SoulId

Key = tuple[Owner, SoulId, ChatId, Work]


@dataclass(frozen=True, slots=True)
class RetryParams:
    """When parked input is taken up again: with new messages, or after a while that doubles each time."""

    more: int = 20  # messages
    first: timedelta = timedelta(minutes=10)
    longest: timedelta = timedelta(hours=24)
    down: timedelta = timedelta(
        minutes=1
    )  # a model that cannot be had, while nobody does anything


class Deferrals:
    """What is parked; `on_change` hears whose. Whether a model can be had is found out after each start."""

    def __init__(self, params: RetryParams | None = None) -> None:
        self.is_down: str | None = (
            None  # why no model could be had, the last time one was asked
        )
        self._failures = 0  # in a row
        self._retry: datetime | None = None
        self._params = params or RetryParams()
        self.on_change: Callable[[Owner, SoulId], None] = lambda _owner, _soul: None
        self._parked: dict[Key, Deferred] = {}

    def down(self, reason: str, now: datetime) -> None:
        """No model could be had."""
        self.is_down = reason
        self._failures += 1
        self._retry = now + min(
            self._params.longest, self._params.down * 2 ** min(self._failures - 1, 16)
        )

    def up(self) -> None:
        """One answered."""
        self.is_down, self._failures, self._retry = None, 0, None

    def next_try(self) -> datetime | None:
        """When something that waits is to be tried again, though nothing new is said."""
        waits = [one.again for one in self._parked.values()]
        return self._retry or min(waits, default=None)

    def park(self, key: Key, reason: str, messages: int, now: datetime) -> None:
        """It failed again."""
        old = self._parked.get(key)
        attempts = old.attempts + 1 if old is not None else 1
        wait = min(
            self._params.longest, self._params.first * 2 ** min(attempts - 1, 16)
        )
        self._parked[key] = Deferred(
            key[2], key[3], reason, attempts, messages, now + wait
        )
        self.on_change(key[0], key[1])

    def is_parked(self, key: Key, messages: int, now: datetime) -> bool:
        """Whether it is to wait, the chat having so many messages now."""
        old = self._parked.get(key)
        return (
            old is not None
            and now < old.again
            and messages < old.messages + self._params.more
        )

    def forget(self, key: Key) -> None:
        """It went well."""
        if self._parked.pop(key, None) is not None:
            self.on_change(key[0], key[1])

    def take(self, owner: Owner, soul: SoulId, parked: Iterable[Deferred]) -> None:
        """What was parked before a restart."""
        self._parked.update(((owner, soul, one.chat, one.work), one) for one in parked)

    def keep(self, owner: Owner, soul: SoulId, chats: Collection[ChatId]) -> None:
        """Forget what waits of other chats than these: they are gone."""
        for key in [
            key
            for key in self._parked
            if key[:2] == (owner, soul) and key[2] not in chats
        ]:
            self.forget(key)

    def of(self, owner: Owner, soul: SoulId) -> Iterator[Deferred]:
        """What waits of a soul."""
        return (one for key, one in self._parked.items() if key[:2] == (owner, soul))

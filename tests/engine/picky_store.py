"""A store that refuses the commits a test tells it to."""

from __future__ import annotations

from dataclasses import replace

from soulmem.domain.errors import StoreError, StoreFull
from soulmem.domain.ids import DEFAULT_OWNER
from soulmem.ports.store import Change
from tests.fakes.store import FakeStore, _apply


class PickyStore(FakeStore):
    """As the fake store; `last` is the last change it took, `fail_in` = 1 refuses the next commit, 2 the one
    after it, ..; None refuses none.

    Values are frozen, so its worlds are copied one level deep: hundreds of commits a second.
    """

    def __init__(self) -> None:
        super().__init__()
        self.fail_in: int | None = None
        self.last = Change(DEFAULT_OWNER)

    async def commit(self, change: Change) -> None:
        self._check_open()
        if not change:
            return
        if self.refuses:
            raise self.refuses
        if self.fail_in is not None:
            self.fail_in -= 1
            if self.fail_in <= 0:
                self.fail_in = None
                raise StoreFull("the disk is full")
        old = self._world(change.owner)
        world = replace(
            old,
            souls=dict(old.souls),
            chats=dict(old.chats),
            messages={chat: dict(messages) for chat, messages in old.messages.items()},
            memories=dict(old.memories),
            edges=dict(old.edges),
            usages=dict(old.usages),
            recalls=dict(old.recalls),
        )
        _apply(world, change)
        self._worlds[change.owner] = world
        self.last = change

    def twin(self) -> PickyStore:
        """Another store with the same content that refuses every commit."""
        other = PickyStore()
        other._worlds = dict(self._worlds)
        other._vectors = dict(self._vectors)
        other.refuses = StoreError("this copy is only read")
        return other

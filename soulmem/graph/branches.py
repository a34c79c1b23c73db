"""Episodes of each chat (branch) of a soul in order, and which chats hold which episode."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from soulmem.domain.ids import ChatId, MemoryId
from soulmem.domain.sequences import common_ends
from soulmem.graph.pairs import Pair, Pairs
from soulmem.graph.row_numbers import Rows


@dataclass(frozen=True, slots=True)
class Branch:
    """One chat of a soul: its episodes in order."""

    chat: ChatId
    family: ChatId  # the root of the chat's tree of branches
    order: Sequence[MemoryId]
    # Vanished from the client's view, not yet given up
    quarantined: frozenset[MemoryId] = frozenset()


@dataclass(frozen=True, slots=True)
class BranchChange:
    """Difference that a new state of a branch makes for the soul.

    came, went      episodes that no branch held before, or that none holds afterwards
    paired, parted  pairs of consecutive episodes, likewise
    """

    branch: Branch
    came: tuple[MemoryId, ...] = ()
    went: tuple[MemoryId, ...] = ()
    paired: tuple[Pair, ...] = ()
    parted: tuple[Pair, ...] = ()


class Branches:
    """All branches of a soul; `pairs` holds the consecutive episodes in them."""

    def __init__(self, pairs: Pairs | None = None) -> None:
        self._branches: dict[ChatId, Branch] = {}
        self._holders: dict[MemoryId, tuple[ChatId, ...]] = {}
        self._pairs = Pairs(Rows()) if pairs is None else pairs

    def __iter__(self) -> Iterator[Branch]:
        return iter(self._branches.values())

    def branch(self, chat: ChatId) -> Branch | None:
        """The branch of `chat`, None when the soul has no memory of it."""
        return self._branches.get(chat)

    def holders(self, memory: MemoryId) -> Sequence[ChatId]:
        """Chats that hold the episode, in the order in which they came to hold it."""
        return self._holders.get(memory, ())

    def family_of(self, memory: MemoryId) -> ChatId | None:
        """The tree of chats that holds the episode; None when no chat does."""
        for chat in self._holders.get(memory, ()):
            return self._branches[chat].family
        return None

    def holds(self, chat: ChatId, memories: Iterable[MemoryId]) -> bool:
        """Whether the chat holds all of these episodes."""
        return all(chat in self._holders.get(key, ()) for key in memories)

    def shows(self, chat: ChatId, memories: Collection[MemoryId]) -> bool:
        """Whether the chat holds all of these episodes and has quarantined none of them."""
        branch = self._branches.get(chat)
        if branch is None:
            return not memories
        return self.holds(chat, memories) and branch.quarantined.isdisjoint(memories)

    def has_pair(self, pair: Pair) -> bool:
        """True if the second episode directly follows the first in some chat."""
        return self._pairs.row(pair) is not None

    def compare(self, new: Branch) -> BranchChange:
        """The change that `put(new)` would make; changes nothing."""
        old, current = self._windows(new)
        before, after = set(old), set(current)
        old_pairs, current_pairs = _pairs_of(old), _pairs_of(current)
        ended = _without(old_pairs, current_pairs)
        return BranchChange(
            branch=new,
            came=tuple(m for m in current if m not in before and not self._holders.get(m)),
            went=tuple(m for m in old if m not in after and self._only_in(m, new.chat)),
            paired=tuple(
                pair for pair in _without(current_pairs, old_pairs) if not self.has_pair(pair)
            ),
            parted=tuple(pair for pair in ended if self._pairs.chats(pair) == 1),
        )

    def put(self, new: Branch) -> list[Pair]:
        """Replace the branch of a chat; one without episodes is removed.

        Returns the pairs of consecutive episodes that no chat had before.
        """
        old, current = self._windows(new)
        old_pairs, current_pairs = _pairs_of(old), _pairs_of(current)
        self._keep(new, old, current)
        for pair in _without(old_pairs, current_pairs):
            self._pairs.remove(pair)
        added = _without(current_pairs, old_pairs)
        return [pair for pair in added if self._pairs.add(pair)]

    def restore(self, branch: Branch) -> None:
        """Add a branch from a snapshot; its pairs must be in `pairs` already."""
        self._keep(branch, (), branch.order)

    def _only_in(self, memory: MemoryId, chat: ChatId) -> bool:
        return self._holders.get(memory) == (chat,)

    def _keep(self, new: Branch, old: Sequence[MemoryId], current: Sequence[MemoryId]) -> None:
        before, after = set(old), set(current)
        alone = (new.chat,)  # one for all that no other chat holds
        for key in before - after:
            others = tuple(chat for chat in self._holders.pop(key) if chat != new.chat)
            if others:
                self._holders[key] = others
        for key in after - before:
            chats = self._holders.get(key)
            self._holders[key] = alone if chats is None else (*chats, new.chat)
        self._branches.pop(new.chat, None)
        if new.order:
            self._branches[new.chat] = new

    def _windows(self, new: Branch) -> tuple[Sequence[MemoryId], Sequence[MemoryId]]:
        """The parts of the chat's old and new order that differ.

        Each has one common episode more at either end, so that changed pairs are included.
        """
        previous = self._branches.get(new.chat)
        old = previous.order if previous else ()
        prefix, suffix = common_ends(old, new.order)
        start = max(0, prefix - 1)
        suffix = max(0, suffix - 1)
        return old[start : len(old) - suffix], new.order[start : len(new.order) - suffix]

    def is_live(self, memory: MemoryId) -> bool:
        """True if some chat holds the episode and has not quarantined it."""
        return any(
            memory not in self._branches[chat].quarantined for chat in self._holders.get(memory, ())
        )


def changed_episodes(old: Branch | None, new: Branch) -> set[MemoryId]:
    """Episodes that exactly one of two states of a branch holds or has quarantined."""
    order = () if old is None else old.order
    quarantined = frozenset() if old is None else old.quarantined
    prefix, suffix = common_ends(order, new.order)
    before = order[prefix : len(order) - suffix]
    after = new.order[prefix : len(new.order) - suffix]
    return (set(before) ^ set(after)) | (quarantined ^ new.quarantined)


def _pairs_of(order: Sequence[MemoryId]) -> dict[Pair, None]:
    """Pairs of consecutive episodes, each once, in order."""
    return dict.fromkeys(pairwise(order))


def _without(these: Collection[Pair], those: Collection[Pair]) -> list[Pair]:
    return [key for key in these if key not in those]

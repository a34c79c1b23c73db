"""Which chat holds what a language model drafted? One that holds every message that was read for it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Set
from itertools import chain
from typing import TypeVar

from soulmem.domain.derivations import Derivation, Product
from soulmem.domain.ids import ChatId, MemoryId
from soulmem.graph.branches import Branches

Key = TypeVar("Key", bound=str)


class Derivations:
    """The derivations of a soul, kept in step with its branches: `told` hears of every change of one."""

    def __init__(self, branches: Branches) -> None:
        self._branches = branches
        self._all: dict[str, Derivation] = {}
        self._readers: defaultdict[MemoryId, list[str]] = defaultdict(list)
        self._next: defaultdict[str, list[str]] = defaultdict(list)
        self._makers: defaultdict[str, list[str]] = defaultdict(list)
        self._edges: Counter[str] = Counter()
        self._holders: dict[str, frozenset[ChatId]] = {}
        self._in_chat: defaultdict[ChatId, set[str]] = defaultdict(set)
        self._products: dict[ChatId, frozenset[str]] = {}  # of the chats asked about
        self._loose: set[str] = set()  # derivations that no chat holds

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[Derivation]:
        return iter(self._all.values())

    def get(self, key: str) -> Derivation | None:
        """The derivation of that id."""
        return self._all.get(key)

    def of(self, product: str) -> list[Derivation]:
        """The derivations that it came of, each of which is enough."""
        return [self._all[key] for key in self._makers.get(product, ())]

    def cited(self, product: str) -> tuple[MemoryId, ...]:
        """The episodes that speak for it, each once."""
        out: dict[MemoryId, None] = {}
        for derivation in self.of(product):
            for made in derivation.products:
                if made.id == product:
                    out.update(dict.fromkeys(made.cited or derivation.read))
        return tuple(out)

    def holders(self, product: str) -> frozenset[ChatId]:
        """The chats that hold all that one of its derivations read."""
        chats = [self._holders[key] for key in self._makers.get(product, ())]
        return frozenset().union(*chats)

    def holders_of(self, key: str) -> frozenset[ChatId]:
        """The chats that hold a derivation."""
        return self._holders[key]

    def of_chat(self, chat: ChatId) -> list[Derivation]:
        """The derivations that the chat holds, in no particular order."""
        return [self._all[key] for key in self._in_chat.get(chat, ())]

    def products(self, chat: ChatId) -> frozenset[str]:
        """What came of them."""
        products = self._products.get(chat)
        if products is None:
            products = frozenset().union(
                *(_ids(derivation.products) for derivation in self.of_chat(chat))
            )
            self._products[chat] = products
        return products

    def orphaned_products(self) -> set[str]:
        """What came of derivations that no chat holds now, and of no other."""
        products: set[str] = set()
        for key in self._loose:
            products.update(_ids(self._all[key].products))
        return {product for product in products if not self.holders(product)}

    def edges(self) -> Set[str]:
        """The ids of all edges that came of derivations."""
        return self._edges.keys()

    def put(self, derivation: Derivation) -> set[str]:
        """Take a derivation over; returns the products that others may know now, or no longer."""
        before = self.drop(derivation.id) if derivation.id in self._all else set()
        self._all[derivation.id] = derivation
        for key in derivation.read:
            self._readers[key].append(derivation.id)
        if derivation.after is not None:
            self._next[derivation.after].append(derivation.id)
        for made in derivation.products:
            self._makers[made.id].append(derivation.id)
            if made.is_edge:
                self._edges[made.id] += 1
        self._hold(derivation.id, self._found(derivation))
        return before.union(
            _ids(derivation.products),
            self._look_again(self._next.get(derivation.id, ())),
        )

    def drop(self, key: str) -> set[str]:
        """Forget one, if it is there; returns its products."""
        derivation = self._all.pop(key, None)
        if derivation is None:
            return set()
        for read in derivation.read:
            _remove_entry(self._readers, read, key)
        if derivation.after is not None:
            _remove_entry(self._next, derivation.after, key)
        for made in derivation.products:
            _remove_entry(self._makers, made.id, key)
            if made.is_edge:
                self._edges[made.id] -= 1
                if not self._edges[made.id]:
                    del self._edges[made.id]
        self._hold(key, frozenset())
        self._loose.discard(key)
        del self._holders[key]
        return set(_ids(derivation.products))

    def update_holders(self, episodes: Iterable[MemoryId]) -> set[str]:
        """Chats hold other episodes than before, these among them; returns the products concerned."""
        touched = set(self._readers_of(episodes))
        if not touched:
            return set()
        # A summary continues earlier ones: oldest first, so that each is visited once.
        return self._look_again(key for key in self._all if key in touched)

    def invalidated_by(self, lost: Iterable[MemoryId]) -> list[Derivation]:
        """Those that read one of these episodes, and all that go on from them."""
        return self.with_dependents(self._readers_of(lost))

    def with_dependents(self, keys: Iterable[str]) -> list[Derivation]:
        """These derivations, and all that go on from them."""
        reached: dict[str, None] = {}
        ring = [key for key in keys if key in self._all]
        while ring:
            fresh = [key for key in dict.fromkeys(ring) if key not in reached]
            reached.update(dict.fromkeys(fresh))
            ring = list(chain.from_iterable(self._next.get(key, ()) for key in fresh))
        return [self._all[key] for key in reached]

    def without(self, product: str, fallen: Collection[str]) -> list[Derivation]:
        """The derivations that it came of but for the `fallen` ones."""
        return [
            derivation for derivation in self.of(product) if derivation.id not in fallen
        ]

    def _readers_of(self, episodes: Iterable[MemoryId]) -> Iterator[str]:
        """Ids of the derivations that read any of these episodes, repeats included."""
        return chain.from_iterable(self._readers.get(key, ()) for key in episodes)

    def _look_again(self, keys: Iterable[str]) -> set[str]:
        """Who holds these now, and what goes on from them; the products of those for which that differs."""
        out: set[str] = set()
        ring = list(keys)
        while ring:
            later: list[str] = []
            for key in ring:
                holders = self._found(self._all[key])
                if holders != self._holders[key]:
                    self._hold(key, holders)
                    out.update(_ids(self._all[key].products))
                    later += self._next.get(key, ())
            ring = later
        return out

    def _found(self, derivation: Derivation) -> frozenset[ChatId]:
        """The chats that hold it, by what they tell now."""
        if derivation.after is not None and derivation.after not in self._all:
            return frozenset()
        chats = set(
            self._branches.holders(derivation.read[0])
            if derivation.read
            else self._holders.get(derivation.after or "", ())
        )
        if derivation.after is not None:
            chats &= self._holders[derivation.after]
        return frozenset(
            chat for chat in chats if self._shows_all(chat, derivation.read)
        )

    def _shows_all(self, chat: ChatId, episodes: Iterable[MemoryId]) -> bool:
        return all(self._shows(chat, episode) for episode in episodes)

    def _shows(self, chat: ChatId, episode: MemoryId) -> bool:
        branch = self._branches.branch(chat)
        return (
            branch is not None
            and chat in self._branches.holders(episode)
            and episode not in branch.quarantined
        )

    def _hold(self, key: str, chats: frozenset[ChatId]) -> None:
        before = self._holders.get(key, frozenset())
        for chat in before | chats:
            self._products.pop(chat, None)
        for chat in before - chats:
            self._in_chat[chat].discard(key)
            if not self._in_chat[chat]:
                del self._in_chat[chat]
        for chat in chats - before:
            self._in_chat[chat].add(key)
        self._holders[key] = chats
        (self._loose.discard if chats else self._loose.add)(key)


def _ids(products: Iterable[Product]) -> list[str]:
    return [made.id for made in products]


def _remove_entry(table: dict[Key, list[str]], key: Key, entry: str) -> None:
    """Remove `entry` from the list at `key`; an empty list goes with its key."""
    remaining = [other for other in table.get(key, ()) if other != entry]
    if remaining:
        table[key] = remaining
    else:
        table.pop(key, None)

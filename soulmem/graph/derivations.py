"""Derivations (kept answers of a language model) by episode, product and chat that holds them.

A chat holds a derivation if it holds every message the model read for it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from itertools import chain
from typing import TypeVar

from soulmem.domain.derivations import WAITING, Derivation, Product, Work
from soulmem.domain.ids import ChatId, MemoryId
from soulmem.graph.branches import Branches

Key = TypeVar("Key", bound=str)


class Derivations:
    """The derivations of a soul; call `update_holders` after every change of its branches."""

    def __init__(self, branches: Branches) -> None:
        self._branches = branches
        self.revision = 0  # grows with every change
        self._all: dict[str, Derivation] = {}
        self._readers: defaultdict[MemoryId, list[str]] = defaultdict(list)
        self._next: defaultdict[str, list[str]] = defaultdict(list)
        self._makers: defaultdict[str, list[str]] = defaultdict(list)
        self._edges: Counter[str] = Counter()
        self._confidence: dict[str, float] = {}  # of products, where it is not 1
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
        """Derivations that produced this memory or edge; one of them is enough to keep it."""
        return [self._all[key] for key in self._makers.get(product, ())]

    def cited(self, product: str) -> tuple[MemoryId, ...]:
        """Episodes cited as evidence for the product, each once."""
        out: dict[MemoryId, None] = {}
        for derivation in self.of(product):
            for made in derivation.products:
                if made.id == product:
                    out.update(dict.fromkeys(made.cited or derivation.read))
        return tuple(out)

    def is_read(self, episode: MemoryId) -> bool:
        """Whether any derivation read the episode, which need not be in memory."""
        return episode in self._readers

    def holders(self, product: str) -> frozenset[ChatId]:
        """Chats that hold at least one derivation of the product."""
        chats = [self._holders[key] for key in self._makers.get(product, ())]
        return frozenset().union(*chats)

    def holders_of(self, key: str) -> frozenset[ChatId]:
        """Chats that hold the derivation of that id."""
        return self._holders[key]

    def of_chat(self, chat: ChatId) -> list[Derivation]:
        """Derivations that the chat holds, in no particular order."""
        return [self._all[key] for key in self._in_chat.get(chat, ())]

    def products(self, chat: ChatId) -> frozenset[str]:
        """Ids of all products of the derivations that the chat holds."""
        products = self._products.get(chat)
        if products is None:
            products = frozenset().union(
                *(_ids(derivation.products) for derivation in self.of_chat(chat))
            )
            self._products[chat] = products
        return products

    def orphaned_products(self) -> set[str]:
        """Ids of products none of whose derivations is held by any chat."""
        products: set[str] = set()
        for key in self._loose:
            products.update(_ids(self._all[key].products))
        return {product for product in products if not self.holders(product)}

    def edges(self) -> Set[str]:
        """Ids of all edges that are products."""
        return self._edges.keys()

    def confidence(self, product: str) -> float:
        """How far a memory or edge is carried by the lines of all derivations that made it, 0..1.

        Each telling of other messages takes away its share of the doubt that is left; 1 for what was not drafted.
        """
        return self._confidence.get(product, 1.0)

    def confidences(self) -> Mapping[str, float]:
        """The confidence of each product that has less than 1."""
        return self._confidence

    def waiting(self) -> list[str]:
        """Ids of products that too little speaks for."""
        return [key for key, share in self._confidence.items() if share < WAITING]

    def _weigh(self, products: Iterable[Product]) -> None:
        """Compute anew how far these products are carried."""
        for product in {made.id for made in products}:
            doubt = self._doubt(product)
            if product in self._makers and doubt > 0.0:
                self._confidence[product] = 1.0 - doubt
            else:
                self._confidence.pop(product, None)

    def put(self, derivation: Derivation) -> set[str]:
        """Add or replace a derivation; returns ids of products whose holders may have changed."""
        before = self.drop(derivation.id) if derivation.id in self._all else set()
        self.revision += 1
        self._all[derivation.id] = derivation
        for key in derivation.read:
            self._readers[key].append(derivation.id)
        if derivation.after is not None:
            self._next[derivation.after].append(derivation.id)
        for made in derivation.products:
            self._makers[made.id].append(derivation.id)
            if made.is_edge:
                self._edges[made.id] += 1
        self._weigh(derivation.products)
        self._hold(derivation.id, self._found(derivation))
        return before.union(
            _ids(derivation.products),
            self._look_again(self._next.get(derivation.id, ())),
        )

    def drop(self, key: str) -> set[str]:
        """Remove a derivation if it exists; returns ids of its products."""
        derivation = self._all.pop(key, None)
        if derivation is None:
            return set()
        self.revision += 1
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
        self._weigh(derivation.products)
        self._hold(key, frozenset())
        self._loose.discard(key)
        del self._holders[key]
        return set(_ids(derivation.products))

    def update_holders(self, episodes: Iterable[MemoryId]) -> set[str]:
        """Recompute holders after branches gained or lost these episodes.

        Returns ids of products whose holders changed.
        """
        touched = set(self._readers_of(episodes))
        if not touched:
            return set()
        # A summary continues earlier ones: oldest first, so that each is visited once.
        return self._look_again(key for key in self._all if key in touched)

    def invalidated_by(self, lost: Iterable[MemoryId]) -> list[Derivation]:
        """Derivations that read one of these lost episodes, and all that continue them."""
        return self.with_dependents(self._readers_of(lost))

    def with_dependents(self, keys: Iterable[str]) -> list[Derivation]:
        """These derivations and, transitively, all that continue them."""
        reached: dict[str, None] = {}
        ring = [key for key in keys if key in self._all]
        while ring:
            fresh = [key for key in dict.fromkeys(ring) if key not in reached]
            reached.update(dict.fromkeys(fresh))
            ring = list(chain.from_iterable(self._next.get(key, ()) for key in fresh))
        return [self._all[key] for key in reached]

    def without(self, product: str, fallen: Collection[str]) -> list[Derivation]:
        """Derivations of the product except those with an id in `fallen`."""
        return [derivation for derivation in self.of(product) if derivation.id not in fallen]

    def _doubt(self, product: str) -> float:
        """The doubt that the tellings of a product leave, 0..1; of those that share messages the best counts."""
        tellings = [
            (made.confidence, derivation.read)
            for derivation in self.of(product)
            for made in derivation.products
            if made.id == product
        ]
        doubt, read = 1.0, set[MemoryId]()
        for confidence, messages in sorted(tellings, key=_confidence, reverse=True):
            if read.isdisjoint(messages):
                doubt *= 1.0 - confidence
            read.update(messages)
        return doubt

    def _readers_of(self, episodes: Iterable[MemoryId]) -> Iterator[str]:
        """Ids of the derivations that read any of these episodes, repeats included."""
        return chain.from_iterable(self._readers.get(key, ()) for key in episodes)

    def _look_again(self, keys: Iterable[str]) -> set[str]:
        """Recompute holders of these derivations and, where they change, of those that continue them.

        Returns ids of products whose holders changed.
        """
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
        """Chats that hold the derivation, from the current branches."""
        if derivation.work is Work.DIGEST:
            return self.digest_holders(derivation.read)
        if derivation.after is not None and derivation.after not in self._all:
            return frozenset()
        chats = set(
            self._branches.holders(derivation.read[0])
            if derivation.read
            else self._holders.get(derivation.after or "", ())
        )
        if derivation.after is not None:
            chats &= self._holders[derivation.after]
        return frozenset(chat for chat in chats if self._branches.shows(chat, derivation.read))

    def digest_holders(self, read: Iterable[MemoryId]) -> frozenset[ChatId]:
        """Chats that hold all episodes of their own family among these; none unless each family has one."""
        by_family: defaultdict[ChatId, list[MemoryId]] = defaultdict(list)
        for key in read:
            family = self._branches.family_of(key)
            if family is None:
                return frozenset()
            by_family[family].append(key)
        chats: set[ChatId] = set()
        for keys in by_family.values():
            holders = self._branches.holders(keys[0])
            showing = [chat for chat in holders if self._branches.shows(chat, keys)]
            if not showing:
                return frozenset()
            chats.update(showing)
        return frozenset(chats)

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


def _confidence(telling: tuple[float, tuple[MemoryId, ...]]) -> float:
    return telling[0]


def _ids(products: Iterable[Product]) -> list[str]:
    return [made.id for made in products]


def _remove_entry(table: dict[Key, list[str]], key: Key, entry: str) -> None:
    """Remove `entry` from the list at `key`; an empty list goes with its key."""
    remaining = [other for other in table.get(key, ()) if other != entry]
    if remaining:
        table[key] = remaining
    else:
        table.pop(key, None)

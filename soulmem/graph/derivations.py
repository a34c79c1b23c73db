"""Which chat holds what a language model drafted? One that holds every message that was read for it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Set

from soulmem.domain.derivations import Derivation, Product
from soulmem.domain.ids import ChatId, MemoryId
from soulmem.graph.lineage import Lineages


class Derivations:
    """The derivations of a soul, kept in step with its strands: `told` hears of every change of one."""

    def __init__(self, lineages: Lineages) -> None:
        self._lineages = lineages
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
        for one in self.of(product):
            for made in one.products:
                if made.id == product:
                    out.update(dict.fromkeys(made.cited or one.read))
        return tuple(out)

    def holders(self, product: str) -> frozenset[ChatId]:
        """The chats that hold all that one of its derivations read."""
        held = [self._holders[key] for key in self._makers.get(product, ())]
        return frozenset().union(*held)

    def holders_of(self, key: str) -> frozenset[ChatId]:
        """The chats that hold a derivation."""
        return self._holders[key]

    def held(self, chat: ChatId) -> list[Derivation]:
        """The derivations that the chat holds, in no particular order."""
        return [self._all[key] for key in self._in_chat.get(chat, ())]

    def products(self, chat: ChatId) -> frozenset[str]:
        """What came of them."""
        known = self._products.get(chat)
        if known is None:
            known = self._products[chat] = frozenset(
                made.id for one in self.held(chat) for made in one.products
            )
        return known

    def loose(self) -> set[str]:
        """What came of derivations that no chat holds now, and of no other."""
        made = {made.id for key in self._loose for made in self._all[key].products}
        return {key for key in made if not self.holders(key)}

    def edges(self) -> Set[str]:
        """The ids of all edges that came of derivations."""
        return self._edges.keys()

    def put(self, one: Derivation) -> set[str]:
        """Take a derivation over; returns the products that others may know now, or no longer."""
        before = self.drop(one.id) if one.id in self._all else set()
        self._all[one.id] = one
        for key in one.read:
            self._readers[key].append(one.id)
        if one.after is not None:
            self._next[one.after].append(one.id)
        for made in one.products:
            self._makers[made.id].append(one.id)
            if made.is_edge:
                self._edges[made.id] += 1
        self._hold(one.id, self._found(one))
        return before.union(
            _ids(one.products), self._look_again(self._next.get(one.id, ()))
        )

    def drop(self, key: str) -> set[str]:
        """Forget one, if it is there; returns its products."""
        one = self._all.pop(key, None)
        if one is None:
            return set()
        for read in one.read:
            _less(self._readers, read, key)
        if one.after is not None:
            _less(self._next, one.after, key)
        for made in one.products:
            _less(self._makers, made.id, key)
            if made.is_edge:
                self._edges[made.id] -= 1
                if not self._edges[made.id]:
                    del self._edges[made.id]
        self._hold(key, frozenset())
        self._loose.discard(key)
        del self._holders[key]
        return set(_ids(one.products))

    def told(self, episodes: Iterable[MemoryId]) -> set[str]:
        """Chats hold other episodes than before, these among them; returns the products concerned."""
        # A summary reads on from earlier ones: the oldest first, so that each is looked at once.
        touched = {
            key for episode in episodes for key in self._readers.get(episode, ())
        }
        return (
            self._look_again(key for key in self._all if key in touched)
            if touched
            else set()
        )

    def fallen(self, gone: Iterable[MemoryId]) -> list[Derivation]:
        """Those that read one of these episodes, and all that go on from them."""
        return self.with_later(
            key for episode in gone for key in self._readers.get(episode, ())
        )

    def with_later(self, keys: Iterable[str]) -> list[Derivation]:
        """These derivations, and all that go on from them."""
        found: dict[str, None] = {}
        ring = [key for key in keys if key in self._all]
        while ring:
            fresh = [key for key in dict.fromkeys(ring) if key not in found]
            found.update(dict.fromkeys(fresh))
            ring = [later for key in fresh for later in self._next.get(key, ())]
        return [self._all[key] for key in found]

    def without(self, product: str, fallen: Collection[str]) -> list[Derivation]:
        """The derivations that it came of but for the `fallen` ones."""
        return [one for one in self.of(product) if one.id not in fallen]

    def _look_again(self, keys: Iterable[str]) -> set[str]:
        """Who holds these now, and what goes on from them; the products of those for which that differs."""
        out: set[str] = set()
        ring = list(keys)
        while ring:
            later: list[str] = []
            for key in ring:
                now = self._found(self._all[key])
                if now != self._holders[key]:
                    self._hold(key, now)
                    out.update(_ids(self._all[key].products))
                    later += self._next.get(key, ())
            ring = later
        return out

    def _found(self, one: Derivation) -> frozenset[ChatId]:
        """The chats that hold it, by what they tell now."""
        if one.after is not None and one.after not in self._all:
            return frozenset()
        chats = set(
            self._lineages.holders(one.read[0])
            if one.read
            else self._holders.get(one.after or "", ())
        )
        if one.after is not None:
            chats &= self._holders[one.after]
        return frozenset(
            chat for chat in chats if all(self._shows(chat, key) for key in one.read)
        )

    def _shows(self, chat: ChatId, episode: MemoryId) -> bool:
        strand = self._lineages.strand(chat)
        return (
            strand is not None
            and chat in self._lineages.holders(episode)
            and episode not in strand.held
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


def _less(
    table: defaultdict[MemoryId, list[str]] | defaultdict[str, list[str]],
    key: str,
    one: str,
) -> None:
    held: dict[str, list[str]] = table  # type: ignore[assignment]
    left = [other for other in held.get(key, ()) if other != one]
    if left:
        held[key] = left
    else:
        held.pop(key, None)

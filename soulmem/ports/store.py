"""What the engine asks of a database: whole changes in, whole souls and chats out."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from soulmem.domain.audit import Actor, AuditEntry, AuditQuery
from soulmem.domain.books import SoulBooks
from soulmem.domain.deletions import Deletion
from soulmem.domain.derivations import Derivation
from soulmem.domain.dialogue import Chat, Message
from soulmem.domain.edges import Edge, EdgeKind, EdgePage
from soulmem.domain.ids import ChatId, MemoryId, Owner, SlotId, SoulId
from soulmem.domain.memories import Memory
from soulmem.domain.opinions import Opinion
from soulmem.domain.soul import Soul
from soulmem.domain.usage import RecallRecord, Usage

RANK_GAP = (
    1 << 20
)  # between neighbours of a fresh chat: twenty insertions fit before a renumbering


@dataclass(frozen=True, slots=True)
class RankedMessage:
    """A message and its sort key within the chat: ascending, unique, any integers below 2^53."""

    rank: int
    message: Message


@dataclass(frozen=True, slots=True)
class ChatChange:
    """The new head of a chat, the messages written anew and the slots that went."""

    chat: Chat
    put: Sequence[RankedMessage] = ()
    drop: Collection[SlotId] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """One step of one owner's world. It is stored as a whole or not at all."""

    owner: Owner
    souls: Sequence[Soul] = ()
    chats: Sequence[ChatChange] = ()
    put_memories: Sequence[Memory] = ()
    drop_memories: Collection[MemoryId] = ()  # their edges and usages go with them
    put_edges: Sequence[Edge] = ()
    drop_edges: Collection[str] = ()  # edge ids; usages of facts that go by them, too
    put_usages: Sequence[Usage] = ()
    put_recalls: Sequence[RecallRecord] = ()
    drop_recalls: Collection[str] = ()  # traces
    by: Actor = Actor.ENGINE  # whose hand it is
    audit: Sequence[AuditEntry] = ()
    purge_audit: Collection[
        str
    ] = ()  # targets whose entries lose their words, and whose deletions go
    put_deletions: Sequence[Deletion] = ()
    put_opinions: Sequence[Opinion] = ()
    put_derivations: Sequence[Derivation] = ()
    drop_derivations: Collection[str] = ()

    def souls_touched(self) -> frozenset[SoulId] | None:
        """Whose memory it may alter; None for any of the owner's, where something goes by its id alone."""
        if self.drop_memories or self.drop_edges:
            return None
        touched = {soul.id for soul in self.souls}
        for changed in self.chats:
            touched.update(changed.chat.souls, changed.chat.cast)
        touched.update(memory.soul for memory in self.put_memories)
        touched.update(edge.soul for edge in self.put_edges)
        touched.update(usage.soul for usage in self.put_usages)
        touched.update(record.soul for record in self.put_recalls)
        return frozenset(touched)

    def __bool__(self) -> bool:
        graph = (self.put_memories, self.drop_memories, self.put_edges, self.drop_edges)
        recalls = (self.put_usages, self.put_recalls, self.drop_recalls)
        governed = (self.audit, self.purge_audit, self.put_deletions, self.put_opinions)
        derived = (self.put_derivations, self.drop_derivations)
        return any((self.souls, self.chats, *graph, *recalls, *governed, *derived))


@dataclass(frozen=True, slots=True)
class SoulGraph:
    """Everything stored of one soul's graph, in no particular order, bin included."""

    memories: Sequence[Memory] = field(default_factory=list)
    edges: Sequence[Edge] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class SoulRecalls:
    """What is stored of a soul's recalls: by memory, and the last recalls, oldest first."""

    usages: Sequence[Usage] = field(default_factory=list)
    records: Sequence[RecallRecord] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class StoreHealth:
    """How the store is: `writable` is false where nothing can be stored, `detail` says why in words, and
    `losses` what was found to be missing when it was opened. `is_gone`: its place was taken away.
    """

    writable: bool = True
    is_gone: bool = False
    detail: str = ""
    losses: tuple[str, ...] = ()


class Store(Protocol):
    """The system of record.

    One handle per data folder. Every method may raise StoreError; a failed `commit` changed nothing. Methods
    may be
    called concurrently; writes are applied one after the other. Bulk reads and writes are cut so that the
    event loop
    is never held for more than some tens of milliseconds.
    """

    async def open(self) -> None:
        """Open or create, migrate the schema.

        Raises StoreLocked (another process has it), StoreReadOnly, StoreFull, StoreTooNew or StoreBroken.
        """

    async def close(self) -> None:
        """Flush and let go of the folder; calling twice is fine."""

    def health(self) -> StoreHealth:
        """What the last statements told about the store."""

    async def commit(self, change: Change) -> None:
        """Store the whole change durably (fsync) or raise and store nothing.

        Edges whose end does not exist (nor is put in the same change) are refused with StoreError.

        Unless it is `by` the user, a change that alters or drops a permanent or locked memory is refused with
        Protected, whatever else it says: its text, kind, tags, importance, situation, concept, reach and
        protection stay, and whether it is in the bin. What the user put there may be dropped. Entries of the
        audit are only ever added, but for `purge_audit`.
        """

    async def owners(self) -> list[Owner]:
        """Owners who have a soul or a chat."""

    async def souls(self, owner: Owner) -> list[Soul]:
        """All souls of the owner, bin included, oldest first."""

    async def chats(self, owner: Owner) -> list[Chat]:
        """Heads of all chats of the owner, bin included, oldest first."""

    async def messages(self, owner: Owner, chat: ChatId) -> list[RankedMessage]:
        """The messages of a chat by rank; empty for an unknown chat."""

    async def graph(self, owner: Owner, soul: SoulId) -> SoulGraph:
        """All memories and edges of a soul."""

    async def memories(self, owner: Owner, soul: SoulId) -> list[Memory]:
        """The memories of a soul without its edges, in no particular order, bin included."""

    def memory_pages(
        self, owner: Owner, soul: SoulId
    ) -> AsyncIterator[Sequence[Memory]]:
        """The same page by page: others may use the store between two, but not write to this soul."""

    def edge_pages(self, owner: Owner, soul: SoulId) -> AsyncIterator[EdgePage]:
        """All edges of a soul, likewise."""

    async def edge_count(self, owner: Owner, soul: SoulId | None = None) -> int:
        """How many edges are stored of the soul; with None of all the owner's, which is found sooner."""

    async def edges_around(
        self,
        owner: Owner,
        soul: SoulId,
        memories: Sequence[MemoryId],
        *,
        leaving: bool = False,
    ) -> EdgePage:
        """Each edge of the soul that starts or ends at any of these memories, or with `leaving` that starts
        there; unknown memories have none.
        """

    async def edges_leaving(
        self, owner: Owner, soul: SoulId, memories: Sequence[MemoryId], kind: EdgeKind
    ) -> Mapping[MemoryId, int]:
        """How many edges of that kind start at each of these memories; those without any are left out."""

    async def edges_known(self, owner: Owner, edges: Sequence[str]) -> set[str]:
        """Those of these edge ids that are stored."""

    async def recalls(self, owner: Owner, soul: SoulId) -> SoulRecalls:
        """What a soul recalled, and when."""

    async def audit(self, owner: Owner, wanted: AuditQuery) -> list[AuditEntry]:
        """Entries of the owner, the newest first."""

    async def deletions(self, owner: Owner) -> list[Deletion]:
        """All that were asked for, the oldest first."""

    async def opinions(self, owner: Owner, soul: SoulId) -> list[Opinion]:
        """What the user thinks of memories of the soul."""

    async def derivations(self, owner: Owner, soul: SoulId) -> list[Derivation]:
        """What a language model made of the soul's chats, the oldest first."""

    async def books(self, owner: Owner) -> list[SoulBooks]:
        """What language models cost the owner's souls, and what of theirs waits; in no particular order."""

    async def put_books(self, owner: Owner, books: SoulBooks) -> None:
        """Keep the books of a soul in place of those before; empty ones are forgotten."""

    async def mark(self, owner: Owner, soul: SoulId, token: str) -> None:
        """Let `token` stand for the soul's memory as it is stored now: the next commit that may alter that
        takes it away, as `Change.souls_touched` says.
        """

    async def marked(self, owner: Owner, soul: SoulId) -> str | None:
        """The token that stands for the soul's memory, None when it was altered since, or never marked."""

    async def vectors(self, model: str, keys: Sequence[str]) -> Mapping[str, bytes]:
        """Stored vectors (little-endian float32) of that model by key; unknown keys are left out."""

    async def put_vectors(self, model: str, vectors: Mapping[str, bytes]) -> None:
        """Keep vectors by model and key; an existing one is replaced."""

    def vector_keys(self, model: str) -> AsyncIterator[Sequence[tuple[str, str]]]:
        """Every stored (model, key), for clearing out what no text needs any more. Part by part, so that few
        vectors are held at once; the parts are about equal where most vectors are of `model`.
        """

    async def drop_vectors(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Forget these (model, key) vectors; unknown ones are ignored."""

    async def maintain(self) -> None:
        """Housekeeping for quiet moments and after bulk writes: recycle the log when it has grown."""

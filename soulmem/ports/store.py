"""Port: the database. Changes are stored as a whole; souls and chats are read as a whole."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from soulmem.domain.audit import Actor, AuditEntry, AuditQuery
from soulmem.domain.deletions import Deletion
from soulmem.domain.derivations import Derivation
from soulmem.domain.dialogue import Chat, Message
from soulmem.domain.edge_vectors import EdgeVector
from soulmem.domain.edges import Edge, EdgeKind, EdgePage
from soulmem.domain.fading_records import FadingRecord
from soulmem.domain.ids import ChatId, MemoryId, Owner, SlotId, SoulId, StreamId
from soulmem.domain.llm_usage import SoulLlmUsage
from soulmem.domain.memories import Memory
from soulmem.domain.opinions import Opinion
from soulmem.domain.phrases import Wording
from soulmem.domain.soul import Soul
from soulmem.domain.streams import StreamEvent
from soulmem.domain.usage import RecallRecord, Usage

# Between neighbours of a fresh chat: twenty insertions fit before a renumbering
RANK_GAP = 1 << 20


@dataclass(frozen=True, slots=True)
class RankedMessage:
    """A message and its sort key within the chat: ascending, unique, any integers below 2^53."""

    rank: int
    message: Message


@dataclass(frozen=True, slots=True)
class ChatChange:
    """New head of a chat, messages to write and slots to delete."""

    chat: Chat
    put: Sequence[RankedMessage] = ()
    drop: Collection[SlotId] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """One change of an owner's data, stored completely or not at all."""

    owner: Owner
    souls: Sequence[Soul] = ()
    chats: Sequence[ChatChange] = ()
    put_memories: Sequence[Memory] = ()
    # Their edges, the vectors of these, their usages and their fading go with them
    drop_memories: Collection[MemoryId] = ()
    put_edges: Sequence[Edge] = ()
    # Edge ids; their vectors go too, and the usages of facts that go by them
    drop_edges: Collection[str] = ()
    put_usages: Sequence[Usage] = ()
    put_recalls: Sequence[RecallRecord] = ()
    drop_recalls: Collection[str] = ()  # traces
    by: Actor = Actor.ENGINE  # whose hand it is
    audit: Sequence[AuditEntry] = ()
    # Targets whose entries lose their words, and whose deletions go
    purge_audit: Collection[str] = ()
    put_deletions: Sequence[Deletion] = ()
    put_opinions: Sequence[Opinion] = ()
    put_derivations: Sequence[Derivation] = ()
    drop_derivations: Collection[str] = ()
    put_edge_vectors: Sequence[EdgeVector] = ()
    drop_edge_vectors: Collection[str] = ()  # edge ids
    put_fading: Sequence[FadingRecord] = ()  # an empty record deletes the stored one

    def souls_touched(self) -> frozenset[SoulId] | None:
        """Souls whose memory may change; None for any of the owner's, if it deletes by id alone."""
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
        taught = (self.put_edge_vectors, self.drop_edge_vectors, self.put_fading)
        rows = (*graph, *recalls, *governed, *derived, *taught)
        return any((self.souls, self.chats, *rows))


@dataclass(frozen=True, slots=True)
class Mark:
    """A token for a soul's memory, and the ids that commits since then stored, altered or deleted.

    dropped  some of these may be of other souls; an id that is in `put`, too, may be stored or not
    edges    without those that went with their memories
    """

    token: str
    put: frozenset[MemoryId] = frozenset()
    dropped: frozenset[MemoryId] = frozenset()
    edges: frozenset[str] = frozenset()
    chats: frozenset[ChatId] = frozenset()

    @property
    def is_current(self) -> bool:
        """Whether nothing was listed since."""
        return not (self.put or self.dropped or self.edges or self.chats)


@dataclass(frozen=True, slots=True)
class SoulGraph:
    """All stored memories and edges of a soul, in no particular order, bin included."""

    memories: Sequence[Memory] = field(default_factory=list)
    edges: Sequence[Edge] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class SoulRecalls:
    """Stored recalls of a soul: statistics by memory, and the latest recalls, oldest first."""

    usages: Sequence[Usage] = field(default_factory=list)
    records: Sequence[RecallRecord] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Damage:
    """A stored row that cannot be read.

    souls  whose it is, as far as that can be read
    chat   which chat's, if it is the head of one
    name   of its soul, if it is the row of one and that can be read
    what   the row, and why it cannot be read
    """

    souls: tuple[SoulId, ...]
    chat: ChatId | None
    name: str
    what: str


@dataclass(frozen=True, slots=True)
class StoreHealth:
    """State of the store.

    writable  False if nothing can be stored; `detail` gives the reason
    is_gone   the data folder was removed
    losses    data found missing when the store was opened
    """

    writable: bool = True
    is_gone: bool = False
    detail: Wording = ""
    losses: tuple[str, ...] = ()


class Store(Protocol):
    """The database. One handle per data folder; every method may raise StoreError.

    A failed `commit` changes nothing. Methods may be called concurrently; writes are applied
    one after the other. Bulk reads and writes are cut into parts, so that the event loop is
    held for some tens of milliseconds at most.
    """

    async def open(self) -> None:
        """Open or create, making the tables of a new store.

        Raises StoreLocked (another process has it), StoreReadOnly, StoreFull, StoreTooNew, StoreTooOld or
        StoreBroken.
        """

    async def close(self) -> None:
        """Flush and release the folder; may be called twice."""

    def health(self) -> StoreHealth:
        """State of the store as of the last statements."""

    async def commit(self, change: Change) -> None:
        """Store the whole change durably (fsync) or raise and store nothing.

        Edges whose end does not exist (nor is put in the same change) are refused with StoreError.

        Unless it is `by` the user, a change that alters or drops a permanent or locked memory is refused with
        Protected, whatever else it says: its text, kind, tags, importance, situation, concept, reach and
        protection stay, and whether it is in the bin. What the user put there may be dropped. How its text fades
        stays too, unless it is `by` an import. Entries of the audit are only ever added, but for `purge_audit`.
        """

    async def owners(self) -> list[Owner]:
        """Owners who have a soul or a chat."""

    async def damages(self, owner: Owner) -> list[Damage]:
        """The rows that `souls`, `chats`, `deletions` and `llm_usage` leave out, as they cannot be read.

        Reading what is of one soul or chat raises StoreDamaged instead.
        """

    async def souls(self, owner: Owner) -> list[Soul]:
        """All souls of the owner, bin included, oldest first."""

    async def chats(self, owner: Owner) -> list[Chat]:
        """Heads of all chats of the owner, bin included, oldest first."""

    async def messages(self, owner: Owner, chat: ChatId) -> list[RankedMessage]:
        """The messages of a chat by rank; empty for an unknown chat."""

    async def message_count(self, owner: Owner, chat: ChatId) -> int:
        """Number of messages of a chat, without reading them; 0 of an unknown one."""

    async def graph(self, owner: Owner, soul: SoulId) -> SoulGraph:
        """All memories and edges of a soul."""

    async def memories(self, owner: Owner, soul: SoulId) -> list[Memory]:
        """The memories of a soul without its edges, in no particular order, bin included."""

    def memory_pages(self, owner: Owner, soul: SoulId) -> AsyncIterator[Sequence[Memory]]:
        """`memories` page by page: between pages others may use the store but not write to this soul."""

    async def some_memories(
        self, owner: Owner, soul: SoulId, memories: Sequence[MemoryId]
    ) -> list[Memory]:
        """Those of these memories that are stored for the soul, in no particular order."""

    async def some_edges(self, owner: Owner, soul: SoulId, edges: Sequence[str]) -> EdgePage:
        """Those of these edges that are stored for the soul, in no particular order."""

    async def shelve(self, owner: Owner, soul: SoulId, memories: Sequence[MemoryId]) -> None:
        """Keep those of these memories that have no edges in less room. They are read as before.

        One that is put, dropped or gets an edge leaves it. Nobody else may write to the soul meanwhile.
        """

    def edge_pages(self, owner: Owner, soul: SoulId) -> AsyncIterator[EdgePage]:
        """All edges of a soul, page by page like `memory_pages`."""

    async def memory_count(self, owner: Owner) -> int:
        """Number of the owner's memories that are stored one by one, without those on shelves. Fast."""

    async def edge_count(self, owner: Owner, soul: SoulId | None = None) -> int:
        """Number of stored edges of the soul, or with None of the owner (faster)."""

    async def edges_around(
        self,
        owner: Owner,
        soul: SoulId,
        memories: Sequence[MemoryId],
        *,
        leaving: bool = False,
    ) -> EdgePage:
        """Edges that start or end at any of these memories, or with `leaving` only those that start there.

        Unknown memories have none.
        """

    async def edges_leaving(
        self, owner: Owner, soul: SoulId, memories: Sequence[MemoryId], kind: EdgeKind
    ) -> Mapping[MemoryId, int]:
        """Number of edges of that kind that start at each of these memories; zeros are left out."""

    async def edges_known(self, owner: Owner, edges: Sequence[str]) -> set[str]:
        """Those of these edge ids that are stored."""

    async def recalls(self, owner: Owner, soul: SoulId) -> SoulRecalls:
        """Recall statistics and latest recalls of a soul."""

    async def edge_vectors(self, owner: Owner, soul: SoulId) -> list[EdgeVector]:
        """The memory vectors of the soul's edges, of any model, by edge id."""

    async def audit(self, owner: Owner, wanted: AuditQuery) -> list[AuditEntry]:
        """Matching entries of the owner, newest first."""

    async def deletions(self, owner: Owner) -> list[Deletion]:
        """All deletion requests, oldest first."""

    async def opinions(self, owner: Owner, soul: SoulId) -> list[Opinion]:
        """The user's opinions of the soul's memories."""

    async def fading(self, owner: Owner, soul: SoulId) -> list[FadingRecord]:
        """How the soul's texts fade, where it does not follow from the texts."""

    async def derivations(self, owner: Owner, soul: SoulId) -> list[Derivation]:
        """Kept answers of language models for the soul, oldest first."""

    async def llm_usage(self, owner: Owner) -> list[SoulLlmUsage]:
        """Usage and deferred work of the owner's souls, in no particular order."""

    async def put_llm_usage(self, owner: Owner, books: SoulLlmUsage) -> None:
        """Replace a soul's usage and deferred work; an empty value is deleted."""

    async def put_events(self, owner: Owner, soul: SoulId, events: Sequence[StreamEvent]) -> None:
        """Store new events of streams durably, all or none."""

    async def event_keys(self, owner: Owner, soul: SoulId) -> list[tuple[StreamId, datetime, str]]:
        """Stream, time and id of every event of a soul, by stream and time."""

    async def events(
        self,
        owner: Owner,
        soul: SoulId,
        stream: StreamId,
        start: tuple[datetime, str],
        end: datetime,
        limit: int | None = None,
    ) -> list[StreamEvent]:
        """Events of a stream behind the position `start` and before `end`, by time and id."""

    async def drop_events(self, owner: Owner, soul: SoulId) -> None:
        """Delete the events of all streams of a soul."""

    async def mark(self, owner: Owner, soul: SoulId, token: str) -> None:
        """Store `token` for the soul's memory as it is now.

        Later commits list what they change of its memories, edges and chats. One that writes the soul, or makes
        the list too long, deletes the token; on a server every commit of the owner does.
        """

    async def marked(self, owner: Owner, soul: SoulId) -> Mark | None:
        """The token of `mark` and what changed since; None if it was deleted, or never stored."""

    async def vectors(self, model: str, keys: Sequence[str]) -> Mapping[str, bytes]:
        """Stored vectors (little-endian float32) of that model by key; unknown keys are left out."""

    async def put_vectors(self, model: str, vectors: Mapping[str, bytes]) -> None:
        """Store vectors by model and key; existing ones are replaced."""

    def vector_keys(self, model: str) -> AsyncIterator[Sequence[tuple[str, str]]]:
        """Every stored (model, key), in parts, for deleting vectors that no text needs any more."""

    async def drop_vectors(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Delete these (model, key) vectors; unknown ones are ignored."""

    async def maintain(self) -> None:
        """Housekeeping for idle time and after bulk writes: shrink the log when it has grown."""

    async def compact(self) -> None:
        """In Idle: give back the room of what was deleted, if that is worth it. Other calls do not wait for it."""

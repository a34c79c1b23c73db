"""One character's memory, loaded: rows, vectors, words, edges and strands, kept in step with the store.

Everything here computes, so it runs on the engine's compute thread alone; nothing awaits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from soulmem.assembly.tokens import estimate_tokens
from soulmem.domain.derivations import Derivation
from soulmem.domain.edges import Edge, EdgeKind, EdgePage
from soulmem.domain.ids import ChatId, MemoryId, SlotId
from soulmem.domain.memories import Memory, MemoryKind, Place
from soulmem.domain.situation import story_time
from soulmem.domain.soul import Soul
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.facts import Facts
from soulmem.engine.mind.known_names import KnownNames
from soulmem.engine.mind.name_counts import NameCounts
from soulmem.engine.mind.name_scope import NameScope
from soulmem.engine.mind.soul_clock import SoulTime
from soulmem.engine.mind.text_terms import TextTerms
from soulmem.engine.mind.vector_queue import TextKey, VectorQueue
from soulmem.engine.mind.visibility import Bools, Ints, Neighbours, Visibility
from soulmem.graph.association import MEMORY_KINDS
from soulmem.graph.columns import ORIGINS, UNKNOWN, Columns, microseconds
from soulmem.graph.edge_arrays import EdgeArrays
from soulmem.graph.edge_table import EdgeTable
from soulmem.graph.lineage import Strand, StrandChange, told_anew
from soulmem.graph.memory_table import MemoryTable
from soulmem.graph.opinions import Opinions
from soulmem.graph.pairs import Pair, Pairs
from soulmem.graph.recalls import Recalls
from soulmem.graph.residency import Residency
from soulmem.graph.rows import Rows
from soulmem.language.scripts import is_unspaced
from soulmem.language.tokens import Tokeniser
from soulmem.retrieval.lexical import LexicalIndex

Floats = NDArray[np.float64]


class Frame(NamedTuple):
    """The tables that all others refer to: for who puts a mind away and fetches it again."""

    rows: Rows[MemoryId]
    pairs: Pairs
    visibility: Visibility


class Mind:
    """The loaded memory of one soul."""

    def __init__(self, soul: Soul) -> None:
        self.soul = soul
        self.tokeniser = Tokeniser(soul.known_names())
        self.words = LexicalIndex()
        self._rows: Rows[MemoryId] = Rows()
        self.memories = MemoryTable(self._rows)
        self._changes = 0  # taken over so far
        self._pairs = Pairs(self._rows)
        self.columns = Columns()
        self.edges = EdgeTable(soul.id, self._rows)
        self.residency = Residency()
        self.recalls = Recalls(self._rows)
        self.opinions = Opinions(self._rows)
        self.omitted_permanent: tuple[
            MemoryId, ...
        ] = ()  # permanent ones that the last recall had no room for
        self._visibility = Visibility(
            self.memories, self._rows, self._pairs, self.columns
        )
        self.lineages = self._visibility.lineages
        self.derivations = self._visibility.derivations
        self.time = SoulTime(
            lambda: self.soul.settings.clock, self._visibility, self.columns
        )
        self.vector_queue = VectorQueue(
            self._rows, self._pairs, self.text_of, self._is_searched
        )
        self.names = KnownNames(soul)
        self.name_counts = NameCounts()
        self.name_scope = NameScope(self.edges, self.columns, self.residency)
        self.facts = Facts(self.edges, self.memories, self._rows)
        self.terms = TextTerms(
            self.memories, self.edges, self._rows, lambda key: self.names.names_of(key)
        )

    @property
    def revision(self) -> tuple[int, ...]:
        """Another one whenever something was taken over, but for vectors and recall records."""
        return self._changes, self.edges.revision

    def frame(self) -> Frame:
        """What rows stand for, and the strands."""
        return Frame(self._rows, self._pairs, self._visibility)

    @property
    def size(self) -> int:
        """Length of the arrays a search works on."""
        return self._rows.capacity

    @property
    def pair_count(self) -> int:
        """Length of the array of pairs."""
        return self._pairs.capacity

    def row(self, memory: MemoryId) -> int | None:
        """The array row of a memory."""
        return self._rows.row(memory)

    def row_of(self, memory: Memory) -> int:
        """The array row of a memory that has one. Raises KeyError."""
        row = self._rows.row(memory.id)
        if row is None:
            raise KeyError(memory.id)
        return row

    def id_at(self, row: int) -> MemoryId:
        """The id of the memory at a row in use."""
        key = self._rows.id(row)
        if key is None:
            raise KeyError(f"row {row} is free")
        return key

    def ids_at(self, rows: Iterable[int]) -> list[MemoryId]:
        """The ids of the memories at these rows, which are in use."""
        return self._rows.ids(rows)

    def texts_at(self, rows: Sequence[int]) -> list[str]:
        """The texts of the memories and facts at these rows, which are in use."""
        facts = self.facts.texts_at(rows)
        others = [row for row in rows if row not in facts] if facts else rows
        texts = iter(self.memories.texts_at(others))
        return [facts[row] if row in facts else next(texts) for row in rows]

    def memory_at(self, row: int) -> Memory:
        """The memory at a row in use."""
        key = self.id_at(row)
        return (
            self.facts.fact_of(key) if self.facts.has_row(row) else self.memories[key]
        )

    def edges_of(self, memory: MemoryId) -> list[Edge]:
        """Every edge that starts or ends at the memory."""
        return sorted(self.edges.of(memory), key=lambda edge: edge.id)

    def lived_turns(self, extra: int) -> int:
        """The exchanges that the soul lived, and `extra` turns of a moved clock."""
        return self._visibility.exchange_count() + extra

    def edge_strengths(
        self, edges: EdgeArrays, extra: int, before: float = 0.0
    ) -> Floats:
        """What is left of the strength of each of these edges now, or so many turns `before`, 0..1."""
        elapsed = np.maximum(self.time.turns_since_touch(edges, extra) - before, 0.0)
        return edges.strength_at(0.0, -elapsed, self.soul.settings.forgetting)

    def edge_strength(self, edge: Edge, turn: float) -> float:
        """The same of one edge, when so many exchanges are lived."""
        elapsed = self.time.edge_age(edge, turn)
        return replace(edge, at_turn=-elapsed).strength_at(
            0.0, self.soul.settings.forgetting
        )

    def exchange_ages(
        self, chat: ChatId | None, extra: int, rows: Ints | None = None
    ) -> Ints:
        """See `Sight.ages`."""
        return self._visibility.exchange_ages(chat, extra, rows)

    def accessible_rows(
        self,
        chat: ChatId | None,
        family: ChatId | None,
        holds: Callable[[ChatId, Place], bool],
    ) -> Bools:
        """See `Sight.known`; a fact is known where both that it tells of are."""
        known = self._visibility.accessible_rows(
            chat, family, self.soul.settings.scope, holds
        )
        self.facts.hide_incomplete(known)
        known[
            self._visibility.inaccessible_facts(chat, family, self.soul.settings.scope)
        ] = False
        if chat is not None:
            self.name_scope.hide_unsupported(known)
        return known

    def visible_rows(
        self,
        chat: ChatId | None,
        family: ChatId | None,
        holds: Callable[[ChatId, Place], bool],
    ) -> Bools:
        """See `Sight.visible`; of facts those that are known."""
        return self.displayable_rows(self.accessible_rows(chat, family, holds))

    def displayable_rows(self, known: Bools) -> Bools:
        """Of these rows those of a kind to be shown."""
        return np.asarray(known & self.columns.active[: known.size])

    def neighbours(self, chat: ChatId | None) -> Neighbours:
        """See `Sight.neighbours`."""
        return self._visibility.neighbours(chat)

    def chat_rows(self, chat: ChatId) -> Ints:
        """See `Sight.order`."""
        return self._visibility.chat_rows(chat)

    def tail_rows(self, chat: ChatId, is_inside: Callable[[SlotId], bool]) -> list[int]:
        """See `Sight.rows_from`."""
        return self._visibility.tail_rows(chat, is_inside)

    def preload_strand(self, strand: Strand) -> None:
        """Take over what a chat tells before its memories are here: each shows once it comes."""
        self._changes += 1
        paired = self.lineages.put(strand)
        self._visibility.put_strand(strand, ())
        for pair in paired:
            self.vector_queue.enqueue(pair)

    def apply(self, change: MindChange) -> None:
        """Take over what has been stored."""
        self.residency.went((*change.drop_edges, *change.drop_memories))
        self.opinions.put(change.put_opinions)
        gone_pairs: list[tuple[Pair, int | None]] = []
        paired: Iterable[Pair] = ()
        before: tuple[MemoryId, ...] = ()
        touched: set[MemoryId] = {m.id for m in change.put_memories}
        drafted = set[str]().union(*map(self.derivations.drop, change.drop_derivations))
        if change.strand is not None:
            compared: StrandChange = self.lineages.compare(change.strand)
            old = self.lineages.strand(change.strand.chat)
            gone_pairs = [(pair, self._pairs.row(pair)) for pair in compared.parted]
            before = old.order if old else ()
            touched |= (
                {*compared.came, *compared.went}
                | (old.quarantined if old else frozenset())
                | change.strand.quarantined
            )
            if any(strand.quarantined for strand in self.lineages):
                # What another chat lost this one may still tell, or be the last that told it.
                touched.update(before, change.strand.order)
            paired = self.lineages.put(change.strand)
            self.columns.grow(self._rows.capacity)
            drafted |= self.derivations.told(told_anew(old, change.strand))
        drafted = drafted.union(*map(self.derivations.put, change.put_derivations))
        texts = self._texts_changed(change)
        self._changes += 1
        reworded = [
            memory.id
            for memory in change.put_memories
            if self._reads_differently(memory)
        ]
        for memory in change.put_memories:
            texts.update(self._put_memory(memory))
        self._take_edges(change, reworded)
        for key in change.drop_memories:
            self._drop_memory(key)
        self.terms.refresh(texts)
        for pair, row in gone_pairs:
            self.vector_queue.drop(pair, row)
        if change.strand is not None:
            self._visibility.put_strand(change.strand, before)
        for pair in paired:
            self.vector_queue.enqueue(pair)
        for key in (*touched, *map(MemoryId, drafted)):
            self._visibility.refresh_flags(key)

    def load_derivations(self, derivations: Iterable[Derivation]) -> None:
        """Those that are stored, of a mind that was just opened."""
        for one in derivations:
            for key in self.derivations.put(one):
                self._visibility.refresh_flags(MemoryId(key))

    def put_edge_weights(self, edges: Iterable[Edge]) -> None:
        """Take over what known edges weigh now; nothing has to be found or told anew."""
        for edge in edges:
            self.edges.put(edge)
            row = (
                self._rows.row(MemoryId(edge.id))
                if edge.kind is EdgeKind.RELATES
                else None
            )
            if row is not None:  # a fact is as old as its edge
                self.columns.happened[row] = self.columns.ended[row] = (
                    edge.touched.timestamp()
                )

    def _texts_changed(self, change: MindChange) -> dict[MemoryId, None]:
        """Texts that hold other terms afterwards."""
        out = {memory.id: None for memory in change.put_memories}
        out.update(
            (edge.source, None)
            for edge in change.put_edges
            if edge.kind is EdgeKind.MENTIONS
        )
        gone = (self.edges.get(key) for key in change.drop_edges)
        out.update(
            (e.source, None)
            for e in gone
            if e is not None and e.kind is EdgeKind.MENTIONS
        )
        for key in change.drop_memories:
            if self.names.names_of(key):
                out.update((text, None) for text in self.terms.texts_mentioning(key))
        return out

    def _reads_differently(self, memory: Memory) -> bool:
        """Whether what is told of it must be told anew once it is put."""
        old = self.memories.get(memory.id)
        return old is not None and (old.text, old.importance) != (
            memory.text,
            memory.importance,
        )

    def _take_edges(self, change: MindChange, reworded: Iterable[MemoryId]) -> None:
        for edge in change.put_edges:
            self.edges.put(edge)
            if (
                edge.kind is EdgeKind.RELATES
                and (fact := self.facts.put(edge)) is not None
            ):
                self._put_fact(fact)
        for key in change.drop_edges:
            self.edges.drop(key)
            self._drop_fact(MemoryId(key))
        for key in self.facts.facts_about(reworded):
            self._put_fact(self.facts[key])

    def load_edges(self, page: EdgePage) -> None:
        """Take over stored edges that are not here yet."""
        self.edges.load(page)
        for key, kind in zip(page.id, page.kind, strict=True):
            if (
                kind == EdgeKind.RELATES.value
                and (edge := self.edges.get(key)) is not None
            ):
                fact = self.facts.put(edge)
                if fact is not None:
                    self._put_fact(fact)
        kinds = zip(page.source, page.kind, strict=True)
        self.terms.refresh(
            dict.fromkeys(s for s, kind in kinds if kind == EdgeKind.MENTIONS.value)
        )

    def set_soul(self, soul: Soul) -> bool:
        """New name or settings; True when the known names changed, so that words must be indexed again."""
        renamed = soul.known_names() != self.soul.known_names()
        self._changes += 1
        self.soul = soul
        if renamed:
            self.tokeniser = Tokeniser(soul.known_names())
        return renamed

    def set_names(self, names: KnownNames) -> None:
        """What texts are spotted by from now on; the same concepts, of another card."""
        self._changes += 1
        self.names = names

    def index_words(self, memories: Iterable[MemoryId]) -> None:
        """Cut these memories into words again; unknown ones are ignored."""
        self._changes += 1
        for key in memories:
            row = self._rows.row(key)
            if row is not None and self._is_searched(key):
                self.words.put(row, self.tokeniser.tokens(self.text_of(key)))

    def text_of(self, key: TextKey) -> str:
        """What stands for a memory, or for two in a row, before an embedding model."""
        if isinstance(key, tuple):
            return f"{self.memories.text(key[0])}\n{self.memories.text(key[1])}"
        return self.facts.text(key) or self.memories.text(key)

    def token_costs(
        self, rows: Iterable[int], texts: Callable[[int], str] | None = None
    ) -> Ints:
        """The tokens that the texts of these rows, which are in use, cost at most; `texts` where at hand."""
        tokens = self.columns.tokens
        found = [int(row) for row in rows]
        for row in found:
            if tokens[row] == UNKNOWN:
                tokens[row] = estimate_tokens(
                    texts(row) if texts else self.text_of(self.id_at(row))
                )
        return np.asarray(tokens[found], np.int64)

    def _put_memory(self, memory: Memory) -> dict[MemoryId, None]:
        """Returns the texts that hold other terms for it."""
        old = self.memories.get(memory.id)
        called = self.names.names_of(memory.id)
        row = self._rows.add(memory.id)
        self.memories[memory.id] = memory
        self.columns.grow(row + 1)
        self.columns.happened[row] = memory.happened.timestamp()
        self.columns.ended[row] = memory.ended.timestamp()
        self.columns.story[row] = story_time(memory.situation)
        self.columns.created[row] = microseconds(memory.created)
        self.columns.kind[row] = MEMORY_KINDS.index(memory.kind)
        self.columns.origin[row] = ORIGINS.index(memory.origin)
        self.columns.importance[row] = memory.importance
        felt = memory.situation.emotions
        self.columns.feeling[row] = (
            max((emotion.intensity for emotion in felt), default=0.0) if felt else 0.0
        )
        self.columns.permanent[row] = memory.permanent
        self.columns.locked[row] = memory.locked
        self.names.put(memory)
        self.name_counts.swap(old, memory)
        was_searched, is_searched = bool(self.columns.searched[row]), memory.is_searched
        self.columns.searched[row] = is_searched
        if old is None or old.text != memory.text or was_searched is not is_searched:
            self.columns.tokens[row] = UNKNOWN
            self.columns.unspaced[row] = is_unspaced(memory.text)
            if is_searched:
                self.words.put(row, self.tokeniser.tokens(memory.text))
                self.vector_queue.enqueue(memory.id)
            else:
                self.words.drop(row)
                self.vector_queue.drop(memory.id, row)
            if old is not None and memory.kind is MemoryKind.EPISODE:
                for pair in self._pairs.beside(memory.id):
                    self.vector_queue.enqueue(pair)
        is_renamed = bool(called) and called != self.names.names_of(memory.id)
        return (
            dict.fromkeys(self.terms.texts_mentioning(memory.id)) if is_renamed else {}
        )

    def _is_searched(self, key: MemoryId) -> bool:
        """Whether its words and meaning are looked at: a bare name of the card is only spotted."""
        row = self._rows.row(key)
        return row is not None and bool(self.columns.searched[row])

    def _put_fact(self, fact: Memory) -> None:
        """A fact that is new or reads differently: as findable as a memory."""
        row = self._rows.add(fact.id)
        self.columns.grow(row + 1)
        self.columns.active[row] = self.columns.searched[row] = True
        self.columns.happened[row] = self.columns.ended[row] = fact.happened.timestamp()
        self.columns.importance[row] = fact.importance
        self.columns.tokens[row] = UNKNOWN
        self.columns.unspaced[row] = is_unspaced(fact.text)
        self.columns.kind[row] = MEMORY_KINDS.index(fact.kind)
        self.words.put(row, self.tokeniser.tokens(fact.text))
        self.vector_queue.enqueue(fact.id)

    def _drop_fact(self, key: MemoryId) -> None:
        if self.facts.drop(key):
            self._free(key)

    def _drop_memory(self, key: MemoryId) -> None:
        for fact in self.facts.facts_about([key]):
            self._drop_fact(fact)
        self.name_counts.swap(self.memories.pop(key, None), None)
        self.names.drop(key)
        self.edges.drop_of(key)
        self._visibility.drop(key)
        self._free(key)

    def _free(self, key: MemoryId) -> None:
        """Its row is another's from now on."""
        row = self._rows.drop(key)
        self.recalls.drop(key, row)
        self.vector_queue.drop(key, row)
        if row is not None:
            self.words.drop(row)
            self.terms.incidence.drop(row)
            self.columns.clear(row)
            self.residency.free(row)

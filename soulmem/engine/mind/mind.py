"""Mind: the loaded memory of one character, kept in step with the store.

Compute thread only; nothing here awaits.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from soulmem.assembly.token_estimate import estimate_tokens
from soulmem.domain.derivations import Derivation
from soulmem.domain.edges import Edge, EdgeKind, EdgePage
from soulmem.domain.ids import ChatId, MemoryId, SlotId
from soulmem.domain.memories import Memory, MemoryKind, Place
from soulmem.domain.soul import Soul
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.drafted_concepts import DraftedConcepts
from soulmem.engine.mind.facts import Facts, note_facts
from soulmem.engine.mind.kind_table import KindTable
from soulmem.engine.mind.known_names import KnownNames
from soulmem.engine.mind.name_counts import NameCounts
from soulmem.engine.mind.name_scope import NameScope
from soulmem.engine.mind.soul_clock import SoulTime
from soulmem.engine.mind.text_terms import TextTerms
from soulmem.engine.mind.vector_queue import TextKey, VectorQueue
from soulmem.engine.mind.visibility import Neighbours, Visibility
from soulmem.graph.arcs import MEMORY_KINDS
from soulmem.graph.branches import Branch, changed_episodes
from soulmem.graph.columns import UNKNOWN, Columns
from soulmem.graph.edge_arrays import EdgeArrays
from soulmem.graph.edge_table import EdgeTable
from soulmem.graph.edge_vectors import EdgeVectors
from soulmem.graph.fading_table import FadingTable
from soulmem.graph.memory_table import MemoryTable
from soulmem.graph.opinions import Opinions
from soulmem.graph.pairs import Pair, Pairs
from soulmem.graph.recalls import Recalls
from soulmem.graph.residency import Residency
from soulmem.graph.row_numbers import Rows
from soulmem.kernels.arrays import Bools, Float64s, Int64s
from soulmem.language.name_tokens import fold
from soulmem.language.scripts import is_unspaced
from soulmem.language.tokens import Tokeniser
from soulmem.ports.embedder import TextInContext
from soulmem.retrieval.lexical import LexicalIndex

_DIGEST = MEMORY_KINDS.index(MemoryKind.DIGEST)


class Frame(NamedTuple):
    """The tables that all others refer to, for packing a mind into a snapshot and restoring it."""

    rows: Rows[MemoryId]
    pairs: Pairs
    visibility: Visibility


class _BranchEffects(NamedTuple):
    """The effects of a chat's new branch on the rest of the mind."""

    old_order: Sequence[MemoryId] = ()
    new_pairs: tuple[Pair, ...] = ()  # that no chat had before
    dropped_pairs: tuple[tuple[Pair, int | None], ...] = ()  # with their former rows
    touched: AbstractSet[MemoryId] = frozenset()  # memories whose flags may change
    drafted: AbstractSet[str] = frozenset()  # drafts whose flags may change


_NO_BRANCH = _BranchEffects()


class Mind:
    """The loaded memory of one soul."""

    def __init__(self, soul: Soul) -> None:
        # Parts refer to the mind weakly: the garbage collector does not look at souls, so a
        # cycle would keep a closed one for ever.
        me: Mind = weakref.proxy(self)
        self.soul = soul
        self.tokeniser = Tokeniser(soul.known_names())
        self.words = LexicalIndex()
        self._rows: Rows[MemoryId] = Rows()
        self.memories = MemoryTable(self._rows)
        self._changes = 0  # applied so far, for `revision`
        # How often a memory got another text or situation, or went, or one came back
        self.rewordings = 0
        self._pairs = Pairs(self._rows)
        self.columns = Columns()
        self.line_kinds = KindTable(self._rows, self.memories, self.columns)
        self.edges = EdgeTable(soul.id, self._rows)
        self.edge_vectors = EdgeVectors()
        self.residency = Residency()
        self.recalls = Recalls(self._rows)
        self.opinions = Opinions(self._rows)
        self.fading = FadingTable(soul.id)
        # Permanent memories that did not fit into the last recall.
        self.omitted_permanent: tuple[MemoryId, ...] = ()
        self._visibility = Visibility(self.memories, self._rows, self._pairs, self.columns)
        self.branches = self._visibility.branches
        self.derivations = self._visibility.derivations
        self.tellings = self._visibility.tellings
        self.exchange_windows = self._visibility.exchange_windows
        self.time = SoulTime(lambda: me.soul.settings.clock, self._visibility, self.columns)
        self.vector_queue = VectorQueue(
            self._rows,
            self._pairs,
            lambda key: me.content_of(key),
            lambda: me._searched(),
        )
        self.names = KnownNames(soul, self.memories)
        self.drafted = DraftedConcepts()
        self.name_counts = NameCounts()
        self.name_scope = NameScope(
            self.edges, self.columns, self.residency, lambda row: me._introducing(row)
        )
        self.facts = Facts(self.edges, self.memories, self._rows)
        self.terms = TextTerms(
            self.memories, self.edges, self._rows, lambda key: me.names.names_of(key)
        )

    @property
    def revision(self) -> tuple[int, ...]:
        """Differs after each change, except changes of vectors and recall records."""
        return self._changes, self.edges.revision

    def frame(self) -> Frame:
        """The tables of rows, pairs and visibility."""
        return Frame(self._rows, self._pairs, self._visibility)

    @property
    def size(self) -> int:
        """Length of the arrays by row: one more than the highest row ever used."""
        return self._rows.capacity

    @property
    def pair_count(self) -> int:
        """Length of the arrays by pair row."""
        return self._pairs.capacity

    def row(self, memory: MemoryId) -> int | None:
        """The row of a memory or fact, None if it has none."""
        return self._rows.row(memory)

    def row_of(self, memory: Memory) -> int:
        """The row of a memory. Raises KeyError if it has none."""
        row = self._rows.row(memory.id)
        if row is None:
            raise KeyError(memory.id)
        return row

    def id_at(self, row: int) -> MemoryId:
        """The id of the memory or fact at a row. Raises KeyError if the row is free."""
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
        """The memory or fact at a row. Raises KeyError if the row is free."""
        key = self.id_at(row)
        return self.facts.fact_of(key) if self.facts.has_row(row) else self.memories[key]

    def edges_of(self, memory: MemoryId) -> list[Edge]:
        """All edges that start or end at the memory, by edge id."""
        return sorted(self.edges.of(memory), key=lambda edge: edge.id)

    def lived_turns(self, extra: int) -> int:
        """Exchanges the soul lived, plus `extra` turns by which its clock was moved."""
        return self._visibility.exchange_count() + extra

    def edge_strengths(self, edges: EdgeArrays, extra: int, before: float = 0.0) -> Float64s:
        """Strength of each edge after decay, 0..1, `before` turns ago."""
        elapsed = np.maximum(self.time.turns_since_touch(edges, extra) - before, 0.0)
        settings = self.soul.settings
        return edges.strength_at(0.0, -elapsed, settings.forgetting, settings.decay)

    def edge_strength(self, edge: Edge, turn: float) -> float:
        """Strength of one edge after decay, 0..1, when `turn` exchanges are lived."""
        elapsed = self.time.edge_age(edge, turn)
        settings = self.soul.settings
        aged = replace(edge, at_turn=-elapsed)
        return aged.strength_at(0.0, settings.forgetting, settings.decay)

    def exchange_ages(self, chat: ChatId | None, extra: int, rows: Int64s | None = None) -> Int64s:
        """See `Visibility.exchange_ages`."""
        return self._visibility.exchange_ages(chat, extra, rows)

    def accessible_rows(
        self,
        chat: ChatId | None,
        family: ChatId | None,
        holds: Callable[[ChatId, Place], bool],
    ) -> Bools:
        """See `Visibility.accessible_rows`; a fact is accessible where both its ends are."""
        rows = self._visibility.accessible_rows(chat, family, self.soul.settings.scope, holds)
        self.facts.hide_incomplete(rows)
        rows[self._visibility.inaccessible_facts(chat, family, self.soul.settings.scope)] = False
        if chat is not None:
            self.name_scope.hide_unsupported(rows)
        return rows

    def visible_rows(
        self,
        chat: ChatId | None,
        family: ChatId | None,
        holds: Callable[[ChatId, Place], bool],
    ) -> Bools:
        """The accessible rows of kinds that are shown, bool[rows]."""
        return self.displayable_rows(self.accessible_rows(chat, family, holds))

    def displayable_rows(self, accessible: Bools) -> Bools:
        """Those of the accessible rows whose kind is shown, bool[rows]."""
        return np.asarray(accessible & self.columns.active[: accessible.size])

    def digest_rows(self) -> Bools:
        """The rows of digests, bool[rows], but for permanent ones: those are told like all that is permanent."""
        n, columns = self.size, self.columns
        return np.asarray((columns.kind[:n] == _DIGEST) & ~columns.permanent[:n])

    def _introducing(self, name: int) -> list[int]:
        """The rows of the texts that introduce somebody by a name of the concept at a row."""
        folds = map(fold, self.names.names_of(self.id_at(name)))
        texts = chain.from_iterable(map(self.name_counts.introduced_in, folds))
        return [row for row in map(self.row, texts) if row is not None]

    def neighbours(self, chat: ChatId | None) -> Neighbours:
        """See `Visibility.neighbours`."""
        return self._visibility.neighbours(chat)

    def chat_rows(self, chat: ChatId) -> Int64s:
        """See `Visibility.chat_rows`."""
        return self._visibility.chat_rows(chat)

    def tail_rows(self, chat: ChatId, is_inside: Callable[[SlotId], bool]) -> list[int]:
        """See `Visibility.tail_rows`."""
        return self._visibility.tail_rows(chat, is_inside)

    def preload_branch(self, branch: Branch) -> None:
        """Put a chat's branch before its memories are loaded; each becomes visible when it is put."""
        self._changes += 1
        paired = self.branches.put(branch)
        self._visibility.put_branch(branch, ())
        for pair in paired:
            self.vector_queue.enqueue(pair)

    def apply(self, change: MindChange) -> None:
        """Apply a change that has been stored."""
        self.residency.removed((*change.drop_edges, *change.drop_memories))
        self.opinions.put(change.put_opinions)
        self.fading.drop(change.drop_memories)
        self.fading.put(change.put_fading)
        touched = {memory.id for memory in change.put_memories}
        drafted = set[str]().union(*map(self.derivations.drop, change.drop_derivations))
        effects = _NO_BRANCH
        if change.branch is not None:
            effects = self._put_branch(change.branch)
            touched |= effects.touched
            drafted |= effects.drafted
        drafted = drafted.union(*map(self.derivations.put, change.put_derivations))
        texts = self._texts_changed(change)
        self._changes += 1
        reworded = [m.id for m in change.put_memories if self._changes_facts(m)]
        for memory in change.put_memories:
            texts.update(self._put_memory(memory))
        self._apply_edges(change, reworded)
        self.edge_vectors.drop(change.drop_edges)
        self.edge_vectors.drop_at(change.drop_memories)
        for key in change.drop_memories:
            self._drop_memory(key)
        self.recalls.put(change.put_usages)
        self.edge_vectors.put(change.put_edge_vectors)
        self.terms.refresh(texts)
        for pair, row in effects.dropped_pairs:
            self.vector_queue.drop(pair, row)
        if change.branch is not None:
            self._visibility.put_branch(change.branch, effects.old_order)
        for pair in effects.new_pairs:
            self.vector_queue.enqueue(pair)
        for key in (*touched, *map(MemoryId, drafted)):
            self._visibility.refresh_flags(key)

    def _put_branch(self, branch: Branch) -> _BranchEffects:
        """Put the branch into branches and derivations; the rest of the mind follows the result."""
        compared = self.branches.compare(branch)
        old = self.branches.branch(branch.chat)
        dropped_pairs = tuple((pair, self._pairs.row(pair)) for pair in compared.parted)
        old_order = old.order if old else ()
        touched = {*compared.came, *compared.went, *branch.quarantined}
        touched.update(old.quarantined if old else ())
        if any(other.quarantined for other in self.branches):
            # Episodes that vanished from another chat may be live only through this one.
            touched.update(old_order, branch.order)
        new_pairs = tuple(self.branches.put(branch))
        self.columns.grow(self._rows.capacity)
        drafted = self.derivations.update_holders(changed_episodes(old, branch))
        return _BranchEffects(old_order, new_pairs, dropped_pairs, touched, drafted)

    def load_derivations(self, derivations: Iterable[Derivation]) -> None:
        """Put the stored derivations of a mind that is being opened."""
        for derivation in derivations:
            for key in self.derivations.put(derivation):
                self._visibility.refresh_flags(MemoryId(key))

    def put_edge_weights(self, edges: Iterable[Edge]) -> None:
        """Put new strengths and times of loaded edges; texts, words and vectors stay as they are."""
        for edge in edges:
            self.edges.put(edge)
            if edge.kind is not EdgeKind.RELATES:
                continue
            row = self._rows.row(MemoryId(edge.id))
            if row is not None:  # the time of a fact is that of its edge
                touched = edge.touched.timestamp()
                self.columns.happened[row] = self.columns.ended[row] = touched

    def _texts_changed(self, change: MindChange) -> dict[MemoryId, None]:
        """Texts whose terms the change may alter, in order; call it before anything is applied."""
        out = {memory.id: None for memory in change.put_memories}
        dropped = map(self.edges.get, change.drop_edges)
        for edge in (*change.put_edges, *dropped):
            if edge is not None and edge.kind is EdgeKind.MENTIONS:
                out[edge.source] = None
        for key in change.drop_memories:
            if self.names.names_of(key):
                out.update(dict.fromkeys(self.terms.texts_mentioning(key)))
        return out

    def _changes_facts(self, memory: Memory) -> bool:
        """Whether putting the memory changes the facts about it: their text or importance."""
        old = self.memories.get(memory.id)
        return old is not None and (old.text, old.importance) != (
            memory.text,
            memory.importance,
        )

    def _apply_edges(self, change: MindChange, reworded: Iterable[MemoryId]) -> None:
        for edge in change.put_edges:
            self.edges.put(edge)
            self._add_fact(edge)
        for key in change.drop_edges:
            self.edges.drop(key)
            self._drop_fact(MemoryId(key))
        for key in self.facts.facts_about(reworded):
            self._put_fact(self.facts[key])

    def load_edges(self, page: EdgePage) -> None:
        """Load a page of stored edges that are not in memory yet."""
        self.edges.load(page)
        for fact in note_facts(self.facts.load(page), self.columns, self.size):
            self.words.put(fact.row, self.tokeniser.tokens(fact.text))
            self.vector_queue.enqueue(fact.key)
        kinds = zip(page.source, page.kind, strict=True)
        self.terms.refresh(dict.fromkeys(s for s, kind in kinds if kind == EdgeKind.MENTIONS.value))

    def set_soul(self, soul: Soul) -> bool:
        """Set name and settings; True if the known names changed, so that words must be indexed again."""
        renamed = soul.known_names() != self.soul.known_names()
        self._changes += 1
        self.soul = soul
        if renamed:
            self.tokeniser = Tokeniser(soul.known_names())
        return renamed

    def set_names(self, names: KnownNames) -> None:
        """Replace the known names by those of another card, with the same concepts."""
        self._changes += 1
        self.names = names

    def index_words(self, memories: Iterable[MemoryId]) -> None:
        """Tokenise and index these memories again; unknown ids are ignored."""
        self._changes += 1
        for key in memories:
            row = self._rows.row(key)
            if row is not None and self._is_searched(key):
                self.words.put(row, self.tokeniser.tokens(self.text_of(key)))

    def text_of(self, key: TextKey) -> str:
        """The text that is embedded for a memory, a fact, or a pair of episodes."""
        return self.content_of(key).whole

    def content_of(self, key: TextKey) -> TextInContext:
        """The text of a memory or fact; of a pair of episodes that of the second, after the first."""
        if isinstance(key, tuple):
            return TextInContext(self.memories.text(key[1]), self.memories.text(key[0]))
        return TextInContext(self.facts.text(key) or self.memories.text(key))

    def token_costs(self, rows: Iterable[int]) -> Int64s:
        """Upper estimates of the tokens of the texts at these rows, which must be in use."""
        tokens, numbers = self.columns.tokens, np.fromiter(rows, np.int64)
        for row in numbers[tokens[numbers] == UNKNOWN].tolist():
            tokens[row] = estimate_tokens(self.text_of(self.id_at(row)))
        return tokens[numbers].astype(np.int64)

    def _put_memory(self, memory: Memory) -> dict[MemoryId, None]:
        """Put one memory; returns the texts whose terms change because it is renamed."""
        old = self.memories.get(memory.id)
        old_names = self.names.names_of(memory.id)
        row = self._rows.add(memory.id)
        self.memories[memory.id] = memory
        self.columns.put(row, memory)
        self.line_kinds.follow(row, old, memory)
        self.names.put(memory)
        self.drafted.put(memory)
        self.tellings.put(memory)
        self.name_counts.swap(old, memory)
        if old is not None:
            is_same = (old.text, old.situation) == (memory.text, memory.situation)
            self.rewordings += not is_same
        else:
            self.rewordings += self.derivations.is_read(memory.id)
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
            is_reworded = old is not None and old.text != memory.text
            for pair in self._pairs.beside(memory.id):
                if is_reworded or pair[1] == memory.id:
                    self.vector_queue.enqueue(pair)
        if not old_names or old_names == self.names.names_of(memory.id):
            return {}
        return dict.fromkeys(self.terms.texts_mentioning(memory.id))

    def _searched(self) -> NDArray[np.bool_]:
        """By row whether the memory is indexed by words and vectors, bool[size]."""
        self.columns.grow(self.size)
        return self.columns.searched[: self.size]

    def _is_searched(self, key: MemoryId) -> bool:
        """Whether the memory is indexed by words and vectors; bare names of the card are not."""
        row = self._rows.row(key)
        return row is not None and bool(self.columns.searched[row])

    def _add_fact(self, edge: Edge) -> None:
        """Put the fact of an edge, if it is a relation between loaded concepts."""
        fact = self.facts.put(edge)
        if fact is not None:
            self._put_fact(fact)

    def _put_fact(self, fact: Memory) -> None:
        """Index a fact that is new or whose text changed, as a memory is."""
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
        self.rewordings += 1
        self.names.drop(key)
        self.drafted.drop(key)
        self.tellings.drop(key)
        self.edges.drop_of(key)
        self._visibility.drop(key)
        self._free(key)

    def _free(self, key: MemoryId) -> None:
        """Free the row of a memory or fact, with all that is stored by row."""
        row = self._rows.drop(key)
        self.recalls.drop(key, row)
        self.vector_queue.drop(key, row)
        if row is not None:
            self.words.drop(row)
            self.terms.incidence.drop(row)
            self.columns.clear(row)
            self.line_kinds.drop(row)
            self.residency.reset_row(row)

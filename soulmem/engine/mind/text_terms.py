"""Which terms do a soul's texts hold? Their words, and the concepts whose names are linked to them.

A concept counts as one term whatever it is called in a text, so its names' own words do not count beside it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from soulmem.domain.edges import TEXTS, Edge, EdgeKind
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory
from soulmem.domain.terms import Term
from soulmem.graph.edge_table import EdgeTable
from soulmem.graph.incidence import Incidence
from soulmem.graph.rows import Rows
from soulmem.language.name_tokens import Tokens, fold
from soulmem.language.scripts import UNSPACED

_CONCEPT = "@"  # begins the key of a concept; no word does
_UNSPACED = re.compile(f"[{UNSPACED}]")


class TextTerms:
    """An incidence that is kept in step with texts and mentions. Computes."""

    def __init__(
        self,
        memories: Mapping[MemoryId, Memory],
        edges: EdgeTable,
        rows: Rows[MemoryId],
        names_of: Callable[[MemoryId], Iterable[str]],
    ) -> None:
        self.incidence = Incidence()
        self._memories, self._edges, self._rows = memories, edges, rows
        self._names_of = names_of
        self.paused = False  # while a soul is being read: a text is indexed once, when its mentions are here

    def refresh(self, keys: Iterable[MemoryId]) -> None:
        """Index these texts anew; what is no text, or gone, is ignored."""
        for key in keys if not self.paused else ():
            memory, row = self._memories.get(key), self._rows.row(key)
            if memory is not None and row is not None and memory.kind in TEXTS:
                concepts = [
                    e.target
                    for e in self._edges.of(key, EdgeKind.MENTIONS)
                    if e.source == key
                ]
                self.incidence.put(row, self._held(memory.terms, concepts))

    def texts_mentioning(self, concept: MemoryId) -> Iterator[MemoryId]:
        """The texts that mention the concept."""
        return (
            edge.source
            for edge in self._edges.of(concept)
            if _mentions(edge) and edge.target == concept
        )

    def query_terms(
        self, words: Iterable[Term], concepts: Iterable[MemoryId]
    ) -> dict[int, float]:
        """The terms of a cue that some text holds, and how much each matters in it, 0..1."""
        found = (
            (self.incidence.number(key), salience)
            for key, salience in self._held(words, concepts)
        )
        return {number: salience for number, salience in found if number is not None}

    def concept_of(self, term: int) -> MemoryId | None:
        """The concept that a term of the incidence stands for, None for a word."""
        key = self.incidence.key(term)
        return MemoryId(key[len(_CONCEPT) :]) if key.startswith(_CONCEPT) else None

    def term_of(self, concept: MemoryId) -> int | None:
        """The term that stands for a concept, None when no text mentions it."""
        return self.incidence.number(_CONCEPT + concept)

    def label(self, term: int) -> str:
        """What a term is called."""
        concept = self.concept_of(term)
        if concept is None:
            return self.incidence.key(term)
        known = self._memories.get(concept)
        return known.text if known is not None else ""

    def _held(
        self, words: Iterable[Term], concepts: Iterable[MemoryId]
    ) -> Iterator[tuple[str, float]]:
        """Keys and salience: the concepts first, then the words that are no part of their names."""
        named = list(dict.fromkeys(concepts))
        yield from ((_CONCEPT + concept, 1.0) for concept in named)
        names = [fold(name) for concept in named for name in self._names_of(concept)]
        taken = _words_of(name for concept in named for name in self._names_of(concept))
        for term in words:
            inside = not taken.isdisjoint(Tokens.of(term.key).folded)
            if not inside and not any(_is_part(term.key, name) for name in names):
                yield term.key, term.salience


def _mentions(edge: Edge) -> bool:
    return edge.kind is EdgeKind.MENTIONS


def _words_of(names: Iterable[str]) -> set[str]:
    """The words of names in scripts with spaces."""
    return {
        token for name in names for token in Tokens.of(name).folded if len(token) > 1
    }


def _is_part(key: str, name: str) -> bool:
    """Whether the one holds the other, in a script without spaces."""
    return _UNSPACED.match(key) is not None and (key in name or name in key)

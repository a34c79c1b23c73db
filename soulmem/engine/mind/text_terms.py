"""TextTerms: the terms of a soul's texts, which are their words and the concepts they mention.

A concept is one term whatever name a text uses for it; the words of its names are no terms
of that text then.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from soulmem.domain.edges import TEXTS, Edge, EdgeKind
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory
from soulmem.domain.terms import Term
from soulmem.graph.edge_table import EdgeTable
from soulmem.graph.incidence import WIDTH, Incidence, PackedIncidence, steps_of
from soulmem.graph.row_numbers import Rows
from soulmem.kernels.arrays import Int64s
from soulmem.language.name_tokens import Tokens, fold
from soulmem.language.scripts import UNSPACED

_TEXTS = 500  # indexed in one step: some 10 ms


class TermWord(NamedTuple):
    """A word of texts, as it is compared with names."""

    key: str
    tokens: frozenset[str]  # folded
    is_unspaced: bool  # it begins in a script without spaces


class ConceptTerm(NamedTuple):
    """A concept as a term, and its names as words are compared with them."""

    key: str
    words: frozenset[str]  # of its names, folded, of scripts with spaces
    folds: tuple[str, ...]  # of its names


class NamesInText:
    """The names of all concepts that one text mentions."""

    def __init__(self, concepts: Iterable[ConceptTerm]) -> None:
        self._words: set[str] = set()
        self._folds: list[str] = []
        for concept in concepts:
            self._words |= concept.words
            self._folds += concept.folds

    def have(self, word: TermWord) -> bool:
        """Whether the word is a part of one of the names, or holds one."""
        if not self._words.isdisjoint(word.tokens):
            return True
        key = word.key
        return word.is_unspaced and any(key in n or n in key for n in self._folds)


class WaitingTerms:
    """Words of texts by row, each distinct word once. Compute thread only."""

    def __init__(self, word_of: Callable[[str], TermWord]) -> None:
        self._word_of = word_of
        self._numbers: dict[str, int] = {}
        self._words: list[TermWord] = []
        self._steps: dict[float, int] = {}  # by salience, which has three digits
        self._rows = array("i")
        self._ends = array("i")
        self._terms = array("i")
        self._salience = array("B")

    def add(self, row: int, terms: Iterable[Term]) -> None:
        """Note the words of the text at a row, which was not added yet."""
        numbers, steps = self._numbers, self._steps
        for key, salience in terms:
            number = numbers.get(key)
            if number is None:
                number = numbers[key] = len(self._words)
                self._words.append(self._word_of(key))
            step = steps.get(salience)
            if step is None:
                step = steps[salience] = steps_of(salience)
            self._terms.append(number)
            self._salience.append(step)
        self._rows.append(row)
        self._ends.append(len(self._terms))

    def rows(self) -> Int64s:
        """The rows of the texts, in the order they were added."""
        return np.asarray(self._rows, np.int64)

    def indexed(
        self,
        targets: Int64s,
        ends: Int64s,
        concept_at: Callable[[int], ConceptTerm],
        count: int,
    ) -> Iterator[Incidence | None]:
        """The incidence of all texts as the last of many steps; those before give None.

        targets     int64[..]  rows of the concepts that each text in turn mentions
        ends        int64[texts]  how many of them there are up to each text
        concept_at  the concept at a row
        count       of all rows, also of what is no text
        """
        rows, counts = array("i"), array("B")
        terms, salience = array("i"), array("B")
        numbers: dict[str, int] = {}
        concepts: dict[int, ConceptTerm] = {}
        mentioned, stops = targets.tolist(), ends.tolist()
        start = first = 0
        for text, row in enumerate(self._rows):
            stop, last = stops[text], self._ends[text]
            found: list[ConceptTerm] = []
            for target in dict.fromkeys(mentioned[start:stop]):
                concept = concepts.get(target)
                if concept is None:
                    concept = concepts[target] = concept_at(target)
                found.append(concept)
            begin, names = len(terms), NamesInText(found)
            for concept in found:
                terms.append(numbers.setdefault(concept.key, len(numbers)))
                salience.append(steps_of(1.0))
            for place in range(first, last):
                word = self._words[self._terms[place]]
                if not names.have(word):
                    terms.append(numbers.setdefault(word.key, len(numbers)))
                    salience.append(self._salience[place])
            del terms[begin + WIDTH :], salience[begin + WIDTH :]
            if len(terms) > begin:
                rows.append(row)
                counts.append(len(terms) - begin)
            start, first = stop, last
            if text % _TEXTS == _TEXTS - 1:
                yield None
        yield Incidence.unpacked(
            PackedIncidence.of(list(numbers), rows, counts, terms, salience), count
        )


_CONCEPT = "@"  # first character of a concept's key; no word begins with it
_UNSPACED = re.compile(f"[{UNSPACED}]")
_REMEMBERED = 4096  # names, and words, that are cut once: some 2 MB
_LOOKED_UP = 2000  # texts whose mentions are looked up in one step
_NONE = np.zeros(0, np.int64)


class TextTerms:
    """Texts by terms, kept in step with texts and mentions. Compute thread only."""

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
        # While a soul is being loaded: texts are indexed after their mentions are loaded.
        self._waiting: WaitingTerms | None = None

    @property
    def is_loading(self) -> bool:
        """Whether texts wait for their mentions: the soul is being loaded."""
        return self._waiting is not None

    def begin_loading(self) -> None:
        """Index no text until `end_loading`, as their mentions are loaded behind them."""
        self._waiting = WaitingTerms(_word)

    def load(self, row: int, memory: Memory) -> None:
        """Note the words of a memory that is loaded, if it is a text; between begin and end of loading."""
        if self._waiting is not None and memory.kind in TEXTS and not memory.is_binned:
            self._waiting.add(row, memory.terms)

    def end_loading(self) -> Iterator[None]:
        """Index all loaded texts, in steps between which no text may change."""
        waiting, self._waiting = self._waiting, None
        if waiting is None:
            return
        rows, targets, ends, count = waiting.rows(), [], [], 0
        for start in range(0, rows.size, _LOOKED_UP):
            some = rows[start : start + _LOOKED_UP]
            found, up_to = self._edges.target_rows(some, EdgeKind.MENTIONS)
            targets.append(found)
            ends.append(up_to + count)
            count += found.size
            yield
        mentioned, up_to = (
            np.concatenate([_NONE, *targets]),
            np.concatenate([_NONE, *ends]),
        )
        for incidence in waiting.indexed(mentioned, up_to, self._concept_at, self._rows.capacity):
            if incidence is not None:
                self.incidence = incidence
            yield

    def refresh(self, keys: Iterable[MemoryId]) -> None:
        """Index these texts again; ids that are no loaded texts are ignored."""
        for key in keys if self._waiting is None else ():
            memory, row = self._memories.get(key), self._rows.row(key)
            if memory is None or row is None or memory.kind not in TEXTS:
                continue
            if memory.is_binned:
                self.incidence.drop(row)
            else:
                concepts = self._edges.targets(key, EdgeKind.MENTIONS)
                self.incidence.put(row, self.keys(memory.terms, concepts))

    def texts_mentioning(self, concept: MemoryId) -> Iterator[MemoryId]:
        """The texts that mention the concept."""
        return (
            edge.source
            for edge in self._edges.of(concept)
            if _mentions(edge) and edge.target == concept
        )

    def query_terms(self, words: Iterable[Term], concepts: Iterable[MemoryId]) -> dict[int, float]:
        """Term number to salience in the query, 0..1, for its terms that some text has."""
        out: dict[int, float] = {}
        for key, salience in self.keys(words, concepts):
            number = self.incidence.number(key)
            if number is not None:
                out[number] = salience
        return out

    def is_concept(self, key: str) -> bool:
        """Whether the key of a term is that of a concept, rather than a word."""
        return key.startswith(_CONCEPT)

    def concept_of(self, term: int) -> MemoryId | None:
        """The concept of a term number, None for a word."""
        key = self.incidence.key(term)
        return MemoryId(key[len(_CONCEPT) :]) if key.startswith(_CONCEPT) else None

    def term_of(self, concept: MemoryId) -> int | None:
        """The term number of a concept, None if no text mentions it."""
        return self.incidence.number(_CONCEPT + concept)

    def label(self, term: int) -> str:
        """The word, or the name of the concept, of a term number."""
        concept = self.concept_of(term)
        if concept is None:
            return self.incidence.key(term)
        memory = self._memories.get(concept)
        return memory.text if memory is not None else ""

    def keys(
        self, words: Iterable[Term], concepts: Iterable[MemoryId]
    ) -> Iterator[tuple[str, float]]:
        """Keys of terms and their salience, 0..1: the concepts, then the words that are no part of their names."""
        found = [self._concept(concept) for concept in dict.fromkeys(concepts)]
        for concept in found:
            yield concept.key, 1.0
        names = NamesInText(found)
        for key, salience in words:
            if not names.have(_word(key)):
                yield key, salience

    def _concept_at(self, row: int) -> ConceptTerm:
        key = self._rows.id(row)
        assert key is not None  # a memory's edges go before its row does
        return self._concept(key)

    def _concept(self, concept: MemoryId) -> ConceptTerm:
        names = [_name(name) for name in self._names_of(concept)]
        words = frozenset[str]().union(*(name.words for name in names))
        return ConceptTerm(_CONCEPT + concept, words, tuple(name.fold for name in names))


def _mentions(edge: Edge) -> bool:
    return edge.kind is EdgeKind.MENTIONS


class _Name(NamedTuple):
    """A name as words of texts are compared with it."""

    words: frozenset[str]  # folded, of scripts with spaces
    fold: str


@lru_cache(_REMEMBERED)
def _name(name: str) -> _Name:
    words = (token for token in Tokens.of(name).folded if len(token) > 1)
    return _Name(frozenset(words), fold(name))


@lru_cache(_REMEMBERED)
def _word(key: str) -> TermWord:
    is_unspaced = _UNSPACED.match(key) is not None
    return TermWord(key, frozenset(Tokens.of(key).folded), is_unspaced)

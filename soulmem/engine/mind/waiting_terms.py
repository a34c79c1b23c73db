"""WaitingTerms: the words of texts whose mentions are not loaded yet, to be indexed all at once."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.terms import Term
from soulmem.graph.incidence import WIDTH, Incidence, PackedIncidence, steps_of

Ints = NDArray[np.int64]

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

    def rows(self) -> Ints:
        """The rows of the texts, in the order they were added."""
        return np.asarray(self._rows, np.int64)

    def indexed(
        self,
        targets: Ints,
        ends: Ints,
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

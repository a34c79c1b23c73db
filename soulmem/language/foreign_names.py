"""Names by their capitals, in languages other than English.

Within a sentence a capital marks a name, unless nouns have capitals too. Where it means nothing - at the
start of a sentence, on nouns - a word is a name only when it is no word of the language.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from soulmem.language.grammars import ENGLISH_CODE, Grammar, grammar_of
from soulmem.language.spaced_words import Word, is_stop, loud_words
from soulmem.language.vocabularies import Vocabulary, vocabulary, without_accents

_FEWEST = 8  # words within sentences, from which the share of their capitals tells
_NOUNS = 0.25  # share of capitals within sentences from which they mark no names
_SHORTEST = 3  # letters of a name that only a missing dictionary entry speaks for
_PART = 4  # letters of the last part of a compound; its first part has one less
_LINKS = ("", "s", "es", "n", "en")  # between the parts of a compound
_UMLAUTS = {"a": "ä", "o": "ö", "u": "ü"}


@dataclass(frozen=True)
class _Languages:
    """The languages that a text may be in, taken together."""

    grammars: tuple[Grammar, ...]
    vocabularies: tuple[Vocabulary | None, ...]

    def is_function_word(self, low: str) -> bool:
        return is_stop(low) or any(low in g.function_words for g in self.grammars)

    def is_address(self, low: str) -> bool:
        return any(low in g.addresses for g in self.grammars)

    def is_joint(self, low: str) -> bool:
        return any(low in g.joints for g in self.grammars)

    def has(self, word: str) -> bool:
        """Whether any dictionary has the word as written."""
        return any(v is not None and v.has(word) for v in self.vocabularies)

    def is_ordinary(self, low: str) -> bool:
        """Whether the lower-case word is one of a language; True where no dictionary can say."""
        if not self.vocabularies or None in self.vocabularies:
            return True
        return self.has(low) or any(self._is_form(low, g) for g in self.grammars)

    def _is_form(self, low: str, grammar: Grammar) -> bool:
        """Whether it is a regular form that dictionaries leave out."""
        if grammar.endings and low.endswith(grammar.endings):
            return True
        stem = _without_clitics(low, grammar.clitics)
        return stem != low and (self.has(stem) or self.has(without_accents(stem)))


def nouns_have_capitals(words: Sequence[Word], codes: Sequence[str]) -> bool:
    """By what is listed of the languages; without any list by how common capitals are within sentences."""
    if ENGLISH_CODE in codes:
        return False
    if codes:
        return any(grammar_of(code).nouns_have_capitals for code in codes)
    within = [word.capital for word in words if not word.starts]
    return len(within) >= _FEWEST and sum(within) > _NOUNS * len(within)


def foreign_names(words: Sequence[Word], codes: Sequence[str]) -> Iterator[list[str]]:
    """The names of a text whose nouns have no capitals, in order, each as its words; with repeats.

    codes  the languages that the text may be in; none for a language without lists
    """
    yield from _Sentences([_without_elision(w, codes) for w in words], codes).names()


def noun_names(words: Sequence[Word], codes: Sequence[str]) -> Iterator[list[str]]:
    """The names of a text whose nouns have capitals; none in a language without lists."""
    if codes:
        yield from _Nouns(words, _languages(codes)).names()


class _Sentences:
    """Reads a text in which only names have capitals within a sentence."""

    def __init__(self, words: Sequence[Word], codes: Sequence[str]) -> None:
        self._words = words
        self._codes = codes
        self._grammar = _Languages(tuple(grammar_of(code) for code in codes), ())
        self._loud = loud_words(words)
        self._sure = {
            w.raw for w in words if not w.starts and self._is_capital(w)
        }  # they stand within a sentence, too

    def names(self) -> Iterator[list[str]]:
        """The runs of words with capitals, without ordinary words that start a sentence."""
        index = 0
        while index < len(self._words):
            stop = self._run_from(index)
            run = [w.raw for w in self._words[index:stop]]
            if run and self._words[index].starts:
                run = self._without_ordinary_start(run)
            if run and not all(self._grammar.is_address(w.lower()) for w in run):
                yield run
            index = max(stop, index + 1)

    def _is_capital(self, word: Word) -> bool:
        if not word.capital or word.raw in self._loud:
            return False
        return not self._grammar.is_function_word(word.low)

    def _run_from(self, start: int) -> int:
        """Where the run of capitals ends that begins at `start`; `start` where none does."""
        words, stop = self._words, start
        if not self._is_capital(words[start]):
            return start
        stop = start + 1
        while stop < len(words) and words[stop].joined:
            if self._is_capital(words[stop]):
                stop += 1
            elif self._joins(stop):
                stop += 2
            else:
                break
        return stop

    def _joins(self, index: int) -> bool:
        """Whether a small word stands between two capitals of one name."""
        words = self._words
        return (
            self._grammar.is_joint(words[index].raw)
            and index + 1 < len(words)
            and words[index + 1].joined
            and self._is_capital(words[index + 1])
        )

    def _without_ordinary_start(self, run: list[str]) -> list[str]:
        first = run[0]
        if first in self._sure or self._grammar.is_address(first.lower()):
            return run
        if not self._codes:
            return self._from_capital(run[1:])
        if _is_no_word(first, _languages(self._codes)):
            return run
        return self._from_capital(run[1:])

    @staticmethod
    def _from_capital(run: list[str]) -> list[str]:
        """Without small words before the first capital."""
        while run and not run[0][0].isupper():
            run = run[1:]
        return run


class _Nouns:
    """Reads a text in which nouns have capitals, too."""

    def __init__(self, words: Sequence[Word], languages: _Languages) -> None:
        self._words = words
        self._languages = languages

    def names(self) -> Iterator[list[str]]:
        """Neighbours that are names, with the form of address before them."""
        index = 0
        while index < len(self._words):
            first = index
            while index < len(self._words) and self._is_address(index, first):
                index += 1
            name = index
            while index < len(self._words) and self._continues(index, first, name):
                index += 1
            if index > name:
                yield [word.raw for word in self._words[first:index]]
            index = max(index, first + 1)

    def _is_address(self, index: int, first: int) -> bool:
        """Whether a form of address stands there, joined to those from `first` on."""
        word = self._words[index]
        is_joined = index == first or word.joined
        return is_joined and word.capital and self._languages.is_address(word.low)

    def _continues(self, index: int, first: int, name: int) -> bool:
        """Whether a name stands there: joined to the forms of address from `first` on and to its own words
        from `name` on.
        """
        word = self._words[index]
        if index > first and not word.joined:
            return False
        if self._languages.is_address(word.low):
            return False
        return self._is_name(index, is_addressed=first < name == index)

    def _is_name(self, index: int, is_addressed: bool) -> bool:
        word = self._words[index]
        if not word.capital or word.is_loud or self._languages.is_function_word(word.low):
            return False
        if is_addressed or _is_no_word(word.raw, self._languages):
            return True
        return self._is_only_name(word.raw) and self._is_bare(index)

    def _is_only_name(self, raw: str) -> bool:
        """Whether the dictionary has the word with a capital alone, and no plural of it."""
        has = self._languages.has
        if not has(raw) or has(raw.lower()):
            return False
        for grammar in self._languages.grammars:
            if raw.endswith(grammar.endings or ("\n",)):
                return False
            for form in (raw, _with_umlaut(raw)):
                if any(has(form + ending) for ending in grammar.plurals):
                    return False
        return not has(_with_umlaut(raw))

    def _is_bare(self, index: int) -> bool:
        """Whether it stands without article or adjective: first in a clause that goes on, behind a word of
        grammar, or behind a verb that begins a clause. Alone it may be a call: "Vorsicht, heiß!"
        """
        if not self._words[index].joined:
            return index + 1 < len(self._words) and self._words[index + 1].joined
        before = self._words[index - 1]
        low = before.low
        if any(low in g.function_words for g in self._languages.grammars):
            return not any(low in g.determiners for g in self._languages.grammars)
        return not before.joined and not before.capital


def _languages(codes: Sequence[str]) -> _Languages:
    """With their dictionaries, which may have to be read."""
    return _Languages(
        tuple(grammar_of(code) for code in codes),
        tuple(vocabulary(code) for code in codes),
    )


def _is_no_word(raw: str, languages: _Languages) -> bool:
    """Whether no language has the word, nor a part of it before a hyphen, nor is it a compound."""
    if len(raw) < _SHORTEST or raw.isupper() or languages.is_ordinary(raw.lower()):
        return False
    head, hyphen, _ = raw.partition("-")
    if hyphen and (languages.is_ordinary(head.lower()) or languages.is_function_word(head.lower())):
        return False
    if any(grammar.nouns_have_capitals for grammar in languages.grammars):
        return not languages.has(raw) and not _is_compound(raw, languages)
    return True


def _is_compound(raw: str, languages: _Languages) -> bool:
    """Whether it is made of two words, the last a noun."""
    for cut in range(_PART - 1, len(raw) - _PART + 1):
        head, tail = raw[:cut], raw[cut:]
        if not languages.has(tail.capitalize()):
            continue
        for link in _LINKS:
            stem = head.removesuffix(link)
            long_enough = len(stem) >= _PART - 1
            if long_enough and (languages.has(stem) or languages.has(stem.lower())):
                return True
    return False


def _with_umlaut(raw: str) -> str:
    """With an umlaut in place of the last vowel that may take it; itself without one."""
    for index in range(len(raw) - 1, 0, -1):
        if raw[index] in _UMLAUTS:
            return raw[:index] + _UMLAUTS[raw[index]] + raw[index + 1 :]
    return raw + "\n"


def _without_clitics(low: str, clitics: Sequence[str]) -> str:
    """Without one or two of the short words that are written behind a verb."""
    for _ in range(2):
        for clitic in clitics:
            if low.endswith(clitic) and len(low) > len(clitic) + 1:
                low = low.removesuffix(clitic)
                break
    return low


def _without_elision(word: Word, codes: Sequence[str]) -> Word:
    """The word without an article that an apostrophe ties to it."""
    head, mark, tail = word.raw.partition("'")
    if not mark or not tail:
        return word
    if any(head.lower() in grammar_of(code).elisions for code in codes):
        return word.behind(len(head) + 1)
    return word

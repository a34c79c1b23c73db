"""Which statements does a text make, each of which can be left out by itself?

A sentence, or its clauses where they stand side by side: in Chinese between commas, elsewhere where a clause
begins with whom it is about ("Al goes home, Petra sells the boat"), or goes on with "then".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from soulmem.language.scripts import is_unspaced
from soulmem.prompts.grounding.passage_words import each_once, sentences, units

_SIDE_BY_SIDE = re.compile("[^，；]+[，；]?")
_CONJUNCTION = re.compile(r"(?:and then|and|then|while|but)\s+", re.I)
# words of a clause besides names: with fewer it is a list of names, or of things
_LEAST = 2


class Statement(NamedTuple):
    """A part of a text."""

    text: str
    sentence: int  # in which of them, from 0
    goes_on: bool = False  # about whom the part before is about


class Statements:
    """Texts about people of these names, cut and put together again."""

    def __init__(self, names: Iterable[str]) -> None:
        longest = sorted(
            {name.casefold() for name in names if name}, key=len, reverse=True
        )
        self.name = re.compile("|".join(map(_pattern, longest)) or "(?!)", re.I)
        spaced = (
            "|".join(_pattern(name) for name in longest if not is_unspaced(name))
            or "(?!)"
        )
        # Behind a comma or semicolon, a new subject or one more thing that the last one does.
        self._cut = re.compile(
            rf"(?<=[,;])\s+(?=(?:(?:and|then|while|but)\s+){{0,2}}(?:{spaced})|then\b|and then\b)",
            re.I,
        )

    def of(self, text: str) -> list[Statement]:
        """What the text states, in order, each thing once; what breaks off where another goes on is out."""
        parts = list(self._all(text))
        by_text = dict[str, Statement]()
        for statement in parts:
            by_text.setdefault(statement.text, statement)
        texts = each_once([statement.text for statement in parts])
        return [by_text[statement_text] for statement_text in texts]

    def _all(self, text: str) -> Iterator[Statement]:
        for number, sentence in enumerate(sentences(text)):
            yield from self._parts(sentence, number)

    def told(self, kept: Sequence[Statement], text: str) -> str:
        """The text with nothing but these of its statements."""
        every = list(self._all(text))
        if list(kept) == every:
            return text
        unspaced = is_unspaced(text)
        out = list[str]()
        for number in dict.fromkeys(statement.sentence for statement in kept):
            mine = [statement for statement in kept if statement.sentence == number]
            whole = len(mine) == sum(
                statement.sentence == number for statement in every
            )
            out.append(
                ("" if unspaced else " ").join(statement.text for statement in mine)
                if whole
                else _mended(mine, unspaced)
            )
        return ("" if unspaced else " ").join(out)

    def _parts(self, sentence: str, number: int) -> Iterator[Statement]:
        if is_unspaced(sentence):
            for part in _SIDE_BY_SIDE.findall(sentence):
                yield Statement(part, number)
            return
        clauses = [""]
        for part in self._cut.split(sentence):
            if self._says_little(part) or self._says_little(clauses[-1]):
                clauses[-1] = f"{clauses[-1]} {part}".strip()
            else:
                clauses.append(part)
        for index, part in enumerate(clauses):
            yield Statement(
                part, number, index > 0 and not self._begins_with_name(part)
            )

    def _says_little(self, part: str) -> bool:
        return len(set(units(self.name.sub("\n", part)))) < _LEAST

    def _begins_with_name(self, part: str) -> bool:
        return self.name.match(_CONJUNCTION.sub("", part, count=1)) is not None


def standing(
    every: Sequence[Statement], is_true: Callable[[Statement], bool]
) -> list[Statement]:
    """Those that are true; what goes on about somebody stands and falls with what it goes on from."""
    kept = list[Statement]()
    for index, statement in enumerate(every):
        if is_true(statement) and (
            not statement.goes_on or (index > 0 and every[index - 1] in kept)
        ):
            kept.append(statement)
    return kept


def _mended(parts: Sequence[Statement], unspaced: bool) -> str:
    """Parts of a sentence of which others are left out, with their ends."""
    if unspaced:
        joined = "".join(part.text for part in parts)
        return joined[:-1] + "。" if joined.endswith(("，", "；")) else joined
    joined = ""
    for part in parts:
        if joined and part.goes_on:
            joined = f"{joined}, {part.text.rstrip(',;')}"
        else:
            bare = _CONJUNCTION.sub("", part.text, count=1).rstrip(",; ")
            joined = (
                f"{joined}. {bare[:1].upper()}{bare[1:]}"
                if joined
                else f"{bare[:1].upper()}{bare[1:]}"
            )
    return joined if joined.endswith((".", "!", "?", '"', "”", "…")) else joined + "."


def _pattern(name: str) -> str:
    """A name as a whole word, or anywhere among signs of a script without spaces."""
    return (
        re.escape(name)
        if is_unspaced(name)
        else rf"(?<![^\W_]){re.escape(name)}(?![^\W_])"
    )

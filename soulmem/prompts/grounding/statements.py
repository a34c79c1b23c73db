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
_LEAST = (
    2  # words of a clause besides names: with fewer it is a list of names, or of things
)


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
        found = dict[str, Statement]()
        for one in parts:
            found.setdefault(one.text, one)
        return [found[said] for said in each_once([one.text for one in parts])]

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
        for number in dict.fromkeys(one.sentence for one in kept):
            mine = [one for one in kept if one.sentence == number]
            whole = len(mine) == sum(one.sentence == number for one in every)
            out.append(
                ("" if unspaced else " ").join(one.text for one in mine)
                if whole
                else _mended(mine, unspaced)
            )
        return ("" if unspaced else " ").join(out)

    def _parts(self, sentence: str, number: int) -> Iterator[Statement]:
        if is_unspaced(sentence):
            for part in _SIDE_BY_SIDE.findall(sentence):
                yield Statement(part, number)
            return
        found = [""]
        for part in self._cut.split(sentence):
            if self._says_little(part) or self._says_little(found[-1]):
                found[-1] = f"{found[-1]} {part}".strip()
            else:
                found.append(part)
        for at, part in enumerate(found):
            yield Statement(part, number, at > 0 and not self._begins_with_name(part))

    def _says_little(self, part: str) -> bool:
        return len(set(units(self.name.sub("\n", part)))) < _LEAST

    def _begins_with_name(self, part: str) -> bool:
        return self.name.match(_CONJUNCTION.sub("", part, count=1)) is not None


def standing(
    every: Sequence[Statement], is_true: Callable[[Statement], bool]
) -> list[Statement]:
    """Those that are true; what goes on about somebody stands and falls with what it goes on from."""
    kept = list[Statement]()
    for at, one in enumerate(every):
        if is_true(one) and (not one.goes_on or (at > 0 and every[at - 1] in kept)):
            kept.append(one)
    return kept


def _mended(parts: Sequence[Statement], unspaced: bool) -> str:
    """Parts of a sentence of which others are left out, with their ends."""
    if unspaced:
        said = "".join(part.text for part in parts)
        return said[:-1] + "。" if said.endswith(("，", "；")) else said
    said = ""
    for part in parts:
        if said and part.goes_on:
            said = f"{said}, {part.text.rstrip(',;')}"
        else:
            bare = _CONJUNCTION.sub("", part.text, count=1).rstrip(",; ")
            said = (
                f"{said}. {bare[:1].upper()}{bare[1:]}"
                if said
                else f"{bare[:1].upper()}{bare[1:]}"
            )
    return said if said.endswith((".", "!", "?", '"', "”", "…")) else said + "."


def _pattern(name: str) -> str:
    """A name as a whole word, or anywhere among signs of a script without spaces."""
    return (
        re.escape(name)
        if is_unspaced(name)
        else rf"(?<![^\W_]){re.escape(name)}(?![^\W_])"
    )

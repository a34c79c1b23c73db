"""Who is met: whether a line has somebody here or only talks of him, so that a habit tied to him fires or not.

By its sound alone a name makes a text more like a meeting, or like talk. So a text that names somebody is read
with stand-ins for the name, and counts as most of its readings say.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np

from soulmem.domain.ids import MemoryId
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.decision import speaks
from soulmem.engine.runtime.worker import compute_only
from soulmem.kernels.arrays import Bools
from soulmem.language.kinds.kind_lines import stand_ins
from soulmem.language.scripts import is_unspaced
from soulmem.language.world_lines import world_language

About = tuple[str, MemoryId]  # a text, and somebody whom it names

# Which of these kinds each of some texts is most like; None where that fails
Likeliest = Callable[[Sequence[str], Sequence[str]], Awaitable[list[str] | None]]

_MET, _TALKED_OF = "met", "talked_of"  # kinds of lines about somebody


@dataclass(frozen=True, slots=True)
class Readings:
    """Lines and situations that name the same people, as they read with stand-ins.

    texts  one reading for each stand-in
    talk   what only talks of the person; None while that is not known
    """

    texts: Mapping[About, tuple[str, ...]] = field(default_factory=dict)
    talk: frozenset[About] | None = None

    def shared(
        self, lines: Sequence[str], situations: Sequence[str]
    ) -> dict[MemoryId, tuple[list[int], list[int]]]:
        """By person the places of the lines and of the situations that name him; both name somebody."""
        found = {}
        for person in dict.fromkeys(person for _, person in self.texts):
            own, others = self._places(lines, person), self._places(situations, person)
            if own and others:
                found[person] = own, others
        return found

    def _places(self, texts: Sequence[str], person: MemoryId) -> list[int]:
        return [at for at, text in enumerate(texts) if (text, person) in self.texts]

    def only_talk(self, lines: Sequence[str], situations: Sequence[str]) -> Bools:
        """Where a line only talks of somebody whom a situation meets, bool[lines, situations].

        While that is not known, nobody is met.
        """
        out = np.zeros((len(lines), len(situations)), bool)
        for person, (own, others) in self.shared(lines, situations).items():
            for line in own:
                for place in others:
                    out[line, place] |= self.talk is None or (
                        (lines[line], person) in self.talk
                        and (situations[place], person) not in self.talk
                    )
        return out


@compute_only
def readings(
    mind: Mind, lines: Sequence[str], situations: Iterable[str]
) -> dict[About, tuple[str, ...]]:
    """How lines and situations read that name the same people."""
    met = {text: _people(mind, text) for text in dict.fromkeys(situations)}
    said = {text: _people(mind, text) for text in lines}
    both = set().union(*met.values()) & set().union(*said.values())
    out: dict[About, tuple[str, ...]] = {}
    for text, people in (met | said).items():
        out |= {(text, p): _readings(mind, text, p) for p in people & both}
    return out


async def with_talk(read: Readings, lines: Collection[str], likeliest: Likeliest) -> Readings:
    """A copy with `talk`: lines, and situations of the same people, that only talk of somebody."""
    talk = await _talk(read, likeliest, lambda about: about[0] in lines)
    if talk:
        people = {person for _, person in talk}
        met = await _talk(
            read, likeliest, lambda about: about[0] not in lines and about[1] in people
        )
        talk = None if met is None else talk | met
    return replace(read, talk=talk)


async def _talk(
    read: Readings, likeliest: Likeliest, wanted: Callable[[About], bool]
) -> frozenset[About] | None:
    """The wanted texts that most of their readings take for talk; None where nothing tells."""
    texts = {about: each for about, each in read.texts.items() if wanted(about)}
    flat = list(dict.fromkeys(chain.from_iterable(texts.values())))
    kinds = await likeliest(flat, (_MET, _TALKED_OF))
    if kinds is None:
        return None
    talk = {text for text, kind in zip(flat, kinds, strict=True) if kind == _TALKED_OF}
    return frozenset(
        about for about, each in texts.items() if 2 * len(talk.intersection(each)) > len(each)
    )


def _readings(mind: Mind, text: str, person: MemoryId) -> tuple[str, ...]:
    names = sorted(mind.names.names_of(person), key=len, reverse=True)
    name = _any_of(names)
    others = stand_ins(world_language(text))
    return tuple(name.sub(other, text) for other in others)


def _any_of(names: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(_pattern, names)), re.IGNORECASE)


def _pattern(name: str) -> str:
    escaped = re.escape(name)
    return escaped if is_unspaced(name) else rf"(?<!\w){escaped}(?!\w)"


def _people(mind: Mind, text: str) -> set[MemoryId]:
    """The concepts that a text names, speakers left out."""
    return {key for key in mind.names.spot(text) if not speaks(mind, key)}

"""How well lines of a chat fit situations: by meaning, by the scenes of a situation, and by who is here.

By its sound alone a name makes a text more like a meeting, or like talk, and two texts more or less alike. So what
names somebody is read with stand-ins for the name, and counts as what most of its readings say.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from math import log1p
from weakref import WeakKeyDictionary

import numpy as np

from soulmem.conversation.episodes import spoken
from soulmem.domain.ids import MemoryId
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.decision import speaks
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.vectors.encoder import EncodedTexts
from soulmem.kernels.arrays import Bools, Float32s, Int64s
from soulmem.language.kinds.kind_lines import stand_ins
from soulmem.language.scripts import is_unspaced
from soulmem.language.world_lines import world_language
from soulmem.retrieval.calibration import rarity, word_fit


@dataclass(frozen=True, slots=True)
class SignatureParams:
    """When a word marks a situation, and what it adds on the scale of `Calibration.fit`."""

    scenes: int = 2  # scenes of the situation that must contain the word
    # 0..1, least weight, as a share of that of a word that occurs nowhere
    rare: float = 0.5
    # added for a line with all marking words; 1 to 2.5 give equal results
    fit: float = 1.5


def signature_fit(
    lines: Sequence[Collection[str]],
    scenes: Sequence[Sequence[Collection[str]]],
    weight: Callable[[str], float],
    texts: int,
    params: SignatureParams | None = None,
) -> Float32s:
    """What marking words add to the fit of each line to each situation, float32[lines, situations], >= 0.

    lines, scenes  the words of each line, and of each scene of each situation; a situation may have none
    weight         of a word, as `rarity` gives it for a number of `texts`
    """
    p = params or SignatureParams()
    out = np.zeros((len(lines), len(scenes)), np.float32)
    least_weight = p.rare * log1p(texts)
    for column, scene_words in enumerate(scenes):
        marks = _marking_words(scene_words, weight, p.scenes, least_weight)
        whole = sum(marks.values())
        if not whole:
            continue
        for row, words in enumerate(lines):
            shared = sum(marks[word] for word in marks if word in words)
            out[row, column] = p.fit * shared / whole
    return out


def _marking_words(
    scenes: Sequence[Collection[str]],
    weight: Callable[[str], float],
    least_scenes: int,
    least_weight: float,
) -> dict[str, float]:
    """Weights of the rare words that at least `least_scenes` of the scenes contain."""
    counts: Counter[str] = Counter()
    for words in scenes:
        counts.update(set(words))
    marks: dict[str, float] = {}
    for word, count in counts.items():
        if count >= least_scenes and weight(word) >= least_weight:
            marks[word] = weight(word)
    return marks


About = tuple[str, MemoryId]  # a text, and somebody whom it names

# Which of these kinds each of some texts is most like; None where that fails
Likeliest = Callable[[Sequence[str], Sequence[str]], Awaitable[list[str] | None]]

_MET, _TALKED_OF = "met", "talked_of"  # kinds of lines about somebody
_REMEMBERED = 4096  # scenes of a soul whose words are kept


class SituationFit:
    """Fits of lines and situations. Compute thread only."""

    def __init__(self, scene_margin: float) -> None:
        """scene_margin  by how much a situation with scenes must fit better than one in words alone"""
        self._scene_margin = scene_margin
        self._words: WeakKeyDictionary[Mind, dict[str, frozenset[str]]] = WeakKeyDictionary()

    def fit(
        self,
        mind: Mind,
        lines: Sequence[str],
        rows: Int64s,
        situations: Sequence[str],
        *,
        encoded: EncodedTexts | None,
        scenes: Mapping[int, Sequence[int]],
    ) -> Float32s:
        """On the scale of `Calibration.fit`, shape (lines, rows). Words decide where there are no vectors.

        situations  what the rows say
        """
        scene_texts = [_texts_at(mind, scenes.get(row, ())) for row in rows.tolist()]
        if encoded is not None:
            vectors = [encoded.rows(texts) for texts in scene_texts]
            out = encoded.calibration.fit(encoded.rows(lines), encoded.rows(situations), vectors)
            out[:, [bool(texts) for texts in scene_texts]] -= self._scene_margin
            out += self._signature(mind, lines, scene_texts)
        else:
            out = np.full((len(lines), rows.size), np.nan, np.float32)
        missing = np.flatnonzero(np.isnan(out).any(axis=0))
        if missing.size:
            tokens = mind.tokeniser.tokens
            out[:, missing] = word_fit(
                [tokens(line) for line in lines],
                [tokens(situations[i]) for i in missing.tolist()],
                mind.words.frequency,
                len(mind.words),
            )
        return out

    def _signature(
        self, mind: Mind, lines: Sequence[str], scene_texts: Sequence[Sequence[str]]
    ) -> Float32s:
        """The share of the words that a situation's scenes have in common which each line contains."""
        words_of = self._words.setdefault(mind, {})
        if len(words_of) > _REMEMBERED:
            words_of.clear()
        telling, size = mind.tokeniser.telling, len(mind.words)
        scenes = []
        for texts in scene_texts:
            for text in texts:
                if text not in words_of:
                    words_of[text] = telling(text)
            scenes.append([words_of[text] for text in texts])
        weight = rarity(mind.words.frequency, size)
        return signature_fit([telling(line) for line in lines], scenes, weight, size)


def _texts_at(mind: Mind, rows: Sequence[int]) -> list[str]:
    return [spoken(mind.memory_at(row)) for row in rows]


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
    """A copy with vectors of lines that only talk of somebody, and of the situations they may be about."""
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

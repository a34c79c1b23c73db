"""The map of the soul's heart: whom it met most, and on each line a sentence of what happened.

Compute thread only.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from soulmem.assembly.masks import Thresholds
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.memories import Memory
from soulmem.engine.api.results import Person
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.views.doubted import is_in_doubt, is_waiting
from soulmem.engine.views.people import episodes_by_concept
from soulmem.engine.views.read_texts import ReadText, label_length, read_texts
from soulmem.engine.views.spots import Spot
from soulmem.graph.layout import MIDDLE, RINGS, Point, ring_layout
from soulmem.kernels.arrays import Int64s
from soulmem.language.name_tokens import fold
from soulmem.language.passages import length_of, passages
from soulmem.language.segmentation import pieces, without_marks

_LINES = 40
# Memories of each line that are read: those that matter most, and the last.
_WEIGHTY, _LATEST = 6, 2
_SHORT = 16  # characters of a sentence that says little by itself
_LONG = 200
_CLEAR = Thresholds().clear
_ASKED = 0.3  # what a question is worth against a sentence
_MET = 2  # people who are joined with a spot
_AGAIN = 0.3  # worth of a memory that another line tells already


@dataclass(frozen=True, slots=True)
class Bond:
    """Somebody, two who were told of together, or somebody at a spot: names of each that a sentence has, and the
    memories with both.
    """

    ends: tuple[MemoryId, ...]
    names: tuple[frozenset[MemoryId], ...]
    count: int
    memories: tuple[MemoryId, ...]  # that may tell what happened


@dataclass(frozen=True, slots=True)
class HeartLine:
    """What happened between two people; `first` None for the soul itself.

    weight   how often they were met, 0..1, on a log scale against whom the soul met most
    clear    visibility of the memory, 0..1
    """

    first: MemoryId | None
    second: MemoryId
    text: str
    memory: MemoryId
    weight: float
    clear: float


@dataclass(frozen=True, slots=True)
class Heart:
    """The people and spots with their places, and the lines. `you` is the one who goes by the player's name."""

    people: Sequence[Person]
    places: Mapping[MemoryId, Point]
    lines: Sequence[HeartLine]
    you: MemoryId | None
    spots: Sequence[Spot] = ()


@compute_only
def bonds_of(mind: Mind, people: Sequence[Person]) -> list[Bond]:
    """The soul's bonds with each of these people, and those among them that were told of together most often."""
    names = [_concepts(mind, person) for person in people]
    met = _met(mind, names)
    rows = np.unique(np.concatenate([np.zeros(0, np.int64), *met]))
    is_met = np.asarray([np.isin(rows, own) for own in met], np.float32)
    together = np.triu(is_met @ is_met.T, 1) if people else np.zeros((0, 0))
    pairs = np.argwhere(together > 0)
    pairs = pairs[np.argsort(-together[tuple(pairs.T)], kind="stable")]
    groups = [(place,) for place in range(len(people))]
    groups += [tuple(pair) for pair in pairs[: max(0, _LINES - len(people))].tolist()]
    out = []
    for group in groups:
        ends = [people[place].concept for place in group]
        both = rows[is_met[list(group)].all(axis=0)]
        out.append(_bond(mind, ends, [names[place] for place in group], both))
    return out


@compute_only
def spot_bonds(mind: Mind, people: Sequence[Person], spots: Sequence[Spot]) -> list[Bond]:
    """The bonds of each spot with those who were most often met there, else with the soul alone."""
    names = [_concepts(mind, person) for person in people]
    met = _met(mind, names)
    out = []
    for spot in spots:
        there = [np.intersect1d(spot.rows, rows) for rows in met]
        often = sorted(range(len(people)), key=lambda place: -there[place].size)
        who = [place for place in often[:_MET] if there[place].size]
        out += [_bond(mind, [people[p].concept, spot.id], [names[p]], there[p]) for p in who] or [
            _bond(mind, [spot.id], [], spot.rows)
        ]
    return out


def _met(mind: Mind, names: Sequence[frozenset[MemoryId]]) -> list[Int64s]:
    """The rows of the episodes that the soul may use with each of those who go by these concepts."""
    episodes = episodes_by_concept(mind, sorted(frozenset().union(*names)))
    accessible = mind.accessible_rows(None, None, lambda _, __: False)
    found = [list(map(episodes.__getitem__, keys)) for keys in names]
    return [rows[accessible[rows]] for rows in map(np.concatenate, found)]


def told_people(people: Sequence[Person], lines: Sequence[HeartLine]) -> list[Person]:
    """Those of whom a line tells."""
    told = {line.first for line in lines} | {line.second for line in lines}
    return [person for person in people if person.concept in told]


def mapped(
    soul: SoulId,
    people: Sequence[Person],
    lines: Sequence[HeartLine],
    you: str,
    spots: Sequence[Spot] = (),
) -> Heart:
    """The map of these lines, with whom they reach; `you` is the player's name, or empty."""
    shown = told_people(people, lines)
    player = _player(shown, you)
    reached = {line.second for line in lines}
    spots = [spot for spot in spots if spot.id in reached]
    around = [person.concept for person in shown if person.concept != player]
    around = [*around, *(spot.id for spot in spots)][:RINGS]
    rings = ring_layout(around, ((line.first or soul, line.second) for line in lines))
    places = {MemoryId(key): place for key, place in rings.items()}
    if player is not None:
        places[player] = MIDDLE[1]
    return Heart(shown, places, lines, player, spots)


def _player(people: Iterable[Person], you: str) -> MemoryId | None:
    return next((p.concept for p in people if fold(you) in _folded(p)), None)


def _folded(person: Person) -> frozenset[str]:
    return frozenset(map(fold, (person.name, *person.aliases)))


def _concepts(mind: Mind, person: Person) -> frozenset[MemoryId]:
    """The concepts that stand for a person by one of the person's names."""
    folded, names = _folded(person), (person.name, *person.aliases)
    spotted = set(chain.from_iterable(map(mind.names.spot, names)))
    known = mind.memories.many(sorted(spotted))
    return frozenset((person.concept, *(m.id for m in known if fold(m.text) in folded)))


def _bond(
    mind: Mind,
    ends: Sequence[MemoryId],
    names: Sequence[frozenset[MemoryId]],
    rows: Int64s,
) -> Bond:
    columns = mind.columns
    rows = rows[np.argsort(-columns.ended[rows], kind="stable")]
    weighty = rows[np.argsort(-columns.importance[rows], kind="stable")[:_WEIGHTY]]
    read = np.unique(np.concatenate([weighty, rows[:_LATEST]]))
    return Bond(
        tuple(ends),
        tuple(names),
        int(rows.size),
        tuple(mind.ids_at(read.tolist())),
    )


@compute_only
def read_now(mind: Mind, keys: Iterable[MemoryId], extra: int) -> dict[MemoryId, ReadText]:
    """The memories as they read now, without those that are in doubt or wait for the user."""
    known = [
        memory
        for memory in mind.memories.many(list(keys))
        if not (is_in_doubt(mind, memory.id) or is_waiting(mind, memory.id))
    ]
    texts = read_texts(mind, known, float(mind.lived_turns(extra)))
    return {memory.id: text for memory, text in zip(known, texts, strict=True)}


@compute_only
def heart_lines(
    mind: Mind,
    bonds: Sequence[Bond],
    texts: Mapping[MemoryId, ReadText],
    before: Sequence[HeartLine] = (),
) -> list[HeartLine]:
    """A line for each bond that a clear memory tells of, preferably none of the lines `before`."""
    most = max((bond.count for bond in bonds), default=1)
    out: list[HeartLine] = []
    told_before = {line.memory for line in before}
    # Those of two first: the soul's own have more to choose from
    for bond in reversed(bonds):
        known = [key for key in bond.memories if key in texts]
        told = [_told(mind, bond, key, texts[key], told_before) for key in known]
        worth, text, memory = max(told, default=(0.0, "", MemoryId("")))
        if not worth:
            continue
        told_before.add(memory)
        first, second = bond.ends if len(bond.ends) > 1 else (None, bond.ends[0])
        weight = math.log1p(bond.count) / math.log1p(most)
        clear = texts[memory].visibility
        out.append(HeartLine(first, second, text, memory, weight, clear))
    return out[::-1]


def _told(
    mind: Mind,
    bond: Bond,
    key: MemoryId,
    read: ReadText,
    told_before: Collection[MemoryId],
) -> tuple[float, str, MemoryId]:
    """The text of a memory about a bond, with its worth, 0 where it has none."""
    memory = mind.memories[key]
    text = _sentence(mind, memory, read.text, bond.names)
    if read.is_empty or not text:
        return 0.0, "", key
    worth = mind.line_kinds.importance_of(memory) * read.visibility
    if read.visibility < _CLEAR:
        worth *= read.visibility
    if key in told_before:
        worth *= _AGAIN
    if text.rstrip().endswith(("?", "？")):
        worth *= _ASKED
    return worth, text, key


def _sentence(mind: Mind, memory: Memory, text: str, names: Sequence[frozenset[MemoryId]]) -> str:
    """The sentence of a text that names them all, with who says it; else such a passage, else nothing."""
    label = text[: label_length(memory)]
    if not memory.text.startswith(label):
        label = ""
    said = text[len(label) :]
    speaks = set(mind.names.spot(label))
    parts = [(part, _LONG) for part in pieces(said) if length_of(part) >= _SHORT]
    parts += [(said[start:end], 2 * _LONG) for start, end in passages(said)]
    for part, most in parts:
        named = speaks.union(mind.names.spot(part))
        if length_of(part) <= most and all(named & keys for keys in names):
            return label + without_marks(part)
    return ""

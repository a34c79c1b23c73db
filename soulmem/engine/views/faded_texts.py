"""Faded texts: the micro-units and anchors of memories with how clear they are by now.

Computed at each look; only what was touched or given by hand is stored. Compute thread only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from math import inf
from typing import NamedTuple

from soulmem.assembly.mask_times import AnchorTimes, TextTimes, UnitTimes
from soulmem.assembly.masks import Thresholds
from soulmem.conversation.episodes import spoken
from soulmem.conversation.micro_units import unit_spans
from soulmem.domain.edges import EdgeKind
from soulmem.domain.fading_records import FadingRecord
from soulmem.domain.forgetting_curve import elapsed_until, retained
from soulmem.domain.ids import MemoryId, derived_id
from soulmem.domain.memories import DERIVED, Memory, MemoryKind, MemoryState
from soulmem.domain.micro_units import (
    Anchor,
    AnchorKind,
    MicroUnit,
    Retention,
    UnitSpan,
    anchor_stability,
    unit_stability,
)
from soulmem.domain.soul import Masks
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.views.known import BROKEN, KEPT
from soulmem.engine.views.text_ages import TextAge, text_ages
from soulmem.language.kinds.known_lines import PROMISE
from soulmem.language.name_tokens import fold


def drafted_episode_id(derivation: str, number: int) -> MemoryId:
    """The memory id of the `number`-th episode of a derivation."""
    return MemoryId(derived_id("d", derivation, "episode", str(number)))


def drafted_anchors(mind: Mind, memory: Memory) -> tuple[str, ...]:
    """The anchors of the memory's drafts that still occur in its text, each once."""
    out: dict[str, None] = {}
    for derivation in mind.derivations.of(memory.id):
        for number, draft in enumerate(derivation.drafts.episodes):
            if not draft.anchors:
                continue
            if drafted_episode_id(derivation.id, number) == memory.id:
                words = (word for word in draft.anchors if word in memory.text)
                out.update(dict.fromkeys(words))
    return tuple(out)


def anchors_of(mind: Mind, memory: Memory) -> tuple[str, ...]:
    """The words of the memory that are anchored, by hand or by its drafts, each once."""
    record = record_of(mind, memory)
    if record is not None and record.own_anchors:
        return tuple(dict.fromkeys(anchor.text for anchor in record.anchors))
    return drafted_anchors(mind, memory)


_EPISODES = (MemoryKind.EPISODE, MemoryKind.ABSTRACT_EPISODE)
_REMEMBERED = 2048  # texts, some 4 MB; the same ones are told again and again


@compute_only
def computed_spans(mind: Mind, memory: Memory) -> tuple[UnitSpan, ...]:
    """The units of the memory's own text; none for texts written by hand and for other kinds than episodes."""
    if memory.kind not in _EPISODES or memory.origin not in DERIVED:
        return ()
    label = len(memory.text) - len(spoken(memory))
    place = memory.situation.location
    names = tuple(_names(mind, memory).items())
    return _spans(memory.text, names, place, label, memory.names)


@lru_cache(_REMEMBERED)
def _spans(
    text: str,
    names: tuple[tuple[str, str | None], ...],
    place: str | None,
    label: int,
    new_names: tuple[str, ...],
) -> tuple[UnitSpan, ...]:
    return unit_spans(text, dict(names), place, label, new_names)


def _names(mind: Mind, memory: Memory) -> dict[str, str | None]:
    """The known names in the text, each with the description of its concept, "" of one without; None of those
    that are not forgotten: the soul's own, and of those that talk with it, whatever they are called.
    """
    is_speaker = mind.name_counts.is_speaker
    names: dict[str, str | None] = {}
    for description, alike in _concepts(mind, memory):
        is_own = mind.soul.name in alike or any(is_speaker(fold(n)) for n in alike)
        inside = (name for name in alike if name in memory.text)
        names.update(dict.fromkeys(inside, None if is_own else description))
    for name in memory.names:
        if name not in names and is_speaker(fold(name)):
            names[name] = None
    return names


def _concepts(mind: Mind, memory: Memory) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The description and the names of each concept that the text mentions."""
    for key in mind.edges.targets(memory.id, EdgeKind.MENTIONS):
        concept = mind.names.concept(key) or mind.memories.get(key)
        detail = concept.concept if concept is not None else None
        description = (detail.description if detail is not None else None) or ""
        yield description, mind.names.names_of(key)


IMPORTANT = 0.6  # details of such a memory stay (design 6)


@dataclass(frozen=True, slots=True)
class FadedText:
    """A text with the state of its parts; `retention.visibility` is as of now, the rest of the last touch."""

    text: str  # the memory's own, or its rewording
    units: tuple[MicroUnit, ...] = ()
    anchors: tuple[Anchor, ...] = ()

    @property
    def visibility(self) -> float:
        """Mean visibility, 0..1, of the outer units, weighted by their length; 1 of a text without units."""
        outer = outer_units(self.units)
        total = sum(unit.span.end - unit.span.start for unit in outer)
        if not total:
            return 1.0
        lengths = ((unit, unit.span.end - unit.span.start) for unit in outer)
        clear = sum(unit.retention.visibility * n for unit, n in lengths)
        return clear / total


@compute_only
def fading_of(
    mind: Mind, memory: Memory, turn: float, *, ahead: float = 0.0, slowing: float = 1.0
) -> FadedText:
    """The text of a memory as it has faded when `turn` exchanges are lived (`Mind.lived_turns`).

    ahead    turns of the soul's clock from then on, whatever clock it has
    slowing  >= 1; ages count for a part only, 1 / slowing of themselves
    """
    (faded,) = fadings_of(mind, [memory], turn, ahead=ahead, slowing={memory.id: slowing})
    return faded


@compute_only
def fadings_of(
    mind: Mind,
    memories: Sequence[Memory],
    turn: float,
    *,
    ahead: float = 0.0,
    slowing: Mapping[MemoryId, float] | None = None,
    dial: float | None = None,
) -> list[FadedText]:
    """As `fading_of`, for many memories; `slowing` by memory, 1 for others.

    dial  0..2, in place of the soul's own setting of forgetting
    """
    ages = text_ages(mind, memories, turn)
    slow = slowing or {}
    pace = mind.soul.settings.forgetting if dial is None else dial
    return [
        _faded(
            _Look(
                mind,
                memory,
                age,
                turn,
                ahead,
                slowing=slow.get(memory.id, 1.0),
                pace=pace,
                happened=memory.happened,
            )
        )
        for memory, age in zip(memories, ages, strict=True)
    ]


@compute_only
def times_of(
    mind: Mind, memory: Memory, turn: float, limits: Thresholds | None = None
) -> TextTimes:
    """When each part of a memory falls below the thresholds if nothing recalls it, from when `turn` exchanges
    are lived on, in turns of the soul's clock.
    """
    t = limits or Thresholds()
    (age,) = text_ages(mind, [memory], turn)
    pace = mind.soul.settings.forgetting
    look = _Look(mind, memory, age, turn, 0.0, slowing=1.0, pace=pace, happened=memory.happened)
    record = record_of(mind, memory)
    return TextTimes(
        _text_by(memory, record),
        [
            UnitTimes(
                span,
                look.turns_until(course, t.clear),
                look.turns_until(course, t.gist),
            )
            for span, course in _unit_courses(look, record)
        ],
        [
            AnchorTimes(words, look.turns_until(course, t.clear))
            for words, _, course in _anchor_courses(look, record)
        ],
    )


def blurs(mind: Mind, memory: Memory, dial: float | None = None) -> bool:
    """Whether anything of the memory may fade: it is not permanent or locked, no promise in it is open, and the
    soul forgets.
    """
    settings = mind.soul.settings
    pace = settings.forgetting if dial is None else dial
    is_on = settings.fades and settings.masks is not Masks.OFF
    forgets = is_on and pace > 0.0
    is_held = memory.permanent or memory.locked or _is_promised(mind, memory)
    return forgets and not is_held


def _is_promised(mind: Mind, memory: Memory) -> bool:
    """Whether a line of the memory is a promise that the user has not marked as kept or broken."""
    row = mind.row(memory.id)
    lines = mind.line_kinds.known().get(row, ()) if row is not None else ()
    is_promise = any(line.told_as == PROMISE for line in lines)
    return is_promise and not {KEPT, BROKEN}.intersection(memory.tags)


def stays(memory: Memory, span: UnitSpan) -> bool:
    """Whether a unit never fades: a detail of an important memory."""
    return span.is_detail and memory.importance >= IMPORTANT


def record_of(mind: Mind, memory: Memory) -> FadingRecord | None:
    """The record of the memory, if it is of its present text, and the reply that reworded it is still there."""
    record = mind.fading.of(memory.id)
    if record is None or not record.fits(memory.text):
        return None
    return record if _stands(mind, record.reply) else None


def _stands(mind: Mind, reply: MemoryId | None) -> bool:
    """Whether a reply was not taken back since."""
    if reply is None:
        return True
    memory = mind.memories.get(reply)
    return memory is not None and memory.state is not MemoryState.RETRACTED


class _Course(NamedTuple):
    """The inputs of the state of a part."""

    stored: Retention | None  # None: never touched
    first: float  # the S that it began with
    fades: bool


@dataclass(frozen=True, slots=True)
class _Look:
    """One look at one memory: how old things are on the soul's clock."""

    mind: Mind
    memory: Memory
    age: TextAge  # of the memory
    turn: float
    ahead: float
    slowing: float
    pace: float  # 0..2, of forgetting
    happened: datetime  # `memory.happened`, which many units ask for

    def at_present(self, course: _Course) -> Retention:
        """The state by now."""
        state, age = self._since_touch(course)
        if not course.fades:
            return state
        share = retained(
            (age + self.ahead) * self.pace / self.slowing,
            state.stability,
            state.stability / course.first,
            self.mind.soul.settings.decay,
        )
        # In place of `replace`, which takes ten times as long: a text has some dozen units.
        visibility = state.visibility * share
        return Retention(visibility, state.stability, state.touched, state.at_turn)

    def turns_until(self, course: _Course, level: float) -> float:
        """Turns from now, >= 0, until it falls below this visibility, above 0..1; inf if it never does."""
        state, age = self._since_touch(course)
        if state.visibility < level:
            return 0.0
        if not course.fades:
            return inf
        elapsed = elapsed_until(
            level / state.visibility,
            state.stability,
            state.stability / course.first,
            self.mind.soul.settings.decay,
        )
        return max(elapsed * self.slowing / self.pace - age - self.ahead, 0.0)

    def _since_touch(self, course: _Course) -> tuple[Retention, float]:
        """The state at the last touch, and the turns since then."""
        first, stored = course.first, course.stored
        fresh = Retention(1.0, first * self.age.growth, self.happened)
        if stored is None:
            return fresh, self.age.last
        age = self.mind.time.age_since(stored.touched, stored.at_turn, self.turn)
        if self.age.is_retold and self.age.last < age:
            # Told again since it was touched: as clear as when it was told.
            stability = max(stored.stability, fresh.stability)
            return replace(fresh, stability=stability), self.age.last
        return stored, age


def _faded(look: _Look) -> FadedText:
    record = record_of(look.mind, look.memory)
    units = [
        MicroUnit(span, look.at_present(course)) for span, course in _unit_courses(look, record)
    ]
    anchors = [
        Anchor(words, kind, look.at_present(course))
        for words, kind, course in _anchor_courses(look, record)
    ]
    return FadedText(_text_by(look.memory, record), tuple(units), tuple(anchors))


def _text_by(memory: Memory, record: FadingRecord | None) -> str:
    """The text of the memory, or its record's text in place of it."""
    reworded = record.reworded if record is not None else None
    return memory.text if reworded is None else reworded


def _unit_courses(look: _Look, record: FadingRecord | None) -> Iterator[tuple[UnitSpan, _Course]]:
    mind, memory = look.mind, look.mind.line_kinds.weighed(look.memory)
    fades, emotion = blurs(mind, memory, look.pace), memory.strongest_emotion
    for span, state in _unit_states(mind, memory, record).items():
        first = unit_stability(span, emotion)
        yield span, _Course(state, first, fades and not stays(memory, span))


def _anchor_courses(
    look: _Look, record: FadingRecord | None
) -> Iterator[tuple[str, AnchorKind, _Course]]:
    mind, memory = look.mind, look.mind.line_kinds.weighed(look.memory)
    fades, emotion = blurs(mind, memory, look.pace), memory.strongest_emotion
    text = _text_by(memory, record)
    for (words, kind), state in _anchor_states(mind, memory, record).items():
        if words in text:
            first = anchor_stability(kind, emotion)
            yield words, kind, _Course(state, first, fades)


def _unit_states(
    mind: Mind, memory: Memory, record: FadingRecord | None
) -> dict[UnitSpan, Retention | None]:
    """The units of a memory with their stored states; None if it was never touched."""
    if record is not None and (record.own_units or record.reworded is not None):
        return {unit.span: unit.retention for unit in record.units}
    touched = record.units if record is not None else ()
    states = {(u.span.start, u.span.end): u.retention for u in touched}
    spans = computed_spans(mind, memory)
    return {span: states.get((span.start, span.end)) for span in spans}


def _anchor_states(
    mind: Mind, memory: Memory, record: FadingRecord | None
) -> dict[tuple[str, AnchorKind], Retention | None]:
    """The anchors of a memory by words and kind, with their stored states; None of untouched ones."""
    touched = record.anchors if record is not None else ()
    states = {(anchor.text, anchor.kind): anchor.retention for anchor in touched}
    if record is not None and record.own_anchors:
        return dict(states)
    drafted = [(w, AnchorKind.SPONTANEOUS) for w in drafted_anchors(mind, memory)]
    return {key: states.get(key) for key in drafted}


def outer_units(units: Iterable[MicroUnit]) -> list[MicroUnit]:
    """The units that lie in no other one, in the order of the text."""
    out: list[MicroUnit] = []
    for unit in sorted(units, key=lambda unit: (unit.span.start, -unit.span.end)):
        if not out or unit.span.end > out[-1].span.end:
            out.append(unit)
    return out

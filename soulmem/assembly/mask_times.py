"""How long a text lasts: the turns until nothing of it can be read any more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from soulmem.assembly.masks import WORD, Stretch, places_of
from soulmem.domain.micro_units import UnitSpan


@dataclass(frozen=True, slots=True)
class UnitTimes:
    """When a unit stops being clear and when its gist is gone, in turns from now, >= 0; inf: never."""

    span: UnitSpan
    clear: float
    gist: float  # >= clear


@dataclass(frozen=True, slots=True)
class AnchorTimes:
    """When an anchor stops being clear, in turns from now, >= 0; inf: never."""

    text: str
    clear: float


@dataclass(frozen=True, slots=True)
class TextTimes:
    """A text with the times of its parts."""

    text: str
    units: Sequence[UnitTimes] = ()
    anchors: Sequence[AnchorTimes] = ()


def readable_until(times: TextTimes, kept: Iterable[Stretch] = (), label: int = 0) -> float:
    """Turns from now, >= 0, from which on the text reads as empty (`masks.read_out`); inf where it never does.

    kept   stretches that stay in any case
    label  characters of the name of who speaks, in front of the text

    Time: proportional to the characters of text and units, and to units * log(units).
    """
    text = times.text
    # By character: from when on a blurred unit hides it
    hidden = np.full(len(text), np.inf)
    for unit in times.units:
        start, end = unit.span.start, unit.span.end
        np.minimum(hidden[start:end], unit.clear, out=hidden[start:end])
    words = [match.start() for match in WORD.finditer(text, label)]
    ends = [min((unit.clear for unit in times.units), default=np.inf)]
    ends.append(float(hidden[words].max(initial=0.0)))
    shown_gists = _with_gists_shown(times.units)
    told_gists = (u for u in shown_gists if u.span.gist and not u.span.is_detail)
    ends += (unit.gist for unit in told_gists)
    shown = [(stretch, np.inf) for stretch in kept]
    for anchor in times.anchors:
        shown += ((place, anchor.clear) for place in places_of(anchor.text, text))
    for (start, end), until in shown:
        # Where all around it is hidden, it can be read as long as it is clear.
        if hidden[start:end].min(initial=np.inf) < until:
            ends.append(until)
    return max(ends)


def _with_gists_shown(units: Iterable[UnitTimes]) -> Iterable[UnitTimes]:
    """The units whose gists are read out for some time, each with `gist` when that ends.

    Of blurred units that overlap only the first one, the outer one, shows its gist: each shows it at most until
    a unit before it that overlaps it is blurred.
    """
    before: list[UnitTimes] = []
    for unit in sorted(units, key=lambda unit: (unit.span.start, -unit.span.end)):
        before = [other for other in before if other.span.end > unit.span.start]
        taken = min((other.clear for other in before), default=np.inf)
        if unit.clear < min(unit.gist, taken):
            yield UnitTimes(unit.span, unit.clear, min(unit.gist, taken))
        before.append(unit)

"""How long a text lasts is what reading it at each time says."""

from __future__ import annotations

from datetime import datetime, timezone
from math import inf

from hypothesis import given
from hypothesis import strategies as st

from soulmem.assembly.mask_times import (
    AnchorTimes,
    TextTimes,
    UnitTimes,
    readable_until,
)
from soulmem.assembly.masks import Stretch, read_out
from soulmem.domain.micro_units import (
    Anchor,
    AnchorKind,
    MicroUnit,
    Retention,
    UnitSpan,
)

MOMENT = datetime(2026, 1, 1, tzinfo=timezone.utc)
LAST = 8  # of the times that are drawn
TIMES = st.integers(0, LAST) | st.just(inf)


@st.composite
def stretches(draw: st.DrawFn, size: int) -> Stretch:
    """A stretch of a text of so many characters."""
    start = draw(st.integers(0, size - 1))
    return start, draw(st.integers(start + 1, size))


@st.composite
def texts(draw: st.DrawFn) -> tuple[TextTimes, list[Stretch], int]:
    """A text, what is kept of it and the length of its label: words and marks, parts that nest and overlap."""
    text = draw(st.text("ab .,", min_size=1, max_size=12))
    units = []
    for _ in range(draw(st.integers(0, 4))):
        clear, gist = sorted((draw(TIMES), draw(TIMES)))
        span = UnitSpan(*draw(stretches(len(text))), draw(st.sampled_from(["", "g"])))
        units.append(UnitTimes(span, clear, gist))
    anchors = []
    for _ in range(draw(st.integers(0, 2))):
        start, end = draw(stretches(len(text)))
        anchors.append(AnchorTimes(text[start:end], draw(TIMES)))
    kept = draw(st.lists(stretches(len(text)), max_size=1))
    label = draw(st.integers(0, len(text) // 2))
    units = [unit for unit in units if unit.span.start >= label]
    return TextTimes(text, units, anchors), kept, label


def is_empty_at(times: TextTimes, kept: list[Stretch], label: int, time: float) -> bool:
    """Whether the text reads as empty at that time."""

    def state(clear: float, gist: float = inf) -> Retention:
        visibility = 0.9 if time < clear else 0.4 if time < gist else 0.1
        return Retention(visibility, 600.0, MOMENT)

    units = [MicroUnit(u.span, state(u.clear, u.gist)) for u in times.units]
    anchors = [Anchor(a.text, AnchorKind.SPONTANEOUS, state(a.clear)) for a in times.anchors]
    return read_out(times.text, units, anchors, kept, label=label).is_empty


@given(texts())
def test_it_lasts_until_it_reads_as_empty_for_good(
    case: tuple[TextTimes, list[Stretch], int],
) -> None:
    times, kept, label = case
    empty = [is_empty_at(times, kept, label, time) for time in range(LAST + 1)]
    told = [time for time, is_empty in enumerate(empty) if not is_empty]
    expected = told[-1] + 1 if told else 0
    assert readable_until(times, kept, label) == (inf if expected > LAST else expected)


def test_of_a_thousand_clauses_the_gist_that_lasts_longest_is_the_end() -> None:
    """Each has a detail, whose gist is told only until its clause blurs."""
    units = []
    for start in range(0, 20_000, 20):
        units.append(UnitTimes(UnitSpan(start, start + 20, "g"), 10.0, 20.0 + start))
        units.append(UnitTimes(UnitSpan(start, start + 5, "d"), 5.0, 90_000.0))
    assert readable_until(TextTimes("ab " * 6667, units)) == 20.0 + 19_980

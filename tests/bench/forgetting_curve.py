"""How do strengths and texts fade? The plots and the table of docs/forgetting.md, from the code that forgets.

    python -m tests.bench.forgetting_curve [--page docs/forgetting.md]

Without a page it prints the table. The plots are SVG files beside the page.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from soulmem.assembly.masks import Thresholds, read_out
from soulmem.conversation.micro_units import unit_spans
from soulmem.domain.forgetting_curve import SPACING, Decay, retained
from soulmem.domain.micro_units import (
    ANCHOR_STABILITY,
    UNIT_STABILITY,
    AnchorKind,
    MicroUnit,
    Retention,
    UnitSpan,
    unit_stability,
)
from soulmem.language.gists import topic_frame
from tests.bench.page import put, table

_MOMENT = datetime(2026, 1, 1, tzinfo=timezone.utc)
_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 720, 300, 46, 36
_COLOURS = ("#1f6f8b", "#c8553d", "#588157", "#7b4b94", "#b08900")
_TURNS = (0, 100, 250, 350, 600, 1200)  # of the table
_SAMPLE = "Mia: I sailed down to Lund with Tom on Friday, and he gave me a silver locket."
_NAMES = {"Tom": "her brother", "Lund": ""}
_LABEL = len("Mia: ")


@dataclass(frozen=True, slots=True)
class Curve:
    """A line of a plot: its label, and the value, 0..1, by turns."""

    label: str
    value: Callable[[float], float]


def curves_of_decay() -> list[Curve]:
    """A text that is never recalled, and one that three spaced recalls had made more stable, by both curves."""
    growth = SPACING**3
    stable = UNIT_STABILITY * growth
    spontaneous, forced = (
        UNIT_STABILITY * ANCHOR_STABILITY[kind]
        for kind in (AnchorKind.SPONTANEOUS, AnchorKind.FORCED)
    )
    return [
        Curve("never recalled", lambda t: retained(t, UNIT_STABILITY)),
        Curve("three spaced recalls", lambda t: retained(t, stable, growth)),
        Curve("three, hybrid", lambda t: retained(t, stable, growth, Decay.HYBRID)),
        Curve("spontaneous anchor", lambda t: retained(t, spontaneous)),
        Curve("forced anchor", lambda t: retained(t, forced)),
    ]  # fmt: skip


def curves_of_sample() -> list[Curve]:
    """The parts of the sample text."""
    return [_curve_of(span) for span in _spans()]


def readings() -> list[tuple[int, str, str]]:
    """How the sample reads after so many turns, in words and with masks."""
    out = []
    for turns in _TURNS:
        units = []
        for span in _spans():
            stability = unit_stability(span, 0.0)
            state = Retention(retained(turns, stability), stability, _MOMENT)
            units.append(MicroUnit(span, state))
        masked, worded = (
            read_out(_SAMPLE, units, frame=frame, label=_LABEL)
            for frame in ("", topic_frame(_SAMPLE))
        )
        told = "(not told)" if worded.is_empty else worded.text
        out.append((turns, told, masked.text))
    return out


def plot(curves: Sequence[Curve], turns: int) -> str:
    """The curves up to so many turns as SVG, with the thresholds of what is read out."""
    right = _WIDTH - 190
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif"'
        ' font-size="12">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#fff"/>',
    ]
    limits = Thresholds()
    marks = {1.0: "", limits.clear: "clear", limits.gist: "gist", 0.0: ""}
    for share, word in marks.items():
        y = _y(share)
        parts.append(f'<path d="M{_LEFT} {y:.1f}H{right}" stroke="#bbb" fill="none"/>')
        parts.append(f'<text x="4" y="{y + 4:.1f}" fill="#555">{share:g} {word}</text>')
    for step in range(5):
        x = _LEFT + step * (right - _LEFT) / 4
        count = round(step * turns / 4)
        parts.append(f'<text x="{x:.1f}" y="{_HEIGHT - 12}" fill="#555">{count}</text>')
    parts.append(f'<text x="{right + 34}" y="{_HEIGHT - 12}" fill="#555">turns</text>')
    for number, curve in enumerate(curves):
        colour = _COLOURS[number % len(_COLOURS)]
        points = []
        for step in range(121):
            x = _LEFT + step * (right - _LEFT) / 120
            points.append(f"{x:.1f} {_y(curve.value(step * turns / 120)):.1f}")
        path = "L".join(points)
        parts.append(f'<path d="M{path}" stroke="{colour}" stroke-width="2" fill="none"/>')
        y = 24 + 18 * number
        parts.append(f'<text x="{right + 10}" y="{y}" fill="{colour}">{curve.label}</text>')
    return "\n".join([*parts, "</svg>", ""])


def write(page: Path) -> None:
    """Renew the plots beside the page, and its table."""
    folder = page.parent
    files = {
        "forgetting-curves.svg": plot(curves_of_decay(), 6000),
        "forgetting-text.svg": plot(curves_of_sample(), 1200),
    }
    for name, svg in files.items():
        (folder / name).write_text(svg, encoding="utf-8")
    put(page, "sample", sample_table())


def sample_table() -> str:
    """The readings as Markdown."""
    rows = [(f"{turns}", *texts) for turns, *texts in readings()]
    heads = ("turns", "in words", "with masks")
    return table(heads, rows).replace("---:", "---")


def main() -> None:
    """See the head of this file."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.forgetting_curve")
    parser.add_argument("--page", type=Path, help="the page whose table is renewed")
    page = parser.parse_args().page
    if page is None:
        print(sample_table())
    else:
        write(page)


def _spans() -> tuple[UnitSpan, ...]:
    return unit_spans(_SAMPLE, _NAMES, "Lund", _LABEL)


def _curve_of(span: UnitSpan) -> Curve:
    stability = unit_stability(span, 0.0)
    words = _SAMPLE[span.start : span.end]
    label = words if len(words) <= 22 else words[:21] + "…"
    return Curve(label, lambda turns: retained(turns, stability))


def _y(share: float) -> float:
    return 16 + (1.0 - share) * (_HEIGHT - 16 - _BOTTOM)


if __name__ == "__main__":
    main()

"""Text of a fact that is no longer valid, in English or Chinese."""

from __future__ import annotations

from datetime import datetime

from soulmem.assembly.compose import language_of
from soulmem.assembly.dates import span_text
from soulmem.domain.digests import first_instant_after

_PAST = {
    "en": ("{} (no longer so)", "{} (until {}, no longer so)"),
    "zh": ("{}（现已不再如此）", "{}（到{}为止，现已不再如此）"),
}


def as_past(text: str, until: datetime | None, story: str | None = None) -> str:
    """The fact with a note that it has ended: at the time `story` names, else on the day of `until` (aware);
    with neither, the note has no time.
    """
    language = language_of([text])
    bare, dated = _PAST[language]
    if story is None and until is None:
        return bare.format(text)
    if story is None and until is not None:
        story = span_text(until, first_instant_after(until), 0, language)
    return dated.format(text, story)

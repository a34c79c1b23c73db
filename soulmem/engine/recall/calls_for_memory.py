"""Whether a query calls for a memory of this soul, or is small talk that any line of any chat could be."""

from __future__ import annotations

from dataclasses import dataclass

from soulmem.engine.recall.context import RecallContext
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.retrieval.restraint import bar

_NAMED = "it names somebody or something that this soul knows"
_ASKED = "it asks about something that few texts of this soul say"
_SAID = "it says of this soul what few say of anything: {:.1f} times what is needed"


@dataclass(frozen=True, slots=True)
class Evidence:
    """That the newest text of a query calls for a memory of this soul.

    strength   see `retrieval.restraint`
    by_tokens  whether token states give it; else words and sentence vectors do
    is_named   whether it names somebody or something that the soul knows, and names decide
    asks       whether it asks about a word that few texts of the soul have, and such words decide
    """

    strength: float
    by_tokens: bool = True
    is_named: bool = False
    asks: bool = False


@compute_only
def calls_for_memory(context: RecallContext, evidence: Evidence) -> str | None:
    """What of the query calls for a memory of this soul, in words; None where nothing does.

    Length is no reason: a memory is pointed at in four words, and small talk made in thirty.
    """
    request = context.request
    if context.restraint == 0.0:
        return "this character tells all that comes to mind"
    if request.intent or request.tags or request.time_range or _asks_for_past(context):
        return "a time, an intent or tags were given"
    if evidence.is_named:
        return _NAMED
    if evidence.asks:
        return _ASKED
    least = bar(context.restraint, context.generosity)
    if evidence.strength < least:
        return None
    return _SAID.format(evidence.strength / least)


def _asks_for_past(context: RecallContext) -> bool:
    """Whether the query names a time that is over: today is in every other line."""
    asked = context.asked_time
    if asked is None:
        return False
    if any(phrase.sessions is not None for phrase in asked.phrases):
        return True
    ends = [span.end for phrase in asked.phrases for span in phrase.spans]
    return min(ends) <= asked.current_time

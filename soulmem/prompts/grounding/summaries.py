"""How far lines carry a summary, sentence by sentence."""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean

from soulmem.domain.derivations import WAITING
from soulmem.domain.drafts import DraftSummary, Passage, PassageLine
from soulmem.language.segmentation import sentences
from soulmem.prompts.grounding.evidence import Grounds
from soulmem.prompts.grounding.support import MOST_STRICT, Support


def grounded_summary(
    text: str, passage: Passage, *, is_strict: bool = False
) -> DraftSummary:
    """The summary with its confidence, the mean over its sentences.

    A strict reading asks how much of them is copied from a line and the next, or from the summary before.

    A chat has one summary: it is there, however little carries it, rather than wait for a word of the user.
    """
    whole = _with_summary_as_line(passage)
    support = Support(whole, Grounds(whole), is_strict=is_strict)
    every = tuple(line.number for line in whole.lines)
    shares = [
        support.copied(sentence) if is_strict else support.of(sentence, every)
        for sentence in sentences(text)
    ]
    most = MOST_STRICT if is_strict else 1.0
    confidence = max(WAITING, min(most, fmean(shares or [0.0])))
    return DraftSummary(text, round(confidence, 3))


def _with_summary_as_line(passage: Passage) -> Passage:
    """The passage with the summary before as its last line, told by nobody."""
    if not passage.summary:
        return passage
    number = 1 + max((line.number for line in passage.lines), default=0)
    before = PassageLine(number + 1, "", passage.summary)  # next to no line
    return replace(passage, lines=(*passage.lines, before))

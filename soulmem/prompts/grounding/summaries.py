"""How far lines carry a summary, sentence by sentence."""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean

from soulmem.domain.drafts import DraftSummary, Passage, PassageLine
from soulmem.language.scripts import is_unspaced
from soulmem.language.segmentation import sentences
from soulmem.prompts.grounding.evidence import Grounds
from soulmem.prompts.grounding.support import MOST_STRICT, Support

_COPIED = (
    0.5  # least share of a sentence's clauses that a strict reading wants to be copied
)


def grounded_summary(
    text: str, passage: Passage, *, is_strict: bool = False
) -> DraftSummary:
    """The summary with its confidence, the mean over its sentences.

    A strict reading keeps the sentences that are copied for the better part, from a line and the next or from the
    summary before; it is blank without any.
    """
    whole = _with_summary_as_line(passage)
    support = Support(whole, Grounds(whole), is_strict=is_strict)
    every = tuple(line.number for line in whole.lines)
    kept, shares = list[str](), list[float]()
    for sentence in sentences(text):
        share = support.copied(sentence) if is_strict else support.of(sentence, every)
        if not is_strict or share >= _COPIED:
            kept.append(sentence)
            shares.append(min(MOST_STRICT, share) if is_strict else share)
    if not kept:
        return DraftSummary("")
    joined = ("" if is_unspaced(text) else " ").join(kept)
    return DraftSummary(joined if is_strict else text, round(fmean(shares), 3))


def _with_summary_as_line(passage: Passage) -> Passage:
    """The passage with the summary before as its last line, told by nobody."""
    if not passage.summary:
        return passage
    number = 1 + max((line.number for line in passage.lines), default=0)
    before = PassageLine(number + 1, "", passage.summary)  # next to no line
    return replace(passage, lines=(*passage.lines, before))

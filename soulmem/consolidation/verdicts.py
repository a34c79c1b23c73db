"""Effect of the user's verdict on a recalled memory: its score, and the edges of the path to it."""

from __future__ import annotations

from dataclasses import replace

from soulmem.consolidation.plasticity import (
    FLOOR,
    PlasticityParams,
    depressed,
    potentiated,
    strength_before,
)
from soulmem.domain.dialogue import text_hash
from soulmem.domain.ids import ChatId
from soulmem.domain.opinions import Opinion, Verdict

_STEP = 0.3  # 0..1, share of the distance to the end of the scale that a verdict moves the score
OUTER = 3.0  # >= 0, plasticity updates that one verdict is worth; design 4.7


def opinion_after(
    opinion: Opinion,
    verdict: Verdict,
    text: str,
    chat: ChatId | None,
) -> Opinion:
    """The opinion after a verdict on a memory of this text, given in `chat`; `never_here` needs a chat."""
    if verdict is Verdict.STRONGER:
        score = opinion.score + _STEP * (1.0 - opinion.score)
        return replace(opinion, score=min(1.0, score), doubted=None)
    if verdict is Verdict.WRONG:
        return replace(opinion, score=opinion.score * (1.0 - _STEP), doubted=text_hash(text))
    if verdict is Verdict.NEVER_HERE and chat is not None and chat not in opinion.not_in:
        return replace(opinion, not_in=(*opinion.not_in, chat))
    return opinion


def rated(opinion: Opinion, useful: float) -> Opinion:
    """The opinion after a rating of 0 (of no use) .. 1: the score moves a share of the way to it."""
    return replace(opinion, score=opinion.score + _STEP * (useful - opinion.score))


def strength_after(
    strength: float,
    verdict: Verdict,
    *,
    keep: bool,
    plasticity: PlasticityParams,
) -> float:
    """The strength, 0..1, after the verdict, of an edge on the path to the memory.

    keep  whether the edge was used before; then it does not fall below the floor
    """
    if verdict is Verdict.STRONGER:
        more = replace(plasticity, eta=min(1.0, OUTER * plasticity.eta))
        return potentiated(strength, 1.0, more)
    if verdict in (Verdict.WRONG, Verdict.NOT_NOW):
        # Takes back at least what `OUTER` unjudged uses have added.
        less = replace(plasticity, eta_d=min(1.0, OUTER * plasticity.eta_d))
        lower = min(
            depressed(strength, keep=False, params=less),
            strength_before(strength, OUTER, plasticity),
        )
        return max(lower, min(strength, FLOOR)) if keep else lower
    return strength

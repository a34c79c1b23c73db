"""Effect of the user's verdict on a recalled memory: its score, and the edges of the path to it."""

from __future__ import annotations

from dataclasses import dataclass, replace

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


@dataclass(frozen=True, slots=True)
class FeedbackParams:
    """Effect of one verdict."""

    step: float = 0.3  # 0..1, share of the distance to the end of the scale that a verdict moves the score
    outer: float = 3.0  # >= 0, plasticity updates that one verdict is worth; design 4.7


def opinion_after(
    opinion: Opinion,
    verdict: Verdict,
    text: str,
    chat: ChatId | None,
    params: FeedbackParams,
) -> Opinion:
    """The opinion after a verdict on a memory of this text, given in `chat`; `never_here` needs a chat."""
    if verdict is Verdict.STRONGER:
        score = opinion.score + params.step * (1.0 - opinion.score)
        return replace(opinion, score=min(1.0, score), doubted=None)
    if verdict is Verdict.WRONG:
        return replace(
            opinion, score=opinion.score * (1.0 - params.step), doubted=text_hash(text)
        )
    if (
        verdict is Verdict.NEVER_HERE
        and chat is not None
        and chat not in opinion.not_in
    ):
        return replace(opinion, not_in=(*opinion.not_in, chat))
    return opinion


def rated(opinion: Opinion, useful: float, params: FeedbackParams) -> Opinion:
    """The opinion after a rating of 0 (of no use) .. 1: the score moves a share of the way to it."""
    return replace(
        opinion, score=opinion.score + params.step * (useful - opinion.score)
    )


def strength_after(
    strength: float,
    verdict: Verdict,
    *,
    keep: bool,
    plasticity: PlasticityParams,
    params: FeedbackParams,
) -> float:
    """The strength, 0..1, after the verdict, of an edge on the path to the memory.

    keep  whether the edge was used before; then it does not fall below the floor
    """
    if verdict is Verdict.STRONGER:
        more = replace(plasticity, eta=min(1.0, params.outer * plasticity.eta))
        return potentiated(strength, 1.0, more)
    if verdict in (Verdict.WRONG, Verdict.NOT_NOW):
        # Takes back at least what `outer` unjudged uses have added.
        less = replace(plasticity, eta_d=min(1.0, params.outer * plasticity.eta_d))
        lower = min(
            depressed(strength, keep=False, params=less),
            strength_before(strength, params.outer, plasticity),
        )
        return max(lower, min(strength, FLOOR)) if keep else lower
    return strength

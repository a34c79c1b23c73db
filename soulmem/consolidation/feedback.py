"""What does a word of the user about a recalled memory change: its score, and the way that led to it?"""

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
    """How much a word weighs."""

    step: float = (
        0.3  # 0..1, of the way to the end of the scale that a score goes at each word
    )
    outer: float = 3.0  # >= 0, lessons of a recall that one word is worth; design 4.7


def opinion_after(
    opinion: Opinion,
    verdict: Verdict,
    text: str,
    chat: ChatId | None,
    params: FeedbackParams,
) -> Opinion:
    """The opinion after the word about a memory of this text. `chat` is where it was said; `never_here`
    needs one.
    """
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


def strength_after(
    strength: float,
    verdict: Verdict,
    *,
    keep: bool,
    plasticity: PlasticityParams,
    params: FeedbackParams,
) -> float:
    """The strength, 0..1, of an edge of the way to the memory after the word.

    keep  whether it was of use before, so that it does not fall below the floor by this
    """
    if verdict is Verdict.STRONGER:
        more = replace(plasticity, eta=min(1.0, params.outer * plasticity.eta))
        return potentiated(strength, 1.0, more)
    if verdict in (Verdict.WRONG, Verdict.NOT_NOW):
        # At least what as many silent uses had added: a word counts for no less than silence.
        less = replace(plasticity, eta_d=min(1.0, params.outer * plasticity.eta_d))
        lower = min(
            depressed(strength, keep=False, params=less),
            strength_before(strength, params.outer, plasticity),
        )
        return max(lower, min(strength, FLOOR)) if keep else lower
    return strength

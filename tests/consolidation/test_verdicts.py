"""Verdicts: scores stay in range, edges of the path grow or weaken, nothing else changes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from soulmem.consolidation.plasticity import FLOOR, PlasticityParams, potentiated
from soulmem.consolidation.verdicts import opinion_after, strength_after
from soulmem.domain.ids import ChatId, MemoryId, SoulId
from soulmem.domain.opinions import Opinion, Verdict

HOW = PlasticityParams()
HERE = ChatId("c1")
FRESH = Opinion(MemoryId("m1"), SoulId("s1"))


@given(st.lists(st.sampled_from(Verdict), max_size=30))
def test_any_words_leave_a_score_in_range(words: list[Verdict]) -> None:
    opinion = FRESH
    for word in words:
        before = opinion
        opinion = opinion_after(opinion, word, "a wording", HERE)
        assert 0.0 <= opinion.score <= 1.0
        if word is Verdict.STRONGER:
            assert opinion.score > before.score or before.score > 0.999
        elif word is Verdict.WRONG:
            assert opinion.score < before.score
        else:
            assert opinion.score == before.score
    assert opinion.not_in == ((HERE,) if Verdict.NEVER_HERE in words else ())
    stated = [word for word in words if word in (Verdict.WRONG, Verdict.STRONGER)]
    assert opinion.doubts("a wording") is (bool(stated) and stated[-1] is Verdict.WRONG)
    assert not opinion.doubts("another wording")


@given(st.floats(0.0, 1.0), st.booleans())
def test_ways_grow_with_praise_and_weaken_with_blame(strength: float, keep: bool) -> None:
    def after(word: Verdict) -> float:
        return strength_after(strength, word, keep=keep, plasticity=HOW)

    assert strength <= after(Verdict.STRONGER) <= 1.0
    assert after(Verdict.WRONG) == after(Verdict.NOT_NOW) <= strength
    assert after(Verdict.NEVER_HERE) == strength
    if keep:
        assert after(Verdict.WRONG) >= min(strength, FLOOR)
    used = strength
    for _ in range(3):
        used = potentiated(used, 1.0, HOW)
    undone = strength_after(used, Verdict.NOT_NOW, keep=keep, plasticity=HOW)
    assert undone <= max(strength + 1e-12, FLOOR if keep else 0.0)
    if 0.0 < strength < 0.999:  # above, the gain is less than a rounding
        assert (
            after(Verdict.STRONGER) - strength >= (1.0 - strength) * HOW.eta
        )  # more than a recall teaches

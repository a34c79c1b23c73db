"""How far lines carry a summary: a strict reading believes half of what is copied."""

from __future__ import annotations

from dataclasses import replace

import pytest

from soulmem.domain.derivations import WAITING
from soulmem.domain.drafts import DraftSummary, Passage
from soulmem.prompts.summary import grounded_summary
from tests.prompts.passages import EN, ZH

COPIED = "Hester buried the locket in the bakery, and Lena promised Anton to feed his cat."
INVENTED = "Nora and her friends learn about the history and culture of the village."
COPIED_ZH = "外婆把怀表藏在了阁楼的箱子里。"
INVENTED_ZH = "他们一起去了王宫参加国王的婚礼。"


@pytest.mark.parametrize(
    ("chat", "copied", "invented"),
    [(EN, COPIED, INVENTED), (ZH, COPIED_ZH, INVENTED_ZH)],
)
def test_a_strict_reading_believes_half_of_what_is_copied(
    chat: Passage, copied: str, invented: str
) -> None:
    told = grounded_summary(copied, chat, is_strict=True)
    assert told == DraftSummary(copied, 0.5)
    told = grounded_summary(invented, chat, is_strict=True)
    assert told == DraftSummary(invented, WAITING)
    assert grounded_summary(copied, chat).confidence == 1.0
    assert grounded_summary(invented, chat).confidence < 0.5


def test_the_summary_before_carries_what_is_kept_of_it() -> None:
    known = "Lena won the archery contest at the spring fair."
    chat = replace(EN, summary=known)
    assert grounded_summary(known, chat, is_strict=True).confidence == 0.5
    assert grounded_summary(known, EN, is_strict=True).confidence == WAITING
    assert grounded_summary(f"{known} {COPIED}", chat).confidence == 1.0

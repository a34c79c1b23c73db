"""How far lines carry a summary: a strict reading keeps copied sentences, none of them at full confidence."""

from __future__ import annotations

from dataclasses import replace

import pytest

from soulmem.domain.drafts import DraftSummary, Passage
from soulmem.prompts.grounding.summaries import grounded_summary
from tests.prompts.passages import EN, ZH

COPIED = (
    "Hester buried the locket in the bakery, and Lena promised Anton to feed his cat."
)
INVENTED = "Nora and her friends learn about the history and culture of the village."
COPIED_ZH = "外婆把怀表藏在了阁楼的箱子里。"
INVENTED_ZH = "他们一起去了王宫参加国王的婚礼。"


@pytest.mark.parametrize(
    ("chat", "copied", "invented", "space"),
    [(EN, COPIED, INVENTED, " "), (ZH, COPIED_ZH, INVENTED_ZH, "")],
)
def test_a_strict_reading_keeps_what_is_copied(
    chat: Passage, copied: str, invented: str, space: str
) -> None:
    both = f"{invented}{space}{copied}"
    plain = grounded_summary(both, chat)
    assert plain.text == both
    strict = grounded_summary(both, chat, is_strict=True)
    assert strict.text == copied
    assert 0.25 <= strict.confidence <= 0.5
    assert grounded_summary(invented, chat, is_strict=True) == DraftSummary("")
    assert grounded_summary(copied, chat).confidence == 1.0
    assert grounded_summary(invented, chat).confidence < 0.5


def test_the_summary_before_carries_what_is_kept_of_it() -> None:
    known = "Lena won the archery contest at the spring fair."
    chat = replace(EN, summary=known)
    told = f"{known} {COPIED}"
    assert grounded_summary(told, chat, is_strict=True).text == told
    assert grounded_summary(told, EN, is_strict=True).text == COPIED
    assert grounded_summary(told, chat).confidence == 1.0

"""Why the sidecar changed a memory by itself: what the audit stores, and what a page says for it."""

from __future__ import annotations

from soulmem.domain.opinions import Verdict
from soulmem.domain.phrases import Wording, phrase

CONSOLIDATION = phrase("reason_consolidation", "consolidation")
REPLAY = phrase("reason_replay", "replay")
DIGEST = phrase("reason_digest", "digest")
HIGHLIGHT = phrase("reason_highlight", "highlight")
REWORDED = phrase("reason_reworded", "it was told with gaps, and the reply filled them")
TOLD_AGAIN = phrase("reason_told_again", "told again")
TWO_NAMES = phrase("reason_two_names", "two names of one")
ONE_NAME = phrase("reason_one_name", "two things of one name")
TOGETHER = phrase("reason_together", "recalled together")
FOUND_IN_BIN = phrase("reason_found_in_bin", "found in the bin")

_BY_TEXT = {
    str(reason): reason
    for reason in (
        *(CONSOLIDATION, REPLAY, DIGEST, HIGHLIGHT, REWORDED, TOLD_AGAIN),
        *(TWO_NAMES, ONE_NAME, TOGETHER, FOUND_IN_BIN),
    )
} | {
    Verdict.STRONGER.value: phrase("reason_stronger", "more of this"),
    Verdict.WRONG.value: phrase("reason_wrong", "wrong"),
    Verdict.NOT_NOW.value: phrase("reason_not_now", "not now"),
    Verdict.NEVER_HERE.value: phrase("reason_never_here", "never again in this chat"),
}


def reason_of(stored: str) -> Wording:
    """The phrase of a stored reason; the text itself where a model or the user gave it."""
    return _BY_TEXT.get(stored, stored)

"""Why a memory was left out, in words."""

from __future__ import annotations

import pytest

from soulmem.assembly.omitted import Omitted, omission_text
from soulmem.language.scripts import is_unspaced


@pytest.mark.parametrize("omitted", Omitted)
def test_every_reason_has_words_in_both_languages(omitted: Omitted) -> None:
    english, chinese = omission_text(omitted, "en"), omission_text(omitted, "zh")
    assert english.isascii()
    assert len(english) > 10
    assert any(map(is_unspaced, chinese))

"""Messages that deny what was said before, and messages that do not."""

from __future__ import annotations

import pytest

from soulmem.engine.learning.reply_feedback import is_correction


@pytest.mark.parametrize(
    "text",
    [
        "No, that's not how it was.",
        "That is wrong, we never went there.",
        "*shakes her head* That isn\u2019t true.",
        "No. You're mixing it up with the mill.",
        "you got it wrong again",
        "Hm. I never said that!",
        "It never happened.",
        "No, I didn't say that.",
        "不对，那是在磨坊。",
        "你记错了吧。",
        "（摇头）不是这样的，我们没去过。",
        "根本没有这回事！",
        "我从来没说过这种话。",
    ],
)
def test_a_denial_is_heard(text: str) -> None:
    assert is_correction(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "No, thank you.",
        "Not now, I am tired.",
        "That's right, I remember.",
        "Is that wrong of me? I think it is fine to be wrong.",
        "I was wrong about the weather.",
        "Do you remember what I never told anyone?",
        "Let us go. It rains. That is wrong, somehow.",
        "好的，我们走吧。",
        "不要紧。",
        "有点不对劲。",
        "我觉得你没有错。",
        "Das stimmt nicht.",
    ],
)
def test_other_lines_are_none(text: str) -> None:
    assert not is_correction(text)

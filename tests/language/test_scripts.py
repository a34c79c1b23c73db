"""Which texts are mostly in a script without spaces between words?"""

from __future__ import annotations

import pytest

from soulmem.language.scripts import is_unspaced


@pytest.mark.parametrize(
    "text", ["林月睡不着。", "Mira: 我们走吧，好不好？", "カエルが鳴く。", "사랑해요"]
)
def test_most_of_it_is(text: str) -> None:
    assert is_unspaced(text)


@pytest.mark.parametrize(
    "text", ["She said nothing.", "Lin Yue (林月) plays the flute at night.", "", "42!"]
)
def test_most_of_it_is_not(text: str) -> None:
    assert not is_unspaced(text)

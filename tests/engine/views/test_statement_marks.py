"""Texts about the same things that do not claim the same are told apart."""

from __future__ import annotations

import pytest

from soulmem.engine.views.alike_tellings import statement_marks


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("I stole the flag.", "I did not steal the flag."),
        ("I stole the flag.", "I didn't steal the flag."),
        ("I stole the flag.", "I will steal the flag."),
        ("I stole the flag.", "I'll steal the flag."),
        ("We stole two flags.", "We stole three flags."),
        ("It is in room 20.", "It is in room 21."),
        ("He stole the flag.", "She stole the flag."),
        ("You stole the flag.", "You stole the flag?"),
        ("我偷了旗子。", "我没偷旗子。"),
        ("我偷了旗子。", "如果我偷了旗子。"),
        ("我偷了两面旗子。", "我偷了三面旗子。"),
        ("他偷了旗子。", "她偷了旗子。"),
        ("你偷了旗子。", "你偷了旗子？"),
        ("Ich habe die Fahne gestohlen.", "Ich habe die Fahne nicht gestohlen."),
    ],
)
def test_what_claims_something_else_has_other_marks(text: str, other: str) -> None:
    assert statement_marks(text) != statement_marks(other)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("You know, nobody ever noticed.", "Nobody noticed it."),
        ("Well, I stole the flag one night.", "I stole the flag that night."),
        ("一直没人发现。", "谁也没发现。"),
        ("It costs 20 euros.", "It costs ２０ euros!"),
    ],
)
def test_what_claims_the_same_has_the_same_marks(text: str, other: str) -> None:
    assert statement_marks(text) == statement_marks(other)

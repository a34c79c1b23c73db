"""What a text matters follows from the kinds of its lines."""

from __future__ import annotations

import numpy as np
import pytest

from soulmem.conversation.importance import UNREAD, importance_by_words, importances
from soulmem.language.kinds.line_kinds import KINDS


def of(**scores: float) -> float:
    """The importance of a text with these scores, and 0 for other kinds."""
    row = [scores.get(kind, 0.0) for kind in KINDS]
    return float(importances(np.array([row], np.float32))[0])


def test_what_is_no_kind_for_sure_matters_a_little() -> None:
    assert of() == pytest.approx(UNREAD)


def test_momentous_lines_matter_most_then_promises_and_facts_and_filler_least() -> None:
    order = [of(**{kind: 1.0}) for kind in ("momentous", "promise", "fact")]
    assert order == sorted(order, reverse=True)
    assert min(order) >= 0.6
    assert of(filler=1.0) < of(plain=1.0) < UNREAD


def test_what_matters_is_not_lowered_by_plain_words_beside_it() -> None:
    assert of(momentous=1.0, plain=1.0) == pytest.approx(of(momentous=1.0))


def test_what_is_surely_plain_is_little_raised_by_what_it_hardly_is() -> None:
    assert of(plain=1.0) < of(plain=0.97, fact=0.2) < UNREAD
    # Where both are as likely, what matters raises as far as ever.
    assert of(fact=0.6, plain=0.6) > of(fact=0.6) - 0.05


def test_length_and_numbers_say_nothing() -> None:
    short = importance_by_words("It's raining again.")
    long = importance_by_words(" ".join(["It's raining again."] * 20))
    assert long == pytest.approx(short)

"""Reasons of a recall as sentences, in English and Chinese."""

from __future__ import annotations

import pytest

from soulmem.assembly.why import Cause, Reason, Weight, reason_sentence


@pytest.mark.parametrize(
    ("reason", "english", "chinese"),
    [
        (
            Reason(Cause.PERMANENT, ("key",), 3),
            "Mira never forgets this: it is a permanent memory.",
            "这是永久记忆，Mira不会忘记。",
        ),
        (
            Reason(Cause.WORDS, ("key", "bridge"), 40),
            '"key" and "bridge" came up, and Mira remembers it from 40 turns ago.',
            "提到了「key」和「bridge」，Mira想起了40轮之前的这件事。",
        ),
        (
            Reason(Cause.WORDS, ("key",), 1),
            '"key" came up, and Mira remembers it from 1 turn ago.',
            "提到了「key」，Mira想起了1轮之前的这件事。",
        ),
        (
            Reason(Cause.MEANING, (), 0),
            "It is close in meaning to what is being said.",
            "它和正在说的事意思相近（刚才）。",
        ),
        (
            Reason(Cause.MEANING, ("key",), 2),
            'It is close in meaning to what is being said ("key"); it was 2 turns ago.',
            "它和正在说的事意思相近：「key」（2轮之前）。",
        ),
        (
            Reason(
                Cause.ASSOCIATION,
                (),
                34,
                (
                    "lantern",
                    "The  lighthouse at the very end of the long northern pier",
                ),
            ),
            '"lantern" led Mira to "The lighthouse at the very end of the l…", '
            "that to this from 34 turns ago.",
            "Mira由「lantern」想到「The lighthouse at the very end of the l…」，又想到了34轮之前的这件事。",
        ),
        (
            Reason(Cause.ASSOCIATION, (), 1, ("灯笼",)),
            '"灯笼" led Mira to this from 1 turn ago.',
            "Mira由「灯笼」想到了1轮之前的这件事。",
        ),
        (
            Reason(Cause.LEARNED, (), 4, ("umbrella", "penguin")),
            '"umbrella" makes Mira think of "penguin", and so of this from 4 turns ago.',
            "「umbrella」让Mira想到「penguin」，于是想起了4轮之前的这件事。",
        ),
        (
            Reason(Cause.LEARNED, (), 4, ("umbrella", "penguin", "ice")),
            '"umbrella" makes Mira think of "penguin", that of "ice", and so of this from 4 turns ago.',
            "「umbrella」让Mira想到「penguin」，又想到「ice」，于是想起了4轮之前的这件事。",
        ),
        (
            Reason(Cause.NEIGHBOUR, ("key",), 2),
            "It stands right beside another moment that came to mind, 2 turns ago.",
            "它紧挨着另一段被想起的往事（2轮之前）。",
        ),
        (
            Reason(Cause.WORDS, ("key",), 2, weighed=(Weight.WORDS, Weight.PROMISE)),
            '"key" came up, and Mira remembers it from 2 turns ago. '
            "It came mainly because it is a promise.",
            "提到了「key」，Mira想起了2轮之前的这件事。主要是因为那是一个承诺。",
        ),
        (
            Reason(Cause.MEANING, weighed=(Weight.NAMED, Weight.AT_HAND)),
            "It is close in meaning to what is being said. It came mainly because both say the same name and "
            "it, or something linked to it, was in mind lately or often.",
            "它和正在说的事意思相近（刚才）。主要是因为两边提到同一个名字，又因为它或相关的事最近想起过，或常常想起。",
        ),
        (
            Reason(Cause.PERMANENT, weighed=(Weight.TEXT,)),
            "Mira never forgets this: it is a permanent memory.",
            "这是永久记忆，Mira不会忘记。",
        ),
    ],
)
def test_the_sentence(reason: Reason, english: str, chinese: str) -> None:
    """Cue, memory and age, in the language of the chat."""
    assert reason_sentence(reason, "Mira", "en") == english
    assert reason_sentence(reason, "Mira", "zh") == chinese


def test_words_without_a_shared_one_is_meaning() -> None:
    """Never an empty quotation."""
    assert reason_sentence(Reason(Cause.WORDS, (), 5), "Mira", "en") == reason_sentence(
        Reason(Cause.MEANING, (), 5), "Mira", "en"
    )


@pytest.mark.parametrize("cause", Cause)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_two_words_at_most(cause: Cause, language: str) -> None:
    """A third shared word is not named."""
    assert "third" not in reason_sentence(
        Reason(cause, ("first", "second", "third"), 5), "Mira", language
    )

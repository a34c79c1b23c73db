"""What does a query ask for beside its words?"""

from __future__ import annotations

import pytest

from soulmem.retrieval.guidance import GuidanceParams, guidance_of, parts_of, places


def kinds_of(text: str) -> tuple[float, float]:
    kinds = guidance_of(parts_of(text), {}).kinds
    return kinds["episode"], kinds["fact"]


@pytest.mark.parametrize(
    ("text", "depth"),
    [
        ("Where did we meet?", "careful"),
        ("我们在哪里认识的？", "careful"),
        ("We met in Rome.", "casual"),
        ("", "casual"),
    ],
)
def test_a_question_is_answered_carefully(text: str, depth: str) -> None:
    assert guidance_of(parts_of(text), {}).depth == depth


def test_a_question_wants_facts_or_events() -> None:
    wanted = GuidanceParams().wanted
    assert kinds_of("Who is the queen of the mill?") == (1.0, wanted)
    assert kinds_of("When did the mill burn down?") == (wanted, 1.0)
    assert kinds_of("磨坊的主人叫什么？") == (1.0, wanted)
    assert kinds_of("磨坊是什么时候烧掉的？") == (wanted, 1.0)
    assert kinds_of("I was there when the mill burned down.") == (1.0, 1.0)


def test_a_question_may_ask_why() -> None:
    for text, asks in (
        ("Where was he, and why did he leave?", True),
        ("他为什么走了？", True),
        ("I know why he left.", False),
        ("Who left?", False),
    ):
        assert guidance_of(parts_of(text), {}).causes is asks


def test_irritation_takes_places_from_the_answer() -> None:
    assert places(8, 0.0) == 8
    assert places(8, 1.0) == 4
    assert places(1, 1.0) == 1
    assert guidance_of((), {"anger": 0.7}).irritation == 0.7


def test_the_last_of_too_many_questions_are_one_part() -> None:
    rooms = [f"Where is the key of room {number}?" for number in range(6)]
    parts = parts_of(" ".join(rooms), GuidanceParams(most_parts=3))
    assert len(parts) == 3
    assert all(room in parts[-1] for room in rooms[2:])


def test_only_the_end_of_a_very_long_text_is_split() -> None:
    text = "Where is the key of the mill? " * 50 + "Who has the ledger of the inn?"
    assert parts_of(text, GuidanceParams(most_signs=40))[-1].endswith("of the inn?")
    assert len(parts_of(text, GuidanceParams(most_signs=40))) <= 2

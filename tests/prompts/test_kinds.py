"""The kinds prompt: answers in every form, and kinds with too few scenes are left out."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.domain.drafts import Passage
from soulmem.domain.llm import Unreadable
from soulmem.prompts import kinds
from tests.prompts.passages import passage

RAIN = passage(
    [
        ("Lena", "It pours on the chapel road and we walk home slowly."),
        ("Nora", "Rain again! *walks on, soaked*"),
        ("Lena", "Anton laughs. We splash through puddles, the rain is loud."),
        ("Lena", "The mayor sold the lighthouse."),
        ("Nora", "A cloudburst on the hill, and Anton keeps walking."),
    ]
)
REGEN = passage(
    [
        ("林月", "大雨倾盆，我们慢慢走回家。"),
        ("阿明", "又下雨了，我们都淋湿了。"),
        ("林月", "雨水打在石桥上，头发滴着水。"),
        ("林月", "镇长把灯塔卖掉了。"),
    ],
    soul="林月",
    users=("阿明",),
    language="zh",
)
QUOTES = {
    1: "walk home slowly",
    2: "walks on, soaked",
    3: "splash through puddles",
    5: "keeps walking",
}


def answer(kind: str, *numbers: int, **more: object) -> str:
    """What a good model writes."""
    scenes = [{"line": n, "words": QUOTES.get(n, "the lighthouse")} for n in numbers]
    return json.dumps({"kind": kind, "scenes": scenes, "importance": 0.6, **more})


@pytest.mark.parametrize(
    "text",
    [
        answer("getting wet on a walk", 1, 2, 3, 5),
        f"Sure!\n```json\n{answer('getting wet on a walk', 1, 2, 3, 5)}\n```\nAnything else?",
        f"<think>rain..</think>{answer('getting wet on a walk.', 5, 3, 2, 1, 1)}",
        answer("getting wet on a walk", 1, 2, 3, 5, 9),
    ],
)
def test_a_kind_with_the_scenes_that_show_it(text: str) -> None:
    (kind,) = kinds.parse(text, RAIN).abstracts
    assert (kind.text, kind.lines, kind.importance) == (
        "getting wet on a walk",
        (1, 2, 3, 5),
        0.6,
    )


def test_chinese() -> None:
    scenes = [
        {"line": 1, "words": "大雨倾盆"},
        {"line": 2, "words": "下雨了"},
        {"line": 3, "words": "雨水"},
    ]
    text = json.dumps({"kind": "在雨中行走", "scenes": scenes}, ensure_ascii=False)
    (kind,) = kinds.parse(text, REGEN).abstracts
    assert (kind.text, kind.lines) == ("在雨中行走", (1, 2, 3))
    with pytest.raises(Unreadable):
        kinds.parse(text.replace("在雨中行走", "Περπάτημα στη βροχή"), REGEN)


@pytest.mark.parametrize(
    "text",
    [
        answer("getting wet on a walk", 1, 2),
        answer("getting wet on a walk", 1, 2, 2, 9),
        json.dumps(
            {
                "kind": "a walk",
                "scenes": [{"line": n, "words": "the queen waved"} for n in (1, 2, 3)],
            }
        ),
        json.dumps({"kind": "a walk", "scenes": [1, 2, 3]}),
        answer("a walk with Zorro", 1, 2, 3),
        answer("walks with Anton", 1, 2, 3, 5),  # he is in two of them
        answer("What happens in all of them", 1, 2, 3),
        answer("", 1, 2, 3),
        '{"kind": "", "scenes": []}',
    ],
)
def test_what_was_not_seen_is_no_kind(text: str) -> None:
    assert not kinds.parse(text, RAIN).count


@pytest.mark.parametrize("text", ["", "<think>hm", "Sure!", "[]", "{}", '{"answer": 7}'])
def test_what_says_nothing(text: str) -> None:
    with pytest.raises(Unreadable):
        kinds.parse(text, RAIN)


def test_a_name_that_all_scenes_have_may_be_in_it() -> None:
    lines = [("Nora", f"Anton fell off horse number {word}.") for word in ("one", "two", "three")]
    text = json.dumps(
        {
            "kind": "Anton falls off a horse",
            "scenes": [{"line": n, "words": "fell off horse"} for n in (1, 2, 3)],
        }
    )
    assert kinds.parse(text, passage(lines, known_names=("Anton",))).count == 1


@given(st.lists(st.integers(0, 7), max_size=12), st.text(max_size=200))
def test_no_scene_is_made_up_and_three_always_stand(numbers: list[int], noise: str) -> None:
    """Property: whatever is cited, a kind rests on three scenes or more, each quoted from its own line."""
    scenes = [{"line": n, "words": QUOTES.get(n, noise)} for n in numbers]
    drafts = kinds.parse(json.dumps({"kind": "getting wet on a walk", "scenes": scenes}), RAIN)
    for kind in drafts.abstracts:
        assert len(set(kind.lines)) == len(kind.lines) >= 3
        assert {n for n in kind.lines if n in QUOTES} <= set(numbers)
    if len(set(numbers) & set(QUOTES)) >= 3:
        assert drafts.count == 1


@pytest.mark.parametrize("scene", [RAIN, REGEN])
def test_scenes_stand_as_data(scene: Passage) -> None:
    prompt = kinds.render(scene)
    assert prompt.user.count("<chat>") == 1
    assert "[1] " + scene.lines[0].speaker in prompt.user

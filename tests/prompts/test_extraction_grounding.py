"""Drafts of an extraction answer that the chat supports, and those that it does not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from soulmem.domain.derivations import WAITING
from soulmem.prompts import extraction
from tests.prompts.extraction_answers import GOOD, parse, parse_chinese
from tests.prompts.passages import EN, passage


@pytest.mark.parametrize(
    ("kind", "item"),
    [
        ("episodes", {"lines": [1], "text": "Later that day Zorro came to the mill."}),
        ("episodes", {"lines": [1], "text": "The glacier melted under a purple moon."}),
        (
            "episodes",
            {
                "lines": [99],
                "text": "A shiny glacier near the bakery melted under moonlight forever.",
            },
        ),
        ("episodes", {"text": ""}),
        ("episodes", {"lines": [1], "text": "Hester buried the locket in her店."}),
        (
            "episodes",
            {"lines": [2], "text": "Lena did it for her."},
        ),  # of any line, and of none
        (
            "facts",
            {"lines": [5], "subject": "Lena", "verb": "paints", "object": "portraits"},
        ),
        (
            "facts",
            {
                "lines": [9],
                "subject": "Zorro",
                "verb": "is brother of",
                "object": "Lena",
            },
        ),
        (
            "facts",
            {"lines": [9], "subject": "Anton", "verb": "lives in", "object": "Paris"},
        ),
        ("facts", {"lines": [9], "subject": "Anton", "object": "Lena"}),
        ("concepts", {"lines": [9], "name": "Zorro", "type": "entity"}),
        ("concepts", {"lines": [5], "name": "very", "type": "entity"}),
        (
            "facts",
            {"lines": [4], "subject": "Anton", "verb": "resembles", "object": "Anton"},
        ),
        (
            "habits",
            {"lines": [6], "when": "when it rains", "does": "Nora is kind to her"},
        ),
        (
            "habits",
            {"lines": [1, 3], "when": "when asked", "does": "makes a secret of it"},
        ),
        (
            "habits",
            {
                "lines": list(range(1, 13)),
                "when": "ever",
                "does": "makes a secret of it",
            },
        ),
        ("kinds", {"lines": [1], "text": "numbers of those that say it"}),
        ("kinds", {"lines": [11], "text": "you sang beautifully"}),
        (
            "episodes",
            {
                "lines": [1],
                "text": "1-2 sentences. Habits: the character's.",
            },
        ),
    ],
)
def test_what_the_chat_does_not_say_is_dropped(kind: str, item: dict[str, Any]) -> None:
    drafts = parse({**GOOD, kind: [item]})
    assert drafts.count == parse({**GOOD, kind: []}).count
    assert len(drafts.dropped) == 1
    assert "Zorro" not in drafts.dropped[0]


def test_a_chinese_text_of_little_words_is_hardly_believed() -> None:
    texts = ("阿明来教你。", "林月笑了。", "外婆把怀表藏在了阁楼。")
    drafts = parse_chinese({"episodes": [{"lines": [1], "text": text} for text in texts]})
    recalled = [d.text for d in drafts.episodes if d.confidence >= WAITING]
    assert recalled == ["外婆把怀表藏在了阁楼。"]


def test_what_is_said_of_somebody_else_is_hardly_believed() -> None:
    said = {
        "lines": [4],
        "subject": "Lena",
        "verb": "promised",
        "object": "to feed a cat",
    }
    others = [{**said, "subject": name} for name in ("Hester", "Nora")]
    right, *wrong = parse({"facts": [said, *others]}).facts
    assert right.confidence > 0.9
    assert all(fact.confidence < WAITING for fact in wrong)


def test_a_strict_reading_believes_nothing_by_more_than_half() -> None:
    copied = {"lines": [1], "text": "Hester buried the locket in the bakery."}
    reworded = {
        "lines": [1],
        "text": "Hester concealed her locket somewhere nobody would look.",
    }
    answer = json.dumps({"episodes": [copied, reworded]})
    plain = extraction.parse(answer, EN).episodes
    strict = extraction.parse(answer, EN, is_strict=True).episodes
    assert [draft.confidence for draft in plain] == [1.0, 1.0]
    assert strict[0].confidence == 0.5
    assert 0 < strict[1].confidence < 0.5


def test_a_strict_reading_believes_no_kind() -> None:
    answer = json.dumps({"kinds": GOOD["kinds"]})
    assert extraction.parse(answer, EN).abstracts
    assert not extraction.parse(answer, EN, is_strict=True).abstracts


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("place", "the moon"),
        ("time", "at noon"),
        ("time", "pm"),
        ("background", "Zorro rules the land"),
        ("feelings", [{"label": "as if all had been lost", "intensity": 1}]),
        ("people", ["Zorro"]),
    ],
)
def test_details_that_the_chat_does_not_tell_are_left_out(field: str, value: Any) -> None:
    bare = {"lines": [4], "text": GOOD["episodes"][0]["text"], "importance": 0.7}
    assert parse({"episodes": [{**bare, field: value}]}) == parse({"episodes": [bare]})


def test_lines_of_a_narrator_are_said_by_nobody() -> None:
    chat = passage(
        [
            ("Lena", "*looks away* It is nothing."),
            ("", "You hear *thunder* rolling over the old mill."),
            ("Nora", "Lena?"),
        ]
    )
    assert "\n[2] You hear" in extraction.render(chat).user
    answer = {
        "episodes": [{"lines": [2], "text": "You hear *thunder* rolling over the old mill."}],
        "habits": [{"lines": [1], "when": "when it matters", "does": "looks away"}],
    }
    drafts = extraction.parse(json.dumps(answer), chat)
    assert [draft.text for draft in drafts.episodes] == [
        "You hear *thunder* rolling over the old mill."
    ]
    assert [draft.lines for draft in drafts.habits] == [(1,)]

"""Drafts of an extraction answer that the chat supports, and those that it does not."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from soulmem.prompts import extraction
from tests.prompts.extraction_answers import GOOD, parse, parse_chinese
from tests.prompts.passages import passage


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
        (
            "facts",
            {
                "lines": [1, 2, 3, 4],
                "subject": "Nora",
                "verb": "promised",
                "object": "the bakery",
            },
        ),
        (
            "facts",
            {"lines": [11], "subject": "Nora", "verb": "sang", "object": "beautifully"},
        ),
        (
            "facts",
            {"lines": [4], "subject": "Anton", "verb": "tends to do", "object": "cat"},
        ),
        ("kinds", {"lines": [1], "text": "kind of situation"}),
        ("episodes", {"lines": [1], "text": "what happened, one or two sentences"}),
    ],
)
def test_what_the_chat_does_not_say_is_dropped(kind: str, item: dict[str, Any]) -> None:
    drafts = parse({**GOOD, kind: [item]})
    assert drafts.count == parse({**GOOD, kind: []}).count
    assert len(drafts.dropped) == 1
    assert "Zorro" not in drafts.dropped[0]


def test_i_and_you_are_the_character_and_the_user() -> None:
    (fact,) = parse(
        {
            "facts": [
                {"lines": [4], "subject": "I", "verb": "belongs to", "object": "you"}
            ]
        }
    ).facts
    assert (fact.subject, fact.object) == ("Lena", "Nora")


def test_who_cites_everything_cites_nothing() -> None:
    chat = (
        "Hester buried the locket in the bakery. Lena promised Anton to feed his cat."
    )
    seen = "Nora: Your soup was wonderful! Lena: *looks away* It was only leftovers. Lena sang beautifully."
    cited = {"lines": list(range(1, 13)), "text": f"{chat} {seen}"}
    (episode,) = parse({"episodes": [cited]}).episodes
    assert (episode.text, episode.lines) == (cited["text"], (1, 4, 7, 8, 11))


def test_a_chinese_text_of_little_words_is_no_episode() -> None:
    texts = ("阿明来教你。", "林月笑了。", "外婆把怀表藏在了阁楼。")
    drafts = parse_chinese(
        {"episodes": [{"lines": [1], "text": text} for text in texts]}
    )
    assert [draft.text for draft in drafts.episodes] == ["外婆把怀表藏在了阁楼。"]


@pytest.mark.parametrize(
    "form", [list, lambda facts: dict(enumerate(facts, 1))], ids=["list", "by number"]
)
def test_a_fact_is_of_whom_the_chat_tells_it(form: Callable[[list[Any]], Any]) -> None:
    asked = {
        "lines": [1, 2, 3],
        "subject": "Nora",
        "verb": "promised",
        "object": "Anton",
    }
    (fact,) = parse({"facts": form([asked])}).facts
    assert (fact.subject, fact.verb, fact.object, fact.lines) == (
        "Lena",
        "promised",
        "Anton",
        (4,),
    )


def test_what_is_told_of_everybody_is_told_of_nobody() -> None:
    chat = [
        {"lines": [4], "subject": name, "verb": "owns", "object": "cat"}
        for name in ("Anton", "Lena")
    ]
    sure = [
        {"lines": [10], "subject": "Anton", "verb": "hates", "object": "thunder"}
    ] * 3
    assert [fact.subject for fact in parse({"facts": [*sure, *chat]}).facts] == [
        "Anton",
        "Anton",
        "Lena",
    ]
    everybody = [*sure, *chat, {**chat[0], "subject": "Hester"}]
    drafts = parse({"facts": everybody})
    assert [fact.verb for fact in drafts.facts] == ["hates"]
    assert drafts.dropped.count("a fact that is told of everybody") == 3


def test_other_words_are_believed_as_far_as_the_answer_is() -> None:
    stated = [
        {"lines": [9], "subject": "Anton", "verb": "hates", "object": "thunder"},
        {"lines": [4], "subject": "Lena", "verb": "promised", "object": "Anton"},
        {"lines": [1], "subject": "Hester", "verb": "buried", "object": "the locket"},
    ]
    reworded = {"lines": [4], "subject": "Anton", "verb": "owns", "object": "cat"}
    wrong = {"lines": [11], "subject": "Nora", "verb": "sang", "object": "beautifully"}
    assert len(parse({"facts": [*stated, reworded]}).facts) == 4
    assert len(parse({"facts": [*stated, reworded, wrong]}).facts) == 4
    drafts = parse({"facts": [*stated, reworded, wrong, {**wrong, "subject": "Anton"}]})
    assert [fact.verb for fact in drafts.facts] == ["hates", "promised", "buried"]
    assert sum("words that nobody said" in reason for reason in drafts.dropped) == 1


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("place", "Nora"),
        ("place", "the moon"),
        ("time", "at noon"),
        ("time", "pm"),
        ("background", "Zorro rules the land"),
        ("feelings", [{"label": "looks away", "intensity": 1}]),
        ("feelings", [{"label": "as if all were lost", "intensity": 1}]),
        ("people", ["*nods*", "Zorro"]),
    ],
)
def test_details_that_the_chat_does_not_tell_are_left_out(
    field: str, value: Any
) -> None:
    bare = {"lines": [4], "text": GOOD["episodes"][0]["text"], "importance": 0.7}
    assert parse({"episodes": [{**bare, field: value}]}) == parse({"episodes": [bare]})


def test_a_copied_line_loses_its_head() -> None:
    item = {
        "lines": [1],
        "text": "[1] Nora: Hester buried the locket in the bakery, do not forget it.",
    }
    (episode,) = parse({"episodes": [item]}).episodes
    assert episode.text == "Hester buried the locket in the bakery, do not forget it."


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
        "episodes": [
            {"lines": [2], "text": "You hear *thunder* rolling over the old mill."}
        ],
        "habits": [{"lines": [1], "when": "when it matters", "does": "looks away"}],
    }
    drafts = extraction.parse(json.dumps(answer), chat)
    assert [draft.text for draft in drafts.episodes] == [
        "You hear *thunder* rolling over the old mill."
    ]
    assert [draft.lines for draft in drafts.habits] == [(1,)]

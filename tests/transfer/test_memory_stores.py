"""The stores of other extensions are read: what they remember, and nothing that they do not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from soulmem.domain.errors import Unprocessable
from soulmem.transfer.lore import Cast, Lore, is_source, store_source
from soulmem.transfer.memory_stores import read_store

CAST = Cast("Mira", "Ann")


def read(data: str) -> Lore:
    return read_store(data.encode(), "My store", CAST)


def texts(lore: Lore) -> list[str]:
    """What would be remembered."""
    return [statement.text for statement in lore.statements]


def world(*entries: dict[str, Any]) -> str:
    """A world as SillyTavern writes it."""
    return json.dumps({"entries": {str(i): each for i, each in enumerate(entries)}})


def chat(*messages: dict[str, Any]) -> str:
    """A chat file with its header."""
    rows = [{"chat_metadata": {}, "user_name": "Ann"}, *messages]
    return "\n".join(json.dumps(row) for row in rows)


def summary(text: str | None, **more: Any) -> dict[str, Any]:
    """A message on which MessageSummarize wrote."""
    return {"mes": "..", "extra": {"qvink_memory": {"memory": text, **more}}}


def test_of_a_world_only_what_memory_books_made_is_read() -> None:
    lore = read(
        world(
            {
                "comment": "[003] - The mill burns",
                "content": "{{user}} set fire to the mill.",
                "key": ["mill"],
                "stmemorybooks": True,
                "STMB_start": 3,
                "STMB_end": 9,
            },
            {"comment": "Eldoria", "content": "A realm.", "key": ["eldoria"]},
            {
                "comment": "12 Off",
                "content": "Bo left.",
                "disable": True,
                "STMB_start": 1,
            },
            {"content": "Ida drowned.", "extensions": {"stmemorybooks": True}},
        )
    )
    assert texts(lore) == [
        "The mill burns: Ann set fire to the mill.",
        "Ida drowned.",
    ]
    assert {statement.part for statement in lore.statements} == {"MemoryBooks"}
    assert lore.disabled == 1


def test_a_title_of_digits_alone_stays() -> None:
    (text,) = texts(read(world({"comment": "1984", "content": "Bo read.", "stmemorybooks": True})))
    assert text.endswith("Bo read.")


def test_bullets_of_character_memory_keep_their_topic() -> None:
    lore = read(
        '<memory chat="main" date="2026-03-01 10:00">\n'
        "- [Ann, Mira — The mill]\n"
        "- Ann promised to rebuild it\n"
        "  before the snow.\n"
        "[2026-03-01 | main] - {{char}} wept.\n"
        "- [Mira — 集市]\n"
        "- 她买了桂花糕。\n"
        "</memory>\n"
        "<memory>\n- Bo is allergic to nuts.\n- Bo is allergic to nuts.\n- \n</memory>"
    )
    assert texts(lore) == [
        "The mill: Ann promised to rebuild it before the snow.",
        "The mill: Mira wept.",
        "集市: 她买了桂花糕。",
        "Bo is allergic to nuts.",
    ]


def test_the_older_file_of_character_memory_with_headings_is_read() -> None:
    lore = read("## Memory 1\n_Extracted: 2026_\n- Ida sings.\n\n## Memory 2\n- Bo hums.")
    assert texts(lore) == ["Ida sings.", "Bo hums."]


def test_summaries_on_messages_are_read_without_those_the_user_excluded() -> None:
    lore = read(
        chat(
            summary("Ann hid the key.", remember=True),
            summary(" left the town.", prefill="Bo"),
            summary("Wrong.", exclude=True),
            summary(None, error="no answer"),
            {"mes": "no summary", "extra": {}},
            {"mes": "odd", "extra": {"qvink_memory": "odd"}},
        )
        + "\nbroken"
    )
    assert texts(lore) == ["Ann hid the key.", "Bo left the town."]
    assert [statement.importance for statement in lore.statements] == [0.7, None]
    assert lore.disabled == 1
    assert [(part.where, part.reason) for part in lore.broken] == [("8", "not_json")]


def test_a_store_without_memories_is_empty_and_no_error() -> None:
    assert texts(read(chat({"mes": "Hello.", "extra": {}}))) == []
    assert texts(read(world({"comment": "Eldoria", "content": "A realm."}))) == []
    assert texts(read("<memory></memory>")) == []


@pytest.mark.parametrize("data", ["Just some text.", '{"name": "Mira"}', "{broken", " "])
def test_what_is_no_store_is_refused_with_what_to_choose(data: str) -> None:
    with pytest.raises(Unprocessable) as refusal:
        read(data)
    assert refusal.value.field == "text"


def test_the_source_marks_what_came_from_a_store() -> None:
    assert is_source(store_source("My store"))
    assert not is_source("My store")

"""Parsing of recorded answers of a real small model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from soulmem.prompts import digest, extraction, summary
from soulmem.prompts.grounding.evidence import Grounds
from tests.prompts.passages import EN, ZH

RECORDED = json.loads(
    Path(__file__).with_name("recorded.json").read_text(encoding="utf-8")
)["replies"]
CHATS = {"en": EN, "zh": ZH}


def given(reply: dict[str, Any]) -> list[str]:
    """What comes of a reply, text by text."""
    passage = CHATS[reply["chat"]]
    if reply["prompt"] == summary.NAME:
        return [summary.parse(reply["answer"], passage)]
    if reply["prompt"] == digest.NAME:
        return [digest.parse(reply["answer"], passage)]
    drafts = extraction.parse(reply["answer"], passage)
    return [
        *(draft.text for draft in drafts.episodes),
        *(f"{draft.subject} {draft.verb} {draft.object}" for draft in drafts.facts),
        *(draft.name for draft in drafts.concepts),
        *(draft.action for draft in drafts.habits),
        *(draft.text for draft in drafts.abstracts),
    ]


def test_they_are_of_the_prompts_in_use() -> None:
    prompts = (summary, extraction, digest)
    assert {(reply["prompt"], reply["version"]) for reply in RECORDED} == {
        (prompt.NAME, prompt.VERSION) for prompt in prompts
    }
    assert {(reply["chat"], reply["plain"]) for reply in RECORDED} == {
        (chat, plain) for chat in CHATS for plain in (False, True)
    }


@pytest.mark.parametrize(
    "reply", RECORDED, ids=lambda reply: f"{reply['prompt']} {reply['chat']}"
)
def test_what_comes_of_them(reply: dict[str, Any]) -> None:
    texts = given(reply)
    assert texts == reply["gives"]
    grounds = Grounds(CHATS[reply["chat"]])
    assert not any(
        grounds.is_foreign(text) or grounds.unknown_names(text) for text in texts
    )

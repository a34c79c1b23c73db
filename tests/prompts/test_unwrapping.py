"""Answers are extracted from reasoning, control tokens and code fences."""

from __future__ import annotations

import pytest

from soulmem.domain.llm import Failure, Unreadable
from soulmem.prompts.reading.unwrapping import answer_of


@pytest.mark.parametrize(
    "text",
    [
        "<think>Let me see. {no}</think>answer",
        "Let me see.</think>\n\nanswer",  # the template opened it
        "<think></think>answer",
        "<THINK>a</THINK><think>b</think> answer ",
        "<reasoning>hm</reasoning>answer",
        "[THINK]hm[/THINK]answer",
        "◁think▷hm◁/think▷answer",
        "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>answer<|return|>",
        "answer<|im_end|>",
        "answer</s>",
        "answer\n<think>and then I",
    ],
)
def test_thoughts_and_marks_go(text: str) -> None:
    # What a template leaves of its own between two marks is no word of the answer.
    assert answer_of(text).removeprefix("assistant") == "answer"


@pytest.mark.parametrize(
    "text", ["", "  \n", "<think>I wonder", "<think>all of it</think>", "<|im_end|>"]
)
def test_nothing_is_told_as_such(text: str) -> None:
    with pytest.raises(Unreadable) as raised:
        answer_of(text)
    assert raised.value.kind is Failure.UNREADABLE


def test_a_chat_may_speak_of_such_marks() -> None:
    text = '{"summary": "He writes </think> on the wall."}'
    assert answer_of(text) == text

"""Answers of a model that does memory work well, made from the lines in its prompt."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .mock_llm import Prompt

_LINE = re.compile(r"^\[(\d+)\] ([^:]+): (.*)$", re.MULTILINE)
_SUMMARY = re.compile(r"<summary>\n(.*)\n</summary>")
_SENTENCE = re.compile(r"[^.!?。！？]+[.!?。！？]")
_OPENINGS = (
    "You keep the running summary",
    "你从一个角色的视角",
    "You write down what",
    "你替角色扮演聊天",
)
_WORDS = {
    "en": ("{who} said: {text}", "spoke with"),
    "zh": ("{who}说：{text}", "交谈过"),
}


def is_work(prompt: Prompt) -> bool:
    """Whether it is memory work, not a reply to be played."""
    return str(prompt.messages[0]["content"]).startswith(_OPENINGS)


def answer(prompt: Prompt) -> str:
    """A summary of three lines, or three scenes, a fact and two names."""
    system, user = (str(message["content"]) for message in prompt.messages[:2])
    language = "zh" if system.startswith("你") else "en"
    lines = [
        (int(number), who, _short(text)) for number, who, text in _LINE.findall(user)
    ]
    picked = [lines[0], lines[len(lines) // 2], lines[-1]]
    form, verb = _WORDS[language]
    scenes = [(number, form.format(who=who, text=text)) for number, who, text in picked]
    if system.startswith(_OPENINGS[:2]):
        before = _SUMMARY.search(user)
        return json.dumps(
            {
                "summary": " ".join(
                    [*([before[1]] if before else []), *(text for _, text in scenes)]
                )
            }
        )
    names = list(dict.fromkeys(who for _, who, _ in lines))
    first_two = [number for number, _, _ in lines[:2]]
    return json.dumps(
        {
            "episodes": [
                {"lines": [number], "text": text, "importance": 0.7}
                for number, text in scenes
            ],
            "facts": [
                {
                    "lines": first_two,
                    "subject": names[0],
                    "verb": verb,
                    "object": names[-1],
                }
            ],
            "concepts": [
                {"lines": first_two, "name": name, "type": "entity"} for name in names
            ],
            "habits": [],
            "kinds": [],
        }
    )


def _short(text: str) -> str:
    """Its first sentence that says something, without what is done meanwhile."""
    plain = re.sub(r"\*[^*]*\*", "", text)
    sentences: list[str] = _SENTENCE.findall(plain) or [plain]
    return next(
        (sentence.strip() for sentence in sentences if len(sentence) > 8),
        sentences[0].strip(),
    )

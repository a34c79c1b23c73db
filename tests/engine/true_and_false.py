"""A language model for random lives: what it drafts of some lines is true, of others false."""

from __future__ import annotations

import json
from typing import Any

from soulmem.domain.llm import Prompt
from soulmem.prompts.model_questions import QUESTIONS
from tests.engine.model_stage import obliging, read_of

STRANGER = "Qorvax"  # a name that no line ever has
_NOWHERE = 999  # a line that no passage has


def true_and_false(prompt: Prompt) -> str:
    """Answers every prompt of the engine; each call gives the same answer for the same lines."""
    if prompt.name == "checking":
        return _checked(prompt)
    if prompt.name == "rewording":
        return _reworded(prompt)
    if prompt.name == "kinds":
        return json.dumps({"scenes": [], "kind": "", "importance": 0})
    lines = read_of(prompt)
    if prompt.name == "digest":
        told = " ".join(text for _, _, text in lines[:2])
        return json.dumps({"digest": f"{told} {STRANGER} laughed."})
    if prompt.name != "extraction":
        return obliging(prompt)
    answer: dict[str, Any] = json.loads(obliging(prompt))
    number, who, text = lines[-1]
    answer["episodes"] += [
        {"lines": [number], "text": f"{STRANGER} told {who}: {text}"},
        {"lines": [_NOWHERE], "text": f"{who} told Mira: {text}"},
        {"lines": [number], "text": "The Queen of Spain sold her last grey parrot."},
    ]
    fact = {"lines": [number], "subject": STRANGER, "verb": "owns", "object": who}
    answer["facts"].append(fact)
    answer["habits"].append(
        {
            "lines": [n for n, speaker, _ in lines if speaker == "Mira"][:6],
            "when": "somebody tells of old times",
            "does": "speaks at length of it",
        }
    )
    return json.dumps(answer)


def _checked(prompt: Prompt) -> str:
    """Right about the questions that measure a model; of drafts it says that the first line has them."""
    for language in ("en", "zh"):
        questions = QUESTIONS[language]
        if questions[0].statement in prompt.user:
            return json.dumps({"answers": [question.line for question in questions]})
    asked = prompt.user.partition("<statements>")[2].partition("</statements>")[0]
    return json.dumps({"answers": [1] * len(asked.strip().splitlines())})


def _reworded(prompt: Prompt) -> str:
    """Each gap filled with the last words of the reply."""
    memory = prompt.user.partition("<memory>")[2].partition("</memory>")[0].strip()
    reply = prompt.user.partition("<reply>")[2].partition("</reply>")[0]
    filling = " ".join(reply.strip(" .\n").split()[-3:])
    first, *others = memory.split("xxx")
    rest = [_after_hint(part) for part in others]
    return json.dumps({"memory": filling.join([first, *rest])})


def _after_hint(part: str) -> str:
    """What follows a gap, without the hint in brackets."""
    for opening, closing in (("(", ")"), ("（", "）")):
        if part.startswith(opening):
            return part.partition(closing)[2]
    return part

"""Chats in which a character shows habits, and a good model that sees them.

`habits_en.txt` and `habits_zh.txt` hold a habit to a paragraph: wordings of the situation and of the
reaction, scenes that teach it, and scenes later on, `near` ones in much the same words and `far` ones in
others. Then small talk that stands between, and `other` scenes in which nothing should fire.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from soulmem.domain.dialogue import Role, SentMessage
from soulmem.domain.llm import Prompt
from tests.engine.model_stage import read_of
from tests.engine.stage import line

NAMES = {"en": ("Al", "Mira"), "zh": ("阿明", "米拉")}  # who talks with whom


@dataclass(frozen=True, slots=True)
class Taught:
    """One habit."""

    when: tuple[str, ...]
    does: tuple[str, ...]
    cues: tuple[str, ...]  # what is said before she does it
    shown: tuple[str, ...]  # what she does then
    near: tuple[str, ...]
    far: tuple[str, ...]


@cache
def _paragraphs(language: str) -> tuple[Mapping[str, tuple[str, ...]], ...]:
    text = (Path(__file__).parent / f"habits_{language}.txt").read_text("utf-8")
    out = []
    for paragraph in text.strip().split("\n\n"):
        found: defaultdict[str, list[str]] = defaultdict(list)
        for row in paragraph.splitlines():
            key, value = row.split(": ", 1)
            found[key].append(value)
        out.append({key: tuple(values) for key, values in found.items()})
    return tuple(out)


def habits(language: str) -> list[Taught]:
    """All habits of a language."""
    return [
        Taught(p["when"], p["does"], p["cue"], p["shown"], p["near"], p["far"])
        for p in _paragraphs(language)
        if "when" in p
    ]


def others(language: str) -> tuple[str, ...]:
    """Scenes in which nothing should fire."""
    return next(p["other"] for p in _paragraphs(language) if "other" in p)


def chat(language: str, taught: Sequence[Taught], seed: int, scenes: int = 3) -> list[SentMessage]:
    """A chat in which each of these habits shows in so many scenes, with as much small talk between.

    Two scenes of one habit never follow each other.
    """
    rng = random.Random(seed)
    small = [tuple(one.split(" / ")) for p in _paragraphs(language) for one in p.get("small", ())]
    told: list[tuple[str, ...]] = []
    for at in range(scenes):
        one = [(habit.cues[at], habit.shown[at]) for habit in taught]
        rng.shuffle(one)
        for scene in one:
            told += [scene, rng.choice(small)]
        told += [rng.choice(small) for _ in range(2)]
    told += [rng.choice(small) for _ in range(13)]
    who = dict(zip((Role.USER, Role.CHARACTER), NAMES[language], strict=True))
    said = [pair for both in told for pair in zip(who, both, strict=True)]
    return [
        line(f"m{at}", text, role, speaker=who[role]) for at, (role, text) in enumerate(said, 1)
    ]


def seeing(taught: Sequence[Taught], seed: int = 0) -> Callable[[Prompt], str]:
    """A model that tells every habit of which its lines show something, each time in wordings of its own."""
    rng = random.Random(seed)

    def answer(prompt: Prompt) -> str:
        lines = read_of(prompt)
        if prompt.name == "summary":
            return json.dumps({"summary": lines[0][2]}, ensure_ascii=False)
        found = []
        for habit in taught:
            seen = [n for n, _, text in lines if text in habit.shown]
            if seen:
                wording = {
                    "when": rng.choice(habit.when),
                    "does": rng.choice(habit.does),
                }
                found.append({"lines": seen, **wording, "chance": 0.9})
        drafts: dict[str, list[object]] = {
            "episodes": [],
            "facts": [],
            "concepts": [],
            "kinds": [],
        }
        return json.dumps({**drafts, "habits": found}, ensure_ascii=False)

    return answer

"""The story of a message: its text as a reader of the story sees it, and what was left out of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class LeftOutKind(str, Enum):
    """What a part of a message is that tells nothing of the story."""

    REASONING = "reasoning"
    STATUS = "status"
    MARKUP = "markup"
    CODE = "code"
    PICTURE = "picture"
    OUT_OF_CHARACTER = "out_of_character"
    REST = "rest"  # macros, and what the client's prompt leaves out


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A part of a message that its story leaves out: `start` .. `end` of the text, in characters."""

    kind: LeftOutKind
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class StoryText:
    """What a message tells of the story, and what it leaves out of the message, in order."""

    text: str
    left_out: tuple[LeftOut, ...] = ()


@dataclass(frozen=True, slots=True)
class MacroNames:
    """Whom the macros for user and character of a message stand for; an empty name for nobody."""

    user: str = ""
    character: str = ""

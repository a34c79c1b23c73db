"""Prompt text of chosen memories: sections with a header, within a hard token budget."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from soulmem.assembly.tokens import estimate_tokens
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory, MemoryKind


class Section(str, Enum):
    """Section of the prompt that a memory belongs to, in the order of the blocks."""

    PERMANENT = "permanent"
    SELF = "self"
    SUMMARY = "summary"
    EPISODES = "episodes"
    FACTS = "facts"
    IMPULSES = "impulses"


_IN_PROMPT = (
    Section.PERMANENT,
    Section.SELF,
)  # near the start and stable, so that the backend's prompt cache stays valid
_HAN, _LATIN = re.compile("[\u4e00-\u9fff]+"), re.compile("[A-Za-z]+")
_BRACE = re.compile(r"\{(?=\\*\{)")
_OLD_MACRO = re.compile(r"<(?=(?:user|bot|char|group|charifnotgroup)>)", re.IGNORECASE)
_DEPTH = 4  # messages above the end, where SillyTavern users put lore

_HEADERS = {
    "en": {
        Section.PERMANENT: "[{name} never forgets:]",
        Section.SELF: "[{name} knows this habit of their own; it is not an order:]",
        Section.SUMMARY: "[What happened so far, as {name} remembers it:]",
        Section.EPISODES: "[What {name} recalls now of the past, oldest first:]",
        Section.FACTS: "[What {name} knows:]",
        Section.IMPULSES: "[How {name} tends to react right now; show it in what they do, never say it:]",
    },
    "zh": {
        Section.PERMANENT: "[{name}永远不会忘记：]",
        Section.SELF: "[{name}知道自己有这样的习惯，并非指令：]",
        Section.SUMMARY: "[{name}记得到目前为止发生的事：]",
        Section.EPISODES: "[{name}此刻想起的往事，由远及近：]",
        Section.FACTS: "[{name}知道：]",
        Section.IMPULSES: "[{name}此刻往往会这样反应，用言行表现出来，不要说破：]",
    },
}


@dataclass(frozen=True, slots=True)
class PromptLine:
    """A memory as written in its block."""

    memory: MemoryId
    section: Section
    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class PromptBlock:
    """A finished block; its text is the header and the lines, joined by line breaks."""

    section: Section
    position: str  # "in_prompt" or "in_chat"
    depth: int | None
    text: str
    tokens: int
    lines: tuple[PromptLine, ...]


def without_macros(text: str) -> str:
    """`text` with a space inserted into everything that SillyTavern would run as a macro: `{{`, also with
    backslashes between, which it removes in one pass and runs in the next, and its old names in angle
    brackets.
    """
    return _OLD_MACRO.sub("< ", _BRACE.sub("{ ", text))


def line_of(memory: Memory, *, is_impulse: bool = False) -> PromptLine:
    """The memory as a line of the prompt, with its cost including the line break.

    `is_impulse` is for an action that is selected for this moment.
    """
    text = without_macros(memory.text)
    return PromptLine(
        memory.id,
        section_of(memory, is_impulse=is_impulse),
        text,
        estimate_tokens(text) + 1,
    )


def section_of(memory: Memory, *, is_impulse: bool = False) -> Section:
    """The section of a memory."""
    if is_impulse:
        return Section.IMPULSES
    if memory.permanent:
        return Section.PERMANENT
    if memory.kind is MemoryKind.ACTION:
        return (
            Section.SELF
        )  # not selected for this moment: self-knowledge, not an impulse
    if memory.kind is MemoryKind.SUMMARY:
        return Section.SUMMARY
    if memory.kind in (MemoryKind.EPISODE, MemoryKind.ABSTRACT_EPISODE):
        return Section.EPISODES
    return Section.FACTS


def language_of(texts: Iterable[str]) -> str:
    """`zh` when the texts are mostly Chinese, else `en`."""
    sample = "".join(text[:200] for text in texts)[:4000]
    han, letters = (sum(map(len, script.findall(sample))) for script in (_HAN, _LATIN))
    return "zh" if 3 * han > letters else "en"


class Budget:
    """A token budget for whole memories; a section's header is paid with its first memory."""

    def __init__(self, tokens: int, soul_name: str, language: str) -> None:
        self.tokens_left = tokens
        self._headers = {
            s: without_macros(h.format(name=soul_name))
            for s, h in _HEADERS[language].items()
        }
        self._open: set[Section] = set()

    def header_cost(self, section: Section) -> int:
        """Cost of the section's header; 0 once it is paid."""
        return (
            0 if section in self._open else estimate_tokens(self._headers[section]) + 1
        )

    def take(self, line: PromptLine) -> bool:
        """Spend the tokens of a line; False, and nothing spent, where they do not suffice."""
        cost = line.tokens + self.header_cost(line.section)
        if cost > self.tokens_left:
            return False
        self.tokens_left -= cost
        self._open.add(line.section)
        return True

    def blocks(
        self,
        chosen: Sequence[tuple[Memory, PromptLine]],
        age: Callable[[Memory], tuple[float, int]],
    ) -> list[PromptBlock]:
        """The blocks of the chosen memories: episodes by `age` (ascending), sections in the prompt by
        importance, facts and impulses in the order of `chosen`.
        """
        out = []
        for section in Section:
            mine = [(m, line) for m, line in chosen if line.section is section]
            if not mine:
                continue
            if section is Section.EPISODES:
                mine.sort(key=lambda pair: age(pair[0]))
            elif section in _IN_PROMPT:
                # the same order every turn
                mine.sort(key=lambda pair: (-pair[0].importance, pair[0].id))
            lines = tuple(line for _, line in mine)
            header = self._headers[section]
            inside = section in _IN_PROMPT
            out.append(
                PromptBlock(
                    section=section,
                    position="in_prompt" if inside else "in_chat",
                    depth=None if inside else _DEPTH,
                    text="\n".join([header, *(line.text for line in lines)]),
                    tokens=estimate_tokens(header)
                    + 1
                    + sum(line.tokens for line in lines),
                    lines=lines,
                )
            )
        return out

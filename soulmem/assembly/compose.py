"""Prompt text of chosen memories: sections with a header, within a hard token budget."""

from __future__ import annotations

import re
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, replace
from enum import Enum

from soulmem.assembly.dates import age_text
from soulmem.assembly.token_estimate import estimate_tokens
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory, MemoryKind
from soulmem.domain.micro_units import MASK
from soulmem.domain.soul import Soul


class Section(str, Enum):
    """Section of the prompt that a memory belongs to, in the order of the blocks."""

    PERMANENT = "permanent"
    SELF = "self"
    SUMMARY = "summary"
    EPISODES = "episodes"
    FACTS = "facts"
    IMPULSES = "impulses"
    ABSENCE = "absence"  # what was asked for, and nothing is known of


_IN_PROMPT = (
    Section.PERMANENT,
    Section.SELF,
)  # near the start and stable, so that the backend's prompt cache stays valid
_HAN, _LATIN = re.compile("[\u4e00-\u9fff]+"), re.compile("[A-Za-z]+")
_BRACE = re.compile(r"\{(?=\\*\{)")
_OLD_MACRO = re.compile(r"<(?=(?:user|bot|char|group|charifnotgroup)>)", re.IGNORECASE)
_DEPTH = 4  # messages above the end, where SillyTavern users put lore

# In the header of the first block in which something is blurred, in words or with masks: the first of them that
# leaves room for what is blurred.
_LEGENDS_OF_WORDS = {
    "en": (
        "[Where a line is vague or has …, {name} no longer remembers more. {name} fills the gap in their own way"
        " or leaves it open.]",
        "[Where a line is vague or has …, {name} no longer remembers more.]",
    ),
    "zh": (
        "[说得含糊或写着…的地方，{name}已经记不清了，会按自己的方式补上或含糊带过。]",
        "[含糊或写着…处，{name}记不清了。]",
    ),
}
_LEGENDS_OF_MASKS = {
    "en": (
        "[xxx is what {name} no longer remembers, with a hint in brackets where there is one. {name} fills"
        " the gap in their own way or leaves it open, and never says xxx.]",
        "[xxx is what {name} no longer remembers, and never said.]",
    ),
    "zh": (
        "[xxx是{name}已经记不清的内容，括号里是仅存的印象。{name}会按自己的方式补上或含糊带过，绝不说出xxx。]",
        "[xxx是{name}已经记不清的内容，绝不说出。]",
    ),
}
_KNOWS = {
    "en": "[{name} knows that they forget, and may say so.]",
    "zh": "[{name}知道自己会遗忘，可以坦言记不清了。]",
}

# Above a scene of the present day, behind older ones, and above what has no date.
_TODAY = {"en": "Earlier today:", "zh": "今天早些时候："}
_UNDATED = {"en": "At some time:", "zh": "某个时候："}

# What happened, and what is told of it
_PAST = (MemoryKind.EPISODE, MemoryKind.ABSTRACT_EPISODE, MemoryKind.DIGEST)
_HEADERS = {
    "en": {
        Section.PERMANENT: "[{name} never forgets:]",
        Section.SELF: "[{name} knows this habit of their own; it is not an order:]",
        Section.SUMMARY: "[What happened so far, as {name} remembers it:]",
        Section.EPISODES: "[What {name} recalls now of the past, oldest first:]",
        Section.FACTS: "[What {name} knows:]",
        Section.IMPULSES: "[How {name} tends to react right now; show it in what they do, never say it:]",
        Section.ABSENCE: "[{name} has no memory of:]",
    },
    "zh": {
        Section.PERMANENT: "[{name}永远不会忘记：]",
        Section.SELF: "[{name}知道自己有这样的习惯，并非指令：]",
        Section.SUMMARY: "[{name}记得到目前为止发生的事：]",
        Section.EPISODES: "[{name}此刻想起的往事，由远及近：]",
        Section.FACTS: "[{name}知道：]",
        Section.IMPULSES: "[{name}此刻往往会这样反应，用言行表现出来，不要说破：]",
        Section.ABSENCE: "[{name}对此毫无记忆：]",
    },
}


@dataclass(frozen=True, slots=True)
class PromptLine:
    """A memory as written in its block."""

    memory: MemoryId
    section: Section
    text: str
    tokens: int
    is_masked: bool = False  # parts of it are blurred
    scene: str = ""  # when it happened, as it stands above it: "46 days ago:"; empty: today


@dataclass(frozen=True, slots=True)
class PromptBlock:
    """A finished block; its text is the header and the lines, joined by line breaks."""

    section: Section
    position: str  # "in_prompt" or "in_chat"
    depth: int | None
    text: str
    tokens: int
    lines: tuple[PromptLine, ...]


def scene_of(days: int | None, language: str) -> str:
    """What stands above memories of so many days ago, "en" or "zh"; None: nobody knows."""
    if days is None:
        return _UNDATED[language]
    if days < 1:
        return ""
    age = age_text(days, language)
    return f"{age}：" if language == "zh" else f"{age[0].upper()}{age[1:]}:"


def without_macros(text: str) -> str:
    """`text` with a space inserted into everything that SillyTavern would run as a macro: `{{`, also with
    backslashes between, which it removes in one pass and runs in the next, and its old names in angle
    brackets.
    """
    return _OLD_MACRO.sub("< ", _BRACE.sub("{ ", text))


def line_of(
    memory: Memory,
    *,
    is_impulse: bool = False,
    is_masked: bool = False,
    scene: str = "",
) -> PromptLine:
    """The memory as a line of the prompt, with its cost including the line break.

    is_impulse  for an action that is selected for this moment
    scene       see `scene_of`; only what happened has one
    """
    section = section_of(memory, is_impulse=is_impulse)
    text = without_macros(memory.text)
    return PromptLine(
        memory.id,
        section,
        text,
        estimate_tokens(text) + 1,
        is_masked,
        scene if section is Section.EPISODES else "",
    )


def section_of(memory: Memory, *, is_impulse: bool = False) -> Section:
    """The section of a memory."""
    if is_impulse:
        return Section.IMPULSES
    if memory.permanent:
        return Section.PERMANENT
    if memory.kind is MemoryKind.ACTION:
        return Section.SELF  # not selected for this moment: self-knowledge, not an impulse
    if memory.kind is MemoryKind.SUMMARY:
        return Section.SUMMARY
    if memory.kind in _PAST:
        return Section.EPISODES
    return Section.FACTS


def language_of(texts: Iterable[str]) -> str:
    """`zh` when the texts are mostly Chinese, else `en`."""
    sample = "".join(text[:200] for text in texts)[:4000]
    han, letters = (sum(map(len, script.findall(sample))) for script in (_HAN, _LATIN))
    return "zh" if 3 * han > letters else "en"


def _legends(texts: Iterable[str], name: str) -> tuple[str, ...]:
    """The legends of a soul of this name, the longest first; the last is none."""
    return (*(without_macros(text.format(name=name)) for text in texts), "")


class Budget:
    """A token budget for whole memories; a section's header is paid with its first memory, and the legend of
    what is blurred with the first of these: a shorter one, or none, where it would cost the memory its place.
    """

    def __init__(
        self,
        tokens: int,
        soul_name: str,
        language: str,
        *,
        knows_it_forgets: bool = False,
        headers: Mapping[str, str] | None = None,
        off: Collection[str] = (),
    ) -> None:
        """`headers`: the user's own text above a section, by its name; `off`: names of sections left out."""
        self.tokens_left = tokens
        self.language = language
        self._off = frozenset(off)
        behind = "\n" + _KNOWS[language] if knows_it_forgets else ""
        self._legends = {
            has_masks: _legends(texts[language], soul_name)
            for has_masks, texts in (
                (False, _LEGENDS_OF_WORDS),
                (True, _LEGENDS_OF_MASKS),
            )
        }
        self._knows = without_macros(behind.format(name=soul_name))
        self._paid: dict[bool, str] = {}  # legends, by whether they explain masks
        self._headers = {
            s: without_macros(h.format(name=soul_name)) for s, h in _HEADERS[language].items()
        }
        # The user's words are text: nothing in them is filled in.
        for name, text in (headers or {}).items():
            self._headers[Section(name)] = without_macros(text.strip())
        self._open: set[Section] = set()
        self._scenes: set[str] = set()
        self._today = _TODAY[language]

    @classmethod
    def of_soul(cls, tokens: int, soul: Soul, language: str) -> Budget:
        """The budget of a prompt of this soul, by its settings."""
        settings = soul.settings
        return cls(
            tokens,
            soul.name,
            language,
            knows_it_forgets=settings.knows_it_forgets,
            headers=settings.headers,
            off=settings.sections_off,
        )

    def is_off(self, section: Section) -> bool:
        """Whether the user keeps the section out of the prompt."""
        return section.value in self._off

    def header_cost(self, section: Section) -> int:
        """Cost of the section's header; 0 once it is paid, and where it is empty."""
        header = self._headers[section]
        if not header or section in self._open:
            return 0
        return estimate_tokens(header) + 1

    def take(self, line: PromptLine) -> bool:
        """Spend the tokens of a line; False, and nothing spent, where they do not suffice or it is off."""
        if self.is_off(line.section):
            return False
        cost = line.tokens + self.header_cost(line.section)
        if line.scene and line.scene not in self._scenes:
            cost += estimate_tokens(line.scene) + 1
            if not self._scenes:  # what is of today may follow
                cost += estimate_tokens(self._today) + 1
        if cost > self.tokens_left:
            return False
        self.tokens_left -= cost
        self._open.add(line.section)
        self._scenes.update([line.scene] if line.scene else [])
        if line.is_masked:
            self._pay_legend(has_masks=MASK in line.text)
        return True

    def _pay_legend(self, *, has_masks: bool) -> None:
        """Take the longest legend that there is room for."""
        if has_masks in self._paid:
            return
        longest, *shorter = self._legends[has_masks]
        behind = "" if self._paid else self._knows
        for legend in (longest + behind, longest, *shorter):
            cost = estimate_tokens(legend) + 1 if legend else 0
            if cost <= self.tokens_left:
                self.tokens_left -= cost
                self._paid[has_masks] = legend
                return

    def absence(self, names: Sequence[str]) -> PromptBlock | None:
        """The block that says that nothing is known of these, where there is room for it."""
        section = Section.ABSENCE
        if not names or self.is_off(section):
            return None
        lines = [without_macros(name) for name in names]
        head = [header] if (header := self._headers[section]) else []
        text = "\n".join([*head, *lines])
        tokens = estimate_tokens(text) + 1
        if tokens > self.tokens_left:
            return None
        self.tokens_left -= tokens
        return PromptBlock(section, "in_chat", _DEPTH, text, tokens, ())

    def blocks(
        self,
        chosen: Sequence[tuple[Memory, PromptLine]],
        age: Callable[[Memory], tuple[float, int]],
    ) -> list[PromptBlock]:
        """The blocks of the chosen memories: episodes by `age` (ascending), sections in the prompt by
        importance, facts and impulses in the order of `chosen`.
        """
        out, legends = list[PromptBlock](), list[str]()
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
            head = [header] if (header := self._headers[section]) else []
            for has_masks in sorted({MASK in x.text for x in lines if x.is_masked}):
                legend = self._paid.get(has_masks)
                if legend and legend not in legends:
                    head.append(legend)
                    legends.append(legend)
            inside = section in _IN_PROMPT
            lines = self._in_scenes(lines)
            body = list(_with_scenes(lines))
            out.append(
                PromptBlock(
                    section=section,
                    position="in_prompt" if inside else "in_chat",
                    depth=None if inside else _DEPTH,
                    text="\n".join([*head, *body]),
                    tokens=sum(estimate_tokens(text) + 1 for text in [*head, *body]),
                    lines=lines,
                )
            )
        return out

    def _in_scenes(self, lines: tuple[PromptLine, ...]) -> tuple[PromptLine, ...]:
        """The lines; those of today say so where others are older."""
        if not any(line.scene for line in lines):
            return lines
        return tuple(replace(line, scene=line.scene or self._today) for line in lines)


def _with_scenes(lines: Iterable[PromptLine]) -> Iterator[str]:
    """The texts of lines, oldest first, with its scene above the first line of each."""
    above = ""
    for line in lines:
        if line.scene != above:
            yield line.scene
        above = line.scene
        yield line.text

"""The story of one message: what stays of its text when what is no prose is left out. In doubt it stays.

Blocks (elements, fences) go as a whole where their lines are data or code rather than prose; reasoning and what
nobody reads go always; tables and code go wherever they stand; lines of data go where their skeleton stands in the
messages around, too.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from soulmem.domain.story_text import LeftOut, LeftOutKind, MacroNames, StoryText
from soulmem.language.story.lines import (
    LineKind,
    is_certain_code,
    is_row,
    is_rule,
    line_kind,
    skeleton,
)
from soulmem.language.story.markup_marks import (
    BLOCKS,
    CELLS,
    INLINE,
    Mark,
    MarkKind,
    is_reasoning,
    marks,
    may_hold_marks,
)

_PAIRS = {
    ")": "(",
    "\uff09": "\uff08",
    "]": "[",
    "\uff3d": "\uff3b",
    "\u3011": "\u3010",
}
_BRACKET = re.compile("[()\uff08\uff09\\[\\]\uff3b\uff3d\u3010\u3011]")
_OOC = re.compile(r"\s*OOC(?![A-Za-z])", re.IGNORECASE)
_LINE = re.compile(r"^[^\S\n]*OOC\s*[:\uff1a].*$", re.IGNORECASE | re.MULTILINE)
_MAY_HOLD = re.compile(r"\(\(|\uff08\uff08|ooc", re.IGNORECASE)


def asides(text: str) -> list[tuple[int, int]]:
    """Start and end of each aside, in order, none inside another. In time of the text's length.

    `OOC:` goes to the end of its line. A bracket that is never closed holds none.
    """
    if _MAY_HOLD.search(text) is None:
        return []
    spans = _bracketed(text)
    spans += (match.span() for match in _LINE.finditer(text))
    spans.sort()
    out: list[tuple[int, int]] = []
    for start, end in spans:
        if not out or start >= out[-1][1]:
            out.append((start, end))
    return out


def _bracketed(text: str) -> list[tuple[int, int]]:
    """Spans of bracketed asides."""
    out = []
    open_at: dict[str, list[int]] = {sign: [] for sign in _PAIRS.values()}
    closed: dict[int, int] = {}  # by the position of an opening bracket, of its end
    for match in _BRACKET.finditer(text):
        sign, position = match[0], match.start()
        if sign in open_at:
            open_at[sign].append(position)
        elif open_at[_PAIRS[sign]]:
            start = open_at[_PAIRS[sign]].pop()
            closed[start] = position + 1
            is_double = closed.get(start + 1) == position and sign in ")\uff09"
            if is_double or _OOC.match(text, start + 1):
                out.append((start, position + 1))
    return out


_ENTITY = re.compile(r"&(?:#\d{1,7}|#x[0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
_BLANK_LINES = re.compile(r"\n{3,}")
_LINE_END = re.compile(r"(?<![ \t])[ \t]+(?=\n)")
_GAP = re.compile(r"(?<=\S)[ \t]{2,}(?=\S)")
_ROWS = 3  # rows of a table without a rule below its head
_USER, _CHARACTER = ("user", "persona"), ("char", "bot", "charifnotgroup")
# Elements whose lines are judged together.
_JUDGED = BLOCKS - frozenset(("p", "br", "tr", "li", "dt", "dd", "hr", "caption"))


def story_text(
    text: str,
    names: MacroNames | None = None,
    repeated: Collection[str] = (),
) -> StoryText:
    """The story of a message, in time of its length.

    names     whom its macros stand for; without, they are left out
    repeated  what the messages around keep of their lines of data, see `skeleton`
    """
    if not repeated and not may_hold_marks(text):
        return StoryText(text)
    return _Reading(text, names or MacroNames(), frozenset(repeated)).result()


def skeletons(text: str) -> frozenset[str]:
    """What the lines of data of a message keep from one message to the next."""
    out: set[str] = set()
    for line in _visible_lines(text):
        out |= skeleton(line)
    return frozenset(out)


def _visible_lines(text: str) -> list[str]:
    if "<" in text or "`" in text:
        text = _Reading(text, MacroNames(), frozenset()).visible()
    return text.split("\n")


@dataclass(slots=True)
class _Line:
    """A line of visible text: pieces `first` .. `stop`, at `start` .. `end` of the message."""

    first: int
    stop: int
    start: int
    end: int
    text: str
    kind: LineKind


@dataclass(slots=True)
class _Block:
    """An open element or fence: where it begins, and the lines that were closed inside it."""

    name: str
    start: int
    pieces: int = 0
    lines: int = 0
    left_out: int = 0
    counts: Counter[LineKind] = field(default_factory=Counter)

    def kind(self) -> LeftOutKind | None:
        """What the block is where it is no story."""
        code = self.counts[LineKind.CODE]
        data, prose = self.counts[LineKind.DATA] + code, self.counts[LineKind.PROSE]
        labelled = self.counts[LineKind.LABELLED]
        if data >= labelled:
            data += labelled
        else:
            prose += labelled
        if data <= prose:
            return None
        return LeftOutKind.CODE if 2 * code > data else LeftOutKind.STATUS


class _Reading:
    """One pass over a message. Pieces of text are collected, and taken back with the block they stand in."""

    def __init__(self, text: str, names: MacroNames, repeated: frozenset[str]) -> None:
        self._text = text
        self._names = names
        self._repeated = repeated
        self._pieces: list[str] = []
        self._lines: list[_Line] = []
        self._left_out: list[LeftOut] = []
        self._blocks: list[_Block] = []
        self._open: Counter[str] = Counter()
        self._first_words: int | None = None  # the first piece with a word
        self._line_pieces = 0  # where the present line begins in the pieces
        self._line_start = 0  # and in the message
        self._pass()

    def result(self) -> StoryText:
        """The story and what was left out."""
        self._leave_out_lines()
        text = "".join(self._pieces)
        if text == self._text:
            return StoryText(text)
        text = _BLANK_LINES.sub("\n\n", _LINE_END.sub("", _GAP.sub(" ", text))).strip()
        left_out = sorted(self._left_out, key=lambda part: part.start)
        return StoryText(text, tuple(left_out))

    def visible(self) -> str:
        """The text without marks and blocks that are no story; its lines of data stay."""
        return "".join(self._pieces)

    def _pass(self) -> None:
        position = 0
        spans = asides(self._text)[::-1]
        for mark in marks(self._text):
            while spans and spans[-1][0] <= mark.start:
                start, end = spans.pop()
                if start >= position:
                    self._say(self._text[position:start])
                    self._leave_out(LeftOutKind.OUT_OF_CHARACTER, start, end)
                    position = end
            if mark.start < position:
                continue
            self._say(self._text[position : mark.start])
            position = mark.end
            self._take(mark)
        for start, end in reversed(spans):
            if start >= position:
                self._say(self._text[position:start])
                self._leave_out(LeftOutKind.OUT_OF_CHARACTER, start, end)
                position = end
        self._say(self._text[position:])
        end = len(self._text)
        self._end_line(end)
        while self._blocks:
            self._close_block(end, is_whole=False)

    def _take(self, mark: Mark) -> None:
        if mark.kind is MarkKind.LINE:
            self._pieces.append("\n")
            self._end_line(mark.end)
        elif mark.kind is MarkKind.OPEN:
            self._begin_element(mark)
        elif mark.kind is MarkKind.CLOSE:
            self._end_element(mark)
        elif mark.kind is MarkKind.FENCE:
            self._fence(mark)
        elif mark.kind is MarkKind.MACRO:
            self._macro(mark)
        elif mark.kind is MarkKind.HIDDEN:
            is_code = mark.name in ("script", "style", "code")
            kind = LeftOutKind.CODE if is_code else LeftOutKind.MARKUP
            self._leave_out(kind, mark.start, mark.end)
        elif mark.kind is MarkKind.PICTURE:
            self._say(mark.name)
            self._leave_out(LeftOutKind.PICTURE, mark.start, mark.end)
        else:
            self._say(mark.name)
            self._leave_out(LeftOutKind.MARKUP, mark.start, mark.end)

    def _say(self, words: str) -> None:
        if self._first_words is None and words.strip():
            self._first_words = len(self._pieces)
        if words:
            self._pieces.append(_ENTITY.sub(_unescaped, words))

    def _leave_out(self, kind: LeftOutKind, start: int, end: int) -> None:
        last = self._left_out[-1] if self._left_out else None
        if last is not None and last.kind is kind and last.end == start:
            self._left_out[-1] = LeftOut(kind, last.start, end)
        else:
            self._left_out.append(LeftOut(kind, start, end))

    def _macro(self, mark: Mark) -> None:
        names = dict.fromkeys(_USER, self._names.user)
        names.update(dict.fromkeys(_CHARACTER, self._names.character))
        name = names.get(mark.name, "")
        if name:
            self._say(name)
        else:
            self._leave_out(LeftOutKind.REST, mark.start, mark.end)

    def _begin_element(self, mark: Mark) -> None:
        name = mark.name
        self._leave_out(LeftOutKind.MARKUP, mark.start, mark.end)
        if name in INLINE:
            return
        if name in CELLS:
            self._pieces.append(" | ")
            return
        if name in BLOCKS:
            self._break(mark.start)
        elif name:
            self._end_line(mark.start)
        if name in _JUDGED or (name and name not in BLOCKS):
            self._open_block(name, mark)

    def _end_element(self, mark: Mark) -> None:
        name = mark.name
        if self._open[name]:
            self._end_line(mark.start)
            while self._blocks[-1].name != name:
                self._close_block(mark.start, is_whole=False)
            self._close_block(mark.end, is_whole=True, closing=mark)
        else:
            self._leave_out(LeftOutKind.MARKUP, mark.start, mark.end)
            if is_reasoning(name, leads=False):
                self._end_leading_reasoning(mark.end)
        if name in BLOCKS:
            self._break(mark.end)

    def _fence(self, mark: Mark) -> None:
        key = f"{mark.name} fence"
        if self._open[key]:
            self._end_line(mark.start)
            while self._blocks[-1].name != key:
                self._close_block(mark.start, is_whole=False)
            self._close_block(mark.end, is_whole=True, closing=mark)
        else:
            self._end_line(mark.start)
            self._leave_out(LeftOutKind.MARKUP, mark.start, mark.end)
            self._open_block(key, mark)

    def _open_block(self, name: str, mark: Mark) -> None:
        block = _Block(name, mark.start, len(self._pieces), len(self._lines))
        block.left_out = len(self._left_out) - 1
        last = self._left_out[-1]
        if last.start < mark.start:  # joined with markup before the block
            self._left_out[-1] = LeftOut(last.kind, last.start, mark.start)
            self._left_out.append(LeftOut(last.kind, mark.start, mark.end))
            block.left_out += 1
        self._blocks.append(block)
        self._open[name] += 1
        self._line_start = mark.end

    def _close_block(self, end: int, *, is_whole: bool, closing: Mark | None = None) -> None:
        block = self._blocks.pop()
        self._open[block.name] -= 1
        first = self._first_words
        leads = first is None or first >= block.pieces
        kind = block.kind()
        if is_whole and is_reasoning(block.name, leads=leads):
            kind = LeftOutKind.REASONING
        if kind is not None:
            del self._pieces[block.pieces :], self._lines[block.lines :]
            self._first_words = None if leads else first
            del self._left_out[block.left_out :]
            self._leave_out(kind, block.start, end)
            self._line_pieces, self._line_start = len(self._pieces), end
            return
        if closing is not None:
            self._leave_out(LeftOutKind.MARKUP, closing.start, closing.end)
            self._line_start = end
        if self._blocks and block.counts:
            self._blocks[-1].counts.update(block.counts)

    def _end_leading_reasoning(self, end: int) -> None:
        """All before is reasoning whose begin was cut off, if a story follows."""
        if self._text[end:].strip():
            self._first_words = None
            self._pieces.clear()
            self._lines.clear()
            self._blocks.clear()
            self._open.clear()
            self._left_out = [LeftOut(LeftOutKind.REASONING, 0, end)]
            self._line_pieces, self._line_start = 0, end

    def _break(self, position: int) -> None:
        """The end of a line, where one is begun."""
        if any(piece.strip() for piece in self._pieces[self._line_pieces :]):
            self._pieces.append("\n")
        self._end_line(position)

    def _end_line(self, position: int) -> None:
        """Judge the present line and begin another at `position`."""
        text = "".join(self._pieces[self._line_pieces :])
        if text.strip():
            kind = line_kind(text)
            self._lines.append(
                _Line(
                    self._line_pieces,
                    len(self._pieces),
                    self._line_start,
                    position,
                    text,
                    kind,
                )
            )
            if self._blocks:
                self._blocks[-1].counts[kind] += 1
        self._line_pieces, self._line_start = len(self._pieces), position

    def _leave_out_lines(self) -> None:
        """Leave out tables, code, and lines of data that stand in the messages around, too."""
        for kind, run in groupby(self._lines, _form):
            lines = list(run)
            if kind is not None and _stands_out(kind, lines):
                self._drop(lines, kind)
                continue
            for line in lines:
                if self._is_repeated(line):
                    self._drop([line], LeftOutKind.STATUS)

    def _is_repeated(self, line: _Line) -> bool:
        if not self._repeated:
            return False
        kept = skeleton(line.text)
        return bool(kept) and 2 * len(kept & self._repeated) > len(kept)

    def _drop(self, lines: Iterable[_Line], kind: LeftOutKind) -> None:
        for line in lines:
            self._pieces[line.first : line.stop] = [""] * (line.stop - line.first)
            self._leave_out(kind, line.start, line.end)


def _unescaped(match: re.Match[str]) -> str:
    return html.unescape(match[0])


def _form(line: _Line) -> LeftOutKind | None:
    """What the line is by its form, wherever it stands: of a table, of code, or neither."""
    if is_row(line.text) or is_rule(line.text):
        return LeftOutKind.STATUS
    return LeftOutKind.CODE if line.kind is LineKind.CODE else None


def _stands_out(form: LeftOutKind, lines: Sequence[_Line]) -> bool:
    """Whether lines of that form are a table of data or code; sentences may be told in columns, too."""
    if form is LeftOutKind.CODE:
        return any(is_certain_code(line.text) for line in lines)
    if len(lines) < _ROWS and not any(is_rule(line.text) for line in lines):
        return False
    spoken = sum(line.kind is LineKind.LABELLED for line in lines)
    return 2 * spoken <= len(lines)

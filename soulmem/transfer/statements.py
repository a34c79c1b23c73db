"""Cuts the texts of a card into statements that can be recalled one by one.

Cards are written as prose, as lists ("Age: 23"), as W++ (`Age("23" + "young")`), or as example dialogue.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from unicodedata import east_asian_width

from soulmem.language.card_words import begins_sentence, points_back
from soulmem.language.segmentation import sentences
from soulmem.transfer.lore import Cast
from soulmem.transfer.templates import filled, without_marks

SHORT = 40  # columns; a shorter sentence is joined with its neighbour
LONG = 240  # columns; neighbours are not joined beyond this
LONGEST = 1_200  # columns of one statement

_TAG = re.compile(r"</?[a-zA-Z][^<>\n]{0,200}>")
_STRING = r"(?:\"[^\"]{0,400}\"|“[^”]{0,400}”)"
_WPP = re.compile(rf"([^\W\d_][\w /&'-]{{0,40}}?)\s*\(\s*({_STRING}(?:\s*[+,]\s*{_STRING})*)\s*\)")
_QUOTED = re.compile(r"[\"“]([^\"“”]*)[\"”]")
_BULLET = re.compile(r"\A\s*(?:[-*•●◦▪–]|\d{1,2}[.)、])\s+")
_MARKUP = re.compile(r"^\s*#{1,6}\s*|\*\*|__|^\s*>\s*")
_KEYED = re.compile(
    r"\s*(?:[\[【(]\s*)?([^\W\d_][^:：\n\"“]{0,40}?)(?<!\d)\s*(?:[\]】)]\s*)?[:：](?!//)\s*(.*)\Z",
    re.DOTALL,
)
_SPOKEN = re.compile(r"\s*(\{\{(?:user|char)\}\}|<(?:user|bot|char)>)\s*[:：]", re.IGNORECASE)
_BRACKETS = "[]{}【】 \t"
_WIDE = frozenset("WF")


def columns(text: str) -> int:
    """The width of a text in columns: 2 for a Chinese character, else 1."""
    return sum(2 if east_asian_width(c) in _WIDE else 1 for c in text)


def plain(text: str, cast: Cast) -> str:
    """The text with macros replaced by names, without comments, code and markup of other programs."""
    return untagged(without_marks(filled(text, cast)))


def untagged(text: str) -> str:
    """The text without tags; what stands between them stays."""
    return _TAG.sub("", text)


def statements(text: str, cast: Cast) -> list[tuple[str | None, str]]:
    """(key, statement) of a description; the key of "Age: 23" is "Age", prose has none."""
    attributes, rest = _wpp(plain(text, cast))
    reader = _DescriptionReader()
    for line in [*rest.split("\n"), ""]:
        reader.add(line)
    pairs = [*attributes, *reader.statements]
    return [(key, piece) for key, piece in pairs if any(map(str.isalnum, piece))]


class _DescriptionReader:
    """Statements of a description, line by line; prose is collected until a line of another sort."""

    def __init__(self) -> None:
        self.statements: list[tuple[str | None, str]] = []
        self._heading: str | None = None
        self._is_section = False  # a marked heading is valid until the next one
        self._prose: list[str] = []

    def add(self, line: str) -> None:
        """Read one line; a blank one ends prose and list."""
        bare = _MARKUP.sub("", line).strip()
        if not bare.strip(_BRACKETS):
            self._end_prose()
            self._heading = self._heading if self._is_section else None
            return
        is_boxed = bare[0] in "[【" and bare[-1] in "]】" and columns(bare) < SHORT
        is_heading = is_boxed or line.lstrip().startswith("#")
        item = _BULLET.sub("", bare, count=1)
        keyed = _KEYED.match(item)
        if is_heading and keyed is None:
            self._end_prose()
            self._heading, self._is_section = bare.strip(_BRACKETS), True
        elif keyed is not None and _is_key(keyed[1]):
            self._add_keyed(keyed[1].strip(), keyed[2].strip(_BRACKETS))
        elif item != bare:
            self._end_prose()
            self._add(self._heading, sentences(item))
        else:
            self._prose += sentences(bare.strip("[]【】"))

    def _add_keyed(self, key: str, value: str) -> None:
        """A key with its value; one without a value is the heading of what follows."""
        self._end_prose()
        if value:
            self._add(key, sentences(value))
        else:
            self._heading, self._is_section = key, False

    def _end_prose(self) -> None:
        self._add(self._heading, self._prose)
        self._prose = []

    def _add(self, key: str | None, parts: list[str]) -> None:
        self.statements += [(key, piece) for piece in joined(parts)]


def examples(text: str, cast: Cast) -> list[str]:
    """The example dialogues of a card, one statement each; long ones are cut between lines."""
    out = []
    for block in re.split(r"<START>", text, flags=re.IGNORECASE):
        lines = [line.strip() for line in plain(block, cast).split("\n") if line.strip()]
        piece = ""
        for line in lines:
            if piece and columns(piece) + columns(line) > LONGEST:
                out.append(piece)
                piece = ""
            piece = f"{piece}\n{line}" if piece else line
        if piece:
            out.append(piece)
    return out


def has_dialogue(text: str) -> bool:
    """Whether a text is a dialogue between {{user}} and {{char}} (Ali:Chat format)."""
    return sum(bool(_SPOKEN.match(line)) for line in text.split("\n")) >= 2


def dialogue(text: str, cast: Cast) -> list[tuple[str | None, str]]:
    """A dialogue as statements: those before it, then each question with its answer."""
    lines = text.split("\n")
    first = next(i for i, line in enumerate(lines) if _SPOKEN.match(line))
    before = statements("\n".join(lines[:first]), cast)
    return [*before, *((None, turn) for turn in _turns(lines[first:], cast))]


def _turns(lines: list[str], cast: Cast) -> list[str]:
    out: list[str] = []
    turn: list[str] = []
    for line in lines:
        spoken = _SPOKEN.match(line)
        if spoken is not None and "user" in spoken[1].lower() and turn:
            out.append("\n".join(turn))
            turn = []
        words = plain(line, cast).strip(_BRACKETS)
        if words:
            turn.append(words)
    return [*out, "\n".join(turn)] if turn else out


def joined(parts: list[str]) -> Iterator[str]:
    """Sentences as pieces that stand alone: short ones, and those that refer back, join the one before."""
    piece = ""
    for part in parts:
        short = columns(piece) < SHORT or columns(part) < SHORT // 2
        if piece and (short or points_back(part)) and columns(piece) + columns(part) <= LONG:
            piece += part if piece[-1] in "。！？”」』" else f" {part}"
            continue
        if piece:
            yield piece
        piece = part
    yield from _cut(piece)


def _cut(piece: str) -> Iterator[str]:
    while columns(piece) > LONGEST:
        cut = piece.rfind(" ", 0, LONGEST // 2)
        cut = cut if cut > 0 else LONGEST // 2
        yield piece[:cut].strip()
        piece = piece[cut:].strip()
    if piece:
        yield piece


def _wpp(text: str) -> tuple[list[tuple[str | None, str]], str]:
    """The attributes in W++ notation, and the rest of the text."""
    attributes: list[tuple[str | None, str]] = []
    for match in _WPP.finditer(text):
        values = [value.strip() for value in _QUOTED.findall(match[2]) if value.strip()]
        if values and match[1].strip().lower() not in ("character", "char"):
            attributes.append((match[1].strip(), ", ".join(values)))
    if not attributes:
        return [], text
    rest = _WPP.sub("", text)
    return attributes, re.sub(r"\b[Cc]haracter\s*\([^()]*\)|[{}\[\]]", "", rest)


def _is_key(key: str) -> bool:
    """A few words before a colon, and no beginning of a sentence."""
    return (
        len(key.split()) <= 3
        and columns(key) <= SHORT
        and not begins_sentence(key)
        and key[-1] not in ".。，,"
    )

"""How is a card's prose cut into statements that can be recalled one by one?

Cards are written as prose, as lists ("Age: 23"), as W++ (`Age("23" + "young")`), or as example dialogue.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from unicodedata import east_asian_width

from soulmem.language.card_words import begins_sentence, points_back
from soulmem.language.segmentation import sentences
from soulmem.transfer.lore import Cast

SHORT = 40  # columns; a sentence that is shorter goes with its neighbour
LONG = 240  # columns; neighbours are not joined beyond this
LONGEST = 1_200  # columns of one statement

_MACRO = re.compile(
    r"\{\{\s*(char|user|bot|name)\s*\}\}|<(user|bot|char)>", re.IGNORECASE
)
_COMMENT = re.compile(r"\{\{\s*//|<!--")
_COMMENT_ENDS = {"<": "-->", "{": "}}"}  # by the sign that it begins with
_CHANCE = re.compile(r"\{\{\s*(?:original|random|pick|roll)[^{}]*\}\}")
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]{0,200}>")
_STRING = r"(?:\"[^\"]{0,400}\"|“[^”]{0,400}”)"
_WPP = re.compile(
    rf"([^\W\d_][\w /&'-]{{0,40}}?)\s*\(\s*({_STRING}(?:\s*[+,]\s*{_STRING})*)\s*\)"
)
_QUOTED = re.compile(r"[\"“]([^\"“”]*)[\"”]")
_BULLET = re.compile(r"\A\s*(?:[-*•●◦▪–]|\d{1,2}[.)、])\s+")
_MARKUP = re.compile(r"^\s*#{1,6}\s*|\*\*|__|^\s*>\s*")
_KEYED = re.compile(
    r"\s*(?:[\[【(]\s*)?([^\W\d_][^:：\n\"“]{0,40}?)(?<!\d)\s*(?:[\]】)]\s*)?[:：](?!//)\s*(.*)\Z",
    re.DOTALL,
)
_SPOKEN = re.compile(
    r"\s*(\{\{(?:user|char)\}\}|<(?:user|bot|char)>)\s*[:：]", re.IGNORECASE
)
_BRACKETS = "[]{}【】 \t"
_WIDE = frozenset("WF")


def columns(text: str) -> int:
    """How long a text is, a Chinese sign counting as two."""
    return sum(2 if east_asian_width(sign) in _WIDE else 1 for sign in text)


def _without_comments(text: str) -> str:
    """The text without comments; one that has no end is none, and is not looked for again."""
    kept, at, endless = [], 0, set[str]()
    for begins in _COMMENT.finditer(text):
        end = _COMMENT_ENDS[begins[0][0]]
        if begins.start() < at or end in endless:
            continue
        found = text.find(end, begins.end())
        if found < 0:
            endless.add(end)
            continue
        kept.append(text[at : begins.start()])
        at = found + len(end)
    return "".join(kept) + text[at:]


def plain(text: str, cast: Cast) -> str:
    """The text with names for macros, without comments and mark-up of other programs."""
    text = _CHANCE.sub(
        "", _without_comments(text.replace("\r\n", "\n").replace("\r", "\n"))
    )

    def name(match: re.Match[str]) -> str:
        return cast.user if (match[1] or match[2]).lower() == "user" else cast.character

    return _TAG.sub("", _MACRO.sub(name, text))


def statements(text: str, cast: Cast) -> list[tuple[str | None, str]]:
    """(key, statement) of a description; the key of "Age: 23" is "Age", prose has none."""
    out: list[tuple[str | None, str]] = []
    heading: str | None = None
    is_section = False  # a heading with a mark of its own holds until the next one
    prose: list[str] = []

    def flush() -> None:
        nonlocal prose
        out.extend((heading, piece) for piece in joined(prose))
        prose = []

    wpp, rest = _wpp(plain(text, cast))
    out += wpp
    for line in [*rest.split("\n"), ""]:
        bare = _MARKUP.sub("", line).strip()
        if not bare.strip(_BRACKETS):
            flush()
            heading = heading if is_section else None
            continue
        is_boxed = bare[0] in "[【" and bare[-1] in "]】" and columns(bare) < SHORT
        is_heading = is_boxed or line.lstrip().startswith("#")
        item = _BULLET.sub("", bare, count=1)
        keyed = _KEYED.match(item)
        if is_heading and keyed is None:
            flush()
            heading, is_section = bare.strip(_BRACKETS), True
        elif keyed is not None and _is_key(keyed[1]):
            flush()
            if keyed[2].strip(_BRACKETS):
                out += [
                    (keyed[1].strip(), piece)
                    for piece in joined(sentences(keyed[2].strip(_BRACKETS)))
                ]
            else:
                heading, is_section = keyed[1].strip(), False
        elif item != bare:
            flush()
            out += [(heading, piece) for piece in joined(sentences(item))]
        else:
            prose += sentences(bare.strip("[]【】"))
    return [(key, piece) for key, piece in out if any(sign.isalnum() for sign in piece)]


def examples(text: str, cast: Cast) -> list[str]:
    """The example dialogues of a card, one statement each; long ones in pieces, cut between lines."""
    out = []
    for block in re.split(r"<START>", text, flags=re.IGNORECASE):
        lines = [
            line.strip() for line in plain(block, cast).split("\n") if line.strip()
        ]
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
    """Whether a text is written as talk between {{user}} and {{char}} (Ali:Chat)."""
    return sum(bool(_SPOKEN.match(line)) for line in text.split("\n")) >= 2


def dialogue(text: str, cast: Cast) -> list[tuple[str | None, str]]:
    """Such talk as statements: each question with its answer, after what stands before the talk."""
    lines = text.split("\n")
    first = next(at for at, line in enumerate(lines) if _SPOKEN.match(line))
    told = statements("\n".join(lines[:first]), cast)
    return [*told, *((None, turn) for turn in _turns(lines[first:], cast))]


def _turns(lines: list[str], cast: Cast) -> list[str]:
    out: list[str] = []
    turn: list[str] = []
    for line in lines:
        spoken = _SPOKEN.match(line)
        if spoken is not None and "user" in spoken[1].lower() and turn:
            out.append("\n".join(turn))
            turn = []
        if said := plain(line, cast).strip(_BRACKETS):
            turn.append(said)
    return [*out, "\n".join(turn)] if turn else out


def joined(parts: list[str]) -> Iterator[str]:
    """Sentences that make sense by themselves: what is short or points back goes with its neighbour."""
    piece = ""
    for part in parts:
        short = columns(piece) < SHORT or columns(part) < SHORT // 2
        if (
            piece
            and (short or points_back(part))
            and columns(piece) + columns(part) <= LONG
        ):
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
    """The attributes written as W++, and what is left of the text."""
    found: list[tuple[str | None, str]] = []
    for match in _WPP.finditer(text):
        values = [value.strip() for value in _QUOTED.findall(match[2]) if value.strip()]
        if values and match[1].strip().lower() not in ("character", "char"):
            found.append((match[1].strip(), ", ".join(values)))
    if not found:
        return [], text
    return found, re.sub(
        r"\b[Cc]haracter\s*\([^()]*\)|[{}\[\]]", "", _WPP.sub("", text)
    )


def _is_key(key: str) -> bool:
    """A few words before a colon, and no beginning of a sentence."""
    return (
        len(key.split()) <= 3
        and columns(key) <= SHORT
        and not begins_sentence(key)
        and key[-1] not in ".。，,"
    )

"""What a line of visible text is: prose, data, code, or too short to say; and the skeleton of a line of data.

By its form alone: labels, separators, digits and brackets against sentences.
"""

from __future__ import annotations

import re
import unicodedata
from enum import Enum

from soulmem.language.scripts import UNSPACED


class LineKind(Enum):
    """What a line is."""

    PROSE = "prose"
    DATA = "data"
    LABELLED = "labelled"  # a sentence behind a label: data among data, else prose
    CODE = "code"
    SHORT = "short"  # a heading, a name, an exclamation: what stands around it decides


_LONGEST = 2_000  # characters of a line that are looked at
_LONGEST_FIELDS = 400  # characters of a line that may be one of data without a mark-up
# Sentences: so many words, or signs of a script without spaces; fewer where a full stop ends them.
_WORDS, _SIGNS = 10, 20
_ENDED_WORDS, _ENDED_SIGNS = 4, 7
_LABEL_WORDS, _LABEL_LENGTH = 4, 28

_WORD = re.compile(rf"(?:(?![{UNSPACED}\d_])\w)+")
_SIGN = re.compile(f"[{UNSPACED}]")
_ENDS = re.compile(r"[.!?\u2026\u3002\uff01\uff1f\u0964\u061f\u06d4][^\w]*$")
_STOP = re.compile(r"[.!?\u2026\u3002\uff01\uff1f\u0964\u061f\u06d4](?=\s|$|[^\w\s])")
_QUOTED = re.compile(
    r"[\"\u201c\u201d\u201e\u00ab\u00bb\u300c\u300d\u300e\u300f]|(?<!\w)\*(?=\w)[^*\n]{2,}\*"
)
_EDGES = (
    " \t*_~`#>+\u2022\u25cf\u25c6\u25b6\u2605-\u2013\u2014|\uff5c"
    "[](){}\u3010\u3011\u3014\u3015\u300a\u300b\uff08\uff09"
)
_SEPARATOR = re.compile(
    r"\s*[|\uff5c\u00a6\u00b7\u2022\u2027\u25cf\u25c6;\uff1b\t]+\s*|\s{3,}"
    r"|\s+/\s+|[,\uff0c\u3001]\s*(?=[^,\uff0c\u3001:\uff1a=|\s\d][^,\uff0c\u3001:\uff1a=|]{0,24}[:\uff1a=])"
)
_COLON = re.compile(r"(?<!\d)[:\uff1a=]|[:\uff1a=](?!\d)")
_NO_LABEL = re.compile(r"[\"\u201c\u201d.!?\u3002\uff01\uff1f*\u300c\u300d<>]")
_ROW = re.compile(r"\s*\|.*\|\s*$|[^|\n]*\|[^|\n]*\|")
_RULE = re.compile(r"[\s|:+=_*~#\u2500-\u257f-]+$")
_MEMBER = re.compile(r"\s*[\"'][^\"'\n]{1,80}[\"']\s*:")
_OBJECT = re.compile(r"\s*(?:[\[{]\s*)+[\"'][^\"'\n]{1,80}[\"']\s*[:,\]]")
_CALL = re.compile(r"([^\W\d][\w$.]{0,80})\s*\(")
_CALL_ENDS = re.compile(r"\)\s*;")
_STATEMENT = re.compile(r".*[;{}]\s*(?://.*|/\*.*)?$")
_BRACKETS = re.compile(r"[\s{}\[\](),;]+$")
_OPERATOR = re.compile(r"=>|[!=<>]==?|&&|\|\||\+=|-=|::|->|[\w$]\.[\w$]+\(|\b\w+\(")
_SEPARATED = re.compile(
    r"[|\uff5c\u00a6\u00b7\u2022\u2027\u25cf\u25c6;\uff1b\t:\uff1a=]|\s{3,}| / "
)


def line_kind(line: str) -> LineKind:
    """What a line without mark-up is; one of blanks and rules is short."""
    line = line[:_LONGEST]
    if _RULE.match(line):
        return LineKind.DATA if "|" in line else LineKind.SHORT
    if is_code(line):
        return LineKind.CODE
    parts = _fields(line)
    values = [value for label, value in parts if label]
    if _ROW.match(line) or len(values) > 1:
        cells = values if len(values) > 1 else [value for _, value in parts]
        spoken = sum(map(is_sentence, cells))
        return LineKind.LABELLED if 2 * spoken > len(cells) else LineKind.DATA
    if values and len(parts) == 1:
        return LineKind.LABELLED if is_sentence(values[0]) else LineKind.DATA
    if is_sentence(line) or _QUOTED.search(line):
        return LineKind.PROSE
    words, signs = _counts(line)
    has_digits = any(map(str.isdigit, line))
    if len(parts) > 2 or (has_digits and words <= 3 and signs <= 3):
        return LineKind.DATA
    return LineKind.SHORT


def is_sentence(text: str) -> bool:
    """Whether the text says something as a sentence does."""
    words, signs = _counts(text)
    if words / _WORDS + signs / _SIGNS >= 1:
        return True
    if words / _ENDED_WORDS + signs / _ENDED_SIGNS >= 1 and _ENDS.search(text):
        return True
    return len(_STOP.findall(text)) > 1 and words + signs > 2


def is_row(line: str) -> bool:
    """Whether the line is a row of a table drawn with `|`."""
    bare = line.strip()
    return len(bare) > 1 and bare[0] == "|" == bare[-1]


def is_rule(line: str) -> bool:
    """Whether the line is the rule below the head of such a table."""
    return "|" in line and "-" in line and _RULE.match(line) is not None


def is_code(line: str) -> bool:
    """Whether the line is one of a program or of JSON."""
    bare = line.strip()
    if not bare:
        return False
    if _MEMBER.match(bare) or _OBJECT.match(bare) or _is_call(bare):
        return True
    if _BRACKETS.match(bare):
        return any(sign in bare for sign in "{}[]")
    return bool(_STATEMENT.match(bare) and _OPERATOR.search(bare)) or bare.endswith("{")


def is_certain_code(line: str) -> bool:
    """Whether the line is code wherever it stands, and no bracket of a sentence."""
    bare = line.strip()
    return bool(_MEMBER.match(bare) or _OBJECT.match(bare)) or (
        bare.endswith(";") and _is_call(bare)
    )


def _is_call(bare: str) -> bool:
    """Whether the line begins with the call of a function: one of a module, or one that a statement ends with."""
    call = _CALL.match(bare)
    if call is None or ")" not in bare[call.end() :]:
        return False
    is_of_module = "." in call[1] or "_" in call[1]
    return is_of_module or _CALL_ENDS.search(bare, call.end()) is not None


def skeleton(line: str) -> frozenset[str]:
    """What a line of data keeps from one message to the next: its labels, or how many fields it has.

    Empty for prose, and for a line that is nothing but a sentence behind a label.
    """
    if len(line) > _LONGEST_FIELDS or not _SEPARATED.search(line):
        return frozenset()
    parts = _fields(line)
    labels = [_folded(label) for label, _ in parts if label]
    spoken = sum(is_sentence(value) or _QUOTED.search(value) is not None for _, value in parts)
    if len(parts) == 1:  # "Boris: No." is said by somebody
        spoken += _ENDS.search(parts[0][1]) is not None
    if not parts or 2 * spoken > len(parts):
        return frozenset()
    if labels and 2 * len(labels) >= len(parts):
        return frozenset(labels)
    if len(parts) > 2 and not (_QUOTED.search(line) or _ENDS.search(line)):
        return frozenset([f"{len(parts)}"])
    return frozenset()


def _fields(line: str) -> list[tuple[str, str]]:
    """The fields of a line, each with its label, which may be empty."""
    out = []
    for part in _SEPARATOR.split(line.strip(_EDGES)):
        bare = part.strip(_EDGES)
        if bare:
            out.append(_labelled(bare))
    return out


def _labelled(field: str) -> tuple[str, str]:
    colon = _COLON.search(field, 0, _LABEL_LENGTH + 8)
    if colon:
        label = field[: colon.start()].strip(_EDGES)
        if _is_label(label):
            return label, field[colon.end() :].strip(_EDGES)
    if field and unicodedata.category(field[0]) == "So":
        return field[0], field[1:].strip(_EDGES + "\ufe0f")
    return "", field


def _is_label(text: str) -> bool:
    if not text or len(text) > _LABEL_LENGTH or _NO_LABEL.search(text):
        return False
    words, signs = _counts(text)
    is_sign = unicodedata.category(text[0]) == "So"
    return words <= _LABEL_WORDS and signs <= 12 and (words + signs > 0 or is_sign)


def _folded(label: str) -> str:
    """A label without case, digits and blanks."""
    folded = unicodedata.normalize("NFKC", label).casefold()
    return re.sub(r"[\W\d]+", " ", folded).strip() or label


def _counts(text: str) -> tuple[int, int]:
    """How many words of scripts with spaces the text has, and how many signs of those without."""
    if text.isascii():
        return len(_WORD.findall(text)), 0
    return len(_WORD.findall(text)), len(_SIGN.findall(text))

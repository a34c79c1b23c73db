"""What an entry of a world says of the world: its text without orders to the model, code, forms and conditions.

Each sentence is judged by itself. Sentences that stand together (in one pair of brackets, one code fence, one
paragraph) go together: where most of a group is orders or code, the rest of it is a part of these.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from soulmem.domain.foreign_json import read_json
from soulmem.language.scripts import is_unspaced
from soulmem.language.segmentation import pieces
from soulmem.language.word_lists import words
from soulmem.transfer.statements import columns, untagged
from soulmem.transfer.templates import BRANCH, HOLE

_FILE = "orders"
# What a sentence may begin with before its first word: bullets, numbers, brackets, marks of emphasis.
_BEFORE = re.compile(r"[^\w<]{0,12}(?:\d{1,3}[.)、．:]\s?)?[^\w<]{0,12}")
_LABEL_END = re.compile(r"[^\w\n]{0,3}[:：]")
_SIGNS_OF_FORM = re.compile(r"</?[A-Za-z][\w-]{0,40}\s?/?>|`|\$\d|\x00")


def _matcher(key: str) -> re.Pattern[str]:
    """An expression that finds the words of a list in a text without capitals."""
    spaced, unspaced = [], []
    for entry in sorted(words(_FILE, "orders", key), key=len, reverse=True):
        body = re.escape(entry.rstrip("*").casefold())
        if is_unspaced(entry):
            unspaced.append(body)
        else:
            spaced.append(body if entry.endswith("*") else rf"{body}(?!\w)")
    return re.compile("|".join([rf"(?<!\w)(?:{'|'.join(spaced)})", *unspaced]))


_AMOUNT = re.compile(
    r"(?<!\d)\d{1,6}\s?(?:[-~–]\s?\d{1,6}\s?)?\+?\s?(?:"
    rf"{'|'.join(words(_FILE, 'orders', 'amounts'))})"
)
_DECISIVE, _MACHINERY, _LANGUAGES = map(_matcher, ("decisive", "machinery", "languages"))
_TEXT, _MUST, _DEEDS, _WRITERS, _LABELS, _FORMS = map(
    _matcher, ("text", "must", "deeds", "writers", "labels", "forms")
)


def is_order(sentence: str, player: str) -> bool:
    """Whether a sentence tells a writer or a program what to write, or how.

    player  the user's name: who is named in an order is seldom asked to do something
    """
    folded = sentence.casefold()
    if _DECISIVE.search(folded):
        return True
    label = _label(folded)
    begins = _beginning(folded[label:])
    must, opens = _MUST.search(folded), _MUST.match(begins)
    deed = _DEEDS.match(begins[opens.end() :].lstrip() if opens else begins)
    direct = (
        (must is not None)
        + (opens is not None or deed is not None)
        + (deed is not None)
        + (_WRITERS.search(folded) is not None)
    )
    named = 2 * len(_named(_MACHINERY, folded)) + 2 * bool(_AMOUNT.search(folded))
    named += len(_named(_TEXT, folded, deed[0] if deed else ""))
    named += (bool(player) and player in sentence) + bool(_LANGUAGES.search(folded))
    named += bool(_SIGNS_OF_FORM.search(sentence))
    if label:
        return named + direct >= 2
    return (named >= 2 and direct >= 1) or (named >= 1 and direct >= 2) or direct >= 4 or named >= 5


def is_labelled(text: str) -> bool:
    """Whether it begins with a label of orders ("System: ..", "【系统】：")."""
    return _label(text[:200].casefold()) > 0


def _label(text: str) -> int:
    """Where the label ends that the text begins with; 0 without one."""
    before = _BEFORE.match(text)
    label = _LABELS.match(text, before.end() if before else 0)
    end = _LABEL_END.match(text, label.end()) if label else None
    return end.end() if end else 0


def names_form(heading: str) -> bool:
    """Whether a heading says that a form, a variable or an order follows."""
    return _FORMS.search(heading.casefold().replace("_", " ")) is not None


def _beginning(text: str) -> str:
    """The text from its first word on."""
    before = _BEFORE.match(text)
    return text[before.end() :] if before else text


def _named(pattern: re.Pattern[str], sentence: str, but: str = "") -> set[str]:
    """The different words of a list that a sentence has, without one."""
    return set(pattern.findall(sentence)) - {but}


_DECORATOR = re.compile(r"^[ \t]*@@+[A-Za-z_].*$", re.MULTILINE)
_OFF = re.compile(r"^[ \t]*@@dont_activate\b", re.MULTILINE)
_HIDDEN = re.compile(r"<(script|style)\b.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,}).*$", re.MULTILINE)
_BLANK = re.compile(r"\n[ \t]*\n")
_OPENING, _CLOSING = "[【", "]】"
_LAST_STEP = 200  # largest number of a table of steps; larger ones are years
_GROUP = 16  # columns that a bracket holds at least to be a group of its own
_MOST, _FORM = (
    0.6,
    0.2,
)  # share of orders and code from which a whole group goes; below a heading of forms

_BULLET = re.compile(r"^[ \t]*(?:[-*•●◦▪–+>#]+|\d{1,2}[.)、])[ \t]*")
_REGEX = re.compile(r"\s*/(?!/)[^\n]{2,}/[dgimsuvy]{0,8}\s*")
_OPERATOR = r"=>|[=!]==?|&&|\|\||\$\{|\$\d|::|[)}\]'\"];\s*(?:$|//)|\\[sSdDwWb][*+?\])]"
_NAME_OF_CODE = r"\b\w+\.\w+\(|\b[a-z]{2,}[A-Z][a-z]\w*|\b[a-z]+_[a-z]\w*"
_BEGINS_CODE = r"^\s*(?:const|let|var|return|if|for)\b[^\n.]*[({=]|\bfunction\b\s?\w*\("
_CODE = re.compile("|".join((_OPERATOR, _NAME_OF_CODE, _BEGINS_CODE)))
# A number that something must reach: what such a line says holds under a condition only.
_CONDITION = re.compile(r"[\w)\]'\"]\s?(?:[<>]=?|==|!=|[≥≤≧≦＞＜])\s*-?\d")
_JSON_LINE = re.compile(r"\s*[\"'][^\"'\n]{1,80}[\"']\s?:\s?(.*)")
_KEYED = re.compile(r"([^:：\n]{1,40})[:：]\s*(.*)", re.DOTALL)
_STEP = re.compile(
    r"[^\w\n]{0,4}(?:[^\W\d]{1,12}\s?)?(\d{1,3})\s?[-~～–—到至]\s?(\d{1,3})\b[^:：\n]{0,12}[:：]"
)
# What stands where a value has to be put in: [mood], {{x}}, <text>, XX, HH:MM, ___, a type.
_SLOT = re.compile(
    r"[\[{(<【（＜「][^\n]{0,80}[\]})>】）＞」][.。]?|[-XYMDHNS#_?.…/:~%\s年月日时分点]{0,20}(?:XX|YYYY|HH|MM|__|\?\?|\.\.\.|…)"
    r"[-XYMDHNS\d#_?.…/:~%\s年月日时分点]{0,40}|[xXnN#?_](?:/\d{1,9})?%?|-?\d{1,9}\s?[~～]\s?-?\d{1,9}"
)
# fmt: off
_TYPES = frozenset({"number", "string", "boolean", "bool", "int", "integer", "float", "array", "object", "enum"})
# fmt: on


@dataclass(frozen=True, slots=True)
class Prose:
    """What is left of an entry.

    text         the statements; empty where the whole entry is orders or code
    is_shortened whether orders or code were left out
    """

    text: str
    is_shortened: bool


@dataclass(frozen=True, slots=True)
class _Group:
    """Lines that stand together."""

    text: str
    is_bracket: bool = False


def is_switched_off(content: str) -> bool:
    """Whether a decorator says that the entry is never used."""
    return _OFF.search(content) is not None


def prose_of(content: str, heading: str, player: str) -> Prose:
    """The statements of an entry whose templates are filled in.

    heading  the entry's title
    player   the user's name
    """
    text = _DECORATOR.sub("", content).replace(BRANCH, "").strip()
    if not any(map(str.isalnum, text)):
        return Prose("", text != content.strip())
    if (whole := _json(text)) is not None:
        return Prose(text, False) if _tells(whole) else Prose("", True)
    visible = _HIDDEN.sub("", text)
    in_form = names_form(heading)
    kept, is_shortened = [], visible != text or BRANCH in content
    for group in _groups(visible):
        said, is_cut = _Reader(group, in_form, player).read()
        is_shortened = is_shortened or is_cut
        kept.append(said)
    prose = re.sub(r"\n{3,}", "\n\n", "".join(kept)).strip()
    if not any(map(str.isalnum, prose)):
        prose = ""
    return Prose(prose, is_shortened)


def _groups(text: str) -> Iterator[_Group]:
    """The text in groups: what long brackets hold, what fences hold, paragraphs."""
    position = 0
    for start, end in _brackets(text):
        yield from _paragraphs(text[position:start])
        yield _Group(text[start:end], is_bracket=True)
        position = end
    yield from _paragraphs(text[position:])


def _brackets(text: str) -> list[tuple[int, int]]:
    """Begin and end of the outermost long brackets."""
    opened: list[int] = []
    spans: list[tuple[int, int]] = []
    for match in re.finditer(f"[{re.escape(_OPENING + _CLOSING)}]", text):
        if match[0] in _OPENING:
            opened.append(match.start())
        elif opened:
            start = opened.pop()
            while spans and spans[-1][0] > start:
                spans.pop()
            spans.append((start, match.end()))
    return [
        (start, end)
        for start, end in spans
        if columns(text[start:end]) >= _GROUP and _begins_line(text, start)
    ]


def _begins_line(text: str, place: int) -> bool:
    before = text[text.rfind("\n", 0, place) + 1 : place]
    return not any(map(str.isalnum, before))


def _paragraphs(text: str) -> Iterator[_Group]:
    for number, part in enumerate(_FENCE.split(text)):
        if number:
            yield _Group("\n\n")
        for place, paragraph in enumerate(_BLANK.split(part)):
            if place:
                yield _Group("\n\n")
            yield _Group(paragraph)


class _Reader:
    """Judges one group line by line."""

    def __init__(self, group: _Group, in_form: bool, player: str) -> None:
        self._group, self._player = group, player
        lines = group.text.split("\n")
        head = next((line for line in lines if line.strip()), "")
        self._in_form = in_form or (_is_heading(head) and names_form(head))
        self._lines = lines
        self._steps = _steps(lines)
        self._kept = self._left = 0  # columns
        self._is_cut = False  # by a condition, which says nothing of its neighbours

    def read(self) -> tuple[str, bool]:
        """What the group says, and whether something of it was left out."""
        bare = self._group.text.strip("[]【】 \n")
        if self._group.is_bracket and _json(self._group.text) is not None:
            return "", True
        labelled = self._group.is_bracket and is_labelled(bare)
        lines = [self._line(place) for place in range(len(self._lines))]
        whole = self._kept + self._left
        limit = _FORM if self._in_form or labelled else _MOST
        if self._left and self._left >= limit * whole:
            return "", True
        return "\n".join(lines), self._is_cut or self._left > 0

    def _line(self, place: int) -> str:
        """What a line says: its sentences without orders; nothing of a line of code."""
        line = self._lines[place]
        shown = untagged(line)
        if not any(map(str.isalnum, shown)):
            self._left += HOLE in line
            return "" if HOLE in line else shown
        if self._is_code(line) or self._is_slot(place, shown):
            self._left += columns(shown)
            return ""
        kept = []
        for sentence in pieces(shown):
            if _CONDITION.search(sentence):
                self._is_cut = True
            elif HOLE in sentence or is_order(sentence, self._player):
                self._left += columns(sentence)
            else:
                self._kept += columns(sentence)
                kept.append(sentence)
        return "".join(kept)

    def _is_code(self, line: str) -> bool:
        if _REGEX.fullmatch(line):
            return True
        if (match := _JSON_LINE.fullmatch(line)) is not None:
            return not _is_phrase(match[1].strip("\"', "))
        shown = untagged(line)
        signs = _CODE.findall(shown)
        words = len(re.findall(r"\w+", shown))
        return len(signs) >= 2 or (len(signs) == 1 and words <= 6 and HOLE not in line)

    def _is_slot(self, place: int, shown: str) -> bool:
        """Whether a line only says where something is to be put in, or which step holds when."""
        if place in self._steps:
            return True
        item = _BULLET.sub("", shown, count=1).strip()
        keyed = _KEYED.fullmatch(item)
        if keyed is None:
            return bool(_SLOT.fullmatch(item)) and not self._group.is_bracket
        value = keyed[2].strip()
        if not value:
            return self._in_form or self._is_empty_key(place)
        if _SLOT.fullmatch(value) or value.casefold() in _TYPES:
            return True
        return self._in_form and columns(value) <= _GROUP and not is_labelled(item)

    def _is_empty_key(self, place: int) -> bool:
        """Whether a key without a value is no heading: another such key follows or goes before."""
        near = [n for n in (place - 1, place + 1) if 0 <= n < len(self._lines)]
        return any(
            _is_heading(self._lines[n]) and _depth(self._lines[n]) == _depth(self._lines[place])
            for n in near
        )


def _is_heading(line: str) -> bool:
    """Whether a line is a key without a value."""
    bare = untagged(line).strip().rstrip("*_ ")
    return bare.endswith((":", "：")) and any(map(str.isalnum, bare))


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _steps(lines: Sequence[str]) -> frozenset[int]:
    """The lines of a table of steps ("0-20: cold", "21-50: warm"): which one holds depends on a number."""
    found = []
    for place, line in enumerate(lines):
        match = _STEP.match(line)
        if match and int(match[2]) <= _LAST_STEP:
            found.append((place, int(match[1]), int(match[2])))
    follows = [
        abs(here[1] - there[2]) <= 1 or abs(there[1] - here[2]) <= 1
        for here, there in pairwise(found)
    ]
    return frozenset(place for place, *_ in found) if any(follows) else frozenset()


def _json(text: str) -> Any:
    """The value where the text is JSON with something in it, else None."""
    bare = _FENCE.sub("", text).strip()
    if bare[:1] not in ("{", "["):
        return None
    try:
        return read_json(bare) or None
    except ValueError:
        return None


def _tells(value: Any) -> bool:
    """Whether most of what JSON holds are phrases, not values of a program."""
    phrases = other = 0
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
        elif isinstance(one, str) and _is_phrase(one):
            phrases += columns(one)
        else:
            other += columns(str(one))
    return phrases > other


def _is_phrase(text: str) -> bool:
    """Whether a value is words of a language, some of them, and no path or formula."""
    words = len(re.findall(r"[^\W\d_]+", text))
    has_code = "/" in text or _CODE.search(text) or _SLOT.fullmatch(text)
    return not has_code and (words >= 3 or columns(text) >= 12)

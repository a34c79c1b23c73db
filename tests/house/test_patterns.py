"""No regular expression of the project takes more than a second on 100 kB of its worst text.

Worst texts are made from each expression itself: what may be repeated without end, over and over, behind what
must stand before it and without what must follow. Beside them stand runs of signs that many expressions begin
with. A text is lengthened only while its time grows faster than its length, so that the check stays short.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest

import soulmem

parser: Any = importlib.import_module("re._parser")
names: Any = importlib.import_module("re._constants")

SIZES = (6_000, 25_000, 100_000)
SUSPECT = 0.002  # CPU seconds at the first size, from which on the next is tried
MOST = 1.0  # CPU seconds at the last one; at a shorter one as much less
LONG = 50  # a repetition that may be so long can be pumped
RUNS = (
    *(
        "\n",
        " ",
        "\t",
        "a",
        "A",
        "1",
        "的",
        "ア",
        "三",
        "年",
        "在",
        "｡",
        "\\",
        "`",
        "_",
        "|",
        "-",
        "=",
        "'",
        '"',
    ),
    *(
        "<",
        "<a>",
        "(",
        "[",
        "{",
        "{{",
        "{{//",
        "<!--",
        "*",
        "“",
        "，",
        ", ",
        ". ",
        ": ",
        "x: ",
        "\r\n",
        "/*",
    ),
    *(
        "a ",
        "Aa ",
        "Bo of the ",
        "a'",
        "a-",
        "&amp;",
        "http://",
        "3 days ago ",
        "12:30 ",
        '"a": ',
    ),
)


@dataclass(frozen=True)
class Found:
    """An expression, where it stands, and whether it is only ever tried at the beginning of a text."""

    place: str
    pattern: re.Pattern[Any]
    anchored: bool


def expressions() -> Iterator[Found]:
    """Those that modules keep, also inside of tuples, lists and mappings."""
    seen: set[tuple[Any, int]] = set()
    for info in pkgutil.walk_packages(soulmem.__path__, "soulmem."):
        if info.name.endswith("__main__"):
            continue
        module = importlib.import_module(info.name)
        for name, value in vars(module).items():
            for pattern in inside(value, 0):
                key = pattern.pattern, pattern.flags
                if key not in seen:
                    seen.add(key)
                    yield Found(
                        f"{info.name}.{name}",
                        pattern,
                        only_at_the_beginning(module, name),
                    )


def inside(value: object, depth: int) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth < 3 and isinstance(value, tuple | list | set | frozenset):
        for one in value:
            yield from inside(one, depth + 1)
    elif depth < 3 and isinstance(value, dict):
        yield from inside((*value.keys(), *value.values()), depth)
    elif depth < 3 and type(value).__module__.startswith("soulmem."):
        slots = getattr(type(value), "__slots__", ())
        yield from inside([getattr(value, slot, None) for slot in slots], depth)


def only_at_the_beginning(module: ModuleType, name: str) -> bool:
    ways = set(re.findall(rf"(?<![\w.]){name}\.(\w+)\(", inspect.getsource(module)))
    bare = re.search(rf"(?<![\w.]){name}(?!\.|\w| = |: )", inspect.getsource(module))
    return bool(ways) and ways <= {"match", "fullmatch"} and bare is None


def shortest(tree: Any) -> str:
    """A text that the expression takes, short, but with each optional part once."""
    return "".join(shortest_of(kind, value) for kind, value in tree)


def shortest_of(kind: Any, value: Any) -> str:
    if kind is names.LITERAL:
        return chr(value)
    if kind is names.NOT_LITERAL:
        return "y" if chr(value) == "x" else "x"
    if kind is names.IN:
        return one_of(value)
    if kind in REPEATS:
        return shortest(value[2]) * int(max(value[0], 1 if value[1] else 0))
    if kind is names.SUBPATTERN:
        return shortest(value[-1])
    if kind is names.BRANCH:
        return shortest(value[1][0])
    if kind is names.ATOMIC_GROUP:
        return shortest(value)
    return "x" if kind in (names.ANY, names.GROUPREF) else ""


REPEATS = (names.MAX_REPEAT, names.MIN_REPEAT, names.POSSESSIVE_REPEAT)
CATEGORIES = {
    names.CATEGORY_DIGIT: "1",
    names.CATEGORY_SPACE: " ",
    names.CATEGORY_NOT_WORD: " ",
}


def one_of(items: Any) -> str:
    """A sign of the class."""
    if items[0][0] is names.NEGATE:
        return next(
            (
                sign
                for sign in 'xa1 的\n"('
                if not any(has(one, sign) for one in items[1:])
            ),
            "z",
        )
    kind, value = items[0]
    if kind is names.LITERAL:
        return chr(value)
    return chr(value[0]) if kind is names.RANGE else CATEGORIES.get(value, "a")


def has(item: Any, sign: str) -> bool:
    kind, value = item
    if kind is names.LITERAL:
        return bool(ord(sign) == value)
    if kind is names.RANGE:
        return bool(value[0] <= ord(sign) <= value[1])
    return {
        names.CATEGORY_DIGIT: sign.isdigit(),
        names.CATEGORY_SPACE: sign.isspace(),
        names.CATEGORY_WORD: sign.isalnum(),
        names.CATEGORY_NOT_SPACE: not sign.isspace(),
    }.get(value, False)


def pumps(tree: Any, before: str = "") -> Iterator[tuple[str, str]]:
    """For each long repetition what stands before it, and what is repeated."""
    for kind, value in tree:
        if kind in REPEATS:
            if value[1] >= LONG:
                yield before, shortest(value[2])
            yield from pumps(value[2], before)
            before += shortest(value[2]) * value[0]
        elif kind is names.SUBPATTERN:
            yield from pumps(value[-1], before)
            before += shortest(value[-1])
        elif kind is names.BRANCH:
            for branch in value[1]:
                yield from pumps(branch, before)
            before += shortest(value[1][0])
        elif kind in (names.ASSERT, names.ASSERT_NOT):
            yield from pumps(value[1], before)
        else:
            before += shortest_of(kind, value)


def worst_of(pattern: re.Pattern[Any]) -> dict[tuple[str, str], None]:
    """Texts that may hurt: what stands once, and what is repeated behind it."""
    source = (
        pattern.pattern
        if isinstance(pattern.pattern, str)
        else pattern.pattern.decode("latin-1")
    )
    tree = parser.parse(
        source, pattern.flags if isinstance(pattern.pattern, str) else 0
    )
    texts = {("", run): None for run in RUNS}
    for before, pump in pumps(tree):
        for text in (
            ("", pump),
            ("", before + pump),
            ("", pump + before),
            (before, pump),
        ):
            texts[text] = None
    whole = shortest(tree)
    for end in range(1, min(len(whole), 12)):
        texts["", whole[:end]] = None
    return {text: None for text in texts if text[1]}


def seconds(found: Found, once: str, pump: str, size: int) -> float:
    text: Any = once + pump * (size // len(pump)) + "\x00"
    if isinstance(found.pattern.pattern, bytes):
        text = text.encode()
    began = time.process_time()
    if found.anchored:
        found.pattern.match(text)
        found.pattern.fullmatch(text)
    else:
        for _ in found.pattern.finditer(text):
            pass
    return time.process_time() - began


def slow(found: Found) -> str | None:
    """The text that the expression is slow on, and how slow; None when there is none."""
    for once, pump in worst_of(found.pattern):
        for size in SIZES:
            # The lesser of two: the machine may have been busy with something else in one of them.
            took = seconds(found, once, pump, size)
            if SUSPECT < took < 5 * MOST:
                took = min(took, seconds(found, once, pump, size))
            if took > MOST * size / SIZES[-1]:
                return (
                    f"{found.place}: {took:.1f} s on {size} signs of {once!r} {pump!r}"
                )
            if took <= SUSPECT * size / SIZES[0]:
                break
    return None


@pytest.mark.timeout(300)
def test_no_expression_is_slow_on_its_worst_text() -> None:
    every = list(expressions())
    assert len(every) > 100
    assert [told for found in every if (told := slow(found)) is not None] == []


@pytest.mark.parametrize("source", [r"\s+x", r"<!--.*-->", r"\w+\s*\(\w*\)"])
def test_the_check_finds_slow_ones(source: str) -> None:
    assert (
        slow(Found("here", re.compile(source, re.DOTALL), anchored=False)) is not None
    )

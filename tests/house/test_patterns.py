"""No regular expression of the project takes more than two seconds on 100 kB of its worst text.

Those that modules keep are found by themselves; those that are built while a function is called have to stand in
`BUILDERS`, which a test compares with the code.

Worst texts are made from each expression itself: what may be repeated without end, over and over, behind what
must stand before it and without what must follow. Beside them stand runs of signs that many expressions begin
with. A text is lengthened only while its time grows faster than its length, so that the check stays short.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import soulmem
from soulmem.conversation import micro_units
from soulmem.engine.deep import exploration, quiz
from soulmem.engine.recall import absence, habits, who_is_met
from soulmem.language import (
    card_words,
    described_names,
    feelings,
    habit_sentences,
    speech,
)
from soulmem.language.times import chinese_times, english_times, feasts
from soulmem.prompts.grounding import passage_words, support
from soulmem.transfer import world_prose
from tests.house.built_patterns import CALLS, Recorder
from tests.house.sources import parsed

parser: Any = importlib.import_module("re._parser")
names: Any = importlib.import_module("re._constants")

SIZES = (2_000, 30_000, 100_000)
SUSPECT = 0.0005  # CPU seconds at the first size, from which on the next is tried
# a text that took so much more a sign than a shorter one takes longer than its length says
GROWN = 2.0
MOST = 2.0  # CPU seconds at the last one; at a shorter one as much less
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
            (sign for sign in 'xa1 的\n"(' if not any(has(one, sign) for one in items[1:])),
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
        pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    )
    tree = parser.parse(source, pattern.flags if isinstance(pattern.pattern, str) else 0)
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


def slow(found: Found, sizes: Sequence[int] = SIZES) -> str | None:
    """The text that the expression is slow on, and how slow; None when there is none."""
    for once, pump in worst_of(found.pattern):
        usual = SUSPECT / SIZES[0]  # seconds a sign
        for size in sizes:
            took = seconds(found, once, pump, size)
            if MOST * size / SIZES[-1] < took < 5 * MOST:
                # The lesser of two: the machine may have been busy with something else.
                took = min(took, seconds(found, once, pump, size))
            if took > MOST * size / SIZES[-1]:
                return f"{found.place}: {took:.1f} s on {size} signs of {once!r} {pump!r}"
            if took <= usual * size:
                break
            usual = max(usual, GROWN * took / size)
    return None


# Words of a user, a card or a model that stand in an expression.
HOSTILE = ("a", "(a+)+b .*", "的", "a" * 60)
SAID = "a b c, then (a+)+b and .*.*.*x: " * 3


def with_each(use: Callable[[str], object]) -> Callable[[], None]:
    """What uses every hostile word."""

    def used() -> None:
        for word in HOSTILE:
            use(word)

    return used


def habits_of(*sentences: str) -> Callable[[], None]:
    return with_each(lambda word: [habit_sentences.stated_habit(one, [word]) for one in sentences])


ENGLISH_HABIT = "Whenever it rains she sings"
CHINESE_HABIT = "她一下雨就会唱歌"
# Its expression is only compared with a whole sentence.
WHOLE = {"language/habit_sentences.py:_chinese_begin"}
# How each function that builds an expression while it is called is made to build it.
BUILDERS: dict[str, Callable[[], object]] = {
    "engine/deep/exploration.py:_about": with_each(
        lambda word: exploration._about(SAID, HOSTILE, word)
    ),
    "engine/recall/absence.py:_said_as": with_each(lambda word: absence._said_as(word, "xy")),
    "engine/recall/who_is_met.py:_any_of": with_each(
        lambda word: who_is_met._any_of((word, "Ann"))
    ),
    "language/card_words.py:_starts": lambda: card_words._starts("no_key"),
    "language/described_names.py:spelled": with_each(
        lambda word: described_names.spelled(word, SAID)
    ),
    "conversation/micro_units.py:_places_of": with_each(
        lambda word: list(micro_units._places_of(SAID, word, 0))
    ),
    "language/feelings.py:_any_word": feelings._any_word.__wrapped__,
    "language/habit_sentences.py:_english_begin": (habit_sentences._english_begin.__wrapped__),
    "language/habit_sentences.py:_english_inner": (habit_sentences._english_inner.__wrapped__),
    "language/habit_sentences.py:_english_parts": habits_of(ENGLISH_HABIT),
    "language/habit_sentences.py:_english_main": habits_of(
        ENGLISH_HABIT, "She always sings whenever it rains"
    ),
    "language/habit_sentences.py:_chinese_begin": (habit_sentences._chinese_begin.__wrapped__),
    "language/habit_sentences.py:_chinese_once": with_each(
        lambda word: habit_sentences._chinese_once([word])
    ),
    "language/habit_sentences.py:_chinese_time": (habit_sentences._chinese_time.__wrapped__),
    "language/habit_sentences.py:_chinese_main": habits_of(CHINESE_HABIT),
    "language/habit_sentences.py:_subject": habits_of(ENGLISH_HABIT, CHINESE_HABIT),
    "conversation/micro_units.py:_cue": lambda: micro_units._cue("feelings"),
    "engine/recall/habits.py:_labelled": habits._labelled.__wrapped__,
    "engine/recall/habits.py:_tagged": habits._tagged.__wrapped__,
    "language/speech.py:_denied_signs": lambda: list(
        speech.speech_of("zh")._denied_signs("没有的事", 3)
    ),
    "language/times/chinese_times.py:_pattern": chinese_times.compiled.__wrapped__,
    "language/times/english_times.py:_pattern": english_times.compiled.__wrapped__,
    "language/times/feasts.py:feast": lambda: feasts.feast("no feast", 2026),
    "prompts/grounding/passage_words.py:stands": with_each(
        lambda word: passage_words.stands(word, SAID + "的")
    ),
    "prompts/grounding/support.py:_pattern": lambda: support._pattern(HOSTILE),
    "engine/deep/quiz.py:_places": with_each(lambda word: list(quiz._places(SAID, word))),
    "transfer/world_prose.py:_matcher": lambda: world_prose._matcher("decisive"),
    "transfer/world_prose.py:_brackets": lambda: world_prose._brackets(SAID),
}


@dataclass(frozen=True)
class Building:
    """A call of `re` inside a function, with a pattern that is no literal text."""

    place: str  # file:function
    first: int  # line
    last: int


def calls_of_re(repository: Path) -> Iterator[tuple[str, ast.Call]]:
    """Every call of `re` with a pattern inside a function: file and function, and the call."""
    for path in sorted((repository / "soulmem").rglob("*.py")):
        file = path.relative_to(repository / "soulmem").as_posix()
        for function in ast.walk(parsed(path)):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                for call in ast.walk(function):
                    if isinstance(call, ast.Call) and is_of_re(call.func):
                        yield f"{file}:{function.name}", call


def is_of_re(func: ast.expr) -> bool:
    return (
        isinstance(func, ast.Attribute)
        and isinstance(func.value, ast.Name)
        and func.value.id == "re"
        and func.attr in CALLS
    )


def literal(place: str, call: ast.Call) -> re.Pattern[str] | None:
    """The expression of a call whose pattern is a text, or a text kept by its module; None for others."""
    source: object = None
    if isinstance(call.args[0], ast.Constant):
        source = call.args[0].value
    elif isinstance(call.args[0], ast.Name):
        name = "soulmem." + place.split(":")[0][:-3].replace("/", ".")
        source = getattr(importlib.import_module(name), call.args[0].id, None)
    flags = next((k.value for k in call.keywords if k.arg == "flags"), None)
    number = eval(ast.unparse(flags), {"re": re}) if flags is not None else 0
    return re.compile(source, number) if isinstance(source, str) else None


def buildings(repository: Path) -> Iterator[Building]:
    for place, call in calls_of_re(repository):
        if literal(place, call) is None:
            yield Building(place, call.lineno, call.end_lineno or call.lineno)


@pytest.fixture(scope="module")
def every_building(repository: Path) -> Sequence[Building]:
    """All of them: to parse the code takes seconds."""
    return tuple(buildings(repository))


def test_every_expression_that_is_built_in_a_call_is_known(
    every_building: Sequence[Building],
) -> None:
    assert {building.place for building in every_building} == set(BUILDERS)


@pytest.fixture(scope="module")
def kept() -> set[tuple[Any, int]]:
    """Expressions of modules, which another test looks at."""
    return {(found.pattern.pattern, found.pattern.flags) for found in expressions()}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("place", BUILDERS)
def test_no_expression_that_is_built_in_a_call_is_slow(
    place: str,
    repository: Path,
    every_building: Sequence[Building],
    monkeypatch: pytest.MonkeyPatch,
    kept: set[tuple[Any, int]],
) -> None:
    wanted = [one for one in every_building if one.place == place]
    recorder = Recorder(repository, monkeypatch)
    BUILDERS[place]()
    monkeypatch.undo()
    file = place.split(":")[0]
    found: dict[tuple[str, int], Found] = {}
    for building in wanted:
        built = [
            (pattern, anchored)
            for at, line, pattern, anchored in recorder.built
            if at == file and building.first <= line <= building.last
        ]
        assert built, building
        for pattern, anchored in built:
            key = pattern.pattern, pattern.flags
            found[key] = Found(place, pattern, anchored or place in WHOLE)
    new = [one for key, one in found.items() if key not in kept]
    assert [told for one in new if (told := slow(one, SIZES[:2])) is not None] == []


@pytest.mark.timeout(300)
def test_no_literal_expression_in_a_call_is_slow(repository: Path) -> None:
    texts = {
        (pattern.pattern, pattern.flags): Found(place, pattern, anchored=False)
        for place, call in calls_of_re(repository)
        if (pattern := literal(place, call)) is not None
    }
    assert len(texts) > 8
    assert [told for one in texts.values() if (told := slow(one)) is not None] == []


@pytest.mark.slow("each expression of the code searches texts of growing length")
@pytest.mark.timeout(300)
def test_no_expression_is_slow_on_its_worst_text() -> None:
    every = list(expressions())
    assert len(every) > 100
    assert [told for found in every if (told := slow(found)) is not None] == []


@pytest.mark.parametrize(
    ("source", "sizes"),
    [
        (r"\s+x", 3),
        (r"<!--.*-->", 3),
        pytest.param(r"\w+\s*\(\w*\)", 2, marks=pytest.mark.nightly),
    ],
)
def test_the_check_finds_slow_ones(source: str, sizes: int) -> None:
    found = Found("here", re.compile(source, re.DOTALL), anchored=False)
    assert slow(found, SIZES[:sizes]) is not None

"""Can a page say in English and in Chinese whatever the sidecar tells a user?"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from string import Formatter

import pytest

from soulmem.domain.errors import SoulMemError
from tests.house.sources import parsed

# What these rooms refuse is read by people who write settings, commands or programs, not on a page.
NOT_ON_A_PAGE = ("soulmem/cli", "soulmem/config", "soulmem/server")
LANGUAGES = ("en", "zh-cn")


@dataclass(frozen=True)
class Found:
    """A call `phrase(code, template, name=..)` in the code."""

    place: str
    code: str
    template: str
    names: frozenset[str]


def calls(repository: Path, tracked: list[Path]) -> Iterator[tuple[Path, ast.Call]]:
    """Every call in the sidecar's code."""
    for path in tracked:
        if path.suffix == ".py" and path.parts[0] == "soulmem":
            for node in ast.walk(parsed(repository / path)):
                if isinstance(node, ast.Call):
                    yield path, node


def name_of(call: ast.Call) -> str:
    """The name of what is called, without what stands before its last dot."""
    func = call.func
    return func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")


@pytest.fixture
def phrases(repository: Path, tracked: list[Path]) -> list[Found]:
    found = []
    for path, call in calls(repository, tracked):
        if name_of(call) == "phrase":
            place = f"{path}:{call.lineno}"
            code, template = (
                argument.value if isinstance(argument, ast.Constant) else None
                for argument in call.args
            )
            assert isinstance(code, str), place
            assert isinstance(template, str), place
            names = frozenset(str(keyword.arg) for keyword in call.keywords)
            found.append(Found(place, code, template, names))
    assert found
    return found


def places(template: str) -> set[str]:
    """The names of the values in a template."""
    return {name for _, name, _, _ in Formatter().parse(template) if name is not None}


def test_every_phrase_has_its_values_and_one_text(phrases: list[Found]) -> None:
    texts: dict[str, str] = {}
    assert phrases
    for found in phrases:
        assert places(found.template) == found.names, found.place
        assert texts.setdefault(found.code, found.template) == found.template, (
            f"{found.place}: another text has the code {found.code!r}"
        )


def test_a_page_has_every_phrase_in_each_language_and_no_other(
    repository: Path, phrases: list[Found]
) -> None:
    wanted = {found.code: found.template for found in phrases}
    pages = {}
    for language in LANGUAGES:
        file = repository / f"extension_js/i18n/{language}.json"
        start = "soulmem.phrase_"
        pages[language] = {
            key.removeprefix(start): text
            for key, text in json.loads(file.read_text(encoding="utf-8")).items()
            if key.startswith(start)
        }
    assert pages["en"] == wanted
    assert pages["zh-cn"].keys() == wanted.keys()
    for code, template in wanted.items():
        assert places(pages["zh-cn"][code]) == places(template), code


def error_names() -> set[str]:
    """The classes of errors, from the tree below `SoulMemError` as far as it is loaded."""
    names, classes = set[str](), [SoulMemError]
    while classes:
        kind = classes.pop()
        names.add(kind.__name__)
        classes.extend(kind.__subclasses__())
    return names


def test_what_an_error_tells_a_player_is_a_phrase(repository: Path, tracked: list[Path]) -> None:
    import soulmem.bootstrap  # noqa: F401  loads the classes of errors of every room

    errors = error_names()
    plain = [
        f"{path}:{call.lineno}"
        for path, call in calls(repository, tracked)
        if name_of(call) in errors
        and not path.as_posix().startswith(NOT_ON_A_PAGE)
        and any(
            isinstance(argument, ast.JoinedStr | ast.BinOp)
            or (isinstance(argument, ast.Constant) and isinstance(argument.value, str))
            for argument in call.args
        )
    ]
    assert plain == [], "give them a code: phrase(code, text, values)"

"""Word lists live in soulmem/language/data: no other room writes words of a language into its code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.sources import parsed

MOST = 11  # words that a literal may hold elsewhere
SENTENCE = 20  # words; a longer text without punctuation or repetition is a list, not a message
LANGUAGE = "soulmem/language/"
EXEMPT = {
    "soulmem/adapters/surreal/": "column names and statements of the database",
    "soulmem/server/resources/": "field names of HTTP answers",
    "soulmem/governance/audit_values.py": "field names of the audit",
    "soulmem/cli/doctor.py": "names of Python packages",
    "soulmem/engine/idle.py": "names of the parts of a round",
    "soulmem/engine/recall/decision.py": "names of features",
    "soulmem/retrieval/decision_model.py": "names of features",
}
_WORD = r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*"
_PHRASE = re.compile(rf"{_WORD}(?: {_WORD}){{0,2}}")
_PLAIN_WORDS = re.compile(rf"\s*{_WORD}(?:[\s:]+{_WORD})*\s*")
_HAN_SIGNS = re.compile("[\u3041-\u30ff\u4e00-\u9fff]+")


def size_of(node: ast.AST) -> int:
    """How many words a literal lists; 0 for a literal that lists none."""
    if isinstance(node, (ast.Set, ast.List, ast.Tuple)):
        return sum(is_phrase(element) for element in node.elts)
    if isinstance(node, ast.Dict):
        keys = sum(key is not None and is_phrase(key) for key in node.keys)
        return max(keys, sum(map(is_phrase, node.values)))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        text = getattr(node.func.value, "value", None)
        is_split = node.func.attr == "split" and isinstance(text, str)
        return len(str(text).split()) if is_split else 0
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return size_of_text(node.value)
    return 0


def is_phrase(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and _PHRASE.fullmatch(node.value) is not None
    )


def size_of_text(text: str) -> int:
    """Alternatives of a pattern, words between nothing but spaces, or signs of a script without spaces."""
    if text.count("|") >= MOST:
        parts = re.split(r"[|()\[\]{}?:*+^$\\]+", text)
        return sum(_PHRASE.fullmatch(part) is not None for part in parts)
    if _HAN_SIGNS.fullmatch(text):
        return len(text)
    words = text.split() if _PLAIN_WORDS.fullmatch(text) else []
    is_list = len(words) >= SENTENCE and len(words) == len(set(words))
    return len(words) if is_list else 0


def literals(tree: ast.AST) -> Iterator[ast.AST]:
    """Every literal but docstrings."""
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return (node for node in ast.walk(tree) if id(node) not in docstrings)


def word_lists(path: Path) -> list[str]:
    return [
        f"{path.name}:{node.lineno}"
        for node in literals(parsed(path))
        if isinstance(node, ast.expr) and size_of(node) > MOST
    ]


def test_only_the_language_room_lists_words(repository: Path, tracked: list[Path]) -> None:
    listed = {}
    for path in tracked:
        name = path.as_posix()
        is_code = name.startswith("soulmem/") and path.suffix == ".py"
        is_exempt = name.startswith((LANGUAGE, *EXEMPT))
        places = word_lists(repository / path) if is_code and not is_exempt else []
        if places:
            listed[name] = places
    assert listed == {}


@pytest.mark.parametrize("exempt", EXEMPT)
def test_every_exemption_is_needed(repository: Path, exempt: str) -> None:
    place = repository / exempt
    files = place.rglob("*.py") if place.is_dir() else [place]
    assert any(word_lists(path) for path in files)


@pytest.mark.parametrize(
    ("source", "is_list"),
    [
        ('{"a", "an", "the", "and", "or", "but", "if", "so", "of", "to", "in", "on"}', True),
        ('"a an the and or but if then so of to in".split()', True),
        ('"a an the and or but if then so of to in on at by for with from as than"', True),
        (r'r"\b(?:a|an|the|and|or|but|if|then|so|of|to|in)\b"', True),
        ('"的了是我你他她它们在有不"', True),
        ('"one two three"', False),
        ('"the memory is being read from disk: this is what is loaded so far, no more."', False),
    ],
)  # fmt: skip
def test_a_list_is_told_from_a_sentence(source: str, is_list: bool) -> None:
    assert (size_of(ast.parse(source, mode="eval").body) > MOST) is is_list

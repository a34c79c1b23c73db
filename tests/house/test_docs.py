"""Is what the pages for people say true: commands, options, settings, buttons, links?"""

from __future__ import annotations

import argparse
import json
import re
from dataclasses import fields
from pathlib import Path

import pytest

from soulmem import __version__
from soulmem.cli.arguments import COMMANDS, build_parser
from soulmem.cli.words import Words
from soulmem.config.settings import SECTIONS

READMES = ("README.md", "README.zh.md")
PAGES = (
    *READMES,
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "extension_js/README.md",
    "tests/e2e/README.md",
)
OWN = {"install", "test"}  # commands of start.py itself
TWO_SCREENS = 85  # lines
_CODE = re.compile(r"```[^\n]*\n(.*?)```|`([^`\n]+)`", re.DOTALL)


def page(repository: Path, name: str) -> str:
    """The text of a page."""
    return (repository / name).read_text(encoding="utf-8")


def commands_in(text: str) -> list[list[str]]:
    """What is said behind `start.py`, word by word, for each time it is called."""
    code = "\n".join(block or inline for block, inline in _CODE.findall(text))
    return [line.split("#")[0].split() for line in re.findall(r"start\.py *(.*)", code)]


def options_of(command: str) -> set[str]:
    """The options of a command of `soulmem`."""
    parser = build_parser(Words("en"))
    choices = next(a.choices for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    return set(choices[command]._option_string_actions)


@pytest.mark.parametrize("name", PAGES)
def test_commands_and_options_that_are_named_exist(repository: Path, name: str) -> None:
    named = [words for words in commands_in(page(repository, name)) if words]
    assert {words[0] for words in named} <= COMMANDS.keys() | OWN
    unknown = [
        (words[0], word)
        for words in named
        if words[0] in COMMANDS
        for word in words
        if word.startswith("--") and word not in options_of(words[0])
    ]
    assert unknown == []


@pytest.mark.parametrize("name", READMES)
def test_options_named_alone_exist(repository: Path, name: str) -> None:
    known = set.union(*(options_of(command) for command in COMMANDS))
    assert set(re.findall(r"`(--[a-z-]+)`", page(repository, name))) <= known


@pytest.mark.parametrize("name", READMES)
def test_every_command_is_documented(repository: Path, name: str) -> None:
    named = {words[0] for words in commands_in(page(repository, name)) if words}
    assert COMMANDS.keys() - named == set()


def test_both_languages_name_the_same_commands_and_links(repository: Path) -> None:
    english, chinese = (page(repository, name) for name in READMES)
    assert commands_in(english) == commands_in(chinese)
    ours = re.compile(r"\]\((?!http|README|docs/)([^)]+)\)")
    assert sorted(ours.findall(english)) == sorted(ours.findall(chinese))
    assert english.count("\n## ") == chinese.count("\n## ")


@pytest.mark.parametrize("name", READMES)
def test_a_readme_is_under_two_screens(repository: Path, name: str) -> None:
    lines = page(repository, name).splitlines()
    assert len(lines) <= TWO_SCREENS
    assert max(map(len, lines)) <= 130


@pytest.mark.parametrize("name", PAGES)
def test_files_that_are_named_are_there(repository: Path, name: str) -> None:
    named = re.findall(
        r"`((?:soulmem|tests|extension_js|plugin|\.ci)/[\w./-]+|\w[\w.-]*\.(?:toml|md|bat|py))`",
        page(repository, name),
    )
    places = (
        repository,
        (repository / name).parent,
        repository / "soulmem/cli",
        repository / "extension_js",
    )
    lost = [path for path in named if not any((place / path).exists() for place in places)]
    assert set(lost) - {"config.toml"} == set()


@pytest.mark.parametrize("name", PAGES)
def test_settings_that_are_named_exist(repository: Path, name: str) -> None:
    keys = {
        f"{section}.{each.name}" for section, type_ in SECTIONS.items() for each in fields(type_)
    }
    named = set(re.findall(rf"`((?:{'|'.join(SECTIONS)})\.[a-z_]+)`", page(repository, name)))
    assert named - keys == set()


def test_buttons_are_called_as_in_the_extension(repository: Path) -> None:
    for readme, texts in (("README.md", "en"), ("README.zh.md", "zh-cn")):
        text = page(repository, readme)
        labels = json.loads(page(repository, f"extension_js/i18n/{texts}.json")).values()
        buttons = re.findall(r"\*\*((?:Read|阅读)[^*]+)\*\*", text)
        assert buttons
        assert all(any(button in label for label in labels) for button in buttons)


def test_the_changelog_knows_this_version(repository: Path) -> None:
    headings = re.findall(r"^## \[(.+?)\]", page(repository, "CHANGELOG.md"), re.MULTILINE)
    assert headings[0] in ("Unreleased", __version__)
    assert __version__ in headings or headings == ["Unreleased"]

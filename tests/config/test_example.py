"""config.example.toml tells of every setting, with its default, in words."""

from __future__ import annotations

import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from soulmem.config import load
from soulmem.config.load import SHORT_NAMES
from soulmem.config.settings import SECTIONS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

EXAMPLE = Path(__file__).parents[2] / "config.example.toml"


@pytest.fixture(scope="module")
def example() -> dict[str, Any]:
    """The example, parsed."""
    return tomllib.loads(EXAMPLE.read_text(encoding="utf-8"))


def test_every_setting_is_there_in_order(example: dict[str, Any]) -> None:
    documented = {section: list(table) for section, table in example.items()}
    assert list(documented) == list(SECTIONS)
    for name, section in SECTIONS.items():
        assert documented[name] == [each.name for each in fields(section)]


def test_every_default_is_the_true_one(tmp_path: Path) -> None:
    at_home = {"SOULMEM_DATA": str(tmp_path)}
    assert load(EXAMPLE, env=at_home) == load(env=at_home)


def test_every_setting_is_explained_in_english_and_chinese() -> None:
    explained: list[str] = []
    settings = 0
    for line in EXAMPLE.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            explained.append(line)
            continue
        if "=" in line:
            words = " ".join(explained)
            assert any("\u4e00" <= sign <= "\u9fff" for sign in words), line
            assert sum(sign.isascii() and sign.isalpha() for sign in words) > 15, line
            settings += 1
        explained = []
    assert settings > 50


def test_short_names_are_told() -> None:
    text = EXAMPLE.read_text(encoding="utf-8")
    assert all(name in text for name in SHORT_NAMES)

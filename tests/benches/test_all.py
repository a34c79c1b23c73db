"""Does the page of benchmarks have a place for each table, and is what cannot run named?"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench import all as every
from tests.bench.all import TABLES, Table, make, missing

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks.md"


def test_each_section_of_the_page_is_made_and_each_table_has_its_section() -> None:
    text = PAGE.read_text(encoding="utf-8")
    opened = [line for line in text.splitlines() if line.startswith("<!-- ")]
    sections = [f"<!-- {mark}{one.section} -->" for one in TABLES for mark in ("", "/")]
    assert sorted(opened) == sorted(sections)


@pytest.mark.parametrize("module", sorted({one.module for one in TABLES}))
def test_each_benchmark_can_write_to_a_page(module: str) -> None:
    code = Path(every.__file__).with_name(f"{module}.py").read_text(encoding="utf-8")
    assert '"--page"' in code


def test_what_is_not_installed_is_named_and_the_others_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[tuple[str, ...]] = []

    def run(*command: str) -> int:
        ran.append(command)
        return 3 if command[0] == "broken" else 0

    monkeypatch.setattr(every, "_run", run)
    lacking = Table("a", "first", (), ("no_such_package",), ("no-such-program",))
    assert missing(lacking) == ["no_such_package", "no-such-program"]
    assert missing(Table("b", "second", (), ("json",))) == []
    failures = list(make([lacking, Table("b", "broken"), Table("c", "good")], tmp_path))
    assert [line.split()[0] for line in failures] == ["a", "b"]
    assert "no_such_package" in failures[0]
    assert [command[0] for command in ran] == ["broken", "good"]


def test_a_soul_is_built_once_for_all_that_need_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[tuple[str, ...]] = []

    def run(*command: str) -> int:
        if command[0] == "large_soul":
            Path(command[1]).mkdir()
        ran.append(command)
        return 0

    monkeypatch.setattr(every, "_run", run)
    tables = [
        Table("a", "first", on_large_soul=True),
        Table("b", "second", on_large_soul=True),
    ]
    assert list(make(tables, tmp_path)) == []
    assert [command[0] for command in ran] == ["large_soul", "first", "second"]
    assert ran[1][1] == ran[2][1] == ran[0][1]

"""Do the layer contracts hold, and would they notice a wrong import?"""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.sources import parsed


def contracts_of(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run import-linter over the soulmem in `folder`."""
    linter = Path(sys.executable).with_name("lint-imports")
    return subprocess.run(
        [str(linter), "--no-cache"],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


@pytest.fixture
def copied(repository: Path, tmp_path: Path) -> Path:
    """A copy of the code that a test may spoil."""
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(repository / "soulmem", tmp_path / "soulmem", ignore=ignore)
    shutil.copy(repository / "pyproject.toml", tmp_path)
    return tmp_path


WRONG = (
    ("domain/spoilt.py", "import soulmem.engine"),
    ("domain/other.py", "import soulmem.kernels.spoilt"),
    ("engine/spoilt.py", "import soulmem.adapters.spoilt"),
    ("engine/other.py", "import aiohttp"),
    ("engine/third.py", "import numba"),
    ("retrieval/spoilt.py", "import surrealdb"),
    ("retrieval/other.py", "import networkx"),
    ("graph/spoilt.py", "import scipy.sparse"),
    ("ports/spoilt.py", "import sentence_transformers"),
)


def spoil(folder: Path, where: str, line: str) -> None:
    """Write a file of this one line; its room is made."""
    path = folder / "soulmem" / where
    path.parent.mkdir(exist_ok=True)
    (path.parent / "__init__.py").touch()
    path.write_text(f"{line}\n", encoding="utf-8")


def test_each_wrong_import_is_named(copied: Path) -> None:
    for room in ("adapters", "kernels"):
        spoil(copied, f"{room}/spoilt.py", "")
    for where, line in WRONG:
        spoil(copied, where, line)
    done = contracts_of(copied)
    assert done.returncode != 0, done.stdout
    found = re.findall(r"(soulmem\.\S+) -> (\S+) \(l\.1\)", done.stdout)
    wanted = {(f"soulmem.{where[:-3].replace('/', '.')}", line.split()[1]) for where, line in WRONG}
    # Of a package outside the first name is told
    told = {(own, name) for own, name in found if own.endswith(("spoilt", "other", "third"))}
    assert told == {
        (own, name if name.startswith("soulmem") else name.split(".")[0]) for own, name in wanted
    }, done.stdout


def test_a_room_that_nobody_placed_breaks_them(copied: Path) -> None:
    spoil(copied, "newroom/spoilt.py", "import json")
    done = contracts_of(copied)
    assert done.returncode != 0, done.stdout
    assert "newroom" in done.stdout


def top_imports(folder: Path) -> Iterator[tuple[Path, str]]:
    """Each file of a room with the first name of each import in it, outside soulmem itself."""
    for path in folder.rglob("*.py"):
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            else:
                continue
            for name in names:
                if name.split(".")[0] != "soulmem":
                    yield path, name.split(".")[0]


@pytest.mark.parametrize(
    ("room", "allowed"),
    [("domain", set[str]()), ("kernels", {"numpy", "numba", "llvmlite", "scipy"})],
)
def test_the_lowest_rooms_stand_on_little(repository: Path, room: str, allowed: set[str]) -> None:
    known = set(sys.stdlib_module_names) | allowed
    imports = list(top_imports(repository / "soulmem" / room))
    assert imports or room != "domain"
    assert [(str(path), name) for path, name in imports if name not in known] == []

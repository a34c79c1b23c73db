"""Do the layer contracts hold, and would they notice a wrong import?"""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest


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


def test_the_contracts_hold(repository: Path) -> None:
    done = contracts_of(repository)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("where", "line"),
    [
        ("domain/spoilt.py", "import soulmem.engine"),
        ("domain/spoilt.py", "import soulmem.kernels.spoilt"),
        ("engine/spoilt.py", "import soulmem.adapters.spoilt"),
        ("engine/spoilt.py", "import aiohttp"),
        ("retrieval/spoilt.py", "import surrealdb"),
        ("engine/spoilt.py", "import numba"),
        ("graph/spoilt.py", "import scipy.sparse"),
        ("retrieval/spoilt.py", "import networkx"),
        ("ports/spoilt.py", "import sentence_transformers"),
        ("newroom/spoilt.py", "import json"),
    ],
)
def test_a_wrong_import_breaks_them(copied: Path, where: str, line: str) -> None:
    for room in ("engine", "adapters", "graph", "kernels", "retrieval", "newroom"):
        if room != "newroom" or "newroom" in where:
            (copied / "soulmem" / room).mkdir(exist_ok=True)
            (copied / "soulmem" / room / "__init__.py").touch()
            (copied / "soulmem" / room / "spoilt.py").touch()
    (copied / "soulmem" / where).write_text(f"{line}\n", encoding="utf-8")
    done = contracts_of(copied)
    assert done.returncode != 0, done.stdout
    assert "BROKEN" in done.stdout or "newroom" in done.stdout


def top_imports(folder: Path) -> Iterator[tuple[Path, str]]:
    """Each file of a room with the first name of each import in it, outside soulmem itself."""
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
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
def test_the_lowest_rooms_stand_on_little(
    repository: Path, room: str, allowed: set[str]
) -> None:
    known = set(sys.stdlib_module_names) | allowed
    imports = list(top_imports(repository / "soulmem" / room))
    assert imports or room != "domain"
    assert [(str(path), name) for path, name in imports if name not in known] == []

"""Do walks wait for nothing: no import of numba, no folder to write to, no second compilation?"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from soulmem.kernels import warm
from tests.examples import is_long_run

pytestmark = [
    pytest.mark.slow("compiles the walk in processes of its own"),
    pytest.mark.timeout(300),
]

WALK = """
import sys, pathlib, numpy as np
from soulmem.kernels import explain, walk, warm
assert not any(name in sys.modules for name in ("numba", "scipy", "llvmlite")), "importing is cheap"
from soulmem.kernels.csr import build_csr
graph = build_csr(3, np.array([0, 1]), np.array([1, 2]), np.ones(2))
walker, ask = walk.Walker(graph), (np.array([0], np.uint32), np.ones(1), walk.WalkParams(0.2, 1e-9))
before = walker.walk(*ask)
assert warm.state() == "warming"
warm.warm(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else None)
assert warm.state() == "ok"
after = walker.walk(*ask)
assert abs(after.score.sum() - before.score.sum()) < 1e-8
assert after.rows.size == before.rows.size == 3
made = [one.stats for one in vars_of(warm.kernels())]
hits, misses = (sum(sum(counts.values()) for counts in kind) for kind in (
    [one.cache_hits for one in made], [one.cache_misses for one in made]))
print("from the cache, and compiled:", hits, misses)
""".replace(
    "vars_of(warm.kernels())",
    "(getattr(warm.kernels(), k) for k in warm.kernels().__slots__)",
)


def run(*arguments: str) -> tuple[int, int]:
    """How many kernels another process took from the cache, and how many it compiled for it."""
    environment = {**os.environ, "HOME": "/nonexistent", "NUMBA_CACHE_DIR": ""}
    done = subprocess.run(
        [sys.executable, "-c", WALK, *arguments],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    hits, misses = done.stdout.rpartition(":")[2].split()
    return int(hits), int(misses)


def test_a_second_start_loads_what_the_first_compiled(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "kernels" if is_long_run() else warm.installed_cache()
    hits, compiled = run(str(folder))
    assert hits == 0 or not is_long_run()
    assert hits + compiled > 0
    assert run(str(folder)) == (hits + compiled, 0)


@pytest.mark.nightly
def test_no_folder_is_needed() -> None:
    assert run()[0] == 0


@pytest.mark.nightly
def test_a_folder_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    """A file stands where the folder should be: not even root may write there."""
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert run(str(blocked / "kernels"))[0] == 0

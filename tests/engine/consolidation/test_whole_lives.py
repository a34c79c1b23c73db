"""Random lives with joining, linking, fading, rewording and a drafting model, in which any work is undone.

SOULMEM_TEST_WHOLE_LIVES=1000x30 looks at a thousand lives of thirty steps; 1000x30@2000 at those from number
2000 on.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections import Counter

import pytest

from soulmem.engine.runtime import worker
from tests.engine.whole_life import WholeLife
from tests.examples import sized
from tests.fakes.at_once import AtOnce

_FEW = f"{sized(2, 8)}x20"  # lives and steps of each
_ASKED = os.environ.get("SOULMEM_TEST_WHOLE_LIVES", _FEW)


async def lived(number: int, steps: int) -> WholeLife:
    """One life; a failure names its number and what was done."""
    life = WholeLife(number)
    try:
        await life.begin()
        for _ in range(steps):
            await life.step()
    except Exception as error:
        raise AssertionError(f"life {number}: {'; '.join(life.done)}") from error
    finally:
        await life.stage.stop()
    return life


@pytest.mark.slow("lives at random")
@pytest.mark.timeout(240 if _ASKED == _FEW else 0)
async def test_what_is_done_and_undone_leaves_the_memory_of_the_messages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    size, _, first = _ASKED.partition("@")
    lives, steps = map(int, size.split("x"))
    seen: Counter[str] = Counter()
    if lives > 20:
        asyncio.get_running_loop().set_default_executor(AtOnce())
        monkeypatch.setattr(worker, "ThreadPoolExecutor", AtOnce)
    for number in range(int(first or 0), int(first or 0) + lives):
        seen.update((await lived(number, steps)).seen)
        if lives >= 50 and number % 50 == 49:
            print(number + 1, dict(seen), file=sys.stderr, flush=True)
    for what in ("merged", "links", "drafted", "digests", "undone"):
        assert seen[what] > 0, (what, seen)

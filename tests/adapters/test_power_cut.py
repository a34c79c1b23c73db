"""Is everything acknowledged in a copy of the store that was taken while it was being written?"""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from tests.adapters.surreal_tools import child, opened
from tests.ports.stores import CHAT, OWNER, SOUL

pytestmark = pytest.mark.timeout(60)


async def test_a_copy_taken_in_the_middle_of_writing_opens_with_all_that_was_acknowledged(
    url: str, tmp_path: Path
) -> None:
    """As after a power cut, or of a backup program that asks nobody: file by file, while commits go on."""
    process = await child("write", url)
    assert process.stdout is not None
    copies = []
    last = -1
    for wanted in (5, 40, 90):
        while last < wanted:
            last = int(await process.stdout.readline())
        copy = tmp_path / f"copy{wanted}"
        await asyncio.to_thread(shutil.copytree, tmp_path / "data", copy)
        copies.append((last, copy))
    process.kill()
    await process.communicate()

    for acknowledged, copy in copies:
        async with opened(f"surrealkv://{copy}") as store:
            graph = await store.graph(OWNER, SOUL)
            memories = {memory.id for memory in graph.memories}
            messages = await store.messages(OWNER, CHAT)
        assert memories.issuperset(map("m{}".format, range(-1, acknowledged + 1)))
        # and no change is in it in part
        slots = [ranked.message.slot.removeprefix("slot-") for ranked in messages]
        assert {"m-1", *map("m{}".format, slots)} == memories
        assert {edge.target for edge in graph.edges} | {"m-1"} == memories

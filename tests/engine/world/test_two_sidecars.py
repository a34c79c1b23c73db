"""Do two sidecars on one server keep their souls apart, and does one hand a soul over to the other whole?"""

from __future__ import annotations

import asyncio

from soulmem.adapters.surreal import SurrealStore
from soulmem.domain.ids import SoulId
from soulmem.engine.api.requests import ImportFormat, ImportRequest
from soulmem.engine.runtime.jobs import JobState
from tests.adapters.bridge import bridge
from tests.engine.picture import picture
from tests.engine.stage import ME, Stage, ended, lines

_KEPT = ("fingerprint", "memories", "edges", "usages", "fading", "branches")


async def test_both_work_at_once_and_a_soul_moves_over_with_all_it_has() -> None:
    async with bridge("mem://") as url:
        first = Stage(SurrealStore(url, database="first"))
        second = Stage(SurrealStore(url, database="second"))
        for stage, soul in ((first, "s1"), (second, "s2")):
            await stage.start()
            await stage.soul(soul)
        await asyncio.gather(
            first.sync("c1", lines(30)), second.sync("c2", lines(8), souls=("s2",))
        )
        note = await first.note("the ring is in the mill", permanent=True)
        assert len(await first.listed()) == 30  # the last line is not settled yet
        assert len(await second.listed(soul="s2")) == 7
        before = await picture(first, "s1")

        pieces = [piece async for piece in await first.engine.exports.bundle(ME, SoulId("s1"))]
        await second.soul("s1")
        bundle = ImportRequest(SoulId("s1"), ImportFormat.BUNDLE, b"".join(pieces), "s1.jsonl")
        taken = await ended(second, await second.engine.imports.start(ME, bundle))
        assert taken.state is JobState.DONE, taken.error
        await first.engine.souls.delete(ME, SoulId("s1"), "Mira")
        await first.stop()

        await second.restart()
        after = await picture(second, "s1")
        assert {key for key in _KEPT if after[key] != before[key]} == set()
        found = await second.recall("where is the ring?", soul="s1")
        assert note.memory.text in [memory.text for memory in found.memories]
        assert len(await second.listed(soul="s2")) == 7
        await second.stop()

"""What a model drafted, and chats that a soul has left, in bundles."""

from __future__ import annotations

import json
from typing import Any

from soulmem.domain.edges import EdgeKind
from soulmem.domain.memories import Origin
from soulmem.engine.api.requests import NewEdge
from tests.engine.exchange.test_bundle_import import exported, take_in
from tests.engine.model_stage import ModelStage, talk
from tests.engine.picture import picture
from tests.engine.stage import Stage, line, lines


def chats_in(bundle: bytes) -> set[str]:
    """The chats whose messages the bundle holds."""
    found: set[str] = set()

    def look(value: Any) -> None:
        if isinstance(value, dict):
            if isinstance(value.get("chat"), str):
                found.add(value["chat"])
            for inner in value.values():
                look(inner)

    for text in bundle.decode().splitlines():
        look(json.loads(text))
    return found


async def test_another_soul_gets_the_messages_and_not_what_a_model_drafted() -> None:
    stage = ModelStage()
    await stage.start()
    await stage.soul()
    await stage.soul("s9", "Mira")
    await stage.sync("c", talk(30))
    await stage.rest()
    draft = (await stage.drafted())[0].id
    tie = NewEdge(EdgeKind.ASSOCIATES, to=draft, strength=0.4)
    await stage.note("by hand", edges=(tie,))
    assert any(
        draft in (e.source, e.target) for e in (await picture(stage, "s1"))["edges"].values()
    )
    data = await exported(stage)
    await take_in(stage, data, "s9")
    copy = await picture(stage, "s9")
    origins = {memory.origin for memory in copy["memories"].values()}
    assert Origin.USER in origins
    assert Origin.CHAT in origins
    ends = {end for edge in copy["edges"].values() for end in (edge.source, edge.target)}
    assert ends <= copy["memories"].keys()
    await stage.stop()


async def test_a_bundle_has_the_chats_that_a_soul_is_or_was_in_and_their_parents() -> None:
    stage = Stage()
    await stage.start()
    await stage.soul()
    await stage.soul("s2", "Tom")
    await stage.sync("own", lines(4))
    await stage.sync("left", lines(4, 10), souls=("s1", "s2"))
    await stage.sync("left", lines(6, 10), souls=("s2",))
    await stage.sync("of tom", lines(4, 20), souls=("s2",))
    await stage.sync("root", lines(4, 30), souls=("s2",))
    branch = [*lines(4, 30), line("b1")]
    await stage.sync("branch", branch, parent=("root", "m33"))
    assert chats_in(await exported(stage)) == {"own", "left", "root", "branch"}
    assert "of tom" in chats_in(await exported(stage, "s2"))
    assert "own" not in chats_in(await exported(stage, "s2"))
    await stage.stop()

"""A soul opened from its image is the soul its rows would give; whatever is wrong with the image, they do."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from soulmem.adapters.snapshot_folder import SnapshotFolder
from soulmem.domain.edges import EdgeKind
from soulmem.domain.errors import StoreFull
from soulmem.domain.ids import ChatId, SoulId
from soulmem.domain.memories import MemoryKind, Timelines
from soulmem.domain.soul import KnownName
from soulmem.engine.api.requests import MemoryPatch, NewEdge
from soulmem.engine.mind.mind import Mind
from soulmem.engine.params import EngineParams
from soulmem.engine.world.snapshots import SnapshotParams
from soulmem.ports.snapshot_store import SnapshotStore
from soulmem.ports.store import Change
from tests.conftest import Failures
from tests.engine.picture import Picture, picture, stray_vectors
from tests.engine.stage import ME, Stage, line, lines
from tests.examples import few
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.images import FakeImages

SOUL = SoulId("s1")
PARAMS = EngineParams(rest_by_itself=False, images=SnapshotParams(least=0, pause=0.0))


TALK = [
    line(f"t{number}", text)
    for number, text in enumerate(
        (
            *("I met Kaelith by the well.", "Poor Kaelith!"),
            *("We saw Rosalind.", "Rosalind has left, Kaelith stays.", "Hm."),
        )
    )
]


async def lived_stage(images: SnapshotStore | None, embedder: FakeEmbedder | None = None) -> Stage:
    """A stage with two branches, a binned chat, a held loss, names, some learned, facts, memories by hand."""
    stage = Stage(params=PARAMS, images=images, model=embedder.source() if embedder else None)
    await stage.start()
    await stage.engine.souls.put(ME, SOUL, "Mira", (KnownName("Duchess", ("Lady Esk",)),), None)
    root = [line("a1", "the lantern of the Duchess is under the bridge"), *lines(6)]
    await stage.sync("root", root)
    await stage.sync("left", [*root[:4], *lines(4, 50)], parent=("root", root[3].slot))
    await stage.sync("gone", [line("g1", "the lantern was stolen"), *lines(3, 80)])
    await stage.close("gone")
    await stage.engine.chats.delete(ME, (await stage.engine.chats.list(ME, None))[-1][0].id)
    await stage.sync("lost", lines(30, 100))
    assert (await stage.sync("lost", lines(2, 100))).held == 28
    await stage.sync("talk", TALK)
    await stage.note("a lantern needs oil", tags=("oil",))
    await stage.note("here only: lantern", timelines=Timelines.THIS, chat="left")
    lamp = await stage.note("lamp", kind=MemoryKind.CONCEPT)
    oil = NewEdge(EdgeKind.RELATES, to=lamp.memory.id, verb="feeds")
    await stage.note("whale oil", kind=MemoryKind.CONCEPT, edges=(oil,))
    binned = await stage.note("the lantern is broken")
    await stage.engine.memories.delete(ME, binned.memory.id, None)
    await stage.engine.embedding.wait_pending()
    return stage


def _cells(
    columns: Mapping[str, NDArray[Any]], names: Sequence[str], row: int
) -> dict[str, object]:
    """What these columns hold at a row."""
    return {name: columns[name][row].item() for name in names}


async def whole_state(stage: Stage) -> Picture:
    """Everything that a soul tells, whichever way it was opened."""
    mind = await stage.mind()
    n = mind.size
    columns = mind.columns.packed(n)
    names = sorted(set(columns) - {"tokens", "family"})  # a cache, and codes
    rows = {key: row for key, row in mind._rows if key in mind.memories or key in mind.facts}
    facts = mind.facts.row_arrays()
    return {
        **await picture(stage, "s1"),
        "columns": {key: _cells(columns, names, row) for key, row in rows.items()},
        "facts": {key: mind.facts[key] for key in mind.facts},
        "ends": {tuple(mind.ids_at(each)) for each in np.column_stack(facts).tolist()},
        "names": mind.names.all_concept_names(),
        "concepts": {concept.id: concept for concept in mind.names.concepts()},
        "spotted": mind.names.spot("Rosalind, Kaelith and Lady Esk lit the lamp"),
        "terms": {key: _terms(mind, row) for key, row in rows.items()},
        "told": {
            m.id: (m.text, m.kind)
            for m in (await stage.recall("lantern oil Duchess", "root")).memories
        },
        "from": sorted(await stage.known("left", context_from="m52")),
        "wanted": sorted(map(str, mind.vector_queue.pending_keys())),
    }


def _terms(mind: Mind, row: int) -> dict[str, float]:
    return {key: round(salience, 3) for key, salience in mind.terms.incidence.terms_of(row)}


async def reopened_state(stage: Stage) -> Picture:
    """The same by a new engine."""
    await stage.restart()
    return await whole_state(stage)


async def test_a_mind_from_its_image_is_that_of_the_rows() -> None:
    images, embedder = FakeImages(), FakeEmbedder(dim=32)
    stage = await lived_stage(images, embedder)
    lived = await whole_state(stage)
    from_image = await reopened_state(stage)
    assert images.given == 1
    assert from_image == lived
    assert not await stray_vectors(await stage.mind(), embedder)
    images.kept.clear()
    assert await reopened_state(stage) == lived
    assert images.given == 1
    await stage.stop()


async def test_texts_are_not_embedded_anew() -> None:
    images, embedder = FakeImages(), FakeEmbedder(dim=32)
    stage = await lived_stage(images, embedder)
    await stage.restart()
    embedder.asked.clear()
    await stage.mind()
    await stage.engine.embedding.wait_pending()
    assert images.given == 1
    assert embedder.asked == []
    other = FakeEmbedder("other", dim=32)  # as many dimensions, another meaning
    stage.model = other.source()
    await stage.restart()
    await stage.mind()
    await stage.engine.embedding.wait_pending()
    assert images.given == 2
    assert not await stray_vectors(await stage.mind(), other)
    await stage.stop()


async def test_what_had_no_vector_gets_one() -> None:
    images, embedder = FakeImages(), FakeEmbedder(dim=32)
    stage = await lived_stage(images)
    stage.model = embedder.source()
    await stage.restart()
    await stage.mind()
    await stage.engine.embedding.wait_pending()
    assert images.given == 1
    assert not await stray_vectors(await stage.mind(), embedder)
    await stage.stop()


async def test_a_text_that_changed_just_before_the_image_is_not_known_by_its_old_vector() -> None:
    """Neither a memory nor the pairs it is part of nor the fact that tells of it."""
    images, embedder = FakeImages(), FakeEmbedder(dim=32)
    stage = await lived_stage(images, embedder)
    embedder.answers.clear()
    for text in ("Mira: text of m2", "whale oil", "a lantern needs oil"):
        patch = MemoryPatch(text=f"{text} that was poured away")
        await stage.engine.memories.patch(ME, await stage.find(text), patch)
    await stage.restart()
    mind = await stage.mind()
    embedder.answers.set()
    await stage.engine.embedding.wait_pending()
    assert images.given == 1
    assert not await stray_vectors(mind, embedder)
    await stage.stop()


async def test_a_learned_name_from_an_image_is_known_before_its_concept_is_read() -> None:
    images = FakeImages()
    stage = await lived_stage(images)
    await stage.restart()
    mind = await stage.mind()
    names, special = mind.names, mind.names.special_concepts()
    assert [concept.text for concept in special] == ["Duchess"]
    found = names.spot("Kaelith met Rosalind")
    assert [names.names_of(key) for key in found] == [("Kaelith",), ("Rosalind",)]
    assert set(names.learned_folds()) == {"kaelith", "rosalind"}
    with names.as_if((), found):
        assert names.spot("Kaelith met Rosalind") == []
    assert names.spot("Kaelith met Rosalind") == found
    assert [m.text for m in map(names.concept, found) if m] == ["Kaelith", "Rosalind"]
    await stage.stop()


async def test_learned_names_of_an_image_go_and_change_as_others_do() -> None:
    images = FakeImages()
    stage = await lived_stage(images)
    await stage.restart()
    rosalind = await stage.find("Rosalind")
    await stage.engine.memories.patch(ME, rosalind, MemoryPatch(text="Rosamund"))
    await stage.sync("talk", [*TALK[2:], *lines(2, 500)])
    lived = await whole_state(stage)
    known = {name for of in lived["names"].values() for name in of.names}
    assert ("Rosamund" in known, "Kaelith" in known) == (True, False)
    stage.images = None
    assert await reopened_state(stage) == lived
    assert images.given == 1
    await stage.stop()


async def test_life_goes_on_after_an_image() -> None:
    """Whatever comes, changes and goes then, the rows agree in the end."""
    images = FakeImages()
    stage = await lived_stage(images)
    await stage.restart()
    await stage.sync(
        "root",
        [line("a1", "the lantern of the Duchess is under the bridge"), *lines(9)],
    )
    await stage.engine.memories.delete(ME, await stage.find("lamp"), None)
    await stage.note("the lamp of Lady Esk")
    await stage.soul(scope="chat")
    lived = await whole_state(stage)
    images.kept.clear()
    stage.images = None
    assert await reopened_state(stage) == lived
    assert images.given == 1
    await stage.stop()


CHANGES: dict[str, Callable[[Stage], Awaitable[Any]]] = {
    "sync": lambda stage: stage.sync("root", [line("a1", "the lantern is lost"), *lines(6)]),
    "new chat": lambda stage: stage.sync("more", lines(2, 300)),
    "close": lambda stage: stage.close("root"),
    "note": lambda stage: stage.note("one more"),
    "bin": lambda stage: _bin(stage, "a lantern needs oil"),
    "soul": lambda stage: stage.soul(remember_hidden=False),
    "names": lambda stage: stage.engine.souls.put(ME, SOUL, "Mira", (KnownName("Bob"),), None),
    "delete chat": lambda stage: stage.engine.chats.delete(ME, ChatId("left")),
}


# After these the rows are read: what follows from a soul's names and settings is not listed beside its image.
OF_THE_SOUL = ("soul", "names")


@pytest.mark.parametrize("what", CHANGES)
async def test_an_image_serves_after_a_kill_with_what_was_stored_since(
    what: str,
) -> None:
    """The engine that made the change never came to write another one."""
    images, embedder = FakeImages(), FakeEmbedder(dim=32)
    stage = await lived_stage(images, embedder)
    await stage.restart()
    await stage.mind()
    assert images.given == 1
    await CHANGES[what](stage)
    await stage.engine.embedding.wait_pending()
    lived = await whole_state(stage)
    killed, kept = stage.engine, dict(images.kept)
    stage.images = FakeImages()
    stage.images.kept = kept
    killed.snapshots.images = None  # it writes nothing any more
    assert await reopened_state(stage) == lived
    assert not await stray_vectors(await stage.mind(), embedder)
    if what in OF_THE_SOUL:
        assert stage.images.given == 0
        assert not stage.images.kept  # what it says that is gone does not lie about
    else:
        assert stage.images.given == 1
    await stage.stop()


async def test_what_was_stored_since_is_not_read_again_after_the_next_image() -> None:
    images = FakeImages()
    stage = await lived_stage(images)
    await stage.engine.idle.run()
    await stage.note("one more")
    mark = await stage.store.marked(ME, SOUL)
    assert mark is not None
    assert len(mark.put) == 1
    await stage.engine.idle.run()
    mark = await stage.store.marked(ME, SOUL)
    assert mark is not None
    assert mark.is_current
    await stage.stop()


async def test_an_image_is_not_written_again_for_nothing() -> None:
    images = FakeImages()
    stage = await lived_stage(images)
    await stage.engine.idle.run()
    (first, _) = images.kept[ME, SOUL]
    await stage.engine.idle.run()
    await stage.restart()
    await stage.mind()
    await stage.engine.idle.run()
    assert images.kept[ME, SOUL][0] == first
    await stage.note("another thing")
    await stage.engine.idle.run()
    assert images.kept[ME, SOUL][0] != first
    mark = await stage.store.marked(ME, SOUL)
    assert mark is not None
    assert mark.token == images.kept[ME, SOUL][0]
    await stage.stop()


async def test_what_another_soul_drops_does_no_harm() -> None:
    images = FakeImages()
    stage = await lived_stage(images)
    await stage.soul("s2", "Bob")
    dropped = await stage.note("to be dropped", soul="s2")
    await stage.engine.idle.run()
    before = images.kept[ME, SOUL][0]
    await stage.store.commit(Change(ME, drop_memories=[dropped.memory.id]))
    mark = await stage.store.marked(ME, SOUL)
    assert mark is not None
    assert mark.dropped == {dropped.memory.id}
    await stage.engine.idle.run()
    mark = await stage.store.marked(ME, SOUL)
    assert mark is not None
    assert mark.token == before == images.kept[ME, SOUL][0]
    assert mark.is_current
    await stage.stop()


async def test_a_full_disk_costs_the_image_only(failures: Failures) -> None:
    images = FakeImages()
    stage = await lived_stage(images)
    images.failure = StoreFull("no room")
    await stage.engine.idle.run()
    assert {"no room" in told for told in failures.take()} == {True}
    assert await stage.store.marked(ME, SOUL) is None
    lived = await whole_state(stage)
    assert await reopened_state(stage) == lived
    await stage.stop()


async def test_a_change_meanwhile_keeps_the_image_from_counting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    images = FakeImages()
    stage = await lived_stage(images)
    write, changed = images.write, asyncio.Event()

    class Late(type(write(ME, SOUL, ""))):  # type: ignore[misc]
        def add(self, arrays: Any) -> None:
            super().add(arrays)
            asyncio.run_coroutine_threadsafe(_once(), loop).result()

    async def _once() -> None:
        if not changed.is_set():
            changed.set()
            await stage.note("in the middle of it")

    loop = asyncio.get_running_loop()
    monkeypatch.setattr(
        images, "write", lambda owner, soul, token: Late(images, (owner, soul), token)
    )
    await stage.engine.idle.run()
    assert changed.is_set()
    assert await stage.store.marked(ME, SOUL) is None
    monkeypatch.undo()
    lived = await whole_state(stage)
    assert await reopened_state(stage) == lived
    await stage.stop()


async def test_small_souls_get_none() -> None:
    images = FakeImages()
    stage = Stage(images=images)
    await stage.start()
    await stage.soul()
    await stage.sync("c", lines(20))
    await stage.restart()
    await stage.mind()
    await stage.stop()
    assert images.kept == {}


async def test_a_deleted_soul_leaves_none() -> None:
    images = FakeImages()
    stage = await lived_stage(images)
    await stage.engine.idle.run()
    assert images.kept
    await stage.engine.souls.delete(ME, SOUL, "Mira")
    await stage.stop()
    assert images.kept == {}


@pytest.mark.parametrize("what", ["code", "names", "chats"])
async def test_what_else_an_image_depends_on(what: str) -> None:
    """Another SoulMem, other names, another tree of chats: made from rows."""
    images = FakeImages()
    stage = await lived_stage(images)
    lived = await whole_state(stage)
    await stage.engine.idle.run()
    token, image = images.kept[ME, SOUL]
    head = {**image.head, "basis": {**image.head["basis"], what: "another"}}
    images.kept[ME, SOUL] = token, replace(image, head=head)
    stage.engine.snapshots.images = None
    assert await reopened_state(stage) == lived
    world = await stage.world()
    assert (await stage.mind()) not in stage.engine.snapshots._kept
    assert world.minds
    await stage.stop()


def test_any_damage_leads_to_the_rows(tmp_path: Path) -> None:
    """A file cut off or altered anywhere: the soul is what it was, or its rows are read."""
    folder = SnapshotFolder(tmp_path)
    loop = asyncio.new_event_loop()

    async def begun() -> tuple[Stage, Picture]:
        stage = await lived_stage(folder)
        return stage, await reopened_state(stage)

    stage, lived = loop.run_until_complete(begun())
    (path,) = tmp_path.iterdir()
    loop.run_until_complete(stage.engine.stop())
    sound = path.read_bytes()
    stage.engine.snapshots.images = None

    @few(20, long=160, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def damaged(data: st.DataObject) -> None:
        position = data.draw(st.integers(0, len(sound) - 1))
        if data.draw(st.booleans()):
            path.write_bytes(sound[:position])
        else:
            change = data.draw(st.integers(1, 255))
            path.write_bytes(
                sound[:position] + bytes([sound[position] ^ change]) + sound[position + 1 :]
            )

        async def opened() -> Picture:
            stage.engine = stage._new_engine()
            await stage.engine.start()
            restored = await whole_state(stage)
            assert not stage.engine.snapshots._kept
            stage.engine.snapshots.images = None  # what is damaged is not replaced here
            await stage.engine.stop()
            return restored

        assert loop.run_until_complete(opened()) == lived

    damaged()
    loop.close()


async def _bin(stage: Stage, text: str) -> None:
    await stage.engine.memories.delete(ME, await stage.find(text), None)

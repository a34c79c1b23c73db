"""Two people of one name are told apart in one change, whole or not at all."""

from __future__ import annotations

import pytest

from soulmem.domain.edges import EdgeKind
from soulmem.domain.errors import NotFound, StoreFull, Unprocessable
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory, MemoryKind, Origin
from soulmem.domain.situation import ConceptDetail
from soulmem.engine.api.requests import MemoryPatch
from tests.engine.picky_store import PickyStore
from tests.engine.stage import ME, Stage, line

BELA = ConceptDetail(aliases=("Bel",))


async def concepts(stage: Stage) -> dict[str, tuple[str, ...]]:
    """The aliases of each concept by its name."""
    found = await stage.listed(kind=MemoryKind.CONCEPT)
    return {m.text: m.concept.aliases if m.concept else () for m in found}


async def memory(stage: Stage, key: MemoryId) -> Memory:
    return (await stage.engine.memories.get(ME, key)).memory


async def bela(stage: Stage) -> MemoryId:
    made = await stage.note("Bela", kind=MemoryKind.CONCEPT, concept=BELA)
    return made.memory.id


async def test_each_has_a_name_of_its_own_and_both_keep_the_old_one(
    either_stage: Stage,
) -> None:
    key = await bela(either_stage)
    split = either_stage.engine.namesakes.split
    other = await split(ME, key, "Bela the smith", "Bela the bird")
    both = {"Bela the smith": ("Bela", "Bel"), "Bela the bird": ("Bela",)}
    assert await concepts(either_stage) == both
    assert (await memory(either_stage, other)).text == "Bela the bird"


async def test_one_of_them_may_keep_the_name(stage: Stage) -> None:
    await stage.engine.namesakes.split(ME, await bela(stage), "Bela", "Bela the bird")
    assert await concepts(stage) == {"Bela": ("Bel",), "Bela the bird": ("Bela",)}


async def test_when_the_store_refuses_nothing_has_changed() -> None:
    store = PickyStore()
    stage = Stage(store)
    await stage.start()
    await stage.soul()
    key = await bela(stage)
    before = await concepts(stage)
    store.fail_in = 1
    with pytest.raises(StoreFull):
        await stage.engine.namesakes.split(ME, key, "Bela the smith", "Bela the bird")
    assert await concepts(stage) == before
    await stage.restart()
    assert await concepts(stage) == before
    await stage.stop()


async def test_texts_of_the_old_name_speak_of_both_from_then_on(stage: Stage) -> None:
    key = await bela(stage)
    await stage.sync("a", [line("m1", "Bela sold the boat."), line("m2", "Hm.")])
    other = await stage.engine.namesakes.split(ME, key, "Bela the smith", "Bela the bird")
    for concept in (key, other):
        edges = (await stage.engine.memories.get(ME, concept)).edges
        assert [edge.kind.value for edge in edges] == ["mentions"]


async def test_a_name_that_was_learned_becomes_the_users_own(stage: Stage) -> None:
    said = ["Odile limps.", "I like Odile.", "Odile laughed.", "Hm."]
    await stage.sync("a", [line(f"m{i}", text) for i, text in enumerate(said)])
    key = await stage.find("Odile")
    assert (await memory(stage, key)).origin is Origin.CHAT
    await stage.engine.namesakes.split(ME, key, "Odile of the mill", "old Odile")
    kept = await memory(stage, key)
    assert (kept.origin, kept.text) == (Origin.USER, "Odile of the mill")


async def test_what_is_no_concept_or_has_one_name_is_not_split(stage: Stage) -> None:
    split = stage.engine.namesakes.split
    note = (await stage.note("Bela sang.")).memory.id
    with pytest.raises(Unprocessable):
        await split(ME, note, "a", "b")
    with pytest.raises(NotFound):
        await split(ME, MemoryId("nothing"), "a", "b")
    key = await bela(stage)
    with pytest.raises(Unprocessable):
        await split(ME, key, "Bela", "bela")
    assert await concepts(stage) == {"Bela": ("Bel",)}


async def test_messages_that_call_somebody_by_the_former_name_stay_theirs() -> None:
    stage = Stage()
    await stage.start()
    await stage.soul()
    said = ("I met Kaelith by the well.", "Poor Kaelith!", "Hm.")
    messages = [line(f"m{number}", text) for number, text in enumerate(said)]
    await stage.sync("c1", messages)
    key = await stage.find("Kaelith")
    await stage.engine.memories.patch(ME, key, MemoryPatch(text="Caelith"))
    assert await mention_count(stage, key) == 2
    more = [line("m9", "Kaelith waved, and Kaelith left."), line("m10")]
    await stage.sync("c1", [*messages, *more])
    assert await concepts(stage) == {"Caelith": ("Kaelith",)}
    assert await mention_count(stage, key) == 3
    without = MemoryPatch(concept=ConceptDetail(), fields=frozenset(("aliases",)))
    await stage.engine.memories.patch(ME, key, without)
    assert await mention_count(stage, key) == 0
    await stage.stop()


async def mention_count(stage: Stage, key: MemoryId) -> int:
    """How many texts are linked to the concept."""
    edges = (await stage.mind()).edges.of(key, EdgeKind.MENTIONS)
    return len(list(edges))

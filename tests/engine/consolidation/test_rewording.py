"""A blurred memory that was told is worded anew at rest, by what the reply made of it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest

from soulmem.domain.dialogue import Role
from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import MemoryId, SlotId, SoulId
from soulmem.domain.llm import Prompt
from soulmem.domain.memories import MemoryKind
from soulmem.domain.micro_units import AnchorKind
from soulmem.engine.api.requests import MemoryPatch, NewAnchor, NewEdge
from soulmem.engine.consolidation.rewording import is_borne_out
from soulmem.engine.views.faded_texts import fading_of
from soulmem.prompts.rewording import Filled, Gapped
from tests.engine.model_stage import ModelStage, obliging, talk
from tests.engine.stage import ME, line

PROMISE = "I promise you, Bela gets the old canoe for 300 coins, remember that!"
ASK = "What did you promise about the canoe of Bela?"
FILLER = talk(24, 100, "other")


def retold_text(prompt: Prompt) -> str:
    """The memory in a prompt of a rewording."""
    return prompt.user.partition("<memory>")[2].partition("</memory>")[0]


class Archivist:
    """A model whose fillings are set by a test."""

    def __init__(self) -> None:
        self.filling = "something else"
        self.seen: list[str] = []

    def __call__(self, prompt: Prompt) -> str:
        if prompt.name != "rewording":
            return obliging(prompt)
        memory = retold_text(prompt)
        self.seen.append(memory)
        parts = [part.partition(")")[2] or part for part in memory.split("xxx")]
        parts[0] = memory.split("xxx", maxsplit=1)[0]
        return json.dumps({"memory": self.filling.join(parts)})


@pytest.fixture
def archivist() -> Archivist:
    """Its script."""
    return Archivist()


@pytest.fixture
async def stage(archivist: Archivist) -> AsyncIterator[ModelStage]:
    """A soul with a promise, long ago."""
    made = ModelStage(archivist)
    await made.start()
    await made.soul(restraint=0.0)
    await made.sync("c", [line("m1", PROMISE), *FILLER])
    key = await promise(made)
    await made.engine.memories.patch(ME, key, MemoryPatch(importance=0.6))
    made.clock.advance(0, 30_000)
    yield made
    await made.stop()


async def remember(stage: ModelStage, reply: str = "Oh, that canoe!") -> None:
    """The soul is asked, and the reply is kept."""
    await stage.recall(ASK, "c", slot=SlotId("r1"), swipe=0, max_items=5)
    await stage.sync(
        "c",
        [
            line("m1", PROMISE),
            *FILLER,
            line("r1", reply, Role.CHARACTER, swipe=0),
            line("n1", "I see."),
        ],
    )
    await stage.engine.learner.drain()


async def reads(stage: ModelStage) -> str:
    """What is told of the promise now, without gaps."""
    mind = await stage.mind()
    memory = mind.memories[await promise(stage)]
    return fading_of(mind, memory, mind.lived_turns(stage.clock.extra_turns)).text


async def promise(stage: ModelStage) -> MemoryId:
    """The memory of the promise: its own text is what is searched."""
    mind = await stage.mind()
    return next(m.id for m in mind.memories.values() if PROMISE in m.text)


async def test_it_is_worded_anew_once(stage: ModelStage, archivist: Archivist) -> None:
    archivist.filling = "I swore it"
    await remember(stage)
    before = await stage.fingerprint()
    await stage.rest()
    assert len(archivist.seen) == 1
    assert "xxx" in archivist.seen[0]
    assert "Bela" in archivist.seen[0], "names of what is important stay"
    text = await reads(stage)
    assert "I swore it" in text
    assert "xxx" not in text
    assert await stage.fingerprint() == before
    await stage.rest()
    assert len(archivist.seen) == 1


async def test_history_has_it_and_undo_restores_it(stage: ModelStage, archivist: Archivist) -> None:
    await remember(stage)
    await stage.rest()
    assert await reads(stage) != f"User: {PROMISE}"
    key = await promise(stage)
    page = await stage.engine.history.of_memory(ME, key, 50, None)
    entry = next(e for e in page.entries if "worded" in e.reason or "gaps" in e.reason)
    assert entry.after is not None
    assert "something else" in json.dumps(entry.after)
    await stage.engine.history.undo(ME, SoulId("s1"), since=None, change=entry.id, job=None)
    assert PROMISE in await reads(stage)
    await stage.rest()
    assert len(archivist.seen) == 1, "what was undone is not done again"


@pytest.mark.parametrize("filling", ["for 999 coins", "with Petra"])
async def test_what_the_reply_does_not_say_is_not_taken(
    stage: ModelStage, archivist: Archivist, filling: str
) -> None:
    """A number, or somebody the soul knows, that neither the reply nor the memory names."""
    await stage.sync("d", [line("p1", "Petra sings."), line("p2", "Petra dances.")])
    archivist.filling = filling
    await remember(stage)
    await stage.rest()
    assert PROMISE in await reads(stage)
    assert len(archivist.seen) == 1
    await stage.rest()
    assert len(archivist.seen) == 1


async def test_a_switch_turns_it_off(stage: ModelStage, archivist: Archivist) -> None:
    await stage.soul(restraint=0.0, rewords=False)
    await remember(stage)
    await stage.rest()
    assert archivist.seen == []
    assert PROMISE in await reads(stage)


async def test_nothing_locked_is_worded_anew(stage: ModelStage, archivist: Archivist) -> None:
    await remember(stage)
    key = await promise(stage)
    await stage.engine.memories.patch(ME, key, MemoryPatch(locked=True))
    await stage.rest()
    assert archivist.seen == []
    assert PROMISE in await reads(stage)


async def test_a_swiped_reply_teaches_no_wording(stage: ModelStage, archivist: Archivist) -> None:
    await stage.recall(ASK, "c", slot=SlotId("r1"), swipe=1, max_items=5)
    reply = line("r1", "Oh, that canoe!", Role.CHARACTER, swipe=0)
    await stage.sync("c", [line("m1", PROMISE), *FILLER, reply, line("n1", "So.")])
    await stage.engine.learner.drain()
    await stage.rest()
    assert archivist.seen == []


async def test_what_contradicts_a_fact_is_not_taken(stage: ModelStage) -> None:
    """A reply may err: what it says against a fact does not become the memory."""
    ids = {}
    for name in ("Lund", "Malmo"):
        made = await stage.note(name, kind=MemoryKind.CONCEPT)
        ids[name] = made.memory.id
    lives = NewEdge(EdgeKind.RELATES, to=ids["Lund"], verb="lives in", strength=0.8)
    await stage.note("Bela", kind=MemoryKind.CONCEPT, edges=(lives,))
    mind = await stage.mind()
    memory = mind.memories[await promise(stage)]
    gapped = Gapped("Mira", "Bela lives in xxx.", "In Malmo, near Lund.", "en")

    def taken(place: str) -> bool:
        filled = Filled(f"Bela lives in {place}.", (place,))
        return is_borne_out(mind, gapped, filled, memory)

    assert taken("Lund")
    assert not taken("Malmo")


async def test_a_rewording_goes_with_its_reply(stage: ModelStage) -> None:
    """What was said and taken back leaves no trace in how a memory reads."""
    await remember(stage)
    await stage.rest()
    assert "something else" in await reads(stage)
    await stage.sync("c", [line("m1", PROMISE), *FILLER, line("n2", "Hm.")], confirm=True)
    assert PROMISE in await reads(stage)
    key = await promise(stage)
    assert all(f.memory != key for f in await stage.store.fading(ME, SoulId("s1")))
    page = await stage.engine.history.of_memory(ME, key, 50, None)
    assert "something else" not in repr(page.entries)


async def test_anchors_of_the_user_outlive_a_rewording(stage: ModelStage) -> None:
    """What the user marked in a text stays marked when its rewording goes."""
    await remember(stage)
    key = await promise(stage)
    anchors = (NewAnchor("Bela", AnchorKind.SPONTANEOUS),)
    await stage.engine.memories.patch(ME, key, MemoryPatch(anchors=anchors))
    await stage.rest()
    assert "something else" in await reads(stage)
    after = [line("m1", PROMISE), *FILLER, line("n2", "Hm.")]
    await stage.sync("c", after, confirm=True)
    (record,) = await stage.store.fading(ME, SoulId("s1"))
    assert (record.memory, record.reworded) == (key, None)
    assert [anchor.text for anchor in record.anchors] == ["Bela"]
    assert PROMISE in await reads(stage)

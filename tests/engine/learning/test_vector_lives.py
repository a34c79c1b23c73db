"""Memory vectors stay with their edges and can be taken back, whatever is recalled, judged, deleted and undone."""

from __future__ import annotations

import random

import pytest

from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import MemoryId, SlotId, SoulId
from soulmem.domain.memories import MemoryKind
from soulmem.domain.opinions import Verdict
from soulmem.engine.api.requests import NewEdge, RecallMode
from tests.engine.picture import memory_vectors
from tests.engine.stage import ME, Stage, line
from tests.examples import sized
from tests.fakes.embedder import FakeEmbedder

WORDS = ("turtle", "dance", "candle", "violin", "harbour", "goose", "saddle", "ledger")
VERDICTS = (Verdict.STRONGER, Verdict.STRONGER, Verdict.NOT_NOW, Verdict.WRONG)


class Life:
    """One soul with notes on a few concepts, and a player who does anything."""

    def __init__(self, number: int) -> None:
        self.rng = random.Random(number)
        self.stage = Stage(model=FakeEmbedder(dim=64).source())
        self.notes: list[MemoryId] = []
        self.changes: list[str] = []
        self.judged: dict[str, MemoryId] = {}  # by change
        self.shown = [line("m1", "Here we are.")]
        self.most = 0  # vectors at any time

    async def begin(self) -> None:
        await self.stage.start()
        await self.stage.soul(restraint=0.0)
        await self.stage.sync("c1", self.shown)
        hubs = [
            (await self.stage.note(f"Zq{n}rn", kind=MemoryKind.CONCEPT)).memory.id for n in range(3)
        ]
        for _ in range(40):
            edge = NewEdge(EdgeKind.MENTIONS, to=self.rng.choice(hubs), strength=self.rng.random())
            text = " ".join(self.rng.sample(WORDS, 3)) + f" {len(self.notes)}"
            made = await self.stage.note(text, kind=MemoryKind.EPISODE, edges=(edge,))
            self.notes.append(made.memory.id)
        await self.stage.engine.embedding.wait_pending()

    def query(self) -> str:
        return " ".join(self.rng.sample(WORDS, 2))

    async def judge(self) -> None:
        """A verdict on something that came over edges, if anything did."""
        answer = await self.stage.recall(self.query(), max_items=30, mode=RecallMode.WALK)
        came = [memory for memory in answer.memories if memory.edges]
        if not came:
            return
        memory, verdict = self.rng.choice(came), self.rng.choice(VERDICTS)
        before = await self.stage.fingerprint()
        given = await self.stage.engine.feedback.give(
            ME, answer.trace, MemoryId(memory.id), verdict
        )
        assert await self.stage.fingerprint() == before
        self.changes.append(given.change)
        self.judged[given.change] = MemoryId(memory.id)

    async def reply(self) -> None:
        """A recall for a reply that is kept, or swiped away."""
        number, kept = len(self.shown), self.rng.random() < 0.8
        slot = SlotId(f"r{number}")
        await self.stage.recall(
            self.query(), "c1", slot=slot, swipe=0, max_items=30, mode=RecallMode.WALK
        )
        text = self.rng.choice(["Yes.", "No, that is wrong.", self.query()])
        self.shown += [
            line(slot, "Yes.", swipe=0 if kept else 1),
            line(f"n{number}", text),
        ]
        await self.stage.sync("c1", self.shown)
        await self.stage.engine.learner.drain()

    async def delete(self) -> None:
        key = self.rng.choice(self.notes)
        self.notes.remove(key)
        # purging erases what a verdict on it changed, so there is no undoing it
        self.changes = [c for c in self.changes if self.judged[c] != key]
        await self.stage.engine.memories.delete(ME, key, None)
        await self.stage.engine.memories.delete(ME, key, "purge")

    async def lose_chat(self) -> None:
        self.shown = self.shown[: self.rng.randrange(1, len(self.shown) + 1)]
        await self.stage.sync("c1", self.shown, confirm=True)

    async def undo(self) -> None:
        if self.changes:
            change = self.changes.pop(self.rng.randrange(len(self.changes)))
            await self.take_back(change)

    async def take_back(self, change: str) -> None:
        await self.stage.engine.history.undo(ME, SoulId("s1"), since=None, change=change, job=None)

    async def restart(self) -> None:
        await self.stage.restart()
        await self.stage.engine.embedding.wait_pending()

    async def rest(self) -> None:
        self.stage.clock.advance(700, self.rng.randrange(40))
        await self.stage.engine.idle.run()

    async def step(self) -> None:
        doing = [self.judge] * 4 + [self.reply] * 3
        doing += [self.delete, self.lose_chat, self.undo, self.restart, self.rest]
        await self.rng.choice(doing)()
        await self.look()

    async def look(self) -> None:
        """The store has what the mind has, and each vector has its edge."""
        mind = await self.stage.mind()
        vectors = memory_vectors(mind)
        stored = await self.stage.store.edge_vectors(ME, SoulId("s1"))
        assert {vector.edge: vector for vector in stored} == vectors
        self.most = max(self.most, len(vectors))


@pytest.mark.timeout(0)
async def test_vectors_stay_with_their_edges_in_random_lives() -> None:
    most = []
    for number in range(sized(2, 12)):
        life = Life(number)
        await life.begin()
        for _ in range(25):
            await life.step()
        most.append(life.most)
        await life.stage.stop()
    assert sum(count >= 4 for count in most) >= 0.75 * len(most) > 0, most


async def test_verdicts_undone_in_any_order_leave_nothing() -> None:
    undone = 0
    for number in range(sized(2, 4)):
        life = Life(100 + number)
        await life.begin()
        for _ in range(12):
            await life.judge()
        assert len((await life.stage.mind()).edge_vectors) >= 3
        life.rng.shuffle(life.changes)
        undone += len(life.changes)
        for change in life.changes:
            await life.take_back(change)
            await life.look()
        assert len((await life.stage.mind()).edge_vectors) == 0
        if life.changes:  # a second time changes nothing
            await life.take_back(life.changes[0])
            await life.look()
        await life.stage.stop()
    assert undone > 0

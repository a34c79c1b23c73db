"""What a player does with names, concepts and what covers episodes, as rules of a state machine."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from soulmem.domain.edges import TEXTS, EdgeKind
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.memories import Memory, MemoryKind, MemoryState, Origin, Timelines
from soulmem.domain.situation import ConceptDetail
from soulmem.domain.soul import KnownName
from soulmem.engine.api.requests import MemoryPatch, NewEdge
from soulmem.engine.api.results import MemoryView
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.known_names import KnownNames
from soulmem.engine.propagation.mentions import MindAfter, mentioned_concepts
from tests.engine.stage import ME, Stage

SOULS = ("s1", "s2")
PICK = st.integers(0, 30)
NAMES = st.lists(
    st.sampled_from(
        [
            KnownName("ring"),
            KnownName("the ring", ("noon",)),
            KnownName("Noon", ("ring", "雨")),
            KnownName("S1", ("noon",)),
            KnownName("Al", ("Alicia",)),
            KnownName("雨停"),
            KnownName("Kaelith"),
            KnownName("Lin Yue", ("the smith",)),
            KnownName("林月"),
        ]
    ),
    max_size=4,
)
CALLED = st.sampled_from(
    ["ring", "the ring", "noon", "lost the ring", "雨停了", "s2", "Kaelith", "林月"]
)


class Namer(RuleBasedStateMachine):
    """Needs what `Player` has."""

    stage: Stage
    made: dict[MemoryId, Memory]
    names: dict[str, tuple[KnownName, ...]]
    run: Callable[[Callable[[], Awaitable[None]]], None]

    @rule(soul=st.sampled_from(SOULS), names=NAMES)
    def know(self, soul: str, names: Sequence[KnownName]) -> None:
        self.names[soul] = tuple(names)

        async def work() -> None:
            await self.stage.engine.souls.put(
                ME, SoulId(soul), soul.upper(), self.names[soul], None
            )

        self.run(work)

    @rule(
        soul=st.sampled_from(SOULS),
        text=CALLED,
        aliases=st.lists(CALLED, max_size=1),
        kind=st.sampled_from([MemoryKind.CONCEPT, MemoryKind.CONCEPT, MemoryKind.NOTE]),
    )
    def name(self, soul: str, text: str, aliases: list[str], kind: MemoryKind) -> None:
        concept = ConceptDetail(aliases=tuple(aliases)) if kind is MemoryKind.CONCEPT else None
        self.make(lambda: self.stage.note(text, soul, kind=kind, concept=concept))

    @rule(soul=st.sampled_from(SOULS), first=PICK, count=st.integers(1, 4), text=CALLED)
    def cover(self, soul: str, first: int, count: int, text: str) -> None:
        async def work() -> MemoryView:
            mind = await self.stage.mind(soul)
            told = [m for s in mind.branches for m in s.order]
            some = told[first % (len(told) or 1) :][:count]
            edges = [NewEdge(EdgeKind.INSTANCE_OF, source=m) for m in some]
            return await self.stage.note(
                text, soul, kind=MemoryKind.ABSTRACT_EPISODE, edges=tuple(edges)
            )

        self.make(work)

    @rule(pick=PICK, text=CALLED)
    def call_otherwise(self, pick: int, text: str) -> None:
        self.change(
            pick,
            lambda key: self.stage.engine.memories.patch(ME, key, MemoryPatch(text=text)),
        )

    @rule(pick=PICK, timelines=st.sampled_from(Timelines))
    def tell_where(self, pick: int, timelines: Timelines) -> None:
        """Only those that have a place can be of one timeline."""
        made = [m for m in self.made.values() if m.place is not None or timelines is Timelines.ALL]
        patch = MemoryPatch(timelines=timelines)
        self.change(pick, lambda key: self.stage.engine.memories.patch(ME, key, patch), made)

    @rule(pick=PICK)
    def bin(self, pick: int) -> None:
        async def work(key: MemoryId) -> MemoryView:
            await self.stage.engine.memories.delete(ME, key, None)
            return await self.stage.engine.memories.get(ME, key)

        self.change(pick, work)

    @rule(pick=PICK)
    def restore(self, pick: int) -> None:
        binned = [m for m in self.made.values() if m.state is MemoryState.BIN]
        self.change(pick, lambda key: self.stage.engine.memories.restore(ME, key), binned)

    @rule(soul=st.sampled_from(SOULS), pick=PICK)
    def make_own(self, soul: str, pick: int) -> None:
        """A name of the card or of messages becomes the user's by a word of his."""

        async def work() -> None:
            mind = await self.stage.mind(soul)
            found = (
                m for m in mind.names.concepts() if m.origin is Origin.CARD or m.is_learned_name
            )
            bare = sorted(m.id for m in found)
            if bare:
                key = bare[pick % len(bare)]
                view = await self.stage.engine.memories.patch(ME, key, MemoryPatch(tags=("mine",)))
                self.made[key] = view.memory

        self.run(work)

    def make(self, work: Callable[[], Awaitable[MemoryView]]) -> None:
        """Make something, and keep in mind what."""

        async def done() -> None:
            memory = (await work()).memory
            self.made[memory.id] = memory

        self.run(done)

    def change(
        self,
        pick: int,
        work: Callable[[MemoryId], Awaitable[MemoryView]],
        among: Sequence[Memory] | None = None,
    ) -> None:
        """Do something to one of the things made."""
        some = list(self.made.values() if among is None else among)
        if some:
            key = some[pick % len(some)].id
            self.make(lambda: work(key))

    async def same_links(self) -> None:
        """Concepts and mentions are those that one look at everything would make."""
        for soul in SOULS:
            mind = await self.stage.mind(soul)
            names = KnownNames(mind.soul)
            for memory in mind.memories.values():
                names.put(memory)
            assert names.all_concept_names() == mind.names.all_concept_names()
            assert names.card_changes(self.stage.clock.now()) == ([], [])
            after = MindAfter(mind, MindChange())
            for memory in mind.memories.values():
                if memory.kind in TEXTS:
                    linked: dict[str, Any] = {
                        e.target: e.origin
                        for e in mind.edges.of(memory.id)
                        if e.kind is EdgeKind.MENTIONS
                    }
                    assert linked.keys() == mentioned_concepts(after, names, memory), memory.text

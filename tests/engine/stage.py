"""An engine on fakes, and short words for what a client asks of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from soulmem.domain.dialogue import Base, Fork, Role, SentMessage, text_hash
from soulmem.domain.ids import DEFAULT_OWNER, ChatId, MemoryId, SlotId, SoulId
from soulmem.domain.memories import Memory, MemoryKind, MemoryState
from soulmem.domain.soul import Soul, SoulSettings
from soulmem.engine.api.requests import (
    Activity,
    MemoryFilter,
    NewMemory,
    RecallRequest,
    SyncAnswer,
    SyncRequest,
)
from soulmem.engine.api.results import MemoryView, Recalled
from soulmem.engine.engine import Engine
from soulmem.engine.mind.mind import Mind
from soulmem.engine.params import EngineParams
from soulmem.engine.recall.context import RecallParams, build_context, build_query
from soulmem.engine.runtime.jobs import ENDED, JobView
from soulmem.engine.vectors.embedder import ModelSource
from soulmem.engine.wiring import Ports, wire_engine
from soulmem.engine.world.world import World
from soulmem.ports.backups import Backups
from soulmem.ports.model_fetching import ModelFetcher
from soulmem.ports.snapshot_store import SnapshotStore
from soulmem.ports.store import Store
from soulmem.ports.token_store import TokenStore
from tests.fakes.clock import StillClock
from tests.fakes.spool import FakeSpool
from tests.fakes.store import FakeStore
from tests.fakes.traces import FakeTraces

ME = DEFAULT_OWNER


def line(slot: str, text: str | None = None, role: Role = Role.USER, **more: Any) -> SentMessage:
    """A message as a client lists it; its text is "text of <slot>" unless given."""
    said = f"text of {slot}" if text is None else text
    speaker = {Role.USER: "Al", Role.CHARACTER: "Mira"}.get(role, "")
    return SentMessage(
        SlotId(slot),
        text_hash(said),
        role,
        more.pop("speaker", speaker),
        text=said,
        **more,
    )


def lines(count: int, start: int = 1) -> list[SentMessage]:
    """Messages m<start>, m<start + 1>, .., user and character in turn."""
    roles = (Role.CHARACTER, Role.USER)
    return [line(f"m{i}", role=roles[i % 2]) for i in range(start, start + count)]


def bare(messages: Iterable[SentMessage]) -> list[SentMessage]:
    """The same messages without their texts."""
    return [replace(m, text=None) for m in messages]


def as_told(messages: Iterable[SentMessage]) -> list[str]:
    """The texts of the memories of these messages."""
    return sorted(f"{m.speaker}: {m.text}" if m.speaker else f"{m.text}" for m in messages)


async def begun(stage: Stage) -> None:
    """Wait until the souls are open and interrupted jobs go on."""
    for _ in range(4000):
        if stage.engine.store_opening.is_done:
            return
        await asyncio.sleep(0.002)
    raise AssertionError("the engine never began")


async def ended(stage: Stage, job: str) -> JobView:
    """The job when it is over."""
    for _ in range(4000):
        view = stage.engine.jobs.get(ME, job)
        if view.state in ENDED:
            return view
        await asyncio.sleep(0.002)
    raise AssertionError(view)


async def until(seen: Callable[[], object]) -> None:
    """Returns once it is so."""
    for _ in range(4000):
        if seen():
            return
        await asyncio.sleep(0.002)
    raise AssertionError("it never came")


class Stage:
    """One engine at a time over one store and one clock; `restart` gives it a new life."""

    def __init__(
        self,
        store: Store | None = None,
        *,
        model: ModelSource | None = None,
        fallback: ModelSource | None = None,
        params: EngineParams | None = None,
        images: SnapshotStore | None = None,
        tokens: TokenStore | None = None,
        judges_lines: bool = False,
        backups: Backups | None = None,
        fetcher: ModelFetcher | None = None,
    ) -> None:
        self.backups = backups
        self.fetcher = fetcher
        self.judges_lines = judges_lines
        self.tokens = tokens
        self.images: SnapshotStore | None = images
        self.store: Store = store if store is not None else FakeStore()
        self.spool = FakeSpool()
        self.traces = FakeTraces()
        self.clock = StillClock()
        self.model, self.fallback = model, fallback
        self._params = params or EngineParams(rest_by_itself=False)
        self.engine = self._new_engine()

    async def start(self) -> None:
        """Open the store and begin to load the model."""
        await self.engine.start()

    async def stop(self) -> None:
        """Close everything."""
        await self.engine.stop()

    async def restart(self) -> None:
        """A new engine on what is stored."""
        await self.engine.stop()
        self.engine = self._new_engine()
        await self.engine.start()

    def _new_engine(self) -> Engine:
        return wire_engine(
            Ports(
                store=self.store,
                clock=self.clock,
                model=self.model,
                fallback=self.fallback,
                params=self._params,
                advance=self.clock.advance,
                spool=self.spool,
                traces=self.traces,
                images=self.images,
                tokens=self.tokens,
                judges_lines=self.judges_lines,
                backups=self.backups,
                fetcher=self.fetcher,
            )
        )

    async def world(self) -> World:
        """The one owner's world."""
        return await self.engine.worlds.of(ME)

    async def mind(self, soul: str = "s1") -> Mind:
        """A soul's loaded memory."""
        return await (await self.world()).mind(SoulId(soul))

    async def soul(self, soul: str = "s1", name: str = "Mira", **settings: Any) -> Soul:
        """Create or change a soul; unless it is told, all that comes to its mind is in the answer."""
        settings.setdefault("restraint", 0.0)
        found, _ = await self.engine.souls.put(
            ME, SoulId(soul), name, None, SoulSettings(**settings)
        )
        return found

    async def sync(
        self,
        chat: str,
        messages: Sequence[SentMessage],
        *,
        souls: Sequence[str] = ("s1",),
        parent: tuple[str, str] | None = None,
        base: Base | None = None,
        confirm: bool = False,
    ) -> SyncAnswer:
        """Show the chat to the engine."""
        return await self.engine.chats.sync(
            ME,
            SyncRequest(
                ChatId(chat),
                tuple(SoulId(s) for s in souls),
                messages,
                parent=Fork(ChatId(parent[0]), SlotId(parent[1])) if parent else None,
                base=base,
                confirm_removal=confirm,
            ),
        )

    async def close(self, chat: str) -> None:
        """Leave the chat: its last message is settled."""
        await self.engine.chats.activity(ME, ChatId(chat), Activity.CLOSED)

    async def visible(
        self, chat: str | None, soul: str = "s1", context_from: str | None = None
    ) -> list[Memory]:
        """What a recall may see there."""
        world, mind = await self.world(), await self.mind(soul)
        if chat:
            await world.log(ChatId(chat))
        request = RecallRequest(
            SoulId(soul),
            ChatId(chat) if chat else None,
            context_from=SlotId(context_from) if context_from else None,
        )
        scene = build_context(
            world,
            mind,
            request,
            build_query(world, request),
            RecallParams(),
            0,
            self.clock.now(),
        )
        shown = scene.visible | scene.digests
        return [mind.memory_at(int(row)) for row in shown.nonzero()[0]]

    async def known(
        self, chat: str | None, soul: str = "s1", context_from: str | None = None
    ) -> list[str]:
        """Texts of what a recall may see there."""
        return sorted(m.text for m in await self.visible(chat, soul, context_from))

    async def recall(
        self, query: str, chat: str | None = None, soul: str = "s1", **more: Any
    ) -> Recalled:
        """Ask."""
        where = ChatId(chat) if chat else None
        return await self.engine.recaller.recall(
            ME, RecallRequest(SoulId(soul), where, query=query, **more)
        )

    async def note(self, text: str, soul: str = "s1", **more: Any) -> MemoryView:
        """Make a memory by hand: a note unless another `kind` is given."""
        kind = more.pop("kind", MemoryKind.NOTE)
        if "chat" in more:
            more["chat"] = ChatId(more["chat"])
        return await self.engine.memories.create(ME, NewMemory(SoulId(soul), kind, text, **more))

    async def listed(
        self, state: MemoryState = MemoryState.ACTIVE, soul: str = "s1", **more: Any
    ) -> list[Memory]:
        """All memories of a state, by text."""
        page = await self.engine.memories.list(
            ME, MemoryFilter(SoulId(soul), state=state, limit=1000, **more)
        )
        return sorted((view.memory for view in page.memories), key=lambda m: m.text)

    async def find(
        self, text: str, state: MemoryState = MemoryState.ACTIVE, soul: str = "s1"
    ) -> MemoryId:
        """The one memory of that text."""
        (found,) = [m.id for m in await self.listed(state, soul) if m.text == text]
        return found

    async def fingerprint(self, soul: str = "s1") -> str:
        """What equal surviving chats have in common."""
        return await self.engine.souls.fingerprint(ME, SoulId(soul))

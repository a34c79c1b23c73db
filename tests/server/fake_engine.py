"""An engine of dictionaries: the same doors, no memory to speak of, and a record of what reached it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any, TypeVar

from soulmem.adapters.client_llm import ClientDesk
from soulmem.domain.dialogue import Chat, Message, Version
from soulmem.domain.edges import Edge
from soulmem.domain.errors import ConfirmationRequired, Conflict, NotFound, StoreError
from soulmem.domain.ids import ChatId, MemoryId, Owner, SlotId, SoulId
from soulmem.domain.memories import Memory, MemoryKind, MemoryState, Origin, Place
from soulmem.domain.phrases import Phrase
from soulmem.domain.soul import KnownName, SettingsChange, Soul, SoulSettings, SoulState
from soulmem.domain.usage import Stamp, first_use
from soulmem.engine.api.requests import (
    Activity,
    MemoryFilter,
    MemoryPatch,
    NewMemory,
    RecallRequest,
    SyncAnswer,
    SyncRequest,
)
from soulmem.engine.api.results import (
    ActiveMemory,
    Considered,
    EmbedderHealth,
    Grade,
    GraphView,
    Health,
    MemoryView,
    Opening,
    Page,
    Recalled,
    Trace,
)
from soulmem.engine.llm.model_choice import ModelChooser
from soulmem.engine.llm.sources import LlmAccess, LlmSources
from soulmem.engine.llm.usage import UsageLedger
from soulmem.engine.recall.pushes import Draws
from soulmem.engine.runtime.events import Events
from tests.fakes.model_choice import FakeModels
from tests.server.fake_governor import FakeGovernor, FakeTools
from tests.server.fake_jobs import NOW, FakeExports, FakeFetching, FakeJobs
from tests.server.fake_overviews import FakeOverviews
from tests.server.fake_replies import a_recalled, fake_replies

T = TypeVar("T")
SMALL_TALK = Phrase("climb_small_talk", "small talk")


class FakeEngine:
    """Keeps souls, chats and memories per owner; `calls` lists what was asked, in order."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any]] = []
        self.running = False
        self.touches = 0
        self.clock = (0.0, 0)
        self.failure: Exception | None = None  # raised by the next call
        self.stored_souls: dict[tuple[Owner, str], Soul] = {}
        self.stored_chats: dict[tuple[Owner, str], tuple[Chat, list[Message]]] = {}
        self.stored_memories: dict[tuple[Owner, str], Memory] = {}
        self.jobs = FakeJobs(self)
        self.events = Events()
        self.imports = self.jobs
        self.exports = FakeExports(self)
        self.fetching = FakeFetching(self)
        governor = FakeGovernor(self._called)
        self.history = self.feedback = self.consolidator = self.bin = governor
        self.tools = self.deletions = FakeTools(self._called)
        self.idle = SimpleNamespace(run=self.run_idle)
        self.souls = SimpleNamespace(
            put=self.put_soul,
            get=self.get_soul,
            list=self.list_souls,
            in_memory=self.souls_in_memory,
            delete=self.delete_soul,
            fingerprint=self.fingerprint,
        )
        self.chats = SimpleNamespace(
            sync=self.sync_chat,
            get=self.get_chat,
            list=self.list_chats,
            delete=self.delete_chat,
            activity=self.activity,
        )
        self.roulette = SimpleNamespace(draws=self.draws)
        self.recaller = SimpleNamespace(recall=self.recall, trace=self.trace)
        self.replies = fake_replies(self.sync_chat, self.recall)
        self.memories = SimpleNamespace(
            create=self.create_memory,
            list=self.list_memories,
            get=self.get_memory,
            patch=self.patch_memory,
            delete=self.delete_memory,
            restore=self.restore_memory,
            graph=self.graph,
            timeline=self.timeline,
        )
        self.overviews = FakeOverviews(self._called)
        self.namesakes = SimpleNamespace(split=self.split)
        self.desk = ClientDesk()
        self.is_busy = False
        sources = LlmSources(archivist=self.desk.llm, desk=self.desk)
        self.llms = LlmAccess(sources, lambda: self.is_busy, self.events)
        self.model_choice = ModelChooser(
            llms=LlmAccess(None, lambda: False),
            usage=UsageLedger(),
            models=FakeModels().choosable,
            on_changed=lambda: None,
        )

    async def start(self) -> None:
        self.running = True

    async def opened(self) -> StoreError | None:
        return None

    async def stop(self) -> None:
        self.running = False

    def unsaved(self) -> str | None:
        return None

    def health(self) -> Health:
        return Health(
            status="ok",
            phase="working",
            store_state="ok",
            store_detail="",
            embedder=EmbedderHealth("ok", "tiny", 8, True, ""),
            kernels="ok",
            opening=(Opening(SoulId("s1"), "Mira", 3, 9),),
            notes=("the packaged model answers",),
        )

    def touched(self) -> None:
        self.touches += 1

    async def put_soul(
        self,
        owner: Owner,
        soul: SoulId,
        name: str,
        names: tuple[KnownName, ...] | None,
        settings: SettingsChange | None,
    ) -> tuple[Soul, bool]:
        self._called("put_soul", (owner, soul, name, names, settings))
        before = self.stored_souls.get((owner, soul))
        base = before or Soul(soul, name, created=NOW)
        made = replace(
            base,
            name=name,
            names=base.names if names is None else names,
            settings=base.settings
            if settings is None
            else settings.of(base.settings, SoulSettings()),
        )
        self.stored_souls[owner, soul] = made
        return made, before is None

    async def get_soul(self, owner: Owner, soul: SoulId) -> Soul:
        self._called("get_soul", soul)
        return _found(self.stored_souls, owner, soul)

    async def souls_in_memory(self, owner: Owner) -> frozenset[SoulId]:
        """All but those whose id begins with `closed`."""
        return frozenset(
            SoulId(soul)
            for whose, soul in self.stored_souls
            if whose == owner and not soul.startswith("closed")
        )

    async def list_souls(self, owner: Owner, state: SoulState = SoulState.ACTIVE) -> list[Soul]:
        self._called("list_souls", (owner, state))
        return [soul for (whose, _), soul in self.stored_souls.items() if whose == owner]

    async def delete_soul(self, owner: Owner, soul: SoulId, confirm: str | None) -> None:
        self._called("delete_soul", (soul, confirm))
        if confirm != _found(self.stored_souls, owner, soul).name:
            raise ConfirmationRequired(f"send confirm with the name of {soul!r}", field="confirm")
        del self.stored_souls[owner, soul]

    async def fingerprint(self, owner: Owner, soul: SoulId) -> str:
        self._called("fingerprint", soul)
        return f"print-of-{_found(self.stored_souls, owner, soul).id}"

    async def sync_chat(self, owner: Owner, request: SyncRequest) -> SyncAnswer:
        self._called("sync_chat", request)
        wanted = tuple(m.slot for m in request.messages if m.text is None)
        if wanted:
            return SyncAnswer(needs_text=wanted, applied=False)
        chat = Chat(
            request.chat,
            request.souls,
            title=request.title,
            persona=request.persona,
            parent=request.parent,
        )
        messages = [
            Message(
                slot=m.slot,
                hash=m.hash,
                role=m.role,
                speaker=m.speaker,
                text=m.text or "",
                sent_at=m.sent_at,
                story_at=m.story_at,
                hidden=m.hidden,
                swipe=m.swipe,
                present=m.present,
            )
            for m in request.messages
        ]
        self.stored_chats[owner, request.chat] = (chat, messages)
        return SyncAnswer(added=len(messages))

    async def get_chat(self, owner: Owner, chat: ChatId) -> tuple[Chat, list[Message]]:
        self._called("get_chat", chat)
        return _found(self.stored_chats, owner, chat)

    async def list_chats(self, owner: Owner, soul: SoulId | None) -> list[tuple[Chat, int]]:
        self._called("list_chats", soul)
        mine = [pair for (whose, _), pair in self.stored_chats.items() if whose == owner]
        return [
            (chat, len(messages)) for chat, messages in mine if soul is None or soul in chat.souls
        ]

    async def delete_chat(self, owner: Owner, chat: ChatId) -> None:
        self._called("delete_chat", chat)
        _found(self.stored_chats, owner, chat)
        del self.stored_chats[owner, chat]

    async def activity(self, owner: Owner, chat: ChatId, state: Activity) -> None:
        self._called("activity", (chat, state))

    async def recall(self, owner: Owner, request: RecallRequest) -> Recalled:
        self._called("recall", request)
        _found(self.stored_souls, owner, request.soul)
        return a_recalled()

    async def trace(self, owner: Owner, trace_id: str) -> Trace:
        self._called("trace", trace_id)
        if trace_id != "t1":
            raise NotFound(f"no trace {trace_id!r}")
        return Trace(
            id="t1",
            at=NOW,
            soul="s1",
            chat=None,
            query=(("rain", 1.0),),
            type="normal",
            grade="baseline",
            grade_why="small talk",
            seeds=((MemoryId("m1"), 0.5),),
            guidance={"depth": "casual"},
            considered=(
                Considered(MemoryId("m2"), "sun", 0.1, 0.2, None, False, "over the budget"),
            ),
            answer=a_recalled(),
            notes=("lexical only",),
            grades=(Grade("baseline", True, SMALL_TALK, 0.5),),
            working=(ActiveMemory(MemoryId("m3"), "fog", False, 2, 7, "recalled twice"),),
        )

    async def create_memory(self, owner: Owner, new: NewMemory) -> MemoryView:
        self._called("create_memory", new)
        memory = Memory(
            id=MemoryId(f"m{len(self.stored_memories) + 1}"),
            soul=new.soul,
            kind=new.kind,
            text=new.text,
            origin=Origin.USER,
            created=NOW,
            tags=new.tags,
            importance=0.5 if new.importance is None else new.importance,
            permanent=new.permanent,
            locked=new.locked,
            timelines=new.timelines,
            situation=new.situation,
            concept=new.concept,
        )
        self.stored_memories[owner, memory.id] = memory
        edges = tuple(
            Edge(
                new.soul,
                memory.id,
                e.to or MemoryId("?"),
                e.kind,
                Origin.USER,
                NOW,
                0.5 if e.strength is None else e.strength,
                verb=e.verb,
                probability=e.probability,
            )
            for e in new.edges
        )
        return MemoryView(memory, (), edges)

    async def list_memories(self, owner: Owner, wanted: MemoryFilter) -> Page:
        self._called("list_memories", wanted)
        _found(self.stored_souls, owner, wanted.soul)
        mine = [
            m
            for (whose, _), m in self.stored_memories.items()
            if whose == owner and m.state is wanted.state
        ]
        start = int(wanted.cursor or 0)
        end = start + wanted.limit
        views = [MemoryView(m, (Place(ChatId("c1"), SlotId("k1")),)) for m in mine[start:end]]
        return Page(views, str(end) if end < len(mine) else None)

    async def get_memory(self, owner: Owner, memory: MemoryId) -> MemoryView:
        self._called("get_memory", memory)
        view = _found(self.stored_memories, owner, memory)
        return MemoryView(
            replace(view, evidence=((Version(SlotId("k1"), "0" * 16),),)),
            (Place(ChatId("c1"), SlotId("k1")),),
            visibility=0.5,
            usage=first_use(memory, view.soul, Stamp(NOW, 4)).again(
                Stamp(NOW + timedelta(hours=1), 12)
            ),
        )

    async def patch_memory(self, owner: Owner, memory: MemoryId, patch: MemoryPatch) -> MemoryView:
        self._called("patch_memory", patch)
        view = _found(self.stored_memories, owner, memory)
        if patch.revision not in (None, view.revision):
            raise Conflict(
                f"revision {patch.revision} is stale: it is {view.revision}",
                field="revision",
            )
        self.stored_memories[owner, memory] = replace(
            view, text=patch.text or view.text, revision=view.revision + 1
        )
        return MemoryView(self.stored_memories[owner, memory], ())

    async def delete_memory(self, owner: Owner, memory: MemoryId, confirm: str | None) -> None:
        self._called("delete_memory", (memory, confirm))
        view = _found(self.stored_memories, owner, memory)
        if view.permanent and confirm != "permanent":
            raise ConfirmationRequired(
                "a permanent memory: send confirm=permanent", field="confirm"
            )
        self.stored_memories[owner, memory] = replace(view, state=MemoryState.BIN)

    async def restore_memory(self, owner: Owner, memory: MemoryId) -> MemoryView:
        self._called("restore_memory", memory)
        back = replace(_found(self.stored_memories, owner, memory), state=MemoryState.ACTIVE)
        self.stored_memories[owner, memory] = back
        return MemoryView(back, ())

    async def split(self, owner: Owner, concept: MemoryId, name: str, other: str) -> MemoryId:
        self._called("split", (concept, name, other))
        return MemoryId("c9")

    async def graph(
        self,
        owner: Owner,
        soul: SoulId,
        center: MemoryId | None,
        hops: int,
        limit: int,
        also: Sequence[MemoryId] = (),
    ) -> GraphView:
        self._called("graph", (soul, center, hops, limit, *also))
        views = [
            MemoryView(m, ()) for (whose, _), m in self.stored_memories.items() if whose == owner
        ]
        return GraphView(views, [])

    async def timeline(
        self,
        owner: Owner,
        soul: SoulId,
        start: datetime | None,
        end: datetime | None,
        limit: int,
        cursor: str | None,
    ) -> Page:
        self._called("timeline", (soul, start, end, limit, cursor))
        mine = [
            m
            for (whose, _), m in self.stored_memories.items()
            if whose == owner and m.kind is MemoryKind.EPISODE
        ]
        return Page([MemoryView(m, (Place(ChatId("c1"), SlotId("k1")),)) for m in mine], None)

    async def advance_clock(self, seconds: float, turns: int) -> None:
        self._called("advance_clock", (seconds, turns))
        self.clock = (self.clock[0] + seconds, self.clock[1] + turns)

    async def draws(self, owner: Owner, soul: SoulId, count: int, seed: int) -> Draws:
        self._called("draws", (owner, soul, count, seed))
        first, second = MemoryId("m1"), MemoryId("m2")
        return Draws({first: count}, {first: 0.5, second: 0.0})

    async def run_idle(self) -> None:
        self._called("run_idle", None)

    def asked(self, name: str) -> Any:
        """The argument of the last call of that name."""
        return next(what for called, what in reversed(self.calls) if called == name)

    def _called(self, name: str, what: Any) -> None:
        self.calls.append((name, what))
        if self.failure is not None:
            failure, self.failure = self.failure, None
            raise failure


def _found(things: dict[tuple[Owner, str], T], owner: Owner, name: str) -> T:
    if (owner, name) not in things:
        raise NotFound(f"nothing has the id {name!r}")
    return things[owner, name]

"""Which stores the contract runs on, and one full value of each kind to put into them."""

from __future__ import annotations

import os
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

from soulmem.adapters.surreal import SurrealStore
from soulmem.domain.dialogue import (
    Chat,
    ChatState,
    Fork,
    Message,
    Quarantine,
    Role,
    Version,
    text_hash,
)
from soulmem.domain.digests import Period
from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.forgetting_curve import Decay
from soulmem.domain.ids import ChatId, MemoryId, Owner, SlotId, SoulId
from soulmem.domain.memories import (
    Memory,
    MemoryKind,
    MemoryState,
    Origin,
    Place,
    Timelines,
)
from soulmem.domain.situation import (
    ConceptDetail,
    ConceptType,
    Emotion,
    Participant,
    ParticipantKind,
    Situation,
    TimeSpan,
)
from soulmem.domain.soul import (
    DigestChoice,
    KnownName,
    Masks,
    Push,
    Scope,
    Soul,
    SoulClock,
    SoulSettings,
    SoulState,
)
from soulmem.domain.terms import Term
from soulmem.domain.usage import RecallRecord, Stamp, Trail, Usage, first_use
from soulmem.ports.store import Change, ChatChange, RankedMessage, Store
from tests.fakes.store import FakeStore

WS_VARIABLE = "SOULMEM_TEST_SURREAL_WS"
SERVER = os.environ.get(WS_VARIABLE, "")
KINDS = ("fake", "surrealkv", *(["ws server"] if SERVER else []))

OWNER = Owner("default-user")
SOUL = SoulId("soul-1")
CHAT = ChatId("chat-1")
BEIJING = timezone(timedelta(hours=8))
NOON = datetime(2026, 3, 1, 12, 0, 0, 123456, BEIJING)

# What users paste: control characters, quotes of every kind, query language, emoji, right-to-left, a lot.
STRANGE = (
    "",
    "\x00",
    "a\x00b\x00",
    "'",
    '"',
    "`",
    "\\",
    "\\u0000",
    "'; DELETE memory; --",
    "$owner ${1} {{user}} <script>",
    "/* -- # */ \r\n\t\x1b[0m\x7f",
    "钥匙 🗝️ 👩‍👩‍👧 é é ﷽ \u202egnihtyna",
    "\ufeff\uffff\U0010ffff",
    "雨" * 350_000,
)


def soul(key: str = SOUL) -> Soul:
    """A soul with every field set."""
    return Soul(
        id=SoulId(key),
        name="艾莉 'Elly'",
        names=(KnownName("User", ("you", "他")), KnownName("Bob")),
        settings=SoulSettings(
            scope=Scope.CHAT,
            clock=SoulClock.STORY,
            forgetting=1.5,
            decay=Decay.HYBRID,
            restraint=0.5,
            budget_tokens=900,
            max_items=7,
            remember_hidden=False,
            whole_messages=True,
            keep=2_000,
            fades=False,
            masks=Masks.SEED,
            knows_it_forgets=True,
            push=Push.OFTEN,
            rewords=False,
            digest=DigestChoice(4, (Period.HOUR, Period.MONTH)),
            headers={"facts": "[她知道：]", "summary": ""},
            sections_off=("summary", "impulses"),
            weights={"importance": 0.25, "recency": 1.0, "用": 0.1},
        ),
        state=SoulState.BIN,
        created=NOON,
    )


def chat(key: str = CHAT) -> Chat:
    """A chat with every field set."""
    return Chat(
        id=ChatId(key),
        souls=(SOUL,),
        cast=(SOUL, SoulId("guest")),
        title="The old bridge",
        persona="Traveller",
        parent=Fork(ChatId("chat-0"), SlotId("slot-9")),
        settled_tail=Version(SlotId("slot-2"), text_hash("hello")),
        tail_since=NOON,
        quarantine=Quarantine(frozenset({SlotId("slot-1"), SlotId("slot-2")})),
        state=ChatState.BIN,
        created=NOON,
    )


def message(number: int, text: str = "hello", rank: int | None = None) -> RankedMessage:
    """A message with every field set."""
    return RankedMessage(
        number * 1000 if rank is None else rank,
        Message(
            slot=SlotId(f"slot-{number}"),
            hash=text_hash(text),
            role=Role.CHARACTER,
            speaker="Elly",
            text=text,
            sent_at=NOON,
            story_at=NOON - timedelta(days=300_000),
            hidden=True,
            swipe=3,
            present=(SOUL, SoulId("guest")),
            story="hello, as the prompt shows it",
        ),
    )


def memory(key: str = "mem-1", text: str = "the key is under the bridge", of: str = SOUL) -> Memory:
    """A memory with every field set but its protection."""
    return Memory(
        id=MemoryId(key),
        soul=SoulId(of),
        kind=MemoryKind.CONCEPT,
        text=text,
        origin=Origin.USER,
        created=NOON,
        tags=("key", "桥"),
        importance=0.7,
        importance_given=True,
        timelines=Timelines.THIS,
        state=MemoryState.STALE,
        revision=4,
        evidence=(
            (Version(SlotId("slot-1"), "a" * 16), Version(SlotId("slot-2"), "b" * 16)),
            (),
        ),
        place=Place(CHAT, SlotId("slot-1")),
        situation=Situation(
            time_span=TimeSpan(NOON, NOON + timedelta(hours=1), "that rainy night"),
            location="old bridge",
            participants=(
                Participant("Bob", ParticipantKind.OBJECT, (Emotion("怒", 0.5),)),
                Participant("", ParticipantKind.SELF),
            ),
            emotions=(Emotion("joy", 1.0), Emotion("悲", 0.25)),
            sensations=("cold", ""),
            situation="before dawn",
            period="day",
        ),
        concept=ConceptDetail(ConceptType.TOPIC, ("clé", "钥匙"), "opens the tower"),
        terms=(Term("brass key", 0.875), Term("钥匙", 0.3)),
        names=("Lin Yue", "林月"),
        merged_into=MemoryId("mem-9"),
        kept_apart=True,
        brought_back=True,
    )


def edge(
    source: str = "mem-1",
    target: str = "mem-2",
    kind: EdgeKind = EdgeKind.RELATES,
    of: str = SOUL,
) -> Edge:
    """An edge with every field set."""
    return Edge(
        soul=SoulId(of),
        source=MemoryId(source),
        target=MemoryId(target),
        kind=kind,
        origin=Origin.USER,
        touched=NOON,
        strength=0.3,
        confidence=0.75,
        stability=421.5,
        uses=12,
        verb="opens 'it'",
        probability=0.125,
        at_turn=1234.5,
        made=NOON,
    )


def usage(key: str = "mem-1", of: str = SOUL, recalls: int = 3) -> Usage:
    """The record of a memory recalled so many times, an hour and two turns apart."""
    stamps = [Stamp(NOON + timedelta(hours=n, microseconds=n), 40 + 2 * n) for n in range(recalls)]
    made = first_use(MemoryId(key), SoulId(of), stamps[0])
    for stamp in stamps[1:]:
        made = made.again(stamp)
    return made


def recall(
    trace: str = "trace-1", of: str = SOUL, slot: str = "slot-2", minutes: int = 0
) -> RecallRecord:
    """A recall with every field set: one memory met at once, one over two steps."""
    far = Trail(
        MemoryId("mem-2"),
        (MemoryId("mem-1"), MemoryId("mem-3")),
        (edge().id, edge("mem-3", "mem-2").id),
    )
    stamp = Stamp(NOON + timedelta(minutes=minutes), 41)
    return RecallRecord(
        trace, SoulId(of), CHAT, SlotId(slot), 2, stamp, (Trail(MemoryId("mem-1")), far)
    )


def full_change(owner: Owner = OWNER) -> Change:
    """One of everything."""
    return Change(
        owner=owner,
        souls=[soul()],
        chats=[ChatChange(chat(), [message(1), message(2)])],
        put_memories=[memory("mem-1"), memory("mem-2")],
        put_edges=[edge()],
        put_usages=[usage()],
        put_recalls=[recall()],
    )


Snapshot = dict[str, object]


async def snapshot(store: Store, owner: Owner = OWNER) -> Snapshot:
    """All that the store says of an owner, in an order of its own where the port promises none."""
    souls, chats = await store.souls(owner), await store.chats(owner)
    graphs = [await store.graph(owner, value.id) for value in souls]
    recalls = [await store.recalls(owner, value.id) for value in souls]
    return {
        "souls": souls,
        "chats": chats,
        "messages": [await store.messages(owner, value.id) for value in chats],
        "memories": [sorted(graph.memories, key=lambda value: value.id) for graph in graphs],
        "edges": [sorted(graph.edges, key=lambda value: value.id) for graph in graphs],
        "usages": [sorted(each.usages, key=lambda value: value.memory) for each in recalls],
        "recalls": [list(each.records) for each in recalls],
    }


def without_context(value: Memory) -> Memory:
    """The same memory with every field that may be empty empty."""
    return replace(
        value,
        tags=(),
        evidence=(),
        place=None,
        situation=Situation(),
        concept=None,
        terms=(),
        names=(),
    )


Factory = Callable[[], Store]


@asynccontextmanager
async def factory(kind: str, folder: Path) -> AsyncIterator[Factory]:
    """A maker of handles on one and the same store."""
    if kind == "fake":
        fake = FakeStore()
        yield lambda: fake
    elif kind == "surrealkv":
        yield lambda: SurrealStore(f"surrealkv://{folder}/my data 数据 #1")
    elif kind == "ws bridge":
        from tests.adapters.bridge import (
            bridge,  # here: a child process that only writes starts sooner
        )

        async with bridge("mem://") as url:
            yield lambda: SurrealStore(url)
    else:
        database = f"test_{uuid.uuid4().hex}"
        yield lambda: SurrealStore(
            SERVER,
            user=os.environ.get(f"{WS_VARIABLE}_USER"),
            password=os.environ.get(f"{WS_VARIABLE}_PASSWORD"),
            namespace="soulmem_test",
            database=database,
        )


async def vector_keys(store: Store, model: str = "model") -> list[tuple[str, str]]:
    """Of all vectors; the model is only one that most are of."""
    return [pair async for part in store.vector_keys(model) for pair in part]

"""A soul of any size, as years of role-play would leave it: `python -m tests.bench.large_soul FOLDER`.

Three fifths of the memories are lines of chats (a third Chinese), the others concepts that they mention. Of
the edges one eighth or so is `next`, half `mentions`, a quarter `relates`, the rest `associates`. Words and
concepts are drawn by Zipf's law; the first concepts, which are met most, are names of the card. As words that
say nothing are not indexed, the commonest are left out. No line has a capital: as no word is in any dictionary,
each would be learned as a name, with a million edges.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from itertools import islice, pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from soulmem.adapters.surreal import SurrealStore
from soulmem.conversation.episodes import episode_of
from soulmem.domain.dialogue import Chat, Message, Role, text_hash
from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.ids import DEFAULT_OWNER, ChatId, MemoryId, SlotId, SoulId
from soulmem.domain.memories import Memory, MemoryKind, Origin
from soulmem.domain.situation import ConceptDetail
from soulmem.domain.soul import KnownName, Soul
from soulmem.engine.mind.known_names import KnownNames
from soulmem.engine.vectors.embedder import ModelSource
from soulmem.ports.embedder import TextInContext, TokenStates
from soulmem.ports.store import RANK_GAP, Change, ChatChange, RankedMessage, Store

SOUL = SoulId("large")
DIM = 384
_BEGAN = datetime(2024, 1, 1, 9, tzinfo=timezone.utc)
_TURN = timedelta(minutes=7)
_CHAT_LINES = 1500
_WORDS = 9000  # of each language
_LEFT_OUT = 60
_ROWS = 5000  # in one commit
_PEOPLE = 40  # concepts that are names of the card
_SYLLABLES = (
    *(
        "ka",
        "lo",
        "mir",
        "eth",
        "an",
        "dor",
        "vel",
        "sha",
        "ri",
        "ton",
        "gwen",
        "os",
        "bar",
    ),
    *("lin", "fu", "te", "ra", "mun", "sel", "dra"),
)
_VERBS = (
    "knows",
    "loves",
    "fears",
    "guards",
    "owns",
    "lives in",
    "害怕",
    "喜欢",
    "住在",
    None,
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Size:
    """How much of everything."""

    nodes: int
    edges: int
    chat_lines: int = _CHAT_LINES

    @property
    def lines(self) -> int:
        """Memories that are lines of chats."""
        return 3 * self.nodes // 5


class BagEmbedder:
    """384-d vectors without a model: a text is the sum of the random directions of its first words."""

    name = "bag"
    model = "bag/384"
    dim = DIM

    prompt = ""
    lacks_prompt = False
    token_width = 0

    def embed_tokens(self, texts: Sequence[TextInContext]) -> list[TokenStates]:
        raise ValueError(f"{self.name} has no token states")

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([self._vector(text) for text in texts])

    def source(self) -> ModelSource:
        """Where an engine gets it."""
        return ModelSource(self.name, lambda: True, lambda: self)

    def _vector(self, text: str) -> NDArray[np.float32]:
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
        topic = hashlib.sha256(text[:12].encode()).digest()[0]  # what begins alike is alike
        out = np.random.default_rng(seed).standard_normal(DIM, np.float32)
        out += np.random.default_rng(topic).standard_normal(DIM, np.float32)
        return np.asarray(out / np.linalg.norm(out), np.float32)


class Writer:
    """Words and sentences of two languages, the same for the same seed."""

    def __init__(self, seed: int = 7) -> None:
        self.rng = np.random.default_rng(seed)
        pick = self.rng.integers
        self._words = ["".join(_SYLLABLES[i] for i in pick(0, 20, n)) for n in pick(2, 5, _WORDS)]
        han = [chr(0x4E00 + int(c)) for c in pick(0, 2500, 2500)]
        self._zh = ["".join(han[i] for i in pick(0, 2500, n)) for n in pick(1, 4, _WORDS)]
        shares = 1 / np.arange(_LEFT_OUT, _WORDS + _LEFT_OUT)
        self._up_to = np.cumsum(shares) / shares.sum()

    def english(self, words: int) -> str:
        """A sentence of so many words."""
        return " ".join(self._words[i] for i in self._drawn(words)) + "."

    def chinese(self, words: int) -> str:
        """The same in Chinese."""
        return "".join(self._zh[i] for i in self._drawn(words)) + "。"

    def _drawn(self, words: int) -> NDArray[np.int64]:
        return np.searchsorted(self._up_to, self.rng.random(words))

    def line(self, number: int) -> str:
        """What somebody says: the character says more."""
        length = int(self.rng.integers(8, 20) if number % 2 else self.rng.integers(20, 60))
        return self.chinese(length) if number % 3 == 0 else self.english(length)

    def name(self, number: int) -> str:
        """A concept's name, no two alike."""
        said = self.chinese(2) if number % 3 == 0 else self.english(2).capitalize()
        return f"{said[:-1]} {number}"


def chats(size: Size, write: Writer) -> Iterator[ChatChange]:
    """The chats, `size.lines` lines in all; each of them settled."""
    for first in range(0, size.lines, size.chat_lines):
        chat = ChatId(f"chat-{first // size.chat_lines}")
        said = []
        for n in range(first, min(first + size.chat_lines, size.lines)):
            text = write.line(n)
            role, speaker = (Role.USER, "Al") if n % 2 else (Role.CHARACTER, "Mira")
            slot = SlotId(f"{chat}-{n}")
            message = Message(
                slot, text_hash(text), role, speaker, text, sent_at=_BEGAN + n * _TURN
            )
            said.append(RankedMessage(n * RANK_GAP, message))
        head = Chat(
            chat,
            (SOUL,),
            (SOUL,),
            settled_tail=said[-1].message.version,
            created=_BEGAN,
        )
        yield ChatChange(head, said)


def concepts(size: Size, write: Writer) -> list[Memory]:
    """What the lines mention; the first `_PEOPLE` are names of the card."""
    names = [write.name(n) for n in range(size.nodes - size.lines)]
    people, _ = KnownNames(_soul(names)).card_changes(_BEGAN)
    return people + [
        Memory(
            id=MemoryId(f"c{n:024}"),
            soul=SOUL,
            kind=MemoryKind.CONCEPT,
            text=name,
            origin=Origin.USER,
            created=_BEGAN,
            concept=ConceptDetail(),
        )
        for n, name in enumerate(names[len(people) :], len(people))
    ]


def _soul(names: Sequence[str]) -> Soul:
    """The soul, with the first of these names on its card."""
    # From an import, as a client that opens the soul sends other names
    card = tuple(KnownName(name, source="large") for name in names[:_PEOPLE])
    return Soul(SOUL, "Mira", card, created=_BEGAN)


def edges(
    size: Size, write: Writer, told: Sequence[Sequence[Memory]], known: Sequence[Memory]
) -> Iterator[Edge]:
    """`size.edges` edges, no two alike."""
    lines = [memory for chat in told for memory in chat]
    made = 0
    for chat in told:
        for one, two in pairwise(chat):
            yield _edge(one, two, EdgeKind.NEXT, 1.0, None)
            made += 1
    seen: set[tuple[int, int, int]] = set()
    while made < size.edges:
        count = size.edges - made
        kinds = write.rng.choice(3, count, p=(0.57, 0.26, 0.17))
        sources = write.rng.integers(0, len(lines), count)
        ends = np.minimum(write.rng.zipf(1.2, count), len(known)) - 1
        others = write.rng.integers(0, len(known), count)
        turns = write.rng.integers(0, size.lines // 2, count)
        for kind, source, end, other, turn in zip(kinds, sources, ends, others, turns, strict=True):
            key = (int(kind), int(source if kind != 1 else other), int(end))
            if key in seen or (kind == 1 and other == end):
                continue
            seen.add(key)
            made += 1
            strength = float(write.rng.random())
            if kind == 0:
                yield _edge(lines[source], known[end], EdgeKind.MENTIONS, strength, float(turn))
            elif kind == 1:
                verb = _VERBS[int(end) % len(_VERBS)]
                yield _edge(
                    known[other],
                    known[end],
                    EdgeKind.RELATES,
                    strength,
                    float(turn),
                    verb,
                )
            else:
                yield _edge(
                    lines[source],
                    known[end],
                    EdgeKind.ASSOCIATES,
                    strength,
                    float(turn),
                )


async def write_soul(store: Store, size: Size, embedder: BagEmbedder) -> None:
    """Everything of the soul, through the port of an open store."""
    write = Writer()
    soul = _soul(())
    await store.commit(Change(DEFAULT_OWNER, souls=[soul]))
    told: list[list[Memory]] = []
    texts: list[str] = []
    for change in await asyncio.to_thread(list, chats(size, write)):
        made = [
            episode_of(SOUL, soul.name, change.chat.id, ranked.message, _BEGAN)
            for ranked in change.put
        ]
        for few in _pieces(zip(change.put, made, strict=True), _ROWS):
            part = ChatChange(change.chat, [ranked for ranked, _ in few])
            memories = [memory for _, memory in few]
            await store.commit(Change(DEFAULT_OWNER, chats=[part], put_memories=memories))
        told.append(made)
        texts += [m.text for m in made] + [f"{a.text}\n{b.text}" for a, b in pairwise(made)]
    known = await asyncio.to_thread(concepts, size, write)
    soul = _soul([memory.text for memory in known[:_PEOPLE]])
    await store.commit(Change(DEFAULT_OWNER, souls=[soul]))
    for piece in _pieces(iter(known), _ROWS):
        await store.commit(Change(DEFAULT_OWNER, put_memories=piece))
    texts += [m.text for m in known]
    lines = edges(size, write, told, known)
    while new := await asyncio.to_thread(lambda: list(islice(lines, _ROWS))):
        await store.commit(Change(DEFAULT_OWNER, put_edges=new))
        await store.maintain()
    for some in _pieces(iter(texts), _ROWS):
        vectors = await asyncio.to_thread(embedder.embed, some)
        keys = (hashlib.sha256(text.encode()).hexdigest()[:32] for text in some)
        await store.put_vectors(
            embedder.model, {k: v.tobytes() for k, v in zip(keys, vectors, strict=True)}
        )
        await store.maintain()


def _edge(
    source: Memory,
    target: Memory,
    kind: EdgeKind,
    strength: float,
    turn: float | None,
    verb: str | None = None,
) -> Edge:
    return Edge(
        soul=SOUL,
        source=source.id,
        target=target.id,
        kind=kind,
        origin=Origin.CHAT,
        touched=_BEGAN,
        strength=strength,
        verb=verb,
        at_turn=turn,
    )


def _pieces(items: Iterator[T], size: int) -> Iterator[list[T]]:
    while piece := list(islice(items, size)):
        yield piece


async def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--edges", type=int, default=500_000)
    parser.add_argument("--one-chat", action="store_true", help="all lines in one chat")
    given = parser.parse_args()
    store = SurrealStore(f"surrealkv://{given.folder}")
    await store.open()
    began = time.perf_counter()
    lines = given.nodes if given.one_chat else _CHAT_LINES
    await write_soul(store, Size(given.nodes, given.edges, lines), BagEmbedder())
    await store.close()
    print(f"written in {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    asyncio.run(_main())

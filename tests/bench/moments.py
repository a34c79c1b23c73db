"""The moments that the decision learns from: lines said to characters of role-play chats, and what was judged."""

from __future__ import annotations

import json
import random
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from soulmem.adapters import packaged_encoder
from soulmem.adapters.token_files import TokenFolder
from soulmem.domain.dialogue import Role, SentMessage, text_hash
from soulmem.domain.ids import ChatId, SlotId, SoulId
from soulmem.domain.soul import KnownName, SoulSettings
from soulmem.engine.api.requests import RecallRequest, RecallType
from soulmem.engine.params import EngineParams
from soulmem.engine.recall.context import RecallParams
from soulmem.engine.vectors.embedder import ModelSource
from soulmem.engine.views.provenance import source_places
from soulmem.ports.embedder import Embedder, TextInContext, TokenStates
from tests.engine.stage import ME, Stage

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Vector = NDArray[np.float32]
Json = dict[str, Any]

SOUL = SoulId("s1")
_WINDOW = 20  # messages in the prompt
_TAIL, _OTHERS = 4, 6  # messages of a young soul behind and before its evidence


@dataclass(frozen=True)
class Moment:
    """A line, what it calls for, and the memories that were judged.

    features  float64[m, MEMORY_FEATURES]
    slots     by memory the slots of its messages
    """

    chat: str
    kind: str
    said: bool  # in the chat; else as a query
    young: bool
    evidence: frozenset[str]
    also: frozenset[str]
    features: Floats
    known: float
    slots: tuple[frozenset[str], ...]

    @property
    def is_evidence(self) -> Bools:
        """Which memories are called for, bool[m]."""
        return np.asarray([bool(self.evidence & own) for own in self.slots], bool)

    @property
    def is_beside(self) -> Bools:
        """Which are not evidence, but have to do with it, bool[m]."""
        near = [bool(self.also & own) for own in self.slots]
        return np.asarray(near, bool) & ~self.is_evidence


@dataclass(frozen=True)
class Line:
    """A line and the slots of what it calls for."""

    kind: str
    text: str
    evidence: frozenset[str] = frozenset()
    also: frozenset[str] = frozenset()


class Remembering:
    """A model that reads each text once: every young soul reads the same examples."""

    def __init__(self, model: Embedder) -> None:
        self._model = model
        self.name, self.model, self.dim = model.name, model.model, model.dim
        self.prompt, self.lacks_prompt = model.prompt, model.lacks_prompt
        self.token_width = model.token_width
        self._vectors = dict[str, Vector]()
        self._states = dict[TextInContext, TokenStates]()

    def embed(self, texts: Sequence[str]) -> Vector:
        """As `Embedder.embed`."""
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if new:
            self._vectors.update(zip(new, self._model.embed(new), strict=True))
        return np.ascontiguousarray([self._vectors[text] for text in texts])

    def embed_tokens(self, texts: Sequence[TextInContext]) -> list[TokenStates]:
        """As `Embedder.embed_tokens`."""
        new = [text for text in dict.fromkeys(texts) if text not in self._states]
        if new:
            self._states.update(zip(new, self._model.embed_tokens(new), strict=True))
        return [self._states[text] for text in texts]


class Chat:
    """A chat of the data, and the lines that are asked of its character."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self.data: Json = _read(folder / f"rp_{name}.json")
        self.messages = [_message(m) for m in self.data["messages"]]
        plain = _read(folder / "plain.json")[self.data["id"]]
        calm = _read(folder / "calm_lines.json")[self.data["lang"]]
        self.lines = [
            *_lines("cue", self.data["cues"]),
            *_lines("short", self.data.get("short", [])),
            *_lines("asked", plain["asked"]),
            *_lines("events", plain["events"]),
            *_lines("never", plain["never"]),
            *(Line("calm", text) for text in calm["lines"]),
            *(Line("long", text) for text in calm["long"]),
        ]
        # What is said to a character who cannot know of it.
        self.foreign: list[Line] = []
        self.evenings = {kind: calm[kind] for kind in ("evening", "long_evening")}

    def of_kind(self, *kinds: str) -> list[Line]:
        """The lines of these kinds."""
        return [line for line in self.lines if line.kind in kinds]

    def young(self, line: Line) -> list[SentMessage]:
        """The messages around the evidence of a line and some others, the last of them behind it."""
        chance = random.Random(f"{self.name}:{line.text}")
        place = {str(m.slot): at for at, m in enumerate(self.messages)}
        kept = set[int]()
        for slot in sorted(line.evidence)[:2]:
            kept |= set(range(max(0, place[slot] - 3), place[slot] + 3))
        kept = {at for at in kept if at < len(self.messages) - _TAIL}
        behind = chance.sample(range(max(kept) + 1, len(self.messages)), _TAIL)
        before = [at for at in range(min(behind)) if at not in kept]
        kept |= set(behind) | set(chance.sample(before, min(len(before), _OTHERS)))
        return [self.messages[at] for at in sorted(kept)]


def _read(path: Path) -> Json:
    data: Json = json.loads(path.read_text("utf-8"))
    return data


def _message(m: Json) -> SentMessage:
    return SentMessage(
        SlotId(m["slot"]),
        text_hash(m["text"]),
        Role(m["role"]),
        m["speaker"],
        text=m["text"],
        sent_at=datetime.fromisoformat(m["sent_at"]),
    )


def _lines(kind: str, rows: Sequence[Json]) -> Iterator[Line]:
    for row in rows:
        evidence = frozenset(row.get("evidence") or ())
        if evidence or kind == "never":
            yield Line(kind, row["text"], evidence, frozenset(row.get("also") or ()))


class Reader:
    """A character who has read some messages, and what a line calls for then."""

    def __init__(self, stage: Stage, chat: Chat, messages: Sequence[SentMessage]) -> None:
        self._stage = stage
        self._chat = chat
        self._messages = list(messages)

    async def asked(self, line: Line, window: int, *, young: bool) -> Moment:
        """The line as a query."""
        return await self._judged(line, line.text, window, said=False, young=young)

    async def said(self, line: Line, window: int, *, young: bool) -> Moment:
        """The line as the newest message."""
        newest = self._own("said", line.text, Role.USER)
        await self._stage.sync("c1", [*self._messages, newest])
        moment = await self._judged(line, None, window, said=True, young=young)
        await self._stage.sync("c1", self._messages)
        return moment

    async def evening(self, kind: str, texts: Sequence[str]) -> AsyncIterator[Moment]:
        """Small talk that goes on: player and character in turn."""
        said = list(self._messages)
        for place, text in enumerate(texts):
            role = (Role.USER, Role.CHARACTER)[place % 2]
            said.append(self._own(f"{kind}{place}", text, role))
            await self._stage.sync("c1", said)
            if role is Role.USER:
                first = said[-_WINDOW].slot
                yield await self._moment(Line(kind, text), None, first, said=True, young=False)
        await self._stage.sync("c1", self._messages)

    def _own(self, slot: str, text: str, role: Role) -> SentMessage:
        name = self._chat.data["persona" if role is Role.USER else "character"]
        last = self._messages[-1].sent_at
        return SentMessage(SlotId(slot), text_hash(text), role, name, text=text, sent_at=last)

    async def _judged(
        self, line: Line, query: str | None, window: int, *, said: bool, young: bool
    ) -> Moment:
        first = self._messages[-window].slot
        return await self._moment(line, query, first, said=said, young=young)

    async def _moment(
        self, line: Line, query: str | None, first: SlotId, *, said: bool, young: bool
    ) -> Moment:
        request = RecallRequest(
            SOUL,
            ChatId("c1"),
            query=query,
            type=RecallType.QUIET,
            context_from=first,
        )
        judged = await self._stage.engine.recaller.judged(ME, request)
        newest, mind = judged.lines[0], await self._stage.mind(SOUL)
        slots = []
        for row in newest.rows.tolist():
            places = source_places(mind, mind.memory_at(row), ChatId("c1"), None)
            slots.append(frozenset(str(place.slot) for place in places))
        return Moment(
            chat=self._chat.name,
            kind=line.kind,
            said=said,
            young=young,
            evidence=line.evidence,
            also=line.also,
            features=newest.features,
            known=newest.known,
            slots=tuple(slots),
        )


@asynccontextmanager
async def soul_of(
    model: ModelSource | None, character: str, names: Sequence[str]
) -> AsyncIterator[Stage]:
    """An engine with one soul that knows these names and forgets nothing; without a model on the packaged one."""
    with TemporaryDirectory(prefix="soulmem-bench-") as folder:
        stage = Stage(
            model=model,
            fallback=_packaged(),
            params=EngineParams(rest_by_itself=False, recall=RecallParams(time_budget_ms=60_000)),
            tokens=TokenFolder(Path(folder)),
            judges_lines=True,
        )
        await stage.start()
        try:
            known = tuple(map(KnownName, dict.fromkeys(names)))
            settings = SoulSettings(forgetting=0.0)
            await stage.engine.souls.put(ME, SOUL, character, known, settings)
            yield stage
        finally:
            await stage.stop()


@asynccontextmanager
async def reading(
    chat: Chat, messages: Sequence[SentMessage], model: ModelSource | None
) -> AsyncIterator[Reader]:
    """The chat's character, who has read these messages."""
    names = [name["name"] for name in chat.data["names"]]
    async with soul_of(model, chat.data["character"], names) as stage:
        await stage.sync("c1", messages)
        await stage.engine.idle.run()
        yield Reader(stage, chat, messages)


@cache
def _packaged() -> ModelSource:
    return ModelSource("packaged", lambda: True, cache(packaged_encoder.load))


async def moments_of(chat: Chat, model: ModelSource | None) -> list[Moment]:
    """Every line of a chat, in each way."""
    out = []
    async with reading(chat, chat.messages, model) as reader:
        for line in (*chat.lines, *chat.foreign):
            out.append(await reader.asked(line, _WINDOW, young=False))
            out.append(await reader.said(line, _WINDOW, young=False))
        for kind, texts in chat.evenings.items():
            out += [moment async for moment in reader.evening(kind, texts)]
    negative = {kind: chat.of_kind(kind) for kind in ("calm", "long", "never")}
    negative["stranger"] = chat.foreign
    for line in chat.of_kind("asked", "events"):
        chance = random.Random(line.text)
        async with reading(chat, chat.young(line), model) as reader:
            out.append(await reader.asked(line, _TAIL, young=True))
            out.append(await reader.said(line, _TAIL, young=True))
            for lines in negative.values():
                for other in chance.sample(lines, min(2, len(lines))):
                    out.append(await reader.asked(other, _TAIL, young=True))
    return out

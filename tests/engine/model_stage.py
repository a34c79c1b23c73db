"""A stage with a language model that plays along, and short words for what it left behind."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from soulmem.domain.dialogue import Role, SentMessage
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.llm import Prompt
from soulmem.domain.memories import Memory, MemoryKind, MemoryState, Origin
from soulmem.engine.consolidation.backlog import BacklogParams
from soulmem.engine.engine import Engine
from soulmem.engine.llm.model_choice import ChoosableModels
from soulmem.engine.params import EngineParams
from soulmem.engine.vectors.embedder import ModelSource
from soulmem.engine.wiring import Ports, wire_engine
from soulmem.ports.llm import Llm
from soulmem.ports.store import Store
from tests.engine.stage import ME, Stage, line
from tests.fakes.llm import FakeLlm

_CHAT = re.compile(r"<chat>\n(.*)\n</chat>", re.DOTALL)
_LINE = re.compile(r'^(?:\[(\d+)\] )?(.*?)(?:: "|：“|: )(.*?)["”]?$', re.MULTILINE)
_BEFORE = re.compile(r"<summary>\n(.*)\n</summary>")


def read_of(prompt: Prompt) -> list[tuple[int, str, str]]:
    """The lines of a prompt's chat: number, speaker, text; counted from 1 where they have no numbers."""
    chat = _CHAT.search(prompt.user)
    lines = _LINE.findall(chat[1]) if chat else []
    return [
        (int(shown or counted), who, text) for counted, (shown, who, text) in enumerate(lines, 1)
    ]


def obliging(prompt: Prompt) -> str:
    """What a good model answers: a summary of the first words of each line, or drafts of three lines."""
    lines = read_of(prompt)
    if prompt.name == "summary":
        before = _BEFORE.search(prompt.user)
        told = " ".join(text.split()[-1].strip(".") for _, _, text in lines)
        return json.dumps({"summary": f"{before[1] if before else ''} Then {told}.".strip()})
    picked = [lines[0], lines[len(lines) // 2], lines[-1]]
    thing = lines[0][2].split()[-1].strip(".")
    return json.dumps(
        {
            "episodes": [
                {"lines": [n], "text": f"{who} told Mira: {text}", "importance": 0.7}
                for n, who, text in picked
            ],
            "facts": [
                {
                    "lines": [lines[0][0]],
                    "subject": lines[0][1],
                    "verb": "spoke of",
                    "object": thing,
                }
            ],
            "concepts": [
                {
                    "lines": [lines[0][0]],
                    "name": thing,
                    "type": "entity",
                    "about": lines[0][2],
                }
            ],
            "habits": [],
            "kinds": [{"lines": [lines[0][0]], "text": f"talk of {thing}"}],
        }
    )


def talk(count: int, start: int = 1, word: str = "word") -> list[SentMessage]:
    """Messages m<start>, .., each with a word of its own: <word>1, <word>2, .."""
    roles = (Role.CHARACTER, Role.USER)
    return [
        line(f"m{i}", f"They spoke at length of {word}{i}.", roles[i % 2])
        for i in range(start, start + count)
    ]


LIVED = BacklogParams(at_once=1_000_000, days=100_000.0)


class ModelStage(Stage):
    """A stage whose engine has a language model."""

    def __init__(
        self,
        *replies: Any,
        store: Store | None = None,
        params: EngineParams | None = None,
        model: Llm | None = None,
        fallback: ModelSource | None = None,
        backlog: BacklogParams = LIVED,
        asks_questions: bool = False,
        models: ChoosableModels | None = None,
    ) -> None:
        """`backlog`: what counts as old; unless it is told, whatever is said at once was lived. The model is
        asked no questions about itself unless that is told.
        """
        self.llm = FakeLlm(*(replies or (obliging,)))
        self._llm: Llm = model or self.llm
        self._models = models
        given = params or EngineParams(rest_by_itself=False)
        consolidation = replace(given.consolidation, backlog=backlog, asks_questions=asks_questions)
        given = replace(given, consolidation=consolidation)
        super().__init__(store, params=given, fallback=fallback)

    def _new_engine(self) -> Engine:
        return wire_engine(
            Ports(
                store=self.store,
                clock=self.clock,
                model=None,
                fallback=self.fallback,
                params=self._params,
                advance=self.clock.advance,
                spool=self.spool,
                traces=self.traces,
                llm=self._llm,
                models=self._models,
            )
        )

    @property
    def calls(self) -> list[str]:
        """What was asked for so far, by the names of the prompts."""
        return [prompt.name for prompt in self.llm.asked]

    async def thinking(self, done: int | None = None) -> None:
        """Returns once the model has been asked and has not answered, or was asked so often."""
        for _ in range(4000):
            if self.llm.waiting if done is None else len(self.llm.asked) >= done:
                return
            await asyncio.sleep(0.002)
        raise AssertionError("nobody asked the model")

    async def rest(self) -> None:
        """A quiet moment."""
        await self.engine.idle.run()

    async def drafted(self, state: MemoryState = MemoryState.ACTIVE) -> list[Memory]:
        """What a model made."""
        return [m for m in await self.listed(state) if m.origin is Origin.MODEL]

    async def drafted_of(self, *kinds: MemoryKind) -> list[Memory]:
        """What a model made of these kinds."""
        return [m for m in await self.drafted() if m.kind in kinds]

    async def words(self) -> str:
        """Every word that is kept of the soul beside its chats: memories, edges, derivations, audit."""
        mind = await self.mind()
        graph = await self.store.graph(ME, SoulId("s1"))
        derived = await self.store.derivations(ME, SoulId("s1"))
        page = await self.engine.history.audit(ME, SoulId("s1"), None, 1000, None)
        parts: Iterable[object] = (graph.memories, graph.edges, derived, page.entries)

        def spelled() -> str:
            facts = [mind.facts[key] for key in mind.facts]
            return repr((*parts, list(mind.memories.values()), facts, list(mind.derivations)))

        return await asyncio.to_thread(spelled)

    async def sources_of(self, memory: MemoryId) -> list[str]:
        """The slots that speak for a memory."""
        return [place.slot for place in (await self.engine.memories.get(ME, memory)).sources]

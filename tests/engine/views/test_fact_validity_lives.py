"""Whatever happens to chats: in each the home that it told last is the one that holds."""

from __future__ import annotations

import asyncio
import json
import re

import pytest
from hypothesis import example, given

from soulmem.domain.derivations import Work
from soulmem.domain.dialogue import Role, SentMessage
from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import ChatId, MemoryId
from soulmem.domain.llm import Prompt
from soulmem.engine.mind.mind import Mind
from soulmem.engine.views.fact_validity import FactValidities
from soulmem.engine.world.world import World
from soulmem.graph.branches import Branch
from tests.engine.consolidation.test_consolidated_lives import STEPS, Life
from tests.engine.model_stage import ModelStage, obliging, read_of
from tests.engine.stage import line
from tests.examples import few

_DRAFTS = Work.DRAFTS
_HOME = re.compile(r"Ann lives in (w\d+q)\.")


def home_model(prompt: Prompt) -> str:
    """A model that writes down each home of Ann's that is told."""
    if prompt.name == "summary":
        return obliging(prompt)
    homes: dict[str, list[int]] = {}
    for number, _, text in read_of(prompt):
        for home in _HOME.findall(text):
            homes.setdefault(home, []).append(number)
    facts = [
        {"lines": numbers, "subject": "Ann", "verb": "lives in", "object": home}
        for home, numbers in homes.items()
    ]
    drafts: dict[str, list[object]] = {
        "episodes": [],
        "concepts": [],
        "habits": [],
        "kinds": [],
    }
    return json.dumps(drafts | {"facts": facts})


class MovingLife(Life):
    """A life in which Ann moves at every sixth message; there are nine places to live."""

    def __init__(self) -> None:
        super().__init__()
        self.stage = ModelStage(home_model)

    def message(self, slot: str | None = None) -> SentMessage:
        """A new one, or another text for the slot."""
        plain = super().message(slot)
        if self.count % 6:
            return plain
        text = f"Ann lives in w{self.count // 6 % 9}q."
        return line(plain.slot, text, (Role.CHARACTER, Role.USER)[self.count % 2])

    async def check(self) -> None:
        """In each chat what was told last of what is consolidated holds, and nothing else."""
        mind, world = await self.stage.mind(), await self.stage.world()
        await asyncio.to_thread(self.compare, mind, world)

    def compare(self, mind: Mind, world: World) -> None:
        """Computes."""
        relations = {e.id: e for e in mind.edges.every() if e.kind is EdgeKind.RELATES}
        for chat in self.chats:
            branch = mind.branches.branch(ChatId(chat.id))
            if branch is None:
                continue
            family = world.family(branch.chat)
            accessible = mind.accessible_rows(branch.chat, family, world.holds)
            validities = FactValidities(mind, accessible, branch.chat)
            keys = list(filter(validities.is_accessible, mind.facts))
            facts = {mind.facts[key].text for key in keys}
            lasting = [key for key in keys if validities.of(relations[key]).by is None]
            valid = {mind.facts[key].text for key in lasting}
            assert family == branch.family
            self.assert_newest(mind, branch, facts, valid)

    def assert_newest(self, mind: Mind, branch: Branch, facts: set[str], valid: set[str]) -> None:
        """Of all facts that the chat may use, the home stated last is the valid one."""
        stated = self.stated(mind, branch)
        if {other.family for other in mind.branches} == {branch.family}:
            assert facts == set(stated)
            assert valid == set(stated[-1:])
        elif facts:
            # Unrelated chats may tell two homes at one moment: then neither is the later one.
            places = [self.places(mind, text) for text in valid]
            assert places
            assert set.intersection(*places)

    def stated(self, mind: Mind, branch: Branch) -> list[str]:
        """The facts about homes in the messages of the chat that were consolidated, in order."""
        read: set[MemoryId] = set()
        for derivation in mind.derivations.of_chat(branch.chat):
            if derivation.work is _DRAFTS:
                read.update(derivation.read)
        facts: list[str] = []
        for key in branch.order:
            if key in read:
                homes = _HOME.findall(mind.memories[key].text)
                facts += (f"Ann lives in {home}" for home in homes)
        return facts

    def places(self, mind: Mind, text: str) -> set[int]:
        """Positions in any chat of the messages that tell the home of this fact; all are of one moment."""
        positions = set()
        for branch in mind.branches:
            for position, key in enumerate(branch.order):
                if text in mind.memories[key].text:
                    positions.add(position)
        return positions


async def _lives(steps: list[tuple[str, int, int]]) -> None:
    life = MovingLife()
    await life.stage.start()
    await life.stage.soul()
    try:
        for step in (("say", 30, 0), ("rest", 0, 0), *steps, ("rest", 0, 0)):
            await life.step(*step)
            await life.check()
    finally:
        await life.stage.stop()


@pytest.mark.timeout(300)
@example(
    [("say", 4, 0), ("say", 28, 0), ("edit", 0, 0), ("branch", 82, 9)]
)  # she moves away and back
@given(STEPS)
@few(5, long=60)
def test_the_home_that_a_chat_told_last_is_the_one_that_holds(
    steps: list[tuple[str, int, int]],
) -> None:
    asyncio.run(_lives(steps))

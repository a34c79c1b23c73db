"""Whatever happens to chats: in each those names are one that its messages say are one, and no others."""

from __future__ import annotations

import asyncio
import json
import re

import pytest
from hypothesis import given

from soulmem.domain.derivations import Work
from soulmem.domain.dialogue import Role, SentMessage
from soulmem.domain.ids import ChatId, MemoryId
from soulmem.domain.llm import Prompt
from soulmem.domain.memories import MemoryKind, Origin
from soulmem.engine.mind.mind import Mind
from soulmem.engine.views.fact_validity import FactValidities
from soulmem.engine.world.world import World
from soulmem.graph.branches import Branch
from tests.engine.consolidation.test_consolidated_lives import STEPS, Life
from tests.engine.model_stage import ModelStage, obliging, read_of
from tests.engine.stage import line
from tests.examples import few

_ALIAS = re.compile(r"(Ann\d) is also known as (Kim\d)\.")
_DRAFTS = Work.DRAFTS


def alias_model(prompt: Prompt) -> str:
    """A model that writes down who is also called what."""
    if prompt.name == "summary":
        return obliging(prompt)
    stated: dict[str, dict[str, list[int]]] = {}
    for number, _, text in read_of(prompt):
        for name, alias in _ALIAS.findall(text):
            stated.setdefault(name, {}).setdefault(alias, []).append(number)
    concepts: list[object] = []
    for name, aliases in stated.items():
        numbers = sorted(set[int]().union(*aliases.values()))
        concept = {"lines": numbers, "name": name, "aliases": [*aliases]}
        concepts.append({"type": "entity"} | concept)
    drafts: dict[str, list[object]] = {
        "episodes": [],
        "facts": [],
        "habits": [],
        "kinds": [],
    }
    return json.dumps(drafts | {"concepts": concepts})


class AliasLife(Life):
    """A life in which every fifth message says of one of three that she is one of four."""

    def __init__(self) -> None:
        super().__init__()
        self.stage = ModelStage(alias_model)

    def message(self, slot: str | None = None) -> SentMessage:
        """A new one, or another text for the slot."""
        plain = super().message(slot)
        if self.count % 5:
            return plain
        text = f"Ann{self.count // 5 % 3} is also known as Kim{self.count // 7 % 4}."
        return line(plain.slot, text, (Role.CHARACTER, Role.USER)[self.count % 2])

    async def check(self) -> None:
        """In each chat names are one by what is consolidated of it."""
        mind, world = await self.stage.mind(), await self.stage.world()
        await asyncio.to_thread(self.compare, mind, world)

    def compare(self, mind: Mind, world: World) -> None:
        """Computes."""
        for chat in self.chats:
            branch = mind.branches.branch(ChatId(chat.id))
            if branch is None or len({s.family for s in mind.branches}) > 1:
                continue
            accessible = mind.accessible_rows(branch.chat, world.family(branch.chat), world.holds)
            view = FactValidities(mind, accessible, branch.chat)
            assert alias_groups(mind, view) == joined_groups(stated_aliases(mind, branch))


def alias_groups(mind: Mind, view: FactValidities) -> set[frozenset[str]]:
    """The names of each thing that a model drafted and the view has, as it groups them."""
    groups: set[frozenset[str]] = set()
    for memory in mind.memories.values():
        is_drafted = memory.origin is Origin.MODEL and memory.kind is MemoryKind.CONCEPT
        if is_drafted and view.is_accessible(memory.id):
            names = view.alias_concepts(memory.id)
            groups.add(frozenset(mind.memories[key].text for key in names))
    return groups


def stated_aliases(mind: Mind, branch: Branch) -> list[tuple[str, str]]:
    """The pairs of names in the messages of the chat that were consolidated."""
    read: set[MemoryId] = set()
    for derivation in mind.derivations.of_chat(branch.chat):
        if derivation.work is _DRAFTS:
            read.update(derivation.read)
    pairs: list[tuple[str, str]] = []
    for key in branch.order:
        if key in read:
            pairs += _ALIAS.findall(mind.memories[key].text)
    return pairs


def joined_groups(pairs: list[tuple[str, str]]) -> set[frozenset[str]]:
    """The groups that pairs make."""
    groups: set[frozenset[str]] = set()
    for pair in pairs:
        touching = {group for group in groups if group & set(pair)}
        groups = (groups - touching) | {frozenset(pair).union(*touching)}
    return groups


async def _lives(steps: list[tuple[str, int, int]]) -> None:
    life = AliasLife()
    await life.stage.start()
    await life.stage.soul()
    try:
        for step in (("say", 30, 0), ("rest", 0, 0), *steps, ("rest", 0, 0)):
            await life.step(*step)
            await life.check()
    finally:
        await life.stage.stop()


@pytest.mark.timeout(300)
@given(STEPS)
@few(6, long=60)
def test_names_are_one_by_what_a_chat_says(steps: list[tuple[str, int, int]]) -> None:
    asyncio.run(_lives(steps))

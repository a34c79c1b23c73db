"""Whatever of one soul cannot be read, the others have all of theirs, and nothing of it is lost."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from datetime import timedelta
from typing import Any

import pytest

from soulmem.adapters.surreal import SurrealStore
from soulmem.adapters.surreal.link import bound
from soulmem.domain.errors import StoreDamaged
from soulmem.domain.memories import MemoryKind, MemoryState
from soulmem.ports.store import Store
from tests.conftest import Failures
from tests.engine.stage import ME, Stage, begun, line
from tests.engine.upkeep.test_keeping import FakeBackups

TABLES = (
    *("soul", "chat", "message", "memory", "edge", "usage", "recall", "books"),
    *("deletion", "opinion", "derivation", "edge_vector", "fading", "stream_event"),
)
# What happens to rows of a soul; a field that may be anything from then on is said first.
DAMAGES = {
    "no name": "DEFINE FIELD OVERWRITE name ON soul TYPE any;"
    " UPDATE soul:[$me, $soul] SET name = NONE",
    "an empty name": "UPDATE soul:[$me, $soul] SET name = ''",
    "a setting of another type": "UPDATE soul:[$me, $soul] SET settings.forgetting = 'much'",
    "a date that is none": "DEFINE FIELD OVERWRITE created ON soul TYPE any;"
    " UPDATE soul:[$me, $soul] SET created = 'soon'",
    "a state of a chat that is none": "UPDATE chat:[$me, $chat] SET state = 'half'",
    "nobody in a chat": "DEFINE FIELD OVERWRITE souls ON chat TYPE any;"
    " DEFINE FIELD OVERWRITE cast ON chat TYPE any; UPDATE chat:[$me, $chat] SET souls = 7, cast = NONE",
    "half a message": "UPDATE message:[$me, $chat, '1'] SET told = '[1, {'",
    "a kind of memory that is none": "UPDATE memory SET kind = 'dream' WHERE soul = $soul",
    "a date after the calendar": "UPDATE memory SET created = d'+012026-01-01T00:00:00Z' WHERE soul = $soul"
    " RETURN NONE",
    "a kind of edge that is none": "UPDATE edge SET kind = 'pulls' WHERE soul = $soul",
    "half a record of fading": "CREATE fading:[$me, $soul] SET owner = $me, soul = $soul, key = 'x', told = '[{'",
    "bytes that are no vector": "CREATE edge_vector:[$me, $soul] SET owner = $me, soul = $soul, key = 'x',"
    " source = 'x', target = 'y', model = '', weight = 1f, turn = 1f, data = <bytes>'abc'",
    "half of what models used": "CREATE books:[$me, $soul] SET told = '{'",
    "a deletion that nobody asked for": "CREATE deletion:[$me, $soul] SET owner = $me, soul = $soul, memory = 'x',"
    " actor = 'nobody', reason = '', quote = '', at = d'2026-01-01T00:00:00Z', state = 'open'",
}
# What can be read all the same
HARMLESS = {
    "nothing": "RETURN 1",
    "edges to nowhere": "UPDATE memory SET soul = 'nobody' WHERE soul = $soul AND kind = 'concept'",
    "two messages at one place": "UPDATE message:[$me, $chat, '1'] SET told = message:[$me, $chat, '0'].told",
}
PASSING = "It rained all day."  # left after so many turns
TURNS = 4000
WHOLE = {"nothing": "RETURN 1", "nothing either": "RETURN 1"}


def soul_of(case: str) -> str:
    """The id of the soul that this happens to."""
    return f"soul of {case}."


def chat_of(case: str) -> str:
    """The id of its chat."""
    return f"chat of {case}."


class _Kept(SurrealStore):
    """A store in memory that outlives an engine."""

    is_open = False

    async def open(self) -> None:
        if not self.is_open:
            await super().open()
        self.is_open = True

    async def close(self) -> None:
        """The test closes it."""

    async def query(self, sql: str, **values: str) -> list[Any]:
        """The answers of these statements."""
        query = bound(sql, me=ME, hand="user", **values)
        return await self._connection.read(lambda run: run(query))

    async def damage(self, cases: Mapping[str, str]) -> None:
        """Carry out these statements."""
        for case, sql in cases.items():
            await self.query(sql, soul=soul_of(case), chat=chat_of(case))

    async def rows_of(self, cases: Iterable[str]) -> list[str]:
        """Every row of these souls, as texts."""
        select = "SELECT VALUE <string>id + encoding::json::encode($this) FROM"
        answers = await self.query(";".join(f"{select} {name}" for name in TABLES))
        ids = [key for case in cases for key in (soul_of(case), chat_of(case))]
        rows = [row for answer in answers for row in answer]
        return sorted(row for row in rows if any(key in row for key in ids))


@pytest.fixture
async def store() -> AsyncIterator[_Kept]:
    """An empty store."""
    one = _Kept("mem://")
    yield one
    await SurrealStore.close(one)


async def _stage(store: Store, cases: Iterable[str]) -> Stage:
    """An engine with a soul for each case, which has a chat and a note."""
    stage = Stage(store, backups=FakeBackups(), judges_lines=True)
    await stage.start()
    for case in cases:
        soul, chat = soul_of(case), chat_of(case)
        await stage.soul(soul, f"Bea of {case}")
        told = [line(str(i), f"Bea met Otto at pier {i}.") for i in range(3)]
        told.append(line("3", PASSING))
        await stage.sync(chat, told, souls=(soul,))
        await stage.close(chat)
        await stage.note("Bea keeps a brass key.", soul)
    return stage


async def _after_two_days(stage: Stage) -> None:
    """A start and two rounds of Idle: what failed in the first is tried again in the second."""
    stage.clock.advance(timedelta(days=2).total_seconds(), TURNS)
    await stage.restart()
    await begun(stage)
    await stage.engine.embedding.wait_pending()
    for _ in range(2):
        await stage.engine.idle.run()


async def _serves(stage: Stage, case: str) -> None:
    """The soul recalls what was lived and noted, its days are summed up, and what matters least is forgotten."""
    soul = soul_of(case)
    answer = await stage.recall("Who met Otto at pier 2?", soul=soul)
    assert any("Otto at pier" in memory.text for memory in answer.memories), case
    assert await stage.listed(soul=soul, kind=MemoryKind.NOTE), case
    assert await stage.listed(soul=soul, kind=MemoryKind.DIGEST), case
    gone = await stage.listed(MemoryState.FORGOTTEN, soul)
    assert f"Al: {PASSING}" in [memory.text for memory in gone], case


async def test_a_soul_that_cannot_be_read_is_left_out_whole_and_named(
    store: _Kept, failures: Failures
) -> None:
    stage = await _stage(store, [*WHOLE, *DAMAGES])
    await store.damage(DAMAGES)
    before = await store.rows_of(DAMAGES)
    assert len(before) > 8 * len(DAMAGES)
    await _after_two_days(stage)

    for case in WHOLE:
        await _serves(stage, case)
    assert isinstance(stage.backups, FakeBackups)
    assert stage.backups.made
    health = stage.engine.health()
    notes = [str(note) for note in health.notes]
    assert all("soulmem restore" in note for note in notes)
    for case in DAMAGES:
        soul, chat = soul_of(case), chat_of(case)
        assert any(f"'Bea of {case}'" in note or f"'{soul}'" in note for note in notes)
        with pytest.raises(StoreDamaged):
            await stage.recall("Otto?", soul=soul)
        with pytest.raises(StoreDamaged):
            await stage.sync(chat, [line("0", "All is new.")], souls=(soul,))
        with pytest.raises(StoreDamaged):
            await stage.note("More.", soul)
    assert await store.rows_of(DAMAGES) == before
    assert {told for told in failures.take() if "opening of soul" not in told} == set()
    await stage.stop()


async def test_what_can_be_read_all_the_same_leaves_nobody_out(store: _Kept) -> None:
    stage = await _stage(store, HARMLESS)
    await store.damage(HARMLESS)
    await _after_two_days(stage)
    for case in HARMLESS:
        await _serves(stage, case)
    assert stage.engine.health().notes == ()
    await stage.stop()

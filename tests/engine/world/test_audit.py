"""Every change that does not follow from a chat has an audit entry, and automatic
changes can be undone.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from soulmem.domain.audit import Action, Actor, AuditEntry
from soulmem.domain.dialogue import Role
from soulmem.domain.edges import EdgeKind
from soulmem.domain.errors import Forbidden, NotFound, StoreFull, Unprocessable
from soulmem.domain.ids import ChatId, MemoryId, SoulId
from soulmem.domain.memories import Memory, MemoryKind, MemoryState, Origin
from soulmem.domain.soul import KnownName
from soulmem.engine.api.requests import MemoryPatch, NewEdge
from soulmem.engine.mind.kind_table import Judged
from soulmem.engine.world.audit import ChangeAuthor
from soulmem.language.kinds.line_kinds import KINDS
from tests.engine.picture import picture
from tests.engine.stage import ME, Stage, line, lines
from tests.fakes.store import FakeStore

TOOL = ChangeAuthor(Actor.ARCHIVIST, source="j1", reason="asked")


async def entries(stage: Stage) -> list[AuditEntry]:
    """All audit entries of the soul, oldest first."""
    page = await stage.engine.history.audit(ME, SoulId("s1"), None, 1000, None)
    return list(page.entries)[::-1]


async def reword(stage: Stage, memory: MemoryId, text: str, author: ChangeAuthor = TOOL) -> None:
    await stage.engine.memories.patch(ME, memory, MemoryPatch(text=text), author)


async def patch(stage: Stage, memory: MemoryId, **fields: object) -> None:
    await stage.engine.memories.patch(ME, memory, MemoryPatch(**fields))  # type: ignore[arg-type]


async def text(stage: Stage, memory: MemoryId) -> str:
    return (await stage.engine.memories.get(ME, memory)).memory.text


async def first_episode(stage: Stage) -> Memory:
    """The episode of the chat's first message."""
    mind = await stage.mind()
    (branch,) = mind.branches
    return mind.memories[branch.order[0]]


async def test_what_a_user_does_is_told_with_before_and_after(stage: Stage) -> None:
    await stage.soul()
    made = (await stage.note("rain", tags=("a",))).memory
    await patch(stage, made.id, text="sun", tags=("b",))
    await patch(stage, made.id, text="sun")  # nothing new: nothing to tell
    await stage.engine.memories.delete(ME, made.id, None)
    await stage.engine.memories.restore(ME, made.id)

    audit_entries = await entries(stage)
    assert [(e.actor, e.action, e.target) for e in audit_entries] == [
        (Actor.USER, action, made.id)
        for action in (Action.CREATE, Action.CHANGE, Action.BIN, Action.RESTORE)
    ]
    assert audit_entries[0].before is None
    assert audit_entries[0].after is not None
    assert (
        audit_entries[0].after["text"],
        audit_entries[0].after["tags"],
        audit_entries[0].after["kind"],
    ) == (
        "rain",
        ["a"],
        "note",
    )
    assert audit_entries[1].before == {"text": "rain", "tags": ["a"]}
    assert audit_entries[1].after == {"text": "sun", "tags": ["b"]}
    assert (audit_entries[2].before, audit_entries[2].after) == (
        {"state": "active"},
        {"state": "bin"},
    )
    assert [e.moment for e in audit_entries] == [stage.clock.now()] * 4
    assert sorted(e.id for e in audit_entries) == [e.id for e in audit_entries]


async def test_edges_of_the_user_are_told(stage: Stage) -> None:
    await stage.soul()
    rain, sun = (await stage.note("rain")).memory, (await stage.note("sun")).memory
    edge = NewEdge(EdgeKind.ASSOCIATES, to=sun.id, strength=0.25)
    await patch(stage, rain.id, edges=(edge,))
    await patch(stage, rain.id, edges=(replace(edge, strength=0.75),))

    *_, first, second = await entries(stage)
    assert first.target == second.target == rain.id
    ((key, made),) = dict(first.after or {})["edges"].items()
    assert (first.before, made["strength"]) == ({"edges": {key: None}}, 0.25)
    assert dict(second.before or {})["edges"][key]["strength"] == 0.25
    assert dict(second.after or {})["edges"][key]["strength"] == 0.75


async def test_what_a_sync_derives_is_not_told_twice(stage: Stage) -> None:
    await stage.soul()
    await stage.sync("c1", lines(10))
    await stage.sync("c1", lines(6))

    assert await entries(stage) == []


async def test_a_change_and_its_entry_are_stored_together_or_not_at_all() -> None:
    store = FakeStore()
    stage = Stage(store)
    await stage.start()
    await stage.soul()
    made = (await stage.note("rain")).memory
    store.refuses = StoreFull("the disk is full")
    with pytest.raises(StoreFull):
        await patch(stage, made.id, text="sun")
    store.refuses = None

    assert len(await entries(stage)) == 1
    await stage.restart()
    await patch(stage, made.id, text="sun")
    audit_entries = await entries(stage)
    assert [e.action for e in audit_entries] == [Action.CREATE, Action.CHANGE]
    assert audit_entries[0].id < audit_entries[1].id
    await stage.stop()


async def test_history_is_that_of_one_memory(stage: Stage) -> None:
    await stage.soul()
    rain, sun = (await stage.note("rain")).memory, (await stage.note("sun")).memory
    await patch(stage, rain.id, text="snow")

    page = await stage.engine.history.of_memory(ME, rain.id, 1, None)
    assert ([e.action for e in page.entries], page.cursor) == (
        [Action.CHANGE],
        page.entries[0].id,
    )
    page = await stage.engine.history.of_memory(ME, rain.id, 1, page.cursor)
    assert ([e.action for e in page.entries], page.cursor) == ([Action.CREATE], None)
    assert len((await stage.engine.history.of_memory(ME, sun.id, 9, None)).entries) == 1
    with pytest.raises(NotFound):
        await stage.engine.history.of_memory(ME, MemoryId("nobody"), 9, None)


async def test_a_memory_without_a_history_has_an_empty_one(stage: Stage) -> None:
    await stage.soul()
    await stage.sync("c1", lines(4))
    derived = (await stage.listed())[0]

    assert (await stage.engine.history.of_memory(ME, derived.id, 9, None)).entries == []


async def test_undo_since_a_moment(stage: Stage) -> None:
    await stage.soul()
    a, b, c, d = [(await stage.note(t)).memory.id for t in ("rain a", "rain b", "rain c", "rain d")]
    stage.clock.advance(60, 0)
    start = stage.clock.now()
    await reword(stage, a, "tool a")
    await patch(stage, b, text="mine b", tags=("mine",))
    await reword(stage, c, "tool c")
    await patch(stage, c, text="mine c")
    await patch(stage, d, text="mine d")
    await reword(stage, d, "tool d")
    await reword(stage, d, "tool d again")
    entry_count = len(await entries(stage))

    undone = await stage.engine.history.undo(ME, SoulId("s1"), since=start, change=None, job=None)

    assert [await text(stage, m) for m in (a, b, c, d)] == [
        "rain a",
        "mine b",
        "mine c",
        "mine d",
    ]
    assert (set(undone.memories), len(undone.changes), undone.skipped) == (
        {a, d},
        4,
        ((c, "text"),),
    )
    fresh = (await entries(stage))[entry_count:]
    assert [(e.actor, e.action) for e in fresh] == [(Actor.USER, Action.UNDO)] * 2
    again = await stage.engine.history.undo(ME, SoulId("s1"), since=start, change=None, job=None)
    assert again.memories == ()
    assert [await text(stage, m) for m in (a, b, c, d)] == [
        "rain a",
        "mine b",
        "mine c",
        "mine d",
    ]


async def test_undo_of_one_change_and_of_a_job(stage: Stage) -> None:
    await stage.soul()
    a, b = [(await stage.note(t)).memory.id for t in ("rain a", "rain b")]
    await reword(stage, a, "tool a")
    await reword(stage, b, "tool b", ChangeAuthor(Actor.ARCHIVIST, source="j2"))
    change = (await entries(stage))[-2]
    assert change.source == "j1"

    await stage.engine.history.undo(ME, SoulId("s1"), since=None, change=change.id, job=None)
    assert [await text(stage, m) for m in (a, b)] == ["rain a", "tool b"]
    await stage.engine.history.undo(ME, SoulId("s1"), since=None, change=None, job="j2")
    assert [await text(stage, m) for m in (a, b)] == ["rain a", "rain b"]


async def test_a_name_of_the_card_is_a_bare_name_again(stage: Stage) -> None:
    """Recall finds it no more than after a restart."""
    await stage.soul()
    await stage.engine.souls.put(ME, SoulId("s1"), "Mira", (KnownName("ring"),), None)
    await stage.sync("c1", [line("m0", "The ring is lost."), *lines(3)])
    (name,) = (await stage.mind()).names.concepts()
    await reword(stage, name.id, "ring of gold")
    await stage.engine.history.undo(ME, SoulId("s1"), since=None, change=None, job="j1")
    lived = await picture(stage, "s1")
    assert lived["memories"][name.id].origin is Origin.CARD
    await stage.restart()
    assert await picture(stage, "s1") == lived


async def test_what_cannot_be_undone_is_said(stage: Stage) -> None:
    await stage.soul()
    await stage.soul("s2")
    made = (await stage.note("rain")).memory
    (mine,) = await entries(stage)
    undo = stage.engine.history.undo

    with pytest.raises(NotFound):
        await undo(ME, SoulId("s1"), since=None, change="nobody", job=None)
    with pytest.raises(NotFound):
        await undo(ME, SoulId("s2"), since=None, change=mine.id, job=None)
    with pytest.raises(NotFound):
        await undo(ME, SoulId("s1"), since=None, change=None, job="nobody")
    with pytest.raises(Unprocessable):
        await undo(ME, SoulId("s1"), since=None, change=mine.id, job=None)
    with pytest.raises(Unprocessable):
        await undo(ME, SoulId("s1"), since=None, change=None, job=None)
    with pytest.raises(Unprocessable):
        await undo(ME, SoulId("s1"), since=stage.clock.now(), change=mine.id, job=None)
    assert await text(stage, made.id) == "rain"


async def test_the_fingerprint_after_undoing_is_that_from_before(stage: Stage) -> None:
    await stage.soul()
    await stage.sync("c1", lines(12))
    derived = [m.id for m in await stage.listed(kind=MemoryKind.EPISODE)]
    before, start = await stage.fingerprint(), stage.clock.now()
    stage.clock.advance(1, 0)
    for at, key in enumerate(derived):
        await reword(stage, key, f"tool {at}")
    await stage.engine.memories.delete(ME, derived[0], None, TOOL)
    await stage.engine.history.undo(
        ME, SoulId("s1"), since=start + timedelta(seconds=1), change=None, job=None
    )

    assert await stage.fingerprint() == before
    assert {m.id for m in await stage.listed(kind=MemoryKind.EPISODE)} == set(derived)


@pytest.mark.parametrize(
    "then", [{"speaker": "Alicia"}, {"role": Role.NARRATOR}, {"role": Role.USER}, {}]
)
@pytest.mark.parametrize("role", [Role.CHARACTER, Role.NARRATOR])
async def test_what_was_reworded_and_put_back_is_about_what_its_message_says(
    stage: Stage, role: Role, then: dict[str, Any]
) -> None:
    """Whatever other speaker is set in between: the speaker's name is not what the memory is about."""
    bare_yes = line(
        "m2", "Yes.", Role.NARRATOR, speaker="Kaelith"
    )  # about nothing: looked at again at rest
    messages = [
        line("m1", "Yes, gladly.", role, speaker="Kaelith: the elder"),
        bare_yes,
        *lines(2, 3),
    ]
    changed_messages = [replace(messages[0], **then), *messages[1:]]
    await stage.soul()
    await stage.sync("c1", messages)
    stage.clock.advance(1, 0)
    for text_ in ("Kaelith: nothing", "Kaelith: the elder: the rain stopped"):
        await reword(stage, (await first_episode(stage)).id, text_)
    await stage.sync("c1", changed_messages)
    await stage.engine.history.undo(
        ME, SoulId("s1"), since=stage.clock.now(), change=None, job=None
    )
    await stage.engine.idle.run()

    again = Stage()
    await again.start()
    await again.soul()
    await again.sync("c1", changed_messages)
    back, fresh = await first_episode(stage), await first_episode(again)
    assert (back.text, back.terms, back.names) == (fresh.text, fresh.terms, fresh.names)
    assert await stage.fingerprint() == await again.fingerprint()
    await again.stop()


@pytest.mark.parametrize("guard", [{"permanent": True}, {"locked": True}])
async def test_no_other_hand_changes_what_is_protected(stage: Stage, guard: dict[str, Any]) -> None:
    await stage.soul()
    made = (await stage.note("rain", **guard)).memory

    with pytest.raises(Forbidden):
        await reword(stage, made.id, "tool")
    with pytest.raises(Forbidden):
        await stage.engine.memories.delete(ME, made.id, "permanent", TOOL)
    assert (await stage.engine.memories.get(ME, made.id)).memory == made
    await patch(stage, made.id, text="mine")
    assert await text(stage, made.id) == "mine"


async def test_a_derived_memory_that_a_tool_rewords_stays_the_chats(
    stage: Stage,
) -> None:
    await stage.soul()
    await stage.sync("c1", lines(6))
    key = (await stage.listed())[0].id
    await reword(stage, key, "tool")

    memory = (await stage.engine.memories.get(ME, key)).memory
    assert (memory.text, memory.origin, memory.state) == (
        "tool",
        Origin.CHAT,
        MemoryState.ACTIVE,
    )


async def test_a_deleted_chat_is_told_to_each_soul_that_was_in_it(stage: Stage) -> None:
    await stage.soul("s2", "Tom")
    await stage.sync("c1", lines(4), souls=("s1", "s2"))
    await stage.engine.chats.delete(ME, ChatId("c1"))
    for soul in ("s1", "s2"):
        page = await stage.engine.history.audit(ME, SoulId(soul), None, 9, None)
        (entry,) = page.entries
        assert (entry.actor, entry.action, entry.target) == (
            Actor.USER,
            Action.BIN,
            "c1",
        )
        assert (entry.before, entry.after) == ({"state": "active"}, {"state": "bin"})


async def test_what_a_line_mattered_before_is_told_as_its_kinds_said_it(
    stage: Stage,
) -> None:
    """While they say it, the memory itself stores another figure."""
    await stage.soul()
    await stage.sync("c1", [line("a1", "My mother died."), *lines(3)])
    mind, episode = await stage.mind(), await first_episode(stage)
    scores = np.zeros(len(KINDS), np.float32)
    scores[KINDS.index("momentous")] = 1.0
    mind.line_kinds.take([(episode.id, episode.text, Judged(scores))])
    mattered = mind.line_kinds.importance_of(episode)
    assert mattered > episode.importance
    await patch(stage, episode.id, importance=0.1)
    change = (await entries(stage))[-1]
    assert change.before is not None
    assert change.after is not None
    figures = change.before["importance"], change.after["importance"]
    assert figures == (round(mattered, 4), 0.1)

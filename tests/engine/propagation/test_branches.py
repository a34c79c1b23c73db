"""What does a soul know in which chat: branches, scope, timelines, the context window?"""

from __future__ import annotations

from dataclasses import replace

import pytest

from soulmem.domain.audit import Actor
from soulmem.domain.dialogue import Role
from soulmem.domain.ids import ChatId, MemoryId, SlotId, SoulId
from soulmem.domain.memories import MemoryState, Timelines
from soulmem.domain.soul import Scope
from soulmem.engine.api.requests import (
    MemoryPatch,
    RecallRequest,
    RecallType,
    SyncAnswer,
)
from soulmem.ports.store import Change
from tests.engine.picky_store import PickyStore
from tests.engine.stage import ME, Stage, as_told, bare, line, lines


async def test_a_branch_knows_only_what_was_before_the_fork(
    either_stage: Stage,
) -> None:
    """And its parent nothing of what the branch went on to; shared messages are one memory."""
    await either_stage.sync("c1", lines(6))
    fork = [*lines(3), line("b4"), line("b5")]
    assert await either_stage.sync("c2", fork, parent=("c1", "m3")) == SyncAnswer(added=5)
    assert await either_stage.known("c1") == as_told(lines(5))
    assert await either_stage.known("c2") == as_told(fork[:4])
    shared = {m.id for m in await either_stage.visible("c1")} & {
        m.id for m in await either_stage.visible("c2")
    }
    assert len(shared) == 3
    assert len(await either_stage.listed()) == 6


async def test_a_branch_writes_only_what_it_does_not_share() -> None:
    """The memories it shares with its parent are stored already; only its own come, and what joins them."""
    store = PickyStore()
    stage = Stage(store)
    await stage.start()
    await stage.soul()
    await stage.sync("c1", lines(20))
    await stage.sync("c2", [*lines(10), line("b11"), line("b12")], parent=("c1", "m10"))
    await stage.stop()
    assert len(store.last.put_memories) == len(store.last.put_edges) == 1


async def test_a_branch_need_not_send_what_its_parent_has(stage: Stage) -> None:
    """Texts come from the parent, and from the parent's parent; an edited one must be sent."""
    await stage.sync("c1", lines(4))
    await stage.sync("c2", bare(lines(3)), parent=("c1", "m3"))
    answer = await stage.sync("c3", bare([*lines(2), line("m3", "edited")]), parent=("c2", "m3"))
    assert answer.needs_text == ("m3",)
    assert (await stage.sync("c3", bare(lines(2)), parent=("c2", "m2"))).applied


async def test_an_edit_in_the_branch_stays_in_the_branch(stage: Stage) -> None:
    """The shared message has its own wording there; the parent keeps the old one."""
    await stage.sync("c1", lines(4))
    edited = [*lines(1), line("m2", "edited"), line("b3")]
    await stage.sync("c2", edited, parent=("c1", "m2"))
    assert await stage.known("c1") == as_told(lines(3))
    assert await stage.known("c2") == as_told(edited[:2])


async def test_a_name_in_the_branch_stays_in_the_branch(stage: Stage) -> None:
    """A speaker renamed there is not renamed in the parent, whichever was synced last."""
    await stage.sync("c1", lines(4))
    renamed = [line("m1", speaker="Alicia"), *lines(2, 2)]
    await stage.sync("c2", renamed, parent=("c1", "m3"))
    assert await stage.known("c1") == as_told(lines(3))
    assert await stage.known("c2") == as_told(renamed[:2])


@pytest.mark.parametrize("first", ["c1", "c2"])
async def test_what_is_narrated_in_the_branch_is_spoken_in_its_parent(
    stage: Stage, first: str
) -> None:
    """Whichever was synced last: who is said to speak decides which names are learned."""
    narrated = [replace(line("m1"), role=Role.NARRATOR), *lines(3, 2)]
    for chat in (first, "c1", "c2"):
        if chat == "c1":
            await stage.sync("c1", lines(4))
        else:
            await stage.sync("c2", narrated, parent=("c1", "m3"))
    for chat, speakers in (("c1", ["Al"]), ("c2", [])):
        (memory,) = [m for m in await stage.visible(chat) if m.text == "Al: text of m1"]
        assert [p.name for p in memory.situation.participants] == speakers


async def test_what_the_user_gave_an_episode_outlives_another_id_of_it(
    stage: Stage,
) -> None:
    await stage.sync("c1", lines(4))
    for number, change in enumerate(
        ({"tags": ("dear",), "importance": 0.9}, {"state": MemoryState.BIN}), 1
    ):
        (episode,) = [m for m in await stage.listed() if m.text.endswith(f"m{number}")]
        other = replace(episode, id=MemoryId(f"other{number}"), **change)  # type: ignore[arg-type]
        await stage.store.commit(
            Change(ME, put_memories=[other], drop_memories=[episode.id], by=Actor.USER)
        )
    await stage.restart()
    assert await stage.known("c1") == as_told([line("m1"), line("m3")])
    listed = {m.text: (m.tags, m.importance) for m in await stage.listed()}
    assert listed["Al: text of m1"] == (("dear",), 0.9)
    assert [m.text for m in await stage.listed(MemoryState.BIN)] == ["Mira: text of m2"]
    stored = {m.id for m in await stage.store.memories(ME, SoulId("s1"))}
    assert not stored & {MemoryId("other1"), MemoryId("other2")}


async def test_the_users_tags_and_bin_outlive_new_names(stage: Stage) -> None:
    """A speaker renamed, then another root of the tree: tags stay, and what was binned stays binned."""
    await stage.sync("c2", lines(4), parent=("c1", "m3"))
    tagged, binned = (
        await stage.find("Mira: text of m2"),
        await stage.find("Al: text of m1"),
    )
    await stage.engine.memories.patch(ME, tagged, MemoryPatch(tags=("dear",), importance=0.9))
    await stage.engine.memories.delete(ME, binned, None)
    renamed = [replace(m, speaker=f"new {m.speaker}") for m in lines(4)]
    await stage.sync("c2", renamed, parent=("c1", "m3"))
    for parent in (None, ("c0", "m1")):
        await stage.sync("c1", renamed[:3], parent=parent)
        assert await stage.known("c2") == as_told(renamed[1:3])
        listed = {m.text: (m.tags, m.importance) for m in await stage.listed()}
        assert listed["new Mira: text of m2"] == (("dear",), 0.9)
        assert [m.text for m in await stage.listed(MemoryState.BIN)] == ["new Al: text of m1"]


async def test_the_memory_lives_as_long_as_one_chat_tells_it(stage: Stage) -> None:
    """Deleted in the parent it is still known in the branch, and gone with the last of both."""
    await stage.sync("c1", lines(5))
    await stage.sync("c2", lines(4), parent=("c1", "m4"))
    await stage.sync("c1", [*lines(1), *lines(3, 3)])
    assert as_told([line("m2")])[0] not in await stage.known("c1")
    assert await stage.known("c2") == as_told(lines(3))
    await stage.sync("c2", [*lines(1), *lines(2, 3)], parent=("c1", "m4"))
    assert as_told([line("m2")])[0] not in await stage.known(None)


async def test_a_parent_that_comes_later_is_recognised(stage: Stage) -> None:
    """The branch is sent first: its messages and the parent's are the same memories all the same."""
    await stage.sync("c2", lines(3), parent=("c1", "m3"))
    await stage.sync("c1", lines(5))
    assert await stage.known("c1") == as_told(lines(4))
    assert len(await stage.listed()) == 4


async def test_a_whole_tree_moves_when_its_root_finds_a_parent(stage: Stage) -> None:
    """Grandchild, child, then the root: every shared message is one memory in the end."""
    await stage.sync("c3", [*lines(2), line("x3"), line("x4")], parent=("c2", "m2"))
    await stage.sync("c2", lines(4), parent=("c1", "m3"))
    await stage.sync("c1", lines(6))
    assert len(await stage.listed()) == 6
    assert await stage.known("c3") == as_told([*lines(2), line("x3")])
    assert await stage.known("c2") == as_told(lines(3))


@pytest.mark.parametrize("names", [("c1", "c2", "c3"), ("c3", "c1", "c2"), ("c2", "c3", "c1")])
async def test_chats_that_are_each_others_parents_are_one_family(
    stage: Stage, names: tuple[str, ...]
) -> None:
    """Nonsense, but a client may send it: two in a ring and a branch of them share their messages."""
    first, second, branch = names
    await stage.sync(first, lines(3), parent=(second, "m1"))
    await stage.sync(second, lines(3), parent=(first, "m1"))
    await stage.sync(branch, lines(3), parent=(first, "m3"))
    assert len(await stage.listed()) == 2
    assert await stage.known(branch) == as_told(lines(2))


async def test_other_chats_are_known_unless_the_soul_keeps_to_the_chat(
    stage: Stage,
) -> None:
    """Scope `character` knows other families, never the other branches of its own; scope `chat` neither."""
    await stage.sync("c1", lines(4))
    await stage.sync("c2", [*lines(2), line("b3"), line("b4")], parent=("c1", "m2"))
    other = [line("o1", "elsewhere"), line("o2", "far away")]
    await stage.sync("c9", other)
    assert await stage.known("c2") == as_told([*lines(2), line("b3"), other[0]])
    await stage.soul(scope=Scope.CHAT)
    assert await stage.known("c2") == as_told([*lines(2), line("b3")])
    assert await stage.known(None) == as_told([*lines(3), line("b3"), other[0]])


async def test_another_soul_knows_nothing_of_it(stage: Stage) -> None:
    """Neither of chats nor of memories made by hand."""
    await stage.soul("s2", "Tom")
    await stage.sync("c1", lines(3))
    await stage.note("a secret")
    assert await stage.known(None, "s2") == []


async def test_a_memory_of_one_timeline_is_known_where_its_message_is(
    stage: Stage,
) -> None:
    """Made at m3: known in the chat and in a branch that holds m3, not in one that left before."""
    await stage.sync("c1", lines(5))
    await stage.sync("c2", lines(4), parent=("c1", "m4"))
    await stage.sync("c3", lines(2), parent=("c1", "m2"))
    await stage.note("only here", timelines=Timelines.THIS, chat="c1", slot=SlotId("m3"))
    await stage.note("everywhere", timelines=Timelines.ALL)
    knows = {chat: "only here" in await stage.known(chat) for chat in ("c1", "c2", "c3")}
    assert knows == {"c1": True, "c2": True, "c3": False}
    for chat in ("c1", "c2", "c3", None):
        assert "everywhere" in await stage.known(chat)


async def test_a_slot_of_the_same_name_in_another_family_is_another_place(
    stage: Stage,
) -> None:
    """Slots are unique among kin only: a memory of one timeline stays with its own."""
    await stage.sync("c1", lines(5))
    await stage.sync("c9", [line("m3", "elsewhere"), line("m4", "end")])
    await stage.note("only here", timelines=Timelines.THIS, chat="c1", slot=SlotId("m3"))
    assert "only here" not in await stage.known("c9")


async def test_without_a_slot_it_belongs_to_the_last_message(stage: Stage) -> None:
    """So a branch from before does not know it."""
    await stage.sync("c1", lines(5))
    view = await stage.note("here", timelines=Timelines.THIS, chat="c1")
    assert view.memory.place is not None
    assert view.memory.place.slot == "m5"
    await stage.sync("c2", lines(3), parent=("c1", "m3"))
    assert "here" not in await stage.known("c2")


async def test_what_is_still_in_the_prompt_is_not_recalled(stage: Stage) -> None:
    """From the oldest message still in the prompt on; an unknown slot is ignored."""
    await stage.sync("c1", lines(6))
    assert await stage.known("c1", context_from="m4") == as_told(lines(3))
    assert await stage.known("c1", context_from="m1") == []
    assert await stage.known("c1", context_from="no-such") == as_told(lines(5))


async def test_the_window_hides_nothing_that_is_told_before_it(stage: Stage) -> None:
    """A note and another chat stand outside of every window."""
    await stage.sync("c1", lines(3))
    await stage.sync("c9", [line("o1", "elsewhere"), line("o2", "end")])
    await stage.note("noted")
    assert await stage.known("c1", context_from="m1") == sorted(
        ["noted", *as_told([line("o1", "elsewhere")])]
    )


async def test_the_end_of_a_branch_is_judged_without_what_follows_elsewhere(
    stage: Stage,
) -> None:
    """Its last moment has no neighbour beyond the fork, though the parent tells one."""
    await stage.sync("c1", lines(4))
    await stage.sync("c2", [*lines(2), line("b3")], parent=("c1", "m2"))
    mind = await stage.mind()
    beside = mind.neighbours(ChatId("c2"))
    branch = mind.branches.branch(ChatId("c2"))
    assert branch is not None
    last = mind.row(branch.order[-1])
    assert [int(column[last]) for column in (beside.after, beside.pair_out)] == [-1, -1]


async def test_what_a_swipe_replaces_is_no_part_of_the_question(stage: Stage) -> None:
    """Without a query the last messages are the cue: not the reply that is about to be replaced."""
    await stage.sync(
        "c1",
        [
            line("m1", "We spoke of whales."),
            line("m2", "A swiped reply.", Role.CHARACTER),
        ],
    )
    for kind, expected in ((RecallType.SWIPE, False), (RecallType.NORMAL, True)):
        answer = await stage.engine.recaller.recall(
            ME, RecallRequest(SoulId("s1"), ChatId("c1"), type=kind)
        )
        trace = await stage.engine.recaller.trace(ME, answer.trace)
        assert any("swiped" in text for text, _ in trace.query) is expected

"""What the fingerprint compares and what it leaves out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from soulmem.domain.dialogue import SentMessage
from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import ChatId, SoulId
from soulmem.domain.memories import MemoryKind, MemoryState
from soulmem.domain.situation import ConceptDetail
from soulmem.domain.soul import KnownName
from soulmem.engine.api.requests import MemoryPatch, NewEdge
from tests.engine.stage import ME, Stage, line, lines

Chats = dict[str, tuple[list[SentMessage], tuple[str, str] | None]]
TREE: Chats = {
    "c1": (lines(5), None),
    "c2": ([*lines(3), line("b4"), line("b5")], ("c1", "m3")),
}


async def fingerprint_of(chats: Chats, order: Sequence[str] | None = None) -> str:
    """The fingerprint of a soul after these chats were synced."""
    stage = Stage()
    await stage.start()
    await stage.soul()
    for chat in order or list(chats):
        messages, parent = chats[chat]
        await stage.sync(chat, messages, parent=parent)
    value = await stage.fingerprint()
    await stage.stop()
    return value


def with_other_ids(chats: Chats) -> Chats:
    """The same chats with other ids of chats and slots."""
    return {
        f"x-{chat}": (
            [line(f"x-{m.slot}", m.text, m.role, speaker=m.speaker) for m in messages],
            (f"x-{parent[0]}", f"x-{parent[1]}") if parent else None,
        )
        for chat, (messages, parent) in chats.items()
    }


async def test_ids_and_the_order_of_syncs_do_not_count() -> None:
    """Equal for equal chats, whatever their ids and order."""
    assert (
        await fingerprint_of(TREE)
        == await fingerprint_of(with_other_ids(TREE))
        == await fingerprint_of(TREE, ["c2", "c1"])
    )


async def test_the_way_there_does_not_count(stage: Stage) -> None:
    """Swiped, edited, deleted, hidden, inserted and back, deleted as a whole and synced again."""
    await stage.sync("c1", [*lines(2), line("gone"), line("m3", "wrong"), line("m9")])
    await stage.sync("c2", [*lines(1), line("m2", "wrong"), line("b9")], parent=("c1", "m2"))
    await stage.sync("c1", [*lines(3), line("m4", "swiped")])
    await stage.engine.chats.delete(ME, ChatId("c1"))
    await stage.restart()
    await stage.sync("c2", TREE["c2"][0], parent=("c1", "m3"))
    await stage.sync("c1", TREE["c1"][0])
    assert await stage.fingerprint() == await fingerprint_of(TREE)


OTHERS: dict[str, Chats] = {
    "another text": {
        **TREE,
        "c1": ([*lines(1), line("m2", "other"), *lines(3, 3)], None),
    },
    "another speaker": {
        **TREE,
        "c1": ([line("m1", speaker="Bob"), *lines(4, 2)], None),
    },
    "one less": {**TREE, "c1": (lines(4), None)},
    "another order": {**TREE, "c1": ([lines(5)[1], lines(5)[0], *lines(3, 3)], None)},
    "an earlier fork": {
        **TREE,
        "c2": ([*lines(2), line("b4"), line("b5")], ("c1", "m2")),
    },
    "no branch": {"c1": TREE["c1"]},
    "a copy instead of a branch": {**TREE, "c2": (TREE["c2"][0], None)},
    "once more": {**TREE, "c3": (lines(5), None)},
}


@pytest.mark.parametrize("name", OTHERS)
async def test_any_difference_in_what_is_remembered_counts(name: str) -> None:
    """Texts, order, counts, provenance, and whether two chats share a memory or each have one."""
    assert await fingerprint_of(OTHERS[name]) != await fingerprint_of(TREE)


SAME: dict[str, Chats] = {
    "another last message": {**TREE, "c1": ([*lines(4), line("m5", "other")], None)},
    "a system line": {
        **TREE,
        "c1": ([*lines(4), line("s1", "(OOC: hm)"), *lines(1, 5)], None),
    },
    "an empty chat": {**TREE, "c9": ([], None)},
}


@pytest.mark.parametrize("name", SAME)
async def test_what_is_not_remembered_does_not_count(name: str) -> None:
    """Settled or not, the last message does not count; nor do out-of-character lines
    and empty chats.
    """
    assert await fingerprint_of(SAME[name]) == await fingerprint_of(TREE)


async def test_neither_time_nor_the_users_hand_counts(stage: Stage) -> None:
    """Idle, closing, recalls, notes, tags and importance; a binned memory of the chats does."""
    await stage.sync("c1", lines(5))
    before = await stage.fingerprint()
    stage.clock.advance(1e6, 1000)
    await stage.engine.idle.run()
    await stage.close("c1")
    await stage.recall("text", "c1")
    note = await stage.note("by hand")
    await stage.engine.memories.delete(ME, note.memory.id, None)
    assert await stage.fingerprint() == before
    listed = await stage.listed(MemoryState.ACTIVE)
    episode = next(m for m in listed if m.kind is MemoryKind.EPISODE)
    await stage.engine.memories.delete(ME, episode.id, None)
    assert await stage.fingerprint() != before


async def set_card_names(stage: Stage, *names: str) -> None:
    """Set these names on the card."""
    known_names = tuple(KnownName(name) for name in names)
    await stage.engine.souls.put(ME, SoulId("s1"), "Mira", known_names, None)


async def test_names_of_the_card_and_what_they_are_linked_to_count(
    stage: Stage,
) -> None:
    """In any order of events; a missing or stale link counts."""
    await stage.sync("c1", [line("m1", "Bob!"), line("m2", "Anna!"), line("m3")])
    nameless = await stage.fingerprint()
    await set_card_names(stage, "Bob")
    bob = await stage.fingerprint()
    await set_card_names(stage, "Bob", "Anna")
    bob_and_anna = await stage.fingerprint()
    assert len({nameless, bob, bob_and_anna}) == 3
    await set_card_names(stage, "Bob")
    assert await stage.fingerprint() == bob
    mind = await stage.mind()
    (link,) = [e for e in mind.edges.every() if e.kind is EdgeKind.MENTIONS]
    mind.edges.drop(link.id)
    assert await stage.fingerprint() not in (bob, nameless)
    mind.edges.put(link)
    assert await stage.fingerprint() == bob
    unnamed = await stage.find("Al: Anna!")
    mind.edges.put(replace(link, source=unnamed))
    assert await stage.fingerprint() != bob


async def test_what_the_user_does_about_names_does_not_count(stage: Stage) -> None:
    """A concept that stands for one, a longer one that hides one, an alias, an edge by
    hand, an abstract episode.
    """
    await stage.sync("c1", [line("m1", "Bob of the mill!"), line("m2", "Bob, Anna!"), line("m3")])
    await set_card_names(stage, "Bob", "Anna")
    before = await stage.fingerprint()
    anna = next(m.id for m in (await stage.mind()).names.concepts() if m.text == "Anna")
    fingerprint_of = [
        await stage.find("Al: Bob, Anna!"),
        await stage.find("Al: Bob of the mill!"),
    ]
    tie = NewEdge(EdgeKind.MENTIONS, anna)
    await stage.engine.memories.patch(ME, fingerprint_of[1], MemoryPatch(edges=(tie,)))
    assert await stage.fingerprint() == before
    await stage.note("Bob of the mill", kind=MemoryKind.CONCEPT)
    assert await stage.fingerprint() == before
    await stage.note(
        "Robert",
        kind=MemoryKind.CONCEPT,
        concept=ConceptDetail(aliases=("Bob", "mill")),
    )
    assert await stage.fingerprint() == before
    covers = tuple(NewEdge(EdgeKind.INSTANCE_OF, source=m) for m in fingerprint_of)
    await stage.note("meetings", kind=MemoryKind.ABSTRACT_EPISODE, edges=covers)
    assert await stage.fingerprint() == before
    await stage.engine.memories.patch(ME, anna, MemoryPatch(tags=("mine",)))
    assert await stage.fingerprint() == before


@pytest.mark.parametrize("own", [False, True])
async def test_a_name_of_the_card_that_the_user_throws_away_does_not_count(
    stage: Stage, own: bool
) -> None:
    """As the card made it, or after an edit by the user; nor does it count when the
    user restores it.
    """
    await stage.sync("c1", [line("m1", "Bob!"), line("m2"), line("m3")])
    await set_card_names(stage, "Bob")
    before = await stage.fingerprint()
    (bob,) = (await stage.mind()).names.concepts()
    if own:
        await stage.engine.memories.patch(ME, bob.id, MemoryPatch(tags=("mine",)))
    await stage.engine.memories.delete(ME, bob.id, None)
    assert await stage.fingerprint() == before
    await stage.engine.memories.restore(ME, bob.id)
    assert await stage.fingerprint() == before

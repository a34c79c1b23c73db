"""What a user can create, change and delete by hand."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone
from typing import Any

import pytest

from soulmem.domain.edges import EdgeKind
from soulmem.domain.errors import (
    ConfirmationRequired,
    Conflict,
    NotFound,
    Unprocessable,
)
from soulmem.domain.ids import MemoryId, SlotId
from soulmem.domain.memories import MemoryKind, MemoryState, Origin, Place, Timelines
from soulmem.domain.situation import (
    ConceptDetail,
    ConceptType,
    Emotion,
    Participant,
    ParticipantKind,
    Situation,
    TimeSpan,
)
from soulmem.engine.api.requests import MemoryPatch, NewEdge
from tests.engine.stage import ME, Stage, as_told, line, lines, until
from tests.fakes.embedder import FakeEmbedder

NOON = datetime(2026, 5, 1, 12, tzinfo=timezone.utc)
NOT_BY_HAND = (MemoryKind.SUMMARY, MemoryKind.DIGEST)
FULL = Situation(
    time_span=TimeSpan(NOON, NOON, "that winter"),
    location="the old bridge",
    participants=(Participant("Bob", ParticipantKind.OBJECT),),
    emotions=(Emotion("joy", 0.7),),
    sensations=("cold",),
    situation="before dawn",
)
CONCEPT = ConceptDetail(ConceptType.TOPIC, ("钥匙",), "opens the tower")


@pytest.mark.parametrize("kind", [kind for kind in MemoryKind if kind not in NOT_BY_HAND])
async def test_every_kind_can_be_made_and_reads_back(either_stage: Stage, kind: MemoryKind) -> None:
    """With all its fields, also after a restart of the fake store's engine."""
    made = await either_stage.note(
        "text",
        kind=kind,
        tags=("a", "b", "a"),
        importance=0.9,
        locked=True,
        situation=FULL if kind is MemoryKind.EPISODE else Situation(),
        concept=CONCEPT if kind is MemoryKind.CONCEPT else None,
    )
    view = await either_stage.engine.memories.get(ME, made.memory.id)
    assert view == made
    assert (view.memory.kind, view.memory.text, view.memory.tags) == (
        kind,
        "text",
        ("a", "b"),
    )
    assert (view.memory.importance, view.memory.locked, view.memory.origin) == (
        0.9,
        True,
        Origin.USER,
    )
    if kind is MemoryKind.EPISODE:
        assert view.memory.situation == FULL
    if kind is MemoryKind.CONCEPT:
        assert view.memory.concept == CONCEPT


async def test_memories_by_hand_survive_a_restart(stage: Stage) -> None:
    """With their edges."""
    first = await stage.note("one", kind=MemoryKind.CONCEPT)
    second = await stage.note(
        "two",
        kind=MemoryKind.CONCEPT,
        edges=(NewEdge(EdgeKind.RELATES, first.memory.id, verb="loves"),),
    )
    await stage.restart()
    assert await stage.engine.memories.get(ME, second.memory.id) == second
    assert [e.verb for e in (await stage.engine.memories.get(ME, first.memory.id)).edges] == [
        "loves"
    ]


async def test_a_note_matters_as_the_kind_of_its_lines_unless_the_user_says_how_much() -> None:
    stage = Stage(judges_lines=True)
    await stage.start()
    await stage.soul()
    notes = [
        await stage.note("It's raining again."),
        await stage.note("I promise I'll come back."),
        await stage.note("It's raining again, as ever.", importance=0.7),
    ]
    await stage.engine.embedding.wait_pending()
    small, vow, given = [
        (await stage.engine.memories.get(ME, note.memory.id)).memory.importance for note in notes
    ]
    await stage.stop()
    assert small < 0.2
    assert vow > 0.6
    assert given == 0.7


async def test_a_trigger_is_never_recalled(stage: Stage) -> None:
    """It can be listed, but no recall may show it."""
    await stage.note("the smell of rain", kind=MemoryKind.TRIGGER)
    assert [m.text for m in await stage.listed()] == ["the smell of rain"]
    assert await stage.known(None) == []


@pytest.mark.parametrize(
    ("source", "edge", "target", "legal"),
    [
        ("concept", EdgeKind.RELATES, "concept", True),
        ("concept", EdgeKind.RELATES, "note", False),
        ("episode", EdgeKind.MENTIONS, "concept", True),
        ("concept", EdgeKind.MENTIONS, "episode", False),
        ("trigger", EdgeKind.FIRES, "action", True),
        ("concept", EdgeKind.FIRES, "action", False),
        ("concept", EdgeKind.KNOWS_HABIT, "action", True),
        ("note", EdgeKind.ASSOCIATES, "trigger", True),
        ("episode", EdgeKind.NEXT, "episode", False),
    ],
)
async def test_edges_join_what_they_may(
    stage: Stage, source: str, edge: EdgeKind, target: str, legal: bool
) -> None:
    """From the new memory to `to`, or from `source` to the new one; a refused one makes no memory at all."""
    target_note = await stage.note("there", kind=MemoryKind(target))
    source_note = await stage.note("here", kind=MemoryKind(source))
    for made, more in (
        (source, NewEdge(edge, to=target_note.memory.id, strength=0.25)),
        (target, NewEdge(edge, source=source_note.memory.id, strength=0.25)),
    ):
        count = len(await stage.listed())
        if legal:
            view = await stage.note("new", kind=MemoryKind(made), edges=(more,))
            (joined,) = [e for e in view.edges if e.origin is Origin.USER]
            ends = (
                (view.memory.id, target_note.memory.id)
                if more.to
                else (source_note.memory.id, view.memory.id)
            )
            assert (joined.source, joined.target, joined.kind, joined.strength) == (
                *ends,
                edge,
                0.25,
            )
        else:
            with pytest.raises(Unprocessable):
                await stage.note("new", kind=MemoryKind(made), edges=(more,))
            assert len(await stage.listed()) == count


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ({"edges": (NewEdge(EdgeKind.ASSOCIATES, MemoryId("nobody")),)}, NotFound),
        ({"edges": (NewEdge(EdgeKind.ASSOCIATES),)}, Unprocessable),
        ({"timelines": Timelines.THIS}, Unprocessable),
        ({"timelines": Timelines.THIS, "chat": "c9"}, NotFound),
        ({"timelines": Timelines.THIS, "chat": "c1", "slot": SlotId("m9")}, NotFound),
        ({"soul": "s9"}, NotFound),
        ({"importance": 1.5}, Unprocessable),
    ],
)
async def test_what_cannot_be_made_leaves_nothing(
    stage: Stage, more: dict[str, Any], error: type
) -> None:
    """Unknown ends, chats, slots and souls, an edge to nowhere, a timeline without a chat."""
    await stage.sync("c1", lines(2))
    before = await stage.listed()
    with pytest.raises(error):
        await stage.note("new", **more)
    assert await stage.listed() == before


async def test_memories_of_another_soul_cannot_be_joined(stage: Stage) -> None:
    """Each soul has a graph of its own."""
    await stage.soul("s2", "Tom")
    other = await stage.note("his", "s2")
    with pytest.raises(NotFound):
        await stage.note("mine", edges=(NewEdge(EdgeKind.ASSOCIATES, other.memory.id),))


async def test_a_patch_changes_what_it_names(stage: Stage) -> None:
    """The rest stays, the revision counts, an old revision is a conflict."""
    made = (await stage.note("old", tags=("a",), importance=0.3)).memory
    changed = (
        await stage.engine.memories.patch(
            ME, made.id, MemoryPatch(text="new", permanent=True, revision=1)
        )
    ).memory
    assert (
        changed.text,
        changed.permanent,
        changed.tags,
        changed.importance,
        changed.revision,
    ) == (
        "new",
        True,
        ("a",),
        0.3,
        2,
    )
    with pytest.raises(Conflict):
        await stage.engine.memories.patch(ME, made.id, MemoryPatch(text="lost", revision=1))
    with pytest.raises(Unprocessable):
        await stage.engine.memories.patch(ME, made.id, MemoryPatch(text=" "))
    assert (await stage.engine.memories.get(ME, made.id)).memory == changed
    assert await stage.known(None) == ["new"]


async def test_a_patch_changes_of_the_fields_what_it_names(stage: Stage) -> None:
    """Without names it sets them all."""
    made = (await stage.note("x", kind=MemoryKind.EPISODE, situation=FULL)).memory
    for fields, expected in (
        (
            frozenset({"location", "emotions"}),
            replace(FULL, location="here", emotions=()),
        ),
        (None, Situation(location="here")),
    ):
        patch = MemoryPatch(situation=Situation(location="here"), fields=fields)
        assert (await stage.engine.memories.patch(ME, made.id, patch)).memory.situation == expected
    thing = (await stage.note("key", kind=MemoryKind.CONCEPT, concept=CONCEPT)).memory
    patch = MemoryPatch(concept=ConceptDetail(description="old"), fields=frozenset({"description"}))
    changed = (await stage.engine.memories.patch(ME, thing.id, patch)).memory
    assert changed.concept == replace(CONCEPT, description="old")


async def test_a_reworded_memory_is_found_by_its_new_words(stage: Stage) -> None:
    """And no longer by the old ones."""
    made = await stage.note("The whale sang.")
    await stage.engine.memories.patch(ME, made.memory.id, MemoryPatch(text="The wolf howled."))
    assert [m.text for m in await stage.listed(q="wolf")] == ["The wolf howled."]
    assert await stage.listed(q="whale") == []


async def test_a_derived_memory_that_is_only_tagged_stays_derived(stage: Stage) -> None:
    """Text, lock and permanence make it the user's; tags and importance do not."""
    await stage.sync("c1", lines(3))
    key = (await stage.visible("c1"))[0].id
    for patch, origin in (
        (MemoryPatch(tags=("x",)), Origin.CHAT),
        (MemoryPatch(importance=0.9), Origin.CHAT),
        (MemoryPatch(locked=True), Origin.USER),
    ):
        assert (await stage.engine.memories.patch(ME, key, patch)).memory.origin is origin
    assert (await stage.engine.memories.get(ME, key)).memory.place == Place("c1", "m1")  # type: ignore[arg-type]


async def test_binned_and_restored(either_stage: Stage) -> None:
    """Not recalled while in the bin; twice is no error; back as it was."""
    made = (await either_stage.note("a note")).memory
    for _ in range(2):
        await either_stage.engine.memories.delete(ME, made.id, None)
    assert await either_stage.known(None) == []
    assert [m.id for m in await either_stage.listed(MemoryState.BIN)] == [made.id]
    restored = await either_stage.engine.memories.restore(ME, made.id)
    assert restored.memory.state is MemoryState.ACTIVE
    assert await either_stage.known(None) == ["a note"]


async def test_what_comes_out_of_the_bin_gets_its_vector_again() -> None:
    """Nothing else need happen for it."""
    stage = Stage(model=FakeEmbedder().source())
    await stage.start()
    await stage.soul()
    made = (await stage.note("a note")).memory
    await stage.engine.memories.delete(ME, made.id, None)
    await stage.engine.embedding.wait_pending()
    await stage.engine.memories.restore(ME, made.id)
    mind = await stage.mind()
    await until(lambda: not mind.vector_queue.pending_count())
    await stage.stop()


async def test_what_no_chat_tells_any_more_is_restored_as_the_users_own(
    stage: Stage,
) -> None:
    """Out of the bin of a deleted chat, known on all timelines from then on."""
    await stage.sync("c1", lines(2))
    await stage.engine.chats.delete(
        ME, stage_chat := (await stage.engine.chats.list(ME, None))[0][0].id
    )
    key = await stage.find(as_told(lines(1))[0], MemoryState.BIN)
    restored = (await stage.engine.memories.restore(ME, key)).memory
    assert (restored.origin, restored.timelines) == (Origin.USER, Timelines.ALL)
    assert await stage.known(None) == as_told(lines(1))
    await stage.sync(stage_chat, lines(2))
    assert await stage.known("c1") == as_told(lines(1))


async def test_a_permanent_memory_is_binned_only_on_a_second_word(stage: Stage) -> None:
    """And only that word."""
    made = (await stage.note("core", permanent=True)).memory
    for word in (None, "yes", ""):
        with pytest.raises(ConfirmationRequired):
            await stage.engine.memories.delete(ME, made.id, word)
    assert await stage.known(None) == ["core"]
    await stage.engine.memories.delete(ME, made.id, "permanent")
    assert await stage.known(None) == []


async def test_permanent_memories_come_first_and_on_top(stage: Stage) -> None:
    """Whatever is asked; `max_items` counts the others, the budget counts all."""
    await stage.sync("c1", [line(f"m{i}", f"whale number {i}") for i in range(9)])
    await stage.note("Minor.", permanent=True, importance=0.1)
    await stage.note("Major.", permanent=True, importance=0.9)
    answer = await stage.recall("whale", "c1", max_items=2)
    assert [m.text for m in answer.memories[:2]] == ["Major.", "Minor."]
    assert [m.permanent for m in answer.memories] == [True, True, False, False]
    tight = await stage.recall("whale", "c1", max_items=2, budget_tokens=14)
    assert tight.tokens <= 14
    assert [m.text for m in tight.memories] == ["Major."]


async def test_unknown_memories_are_not_found(stage: Stage) -> None:
    """Whatever is asked of them."""
    unknown = MemoryId("nobody")
    for ask in (
        stage.engine.memories.get(ME, unknown),
        stage.engine.memories.patch(ME, unknown, MemoryPatch(text="x")),
        stage.engine.memories.delete(ME, unknown, None),
        stage.engine.memories.restore(ME, unknown),
    ):
        with pytest.raises(NotFound):
            await ask

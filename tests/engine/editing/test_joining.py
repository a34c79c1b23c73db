"""Which edges a user may create, and their first values."""

from __future__ import annotations

from typing import Any

import pytest

from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.errors import Unprocessable
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import MemoryKind, Origin
from soulmem.domain.situation import ConceptDetail, ConceptType, Emotion, Situation
from soulmem.engine.api.requests import MemoryPatch, NewEdge
from tests.engine.stage import ME, Stage

TOPIC = ConceptDetail(ConceptType.TOPIC)
LEGAL = {
    EdgeKind.RELATES: {(a, b) for a in ("concept", "topic") for b in ("concept", "topic")},
    EdgeKind.MENTIONS: {
        ("episode", "concept"),
        ("abstract_episode", "concept"),
        ("note", "concept"),
    },
    EdgeKind.INSTANCE_OF: {("episode", "abstract_episode")},
    EdgeKind.NEXT: set(),
    EdgeKind.TOPIC_OF: {("concept", "topic"), ("topic", "topic")},
    EdgeKind.TRIGGERS: {("episode", "trigger"), ("abstract_episode", "trigger")},
    EdgeKind.FIRES: {("trigger", "action")},
    EdgeKind.KNOWS_HABIT: {("concept", "action"), ("topic", "action")},
}
# What may be made by hand: a summary is of a chat.
NOT_BY_HAND = (MemoryKind.SUMMARY, MemoryKind.DIGEST)
ENDS = (*(kind.value for kind in MemoryKind if kind not in NOT_BY_HAND), "topic")


async def make(stage: Stage, what: str, *edges: NewEdge, text: str = "x", **more: Any) -> MemoryId:
    """A memory of a kind, or a topic."""
    if what == "topic":
        more["concept"] = TOPIC
    kind = MemoryKind.CONCEPT if what == "topic" else MemoryKind(what)
    return (await stage.note(text, kind=kind, edges=edges, **more)).memory.id


async def edges(stage: Stage, memory: MemoryId) -> dict[MemoryId, Edge]:
    """The user's edges of the memory, by their other end."""
    memory_edges = (await stage.engine.memories.get(ME, memory)).edges
    return {
        e.target if e.source == memory else e.source: e
        for e in memory_edges
        if e.origin is Origin.USER
    }


async def patch(stage: Stage, memory: MemoryId, *edges: NewEdge, **more: Any) -> None:
    """Change the memory's edges and fields."""
    await stage.engine.memories.patch(ME, memory, MemoryPatch(edges=edges, **more))


async def test_every_edge_joins_what_it_may_and_nothing_else(stage: Stage) -> None:
    """All kinds between all ends, topics apart; what is refused leaves nothing."""
    targets = {what: await make(stage, what, text=f"a {what} there") for what in ENDS}
    for kind in EdgeKind:
        legal = LEGAL.get(kind, {(a, b) for a in ENDS for b in ENDS})
        for source in ENDS:
            for target in ENDS:
                edge = NewEdge(kind, to=targets[target])
                if (source, target) in legal:
                    made = await make(stage, source, edge)
                    assert (await edges(stage, made))[targets[target]].kind is kind
                    continue
                count = len((await stage.mind()).memories)
                with pytest.raises(Unprocessable) as refused:
                    await make(stage, source, edge)
                assert refused.value.field == "edges[0].kind"
                assert len((await stage.mind()).memories) == count


async def test_a_concept_with_texts_tied_by_hand_is_no_topic(stage: Stage) -> None:
    """It would join what may not be joined; one without may become a topic."""
    concept = await make(stage, "concept", text="rain")
    note = await make(stage, "note", NewEdge(EdgeKind.MENTIONS, concept))
    with pytest.raises(Unprocessable, match="topic"):
        await patch(stage, concept, concept=TOPIC)
    await patch(stage, await make(stage, "concept", text="snow"), concept=TOPIC)
    assert list(await edges(stage, concept)) == [note]


async def test_a_relation_without_a_verb_has_one(stage: Stage) -> None:
    """Each verb is an edge of its own."""
    bob = await make(stage, "concept", text="bob")
    anna = await make(stage, "concept", NewEdge(EdgeKind.RELATES, bob), text="anna")
    assert (await edges(stage, anna))[bob].verb == "relates to"
    await patch(stage, anna, NewEdge(EdgeKind.RELATES, bob, verb="loves", confidence=0.75))
    memory_edges = (await stage.engine.memories.get(ME, anna)).edges
    assert sorted((e.verb, e.confidence) for e in memory_edges) == [
        ("loves", 0.75),
        ("relates to", 1.0),
    ]


async def test_a_patch_changes_of_an_edge_what_it_names(stage: Stage) -> None:
    """Strength, confidence, probability, each alone; the edge stays one."""
    action = await make(stage, "action")
    kind = EdgeKind.FIRES
    trigger = await make(stage, "trigger", NewEdge(kind, action, strength=0.7, probability=0.4))
    for change, expected in (
        (NewEdge(kind, source=trigger, confidence=0.9), (0.7, 0.9, 0.4)),
        (NewEdge(kind, source=trigger, probability=0.1), (0.7, 0.9, 0.1)),
        (NewEdge(kind, source=trigger, strength=0.2), (0.2, 0.9, 0.1)),
    ):
        await patch(stage, action, change)
        (edge,) = (await edges(stage, trigger)).values()
        assert (edge.strength, edge.confidence, edge.probability) == expected


async def test_probabilities_of_a_trigger_sum_to_one(stage: Stage) -> None:
    """One action alone has 1; who is given none gets an equal part of the rest; more than 1 is refused."""
    acts = [await make(stage, "action", text=f"act {n}") for n in range(5)]
    fires = [NewEdge(EdgeKind.FIRES, act) for act in acts]

    async def probabilities_of(trigger: MemoryId) -> list[float | None]:
        by_action = await edges(stage, trigger)
        return [by_action[act].probability for act in acts if act in by_action]

    assert await probabilities_of(await make(stage, "trigger", fires[0])) == [1.0]
    half = NewEdge(EdgeKind.FIRES, acts[0], probability=0.5)
    trigger = await make(stage, "trigger", half, fires[1], fires[2])
    assert await probabilities_of(trigger) == [0.5, 0.25, 0.25]
    with pytest.raises(Unprocessable, match="nothing is left"):
        await patch(stage, trigger, fires[3])
    over = NewEdge(EdgeKind.FIRES, acts[3], probability=0.001)
    with pytest.raises(Unprocessable, match=r"1\.001"):
        await patch(stage, trigger, over)
    assert await probabilities_of(trigger) == [0.5, 0.25, 0.25]
    await patch(stage, trigger, NewEdge(EdgeKind.FIRES, acts[0], probability=0.25), fires[3])
    assert await probabilities_of(trigger) == [0.25, 0.25, 0.25, 0.25]
    with pytest.raises(Unprocessable):
        await patch(stage, acts[4], NewEdge(EdgeKind.FIRES, source=trigger, probability=0.5))


async def test_an_action_in_the_bin_leaves_its_probability_to_others(
    stage: Stage,
) -> None:
    """It comes back only when there is room for it."""
    binned = await make(stage, "action", text="sulks")
    trigger = await make(stage, "trigger", NewEdge(EdgeKind.FIRES, binned))
    await stage.engine.memories.delete(ME, binned, None)
    other = await make(stage, "action", NewEdge(EdgeKind.FIRES, source=trigger), text="laughs")
    assert (await edges(stage, other))[trigger].probability == 1.0
    with pytest.raises(Unprocessable, match="sum to 2"):
        await stage.engine.memories.restore(ME, binned)
    await patch(stage, other, NewEdge(EdgeKind.FIRES, source=trigger, probability=0.0))
    await stage.engine.memories.restore(ME, binned)


async def test_decimals_may_miss_one_by_a_hair(stage: Stage) -> None:
    """Ten tenths are one."""
    tenths = [
        NewEdge(EdgeKind.FIRES, await make(stage, "action"), probability=0.1) for _ in range(10)
    ]
    await make(stage, "trigger", *tenths)


async def test_what_a_concrete_episode_triggers_starts_at_full_strength(
    stage: Stage,
) -> None:
    """All other edges at one half, unless told otherwise."""
    action = await make(stage, "action")
    for cause, strength in (("episode", 1.0), ("abstract_episode", 0.5)):
        scene = NewEdge(EdgeKind.TRIGGERS, source=await make(stage, cause))
        trigger = await make(stage, "trigger", scene, NewEdge(EdgeKind.FIRES, action))
        by_end = await edges(stage, trigger)
        assert (by_end[action].strength, by_end[scene.source or action].strength) == (
            strength,
            0.5,
        )


@pytest.mark.parametrize(("intensity", "importance"), [(0.0, 0.2), (0.5, 0.4), (1.0, 0.6)])
async def test_the_strongest_feeling_given_counts(
    stage: Stage, intensity: float, importance: float
) -> None:
    """Whatever the words say."""
    felt = Situation(emotions=(Emotion("joy", intensity), Emotion("calm", 0.0)))
    view = await stage.note("We cried and laughed.", kind=MemoryKind.EPISODE, situation=felt)
    assert view.memory.importance == pytest.approx(importance)


async def test_fields_of_another_kind_are_refused(stage: Stage) -> None:
    """A note has no feelings, an episode no aliases."""
    note, episode = await make(stage, "note"), await make(stage, "episode")
    with pytest.raises(Unprocessable, match="episode"):
        await patch(stage, note, situation=Situation(location="here"))
    with pytest.raises(Unprocessable, match="concept"):
        await patch(stage, episode, concept=ConceptDetail())


async def test_edges_know_the_turn_they_were_made_at(stage: Stage) -> None:
    """The soul's clock, moved turns included."""
    stage.clock.advance(0, 7)
    first = await make(stage, "concept", text="one")
    second = await make(stage, "concept", NewEdge(EdgeKind.RELATES, first), text="two")
    assert (await edges(stage, second))[first].at_turn == 7

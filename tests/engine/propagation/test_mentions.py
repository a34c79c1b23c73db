"""Which texts mention which concepts, whatever came first and whatever changed since?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import exp

import pytest

from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.memories import MemoryKind, MemoryState, Origin, Timelines
from soulmem.domain.situation import ConceptDetail, ConceptType
from soulmem.domain.soul import KnownName, SoulSettings
from soulmem.engine.api.requests import MemoryPatch, NewEdge
from tests.engine.picky_store import PickyStore
from tests.engine.stage import ME, Stage, line

TALK = ["Bob came to the mill.", "We saw nobody.", "I told Bob and Anna.", "The end."]


async def card(stage: Stage, **names: Iterable[str]) -> None:
    """Let the card know these names with their aliases."""
    known_names = tuple(KnownName(name, tuple(aliases)) for name, aliases in names.items())
    await stage.engine.souls.put(ME, SoulId("s1"), "Mira", known_names, None)


async def talk(stage: Stage, texts: Iterable[str] = TALK, speaker: str = "Anna") -> None:
    """Tell these lines in one chat, and leave it."""
    await stage.sync("c1", [line(f"m{i}", text, speaker=speaker) for i, text in enumerate(texts)])
    await stage.close("c1")


async def mentions(stage: Stage) -> Mapping[str, set[str]]:
    """Texts of the concepts with the texts that mention them; in use both."""
    mind = await stage.mind()
    out: dict[str, set[str]] = {
        m.text: set() for m in mind.names.concepts() if m.state is MemoryState.ACTIVE
    }
    for edge in mind.edges.every():
        if edge.kind is EdgeKind.MENTIONS:
            source, target = mind.memories[edge.source], mind.memories[edge.target]
            assert source.state is target.state is MemoryState.ACTIVE
            assert source.text not in out[target.text]
            out[target.text].add(source.text)
    return out


def lines_of(*numbers: int, speaker: str = "Anna") -> set[str]:
    """The memories of those lines of the talk."""
    return {f"{speaker}: {TALK[n]}" for n in numbers}


async def test_names_of_the_card_are_linked_whichever_comes_first(
    either_stage: Stage,
) -> None:
    """The talk or the names; who speaks is not mentioned."""
    stage = either_stage
    await talk(stage)
    assert await mentions(stage) == {}
    await card(stage, Bob=["Robert"], Anna=[], Eve=[])
    expected = {"Bob": lines_of(0, 2), "Anna": lines_of(2), "Eve": set()}
    assert await mentions(stage) == expected
    await stage.sync("c2", [line("x1", "Robert left."), line("x2", "Yes.")])
    assert (await mentions(stage))["Bob"] == lines_of(0, 2) | {"Al: Robert left."}


async def test_a_restart_finds_nothing_to_mend() -> None:
    """Neither a concept nor a link is written again."""
    store = PickyStore()
    stage = Stage(store)
    await stage.start()
    await card(stage, Bob=["Robert"], Anna=[])
    await talk(stage)
    await stage.note("the mill", kind=MemoryKind.CONCEPT)
    before = await mentions(stage)
    assert before == {
        "Bob": lines_of(0, 2),
        "Anna": lines_of(2),
        "the mill": lines_of(0),
    }
    again = Stage(store.twin())
    await again.start()
    assert await mentions(again) == before
    await again.stop()
    await stage.stop()


async def test_a_name_that_leaves_the_card_disappears_and_comes_back_as_it_was(
    stage: Stage,
) -> None:
    """With its links; other names keep their ids, whatever their spelling becomes."""
    await talk(stage)
    await card(stage, Bob=[], Anna=[])
    before = {m.text: m.id for m in (await stage.mind()).names.concepts()}
    await card(stage, BOB=["Robert"])
    (concept,) = (await stage.mind()).names.concepts()
    assert (concept.id, concept.text, concept.origin) == (
        before["Bob"],
        "BOB",
        Origin.CARD,
    )
    assert concept.concept == ConceptDetail(aliases=("Robert",))
    assert await mentions(stage) == {"BOB": set()}
    await card(stage, Bob=[], Anna=[])
    assert {m.text: m.id for m in (await stage.mind()).names.concepts()} == before
    assert await mentions(stage) == {"Bob": lines_of(0, 2), "Anna": lines_of(2)}


async def test_the_souls_own_name_is_no_concept(stage: Stage) -> None:
    """Nor its other names; when the soul is called otherwise it is."""
    await talk(stage, ["Mira and Mi, I say.", "Mira!", "Bye."])
    await card(stage, Mira=["Mi"], Bob=["Mi"])
    assert await mentions(stage) == {"Bob": set()}
    await stage.engine.souls.put(ME, SoulId("s1"), "Bob", None, None)
    assert await mentions(stage) == {"Mira": {"Anna: Mira and Mi, I say.", "Anna: Mira!"}}


async def test_a_longer_name_takes_the_place_of_a_shorter_one(stage: Stage) -> None:
    """As long as it is known."""
    await talk(stage, ["The Mill of Bob burns.", "Bye."])
    await card(stage, Bob=[])
    long = await stage.note("mill of bob", kind=MemoryKind.CONCEPT)
    assert await mentions(stage) == {
        "Bob": set(),
        "mill of bob": {"Anna: The Mill of Bob burns."},
    }
    await stage.engine.memories.delete(ME, long.memory.id, None)
    assert await mentions(stage) == {"Bob": {"Anna: The Mill of Bob burns."}}


async def test_the_users_own_concept_stands_for_a_name_of_the_card(
    either_stage: Stage,
) -> None:
    """With the card's aliases; in the bin it does not, restored it does again."""
    stage = either_stage
    await card(stage, Bob=["Bobby"])
    await talk(stage, ["Bob!", "Robert!", "Bobby!", "Bye."])
    everybody = {"Anna: Bob!", "Anna: Robert!", "Anna: Bobby!"}
    made = await stage.note(
        "Robert", kind=MemoryKind.CONCEPT, concept=ConceptDetail(aliases=("bob",))
    )
    assert await mentions(stage) == {"Robert": everybody}
    await stage.engine.memories.delete(ME, made.memory.id, None)
    assert await mentions(stage) == {"Bob": {"Anna: Bob!", "Anna: Bobby!"}}
    await stage.engine.memories.restore(ME, made.memory.id)
    assert await mentions(stage) == {"Robert": everybody}
    await stage.engine.memories.patch(ME, made.memory.id, MemoryPatch(concept=ConceptDetail()))
    assert await mentions(stage) == {
        "Robert": {"Anna: Robert!"},
        "Bob": {"Anna: Bob!", "Anna: Bobby!"},
    }


async def test_what_is_known_in_one_timeline_leaves_the_cards_name_to_the_others(
    stage: Stage,
) -> None:
    """Both are linked."""
    await card(stage, Bob=[])
    await talk(stage)
    await stage.note("bob", kind=MemoryKind.CONCEPT, timelines=Timelines.THIS, chat="c1")
    assert await mentions(stage) == {"Bob": lines_of(0, 2), "bob": lines_of(0, 2)}


async def test_a_name_of_the_card_that_the_user_changes_is_the_users(
    stage: Stage,
) -> None:
    """It keeps its id and its links, and stays when the name leaves the card."""
    await card(stage, Bob=["Bobby"])
    await talk(stage, ["Bob!", "Sir Bob!", "Bobby!", "Bye."])
    (concept,) = (await stage.mind()).names.concepts()
    patched = await stage.engine.memories.patch(ME, concept.id, MemoryPatch(text="Sir Bob"))
    assert patched.memory.origin is Origin.USER
    assert await mentions(stage) == {"Sir Bob": {"Anna: Bob!", "Anna: Sir Bob!", "Anna: Bobby!"}}
    lines = (await mentions(stage))["Sir Bob"]
    await card(stage)
    assert await mentions(stage) == {"Sir Bob": lines}


async def test_a_name_of_the_card_in_the_bin_stays_there(stage: Stage) -> None:
    """Until it leaves the card."""
    await card(stage, Bob=[])
    await talk(stage)
    (concept,) = (await stage.mind()).names.concepts()
    await stage.engine.memories.delete(ME, concept.id, None)
    await card(stage, Bob=["Bobby"], Anna=[])
    assert await mentions(stage) == {"Anna": lines_of(2)}
    await card(stage)
    await card(stage, Bob=[])
    assert await mentions(stage) == {"Bob": lines_of(0, 2)}


async def test_what_the_user_tied_to_a_name_of_the_card_makes_it_the_users(
    stage: Stage,
) -> None:
    """When the card loses the name, the user's edge stays, and so do its links."""
    await card(stage, Bob=[], Anna=[])
    await talk(stage)
    bob = next(m.id for m in (await stage.mind()).names.concepts() if m.text == "Bob")
    await stage.note(
        "whistles",
        kind=MemoryKind.ACTION,
        edges=(NewEdge(EdgeKind.KNOWS_HABIT, source=bob),),
    )
    await card(stage)
    (concept,) = (await stage.mind()).names.concepts()
    assert (concept.id, concept.origin) == (bob, Origin.USER)
    assert await mentions(stage) == {"Bob": lines_of(0, 2)}


async def test_links_follow_the_text(stage: Stage) -> None:
    """Notes and episodes by hand, reworded, binned, restored; the user's own edge stays whatever the text."""
    await card(stage, Bob=[], Anna=[])
    note = (await stage.note("Bob: a friend")).memory
    episode = (
        await stage.note("Anna and Bob met.", kind=MemoryKind.EPISODE, importance=0.5)
    ).memory
    await stage.note("Bob acts", kind=MemoryKind.ACTION)
    assert await mentions(stage) == {
        "Bob": {note.text, episode.text},
        "Anna": {episode.text},
    }
    mind = await stage.mind()
    (edge,) = mind.edges_of(note.id)
    assert edge.origin is Origin.CARD
    assert edge.strength == pytest.approx(0.3 + 0.7 * note.importance)
    await stage.engine.memories.patch(ME, note.id, MemoryPatch(text="Anna: a friend"))
    assert await mentions(stage) == {
        "Bob": {episode.text},
        "Anna": {episode.text, "Anna: a friend"},
    }
    await stage.engine.memories.delete(ME, episode.id, None)
    assert await mentions(stage) == {"Bob": set(), "Anna": {"Anna: a friend"}}
    await stage.engine.memories.restore(ME, episode.id)
    assert (await mentions(stage))["Bob"] == {episode.text}
    bob = next(m.id for m in mind.names.concepts() if m.text == "Bob")
    hand = MemoryPatch(text="Nobody", edges=(NewEdge(EdgeKind.MENTIONS, bob, strength=0.9),))
    await stage.engine.memories.patch(ME, episode.id, hand)
    assert [(e.target, e.origin, e.strength) for e in mind.edges_of(episode.id)] == [
        (bob, Origin.USER, 0.9)
    ]


async def test_topics_are_no_names(stage: Stage) -> None:
    """Nothing mentions one; a concept that becomes one is no longer mentioned."""
    await talk(stage)
    made = await stage.note("the mill", kind=MemoryKind.CONCEPT)
    assert await mentions(stage) == {"the mill": lines_of(0)}
    topic = ConceptDetail(ConceptType.TOPIC)
    await stage.engine.memories.patch(ME, made.memory.id, MemoryPatch(concept=topic))
    assert await mentions(stage) == {"the mill": set()}


async def test_an_abstract_episode_takes_over_what_matters_little(
    either_stage: Stage,
) -> None:
    """Its instances keep their link from an importance of .6; without the abstract one they have it back."""
    stage = either_stage
    await card(stage, Bob=[])
    met = [
        (
            await stage.note(f"Bob came, {n}.", kind=MemoryKind.EPISODE, importance=0.5 + n / 10)
        ).memory
        for n in (0, 1)
    ]
    cover = await stage.note(
        "visits",
        kind=MemoryKind.ABSTRACT_EPISODE,
        edges=tuple(NewEdge(EdgeKind.INSTANCE_OF, source=m.id) for m in met),
    )
    assert await mentions(stage) == {"Bob": {"visits", met[1].text}}
    await stage.engine.memories.patch(ME, met[1].id, MemoryPatch(importance=0.1))
    assert await mentions(stage) == {"Bob": {"visits"}}
    await card(stage)
    assert await mentions(stage) == {}
    await card(stage, Bob=[])
    assert await mentions(stage) == {"Bob": {"visits"}}
    await stage.engine.memories.patch(ME, met[0].id, MemoryPatch(importance=0.9))
    await stage.engine.memories.delete(ME, met[1].id, None)
    assert await mentions(stage) == {"Bob": {met[0].text}}
    await stage.engine.memories.restore(ME, met[1].id)
    await stage.engine.memories.delete(ME, cover.memory.id, None)
    assert await mentions(stage) == {"Bob": {m.text for m in met}}
    await stage.engine.memories.restore(ME, cover.memory.id)
    one_timeline = MemoryPatch(timelines=Timelines.THIS)
    await stage.sync("c1", [line("m1")])
    chat = (await stage.engine.chats.list(ME, None))[0][0].id
    await stage.engine.memories.patch(ME, cover.memory.id, replace(one_timeline, chat=chat))
    assert await mentions(stage) == {"Bob": {m.text for m in met}}


async def test_an_episode_the_chat_no_longer_tells_is_no_longer_mentioned(
    stage: Stage,
) -> None:
    """Swiped, deleted with its chat, told again."""
    await card(stage, Bob=[])
    await talk(stage)
    chat = (await stage.engine.chats.list(ME, None))[0][0].id
    await stage.sync(
        "c1",
        [
            line("m0", "Anna came.", speaker="Anna"),
            line("m1", "Bob!", speaker="Anna"),
            line("m2"),
        ],
    )
    assert await mentions(stage) == {"Bob": {"Anna: Bob!"}}
    await stage.engine.chats.delete(ME, chat)
    assert await mentions(stage) == {"Bob": set()}
    await talk(stage)
    assert await mentions(stage) == {"Bob": lines_of(0, 2)}


async def test_settings_alone_change_no_link(stage: Stage) -> None:
    """And the names stay when none are sent."""
    await card(stage, Bob=[])
    await talk(stage)
    await stage.engine.souls.put(
        ME, SoulId("s1"), "Mira", None, SoulSettings(remember_hidden=False)
    )
    assert await mentions(stage) == {"Bob": lines_of(0, 2)}


async def test_a_mind_knows_what_a_query_names(stage: Stage) -> None:
    """In order of appearance, by any of its names."""
    await card(stage, Bob=["Robert"], Anna=[])
    mind = await stage.mind()
    ids: dict[str, MemoryId] = {m.text: m.id for m in mind.names.concepts()}
    assert mind.names.spot("where did anna hide from robert, bob?") == [
        ids["Anna"],
        ids["Bob"],
    ]


async def test_views_tell_what_is_left_of_a_link(stage: Stage) -> None:
    """As of now; one that faded away is shown neither with its memory nor in the graph."""
    await card(stage, Bob=[])
    note = (await stage.note("Bob: a friend", importance=1.0)).memory

    async def shown() -> list[float]:
        (bob,) = (await stage.mind()).names.concepts()
        note_view = await stage.engine.memories.get(ME, note.id)
        graph = await stage.engine.memories.graph(ME, SoulId("s1"), bob.id, 1, 10)
        assert list(note_view.edges) == list(graph.edges)
        assert {view.memory.id for view in graph.memories} == {
            bob.id,
            *(note.id for _ in note_view.edges),
        }
        return [edge.strength for edge in note_view.edges]

    assert await shown() == [1.0]
    stage.clock.advance(0, 300)
    assert await shown() == [pytest.approx(exp(-1))]
    stage.clock.advance(0, 700)
    assert await shown() == []

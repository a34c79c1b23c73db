"""How are memories listed, searched, drawn as a graph and laid along time?"""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from soulmem.domain.edges import EdgeKind
from soulmem.domain.errors import NotFound, Unprocessable
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.memories import Memory, MemoryKind
from soulmem.domain.situation import Situation, TimeSpan
from soulmem.engine.api.requests import MemoryFilter, NewEdge, TagMatch
from tests.engine.stage import ME, Stage, as_told, line, lines

DAY = timedelta(days=1)
START = datetime(2026, 5, 1, tzinfo=timezone.utc)


async def pages(stage: Stage, limit: int, **more: object) -> AsyncIterator[list[Memory]]:
    """All pages of a list, one after the other."""
    cursor: str | None = None
    while True:
        wanted = MemoryFilter(SoulId("s1"), limit=limit, cursor=cursor, **more)  # type: ignore[arg-type]
        page = await stage.engine.memories.list(ME, wanted)
        yield [view.memory for view in page.memories]
        cursor = page.cursor
        if cursor is None:
            return


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 8, 100])
async def test_pages_hold_everything_once(stage: Stage, limit: int) -> None:
    """Newest first, no gap and no repetition, even among memories of one moment; no empty last page."""
    for i in range(7):
        await stage.note(f"note {i}")
        stage.clock.advance(1 if i % 3 == 0 else 0)
    all_pages = [page async for page in pages(stage, limit)]
    memories = list(itertools.chain.from_iterable(all_pages))
    assert sorted(m.text for m in memories) == [f"note {i}" for i in range(7)]
    created = [m.created for m in memories]
    assert created == sorted(created, reverse=True)
    assert {len(page) for page in all_pages[:-1]} <= {limit}
    assert all_pages[-1]


async def test_paging_goes_on_while_the_list_changes(stage: Stage) -> None:
    """What was there from beginning to end comes exactly once, though others come and go meanwhile."""
    for i in range(6):
        await stage.note(f"note {i}")
        stage.clock.advance(1)
    seen = []
    async for page in pages(stage, 2):
        seen += [m.text for m in page]
        await stage.note(f"late {len(seen)}")
        await stage.engine.memories.delete(ME, page[0].id, None)
    assert [text for text in seen if text.startswith("note")] == [
        f"note {i}" for i in range(5, -1, -1)
    ]


@pytest.mark.parametrize("cursor", ["", "x", "0_1", "9_1_m1", "0_1_m1;", "0_1_" + "m" * 65])
async def test_a_made_up_cursor_is_refused(stage: Stage, cursor: str) -> None:
    """With its field."""
    with pytest.raises(Unprocessable) as refused:
        await stage.engine.memories.list(ME, MemoryFilter(SoulId("s1"), cursor=cursor))
    assert refused.value.field == "cursor"


async def listed_texts(stage: Stage, **more: object) -> list[str]:
    """Texts in the order they are listed."""
    texts: list[str] = []
    async for page in pages(stage, 100, **more):
        texts += (memory.text for memory in page)
    return texts


async def test_search_climbs_down_the_ladder(stage: Stage) -> None:
    """Tag exact, tag partial, text exact, text partial; nothing else."""
    await stage.note("partial words: a bridge over the river")
    await stage.note("the phrase river bridge stands here")
    await stage.note("tag partly", tags=("Old River Bridge",))
    await stage.note("tag exactly", tags=("river bridge",))
    await stage.note("nothing of it", tags=("sea",))
    expected = [
        "tag exactly",
        "tag partly",
        "the phrase river bridge stands here",
        "partial words: a bridge over the river",
    ]
    assert await listed_texts(stage, q="River Bridge") == expected
    assert await listed_texts(stage, q="River Bridge", match=TagMatch.EXACT) == [
        expected[0],
        expected[2],
    ]


async def test_a_longer_tag_does_not_hide_a_text_that_has_the_words(
    stage: Stage,
) -> None:
    await stage.note("powdered willow bark cures", tags=("powdered willow bark",))
    found = await listed_texts(stage, q="willow bark", match=TagMatch.EXACT)
    assert found == ["powdered willow bark cures"]


async def test_tags_filter(stage: Stage) -> None:
    """Exactly or in part, in any case; together with a search both must hold."""
    await stage.note("one", tags=("Rain",))
    await stage.note("two", tags=("rainbow",))
    await stage.note("three", tags=("sun",))
    assert await listed_texts(stage, tag="rain") == ["one", "two"]
    assert await listed_texts(stage, tag="rain", match=TagMatch.EXACT) == ["one"]
    assert await listed_texts(stage, tag="rain", q="two") == ["two"]


async def test_kind_and_permanence_filter(stage: Stage) -> None:
    """Each by itself."""
    await stage.note("core", permanent=True)
    await stage.note("thing", kind=MemoryKind.CONCEPT)
    assert await listed_texts(stage, permanent=True) == ["core"]
    assert await listed_texts(stage, permanent=False) == ["thing"]
    assert await listed_texts(stage, kind=MemoryKind.CONCEPT) == ["thing"]


async def test_chinese_is_searched_by_words(stage: Stage) -> None:
    """A phrase, and words that stand apart."""
    await stage.note("她把钥匙藏在老桥下面")
    assert await listed_texts(stage, q="钥匙") == ["她把钥匙藏在老桥下面"]
    assert await listed_texts(stage, q="老桥的钥匙") == ["她把钥匙藏在老桥下面"]
    assert await listed_texts(stage, q="雨伞") == []


SPANS = {
    "monday": TimeSpan(START, START),
    "week": TimeSpan(START + DAY / 24, START + 7 * DAY),
    "since wednesday": TimeSpan(START + 2 * DAY, None),
    "until friday": TimeSpan(None, START + 4 * DAY),
}


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        (None, None, ["monday", "week", "since wednesday", "until friday"]),
        (START, START + DAY, ["monday", "week"]),
        (START + 1 * DAY, START + 2 * DAY, ["week"]),
        (START + 2 * DAY, START + 3 * DAY, ["week", "since wednesday"]),
        (START + 7 * DAY, None, ["week"]),
        (START + 8 * DAY, None, []),
        (None, START, []),
        (START, START, []),
    ],
)
async def test_the_timeline_holds_what_overlaps(
    stage: Stage, first: datetime | None, last: datetime | None, expected: list[str]
) -> None:
    """`from` inclusive, `to` exclusive, oldest first."""
    for name, span in SPANS.items():
        await stage.note(name, kind=MemoryKind.EPISODE, situation=Situation(time_span=span))
    page = await stage.engine.memories.timeline(ME, SoulId("s1"), first, last, 100, None)
    assert [view.memory.text for view in page.memories] == expected


async def test_the_timeline_pages_without_gaps(stage: Stage) -> None:
    """Two at a time, episodes of chats and memories by hand alike."""
    await stage.sync("c1", lines(4))
    await stage.note("by hand")
    seen: list[str] = []
    cursor: str | None = None
    for _ in range(5):
        page = await stage.engine.memories.timeline(ME, SoulId("s1"), None, None, 2, cursor)
        seen += [view.memory.text for view in page.memories]
        cursor = page.cursor
        if cursor is None:
            break
    assert sorted(seen) == sorted([*as_told(lines(3)), "by hand"])
    assert len(seen) == 4


async def star_of_notes(stage: Stage) -> dict[str, MemoryId]:
    """a - b - c - d in a row, and ten leaves at b."""
    ids: dict[str, MemoryId] = {}
    for name, to in {
        "a": None,
        "b": "a",
        "c": "b",
        "d": "c",
        **{f"leaf {i}": "b" for i in range(10)},
    }.items():
        edges = (NewEdge(EdgeKind.ASSOCIATES, ids[to]),) if to else ()
        ids[name] = (await stage.note(name, edges=edges)).memory.id
    return ids


@pytest.mark.parametrize(
    ("center", "hops", "expected"),
    [
        ("a", 0, {"a"}),
        ("a", 1, {"a", "b"}),
        ("d", 2, {"d", "c", "b"}),
        ("a", 2, {"a", "b", "c", *(f"leaf {i}" for i in range(10))}),
    ],
)
async def test_the_graph_around_a_memory(
    stage: Stage, center: str, hops: int, expected: set[str]
) -> None:
    """Everything within so many hops, whichever way the edges run, and the edges among them."""
    ids = await star_of_notes(stage)
    view = await stage.engine.memories.graph(ME, SoulId("s1"), ids[center], hops, 100)
    assert {v.memory.text for v in view.memories} == expected
    shown = {v.memory.id for v in view.memories}
    assert len(view.edges) == len(expected) - 1
    assert all(e.source in shown and e.target in shown for e in view.edges)


@pytest.mark.parametrize("limit", [1, 2, 5, 13])
async def test_the_graph_keeps_to_its_limit(stage: Stage, limit: int) -> None:
    """As many as asked for, and all of them hang together."""
    ids = await star_of_notes(stage)
    view = await stage.engine.memories.graph(ME, SoulId("s1"), ids["a"], 3, limit)
    assert len(view.memories) == limit
    assert len(view.edges) == limit - 1


async def test_many_ways_to_a_memory_take_one_place(stage: Stage) -> None:
    """A neighbour reached over eight edges counts once within the limit, and nothing farther comes first."""
    center = (await stage.note("center", kind=MemoryKind.CONCEPT)).memory.id
    ties = tuple(NewEdge(EdgeKind.RELATES, center, verb=f"verb {i}") for i in range(8))
    for name in ("near", "beside"):
        near = await stage.note(name, kind=MemoryKind.CONCEPT, edges=ties)
        await stage.note(f"far from {name}", edges=(NewEdge(EdgeKind.ASSOCIATES, near.memory.id),))
    view = await stage.engine.memories.graph(ME, SoulId("s1"), center, 2, 3)
    assert {v.memory.text for v in view.memories} == {"center", "near", "beside"}


async def test_of_many_neighbours_the_strongest_are_drawn(stage: Stage) -> None:
    """Whatever number of edges each has; of those that are equally strong always the same."""
    center = (await stage.note("center", kind=MemoryKind.CONCEPT)).memory.id
    for number in range(12):
        strength = (0.9, 0.5, 0.3)[number % 3]
        ties = [
            NewEdge(EdgeKind.RELATES, center, strength=s, verb=f"verb {s}")
            for s in (strength, 0.25)
        ]
        name = f"{strength} {number}"
        await stage.note(name, kind=MemoryKind.CONCEPT, edges=tuple(ties))
    for limit, wanted in ((5, ["0.9"] * 4), (9, ["0.5"] * 4 + ["0.9"] * 4)):
        views = [
            await stage.engine.memories.graph(ME, SoulId("s1"), center, 1, limit) for _ in range(2)
        ]
        texts = [sorted(v.memory.text for v in view.memories) for view in views]
        assert texts[0] == texts[1]
        assert [text.split()[0] for text in texts[0][:-1]] == wanted
    few = await stage.engine.memories.graph(ME, SoulId("s1"), center, 1, 3)
    assert {v.memory.text[:3] for v in few.memories} == {"cen", "0.9"}


async def test_somebody_of_many_scenes_is_shown_with_others(stage: Stage) -> None:
    """Of too many neighbours some leave their place to what lies behind them, the most linked first."""
    names = {
        name: await stage.note(name, kind=MemoryKind.CONCEPT)
        for name in ("Kaelith", "Brindle", "Osric")
    }
    for n in range(20):
        others = ["Brindle"] if n % 2 else ["Brindle", "Osric"] if n == 0 else []
        who = " and ".join(["Kaelith", *others])
        await stage.note(f"{who} on day {n}.", kind=MemoryKind.EPISODE)
    center = names["Kaelith"].memory.id
    view = await stage.engine.memories.graph(ME, SoulId("s1"), center, 2, 12)
    texts = {v.memory.text for v in view.memories}
    assert len(texts) == 12
    assert {"Kaelith", "Brindle"} <= texts
    assert len(texts - names.keys()) >= 9
    near = await stage.engine.memories.graph(ME, SoulId("s1"), center, 1, 12)
    assert len({v.memory.text for v in near.memories} - names.keys()) == 11


async def test_the_whole_graph_is_the_newest_memories(stage: Stage) -> None:
    """Without a center; what is in the bin is not drawn, an unknown center is not found."""
    ids = await star_of_notes(stage)
    stage.clock.advance(60)
    newest = await stage.note("newest")
    await stage.engine.memories.delete(ME, ids["leaf 9"], None)
    view = await stage.engine.memories.graph(ME, SoulId("s1"), None, 1, 100)
    assert view.memories[0].memory.id == newest.memory.id
    assert {v.memory.text for v in view.memories} == {*ids, "newest"} - {"leaf 9"}
    with pytest.raises(NotFound):
        await stage.engine.memories.graph(ME, SoulId("s1"), MemoryId("nobody"), 1, 10)


async def test_a_chat_is_a_chain(stage: Stage) -> None:
    """`next` edges join each episode with the one after it, across messages that are no memories."""
    talk = lines(5)
    await stage.sync("c1", talk)
    await stage.sync("c1", [*talk[:2], *talk[3:]])
    view = await stage.engine.memories.graph(ME, SoulId("s1"), None, 1, 100)
    text = {v.memory.id: v.memory.text for v in view.memories}
    chain = sorted((text[e.source], text[e.target]) for e in view.edges if e.kind is EdgeKind.NEXT)
    texts = [f"{m.speaker}: {m.text}" for m in (talk[0], talk[1], talk[3])]
    assert chain == sorted(itertools.pairwise(texts))


async def test_a_message_carries_its_names_and_its_topic_as_tags(stage: Stage) -> None:
    await stage.soul()
    said = "My telescope broke when Katharina dropped the telescope."
    messages = [line("m1", said), line("m2", "Oh no."), line("m3")]
    await stage.sync("c1", messages)
    for tag in ("telescope", "katharina"):
        assert await listed_texts(stage, tag=tag, match=TagMatch.EXACT) == [f"Al: {said}"]
    assert await listed_texts(stage, tag="oh", match=TagMatch.EXACT) == []

    await stage.sync("c1", [line("m1", "It rains."), *messages[1:]])
    assert await listed_texts(stage, tag="telescope", match=TagMatch.EXACT) == []


async def test_a_graph_holds_what_is_asked_for_as_well(stage: Stage) -> None:
    far, other = await stage.note("far"), await stage.note("other")
    center = await stage.note("center")
    for n in range(5):
        edges = (NewEdge(EdgeKind.ASSOCIATES, to=center.memory.id, strength=0.9),)
        await stage.note(f"near {n}", edges=edges)
    await stage.engine.memories.delete(ME, other.memory.id, None)
    also = [far.memory.id, other.memory.id, MemoryId("nobody")]
    for around in (center.memory.id, None):
        view = await stage.engine.memories.graph(ME, SoulId("s1"), around, 2, 4, also)
        texts = [each.memory.text for each in view.memories]
        assert len(texts) == 4
        assert "far" in texts
        assert "other" not in texts


async def test_a_search_gives_each_match_once_page_by_page(stage: Stage) -> None:
    """What a recall ranks comes first, then what only has a word; however long the pages are."""
    for number in range(9):
        await stage.note(f"The brass key number {number} hangs here.")
        await stage.note(f"Somebody is keyless, {number}.")
    wanted = MemoryFilter(SoulId("s1"), q="brass key", match=TagMatch.MEANING)

    async def found(limit: int) -> list[str]:
        out: list[str] = []
        cursor: str | None = None
        while not out or cursor is not None:
            asked = replace(wanted, limit=limit, cursor=cursor)
            page = await stage.engine.memories.list(ME, asked)
            out += [view.memory.text for view in page.memories]
            cursor = page.cursor
        return out

    whole = await found(1000)
    assert len(whole) == len(set(whole)) >= 9
    assert all("brass" in text for text in whole[:9])
    for limit in (1, 4, 9):
        assert await found(limit) == whole

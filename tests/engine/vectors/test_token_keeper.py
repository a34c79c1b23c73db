"""Which texts have token states, in which context they were read, and when they go."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from itertools import chain, pairwise
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest

from soulmem.adapters.token_files import TokenFolder
from soulmem.domain.errors import StoreFull
from soulmem.domain.ids import ChatId, SoulId
from soulmem.engine.mind.mind import Mind
from soulmem.engine.mind.token_table import TokenTable
from soulmem.engine.vectors.embedder import ModelSource
from soulmem.kernels.token_codes import pack
from soulmem.language.world_lines import world_scenes
from soulmem.ports.embedder import TextInContext, TokenStates
from tests.engine.stage import ME, Stage, line
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.token_store import FakeTokenStore

TALK = [
    line("m1", "The silver key lies under the bridge."),
    line("m2", "I bake bread every morning."),
    line("m3", "Whales sing at night."),
    line("m4", "Good night."),
]


WORLD = frozenset(chain.from_iterable(world_scenes("")))


class Counted(FakeEmbedder):
    """Counts the texts that it reads, in and out of a context, but for lines of the world background."""

    def __init__(self, name: str = "fake") -> None:
        super().__init__(name)
        self.contents: list[TextInContext] = []

    def embed_tokens(self, texts: Any) -> list[TokenStates]:
        if WORLD.isdisjoint(content.text for content in texts):
            self.contents.extend(texts)
        return super().embed_tokens(texts)

    @property
    def read(self) -> list[str]:
        """The texts of a soul and of queries that were read."""
        lines = (text.rsplit("\n", 1)[-1] for text in self.asked)
        return [text for text, line in zip(self.asked, lines, strict=True) if line not in WORLD]


Open = Callable[..., Any]


@pytest.fixture
async def open_stage() -> AsyncIterator[Open]:
    """Opens stages with one soul, and closes them when the test ends."""
    stages: list[Stage] = []

    async def open_stage(embedder: FakeEmbedder, **more: Any) -> Stage:
        stage = Stage(model=embedder.source(), **more)
        stages.append(stage)
        await stage.start()
        await stage.soul()
        return stage

    yield open_stage
    for stage in stages:
        await stage.stop()


async def settled(stage: Stage) -> TokenTable:
    """The table of the soul, when nothing is pending any more."""
    mind = await stage.mind()
    await stage.engine.embedding.wait_pending()
    table = mind.vector_queue.tokens
    assert table is not None
    return table


def kept(mind: Mind, chat: str, text: str) -> bytes:
    """The codes that are kept of a memory as the chat tells it; empty for none."""
    row = next(r for k, r in mind.frame().rows if mind.text_of(k).endswith(text))
    table = mind.vector_queue.tokens
    assert table is not None
    pairs = mind.neighbours(ChatId(chat)).pair_in
    rows = np.array([row])
    return table.read(rows, pairs[rows].astype(np.int64)).codes.tobytes()


def made(mind: Mind, text: str, context: str = "") -> bytes:
    """The codes that the fake gives, about the center of the mind's file."""
    (states,) = FakeEmbedder().embed_tokens([TextInContext(text, context)])
    table = mind.vector_queue.tokens
    assert table is not None
    assert table.file.center is not None
    return pack([states.states], [states.pieces], table.file.center).codes.tobytes()


def recount(mind: Mind) -> Counter[int]:
    """In how many memories each piece occurs, by their texts."""
    fake, pieces = FakeEmbedder(), Counter[int]()
    keys = mind.vector_queue.keys()
    for key in keys:
        if isinstance(key, str):
            (states,) = fake.embed_tokens([TextInContext(mind.text_of(key))])
            pieces.update(set(states.pieces.tolist()))
    return pieces


def counted(table: TokenTable) -> Counter[int]:
    """In how many memories each piece occurs, by the table."""
    return Counter({int(p): int(table._frequency[p]) for p in table._frequency.nonzero()[0]})


async def test_a_message_is_read_after_the_one_before_it(open_stage: Open) -> None:
    stage = await open_stage(FakeEmbedder(), tokens=FakeTokenStore())
    await stage.sync("c1", TALK)
    await stage.close("c1")
    await settled(stage)
    mind = await stage.mind()
    texts = [mind.text_of(key) for key in mind.branches.branch(ChatId("c1")).order]
    assert kept(mind, "c1", texts[0]) == made(mind, texts[0])
    for before, text in pairwise(texts):
        assert kept(mind, "c1", text) == made(mind, text, before)


async def test_a_message_costs_as_many_passes_as_without_token_states(
    open_stage: Open,
) -> None:
    passes = []
    for tokens in (None, FakeTokenStore()):
        embedder = Counted()
        stage = await open_stage(embedder, tokens=tokens)
        await stage.sync("c1", TALK)
        await stage.close("c1")
        await stage.engine.embedding.wait_pending()
        passes.append(len(embedder.read))
        assert bool(embedder.contents) is (tokens is not None)
    assert passes[1] <= passes[0]


async def test_a_query_with_the_last_message_costs_no_pass(open_stage: Open) -> None:
    embedder = Counted()
    stage = await open_stage(embedder, tokens=FakeTokenStore())
    await stage.sync("c1", TALK)
    await stage.close("c1")
    await settled(stage)
    mind, embedding = await stage.mind(), stage.engine.embedding
    last = mind.text_of(mind.branches.branch(ChatId("c1")).order[-1])
    before = len(embedder.asked)
    vectors = await embedding.embed_query([last])
    states = await embedding.query_states([last])
    assert len(embedder.asked) == before
    assert np.array_equal(states[0].pooled, vectors[0])
    assert await embedding.embed_query(["a new line"]) is not None
    assert await embedding.query_states(["a new line"]) is not None
    assert len(embedder.asked) == before + 1


async def test_branches_read_a_message_each_after_its_own(open_stage: Open) -> None:
    stage = await open_stage(FakeEmbedder(), tokens=FakeTokenStore())
    await stage.sync("c1", TALK)
    await stage.close("c1")
    other = [TALK[0], line("m9", "I sleep all morning."), TALK[2]]
    await stage.sync("c2", other, parent=("c1", "m1"))
    await stage.close("c2")
    await settled(stage)
    mind = await stage.mind()
    whales, bread, sleep = (
        next(t for k, _ in mind.frame().rows if end in (t := mind.text_of(k)))
        for end in ("Whales", "bread", "sleep")
    )
    assert kept(mind, "c1", whales) == made(mind, whales, bread)
    assert kept(mind, "c2", whales) == made(mind, whales, sleep)


async def test_states_of_old_texts_are_made_in_the_background(open_stage: Open) -> None:
    stage = await open_stage(FakeEmbedder())
    await stage.sync("c1", TALK)
    await stage.close("c1")
    await stage.engine.embedding.wait_pending()
    assert (await stage.mind()).vector_queue.tokens is None
    embedder = Counted()
    stage.model, stage.tokens = embedder.source(), FakeTokenStore()
    await stage.restart()
    table = await settled(stage)
    assert len(table.file) == len(TALK)
    assert len(embedder.read) == len(TALK)
    assert embedder.contents[0].text.endswith("Good night.")
    assert counted(table) == recount(await stage.mind())


async def test_the_center_of_a_file_is_that_of_plain_lines(open_stage: Open) -> None:
    """It says nothing of the soul, and is made once for all souls."""
    embedder, tokens = Counted(), FakeTokenStore()
    stage = await open_stage(embedder, tokens=tokens)
    for soul in ("s1", "s2"):
        if soul != "s1":
            await stage.soul(soul)
        await stage.sync(f"c-{soul}", TALK, souls=(soul,))
        await stage.close(f"c-{soul}")
        await stage.engine.embedding.wait_pending()
    centers = [tokens.files[ME, SoulId(soul)].center for soul in ("s1", "s2")]
    assert centers[0] is not None
    assert centers[1] is not None
    assert np.array_equal(centers[0], centers[1])
    fake, lines = FakeEmbedder(), sorted(WORLD)[::40]
    plain = [s.states for s in fake.embed_tokens([TextInContext(t) for t in lines])]
    said = [TextInContext(sent.text or "") for sent in TALK]
    own = [states.states for states in fake.embed_tokens(said)]
    nearest = [
        np.linalg.norm(centers[0] - np.concatenate(states).mean(axis=0)) for states in (plain, own)
    ]
    assert nearest[0] < nearest[1]


async def test_nothing_is_made_again_after_a_restart(open_stage: Open, tmp_path: Path) -> None:
    stage = await open_stage(FakeEmbedder(), tokens=TokenFolder(tmp_path))
    await stage.sync("c1", TALK)
    await stage.close("c1")
    table = await settled(stage)
    before = counted(table)
    embedder = Counted()
    stage.model = embedder.source()
    await stage.restart()
    table = await settled(stage)
    assert embedder.asked == []
    assert counted(table) == before == recount(await stage.mind())


async def test_a_reworded_message_has_the_states_of_its_new_text(
    open_stage: Open,
) -> None:
    stage = await open_stage(FakeEmbedder(), tokens=FakeTokenStore())
    await stage.sync("c1", TALK)
    await stage.close("c1")
    await settled(stage)
    reworded = [TALK[0], line("m2", "I bake pies every evening."), *TALK[2:]]
    await stage.sync("c1", reworded)
    table = await settled(stage)
    mind = await stage.mind()
    texts = [mind.text_of(key) for key in mind.branches.branch(ChatId("c1")).order]
    assert kept(mind, "c1", texts[1]) == made(mind, texts[1], texts[0])
    assert kept(mind, "c1", texts[2]) == made(mind, texts[2], texts[1])
    assert counted(table) == recount(mind)
    await stage.engine.embedding.tokens.tidy(mind)
    assert len(table.file) == len(TALK)
    assert counted(table) == recount(mind)


async def test_a_purge_removes_the_states_at_once(open_stage: Open) -> None:
    stage = await open_stage(FakeEmbedder(), tokens=FakeTokenStore())
    await stage.sync("c1", TALK)
    await stage.close("c1")
    note = (await stage.note("The otter stole my heron.")).memory
    table = await settled(stage)
    assert len(table.file) == len(TALK) + 1
    await stage.engine.memories.delete(ME, note.id, None)
    await stage.engine.jobs.ask(ME, "purge", SoulId("s1"), {"confirm": "purge"})
    await asyncio.gather(*stage.engine.jobs._tasks)
    assert len(table.file) == len(TALK)
    assert counted(table) == recount(await stage.mind())


async def test_the_wanted_model_reads_each_text_once_before_it_takes_over() -> None:
    small, wanted = FakeEmbedder("small"), Counted("wanted")
    small.token_width = 0
    loading = Event()
    source = ModelSource("wanted", lambda: False, lambda: (loading.wait(5), wanted)[1])
    tokens = FakeTokenStore()
    stage = Stage(model=source, fallback=small.source(), tokens=tokens)
    await stage.start()
    await stage.soul()
    await stage.sync("c1", TALK)
    await stage.close("c1")
    await stage.engine.embedding.wait_pending()
    mind = await stage.mind()
    assert mind.vector_queue.tokens is None
    assert not tokens.files
    loading.set()
    for _ in range(500):
        if await stage.engine.embedding.switch_model():
            break
        await asyncio.sleep(0.01)
    table = await settled(stage)
    assert len(table.file) == len(TALK)
    assert len(wanted.read) == len(set(wanted.read)) == 2 * len(TALK) - 1
    await stage.stop()


async def test_random_lives_count_pieces_as_a_recount_does(open_stage: Open) -> None:
    stage = await open_stage(FakeEmbedder(), tokens=FakeTokenStore())
    rng = np.random.default_rng(3)
    words = [
        "river",
        "bridge",
        "key",
        "lantern",
        "otter",
        "heron",
        "bread",
        "night",
        "morning",
        "whale",
    ]

    def said() -> str:
        return " ".join(rng.choice(words, 4))

    chats = {chat: [line(f"{chat}-{n}", said()) for n in range(6)] for chat in ("a", "b")}
    for _ in range(25):
        chat = str(rng.choice(list(chats)))
        talk, place = chats[chat], int(rng.integers(0, len(chats[chat])))
        step = rng.integers(0, 3)
        if step == 0 and len(talk) > 3:
            del talk[place]
        elif step == 1:
            talk[place] = line(f"{chat}-{rng.integers(10**6)}", said())
        else:
            talk.append(line(f"{chat}-{rng.integers(10**6)}", said()))
        await stage.sync(chat, talk, confirm=True)
        await stage.close(chat)
        table = await settled(stage)
        mind = await stage.mind()
        if rng.random() < 0.3:
            await stage.engine.embedding.tokens.tidy(mind)
        assert counted(table) == recount(mind)
        keys = mind.vector_queue.keys()
        assert table.count == sum(isinstance(key, str) for key in keys)
        order = mind.branches.branch(ChatId(chat)).order
        texts = [mind.text_of(key) for key in order]
        for before, text in pairwise(texts):
            if texts.count(text) == 1:
                assert kept(mind, chat, text) == made(mind, text, before)


async def test_idf_falls_with_the_memories_that_have_a_word(open_stage: Open) -> None:
    stage = await open_stage(FakeEmbedder(), tokens=FakeTokenStore())
    common = [line(f"m{n}", f"the morning number{n}") for n in range(40)]
    await stage.sync("c1", [*common, line("m99", "the whale sings")])
    await stage.close("c1")
    table = await settled(stage)
    (states,) = FakeEmbedder().embed_tokens([TextInContext("the whale unheard")])
    the, whale, unheard = table.idf(states.pieces).tolist()
    assert the == pytest.approx(0.3)
    assert whale == pytest.approx(np.log(42 / 1.5), rel=1e-5)
    assert unheard == pytest.approx(np.log(42 / 0.5), rel=1e-5)


async def test_a_deleted_soul_takes_its_file_along(open_stage: Open) -> None:
    tokens = FakeTokenStore()
    stage = await open_stage(FakeEmbedder(), tokens=tokens)
    await stage.sync("c1", TALK)
    await stage.close("c1")
    await settled(stage)
    assert (ME, SoulId("s1")) in tokens.files
    await stage.engine.souls.delete(ME, SoulId("s1"), "Mira")
    assert (ME, SoulId("s1")) not in tokens.files
    await stage.soul()
    table = await settled(stage)
    assert len(table.file) == len(TALK)


async def test_a_full_disk_is_said_and_vectors_go_on(open_stage: Open) -> None:
    tokens = FakeTokenStore()
    stage = await open_stage(FakeEmbedder(), tokens=tokens)
    await settled(stage)
    tokens.files[ME, SoulId("s1")].failure = StoreFull("the disk has no room")
    await stage.sync("c1", TALK)
    await stage.close("c1")
    await stage.engine.embedding.wait_pending()
    mind = await stage.mind()
    assert mind.vector_queue.tokens is None
    assert mind.vector_queue.pending_keys() == []
    assert "the disk has no room" in stage.engine.embedding.notes()
    assert await stage.engine.embedding.query_states(["a"]) is None
    assert await stage.engine.embedding.embed_query(["a"]) is not None

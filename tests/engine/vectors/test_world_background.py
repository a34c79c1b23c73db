"""The world background: made in pieces, read back, and how it matches the tokens of a query."""

from __future__ import annotations

from itertools import chain
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from soulmem.adapters.token_files import TokenFolder
from soulmem.engine.vectors.world_background import (
    Usual,
    WorldBackground,
    WorldBackgrounds,
)
from soulmem.kernels.token_codes import pack
from soulmem.language.world_lines import world_scenes
from soulmem.ports.embedder import EmbedderError, TextInContext, TokenStates
from soulmem.ports.token_store import TokenStore
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.token_store import FakeTokenStore

LINES = sum(map(len, world_scenes("en")))


class Counted(FakeEmbedder):
    """Collects the lines that it reads."""

    def __init__(self, name: str = "fake") -> None:
        super().__init__(name)
        self.contents: list[TextInContext] = []

    def embed_tokens(self, texts: Any) -> list[TokenStates]:
        self.contents.extend(texts)
        return super().embed_tokens(texts)


def states_of(text: str) -> TokenStates:
    (states,) = FakeEmbedder().embed_tokens([TextInContext(text)])
    return states


def completed(store: TokenStore, embedder: FakeEmbedder) -> WorldBackgrounds:
    """Backgrounds of which the English one is complete."""
    worlds = WorldBackgrounds(store)
    while not worlds.prepare(embedder, "en", LINES):
        pass
    return worlds


def usual_of(worlds: WorldBackgrounds, text: str = "the silver key") -> Usual:
    background = worlds.background("fake/1", "en")
    assert background is not None
    return background.usual(states_of(text))


def test_lines_are_made_in_pieces_and_the_background_is_there_with_the_last() -> None:
    worlds, embedder = WorldBackgrounds(FakeTokenStore()), Counted()
    for made in (100, 200, 300, LINES):
        assert not worlds.prepare(embedder, "en", 100)
        assert len(embedder.contents) == made
        assert worlds.background(embedder.model, "en") is None
    assert worlds.prepare(embedder, "en", 100)
    assert worlds.background(embedder.model, "en") is not None
    assert len(embedder.contents) == len(set(embedder.contents)) == LINES


def test_without_one_line_it_is_not_complete() -> None:
    worlds, embedder = WorldBackgrounds(FakeTokenStore()), Counted()
    worlds.prepare(embedder, "en", LINES - 1)
    assert not worlds.prepare(embedder, "en", 0)
    assert worlds.background(embedder.model, "en") is None
    assert len(embedder.contents) == LINES - 1


def test_a_line_is_read_after_the_one_before_it_in_its_scene() -> None:
    embedder = Counted()
    completed(FakeTokenStore(), embedder)
    first, second = world_scenes("en")[0][:2]
    following = world_scenes("en")[1][0]
    assert TextInContext(first) in embedder.contents
    assert TextInContext(second, first) in embedder.contents
    assert TextInContext(following) in embedder.contents


def test_after_a_restart_nothing_is_made_again(tmp_path: Path) -> None:
    worlds = completed(TokenFolder(tmp_path), FakeEmbedder())
    before = usual_of(worlds)
    worlds.close()
    embedder, again = Counted(), WorldBackgrounds(TokenFolder(tmp_path))
    assert again.prepare(embedder, "en", 0)
    assert embedder.contents == []
    assert_allclose(usual_of(again).match, before.match)
    assert_allclose(usual_of(again).rarity, before.rarity)


def test_what_was_made_before_a_stop_is_kept(tmp_path: Path) -> None:
    worlds = WorldBackgrounds(TokenFolder(tmp_path))
    worlds.prepare(FakeEmbedder(), "en", LINES - 5)
    worlds.close()
    embedder, again = Counted(), WorldBackgrounds(TokenFolder(tmp_path))
    assert not again.prepare(embedder, "en", LINES)
    assert len(embedder.contents) == 5
    assert again.prepare(embedder, "en", 0)
    again.close()


def test_a_damaged_line_is_made_again(tmp_path: Path) -> None:
    worlds = WorldBackgrounds(TokenFolder(tmp_path))
    worlds.prepare(FakeEmbedder(), "en", LINES)
    worlds.close()
    path = max(
        (path for path in tmp_path.rglob("*") if path.is_file()),
        key=lambda path: path.stat().st_size,
    )
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)
    embedder, again = Counted(), WorldBackgrounds(TokenFolder(tmp_path))
    answers = [again.prepare(embedder, "en", LINES) for _ in range(3)]
    assert answers == [False, False, True]
    assert len(embedder.contents) == 1
    again.close()


def test_each_model_has_its_own_states() -> None:
    store, other = FakeTokenStore(), Counted("other")
    worlds = completed(store, FakeEmbedder())
    assert not worlds.prepare(other, "en", 0)
    assert worlds.background(other.model, "en") is None
    while not worlds.prepare(other, "en", LINES):
        pass
    assert len(other.contents) == LINES
    assert worlds.background(other.model, "en") is not None
    assert worlds.background("fake/1", "en") is None


def test_a_text_of_another_script_is_judged_against_the_lines_of_all() -> None:
    worlds, embedder = WorldBackgrounds(FakeTokenStore()), Counted()
    while not worlds.prepare(embedder, "", 2000):
        pass
    assert {content.text for content in embedder.contents} == set(
        chain.from_iterable(world_scenes(""))
    )


def background_of(lines: list[tuple[list[float], list[int]]]) -> WorldBackground:
    """A background of lines of one token direction (4 dimensions), each with its pieces."""
    states = [np.asarray([line] * len(p), np.float32) for line, p in lines]
    packed = pack(states, [np.asarray(p, np.int32) for _, p in lines])
    return WorldBackground(packed)


def query_of(*pieces: int) -> TokenStates:
    state: NDArray[np.float32] = np.asarray([[1, 0, 0, 0]] * len(pieces), np.float32)
    begins = np.arange(len(pieces)) == 0
    return TokenStates(state[0], state, np.asarray(pieces, np.int32), begins)


def test_the_few_lines_that_say_the_very_same_are_left_out() -> None:
    """One of a hundred does, one is near, all others are about something else."""
    lines = [([1.0, 0, 0, 0], [1]), ([0.6, 0.8, 0, 0], [1])]
    lines += [([0, 0, 0, 1.0], [1])] * 98
    match = background_of(lines).usual(query_of(1)).match
    assert_allclose(match, [0.6], atol=0.05)


def test_rarity_is_the_inverse_frequency_among_lines() -> None:
    """A piece that a line has twice counts once; very common and unheard ones have limits."""
    lines = [([0, 0, 0, 1.0], [1, 5, 5])] * 50 + [([0, 0, 0, 1.0], [1])] * 50
    rarity = background_of(lines).usual(query_of(5, 9, 1)).rarity
    assert_allclose(rarity, [log(101 / 50.5), log(101 / 0.5), 0.3], rtol=1e-5)


def test_a_common_word_matches_the_lines_and_a_rare_one_does_not() -> None:
    usual = usual_of(completed(FakeTokenStore(), FakeEmbedder()), "the mandolin")
    assert usual.match[0] > 0.9 > 0.7 > usual.match[1]
    assert usual.rarity[0] < 1.5 < usual.rarity[1]


def test_the_model_may_fail_between_two_pieces() -> None:
    worlds, embedder = WorldBackgrounds(FakeTokenStore()), Counted()
    worlds.prepare(embedder, "en", 100)
    embedder.fails = True
    with pytest.raises(EmbedderError, match="fake has failed"):
        worlds.prepare(embedder, "en", 100)
    embedder.fails = False
    embedder.contents.clear()
    while not worlds.prepare(embedder, "en", 100):
        pass
    assert len(embedder.contents) == LINES - 100

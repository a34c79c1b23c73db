"""The text score: effect of each part, groups, and missing parts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from soulmem.kernels.arrays import Float32s
from soulmem.kernels.interpreted import interpreted
from soulmem.kernels.warm import kernels
from soulmem.retrieval import fusion
from soulmem.retrieval.fusion import FusionParams, TextEvidence, fuse, standardised
from tests.retrieval.oracles import fused_score, own_score, standardise

pytestmark = pytest.mark.timeout(300)  # the first test waits for the compiler
ALONE = FusionParams(neighbour=0.0)


def score_of(evidence: TextEvidence, params: FusionParams | None = None) -> Float32s:
    return fuse(evidence, params).score


def standardised_all(values: Float32s, among: NDArray[np.bool_]) -> Float32s:
    return standardised(values, among, np.arange(values.size))


def floats(*values: float) -> Float32s:
    return np.asarray(values, np.float32)


def chain(n: int, **parts: Float32s) -> TextEvidence:
    """n memories told one after the other, nothing known of them but `parts`."""
    nothing = np.full(n, np.nan, np.float32)
    rows = np.arange(n, dtype=np.int32)
    plain = TextEvidence(
        alone=nothing,
        pair_before=nothing,
        pair_after=nothing,
        lexical=np.zeros(n, np.float32),
        before=rows - 1,
        after=np.where(rows < n - 1, rows + 1, np.int32(-1)),
        visible=np.ones(n, np.bool_),
    )
    return replace(plain, **parts)  # type: ignore[arg-type]


@given(
    st.lists(st.floats(-1, 1, width=32), min_size=2, max_size=30),
    st.floats(0.01, 100),
    st.floats(-5, 5),
)
def test_standardised_values_do_not_depend_on_unit_or_origin(
    values: list[float], unit: float, origin: float
) -> None:
    raw = np.asarray(values, np.float32)
    if raw.std() < 0.01:
        return
    everyone = np.ones(raw.size, np.bool_)
    z = standardised_all(raw, everyone)
    assert_allclose([z.mean(), z.std()], [0, 1], atol=1e-4)
    assert_allclose(
        standardised_all((unit * raw + origin).astype(np.float32), everyone),
        z,
        atol=0.05,
    )


@pytest.mark.parametrize("values", [(), (0.7,), (0.7, 0.7), (np.nan, 0.7), (np.nan, np.nan)])
def test_too_little_to_compare_says_nothing(values: tuple[float, ...]) -> None:
    raw = floats(*values)
    assert not standardised_all(raw, np.ones(raw.size, np.bool_)).any()


def test_rounding_noise_among_equal_cosines_says_nothing() -> None:
    raw = np.full(5, 0.8371, np.float32)
    raw[2] = np.nextafter(raw[2], np.float32(1))
    assert not standardised_all(raw, np.ones(5, np.bool_)).any()


def test_what_is_not_visible_neither_ranks_nor_sways_the_rest() -> None:
    seen = np.asarray([True, True, True, False])
    quiet = chain(4, alone=floats(0.1, 0.5, 0.3, 0.2), visible=seen)
    loud = chain(4, alone=floats(0.1, 0.5, 0.3, 1.0), lexical=floats(0, 0, 0, 9), visible=seen)
    assert score_of(quiet)[3] == -np.inf
    assert_allclose(score_of(loud)[:3], score_of(quiet)[:3])


def test_words_decide_when_there_are_no_vectors() -> None:
    score = score_of(chain(4, lexical=floats(0, 3, 1, 0)), ALONE)
    assert np.argsort(-score)[:2].tolist() == [1, 2]


def test_what_has_no_vector_yet_is_not_behind_what_has_one() -> None:
    turn = floats(0.2, 0.3, 0.4, 0.3, np.nan, 0.2, 0.3, np.nan)
    late = chain(8, alone=turn, lexical=floats(0, 0.5, 0.5, 0, 9, 0, 0.5, 0))
    assert int(np.argmax(score_of(late))) == 4
    assert int(np.argmin(score_of(late, ALONE)[[2, 4, 7]])) == 2, (
        "no word of it matches, and nobody read it"
    )


def test_meaning_decides_when_no_word_matches() -> None:
    score = score_of(chain(3, alone=floats(0.82, 0.84, 0.83)), ALONE)
    assert np.argsort(-score).tolist() == [1, 2, 0]


def test_nothing_known_scores_alike() -> None:
    assert score_of(chain(3)).tolist() == [0.0, 0.0, 0.0]


def test_a_pair_lifts_both_of_its_memories() -> None:
    pair_in = floats(np.nan, 0.3, 0.9, 0.3)
    pair_out = floats(0.3, 0.9, 0.3, np.nan)
    score = score_of(
        chain(
            4,
            alone=floats(0.5, 0.5, 0.5, 0.5),
            pair_before=pair_in,
            pair_after=pair_out,
        ),
        ALONE,
    )
    assert set(np.argsort(-score)[:2].tolist()) == {1, 2}
    by_words = score_of(chain(4, lexical_before=floats(np.nan, 0, 5, 0)), ALONE)
    assert set(np.argsort(-by_words)[:2].tolist()) == {1, 2}


def test_neighbours_share_a_score_with_falling_strength() -> None:
    score = score_of(chain(9, lexical=floats(0, 0, 0, 0, 5, 0, 0, 0, 0)))
    row, two, three = score[5], score[6], score[7]
    assert score[4] > row > two > three
    assert_allclose([score[3], score[2]], [row, two], rtol=1e-5)


def test_a_memory_made_by_hand_competes_with_told_ones() -> None:
    rng = np.random.default_rng(3)
    n = 41
    turn = rng.normal(0.82, 0.02, n).astype(np.float32)
    pairs = rng.normal(0.82, 0.02, n).astype(np.float32)
    turn[40] = 0.9  # by hand: no pairs, no neighbours, the best by its own vector
    pairs[40] = np.nan
    base = chain(n, alone=turn, pair_before=pairs, pair_after=pairs)
    before, after = base.before.copy(), base.after.copy()
    before[40] = after[39] = -1
    by_hand = replace(base, before=before, after=after)
    assert int(np.argmax(score_of(by_hand))) == 40
    turn[40] = 0.82
    assert int(np.argmax(score_of(by_hand))) != 40


def test_a_branch_asks_along_its_own_neighbours() -> None:
    stated = chain(5, lexical=floats(0, 0, 0, 0, 5))
    before, after = np.asarray([[-1, 0, 1, 1, 2], [1, 2, 4, -1, -1]], np.int32)
    forked = replace(stated, before=before, after=after)
    score = score_of(forked)
    assert score[2] > score[3]


def test_no_memories_give_no_scores() -> None:
    assert score_of(chain(0)).shape == (0,)


def two_scripts(n: int, **parts: Float32s) -> TextEvidence:
    """2n memories, the first half in the script of the query."""
    return replace(chain(2 * n, **parts), unread=np.arange(2 * n) >= n)


@given(
    st.lists(st.floats(0.125, 0.875, width=32), min_size=24, max_size=24),
    st.floats(-0.5, 0.5),
)
def test_what_a_script_adds_to_every_cosine_does_not_matter(
    cosines: list[float], bias: float
) -> None:
    raw = np.asarray(cosines, np.float32)
    if min(raw[:12].std(), raw[12:].std()) < 0.05:
        return
    shifted = raw + np.where(np.arange(24) < 12, np.float32(bias), np.float32(0))
    words = np.arange(24, dtype=np.float32) % 5
    fair, biased = (
        score_of(two_scripts(12, alone=t, lexical=words), ALONE) for t in (raw, shifted)
    )
    assert_allclose(fair, biased, atol=0.02)


def test_words_the_cue_could_not_hold_count_as_their_meaning_does() -> None:
    meaning = np.tile(np.linspace(0.2, 0.8, 10, dtype=np.float32), 2)
    words = np.concatenate([np.linspace(0, 3, 10, dtype=np.float32), np.zeros(10, np.float32)])
    score = score_of(two_scripts(10, alone=meaning, lexical=words), ALONE)
    assert_allclose(score[10:], score[:10], atol=1e-4)


def test_a_handful_in_another_script_is_judged_with_all_others() -> None:
    meaning = np.linspace(0.2, 0.8, 20, dtype=np.float32)
    few = replace(chain(20, alone=meaning), unread=np.arange(20) >= 15)
    assert_allclose(score_of(few, ALONE), score_of(chain(20, alone=meaning), ALONE))


@given(
    st.lists(st.sampled_from([np.nan, np.inf, -np.inf, 0.5]) | st.floats(-9, 9, width=32)),
    st.integers(0, 99),
)
def test_compiled_code_standardises_alike(compiled: Path, values: list[float], seed: int) -> None:
    raw = np.asarray(values, np.float32)
    among = np.random.default_rng(seed).random(raw.size) < 0.8
    rows = np.arange(raw.size)[::-2]
    assert_allclose(standardised(raw, among, rows), standardise(raw, among)[rows], atol=1e-4)


VIEW = st.sampled_from(["some", "none", "all", "alike"])


@pytest.mark.parametrize("is_compiled", [True, False])
@given(
    st.integers(0, 60),
    st.lists(VIEW, min_size=4, max_size=4),
    st.sampled_from([None, 0.1, 0.5]),
    st.integers(0, 9999),
    st.sampled_from([0.2, 0.9, 1.0]),
)
def test_all_at_once_is_each_by_itself(
    compiled: Path,
    is_compiled: bool,
    n: int,
    views: list[str],
    foreign: float | None,
    seed: int,
    seen: float,
) -> None:
    """In compiled code and without, whatever is missing, however chats branch, in one script or two."""
    rng = np.random.default_rng(seed)

    def view(kind: str) -> Float32s:
        values = rng.normal(0.8, 0.03, n).astype(np.float32)
        values[rng.random(n) < {"some": 0.3, "none": 1.1}.get(kind, 0.0)] = np.nan
        return np.full(n, 0.8371, np.float32) if kind == "alike" else values

    evidence = TextEvidence(
        alone=view(views[0]),
        pair_before=view(views[1]),
        pair_after=view(views[2]),
        lexical=np.maximum(rng.normal(0, 3, n), 0).astype(np.float32),
        lexical_before=None
        if views[3] == "none"
        else np.maximum(view(views[3]) - 0.8, 0).astype(np.float32),
        before=rng.integers(-1, max(n, 1), n, np.int32),
        after=rng.integers(-1, max(n, 1), n, np.int32),
        visible=rng.random(n) < seen,
        unread=None if foreign is None else rng.random(n) < foreign,
    )
    nothing = np.full(n, np.nan, np.float32)
    bare = replace(evidence, pair_before=nothing, pair_after=nothing, lexical_before=None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fusion, "kernels", kernels if is_compiled else interpreted)
        scores = fuse(evidence)
    assert_allclose(scores.own, own_score(evidence), atol=2e-4)
    assert_allclose(scores.score, fused_score(evidence), atol=2e-4)
    assert_allclose(scores.alone, fused_score(bare, ALONE), atol=2e-4)

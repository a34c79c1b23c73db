"""BM25 after any changes equals BM25 of a new index."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from unittest import mock

import bm25s
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from soulmem.kernels.interpreted import interpreted
from soulmem.kernels.warm import kernels
from soulmem.retrieval import lexical, postings
from soulmem.retrieval.lexical import K1, SHARPNESS, B, LexicalIndex

pytestmark = pytest.mark.timeout(300)  # the first test waits for the compiler
Doc = list[str]
WORDS = st.sampled_from(["ash", "birch", "cedar", "elm", "fir", "灯", "灯笼", "雨"])
DOCS = st.lists(WORDS, min_size=1, max_size=12)
CHANGES = st.lists(
    st.tuples(st.integers(0, 19), st.none() | DOCS), min_size=1, max_size=40
)  # row, and what is put there; None drops it
N_ROWS = 20


both_ways = pytest.mark.parametrize("_way", ["compiled", "plain"], indirect=True)


@pytest.fixture(autouse=True, scope="module")
def _way(request: pytest.FixtureRequest, compiled: Path) -> Iterator[None]:
    """Compiled code; where a test asks for both ways, also plain code."""
    way = getattr(request, "param", "compiled")
    with pytest.MonkeyPatch.context() as patch:
        for module in (lexical, postings):
            patch.setattr(
                module,
                "kernels",
                kernels if way == "compiled" else interpreted,
            )
        yield


def built(
    changes: Sequence[tuple[int, Doc | None]],
) -> tuple[LexicalIndex, dict[int, Doc]]:
    """The index after `changes`, and what each row then holds."""
    index = LexicalIndex()
    remaining: dict[int, Doc] = {}
    for row, doc in changes:
        if doc is None:
            index.drop(row)
            remaining.pop(row, None)
        else:
            index.put(row, doc)
            remaining[row] = doc
    return index, remaining


def oracle(docs: Sequence[Doc], query: Sequence[str], texts: Sequence[Doc]) -> NDArray[np.float32]:
    """bm25s over `docs`, in their order; each word counts by how rare it is among `texts`.

    It indexes only words it has seen.
    """
    model = bm25s.BM25(method="lucene", k1=K1, b=B)
    model.index(list(docs), show_progress=False)
    out = np.zeros(len(docs), np.float32)
    for word in query:
        if any(word in doc for doc in docs):
            rows = sum(word in text for text in texts)
            idf = math.log(1 + (len(texts) - rows + 0.5) / (rows + 0.5))
            out += model.get_scores([word]) * (idf / math.log(1 + len(texts))) ** SHARPNESS
    return out


@both_ways
@given(CHANGES, st.lists(WORDS, min_size=1, max_size=6))
def test_any_history_scores_like_a_fresh_index(
    changes: list[tuple[int, Doc | None]], query: list[str]
) -> None:
    index, remaining = built(changes)
    expected = np.zeros(N_ROWS, np.float32)
    if remaining:
        expected[list(remaining)] = oracle(
            list(remaining.values()), query, list(remaining.values())
        )
    assert len(index) == len(remaining)
    assert_allclose(index.scores(query, N_ROWS), expected, rtol=1e-4, atol=1e-6)


@both_ways
@given(CHANGES, st.lists(WORDS, min_size=1, max_size=6), st.integers(0, 999))
def test_a_pair_scores_like_its_two_texts_in_one(
    changes: list[tuple[int, Doc | None]], query: list[str], seed: int
) -> None:
    index, remaining = built(changes)
    rng = np.random.default_rng(seed)
    # as in branches: not always the row above
    before = rng.integers(-1, N_ROWS, N_ROWS, np.int32)
    pairs = [row for row in range(N_ROWS) if row in remaining and int(before[row]) in remaining]
    scores = index.pair_scores(query, before)
    expected = np.full(N_ROWS, np.nan, np.float32)
    if pairs:
        expected[pairs] = oracle(
            [remaining[int(before[row])] + remaining[row] for row in pairs],
            query,
            list(remaining.values()),
        )
    assert_allclose(scores, expected, rtol=1e-4, atol=1e-6)


@both_ways
@given(
    st.lists(st.tuples(st.integers(0, N_ROWS - 1), st.integers(-1, N_ROWS - 1))),
    st.integers(0, 3),
)
def test_pairs_follow_the_rows_before_however_these_change(
    changes: list[tuple[int, int]], every: int
) -> None:
    """Few changes are looked at one by one, and what comes out is the same."""
    index, before = LexicalIndex(), np.full(2, -1, np.int32)
    for row in range(N_ROWS):
        index.put(row, ["ash"] * (row % 3) + ["elm", "oak"][: row % 2 + 1])
    for number, (row, first) in enumerate(changes):
        before = before.copy()
        if row >= before.size:
            before = np.append(before, np.full(row + 1 - before.size, -1, np.int32))
        before[row] = min(first, before.size - 1)
        if every and number % every:
            continue
        fresh = LexicalIndex.unpacked(index.packed())
        for query in (["ash"], ["elm", "oak", "ash"]):
            assert_allclose(index.pair_scores(query, before), fresh.pair_scores(query, before))


@given(st.permutations(list(range(12))), st.lists(WORDS, min_size=1, max_size=4))
def test_the_order_of_puts_does_not_matter(order: list[int], query: list[str]) -> None:
    docs = [["ash"] * (row % 3 + 1) + ["elm", "雨"][: row % 2 + 1] for row in range(12)]
    forward, shuffled = LexicalIndex(), LexicalIndex()
    for row, doc in enumerate(docs):
        forward.put(row, doc)
    for row in order:
        shuffled.put(row, docs[row])
    assert_allclose(shuffled.scores(query, 12), forward.scores(query, 12), rtol=1e-6)


def test_thousands_of_rows_that_are_put_again_and_again_leave_nothing_behind() -> None:
    """As when the soul is renamed: what the rows held before goes for good."""
    index, fresh = LexicalIndex(), LexicalIndex()
    docs = [["ash"] * (row % 3 + 1) + ["elm", "雨"][: row % 2 + 1] for row in range(6000)]
    for row in range(len(docs)):
        index.put(row, ["fir", "ash", "elm"])
    sizes = []
    for _ in range(4):
        for row, doc in enumerate(docs):
            index.put(row, doc)
        index.frequency("ash")
        sizes.append(sum(run.rows.size for run in index._postings._runs))
    for row, doc in enumerate(docs):
        fresh.put(row, doc)
    assert max(sizes) < 3 * sum(len(set(doc)) for doc in docs)
    assert index.frequency("fir") == 0
    query = {"ash": 1.0, "雨": 0.5, "fir": 2.0}
    assert_allclose(index.scores(query, 6000), fresh.scores(query, 6000), rtol=1e-6)


def test_a_weight_multiplies_what_its_token_adds() -> None:
    index = LexicalIndex()
    index.put(0, ["ash", "elm"])
    index.put(1, ["elm"])
    ash, elm = index.scores(["ash"], 2), index.scores(["elm"], 2)
    assert_allclose(index.scores({"ash": 2.0, "elm": 0.5}, 2), 2 * ash + 0.5 * elm, rtol=1e-6)
    assert_allclose(index.scores(["ash", "ash"], 2), 2 * ash, rtol=1e-6)


def test_a_word_said_more_often_than_can_be_counted_counts_as_often_as_can_be() -> None:
    docs = [["ash"] * n + ["fir"] * (700 - n) for n in (254, 255, 256, 511, 699)]
    counted = [["ash"] * n + ["fir"] * (700 - n) for n in (254, 255, 255, 255, 255)]
    index = LexicalIndex()
    for row, doc in enumerate(docs):
        index.put(row, doc)
    assert_allclose(index.scores(["ash"], 5), oracle(counted, ["ash"], counted), rtol=1e-6)
    before = np.arange(-1, 4, dtype=np.int32)
    # of which each has up to twice as many
    pairs = [item + two for item, two in pairwise(counted)]
    assert_allclose(
        index.pair_scores(["ash"], before)[1:],
        oracle(pairs, ["ash"], counted),
        rtol=1e-6,
    )


def test_rows_beyond_those_asked_for_still_count_as_texts() -> None:
    index = LexicalIndex()
    index.put(0, ["ash"])
    index.put(500, ["elm"])
    assert index.scores(["ash"], 1).shape == (1,)
    assert index.scores(["elm"], 1).tolist() == [0.0]
    assert index.scores(["elm"], 501)[500] > 0


def test_frequency_counts_rows_not_occurrences() -> None:
    index = LexicalIndex()
    index.put(3, ["ash", "ash"])
    index.put(4, ["ash"])
    assert (index.frequency("ash"), index.frequency("elm")) == (2, 0)
    index.drop(3)
    assert index.frequency("ash") == 1


def test_an_empty_index_an_empty_text_and_an_empty_question_score_nothing() -> None:
    index = LexicalIndex()
    assert not index.scores(["ash"], 3).any()
    index.put(0, [])
    assert not index.scores(["ash"], 3).any()
    index.put(1, ["ash"])
    assert not index.scores([], 3).any()
    assert np.isnan(index.pair_scores(["ash"], np.asarray([-1, 0], np.int32))).all()


def test_a_negative_row_is_refused() -> None:
    with pytest.raises(ValueError, match="-1"):
        LexicalIndex().put(-1, ["ash"])


@given(CHANGES, CHANGES, st.lists(WORDS, min_size=1, max_size=6), st.booleans())
def test_a_packed_index_goes_on_as_the_one_it_was(
    changes: list[tuple[int, Doc | None]],
    more: list[tuple[int, Doc | None]],
    query: list[str],
    is_written: bool,
) -> None:
    """Whatever is put and dropped afterwards; arrays that cannot be written are left alone."""
    index, _ = built(changes)
    arrays = {name: array.copy() for name, array in index.packed().items()}
    for array in arrays.values():
        array.flags.writeable = is_written
    other = LexicalIndex.unpacked(arrays)
    before = np.arange(-1, N_ROWS - 1, dtype=np.int32)
    for row, doc in [*more, *changes]:
        for item in (index, other):
            item.drop(row) if doc is None else item.put(row, doc)
        assert len(other) == len(index)
        assert_allclose(other.scores(query, N_ROWS), index.scores(query, N_ROWS), rtol=1e-6)
        assert_allclose(
            other.pair_scores(query, before),
            index.pair_scores(query, before),
            rtol=1e-6,
        )
        assert [other.frequency(word) for word in query] == [
            index.frequency(word) for word in query
        ]


@given(CHANGES, CHANGES, CHANGES, st.lists(WORDS, max_size=5))
def test_a_gathered_index_goes_on_as_the_one_it_was(
    changes: list[tuple[int, Doc | None]],
    more: list[tuple[int, Doc | None]],
    later: list[tuple[int, Doc | None]],
    query: list[str],
) -> None:
    index, other = LexicalIndex(), LexicalIndex()
    for part in (changes, more, later):
        for row, doc in part:
            for item in (index, other):
                item.drop(row) if doc is None else item.put(row, doc)
        assert_allclose(other.scores(query, N_ROWS), index.scores(query, N_ROWS), rtol=1e-6)
        for _ in other.gather():
            pass
        assert_allclose(other.scores(query, N_ROWS), index.scores(query, N_ROWS), rtol=1e-6)
    assert len(other.packed()["runs"]) == 1


def test_gathered_a_word_takes_one_place() -> None:
    """However many runs held it before: each of these is too large to be merged with the next."""
    index = LexicalIndex()
    for row in range(4):
        with mock.patch.object(postings, "_LARGE_RUN", 0):
            index.put(row, ["ash", f"w{row}", "elm"])
            index.frequency("ash")
    assert index.packed()["tokens"].size == 12
    for _ in index.gather():
        pass
    assert index.packed()["tokens"].size == 6
    assert [index.frequency(word) for word in ("ash", "w3", "oak")] == [4, 1, 0]


def test_runs_that_rows_have_left_are_packed_without_them() -> None:
    """Rows that were put again count once, in the index and in what was packed of it."""
    index = LexicalIndex()
    for row in range(500):
        index.put(row, ["ash", f"w{row}"])
    index.frequency("ash")
    for row in range(0, 500, 3):
        index.put(row, ["ash", "elm"])
    other = LexicalIndex.unpacked(index.packed())
    words = ["ash", "elm", "w3", "w4"]
    assert [index.frequency(word) for word in words] == [500, 167, 0, 1]
    assert [other.frequency(word) for word in words] == [500, 167, 0, 1]


def test_tokens_are_known_alike_in_every_process() -> None:
    """What is packed is read by another one, whose `hash` differs."""
    index = LexicalIndex()
    index.put(0, ["灯笼", "ash"])
    assert sorted(index.packed()["tokens"].tolist()) == [
        -4292978596501755395,
        3993032719337661088,
    ]


@given(CHANGES, DOCS, st.lists(st.integers(0, N_ROWS - 1), max_size=30), DOCS)
def test_the_words_of_rows_are_those_that_were_put_last(
    changes: list[tuple[int, Doc | None]], tokens: Doc, rows: list[int], others: Doc
) -> None:
    """Also of a row that is asked for twice, or was dropped, and behind a query with these tokens and others."""
    index, texts = LexicalIndex(), dict[int, Doc]()
    for row, text in changes:
        if text is None:
            index.drop(row)
            texts.pop(row, None)
        else:
            index.put(row, text)
            texts[row] = text
    wanted = [[token in texts.get(row, ()) for row in rows] for token in tokens]
    for _ in range(2):
        contained = index.contain(tokens, np.asarray(rows, np.int64))
        assert contained.shape == (len(tokens), len(rows))
        assert contained.tolist() == wanted
        index.scores([*others, *tokens], N_ROWS)

"""Every embedder keeps the promises of its port: one suite, the fake and each real adapter."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from soulmem.adapters import packaged_encoder, sentence_transformer
from soulmem.language.passages import passages
from soulmem.ports.embedder import Embedder, TextInContext
from tests.adapters.tiny_bert import make_tiny_bert
from tests.fakes.embedder import FakeEmbedder

# transformers and torch warn about each other; none of it is ours.
pytestmark = pytest.mark.filterwarnings("ignore::Warning:torch", "ignore::Warning:transformers")

TEXTS = [
    "The lantern hangs by the river.",
    "灯笼挂在河边。",
    "",
    "灯",
    "ランタンは川のそばにある。",
    "a" * 5000,
]


@pytest.fixture(scope="module", params=["fake", "packaged", "tiny bert", "e5"])
def embedder(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    optional_data: Callable[[str, str], Path],
) -> Embedder:
    """Each adapter, loaded once."""
    if request.param == "fake":
        return FakeEmbedder()
    if request.param == "packaged":
        return packaged_encoder.load()
    if request.param == "tiny bert":
        return sentence_transformer.load(str(make_tiny_bert(tmp_path_factory.mktemp("tiny"))))
    return sentence_transformer.load(
        str(optional_data("SOULMEM_TEST_E5", "a folder with multilingual-e5-small"))
    )


def test_vectors_are_unit_rows_in_the_order_of_the_texts(embedder: Embedder) -> None:
    vectors = embedder.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), embedder.dim)
    assert vectors.dtype == np.float32
    assert vectors.flags["C_CONTIGUOUS"]
    assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    backwards = embedder.embed(TEXTS[::-1])
    assert_allclose(backwards[::-1], vectors, atol=1e-4)


def test_a_text_has_the_same_vector_alone_and_in_company(embedder: Embedder) -> None:
    together = embedder.embed(TEXTS)
    alone = np.concatenate([embedder.embed([text]) for text in TEXTS])
    assert_allclose(alone, together, atol=1e-4)


def test_no_texts_give_no_vectors(embedder: Embedder) -> None:
    assert embedder.embed([]).shape == (0, embedder.dim)


def test_it_says_who_it_is(embedder: Embedder) -> None:
    assert embedder.name
    assert embedder.model
    assert "\n" not in embedder.model


CONTEXTS = [
    TextInContext("The lantern hangs by the river."),
    TextInContext("灯笼挂在河边。", "Where is it?"),
    TextInContext("By the river", "Where is the lantern? " * 2),
    TextInContext("灯", "河"),
    TextInContext("", "the lantern"),
    TextInContext(""),
    TextInContext("!"),
]


with_tokens = pytest.mark.parametrize("embedder", ["fake", "tiny bert", "e5"], indirect=True)


@with_tokens
def test_a_pass_gives_the_vector_of_the_whole_and_unit_states(
    embedder: Embedder,
) -> None:
    read = embedder.embed_tokens(CONTEXTS)
    vectors = embedder.embed([content.whole for content in CONTEXTS])
    assert_allclose([states.pooled for states in read], vectors, atol=1e-4)
    for states in read:
        count = len(states.pieces)
        assert count >= 2
        assert states.states.shape == (count, embedder.token_width)
        assert states.states.dtype == states.pooled.dtype == np.float32
        assert states.pieces.dtype == np.int32
        assert_allclose(np.linalg.norm(states.states, axis=1), 1, atol=1e-5)


@with_tokens
def test_the_tokens_are_those_of_the_text_alone_and_read_in_context(
    embedder: Embedder,
) -> None:
    text = "the lantern by a river"
    alone, after = embedder.embed_tokens(
        [TextInContext(text), TextInContext(text, "we look for a lamp")]
    )
    assert alone.pieces.tolist() == after.pieces.tolist()
    cosines = (alone.states * after.states).sum(axis=1)
    assert cosines.max() < 0.99999
    assert cosines.mean() > 0.5


@with_tokens
def test_a_context_that_is_too_long_loses_its_beginning(
    embedder: Embedder,
) -> None:
    text = "the lantern by a river"
    long, short = "a b c d e f g h " * 500, "a b c d e f g h"
    cut, fitting = embedder.embed_tokens([TextInContext(text, long), TextInContext(text, short)])
    assert cut.pieces.tolist() == fitting.pieces.tolist()


@with_tokens
def test_a_text_that_is_too_long_is_read_in_windows(embedder: Embedder) -> None:
    sentence = "the lantern by a river. "
    long = sentence * 60
    one, whole, after = embedder.embed_tokens(
        [
            TextInContext(sentence),
            TextInContext(long),
            TextInContext(long, "we look for a lamp"),
        ]
    )
    assert whole.pieces.tolist() == one.pieces.tolist() * 60
    assert whole.pieces.tolist() == after.pieces.tolist()
    assert_allclose(whole.pooled, embedder.embed([long])[0], atol=1e-4)


@with_tokens
def test_each_passage_begins_with_a_token(embedder: Embedder) -> None:
    short, long = "the lantern by a river", "the lantern by a river. " * 60
    one, many = embedder.embed_tokens([TextInContext(short), TextInContext(long)])
    assert np.flatnonzero(one.begins).tolist() == [0]
    begins = np.flatnonzero(many.begins)
    assert len(begins) == len(passages(long))
    assert (many.pieces[begins] == many.pieces[0]).all()


@with_tokens
def test_punctuation_has_states_only_where_there_is_nothing_else(
    embedder: Embedder,
) -> None:
    dotted, plain, alone = embedder.embed_tokens(
        [TextInContext("a: b."), TextInContext("a b"), TextInContext("...")]
    )
    assert dotted.pieces.tolist() == plain.pieces.tolist()
    assert len(alone.pieces) >= 2


@with_tokens
def test_no_texts_give_no_token_states(embedder: Embedder) -> None:
    assert embedder.embed_tokens([]) == []


def test_an_embedder_without_token_states_says_so(embedder: Embedder) -> None:
    if embedder.token_width:
        assert embedder.token_width > 1
        return
    with pytest.raises(ValueError, match="no token states"):
        embedder.embed_tokens([TextInContext("a")])


def test_passes_on_several_threads_give_the_same_vectors(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = str(make_tiny_bert(tmp_path_factory.mktemp("tiny")))
    one, many = (sentence_transformer.load(folder, threads=n) for n in (1, 3))
    many._passes._cores._count = 3  # type: ignore[attr-defined]
    texts = [TextInContext(text[: 3 + n], "") for n in range(8) for text in TEXTS[:2]]
    read, again = one.embed_tokens(texts), many.embed_tokens(texts)
    assert len(read) == len(texts) > 8
    for first, second in zip(read, again, strict=True):
        assert_allclose(first.pooled, second.pooled, atol=1e-5)
        assert_allclose(first.states, second.states, atol=1e-5)

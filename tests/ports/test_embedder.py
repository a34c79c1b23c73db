"""Every embedder keeps the promises of its port: one suite, each real adapter."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from soulmem.adapters import packaged_encoder, sentence_transformer
from soulmem.ports.embedder import Embedder
from tests.adapters.tiny_bert import make_tiny_bert

# transformers and torch warn about each other; none of it is ours.
pytestmark = [
    pytest.mark.filterwarnings("ignore::Warning:torch", "ignore::Warning:transformers"),
    pytest.mark.timeout(
        60
    ),  # whichever test comes first imports torch: 10 to 20 s on a busy machine
]

TEXTS = [
    "The lantern hangs by the river.",
    "灯笼挂在河边。",
    "",
    "灯",
    "ランタンは川のそばにある。",
    "a" * 5000,
]


@pytest.fixture(scope="module", params=["packaged", "tiny bert", "e5"])
def embedder(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    optional_data: Callable[[str, str], Path],
) -> Embedder:
    """Each adapter, loaded once."""
    if request.param == "packaged":
        return packaged_encoder.load()
    if request.param == "tiny bert":
        return sentence_transformer.load(
            str(make_tiny_bert(tmp_path_factory.mktemp("tiny")))
        )
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

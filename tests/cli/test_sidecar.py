"""Does a command find the sidecar it should talk to, and is `serve` a good server process?"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from soulmem.cli.client import Client, Refused, Unreachable
from soulmem.cli.sidecar import Momentary
from soulmem.config import load
from tests.cli.chat_files import talk, write
from tests.cli.conftest import Command, run_process, start_process

pytestmark = pytest.mark.timeout(120)

_FILES = 60  # that a sidecar with nothing to do has open
UNLOADED = {"embedder.model": "none"}
BARE = {"SOULMEM_EMBEDDER_MODEL": "none"}  # no model to load where none is asked


@pytest.fixture
def stranger() -> Iterator[int]:
    """A port on which something listens that is not SoulMem."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_without_a_running_one_the_folder_is_opened_for_the_moment(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = write(tmp_path / "night.jsonl", [*talk(3), *talk(1, "a silver whistle")])
    place = ("--data", str(tmp_path / "data"), "--lang", "en")
    first = run_process("import", chat, "--soul", "Bel", *place, "--json", **BARE)
    assert (first.code, first.err) == (0, "")
    assert first.json()["files"][0]["added"] == 4
    monkeypatch.setenv("SOULMEM_EMBEDDER_MODEL", "none")
    second = command("recall", "--soul", "Bel", "the whistle", *place)
    assert (second.code, second.err) == (0, "")
    assert "silver whistle" in second.out


def test_a_folder_in_use_is_not_opened_twice(running: Client, running_folder: Path) -> None:
    where = ("--data", str(running_folder))
    asked = ("recall", "x", "--soul", "Nobody at all", *where)
    ended = run_process(*asked, "--lang", "en", **BARE)
    assert ended.code == 1
    assert "already running" in ended.err
    assert len(ended.err.strip().splitlines()) == 1
    ended = run_process(*asked, "--port", str(running.port), "--json", **BARE)
    assert ended.json()["error"] == "not_found"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for another process")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_serve_tells_where_it_is_and_ends_well(tmp_path: Path, number: signal.Signals) -> None:
    with start_process(
        "serve", "--port", "0", "--data", str(tmp_path), "--json", **BARE
    ) as process:
        assert process.stdout is not None
        place = json.loads(process.stdout.readline())
        assert place["pid"] == process.pid
        assert place["data"] == str(tmp_path)
        health, _ = Client(
            "127.0.0.1", int(place["url"].removesuffix("/v1").rpartition(":")[2])
        ).health()
        assert health["version"] == place["version"]
        if sys.platform == "linux":
            assert len(os.listdir(f"/proc/{process.pid}/fd")) <= _FILES
        process.send_signal(number)
        out, err = process.communicate()
    assert (process.returncode, out) == (0, "")
    assert "Traceback" not in err


def test_serving_twice_on_one_port_says_so(running: Client, tmp_path: Path, stranger: int) -> None:
    ours = run_process(
        "serve",
        "--port",
        str(running.port),
        "--data",
        str(tmp_path),
        "--lang",
        "en",
        **BARE,
    )
    assert ours.code == 1
    assert "already running" in ours.err
    other = run_process("serve", "--port", str(stranger), "--data", str(tmp_path), "--json", **BARE)
    assert (other.code, other.json()["error"]) == (1, "port_taken")


def test_another_program_at_the_port_is_not_taken_for_a_sidecar(stranger: int) -> None:
    with pytest.raises(Unreachable, match="does not answer"):
        Client("127.0.0.1", stranger).health(seconds=0.2)


def test_a_sidecar_of_another_version_is_not_passed_over(command: Command) -> None:
    class Newer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(
                json.dumps({"version": "9.0", "api": {"major": 9, "minor": 0}}).encode()
            )

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Newer) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        ended = command("recall", "x", "--soul", "Bel", "--port", str(server.server_port))
        server.shutdown()
        thread.join()
    assert ended.code == 1
    assert "SoulMem 9.0" in ended.err


def test_a_folder_that_cannot_be_made_is_told(command: Command, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    ended = command("recall", "x", "--soul", "Bel", "--data", str(tmp_path / "file" / "data"))
    assert ended.code == 1
    assert "--data" in ended.err


def test_serving_a_folder_twice_says_so_and_ends(running: Client, running_folder: Path) -> None:
    running.ask("GET", "/souls")  # its store is open
    where = ("--port", "0", "--data", str(running_folder))
    second = run_process("serve", *where, "--lang", "en", **BARE)
    assert second.code == 1
    assert "already running on this data folder" in second.err
    assert "Traceback" not in second.err
    assert running.health()[0]["store"]["state"] == "ok"


class _Never(threading.Event):
    """An event that nobody awaits long enough, however soon it is set."""

    def wait(self, timeout: float | None = None) -> bool:
        """At once False."""
        return False


def test_a_temporary_one_that_is_not_awaited_any_longer_ends_too(tmp_path: Path) -> None:
    """It held the port and the process for ever."""
    settings = load(None, overrides={"store.data": tmp_path / "data", **UNLOADED})
    late = Momentary(settings)
    late._up = _Never()
    with pytest.raises(Unreachable, match="did not start"), late:
        pytest.fail("it is not to start")
    assert "soulmem-sidecar" not in {thread.name for thread in threading.enumerate()}


def test_a_temporary_one_knows_the_token_of_its_folder(tmp_path: Path) -> None:
    settings = load(None, overrides={"store.data": tmp_path / "data", **UNLOADED})
    with Momentary(settings) as client:
        kept = (tmp_path / "data" / "token").read_text(encoding="utf-8").strip()
        assert client.token == kept
        client.ask("GET", "/health")
        with pytest.raises(Refused):
            replace(client, token="of another folder").ask("GET", "/health")

"""Does what was exported come back, and the whole store from a backup, by the commands that are told?"""

from __future__ import annotations

import json
import re
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from soulmem.cli.client import Client, Refused
from soulmem.cli.sidecar import Momentary
from soulmem.config import load
from tests.cli.chat_files import talk, write
from tests.cli.conftest import Command, run_process, start_process
from tests.examples import sized

pytestmark = pytest.mark.timeout(180)

BARE = {"SOULMEM_EMBEDDER_MODEL": "none"}


@contextmanager
def serving(data: Path) -> Iterator[Client]:
    """A sidecar on the folder, stopped as a user stops it."""
    arguments = ("serve", "--test-mode", "--port", "0", "--data", str(data), "--json")
    with start_process(*arguments, **BARE) as process:
        assert process.stdout is not None
        url = json.loads(process.stdout.readline())["url"]
        try:
            yield Client("127.0.0.1", int(url.removesuffix("/v1").rpartition(":")[2]))
        finally:
            process.terminate()
            process.communicate(timeout=30)


def inside(data: Path) -> Momentary:
    """A sidecar on the folder in this process, which starts sooner."""
    chosen = {"store.data": data, "embedder.model": "none"}
    return Momentary(load(None, overrides=chosen))


def settled(client: Client) -> dict[str, Any]:
    """Its health once it has started, or cannot."""
    for _ in range(300):
        health, _ = client.health()
        if health["status"] != "starting" or health["store"]["state"] == "error":
            return health
        time.sleep(0.1)
    raise AssertionError(health)


def ended(client: Client, job: str) -> dict[str, Any]:
    """The job when it is over."""
    job_view: dict[str, Any] = {}
    for _ in range(1200):
        with suppress(Refused):  # after a start, until the souls are open
            job_view = client.ask("GET", f"/jobs/{job}")
        if job_view.get("state") in ("done", "failed", "cancelled"):
            return job_view
        time.sleep(0.05)
    raise AssertionError(job_view)


def until_noon() -> int:
    """Seconds to the next noon, so that no midnight comes within a test: of each day a backup is kept."""
    current_time = datetime.now(timezone.utc)
    return (12 * 3600 - current_time.hour * 3600 - current_time.minute * 60) % 86400


def fill(client: Client, chat: Path) -> str:
    """A soul with a chat and a note; its fingerprint."""
    client.ask("PUT", "/souls/s1", {"name": "Bel"})
    body = {
        "soul": "s1",
        "format": "st_chat",
        "name": chat.name,
        "text": chat.read_text("utf-8"),
    }
    assert ended(client, client.ask("POST", "/import", body)["job"])["state"] == "done"
    client.ask(
        "POST",
        "/memories",
        {"soul": "s1", "kind": "note", "text": "by hand", "permanent": True},
    )
    return fingerprint(client)


def fingerprint(client: Client) -> str:
    return str(client.ask("GET", "/souls/s1/fingerprint")["hash"])


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    """A chat file."""
    return Path(write(tmp_path / "night.jsonl", [*talk(30), *talk(1, "a silver whistle")]))


def test_a_soul_goes_through_a_file_into_another_place(
    tmp_path: Path, chat: Path, command: Command
) -> None:
    file, cut = tmp_path / "bel.jsonl", tmp_path / "cut.jsonl"
    with inside(tmp_path / "one") as client:
        before = fill(client, chat)
        place = ("--port", str(client.port))
        export = ("export", "--soul", "Bel", "--out", str(file), *place)
        ended_command = command(*export, "--json")
        assert (ended_command.code, ended_command.err) == (0, "")
        lines = file.read_text("utf-8").count("\n")
        assert ended_command.json() == {"soul": "s1", "file": str(file), "lines": lines}
        again = command(*export)
        assert (again.code, "already exists" in again.err) == (1, True)
    cut.write_bytes(file.read_bytes()[:-2000])
    with inside(tmp_path / "two") as client:
        place = ("--port", str(client.port))
        ended_command = command("restore", str(cut), *place)
        assert (ended_command.code, "is incomplete" in ended_command.out) == (1, True)
        assert fingerprint(client) == before  # the chats were whole
    with inside(tmp_path / "three") as client:
        place = ("--port", str(client.port))
        ended_command = command("restore", str(file), *place, "--json")
        assert (ended_command.code, ended_command.err) == (0, "")
        assert ended_command.json()["whole"]
        assert fingerprint(client) == before
        again = command("restore", str(file), *place)
        assert (again.code, again.err) == (0, "")
        assert re.search(
            r"Bel: added 0 memories and 0 messages of 0 chats; \d\d existed", again.out
        )
        notes = client.ask("GET", "/memories?soul=s1&kind=note")["memories"]
        assert [note["text"] for note in notes] == ["by hand"]


def test_nobody_is_made_for_a_bundle_that_cannot_be_read(
    ask: Command, running: Client, tmp_path: Path
) -> None:
    file = tmp_path / "later.jsonl"
    head = {
        "type": "bundle",
        "version": 99,
        "soul": "s-later",
        "made": "2031-01-01T00:00:00Z",
    }
    rows = [head, {"type": "soul", "soul": {"id": "s-later", "name": "Later"}}]
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    result = ask("restore", str(file))
    assert (result.code, "newer SoulMem" in result.err) == (1, True)
    assert "s-later" not in [soul["id"] for soul in running.ask("GET", "/souls")["souls"]]


def _backup_by_job(client: Client) -> str:
    """Make a backup; its path."""
    request = {"kind": "backup", "soul": "s1", "arguments": {}}
    job_view = ended(client, client.ask("POST", "/jobs", request)["job"])
    assert job_view["state"] == "done"
    return str(job_view["result"]["file"])


def _words_about_a_damaged_store(client: Client) -> str:
    """What health says of a store that cannot be read; requests are refused with a remedy."""
    health = settled(client)
    assert (health["status"], health["store"]["state"]) == ("degraded", "error")
    (words, *_) = health["notes"]
    assert words == health["store"]["detail"]
    with pytest.raises(Refused, match="restore --newest") as refused:
        client.ask("GET", "/souls")
    assert refused.value.status == 503
    return str(words)


@pytest.mark.slow("three sidecars, one after another")
def test_a_damaged_store_is_told_and_comes_back_from_the_newest_backup(
    tmp_path: Path, chat: Path, command: Command
) -> None:
    """Acceptance: truncate a file, start, read the words, do what they say, and all is as it was."""
    data = tmp_path / "data folder"
    with serving(data) as client:
        client.ask("POST", "/test/clock", {"advance_seconds": until_noon()})
        before = fill(client, chat)
        client.ask("POST", "/test/idle")
        (backup,) = (data / "backups").iterdir()
        client.ask("POST", "/test/clock", {"advance_seconds": 3600})
        client.ask("POST", "/test/idle")
        assert list((data / "backups").iterdir()) == [backup]
        newest = _backup_by_job(client)
        assert set((data / "backups").iterdir()) == {backup, Path(newest)}
        in_use = command("restore", "--newest", "--data", str(data))
        assert (in_use.code, "stop it first" in in_use.err) == (1, True)
    for table in (data / "store" / "sstables").iterdir():
        table.write_bytes(table.read_bytes()[: table.stat().st_size // 2])

    with serving(data) as client:
        words = _words_about_a_damaged_store(client)
        assert str(data / "store") in words
        assert newest in words
        (advice,) = re.findall("`(.*?)`", words)
    argv = advice.removesuffix(str(data)).split()
    assert argv == ["soulmem", "restore", "--newest", "--data"]
    done = run_process(*argv[1:], str(data), "--lang", "en", **BARE)
    restored = "Restored 1 characters" in done.out
    assert (done.code, done.err, restored) == (0, "", True)
    assert len(list(data.glob("store.aside-*"))) == 1
    with serving(data) as client:
        assert settled(client)["store"]["state"] == "ok"
        assert fingerprint(client) == before


@pytest.mark.slow("two sidecars, one after another")
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_an_import_that_was_killed_goes_on_with_the_next_start(
    tmp_path: Path, command: Command
) -> None:
    """Of a bundle, in the middle: what is there afterwards is the whole of it."""
    big = Path(write(tmp_path / "big.jsonl", talk(sized(120, 200))))
    file = tmp_path / "bel.jsonl"
    with inside(tmp_path / "one") as client:
        before = fill(client, big)
        place = ("--port", str(client.port))
        assert command("export", "--soul", "Bel", "--out", str(file), *place).code == 0
    data = tmp_path / "two"
    arguments = ("serve", "--test-mode", "--port", "0", "--data", str(data), "--json")
    with start_process(*arguments, **BARE) as process:
        assert process.stdout is not None
        url = json.loads(process.stdout.readline())["url"]
        client = Client("127.0.0.1", int(url.removesuffix("/v1").rpartition(":")[2]))
        client.ask("PUT", "/souls/s1", {"name": "Bel"})
        body = {
            "soul": "s1",
            "format": "bundle",
            "name": "bel.jsonl",
            "text": file.read_text("utf-8"),
        }
        job = client.ask("POST", "/import", body)["job"]
        while client.ask("GET", f"/jobs/{job}")["progress"]["done"] < 40:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    with inside(data) as client:
        settled(client)
        assert ended(client, job)["state"] == "done"
        assert fingerprint(client) == before


@pytest.mark.parametrize("argv", [(), ("x.jsonl", "--newest")])
def test_what_to_restore_must_be_said(command: Command, argv: tuple[str, ...]) -> None:
    result = command("restore", *argv)
    assert (result.code, "one of the two" in result.err) == (1, True)


def test_what_is_no_file_of_ours_is_said(command: Command, tmp_path: Path) -> None:
    for name, data in {
        "a": b"hello",
        "b": b'{"type":"soul"}\n',
        "c": b"\xff\xfe",
        "d": b"",
    }.items():
        (tmp_path / name).write_bytes(data)
        result = command("restore", str(tmp_path / name), "--data", str(tmp_path / "data"))
        assert (result.code, str(tmp_path / name) in result.err) == (1, True)
    (tmp_path / "e.tar.gz").write_bytes(b"\x1f\x8bnonsense")
    result = command("restore", str(tmp_path / "e.tar.gz"), "--data", str(tmp_path / "data"))
    assert (result.code, "is damaged" in result.err) == (1, True)
    result = command("restore", str(tmp_path / "none"))
    assert result.code == 1
    result = command("restore", "--newest", "--data", str(tmp_path / "data"))
    assert (result.code, "there is no backup" in result.err) == (1, True)


def test_the_store_of_a_server_is_not_ours_to_restore(command: Command, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[store]\nurl = "ws://127.0.0.1:1"\n')
    result = command(
        "restore",
        "--newest",
        "--config",
        str(tmp_path / "config.toml"),
        "--data",
        str(tmp_path),
    )
    assert (result.code, "own tools" in result.err) == (1, True)


def test_a_refused_export_writes_no_file(tmp_path: Path, command: Command) -> None:
    out = tmp_path / "x.jsonl"
    result = command(
        "export",
        "--soul",
        "Nobody",
        "--out",
        str(out),
        "--data",
        str(tmp_path / "data"),
    )
    assert (result.code, "no soul called 'Nobody'" in result.err, out.exists()) == (
        1,
        True,
        False,
    )

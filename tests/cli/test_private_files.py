"""What SoulMem keeps is readable by the account that runs it, also what an older version left open."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from soulmem.adapters.disk_files import make_private
from soulmem.cli.client import Client
from tests.cli.conftest import Command, start_process

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")


def open_to_others(path: Path) -> list[str]:
    """What another account can reach: what stands behind a closed folder is closed, whatever its mode."""
    if not path.stat().st_mode & 0o077:
        return []
    inner = path.iterdir() if path.is_dir() else ()
    return [str(path), *(name for each in inner for name in open_to_others(each))]


def test_data_backups_traces_and_exports_are_private(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    for name in ("traces", "backups", "store", "images"):
        (data / name).mkdir(parents=True)
        (data / name).chmod(0o755)
    old = data / "backups" / "soulmem-20260101T000000Z.tar.gz"
    old.write_bytes(b"of an older version")
    for path in (old, data):
        path.chmod(0o755)
    (data / "store").rmdir()
    before = os.umask(0o022)
    try:
        where = ("--port", "0", "--data", str(data))
        none = {"SOULMEM_EMBEDDER_MODEL": "none"}
        with start_process("serve", *where, "--json", **none) as process:
            assert process.stdout is not None
            url = json.loads(process.stdout.readline())["url"]
            client = Client("127.0.0.1", int(url.rpartition(":")[2][:-3]))
            try:
                client.ask("PUT", "/souls/s1", {"name": "Mira"})
                note = {"soul": "s1", "kind": "note", "text": "She swims."}
                client.ask("POST", "/memories", note)
                client.ask("POST", "/recall", {"soul": "s1", "query": "swim"})
            finally:
                process.terminate()
                process.communicate(timeout=30)
        out = tmp_path / "mira.jsonl"
        monkeypatch.setenv("SOULMEM_EMBEDDER_MODEL", "none")
        done = command("export", "--soul", "Mira", "--data", str(data), "--out", str(out))
    finally:
        os.umask(before)
    assert done.code == 0, done.err
    assert {path.name for path in data.iterdir()} >= {"store", "traces", "token"}
    assert open_to_others(data) == []
    assert open_to_others(out) == []
    # Nor one that is moved out of the folder, or restored from it.
    files = [path for path in data.rglob("*") if path.is_file()]
    assert [path.name for path in files if open_to_others(path)] == []
    assert old in files


def test_a_folder_that_holds_other_things_stays_shared(tmp_path: Path) -> None:
    for name in ("store", "pictures"):
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(0o755)
    (tmp_path / "link").symlink_to(tmp_path / "pictures")
    tmp_path.chmod(0o755)
    make_private(tmp_path, {"store", "link"})
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert modes == {"store": 0o700, "pictures": 0o755, "link": 0o755}
    assert tmp_path.stat().st_mode & 0o777 == 0o755

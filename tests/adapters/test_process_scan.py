"""Does the engine keep no file of other programs open, and can files be opened as before?"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux keeps processes as files"
)

# Its parent, this test, is another program.
_OPEN_A_STORE = """
import asyncio, json, os, resource, sys
from soulmem.adapters.surreal import SurrealStore
from soulmem.adapters.surreal.process_scan import forgo_process_scan

def limits():
    return resource.getrlimit(resource.RLIMIT_NOFILE)

async def main(url, forgo):
    before = limits()
    if forgo:
        forgo_process_scan()
        assert limits() == before
    store = SurrealStore(url)
    await store.open()
    assert await store.owners() == []
    links = [os.path.realpath(f"/proc/self/fd/{n}") for n in os.listdir("/proc/self/fd")]
    await store.close()
    scanned = [link for link in links if link.startswith("/proc/") and link.endswith("/stat")]
    print(json.dumps({"pid": os.getpid(), "scanned": scanned}))

asyncio.run(main(sys.argv[1], sys.argv[2] == "forgo"))
sys.stdout.flush()
os._exit(0)  # as `soulmem.cli.run_and_leave`: a thread of the store may abort the end of Python
"""


def scanned(folder: Path, how: str) -> tuple[int, list[str]]:
    """Id of a process that opened a store, and the files of processes that it had open then."""
    command = [sys.executable, "-c", _OPEN_A_STORE, f"surrealkv://{folder}", how]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    told = json.loads(done.stdout)
    return told["pid"], told["scanned"]


def test_the_engine_keeps_the_file_of_its_own_process_alone(tmp_path: Path) -> None:
    pid, files = scanned(tmp_path / "store", "forgo")
    assert set(files) <= {f"/proc/{pid}/stat"}


def test_without_it_it_keeps_those_of_others_too(tmp_path: Path) -> None:
    """Else a new version of the engine needs it no more."""
    pid, files = scanned(tmp_path / "store", "as it is")
    assert set(files) - {f"/proc/{pid}/stat"}

"""Does an import that is killed half-way go on after a restart to what an undisturbed one makes?"""

from __future__ import annotations

import json
import os
import random
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from soulmem.cli.client import Client, Refused
from soulmem.cli.sidecar import await_store
from tests.cli.chat_files import HEADER, said
from tests.cli.conftest import start_process
from tests.examples import sized

pytestmark = pytest.mark.timeout(600)
COUNT = int(os.environ.get("SOULMEM_TEST_IMPORT_MESSAGES") or sized(250, 500))
SOUL = "import-killed"
PLACES = [
    "the mill",
    "the harbour",
    "钟楼",
    "the old bridge",
    "河边",
    "Varn",
    "the orchard",
    "茶馆",
]


@contextmanager
def sidecar(folder: Path) -> Iterator[tuple[Client, subprocess.Popen[str]]]:
    """A sidecar in a process of its own, killed at the end if it still runs."""
    command = ("serve", "--port", "0", "--data", str(folder), "--json")
    with start_process(*command, SOULMEM_EMBEDDER_MODEL="none") as process:
        assert process.stdout is not None
        port = int(
            json.loads(process.stdout.readline())["url"].removesuffix("/v1").rpartition(":")[2]
        )
        client = Client("127.0.0.1", port)
        await_store(client)
        try:
            yield client, process
        finally:
            process.kill()
            process.communicate()


def chat_text(count: int) -> str:
    """A chat file of so many messages."""
    draw = random.Random(7)
    rows = [
        said(
            n,
            f"Line {n}: we met at {draw.choice(PLACES)}, then at {draw.choice(PLACES)}.",
            user=bool(n % 2),
        )
        for n in range(count)
    ]
    return "".join(json.dumps(row) + "\n" for row in [HEADER, *rows])


def begin(client: Client, text: str) -> str:
    """Start the import; the id of its job."""
    client.ask(
        "PUT",
        f"/souls/{SOUL}",
        {"name": "Bel", "names": [{"name": "Varn"}, {"name": "钟楼"}]},
    )
    body = {"soul": SOUL, "format": "st_chat", "name": "night.jsonl", "text": text}
    return str(client.ask("POST", "/import", body)["job"])


def until(client: Client, job: str, is_so: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """The job once that is so."""
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        try:
            job_view: dict[str, Any] = client.ask("GET", f"/jobs/{job}")
        except Refused as refusal:  # a sidecar that starts reads its jobs last
            if refusal.status != 404:
                raise
            continue
        if is_so(job_view):
            return job_view
        assert job_view["state"] in ("queued", "running"), job_view
        time.sleep(0.005)
    raise AssertionError("the job does not come to that")


def is_done(job_view: dict[str, Any]) -> bool:
    """Whether the job is done."""
    return bool(job_view["state"] == "done")


@pytest.mark.slow("a sidecar is killed in the middle of an import")
def test_killed_half_way_it_goes_on_to_the_same_memory(tmp_path: Path, running: Client) -> None:
    """As in `running`, which nobody killed."""
    text = chat_text(COUNT)
    with sidecar(tmp_path / "killed") as (client, process):
        job = begin(client, text)
        job_view = until(client, job, lambda job_view: job_view["progress"]["done"] >= COUNT // 3)
        assert job_view["progress"]["done"] < COUNT
        process.kill()  # SIGKILL
        process.wait()
    with sidecar(tmp_path / "killed") as (client, _):
        result = until(client, job, is_done)["result"]
        assert 0 < result["added"] < COUNT  # it did not begin again
        chat = client.ask("GET", f"/chats/{result['chat']}")
        assert [m["text"] for m in chat["messages"]] == [
            json.loads(row)["mes"] for row in text.splitlines()[1:]
        ]
        marks = [client.ask("GET", f"/souls/{SOUL}/fingerprint")["hash"]]
        again = until(client, begin(client, text), is_done)["result"]
        assert [again[key] for key in ("added", "changed", "removed")] == [0, 0, 0]
        marks.append(client.ask("GET", f"/souls/{SOUL}/fingerprint")["hash"])
    began = time.monotonic()
    until(running, begin(running, text), is_done)
    print(f"{COUNT} messages in {time.monotonic() - began:.1f} s")
    marks.append(running.ask("GET", f"/souls/{SOUL}/fingerprint")["hash"])
    assert len(set(marks)) == 1

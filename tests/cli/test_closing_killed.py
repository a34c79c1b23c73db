"""Is everything there that was acknowledged, when the sidecar is killed while it closes souls?"""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from soulmem.cli.client import Client
from soulmem.cli.sidecar import await_store
from tests.cli.conftest import start_process
from tests.examples import sized

pytestmark = pytest.mark.timeout(600)
ROUNDS = sized(2, 4)
SOUL, CHAT = "closing", "closing-chat"
# Closes as soon as it rests, which it does after a second.
SETTINGS = """
[idle]
after_seconds = 1.0
close_after_minutes = 0.001
"""


@contextmanager
def sidecar(folder: Path) -> Iterator[tuple[Client, subprocess.Popen[str]]]:
    """A sidecar in a process of its own, killed at the end."""
    folder.mkdir(exist_ok=True)
    (folder / "config.toml").write_text(SETTINGS, encoding="utf-8")
    command = ("serve", "--port", "0", "--data", str(folder), "--json")
    with start_process(*command, SOULMEM_EMBEDDER_MODEL="none") as process:
        assert process.stdout is not None
        url = json.loads(process.stdout.readline())["url"]
        client = Client("127.0.0.1", int(url.removesuffix("/v1").rpartition(":")[2]))
        await_store(client)
        try:
            yield client, process
        finally:
            process.kill()  # SIGKILL
            process.communicate()


def sync(client: Client, count: int) -> None:
    """Show a chat of so many messages, which is acknowledged."""
    messages = []
    for number in range(count):
        text = f"Line {number}: the lantern of day {number} hangs under the bridge."
        messages.append(
            {
                "slot": f"m{number}",
                "hash": hashlib.sha256(text.encode()).hexdigest()[:16],
                "role": "user" if number % 2 else "character",
                "speaker": "Al" if number % 2 else "Bel",
                "text": text,
            }
        )
    body = {"souls": [SOUL], "messages": messages}
    assert not client.ask("PUT", f"/chats/{CHAT}", body).get("needs_text")


def until_closed(client: Client) -> None:
    """Wait until the soul has left memory, without a request that keeps it there."""
    for _ in range(1200):
        souls = client.ask("GET", "/health")["souls"]
        if souls == {"open": 0, "closed": 1}:
            return
        time.sleep(0.05)
    raise AssertionError(f"the soul does not close: {souls}")


@pytest.mark.slow("a sidecar is killed at several moments")
def test_nothing_is_lost_when_it_is_killed_while_souls_close(
    tmp_path: Path, running: Client
) -> None:
    """Killed after it closed, and at any moment of a second in which it rests and closes.

    The sidecar of the other tests, where it never closed, has the same memory.
    """
    draw, count = random.Random(3), 0
    folder = tmp_path / "killed"
    for number in range(ROUNDS):
        with sidecar(folder) as (client, process):
            client.ask("PUT", f"/souls/{SOUL}", {"name": "Bel", "names": []})
            for _ in range(2):
                count += 10
                sync(client, count)
                if number % 2:
                    until_closed(client)  # and the next sync opens it
            if not number % 2:
                time.sleep(1.0 + draw.random())
            process.kill()  # SIGKILL
            process.wait()
    with sidecar(folder) as (client, _):
        chat = client.ask("GET", f"/chats/{CHAT}")
        assert [m["slot"] for m in chat["messages"]] == [f"m{n}" for n in range(count)]
        question = {
            "soul": SOUL,
            "chat": CHAT,
            "query": f"the lantern of day {count // 2}",
            "time_budget_ms": 60_000,  # an answer of which time cut a part would prove nothing
        }
        for is_first in (True, False):
            answer = client.ask("POST", "/recall", question)
            assert any(f"day {count // 2} " in m["text"] for m in answer["memories"])
            if is_first:
                until_closed(client)
        killed = client.ask("GET", f"/souls/{SOUL}/fingerprint")["hash"]
    running.ask("PUT", f"/souls/{SOUL}", {"name": "Bel", "names": []})
    sync(running, count)
    assert running.ask("GET", f"/souls/{SOUL}/fingerprint")["hash"] == killed

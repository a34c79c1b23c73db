"""A whole sidecar in a process of its own, with something in it, for tests that throw things at its routes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from soulmem.cli.client import Client
from soulmem.domain.dialogue import text_hash
from tests.examples import is_long_run

REPOSITORY = Path(__file__).parents[2]
ENVIRONMENT = {
    "SOULMEM_EMBEDDER_MODEL": "fallback" if is_long_run() else "none",
    "PYTHONUNBUFFERED": "1",
    "OMP_NUM_THREADS": "1",
}
LINES = (
    "Mira lost the ring by the river.",
    "Kaelith found it, she says.",
    "We meet at noon.",
    "雨停了。",
)


@contextmanager
def whole_sidecar(folder: Path) -> Iterator[Client]:
    """One in test mode on a free port; it must be alive at the end, and end by itself when asked to."""
    command = [
        sys.executable,
        "-m",
        "soulmem",
        "serve",
        "--test-mode",
        "--port",
        "0",
        "--json",
    ]
    with subprocess.Popen(
        [*command, "--data", str(folder)],
        cwd=REPOSITORY,
        env={**os.environ, **ENVIRONMENT},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    ) as process:
        assert process.stdout is not None
        url = str(json.loads(process.stdout.readline())["url"])
        try:
            yield Client("127.0.0.1", int(url.removesuffix("/v1").rpartition(":")[2]))
            assert process.poll() is None, "the sidecar is gone"
        finally:
            process.terminate()
        assert process.wait(timeout=20) == 0


def settle_in(client: Client) -> dict[str, list[str]]:
    """A soul, a chat, memories, a trace and a job; ids that exist, by the name of the parameter."""
    client.ask("PUT", "/souls/s1", {"name": "Mira"})
    messages = [message(f"m{number}", text) for number, text in enumerate(LINES * 3)]
    client.ask("PUT", "/chats/c1", {"souls": ["s1"], "messages": messages})
    kinds = ("note", "concept", "action")
    made = [
        client.ask("POST", "/memories", {"soul": "s1", "kind": kind, "text": f"a {kind}"})["id"]
        for kind in kinds
    ]
    trace = client.ask("POST", "/recall", {"soul": "s1", "chat": "c1", "query": "the ring"})[
        "trace"
    ]
    job = client.ask("POST", "/jobs", {"kind": "topics", "soul": "s1"})["job"]
    return {
        **{
            "soul": ["s1"],
            "chat": ["c1"],
            "memory": made,
            "center": made,
            "trace": [trace],
            "job": [job],
        },
        "name": ["search_memories", "update_memory_node", "delete_memory"],
    }


def message(slot: str, text: str) -> dict[str, Any]:
    """A message as a client sends it."""
    return {
        "slot": slot,
        "hash": text_hash(text),
        "role": "user",
        "speaker": "Al",
        "text": text,
    }

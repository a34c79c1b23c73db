"""Does `soulmem ask` show what the archivist did, and how to take it back?"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from soulmem.cli.client import Client
from tests.cli.conftest import Command, Ended, start_process

pytestmark = pytest.mark.timeout(120)


class Model:
    """A chat server that plays `turns` one after the other, and then the last one for ever."""

    def __init__(self) -> None:
        self.turns: list[dict[str, Any]] = []
        self.asked: list[dict[str, Any]] = []

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(body)
        turn = self.turns.pop(0) if len(self.turns) > 1 else self.turns[0]
        message = {"role": "assistant", "content": json.dumps(turn)}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return {
            "id": "x",
            "object": "chat.completion",
            "created": 1,
            "model": "tiny",
            "choices": [choice],
        }


@pytest.fixture(scope="module")
def model() -> Iterator[tuple[Model, str]]:
    """The model and its address."""
    played = Model()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            size = int(self.headers["Content-Length"])
            answer = json.dumps(played.answer(json.loads(self.rfile.read(size))))
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(answer.encode())

        def log_message(self, *_: object) -> None:
            """Nothing is printed."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield played, f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="module")
def sidecar(
    model: tuple[Model, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Client]:
    """A sidecar with that model, and a character."""
    folder: Path = tmp_path_factory.mktemp("asked")
    with start_process(
        "serve",
        *("--port", "0", "--data", str(folder), "--json"),
        SOULMEM_LLM_BASE_URL=model[1],
        SOULMEM_LLM_MODEL="tiny",
    ) as process:
        assert process.stdout is not None
        url = json.loads(process.stdout.readline())["url"]
        client = Client("127.0.0.1", int(url.removesuffix("/v1").rpartition(":")[2]))
        client.ask("PUT", "/souls/s1", {"name": "Mira"})
        yield client
        process.terminate()
        process.communicate(timeout=20)


def asked(command: Command, sidecar: Client, *argv: str) -> Ended:
    return command("ask", "--soul", "Mira", "--port", str(sidecar.port), *argv)


def note(sidecar: Client, text: str, **more: Any) -> str:
    body = {"soul": "s1", "kind": "note", "text": text, **more}
    return str(sidecar.ask("POST", "/memories", body)["id"])


def test_what_was_done_is_shown_and_can_be_taken_back(
    command: Command, sidecar: Client, model: tuple[Model, str]
) -> None:
    rain, core = note(sidecar, "rain"), note(sidecar, "no nuts", permanent=True)
    rewording = {"memory_id": rain, "new_content": "hail"}
    forbidden = {"memory_id": core, "new_content": "nuts"}
    model[0].turns = [
        {"tool": "update_memory_node", "arguments": rewording},
        {"tool": "update_memory_node", "arguments": forbidden},
        {"said": "It hails now."},
    ]
    shown = asked(command, sidecar, "Make it hail.")
    assert shown.code == 0
    for words in (
        "update_memory_node",
        "hail",
        "permanent",
        "It hails now.",
        "3 calls",
    ):
        assert words in shown.out
    assert "Make it hail." in json.dumps(model[0].asked)
    (job,) = [
        job["job"]
        for job in sidecar.ask("GET", "/jobs?soul=s1")["jobs"]
        if job["kind"] == "assistant"
    ]
    assert job in shown.out
    undone = command(
        "undo", "--soul", "Mira", "--job", job, "--port", str(sidecar.port)
    )
    assert undone.code == 0
    assert sidecar.ask("GET", f"/memories/{rain}")["text"] == "rain"


def test_the_result_is_printed_as_json(
    command: Command, sidecar: Client, model: tuple[Model, str]
) -> None:
    model[0].turns = [{"said": "Nothing to do."}]
    result = asked(command, sidecar, "Look.", "--json").json()
    assert (result["said"], result["did"], result["calls"]) == ("Nothing to do.", [], 1)


def test_without_a_model_it_says_what_to_set(ask: Command, running: Client) -> None:
    running.ask("PUT", "/souls/ask-none", {"name": "Ask None"})
    failed = ask("ask", "--soul", "Ask None", "tidy up")
    assert failed.code == 1
    assert "SOULMEM_LLM_MODEL" in failed.err
    assert "SOULMEM_LLM_MODEL" in ask("ask", "--soul", "ask-none", "tidy up").err
    blank = ask("ask", "--soul", "Ask None", " ")
    assert (blank.code, "instruction" in blank.err) == (1, True)

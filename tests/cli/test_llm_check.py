"""Does the doctor tell how the language model of the settings is, without a call and without its key?"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from soulmem.cli.doctor import look_at
from soulmem.cli.words import Words
from soulmem.config.settings import LlmEndpoint

WELL: dict[str, Any] = {"llm": {"state": "ok", "model": "tiny"}}
ILL: dict[str, Any] = {"llm": {"state": "error", "model": "tiny"}}


class Server(HTTPServer):
    """Lists models."""

    answer: tuple[int, bytes] = (
        200,
        json.dumps({"data": [{"id": "tiny"}, {"id": "org/big"}]}).encode(),
    )
    seen: tuple[str, str | None] = ("", None)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.seen = self.path, self.headers.get("Authorization")
        status, body = self.server.answer
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


@pytest.fixture
def server() -> Iterator[Server]:
    """A server of models, on a thread."""
    made = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


@pytest.fixture(params=["en", "zh"])
def words(request: pytest.FixtureRequest) -> Words:
    """Both languages."""
    return Words(request.param)


def test_none_is_no_trouble(words: Words) -> None:
    assert look_at(None, None, words)[0] == "ok"


@pytest.mark.parametrize("model", ["tiny", "openai/tiny", "org/big", "openai/org/big"])
def test_a_server_that_lists_it(
    words: Words, server: Server, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # not for what is on this machine
    state, detail, remedy = look_at(LlmEndpoint(server.url, model, "secret"), WELL, words)
    assert (state, remedy) == ("ok", None)
    assert server.url in detail
    assert "secret" not in detail
    assert server.seen == ("/v1/models", "Bearer secret")


def test_a_server_that_does_not_list_it(words: Words, server: Server) -> None:
    state, detail, _ = look_at(LlmEndpoint(server.url, "else", ""), None, words)
    assert state == "warn"
    assert "org/big, tiny" in detail
    assert server.seen[1] is None


@pytest.mark.parametrize(
    "answer", [(404, b"no"), (200, b"no"), (200, b"[]"), (200, b'{"data": [7]}')]
)
def test_a_server_that_lists_nothing_may_do_all_the_same(
    words: Words, server: Server, answer: tuple[int, bytes]
) -> None:
    server.answer = answer
    assert look_at(LlmEndpoint(server.url, "tiny", ""), None, words)[0] == "ok"


def test_a_wrong_key_is_told(words: Words, server: Server) -> None:
    server.answer = 401, b"who are you"
    state, _, remedy = look_at(LlmEndpoint(server.url, "tiny", "wrong"), None, words)
    assert state == "warn"
    assert "llm.api_key" in (remedy or "")


def test_a_server_that_is_not_there(words: Words) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    assert look_at(LlmEndpoint(url, "tiny", ""), None, words)[0] == "warn"


def test_what_the_sidecar_saw_counts(words: Words, server: Server) -> None:
    assert look_at(LlmEndpoint(server.url, "tiny", ""), ILL, words)[0] == "warn"
    assert look_at(LlmEndpoint("", "client", ""), ILL, words)[0] == "warn"
    assert look_at(LlmEndpoint("", "client", ""), WELL, words)[0] == "ok"
    assert look_at(LlmEndpoint("", "deepseek/deepseek-chat", "secret"), None, words)[0] == "ok"

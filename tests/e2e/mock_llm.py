"""A stand-in for the language model that keeps its prompts and answers from a script."""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from .archivist import answer, is_work


@dataclass(frozen=True, slots=True)
class Prompt:
    """One chat completion request as it reached the model."""

    messages: tuple[dict[str, Any], ...]
    arrived: float  # seconds on time.monotonic()
    model: str = ""
    max_tokens: int | None = None
    tools: tuple[str, ...] = ()  # names of the functions that it may call

    def count(self, text: str) -> int:
        """In how many messages of any role `text` stands."""
        return sum(text in message["content"] for message in self.messages)

    def in_chat(self, text: str) -> int:
        """In how many messages of the chat itself, i.e. of user or assistant, `text` stands."""
        return sum(
            text in m["content"] for m in self.messages if m["role"] in ("user", "assistant")
        )

    def recalled(self, text: str) -> int:
        """In how many system messages `text` stands; no card or preset of these tests holds a fact."""
        return sum(text in m["content"] for m in self.messages if m["role"] == "system")

    def __str__(self) -> str:
        return "\n".join(f"[{m['role']}] {m['content']}" for m in self.messages)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """An answer that calls a function."""

    name: str
    arguments: dict[str, Any]

    def parts(self) -> list[dict[str, Any]]:
        """It as a message has it, whole or as the only piece of a stream."""
        function = {"name": self.name, "arguments": json.dumps(self.arguments)}
        return [{"index": 0, "id": "call_1", "type": "function", "function": function}]


class MockLlm:
    """An OpenAI-compatible server on loopback. Unscripted replies are numbered small talk.

    Prompts of memory work stand apart, in `work`; `archivist` answers them. While `works` or `replies` is
    clear their answers wait.
    """

    def __init__(self, port: int) -> None:
        self.prompts: list[Prompt] = []
        self.work: list[Prompt] = []
        self.archivist: Callable[[Prompt], str] = answer
        self.works, self.replies = threading.Event(), threading.Event()
        self.works.set()
        self.replies.set()
        self._script: deque[str | ToolCall] = deque()
        self._server = ThreadingHTTPServer(("127.0.0.1", port), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{port}/v1"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def will_say(self, *replies: str | ToolCall) -> None:
        """The next answers, in order."""
        self._script.extend(replies)

    def forget(self) -> None:
        """Drop prompts and script of the test before."""
        self.prompts.clear()
        self.work.clear()
        self._script.clear()
        self.archivist = answer
        self.works.set()
        self.replies.set()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _answer_to(self, body: dict[str, Any]) -> str | ToolCall:
        messages = tuple(
            message | {"content": message.get("content") or ""} for message in body["messages"]
        )
        prompt = Prompt(
            messages,
            time.monotonic(),
            str(body.get("model")),
            body.get("max_tokens"),
            tuple(tool["function"]["name"] for tool in body.get("tools") or ()),
        )
        if is_work(prompt):
            self.work.append(prompt)
            self.works.wait()
            return self.archivist(prompt)
        self.prompts.append(prompt)
        self.replies.wait()
        return (
            self._script.popleft() if self._script else f"Mm. Let us walk on. ({len(self.prompts)})"
        )

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        mock = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: object) -> None:
                """Quiet."""

            def do_GET(self) -> None:
                self._json({"object": "list", "data": [{"id": "mock-1", "object": "model"}]})

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                said = mock._answer_to(body)
                if body.get("stream"):
                    self._stream(said)
                else:
                    message: dict[str, Any] = {"role": "assistant", "content": said}
                    if isinstance(said, ToolCall):
                        message |= {"content": None, "tool_calls": said.parts()}
                    choice = {"index": 0, "finish_reason": "stop", "message": message}
                    self._json(
                        {
                            "id": "mock",
                            "object": "chat.completion",
                            "model": "mock-1",
                            "choices": [choice],
                        }
                    )

            def _stream(self, said: str | ToolCall) -> None:
                self._start("text/event-stream")
                deltas: list[dict[str, Any]] = (
                    [{"tool_calls": said.parts()}]
                    if isinstance(said, ToolCall)
                    else [{"content": piece + " "} for piece in said.split(" ")]
                )
                for delta in deltas:
                    event = {"choices": [{"index": 0, "delta": delta}]}
                    self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
                self.wfile.write(b"data: [DONE]\n\n")

            def _json(self, answer: object) -> None:
                self._start("application/json")
                self.wfile.write(json.dumps(answer).encode())

            def _start(self, content_type: str) -> None:
                self.send_response(200)
                self.send_header("Content-Type", content_type)
                self.send_header("Connection", "close")
                self.end_headers()

        return Handler

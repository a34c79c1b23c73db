"""A chat server in OpenAI's manner that answers from a script and remembers what it was asked."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer


@dataclass
class Script:
    """What the server does next: `text` or `status`; `hold` keeps it waiting; what it was asked."""

    text: str | None = "yes"
    status: int = 200
    message: str = "the model fell over"
    refuses_schema: bool = False
    refuses_tools: bool = False
    # name and arguments of the tools that it calls
    calls: list[tuple[str, str]] = field(default_factory=list)
    reasoning: str | None = None
    usage: bool = True
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    hold: asyncio.Event = field(default_factory=asyncio.Event)
    # Set when a caller hung up.
    hung_up: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.hold.set()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """One call."""
        body = await request.json()
        self.asked.append(body)
        self.keys.append(request.headers.get("Authorization", ""))
        self.paths.append(request.path)
        try:
            await self.hold.wait()
        except asyncio.CancelledError:
            self.hung_up.set()
            raise
        if self.refuses_schema and "response_format" in body:
            return self._error(400, "response_format is not supported")
        if self.refuses_tools and "tools" in body:
            return self._error(400, "tools are not supported")
        if self.status != 200:
            return self._error(self.status, self.message)
        message: dict[str, Any] = {"role": "assistant", "content": self.text}
        if self.calls and "tools" in body:
            message = {
                "role": "assistant",
                "content": None,
                "tool_calls": self._calls(),
            }
        if self.reasoning is not None:
            message["reasoning_content"] = self.reasoning
        answer: dict[str, Any] = {
            "id": "x",
            "object": "chat.completion",
            "created": 1,
            "model": "tiny",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        }
        if self.usage:
            answer["usage"] = {
                "prompt_tokens": 21,
                "completion_tokens": 7,
                "total_tokens": 28,
            }
        text = await asyncio.to_thread(json.dumps, answer)  # some are endless
        return web.Response(text=text, content_type="application/json")

    def _calls(self) -> list[dict[str, Any]]:
        return [
            {
                "id": f"call_{number}",
                "type": "function",
                "function": {"name": name, "arguments": arguments},
            }
            for number, (name, arguments) in enumerate(self.calls)
        ]

    def _error(self, status: int, message: str) -> web.Response:
        body = json.dumps({"error": {"message": message, "type": "invalid_request_error"}})
        return web.Response(status=status, text=body, content_type="application/json")


async def serve(script: Script) -> TestServer:
    """The server, running; its address is `server.make_url("/v1")`."""
    app = web.Application()
    app.router.add_post("/v1/chat/completions", script.answer)
    app.router.add_post("/api/chat", script.answer)
    server = TestServer(app, handler_cancellation=True)
    await server.start_server()
    return server

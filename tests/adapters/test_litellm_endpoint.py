"""What does litellm's endpoint send, what does it make of refusals, and what does it keep to itself?"""

from __future__ import annotations

import logging
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import pytest

from soulmem.adapters.litellm_endpoint import LitellmEndpoint
from soulmem.domain.llm import (
    Failure,
    LlmFailed,
    Prompt,
    ToolRequest,
    ToolSpec,
    ToolTurn,
    ToolUse,
    Unreadable,
)
from tests.adapters.llm_server import Script, serve

pytestmark = [
    pytest.mark.filterwarnings("ignore::Warning:litellm", "ignore::Warning:pydantic"),
]

CHAT = "Hester buried the locket in the bakery, and nobody else may ever know."
PROMPT = Prompt(
    "summary",
    1,
    "You write.",
    CHAT,
    {"type": "object", "properties": {"summary": {}}},
    33,
)
KEY = "opensesame-0815-4711"
Make = Callable[..., LitellmEndpoint]


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
async def make(script: Script) -> AsyncIterator[Make]:
    """Makes endpoints of one scripted server."""
    server, made = await serve(script), list[LitellmEndpoint]()

    def endpoint(
        model: str = "tiny", *, path: str = "/v1", timeout: float = 30.0
    ) -> LitellmEndpoint:
        made.append(LitellmEndpoint(str(server.make_url(path)).rstrip("/"), model, KEY, timeout))
        return made[-1]

    yield endpoint
    script.hold.set()
    for each in made:
        await each.stop()
    await server.close()


@pytest.mark.slow("imports litellm")
async def test_an_answer_without_end_is_not_read_to_it(make: Make, script: Script) -> None:
    script.text = "x" * (5 << 20)
    with pytest.raises(LlmFailed, match="more than 4 MiB") as caught:
        await make().complete(PROMPT)
    assert caught.value.kind is Failure.UNREADABLE
    script.text = "x" * (1 << 20)
    assert len((await make().complete(PROMPT)).text) == 1 << 20


async def test_one_call_is_one_request(make: Make, script: Script) -> None:
    answer = await make().complete(PROMPT)
    (asked,) = script.asked
    assert asked["model"] == "tiny"
    assert asked["messages"] == [
        {"role": "system", "content": "You write."},
        {"role": "user", "content": CHAT},
    ]
    assert asked["max_tokens"] == 33
    assert asked["response_format"]["json_schema"]["schema"] == PROMPT.schema
    assert script.keys == [f"Bearer {KEY}"]
    assert (answer.prompt_tokens, answer.answer_tokens) == (21, 7)


async def test_tokens_are_estimated_where_the_server_tells_none(make: Make, script: Script) -> None:
    script.usage = False
    answer = await make().complete(PROMPT)
    assert answer.prompt_tokens > 10
    assert answer.answer_tokens >= 1


@pytest.mark.parametrize(
    ("model", "sent"),
    [("tiny", "tiny"), ("openai/tiny", "tiny"), ("org/tiny:7b", "org/tiny:7b")],
)
async def test_names_reach_the_server_as_they_are(
    make: Make, script: Script, model: str, sent: str
) -> None:
    await make(model).complete(PROMPT)
    assert script.asked[0]["model"] == sent


async def test_other_manners_than_openais(make: Make, script: Script) -> None:
    with pytest.raises(LlmFailed):  # the script does not speak Ollama's language, but it hears it
        await make("ollama_chat/tiny", path="/").complete(PROMPT)
    assert script.paths == ["/api/chat"]
    assert script.asked[0]["model"] == "tiny"


async def test_a_refused_schema_is_asked_for_no_more(make: Make, script: Script) -> None:
    script.refuses_schema = True
    endpoint = make()
    assert (await endpoint.complete(PROMPT)).text == "yes"
    assert (await endpoint.complete(PROMPT)).text == "yes"
    assert ["response_format" in asked for asked in script.asked] == [
        True,
        False,
        False,
    ]


TOOLS = ToolUse(
    (ToolSpec("search", "Finds.", {"type": "object", "properties": {}}),),
    (ToolTurn((ToolRequest("c1", "search", '{"query": "rain"}'),), ('{"memories": []}',)),),
)


async def test_tools_and_earlier_calls_reach_the_server_and_its_calls_come_back(
    make: Make, script: Script
) -> None:
    script.calls = [("search", '{"query": "sun"}'), ("search", "{}")]
    answer = await make().complete(replace(PROMPT, schema=None, tools=TOOLS))
    (asked,) = script.asked
    assert asked["tools"][0]["function"]["name"] == "search"
    earlier, result = asked["messages"][2:]
    assert earlier["tool_calls"][0]["function"]["arguments"] == '{"query": "rain"}'
    assert (result["role"], result["tool_call_id"]) == ("tool", "c1")
    assert result["content"] == '{"memories": []}'
    assert answer.requests == (
        ToolRequest("call_0", "search", '{"query": "sun"}'),
        ToolRequest("call_1", "search", "{}"),
    )


async def test_a_server_without_tools_is_known_once_it_answers_without_them(
    make: Make, script: Script
) -> None:
    script.refuses_tools = True
    endpoint = make()
    with pytest.raises(LlmFailed) as raised:
        await endpoint.complete(replace(PROMPT, schema=None, tools=TOOLS))
    assert raised.value.kind is Failure.REFUSED
    assert endpoint.takes_tools  # it may have refused something else
    await endpoint.complete(PROMPT)
    assert not endpoint.takes_tools


async def test_a_refusal_of_something_else_is_no_refusal_of_the_schema(
    make: Make, script: Script
) -> None:
    script.status, script.message = 400, "no such model"
    endpoint = make()
    with pytest.raises(LlmFailed) as raised:
        await endpoint.complete(PROMPT)
    assert raised.value.kind is Failure.REFUSED
    script.status = 200
    await endpoint.complete(PROMPT)
    assert "response_format" in script.asked[-1]


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, Failure.REFUSED),
        (403, Failure.REFUSED),
        (404, Failure.REFUSED),
        (429, Failure.SERVER),
        (500, Failure.SERVER),
        (503, Failure.SERVER),
    ],
)
async def test_statuses_have_kinds(make: Make, script: Script, status: int, kind: Failure) -> None:
    script.status = status
    with pytest.raises(LlmFailed) as raised:
        await make().complete(PROMPT)
    assert raised.value.kind is kind
    assert "tiny" in raised.value.message
    assert len(script.asked) <= 2  # a schema may be at fault; nothing else is tried again
    assert status != 500 or len(script.asked) == 1


async def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    endpoint = LitellmEndpoint(f"http://127.0.0.1:{port}/v1", "tiny", KEY, 30.0)
    with pytest.raises(LlmFailed) as raised:
        await endpoint.complete(PROMPT)
    assert raised.value.kind is Failure.UNREACHABLE
    assert str(port) in raised.value.message
    await endpoint.stop()


async def test_no_answer_in_time(make: Make, script: Script) -> None:
    script.hold.clear()
    with pytest.raises(LlmFailed, match=r"in 0\.4 s") as raised:
        await make(timeout=0.4).complete(PROMPT)
    assert raised.value.kind is Failure.TIMEOUT


async def test_a_model_that_thinks_gets_room_for_it(make: Make, script: Script) -> None:
    script.text, script.reasoning = "", "I wonder"
    endpoint = make()
    with pytest.raises(Unreadable, match="reasoning"):
        await endpoint.complete(PROMPT)
    script.text = "yes"
    assert (await endpoint.complete(PROMPT)).text == "yes"
    assert script.asked[1]["max_tokens"] > script.asked[0]["max_tokens"] == 33


@pytest.mark.parametrize(
    "message",
    [f"you sent {KEY}, which is wrong", f"too long: {CHAT}", f"input: '{CHAT[10:50]}'"],
)
async def test_neither_key_nor_chat_is_told(
    make: Make,
    script: Script,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    message: str,
) -> None:
    script.status, script.message = 422, message
    with caplog.at_level(logging.DEBUG), pytest.raises(LlmFailed) as raised:
        await make().complete(PROMPT)
    written = capfd.readouterr()
    output = raised.value.message + caplog.text + written.out + written.err
    assert KEY not in output
    assert "locket in the bakery" not in output


async def test_stopping_breaks_off_what_runs(make: Make, script: Script) -> None:
    endpoint = make()
    await endpoint.complete(PROMPT)
    await endpoint.stop()
    await endpoint.stop()
    assert (await endpoint.complete(PROMPT)).text == "yes"  # it begins anew


@pytest.mark.slow("imports litellm in a process of its own")
def test_importing_it_asks_nobody_and_takes_no_time() -> None:
    """The library comes with the first call; then it asks nobody but the model."""
    code = """
import sys, socket, time, asyncio
began = time.monotonic()
from soulmem.adapters.litellm_endpoint import LitellmEndpoint, _library
assert "litellm" not in sys.modules
asked = []
def refuse(self, address):
    asked.append(address)
    raise OSError("no network")
socket.socket.connect = socket.socket.connect_ex = refuse
socket.getaddrinfo = lambda *a, **k: refuse(None, a)
library = _library()
assert "litellm" in sys.modules
assert asked == [], asked
"""
    env = {name: value for name, value in os.environ.items() if not name.startswith("LITELLM")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr

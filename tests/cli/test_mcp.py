"""Can a client of the Model Context Protocol use a character's memory, and does all end in words?"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from soulmem.cli.client import Client
from soulmem.domain.dialogue import text_hash
from tests.cli.conftest import ENVIRONMENT, REPOSITORY, Command, start_process

pytestmark = pytest.mark.timeout(120)

PING = {"jsonrpc": "2.0", "id": 9, "method": "ping"}


@pytest.fixture(scope="module")
def mira(running: Client) -> str:
    running.ask("PUT", "/souls/mcp-mira", {"name": "Mira of the tools"})
    texts = ("The well is deep.", "The brass key fell into it.", "Good night.")
    rows = [
        {"slot": f"mcp{n}", "role": "user", "text": text, "hash": text_hash(text)}
        for n, text in enumerate(texts)
    ]
    running.ask("PUT", "/chats/mcp-chat", {"souls": ["mcp-mira"], "messages": rows})
    return "Mira of the tools"


@pytest.fixture(scope="module")
def quiet() -> Iterator[TextIO]:
    """Where the servers' notes go."""
    with Path(os.devnull).open("w") as nothing:
        yield nothing


@asynccontextmanager
async def session(quiet: TextIO, *argv: str) -> AsyncIterator[ClientSession]:
    """The SDK's own client, connected."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "soulmem", "mcp", *argv],
        env={**os.environ, **ENVIRONMENT},
        cwd=REPOSITORY,
    )
    async with (
        stdio_client(server, errlog=quiet) as (incoming, outgoing),
        ClientSession(incoming, outgoing) as client,
    ):
        await client.initialize()
        yield client


def text_of(result: Any) -> str:
    return "\n".join(part.text for part in result.content)


async def test_the_sdks_client_lists_and_calls_every_tool(
    running: Client, mira: str, quiet: TextIO
) -> None:
    async with session(quiet, "--soul", mira, "--port", str(running.port)) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        listed = (await asyncio.to_thread(running.ask, "GET", "/tools"))["tools"]
        assert set(tools) == {tool["name"] for tool in listed}
        kept = await client.call_tool(
            "remember", {"content": "The brass key is in the well.", "tags": ["key"]}
        )
        memory = json.loads(text_of(kept))["memory"]
        found = await client.call_tool("search_memories", {"query": "brass key"})
        assert memory in text_of(found)
        rating = {"memory_id": memory, "useful": 1.0}
        arguments: dict[str, dict[str, Any]] = {
            "save_permanent_memory": {"content": "She swims.", "reason": "asked"},
            "rate_memories": {"ratings": [rating]},
            "update_memory_node": {"memory_id": memory, "new_content": "It is dry."},
            "delete_memory": {"memory_id": memory, "reason": "tidy"},
            "create_daily_summary": {"context": "the key"},
            "archive_memories": {"period": "day"},
            "call_assistant": {"instruction": "tidy up"},
        }
        assert set(arguments) | {"remember", "search_memories"} == set(tools)
        failed = [
            name
            for name, given in arguments.items()
            if (await client.call_tool(name, given)).is_error
        ]
        assert failed == ["call_assistant"]  # there is no language model
    stored = await asyncio.to_thread(running.ask, "GET", f"/memories/{memory}")
    assert stored["text"] == "It is dry."


async def test_errors_are_words_for_the_model(running: Client, mira: str, quiet: TextIO) -> None:
    where = ("--soul", mira, "--port", str(running.port), "--actor", "lead")
    async with session(quiet, *where) as client:
        assert len((await client.list_tools()).tools) == 4
        wrong = await client.call_tool("remember", {"text": "no content"})
        assert wrong.is_error
        assert "content" in text_of(wrong) or "text" in text_of(wrong)
        wrong = await client.call_tool("search_memories", {"query": "x", "limit": "many"})
        assert "int" in text_of(wrong)
        assert "arguments.limit" in text_of(wrong)
        with pytest.raises(Exception, match="no tool 'rate_memories'"):
            await client.call_tool("rate_memories", {"ratings": []})


def serving(process: subprocess.Popen[str]) -> str:
    """The line on standard error that says that it serves."""
    assert process.stderr is not None
    return process.stderr.readline()


def talk(*argv: str, lines: list[str]) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "soulmem", "mcp", *argv],
        cwd=REPOSITORY,
        # A sidecar that it starts finds by words.
        env={**os.environ, **ENVIRONMENT, "SOULMEM_EMBEDDER_MODEL": "none"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    assert process.stdin is not None
    for line in lines:
        process.stdin.write(line + "\n")
    process.stdin.flush()
    return process


HELLO = [
    json.dumps(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            },
        }
    ),
    json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
]


def test_malformed_lines_are_answered_and_the_end_of_input_ends_it(
    running: Client, mira: str
) -> None:
    where = ("--soul", mira, "--port", str(running.port))
    process = talk(*where, lines=[*HELLO, "{broken", '{"id": 3}', json.dumps(PING)])
    assert process.stdout is not None
    answers = [json.loads(process.stdout.readline()) for _ in range(4)]
    by_id = {answer["id"]: answer for answer in answers}
    assert by_id[None]["error"]["code"] == -32700
    assert by_id[3]["error"]["code"] == -32600
    assert by_id[9]["result"] == {}
    assert by_id[1]["result"]["serverInfo"]["name"] == "soulmem"
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (0, "")
    assert "MCP is over" in err


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for others")
def test_ctrl_c_ends_it_in_words(running: Client, mira: str) -> None:
    process = talk("--soul", mira, "--port", str(running.port), lines=HELLO)
    assert "Mira of the tools" in serving(process)
    process.send_signal(signal.SIGINT)
    # Its input stays open: `communicate` closes it, and the end of the input would end it as well.
    process.wait(timeout=20)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "Stopped." in err
    assert "Traceback" not in err


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for others")
@pytest.mark.parametrize(
    "how",
    [
        "twice",
        "terminate",
        pytest.param("int", marks=pytest.mark.nightly),
        "end of input",
    ],
)
def test_it_ends_though_nobody_reads_its_answers(running: Client, mira: str, how: str) -> None:
    process = talk("--soul", mira, "--port", str(running.port), lines=HELLO)
    serving(process)
    listing = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "tools/list"})
    assert process.stdin is not None
    process.stdin.write(f"{listing}\n" * 60)  # answers of 10 kB: no pipe holds them
    process.stdin.flush()
    if how == "terminate":
        process.terminate()
    elif how == "end of input":
        process.stdin.close()
    else:
        process.send_signal(signal.SIGINT)
        if how == "twice":
            process.send_signal(signal.SIGINT)
    process.wait(timeout=30)
    assert process.stdout is not None
    assert process.stderr is not None
    words = process.stderr.read()
    with suppress(BrokenPipeError):  # what it did not read
        process.stdin.close()
    process.stdout.close()
    process.stderr.close()
    assert process.returncode == (0 if how == "end of input" else 130)
    assert "Traceback" not in words


@pytest.mark.slow("four processes, one after another")
def test_a_second_one_uses_the_sidecar_of_the_first_with_the_token_of_the_folder(
    tmp_path: Path,
) -> None:
    data = str(tmp_path / "data")
    command = ("serve", "--port", "0", "--data", data, "--json")
    with start_process(*command, SOULMEM_EMBEDDER_MODEL="none") as first:
        assert first.stdout is not None
        port = json.loads(first.stdout.readline())["url"].rpartition(":")[2][:-3]
        Client("127.0.0.1", int(port)).ask("PUT", "/souls/s1", {"name": "Mira"})
        first.terminate()
        first.communicate(timeout=30)
    where = ("--soul", "Mira", "--port", port, "--data", data)
    one = talk(*where, lines=HELLO)
    assert f":{port}" in serving(one)
    other = talk(*where, lines=[*HELLO, json.dumps(PING)])
    assert f":{port}" in serving(other)
    assert other.stdout is not None
    answers = [json.loads(other.stdout.readline()) for _ in range(2)]
    assert {answer["id"] for answer in answers} == {1, 9}
    for process in (other, one):
        process.communicate(timeout=30)
        assert process.returncode == 0


@pytest.mark.slow("three processes, one after another")
def test_a_sidecar_that_dies_is_told_in_the_answer(tmp_path: Path) -> None:
    data = str(tmp_path / "data")
    command = ("serve", "--port", "0", "--data", data, "--json")
    with start_process(*command, SOULMEM_EMBEDDER_MODEL="none") as first:
        assert first.stdout is not None
        port = json.loads(first.stdout.readline())["url"].rpartition(":")[2][:-3]
        Client("127.0.0.1", int(port)).ask("PUT", "/souls/s1", {"name": "Mira"})
        process = talk("--soul", "Mira", "--port", port, lines=HELLO)
        serving(process)
        first.kill()
        first.communicate(timeout=20)
    params = {"name": "remember", "arguments": {"content": "x"}}
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(call) + "\n")
    process.stdin.flush()
    answers = [json.loads(process.stdout.readline()) for _ in range(2)]
    (result,) = [answer["result"] for answer in answers if answer["id"] == 2]
    assert result["isError"]
    assert "does not answer" in result["content"][0]["text"]
    process.communicate(timeout=20)
    assert process.returncode == 0


def test_an_unknown_character_and_a_missing_library_are_errors(
    ask: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    unknown = ask("mcp", "--soul", "Nobody")
    assert unknown.code == 1
    assert "Nobody" in unknown.err
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    missing = ask("mcp", "--soul", "Nobody")
    assert missing.code == 1
    assert "install --mcp" in missing.err

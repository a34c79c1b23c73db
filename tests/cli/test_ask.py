"""Does `soulmem ask` show what the archivist did, and how to take it back?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from soulmem import bootstrap
from soulmem.cli.client import Client
from soulmem.cli.sidecar import Momentary
from soulmem.config import load
from soulmem.engine.llm.sources import LlmSources
from tests.cli.conftest import Command, Ended
from tests.fakes.llm import FakeLlm

pytestmark = pytest.mark.timeout(120)


@pytest.fixture(scope="module")
def model() -> FakeLlm:
    """The model that the settings name: it plays what a test gives it."""
    return FakeLlm(name="tiny")


@pytest.fixture(scope="module")
def sidecar(model: FakeLlm, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A sidecar with that model, and a character. The library that talks to real ones takes seconds to load."""
    chosen = {
        "store.data": tmp_path_factory.mktemp("asked"),
        "embedder.model": "none",
        "llm.base_url": "http://127.0.0.1:9/v1",
        "llm.model": "tiny",
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bootstrap, "_llms", lambda *_: LlmSources(lambda _owner: model))
        with Momentary(load(None, overrides=chosen)) as client:
            client.ask("PUT", "/souls/s1", {"name": "Mira"})
            yield client


def play(model: FakeLlm, *turns: dict[str, Any]) -> None:
    """Let the model answer with these, one after the other."""
    model.then(map(json.dumps, turns))


def asked(command: Command, sidecar: Client, *argv: str) -> Ended:
    return command("ask", "--soul", "Mira", "--port", str(sidecar.port), *argv)


def note(sidecar: Client, text: str, **more: Any) -> str:
    body = {"soul": "s1", "kind": "note", "text": text, **more}
    return str(sidecar.ask("POST", "/memories", body)["id"])


def test_what_was_done_is_shown_and_can_be_taken_back(
    command: Command, sidecar: Client, model: FakeLlm
) -> None:
    rain, core = note(sidecar, "rain"), note(sidecar, "no nuts", permanent=True)
    rewording = {"memory_id": rain, "new_content": "hail"}
    forbidden = {"memory_id": core, "new_content": "nuts"}
    play(
        model,
        {"tool": "update_memory_node", "arguments": rewording},
        {"tool": "update_memory_node", "arguments": forbidden},
        {"said": "It hails now."},
    )
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
    assert "Make it hail." in str(model.asked)
    (job,) = [
        job["job"]
        for job in sidecar.ask("GET", "/jobs?soul=s1")["jobs"]
        if job["kind"] == "assistant"
    ]
    assert job in shown.out
    undone = command("undo", "--soul", "Mira", "--job", job, "--port", str(sidecar.port))
    assert undone.code == 0
    assert sidecar.ask("GET", f"/memories/{rain}")["text"] == "rain"


def test_the_result_is_printed_as_json(command: Command, sidecar: Client, model: FakeLlm) -> None:
    play(model, {"said": "Nothing to do."})
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

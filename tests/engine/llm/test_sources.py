"""Each owner gets its own model, and health shows the outcome of the last call."""

from __future__ import annotations

import pytest

from soulmem.domain.errors import NotFound
from soulmem.domain.ids import DEFAULT_OWNER, Owner
from soulmem.domain.llm import Failure, LlmFailed, Prompt, Unreadable
from soulmem.domain.phrases import Wording
from soulmem.engine.llm.sources import LlmAccess, LlmHealth, LlmSources
from soulmem.ports.llm import Llm
from tests.fakes.llm import FakeLlm

PROMPT = Prompt("test", 1, "", "Is it so?", None, 9)


def never() -> bool:
    return False


async def ask(llm: Llm | None) -> str:
    assert llm is not None
    return (await llm.complete(PROMPT)).text


def test_without_models_it_is_off() -> None:
    llms = LlmAccess(None, never)
    assert (llms.archivist(DEFAULT_OWNER), llms.has_archivist) == (None, False)
    assert llms.health() == LlmHealth("off", None)
    assert llms.take(DEFAULT_OWNER) is None
    with pytest.raises(NotFound):
        llms.answer(DEFAULT_OWNER, "x", "text", None)
    with pytest.raises(NotFound):
        llms.give_back(DEFAULT_OWNER, "x")


async def test_the_last_call_tells_how_it_is() -> None:
    unreachable = LlmFailed(Failure.UNREACHABLE, "the model fake cannot be reached")
    fake = FakeLlm("yes", unreachable, Unreadable("babble"), unreachable, "yes")
    llms = LlmAccess(fake, never)
    assert llms.health() == LlmHealth("ok", "fake")
    seen: list[tuple[Failure | None, str, tuple[Wording, ...]]] = []
    for _ in range(5):
        try:
            await ask(llms.archivist(DEFAULT_OWNER))
        except LlmFailed as failed:
            seen.append((failed.kind, llms.health().state, llms.notes()))
        else:
            seen.append((None, llms.health().state, llms.notes()))
    note = ("the model fake cannot be reached",)
    assert seen == [
        (None, "ok", ()),
        (Failure.UNREACHABLE, "error", note),
        (Failure.UNREADABLE, "ok", ()),
        (Failure.UNREACHABLE, "error", note),
        (None, "ok", ()),
    ]


async def test_each_owner_has_its_own() -> None:
    models: dict[str, FakeLlm] = {}

    def archivist(owner: Owner) -> Llm:
        return models.setdefault(owner, FakeLlm(f"for {owner}"))

    llms = LlmAccess(LlmSources(archivist=archivist), never)
    assert await ask(llms.archivist(Owner("ann"))) == "for ann"
    assert await ask(llms.archivist(Owner("bob"))) == "for bob"


async def test_stopping_stops_all() -> None:
    stopped = []

    async def stop() -> None:
        stopped.append(1)

    await LlmAccess(LlmSources(stop=(stop, stop)), never).stop()
    assert stopped == [1, 1]

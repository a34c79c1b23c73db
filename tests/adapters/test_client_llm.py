"""How long does a call wait for a client, and whose is it?"""

from __future__ import annotations

import asyncio

import pytest

from soulmem.adapters.client_llm import ClientDesk, ClientParams
from soulmem.domain.errors import NotFound
from soulmem.domain.ids import DEFAULT_OWNER, Owner
from soulmem.domain.llm import Completion, Failure, LlmFailed, Prompt
from soulmem.ports.llm import LlmRequest

PROMPT = Prompt("summary", 1, "You write.", "Write this.", None, 30)
SHORT = ClientParams(answer=0.3, fetch=0.1, lease=0.1)


class Time:
    """Seconds that a test moves."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def begin(desk: ClientDesk, owner: Owner = DEFAULT_OWNER) -> asyncio.Task[Completion]:
    """A call that waits."""
    return asyncio.create_task(desk.llm(owner).complete(PROMPT))


def took(desk: ClientDesk, owner: Owner = DEFAULT_OWNER) -> LlmRequest:
    found = desk.take(owner)
    assert found is not None
    return found


async def test_without_a_client_nobody_is_reached() -> None:
    with pytest.raises(LlmFailed) as raised:
        await begin(ClientDesk(SHORT))
    assert raised.value.kind is Failure.UNREACHABLE


async def test_a_client_that_never_answers() -> None:
    desk = ClientDesk(SHORT)
    call = begin(desk)
    await asyncio.sleep(0)
    request = took(desk)
    with pytest.raises(LlmFailed) as raised:
        await call
    assert raised.value.kind is Failure.TIMEOUT
    with pytest.raises(NotFound):
        desk.answer(DEFAULT_OWNER, request.id, "late")
    assert desk.take(DEFAULT_OWNER) is None


async def test_a_client_that_went_away_keeps_it_for_a_while_only() -> None:
    time = Time()
    desk = ClientDesk(ClientParams(answer=30, fetch=30, lease=10), time)
    call = begin(desk)
    await asyncio.sleep(0)
    first = took(desk)
    time.now = 9.9
    assert desk.take(DEFAULT_OWNER) is None
    time.now = 10.0
    second = took(desk)
    assert second == first
    desk.answer(DEFAULT_OWNER, first.id, "from either")
    assert (await call).text == "from either"


async def test_calls_go_out_in_order_and_each_to_its_owner() -> None:
    desk = ClientDesk()
    somebody = Owner("somebody")
    calls = [begin(desk), begin(desk, somebody), begin(desk)]
    await asyncio.sleep(0)
    mine = [took(desk), took(desk)]
    assert desk.take(DEFAULT_OWNER) is None
    theirs = took(desk, somebody)
    with pytest.raises(NotFound):
        desk.answer(DEFAULT_OWNER, theirs.id, "not mine to answer")
    for at, request in enumerate(mine):
        desk.answer(DEFAULT_OWNER, request.id, str(at))
    desk.answer(somebody, theirs.id, "theirs")
    assert [answer.text for answer in await asyncio.gather(*calls)] == ["0", "theirs", "1"]


async def test_what_was_cancelled_is_not_handed_out() -> None:
    desk = ClientDesk()
    call = begin(desk)
    await asyncio.sleep(0)
    call.cancel()
    await asyncio.sleep(0)
    assert desk.take(DEFAULT_OWNER) is None


async def test_a_reason_is_cut() -> None:
    desk = ClientDesk()
    call = begin(desk)
    await asyncio.sleep(0)
    desk.refuse(DEFAULT_OWNER, took(desk).id, "no " * 5000)
    with pytest.raises(LlmFailed) as raised:
        await call
    assert len(raised.value.message) < 300

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

    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def begin(desk: ClientDesk, owner: Owner = DEFAULT_OWNER) -> asyncio.Task[Completion]:
    """A call that waits."""
    return asyncio.create_task(desk.llm(owner).complete(PROMPT))


def took(desk: ClientDesk, owner: Owner = DEFAULT_OWNER) -> LlmRequest:
    request = desk.take(owner)
    assert request is not None
    return request


async def test_without_a_client_nobody_is_reached() -> None:
    with pytest.raises(LlmFailed) as raised:
        await begin(ClientDesk(SHORT))
    assert raised.value.kind is Failure.UNREACHABLE


async def test_while_prompts_are_held_back_nobody_is_missed() -> None:
    """As while a reply is written: however long it is, a client is there all the same."""
    desk = ClientDesk(SHORT)
    paused = [True] * 5
    desk.listen(lambda *_: None, lambda: bool(paused) and paused.pop())
    call = begin(desk)
    with pytest.raises(LlmFailed) as raised:
        await call
    assert raised.value.kind is Failure.UNREACHABLE
    assert paused == [], "it began to miss one only when they were no longer held back"


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
    time.seconds = 9.9
    assert desk.take(DEFAULT_OWNER) is None
    time.seconds = 10.0
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
    for index, request in enumerate(mine):
        desk.answer(DEFAULT_OWNER, request.id, str(index))
    desk.answer(somebody, theirs.id, "theirs")
    assert [answer.text for answer in await asyncio.gather(*calls)] == [
        "0",
        "theirs",
        "1",
    ]


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


async def test_what_is_given_back_is_the_next_clients_at_once() -> None:
    desk = ClientDesk()
    call = begin(desk)
    await asyncio.sleep(0)
    first = took(desk)
    assert desk.take(DEFAULT_OWNER) is None
    desk.give_back(DEFAULT_OWNER, first.id)
    assert took(desk) == first
    desk.answer(DEFAULT_OWNER, first.id, "from the second")
    assert (await call).text == "from the second"
    with pytest.raises(NotFound):
        desk.give_back(DEFAULT_OWNER, first.id)


async def test_what_is_given_back_keeps_its_place() -> None:
    desk = ClientDesk()
    calls = [begin(desk), begin(desk)]
    await asyncio.sleep(0)
    first = took(desk)
    desk.give_back(DEFAULT_OWNER, first.id)
    await asyncio.sleep(0)
    assert took(desk) == first
    for call in calls:
        call.cancel()


async def test_what_is_given_back_and_fetched_by_nobody_is_not_waited_for_long() -> None:
    desk = ClientDesk(ClientParams(answer=60, fetch=0.1, lease=30))
    call = begin(desk)
    await asyncio.sleep(0)
    request = took(desk)
    await asyncio.sleep(0.2)
    desk.give_back(DEFAULT_OWNER, request.id)
    with pytest.raises(LlmFailed) as raised:
        await asyncio.wait_for(call, 5)
    assert raised.value.kind is Failure.UNREACHABLE


@pytest.mark.alone
async def test_after_it_was_given_back_a_client_has_all_the_time_again() -> None:
    desk = ClientDesk(ClientParams(answer=0.6, fetch=0.3, lease=0.3))
    call = begin(desk)
    await asyncio.sleep(0)
    request = took(desk)
    await asyncio.sleep(0.4)
    desk.give_back(DEFAULT_OWNER, request.id)
    assert took(desk) == request
    await asyncio.sleep(0.4)
    desk.answer(DEFAULT_OWNER, request.id, "in time")
    assert (await call).text == "in time"


async def test_only_its_owner_gives_it_back_and_only_what_a_client_has() -> None:
    desk = ClientDesk(ClientParams(answer=60, fetch=0.1, lease=30))
    events: list[bool] = []
    desk.listen(lambda _owner, _request, waits: events.append(waits), lambda: False)
    call = begin(desk)
    await asyncio.sleep(0)
    request = took(desk)
    with pytest.raises(NotFound):
        desk.give_back(Owner("somebody"), request.id)
    assert desk.take(DEFAULT_OWNER) is None
    for _ in range(3):
        desk.give_back(DEFAULT_OWNER, request.id)
    assert events == [True, True], (
        "it waits once more; who gives back what nobody has makes nobody wait longer"
    )
    with pytest.raises(LlmFailed):
        await asyncio.wait_for(call, 5)
    assert events == [True, True, False]


async def test_one_whose_lease_ran_out_is_waited_for_though_the_next_gives_it_back() -> None:
    time = Time()
    desk = ClientDesk(ClientParams(answer=30, fetch=0.1, lease=10), time)
    call = begin(desk)
    await asyncio.sleep(0)
    first = took(desk)
    time.seconds = 10.0
    took(desk)
    desk.give_back(DEFAULT_OWNER, first.id)
    await asyncio.sleep(0.2)
    assert took(desk) == first
    desk.give_back(DEFAULT_OWNER, first.id)
    desk.answer(DEFAULT_OWNER, first.id, "late, but in time")
    assert (await call).text == "late, but in time"

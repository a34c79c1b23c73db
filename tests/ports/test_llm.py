"""Every language model keeps the promises of its port: one suite, the fake and each real adapter."""

from __future__ import annotations

import asyncio
import contextlib
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator

import pytest

from soulmem.adapters.client_llm import ClientDesk, ClientParams
from soulmem.adapters.litellm_endpoint import LitellmEndpoint
from soulmem.domain.ids import DEFAULT_OWNER
from soulmem.domain.llm import Failure, LlmFailed, Prompt, Unreadable
from soulmem.ports.llm import Llm
from tests.adapters.llm_server import Script, serve
from tests.fakes.llm import FakeLlm

pytestmark = [
    pytest.mark.filterwarnings("ignore::Warning:litellm", "ignore::Warning:pydantic"),
]

PROMPT = Prompt("test", 1, "You say yes.", "Is it so? 是吗？", {"type": "object"}, 20)


class Model(ABC):
    """A model whose answers a test scripts."""

    llm: Llm

    @abstractmethod
    def says(self, text: str) -> None:
        """It answers so from now on."""

    @abstractmethod
    def hangs(self) -> None:
        """It answers no more."""

    @abstractmethod
    def breaks(self) -> None:
        """It fails from now on."""

    @abstractmethod
    def mends(self) -> None:
        """It answers "yes" again."""

    @abstractmethod
    async def is_let_go(self) -> bool:
        """Whether a call that was cancelled is held no longer."""


class Fake(Model):
    def __init__(self) -> None:
        self.fake = FakeLlm("yes")
        self.llm = self.fake

    def says(self, text: str) -> None:
        self.fake.then([text])

    def hangs(self) -> None:
        self.fake.answers.clear()

    def breaks(self) -> None:
        self.fake.then([LlmFailed(Failure.SERVER, "broken")])

    def mends(self) -> None:
        self.fake.then(["yes"])

    async def is_let_go(self) -> bool:
        return self.fake.waiting == 0


class Endpoint(Model):
    def __init__(self, url: str, script: Script) -> None:
        self.endpoint = LitellmEndpoint(url, "tiny", "key", 30.0)
        self.llm = self.endpoint
        self.script = script

    def says(self, text: str) -> None:
        self.script.text = text

    def hangs(self) -> None:
        self.script.hold.clear()

    def breaks(self) -> None:
        self.script.status = 500

    def mends(self) -> None:
        self.script.status = 200

    async def is_let_go(self) -> bool:
        await asyncio.wait_for(self.script.hung_up.wait(), 10)
        return True


class Client(Model):
    """A client that looks for calls and answers them."""

    def __init__(self) -> None:
        self.desk = ClientDesk(ClientParams(answer=30.0, fetch=10.0))
        self.llm = self.desk.llm(DEFAULT_OWNER)
        self.text = "yes"
        self.broken = self.hanging = False

    async def run(self) -> None:
        while True:
            await asyncio.sleep(0.005)
            request = None if self.hanging else self.desk.take(DEFAULT_OWNER)
            if request is not None and self.broken:
                self.desk.refuse(DEFAULT_OWNER, request.id, "broken")
            elif request is not None:
                self.desk.answer(DEFAULT_OWNER, request.id, self.text)

    def says(self, text: str) -> None:
        self.text = text

    def hangs(self) -> None:
        self.hanging = True

    def breaks(self) -> None:
        self.broken = True

    def mends(self) -> None:
        self.broken = False

    async def is_let_go(self) -> bool:
        return self.desk.take(DEFAULT_OWNER) is None


@pytest.fixture(params=["fake", "litellm", "client"])
async def model(request: pytest.FixtureRequest) -> AsyncIterator[Model]:
    """Each model, answering "yes"."""
    if request.param == "fake":
        yield Fake()
    elif request.param == "litellm":
        script = Script()
        server = await serve(script)
        endpoint = Endpoint(str(server.make_url("/v1")), script)
        yield endpoint
        script.hold.set()
        await endpoint.endpoint.stop()
        await server.close()
    else:
        client = Client()
        task = asyncio.create_task(client.run())
        yield client
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def test_it_answers_with_what_it_cost(model: Model) -> None:
    answer = await model.llm.complete(PROMPT)
    assert answer.text == "yes"
    assert answer.prompt_tokens > 0
    assert answer.answer_tokens > 0
    assert 0.0 <= answer.seconds < 60.0


async def test_an_answer_comes_unread(model: Model) -> None:
    text = "Sure!\n```json\n{\"a\": '是'}\n```"
    model.says(text)
    assert (await model.llm.complete(PROMPT)).text == text


@pytest.mark.parametrize("text", ["", " \n"])
async def test_a_blank_answer_is_none(model: Model, text: str) -> None:
    model.says(text)
    with pytest.raises(Unreadable) as raised:
        await model.llm.complete(PROMPT)
    assert raised.value.kind is Failure.UNREADABLE


async def test_a_failure_has_a_kind_and_no_word_of_the_chat(model: Model) -> None:
    model.breaks()
    with pytest.raises(LlmFailed) as raised:
        await model.llm.complete(PROMPT)
    assert raised.value.kind is Failure.SERVER
    assert "Is it so" not in raised.value.message


async def test_it_is_well_again_after_a_failure(model: Model) -> None:
    model.breaks()
    with pytest.raises(LlmFailed):
        await model.llm.complete(PROMPT)
    model.mends()
    assert (await model.llm.complete(PROMPT)).text == "yes"


async def test_a_cancelled_call_lets_go(model: Model) -> None:
    await model.llm.complete(PROMPT)  # whatever is only slow the first time is over
    model.hangs()
    call = asyncio.create_task(model.llm.complete(PROMPT))
    await asyncio.sleep(0.3)
    assert not call.done()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert await model.is_let_go()


async def test_calls_side_by_side_have_their_own_answers(model: Model) -> None:
    answers = await asyncio.gather(*(model.llm.complete(PROMPT) for _ in range(4)))
    assert [answer.text for answer in answers] == ["yes"] * 4


async def test_it_says_who_it_is(model: Model) -> None:
    assert model.llm.name
    assert "\n" not in model.llm.name

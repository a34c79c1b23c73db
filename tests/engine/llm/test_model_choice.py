"""The user's choice of the model: in force at once, kept, and told without its key."""

from __future__ import annotations

import pytest

from soulmem.domain.errors import Forbidden, Unprocessable
from soulmem.domain.ids import DEFAULT_OWNER, Owner
from soulmem.domain.llm import ModelChoice, ModelUse, Prompt
from soulmem.engine.llm.model_choice import ModelChooser
from soulmem.engine.llm.sources import LlmAccess
from soulmem.engine.llm.usage import UsageLedger
from tests.fakes.model_choice import CLIENT_CALLS, FakeModels

PROMPT = Prompt("test", 1, "", "Who are you?", None, 9)
SERVER = ModelChoice(ModelUse.SERVER, "qwen", "http://127.0.0.1:5001/v1", "secret")


class Scene:
    """A chooser over models that answer with their names."""

    def __init__(self) -> None:
        self.models = FakeModels()
        self.llms = LlmAccess(self.models.sources(self.models.choice), lambda: False)
        self.usage = UsageLedger(self.models.limits(self.models.choice))
        self.chooser = ModelChooser(
            llms=self.llms,
            usage=self.usage,
            models=self.models.choosable,
            on_changed=lambda: None,
        )

    async def choose(self, choice: ModelChoice, *, keeps_key: bool = False) -> None:
        """The main user chooses."""
        await self.chooser.choose(DEFAULT_OWNER, choice, keeps_key=keeps_key)

    async def answer(self) -> str:
        """What the model in force says."""
        llm = self.llms.archivist(DEFAULT_OWNER)
        assert llm is not None
        return (await llm.complete(PROMPT)).text


@pytest.fixture
def scene() -> Scene:
    """Without a choice yet."""
    return Scene()


async def test_a_choice_is_in_force_from_the_next_call_on(scene: Scene) -> None:
    """The connections of the model before are closed, the health names the new one."""
    assert await scene.answer() == "settings"
    await scene.choose(SERVER)
    assert (await scene.answer(), scene.models.stopped) == ("qwen", ["settings"])
    assert scene.llms.health().model == "qwen"
    await scene.choose(ModelChoice(ModelUse.NONE))
    assert (scene.llms.archivist(DEFAULT_OWNER), scene.llms.health().state) == (
        None,
        "off",
    )


async def test_the_clients_connection_has_its_own_hourly_limit(scene: Scene) -> None:
    """Nobody spends a paid connection because it was chosen in the page."""
    await scene.choose(ModelChoice(ModelUse.CLIENT))
    assert scene.usage.params.calls == CLIENT_CALLS
    await scene.choose(SERVER)
    assert scene.usage.params.calls > CLIENT_CALLS


async def test_a_stored_key_stays_with_its_address_alone(scene: Scene) -> None:
    """Another address never gets the key of the one before."""
    await scene.choose(SERVER)
    other = ModelChoice(ModelUse.SERVER, "phi", SERVER.base_url)
    await scene.choose(other, keeps_key=True)
    assert scene.models.choice.api_key == "secret"
    elsewhere = ModelChoice(ModelUse.SERVER, "phi", "http://10.0.0.9:1/v1")
    await scene.choose(elsewhere, keeps_key=True)
    assert scene.models.choice.api_key == ""
    assert "secret" not in repr(SERVER)


@pytest.mark.parametrize(
    ("model", "key"),
    [("openai/b", "secret"), ("anthropic/a", ""), ("gpt", "")],
)
async def test_without_an_address_a_stored_key_stays_with_its_provider(
    scene: Scene, model: str, key: str
) -> None:
    """Another provider never gets it."""
    await scene.choose(ModelChoice(ModelUse.SERVER, "openai/a", "", "secret"))
    await scene.choose(ModelChoice(ModelUse.SERVER, model), keeps_key=True)
    assert scene.models.choice.api_key == key


async def test_only_the_main_user_chooses_and_what_cannot_be_stored_changes_nothing(
    scene: Scene,
) -> None:
    """One model does the work of all users."""
    with pytest.raises(Forbidden):
        await scene.chooser.choose(Owner("bob"), SERVER, keeps_key=False)
    scene.models.is_full = True
    with pytest.raises(Unprocessable, match="no space left"):
        await scene.choose(SERVER)
    assert await scene.answer() == "settings"
    assert await scene.chooser.current() == ModelChoice()


async def test_a_fixed_model_cannot_be_chosen(scene: Scene) -> None:
    """As in a build without a data folder."""
    fixed = ModelChooser(llms=scene.llms, usage=scene.usage, models=None, on_changed=lambda: None)
    assert await fixed.current() == ModelChoice()
    with pytest.raises(Unprocessable, match="in config"):
        await fixed.choose(DEFAULT_OWNER, SERVER, keeps_key=False)


@pytest.mark.parametrize(
    ("model", "base_url", "field"),
    [("", "", "model"), ("client", "", "model"), ("qwen", "127.0.0.1:1", "base_url")],
)
def test_a_model_that_cannot_be_asked_is_refused(model: str, base_url: str, field: str) -> None:
    """With the name of what to mend."""
    with pytest.raises(Unprocessable) as refusal:
        ModelChoice(ModelUse.SERVER, model, base_url)
    assert refusal.value.field == field

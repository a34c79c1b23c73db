"""A choice of the model for memory work that is kept in memory alone."""

from __future__ import annotations

from soulmem.domain.llm import ModelChoice, ModelUse
from soulmem.engine.llm.model_choice import ChoosableModels
from soulmem.engine.llm.sources import LlmSources
from soulmem.engine.llm.usage import UsageLimits
from tests.fakes.llm import FakeLlm

CLIENT_CALLS = 6  # an hour, over the client's connection


class FakeModels:
    """Models to choose from: none, or one that answers with its own name. `stopped` lists closed ones."""

    def __init__(self) -> None:
        self.choice = ModelChoice()
        self.is_full = False  # the disk
        self.stopped: list[str] = []

    def read(self) -> ModelChoice:
        """The stored choice."""
        return self.choice

    def write(self, choice: ModelChoice) -> None:
        """Store a choice. Raises OSError."""
        if self.is_full:
            raise OSError("no space left")
        self.choice = choice

    def sources(self, choice: ModelChoice) -> LlmSources:
        """The model of a choice."""
        if choice.use is ModelUse.NONE:
            return LlmSources()
        name = choice.model or choice.use.value
        model = FakeLlm(name, name, name, name=name)

        async def stop() -> None:
            self.stopped.append(name)

        return LlmSources(archivist=lambda _owner: model, stop=(stop,))

    @staticmethod
    def limits(choice: ModelChoice) -> UsageLimits:
        """Few calls over the client's connection."""
        is_client = choice.use is ModelUse.CLIENT
        return UsageLimits(calls=CLIENT_CALLS if is_client else 120)

    @property
    def choosable(self) -> ChoosableModels:
        """As the engine wants them."""
        return ChoosableModels(file=self, sources=self.sources, limits=self.limits)

"""The model for memory work as the user chooses it while SoulMem runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace

from soulmem.domain.errors import Unprocessable, model_of_main_user
from soulmem.domain.ids import DEFAULT_OWNER, Owner
from soulmem.domain.llm import ModelChoice, ModelUse
from soulmem.domain.phrases import phrase
from soulmem.engine.llm.sources import LlmAccess, LlmSources
from soulmem.engine.llm.usage import UsageLedger, UsageLimits
from soulmem.ports.llm import ModelChoiceFile


@dataclass(frozen=True, slots=True)
class ChoosableModels:
    """The meaning of each choice: the model, and how much of it idle work may use."""

    file: ModelChoiceFile
    sources: Callable[[ModelChoice], LlmSources]
    limits: Callable[[ModelChoice], UsageLimits]


@dataclass(kw_only=True, eq=False)
class ModelChooser:
    """Puts a choice into force at once, and keeps it over restarts.

    `on_changed` is called when a choice has come into force.
    """

    llms: LlmAccess
    usage: UsageLedger
    models: ChoosableModels | None
    on_changed: Callable[[], None]

    async def current(self) -> ModelChoice:
        """The choice in force."""
        if self.models is None:
            return ModelChoice()
        return await asyncio.to_thread(self.models.file.read)

    async def choose(self, owner: Owner, choice: ModelChoice, *, keeps_key: bool) -> ModelChoice:
        """Use this model from the next call on; all users of this SoulMem share it.

        keeps_key  the key stays the one that was stored for the same server

        Raises Forbidden for another user than the main one, Unprocessable where there is nothing to choose.
        """
        if owner != DEFAULT_OWNER:
            raise model_of_main_user()
        if self.models is None:
            raise Unprocessable(
                phrase(
                    "model_fixed",
                    "this SoulMem has a fixed model: choose it in config.toml",
                ),
                field="use",
            )
        if keeps_key and choice.use is ModelUse.SERVER:
            stored = await self.current()
            # A key is only sent to the server that it belongs to.
            if stored.server == choice.server:
                choice = replace(choice, api_key=stored.api_key)
        try:
            await asyncio.to_thread(self.models.file.write, choice)
        except OSError as error:
            raise Unprocessable(
                phrase(
                    "model_choice_unstored",
                    "the choice cannot be stored ({error}): check the data folder",
                    error=error,
                ),
                field="use",
            ) from error
        self.usage.params = self.models.limits(choice)
        await self.llms.use(self.models.sources(choice))
        self.on_changed()
        return choice

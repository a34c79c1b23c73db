"""How tools, their results and the deletions they ask for are told."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from soulmem.domain.deletions import Deletion
from soulmem.engine.tools.definitions import TOOLS
from soulmem.server.answers.common import Answer


class ToolAnswer(Answer, frozen=True):
    """A tool as a model is told of it; `parameters` is a JSON Schema."""

    name: str
    actor: str
    description: str
    parameters: dict[str, Any]


class ToolsAnswer(Answer, frozen=True):
    """All tools; one that both models have stands here twice."""

    tools: list[ToolAnswer]


class ToolResultAnswer(Answer, frozen=True):
    """What a tool answered."""

    result: dict[str, Any]


class DeletionAnswer(Answer, frozen=True):
    """A deletion that was asked for; `state` is awaiting_confirmation, confirmed, rejected or expired."""

    request: str
    soul: str
    memory: str
    actor: str
    reason: str
    quote: str
    at: datetime
    state: str
    decided: datetime | None


class DeletionsAnswer(Answer, frozen=True):
    """Deletions, the latest first."""

    deletions: list[DeletionAnswer]
    cursor: str | None = None


def tools_answer() -> ToolsAnswer:
    """All tools."""
    return ToolsAnswer(
        tools=[
            ToolAnswer(
                name=tool.name,
                actor=actor.value,
                description=tool.description(actor),
                parameters=tool.schema(actor),
            )
            for tool in TOOLS.values()
            for actor in tool.takes
        ]
    )


def deletion_answer(one: Deletion) -> DeletionAnswer:
    """One deletion."""
    return DeletionAnswer(
        request=one.id,
        soul=one.soul,
        memory=one.memory,
        actor=one.actor.value,
        reason=one.reason,
        quote=one.quote,
        at=one.at,
        state=one.state.value,
        decided=one.decided,
    )

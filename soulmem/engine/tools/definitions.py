"""The tools that language models may call, and their arguments for each actor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from soulmem.domain.audit import Actor
from soulmem.domain.errors import Forbidden, NotFound, Unprocessable
from soulmem.domain.ids import ID_PATTERN
from soulmem.domain.phrases import phrase

_LongText = Annotated[str, Meta(min_length=1, max_length=100_000)]
_ShortText = Annotated[str, Meta(min_length=1, max_length=2_000)]
_Tags = Annotated[list[Annotated[str, Meta(min_length=1, max_length=1_000)]], Meta(max_length=100)]
_Key = Annotated[str, Meta(pattern=ID_PATTERN)]
_Time = Annotated[datetime, Meta(tz=True, description="ISO 8601 with seconds and zone")]


class Arguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of the arguments of a tool."""


class CallAssistant(Arguments, frozen=True):
    """Have the archivist do something about the memory, told in plain words."""

    instruction: _LongText


class SavePermanentMemory(Arguments, frozen=True):
    """Keep something for good: a core fact about the user, a promise, a rule. Only the user can delete it."""

    content: _LongText
    reason: _ShortText
    tags: _Tags = []


class Remember(Arguments, frozen=True):
    """Keep something as an ordinary memory, under tags by which it is found again.

    It may be recalled later, fades in weight like any other memory, and the user sees it and can undo it.
    """

    content: _LongText
    tags: _Tags = []
    importance: (
        Annotated[
            float,
            Meta(ge=0.0, le=1.0, description="0 small talk .. 1 never to be forgotten"),
        ]
        | None
    ) = None


class SearchMemories(Arguments, frozen=True):
    """Find memories about something, permanent ones among them.

    Kinds: episode (what happened), abstract_episode (what such scenes have in common), fact and concept (people,
    things, how they are related), note (kept by hand or by `remember`, under tags), digest and summary (what a day
    or a chat held), action (a habit). With `tags` come first the memories with exactly such a tag, then those with
    a part of it in a tag, then those that say it in their text.
    """

    query: _LongText
    limit: Annotated[int, Meta(ge=1, le=50)] = 8
    tags: _Tags = []


class Span(Arguments, frozen=True):
    """From inclusive, to exclusive; an end left out is open."""

    start: _Time | None = msgspec.field(name="from", default=None)
    end: _Time | None = msgspec.field(name="to", default=None)


class SearchMemoriesInTime(SearchMemories, frozen=True):
    __doc__ = (SearchMemories.__doc__ or "") + (" With `time_range` only what happened within it.")

    time_range: Span | None = None


class CreateDailySummary(Arguments, frozen=True):
    """Sum up the day that the latest scene belongs to, with an eye to what the context says, and keep that."""

    context: _LongText


class ArchiveMemories(Arguments, frozen=True):
    """Sum up what happened, one digest for each period of that length that has something in it, and keep them."""

    period: Literal["hour", "day", "week", "month", "year"]


class UpdateMemoryNode(Arguments, frozen=True):
    """Reword a memory. Permanent and locked ones cannot be changed."""

    memory_id: _Key
    new_content: _LongText


class Rating(Arguments, frozen=True):
    """How useful one memory was."""

    memory_id: _Key
    useful: Annotated[
        float, Meta(ge=0.0, le=1.0, description="0 of no use .. 1 just what was needed")
    ]


class RateMemories(Arguments, frozen=True):
    """Say how useful memories were: each is recalled more or less readily from then on, and no other memory."""

    ratings: Annotated[list[Rating], Meta(min_length=1, max_length=100)]


class DeleteMemory(Arguments, frozen=True):
    """Ask the user to delete a memory. Nothing is deleted before the user says so."""

    memory_id: _Key
    reason: _ShortText


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool, with its arguments for each actor that may use it."""

    name: str
    takes: Mapping[Actor, type[Arguments]]

    def description(self, actor: Actor) -> str:
        """The description that a model reads: the docstring of its arguments."""
        return " ".join((self.takes[actor].__doc__ or "").split())

    def schema(self, actor: Actor) -> dict[str, Any]:
        """JSON Schema of the arguments, without references."""
        (schema,), parts = msgspec.json.schema_components(
            [self.takes[actor]], ref_template="{name}"
        )
        inlined: dict[str, Any] = _inlined(schema, parts)
        inlined.pop("title", None)
        inlined.pop("description", None)
        return inlined


_LEAD, _ARCHIVIST = Actor.LEAD, Actor.ARCHIVIST
TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool("call_assistant", {_LEAD: CallAssistant}),
        Tool("save_permanent_memory", {_LEAD: SavePermanentMemory}),
        Tool("remember", {_LEAD: Remember}),
        Tool("search_memories", {_LEAD: SearchMemories, _ARCHIVIST: SearchMemoriesInTime}),
        Tool("create_daily_summary", {_ARCHIVIST: CreateDailySummary}),
        Tool("archive_memories", {_ARCHIVIST: ArchiveMemories}),
        Tool("update_memory_node", {_ARCHIVIST: UpdateMemoryNode}),
        Tool("rate_memories", {_ARCHIVIST: RateMemories}),
        Tool("delete_memory", {_ARCHIVIST: DeleteMemory}),
    )
}


def arguments_of(name: str, actor: Actor, raw_arguments: Mapping[str, Any]) -> Arguments:
    """The checked arguments.

    Raises NotFound for an unknown tool, Forbidden for one of another actor,
    Unprocessable.
    """
    tool = TOOLS.get(name)
    if tool is None:
        raise NotFound(
            phrase(
                "no_tool",
                "no tool '{name}': there are {known}",
                name=name,
                known=", ".join(TOOLS),
            ),
            field="name",
        )
    if actor not in tool.takes:
        whose = " and ".join(taker.value for taker in tool.takes)
        raise Forbidden(
            phrase(
                "tool_of_other",
                "{name} is a tool of the {whose}, not of the {actor}",
                name=name,
                whose=whose,
                actor=actor.value,
            ),
            field="actor",
        )
    try:
        made = msgspec.convert(raw_arguments, tool.takes[actor])
    except msgspec.ValidationError as error:
        words, _, place = str(error).partition(" - at `$")
        raise Unprocessable(
            phrase("tool_arguments", "{name}: {words}", name=name, words=words),
            field=f"arguments{place.rstrip('`')}",
        ) from error
    for field in (
        "content",
        "new_content",
        "query",
        "instruction",
        "context",
        "reason",
    ):
        value = getattr(made, field, None)
        if isinstance(value, str) and not value.strip():
            raise Unprocessable(
                phrase(
                    "tool_blank",
                    "{name} needs some {field}: it is blank",
                    name=name,
                    field=field,
                ),
                field=f"arguments.{field}",
            )
    return made


def _inlined(node: Any, parts: Mapping[str, Any]) -> Any:
    if isinstance(node, dict):
        if "$ref" in node:
            return _inlined(parts[node["$ref"]], parts)
        return {key: _spelled(key, _inlined(value, parts)) for key, value in node.items()}
    return [_inlined(item, parts) for item in node] if isinstance(node, list) else node


def _spelled(key: str, value: Any) -> Any:
    """JSON Schema spells the end of a text as $, Python as \\\\Z."""
    return value.replace(r"\Z", "$") if key == "pattern" else value

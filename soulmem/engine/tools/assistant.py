"""The tool `call_assistant`: the archivist's model carries out an instruction with the archivist's tools.

Each call runs as a job, which can be watched and cancelled, and by which its changes are
undone together.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from soulmem.assembly.token_estimate import estimate_tokens
from soulmem.domain.audit import Actor
from soulmem.domain.errors import Busy, Conflict, SoulMemError, Unprocessable
from soulmem.domain.foreign_json import read_json
from soulmem.domain.ids import Owner, SoulId
from soulmem.domain.llm import (
    Completion,
    Failure,
    LlmFailed,
    Prompt,
    ToolRequest,
    ToolSpec,
    ToolTurn,
    Unreadable,
)
from soulmem.domain.phrases import phrase
from soulmem.engine.llm.calls import LlmCalls, LlmTask
from soulmem.engine.llm.usage import ASSISTANT
from soulmem.engine.runtime.jobs import JobKind, JobRun, Jobs, JobState
from soulmem.engine.tools.definitions import TOOLS
from soulmem.engine.world.services import Services
from soulmem.prompts import assistant as prompt

MOST_CALLS = 6  # of the model for one instruction, failed ones included; design 8
_MOST_REQUESTS = 6  # tools that one answer may call
_LONGEST = 100_000  # characters of an instruction
_TEXT = 300  # characters of a memory that the model sees
_NO_MODEL = phrase(
    "archivist_no_model",
    "the archivist needs a language model, and none is set up: set SOULMEM_LLM_MODEL, or `model` under [llm] in"
    " config.toml (SOULMEM_LLM_ARCHIVIST_MODEL for one of its own)",
)
_UNASKED = phrase("archivist_unasked", "the archivist could not be asked: try again")
_STOPPED = f"Stopped after {MOST_CALLS} calls of the model."
# What a model does not need to see of a result.
_HIDDEN = frozenset({"sources", "score", "why"})

Result = dict[str, Any]


class ToolCaller(Protocol):
    """Carries out tool calls; see `Tools`."""

    def call(
        self,
        owner: Owner,
        name: str,
        soul: str,
        actor: Actor,
        arguments: Mapping[str, Any],
        *,
        source: str = "",
    ) -> Awaitable[Result]:
        """The result of the tool. Raises SoulMemError."""
        ...


@dataclass(kw_only=True, eq=False)
class Assistant:
    """Runs instructions for the archivist, as jobs of the kind `assistant`.

    `context_tokens`: most tokens of prompt and answer together. `tools` is called when one is needed.
    """

    services: Services
    jobs: Jobs
    llm_calls: LlmCalls
    context_tokens: int
    tools: Callable[[], ToolCaller]

    def job_kinds(self) -> tuple[JobKind, ...]:
        """The jobs that this service runs."""
        kind = JobKind(
            ASSISTANT,
            self._work,
            arguments=("instruction",),
            beside=True,  # it may itself be part of a reply that is being written
            check=self._checked,
        )
        return (kind,)

    async def help(
        self, owner: Owner, soul: SoulId, instruction: str, *, for_reply: bool = False
    ) -> Result:
        """What the archivist says and did.

        With `for_reply` a reply that is being written waits for it, so that the model is
        called at once. Raises Unprocessable without a model, Busy when the model failed
        before anything was done, Conflict when the job was cancelled.
        """
        arguments = {"instruction": instruction}
        self._checked(arguments)
        job = await self.jobs.start(owner, ASSISTANT, soul, arguments | {"for_reply": for_reply})
        view = await self.jobs.finished(owner, job)
        if view.state is JobState.CANCELLED:
            raise Conflict(
                phrase("archivist_cancelled", "the request to the archivist was cancelled")
            )
        if view.state is not JobState.DONE:
            raise Busy(view.error or _UNASKED)
        result: Result = view.result
        return result

    def _checked(self, arguments: Mapping[str, Any]) -> str:
        """The instruction. Raises Unprocessable."""
        text = arguments.get("instruction")
        if not isinstance(text, str) or not 0 < len(text.strip()) <= _LONGEST:
            raise Unprocessable(
                phrase(
                    "archivist_instruction",
                    "the archivist needs an instruction of 1 to {longest} characters",
                    longest=f"{_LONGEST:,}",
                ),
                field="arguments.instruction",
            )
        if not self.llm_calls.has_model:
            raise Unprocessable(_NO_MODEL)
        return text

    async def _work(self, run: JobRun) -> Result:
        world = await self.services.world_of(run.owner)
        task = LlmTask(
            run.owner,
            run.soul,
            ASSISTANT,
            lambda _done, _total, _unit: report(),
            source=run.record.job,
        )
        loop = _Loop(run, task, soul_name=world.soul(run.soul).name)

        def report() -> None:
            run.result_so_far = loop.result()
            run.report(task.calls_begun, MOST_CALLS, "calls")

        await self._converse(loop)
        return loop.result()

    async def _converse(self, loop: _Loop) -> None:
        """Let the model answer until it ends. Raises LlmFailed when nothing was done before."""
        native = self.llm_calls.takes_tools(loop.run.owner)
        while loop.task.calls_begun < MOST_CALLS:
            loop.task.report_progress()
            try:
                answer = await self._answer(loop, native)
                requests = _requests(answer)
            except Unreadable as failed:
                loop.said = failed.message
                continue
            except LlmFailed as failed:
                if native and failed.kind is Failure.REFUSED:
                    native = False
                    continue
                if not loop.did:
                    raise
                loop.said = failed.message
                return
            if isinstance(requests, str):
                loop.said = requests
                return
            native = native and bool(answer.requests)
            is_over = loop.task.calls_begun >= MOST_CALLS
            if not is_over:
                await self._carry_out(loop, requests)
        loop.said = loop.said or _STOPPED

    async def _answer(self, loop: _Loop, native: bool) -> Completion:
        """The model's next answer. Raises LlmFailed."""
        turns: list[ToolTurn] = []
        left = self.context_tokens - _tokens(self._prompt(loop, turns, native))
        for turn in reversed(loop.turns):
            # The newest results first: each takes half of the room that is left at most.
            shown = ToolTurn(turn.requests, tuple(_cut(text, left // 2) for text in turn.results))
            left -= sum(map(estimate_tokens, shown.results))
            turns.insert(0, shown)
        return await self.llm_calls.ask_once(loop.task, self._prompt(loop, turns, native))

    def _prompt(self, loop: _Loop, turns: list[ToolTurn], native: bool) -> Prompt:
        return prompt.render(
            loop.soul_name,
            str(loop.run.arguments["instruction"]),
            _SPECS,
            turns,
            native=native,
            is_last=loop.task.calls_begun >= MOST_CALLS - 1,
            for_reply=bool(loop.run.arguments.get("for_reply")),
        )

    async def _carry_out(self, loop: _Loop, requests: tuple[ToolRequest, ...]) -> None:
        """Call the tools of one answer, and note what came of it."""
        results, told = list[str](), list[ToolRequest]()
        for number, request in enumerate(requests):
            loop.task.report_progress()
            # In a thread: a model may write megabytes.
            arguments = await asyncio.to_thread(_arguments, request)
            if arguments is None:  # no server takes them back
                request = replace(request, arguments="{}")
            if number >= _MOST_REQUESTS:
                result = _problem("unprocessable", f"at most {_MOST_REQUESTS} calls in one answer")
            elif arguments is None:
                arguments = {}
                words = f"the arguments of {request.name} are no JSON object"
                result = _problem("unprocessable", words)
            else:
                result = await self._called(loop.run, request.name, arguments)
            did = {"tool": request.name, "arguments": arguments, "result": result}
            loop.did.append(did)
            results.append(json.dumps(_for_model(result), ensure_ascii=False))
            told.append(request)
        loop.turns.append(ToolTurn(tuple(told), tuple(results)))

    async def _called(self, run: JobRun, name: str, arguments: Mapping[str, Any]) -> Result:
        """The result of one tool, or the error as a result."""
        where = run.owner, name, run.soul, Actor.ARCHIVIST
        try:
            return await self.tools().call(*where, arguments, source=run.record.job)
        except SoulMemError as error:
            return _problem(error.code, error.with_field)


@dataclass(slots=True)
class _Loop:
    """One instruction at work."""

    run: JobRun
    task: LlmTask
    soul_name: str
    turns: list[ToolTurn] = field(default_factory=list)
    did: list[Result] = field(default_factory=list)
    said: str = ""

    def result(self) -> Result:
        """What the job has as its result."""
        return {
            "said": self.said,
            "did": list(self.did),
            "calls": self.task.calls_begun,
            "job": self.run.record.job,
        }


_SPECS = tuple(
    ToolSpec(tool.name, tool.description(Actor.ARCHIVIST), tool.schema(Actor.ARCHIVIST))
    for tool in TOOLS.values()
    if Actor.ARCHIVIST in tool.takes
)


def _requests(answer: Completion) -> tuple[ToolRequest, ...] | str:
    """The tools that an answer calls, or what it says. Raises Unreadable."""
    if answer.requests:
        return answer.requests
    read = prompt.read_turn(answer.text)
    return read if isinstance(read, str) else (read,)


def _arguments(request: ToolRequest) -> dict[str, Any] | None:
    """The arguments of a call; None where they are no JSON object."""
    try:
        arguments = read_json(request.arguments or "{}")
    except ValueError:
        return None
    return arguments if isinstance(arguments, dict) else None


def _problem(code: str, message: str) -> Result:
    return {"error": code, "message": message}


def _for_model(value: Any) -> Any:
    """A result without what the model has no use for, and with long texts cut."""
    if isinstance(value, dict):
        shown = {key: part for key, part in value.items() if key not in _HIDDEN}
        return {key: _for_model(part) for key, part in shown.items()}
    if isinstance(value, list):
        return [_for_model(part) for part in value]
    if isinstance(value, str) and len(value) > _TEXT:
        return value[:_TEXT] + "…"
    return value


def _tokens(asked: Prompt) -> int:
    return sum(map(estimate_tokens, asked.texts())) + asked.max_tokens


def _cut(text: str, tokens: int) -> str:
    """The text, cut to about so many tokens where it is longer."""
    needed = estimate_tokens(text)
    if needed <= max(1, tokens):
        return text
    return text[: len(text) * max(1, tokens) // needed] + "…"

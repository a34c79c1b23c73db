"""Route of the LLM usage: what language models cost, and what waits for one."""

from __future__ import annotations

from datetime import datetime

from msgspec import UNSET, UnsetType

from soulmem.domain.ids import SoulId
from soulmem.engine.llm.retry import Deferred
from soulmem.engine.llm.usage import LlmUsage, UsageLimits
from soulmem.server.common_types import (
    Id,
    NoBody,
    PhraseResponse,
    Query,
    ResponseBody,
    phrase_response,
)
from soulmem.server.replies import Reply
from soulmem.server.routes import Call, route


class LedgerQuery(Query, frozen=True):
    """Selects the soul."""

    soul: Id


class SpentResponse(ResponseBody, frozen=True):
    """What was spent so far. Failed and repeated calls count, too."""

    calls: int
    failed: int
    prompt_tokens: int
    answer_tokens: int
    seconds: float
    memories: int


class HourResponse(ResponseBody, frozen=True):
    """Hourly limits of idle work, for all souls together."""

    calls: int
    tokens: int
    memories: int
    minutes: float


class ParkedResponse(ResponseBody, frozen=True):
    """Work whose model call failed. It is repeated at `again`, or once the chat has continued."""

    chat: str
    work: str
    reason: str
    attempts: int
    again: datetime
    reason_phrase: PhraseResponse | UnsetType = UNSET


class DueResponse(ResponseBody, frozen=True):
    """Work that the job `consolidate` would do now; `minutes` is null until a call has been measured."""

    calls: int
    minutes: float | None


class LedgerResponse(ResponseBody, frozen=True):
    """LLM usage of a soul, by kind of work. `down`: why the last call could not reach a model."""

    totals: dict[str, SpentResponse]
    this_hour: SpentResponse
    most_an_hour: HourResponse
    due: DueResponse
    parked: list[ParkedResponse]
    down: str | None
    down_phrase: PhraseResponse | UnsetType = UNSET


def spent_response(spent: LlmUsage) -> SpentResponse:
    """Usage of one kind of work."""
    return SpentResponse(
        calls=spent.calls,
        failed=spent.failed,
        prompt_tokens=spent.prompt_tokens,
        answer_tokens=spent.answer_tokens,
        seconds=round(spent.seconds, 3),
        memories=spent.nodes,
    )


def hour_response(params: UsageLimits) -> HourResponse:
    """The hourly limits."""
    return HourResponse(
        calls=params.calls,
        tokens=params.tokens,
        memories=params.nodes,
        minutes=params.minutes,
    )


def parked_response(parked: Deferred) -> ParkedResponse:
    """Work that waits for another attempt."""
    return ParkedResponse(
        chat=parked.chat,
        work=parked.work.value,
        reason=str(parked.reason),
        reason_phrase=phrase_response(parked.reason),
        attempts=parked.attempts,
        again=parked.again,
    )


@route(
    "GET",
    "/v1/ledger",
    query=LedgerQuery,
    body=None,
    response=LedgerResponse,
    is_use=False,
)
async def read_ledger(call: Call[LedgerQuery, NoBody]) -> Reply[LedgerResponse]:
    """What language models cost for a soul, and which work waits for one."""
    report = await call.engine.consolidator.usage_report(call.owner, SoulId(call.query.soul))
    down = report.unavailable_reason
    return Reply(
        lambda: LedgerResponse(
            totals={work: spent_response(spent) for work, spent in report.totals.items()},
            this_hour=spent_response(report.this_hour),
            most_an_hour=hour_response(report.hourly_limits),
            due=DueResponse(calls=report.due_calls, minutes=report.due_minutes),
            parked=[parked_response(entry) for entry in report.deferred],
            down=None if down is None else str(down),
            down_phrase=phrase_response(down),
        ),
        rows=len(report.deferred),
    )


ROUTES = (read_ledger,)

"""Route of the LLM usage: what language models cost, and what waits for one."""

from __future__ import annotations

from soulmem.domain.ids import SoulId
from soulmem.server.json_response import Reply
from soulmem.server.responses.common import phrase_response
from soulmem.server.responses.ledger import (
    DueResponse,
    LedgerResponse,
    hour_response,
    parked_response,
    spent_response,
)
from soulmem.server.routes import Call, route
from soulmem.server.schemas.common import NoBody
from soulmem.server.schemas.ledger import LedgerQuery


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
    report = await call.engine.consolidator.usage_report(
        call.owner, SoulId(call.query.soul)
    )
    down = report.unavailable_reason
    return Reply(
        lambda: LedgerResponse(
            totals={
                work: spent_response(spent) for work, spent in report.totals.items()
            },
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

"""The door to the books: what a language model cost, and what waits for one."""

from __future__ import annotations

from soulmem.domain.ids import SoulId
from soulmem.server.answers.ledger import (
    DueAnswer,
    LedgerAnswer,
    hour_answer,
    parked_answer,
    spent_answer,
)
from soulmem.server.as_json import Reply
from soulmem.server.doors import Call, door
from soulmem.server.schemas.common import NoBody
from soulmem.server.schemas.ledger import LedgerQuery


@door(
    "GET", "/v1/ledger", query=LedgerQuery, body=None, answer=LedgerAnswer, is_use=False
)
async def read_ledger(call: Call[LedgerQuery, NoBody]) -> Reply[LedgerAnswer]:
    """What a language model cost for a soul, and what waits for one."""
    report = await call.engine.consolidator.usage_report(
        call.owner, SoulId(call.query.soul)
    )
    return Reply(
        lambda: LedgerAnswer(
            totals={work: spent_answer(spent) for work, spent in report.totals.items()},
            this_hour=spent_answer(report.this_hour),
            most_an_hour=hour_answer(report.hourly_limits),
            due=DueAnswer(calls=report.due_calls, minutes=report.due_minutes),
            parked=[parked_answer(one) for one in report.deferred],
            down=report.unavailable_reason,
        ),
        rows=len(report.deferred),
    )


DOORS = (read_ledger,)

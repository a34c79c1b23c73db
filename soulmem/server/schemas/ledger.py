"""Request of the LLM usage."""

from __future__ import annotations

from soulmem.server.schemas.common import Id, Query


class LedgerQuery(Query, frozen=True):
    """Selects the soul."""

    soul: Id

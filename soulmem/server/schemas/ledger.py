"""Which question of the ledger is well-formed?"""

from __future__ import annotations

from soulmem.server.schemas.common import Id, Query


class LedgerQuery(Query, frozen=True):
    """Whose books."""

    soul: Id

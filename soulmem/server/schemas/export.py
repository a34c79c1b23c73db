"""What may be asked of an export."""

from __future__ import annotations

from soulmem.server.schemas.common import Id, Query


class ExportQuery(Query, frozen=True):
    """Whose memory."""

    soul: Id

"""Request of the export."""

from __future__ import annotations

from soulmem.server.schemas.common import Id, Query


class ExportQuery(Query, frozen=True):
    """Selects the soul to export."""

    soul: Id

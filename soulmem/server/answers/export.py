"""What the file of a soul begins with."""

from __future__ import annotations

from datetime import datetime

from soulmem.server.answers.common import Answer

LINES = "application/x-ndjson"


class BundleAnswer(Answer, frozen=True):
    """The first line of a bundle; the others say in `type` what they are: soul, chat, message, memory, edge,
    usage, recall, and at last end with the number of `lines` before it.
    """

    type: str
    version: int
    soul: str
    made: datetime
    soulmem: str

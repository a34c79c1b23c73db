"""Audit entries: who changed what. Entries are never altered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Any

from soulmem.domain.ids import SoulId


class Actor(str, Enum):
    """Who made a change. Only USER may change what is permanent or locked."""

    USER = "user"
    LEAD = "lead"
    ARCHIVIST = "archivist"
    ENGINE = "engine"
    IMPORT = "import"


class Action(str, Enum):
    """Kind of change."""

    CREATE = "create"
    CHANGE = "change"
    BIN = "bin"
    RESTORE = "restore"
    PURGE = "purge"
    READ = "read"
    LEARN = "learn"
    FEEDBACK = "feedback"
    ASK = "ask"  # for a deletion, which the user decides about
    REJECT = "reject"
    UNDO = "undo"
    RENEW = "renew"  # many things at once that follow from others, told by their number: there is no undoing it


FieldValues = Mapping[str, Any]  # field to value, as JSON can say it


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One change, with the values before and after; ids sort in the order of the changes."""

    id: str
    soul: SoulId
    moment: datetime  # aware
    actor: Actor
    action: Action
    target: str  # id of a memory, of an edge, or of what else was changed
    before: FieldValues | None = None  # None: there was nothing, or its words are purged
    after: FieldValues | None = None
    source: str = ""  # the job, the request, the trace or the change it follows from
    reason: str = ""


@dataclass(frozen=True, slots=True)
class AuditQuery:
    """Filter of audit entries; None matches all."""

    soul: SoulId | None = None
    target: str | None = None
    source: str | None = None
    action: Action | None = None
    id: str | None = None
    since: datetime | None = None  # inclusive
    before: str | None = None  # entries older than the one of this id
    limit: int = field(default=1000)  # 1..1000

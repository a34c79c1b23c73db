"""Audit entries of one change that differ only in their target: one row for all, as each alone takes 1 kB."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from soulmem.adapters.surreal.governed_rows import audit_filter
from soulmem.adapters.surreal.rows import Row, Table, instant
from soulmem.domain.audit import Action, Actor, AuditEntry, AuditQuery
from soulmem.domain.ids import Owner, SoulId

GROUPS = Table(
    "audit_group",
    (
        *("soul", "at", "actor", "action", "before", "after", "source", "reason"),
        *("keys", "targets", "erased"),
    ),
)
_FEWEST = 4  # entries for which a row of a group is smaller than one for each


def grouped(
    entries: Sequence[AuditEntry],
) -> tuple[list[AuditEntry], list[list[AuditEntry]]]:
    """The entries that get a row of their own, and those that share one, by ascending id."""
    alike: dict[str, list[AuditEntry]] = {}
    for entry in sorted(entries, key=lambda entry: entry.id):
        alike.setdefault(repr(replace(entry, id="", target="")), []).append(entry)
    single: list[AuditEntry] = []
    groups: list[list[AuditEntry]] = []
    for same in alike.values():
        if len(same) < _FEWEST:
            single += same
        else:
            groups.append(same)
    return single, groups


def group_row(owner: Owner, entries: Sequence[AuditEntry]) -> Row:
    """The row of entries that differ only in id and target."""
    first = entries[0]
    return {
        "id": [owner, first.id],
        "owner": owner,
        "soul": first.soul,
        "key": first.id,
        "at": first.moment,
        "actor": first.actor.value,
        "action": first.action.value,
        "before": None if first.before is None else json.dumps(first.before),
        "after": None if first.after is None else json.dumps(first.after),
        "source": first.source,
        "reason": first.reason,
        "keys": [entry.id for entry in entries],
        "targets": [entry.target for entry in entries],
        "erased": [],
    }


def group_filter(owner: Owner, wanted: AuditQuery) -> tuple[str, dict[str, Any]]:
    """The condition that selects the groups with an entry that may match, and its parameters."""
    which, params = audit_filter(owner, replace(wanted, target=None, id=None))
    if wanted.target is not None:
        which, params["target"] = f"{which} AND targets CONTAINS $target", wanted.target
    if wanted.id is not None:
        which, params["entry"] = f"{which} AND keys CONTAINS $entry", wanted.id
    return which, params


def matching(wanted: AuditQuery) -> Callable[[str], list[AuditEntry]]:
    """Reads a row: the entries of the group that match."""

    def entries_of(line: str) -> list[AuditEntry]:
        return [
            entry
            for entry in _entries(line)
            if wanted.target in (None, entry.target)
            and wanted.id in (None, entry.id)
            and (wanted.before is None or entry.id < wanted.before)
        ]

    return entries_of


def _entries(line: str) -> Iterator[AuditEntry]:
    """All entries of a group; those about a purged memory have no words."""
    _, soul, at, actor, action, before, after, source, reason, *lists = json.loads(line)
    keys, targets, erased = lists
    for key, target in zip(keys, targets, strict=True):
        is_erased = target in erased
        yield AuditEntry(
            id=key,
            soul=SoulId(soul),
            moment=instant(at),
            actor=Actor(actor),
            action=Action(action),
            target=target,
            before=None if is_erased or before is None else json.loads(before),
            after=None if is_erased or after is None else json.loads(after),
            source=source,
            reason="" if is_erased else reason,
        )

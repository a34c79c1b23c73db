"""What does undoing some changes mean, when others came after them?

An entry tells fields by name; those of edges stand under `edges`, by the edge's id, and one that was not
there before, or is no more, is None. Whatever the user touched later is left as the user wants it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from soulmem.domain.audit import Action, Actor, AuditEntry

EDGES = "edges"
OPINION = "opinion"
_CHANGES = frozenset(
    {Action.CREATE, Action.CHANGE, Action.BIN, Action.RESTORE, Action.LEARN, Action.FEEDBACK}
)


@dataclass(slots=True)
class Reversal:
    """What is to be put back: by memory its fields, by edge its fields, None for one that is to go.

    `born` memories were made by what is undone. `skipped` names what the user changed later.
    """

    memories: dict[str, dict[str, Any]] = field(default_factory=dict)
    born: dict[str, str] = field(default_factory=dict)  # memory to the entry that made it
    edges: dict[str, dict[str, Any] | None] = field(default_factory=dict)
    undone: dict[str, None] = field(default_factory=dict)  # ids of entries
    skipped: list[tuple[str, str]] = field(default_factory=list)  # target and field


def is_undoable(entry: AuditEntry, *, by_name: bool = False) -> bool:
    """Whether it is an automatic change; `by_name`: feedback, too, for the user asks for that one."""
    if entry.action not in _CHANGES:
        return False
    return entry.actor is not Actor.USER or (by_name and entry.action is Action.FEEDBACK)


def reversal(entries: Iterable[AuditEntry], chosen: Collection[str]) -> Reversal:
    """What to put back so that the `chosen` entries did not happen.

    entries  the newest first: the chosen ones and all that came after the oldest of them
    """
    out = Reversal()
    mine: set[tuple[str, str]] = set()  # what the user said later: a target and a field of it
    kept: set[str] = set()  # memories the user laid hands on later
    for entry in entries:
        if entry.id in chosen:
            _take_back(out, entry, mine, kept)
        elif entry.actor is Actor.USER:
            mine.update(_touched(entry))
            if entry.action is not Action.UNDO:
                kept.add(entry.target)
    return out


def _take_back(out: Reversal, entry: AuditEntry, mine: set[tuple[str, str]], kept: set[str]) -> None:
    before = entry.before or {}
    out.undone[entry.id] = None
    if entry.action is Action.CREATE:
        if entry.target in kept:
            out.skipped.append((entry.target, "state"))
        else:
            out.born[entry.target] = entry.id
    else:
        for name in sorted({*before, *(entry.after or {})} - {EDGES}):
            if (entry.target, name) in mine:
                out.skipped.append((entry.target, name))
            elif name in before:
                out.memories.setdefault(entry.target, {})[name] = before[name]
    for key, was in _edges(entry.before, entry.after):
        if (key, EDGES) in mine:
            out.skipped.append((key, EDGES))
        elif was is None:
            out.edges[key] = None
        else:
            known = out.edges.get(key)
            out.edges[key] = {**(known or {}), **was}


def _touched(entry: AuditEntry) -> set[tuple[str, str]]:
    names = {*(entry.before or {}), *(entry.after or {})} - {EDGES}
    return {(entry.target, name) for name in names} | {
        (key, EDGES) for key, _ in _edges(entry.before, entry.after)
    }


def _edges(
    before: Mapping[str, Any] | None, after: Mapping[str, Any] | None
) -> list[tuple[str, dict[str, Any] | None]]:
    """The edges that an entry tells of, each as it was."""
    was, now = (before or {}).get(EDGES) or {}, (after or {}).get(EDGES) or {}
    return [(key, was.get(key)) for key in sorted({*was, *now})]

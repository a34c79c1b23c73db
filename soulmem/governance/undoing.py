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
SINCE = (
    "since "  # how the reason of an undoing begins that took back all from an entry on
)
_CHANGES = frozenset(
    {
        Action.CREATE,
        Action.CHANGE,
        Action.BIN,
        Action.RESTORE,
        Action.LEARN,
        Action.FEEDBACK,
    }
)


@dataclass(slots=True)
class Reversal:
    """What is to be put back: by memory its fields, by edge its fields, None for one that is to go.

    `born` memories were made by what is undone. `skipped` names what the user changed later.
    """

    memories: dict[str, dict[str, Any]] = field(default_factory=dict)
    created: dict[str, str] = field(
        default_factory=dict
    )  # memory to the entry that made it
    edges: dict[str, dict[str, Any] | None] = field(default_factory=dict)
    undone: dict[str, None] = field(default_factory=dict)  # ids of entries
    skipped: list[tuple[str, str]] = field(default_factory=list)  # target and field


def is_undoable(entry: AuditEntry, *, by_name: bool = False) -> bool:
    """Whether it is an automatic change whose words are still there; `by_name`: feedback, too, for the user
    asks for that one.
    """
    stored_values = entry.after if entry.action is Action.CREATE else entry.before
    if entry.action not in _CHANGES or stored_values is None:
        return False
    return entry.actor is not Actor.USER or (
        by_name and entry.action is Action.FEEDBACK
    )


def undone_by(
    undos: Iterable[AuditEntry], entries: Iterable[AuditEntry]
) -> frozenset[str]:
    """Ids of those of the entries that one of these acts of undoing took back: the change or the job that it
    names, or all from a certain entry on.
    """
    acts = [act for act in undos if act.action is Action.UNDO]
    targets: dict[
        tuple[str, str], set[str]
    ] = {}  # what an act changed, for what the user said stayed
    for act in acts:
        targets.setdefault((act.source, act.reason), set()).add(act.target)
    undone_ids = set()
    for entry in entries:
        for act in acts:
            hit = entry.target in targets[(act.source, act.reason)] or _edges(
                entry.before, entry.after
            )
            if hit and act.id > entry.id and _names(act, entry):
                undone_ids.add(entry.id)
    return frozenset(undone_ids)


def _names(undo: AuditEntry, entry: AuditEntry) -> bool:
    """Whether the entry is one of those that the undoing was asked to take back."""
    if undo.reason.startswith(SINCE):
        return entry.id >= undo.reason.removeprefix(SINCE) and is_undoable(entry)
    named = bool(undo.source) and undo.source in (entry.id, entry.source)
    return named and is_undoable(entry, by_name=undo.source == entry.id)


def reversal(entries: Iterable[AuditEntry], chosen: Collection[str]) -> Reversal:
    """What to put back so that the `chosen` entries did not happen.

    entries  the newest first: the chosen ones and all that came after the oldest of them
    """
    entries = list(entries)
    out = Reversal()
    mine: set[tuple[str, str]] = (
        set()
    )  # what the user said later: a target and a field of it
    kept: set[str] = set()  # memories the user laid hands on later
    back: dict[
        tuple[str, str], str
    ] = {}  # what was undone already, to the oldest entry that was taken back
    acts: dict[
        tuple[str, str], dict[tuple[str, str], str]
    ] = {}  # the same for each act of undoing
    for entry in entries:
        if entry.id in chosen:
            older = {name for name, oldest in back.items() if oldest < entry.id}
            _take_back(out, entry, mine, kept, older)
        elif entry.action is Action.UNDO:
            act = (entry.source, entry.reason)
            if act not in acts:
                acts[act] = _oldest(entry, entries)
            for name in _touched(entry):
                oldest = acts[act].get(name, "")
                back[name] = min(oldest, back.get(name, oldest))
        elif entry.actor is Actor.USER:
            mine.update(_touched(entry))
            kept.add(entry.target)
    return out


def _oldest(
    undo: AuditEntry, entries: Iterable[AuditEntry]
) -> dict[tuple[str, str], str]:
    """By target and field the id of the oldest entry that the undoing took back."""
    out: dict[tuple[str, str], str] = {}
    for entry in entries:
        if entry.id < undo.id and _names(undo, entry):
            for name in _touched(entry):
                out[name] = min(entry.id, out.get(name, entry.id))
    return out


def _take_back(
    out: Reversal,
    entry: AuditEntry,
    mine: set[tuple[str, str]],
    kept: set[str],
    older: set[tuple[str, str]],
) -> None:
    """`older` fields have the value already that they had before this entry, or before one still older."""
    before = entry.before or {}
    out.undone[entry.id] = None
    if entry.action is Action.CREATE:
        if entry.target in kept:
            out.skipped.append((entry.target, "state"))
        else:
            out.created[entry.target] = entry.id
    else:
        for field_of in sorted(_memory_fields(entry)):
            if field_of in mine:
                out.skipped.append(field_of)
            elif field_of[1] in before and field_of not in older:
                fields = out.memories.setdefault(entry.target, {})
                fields[field_of[1]] = before[field_of[1]]
    _take_back_edges(out, entry, mine, older)


def _take_back_edges(
    out: Reversal,
    entry: AuditEntry,
    mine: set[tuple[str, str]],
    older: set[tuple[str, str]],
) -> None:
    for key, was in _edges(entry.before, entry.after):
        if (key, EDGES) in mine:
            out.skipped.append((key, EDGES))
        elif (key, EDGES) in older:
            continue
        elif was is None:
            out.edges[key] = None
        else:
            out.edges[key] = {**(out.edges.get(key) or {}), **was}


def _touched(entry: AuditEntry) -> set[tuple[str, str]]:
    edges = {(key, EDGES) for key, _ in _edges(entry.before, entry.after)}
    return _memory_fields(entry) | edges


def _memory_fields(entry: AuditEntry) -> set[tuple[str, str]]:
    names = {*(entry.before or {}), *(entry.after or {})} - {EDGES}
    return {(entry.target, name) for name in names}


def _edges(
    before: Mapping[str, Any] | None, after: Mapping[str, Any] | None
) -> list[tuple[str, dict[str, Any] | None]]:
    """The edges that an entry tells of, each as it was."""
    before_edges, after_edges = (
        (before or {}).get(EDGES) or {},
        (after or {}).get(EDGES) or {},
    )
    return [
        (key, before_edges.get(key)) for key in sorted({*before_edges, *after_edges})
    ]

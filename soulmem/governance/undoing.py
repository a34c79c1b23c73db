"""What to restore when changes are undone after later changes.

An audit entry has fields by name; edges are under `edges`, by edge id, None where the edge did not exist, and
fading records under `fading`, by memory in the same way. What the user changed later is left as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from soulmem.domain.audit import Action, Actor, AuditEntry

# id of a memory or an edge, and a field; `EDGES` for an edge, `FADING` for how a memory fades
FieldRef = tuple[str, str]

EDGES = "edges"
FADING = "fading"
OPINION = "opinion"
VECTORS = "memory_vectors"  # what a lesson added to the memory vectors of edges
SINCE = "since "  # prefix of the reason of an undo of all entries from one on
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
    """What to restore: fields by memory, fields by edge, None for an edge to delete; the same of fading records.

    `created` memories were made by the undone entries. `skipped` lists what the user changed later.
    """

    memories: dict[str, dict[str, Any]] = field(default_factory=dict)
    # memory: id of the entry that created it
    created: dict[str, str] = field(default_factory=dict)
    edges: dict[str, dict[str, Any] | None] = field(default_factory=dict)
    # memory: its former fading record
    fading: dict[str, dict[str, Any] | None] = field(default_factory=dict)
    # entries whose lessons are taken out of memory vectors, newest first
    vectors: list[AuditEntry] = field(default_factory=list)
    undone: dict[str, None] = field(default_factory=dict)  # ids of entries
    skipped: list[FieldRef] = field(default_factory=list)


def is_undoable(entry: AuditEntry, *, by_name: bool = False) -> bool:
    """Whether it is an automatic change whose values are still stored. With `by_name` the user's feedback
    counts, too, as the undo names that entry.
    """
    stored_values = entry.after if entry.action is Action.CREATE else entry.before
    if entry.action not in _CHANGES or stored_values is None:
        return False
    return entry.actor is not Actor.USER or (by_name and entry.action is Action.FEEDBACK)


def undone_by(undos: Iterable[AuditEntry], entries: Iterable[AuditEntry]) -> frozenset[str]:
    """Ids of the entries that one of these undo entries took back: the change or the job that it names, or all
    from an entry on.
    """
    acts = [act for act in undos if act.action is Action.UNDO]
    # targets of each undo; fields that the user changed were not restored
    targets: dict[tuple[str, str], set[str]] = {}
    for act in acts:
        targets.setdefault((act.source, act.reason), set()).add(act.target)
    undone_ids = set()
    for entry in entries:
        for act in acts:
            hit = (
                entry.target in targets[(act.source, act.reason)]
                or _edges(entry.before, entry.after)
                or _fading(entry)
            )
            if hit and act.id > entry.id and _names(act, entry):
                undone_ids.add(entry.id)
    return frozenset(undone_ids)


def _names(undo: AuditEntry, entry: AuditEntry) -> bool:
    """Whether the undo was requested for this entry."""
    if undo.reason.startswith(SINCE):
        return entry.id >= undo.reason.removeprefix(SINCE) and is_undoable(entry)
    named = bool(undo.source) and undo.source in (entry.id, entry.source)
    return named and is_undoable(entry, by_name=undo.source == entry.id)


def reversal(entries: Iterable[AuditEntry], chosen: Collection[str]) -> Reversal:
    """What to restore so that the `chosen` entries have no effect.

    entries  newest first: the chosen ones and all that came after the oldest of them
    """
    entries = list(entries)
    out = Reversal()
    # target and field of what the user changed later
    mine: set[FieldRef] = set()
    kept: set[str] = set()  # memories that the user changed later
    # fields of earlier undos: oldest entry that they took back
    back: dict[FieldRef, str] = {}
    # the same by undo (source and reason)
    acts: dict[tuple[str, str], dict[FieldRef, str]] = {}
    out.vectors = _vector_lessons(entries, chosen)
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


def _vector_lessons(entries: Sequence[AuditEntry], chosen: Collection[str]) -> list[AuditEntry]:
    """The chosen entries that taught memory vectors and were not undone before."""
    lessons = [
        entry for entry in entries if entry.id in chosen and (entry.after or {}).get(VECTORS)
    ]
    earlier = undone_by(entries, lessons) if lessons else frozenset()
    return [entry for entry in lessons if entry.id not in earlier]


def _oldest(undo: AuditEntry, entries: Iterable[AuditEntry]) -> dict[FieldRef, str]:
    """By target and field: the id of the oldest entry that the undo took back."""
    out: dict[FieldRef, str] = {}
    for entry in entries:
        if entry.id < undo.id and _names(undo, entry):
            for name in _touched(entry):
                out[name] = min(entry.id, out.get(name, entry.id))
    return out


def _take_back(
    out: Reversal,
    entry: AuditEntry,
    mine: set[FieldRef],
    kept: set[str],
    older: set[FieldRef],
) -> None:
    """Add the values before this entry. `older` fields have that value, or an older one, already."""
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
    for key, was in _fading(entry):
        if (key, FADING) in mine:
            out.skipped.append((key, FADING))
        elif (key, FADING) not in older:
            out.fading[key] = was


def _take_back_edges(
    out: Reversal,
    entry: AuditEntry,
    mine: set[FieldRef],
    older: set[FieldRef],
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


def _touched(entry: AuditEntry) -> set[FieldRef]:
    edges = {(key, EDGES) for key, _ in _edges(entry.before, entry.after)}
    fading = {(key, FADING) for key, _ in _fading(entry)}
    return _memory_fields(entry) | edges | fading


def _memory_fields(entry: AuditEntry) -> set[FieldRef]:
    names = {*(entry.before or {}), *(entry.after or {})} - {EDGES, VECTORS, FADING}
    return {(entry.target, name) for name in names}


def _fading(entry: AuditEntry) -> list[tuple[str, dict[str, Any] | None]]:
    """The memories whose fading an entry changed, with the records before it; None where there was none."""
    before = (entry.before or {}).get(FADING) or {}
    after = (entry.after or {}).get(FADING) or {}
    return [(key, before.get(key)) for key in sorted({*before, *after})]


def _edges(
    before: Mapping[str, Any] | None, after: Mapping[str, Any] | None
) -> list[tuple[str, dict[str, Any] | None]]:
    """The edges of an entry with their values before it; None where the edge did not exist."""
    before_edges, after_edges = (
        (before or {}).get(EDGES) or {},
        (after or {}).get(EDGES) or {},
    )
    return [(key, before_edges.get(key)) for key in sorted({*before_edges, *after_edges})]

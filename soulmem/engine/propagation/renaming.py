"""Changes of names: the concepts they add, change and drop, and the names that texts gain or lose.

Compute thread only, where nothing else is said.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import NAMEABLE, Memory, MemoryKind, MemoryState, Origin
from soulmem.domain.soul import Soul
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.known_names import ConceptNames, KnownNames
from soulmem.engine.mind.mind import Mind
from soulmem.engine.mind.name_counts import Swap
from soulmem.engine.propagation.learned_names import learned_name_changes
from soulmem.engine.runtime.worker import compute_only
from soulmem.language.name_tokens import fold
from soulmem.language.pinyin import romanised

_AT_ONCE = 1_000  # rows of one transaction; larger changes are stored in several

_NOTHING = ConceptNames()

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class NameChanges:
    """The differences between two states of names."""

    gained_names: tuple[str, ...]  # names that texts must be searched for
    gained_sounds: frozenset[str]  # sounds that texts must be searched for
    losing_concepts: frozenset[MemoryId]  # concepts that may lose mentions
    changed_concepts: frozenset[MemoryId]  # all concepts whose names differ


@dataclass(frozen=True, slots=True)
class Renaming:
    """A change of names with all that follows from it, except for the mentions in texts."""

    change: MindChange
    # The names of another card; None: the mind's own, with the concepts of the change.
    card_names: KnownNames | None
    name_changes: NameChanges
    # The episodes with the names that were learned; None: any text may have them.
    naming_memories: frozenset[MemoryId] | None = None

    def names(self, mind: Mind) -> AbstractContextManager[KnownNames]:
        """A context with the names after the change, by which texts are linked."""
        if self.card_names is not None:
            return nullcontext(self.card_names)
        return mind.names.as_if(self.change.put_memories, self.change.drop_memories)


def card_known_names(soul: Soul, concepts: Iterable[Memory]) -> KnownNames:
    """The known names of a soul with the card of `soul` and these concepts; any thread."""
    names = KnownNames(soul)
    apply_concepts(names, concepts)
    return names


def apply_concepts(
    names: KnownNames, memories: Iterable[Memory], dropped: Iterable[MemoryId] = ()
) -> None:
    """Put these concepts into the names and drop those from them; any thread."""
    for memory in memories:
        names.put(memory)
    for key in dropped:
        names.drop(key)


@compute_only
def user_linked_concepts(mind: Mind, drop: Iterable[MemoryId]) -> list[Memory]:
    """Of these card concepts those with an edge by the user, made the user's own so that they stay."""
    out = []
    for key in drop:
        if any(edge.origin is Origin.USER for edge in mind.edges.of(key)):
            old = mind.memories[key]
            out.append(replace(old, origin=Origin.USER, revision=old.revision + 1))
    return out


def compare_names(
    before: Mapping[MemoryId, ConceptNames],
    after: Mapping[MemoryId, ConceptNames],
    suspects: Collection[MemoryId] = (),
) -> NameChanges:
    """The differences between two states of names; any thread.

    Of the concepts `suspects` it is unknown which texts are linked to them, so all
    their names count as gained and their mentions as lost.
    """
    gained: dict[str, None] = {}
    gained_sounds: set[str] = set()
    losing: set[MemoryId] = set(suspects)
    changed: set[MemoryId] = set(suspects)
    for key in before.keys() | after.keys():
        if before.get(key) != after.get(key):
            changed.add(key)
        old = _NOTHING if key in suspects else before.get(key, _NOTHING)
        new = after.get(key, _NOTHING)
        gained.update(dict.fromkeys(n for n in new.names if n not in old.names))
        gained_sounds |= new.sounds - old.sounds
        if old.sounds - new.sounds or not set(new.names).issuperset(old.names):
            losing.add(key)
    return NameChanges(
        gained_names=tuple(gained),
        gained_sounds=frozenset(gained_sounds),
        losing_concepts=frozenset(losing),
        changed_concepts=frozenset(changed | losing),
    )


@compute_only
def renaming_by_concepts(mind: Mind, change: MindChange, current_time: datetime) -> Renaming:
    """The renaming by concepts that the user makes, changes, bins or restores; the card stays."""
    put = {m.id: m for m in change.put_memories}
    existing = (mind.memories.get(key) for key in put)
    old = [memory for memory in existing if memory is not None]
    while True:
        near = [*old, *put.values()]
        fresh, drop = _due_near(mind, change, put.values(), near, current_time)
        kept = user_linked_concepts(mind, drop)
        if not kept:
            break
        put.update((m.id, m) for m in kept)
    put.update((m.id, m) for m in fresh)
    dropped = (*change.drop_memories, *drop)
    whole = replace(change, put_memories=tuple(put.values()), drop_memories=dropped)
    return Renaming(whole, None, _name_changes(mind, put.values(), dropped))


def _due_near(
    mind: Mind,
    change: MindChange,
    put: Collection[Memory],
    near: Collection[Memory],
    current_time: datetime,
) -> tuple[list[Memory], list[MemoryId]]:
    """Card and learned concepts to write or drop once `put` is put and the change is made.

    Only those with names of the concepts `near`. The messages of the change count, since
    undoing may restore texts and names at once.
    """
    swaps = _swaps(mind, change)
    with (
        mind.names.as_if(put, change.drop_memories),
        mind.name_counts.as_if(swaps) as folds,
    ):
        fresh, drop = mind.names.card_changes(current_time, near)
        learned, unlearned = learned_name_changes(
            mind.names, mind.name_counts, folds | _folds_near(near), current_time
        )
    return [*fresh, *learned], [*drop, *unlearned]


def _name_changes(
    mind: Mind, put: Collection[Memory], dropped: Collection[MemoryId]
) -> NameChanges:
    """The names that change when these concepts are put and those are dropped."""
    ids = {*(memory.id for memory in put), *dropped}
    before = {key: mind.names.concept_names(key) for key in ids}
    with mind.names.as_if(put, dropped):
        after = {key: mind.names.concept_names(key) for key in ids}
    return compare_names(before, after)


def _folds_near(concepts: Iterable[Memory]) -> set[str]:
    """The folds of all names of these concepts, romanised ones included."""
    out: set[str] = set()
    for memory in concepts:
        if memory.kind is MemoryKind.CONCEPT:
            aliases = memory.concept.aliases if memory.concept else ()
            for name in (memory.text, *aliases):
                out.update(map(fold, (name, *romanised(name))))
    return out - {""}


def _swaps(mind: Mind, change: MindChange) -> list[Swap]:
    """Each memory that the change writes or drops, before and after it."""
    put: list[Swap] = [(mind.memories.get(m.id), m) for m in change.put_memories]
    return put + [(mind.memories.get(key), None) for key in change.drop_memories]


@compute_only
def renaming_by_messages(mind: Mind, change: MindChange, current_time: datetime) -> Renaming | None:
    """The renaming by messages that come and go; None if no learned name changes."""
    naming: set[MemoryId] = set()
    with mind.name_counts.as_if(_swaps(mind, change)) as folds:
        fresh, drop = learned_name_changes(mind.names, mind.name_counts, folds, current_time)
        kept = user_linked_concepts(mind, drop)
        for memory in fresh:
            naming |= mind.name_counts.memories_with(fold(memory.text))
    if not fresh and not drop:
        return None
    put = {m.id: m for m in (*kept, *fresh)}
    dropped = [key for key in drop if key not in put]
    whole = replace(
        change,
        # Concepts first: the texts will be linked to them.
        put_memories=(*put.values(), *change.put_memories),
        drop_memories=(*change.drop_memories, *dropped),
    )
    changes = _name_changes(mind, put.values(), dropped)
    return Renaming(whole, None, changes, frozenset(naming))


@compute_only
def unlinked_concepts(mind: Mind, current_time: datetime) -> list[Memory] | None:
    """Concepts whose mentions may be incomplete; None if names and mentions need no work at all."""
    suspects = [m for m in mind.names.special_concepts() if _is_suspect(mind, m)]
    put, drop = mind.names.card_changes(current_time)
    learned, unlearned = learned_name_changes(
        mind.names, mind.name_counts, all_folded_names(mind), current_time
    )
    return suspects if suspects or put or drop or learned or unlearned else None


def _is_suspect(mind: Mind, concept: Memory) -> bool:
    """Whether an interrupted renaming left it: stale, or out of use with mentions."""
    if concept.state is MemoryState.STALE:
        return True
    return concept.state not in NAMEABLE and _is_linked(mind, concept.id)


@compute_only
def all_folded_names(mind: Mind) -> list[str]:
    """The folds of all names in messages, and of all learned names."""
    learned = mind.names.learned_folds()
    return list(dict.fromkeys((*mind.name_counts.folds(), *learned)))


def _is_linked(mind: Mind, key: MemoryId) -> bool:
    """Whether the concept has mentions that the user did not make."""
    kind, user = EdgeKind.MENTIONS, Origin.USER
    return any(e.kind is kind and e.origin is not user for e in mind.edges.of(key))


def _rows(change: MindChange) -> int:
    """The number of stored rows that the change writes or drops."""
    memories = len(change.put_memories) + len(change.drop_memories)
    return memories + len(change.put_edges) + len(change.drop_edges)


@compute_only
def transaction_steps(
    mind: Mind, moved: Collection[MemoryId], whole: MindChange
) -> list[MindChange]:
    """The renaming as changes that are one transaction each, in order; as a rule it is one. Any thread.

    In a larger one, the `moved` concepts are stale from the first step to the last, so that
    an interruption can be noticed. Without edges, each step stands for itself.
    """
    if _rows(whole) <= _AT_ONCE:
        return [whole]
    put = {m.id: m for m in whole.put_memories}
    for key in moved:
        if key not in put and key in mind.memories and key not in whole.drop_memories:
            put[key] = mind.memories[key]
    concepts = list(put.values())
    steps: list[MindChange] = []
    if not whole.put_edges and not whole.drop_edges:
        steps += _put_steps(concepts)
    else:
        steps += _put_steps(list(map(_marked_stale, concepts)))
        for dropped in _parts(whole.drop_edges):
            steps.append(MindChange(drop_edges=tuple(dropped)))
        for edges in _parts(whole.put_edges):
            steps.append(MindChange(put_edges=tuple(edges)))
        steps += _put_steps(list(filter(_links, concepts)))
    for keys in _parts(whole.drop_memories):
        steps.append(MindChange(drop_memories=tuple(keys)))
    rest = replace(whole, put_memories=(), drop_memories=(), put_edges=(), drop_edges=())
    return [*steps, rest] if rest != MindChange() else steps


def _put_steps(memories: Sequence[Memory]) -> list[MindChange]:
    """Changes that put these memories, in portions of bounded size."""
    return [MindChange(put_memories=tuple(part)) for part in _parts(memories)]


def _marked_stale(memory: Memory) -> Memory:
    """A linked concept as stale, anything else as it is."""
    return replace(memory, state=MemoryState.STALE) if _links(memory) else memory


def _links(memory: Memory) -> bool:
    """Whether texts are linked to it: a concept in use."""
    return memory.kind is MemoryKind.CONCEPT and memory.state is MemoryState.ACTIVE


def _parts(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """The items in portions of one transaction each."""
    return (items[start : start + _AT_ONCE] for start in range(0, len(items), _AT_ONCE))

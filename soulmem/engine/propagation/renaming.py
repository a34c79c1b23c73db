"""What does a change of names mean: which concepts come, change and go, which names are gained or lost?"""

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
from soulmem.language.name_tokens import fold
from soulmem.language.pinyin import romanised

_AT_ONCE = 1_000  # rows; larger changes are stored in several transactions

_NOTHING = ConceptNames()

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class NameChanges:
    """What a change of names means."""

    gained_names: tuple[str, ...]  # names that texts may hold now
    gained_sounds: frozenset[str]  # sounds of names that texts may hold now
    losing_concepts: frozenset[MemoryId]  # concepts that may lose texts
    changed_concepts: frozenset[MemoryId]  # all those whose names differ


@dataclass(frozen=True, slots=True)
class Renaming:
    """A change of names, thought through but for the texts: `names` gives them as they will be."""

    change: MindChange
    card_names: (
        KnownNames | None
    )  # None: the mind's own, with the concepts of the change
    name_changes: NameChanges
    naming_memories: frozenset[MemoryId] | None = (
        None  # who gives the names that were learned; None: look at every text
    )

    def names(self, mind: Mind) -> AbstractContextManager[KnownNames]:
        """The names to link by, on the compute thread, for one piece of work."""
        if self.card_names is not None:
            return nullcontext(self.card_names)
        return mind.names.as_if(self.change.put_memories, self.change.drop_memories)


def card_known_names(soul: Soul, concepts: Iterable[Memory]) -> KnownNames:
    """Known names of the card as given, with these concepts."""
    names = KnownNames(soul)
    apply_concepts(names, concepts)
    return names


def apply_concepts(
    names: KnownNames, memories: Iterable[Memory], gone: Iterable[MemoryId] = ()
) -> None:
    """Let the names know of concepts that come and go."""
    for memory in memories:
        names.put(memory)
    for key in gone:
        names.drop(key)


def user_linked_concepts(mind: Mind, drop: Iterable[MemoryId]) -> list[Memory]:
    """Those of the card-made concepts that the user tied to something: they become the user's own."""
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
    """What differs between two states of names."""
    gained: dict[str, None] = {}
    heard: set[str] = set()
    lost: set[MemoryId] = set(suspects)
    for key in before.keys() | after.keys():
        old = _NOTHING if key in suspects else before.get(key, _NOTHING)
        new = after.get(key, _NOTHING)
        if old != new:
            gained.update(dict.fromkeys(n for n in new.names if n not in old.names))
            heard |= new.sounds - old.sounds
            if old.sounds - new.sounds or any(n not in new.names for n in old.names):
                lost.add(key)
    moved = {
        key for key in before.keys() | after.keys() if before.get(key) != after.get(key)
    }
    return NameChanges(
        tuple(gained), frozenset(heard), frozenset(lost), frozenset(moved | lost)
    )


def renaming_by_concepts(mind: Mind, change: MindChange, now: datetime) -> Renaming:
    """What follows from concepts that the user makes, changes, bins or takes back; the card is as it was."""
    put = {m.id: m for m in change.put_memories}
    old = [m for key in put if (m := mind.memories.get(key)) is not None]
    while True:
        with (
            mind.names.as_if(put.values(), change.drop_memories),
            mind.name_counts.as_if(
                _swaps(mind, change)
            ) as told,  # undoing brings texts and names at once
        ):
            fresh, drop = mind.names.card_changes(now, [*old, *put.values()])
            near = told | _folds_near([*old, *put.values()])
            learned, unlearned = learned_name_changes(
                mind.names, mind.name_counts, near, now
            )
            fresh, drop = [*fresh, *learned], [*drop, *unlearned]
        kept = user_linked_concepts(mind, drop)
        if not kept:
            break
        put.update((m.id, m) for m in kept)
    put.update((m.id, m) for m in fresh)
    gone = (*change.drop_memories, *drop)
    ids = {*put, *gone}
    before = {key: mind.names.concept_names(key) for key in ids}
    with mind.names.as_if(put.values(), gone):
        after = {key: mind.names.concept_names(key) for key in ids}
    whole = replace(change, put_memories=tuple(put.values()), drop_memories=gone)
    return Renaming(whole, None, compare_names(before, after))


def _folds_near(concepts: Iterable[Memory]) -> set[str]:
    """The names that messages may give of which these concepts decide whether they are learned."""
    out: set[str] = set()
    for one in concepts:
        if one.kind is MemoryKind.CONCEPT:
            written = (one.text, *(one.concept.aliases if one.concept else ()))
            spelled = (
                *written,
                *(latin for name in written for latin in romanised(name)),
            )
            out.update(fold(name) for name in spelled)
    return out - {""}


def _swaps(mind: Mind, change: MindChange) -> list[Swap]:
    """What the change puts in the place of what."""
    put: list[Swap] = [(mind.memories.get(m.id), m) for m in change.put_memories]
    return put + [(mind.memories.get(key), None) for key in change.drop_memories]


def renaming_by_messages(
    mind: Mind, change: MindChange, now: datetime
) -> Renaming | None:
    """What messages that come and go mean for learned names; None when no name comes, changes or goes."""
    with mind.name_counts.as_if(_swaps(mind, change)) as folds:
        fresh, drop = learned_name_changes(mind.names, mind.name_counts, folds, now)
        kept = user_linked_concepts(mind, drop)
        held = {m.id: mind.name_counts.memories_with(fold(m.text)) for m in fresh}
    if not fresh and not drop:
        return None
    put = {m.id: m for m in (*kept, *fresh)}
    gone = [key for key in drop if key not in put]
    before = {key: mind.names.concept_names(key) for key in (*put, *gone)}
    with mind.names.as_if(put.values(), gone):
        after = {key: mind.names.concept_names(key) for key in before}
    whole = replace(
        change,
        put_memories=(
            *put.values(),
            *change.put_memories,
        ),  # first what the texts will be linked to
        drop_memories=(*change.drop_memories, *gone),
    )
    return Renaming(
        whole, None, compare_names(before, after), frozenset().union(*held.values())
    )


def unlinked_concepts(mind: Mind, now: datetime) -> list[Memory] | None:
    """Concepts whose links are not known to be complete; None when there is nothing to do at all."""
    concepts = mind.names.concepts()
    suspects = [
        m
        for m in concepts
        if m.state is MemoryState.STALE
        or (m.state not in NAMEABLE and _is_linked(mind, m.id))
    ]
    put, drop = mind.names.card_changes(now)
    learned, unlearned = learned_name_changes(
        mind.names, mind.name_counts, all_folded_names(mind), now
    )
    return suspects if suspects or put or drop or learned or unlearned else None


def all_folded_names(mind: Mind) -> list[str]:
    """The folds of all names that messages give, and of those that were learned."""
    learned = (fold(m.text) for m in mind.names.concepts() if m.is_learned_name)
    return list(dict.fromkeys((*mind.name_counts.folds(), *learned)))


def _is_linked(mind: Mind, key: MemoryId) -> bool:
    kind, user = EdgeKind.MENTIONS, Origin.USER
    return any(e.kind is kind and e.origin is not user for e in mind.edges.of(key))


def _rows(change: MindChange) -> int:
    parts = (
        change.put_memories,
        change.drop_memories,
        change.put_edges,
        change.drop_edges,
    )
    return sum(map(len, parts))


def transaction_steps(
    mind: Mind, moved: Collection[MemoryId], whole: MindChange
) -> list[MindChange]:
    """The change of names in transactions of bounded size: one, as a rule.

    When there are more its concepts are stale from the first to the last, so that an interruption shows.
    Without edges each stands for itself.
    """
    if _rows(whole) <= _AT_ONCE:
        return [whole]
    put = {m.id: m for m in whole.put_memories}
    for key in moved:
        if key not in put and key in mind.memories and key not in whole.drop_memories:
            put[key] = mind.memories[key]
    if not whole.put_edges and not whole.drop_edges:
        steps = [
            MindChange(put_memories=tuple(piece))
            for piece in _parts(list(put.values()))
        ]
    else:
        marked = [
            replace(m, state=MemoryState.STALE) if _links(m) else m
            for m in put.values()
        ]
        steps = [MindChange(put_memories=tuple(piece)) for piece in _parts(marked)]
        steps += [
            MindChange(drop_edges=tuple(piece)) for piece in _parts(whole.drop_edges)
        ]
        steps += [
            MindChange(put_edges=tuple(piece)) for piece in _parts(whole.put_edges)
        ]
        final = [m for m in put.values() if _links(m)]
        steps += [MindChange(put_memories=tuple(piece)) for piece in _parts(final)]
    steps += [
        MindChange(drop_memories=tuple(piece)) for piece in _parts(whole.drop_memories)
    ]
    return steps


def _links(memory: Memory) -> bool:
    return memory.kind is MemoryKind.CONCEPT and memory.state is MemoryState.ACTIVE


def _parts(items: Sequence[T]) -> Iterator[Sequence[T]]:
    return (items[start : start + _AT_ONCE] for start in range(0, len(items), _AT_ONCE))

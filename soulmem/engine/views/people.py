"""People: whom a soul knows, with their facts, when they were last met, and how it feels about them.

Compute thread only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import product

import numpy as np

from soulmem.domain.calendar import at_seconds
from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory, MemoryKind, Origin
from soulmem.domain.situation import ConceptType, Emotion, ParticipantKind
from soulmem.engine.api.results import Person
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.views.fact_validity import FactValidities
from soulmem.engine.views.faded_edges import remaining_strengths
from soulmem.engine.views.feelings_over_time import felt_most
from soulmem.graph.arcs import MEMORY_KINDS
from soulmem.kernels.arrays import Int64s
from soulmem.language.name_tokens import fold
from soulmem.language.places import after_place_words
from soulmem.language.relations import relation_of

_CONCEPT, _EPISODE, _ABSTRACT = map(
    MEMORY_KINDS.index,
    (MemoryKind.CONCEPT, MemoryKind.EPISODE, MemoryKind.ABSTRACT_EPISODE),
)
# Texts that show what a name stands for, and episodes that show how the soul feels: the latest.
_LATEST = 8
# Concepts that are looked at: half a second. A soul of 100,000 memories may have forty times as many.
_MOST = 1000
_MOST_VERDICTS = 4 * _MOST  # 2 MB
# of one person whose ids are given; in very large souls one may have tens of thousands
_FACTS = 200
_SEVERAL = 2  # places where a name stands
# Whose name a person goes by who has several.
_NAMED_BY = (Origin.CARD, Origin.USER, Origin.CHAT, Origin.MODEL)
_NOBODY = (ParticipantKind.SELF, ParticipantKind.OBJECT)


@compute_only
def named_concepts(mind: Mind) -> list[MemoryId]:
    """The concepts in use that may be people: names of single things, not topics; of very many the most named."""
    columns, n = mind.columns, mind.size
    rows = np.flatnonzero(columns.in_use[:n] & columns.live[:n] & (columns.kind[:n] == _CONCEPT))
    if rows.size > _MOST:
        rows = rows[np.argsort(-_mentions(mind, rows), kind="stable")[:_MOST]]
    return [
        memory.id
        for memory in mind.memories.many(mind.ids_at(rows.tolist()))
        if _is_entity(memory) and fold(memory.text) != fold(mind.soul.name)
    ]


class KnownVerdicts:
    """Whose names were somebody's by which episodes, as long as no episode was reworded.

    Reading the episodes of a thousand names takes most of the time.
    """

    def __init__(self, rewordings: int) -> None:
        """`Mind.rewordings` when this was read."""
        self.rewordings = rewordings
        self._of: dict[tuple[str, ...], bool] = {}

    def takes_part(self, mind: Mind, names: Sequence[str], rows: Int64s) -> bool:
        """As `_takes_part`, found out once."""
        key = (*names, "", *mind.ids_at(rows.tolist()))
        if key not in self._of:
            if len(self._of) >= _MOST_VERDICTS:
                self._of.clear()
            self._of[key] = _takes_part(mind, names, rows)
        return self._of[key]


@compute_only
def people_among(
    mind: Mind, concepts: Sequence[MemoryId], extra: int, known: KnownVerdicts
) -> list[Person]:
    """The people among these concepts, which may be names of one person.

    Somebody is known who is named in an episode, or of whom there is a fact.
    """
    accessible = mind.accessible_rows(None, None, lambda _, __: False)
    validities = FactValidities(mind, accessible, None)
    groups = {tuple(sorted(validities.alias_concepts(concept))): None for concept in concepts}
    episodes = episodes_by_concept(mind, list(dict.fromkeys(_flat(groups))))
    out = []
    for group in groups:
        rows = np.unique(np.concatenate([episodes[concept] for concept in group]))
        person = _person(mind, group, rows, extra, known)
        if person is not None:
            out.append(person)
    return out


@compute_only
def joined_people(
    mind: Mind, people: Sequence[Person], extra: int, known: KnownVerdicts
) -> list[Person]:
    """The people, two as one where the words of a name are among those of another's, and of nobody else's.

    Given is Given Family, and so is Brother Given.
    """
    words = {p.concept: _words_of_names(p) for p in people}
    by_concept = {person.concept: person for person in people}
    members = {person.concept: [person.concept] for person in people}
    for person in sorted(people, key=lambda p: (len(p.name.split()), p.name)):
        own = words[person.concept]
        wider = [
            key
            for key in by_concept
            if key != person.concept
            and any(mine < other for mine, other in product(own, words[key]))
        ]
        if len(wider) == 1:
            del by_concept[person.concept]
            words[wider[0]] += own
            members[wider[0]] += members[person.concept]
    out = []
    for key, person in by_concept.items():
        same = [p for p in people if p.concept in members[key]]
        is_one = len(same) == 1
        out.append(person if is_one else _united(mind, same, extra, known))
    return out


def _words_of_names(person: Person) -> list[frozenset[str]]:
    names = (person.name, *person.aliases)
    return [frozenset(map(fold, name.split())) for name in names]


def _united(mind: Mind, people: Sequence[Person], extra: int, known: KnownVerdicts) -> Person:
    """The one person of several names, by that which most episodes have."""
    first = max(people, key=lambda p: (p.episodes, p.name))
    concepts = [first.concept, *(p.concept for p in people if p is not first)]
    rows = np.unique(np.concatenate(list(episodes_by_concept(mind, concepts).values())))
    whole = _person(mind, concepts, rows, extra, known)
    names = dict.fromkeys(n for p in (first, *people) for n in (p.name, *p.aliases))
    aliases = tuple(name for name in names if name != first.name)
    return replace(whole or first, concept=first.concept, name=first.name, aliases=aliases)


def _flat(groups: Iterable[tuple[MemoryId, ...]]) -> Iterator[MemoryId]:
    for group in groups:
        yield from group


def _mentions(mind: Mind, rows: Int64s) -> Int64s:
    """How many memories name each of these concepts, as far as their links are loaded."""
    targets = mind.edges.arrays([EdgeKind.MENTIONS]).target
    return np.bincount(targets, minlength=mind.size)[rows]


def _is_entity(memory: Memory) -> bool:
    detail = memory.concept
    return detail is None or detail.concept_type is ConceptType.ENTITY


def _person(
    mind: Mind,
    concepts: Sequence[MemoryId],
    rows: Int64s,
    extra: int,
    known: KnownVerdicts,
) -> Person | None:
    """The person of these names, met in the episodes at `rows`; None for no person."""
    memories = sorted(mind.memories.many(concepts), key=lambda m: (_NAMED_BY.index(m.origin), m.id))
    names = list(dict.fromkeys(_flat_names(memories)))
    latest = rows[np.argsort(mind.columns.ended[rows], kind="stable")[::-1]]
    is_named_by_card = memories[0].origin is Origin.CARD
    if not (is_named_by_card or known.takes_part(mind, names, latest[:_LATEST])):
        return None
    facts = _facts(mind, concepts, extra)
    if not (rows.size or facts.size):
        return None
    return Person(
        concept=memories[0].id,
        name=names[0],
        aliases=tuple(names[1:]),
        facts=tuple(mind.edges.edge_at(slot).id for slot in facts[:_FACTS].tolist()),
        fact_count=int(facts.size),
        episodes=int(rows.size),
        last=_time(mind, latest[0]) if rows.size else None,
        feeling=_feeling(mind, latest),
    )


def _flat_names(memories: Iterable[Memory]) -> Iterator[str]:
    for memory in memories:
        yield memory.text
        yield from memory.concept.aliases if memory.concept else ()


def _takes_part(mind: Mind, names: Sequence[str], rows: Int64s) -> bool:
    """Whether texts tell more often of somebody of that name than of a place or an object."""
    folded = set(map(fold, names))
    people = things = 0
    for row in rows.tolist():
        situation = mind.memory_at(row).situation
        kinds = [p.kind for p in situation.participants if fold(p.name) in folded]
        if any(kind not in _NOBODY for kind in kinds):
            people += 1
        elif kinds or fold(situation.location or "") in folded:
            things += 1
    # What a name stands behind takes longest to see, and most names are nobody's
    return people > things and not _names_a_place(mind, names, rows)


def _names_a_place(mind: Mind, names: Sequence[str], rows: Int64s) -> bool:
    """Whether the name mostly stands where a place or a thing does: in, at, to or from it, behind an article."""
    texts = [mind.text_of(mind.id_at(row)) for row in rows.tolist()]
    total = places = 0
    for text, name in product(texts, names):
        count, after = after_place_words(text, name)
        total, places = total + count, places + after
    return total >= _SEVERAL and 2 * places > total


def _facts(mind: Mind, concepts: Sequence[MemoryId], extra: int) -> Int64s:
    """The slots of the person's relations that have not faded, in the order of a list of facts by strength.

    Other names are no facts.
    """
    edges = mind.edges.arrays([EdgeKind.RELATES], _rows_of(mind, concepts))
    strength = remaining_strengths(mind, edges, extra)
    verbs = mind.edges.verbs
    aliases = [verb for verb in verbs if relation_of(verb).is_alias]
    told = (strength > 0.0) & ~mind.edges.has_verb(edges.slot, aliases)
    order = np.lexsort((-edges.touched[told], -strength[told]))
    return np.asarray(edges.slot[told][order])


def _rows_of(mind: Mind, concepts: Iterable[MemoryId]) -> Int64s:
    rows = (mind.row(concept) for concept in concepts)
    return np.unique(np.asarray([r for r in rows if r is not None], np.int64))


def _feeling(mind: Mind, latest: Int64s) -> Emotion | None:
    """What the soul felt most in the latest episodes with the person in which it felt anything."""
    felt = latest[mind.columns.feeling[latest] > 0][:_LATEST]
    return felt_most(mind.memory_at(row) for row in felt.tolist())


def _time(mind: Mind, row: int) -> datetime:
    return at_seconds(float(mind.columns.ended[row]))


@compute_only
def episodes_by_concept(mind: Mind, concepts: Sequence[MemoryId]) -> dict[MemoryId, Int64s]:
    """The rows of the episodes in use that mention each concept, also those whose abstract episode does."""
    known = [c for c in concepts if mind.row(c) is not None]
    rows = np.asarray([mind.row(c) for c in known], np.int64)
    edges = mind.edges.arrays([EdgeKind.MENTIONS], np.unique(rows))
    columns, n = mind.columns, mind.size
    usable = columns.in_use[:n] & columns.live[:n]
    kind = columns.kind[:n]
    source, target = edges.source.astype(np.int64), edges.target.astype(np.int64)
    kept = usable[source]
    source, target = source[kept], target[kept]
    out: dict[MemoryId, Int64s] = {c: np.zeros(0, np.int64) for c in concepts}
    instances = _instances(mind, np.unique(source[kind[source] == _ABSTRACT]))
    named: dict[int, frozenset[MemoryId]] = {}
    order = np.argsort(target, kind="stable")
    source, target = source[order], target[order]
    begins, ends = (np.searchsorted(target, rows, side) for side in ("left", "right"))
    for concept, begin, end in zip(known, begins, ends, strict=True):
        texts = source[begin:end]
        direct = texts[kind[texts] == _EPISODE]
        covered = [
            episode
            for abstract in texts[kind[texts] == _ABSTRACT].tolist()
            for episode in instances.get(abstract, ())
            if usable[episode] and concept in _named_in(mind, episode, named)
        ]
        out[concept] = np.union1d(direct, np.asarray(covered, np.int64))
    return out


def _instances(mind: Mind, abstract: Int64s) -> dict[int, list[int]]:
    """The rows of the episodes of each of these abstract episodes."""
    out: defaultdict[int, list[int]] = defaultdict(list)
    if abstract.size:
        edges = mind.edges.arrays([EdgeKind.INSTANCE_OF], abstract)
        for source, target in zip(edges.source, edges.target, strict=True):
            out[int(target)].append(int(source))
    return out


def _named_in(mind: Mind, row: int, named: dict[int, frozenset[MemoryId]]) -> frozenset[MemoryId]:
    """The concepts that the text at a row names; `named` holds what was found out so far."""
    if row not in named:
        named[row] = frozenset(mind.names.spot(mind.text_of(mind.id_at(row))))
    return named[row]

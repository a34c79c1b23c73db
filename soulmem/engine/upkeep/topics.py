"""Finds the topics of a soul: communities of concepts that occur together, updated in Idle."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.audit import Action, Actor
from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.ids import MemoryId, derived_id
from soulmem.domain.memories import Memory, MemoryKind, MemoryState, Origin
from soulmem.domain.situation import ConceptDetail, ConceptType
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.propagation.linker import Steps
from soulmem.engine.runtime.jobs import JobKind, JobRun
from soulmem.engine.views.concept_activation import with_joined_tellings
from soulmem.engine.views.provenance import concepts_named, rows_in_use
from soulmem.engine.world.audit import ChangeAuthor
from soulmem.engine.world.services import Services
from soulmem.engine.world.world import World
from soulmem.graph.cooccurrence import associates
from soulmem.graph.topic_communities import Topic, TopicParams, topics_of
from soulmem.language.scripts import is_unspaced

ReportProgress = Callable[[int, int, str], None]

_ACTIVE = MemoryState.ACTIVE
_PIECE = 8  # terms whose associates are counted at once: about 20 ms in a large soul
_TAGS = 12  # concepts kept as tags of a topic
_CHANGED = 0.02  # share of texts that must change before topics are updated


# Which terms and associations topics are built from.
_SEEN = 3  # texts with the term; two may be chance
_MET = 2  # exchanges with both terms; one may be chance
_STRENGTH = 0.12  # 0..1, least strength of an association; four even pairs reach 0.17
_NEAREST = 6  # strongest associations of a term; more would merge all topics
_MOST = 4000  # most frequent terms; communities of so many take about 2 s
_TOPICS = TopicParams()


@dataclass(kw_only=True, eq=False)
class Topics:
    """Keeps the topics of souls equal to what their texts contain."""

    services: Services

    def __post_init__(self) -> None:
        self._seen: WeakKeyDictionary[Mind, int] = (
            WeakKeyDictionary()
        )  # revision of the terms at the last update

    def job_kinds(self) -> tuple[JobKind, ...]:
        """The jobs that this service runs."""
        return (JobKind("topics", self._job),)

    async def run_idle(self, worlds: Iterable[World]) -> None:
        """In Idle: update the topics of every open soul whose texts have changed enough."""
        await self.services.attempts.with_minds("topics", worlds, self._renew_changed)

    async def _renew_changed(self, world: World, mind: Mind) -> None:
        changed = abs(mind.terms.incidence.revision - self._seen.get(mind, -1))
        if changed > _CHANGED * len(mind.memories):
            await self._renew(world, mind)

    async def _job(self, run: JobRun) -> dict[str, int]:
        world = await self.services.world_of(run.owner)
        return {"topics": await self._renew(world, await world.mind(run.soul), run)}

    async def _renew(self, world: World, mind: Mind, run: JobRun | None = None) -> int:
        """Find and store the soul's topics; returns how many there are. The caller holds no lock.

        `run` receives the progress in concepts and may cancel.
        """
        revision = mind.terms.incidence.revision
        links = await self._links(mind, None if run is None else run.report)
        before = await self.services.compute.run(_previous_topics, mind)
        found_topics = await asyncio.to_thread(topics_of, links, before, _TOPICS)
        async with world.writing as token:
            if mind not in world.minds.values():
                return 0
            change = await self.services.compute.run(
                _change, mind, found_topics, self.services.clock.now()
            )
            if change != MindChange():
                # Numbers only: a word in the audit would outlive its message.
                audit_values = {
                    "topics": len(change.put_memories),
                    "gone": len(change.drop_memories),
                }
                author = ChangeAuthor(Actor.ENGINE, source="" if run is None else run.record.job)
                where = world.owner, mind.soul.id, author, Action.RENEW, mind.soul.id
                entry = await self.services.auditor.entry(*where, None, audit_values)
                await world.carry_out(token, mind, Steps([replace(change, audit=(entry,))]))
            self._seen[mind] = revision
        return len(found_topics)

    async def _links(
        self, mind: Mind, report: ReportProgress | None
    ) -> dict[tuple[str, str], float]:
        """Association strengths of pairs of concepts, by their labels."""
        terms = await self.services.compute.run(_frequent, mind)
        among, links = frozenset(terms), dict[tuple[str, str], float]()
        for start in range(0, len(terms), _PIECE):
            if report is not None:
                report(start, len(terms), "concepts")
            piece = terms[start : start + _PIECE]
            links.update(await self.services.compute.run(_links_of, mind, piece, among))
        return links


def _frequent(mind: Mind) -> list[str]:
    """Keys of the terms that enough texts contain, most frequent first."""
    incidence = mind.terms.incidence
    place, _ = incidence.rows_of(np.arange(incidence.terms), _rows_that_count(mind))
    windows = np.bincount(place, minlength=incidence.terms)
    often = np.flatnonzero(windows >= _SEEN)
    often = often[np.argsort(-windows[often], kind="stable")][:_MOST]
    return [incidence.key(int(term)) for term in often]


def _links_of(
    mind: Mind, keys: Sequence[str], among: Collection[str]
) -> dict[tuple[str, str], float]:
    """The strongest associations of these terms with terms of `among`; removed terms have none."""
    incidence = mind.terms.incidence
    told, windows = _rows_that_count(mind), mind.exchange_windows(None)
    links = {}
    for key in keys:
        term = incidence.number(key)
        if term is None:
            continue
        met = associates(incidence, term, told, windows=windows)
        strong = np.flatnonzero((met.strength >= _STRENGTH) & (met.pair >= _MET))
        order = strong[np.argsort(-met.strength[strong], kind="stable")]
        others = [(int(met.terms[index]), float(met.strength[index])) for index in order]
        near = [(other, strength) for other, strength in others if incidence.key(other) in among]
        name = mind.terms.label(term)
        for other, strength in near[:_NEAREST]:
            first, second = sorted((name, mind.terms.label(other)))
            if first and first != second and not _overlap(first, second):
                links[first, second] = strength
    return links


def _rows_that_count(mind: Mind) -> NDArray[np.bool_]:
    """The rows of the texts whose terms count, bool[rows]: what was told several times each time."""
    return with_joined_tellings(mind, None, rows_in_use(mind))


def _overlap(first: str, second: str) -> bool:
    """Whether the two share a part, and so are pieces of one word or phrase that always
    occur together.
    """
    if is_unspaced(first) and is_unspaced(second):
        return not set(first).isdisjoint(second)
    return not set(first.casefold().split()).isdisjoint(second.casefold().split())


def _topics(mind: Mind) -> dict[MemoryId, Memory]:
    """Found topics, and those among them that the user has renamed: they keep their tags."""
    topic_memories = (m for m in mind.names.special_concepts() if m.is_topic and m.tags)
    return {m.id: m for m in sorted(topic_memories, key=lambda m: m.id)}


def _previous_topics(mind: Mind) -> list[Topic]:
    return [Topic(m.id, m.tags[:3], m.tags) for m in _topics(mind).values()]


def _change(mind: Mind, found_topics: Sequence[Topic], current_time: datetime) -> MindChange:
    """What to write so that the soul's found topics are these."""
    old = _topics(mind)
    put, edges, kept_edges = [], [], set()
    taken = {MemoryId(topic.key) for topic in found_topics if topic.key in old}
    for topic in found_topics:
        key = _id(mind, topic, taken, old)
        memory = _memory(mind, key, topic, old.get(key), current_time)
        if memory != old.get(key):
            put.append(memory)
        if memory.state is not _ACTIVE:
            continue
        for name in topic.members:
            for concept in concepts_named(mind, name):
                edge = Edge(
                    mind.soul.id,
                    concept,
                    key,
                    EdgeKind.TOPIC_OF,
                    Origin.CHAT,
                    current_time,
                    strength=1.0,
                )
                kept_edges.add(edge.id)
                if edge.id not in mind.edges:
                    edges.append(edge)
    removed = [
        key
        for key, memory in old.items()
        if key not in taken and memory.is_found_topic and memory.state is _ACTIVE
    ]
    return MindChange(
        put_memories=tuple(put),
        drop_memories=tuple(removed),
        put_edges=tuple(edges),
        drop_edges=tuple(_stale_links(mind, old, kept_edges)),
    )


def _stale_links(mind: Mind, topics: Iterable[MemoryId], kept_edges: Collection[str]) -> list[str]:
    """Edges that joined a concept to a found topic and are not kept."""
    stale = []
    for key in topics:
        for edge in mind.edges.of(key):
            is_found = edge.kind is EdgeKind.TOPIC_OF and edge.origin is Origin.CHAT
            if is_found and edge.id not in kept_edges:
                stale.append(edge.id)
    return stale


def _id(mind: Mind, topic: Topic, taken: set[MemoryId], old: Mapping[MemoryId, Memory]) -> MemoryId:
    """The id of a topic: the existing one, or an unused one."""
    if topic.key in old:
        return MemoryId(topic.key)
    for attempt in range(len(taken) + 1):
        key = MemoryId(derived_id("o", mind.soul.id, topic.key, str(attempt)))
        if key not in taken and key not in mind.memories:
            break
    taken.add(key)
    return key


def _memory(
    mind: Mind, key: MemoryId, topic: Topic, old: Memory | None, current_time: datetime
) -> Memory:
    """The topic as a concept: named after its strongest members, with more of them as tags."""
    named = "、" if all(map(is_unspaced, topic.name)) else ", "
    tags = tuple(dict.fromkeys((*topic.name, *topic.members)))[:_TAGS]
    fresh = Memory(
        id=key,
        soul=mind.soul.id,
        kind=MemoryKind.CONCEPT,
        text=named.join(topic.name),
        origin=Origin.CHAT,
        created=current_time,
        tags=tags,
        concept=ConceptDetail(concept_type=ConceptType.TOPIC),
    )
    if old is None:
        return fresh
    if old.origin is not Origin.CHAT or (old.text, old.tags) == (
        fresh.text,
        fresh.tags,
    ):
        return old
    return replace(old, text=fresh.text, tags=fresh.tags, revision=old.revision + 1)

"""What do a model's drafts become? Memories and edges, each with the episodes that speak for it.

Everything here computes: worker only. Nothing is changed: a change is made to be carried out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from soulmem.domain.derivations import Derivation, Product, Work
from soulmem.domain.drafts import DraftConcept, DraftEpisode, Drafts
from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import MemoryId, derived_id
from soulmem.domain.memories import Memory, MemoryKind, Origin, Timelines
from soulmem.domain.situation import ConceptDetail, ConceptType, Situation, TimeSpan
from soulmem.engine.consolidation.co_recalled import CoRecallParams, co_recalled
from soulmem.engine.consolidation.draft_builder import DraftBuilder
from soulmem.engine.consolidation.passages import Reading
from soulmem.engine.consolidation.plan import Task
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.views.anchors import drafted_episode
from soulmem.engine.views.concept_descriptions import (
    concept_id,
    detail,
    detail_of,
    other_names,
)
from soulmem.graph.names import NameIndex, fold
from soulmem.language.relations import also_called, no_longer

_SPACES = re.compile(r"\s+")
_LASTING = (
    3000.0  # turns; S of what somebody is called: ten times that of other relations
)


def derivation_id(soul: str, task: Task) -> str:
    """The same reading is the same derivation."""
    return derived_id("v", soul, task.work.value, task.after or "", *task.read)


def summed_up(
    mind: Mind, task: Task, text: str, model: str, now: datetime
) -> MindChange:
    """A new version of the chat's summary; without a memory where there was nothing to sum up."""
    key = derivation_id(mind.soul.id, task)
    one = Derivation(
        key, mind.soul.id, task.work, task.chat, task.read, now, task.after, model=model
    )
    if not text.strip():
        return MindChange(put_derivations=(one,))
    told = [mind.memories[episode] for episode in task.read]
    memory = Memory(
        id=MemoryId(derived_id("d", key)),
        soul=mind.soul.id,
        kind=MemoryKind.SUMMARY,
        text=text,
        origin=Origin.MODEL,
        created=now,
        timelines=Timelines.THIS,
        situation=Situation(time_span=_span(told, None)),
    )
    return MindChange(
        (memory,), put_derivations=(replace(one, products=(Product(memory.id),)),)
    )


class DraftConverter:
    """The drafts of one answer in the making."""

    def __init__(
        self,
        mind: Mind,
        task: Task,
        reading: Reading,
        drafts: Drafts,
        model: str,
        now: datetime,
        turn: float,
    ) -> None:
        self._mind = mind
        self._task = task
        self._reading = reading
        self._drafts = replace(drafts, dropped=())
        self._model = model
        self._key = derivation_id(mind.soul.id, task)
        self._made = DraftBuilder(mind, now, turn)
        self._episodes: list[tuple[MemoryId, frozenset[int]]] = []

    def change(self) -> MindChange:
        """Everything that the drafts become, but for habits: those need scenes of several drafts."""
        drafts = self._drafts
        for number, episode in enumerate(drafts.episodes):
            self._episode(number, episode)
        for abstract in drafts.abstracts:
            cited = self._reading.cited(abstract.lines)
            self._abstract(abstract.text, abstract.importance, cited, abstract.lines)
        for concept in drafts.concepts:
            self._concept(
                concept.name, concept.importance, self._reading.cited(concept.lines)
            )
        for concept in drafts.concepts:
            self._aliases(concept)
        for fact in drafts.facts:
            if fold(fact.subject) != fold(fact.object):
                cited = self._reading.cited(fact.lines)
                ends = [
                    self._concept(n, fact.importance, cited)
                    for n in (fact.subject, fact.object)
                ]
                verb = no_longer(fact.verb) if fact.is_over else fact.verb
                edge = self._made.edge(
                    EdgeKind.RELATES, ends[0], ends[1], cited, fact.intensity, verb=verb
                )
                if edge.origin is Origin.MODEL:
                    self._made.edges[edge.id] = replace(
                        edge, confidence=fact.confidence
                    )
        self._mentions()
        self._associate(CoRecallParams())
        return MindChange(
            put_memories=tuple(self._made.memories.values()),
            put_edges=tuple(self._made.edges.values()),
            put_derivations=(self._derivation(self._made.products()),),
        )

    def _derivation(self, products: tuple[Product, ...]) -> Derivation:
        return Derivation(
            id=self._key,
            soul=self._mind.soul.id,
            work=Work.DRAFTS,
            chat=self._task.chat,
            read=self._task.read,
            made=self._made.now,
            products=products,
            drafts=self._drafts,
            model=self._model,
        )

    def _episode(self, number: int, draft: DraftEpisode) -> None:
        cited = self._reading.cited(draft.lines)
        said = [_plain(line.text) for line in self._reading.passage.lines]
        if any(_plain(draft.text) in line for line in said):
            return  # a message in its own words is a memory already
        told = [self._mind.memories[key] for key in cited]
        memory = Memory(
            id=drafted_episode(self._key, number),
            soul=self._mind.soul.id,
            kind=MemoryKind.EPISODE,
            text=draft.text,
            origin=Origin.MODEL,
            created=self._made.now,
            importance=draft.importance,
            timelines=Timelines.THIS,
            situation=Situation(
                time_span=_span(told, draft.story_time),
                location=draft.location,
                participants=draft.participants,
                emotions=draft.emotions,
                sensations=draft.sensations,
                situation=draft.situation,
            ),
        )
        self._made.put(memory, cited)
        self._episodes.append((memory.id, frozenset(draft.lines)))

    def _abstract(
        self,
        text: str,
        importance: float,
        cited: tuple[MemoryId, ...],
        lines: Iterable[int],
    ) -> MemoryId:
        key = MemoryId(
            derived_id("d", self._mind.soul.id, "abstract", fold(text) or text)
        )
        self._made.put(
            self._made.plainly(key, MemoryKind.ABSTRACT_EPISODE, text, importance),
            cited,
        )
        shared = [
            episode for episode, said in self._episodes if not said.isdisjoint(lines)
        ]
        for instance in shared or cited:
            self._made.edge(EdgeKind.INSTANCE_OF, instance, key, cited, 1.0)
        return key

    def _concept(
        self, name: str, importance: float, cited: tuple[MemoryId, ...]
    ) -> MemoryId:
        key = concept_id(self._mind.soul.id, name)
        drafted = [
            d
            for d in self._drafts.concepts
            if concept_id(self._mind.soul.id, d.name) == key
        ]
        known = self._mind.memories.get(key)
        if known is None:
            memory = self._made.plainly(
                key,
                MemoryKind.CONCEPT,
                drafted[0].name if drafted else name,
                importance,
            )
            concept = (
                detail(memory.text, drafted)
                if drafted
                else ConceptDetail(ConceptType.ENTITY)
            )
            self._made.put(
                replace(self._made.memories.get(key, memory), concept=concept), cited
            )
            return key
        mine = self._derivation(())
        self._made.put(
            replace(
                known, concept=detail_of(known, [*self._mind.derived.of(key), mine])
            ),
            cited,
        )
        return key

    def _aliases(self, draft: DraftConcept) -> None:
        """Each name is a concept of its own, and a fact that it is another's: who does not know that one
        message of all that were read does not know that the two are one.
        """
        passage, cited = self._reading.passage, self._reading.cited(draft.lines)
        others = {d.name for d in self._drafts.concepts} | {
            line.speaker for line in passage.lines
        }
        taken = {fold(name) for name in (*others, passage.soul, *passage.users)}
        said = [f"{line.speaker}\n{line.text}".casefold() for line in passage.lines]
        for alias in other_names(draft, taken):
            # A small model gives whom it just read of as another name: one line must hold both.
            one, other = draft.name.casefold(), alias.casefold()
            together = any(one in line and other in line for line in said)
            if not together or self._are_two(draft.name, alias):
                continue
            ends = [
                self._concept(name, draft.importance, cited)
                for name in (draft.name, alias)
            ]
            if ends[0] != ends[1]:
                verb = also_called(draft.name, alias)
                edge = self._made.edge(
                    EdgeKind.RELATES, ends[0], ends[1], cited, 1.0, verb=verb
                )
                if edge.origin is Origin.MODEL and edge.id not in self._mind.edges:
                    self._made.edges[edge.id] = replace(edge, stability=_LASTING)

    def _are_two(self, name: str, other: str) -> bool:
        """Whether the card, messages or the user know these as two."""
        index = self._mind.names.index
        mine, theirs = index.find(name), index.find(other)
        return bool(mine) and bool(theirs) and set(mine).isdisjoint(theirs)

    def _mentions(self) -> None:
        """Drafted episodes are linked to the drafted concepts that they name."""
        made = (
            self._made.memories.get(MemoryId(k)) or self._mind.memories.get(MemoryId(k))
            for k in self._made.cited
        )
        concepts = [m for m in made if m is not None and m.kind is MemoryKind.CONCEPT]
        index: NameIndex[MemoryId] = NameIndex()
        for concept in concepts:
            index.put(
                concept.id,
                (concept.text, *(concept.concept.aliases if concept.concept else ())),
            )
        for episode, lines in self._episodes:
            memory = self._made.memories[episode]
            for concept_key in dict.fromkeys(index.find(memory.text)):
                cited = self._reading.cited(tuple(sorted(lines)))
                self._made.edge(
                    EdgeKind.MENTIONS,
                    episode,
                    concept_key,
                    cited,
                    0.3 + 0.7 * memory.importance,
                )

    def _associate(self, params: CoRecallParams) -> None:
        """Drafted episodes are linked to what came to mind while they happened."""
        drafted = {
            key: self._reading.cited(tuple(sorted(lines)))
            for key, lines in self._episodes
        }
        for made, key in co_recalled(
            self._mind, self._task.chat, self._task.read, drafted, params
        ):
            self._made.edge(
                EdgeKind.ASSOCIATES, made, key, drafted[made], params.strength
            )


def _span(told: Sequence[Memory], story: str | None) -> TimeSpan | None:
    """From the first to the last of these, as far as they have times."""
    spans = [m.situation.time_span for m in told if m.situation.time_span is not None]
    starts = [s.start for s in spans if s.start is not None]
    ends = [s.end or s.start for s in spans if s.end is not None or s.start is not None]
    stories = [s.story for s in spans if s.story]
    words = story or (stories[0] if stories else None)
    if not starts and words is None:
        return None
    latest = max((end for end in ends if end is not None), default=None)
    return TimeSpan(min(starts, default=None), latest, words)


def _plain(text: str) -> str:
    return _SPACES.sub(" ", text).strip().strip("\"'“”「」").rstrip(".。!！").casefold()

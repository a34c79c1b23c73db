"""What do a model's drafts become? Memories and edges, each with the episodes that speak for it.

Everything here computes: worker only. Nothing is changed: a change is made to be carried out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from soulmem.consolidation.habits import HabitParams, is_same, scenes
from soulmem.domain.derivations import Derivation, Product, Work
from soulmem.domain.drafts import DraftEpisode, DraftHabit, Drafts
from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.ids import MemoryId, derived_id
from soulmem.domain.memories import Memory, MemoryKind, MemoryState, Origin, Timelines
from soulmem.domain.situation import ConceptDetail, ConceptType, Situation, TimeSpan
from soulmem.engine.changes import MindChange
from soulmem.engine.co_recalled import CoRecallParams, co_recalled
from soulmem.engine.concepts_drafted import concept_id, detail, detail_of
from soulmem.engine.consolidation_plan import Task
from soulmem.engine.mind import Mind
from soulmem.engine.passages import Reading
from soulmem.graph.names import NameIndex, fold

_SPACES = re.compile(r"\s+")


def derivation_id(soul: str, task: Task) -> str:
    """The same reading is the same derivation."""
    return derived_id("v", soul, task.work.value, task.after or "", *task.read)


def summed_up(mind: Mind, task: Task, text: str, model: str, now: datetime) -> MindChange:
    """A new version of the chat's summary; without a memory where there was nothing to sum up."""
    key = derivation_id(mind.soul.id, task)
    one = Derivation(key, mind.soul.id, task.work, task.chat, task.read, now, task.after, model=model)
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
    return MindChange((memory,), put_derivations=(replace(one, products=(Product(memory.id),)),))


class Drafting:
    """The drafts of one answer in the making."""

    def __init__(
        self, mind: Mind, task: Task, reading: Reading, drafts: Drafts, model: str, now: datetime, turn: float
    ) -> None:
        self._mind = mind
        self._task = task
        self._reading = reading
        self._drafts = replace(drafts, dropped=())
        self._model = model
        self._now = now
        self._turn = turn
        self._key = derivation_id(mind.soul.id, task)
        self._memories: dict[MemoryId, Memory] = {}
        self._edges: dict[str, Edge] = {}
        self._cited: dict[str, dict[MemoryId, None]] = {}
        self._episodes: list[tuple[MemoryId, frozenset[int]]] = []

    def change(self, habits: HabitParams | None = None) -> MindChange:
        """Everything that the drafts become."""
        drafts = self._drafts
        for number, episode in enumerate(drafts.episodes):
            self._episode(number, episode)
        for abstract in drafts.abstracts:
            cited = self._reading.cited(abstract.lines)
            self._abstract(abstract.text, abstract.importance, cited, abstract.lines)
        for concept in drafts.concepts:
            self._concept(concept.name, concept.importance, self._reading.cited(concept.lines))
        for fact in drafts.facts:
            if not fact.is_over and fold(fact.subject) != fold(fact.object):
                cited = self._reading.cited(fact.lines)
                ends = [self._concept(n, fact.importance, cited) for n in (fact.subject, fact.object)]
                edge = self._edge(EdgeKind.RELATES, ends[0], ends[1], cited, fact.intensity, verb=fact.verb)
                if edge.origin is Origin.MODEL:
                    self._edges[edge.id] = replace(edge, confidence=fact.confidence)
        self._mentions()
        self._associate(CoRecallParams())
        wider = self._habits(habits or HabitParams())
        return MindChange(
            put_memories=tuple(self._memories.values()),
            put_edges=tuple(self._edges.values()),
            put_derivations=(self._derivation(self._products()), *wider),
        )

    def _derivation(self, products: tuple[Product, ...]) -> Derivation:
        return Derivation(
            id=self._key,
            soul=self._mind.soul.id,
            work=Work.DRAFTS,
            chat=self._task.chat,
            read=self._task.read,
            made=self._now,
            products=products,
            drafts=self._drafts,
            model=self._model,
        )

    def _products(self) -> tuple[Product, ...]:
        made = ((key, tuple(cited), key in self._edges) for key, cited in self._cited.items())
        return tuple(Product(key, cited, is_edge) for key, cited, is_edge in made)

    def _episode(self, number: int, draft: DraftEpisode) -> None:
        cited = self._reading.cited(draft.lines)
        said = [_plain(line.text) for line in self._reading.passage.lines]
        if any(_plain(draft.text) in line for line in said):
            return  # a message in its own words is a memory already
        told = [self._mind.memories[key] for key in cited]
        memory = Memory(
            id=MemoryId(derived_id("d", self._key, "episode", str(number))),
            soul=self._mind.soul.id,
            kind=MemoryKind.EPISODE,
            text=draft.text,
            origin=Origin.MODEL,
            created=self._now,
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
        self._put(memory, cited)
        self._episodes.append((memory.id, frozenset(draft.lines)))

    def _abstract(
        self, text: str, importance: float, cited: tuple[MemoryId, ...], lines: Iterable[int]
    ) -> MemoryId:
        key = MemoryId(derived_id("d", self._mind.soul.id, "abstract", fold(text) or text))
        self._put(self._plainly(key, MemoryKind.ABSTRACT_EPISODE, text, importance), cited)
        shared = [episode for episode, said in self._episodes if not said.isdisjoint(lines)]
        for instance in shared or cited:
            self._edge(EdgeKind.INSTANCE_OF, instance, key, cited, 1.0)
        return key

    def _concept(self, name: str, importance: float, cited: tuple[MemoryId, ...]) -> MemoryId:
        key = concept_id(self._mind.soul.id, name)
        drafted = [d for d in self._drafts.concepts if concept_id(self._mind.soul.id, d.name) == key]
        known = self._mind.memories.get(key)
        if known is None:
            memory = self._plainly(key, MemoryKind.CONCEPT, drafted[0].name if drafted else name, importance)
            concept = detail(memory.text, drafted) if drafted else ConceptDetail(ConceptType.ENTITY)
            self._put(replace(self._memories.get(key, memory), concept=concept), cited)
            return key
        mine = self._derivation(())
        self._put(replace(known, concept=detail_of(known, [*self._mind.derived.of(key), mine])), cited)
        return key

    def _plainly(self, key: MemoryId, kind: MemoryKind, text: str, importance: float) -> Memory:
        return Memory(
            id=key,
            soul=self._mind.soul.id,
            kind=kind,
            text=text,
            origin=Origin.MODEL,
            created=self._now,
            importance=importance,
            timelines=Timelines.THIS,
        )

    def _mentions(self) -> None:
        """Drafted episodes are linked to the drafted concepts that they name."""
        made = (self._memories.get(MemoryId(k)) or self._mind.memories.get(MemoryId(k)) for k in self._cited)
        concepts = [m for m in made if m is not None and m.kind is MemoryKind.CONCEPT]
        index: NameIndex[MemoryId] = NameIndex()
        for concept in concepts:
            index.put(concept.id, (concept.text, *(concept.concept.aliases if concept.concept else ())))
        for episode, lines in self._episodes:
            memory = self._memories[episode]
            for concept_key in dict.fromkeys(index.find(memory.text)):
                cited = self._reading.cited(tuple(sorted(lines)))
                self._edge(EdgeKind.MENTIONS, episode, concept_key, cited, 0.3 + 0.7 * memory.importance)

    def _associate(self, params: CoRecallParams) -> None:
        """Drafted episodes are linked to what came to mind while they happened."""
        drafted = {key: self._reading.cited(tuple(sorted(lines))) for key, lines in self._episodes}
        for made, key in co_recalled(self._mind, self._task.chat, self._task.read, drafted, params):
            self._edge(EdgeKind.ASSOCIATES, made, key, drafted[made], params.strength)

    def _habits(self, params: HabitParams) -> list[Derivation]:
        """Habits that three scenes support: of this answer alone, or of this and earlier ones of the chat."""
        wider = []
        for habit in self._drafts.habits:
            mine = self._reading.cited(habit.lines)
            if scenes(self._places(mine), params) >= params.scenes:
                self._habit(habit, mine)
                continue
            others = self._alike(habit, params)
            cited = dict.fromkeys((*(key for one in others.values() for key in one), *mine))
            if scenes(self._places(cited), params) >= params.scenes:
                before = [self._mind.derived.get(key) for key in others]
                wider.append(self._wider(habit, tuple(cited), before))
        return wider

    def _wider(
        self, habit: DraftHabit, cited: tuple[MemoryId, ...], others: Sequence[Derivation | None]
    ) -> Derivation:
        """A habit that is only seen in several answers: it stands by all that they read."""
        before = dict(self._cited)
        self._cited = {}
        self._habit(habit, cited)
        products = self._products()
        self._cited = before
        read = dict.fromkeys(key for one in others if one is not None for key in one.read)
        whole = tuple(dict.fromkeys((*read, *self._task.read)))
        key = derived_id("v", self._mind.soul.id, "habit", habit.when, habit.action, *whole)
        soul, chat = self._mind.soul.id, self._task.chat
        return Derivation(key, soul, Work.HABIT, chat, whole, self._now, products=products, model=self._model)

    def _alike(self, habit: DraftHabit, params: HabitParams) -> dict[str, tuple[MemoryId, ...]]:
        """Earlier answers that the chat holds which draft the same habit, with the episodes they cite."""
        words = self._mind.tokeniser.tokens
        out: dict[str, tuple[MemoryId, ...]] = {}
        for one in self._mind.derived.held(self._task.chat):
            for other in one.drafts.habits:
                same = is_same(words(other.action), words(habit.action), params)
                if same and is_same(words(other.when), words(habit.when), params):
                    cited = [one.read[n - 1] for n in other.lines if 0 < n <= len(one.read)]
                    out[one.id] = tuple(dict.fromkeys((*out.get(one.id, ()), *cited)))
        return out

    def _habit(self, habit: DraftHabit, cited: tuple[MemoryId, ...]) -> None:
        soul = self._mind.soul.id
        kind = self._abstract(habit.when, habit.importance, cited, habit.lines)
        trigger = MemoryId(derived_id("d", soul, "trigger", kind))
        action = MemoryId(derived_id("d", soul, "action", fold(habit.action) or habit.action))
        self._put(self._plainly(trigger, MemoryKind.TRIGGER, habit.when, habit.importance), cited)
        self._put(self._plainly(action, MemoryKind.ACTION, habit.action, habit.importance), cited)
        self._edge(EdgeKind.TRIGGERS, kind, trigger, cited, 1.0)
        self._edge(EdgeKind.FIRES, trigger, action, cited, 1.0, probability=habit.probability)
        self._share_out(trigger)

    def _share_out(self, trigger: MemoryId) -> None:
        """What a trigger sets off has a probability of 1 together."""
        known = {e.id: e for e in self._mind.edges.of(trigger)} | self._edges
        edges = {k: e for k, e in known.items() if e.kind is EdgeKind.FIRES and e.source == trigger}
        by_hand = sum(e.probability or 0.0 for e in edges.values() if e.origin is not Origin.MODEL)
        ours = [e for e in edges.values() if e.origin is Origin.MODEL]
        total = sum(e.probability or 0.0 for e in ours)
        room = max(0.0, 1.0 - by_hand)
        for edge in ours:
            share = room * ((edge.probability or 0.0) / total if total > 0 else 1.0 / len(ours))
            self._edges[edge.id] = replace(edge, probability=share)

    def _places(self, episodes: Iterable[MemoryId]) -> list[tuple[str, int]]:
        strand = self._mind.lineages.strand(self._task.chat)
        wanted = set(episodes)
        order = strand.order if strand is not None else ()
        return [(self._task.chat, at) for at, key in enumerate(order) if key in wanted]

    def _put(self, memory: Memory, cited: Iterable[MemoryId]) -> None:
        known = self._mind.memories.get(memory.id)
        if known is not None and (known.origin is not Origin.MODEL or known.state is MemoryState.BIN):
            memory = known  # the user has decided about it
        elif known is not None:
            worth = max(known.importance, memory.importance)
            memory = replace(known, concept=memory.concept, importance=worth, state=MemoryState.ACTIVE)
        if known != memory:
            self._memories[memory.id] = memory
        self._cited.setdefault(memory.id, {}).update(dict.fromkeys(cited))

    def _edge(
        self,
        kind: EdgeKind,
        source: MemoryId,
        target: MemoryId,
        cited: Iterable[MemoryId],
        strength: float,
        verb: str | None = None,
        probability: float | None = None,
    ) -> Edge:
        edge = Edge(
            soul=self._mind.soul.id,
            source=source,
            target=target,
            kind=kind,
            origin=Origin.MODEL,
            touched=self._now,
            strength=strength,
            verb=verb,
            probability=probability,
            at_turn=self._turn,
        )
        known = self._mind.edges.get(edge.id)
        if known is None:
            self._edges.setdefault(edge.id, edge)
        self._cited.setdefault(edge.id, {}).update(dict.fromkeys(cited))
        return self._edges.setdefault(edge.id, known or edge)


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

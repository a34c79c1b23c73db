"""Turns the answers of a model into memories and edges, each with the episodes that are its evidence.

Compute thread only. Nothing is changed here: the result is a change to be carried out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice

from soulmem.domain.derivations import Derivation, Product, Work
from soulmem.domain.drafts import (
    DraftConcept,
    DraftEpisode,
    DraftFact,
    Drafts,
    DraftSummary,
)
from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import MemoryId, derived_id
from soulmem.domain.memories import Memory, MemoryKind, Origin, Timelines
from soulmem.domain.situation import ConceptDetail, ConceptType, Situation, TimeSpan
from soulmem.engine.consolidation.co_recalled import STRENGTH, co_recalled
from soulmem.engine.consolidation.plan import PlannedCall
from soulmem.engine.consolidation.stretches import EpisodePassage
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.propagation.draft_builder import DraftBuilder
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.views.concept_descriptions import (
    concept_id,
    drafted_detail,
    merged_detail,
    usable_aliases,
)
from soulmem.engine.views.faded_texts import drafted_episode_id
from soulmem.graph.name_search import NameIndex
from soulmem.language.keywords import STRONG, terms
from soulmem.language.name_tokens import fold
from soulmem.language.relations import (
    Relation,
    also_called,
    no_longer,
    relation_of,
)

_SPACES = re.compile(r"\s+")
_TAGS = 5  # of a drafted episode


def derivation_id(soul: str, call: PlannedCall) -> str:
    """Id of the derivation that the call leads to: the same reading is the same derivation."""
    return derived_id("v", soul, call.work.value, call.after or "", *call.read)


@compute_only
def summary_change(
    mind: Mind,
    call: PlannedCall,
    draft: DraftSummary,
    model: str,
    current_time: datetime,
) -> MindChange:
    """Stores the next version of a chat's summary; without a memory if the text is blank."""
    key = derivation_id(mind.soul.id, call)
    derivation = Derivation(
        key,
        mind.soul.id,
        call.work,
        call.chat,
        call.read,
        current_time,
        call.after,
        model=model,
    )
    if not draft.text.strip():
        return MindChange(put_derivations=(derivation,))
    episodes = [mind.memories[episode] for episode in call.read]
    memory = Memory(
        id=MemoryId(derived_id("d", key)),
        soul=mind.soul.id,
        kind=MemoryKind.SUMMARY,
        text=draft.text,
        origin=Origin.MODEL,
        created=current_time,
        timelines=Timelines.THIS,
        situation=Situation(time_span=_span(episodes, None)),
    )
    product = Product(memory.id, confidence=draft.confidence)
    derivation = replace(derivation, products=(product,))
    return MindChange((memory,), put_derivations=(derivation,))


class DraftConverter:
    """Converts the drafts of one answer."""

    def __init__(
        self,
        mind: Mind,
        call: PlannedCall,
        passage: EpisodePassage,
        drafts: Drafts,
        model: str,
        current_time: datetime,
        turn: float,
    ) -> None:
        """turn  the soul's clock, from which edges decay"""
        self._mind = mind
        self._call = call
        self._passage = passage
        self._drafts = replace(drafts, dropped=())
        self._model = model
        self._key = derivation_id(mind.soul.id, call)
        self._builder = DraftBuilder(mind, current_time, turn)
        self._episodes: list[tuple[MemoryId, frozenset[int]]] = []  # with their lines
        self._confidence: dict[MemoryId, float] = {}  # of drafted episodes

    def change(self) -> MindChange:
        """All memories and edges of the drafts but habits: those need scenes of several drafts."""
        drafts = self._drafts
        for number, episode in enumerate(drafts.episodes):
            self._episode(number, episode)
        for abstract in drafts.abstracts:
            cited = self._passage.cited(abstract.lines)
            self._abstract(abstract.text, abstract.importance, cited, abstract.lines)
        for concept in drafts.concepts:
            cited = self._passage.cited(concept.lines)
            self._concept(concept.name, concept.importance, cited)
        for concept in drafts.concepts:
            self._aliases(concept)
        for fact in drafts.facts:
            if fold(fact.subject) != fold(fact.object):
                self._fact(fact)
        self._mentions()
        self._associate()
        return MindChange(
            put_memories=tuple(self._builder.memories.values()),
            put_edges=tuple(self._builder.edges.values()),
            put_derivations=(self._derivation(self._builder.products()),),
        )

    def _derivation(self, products: tuple[Product, ...]) -> Derivation:
        return Derivation(
            id=self._key,
            soul=self._mind.soul.id,
            work=Work.DRAFTS,
            chat=self._call.chat,
            read=self._call.read,
            made=self._builder.current_time,
            products=products,
            drafts=self._drafts,
            model=self._model,
        )

    def _episode(self, number: int, draft: DraftEpisode) -> None:
        """Add a drafted episode, unless it only repeats a line, which is a memory already."""
        cited = self._passage.cited(draft.lines)
        text = _plain(draft.text)
        if any(text in _plain(line.text) for line in self._passage.passage.lines):
            return
        episodes = [self._mind.memories[key] for key in cited]
        memory = Memory(
            id=drafted_episode_id(self._key, number),
            soul=self._mind.soul.id,
            kind=MemoryKind.EPISODE,
            text=draft.text,
            origin=Origin.MODEL,
            created=self._builder.current_time,
            importance=draft.importance,
            tags=_tags(draft.text),
            timelines=Timelines.THIS,
            situation=Situation(
                time_span=_span(episodes, draft.story_time),
                location=draft.location,
                participants=draft.participants,
                emotions=draft.emotions,
                sensations=draft.sensations,
                situation=draft.situation,
            ),
        )
        self._builder.put(memory, cited)
        self._builder.carried(memory.id, draft.confidence)
        self._confidence[memory.id] = draft.confidence
        self._episodes.append((memory.id, frozenset(draft.lines)))

    def _abstract(
        self,
        text: str,
        importance: float,
        cited: tuple[MemoryId, ...],
        lines: Iterable[int],
    ) -> None:
        """Add a kind of episode; its instances are the drafted episodes that share lines, or those cited."""
        soul = self._mind.soul.id
        key = MemoryId(derived_id("d", soul, "abstract", fold(text) or text))
        kind = self._builder.new_memory(key, MemoryKind.ABSTRACT_EPISODE, text, importance)
        self._builder.put(kind, cited)
        instances = [
            episode
            for episode, episode_lines in self._episodes
            if not episode_lines.isdisjoint(lines)
        ]
        for instance in instances or cited:
            self._builder.edge(
                EdgeKind.INSTANCE_OF,
                instance,
                key,
                cited,
                1.0,
                confidence=self._confidence.get(instance, 1.0),
            )

    def _concept(self, name: str, importance: float, cited: tuple[MemoryId, ...]) -> MemoryId:
        """Add a concept, or to the existing one what is drafted of it; its id."""
        soul = self._mind.soul.id
        key = concept_id(soul, name)
        existing = self._mind.memories.get(key)
        if existing is not None:
            derivations = [*self._mind.derivations.of(key), self._derivation(())]
            described = drafted_detail(existing, derivations)
            self._builder.put(replace(existing, concept=described), cited)
            return key
        drafts = [d for d in self._drafts.concepts if concept_id(soul, d.name) == key]
        text = drafts[0].name if drafts else name
        memory = self._builder.memories.get(key)
        if memory is None:
            memory = self._builder.new_memory(key, MemoryKind.CONCEPT, text, importance)
        concept = merged_detail(text, drafts) if drafts else ConceptDetail(ConceptType.ENTITY)
        self._builder.put(replace(memory, concept=concept), cited)
        return key

    def _aliases(self, draft: DraftConcept) -> None:
        """Add each other name as a concept of its own, and a fact that both are one.

        So a branch of the chat without the messages that say so does not know that the
        two are one. Small models give whom they just read of as another name, so a line
        must hold both names.
        """
        passage, cited = self._passage.passage, self._passage.cited(draft.lines)
        taken = {fold(concept.name) for concept in self._drafts.concepts}
        taken |= {fold(line.speaker) for line in passage.lines}
        taken |= {fold(name) for name in (passage.soul, *passage.users)}
        lines = [f"{line.speaker}\n{line.text}".casefold() for line in passage.lines]
        for alias in usable_aliases(draft, taken):
            if not _share_a_line(draft.name, alias, lines):
                continue
            if not self._are_distinct(draft.name, alias):
                self._alias(draft, alias, cited)

    def _alias(self, draft: DraftConcept, alias: str, cited: tuple[MemoryId, ...]) -> None:
        concept = self._concept(draft.name, draft.importance, cited)
        other = self._concept(alias, draft.importance, cited)
        if concept == other:
            return
        verb = also_called(draft.name, alias)
        self._builder.join_names(concept, other, verb, cited)

    def _are_distinct(self, name: str, other: str) -> bool:
        """Whether the card, messages or the user know these names as two concepts."""
        index = self._mind.names.index
        concepts, others = index.find(name), index.find(other)
        return bool(concepts) and bool(others) and set(concepts).isdisjoint(others)

    def _fact(self, fact: DraftFact) -> None:
        """Add a relation between two concepts."""
        cited = self._passage.cited(fact.lines)
        subject = self._concept(fact.subject, fact.importance, cited)
        other = self._concept(fact.object, fact.importance, cited)
        verb = no_longer(fact.verb) if fact.is_over else fact.verb
        edge = self._builder.edge(
            EdgeKind.RELATES,
            subject,
            other,
            cited,
            fact.intensity,
            verb=self._verb(subject, other, verb),
        )
        self._builder.carried(edge.id, fact.confidence)
        if edge.origin is Origin.MODEL:
            before = 0.0
            if edge.id in self._mind.edges:
                before = self._mind.derivations.confidence(edge.id)
            confidence = 1.0 - (1.0 - before) * (1.0 - fact.confidence)
            self._builder.edges[edge.id] = replace(edge, confidence=confidence)

    def _verb(self, subject: MemoryId, other: MemoryId, verb: str) -> str:
        """The verb, in the wording of a drafted fact of the same two that says the same: so a preference that
        shows in several episodes is one fact, with all of them as evidence.
        """
        wanted = relation_of(verb)
        for edge in (*self._mind.edges.of(subject), *self._builder.edges.values()):
            is_same_pair = (edge.source, edge.target) == (subject, other)
            if edge.kind is not EdgeKind.RELATES or not is_same_pair:
                continue
            if edge.origin is Origin.MODEL and _says_the_same(relation_of(edge.verb), wanted):
                return edge.verb or verb
        return verb

    def _mentions(self) -> None:
        """Link drafted episodes to the drafted concepts that they name."""
        index: NameIndex[MemoryId] = NameIndex()
        for key in map(MemoryId, self._builder.cited):
            memory = self._builder.memories.get(key) or self._mind.memories.get(key)
            if memory is not None and memory.kind is MemoryKind.CONCEPT:
                aliases = memory.concept.aliases if memory.concept else ()
                index.put(memory.id, (memory.text, *aliases))
        for episode, lines in self._episodes:
            memory = self._builder.memories[episode]
            cited = self._passage.cited(tuple(sorted(lines)))
            strength = 0.3 + 0.7 * memory.importance
            for concept in dict.fromkeys(index.find(memory.text)):
                self._builder.edge(
                    EdgeKind.MENTIONS,
                    episode,
                    concept,
                    cited,
                    strength,
                    confidence=self._confidence[episode],
                )

    def _associate(self) -> None:
        """Link drafted episodes to memories recalled while they happened."""
        drafted = {key: self._passage.cited(tuple(sorted(lines))) for key, lines in self._episodes}
        call = self._call
        pairs = co_recalled(self._mind, call.chat, call.read, drafted)
        for episode, recalled in pairs:
            self._builder.edge(
                EdgeKind.ASSOCIATES,
                episode,
                recalled,
                drafted[episode],
                STRENGTH,
                confidence=self._confidence[episode],
            )


def _tags(text: str) -> tuple[str, ...]:
    """What a text is about, most salient first: tags that no model had to give."""
    strong = (term.key for term in terms(text) if term.salience >= STRONG)
    return tuple(islice(strong, _TAGS))


def _says_the_same(relation: Relation, other: Relation) -> bool:
    """Whether two verbs are the same, or on one side of a topic that has two."""
    if relation.is_over is not other.is_over:
        return False
    is_one_side = relation.pole != 0 and relation.pole == other.pole
    return relation.base == other.base or (is_one_side and relation.topic == other.topic)


def _share_a_line(name: str, alias: str, lines: Iterable[str]) -> bool:
    """Whether any of the casefolded lines holds both names."""
    first, second = name.casefold(), alias.casefold()
    return any(first in line and second in line for line in lines)


def _span(episodes: Sequence[Memory], story_time: str | None) -> TimeSpan | None:
    """From the first to the last moment of these episodes; None if none has a time.

    story_time  takes the place of the first time in the story that an episode has
    """
    moments = []
    story = story_time
    for episode in episodes:
        span = episode.situation.time_span
        if span is None:
            continue
        moments.append((span.start, span.end or span.start))
        story = story or span.story
    starts = [start for start, _ in moments if start is not None]
    ends = [end for _, end in moments if end is not None]
    if not starts and not story:
        return None
    return TimeSpan(min(starts, default=None), max(ends, default=None), story or None)


def _plain(text: str) -> str:
    """The text without case, quotation marks and spaces around it, and without its full stop."""
    return _SPACES.sub(" ", text).strip().strip("\"'“”「」").rstrip(".。!！").casefold()

"""FactValidities: from when to when the facts hold that a chat may use.

Computed from the accessible facts and the times at which messages state them; nothing is
stored. So a branch that forked before the end of a fact still counts it as true, and a fact
holds again when the message that ended it vanishes or its draft is undone.
Compute thread only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from itertools import product

import numpy as np
from numpy.typing import NDArray

from soulmem.consolidation.validity import (
    FactClaim,
    FactEnd,
    FactValidity,
    Moment,
    are_exclusive,
    fact_end,
    is_same_fact,
)
from soulmem.domain.calendar import at_seconds, from_local, local
from soulmem.domain.derivations import Derivation
from soulmem.domain.edges import Edge, EdgeKind, edge_id
from soulmem.domain.ids import ChatId, MemoryId
from soulmem.domain.memories import Origin
from soulmem.domain.soul import Scope
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.views.concept_descriptions import concept_id
from soulmem.language.relations import Relation, relation_of

_MOST_NAMES = 16  # concepts that one thing may have as names


class FactValidities:
    """Validity of the facts that one chat may use, for one answer on one state of the mind."""

    def __init__(self, mind: Mind, accessible: NDArray[np.bool_], chat: ChatId | None) -> None:
        """`accessible`: the rows that `chat` may use, bool[rows]; see `Mind.accessible_rows`."""
        self._mind = mind
        self._accessible = accessible
        self._chat = chat
        self._joins_names = joins_names(mind)
        self._alias_verbs = _alias_verbs(mind)
        self._claims: dict[str, FactClaim | None] = {}
        self._canonical: dict[MemoryId, MemoryId] = {}
        self._names: dict[MemoryId, list[MemoryId]] = {}
        self._topics: dict[tuple[MemoryId, str], dict[str, Edge]] = {}
        self._may_end: dict[str | None, bool] = {}
        # By verb: the verbs of facts that may end it or be the same fact.
        self._related_verbs: dict[str | None, list[str | None]] = {}
        self._times: dict[ChatId, tuple[NDArray[np.int64], NDArray[np.float64]]] = {}

    def of(self, edge: Edge) -> FactValidity:
        """From when to when an accessible relation holds."""
        claim = self.claim(edge)
        if claim is None:
            return FactValidity()
        others = self.related_claims(claim, edge)
        same = [claim, *(other for other in others if is_same_fact(other, claim))]
        times = tuple(sorted(set[Moment]().union(*(each.times for each in same))))
        by_hand = any(each.by_hand for each in same)
        since = _time(times[0])
        end = fact_end(replace(claim, times=times, by_hand=by_hand), others)
        if end is None:
            return FactValidity(since)
        return FactValidity(since, *self._ending(end), MemoryId(end.by))

    def claim(self, edge: Edge) -> FactClaim | None:
        """The relation with the times at which it is stated; None if these are not accessible."""
        return self._cached_claim(edge.id, edge)

    def _cached_claim(self, key: str, edge: Edge) -> FactClaim | None:
        if key not in self._claims:
            is_alias = relation_of(edge.verb).is_alias
            self._claims[key] = None if is_alias else self._claim(key, edge)
        return self._claims[key]

    def may_end(self, verb: str | None) -> bool:
        """Whether any fact could end, or be the same as, a fact with this verb."""
        if verb not in self._may_end:
            relation = relation_of(verb)
            others = (relation_of(v) for v in self._mind.edges.verbs if v != verb)
            self._may_end[verb] = (
                relation.topic is not None
                or bool(self._mind.derivations)
                or any(_may_interact(other, relation) for other in others)
            )
        return self._may_end[verb]

    def related_claims(self, claim: FactClaim, edge: Edge) -> list[FactClaim]:
        """Claims of other accessible facts that are the same as this one or exclude it."""
        edges = {key: self._mind.edges.existing(key) for key in self._of_pair(edge)}
        edges |= self._of_topics(edge)
        out: list[FactClaim] = []
        for key, other_edge in edges.items():
            other = None if key == claim.key else self._cached_claim(key, other_edge)
            if other is not None and (are_exclusive(other, claim) or is_same_fact(other, claim)):
                out.append(other)
        return out

    def has_no_related(self, key: str, edge: Edge) -> bool:
        """True if no accessible relation can end or duplicate this one, so claim times need not be read."""
        return self._of_pair(edge) <= {key} and self._of_topics(edge).keys() <= {key}

    def canonical_concept(self, memory: MemoryId) -> MemoryId:
        """The smallest id among the concepts of all accessible names of a thing.

        The memory itself in a soul that joins no names.
        """
        if not self._joins_names:
            return memory
        if memory not in self._canonical:
            names = dict.fromkeys([memory])
            ring = [memory]
            while ring and len(names) < _MOST_NAMES:
                ring = [alias for alias in self._aliases(ring) if alias not in names]
                names.update(dict.fromkeys(ring))
            self._canonical.update(dict.fromkeys(names, min(names)))
        return self._canonical[memory]

    def _of_pair(self, edge: Edge) -> set[str]:
        """Ids of accessible relations between the same two things whose verbs interact with the edge's."""
        relation = relation_of(edge.verb)
        if edge.verb not in self._related_verbs:
            self._related_verbs[edge.verb] = [
                verb
                for verb in self._mind.edges.verbs
                if _may_interact(relation_of(verb), relation)
            ]
        verbs = self._related_verbs[edge.verb]
        subjects = self.alias_concepts(edge.source)
        objects = self.alias_concepts(edge.target)
        pairs = list(product(subjects, objects))
        if relation.is_mutual:
            pairs += product(objects, subjects)
        out: set[str] = set()
        for (source, target), verb in product(pairs, verbs):
            key = edge_id(EdgeKind.RELATES, source, target, verb)
            if self.is_accessible(MemoryId(key)):
                out.add(key)
        return out

    def _of_topics(self, edge: Edge) -> dict[str, Edge]:
        """Accessible relations of the same subject (or pair) on the same exclusive topic."""
        relation = relation_of(edge.verb)
        if relation.topic is None or relation.pole:
            return {}
        relations = self._of_topic(edge.source, relation.topic)
        if relation.is_mutual:
            relations = relations | self._of_topic(edge.target, relation.topic)
        return relations

    def _of_topic(self, subject: MemoryId, topic: str) -> dict[str, Edge]:
        """Accessible relations of the subject on the topic, under all its names; cached."""
        key = (self.canonical_concept(subject), topic)
        if key not in self._topics:
            edges = self._mind.edges
            verbs = [v for v in edges.verbs if relation_of(v).topic == topic]
            relations: dict[str, Edge] = {}
            for name in self.alias_concepts(subject):
                for edge in edges.relations(name, verbs):
                    relation_id = edge.id
                    if self.is_accessible(MemoryId(relation_id)):
                        relations[relation_id] = edge
            self._topics[key] = relations
        return self._topics[key]

    def _aliases(self, names: Iterable[MemoryId]) -> Iterator[MemoryId]:
        """Accessible concepts of other names of these: by an alias relation, or spelled alike."""
        edges, verbs = self._mind.edges, self._alias_verbs
        for name in names:
            for edge in edges.relations(name, verbs) if verbs else ():
                if self.is_accessible(MemoryId(edge.id)):
                    yield edge.target if edge.source == name else edge.source
            alike = concepts_named_alike(self._mind, name)
            yield from filter(self.is_accessible, alike)

    def is_accessible(self, key: MemoryId) -> bool:
        """Whether the chat may use the memory or the fact."""
        row = self._mind.row(key)
        return row is not None and bool(self._accessible[row])

    def alias_concepts(self, memory: MemoryId) -> list[MemoryId]:
        """The concepts of all accessible names of the thing, itself included."""
        canonical = self.canonical_concept(memory)
        if canonical not in self._names:
            self._names[canonical] = [
                name for name, other in self._canonical.items() if other == canonical
            ] or [memory]
        return self._names[canonical]

    def _claim(self, key: str, edge: Edge) -> FactClaim | None:
        times = tuple(sorted(self._stated_times(key, edge)))
        if not times:
            return None
        subject = self.canonical_concept(edge.source)
        object_ = self.canonical_concept(edge.target)
        relation = relation_of(edge.verb)
        by_hand = edge.origin is Origin.USER
        return FactClaim(key, subject, object_, relation, times, by_hand)

    def _stated_times(self, key: str, edge: Edge) -> Iterator[Moment]:
        """When accessible episodes state the fact; one made by hand also when it was made: not before its ends."""
        mind = self._mind
        if edge.made is not None:
            yield edge.made.timestamp(), 0
        elif edge.origin is not Origin.MODEL:
            ends = (mind.memories[edge.source], mind.memories[edge.target])
            yield max(end.created.timestamp() for end in ends), 0
        for derivation in mind.derivations.of(key):
            chat = self._source_chat(derivation)
            if chat is not None:
                for episode in _cited_episodes(derivation, key):
                    row = mind.row(episode)
                    if row is not None:
                        yield self._moment(row, chat)

    def _source_chat(self, derivation: Derivation) -> ChatId | None:
        """A chat that holds what the derivation read and that is accessible, this chat before others."""
        holders = self._mind.derivations.holders_of(derivation.id)
        if self._chat is None:
            return min(holders, default=None)
        if self._chat in holders:
            return self._chat
        if self._mind.soul.settings.scope is not Scope.CHARACTER:
            return None
        branches = self._mind.branches
        own = branches.branch(self._chat)
        for branch in map(branches.branch, sorted(holders)):
            if branch is not None and (own is None or branch.family != own.family):
                return branch.chat
        return None

    def _moment(self, row: int, chat: ChatId) -> Moment:
        """When the episode at a row took place, not before earlier ones of its chat, and its index there."""
        if chat not in self._times:
            order = self._mind.chat_rows(chat)
            happened = self._mind.columns.happened[order]
            self._times[chat] = order, np.maximum.accumulate(happened)
        order, times = self._times[chat]
        index = int(self._mind.neighbours(self._chat).position[row])
        if not (0 <= index < order.size and order[index] == row):
            matches = np.flatnonzero(order == row)
            index = int(matches[0]) if matches.size else 0
        return float(times[index]) if times.size else 0.0, index

    def _ending(self, end: FactEnd) -> tuple[datetime, str | None]:
        """When the fact ended, and the story's own words for that time if they are no date.

        The time is that of the story where the ending message has one.
        """
        until = _time(end.moment)
        for key in self._mind.derivations.cited(end.by):
            story = self._story_time_of_end(key, end)
            if story is not None:
                try:
                    told = datetime.fromisoformat(story)
                except ValueError:
                    return until, story
                return (from_local(told) if told.tzinfo is None else local(told)), None
        return until, None

    def _story_time_of_end(self, key: MemoryId, end: FactEnd) -> str | None:
        """The story time of an episode, if it took place at the moment of the end."""
        memory, row = self._mind.memories.get(key), self._mind.row(key)
        span = memory.situation.time_span if memory is not None else None
        if row is None or span is None or not span.story:
            return None
        chats = self._mind.branches.holders(key)
        is_at_end = any(self._moment(row, chat) == end.moment for chat in chats)
        return span.story if is_at_end else None


@compute_only
def joins_names(mind: Mind) -> bool:
    """Whether the soul may have two names of one thing: by a draft, or by a relation that says so."""
    return bool(mind.derivations) or bool(_alias_verbs(mind))


def _alias_verbs(mind: Mind) -> list[str]:
    """The verbs that say that two names are of one thing."""
    return [v for v in mind.edges.verbs if v is not None and relation_of(v).is_alias]


@compute_only
def fact_validities(mind: Mind, edges: Iterable[Edge]) -> dict[str, FactValidity]:
    """By edge id: validity of the relations among these edges, by all that the soul has in any chat."""
    relations = [edge for edge in edges if edge.kind is EdgeKind.RELATES]
    if not relations:
        return {}
    accessible = mind.accessible_rows(None, None, lambda _, __: False)
    validities = FactValidities(mind, accessible, None)
    return {edge.id: validities.of(edge) for edge in relations}


def concepts_named_alike(mind: Mind, concept: MemoryId) -> Iterator[MemoryId]:
    """Concepts of any origin with a name that folds like one of this concept's."""
    memory = mind.memories.get(concept)
    if memory is None:
        return
    for name in mind.names.names_of(concept) or (memory.text,):
        yield from mind.names.index.named(name)
        drafted = concept_id(mind.soul.id, name)
        if drafted in mind.memories:
            yield drafted


def _cited_episodes(derivation: Derivation, product_id: str) -> Iterator[MemoryId]:
    """The episodes that the derivation cites for the product, or all it read where it cites none."""
    for made in derivation.products:
        if made.id == product_id:
            yield from made.cited or derivation.read


def _may_interact(relation: Relation, other: Relation) -> bool:
    """Whether facts with these verbs may end each other, or be the same fact."""
    return relation.base == other.base or (
        relation.topic is not None and relation.topic == other.topic
    )


def _time(moment: Moment) -> datetime:
    return at_seconds(moment[0])

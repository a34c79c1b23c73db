"""Since when does a fact hold, and until when? Read off the facts that a view knows, and when each was told.

Nothing of it is stored: a branch that forked before the end of a fact still holds it true, and when the
message that ended it goes, or what was drafted of it is undone, it holds again. Everything here computes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timezone

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
from soulmem.domain.derivations import Derivation
from soulmem.domain.edges import Edge, EdgeKind, edge_id
from soulmem.domain.ids import ChatId, MemoryId
from soulmem.domain.memories import Origin
from soulmem.domain.soul import Scope
from soulmem.engine.mind.mind import Mind
from soulmem.engine.views.concept_descriptions import concept_id
from soulmem.language.name_tokens import fold
from soulmem.language.relations import Relation, relation_of

_MOST_NAMES = 16  # that one thing goes by


class FactValidities:
    """How the facts stand that one view knows; for one answer, on one state of the mind."""

    def __init__(
        self, mind: Mind, known: NDArray[np.bool_], chat: ChatId | None
    ) -> None:
        """`known` tells of every row whether `chat` knows it; see `Mind.known`."""
        self._mind = mind
        self._known = known
        self._chat = chat
        self._claims: dict[str, FactClaim | None] = {}
        self._ones: dict[MemoryId, MemoryId] = {}
        self._names: dict[MemoryId, list[MemoryId]] = {}
        self._topics: dict[tuple[MemoryId, str], dict[str, Edge]] = {}
        self._may_end: dict[str | None, bool] = {}
        self._touched: dict[
            str | None, list[str | None]
        ] = {}  # verbs that may end it, or tell the same
        self._times: dict[ChatId, tuple[NDArray[np.int64], NDArray[np.float64]]] = {}

    def of(self, edge: Edge) -> FactValidity:
        """From when to when a known relation holds."""
        claim = self.claim(edge)
        if claim is None:
            return FactValidity()
        others = self.related_claims(claim, edge)
        twins = [other for other in others if is_same_fact(other, claim)]
        told = sorted({moment for one in (claim, *twins) for moment in one.times})
        by_hand = any(one.by_hand for one in (claim, *twins))
        since = _time(told[0])
        found = fact_end(replace(claim, times=tuple(told), by_hand=by_hand), others)
        if found is None:
            return FactValidity(since)
        return FactValidity(since, *self._ending(found), MemoryId(found.by))

    def claim(self, edge: Edge) -> FactClaim | None:
        """The relation as something told; None where the view does not know when it was."""
        return self._told_as(edge.id, edge)

    def _told_as(self, key: str, edge: Edge) -> FactClaim | None:
        if key not in self._claims:
            self._claims[key] = (
                None if relation_of(edge.verb).is_alias else self._claim(key, edge)
            )
        return self._claims[key]

    def may_end(self, verb: str | None) -> bool:
        """Whether a fact with this verb may end, or be told in other words: most of a user's own may not."""
        if verb not in self._may_end:
            relation = relation_of(verb)
            others = (relation_of(one) for one in self._mind.edges.verbs if one != verb)
            alone = relation.topic is None and not any(
                _touch(one, relation) for one in others
            )
            self._may_end[verb] = not alone or bool(self._mind.derivations)
        return self._may_end[verb]

    def related_claims(self, claim: FactClaim, edge: Edge) -> list[FactClaim]:
        """What the view knows that ends the fact if it is later, or tells the same in other words."""
        found = {
            key: self._mind.edges.existing(key) for key in self._of_pair(edge)
        } | self._of_topics(edge)
        others = (
            one
            for key, e in found.items()
            if key != claim.key and (one := self._told_as(key, e))
        )
        return [
            one
            for one in others
            if are_exclusive(one, claim) or is_same_fact(one, claim)
        ]

    def has_no_related(self, key: str, edge: Edge) -> bool:
        """Whether `beside` is empty, whatever is claimed: nobody has to look when what was told."""
        return self._of_pair(edge) <= {key} and self._of_topics(edge).keys() <= {key}

    def canonical_concept(self, memory: MemoryId) -> MemoryId:
        """The name that stands for all names which the view knows the thing by."""
        if not self._mind.derivations:
            return memory  # of all that the user wrote nothing is made one
        if memory not in self._ones:
            names = dict.fromkeys([memory])
            ring = [memory]
            while ring and len(names) < _MOST_NAMES:
                ring = [one for one in self._aliases(ring) if one not in names]
                names.update(dict.fromkeys(ring))
            self._ones.update(dict.fromkeys(names, min(names)))
        return self._ones[memory]

    def _of_pair(self, edge: Edge) -> set[str]:
        """The known relations between the same two, whatever names they go by, that are about the same."""
        relation = relation_of(edge.verb)
        if edge.verb not in self._touched:
            known = self._mind.edges.verbs
            self._touched[edge.verb] = [
                verb for verb in known if _touch(relation_of(verb), relation)
            ]
        verbs = self._touched[edge.verb]
        pairs = [
            (s, o)
            for s in self.alias_concepts(edge.source)
            for o in self.alias_concepts(edge.target)
        ]
        if relation.is_mutual:
            pairs += [(o, s) for s, o in pairs]
        keys = {
            edge_id(EdgeKind.RELATES, s, o, verb) for s, o in pairs for verb in verbs
        }
        return {key for key in keys if self.is_accessible(MemoryId(key))}

    def _of_topics(self, edge: Edge) -> dict[str, Edge]:
        """The known relations of its ends that it may rule out, or they it."""
        relation = relation_of(edge.verb)
        if relation.topic is None or relation.pole:
            return {}
        found = self._of_topic(edge.source, relation.topic)
        return (
            found | self._of_topic(edge.target, relation.topic)
            if relation.is_mutual
            else found
        )

    def _of_topic(self, subject: MemoryId, topic: str) -> dict[str, Edge]:
        """The known relations of one thing that are about the topic; looked for once."""
        key = (self.canonical_concept(subject), topic)
        if key not in self._topics:
            verbs = [
                verb
                for verb in self._mind.edges.verbs
                if relation_of(verb).topic == topic
            ]
            found = (
                e
                for name in self.alias_concepts(subject)
                for e in self._mind.edges.relations(name, verbs)
            )
            self._topics[key] = {
                i: e for e in found if self.is_accessible(MemoryId(i := e.id))
            }
        return self._topics[key]

    def _aliases(self, names: Iterable[MemoryId]) -> Iterator[MemoryId]:
        """What the view knows these by, too: said so, or called alike."""
        verbs = [
            verb
            for verb in self._mind.edges.verbs
            if verb is not None and relation_of(verb).is_alias
        ]
        for name in names:
            for edge in self._mind.edges.relations(name, verbs) if verbs else ():
                if self.is_accessible(MemoryId(edge.id)):
                    yield edge.target if edge.source == name else edge.source
            yield from filter(
                self.is_accessible, concepts_named_alike(self._mind, name)
            )

    def is_accessible(self, key: MemoryId) -> bool:
        """Whether the view knows the memory or the fact."""
        row = self._mind.row(key)
        return row is not None and bool(self._known[row])

    def alias_concepts(self, memory: MemoryId) -> list[MemoryId]:
        """The concepts of all names that the view knows the thing by."""
        one = self.canonical_concept(memory)
        if one not in self._names:
            self._names[one] = [
                name for name, known in self._ones.items() if known == one
            ] or [memory]
        return self._names[one]

    def _claim(self, key: str, edge: Edge) -> FactClaim | None:
        told = sorted(self._told(key, edge))
        if not told:
            return None
        ends = self.canonical_concept(edge.source), self.canonical_concept(edge.target)
        by_hand = edge.origin is Origin.USER
        return FactClaim(key, *ends, relation_of(edge.verb), tuple(told), by_hand)

    def _told(self, key: str, edge: Edge) -> Iterator[Moment]:
        """When it was told, as far as the view knows; by hand: as old as the younger of its ends."""
        mind = self._mind
        if edge.origin is not Origin.MODEL:
            yield (
                max(
                    mind.memories[end].created.timestamp()
                    for end in (edge.source, edge.target)
                ),
                0,
            )
        for one in mind.derivations.of(key):
            chat = self._teller(one)
            cited = (made.cited or one.read for made in one.products if made.id == key)
            for episode in (
                episode for some in cited for episode in some if chat is not None
            ):
                row = mind.row(episode)
                if row is not None and chat is not None:
                    yield self._moment(row, chat)

    def _teller(self, one: Derivation) -> ChatId | None:
        """A chat that holds what was read and is known here, this one before others."""
        holders = self._mind.derivations.holders_of(one.id)
        if self._chat is None or self._chat in holders:
            return self._chat if self._chat in holders else min(holders, default=None)
        if self._mind.soul.settings.scope is not Scope.CHARACTER:
            return None
        here = self._mind.branches.branch(self._chat)
        branches = (self._mind.branches.branch(chat) for chat in sorted(holders))
        return next(
            (
                s.chat
                for s in branches
                if s is not None and (here is None or s.family != here.family)
            ),
            None,
        )

    def _moment(self, row: int, chat: ChatId) -> Moment:
        """When the episode of a row was told: never before what stands before it in its chat."""
        if chat not in self._times:
            order = self._mind.chat_rows(chat)
            self._times[chat] = (
                order,
                np.maximum.accumulate(self._mind.columns.happened[order]),
            )
        order, times = self._times[chat]
        place = int(self._mind.neighbours(self._chat).position[row])
        if not (0 <= place < order.size and order[place] == row):
            found = np.flatnonzero(order == row)
            place = int(found[0]) if found.size else 0
        return float(times[place]) if times.size else 0.0, place

    def _ending(self, found: FactEnd) -> tuple[datetime, str | None]:
        """When it ceased: by the story's calendar or in its words, if what told so gives any."""
        until = _time(found.moment)
        for key in self._mind.derivations.cited(found.by):
            memory, row = self._mind.memories.get(key), self._mind.row(key)
            span = memory.situation.time_span if memory is not None else None
            if row is None or span is None or not span.story:
                continue
            if any(
                self._moment(row, chat) == found.moment
                for chat in self._mind.branches.holders(key)
            ):
                try:
                    return datetime.fromisoformat(span.story).astimezone(), None
                except ValueError:
                    return until, span.story
        return until, None


def fact_validities(mind: Mind, edges: Iterable[Edge]) -> dict[str, FactValidity]:
    """How the relations among these edges stand by all that the soul knows, whatever chat tells it; by id."""
    relations = [edge for edge in edges if edge.kind is EdgeKind.RELATES]
    if not relations:
        return {}
    found = FactValidities(
        mind, mind.accessible_rows(None, None, lambda _, __: False), None
    )
    return {edge.id: found.of(edge) for edge in relations}


def concepts_named_alike(mind: Mind, concept: MemoryId) -> Iterator[MemoryId]:
    """The concepts of the card, of messages, of the user and of drafts that go by a name of this one."""
    memory = mind.memories.get(concept)
    if memory is None:
        return
    for name in mind.names.names_of(concept) or (memory.text,):
        folded = fold(name)
        for key in mind.names.index.find(name):
            if any(fold(one) == folded for one in mind.names.names_of(key)):
                yield key
        drafted = concept_id(mind.soul.id, name)
        if drafted in mind.memories:
            yield drafted


def _touch(one: Relation, other: Relation) -> bool:
    """Whether facts with these verbs may end each other, or be one."""
    return one.base == other.base or (
        one.topic is not None and one.topic == other.topic
    )


def _time(moment: Moment) -> datetime:
    return datetime.fromtimestamp(moment[0], timezone.utc)

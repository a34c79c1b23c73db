"""Since when does a fact hold, and until when? Read off the facts that a view knows, and when each was told.

Nothing of it is stored: a branch that forked before the end of a fact still holds it true, and when the
message that ended it goes, or what was drafted of it is undone, it holds again. Everything here computes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timezone

import numpy as np
from numpy.typing import NDArray

from soulmem.consolidation.validity import Claim, Ended, Moment, ended, excludes, is_twice
from soulmem.domain.derivations import Derivation
from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.ids import ChatId, MemoryId
from soulmem.domain.memories import Origin
from soulmem.domain.soul import Scope
from soulmem.engine.mind import Mind
from soulmem.language.relations import Relation, relation_of

_MOST_NAMES = 16  # that one thing goes by


@dataclass(frozen=True, slots=True)
class Standing:
    """From when to when a fact holds; times are aware."""

    since: datetime | None = None  # when it was told first; None: not known
    until: datetime | None = None  # None: it holds, or it is not known when it ceased to
    story: str | None = None  # when it ceased to, in the story's own words
    by: MemoryId | None = None  # the fact that it ceased through; None: it holds


class Standings:
    """How the facts stand that one view knows; for one answer, on one state of the mind."""

    def __init__(self, mind: Mind, known: NDArray[np.bool_], chat: ChatId | None) -> None:
        """`known` tells of every row whether `chat` knows it; see `Mind.known`."""
        self._mind = mind
        self._known = known
        self._chat = chat
        self._claims: dict[str, Claim | None] = {}
        self._ones: dict[MemoryId, MemoryId] = {}
        self._topics: dict[tuple[MemoryId, str], list[Edge]] = {}
        self._times: dict[ChatId, tuple[NDArray[np.int64], NDArray[np.float64]]] = {}

    def of(self, edge: Edge) -> Standing:
        """From when to when a known relation holds."""
        claim = self.claim(edge)
        if claim is None:
            return Standing()
        others = self.beside(claim, edge)
        twins = [other for other in others if is_twice(other, claim)]
        told = sorted({moment for one in (claim, *twins) for moment in one.told})
        by_hand = any(one.by_hand for one in (claim, *twins))
        since = _time(told[0])
        found = ended(replace(claim, told=tuple(told), by_hand=by_hand), others)
        if found is None:
            return Standing(since)
        return Standing(since, *self._ending(found), MemoryId(found.by))

    def claim(self, edge: Edge) -> Claim | None:
        """The relation as something told; None where the view does not know when it was."""
        key = edge.id
        if key not in self._claims:
            self._claims[key] = self._claim(edge)
        return self._claims[key]

    def beside(self, claim: Claim, edge: Edge) -> list[Claim]:
        """What the view knows that ends the fact if it is later, or tells the same in other words."""
        found = self._of_pair(edge)
        if claim.relation.topic is not None and not claim.relation.pole:
            found += self._of_topic(edge.source, claim.relation.topic)
            if claim.relation.is_mutual:
                found += self._of_topic(edge.target, claim.relation.topic)
        others = {e.id: e for e in found if e.id != claim.key and self._is_known(e)}
        claims = [one for other in others.values() if (one := self.claim(other)) is not None]
        return [one for one in claims if excludes(one, claim) or is_twice(one, claim)]

    def one_of(self, memory: MemoryId) -> MemoryId:
        """The name that stands for all names which the view knows the thing by."""
        if memory not in self._ones:
            names = dict.fromkeys([memory])
            ring = [memory]
            while ring and len(names) < _MOST_NAMES:
                ring = [one for one in self._aliases(ring) if one not in names]
                names.update(dict.fromkeys(ring))
            self._ones.update(dict.fromkeys(names, min(names)))
        return self._ones[memory]

    def _of_pair(self, edge: Edge) -> list[Edge]:
        """The relations between the same two, whatever names they go by, that are about the same."""
        edges, relation = self._mind.edges, relation_of(edge.verb)
        verbs = [verb for verb in edges.verbs if _touch(relation_of(verb), relation)]
        pairs = [(s, o) for s in self._names(edge.source) for o in self._names(edge.target)]
        if relation.is_mutual:
            pairs += [(o, s) for s, o in pairs]
        found = (edges.find(EdgeKind.RELATES, s, o, verb) for s, o in pairs for verb in verbs)
        return [one for one in found if one is not None]

    def _of_topic(self, subject: MemoryId, topic: str) -> list[Edge]:
        """The relations of one thing that are about the topic; each asked for once."""
        key = (self.one_of(subject), topic)
        if key not in self._topics:
            verbs = [verb for verb in self._mind.edges.verbs if relation_of(verb).topic == topic]
            names = self._names(subject)
            self._topics[key] = [e for name in names for e in self._mind.edges.relations(name, verbs)]
        return self._topics[key]

    def _names(self, memory: MemoryId) -> list[MemoryId]:
        one = self.one_of(memory)
        return [name for name, known in self._ones.items() if known == one]

    def _aliases(self, names: Iterable[MemoryId]) -> Iterator[MemoryId]:
        verbs = [verb for verb in self._mind.edges.verbs if verb is not None and relation_of(verb).is_alias]
        for name in names if verbs else ():
            for edge in self._mind.edges.relations(name, verbs):
                if self._is_known(edge):
                    yield edge.target if edge.source == name else edge.source

    def _is_known(self, edge: Edge) -> bool:
        row = self._mind.row(MemoryId(edge.id))
        return row is not None and bool(self._known[row])

    def _claim(self, edge: Edge) -> Claim | None:
        told = sorted(self._told(edge))
        if not told:
            return None
        ends = self.one_of(edge.source), self.one_of(edge.target)
        by_hand = edge.origin is Origin.USER
        return Claim(edge.id, *ends, relation_of(edge.verb), tuple(told), by_hand)

    def _told(self, edge: Edge) -> Iterator[Moment]:
        """When it was told, as far as the view knows; by hand: as old as the younger of its ends."""
        mind = self._mind
        if edge.origin is not Origin.MODEL:
            yield max(mind.memories[end].created.timestamp() for end in (edge.source, edge.target)), 0
        for one in mind.derived.of(edge.id):
            chat = self._teller(one)
            cited = (made.cited or one.read for made in one.products if made.id == edge.id)
            for key in (key for some in cited for key in some if chat is not None):
                row = mind.row(key)
                if row is not None and chat is not None:
                    yield self._moment(row, chat)

    def _teller(self, one: Derivation) -> ChatId | None:
        """A chat that holds what was read and is known here, this one before others."""
        holders = self._mind.derived.holders_of(one.id)
        if self._chat is None or self._chat in holders:
            return self._chat if self._chat in holders else min(holders, default=None)
        if self._mind.soul.settings.scope is not Scope.CHARACTER:
            return None
        here = self._mind.lineages.strand(self._chat)
        strands = (self._mind.lineages.strand(chat) for chat in sorted(holders))
        return next(
            (s.chat for s in strands if s is not None and (here is None or s.family != here.family)), None
        )

    def _moment(self, row: int, chat: ChatId) -> Moment:
        """When the episode of a row was told: never before what stands before it in its chat."""
        if chat not in self._times:
            order = self._mind.order(chat)
            self._times[chat] = order, np.maximum.accumulate(self._mind.columns.happened[order])
        order, times = self._times[chat]
        place = int(self._mind.neighbours(self._chat).position[row])
        if not (0 <= place < order.size and order[place] == row):
            found = np.flatnonzero(order == row)
            place = int(found[0]) if found.size else 0
        return float(times[place]) if times.size else 0.0, place

    def _ending(self, found: Ended) -> tuple[datetime, str | None]:
        """When it ceased: by the story's calendar or in its words, if what told so gives any."""
        until = _time(found.at)
        for key in self._mind.derived.cited(found.by):
            memory, row = self._mind.memories.get(key), self._mind.row(key)
            span = memory.situation.time_span if memory is not None else None
            if row is None or span is None or not span.story:
                continue
            if any(self._moment(row, chat) == found.at for chat in self._mind.lineages.holders(key)):
                try:
                    return datetime.fromisoformat(span.story).astimezone(), None
                except ValueError:
                    return until, span.story
        return until, None


def standing_of(mind: Mind, edges: Iterable[Edge]) -> dict[str, Standing]:
    """How the relations among these edges stand by all that the soul knows, whatever chat tells it; by id."""
    relations = [edge for edge in edges if edge.kind is EdgeKind.RELATES]
    if not relations:
        return {}
    found = Standings(mind, mind.known(None, None, lambda _, __: False), None)
    return {edge.id: found.of(edge) for edge in relations}


def _touch(one: Relation, other: Relation) -> bool:
    """Whether facts with these verbs may end each other, or be one."""
    return one.base == other.base or (one.topic is not None and one.topic == other.topic)


def _time(moment: Moment) -> datetime:
    return datetime.fromtimestamp(moment[0], timezone.utc)

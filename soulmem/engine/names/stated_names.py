"""Joins two names of one thing where a message says that they are one, in Idle, without a language model.

What a message says is a derivation of it, like a draft: it goes with the message, and a branch without the
message does not know that the two are one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from soulmem.conversation.episodes import spoken
from soulmem.domain import change_reasons
from soulmem.domain.audit import Actor
from soulmem.domain.derivations import Derivation, Work
from soulmem.domain.ids import MemoryId, derived_id
from soulmem.domain.memories import Memory, MemoryKind, MemoryState, Origin
from soulmem.domain.situation import ConceptDetail, ConceptType
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.propagation.draft_builder import DraftBuilder
from soulmem.engine.propagation.draft_retraction import without_derivations
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.views.concept_descriptions import concept_id
from soulmem.engine.world.audit import ChangeAuthor
from soulmem.engine.world.services import Services
from soulmem.engine.world.world import World
from soulmem.graph.arcs import MEMORY_KINDS
from soulmem.graph.columns import ORIGINS
from soulmem.language.name_tokens import fold
from soulmem.language.relations import also_called
from soulmem.language.stated_aliases import may_state_aliases, stated_aliases

_EPISODE = MEMORY_KINDS.index(MemoryKind.EPISODE)
_CHAT = ORIGINS.index(Origin.CHAT)
_PIECE = 2000  # texts looked at at once: some 10 ms
_READ = 30  # texts read at once, which is some 10 ms, too
_REASON = str(change_reasons.TWO_NAMES)

Pair = tuple[str, str]
# By derivation the two names, and the message that says that they are one.
Statements = dict[str, tuple[Pair, MemoryId]]


@dataclass(slots=True)
class _Looked:
    """Which texts were looked at, and those that may say that two names are one."""

    revision: int = -1  # of the soul's terms, when all was looked at
    decided: int = -1  # the same, when names were joined by it
    # By row the time at which the text that was looked at there came, in microseconds: one that takes the row
    # of another came later.
    texts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    stating: set[MemoryId] = field(default_factory=set)


@dataclass(eq=False)
class StatedNames:
    """Keeps the joined names of souls equal to what their messages say. Callers must not hold `World.writing`."""

    services: Services

    def __post_init__(self) -> None:
        self._looked: WeakKeyDictionary[Mind, _Looked] = WeakKeyDictionary()

    async def run_idle(self, worlds: Iterable[World]) -> None:
        """In Idle: join what the messages of every open soul say is one."""
        await self.services.attempts.with_minds("names", worlds, self.join)

    async def join(self, world: World, mind: Mind, source: str = "") -> int:
        """Join names; returns how many pairs are new. `source` is the job that asks."""
        looked = self._looked.setdefault(mind, _Looked())
        while await self.services.compute.run(_look_at_next, mind, looked):
            pass
        revision = looked.revision
        if looked.decided == revision:
            return 0
        wanted = await self._wanted(mind, looked)
        concepts = await self.services.compute.run(_concepts_of, mind, wanted)
        await self.services.loader.complete(world.owner, mind, concepts)
        turn = float(mind.lived_turns(self.services.clock.extra_turns))
        current_time = self.services.clock.now()
        async with world.writing as token:
            if world.minds.get(mind.soul.id) is not mind:
                return 0
            change = await self.services.auditor.carry_out_made(
                token,
                world,
                mind,
                lambda current: _change(current, wanted, current_time, turn, source),
                ChangeAuthor(Actor.ENGINE, source=source, reason=_REASON),
            )
        looked.decided = revision
        return len(change.put_derivations) if change is not None else 0

    async def _wanted(self, mind: Mind, looked: _Looked) -> Statements:
        """What the messages say, without what two things are called: nobody knows whom it means then."""
        stated: Statements = {}
        keys = sorted(looked.stating)
        for start in range(0, len(keys), _READ):
            piece = keys[start : start + _READ]
            stated.update(await self.services.compute.run(_statements, mind, piece))
        things: defaultdict[str, set[str]] = defaultdict(set)
        for (name, other), _ in stated.values():
            things[fold(other)].add(fold(name))
        return {
            derivation: (pair, episode)
            for derivation, (pair, episode) in stated.items()
            if len(things[fold(pair[1])]) == 1
        }


@compute_only
def _look_at_next(mind: Mind, looked: _Looked) -> bool:
    """Look at some texts that came or changed; False when there are no more."""
    revision = mind.terms.incidence.revision
    if looked.revision == revision:
        return False
    n, columns = mind.size, mind.columns
    is_message = (columns.kind[:n] == _EPISODE) & (columns.origin[:n] == _CHAT)
    created = columns.created[:n]
    more = max(0, n - looked.texts.size)
    looked.texts = np.pad(looked.texts[:n], (0, more))
    is_fresh = is_message & columns.in_use[:n] & (looked.texts != created)
    rows = np.flatnonzero(is_fresh)[:_PIECE]
    if not rows.size:
        looked.revision = revision
        return False
    looked.texts[rows] = created[rows]
    for memory in mind.memories.many(mind.ids_at(rows.tolist())):
        if may_state_aliases(memory.text):
            looked.stating.add(memory.id)
    return True


@compute_only
def _concepts_of(mind: Mind, stated: Statements) -> list[MemoryId]:
    """The concepts of these names that exist."""
    names = dict.fromkeys(name for pair, _ in stated.values() for name in pair)
    keys = (concept_id(mind.soul.id, name) for name in names)
    return [key for key in keys if key in mind.memories]


@compute_only
def _statements(mind: Mind, keys: Iterable[MemoryId]) -> Statements:
    """The names that these messages state."""
    stated: Statements = {}
    for key in keys:
        memory = mind.memories.get(key)
        if memory is None or not _is_in_use(mind, memory):
            continue
        for name, other in stated_aliases(spoken(memory), lambda n: _is_known(mind, n)):
            if _may_be_joined(mind, name, other):
                folds = fold(name), fold(other)
                derivation = derived_id("v", mind.soul.id, "names", key, *sorted(folds))
                stated[derivation] = (name, other), key
    return stated


def _is_in_use(mind: Mind, memory: Memory) -> bool:
    is_used = memory.state in (MemoryState.ACTIVE, MemoryState.MERGED)
    is_message = memory.origin is Origin.CHAT
    return is_used and is_message and bool(mind.branches.holders(memory.id))


def _is_known(mind: Mind, spelling: str) -> bool:
    """Whether a concept of the card, the user or the messages has exactly that name."""
    folded = fold(spelling)
    return any(
        folded in map(fold, mind.names.names_of(key)) for key in mind.names.index.find(spelling)
    )


def _may_be_joined(mind: Mind, name: str, other: str) -> bool:
    """Whether they are names of two concepts, and neither is a speaker's."""
    soul = mind.soul.id
    is_speaker = _is_speaker(mind, name) or _is_speaker(mind, other)
    return not is_speaker and concept_id(soul, name) != concept_id(soul, other)


def _is_speaker(mind: Mind, spelling: str) -> bool:
    """Whether it is the name of the soul or of who speaks: those stand in every line."""
    folded = fold(spelling)
    return folded == fold(mind.soul.name) or mind.name_counts.is_speaker(folded)


@compute_only
def _change(
    mind: Mind,
    wanted: Statements,
    current_time: datetime,
    turn: float,
    source: str,
) -> MindChange | None:
    """The change that joins new pairs and parts those that no message states any more."""
    fresh = [key for key in wanted if mind.derivations.get(key) is None]
    stale = {d.id: d for d in mind.derivations if d.work is Work.NAMES and d.id not in wanted}
    if not fresh and not stale:
        return None
    builder = DraftBuilder(mind, current_time, turn)
    derivations: list[Derivation] = []
    for key in fresh:
        pair, episode = wanted[key]
        derivations.append(_derivation(builder, key, pair, episode, source))
    change = MindChange(
        put_memories=tuple(builder.memories.values()),
        put_edges=tuple(builder.edges.values()),
        put_derivations=tuple(derivations),
    )
    return without_derivations(mind, change, stale) if stale else change


def _derivation(
    builder: DraftBuilder, key: str, pair: Pair, episode: MemoryId, source: str
) -> Derivation:
    """The derivation of one statement; its products are added to the builder."""
    mind = builder.mind
    name, other = (_concept(builder, name, episode) for name in pair)
    edge = builder.join_names(name, other, also_called(*pair), (episode,))
    own = {name, other, edge.id}
    return Derivation(
        id=key,
        soul=mind.soul.id,
        work=Work.NAMES,
        chat=min(mind.branches.holders(episode)),
        read=(episode,),
        made=builder.current_time,
        products=tuple(p for p in builder.products() if p.id in own),
        source=source,
    )


def _concept(builder: DraftBuilder, name: str, episode: MemoryId) -> MemoryId:
    """Add the concept of a name, as drafts have one of each name; its id."""
    mind = builder.mind
    key = concept_id(mind.soul.id, name)
    detail = ConceptDetail(ConceptType.ENTITY)
    existing = mind.memories.get(key) or builder.memories.get(key)
    importance = mind.memories[episode].importance
    memory = existing or replace(
        builder.new_memory(key, MemoryKind.CONCEPT, name, importance), concept=detail
    )
    builder.put(memory, (episode,))
    return key

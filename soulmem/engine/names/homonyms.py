"""Homonyms: of two things of one name a text mentions the one that fits what the text says, decided in Idle."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from weakref import WeakKeyDictionary

import numpy as np

from soulmem.conversation.episodes import spoken
from soulmem.domain import change_reasons
from soulmem.domain.audit import Actor
from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory, MemoryState, Origin
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.vectors.encoder import EncodedTexts, SituationEncoder
from soulmem.engine.views.faded_edges import unfaded_edge
from soulmem.engine.world.audit import ChangeAuthor
from soulmem.engine.world.services import Services
from soulmem.engine.world.world import World
from soulmem.language.name_tokens import fold
from soulmem.retrieval.rarity import rarity

_AUTHOR = ChangeAuthor(Actor.ENGINE, reason=str(change_reasons.ONE_NAME))
_MOST = 500  # texts judged in one Idle: each costs some 1 ms
_FEWEST = 50  # texts of a soul, from which on it tells which words are rare
_AUTOMATIC = (Origin.CHAT, Origin.CARD)


# When a text is clearly about one of two things of one name.
# Deviations by which the text fits one description better than any other. Of 20 texts
# about fruit and firms of one name (en, zh) the right one was ahead by .45 to 4.8.
_AHEAD = 0.3
# The same by shared words alone, in their rarity; a word that one text of a soul has
# in seven weighs 2.
_AHEAD_BY_WORDS = 2.0


@dataclass(frozen=True, slots=True)
class _Question:
    """A text that mentions several things of one name, with a description of each."""

    text: MemoryId
    says: str
    descriptions: Mapping[MemoryId, str]
    shared: frozenset[str]  # words of the name

    @property
    def key(self) -> tuple[str, ...]:
        """Differs when the text or a description does."""
        return self.text, self.says, *sorted(self.descriptions.values())


@dataclass(kw_only=True, eq=False)
class HomonymWork:
    """Weakens the mentions of concepts that a text does not mean. Callers must not hold `World.writing`.

    A weak mention stays stored, as a deleted one would be made again with the next
    change of names.
    """

    services: Services
    encoder: SituationEncoder

    def __post_init__(self) -> None:
        # What was judged, so that what is not clear is not judged in every Idle.
        self._judged: WeakKeyDictionary[Mind, set[tuple[str, ...]]] = WeakKeyDictionary()

    async def run_idle(self, worlds: Iterable[World]) -> None:
        """In Idle: judge the texts of every open soul that mention several things of one name."""
        await self.services.attempts.with_minds("homonyms", worlds, self._judge)

    async def _judge(self, world: World, mind: Mind) -> None:
        groups = await self.services.compute.run(_homonyms, mind)
        if not groups:
            return
        concepts = [key for group in groups for key in group]
        await self.services.loader.complete(world.owner, mind, concepts)
        judged = self._judged.setdefault(mind, set())
        extra = self.services.clock.extra_turns
        asked = await self.services.compute.run(_questions, mind, groups, extra)
        questions = [q for q in asked if q.key not in judged][:_MOST]
        if not questions:
            return
        texts = [q.says for q in questions]
        for question in questions:
            texts += question.descriptions.values()
        encoded = await self.encoder.encode(texts)
        current_time = self.services.clock.now()
        async with world.writing as token:
            if world.minds.get(mind.soul.id) is not mind:
                return
            await self.services.auditor.carry_out_made(
                token,
                world,
                mind,
                lambda current: _change(current, questions, encoded, current_time),
                _AUTHOR,
            )
        judged.update(question.key for question in questions)


@compute_only
def _homonyms(mind: Mind) -> list[frozenset[MemoryId]]:
    """The concepts in use that share a name and have a description each."""
    by_name: defaultdict[str, set[MemoryId]] = defaultdict(set)
    for concept in mind.names.special_concepts():
        is_used = concept.state is MemoryState.ACTIVE and not concept.is_topic
        if is_used and concept.concept is not None and concept.concept.description:
            for name in mind.names.names_of(concept.id):
                by_name[fold(name)].add(concept.id)
    groups = {frozenset(group) for group in by_name.values() if len(group) > 1}
    return sorted(groups, key=sorted)


@compute_only
def _questions(mind: Mind, groups: Sequence[frozenset[MemoryId]], extra: int) -> list[_Question]:
    """The texts with automatic mentions of several things of one name that have not faded."""
    turn = mind.lived_turns(extra)
    questions = []
    for group in groups:
        mentioned: defaultdict[MemoryId, set[MemoryId]] = defaultdict(set)
        for key in sorted(group):
            for edge in mind.edges.of(key, EdgeKind.MENTIONS):
                is_automatic = edge.origin in _AUTOMATIC and edge.target == key
                if is_automatic and unfaded_edge(mind, edge, turn) is not None:
                    mentioned[edge.source].add(key)
        for text, things in mentioned.items():
            memory = mind.memories.get(text)
            if len(things) > 1 and memory is not None:
                questions.append(_question(mind, memory, things))
    return questions


def _question(mind: Mind, memory: Memory, things: Iterable[MemoryId]) -> _Question:
    descriptions, shared = {}, set[str]()
    for key in sorted(things):
        detail = mind.memories[key].concept
        descriptions[key] = (detail.description if detail else None) or ""
        for name in mind.names.names_of(key):
            shared.update(mind.tokeniser.tokens(name))
    return _Question(memory.id, spoken(memory), descriptions, frozenset(shared))


@compute_only
def _change(
    mind: Mind,
    questions: Sequence[_Question],
    encoded: EncodedTexts | None,
    current_time: datetime,
) -> MindChange | None:
    """The mentions to weaken: their text clearly does not mean the concept."""
    put: list[Edge] = []
    for question in questions:
        meant = _meant(mind, question, encoded)
        if meant is None or question.text not in mind.memories:
            continue
        for edge in mind.edges.of(question.text, EdgeKind.MENTIONS):
            is_other = edge.target in question.descriptions and edge.target != meant
            if is_other and edge.origin in _AUTOMATIC:
                put.append(replace(edge, strength=0.0, touched=current_time))
    return MindChange(put_edges=tuple(put)) if put else None


def _meant(
    mind: Mind,
    question: _Question,
    encoded: EncodedTexts | None,
) -> MemoryId | None:
    """Which of the things the text means; None where it is not clear."""
    keys = list(question.descriptions)
    if encoded is None:
        fits, ahead = _shared_words(mind, question), _AHEAD_BY_WORDS
    else:
        rows = encoded.rows([question.says, *question.descriptions.values()])
        between = encoded.calibration.between(rows)
        fits, ahead = between[0, 1:].tolist(), _AHEAD
    order = np.argsort(-np.asarray(fits), kind="stable")
    best, second = int(order[0]), int(order[1])
    return keys[best] if fits[best] - fits[second] >= ahead else None


def _shared_words(mind: Mind, question: _Question) -> list[float]:
    """How much of each description the text says, in the rarity of the words among the soul's texts."""
    own_words = set(mind.tokeniser.tokens(question.says)) - question.shared
    fits = []
    for description in question.descriptions.values():
        words = sorted(own_words.intersection(mind.tokeniser.tokens(description)))
        counts = np.asarray([mind.words.frequency(word) for word in words], np.int64)
        fits.append(float(rarity(counts, max(len(mind.words), _FEWEST)).sum()))
    return fits

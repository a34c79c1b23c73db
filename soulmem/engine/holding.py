"""How does a recall tell facts that are over, and such as say the same? What holds first, each thing once.

Everything here computes: worker only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from soulmem.assembly.tense import as_past
from soulmem.consolidation.validity import Claim, is_twice
from soulmem.domain.ids import ChatId, MemoryId
from soulmem.domain.memories import Memory
from soulmem.engine.answers import RecalledMemory
from soulmem.engine.mind import Mind
from soulmem.engine.provenance import sources
from soulmem.engine.search import Scene
from soulmem.engine.validity import Standing, Standings
from soulmem.retrieval.scoring import weighed

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class HoldingParams:
    """How what is over counts."""

    past: float = 0.5  # of the score of what holds: of two homes the present one is asked for


@dataclass(frozen=True, slots=True)
class Held:
    """What is left of the candidates, and how it is told."""

    rows: Ints
    past: Mapping[int, Standing] = field(default_factory=dict)  # rows of facts that are over
    also: Mapping[int, tuple[MemoryId, ...]] = field(default_factory=dict)  # facts that say the same

    def told(self, row: int, memory: Memory) -> Memory:
        """The memory in the words in which it is told."""
        standing = self.past.get(row)
        if standing is None:
            return memory
        return replace(memory, text=as_past(memory.text, standing.until, standing.story))

    def united(self, mind: Mind, row: int, answer: RecalledMemory, chat: ChatId | None) -> RecalledMemory:
        """The answer with the messages, too, that told the same in other words."""
        facts = [mind.facts[key] for key in self.also.get(row, ()) if key in mind.facts]
        places = dict.fromkeys(place for fact in facts for place in sources(mind, fact, chat))
        if not places:
            return answer
        return replace(answer, sources=tuple(dict.fromkeys((*answer.sources, *places))))


def held(mind: Mind, scene: Scene, rows: Ints, score: Floats, params: HoldingParams | None = None) -> Held:
    """The candidates without those that others tell as well; `score`, of every row, is lowered for what is
    over.
    """
    facts = [row for row in rows.tolist() if mind.facts.is_at(row)]
    if not facts:
        return Held(rows)
    p = params or HoldingParams()
    standings = Standings(mind, scene.known, scene.request.chat)
    edges = {row: mind.edges.known(mind.id_at(row)) for row in facts}
    claims = {row: one for row, edge in edges.items() if (one := standings.claim(edge)) is not None}
    standing = {row: standings.of(edges[row]) for row in claims}
    past = {row: one for row, one in standing.items() if one.by is not None}
    lowered = list(past)
    score[lowered] = weighed(score[lowered], np.full(len(lowered), p.past, np.float32))
    best_first = sorted(claims, key=lambda row: (-float(score[row]), claims[row].key))
    gone = _denials(claims, past)
    also = _twice(claims, [row for row in best_first if row not in gone])
    gone |= {row for row in claims if any(claims[row].key in keys for keys in also.values())}
    return Held(rows[~np.isin(rows, list(gone))], {r: s for r, s in past.items() if r not in gone}, also)


def _denials(claims: Mapping[int, Claim], past: Mapping[int, Standing]) -> set[int]:
    """Of the facts that say that something is over those which need not be told: it is not, or what is over
    is told with since when.
    """
    enders = {one.by for one in past.values()}
    over = {row for row, claim in claims.items() if claim.relation.is_over}
    return {row for row in over if row in past or claims[row].key in enders}


def _twice(claims: Mapping[int, Claim], best_first: Iterable[int]) -> dict[int, tuple[MemoryId, ...]]:
    """For each fact that is told those that say the same."""
    out: dict[int, list[int]] = {}
    for row in best_first:
        same = next((one for one in out if is_twice(claims[one], claims[row])), None)
        out.setdefault(row if same is None else same, []).append(row)
    return {row: _keys(claims, some[1:]) for row, some in out.items() if len(some) > 1}


def _keys(claims: Mapping[int, Claim], rows: Sequence[int]) -> tuple[MemoryId, ...]:
    return tuple(MemoryId(claims[row].key) for row in rows)

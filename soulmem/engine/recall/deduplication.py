"""How does a recall tell what is over, and what was told twice? What holds first, and each thing once.

Everything here computes: worker only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from soulmem.assembly.tense import as_past
from soulmem.consolidation.validity import FactClaim, FactValidity, is_same_fact
from soulmem.domain.ids import ChatId, MemoryId
from soulmem.domain.memories import Memory, MemoryKind, Origin
from soulmem.engine.api.results import RecalledMemory
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.scene import Scene
from soulmem.engine.views.fact_validity import Standings
from soulmem.engine.views.provenance import sources
from soulmem.graph.association import MEMORY_KINDS
from soulmem.graph.columns import ORIGINS
from soulmem.retrieval.scoring import scaled

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

_EPISODE = MEMORY_KINDS.index(MemoryKind.EPISODE)
_CHAT, _MODEL = ORIGINS.index(Origin.CHAT), ORIGINS.index(Origin.MODEL)


@dataclass(frozen=True, slots=True)
class HoldingParams:
    """How what is over counts, and what is told twice."""

    past: float = (
        0.5  # of the score of what holds: of two homes the present one is asked for
    )
    alike: float = (
        0.6  # 0..1, share of words that two wordings of one scene have in common
    )
    # 0..1, share of a message's words in the draft that then stands for it. On LoCoMo dev with a model that
    # drafts in the chat's words .4 gives R@5 67.1, .6 66.4, without a model 66.4.
    covered: float = 0.5


@dataclass(frozen=True, slots=True)
class Held:
    """What is left of the candidates, and how it is told."""

    rows: Ints
    past: Mapping[int, FactValidity] = field(
        default_factory=dict
    )  # rows of facts that are over
    also: Mapping[int, tuple[MemoryId, ...]] = field(
        default_factory=dict
    )  # what says the same

    def told(self, row: int, memory: Memory) -> Memory:
        """The memory in the words in which it is told."""
        standing = self.past.get(row)
        if standing is None:
            return memory
        until = (
            standing.until.astimezone() if standing.until is not None else None
        )  # days begin here
        return replace(memory, text=as_past(memory.text, until, standing.story))

    def text(self, mind: Mind, row: int) -> str:
        """The text of `told`, without the price of the memory."""
        if row in self.past:
            return self.told(row, mind.at(row)).text
        key = mind.id_at(row)
        return mind.facts.text_at(row, key) or mind.memories.text(key)

    def united(
        self, mind: Mind, row: int, answer: RecalledMemory, chat: ChatId | None
    ) -> RecalledMemory:
        """The answer with the messages, too, that told the same in other words."""
        found = (
            mind.at(at)
            for key in self.also.get(row, ())
            if (at := mind.row(key)) is not None
        )
        places = [place for memory in found for place in sources(mind, memory, chat)]
        if not places:
            return answer
        return replace(answer, sources=tuple(dict.fromkeys((*answer.sources, *places))))


def held(
    mind: Mind,
    scene: Scene,
    rows: Ints,
    score: Floats,
    params: HoldingParams | None = None,
) -> Held:
    """The candidates without those that others tell as well; `score`, of every row, is lowered for what is
    over.
    """
    p = params or HoldingParams()
    again = _said_again(mind, rows, score)
    left = _without(rows, again)
    retold = _retold(mind, left, score, p)
    left = _without(left, retold)
    left = left[
        ~np.isin(left, list(_spoken_for(mind, left, score, scene.max_items, p)))
    ]
    also = _joined(again, retold)
    standings = Standings(mind, scene.known, scene.request.chat)
    keys = {row: mind.id_at(row) for row in left.tolist() if mind.facts.is_at(row)}
    may_end = (
        row for row, key in keys.items() if standings.may_end(mind.edges.verb_of(key))
    )
    facts = {row: mind.edges.known(keys[row]) for row in may_end}
    edges = {
        row: edge
        for row, edge in facts.items()
        if not standings.is_alone(keys[row], edge)
    }
    if not edges:
        return Held(left, also=_keyed(mind, also))
    found = ((row, standings.claim(edge)) for row, edge in edges.items())
    claims = {row: claim for row, claim in found if claim is not None}
    standing = {row: standings.of(edges[row]) for row in claims}
    past = {row: one for row, one in standing.items() if one.by is not None}
    lowered = list(past)
    score[lowered] = scaled(score[lowered], np.full(len(lowered), p.past, np.float32))
    gone = _denials(claims, past)
    best_first = sorted(
        claims.keys() - gone, key=lambda row: (-float(score[row]), claims[row].key)
    )
    twice = _alike(
        best_first, lambda one, other: is_same_fact(claims[one], claims[other])
    )
    left = _without(left[~np.isin(left, list(gone))], twice)
    told = {row: one for row, one in past.items() if row in left}
    return Held(left, told, _keyed(mind, also | twice))


def _denials(
    claims: Mapping[int, FactClaim], past: Mapping[int, FactValidity]
) -> set[int]:
    """Of the facts that say that something is over those which need not be told: it is not, or what is over
    is told with since when.
    """
    enders = {one.by for one in past.values()}
    over = {row for row, claim in claims.items() if claim.relation.is_over}
    return {row for row in over if row in past or claims[row].key in enders}


def _said_again(mind: Mind, rows: Ints, score: Floats) -> dict[int, list[int]]:
    """Of messages in the very same words the best, with the others: said twice, or told by two chats."""
    columns = mind.columns
    said = rows[(columns.kind[rows] == _EPISODE) & (columns.origin[rows] == _CHAT)]
    same: dict[str, list[int]] = {}
    for row in sorted(said.tolist(), key=lambda row: -float(score[row])):
        same.setdefault(
            " ".join(mind.memories.text(mind.id_at(row)).split()).casefold(), []
        ).append(row)
    return {best: others for best, *others in same.values() if others}


def _retold(
    mind: Mind, rows: Ints, score: Floats, p: HoldingParams
) -> dict[int, list[int]]:
    """Of what tells one scene in nearly the same words the best, with the others: a draft and the only
    message it is drawn from, or drafts of several answers that read the same message.
    """
    columns = mind.columns
    scenes = rows[columns.kind[rows] == _EPISODE]
    drafted = scenes[columns.origin[scenes] == _MODEL].tolist()
    if not drafted:
        return {}
    cited = {row: frozenset(mind.derived.cited(mind.id_at(row))) for row in drafted}
    single = {next(iter(some)) for some in cited.values() if len(some) == 1}
    for row in scenes.tolist():
        if row not in cited and mind.id_at(row) in single:
            cited[row] = frozenset((mind.id_at(row),))
    words = {row: _words(mind, row) for row in cited}
    makers = {
        row: {one.id for one in mind.derived.of(mind.id_at(row))} for row in cited
    }

    def is_one(one: int, other: int) -> bool:
        if makers[one] and makers[other]:
            same = makers[one].isdisjoint(makers[other]) and not cited[one].isdisjoint(
                cited[other]
            )
        else:
            same = cited[one] == cited[other]
        return same and len(words[one] & words[other]) >= p.alike * len(
            words[one] | words[other]
        )

    return _alike(
        sorted(cited, key=lambda row: (-float(score[row]), mind.id_at(row))), is_one
    )


def _spoken_for(
    mind: Mind, rows: Ints, score: Floats, most: int, p: HoldingParams
) -> set[int]:
    """Of drafts in hardly other words than their messages' and of messages among the best `most` what the
    other tells as well: the worse of the two would only cost a place. A draft that fits the cue better stands
    for its messages, but not for one alone of several.
    """
    columns = mind.columns
    scenes = rows[columns.kind[rows] == _EPISODE]
    is_draft = columns.origin[scenes] == _MODEL
    drafts, others = scenes[is_draft], scenes[~is_draft]
    best = set(others[np.argsort(-score[others], kind="stable")[:most]].tolist())
    out: set[int] = set()
    for row in drafts[np.argsort(-score[drafts], kind="stable")].tolist():
        cited = [
            at
            for key in mind.derived.cited(mind.id_at(row))
            if (at := mind.row(key)) is not None
        ]
        told = [at for at in cited if at in best - out]
        words = _words(mind, row)
        said = {at: _words(mind, at) for at in cited}
        if not told or len(words & set().union(*said.values())) < p.alike * len(words):
            continue
        if len(told) == 1 < len(cited) or score[told].max() >= score[row]:
            out.add(row)
        else:
            out.update(
                at for at in told if len(words & said[at]) >= p.covered * len(said[at])
            )
    return out


def _words(mind: Mind, row: int) -> set[str]:
    return set(mind.tokeniser.tokens(mind.text_of(mind.id_at(row))))


def _alike(
    best_first: Iterable[int], is_one: Callable[[int, int], bool]
) -> dict[int, list[int]]:
    """For each row that others are one with those others."""
    out: dict[int, list[int]] = {}
    for row in best_first:
        same = next((one for one in out if is_one(one, row)), None)
        if same is None:
            out[row] = []
        else:
            out[same].append(row)
    return {row: others for row, others in out.items() if others}


def _joined(
    first: Mapping[int, list[int]], then: Mapping[int, list[int]]
) -> dict[int, list[int]]:
    """What is told by each row in the end, where some of those that tell others are told by others then."""
    out = {row: list(others) for row, others in first.items()}
    for row, others in then.items():
        mine = out.setdefault(row, [])
        mine += [one for other in others for one in (other, *out.pop(other, ()))]
    return out


def _without(rows: Ints, also: Mapping[int, Sequence[int]]) -> Ints:
    gone = [row for others in also.values() for row in others]
    return rows[~np.isin(rows, gone)] if gone else rows


def _keyed(
    mind: Mind, also: Mapping[int, Sequence[int]]
) -> dict[int, tuple[MemoryId, ...]]:
    return {row: tuple(map(mind.id_at, others)) for row, others in also.items()}

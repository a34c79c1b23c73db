"""Memories that come to mind by themselves: one now and then, drawn by the roulette over the weights.

The functions are for the compute thread; `Roulette` calls them there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from soulmem.domain.dialogue import Role
from soulmem.domain.ids import ChatId, MemoryId, Owner, SlotId, SoulId
from soulmem.domain.memories import MemoryKind
from soulmem.domain.soul import Push
from soulmem.engine.api.requests import RecallRequest, RecallType
from soulmem.engine.api.results import Recalled
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.context import RecallContext
from soulmem.engine.recall.memory_weights import weights_of
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.views.doubted import rows_in_doubt
from soulmem.engine.world.services import Services
from soulmem.engine.world.world import World
from soulmem.graph.arcs import MEMORY_KINDS
from soulmem.kernels.arrays import Bools, Float64s, Int64s
from soulmem.retrieval.action_selection import draw_number
from soulmem.retrieval.weights import WeightParams

# When a memory may come to mind by itself; design 9.
# Exchanges from one to the next at least; 0 where none comes
GAPS = {Push.OFF: 0, Push.RARE: 20, Push.OFTEN: 8}
CALM = 0.6  # 0..1, from this intensity of a feeling on none comes
# 0..1, importance of plain talk (design 2): what is not above it is not worth telling unasked.
PLAIN = 0.2


def drawn(weights: Float64s, numbers: Float64s) -> Int64s:
    """For each number, 0..1 (1 excluded), the position that it draws: each by its share of the weights.

    No weight may be below 0, and their sum must be above 0.
    """
    bounds = np.cumsum(weights)
    positions = np.searchsorted(bounds, numbers * bounds[-1], side="right")
    last = int(np.flatnonzero(weights)[-1])
    return np.minimum(np.asarray(positions, np.int64), last)


def first_moment(story: str, exchange: int, gap: int) -> int | None:
    """The first exchange of the span around `exchange` at which a memory may come; None outside of a span.

    Spans are a quarter of `gap` long and begin at random, by `story`, one and a half
    times `gap` from one to the next on average: one in each keeps `gap` exchanges
    between any two.
    """
    half = gap // 4
    period = gap + 2 * half
    number = exchange // period
    first = number * period + int(draw_number(story, str(number), "push") * (half + 1))
    return first if first <= exchange <= first + half else None


# Kinds that can be told by themselves: what happened, and what was noted.
_KINDS = [
    MEMORY_KINDS.index(kind)
    for kind in (
        MemoryKind.EPISODE,
        MemoryKind.ABSTRACT_EPISODE,
        MemoryKind.NOTE,
    )
]
_DRAWS = 12  # tries, where what is drawn stands in the prompt already
_MOST_ROWS = 4096  # candidates of one draw; of a larger soul a random part

_Key = tuple[Owner, SoulId, ChatId]


@dataclass(frozen=True, slots=True)
class PushMoment:
    """A reply for which a memory may come to mind by itself."""

    key: _Key
    exchange: int  # number in the chat
    first: int  # exchange from which on one may come
    slot: SlotId
    seed: tuple[str, ...]


class Pushes:
    """When memories come to mind by themselves, and which.

    The moments follow from the chat alone. What came is noted, so that a moment that was
    missed, as the character was moved, is made up for soon after; without the note, after
    a restart, it is not.
    """

    def __init__(self, weight: WeightParams) -> None:
        self._weight = weight
        # By exchange of the present span: the reply, and what came, None for nothing.
        self._came: dict[_Key, dict[int, tuple[SlotId, MemoryId | None]]] = {}

    def moment(self, world: World, mind: Mind, request: RecallRequest) -> PushMoment | None:
        """The moment of this recall, where one may come. Runs on the event loop."""
        push = mind.soul.settings.push
        if push is Push.OFF or request.type is not RecallType.NORMAL:
            return None
        log = world.loaded_log(request.chat) if request.chat is not None else None
        if log is None or request.chat is None or request.slot is None:
            return None
        stop = log.index.get(request.slot, len(log.messages))
        before = log.messages[:stop]
        replies = sum(message.role is Role.USER for message in before)
        exchange = max(0, replies - 1)  # the first reply is that of exchange 0
        story = world.family(request.chat)
        first = first_moment(f"{story}/{mind.soul.id}", exchange, GAPS[push])
        if first is None:
            return None
        key = world.owner, mind.soul.id, request.chat
        seed = (request.chat, request.slot, str(request.swipe or 0), "push")
        return PushMoment(key, exchange, first, request.slot, seed)

    @compute_only
    def candidates(
        self, mind: Mind, context: RecallContext, moment: PushMoment | None
    ) -> Iterator[int]:
        """Rows in the order in which they are drawn; none where none may come now."""
        if moment is None or not self._is_open(context, moment):
            return
        rows = pushable_rows(mind, context.visible)
        plain = np.float32(PLAIN)
        rows = rows[mind.columns.importance[rows] > plain]
        if rows.size > _MOST_ROWS:
            number = draw_number(*moment.seed, "part")
            chosen = np.random.default_rng(int(number * 2**53))
            rows = np.sort(chosen.choice(rows, _MOST_ROWS, replace=False))
        weights = weights_of(
            mind,
            rows,
            self._weight,
            extra_turns=context.extra_turns,
            chat=context.request.chat,
        ).astype(np.float64)
        for draw in range(min(_DRAWS, rows.size)):
            if weights.sum() <= 0:
                return
            numbers = np.asarray([draw_number(*moment.seed, str(draw))])
            position = int(drawn(weights, numbers)[0])
            weights[position] = 0.0
            yield int(rows[position])

    def note(self, moment: PushMoment | None, answer: Recalled) -> None:
        """Note the memories that came at this moment."""
        if moment is not None:
            pushed = (memory.id for memory in answer.memories if memory.pushed)
            memory = next(pushed, None)
            span = self._came.get(moment.key, {})
            kept = {e: came for e, came in span.items() if e >= moment.first}
            self._came[moment.key] = kept | {moment.exchange: (moment.slot, memory)}

    def _is_open(self, context: RecallContext, moment: PushMoment) -> bool:
        if max(context.mood.values(), default=0.0) >= CALM:
            return False
        span = self._came.get(moment.key, {})
        slot, came = span.get(moment.exchange, (moment.slot, None))
        if slot != moment.slot and came is not None:
            return False
        earlier = range(moment.first, moment.exchange)
        return all(e in span and span[e][1] is None for e in earlier)


@compute_only
def pushable_rows(mind: Mind, visible: Bools) -> Int64s:
    """The rows of memories that may come by themselves, among those that are visible; permanent ones never."""
    n = mind.size
    columns = mind.columns
    rows = visible[:n] & np.isin(columns.kind[:n], _KINDS) & ~columns.permanent[:n]
    rows[rows_in_doubt(mind)] = False
    return np.flatnonzero(rows)


@compute_only
def weights_by_id(mind: Mind, weight: WeightParams, extra_turns: int) -> dict[MemoryId, float]:
    """The present weight of each memory that the roulette may draw."""
    rows = pushable_rows(mind, mind.columns.active[: mind.size])
    weights = weights_of(mind, rows, weight, extra_turns=extra_turns)
    return dict(zip(mind.ids_at(rows.tolist()), weights.tolist(), strict=True))


@compute_only
def roulette_counts(
    mind: Mind, weight: WeightParams, extra_turns: int, count: int, seed: int
) -> tuple[dict[MemoryId, int], dict[MemoryId, float]]:
    """How often each memory comes in `count` draws, and the weights; without weight nothing comes."""
    weights = weights_by_id(mind, weight, extra_turns)
    values = np.fromiter(weights.values(), np.float64, len(weights))
    if not values.sum() > 0:
        return {}, weights
    numbers = np.random.default_rng(seed).random(count)
    times = np.bincount(drawn(values, numbers), minlength=values.size).tolist()
    counts = {key: n for key, n in zip(weights, times, strict=True) if n}
    return counts, weights


@dataclass(frozen=True, slots=True)
class Draws:
    """How often each memory came (those that did not are left out), and the weight of each."""

    counts: dict[MemoryId, int]
    weights: dict[MemoryId, float]


class Roulette:
    """Draws memories as a push does, without telling them."""

    def __init__(self, services: Services, *, weight: WeightParams) -> None:
        self._world_of = services.world_of
        self._compute = services.compute
        self._clock = services.clock
        self._weight = weight

    async def draws(self, owner: Owner, soul: SoulId, count: int, seed: int) -> Draws:
        """So many draws over the present weights. Raises NotFound."""
        world = await self._world_of(owner)
        mind = await world.mind(world.soul(soul).id)
        counts, weights = await self._compute.run(
            roulette_counts, mind, self._weight, self._clock.extra_turns, count, seed
        )
        return Draws(counts, weights)

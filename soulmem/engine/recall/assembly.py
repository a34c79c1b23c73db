"""How the best memories become an answer: choice, blocks, and the reason for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from soulmem.assembly.compose import (
    Budget,
    PromptBlock,
    PromptLine,
    language_of,
    line_of,
)
from soulmem.assembly.why import Cause, Reason, reason_sentence
from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import MemoryId, new_id
from soulmem.domain.memories import Memory
from soulmem.domain.situation import ParticipantKind
from soulmem.engine.api.results import (
    Block,
    BlockItem,
    Considered,
    PathStep,
    Recalled,
    RecalledMemory,
    Timings,
)
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.activation import Thought
from soulmem.engine.recall.habit_lines import label, others, recalled_habit, take_habits
from soulmem.engine.recall.habits import Habit
from soulmem.engine.recall.ranking import Ranked
from soulmem.engine.recall.scene import Scene
from soulmem.engine.recall.walks import Way
from soulmem.engine.views.provenance import sources
from soulmem.retrieval.diversity import choose_diverse
from soulmem.retrieval.repeats import ContextText, is_sentence, units_of
from soulmem.retrieval.reserved_slots import order_with_slots

Ints = NDArray[np.int64]

_SUMMARY = 1 / 3  # of the room left, that a chat's summary may take
_IN_PROMPT = "the prompt says it already"
_NOT_CHOSEN = "others were better, more varied, or the budget was spent"
_COMMON = 20  # a word in more than one of so many memories is no reason


def assemble(
    mind: Mind,
    scene: Scene,
    ranked: Ranked,
    novelty: float,
    habits: Sequence[Habit] = (),
) -> tuple[Recalled, tuple[Considered, ...]]:
    """The answer within budget, and every memory that was considered. Computes.

    `novelty` 0..1 weighs against repeating oneself. `habits` go in after what is permanent and before all
    else, each once.
    """
    core_rows = np.flatnonzero(mind.columns.permanent[: mind.size] & scene.visible)
    permanent = sorted(
        (mind.at(int(row)) for row in core_rows), key=lambda m: (-m.importance, m.id)
    )
    rows = ranked.rows.tolist()  # of the candidates: most are only looked at, not made
    keys = [mind.id_at(row) for row in rows]
    texts_of = [ranked.held.text(mind, row) for row in rows]
    language = language_of([text for text, _ in scene.cue.said] + texts_of[:5])
    budget = Budget(scene.budget, mind.soul.name, language)
    context = ContextText(scene.context) if scene.context else None
    standing = (
        ContextText(scene.context) if scene.context else None
    )  # and what the answer itself tells
    fired = {habit.action for habit in habits if habit.fired}
    untold = [
        m
        for m in permanent
        if m.id not in fired and _rest(mind, standing, m) is not None
    ]
    core = [(m, line) for m in untold if budget.take(line := line_of(m))]
    fitting = {m.id for m, _ in core}
    mind.left_out = tuple(m.id for m in untold if m.id not in fitting)
    summary = _summary(mind, scene, standing, budget)
    if standing is not None:
        for memory, _ in (*core, *summary):
            standing.add(memory.text)
        # That a habit shows now the prompt does not say, though it names it: what fires is told all the same.
        habits = [
            one
            for one in habits
            if one.fired or _rest(mind, standing, mind.memories[one.action])
        ]
    told = take_habits(mind, habits, {m.id for m in permanent}, budget, scene.max_items)
    free = others(mind, rows, told)
    costs = mind.costs(rows, dict(zip(rows, texts_of, strict=True)).__getitem__)
    made: dict[int, Memory] = {}
    repeated: set[MemoryId] = set()

    def is_new(i: int) -> bool:
        """Whether there is anything to tell of a candidate that the prompt does not say."""
        memory = ranked.held.told(rows[i], mind.at(rows[i]))
        # A fact of a few words may stand beside the message that told it: it knows since when it holds, and
        # who said so as well. What the context says in so many words needs neither.
        short_fact = memory.id in mind.facts and not is_sentence(units_of(memory.text))
        rest = _rest(mind, context if short_fact else standing, memory)
        if rest is None:
            repeated.add(memory.id)
            return False
        if standing is not None:
            standing.add(rest)
        made[i] = memory if rest == memory.text else replace(memory, text=rest)
        return True

    picked = _pick(
        mind, ranked, free, costs, budget, novelty, scene.max_items - len(told), is_new
    )
    taken: list[tuple[int, PromptLine]] = []
    for i in picked:
        line = line_of(made[i])
        if budget.take(line):
            taken.append((i, line))
    taken.sort(key=lambda pair: pair[0])  # candidates stand by score
    chosen = [
        *core,
        *summary,
        *((t.memory, t.line) for t in told),
        *((made[i], line) for i, line in taken),
    ]
    ages = _ages(mind, scene, [m for m, _ in chosen])

    def when(memory: Memory) -> tuple[float, int]:
        row = mind.row_of(memory)
        return float(mind.columns.happened[row]), int(ranked.position[row])

    texts = budget.blocks(chosen, when)
    shared = _shared_words(mind, scene, [made[i] for i, _ in taken])
    memories = [
        _recalled(
            mind, scene, m, line, 1.0, Reason(Cause.PERMANENT, (), ages[m.id]), language
        )
        for m, line in core
    ]
    so_far = [
        _recalled(
            mind, scene, m, line, 0.0, Reason(Cause.SUMMARY, (), ages[m.id]), language
        )
        for m, line in summary
    ]
    lines = dict(taken)
    front, behind = (
        _places(ranked, rows) for rows in (ranked.seats.front, ranked.seats.behind)
    )
    order = order_with_slots(list(lines), ranked.score, front, behind)
    score = _falling([_squash(float(ranked.score[i])) for i in order])
    ways = _ways(ranked, ranked.rows[order])
    for i, shown in zip(order, score, strict=True):
        row, memory = rows[i], made[i]
        way = ways.get(row) if row not in ranked.learned else ranked.thought(row)
        reason = _reason(
            mind, scene, ranked, i, way, shared.get(memory.id, ()), ages[memory.id]
        )
        found = _recalled(mind, scene, memory, lines[i], shown, reason, language, way)
        memories.append(ranked.held.united(mind, row, found, scene.request.chat))
    memories += [
        recalled_habit(mind, scene, one, ages[one.memory.id], language) for one in told
    ]
    memories.sort(key=lambda m: -m.score)
    memories += so_far
    kept = {m.id for m in memories}
    looked_at = set(keys)
    considered = tuple(
        Considered(
            one.memory.id, one.memory.text, one.habit.share, None, 0.0, True, None
        )
        for one in told
        if one.memory.id not in looked_at
    ) + tuple(
        Considered(
            id=key,
            text=text,
            score=float(ranked.score[i]),
            dense=None if np.isnan(ranked.dense[i]) else float(ranked.dense[i]),
            lexical=float(ranked.lexical[i]),
            kept=key in kept,
            cut=None if key in kept else _IN_PROMPT if key in repeated else _NOT_CHOSEN,
        )
        for i, (key, text) in enumerate(zip(keys, texts_of, strict=True))
    )
    answer = Recalled(
        trace=new_id("t"),
        memories=tuple(memories),
        blocks=tuple(_block(text) for text in texts),
        tokens=sum(text.tokens for text in texts),
        timed_out=False,
        took_ms=Timings(),
    )
    return answer, considered


def _summary(
    mind: Mind, scene: Scene, standing: ContextText | None, budget: Budget
) -> list[tuple[Memory, PromptLine]]:
    """The summary of the chat, where it leaves most of the room to memories."""
    rest = _rest(mind, standing, scene.summary) if scene.summary is not None else None
    if scene.summary is None or rest is None:
        return []
    memory = replace(scene.summary, text=rest)
    line = line_of(memory)
    if line.tokens > _SUMMARY * budget.tokens_left or not budget.take(line):
        return []
    return [(memory, line)]


def _rest(mind: Mind, standing: ContextText | None, memory: Memory) -> str | None:
    """What of the memory the prompt does not say yet; None when that is next to nothing.

    What is permanent is told in the user's own words: whole, or not at all.
    """
    if standing is None:
        return memory.text
    speakers = (
        p.name
        for p in memory.situation.participants
        if p.kind is not ParticipantKind.UNKNOWN
    )
    rest = standing.rest_of(memory.text, (*speakers, mind.soul.name))
    return memory.text if memory.permanent and rest is not None else rest


def _pick(
    mind: Mind,
    ranked: Ranked,
    free: Sequence[int],
    costs: Ints,
    budget: Budget,
    novelty: float,
    most: int,
    is_new: Callable[[int], bool],
) -> list[int]:
    if not free or most <= 0:
        return []
    table = mind.embedded.turns
    rows = ranked.rows[free]
    vectors = (
        table.rows(rows)
        if table is not None
        else np.full((rows.size, 1), np.nan, np.float32)
    )
    place = {at: i for i, at in enumerate(free)}
    seated = (
        *ranked.of_time,
        *ranked.seats.front,
        *ranked.seats.behind,
        *ranked.of_kind,
    )
    chosen = choose_diverse(
        ranked.score[np.asarray(free)],
        vectors,
        costs[free] + 1,
        budget=budget.tokens_left,
        max_items=most,
        novelty=novelty,
        reserved=[place[at] for at in _places(ranked, seated) if at in place],
        is_new=lambda at: is_new(free[at]),
    )
    return [free[i] for i in chosen]


def _ages(mind: Mind, scene: Scene, memories: Sequence[Memory]) -> dict[MemoryId, int]:
    """How many exchanges ago each of these took place."""
    rows = np.asarray([mind.row_of(memory) for memory in memories], np.int64)
    ages = mind.ages(scene.request.chat, scene.extra_turns, rows).tolist()
    return {memory.id: age for memory, age in zip(memories, ages, strict=True)}


def _recalled(
    mind: Mind,
    scene: Scene,
    memory: Memory,
    line: PromptLine,
    score: float,
    reason: Reason,
    language: str,
    way: Way | Thought | None = None,
) -> RecalledMemory:
    return RecalledMemory(
        id=memory.id,
        kind="fact" if memory.id in mind.facts else memory.kind.value,
        text=line.text,
        score=score,
        hops=way.hops if way is not None else 0,
        permanent=memory.permanent,
        fired=False if memory.kind.value == "action" else None,
        why=reason_sentence(reason, mind.soul.name, language),
        path=_path(mind, memory, way),
        edges=tuple(edge.id for edge in way.edges) if isinstance(way, Way) else (),
        sources=sources(mind, memory, scene.request.chat),
        age_turns=reason.age_turns,
        visibility=1.0,
    )


def _ways(ranked: Ranked, rows: Ints) -> dict[int, Way]:
    """How each of these rows was come to; what has a seat for association is told by associations."""
    if ranked.walk is None:
        return {}
    seated = np.isin(rows, [*ranked.seats.front, *ranked.seats.behind])
    return {**ranked.walk.ways(rows), **ranked.walk.associations(rows[seated])}


def _path(
    mind: Mind, memory: Memory, way: Way | Thought | None
) -> tuple[PathStep, ...]:
    """The way to the memory step by step; a relation goes by its verb."""
    if way is None:
        return (PathStep(memory.id, label(memory.text), None),)
    if isinstance(way, Thought):
        return (
            *way.steps,
            PathStep(memory.id, label(memory.text), EdgeKind.MENTIONS.value),
        )
    led = (None, *(edge.verb or edge.kind.value for edge in way.edges))
    steps = (mind.at(row) for row in way.rows)
    return tuple(
        PathStep(m.id, label(m.text), edge) for m, edge in zip(steps, led, strict=True)
    )


def _shared_words(
    mind: Mind, scene: Scene, memories: Sequence[Memory]
) -> dict[MemoryId, tuple[str, ...]]:
    """For each memory the rarest words it shares with the cue, at most two, as the cue writes them.

    Words that many memories hold explain nothing, nor do the names of those who talk.
    """
    cue = "\n".join(text for text, _ in scene.cue.said)
    common = max(3, len(mind.memories) // _COMMON)
    out = {}
    for memory in memories:
        talking = (
            p
            for p in memory.situation.participants
            if p.kind is not ParticipantKind.UNKNOWN
        )
        names = [mind.soul.name, *(p.name for p in talking)]
        rarity = {
            word: min(
                (mind.words.frequency(t) for t in mind.tokeniser.tokens(word)),
                default=common + 1,
            )
            for word in mind.tokeniser.shared(cue, memory.text)
            if not any(word.casefold() in name.casefold() for name in names)
        }
        rare = sorted(
            (w for w in rarity if rarity[w] <= common),
            key=lambda w: (rarity[w], -len(w), w),
        )
        out[memory.id] = tuple(rare[:2])
    return out


def _reason(
    mind: Mind,
    scene: Scene,
    ranked: Ranked,
    at: int,
    way: Way | Thought | None,
    shared: tuple[str, ...],
    age: int,
) -> Reason:
    """What brought it up most: the time asked for, its own text, what stands beside it, or what led to it."""
    alone = float(
        ranked.alone[at]
    )  # standard deviations above what memories usually score
    beside = float(ranked.text[at]) - alone
    asked, row = scene.asked, int(ranked.rows[at])
    if asked is not None and (asked.only or (alone < 1.0 and row in ranked.of_time)):
        time = asked.named(row)
        if time is not None:
            return Reason(Cause.TIME, shared, age, time=time)
    if isinstance(way, Thought):
        return Reason(
            Cause.LEARNED, shared, age, tuple(step.label for step in way.steps)
        )
    if way is not None and [edge.kind for edge in way.edges] == [EdgeKind.NEXT]:
        return Reason(Cause.NEIGHBOUR, shared, age)
    seated = row in ranked.seats.front or row in ranked.seats.behind
    if way is not None and (seated or max(alone, beside) < 1.0):
        passed = tuple(mind.at(row).text for row in way.rows[:-1])
        if way.hops > 1 or not shared:
            return Reason(Cause.ASSOCIATION, shared, age, passed)
    if alone < 1.0 < beside:
        return Reason(Cause.NEIGHBOUR, shared, age)
    if ranked.lexical[at] > 0 and shared:
        return Reason(Cause.WORDS, shared, age)
    return Reason(
        Cause.NOTHING if np.isnan(ranked.dense[at]) else Cause.MEANING, (), age
    )


def _places(ranked: Ranked, rows: Sequence[int]) -> list[int]:
    """Where these rows stand among the candidates, each once."""
    at = {row: i for i, row in enumerate(ranked.rows.tolist())}
    return [
        at[row] for row in dict.fromkeys(rows) if row in at
    ]  # of two that say the same one is left


def _falling(scores: Sequence[float]) -> list[float]:
    """The scores, none below one that stands behind it: who has a seat counts as much as who stands there."""
    return [
        float(s)
        for s in np.maximum.accumulate(np.asarray(scores, np.float64)[::-1])[::-1]
    ]


def _squash(score: float) -> float:
    """A standardised score as 0..1, order kept."""
    return round(1.0 / (1.0 + float(np.exp(-score / 2))), 9)


def _block(text: PromptBlock) -> Block:
    return Block(
        section=text.section.value,
        position=text.position,
        depth=text.depth,
        role="system",
        text=text.text,
        tokens=text.tokens,
        items=tuple(
            BlockItem(line.memory, line.text, line.tokens) for line in text.lines
        ),
    )

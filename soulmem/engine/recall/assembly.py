"""The answer of a recall: the candidates that fit the budget, blocks of the prompt, and reasons."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from soulmem.assembly.compose import (
    PromptBlock,
    PromptLine,
)
from soulmem.assembly.why import Cause, NamedTime, Reason, reason_sentence
from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import MemoryId, new_id
from soulmem.domain.memories import Memory
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
from soulmem.engine.recall.absence import absent_names
from soulmem.engine.recall.activation import TermPath
from soulmem.engine.recall.context import RecallContext
from soulmem.engine.recall.decision import Judged
from soulmem.engine.recall.digest_recall import DigestCandidate, places_of_digests
from soulmem.engine.recall.faded_reading import FadedMemory
from soulmem.engine.recall.habit_lines import (
    HabitLine,
    label,
    recalled_habit,
    select_habits,
)
from soulmem.engine.recall.habits import Habit
from soulmem.engine.recall.ranking import Ranked
from soulmem.engine.recall.selection import (
    Chosen,
    Selection,
    names_in,
    permanent_memories,
    positions_of,
)
from soulmem.engine.recall.walks import WalkPath
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.views.concept_activation import ages_of_last_telling
from soulmem.engine.views.provenance import source_places
from soulmem.kernels.arrays import Float32s, Int64s
from soulmem.retrieval.reserved_slots import order_with_slots

Path = WalkPath | TermPath
Words = tuple[str, ...]

_COMMON = 20  # a word in more than one of so many memories is no reason


@compute_only
def assemble(
    mind: Mind,
    context: RecallContext,
    ranked: Ranked,
    novelty: float,
    habits: Sequence[Habit] = (),
    *,
    judged: Judged,
    pushed: Iterable[int] = (),
    digests: Sequence[DigestCandidate] = (),
) -> tuple[Recalled, tuple[Considered, ...]]:
    """The answer within budget, and every memory that was considered.

    `novelty` 0..1 weighs against repeating oneself. `habits` go in after what is permanent and before all
    else, each once. Where the query calls for no memory, nothing else goes in but the first of the rows
    `pushed` that fits: it comes by itself. Of `digests` those of a time that is asked for have places of their
    own; one at most comes unasked, where there is room.
    """
    selection = Selection(mind, context, ranked, judged)
    permanent = permanent_memories(mind, context)
    core = selection.take_core(permanent, habits)
    summary = selection.take_summary()
    selection.add_to_prompt(memory for memory, _ in (*core, *summary))
    shown = select_habits(
        mind,
        selection.open_habits(habits),
        {memory.id for memory in permanent},
        selection.budget,
        context.max_items,
    )
    candidates = selection.take_candidates(
        shown,
        novelty,
        judged=judged,
        places=context.max_items - places_of_digests(digests, context.max_items),
    )
    used = len(shown) + len(candidates)
    told = selection.take_digests(digests, candidates, context.max_items - used)
    chosen = [*core, *summary, *((habit.memory, habit.line) for habit in shown)]
    chosen += [(selection.faded[i].memory, line) for i, line in candidates.items()]
    chosen += [(memory, line) for _, memory, line in told]
    by_itself = selection.take_pushed(pushed, {memory.id for memory, _ in chosen})
    chosen += [(faded.memory, line) for faded, line in by_itself]
    rows = selection.rows_of(memory for memory, _ in chosen)

    def happened_at(memory: Memory) -> tuple[float, int]:
        row = rows[memory.id]
        return float(mind.columns.happened[row]), int(ranked.position[row])

    blocks = selection.budget.blocks(chosen, happened_at)
    absence = selection.budget.absence(absent_names(judged))
    blocks += [absence] if absence is not None else []
    ages = _ages(mind, context, rows)
    view = _View(mind, context, ranked, selection, ages, judged)
    memories = view.always_shown(core, 1.0, Cause.PERMANENT)
    memories += view.candidates(candidates, selection)
    memories += view.digests(told, min((m.score for m in memories), default=1.0))
    memories += view.habits(shown)
    memories.sort(key=lambda memory: -memory.score)
    memories += view.pushed(by_itself)
    memories += view.always_shown(summary, 0.0, Cause.SUMMARY)
    answer = Recalled(
        trace=new_id("t"),
        memories=tuple(memories),
        blocks=tuple(block_of(block) for block in blocks),
        tokens=sum(block.tokens for block in blocks),
        timed_out=False,
        took_ms=Timings(),
        withheld=selection.withheld,
    )
    return answer, selection.considered(shown, {memory.id for memory in memories})


class _View:
    """Describes the memories of the answer: score, reason, path and sources."""

    def __init__(
        self,
        mind: Mind,
        context: RecallContext,
        ranked: Ranked,
        selection: Selection,
        ages: dict[MemoryId, int],
        judged: Judged,
    ) -> None:
        """`ages`: how many exchanges ago each memory took place"""
        self._mind = mind
        self._context = context
        self._ranked = ranked
        self._language = selection.language
        self._facts = selection.facts
        self._ages = ages
        self._judged = judged

    def always_shown(
        self, chosen: Sequence[Chosen], score: float, cause: Cause
    ) -> list[RecalledMemory]:
        """Memories that are in the answer whatever the query."""
        out = []
        for memory, line in chosen:
            reason = Reason(cause, (), self._ages[memory.id])
            out.append(self._recalled(memory, line, score, reason))
        return out

    def pushed(self, chosen: Sequence[tuple[FadedMemory, PromptLine]]) -> list[RecalledMemory]:
        """Memories that came by themselves."""
        out = []
        for faded, line in chosen:
            (shown,) = self.always_shown([(faded.memory, line)], 0.0, Cause.PUSHED)
            out.append(replace(_as_read(shown, faded), pushed=True))
        return out

    def candidates(
        self, lines: dict[int, PromptLine], selection: Selection
    ) -> list[RecalledMemory]:
        """The candidates in the answer, in the order in which they are displayed."""
        mind, ranked = self._mind, self._ranked
        slots = ranked.association_slots
        front, behind = (
            positions_of(ranked, slots.front),
            positions_of(ranked, slots.behind),
        )
        order = order_with_slots(list(lines), ranked.score, front, behind)
        scores = _displayed(ranked.score[order])
        walk_paths = _walk_paths(mind, ranked, ranked.rows[order])
        query = "\n".join(text for text, _ in self._context.query.word_parts)
        rendered = selection.rendered
        shared = _shared_words(mind, query, [rendered[i] for i in order])
        chat = self._context.request.chat
        out = []
        for i, score in zip(order, scores, strict=True):
            row, memory = int(ranked.rows[i]), rendered[i]
            path: Path | None = ranked.learned_path(row) or walk_paths.get(row)
            age = self._ages[memory.id]
            reason = replace(
                self._reason(i, path, shared[memory.id], age),
                weighed=self._judged.weighed(row),
            )
            answer = self._recalled(memory, lines[i], score, reason, path)
            answer = _as_read(answer, selection.faded[i])
            if row in ranked.deduplicated.duplicates:
                answer = ranked.deduplicated.with_duplicate_sources(mind, row, answer, chat)
            out.append(answer)
        return out

    def digests(
        self, told: Sequence[tuple[DigestCandidate, Memory, PromptLine]], least: float
    ) -> list[RecalledMemory]:
        """Digests, which stand behind what they tell; `least` is the lowest score of that."""
        out = []
        for digest, memory, line in told:
            cause = Cause.MEANING if digest.time is None else Cause.TIME
            reason = Reason(cause, (), self._ages[memory.id], time=digest.time)
            out.append(self._recalled(memory, line, least, reason))
        return out

    def habits(self, shown: Sequence[HabitLine]) -> list[RecalledMemory]:
        """The habits in the answer."""
        out = []
        for habit in shown:
            age = self._ages[habit.memory.id]
            out.append(recalled_habit(self._mind, self._context, habit, age, self._language))
        return out

    def _recalled(
        self,
        memory: Memory,
        line: PromptLine,
        score: float,
        reason: Reason,
        path: Path | None = None,
    ) -> RecalledMemory:
        mind = self._mind
        edges = path.edges if isinstance(path, WalkPath) else ()
        return RecalledMemory(
            id=memory.id,
            kind="fact" if memory.id in self._facts else memory.kind.value,
            text=line.text,
            score=score,
            hops=path.hops if path is not None else 0,
            permanent=memory.permanent,
            fired=False if memory.kind.value == "action" else None,
            why=reason_sentence(reason, mind.soul.name, self._language, is_blurred=line.is_masked),
            path=_steps(mind, memory, path),
            edges=tuple(edge.id for edge in edges),
            sources=source_places(mind, memory, self._context.request.chat, self._context.reached),
            age_turns=reason.age_turns,
            visibility=1.0,
        )

    def _reason(self, position: int, path: Path | None, shared: Words, age: int) -> Reason:
        """The main cause of a candidate: the time asked for, its own text, its neighbours, or its path."""
        ranked = self._ranked
        row = int(ranked.rows[position])
        # Standard deviations above what memories usually score.
        alone = float(ranked.alone[position])
        beside = float(ranked.text[position]) - alone
        time = self._asked_time(row, alone)
        if time is not None:
            return Reason(Cause.TIME, shared, age, time=time)
        if isinstance(path, TermPath):
            labels = tuple(step.label for step in path.steps)
            return Reason(Cause.LEARNED, shared, age, labels)
        if path is not None:
            is_weak = max(alone, beside) < 1.0
            reason = self._walk_reason(row, path, shared, age, is_weak)
            if reason is not None:
                return reason
        if alone < 1.0 < beside:
            return Reason(Cause.NEIGHBOUR, shared, age)
        if ranked.lexical[position] > 0 and shared:
            return Reason(Cause.WORDS, shared, age)
        has_vector = not np.isnan(ranked.dense[position])
        return Reason(Cause.MEANING if has_vector else Cause.NOTHING, (), age)

    def _asked_time(self, row: int, alone: float) -> NamedTime | None:
        """The time that the row is of, where the query asks for it and the text does not fit by itself."""
        asked = self._context.asked_time
        if asked is None:
            return None
        if asked.only_time or (alone < 1.0 and row in self._ranked.time_slots):
            return asked.time_of(row)
        return None

    def _walk_reason(
        self, row: int, path: WalkPath, shared: Words, age: int, is_weak: bool
    ) -> Reason | None:
        """The path as a reason; None where the text of the row says more. `is_weak`: the text fits little."""
        if [edge.kind for edge in path.edges] == [EdgeKind.NEXT]:
            return Reason(Cause.NEIGHBOUR, shared, age)
        slots = self._ranked.association_slots
        has_slot = row in slots.front or row in slots.behind
        if (has_slot or is_weak) and (path.hops > 1 or not shared):
            passed = tuple(self._mind.texts_at(path.rows[:-1]))
            return Reason(Cause.ASSOCIATION, shared, age, passed)
        return None


def _as_read(memory: RecalledMemory, faded: FadedMemory) -> RecalledMemory:
    """The memory with how clear it was when it was read out."""
    return replace(
        memory,
        visibility=faded.visibility,
        slowing=faded.slowing,
        is_masked=faded.is_masked,
    )


def _ages(mind: Mind, context: RecallContext, rows: dict[MemoryId, int]) -> dict[MemoryId, int]:
    """How many exchanges ago the memory at each of these rows took place."""
    listed = np.fromiter(rows.values(), np.int64, len(rows))
    chat, extra = context.request.chat, context.extra_turns
    ages = ages_of_last_telling(mind, chat, extra, listed)
    return dict(zip(rows, ages.tolist(), strict=True))


def _walk_paths(mind: Mind, ranked: Ranked, rows: Int64s) -> dict[int, WalkPath]:
    """How the walk reached each of these rows; over associations alone those with a slot for association."""
    opened = _opened_paths(mind, ranked, set(rows.tolist()))
    if ranked.walk is None:
        return opened
    slots = ranked.association_slots
    has_slot = np.isin(rows, [*slots.front, *slots.behind])
    paths = ranked.walk.paths(rows)
    return {**opened, **paths, **ranked.walk.association_paths(rows[has_slot])}


def _opened_paths(mind: Mind, ranked: Ranked, rows: set[int]) -> dict[int, WalkPath]:
    """How memory vectors opened each of these rows."""
    paths = {}
    for way in ranked.expansion.opened:
        if way.row in rows:
            edges = [mind.edges.get(key) for key in way.edges]
            paths[way.row] = WalkPath(way.rows, tuple(filter(None, edges)))
    return paths


def _steps(mind: Mind, memory: Memory, path: Path | None) -> tuple[PathStep, ...]:
    """The path to the memory step by step; a relation is shown by its verb."""
    if path is None:
        return (PathStep(memory.id, label(memory.text), None),)
    if isinstance(path, TermPath):
        edge = EdgeKind.MENTIONS.value
        return (*path.steps, PathStep(memory.id, label(memory.text), edge))
    edges = (None, *(edge.verb or edge.kind.value for edge in path.edges))
    keys, texts = mind.ids_at(path.rows), mind.texts_at(path.rows)
    return tuple(
        PathStep(key, label(text), edge) for key, text, edge in zip(keys, texts, edges, strict=True)
    )


def _shared_words(mind: Mind, query: str, memories: Sequence[Memory]) -> dict[MemoryId, Words]:
    """The rarest words that each memory shares with the query, at most two, as the query writes them.

    Words that many memories contain explain nothing, nor do the names of those who talk.
    """
    shared = [mind.tokeniser.shared(query, memory.text) for memory in memories]
    rarity = _rarities(mind, dict.fromkeys(chain.from_iterable(shared)))
    common = max(3, len(mind.memories) // _COMMON)
    out = {}
    for memory, words in zip(memories, shared, strict=True):
        names = [name.casefold() for name in names_in(mind, memory)]
        rare = []
        for word in words:
            if rarity.get(word, common + 1) <= common and not _is_in(word, names):
                rare.append((rarity[word], -len(word), word))
        out[memory.id] = tuple(word for _, _, word in sorted(rare)[:2])
    return out


def _rarities(mind: Mind, words: Iterable[str]) -> dict[str, int]:
    """In how many memories the rarest token of each word occurs; words without tokens are left out."""
    listed = list(words)
    tokens = list(map(mind.tokeniser.tokens, listed))
    distinct = list(dict.fromkeys(chain.from_iterable(tokens)))
    counts = dict(zip(distinct, mind.words.frequencies(distinct), strict=True))
    rarity = {}
    for word, parts in zip(listed, tokens, strict=True):
        if parts:
            rarity[word] = min(counts[token] for token in parts)
    return rarity


def _is_in(word: str, names: Sequence[str]) -> bool:
    folded = word.casefold()
    return any(folded in name for name in names)


def _displayed(scores: Float32s) -> list[float]:
    """Standardised scores as 0..1, never increasing: a row with a reserved slot counts as much as the next one."""
    squashed = [_squashed(score) for score in scores.tolist()]
    reverse = np.asarray(squashed, np.float64)[::-1]
    return [float(score) for score in np.maximum.accumulate(reverse)[::-1]]


def _squashed(score: float) -> float:
    """A standardised score as 0..1, order kept."""
    return round(1.0 / (1.0 + float(np.exp(-score / 2))), 9)


def block_of(text: PromptBlock) -> Block:
    """A finished block as a part of an answer."""
    items = (BlockItem(line.memory, line.text, line.tokens, line.scene) for line in text.lines)
    return Block(
        section=text.section.value,
        position=text.position,
        depth=text.depth,
        role="system",
        text=text.text,
        tokens=text.tokens,
        items=tuple(items),
    )

"""The answer of a recall: the candidates that fit the budget, blocks of the prompt, and reasons."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain, compress

import numpy as np
from numpy.typing import NDArray

from soulmem.assembly.compose import (
    Budget,
    PromptBlock,
    PromptLine,
    language_of,
    line_of,
)
from soulmem.assembly.why import Cause, NamedTime, Reason, reason_sentence
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
from soulmem.engine.recall.activation import TermPath
from soulmem.engine.recall.context import RecallContext
from soulmem.engine.recall.habit_lines import (
    HabitLine,
    label,
    open_candidates,
    recalled_habit,
    select_habits,
)
from soulmem.engine.recall.habits import Habit
from soulmem.engine.recall.ranking import Ranked, vectors_at
from soulmem.engine.recall.walks import WalkPath
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.engine.views.provenance import source_places
from soulmem.retrieval.diversity import choose_diverse
from soulmem.retrieval.repeats import ContextText, is_sentence, units_of
from soulmem.retrieval.reserved_slots import order_with_slots

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]
Path = WalkPath | TermPath
Chosen = tuple[Memory, PromptLine]
Words = tuple[str, ...]

_SUMMARY = 1 / 3  # of the room left, that a chat's summary may take
_LANGUAGE_TEXTS = 5  # candidates whose texts show the language of the answer
_IN_PROMPT = "the prompt says it already"
_NOT_CHOSEN = "others were better, more varied, or the budget was spent"
_COMMON = 20  # a word in more than one of so many memories is no reason


@compute_only
def assemble(
    mind: Mind,
    context: RecallContext,
    ranked: Ranked,
    novelty: float,
    habits: Sequence[Habit] = (),
) -> tuple[Recalled, tuple[Considered, ...]]:
    """The answer within budget, and every memory that was considered.

    `novelty` 0..1 weighs against repeating oneself. `habits` go in after what is permanent and before all
    else, each once.
    """
    selection = _Selection(mind, context, ranked)
    permanent = _permanent(mind, context)
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
    candidates = selection.take_candidates(shown, novelty)
    chosen = [*core, *summary, *((habit.memory, habit.line) for habit in shown)]
    chosen += [(selection.rendered[i], line) for i, line in candidates.items()]
    rows = selection.rows_of(memory for memory, _ in chosen)

    def happened_at(memory: Memory) -> tuple[float, int]:
        row = rows[memory.id]
        return float(mind.columns.happened[row]), int(ranked.position[row])

    blocks = selection.budget.blocks(chosen, happened_at)
    ages = _ages(mind, context, rows)
    view = _View(mind, context, ranked, selection, ages)
    memories = view.always_shown(core, 1.0, Cause.PERMANENT)
    memories += view.candidates(candidates, selection.rendered)
    memories += view.habits(shown)
    memories.sort(key=lambda memory: -memory.score)
    memories += view.always_shown(summary, 0.0, Cause.SUMMARY)
    answer = Recalled(
        trace=new_id("t"),
        memories=tuple(memories),
        blocks=tuple(_block(block) for block in blocks),
        tokens=sum(block.tokens for block in blocks),
        timed_out=False,
        took_ms=Timings(),
    )
    return answer, selection.considered(shown, {memory.id for memory in memories})


class _Selection:
    """Takes memories into the answer as long as the budget lasts and the prompt does not say them already."""

    def __init__(self, mind: Mind, context: RecallContext, ranked: Ranked) -> None:
        self._mind = mind
        self._context = context
        self._ranked = ranked
        self._rows: list[int] = ranked.rows.tolist()
        self._keys = mind.ids_at(self._rows)
        is_fact = mind.facts.row_flags(mind.size)[ranked.rows].tolist()
        self.facts = set(compress(self._keys, is_fact))
        self._texts = ranked.deduplicated.texts(mind, self._rows)
        asked = [text for text, _ in context.query.word_parts]
        self.language = language_of(asked + self._texts[:_LANGUAGE_TEXTS])
        self.budget = Budget(context.budget, mind.soul.name, self.language)
        texts = context.prompt_texts
        self._prompt = ContextText(texts) if texts else None
        # The same, and the memories that were taken.
        self._with_answer = ContextText(texts) if texts else None
        # By position among the candidates: what of the memory is new to the prompt.
        self.rendered: dict[int, Memory] = {}
        self._repeated: set[MemoryId] = set()

    def rows_of(self, memories: Iterable[Memory]) -> dict[MemoryId, int]:
        """The array row of each of these memories, by id."""
        rows = dict(zip(self._keys, self._rows, strict=True))
        out = {}
        for memory in memories:
            row = rows.get(memory.id)
            out[memory.id] = self._mind.row_of(memory) if row is None else row
        return out

    def take_core(
        self, permanent: Sequence[Memory], habits: Sequence[Habit]
    ) -> list[Chosen]:
        """Permanent memories, but for actions that fire; those without room are noted in the mind."""
        fired = {habit.action for habit in habits if habit.fired}
        core: list[Chosen] = []
        omitted: list[MemoryId] = []
        for memory in permanent:
            if memory.id in fired or self._rest(self._with_answer, memory) is None:
                continue
            line = line_of(memory)
            if self.budget.take(line):
                core.append((memory, line))
            else:
                omitted.append(memory.id)
        self._mind.omitted_permanent = tuple(omitted)
        return core

    def take_summary(self) -> list[Chosen]:
        """The summary of the chat, where it leaves most of the room to memories."""
        summary = self._context.summary
        rest = self._rest(self._with_answer, summary) if summary is not None else None
        if summary is None or rest is None:
            return []
        memory = replace(summary, text=rest)
        line = line_of(memory)
        is_short = line.tokens <= _SUMMARY * self.budget.tokens_left
        return [(memory, line)] if is_short and self.budget.take(line) else []

    def add_to_prompt(self, memories: Iterable[Memory]) -> None:
        """From now on the prompt says these."""
        if self._with_answer is not None:
            for memory in memories:
                self._with_answer.add(memory.text)

    def open_habits(self, habits: Sequence[Habit]) -> Sequence[Habit]:
        """The habits that fire, and those that the prompt does not say.

        That a habit shows now the prompt does not say, even where it names the habit.
        """
        if self._with_answer is None:
            return habits
        out = []
        for habit in habits:
            memory = self._mind.memories[habit.action]
            if habit.fired or self._rest(self._with_answer, memory):
                out.append(habit)
        return out

    def take_candidates(
        self, habits: Sequence[HabitLine], novelty: float
    ) -> dict[int, PromptLine]:
        """The lines of the candidates in the answer, by position and in its order."""
        free = open_candidates(self._mind, self._rows, habits)
        most = self._context.max_items - len(habits)
        taken: dict[int, PromptLine] = {}
        for i in self._pick(free, most, novelty):
            line = line_of(self.rendered[i])
            if self.budget.take(line):
                taken[i] = line
        return dict(sorted(taken.items()))

    def considered(
        self, habits: Sequence[HabitLine], kept: set[MemoryId]
    ) -> tuple[Considered, ...]:
        """All candidates and habits for the trace; `kept` are in the answer."""
        ranked, listed, out = self._ranked, set(self._keys), list[Considered]()
        for habit in habits:
            key, text = habit.memory.id, habit.memory.text
            if key not in listed:
                share = habit.habit.share
                out.append(Considered(key, text, share, None, 0.0, True, None))
        scores, lexical = ranked.score.tolist(), ranked.lexical.tolist()
        dense = ranked.dense.tolist()
        for i, key in enumerate(self._keys):
            cut = _IN_PROMPT if key in self._repeated else _NOT_CHOSEN
            out.append(
                Considered(
                    id=key,
                    text=self._texts[i],
                    score=scores[i],
                    dense=None if np.isnan(dense[i]) else dense[i],
                    lexical=lexical[i],
                    kept=key in kept,
                    cut=None if key in kept else cut,
                )
            )
        return tuple(out)

    def _pick(self, free: Sequence[int], most: int, novelty: float) -> list[int]:
        """Positions of the best of the `free` candidates, at most `most`, as they were chosen."""
        if not free or most <= 0:
            return []
        ranked = self._ranked
        text_of_row = dict(zip(self._rows, self._texts, strict=True))
        costs = self._mind.token_costs(self._rows, text_of_row.__getitem__)
        slots = ranked.association_slots
        reserved = _positions(
            ranked,
            (*ranked.time_slots, *slots.front, *slots.behind, *ranked.kind_slots),
        )
        index = {position: i for i, position in enumerate(free)}
        chosen = choose_diverse(
            ranked.score[np.asarray(free)],
            vectors_at(self._mind, ranked.rows[free]),
            costs[free] + 1,
            budget=self.budget.tokens_left,
            max_items=most,
            novelty=novelty,
            reserved=[index[position] for position in reserved if position in index],
            is_new=lambda i: self._is_new(free[i]),
        )
        return [free[i] for i in chosen]

    def _is_new(self, i: int) -> bool:
        """Whether the prompt does not say a candidate; then what is new of it is kept in `rendered`."""
        row = self._rows[i]
        memory = self._mind.memory_at(row)
        if row in self._ranked.deduplicated.ended_facts:
            memory = self._ranked.deduplicated.rendered(row, memory)
        # A fact of a few words may stand beside its message: it says since when it holds, and who said so as well.
        # What the prompt says in the same words needs neither.
        is_fact = memory.id in self.facts
        is_short_fact = is_fact and not is_sentence(units_of(memory.text))
        rest = self._rest(self._prompt if is_short_fact else self._with_answer, memory)
        if rest is None:
            self._repeated.add(memory.id)
            return False
        if self._with_answer is not None:
            self._with_answer.add(rest)
        same = rest == memory.text
        self.rendered[i] = memory if same else replace(memory, text=rest)
        return True

    def _rest(self, prompt: ContextText | None, memory: Memory) -> str | None:
        """What of the memory the prompt does not say yet; None when that is next to nothing.

        A permanent memory stands in the user's own words: whole, or not at all.
        """
        if prompt is None:
            return memory.text
        rest = prompt.rest_of(memory.text, _names_in(self._mind, memory))
        return memory.text if memory.permanent and rest is not None else rest


class _View:
    """Describes the memories of the answer: score, reason, path and sources."""

    def __init__(
        self,
        mind: Mind,
        context: RecallContext,
        ranked: Ranked,
        selection: _Selection,
        ages: dict[MemoryId, int],
    ) -> None:
        """`ages`: how many exchanges ago each memory took place"""
        self._mind = mind
        self._context = context
        self._ranked = ranked
        self._language = selection.language
        self._facts = selection.facts
        self._ages = ages

    def always_shown(
        self, chosen: Sequence[Chosen], score: float, cause: Cause
    ) -> list[RecalledMemory]:
        """Memories that are in the answer whatever the query."""
        out = []
        for memory, line in chosen:
            reason = Reason(cause, (), self._ages[memory.id])
            out.append(self._recalled(memory, line, score, reason))
        return out

    def candidates(
        self, lines: dict[int, PromptLine], rendered: dict[int, Memory]
    ) -> list[RecalledMemory]:
        """The candidates in the answer, in the order in which they are displayed."""
        mind, ranked = self._mind, self._ranked
        slots = ranked.association_slots
        front, behind = (
            _positions(ranked, slots.front),
            _positions(ranked, slots.behind),
        )
        order = order_with_slots(list(lines), ranked.score, front, behind)
        scores = _displayed(ranked.score[order])
        walk_paths = _walk_paths(ranked, ranked.rows[order])
        query = "\n".join(text for text, _ in self._context.query.word_parts)
        shared = _shared_words(mind, query, [rendered[i] for i in order])
        chat = self._context.request.chat
        out = []
        for i, score in zip(order, scores, strict=True):
            row, memory = int(ranked.rows[i]), rendered[i]
            path: Path | None = walk_paths.get(row)
            if row in ranked.learned:
                path = ranked.learned_path(row)
            age = self._ages[memory.id]
            reason = self._reason(i, path, shared[memory.id], age)
            answer = self._recalled(memory, lines[i], score, reason, path)
            if row in ranked.deduplicated.duplicates:
                answer = ranked.deduplicated.with_duplicate_sources(
                    mind, row, answer, chat
                )
            out.append(answer)
        return out

    def habits(self, shown: Sequence[HabitLine]) -> list[RecalledMemory]:
        """The habits in the answer."""
        out = []
        for habit in shown:
            age = self._ages[habit.memory.id]
            out.append(
                recalled_habit(self._mind, self._context, habit, age, self._language)
            )
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
            why=reason_sentence(reason, mind.soul.name, self._language),
            path=_steps(mind, memory, path),
            edges=tuple(edge.id for edge in edges),
            sources=source_places(mind, memory, self._context.request.chat),
            age_turns=reason.age_turns,
            visibility=1.0,
        )

    def _reason(
        self, position: int, path: Path | None, shared: Words, age: int
    ) -> Reason:
        """What brought a candidate up most: the time asked for, its own text, its neighbours, or its path."""
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


def _permanent(mind: Mind, context: RecallContext) -> list[Memory]:
    """The permanent memories that this recall may show, the most important first."""
    rows = np.flatnonzero(mind.columns.permanent[: mind.size] & context.visible)
    memories = [mind.memory_at(row) for row in rows.tolist()]
    return sorted(memories, key=lambda memory: (-memory.importance, memory.id))


def _names_in(mind: Mind, memory: Memory) -> tuple[str, ...]:
    """The names of those who take part in a memory, and of the soul."""
    names = [
        participant.name
        for participant in memory.situation.participants
        if participant.kind is not ParticipantKind.UNKNOWN
    ]
    return (*names, mind.soul.name)


def _ages(
    mind: Mind, context: RecallContext, rows: dict[MemoryId, int]
) -> dict[MemoryId, int]:
    """How many exchanges ago the memory at each of these rows took place."""
    listed = np.fromiter(rows.values(), np.int64, len(rows))
    ages = mind.exchange_ages(context.request.chat, context.extra_turns, listed)
    return dict(zip(rows, ages.tolist(), strict=True))


def _walk_paths(ranked: Ranked, rows: Ints) -> dict[int, WalkPath]:
    """How the walk reached each of these rows; over associations alone those with a slot for association."""
    if ranked.walk is None:
        return {}
    slots = ranked.association_slots
    has_slot = np.isin(rows, [*slots.front, *slots.behind])
    paths = ranked.walk.paths(rows)
    return {**paths, **ranked.walk.association_paths(rows[has_slot])}


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
        PathStep(key, label(text), edge)
        for key, text, edge in zip(keys, texts, edges, strict=True)
    )


def _shared_words(
    mind: Mind, query: str, memories: Sequence[Memory]
) -> dict[MemoryId, Words]:
    """The rarest words that each memory shares with the query, at most two, as the query writes them.

    Words that many memories contain explain nothing, nor do the names of those who talk.
    """
    shared = [mind.tokeniser.shared(query, memory.text) for memory in memories]
    rarity = _rarities(mind, dict.fromkeys(chain.from_iterable(shared)))
    common = max(3, len(mind.memories) // _COMMON)
    out = {}
    for memory, words in zip(memories, shared, strict=True):
        names = [name.casefold() for name in _names_in(mind, memory)]
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
    counts = dict(zip(distinct, map(mind.words.frequency, distinct), strict=True))
    rarity = {}
    for word, parts in zip(listed, tokens, strict=True):
        if parts:
            rarity[word] = min(counts[token] for token in parts)
    return rarity


def _is_in(word: str, names: Sequence[str]) -> bool:
    folded = word.casefold()
    return any(folded in name for name in names)


def _positions(ranked: Ranked, rows: Sequence[int]) -> list[int]:
    """Where these rows stand among the candidates, each once; rows that are duplicates of others are left out."""
    position = {row: i for i, row in enumerate(ranked.rows.tolist())}
    return [position[row] for row in dict.fromkeys(rows) if row in position]


def _displayed(scores: Floats) -> list[float]:
    """Standardised scores as 0..1, never increasing: a row with a reserved slot counts as much as the next one."""
    squashed = [_squashed(score) for score in scores.tolist()]
    reverse = np.asarray(squashed, np.float64)[::-1]
    return [float(score) for score in np.maximum.accumulate(reverse)[::-1]]


def _squashed(score: float) -> float:
    """A standardised score as 0..1, order kept."""
    return round(1.0 / (1.0 + float(np.exp(-score / 2))), 9)


def _block(text: PromptBlock) -> Block:
    items = (BlockItem(line.memory, line.text, line.tokens) for line in text.lines)
    return Block(
        section=text.section.value,
        position=text.position,
        depth=text.depth,
        role="system",
        text=text.text,
        tokens=text.tokens,
        items=tuple(items),
    )

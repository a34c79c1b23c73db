"""The memories that an answer takes in: within the budget, varied, and not in the prompt already."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from soulmem.assembly.compose import (
    Budget,
    PromptLine,
    language_of,
    line_of,
)
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory
from soulmem.domain.situation import ParticipantKind
from soulmem.engine.api.results import (
    Considered,
)
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.context import RecallContext
from soulmem.engine.recall.habit_lines import (
    HabitLine,
    open_candidates,
)
from soulmem.engine.recall.habits import Habit
from soulmem.engine.recall.ranking import Ranked, vectors_at
from soulmem.retrieval.diversity import choose_diverse
from soulmem.retrieval.repeats import ContextText, is_sentence, units_of

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]
Chosen = tuple[Memory, PromptLine]
Words = tuple[str, ...]
_SUMMARY = 1 / 3  # of the room left, that a chat's summary may take
_LANGUAGE_TEXTS = 5  # candidates whose texts show the language of the answer
_IN_PROMPT = "the prompt says it already"
_NOT_CHOSEN = "others were better, more varied, or the budget was spent"


class Selection:
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
        reserved = positions_of(
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
        rest = prompt.rest_of(memory.text, names_in(self._mind, memory))
        return memory.text if memory.permanent and rest is not None else rest


def permanent_memories(mind: Mind, context: RecallContext) -> list[Memory]:
    """The permanent memories that this recall may show, the most important first."""
    rows = np.flatnonzero(mind.columns.permanent[: mind.size] & context.visible)
    memories = [mind.memory_at(row) for row in rows.tolist()]
    return sorted(memories, key=lambda memory: (-memory.importance, memory.id))


def names_in(mind: Mind, memory: Memory) -> tuple[str, ...]:
    """The names of those who take part in a memory, and of the soul."""
    names = [
        participant.name
        for participant in memory.situation.participants
        if participant.kind is not ParticipantKind.UNKNOWN
    ]
    return (*names, mind.soul.name)


def positions_of(ranked: Ranked, rows: Sequence[int]) -> list[int]:
    """Where these rows stand among the candidates, each once; rows that are duplicates of others are left out."""
    position = {row: i for i, row in enumerate(ranked.rows.tolist())}
    return [position[row] for row in dict.fromkeys(rows) if row in position]

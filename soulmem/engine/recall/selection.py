"""The memories that an answer takes in: within the budget, varied, and not in the prompt already."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import compress
from math import ceil

import numpy as np

from soulmem.assembly.compose import (
    Budget,
    PromptLine,
    language_of,
    line_of,
    scene_of,
    section_of,
)
from soulmem.assembly.omitted import Omitted, omission_text
from soulmem.assembly.token_estimate import estimate_tokens
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory, MemoryKind
from soulmem.domain.situation import ParticipantKind
from soulmem.engine.api.results import (
    Considered,
)
from soulmem.engine.mind.facts import fact_text
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.context import RecallContext
from soulmem.engine.recall.decision import Judged
from soulmem.engine.recall.digest_recall import (
    DigestCandidate,
    goes_with,
    is_told_by,
)
from soulmem.engine.recall.excerpts import Excerpts
from soulmem.engine.recall.faded_reading import FadedMemory, FadedReader
from soulmem.engine.recall.habit_lines import (
    HabitLine,
    open_candidates,
)
from soulmem.engine.recall.habits import Habit
from soulmem.engine.recall.ranking import Ranked, vectors_at
from soulmem.engine.views.alike_tellings import joined_rows
from soulmem.language.relations import also_called
from soulmem.language.scripts import is_unspaced
from soulmem.retrieval.diversity import choose_diverse
from soulmem.retrieval.repeats import ContextText, is_sentence, units_of

Chosen = tuple[Memory, PromptLine]
Words = tuple[str, ...]
_DAY = 86_400.0  # seconds
_SUMMARY = 1 / 3  # of the room left, that a chat's summary may take
_LANGUAGE_TEXTS = 5  # candidates whose texts show the language of the answer
_LONG = 60  # tokens; a shorter memory is told whole
_IRRITATED = 0.5  # 0..1, irritation from which on a memory vector alone brings nothing


class Selection:
    """Takes memories into the answer as long as the budget lasts and the prompt does not say them already."""

    def __init__(self, mind: Mind, context: RecallContext, ranked: Ranked, judged: Judged) -> None:
        self._mind = mind
        self._excerpts = Excerpts(mind, context.request.chat, judged)
        # By row: what is told of it where that is not all.
        self._told: dict[int, str] = {}
        self._context = context
        self._ranked = ranked
        self._rows: list[int] = ranked.rows.tolist()
        self._keys = mind.ids_at(self._rows)
        is_fact = mind.facts.row_flags(mind.size)[ranked.rows].tolist()
        self.facts = set(compress(self._keys, is_fact))
        self._texts = ranked.deduplicated.texts(mind, self._rows)
        asked = [text for text, _ in context.query.word_parts]
        language = language_of(asked + self._texts[:_LANGUAGE_TEXTS])
        self.budget = Budget.of_soul(context.budget, mind.soul, language)
        best = float(ranked.alone.max(initial=0.0))
        self._reader = FadedReader(mind, context, best)
        texts = context.prompt_texts
        self._prompt = ContextText(texts) if texts else None
        # The same, and the memories that were taken.
        self._with_answer = ContextText(texts) if texts else None
        # By position among the candidates: what of the memory is new to the prompt, and how it reads now.
        self.rendered: dict[int, Memory] = {}
        self.faded: dict[int, FadedMemory] = {}
        # The reasons are read by the user, the blocks by a model.
        self.language = context.request.language or language
        self._left_out: dict[MemoryId, Omitted] = {}
        # Positions of what a remark would bring to mind, had it not faded.
        self._faint: set[int] = set()
        self.withheld = 0  # memories that would have fitted, but were not called for

    def rows_of(self, memories: Iterable[Memory]) -> dict[MemoryId, int]:
        """The array row of each of these memories, by id."""
        rows = dict(zip(self._keys, self._rows, strict=True))
        out = {}
        for memory in memories:
            row = rows.get(memory.id)
            out[memory.id] = self._mind.row_of(memory) if row is None else row
        return out

    def take_core(self, permanent: Sequence[Memory], habits: Sequence[Habit]) -> list[Chosen]:
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
        self,
        habits: Sequence[HabitLine],
        novelty: float,
        *,
        judged: Judged,
        places: int,
    ) -> dict[int, PromptLine]:
        """The lines of the candidates in the answer, by position and in its order; `places` with the habits.

        A candidate is in it where the moment likely calls for it, or where it has a place for what was asked
        for: a time, or for what was taught.
        """
        free = self._in_sections(open_candidates(self._mind, self._rows, habits))
        most = places - len(habits)
        called = self._called(free, judged)
        taken = self._take(called, most, novelty)
        is_called = set(called)
        rest = [i for i in free if i not in is_called]
        before = self._with_answer and self._with_answer.copy()
        withheld = self._pick(rest, most - len(taken), novelty)
        self._with_answer = before  # withheld candidates are not in the prompt
        self.withheld = len(withheld)
        for i in withheld:
            is_faint = i in self._faint
            omitted = Omitted.TOO_FAINT if is_faint else Omitted.NOT_CALLED_FOR
            self._left_out[self._keys[i]] = omitted
        return dict(sorted(taken.items()))

    def _take(self, waiting: Sequence[int], most: int, novelty: float) -> dict[int, PromptLine]:
        """The lines of those of the positions that there is room for, `most` at most, by position."""
        before = self._with_answer
        taken: dict[int, PromptLine] = {}
        is_full = False
        while not is_full:
            self._with_answer = before and before.copy()
            self.add_to_prompt(self.rendered[i] for i in taken)
            picked = self._pick(waiting, most - len(taken), novelty)
            for i in picked:
                faded = self.faded[i]
                scene = self._scene(self._rows[i])
                line = line_of(faded.memory, is_masked=faded.is_masked, scene=scene)
                if self.budget.take(line):
                    taken[i] = line
            # A line may be longer than was reckoned: what it leaves room for comes instead.
            is_full = taken.keys() >= set(picked)
            waiting = [i for i in waiting if i not in picked]
        self._with_answer = before
        self.add_to_prompt(self.rendered[i] for i in taken)
        return taken

    def take_digests(
        self,
        digests: Sequence[DigestCandidate],
        candidates: dict[int, PromptLine],
        room: int,
    ) -> list[tuple[DigestCandidate, Memory, PromptLine]]:
        """Digests of the time asked for, or the best one, `room` at most; not beside what tells it already."""
        rows = {self._rows[i] for i in candidates}
        # What was told again and again is told once, not again for each of its days.
        retold = joined_rows(self._mind, rows)
        out: list[tuple[DigestCandidate, Memory, PromptLine]] = []
        for digest in digests:
            if digest.time is None and out:
                break
            if digest.time is None and goes_with(self._mind, digest, retold):
                continue
            if is_told_by(digest, rows, [each for each, _, _ in out]):
                continue
            rest = self._rest(self._with_answer, digest.memory)
            if rest is None or len(out) >= room:
                continue
            memory = replace(digest.memory, text=rest)
            line = line_of(memory, scene=self._scene(digest.row))
            if self.budget.take(line):
                out.append((digest, memory, line))
        return out

    def take_pushed(
        self, rows: Iterable[int], answered: Collection[MemoryId]
    ) -> list[tuple[FadedMemory, PromptLine]]:
        """The first of the rows that is neither in the answer nor in the prompt, and for which there is room."""
        for row in rows:
            memory = self._mind.memory_at(row)
            if memory.id in answered or self._rest(self._with_answer, memory) is None:
                continue
            # Nothing asks for it: it reads as blurred as it is.
            faded = self._reader.read(memory, self._excerpts.of(memory, row), 0.0)
            line = line_of(faded.memory, is_masked=faded.is_masked, scene=self._scene(row))
            if not faded.is_empty and self.budget.take(line):
                return [(faded, line)]
        return []

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
        # Traces are stored: 17 digits of each would take a third of their room.
        scores, lexical, dense = (
            np.round(values.astype(np.float64), 4).tolist()
            for values in (ranked.score, ranked.lexical, ranked.dense)
        )
        for i, key in enumerate(self._keys):
            omitted = self._left_out.get(key, Omitted.NOT_CHOSEN)
            cut = omission_text(omitted, self.language)
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

    def _scene(self, row: int) -> str:
        """How long ago a row happened, as it stands above it."""
        days = _days_ago(self._mind, self._context, row)
        return scene_of(days, self.budget.language)

    def _in_sections(self, positions: Sequence[int]) -> list[int]:
        """Those of the positions whose section the user has not switched off."""
        if not self._mind.soul.settings.sections_off:
            return list(positions)
        memories = ((i, self._mind.memory_at(self._rows[i])) for i in positions)
        return [
            i
            for i, memory in memories
            if not self.budget.is_off(section_of(memory, is_impulse=False))
        ]

    def _pick(self, free: Sequence[int], most: int, novelty: float) -> list[int]:
        """Positions of the best of the `free` candidates, at most `most`, as they were chosen."""
        if not free or most <= 0:
            return []
        ranked = self._ranked
        slots = ranked.association_slots
        slotted = positions_of(ranked, (*slots.front, *slots.behind))
        # Where not all have room, the better come.
        slotted.sort(key=lambda i: -float(ranked.score[i]))
        reserved = dict.fromkeys(
            (
                # No slot displaces the best.
                max(free, key=lambda i: float(ranked.score[i])),
                *positions_of(ranked, (*ranked.part_slots, *ranked.time_slots)),
                *slotted,
            )
        )
        index = {position: i for i, position in enumerate(free)}
        chosen = choose_diverse(
            ranked.score[np.asarray(free)],
            vectors_at(self._mind, ranked.rows[free]),
            lambda i: self._cost(free[i]) + 1,
            budget=self.budget.tokens_left,
            max_items=most,
            novelty=novelty,
            reserved=[index[position] for position in reserved if position in index],
            is_new=lambda i: self._is_new(free[i]),
        )
        return [free[i] for i in chosen]

    def _cost(self, i: int) -> int:
        """The tokens of a candidate as the prompt words it; an ended fact has more."""
        row = self._rows[i]
        if row in self._ranked.deduplicated.ended_facts:
            return estimate_tokens(self._texts[i])
        cost = int(self._mind.token_costs([row])[0])
        return estimate_tokens(self._excerpt(row)) if cost > _LONG else cost

    def _excerpt(self, row: int) -> str:
        """The text to show of the memory at a row."""
        if row not in self._told:
            self._told[row] = self._excerpts.of(self._mind.memory_at(row), row)
        return self._told[row]

    def _called(self, free: Sequence[int], judged: Judged) -> list[int]:
        """Those of the positions that the moment likely calls for, and those with a place of their own."""
        if judged.least == 0.0:
            return list(free)
        likely = judged.of_row()
        if not judged.asks_of_before:
            # What is over is no answer to what is asked of the present.
            ended = self._ranked.deduplicated.ended_facts
            free = [i for i in free if self._rows[i] not in ended]
        irritation = self._context.guidance.irritation
        placed = set(positions_of(self._ranked, _required_rows(self._ranked, irritation)))
        called = [i for i in free if likely.get(self._rows[i], 0.0) >= judged.least]
        asked = judged.asked_rows()
        remarked = [i for i in called if self._rows[i] not in asked and i not in placed]
        for i in remarked:
            row = self._rows[i]
            ease = self._reader.ease(self._mind.memory_at(row))
            if likely[row] * ease < judged.least:
                self._faint.add(i)
        kept = placed.union(called) - self._faint
        return [i for i in free if i in kept]

    def _is_new(self, i: int) -> bool:
        """Whether the prompt does not say a candidate, and something of it is left; then what is new of it is kept
        in `rendered`, and as it reads now in `faded`.
        """
        row = self._rows[i]
        memory = self._mind.memory_at(row)
        if row in self._ranked.deduplicated.ended_facts:
            memory = self._ranked.deduplicated.rendered(row, memory)
        memory = _with_other_names(memory)
        # A fact of a few words may stand beside its message: it says since when it holds, and who said so as well.
        # What the prompt says in the same words needs neither.
        is_fact = memory.id in self.facts
        is_short_fact = is_fact and not is_sentence(units_of(memory.text))
        is_ended = row in self._ranked.deduplicated.ended_facts
        is_whole = is_ended or memory.kind is MemoryKind.CONCEPT
        told = memory if is_whole else replace(memory, text=self._excerpt(row))
        rest = self._rest(self._prompt if is_short_fact else self._with_answer, told)
        if rest is None:
            self._left_out[memory.id] = Omitted.IN_PROMPT
            return False
        faded = self._reader.read(memory, rest, float(self._ranked.alone[i]))
        if faded.is_empty:
            self._left_out[memory.id] = Omitted.FADED
            return False
        if self._with_answer is not None:
            self._with_answer.add(rest)
        same = rest == memory.text
        self.rendered[i] = memory if same else replace(memory, text=rest)
        self.faded[i] = faded
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


def _days_ago(mind: Mind, context: RecallContext, row: int) -> int | None:
    """Days that began since a row happened; None where it has no date in the story that the soul lives by."""
    columns, now = mind.columns, context.now
    happened = float((columns.story if context.by_story else columns.happened)[row])
    if not happened:
        return None
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0).timestamp()
    return max(0, ceil((midnight - happened) / _DAY))


def _required_rows(ranked: Ranked, irritation: float) -> list[int]:
    """Rows that no restraint keeps back: associations not in irritation, which narrows what comes to mind.

    What is learned by being said together shares no word with the query: it cannot stand near by its own text,
    and has a slot only where it was said together plainly.
    """
    asked = list(ranked.time_slots)
    if irritation >= _IRRITATED:
        return asked
    front = set(ranked.association_slots.front)
    opened = [way.row for way in ranked.expansion.opened if way.row in front]
    return [*asked, *opened, *ranked.learned]


def positions_of(ranked: Ranked, rows: Sequence[int]) -> list[int]:
    """Where these rows stand among the candidates, each once; rows that are duplicates of others are left out."""
    position = {row: i for i, row in enumerate(ranked.rows.tolist())}
    return [position[row] for row in dict.fromkeys(rows) if row in position]


def _with_other_names(memory: Memory) -> Memory:
    """A concept that has other names says so; anything else as it is."""
    name = memory.text
    names = memory.concept.aliases if memory.concept else ()
    others = [other for other in names if other not in name and name not in other]
    if memory.permanent or not others:
        return memory
    listed = ("、" if is_unspaced(name) else ", ").join(others)
    return replace(memory, text=fact_text(name, also_called(name, listed), listed))

"""What each step of a recall adds: every step is taken out in turn, over all data sets.

    python -m tests.bench.ablation --data FOLDER [--model FOLDER] [--only STEP,..] [--sets SET,..]

FOLDER holds what is there of role-play chats `rp_*.json` with their lines (see `tests.bench.fit`), LoCoMo
`locomo_dev.json`, MADial-Bench `madial_{en,zh}_{memory,dev}.json`, and passages with questions over several
of them, `{hotpotqa100,musique100}_{corpus,questions}.json`, `2wiki_{corpus,dev}.json`. Nothing is forgotten.
Each case is asked twice: with restraint 0, for its evidence among the first 10 (`r10`), and as a player has it
(8 places), for its evidence among what is told and for what is told at lines that call for nothing.
A step is compared case by case with the whole recall; the range is that of 95 of 100 resamples of the cases.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache, partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from soulmem.adapters import sentence_transformer
from soulmem.domain.dialogue import Role, SentMessage, text_hash
from soulmem.domain.ids import ChatId, MemoryId, SlotId
from soulmem.domain.memories import MemoryKind
from soulmem.domain.situation import Emotion, Situation
from soulmem.engine.api.requests import RecallRequest, RecallType
from soulmem.engine.recall import brought, climb, context, decision, ranking, recaller, selection
from soulmem.engine.recall.deduplication import Deduplicated
from soulmem.engine.vectors.embedder import ModelSource
from soulmem.retrieval.diversity import choose_diverse
from tests.bench.moments import SOUL, Chat, soul_of
from tests.engine.stage import ME, Stage

Json = Any
Patch = Any
Figures = dict[str, list[float]]

CHAT = ChatId("c1")
_RANKED, _TOLD = 10, 8  # places
_WINDOW = 20  # messages in the prompt of a role-play chat
_PASSAGES, _QUESTIONS = 600, 60
_CONVERSATIONS = 2
_RESAMPLES = 2000


@dataclass(frozen=True)
class Case:
    """What is asked of a soul, and the units of its evidence; none where nothing is called for."""

    kind: str
    text: str
    evidence: frozenset[str]


@dataclass(frozen=True)
class ReadSoul:
    """A soul that has read a data set, and what is asked of it.

    units   by memory made by hand its unit; of messages the slot is the unit
    window  the first message that stands in the prompt
    """

    stage: Stage
    cases: Sequence[Case]
    units: Mapping[MemoryId, str]
    window: SlotId | None = None

    async def figures(self) -> Figures:
        """By figure a value for each case that it is of."""
        out: Figures = {}
        for case in self.cases:
            told = await self._found(case, _TOLD, None)
            if not case.evidence:
                out.setdefault(f"{case.kind} silent", []).append(float(not told))
                continue
            ranked = await self._found(case, _RANKED, 0.0)
            for name, found in (("r10", ranked), ("told", told)):
                units = frozenset[str]().union(*found)
                share = len(case.evidence & units) / len(case.evidence)
                out.setdefault(f"{case.kind} {name}", []).append(share)
            if told:
                right = [bool(case.evidence & units) for units in told]
                out.setdefault(f"{case.kind} worth", []).append(float(np.mean(right)))
        return out

    async def _found(
        self, case: Case, places: int, restraint: float | None
    ) -> list[frozenset[str]]:
        """The units of each memory of the answer."""
        answer = await self.stage.engine.recaller.recall(
            ME,
            RecallRequest(
                SOUL,
                CHAT if self.window else None,
                query=case.text,
                type=RecallType.QUIET,
                context_from=self.window,
                max_items=places,
                restraint=restraint,
                budget_tokens=100_000 if restraint == 0.0 else None,
            ),
        )
        out = []
        for memory in answer.memories:
            own = self.units.get(memory.id)
            slots = {str(place.slot) for place in memory.sources}
            out.append(frozenset({own} if own else slots))
        return out


def _identity(place: int) -> Callable[..., Any]:
    """A function that returns its argument at that place."""
    return lambda *arguments, **_: arguments[place]


def _returns(value: Any) -> Callable[..., Any]:
    return lambda *_, **__: value


def _no_weight(weight: Any, *_: Any) -> Any:
    return np.ones(np.shape(weight), np.float32)


def _score(**changes: Any) -> Patch:
    """The ranking with other parameters of its score."""
    own = ranking._unweighted

    def changed(context: Any, scores: Any, expansion: Any, p: Any) -> Any:
        return own(context, scores, expansion, replace(p, score=replace(p.score, **changes)))

    return patch.object(ranking, "_unweighted", changed)


def _slots(**changes: Any) -> Patch:
    """The ranking with other reserved places."""
    own = ranking.rank

    def changed(mind: Any, context: Any, scores: Any, p: Any, *more: Any, **named: Any) -> Any:
        p = replace(p, slots=replace(p.slots, **changes))
        return own(mind, context, scores, p, *more, **named)

    return patch.object(recaller, "rank", changed)


def _fusion(**changes: Any) -> Sequence[Patch]:
    """The text scores with other parameters."""
    own = context.score_texts

    def changed(mind: Any, at: Any, cosines: Any, params: Any, *more: Any) -> Any:
        return own(mind, at, cosines, replace(params, **changes), *more)

    return [patch.object(module, "score_texts", changed) for module in (recaller, decision)]


# By name what replaces the step.
STEPS: dict[str, Callable[[], Sequence[Patch]]] = {
    "texts beside lend their score": lambda: _fusion(neighbour=0.0),
    "words beside meaning": lambda: _fusion(lexical=0.0),
    "late interaction": lambda: [patch.object(recaller, "interact", _returns(None))],
    "a vector of noise is left out": lambda: [
        patch.object(recaller, "without_noise", _identity(2))
    ],
    "older messages by continuity": lambda: [
        patch.object(recaller, "with_continuity", _identity(1))
    ],
    "words of other names": lambda: [patch.object(context, "_words_of_other_names", _returns({}))],
    "walk in the score": lambda: [_score(walk=0.0, walk_beside_tokens=0.0)],
    "step over words": lambda: [_score(bridge=0.0)],
    "places of the walk": lambda: [_slots(associated=0.0, front=0)],
    "walk and its places": lambda: [
        _score(walk=0.0, walk_beside_tokens=0.0),
        _slots(associated=0.0, front=0),
    ],
    "names lead on": lambda: [patch.object(brought, "_over_names", _returns(()))],
    "learned associations": lambda: [
        patch.object(ranking, "_learned", _returns({})),
    ],
    "places of questions": lambda: [patch.object(ranking, "_part_slots", _returns(()))],
    "time asked for": lambda: [
        patch.object(ranking, "time_slots", _returns(())),
        patch.object(ranking, "prefer_asked_time", _identity(0)),
    ],
    "even texts": lambda: [patch.object(ranking, "with_even_texts", _identity(2))],
    "weights of memories": lambda: [patch.object(ranking, "weight_factor", _no_weight)],
    "each thing once": lambda: [
        patch.object(ranking, "deduplicate", lambda *a, **_: Deduplicated(a[2]))
    ],
    "variety": lambda: [
        patch.object(
            selection,
            "choose_diverse",
            lambda *a, **k: choose_diverse(*a, **{**k, "novelty": 0.0}),
        )
    ],
    "ends at a plain answer": lambda: [patch.object(climb, "_is_answered", _returns(value=False))],
    "a word alone is a question": lambda: [
        patch.object(decision, "_is_special_word", _returns(value=False))
    ],
    "absence": lambda: [patch.object(recaller, "with_absences", _identity(2))],
}


def _read(path: Path) -> Json:
    return json.loads(path.read_text("utf-8"))


@asynccontextmanager
async def _role_play(data: Path, model: ModelSource | None, name: str) -> AsyncIterator[ReadSoul]:
    """A role-play chat, in three kinds of cases: cues, questions, and lines that call for nothing."""
    chat = Chat(data, name)
    groups = {
        **dict.fromkeys(("cue", "short", "events"), "cue"),
        **dict.fromkeys(("asked",), "question"),
        **dict.fromkeys(("calm", "long", "never"), "small talk"),
    }
    cases = [Case(groups[line.kind], line.text, line.evidence) for line in chat.lines]
    names = [each["name"] for each in chat.data["names"]]
    async with soul_of(model, chat.data["character"], names) as stage:
        await stage.sync("c1", chat.messages)
        await stage.engine.idle.run()
        yield ReadSoul(stage, cases, {}, chat.messages[-_WINDOW].slot)


@asynccontextmanager
async def _conversation(model: ModelSource | None, conv: Json) -> AsyncIterator[ReadSoul]:
    """A conversation of LoCoMo and its questions."""
    starts = {key: _date(text) for key, text in conv["dates"].items()}
    messages = []
    for place, turn in enumerate(conv["turns"]):
        photo = f" [photo: {turn['photo']}]" if turn.get("photo") else ""
        text = turn["text"] + photo
        at = starts[str(turn["s"])] + timedelta(seconds=place)
        role = Role.USER if turn["who"] == conv["a"] else Role.CHARACTER
        messages.append(
            SentMessage(
                SlotId(turn["id"].replace(":", "_")),
                text_hash(text),
                role,
                turn["who"],
                text=text,
                sent_at=at,
            )
        )
    cases = [
        Case("question", qa["q"], frozenset(key.replace(":", "_") for key in gold))
        for qa in conv["qa"]
        if qa["cat"] != 5 and (gold := qa.get("ev_corrected") or qa["ev"])
    ]
    async with soul_of(model, conv["b"], (conv["a"], conv["b"])) as stage:
        await stage.sync("c1", messages)
        await stage.close("c1")
        await stage.engine.idle.run()
        yield ReadSoul(stage, cases, {})


def _date(text: str) -> datetime:
    """Of words like "1:56 pm on 8 May, 2023"."""
    return datetime.strptime(f"{text.strip()} +0000", "%I:%M %p on %d %B, %Y %z")


@asynccontextmanager
async def _passages(
    data: Path, model: ModelSource | None, corpus: str, asked: str
) -> AsyncIterator[ReadSoul]:
    """Passages, whose titles are names, and questions over several of them."""
    every, questions = _read(data / corpus), _read(data / asked)
    questions = random.Random(asked).sample(questions, min(_QUESTIONS, len(questions)))
    kept = {place for question in questions for place in question["gold"]}
    rest = [place for place in range(len(every)) if place not in kept]
    kept |= set(random.Random(corpus).sample(rest, max(0, _PASSAGES - len(kept))))
    names = [re.sub(r" \(.*\)$", "", every[place][0]) for place in sorted(kept)]
    async with soul_of(model, "Reader", names) as stage:
        units = {}
        for place in sorted(kept):
            title, text = every[place]
            made = await stage.note(f"{title}\n{text}", kind=MemoryKind.EPISODE)
            units[made.memory.id] = str(place)
        await stage.engine.idle.run()
        cases = [Case("question", q["q"], frozenset(map(str, q["gold"]))) for q in questions]
        yield ReadSoul(stage, cases, units)


@asynccontextmanager
async def _dialogues(
    data: Path, model: ModelSource | None, lang: str, user: int
) -> AsyncIterator[ReadSoul]:
    """The memories of a user of MADial-Bench, and dialogues about them."""
    memories = _read(data / f"madial_{lang}_memory.json")
    own = {str(memory["id"]) for memory in memories if memory["user-id"] == user}
    cases = []
    for dialogue in _read(data / f"madial_{lang}_dev.json"):
        gold = own & set(map(str, dialogue["relevant-id"]))
        if dialogue["user-id"] != user or not gold:
            continue
        said = dialogue["dialogue"][1 : dialogue["test-turn"][0]]
        said = [re.sub(r"^<[^>]*>:?", "", line).strip().strip('"') for line in said]
        cases.append(Case("dialogue", "\n".join(said), frozenset(gold)))
    async with soul_of(model, "Assistant", ("Bart" if user == 1 else "Lisa",)) as stage:
        units = {}
        for memory in memories:
            if memory["user-id"] == user:
                felt = Situation(emotions=(Emotion(memory["emotion"], 0.7),))
                made = await stage.note(memory["event"], kind=MemoryKind.EPISODE, situation=felt)
                units[made.memory.id] = str(memory["id"])
        await stage.engine.idle.run()
        yield ReadSoul(stage, cases, units)


def souls(data: Path, model: ModelSource | None) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The name of a data set, and how a soul that has read a part of it is had."""
    for path in sorted(data.glob("rp_*.json")):
        yield "role-play", partial(_role_play, data, model, path.stem[3:])
    if (data / "locomo_dev.json").exists():
        for conv in _read(data / "locomo_dev.json")[:_CONVERSATIONS]:
            yield "LoCoMo", partial(_conversation, model, conv)
    for lang in ("en", "zh"):
        if (data / f"madial_{lang}_dev.json").exists():
            for user in sorted({m["user-id"] for m in _read(data / f"madial_{lang}_memory.json")}):
                yield f"MADial {lang}", partial(_dialogues, data, model, lang, user)
    for name, corpus, asked in (
        ("HotpotQA", "hotpotqa100_corpus.json", "hotpotqa100_questions.json"),
        ("MuSiQue", "musique100_corpus.json", "musique100_questions.json"),
        ("2Wiki", "2wiki_corpus.json", "2wiki_dev.json"),
    ):
        if (data / asked).exists():
            yield name, partial(_passages, data, model, corpus, asked)


async def _measured(told: Mapping[str, Sequence[ReadSoul]]) -> Figures:
    """By set and figure the value of each case."""
    out: Figures = {}
    for name, parts in told.items():
        for part in parts:
            for figure, values in (await part.figures()).items():
                out.setdefault(f"{name}: {figure}", []).extend(values)
    return out


def _difference(before: Sequence[float], after: Sequence[float]) -> str:
    """What a step adds to a figure, with the range of its resamples where it has as many cases as without."""
    gain = float(np.mean(before) - np.mean(after))
    if len(before) != len(after):
        return f"{gain:+.3f}"
    pairs = np.asarray(before) - np.asarray(after)
    if not pairs.any():
        return "="
    chance = np.random.default_rng(0)
    drawn = chance.integers(0, pairs.size, (_RESAMPLES, pairs.size))
    low, high = np.percentile(pairs[drawn].mean(axis=1), (2.5, 97.5))
    mark = "*" if low > 0 or high < 0 else ""
    return f"{gain:+.3f} ({low:+.3f} {high:+.3f}){mark}"


async def main() -> None:
    """Read the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model")
    parser.add_argument("--only", default=",".join(STEPS))
    parser.add_argument("--sets", default="")
    options = parser.parse_args()
    model = None
    if options.model:
        load = cache(partial(sentence_transformer.load, options.model, threads=1))
        model = ModelSource(options.model, lambda: True, load)
    wanted = set(filter(None, options.sets.split(",")))
    async with AsyncExitStack() as stack:
        told: dict[str, list[ReadSoul]] = {}
        for name, soul in souls(options.data, model):
            if not wanted or name in wanted:
                told.setdefault(name, []).append(await stack.enter_async_context(soul()))
                print(f"read: {name}", flush=True)
        whole = await _measured(told)
        print("\nwhole")
        for figure, values in whole.items():
            print(f"  {figure:<36}{np.mean(values):6.3f}  n {len(values)}")
        for step in filter(None, options.only.split(",")):
            with ExitStack() as changed:
                for each in STEPS[step]():
                    changed.enter_context(each)
                without = await _measured(told)
            print(f"\nwhat this adds: {step}")
            for figure, values in whole.items():
                shown = _difference(values, without[figure])
                if shown != "=":
                    print(f"  {figure:<36}{shown}", flush=True)


if __name__ == "__main__":
    asyncio.run(main())

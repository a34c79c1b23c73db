"""A life in which all happens: chats change, much is told twice, a model drafts, texts fade, work is undone.

After each step the store has what the mind has, nothing derived outlives its messages, and the fingerprint is
that of a fresh replay of what is on the screen.
"""

from __future__ import annotations

import random
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from soulmem.domain.dialogue import Role, SentMessage
from soulmem.domain.edges import Edge
from soulmem.domain.errors import NotFound, Unprocessable
from soulmem.domain.ids import MemoryId, SlotId, SoulId
from soulmem.domain.memories import DERIVED, Memory, MemoryState, Origin
from soulmem.domain.micro_units import AnchorKind
from soulmem.domain.opinions import Verdict
from soulmem.engine.api.requests import MemoryPatch, NewAnchor
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.jobs import JobState
from tests.engine.model_stage import ModelStage
from tests.engine.picky_store import PickyStore
from tests.engine.picture import picture
from tests.engine.stage import ME, Stage, ended, line
from tests.engine.told import Told, replayed
from tests.engine.true_and_false import STRANGER, true_and_false
from tests.fakes.embedder import FakeEmbedder

S1 = SoulId("s1")
EVENTS = (
    "{}Irma and I stole the silver flag from the mill that night, and nobody {}.",
    "{}Irma and I stole the silver spoon from the mill that night, and nobody {}.",
    "{}那天夜里我和雨果从磨坊偷走了祖父的剑，{}没人发现。",
)
OPENINGS = ("", "Well, ", "You know, ", "As I said, ")
ENDS = ("noticed", "noticed it", "ever noticed")
TALKS = (
    "They spoke at length of {}.",
    "I promise you, Bela gets the {} for 300 coins, and Irma keeps the boat!",
    "Bela was afraid of the {} in the harbour, and I laughed until noon.",
    "雨果说他在港口丢了 {}，我答应替他去找。",
)
QUESTIONS = (
    "Irma, the silver flag, the mill",
    "What did you promise Bela?",
    "Who keeps the boat?",
)
NOTES = ("kettle", "ladder", "window", "garden", "button", "pepper")
JOBS = ("consolidate", "forget", "topics", "digest", "replay")
VERDICTS = (Verdict.STRONGER, Verdict.NOT_NOW, Verdict.WRONG)
_MARKED = re.compile(r"\bw\d+q\b")


class WholeLife:
    """One soul, its chats on the screen, and a player who does anything; all by one random number."""

    def __init__(self, number: int) -> None:
        self.rng = random.Random(number)
        self.store = PickyStore()
        self.embedder = FakeEmbedder(dim=64)
        self.stage = ModelStage(
            true_and_false,
            store=self.store,
            fallback=self.embedder.source(),
            asks_questions=True,
        )
        self.chats = [Told("c0", ("s1",))]
        self.current = self.chats[0]
        self.count = 0
        self.jobs: list[str] = []
        self.judged: list[str] = []  # changes
        self.notes: dict[MemoryId, str] = {}  # as the user wrote them
        self.replays: dict[str, str] = {}  # fingerprint by what is on the screen
        self.done: list[str] = []  # steps, for whoever reads a failure
        self.seen: dict[str, int] = {}  # what happened, and how often

    async def begin(self) -> None:
        """A chat that has been told a few things, and a quiet moment."""
        await self.stage.start()
        await self.stage.soul()
        self.say(18)
        await self.show()
        await self.rest()

    async def step(self) -> None:
        """One thing that a player does, or a pause; then look."""
        doing: list[Callable[[], Awaitable[None]]] = [self.tell] * 4
        doing += [self.reply] * 4 + [self.rest] * 3 + [self.work] * 3
        doing += [self.edit, self.swipe, self.delete, self.insert, self.hide] * 2
        doing += [self.open_chat, self.turn_to, self.judge, self.undo, self.undo]
        doing += [self.write, self.rewrite, self.throw_away, self.mark_words]
        doing += [self.restart, self.lose]
        act = self.rng.choice(doing)
        self.done.append(act.__name__)
        self.stage.clock.advance(self.rng.choice((60, 7200, 90_000)), 0)
        await act()
        await self.look()

    # What is on the screen

    def text(self) -> str:
        """Something to say: an event told once more, or a line with a word of its own."""
        self.count += 1
        if self.rng.random() < 0.4:
            opening, end = self.rng.choice(OPENINGS), self.rng.choice(ENDS)
            return self.rng.choice(EVENTS[:2]).format(opening, end)
        if self.rng.random() < 0.1:
            return EVENTS[2].format(self.rng.choice(("", "好像")), "一直")
        return self.rng.choice(TALKS).format(f"w{self.count}q")

    def message(self, slot: str | None = None, **more: Any) -> SentMessage:
        """A new one, or another text for the slot."""
        text = self.text()
        role = (Role.CHARACTER, Role.USER)[self.count % 2]
        at = self.stage.clock.now()
        return line(slot or f"m{self.count}", text, role, sent_at=at, **more)

    def say(self, number: int) -> None:
        """New messages in this chat."""
        self.current.messages += [self.message() for _ in range(number)]

    async def show(self) -> None:
        """The chat goes to the engine as a client sends it."""
        how = self.rng.choice(("full", "bare", "base"))
        await self.current.show(self.stage, how)

    def place(self) -> int | None:
        """One of the messages of this chat."""
        count = len(self.current.messages)
        return self.rng.randrange(count) if count else None

    async def tell(self) -> None:
        """The chat goes on."""
        self.say(self.rng.randrange(2, 9))
        await self.show()

    async def edit(self) -> None:
        """One message gets another text."""
        at = self.place()
        if at is not None:
            messages = self.current.messages
            messages[at] = self.message(messages[at].slot)
            await self.show()

    async def swipe(self) -> None:
        """Another reply in the place of the last one."""
        if self.current.messages:
            last = self.current.messages[-1]
            swiped = self.message(last.slot, swipe=1)
            self.current.messages[-1] = replace(swiped, role=Role.CHARACTER)
            await self.show()

    async def delete(self) -> None:
        """A few messages go."""
        at = self.place()
        if at is not None:
            del self.current.messages[at : at + self.rng.randrange(1, 4)]
            await self.show()

    async def insert(self) -> None:
        """A message between others."""
        at = self.place() or 0
        self.current.messages.insert(at, self.message())
        await self.show()

    async def hide(self) -> None:
        """A message is hidden from the model, or seen by it again."""
        at = self.place()
        if at is not None:
            messages = self.current.messages
            messages[at] = replace(messages[at], hidden=not messages[at].hidden)
            await self.show()

    async def lose(self) -> None:
        """Most of the chat goes, and the user says yes to it."""
        left = self.rng.randrange(len(self.current.messages) + 1)
        self.current.messages = self.current.messages[:left]
        await self.show()

    async def open_chat(self) -> None:
        """On in a branch of this chat, or in a new one."""
        at = self.place()
        if len(self.chats) > 3:
            return
        opened = Told(f"c{len(self.chats)}", ("s1",))
        if at is not None and self.rng.random() < 0.7:
            opened.messages = self.current.messages[: at + 1]
            opened.parent = (self.current.id, opened.messages[-1].slot)
        self.chats.append(opened)
        self.current = opened
        self.say(self.rng.randrange(2, 7))
        await self.show()

    async def turn_to(self) -> None:
        """On in another chat."""
        self.current = self.rng.choice(self.chats)
        await self.show()

    # What the soul does with it

    def query(self) -> str:
        """What a recall asks for."""
        words = (message.text or "" for message in self.current.messages)
        return self.rng.choice([*words, *NOTES, *QUESTIONS, *QUESTIONS])

    async def reply(self) -> None:
        """A recall for a reply that is kept, or swiped away."""
        slot, kept = f"r{self.count}", self.rng.random() < 0.8
        query = self.query()
        for _ in range(self.rng.randrange(1, 3)):  # twice: they are linked
            await self.stage.recall(query, self.current.id, slot=SlotId(slot), swipe=0, max_items=6)
            swipe = 0 if kept else 1
            said = self.message(slot, swipe=swipe)
            said = replace(said, role=Role.CHARACTER, speaker="Mira")
            self.current.messages += [said, self.message()]
            await self.show()
            slot = f"r{self.count}"
        await self.stage.engine.learner.drain()

    async def judge(self) -> None:
        """A verdict on something that came."""
        answer = await self.stage.recall(self.query(), max_items=6)
        came = [m for m in answer.memories if m.kind != "fact"]
        if came:
            memory, verdict = self.rng.choice(came), self.rng.choice(VERDICTS)
            key = MemoryId(memory.id)
            give = self.stage.engine.feedback.give
            self.judged.append((await give(ME, answer.trace, key, verdict)).change)

    async def rest(self) -> None:
        """A quiet moment, after turns in which texts fade."""
        self.stage.clock.advance(700, self.rng.choice((0, 0, 40, 900, 9000)))
        await self.stage.engine.idle.run()

    async def restart(self) -> None:
        """What is read from the store is what was there."""
        before = await picture(self.stage, S1)
        await self.stage.restart()
        after = await picture(self.stage, S1)
        assert {k: v for k, v in after.items() if v != before[k]} == {}

    # What the user writes

    async def write(self) -> None:
        """A note by hand."""
        text = f"{self.rng.choice(NOTES)} {self.rng.choice(NOTES)} n{self.count}"
        key = (await self.stage.note(text)).memory.id
        self.notes[key] = text

    async def rewrite(self) -> None:
        """A note gets another text, or is made permanent."""
        if self.notes:
            key = self.rng.choice(list(self.notes))
            self.count += 1
            text = f"{self.rng.choice(NOTES)} n{self.count}"
            patch = MemoryPatch(text=text, locked=self.rng.random() < 0.3)
            await self.stage.engine.memories.patch(ME, key, patch)
            self.notes[key] = text

    async def throw_away(self) -> None:
        """A note goes to the bin, or for good."""
        if self.notes:
            key = self.rng.choice(list(self.notes))
            del self.notes[key]
            delete = self.stage.engine.memories.delete
            await delete(ME, key, "permanent")
            if self.rng.random() < 0.5:
                await delete(ME, key, "purge")

    async def mark_words(self) -> None:
        """Words of a text of a chat are to stay."""
        mind = await self.stage.mind()
        texts = [m for m in mind.memories.values() if m.origin is Origin.CHAT]
        texts = [m for m in texts if is_used(m) and m.evidence]
        if texts:
            memory = self.rng.choice(sorted(texts, key=lambda m: m.id))
            record = mind.fading.of(memory.id)
            text = (record and record.reworded) or memory.text
            word = re.findall(r"\w+", text)[-1]
            kind = self.rng.choice(list(AnchorKind))
            patch = MemoryPatch(anchors=(NewAnchor(word, kind),))
            await self.stage.engine.memories.patch(ME, memory.id, patch)

    # Jobs, and what takes them back

    async def work(self) -> None:
        """A job that somebody asks for, perhaps undone at once: then all is as before it."""
        kind = self.rng.choice(JOBS)
        self.done[-1] += f" {kind}"
        self.say(self.rng.randrange(20))
        await self.show()
        self.stage.clock.advance(90_000, self.rng.choice((0, 900)))
        await self.stage.engine.learner.drain()
        before = await self.state()
        arguments = {"period": "day"} if kind == "digest" else {}
        job = await self.stage.engine.jobs.ask(ME, kind, S1, arguments)
        view = await ended(self.stage, job)
        assert view.state is JobState.DONE, view.error
        self.jobs.append(job)
        if self.rng.random() < 0.5:
            self.done[-1] += ", undone"
            self.count_of(f"{kind} undone", await self.take_back(job=job))
            after = await self.state()
            if kind == "topics":  # they follow from the graph, and are no one's doing
                assert after["fingerprint"] == before["fingerprint"]
                return
            assert {k: v for k, v in after.items() if v != before[k]} == {}

    async def undo(self) -> None:
        """Work of a quiet moment, a job or a verdict is taken back, whenever it was."""
        page = await self.stage.engine.history.audit(ME, S1, None, 200, None)
        sources = {e.source for e in page.entries if e.source}
        choices = [("job", source) for source in sorted(sources)]
        choices += [("change", change) for change in self.judged]
        if choices:
            field, name = self.rng.choice(choices)
            before = await self.stage.fingerprint()
            self.count_of("undone", await self.take_back(**{field: name}))
            assert await self.stage.fingerprint() == before

    async def take_back(self, job: str | None = None, change: str | None = None) -> int:
        """The number of changes that were undone."""
        undo = self.stage.engine.history.undo
        try:
            result = await undo(ME, S1, since=None, change=change, job=job)
        except (NotFound, Unprocessable):  # it changed nothing
            return 0
        return len(result.changes)

    def count_of(self, what: str, number: int) -> None:
        """Add to what happened."""
        self.seen[what] = self.seen.get(what, 0) + number

    async def state(self) -> dict[str, Any]:
        """What a recall may bring, and how it stands: what an undone job must leave as it was."""
        drawn = await picture(self.stage, S1)
        seen = {key for keys in drawn["visible"].values() for key in keys}
        used = {key: m for key, m in drawn["memories"].items() if key in seen}
        return {
            "fingerprint": drawn["fingerprint"],
            "visible": drawn["visible"],
            "fading": drawn["fading"],
            "edges": {key: without_time(e) for key, e in drawn["edges"].items()},
            "texts": {key: (m.text, m.kind, m.tags) for key, m in used.items()},
        }

    # What must hold at any time

    async def look(self) -> None:
        """The store equals the mind; no ghost; a replay of the screen has this fingerprint."""
        mind = await self.stage.mind()
        await self.same_as_stored(mind)
        await self.no_ghost(mind)
        for key, text in self.notes.items():
            assert mind.memories[key].text == text
            assert is_used(mind.memories[key])
        assert await self.stage.fingerprint() == await self.replay()
        self.count_seen(mind)

    async def same_as_stored(self, mind: Mind) -> None:
        """Memories, edges, fading, derivations and memory vectors."""
        graph = await self.store.graph(ME, S1)
        assert {m.id: m for m in graph.memories} == dict(mind.memories)
        assert {e.id: e for e in graph.edges} == dict(mind.edges)
        fading = await self.store.fading(ME, S1)
        assert {f.memory: f for f in fading} == {f.memory: f for f in mind.fading}
        derived = await self.store.derivations(ME, S1)
        assert {d.id: d for d in derived} == {d.id: d for d in mind.derivations}
        vectors = await self.store.edge_vectors(ME, S1)
        assert {v.edge for v in vectors} == {v.edge for v in mind.edge_vectors}

    async def no_ghost(self, mind: Mind) -> None:
        """Each derived memory in use has its messages; no word of a message that is gone is left."""
        shown = {(m.slot, m.hash) for chat in self.chats for m in chat.messages}
        for derivation in mind.derivations:
            for key in derivation.read:
                assert rests_on(mind.memories[key], shown), (derivation.id, key)
        for memory in mind.memories.values():
            if is_used(memory) and memory.evidence and memory.origin in DERIVED:
                assert rests_on(memory, shown), memory.text
            if is_used(memory) and memory.origin is Origin.MODEL:
                assert mind.derivations.of(memory.id), memory.text
        words = await self.stage.words() + repr(list(mind.fading))
        told = " ".join(m.text or "" for chat in self.chats for m in chat.messages)
        assert set(_MARKED.findall(words)) <= set(_MARKED.findall(told))
        assert STRANGER not in "".join(m.text for m in mind.memories.values())

    async def replay(self) -> str:
        """The fingerprint of a new engine that is shown the chats once."""
        shown = [chat for chat in self.chats if chat.messages]
        key = repr([(chat.parent, chat.messages) for chat in shown])
        if key not in self.replays:
            other = Stage()
            await other.start()
            await other.soul()
            await replayed([replace(chat) for chat in shown], other)
            self.replays[key] = await other.fingerprint()
            await other.stop()
        return self.replays[key]

    def count_seen(self, mind: Mind) -> None:
        """What there was at its most."""
        memories = list(mind.memories.values())
        states = [m.state for m in memories]
        edges = [edge.kind.value for edge in mind.edges.every()]
        now = {
            "merged": states.count(MemoryState.MERGED),
            "forgotten": states.count(MemoryState.FORGOTTEN),
            "links": edges.count("associates"),
            "drafted": sum(m.origin is Origin.MODEL for m in memories),
            "digests": sum(m.kind.value == "digest" for m in memories),
            "reworded": sum(f.reworded is not None for f in mind.fading),
            "vectors": len(mind.edge_vectors),
        }
        for what, number in now.items():
            self.seen[what] = max(number, self.seen.get(what, 0))


def is_used(memory: Memory) -> bool:
    """Whether a recall may bring it, or bring it as a telling of another."""
    return memory.state in (MemoryState.ACTIVE, MemoryState.MERGED)


def rests_on(memory: Memory, shown: set[tuple[SlotId, str]]) -> bool:
    """Whether one of its sets of messages is on the screen."""
    sets = memory.evidence
    return any(all((v.slot, v.hash) in shown for v in versions) for versions in sets)


def without_time(edge: Edge) -> tuple[Any, ...]:
    """What an edge says."""
    return (edge.kind, edge.source, edge.target, edge.verb, round(edge.strength, 9))

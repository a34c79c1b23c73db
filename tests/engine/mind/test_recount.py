"""Does a memory count the same however its messages came: once, anew, removed and added again?"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.domain.dialogue import Role, SentMessage
from soulmem.domain.edges import EdgeKind
from soulmem.domain.memories import MemoryKind
from soulmem.engine.mind.mind import Mind
from tests.engine.stage import ME, Stage, line
from tests.examples import few

TEXTS = st.sampled_from(
    [
        *(
            "Ask Kaelith.",
            "kaelith again",
            "Poor Kaelith!",
            "Castle Kaelith burned.",
            "We saw Castle Kaelith.",
        ),
        *(
            "林月来了。",
            "Where is Lin Yue?",
            "我想见林月。",
            "It rained on the lantern.",
            "灯笼在图书馆里。",
        ),
        *(
            "We met in Vienna.",
            "Vienna was cold, Odette.",
            "Hm.",
            "*nods*",
            "Dear Odette, the lantern!",
        ),
    ]
)
SPEAKERS = st.sampled_from(["Al", "Al", "Mira", "Odette", "林月"])


@dataclass(frozen=True)
class Step:
    """Take so many messages out from there on, and put these in."""

    start: int
    out: int
    put: tuple[tuple[str, str], ...]


STEPS = st.lists(
    st.builds(
        Step,
        st.integers(0, 9),
        st.integers(0, 4),
        st.lists(st.tuples(TEXTS, SPEAKERS), max_size=4).map(tuple),
    ),
    min_size=1,
    max_size=6,
)


def counts_of(mind: Mind) -> tuple[object, ...]:
    """What the mind counts: terms, names with who gives them, learned concepts, mentions."""
    texts = {key: m for key, m in mind.memories.items() if m.kind is MemoryKind.EPISODE}
    by_text = {key: (m.text, m.terms, m.names, m.situation) for key, m in texts.items()}
    names = {folded: mind.name_counts.memories_with(folded) for folded in mind.name_counts.folds()}
    learned = {m.id: (m.text, m.concept) for m in mind.memories.values() if m.is_learned_name}
    columns, n = mind.columns, mind.size
    lived = np.sort(columns.happened[:n][columns.opens_exchange[:n] & columns.live[:n]])
    assert np.array_equal(mind.frame().visibility.exchange_times(), lived)
    mentions = {(e.source, e.target) for e in mind.edges.every() if e.kind is EdgeKind.MENTIONS}
    return by_text, names, learned, mentions


async def play(steps: list[Step]) -> None:
    """Play the script, and tell what is left of it to another engine."""
    stage, again = Stage(), Stage()
    messages: list[SentMessage] = []
    slots = 0
    try:
        for each_stage in (stage, again):
            await each_stage.start()
            await each_stage.soul()
        for step in steps:
            fresh = []
            for text, speaker in step.put:
                role = Role.CHARACTER if speaker == "Mira" else Role.USER
                fresh.append(line(f"m{slots}", text, role, speaker=speaker))
                slots += 1
            removed = messages[step.start : step.start + step.out]
            messages[step.start : step.start + step.out] = fresh
            await stage.sync("c1", [*messages, line("end")], confirm=True)
            if removed:  # what was taken out comes back, and goes again
                before = counts_of(await stage.mind())
                back = [*messages[: step.start], *removed, *messages[step.start :]]
                await stage.sync("c1", [*back, line("end")], confirm=True)
                await stage.sync("c1", [*messages, line("end")], confirm=True)
                assert counts_of(await stage.mind()) == before
        await again.sync("c1", [*messages, line("end")])
        assert counts_of(await stage.mind()) == counts_of(await again.mind())
        assert await stage.fingerprint() == await again.fingerprint()
    finally:
        await stage.stop()
        await again.stop()


async def test_what_was_lived_is_counted_anew_whenever_a_message_comes_or_goes(
    stage: Stage,
) -> None:
    await stage.soul()
    for messages_now, exchanges in (
        ("ab", 2),
        ("abc", 3),
        ("ac", 2),
        ("c", 1),
        ("", 0),
        ("de", 2),
    ):
        messages = [
            line(f"m{sign}", f"Odette says {sign}.", Role.USER, speaker="Al")
            for sign in messages_now
        ]
        await stage.sync("c1", [*messages, line("end")], confirm=True)
        mind = await stage.mind()
        counts_of(mind)
        assert mind.frame().visibility.exchange_times().size == mind.lived_turns(0) == exchanges
    memory = next(key for key, m in mind.memories.items() if m.kind is MemoryKind.EPISODE)
    await stage.engine.memories.delete(ME, memory, None)
    counts_of(mind)


@pytest.mark.slow("lives at random, each recounted")
@pytest.mark.timeout(300)
def test_counts_are_those_of_what_is_left() -> None:
    """Random scripts."""
    loop = asyncio.new_event_loop()

    @few(20, long=1_000)
    @given(STEPS)
    def every(steps: list[Step]) -> None:
        loop.run_until_complete(play(steps))

    try:
        every()
    finally:
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()

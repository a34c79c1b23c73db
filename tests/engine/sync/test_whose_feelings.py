"""Emotions and mood are the soul's own; those of others belong to the participants."""

from __future__ import annotations

from dataclasses import replace

from soulmem.domain.dialogue import Role, SentMessage
from tests.engine.stage import ME, Stage, line

RAGE = "I am furious, I hate this!"


def alternating_lines(*texts: str) -> list[SentMessage]:
    """A chat, the user first: Al says the odd lines, Mira the even ones."""
    messages = []
    for n, text in enumerate(texts, 1):
        if n % 2:
            messages.append(line(f"m{n}", text))
        else:
            messages.append(replace(line(f"m{n}", text, Role.CHARACTER), speaker="Mira"))
    return messages


async def emotions_in(stage: Stage, text: str) -> tuple[list[str], dict[str, list[str]]]:
    """The soul's own emotions in that scene, and those of others by name."""
    situation = (await stage.engine.memories.get(ME, await stage.find(text))).memory.situation
    others = {
        participant.name: [e.label for e in participant.feels]
        for participant in situation.participants
        if participant.feels
    }
    return [participant.label for participant in situation.emotions], others


async def mood(stage: Stage) -> str | None:
    trace = (await stage.recall("And now?", "c1")).trace
    current_mood: str | None = (await stage.engine.recaller.trace(ME, trace)).guidance["mood"]
    return current_mood


async def test_what_the_user_feels_is_not_hers(stage: Stage) -> None:
    await stage.soul()
    await stage.sync("c1", alternating_lines(RAGE, "Sit down, then.", "No.", "As you like.", "x"))
    assert await emotions_in(stage, f"Al: {RAGE}") == ([], {"Al": ["anger"]})
    assert await mood(stage) is None


async def test_what_she_feels_is_hers(stage: Stage) -> None:
    await stage.soul()
    await stage.sync("c1", alternating_lines("Hello.", RAGE, "Calm down.", f"{RAGE} Truly.", "x"))
    assert await emotions_in(stage, f"Mira: {RAGE}") == (["anger"], {})
    assert await mood(stage) == "anger"


async def test_what_is_said_of_somebody_by_name_is_theirs(stage: Stage) -> None:
    await stage.soul()
    await stage.sync(
        "c1",
        alternating_lines(
            "Mira weeps. I am happy.",
            "Old Anton was here, and Anton laughed with joy.",
            "x",
        ),
    )
    assert await emotions_in(stage, "Al: Mira weeps. I am happy.") == (
        ["sadness"],
        {"Al": ["joy"]},
    )
    assert await emotions_in(stage, "Mira: Old Anton was here, and Anton laughed with joy.") == (
        ["joy"],
        {},
    )


async def test_it_lasts(stage: Stage) -> None:
    await stage.soul()
    await stage.sync("c1", alternating_lines(RAGE, "Sit down, then.", "x"))
    await stage.restart()
    assert await emotions_in(stage, f"Al: {RAGE}") == ([], {"Al": ["anger"]})

"""Emotions and mood are the soul's own; what others feel stands with them."""

from __future__ import annotations

from dataclasses import replace

from soulmem.domain.dialogue import Role, SentMessage
from soulmem.domain.situation import Emotion, Participant, ParticipantKind, Situation
from soulmem.engine.upkeep.rereading import all_feelings
from tests.engine.stage import ME, Stage, line, lines

RAGE = "I am furious, I hate this!"


def of_both(*texts: str) -> list[SentMessage]:
    """A talk, the user first: Al says the odd ones, Mira the even ones."""
    said = []
    for n, text in enumerate(texts, 1):
        if n % 2:
            said.append(line(f"m{n}", text))
        else:
            said.append(replace(line(f"m{n}", text, Role.CHARACTER), speaker="Mira"))
    return said


async def felt(stage: Stage, text: str) -> tuple[list[str], dict[str, list[str]]]:
    """The soul's own feelings in that scene, and those of others."""
    situation = (
        await stage.engine.memories.get(ME, await stage.find(text))
    ).memory.situation
    others = {
        one.name: [e.label for e in one.feels]
        for one in situation.participants
        if one.feels
    }
    return [one.label for one in situation.emotions], others


async def mood(stage: Stage) -> str | None:
    trace = (await stage.recall("And now?", "c1")).trace
    found: str | None = (await stage.engine.recaller.trace(ME, trace)).guidance["mood"]
    return found


async def test_what_the_user_feels_is_not_hers(stage: Stage) -> None:
    await stage.soul()
    await stage.sync("c1", of_both(RAGE, "Sit down, then.", "No.", "As you like.", "x"))
    assert await felt(stage, f"Al: {RAGE}") == ([], {"Al": ["anger"]})
    assert await mood(stage) is None


async def test_what_she_feels_is_hers(stage: Stage) -> None:
    await stage.soul()
    await stage.sync("c1", of_both("Hello.", RAGE, "Calm down.", f"{RAGE} Truly.", "x"))
    assert await felt(stage, f"Mira: {RAGE}") == (["anger"], {})
    assert await mood(stage) == "anger"


async def test_what_is_said_of_somebody_by_name_is_theirs(stage: Stage) -> None:
    await stage.soul()
    await stage.sync(
        "c1",
        of_both(
            "Mira weeps. I am happy.",
            "Old Anton was here, and Anton laughed with joy.",
            "x",
        ),
    )
    assert await felt(stage, "Al: Mira weeps. I am happy.") == (
        ["sadness"],
        {"Al": ["joy"]},
    )
    assert await felt(
        stage, "Mira: Old Anton was here, and Anton laughed with joy."
    ) == (["joy"], {})


async def test_it_lasts(stage: Stage) -> None:
    await stage.soul()
    await stage.sync("c1", of_both(RAGE, "Sit down, then.", "x"))
    await stage.restart()
    assert await felt(stage, f"Al: {RAGE}") == ([], {"Al": ["anger"]})


async def test_what_was_written_down_as_hers_is_put_right(stage: Stage) -> None:
    await stage.soul()
    await stage.sync(
        "c1", [line("m1", RAGE), line("m2", RAGE + " Truly."), *lines(3, start=3)]
    )
    mind = await stage.mind()
    old, edited = (
        await stage.find(f"Al: {RAGE}"),
        await stage.find(f"Al: {RAGE} Truly."),
    )
    for key, feelings in (
        (old, all_feelings(mind.memories[old])),
        (edited, (Emotion("calm", 0.5),)),
    ):
        known = mind.memories[key]
        people = (Participant("Al", ParticipantKind.OTHER),)
        mind.memories[key] = replace(
            known, situation=Situation(participants=people, emotions=feelings)
        )
    await stage.engine.idle.run()
    assert await felt(stage, f"Al: {RAGE}") == ([], {"Al": ["anger"]})
    assert await felt(stage, f"Al: {RAGE} Truly.") == (["calm"], {})

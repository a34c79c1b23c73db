"""Does the map of a heart have whom the soul met, with sentences that name them and that still read?"""

from __future__ import annotations

from soulmem.domain.ids import SoulId
from soulmem.engine.api.requests import MemoryPatch
from soulmem.engine.views.heart import Heart, HeartLine
from tests.engine.stage import ME, Stage
from tests.engine.views.test_people import START, told

TEXTS = (
    "Kaelith sold me a brass lantern.",
    "It was cold. Then Kaelith and Odile kept my secret. We went home.",
    "Kaelith laughed at the rain for an hour.",
    "Does Odile know what Kaelith promised?",
    "I gave the blue key to Odile.",
    "Later I met Rowan at the well.",
    "So Rowan left before supper.",
    "Good night.",
)


async def heart_of(stage: Stage, you: str = "") -> Heart:
    """The map of the soul's heart."""
    return await stage.engine.overviews.heart(ME, SoulId("s1"), you)


def lines(heart: Heart) -> dict[tuple[str, ...], HeartLine]:
    """The lines by the names of those whom they join."""
    name = {person.concept: person.name for person in heart.people}
    return {
        tuple(sorted(name[end] for end in (line.first, line.second) if end)): line
        for line in heart.lines
    }


async def test_everybody_has_a_sentence_and_so_have_two_that_were_told_of_together(
    stage: Stage,
) -> None:
    await stage.sync("a", told(TEXTS))
    heart = await heart_of(stage)
    found = lines(heart)
    assert list(found) == [
        ("Kaelith",),
        ("Odile",),
        ("Rowan",),
        ("Kaelith", "Odile"),
    ]
    for names, line in found.items():
        assert all(name in line.text for name in names)
        assert 0.0 < line.clear <= 1.0
    assert found["Kaelith", "Odile"].text.endswith("Then Kaelith and Odile kept my secret.")
    weights = [found[name,].weight for name in ("Kaelith", "Odile", "Rowan")]
    assert weights == sorted(weights, reverse=True)
    assert weights[0] == 1.0
    assert set(heart.places) == {person.concept for person in heart.people}


async def test_what_matters_most_is_told_and_what_was_binned_is_not(
    stage: Stage,
) -> None:
    await stage.sync("a", told(TEXTS))
    mind = await stage.mind()
    by_text = {memory.text: memory.id for memory in mind.memories.values()}
    (key,) = (by_text[text] for text in by_text if text.endswith("lantern."))
    await stage.engine.memories.patch(ME, key, MemoryPatch(importance=1.0))
    assert lines(await heart_of(stage))["Kaelith",].memory == key
    await stage.engine.memories.delete(ME, key, confirm=None)
    assert lines(await heart_of(stage))["Kaelith",].memory != key


async def test_who_goes_by_the_players_name_stands_in_the_middle(stage: Stage) -> None:
    await stage.sync("a", told(TEXTS))
    heart = await heart_of(stage, "odile")
    (odile,) = (p.concept for p in heart.people if p.name == "Odile")
    assert heart.you == odile
    assert heart.places[odile] == (0.62, 0.5)


async def test_nobody_met_is_an_empty_map(stage: Stage) -> None:
    await stage.sync("a", told(["Good night."]))
    heart = await heart_of(stage)
    assert (list(heart.people), list(heart.lines), heart.you) == ([], [], None)


async def test_places_and_scenes_stand_round_about_on_request(stage: Stage) -> None:
    told_there = [
        "We met Kaelith in Tarnmouth.",
        "Kaelith wept in Tarnmouth that night.",
        "I sold the mare in Tarnmouth.",
    ]
    await stage.sync("a", told([*TEXTS, *told_there]))
    await stage.sync("b", told([f"{text} Again." for text in TEXTS]))
    plain = await heart_of(stage)
    heart = await stage.engine.overviews.heart(ME, SoulId("s1"), "", with_spots=True)
    places = [spot.name for spot in heart.spots if spot.began is None]
    assert places == ["Tarnmouth"]
    assert sum(spot.began is not None for spot in heart.spots) >= 1
    began = {spot.began for spot in heart.spots if spot.began is not None}
    assert began == {START}, "with the first message"
    assert plain.lines == heart.lines[: len(plain.lines)]
    ends = {line.second for line in heart.lines[len(plain.lines) :]}
    assert ends == {spot.id for spot in heart.spots}
    assert set(heart.places) == set(plain.places) | {s.id for s in heart.spots}
    assert all(heart.places[key] == place for key, place in plain.places.items())
    names = {person.concept: person.name for person in heart.people}
    met = [line for line in heart.lines if line.second == "place tarnmouth"]
    assert [names[line.first] for line in met if line.first] == ["Kaelith"]
    assert all("Tarnmouth" in line.text for line in met)

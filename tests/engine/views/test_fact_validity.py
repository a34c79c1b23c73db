"""A fact that a later one contradicts is told as past, and holds again once the later one is gone."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Mapping

import pytest
from msgspec import UNSET

from soulmem.adapters.surreal import SurrealStore
from soulmem.consolidation.validity import FactValidity
from soulmem.domain.dialogue import Role, SentMessage
from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.llm import Prompt
from soulmem.domain.memories import MemoryKind, Origin
from soulmem.engine.api.requests import NewEdge
from soulmem.engine.views.fact_validity import fact_validities
from soulmem.server.resources.memory_responses import graph_response, memory_response
from tests.engine.model_stage import ModelStage, obliging, read_of, talk
from tests.engine.stage import ME, ended, line

_FACT = re.compile(
    r"(Ann|小安) ?(lives in|resides in|moved away from|loves|hates|is a friend of|住在|已搬离) ?(\w+?)[.。]"
)
_OVER = {"moved away from": "lives in", "已搬离": "住在"}

PARIS = "Ann lives in Paris"
ROME = "Ann lives in Rome"


def fact_model(prompt: Prompt) -> str:
    """A model that writes down where Ann lives and whom she loves, each time it is said."""
    if prompt.name == "summary":
        return obliging(prompt)
    facts: list[dict[str, object]] = []
    for number, _, text in read_of(prompt):
        for who, verb, thing in _FACT.findall(text):
            plain = _OVER.get(verb, verb)
            fact = {"lines": [number], "subject": who, "verb": plain, "object": thing}
            facts.append(fact | ({"over": True} if verb in _OVER else {}))
    drafts: dict[str, list[object]] = {
        "episodes": [],
        "concepts": [],
        "habits": [],
        "kinds": [],
    }
    return json.dumps(drafts | {"facts": facts})


def chat_with(texts: Mapping[int, str], count: int = 90, word: str = "word") -> list[SentMessage]:
    """A talk in which these messages say something of their own."""
    out = talk(count, 1, word)
    for index, text in texts.items():
        out[index - 1] = line(f"m{index}", text, Role.CHARACTER)
    return out


@pytest.fixture(params=["fake", pytest.param("surreal", marks=pytest.mark.nightly)])
async def stage(request: pytest.FixtureRequest) -> AsyncIterator[ModelStage]:
    """An engine with such a model and one soul: s1, Mira."""
    store = SurrealStore("mem://") if request.param == "surreal" else None
    model_stage = ModelStage(fact_model, store=store)
    await model_stage.start()
    await model_stage.soul()
    yield model_stage
    await model_stage.stop()


async def recalled(stage: ModelStage, query: str, chat: str = "c", start: str = "m89") -> list[str]:
    """The facts that a recall tells, best first."""
    answer = await stage.recall(query, chat, context_from=start)
    return [m.text for m in answer.memories if m.kind == "fact"]


async def validity_by_text(stage: ModelStage) -> dict[str, FactValidity]:
    """How every fact stands, by its sentence."""
    mind = await stage.mind()
    validities = fact_validities(mind, mind.edges.every())
    return {mind.facts[MemoryId(key)].text: validity for key, validity in validities.items()}


async def ended_facts(stage: ModelStage) -> set[str]:
    """The facts that hold no more."""
    return {
        text
        for text, validity in (await validity_by_text(stage)).items()
        if validity.by is not None
    }


async def test_a_later_home_makes_the_former_one_past(stage: ModelStage) -> None:
    await stage.sync("c", chat_with({3: PARIS + ".", 40: ROME + "."}))
    await stage.rest()
    current, before = await recalled(stage, "Where does Ann live, in Paris?")
    assert current == ROME
    assert re.fullmatch(re.escape(PARIS) + r" \(until \d+ \w+ \d{4}, no longer so\)", before)

    stands = await validity_by_text(stage)
    assert stands[ROME].by is None
    assert stands[PARIS].since is not None
    assert stands[PARIS].until == stands[ROME].since

    mind = await stage.mind()
    (ann,) = [m for m in mind.memories.values() if m.text == "Ann" and m.origin is Origin.MODEL]
    shown = memory_response(await stage.engine.memories.get(ME, ann.id)).edges
    around = graph_response(
        await stage.engine.memories.graph(ME, SoulId("s1"), ann.id, 1, 50)
    ).edges
    for edges in (shown, around):
        assert [e.valid_to is UNSET for e in sorted(edges, key=lambda e: str(e.valid_from))] == [
            False,
            True,
        ]


@pytest.mark.parametrize("removal", ["deleted", "edited", "branch"])
async def test_without_the_message_that_ended_it_a_fact_holds_again(
    stage: ModelStage, removal: str
) -> None:
    messages = chat_with({3: PARIS + ".", 40: ROME + "."})
    await stage.sync("c", messages)
    await stage.rest()
    assert await ended_facts(stage) == {PARIS}

    if removal == "branch":
        await stage.sync("b", [*messages[:38], *talk(52, 39, "other")], parent=("c", "m38"))
        await stage.rest()
        assert await recalled(stage, "Where does Ann live, in Paris?", "b") == [PARIS]
        assert len(await recalled(stage, "Where does Ann live, in Paris?", "c")) == 2
        return
    messages[39:40] = [] if removal == "deleted" else talk(1, 40, "other")
    await stage.sync("c", messages)
    await stage.rest()
    assert await recalled(stage, "Where does Ann live, in Paris?") == [PARIS]
    assert await ended_facts(stage) == set()
    assert "Rome" not in await stage.words()


@pytest.mark.parametrize(("counts", "past"), [((30, 60), PARIS), ((30, 60, 90), ROME)])
async def test_undoing_the_job_that_ended_a_fact_has_it_hold_again(
    stage: ModelStage, counts: tuple[int, ...], past: str
) -> None:
    messages = chat_with(
        {3: PARIS + ".", 40: ROME + ".", 65: PARIS + "."}
    )  # she moves, and moves back
    for count in counts[:-1]:
        await stage.sync("c", messages[:count])
        await stage.rest()
    await stage.sync("c", messages[: counts[-1]])
    before = (
        await stage.fingerprint(),
        await validity_by_text(stage),
        await stage.known("c"),
    )
    job = await stage.engine.jobs.ask(ME, "consolidate", SoulId("s1"), {})
    await ended(stage, job)
    assert await ended_facts(stage) == {past}

    await stage.engine.history.undo(ME, SoulId("s1"), since=None, change=None, job=job)
    assert before == (
        await stage.fingerprint(),
        await validity_by_text(stage),
        await stage.known("c"),
    )
    if not isinstance(stage.store, SurrealStore):  # which lies in memory here
        await stage.restart()
        assert await validity_by_text(stage) == before[1]
    await stage.sync("c", talk(2, 1, "other"), confirm=True)
    assert "Rome" not in await stage.words()
    assert "Paris" not in await stage.words()


async def test_what_is_said_to_be_over_is_told_as_past(stage: ModelStage) -> None:
    messages = chat_with({3: PARIS + ".", 40: "Ann moved away from Paris."})
    await stage.sync("c", messages)
    await stage.rest()
    (fact,) = await recalled(stage, "Does Ann live in Paris?")
    assert fact.startswith("Ann lives in Paris (until ")

    messages[2] = talk(1, 3, "other")[0]  # what was before it ended nobody tells any more
    await stage.sync("c", messages)
    assert await recalled(stage, "Does Ann live in Paris?") == ["Ann no longer lives in Paris"]
    messages[60] = line("m61", PARIS + ".", Role.CHARACTER)
    await stage.sync("c", messages)
    await stage.rest()
    assert await recalled(stage, "Does Ann live in Paris?") == [PARIS]


async def test_what_is_said_twice_in_other_words_is_told_once(
    stage: ModelStage,
) -> None:
    await stage.sync("c", chat_with({3: PARIS + ".", 25: ROME + ".", 40: "Ann resides in Paris."}))
    await stage.rest()
    answer = await stage.recall("Where does Ann live, in Paris?", "c", context_from="m89")
    first, second = [m for m in answer.memories if m.kind == "fact"]
    assert first.text in (PARIS, "Ann resides in Paris")
    assert {place.slot for place in first.sources} == {"m3", "m40"}
    assert second.text.startswith("Ann lives in Rome (until ")


async def test_chinese_facts_end_too(stage: ModelStage) -> None:
    roles = (Role.CHARACTER, Role.USER)
    messages = [line(f"m{i}", f"他们谈了很久第{i}件事。", roles[i % 2]) for i in range(1, 91)]
    messages[2], messages[39] = (
        line("m3", "小安住在北京。"),
        line("m40", "小安住在上海。"),
    )
    await stage.sync("c", messages)
    await stage.rest()
    current, before = await recalled(stage, "小安住在北京吗？")
    assert current == "小安住在上海"
    assert re.fullmatch(r"小安住在北京（到\d+年\d+月\d+日为止，现已不再如此）", before)


async def test_feelings_end_by_their_contrary_for_the_same_one_alone(
    stage: ModelStage,
) -> None:
    texts = {
        3: "Ann loves Tom.",
        10: "Ann loves Kim.",
        40: "Ann hates Tom.",
        45: "Ann is a friend of Kim.",
    }
    await stage.sync("c", chat_with(texts))
    await stage.rest()
    assert await ended_facts(stage) == {"Ann loves Tom"}


async def test_what_the_user_wrote_is_not_ended_by_what_a_model_drafted(
    stage: ModelStage,
) -> None:
    rome = await stage.note("Rome", kind=MemoryKind.CONCEPT)
    wish = NewEdge(EdgeKind.RELATES, rome.memory.id, verb="lives in")
    await stage.note("Ann", kind=MemoryKind.CONCEPT, edges=(wish,))
    await stage.sync("c", chat_with({3: PARIS + "."}))
    await stage.rest()
    assert await ended_facts(stage) == set()
    assert {PARIS, ROME} <= set(await recalled(stage, "Where does Ann live, in Paris or in Rome?"))


async def test_of_two_homes_that_the_user_wrote_the_later_one_holds(
    stage: ModelStage,
) -> None:
    ann = await stage.note("Ann", kind=MemoryKind.CONCEPT)
    for place in ("Paris", "Rome"):
        stage.clock.advance(60, 0)
        wish = NewEdge(EdgeKind.RELATES, source=ann.memory.id, verb="lives in")
        await stage.note(place, kind=MemoryKind.CONCEPT, edges=(wish,))
    assert await ended_facts(stage) == {PARIS}

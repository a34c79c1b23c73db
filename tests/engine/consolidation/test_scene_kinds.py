"""Like scenes become a kind of episode, which rests on them, is removed with them and undone with its job."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence

import pytest

from soulmem.domain.derivations import Work
from soulmem.domain.dialogue import SentMessage
from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import ChatId, MemoryId, SoulId
from soulmem.domain.llm import Failure, LlmFailed, Prompt, Unreadable
from soulmem.engine.api.requests import Activity
from tests.consolidation.scenes import LIKE
from tests.engine.kind_scenes import NAMED, KindStage, honest, kind_of, naming, story
from tests.engine.stage import ME, line

pytestmark = pytest.mark.timeout(60)  # the encoder is read once, and reads 40 scenes each time


@pytest.fixture
async def stage() -> AsyncIterator[KindStage]:
    """An engine with a good model, the packaged encoder and one soul: s1, Mira."""
    fresh_stage = KindStage()
    await fresh_stage.start()
    await fresh_stage.soul()
    yield fresh_stage
    await fresh_stage.stop()


def failing(failure: LlmFailed) -> Callable[[Prompt], str]:
    """A good model that cannot name kinds."""

    def answer(prompt: Prompt) -> str:
        if prompt.name == "kinds":
            raise failure
        return honest(prompt)

    return answer


def without(
    messages: Sequence[SentMessage], left_out: Collection[SentMessage]
) -> list[SentMessage]:
    """The messages, with another text for each of those to be left out."""
    return [
        line(m.slot, f"Nothing happened at {m.slot}.", m.role) if m in left_out else m
        for m in messages
    ]


def of_any_kind(messages: Iterable[SentMessage]) -> list[SentMessage]:
    """The messages that tell a scene of any kind."""
    return [message for message in messages if kind_of(message.text or "")]


def nights(count: int) -> list[SentMessage]:
    """So many messages of no kind."""
    return [line(f"y{n}", f"Another night went by, number {n}.") for n in range(count)]


async def instances_of(stage: KindStage, kind: MemoryId) -> list[MemoryId]:
    """The scenes that are instances of a kind."""
    edges = (await stage.mind()).edges.of(kind)
    return [edge.source for edge in edges if edge.kind is EdgeKind.INSTANCE_OF]


async def slots_of(stage: KindStage, kind: str) -> set[str]:
    """The slots of the scenes that a kind rests on."""
    (memory,) = [m for m in await stage.kinds() if m.text == kind]
    return set(await stage.sources_of(memory.id))


def scenes(kind: str, messages: Iterable[SentMessage]) -> set[str]:
    """The slots in which scenes of that kind are told."""
    return {m.slot for m in messages if kind_of(m.text or "") == kind}


@pytest.mark.parametrize("language", NAMED)
async def test_like_scenes_become_a_kind(stage: KindStage, language: str) -> None:
    await stage.sync("c", story(language))
    await stage.rest()

    named = await stage.kinds()
    assert named
    assert stage.calls.count("kinds") == 1  # for 84 messages
    for kind in named:
        name = next(key for key, text in NAMED[language].items() if text == kind.text)
        assert len(await slots_of(stage, kind.text)) >= 3
        assert await slots_of(stage, kind.text) <= scenes(name, story(language))
        assert len(await instances_of(stage, kind.id)) >= 3
        assert kind.text in await stage.known("c")
    report = await stage.engine.consolidator.usage_report(ME, SoulId("s1"))
    assert report.totals["replay"].calls == stage.calls.count("kinds")
    assert report.totals["consolidation"].calls == len(stage.calls) - stage.calls.count("kinds")


async def test_a_later_scene_of_a_kind_joins_it_without_a_call(
    stage: KindStage,
) -> None:
    messages = story("en", "rain")
    later = of_any_kind(messages)[-2:]
    first = without(messages, later)
    await stage.sync("c", first)
    await stage.rest()
    (kind,) = await stage.kinds()
    assert await slots_of(stage, kind.text) == scenes("rain", first)

    more = [line(f"x{number}", m.text, m.role) for number, m in enumerate(later)]
    fill = nights(30)
    await stage.sync("c", [*first, more[0], *fill[:12], more[1], *fill[12:]])
    await stage.rest()
    assert stage.calls.count("kinds") == 1
    mind = await stage.mind()
    instances = await instances_of(stage, kind.id)
    slots = {mind.memories[key].evidence[0][0].slot for key in instances}
    assert slots == scenes("rain", first) | {"x0", "x1"}
    assert await slots_of(stage, kind.text) == scenes("rain", first)  # what it was drafted from

    remaining = [*first, *fill[:12], more[1], *fill[12:]]
    await stage.sync("c", remaining)
    assert "x0" not in await stage.words()
    assert len(await instances_of(stage, kind.id)) == len(instances) - 1
    assert [m.id for m in await stage.kinds()] == [kind.id]
    await until_idle(stage)  # what the change brought
    assert stage.calls.count("kinds") == 1
    await check_falls_with_a_scene(stage, remaining)


async def until_idle(stage: KindStage) -> None:
    """Idle rounds until nothing more is written."""
    world = await stage.world()
    while await stage.engine.consolidator.run_idle([world]):
        pass


async def check_falls_with_a_scene(stage: KindStage, messages: list[SentMessage]) -> None:
    """Without one of the scenes that it was named for nothing is left of the kind."""
    messages[0] = line(messages[0].slot, "Nothing of the kind.", messages[0].role)
    removed = min(scenes("rain", messages) - {"x1"})
    await stage.sync("c", [m for m in messages if m.slot != removed])
    mind = await stage.mind()
    assert Work.KIND not in {derivation.work for derivation in mind.derivations}


async def test_an_instance_that_was_taken_back_stays_away(stage: KindStage) -> None:
    messages = story("en", "rain")
    last = of_any_kind(messages)[-1]
    first = without(messages, [last])
    await stage.sync("c", first)
    await stage.rest()
    (kind,) = await stage.kinds()
    fill = nights(30)
    await stage.sync("c", [*first, line("x0", last.text, last.role), *fill])
    stage.clock.advance(60)
    await stage.rest()
    mind = await stage.mind()
    before = {e.id for e in mind.edges.of(kind.id)}
    page = await stage.engine.history.audit(ME, SoulId("s1"), None, 1000, None)
    (made,) = [e for e in page.entries if (e.action.value, e.reason) == ("change", "replay")]
    undone = await stage.engine.history.undo(ME, SoulId("s1"), since=None, change=made.id, job=None)
    assert undone.edges == 1
    plain = [m for m in first[7:] if m not in of_any_kind(first)]
    index = first.index(next(m for m in plain if len(m.text or "") > 20))
    first[index] = line(
        first[index].slot,
        "The tide table hangs beside the kitchen door.",
        first[index].role,
    )
    await stage.sync("c", [*first, line("x0", last.text, last.role), *fill])
    await stage.rest()
    assert len({e.id for e in mind.edges.of(kind.id)}) == len(before) - 1


async def test_nothing_is_asked_twice_not_even_after_a_restart(
    stage: KindStage,
) -> None:
    await stage.sync("c", story())
    await stage.rest()
    before, asked = await stage.kinds(), len(stage.calls)
    await stage.rest()
    await stage.restart()
    await stage.rest()
    assert (await stage.kinds(), len(stage.calls)) == (before, asked)


async def test_a_kind_is_in_the_audit_and_goes_with_its_job(stage: KindStage) -> None:
    await stage.sync("c", story())
    before = await stage.fingerprint()
    await stage.rest()
    (kind,) = await stage.kinds()
    history = await stage.engine.history.of_memory(ME, kind.id, 10, None)
    (made,) = history.entries
    assert (made.action.value, made.actor.value, made.reason) == (
        "create",
        "archivist",
        "replay",
    )

    undone = await stage.engine.history.undo(
        ME, SoulId("s1"), since=None, change=None, job=made.source
    )
    assert kind.id in undone.memories
    assert await stage.kinds() == []
    assert await instances_of(stage, kind.id) == []
    assert await stage.fingerprint() == before
    await stage.rest()
    assert await stage.kinds() == []
    assert stage.calls.count("kinds") == 1


async def test_it_goes_with_any_of_its_scenes_and_comes_again_from_those_left(
    stage: KindStage,
) -> None:
    messages = story("en", "rain")
    await stage.sync("c", messages)
    await stage.rest()
    remaining = scenes("rain", messages)
    assert await slots_of(stage, NAMED["en"]["rain"]) == remaining
    while len(remaining) >= 3:
        assert await slots_of(stage, NAMED["en"]["rain"]) <= remaining
        changed = min(await slots_of(stage, NAMED["en"]["rain"]))
        remaining.discard(changed)
        index = next(i for i, m in enumerate(messages) if m.slot == changed)
        messages[index] = line(
            changed,
            f"The kettle is older than {changed} and both of us.",
            messages[index].role,
        )
        await stage.sync("c", messages)
        assert NAMED["en"]["rain"] not in await stage.words()
        await stage.rest()
    assert NAMED["en"]["rain"] not in await stage.words()


async def test_a_branch_knows_only_kinds_it_saw(stage: KindStage) -> None:
    messages = story()
    await stage.sync("c", messages)
    await stage.rest()
    (kind,) = await stage.kinds()
    slots = [m.slot for m in messages if m.slot in await slots_of(stage, kind.text)]
    for fork, is_known in ((slots[-1], True), (slots[-2], False)):
        upto = next(i for i, m in enumerate(messages) if m.slot == fork) + 1
        branch = [
            *messages[:upto],
            *(line(f"{fork}x{i}", "Shall we go on?") for i in range(3)),
        ]
        await stage.sync(f"b{fork}", branch, parent=("c", fork))
        assert (kind.id in {m.id for m in await stage.visible(f"b{fork}")}) is is_known


async def test_a_name_that_does_not_fit_the_scenes_is_none(stage: KindStage) -> None:
    other = {
        "rain": "money",
        "money": "rain",
        "cooking": "rain",
        "nightmare": "cooking",
    }
    stage.llm.then([naming(lambda language, kind: NAMED[language][other[kind]])])
    await stage.sync("c", story())
    await stage.rest()
    assert stage.calls.count("kinds") == 1
    assert await stage.kinds() == []
    await stage.rest()
    assert stage.calls.count("kinds") == 1  # it was asked


async def test_what_the_model_makes_nothing_of_is_deferred(stage: KindStage) -> None:
    stage.llm.then([failing(Unreadable("nonsense"))])
    await stage.sync("c", story())
    await stage.rest()
    assert stage.calls.count("kinds") == 2
    (deferred,) = (await stage.engine.consolidator.usage_report(ME, SoulId("s1"))).deferred
    assert deferred.work is Work.KIND
    await stage.rest()
    assert stage.calls.count("kinds") == 2

    stage.llm.then([honest])
    await stage.engine.advance_clock(11 * 60, 0)
    await stage.rest()
    assert len(await stage.kinds()) == 1
    assert not (await stage.engine.consolidator.usage_report(ME, SoulId("s1"))).deferred


async def test_no_kind_is_asked_for_while_a_reply_is_written(stage: KindStage) -> None:
    stage.llm.then([failing(LlmFailed(Failure.UNREACHABLE, "away"))])
    await stage.sync("c", story())
    await stage.rest()
    asked = len(stage.calls)
    await stage.engine.chats.activity(ME, ChatId("c"), Activity.GENERATING)
    await stage.rest()
    assert len(stage.calls) == asked
    await stage.engine.chats.activity(ME, ChatId("c"), Activity.IDLE)
    await stage.rest()
    assert stage.calls[asked:] == ["kinds", "kinds"][: len(stage.calls) - asked]
    assert len(stage.calls) > asked


async def test_a_chat_that_changed_meanwhile_has_no_kind_of_what_it_was(
    stage: KindStage,
) -> None:
    stage.llm.then([failing(LlmFailed(Failure.UNREACHABLE, "away"))])
    messages = story()
    await stage.sync("c", messages)
    await stage.rest()
    assert stage.calls[-1] == "kinds"
    stage.llm.then([honest])
    stage.llm.answers.clear()
    resting = asyncio.create_task(stage.rest())
    await stage.thinking()
    like = [index for index, message in enumerate(messages) if kind_of(message.text or "")]
    for index in like:
        messages[index] = line(
            messages[index].slot,
            f"Nothing of the sort, number {index}.",
            messages[index].role,
        )
    await stage.sync("c", messages)
    stage.llm.answers.set()
    await resting
    assert await stage.kinds() == []
    words = await stage.words()
    for texts in LIKE["en"].values():
        assert not any(text in words for text in texts)


async def test_what_the_user_threw_away_stays_away(stage: KindStage) -> None:
    messages = story()
    await stage.sync("c", messages)
    await stage.rest()
    (kind,) = await stage.kinds()
    rests_on = await slots_of(stage, kind.text)
    await stage.engine.memories.delete(ME, kind.id, None)
    # One scene changes, so that what was asked before is void and the same kind is seen again.
    changed = min(rests_on)
    index = next(i for i, m in enumerate(messages) if m.slot == changed)
    messages[index] = line(
        changed, "The kettle is older than both of us together.", messages[index].role
    )
    await stage.sync("c", messages)
    await stage.rest()
    assert kind.text not in {m.text for m in await stage.kinds()}

"""A chat of 60 messages and a real model of half a billion parameters: what lasts, and was it said?"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import pytest

from soulmem.adapters.litellm_endpoint import LitellmEndpoint
from soulmem.consolidation.marks import MarkParams
from soulmem.domain.dialogue import Role, SentMessage
from soulmem.domain.ids import SoulId
from soulmem.domain.memories import Memory, MemoryKind, Origin
from soulmem.engine.consolidating import ConsolidationParams
from soulmem.engine.engine import EngineParams
from tests.engine.model_stage import ModelStage
from tests.engine.reflexes import PATIENT
from tests.engine.stage import ME, line
from tests.real_llm import llama

__all__ = ["llama"]  # a fixture

pytestmark = [
    pytest.mark.llm,
    pytest.mark.slow,
    pytest.mark.timeout(1800),  # some 10 tokens a second, on a machine that does other things too
    pytest.mark.filterwarnings("ignore::Warning:litellm", "ignore::Warning:pydantic"),
]

MOST_TRIES = 3
PEOPLE = {
    "en": (
        "Oswin",
        "Petra",
        "Quentin",
        "Rosalind",
        "Sorrel",
        "Tamsin",
        "Ulric",
        "Verity",
        "Wendel",
        "Ysolde",
    ),
    "zh": ("沈砚", "苏晴", "周岚", "顾南", "陆川", "江离", "温言", "秦朔", "叶舟", "白露"),
}
THINGS = {
    "en": ("lantern", "anvil", "flute", "map", "scarf", "rope", "candle", "mirror", "kite", "basket"),
    "zh": ("灯笼", "铁砧", "长笛", "地图", "围巾", "绳索", "蜡烛", "铜镜", "风筝", "竹篮"),
}
SAID = {
    "en": (
        *("{who} hung the {what} in the attic.", "Then I will fetch the {what} tomorrow."),
        *("You danced so well, Mira.", "*looks away* It was nothing."),
        *("Shall we walk to the harbour?", "Yes. I like the harbour in the evening."),
    ),
    "zh": (
        *("{who}把{what}挂在了阁楼上。", "那我明天去取{what}。"),
        *("你跳得真好，米拉。", "*转过头* 没什么。"),
        *("我们去港口走走吧？", "好，我喜欢傍晚的港口。"),
    ),
}


# The chat in one stretch: two calls, of which each takes such a model a minute.
WHOLE = EngineParams(
    rest_by_itself=False, consolidation=ConsolidationParams(marks=MarkParams(least=30)), recall=PATIENT
)


def talk(language: str) -> list[SentMessage]:
    """Ten times: where a thing is, praise, a walk."""
    names = {"en": ("Al", "Mira"), "zh": ("阿明", "米拉")}[language]
    out = []
    for turn, (who, what) in enumerate(zip(PEOPLE[language], THINGS[language], strict=True)):
        for at, text in enumerate(SAID[language]):
            said = text.replace("{who}", who).replace("{what}", what)
            role = (Role.USER, Role.CHARACTER)[at % 2]
            out.append(line(f"m{6 * turn + at + 1}", said, role, speaker=names[at % 2]))
    return out


@pytest.fixture
async def stage(llama: str) -> AsyncIterator[ModelStage]:
    """An engine with the real model."""
    endpoint = LitellmEndpoint(llama, "small", "", 900.0)
    one = ModelStage(model=endpoint, params=WHOLE)
    await one.start()
    yield one
    await one.stop()
    await endpoint.stop()


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_it_becomes_lasting_memory(stage: ModelStage, language: str) -> None:
    await stage.soul(name={"en": "Mira", "zh": "米拉"}[language])
    chat, tries, made = talk(language), 0, list[Memory]()
    while len(made) <= tries and tries < MOST_TRIES:  # now and then nothing of what such a model says stands
        tries += 1
        await stage.sync(f"c{tries}", chat)
        await stage.engine.run_idle()
        made = [memory for memory in await stage.listed() if memory.origin is Origin.MODEL]
    assert MemoryKind.SUMMARY in {memory.kind for memory in made}
    assert len(made) > tries  # more than a summary of each
    books = await stage.engine.consolidator.books(await stage.world(), SoulId("s1"))
    spent = books.totals["consolidation"]
    # One for the summary, one for all else, each asked again at most once.
    assert 2 * tries <= spent.calls <= 4 * tries
    assert spent.prompt_tokens / spent.calls < 2500

    told = {message.slot: f"{message.speaker}: {message.text}" for message in chat}
    for memory in made:
        slots = [place.slot for place in (await stage.engine.get_memory(ME, memory.id)).sources]
        assert slots
        assert set(slots) <= set(told)
        check_language(memory, language)
        assert memory.kind is not MemoryKind.ACTION or len(slots) >= 3
    wanted = next(m.text for m in made if m.kind is not MemoryKind.SUMMARY)
    recalled = await stage.recall(wanted, f"c{tries}")
    assert {m.id for m in recalled.memories} & {m.id for m in made}


def check_language(memory: Memory, language: str) -> None:
    """It is in the chat's language, and names nobody whom the chat does not know."""
    if language == "zh":
        assert not re.search(r"[A-Za-z]{3,}", memory.text)
        return
    assert memory.text.isascii() or "’" in memory.text
    within = re.findall(r"(?<=[a-z,] )[A-Z][a-z]+", memory.text)
    assert set(within) <= {*PEOPLE["en"], "Al", "Mira", "I"}

"""What a moment calls for, with the packaged encoder and without any."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from types import SimpleNamespace

import numpy as np
import pytest

from soulmem.domain.dialogue import Role
from soulmem.domain.ids import ChatId, SlotId, SoulId
from soulmem.domain.soul import KnownName, SoulSettings
from soulmem.engine.api.requests import RecallRequest
from soulmem.engine.recall import decision
from soulmem.engine.recall.decision import without_noise
from soulmem.language.kinds.line_kinds import KINDS
from soulmem.retrieval.decision_model import MEMORY_FEATURES, fitted
from tests.engine.reflexes import PACKAGED
from tests.engine.stage import ME, Stage, line
from tests.engine.two_languages import FACTS, NAMES
from tests.engine.two_languages import chat as two_languages

pytestmark = pytest.mark.timeout(60)  # the first recall reads dictionaries

TEXTS = (
    "The soup is good and the fire is warm.",
    "Father sold his mandolin to pay for the roof.",
    "Then let me tell you about the harbour.",
    "I was seven when the ferry sank, and I swam ashore.",
    "Let us have some tea.",
)
ENGLISH_TALK = (
    "Pass me the salt, please.",
    "It rains again today.",
    "The cart stands by the gate.",
    "We should sweep the yard.",
    "Look, the boats are back.",
    "I'll put the kettle on.",
)
CHINESE_TALK = (
    "把盐递给我。",
    "今天又下雨了。",
    "车停在门口。",
    "该扫院子了。",
    "你看，船回来了。",
    "我去烧水。",
)
CALLED_FOR = 25  # of 30 facts; most questions share no word with theirs
LONG = (
    "*I lean back, let out a breath, and look at the ceiling for a while.* You know, I could sit here like this"
    " all evening and not say a word, and it would still be a good one."
)


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    """A soul of five messages, with the packaged encoder, which has no token states."""
    made = Stage(fallback=PACKAGED, judges_lines=True)
    await made.start()
    await made.soul(restraint=1.0)
    await made.sync("c1", [line(f"m{i}", text) for i, text in enumerate(TEXTS)])
    await made.close("c1")
    await made.engine.idle.run()
    yield made
    await made.stop()


async def brings(stage: Stage, query: str) -> str:
    """What a query brings, as it goes into the prompt."""
    answer = await stage.recall(query, "c1", time_budget_ms=20_000)
    return "\n".join(memory.text for memory in answer.memories)


async def test_a_rare_word_in_a_short_line_brings_its_memory(stage: Stage) -> None:
    assert "mandolin" in await brings(stage, "A mandolin!")


async def test_a_soul_of_two_notes_is_silent_at_a_remark_and_answers() -> None:
    made = Stage(fallback=PACKAGED, judges_lines=True)
    await made.start()
    await made.soul(restraint=1.0)
    for text in (
        "Tilda Farrow is the founder of Willowmill. Tilda is thinking of a move to larger customers.",
        "Willowmill is a young company. Founded by Tilda Farrow. The first talks began in spring.",
    ):
        await made.note(text)
    await made.engine.idle.run()
    for remark in (
        "Quick one, does Friday work for the walk?",
        "Make the letter begin with the good news, then the rest.",
    ):
        assert not (await made.recall(remark)).memories, remark
    answer = await made.recall("Who is the founder of Willowmill?")
    assert any("Tilda" in memory.text for memory in answer.memories)
    await made.stop()


@pytest.mark.parametrize(
    ("word", "rest"), [("Zomapadu", "stands behind the mill."), ("Dodutama", "NONE")]
)
async def test_a_made_up_word_alone_brings_its_memory(stage: Stage, word: str, rest: str) -> None:
    """Though an encoder may take either for filler."""
    await stage.note(f"{word} {rest}")
    await stage.engine.idle.run()
    assert word in await brings(stage, word)


async def test_a_made_up_word_is_found_by_words_whatever_its_vector_is_like(
    stage: Stage,
) -> None:
    """The vector of the query is that of another memory."""
    await stage.note("Zomapadu stands behind the mill.")
    await stage.engine.idle.run()
    mind = (await stage.world()).minds[SoulId("s1")]
    query = SimpleNamespace(word_parts=(("Zomapadu", 1.0),))
    vectors = np.ones((1, 4), np.float32)
    assert without_noise(mind, query, vectors) is None  # type: ignore[arg-type]
    empty = SimpleNamespace(word_parts=())
    assert without_noise(mind, empty, vectors) is vectors  # type: ignore[arg-type]
    plain = SimpleNamespace(word_parts=(("Zomapadu", 0.5), ("the fire is warm", 0.5)))
    assert without_noise(mind, plain, vectors) is vectors  # type: ignore[arg-type]


@pytest.mark.parametrize("query", ["Mm, all right.", LONG], ids=["short", "long"])
async def test_small_talk_of_any_length_brings_nothing(stage: Stage, query: str) -> None:
    assert await brings(stage, query) == ""


async def test_a_name_that_the_soul_knows_brings_what_tells_of_it() -> None:
    """Also in small talk."""
    stage = Stage()
    await stage.start()
    await stage.engine.souls.put(ME, SoulId("s1"), "Mira", (KnownName("Boris"),), SoulSettings())
    await stage.sync("c1", [line("m1", "Boris cut the hedge."), line("m2", "Good.")])
    await stage.close("c1")
    assert await brings(stage, "How are things?") == ""
    assert "hedge" in await brings(stage, "How is Boris?")
    await stage.stop()


@pytest.mark.parametrize(
    ("hers", "mine", "to_her", "of_me"),
    [
        (
            "I cannot stand walnuts.",
            "I cannot stand plums.",
            "What can you not stand?",
            "What can I not stand?",
        ),
        ("我受不了核桃。", "我受不了李子。", "你受不了什么？", "我受不了什么？"),
        (
            "Ich ertrage keine Nüsse.",
            "Ich ertrage keine Pflaumen.",
            "Was kannst du nicht ertragen?",
            "Was kann ich nicht ertragen?",
        ),
    ],
    ids=["en", "zh", "de"],
)
async def test_what_is_asked_of_somebody_is_rather_what_they_said_themselves(
    hers: str, mine: str, to_her: str, of_me: str
) -> None:
    stage = Stage()
    await stage.start()
    await stage.soul(restraint=1.0)
    texts = [line("m1", mine), line("m2", hers, Role.CHARACTER), line("m3", "Hm.")]
    await stage.sync("c1", texts)
    await stage.close("c1")
    mind = await stage.mind()

    async def odds(query: str) -> float:
        """How much more likely hers is meant than mine."""
        request = RecallRequest(SoulId("s1"), ChatId("c1"), query=query)
        judged = (await stage.engine.recaller.judged(ME, request)).of_row()
        likely = dict(zip(mind.texts_at(list(judged)), judged.values(), strict=True))
        return likely[f"Mira: {hers}"] / likely[f"Al: {mine}"]

    assert await odds(to_her) > 1.5 * await odds(of_me)
    await stage.stop()


async def test_a_question_in_another_language_than_the_memory_calls_for_it() -> None:
    stage = Stage(fallback=PACKAGED, judges_lines=True)
    await stage.start()
    await stage.engine.souls.put(ME, SoulId("s1"), "Mira", NAMES, SoulSettings())
    await stage.sync("c1", two_languages())
    await stage.engine.idle.run()
    answers = [(fact, await brings(stage, question)) for fact, question in FACTS]
    brought = [fact for fact, texts in answers if fact in texts]
    assert len(brought) >= CALLED_FOR, answers
    await stage.stop()


@pytest.mark.parametrize(
    "question",
    [
        "¿Qué hizo tu padre con su mandolina?",
        "Что твой отец сделал со своей мандолиной?",
        "Was hat dein Vater mit seiner Mandoline gemacht?",
    ],
)
async def test_languages_in_letters_ask_each_other(stage: Stage, question: str) -> None:
    """No word of it is in the memory, and that says nothing against the memory."""
    assert "mandolin" in await brings(stage, question)


async def test_small_talk_in_another_language_brings_nothing(stage: Stage) -> None:
    for text in ("Hola, ¿cómo estás hoy?", "Сегодня так холодно.", "Bist du müde?"):
        assert not await brings(stage, text), text


async def test_a_line_that_asks_nothing_does_not_silence_the_question_before_it(
    stage: Stage,
) -> None:
    """Neither of the soul's own lines came between them."""
    lines = [line(f"m{i}", text) for i, text in enumerate(TEXTS)]
    question = line("q", "What did your father do with his mandolin?")
    other = line("b", "Hm.", Role.CHARACTER, speaker="Boris")
    await stage.sync("c1", [*lines, question, other])
    answer = await stage.engine.recaller.recall(
        ME, RecallRequest(SoulId("s1"), ChatId("c1"), context_from=SlotId("q"))
    )
    assert any("mandolin" in memory.text for memory in answer.memories)


async def test_what_the_soul_has_answered_asks_no_more(stage: Stage) -> None:
    lines = [line(f"m{i}", text) for i, text in enumerate(TEXTS)]
    question = line("q", "What did your father do with his mandolin?")
    own = line("b", "He sold it.", Role.CHARACTER, speaker="Mira")
    await stage.sync("c1", [*lines, question, own, line("t", "Hm.")])
    answer = await stage.engine.recaller.recall(
        ME, RecallRequest(SoulId("s1"), ChatId("c1"), context_from=SlotId("q"))
    )
    assert answer.memories == ()


@pytest.mark.parametrize("restraint", [0.0, 0.25, 0.5, 1.0, 1.5, 2.0])
async def test_less_restraint_tells_at_least_as_much(stage: Stage, restraint: float) -> None:
    query = "Did your father play the mandolin by the fire?"
    more = await stage.recall(query, "c1", restraint=restraint)
    less = await stage.recall(query, "c1", restraint=min(2.0, restraint + 0.5))
    assert {m.id for m in less.memories} <= {m.id for m in more.memories}


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        ("What are you allergic to?", "One oyster and my lips swell like dough.", "Oysters again!"),
        ("What frightens you?", "Moths make me scream and hide.", "A moth sat on the lamp."),
        ("你有什么不能吃的？", "我碰了螃蟹嘴唇就肿。", "螃蟹在篮子里。"),
        ("你是哪里人？", "我是在北边的渔村里长大的。", "渔村今天下雨。"),
    ],
)
async def test_a_question_brings_what_is_of_its_theme(
    stage: Stage, question: str, answer: str, other: str
) -> None:
    """They share no word."""
    await stage.sync("c2", [line("a", answer), line("b", other), line("c", "Hm.")])
    await stage.close("c2")
    await stage.engine.idle.run()
    mind, column = await stage.mind(), MEMORY_FEATURES.index("theme")
    request = RecallRequest(SoulId("s1"), ChatId("c2"), query=question)
    judged = await stage.engine.recaller.judged(ME, request)
    theme: dict[str, float] = {}
    for same in judged.lines:
        texts = mind.texts_at(same.rows.tolist())
        theme.update(zip(texts, same.features[:, column].tolist(), strict=True))
    (of_answer,) = (value for text, value in theme.items() if answer in text)
    (of_other,) = (value for text, value in theme.items() if other in text)
    assert of_answer > of_other + 0.2
    assert all(model.memory.weight[column] > 0 for model in fitted().models.values())


@pytest.mark.parametrize(
    ("question", "answer", "talk"),
    [
        ("Where did you grow up?", "My village had thirty houses and a church.", ENGLISH_TALK),
        ("你是哪里人？", "我是在北边的渔村里长大的。", CHINESE_TALK),
    ],
)
async def test_without_its_theme_the_question_brings_nothing(
    stage: Stage,
    monkeypatch: pytest.MonkeyPatch,
    question: str,
    answer: str,
    talk: Sequence[str],
) -> None:
    """At the most restraint, for a soul this young is asked for little."""
    own = line("a", answer, Role.CHARACTER, speaker="Mira")
    await stage.sync("c2", [own, *(line(f"t{i}", text) for i, text in enumerate(talk))])
    await stage.close("c2")
    await stage.engine.idle.run()

    async def comes() -> bool:
        recalled = await stage.recall(question, "c2", time_budget_ms=20_000, restraint=2.0)
        return any(answer in memory.text for memory in recalled.memories)

    assert await comes()
    monkeypatch.setattr(decision, "THEMES", [KINDS.index("filler")])  # no theme of either
    assert not await comes()


@pytest.mark.parametrize(
    ("question", "answer", "theme"),
    [
        ("Wovor hast du Angst?", "Bei Spinnen schreie ich und laufe weg.", "theme_fear"),
        ("何が怖いの？", "蜘蛛を見ると悲鳴をあげて逃げる。", "theme_fear"),
        ("Где ты выросла?", "Я выросла в деревне у моря.", "theme_home"),
    ],
)
async def test_themes_are_known_in_languages_without_examples(
    stage: Stage, question: str, answer: str, theme: str
) -> None:
    scores = await stage.engine.recaller.embedding.kinds([question, answer])
    assert scores is not None
    assert (scores[:, KINDS.index(theme)] > 0.5).all()


async def test_a_question_calls_rather_for_what_lasts(stage: Stage) -> None:
    """A remark calls for what was said in passing as well."""
    lasting, passing = "My sister Orla is a midwife.", "Orla is late again today."
    await stage.sync("c2", [line("a", lasting), line("b", passing)])
    await stage.close("c2")
    await stage.engine.idle.run()
    mind, column = await stage.mind(), MEMORY_FEATURES.index("lasting")

    async def gain(said: str) -> float:
        """How much more the feature adds to the log odds of what lasts; the least of all sets of numbers."""
        request = RecallRequest(SoulId("s1"), ChatId("c2"), query=said)
        (judged,) = (await stage.engine.recaller.judged(ME, request)).lines
        texts = mind.texts_at(judged.rows.tolist())
        (first,) = (at for at, text in enumerate(texts) if lasting in text)
        (other,) = (at for at, text in enumerate(texts) if passing in text)
        sets = [model.memory for model in fitted().models.values()]
        shares = [model.shares(judged.features)[:, column] for model in sets]
        return float(min(share[first] - share[other] for share in shares))

    asked, remarked = await gain("What does Orla do?"), await gain("Orla came by.")
    assert asked > 0.3
    assert abs(remarked) < 0.3 * asked

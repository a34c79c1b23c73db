"""Prompt text of memories: sections, order, budget and harmless macros."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.assembly.compose import (
    Budget,
    Section,
    language_of,
    line_of,
    scene_of,
    section_of,
    without_macros,
)
from soulmem.assembly.token_estimate import estimate_tokens
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.memories import Memory, MemoryKind, Origin
from soulmem.domain.soul import SECTION_NAMES

NOON = datetime(2026, 5, 1, 12, tzinfo=timezone.utc)
BRACES = st.text(st.sampled_from("{}\\ a雨\n"), max_size=30)
TAGS = ("<USER>", "<user>", "<Bot>", "<char>", "<GROUP>", "<charIfNotGroup>")


def memory(
    key: str = "m1",
    text: str = "It rained.",
    kind: MemoryKind = MemoryKind.EPISODE,
    *,
    permanent: bool = False,
    importance: float = 0.5,
    created: datetime = NOON,
) -> Memory:
    """A memory made at noon."""
    return Memory(
        MemoryId(key),
        SoulId("s1"),
        kind,
        text,
        Origin.USER,
        created,
        permanent=permanent,
        importance=importance,
    )


def oldest_first(item: Memory) -> tuple[float, int]:
    """When it happened."""
    return item.happened.timestamp(), 0


@given(
    st.one_of(
        BRACES,
        st.text(),
        st.lists(st.sampled_from((*TAGS, "<", "a", ">"))).map("".join),
    )
)
def test_no_macro_survives(text: str) -> None:
    """Nothing is left that SillyTavern runs in two passes, each of which takes backslashes of braces away;
    nothing but spaces is added.
    """
    safe = without_macros(text)
    assert safe.replace(" ", "") == text.replace(" ", "")
    for _ in range(3):
        assert "{{" not in safe
        assert not any(tag.casefold() in safe.casefold() for tag in TAGS)
        safe = re.sub(r"\\([{}])", r"\1", safe)


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("{{setvar::x::1}}", "{ {setvar::x::1}}"),
        (r"\{\{setvar::x::1\}\}", r"\{ \{setvar::x::1\}\}"),
        (r"{\{setvar::x::1}\}", r"{ \{setvar::x::1}\}"),
        (r"\\{\\{user}}", r"\\{ \\{user}}"),
        ("<USER> met <charIfNotGroup>", "< USER> met < charIfNotGroup>"),
        (
            "a {single} b, x < user > y, <userland>",
            "a {single} b, x < user > y, <userland>",
        ),
    ],
)
def test_what_is_broken_up_stays_readable(text: str, stated: str) -> None:
    """And what SillyTavern does not run stays as it is."""
    assert without_macros(text) == stated


def test_a_line_is_the_whole_memory_and_pays_its_line_break() -> None:
    """Whole memories only; the cost is that of what is written, after macros are broken up."""
    line = line_of(memory(text="use {{user}} here"))
    assert line.text == "use { {user}} here"
    assert line.tokens == estimate_tokens(line.text) + 1


@pytest.mark.parametrize(
    ("item", "section"),
    [
        (memory(kind=MemoryKind.EPISODE), Section.EPISODES),
        (memory(kind=MemoryKind.ABSTRACT_EPISODE), Section.EPISODES),
        (memory(kind=MemoryKind.NOTE), Section.FACTS),
        (memory(kind=MemoryKind.CONCEPT), Section.FACTS),
        (memory(kind=MemoryKind.ACTION), Section.SELF),
        (memory(kind=MemoryKind.ACTION, permanent=True), Section.PERMANENT),
        (memory(kind=MemoryKind.EPISODE, permanent=True), Section.PERMANENT),
    ],
)
def test_each_kind_has_its_section(item: Memory, section: Section) -> None:
    """A habit is self-knowledge, never an order; what is permanent stands with its like.

    What fires now is an impulse whatever it is otherwise.
    """
    assert section_of(item) is line_of(item).section is section
    assert (
        section_of(item, is_impulse=True)
        is line_of(item, is_impulse=True).section
        is Section.IMPULSES
    )


SAID = st.text("ab 雨{\n", min_size=1, max_size=60).map(str.strip).filter(bool)
SHOWN = [kind for kind in MemoryKind if kind is not MemoryKind.TRIGGER]
LIVES = st.lists(st.tuples(SAID, st.sampled_from(SHOWN), st.booleans()), max_size=8)


@given(
    lives=LIVES,
    tokens=st.integers(0, 200),
    name=st.sampled_from(["Mira", "艾莉", "{{char}}", "{0}"]),
    language=st.sampled_from(["en", "zh"]),
    masked=st.sets(st.integers(0, 9)),
    knows=st.booleans(),
)
def test_the_budget_is_never_exceeded(
    lives: list[tuple[str, MemoryKind, bool]],
    tokens: int,
    name: str,
    language: str,
    masked: set[int],
    knows: bool,
) -> None:
    """Blocks cost what was spent, no more than was given; each text is its header and whole lines."""
    memories = [memory(f"m{i}", t, kind, permanent=p) for i, (t, kind, p) in enumerate(lives)]
    budget = Budget(tokens, name, language, knows_it_forgets=knows)
    chosen = [
        (m, line)
        for i, m in enumerate(memories)
        if budget.take(line := line_of(m, is_masked=i in masked))
    ]
    blocks = budget.blocks(chosen, oldest_first)
    assert sum(block.tokens for block in blocks) == tokens - budget.tokens_left <= tokens
    assert sum(estimate_tokens(block.text) + 1 for block in blocks) <= tokens
    for block in blocks:
        lines = [line.text for line in block.lines]
        head = block.text.removesuffix("\n".join(["", *lines]))
        assert head != block.text
        assert all(without_macros(name) in text for text in head.split("\n"))
        is_first = any(line.is_masked for line in block.lines) and block is next(
            b for b in blocks if any(line.is_masked for line in b.lines)
        )
        assert head.count("\n") <= is_first * (1 + knows)
        assert block.tokens >= sum(line.tokens for line in block.lines)
        assert "{{" not in block.text
    assert sorted(line.memory for block in blocks for line in block.lines) == sorted(
        m.id for m, _ in chosen
    )


@given(
    ages=st.lists(st.none() | st.integers(0, 4000), min_size=1, max_size=8),
    tokens=st.integers(0, 200),
    language=st.sampled_from(["en", "zh"]),
)
def test_scenes_are_within_the_budget_and_each_line_stands_under_its_own(
    ages: list[int | None], tokens: int, language: str
) -> None:
    budget = Budget(tokens, "Mira", language)
    chosen = [
        (item, line)
        for place, days in enumerate(ages)
        if budget.take(
            line := line_of(
                item := memory(
                    f"m{place}",
                    f"Line {place}.",
                    created=NOON - timedelta(days=days or 0),
                ),
                scene=scene_of(days, language),
            )
        )
    ]
    blocks = budget.blocks(chosen, oldest_first)
    assert sum(block.tokens for block in blocks) <= tokens - budget.tokens_left
    assert sum(estimate_tokens(block.text) + 1 for block in blocks) <= tokens
    for block in blocks:
        above = ""
        lines = {line.text: line for line in block.lines}
        for text in block.text.split("\n")[1:]:
            above = above if text in lines else text
            assert text not in lines or lines[text].scene == above
        given = {line.memory: line.scene for _, line in chosen}
        for line in block.lines:
            assert line.scene.startswith(given[line.memory])
            assert bool(line.scene) is any(given.values())


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("text", ["xxx wept.", "Somebody wept."])
def test_no_legend_costs_a_blurred_memory_its_place(language: str, text: str) -> None:
    """It grows with the room, down to none."""
    item = memory("m1", text)
    line = line_of(item, is_masked=True)
    room = line.tokens + Budget(9, "Mira", language).header_cost(Section.EPISODES)
    legends = []
    for tokens in (room, room + 34, room + 100):
        budget = Budget(tokens, "Mira", language, knows_it_forgets=True)
        assert budget.take(line)
        [block] = budget.blocks([(item, line)], oldest_first)
        assert block.tokens <= tokens
        legends.append(block.text.split("\n")[1:-1])
    assert [len(legend) for legend in legends] == [0, 1, 2]
    assert len(legends[1][0]) < len(legends[2][0])


def test_how_long_ago_it_was_stands_above_a_scene() -> None:
    budget = Budget(200, "Mira", "en")
    chosen = []
    for days, text in ((46, "It rained."), (46, "She left."), (0, "Tea.")):
        item = memory(text, text, created=NOON - timedelta(days=days))
        line = line_of(item, scene=scene_of(days, "en"))
        assert budget.take(line)
        chosen.append((item, line))
    [block] = budget.blocks(chosen, oldest_first)
    assert block.text.split("\n", 1)[1] == (
        "46 days ago:\nIt rained.\nShe left.\nEarlier today:\nTea."
    )


def test_a_memory_that_does_not_fit_leaves_room_for_a_smaller_one() -> None:
    """Passed over whole, and its header is not paid."""
    budget = Budget(30, "Mira", "en")
    long, short = memory(text="rain " * 60), memory("m2", "It rained.")
    assert not budget.take(line_of(long))
    assert budget.tokens_left == 30
    assert budget.take(line_of(short))


def test_a_header_is_paid_once() -> None:
    """By the first memory of its section."""
    budget = Budget(200, "Mira", "en")
    item, two = memory("m1"), memory("m2")
    first = budget.header_cost(Section.EPISODES)
    budget.take(line_of(item))
    assert first > 0
    assert budget.header_cost(Section.EPISODES) == 0
    budget.take(line_of(two))
    assert budget.tokens_left == 200 - first - line_of(item).tokens - line_of(two).tokens


def test_blocks_stand_in_order_and_in_their_place() -> None:
    """Permanent and self high, by importance; at depth 4 episodes oldest first, and impulses last."""
    chosen = [
        memory("new", "Later.", created=NOON + timedelta(hours=2)),
        memory("old", "Before.", created=NOON - timedelta(hours=2)),
        memory("note", "Fact.", MemoryKind.NOTE),
        memory("core-", "Minor.", MemoryKind.NOTE, permanent=True, importance=0.1),
        memory("core+", "Major.", MemoryKind.NOTE, permanent=True, importance=0.9),
        memory("habit", "Denies caring.", MemoryKind.ACTION),
    ]
    budget = Budget(500, "Mira", "en")
    taken = [(m, line) for m in chosen if budget.take(line := line_of(m))]
    for fired in (
        memory("b", "Frowns.", MemoryKind.ACTION),
        memory("a", "Laughs.", MemoryKind.ACTION),
    ):
        line = line_of(fired, is_impulse=True)
        assert budget.take(line)
        taken.append((fired, line))
    blocks = budget.blocks(taken, oldest_first)
    text = [(b.section, b.position, b.depth, [line.memory for line in b.lines]) for b in blocks]
    assert text == [
        (Section.PERMANENT, "in_prompt", None, ["core+", "core-"]),
        (Section.SELF, "in_prompt", None, ["habit"]),
        (Section.EPISODES, "in_chat", 4, ["old", "new"]),
        (Section.FACTS, "in_chat", 4, ["note"]),
        (Section.IMPULSES, "in_chat", 4, ["b", "a"]),
    ]


@pytest.mark.parametrize(
    ("texts", "language"),
    [
        (["你还记得那把钥匙吗？"], "zh"),
        (["Do you remember the key?"], "en"),
        (["Elly 说她会在桥边等我，直到雨停。"], "zh"),
        (["She calls it 钥匙, the key, and smiles at me."], "en"),
        (["雨の夜に"], "zh"),
        ([], "en"),
        (["🎉 ... 42"], "en"),
    ],
)
def test_headers_speak_the_language_of_the_chat(texts: list[str], language: str) -> None:
    """Chinese when the texts are mostly Chinese characters, else English."""
    assert language_of(texts) == language


def test_the_users_own_headers_are_text_and_an_empty_one_costs_nothing() -> None:
    """Nothing in them is filled in, no macro runs, and the budget counts them."""
    headers = {"facts": " {name} {{char}}: ", "episodes": ""}
    budget = Budget(500, "Mira", "en", headers=headers)
    scene = memory("m1", "It rained.")
    note = memory("m2", "Bo is late.", MemoryKind.NOTE)
    chosen = [(m, line_of(m)) for m in (scene, note)]
    assert all(budget.take(line) for _, line in chosen)
    episodes, facts = budget.blocks(chosen, oldest_first)
    assert episodes.text == "It rained."
    assert facts.text == "{name} { {char}}:\nBo is late."
    assert 500 - budget.tokens_left == episodes.tokens + facts.tokens


def test_a_section_that_is_off_takes_nothing_and_costs_nothing() -> None:
    """What is permanent has a section of its own, which nobody can switch off."""
    budget = Budget(500, "Mira", "en", off=("facts", "impulses"))
    note = memory("m1", "Bo is late.", MemoryKind.NOTE)
    habit = memory("m2", "hums", MemoryKind.ACTION)
    pinned = memory("m3", "Bo is dead.", MemoryKind.NOTE, permanent=True)
    assert not budget.take(line_of(note))
    assert not budget.take(line_of(habit, is_impulse=True))
    assert budget.tokens_left == 500
    assert budget.take(line_of(habit))
    assert budget.take(line_of(pinned))


def test_settings_name_the_sections_that_there_are() -> None:
    """The names by which users choose are those of the blocks."""
    assert tuple(section.value for section in Section) == SECTION_NAMES

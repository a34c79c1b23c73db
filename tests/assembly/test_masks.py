"""How a text reads whose parts have blurred."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.assembly.masks import Thresholds, read_out
from soulmem.domain.micro_units import (
    Anchor,
    AnchorKind,
    MicroUnit,
    Retention,
    UnitSpan,
)

MOMENT = datetime(2026, 1, 1, tzinfo=timezone.utc)
TEXT = "At the harbour Mia gave me a silver locket."
CHINESE = "小雨在码头送给我一只银色的吊坠。"


def unit(text: str, part: str, gist: str, visibility: float) -> MicroUnit:
    """A unit of these words."""
    start = text.index(part)
    state = Retention(visibility, 600.0, MOMENT)
    return MicroUnit(UnitSpan(start, start + len(part), gist), state)


def anchor(words: str, visibility: float = 1.0) -> Anchor:
    """A spontaneous anchor."""
    return Anchor(words, AnchorKind.SPONTANEOUS, Retention(visibility, 2400.0, MOMENT))


def read(text: str, *parts: tuple[str, str, float], anchors: tuple[Anchor, ...] = ()) -> str:
    """The text as it reads with units of these words, gists and visibilities."""
    return read_out(text, [unit(text, *part) for part in parts], anchors).text


WHOLE = "At the harbour Mia gave me a silver locket"


@pytest.mark.parametrize(
    ("parts", "anchors", "expected"),
    [
        ([("a silver locket", "a jewel", 0.6)], (), TEXT),
        ([("a silver locket", "a jewel", 0.59)], (), "At the harbour Mia gave me xxx(a jewel)."),
        ([("a silver locket", "a jewel", 0.25)], (), "At the harbour Mia gave me xxx(a jewel)."),
        ([("a silver locket", "a jewel", 0.24)], (), "At the harbour Mia gave me xxx."),
        ([("a silver locket", "", 0.5)], (), "At the harbour Mia gave me xxx."),
        ([(WHOLE, "a gift", 0.5), ("Mia", "somebody", 0.1)], (), "xxx(a gift)."),
        ([(WHOLE, "a gift", 0.9), ("Mia", "somebody", 0.1)], (), "At the harbour xxx gave me a silver locket."),
        ([(WHOLE, "a gift", 0.1), ("Mia", "somebody", 0.9)], (), "xxx."),
        ([("the harbour Mia", "there", 0.4), ("Mia gave me", "", 0.1)], (), "At xxx(there) a silver locket."),
        ([(WHOLE, "a gift", 0.4)], (anchor("silver"),), "xxx(a gift) silver xxx."),
        ([(WHOLE, "a gift", 0.1)], (anchor("a silver locket"), anchor("Mia", 0.59)), "xxx a silver locket."),
        ([("Mia", "somebody", 0.1)], (anchor("Mia"),), TEXT),
    ],
)  # fmt: skip
def test_the_outermost_blurred_unit_hides_what_is_in_it_but_anchors(
    parts: list[tuple[str, str, float]], anchors: tuple[Anchor, ...], expected: str
) -> None:
    result = read_out(TEXT, [unit(TEXT, *part) for part in parts], anchors)
    assert result.text == expected
    assert result.is_masked is (expected != TEXT)


def test_brackets_are_wide_in_a_script_without_spaces() -> None:
    assert read(CHINESE, ("银色的吊坠", "一件首饰", 0.4)) == "小雨在码头送给我一只xxx（一件首饰）。"


def test_what_always_stays_is_told_within_a_blurred_unit() -> None:
    place = (TEXT.index("Mia"), TEXT.index("Mia") + 3)
    result = read_out(TEXT, [unit(TEXT, WHOLE, "a gift", 0.1)], kept=[place])
    assert result.text == "xxx Mia xxx."


def test_masks_of_the_same_wording_read_as_one() -> None:
    text = "I ran home, then I slept. Then I woke up!"
    parts = [
        ("I ran home", "", 0.1),
        ("then I slept", "", 0.1),
        ("Then I woke up", "a walk", 0.4),
    ]
    assert read(text, *parts) == "xxx. xxx(a walk)!"
    assert read(text, *parts[:2], ("Then I woke up", "", 0.1)) == "xxx!"


def test_a_label_alone_is_empty() -> None:
    text = "Mia: I ran home."
    blurred = unit(text, "I ran home", "a walk", 0.1)
    assert read_out(text, [blurred], label=5).is_empty
    assert not read_out(text, [blurred]).is_empty
    told = replace(blurred, retention=replace(blurred.retention, visibility=0.4))
    assert not read_out(text, [told], label=5).is_empty


def test_that_there_was_a_name_or_a_day_is_empty() -> None:
    text = "Mia: On Friday."
    detail = unit(text, "On Friday", "some day", 0.4)
    detail = replace(detail, span=replace(detail.span, is_detail=True))
    assert read_out(text, [detail], label=5).is_empty


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([("Mia", "somebody", 0.4)], "At the harbour something about somebody gave me a silver locket."),
        ([(WHOLE, "silver locket", 0.4)], "something about silver locket."),
        ([("At the harbour", "", 0.1), ("a silver locket", "jewel", 0.1)], "… Mia gave me …"),
        ([("At the harbour", "", 0.1), ("Mia", "", 0.1), ("gave me", "", 0.1)], "… a silver locket."),
    ],
)  # fmt: skip
def test_in_words_a_gist_stands_in_the_sentence(
    parts: list[tuple[str, str, float]], expected: str
) -> None:
    units = [unit(TEXT, *part) for part in parts]
    assert read_out(TEXT, units, frame="something about {}").text == expected


@pytest.mark.parametrize(
    ("text", "frame", "blurred", "expected"),
    [
        ("Al: A key, a ring.", "about {}", {"A key": "key", "a ring": "ring"}, "Al: about key, ring."),
        ("Al: A key. A ring!", "about {}", {"A key": "key", "A ring": "ring"}, "Al: about key, ring!"),
        ("Al: A key, a key.", "about {}", {"A key": "key", "a key": "key"}, "Al: about key."),
        ("Al: A key and a ring.", "about {}", {"A key": "key", "a ring": "ring"}, "Al: about key and about ring."),
        ("Al: A key, a ring.", "about {}", {"A key": "key", "a ring": ""}, "Al: about key, …"),
        ("一把钥匙，一枚戒指。", "和{}有关", {"一把钥匙": "钥匙", "一枚戒指": "戒指"}, "和钥匙、戒指有关。"),
    ],
)  # fmt: skip
def test_in_words_gists_of_clauses_side_by_side_share_a_frame(
    text: str, frame: str, blurred: dict[str, str], expected: str
) -> None:
    units = [unit(text, part, gist, 0.4 if gist else 0.1) for part, gist in blurred.items()]
    assert read_out(text, units, frame=frame).text == expected


def test_in_words_a_frame_does_not_run_into_words_that_stay() -> None:
    """In a script without spaces."""
    text = "沈：父亲把那本航海日志？藏在钟里。"
    units = [unit(text, "父亲把那本航海日志？藏在钟里", "父亲", 0.4)]
    anchors = (anchor("日志？"), anchor("钟里"))
    read = read_out(text, units, anchors, frame="和{}有关的事")
    assert read.text == "沈：和父亲有关的事…日志？…钟里。"


def test_in_words_a_detail_needs_no_frame() -> None:
    detail = unit(TEXT, "Mia", "somebody", 0.4)
    detail = replace(detail, span=replace(detail.span, is_detail=True))
    read = read_out(TEXT, [detail], frame="something about {}")
    assert read.text == TEXT.replace("Mia", "somebody")


def test_what_others_say_stays_and_leaves_nothing() -> None:
    start = TEXT.index("Mia")
    read = read_out(TEXT, [unit(TEXT, WHOLE, "", 0.1)], said=[(start, start + 3)])
    assert (read.text, read.is_empty) == ("xxx Mia xxx.", True)


def test_a_bracket_whose_other_half_is_outside_stays() -> None:
    assert (
        read("I saw (a blue bird) sing.", ("saw (a blue", "something", 0.1)) == "I (xxx bird) sing."
    )
    assert (
        read("I saw (a blue bird) sing.", ("bird) sing", "something", 0.1)) == "I saw (a blue xxx)."
    )


def test_thresholds_are_those_given() -> None:
    blurred = unit(TEXT, "Mia", "somebody", 0.5)
    assert read_out(TEXT, [blurred], thresholds=Thresholds(clear=0.5)).text == TEXT
    result = read_out(TEXT, [blurred], thresholds=Thresholds(clear=0.9, gist=0.6))
    assert result.text == TEXT.replace("Mia", "xxx")


PAIRS = {")": "(", "）": "（", "]": "[", "”": "“", "」": "「"}


def is_balanced(text: str) -> bool:
    """Whether every bracket is closed in its order."""
    opened: list[str] = []
    for sign in text:
        if sign in PAIRS.values():
            opened.append(sign)
        elif sign in PAIRS and (not opened or opened.pop() != PAIRS[sign]):
            return False
    return not opened


WORDS = [f"w{number}" for number in range(12)]
TEXTS = st.lists(
    st.sampled_from([", ", " ", " (", ") ", ". ", " “", "” "]), min_size=12, max_size=12
).map(lambda gaps: "".join(word + gap for word, gap in zip(WORDS, gaps, strict=True)))
SPANS = st.lists(
    st.tuples(st.integers(0, 11), st.integers(0, 11), st.floats(0, 1)), max_size=6
)  # first and last word, visibility


def units_of(
    text: str, spans: list[tuple[int, int, float]], factor: float = 1.0
) -> list[MicroUnit]:
    """Units from word to word."""
    out = []
    for first, last, visibility in spans:
        first, last = min(first, last), max(first, last)
        start, end = (
            text.index(WORDS[first]),
            text.index(WORDS[last]) + len(WORDS[last]),
        )
        state = Retention(visibility * factor, 600.0, MOMENT)
        out.append(MicroUnit(UnitSpan(start, end, "gist"), state))
    return out


def words_in(text: str) -> set[str]:
    return {word for word in text.replace("(", " ").replace(")", " ").replace("“", " ").replace("”", " ")
            .replace(",", " ").replace(".", " ").split() if word.startswith("w")}  # fmt: skip


@given(TEXTS, SPANS, st.integers(0, 11), st.floats(0.0, 1.0))
def test_what_is_hidden_is_never_told_and_less_is_told_of_what_is_less_clear(
    text: str, spans: list[tuple[int, int, float]], kept: int, factor: float
) -> None:
    anchors = [anchor(f"{WORDS[kept]}")] if kept > 1 else []
    units = units_of(text, spans)
    result = read_out(text, units, anchors)
    hidden = set[str]()
    for blurred in units:
        if blurred.retention.visibility < 0.6:
            hidden |= words_in(text[blurred.span.start : blurred.span.end])
    hidden -= {a.text for a in anchors}
    shown = words_in(result.text)
    assert result.text.strip()
    assert shown == set(WORDS) - hidden
    later = read_out(text, units_of(text, spans, factor), anchors)
    assert words_in(later.text) <= shown
    if is_balanced(text):
        assert is_balanced(result.text)

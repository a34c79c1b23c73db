"""Are all texts that hold a name found by their words?"""

from __future__ import annotations

from datetime import datetime, timezone

from hypothesis import example, given
from hypothesis import strategies as st

from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.memories import Memory, MemoryKind, Origin
from soulmem.domain.soul import Soul
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.propagation.linker import candidate_texts
from soulmem.graph.name_search import NameIndex

NOON = datetime(2026, 5, 1, 12, tzinfo=timezone.utc)
PARTS = st.lists(
    st.sampled_from(
        [
            *(
                "Lyra",
                "lyra",
                "LYRA",
                "banks",
                "Banks",
                "O'Brien",
                "Brien",
                "the",
                "of",
                "don't",
                "Don",
                "R2",
                "-",
            ),
            *(
                "林月",
                "林",
                "月",
                "在那",
                "的",
                "アカリ",
                "さん",
                "山海经",
                "é",
                "Éowyn",
                "'s",
                "'",
                " ",
                ".",
                ", ",
            ),
            *(
                "K",
                "市",
                "한국",
                "·",
                "\u2019",
                "running",
                "Running",
                "ring",
                "rings",
                "_",
                "2",
                "ll",
            ),
        ]
    ),
    min_size=1,
    max_size=6,
).map("".join)


def mind_of(texts: list[str]) -> Mind:
    """A mind that holds these as notes."""
    soul = SoulId("s1")
    mind = Mind(Soul(soul, "Mira"))
    notes = [
        Memory(MemoryId(f"n{i}"), soul, MemoryKind.NOTE, text, Origin.USER, NOON)
        for i, text in enumerate(texts)
        if text.strip()
    ]
    mind.apply(MindChange(put_memories=tuple(notes)))
    return mind


@given(st.lists(PARTS, min_size=1, max_size=5), PARTS)
@example(["O'Brien came"], "Brien")
@example(["kind banks"], "Banks")
@example(["在那里"], "在那")
def test_no_text_that_holds_the_name_is_missed(texts: list[str], name: str) -> None:
    mind = mind_of(texts)
    index: NameIndex[str] = NameIndex()
    index.put("it", [name])
    holding = {m.id for m in mind.memories.values() if index.find(m.text)}
    assert holding <= set(candidate_texts(mind, [name]))


def test_others_are_not_looked_at() -> None:
    mind = mind_of([*("Nothing here." for _ in range(50)), "Lyra came.", "Nothing for Lyra."])
    assert candidate_texts(mind, ["Lyra"]) == [MemoryId("n50"), MemoryId("n51")]

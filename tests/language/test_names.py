"""Are names found by how a text writes them, and what is no name left out?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.language.chinese_names import is_person_like
from soulmem.language.names import names


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("He walked to Ravenhold with Tobin.", {"Ravenhold", "Tobin"}),
        (
            "Kaelith smiles.",
            {"Kaelith"},
        ),  # no dictionary has it, so the start of a sentence does not matter
        ("*Wolves howl.* Nothing else.", set()),
        (
            "We met Captain Ferro at the Queen of Thorns.",
            {"Captain Ferro", "Queen of Thorns"},
        ),
        ("Thanks, Odette! See you on Monday in December.", {"Odette"}),
        ("Yes, Sir. I will ask Mom and the Doctor.", set()),
        ("I WILL NOT GO THERE, NEVER EVER", set()),
        ("How To Train Your Dragon In Ten Days", set()),
        ('They sleep at the "Silver Swan" tonight.', {"Silver Swan"}),
        ('She said, "Come here."', set()),
        ("That is Lyra's knife.", {"Lyra"}),
        ("沈砚收起长剑，对林月说了一句话。", {"沈砚", "林月"}),
        ("欧阳雪从来不笑。", {"欧阳雪"}),
        ("欧阳从来不笑。", set()),
        # Given names that are words, or hold one of grammar
        ("江别鹤想要一点糖。", {"江别鹤"}),
        ("顾白术正看着火。", {"顾白术"}),
        ("程知远今早来过。", {"程知远"}),
        ("何不去看看？白天出门也好。许多人来过。", set()),
        ("我们一起读《山海经》吧。", {"山海经"}),
        ("那家店叫「白鹭」。", {"白鹭"}),
        ("「快走！」他喊道。", set()),
        ("她去了里斯本。", {"里斯本"}),
        ("アカリさんが笑った。", {"アカリ"}),
        ("(OOC: ask Brendan) *nods*", set()),
    ],
)
def test_names(text: str, found: set[str]) -> None:
    assert set(names(text)) == found


def test_the_same_name_in_two_texts_is_written_alike() -> None:
    first, second = names("I saw Bram's dog."), names("Ask Bram, he knows.")
    assert first == second == ("Bram",)


@pytest.mark.parametrize(
    ("name", "is_one"),
    [("林月", True), ("顾长风", True), ("苹果", False), ("Lin", False)],
)
def test_person_like(name: str, is_one: bool) -> None:
    assert is_person_like(name) is is_one


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=300))
def test_any_text_has_few_names_none_of_them_blank(text: str) -> None:
    found = names(text)
    assert len(found) <= 12
    assert all(name.strip() for name in found)
    assert len(set(found)) == len(found)

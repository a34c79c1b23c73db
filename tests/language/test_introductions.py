"""Names that a text introduces, by what stands beside them."""

from __future__ import annotations

import pytest

from soulmem.language.names import introduced, names, without_title


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("The lady is called Maribel, you know.", "Maribel"),
        ("I grew up with my little brother Teo in the mill.", "Teo"),
        ("We were seen by a Dr Voss, who hummed.", "Voss"),
        ("Then Inspector Hale said no.", "Inspector Hale"),
        ("By the way, his name's Orrin.", "Orrin"),
        ("Das ist der Mann, er heißt Ansgar.", "Ansgar"),
        ("La niña se llama Ximena.", "Ximena"),
        ("Mon chat s'appelle Gribouille.", "Gribouille"),
        ("Мальчика зовут Тимур.", "Тимур"),
        ("给我看病的是我姐林汐，在医院。", "林汐"),
        ("他叫柳听雪。", "柳听雪"),
        ("我妹妹白薇在城南开药铺。", "白薇"),
        ("柳听雪是我的朋友。", "柳听雪"),
        ("My little sister, Orla, paints.", "Orla"),
        ("那位翁朝奉，一听就变了脸色。", "翁朝奉"),
        ("大家都读这位“醉瓦先生”的书。", "醉瓦先生"),
        ("贺敬川老师人很好。", "贺敬川"),
        ("阿禾面馆就在那边。", "阿禾"),
    ],
)
def test_who_is_introduced_is_seen(text: str, name: str) -> None:
    assert name in introduced(text, names(text))


@pytest.mark.parametrize(
    "text",
    [
        "Yesterday Maribel went home early.",
        'We saw a film called "Silver Lake" yesterday.',
        "She walked to the mill with Teo.",
        "We watched The Lord of the Rings again.",
        "Her office is on Captain Street.",
        "他叫你过来。",
        "我们叫方便面。",
        "他大声叫救命。",
        "姑娘莫恼，它见了什么都要先叼一叼。",
    ],
)
def test_who_is_merely_named_is_not_introduced(text: str) -> None:
    assert introduced(text, names(text)) == frozenset()


def test_a_name_within_a_longer_word_is_another_word() -> None:
    assert introduced("They called Annabel.", ["Anna"]) == frozenset()


@pytest.mark.parametrize(
    ("name", "bare"),
    [
        ("Sir Bob", "Bob"),
        ("Captain Okoro", "Okoro"),
        ("Lord of Rain", "Lord of Rain"),
        ("Lordling", "Lordling"),
        ("Bob", "Bob"),
    ],
)
def test_a_title_is_taken_off(name: str, bare: str) -> None:
    assert without_title(name) == bare

"""Where a name stands behind a word for a place."""

from __future__ import annotations

import pytest

from soulmem.language.places import after_place_words


@pytest.mark.parametrize(
    ("text", "name", "counts"),
    [
        ("We went to Merrow.", "Merrow", (1, 1)),
        ("From Esk? A letter from the Esk, at Esk.", "Esk", (3, 3)),
        ("Merrow said no. I went to Merrow.", "Merrow", (2, 1)),
        ("I was in Merrow's room.", "Merrow", (1, 0)),
        ("A friend of Merrow.", "Merrow", (1, 0)),
        ("To, Merrow!", "Merrow", (1, 0)),
        ("I went to Green Hill.", "Green Hill", (1, 1)),
        ("Nobody is there.", "Merrow", (0, 0)),
        ("The Corvane is slow.", "Corvane", (1, 1)),
        ("We met at the Kind Merrow.", "Merrow", (1, 1)),
        ("Cobbler's Rest is full.", "Cobbler", (1, 1)),
        ("Cobbler's Rest is full.", "Rest", (1, 1)),
        ("Captain Merrow left.", "Merrow", (1, 0)),
        ("Merrow Bridge is old.", "Merrow Bridge", (1, 1)),
        ("我去了米洛。", "米洛", (1, 0)),
        ("一方黄杨，黄杨一方，黄杨走了。", "黄杨", (3, 2)),
        ("雪落在柳叶上，柳叶上山去了。", "柳叶", (2, 1)),
        ("他在河里洗菜。", "河里", (1, 1)),
        ("她会唱《沉船》。", "沉船", (1, 1)),
        ("Nothing.", "", (0, 0)),
    ],
)
def test_a_name_behind_words_for_places_is_counted(
    text: str, name: str, counts: tuple[int, int]
) -> None:
    assert after_place_words(text, name) == counts

"""Names, places, times, numbers and quotations of a text."""

from __future__ import annotations

from itertools import pairwise

import pytest

from soulmem.conversation.micro_units import DetailKind, details


def persons(*names: str) -> dict[str, DetailKind | None]:
    """The names as those of persons."""
    return dict.fromkeys(names, DetailKind.PERSON)


def found_details(text: str, *names: str, place: str | None = None) -> dict[str, str]:
    """Kinds by words."""
    return {
        text[d.start : d.end]: d.kind.value
        for d in details(text, dict.fromkeys(names, DetailKind.PERSON), place)
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We met on 5 May 2023 at 10:30.", {"5 May 2023": "time", "10:30": "hour"}),
        ("She bought twenty-five apples on Friday.", {"twenty-five": "number", "Friday": "time"}),
        ("He may march with me.", {}),
        ("我们三月五日花了三十五块。", {"三月五日": "time", "三十五块": "number"}),
        ("一起走一下吧", {}),
        ("金曜日の七時に会おう", {"金曜日": "time", "七時": "hour"}),
        ('Ann whispered "stay with me" to us.', {"stay with me": "quote"}),
        ("Room 12b holds 4711 books.", {"4711": "number", "12": "number"}),
    ],
)  # fmt: skip
def test_details_by_how_they_are_written(text: str, expected: dict[str, str]) -> None:
    assert found_details(text) == expected


def test_given_names_are_found_as_written_and_not_in_longer_words() -> None:
    text = "Tom and Tomas met Old Tom in Lund."
    kinds = found_details(text, "Tom", "Old Tom", "Lund", place="Lund")
    assert kinds == {"Tom": "person", "Old Tom": "person", "Lund": "place"}
    assert [d.name for d in details(text, dict.fromkeys(["Tom", "Old Tom"], DetailKind.NAME))] == [
        "Tom",
        "Old Tom",
    ]


def test_what_stands_in_a_name_that_is_no_detail_is_none_either() -> None:
    names = {"柳拾音": None, "拾音": DetailKind.PERSON, "陈皮": DetailKind.PERSON}
    text = "柳拾音抱膝坐着，陈皮看着她。"
    assert [d.name for d in details(text, names)] == ["陈皮"]


def test_a_bit_is_no_hour() -> None:
    assert found_details("快一点，再一点一点来。") == {}
    assert found_details("一点半见") == {"一点半": "hour"}


def test_details_do_not_overlap_but_with_quotations() -> None:
    text = "小雨说了“三月五日的约定”就走了，在码头。"
    spans = details(text, {"小雨": DetailKind.PERSON}, "码头")
    plain = [d for d in spans if d.kind is not DetailKind.QUOTE]
    assert all(a.end <= b.start for a, b in pairwise(plain))
    assert {text[d.start : d.end] for d in spans} == {
        "小雨",
        "三月五日的约定",
        "三月五日",
        "码头",
    }

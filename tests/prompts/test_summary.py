"""The summary prompt: answers in every form, and sentences without support are left out."""

from __future__ import annotations

import json

import pytest

from soulmem.domain.llm import Unreadable
from soulmem.prompts import summary
from tests.prompts.passages import EN, ZH, passage

GOOD = "Hester buried the locket in the bakery. Lena promised Anton to feed his cat."


def answer(text: str) -> str:
    """What a good model writes."""
    return json.dumps({"summary": text}, ensure_ascii=False)


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"summary": GOOD}),
        f'Of course, here it is:\n```json\n{{"summary": "{GOOD}"}}\n```\nLet me know.',
        f'<think>Nora said..</think>\n{{"summary": "{GOOD}"}}',
        f'{{"summary": "{GOOD}"',
        f'{{"summary": "{GOOD} And then they wen',
        f'{{"result": {{"summary": "{GOOD}"}}}}',
        f'[{{"summary": "{GOOD}"}}]',
        json.dumps({"summary": GOOD.replace(". ", ".\n")}),
        answer(f"{GOOD} Later they met Zorro in Paris."),
    ],
)
def test_what_is_read(text: str) -> None:
    assert summary.parse(text, EN) == GOOD


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<think>hm",
        "{}",
        "[]",
        '{"summary": ""}',
        '{"summary": {"x": 1}}',
        '{"summary": 7}',
        '{"summary": "half of a',
        '{"answer": [7, null, {"b": []}], "summary": ["x", {}], "facts": "nothing", "episodes": true}',
        '{"summary": "Το πλοίο φεύγει αύριο από το λιμάνι"}',
        answer("米娅答应喂猫。"),
        "Sure!",
        GOOD,
        answer("And now they meet Zorro."),
    ],
)
def test_what_is_not(text: str) -> None:
    with pytest.raises(Unreadable):
        summary.parse(text, EN)


def test_chinese() -> None:
    stated = "外婆把怀表藏在阁楼。林月答应教小雨骑马。"
    assert summary.parse(f"好的，以下是新的摘要：\n{answer(stated)}", ZH) == stated
    with pytest.raises(Unreadable, match="script"):
        summary.parse(answer("Grandma left the watch in the attic."), ZH)


def test_it_stays_short() -> None:
    long = "Lena sang. " * 400
    result = summary.parse(json.dumps({"summary": long}), EN)
    assert len(result) <= 1500
    assert result.endswith("sang.")


def test_it_says_nothing_twice() -> None:
    assert summary.parse(answer(f"{GOOD} " * 5), EN) == GOOD
    twice = answer("林月怕打雷。小雨怕打雷。林月怕打雷。")
    assert summary.parse(twice, ZH) == "林月怕打雷。小雨怕打雷。"


def test_names_of_the_summary_so_far_are_no_inventions() -> None:
    stated = "Long ago Lena met Zorro. Now she sings."
    before = passage([("Lena", "I sing.")], summary="Lena met Zorro.")
    assert summary.parse(answer(stated), before) == stated

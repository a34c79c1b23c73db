"""The digest prompt: answers in every form, and sentences without support are left out."""

from __future__ import annotations

import json

import pytest

from soulmem.domain.drafts import Passage
from soulmem.domain.llm import Unreadable
from soulmem.prompts import digest
from tests.prompts.passages import EN, ZH


def said(passage: Passage) -> str:
    """All that the lines of a passage say, with who says it."""
    return "\n".join(f"{line.speaker}: {line.text}" for line in passage.lines)


GOOD = "Hester buried the locket in the bakery. Lena promised Anton to feed his cat."


@pytest.mark.parametrize(
    "answer",
    [
        json.dumps({"digest": GOOD}),
        f'Here it is:\n```json\n{{"digest": "{GOOD}"}}\n```\nLet me know.',
        f'<think>Nora said..</think>\n{{"digest": "{GOOD}"}}',
        f'{{"digest": "{GOOD} And then they wen',
        json.dumps({"digest": f"{GOOD} Later they met Zorro in Paris."}),
    ],
)
def test_what_is_read(answer: str) -> None:
    assert digest.parse(answer, EN, said(EN)) == GOOD


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "{}",
        '{"digest": ""}',
        '{"digest": {"x": 1}}',
        '{"digest": "Το πλοίο φεύγει αύριο από το λιμάνι"}',
        '{"digest": "And now they meet Zorro."}',
        '{"digest": "A spaceship exploded near seven purple moons."}',
    ],
)
def test_what_is_not(answer: str) -> None:
    with pytest.raises(Unreadable):
        digest.parse(answer, EN, said(EN))


def test_chinese() -> None:
    assert (
        digest.parse('{"digest": "外婆把怀表藏在阁楼。"}', ZH, said(ZH)) == "外婆把怀表藏在阁楼。"
    )


@pytest.mark.parametrize("period", ["day", "week", "month", "year"])
@pytest.mark.parametrize("passage", [EN, ZH])
def test_the_period_is_named(period: str, passage: Passage) -> None:
    others = {digest.render(passage, other).user for other in ("day", "week", "month", "year")}
    prompt = digest.render(passage, period)
    assert prompt.user in others
    assert len(others) == 4
    assert "{period}" not in prompt.user


def test_a_sentence_falls_with_a_known_name_that_was_not_said() -> None:
    answer = json.dumps({"digest": f"{GOOD} Then Willow paid for everything."})
    assert digest.parse(answer, EN, said(EN), ("Willow",)) == GOOD
    answer = json.dumps({"digest": GOOD})
    assert digest.parse(answer, EN, said(EN), ("Hester", "Willow")) == GOOD

"""Statements about others or from different places are rejected, supported ones are kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.domain.drafts import Passage
from soulmem.prompts.grounding.faithfulness import Faithfulness, Kept, Verdict
from soulmem.prompts.grounding.passage_words import each_once, sentences
from tests.engine.evenings import NAMES, SCENES
from tests.prompts.passages import EN, ZH, passage

THIRD = {
    "en": (
        "Oswin",
        "Petra",
        "Quentin",
        "Rosalind",
        "Sorrel",
        "Tamsin",
        "Ulric",
        "Verity",
        "Norholm",
    ),
    "zh": ("沈砚", "苏晴", "周岚", "顾南", "陆川", "江离", "温言", "秦朔", "北海"),
}
EVENING = {
    language: passage(
        [
            (NAMES[language][index % 2], text)
            for index, text in enumerate(SCENES[language])
        ],
        soul=NAMES[language][1],
        users=NAMES[language][:1],
        language=language,
        names=THIRD[language],
    )
    for language in ("en", "zh")
}
SAID, REWORDED, UNFAITHFUL = Verdict


@pytest.mark.parametrize(
    ("sentence", "verdict"),
    [
        ("Petra sold her boat to the miller.", SAID),
        ("Mira fetches the lantern tomorrow.", SAID),
        ("Al walks to the harbour with Mira.", SAID),
        ("Al and Mira walk to the harbour.", SAID),
        ("Mira will bring Petra a basket of eggs, because she sold her boat.", SAID),
        ("Quentin promised Mira a parrot, and Ulric broke his leg.", SAID),
        ("They grow fond of one another.", REWORDED),
        ("Mira and Quentin exchange gifts.", REWORDED),
        ("Al and Petra sold their boats to the miller.", UNFAITHFUL),
        ("Al fetches the lantern tomorrow.", UNFAITHFUL),
        ("Mira: Then I will fetch the lantern.", SAID),
        ("Al: Then I will fetch the lantern.", UNFAITHFUL),
        ("They decide to bring a parrot to Ulric.", UNFAITHFUL),
        ("They bring a basket of eggs to Quentin.", UNFAITHFUL),
        ("Mira and Quentin decide to fetch the lantern tomorrow.", UNFAITHFUL),
        ("Tamsin steals figs in the barn.", UNFAITHFUL),
    ],
)
def test_of_an_english_evening(sentence: str, verdict: Verdict) -> None:
    assert Faithfulness(EVENING["en"]).of(sentence) is verdict


@pytest.mark.parametrize(
    ("clause", "verdict"),
    [
        ("苏晴把小船卖给了磨坊主，", SAID),
        ("米拉给苏晴送一篮鸡蛋，", SAID),
        ("米拉和阿明在港口走走，", SAID),
        ("米拉和阿明彼此更亲近了。", REWORDED),
        ("米拉给苏晴送一篮鹦鹉，", UNFAITHFUL),
        ("周岚摔断了腿。", UNFAITHFUL),
    ],
)
def test_of_a_chinese_evening(clause: str, verdict: Verdict) -> None:
    assert Faithfulness(EVENING["zh"]).of(clause) is verdict


def test_who_speaks_need_not_say_i() -> None:
    line = passage(
        [
            ("Nora", "Just got back from a trip to the mountains."),
            ("Lena", "Lucky you."),
        ]
    )
    assert Faithfulness(line).of("Nora got back from a trip to the mountains.") is SAID
    chat = passage(
        [("阿明", "你今天真好看。"), ("林月", "谢谢。")],
        soul="林月",
        users=("阿明",),
        language="zh",
    )
    assert Faithfulness(chat).of("阿明今天真好看。") is UNFAITHFUL
    assert Faithfulness(chat).of("林月今天真好看。") is SAID


def test_a_pronoun_is_who_was_named_last() -> None:
    chat = "Al likes the evening. He fetches the lantern tomorrow."
    assert Faithfulness(EVENING["en"]).kept(chat).text == "Al likes the evening."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Petra sold her boat. They grow fond of one another.", None),
        # One in two is made up: the rest is believed as far as the lines say it in one place.
        ("They bring a parrot to Ulric. They grow fond of one another.", ""),
        (
            "They bring a parrot to Ulric. They paint the parrot green. Ulric broke his leg.",
            "Ulric broke his leg.",
        ),
        (
            "Petra sold her boat. Ulric broke his leg. Mira is afraid of wolves. "
            "They grow fond of one another. They bring a parrot to Ulric.",
            "Petra sold her boat. Ulric broke his leg. Mira is afraid of wolves. "
            "They grow fond of one another.",
        ),
    ],
)
def test_what_is_left(text: str, expected: str | None) -> None:
    kept = Faithfulness(EVENING["en"]).kept(text)
    assert kept == (Kept(text) if expected is None else Kept(expected, True))


def test_chinese_clauses_are_judged_one_by_one() -> None:
    chat = (
        "苏晴把小船卖给了磨坊主，米拉给苏晴送一篮鸡蛋，"
        + "米拉给苏晴送一篮鹦鹉，" * 20
        + "米拉给苏"
    )
    assert Faithfulness(EVENING["zh"]).kept(chat) == Kept(
        "苏晴把小船卖给了磨坊主，米拉给苏晴送一篮鸡蛋。", True
    )


def test_what_was_summed_up_before_is_as_good_as_a_line() -> None:
    before = "Zorro hid a crown in the chapel. Nora found a key."
    chat = Faithfulness(
        passage([("Nora", "I sing.")], summary=before, known_names=("Zorro",))
    )
    assert chat.of("Zorro hid a crown in the chapel.") is SAID
    assert chat.of("Zorro found a key.") is UNFAITHFUL


@pytest.mark.parametrize(
    "chat", [EN, ZH, EVENING["en"], EVENING["zh"]], ids=["en", "zh", "en2", "zh2"]
)
def test_the_lines_themselves_are_faithful(chat: Passage) -> None:
    stated = Faithfulness(chat)
    for line in chat.lines:
        for sentence in sentences(line.text):
            assert stated.of(sentence) is not UNFAITHFUL
            assert stated.of(f"{line.speaker}: {sentence}") is not UNFAITHFUL


@given(st.data())
def test_nothing_is_added(data: st.DataObject) -> None:
    language = data.draw(st.sampled_from(["en", "zh"]))
    words = [
        *THIRD[language],
        *NAMES[language],
        *(w for text in SCENES[language] for w in text.split()),
    ]
    text = " ".join(
        data.draw(
            st.lists(
                st.sampled_from([*words, ".", ",", "，", "。", "and"]), max_size=40
            )
        )
    )
    kept = Faithfulness(EVENING[language]).kept(text).text
    index = 0
    for character in filter(str.isalnum, kept):
        index = text.index(character, index) + 1


@pytest.mark.parametrize(
    ("parts", "once"),
    [
        (["She sings.", "She sings.", "She si"], ["She sings."]),
        (["She sings.", "She sings!"], ["She sings."]),
        (["She si", "He hums."], ["She si", "He hums."]),
        (["Go.", "Going home.", "Go…"], ["Go.", "Going home."]),
        (["她唱歌，", "她唱歌，", "她唱"], ["她唱歌，"]),
        ([], []),
    ],
)
def test_each_once(parts: list[str], once: list[str]) -> None:
    assert each_once(parts) == once

"""What of a message is told as story, whatever the marks it is wrapped in, and what is left out?"""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.domain.story_text import MacroNames
from soulmem.language.story.leaving_out import skeletons, story_text

TALE = '*lowers her voice* The key hangs behind the clock. "Tell nobody, Tobin."'
NAMES = MacroNames("Tobin", "Mira")

STATUS = [
    "<StatusBlock>\nDate: 14 Frostfall, 08:30\nLocation: Kitchen of the inn\n"
    "Mira | Mood: wary | Outfit: green dress | Affection: 30/100\n</StatusBlock>",
    "<details>\n<summary>Status</summary>\n\n| Field | Value |\n|---|---|\n"
    "| Outfit | green dress |\n| Thought | I should keep the key away from him |\n\n</details>",
    '<div class="stat"><b>Mood</b>: wary <progress value="30" max="100"></progress></div>',
    "```\nMood: wary\nOutfit: green dress\nHP: 30/100\n```",
    "~~~yaml\nstatus:\n  mood: wary\n  bag:\n    - rope\n    - lamp\n~~~",
    "| Name | Mood |\n| --- | --- |\n| Mira | wary |",
    "<table><tr><td>Mood</td><td>wary</td></tr><tr><td>HP</td><td>30</td></tr></table>",
    "<状态栏>\n时间：早上八点\n地点：厨房\n心情：平静\n</状态栏>",
    "<상태>\n시간: 08:30\n장소: 부엌\n기분: 차분함\n</상태>",
    "<статус>\nВремя: 08:30\nМесто: кухня\nНастроение: тревога\n</статус>",
]
CODE = [
    "<UpdateVariable>\n_.set('mira.affection', 30, 35);//he was kind\n</UpdateVariable>",
    '<JSONPatch>\n[\n  {"op": "replace", "path": "/mira/mood", "value": "calm"}\n]\n</JSONPatch>',
    '```json\n{"mood": "calm",\n "hp": 3}\n```',
    '{"mood": "calm", "hp": 3}',
    "_.set('mira.affection', 30, 35);",
    "<style>.card { color: red; }</style>",
    "<script>if (a < b) { alert('x') }</script>",
    "<% if (mood > 3) { %>",
    "<!-- she must not know -->",
]
REASONING = [
    "<think>\nMira should stay guarded. Later the Obsidian Choir arrives.\n</think>",
    "<thinking>Draft: she looks away. No, too early.</thinking>",
    "<REASONING>\nThe user wants a key.\n</REASONING>",
    "<plot_planning>She will lie to him next.</plot_planning>",
    "<思考>\n她应该保持警惕，然后再说出真相。\n</思考>",
    "[THINK]She should stay guarded for now.[/THINK]",
    "\u25c1think\u25b7She should stay guarded.\u25c1/think\u25b7",
    "<|START_THINKING|>She should stay guarded.<|END_THINKING|>",
    "She should stay guarded. I could reveal more.\n</think>",
]
ASIDES = [
    "((brb, dinner (again)))",
    "(OOC: let us skip ahead)",
    "[OOC wait]",
    "（（我去吃饭）），",
    "OOC: is that fine?",
]
PICTURES = [
    '<img src="data:image/png;base64,AAAA/9+x">',
    "![](data:image/jpeg;base64,AAAbbb/9)",
    "data:image/png;base64," + "Ab9" * 400,
    "Ab9/" * 300,
]
PROSE = [
    TALE,
    "Hm.",
    "",
    "*nods*",
    "a < b, c > d, <3 and >///<",
    "<she smiles and waves> Hello.",
    "<Mira> Hello there, who is it?",
    "Mira: I will go.\nTobin: No. Stay.",
    "You need three things: a rope, a lamp and bread.",
    "[She closes the door.]",
    "One (or two) of them; nobody knows | cares.",
    "老板娘压低声音说：“钥匙在钟后面。”他点了点头，没有再问。",
    "彼女は声をひそめた。「鍵は時計の裏よ。」",
    '그녀는 목소리를 낮췄다. "열쇠는 시계 뒤에 있어요."',
    "Она понизила голос: «Ключ висит за часами».",
    "उसने धीरे से कहा: चाबी घड़ी के पीछे लटकी है।",
    "เธอกระซิบว่ากุญแจแขวนอยู่หลังนาฬิกา",
    "همست: المفتاح خلف الساعة.",
]


@pytest.mark.parametrize("block", [*STATUS, *CODE, *PICTURES, *ASIDES])
def test_what_is_no_story_is_left_out_behind_the_story(block: str) -> None:
    story = story_text(f"{TALE}\n\n{block}", NAMES)
    assert story.text.rstrip("，").rstrip() == TALE
    assert story.left_out


@pytest.mark.parametrize("block", [*STATUS, *CODE, *REASONING])
def test_what_is_no_story_is_left_out_before_the_story(block: str) -> None:
    assert story_text(f"{block}\n\n{TALE}", NAMES).text == TALE


@pytest.mark.parametrize("block", [*STATUS, *REASONING])
def test_a_message_that_is_nothing_but_a_block_tells_nothing(block: str) -> None:
    closed = block if block.startswith(("<", "`", "~", "|", "[", "\u25c1")) else ""
    assert story_text(closed).text == ""


@pytest.mark.parametrize(
    ("kind", "blocks"),
    [
        ("status", STATUS),
        ("code", CODE[:6]),
        ("reasoning", REASONING),
        ("out_of_character", ASIDES),
        ("picture", PICTURES),
    ],
)
def test_what_was_left_out_has_a_kind_and_a_place(kind: str, blocks: list[str]) -> None:
    assert blocks
    for block in blocks:
        text = f"{block}\n\n{TALE}"
        parts = story_text(text).left_out
        assert kind in {part.kind.value for part in parts}
        assert parts[0].start >= 0
        assert parts[-1].end <= len(text) - len(TALE)
        covered = sum(part.end - part.start for part in parts)
        assert len(block) * 0.5 <= covered <= len(block) + 2


@pytest.mark.parametrize("text", PROSE)
def test_prose_stays_as_it_is(text: str) -> None:
    story = story_text(text, NAMES)
    assert story.text == text
    assert story.left_out == ()


@pytest.mark.parametrize(
    "wrapped",
    [
        f"<content>\n{TALE}\n</content>",
        f'<div style="color:red"><p>{TALE}</p></div>',
        f"<details><summary>Night</summary>\n{TALE}\n</details>",
        f"<font color=red>{TALE}</font>",
        f"```\n{TALE}\n```",
        f"<section>\n{TALE}",
        f"<div>{TALE}<div class='stat'>Mood: wary<br>HP: 30</div></div>",
    ],
)
def test_prose_inside_of_marks_stays(wrapped: str) -> None:
    assert story_text(wrapped).text.removeprefix("Night").strip() == TALE


def test_words_around_inline_marks_stay_in_their_line() -> None:
    text = "She said <whisper>I love you</whisper> and &quot;no&quot; <b>twice</b>."
    assert story_text(text).text == 'She said I love you and "no" twice.'


def test_macros_become_names_and_others_are_left_out() -> None:
    text = '{{char}} hands <user> a telescope{{random:a,b}}. "It was his, {{User}}."'
    told = 'Mira hands Tobin a telescope. "It was his, Tobin."'
    assert story_text(text, NAMES).text == told
    assert "{{" not in story_text(text).text


def test_a_line_of_data_goes_where_its_labels_are_known_and_stays_where_not() -> None:
    line = "[Mood: wary | Place: kitchen | HP: 30/100]"
    text = f"{TALE}\n{line}"
    assert story_text(text).text == text
    other = skeletons("\u2022 Mood: calm | Place: the yard, at night | HP: 7/100")
    assert story_text(text, repeated=other).text == TALE
    assert story_text(text, repeated={"weather"}).text == text


def test_prose_has_no_skeleton() -> None:
    for text in PROSE:
        assert not skeletons(text)


UNCLOSED = [
    *(
        "<div>",
        "<!--",
        "<% ",
        "```\n",
        '<a href="',
        "((",
        "((a",
        "{{",
        "[a](",
        "[",
        "<",
    ),
    *("| a | b |\n", '{"a": 1,\n', ": ", "`", "a:b; ", '"*', "</y>", "x.", "(OOC "),
    *("<think>", "think</think>", "Ab9", "word ", "\n", " ", "<div><b>", "<x y='"),
]


@pytest.mark.alone
@pytest.mark.parametrize("unit", UNCLOSED)
def test_the_time_is_that_of_the_length(unit: str) -> None:
    """Four times the length takes far less than sixteen times the time."""
    times = []
    for size in (40_000, 160_000):
        text = f"<b>{unit * (size // len(unit))}"
        begun = time.process_time()
        story_text(text)
        skeletons(text)
        times.append(time.process_time() - begun)
    assert times[1] < 9 * times[0] + 0.1


def test_elements_nested_a_thousand_deep_keep_their_story() -> None:
    text = "<div>" * 1000 + TALE + "</div>" * 1000
    assert story_text(text).text == TALE


@given(st.text(max_size=300))
def test_any_text_has_a_story(text: str) -> None:
    story = story_text(text, NAMES)
    assert len(story.text) <= len(text) + 8 * text.count("{{") + 8 * text.count("<")
    for part in story.left_out:
        assert 0 <= part.start < part.end <= len(text)


@given(st.text(alphabet="abc AB.!?,'é中文字\n", max_size=200))
def test_letters_and_sentences_are_all_story(text: str) -> None:
    assert story_text(text).text == text

"""The token estimate is an upper bound for what players write."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.assembly.token_estimate import estimate_tokens

TEXTS = {
    "en": "She put the brass key under the third stone of the old bridge, because nobody would look there.",
    "en chat": "*smiles, a little tired* \"Oh... you're back! I didn't think you'd remember — really?\"",
    "zh": "她把那枚旧钥匙藏在老桥的第三块石头下面，因为没有人会去那里找。你还记得我们的约定吗？",
    "ja": "雨の夜、彼女は約束を思い出して静かに泣いた。ありがとう、忘れないでね。ヴァイオリン！",
    "ko": "그녀는 오래된 다리의 세 번째 돌 아래에 열쇠를 숨겼다.",
    "ru": "Она спрятала ключ под третьим камнем старого моста, где никто не станет искать.",
    "ar": "لقد خبأت المفتاح تحت الحجر الثالث من الجسر القديم.",
    "mixed": "Elly说：「See you at 18:30」，然后在2026-11-03离开了 café Nr. 7。",
    "numbers": "3.14159265358979 / 1,234,567,890 = 0xDEADBEEF ; 2026-11-21T22:35:07.123456Z",
    "emoji": "🎉🎂 生日快乐!! 👩‍👩‍👧‍👦 ❤️‍🔥 (╯°□°)╯︵ ┻━┻ ✨✨✨",
    "code": 'if (a[i] != b->c && !d) { return {"x": [1, 2, 3]}; } // }}}}{{{{',
    "space": "a\n\n\n   b\t\tc      d\r\n\r\n e",
}
Count = Callable[[str], int]


@pytest.fixture(scope="module")
def cl100k() -> Count:
    """Counts of a widely used vocabulary where litellm brings it along, else a bound none goes below.

    No model packs more than 8 letters or 3 wide characters of ordinary writing into one token.
    """
    home = find_spec("litellm")
    if home is None or home.origin is None or find_spec("tiktoken") is None:
        return lambda text: len(text.encode()) // 9
    folder = Path(home.origin).parent / "litellm_core_utils" / "tokenizers"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
        encoding = import_module("tiktoken").get_encoding("cl100k_base")
    return lambda text: len(encoding.encode(text, disallowed_special=()))


@pytest.mark.parametrize("name", TEXTS)
def test_no_text_costs_more_than_estimated(name: str, cl100k: Count) -> None:
    """The budget is a promise: English, Chinese, Japanese, others, mixed, emoji, code."""
    assert estimate_tokens(TEXTS[name]) >= cl100k(TEXTS[name])


@pytest.mark.parametrize("name", TEXTS)
def test_the_estimate_is_not_wasteful(name: str) -> None:
    """Never more than one token per byte, and half of that for what has letters of one byte."""
    text = TEXTS[name]
    assert estimate_tokens(text) <= len(text.encode()) * 0.75


@given(st.text().map(str.strip), st.text().map(str.strip))
def test_estimates_add_up(first: str, other: str) -> None:
    """Two texts joined by a line break cost no more than both and one token for the break.

    So a block within budget stays within it when its lines are joined.
    """
    assert estimate_tokens(f"{first}\n{other}") <= estimate_tokens(first) + 1 + estimate_tokens(
        other
    )


@given(st.text(st.sampled_from(" \n\t\rab1."), max_size=12))
def test_of_a_run_of_spaces_all_but_the_first_count(text: str) -> None:
    """A quarter each, and one for each line break: deep indents are paid for, a single space is free."""
    padded = f"a{text}b"
    runs = re.findall(r"\s+", padded)
    spaces = sum(run.count("\n") + (len(run) - 1) / 4 for run in runs)
    characters = sum(len(run) / 2 if len(run) > 1 else 1 for run in re.findall("1+", padded))
    letters = sum(max(1.0, len(run) / 4) for run in re.findall("[ab]+", padded))
    assert estimate_tokens(padded) == math.ceil(spaces + characters + letters + padded.count("."))


def test_only_nothing_costs_nothing() -> None:
    """A single letter, character or line break is a token at least."""
    assert estimate_tokens("") == 0
    assert [estimate_tokens(text) for text in ("a", "雨", ".", "1", "\n")] == [
        1,
        2,
        1,
        1,
        1,
    ]


@given(st.text(st.characters(categories=["Ll", "Lu", "Lo"]), min_size=1))
def test_letters_are_never_cheaper_than_any_vocabulary_has_them(text: str) -> None:
    """At least one token per 8 letters, and per 3 characters of a wide script."""
    wide = sum(ord(c) >= 0x2E80 for c in text)
    assert estimate_tokens(text) >= (len(text) - wide) / 8 + wide / 3

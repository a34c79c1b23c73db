"""Compressed texts come back equal."""

from __future__ import annotations

import json

import pytest

from soulmem.adapters.surreal.compressed import packed_text, unpacked_text


@pytest.mark.parametrize("value", [{}, {"read": ["e1", "e2"]}, {"text": "林月 {z:}"}])
def test_a_text_comes_back(value: dict[str, object]) -> None:
    data = json.dumps(value, ensure_ascii=False).encode()
    assert unpacked_text(packed_text(data)) == data


def test_a_text_that_repeats_itself_takes_less_room() -> None:
    keys = [f"e{n:026}" for n in range(40)]
    data = json.dumps({"read": keys, "cited": keys}).encode()
    assert len(packed_text(data)) < len(data) / 3

"""Does the English dictionary that is read where it lies answer as the one in memory does?"""

from __future__ import annotations

import json
from importlib.resources import files

import simplemma

from soulmem.language.base_forms import dictionary_form, is_english_word
from soulmem.language.name_tokens import raw_tokens

WORDS = [
    "running",
    "mice",
    "lanterns",
    "gonrifu",
    "better",
    "was",
    "ünder",
    "caf\u00e9s",
]


def test_each_word_has_the_form_and_is_known_as_before() -> None:
    tale = files("soulmem.cli") / "demo_chats" / "lantern_en.json"
    told = json.loads(tale.read_text("utf-8"))["messages"]
    words = {token.lower() for m in told for token in raw_tokens(m["text"])} | {*WORDS}
    assert len(words) > len(WORDS)
    for word in sorted(word for word in words if word.isalpha()):
        assert dictionary_form(word) == simplemma.lemmatize(word, lang="en").lower()
        assert is_english_word(word) == simplemma.is_known(word, lang="en")

"""The data folder: every list can be read, and holds what its name says."""

from __future__ import annotations

import pytest

from soulmem.language.word_lists import FOLDER, tables, words

FILES = sorted(path.stem for path in FOLDER.glob("*.toml"))


@pytest.mark.parametrize("file", FILES)
def test_a_file_begins_with_what_it_holds(file: str) -> None:
    head = (FOLDER / f"{file}.toml").read_text(encoding="utf-8").split("\n")[0]
    assert head.startswith("# ")
    assert tables(file)


@pytest.mark.parametrize("file", FILES)
def test_no_list_names_a_word_twice(file: str) -> None:
    doubled = {}
    for table, lists in tables(file).items():
        for key in lists if isinstance(lists, dict) else ():
            if isinstance(lists[key], (str, list)):
                entries = words(file, table, key)
                if len(set(entries)) < len(entries):
                    doubled[table, key] = entries
    assert doubled == {}


def test_the_steps_of_english_function_words_have_no_word_in_common() -> None:
    steps = ("grammar", "weak", "everyday")
    entries = [word for step in steps for word in words("en", "function_words", step)]
    assert len(set(entries)) == len(entries)

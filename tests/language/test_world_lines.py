"""The world background: how much there is of each language, and whether a line is what it should be."""

from __future__ import annotations

import re
from collections import Counter
from importlib.resources import files

import pytest

from soulmem.language.scripts import is_unspaced
from soulmem.language.world_lines import (
    LANGUAGES,
    WORLD_FOLDER,
    world_language,
    world_scenes,
)

_SPOKEN = re.compile(r"([^\W\d_][^:：*（(]{0,24}): (\S.*\S)")
_KANA = re.compile("[\u3041-\u3096\u30a1-\u30fa]")


def lines_of(language: str) -> list[str]:
    return [line for scene in world_scenes(language) for line in scene]


def speakers_of(scene: tuple[str, ...]) -> set[str]:
    return {line.split(":")[0] for line in scene}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_has_360_lines_in_short_scenes(language: str) -> None:
    scenes = world_scenes(language)
    assert len(lines_of(language)) == 360
    assert len(scenes) >= 45
    assert {len(scene) for scene in scenes} <= set(range(6, 10))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_line_has_a_speaker_and_a_text(language: str) -> None:
    assert [line for line in lines_of(language) if not _SPOKEN.fullmatch(line)] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_text_stands_twice(language: str) -> None:
    texts = Counter(line.split(": ", 1)[1] for line in lines_of(language))
    assert [text for text, times in texts.items() if times > 1] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_two_or_three_speak_in_a_scene_and_every_scene_has_other_speakers(
    language: str,
) -> None:
    speakers = [speakers_of(scene) for scene in world_scenes(language)]
    assert {len(names) for names in speakers} <= {2, 3}
    names = Counter(name for scene in speakers for name in scene)
    assert [name for name, times in names.items() if times > 1] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_line_is_written_in_the_script_of_its_language(language: str) -> None:
    lines = lines_of(language)
    unspaced = [is_unspaced(line) for line in lines]
    kana = [_KANA.search(line) is not None for line in lines]
    assert all(unspaced) if language != "en" else not any(unspaced)
    if language == "ja":
        assert sum(kana) > 0.98 * len(kana)
    else:
        assert not any(kana)


@pytest.mark.parametrize("language", LANGUAGES)
def test_lines_are_of_all_lengths_and_a_part_of_them_narrates(
    language: str,
) -> None:
    lengths = sorted(len(line.split(": ", 1)[1]) for line in lines_of(language))
    tenth = len(lengths) // 10
    assert lengths[-tenth] > 5 * lengths[tenth]
    narrated = [line for line in lines_of(language) if re.search(r"[*（]", line)]
    assert 0.15 < len(narrated) / len(lengths) < 0.6


def test_another_language_is_judged_against_the_lines_of_all() -> None:
    every = tuple(scene for name in LANGUAGES for scene in world_scenes(name))
    assert world_scenes("fr") == world_scenes("") == every


def test_scenes_are_read_once() -> None:
    assert world_scenes("en") is world_scenes("en")


def test_comments_are_no_lines() -> None:
    heads = [(WORLD_FOLDER / f"{name}.txt").read_text("utf-8")[0] for name in LANGUAGES]
    assert heads == ["#"] * len(LANGUAGES)
    assert [line for line in lines_of("") if line.startswith("#")] == []


def test_every_file_of_the_folder_is_a_language_and_lies_in_the_package() -> None:
    packaged = files("soulmem.language") / "data" / "world"
    names = sorted(path.name for path in packaged.iterdir())
    assert names == [f"{name}.txt" for name in LANGUAGES]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Good morning!", "en"),
        ("Où est la clé ?", "en"),
        ("早上好，Ben！", "zh"),
        ("おはよう", "ja"),
        ("鍵はどこ？", "ja"),
        ("コーヒー", "ja"),
        ("Доброе утро", ""),
        ("17!", ""),
        ("", ""),
    ],
)
def test_the_script_tells_which_lines_a_text_is_judged_against(text: str, language: str) -> None:
    """Languages in Latin letters share the English ones, other scripts have the lines of all."""
    assert world_language(text) == language

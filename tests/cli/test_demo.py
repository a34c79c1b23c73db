"""Does the demo play two real chats and recall what its moments promise?"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from soulmem.cli.demo import CHATS, ITEMS, WINDOW, load_chat
from tests.cli.conftest import ENVIRONMENT, REPOSITORY, Ended

pytestmark = [pytest.mark.timeout(120), pytest.mark.slow("both demo chats are played")]

# What each moment, (chat, line, fork), is about: at least one of these messages must come up.
ABOUT = {
    ("lantern-en", 66, None): (42, 43),  # by way of the day the mule came
    ("lantern-en", 72, None): range(36, 52),  # the letter, and the quarrel over it
    ("lantern-en", 80, None): (23, 24),  # the promise
    ("inn-zh", 70, None): (14, 43, 45, 46, 47, 48),  # the thimble
    ("inn-zh", 76, None): range(4, 11),  # three bowls
}


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The user's own data folder."""
    return tmp_path_factory.mktemp("own")


# The command as it runs; the object that `--json` prints goes to the other stream.
BOTH = """
import json, sys
from soulmem.cli import main
from soulmem.cli.screen import Screen
Screen.result = lambda self, value: print(json.dumps(value), file=sys.stderr)
sys.exit(main(("demo", "--lang", "zh")))
"""


@pytest.fixture(scope="module")
def played(own: Path) -> Ended:
    """The demo in a pipe, for a user with a folder and an embedder of his own choice."""
    chosen = {"SOULMEM_DATA": str(own), "SOULMEM_EMBEDDER_MODEL": "none"}
    ended = subprocess.run(
        [sys.executable, "-c", BOTH],
        cwd=REPOSITORY,
        env={**os.environ, **ENVIRONMENT, **chosen},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return Ended(ended.returncode, ended.stdout, ended.stderr)


@pytest.fixture(scope="module")
def demo(played: Ended) -> dict[str, Any]:
    """What it gives as an object."""
    return dict(json.loads(played.err))


@pytest.mark.parametrize("name", CHATS)
def test_the_chats_are_long_enough_to_forget_in(name: str) -> None:
    chat = load_chat(name)
    assert len(chat.messages) >= 60
    assert len({m["text"] for m in chat.messages}) == len(chat.messages)
    assert {m["role"] for m in chat.messages} == {"user", "character", "narrator"}
    times = [m["sent_at"] for m in chat.messages]
    assert times == sorted(times)
    for moment in chat.moments:
        assert chat.messages[moment.line_number - 1]["role"] == "user"


def test_there_are_six_moments_over_both_chats(demo: dict[str, Any]) -> None:
    assert len(demo["moments"]) == 6
    assert {moment["chat"] for moment in demo["moments"]} == {load_chat(name).id for name in CHATS}


def test_one_memory_comes_over_three_steps_and_the_way_is_told(
    demo: dict[str, Any],
) -> None:
    [seal] = [m for m in demo["moments"] if (m["chat"], m["at"]) == ("lantern-en", 72)]
    [far] = [m for m in seal["recall"]["memories"] if m["hops"] == 3]
    assert [step["edge"] for step in far["path"]] == [
        None,
        "mentions",
        "mentions",
        "mentions",
    ]
    assert [far["path"][index]["label"] for index in (0, 2)] == ["Esk", "Duchess"]
    assert "Esk" not in far["text"]
    assert re.match('"Esk" led Isaura to ".+", that to "Duchess", that to this from', far["why"])


def test_each_moment_recalls_what_it_is_about(demo: dict[str, Any]) -> None:
    checked = set()
    for moment in demo["moments"]:
        key = (moment["chat"], moment["at"], moment["fork"])
        if key in ABOUT:
            checked.add(key)
            assert set(_numbers(moment)) & set(ABOUT[key]), key
    assert checked == set(ABOUT)


def test_the_branch_knows_nothing_that_came_after_its_fork(
    demo: dict[str, Any],
) -> None:
    [branch] = [moment for moment in demo["moments"] if moment["fork"] is not None]
    assert branch["recall"]["memories"]
    assert max(_numbers(branch)) <= branch["fork"]
    [main] = [
        m
        for m in demo["moments"]
        if (m["chat"], m["at"], m["fork"]) == (branch["chat"], branch["at"], None)
    ]
    assert max(_numbers(main)) > branch["fork"]


def test_what_is_still_in_the_prompt_is_not_repeated(demo: dict[str, Any]) -> None:
    assert demo["moments"]
    for moment in demo["moments"]:
        last = moment["fork"] + 1 if moment["fork"] is not None else moment["at"]
        assert max(_numbers(moment)) <= last - WINDOW
        assert 0 < len(moment["recall"]["memories"]) <= ITEMS


def test_in_a_pipe_it_is_plain_text_with_every_line_and_reason(
    demo: dict[str, Any], played: Ended
) -> None:
    assert played.code == 0
    assert "\x1b" not in played.out
    flat = re.sub(r"[\s│]+", "", played.out)
    for number, moment in enumerate(demo["moments"], 1):
        assert f"{number}/6" in played.out
        assert re.sub(r"\s+", "", moment["line"]) in flat
        assert re.sub(r"\s+", "", moment["shows"]["zh"]) in flat
        for memory in moment["recall"]["memories"]:
            assert re.sub(r"\s+", "", memory["why"]) in flat
            assert re.sub(r"\s+", "", memory["text"]) in flat
    assert "start.py" in played.out.strip().splitlines()[-1]


def test_it_leaves_the_users_own_memories_alone(demo: dict[str, Any], own: Path) -> None:
    assert demo["moments"]
    assert list(own.iterdir()) == []


def _numbers(moment: dict[str, Any]) -> list[int]:
    """Which messages the recalled memories rest on, counted from 1."""
    numbers = []
    for memory in moment["recall"]["memories"]:
        numbers += [int(place["slot"][1:]) for place in memory["sources"]]
    return numbers

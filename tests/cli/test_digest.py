"""Does `soulmem digest` print the digests of a character and say how to take them back?"""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from soulmem.cli.client import Client
from tests.cli.conftest import Command

pytestmark = pytest.mark.timeout(120)


@pytest.fixture(scope="module")
def vera(running: Client) -> str:
    """A soul that lived two days of May 2024."""
    running.ask("PUT", "/souls/vera", {"name": "Vera"})
    messages: list[dict[str, Any]] = []
    for day in (6, 7):
        for hour in (12, 13, 14):
            text = f"The heron of day {day} came at hour {hour}."
            said = {
                "slot": f"d{day}-{hour}",
                "hash": hashlib.sha256(text.encode()).hexdigest()[:16],
                "role": "user",
                "speaker": "Al",
                "sent_at": f"2024-05-0{day}T{hour}:00:00Z",
                "text": text,
            }
            messages.append(said)
    chat = {"souls": ["vera"], "title": "", "persona": "Al", "messages": messages}
    running.ask("PUT", "/chats/vera-c", chat)
    return "vera"


def test_it_prints_what_each_period_told(ask: Command, running: Client, vera: str) -> None:
    ended = ask("digest", "--soul", "Vera", "--period", "day")
    assert ended.code == 0
    for words in ("6 May 2024:", "7 May 2024:", "heron of day 6", "2 kept", "--job"):
        assert words in ended.out
    page = running.ask("GET", "/memories?soul=vera&kind=digest&period=day")
    assert len(page["memories"]) == 2
    only = ask("digest", "--soul", "Vera", "--from", "2024-05-07", "--json").json()
    (digest,) = only["digests"]
    assert digest["fields"]["period"] == "day"
    assert "day 7" in digest["text"]


def test_a_period_without_messages_has_none(ask: Command, vera: str) -> None:
    ended = ask("digest", "--soul", "Vera", "--to", "2020-01-01")
    assert (ended.code, "Nothing to sum up" in ended.out) == (0, True)


def test_what_is_no_time_is_said(ask: Command, vera: str) -> None:
    ended = ask("digest", "--soul", "Vera", "--from", "yesterday")
    assert ended.code != 0
    assert "yesterday is no time" in ended.err

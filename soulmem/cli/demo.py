"""`soulmem demo`: plays two chats and shows what is recalled at some moments, and why."""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from typing import Any

from soulmem.cli.client import Client
from soulmem.cli.recall import show_recall
from soulmem.cli.screen import Screen
from soulmem.cli.sidecar import Momentary, await_store, wait_until
from soulmem.cli.words import Words
from soulmem.config import load
from soulmem.domain.dialogue import text_hash

CHATS = ("lantern_en", "inn_zh")
_CONFIG = {"restraint": 0.0}  # the demo shows all that comes to mind
WINDOW = 8  # messages that still stand in the prompt
ITEMS = 3  # memories shown at a moment
_BUDGET = 500  # tokens


@dataclass(frozen=True, slots=True)
class Moment:
    """A point of a chat where the player has just spoken."""

    shows: dict[str, str]  # what to look at, by language
    line_number: int  # of the player's line, counted from 1
    fork: int | None = None  # last shared line, if the line is in a branch


@dataclass(frozen=True, slots=True)
class Chat:
    """A bundled chat."""

    id: str
    title: str
    soul: dict[str, Any]
    persona: str
    messages: list[dict[str, Any]]
    moments: list[Moment]


def run(args: argparse.Namespace, words: Words, screen: Screen) -> int:
    """Play both chats in a temporary folder."""
    began = time.perf_counter()
    chats = [load_chat(name) for name in CHATS]
    moments = sum(len(chat.moments) for chat in chats)
    screen.line(words("demo_start", window=WINDOW, items=ITEMS, moments=moments))
    shown = []
    with tempfile.TemporaryDirectory(prefix="soulmem-demo-", ignore_cleanup_errors=True) as folder:
        # The packaged small model: it is always available, and the demo looks the same on every machine.
        overrides = {
            "store.data": folder,
            "store.url": "",
            "embedder.model": "fallback",
        }
        with Momentary(load(env={}, overrides=overrides)) as client:
            await_store(client)
            embedder = wait_until(client, lambda health: health["status"] != "starting")["embedder"]
            screen.line(words("demo_model", model=embedder["model"]), "dim")
            for chat in chats:
                for moment, answer in play(client, chat, words, screen):
                    shown.append(_as_result(chat, moment, answer))
                    _show((len(shown), moments), chat, moment, answer, words, screen)
    took = time.perf_counter() - began
    times = sorted(entry["recall"]["took_ms"]["total"] for entry in shown)
    median = times[len(times) // 2]
    total = sum(_played_lines(chat) for chat in chats)
    screen.line()
    screen.line(
        words("demo_took", seconds=took, messages=total, ms=median, moments=moments),
        "dim",
    )
    screen.line(words("demo_next"), "bold")
    screen.result(
        {
            "embedder": embedder,
            "moments": shown,
            "messages": total,
            "took_s": round(took, 2),
        }
    )
    return 0


def load_chat(name: str) -> Chat:
    """A bundled chat by the name of its file."""
    raw = json.loads(
        resources.files(__package__).joinpath(f"demo_chats/{name}.json").read_text("utf-8")
    )
    return Chat(
        id=raw["id"],
        title=raw["title"],
        soul=raw["soul"],
        persona=raw["persona"],
        messages=raw["messages"],
        moments=[
            Moment(moment["shows"], moment["at"], moment.get("fork")) for moment in raw["moments"]
        ],
    )


def _played_lines(chat: Chat) -> int:
    return max(moment.line_number for moment in chat.moments)


def play(
    client: Client, chat: Chat, words: Words, screen: Screen
) -> Iterator[tuple[Moment, dict[str, Any]]]:
    """Play a chat up to each of its moments. Yields each moment with its recall."""
    screen.progress(words("demo_playing", title=chat.title))
    soul = chat.soul
    client.ask(
        "PUT",
        f"/souls/{soul['id']}",
        {"name": soul["name"], "names": soul["names"], "config": _CONFIG},
    )
    for moment in chat.moments:
        number = moment.line_number
        chat_id, rows, parent = chat.id, rows_of(chat, number), None
        if moment.fork is not None:
            chat_id = f"{chat.id}-branch"
            line = {**rows[number - 1], "slot": f"b{number:03}"}
            parent = {"chat": chat.id, "fork_slot": rows[moment.fork - 1]["slot"]}
            rows = [*rows[: moment.fork], line]
        body = {
            "souls": [soul["id"]],
            "title": chat.title,
            "persona": chat.persona,
            "parent": parent,
            "messages": rows,
        }
        client.ask("PUT", f"/chats/{chat_id}", body)
        wait_until(client, lambda health: not health["pending"])
        question = _question(soul["id"], chat_id, rows)
        yield moment, client.ask("POST", "/recall", question)


def rows_of(chat: Chat, count: int) -> list[dict[str, Any]]:
    """The first messages of a chat, as a sync sends them."""
    return [
        {"slot": f"m{n:03}", "hash": text_hash(m["text"]), **m}
        for n, m in enumerate(chat.messages[:count], 1)
    ]


def _question(soul: str, chat: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "soul": soul,
        "chat": chat,
        "slot": f"r{len(rows):03}",
        "swipe": 0,
        "type": "normal",
        "context_from": rows[-WINDOW:][0]["slot"],
        "max_items": ITEMS,
        "budget_tokens": _BUDGET,
    }


def _as_result(chat: Chat, moment: Moment, answer: dict[str, Any]) -> dict[str, Any]:
    return {
        "chat": chat.id,
        "title": chat.title,
        "shows": moment.shows,
        "at": moment.line_number,
        "fork": moment.fork,
        "line": chat.messages[moment.line_number - 1]["text"],
        "recall": answer,
    }


def _show(
    place: tuple[int, int],
    chat: Chat,
    moment: Moment,
    answer: dict[str, Any],
    words: Words,
    screen: Screen,
) -> None:
    """Print one moment; `place` is its number and the number of all moments."""
    line = chat.messages[moment.line_number - 1]
    if moment.fork is None:
        key, line_number = "demo_moment", moment.line_number
    else:
        key, line_number = "demo_branch", moment.fork
    screen.progress("")
    screen.line()
    screen.rule(
        words(
            key,
            number=place[0],
            moments=place[1],
            title=chat.title,
            at=line_number,
            total=len(chat.messages),
        )
    )
    screen.line(moment.shows[words.language], "dim")
    speaker = f"{line['speaker']}: "
    screen.line(
        line["text"],
        "bold",
        indent="    ",
        first="  " + screen.style(speaker, "yellow"),
    )
    screen.line()
    show_recall(answer, words, screen, indent="  ")

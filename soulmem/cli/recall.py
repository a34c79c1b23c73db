"""`soulmem recall`: shows what a character would recall for a text."""

from __future__ import annotations

import argparse
from typing import Any

from soulmem.cli.screen import Screen
from soulmem.cli.sidecar import load_settings, sidecar, wait_until
from soulmem.cli.souls import known_soul
from soulmem.cli.words import Words


def run(args: argparse.Namespace, words: Words, screen: Screen) -> int:
    """Recall once. Nothing is learned from it."""
    with sidecar(args, load_settings(args)) as client:
        soul = known_soul(client, args.soul)
        wait_until(
            client,
            lambda health: health["status"] != "starting" and not health["pending"],
        )
        answer = client.ask(
            "POST",
            "/recall",
            {"soul": soul["id"], "chat": args.chat, "query": args.text},
        )
    screen.result(answer)
    show_recall(answer, words, screen)
    return 0


def show_recall(answer: dict[str, Any], words: Words, screen: Screen, indent: str = "") -> None:
    """Print the blocks as they would be in the prompt, the reason for each memory, and how many were withheld."""
    withheld = answer.get("withheld", 0)  # an older sidecar withholds nothing
    if not answer["memories"]:
        key = "nothing_called_for" if withheld else "nothing_recalled"
        screen.line(words(key, count=withheld), "dim", indent=indent)
        return
    for block in answer["blocks"]:
        where = (
            words("where_depth", depth=block["depth"])
            if block["depth"] is not None
            else words("where_high")
        )
        screen.line(words("injected", where=where, tokens=block["tokens"]), "dim", indent=indent)
        header, *rest = block["text"].split("\n")
        bar = indent + screen.style("│ ", "cyan")
        screen.line(header, "cyan", indent=bar)
        for row in rest:
            screen.line(row, indent=bar)
    screen.line(words("why"), "dim", indent=indent)
    for memory in answer["memories"]:
        screen.line(
            words("why_item", label=_label(memory["text"]), why=memory["why"]),
            indent=f"{indent}  ",
            first=f"{indent}• ",
        )
    if withheld:
        screen.line(words("withheld", count=withheld), "dim", indent=indent)


def _label(text: str) -> str:
    """The beginning of a memory, to find it in the block."""
    first = text.strip().split("\n")[0]
    return first if len(first) <= 40 else first[:38].rstrip() + "…"

"""`soulmem permanent`: lists, adds, keeps, releases or deletes permanent memories."""

from __future__ import annotations

import argparse
from typing import Any

from soulmem.cli.client import Client
from soulmem.cli.memories import listed, selected_souls, show
from soulmem.cli.screen import Screen
from soulmem.cli.sidecar import load_settings, sidecar
from soulmem.cli.souls import known_soul
from soulmem.cli.words import Words
from soulmem.domain.errors import Unprocessable


def run(args: argparse.Namespace, words: Words, screen: Screen) -> int:
    """List permanent memories, add one, or keep, release or delete an existing one."""
    if (args.what is None) is not (args.action == "list"):
        raise Unprocessable(words("permanent_what"), field="TEXT|ID")
    if args.action == "add" and args.soul is None:
        raise Unprocessable(words("permanent_whose"), field="--soul")
    if args.action == "delete" and not args.yes:
        raise Unprocessable(words("permanent_sure"), field="--yes")
    with sidecar(args, load_settings(args)) as client:
        if args.action == "list":
            return _list(client, args.soul, words, screen)
        changed = _act(client, args)
    screen.result(changed)
    screen.line(words(f"permanent_{args.action}_done", id=changed["id"]), "green")
    return 0


def _list(client: Client, name: str | None, words: Words, screen: Screen) -> int:
    listed_souls = []
    for soul in selected_souls(client, name):
        memories = list(listed(client, soul["id"], permanent="true"))
        listed_souls.append({"soul": soul["id"], "name": soul["name"], "memories": memories})
        if memories:
            screen.rule(soul["name"])
            for memory in memories:
                show(memory, words, screen)
    if not any(entry["memories"] for entry in listed_souls):
        screen.line(words("permanent_none"), "dim")
    screen.result({"souls": listed_souls})
    return 0


def _act(client: Client, args: argparse.Namespace) -> dict[str, Any]:
    """The changed memory; of a deleted one only its id and state."""
    if args.action == "add":
        soul = known_soul(client, args.soul)
        body = {
            "soul": soul["id"],
            "kind": "note",
            "text": args.what,
            "permanent": True,
        }
        return dict(client.ask("POST", "/memories", body))
    if args.action == "delete":
        client.ask("DELETE", f"/memories/{args.what}?confirm=permanent")
        return {"id": args.what, "state": "bin"}
    return dict(client.ask("PATCH", f"/memories/{args.what}", {"permanent": args.action == "keep"}))

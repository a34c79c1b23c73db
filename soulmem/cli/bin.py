"""`soulmem bin`: lists, restores or erases deleted memories and characters."""

from __future__ import annotations

import argparse
from typing import Any

from soulmem.cli.client import Client, Refused
from soulmem.cli.memories import listed, selected_souls, show
from soulmem.cli.screen import Screen
from soulmem.cli.sidecar import load_settings, sidecar
from soulmem.cli.words import Words
from soulmem.domain.errors import Unprocessable


def run(args: argparse.Namespace, words: Words, screen: Screen) -> int:
    """List, restore or purge. 1 if one of the named memories could not be restored or purged."""
    if args.action == "list":
        if args.ids or args.all:
            raise Unprocessable(words("bin_list_takes_none"), field="ID")
    elif bool(args.ids) is args.all:
        raise Unprocessable(words("bin_which"), field="ID")
    if args.action == "purge" and not args.yes:
        raise Unprocessable(words("purge_sure"), field="--yes")
    with sidecar(args, load_settings(args)) as client:
        if args.action == "list":
            return _list(client, args.soul, words, screen)
        return _act(client, args, words, screen)


def _list(client: Client, name: str | None, words: Words, screen: Screen) -> int:
    deleted_souls = client.ask("GET", "/souls?state=bin")["souls"] if name is None else []
    listed_souls = []
    for soul in selected_souls(client, name):
        memories = list(listed(client, soul["id"], state="bin"))
        listed_souls.append({"soul": soul["id"], "name": soul["name"], "memories": memories})
        if memories:
            screen.rule(soul["name"])
            for memory in memories:
                show(memory, words, screen)
    for soul in deleted_souls:
        screen.line(words("bin_soul", name=soul["name"], id=soul["id"]))
    if not deleted_souls and not any(entry["memories"] for entry in listed_souls):
        screen.line(words("bin_empty"), "dim")
    screen.result({"souls": listed_souls, "deleted_souls": deleted_souls})
    return 0


def _act(client: Client, args: argparse.Namespace, words: Words, screen: Screen) -> int:
    """Restore or purge each memory; a failure does not stop the others."""
    deleted = {soul["id"]: soul for soul in client.ask("GET", "/souls?state=bin")["souls"]}
    done: list[str] = []
    failed: list[dict[str, str]] = []
    for key in args.ids or _all(client, args.soul):
        try:
            _act_on(client, args.action, key, deleted)
        except Refused as refusal:
            failed.append({"id": key, "error": refusal.code, "message": refusal.message})
            screen.line(words("bin_not_done", id=key, message=refusal.message), "yellow")
        else:
            done.append(key)
    text_key = "bin_restored" if args.action == "restore" else "bin_purged"
    screen.line(words(text_key, count=len(done)), "green" if done else "dim")
    screen.result({"action": args.action, "done": done, "failed": failed})
    return 1 if failed else 0


def _all(client: Client, name: str | None) -> list[str]:
    """The ids of all memories in the bin, of one soul or of all."""
    ids: list[str] = []
    for soul in selected_souls(client, name):
        ids += [memory["id"] for memory in listed(client, soul["id"], state="bin")]
    return ids


def _act_on(client: Client, action: str, key: str, deleted: dict[str, dict[str, Any]]) -> None:
    if action == "purge":
        client.ask("DELETE", f"/memories/{key}?confirm=purge")
    elif key in deleted:
        client.ask("PUT", f"/souls/{key}", {"name": deleted[key]["name"]})
    else:
        client.ask("POST", f"/memories/{key}/restore", {})

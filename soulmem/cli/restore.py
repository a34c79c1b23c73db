"""`soulmem restore`: restores a soul from its file, or the whole store from a backup."""

from __future__ import annotations

import argparse
import asyncio
import time
from pathlib import Path
from typing import Any

from soulmem.cli.client import Client
from soulmem.cli.screen import Screen
from soulmem.cli.sidecar import load_settings, sidecar
from soulmem.cli.souls import drop_if_empty
from soulmem.cli.words import Words
from soulmem.domain.errors import SoulMemError, Unprocessable
from soulmem.domain.foreign_json import read_json

_GZIP = b"\x1f\x8b"
_POLL = 0.1  # seconds between two requests for the job's state
_SENDING = 600.0  # timeout in seconds for sending a large file
_ENDED = ("done", "failed", "cancelled")


class _Failed(SoulMemError):
    """The import job failed."""

    code = "failed"


def run(args: argparse.Namespace, words: Words, screen: Screen) -> int:
    """Restore a file: a soul's file is added to the store, a backup replaces the store."""
    if (args.file is None) != args.newest:
        raise Unprocessable(words("restore_what"), field="FILE")
    if args.newest or _starts_with(args.file, words) == _GZIP:
        return _store(args, words, screen)
    return _soul(args, words, screen)


def _store(args: argparse.Namespace, words: Words, screen: Screen) -> int:
    from soulmem.adapters.surreal.restoring import restore_store
    from soulmem.bootstrap import STORE_FOLDER, backups_of

    settings = load_settings(args)
    if settings.store.url:
        raise Unprocessable(words("restore_server", url=settings.store.url), field="store.url")
    done = asyncio.run(restore_store(settings.data, STORE_FOLDER, backups_of(settings), args.file))
    for path, reason in done.passed_over:
        screen.line(words("backup_passed_over", file=path, reason=reason), "yellow")
    screen.result(
        {
            "backup": str(done.backup),
            "souls": done.souls,
            "aside": str(done.aside) if done.aside else None,
            "passed_over": [
                {"file": str(path), "reason": reason} for path, reason in done.passed_over
            ],
        }
    )
    screen.line(words("store_restored", file=done.backup, souls=done.souls), "green")
    if done.aside:
        screen.line(words("store_aside", folder=done.aside))
    return 0


def _soul(args: argparse.Namespace, words: Words, screen: Screen) -> int:
    text = _text(args.file, words)
    head, name = _head(text, args.file, words)
    with sidecar(args, load_settings(args)) as client:
        existing = {soul["id"]: soul for soul in client.ask("GET", "/souls")["souls"]}
        soul = existing.get(head) or client.ask("PUT", f"/souls/{head}", {"name": name})
        body = {
            "soul": head,
            "format": "bundle",
            "name": args.file.name[-2000:],
            "text": text,
        }
        job = client.ask("POST", "/import", body, seconds=_SENDING)["job"]
        ended_job = _watch(client, job, soul["name"], words, screen)
        if ended_job["state"] != "done" and head not in existing:
            drop_if_empty(client, soul)
    if ended_job["state"] != "done":
        raise _Failed(
            words(
                "file_unread",
                file=args.file,
                reason=ended_job["error"] or ended_job["state"],
            )
        )
    result = ended_job["result"]
    screen.result({"soul": head, "name": soul["name"], "file": str(args.file), **result})
    screen.line(words("soul_restored", name=soul["name"], **_counts(result)), "green")
    if not result["whole"]:
        screen.line(words("bundle_not_whole", broken=len(result["broken"])), "yellow")
    if result["chats_kept"]:
        screen.line(words("chats_kept", count=len(result["chats_kept"])))
    return 0 if result["whole"] else 1


def _watch(client: Client, job: str, name: str, words: Words, screen: Screen) -> dict[str, Any]:
    """Wait until the job has ended; returns its final state."""
    while True:
        job_view: dict[str, Any] = client.ask("GET", f"/jobs/{job}")
        if job_view["state"] in _ENDED:
            screen.progress("")
            return job_view
        progress = job_view["progress"]
        if progress["total"]:
            screen.progress(
                words(
                    "restoring",
                    name=name,
                    done=progress["done"],
                    total=progress["total"],
                )
            )
        time.sleep(_POLL)


def _counts(result: dict[str, Any]) -> dict[str, int]:
    return {key: int(result[key]) for key in ("memories", "messages", "chats", "known")}


def _starts_with(path: Path, words: Words) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(len(_GZIP))
    except OSError as error:
        raise _unread(path, words, error.strerror or error) from error


def _text(path: Path, words: Words) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise _unread(path, words, error) from error


def _head(text: str, path: Path, words: Words) -> tuple[str, str]:
    """The id and name of the soul in the file."""
    try:
        first, second = (read_json(line) for line in text.split("\n", 2)[:2])
        if first["type"] == "bundle":
            return str(first["soul"]), str(second["soul"]["name"])
    except (ValueError, KeyError, TypeError):
        pass
    raise _unread(path, words, words("no_bundle"))


def _unread(path: Path, words: Words, reason: object) -> Unprocessable:
    return Unprocessable(words("file_unread", file=path, reason=reason), field="FILE")

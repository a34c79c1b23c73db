"""`soulmem import`: chats, cards and worlds of SillyTavern into a character's memory."""

from __future__ import annotations

import argparse
import base64
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from tempfile import TemporaryDirectory
from typing import Any

from soulmem.cli.client import Client
from soulmem.cli.files import Source, find_sources
from soulmem.cli.screen import Screen
from soulmem.cli.sidecar import (
    Momentary,
    await_store,
    load_settings,
    sidecar,
    wait_until,
)
from soulmem.cli.souls import drop_if_empty, find_or_make_soul, find_soul
from soulmem.cli.words import Words
from soulmem.domain.errors import Unprocessable
from soulmem.transfer.detect import CARD, ST_CHAT

_POLL = 0.1  # seconds between two looks at a job
_SENDING = 300.0  # seconds until a large file is taken
_SEARCHABLE = (
    3600.0  # seconds to wait for the embedder before leaving the rest to the sidecar
)
_SHOWN = 10  # broken lines of a file; the others are counted
_ENDED = ("done", "failed", "cancelled")


def run(args: argparse.Namespace, words: Words, screen: Screen) -> int:
    """Import every file; 1 when one could not be read or waits for a confirmation."""
    sources, unread = find_sources(args.files)
    names = list(
        dict.fromkeys(args.soul or [s.title for s in sources if s.format == CARD][:1])
    )
    if not names:
        raise Unprocessable(words("soul_wanted"), field="--soul")
    reports = []
    for path, reason in unread:
        screen.line(words("file_unread", file=path.name, reason=reason), "red")
        reports.append({"file": str(path), "error": reason})
    with _opened(args, names) as client:
        souls, made = [], []
        for name in (
            names if sources else ()
        ):  # nobody is made for files that cannot be read
            soul, new = find_or_make_soul(client, name)
            if not args.dry_run:
                screen.note(
                    words(
                        "soul_new" if new else "soul_found",
                        name=soul["name"],
                        id=soul["id"],
                    )
                )
            souls.append(soul)
            if new:
                made.append(soul)
        persona = next((s.persona for s in reversed(sources) if s.persona), "")
        for source in sources:
            for soul in _hearers(source, souls):
                others = (
                    [s["id"] for s in souls if s is not soul]
                    if source.format == ST_CHAT
                    else []
                )
                body = _body(source, soul["id"], others, persona, args)
                reports.append(_Import(client, words, screen).run(source, body))
        if any(report.get("error") for report in reports) and not args.dry_run:
            souls = [
                soul
                for soul in souls
                if soul not in made or not drop_if_empty(client, soul)
            ]
        pending = 0 if args.dry_run else _wait(client, words, screen)
    soul_views = (
        [] if args.dry_run else [{"id": s["id"], "name": s["name"]} for s in souls]
    )
    screen.result(
        {
            "souls": soul_views,
            "files": reports,
            "pending": pending,
            "dry_run": args.dry_run,
        }
    )
    if not all(report.get("error") for report in reports):
        _close(reports, pending, words, screen, dry_run=args.dry_run)
    return (
        1 if any(report.get("error") or report.get("held") for report in reports) else 0
    )


@contextmanager
def _opened(args: argparse.Namespace, names: Sequence[str]) -> Iterator[Client]:
    """The sidecar to work with; one over an empty folder when a dry run is about nobody known yet."""
    settings = load_settings(args)
    with sidecar(args, settings) as client:
        if not args.dry_run or all(
            find_soul(client, name) is not None for name in names
        ):
            yield client
            return
    with TemporaryDirectory(
        ignore_cleanup_errors=True
    ) as folder:  # a store closes its files a moment later
        empty = replace(
            settings,
            data=type(settings.data)(folder),
            store=replace(settings.store, url=""),
        )
        with Momentary(empty) as client:
            await_store(client)
            yield client


def _hearers(source: Source, souls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Into whose memory it goes: a chat once for all, a card into that of its name, a world into each."""
    if source.format == ST_CHAT:
        return souls[:1]
    if source.format == CARD:
        same = [
            s for s in souls if s["name"].strip().casefold() == source.title.casefold()
        ]
        return (same or souls)[:1]
    return souls


def _body(
    source: Source, soul: str, others: list[str], persona: str, args: argparse.Namespace
) -> dict[str, Any]:
    data = source.path.read_bytes()
    body: dict[str, Any] = {
        "soul": soul,
        "format": source.format,
        "name": source.path.name[-2000:],
        "others": others,
        "persona": persona,
        "dry_run": args.dry_run,
        "confirm_removal": args.confirm_removal,
    }
    try:
        body["text"] = data.decode()
    except UnicodeDecodeError:
        body["base64"] = base64.b64encode(data).decode()
    return body


class _Import:
    """Brings one file after the other to the sidecar, and tells what came of it."""

    def __init__(self, client: Client, words: Words, screen: Screen) -> None:
        self._client, self._words, self._screen = client, words, screen

    def run(self, source: Source, body: dict[str, Any]) -> dict[str, Any]:
        """The report of one file."""
        job = str(self._client.ask("POST", "/import", body, seconds=_SENDING)["job"])
        try:
            ended_job = self._watch(job, source.title)
        except BaseException:
            # Between two pieces: what is in stays, and the same command goes on from there.
            self._client.ask("DELETE", f"/jobs/{job}")
            self._watch(job, source.title)
            raise
        self._screen.progress("")
        if ended_job["state"] != "done":
            reason = ended_job["error"] or ended_job["state"]
            self._screen.line(
                self._words("file_unread", file=source.path.name, reason=reason), "red"
            )
            return {"file": str(source.path), "format": source.format, "error": reason}
        report = {"file": str(source.path), **ended_job["result"]}
        self._tell(source, report)
        return report

    def _watch(self, job: str, title: str) -> dict[str, Any]:
        """The job once it has ended."""
        while True:
            job_view: dict[str, Any] = self._client.ask("GET", f"/jobs/{job}")
            if job_view["state"] in _ENDED:
                return job_view
            progress = job_view["progress"]
            if progress["total"]:
                key = f"importing_{progress['unit']}"
                self._screen.progress(
                    self._words(
                        key, title=title, done=progress["done"], total=progress["total"]
                    )
                )
            time.sleep(_POLL)

    def _tell(self, source: Source, report: dict[str, Any]) -> None:
        say, screen = self._words, self._screen
        kind = "chat" if report["format"] == ST_CHAT else "lore"
        quarantine = report.get("held")
        if quarantine is not None:
            screen.line(
                say(
                    f"held_{quarantine['reason']}",
                    title=report["title"],
                    count=quarantine["count"],
                ),
                "yellow",
            )
        else:
            screen.line(
                say(f"result_{kind}{'_dry' if report['dry_run'] else ''}", **report)
            )
        if report.get("branch_of"):
            title = (source.log and source.log.main_chat) or report["branch_of"]
            screen.line(say("file_branch", title=title), "dim", indent="  ")
        for key in ("undated", "kept", "disabled"):
            if report.get(key):
                screen.line(say(f"file_{key}", count=report[key]), "dim", indent="  ")
        for broken in report["broken"][:_SHOWN]:
            position = broken.get("line", broken.get("where"))
            key = "line_broken" if "line" in broken else "part_broken"
            screen.line(
                say(key, number=position, reason=say(f"broken_{broken['reason']}")),
                "yellow",
                indent="  ",
            )
        if len(report["broken"]) > _SHOWN:
            screen.line(
                say("lines_broken", count=len(report["broken"]) - _SHOWN),
                "yellow",
                indent="  ",
            )


def _close(
    reports: Sequence[dict[str, Any]],
    pending: int,
    words: Words,
    screen: Screen,
    *,
    dry_run: bool,
) -> None:
    if dry_run:
        minutes = sum(report.get("minutes", 0.0) for report in reports)
        screen.line(words("import_would", minutes=f"{minutes:.1f}"), "green")
    else:
        screen.line(
            words("import_pending" if pending else "import_done", count=pending),
            "green",
        )


def _wait(client: Client, words: Words, screen: Screen) -> int:
    """Until all is searchable; how many messages are not yet."""

    def seen(health: dict[str, Any]) -> None:
        if health["pending"]:
            screen.progress(words("embedding", count=health["pending"]))

    health = wait_until(
        client,
        lambda now: not now["pending"] or now["embedder"]["state"] == "error",
        _SEARCHABLE,
        seen,
    )
    screen.progress("")
    return int(health["pending"])

"""`soulmem import`: imports chats, cards and worlds of SillyTavern into a character's memory."""

from __future__ import annotations

import argparse
import base64
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
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

_POLL = 0.1  # seconds between two requests for a job's state
_SENDING = 300.0  # timeout in seconds for sending a large file
_SEARCHABLE = 3600.0  # seconds to wait until everything is searchable
_SHOWN = 10  # broken lines shown for each file; the others are counted
_ENDED = ("done", "failed", "cancelled")


def run(args: argparse.Namespace, words: Words, screen: Screen) -> int:
    """Import every file. 1 if a file could not be read or waits for a confirmation."""
    sources, unread = find_sources(args.files)
    names = _soul_names(args, sources)
    if not names:
        raise Unprocessable(words("soul_wanted"), field="--soul")
    reports = [_unread_report(path, reason, words, screen) for path, reason in unread]
    with _opened(args, names) as client:
        # No soul is created if no file can be read.
        souls, created = _souls(client, names if sources else [], args, words, screen)
        importer = _Import(client, words, screen)
        for source, body in _requests(sources, souls, args):
            reports.append(importer.run(source, body))
        if _any_failed(reports) and not args.dry_run:
            souls = _without_empty(client, souls, created)
        pending = 0 if args.dry_run else _wait(client, words, screen)
    screen.result(
        {
            "souls": [] if args.dry_run else [_id_and_name(soul) for soul in souls],
            "files": reports,
            "pending": pending,
            "dry_run": args.dry_run,
        }
    )
    _show_end(reports, pending, words, screen, dry_run=args.dry_run)
    return 1 if _any_failed(reports) or _any_waits(reports) else 0


def _unread_report(path: Path, reason: str, words: Words, screen: Screen) -> dict[str, Any]:
    """Print that a file cannot be read. Returns its report."""
    screen.line(words("file_unread", file=path.name, reason=reason), "red")
    return {"file": str(path), "error": reason}


def _id_and_name(soul: dict[str, Any]) -> dict[str, Any]:
    return {"id": soul["id"], "name": soul["name"]}


def _requests(
    sources: Sequence[Source], souls: list[dict[str, Any]], args: argparse.Namespace
) -> Iterator[tuple[Source, dict[str, Any]]]:
    """Each source with the request that imports it, once for each recipient."""
    persona = next((s.persona for s in reversed(sources) if s.persona), "")
    for source in sources:
        for soul in _recipients(source, souls):
            yield source, _body(source, soul, souls, persona, args)


def _soul_names(args: argparse.Namespace, sources: Sequence[Source]) -> list[str]:
    """The names of --soul, each once; else the title of the first card."""
    titles = [source.title for source in sources if source.format == CARD]
    return list(dict.fromkeys(args.soul or titles[:1]))


def _souls(
    client: Client,
    names: Sequence[str],
    args: argparse.Namespace,
    words: Words,
    screen: Screen,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The souls with these names, and those of them that were created now."""
    souls, created = [], []
    for name in names:
        soul, is_new = find_or_make_soul(client, name)
        if not args.dry_run:
            key = "soul_new" if is_new else "soul_found"
            screen.note(words(key, name=soul["name"], id=soul["id"]))
        souls.append(soul)
        if is_new:
            created.append(soul)
    return souls, created


def _any_failed(reports: Sequence[dict[str, Any]]) -> bool:
    return any(report.get("error") for report in reports)


def _any_waits(reports: Sequence[dict[str, Any]]) -> bool:
    """Whether a file waits for --confirm-removal."""
    return any(report.get("held") for report in reports)


def _without_empty(
    client: Client, souls: list[dict[str, Any]], created: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Delete the created souls that stayed empty. Returns the other souls."""
    kept = []
    for soul in souls:
        if soul not in created or not drop_if_empty(client, soul):
            kept.append(soul)
    return kept


@contextmanager
def _opened(args: argparse.Namespace, names: Sequence[str]) -> Iterator[Client]:
    """The sidecar to work with. A dry run for unknown names uses a temporary one on an empty folder."""
    settings = load_settings(args)
    with sidecar(args, settings) as client:
        if not args.dry_run or all(find_soul(client, name) is not None for name in names):
            yield client
            return
    # The store may still have open files when the folder is removed.
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        empty = replace(
            settings,
            data=type(settings.data)(folder),
            store=replace(settings.store, url=""),
        )
        with Momentary(empty) as client:
            await_store(client)
            yield client


def _recipients(source: Source, souls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The souls to import a file for: a chat for the first, a card for that of its name, a world for each."""
    if source.format == ST_CHAT:
        return souls[:1]
    if source.format == CARD:
        same = [s for s in souls if s["name"].strip().casefold() == source.title.casefold()]
        return (same or souls)[:1]
    return souls


def _body(
    source: Source,
    soul: dict[str, Any],
    souls: list[dict[str, Any]],
    persona: str,
    args: argparse.Namespace,
) -> dict[str, Any]:
    """The request that imports `source` for `soul`; all `souls` are in the chat."""
    data = source.path.read_bytes()
    others = []
    if source.format == ST_CHAT:
        others = [other["id"] for other in souls if other is not soul]
    body: dict[str, Any] = {
        "soul": soul["id"],
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
    """Imports files through the sidecar and prints the results."""

    def __init__(self, client: Client, words: Words, screen: Screen) -> None:
        self._client, self._words, self._screen = client, words, screen

    def run(self, source: Source, body: dict[str, Any]) -> dict[str, Any]:
        """Import one file. Returns its report."""
        job = str(self._client.ask("POST", "/import", body, seconds=_SENDING)["job"])
        try:
            ended_job = self._watch(job, source.title)
        except BaseException:
            # The job stops between two pieces. The same command continues from there.
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
        self._show(source, report)
        return report

    def _watch(self, job: str, title: str) -> dict[str, Any]:
        """Wait until the job has ended; returns its final state."""
        while True:
            job_view: dict[str, Any] = self._client.ask("GET", f"/jobs/{job}")
            if job_view["state"] in _ENDED:
                return job_view
            progress = job_view["progress"]
            if progress["total"]:
                key = f"importing_{progress['unit']}"
                self._screen.progress(
                    self._words(key, title=title, done=progress["done"], total=progress["total"])
                )
            time.sleep(_POLL)

    def _show(self, source: Source, report: dict[str, Any]) -> None:
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
            screen.line(say(f"result_{kind}{'_dry' if report['dry_run'] else ''}", **report))
        if report.get("branch_of"):
            title = (source.log and source.log.main_chat) or report["branch_of"]
            screen.line(say("file_branch", title=title), "dim", indent="  ")
        for key in ("undated", "kept", "disabled", "instructions"):
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


def _show_end(
    reports: Sequence[dict[str, Any]],
    pending: int,
    words: Words,
    screen: Screen,
    *,
    dry_run: bool,
) -> None:
    """Print what comes next, unless every file failed."""
    if all(report.get("error") for report in reports):
        return
    if dry_run:
        minutes = sum(report.get("minutes", 0.0) for report in reports)
        screen.line(words("import_would", minutes=f"{minutes:.1f}"), "green")
    else:
        screen.line(
            words("import_pending" if pending else "import_done", count=pending),
            "green",
        )


def _wait(client: Client, words: Words, screen: Screen) -> int:
    """Wait until everything is searchable. Returns the number of messages that are not."""

    def seen(health: dict[str, Any]) -> None:
        if health["pending"]:
            screen.progress(words("embedding", count=health["pending"]))

    health = wait_until(
        client,
        lambda report: not report["pending"] or report["embedder"]["state"] == "error",
        _SEARCHABLE,
        seen,
    )
    screen.progress("")
    return int(health["pending"])

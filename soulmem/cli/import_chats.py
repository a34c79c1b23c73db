"""`soulmem import`: SillyTavern chat files into a character's memory, as if each had been played."""

from __future__ import annotations

import argparse
import glob
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from soulmem.cli.client import Client, Refused
from soulmem.cli.screen import Screen
from soulmem.cli.sidecar import load_settings, sidecar, wait_until
from soulmem.cli.souls import find_or_make_soul
from soulmem.cli.words import Words
from soulmem.domain.dialogue import Message
from soulmem.domain.ids import ChatId, SlotId, SoulId
from soulmem.transfer.chat_log import ChatLog, as_branch, chat_id_for, read_chat_log
from soulmem.transfer.sync_body import sync_body

_PIECE = 200  # messages per request: small enough to show progress, large enough to count as an import
_SEARCHABLE = 3600.0  # seconds to wait for the embedder before leaving the rest to the sidecar


def run(args: argparse.Namespace, words: Words, screen: Screen) -> int:
    """Import every file; 1 when one could not be read or waits for a confirmation."""
    with sidecar(args, load_settings(args)) as client:
        souls = []
        for name in dict.fromkeys(args.soul):
            soul, new = find_or_make_soul(client, name)
            screen.note(words("soul_new" if new else "soul_found", name=soul["name"], id=soul["id"]))
            souls.append(soul)
        ids = [SoulId(s["id"]) for s in souls]
        reports = []
        logs, unread = _read_all(_expand(args.files), ids)
        for path, reason in unread:
            screen.line(words("file_unread", file=path.name, reason=reason), "red")
            reports.append({"file": str(path), "error": reason})
        for path, log in _parents_first(logs):
            report = _Importer(client, ids, words, screen, confirm=args.confirm_removal).run(log, logs)
            reports.append({"file": str(path), **report})
        pending = _wait(client, words, screen)
    screen.result(
        {"souls": [{"id": s["id"], "name": s["name"]} for s in souls], "files": reports, "pending": pending}
    )
    screen.line(words("import_pending" if pending else "import_done", count=pending), "green")
    return 1 if any(r.get("error") or r.get("held") for r in reports) else 0


class _Importer:
    """Brings one chat after the other to what its file says."""

    def __init__(
        self, client: Client, souls: Sequence[SoulId], words: Words, screen: Screen, *, confirm: bool
    ) -> None:
        self._client, self._souls, self._words, self._screen = client, list(souls), words, screen
        self._confirm = confirm

    def run(self, log: ChatLog, others: Sequence[tuple[Path, ChatLog]]) -> dict[str, Any]:
        """Sync one chat and tell what came of it."""
        log = self._placed(log, others)
        stored = self._stored(log.chat)
        souls = list(dict.fromkeys([*(stored or {}).get("souls", []), *self._souls]))
        known = (stored or {}).get("messages", [])
        shared = _shared(log.messages, known)
        done = {"added": 0, "changed": 0, "removed": 0}
        held = None
        for start, stop in (
            _pieces(shared, len(log.messages)) if shared == len(known) else [(0, len(log.messages))]
        ):
            self._screen.progress(
                self._words("importing", title=log.title, done=start, total=len(log.messages))
            )
            answer = self._sync(log, souls, start, stop, whole=shared < len(known))
            held = answer["held"]
            for key in done:
                done[key] += answer[key]
        self._screen.progress("")
        if log.messages and held is None:
            self._client.ask("POST", "/activity", {"chat": log.chat, "state": "closed"})
        self._tell(log, done, held)
        return {
            "chat": log.chat,
            "title": log.title,
            "messages": len(log.messages),
            **done,
            "held": held,
            "branch_of": log.parent.chat if log.parent else None,
            "undated": log.undated,
            "broken": [{"line": b.number, "reason": b.reason} for b in log.broken],
        }

    def _sync(
        self, log: ChatLog, souls: list[SoulId], start: int, stop: int, *, whole: bool
    ) -> dict[str, Any]:
        """One request; a chat that changed inside is listed whole, with the texts that are asked for."""
        texts: frozenset[SlotId] | None = frozenset() if whole else None
        while True:
            body = sync_body(log, souls, start, stop, texts)
            body["confirm_removal"] = self._confirm
            answer: dict[str, Any] = self._client.ask("PUT", f"/chats/{log.chat}", body, seconds=300.0)
            if not answer["needs_text"]:
                return answer
            texts = frozenset(SlotId(slot) for slot in answer["needs_text"])

    def _placed(self, log: ChatLog, others: Sequence[tuple[Path, ChatLog]]) -> ChatLog:
        """`log` as a branch of the chat it was branched from, when that one is known."""
        if log.parent is not None or (log.main_chat is None and log.copied_from is None):
            return log
        parent = log.copied_from or next(
            (other.chat for _, other in others if other.title == log.main_chat),
            chat_id_for(log.main_chat or "", self._souls),
        )
        stored = self._stored(parent) if parent != log.chat else None
        return as_branch(log, parent, {SlotId(m["slot"]) for m in stored["messages"]}) if stored else log

    def _stored(self, chat: ChatId) -> dict[str, Any] | None:
        try:
            return dict(self._client.ask("GET", f"/chats/{chat}"))
        except Refused as refusal:
            if refusal.status == 404:
                return None
            raise

    def _tell(self, log: ChatLog, done: dict[str, int], held: dict[str, Any] | None) -> None:
        say, screen = self._words, self._screen
        if not log.messages:
            screen.line(say("file_empty", title=log.title), "yellow")
        elif held is not None:
            screen.line(say("file_held", title=log.title, count=held["count"]), "yellow")
        else:
            screen.line(say("file_done", title=log.title, total=len(log.messages), **done))
        if log.parent is not None:
            screen.line(say("file_branch", title=log.main_chat or log.parent.chat), "dim", indent="  ")
        if log.undated:
            screen.line(say("file_undated", count=log.undated), "dim", indent="  ")
        for broken in log.broken[:10]:
            screen.line(
                say("line_broken", number=broken.number, reason=say(f"broken_{broken.reason}")),
                "yellow",
                indent="  ",
            )
        if len(log.broken) > 10:
            screen.line(say("lines_broken", count=len(log.broken) - 10), "yellow", indent="  ")


def _expand(files: Iterable[Path]) -> list[Path]:
    """The files meant; `*` works where the shell leaves it to us."""
    out: list[Path] = []
    for path in files:
        found = [] if path.exists() else sorted(map(Path, glob.glob(str(path))))
        out += found or [path]
    return list(dict.fromkeys(out))


def _read_all(
    paths: Iterable[Path], souls: Sequence[SoulId]
) -> tuple[list[tuple[Path, ChatLog]], list[tuple[Path, str]]]:
    """Every file that can be read, and the others with the reason."""
    logs: list[tuple[Path, ChatLog]] = []
    unread: list[tuple[Path, str]] = []
    for path in paths:
        try:
            with path.open("rb") as lines:
                log = read_chat_log(lines, path.stem, souls)
        except OSError as error:
            unread.append((path, error.strerror or str(error)))
            continue
        twin = next((other for other, known in logs if known.chat == log.chat), None)
        if twin is not None:  # one would undo the other
            unread.append((path, f"same chat as {twin}: import one of them, or rename the file"))
        else:
            logs.append((path, log))
    return logs, unread


def _parents_first(logs: Sequence[tuple[Path, ChatLog]]) -> list[tuple[Path, ChatLog]]:
    """Chats before their branches, so that a branch finds what it shares."""
    out: list[tuple[Path, ChatLog]] = []
    waiting = list(logs)
    while waiting:
        titles, chats = {log.title for _, log in waiting}, {log.chat for _, log in waiting}
        free = [
            (p, log) for p, log in waiting if log.main_chat not in titles and log.copied_from not in chats
        ]
        out += free or waiting  # a circle of branches has no first one
        waiting = [pair for pair in waiting if pair not in out]
    return out


def _shared(messages: Sequence[Message], stored: Sequence[dict[str, Any]]) -> int:
    """How many messages at the beginning are stored as the file has them."""
    for at, (mine, theirs) in enumerate(zip(messages, stored, strict=False)):
        if (mine.slot, mine.hash, mine.hidden) != (theirs["slot"], theirs["hash"], theirs["hidden"]):
            return at
    return min(len(messages), len(stored))


def _pieces(start: int, stop: int) -> list[tuple[int, int]]:
    """`start`..`stop` in pieces of nearly the same size, at least one: it also carries title and souls."""
    count = max(1, -(-(stop - start) // _PIECE))
    bounds = [start + (stop - start) * n // count for n in range(count + 1)]
    return list(pairwise(bounds))


def _wait(client: Client, words: Words, screen: Screen) -> int:
    """Until all is searchable; how many messages are not yet."""

    def seen(health: dict[str, Any]) -> None:
        if health["pending"]:
            screen.progress(words("embedding", count=health["pending"]))

    health = wait_until(
        client, lambda now: not now["pending"] or now["embedder"]["state"] == "error", _SEARCHABLE, seen
    )
    screen.progress("")
    return int(health["pending"])

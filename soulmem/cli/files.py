"""Finds the files to import, detects their formats and sorts them."""

from __future__ import annotations

import glob
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path

from soulmem.domain.errors import Unprocessable
from soulmem.transfer.card import card_data, card_name
from soulmem.transfer.chat_log import ChatLog, read_chat_file
from soulmem.transfer.detect import CARD, ST_CHAT, WORLD_INFO, format_of

_MAX_BYTES = 180 << 20  # in base64 it must stay below the request limit of 256 MiB
_ENDINGS = (".jsonl", ".json", ".png", ".charx")  # of files that are read in folders


@dataclass(frozen=True, slots=True)
class Source:
    """A file to import."""

    path: Path
    format: str  # a format of `POST /v1/import`
    title: str
    log: ChatLog | None = None  # of a chat

    @property
    def persona(self) -> str:
        """The player's name in the chat."""
        return self.log.persona if self.log is not None else ""


def find_sources(paths: Iterable[Path]) -> tuple[list[Source], list[tuple[Path, str]]]:
    """The sources in the order of import, and the unreadable files with the reasons.

    Cards come first, then worlds, then chats, each before its branches.
    """
    sources: list[Source] = []
    unread: list[tuple[Path, str]] = []
    for path, is_named in _expanded(paths):
        try:
            source = _source(path)
        except Unprocessable as error:
            if is_named:
                unread.append((path, error.message))
            continue
        except OSError as error:
            unread.append((path, error.strerror or str(error)))
            continue
        twin = _twin(source, sources)
        if twin is not None:  # importing both would undo one of them
            unread.append((path, f"same chat as {twin}: import one of them, or rename the file"))
        else:
            sources.append(source)
    order = [CARD, WORLD_INFO]
    lore = sorted((s for s in sources if s.log is None), key=lambda s: order.index(s.format))
    return [*lore, *_parents_first([s for s in sources if s.log is not None])], unread


def _expanded(paths: Iterable[Path]) -> Iterable[tuple[Path, bool]]:
    """The files, and whether each was named itself. Expands folders, and `*` if the shell has not."""
    is_named: dict[Path, bool] = {}
    for path in paths:
        for match in _matches(path):
            if not match.is_dir():
                is_named[match] = True
                continue
            for file in _importable_files(match):
                is_named.setdefault(file, False)
    return is_named.items()


def _matches(pattern: Path) -> list[Path]:
    """The paths that the pattern stands for; itself if it exists or nothing matches."""
    if pattern.exists():
        return [pattern]
    return sorted(map(Path, glob.glob(str(pattern)))) or [pattern]


def _importable_files(folder: Path) -> list[Path]:
    files = [path for path in folder.rglob("*") if path.suffix.lower() in _ENDINGS]
    return sorted(path for path in files if path.is_file())


def _source(path: Path) -> Source:
    """Raises Unprocessable, OSError."""
    if path.stat().st_size > _MAX_BYTES:
        raise Unprocessable(f"it is larger than {_MAX_BYTES >> 20} MiB: split it")
    data = path.read_bytes()
    kind = format_of(data, path.suffix)
    if kind == ST_CHAT:
        log = read_chat_file(data, path.stem, [])
        return Source(path, kind, path.stem, log)
    return Source(path, kind, card_name(card_data(data)) if kind == CARD else path.stem)


def _twin(source: Source, sources: Sequence[Source]) -> Path | None:
    if source.log is None:
        return None
    same = (other.path for other in sources if other.log and other.log.chat == source.log.chat)
    return next(same, None)


def _parents_first(chats: Sequence[Source]) -> list[Source]:
    """Chats before their branches, because a branch refers to its parent."""
    ordered: list[Source] = []
    waiting = list(chats)
    while waiting:
        logs = [source.log for source in waiting if source.log is not None]
        titles, ids = {log.title for log in logs}, {log.chat for log in logs}
        roots = [s for s in waiting if s.log and not _is_branch(s.log, titles, ids)]
        ordered += roots or waiting  # branches in a circle have no root
        waiting = [source for source in waiting if source not in ordered]
    return ordered


def _is_branch(log: ChatLog, titles: set[str], ids: AbstractSet[str]) -> bool:
    """Whether the chat's parent is among these titles or ids."""
    return log.main_chat in titles or log.copied_from in ids

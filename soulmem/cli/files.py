"""Which files are meant on the command line, what is each, and in which order do they go in?"""

from __future__ import annotations

import glob
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from soulmem.domain.errors import Unprocessable
from soulmem.transfer.card import card_data, card_name
from soulmem.transfer.chat_log import ChatLog, read_chat_log
from soulmem.transfer.detect import CARD, ST_CHAT, WORLD_INFO, format_of
from soulmem.transfer.files import check_text

_LARGEST = 180 << 20  # bytes: as base64 inside a request it must stay below 256 MiB
_ENDINGS = (".jsonl", ".json", ".png")  # looked at inside folders


@dataclass(frozen=True, slots=True)
class Source:
    """A file to be imported."""

    path: Path
    format: str  # as `POST /v1/import` calls it
    title: str
    log: ChatLog | None = None  # of a chat

    @property
    def persona(self) -> str:
        """What the player is called in it."""
        return self.log.persona if self.log is not None else ""


def find_sources(paths: Iterable[Path]) -> tuple[list[Source], list[tuple[Path, str]]]:
    """Cards, worlds, then chats before their branches; and the files that cannot be read, with the reason."""
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
        if twin is not None:  # one would undo the other
            unread.append(
                (path, f"same chat as {twin}: import one of them, or rename the file")
            )
        else:
            sources.append(source)
    order = [CARD, WORLD_INFO]
    lore = sorted(
        (s for s in sources if s.log is None), key=lambda s: order.index(s.format)
    )
    return [*lore, *_parents_first([s for s in sources if s.log is not None])], unread


def _expanded(paths: Iterable[Path]) -> Iterable[tuple[Path, bool]]:
    """The files meant, and whether each was named; `*` works where the shell leaves it to us."""
    out: dict[Path, bool] = {}
    for path in paths:
        for match in (
            [path]
            if path.exists()
            else sorted(map(Path, glob.glob(str(path)))) or [path]
        ):
            if match.is_dir():
                inside = sorted(
                    p
                    for p in match.rglob("*")
                    if p.suffix.lower() in _ENDINGS and p.is_file()
                )
                out.update({p: out.get(p, False) for p in inside})
            else:
                out[match] = True
    return out.items()


def _source(path: Path) -> Source:
    """Raises Unprocessable, OSError."""
    if path.stat().st_size > _LARGEST:
        raise Unprocessable(f"it is larger than {_LARGEST >> 20} MiB: split it")
    data = path.read_bytes()
    kind = format_of(data, path.suffix)
    if kind is None:
        raise Unprocessable(
            "neither a chat (.jsonl), nor a character card, nor world info"
        )
    if kind == ST_CHAT:
        log = read_chat_log(io.BytesIO(data), path.stem, [])
        if not log.messages:
            check_text(data)  # which tells more where it can
            raise Unprocessable("it holds no chat message")
        return Source(path, kind, path.stem, log)
    return Source(path, kind, card_name(card_data(data)) if kind == CARD else path.stem)


def _twin(source: Source, sources: Sequence[Source]) -> Path | None:
    if source.log is None:
        return None
    same = (
        other.path
        for other in sources
        if other.log and other.log.chat == source.log.chat
    )
    return next(same, None)


def _parents_first(chats: Sequence[Source]) -> list[Source]:
    """Chats before their branches, so that a branch finds what it shares."""
    out: list[Source] = []
    waiting = list(chats)
    while waiting:
        logs = [s.log for s in waiting if s.log is not None]
        titles, ids = {log.title for log in logs}, {log.chat for log in logs}
        free = [
            s
            for s in waiting
            if s.log and s.log.main_chat not in titles and s.log.copied_from not in ids
        ]
        out += free or waiting  # a circle of branches has no first one
        waiting = [s for s in waiting if s not in out]
    return out

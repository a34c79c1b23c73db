"""How does a chat file become memory? Prefix by prefix, each settled through the same sync as a live chat.

So an import that stops anywhere has made what the chat's beginning makes, and goes on from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from soulmem.conversation.episodes import memorable
from soulmem.conversation.sync import reconcile
from soulmem.domain.dialogue import Base, Chat, Message, SentMessage, digest
from soulmem.domain.errors import Conflict, NotFound, Unprocessable
from soulmem.domain.ids import ChatId, Owner, SoulId
from soulmem.engine.api.requests import Activity, SyncRequest
from soulmem.engine.runtime.jobs import JobRun
from soulmem.engine.runtime.worker import Worker
from soulmem.engine.sync.chats import ChatService
from soulmem.transfer.chat_log import ChatLog, as_branch, chat_id_for
from soulmem.transfer.sent import sent_messages, stop_of_piece

_PIECE = 200  # messages per sync: small enough to show progress, large enough to count as an import
_BREAKS, _MASS = "broken_lines", "mass_removal"
_CONFLICTS = 8  # times that somebody else may write to the chat meanwhile


@dataclass(frozen=True, slots=True)
class Expected:
    """What an import of a chat would do; `texts` are new."""

    added: int
    changed: int
    removed: int
    held: dict[str, Any] | None
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Piece:
    """Messages for one sync: from `shared` on, or all without `base`, up to `stop`."""

    shared: int  # messages at the beginning that are stored as the file has them
    stop: int
    messages: Sequence[SentMessage]
    base: Base | None


class ChatImport:
    """Brings stored chats to what files say."""

    def __init__(
        self,
        *,
        chats: ChatService,
        compute: Worker,
    ) -> None:
        self._chats = chats
        self._compute = compute

    async def placed(
        self, owner: Owner, log: ChatLog, souls: Sequence[SoulId]
    ) -> ChatLog:
        """`log` as a branch of the chat it was branched from, when that one is known.

        Raises Unprocessable for a file without any message.
        """
        if not log.messages:
            raise Unprocessable(
                f"{log.title!r} holds no chat message: choose a chat file of SillyTavern (.jsonl)",
                field="text",
            )
        if log.parent is not None:
            return log
        head, _ = await self._stored(owner, log.chat)
        attempt = 1
        while (
            head is not None
            and head.title != log.title
            and log.chat == _nameless(log, souls, attempt)
        ):
            attempt += 1  # the chat that had this name once was renamed since
            log = replace(log, chat=_nameless(log, souls, attempt))
            head, _ = await self._stored(owner, log.chat)
        if head is not None and head.parent is not None:
            return replace(log, parent=head.parent)
        if log.main_chat is None and log.copied_from is None:
            return log
        parent = log.copied_from or await self._named(owner, log, souls)
        _, messages = (
            await self._stored(owner, parent) if parent != log.chat else (None, [])
        )
        return as_branch(log, parent, {m.slot for m in messages})

    async def expected(
        self, owner: Owner, log: ChatLog, souls: Sequence[SoulId], *, confirmed: bool
    ) -> Expected:
        """What taking the placed `log` in would do; changes nothing."""
        _, stored = await self._stored(owner, log.chat)
        return await self._compute.run(_expected, stored, log, souls, confirmed)

    async def take_in(
        self, run: JobRun, log: ChatLog, souls: Sequence[SoulId], *, confirmed: bool
    ) -> dict[str, Any]:
        """Make the stored chat equal to the placed `log`; what that changed."""
        total = len(log.messages)
        done = {"added": 0, "changed": 0, "removed": 0}
        conflicts = 0
        while True:
            head, stored = await self._stored(run.owner, log.chat)
            everybody = tuple(dict.fromkeys([*(head.souls if head else ()), *souls]))
            piece = await self._compute.run(_next_piece, log, stored, everybody)
            run.tell(piece.shared, total, "messages")
            if (
                piece.base is None
                and not confirmed
                and (lost := _lost_to_breaks(log, stored))
            ):
                return {**done, "held": _held(_BREAKS, lost)}
            request = SyncRequest(
                chat=log.chat,
                souls=everybody,
                messages=piece.messages,
                title=log.title,
                persona=log.persona or (head.persona if head else ""),
                parent=log.parent,
                base=piece.base,
                confirm_removal=confirmed,
            )
            try:
                answer = await self._chats.sync(run.owner, request)
            except Conflict:  # the chat is open in SillyTavern and went on: look again
                conflicts += 1
                if conflicts > _CONFLICTS:
                    raise
                continue
            if answer.held is not None:
                return {**done, "held": _held(_MASS, answer.held)}
            for key in done:
                done[key] += getattr(answer, key)
            if piece.stop == total:
                break
        await self._chats.activity(run.owner, log.chat, Activity.CLOSED)
        run.tell(total, total, "messages")
        return {**done, "held": None}

    async def _stored(
        self, owner: Owner, chat: ChatId
    ) -> tuple[Chat | None, Sequence[Message]]:
        try:
            return await self._chats.get(owner, chat)
        except NotFound:
            return None, []

    async def _named(
        self, owner: Owner, log: ChatLog, souls: Sequence[SoulId]
    ) -> ChatId:
        """The chat whose title `log` names as the one it was branched from."""
        for head, _ in await self._chats.list(owner, souls[0]):
            if head.title == log.main_chat and head.id != log.chat:
                return head.id
        return chat_id_for(log.main_chat or "", souls)


def _nameless(log: ChatLog, souls: Sequence[SoulId], attempt: int) -> ChatId:
    """The id of a chat whose file tells none, and of the next ones of the same name."""
    return chat_id_for(
        log.title if attempt == 1 else f"{log.title}\x1f{attempt}", souls
    )


def _shared(messages: Sequence[Message], stored: Sequence[Message]) -> int:
    """How many messages at the beginning are stored as the file has them."""
    for at, (mine, theirs) in enumerate(zip(messages, stored, strict=False)):
        if (mine.slot, mine.hash, mine.hidden) != (
            theirs.slot,
            theirs.hash,
            theirs.hidden,
        ):
            return at
    return min(len(messages), len(stored))


def _next_piece(
    log: ChatLog, stored: Sequence[Message], souls: Sequence[SoulId]
) -> _Piece:
    """What follows what is stored; all at once when that differs inside from the file."""
    shared, total = _shared(log.messages, stored), len(log.messages)
    if shared < len(stored):
        return _Piece(shared, total, sent_messages(log, souls, 0, total), None)
    stop = stop_of_piece(shared, total, _PIECE)
    return _Piece(
        shared,
        stop,
        sent_messages(log, souls, shared, stop),
        Base(shared, digest(stored)),
    )


def _lost_to_breaks(log: ChatLog, stored: Sequence[Message]) -> int:
    """Known messages that are missing from a file of which not every line can be read."""
    return (
        len({m.slot for m in stored} - {m.slot for m in log.messages})
        if log.broken
        else 0
    )


def _held(reason: str, count: int) -> dict[str, Any]:
    """Known messages that would go: nothing is done until that is confirmed."""
    return {"reason": reason, "count": count}


def _expected(
    stored: Sequence[Message], log: ChatLog, souls: Sequence[SoulId], confirmed: bool
) -> Expected:
    sent = sent_messages(log, souls, 0, len(log.messages))
    known = {m.slot: m.hash for m in stored}
    fresh = tuple(
        m.text for m in log.messages if memorable(m) and known.get(m.slot) != m.hash
    )
    if not confirmed and (lost := _lost_to_breaks(log, stored)):
        return Expected(0, 0, 0, _held(_BREAKS, lost), ())
    found = reconcile(
        stored, sent, None, confirmed=confirmed, known_text=lambda version: None
    )
    if found.hold is not None:
        return Expected(0, 0, 0, _held(_MASS, len(found.hold.vanished)), ())
    return Expected(
        len(found.added), len(found.changed), len(found.removed), None, fresh
    )

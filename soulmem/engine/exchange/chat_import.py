"""Import of a chat file, piece by piece, each through the same sync as a live chat.

An import that is interrupted has imported the beginning of the chat, and a repeated one
continues from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from soulmem.conversation.episodes import memorable
from soulmem.conversation.story_texts import as_story
from soulmem.conversation.sync import reconcile
from soulmem.domain.dialogue import Base, Chat, Message, SentMessage, digest
from soulmem.domain.errors import Conflict, NotFound
from soulmem.domain.ids import ChatId, Owner, SoulId
from soulmem.engine.api.requests import Activity, SyncRequest
from soulmem.engine.runtime.jobs import JobRun
from soulmem.engine.runtime.worker import Worker
from soulmem.engine.sync.chats import ChatService
from soulmem.transfer.chat_log import ChatLog, as_branch, chat_id_for


def sent_messages(
    log: ChatLog, souls: Sequence[SoulId], start: int, stop: int
) -> list[SentMessage]:
    """Messages `start`..`stop` of the chat in the form of a sync for `souls`, with texts."""
    return [
        SentMessage(
            slot=m.slot,
            hash=m.hash,
            role=m.role,
            speaker=m.speaker,
            sent_at=m.sent_at,
            story_at=m.story_at,
            hidden=m.hidden,
            swipe=m.swipe,
            present=_present(m, log, souls),
            text=m.text,
            story=m.story,
        )
        for m in log.messages[start:stop]
    ]


def stop_of_piece(start: int, total: int, size: int) -> int:
    """End of the piece that begins at `start`; pieces are of nearly equal length, `size` at most."""
    pieces = max(1, -(-(total - start) // size))
    return start + -(-(total - start) // pieces)


def _present(message: Message, log: ChatLog, souls: Sequence[SoulId]) -> tuple[SoulId, ...] | None:
    """Those of `souls` that were present, None for all; one that the file never lists was always present."""
    if message.present is None:
        return None
    present = tuple(soul for soul in souls if soul in message.present or soul not in log.people)
    return None if len(present) == len(souls) else present


_PIECE = 200  # messages of a sync: few enough to show progress, enough for an import
_BREAKS, _MASS = "broken_lines", "mass_removal"
_CONFLICTS = 8  # syncs of others to the chat during one import, at most


@dataclass(frozen=True, slots=True)
class ExpectedChanges:
    """Counts of messages that an import of a chat would change, and the texts that would be embedded."""

    added: int
    changed: int
    removed: int
    unconfirmed: dict[str, Any] | None  # removals that the user has to confirm
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Piece:
    """Messages of one sync: `shared` .. `stop` behind `base`, or `0` .. `stop` without a base."""

    shared: int  # first messages that are stored as the file has them
    stop: int
    messages: Sequence[SentMessage]
    base: Base | None


@dataclass(kw_only=True, eq=False)
class ChatImport:
    """Makes stored chats equal to chat files."""

    chats: ChatService
    compute: Worker

    async def placed(self, owner: Owner, log: ChatLog, souls: Sequence[SoulId]) -> ChatLog:
        """`log` with its final id, and as a branch of the chat it was branched from if that is stored."""
        if log.parent is not None:
            return log
        log, head = await self._with_free_id(owner, log, souls)
        if head is not None and head.parent is not None:
            return replace(log, parent=head.parent)
        if log.main_chat is None and log.copied_from is None:
            return log
        parent = log.copied_from or await self._named(owner, log, souls)
        messages: Sequence[Message] = ()
        if parent != log.chat:
            _, messages = await self._stored(owner, parent)
        return as_branch(log, parent, {message.slot for message in messages})

    async def _with_free_id(
        self, owner: Owner, log: ChatLog, souls: Sequence[SoulId]
    ) -> tuple[ChatLog, Chat | None]:
        """`log` under an id that no chat of another title has, and the stored chat of that id.

        The id of a file that states none is derived from its title; a chat renamed
        since may have that id.
        """
        head, _ = await self._stored(owner, log.chat)
        attempt = 1
        while (
            head is not None
            and head.title != log.title
            and log.chat == _derived_chat_id(log, souls, attempt)
        ):
            attempt += 1
            log = replace(log, chat=_derived_chat_id(log, souls, attempt))
            head, _ = await self._stored(owner, log.chat)
        return log, head

    async def expected(
        self, owner: Owner, log: ChatLog, souls: Sequence[SoulId], *, confirmed: bool
    ) -> ExpectedChanges:
        """What an import of the placed `log` would change. Changes nothing."""
        _, stored = await self._stored(owner, log.chat)
        return await self.compute.run(_expected, stored, log, souls, confirmed)

    async def take_in(
        self, run: JobRun, log: ChatLog, souls: Sequence[SoulId], *, confirmed: bool
    ) -> dict[str, Any]:
        """Make the stored chat equal to the placed `log`; the counts of changed messages.

        `held` in the result is None, or describes removals to be confirmed first, which
        end the import.
        """
        total = len(log.messages)
        counts = {"added": 0, "changed": 0, "removed": 0}
        conflicts = 0
        while True:
            head, stored = await self._stored(run.owner, log.chat)
            everybody = tuple(dict.fromkeys([*(head.souls if head else ()), *souls]))
            piece = await self.compute.run(_next_piece, log, stored, everybody)
            run.report(piece.shared, total, "messages")
            lost = _lost_to_breaks(log, stored)
            if lost and piece.base is None and not confirmed:
                return {**counts, "held": _unconfirmed(_BREAKS, lost)}
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
                answer = await self.chats.sync(run.owner, request)
            except Conflict:  # the chat is open in SillyTavern and went on: look again
                conflicts += 1
                if conflicts > _CONFLICTS:
                    raise
                continue
            if answer.held is not None:
                return {**counts, "held": _unconfirmed(_MASS, answer.held)}
            counts["added"] += answer.added
            counts["changed"] += answer.changed
            counts["removed"] += answer.removed
            if piece.stop == total:
                break
        await self.chats.activity(run.owner, log.chat, Activity.CLOSED)
        run.report(total, total, "messages")
        return {**counts, "held": None}

    async def _stored(self, owner: Owner, chat: ChatId) -> tuple[Chat | None, Sequence[Message]]:
        try:
            return await self.chats.get(owner, chat)
        except NotFound:
            return None, []

    async def _named(self, owner: Owner, log: ChatLog, souls: Sequence[SoulId]) -> ChatId:
        """The chat with the title that `log` gives for the chat it was branched from."""
        for head, _ in await self.chats.list(owner, souls[0]):
            if head.title == log.main_chat and head.id != log.chat:
                return head.id
        return chat_id_for(log.main_chat or "", souls)


def _derived_chat_id(log: ChatLog, souls: Sequence[SoulId], attempt: int) -> ChatId:
    """The id for a file that states none; further attempts give further ids for the same title."""
    if attempt == 1:
        return chat_id_for(log.title, souls)
    return chat_id_for(f"{log.title}\x1f{attempt}", souls)


def _shared(messages: Sequence[Message], stored: Sequence[Message]) -> int:
    """How many first messages are stored as the file has them."""
    count = 0
    for message, other in zip(messages, stored, strict=False):
        if (message.slot, message.hash, message.hidden) != (
            other.slot,
            other.hash,
            other.hidden,
        ):
            break
        count += 1
    return count


def _next_piece(log: ChatLog, stored: Sequence[Message], souls: Sequence[SoulId]) -> _Piece:
    """The messages behind the stored ones; all messages if the stored ones differ from the file."""
    shared, total = _shared(log.messages, stored), len(log.messages)
    if shared < len(stored):
        return _Piece(shared, total, sent_messages(log, souls, 0, total), None)
    stop = stop_of_piece(shared, total, _PIECE)
    messages = sent_messages(log, souls, shared, stop)
    return _Piece(shared, stop, messages, Base(shared, digest(stored)))


def _lost_to_breaks(log: ChatLog, stored: Sequence[Message]) -> int:
    """How many stored messages a file with unreadable lines lacks; 0 if all lines are readable."""
    if not log.broken:
        return 0
    return len({m.slot for m in stored} - {m.slot for m in log.messages})


def _unconfirmed(reason: str, count: int) -> dict[str, Any]:
    """Stored messages that would be removed: nothing is done until the user confirms that."""
    return {"reason": reason, "count": count}


def _expected(
    stored: Sequence[Message], log: ChatLog, souls: Sequence[SoulId], confirmed: bool
) -> ExpectedChanges:
    lost = _lost_to_breaks(log, stored)
    if lost and not confirmed:
        return ExpectedChanges(0, 0, 0, _unconfirmed(_BREAKS, lost), ())
    sent = sent_messages(log, souls, 0, len(log.messages))
    changes = reconcile(stored, sent, None, confirmed=confirmed, known_text=lambda version: None)
    if changes.hold is not None:
        vanished = len(changes.hold.vanished)
        return ExpectedChanges(0, 0, 0, _unconfirmed(_MASS, vanished), ())
    hashes = {message.slot: message.hash for message in stored}
    return ExpectedChanges(
        len(changes.added),
        len(changes.changed),
        len(changes.removed),
        None,
        tuple(
            message.text
            for message in map(as_story, log.messages)
            if memorable(message) and hashes.get(message.slot) != message.hash
        ),
    )

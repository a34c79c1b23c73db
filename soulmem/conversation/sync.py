"""What a client's listing of a chat changes: which texts are missing, what is new, altered, gone or held."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from soulmem.domain.dialogue import Base, Hold, Message, SentMessage, Version, digest, text_hash
from soulmem.domain.errors import Conflict, Unprocessable
from soulmem.domain.ids import SlotId

GUARDED_FROM = 20  # messages; a shorter chat may lose anything without a question


@dataclass(frozen=True, slots=True)
class Reconciled:
    """How the stored messages become those the client shows.

    With `needs_text` or `hold` nothing else counts and nothing may be applied.
    """

    messages: tuple[Message, ...] = ()
    needs_text: tuple[SlotId, ...] = ()
    hold: Hold | None = None
    added: frozenset[SlotId] = frozenset()
    changed: frozenset[SlotId] = frozenset()  # in text or in anything else a message says
    removed: frozenset[SlotId] = frozenset()


def reconcile(
    stored: Sequence[Message],
    sent: Sequence[SentMessage],
    base: Base | None,
    *,
    confirmed: bool,
    known_text: Callable[[Version], str | None],
) -> Reconciled:
    """Compare what is stored with what the client shows.

    `known_text` finds a version's text elsewhere, in a parent of the branch say. Raises Conflict when `base`
    does not
    describe the stored messages, Unprocessable for a repeated slot or a text that does not fit its hash.
    """
    kept = _base_of(stored, base)
    before = {m.slot: m for m in stored}
    _check_slots(kept, sent)
    for index, message in enumerate(sent):
        if message.text is not None and text_hash(message.text) != message.hash:
            raise Unprocessable(
                f"slot {message.slot!r}: the text hashes to {text_hash(message.text)}, not to {message.hash}:"
                " send the text and the hash of the same wording",
                field=f"messages[{index}].hash",
            )
    now = {m.slot for m in kept} | {m.slot for m in sent}
    vanished = before.keys() - now
    if not confirmed and len(stored) >= GUARDED_FROM and 2 * len(vanished) > len(stored):
        return Reconciled(hold=Hold(frozenset(vanished)))

    merged: list[Message] = list(kept)
    missing: list[SlotId] = []
    added: set[SlotId] = set()
    changed: set[SlotId] = set()
    for message in sent:
        old = before.get(message.slot)
        text = message.text
        if text is None:
            text = (
                old.text
                if old and old.hash == message.hash
                else known_text(Version(message.slot, message.hash))
            )
        if text is None:
            missing.append(message.slot)
            continue
        new = _message(message, text)
        if old is None:
            added.add(message.slot)
        elif old != new:
            changed.add(message.slot)
        else:
            new = old
        merged.append(new)
    if missing:
        return Reconciled(needs_text=tuple(missing))
    return Reconciled(
        messages=tuple(merged),
        added=frozenset(added),
        changed=frozenset(changed),
        removed=frozenset(vanished),
    )


def settled_tail(stored: Sequence[Message], now: Sequence[Message], tail: Version | None) -> Version | None:
    """The last message's version when it counts as settled though nothing follows it, else None.

    It does once something followed it, or the old tail was settled already and is unchanged.
    """
    if not now:
        return None
    last = now[-1].version
    if tail == last:
        return last
    followed = any(m.version == last for m in stored[:-1])
    return last if followed else None


def ranks_for(old: dict[SlotId, int], order: Sequence[SlotId], gap: int) -> list[int]:
    """Ascending sort keys for `order` that keep as many old ones as an insertion or a deletion allows.

    When the space between two neighbours is used up, all are dealt out anew, `gap` apart.
    """
    ranks: list[int | None] = []
    last = 0
    for slot in order:
        rank = old.get(slot)
        if rank is not None and rank > last:
            ranks.append(rank)
            last = rank
        else:
            ranks.append(None)
    out: list[int] = []
    index = 0
    while index < len(ranks):
        known = ranks[index]
        if known is not None:
            out.append(known)
            index += 1
            continue
        stop = index
        while stop < len(ranks) and ranks[stop] is None:
            stop += 1
        count = stop - index
        low = out[-1] if out else 0
        high = ranks[stop] if stop < len(ranks) else None
        step = gap if high is None else (high - low) // (count + 1)
        if step < 1:
            return [gap * (i + 1) for i in range(len(order))]
        out.extend(low + step * (i + 1) for i in range(count))
        index = stop
    return out


def _base_of(stored: Sequence[Message], base: Base | None) -> Sequence[Message]:
    if base is None:
        return ()
    if base.count > len(stored):
        raise Conflict(
            f"the base counts {base.count} messages, {len(stored)} are stored: send all messages",
            field="base",
        )
    kept = stored[: base.count]
    if digest(kept) != base.digest:
        raise Conflict(
            f"the first {base.count} messages differ from the stored ones: send all messages", field="base"
        )
    return kept


def _check_slots(kept: Sequence[Message], sent: Sequence[SentMessage]) -> None:
    seen = {m.slot for m in kept}
    for index, message in enumerate(sent):
        if message.slot in seen:
            raise Unprocessable(
                f"slot {message.slot!r} stands twice in this chat: give every message its own",
                field=f"messages[{index}].slot",
            )
        seen.add(message.slot)


def _message(sent: SentMessage, text: str) -> Message:
    return Message(
        slot=sent.slot,
        hash=sent.hash,
        role=sent.role,
        speaker=sent.speaker,
        text=text,
        sent_at=sent.sent_at,
        story_at=sent.story_at,
        hidden=sent.hidden,
        swipe=sent.swipe,
        present=sent.present,
    )


def without_held(messages: Sequence[Message], hold: Hold | None) -> list[Message]:
    """The messages a recall may see."""
    return [m for m in messages if hold is None or m.slot not in hold.vanished]

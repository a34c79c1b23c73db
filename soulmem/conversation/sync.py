"""What a client's listing of a chat changes: which texts are missing, what is new, altered, gone or held."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from soulmem.domain.dialogue import (
    Base,
    Message,
    Quarantine,
    SentMessage,
    Version,
    digest,
    text_hash,
)
from soulmem.domain.errors import Conflict, Unprocessable
from soulmem.domain.ids import SlotId
from soulmem.domain.phrases import phrase
from soulmem.domain.sequences import Grown, common_ends

GUARDED_FROM = 20  # messages; a shorter chat may lose anything without a question


@dataclass(frozen=True, slots=True)
class Reconciled:
    """How the stored messages become those the client shows.

    With `needs_text` or `hold` nothing else counts and nothing may be applied.
    """

    messages: Grown[Message] = field(default_factory=Grown)
    needs_text: tuple[SlotId, ...] = ()
    hold: Quarantine | None = None
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
    digest_of: Callable[[Sequence[Message]], str] = digest,
    index: Mapping[SlotId, int] | None = None,
) -> Reconciled:
    """Compare what is stored with what the client shows.

    `known_text` finds a version's text elsewhere, in a parent of the branch say; `digest_of` gives what `digest`
    gives; `index` holds the position of each stored slot. Raises Conflict when `base` does not describe the
    stored messages, Unprocessable for a repeated slot or a text that does not fit its hash.
    """
    kept = _base_of(stored, base, digest_of)
    before = {m.slot: m for m in stored[len(kept) :]}  # what the base does not settle already
    _check_slots(kept, sent, index)
    for number, message in enumerate(sent):
        if message.text is not None and text_hash(message.text) != message.hash:
            raise Unprocessable(
                phrase(
                    "message_hash",
                    "slot '{slot}': the text hashes to {found}, not to {sent}:"
                    " send the text and the hash of the same wording",
                    slot=message.slot,
                    found=text_hash(message.text),
                    sent=message.hash,
                ),
                field=f"messages[{number}].hash",
            )
    vanished = before.keys() - {m.slot for m in sent}
    if not confirmed and len(stored) >= GUARDED_FROM and 2 * len(vanished) > len(stored):
        return Reconciled(hold=Quarantine(frozenset(vanished)))

    merged: list[Message] = []  # behind those of the base
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
        messages=_continued(stored, len(kept), merged),
        added=frozenset(added),
        changed=frozenset(changed),
        removed=frozenset(vanished),
    )


def _continued(stored: Sequence[Message], count: int, merged: Sequence[Message]) -> Grown[Message]:
    """The first `count` stored messages and the merged ones; as far as these are stored they are shared."""
    same, _ = common_ends(stored[count : count + len(merged)], merged)
    kept = stored[: count + same]
    kept = kept if isinstance(kept, Grown) else Grown(kept)
    return kept.extended(merged[same:])


def settled_tail(
    stored: Sequence[Message],
    index: Mapping[SlotId, int],
    current_listing: Sequence[Message],
    tail: Version | None,
) -> Version | None:
    """The last message's version when it counts as settled though nothing follows it, else None.

    It does once something followed it, or the old tail was settled already and is unchanged. `index` holds
    the
    position of each stored slot.
    """
    if not current_listing:
        return None
    last = current_listing[-1].version
    position = index.get(last.slot)
    followed = (
        position is not None and position < len(stored) - 1 and stored[position].hash == last.hash
    )
    return last if followed or tail == last else None


def ranks_for(
    stored: Sequence[Message],
    ranks: Sequence[int],
    current_listing: Sequence[Message],
    gap: int,
) -> Grown[int]:
    """Ascending sort keys of the current messages; as many of the stored ones stay as an insertion or a
    deletion allows.

    When the space between two neighbours is used up, all are dealt out anew, `gap` apart.
    """
    shorter = min(len(stored), len(current_listing))
    # Equal messages need no look at their slots.
    same, _ = common_ends(stored, current_listing)
    prefix, suffix = common_ends(
        [m.slot for m in stored[same:]], [m.slot for m in current_listing[same:]]
    )
    prefix += same
    head, tail = ranks[:prefix], ranks[len(ranks) - suffix :]
    old = (
        {m.slot: r for m, r in zip(stored, ranks, strict=True)} if shorter > prefix + suffix else {}
    )
    low = head[-1] if head else 0
    high = tail[0] if tail else None
    middle = _middle_ranks(
        [old.get(m.slot) for m in current_listing[prefix : len(current_listing) - suffix]],
        low,
        high,
        gap,
    )
    if middle is None:
        return Grown(gap * (i + 1) for i in range(len(current_listing)))
    kept = head if isinstance(head, Grown) else Grown(head)
    return kept.extended((*middle, *tail))


def _middle_ranks(
    existing_ranks: Sequence[int | None], low: int, high: int | None, gap: int
) -> list[int] | None:
    """Keys strictly between `low` and `high` (None: no bound); existing ones stay where they still ascend."""
    kept = _ascending(existing_ranks, low, high)
    out: list[int] = []
    index = 0
    while index < len(kept):
        rank = kept[index]
        if rank is not None:
            out.append(rank)
            index += 1
            continue
        stop = index
        while stop < len(kept) and kept[stop] is None:
            stop += 1
        before = out[-1] if out else low
        after = kept[stop] if stop < len(kept) else high
        step = gap if after is None else (after - before) // (stop - index + 1)
        if step < 1:
            return None
        out.extend(before + step * (i + 1) for i in range(stop - index))
        index = stop
    return out


def _base_of(
    stored: Sequence[Message],
    base: Base | None,
    digest_of: Callable[[Sequence[Message]], str],
) -> Sequence[Message]:
    if base is None:
        return ()
    if base.count > len(stored):
        raise Conflict(
            phrase(
                "base_too_long",
                "the base counts {count}, and {stored} messages are stored: send all messages",
                count=base.count,
                stored=len(stored),
            ),
            field="base",
        )
    kept = stored[: base.count]
    if digest_of(kept) != base.digest:
        raise Conflict(
            phrase(
                "base_differs",
                "the first {count} of the messages differ from the stored ones: send all messages",
                count=base.count,
            ),
            field="base",
        )
    return kept


def _check_slots(
    kept: Sequence[Message],
    sent: Sequence[SentMessage],
    index: Mapping[SlotId, int] | None,
) -> None:
    if index is None:
        index = {m.slot: position for position, m in enumerate(kept)}
    seen = set[SlotId]()
    for number, message in enumerate(sent):
        if message.slot in seen or index.get(message.slot, len(kept)) < len(kept):
            raise Unprocessable(
                phrase(
                    "slot_twice",
                    "slot '{slot}' stands twice in this chat: give every message its own",
                    slot=message.slot,
                ),
                field=f"messages[{number}].slot",
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
        story=None if sent.story == text else sent.story,
    )


def without_held(messages: Sequence[Message], hold: Quarantine | None, most: int) -> list[Message]:
    """The last messages that a recall may see, at most so many."""
    seen = (m for m in reversed(messages) if hold is None or m.slot not in hold.vanished)
    return list(islice(seen, most))[::-1]


def _ascending(ranks: Sequence[int | None], low: int, high: int | None) -> list[int | None]:
    """The ranks that lie between the bounds and above all kept before them; None for the others."""
    kept: list[int | None] = []
    last = low
    for rank in ranks:
        if rank is not None and rank > last and (high is None or rank < high):
            kept.append(rank)
            last = rank
        else:
            kept.append(None)
    return kept

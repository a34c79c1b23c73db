"""What does a client's listing of a chat change?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from soulmem.conversation.sync import Reconciled, reconcile, without_held
from soulmem.domain.dialogue import (
    Base,
    Message,
    Quarantine,
    SentMessage,
    Version,
    digest,
)
from soulmem.domain.errors import Conflict, Unprocessable
from soulmem.domain.ids import SlotId
from tests.conversation.listings import chats, known_to, message, sent


def nowhere(_version: Version) -> str | None:
    """No other chat knows any text."""
    return None


def sync(
    stored: Sequence[Message],
    listing: Sequence[SentMessage],
    base: Base | None = None,
    *,
    confirmed: bool = False,
    known_text: Callable[[Version], str | None] = nowhere,
) -> Reconciled:
    """`reconcile` with its usual circumstances."""
    return reconcile(stored, listing, base, confirmed=confirmed, known_text=known_text)


def line(count: int, start: int = 0) -> list[Message]:
    """`count` messages with slots m<start>, m<start + 1>, .."""
    return [message(f"m{i}", f"text {i}") for i in range(start, start + count)]


@given(old=chats(), new=chats())
def test_the_result_is_what_was_sent(old: list[Message], new: list[Message]) -> None:
    """Any listing with all texts replaces any stored chat, and the counts tell the difference."""
    found = sync(old, [sent(m) for m in new])
    before, after = {m.slot: m for m in old}, {m.slot: m for m in new}
    assert list(found.messages) == new
    assert found.added == after.keys() - before.keys()
    assert found.removed == before.keys() - after.keys()
    assert found.changed == {s for s in before.keys() & after.keys() if before[s] != after[s]}
    assert found.hold is None
    assert found.needs_text == ()


@given(data=st.data(), old=chats(), tail=chats())
def test_a_base_stands_for_the_messages_it_counts(
    data: st.DataObject, old: list[Message], tail: list[Message]
) -> None:
    """Sending only what follows a proven base has the effect of sending everything."""
    count = data.draw(st.integers(0, len(old)))
    kept = old[:count]
    new = kept + [m for m in tail if m.slot not in {k.slot for k in kept}]
    short = sync(old, [sent(m) for m in new[count:]], Base(count, digest(kept)))
    assert short == sync(old, [sent(m) for m in new])


@given(
    old=chats(),
    parent=chats(),
    new=chats(),
    bare=st.sets(st.integers(0, 11).map("m{}".format)),
)
def test_exactly_the_unknown_texts_are_asked_for(
    old: list[Message], parent: list[Message], new: list[Message], bare: set[str]
) -> None:
    """A text need not be sent when the chat or its parent has that version; any other must be."""
    elsewhere = known_to(parent)
    found = sync(
        old,
        [sent(m, with_text=m.slot not in bare) for m in new],
        known_text=lambda version: elsewhere.get((version.slot, version.hash)),
    )
    unknown = [
        m.slot for m in new if m.slot in bare and (m.slot, m.hash) not in known_to(old, parent)
    ]
    assert list(found.needs_text) == unknown
    assert list(found.messages) == ([] if unknown else new)


@given(
    stored=st.integers(0, 45),
    kept=st.sets(st.integers(0, 44)),
    fresh=st.integers(0, 3),
    confirmed=st.booleans(),
    based=st.integers(0, 45),
)
def test_a_sudden_loss_is_held(
    stored: int, kept: set[int], fresh: int, confirmed: bool, based: int
) -> None:
    """Held exactly when more than half of 20 messages or more would vanish without the user's word."""
    old = line(stored)
    base = min(based, stored)
    new = old[:base] + [m for i, m in enumerate(old) if i in kept and i >= base] + line(fresh, 100)
    gone = {m.slot for m in old} - {m.slot for m in new}
    found = sync(
        old,
        [sent(m) for m in new[base:]],
        Base(base, digest(old[:base])),
        confirmed=confirmed,
    )
    if stored >= 20 and len(gone) > stored / 2 and not confirmed:
        assert found == Reconciled(hold=Quarantine(frozenset(gone)))
    else:
        assert found.hold is None
        assert list(found.messages) == new


@given(old=chats(), lie=chats(), count=st.integers(0, 10))
def test_a_base_that_does_not_describe_the_chat_is_a_conflict(
    old: list[Message], lie: list[Message], count: int
) -> None:
    """Too long a base, or another digest: the client must send everything."""
    base = Base(count, digest(lie))
    assume(count > len(old) or base.digest != digest(old[:count]))
    with pytest.raises(Conflict):
        sync(old, [], base)


def test_hiding_a_message_breaks_the_digest() -> None:
    """The digest covers slot, wording and hidden, so a base over a hidden change is refused."""
    old = line(3)
    shown = [*old[:2], replace(old[2], hidden=True)]
    with pytest.raises(Conflict):
        sync(old, [], Base(3, digest(shown)))


def test_a_slot_may_stand_only_once() -> None:
    """Twice in the listing, or again after a base that holds it."""
    old = line(3)
    with pytest.raises(Unprocessable) as twice:
        sync([], [sent(m) for m in [old[0], old[1], old[0]]])
    assert twice.value.field == "messages[2].slot"
    with pytest.raises(Unprocessable) as again:
        sync(old, [sent(old[1])], Base(2, digest(old[:2])))
    assert again.value.field == "messages[0].slot"


def test_a_text_must_fit_its_hash() -> None:
    """A wrong text is refused with its place, even where the right one is known."""
    old = line(2)
    with pytest.raises(Unprocessable) as refused:
        sync(old, [sent(old[0]), replace(sent(old[1]), text="another")])
    assert refused.value.field == "messages[1].hash"


def test_a_recall_sees_everything_but_what_is_held() -> None:
    """Held messages are hidden; without a hold nothing is."""
    old = line(3)
    assert without_held(old, Quarantine(frozenset({SlotId("m1"), SlotId("gone")})), 9) == [
        old[0],
        old[2],
    ]
    assert without_held(old, None, 9) == old

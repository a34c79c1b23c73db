"""How texts fade in the store: stored as they are, replaced, and gone with their memory."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from soulmem.domain.audit import Actor
from soulmem.domain.errors import Protected
from soulmem.domain.fading_records import FadingRecord
from soulmem.domain.ids import MemoryId, Owner, SoulId
from soulmem.domain.micro_units import (
    Anchor,
    AnchorKind,
    MicroUnit,
    Retention,
    UnitSpan,
)
from soulmem.ports.store import Change, Store
from tests.ports.stores import (
    NOON,
    OWNER,
    SOUL,
    STRANGE,
    full_change,
    memory,
    soul,
)


def fading_record(memory: str = "mem-1", soul: str = SOUL) -> FadingRecord:
    """A record with every field set."""
    state = Retention(0.123456789, 1080.5, NOON + timedelta(microseconds=7), 41.0)
    span = UnitSpan(2, 9, STRANGE[4], is_detail=True, salience=0.25)
    return FadingRecord(
        memory=MemoryId(memory),
        soul=SoulId(soul),
        wording="0123456789abcdef",
        units=(MicroUnit(span, state), MicroUnit(UnitSpan(0, 12), state)),
        anchors=(Anchor("银色的吊坠", AnchorKind.FORCED, replace(state, at_turn=None)),),
        own_units=True,
        own_anchors=True,
        reworded="another text",
    )


async def test_records_come_back_as_they_were(store: Store) -> None:
    other = fading_record("mem-2", "soul-2")
    await store.commit(replace(full_change(), put_fading=[fading_record(), other]))
    assert await store.fading(OWNER, SOUL) == [fading_record()]
    assert await store.fading(OWNER, SoulId("soul-2")) == [other]
    assert await store.fading(Owner("else"), SOUL) == []


async def test_a_record_is_replaced_and_an_empty_one_deletes_it(store: Store) -> None:
    await store.commit(replace(full_change(), put_fading=[fading_record()]))
    again = replace(fading_record(), units=(), reworded=None)
    await store.commit(Change(OWNER, put_fading=[again]))
    assert await store.fading(OWNER, SOUL) == [again]
    empty = FadingRecord(MemoryId("mem-1"), SOUL, "0123456789abcdef")
    await store.commit(Change(OWNER, put_fading=[empty]))
    assert await store.fading(OWNER, SOUL) == []


@pytest.mark.parametrize("permanent", [True, False])
@pytest.mark.parametrize("by", [Actor.ENGINE, Actor.ARCHIVIST])
async def test_nobody_but_the_user_changes_how_what_is_protected_fades(
    store: Store, permanent: bool, by: Actor
) -> None:
    kept = replace(memory("mem-1"), permanent=permanent, locked=not permanent)
    await store.commit(Change(OWNER, souls=[soul()], put_memories=[kept]))
    record = fading_record()
    for again in (record, replace(record, units=())):
        with pytest.raises(Protected):
            await store.commit(Change(OWNER, put_fading=[again], by=by))
        await store.commit(Change(OWNER, put_fading=[again], by=Actor.USER))
        await store.commit(Change(OWNER, put_fading=[again], by=by))  # the same again
    assert await store.fading(OWNER, SOUL) == [again]
    await store.commit(Change(OWNER, put_fading=[record], by=Actor.IMPORT))
    assert await store.fading(OWNER, SOUL) == [record]


async def test_a_record_goes_with_its_memory(store: Store) -> None:
    both = [fading_record("mem-1"), fading_record("mem-2")]
    await store.commit(replace(full_change(), put_fading=both))
    await store.commit(Change(OWNER, drop_memories=[MemoryId("mem-1")]))
    assert await store.fading(OWNER, SOUL) == [both[1]]

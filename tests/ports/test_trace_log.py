"""A place for traces keeps the last ones of each soul, and forgets what it is told to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from soulmem.adapters import folder_traces
from soulmem.adapters.folder_traces import FolderTraces
from soulmem.domain.errors import StoreError
from soulmem.domain.ids import Owner, SoulId
from soulmem.ports.traces import TraceLog
from tests.fakes import traces
from tests.fakes.traces import FakeTraces

ME, YOU, S1, S2 = Owner("me"), Owner("you/../x"), SoulId("s1"), SoulId("夜")
Again = Callable[[], TraceLog]


@pytest.fixture(params=["fake", "folder"])
def again(request: pytest.FixtureRequest, tmp_path: Path) -> Again:
    """The same place, opened anew."""
    fake = FakeTraces()
    return lambda: fake if request.param == "fake" else FolderTraces(tmp_path / "data" / "traces")


async def test_what_is_added_is_found_by_its_owner_alone(again: Again) -> None:
    kept = again()
    assert await kept.find(ME, "t1") is None
    await kept.add(ME, S1, "t1", "夜\n {}".encode())
    await kept.add(YOU, S1, "t2", b"other")
    for place in (kept, again()):
        assert await place.find(ME, "t1") == "夜\n {}".encode()
        assert await place.find(ME, "t2") is None
        assert await place.find(YOU, "t2") == b"other"


async def test_the_oldest_leave(again: Again, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (folder_traces, traces):
        monkeypatch.setattr(module, "KEPT", 5)
    monkeypatch.setattr(folder_traces, "_SPARE", 3)
    kept = again()
    await kept.add(ME, S2, "u1", b"of another soul")
    for n in range(20):
        await kept.add(ME, S1, f"t{n:02}", b"told")
    assert [n for n in range(20) if await kept.find(ME, f"t{n:02}") is not None][-5:] == [
        15,
        16,
        17,
        18,
        19,
    ]
    assert await kept.find(ME, "t10") is None
    assert await kept.find(ME, "u1") is not None


async def test_some_or_all_of_a_soul_are_forgotten(again: Again) -> None:
    kept = again()
    for soul, key, trace in (
        (S1, "t1", b"secret"),
        (S1, "t2", b"talk"),
        (S2, "t3", b"secret"),
    ):
        await kept.add(ME, soul, key, trace)
    await kept.alter(ME, S1, lambda trace: None if trace == b"secret" else trace)
    assert [await again().find(ME, key) for key in ("t1", "t2", "t3")] == [
        None,
        b"talk",
        b"secret",
    ]
    await kept.alter(ME, S1, lambda trace: trace + b" of otters")
    assert await again().find(ME, "t2") == b"talk of otters"
    await kept.add(ME, S1, "t4", b"later")
    await kept.drop(ME, S1)
    await kept.drop(ME, S1)
    assert [await again().find(ME, key) for key in ("t2", "t3", "t4")] == [
        None,
        b"secret",
        None,
    ]


def list_of(folder: Path) -> list[Path]:
    return list(folder.glob("*.traces"))


async def test_half_a_line_and_foreign_ones_are_left_out(tmp_path: Path) -> None:
    kept = FolderTraces(tmp_path)
    await kept.add(ME, S1, "t1", b"one")
    await kept.add(ME, S1, "t2", b"two")
    (file,) = list_of(tmp_path)
    file.write_bytes(b"t0 no trace\n" + file.read_bytes()[:-4])
    later = FolderTraces(tmp_path)
    assert [await later.find(ME, key) for key in ("t0", "t1", "t2")] == [
        None,
        b"one",
        None,
    ]
    await later.add(ME, S1, "t3", b"three")
    assert await later.find(ME, "t3") == b"three"


async def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match="make it writable"):
        await FolderTraces(tmp_path / "file").add(ME, S1, "t1", b"one")

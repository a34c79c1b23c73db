"""Images in files: what was written comes back whole, or not at all."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from soulmem.adapters.snapshot_folder import SnapshotFolder
from soulmem.domain.errors import StoreError, StoreFull
from soulmem.domain.ids import Owner, SoulId

ME, SOUL = Owner("me"), SoulId("soul")
KINDS = (
    np.bool_,
    np.uint8,
    np.int8,
    np.int32,
    np.uint32,
    np.int64,
    np.uint64,
    np.float32,
    np.float64,
)


def written(
    folder: SnapshotFolder, pieces: list[dict[str, NDArray[Any]]], token: str = "t"
) -> None:
    """An image of these, finished."""
    writer = folder.write(ME, SOUL, token)
    for piece in pieces:
        writer.add(piece)
    writer.finish({"names": ["雨", "Mira"], "number": 3})
    writer.give_up()


def some() -> list[dict[str, NDArray[Any]]]:
    """Two pieces."""
    return [
        {"a": np.arange(40, dtype=np.int32).reshape(8, 5)},
        {"b": np.linspace(0, 1, 7), "c": np.zeros(0)},
    ]


@given(
    st.lists(
        st.sampled_from(KINDS).flatmap(
            lambda kind: arrays.arrays(kind, arrays.array_shapes(max_dims=3, min_side=0))
        ),
        max_size=4,
    )
)
def test_arrays_come_back_as_they_were(made: list[NDArray[Any]]) -> None:
    folder = SnapshotFolder(
        Path(os.environ.get("TMPDIR", "/tmp")) / f"soulmem-images-{os.getpid()}"
    )
    written(folder, [{f"x{number}": array} for number, array in enumerate(made)])
    image = folder.read(ME, SOUL, "t")
    folder.drop(ME, SOUL)
    assert image is not None
    assert image.head == {"names": ["雨", "Mira"], "number": 3}
    assert len(image.arrays) == len(made)
    for number, array in enumerate(made):
        back = image.arrays[f"x{number}"]
        assert (back.dtype, back.shape, back.flags.writeable) == (
            array.dtype,
            array.shape,
            True,
        )
        assert back.tobytes() == array.tobytes()


def test_what_is_not_in_one_piece_is_kept_as_it_reads(tmp_path: Path) -> None:
    folder = SnapshotFolder(tmp_path)
    table = np.arange(60).reshape(6, 10)
    written(folder, [{"turned": table.T, "part": table[::2, 1:4]}])
    image = folder.read(ME, SOUL, "t")
    assert image is not None
    assert np.array_equal(image.arrays["turned"], table.T)
    assert np.array_equal(image.arrays["part"], table[::2, 1:4])


def test_only_the_token_and_the_soul_it_was_written_for_get_it(tmp_path: Path) -> None:
    folder = SnapshotFolder(tmp_path / "made" / "when needed")
    assert folder.read(ME, SOUL, "t") is None
    written(folder, some())
    assert folder.read(ME, SOUL, "t") is not None
    assert folder.read(ME, SOUL, "another") is None
    assert folder.read(Owner("you"), SOUL, "t") is None
    assert folder.read(ME, SoulId("other"), "t") is None
    folder.drop(ME, SOUL)
    folder.drop(ME, SOUL)
    assert folder.read(ME, SOUL, "t") is None


def test_the_former_image_stays_until_another_is_finished(tmp_path: Path) -> None:
    folder = SnapshotFolder(tmp_path)
    written(folder, some(), "old")
    writer = folder.write(ME, SOUL, "new")
    writer.add(some()[0])
    assert folder.read(ME, SOUL, "old") is not None
    writer.give_up()
    assert folder.read(ME, SOUL, "old") is not None
    assert len(list(tmp_path.iterdir())) == 1
    written(folder, some(), "new")
    assert folder.read(ME, SOUL, "old") is None
    assert folder.read(ME, SOUL, "new") is not None


@given(st.data())
def test_damage_anywhere_is_found(data: st.DataObject) -> None:
    """A bit turned, an end cut off, or something put behind: never another array than was written."""
    base = Path(os.environ.get("TMPDIR", "/tmp")) / f"soulmem-damage-{os.getpid()}"
    folder = SnapshotFolder(base)
    written(folder, some())
    (path,) = base.iterdir()
    sound = path.read_bytes()
    position = data.draw(st.integers(0, len(sound) - 1))
    damaged = data.draw(
        st.sampled_from(
            [
                sound[:position],
                sound[:position]
                + bytes([sound[position] ^ (1 << data.draw(st.integers(0, 7)))])
                + sound[position + 1 :],
                sound + b"\x00",
                sound[:position] + sound[position + 1 :],
                b"",
            ]
        )
    )
    path.write_bytes(damaged)
    image = folder.read(ME, SOUL, "t")
    folder.drop(ME, SOUL)
    assert image is None


def test_a_file_that_may_not_be_read_is_none(tmp_path: Path) -> None:
    folder = SnapshotFolder(tmp_path)
    written(folder, some())
    (path,) = tmp_path.iterdir()
    path.unlink()
    path.mkdir()
    assert folder.read(ME, SOUL, "t") is None


def test_objects_are_refused(tmp_path: Path) -> None:
    """Nothing that would have to be unpickled."""
    writer = SnapshotFolder(tmp_path).write(ME, SOUL, "t")
    with pytest.raises(TypeError, match="cannot be stored"):
        writer.add({"bad": np.asarray([object()])})
    writer.give_up()
    assert list(tmp_path.iterdir()) == []


def test_the_disk_is_left_to_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With little room left no image is written; the words say why."""
    folder = SnapshotFolder(tmp_path)
    monkeypatch.setattr("shutil.disk_usage", lambda path: type("Usage", (), {"free": 200 << 20}))
    writer = folder.write(ME, SOUL, "t")
    with pytest.raises(StoreFull, match="no room"):
        writer.add(some()[0])
    writer.give_up()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="ascii")
    with pytest.raises(StoreError, match="could not be written"):
        SnapshotFolder(tmp_path / "file" / "images").write(ME, SOUL, "t")


def test_a_disk_that_fills_up_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = SnapshotFolder(tmp_path)
    written(folder, some(), "old")
    writer = folder.write(ME, SOUL, "new")
    writer.add(some()[0])

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(StoreFull):
        writer.finish({})
    writer.give_up()
    monkeypatch.undo()
    assert folder.read(ME, SOUL, "old") is not None
    assert len(list(tmp_path.iterdir())) == 1

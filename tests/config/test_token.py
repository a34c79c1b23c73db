"""The token: made once, kept for the user alone, never weaker than it should be."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest

from soulmem.config import Settings, load
from soulmem.config.setting_error import ConfigError
from soulmem.config.token import with_token


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings over a data folder that does not exist yet."""
    return load(env={"SOULMEM_DATA": str(tmp_path / "a" / "data")})


def test_it_is_made_at_first_start_and_kept(settings: Settings) -> None:
    first = with_token(settings)
    assert len(first.server.token) >= 32
    assert with_token(settings) == first
    assert [path.name for path in settings.data.iterdir()] == ["token"]
    assert (settings.data / "token").read_text(encoding="utf-8").strip() == first.server.token


def test_two_folders_have_two_tokens(settings: Settings, tmp_path: Path) -> None:
    other = load(env={"SOULMEM_DATA": str(tmp_path / "b")})
    assert with_token(settings).server.token != with_token(other).server.token


@pytest.mark.skipif(
    sys.platform == "win32",
    reason="Windows has no such modes; its profile folder is private",
)
def test_only_the_user_may_read_it(settings: Settings) -> None:
    with_token(settings)
    assert stat.S_IMODE((settings.data / "token").stat().st_mode) == 0o600


def test_a_given_token_is_not_written(tmp_path: Path) -> None:
    env = {"SOULMEM_DATA": str(tmp_path / "data"), "SOULMEM_TOKEN": "given-by-the-user"}
    assert with_token(load(env=env)).server.token == "given-by-the-user"
    assert not (tmp_path / "data").exists()


def test_an_empty_file_is_replaced(settings: Settings) -> None:
    settings.data.mkdir(parents=True)
    (settings.data / "token").write_text("\n", encoding="utf-8")
    assert len(with_token(settings).server.token) >= 32


def test_a_weak_or_broken_file_is_told(settings: Settings) -> None:
    settings.data.mkdir(parents=True)
    for text in (b"short", b"\xff\xfe" * 20):
        (settings.data / "token").write_bytes(text)
        with pytest.raises(ConfigError, match="token"):
            with_token(settings)


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    settings = load(env={"SOULMEM_DATA": str(tmp_path / "file" / "data")})
    with pytest.raises(ConfigError, match="SOULMEM_TOKEN"):
        with_token(settings)

"""Does an installation end in a usable .venv, and go on after anything that breaks it off?"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

import installer
from installer import Installed, Trouble, Wish

from .conftest import Commands


def ready(*extras: str) -> bool:
    return installer.is_ready(
        installer.read_stamp(), installer.current_key(), set(extras)
    )


def test_a_finished_installation_is_ready(folder: Path, commands: Commands) -> None:
    assert not ready()
    installer.install(Wish())
    assert ready()
    assert commands.installs() == ["flit-core", ".", ".[model]"]


def test_extras_are_installed_and_remembered(folder: Path, commands: Commands) -> None:
    installer.install(Wish(extras=("test",)))
    assert commands.installs()[1] == ".[test]"
    assert ready("test")
    assert not ready("other")
    assert installer.wish_of([], installer.read_stamp(), explicit=True).extras == (
        "test",
    )


def test_an_extra_that_is_no_more_is_forgotten() -> None:
    assert installer.wish_of(
        [], Installed("key", ("gone", "test")), explicit=False
    ).extras == ("test",)


@pytest.mark.parametrize("changed", ["pyproject.toml", ".ci/constraints.txt"])
def test_other_pins_ask_for_a_new_installation(
    folder: Path, commands: Commands, changed: str
) -> None:
    installer.install(Wish())
    (folder / changed).write_text("two==2\n", encoding="utf-8")
    assert not ready()


def test_a_moved_clone_is_installed_again(
    folder: Path, commands: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installer.install(Wish())
    monkeypatch.setattr(
        installer,
        "HERE",
        Path(shutil.copytree(folder, tmp_path / "moved", symlinks=True)),
    )
    assert not ready()


def test_a_python_that_went_away_is_noticed(folder: Path, commands: Commands) -> None:
    installer.install(Wish())
    installer.PYTHON.unlink()
    installer.PYTHON.symlink_to(folder / "removed-by-the-system")
    assert not ready()


@pytest.mark.parametrize("step", ["venv", "flit-core", ".[test]", ".[model]"])
def test_after_a_break_the_same_command_goes_on(
    folder: Path, commands: Commands, step: str
) -> None:
    commands.failures[step] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        installer.install(Wish(extras=("test",)))
    assert not ready()
    commands.failures.clear()
    again = installer.wish_of([], installer.read_stamp(), explicit=False)
    installer.install(replace(again, extras=("test",)))
    assert ready("test")


def test_choices_survive_a_break(folder: Path, commands: Commands) -> None:
    commands.failures["."] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        installer.install(Wish(model=False))
    assert installer.wish_of([], installer.read_stamp(), explicit=False).model is False


def test_a_torn_stamp_counts_as_none(folder: Path, commands: Commands) -> None:
    installer.install(Wish())
    whole = installer.STAMP.read_text(encoding="utf-8")
    installer.STAMP.write_text(whole[: len(whole) // 2], encoding="utf-8")
    assert installer.read_stamp() is None


def test_a_half_made_venv_is_made_anew(folder: Path, commands: Commands) -> None:
    installer.PYTHON.parent.mkdir(parents=True)
    installer.PYTHON.touch()
    leftover = installer.VENV / "leftover"
    leftover.touch()
    commands.failures["-c"] = "no pip here"
    installer.make_venv()
    assert not leftover.exists()
    assert [words[1:3] for words in commands.asked] == [
        ["-c", commands.asked[0][2]],
        ["-m", "venv"],
    ]


def test_a_whole_venv_is_kept(folder: Path, commands: Commands) -> None:
    installer.make_venv()
    commands.asked.clear()
    installer.make_venv()
    assert [words[1] for words in commands.asked] == ["-c"]


def write_package(site: Path, name: str, size: int = 5) -> Path:
    """An installed package whose one file is recorded with 5 bytes and has `size`."""
    info = site / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (site / f"{name}.py").write_bytes(b"x" * size)
    record = f"{name}.py,sha256=abc,5\n{name}-1.0.dist-info/RECORD,,\n__pycache__/{name}.pyc,,\n"
    (info / "RECORD").write_text(record, encoding="utf-8")
    return info


def test_packages_in_pieces_are_installed_again(folder: Path) -> None:
    site = installer.VENV / "lib" / "python3.11" / "site-packages"
    whole, short, missing, bare = (
        write_package(site, name, size)
        for name, size in [("whole", 5), ("short", 4), ("gone", 5), ("bare", 5)]
    )
    (site / "gone.py").unlink()
    (bare / "RECORD").unlink()
    (site / "~hole").mkdir()
    installer.drop_broken_packages()
    assert whole.exists()
    assert not any(path.exists() for path in (short, missing, bare, site / "~hole"))


def test_no_network_for_the_model_still_gives_a_working_soulmem(
    folder: Path, commands: Commands
) -> None:
    commands.failures["--dry-run"] = (
        "WARNING: Retrying after connection broken by NewConnectionError"
    )
    installer.install(Wish())
    assert ready()
    assert installer.read_stamp() == Installed(installer.current_key(), (), "failed")


def test_the_search_is_compiled_at_installation(
    folder: Path, commands: Commands
) -> None:
    installer.install(Wish())
    compiled = [words for words in commands.asked if "soulmem.kernels.warm" in words]
    assert compiled == [[str(installer.PYTHON), "-m", "soulmem.kernels.warm"]]


def test_without_a_compiler_the_installation_is_complete_and_says_so(
    folder: Path, commands: Commands, capsys: pytest.CaptureFixture[str]
) -> None:
    commands.failures["soulmem.kernels.warm"] = "Traceback\nOSError: no compiler"
    installer.install(Wish())
    assert ready()
    assert "OSError: no compiler" in capsys.readouterr().out


def test_no_network_for_the_libraries_says_so(folder: Path, commands: Commands) -> None:
    commands.failures["."] = (
        "WARNING: Retrying after connection broken by NewConnectionError"
    )
    with pytest.raises(Trouble, match="HTTPS_PROXY"):
        installer.install(Wish())
    assert not ready()


def test_a_full_disk_is_noticed_before_anything_is_fetched(
    folder: Path, commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(installer.SPACE, "base", 10**9)
    with pytest.raises(Trouble, match="disk is full"):
        installer.install(Wish())
    assert commands.asked == []


def test_what_is_there_already_needs_no_space(
    folder: Path, commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    installer.install(Wish())
    monkeypatch.setitem(installer.SPACE, "base", 3)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=10**6))
    with pytest.raises(Trouble, match="disk is full"):
        installer.check_space(["base"])
    (installer.VENV / "library").write_bytes(bytes(2 * 10**6))
    installer.check_space(["base"])


def test_a_folder_that_takes_nothing_is_named(
    folder: Path, commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        installer, "HERE", folder / "pyproject.toml"
    )  # nothing can be made inside a file
    with pytest.raises(Trouble, match=r"Cannot write into .*pyproject\.toml"):
        installer.install(Wish())


def test_a_python_without_venv_names_the_package(
    folder: Path, commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(Trouble, match=r"apt install python3\.\d+-venv"):
        installer.make_venv()


def test_the_library_of_mcp_is_an_option_that_is_remembered() -> None:
    wish = installer.wish_of(["--mcp"], None, explicit=True)
    assert wish.extras == ("mcp",)
    before = Installed("key", ("mcp", "test"))
    assert installer.wish_of([], before, explicit=False).extras == ("mcp", "test")
    assert installer.wish_of(["--mcp"], before, explicit=True).extras == ("mcp", "test")

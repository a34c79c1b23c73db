"""Does an installation end in a usable .venv, and go on after anything that breaks it off?"""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from types import SimpleNamespace

import pytest

import installer
from installer import Installed, Wish
from messages import Trouble
from processes import hold

from .conftest import Commands


def ready(*extras: str) -> bool:
    return installer.is_ready(installer.read_stamp(), installer.current_key(), set(extras))


def test_a_finished_installation_is_ready(folder: Path, commands: Commands) -> None:
    assert not ready()
    installer.install(Wish())
    assert ready()
    assert commands.installs() == ["toolspin", "basepin", ".", "torch", "modelpin"]


def test_extras_are_installed_and_remembered(folder: Path, commands: Commands) -> None:
    installer.install(Wish(extras=("test",)))
    assert commands.installs()[1] == "testpin"
    assert ready("test")
    assert not ready("other")
    assert installer.wish_of([], installer.read_stamp(), explicit=True).extras == ("test",)


def test_an_extra_that_is_no_more_is_forgotten() -> None:
    assert installer.wish_of([], Installed("key", ("gone", "test")), explicit=False).extras == (
        "test",
    )


@pytest.mark.parametrize("changed", ["pyproject.toml", ".ci/constraints.txt", ".ci/locked.txt"])
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


@pytest.mark.parametrize("step", ["venv", "toolspin", "testpin", ".", "torch", "modelpin"])
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


def test_the_search_is_compiled_at_installation(folder: Path, commands: Commands) -> None:
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
    commands.failures["basepin"] = "WARNING: Retrying after connection broken by NewConnectionError"
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
    # Nothing can be made inside a file.
    monkeypatch.setattr(installer, "LOCK", folder / "pyproject.toml" / "lock")
    with pytest.raises(Trouble, match=r"Cannot write into .*clone"):
        installer.install_as_asked([])
    assert commands.asked == []


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


def test_each_file_of_a_library_is_checked_against_its_hash(
    folder: Path, commands: Commands
) -> None:
    """All but PyTorch: which build of it is found depends on the index."""
    installer.install(Wish(extras=("test",)))
    unchecked = [
        words[-1]
        for words in commands.asked
        if "install" in words and "--require-hashes" not in words
    ]
    assert unchecked == [".", "torch", "torch"]  # a look, then the installation


def test_a_file_that_is_not_the_pinned_one_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The real pip."""
    monkeypatch.setattr(installer, "PYTHON", Path(sys.executable))
    installer.VENV.mkdir()
    package = folder / "demo-1.0-py3-none-any.whl"
    with zipfile.ZipFile(package, "w") as wheel:
        wheel.writestr("demo-1.0.dist-info/METADATA", "Name: demo\nVersion: 1.0\n")
    target = ("--no-deps", "--no-index", "--target", folder / "site")
    wanted = folder / "wanted.txt"
    wanted.write_text(f"{package.as_uri()} --hash=sha256:{'0' * 64}\n", "utf-8")
    with pytest.raises(Trouble, match="not the one that SoulMem names by its hash"):
        installer.pip("--require-hashes", *target, "-r", wanted)
    assert not (folder / "site").exists()


def test_uv_installs_where_it_is_there_and_looks_where_pip_would(
    folder: Path, commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", {"uv": "/bin/uv"}.get)
    commands.outputs["config"] = (
        "global.index-url='https://mirror.example/simple'\n"
        ":env:.find-links='/one /two'\nglobal.cert='/bundle.pem'\nglobal.timeout='9'\n"
    )
    installer.install(Wish(model=False))
    with_uv = [words for words in commands.asked if words[0] == "/bin/uv"]
    assert [words[-1] for words in with_uv] == ["toolspin", "basepin"]
    where = with_uv[0][: with_uv[0].index("--no-deps")]
    assert where[3:] == [
        *("--python", str(installer.PYTHON)),
        *("--index-url", "https://mirror.example/simple"),
        *("--find-links", "/one", "--find-links", "/two"),
        *("--index-strategy", "unsafe-best-match"),
    ]
    assert commands.extras["/bin/uv"] == {"SSL_CERT_FILE": "/bundle.pem"}
    assert commands.installs().count("basepin") == 1


def test_where_uv_fails_pip_installs(
    folder: Path, commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", {"uv": "/bin/uv"}.get)
    commands.failures["/bin/uv"] = "error: an index that uv cannot read"
    installer.install(Wish(model=False))
    assert ready()
    with_pip = [words[-1] for words in commands.asked if words[2:4] == ["pip", "install"]]
    assert with_pip == ["toolspin", "basepin", "."]


def test_the_screen_shows_four_steps_and_the_log_the_rest(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    program = "import sys; print('much'); print('more', file=sys.stderr); sys.exit(3)"
    installer.VENV.mkdir()
    code, output, errors = installer.run([sys.executable, "-c", program])
    assert (code, output, errors) == (3, "much\n", "more\n")
    assert capfd.readouterr() == ("", "")
    log = installer.LOG.read_text(encoding="utf-8")
    assert {"much", "more"} <= set(log.splitlines())


def test_the_screen_shows_a_line_for_each_step(
    folder: Path, commands: Commands, capsys: pytest.CaptureFixture[str]
) -> None:
    installer.install(Wish())
    lines = capsys.readouterr().out.splitlines()
    assert [line[:5] for line in lines] == ["[1/4]", "[2/4]", "[3/4]", "[4/4]", "SoulM"]


def test_a_second_installation_waits_with_words_and_finds_the_work_done(
    folder: Path, commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The words come through a queue: two threads lose lines of a captured screen."""
    said: SimpleQueue[str] = SimpleQueue()
    monkeypatch.setattr(installer, "say", lambda english, _: said.put(english))
    with ThreadPoolExecutor(1) as other:
        with installer.alone():
            waiting = other.submit(installer.install_what_misses, set())
            assert "waits for it" in said.get(timeout=60)
            installer.install(Wish())
            commands.asked.clear()
        waiting.result()
    assert commands.asked == []


def test_a_process_that_was_killed_holds_nothing(folder: Path) -> None:
    program = (
        "import sys, signal, os; sys.path.insert(0, sys.argv[1]); import processes\n"
        "file = open(sys.argv[2], 'a'); processes.hold(file, lambda: None)\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    ci = Path(installer.__file__).parent
    command = [sys.executable, "-c", program, str(ci), str(installer.LOCK)]
    assert subprocess.run(command, check=False).returncode == -9
    with installer.LOCK.open("a") as file:
        hold(file, lambda: pytest.fail("the lock is held"))

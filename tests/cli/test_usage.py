"""Does the command start fast, speak the user's language and end as a shell expects?"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from string import Formatter

import pytest

from soulmem import __version__
from soulmem.cli import arguments
from soulmem.cli.arguments import LANGUAGES, choose_language
from soulmem.cli.words import Words
from tests.cli.conftest import REPOSITORY, Command

CLI = REPOSITORY / "soulmem" / "cli"
TEXTS = {
    name: json.loads((CLI / "texts" / f"{name}.json").read_text("utf-8")) for name in LANGUAGES
}
# Loading one of these takes longer than answering --help may.
HEAVY = {
    "aiohttp",
    "numpy",
    "surrealdb",
    "torch",
    "sentence_transformers",
    "msgspec",
    "soulmem.engine",
}


@pytest.mark.parametrize("argv", [["--help"], ["import", "--help"], ["--version"]])
def test_help_loads_nothing_heavy(argv: list[str]) -> None:
    code = f"import sys, soulmem.cli\ntry: soulmem.cli.main({argv!r})\nexcept SystemExit: pass\n"
    code += f"sys.exit(','.join(sorted({HEAVY!r} & set(sys.modules))) or 0)"
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "soulmem" in ended.stdout or __version__ in ended.stdout


def test_asking_a_running_sidecar_loads_nothing_heavy_either() -> None:
    code = "import sys, soulmem.cli.recall, soulmem.cli.import_files, soulmem.cli.doctor, soulmem.cli.demo\n"
    code += f"sys.exit(','.join(sorted({HEAVY!r} & set(sys.modules))) or 0)"
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True
    )
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize(("preset", "used"), [(None, "1"), ("2", "2")])
def test_small_products_keep_to_one_thread_unless_the_user_says_otherwise(
    preset: str | None, used: str, tmp_path: Path
) -> None:
    code = "import os, sys; from soulmem.cli import main\n"
    code += f"main(['serve', '--config', {str(tmp_path / 'none.toml')!r}])\n"
    code += "sys.exit(os.environ['OPENBLAS_NUM_THREADS'])"
    environ = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    environ |= {"OPENBLAS_NUM_THREADS": preset} if preset else {}
    command = [sys.executable, "-c", code]
    ended = subprocess.run(command, cwd=REPOSITORY, env=environ, capture_output=True, text=True)
    assert ended.stderr.splitlines()[-1] == used


def test_every_command_has_help_in_both_languages(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for language in LANGUAGES:
        parser = arguments.build_parser(Words(language))
        for name in arguments.COMMANDS:
            with pytest.raises(SystemExit):
                parser.parse_args([name, "--help"])
            assert TEXTS[language][f"about_{name}"][:8] in capsys.readouterr().out.replace("\n", "")


def test_wrong_usage_ends_with_2(capsys: pytest.CaptureFixture[str], command: Command) -> None:
    for argv in (
        [],
        ["sing"],
        ["recall", "text"],
        ["import", "--soul", "Bel"],
        ["demo", "--data", "x"],
    ):
        with pytest.raises(SystemExit) as ended:
            command(*argv)
        assert ended.value.code == 2
    capsys.readouterr()


def test_a_wrong_setting_is_told_in_words_and_as_an_object(
    command: Command, tmp_path: Path
) -> None:
    ended = command("recall", "x", "--soul", "Bel", "--config", str(tmp_path / "none.toml"))
    assert ended.code == 1
    assert "none.toml" in ended.err
    ended = command(
        "recall",
        "x",
        "--soul",
        "Bel",
        "--config",
        str(tmp_path / "none.toml"),
        "--json",
    )
    assert (ended.code, ended.json()["error"]) == (1, "config")


@pytest.mark.parametrize(
    ("argv", "environ", "language"),
    [
        ([], {"LANG": "zh_CN.UTF-8"}, "zh"),
        ([], {"LANG": "de_DE.UTF-8"}, "en"),
        ([], {"LC_ALL": "C", "LANG": "zh_CN.UTF-8"}, "en"),
        (["doctor", "--lang", "zh"], {"LANG": "en_GB"}, "zh"),
        (["doctor", "--lang=en"], {"LANG": "zh_TW"}, "en"),
        (["doctor", "--lang"], {"LANG": "zh_TW"}, "zh"),
    ],
)
def test_the_language_is_the_users(argv: list[str], environ: dict[str, str], language: str) -> None:
    assert choose_language(argv, environ) == language


def test_both_languages_say_the_same_things() -> None:
    english, chinese = TEXTS["en"], TEXTS["zh"]
    assert english.keys() == chinese.keys()
    for key, text in english.items():
        assert _places(text) == _places(chinese[key]), key


def test_every_text_is_said_somewhere_and_nothing_else_is() -> None:
    code = "\n".join(path.read_text("utf-8") for path in CLI.rglob("*.py"))
    used = set(re.findall(r"\b(?:words|say|self\._words)\(\s*\"(\w+)\"", code))
    assert used - TEXTS["en"].keys() == set()
    quoted = set(re.findall(r"\"(\w+)\"", code))
    made = tuple(re.findall(r"f\"(\w+_)\{", code))
    assert {key for key in TEXTS["en"].keys() - quoted if not key.startswith(made)} == set()


def _places(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


@pytest.mark.parametrize(
    ("ends", "status", "told"),
    [
        ("return 3", 3, ""),
        ("return 0", 0, ""),
        ("raise SystemExit(2)", 2, ""),
        ("raise ValueError('odd')", 1, "ValueError: odd"),
    ],
)
def test_a_command_ends_without_taking_python_apart(ends: str, status: int, told: str) -> None:
    """Else a thread of the store that still says that it is done aborts the process."""
    code = f"""
import atexit, sys
from soulmem import cli

class Late:
    def __del__(self):
        sys.__stdout__.write("taken apart")

def main():
    atexit.register(print, "tidied", end="")
    {ends}

sys.late, cli.main = Late(), main
cli.run_and_leave()
"""
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True
    )
    assert (ended.returncode, ended.stdout) == (status, "tidied")
    assert told in ended.stderr

"""Does every command that a page names run? Each is run once, at its smallest.

The commands are read from the pages, so a new one without a run here fails.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from soulmem.cli.arguments import COMMANDS

REPOSITORY = Path(__file__).resolve().parents[2]
PAGES = sorted(
    REPOSITORY / name
    for pattern in ("*.md", "docs/*.md", "tests/e2e/*.md", "extension_js/*.md")
    for name in REPOSITORY.glob(pattern)
)
CODE = re.compile(r"```[^\n]*\n(.*?)```|`([^`\n]+)`", re.DOTALL)
MODULE = re.compile(r"python3? -m (tests\.[a-z0-9_.]+)")
START = re.compile(r"start\.py +([a-z_]+)")

CHATS = "CHATS"  # stands for a folder of small role-play chats
SOUL = "SOUL"  # stands for the folder that `tests.bench.large_soul` wrote
SMALL_SOUL = ("--nodes", "4000", "--edges", "20000")  # the least that has a snapshot
THINGS = ("lamp", "kettle", "drum", "saw", "rope", "flute", "barrel", "anchor") * 4
PAGE = ("--page", "PAGE")  # a copy of the page that the command writes to

# By module: arguments for its smallest run, the page it writes to, the programs it needs.
QUICK: dict[str, tuple[str, ...]] = {
    "tests.bench.fleet": ("--souls", "10"),
    "tests.bench.forgetting_curve": (),
}
LONG: dict[str, tuple[str, ...]] = {
    "tests.bench.fit": ("--data", CHATS),
    "tests.bench.all": ("--smallest", "--only", "ingest", *PAGE),
    "tests.bench.ingest": ("--messages", "1000"),
    "tests.bench.kinds": ("--short",),
    "tests.bench.large_soul": ("FOLDER", *SMALL_SOUL),
    "tests.bench.live_soul": (SOUL,),
    "tests.bench.open_soul": (SOUL,),
    "tests.bench.ppr": ("--graphs", "10k-8", "--queries", "1"),
    "tests.bench.recall": ("--quick", "--questions", "2"),
    "tests.bench.slope": ("--sizes", "1000"),
    "tests.bench.spreading": ("--texts", "2000", "--queries", "5"),
    "tests.bench.st_latency": ("--pairs", "1", "--messages", "100"),
    "tests.bench.window_routes": (SOUL, "--rounds", "1"),
    "tests.bench.year": ("--days", "10"),
    "tests.e2e.page_speed": ("--pairs", "1", "--rounds", "1", "--traces", "0"),
    "tests.house.figures": (),
    "tests.house.flows": (),
    "tests.house.mutants": ("--engine", "0", "--server", "1", "--extension", "0"),
}
BROWSER = {"tests.bench.st_latency", "tests.e2e.page_speed"}
# Commands of start.py that are no commands of soulmem; tests/setup runs them.
OWN_WORDS = {"install", "test"}


def code_of_pages() -> str:
    """All that the pages show as code."""
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    return "\n".join(block or inline for block, inline in CODE.findall(text))


def strings_in(folder: str) -> set[str]:
    """The texts that tests of a folder pass to a call, alone or in a list."""
    found: set[str] = set()
    for file in (REPOSITORY / "tests" / folder).glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call | ast.List | ast.Tuple):
                parts = node.args if isinstance(node, ast.Call) else node.elts
                found |= {
                    part.value
                    for part in parts
                    if isinstance(part, ast.Constant) and isinstance(part.value, str)
                }
    return found


def test_every_module_that_a_page_names_has_its_smallest_run() -> None:
    named = set(MODULE.findall(code_of_pages()))
    assert "tests.bench.recall" in named
    assert named == QUICK.keys() | LONG.keys()


def test_every_command_of_the_starter_that_a_page_names_is_run_by_tests() -> None:
    named = set(START.findall(code_of_pages()))
    assert named >= OWN_WORDS
    assert named - OWN_WORDS <= COMMANDS.keys()
    assert named - OWN_WORDS - strings_in("cli") == set()
    assert OWN_WORDS - strings_in("setup") == set()


@pytest.fixture(scope="module")
def soul(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small soul."""
    folder = tmp_path_factory.mktemp("souls") / "soul"
    run("tests.bench.large_soul", (str(folder), *SMALL_SOUL), folder.parent)
    return folder


def small_chats(folder: Path) -> Path:
    """Two chats of 32 lines with what is asked of them, as `tests.bench.fit` reads them."""
    folder.mkdir()
    plain = {}
    for name in ("a", "b"):
        told = [f"The {thing} of house {name} lies in the cellar." for thing in THINGS]
        messages = [
            {
                "slot": f"m{place}",
                "role": ("user", "character")[place % 2],
                "speaker": ("Al", "Mira")[place % 2],
                "text": text,
                "sent_at": f"2026-01-01T10:{place:02}:00+00:00",
            }
            for place, text in enumerate(told)
        ]
        asks = [
            {"text": f"Where is the {thing}?", "evidence": [f"m{place}"]}
            for place, thing in enumerate(THINGS[:3])
        ]
        chat = {
            **{"id": name, "lang": "en", "persona": "Al", "character": "Mira"},
            **{"names": [], "cues": asks, "short": asks, "messages": messages},
        }
        plain[name] = {"asked": asks, "events": asks, "never": [{"text": "Who is Bo?"}]}
        (folder / f"rp_{name}.json").write_text(json.dumps(chat), "utf-8")
    calm = {kind: ["Shall we go?", "Hm."] for kind in ("lines", "long", "evening")}
    calm["long_evening"] = calm["long"]
    (folder / "plain.json").write_text(json.dumps(plain), "utf-8")
    (folder / "calm_lines.json").write_text(json.dumps({"en": calm}), "utf-8")
    return folder


def run(module: str, arguments: tuple[str, ...], folder: Path) -> str:
    """What a module prints; it must end well."""
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=REPOSITORY,
        env={**os.environ, "TMPDIR": str(folder), "SOULMEM_EMBEDDER_MODEL": "fallback"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


@pytest.mark.parametrize("module", QUICK)
def test_a_quick_command_runs(module: str, tmp_path: Path) -> None:
    assert run(module, QUICK[module], tmp_path).strip()


@pytest.mark.nightly
@pytest.mark.timeout(900)
@pytest.mark.parametrize("module", LONG)
def test_a_long_command_runs(module: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if module in BROWSER and not (shutil.which("node") and shutil.which("npm")):
        pytest.skip(f"{module} needs Node.js with npm")
    page = tmp_path / "benchmarks.md"
    page.write_bytes((REPOSITORY / "docs" / "benchmarks.md").read_bytes())
    places = {"FOLDER": str(tmp_path / "new"), "PAGE": str(page)}
    if CHATS in LONG[module]:
        places[CHATS] = str(small_chats(tmp_path / "chats"))
    if SOUL in LONG[module]:
        places[SOUL] = str(tmp_path / "soul")
        shutil.copytree(request.getfixturevalue("soul"), places[SOUL])
    arguments = tuple(places.get(word, word) for word in LONG[module])
    assert run(module, arguments, tmp_path).strip()

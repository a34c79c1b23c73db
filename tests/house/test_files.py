"""Is what we commit in its place, of a readable size, and free of the machine it was written on?"""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.house.sources import parsed

# SillyTavern reads manifest.json and package.json, git and pip their files, people and their habits the rest.
AT_THE_TOP = {
    *("soulmem", "extension_js", "plugin", "tests", ".ci", "docs"),
    *(
        "pyproject.toml",
        "config.example.toml",
        "manifest.json",
        "package.json",
        "tsconfig.json",
        ".gitignore",
        ".editorconfig",
        ".pre-commit-config.yaml",
        ".github",
    ),
    *(
        "README.md",
        "README.zh.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "LICENSE",
        "start.py",
        "Start.bat",
    ),
}
CODE = {".py", ".js", ".mjs", ".ts"}
# Rooms whose files have the names of what they are for: values, interfaces, prompts, routes, commands.
NAMED_AFTER = ("domain", "ports", "prompts", "server/resources", "cli")


def texts(repository: Path, tracked: list[Path]) -> Iterator[tuple[Path, str]]:
    """Every tracked file that is text."""
    for path in tracked:
        try:
            yield path, (repository / path).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue


def test_only_known_names_at_the_top(tracked: list[Path]) -> None:
    assert {path.parts[0] for path in tracked} - AT_THE_TOP == set()


def test_a_file_name_stands_in_one_room(tracked: list[Path]) -> None:
    rooms: dict[str, list[str]] = {}
    for path in tracked:
        room = path.parent.as_posix().removeprefix("soulmem/")
        named_after = any(f"{room}/".startswith(f"{each}/") for each in NAMED_AFTER)
        if path.parts[0] == "soulmem" and path.suffix == ".py" and not named_after:
            rooms.setdefault(path.name, []).append(room)
    twice = {name: found for name, found in rooms.items() if len(found) > 1}
    assert set(twice) == {"__init__.py"}


def test_files_are_short_enough_to_read(repository: Path, tracked: list[Path]) -> None:
    long = {
        str(path): lines
        for path, text in texts(repository, tracked)
        if path.suffix in CODE and (lines := text.count("\n")) > 550
    }
    assert long == {}


def test_python_files_say_what_they_are_for(repository: Path, tracked: list[Path]) -> None:
    silent = [
        str(path)
        for path, text in texts(repository, tracked)
        if path.suffix == ".py"
        and text.strip()
        and not ast.get_docstring(parsed(repository / path))
    ]
    assert silent == []


def test_nothing_of_this_machine(repository: Path, tracked: list[Path]) -> None:
    """No path into the clone or the home folder of whoever runs this."""
    places = {str(repository), str(repository.parent), str(Path.home())}
    meaningful = sorted(place for place in places if len(Path(place).parts) > 1 and place != "/tmp")
    pattern = re.compile("|".join(rf"(?<![\w./~-]){re.escape(place)}/" for place in meaningful))
    found = [
        f"{path}: {match.group()}"
        for path, text in texts(repository, tracked)
        for match in pattern.finditer(text)
    ]
    assert found == []


def registry_hosts() -> set[str]:
    """The hosts that pip and npm of this machine fetch from, and the one that pip knows by itself."""
    from pip._internal.models.index import PyPI

    commands = [
        ("pip", "config", "get", "global.index-url"),
        ("npm", "config", "get", "registry"),
    ]
    hosts = {urlsplit(PyPI.url).hostname, PyPI.file_storage_domain}
    for program, *arguments in commands:
        if found := shutil.which(program):
            done = subprocess.run([found, *arguments], capture_output=True, text=True, check=False)
            hosts.add(urlsplit(done.stdout.strip()).hostname)
    return {host for host in hosts if host}


@pytest.mark.timeout(30)  # npm takes its time to start
def test_no_registry_host(repository: Path, tracked: list[Path]) -> None:
    """A mirror, a proxy or another registry must serve every user as well."""
    pattern = re.compile("|".join(re.escape(host) for host in registry_hosts()))
    found = [
        f"{path}: {match.group()}"
        for path, text in texts(repository, tracked)
        for match in pattern.finditer(text)
    ]
    assert found == []


def test_start_bat_is_for_windows(repository: Path) -> None:
    """Its shell misreads labels and blocks in files with bare line feeds."""
    content = (repository / "Start.bat").read_bytes()
    assert content.isascii()
    assert content.count(b"\r\n") == content.count(b"\n") > 0
    assert b"start.py" in content


def test_links_in_the_pages_lead_somewhere(repository: Path, tracked: list[Path]) -> None:
    missing = []
    for path in tracked:
        if path.suffix != ".md":
            continue
        text = (repository / path).read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#\s]+)", text) + re.findall(r'src="([^"]+)"', text):
            if "://" not in target and not (repository / path.parent / target).exists():
                missing.append(f"{path}: {target}")
    assert missing == []

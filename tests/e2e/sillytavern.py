"""The real SillyTavern: installed from npm, and run once."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
import tempfile
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path

from .child import Child
from .needs import Tools

FIRST_START_SECONDS = 180.0  # the front end is compiled once


def package_folder(version: str, cache: Path) -> Path:
    """Where `install` keeps the package."""
    return cache / f"sillytavern-{version}"


def install(version: str, cache: Path, tools: Tools) -> None:
    """Unpack the npm package of exactly `version` with its dependencies inside, once."""
    home = package_folder(version, cache)
    if home.is_dir():
        return
    with tempfile.TemporaryDirectory(dir=cache, prefix="install-") as scratch:
        _npm(tools, Path(scratch), "pack", f"sillytavern@{version}")
        (archive,) = Path(scratch).glob("sillytavern-*.tgz")
        with tarfile.open(archive) as packed:
            if hasattr(tarfile, "data_filter"):
                packed.extractall(scratch, filter="data")
            else:  # Python before 3.10.12
                packed.extractall(scratch)
        package = Path(scratch) / "package"
        # Inside the package: SillyTavern refuses to read dependencies hoisted to a folder above it.
        _npm(
            tools,
            package,
            "install",
            "--omit=dev",
            "--no-audit",
            "--no-fund",
            "--ignore-scripts",
        )
        package.rename(home)


def _npm(tools: Tools, cwd: Path, *arguments: str) -> None:
    command = [tools.npm, "--loglevel=error", *arguments]
    subprocess.run(command, cwd=cwd, check=True, timeout=900, stdout=subprocess.DEVNULL)


class SillyTavern:
    """A running server. `data` is its data root; the front end it compiles is kept in `compiled`."""

    def __init__(
        self,
        package: Path,
        root: Path,
        port: int,
        compiled: Path,
        tools: Tools,
        env: dict[str, str],
    ) -> None:
        self.data = root / "data"
        self.url = f"http://127.0.0.1:{port}"
        self._compiled = compiled
        self._cache = self.data / "_webpack"
        if compiled.is_dir():
            shutil.copytree(compiled, self._cache, dirs_exist_ok=True)
        command = [
            tools.node,
            "server.js",
            "--configPath",
            str(root / "config.yaml"),
            "--dataRoot",
            str(self.data),
        ]
        command += ["--port", str(port), "--browserLaunchEnabled", "false"]
        self.child = Child(command, package, root / "sillytavern.log", env)

    def wait(self) -> None:
        """Until it serves its page. What it has compiled is kept for the next one."""
        self.child.wait_for(self._answers, FIRST_START_SECONDS, "SillyTavern")
        if self._cache.is_dir() and not self._compiled.is_dir():
            with tempfile.TemporaryDirectory(dir=self._compiled.parent) as scratch:
                whole = Path(scratch) / "compiled"
                shutil.copytree(self._cache, whole)
                with suppress(OSError):  # another run was quicker
                    whole.rename(self._compiled)

    def stop(self) -> None:
        self.child.stop()

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(self.url, timeout=5) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False

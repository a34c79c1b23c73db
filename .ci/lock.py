"""Write .ci/locked.txt: the pinned packages with the hashes of their files, by the part that needs them.

    python .ci/lock.py          after each change of .ci/constraints.txt; needs uv

PyTorch and the libraries for graphics cards are left out: their builds differ from index to index.
"""

import re
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
CONSTRAINTS = HERE / "constraints.txt"
LOCKED = HERE / "locked.txt"
TOOLS = ("pip", "flit-core", "setuptools")  # what installs and builds the others
EXTRAS = ("test", "mcp", "model")
BY_INDEX = ("torch", "triton", "nvidia-", "cuda-")


def compiled(*arguments: str) -> dict[str, str]:
    """The packages that uv finds for the arguments: name to its lines."""
    command = ["uv", "pip", "compile", "--quiet", "--universal", "--no-annotate"]
    options = ["--no-header", "--no-emit-index-url", "--python-version", "3.10"]
    done = subprocess.run(
        [*command, *options, "--constraints", str(CONSTRAINTS), *arguments],
        cwd=HERE.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    out: dict[str, str] = {}
    for block in re.findall(r"^\S.*\n(?: .*\n)*", done.stdout, re.MULTILINE):
        name = re.split("[=<>]", block)[0]
        out[name] = out.get(name, "") + block
    return out


def main() -> None:
    """Ask uv which packages each part needs, and once for all hashes."""
    project = "pyproject.toml"
    with tempfile.TemporaryDirectory() as folder:
        tools = Path(folder) / "tools.in"
        tools.write_text("\n".join(TOOLS), encoding="utf-8")
        parts = {"tools": set(compiled(str(tools))), "base": set(compiled(project))}
        parts |= {
            extra: set(compiled(project, "--extra", extra)) - parts["base"] for extra in EXTRAS
        }
        every = [word for extra in EXTRAS for word in ("--extra", extra)]
        hashed = compiled(str(tools), project, *every, "--generate-hashes")
    pinned = {re.split("[=<>]", line)[0] for line in CONSTRAINTS.read_text().splitlines()}
    text = "# Made by .ci/lock.py, which says how. Above each package: the parts that need it.\n"
    for name, lines in sorted(hashed.items()):
        # What is not pinned is for systems that SoulMem does not run on.
        if name in pinned and not name.startswith(BY_INDEX):
            needed_by = [part for part, names in parts.items() if name in names]
            text += f"# for: {' '.join(needed_by)}\n{lines}"
    LOCKED.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

"""How do figures get onto the page of benchmarks, with the machine they were measured on beside them?"""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Sequence
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Rows as Markdown; the first column to the left, all others to the right."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def figure(number: float) -> str:
    """Three digits that count."""
    if number >= 100:
        return f"{number:,.0f}"
    return f"{number:.3g}"


def origin(command: str, packages: Sequence[str]) -> str:
    """Where figures come from: command, date, machine, load and versions."""
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    when = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    return (
        f"Printed by `{command}` on {when}: {_processor()}, {os.cpu_count()} cores{load},"
        f" {platform.system()}, Python {platform.python_version()}, {versions}. One thread."
    )


def command_line(module: str) -> str:
    """The call that is running, without where its answers go."""
    told = re.sub(r" ?--(json|page|keep|model) \S+", "", " ".join(sys.argv[1:]))
    return f"python -m {module} {told}".strip()


def publish(page: Path | None, section: str, text: str, source: str) -> None:
    """Print a table and where it comes from; put both on the page if there is one."""
    print(f"\n{text}\n\n{source}")
    if page is not None:
        put(page, section, f"{text}\n\n{source}")


def put(page: Path, section: str, text: str) -> None:
    """Replace what stands between `<!-- section -->` and `<!-- /section -->`. Raises ValueError without."""
    start, end = f"<!-- {section} -->", f"<!-- /{section} -->"
    old = page.read_text(encoding="utf-8")
    if start not in old or end not in old:
        raise ValueError(f"{page} has no section {section}")
    before, rest = old.split(start, 1)
    page.write_text(f"{before}{start}\n{text}\n{end}{rest.split(end, 1)[1]}", encoding="utf-8")


def _processor() -> str:
    """Its name, as well as the system tells it."""
    told = Path("/proc/cpuinfo")
    if told.exists() and (
        found := re.search(r"model name\s*: (.+)", told.read_text(encoding="utf-8"))
    ):
        return found[1]
    return platform.processor() or platform.machine()

"""axe-core from npm: what of a page people with a screen reader or a keyboard cannot use."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from .needs import Tools, cache_folder

VERSION = "4.10.2"
_RUN = """async selector => {
    const { violations } = await axe.run(selector, { resultTypes: ['violations'] });
    return violations
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .map(({ id, nodes }) => ({ id, nodes: nodes.map(node => node.html.slice(0, 160)) }));
}"""


def axe_script(tools: Tools) -> Path:
    """The script, fetched from npm once."""
    folder = cache_folder() / f"axe-core-{VERSION}"
    script = folder / "node_modules" / "axe-core" / "axe.min.js"
    if not script.exists():
        folder.mkdir(parents=True, exist_ok=True)
        command = [tools.npm, "install", "--loglevel=error", "--no-audit", "--no-fund"]
        subprocess.run(
            [*command, "--no-package-lock", f"axe-core@{VERSION}"],
            cwd=folder,
            check=True,
        )
    return script


def serious_findings(tab: Any, script: Path, selector: str) -> list[dict[str, Any]]:
    """What axe-core finds serious or critical in the part of the page, each with its elements."""
    if not tab.evaluate("() => 'axe' in globalThis"):
        tab.add_script_tag(path=str(script))
    findings: list[dict[str, Any]] = tab.evaluate(_RUN, selector)
    return findings

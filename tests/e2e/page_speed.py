"""How much longer SillyTavern takes to load with the extension, in pairs, and how soon the window shows something.

    python -m tests.e2e.page_speed                    # loads in pairs
    python -m tests.e2e.page_speed --store FOLDER     # also the window of a soul that tests.bench.large_soul wrote

A load ends when SillyTavern tells extensions that it is ready. The first screen of a page of the window is there
when its first rows are; the longest task is the longest that the page's thread did nothing else meanwhile.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench.large_soul import SOUL

from .child import until
from .conftest import CHROMIUM_FLAGS, DEFAULT_ST_VERSION
from .data_folder import DataFolder
from .mock_llm import MockLlm
from .needs import cache_folder, find_tools
from .page import LOADED, TavernPage
from .ports import free_port
from .sidecar import Sidecar
from .sillytavern import SillyTavern, package_folder

OURS = "third-party/SoulMem"
# SillyTavern's modules cannot be asked before they are there.
READY = f"() => {{ try {{ return ({LOADED})(); }} catch {{ return false; }} }}"
WATCH = """() => {
    globalThis.longest = 0;
    new PerformanceObserver(list => {
        for (const { duration } of list.getEntries()) longest = Math.max(longest, duration);
    }).observe({ type: 'longtask' });
}"""
# Milliseconds from a press to the first element of a kind, and the longest task meanwhile.
PRESS = """([button, shown]) => new Promise(done => {
    longest = 0;
    const began = performance.now();
    document.querySelector(button).click();
    const look = () => {
        if (!document.querySelector(shown)) return requestAnimationFrame(look);
        const took = performance.now() - began;
        setTimeout(() => done([took, longest]), 400);
    };
    look();
})"""
SCROLL = """async () => {
    longest = 0;
    const page = document.querySelector('.soulmem_page');
    for (let step = 0; step < 40; step++) {
        page.scrollTop += 700;
        await new Promise(done => setTimeout(done, 60));
    }
    return [longest, document.querySelectorAll('#soulmem_browser .soulmem_item').length];
}"""
PAGES = {
    "her": "#soulmem_browser .soulmem_count_card",
    "memories": "#soulmem_browser .soulmem_story .soulmem_item",
    "people": '#soulmem_browser [data-page="people"] .soulmem_item',
    "graph": "#soulmem_browser .soulmem_graph_node",
}


@dataclass(frozen=True, slots=True)
class Bench:
    """A running SillyTavern, its data, and a browser."""

    server: SillyTavern
    data: DataFolder
    llm: MockLlm
    context: Any

    def load(self, *, enabled: bool) -> float:
        """Milliseconds until SillyTavern is ready."""
        self.data.write_settings({})
        if not enabled:
            self.data.change_settings("disabledExtensions", [OURS])  # type: ignore[arg-type]
        tab = self.context.new_page()
        began = time.perf_counter()
        tab.goto(self.server.url, wait_until="commit", timeout=120_000)
        tab.wait_for_function(READY, timeout=120_000, polling=5)
        took = 1000 * (time.perf_counter() - began)
        tab.close()
        return took


def pairs(bench: Bench, count: int) -> None:
    """Print loads with and without the extension, one after the other."""
    bench.load(enabled=True)
    bench.load(enabled=False)
    with_it: list[float] = []
    without: list[float] = []
    for number in range(count):
        order = (True, False) if number % 2 else (False, True)
        for enabled in order:
            (with_it if enabled else without).append(bench.load(enabled=enabled))
    more = [a - b for a, b in zip(with_it, without, strict=True)]
    print(
        f"load in {count} pairs: with {statistics.median(with_it):.0f} ms, without"
        f" {statistics.median(without):.0f} ms, difference {statistics.median(more):.0f} ms"
        f" ({min(more):.0f} to {max(more):.0f})"
    )


def window(bench: Bench, sidecar: Sidecar, rounds: int) -> None:
    """Print how soon the pages of the window show something."""
    bench.data.write_settings({"url": sidecar.url.removesuffix("/v1")})
    avatar = bench.data.add_character("large", "Mira", first="Hello.")
    page = TavernPage(bench.context, bench.server.url, bench.llm)
    page.load()
    page.wait_for_dot("ok", seconds=120)
    page.open_character(avatar)
    page.sync()
    tab = page.tab
    tab.evaluate(
        "([avatar, soul]) => { SillyTavern.getContext().extensionSettings.soulmem.souls[avatar] = soul; }",
        [avatar, SOUL],
    )
    time.sleep(6)  # the pages of the window are loaded once nothing else is to do
    tab.evaluate(WATCH)
    figures: dict[str, list[list[float]]] = {name: [] for name in PAGES}
    for _ in range(rounds):
        figures["her"].append(press(tab, "#soulmem_browse", PAGES["her"]))
        for name in list(PAGES)[1:]:
            took = press(tab, f"#soulmem_tab_{name}", PAGES[name])
            figures[name].append(took)
            if name == "memories":
                longest, rows = tab.evaluate(SCROLL)
                print(f"story scrolled: longest task {longest:.0f} ms, {rows} rows")
        tab.keyboard.press("Escape")
        tab.locator("#soulmem_browser").wait_for(state="detached")
    for name, all_of_it in figures.items():
        times, tasks = zip(*all_of_it, strict=True)
        print(
            f"{name}: first screen {statistics.median(times):.0f} ms"
            f" ({min(times):.0f} to {max(times):.0f}), longest task {max(tasks):.0f} ms"
        )
    print("red lines:", [line for line in page.console if line.startswith("error")])


def press(tab: Any, button: str, shown: str) -> list[float]:
    figures: list[float] = tab.evaluate(PRESS, [button, shown])
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", type=Path, help="as tests.bench.large_soul wrote it")
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    os.environ.setdefault("SOULMEM_EMBEDDER_MODEL", "none")
    tools = find_tools()
    package = package_folder(DEFAULT_ST_VERSION, cache_folder())
    stops: list[Callable[[], object]] = []
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        llm = MockLlm(free_port())
        sidecar = Sidecar(root / "sidecar", free_port())
        if options.store is not None:
            shutil.copytree(options.store, sidecar.folder / "store")
        sidecar.start()
        stops += [llm.close, sidecar.stop]
        data = DataFolder(root, package, llm.url, plugins=False)
        compiled = cache_folder() / f"webpack-{DEFAULT_ST_VERSION}"
        server = SillyTavern(package, root, free_port(), compiled, tools, {})
        stops.append(server.stop)
        from playwright.sync_api import sync_playwright

        try:
            server.wait()
            until(lambda: sidecar.status() != "down", 120, "the sidecar")
            with sync_playwright() as playwright:
                chromium = playwright.chromium.launch(
                    executable_path=tools.chromium, args=CHROMIUM_FLAGS
                )
                context = chromium.new_context(viewport={"width": 1400, "height": 900})
                context.set_default_timeout(120_000)
                bench = Bench(server, data, llm, context)
                pairs(bench, options.pairs)
                if options.store is not None:
                    until(lambda: sidecar.status() == "ok", 240, "the soul")
                    window(bench, sidecar, options.rounds)
                chromium.close()
        finally:
            for stop in reversed(stops):
                stop()


if __name__ == "__main__":
    main()

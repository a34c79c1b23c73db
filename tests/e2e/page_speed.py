"""How much longer SillyTavern takes to load with the extension, in pairs, and how soon the window shows something.

    python -m tests.e2e.page_speed                    # loads in pairs
    python -m tests.e2e.page_speed --store FOLDER     # also the window of a soul that tests.bench.large_soul wrote
    python -m tests.e2e.page_speed --port PORT        # the same, of a sidecar that has such a soul open already

A load ends when SillyTavern tells extensions that it is ready. The first screen of a page of the window is there
when its first rows are; the longest task is the longest time that the page's thread did nothing else meanwhile.
`its CPU` and that until the first screen are from rounds that the browser traces, which costs time, too; CPU is
what all tasks of the page's thread took. The first row is a window of SillyTavern with nothing of ours in it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from soulmem.bootstrap import IMAGES_FOLDER
from tests.bench.large_soul import SOUL

from .child import until
from .conftest import CHROMIUM_FLAGS, DEFAULT_ST_VERSION
from .data_folder import DataFolder
from .memory_window import show_tab
from .mock_llm import MockLlm
from .needs import cache_folder, find_tools
from .page import LOADED, TavernPage
from .page_trace import NONE, Traced, traced
from .ports import free_port
from .sidecar import Sidecar
from .sillytavern import SillyTavern, install, package_folder

OURS = "third-party/SoulMem"
# SillyTavern's modules cannot be asked before they are there.
READY = f"() => {{ try {{ return ({LOADED})(); }} catch {{ return false; }} }}"
WATCH = """() => {
    globalThis.longest = 0;
    new PerformanceObserver(list => {
        for (const { duration } of list.getEntries()) longest = Math.max(longest, duration);
    }).observe({ type: 'longtask' });
}"""
# Milliseconds from a press to the first element of a kind, and until nothing is read any more; the longest task.
PRESS = """([button, shown]) => new Promise(done => {
    longest = 0;
    let first = 0;
    const began = performance.now();
    document.querySelector(button).click();
    const look = () => {
        const took = performance.now() - began;
        if (!first && document.querySelector(shown)) {
            performance.mark('soulmem_first');
            first = took;
        }
        const isReading = document.querySelector('#soulmem_browser[aria-busy="true"]');
        if (!first || isReading) return requestAnimationFrame(look);
        setTimeout(() => done([first, took, longest]), 400);
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
    return longest;
}"""
PLAIN = """() => {
    const { Popup, POPUP_TYPE } = SillyTavern.getContext();
    const button = document.createElement('button');
    button.id = 'plain_open';
    button.onclick = () => {
        const content = document.createElement('div');
        content.id = 'plain_popup';
        const options = { large: true, wider: true, allowVerticalScrolling: true };
        void new Popup(content, POPUP_TYPE.TEXT, '', options).show();
    };
    document.body.append(button);
}"""
_PLAIN = "a window of SillyTavern"
_SCROLLED = "story, scrolled"
PAGES = {
    "her": ".soulmem_count_card",
    "memories": ".soulmem_story .soulmem_item",
    "recall": "#soulmem_try_line",
    "people": ".soulmem_item",
    "habits": ".soulmem_item",
    "graph": ".soulmem_graph_node",
    "fading": ".soulmem_fades",
    "check": "#soulmem_check_start",
}
HABITS = 60


@dataclass(frozen=True, slots=True)
class Bench:
    """A running SillyTavern, its data, and a browser."""

    server: SillyTavern
    data: DataFolder
    llm: MockLlm
    browser: Any
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


def window(bench: Bench, sidecar: Sidecar, rounds: int, traces: int) -> None:
    """Print how soon the pages of the window show something."""
    avatar = bench.data.add_character("large", "Mira", first="Hello.")
    mine = {"url": sidecar.url.removesuffix("/v1"), "souls": {avatar: SOUL}}
    bench.data.write_settings(mine)
    give_habits(sidecar)
    page = TavernPage(bench.context, bench.server.url, bench.llm)
    page.load()
    page.wait_for_dot("ok", seconds=120)
    page.open_character(avatar)
    page.sync()
    tab = page.tab
    time.sleep(6)  # the pages of the window are loaded once nothing else is to do
    tab.evaluate(WATCH)
    tab.evaluate(PLAIN)
    thread = PageThread(tab)
    figures: dict[str, list[list[float]]] = defaultdict(list)
    for _ in range(rounds):
        for name, look in looks(tab):
            before = thread.spent()
            took = look()
            figures[name].append([*took, thread.spent() - before])
    traces_of: dict[str, list[Traced]] = defaultdict(list)
    for _ in range(traces):
        for name, look in looks(tab):
            with traced(bench.browser, tab) as trace:
                look()
            traces_of[name].append(trace)
    print(
        "| page | first screen, ms | CPU until then, ms | all of it, ms | longest task, ms"
        " | its CPU, ms | of it | CPU, ms |"
    )
    print("| --- | ---: | ---: | ---: | ---: | ---: | --- | ---: |")
    for name, all_of_it in figures.items():
        firsts, wholes, walls, cpu = zip(*all_of_it, strict=True)
        traced_here = sorted(traces_of[name], key=lambda trace: trace.longest.cpu)
        task = traced_here[len(traced_here) // 2].longest if traced_here else NONE
        until_first = [trace.before for trace in traced_here] or [0.0]
        print(
            f"| {name} | {statistics.median(firsts):.0f} ({max(firsts):.0f})"
            f" | {statistics.median(until_first):.0f}"
            f" | {statistics.median(wholes):.0f} ({max(wholes):.0f}) | {max(walls):.0f}"
            f" | {task.cpu:.0f} | {task.told()} | {statistics.median(cpu):.0f} |"
        )
    print("red lines:", [line for line in page.console if line.startswith("error")])


def looks(tab: Any) -> Iterator[tuple[str, Callable[[], list[float]]]]:
    """What a user looks at in turn, each with the press that shows it and measures that."""
    yield _PLAIN, lambda: press(tab, "#plain_open", "#plain_popup")
    tab.keyboard.press("Escape")
    tab.locator("#plain_popup").wait_for(state="detached")
    for name, shown in PAGES.items():
        button = "#soulmem_browse" if name == "her" else f"#soulmem_tab_{name}"
        show_tab(tab, name)
        selector = f'#soulmem_browser [data-page="{name}"] {shown}'
        yield name, partial(press, tab, button, selector)
        if name == "memories":
            yield _SCROLLED, lambda: scroll(tab)
    tab.keyboard.press("Escape")
    tab.locator("#soulmem_browser").wait_for(state="detached")


class PageThread:
    """The thread of a page, which scripts and layout share."""

    def __init__(self, tab: Any) -> None:
        self._session = tab.context.new_cdp_session(tab)
        self._session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def spent(self) -> float:
        """Milliseconds of CPU of all its tasks so far, whatever else the machine does."""
        metrics = self._session.send("Performance.getMetrics")["metrics"]
        of_name = {metric["name"]: metric["value"] for metric in metrics}
        return 1000 * float(of_name["TaskDuration"])


def give_habits(sidecar: Sidecar) -> None:
    """Habits that the soul shall have, unless it has them already."""
    if sidecar.ask("GET", f"/habits?soul={SOUL}", None, 60.0)["habits"]:
        return

    def made(kind: str, text: str, *edges: dict[str, object]) -> object:
        body = {"soul": SOUL, "kind": kind, "text": text, "edges": list(edges)}
        return sidecar.ask("POST", "/memories", body, 60.0)["id"]

    for number in range(HABITS):
        when = made("abstract_episode", f"case number {number}")
        trigger = made("trigger", f"case {number}", {"from": when, "kind": "triggers"})
        fires = {"from": trigger, "kind": "fires", "probability": 0.6}
        made("action", f"deed number {number}", fires)


def press(tab: Any, button: str, shown: str) -> list[float]:
    """Milliseconds until the first is shown, until all is, and of the longest task."""
    figures: list[float] = tab.evaluate(PRESS, [button, shown])
    return figures


def scroll(tab: Any) -> list[float]:
    """The same of scrolling, in which nothing is waited for."""
    longest: float = tab.evaluate(SCROLL)
    return [0.0, 0.0, longest]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", type=Path, help="as tests.bench.large_soul wrote it")
    parser.add_argument("--port", type=int, help="of a sidecar that runs already")
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--traces", type=int, default=3, help="rounds that are traced")
    options = parser.parse_args()
    os.environ.setdefault("SOULMEM_EMBEDDER_MODEL", "none")
    tools = find_tools()
    install(DEFAULT_ST_VERSION, cache_folder(), tools)
    package = package_folder(DEFAULT_ST_VERSION, cache_folder())
    stops: list[Callable[[], object]] = []
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        llm = MockLlm(free_port())
        sidecar = Sidecar(root / "sidecar", options.port or free_port())
        if options.store is not None:
            shutil.copytree(options.store, sidecar.folder / "store")
            if (images := options.store.with_name(f"{options.store.name}-images")).is_dir():
                shutil.copytree(images, sidecar.folder / IMAGES_FOLDER)
        if options.port is None:
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
                bench = Bench(server, data, llm, chromium, context)
                if options.pairs:
                    pairs(bench, options.pairs)
                if options.store is not None or options.port is not None:
                    until(lambda: sidecar.status() == "ok", 240, "the soul")
                    window(bench, sidecar, options.rounds, options.traces)
                chromium.close()
        finally:
            for stop in reversed(stops):
                stop()


if __name__ == "__main__":
    main()

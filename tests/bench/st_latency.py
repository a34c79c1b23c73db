"""How much later does a reply start in the real SillyTavern because of SoulMem?

    python -m tests.bench.st_latency [--pairs 30] [--messages 2000] [--json OUT] [--page docs/benchmarks.md]

A browser talks to a character with a long chat behind it; the model is a fake that answers at once. In turn a
message is sent with SoulMem on and with SoulMem off; what was said with it off is brought to the sidecar
afterwards, so that all turns begin alike. The time is that from the click on Send to the page's asking the model.
The parts of a turn with SoulMem on come from the browser's own record of requests. Needs what tests/e2e needs.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import numpy as np

from tests.bench.ingest import talk
from tests.bench.page import command_line, figure, origin, put, table
from tests.e2e.conftest import CHROMIUM_FLAGS, DEFAULT_ST_VERSION
from tests.e2e.data_folder import EXTENSION, DataFolder, copy_repository
from tests.e2e.mock_llm import MockLlm
from tests.e2e.needs import cache_folder, find_tools
from tests.e2e.page import TavernPage
from tests.e2e.ports import free_port
from tests.e2e.sharing import installed
from tests.e2e.sidecar import Sidecar
from tests.e2e.sillytavern import SillyTavern, install, package_folder
from tests.e2e.stories import Line

_FIRST = 3  # pairs that are not counted
_TYPING = 0.6  # seconds between the first key and Send; most people take longer
_GENERATE = "/chat-completions/generate"
_PLUGIN = "/api/plugins/soulmem"
# Requests whose end the browser has seen, since `start`. The request to the model may still be running.
_WATCH = """() => {
    globalThis.requests = [];
    const watched = new PerformanceObserver(list => requests.push(...list.getEntries().map(e => e.toJSON())));
    watched.observe({ type: 'resource', buffered: false });
}"""
_CLICK = """text => {
    globalThis.requests.length = 0;
    globalThis.clicked = performance.now();
    document.querySelector('#send_but').click();
}"""
_ASKED = f"() => requests.some(e => e.name.includes('{_GENERATE}'))"
_REQUESTS = "() => [clicked, requests.map(e => [e.name, e.startTime, e.responseEnd])]"


@dataclass(frozen=True, slots=True)
class Turn:
    """Milliseconds of one turn, from the click on Send; parts are 0 with SoulMem off."""

    with_soulmem: bool
    until_asked: float  # the page asks the model
    before: float  # until the first request that the recall needs
    sync: float  # in a request of its own
    recall: float  # with the sync, where both are one request
    waiting: float  # from SillyTavern's saving the chat to the last answer of the sidecar
    counting: float  # tokens, from the first request to the end of the last
    requests: int  # to the sidecar


@contextmanager
def stand(messages: int) -> Iterator[TavernPage]:
    """A page with the long chat open and all of it in the sidecar."""
    from playwright.sync_api import sync_playwright

    tools, cache = find_tools(), cache_folder()
    package = package_folder(DEFAULT_ST_VERSION, cache)
    plugin = package / "plugins" / EXTENSION

    def prepare() -> None:
        install(DEFAULT_ST_VERSION, cache, tools)
        shutil.rmtree(plugin, ignore_errors=True)
        copy_repository(plugin)

    with ExitStack() as stack:
        root = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        llm = MockLlm(free_port())
        stack.callback(llm.close)
        sidecar = Sidecar(root / "sidecar", free_port())
        sidecar.start()
        stack.callback(sidecar.stop)
        lock = cache / f"sillytavern-{DEFAULT_ST_VERSION}.lock"
        stack.enter_context(installed(lock, prepare, lambda: shutil.rmtree(plugin)))
        (root / "st").mkdir()
        data = DataFolder(root / "st", package, llm.url, plugins=True)
        env = {
            "SOULMEM_URL": sidecar.url.removesuffix("/v1"),
            "SOULMEM_DATA": str(sidecar.folder),
        }
        compiled = cache / f"webpack-{DEFAULT_ST_VERSION}"
        server = SillyTavern(package, root / "st", free_port(), compiled, tools, env)
        stack.callback(server.stop)
        server.wait()
        sidecar.wait()
        lines = [Line(None if m.speaker == "Al" else "Mira", m.text or "") for m in talk(messages)]
        data.write_settings({"time_budget": 10_000})
        avatar = data.add_character("long", "Mira", first="Hello.", lines=lines)
        playwright = stack.enter_context(sync_playwright())
        chromium = playwright.chromium.launch(executable_path=tools.chromium, args=CHROMIUM_FLAGS)
        context = chromium.new_context(viewport={"width": 1400, "height": 900})
        context.set_default_timeout(120_000)
        stack.callback(chromium.close)
        page = TavernPage(context, server.url, llm)
        page.load()
        page.wait_for_dot("ok")
        page.open_character(avatar)
        page.run("() => globalThis.soulmem.syncNow()", seconds=300)
        until_read(sidecar)
        page.tab.evaluate(_WATCH)
        yield page


def until_read(sidecar: Sidecar) -> None:
    """Wait until all messages have their vectors."""
    while sidecar.ask("GET", "/health")["pending"]:
        time.sleep(0.5)


def take_turn(page: TavernPage, text: str, *, with_soulmem: bool) -> Turn:
    """Type and send a message; the sidecar has all of it afterwards."""
    page.set("enabled", with_soulmem)
    page.tab.click("#send_textarea")
    page.tab.fill("#send_textarea", text)
    time.sleep(_TYPING)
    before = page.events("CHARACTER_MESSAGE_RENDERED")
    page.tab.evaluate(_CLICK, text)
    page.wait_for_event("CHARACTER_MESSAGE_RENDERED", before)
    page.tab.wait_for_function("() => !document.body.dataset.generating")
    page.tab.wait_for_function(_ASKED)
    clicked, requests = page.tab.evaluate(_REQUESTS)
    page.set("enabled", True)
    page.sync()
    spans = [(name, start - clicked, end - clicked) for name, start, end in requests]
    return turn_of(spans, with_soulmem)


def turn_of(spans: Sequence[tuple[str, float, float]], with_soulmem: bool) -> Turn:
    """What the requests of a turn say: address, start and end in ms from the click."""
    asked = min(start for name, start, _ in spans if _GENERATE in name)
    ahead = [span for span in spans if span[1] < asked]
    ours = [
        (name.split(_PLUGIN)[1].split("?")[0], start, end)
        for name, start, end in ahead
        if _PLUGIN in name
    ]
    needed = [span for span in ours if _is_needed(span[0])]
    recalls = [span for span in needed if span[0].endswith("/recall")]
    recalled = max((end for _, _, end in recalls), default=asked)
    saved = max((end for name, _, end in ahead if "/chats/save" in name), default=asked)
    counted = [
        (start, end) for name, start, end in ahead if "/tokenizers/" in name and start >= recalled
    ]
    return Turn(
        with_soulmem=with_soulmem,
        until_asked=asked,
        before=min((start for _, start, _ in needed), default=0.0),
        sync=sum(span[2] - span[1] for span in needed if span not in recalls),
        recall=sum(end - start for _, start, end in recalls),
        waiting=max(0.0, recalled - saved) if recalls else 0.0,
        counting=max((end for _, end in counted), default=0.0)
        - min((start for start, _ in counted), default=0.0),
        requests=len(needed),
    )


def _is_needed(path: str) -> bool:
    """Whether a recall waits for the request."""
    return path.startswith("/chats/") or path == "/recall"


def measure(pairs: int, messages: int) -> list[Turn]:
    """Turns with and without SoulMem; which of a pair comes first changes."""
    turns = []
    texts = [m.text or "" for m in talk(messages + 4 * (pairs + _FIRST))][messages:]
    with stand(messages) as page:
        for pair in range(pairs + _FIRST):
            for number in range(2):
                with_soulmem = (pair + number) % 2 == 0
                text = texts[2 * pair + number]
                turn = take_turn(page, text, with_soulmem=with_soulmem)
                if pair >= _FIRST:
                    turns.append(turn)
    return turns


def added(turns: Sequence[Turn]) -> list[float]:
    """What SoulMem added in each pair, ms."""
    pairs = zip(turns[::2], turns[1::2], strict=True)
    return [
        (first.until_asked - second.until_asked) * (1 if first.with_soulmem else -1)
        for first, second in pairs
    ]


def report(turns: Sequence[Turn]) -> str:
    """The table, ms."""
    on = [turn for turn in turns if turn.with_soulmem]
    off = [turn for turn in turns if not turn.with_soulmem]
    columns = {
        "until the model is asked, SoulMem off": [turn.until_asked for turn in off],
        "until the model is asked, SoulMem on": [turn.until_asked for turn in on],
        "added, by pairs": added(turns),
        "before the first request": [turn.before for turn in on],
        "sync alone": [turn.sync for turn in on],
        "recall": [turn.recall for turn in on],
        "waiting for it, once the chat is saved": [turn.waiting for turn in on],
        "tokens counted, by SillyTavern too": [turn.counting for turn in on],
    }
    rows = [
        [name, figure(median(values)), figure(float(np.percentile(values, 95)))]
        for name, values in columns.items()
    ]
    rows.append(["requests to the sidecar", str(median(t.requests for t in on)), ""])
    return table(["", "p50, ms", "p95, ms"], rows)


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=30)
    parser.add_argument("--messages", type=int, default=2000)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--page", type=Path)
    given = parser.parse_args()
    turns = measure(given.pairs, given.messages)
    text = report(turns)
    source = origin(command_line("tests.bench.st_latency"), ["numpy", "playwright"])
    print(text, source, f"load {os.getloadavg()}", sep="\n")
    if given.json:
        given.json.write_text(json.dumps([asdict(turn) for turn in turns]), "utf-8")
    if given.page:
        put(given.page, "st_latency", f"{text}\n\n{source}")


if __name__ == "__main__":
    _main()
